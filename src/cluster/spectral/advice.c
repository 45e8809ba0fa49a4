/* Writes the advice on a result: notes, one per line, about what the user should know and do
 * next. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "cluster/spectral/decompose.h"

/* A hub is reported if it is a neighbor of more than this fraction of at least HUBS_LEAST_ITEMS
 * items. */
enum { HUBS_LEAST_ITEMS = 100 };
static const double HUBS_REPORTED = 0.25;

enum { ADVICE_SIZE = 4096, FAR_LEAST_ITEMS = 3 };

/* Errors in D^2 that exceed this fraction of the spread of D^2 are likely to change the
 * neighbors. */
static const double COLUMNS_POOR = 0.25;

/* An item is far from all others if the distance to its nearest neighbor is more than this multiple
 * of the 90% quantile of this distance over all items. */
static const double FAR_TIMES = 10;

typedef struct writer {
    char *text;
    size_t used;
} writer;

__attribute__((format(printf, 3, 0))) static void advice_add(writer *w, char separator,
                                                             const char *format, va_list arguments)
{
    size_t left = ADVICE_SIZE - w->used;
    if (w->used > 0 && left > 1) {
        w->text[w->used++] = separator;
        left--;
    }
    int length = vsnprintf(w->text + w->used, left, format, arguments);
    w->used = BASE_MIN(w->used + (size_t)BASE_MAX(length, 0), (size_t)ADVICE_SIZE - 1);
}

/* Starts a new note, on a new line. */
__attribute__((format(printf, 2, 3))) static void advice_say(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    advice_add(w, '\n', format, arguments);
    va_end(arguments);
}

/* Adds a sentence to the current note. */
__attribute__((format(printf, 2, 3))) static void advice_go_on(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    advice_add(w, ' ', format, arguments);
    va_end(arguments);
}

/* Adds notes if too few distances were computed. */
static void say_sample(writer *w, const decomposition *d, const ddsc_cluster_settings *set)
{
    double each = set->graph->sample * (double)(d->n - 1);
    if (set->graph->sample < 1 && each < 2 * (double)d->tau)
        advice_say(
            w,
            "With sample = %g, an item has about %.1f known distances, from which tau = %lld "
            "neighbors are chosen, so many of its nearest neighbors are missed. Raise the sample.",
            set->graph->sample, each, (long long)d->tau);
    if (d->n_columns > 0 && isnan(d->columns_error))
        advice_say(w,
                   "%lld columns are too few to estimate the accuracy of the other distances. "
                   "Raise the fraction of columns.",
                   (long long)d->n_columns);
    else if (d->n_columns > 0 && d->columns_error > COLUMNS_POOR)
        advice_say(w,
                   "Distances outside the %lld columns are inaccurate: their error is %.2f of "
                   "their spread. Raise the fraction of columns.",
                   (long long)d->n_columns, d->columns_error);
}

static void say_components(writer *w, const ddsc_clustering_view *v, const decomposition *d,
                           const outcome *o, const ddsc_cluster_settings *set)
{
    if (d->n_parts > v->k)
        advice_say(w,
                   "The graph has %lld components but K = %lld, so the clusters follow the larger "
                   "components. Raise tau (now %lld) to connect them, or use K = %lld.",
                   (long long)d->n_components, (long long)v->k, (long long)d->tau,
                   (long long)d->n_parts);
    if (d->n_isolated > 0)
        advice_say(w, "Number of items without a neighbor at a known distance: %lld.",
                   (long long)d->n_isolated);
    say_sample(w, d, set);
    if (o->n_without_row > 0 && v->k > 1)
        advice_say(
            w,
            "Number of items that were added to the largest cluster, because their disconnected "
            "components are too small to form a cluster: %lld. Raise tau to connect them.",
            (long long)o->n_without_row);
}

/* Returns the next K, starting at `from` in direction `step`, that does not split a group of nearly
 * equal eigenvalues, or 0 if there is none. */
static int64_t clear_k(const eigen_result *e, const double *eigenvalues, int64_t from, int64_t step)
{
    for (int64_t k = from; k >= 2 && k < e->k; k += step)
        if (choose_is_clear(eigenvalues, e->residual, k))
            return k;
    return 0;
}

