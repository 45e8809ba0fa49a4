/* Kernels of the group engine: plain arrays, no allocation. An array has its index first and the
 * problem last, so that a vector holds the same entry of all problems. Problems of fewer rows or
 * columns are padded: no weight, and an infinite cost. */
#ifndef DDSC_DISTANCE_SINKHORN_GROUP_KERNEL_H
#define DDSC_DISTANCE_SINKHORN_GROUP_KERNEL_H

#include "base/simd.h"

/* Rows or columns; see dense_side. */
typedef struct group_side {
    int64_t n; /* of the largest problem */
    double *weight, *scale, *sum, *base;
    double *pad; /* 1 in the padding, else 0 */
} group_side;

typedef struct group_arrays {
    double *cost;   /* row.n x column.n: given, then reduced */
    double *kernel; /* the same size */
    group_side row, column;
} group_arrays;

/* Problems at work (all bits set) and their relaxation. */
typedef struct group_control {
    int64_t active[SIMD_LANES];
    double omega[SIMD_LANES];
} group_control;

/* As sinkhorn_seen, of each problem. */
typedef struct group_seen {
    double row_error[SIMD_LANES], column_error[SIMD_LANES];
    double low[SIMD_LANES], high[SIMD_LANES];
} group_seen;

/* The bases, the cost less the bases and its largest entry, and the scalings a and b to begin with. */
void sinkhorn_group_reduce(group_arrays *s, double *range);
void sinkhorn_group_fill(group_arrays *s, double epsilon);
/* As sinkhorn_dense_pass; problems that are not active keep their scalings. */
void sinkhorn_group_pass(group_arrays *s, const group_control *control, group_seen *seen);
/* Exact columns, then row.sum = K v and the error of the rows. */
void sinkhorn_group_settle(group_arrays *s, double *error);
/* sum_ij P_ij C_ij of the cost given. */
void sinkhorn_group_cost(const group_arrays *s, double *sharp);
/* The dual value <a,f> + <b,g> - eps (sum P - 1). */
void sinkhorn_group_dual(const group_arrays *s, double epsilon, double *value);

#endif
