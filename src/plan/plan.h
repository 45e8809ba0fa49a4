/* plan: which path a set and a metric take, and the runs along it: a matrix, a graph, new items against
 * old ones. */
#ifndef DDSC_PLAN_PLAN_H
#define DDSC_PLAN_PLAN_H

#include "metric/metric.h"
#include "search/search.h"

/* ---- settings: defaults, then the caller's fields, then every one checked (given NULL: defaults)
 */

ddsc_status metric_settings_take(ddsc_context *ctx, ddsc_metric_settings *own,
                                 const ddsc_metric_settings *given);
ddsc_status graph_settings_take(ddsc_context *ctx, ddsc_graph_settings *own,
                                const ddsc_graph_settings *given);
ddsc_status metric_settings_check(ddsc_context *ctx, const ddsc_metric_settings *settings);
ddsc_status graph_settings_check(ddsc_context *ctx, const ddsc_graph_settings *settings);

/* Refuses exact_graph = pruned where `name` has no lower bounds. */
ddsc_status search_check(ddsc_context *ctx, const ddsc_graph_settings *settings, const char *name);

/* The same by a screen, where the backend has one and it pays. */
ddsc_status search_run(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats, int64_t n,
                       const pair_backend *backend, void *state, const ddsc_graph_settings *set);

/* The tau-NN graph of a set, by whichever search the settings ask for; they are checked here. */
ddsc_status neighbors_make(ddsc_context *ctx, ddsc_graph **graph, ddsc_pair_stats *stats,
                           const measures *m, const ddsc_metric_settings *metric,
                           const ddsc_graph_settings *settings);
/* The list of new item c (item n_old + c of the set) is column c. */
ddsc_status across_run(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                       const across_problem *problem, const ddsc_metric_settings *metric);

/* The manifest of a run. what: "matrix", or the graph's settings in words. */
ddsc_status manifest_make(ddsc_context *ctx, char **text, const measures *m,
                          const ddsc_metric_settings *set, const char *what);

#endif
