/* planner: checks and resolves settings, chooses the search for a graph, and runs the search.
 * plan_choose creates a plan (search_plan) from the settings and a few facts, without computing any
 * distance. plan_run executes the plan, and records the chosen path and the reason in the context's
 * notes. */
#ifndef DDSC_NEIGHBORS_PLANNER_PLAN_H
#define DDSC_NEIGHBORS_PLANNER_PLAN_H

#include "neighbors/metric/metric.h"
#include "neighbors/search/search.h"
#include "numeric/graph/graph.h"

/* ---- settings: each function copies and checks the caller's fields; missing fields get defaults
 * ---- */

ddsc_status plan_take_metric(ddsc_context *ctx, ddsc_metric_settings *own,
                             const ddsc_metric_settings *given);
/* If `for_clusters` is true, `hubs` has the default for clustering. */
ddsc_status plan_take_graph(ddsc_context *ctx, ddsc_graph_settings *own,
                            const ddsc_graph_settings *given, bool for_clusters);
/* If `paper` is set in one of the settings structs, sets it in all of them. */
ddsc_status plan_follow_paper(ddsc_context *ctx, ddsc_metric_settings *metric,
                              ddsc_graph_settings *graph);
/* Copies resolved settings to the caller's structs. */
ddsc_status plan_give_settings(ddsc_context *ctx, ddsc_metric_settings *metric,
                               ddsc_graph_settings *graph, const ddsc_metric_settings *own_metric,
                               const ddsc_graph_settings *own_graph);
ddsc_status plan_check_metric(ddsc_context *ctx, const ddsc_metric_settings *settings);
ddsc_status plan_check_graph(ddsc_context *ctx, const ddsc_graph_settings *settings);

/* Returns the name of a valid cost. */
const char *plan_cost_name(int64_t cost);
/* Fails if exact_graph = pruned is requested although the metric `name` has no lower bounds. */
ddsc_status plan_check_pruned(ddsc_context *ctx, ddsc_exact_graph asked, const char *name);
/* Returns the number of neighbors to use: resolves tau = 0, and limits tau to n - 1. */
int64_t plan_tau_for_count(int64_t n, const ddsc_graph_settings *settings);
/* Returns the number of neighbors to use for the items of a set. The default is larger for
 * documents. */
int64_t plan_tau_for_items(const measures *m, const ddsc_graph_settings *settings);

/* Computes the matrix of a set. If n_old >= 0, computes only the block whose rows are the first
 * n_old items and whose columns are the other items. */
ddsc_status plan_matrix(ddsc_context *ctx, double *out, ddsc_pair_stats *stats, const measures *m,
                        int64_t n_old, const ddsc_metric_settings *given, unsigned flags);

/* ---- warnings before a run (input_warnings.c) ---- */

/* Warns if tau is not less than the number of items. */
void plan_warn_tau(ddsc_context *ctx, int64_t n, const ddsc_graph_settings *set);
/* Warns if all items have the same distance from each other because of the bandwidth. */
ddsc_status plan_warn_bandwidth(ddsc_context *ctx, const measures *m,
                                const ddsc_metric_settings *set);
/* Warns if more clusters are requested than there are distinct items. */
ddsc_status plan_warn_clusters(ddsc_context *ctx, const measures *m, int64_t k);
/* Warns if one coordinate accounts for nearly all of the distances, or is probably an id. */
ddsc_status plan_warn_coordinates(ddsc_context *ctx, const measures *m);
/* Returns true if all edges connect equal items. The items of a component are then
 * indistinguishable, even if the metric assigns a positive distance to equal items. */
bool plan_joins_copies(const measures *m, const ddsc_graph *g);

/* ---- a graph request: settings resolved for a set (settings.c, run.c) ---- */

typedef struct graph_request {
    const measures *m;
    metric_resolved metric;
    ddsc_graph_settings graph;
    int64_t tau;
    bool fills; /* estimate the pairs that a sample omits */
} graph_request;

/* Resolves checked settings for a set. `frame` is the frame of an earlier run, or NULL (see
 * metric_settle). The caller frees p->metric with metric_resolved_free. */
ddsc_status plan_resolve(ddsc_context *ctx, graph_request *p, const measures *m,
                         const ddsc_metric_settings *metric, const ddsc_graph_settings *graph,
                         const pair_frame *frame);
