/* Computes a map of the graph in the plane. Neighbors attract and random items repel each other
 * (Tang, Liu, Zhang and Mei 2016), with the gradients of McInnes, Healy and Melville 2018 for a = b
 * = 1.
 *
 * In an epoch, every item moves in several steps, which use the positions of the other items at the
 * start of the epoch. The items can therefore move in any order and on any thread, in groups of
 * SIMD lanes. */
#include "numeric/graph/graph.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

#pragma GCC diagnostic ignored "-Wpsabi"

/* With many repulsions per attraction, few epochs are enough: 40 epochs with 16 repulsions preserve
 * more neighbors than 200 epochs with 4 (bench/map.py). Small maps are cheap, so they use more
 * epochs. */
enum { EPOCHS = 44, MORE_EPOCHS = 20000, MAX_EPOCHS = 200, MIN_EPOCHS = 20 };
enum { N_REPELLED = 16, START_SIZE = 10, GRAIN = 256, GROUPS = 4 };
/* maximum number of pair updates, which take a few seconds; larger graphs use fewer epochs */
#define WORK_LIMIT 4e8
#define STEP_LIMIT 4.0

typedef struct layout {
    const ddsc_graph *g;
    int64_t *into; /* n + 2 offsets into `from` */
    int32_t *from; /* for each item, the items whose lists contain it */
    double *xy;    /* n x 2: positions after the epoch */
    double *x, *y; /* n positions at the start of the epoch, followed by a copy of the first
                    * SIMD_LANES ones */
    double rate;
    uint64_t key; /* seed of the epoch's random numbers */
} layout;

/* A group of items, one per SIMD lane, with their current positions and neighbor lists. Unused
 * lanes have empty lists. */
typedef struct lanes {
    simd_f64 x, y;
    int64_t item[SIMD_LANES];
    int64_t out[SIMD_LANES], n_out[SIMD_LANES]; /* first neighbor and number of neighbors of each
                                                 * item */
    int64_t in[SIMD_LANES],
        n_in[SIMD_LANES]; /* first item and number of items whose lists contain this item */
    int64_t most_out;
} lanes;

/* ---- steps ---- */

SIMD_INLINE simd_f64 limited(simd_f64 step)
{
    return simd_max(simd_min(step, simd_all(STEP_LIMIT)), simd_all(-STEP_LIMIT));
}

/* Moves each item toward the position that another item had at the start of the epoch. `rate` is 0
 * in unused lanes. */
SIMD_INLINE void attract(lanes *a, const layout *l, const int64_t *other, simd_f64 rate)
{
    simd_f64 x, y;
    for (int k = 0; k < SIMD_LANES; k++) {
        x[k] = l->x[other[k]];
        y[k] = l->y[other[k]];
    }
    x = a->x - x;
    y = a->y - y;
    simd_f64 pull = simd_all(2) / (simd_all(1) + x * x + y * y);
    a->x -= rate * limited(pull * x);
    a->y -= rate * limited(pull * y);
}

/* Moves each item away from another item; lane l uses item other + l. */
SIMD_INLINE void repel(lanes *a, const layout *l, int64_t other, simd_f64 rate)
{
    simd_f64 x = a->x - simd_load(l->x + other), y = a->y - simd_load(l->y + other);
    simd_f64 d2 = x * x + y * y;
    simd_f64 push = simd_all(2) / ((simd_all(0.001) + d2) * (simd_all(1) + d2));
    a->x += rate * limited(push * x);
    a->y += rate * limited(push * y);
}

/* ---- an epoch ---- */

SIMD_INLINE void lanes_take(lanes *a, const layout *l, int64_t first, int64_t n)
{
    a->most_out = 1;
    for (int k = 0; k < SIMD_LANES; k++) {
        int64_t i = first + BASE_MAX(0, BASE_MIN(k, n - 1));
        a->item[k] = i;
        a->x[k] = l->x[i];
        a->y[k] = l->y[i];
        a->out[k] = l->g->offset[i];
        a->n_out[k] = k < n ? l->g->offset[i + 1] - l->g->offset[i] : 0;
        a->in[k] = l->into[i];
        a->n_in[k] = k < n ? l->into[i + 1] - l->into[i] : 0;
        a->most_out = BASE_MAX(a->most_out, a->n_out[k]);
    }
}

