/* Lists of pairs: whatever finds candidates, the metric itself has the last word on each pair. */
#ifndef DDSC_SEARCH_RERANK_H
#define DDSC_SEARCH_RERANK_H

#include "engine/backend.h"
#include "engine/nearest.h"

/* Candidates of each item, in any order, repeated or not. */
typedef struct candidates {
    int64_t n;
    int64_t *offset; /* n + 1 */
    int32_t *index;
} candidates;

void candidates_free(ddsc_context *ctx, candidates *c);

/* Each pair {i, j} that one of the two has as a candidate is computed once by the backend, as a
 * tile of its own, and offered to both ends. Adds n_solved and n_clamped to stats. */
ddsc_status candidates_rank(ddsc_context *ctx, nearest *near, ddsc_pair_stats *stats,
                            const candidates *c, const pair_backend *backend, void *state);

#endif
