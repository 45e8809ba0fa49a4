/* Refines the labels of documents with a mixture of multinomial distributions over their words
 * (Nigam, McCallum, Thrun and Mitchell 2000), fitted by expectation maximization from the labels of
 * k-means. The graph compares whole documents. The mixture also uses words whose vectors contain
 * little information about the cluster.
 *
 * The word probabilities of a cluster are 2/3 of its word frequencies plus 1/3 of a uniform
 * distribution. Adding a constant to the counts of every cluster instead would make small clusters
 * vanish. The rounds stop before a cluster becomes empty. */
#include <math.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "cluster/spectral/membership.h"
#include "cluster/spectral/mixture.h"

static const double UNIFORM = 1.0 / 3;
enum { ROUNDS_MOST = 60, SETTLED = 1000, LEAST_DOCUMENTS = 2 };

typedef struct refinement {
    ddsc_context *ctx;
    const measures *data;
    int64_t n, k;
    bool *empty;        /* k: the cluster had no items at the start and remains empty */
    int64_t n_alive;    /* number of clusters that are not empty */
    word_mixture mix;   /* parameters of the current round */
    double *theta_last; /* parameters of the previous round */
    double *share_last;
    int32_t *code; /* one per counted word: index in the mixture, or -1 */
    /* word counts, grouped by word, with items in ascending order */
    int64_t *offset;
    int32_t *item, *count;
    double *r;     /* n x k: probability of each cluster */
    double *total; /* k: number of word occurrences */
    int32_t *label, *fresh;
    mixture_scorer scorer;
    int64_t n_rounds;
    bool stopped;
} refinement;

static void refinement_free(refinement *j)
{
    model_free_mixture(j->ctx, &j->mix);
    mixture_close(j->ctx, &j->scorer);
    MEM_FREE(j->ctx, j->empty, j->theta_last, j->share_last, j->code, j->offset, j->item, j->count,
             j->r, j->total, j->label, j->fresh);
}

/* ---- the words ---- */

/* Chooses the words that occur in at least two items, and stores the number of items with word w in
 * offset[w + 1]. */
static ddsc_status choose_words(refinement *j)
{
    const measures_counts *counts = &j->data->counts;
    int64_t *df = NULL;
    CHECK(MEM_ZERO(j->ctx, df, counts->n_words + 1));
    j->offset = df;
    CHECK(MEM_NEW(j->ctx, j->code, counts->n_words));
    CHECK(MEM_NEW(j->ctx, j->mix.word, counts->n_words));
    for (int64_t i = 0; i < j->n; i++)
        for (int64_t row = j->data->row[i], e = counts->offset[row]; e < counts->offset[row + 1];
             e++)
            df[counts->word[e] + 1]++;
    for (int64_t w = 0; w < counts->n_words; w++) {
        int64_t n_items = df[w + 1];
        j->code[w] = n_items >= LEAST_DOCUMENTS ? (int32_t)j->mix.n_words : -1;
        if (j->code[w] < 0)
            continue;
        j->mix.word[j->mix.n_words++] = (int32_t)w;
        df[j->mix.n_words] = n_items;
    }
    for (int64_t w = 0; w < j->mix.n_words; w++)
        df[w + 1] += df[w];
    return DDSC_OK;
}

/* Lists the items of each word. */
static ddsc_status transpose(refinement *j)
{
    ddsc_status status = DDSC_OK;
    const measures_counts *counts = &j->data->counts;
    int64_t *at = NULL;
    TRY(MEM_NEW(j->ctx, j->item, j->offset[j->mix.n_words]));
    TRY(MEM_NEW(j->ctx, j->count, j->offset[j->mix.n_words]));
    TRY(MEM_COPY(j->ctx, at, j->offset, j->mix.n_words + 1));
    for (int64_t i = 0; i < j->n; i++)
        for (int64_t row = j->data->row[i], e = counts->offset[row]; e < counts->offset[row + 1];
             e++) {
            int32_t w = j->code[counts->word[e]];
            if (w < 0)
                continue;
            j->item[at[w]] = (int32_t)i;
            j->count[at[w]++] = counts->count[e];
        }
done:
    mem_free(j->ctx, at);
    return status;
}

/* ---- one round ---- */

static ddsc_status sum_words(void *arg, int64_t begin, int64_t end, int worker)
{
    refinement *j = arg;
    (void)worker;
    for (int64_t w = begin; w < end; w++) {
        double *sum = j->mix.theta + w * j->k;
        memset(sum, 0, (size_t)j->k * sizeof *sum);
        for (int64_t e = j->offset[w]; e < j->offset[w + 1]; e++) {
            const double *r = j->r + j->item[e] * j->k;
            for (int64_t c = 0; c < j->k; c++)
                sum[c] += j->count[e] * r[c];
        }
    }
    return DDSC_OK;
}

