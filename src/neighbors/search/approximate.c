/* Finds approximate neighbors, and measures the recall.
 *
 * NN-descent over rows of numbers (descent.c) proposes k > tau candidates per item. The metric then
 * computes the exact values of the candidates, and the tau nearest are kept. The cost is NN-descent
 * plus at most k metric values per item, compared with n values for an exact search.
 *
 * The recall is the fraction of true neighbors that were found. The recall is measured for randomly
 * drawn items, each of which is compared with all other items. Its 95% confidence interval is
 * Wilson's interval for an effective number of trials. This number is estimated from the variance
 * between items, because the neighbors of one item are not independent trials: they tend to be
 * found or missed together. */
#include <math.h>
#include <string.h>

#include "neighbors/search/search.h"
#include "neighbors/search/tuning.h"
#include "numeric/graph/graph.h"

void search_rows_free(ddsc_context *ctx, search_rows *r)
{
    MEM_FREE(ctx, r->rows, r->offset);
    *r = (search_rows){0};
}

/* Draws one item from each of n_rows equal parts of the set, and makes all other items its
 * candidates. The drawn items depend only on the seed and the sizes. */
static ddsc_status list_rows(ddsc_context *ctx, pair_lists *l, int64_t n, int64_t n_rows)
{
    int64_t part = 0, drawn = -1;
    l->n = n;
    CHECK(MEM_NEW(ctx, l->offset, n + 1));
    CHECK(MEM_NEW(ctx, l->index, n_rows * (n - 1)));
    l->offset[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t *to = l->index + l->offset[i];
        if (part < n_rows && i == part * n / n_rows) {
            int64_t size = (part + 1) * n / n_rows - i;
            drawn =
                i + (int64_t)(rng_hash(ctx_seed(ctx), RNG_CHECK, (uint64_t)n, (uint64_t)part++) %
                              (uint64_t)size);
        }
        bool whole = i == drawn;
        for (int64_t j = 0; whole && j < n; j++)
            if (j != i)
                *to++ = (int32_t)j;
        l->offset[i + 1] = l->offset[i] + (whole ? n - 1 : 0);
    }
    return DDSC_OK;
}

/* Returns the 97.5% quantile of Student's t distribution with `degrees` degrees of freedom. The
 * Cornish-Fisher expansion around the normal quantile (Abramowitz and Stegun 26.7.5) is accurate to
 * 0.1% for 6 or more degrees. */
static double student_quantile(double degrees)
{
    const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * degrees * degrees * degrees);
}

/* Computes the 95% Wilson interval for a fraction p of n trials (Wilson 1927). Unlike the normal
 * approximation, Wilson's interval is valid for few trials and for fractions near 1. It is computed
 * with Student's quantile because the number of trials is estimated from n_rows items. */
static void wilson(ddsc_pair_stats *stats, double p, double n, int64_t n_rows)
{
    double z = student_quantile((double)BASE_MAX(n_rows - 1, 2));
    double shrink = 1 + z * z / n, middle = (p + z * z / (2 * n)) / shrink;
    double half = z / shrink * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    stats->recall = p;
    stats->recall_low = BASE_MAX(0, middle - half);
    stats->recall_high = BASE_MIN(1, middle + half);
}

/* Computes the fraction of the drawn items' true neighbors that were found. Items at the same
 * distance as the tau-th neighbor count as found. The effective number of trials is computed from
 * the variance between items, and is at least the number of items and at most the number of
 * neighbors. */
static void compare_rows(ddsc_pair_stats *stats, const pair_lists *l, const ddsc_graph *truth,
                         const ddsc_graph *found, const local_scales *by)
{
    int64_t all = 0, n_rows = 0;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < l->n; i++) {
        int64_t begin = truth->offset[i], end = truth->offset[i + 1], right = 0;
        if (l->offset[i + 1] == l->offset[i] || begin == end)
            continue;
        for (int64_t e = found->offset[i]; e < found->offset[i + 1]; e++)
            right += local_key(by, found->index[e], found->d2[e]) <=
                     local_key(by, truth->index[end - 1], truth->d2[end - 1]);
        double share = (double)right / (double)(end - begin);
        all += end - begin;
        n_rows++;
        sum += share;
        squares += share * share;
    }
    stats->n_recall_rows = n_rows;
    if (n_rows == 0)
        return;
    double n = (double)n_rows, p = sum / n, variance = (squares / n - p * p) / BASE_MAX(n - 1, 1);
    double trials = variance > 0 ? p * (1 - p) / variance : n;
    if (n_rows == l->n) /* all items were drawn: no sampling error */
        stats->recall = stats->recall_low = stats->recall_high = p;
    else
        wilson(stats, p, BASE_MIN(BASE_MAX(trials, n), (double)all), n_rows);
}

static ddsc_status measure_recall(pairs *p, ddsc_pair_stats *stats, const ddsc_graph *found,
                                  bool cheap)
{
    ddsc_status status = DDSC_OK;
    int64_t n = p->n, n_rows = RECALL_CHEAP, n_solved;
    pair_lists l = {0};
    ddsc_graph *truth = NULL;
    TRY(pairs_solved(p, &n_solved));
    if (!cheap)
        n_rows = BASE_MAX(RECALL_LEAST, BASE_MIN(n_rows, n_solved / (2 * n)));
    n_rows = BASE_MIN(n_rows, n);
    TRY(list_rows(p->ctx, &l, n, n_rows));
    TRY(search_rerank(p, &truth, found->tau, &l));
    compare_rows(stats, &l, truth, found, p->by);
done:
    ddsc_graph_destroy(truth);
    search_lists_free(p->ctx, &l);
    return status;
}

ddsc_status search_approximate(pairs *p, ddsc_graph **out, ddsc_pair_stats *stats, int64_t tau,
                               search_rows *rows)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *candidates = NULL, *graph = NULL;
    bool cheap = p->backend->rows != NULL;
    int64_t k = rows->enclosing ? tau + BASE_MAX(10, tau / 2) : 4 * tau;
    TRY(search_descend(p->ctx, &candidates, p->n, rows->columns, rows->rows, rows->offset, k));
    search_rows_free(p->ctx, rows);
    TRY(search_rerank(p, &graph, tau, &(pair_lists){p->n, candidates->offset, candidates->index}));
    TRY(measure_recall(p, stats, graph, cheap));
    if (stats->recall < RECALL_GOOD)
        ctx_warn(p->ctx,
                 "only about %.0f%% of the neighbors were found (95%% interval: %.0f to %.0f%%); "
                 "use --neighbors "
                 "exact to find all of them",
                 100 * stats->recall, 100 * stats->recall_low, 100 * stats->recall_high);
    *out = graph;
    graph = NULL;
done:
    ddsc_graph_destroy(graph);
    ddsc_graph_destroy(candidates);
    return status;
}
