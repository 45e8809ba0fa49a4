/* Creates sets from arrays in memory. The caller's arrays are copied once. */
#include <string.h>

#include "base/sized.h"
#include "data/measures.h"

static ddsc_status check_arrays(ddsc_context *ctx, int64_t n, int64_t v, int64_t d,
                                const double *support, ddsc_on_empty on_empty)
{
    if (n < 1 || d < 1 || v < 0 || (v > 0 && !support))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "measures: %lld items with %lld support points in %lld dimensions "
                        "are not valid",
                        (long long)n, (long long)v, (long long)d);
    if (on_empty != DDSC_EMPTY_ERROR && on_empty != DDSC_EMPTY_DROP)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "on_empty is %d; it must be a value of ddsc_on_empty", (int)on_empty);
    return DDSC_OK;
}

/* Checks the offsets before anything is copied, because offsets[n] determines the size of the
 * other arrays. */
static ddsc_status check_starts(ddsc_context *ctx, int64_t n, const int64_t *offsets)
{
    for (int64_t i = 0; i < n; i++)
        if (offsets[0] != 0 || offsets[i + 1] < offsets[i])
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "offsets must start at 0 and must not decrease, but %lld is "
                            "followed by %lld at item %lld",
                            (long long)offsets[i], (long long)offsets[i + 1], (long long)i);
    return DDSC_OK;
}

ddsc_status ddsc_measures_create_clouds(ddsc_context *ctx, ddsc_measures **out, int64_t n,
                                        int64_t d, const double *points, const double *weights,
                                        const int64_t *offsets, ddsc_on_empty on_empty)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    CHECK(ctx_enter_new(ctx, out));
    CHECK(ctx_need(ctx, offsets, "offsets"));
    TRY(check_arrays(ctx, n, 0, d, points, on_empty));
    TRY(check_starts(ctx, n, offsets));
    TRY(check_arrays(ctx, n, offsets[n], d, points, on_empty));
    p = (measures_parts){.n = n, .v = offsets[n], .nnz = offsets[n], .d = d};
    int64_t n_values = 0;
    if (!mul_ok(p.v, d, &n_values))
        TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%lld points with %lld coordinates are too many",
                     (long long)p.v, (long long)d));
    TRY(MEM_COPY(ctx, p.support, points, n_values));
    TRY(MEM_COPY(ctx, p.offset, offsets, n + 1));
    TRY(MEM_COPY(ctx, p.weight, weights, p.nnz));
    TRY(measures_build(ctx, out, &p, on_empty, "measures"));
done:
    measures_parts_free(ctx, &p);
    return status;
}

static ddsc_status count_points(ddsc_context *ctx, int64_t n, int64_t d, const ddsc_cloud *items,
                                int64_t *n_points)
{
    int64_t n_values;
    *n_points = 0;
    for (int64_t i = 0; i < n; i++)
        if (items[i].n < 0 || (items[i].n > 0 && !items[i].points) ||
            !add_ok(*n_points, items[i].n, n_points) || !mul_ok(*n_points, d, &n_values))
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "items[%lld] with %lld points: points is NULL, or there are too many",
                            (long long)i, (long long)items[i].n);
    return DDSC_OK;
}

static void copy_cloud(double *to, const ddsc_cloud *item, int64_t d)
{
    int64_t n_values = item->n * d;
    const float *from = item->points;
    if (!item->is_float && n_values > 0)
        memcpy(to, item->points, (size_t)n_values * sizeof *to);
    for (int64_t k = 0; item->is_float && k < n_values; k++)
        to[k] = (double)from[k];
}

static ddsc_status gather_items(ddsc_context *ctx, measures_parts *p, const ddsc_cloud *items)
{
    bool weighted = false;
    CHECK(MEM_NEW(ctx, p->support, p->v * p->d));
    CHECK(MEM_ZERO(ctx, p->offset, p->n + 1));
    for (int64_t i = 0; i < p->n; i++) {
        weighted |= items[i].weights != NULL;
        p->offset[i + 1] = p->offset[i] + items[i].n;
        copy_cloud(p->support + p->offset[i] * p->d, &items[i], p->d);
    }
    if (!weighted)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, p->weight, p->nnz));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < items[i].n; k++)
            p->weight[p->offset[i] + k] = items[i].weights ? items[i].weights[k] : 1;
    return DDSC_OK;
}

