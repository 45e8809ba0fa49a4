/* The tau-NN graph without most of the solves, edge for edge the one of the full matrix.
 *
 * Every item has a list of candidates in the order of a lower bound. In rounds, each item proposes its
 * next few; the pairs of a round are solved in parallel, each for both its ends, and each solve may
 * raise the bounds of what is left on both lists by a linear minorant (a cut). A candidate whose bound
 * lies beyond the tau-th distance found so far can never enter: distances found only fall, bounds only
 * rise. What a round does depends on the state at its start alone, so not only the graph but also the
 * count of solves is the same for any number of threads. */
#include "pairs/pruned.h"

#include <math.h>

enum { LIST_MIN = 128, LIST_PER_TAU = 12, BATCH = 2, REFILL_ENTRIES = 1 << 26 };

/* Strictly beyond, with room for the rounding of values: equal distances are decided by index, never by
 * a bound. */
static bool beyond(double bound, double limit)
{
    return bound > limit + 1e-9 * fabs(limit);
}

/* ---- candidates ---- */

static ddsc_status lists_make(search *s)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    ddsc_graph_settings widest;
    ddsc_graph_settings_init(&widest);
    widest.tau = BASE_MIN(s->n - 1, BASE_MAX(LIST_MIN, LIST_PER_TAU * s->tau));
    TRY(neighbors_search(s->ctx, &s->first, &scratch, s->n, s->bound, s->bound_state, &widest));
    s->n_bounds = scratch.n_pairs;
    TRY(MEM_ZERO(s->ctx, s->list, s->n));
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = s->first->offset[i], n = s->first->offset[i + 1] - at;
        s->list[i] = (candidates){.index = s->first->index + at, .bound = s->first->d2 + at, .n = n};
        /* Nothing below the last bound is missing; nothing at all when the list is complete. */
        s->list[i].complete_to = n == s->n - 1 ? INFINITY : s->list[i].bound[n - 1];
    }
done:
    return status;
}

/* Shell sort in the total order (bound, index): nearly sorted lists cost one pass. */
static void list_sort(candidates *c)
{
    static const int64_t gaps[] = {29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};
    for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
        for (int64_t gap = gaps[k], p = gap; p < c->n; p++) {
            double bound = c->bound[p];
            int32_t index = c->index[p];
            int64_t q = p;
            for (; q >= gap && (c->bound[q - gap] > bound ||
                                (c->bound[q - gap] == bound && c->index[q - gap] > index));
                 q -= gap) {
                c->bound[q] = c->bound[q - gap];
                c->index[q] = c->index[q - gap];
            }
            c->bound[q] = bound;
            c->index[q] = index;
        }
}

/* Leave out what is solved or out of reach; nearest bound first. */
static ddsc_status lists_clean(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        candidates *c = &s->list[i];
        int64_t kept = 0;
        s->limit[i] = s->near.limit[i];
        for (int64_t p = 0; p < c->n; p++)
            if (!beyond(c->bound[p], s->limit[i]) && !pair_set_has(&s->solved, i, c->index[p])) {
                c->bound[kept] = c->bound[p];
                c->index[kept++] = c->index[p];
            }
        c->n = kept;
        list_sort(c);
    }
    return DDSC_OK;
}

/* ---- lists that ran out before their limit: look at the whole row again ---- */

static bool needs_refill(const search *s, int64_t i)
{
    return s->list[i].n == 0 && !beyond(s->list[i].complete_to, s->limit[i]);
}

/* Bounds of row i against all others, by tiles of one row. */
static ddsc_status row_bounds(search *s, int64_t i, double *row, int worker)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    for (int64_t j0 = 0; j0 < s->n; j0 += s->bound_side) {
        pair_tile t = {.i0 = i, .i1 = i + 1, .j0 = j0, .j1 = BASE_MIN(s->n, j0 + s->bound_side)};
        TRY(s->bound->tile(s->bound_state, &t, row + j0, s->bound_side, worker, &scratch));
    }
done:
    return status;
}

static ddsc_status list_refill(search *s, int64_t i, int worker)
{
    ddsc_status status = DDSC_OK;
    candidates *c = &s->list[i];
    double *row = s->room[worker].row;
    int64_t n = 0;
    TRY(row_bounds(s, i, row, worker));
    for (int64_t j = 0; j < s->n; j++) {
        if (j == i || beyond(row[j], s->limit[i]) || pair_set_has(&s->solved, i, j))
            row[j] = -1;
        n += row[j] >= 0;
    }
    list_drop(s->ctx, c);
    c->complete_to = INFINITY;
    TRY(MEM_NEW(s->ctx, c->own_index, n));
    TRY(MEM_NEW(s->ctx, c->own_bound, n));
    c->index = c->own_index;
    c->bound = c->own_bound;
    for (int64_t j = 0; j < s->n; j++)
        if (row[j] >= 0) {
            c->index[c->n] = (int32_t)j;
            c->bound[c->n++] = row[j];
        }
    s->room[worker].n_bounds += s->n - 1;
done:
    return status;
}

static ddsc_status refill_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t k = begin; k < end; k++)
        TRY(list_refill(s, s->refill[k], worker));
done:
    return status;
}

