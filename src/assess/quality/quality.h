/* quality: measures the reliability of a clustering. The module computes the verdict, outliers,
 * stability, the comparison of metrics, and the quantities that the paper defines. It evaluates
 * finished graphs and clusterings, and repeats runs on resampled points. No lower layer depends on
 * it. */
#ifndef DDSC_ASSESS_QUALITY_QUALITY_H
#define DDSC_ASSESS_QUALITY_QUALITY_H

#include "cluster/spectral/cluster.h"
#include "data/measures.h"

/* ---- gaps around clusters ---- */

typedef struct cluster_gap {
    int64_t size;
    bool examined;
    double
        valley; /* affinity across the gap divided by the affinity inside and outside; 1: no gap */
    double items;  /* effective number of items across the width of the gap */
    double score;  /* (1 - valley) sqrt(items) */
    double held;   /* score in held-out items; NaN if not tested */
    bool separate; /* set by verdict_judge */
} cluster_gap;

/* Maximum number of clusters that are examined. If there are more clusters, only the largest are
 * examined. */
enum { GAP_CLUSTERS = 24 };
/* Finds the gap around every cluster in the affinity matrix `a` and stores the result in out (k).
 * place (n, or NULL) has the position of each item along the first direction
 * (cluster_direction). */
ddsc_status gaps_find(ddsc_context *ctx, cluster_gap *out, const sparse *a, const int32_t *labels,
                      int64_t k, const int64_t *place);

/* ---- the verdict (verdict.c) ---- */

/* Returns the score that a gap around a cluster with `size` of n items must reach. The required
 * score is lower for small clusters. verdict_asked_from returns the score from which gaps are
 * tested on held-out items, and verdict_held_from returns the score that a gap must reach there. */
double verdict_clear_from(int64_t n, int64_t size);
double verdict_asked_from(int64_t n);
double verdict_held_from(int64_t n);
/* Returns the agreement between random halves from which k clusters are called reproducible, or NaN
 * if agreement is not evidence of clusters for this k. */
double verdict_halves_from(int64_t k);
/* Returns the step ratio from which the parts of n items are called separate. */
double verdict_steps_from(int64_t n);

/* Evidence for the verdict. The fields from `n` to `items_alike_p` determine the level. */
typedef struct verdict_evidence {
    ddsc_level level;
    int64_t n, k, n_components;
    int64_t n_examined, n_parted, items_parted;
    bool torn;            /* the graph has more components than expected by chance */
    bool stepped;         /* the step ratio separates the items into parts */
    bool by_steps;        /* the parts alone separate 80% of the items */
    bool copies;          /* many items have only copies as neighbors, so gaps are not evidence */
    double score, items;  /* values of the gap with the largest score */
    double held;          /* largest score on held-out items; NaN if not tested */
    double held_from;     /* minimum score on held-out items */
    double halves;        /* agreement between random halves of the items; NaN if not computed */
    double items_alike_p; /* p-value of "all items are samples of one distribution"; NaN if not
                           * tested */
    double share;         /* fraction of the items in separate clusters */
    double chance;     /* probability that chance splits the graph at least as often as observed */
    double clear_from; /* score that the gap around a large cluster must reach */
    double step_ratio; /* NaN if not computed */
    int64_t n_parts;   /* number of parts for which step_ratio was computed */
} verdict_evidence;

/* A clustering to judge. */
typedef struct verdict_input {
    cluster_gap *gap; /* gaps around the k clusters, or NULL; receives `separate` */
    int64_t k, n_components;
    const int32_t *labels;
    const sparse *affinity;
    const ddsc_graph *graph;   /* or NULL */
    double halves;             /* agreement between halves, or NaN */
    const ddsc_measures *data; /* points for the permutation test, or NULL */
    int64_t cost;
} verdict_input;

ddsc_status verdict_judge(ddsc_context *ctx, verdict_evidence *e, const verdict_input *in);
/* Returns the agreement between random halves for K = k, or NaN if it is unknown. */
double verdict_halves(const ddsc_clustering_view *v, const cluster_gap *gap, int64_t k);

/* ---- outliers ---- */

/* Fills *out and its arrays score (n) and outlying (n), each of which may be NULL. */
ddsc_status outliers_find(ddsc_context *ctx, ddsc_outliers *out, const ddsc_graph *g,
                          const int32_t *labels, int64_t k);

/* Computes |sin Theta|_F between the spans of the first k columns of u and v. Both matrices have n
 * rows and orthonormal columns, and are stored in row-major order with row strides ldu and ldv. The
 * formula |v
 * - u u^T v|_F is accurate for small angles. */
ddsc_status subspace_distance(ddsc_context *ctx, double *distance, int64_t n, int64_t k,
                              const double *u, int64_t ldu, const double *v, int64_t ldv);

/* Compares two decompositions of the same items and fills the fields of `row` that do not depend on
 * labels. */
ddsc_status spectra_compare(ddsc_context *ctx, ddsc_stability_row *row, int64_t k,
                            const decomposition *first, const decomposition *again);
/* Fills the fields for Lemma 2 from the graphs of two runs that use the same rule for gamma. */
ddsc_status lemma_2_measure(ddsc_context *ctx, ddsc_stability_row *row, const ddsc_graph *first,
                            const ddsc_graph *again, const affinity_settings *how);
double spectrum_gap(const decomposition *d, int64_t k);
double theory_smallest_affinity(const sparse *a);

/* Describes the results in the view in a few sentences. The caller frees *words. */
ddsc_status stability_words(ddsc_context *ctx, char **words, const ddsc_stability_view *view,
                            bool undetermined);

#endif
