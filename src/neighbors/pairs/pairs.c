/* Implements the pair service, which computes or looks up values, checks and counts them, and
 * offers them to the heaps. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "neighbors/pairs/pairs.h"

void pairs_merge_stats(ddsc_pair_stats *into, const ddsc_pair_stats *from)
{
    into->n_not_converged += from->n_not_converged;
    into->n_clamped += from->n_clamped;
    into->n_iterations += from->n_iterations;
    into->max_gap = BASE_MAX(into->max_gap, from->max_gap);
}

/* ---- open and close ---- */

static void take_tile(arena *a, pair_worker *w, int64_t size)
{
    ARENA_TAKE(a, w->d2, size);
    ARENA_TAKE(a, w->kept, size);
    ARENA_TAKE(a, w->wanted, size);
}

ddsc_status pairs_open(ddsc_context *ctx, pairs *p, int64_t n, const pair_backend *backend,
                       void *state, journal *kept)
{
    *p = (pairs){.ctx = ctx,
                 .n = n,
                 .backend = backend,
                 .state = state,
                 .journal = kept,
                 .device = &prefilter_cpu};
    p->shape.tile_side = backend->tile_side;
    if (backend->shape)
        backend->shape(state, &p->shape);
    p->shape.tile_side = BASE_MAX(1, BASE_MIN(p->shape.tile_side, n));
    p->n_workers = parallel_width(ctx);
    int64_t size = p->shape.tile_side * p->shape.tile_side;
    arena need = {0};
    take_tile(&need, &(pair_worker){0}, size);
    CHECK(MEM_ZERO(ctx, p->worker, p->n_workers));
    CHECK(scratch_create(ctx, &p->tile, need.used, 1));
    for (int w = 0; w < p->n_workers; w++)
        take_tile(&(arena){scratch_of(&p->tile, w), 0}, &p->worker[w], size);
    return DDSC_OK;
}

ddsc_status pairs_open_bounds(pairs *p, const pair_job *job)
{
    p->m = job->m;
    CHECK(p->backend->bounds->open(&p->bounds, &p->offer, job, p->state));
    return p->offer.level[BOUND_CUT] ? scratch_create(p->ctx, &p->potential, p->m->v, sizeof(float))
                                     : DDSC_OK;
}

void pairs_close(pairs *p)
{
    if (p->bounds)
        p->backend->bounds->close(p->bounds);
    scratch_free(p->ctx, &p->tile);
    scratch_free(p->ctx, &p->potential);
    for (int w = 0; p->worker && w < p->n_workers; w++)
        mem_free(p->ctx, p->worker[w].solved);
    ddsc_graph_destroy(p->known);
    mem_free(p->ctx, p->worker);
    *p = (pairs){0};
}

/* ---- values ---- */

/* Checks that every value is finite, counts negative values, and turns -0 into 0. */
static ddsc_status check_row(const pairs *p, const pair_tile *t, int64_t i, double *row, int worker)
{
    const uint8_t *wanted = t->wanted ? t->wanted + (i - t->i0) * (t->j1 - t->j0) : NULL;
    int64_t n_negative = 0;
    for (int64_t k = BASE_MAX(0, i + 1 - t->j0); k < t->j1 - t->j0; k++) {
        if (wanted && !wanted[k])
            continue;
        if (!isfinite(row[k]))
            return ctx_fail(p->ctx, DDSC_ERROR_INTERNAL,
                            "metric %s returned the invalid value %g for items %lld and %lld",
                            p->backend->name, row[k], (long long)i, (long long)(t->j0 + k));
        row[k] += 0.0;
        n_negative += row[k] < 0;
    }
    p->worker[worker].stats.n_clamped += n_negative;
    return DDSC_OK;
}

ddsc_status pairs_value(pairs *p, pair_ij pair, double *d2, int worker)
{
    ddsc_status status = DDSC_OK;
    pair_worker *w = &p->worker[worker];
    pair_tile t = {.i0 = pair.i, .i1 = pair.i + 1, .j0 = pair.j, .j1 = pair.j + 1};
    DDSC_ASSERT(pair.i >= 0 && pair.i < pair.j && pair.j < p->n);
    DDSC_ASSERT(worker >= 0 && worker < p->n_workers);
    TRY(p->journal ? pairs_kept_tile(p, &t, 1, d2, 1, worker)
                   : p->backend->tile(p->state, &t, d2, 1, worker, &w->stats));
    TRY(check_row(p, &t, pair.i, d2, worker));
    w->n_solved++;
    if (p->remembers) {
        TRY(MEM_RESERVE(p->ctx, w->solved, &w->known_capacity, w->n_known + 1));
        w->solved[w->n_known++] = (pair_value){pair, *d2};
    }
done:
    return status;
}

