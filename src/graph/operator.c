/* The normalised affinity M = S^-1/2 A S^-1/2 and its product with a block of vectors. */
#include <math.h>

#include "base/simd.h"
#include "graph/graph.h"

#pragma GCC diagnostic ignored "-Wpsabi"

enum { PIECE_ROWS = 256, PIECE_WORK = 1 << 20, LANES = SIMD_LANES, AHEAD = 32, NEAR = 1 << 17 };

static void row_sums(double *degree, int64_t *n_isolated, const sparse *a)
{
    *n_isolated = 0;
    for (int64_t i = 0; i < a->n; i++) {
        degree[i] = 0;
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            degree[i] += a->value[p];
        if (a->offset[i] == a->offset[i + 1]) {
            degree[i] = 1;
            ++*n_isolated;
        }
    }
}

ddsc_status operator_build(ddsc_context *ctx, sparse *m, double *degree, const sparse *a)
{
    int64_t n_isolated;
    row_sums(degree, &n_isolated, a);
    CHECK(sparse_new(ctx, m, a->n, a->nnz + n_isolated));
    int64_t at = 0;
    for (int64_t i = 0; i < a->n; i++) {
        double root = sqrt(degree[i]);
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++) {
            m->column[at] = a->column[p];
            m->value[at++] = a->value[p] / (root * sqrt(degree[a->column[p]]));
        }
        if (a->offset[i] == a->offset[i + 1]) {
            m->column[at] = (int32_t)i;
            m->value[at++] = 1;
        }
        m->offset[i + 1] = at;
    }
    return DDSC_OK;
}

typedef struct operator_product {
    const sparse *m;
    int64_t b;
    double scale, shift, back;
    const double *x;
    double *y;
    bool far; /* x is larger than a near cache */
} operator_product;

/* Rows of x are read all over memory; those that come AHEAD entries later are asked for now. */
SIMD_INLINE void ask(const operator_product *t, int64_t p)
{
    const double *x = t->x + t->m->column[BASE_MIN(p + AHEAD, t->m->nnz - 1)] * t->b;
    for (int64_t c = 0; c < t->b; c += LANES)
        __builtin_prefetch(x + c);
    __builtin_prefetch(x + t->b - 1);
}

/* One row of y, columns [c, c + LANES): the sums stay in a register. Columns before `from` have been
 * done. */
SIMD_INLINE void row_lanes(const operator_product *t, int64_t i, int64_t c, int64_t from, bool far)
{
    simd_f64 sum = simd_all(0);
    for (int64_t p = t->m->offset[i]; p < t->m->offset[i + 1]; p++) {
        if (far)
            ask(t, p);
        sum += simd_all(t->m->value[p]) * simd_load(t->x + t->m->column[p] * t->b + c);
    }
    double *y = t->y + i * t->b + c;
    simd_f64 step =
        simd_all(t->scale) * (sum - simd_all(t->shift) * simd_load(t->x + i * t->b + c));
    if (t->back != 0)
        step -= simd_all(t->back) * simd_load(y);
    for (int64_t k = from - c; k < LANES; k++)
        y[k] = step[k];
}

SIMD_INLINE void row_single(const operator_product *t, int64_t i, int64_t c)
{
    double sum = 0;
    for (int64_t p = t->m->offset[i]; p < t->m->offset[i + 1]; p++)
        sum += t->m->value[p] * t->x[t->m->column[p] * t->b + c];
    double *y = t->y + i * t->b + c;
    *y = t->scale * (sum - t->shift * t->x[i * t->b + c]) - (t->back != 0 ? t->back * *y : 0);
}

SIMD_CLONES static ddsc_status product_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const operator_product *t = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t c = 0;
        for (; c + LANES <= t->b; c += LANES)
            row_lanes(t, i, c, c, t->far && c == 0);
        if (c < t->b && c > 0)
            row_lanes(t, i, t->b - LANES, c, false);
        else
            for (; c < t->b; c++)
                row_single(t, i, c);
    }
    return DDSC_OK;
}

ddsc_status operator_step(ddsc_context *ctx, const sparse *m, int64_t b, double scale, double shift,
                          double back, const double *x, double *y)
{
    operator_product t = {m, b, scale, shift, back, x, y, m->n * b > NEAR};
    /* Pieces large enough to be worth a thread; no sum crosses them. */
    int64_t work = b * (m->nnz / BASE_MAX(m->n, 1) + 2);
    return parallel_for(ctx, m->n, BASE_MAX(PIECE_ROWS, PIECE_WORK / work), product_rows, &t);
}

ddsc_status operator_apply(ddsc_context *ctx, const sparse *m, int64_t b, const double *x,
                           double *y)
{
    return operator_step(ctx, m, b, 1, 0, 0, x, y);
}
