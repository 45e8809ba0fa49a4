/* Eight small entropic problems side by side, one in each lane of a vector. Every lane does the
 * operations of sinkhorn_solve in the same order, so its result is the same to the last bit,
 * whatever is in the other lanes; a lane that needs more than scaling iterations (falling epsilon,
 * absorption, Newton steps, the formulas for a large epsilon) is given back unsolved.
 *
 * An array of the solver has its index first and the lane last. Lanes of fewer rows or columns are
 * padded: no weight, and an infinite cost. */
#ifndef DDSC_SINKHORN_GROUP_H
#define DDSC_SINKHORN_GROUP_H

#include "base/simd.h"
#include "sinkhorn/sinkhorn.h"

enum { LANES_SIDE = 32 }; /* the most points on a side */

typedef struct lane_scaling {
    int64_t n, m;   /* the most rows and columns of a lane */
    double *cost;   /* n x m: given, then reduced */
    double *kernel; /* n x m */
    double *a, *u, *row_sum, *base_f;
    double *row_pad; /* 1 in the padding, else 0 */
    double *b, *v, *column_sum, *base_g;
    double *column_pad;
} lane_scaling;

/* As scaling_report, for each lane. */
typedef struct lane_report {
    double row_error[SIMD_LANES], column_error[SIMD_LANES];
    double low[SIMD_LANES], high[SIMD_LANES];
} lane_report;

/* Lanes at work (all bits set) and their relaxation. */
typedef struct lane_control {
    int64_t active[SIMD_LANES];
    double omega[SIMD_LANES];
} lane_control;

/* The bases, the cost less the bases, and the scalings a and b to begin with. The largest magnitude
 * of the cost before and its largest entry after. */
void lanes_reduce(lane_scaling *s, double *magnitude, double *range);
void lanes_fill(lane_scaling *s, double epsilon);
/* As scaling_pass; lanes that are not active keep their scalings. */
void lanes_pass(lane_scaling *s, const lane_control *control, lane_report *report);
/* Exact columns, then row_sum = K v and the error of the rows. */
void lanes_settle(lane_scaling *s, double *error);
/* sum_ij P_ij C_ij of the cost given. */
void lanes_cost(const lane_scaling *s, double *sharp);
/* The dual value <a,f> + <b,g> - eps (sum P - 1). */
void lanes_dual(const lane_scaling *s, double epsilon, double *value);

/* ---- the solver ---- */

typedef struct sinkhorn_lanes sinkhorn_lanes;

ddsc_status sinkhorn_lanes_create(ddsc_context *ctx, sinkhorn_lanes **lanes);
void sinkhorn_lanes_destroy(sinkhorn_lanes *lanes);
/* Is a problem of this size one for a lane? */
static inline bool sinkhorn_lanes_fits(int64_t n, int64_t m)
{
    return n <= LANES_SIDE && m <= LANES_SIDE;
}
/* Room for lanes of at most n x m; all of them are empty then. The array of costs
 * is returned; the caller writes it, infinity in the padding. */
double *sinkhorn_lanes_begin(sinkhorn_lanes *lanes, int64_t n, int64_t m);
/* The weights of an item as the solver takes them, each sum 1. False where one is too small for a
 * lane. */
bool sinkhorn_lanes_scale(double *out, const double *weight, int64_t n);
/* A problem for an empty lane, by weights so scaled. */
void sinkhorn_lanes_weights(sinkhorn_lanes *lanes, int lane, int64_t n, const double *a, int64_t m,
                            const double *b);
typedef struct lane_stop {
    double epsilon, tolerance;
    int64_t max_iterations;
    bool sharp; /* the sharp value is asked for, else only the regularised one */
} lane_stop;

/* solved[lane] tells which lanes have a result, be it one that met the cap before the tolerance. */
void sinkhorn_lanes_solve(sinkhorn_lanes *lanes, sinkhorn_result *result, bool *solved,
                          const lane_stop *stop);

#endif