ddsc_status pairs_solve(pairs *p, nearest *near, pair_ij pair, int worker)
{
    ddsc_status status = DDSC_OK;
    double d2;
    TRY(pairs_value(p, pair, &d2, worker));
    nearest_offer(near, pair.i, pair.j, d2);
done:
    return status;
}

/* Gathers the values stored by the workers of all ranks in one array. */
static ddsc_status gather_solved(pairs *p, pair_value **out, int64_t *n_out)
{
    ddsc_status status = DDSC_OK;
    int size = team_size(p->ctx), rank = team_rank(p->ctx);
    int64_t *bytes = NULL, at = 0, before = 0;
    TRY(MEM_ZERO(p->ctx, bytes, size));
    for (int w = 0; w < p->n_workers; w++)
        bytes[rank] += p->worker[w].n_known * (int64_t)sizeof **out;
    TRY(team_sum_i64(p->ctx, bytes, size));
    for (int r = 0; r < size; r++) {
        before += r < rank ? bytes[r] / (int64_t)sizeof **out : 0;
        *n_out += bytes[r] / (int64_t)sizeof **out;
    }
    TRY(MEM_NEW(p->ctx, *out, *n_out));
    for (int w = 0; w < p->n_workers; w++) {
        pair_worker *from = &p->worker[w];
        for (int64_t k = 0; k < from->n_known; k++)
            (*out)[before + at++] = from->solved[k];
        mem_free(p->ctx, from->solved);
        from->solved = NULL;
        from->n_known = from->known_capacity = 0;
    }
    TRY(team_gather_parts(p->ctx, *out, bytes));
done:
    mem_free(p->ctx, bytes);
    return status;
}

/* Moves the stored values to lists by item. The order within a list depends on the workers, but no
 * caller relies on it. */
static ddsc_status take_known(pairs *p)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *g = NULL;
    pair_value *solved = NULL;
    int64_t *next = NULL, n_solved = 0;
    TRY(gather_solved(p, &solved, &n_solved));
    TRY(graph_create(p->ctx, &g, p->n, 0));
    TRY(MEM_ZERO(p->ctx, next, p->n));
    for (int64_t k = 0; k < n_solved; k++)
        g->offset[solved[k].pair.i + 1]++;
    for (int64_t i = 0; i < p->n; i++) {
        next[i] = g->offset[i];
        g->offset[i + 1] += g->offset[i];
    }
    MEM_FREE(p->ctx, g->index, g->d2);
    g->index = NULL;
    g->d2 = NULL;
    TRY(MEM_NEW(p->ctx, g->index, n_solved));
    TRY(MEM_NEW(p->ctx, g->d2, n_solved));
    for (int64_t k = 0; k < n_solved; k++) {
        int64_t at = next[solved[k].pair.i]++;
        g->index[at] = solved[k].pair.j;
        g->d2[at] = solved[k].d2;
    }
    DDSC_ASSERT(invariant_offsets(g->offset, g->n) && g->offset[g->n] == n_solved);
    p->remembers = false;
    p->known = g;
    g = NULL;
done:
    MEM_FREE(p->ctx, next, solved);
    ddsc_graph_destroy(g);
    return status;
}

ddsc_status pairs_begin(pairs *p, const local_scales *by, bool remembers)
{
    if (p->remembers)
        CHECK(take_known(p));
    p->by = by;
    p->remembers = remembers;
    return DDSC_OK;
}

int64_t pairs_strip(const pairs *p)
{
    return p->shape.strip > 0 ? p->shape.strip : BASE_MAX(1, p->n);
}

ddsc_status pairs_prepare(pairs *p, int64_t j0, int64_t j1)
{
    return p->backend->prepare ? p->backend->prepare(p->state, j0, j1) : DDSC_OK;
}

/* ---- tiles ---- */

typedef struct tile_job {
    pairs *p;
    const pair_choice *choice;
    tile_sink sink;
    void *arg;
} tile_job;

