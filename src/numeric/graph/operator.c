/* Builds the normalized affinity M = S^-1/2 A S^-1/2 and computes its product with a block of
 * vectors. */
#include <math.h>

#include "base/blocks.h"
#include "base/simd.h"
#include "numeric/graph/graph.h"

#pragma GCC diagnostic ignored "-Wpsabi"

enum {
    BUILD_ROWS = 4096,
    PIECE_ROWS = 256,
    PIECE_WORK = 1 << 18,
    LANES = SIMD_LANES,
    GROUPS = 2,
    AHEAD = 32,
    NEAR = 1 << 19
};

static bool is_isolated(const sparse *a, int64_t i)
{
    return a->offset[i] == a->offset[i + 1];
}

typedef struct building {
    const sparse *a;
    sparse *m;
    double *degree;
} building;

static ddsc_status sum_degrees(void *arg, int64_t begin, int64_t end, int worker)
{
    const building *b = arg;
    const sparse *a = b->a;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        b->degree[i] = is_isolated(a, i);
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            b->degree[i] += a->value[p];
    }
    return DDSC_OK;
}

static ddsc_status row_sums(ddsc_context *ctx, double *degree, const sparse *a)
{
    building b = {.a = a, .degree = degree};
    CHECK(team_rows(ctx, sparse_rows(ctx, a), BUILD_ROWS, sum_degrees, &b));
    return a->divided ? team_gather(ctx, degree, a->n, block_rows(a->n), sizeof *degree) : DDSC_OK;
}

static ddsc_status scale_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const building *b = arg;
    const sparse *a = b->a, *m = b->m;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double root = sqrt(b->degree[i]);
        int64_t at = m->offset[i];
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++) {
            m->column[at] = a->column[p];
            m->value[at++] = a->value[p] / (root * sqrt(b->degree[a->column[p]]));
        }
        if (is_isolated(a, i)) {
            m->column[at] = (int32_t)i;
            m->value[at] = 1;
        }
    }
    return DDSC_OK;
}

ddsc_status operator_build(ddsc_context *ctx, sparse *m, double *degree, const sparse *a)
{
    int64_t n_isolated = 0;
    CHECK(row_sums(ctx, degree, a));
    DDSC_ASSERT(invariant_between(degree, a->n, AFFINITY_FLOOR / 2, INFINITY));
    for (int64_t i = 0; i < a->n; i++)
        n_isolated += is_isolated(a, i);
    CHECK(sparse_new(ctx, m, a->n, a->nnz + n_isolated));
    m->divided = a->divided;
    for (int64_t i = 0; i < a->n; i++)
        m->offset[i + 1] = m->offset[i] + a->offset[i + 1] - a->offset[i] + is_isolated(a, i);
    building b = {a, m, degree};
    return team_rows(ctx, sparse_rows(ctx, a), BUILD_ROWS, scale_rows, &b);
}

typedef struct operator_product {
    const sparse *m;
    int64_t b;
    double scale, shift, back;
    const double *x;
    double *y;           /* output; its first row is row `first` of the product */
    int64_t first, last; /* first row; last entry */
    bool far;            /* true if x is too large for the caches near the core */
} operator_product;

/* Prefetches the row of x that is needed AHEAD entries later, because the rows are read in
 * irregular order. */
SIMD_INLINE void prefetch(const operator_product *t, const double *x, int groups, int64_t p)
{
    const double *row = x + t->m->column[BASE_MIN(p + AHEAD, t->last)] * t->b;
    for (int g = 0; g < groups; g++)
        __builtin_prefetch(row + g * LANES);
    __builtin_prefetch(row + groups * LANES - 1);
}

/* Computes columns [c, c + groups * LANES) of one row of y in one pass over its entries, with
 * the sums in registers. Columns before `from` are already computed and are not overwritten. */
