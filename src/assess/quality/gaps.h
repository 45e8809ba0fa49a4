/* gaps: functions shared by gaps.c and gap_holdout.c to order the items by a random walk and to
 * locate the valley in this order. */
#ifndef DDSC_ASSESS_QUALITY_GAPS_H
#define DDSC_ASSESS_QUALITY_GAPS_H

#include "assess/quality/quality.h"

/* Returns f as a sort key. Differences of less than 1e-9 from 0 or 1 are rounding errors, so they
 * are removed. */
static inline double gaps_key(double f)
{
    return f > 1 - 1e-9 ? -1 : f < 1e-9 ? 0 : -f;
}

/* Runs the random walk from each of `width` clusters, and writes D^1/2 f to x (n x width). Each
 * step computes x <- (1 - a) D^1/2 1_C + a M x. y is a work array of the same size, and root (n)
 * contains the square roots of the degrees. */
ddsc_status gaps_walk(ddsc_context *ctx, double *x, double *y, const sparse *m, const double *root,
                      const int32_t *labels, const int32_t *which, int64_t width);
/* Computes c(t) for t = 1 .. n - 1 in level[0 .. n - 2]. */
void gaps_crossing(double *level, const sparse *a, const int32_t *rank);

/* Positions of the valley and of the highest c on each side of it. */
typedef struct gap_place {
    int64_t at, before, after;
} gap_place;

/* Locates the valley. The search range starts at half the cluster size. It extends beyond the
 * boundary by half the cluster size or half the number of remaining items, whichever is smaller.
 * Returns false if the range is empty. */
bool gaps_place(gap_place *out, const double *level, int64_t n, int64_t size);
/* Computes `valley`, `items` and `score` of a gap at the given positions. The score is negative if
 * there is no valley. `across` has n entries. */
void gaps_weigh(cluster_gap *g, const gap_place *p, const sparse *a, const int32_t *rank,
                const double *level, double *across);

/* If at least one score is high enough, computes `held` for every cluster. along (n) lists the
 * items in order along the first direction. */
ddsc_status gaps_hold(ddsc_context *ctx, cluster_gap *out, const sparse *a, const int32_t *labels,
                      int64_t k, const int32_t *along);

#endif
