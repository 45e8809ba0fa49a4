/* Lists of candidates: for every item those others that may still be among its nearest. */
#include "pairs/pruned.h"

enum { LIST_MIN = 128, LIST_PER_TAU = 12, REFILL_ENTRIES = 1 << 26 };

static bool before(candidate x, candidate y)
{
    return x.bound < y.bound || (x.bound == y.bound && x.index < y.index);
}

/* Shell sort: nearly sorted lists cost one pass. */
static void list_sort(candidates *c)
{
    static const int64_t gaps[] = {29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};
    for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
        for (int64_t gap = gaps[k], p = gap; p < c->n; p++) {
            candidate moving = c->at[p];
            int64_t q = p;
            for (; q >= gap && before(moving, c->at[q - gap]); q -= gap)
                c->at[q] = c->at[q - gap];
            c->at[q] = moving;
        }
}

static double closer_bound(const search *s, int64_t i, int64_t j, double bound)
{
    const pair_pruning *rule = s->backend->pruning;
    return rule->closer ? BASE_MAX(bound, rule->closer(s->bound_state, i, j)) : bound;
}

static ddsc_status closer_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        candidates *c = &s->list[i];
        for (int64_t p = 0; p < c->n; p++)
            c->at[p].bound = closer_bound(s, i, c->at[p].index, c->at[p].bound);
        list_sort(c);
        s->room[worker].n_bounds += c->n;
    }
    return DDSC_OK;
}

ddsc_status lists_make(search *s)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    ddsc_graph *graph = NULL;
    ddsc_graph_settings widest;
    ddsc_graph_settings_init(&widest);
    widest.tau = BASE_MIN(s->n - 1, BASE_MAX(LIST_MIN, LIST_PER_TAU * s->tau));
    TRY(neighbors_search(s->ctx, &graph, &scratch, s->n, s->bound, s->bound_state, &widest));
    s->n_bounds = scratch.n_pairs;
    TRY(MEM_ZERO(s->ctx, s->list, s->n));
    TRY(MEM_NEW(s->ctx, s->first, graph->offset[s->n]));
    for (int64_t e = 0; e < graph->offset[s->n]; e++)
        s->first[e] = (candidate){graph->d2[e], graph->index[e], REFINED_NOT};
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = graph->offset[i], n = graph->offset[i + 1] - at;
        s->list[i] = (candidates){.at = s->first + at, .n = n};
        /* Nothing below the last bound is missing; nothing at all when the list is complete. */
        s->list[i].complete_to = n == s->n - 1 ? INFINITY : s->first[at + n - 1].bound;
    }
    if (s->backend->pruning->closer)
        TRY(parallel_for(s->ctx, s->n, 16, closer_range, s));
done:
    ddsc_graph_destroy(graph);
    return status;
}

static ddsc_status clean_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        candidates *c = &s->list[i];
        int64_t kept = 0;
        s->limit[i] = s->near.limit[i];
        for (int64_t p = 0; p < c->n; p++)
            if (!beyond(c->at[p].bound, s->limit[i]) &&
                !pair_set_has(&s->solved, i, c->at[p].index))
                c->at[kept++] = c->at[p];
        c->n = kept;
        list_sort(c);
    }
    return DDSC_OK;
}

ddsc_status lists_clean(search *s)
{
    return parallel_for(s->ctx, s->n, 64, clean_range, s);
}

candidate *list_find(const search *s, int64_t item, int64_t other)
{
    const candidates *c = &s->list[item];
    for (int64_t p = 0; p < c->n; p++)
        if (c->at[p].index == other)
            return &c->at[p];
    return NULL;
}

void list_drop(ddsc_context *ctx, candidates *c)
{
    mem_free(ctx, c->own);
    *c = (candidates){0};
}

/* ---- lists that ran out before their limit: look at the whole row again ---- */

static bool needs_refill(const search *s, int64_t i)
{
    double to = s->list[i].complete_to; /* infinite: the list had every item */
    return s->list[i].n == 0 && isfinite(to) && !beyond(to, s->limit[i]);
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
        bool out = j == i || beyond(row[j], s->limit[i]) || pair_set_has(&s->solved, i, j);
        row[j] = out ? -1 : closer_bound(s, i, j, row[j]);
        if (beyond(row[j], s->limit[i]))
            row[j] = -1;
        n += row[j] >= 0;
    }
    list_drop(s->ctx, c);
    c->complete_to = INFINITY;
    TRY(MEM_NEW(s->ctx, c->own, n));
    c->at = c->own;
    for (int64_t j = 0; j < s->n; j++)
        if (row[j] >= 0)
            c->at[c->n++] = (candidate){row[j], (int32_t)j, REFINED_NOT};
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
ddsc_status lists_refill(search *s, int64_t *n_refilled)
{
    int64_t most = BASE_MAX(1, REFILL_ENTRIES / s->n), n = 0;
    for (int64_t i = 0; i < s->n && n < most; i++)
        if (needs_refill(s, i))
            s->refill[n++] = i;
    *n_refilled = n;
    return parallel_for(s->ctx, n, 1, refill_range, s);
}
