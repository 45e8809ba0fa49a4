/* Computes rows, single entries and bounds of the costs min(c(x_i, y_j), cap) of one problem.
 *
 * If no cap applies, a row of a matrix is returned without a copy. For points, the distance kernels
 * compute a row into scratch memory, and sum the coordinates in order. A single entry is summed in
 * the same order, so the result is bit-identical. The bounds for a matrix are its smallest and
 * largest entries. For points, the lower bound is 0, and the upper bound is the cost of the largest
 * possible distance between the bounding boxes of the two sets, which takes O((n + m) d) time. */
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

/* Returns an upper bound on the costs: the cost between the farthest corners of the bounding
 * boxes. */
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
