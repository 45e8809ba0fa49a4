/* Chebyshev filter: with [-1, cut] mapped to [-1, 1], T_d stays within 1 there and grows fastest of
 * all polynomials above it (Zhou, Saad, Tiago, Chelikowsky 2006). All eigenvalues of M lie in [-1,
 * 1], so the lower end needs no estimate, and bipartite parts near -1 are damped like the rest. */
#include <math.h>

#include "eigen/solver.h"

double filter_growth(double cut, double lambda)
{
    double centre = (cut - 1) / 2, half = (cut + 1) / 2;
    return acosh(fmax(1, (lambda - centre) / half));
}

ddsc_status filter_apply(solver *s, panel *x, panel *y, double cut, int64_t degree)
{
    double centre = (cut - 1) / 2, half = (cut + 1) / 2;
    /* T_1 = (M x - c x)/h into y; then T_{d+1} = 2 (M - c)/h T_d - T_{d-1} over the older one. */
    CHECK(operator_step(s->ctx, s->m, x->width, 1 / half, centre, 0, x->x, y->x));
    for (int64_t d = 1; d < degree; d++) {
        CHECK(operator_step(s->ctx, s->m, x->width, 2 / half, centre, 1, y->x, x->x));
        double *swap = x->x;
        x->x = y->x;
        y->x = swap;
    }
    s->n_products += degree;
    double *swap = x->x;
    x->x = y->x;
    y->x = swap;
    return DDSC_OK;
}
