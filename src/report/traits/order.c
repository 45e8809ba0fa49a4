/* Describes the order of the items along the main direction: its stability if the items form a
 * continuum, and the coordinates that change along it. `ddsc order` reports more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/traits/traits.h"

enum {
    ORDER_CURVE = 21,  /* positions of a smooth curve */
    ORDER_CURVES = 24, /* coordinates with a curve */
    ORDER_DIM = 200,   /* maximum number of coordinates that are compared with the order */
    ORDER_ITEMS = 2000 /* if there are more items, the stability is not computed */
};
/* An order is stable if the rank correlation between the orders of two halves is at least this
 * value. */
static const double ORDER_STABLE = 0.8;
/* Width of the kernel of the curves, as a share of the order. */
static const double ORDER_WIDTH = 0.1;

/* ---- stability ---- */

/* Fills `row` with a random half of the entries of item i. If the item has a single point, both
 * halves contain it. */
static int64_t draw_half(const ddsc_report *r, int64_t i, int side, int64_t *row)
{
    const int64_t *offset = r->items.offset;
    int64_t n = offset[i + 1] - offset[i], half = n / 2, from = side ? half : 0;
    for (int64_t k = 0; k < n; k++)
        row[k] = offset[i] + k;
    for (int64_t k = n - 1; k > 0; k--) {
        int64_t other = (int64_t)(rng_hash(ctx_seed(r->ctx), RNG_ORDER, (uint64_t)i, (uint64_t)k) %
                                  (uint64_t)(k + 1));
        int64_t kept = row[k];
        row[k] = row[other];
        row[other] = kept;
    }
    if (n < 2)
        return n;
    int64_t size = side ? n - half : half;
    memmove(row, row + from, (size_t)size * sizeof *row);
    return size;
}

static ddsc_status make_half(const ddsc_report *r, ddsc_context *ctx, ddsc_measures **out, int side)
{
    ddsc_status status = DDSC_OK;
    const ddsc_measures_view *v = &r->items;
    double *points = NULL, *weights = NULL;
    int64_t *offset = NULL, *row = NULL, used = 0;
    TRY(MEM_NEW(r->ctx, points, v->n_entries * v->dim));
    TRY(MEM_NEW(r->ctx, weights, v->n_entries));
    TRY(MEM_NEW(r->ctx, offset, v->n_items + 1));
    TRY(MEM_NEW(r->ctx, row, v->n_entries));
    offset[0] = 0;
    for (int64_t i = 0; i < v->n_items; i++) {
        int64_t n = draw_half(r, i, side, row);
        for (int64_t k = 0; k < n; k++, used++) {
            weights[used] = v->weight[row[k]];
            memcpy(points + used * v->dim, v->support + v->index[row[k]] * v->dim,
                   (size_t)v->dim * sizeof *points);
        }
        offset[i + 1] = used;
    }
    TRY(ddsc_measures_create_clouds(ctx, out, v->n_items, v->dim, points, weights, offset,
                                    DDSC_EMPTY_ERROR));
done:
    MEM_FREE(r->ctx, points, weights, offset, row);
    return status;
}

/* Other errors mean that there is too little data for halves. */
static bool is_fatal(ddsc_status status)
{
    return status == DDSC_ERROR_MEMORY || status == DDSC_ERROR_CANCELED;
}

/* Orders the items by half of their points. A separate context is used, so that its warnings and
 * stages do not become part of the result. */
static ddsc_status order_by_half(ddsc_report *r, int64_t *rank, int side)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = NULL;
    ddsc_measures *half = NULL;
    ddsc_clustering *found = NULL;
    result_plan plan = r->plan;
    TRY(ctx_create_quiet(&ctx, r->ctx));
    plan.set.k_min = plan.set.k_max = r->k;
    plan.set.metric = &plan.metric;
    plan.set.graph = &plan.graph;
    TRY(make_half(r, ctx, &half, side));
    TRY(ddsc_cluster_run(ctx, &found, half, &plan.set));
    TRY(ddsc_order_run(ctx, rank, found));
