/* Tests whether the items differ by more than a random assignment of points to items would explain.
 * The test is used for sets that are too small to show gaps. It is a permutation test of the
 * hypothesis "all items are samples of one distribution". A point is described by its coordinates,
 * their squared differences from the overall mean (unless this is too much work), and the sum of
 * these squares, each standardized. The statistic T is the sum over items of the squared mean
 * description times the number of points.
 *
 * Under the hypothesis, weighted points are exchangeable, so permuting them does not change the
 * distribution of T (Fisher 1935). Then p = (1 + b) / (1 + permutations), where b permutations have
 * a statistic of at least T.
 *
 * p is not computed in the following cases. If items share a support (images, histograms,
 * documents), their points are not exchangeable, because no point occurs twice in an item. Points
 * with arbitrary weights are not exchangeable either. If each item has a single point, T is the
 * same for every permutation. */
#include <math.h>
#include <string.h>

#include "assess/quality/verdict.h"

/* maximum of entries x numbers per description x permutations */
enum { PERMUTATIONS = 199, PERMUTATION_WORK = 100000000 };

typedef struct point_table {
    int64_t m, f;           /* number of entries; numbers per description */
    double *x;              /* m x f */
    double *weight;         /* m: weight relative to the mean weight in the item */
    int64_t *first, *place; /* items + 1: start of each item's entries; m: the permutation */
    double *mean;           /* f */
} point_table;

static void describe_point(const point_table *p, const ddsc_measures_view *v, const double *mean,
                           int64_t entry, double *x)
{
    const double *point = v->support + v->index[entry] * v->dim;
    int64_t last = p->f - 1;
    x[last] = 0;
    for (int64_t c = 0; c < v->dim; c++) {
        x[c] = point[c] - mean[c];
        x[last] += x[c] * x[c];
        if (p->f > v->dim + 1)
            x[v->dim + c] = x[c] * x[c];
    }
}

/* Subtracts the mean and divides by the standard deviation. Constant columns become 0. */
static void standardize(const point_table *p)
{
    for (int64_t c = 0; c < p->f; c++) {
        double sum = 0, square = 0, mass = 0;
        for (int64_t e = 0; e < p->m; e++) {
            sum += p->weight[e] * p->x[e * p->f + c];
            mass += p->weight[e];
        }
        sum /= mass;
        for (int64_t e = 0; e < p->m; e++)
            square += p->weight[e] * (p->x[e * p->f + c] - sum) * (p->x[e * p->f + c] - sum) / mass;
        for (int64_t e = 0; e < p->m; e++)
            p->x[e * p->f + c] = square > 0 ? (p->x[e * p->f + c] - sum) / sqrt(square) : 0;
    }
}

/* Uses every step-th entry of each item, and at least one entry per item. */
static ddsc_status point_table_open(ddsc_context *ctx, point_table *p, const ddsc_measures_view *v)
{
    ddsc_status status = DDSC_OK;
    int64_t most = BASE_MAX(PERMUTATION_WORK / (PERMUTATIONS * p->f), 2 * v->n_items);
    int64_t step = 1 + v->n_entries / BASE_MAX(most, 1);
    double *center = NULL;
    TRY(MEM_NEW(ctx, p->first, v->n_items + 1));
    p->first[0] = 0;
    for (int64_t i = 0; i < v->n_items; i++)
        p->first[i + 1] = p->first[i] + (v->offset[i + 1] - v->offset[i] + step - 1) / step;
    p->m = p->first[v->n_items];
    TRY(MEM_NEW(ctx, p->x, p->m * p->f));
    TRY(MEM_NEW(ctx, p->weight, p->m));
    TRY(MEM_NEW(ctx, p->place, p->m));
    TRY(MEM_NEW(ctx, p->mean, p->f));
    TRY(MEM_ZERO(ctx, center, v->dim));
    for (int64_t e = 0; e < v->n_entries; e++) /* all items have the same weight */
        for (int64_t c = 0; c < v->dim; c++)
            center[c] += v->weight[e] * v->support[v->index[e] * v->dim + c] / (double)v->n_items;
    for (int64_t i = 0; i < v->n_items; i++)
        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++) {
            int64_t e = v->offset[i] + (k - p->first[i]) * step;
            p->weight[k] = v->weight[e] * (double)(v->offset[i + 1] - v->offset[i]);
            p->place[k] = k;
            describe_point(p, v, center, e, p->x + k * p->f);
        }
    standardize(p);
done:
    mem_free(ctx, center);
    return status;
}

static double differences(const point_table *p, int64_t n)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        double mass = 0, square = 0;
        memset(p->mean, 0, (size_t)p->f * sizeof *p->mean);
        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++) {
            const double *x = p->x + p->place[k] * p->f;
            double weight = p->weight[p->place[k]];
            mass += weight;
            for (int64_t c = 0; c < p->f; c++)
                p->mean[c] += weight * x[c];
        }
        for (int64_t c = 0; c < p->f; c++)
            square += p->mean[c] * p->mean[c];
        total += mass > 0 ? (double)(p->first[i + 1] - p->first[i]) * square / (mass * mass) : 0;
    }
    return total;
}

/* Returns true if the items could be random samples. Almost every point must belong to a single
 * item. All weights in an item must be integer multiples of its smallest weight, as they are after
 * equal points were merged. Points with other weights are not exchangeable, because weights are
 * normalized per item. */
static bool are_draws(const ddsc_measures_view *v)
{
    if (10 * v->n_support < 9 * v->n_entries)
        return false;
    for (int64_t i = 0; i < v->n_items; i++) {
        double least = INFINITY;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            least = fmin(least, v->weight[e]);
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            double times = v->weight[e] / least;
            if (!(fabs(times - nearbyint(times)) <= 1e-6 * times && times < 100))
                return false;
        }
    }
    return true;
}

ddsc_status permutation_test_items(ddsc_context *ctx, double *p_value, const ddsc_measures *data,
                                   int64_t cost)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures_view v;
    ddsc_measures_get_view(data, &v);
    int64_t n = v.n_items, beyond = 0;
    int64_t most =
        PERMUTATION_WORK / (2 * PERMUTATIONS * BASE_MAX(n, 1)); /* numbers per description */
    point_table p = {.f = 2 * v.dim + 1 <= most ? 2 * v.dim + 1 : v.dim + 1};
    *p_value = NAN;
    if (n < 2 || v.n_entries == n || p.f > most || cost == DDSC_COST_MATRIX ||
        cost == DDSC_COST_COSINE || !are_draws(&v))
        return DDSC_OK;
    TRY(point_table_open(ctx, &p, &v));
    double found = differences(&p, n);
    for (uint64_t draw = 0; draw < PERMUTATIONS; draw++) {
        rng random = rng_make(ctx_seed(ctx), RNG_ABOUT, (UINT64_C(1) << 40) + draw);
        for (int64_t k = p.m - 1; k > 0; k--) {
            int64_t j = rng_below(&random, k + 1), kept = p.place[k];
            p.place[k] = p.place[j];
            p.place[j] = kept;
        }
        beyond += differences(&p, n) >= found * (1 - 1e-9);
    }
    *p_value = (double)(1 + beyond) / (1 + PERMUTATIONS);
done:
    MEM_FREE(ctx, p.x, p.weight, p.first, p.place, p.mean);
    return status;
}
