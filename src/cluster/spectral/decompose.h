/* decompose: functions shared by the files of spectral clustering. */
#ifndef DDSC_CLUSTER_SPECTRAL_DECOMPOSE_H
#define DDSC_CLUSTER_SPECTRAL_DECOMPOSE_H

#include "cluster/spectral/cluster.h"

/* Returns the rule for gamma that the settings select. */
affinity_settings decompose_affinity_rule(const ddsc_cluster_settings *set);
/* Decomposes a graph. `joined` (or NULL) provides the affinity instead of the graph, and the
 * function takes ownership of this affinity. */
ddsc_status decompose_graph(ddsc_context *ctx, decomposition *d, const ddsc_graph *graph,
                            joined_graphs *joined, const ddsc_cluster_settings *set,
                            int64_t k_high);
void decomposition_free(ddsc_context *ctx, decomposition *d);

/* Results that the advice needs and that the view does not contain. */
typedef struct outcome {
    int64_t k_low, k_high;
    bool chosen, by_gap;   /* K was not specified by the caller; the eigenvalues chose K */
    int64_t n_found;       /* number of clusters found for the chosen K */
    int64_t n_without_row; /* number of items without an eigenvector, which were added to the
                            * largest cluster */
    bool rule_met;         /* K clusters have at least `least` items */
    double least;          /* minimum cluster size */
    bool not_converged;
    const double *eigenvalues; /* one per computed eigenvector */
    int64_t hub;               /* item with the largest in-degree */
    const int32_t *cells;      /* labels before small clusters were merged */
    bool has_far_items;        /* output: the advice names items that are far from all others */
} outcome;

ddsc_status advice_write(ddsc_context *ctx, char **text, const ddsc_clustering_view *view,
                         const decomposition *d, outcome *o, const ddsc_graph *graph,
                         const ddsc_cluster_settings *set);
/* Stores the eigenvalues, residuals and solver status in the clustering and its view. */
ddsc_status cluster_spectrum(ddsc_context *ctx, ddsc_clustering *c, const decomposition *d);

#endif
