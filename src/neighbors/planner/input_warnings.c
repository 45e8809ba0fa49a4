/* Warns about problems before any distance is computed, such as settings that exceed the size of
 * the set, or coordinates that dominate all others because of their unit. The run continues after a
 * warning. */
#include <math.h>
#include <stdio.h>

#include "data/recipe.h"
#include "data/units.h"
#include "distance/mmd/mmd.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"
#include "numeric/graph/graph.h"

void plan_warn_tau(ddsc_context *ctx, int64_t n, const ddsc_graph_settings *set)
{
    if (n > 1 && set->tau >= n)
        ctx_warn(ctx,
                 "tau = %lld, but there are only %lld other items, so all of them become "
                 "neighbors; reduce tau (--tau)",
                 (long long)set->tau, (long long)n - 1);
}

/* Warns if the bandwidth differs greatly from the distances between points. In this case, all
 * kernel values are 0 or 1 up to rounding errors, and all items have the same distance from each
 * other. */
ddsc_status plan_warn_bandwidth(ddsc_context *ctx, const measures *m,
                                const ddsc_metric_settings *set)
{
    double near;
    if (set->metric != DDSC_METRIC_MMD || set->mmd_kernel == DDSC_KERNEL_ENERGY ||
        set->bandwidth_rule != DDSC_BANDWIDTH_VALUE)
        return DDSC_OK;
    CHECK(mmd_point_distance(ctx, &near, m, 0.05, BANDWIDTH_TRIED));
    if (set->bandwidth < near / BANDWIDTH_SMALL || set->bandwidth > near * BANDWIDTH_LARGE)
        ctx_warn(ctx,
                 "bandwidth = %g is too %s to distinguish items: 5%% of the pairs of points are "
                 "closer than %.3g; use --bandwidth auto",
                 set->bandwidth, set->bandwidth < near ? "small" : "large", near);
    return DDSC_OK;
}

/* ---- copies ---- */

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

ddsc_status plan_warn_clusters(ddsc_context *ctx, const measures *m, int64_t k)
{
    uint64_t *hash;
    int64_t n_distinct = 0;
    if (k < 2)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, hash, m->n));
    for (int64_t i = 0; i < m->n; i++) {
        item_view item = measures_item(m, i);
        hash[i] = (uint64_t)item.n;
        for (int64_t e = 0; e < item.n; e++) {
            union {
                double number;
                uint64_t bits;
            } weight = {item.weight[e]};
            hash[i] = hash_word(hash_word(hash[i], (uint64_t)item.index[e]), weight.bits);
        }
    }
    sort_u64(hash, m->n);
    for (int64_t i = 0; i < m->n; i++)
        n_distinct += i == 0 || hash[i] != hash[i - 1];
    mem_free(ctx, hash);
    if (n_distinct < k)
        ctx_warn(
            ctx,
            "%lld clusters were requested, but only %lld of the %lld items are distinct, which "
            "limits the number of clusters; reduce K (-k)",
            (long long)k, (long long)n_distinct, (long long)m->n);
    return DDSC_OK;
}

bool plan_joins_copies(const measures *m, const ddsc_graph *g)
{
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++)
            if (!measures_equal_items(m, i, g->index[p]))
                return false;
    return g->offset[g->n] > 0;
}

/* ---- coordinates ---- */

typedef struct coordinate_spread {
    double *middle; /* d: mean of the support, which is subtracted to reduce cancellation */
    double *square; /* d: mean over items of the mean square within each item */
    double *sum;    /* d: sum of the item means */
    double *own;    /* d: sum of the squared item means */
    double *mean;   /* d: mean of one item */
} coordinate_spread;

/* Returns the mean squared distance along coordinate k between points of different items. It is the
 * mean of s_i + s_j - 2 u_i u_j over all i != j, where s_i is the mean square and u_i the mean of
 * item i. */
static double between(const coordinate_spread *s, int64_t k, int64_t n)
{
    double count = (double)n * (double)(n - 1);
    return fmax(0, 2 * s->square[k] - 2 * (s->sum[k] * s->sum[k] - s->own[k]) / count);
}

static void add_to_spread(const coordinate_spread *s, const measures *m, int64_t i)
{
    item_view item = measures_item(m, i);
    for (int64_t k = 0; k < m->d; k++)
        s->mean[k] = 0;
    for (int64_t e = 0; e < item.n; e++) {
        const double *point = measures_point(m, item.index[e]);
        for (int64_t k = 0; k < m->d; k++) {
            double x = point[k] - s->middle[k];
            s->mean[k] += item.weight[e] * x;
            s->square[k] += item.weight[e] * x * x / (double)m->n;
        }
    }
    for (int64_t k = 0; k < m->d; k++) {
        s->sum[k] += s->mean[k];
        s->own[k] += s->mean[k] * s->mean[k];
    }
}

/* Writes the name of a coordinate, such as "patient", or its number, such as 2 (of 0 to 5). */
static void describe(char *text, size_t size, const measures *m, int64_t k)
{
    const char *name = ddsc_measures_get_coordinate_name(m, k);
    if (name)
        snprintf(text, size, "\"%.120s\"", name);
    else
        snprintf(text, size, "%lld (of 0 to %lld)", (long long)k, (long long)m->d - 1);
}