done:
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(half);
    ctx_close_quiet(r->ctx, ctx, is_fatal(status) ? status : DDSC_OK);
    return status;
}

/* Returns the correlation of n pairs of numbers, or 0 if either is constant. */
static double correlation(const double *x, const double *y, int64_t n)
{
    double m = 0, mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        m++;
        mx += x[i];
        my += y[i];
    }
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - mx / m) * (x[i] - mx / m);
        yy += (y[i] - my / m) * (y[i] - my / m);
        xy += (x[i] - mx / m) * (y[i] - my / m);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* Computes the rank correlation of the orders of two halves, or NaN if a half has no order. One pair
 * of halves is enough: on 634 kidney biopsies, its standard deviation over six pairs is .009 for mmd
 * and .021 for w2, and with three pairs the whole run takes 1.6 times the CPU time. */
static ddsc_status find_stability(ddsc_report *r, double *rho)
{
    ddsc_status status = DDSC_OK;
    int64_t n = r->view.n, *rank[2] = {NULL, NULL}, m = 0;
    double *x = NULL, *y = NULL;
    *rho = NAN;
    TRY(MEM_NEW(r->ctx, x, n));
    TRY(MEM_NEW(r->ctx, y, n));
    for (int side = 0; side < 2; side++) {
        TRY(MEM_NEW(r->ctx, rank[side], n));
        status = order_by_half(r, rank[side], side);
        if (status < 0)
            goto done;
    }
    for (int64_t i = 0; i < n; i++)
        if (rank[0][i] >= 0 && rank[1][i] >= 0) {
            x[m] = (double)rank[0][i];
            y[m++] = (double)rank[1][i];
        }
    if (m >= 3)
        *rho = fabs(correlation(x, y, m));
done:
    MEM_FREE(r->ctx, rank[0], rank[1], x, y);
    return is_fatal(status) ? status : DDSC_OK;
}

/* Returns true if the stability should be computed. Only the report on a continuum may begin with
 * the order. */
static bool wants_stability(const ddsc_report *r)
{
    const char *level =
        json_string_value(json_object_get(json_object_get(r->tree, "verdict"), "level"));
    return level && strcmp(level, "continuum") == 0 && r->view.n <= ORDER_ITEMS &&
           r->view.n_joined == 0 && !r->items.is_grid && !result_has_words(r) &&
           r->items.n_entries >= 4 * r->view.n;
}

/* ---- curves ---- */

typedef struct trait {
    int64_t coordinate;
    double rho;
} trait;

static int by_size(const void *a, const void *b)
{
    const trait *x = a, *y = b;
    if (fabs(x->rho) < fabs(y->rho) || fabs(x->rho) > fabs(y->rho))
        return fabs(x->rho) < fabs(y->rho) ? 1 : -1;
    return (x->coordinate > y->coordinate) - (x->coordinate < y->coordinate);
}

/* Replaces the values with their ranks. Equal values have the mean of their ranks. */
static ddsc_status rank_means(const ddsc_report *r, double *rank, const double *value, int64_t n)
{
    ddsc_status status = DDSC_OK;
    int32_t *order = NULL;
    TRY(MEM_NEW(r->ctx, order, n));
    sort_order(order, value, n);
    for (int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && !(value[order[end]] > value[order[begin]]);)
            end++;
        for (int64_t k = begin; k < end; k++)
            rank[order[k]] = (double)(begin + end - 1) / 2;
    }
done:
    mem_free(r->ctx, order);
    return status;
}

static void item_values(const ddsc_report *r, const int64_t *item, int64_t n, int64_t coordinate,
                        double *value)
{
    const ddsc_measures_view *m = &r->items;
    for (int64_t k = 0; k < n; k++) {
        value[k] = 0;
        for (int64_t e = m->offset[item[k]]; e < m->offset[item[k] + 1]; e++)
            value[k] += m->weight[e] * m->support[m->index[e] * m->dim + coordinate];
    }
}

