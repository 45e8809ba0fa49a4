/* Computes costs between points: |x - y|^2, |x - y|, the sum of |x_k - y_k|, or an entry of a
 * matrix. */
#include "distance/cost/ground.h"

#include <math.h>

#include "base/simd.h"

const ground_cost ground_sqeuclidean = {.kind = DDSC_COST_SQEUCLIDEAN};

ground_cost ground_of(const ddsc_metric_settings *set)
{
    ground_cost g = {.kind = (ddsc_cost)set->cost};
    if (g.kind == DDSC_COST_COSINE || g.kind == DDSC_COST_DEFAULT)
        g.kind = DDSC_COST_SQEUCLIDEAN;
    if (g.kind == DDSC_COST_MATRIX) {
        g.matrix = set->cost_matrix;
        g.size = set->cost_size;
    }
    return g;
}

SIMD_CLONES void ground_finish(ddsc_cost kind, double *cost, int64_t n)
{
    if (kind != DDSC_COST_EUCLIDEAN)
        return;
    for (int64_t k = 0; k < n; k++)
        cost[k] = sqrt(cost[k]);
}

/* ---- city block ---- */

SIMD_CLONES static void city_row(double *restrict out, const double *x, int64_t axis, int64_t d,
                                 const point_block *y)
{
    for (int64_t j = 0; j < y->n; j++)
        out[j] = 0;
    for (int64_t k = 0; k < d; k++) {
        const double *to = y->x + k * y->axis;
        for (int64_t j = 0; j < y->n; j++)
            out[j] += fabs(x[k * axis] - to[j]);
    }
}

static double city_between(int64_t d, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += fabs(x[k] - y[k]);
    return sum;
}

void ground_block(ddsc_cost kind, const kernels *k, double *out, int64_t ld, int64_t d,
                  point_block rows, point_block columns)
{
    if (ground_from_squares(kind))
        k->distances(out, ld, d, rows, columns);
    for (int64_t i = 0; i < rows.n; i++)
        if (kind == DDSC_COST_CITYBLOCK)
            city_row(out + i * ld, rows.x + i * rows.step, rows.axis, d, &columns);
        else
            ground_finish(kind, out + i * ld, columns.n);
}

/* ---- costs between listed points ---- */

static int64_t matrix_row(const measures *m, int32_t point)
{
    return (int64_t)m->support[point];
}

static void list_row(const ground_cost *g, double *cost, const measures *m, int32_t point,
                     const point_list *y)
{
    const double *from = g->matrix ? g->matrix + matrix_row(m, point) * g->size : NULL;
    for (int64_t q = 0; q < y->n; q++)
        cost[q] =
            from ? from[matrix_row(y->m, y->index[q])]
                 : city_between(m->d, measures_point(m, point), measures_point(y->m, y->index[q]));
}

void ground_lists(const ground_cost *g, double *cost, const point_list *x, const double *x_norm,
                  const point_list *y, const double *y_norm)
{
    if (ground_from_squares(g->kind)) {
        cost_products(cost, x, x_norm, y, y_norm);
        ground_finish(g->kind, cost, x->n * y->n);
        return;
    }
    for (int64_t p = 0; p < x->n; p++)
        list_row(g, cost + p * y->n, x->m, x->index[p], y);
}

/* ---- properties of a whole set ---- */

double ground_range(const ground_cost *g, const measures *m)
{
    double total = 0, largest = 0;
    for (int64_t k = 0; k < g->size * g->size; k++)
        largest = fmax(largest, g->matrix[k]);
    if (g->kind == DDSC_COST_MATRIX)
        return largest;
    for (int64_t k = 0; k < m->d; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t r = 0; r < m->v; r++) {
            low = fmin(low, m->support[r * m->d + k]);
            high = fmax(high, m->support[r * m->d + k]);
        }
        double extent = m->v > 0 ? high - low : 0;
        total += g->kind == DDSC_COST_CITYBLOCK ? extent : extent * extent;
    }
    return g->kind == DDSC_COST_EUCLIDEAN ? sqrt(total) : total;
}

ddsc_status ground_check(ddsc_context *ctx, const ground_cost *g, const measures *m)
{
    if (g->kind != DDSC_COST_MATRIX)
        return DDSC_OK;
    if (m->d != 1)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "cost matrix: points must have a single coordinate, which is their row "
                        "in the matrix (0 to %lld); these points have %lld coordinates",
                        (long long)g->size - 1, (long long)m->d);
    for (int64_t r = 0; r < m->v; r++) {
        double x = m->support[r];
        if (!(x >= 0 && x < (double)g->size && x == floor(x)))
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "cost matrix: a point has the coordinate %g, but it must be a row "
                            "number of the matrix (0 to %lld)",
                            x, (long long)g->size - 1);
    }
    return DDSC_OK;
}
