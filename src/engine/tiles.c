/* The walk over tiles. Blocks of `side` items; tile (I, J) with I <= J, column by column, so that a
 * backend that prepares columns serves all tiles of a strip before the next one. The cut depends on
 * N and the backend alone, hence the bits do not depend on the number of threads. */
#include <math.h>
#include <string.h>

#include "engine/engine.h"

typedef struct worker_room {
    double *d2;
    uint8_t *wanted;
    int64_t n_solved;
    ddsc_pair_stats stats;
} worker_room;

typedef struct walk {
    ddsc_context *ctx;
    const pair_backend *backend;
    void *state;
    int64_t n, side;
    int64_t n_old;      /* only pairs of one of the first n_old items and a later one; 0: all */
    int64_t n_first;    /* only pairs with one of the first n_first items; 0: all */
    int64_t first_tile; /* of the strip at work */
    double sample;
    tile_sink sink;
    void *sink_arg;
    int n_workers;
    worker_room *room;
} walk;

void pair_stats_merge(ddsc_pair_stats *into, const ddsc_pair_stats *from)
{
    into->n_pairs += from->n_pairs;
    into->n_solved += from->n_solved;
    into->n_bounds += from->n_bounds;
    into->n_pruned += from->n_pruned;
    into->n_not_converged += from->n_not_converged;
    into->n_clamped += from->n_clamped;
    into->n_iterations += from->n_iterations;
    into->max_gap = BASE_MAX(into->max_gap, from->max_gap);
    into->epsilon = BASE_MAX(into->epsilon, from->epsilon);
    into->bandwidth = BASE_MAX(into->bandwidth, from->bandwidth);
    into->reference_size = BASE_MAX(into->reference_size, from->reference_size);
    into->seconds += from->seconds;
    into->n_checked = BASE_MAX(into->n_checked, from->n_checked);
    into->check_median = BASE_MAX(into->check_median, from->check_median);
    into->check_high = BASE_MAX(into->check_high, from->check_high);
    into->check_max = BASE_MAX(into->check_max, from->check_max);
    into->n_features = BASE_MAX(into->n_features, from->n_features);
    into->n_components = BASE_MAX(into->n_components, from->n_components);
    into->reduction_error = BASE_MAX(into->reduction_error, from->reduction_error);
    into->recall = BASE_MAX(into->recall, from->recall);
    into->n_recall_rows = BASE_MAX(into->n_recall_rows, from->n_recall_rows);
}

/* Tiles before block column J. */
static int64_t tiles_before(int64_t block)
{
    return block * (block + 1) / 2;
}

/* Block column of tile t: the largest J with tiles_before(J) <= t. The root is only a first guess.
 */
static int64_t block_column(int64_t t)
{
    int64_t block = (int64_t)((sqrt(8.0 * (double)t + 1.0) - 1.0) / 2.0);
    while (tiles_before(block) > t)
        block--;
    while (tiles_before(block + 1) <= t)
        block++;
    return block;
}

pair_tile tile_number(int64_t n, int64_t side, int64_t number)
{
    int64_t column = block_column(number), row = number - tiles_before(column);
    int64_t i0 = row * side, j0 = column * side;
    return (pair_tile){
        .i0 = i0, .i1 = BASE_MIN(n, i0 + side), .j0 = j0, .j1 = BASE_MIN(n, j0 + side)};
}

int64_t tile_pairs(const pair_tile *t)
{
    int64_t rows = t->i1 - t->i0;
    return t->i0 == t->j0 ? rows * (rows - 1) / 2 : rows * (t->j1 - t->j0);
}

/* Fill the mask of sampled pairs and say how many there are. */
static int64_t draw_sample(const walk *w, pair_tile *t, uint8_t *wanted)
{
    int64_t columns = t->j1 - t->j0, count = 0;
    uint64_t seed = ctx_seed(w->ctx);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            bool yes = i < j && pair_sampled(seed, w->sample, i, j);
            wanted[(i - t->i0) * columns + (j - t->j0)] = yes;
            count += yes;
        }
    t->wanted = wanted;
    return count;
}