/* Applies the p-th part of the attractions toward items whose lists contain this item. The parts
 * alternate with repulsions, because items would otherwise be too close together at the end of an
 * epoch. */
SIMD_INLINE void attract_in(lanes *a, const layout *l, int64_t p)
{
    int64_t at[SIMD_LANES], end[SIMD_LANES], other[SIMD_LANES], most = 0;
    for (int k = 0; k < SIMD_LANES; k++) {
        int64_t n = BASE_MAX(a->n_out[k], 1);
        at[k] = BASE_MIN(p, n) * a->n_in[k] / n;
        end[k] = BASE_MIN(p + 1, n) * a->n_in[k] / n;
        most = BASE_MAX(most, end[k] - at[k]);
    }
    for (int64_t t = 0; t < most; t++) {
        simd_f64 rate;
        for (int k = 0; k < SIMD_LANES; k++) {
            bool has = at[k] + t < end[k];
            other[k] = has ? l->from[a->in[k] + at[k] + t] : a->item[k];
            rate[k] = has ? l->rate : 0;
        }
        attract(a, l, other, rate);
    }
}

/* Draws a random index and moves the item in each lane away from the item at that index plus the
 * lane number. A single draw thus gives every lane a uniformly chosen item. A draw equal to the
 * first index of the group is skipped, because every item would be moved away from itself.
 * Repulsions of one group depend on each other, so the code alternates between groups. */
SIMD_INLINE void repel_some(lanes *a, const layout *l, int64_t p, const simd_f64 *rate)
{
    for (int r = 0; r < N_REPELLED; r += 2) {
        int64_t one[GROUPS], two[GROUPS];
        for (int g = 0; g < GROUPS; g++) {
            uint64_t draw =
                hash_u64(l->key + (uint64_t)((a[g].item[0] << 24) + p * N_REPELLED + r));
            one[g] = (int64_t)((draw & UINT32_MAX) * (uint64_t)l->g->n >> 32);
            two[g] = (int64_t)((draw >> 32) * (uint64_t)l->g->n >> 32);
        }
        for (int g = 0; g < GROUPS; g++)
            repel(&a[g], l, one[g], one[g] == a[g].item[0] ? simd_all(0) : rate[g]);
        for (int g = 0; g < GROUPS; g++)
            repel(&a[g], l, two[g], two[g] == a[g].item[0] ? simd_all(0) : rate[g]);
    }
}

/* Moves up to GROUPS x SIMD_LANES items, starting at `first`. */
SIMD_CLONES static void move_lanes(const layout *l, int64_t first, int64_t n)
{
    lanes a[GROUPS];
    int64_t most_out = 1;
    for (int g = 0; g < GROUPS; g++) {
        int64_t begin = BASE_MIN((int64_t)g * SIMD_LANES, n - 1);
        lanes_take(&a[g], l, first + begin, BASE_MAX(0, n - (int64_t)g * SIMD_LANES));
        most_out = BASE_MAX(most_out, a[g].most_out);
    }
    for (int64_t p = 0; p < most_out; p++) {
        simd_f64 rate[GROUPS];
        for (int g = 0; g < GROUPS; g++) {
            int64_t other[SIMD_LANES];
            for (int k = 0; k < SIMD_LANES; k++) {
                bool has = p < a[g].n_out[k];
                other[k] = has ? l->g->index[a[g].out[k] + p] : a[g].item[k];
                rate[g][k] = has ? l->rate : 0;
            }
            attract(&a[g], l, other, rate[g]);
            attract_in(&a[g], l, p);
        }
        repel_some(a, l, p, rate);
    }
    for (int64_t i = 0; i < n; i++) {
        l->xy[2 * (first + i)] = a[i / SIMD_LANES].x[i % SIMD_LANES];
        l->xy[2 * (first + i) + 1] = a[i / SIMD_LANES].y[i % SIMD_LANES];
    }
}

