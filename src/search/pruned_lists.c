/* Lists of candidates: for every item those others that may still be among its nearest. A pair may
 * be on the lists of both its ends; the one that owns it is counted when it goes. */
#include <stdlib.h>

#include "search/pruned.h"

enum { LIST_MIN = 128, LIST_PER_TAU = 12 };

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

double closer_bound(const search *s, int64_t i, int64_t j, double bound, double enough)
{
    const pair_pruning *rule = s->backend->pruning;
    return rule->closer ? BASE_MAX(bound, rule->closer(s->bound_state, i, j, enough)) : bound;
}

ddsc_status entry_push(ddsc_context *ctx, entry_list *list, pair_entry entry)
{
    if (list->n == list->room) {
        int64_t room = BASE_MAX(1024, 2 * list->room);
        CHECK(mem_resize(ctx, &list->at, room, sizeof *list->at));
        list->room = room;
    }
    list->at[list->n++] = entry;
    return DDSC_OK;
}

/* ---- the first lists ---- */

static int compare_indices(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int64_t seen_find(const search *s, int64_t item, int64_t other)
{
    const int32_t *row = s->seen + item * s->width;
    int64_t low = 0, high = s->width;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (row[middle] < other)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->width && row[low] == other ? item * s->width + low : -1;
}

static ddsc_status closer_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        candidates *c = &s->list[i];
        qsort(s->seen + i * s->width, (size_t)s->width, sizeof *s->seen, compare_indices);
        for (int64_t p = 0; p < c->n; p++)
            c->at[p].bound = closer_bound(s, i, c->at[p].index, c->at[p].bound, INFINITY);
        list_sort(c);
        if (s->backend->pruning->closer)
            s->room[worker].bounds.closer += c->n;
    }
    return DDSC_OK;
}

static ddsc_status owner_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t p = 0; p < s->list[i].n; p++) {
            candidate *c = &s->list[i].at[p];
            c->owner = i < c->index || seen_find(s, c->index, i) < 0;
        }
    return DDSC_OK;
}

static void lists_set(search *s, const ddsc_graph *graph)
{
    for (int64_t e = 0; e < graph->offset[s->n]; e++)
        s->first[e] = (candidate){.bound = graph->d2[e], .index = graph->index[e]};
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = graph->offset[i], n = graph->offset[i + 1] - at;
        s->list[i] = (candidates){.at = s->first + at, .n = n};
        /* Nothing below the last bound is missing; nothing at all when the list is complete. */
        s->list[i].complete_to = n == s->n - 1 ? INFINITY : s->first[at + n - 1].bound;
    }
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
    s->room[0].bounds.first = scratch.n_pairs;
    s->width = widest.tau;
    TRY(MEM_ZERO(s->ctx, s->list, s->n));
    TRY(MEM_NEW(s->ctx, s->first, graph->offset[s->n]));
    TRY(MEM_ZERO(s->ctx, s->seen_stage, graph->offset[s->n]));
    lists_set(s, graph);
    s->seen = graph->index;
    graph->index = NULL;
    TRY(parallel_for(s->ctx, s->n, 16, closer_range, s));
    TRY(parallel_for(s->ctx, s->n, 64, owner_range, s));
    for (int64_t e = 0; e < s->n * s->width; e++)
        s->n_listed += s->first[e].owner;
done:
    ddsc_graph_destroy(graph);
    return status;
}

/* ---- taking entries on and off ---- */

static ddsc_status clean_list(search *s, int64_t i, worker_room *room)
{
    candidates *c = &s->list[i];
    int64_t kept = 0;
    s->limit[i] = s->near.limit[i];
    for (int64_t p = 0; p < c->n; p++) {
        candidate x = c->at[p];
        if (x.stage == SETTLED)
            continue;
        if (!beyond(x.bound, s->limit[i]))
            c->at[kept++] = x;
        else if (x.owner)
            CHECK(entry_push(s->ctx, &room->dropped,
                             (pair_entry){.i = (int32_t)i, .j = x.index, .stage = x.stage}));
    }
    c->n = kept;
    list_sort(c);
    return DDSC_OK;
}

static ddsc_status clean_range(void *arg, int64_t begin, int64_t end, int worker)
{
    search *s = arg;
    for (int64_t i = begin; i < end; i++)
        CHECK(clean_list(s, i, &s->room[worker]));
    return DDSC_OK;
}

/* A pair that left the list of its owner goes over to the other end, or is done with. */
static void settle_dropped(search *s, worker_room *room)
{
    for (int64_t k = 0; k < room->dropped.n; k++) {
        const pair_entry *gone = &room->dropped.at[k];
        candidate *other = list_find(s, gone->j, gone->i);
        if (other) {
            other->owner = true;
            continue;
        }
        int64_t slot = seen_find(s, gone->i, gone->j);
        if (slot >= 0)
            s->seen_stage[slot] = gone->stage;
        room->n_pruned[gone->stage]++;
    }
    room->dropped.n = 0;
}

ddsc_status lists_clean(search *s)
{
    CHECK(parallel_for(s->ctx, s->n, 64, clean_range, s));
    for (int w = 0; w < s->n_workers; w++)
        settle_dropped(s, &s->room[w]);
    return DDSC_OK;
}

candidate *list_find(const search *s, int64_t item, int64_t other)
{
    const candidates *c = &s->list[item];
    for (int64_t p = 0; p < c->n; p++)
        if (c->at[p].index == other)
            return &c->at[p];
    return NULL;
}

static void list_put(search *s, int64_t item, int64_t other, const pair_entry *e, bool owner)
{
    candidates *c = &s->list[item];
    c->at[c->n++] = (candidate){e->bound, (int32_t)other, e->stage, owner};
}

/* Counted, laid out one after the other, filled; the rounds sort them. */
ddsc_status lists_take(search *s)
{
    int64_t total = 0;
    for (int64_t i = 0; i < s->n; i++)
        s->list[i].n = 0;
    for (int w = 0; w < s->n_workers; w++)
        for (int64_t k = 0; k < s->room[w].found.n; k++) {
            const pair_entry *e = &s->room[w].found.at[k];
            s->list[e->i].n += e->at_i;
            s->list[e->j].n += e->at_j;
            total += e->at_i + e->at_j;
        }
    mem_free(s->ctx, s->first);
    s->first = NULL;
    CHECK(MEM_NEW(s->ctx, s->first, total));
    for (int64_t i = 0, at = 0; i < s->n; i++) {
        s->list[i].at = s->first + at;
        at += s->list[i].n;
        s->list[i].n = 0;
    }
    for (int w = 0; w < s->n_workers; w++) {
        entry_list *found = &s->room[w].found;
        for (int64_t k = 0; k < found->n; k++) {
            const pair_entry *e = &found->at[k];
            if (e->at_i)
                list_put(s, e->i, e->j, e, true);
            if (e->at_j)
                list_put(s, e->j, e->i, e, !e->at_i);
        }
        found->n = 0;
    }
    return DDSC_OK;
}