/* Converts the sums to smoothed probabilities. */
static ddsc_status scale_words(void *arg, int64_t begin, int64_t end, int worker)
{
    refinement *j = arg;
    double even = 1 / (double)j->mix.n_words;
    (void)worker;
    for (int64_t w = begin; w < end; w++)
        for (int64_t c = 0; c < j->k; c++) {
            double *theta = j->mix.theta + w * j->k + c;
            double own = j->total[c] > 0 ? *theta / j->total[c] : even;
            *theta = (1 - UNIFORM) * own + UNIFORM * even;
        }
    return DDSC_OK;
}

static ddsc_status maximize(refinement *j)
{
    memset(j->total, 0, (size_t)j->k * sizeof *j->total);
    CHECK(parallel_for(j->ctx, j->mix.n_words, 64, sum_words, j));
    for (int64_t w = 0; w < j->mix.n_words; w++)
        for (int64_t c = 0; c < j->k; c++)
            j->total[c] += j->mix.theta[w * j->k + c];
    CHECK(parallel_for(j->ctx, j->mix.n_words, 256, scale_words, j));
    memset(j->mix.share, 0, (size_t)j->k * sizeof *j->mix.share);
    for (int64_t i = 0; i < j->n; i++)
        for (int64_t c = 0; c < j->k; c++)
            j->mix.share[c] += j->r[i * j->k + c];
    for (int64_t c = 0; c < j->k; c++)
        j->mix.share[c] = j->empty[c] ? 0 : (j->mix.share[c] + 1) / (double)(j->n + j->n_alive);
    DDSC_ASSERT(membership_holds(j->mix.share, 1, j->k));
    return DDSC_OK;
}

static ddsc_status expect_range(void *arg, int64_t begin, int64_t end, int worker)
{
    refinement *j = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double *r = j->r + i * j->k;
        int64_t n_words = mixture_score(&j->scorer, r, j->data->row[i]);
        j->fresh[i] = n_words > 0 ? membership_best(r, j->k) : j->label[i];
        if (n_words > 0) {
            membership_soften(r, j->k, 1);
        } else { /* without counted words, only the label is known */
            memset(r, 0, (size_t)j->k * sizeof *r);
            r[j->label[i]] = 1;
        }
    }
    return DDSC_OK;
}

static ddsc_status expect(refinement *j)
{
    mixture_close(j->ctx, &j->scorer);
    CHECK(mixture_open(j->ctx, &j->scorer, &j->mix, &j->data->counts, j->code));
    return parallel_for(j->ctx, j->n, 64, expect_range, j);
}

/* Returns true if a cluster would become empty with the new labels. */
static bool loses_cluster(refinement *j)
{
    int64_t n_kept = 0;
    memset(j->total, 0, (size_t)j->k * sizeof *j->total);
    for (int64_t i = 0; i < j->n; i++)
        n_kept += j->total[j->fresh[i]]++ == 0;
    return n_kept < j->n_alive;
}

static void swap_parameters(refinement *j)
{
    double *theta = j->mix.theta, *share = j->mix.share;
    j->mix.theta = j->theta_last;
    j->mix.share = j->share_last;
    j->theta_last = theta;
    j->share_last = share;
}

static ddsc_status run_rounds(refinement *j)
{
    int64_t n_changed = j->n;
    progress_begin(j->ctx, "refine", ROUNDS_MOST);
    while (j->n_rounds < ROUNDS_MOST && SETTLED * n_changed >= j->n) {
        swap_parameters(j);
        CHECK(maximize(j));
        CHECK(expect(j));
        DDSC_ASSERT(membership_holds(j->r, j->n, j->k));
        DDSC_ASSERT(invariant_range(j->fresh, j->n, 0, j->k));
        j->stopped = loses_cluster(j);
        if (j->stopped) {
            swap_parameters(j);
            break;
        }
        n_changed = 0;
        for (int64_t i = 0; i < j->n; i++)
            n_changed += j->fresh[i] != j->label[i];
        memcpy(j->label, j->fresh, (size_t)j->n * sizeof *j->label);
        j->n_rounds++;
        progress_add(j->ctx, 1);
    }
    progress_end(j->ctx);
    return DDSC_OK;
}