static void say_gap(writer *w, const ddsc_clustering_view *v, const decomposition *d,
                    const double *eigenvalues)
{
    const eigen_result *e = &d->eigen;
    if (v->k < 2 || v->k >= e->k || d->n_parts > v->k || d->affinity.flat)
        return;
    if (choose_is_clear(eigenvalues, e->residual, v->k))
        return;
    int64_t below = clear_k(e, eigenvalues, v->k - 1, -1);
    int64_t above = clear_k(e, eigenvalues, v->k + 1, 1);
    advice_say(w,
               "K = %lld splits a group of nearly equal eigenvalues (%.6g and %.6g), so the data "
               "do not determine the clusters well.",
               (long long)v->k, eigenvalues[v->k - 1], eigenvalues[v->k]);
    if (below > 0 && above > 0)
        advice_go_on(w, "K = %lld and K = %lld avoid such a split.", (long long)below,
                     (long long)above);
    else if (below > 0 || above > 0)
        advice_go_on(w, "K = %lld avoids such a split.", (long long)BASE_MAX(below, above));
    if (e->by_team)
        advice_go_on(w, "The labels of some items may differ with another number of ranks.");
}

static void say_affinity(writer *w, const decomposition *d)
{
    int64_t n_edges = d->affinity.n_edges;
    if (d->affinity.flat && n_edges > 0)
        advice_say(w, "All items have the same distance from their neighbors, so only components "
                      "can be separated.");
    else if (2 * d->affinity.n_clamped > n_edges)
        advice_say(w,
                   "%lld of %lld neighbor distances are negative estimates, which were replaced by "
                   "zero. Use the biased estimator to avoid this.",
                   (long long)d->affinity.n_clamped, (long long)n_edges);
    if (d->affinity.n_faint > 0 && d->affinity.gamma > 0)
        advice_say(w,
                   "With gamma = %g, all affinities of %lld items underflow and were treated as "
                   "equal. Choose a smaller gamma, or auto.",
                   d->affinity.gamma, (long long)d->affinity.n_faint);
}

/* Reports a small set of distant items that was merged into another cluster because it is smaller
 * than the minimum cluster size. */
static ddsc_status say_far_group(ddsc_context *ctx, writer *w, const ddsc_graph *g,
                                 const int32_t *label, outcome *o, double usual)
{
    ddsc_status status = DDSC_OK;
    int64_t n_cells = 0, *size = NULL, far = -1;
    double *way_out = NULL; /* squared length of the shortest edge that leaves the cell */
    for (int64_t i = 0; i < g->n; i++)
        n_cells = BASE_MAX(n_cells, o->cells[i] + 1);
    TRY(MEM_ZERO(ctx, size, n_cells));
    TRY(MEM_NEW(ctx, way_out, n_cells));
    for (int64_t c = 0; c < n_cells; c++)
        way_out[c] = INFINITY;
    for (int64_t i = 0; i < g->n; i++) {
        size[o->cells[i]]++;
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
            int32_t one = o->cells[i], other = o->cells[g->index[p]];
            if (one == other)
                continue;
            way_out[one] = fmin(way_out[one], g->d2[p]);
            way_out[other] = fmin(way_out[other], g->d2[p]);
        }
    }
    for (int64_t i = 0; i < g->n && far < 0; i++) {
        int32_t c = o->cells[i];
        if ((double)size[c] < o->least && isfinite(way_out[c]) &&
            sqrt(BASE_MAX(way_out[c], 0)) > FAR_TIMES * usual)
            far = i;
    }
    bool joined = false;
    for (int64_t i = 0; far >= 0 && i < g->n; i++)
        joined |= label[i] == label[far] && o->cells[i] != o->cells[far];
    o->has_far_items = joined;
    if (joined)
        advice_say(
            w,
            "Item %lld (of %lld, counted from 0) and the items near it (%lld in total) "
            "are far from all others (distance %.3g). They are too few to form a cluster and were "
            "added to another cluster. Treat them as outliers, or set min_cluster to 0 "
            "(--min-cluster 0) to keep them as a separate cluster.",
            (long long)far, (long long)g->n, (long long)size[o->cells[far]],
            sqrt(way_out[o->cells[far]]));
done:
    MEM_FREE(ctx, way_out, size);
    return status;
}

