/* cluster: computes labels from a graph, and measures the quality of the clusters. */
#ifndef DDSC_CLUSTER_SPECTRAL_CLUSTER_H
#define DDSC_CLUSTER_SPECTRAL_CLUSTER_H

#include "data/model.h"
#include "neighbors/metric/metric.h"
#include "numeric/eigen/eigen.h"
#include "numeric/graph/graph.h"
#include "numeric/kmeans/kmeans.h"

/* Computes the mean adjusted Rand index, over several random splits, between the k-means clusters
 * of both halves of the rows. A value of 1 means that both halves give the same clusters. Sets
 * *result to NaN if there are too few rows. */
ddsc_status halves_agreement(ddsc_context *ctx, double *result, int64_t n, int64_t dim,
                             const double *rows, int64_t k);
/* Computes the mean overlap (Jaccard), over the same splits, of one cluster of `labels` with the
 * most similar k-means cluster of a half (compare Hennig 2007). Sets *result to NaN if there are
 * too few rows. */
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
    int64_t n_columns;              /* number of sampled columns of the graph */
    double columns_error;
    eigen_result eigen;
} decomposition;

/* Returns the number of eigenvectors used for K clusters: K in the paper's algorithm, and max(30,
 * min(3K, K + 200)) otherwise. */
int64_t embed_width(int64_t k, bool paper);
/* Computes the rows (n x width) from the first `width` eigenvectors and normalizes them. Unless
 * `paper` is true, each eigenvector is first weighted by lambda^p, where p is chosen so that the
 * sum of lambda^(2p) is K. The rows of items without an eigenvector are zero. Sets length (n) to
 * the length of each row before normalization, or to 0 if the row was not computed from the
 * eigenvectors. */
ddsc_status embed_rows(ddsc_context *ctx, double *rows, double *length, int64_t width,
                       decomposition *d, int64_t k, bool paper);

/* ---- small clusters ---- */

typedef struct small_rule {
    /* minimum size of a cluster; clusters of more than tau + 1 items without edges to other
     * clusters are exempt */
    double least;
    int64_t keep; /* requested number of clusters */
} small_rule;

/* Counts how many of the k clusters in `labels` satisfy the rule. */
ddsc_status small_count(ddsc_context *ctx, int64_t *n_passing, const int32_t *labels, int64_t k,
                        const decomposition *d, const small_rule *rule);
/* Keeps the `keep` largest clusters that satisfy the rule. Merges every other cluster into the
 * cluster with the strongest link to it, or into the largest cluster if it has no link. Renumbers
 * the labels, and sets *n_merged to the number of merged clusters. */
ddsc_status small_merge(ddsc_context *ctx, int32_t *labels, int64_t *k, int64_t *n_merged,
                        const decomposition *d, const small_rule *rule);

/* ---- the choice of K ---- */

/* Computes Newman's modularity of k clusters on a weighted graph. */
ddsc_status cluster_modularity(ddsc_context *ctx, double *q, const sparse *a, const int32_t *labels,
                               int64_t k);
/* Returns true if the k-th smallest eigenvalue of the Laplacian is clearly separated from the next
 * eigenvalue. */
bool choose_is_clear(const double *eigenvalues, const double *residuals, int64_t k);
/* Returns the ratio of two consecutive eigenvalues. A small offset keeps the ratio of two tiny
 * eigenvalues close to 1. */
double choose_relative_gap(double last, double next);
/* Computes gap, relative_gap and gap_clear for row->k from the first n eigenvalues. */
void choose_k_gaps(ddsc_k_row *row, const double *eigenvalues, const double *residuals, int64_t n);
/* Returns the index of the chosen row: the row with the largest relative gap if this gap is at
 * least 3, and otherwise the row with the highest product of modularity and stability (ties:
 * smaller K). Sets *by_gap to true if the gap decided. */
int64_t choose_row(const ddsc_k_row *rows, int64_t n, bool *by_gap);

