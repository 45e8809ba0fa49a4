#include "exact/cost_rows.h"

#include <math.h>

const double *cost_row(const cost_rows *c, int64_t i)
{
    if (!c->dense)
        c->k->distances(c->row, c->x + i * c->d, c->y, c->stride, c->d, 1, c->m);
    const double *from = c->dense ? c->dense + i * c->m : c->row;
    if (isinf(c->cap))
        return from;
    for (int64_t j = 0; j < c->m; j++)
        c->row[j] = from[j] < c->cap ? from[j] : c->cap;
    return c->row;
}

double cost_between(const cost_rows *c, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < c->d; k++) {
        double t = c->x[i * c->d + k] - c->y[k * c->stride + j];
        sum += t * t;
    }
    return sum;
}

/* Squared distances are at most the squared diagonal of the box around both sets. */
static double points_bound(const cost_rows *c)
{
    double sum = 0;
    for (int64_t k = 0; k < c->d; k++) {
        const double *y = c->y + k * c->stride;
        double x_low = c->x[k], x_high = x_low, y_low = y[0], y_high = y_low;
        for (int64_t i = 1; i < c->n; i++) {
            double t = c->x[i * c->d + k];
            x_low = t < x_low ? t : x_low;
            x_high = t > x_high ? t : x_high;
        }
        for (int64_t j = 1; j < c->m; j++) {
            y_low = y[j] < y_low ? y[j] : y_low;
            y_high = y[j] > y_high ? y[j] : y_high;
        }
        double reach = fmax(x_high - y_low, y_high - x_low);
        sum += reach * reach;
    }
    return sum;
}

void cost_bounds(const cost_rows *c, double *low, double *high)
{
    if (c->bounded) {
        *low = c->low;
        *high = c->high;
    } else if (!c->dense) {
        *low = 0;
        *high = points_bound(c);
    } else {
        c->k->range(low, high, c->dense, c->n * c->m);
    }
    *low = fmin(*low, c->cap);
    *high = fmin(*high, c->cap);
}
