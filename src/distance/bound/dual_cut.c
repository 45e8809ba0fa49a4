/* Computes dual cuts: the potentials of a solved pair give bounds on the distances from either item
 * to every other item.
 *
 * Let f be the potential of a solved pair on the points of item i, which has weights a. The
 * c-transform g(y) = min_x (c(x, y) - f(x)) is defined at every point y of the set. The pair (f, g)
 * is feasible for the dual of every transport problem between item i and another item. Therefore,
 * for every item j with weights b,
 *
 * W2^2(i, j) >= sum_x a_x f(x) + sum_y b_y g(y).
 *
 * The right-hand side is a constant plus a linear function of b. It is tight for the solved pair,
 * and useful for items that are similar to the second item of the pair. A cut takes O(n_i v)
 * operations for n_i points in item i and v points in the set, and each bound is one dot product
 * with the weights of j. The v x v cost table limits cuts to sets with few shared points. */
#include <math.h>

#include "base/simd.h"
#include "distance/bound/bound.h"
#include "distance/bound/tuning.h"
#include "numeric/linalg/linalg.h"

bool bound_cut_applies(const measures *m)
{
    return measures_is_shared(m) && m->v <= BOUND_CUT_SUPPORT;
}

ddsc_status bound_cut_table_make(ddsc_context *ctx, bound_cut_table *out, const measures *m)
{
    double unit = bound_unit(m);
    bound_cut_table t = {.v = m->v, .unit2 = unit * unit};
    CHECK(MEM_NEW(ctx, t.cost, m->v * m->v));
    for (int64_t k = 0; k < m->v * m->v; k++) {
        const double *x = measures_point(m, (int32_t)(k / m->v));
        const double *y = measures_point(m, (int32_t)(k % m->v));
        t.cost[k] = (float)(la_distance2(m->d, x, y) / t.unit2);
        t.largest = fmax(t.largest, (double)t.cost[k]);
    }
    *out = t;
    return DDSC_OK;
}

void bound_cut_table_free(ddsc_context *ctx, bound_cut_table *t)
{
    mem_free(ctx, t->cost);
    *t = (bound_cut_table){0};
}

SIMD_CLONES static void lower_to(float *restrict potential, const float *restrict cost, float f,
                                 int64_t n)
{
    for (int64_t y = 0; y < n; y++) {
        float value = cost[y] - f;
        potential[y] = value < potential[y] ? value : potential[y];
    }
}

void bound_cut_make(const bound_cut_table *t, item_view item, const double *f, double *constant,
                    float *potential)
{
    double largest = t->largest;
    *constant = 0;
    for (int64_t y = 0; y < t->v; y++)
        potential[y] = INFINITY;
    for (int64_t x = 0; x < item.n; x++) {
        double own = f[x] / t->unit2;
        *constant += item.weight[x] * own;
        largest = fmax(largest, fabs(own));
        lower_to(potential, t->cost + item.index[x] * t->v, (float)own, t->v);
    }
    /* The rounding errors in cost, f and their difference are each at most 2^-24 times twice
     * `largest`. */
    *constant -= largest * 0x1p-20;
}