/* A promising K, and the criteria that favor it. */
typedef struct k_candidate {
    const ddsc_k_row *row;
    bool gap, modularity, stability;
    /* The gap of the chosen K separates clusters of very different sizes, and the large cluster may
     * contain classes that this K would separate. */
    bool hidden;
} k_candidate;

enum { CANDIDATES_MOST = DDSC_CANDIDATES_MOST };
/* Lists the candidates of a sweep and returns their number. The chosen K comes first. The other
 * candidates are the K with the largest relative gap, the K with the highest modularity, and the
 * largest K whose stability is nearly the best. */
int64_t choose_candidates(k_candidate *out, const ddsc_k_row *const *rows, int64_t n,
                          int64_t chosen);

/* ---- the result ---- */

struct ddsc_clustering {
    ddsc_context *ctx;
    ddsc_clustering_view view;
    int32_t *labels;
    double *embedding;
    double *eigenvalues;          /* one per computed eigenvector */
    double *spectrum, *residuals; /* values for reports, including those of excluded components */
    ddsc_pair_stats pairs;
    metric_resolved metric; /* the settings used, if items were clustered */
    ddsc_detail *details;
    ddsc_k_row *sweep;
    const ddsc_k_row **sweep_list; /* pointers to the rows */
    int32_t *sweep_labels;
    int32_t *cells; /* n: labels before small clusters were merged */
    double *radius; /* n: row length before normalization, divided by sqrt(degree) */
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
    word_mixture mixture;                /* mixture of the refined labels */
    int32_t *fresh;                      /* n_fresh: items inserted since K was chosen, ascending */
    int64_t n_fresh;
};

/* Returns the labels before refinement. The verdict uses these labels, because a mixture of words
 * divides texts reproducibly even if there are no clusters. */
static inline const int32_t *cluster_spectral_labels(const ddsc_clustering *c)
{
    return c->spectral ? c->spectral : c->labels;
}

/* Computes the centers of the k-means cells in the embedding, and the label of each cell before
 * refinement. Items without a row are ignored. */
ddsc_status cluster_find_centers(ddsc_context *ctx, double **center, int32_t **center_label,
                                 int64_t *n_centers, const ddsc_clustering *c);
/* These two functions fit the softness of memberships by distance to the centers and of memberships
 * by words (membership.h). */
ddsc_status cluster_distance_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                      const ddsc_clustering *c);
ddsc_status cluster_word_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                  const ddsc_clustering *c, const measures *data);

/* ---- refinement by the words of documents (refine.c) ---- */

/* Fits a mixture of words, starting from the labels of a clustering, and replaces the labels with
 * those of the mixture. Does nothing unless the settings request refinement and the items have word
 * counts. */
ddsc_status cluster_refine(ddsc_context *ctx, ddsc_clustering *c, const ddsc_measures *data,
                           const ddsc_cluster_settings *set);

/* Computes the rank (0 .. n-1) of each item along the first direction of diffusion. */
ddsc_status cluster_direction(ddsc_context *ctx, int64_t *rank, const ddsc_clustering *c);

/* ---- joining several metrics (join.c) ---- */

/* Number of metrics. A set of joined metrics is represented by a bit mask. */
enum { CLUSTER_METRICS = DDSC_METRIC_W1 + 1 };

typedef struct joined_graphs {
    int64_t n_parts;
    sparse a, wide; /* sums of normalized affinities; `wide` has more neighbors or is empty */
    affinity_report report; /* combined report of all metrics, with the gamma of the first metric */
    double last_gamma;      /* gamma of the last metric; 0 with local scaling */
} joined_graphs;

/* Adds the graph of one metric. `wide` may be NULL. */
ddsc_status cluster_join_add(ddsc_context *ctx, joined_graphs *j, const ddsc_graph *graph,
                             const ddsc_graph *wide, const affinity_settings *how);
