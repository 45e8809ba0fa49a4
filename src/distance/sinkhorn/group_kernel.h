/* group_kernel: inner loops of the group engine. They use plain arrays and do not allocate memory.
 * The problem number is the last index of every array, so that a vector contains the same entry of
 * all problems. Problems with fewer rows or columns are padded with zero weight and infinite
 * cost. */
#ifndef DDSC_DISTANCE_SINKHORN_GROUP_KERNEL_H
#define DDSC_DISTANCE_SINKHORN_GROUP_KERNEL_H

#include "base/simd.h"

/* The rows or the columns of the problems, with the fields of dense_side. */
typedef struct group_side {
    int64_t n; /* size of the largest problem */
    double *weight, *scale, *sum, *base;
    double *pad; /* 1 in the padding, else 0 */
} group_side;

typedef struct group_arrays {
    double *cost;   /* row.n x column.n: first the original, then the reduced cost */
    double *kernel; /* same size as the cost */
    group_side row, column;
} group_arrays;

/* For each problem: a mask, whose bits are all set while the problem is iterating, and the
 * relaxation. */
typedef struct group_control {
    int64_t active[SIMD_LANES];
    double omega[SIMD_LANES];
} group_control;

/* The fields of sinkhorn_seen, for each problem. */
typedef struct group_seen {
    double row_error[SIMD_LANES], column_error[SIMD_LANES];
    double low[SIMD_LANES], high[SIMD_LANES];
} group_seen;

/* Computes the bases, subtracts them from the cost, stores the largest entry of each problem, and
 * sets the initial scalings to a and b. */
void sinkhorn_group_reduce(group_arrays *s, double *range);
void sinkhorn_group_fill(group_arrays *s, double epsilon);
/* Runs one pass, like sinkhorn_dense_pass. The scalings of inactive problems do not change. */
void sinkhorn_group_pass(group_arrays *s, const group_control *control, group_seen *seen);
/* Makes the columns exact, then computes row.sum = K v and the error of the rows. */
void sinkhorn_group_settle(group_arrays *s, double *error);
/* Computes sum_ij P_ij C_ij with the original cost. */
void sinkhorn_group_cost(const group_arrays *s, double *sharp);
/* Computes the dual value <a,f> + <b,g> - eps (sum P - 1). */
void sinkhorn_group_dual(const group_arrays *s, double epsilon, double *value);

#endif
