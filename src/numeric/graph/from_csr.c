/* Creates a graph from the caller's neighbor lists. Every entry is checked, and each list is
 * sorted by (squared distance, index), as in all graphs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/graph/graph.h"

/* Largest squared distance: the square of 1e150, the largest distance that a distance matrix may
 * contain. */
static const double LARGEST_D2 = 1e300;

typedef struct edge {
    double d2;
    int32_t index;
} edge;

typedef struct csr_job {
    ddsc_context *ctx;
    const int64_t *offset;
    const int32_t *index;
    const double *d2;
    ddsc_graph *graph;
    edge *list; /* n_workers x tau */
} csr_job;

static int by_index(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_distance(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    int order = (x->d2 > y->d2) - (x->d2 < y->d2);
    return order ? order : by_index(a, b);
}

static ddsc_status check_entry(const csr_job *j, int64_t item, int64_t at)
{
    int32_t neighbor = j->index[at];
    if (neighbor < 0 || neighbor >= j->graph->n)
        return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                        "neighbor %lld of item %lld is item %lld; item numbers must be 0 to %lld",
                        (long long)(at - j->offset[item]), (long long)item, (long long)neighbor,
                        (long long)j->graph->n - 1);
    if (neighbor == item)
        return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                        "item %lld is in its own list of neighbors; remove it", (long long)item);
    if (!(fabs(j->d2[at]) <= LARGEST_D2))
        return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                        "the squared distance of items %lld and %lld is %g; it must be finite and "
                        "at most 1e300",
                        (long long)item, (long long)neighbor, j->d2[at]);
    return DDSC_OK;
}

static ddsc_status take_list(const csr_job *j, int64_t item, edge *list)
{
    int64_t from = j->offset[item], n = j->offset[item + 1] - from;
    for (int64_t k = 0; k < n; k++) {
        CHECK(check_entry(j, item, from + k));
        list[k] =
            (edge){j->d2[from + k] + 0.0, j->index[from + k]}; /* adding 0.0 turns -0.0 into 0.0 */
    }
    qsort(list, (size_t)n, sizeof *list, by_index);
    for (int64_t k = 1; k < n; k++)
        if (list[k].index == list[k - 1].index)
            return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                            "the list of item %lld contains its neighbor %lld twice; each neighbor "
                            "may occur only once",
                            (long long)item, (long long)list[k].index);
    qsort(list, (size_t)n, sizeof *list, by_distance);
    for (int64_t k = 0; k < n; k++) {
        j->graph->index[from + k] = list[k].index;
        j->graph->d2[from + k] = list[k].d2;
    }
    return DDSC_OK;
}

static ddsc_status take_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const csr_job *j = arg;
    for (int64_t i = begin; i < end; i++)
        CHECK(take_list(j, i, j->list + worker * j->graph->tau));
    return DDSC_OK;
}

/* Checks that the offsets start at 0 and never decrease. *tau receives the length of the longest
 * list. */
static ddsc_status csr_check_offsets(ddsc_context *ctx, int64_t *tau, int64_t n,
                                     const int64_t *offset)
{
    *tau = 0;
    if (offset[0] != 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "offsets[0] is %lld: it must be 0",
                        (long long)offset[0]);
    for (int64_t i = 0; i < n; i++) {
        if (offset[i + 1] < offset[i] || offset[i + 1] - offset[i] >= n)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "offsets[%lld] is %lld after %lld; a list must have 0 to %lld entries",
                            (long long)i + 1, (long long)offset[i + 1], (long long)offset[i],
                            (long long)n - 1);
        *tau = BASE_MAX(*tau, offset[i + 1] - offset[i]);
    }
    return DDSC_OK;
}

ddsc_status ddsc_graph_create_from_csr(ddsc_context *context, ddsc_graph **graph, int64_t n,
                                       const int64_t *offsets, const int32_t *indices,
                                       const double *d2)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *g = NULL;
    csr_job j = {.ctx = context, .offset = offsets, .index = indices, .d2 = d2};
    int64_t tau = 0, capacity = 0;
    CHECK(ctx_enter_new(context, graph));
    CHECK(ctx_check(context, n >= 0 && n <= INT32_MAX, "n", (double)n, "0 .. 2147483647"));
    if (!offsets || (n > 0 && offsets[n] > 0 && (!indices || !d2)))
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "ddsc_graph_create_from_csr: %s is NULL",
                        !offsets ? "offsets" : (indices ? "d2" : "indices"));
    TRY(csr_check_offsets(context, &tau, n, offsets));
    if (!mul_ok(tau, parallel_width(context), &capacity))
        TRY(ctx_fail(context, DDSC_ERROR_MEMORY, "neighbor lists of %lld entries are too long",
                     (long long)tau));
    TRY(MEM_ZERO(context, g, 1));
    *g = (ddsc_graph){.ctx = context, .n = n, .tau = tau};
    TRY(MEM_COPY(context, g->offset, offsets, n + 1));
    TRY(MEM_NEW(context, g->index, offsets[n]));
    TRY(MEM_NEW(context, g->d2, offsets[n]));
    TRY(MEM_NEW(context, j.list, capacity));
    j.graph = g;
    TRY(parallel_for(context, n, 64, take_range, &j));
    DDSC_ASSERT(graph_lists_hold(g));
    *graph = g;
    g = NULL;
done:
    mem_free(context, j.list);
    ddsc_graph_destroy(g);
    return status;
}
