/* A plane spanned by p orthonormal directions in d dimensions, for projection-robust
 * barycenters. */
#ifndef DDSC_CLUSTER_BASELINE_PLANE_H
#define DDSC_CLUSTER_BASELINE_PLANE_H

#include "data/measures.h"

/* Computes the leading principal directions of the support table. */
ddsc_status plane_principal(ddsc_context *ctx, double *u, int64_t p, const measures *m);
/* Projects x onto the plane; out has p coordinates. */
void plane_project(double *out, const double *u, int64_t p, int64_t d, const double *x);
/* Performs one ascent step on the Stiefel manifold from u along the gradient g = 2 V u, which is
 * overwritten. The step is the tangent part g - u (g'u + u'g) / 2 divided by |g|, followed by
 * orthonormalization. Returns |tangent| / |g|. */
double plane_ascend(double *u, double *g, int64_t p, int64_t d, double step);

#endif
