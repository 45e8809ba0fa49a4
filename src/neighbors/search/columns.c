/* Builds the tau-NN graph from whole columns of the distance matrix.
 *
 * A random subset of m items, the landmarks, is compared with all n items, which takes about n m
 * values instead of n^2 / 2. Distances to a landmark are therefore exact. All other distances are
 * approximated with the Nystrom method (landmarks.c): D^2_ij ~ |x_i - x_j|^2 + rest_i + rest_j. The
 * graph contains the nearest items by exact or approximate distance. Finding them takes O(n^2 dim)
 * operations.
 *
 * The error is estimated without further solves. Some landmarks are held out, the coordinates are
 * fitted to the other landmarks, and the predicted distances between held-out landmarks are
 * compared with the known distances. The estimate is the median absolute error divided by the
 * median absolute deviation of the distances. A value of 1 is no better than a constant guess. */
#include <math.h>
#include <string.h>

#include "neighbors/search/search.h"
#include "neighbors/search/tuning.h"
#include "numeric/graph/graph.h"
#include "numeric/linalg/linalg.h"

void search_columns_free(ddsc_context *ctx, column_set *c)
{
    MEM_FREE(ctx, c->d2, c->rank, c->order);
    *c = (column_set){0};
}

/* Chooses the landmarks with a partial Fisher-Yates shuffle, and numbers them in the order of the
 * items. */
static void draw(ddsc_context *ctx, column_set *c)
{
    rng r = rng_make(ctx_seed(ctx), RNG_COLUMNS, 0);
    int64_t at = 0, later = c->m;
    for (int64_t i = 0; i < c->n; i++) {
        c->order[i] = i;
        c->rank[i] = -1;
    }
    for (int64_t k = 0; k < c->m; k++) {
        int64_t other = k + rng_below(&r, c->n - k), t = c->order[k];
        c->order[k] = c->order[other];
        c->order[other] = t;
        c->rank[c->order[k]] = 0;
    }
    for (int64_t i = 0; i < c->n; i++) {
        if (c->rank[i] == 0)
            c->rank[i] = (int32_t)at++;
        c->order[c->rank[i] >= 0 ? c->rank[i] : later++] = i;
    }
}

ddsc_status search_columns_draw(ddsc_context *ctx, column_set *c, int64_t n, double fraction)
{
    ddsc_status status = DDSC_OK;
    int64_t size;
    *c = (column_set){.n = n, .m = columns_of(n, fraction)};
    if (c->m < COLUMNS_LEAST)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "sample_columns = %g of %lld items selects %lld columns; at least %d are "
                        "required, and a few hundred are recommended",
                        fraction, (long long)n, (long long)c->m, COLUMNS_LEAST);
    if (!mul_ok(n, c->m, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY,
                        "%lld columns of %lld items are too many; reduce sample_columns",
                        (long long)c->m, (long long)n);
    TRY(MEM_NEW(ctx, c->order, n));
    TRY(MEM_NEW(ctx, c->rank, n));
    TRY(MEM_ZERO(ctx, c->d2, size));
    draw(ctx, c);
done:
    if (status < 0)
        search_columns_free(ctx, c);
    return status;
}

/* Copies a tile to the columns. The rows of the tile are landmarks, and item k of the tile is item
 * c->order[k] of the set. */
static void columns_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    const column_set *c = arg;
    for (int64_t i = t->i0; i < BASE_MIN(t->i1, c->m); i++)
        for (int64_t j = BASE_MAX(t->j0, i + 1); j < t->j1; j++) {
            double value = d2[(i - t->i0) * ld + (j - t->j0)];
            c->d2[c->order[j] * c->m + i] = value;
            if (j < c->m)
                c->d2[c->order[i] * c->m + j] = value;
        }
}

ddsc_status search_columns_fill(column_set *c, pairs *ordered)
{
    pair_choice first = {.i_end = c->m, .sample = 1};
    return pairs_walk_all(ordered, &first, columns_sink, c);
}

/* ---- the graph ---- */

typedef struct mixed {
    const column_set *c;
    landmark_map fit;
} mixed;

static double known_or(const mixed *s, int64_t i, int64_t j, double apart2)
{
    const column_set *c = s->c;
    if (c->rank[i] >= 0)
        return c->d2[j * c->m + c->rank[i]];
    if (c->rank[j] >= 0)
        return c->d2[i * c->m + c->rank[j]];
    return apart2 + s->fit.rest[i] + s->fit.rest[j];
}

