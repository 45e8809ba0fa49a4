/* The steps of D2 clustering: initialization, assignment and center updates. */
#ifndef DDSC_CLUSTER_BASELINE_D2_H
#define DDSC_CLUSTER_BASELINE_D2_H

#include "cluster/baseline/baseline.h"

#define D2_FIRST_STEP 0.5 /* weights change by factors of at most e^D2_FIRST_STEP */

typedef struct d2_run {
    ddsc_context *ctx;
    const ddsc_d2_settings *set;
    const ddsc_barycenter_settings *center;
    fit f;
    const center_method *method;
    void *state;
    int32_t *label;
    double *value; /* cost of each item to its center */
    double *next_value;
    double *bound;             /* n x k: lower bounds on the distances between items and centers */
    double *mean;              /* k x d: mean of each center */
    centers before;            /* centers of the last assignment */
    centers moved;             /* centers after one exact pass has moved their points */
    double *least, *proposed;  /* one per cluster: cost of `moved`; cost of the method's proposal */
    int64_t *changed, *solved; /* counts, one per worker */
    int64_t n_pairs;
    workspace own; /* memory of the arrays above */
} d2_run;

/* Initializes the centers from k items using k-means++ with W2. */
ddsc_status d2run_start(d2_run *r, int64_t restart);
/* Computes labels and values for the current centers. *n_changed is the number of changed labels.
 * Empty clusters receive an item from another cluster if possible. */
ddsc_status d2run_assign(d2_run *r, int64_t *n_changed, rng *random);
/* Computes new centers for the current clusters. If method->judged is true, the cost of a cluster
 * never increases. */
ddsc_status d2run_update(d2_run *r);
/* Improves the centers with exact passes only. Each pass moves the points to their optimal
 * positions and then changes the weights by a step of size step[cluster]. */
ddsc_status d2run_polish(d2_run *r, double *step);
/* Reduces the bounds for each center by the distance that it has moved since the last
 * assignment. */
ddsc_status d2run_drift(d2_run *r);

#endif