static ddsc_status solve_tile(void *arg, pair_tile *t, int worker)
{
    const tile_job *job = arg;
    ddsc_status status = DDSC_OK;
    pairs *p = job->p;
    pair_worker *w = &p->worker[worker];
    int64_t ld = p->shape.tile_side, in_question;
    int64_t n = tile_choose(job->choice, t, w->wanted, ctx_seed(p->ctx), &in_question);
    DDSC_ASSERT(n >= 0 && n <= in_question && in_question <= tile_pairs(t));
    if (n > 0) {
        TRY(p->journal ? pairs_kept_tile(p, t, n, w->d2, ld, worker)
                       : p->backend->tile(p->state, t, w->d2, ld, worker, &w->stats));
        for (int64_t i = t->i0; i < t->i1; i++)
            TRY(check_row(p, t, i, w->d2 + (i - t->i0) * ld, worker));
        job->sink(job->arg, t, w->d2, ld);
        w->n_solved += n;
    }
    progress_add(p->ctx, in_question);
done:
    return status;
}

/* ---- tiles for every rank ---- */

enum { SHARED_BYTES = 1 << 26 };

typedef struct shared_tiles {
    tile_job job;
    int64_t begin; /* number of the first tile in `values` */
    double *values;
} shared_tiles;

static void keep_tile(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    shared_tiles *s = arg;
    int64_t side = s->job.p->shape.tile_side;
    int64_t number = tile_count(t->j0, side) + t->i0 / side;
    double *to = s->values + (number - s->begin) * side * side;
    for (int64_t i = 0; i < t->i1 - t->i0; i++)
        memcpy(to + i * side, d2 + i * ld, (size_t)(t->j1 - t->j0) * sizeof *to);
}

static ddsc_status show_range(void *arg, int64_t begin, int64_t end, int worker)
{
    shared_tiles *s = arg;
    pairs *p = s->job.p;
    int64_t side = p->shape.tile_side, in_question;
    for (int64_t k = begin; k < end; k++) {
        pair_tile t = tile_number(p->n, side, s->begin + k);
        if (tile_choose(s->job.choice, &t, p->worker[worker].wanted, ctx_seed(p->ctx),
                        &in_question) > 0)
            s->job.sink(s->job.arg, &t, s->values + k * side * side, side);
    }
    return DDSC_OK;
}

/* Computes a range of tiles, divided among the ranks, and passes all tiles to the sink on every
 * rank. */
static ddsc_status show_tiles(shared_tiles *s, int64_t begin, int64_t end)
{
    ddsc_status status = DDSC_OK;
    pairs *p = s->job.p;
    int64_t side = p->shape.tile_side, bytes = side * side * (int64_t)sizeof *s->values;
    int64_t step = BASE_MAX(1, SHARED_BYTES / bytes);
    tile_job own = s->job;
    own.sink = keep_tile;
    own.arg = s;
    TRY(MEM_NEW(p->ctx, s->values, BASE_MIN(step, end - begin) * side * side));
    for (s->begin = begin; s->begin < end; s->begin += step) {
        int64_t n = BASE_MIN(step, end - s->begin);
        TRY(tiles_walk(p->ctx, p->n, side, s->begin, s->begin + n, solve_tile, &own));
        TRY(team_gather(p->ctx, s->values, n, 1, bytes));
        TRY(parallel_for(p->ctx, n, 1, show_range, s));
    }
done:
    mem_free(p->ctx, s->values);
    s->values = NULL;
    return status;
}

static ddsc_status walk_pairs(pairs *p, const pair_choice *choice, tile_sink sink, void *arg,
                              bool shown)
{
    ddsc_status status = DDSC_OK;
    shared_tiles s = {.job = {.p = p, .choice = choice, .sink = sink, .arg = arg}};
    int64_t side = p->shape.tile_side, strip = pairs_strip(p), total = pairs_chosen(choice, p->n);
    progress_begin(p->ctx, "distances", total);
    for (int64_t j0 = 0; total > 0 && j0 < p->n; j0 += strip) {
        int64_t j1 = BASE_MIN(p->n, j0 + strip), from = BASE_MAX(j0, choice->j_begin);
        TRY(pairs_prepare(p, j0, j1));
        if (from >= j1)
            continue;
        /* `begin` is the first tile in the first block column with requested pairs */
        int64_t begin = tile_count(from / side * side, side), end = tile_count(j1, side);
        TRY(shown ? show_tiles(&s, begin, end)
                  : tiles_walk(p->ctx, p->n, side, begin, end, solve_tile, &s.job));
    }
    progress_end(p->ctx);
done:
    return status;
}

ddsc_status pairs_walk(pairs *p, const pair_choice *choice, tile_sink sink, void *arg)
{
    return walk_pairs(p, choice, sink, arg, false);
}

ddsc_status pairs_walk_all(pairs *p, const pair_choice *choice, tile_sink sink, void *arg)
{
    return walk_pairs(p, choice, sink, arg, team_size(p->ctx) > 1);
}

