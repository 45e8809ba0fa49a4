/* Chooses the number of states: the largest number for which two random halves of the sampled
 * points agree. Each half is clustered separately, and the points of one half are also assigned to
 * the centers of the other half. Each state must be found in both halves: the agreement is the
 * smallest overlap (Jaccard) between a state and the most similar state of the other half. The
 * threshold is the value that Hennig (2007) uses for stable clusters. The adjusted Rand index of
 * all states is not used because an arbitrary split of one state would hardly change it. */
#include <math.h>
#include <string.h>

#include "assess/cohort/states.h"
#include "numeric/kmeans/kmeans.h"
#include "numeric/linalg/linalg.h"

enum {
    N_NUMBERS = 10,
    MOST_CHOSEN = 20,
    SPLITS = 2,
    LEAST_PER_STATE = 10, /* minimum number of points of a half per state */
    RESTARTS_TO_CHOOSE = 4
};
static const int64_t NUMBERS[N_NUMBERS] = {2, 3, 4, 5, 6, 8, 10, 12, 15, 20};
static const double AGREEMENT = 0.75;

int32_t states_nearest(const double *centers, int64_t k, int64_t dim, const double *point)
{
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t c = 0; c < k; c++) {
        double d2 = la_distance2(dim, point, centers + c * dim);
        if (d2 < least) {
            least = d2;
            best = c;
        }
    }
    return best;
}

ddsc_status states_cluster(ddsc_context *ctx, double *centers, int64_t *n_found, int64_t k,
                           int64_t restarts, int64_t n, int64_t dim, const double *rows)
{
    ddsc_status status = DDSC_OK;
    int32_t *label = NULL;
    int64_t *count = NULL;
    double inertia;
    kmeans_problem p = {
        .n = n, .dim = dim, .rows = rows, .k = BASE_MIN(k, n), .restarts = restarts};
    TRY(MEM_NEW(ctx, label, n));
    TRY(MEM_NEW(ctx, count, k));
    TRY(kmeans_fit(ctx, label, &inertia, n_found, &p));
    kmeans_means(centers, count, label, *n_found, n, dim, rows);
done:
    MEM_FREE(ctx, label, count);
    return status;
}

typedef struct split {
    int64_t n, dim; /* rows in each half */
    double *rows;   /* 2 n x dim: both halves */
    double *centers[2];
    int64_t k[2];
    int32_t *label[2]; /* n each: labels of the same points by the centers of each half */
    int64_t common[MOST_CHOSEN][MOST_CHOSEN]; /* points of each pair of labels */
} split;

/* Divides the rows randomly into two halves. If their number is odd, one row is omitted. */
static void draw_halves(ddsc_context *ctx, split *s, const double *rows, int64_t part)
{
    rng random = rng_make(ctx_seed(ctx), RNG_STATES, (uint64_t)part);
    int64_t left = s->n, to[2] = {0, s->n};
    for (int64_t i = 0; i < 2 * s->n; i++) {
        int side = rng_below(&random, 2 * s->n - i) >= left;
        left -= !side;
        memcpy(s->rows + to[side]++ * s->dim, rows + i * s->dim, (size_t)s->dim * sizeof *rows);
    }
}

/* Returns the smallest overlap (Jaccard) between a state of one labeling and the most similar state
 * of the other. */
static double least_overlap(split *s)
{
    int64_t k = s->k[0], m = s->k[1];
    double least = 1;
    memset(s->common, 0, sizeof s->common);
    for (int64_t i = 0; i < s->n; i++)
        s->common[s->label[0][i]][s->label[1][i]]++;
    for (int64_t a = 0; a < k; a++) {
        double best = 0;
        for (int64_t b = 0; b < m; b++) {
            int64_t either = -s->common[a][b];
            for (int64_t c = 0; c < m; c++)
                either += s->common[a][c];
            for (int64_t c = 0; c < k; c++)
                either += s->common[c][b];
            best = fmax(best, (double)s->common[a][b] / (double)BASE_MAX(either, 1));
        }
        least = fmin(least, best);
    }
    return least;
}

/* Adds the agreement between the two halves for k states to *sum. */
static ddsc_status add_overlap(ddsc_context *ctx, split *s, int64_t k, double *sum)
{
    for (int side = 0; side < 2; side++)
        CHECK(states_cluster(ctx, s->centers[side], &s->k[side], k, RESTARTS_TO_CHOOSE, s->n,
                             s->dim, s->rows + side * s->n * s->dim));
    for (int half = 0; half < 2; half++) {
        for (int side = 0; side < 2; side++)
            for (int64_t i = 0; i < s->n; i++)
                s->label[side][i] = states_nearest(s->centers[side], s->k[side], s->dim,
                                                   s->rows + (half * s->n + i) * s->dim);
        *sum += least_overlap(s) / (2 * SPLITS);
    }
    return DDSC_OK;
}

static ddsc_status measure_agreement(ddsc_states *t, split *s, const double *rows)
{
    for (int64_t part = 0; part < SPLITS; part++) {
        draw_halves(t->ctx, s, rows, part);
        for (int64_t a = 0; a < t->view.n_tried; a++)
            CHECK(add_overlap(t->ctx, s, t->tried[a], &t->agreement[a]));
    }
    return DDSC_OK;
}

ddsc_status states_choose(ddsc_states *t, int64_t *k, int64_t n, int64_t dim, const double *rows)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = t->ctx;
    split s = {.n = n / 2, .dim = dim};
    *k = 1;
    TRY(MEM_NEW(ctx, t->tried, N_NUMBERS));
    TRY(MEM_ZERO(ctx, t->agreement, N_NUMBERS));
    TRY(MEM_NEW(ctx, s.rows, 2 * s.n * dim));
    for (int side = 0; side < 2; side++) {
        TRY(MEM_NEW(ctx, s.centers[side], MOST_CHOSEN * dim));
        TRY(MEM_NEW(ctx, s.label[side], s.n));
    }
    for (int a = 0; a < N_NUMBERS && NUMBERS[a] * LEAST_PER_STATE <= s.n; a++)
        t->tried[t->view.n_tried++] = NUMBERS[a];
    TRY(measure_agreement(t, &s, rows));
    int64_t best = 0;
    for (int64_t a = 0; a < t->view.n_tried; a++)
        if (t->agreement[a] >= AGREEMENT ||
            (t->agreement[best] < AGREEMENT && t->agreement[a] > t->agreement[best]))
            best = a;
    if (t->view.n_tried > 0)
        *k = t->tried[best];
done:
    MEM_FREE(ctx, s.rows, s.centers[0], s.centers[1], s.label[0], s.label[1]);
    return status;
}
