/* cluster: from the graph to labels, and how good labels are. */
#ifndef DDSC_CLUSTER_SPECTRAL_CLUSTER_H
#define DDSC_CLUSTER_SPECTRAL_CLUSTER_H

#include "neighbors/metric/metric.h"
#include "numeric/eigen/eigen.h"
#include "numeric/graph/graph.h"
#include "numeric/kmeans/kmeans.h"

/* Mean agreement (adjusted Rand index) of k-means on one half of the rows with k-means on the
 * other, over random splits; 1: what one half finds the other finds too. NaN when there are too few
 * rows. */
ddsc_status halves_agreement(ddsc_context *ctx, double *result, int64_t n, int64_t dim,
                             const double *rows, int64_t k);

/* ---- one decomposition, from which every K is served ---- */

typedef struct decomposition {
    int64_t n, tau;
    sparse a; /* the affinity */
    affinity_report affinity;
    double *degree;
    int64_t n_components;
    int32_t *part;   /* component of each item among those that take part, -1: left out */
    int64_t n_parts; /* components that take part */
    int64_t n_left_out, n_isolated; /* items left out; items without any edge */
    int64_t n_columns;              /* of the graph, with the error of other distances */
    double columns_error;
    eigen_result eigen;
} decomposition;

/* Eigenvectors that K clusters are read from: K in the plain algorithm, else max(30, 3K). */
int64_t embed_width(int64_t k, bool paper);
/* rows (n x width): the first `width` eigenvectors, rows normalised; without `paper` each is first
 * weighted by lambda^p with p such that sum lambda^(2p) = K. Items without a vector keep zero rows.
 * length (n): that of each row before; 0 where the row is not made from the eigenvectors. */
ddsc_status embed_rows(ddsc_context *ctx, double *rows, double *length, int64_t width,
                       decomposition *d, int64_t k, bool paper);

/* ---- clusters that are too small ---- */

typedef struct small_rule {
    double least; /* members a cluster needs, unless it has no edge to the rest and more than tau +
                     1 */
    int64_t keep; /* clusters wanted */
} small_rule;

/* How many clusters of `labels` (k of them) stand by the rule. */
ddsc_status small_count(ddsc_context *ctx, int64_t *n_standing, const int32_t *labels, int64_t k,
                        const decomposition *d, const small_rule *rule);
/* Keep the `keep` largest that stand; the others join the cluster they are linked to most strongly,
 * the largest one where there is no link. Labels are renumbered; *n_merged clusters went. */
ddsc_status small_merge(ddsc_context *ctx, int32_t *labels, int64_t *k, int64_t *n_merged,
                        const decomposition *d, const small_rule *rule);

/* ---- the choice of K ---- */

/* Newman's modularity of labels (k of them) on a weighted graph. */
ddsc_status cluster_modularity(ddsc_context *ctx, double *q, const sparse *a, const int32_t *labels,
                               int64_t k);
/* Does the k-th of the Laplacian's eigenvalues, ascending, stand clear of the next? */
bool choose_is_clear(const double *eigenvalues, const double *residuals, int64_t k);
/* gap, relative gap and gap_clear of row->k from the first n of them. */
void choose_k_gaps(ddsc_k_row *row, const double *eigenvalues, const double *residuals, int64_t n);
/* Does the gap part clusters of very different size, where another K has far more modularity? */
bool choose_lopsided(const ddsc_k_row *gap, const ddsc_k_row *modular);
/* Index of the row to take: the largest relative gap when it is at least 2 (2.5 where it is lopsided and the other K is
 * stable), else the highest modularity (ties: smaller K). *by_gap says which. */
int64_t choose_row(const ddsc_k_row *rows, int64_t n, bool *by_gap);

/* A K worth looking at, and what speaks for it. */
typedef struct k_candidate {
    const ddsc_k_row *row;
    bool gap, modularity, stability;
    /* The gap of the K taken is lopsided: its large cluster may hide classes, which this K would show. */
    bool hidden;
} k_candidate;

enum { CANDIDATES_MOST = DDSC_CANDIDATES_MOST };
/* Of a sweep: `chosen` first, then those of the widest relative gap, of the highest modularity, and the largest
 * whose halves agree nearly as well as any. How many there are. */
int64_t choose_candidates(k_candidate *out, const ddsc_k_row *const *rows, int64_t n,
                          int64_t chosen);

/* ---- beyond flat clusters ---- */

/* out (k - 1): the tree over the clusters, by the affinity between them. size (k): how many items each
 * counts. center (k x dim, used up; or NULL): where they lie. */
