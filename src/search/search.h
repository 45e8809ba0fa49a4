/* search: the tau nearest neighbours of every item: over all pairs, without most of them by lower
 * bounds, by a float prefilter, among candidates, or for new items against old ones. A metric is
 * only a backend here. */
#ifndef DDSC_SEARCH_SEARCH_H
#define DDSC_SEARCH_SEARCH_H

#include "engine/engine.h"
#include "engine/nearest.h"

int64_t tau_default(int64_t n);
int64_t tau_used(int64_t n, const ddsc_graph_settings *settings);

/* tau nearest of each item over all (sampled) pairs of an opened backend. */
ddsc_status neighbors_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats, int64_t n,
                             const pair_backend *backend, void *state,
                             const ddsc_graph_settings *settings);

/* The same graph without most of the solves: see pruned.c. */
ddsc_status pruned_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const pair_job *job, const pair_backend *backend, void *state,
                          const ddsc_graph_settings *settings);

/* ---- across: the tau nearest among the first n_old items for each of the others ---- */

typedef struct across_problem {
    const measures *m; /* old items, then new ones */
    int64_t n_old, tau;
    ddsc_exact_graph exact_graph;
} across_problem;

/* With an open backend: every pair, or with bounds only those that may matter. */
ddsc_status across_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                          const across_problem *problem, const pair_backend *backend, void *state);
ddsc_status across_search_pruned(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                                 const across_problem *problem, const pair_job *job,
                                 const pair_backend *backend, void *state);

#endif
