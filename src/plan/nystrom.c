/* Whole columns of the distance matrix: landmarks drawn at random, their distances to all items,
 * and the graph made of these and of what the Nystrom method makes of them. */
#include <math.h>
#include <string.h>

#include "graph/graph.h"
#include "linalg/linalg.h"
#include "lot/lot.h"
#include "mmd/mmd.h"
#include "plan/nystrom.h"

/* One landmark of so many is held out; the fewer there are, the more of them. */
enum { HELD_OUT_SHARE = 10, HELD_OUT_SHARE_LEAST = 3, HELD_OUT = 12, JUDGED_LEAST = 15 };

void columns_free(ddsc_context *ctx, column_set *c)
{
    mem_free(ctx, c->d2);
    mem_free(ctx, c->rank);
    mem_free(ctx, c->order);
    *c = (column_set){0};
}

/* A partial Fisher-Yates shuffle marks the landmarks; numbers go by item. */
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

ddsc_status columns_draw(ddsc_context *ctx, column_set *c, int64_t n, double fraction)
{
    ddsc_status status = DDSC_OK;
    int64_t size;
    *c = (column_set){.n = n, .m = (int64_t)llround(fraction * (double)n)};
    if (c->m < COLUMNS_LEAST)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "sample_columns = %g of %lld items is %lld columns: %d are the least, some "
                        "hundred do well",
                        fraction, (long long)n, (long long)c->m, COLUMNS_LEAST);
    if (!mul_ok(n, c->m, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "%lld columns of %lld items are too many",
                        (long long)c->m, (long long)n);
    TRY(MEM_NEW(ctx, c->order, n));
    TRY(MEM_NEW(ctx, c->rank, n));
    TRY(MEM_ZERO(ctx, c->d2, size));
    draw(ctx, c);
done:
    if (status < 0)
        columns_free(ctx, c);
    return status;
}

/* Rows of a tile are landmarks; its items are in the order of c->order. */
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

/* What a metric takes from the whole set must not depend on the order the items are put in. */
static ddsc_status settle_metric(ddsc_context *ctx, ddsc_metric_settings *set, measures **reference,
                                 const measures *m)
{
    if (set->metric == DDSC_METRIC_MMD && set->mmd_kernel != DDSC_KERNEL_ENERGY) {
        CHECK(mmd_bandwidth(ctx, &set->bandwidth, m, set));
        set->bandwidth_rule = DDSC_BANDWIDTH_VALUE;
    } else if (set->metric == DDSC_METRIC_SINKHORN && set->epsilon_is_percent) {
        CHECK(sinkhorn_epsilon(ctx, &set->epsilon, m, set));
        set->epsilon_is_percent = 0;
    } else if (set->metric == DDSC_METRIC_LOT) {
        CHECK(lot_reference_make(ctx, reference, m, set));
        set->reference_rule = DDSC_REFERENCE_MEASURES;
        set->reference_measures = *reference;
    }
    return DDSC_OK;
}

ddsc_status columns_fill(ddsc_context *ctx, column_set *c, ddsc_pair_stats *stats,
                         const measures *m, const ddsc_metric_settings *metric)
{
    ddsc_status status = DDSC_OK;
    ddsc_metric_settings set = *metric;
    const pair_backend *backend = backend_for(&set);
    measures *ordered = NULL, *reference = NULL;
    void *state = NULL;
    TRY(settle_metric(ctx, &set, &reference, m));
    TRY(measures_subset(ctx, &ordered, m, m->n, c->order));
    pair_job job = {.ctx = ctx, .m = ordered, .set = &set, .n_workers = parallel_width(ctx)};
    TRY(backend->open(&state, &job, stats));
    TRY(tiles_run_first(ctx, c->m, c->n, backend, state, columns_sink, c, stats));
    stats->n_pairs = c->n * (c->n - 1) / 2;
done:
    if (state)
        backend->close(state);
    ddsc_measures_destroy(ordered);
    ddsc_measures_destroy(reference);
    return status;
}

/* ---- the graph ---- */

typedef struct mixed {
    const column_set *c;
    landmark_map fit;
    void *rows; /* state of backend_vectors over fit.x */
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
    ddsc_status status = backend_vectors.tile(s->rows, t, d2, ld, worker, stats);
    for (int64_t i = t->i0; i < t->i1 && status >= 0; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *value = &d2[(i - t->i0) * ld + (j - t->j0)];
            *value = known_or(s, i, j, *value);
        }
    return status;
}

static const pair_backend backend_mixed = {.name = "columns", .tile_side = 64, .tile = mixed_tile};

/* Distances between landmarks: rows of the columns. */
static void gather_between(double *between, const column_set *c)
{
    for (int64_t a = 0; a < c->m; a++)
        memcpy(between + a * c->m, c->d2 + c->order[a] * c->m, (size_t)c->m * sizeof *between);
}