/* Pairs across n_old, and the mask of them where the tile has others too. */
static int64_t mark_across(const walk *w, pair_tile *t, uint8_t *wanted)
{
    int64_t columns = t->j1 - t->j0, rows = BASE_MAX(0, BASE_MIN(t->i1, w->n_old) - t->i0);
    int64_t later = BASE_MAX(0, t->j1 - BASE_MAX(t->j0, w->n_old));
    if (rows * later == (t->i1 - t->i0) * columns)
        return rows * later;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            wanted[(i - t->i0) * columns + (j - t->j0)] = i < w->n_old && j >= w->n_old;
    t->wanted = wanted;
    return rows * later;
}

/* Pairs with one of the first items: rows below n_first. */
static int64_t mark_first(const walk *w, pair_tile *t, uint8_t *wanted)
{
    pair_tile top = *t;
    int64_t columns = t->j1 - t->j0;
    top.i1 = BASE_MIN(t->i1, w->n_first);
    if (top.i1 == t->i1)
        return tile_pairs(t);
    if (top.i1 <= t->i0)
        return 0;
    int64_t rows = top.i1 - t->i0;
    memset(wanted, 1, (size_t)(rows * columns));
    memset(wanted + rows * columns, 0, (size_t)((t->i1 - top.i1) * columns));
    t->wanted = wanted;
    return t->i0 == t->j0 ? rows * (rows - 1) / 2 + rows * (t->j1 - top.i1) : rows * columns;
}

/* The pairs of the tile that are asked for. */
static int64_t choose_pairs(const walk *w, pair_tile *t, uint8_t *wanted)
{
    if (w->n_first > 0)
        return mark_first(w, t, wanted);
    if (w->n_old > 0)
        return mark_across(w, t, wanted);
    return w->sample < 1 ? draw_sample(w, t, wanted) : tile_pairs(t);
}

/* Every value must be finite; negative ones are counted, -0 becomes 0. */
static ddsc_status check_row(const walk *w, const pair_tile *t, int64_t i, double *row,
                             int64_t *n_negative)
{
    const uint8_t *wanted = t->wanted ? t->wanted + (i - t->i0) * (t->j1 - t->j0) : NULL;
    for (int64_t j = BASE_MAX(t->j0, i + 1); j < t->j1; j++) {
        double *value = row + (j - t->j0);
        if (wanted && !wanted[j - t->j0])
            continue;
        if (!isfinite(*value))
            return ctx_fail(w->ctx, DDSC_ERROR_INTERNAL,
                            "metric %s gave %g for items %lld and %lld", w->backend->name, *value,
                            (long long)i, (long long)j);
        *value += 0.0;
        *n_negative += *value < 0;
    }
    return DDSC_OK;
}

static ddsc_status check_values(const walk *w, const pair_tile *t, double *d2, int64_t *n_negative)
{
    for (int64_t i = t->i0; i < t->i1; i++)
        CHECK(check_row(w, t, i, d2 + (i - t->i0) * w->side, n_negative));
    return DDSC_OK;
}

static ddsc_status do_tile(walk *w, int64_t t, worker_room *room, int worker)
{
    ddsc_status status = DDSC_OK;
    pair_tile tile = tile_number(w->n, w->side, t);
    int64_t asked = choose_pairs(w, &tile, room->wanted);
    if (asked > 0) {
        TRY(w->backend->tile(w->state, &tile, room->d2, w->side, worker, &room->stats));
        TRY(check_values(w, &tile, room->d2, &room->stats.n_clamped));
        w->sink(w->sink_arg, &tile, room->d2, w->side);
    }
    room->n_solved += asked;
    progress_add(w->ctx, w->n_old > 0 || w->n_first > 0 ? asked : tile_pairs(&tile));
done:
    return status;
}

static ddsc_status walk_tiles(void *arg, int64_t begin, int64_t end, int worker)
{
    walk *w = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t t = begin; t < end; t++)
        TRY(do_tile(w, w->first_tile + t, &w->room[worker], worker));
done:
    return status;
}