/* Chooses a search and runs it. The graph contains the `tau` nearest neighbors of each item, where
 * tau may exceed p->tau. Neighbors are sorted by rank; graph_sort sorts them by D^2. */
ddsc_status plan_neighbors(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const graph_request *p, int64_t tau);
/* Finds the neighbors of each later item among the first n_old items, ranked with the scales `by`
 * of the first items (or NULL). List c of the graph belongs to item n_old + c. */
ddsc_status plan_query(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                       const graph_request *p, int64_t n_old, int64_t tau, const local_scales *by);

static inline bool plan_same_frame(const pair_frame *a, const pair_frame *b)
{
    return a->kind == b->kind && a->unit == b->unit && a->spread == b->spread &&
           a->step[0] == b->step[0] && a->step[1] == b->step[1];
}

/* The neighbor lists of an earlier graph, for an updated set. The first n_kept items are the
 * remaining items of the earlier set, and `lists` contains the remaining entries of their lists,
 * with new item numbers (see search_update). */
typedef struct plan_known {
    const ddsc_graph *lists;
    /* If neighbors were chosen by rescaled distances: the lists by plain distance, and the scales
     * of the items. NULL otherwise, or if unknown. */
    const ddsc_graph *plain;
    const double *scale;
    int64_t n_kept;
} plan_known;

/* Returns the reason why plan_update cannot compute the graph, or NULL if it can. `known` may be
 * NULL. */
const char *plan_update_refused(ddsc_context *ctx, const graph_request *p, const plan_known *known);
/* Computes the same graph as plan_neighbors from the lists of an earlier graph with the same
 * settings and frame. The cost is proportional to the size of the change. */
ddsc_status plan_update(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                        const graph_request *p, const plan_known *known);

/* ---- choosing a search without computing distances (choose.c) ---- */

typedef enum plan_input { PLAN_OF_METRIC, PLAN_OF_VECTORS, PLAN_OF_MATRIX } plan_input;

/* Facts about the input that determine the choice in addition to the settings. */
typedef struct plan_facts {
    plan_input input;
    const char *metric; /* name of the metric */
    /* number of items; if n_old > 0, only pairs of one of the first n_old items with a later item
     * count */
    int64_t n, n_old;
    bool bounds, rows;   /* the metric has lower bounds; it may have float rows for a prefilter */
    const char *against; /* reason against a pruned search (bounds->pays), or NULL */
} plan_facts;

typedef enum plan_path {
    PLAN_FULL,
    PLAN_PREFILTER,
    PLAN_PRUNED,
    PLAN_SAMPLED,
    PLAN_APPROXIMATE,
    PLAN_COLUMNS,
    PLAN_MATRIX /* all values are known */
} plan_path;

typedef enum plan_reason {
    PLAN_DEFAULT,
    PLAN_ASKED,
    PLAN_MANY_ITEMS,
    PLAN_CHEAP_BOUNDS,
    PLAN_NO_BOUNDS,
    PLAN_ALL_ASKED,
    PLAN_SAMPLE_ASKED,
    PLAN_NO_PAIRS,
    PLAN_ADVISED,  /* the metric advises against a pruned search; see search_plan.against */
    PLAN_ALL_NEAR, /* every item is a neighbor of every other item */
    PLAN_FEW_ITEMS,
    PLAN_NO_ROWS,
    PLAN_ROUNDING
} plan_reason;

typedef struct search_plan {
    plan_path path;
    plan_reason why;
    const char *metric, *against; /* copied from the facts */
    int64_t n, n_old;
    int64_t tau;         /* neighbors per item */
    double sample;       /* FULL, SAMPLED: fraction of the pairs */
    int64_t n_columns;   /* COLUMNS */
    bool must_prefilter; /* PREFILTER: fail if the metric has no rows */
    /* a ddsc_hubs other than DEFAULT; number of neighbors per item that count in in-degrees */
    int64_t hubs, hubs_tau;
    bool keeps_values;      /* store the values for a second search over the same pairs */
    const local_scales *by; /* scales that divide the distances, or NULL */
    /* The following fields are set after the metric is opened, for plan_describe. */
    int64_t row_columns;      /* PREFILTER */
    bool level[BOUND_LEVELS]; /* PRUNED */
} search_plan;

