/* Graphs against the plain way: sort every row of the matrix and cut it. */
#ifndef DDSC_TEST_GRAPH_SUPPORT_H
#define DDSC_TEST_GRAPH_SUPPORT_H

#include "support.h"

/* Few distinct values, some negative: ties everywhere. Symmetric. */
double tied_value(int64_t i, int64_t j);
/* n x n of them, 0 on the diagonal; the caller frees it. */
double *tied_matrix(int64_t n);

/* The graph is what sorting the rows of d2 (n x n, NaN: no edge) gives, bit for bit. */
void assert_cut(const ddsc_graph *graph, int64_t n, int64_t tau, const double *d2);

ddsc_graph_settings graph_settings(int64_t tau, double sample);

/* Asserts that the search succeeds; `stats` may be NULL. */
ddsc_graph *graph_found(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                        ddsc_exact_graph how, int64_t tau, ddsc_pair_stats *stats);
/* For test_failing_allocations: one search, of items of another context; both are freed. */
ddsc_status graph_once(ddsc_context *ctx, ddsc_context *other, measures *m,
                       const ddsc_metric_settings *set, const ddsc_graph_settings *search);

#endif
