/* planner: checks and resolves settings, chooses the search for a graph, and runs it. The choice is a value
 * (search_plan), made by plan_choose from the settings and a few facts without running anything; plan_run runs it
 * and reports the path and the reason in the context's notes. */
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
/* Settings that were taken, into the caller's structs. */
ddsc_status plan_give_settings(ddsc_context *ctx, ddsc_metric_settings *metric,
                               ddsc_graph_settings *graph, const ddsc_metric_settings *own_metric,
                               const ddsc_graph_settings *own_graph);
ddsc_status plan_check_metric(ddsc_context *ctx, const ddsc_metric_settings *settings);
ddsc_status plan_check_graph(ddsc_context *ctx, const ddsc_graph_settings *settings);

/* The name of a cost that was checked. */
const char *plan_cost_name(int64_t cost);
/* Refuses exact_graph = pruned where `name` has no lower bounds. */
ddsc_status plan_check_pruned(ddsc_context *ctx, ddsc_exact_graph asked, const char *name);
/* The one place where tau = 0 becomes a number and a large one meets the number of items. */
int64_t plan_tau(int64_t n, const ddsc_graph_settings *settings);

/* ---- what to say before any work (input_warnings.c) ---- */

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

/* ---- what a graph is asked of: settings resolved for a set ---- */

typedef struct graph_request {
    const measures *m;
    metric_resolved metric;
    ddsc_graph_settings graph;
    int64_t tau;
    bool fills; /* estimate the pairs that a sample leaves out */
} graph_request;

/* Settings as the two functions above left them. p->metric is freed by metric_resolved_free. */
ddsc_status plan_resolve(ddsc_context *ctx, graph_request *p, const measures *m,
                         const ddsc_metric_settings *metric, const ddsc_graph_settings *graph);
/* Chooses a search and runs it: the graph of the `tau` nearest, which may be more than p->tau, in the order they
 * were chosen by (see graph_sort). */
ddsc_status plan_neighbors(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const graph_request *p, int64_t tau);
/* The same for each later item among the first n_old, chosen `by` scales of those (or NULL): item n_old + c is
 * column c. */
ddsc_status plan_query(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                       const graph_request *p, int64_t n_old, int64_t tau, const local_scales *by);

/* ---- the choice of a search: values only, nothing is computed (choose.c) ---- */

typedef enum plan_input { PLAN_OF_METRIC, PLAN_OF_VECTORS, PLAN_OF_MATRIX } plan_input;

/* What the choice depends on besides the settings. */
typedef struct plan_facts {
    plan_input input;
    const char *metric;  /* its name */
    int64_t n, n_old;    /* items; n_old > 0: only pairs of the first n_old with later ones count */
    bool bounds, rows;   /* the metric has lower bounds; it may have float rows for a prefilter */
    const char *against; /* why the metric advises against a pruned search, or NULL */
} plan_facts;

typedef enum plan_path {
    PLAN_FULL,
    PLAN_PREFILTER,
    PLAN_PRUNED,
    PLAN_SAMPLED,
    PLAN_APPROXIMATE,
    PLAN_COLUMNS,
    PLAN_MATRIX /* all values are given */
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
    PLAN_ADVISED, /* by the metric: search_plan.against */
    PLAN_FEW_ITEMS,
    PLAN_NO_ROWS,
    PLAN_ROUNDING
} plan_reason;

typedef struct search_plan {
    plan_path path;
    plan_reason why;
    const char *metric, *against; /* of the facts */
    int64_t n, n_old;
    int64_t tau;            /* neighbors of each item */
    double sample;          /* FULL, SAMPLED: the fraction of the pairs */
    int64_t n_columns;      /* COLUMNS */
    bool must_prefilter;    /* PREFILTER: fail where the metric turns out to have no rows */
    int64_t hubs, hubs_tau; /* a ddsc_hubs, not DEFAULT; in-degrees count the first of each list */
    bool keeps_values;      /* for the second search over the same pairs */
    const local_scales *by; /* scales that distances are divided by, or NULL */
    /* Known once the metric is at work; plan_describe prints them. */
    int64_t row_columns;      /* PREFILTER */
    bool level[BOUND_LEVELS]; /* PRUNED */
} search_plan;

/* The search for a graph of the tau nearest. fills: see graph_request. */
search_plan plan_choose(const plan_facts *f, const ddsc_graph_settings *set, int64_t tau,
                        bool fills);
/* All pairs in place of a prefilter that `why` rules out. */
search_plan plan_without_prefilter(search_plan plan, plan_reason why);
const char *plan_path_name(plan_path path);
/* The reason in words, with the figures that go with it. */
void plan_describe(const search_plan *plan, char *words, size_t size);

/* The second search where neighbors are chosen by rescaled distances (hubs.c). */
typedef struct rescaled_plan {
    bool needed;
    search_plan plan; /* its scales are those below */
    in_degrees plain; /* of the first graph */
    double *scale;
    local_scales scales;
    ddsc_graph *nearest; /* the first graph, cut to GRAPH_NEAREST */
} rescaled_plan;

/* Made from the first plan and the graph it found. */
ddsc_status plan_rescale(ddsc_context *ctx, rescaled_plan *r, const search_plan *first,
                         const ddsc_graph *found);
/* What the graph of the second search keeps of the first. */
void plan_rescale_keep(rescaled_plan *r, ddsc_graph *graph);
void plan_rescale_free(ddsc_context *ctx, rescaled_plan *r);

/* ---- running a plan (run.c) ---- */

typedef struct given_matrix given_matrix; /* from_matrix.c */

/* Where values come from: an open pair service, known columns, or a finished matrix. */
typedef struct plan_source {
    pairs *pairs;
    const pair_job *job;    /* of pairs; NULL: rows of numbers */
    ddsc_pair_stats *stats; /* of an approximate search */
    const column_set *columns;
    const given_matrix *matrix;
} plan_source;

/* Lists come in the order they were chosen by; graph_sort puts them into that of D^2. */
ddsc_status plan_run(ddsc_context *ctx, ddsc_graph **graph, const search_plan *plan,
                     const plan_source *from);
ddsc_status plan_search_matrix(const given_matrix *matrix, ddsc_graph **graph,
                               const search_plan *plan);

/* ---- a metric opened over a set, and the pair service over it (open_metric.c) ---- */

typedef struct plan_metric {
    pair_job job;
    const metric_resolved *metric;
    void *state;
    journal *journal; /* or NULL */
    pairs p;
    ddsc_pair_stats stats;
    double start;
} plan_metric;

/* matrix: all values are asked for (pair_job). kept_as: what the pairs belong to in a folder to resume
 * from, see plan_manifest; NULL: keep nothing. */
ddsc_status plan_metric_open(ddsc_context *ctx, plan_metric *r, const measures *m,
                             const metric_resolved *metric, bool matrix, const char *kept_as);
/* Ends a run over n_pairs pairs that came to `status`; on success fills *stats. What an interrupted
 * run has in memory goes to its folder, too. */
ddsc_status plan_metric_close(plan_metric *r, ddsc_status status, int64_t n_pairs,
                              ddsc_pair_stats *stats);

/* Rows that stand for the items of an open metric in an approximate search. */
ddsc_status plan_rows_make(search_rows *rows, const pair_job *job, const pair_backend *backend,
                           void *state);
/* What must be the same in two runs for one to take up the pairs of the other, in lines of text.
 * what: "of the matrix", or the graph's settings in words. */
ddsc_status plan_manifest(ddsc_context *ctx, char **text, const measures *m,
                          const ddsc_metric_settings *set, const char *what);

#endif
