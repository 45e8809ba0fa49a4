/* Compares neighbor lists with known classes: computes the affinity within and between classes, the
 * tolerance of the correctness condition, and the agreement of the components with the classes. */
#include <math.h>

#include "assess/quality/quality.h"
#include "base/sized.h"
#include "cluster/spectral/decompose.h"

typedef struct item_sums {
    int64_t intra, inter; /* entries of the item's neighbor list: same class; other class */
    int64_t n_edges;      /* edges in A from the item to items with a class */
    double least_intra, most_inter;
    bool has_intra;
} item_sums;

/* Counts the entries of the item's neighbor list, which is its neighbor set in the paper. The
 * affinities come from the item's row of the symmetric matrix A, where an edge that is in only one
 * of the two lists has half its weight, because Theorem 2 compares them with changes in A. Pairs
 * without an edge have affinity 0. */
static item_sums sum_item(const ddsc_graph *g, const sparse *a, const int32_t *truth, int64_t i)
{
    item_sums s = {.least_intra = INFINITY};
    for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
        int32_t other = truth[g->index[p]];
        s.intra += other >= 0 && other == truth[i];
        s.inter += other >= 0 && other != truth[i];
    }
    for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++) {
        int32_t other = truth[a->column[p]];
        if (other < 0)
            continue;
        s.n_edges++;
        if (other == truth[i]) {
            s.has_intra = true;
            s.least_intra = fmin(s.least_intra, a->value[p]);
        } else {
            s.most_inter = fmax(s.most_inter, a->value[p]);
        }
    }
    return s;
}

static double item_tolerance(const item_sums *s)
{
    if (s->n_edges == 0)
        return NAN;
    return (s->has_intra ? s->least_intra : 0) - s->most_inter;
}

/* Numbers the classes from 0 in ascending order. Negative classes become -1. */
static ddsc_status number_classes(ddsc_context *ctx, int32_t *number, int64_t *n_classes,
                                  const int32_t *truth, int64_t n)
{
    ddsc_status status = DDSC_OK;
    int32_t *sorted = NULL;
    int64_t n_known = 0, count = 0;
    TRY(MEM_NEW(ctx, sorted, n));
    for (int64_t i = 0; i < n; i++)
        if (truth[i] >= 0)
            sorted[n_known++] = truth[i];
    sort_i32(sorted, n_known);
    for (int64_t i = 0; i < n_known; i++)
        if (count == 0 || sorted[i] != sorted[count - 1])
            sorted[count++] = sorted[i];
    for (int64_t i = 0; i < n; i++)
        number[i] = (int32_t)sort_find_i32(sorted, count, truth[i]);
    *n_classes = count;
done:
    mem_free(ctx, sorted);
    return status;
}

/* Counts the values of `from` whose items all have the same value of `to`. For each value of
 * `from`, sets shared[] to the common value of `to`, to -1 if there are no items, or to -2 if `to`
 * differs among the items. */
static int64_t count_single(int32_t *shared, int64_t n_from, const int32_t *from, const int32_t *to,
                            const int32_t *class, int64_t n)
{
    int64_t count = 0;
    for (int64_t f = 0; f < n_from; f++)
        shared[f] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (class[i] < 0)
            continue;
        int32_t *s = &shared[from[i]];
        *s = *s == -1 || *s == to[i] ? to[i] : -2;
    }
    for (int64_t f = 0; f < n_from; f++)
        count += shared[f] >= 0;
    return count;
}

static ddsc_status compare_components(ddsc_context *ctx, ddsc_theory *t, const sparse *a,
                                      const int32_t *class)
{
    ddsc_status status = DDSC_OK;
    int32_t *component = NULL, *shared = NULL;
    TRY(MEM_NEW(ctx, component, a->n));
    TRY(MEM_NEW(ctx, shared, a->n));
    TRY(components_find(ctx, component, &t->n_components, a->n, a->offset, a->column));
    t->n_pure_components = count_single(shared, t->n_components, component, class, class, a->n);
    t->n_whole_classes = count_single(shared, t->n_classes, class, component, class, a->n);
done:
    MEM_FREE(ctx, shared, component);
    return status;
}

/* Adds one item to the sums. If the tolerance of the item is known, appends it to xi. Returns the
 * new number of values in xi. */
static int64_t correctness_collect(ddsc_theory *t, double *xi, const item_sums *s, int64_t n_known)
{
    double tolerance = item_tolerance(s);
    t->n++;
    t->n_intra += s->intra;
    t->n_inter += s->inter;
    t->n_clean += s->inter == 0;
    t->n_stranded += s->intra == 0;
    if (isnan(tolerance))
        return n_known;
    t->xi = n_known == 0 ? tolerance : fmin(t->xi, tolerance);
    t->n_correct += tolerance > 0;
    xi[n_known] = tolerance;
    return n_known + 1;
}

static ddsc_status correctness_fill(ddsc_context *ctx, ddsc_theory *t, const ddsc_graph *g,
                                    const int32_t *class, const affinity_settings *how)
{
    ddsc_status status = DDSC_OK;
    double *xi = NULL;
    sparse a = {0};
    affinity_report ignored;
    int64_t n_known = 0;
    TRY(MEM_NEW(ctx, xi, g->n));
    TRY(affinity_build(ctx, &a, &ignored, g, how));
    TRY(compare_components(ctx, t, &a, class));
    t->xi = t->xi_median = NAN;
    for (int64_t i = 0; i < g->n; i++) {
        item_sums s = class[i] < 0 ? (item_sums){0} : sum_item(g, &a, class, i);
        if (class[i] >= 0)
            n_known = correctness_collect(t, xi, &s, n_known);
        if (t->item_intra)
            t->item_intra[i] = s.intra;
        if (t->item_inter)
            t->item_inter[i] = s.inter;
        if (t->item_xi)
            t->item_xi[i] = item_tolerance(&s);
    }
    if (n_known > 0)
        t->xi_median = select_smallest(xi, n_known, n_known / 2);
    t->connected = t->n_inter == 0 && t->n_components == t->n_classes;
done:
    sparse_free(ctx, &a);
    mem_free(ctx, xi);
    return status;
}

SIZED_INIT(theory_struct, ddsc_theory, xi_median, NULL);

ddsc_status ddsc_theory_run(ddsc_context *context, ddsc_theory *theory, const ddsc_graph *graph,
                            const int32_t *truth, const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    cluster_plan plan;
    ddsc_theory given;
    int32_t *class = NULL;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, theory, "theory"));
    CHECK(ctx_need(context, graph, "graph"));
    CHECK(ctx_need(context, truth, "truth"));
    TRY(sized_take(context, &theory_struct, &given, theory));
    TRY(cluster_settings_take(context, &plan, settings));
    ddsc_theory found = {
        .item_intra = given.item_intra, .item_inter = given.item_inter, .item_xi = given.item_xi};
    affinity_settings how = decompose_affinity_rule(&plan.set);
    TRY(MEM_NEW(context, class, graph->n));
    TRY(number_classes(context, class, &found.n_classes, truth, graph->n));
    TRY(correctness_fill(context, &found, graph, class, &how));
    sized_give(&theory_struct, theory, &found);
done:
    mem_free(context, class);
    return status;
}