SIMD_INLINE void row_lanes(const operator_product *t, int64_t i, int64_t c, int groups,
                           int64_t from, bool far)
{
    const double *value = t->m->value, *x = t->x + c;
    const int32_t *column = t->m->column;
    const int64_t b = t->b, end = t->m->offset[i + 1];
    simd_f64 sum[GROUPS];
    for (int g = 0; g < groups; g++)
        sum[g] = simd_all(0);
    for (int64_t p = t->m->offset[i]; p < end; p++) {
        if (far)
            prefetch(t, x, groups, p);
        simd_f64 v = simd_all(value[p]);
        for (int g = 0; g < groups; g++)
            sum[g] += v * simd_load(x + column[p] * b + g * LANES);
    }
    for (int g = 0; g < groups; g++) {
        double *y = t->y + (i - t->first) * b + c + g * LANES;
        simd_f64 step =
            simd_all(t->scale) * (sum[g] - simd_all(t->shift) * simd_load(x + i * b + g * LANES));
        if (t->back != 0)
            step -= simd_all(t->back) * simd_load(y);
        if (from <= c)
            simd_store(y, step);
        else
            for (int64_t k = from - c; k < LANES; k++)
                y[k] = step[k];
    }
}

SIMD_INLINE void row_single(const operator_product *t, int64_t i, int64_t c)
{
    double sum = 0;
    for (int64_t p = t->m->offset[i]; p < t->m->offset[i + 1]; p++)
        sum += t->m->value[p] * t->x[t->m->column[p] * t->b + c];
    double *y = t->y + (i - t->first) * t->b + c;
    *y = t->scale * (sum - t->shift * t->x[i * t->b + c]) - (t->back != 0 ? t->back * *y : 0);
}

SIMD_INLINE void row_product(const operator_product *t, int64_t i, bool far)
{
    int64_t c = 0;
    for (; c + 2 * LANES <= t->b; c += 2 * LANES)
        row_lanes(t, i, c, 2, c, far);
    if (c + LANES <= t->b) {
        row_lanes(t, i, c, 1, c, far);
        c += LANES;
    }
    if (c < t->b && c > 0)
        row_lanes(t, i, t->b - LANES, 1, c, false);
    else
        for (; c < t->b; c++)
            row_single(t, i, c);
}

SIMD_CLONES static ddsc_status product_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const operator_product *t = arg;
    (void)worker;
    if (t->far)
        for (int64_t i = begin; i < end; i++)
            row_product(t, i, true);
    else
        for (int64_t i = begin; i < end; i++)
            row_product(t, i, false);
    return DDSC_OK;
}

static ddsc_status product_run(ddsc_context *ctx, operator_product *t, team_part rows)
{
    t->first = rows.begin;
    t->last = t->m->offset[rows.end] - 1;
    t->far = t->m->n * t->b > NEAR;
    /* Each chunk of rows has enough work to justify waking a thread. Each sum is computed within
     * one chunk. */
    int64_t work = t->b * (t->m->nnz / BASE_MAX(t->m->n, 1) + 2);
    return team_rows(ctx, rows, BASE_MAX(PIECE_ROWS, PIECE_WORK / work), product_rows, t);
}

ddsc_status operator_step(ddsc_context *ctx, const sparse *m, int64_t b, double scale, double shift,
                          double back, const double *x, double *y)
{
    operator_product t = {m, b, scale, shift, back, x, y, 0, 0, false};
    return product_run(ctx, &t, (team_part){0, m->n});
}

ddsc_status operator_apply(ddsc_context *ctx, const sparse *m, int64_t b, const double *x,
                           double *y)
{
    return operator_step(ctx, m, b, 1, 0, 0, x, y);
}

ddsc_status operator_apply_rows(ddsc_context *ctx, const sparse *m, team_part rows, int64_t b,
                                const double *x, double *y)
{
    operator_product t = {m, b, 1, 0, 0, x, y, 0, 0, false};
    return product_run(ctx, &t, rows);
}
