/* assess: is a clustering any good? Verdict, outliers, stability, comparison of metrics, and what the paper's
 * definitions say about one result. It sees finished graphs and clusterings and runs them again on resampled points;
 * nothing below depends on it. */
#ifndef DDSC_ASSESS_ASSESS_H
#define DDSC_ASSESS_ASSESS_H

#include "cluster/spectral/cluster.h"

/* ---- is a cluster parted from the rest? ---- */

typedef struct cluster_gap {
    int64_t size;
    bool examined;
    double valley; /* affinity across the gap, over that inside and outside; 1: none */
    double items;  /* effective number of items that lie side by side there */
    double score;  /* (1 - valley) sqrt(items) */
    double held;   /* that in items which took no part in finding it; NaN: not looked at */
} cluster_gap;

/* More clusters than these: the largest. */
enum { GAP_CLUSTERS = 24 };
/* out (k): the gap around every cluster, in the affinity `a`. place (n; or NULL): of items along the first direction
 * (cluster_direction). */
ddsc_status gaps_find(ddsc_context *ctx, cluster_gap *out, const sparse *a, const int32_t *labels,
                      int64_t k, const int64_t *place);

/* ---- the verdict (verdict.c) ---- */

/* The score from which a gap separates a cluster of n items, and the one it must have in items that were not used to
 * find it. */
double verdict_clear_from(int64_t n);
double verdict_held_from(int64_t n);

typedef struct verdict_evidence {
    ddsc_structure structure;
    int64_t k, n_components;
    int64_t n_examined, n_parted, items_parted;
    bool torn;   /* the graph has components that nothing connects, more than chance makes */
    bool copies; /* many items have only copies as neighbors: gaps prove nothing */
    double score, items;  /* the largest */
    double chance;        /* of as many tears of the graph, of one at least */
    double clear_from;    /* the score that separates a cluster */
    double held;          /* the largest; NaN: not tested */
    double held_from;     /* what it must be */
    double items_alike_p; /* NaN: not tested */
    double share;         /* part of the items in clusters that a gap separates */
} verdict_evidence;

/* gap (k; NULL: none were examined): the gaps around the clusters; g: the graph, NULL: none. data (NULL: no points): to
 * test whether the items differ, where the gaps of few items cannot tell. */
ddsc_status verdict_judge(ddsc_context *ctx, verdict_evidence *e, const cluster_gap *gap, int64_t k,
                          const ddsc_graph *g, int64_t n_components, const ddsc_measures *data,
                          int64_t cost);

/* ---- outliers ---- */

/* Fills *out and its arrays: score (n) and outlying (n), each or NULL. */
ddsc_status outliers_find(ddsc_context *ctx, ddsc_outliers *out, const ddsc_graph *g,
                          const int32_t *labels, int64_t k);

/* |sin Theta|_F between the spans of the first k columns of u and v (n rows, row-major, ldu and ldv
 * columns, orthonormal): |v - u u^T v|_F, which keeps small angles exact. */
ddsc_status subspace_distance(ddsc_context *ctx, double *distance, int64_t n, int64_t k,
                              const double *u, int64_t ldu, const double *v, int64_t ldv);

/* How far two decompositions of the same items are apart; fills the columns of `row` that do not
 * speak of labels. */
ddsc_status spectra_compare(ddsc_context *ctx, ddsc_stability_row *row, int64_t k,
                            const decomposition *first, const decomposition *again);
double spectrum_gap(const decomposition *d, int64_t k);
double theory_smallest_affinity(const sparse *a);

/* `labels` in the numbers of `first`, both below k: clusters are paired so that as many items as
 * possible keep their number. *n_changed items have another one. */
ddsc_status theory_match_labels(ddsc_context *ctx, int32_t *labels, int64_t *n_changed,
                                const int32_t *first, int64_t n, int64_t k);

/* The view in a few sentences; the caller frees *words. */
ddsc_status stability_words(ddsc_context *ctx, char **words, const ddsc_stability_view *view,
                            bool undetermined);

#endif
