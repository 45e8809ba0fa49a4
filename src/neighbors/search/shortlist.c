/* Implements the selection rule of the float prefilter.
 *
 * For each item, the prefilter keeps the `most` smallest lower bounds L_j, with most > tau. Each
 * item j on the list also has an upper bound U_j = L_j + e_j, where e_j covers the rounding errors
 * of floats and the tail of the rows. Let r be the tau-th smallest U_j. At least tau items have a
 * value of at most r, so an item with L_j > r is not among the tau nearest, even if there are ties.
 * The candidates are all j with L_j <= r.
 *
 * The candidates are complete only if all items outside the list are also excluded, that is, if the
 * largest kept bound exceeds r. Otherwise, all items remain candidates (count -1). With local
 * scales, the same argument holds for keys. The selection takes O(most) time per item. */
#include "neighbors/search/shortlist.h"

#include <math.h>
#include <string.h>

#include "neighbors/search/tuning.h"

ddsc_status search_shortlist_create(ddsc_context *ctx, shortlist *d, int64_t n, int64_t tau,
                                    int64_t most)
{
    *d = (shortlist){.n = n, .tau = tau, .most = most};
    CHECK(MEM_NEW(ctx, d->count, n));
    return MEM_NEW(ctx, d->spread, n);
}

void search_shortlist_free(ddsc_context *ctx, shortlist *d)
{
    MEM_FREE(ctx, d->spread, d->count, d->index);
    *d = (shortlist){0};
}

void search_shortlist_count(const shortlist *d, int64_t end, int64_t *open, bool *few)
{
    for (int64_t i = d->first; i < end; i++)
        *open += d->count[i] < 0;
    *few = *open <= OPEN_LEAST + d->n / OPEN_SHARE;
}

ddsc_status search_shortlist_rank(const shortlist *d, int64_t end, ranking *r)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = r->p->ctx;
    pair_lists l = {.n = end - d->first};
    TRY(MEM_ZERO(ctx, l.offset, l.n + 1));
    for (int64_t c = 0; c < l.n; c++) {
        l.offset[c + 1] = l.offset[c] + BASE_MAX(0, d->count[d->first + c]);
        if (d->count[d->first + c] < 0)
            TRY(search_rank_open(r, d->first + c));
    }
    TRY(MEM_NEW(ctx, l.index, l.offset[l.n]));
    for (int64_t c = 0; c < l.n; c++)
        memcpy(l.index + l.offset[c], d->index + c * d->most,
               (size_t)(l.offset[c + 1] - l.offset[c]) * sizeof *l.index);
    TRY(search_rank_strip(r, &l));
done:
    search_lists_free(ctx, &l);
    return status;
}

static double key_slack(const shortlist *d, double key)
{
    return d->relative * fabs(key) + d->absolute;
}

void search_shortlist_settle(const shortlist *d, int64_t i, const double *key, double *upper)
{
    int32_t *index = d->index + (i - d->first) * d->most;
    double largest = -INFINITY;
    int64_t within = 0;
    for (int64_t k = 0; k < d->most; k++) {
        double wide = local_key(d->by, index[k], d->spread[i] + d->spread[index[k]]);
        upper[k] = key[k] + key_slack(d, key[k]) + wide;
        largest = fmax(largest, key[k]);
    }
    double reach = select_smallest(upper, d->most, d->tau - 1);
    d->count[i] = -1;
    if (d->most < d->n - 1 && largest - key_slack(d, largest) <= reach)
        return;
    for (int64_t k = 0; k < d->most; k++)
        if (key[k] - key_slack(d, key[k]) <= reach)
            index[within++] = index[k];
    d->count[i] = within;
}
