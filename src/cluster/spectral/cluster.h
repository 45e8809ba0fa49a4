/* cluster: computes labels from a graph, and measures the quality of the clusters. */
#ifndef DDSC_CLUSTER_SPECTRAL_CLUSTER_H
#define DDSC_CLUSTER_SPECTRAL_CLUSTER_H

#include "data/model.h"
#include "neighbors/metric/metric.h"
#include "numeric/eigen/eigen.h"
#include "numeric/graph/graph.h"
#include "numeric/kmeans/kmeans.h"

/* Computes the mean adjusted Rand index between k-means results from two random halves of the rows,
 * over several random splits. A value of 1 means that both halves give the same clusters. The
 * result is NaN if there are too few rows. */
ddsc_status halves_agreement(ddsc_context *ctx, double *result, int64_t n, int64_t dim,
                             const double *rows, int64_t k);
/* Computes the mean overlap (Jaccard) of one cluster of `labels` with the most similar cluster that
 * k-means finds in a random half of the rows, over the same splits (compare Hennig 2007). The result
 * is NaN if there are too few rows. */
ddsc_status halves_overlap(ddsc_context *ctx, double *result, int64_t n, int64_t dim,
                           const double *rows, int64_t k, const int32_t *labels, int32_t cluster);

/* ---- one decomposition, shared by every K ---- */

typedef struct decomposition {
    int64_t n, tau;
    sparse a; /* the affinity */
    affinity_report affinity;
    double *degree;
    int64_t n_components;
    int32_t *part;                  /* component of each item, or -1 if the item is excluded */
    int64_t n_parts;                /* number of components that are not excluded */
    int64_t n_left_out, n_isolated; /* number of excluded items; number of items without any edge */
    int64_t n_columns; /* number of sampled columns of the graph; error of the other distances */
    double columns_error;
    eigen_result eigen;
} decomposition;

/* Returns the number of eigenvectors used for K clusters: K in the paper's algorithm, otherwise
 * max(30, min(3K, K + 200)). */
int64_t embed_width(int64_t k, bool paper);
/* Computes the rows (n x width) from the first `width` eigenvectors and normalizes them. Unless
 * `paper` is true, each eigenvector is first weighted by lambda^p, where p is chosen so that the
 * sum of lambda^(2p) is K. The rows of items without an eigenvector are zero. length (n) is the
 * length of each row before normalization, or 0 if the row was not computed from the
 * eigenvectors. */
ddsc_status embed_rows(ddsc_context *ctx, double *rows, double *length, int64_t width,
                       decomposition *d, int64_t k, bool paper);

/* ---- clusters that are too small ---- */

typedef struct small_rule {
    /* minimum size of a cluster; clusters that have no edges to others and more than tau + 1 items
     * are exempt */
    double least;
    int64_t keep; /* requested number of clusters */
} small_rule;

/* Counts the clusters of `labels` (k of them) that satisfy the rule. */
ddsc_status small_count(ddsc_context *ctx, int64_t *n_passing, const int32_t *labels, int64_t k,
                        const decomposition *d, const small_rule *rule);
/* Keeps the `keep` largest clusters that satisfy the rule. Each other cluster is merged into the
 * one with the strongest link to it, or into the largest one if it has no link. Labels are
 * renumbered. *n_merged is the number of clusters that were merged. */
ddsc_status small_merge(ddsc_context *ctx, int32_t *labels, int64_t *k, int64_t *n_merged,
                        const decomposition *d, const small_rule *rule);

/* ---- the choice of K ---- */

/* Computes Newman's modularity of labels (k of them) on a weighted graph. */
ddsc_status cluster_modularity(ddsc_context *ctx, double *q, const sparse *a, const int32_t *labels,
                               int64_t k);
/* Returns true if the k-th smallest eigenvalue of the Laplacian is clearly separated from the next
 * one. */
bool choose_is_clear(const double *eigenvalues, const double *residuals, int64_t k);
/* Returns the ratio of two consecutive eigenvalues. A small offset keeps the ratio of two tiny
 * eigenvalues close to 1. */
