/* The tau nearest of each item: one binary heap an item, worst on top, stored in the graph's arrays
 * so that nothing beyond n * tau is held. */
#include <math.h>

#include "engine/nearest.h"
#include "graph/graph.h"

typedef struct heap {
    double *value;
    int32_t *index;
} heap;

static heap heap_of(const nearest *near, int64_t item)
{
    int64_t at = item * near->graph->tau;
    return (heap){near->graph->d2 + at, near->graph->index + at};
}

/* (value, index) of slot a above that of slot b? */
static bool worse(heap h, int64_t a, int64_t b)
{
    return h.value[a] > h.value[b] || (h.value[a] == h.value[b] && h.index[a] > h.index[b]);
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

ddsc_status nearest_create(ddsc_context *ctx, nearest *near, int64_t n, int64_t tau)
{
    ddsc_status status = DDSC_OK;
    *near = (nearest){0};
    if (n > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%lld items: at most %d can be handled",
                        (long long)n, INT32_MAX);
    TRY(graph_create(ctx, &near->graph, n, tau));
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

static void heap_take(nearest *near, int64_t item, int64_t other, double d2)
{
    heap h = heap_of(near, item);
    int64_t tau = near->graph->tau, count = near->count[item];
    if (count < tau) {
        h.value[count] = d2;
        h.index[count] = (int32_t)other;
        near->count[item] = ++count;
        sift_up(h, count - 1);
    } else if (d2 < h.value[0] || (d2 == h.value[0] && other < h.index[0])) {
        h.value[0] = d2;
        h.index[0] = (int32_t)other;
        sift_down(h, 0, tau);
    }
    if (count == tau)
        __atomic_store(&near->limit[item], &h.value[0], __ATOMIC_RELAXED);
}

void nearest_take(nearest *near, int64_t item, int64_t other, double d2)
{
    spin_lock(&near->lock[item]);
    heap_take(near, item, other, d2);
    spin_unlock(&near->lock[item]);
}

void nearest_take_once(nearest *near, int64_t item, int64_t other, double d2)
{
    const int32_t *held = near->graph->index + item * near->graph->tau;
    bool known = false;
    spin_lock(&near->lock[item]);
    for (int64_t k = 0; k < near->count[item]; k++)
        known |= held[k] == (int32_t)other;
    if (!known)
        heap_take(near, item, other, d2);
    spin_unlock(&near->lock[item]);
}

/* Heap sort: the worst goes to the end, again and again. */
static ddsc_status sort_lists(void *arg, int64_t begin, int64_t end, int worker)
{
    nearest *near = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        heap h = heap_of(near, i);
        for (int64_t last = near->count[i] - 1; last > 0; last--) {
            swap(h, 0, last);
            sift_down(h, 0, last);
        }
    }
    return DDSC_OK;
}

static ddsc_status reverse_lists(void *arg, int64_t begin, int64_t end, int worker)
{
    nearest *near = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        heap h = heap_of(near, i);
        for (int64_t low = 0, high = near->count[i] - 1; low < high; low++, high--)
            swap(h, low, high);
    }
    return DDSC_OK;
}

ddsc_status nearest_sort(ddsc_context *ctx, nearest *near)
{
    ddsc_status status = parallel_for(ctx, near->graph->n, 256, sort_lists, near);
    if (status >= 0)
        status = parallel_for(ctx, near->graph->n, 256, reverse_lists, near);
    return status;
}

/* Close the gaps that short lists leave. */
static void pack_lists(nearest *near)
{
    ddsc_graph *g = near->graph;
    for (int64_t i = 0; i < g->n; i++) {
        int64_t from = i * g->tau, to = g->offset[i];
        for (int64_t k = 0; from != to && k < near->count[i]; k++) {
            g->d2[to + k] = g->d2[from + k];
            g->index[to + k] = g->index[from + k];
        }
        g->offset[i + 1] = to + near->count[i];
    }
}

ddsc_status nearest_finish(ddsc_context *ctx, nearest *near, ddsc_graph **graph)
{
    ddsc_status status = parallel_for(ctx, near->graph->n, 256, sort_lists, near);
    if (status < 0)
        return status;
    pack_lists(near);
    *graph = near->graph;
    near->graph = NULL;
    return DDSC_OK;
}

void nearest_free(ddsc_context *ctx, nearest *near)
{
    mem_free(ctx, near->lock);
    mem_free(ctx, near->limit);
    mem_free(ctx, near->count);
    ddsc_graph_destroy(near->graph);
    *near = (nearest){0};
}
