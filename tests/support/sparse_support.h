/* Graphs with known spectra, and a check of the properties of eigenpairs. */
#ifndef DDSC_TEST_SPARSE_SUPPORT_H
#define DDSC_TEST_SPARSE_SUPPORT_H

#include "numeric/eigen/eigen.h"
#include "support.h"

/* Collects undirected weighted edges. */
typedef struct edge_list {
    int64_t n, count, capacity;
    int32_t *from, *to;
    double *weight;
} edge_list;

edge_list *edges_new(int64_t n);
void edges_add(edge_list *e, int64_t i, int64_t j, double weight);
void edges_free(edge_list *e);

/* Creates operator, degrees and components from a list of edges. */
typedef struct test_graph {
    ddsc_context *ctx;
    sparse a, m;
    double *degree;
    int32_t *component;
    int64_t n_components;
} test_graph;

void test_graph_make(ddsc_context *ctx, test_graph *g, const edge_list *e);
void test_graph_free(test_graph *g);

/* Runs the solver and asserts: orthonormal columns, true residuals below the tolerance, descending
 * values, signs fixed, verified. dense_below 0 forces the block method. */
void test_eigen_run(test_graph *g, eigen_result *out, int64_t k, int64_t dense_below);

/* Creates a random connected graph: a ring and `more` chords per item, weights in (0.1, 1.1). */
edge_list *edges_random(int64_t n, int64_t more, uint64_t seed);

#endif
