/* Rows, cells and bounds of the costs of one problem, min(c(x_i, y_j), cap). */
#include "distance/exact/cost_rows.h"

#include <math.h>

const double *exact_cost_row(const exact_costs *c, int64_t i)
{
    if (!c->dense)
        ground_block(c->kind, c->k, c->row, c->m, c->d, (point_block){c->x + i * c->d, 1, c->d, 1},
                     (point_block){c->y, c->m, 1, c->stride});
    const double *from = c->dense ? c->dense + i * c->m : c->row;
    if (isinf(c->cap))
        return from;
    for (int64_t j = 0; j < c->m; j++)
        c->row[j] = from[j] < c->cap ? from[j] : c->cap;
    return c->row;
}

double exact_cost_between(const exact_costs *c, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < c->d; k++) {
        double t = c->x[i * c->d + k] - c->y[k * c->stride + j];
        sum += c->kind == DDSC_COST_CITYBLOCK ? fabs(t) : t * t;
    }
    return c->kind == DDSC_COST_EUCLIDEAN ? sqrt(sum) : sum;
}

/* Costs are at most that between two corners of the box around both sets. */
static double box_diagonal(const exact_costs *c)
{
    double sum = 0;
    for (int64_t k = 0; k < c->d; k++) {
        const double *y = c->y + k * c->stride;
        double x_low = c->x[k], x_high = x_low, y_low, y_high;
        for (int64_t i = 1; i < c->n; i++) {
            double t = c->x[i * c->d + k];
            x_low = t < x_low ? t : x_low;
            x_high = t > x_high ? t : x_high;
        }
        c->k->range(&y_low, &y_high, y, c->m);
        double reach = fmax(x_high - y_low, y_high - x_low);
        sum += c->kind == DDSC_COST_CITYBLOCK ? reach : reach * reach;
    }
    return c->kind == DDSC_COST_EUCLIDEAN ? sqrt(sum) : sum;
}

void exact_cost_bounds(const exact_costs *c, double *low, double *high)
{
    if (c->bounded) {
        *low = c->low;
        *high = c->high;
    } else if (!c->dense) {
        *low = 0;
        *high = box_diagonal(c);
    } else {
        c->k->range(low, high, c->dense, c->n * c->m);
    }
    *low = fmin(*low, c->cap);
    *high = fmin(*high, c->cap);
}
