/* graph: from the tau-NN lists to the normalised affinity. */
#ifndef DDSC_GRAPH_H
#define DDSC_GRAPH_H

#include "base/base.h"

struct ddsc_graph {
    ddsc_context *ctx;
    int64_t n, tau;
    int64_t *offset; /* n + 1 */
    int32_t *index;  /* neighbours of column c, nearest first */
    double *d2;
};

/* All arrays with room for n * tau edges, offsets zero. */
ddsc_status graph_create(ddsc_context *ctx, ddsc_graph **graph, int64_t n, int64_t tau);

/* Symmetric sparse matrix in CSR, columns ascending in each row. */
typedef struct sparse {
    int64_t n, nnz;
    int64_t *offset;
    int32_t *column;
    double *value;
} sparse;

void sparse_free(ddsc_context *ctx, sparse *s);

typedef struct affinity_settings {
    ddsc_gamma_rule rule;
    double gamma;
} affinity_settings;

/* (A + A^T)/2 of A_ij = exp(-gamma D^2) or local scaling, D^2 clamped at 0; *gamma_used 0 for local
 * scaling; *n_clamped counts negative D^2. */
ddsc_status affinity_build(ddsc_context *ctx, sparse *out, double *gamma_used, int64_t *n_clamped,
                           const ddsc_graph *graph, const affinity_settings *settings);
/* Component of every item, numbered by first appearance. */
ddsc_status components_find(ddsc_context *ctx, int32_t *component, int64_t *n_components,
                            const sparse *a);
/* degree (n): row sums; m: S^-1/2 A S^-1/2 (rows of zero degree stay zero). */
ddsc_status operator_build(ddsc_context *ctx, sparse *m, double *degree, const sparse *a);
/* y = M x for a block of b vectors, rows contiguous (n x b); parallel, bits independent of threads.
 */
ddsc_status operator_apply(ddsc_context *ctx, const sparse *m, int64_t b, const double *x,
                           double *y);

#endif
