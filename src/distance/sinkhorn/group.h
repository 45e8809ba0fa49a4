/* The group engine: eight small entropic problems side by side, one in each lane of a vector. Each does
 * the operations of sinkhorn_solve in the same order, so its result is the same to the last bit,
 * whatever else is in the group; one that needs more than scaling iterations (falling epsilon,
 * absorption, Newton steps, the formulas for a large epsilon) is given back unsolved. */
#ifndef DDSC_DISTANCE_SINKHORN_GROUP_H
#define DDSC_DISTANCE_SINKHORN_GROUP_H

#include "base/simd.h"
#include "distance/sinkhorn/sinkhorn.h"
#include "distance/sinkhorn/tuning.h"

enum { SINKHORN_GROUP = SIMD_LANES }; /* problems of a group */

typedef struct sinkhorn_group sinkhorn_group;

ddsc_status sinkhorn_group_create(ddsc_context *ctx, sinkhorn_group **group);
void sinkhorn_group_destroy(ddsc_context *ctx, sinkhorn_group *group);
/* Is a problem of this size one for a group? */
static inline bool sinkhorn_group_fits(int64_t n, int64_t m)
{
    return n <= SINKHORN_GROUP_SIDE && m <= SINKHORN_GROUP_SIDE;
}
/* A new group of problems of at most n x m, all of them empty. The array of costs is returned, its
 * index first and the problem last: cost[(i m + j) SINKHORN_GROUP + problem]. The caller writes it,
 * infinity where a problem has no point. */
double *sinkhorn_group_begin(sinkhorn_group *group, int64_t n, int64_t m);
/* The weights of an item as the solver takes them, of sum 1. False where one is too small for a
 * group. */
bool sinkhorn_group_scale(double *out, const double *weight, int64_t n);
/* A problem for an empty place, by weights so scaled. */
void sinkhorn_group_put(sinkhorn_group *group, int problem, int64_t n, const double *a, int64_t m,
                        const double *b);
/* solved[problem] tells which have a result, be it one that met the cap before the tolerance. */
void sinkhorn_group_solve(sinkhorn_group *group, sinkhorn_result *result, bool *solved,
                          const sinkhorn_rule *rule);

#endif