/* Reports items whose nearest neighbor is much farther away than is usual for this data set. Every
 * item has tau edges, so no cut of the graph separates such an item. */
static ddsc_status say_far(ddsc_context *ctx, writer *w, const ddsc_graph *g, const int32_t *label,
                           outcome *o)
{
    ddsc_status status = DDSC_OK;
    double *near = NULL, *sorted = NULL;
    int64_t n_far = 0, first = -1, n_with = 0;
    if (g->n < FAR_LEAST_ITEMS)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, near, g->n));
    for (int64_t i = 0; i < g->n; i++)
        near[i] = g->offset[i] < g->offset[i + 1] ? sqrt(BASE_MAX(g->d2[g->offset[i]], 0)) : 0;
    TRY(MEM_COPY(ctx, sorted, near, g->n));
    double usual = select_smallest(sorted, g->n, (9 * g->n) / 10 - 1);
    for (int64_t i = 0; i < g->n; i++)
        if (near[i] > FAR_TIMES * usual) {
            first = first < 0 ? i : first;
            n_far++;
        }
    for (int64_t i = 0; first >= 0 && i < g->n; i++)
        n_with += label[i] == label[first] && near[i] <= FAR_TIMES * usual;
    o->has_far_items = usual > 0 && n_with > 0;
    if (o->has_far_items)
        advice_say(
            w,
            "Item %lld (of %lld, counted from 0)%s far from all others (distance to the nearest "
            "neighbor: %.3g; for 90%% of the items: at most %.3g). The item has edges to other "
            "items, so no cut of the graph can separate it. Treat it as an outlier, or remove it.",
            (long long)first, (long long)g->n, n_far > 1 ? " and further items are" : " is",
            near[first], usual);
    else if (usual > 0)
        TRY(say_far_group(ctx, w, g, label, o, usual));
done:
    MEM_FREE(ctx, near, sorted);
    return status;
}

static void say_hubs(writer *w, const ddsc_clustering_view *v, const outcome *o)
{
    double nobody = 100 * (double)v->plain_n_nobody / (double)v->n;
    if (v->hubs_rescaled)
        advice_say(
            w,
            "Hubs detected: one item is a nearest neighbor of %lld of %lld items, and "
            "%.0f%% of the items are not a nearest neighbor of any item. Neighbors were therefore "
            "chosen by a locally rescaled distance.",
            (long long)v->plain_in_degree_largest, (long long)v->n, nobody);
    else if (v->n >= HUBS_LEAST_ITEMS &&
             (double)v->in_degree_largest > HUBS_REPORTED * (double)v->n)
        advice_say(w,
                   "Item %lld (of %lld, counted from 0) is a hub: it is a neighbor of %lld items. "
                   "%.0f%% of the items are not a neighbor of any item. To choose neighbors by a "
                   "locally rescaled distance, use hubs = always (--hubs always).",
                   (long long)o->hub, (long long)v->n, (long long)v->in_degree_largest, nobody);
}

/* Lists the other values of K that a criterion favors. say_clusters reports the criterion for the
 * chosen K. */
static void say_candidates(writer *w, const ddsc_clustering_view *v)
{
    k_candidate c[CANDIDATES_MOST];
    int64_t n = choose_candidates(c, v->sweep, v->n_sweep, v->k);
    for (int64_t i = 0; i < n; i++) {
        const char *joint = "";
        char why[128] = "";
        size_t used = 0;
        if (c[i].row->k == v->k)
            continue;
        if (c[i].gap) {
            used += (size_t)snprintf(why, sizeof why, "relative gap %.2f", c[i].row->relative_gap);
            joint = ", ";
        }
        if (c[i].modularity) {
            used += (size_t)snprintf(why + used, sizeof why - used, "%smodularity %.3f", joint,
                                     c[i].row->modularity);
            joint = ", ";
        }
        if (c[i].stability)
            snprintf(why + used, sizeof why - used, "%sagreement of halves %.2f", joint,
                     c[i].row->stability);
        advice_say(w, "K = %lld is also worth examining (%s).", (long long)c[i].row->k, why);
    }
}

/* Reports a clear gap that separates clusters of very different sizes. Either there are no further
 * clusters, or the large cluster contains classes. If the gap is wide, the two cases cannot be
 * distinguished (docs/guide.md), so the advice describes both. */