void pairs_offer_tile(void *near, const pair_tile *t, const double *d2, int64_t ld)
{
    for (int64_t i = t->i0; i < t->i1; i++) {
        const double *row = d2 + (i - t->i0) * ld;
        const uint8_t *wanted = t->wanted ? t->wanted + (i - t->i0) * (t->j1 - t->j0) : NULL;
        for (int64_t k = BASE_MAX(0, i + 1 - t->j0); k < t->j1 - t->j0; k++)
            if (!wanted || wanted[k])
                nearest_offer(near, i, t->j0 + k, row[k]);
    }
}

/* ---- bounds ---- */

double pairs_bound(pairs *p, bound_level level, int64_t i, int64_t j, double enough, int worker)
{
    p->worker[worker].n_bounds[level]++;
    if (p->journal && level == BOUND_DUAL)
        return pairs_kept_bound(p, i, j, enough, worker);
    return p->backend->bounds->pair(p->bounds, level, i, j, enough, worker);
}

bool pairs_cut(pairs *p, int worker, int side, pair_cut *cut)
{
    if (!p->offer.level[BOUND_CUT] || p->worker[worker].replayed)
        return false;
    cut->potential = scratch_of(&p->potential, worker);
    p->backend->bounds->cut(p->bounds, worker, side, cut);
    return true;
}

double pairs_cut_bound(const pairs *p, const pair_cut *cut, int64_t other)
{
    item_view item = measures_item(p->m, other);
    double bound = cut->constant;
    for (int64_t e = 0; e < item.n; e++)
        bound += item.weight[e] * (double)cut->potential[item.index[e]];
    DDSC_ASSERT(!isnan(bound));
    return cut->unit * bound;
}

void pairs_count_bounds(pairs *p, bound_level level, int64_t n, int worker)
{
    p->worker[worker].n_bounds[level] += n;
}

void pairs_count_first(pairs *p, int64_t n)
{
    if (team_rank(p->ctx) == 0)
        pairs_count_bounds(p, BOUND_FIRST, n, 0);
}

/* ---- statistics ---- */

ddsc_status pairs_solved(const pairs *p, int64_t *n)
{
    *n = 0;
    for (int w = 0; w < p->n_workers; w++)
        *n += p->worker[w].n_solved;
    return team_sum_i64(p->ctx, n, 1);
}

/* Adds the counts of all workers and ranks to `stats`, which already contains the counts from
 * opening the metric. The counts from opening the metric are the same on every rank. */
static ddsc_status sum_stats(const pairs *p, ddsc_pair_stats *stats, int64_t *n_bounds)
{
    ddsc_pair_stats mine = {0};
    int64_t n_resumed = 0;
    for (int w = 0; w < p->n_workers; w++) {
        n_resumed += p->worker[w].n_resumed;
        CHECK(p->worker[w].late);
        pairs_merge_stats(&mine, &p->worker[w].stats);
        for (int level = 0; level < BOUND_LEVELS; level++)
            n_bounds[level] += p->worker[w].n_bounds[level];
    }
    CHECK(team_stats(p->ctx, &mine));
    CHECK(team_sum_i64(p->ctx, n_bounds, BOUND_LEVELS));
    CHECK(team_sum_i64(p->ctx, &n_resumed, 1));
    ctx_resume_count(p->ctx, n_resumed);
    pairs_merge_stats(stats, &mine);
    return DDSC_OK;
}

/* Sets the pair counts, which replace the counts from opening the backend. */
ddsc_status pairs_finish(const pairs *p, int64_t n_pairs, ddsc_pair_stats *stats)
{
    static const char *const names[] = {[BOUND_FRAME] = "bounds_frame",
                                        [BOUND_CUT] = "bounds_cut",
                                        [BOUND_DUAL] = "bounds_dual",
                                        [BOUND_TIGHT] = "bounds_tight"};
    int64_t n_bounds[BOUND_LEVELS] = {0}, all = 0;
    CHECK(sum_stats(p, stats, n_bounds));
    CHECK(pairs_solved(p, &stats->n_solved));
    for (int level = 0; level < BOUND_LEVELS; level++)
        all += n_bounds[level];
    stats->n_pairs = n_pairs;
    stats->n_bounds = all;
    stats->n_pruned = all > 0 ? BASE_MAX(0, n_pairs - stats->n_solved) : 0;
    for (int level = BOUND_FRAME; all > 0 && level < BOUND_LEVELS; level++)
        ctx_detail(p->ctx, names[level], (double)n_bounds[level]);
    return DDSC_OK;
}
