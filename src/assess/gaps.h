/* What gaps.c and held.c share: the order of items by a walk, and the valley of what crosses along it. */
#ifndef DDSC_ASSESS_GAPS_H
#define DDSC_ASSESS_GAPS_H

#include "assess/assess.h"

/* f nearer to 0 or 1 than 1e-9 is as good as there: what is left of it is rounding. */
static inline double gaps_key(double f)
{
    return f > 1 - 1e-9 ? -1 : f < 1e-9 ? 0 : -f;
}

/* D^1/2 f of `width` clusters in x (n x width), y as large: x <- (1 - a) D^1/2 1_C + a M x. root (n): square roots of the
 * degrees. */
ddsc_status gaps_walk(ddsc_context *ctx, double *x, double *y, const sparse *m, const double *root,
                      const int32_t *labels, const int32_t *which, int64_t width);
/* c(t) for t = 1 .. n - 1, in level[0 .. n - 2]. */
void gaps_crossing(double *level, const sparse *a, const int32_t *rank);
/* Effective number of items that carry what crosses after position t, on the side that has fewer. */
double gaps_carriers(double *across, const sparse *a, const int32_t *rank, int64_t t);

/* Where along the order the valley is, and the highest c on both sides of it. */
typedef struct gap_place {
    int64_t at, before, after;
} gap_place;

/* The valley is looked for from the half of the cluster to half as many items again outside, or half of them; false:
 * there is no room for one. */
bool gaps_place(gap_place *out, const double *level, int64_t n, int64_t size);
/* valley, items, and score, which is negative where the place is no valley. across: n. */
void gaps_weigh(cluster_gap *g, const gap_place *p, const sparse *a, const int32_t *rank,
                const double *level, double *across);

/* held of every cluster, where one has a score that asks for it. along (n): items along the first direction. */
ddsc_status gaps_hold(ddsc_context *ctx, cluster_gap *out, const sparse *a, const int32_t *labels,
                      int64_t k, const int32_t *along);

#endif
