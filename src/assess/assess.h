/* theory: what the paper's definitions say about one result. It sees finished graphs and
 * decompositions and runs the chain again on resampled points; nothing below depends on it. */
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

/* No line, plane or cloud of light tails gets there without groups (bench/verdict.py). */
#define GAP_SCORE 3.5
/* Above so many items a gap must be deeper, with the fourth root of their number: the deepest of many, and densities that
 * differ, make higher scores by chance (bench/verdict.py, kind skewed). Real gaps grow with the square root. */
#define GAP_ITEMS 800
double gaps_clear_from(int64_t n);
/* A gap that chance made, or densities that fall to all sides, is none in items that took no part in finding it: continua
 * scored below this there (bench/verdict.py), sets with groups 0.8 and more. Above GAP_ITEMS times the root of their number, as
 * real ones grow. */
#define GAP_HELD 0.25
/* More clusters than these: the largest. */
enum { GAP_CLUSTERS = 24 };
/* out (k): the gap around every cluster, in the affinity `a`. place (n; or NULL): of items along the first direction
 * (cluster_direction). */
ddsc_status gaps_find(ddsc_context *ctx, cluster_gap *out, const sparse *a, const int32_t *labels,
                      int64_t k, const int64_t *place);

typedef struct structure_tally {
    ddsc_structure structure;
    int64_t n_examined, n_parted, items_parted;
    bool torn;           /* the graph has parts that nothing connects */
    double score, items; /* the largest */
    bool copies;         /* many items have copies alone as neighbours: gaps say nothing */
    double chance;       /* of as many tears of the graph, of one at least */
    double clear_from;   /* the score that parts a cluster */
    double held;         /* the largest; NaN: not looked at */
    double held_from;    /* what it must be */
} structure_tally;

/* What the gaps (k; NULL: none were looked at) and the components of the graph say. */
structure_tally structure_find(const cluster_gap *gap, int64_t k, const ddsc_graph *g,
                               int64_t n_components);

/* The verdict on a clustering: what the gaps of its graph say (structure_find), and where they cannot tell, whether
 * the items differ at all: *p, of "all items are samples of one law", NaN where that was not asked. data: NULL: no points.
 */
#define THEORY_DIFFER 0.02 /* p up to which items differ */
ddsc_status verdict_find(ddsc_context *ctx, structure_tally *t, double *p, const cluster_gap *gap,
                         int64_t k, const ddsc_graph *g, int64_t n_components,
                         const ddsc_measures *data, int64_t cost);

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
