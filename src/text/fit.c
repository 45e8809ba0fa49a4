/* Fits word vectors to the documents.
 *
 * A word is characterized by its context (Khodak et al. 2018). Its context vector is the sum, over
 * the documents that contain the word and over their other words u, of ln(n / df_u) (v_u - mean),
 * scaled to length 1. If the vectors file contains a word, its vector is moved toward the word's
 * context vector. Otherwise, the vector of the word is its context vector plus a pseudo-random
 * direction, which separates words with similar contexts.
 *
 * Vectors learned from the documents alone (learned_vectors.c) are appended to these vectors.
 * Learned vectors are shorter for words that occur with few other words. docs/notes/words.md has
 * the formulas. */
#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"
#include "text/text.h"

static const double MOVE = 0.3; /* fraction of the way to the context vector */
/* For a word without a vector: weights of its context vector, of its pseudo-random direction, and
 * of the mean of all vectors. */
static const double COMPANY = 0.8, APART = 0.6, MEAN_SHARE = 0.8;
static const double OWN_HALF =
    100;               /* number of co-occurrences at which the length is 1/sqrt(2) of its limit */
enum { COLUMNS = 16 }; /* number of columns that a thread sums at a time */

typedef struct word_fit {
    ddsc_context *ctx;
    const corpus *c;
    const word_vectors *v; /* vectors from the file; dim is 0 if there is no file */
    int64_t n, d;
    int32_t *word, *slot; /* word of each candidate; candidate of each word, or -1 */
    double *point;   /* n x d: vector from the file minus the mean, or 0; later the fitted vector */
    double *context; /* n x d */
    double *idf, *mean;
    double typical; /* median length of a vector minus the mean */
    bool *placed;   /* true if the word has a vector from the file or its context */
    int64_t n_filled;
    own_vectors own;
} word_fit;

bool words_fits(const corpus *c, int64_t word)
{
    return c->words.at[word + 1] - c->words.at[word] - 1 <= WORDS_LONGEST;
}

/* ---- candidates ---- */

static bool fit_known(const word_fit *j, int64_t word)
{
    return j->d > 0 && j->v->row[word] >= 0;
}

static ddsc_status fit_choose(word_fit *j)
{
    const corpus *c = j->c;
    CHECK(MEM_NEW(j->ctx, j->slot, c->words.n));
    CHECK(MEM_NEW(j->ctx, j->word, c->words.n));
    for (int64_t w = 0; w < c->words.n; w++) {
        bool wanted = words_fits(c, w) && (fit_known(j, w) || c->df[w] >= WORDS_DF_LEAST);
        j->slot[w] = wanted ? (int32_t)j->n : -1;
        if (wanted)
            j->word[j->n++] = (int32_t)w;
    }
    CHECK(MEM_ZERO(j->ctx, j->placed, j->n));
    return DDSC_OK;
}

/* Subtracts the mean from the vectors of the file, and computes their typical length. */
static ddsc_status fit_center(word_fit *j)
{
    ddsc_status status = DDSC_OK;
    double *length = NULL;
    int64_t n_known = 0, d = j->d;
    TRY(MEM_ZERO(j->ctx, j->point, j->n * d));
    TRY(MEM_ZERO(j->ctx, j->context, j->n * d));
    TRY(MEM_NEW(j->ctx, j->idf, j->n));
    TRY(MEM_NEW(j->ctx, j->mean, d));
    TRY(MEM_NEW(j->ctx, length, j->n));
    la_center(j->v->n, d, j->v->point, j->mean, NULL);
    for (int64_t s = 0; s < j->n; s++) {
        j->idf[s] = log((double)j->c->n / (double)j->c->df[j->word[s]]);
        j->placed[s] = fit_known(j, j->word[s]);
        if (!j->placed[s])
            continue;
        double *x = j->point + s * d;
        const double *v = j->v->point + j->v->row[j->word[s]] * d;
        for (int64_t k = 0; k < d; k++)
            x[k] = v[k] - j->mean[k];
        length[n_known++] = la_norm(d, x);
    }
    j->typical = n_known ? select_smallest(length, n_known, n_known / 2) : 1;
done:
    mem_free(j->ctx, length);
    return status;
}

/* ---- context ---- */

/* Computes columns [begin, end) of the context sums over all documents. */
static ddsc_status fit_gather(void *arg, int64_t begin, int64_t end, int worker)
{
    word_fit *j = arg;
    const corpus *c = j->c;
    int64_t width = end - begin;
    (void)worker;
    for (int64_t i = 0; i < c->n; i++) {
        double sum[COLUMNS] = {0};
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
            int32_t s = j->slot[c->word[e]];
            if (s < 0)
                continue;
            const double *x = j->point + s * j->d + begin;
            for (int64_t k = 0; k < width; k++)
                sum[k] += j->idf[s] * x[k];
        }
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
            int32_t s = j->slot[c->word[e]];
            if (s < 0)
                continue;
            const double *x = j->point + s * j->d + begin;
            for (int64_t k = 0; k < width; k++)
                j->context[s * j->d + begin + k] += sum[k] - j->idf[s] * x[k];
        }
    }
    progress_add(j->ctx, width);
    return DDSC_OK;
}