/* Adds the affinity *a and frees it. */
ddsc_status cluster_join_take(ddsc_context *ctx, joined_graphs *j, sparse *a);
/* Divides the sums by the number of joined metrics. */
void cluster_join_finish(joined_graphs *j);
void cluster_join_free(ddsc_context *ctx, joined_graphs *j);
/* Adds the pair statistics `next` to the sum. */
void cluster_join_stats(ddsc_pair_stats *sum, const ddsc_pair_stats *next);

/* Clusters the items of a graph. `wide` (or NULL) is a graph with more neighbors, used for
 * modularity. `joined` (or NULL) provides the affinities instead of both graphs, and the function
 * takes ownership of these affinities. kept (or NULL) receives the decomposition, which the caller
 * must free with decomposition_free. */
ddsc_status spectral_fit(ddsc_context *ctx, ddsc_clustering *c, decomposition *kept,
                         const ddsc_graph *graph, const ddsc_graph *wide, joined_graphs *joined,
                         const ddsc_cluster_settings *set);
/* Checked settings. set.metric and set.graph point to the other two members, so this struct must
 * not be moved in memory. */
typedef struct cluster_plan {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} cluster_plan;

/* Copies the caller's settings, or the defaults. */
ddsc_status cluster_settings_copy(ddsc_context *ctx, ddsc_cluster_settings *own,
                                  const ddsc_cluster_settings *given);
/* Checks that every joined metric supports the settings, in particular the cost. */
ddsc_status cluster_check_parts(ddsc_context *ctx, const cluster_plan *plan);
/* Copies the caller's settings to *plan, with defaults for missing fields, and checks them. */
ddsc_status cluster_settings_take(ddsc_context *ctx, cluster_plan *plan,
                                  const ddsc_cluster_settings *given);

/* Replaces the settings with the resolved settings of the model plan->set.like. */
ddsc_status cluster_take_like(ddsc_context *ctx, cluster_plan *plan);

/* Creates a clustering from a graph. */
ddsc_status cluster_graph(ddsc_context *ctx, ddsc_clustering **out, const ddsc_graph *graph,
                          const ddsc_cluster_settings *set);
/* Starts a call on measures: copies the settings, checks the items and issues warnings. */
ddsc_status cluster_prepare(ddsc_context *ctx, cluster_plan *plan, const ddsc_measures *data,
                            const ddsc_cluster_settings *given);
/* Sets *part to the settings of the joined metric that follows `before` (-1: the first metric).
 * Returns false if there are no more metrics. */
bool cluster_part(ddsc_metric_settings *part, const ddsc_cluster_settings *set, int before);

/* Applies the transforms of the model's items to `data`, and checks the dimension, the coordinates
 * and the words. Sets *moved to NULL if `data` needs no transform. */
ddsc_status cluster_take_items(ddsc_context *ctx, measures **moved, const ddsc_model *m,
                               const measures *data);

/* Clusters a set of items. The settings must come from cluster_settings_take. */
ddsc_status cluster_fit(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                        const ddsc_measures *data, const ddsc_cluster_settings *set);
typedef struct plan_known plan_known; /* neighbors/planner/plan.h */
/* Does the same, and reuses the neighbor lists of the model set->like in `known` (or NULL). */
ddsc_status cluster_fit_known(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                              const ddsc_measures *data, const ddsc_cluster_settings *set,
                              const plan_known *known);

/* ---- a changed set (update.c) ---- */

/* The remaining items of a model, followed by the new items. */
typedef struct cluster_update {
    measures *set;
    int64_t n_kept, n_added, n_removed;
    int64_t *kept;     /* n_kept: items of the model, ascending */
    ddsc_graph *lists; /* remaining entries of the neighbor lists, with new item numbers; or NULL */
    /* If neighbors were chosen by rescaled distances: the remaining entries of the lists by plain
     * distance, and the scales of the kept items. Otherwise NULL. */
    ddsc_graph *plain;
    double *scale;
    uint8_t *fresh; /* n_kept + n_added: 1 for items inserted since K was chosen */
} cluster_update;