ddsc_status cluster_merges(ddsc_context *ctx, ddsc_merge *out, const sparse *a,
                           const int32_t *labels, int64_t k, const int64_t *size, double *center,
                           int64_t dim);

/* ---- the result ---- */

struct ddsc_clustering {
    ddsc_context *ctx;
    ddsc_clustering_view view;
    int32_t *labels;
    double *embedding;
    double *eigenvalues;          /* of the eigenvectors found */
    double *spectrum, *residuals; /* those reported: with those of components left out */
    ddsc_pair_stats pairs;
    metric_resolved metric; /* what was used, where the clustering is of measures */
    ddsc_detail *details;
    ddsc_k_row *sweep;
    const ddsc_k_row **sweep_list; /* the rows, one pointer each */
    int32_t *sweep_labels;
    int32_t *cells; /* n: labels before small clusters were merged */
    double *radius; /* n: length of the row before it was normalised, over sqrt(degree) */
    ddsc_graph *graph;
    char *advice;
    bool has_far_items; /* the advice names items far from all others */
    char *resume;       /* the folder of ddsc_context_set_resume, or NULL */
    sparse affinity;
    double *scale; /* n, or NULL with one gamma */
    double scale_floor;
    ddsc_joined_row *joined;
    const ddsc_joined_row **joined_list; /* the rows, one pointer each */
};

/* rank (n): 0 .. n-1 along the first direction of diffusion. */
ddsc_status cluster_direction(ddsc_context *ctx, int64_t *rank, const ddsc_clustering *c);

/* ---- several metrics as one (join.c) ---- */

/* How many metrics there are; those that are joined are bits of a number. */
enum { CLUSTER_METRICS = DDSC_METRIC_W1 + 1 };

typedef struct joined_graphs {
    int64_t n_parts;
    sparse a, wide; /* sums of the normalised affinities; wide: of more neighbours, or empty */
    affinity_report report; /* of the parts together; gamma of the first */
    double last_gamma;      /* of the one added last; 0 with local scaling */
} joined_graphs;

/* Adds the graph of one metric; `wide` may be NULL. */
ddsc_status cluster_join_add(ddsc_context *ctx, joined_graphs *j, const ddsc_graph *graph,
                             const ddsc_graph *wide, const affinity_settings *how);
/* The same of an affinity, which is taken over. */
ddsc_status cluster_join_take(ddsc_context *ctx, joined_graphs *j, sparse *a);
/* From sums to means. */
void cluster_join_finish(joined_graphs *j);
void cluster_join_free(ddsc_context *ctx, joined_graphs *j);
/* Counts of runs over pairs, one after the other. */
void cluster_join_stats(ddsc_pair_stats *sum, const ddsc_pair_stats *next);

/* Everything after the graph. `wide` (or NULL) is a graph of more neighbours for the modularity;
 * `joined` (or NULL) has the affinities instead of both, and gives them away.
 * kept (or NULL) takes over the decomposition; free it with decomposition_free. */
ddsc_status spectral_fit(ddsc_context *ctx, ddsc_clustering *c, decomposition *kept,
                         const ddsc_graph *graph, const ddsc_graph *wide, joined_graphs *joined,
                         const ddsc_cluster_settings *set);
/* Settings taken and checked: set.metric and set.graph point at the two beside it, so a plan stays
 * where it is. */
typedef struct cluster_plan {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} cluster_plan;

/* Does every joined metric take the settings, its cost above all? */
ddsc_status cluster_check_parts(ddsc_context *ctx, const cluster_plan *plan);
/* Defaults, then the caller's fields, then every one checked. */
ddsc_status cluster_settings_take(ddsc_context *ctx, cluster_plan *plan,
                                  const ddsc_cluster_settings *given);

/* The part after the graph as a clustering of its own. */
ddsc_status cluster_graph(ddsc_context *ctx, ddsc_clustering **out, const ddsc_graph *graph,
                          const ddsc_cluster_settings *set);
/* What a call of measures begins with: settings taken, items checked, what is odd told. */
ddsc_status cluster_prepare(ddsc_context *ctx, cluster_plan *plan, const ddsc_measures *data,
                            const ddsc_cluster_settings *given);
/* The settings of the metric that comes after `before` among those joined (-1: the first); false: none. */
bool cluster_part(ddsc_metric_settings *part, const ddsc_cluster_settings *set, int before);

/* The whole chain; settings as cluster_settings_take left them. */
ddsc_status cluster_fit(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                        const ddsc_measures *data, const ddsc_cluster_settings *set);

#endif