/* Strip by strip: prepare the columns, then run their tiles. */
static ddsc_status walk_strips(walk *w, int64_t strip)
{
    ddsc_status status = DDSC_OK;
    for (int64_t j0 = 0; j0 < w->n; j0 += strip) {
        int64_t j1 = BASE_MIN(w->n, j0 + strip);
        if (w->backend->prepare)
            TRY(w->backend->prepare(w->state, j0, j1));
        /* Block columns of old items alone have no pair across. */
        w->first_tile = tiles_before(BASE_MAX(j0, w->n_old) / w->side);
        int64_t end = tiles_before((j1 + w->side - 1) / w->side);
        if (end <= w->first_tile)
            continue;
        TRY(parallel_for(w->ctx, end - w->first_tile, 1, walk_tiles, w));
    }
done:
    return status;
}

static ddsc_status rooms_create(walk *w)
{
    CHECK(MEM_ZERO(w->ctx, w->room, w->n_workers));
    for (int k = 0; k < w->n_workers; k++) {
        CHECK(MEM_NEW(w->ctx, w->room[k].d2, w->side * w->side));
        if (w->sample < 1 || w->n_old > 0 || w->n_first > 0)
            CHECK(MEM_NEW(w->ctx, w->room[k].wanted, w->side * w->side));
    }
    return DDSC_OK;
}

static void rooms_free(walk *w)
{
    for (int k = 0; w->room && k < w->n_workers; k++) {
        mem_free(w->ctx, w->room[k].wanted);
        mem_free(w->ctx, w->room[k].d2);
    }
    mem_free(w->ctx, w->room);
}

/* Pairs are counted here, whatever a backend counted on its way. */
static void stats_collect(const walk *w, int64_t n_pairs, ddsc_pair_stats *stats)
{
    int64_t n_solved = 0;
    for (int k = 0; k < w->n_workers; k++) {
        pair_stats_merge(stats, &w->room[k].stats);
        n_solved += w->room[k].n_solved;
    }
    stats->n_pairs = n_pairs;
    stats->n_solved = n_solved;
}

static ddsc_status walk_run(walk *w, int64_t n_pairs, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    pair_plan plan = {.tile_side = w->backend->tile_side};
    if (w->backend->plan)
        w->backend->plan(w->state, &plan);
    w->side = BASE_MAX(1, BASE_MIN(plan.tile_side, w->n));
    w->n_workers = parallel_width(w->ctx);
    TRY(rooms_create(w));
    progress_begin(w->ctx, "distances", n_pairs);
    if (n_pairs > 0)
        TRY(walk_strips(w, plan.strip > 0 ? plan.strip : w->n));
    progress_end(w->ctx);
    stats_collect(w, n_pairs, stats);
done:
    rooms_free(w);
    return status;
}

ddsc_status tiles_run(ddsc_context *ctx, int64_t n, const pair_backend *backend, void *state,
                      double sample, tile_sink sink, void *sink_arg, ddsc_pair_stats *stats)
{
    walk w = {.ctx = ctx,
              .backend = backend,
              .state = state,
              .n = n,
              .sample = sample,
              .sink = sink,
              .sink_arg = sink_arg};
    return walk_run(&w, n < 2 ? 0 : n * (n - 1) / 2, stats);
}

ddsc_status tiles_run_across(ddsc_context *ctx, int64_t n_old, int64_t n,
                             const pair_backend *backend, void *state, tile_sink sink,
                             void *sink_arg, ddsc_pair_stats *stats)
{
    walk w = {.ctx = ctx,
              .backend = backend,
              .state = state,
              .n = n,
              .n_old = n_old,
              .sample = 1,
              .sink = sink,
              .sink_arg = sink_arg};
    return walk_run(&w, n_old * (n - n_old), stats);
}

ddsc_status tiles_run_first(ddsc_context *ctx, int64_t n_first, int64_t n,
                            const pair_backend *backend, void *state, tile_sink sink,
                            void *sink_arg, ddsc_pair_stats *stats)
{
    walk w = {.ctx = ctx,
              .backend = backend,
              .state = state,
              .n = n,
              .n_first = n_first,
              .sample = 1,
              .sink = sink,
              .sink_arg = sink_arg};
    return walk_run(&w, n_first * (n - n_first) + n_first * (n_first - 1) / 2, stats);
}
