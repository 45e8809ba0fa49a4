/* Provides values and bounds in runs with a journal. Stored values are looked up, and all other
 * values are computed and stored. A pair that was looked up has no potentials and provides no cut,
 * so a resumed search may solve a few more pairs, but it finds the same graph. */
#include <math.h>

#include "neighbors/pairs/pairs.h"
#include "neighbors/pairs/tuning.h"

/* Copies the requested values of a tile to `values` if `out` is true, and from `values` to the tile
 * otherwise. */
static void copy_values(const pair_tile *t, double *d2, int64_t ld, double *values, bool out)
{
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *value = &d2[(i - t->i0) * ld + (j - t->j0)];
            if (!tile_wants(t, i, j))
                continue;
            if (out)
                *values++ = *value;
            else
                *value = *values++;
        }
}

ddsc_status pairs_kept_tile(pairs *p, const pair_tile *t, int64_t n, double *d2, int64_t ld,
                            int worker)
{
    pair_worker *w = &p->worker[worker];
    ddsc_pair_stats took = {0};
    CHECK(w->late);
    w->replayed = journal_find(p->journal, t, n, w->kept, &took, worker);
    if (w->replayed) {
        copy_values(t, d2, ld, w->kept, false);
        pairs_merge_stats(&w->stats, &took);
        w->n_resumed += n;
        return took.n_not_converged > 0 ? DDSC_NOT_CONVERGED : DDSC_OK;
    }
    double began = clock_seconds();
    ddsc_status status = p->backend->tile(p->state, t, d2, ld, worker, &took);
    pairs_merge_stats(&w->stats, &took);
    if (status < 0 || clock_seconds() - began < JOURNAL_CHEAP_S * (double)n)
        return status;
    copy_values(t, d2, ld, w->kept, true);
    CHECK(journal_keep(p->journal, t, n, w->kept, &took, worker));
    return status;
}

/* Returns a dual bound, which depends only on the pair and on `enough`. The record is stored under
 * (j, i), which is not a valid tile. Bounds with a finite and an infinite `enough` have separate
 * records. */
double pairs_kept_bound(pairs *p, int64_t i, int64_t j, double enough, int worker)
{
    pair_tile t = {.i0 = BASE_MAX(i, j), .i1 = isfinite(enough), .j0 = BASE_MIN(i, j), .j1 = -1};
    ddsc_pair_stats took = {0};
    double kept[2];
    if (journal_find(p->journal, &t, 2, kept, &took, worker) && kept[0] == enough)
        return kept[1];
    kept[0] = enough;
    kept[1] = p->backend->bounds->pair(p->bounds, BOUND_DUAL, i, j, enough, worker);
    ddsc_status status = journal_keep(p->journal, &t, 2, kept, &took, worker);
    if (status < 0)
        p->worker[worker].late = status;
    return kept[1];
}
