/* membership: how strongly an item belongs to each cluster. Memberships are computed from one score
 * per cluster, and are proportional to exp(score / softness). The softness is a temperature, fitted
 * so that the memberships predict the cluster that independent data about the item indicate. */
#ifndef DDSC_CLUSTER_SPECTRAL_MEMBERSHIP_H
#define DDSC_CLUSTER_SPECTRAL_MEMBERSHIP_H

#include "data/model.h"

/* Returns the cluster with the highest score, or the first such cluster if there are ties. */
int32_t membership_best(const double *score, int64_t k);
/* Replaces scores with memberships that sum to 1. */
void membership_soften(double *score, int64_t k, double softness);
/* Makes the membership of `label` the largest, by exchanging two memberships if necessary. */
void membership_favor(double *membership, int64_t k, int32_t label);
/* Returns true if each of n rows of k memberships is non-negative and sums to 1. */
bool membership_holds(const double *membership, int64_t n, int64_t k);

/* Sets the scores (k) to minus the squared distance from a row to the nearest center of each
 * cluster. */
void membership_near(double *score, int64_t k, const double *row, int64_t width,
                     const double *center, const int32_t *center_label, int64_t n_centers);

/* Scores of held-out items, and the cluster that independent data indicate for each item. */
typedef struct held_out {
    int64_t n, k;
    double *score;     /* n x k */
    int32_t *observed; /* n */
} held_out;

ddsc_status membership_create_held_out(ddsc_context *ctx, held_out *h, int64_t most, int64_t k);
void membership_free_held_out(ddsc_context *ctx, held_out *h);
/* Sets softness (from low to high), confidence, agreement and n_held_out in the report. Without
 * items, the softness is not changed. */
void membership_fit(ddsc_membership_report *report, const held_out *h, double low, double high);

#endif
