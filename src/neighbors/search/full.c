/* Builds the tau-NN graph from all pairs.
 *
 * The pair service computes every requested pair i < j once, tile by tile. Each value is offered to
 * the heaps of both items. A heap keeps the tau smallest entries by (key, index), which is a total
 * order. The graph therefore does not depend on the order of arrival or on the number of threads or
 * ranks. If all pairs are requested, the search computes n (n - 1) / 2 metric values and needs O(n
 * tau) memory. The graphs of the other exact searches are byte-identical. */
#include "neighbors/search/search.h"
#include "numeric/graph/graph.h"

ddsc_status search_full(pairs *p, ddsc_graph **out, int64_t tau, const pair_choice *choice)
{
    ddsc_status status = DDSC_OK;
    nearest near;
    int64_t first = choice->j_begin, n_solved;
    TRY(nearest_create(p->ctx, &near, first, p->n - first, tau));
    near.by = p->by;
    TRY(pairs_walk(p, choice, pairs_offer_tile, &near));
    TRY(pairs_solved(p, &n_solved));
    if (choice->sample < 1 && p->n > 1 && n_solved == 0)
        TRY(pairs_none_sampled(p->ctx, choice->sample, p->n));
    TRY(nearest_share(p->ctx, &near, false));
    TRY(nearest_finish(p->ctx, &near, out));
done:
    nearest_free(p->ctx, &near);
    return status;
}
