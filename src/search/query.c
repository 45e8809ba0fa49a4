/* The nearest old items of new ones: every pair by tiles, or for each new item one walk through its
 * lower bounds. New items do not look at each other, so each walk is a plain best-first search: the
 * candidate of least bound gets a closer bound or, when it has the closest there is, is solved; the
 * walk ends when the least bound lies beyond the tau-th distance found. */
#include <math.h>

#include "graph/graph.h"
#include "search/search.h"

enum { BLOCK_ITEMS = 8 }; /* new items whose first bounds are taken in one go */

/* How close the bound of a candidate is. */
typedef enum reached { FIRST, CLOSER, LOOKED_AT, REFINED } reached;

typedef struct entry {
    double bound;
    int32_t index;
    reached reached;
} entry;

typedef struct worker_room {
    double *rows; /* first bounds of a block of new items */
    entry *heap;  /* least bound on top */
    int64_t n_bounds, n_solved;
    ddsc_pair_stats stats;
} worker_room;

typedef struct across {
    ddsc_context *ctx;
    const across_problem *problem;
    const pair_backend *backend, *bound;
    void *state, *bound_state;
    bool refines;
    int64_t n_old, n_new, bound_side;
    nearest near;
    int n_workers;
    worker_room *room;
} across;

/* ---- a heap of candidates ---- */

static bool before(entry x, entry y)
{
    return x.bound < y.bound || (x.bound == y.bound && x.index < y.index);
}

static void sift_down(entry *heap, int64_t n, int64_t at)
{
    entry moving = heap[at];
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && before(heap[child + 1], heap[child]))
            child++;
        if (!before(heap[child], moving))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void heap_make(entry *heap, int64_t n, const double *bound)
{
    for (int64_t j = 0; j < n; j++)
        heap[j] = (entry){bound[j], (int32_t)j, FIRST};
    for (int64_t at = n / 2 - 1; at >= 0; at--)
        sift_down(heap, n, at);
}

/* ---- one new item ---- */

/* Strictly beyond, with room for the rounding of values: equal distances are decided by index. */
static bool beyond(double bound, double limit)
{
    return bound > limit + (isfinite(limit) ? 1e-9 * fabs(limit) : 0);
}

/* A closer bound for the candidate; false when it has the closest that is worth its while. As long
 * as there is no limit to exceed, a quick look is enough to find good ones first. */
static bool bring_closer(const across *a, entry *top, int64_t item, double limit, int worker)
{
    const pair_pruning *rule = a->backend->pruning;
    double bound = 0;
    if (top->reached == FIRST) {
        top->reached = CLOSER;
        if (rule->closer)
            bound = rule->closer(a->bound_state, top->index, item, limit);
    } else if (a->refines &&
               (top->reached == CLOSER || (top->reached == LOOKED_AT && isfinite(limit)))) {
        top->reached = isfinite(limit) ? REFINED : LOOKED_AT;
        bound = rule->refine(a->state, top->index, item, limit, worker);
    } else {
        return false;
    }
    top->bound = BASE_MAX(top->bound, bound);
    a->room[worker].n_bounds++;
    return true;
}

static ddsc_status solve(across *a, int64_t old, int64_t item, int worker)
{
    worker_room *room = &a->room[worker];
    pair_tile t = {.i0 = old, .i1 = old + 1, .j0 = item, .j1 = item + 1};
    double d2 = NAN;
    ddsc_status status = a->backend->tile(a->state, &t, &d2, 1, worker, &room->stats);
    if (status < 0)
        return status;
    if (!isfinite(d2))
        return ctx_fail(a->ctx, DDSC_ERROR_INTERNAL, "metric %s gave %g for items %lld and %lld",
                        a->backend->name, d2, (long long)old, (long long)item);
    nearest_offer(&a->near, item - a->n_old, old, d2 + 0.0);
    room->n_solved++;
    return status;
}

static ddsc_status walk_item(across *a, int64_t item, const double *bound, int worker)
{
    ddsc_status status = DDSC_OK;
    entry *heap = a->room[worker].heap;
    int64_t n = a->n_old;
    const double *limit = &a->near.limit[item - a->n_old];
    heap_make(heap, n, bound);
    while (n > 0 && !beyond(heap[0].bound, *limit)) {
        if (!bring_closer(a, &heap[0], item, *limit, worker)) {
            TRY(solve(a, heap[0].index, item, worker));
            heap[0] = heap[--n];
        }
        sift_down(heap, n, 0);
    }
    progress_add(a->ctx, 1);
done:
    return status;
}