/* Writes the smooth mean of the ordered values and its pointwise 95% band, assuming independent
 * items. */
static void put_curve(ddsc_report *r, json_t *row, const double *value, int64_t n)
{
    json_t *mean = put_array(r, row, "mean"), *half = put_array(r, row, "half");
    for (int c = 0; c < ORDER_CURVE; c++) {
        double at = (double)c / (ORDER_CURVE - 1), sum = 0, mass = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            double off = ((double)i / (double)(n - 1) - at) / ORDER_WIDTH, w = exp(-off * off / 2);
            mass += w;
            sum += w * value[i];
        }
        for (int64_t i = 0; i < n; i++) {
            double off = ((double)i / (double)(n - 1) - at) / ORDER_WIDTH, w = exp(-off * off / 2);
            square += w * w * (value[i] - sum / mass) * (value[i] - sum / mass);
        }
        put_last(r, mean, json_real(sum / mass));
        put_last(r, half, json_real(1.96 * sqrt(square) / mass));
    }
}

static ddsc_status put_curves(ddsc_report *r, json_t *order, const int64_t *item, int64_t n)
{
    ddsc_status status = DDSC_OK;
    int64_t dim = BASE_MIN(r->items.dim, ORDER_DIM);
    double *value = NULL, *rank = NULL, *position = NULL;
    trait *traits = NULL;
    json_t *list = put_array(r, order, "coordinates");
    TRY(MEM_NEW(r->ctx, value, n));
    TRY(MEM_NEW(r->ctx, rank, n));
    TRY(MEM_NEW(r->ctx, position, n));
    TRY(MEM_NEW(r->ctx, traits, dim));
    for (int64_t k = 0; k < n; k++)
        position[k] = (double)k;
    for (int64_t a = 0; a < dim; a++) {
        item_values(r, item, n, a, value);
        TRY(rank_means(r, rank, value, n));
        traits[a] = (trait){a, correlation(position, rank, n)};
    }
    qsort(traits, (size_t)dim, sizeof *traits, by_size);
    for (int64_t a = 0; a < dim && a < ORDER_CURVES; a++) {
        json_t *row = put_row(r, list);
        item_values(r, item, n, traits[a].coordinate, value);
        put_text(r, row, "name",
                 ddsc_measures_get_coordinate_name(r->measures, traits[a].coordinate));
        put_real(r, row, "rho", traits[a].rho);
        put_curve(r, row, value, n);
    }
done:
    MEM_FREE(r->ctx, value, rank, position, traits);
    return status;
}

ddsc_status traits_put_order(ddsc_report *r, json_t *root)
{
    ddsc_status status = DDSC_OK;
    int64_t *item = NULL, n = 0;
    double rho = NAN;
    if (!r->order || !r->measures || r->items.is_grid || result_has_words(r) ||
        !ddsc_measures_get_coordinate_name(r->measures, 0))
        return DDSC_OK;
    TRY(MEM_NEW(r->ctx, item, r->view.n));
    for (int64_t i = 0; i < r->view.n; i++)
        item[i] = -1;
    for (int64_t i = 0; i < r->view.n; i++)
        if (r->order[i] >= 0)
            item[r->order[i]] = i;
    for (int64_t k = 0; k < r->view.n; k++)
        if (item[k] >= 0)
            item[n++] = item[k];
    if (n < 5)
        goto done;
    if (wants_stability(r))
        TRY(find_stability(r, &rho));
    json_t *order = put_object(r, root, "order");
    put_count(r, order, "items", n);
    put_real(r, order, "stability", rho);
    put_bool(r, order, "leads", rho >= ORDER_STABLE);
    TRY(put_curves(r, order, item, n));
done:
    mem_free(r->ctx, item);
    return status;
}
