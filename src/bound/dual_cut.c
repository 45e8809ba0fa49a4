/* Dual cuts: potentials of one solved pair bound the distance of its ends to every other item. */
#include <math.h>

#include "base/simd.h"
#include "bound/bound.h"
#include "linalg/linalg.h"

ddsc_status cut_table_make(ddsc_context *ctx, cut_table *out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    double unit = bounds_unit(m);
    cut_table t = {.v = m->v, .unit2 = unit * unit};
    TRY(MEM_NEW(ctx, t.cost, m->v * m->v));
    for (int64_t r = 0; r < m->v; r++)
        for (int64_t c = 0; c < m->v; c++) {
            float cost = (float)(la_distance2(m->d, measures_point(m, (int32_t)r),
                                              measures_point(m, (int32_t)c)) /
                                 t.unit2);
            t.cost[r * m->v + c] = cost;
            t.largest = fmax(t.largest, (double)cost);
        }
    *out = t;
    t.cost = NULL;
done:
    mem_free(ctx, t.cost);
    return status;
}

void cut_table_free(ddsc_context *ctx, cut_table *t)
{
    mem_free(ctx, t->cost);
    *t = (cut_table){0};
}

SIMD_CLONES static void lower_to(float *restrict potential, const float *restrict cost, float f,
                                 int64_t n)
{
    for (int64_t y = 0; y < n; y++) {
        float value = cost[y] - f;
        potential[y] = value < potential[y] ? value : potential[y];
    }
}

void cut_make(const cut_table *t, item_view item, const double *f, double *constant,
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
    /* Rounding of cost, f and their difference is each at most 2^-24 of twice the largest. */
    *constant -= largest * 0x1p-20;
}