/* Chooses the search for a graph of the tau nearest neighbors. See graph_request for `fills`. */
search_plan plan_choose(const plan_facts *f, const ddsc_graph_settings *set, int64_t tau,
                        bool fills);
/* Replaces a prefilter with a search over all pairs, for the reason `why`. */
search_plan plan_without_prefilter(search_plan plan, plan_reason why);
const char *plan_path_name(plan_path path);
/* Describes the reason for the plan in words, with the relevant numbers. */
void plan_describe(const search_plan *plan, char *words, size_t size);

/* The second search, which ranks neighbors by rescaled distances (hubs.c). */
typedef struct rescaled_plan {
    bool needed;
    search_plan plan; /* plan.by points to the scales below */
    in_degrees plain; /* in-degrees of the first graph */
    double *scale;
    local_scales scales;
    ddsc_graph *nearest; /* the first graph, limited to GRAPH_NEAREST neighbors */
    ddsc_graph *lists;   /* the first graph, limited to the neighbors that determine the scales */
} rescaled_plan;

/* Creates the second plan from the first plan and its graph. */
ddsc_status plan_rescale(ddsc_context *ctx, rescaled_plan *r, const search_plan *first,
                         const ddsc_graph *found);
/* Moves results of the first search to the graph of the second search. */
void plan_rescale_keep(rescaled_plan *r, ddsc_graph *graph);
void plan_rescale_free(ddsc_context *ctx, rescaled_plan *r);

/* ---- running a plan (run.c) ---- */

typedef struct given_matrix given_matrix; /* from_matrix.c */

/* The source of the distances: an open pair service, known columns, or a matrix. */
typedef struct plan_source {
    pairs *pairs;
    const pair_job *job;    /* job of `pairs`; NULL for vectors */
    ddsc_pair_stats *stats; /* statistics of an approximate search */
    const column_set *columns;
    const given_matrix *matrix;
} plan_source;

/* Runs a plan. Neighbors are sorted by rank; graph_sort sorts them by D^2. */
ddsc_status plan_run(ddsc_context *ctx, ddsc_graph **graph, const search_plan *plan,
                     const plan_source *from);
/* Does the same, sorts the lists, and computes the spanning tree of a small set (graph_span). */
ddsc_status plan_run_spanned(ddsc_context *ctx, ddsc_graph **graph, const search_plan *plan,
                             const plan_source *from);
ddsc_status plan_search_matrix(const given_matrix *matrix, ddsc_graph **graph,
                               const search_plan *plan);

/* ---- a metric opened for a set, with its pair service (open_metric.c) ---- */

typedef struct plan_metric {
    pair_job job;
    const metric_resolved *metric;
    void *state;
    journal *journal; /* NULL: no pairs are stored */
    pairs p;
    ddsc_pair_stats stats;
    double start;
} plan_metric;

/* Opens a metric. `matrix` is true if all values are needed (see pair_job). `kept_as` describes the
 * pairs in a resume folder (see plan_manifest), or is NULL if no pairs are stored. */
ddsc_status plan_metric_open(ddsc_context *ctx, plan_metric *r, const measures *m,
                             const metric_resolved *metric, bool matrix, const char *kept_as);
/* Closes a run over n_pairs pairs that ended with `status`. After a successful run, fills *stats.
 * After an interrupted run, writes the pairs that are still in memory to the resume folder. */
ddsc_status plan_metric_close(plan_metric *r, ddsc_status status, int64_t n_pairs,
                              ddsc_pair_stats *stats);

/* Collects the facts for plan_choose. r may be NULL if the metric is not open. */
plan_facts plan_facts_of(const graph_request *p, const plan_metric *r, int64_t n_old);

/* Creates vectors that represent the items of an open metric in an approximate search. */
ddsc_status plan_rows_make(search_rows *rows, const pair_job *job, const pair_backend *backend,
                           void *state);
/* Writes the settings that must be equal for one run to reuse the pairs of another run. `what` is
 * "of the matrix" or describes the graph settings. */
ddsc_status plan_manifest(ddsc_context *ctx, char **text, const measures *m,
                          const ddsc_metric_settings *set, const char *what);

#endif