/* Some landmarks are held out, and the others predict the distances between them. */
typedef struct trial {
    int64_t n_out, n_in;
    int64_t *out, *in;
    double *to;            /* out x in */
    double *between;       /* in x in */
    double *error, *truth; /* of the pairs held out */
    landmark_map fit;
} trial;

static void trial_free(ddsc_context *ctx, trial *t)
{
    landmarks_free(ctx, &t->fit);
    mem_free(ctx, t->truth);
    mem_free(ctx, t->error);
    mem_free(ctx, t->between);
    mem_free(ctx, t->to);
    mem_free(ctx, t->in);
    mem_free(ctx, t->out);
}

static ddsc_status trial_make(ddsc_context *ctx, trial *t, const double *between, int64_t m)
{
    int64_t each = BASE_MAX(HELD_OUT_SHARE_LEAST, BASE_MIN(m / HELD_OUT, HELD_OUT_SHARE));
    CHECK(MEM_NEW(ctx, t->out, m));
    CHECK(MEM_NEW(ctx, t->in, m));
    for (int64_t a = 0; a < m; a++)
        if (a % each == each - 1)
            t->out[t->n_out++] = a;
        else
            t->in[t->n_in++] = a;
    CHECK(MEM_NEW(ctx, t->to, t->n_out * t->n_in));
    CHECK(MEM_NEW(ctx, t->between, t->n_in * t->n_in));
    CHECK(MEM_NEW(ctx, t->error, t->n_out * t->n_out));
    CHECK(MEM_NEW(ctx, t->truth, t->n_out * t->n_out));
    for (int64_t a = 0; a < t->n_out; a++)
        for (int64_t b = 0; b < t->n_in; b++)
            t->to[a * t->n_in + b] = between[t->out[a] * m + t->in[b]];
    for (int64_t a = 0; a < t->n_in; a++)
        for (int64_t b = 0; b < t->n_in; b++)
            t->between[a * t->n_in + b] = between[t->in[a] * m + t->in[b]];
    return DDSC_OK;
}

/* Median of |x - middle|, which reorders and overwrites x; with middle NaN the median of x. */
static double median_off(double *x, int64_t n, double middle)
{
    for (int64_t p = 0; p < n && !isnan(middle); p++)
        x[p] = fabs(x[p] - middle);
    return select_smallest(x, n, n / 2);
}

/* In units of the distances' own spread: 1 is no better than one guess for all. */
static ddsc_status estimate_error(ddsc_context *ctx, double *error, const double *between,
                                  int64_t m)
{
    ddsc_status status = DDSC_OK;
    trial t = {0};
    int64_t n_pairs = 0;
    *error = NAN;
    if (m < JUDGED_LEAST)
        return DDSC_OK;
    TRY(trial_make(ctx, &t, between, m));
    TRY(landmarks_fit(ctx, &t.fit, t.n_out, t.n_in, t.to, t.between));
    for (int64_t a = 0; a < t.n_out; a++)
        for (int64_t b = 0; b < a; b++) {
            const double *x = t.fit.x + a * t.fit.dim, *y = t.fit.x + b * t.fit.dim;
            double guess = la_distance2(t.fit.dim, x, y) + t.fit.rest[a] + t.fit.rest[b];
            t.truth[n_pairs] = between[t.out[a] * m + t.out[b]];
            t.error[n_pairs] = guess - t.truth[n_pairs];
            n_pairs++;
        }
    double off = median_off(t.error, n_pairs, 0);
    double spread = median_off(t.truth, n_pairs, median_off(t.truth, n_pairs, NAN));
    *error = off == 0 ? 0 : spread > 0 ? off / spread : NAN;
done:
    trial_free(ctx, &t);
    return status;
}

ddsc_status columns_search(ddsc_context *ctx, ddsc_graph **out, const column_set *c,
                           const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    mixed s = {.c = c};
    ddsc_pair_stats ignored = {0};
    double *between = NULL, error;
    TRY(MEM_NEW(ctx, between, c->m * c->m));
    gather_between(between, c);
    TRY(estimate_error(ctx, &error, between, c->m));
    TRY(landmarks_fit(ctx, &s.fit, c->n, c->m, c->d2, between));
    TRY(vectors_open(ctx, &s.rows, c->n, s.fit.dim, s.fit.x));
    TRY(neighbors_search(ctx, out, &ignored, c->n, &backend_mixed, &s, settings));
    (*out)->n_columns = c->m;
    (*out)->columns_error = error;
done:
    if (s.rows)
        backend_vectors.close(s.rows);
    landmarks_free(ctx, &s.fit);
    mem_free(ctx, between);
    return status;
}
