/* Detects whether a support lies on a regular grid, where kernels and costs are separable. */
#include <math.h>

#include "data/parts.h"

enum { GRID_MAX_POINTS = 1 << 20 };

/* Sorts the n values along an axis. Returns true if all have the form origin + k step with an
 * integer k. */
static bool axis_regular(double *x, int64_t n, double *origin, double *step, int64_t *shape)
{
    sort_doubles(x, n);
    *origin = x[0];
    *step = 0;
    for (int64_t i = 1; i < n; i++) {
        double gap = x[i] - x[i - 1];
        if (gap > 0 && (*step <= 0 || gap < *step))
            *step = gap;
    }
    if (*step <= 0) {
        *step = 1;
        *shape = 1;
        return true;
    }
    if ((x[n - 1] - x[0]) / *step > GRID_MAX_POINTS)
        return false;
    *step = (x[n - 1] - x[0]) / round((x[n - 1] - x[0]) / *step);
    for (int64_t i = 0; i < n; i++) {
        double k = (x[i] - x[0]) / *step;
        if (fabs(k - round(k)) > 1e-9 * BASE_MAX(1.0, k))
            return false;
    }
    *shape = (int64_t)round((x[n - 1] - x[0]) / *step) + 1;
    return true;
}

ddsc_status parts_find_grid(ddsc_context *ctx, measures_grid *grid, int64_t v, int64_t d,
                            const double *support)
{
    ddsc_status status = DDSC_OK;
    double *axis = NULL;
    measures_grid found = {.found = true};
    int64_t cells = 1;
    *grid = (measures_grid){0};
    if (d > GRID_MAX_DIM || v < 4 || v > GRID_MAX_POINTS)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, axis, v));
    for (int64_t k = 0; k < d; k++) {
        for (int64_t r = 0; r < v; r++)
            axis[r] = support[r * d + k];
        if (!axis_regular(axis, v, &found.origin[k], &found.step[k], &found.shape[k]))
            goto done;
        cells *= found.shape[k];
        if (cells > 4 * v + 64)
            goto done;
    }
    *grid = found;
done:
    mem_free(ctx, axis);
    return status;
}