static ddsc_status walk_items(void *arg, int64_t begin, int64_t end, int worker)
{
    ddsc_status status = DDSC_OK;
    across *a = arg;
    worker_room *room = &a->room[worker];
    int64_t ld = a->n_old + a->bound_side;
    ddsc_pair_stats scratch = {0};
    for (int64_t j0 = 0; j0 < a->n_old; j0 += a->bound_side) {
        pair_tile t = {.i0 = a->n_old + begin,
                       .i1 = a->n_old + end,
                       .j0 = j0,
                       .j1 = BASE_MIN(a->n_old, j0 + a->bound_side)};
        TRY(a->bound->tile(a->bound_state, &t, room->rows + j0, ld, worker, &scratch));
    }
    room->n_bounds += (end - begin) * a->n_old;
    for (int64_t i = begin; i < end; i++)
        TRY(walk_item(a, a->n_old + i, room->rows + (i - begin) * ld, worker));
done:
    return status;
}

/* ---- the search ---- */

static ddsc_status across_open(across *a, const pair_job *job)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    const pair_pruning *rule = a->backend->pruning;
    a->bound = rule->bound;
    TRY(a->bound->open(&a->bound_state, job, &scratch));
    pair_plan plan = {.tile_side = a->bound->tile_side};
    if (a->bound->plan)
        a->bound->plan(a->bound_state, &plan);
    a->bound_side = plan.tile_side;
    if (rule->refine_open)
        TRY(rule->refine_open(a->state, &a->refines));
    TRY(nearest_create(a->ctx, &a->near, a->n_new, a->problem->tau));
    TRY(MEM_ZERO(a->ctx, a->room, a->n_workers));
    for (int w = 0; w < a->n_workers; w++) {
        TRY(MEM_NEW(a->ctx, a->room[w].rows, BLOCK_ITEMS * (a->n_old + a->bound_side)));
        TRY(MEM_NEW(a->ctx, a->room[w].heap, a->n_old));
    }
done:
    return status;
}

static void across_close(across *a)
{
    for (int w = 0; a->room && w < a->n_workers; w++) {
        mem_free(a->ctx, a->room[w].heap);
        mem_free(a->ctx, a->room[w].rows);
    }
    mem_free(a->ctx, a->room);
    nearest_free(a->ctx, &a->near);
    if (a->bound_state)
        a->bound->close(a->bound_state);
}

static void stats_collect(const across *a, ddsc_pair_stats *stats)
{
    int64_t n_solved = 0;
    for (int w = 0; w < a->n_workers; w++) {
        pair_stats_merge(stats, &a->room[w].stats);
        stats->n_bounds += a->room[w].n_bounds;
        n_solved += a->room[w].n_solved;
    }
    stats->n_pairs = a->n_old * a->n_new;
    stats->n_solved = n_solved;
    stats->n_pruned = stats->n_pairs - n_solved;
}

ddsc_status across_search_pruned(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                                 const across_problem *problem, const pair_job *job,
                                 const pair_backend *backend, void *state)
{
    ddsc_status status = DDSC_OK;
    across a = {.ctx = ctx,
                .problem = problem,
                .backend = backend,
                .state = state,
                .n_old = problem->n_old,
                .n_new = problem->m->n - problem->n_old,
                .n_workers = job->n_workers};
    TRY(across_open(&a, job));
    progress_begin(ctx, "neighbours", a.n_new);
    TRY(parallel_for(ctx, a.n_new, BLOCK_ITEMS, walk_items, &a));
    progress_end(ctx);
    stats_collect(&a, stats);
    TRY(nearest_finish(ctx, &a.near, out));
done:
    across_close(&a);
    return status;
}

/* ---- every pair ---- */

typedef struct tile_target {
    nearest near;
    int64_t n_old;
} tile_target;

static void across_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    tile_target *to = arg;
    for (int64_t i = t->i0; i < BASE_MIN(t->i1, to->n_old); i++)
        for (int64_t j = BASE_MAX(t->j0, to->n_old); j < t->j1; j++)
            nearest_offer(&to->near, j - to->n_old, i, d2[(i - t->i0) * ld + (j - t->j0)]);
}

ddsc_status across_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const across_problem *problem, const pair_backend *backend, void *state)
{
    ddsc_status status = DDSC_OK;
    tile_target to = {.n_old = problem->n_old};
    int64_t n = problem->m->n;
    TRY(nearest_create(ctx, &to.near, n - problem->n_old, problem->tau));
    TRY(tiles_run_across(ctx, problem->n_old, n, backend, state, across_sink, &to, stats));
    TRY(nearest_finish(ctx, &to.near, out));
done:
    nearest_free(ctx, &to.near);
    return status;
}