double choose_relative_gap(double last, double next);
/* Computes gap, relative_gap and gap_clear for row->k from the first n eigenvalues. */
void choose_k_gaps(ddsc_k_row *row, const double *eigenvalues, const double *residuals, int64_t n);
/* Returns the index of the row to choose. This is the row with the largest relative gap if that gap
 * is at least 3. Otherwise it is the row with the highest product of modularity and stability (ties:
 * smaller K). *by_gap is true if the gap decided. */
int64_t choose_row(const ddsc_k_row *rows, int64_t n, bool *by_gap);

/* A promising K, and the criteria that favor it. */
typedef struct k_candidate {
    const ddsc_k_row *row;
    bool gap, modularity, stability;
    /* True if the gap of the chosen K separates clusters of very different size, and the large
     * cluster may contain classes that this K would separate. */
    bool hidden;
} k_candidate;

enum { CANDIDATES_MOST = DDSC_CANDIDATES_MOST };
/* Lists the candidates of a sweep and returns their number. The chosen K comes first. The other
 * candidates are those with the largest relative gap, with the highest modularity, and the largest
 * K with nearly the best stability. */
int64_t choose_candidates(k_candidate *out, const ddsc_k_row *const *rows, int64_t n,
                          int64_t chosen);

/* ---- hierarchy of clusters ---- */

/* ---- the result ---- */

struct ddsc_clustering {
    ddsc_context *ctx;
    ddsc_clustering_view view;
    int32_t *labels;
    double *embedding;
    double *eigenvalues;          /* one per computed eigenvector */
    double *spectrum, *residuals; /* values for reports, which include those of excluded
                                   * components */
    ddsc_pair_stats pairs;
    metric_resolved metric; /* the settings used, if items were clustered */
    ddsc_detail *details;
    ddsc_k_row *sweep;
    const ddsc_k_row **sweep_list; /* pointers to the rows */
    int32_t *sweep_labels;
    int32_t *cells; /* n: labels before small clusters were merged */
    double *radius; /* n: length of each row before normalization, divided by sqrt(degree) */
    ddsc_graph *graph;
    char *advice;
    bool has_far_items; /* true if the advice names items that are far from all others */
    char *resume;       /* folder set by ddsc_context_set_resume, or NULL */
    sparse affinity;
    double *scale; /* n; NULL if all items have the same gamma */
    double scale_floor;
    ddsc_joined_row *joined;
    const ddsc_joined_row **joined_list; /* pointers to the rows */
    int32_t *spectral;                   /* n: labels before refinement; NULL: not refined */
    word_mixture mixture;                /* of refined labels */
    int32_t *fresh;                      /* n_fresh: items inserted since K was chosen, ascending */
    int64_t n_fresh;
};

/* Returns the labels before refinement. The verdict uses these, because a mixture of words divides
 * texts reproducibly even if they have no clusters. */
static inline const int32_t *cluster_spectral_labels(const ddsc_clustering *c)
{
    return c->spectral ? c->spectral : c->labels;
}

/* Computes the centers of the k-means cells in the embedding, and the labels of the cells before
 * refinement. Items without a row are ignored. */
ddsc_status cluster_find_centers(ddsc_context *ctx, double **center, int32_t **center_label,
                                 int64_t *n_centers, const ddsc_clustering *c);
/* These functions fit the softness of memberships that are computed from distances to the centers
 * and from words (membership.h). */
ddsc_status cluster_distance_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                      const ddsc_clustering *c);
ddsc_status cluster_word_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                  const ddsc_clustering *c, const measures *data);

/* ---- refinement by the words of documents (refine.c) ---- */

/* Replaces the labels of a clustering by those of a mixture of words that starts from them. Does
 * nothing unless the settings request it and the items have word counts. */
ddsc_status cluster_refine(ddsc_context *ctx, ddsc_clustering *c, const ddsc_measures *data,
                           const ddsc_cluster_settings *set);

/* Computes the rank (0 .. n-1) of each item along the first direction of diffusion. */
ddsc_status cluster_direction(ddsc_context *ctx, int64_t *rank, const ddsc_clustering *c);

/* ---- joining several metrics (join.c) ---- */