static ddsc_status move_items(void *arg, int64_t begin, int64_t end, int worker)
{
    enum { TOGETHER = GROUPS * SIMD_LANES };
    (void)worker;
    for (int64_t i = begin; i < end; i += TOGETHER)
        move_lanes(arg, i, BASE_MIN(TOGETHER, end - i));
    return DDSC_OK;
}

/* Builds the reverse neighbor lists, because an edge attracts both of its items. */
static ddsc_status turn_lists(ddsc_context *ctx, layout *l)
{
    const ddsc_graph *g = l->g;
    CHECK(MEM_ZERO(ctx, l->into, g->n + 2));
    CHECK(MEM_NEW(ctx, l->from, g->offset[g->n]));
    for (int64_t p = 0; p < g->offset[g->n]; p++)
        l->into[g->index[p] + 2]++;
    for (int64_t i = 0; i < g->n; i++)
        l->into[i + 2] += l->into[i + 1];
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++)
            l->from[l->into[g->index[p] + 1]++] = (int32_t)i;
    return DDSC_OK;
}

/* Scales the start positions to a fixed size and adds a little noise, which separates items at
 * equal positions. */
static void place(double *xy, const double *start, int64_t n, rng *random)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; start && i < 2 * n; i++) {
        low[i % 2] = fmin(low[i % 2], start[i]);
        high[i % 2] = fmax(high[i % 2], start[i]);
    }
    double size = start && n ? fmax(high[0] - low[0], high[1] - low[1]) : 0;
    double scale = size > 0 && isfinite(size) ? 2 * START_SIZE / size : 0;
    for (int64_t i = 0; i < 2 * n; i++) {
        double place = scale > 0 ? scale * (start[i] - low[i % 2]) - START_SIZE : 0;
        xy[i] = place + (scale > 0 ? 0.01 : START_SIZE) * (2 * rng_uniform(random) - 1);
    }
}

static int64_t epochs_for(const ddsc_graph *g)
{
    double each = fmax((double)g->offset[g->n], 1) * (1 + N_REPELLED);
    double wanted = fmin(EPOCHS + MORE_EPOCHS / fmax((double)g->n, 1), MAX_EPOCHS);
    return (int64_t)fmin(fmax(WORK_LIMIT / each, MIN_EPOCHS), wanted);
}

ddsc_status ddsc_layout_run(ddsc_context *ctx, double *xy, const ddsc_graph *graph,
                            const double *start)
{
    ddsc_status status = DDSC_OK;
    layout l = {.g = graph};
    CHECK(ctx_enter(ctx));
    if (!xy || !graph)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "layout: xy and graph must not be NULL");
    rng random = rng_make(ctx_seed(ctx), RNG_LAYOUT, 0);
    int64_t epochs = epochs_for(graph);
    progress_begin(ctx, "map", epochs);
    TRY(turn_lists(ctx, &l));
    TRY(MEM_NEW(ctx, l.x, graph->n + SIMD_LANES));
    TRY(MEM_NEW(ctx, l.y, graph->n + SIMD_LANES));
    TRY(MEM_NEW(ctx, l.xy, 2 * graph->n));
    place(l.xy, start, graph->n, &random);
    for (int64_t e = 0; e < epochs; e++) {
        l.rate = 1 - (double)e / (double)epochs;
        l.key = rng_u64(&random);
        for (int64_t i = 0; graph->n > 0 && i < graph->n + SIMD_LANES; i++) {
            l.x[i] = l.xy[2 * (i % graph->n)];
            l.y[i] = l.xy[2 * (i % graph->n) + 1];
        }
        TRY(parallel_for(ctx, graph->n, GRAIN, move_items, &l));
        progress_add(ctx, 1);
    }
    progress_end(ctx);
    memcpy(xy, l.xy, (size_t)(2 * graph->n) * sizeof *xy);
done:
    MEM_FREE(ctx, l.xy, l.y, l.x, l.from, l.into);
    return status;
}