static void say_lopsided(writer *w, const ddsc_clustering_view *v)
{
    k_candidate c[CANDIDATES_MOST];
    int64_t n = choose_candidates(c, v->sweep, v->n_sweep, v->k);
    char others[128] = "";
    size_t used = 0;
    for (int64_t i = 0; i < n; i++)
        if (c[i].hidden)
            used += (size_t)snprintf(others + used, sizeof others - used, "%sK = %lld",
                                     used ? " or " : "", (long long)c[i].row->k);
    if (used)
        advice_say(
            w,
            "The gap separates clusters of very different sizes (%lld to %lld items). Either "
            "there are no further clusters, or the large cluster contains classes, which %s "
            "may show. Examine them, or cluster the items of the large cluster separately.",
            (long long)c[0].row->smallest, (long long)c[0].row->largest, others);
}

/* Reports values of K for which the labels contain no information about the items. */
static void say_extreme_k(writer *w, const ddsc_clustering_view *v)
{
    int64_t n_single = 0;
    for (int64_t r = 0; r < v->n_sweep; r++)
        if (v->sweep[r]->k == v->k && v->sweep[r]->smallest == 1)
            n_single = 1;
    if (v->k == 1)
        advice_say(w,
                   "With K = 1, all items are in one cluster. Use the order and the neighbors of "
                   "the items, or let -k auto suggest K.");
    else if (v->k == v->n)
        advice_say(w,
                   "With K = N = %lld, every item is its own cluster, so the labels contain no "
                   "information. Choose a smaller K, or -k auto.",
                   (long long)v->n);
    else if (n_single > 0)
        advice_say(w, "Some clusters consist of a single item, which is an outlier rather than a "
                      "cluster. Choose a smaller K or raise min_cluster (--min-cluster).");
}

static void say_clusters(writer *w, const ddsc_clustering_view *v, const decomposition *d,
                         const outcome *o)
{
    int64_t smallest = v->n;
    for (int64_t r = 0; r < v->n_sweep; r++)
        if (v->sweep[r]->k == v->k)
            smallest = v->sweep[r]->smallest;
    if (o->chosen)
        advice_say(w,
                   "K = %lld (from %lld to %lld) is a suggestion based on %s. On data sets not "
                   "used for tuning, the suggested K was correct in one of four cases, and "
                   "within one of the correct K in fewer than half of them.",
                   (long long)v->k, (long long)o->k_low, (long long)o->k_high,
                   o->by_gap ? "the gap in the eigenvalues" : "modularity and stability");
    if (o->chosen && v->n_sweep > 1)
        say_candidates(w, v);
    if (o->chosen && v->n_sweep > 1 && o->by_gap)
        say_lopsided(w, v);
    if (o->n_found < v->k)
        advice_say(w,
                   "Only %lld cluster%s found. The graph with tau = %lld does not separate more.",
                   (long long)o->n_found, o->n_found == 1 ? " was" : "s were", (long long)d->tau);
    else if (!o->rule_met)
        advice_say(
            w,
            "The smallest cluster has %lld items. No partition into %lld clusters of at least %.0f "
            "items each was found. "
            "Try a smaller K.",
            (long long)smallest, (long long)v->k, o->least);
}

ddsc_status advice_write(ddsc_context *ctx, char **text, const ddsc_clustering_view *view,
                         const decomposition *d, outcome *o, const ddsc_graph *graph,
                         const ddsc_cluster_settings *set)
{
    writer w = {0};
    CHECK(MEM_ZERO(ctx, *text, ADVICE_SIZE));
    w.text = *text;
    if (o->not_converged)
        advice_say(&w,
                   "Not all eigenvectors reached the tolerance %g (largest residual %.2g%s). Allow "
                   "more than %lld products.",
                   set->eigen_tolerance, view->max_residual, view->verified ? "" : ", not verified",
                   (long long)set->eigen_max_iterations);
    say_components(&w, view, d, o, set);
    say_clusters(&w, view, d, o);
    say_extreme_k(&w, view);
    say_gap(&w, view, d, o->eigenvalues);
    say_affinity(&w, d);
    say_hubs(&w, view, o);
    return say_far(ctx, &w, graph, view->labels, o);
}
