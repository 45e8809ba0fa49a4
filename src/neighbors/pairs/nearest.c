/* Finds the tau nearest neighbors of each item. Each item has a binary heap whose top is the worst
 * entry. The arrays of the heaps become the arrays of the graph, so at most n * tau entries are
 * stored. */
#include <math.h>

#include "neighbors/pairs/nearest.h"
#include "numeric/graph/graph.h"

typedef struct heap {
    double *value;
    int32_t *index;
    const local_scales *by;
} heap;

static heap heap_of(const nearest *near, int64_t slot)
{
    return (heap){near->value + slot * near->tau, near->index + slot * near->tau, near->by};
}

static double key_at(heap h, int64_t k)
{
    return local_key(h.by, h.index[k], h.value[k]);
}

/* Returns true if entry a follows entry b in the order of (key, index). */
static bool worse(heap h, int64_t a, int64_t b)
{
    double x = key_at(h, a), y = key_at(h, b);
    return x > y || (x == y && h.index[a] > h.index[b]);
}

static void swap(heap h, int64_t a, int64_t b)
{
    double value = h.value[a];
    int32_t index = h.index[a];
    h.value[a] = h.value[b];
    h.index[a] = h.index[b];
    h.value[b] = value;
    h.index[b] = index;
}

static void sift_up(heap h, int64_t at)
{
    for (; at > 0 && worse(h, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(h, at, (at - 1) / 2);
}

static void sift_down(heap h, int64_t at, int64_t count)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && worse(h, child + 1, child))
            child++;
        if (!worse(h, child, at))
            return;
        swap(h, at, child);
        at = child;
    }
}

/* Returns true if the entries are in heap order: no entry is worse than its parent. */
static bool is_heap(heap h, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        if (worse(h, k, (k - 1) / 2))
            return false;
    return true;
}

/* Returns true if the list is strictly ascending by (key, index), so that no neighbor appears twice
 * with the same value. */
static bool is_sorted(heap h, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        if (!worse(h, k, k - 1))
            return false;
    return true;
}

ddsc_status nearest_create(ddsc_context *ctx, nearest *near, int64_t first, int64_t n, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    int64_t size;
    *near = (nearest){.first = first, .n = n, .tau = tau};
    if (first + n > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%lld items are too many: the maximum is %d",
                        (long long)(first + n), INT32_MAX);
    if (!mul_ok(n, tau, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY,
                        "a graph of %lld items with tau = %lld is too large; reduce tau",
                        (long long)n, (long long)tau);
    TRY(MEM_NEW(ctx, near->value, size));
    TRY(MEM_NEW(ctx, near->index, size));
    TRY(MEM_ZERO(ctx, near->count, n));
    TRY(MEM_NEW(ctx, near->limit, n));
    TRY(MEM_ZERO(ctx, near->lock, n));
    for (int64_t i = 0; i < n; i++)
        near->limit[i] = tau > 0 ? INFINITY : -INFINITY;
done:
    if (status < 0)
        nearest_free(ctx, near);
    return status;
}

void nearest_free(ddsc_context *ctx, nearest *near)
{
    MEM_FREE(ctx, near->lock, near->limit, near->count, near->index, near->value);
    *near = (nearest){0};
}

static void heap_put(nearest *near, int64_t slot, int64_t other, double d2)
{
    heap h = heap_of(near, slot);
    int64_t tau = near->tau, count = near->count[slot];
    double key = local_key(near->by, other, d2), limit;
    DDSC_ASSERT(slot >= 0 && slot < near->n && other >= 0 && other != near->first + slot);
    DDSC_ASSERT(!isnan(d2) && count >= 0 && count <= tau);
    DDSC_ASSERT(count % 8 != 0 || is_heap(h, count)); /* check at every 8th insertion */
    if (count < tau) {
        h.value[count] = d2;
        h.index[count] = (int32_t)other;
        near->count[slot] = ++count;
        sift_up(h, count - 1);
    } else if (key < key_at(h, 0) || (key == key_at(h, 0) && other < h.index[0])) {
        h.value[0] = d2;
        h.index[0] = (int32_t)other;
        sift_down(h, 0, tau);
    }
    if (count == tau) {
        limit = key_at(h, 0);
        DDSC_ASSERT(tau < 3 || !(worse(h, 1, 0) || worse(h, 2, 0)));
        if (limit < near->limit[slot])
            __atomic_store(&near->limit[slot], &limit, __ATOMIC_RELAXED);
    }
}

void nearest_put(nearest *near, int64_t slot, int64_t other, double d2)
{
    spin_lock(&near->lock[slot]);
    heap_put(near, slot, other, d2);
    spin_unlock(&near->lock[slot]);
}

void nearest_put_once(nearest *near, int64_t slot, int64_t other, double d2)
{
    const int32_t *held = near->index + slot * near->tau;
    bool known = false;
    spin_lock(&near->lock[slot]);
    for (int64_t k = 0; k < near->count[slot]; k++)
        known |= held[k] == (int32_t)other;
    if (!known)
        heap_put(near, slot, other, d2);
    spin_unlock(&near->lock[slot]);
}

typedef struct sorting {
    const nearest *near;
    bool worst_first;
} sorting;

/* Sorts the lists with heap sort: the worst entry is repeatedly moved to the end. */
static ddsc_status sort_lists(void *arg, int64_t begin, int64_t end, int worker)
{
    const sorting *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        heap h = heap_of(s->near, i);
        int64_t last = s->near->count[i] - 1;
        DDSC_ASSERT(is_heap(h, last + 1));
        for (int64_t k = last; k > 0; k--) {
            swap(h, 0, k);
            sift_down(h, 0, k);
        }
        DDSC_ASSERT(is_sorted(h, last + 1));
        for (int64_t k = 0; s->worst_first && 2 * k < last; k++)
            swap(h, k, last - k);
    }
    return DDSC_OK;
}

ddsc_status nearest_sort(ddsc_context *ctx, nearest *near, team_part slots, bool worst_first)
{
    return team_rows(ctx, slots, 256, sort_lists, &(sorting){near, worst_first});
}

/* Removes the unused entries after lists with fewer than tau neighbors. */
static void pack_lists(const nearest *near, int64_t *offset)
{
    for (int64_t i = 0; i < near->n; i++) {
        int64_t from = i * near->tau, to = offset[i];
        for (int64_t k = 0; from != to && k < near->count[i]; k++) {
            near->value[to + k] = near->value[from + k];
            near->index[to + k] = near->index[from + k];
        }
        offset[i + 1] = to + near->count[i];
    }
}

ddsc_status nearest_finish(ddsc_context *ctx, nearest *near, ddsc_graph **graph)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *g = NULL;
    TRY(nearest_sort(ctx, near, (team_part){0, near->n}, false));
    TRY(MEM_ZERO(ctx, g, 1));
    *g = (ddsc_graph){.ctx = ctx, .n = near->n, .tau = near->tau};
    TRY(MEM_ZERO(ctx, g->offset, near->n + 1));
    pack_lists(near, g->offset);
    DDSC_ASSERT(invariant_offsets(g->offset, g->n) && g->offset[g->n] <= g->n * g->tau);
    DDSC_ASSERT(invariant_range(near->index, g->offset[g->n], 0, INT32_MAX));
    g->index = near->index;
    g->d2 = near->value;
    near->index = NULL;
    near->value = NULL;
    *graph = g;
    g = NULL;
done:
    ddsc_graph_destroy(g);
    return status;
}