static void fit_unit(double *x, int64_t d)
{
    double length = la_norm(d, x);
    for (int64_t k = 0; k < d && length > 0; k++)
        x[k] /= length;
}

/* Draws a direction using the hash of a word as the seed, so that the word has the same direction
 * in every set. */
static void fit_letters(const word_fit *j, double *x, int64_t word)
{
    const char *text = text_table_get(&j->c->words, word);
    rng r = rng_make(hash_bytes(text, strlen(text), 0), RNG_WORDS, 0);
    for (int64_t k = 0; k < j->d; k++)
        x[k] = rng_normal(&r);
    fit_unit(x, j->d);
}

/* Computes the fitted vector of a word. Without a context, a vector from the file remains
 * unchanged. */
static void fit_place(word_fit *j, int64_t s)
{
    int64_t d = j->d;
    double *v = j->point + s * d, *x = j->context + s * d;
    bool known = j->placed[s], met = la_norm(d, x) > 0;
    double length = la_norm(d, v), share = known ? 1 : MEAN_SHARE;
    fit_unit(x, d);
    if (known && met) {
        for (int64_t k = 0; k < d; k++)
            v[k] = (1 - MOVE) * v[k] + MOVE * length * x[k];
    } else if (met && j->c->df[j->word[s]] >= WORDS_DF_LEAST) {
        fit_letters(j, v, j->word[s]);
        for (int64_t k = 0; k < d; k++)
            v[k] = COMPANY * x[k] + APART * v[k];
        fit_unit(v, d);
        for (int64_t k = 0; k < d; k++)
            v[k] *= j->typical;
        j->placed[s] = true;
        j->n_filled++;
    }
    for (int64_t k = 0; k < d && j->placed[s]; k++)
        v[k] += share * j->mean[k];
}

static ddsc_status fit_general(word_fit *j)
{
    CHECK(fit_center(j));
    progress_begin(j->ctx, "fitting words", j->d);
    CHECK(parallel_for(j->ctx, j->d, COLUMNS, fit_gather, j));
    progress_end(j->ctx);
    for (int64_t s = 0; s < j->n; s++)
        fit_place(j, s);
    return DDSC_OK;
}

/* ---- joining both kinds of vectors ---- */

/* Returns the length of a learned vector: 1 if there is no vectors file; otherwise smaller for
 * words with few co-occurrences. */
static double own_length(const word_fit *j, int32_t s)
{
    double met = j->own.company[s];
    return j->d == 0 ? 1 : j->typical * sqrt(met / (met + OWN_HALF));
}

/* Joins both kinds of vectors. All values are rounded to float, so that the stored vectors equal
 * those used here. */
static ddsc_status fit_join(word_fit *j, word_vectors *out)
{
    const own_vectors *o = &j->own;
    out->dim = j->d + o->dim;
    CHECK(MEM_NEW(j->ctx, out->row, j->c->words.n));
    CHECK(MEM_NEW(j->ctx, out->point, j->n * out->dim));
    for (int64_t w = 0; w < j->c->words.n; w++) {
        int32_t s = j->slot[w], own = o->dim ? o->slot[w] : -1;
        double *x = out->point + out->n * out->dim;
        const double *unit = own >= 0 ? o->point + own * o->dim : NULL;
        bool learnt = unit && la_norm(o->dim, unit) > 0;
        out->row[w] = -1;
        if (s < 0 || !(j->placed[s] || learnt))
            continue;
        for (int64_t k = 0; k < j->d; k++)
            x[k] = (float)j->point[s * j->d + k];
        for (int64_t k = 0; k < o->dim; k++)
            x[j->d + k] = learnt ? (float)(own_length(j, own) * unit[k]) : 0;
        out->row[w] = (int32_t)out->n++;
    }
    return DDSC_OK;
}

static void fit_free(word_fit *j)
{
    MEM_FREE(j->ctx, j->word, j->slot, j->point, j->context, j->idf, j->mean, j->placed);
    words_free_own(j->ctx, &j->own);
}

ddsc_status words_fit(ddsc_context *ctx, word_vectors *v, ddsc_text_report *report, const corpus *c,
                      const ddsc_text_settings *set)
{
    ddsc_status status = DDSC_OK;
    word_vectors fitted = {.n_lines = v->n_lines, .n_duplicates = v->n_duplicates};
    word_fit j = {.ctx = ctx, .c = c, .v = v, .d = v->dim};
    TRY(fit_choose(&j));
    if (j.d > 0)
        TRY(fit_general(&j));
    TRY(words_own(ctx, &j.own, c));
    TRY(fit_join(&j, &fitted));
    if (set->weighting == DDSC_WEIGHTING_AUTO)
        TRY(words_weigh(ctx, &fitted, &j.own, c, set));
    report->n_words_placed = j.n_filled;
    report->n_words_own = j.own.n_placed;
    report->own_dim = j.own.dim;
    words_free_vectors(ctx, v);
    *v = fitted;
    fitted = (word_vectors){0};
done:
    words_free_vectors(ctx, &fitted);
    fit_free(&j);
    return status;
}
