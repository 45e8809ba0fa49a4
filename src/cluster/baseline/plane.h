/* A plane of p orthonormal directions in d dimensions, for projection robust barycenters. */
#ifndef DDSC_CLUSTER_BASELINE_PLANE_H
#define DDSC_CLUSTER_BASELINE_PLANE_H

#include "data/measures.h"

/* u: p directions of d numbers each. Directions that vanish become axes. */
void plane_orthonormalise(double *u, int64_t p, int64_t d);
/* Leading principal directions of the support table. */
ddsc_status plane_principal(ddsc_context *ctx, double *u, int64_t p, const measures *m);
/* out (p) = projection of x. */
void plane_project(double *out, const double *u, int64_t p, int64_t d, const double *x);
/* One step up the Stiefel manifold from u along the gradient g = 2 V u (destroyed): its tangent
 * part g - u (g'u + u'g) / 2 relative to |g|, then orthonormal again. Returns |tangent| / |g|. */
double plane_ascend(double *u, double *g, int64_t p, int64_t d, double step);

#endif
