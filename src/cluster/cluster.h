/* cluster: from the eigenvectors to labels, and how good labels are. */
#ifndef DDSC_CLUSTER_H
#define DDSC_CLUSTER_H

#include "eigen/eigen.h"
#include "graph/graph.h"

/* ---- k-means ---- */

typedef struct kmeans_problem {
    int64_t n, dim;
    const double *rows; /* n x dim */
    int64_t k, restarts;
} kmeans_problem;

/* Best of the restarts; labels numbered by first appearance. Where the rows take fewer than k
 * distinct values, *n_found is that number, else k unless clusters ran empty for good. */
ddsc_status kmeans_fit(ddsc_context *ctx, int32_t *labels, double *inertia, int64_t *n_found,
                       const kmeans_problem *problem);
/* Greedy k-means++: up to k centres (k x dim) drawn from the rows; *n_centres fewer when the rows
 * have fewer distinct values. */
ddsc_status kmeans_start(ddsc_context *ctx, double *centres, int64_t *n_centres,
                         const kmeans_problem *problem, rng *r);
/* Sum of squared distances of the rows to the means of their clusters, labels in 0 .. k-1. */
ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels, int64_t k,
                           int64_t n, int64_t dim, const double *rows);
/* Numbers in order of first appearance; returns how many there are. Labels below k. */
ddsc_status labels_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k);

#endif
