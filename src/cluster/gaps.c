/* Is a cluster parted from the rest by a gap, or would any border do? Items are ordered by a random walk that sets
 * out from the cluster and returns to it now and then (personalised PageRank: f = (1 - a) 1_C + a D^-1 A f), so that
 * the level sets of f grow out of its core; items too far from the border for f to tell them apart follow each other
 * along the first direction of diffusion (direction.c). c(t): affinity between the first t items and the others. A gap is a
 * valley of c near the border of the cluster:
 *   v = c(valley) / smaller of the highest c before and after it.
 * In one even cloud v is about 1. Along a line of items v may be small by chance, since few items lie side by side
 * there: with m of them c wavers by about its m-th root. So the score of a gap is (1 - v) sqrt(m), m being the
 * effective number (sum x)^2 / sum x^2 of items that carry the affinity x across at the peaks. Lines, planes and
 * clouds of light tails stay below GAP_SCORE (bench/verdict.py); structure.c asks for more of many items. */
#include <math.h>
#include <string.h>

#include "cluster/cluster.h"

enum { STEPS = 50, BLOCK = 8, STEP_ROWS = 4096 };
static const double AGAIN = 0.9; /* a: the walk goes on */
/* f nearer to 0 or 1 than this is as good as there: what is left of it is rounding. */
static const double TOLD = 1e-9;

typedef struct gap_search {
    const sparse *a;
    const int32_t *labels;
    const int64_t *size;  /* of each cluster */
    const int32_t *which; /* clusters looked at */
    cluster_gap *out;
    const double *root;   /* n: square roots of the degrees */
    const int32_t *along; /* n: items along the first direction */
    const double *walk;   /* n x width: D^1/2 f of some clusters */
    int64_t first, width;
    double *key, *level, *across; /* n for each worker */
    int32_t *order, *rank;
} gap_search;

/* c(t) for t = 1 .. n - 1, in level[0 .. n - 2]. */
static void crossing(double *level, const sparse *a, const int32_t *rank)
{
    memset(level, 0, (size_t)a->n * sizeof *level);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            if (rank[a->column[p]] > rank[i]) {
                level[rank[i]] += a->value[p];
                level[rank[a->column[p]]] -= a->value[p];
            }
    for (int64_t t = 1; t < a->n; t++)
        level[t] += level[t - 1];
}

/* Effective number of items that carry what crosses after position t, on the side that has fewer. */
static double carriers(double *across, const sparse *a, const int32_t *rank, int64_t t)
{
    double sum[2] = {0}, square[2] = {0};
    for (int64_t i = 0; i < a->n; i++) {
        bool inside = rank[i] <= t;
        across[i] = 0;
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            if ((rank[a->column[p]] <= t) != inside)
                across[i] += a->value[p];
        sum[inside] += across[i];
        square[inside] += across[i] * across[i];
    }
    for (int side = 0; side < 2; side++)
        sum[side] = square[side] > 0 ? sum[side] * sum[side] / square[side] : 0;
    return fmin(sum[0], sum[1]);
}

static int64_t extreme(const double *x, int64_t begin, int64_t end, double sign)
{
    int64_t best = begin;
    for (int64_t t = begin + 1; t < end; t++)
        if (sign * x[t] > sign * x[best])
            best = t;
    return best;
}

/* The valley is looked for from the half of the cluster to half as many items again outside, or half of them. */
static void find_gap(cluster_gap *g, const sparse *a, const int32_t *rank, const double *level,
                     double *across)
{
    int64_t n = a->n, low = BASE_MAX(g->size / 2, 1);
    int64_t high = g->size + BASE_MIN(n - g->size, g->size) / 2;
    high = BASE_MIN(high, n - 3);
    g->valley = 1;
    g->items = g->score = 0;
    if (high <= low)
        return;
    int64_t at = extreme(level, low, high + 1, -1);
    int64_t before = extreme(level, 0, at, 1), after = extreme(level, at + 1, n - 1, 1);
    double peak = fmin(level[before], level[after]);
    g->valley = peak > 0 ? fmax(level[at], 0) / peak : 1;
    g->items = fmin(carriers(across, a, rank, before), carriers(across, a, rank, after));
    g->score = BASE_MAX(1 - g->valley, 0) * sqrt(g->items);
}