/* Creates the changed set. `added` may be NULL. `removed` contains item numbers of the model. The
 * caller must call cluster_update_free even after an error. */
ddsc_status cluster_update_open(ddsc_context *ctx, cluster_update *u, const ddsc_model *m,
                                const measures *added, int64_t n_removed, const int64_t *removed);
void cluster_update_free(ddsc_context *ctx, cluster_update *u);
/* Returns the number after the largest id that is a number, or 0 if no id is one. */
int64_t cluster_next_id(const measures *items);
/* Creates graphs from the neighbor lists of the model: the lists of the graph, and the lists by
 * plain distance (*plain; NULL if the model has none). */
ddsc_status cluster_model_lists(ddsc_context *ctx, ddsc_graph **lists, ddsc_graph **plain,
                                const ddsc_model *m);
/* Renumbers cluster c as number[c], which is less than k, or negative if the cluster is empty. */
ddsc_status cluster_renumber(ddsc_context *ctx, ddsc_clustering *c, const int32_t *number,
                             int64_t k);

/* The rows of the embedding that are not zero. */
typedef struct packed_rows {
    int64_t n, dim;
    double *rows;  /* n x dim */
    int32_t *item; /* n, ascending */
} packed_rows;

/* Copies the rows. The caller must call cluster_free_rows even after an error. */
ddsc_status cluster_pack_rows(ddsc_context *ctx, packed_rows *p, const ddsc_clustering *c);
void cluster_free_rows(ddsc_context *ctx, packed_rows *p);
/* Runs k-means starting from the clusters of the model, with up to GROWTH_MOST additional clusters
 * that start at new items. If the objective is nearly as good as that of the clustering, uses the
 * labels from this run. */
ddsc_status cluster_continue(ddsc_context *ctx, ddsc_clustering *c, const cluster_update *u,
                             const ddsc_model *m, const ddsc_cluster_settings *set);

/* ---- more clusters (growth.c) ---- */

/* Marks the items of the changed set that were inserted since K was chosen. At most half of the
 * items are marked: if more are new, the oldest are left out, but never the items of this
 * update. */
ddsc_status cluster_mark_new(ddsc_context *ctx, cluster_update *u, const ddsc_model *m);
/* Returns true if enough new items have mostly new neighbors, so that they may form another
 * cluster. */
bool cluster_can_grow(const ddsc_clustering *c, const cluster_update *u,
                      const ddsc_cluster_settings *set);
/* A trial with n_most additional clusters. */
enum { GROWTH_MOST = 3 };
typedef struct growth_trial {
    int64_t n_most, n;                            /* n: number of candidates, at most n_most */
    ddsc_update_candidate candidate[GROWTH_MOST]; /* by increasing p-value */
    int32_t label[GROWTH_MOST];
    bool mostly_new, found; /* all n_most candidates are mostly new; all are found in halves */
    double least_overlap;
} growth_trial;

/* Fills the trial from a clustering with t->n_most additional clusters. same[c] is negative for
 * clusters that do not continue an old cluster. */
ddsc_status cluster_judge_growth(ddsc_context *ctx, growth_trial *t, const ddsc_clustering *more,
                                 const int32_t *same, const uint8_t *fresh);
/* Describes the candidate in a sentence. The caller frees *words. */
ddsc_status cluster_growth_words(ddsc_context *ctx, char **words, const ddsc_update_candidate *c);
/* Moves the graph, and everything else that does not depend on K, from `c` to `more`. */
void cluster_take_graph(ddsc_clustering *more, ddsc_clustering *c);
/* Stores the marks of new items in the clustering, without the items of the clusters in `added` (or
 * NULL). */
ddsc_status cluster_keep_marks(ddsc_context *ctx, ddsc_clustering *c, const uint8_t *fresh,
                               const growth_trial *added);

#endif
