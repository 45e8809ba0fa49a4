/* Measures the stability of the clusters for a given K. k-means is run on two random halves of the
 * rows. The centers of each half label all rows, and the two labelings are compared (Lange, Roth,
 * Braun and Buhmann 2004). */
#include <math.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "numeric/labels/scores.h"
#include "numeric/linalg/linalg.h"

/* More starts are used for the overlap of one cluster: this cluster is small, so a start finds it
 * less often than large clusters. */
enum { N_SPLITS = 3, RESTARTS = 3, RESTARTS_OVERLAP = 30, MAX_ROWS = 5000 };

typedef struct halves {
    const double *rows;
    int64_t n, dim, k, restarts;
    int64_t *from;        /* n: numbers of the rows used */
    int64_t *order;       /* n: a random order of the rows, whose first and second parts are the two
                           * halves */
    double *part;         /* rows of one half */
    int32_t *label;       /* labels of one half */
    double *center;       /* k x dim */
    int64_t *size;        /* k */
    int32_t *extended[2]; /* n: labels of all rows, by the nearest center of each half */
} halves;

static ddsc_status halves_new(ddsc_context *ctx, halves *h)
{
    CHECK(MEM_NEW(ctx, h->from, h->n));
    CHECK(MEM_NEW(ctx, h->order, h->n));
    CHECK(MEM_NEW(ctx, h->part, h->n * h->dim));
    CHECK(MEM_NEW(ctx, h->label, h->n));
    CHECK(MEM_NEW(ctx, h->center, h->k * h->dim));
    CHECK(MEM_NEW(ctx, h->size, h->k));
    CHECK(MEM_NEW(ctx, h->extended[0], h->n));
    return MEM_NEW(ctx, h->extended[1], h->n);
}

static void halves_free(ddsc_context *ctx, halves *h)
{
    MEM_FREE(ctx, h->extended[1], h->extended[0], h->size, h->center, h->label, h->part, h->order,
             h->from);
}

static const double *row_at(const halves *h, int64_t i)
{
    return h->rows + h->from[i] * h->dim;
}

/* Draws one random row from each of h->n equal intervals. Rows at a fixed distance from each other
 * could all belong to one cluster if clusters alternate in the input. */
static void choose_rows(halves *h, int64_t n, rng *random)
{
    for (int64_t i = 0; i < h->n; i++) {
        int64_t first = i * n / h->n;
        h->from[i] = first + rng_below(random, (i + 1) * n / h->n - first);
    }
}

static void shuffle(halves *h, rng *random)
{
    for (int64_t i = 0; i < h->n; i++)
        h->order[i] = i;
    for (int64_t i = h->n - 1; i > 0; i--) {
        int64_t j = rng_below(random, i + 1), kept = h->order[i];
        h->order[i] = h->order[j];
        h->order[j] = kept;
    }
}

/* Returns the cluster with the nearest center. Empty clusters are skipped. */
static int32_t halves_nearest_center(const halves *h, const double *row)
{
    double best = INFINITY;
    int32_t found = 0;
    for (int64_t c = 0; c < h->k; c++) {
        double d2 = h->size[c] > 0 ? la_distance2(h->dim, row, h->center + c * h->dim) : INFINITY;
        if (d2 < best) {
            best = d2;
            found = (int32_t)c;
        }
    }
    return found;
}

static ddsc_status fit_half(ddsc_context *ctx, halves *h, int which)
{
    double inertia;
    int64_t found, middle = h->n / 2, begin = which ? middle : 0, end = which ? h->n : middle;
    for (int64_t i = begin; i < end; i++)
        memcpy(h->part + (i - begin) * h->dim, row_at(h, h->order[i]),
               (size_t)h->dim * sizeof *h->part);
    kmeans_problem problem = {
        .n = end - begin, .dim = h->dim, .rows = h->part, .k = h->k, .restarts = h->restarts};
    CHECK(kmeans_fit(ctx, h->label, &inertia, &found, &problem));
    kmeans_means(h->center, h->size, h->label, h->k, end - begin, h->dim, h->part);
    for (int64_t i = 0; i < h->n; i++)
        h->extended[which][i] = halves_nearest_center(h, row_at(h, i));
    return DDSC_OK;
}

/* Returns the largest overlap (Jaccard) between a cluster and the clusters in `found`, over the
 * h->n rows. */
static double best_overlap(halves *h, const int32_t *found, const int32_t *labels, int32_t cluster)
{
    int64_t own = 0;
    double best = 0;
    int64_t *both = h->size, *there = h->order; /* k <= n entries each */
    for (int64_t c = 0; c < h->k; c++)
        both[c] = there[c] = 0;
    for (int64_t i = 0; i < h->n; i++) {
        bool in = labels[h->from[i]] == cluster;
        own += in;
        both[found[i]] += in;
        there[found[i]]++;
    }
    for (int64_t c = 0; c < h->k; c++)
        if (both[c] > 0)
            best = fmax(best, (double)both[c] / (double)(own + there[c] - both[c]));
    return best;
}

ddsc_status halves_overlap(ddsc_context *ctx, double *result, int64_t n, int64_t dim,
                           const double *rows, int64_t k, const int32_t *labels, int32_t cluster)
{
    ddsc_status status = DDSC_OK;
    halves h = {
        .rows = rows, .n = BASE_MIN(n, MAX_ROWS), .dim = dim, .k = k, .restarts = RESTARTS_OVERLAP};
    double sum = 0;
    *result = NAN;
    if (h.n < 2 * k)
        goto done;
    TRY(halves_new(ctx, &h));
    rng which = rng_make(ctx_seed(ctx), RNG_HALVES, N_SPLITS);
    choose_rows(&h, n, &which);
    for (uint64_t s = 0; s < N_SPLITS; s++) {
        rng random = rng_make(ctx_seed(ctx), RNG_HALVES, s);
        shuffle(&h, &random);
        for (int half = 0; half < 2; half++)
            TRY(fit_half(ctx, &h, half));
        for (int half = 0; half < 2; half++)
            sum += best_overlap(&h, h.extended[half], labels, cluster);
    }
    *result = sum / (2 * N_SPLITS);
done:
    halves_free(ctx, &h);
    return status;
}

ddsc_status halves_agreement(ddsc_context *ctx, double *result, int64_t n, int64_t dim,
                             const double *rows, int64_t k)
{
    ddsc_status status = DDSC_OK;
    halves h = {.rows = rows, .n = BASE_MIN(n, MAX_ROWS), .dim = dim, .k = k, .restarts = RESTARTS};
    ddsc_scores scores;
    double sum = 0;
    *result = k == 1 ? 1 : NAN;
    if (k == 1 || h.n < 2 * k)
        goto done;
    TRY(halves_new(ctx, &h));
    rng which = rng_make(ctx_seed(ctx), RNG_HALVES, N_SPLITS);
    choose_rows(&h, n, &which);
    for (uint64_t s = 0; s < N_SPLITS; s++) {
        rng random = rng_make(ctx_seed(ctx), RNG_HALVES, s);
        shuffle(&h, &random);
        TRY(fit_half(ctx, &h, 0));
        TRY(fit_half(ctx, &h, 1));
        TRY(scores_compute(ctx, &scores, h.n, h.extended[0], h.extended[1]));
        sum += scores.ari;
    }
    *result = sum / N_SPLITS;
done:
    halves_free(ctx, &h);
    return status;
}
