/* The tau nearest by a float prefilter (engine/prefilter.h). */
#ifndef DDSC_SEARCH_PREFILTER_H
#define DDSC_SEARCH_PREFILTER_H

#include "engine/prefilter.h"
#include "search/search.h"

/* The same graph as neighbors_search gives. *done false: too many items stay in doubt (many equal
 * ones), nothing was made. */
ddsc_status screened_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                            const pair_screen *screen, const pair_backend *backend, void *state,
                            const ddsc_graph_settings *settings, bool *done);

#endif