ddsc_status ddsc_measures_create_items(ddsc_context *ctx, ddsc_measures **out, int64_t n, int64_t d,
                                       const ddsc_cloud *items, ddsc_on_empty on_empty)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    int64_t n_points = 0;
    CHECK(ctx_enter_new(ctx, out));
    CHECK(ctx_need(ctx, items, "items"));
    TRY(check_arrays(ctx, n, 0, d, NULL, on_empty));
    TRY(count_points(ctx, n, d, items, &n_points));
    p = (measures_parts){.n = n, .v = n_points, .nnz = n_points, .d = d};
    TRY(gather_items(ctx, &p, items));
    TRY(measures_build(ctx, out, &p, on_empty, "measures"));
done:
    measures_parts_free(ctx, &p);
    return status;
}

SIZED_INIT(shared_struct, ddsc_shared_items, weights, NULL);

ddsc_status ddsc_measures_create_shared(ddsc_context *ctx, ddsc_measures **out,
                                        const ddsc_shared_items *items, ddsc_on_empty on_empty)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    ddsc_shared_items own;
    int64_t n_values = 0;
    CHECK(ctx_enter_new(ctx, out));
    TRY(sized_take(ctx, &shared_struct, &own, items));
    int64_t n = own.n_items, v = own.n_support, d = own.dim;
    if (!own.offsets)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "offsets is NULL");
    TRY(check_arrays(ctx, n, v, d, own.support, on_empty));
    TRY(check_starts(ctx, n, own.offsets));
    if (!mul_ok(v, d, &n_values) || (own.offsets[n] > 0 && !own.indices))
        TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "indices is NULL or the support is too large"));
    p = (measures_parts){.n = n, .v = v, .nnz = own.offsets[n], .d = d};
    TRY(MEM_COPY(ctx, p.support, own.support, n_values));
    TRY(MEM_COPY(ctx, p.offset, own.offsets, n + 1));
    TRY(MEM_COPY(ctx, p.index, own.indices, p.nnz));
    if (own.weights)
        TRY(MEM_COPY(ctx, p.weight, own.weights, p.nnz));
    TRY(measures_build(ctx, out, &p, on_empty, "measures"));
done:
    measures_parts_free(ctx, &p);
    return status;
}

/* Copies the nonzero entries of n x v histograms. NaN and negative entries are also copied, so that
 * measures_build reports an error. */
static ddsc_status sparse_from_dense(ddsc_context *ctx, measures_parts *p, const double *histograms)
{
    CHECK(MEM_ZERO(ctx, p->offset, p->n + 1));
    for (int64_t i = 0; i < p->n; i++) {
        p->offset[i + 1] = p->offset[i];
        for (int64_t j = 0; j < p->v; j++)
            p->offset[i + 1] += histograms[i * p->v + j] != 0;
    }
    p->nnz = p->offset[p->n];
    CHECK(MEM_NEW(ctx, p->index, p->nnz));
    CHECK(MEM_NEW(ctx, p->weight, p->nnz));
    int64_t e = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->v; j++)
            if (histograms[i * p->v + j] != 0) {
                p->index[e] = (int32_t)j;
                p->weight[e++] = histograms[i * p->v + j];
            }
    return DDSC_OK;
}

ddsc_status ddsc_measures_create_dense(ddsc_context *ctx, ddsc_measures **out, int64_t n, int64_t v,
                                       int64_t d, const double *support, const double *histograms,
                                       ddsc_on_empty on_empty)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {.n = n, .v = v, .d = d};
    int64_t n_values = 0, n_cells = 0;
    CHECK(ctx_enter_new(ctx, out));
    TRY(check_arrays(ctx, n, v, d, support, on_empty));
    if (!histograms || v > INT32_MAX || !mul_ok(v, d, &n_values) || !mul_ok(n, v, &n_cells))
        TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "histograms is NULL or too large"));
    TRY(MEM_COPY(ctx, p.support, support, n_values));
    TRY(sparse_from_dense(ctx, &p, histograms));
    TRY(measures_build(ctx, out, &p, on_empty, "measures"));
done:
    measures_parts_free(ctx, &p);
    return status;
}
