/* plan: settings taken and checked, resolved once into a plan, and the runs along it: a matrix, a
 * graph, new items against old ones. Which path was taken, and why, goes into the context's notes. */
#ifndef DDSC_NEIGHBORS_PLANNER_PLAN_H
#define DDSC_NEIGHBORS_PLANNER_PLAN_H

#include "neighbors/metric/metric.h"
#include "neighbors/search/search.h"
#include "numeric/graph/graph.h"

/* ---- settings: defaults, then the caller's fields, then every one checked (given NULL: defaults)
 */

ddsc_status plan_take_metric(ddsc_context *ctx, ddsc_metric_settings *own,
                             const ddsc_metric_settings *given);
/* for_clusters: what the default for hubs means. */
ddsc_status plan_take_graph(ddsc_context *ctx, ddsc_graph_settings *own,
                            const ddsc_graph_settings *given, bool for_clusters);
ddsc_status plan_check_metric(ddsc_context *ctx, const ddsc_metric_settings *settings);
ddsc_status plan_check_graph(ddsc_context *ctx, const ddsc_graph_settings *settings);

/* Refuses exact_graph = pruned where `name` has no lower bounds. */
ddsc_status plan_check_pruned(ddsc_context *ctx, ddsc_exact_graph asked, const char *name);
/* The one place where tau = 0 becomes a number and a large one meets the number of items. */
int64_t plan_tau(int64_t n, const ddsc_graph_settings *settings);

/* ---- what to say before any work (sense.c) ---- */

/* More neighbours than there are items? */
void plan_warn_tau(ddsc_context *ctx, int64_t n, const ddsc_graph_settings *set);
/* A bandwidth by which all items are equally far? */
ddsc_status plan_warn_bandwidth(ddsc_context *ctx, const measures *m,
                                const ddsc_metric_settings *set);
/* More clusters than distinct items? */
ddsc_status plan_warn_clusters(ddsc_context *ctx, const measures *m, int64_t k);
/* A coordinate that makes nearly all of the distances, or is an id? */
ddsc_status plan_warn_coordinates(ddsc_context *ctx, const measures *m);
/* Do all edges join equal items? Then nothing tells the items of a component apart, whatever the metric
 * gives for equal ones. */
bool plan_joins_copies(const measures *m, const ddsc_graph *g);

/* ---- the plan of a graph ---- */

typedef struct graph_plan {
    const measures *m;
    metric_resolved metric;
    ddsc_graph_settings graph;
    int64_t tau;
    bool fills; /* of a sample of the pairs the others are estimated */
} graph_plan;

/* Settings as the two functions above left them. p->metric is freed by metric_resolved_free. */
ddsc_status plan_make(ddsc_context *ctx, graph_plan *p, const measures *m,
                      const ddsc_metric_settings *metric, const ddsc_graph_settings *graph);
/* The graph of the `tau` nearest, which may be more than p->tau, as `hubs` says: in the order they were chosen
 * by, see graph_sort. */
ddsc_status plan_neighbors(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const graph_plan *p, int64_t tau);
/* The nearest of the first n_old items for each later one, chosen `by` scales of those (or NULL): item n_old + c is
 * column c. */
ddsc_status plan_query(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                       const graph_plan *p, int64_t n_old, int64_t tau, const local_scales *by);

/* ---- inside the room ---- */

/* An open metric over a set, and the pair service over it. */
typedef struct plan_run {
    pair_job job;
    const metric_resolved *metric;
    void *state;
    journal *journal; /* or NULL */
    pairs p;
    ddsc_pair_stats stats;
    double start;
} plan_run;

/* matrix: all values are asked for (pair_job). kept_as: what the pairs belong to in a folder to resume
 * from, see plan_manifest; NULL: keep nothing. */
ddsc_status plan_run_open(ddsc_context *ctx, plan_run *r, const measures *m,
                          const metric_resolved *metric, bool matrix, const char *kept_as);
/* Ends a run over n_pairs pairs that came to `status`; on success fills *stats. What an interrupted
 * run has in memory goes to its folder, too. */
ddsc_status plan_run_close(plan_run *r, ddsc_status status, int64_t n_pairs,
                           ddsc_pair_stats *stats);

/* A search that may run twice: for the nearest (by NULL), then by scales. */
typedef struct hub_search {
    int64_t rule; /* a ddsc_hubs, not DEFAULT */
    int64_t tau;  /* of each list, the first are looked at */
    ddsc_status (*search)(void *arg, ddsc_graph **graph, const local_scales *by);
    void *arg;
} hub_search;

/* Lists come in the order they were chosen by; graph_sort puts them into that of D^2. */
ddsc_status plan_choose(ddsc_context *ctx, ddsc_graph **graph, const hub_search *h);

/* The graph of columns that are known; of h the rule and tau count. */
ddsc_status plan_columns(ddsc_context *ctx, ddsc_graph **graph, const column_set *c, int64_t tau,
                         hub_search h);

/* Over a service whose metric is open: by a prefilter where it has rows and they pay, or all pairs.
 * why: what speaks against pruning, in words, or NULL. */
ddsc_status plan_search_rows(pairs *p, ddsc_graph **graph, int64_t tau,
                             const ddsc_graph_settings *set, const char *why);
/* Rows that stand for the items of an open metric in an approximate search. */
ddsc_status plan_rows_make(search_rows *rows, const pair_job *job, const pair_backend *backend,
                           void *state);
/* What must be the same in two runs for one to take up the pairs of the other, in lines of text.
 * what: "of the matrix", or the graph's settings in words. */
ddsc_status plan_manifest(ddsc_context *ctx, char **text, const measures *m,
                          const ddsc_metric_settings *set, const char *what);

#endif
