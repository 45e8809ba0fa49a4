/* Compares graphs with a direct computation, which sorts every row of the matrix and truncates it.
 * */
#ifndef DDSC_TEST_GRAPH_SUPPORT_H
#define DDSC_TEST_GRAPH_SUPPORT_H

#include "support.h"

/* A symmetric matrix with few distinct values, some of them negative, and therefore many ties. */
double tied_value(int64_t i, int64_t j);
/* n x n of them, 0 on the diagonal; the caller frees it. */
double *tied_matrix(int64_t n);

/* Asserts that the graph equals the one from sorted rows of d2 (n x n, NaN: no edge), bit for bit.
 * */
void assert_cut(const ddsc_graph *graph, int64_t n, int64_t tau, const double *d2);

ddsc_graph_settings graph_settings(int64_t tau, double sample);

/* Asserts that the search succeeds; `stats` may be NULL. */
ddsc_graph *graph_found(ddsc_context *ctx, const measures *m, const ddsc_metric_settings *set,
                        ddsc_exact_graph how, int64_t tau, ddsc_pair_stats *stats);
/* For test_failing_allocations: one search with items of another context. Frees both. */
ddsc_status graph_once(ddsc_context *ctx, ddsc_context *other, measures *m,
                       const ddsc_metric_settings *set, const ddsc_graph_settings *search);

#endif
