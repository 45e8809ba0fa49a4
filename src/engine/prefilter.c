/* Rows for a float prefilter, and what their rounding may add up to. */
#include <math.h>

#include "engine/prefilter.h"

ddsc_status screen_create(ddsc_context *ctx, pair_screen *s, int64_t n, int64_t columns)
{
    int64_t size;
    *s = (pair_screen){.n = n, .columns = columns};
    if (!mul_ok(n, columns, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "%lld rows of %lld columns are too many",
                        (long long)n, (long long)columns);
    CHECK(MEM_NEW(ctx, s->rows, size));
    CHECK(MEM_ZERO(ctx, s->offset, n));
    CHECK(MEM_ZERO(ctx, s->tail, n));
    return DDSC_OK;
}

void screen_free(ddsc_context *ctx, pair_screen *s)
{
    mem_free(ctx, s->rows);
    mem_free(ctx, s->offset);
    mem_free(ctx, s->tail);
    *s = (pair_screen){0};
}

/* ---- bounds ---- */

typedef struct bounds {
    const pair_screen *s;
    float *start;
    double *spread;
} bounds;

/* With u = 2^-24, R columns and n = |y|^2: a product of rows is off by at most (R + 1) u |y_i||y_j|
 * in any order of summation (Higham 2002, section 3.1), the rows themselves by u |y|, the three
 * sums that make `low` by u of their size. */
static ddsc_status bound_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const bounds *b = arg;
    int64_t columns = b->s->columns;
    double unit = 0x1.02p-24;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const float *y = b->s->rows + i * columns;
        double norm2 = 0, c = b->s->offset[i];
        for (int64_t k = 0; k < columns; k++)
            norm2 += (double)y[k] * (double)y[k];
        double error = unit * ((double)(columns + 16) * norm2 + 8.0 * fabs(c)) + 1e-30;
        b->start[i] = (float)(c + norm2 - error);
        b->spread[i] = 2.0 * error + b->s->tail[i];
    }
    return DDSC_OK;
}

ddsc_status screen_bounds(ddsc_context *ctx, const pair_screen *s, float *start, double *spread)
{
    return parallel_for(ctx, s->n, 256, bound_range, &(bounds){s, start, spread});
}