static ddsc_status search_clusters(void *arg, int64_t begin, int64_t end, int worker)
{
    const gap_search *s = arg;
    int64_t n = s->a->n;
    double *key = s->key + worker * n, *level = s->level + worker * n;
    int32_t *order = s->order + worker * n, *rank = s->rank + worker * n;
    for (int64_t c = begin; c < end; c++) {
        cluster_gap *g = &s->out[s->which[s->first + c]];
        for (int64_t p = 0; p < n; p++) {
            int64_t i = s->along[p];
            double f = s->walk[i * s->width + c] / s->root[i];
            key[p] = f > 1 - TOLD ? -1 : f < TOLD ? 0 : -f;
        }
        sort_order(order, key, n);
        for (int64_t t = 0; t < n; t++)
            rank[s->along[order[t]]] = (int32_t)t;
        crossing(level, s->a, rank);
        find_gap(g, s->a, rank, level, s->across + worker * n);
        g->examined = true;
    }
    return DDSC_OK;
}

/* One step of the walk: x <- (1 - a) D^1/2 1_C + a y; the first one has no y. */
typedef struct walk_step {
    const gap_search *s;
    double *x;
    const double *y;
} walk_step;

static ddsc_status step_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const walk_step *w = arg;
    const gap_search *s = w->s;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < s->width; c++) {
            int64_t at = i * s->width + c;
            double start = s->labels[i] == s->which[s->first + c] ? s->root[i] : 0;
            w->x[at] = w->y ? (1 - AGAIN) * start + AGAIN * w->y[at] : start;
        }
    return DDSC_OK;
}

/* D^1/2 f of `width` clusters, y = M x. */
static ddsc_status walk_block(ddsc_context *ctx, const gap_search *s, const sparse *m, double *x,
                              double *y)
{
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0)
            CHECK(operator_apply(ctx, m, s->width, x, y));
        CHECK(
            parallel_for(ctx, m->n, STEP_ROWS, step_rows, &(walk_step){s, x, step > 0 ? y : NULL}));
    }
    return DDSC_OK;
}

/* The clusters to look at, the largest first, ties by number. */
static void choose_clusters(int32_t *which, const int64_t *size, int64_t k, int64_t n)
{
    for (int64_t at = 0; at < n; at++) {
        int32_t best = -1;
        for (int32_t c = 0; c < k; c++) {
            bool taken = false;
            for (int64_t i = 0; i < at; i++)
                taken |= which[i] == c;
            if (!taken && (best < 0 || size[c] > size[best]))
                best = c;
        }
        which[at] = best;
    }
}

/* Items by their place along the first direction, those without one first. */
static void sort_along(int32_t *along, double *key, const int64_t *place, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        key[i] = place ? (double)place[i] : 0;
    sort_order(along, key, n);
}

ddsc_status cluster_gaps(ddsc_context *ctx, cluster_gap *out, const sparse *a,
                         const int32_t *labels, int64_t k, const int64_t *place)
{
    ddsc_status status = DDSC_OK;
    int64_t n = a->n, n_looked = BASE_MIN(k, GAP_CLUSTERS), *size = NULL;
    int64_t width = BASE_MIN(n_looked, BLOCK), n_workers = parallel_width(ctx);
    gap_search s = {.a = a, .labels = labels, .out = out};
    sparse m = {0};
    double *root = NULL, *x = NULL, *y = NULL;
    int32_t which[GAP_CLUSTERS], *along = NULL;
    TRY(MEM_NEW(ctx, along, n));
    TRY(MEM_ZERO(ctx, size, k));
    TRY(MEM_NEW(ctx, root, n));
    TRY(MEM_NEW(ctx, x, n * width));
    TRY(MEM_NEW(ctx, y, n * width));
    TRY(MEM_NEW(ctx, s.key, n * n_workers));
    TRY(MEM_NEW(ctx, s.level, n * n_workers));
    TRY(MEM_NEW(ctx, s.across, n * n_workers));
    TRY(MEM_NEW(ctx, s.order, n * n_workers));
    TRY(MEM_NEW(ctx, s.rank, n * n_workers));
    for (int64_t i = 0; i < n; i++)
        size[labels[i]]++;
    for (int64_t c = 0; c < k; c++)
        out[c] = (cluster_gap){.size = size[c], .valley = 1};
    choose_clusters(which, size, k, n_looked);
    TRY(operator_build(ctx, &m, root, a));
    for (int64_t i = 0; i < n; i++)
        root[i] = sqrt(root[i]);
    sort_along(along, s.key, place, n);
    s.along = along;
    s.size = size;
    s.which = which;
    s.root = root;
    s.walk = x;
    for (s.first = 0; s.first < n_looked; s.first += s.width) {
        s.width = BASE_MIN(width, n_looked - s.first);
        TRY(walk_block(ctx, &s, &m, x, y));
        TRY(parallel_for(ctx, s.width, 1, search_clusters, &s));
    }
done:
    sparse_free(ctx, &m);
    MEM_FREE(ctx, s.rank, s.order, s.across, s.level, s.key, y, x, root, size, along);
    return status;
}
