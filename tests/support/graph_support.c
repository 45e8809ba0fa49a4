#include "graph_support.h"

#include <math.h>
#include <stdlib.h>

double tied_value(int64_t i, int64_t j)
{
    uint64_t h = rng_hash(7, 7, (uint64_t)BASE_MIN(i, j), (uint64_t)BASE_MAX(i, j));
    return (double)(int64_t)(h % 9) - 1.0;
}

double *tied_matrix(int64_t n)
{
    double *d2 = calloc((size_t)(n * n + 1), sizeof *d2);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            d2[i * n + j] = i == j ? 0 : tied_value(i, j);
    return d2;
}

typedef struct edge {
    double d2;
    int32_t index;
} edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->d2 != y->d2)
        return x->d2 < y->d2 ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void assert_cut(const ddsc_graph *graph, int64_t n, int64_t tau, const double *d2)
{
    ddsc_graph_view view;
    ddsc_graph_get_view(graph, &view);
    assert_int_equal(view.n, n);
    assert_int_equal(view.tau, tau);
    edge *row = malloc((size_t)(n + 1) * sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < n; j++)
            if (j != i && !isnan(d2[i * n + j]))
                row[count++] = (edge){d2[i * n + j], (int32_t)j};
        qsort(row, (size_t)count, sizeof *row, compare_edges);
        count = BASE_MIN(count, tau);
        assert_int_equal(view.offset[i + 1] - view.offset[i], count);
        for (int64_t k = 0; k < count; k++) {
            assert_int_equal(view.index[view.offset[i] + k], row[k].index);
            assert_true(view.d2[view.offset[i] + k] == row[k].d2);
        }
    }
    assert_int_equal(view.n_edges, view.offset[n]);
    free(row);
}

ddsc_graph_settings graph_settings(int64_t tau, double sample)
{
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    set.sample = sample;
    return set;
}

ddsc_graph *graph_found(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                        ddsc_exact_graph how, int64_t tau, ddsc_pair_stats *stats)
{
    ddsc_graph_settings search = graph_settings(tau, 1);
    ddsc_graph *graph = NULL;
    search.exact_graph = how;
    assert_int_equal(ddsc_neighbors_run(ctx, &graph, stats, m, set, &search), DDSC_OK);
    return graph;
}

ddsc_status graph_once(ddsc_context *ctx, ddsc_context *other, measures *m,
                       const ddsc_metric_settings *set, const ddsc_graph_settings *search)
{
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_neighbors_run(ctx, &graph, NULL, m, set, search);
    assert_true((graph != NULL) == (status >= 0));
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(other);
    return status;
}