/* Number of metrics. A set of joined metrics is represented by a bit mask. */
enum { CLUSTER_METRICS = DDSC_METRIC_W1 + 1 };

typedef struct joined_graphs {
    int64_t n_parts;
    sparse a, wide; /* sums of the normalized affinities; `wide` has more neighbors, or is empty */
    affinity_report report; /* combined report of all metrics; gamma is that of the first metric */
    double last_gamma;      /* gamma of the metric added last; 0 with local scaling */
} joined_graphs;

/* Adds the graph of one metric. `wide` may be NULL. */
ddsc_status cluster_join_add(ddsc_context *ctx, joined_graphs *j, const ddsc_graph *graph,
                             const ddsc_graph *wide, const affinity_settings *how);
/* Adds an affinity and frees it. The caller must not use it afterwards. */
ddsc_status cluster_join_take(ddsc_context *ctx, joined_graphs *j, sparse *a);
/* Divides the sums by the number of joined metrics. */
void cluster_join_finish(joined_graphs *j);
void cluster_join_free(ddsc_context *ctx, joined_graphs *j);
/* Adds the statistics of consecutive runs over pairs. */
void cluster_join_stats(ddsc_pair_stats *sum, const ddsc_pair_stats *next);

/* Clusters the items of a graph. `wide` (or NULL) is a graph with more neighbors, used for
 * modularity. `joined` (or NULL) provides the affinities instead of both graphs; the function takes
 * ownership of it. kept (or NULL) receives the decomposition, which the caller frees with
 * decomposition_free. */
ddsc_status spectral_fit(ddsc_context *ctx, ddsc_clustering *c, decomposition *kept,
                         const ddsc_graph *graph, const ddsc_graph *wide, joined_graphs *joined,
                         const ddsc_cluster_settings *set);
/* Checked settings. set.metric and set.graph point to the other two members, so the struct must not
 * be moved in memory. */
typedef struct cluster_plan {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} cluster_plan;

/* Copies the caller's fields, or the defaults. */
ddsc_status cluster_settings_copy(ddsc_context *ctx, ddsc_cluster_settings *own,
                                  const ddsc_cluster_settings *given);
/* Checks that every joined metric accepts the settings, in particular the cost. */
ddsc_status cluster_check_parts(ddsc_context *ctx, const cluster_plan *plan);
/* Starts from the defaults, copies the caller's fields and checks all fields. */
ddsc_status cluster_settings_take(ddsc_context *ctx, cluster_plan *plan,
                                  const ddsc_cluster_settings *given);

/* Replaces the settings by the resolved settings of the model plan->set.like. */
ddsc_status cluster_take_like(ddsc_context *ctx, cluster_plan *plan);

/* Clusters the items of a graph and creates a clustering. */
ddsc_status cluster_graph(ddsc_context *ctx, ddsc_clustering **out, const ddsc_graph *graph,
                          const ddsc_cluster_settings *set);
/* Starts a call on measures: copies the settings, checks the items and issues warnings. */
ddsc_status cluster_prepare(ddsc_context *ctx, cluster_plan *plan, const ddsc_measures *data,
                            const ddsc_cluster_settings *given);
/* Returns the settings of the joined metric that follows `before` in *part (-1: the first metric).
 * Returns false if there are no more metrics. */
bool cluster_part(ddsc_metric_settings *part, const ddsc_cluster_settings *set, int before);

/* Applies the transforms of the model's items to `data`, and checks dimension, coordinates and
 * words. *moved is NULL if `data` needs no transform. */
ddsc_status cluster_take_items(ddsc_context *ctx, measures **moved, const ddsc_model *m,
                               const measures *data);

/* Clusters a set of items. The settings must come from cluster_settings_take. */
ddsc_status cluster_fit(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                        const ddsc_measures *data, const ddsc_cluster_settings *set);
typedef struct plan_known plan_known; /* neighbors/planner/plan.h */
/* Does the same with the neighbor lists of the model set->like in `known` (or NULL). */
ddsc_status cluster_fit_known(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                              const ddsc_measures *data, const ddsc_cluster_settings *set,
                              const plan_known *known);

/* ---- a changed set (update.c) ---- */

