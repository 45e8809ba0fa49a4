/* The tau-NN graph from the tiles of a backend: every value serves both ends of its pair. */
#include "search/search.h"

static void nearest_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    nearest *near = arg;
    int64_t columns = t->j1 - t->j0;
    for (int64_t i = t->i0; i < t->i1; i++) {
        const double *row = d2 + (i - t->i0) * ld;
        const uint8_t *wanted = t->wanted ? t->wanted + (i - t->i0) * columns : NULL;
        for (int64_t j = BASE_MAX(t->j0, i + 1); j < t->j1; j++) {
            if (wanted && !wanted[j - t->j0])
                continue;
            nearest_offer(near, i, j, row[j - t->j0]);
            nearest_offer(near, j, i, row[j - t->j0]);
        }
    }
}

int64_t tau_used(int64_t n, const ddsc_graph_settings *settings)
{
    if (settings->tau == 0)
        return tau_default(n);
    return BASE_MAX(0, BASE_MIN(settings->tau, n - 1));
}

ddsc_status neighbors_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats, int64_t n,
                             const pair_backend *backend, void *state,
                             const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    nearest near;
    TRY(nearest_create(ctx, &near, n, tau_used(n, settings)));
    TRY(tiles_run(ctx, n, backend, state, settings->sample, nearest_sink, &near, stats));
    if (settings->sample < 1 && stats->n_pairs > 0 && stats->n_solved == 0)
        TRY(sample_empty(ctx, settings->sample, n));
    TRY(nearest_finish(ctx, &near, out));
done:
    nearest_free(ctx, &near);
    return status;
}