static ddsc_status open_refinement(refinement *j, const int32_t *labels)
{
    int64_t n_cells;
    if (!mul_ok(j->n, j->k, &n_cells))
        return ctx_fail(
            j->ctx, DDSC_ERROR_MEMORY,
            "refinement: the product of the numbers of items and clusters is too large");
    CHECK(choose_words(j));
    if (j->mix.n_words == 0)
        return DDSC_OK;
    CHECK(transpose(j));
    j->mix.k = j->k;
    CHECK(MEM_NEW(j->ctx, j->mix.theta, j->mix.n_words * j->k));
    CHECK(MEM_NEW(j->ctx, j->mix.share, j->k));
    CHECK(MEM_NEW(j->ctx, j->theta_last, j->mix.n_words * j->k));
    CHECK(MEM_NEW(j->ctx, j->share_last, j->k));
    CHECK(MEM_NEW(j->ctx, j->empty, j->k));
    CHECK(MEM_NEW(j->ctx, j->total, j->k));
    CHECK(MEM_ZERO(j->ctx, j->r, n_cells));
    CHECK(MEM_COPY(j->ctx, j->label, labels, j->n));
    CHECK(MEM_NEW(j->ctx, j->fresh, j->n));
    for (int64_t c = 0; c < j->k; c++)
        j->empty[c] = true;
    for (int64_t i = 0; i < j->n; i++) {
        j->r[i * j->k + labels[i]] = 1;
        j->n_alive += j->empty[labels[i]];
        j->empty[labels[i]] = false;
    }
    return DDSC_OK;
}

/* ---- the result ---- */

/* Renumbers the clusters in order of first appearance, in the labels, the former labels and the
 * mixture. */
static ddsc_status number_by_appearance(refinement *j, int32_t *former)
{
    ddsc_status status = DDSC_OK;
    int32_t *number = NULL, n_seen = 0;
    TRY(MEM_NEW(j->ctx, number, j->k));
    for (int64_t c = 0; c < j->k; c++)
        number[c] = -1;
    for (int64_t i = 0; i < j->n; i++)
        if (number[j->label[i]] < 0)
            number[j->label[i]] = n_seen++;
    for (int64_t c = 0; c < j->k; c++)
        if (number[c] < 0)
            number[c] = n_seen++;
    DDSC_ASSERT(invariant_permutation(number, j->k));
    for (int64_t i = 0; i < j->n; i++) {
        j->label[i] = number[j->label[i]];
        former[i] = number[former[i]];
    }
    for (int64_t c = 0; c < j->k; c++) {
        j->share_last[number[c]] = j->mix.share[c];
        for (int64_t w = 0; w < j->mix.n_words; w++)
            j->theta_last[w * j->k + number[c]] = j->mix.theta[w * j->k + c];
    }
    swap_parameters(j);
done:
    mem_free(j->ctx, number);
    return status;
}

static ddsc_status take_result(refinement *j, ddsc_clustering *c)
{
    CHECK(MEM_COPY(j->ctx, c->spectral, c->labels, j->n));
    CHECK(number_by_appearance(j, c->spectral));
    memcpy(c->labels, j->label, (size_t)j->n * sizeof *c->labels);
    c->mixture = j->mix;
    j->mix = (word_mixture){0};
    c->view.spectral_labels = c->spectral;
    c->view.n_refine_rounds = j->n_rounds;
    for (int64_t i = 0; i < j->n; i++)
        c->view.n_moved += c->labels[i] != c->spectral[i];
    return DDSC_OK;
}

static void report_refinement(const refinement *j, ddsc_clustering *c)
{
    c->view.refine_stopped = j->stopped;
    if (j->stopped)
        ctx_warn(j->ctx,
                 "refinement by words ended after %lld rounds, because a cluster would have become "
                 "empty; fewer clusters may describe the documents better",
                 (long long)j->n_rounds);
    ctx_note(j->ctx, "labels", j->n_rounds ? "refined by words" : "not refined",
             "%lld of %lld labels changed in %lld rounds", (long long)c->view.n_moved,
             (long long)j->n, (long long)j->n_rounds);
}

ddsc_status cluster_refine(ddsc_context *ctx, ddsc_clustering *c, const ddsc_measures *data,
                           const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    refinement j = {.ctx = ctx, .data = data, .n = data->n, .k = c->view.k};
    if (set->refine == DDSC_REFINE_OFF || data->counts.n_words == 0 || c->view.k < 2)
        return DDSC_OK;
    const char *before = stage_enter(ctx, "refine");
    TRY(open_refinement(&j, c->labels));
    if (j.mix.n_words == 0)
        goto done;
    TRY(run_rounds(&j));
    if (j.n_rounds > 0)
        TRY(take_result(&j, c));
    report_refinement(&j, c);
done:
    refinement_free(&j);
    stage_leave(ctx, before);
    return status;
}
