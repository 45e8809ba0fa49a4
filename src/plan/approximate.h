/* Neighbours beyond brute force: candidates from rows of numbers, ranked by the metric itself. */
#ifndef DDSC_PLAN_APPROXIMATE_H
#define DDSC_PLAN_APPROXIMATE_H

#include "engine/backend.h"

/* Do the settings (or, left to the program, the number of items) ask for it? */
bool approximate_asked(int64_t n, const ddsc_graph_settings *settings);

/* The tau best of the candidates of each item. The rows are those of the metric's screen, or the
 * LOT embedding. stats->recall is measured on some rows against all pairs. */
ddsc_status approximate_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                               const pair_job *job, const pair_backend *backend, void *state,
                               const ddsc_graph_settings *settings);

#endif