static ddsc_status mixed_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                              ddsc_pair_stats *stats)
{
    const mixed *s = state;
    const double *x = s->fit.x;
    int64_t dim = s->fit.dim;
    (void)worker;
    (void)stats;
    la_differences(t->i1 - t->i0, t->j1 - t->j0, dim, x + t->i0 * dim, x + t->j0 * dim, d2, ld);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *value = &d2[(i - t->i0) * ld + (j - t->j0)];
            *value = known_or(s, i, j, *value);
        }
    return DDSC_OK;
}

static const pair_backend backend_mixed = {.name = "columns", .tile_side = 64, .tile = mixed_tile};

/* Returns the median of |x - middle|, or of x if `middle` is NaN. Reorders and overwrites x. */
static double median_off(double *x, int64_t n, double middle)
{
    for (int64_t p = 0; p < n && !isnan(middle); p++)
        x[p] = fabs(x[p] - middle);
    return select_smallest(x, n, n / 2);
}

/* Estimates the relative error of the approximate distances between held-out landmarks, which are
 * predicted from the other landmarks (see above). */
static ddsc_status estimate_error(ddsc_context *ctx, double *error, const double *between,
                                  int64_t m)
{
    ddsc_status status = DDSC_OK;
    int64_t each = BASE_MAX(HELD_OUT_SHARE_LEAST, BASE_MIN(m / HELD_OUT, HELD_OUT_SHARE));
    int64_t n_out = m / each, n_in = m - n_out, n_pairs = 0, *item = NULL;
    double *to = NULL, *off = NULL, *truth = NULL;
    landmark_map fit = {0};
    *error = NAN;
    if (m < ESTIMATE_LEAST)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, item, m)); /* the landmarks used for the fit, followed by the held-out
                                 * landmarks */
    TRY(MEM_NEW(ctx, to, m * n_in));
    TRY(MEM_NEW(ctx, off, n_out * n_out));
    TRY(MEM_NEW(ctx, truth, n_out * n_out));
    for (int64_t a = 0, in = 0, out = n_in; a < m; a++)
        item[a % each == each - 1 ? out++ : in++] = a;
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < n_in; b++)
            to[a * n_in + b] = between[item[a] * m + item[b]];
    TRY(search_landmarks_fit(ctx, &fit, n_out, n_in, to + n_in * n_in, to));
    for (int64_t a = 0; a < n_out; a++)
        for (int64_t b = 0; b < a; b++, n_pairs++) {
            double apart2 = la_distance2(fit.dim, fit.x + a * fit.dim, fit.x + b * fit.dim);
            truth[n_pairs] = between[item[n_in + a] * m + item[n_in + b]];
            off[n_pairs] = apart2 + fit.rest[a] + fit.rest[b] - truth[n_pairs];
        }
    double typical = median_off(off, n_pairs, 0);
    double spread = median_off(truth, n_pairs, median_off(truth, n_pairs, NAN));
    *error = typical == 0 ? 0 : spread > 0 ? typical / spread : NAN;
done:
    search_landmarks_free(ctx, &fit);
    MEM_FREE(ctx, truth, off, to, item);
    return status;
}

ddsc_status search_columns(ddsc_context *ctx, ddsc_graph **out, const column_set *c, int64_t tau,
                           const local_scales *by)
{
    ddsc_status status = DDSC_OK;
    mixed s = {.c = c};
    pairs p = {0};
    pair_choice all = pairs_all(c->n);
    double *between = NULL, error;
    TRY(MEM_NEW(ctx, between, c->m * c->m));
    for (int64_t a = 0; a < c->m; a++) /* rows of the landmarks */
        memcpy(between + a * c->m, c->d2 + c->order[a] * c->m, (size_t)c->m * sizeof *between);
    TRY(estimate_error(ctx, &error, between, c->m));
    TRY(search_landmarks_fit(ctx, &s.fit, c->n, c->m, c->d2, between));
    TRY(pairs_open(ctx, &p, c->n, &backend_mixed, &s, NULL));
    p.by = by;
    TRY(search_full(&p, out, tau, &all));
    (*out)->n_columns = c->m;
    (*out)->columns_error = error;
done:
    pairs_close(&p);
    search_landmarks_free(ctx, &s.fit);
    mem_free(ctx, between);
    return status;
}