/* Some at a time, so that even useless bounds cannot fill the memory. */
static ddsc_status lists_refill(search *s, int64_t *n_refilled)
{
    int64_t most = BASE_MAX(1, REFILL_ENTRIES / s->n), n = 0;
    for (int64_t i = 0; i < s->n && n < most; i++)
        if (needs_refill(s, i))
            s->refill[n++] = i;
    *n_refilled = n;
    return parallel_for(s->ctx, n, 1, refill_range, s);
}

/* ---- rounds ---- */

static ddsc_status push_pair(search *s, int64_t i, int64_t j)
{
    ddsc_status status = DDSC_OK;
    if (s->n_pairs == s->pair_room) {
        int64_t room = BASE_MAX(1024, 2 * s->pair_room);
        TRY(mem_resize(s->ctx, &s->pair, room, sizeof *s->pair));
        s->pair_room = room;
    }
    s->pair[s->n_pairs++] = (pair_ij){(int32_t)BASE_MIN(i, j), (int32_t)BASE_MAX(i, j)};
done:
    return status;
}

/* The first few of each list; a pair proposed by both ends, or earlier, is solved once. */
static ddsc_status propose(search *s, int64_t batch)
{
    ddsc_status status = DDSC_OK;
    s->n_pairs = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t p = 0; p < BASE_MIN(batch, s->list[i].n); p++) {
            bool fresh = false;
            TRY(pair_set_add(s->ctx, &s->solved, i, s->list[i].index[p], &fresh));
            if (fresh)
                TRY(push_pair(s, i, s->list[i].index[p]));
        }
done:
    return status;
}

/* Raise the bounds on the list of `item` by a minorant; maxima commute, so order does not matter. */
static void apply_cut(search *s, int64_t item, double constant, const float *potential,
                      worker_room *room)
{
    candidates *c = &s->list[item];
    spin_lock(&s->near.lock[item]);
    for (int64_t p = 0; p < c->n; p++) {
        item_view other = measures_item(s->m, c->index[p]);
        double bound = constant;
        for (int64_t e = 0; e < other.n; e++)
            bound += other.weight[e] * (double)potential[other.index[e]];
        if (bound > c->bound[p])
            c->bound[p] = bound;
    }
    room->n_bounds += c->n;
    spin_unlock(&s->near.lock[item]);
}

static ddsc_status solve_pair(search *s, pair_ij pair, int worker)
{
    ddsc_status status = DDSC_OK;
    worker_room *room = &s->room[worker];
    pair_tile t = {.i0 = pair.i, .i1 = pair.i + 1, .j0 = pair.j, .j1 = pair.j + 1};
    double d2 = NAN, constant;
    TRY(s->backend->tile(s->state, &t, &d2, 1, worker, &room->stats));
    if (!isfinite(d2))
        TRY(ctx_fail(s->ctx, DDSC_ERROR_INTERNAL, "metric %s gave %g for items %d and %d",
                     s->backend->name, d2, pair.i, pair.j));
    nearest_offer(&s->near, pair.i, pair.j, d2 + 0.0);
    nearest_offer(&s->near, pair.j, pair.i, d2 + 0.0);
    const pair_pruning *rule = s->backend->pruning;
    for (int side = 0; rule->cut && side < 2; side++)
        if (rule->cut(s->state, worker, side, &constant, room->potential))
            apply_cut(s, side == 0 ? pair.i : pair.j, constant, room->potential, room);
done:
    return status;
}

static ddsc_status solve_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t k = begin; k < end; k++)
        TRY(solve_pair(s, s->pair[k], worker));
done:
    return status;
}

static void report_finished(search *s, int64_t *reported)
{
    int64_t finished = 0;
    for (int64_t i = 0; i < s->n; i++)
        finished += s->list[i].n == 0;
    if (finished > *reported) {
        progress_add(s->ctx, finished - *reported);
        *reported = finished;
    }
}

static ddsc_status rounds(search *s)
{
    ddsc_status status = DDSC_OK;
    int64_t reported = 0, n_refilled = 0;
    for (int64_t round = 0;; round++) {
        TRY(parallel_for(s->ctx, s->n, 64, lists_clean, s));
        report_finished(s, &reported);
        TRY(propose(s, round == 0 ? (s->tau + 1) / 2 : BATCH));
        if (s->n_pairs == 0) {
            TRY(lists_refill(s, &n_refilled));
            if (n_refilled == 0)
                break;
            continue;
        }
        TRY(parallel_for(s->ctx, s->n_pairs, 1, solve_range, s));
    }
done:
    return status;
}

static void stats_collect(const search *s, ddsc_pair_stats *stats)
{
    for (int w = 0; w < s->n_workers; w++) {
        pair_stats_merge(stats, &s->room[w].stats);
        stats->n_bounds += s->room[w].n_bounds;
    }
    stats->n_bounds += s->n_bounds;
    stats->n_pairs = s->n * (s->n - 1) / 2;
    stats->n_solved = s->solved.count;
    stats->n_pruned = stats->n_pairs - stats->n_solved;
}

ddsc_status pruned_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const pair_job *job, const pair_backend *backend, void *state,
                          const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    search s = {.ctx = ctx, .m = job->m, .n = job->m->n, .backend = backend, .state = state};
    s.tau = tau_used(s.n, settings);
    TRY(search_open(&s, job));
    TRY(lists_make(&s));
    progress_begin(ctx, "neighbours", s.n);
    TRY(rounds(&s));
    progress_end(ctx);
    stats_collect(&s, stats);
    TRY(nearest_finish(ctx, &s.near, out));
done:
    search_close(&s);
    return status;
}