static void warn_of_units(ddsc_context *ctx, const coordinate_spread *s, const measures *m,
                          double total)
{
    int64_t most = 0;
    for (int64_t k = 0; k < m->d; k++)
        most = between(s, k, m->n) > between(s, most, m->n) ? k : most;
    double share = between(s, most, m->n) / total;
    char which[160];
    describe(which, sizeof which, m, most);
    if (share >= UNITS_SHARE)
        ctx_warn(
            ctx,
            "coordinate %s accounts for %.4g%% of the squared distances, so the others have almost "
            "no effect; transform it to the scale of the others (--arcsinh) or drop it (--drop)",
            which, 100 * share);
}

/* Returns true if the user requested a transform that rescales the coordinates. */
static bool is_normalized(const measures *m)
{
    for (int64_t k = 0; k < m->recipe.n; k++) {
        int64_t kind = m->recipe.step[3 * k];
        if (kind == RECIPE_STANDARD || kind == RECIPE_ROBUST || kind == RECIPE_RANK)
            return true;
    }
    return false;
}

enum { UNITS_NAMED = 3 };

/* Lists the coordinates with the largest shares, and returns the sum of these shares. */
static double name_largest(char *text, size_t size, const measures *m, const double *share,
                           int64_t n_large)
{
    double total = 0, below = INFINITY;
    int64_t n = BASE_MIN(n_large, UNITS_NAMED), last = -1;
    size_t used = 0;
    text[0] = '\0';
    for (int64_t k = 0; k < n; k++) {
        int64_t most = -1;
        char which[160];
        for (int64_t c = 0; c < m->d; c++) /* finds the next smaller share; ties in order of
                                            * index */
            if ((share[c] < below || (share[c] <= below && c > last)) &&
                (most < 0 || share[c] > share[most]))
                most = c;
        if (most < 0)
            break;
        describe(which, sizeof which, m, most);
        used += (size_t)snprintf(text + used, size - used, "%s%s (%.3g%%)", k ? ", " : "", which,
                                 100 * share[most]);
        total += share[most];
        below = share[most];
        last = most;
    }
    return total;
}

/* Warns if a few coordinates account for nearly all of the distances. Sets *warned to true after a
 * warning. */
static ddsc_status warn_of_scales(ddsc_context *ctx, bool *warned, const measures *m)
{
    static const char *const remedy[] = {
        [DDSC_UNITS_DIFFER] = "if their units differ, use --normalize standard",
        [DDSC_UNITS_INTENSITY] = "if they are intensities, use --arcsinh; if they are counts, use "
                                 "--log1p",
        [DDSC_UNITS_HEAVY] = "if their units differ, use --normalize standard with mmd, and "
                             "--normalize rank with w2, w1, sinkhorn and lot, because extreme "
                             "points dominate some of them"};
    char names[640];
    ddsc_units units = {0};
    CHECK(MEM_ZERO(ctx, units.share, m->d));
    ddsc_status status = units_find(ctx, &units, m);
    *warned = status >= 0 && units.advice != DDSC_UNITS_FINE;
    if (*warned) {
        double total = name_largest(names, sizeof names, m, units.share, units.n_large);
        ctx_warn(ctx,
                 "%lld of %lld coordinates spread less than 1/20 of the widest and have almost no "
                 "effect: %s account for %.4g%% of the squared distances; %s",
                 (long long)units.n_small, (long long)(units.n_small + units.n_large), names,
                 100 * total, remedy[units.advice]);
    }
    mem_free(ctx, units.share);
    return status;
}

/* Returns true if coordinate k is an integer that is constant within each item but varies across
 * items. Such a coordinate is probably an id or a class. */
static bool is_id(const measures *m, int64_t k)
{
    double first = m->support[m->index[0] * m->d + k];
    int64_t n_several = 0;
    bool differs = false;
    for (int64_t i = 0; i < m->n; i++) {
        item_view item = measures_item(m, i);
        double own = measures_point(m, item.index[0])[k];
        if (own != floor(own))
            return false;
        for (int64_t e = 1; e < item.n; e++)
            if (measures_point(m, item.index[e])[k] != own)
                return false;
        n_several += item.n > 1;
        differs |= own != first;
    }
    return differs && 2 * n_several > m->n;
}

ddsc_status plan_warn_coordinates(ddsc_context *ctx, const measures *m)
{
    ddsc_status status = DDSC_OK;
    coordinate_spread s = {0};
    double total = 0;
    if (m->d < 2 || m->n < 2 || m->grid.found || m->words.n > 0)
        return DDSC_OK;
    double **arrays[] = {&s.middle, &s.square, &s.sum, &s.own, &s.mean};
    for (int a = 0; a < 5; a++)
        TRY(MEM_ZERO(ctx, *arrays[a], m->d));
    for (int64_t c = 0; c < m->v * m->d; c++)
        s.middle[c % m->d] += m->support[c] / (double)m->v;
    for (int64_t i = 0; i < m->n; i++)
        add_to_spread(&s, m, i);
    for (int64_t k = 0; k < m->d; k++)
        total += between(&s, k, m->n);
    for (int64_t k = 0; k < m->d; k++)
        if (between(&s, k, m->n) >= ID_SHARE * total && is_id(m, k)) {
            char which[160];
            describe(which, sizeof which, m, k);
            ctx_warn(ctx,
                     "coordinate %s is an integer that is constant within each item; if it is an "
                     "id or a class, exclude it (--drop, --id or --label)",
                     which);
            goto done;
        }
    if (is_normalized(m))
        goto done;
    bool warned;
    TRY(warn_of_scales(ctx, &warned, m));
    if (!warned)
        warn_of_units(ctx, &s, m, total);
done:
    MEM_FREE(ctx, s.middle, s.square, s.sum, s.own, s.mean);
    return status;
}