/* The items of a model without the removed ones, followed by new ones. */
typedef struct cluster_update {
    measures *set;
    int64_t n_kept, n_added, n_removed;
    int64_t *kept;     /* n_kept: items of the model, ascending */
    ddsc_graph *lists; /* remaining entries of their neighbor lists, with the new item numbers; or
                        * NULL */
    /* The same for the lists of nearest items, and the scales of the kept items, if neighbors were chosen
     * by rescaled distances; or NULL. */
    ddsc_graph *plain;
    double *scale;
    uint8_t *fresh; /* n_kept + n_added: 1 for items inserted since K was chosen */
} cluster_update;

/* Creates the changed set. `added` may be NULL. removed contains items of the model. On error, the
 * caller still has to call cluster_update_free. */
ddsc_status cluster_update_open(ddsc_context *ctx, cluster_update *u, const ddsc_model *m,
                                const measures *added, int64_t n_removed, const int64_t *removed);
void cluster_update_free(ddsc_context *ctx, cluster_update *u);
/* Creates the graphs of the model's neighbor lists. *plain is NULL if the model has no such lists. */
ddsc_status cluster_model_lists(ddsc_context *ctx, ddsc_graph **lists, ddsc_graph **plain,
                                const ddsc_model *m);
/* Gives cluster c the number number[c], which is less than k or, for an empty cluster, negative. */
ddsc_status cluster_renumber(ddsc_context *ctx, ddsc_clustering *c, const int32_t *number,
                             int64_t k);

/* The rows of the embedding that are not zero. */
typedef struct packed_rows {
    int64_t n, dim;
    double *rows;  /* n x dim */
    int32_t *item; /* n, ascending */
} packed_rows;

/* Copies the rows. On error, the caller still has to call cluster_free_rows. */
ddsc_status cluster_pack_rows(ddsc_context *ctx, packed_rows *p, const ddsc_clustering *c);
void cluster_free_rows(ddsc_context *ctx, packed_rows *p);
/* Replaces the partition by the one that k-means finds from the clusters of the model, if its
 * objective is nearly as good. Up to GROWTH_MOST more clusters start at new items. */
ddsc_status cluster_continue(ddsc_context *ctx, ddsc_clustering *c, const cluster_update *u,
                             const ddsc_model *m, const ddsc_cluster_settings *set);

/* ---- more clusters (growth.c) ---- */

/* Marks the items of the changed set that were inserted since K was chosen. If they are more than
 * half of the items, the oldest of them are not marked, except those of this update. */
ddsc_status cluster_mark_new(ddsc_context *ctx, cluster_update *u, const ddsc_model *m);
/* Returns true if enough new items have mostly new neighbors, so that another cluster can consist of
 * new items. */
bool cluster_can_grow(const ddsc_clustering *c, const cluster_update *u,
                      const ddsc_cluster_settings *set);
/* The clusters that n_most more clusters than before would add. */
enum { GROWTH_MOST = 3 };
typedef struct growth_trial {
    int64_t n_most, n; /* n: number of clusters without the same old one, at most n_most */
    ddsc_update_candidate candidate[GROWTH_MOST]; /* by increasing p-value */
    int32_t label[GROWTH_MOST];
    bool mostly_new, found; /* true if all n_most candidates are */
    double least_overlap;
} growth_trial;

/* Fills the trial from a clustering with t->n_most more clusters. same[c] is negative for clusters
 * that continue no old one. */
ddsc_status cluster_judge_growth(ddsc_context *ctx, growth_trial *t, const ddsc_clustering *more,
                                 const int32_t *same, const uint8_t *fresh);
/* Describes the candidate in a sentence. The caller frees *words. */
ddsc_status cluster_growth_words(ddsc_context *ctx, char **words, const ddsc_update_candidate *c);
/* Moves the graph and everything else that does not depend on K from `c`. */
void cluster_take_graph(ddsc_clustering *more, ddsc_clustering *c);
/* Stores the marks in the clustering, except those of the clusters that were added (or NULL). */
ddsc_status cluster_keep_marks(ddsc_context *ctx, ddsc_clustering *c, const uint8_t *fresh,
                               const growth_trial *added);

#endif
