/* Computes the masses of words. The mass of a word is the weight of one of its occurrences in a
 * document.
 *
 * The idf is highest for rare words, but in short documents common words separate the topics. The
 * mass of a word w is therefore
 *
 *     common_w * coherence_w^(1/4) * idf_w^(1/2).
 *
 * common_w is the share of the word's row of the PPMI matrix that the learned vectors represent
 * (learned_vectors.c). This share is small for words that occur with arbitrary other words.
 *
 * coherence_w is the mean cosine between the documents that contain the word, without the word
 * itself, minus the value expected by chance. The vector x_wi of document i without w is the sum of
 * idf_u v_u over its other words u, scaled to length 1. With n_w documents and S_w = sum_i x_wi,
 *
 *     coherence_w = (|S_w|^2 - n_w) / (n_w (n_w - 1)) - |sum_w S_w|^2 / (sum_w n_w)^2.
 *
 * The coherence is multiplied by n_w / (n_w + 10), because it is uncertain for rare words. The
 * lower limit LEAST gives a word without coherence a small mass, so that no document becomes empty.
 *
 * The cost is O(entries x dim). docs/notes/words.md has the formulas. */
#include <math.h>

#include "numeric/linalg/linalg.h"
#include "text/text.h"

static const double LEAST = 1e-3; /* lower limit of the coherence */
static const double UNSURE = 10;  /* number of documents at which the coherence is halved */
/* A shorter vector is only the rounding error of a sum minus its single summand. */
static const double TINY = 1e-9;

typedef struct mass_job {
    ddsc_context *ctx;
    const corpus *c;
    const own_vectors *own;
    double *idf;         /* own->n */
    double *sum;         /* own->n x dim: S_w */
    int64_t *n;          /* own->n: n_w */
    double *document;    /* dim: sum of the current document */
    double *rest;        /* dim: the sum without one word */
    double least_common; /* mean share of words in two documents; used for words without a share */
} mass_job;

/* Adds the vectors x_wi of document i to the sums S_w of its words w. */
static void mass_add_document(mass_job *j, int64_t i)
{
    const corpus *c = j->c;
    const own_vectors *o = j->own;
    for (int64_t k = 0; k < o->dim; k++)
        j->document[k] = 0;
    for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
        int32_t s = o->slot[c->word[e]];
        for (int64_t k = 0; s >= 0 && k < o->dim; k++)
            j->document[k] += j->idf[s] * o->point[s * o->dim + k];
    }
    for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
        int32_t s = o->slot[c->word[e]];
        if (s < 0)
            continue;
        for (int64_t k = 0; k < o->dim; k++)
            j->rest[k] = j->document[k] - j->idf[s] * o->point[s * o->dim + k];
        double length = la_norm(o->dim, j->rest);
        if (!(length > TINY))
            continue;
        j->n[s]++;
        for (int64_t k = 0; k < o->dim; k++)
            j->sum[s * o->dim + k] += j->rest[k] / length;
    }
}

static ddsc_status mass_gather(mass_job *j)
{
    const own_vectors *o = j->own;
    int64_t n_two = 0;
    CHECK(MEM_NEW(j->ctx, j->idf, o->n));
    CHECK(MEM_ZERO(j->ctx, j->sum, o->n * o->dim));
    CHECK(MEM_ZERO(j->ctx, j->n, o->n));
    CHECK(MEM_NEW(j->ctx, j->document, o->dim));
    CHECK(MEM_NEW(j->ctx, j->rest, o->dim));
    for (int64_t w = 0; w < j->c->words.n; w++) {
        int32_t s = o->slot[w];
        if (s < 0)
            continue;
        j->idf[s] = weights_idf(DDSC_IDF_PLAIN, j->c->n, j->c->df[w]);
        if (j->c->df[w] == WORDS_DF_LEAST && o->common[s] > 0) {
            j->least_common += o->common[s];
            n_two++;
        }
    }
    j->least_common = n_two > 0 ? j->least_common / (double)n_two : 1;
    for (int64_t i = 0; i < j->c->n; i++)
        mass_add_document(j, i);
    return DDSC_OK;
}

/* Returns the expected value of the mean cosine, |sum_w S_w|^2 / (sum_w n_w)^2. */
static double mass_chance(mass_job *j)
{
    const own_vectors *o = j->own;
    double n = 0, length;
    for (int64_t k = 0; k < o->dim; k++)
        j->document[k] = 0;
    for (int64_t s = 0; s < o->n; s++) {
        n += (double)j->n[s];
        for (int64_t k = 0; k < o->dim; k++)
            j->document[k] += j->sum[s * o->dim + k];
    }
    length = la_norm(o->dim, j->document);
    return n > 0 ? length * length / (n * n) : 0;
}

static double mass_coherence(const mass_job *j, int32_t s, double chance)
{
    double n = (double)j->n[s], length = la_norm(j->own->dim, j->sum + s * j->own->dim);
    if (n < 2)
        return LEAST;
    double mean = (length * length - n) / (n * (n - 1));
    return fmax((mean - chance) * n / (n + UNSURE), LEAST);
}

ddsc_status words_weigh(ddsc_context *ctx, word_vectors *v, const own_vectors *own, const corpus *c,
                        const ddsc_text_settings *set)
{
    ddsc_status status = DDSC_OK;
    mass_job j = {.ctx = ctx, .c = c, .own = own, .least_common = 1};
    double chance = 0;
    TRY(MEM_NEW(ctx, v->mass, v->n));
    if (own->dim > 0) {
        TRY(mass_gather(&j));
        chance = mass_chance(&j);
    }
    for (int64_t w = 0; w < c->words.n; w++) {
        if (v->row[w] < 0)
            continue;
        int32_t s = own->dim > 0 ? own->slot[w] : -1;
        double common = s >= 0 && own->common[s] > 0 ? own->common[s] : j.least_common;
        double coherence = s >= 0 ? mass_coherence(&j, s, chance) : LEAST;
        v->mass[v->row[w]] =
            common * pow(coherence, 0.25) * sqrt(weights_idf(set->idf, c->n, c->df[w]));
    }
done:
    MEM_FREE(ctx, j.idf, j.sum, j.n, j.document, j.rest);
    return status;
}
