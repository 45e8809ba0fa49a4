/* group: the engine that solves eight small entropic problems at once, one per vector lane.
 *
 * The operations on each problem are the same as in sinkhorn_solve, in the same order. The result
 * is therefore bit-identical to that of sinkhorn_solve, whatever the other problems in the group
 * are. A problem that needs more than scaling iterations (a decreasing epsilon, absorption, Newton
 * steps, or the formulas for a large epsilon) is returned unsolved. */
#ifndef DDSC_DISTANCE_SINKHORN_GROUP_H
#define DDSC_DISTANCE_SINKHORN_GROUP_H

#include "base/simd.h"
#include "distance/sinkhorn/sinkhorn.h"
#include "distance/sinkhorn/tuning.h"

enum { SINKHORN_GROUP = SIMD_LANES }; /* number of problems in a group */

typedef struct sinkhorn_group sinkhorn_group;

ddsc_status sinkhorn_group_create(ddsc_context *ctx, sinkhorn_group **group);
void sinkhorn_group_destroy(ddsc_context *ctx, sinkhorn_group *group);
/* Returns true if a problem of this size can be solved in a group. */
static inline bool sinkhorn_group_fits(int64_t n, int64_t m)
{
    return n <= SINKHORN_GROUP_SIDE && m <= SINKHORN_GROUP_SIDE;
}
/* Starts a new group of empty problems of at most n x m points, and returns the array of costs.
 * Entry (i, j) of a problem is cost[(i m + j) SINKHORN_GROUP + problem]. The caller must fill the
 * array, using infinity for missing points. */
double *sinkhorn_group_begin(sinkhorn_group *group, int64_t n, int64_t m);
/* Scales the weights of an item to a sum of 1 as the dense engine does. Returns false if a weight
 * is too small for a group. */
bool sinkhorn_group_scale(double *out, const double *weight, int64_t n);
/* Loads a problem into an empty lane. The weights on both sides must have been scaled by
 * sinkhorn_group_scale. */
void sinkhorn_group_put(sinkhorn_group *group, int problem, int64_t n, const double *a, int64_t m,
                        const double *b);
/* Solves the group. solved[problem] is true for each problem that has a result, even if it
 * reached the iteration limit before the tolerance. */
void sinkhorn_group_solve(sinkhorn_group *group, sinkhorn_result *result, bool *solved,
                          const sinkhorn_rule *rule);

#endif
