/* The parts of D2 clustering: start, assignment, new centres. */
#ifndef DDSC_CLUSTER_BASELINE_D2_H
#define DDSC_CLUSTER_BASELINE_D2_H

#include "cluster/baseline/baseline.h"

#define D2_FIRST_STEP 0.5 /* weights change by factors of at most e to this */

typedef struct d2_run {
    ddsc_context *ctx;
    const ddsc_d2_settings *set;
    const ddsc_barycenter_settings *centre;
    fit f;
    const centre_method *method;
    void *state;
    int32_t *label;
    double *value; /* cost of each item to its centre */
    double *next_value;
    double *bound;             /* n x k: lower bounds of distances between items and centres */
    double *mean;              /* k x d: of the centres */
    centres before;            /* the last assignment's */
    centres moved;             /* those after one exact move */
    double *least, *proposed;  /* by cluster: costs of `moved` and of what the method proposes */
    int64_t *changed, *solved; /* one per worker */
    int64_t n_pairs;
    workspace own; /* of the arrays above */
} d2_run;

/* Centres from k items drawn far from each other (k-means++ in W2). */
ddsc_status d2run_start(d2_run *r, int64_t restart);
/* Labels and values for the centres in hand; *n_changed labels are new. No cluster is left empty as
 * long as an item can be spared. */
ddsc_status d2run_assign(d2_run *r, int64_t *n_changed, rng *random);
/* New centres for the clusters as they are; where the method is judged, no cluster's cost rises. */
ddsc_status d2run_update(d2_run *r);
/* Exact passes alone: points to the best places for what they send, then a step[cluster] in the weights. */
ddsc_status d2run_polish(d2_run *r, double *step);
/* How far centres moved since the last assignment: what bounds have to give way. */
ddsc_status d2run_drift(d2_run *r);

#endif
