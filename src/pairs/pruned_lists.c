/* Lists of candidates: for every item those others that may still be among its nearest. */
#include "pairs/pruned.h"

enum {
    LIST_MIN = 128,
    LIST_PER_TAU = 12,
    REFILL_ENTRIES = 1 << 24, /* then lists are worked off before more are filled */
    REFILL_BLOCK = 1024,
    REFILL_ROWS = 16 /* items whose bounds are taken in one go */
};

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

static double closer_bound(const search *s, int64_t i, int64_t j, double bound, double enough)
{
    const pair_pruning *rule = s->backend->pruning;
    return rule->closer ? BASE_MAX(bound, rule->closer(s->bound_state, i, j, enough)) : bound;
}

static ddsc_status closer_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        candidates *c = &s->list[i];
        for (int64_t p = 0; p < c->n; p++)
            c->at[p].bound = closer_bound(s, i, c->at[p].index, c->at[p].bound, INFINITY);
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
        s->first[e] = (candidate){graph->d2[e], graph->index[e], NEW};
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = graph->offset[i], n = graph->offset[i + 1] - at;
        s->list[i] = (candidates){.at = s->first + at, .n = n};
        /* Nothing below the last bound is missing; nothing at all when the list is complete. */
        s->list[i].complete_to = n == s->n - 1 ? INFINITY : s->first[at + n - 1].bound;
    }
    s->width = widest.tau;
    s->seen = graph->index;
    graph->index = NULL;
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
            if (!beyond(c->at[p].bound, s->limit[i]) && c->at[p].stage != SOLVED)
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

static int64_t row_length(const search *s)
{
    return s->n + s->bound_side; /* tiles are written bound_side at a time */
}

/* Bounds of items [i0, i1) against all others. */
static ddsc_status rows_bound(search *s, int64_t i0, int64_t i1, double *rows, int worker)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    for (int64_t j0 = 0; j0 < s->n; j0 += s->bound_side) {
        pair_tile t = {.i0 = i0, .i1 = i1, .j0 = j0, .j1 = BASE_MIN(s->n, j0 + s->bound_side)};
        TRY(s->bound->tile(s->bound_state, &t, rows + j0, row_length(s), worker, &scratch));
    }
done:
    return status;
}

/* Who was on the first list has been dealt with: solved, or beyond a limit that only fell. */
static ddsc_status list_refill(search *s, int64_t i, double *row, int worker)
{
    ddsc_status status = DDSC_OK;
    candidates *c = &s->list[i];
    int64_t n = 0;
    row[i] = -1;
    for (int64_t p = 0; p < s->width; p++)
        row[s->seen[i * s->width + p]] = -1;
    for (int64_t j = 0; j < s->n; j++) {
        if (row[j] < 0 || beyond(row[j], s->limit[i]) || pair_set_has(&s->solved, i, j))
            row[j] = -1;
        else
            row[j] = closer_bound(s, i, j, row[j], s->limit[i]);
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
            c->at[c->n++] = (candidate){row[j], (int32_t)j, NEW};
    s->room[worker].n_bounds += s->n - 1;
    s->room[worker].n_refilled += 1 + n;
done:
    return status;
}

/* Items [i0, i1), at most REFILL_ROWS: from the first to the last that needs it. */
static ddsc_status window_refill(search *s, int64_t i0, int64_t i1, int worker)
{
    ddsc_status status = DDSC_OK;
    double *rows = s->room[worker].rows;
    while (i0 < i1 && !needs_refill(s, i0))
        i0++;
    while (i0 < i1 && !needs_refill(s, i1 - 1))
        i1--;
    if (i0 == i1)
        return DDSC_OK;
    TRY(rows_bound(s, i0, i1, rows, worker));
    for (int64_t i = i0; i < i1; i++)
        if (needs_refill(s, i))
            TRY(list_refill(s, i, rows + (i - i0) * row_length(s), worker));
done:
    return status;
}

typedef struct refill_job {
    search *s;
    int64_t begin;
} refill_job;

static ddsc_status refill_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const refill_job *job = arg;
    return window_refill(job->s, job->begin + begin, job->begin + end, worker);
}

static ddsc_status refill_room(search *s)
{
    ddsc_status status = DDSC_OK;
    for (int w = 0; w < s->n_workers; w++)
        if (!s->room[w].rows)
            TRY(MEM_NEW(s->ctx, s->room[w].rows, REFILL_ROWS * row_length(s)));
done:
    return status;
}

/* Some at a time, so that even useless bounds cannot fill the memory. */
ddsc_status lists_refill(search *s, int64_t *n_refilled)
{
    ddsc_status status = DDSC_OK;
    refill_job job = {s, 0};
    *n_refilled = 0;
    while (job.begin < s->n && !needs_refill(s, job.begin))
        job.begin++;
    if (job.begin == s->n)
        return DDSC_OK;
    TRY(refill_room(s));
    for (; job.begin < s->n && *n_refilled < REFILL_ENTRIES; job.begin += REFILL_BLOCK) {
        int64_t n = BASE_MIN(REFILL_BLOCK, s->n - job.begin);
        TRY(parallel_for(s->ctx, n, BASE_MIN(REFILL_ROWS, s->bound_side), refill_range, &job));
        for (int w = 0; w < s->n_workers; w++) {
            *n_refilled += s->room[w].n_refilled;
            s->room[w].n_refilled = 0;
        }
    }
done:
    return status;
}
