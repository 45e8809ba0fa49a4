/* What the files of spectral clustering share. */
#ifndef DDSC_CLUSTER_SPECTRAL_DECOMPOSE_H
#define DDSC_CLUSTER_SPECTRAL_DECOMPOSE_H

#include "cluster/spectral/cluster.h"

/* gamma as the settings mean it: the plain algorithm knows no local scaling. */
affinity_settings decompose_affinity_rule(const ddsc_cluster_settings *set);
/* `joined` (or NULL) gives its affinity away, which takes the place of the graph's. */
ddsc_status decompose_graph(ddsc_context *ctx, decomposition *d, const ddsc_graph *graph,
                            joined_graphs *joined, const ddsc_cluster_settings *set,
                            int64_t k_high);
void decomposition_free(ddsc_context *ctx, decomposition *d);

/* What the advice needs beside the view. */
typedef struct outcome {
    int64_t k_low, k_high;
    bool chosen, by_gap;   /* K was left open; decided by the eigenvalues */
    int64_t n_found;       /* clusters of the chosen K */
    int64_t n_without_row; /* items without an eigenvector, put into the largest cluster */
    bool rule_met;         /* K clusters have the members asked for */
    double least;          /* those */
    bool not_converged;
    const double *eigenvalues; /* of the eigenvectors found */
    const int32_t *cells;      /* labels before small clusters joined others */
    bool has_far_items;        /* out: the advice names items far from all others */
} outcome;

ddsc_status advice_write(ddsc_context *ctx, char **text, const ddsc_clustering_view *view,
                         const decomposition *d, outcome *o, const ddsc_graph *graph,
                         const ddsc_cluster_settings *set);
/* Eigenvalues, residuals and what the solver says of them into the clustering and its view. */
ddsc_status cluster_spectrum(ddsc_context *ctx, ddsc_clustering *c, const decomposition *d);

#endif
