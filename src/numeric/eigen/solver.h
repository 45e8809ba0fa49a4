/* The inside of the eigensolver: what its files share. */
#ifndef DDSC_NUMERIC_EIGEN_SOLVER_H
#define DDSC_NUMERIC_EIGEN_SOLVER_H

#include "base/device.h"
#include "numeric/eigen/eigen.h"
#include "numeric/eigen/panel.h"

typedef struct solver {
    ddsc_context *ctx;
    const sparse *m;
    team_part own; /* rows of `exact` and v that this rank has: all, or over ranks its part */
    const int32_t *component; /* below 0: the item is left out */
    int64_t room;             /* dimensions left beside the exact vectors */
    int64_t wanted;           /* pairs wanted beside them */
    double tolerance;
    int64_t max_products, n_products;
    panel exact;   /* the components' vectors, eigenvalue 1 */
    panel v;       /* orthonormal: first the wanted vectors, then guards */
    double *theta; /* Ritz values of v, descending */
    panel_noise noise;
    device dev; /* that makes the products; dev.state NULL: the processor does */
} solver;

/* Below every eigenvalue of M, which lie in [-1, 1]: where items left out are put. */
enum { AWAY = -3 };

/* Further vectors carried along with the wanted ones, so that the last of those converge too and a
 * cluster of equal eigenvalues does not fill the block. */
static inline int64_t guard_width(int64_t wanted)
{
    return BASE_MAX(8, wanted / 2);
}

/* Products by a device, if there is one for them: bit for bit those of the processor. */
void filter_open(solver *s);
void filter_close(solver *s);
/* Y = M X; both are contiguous. */
ddsc_status filter_product(solver *s, int64_t width, const double *x, double *y);
/* The interval [-1, cut] is damped; above it columns grow like exp(degree * filter_growth). x is
 * replaced, y is scratch of the same shape, or where the filter is `begun` M x; both are contiguous
 * (stride = width). */
double filter_growth(double cut, double lambda);
/* By what an eigenvector of lambda is multiplied. */
double filter_value(double cut, double lambda, int64_t degree);
ddsc_status filter_apply(solver *s, panel *x, panel *y, double cut, int64_t degree, bool begun);

/* A way to the eigenpairs. It gets the operator m, the vectors `exact` that are known, how many are
 * wanted beside them and the tolerance, and leaves in v and theta the wanted vectors and values, and
 * some guards behind them. *verified: a fresh block found none that was missed; otherwise
 * DDSC_NOT_CONVERGED. Residuals are measured afresh by whoever called. */
typedef struct eigen_method {
    const char *name;
    bool (*fits)(const solver *s, const eigen_settings *set); /* NULL: always */
    ddsc_status (*solve)(solver *s, bool *verified);
} eigen_method;

ddsc_status dense_solve(solver *s, bool *verified);
ddsc_status block_solve(solver *s, bool *verified);
/* Over ranks, by the solver of a team that has one: v gets the own rows. Where it came to no verified end,
 * *verified is false and v is gone. */
ddsc_status eigen_team_solve(solver *s, bool *verified);

/* Width of the block that looks for what was missed. */
enum { FRESH_WIDTH = 8 };
typedef enum fresh_verdict { FRESH_CLEAN, FRESH_MISSED, FRESH_UNCLEAR } fresh_verdict;
/* Look for an eigenvalue above the last wanted one outside of exact and v, by so many filters at most.
 * `fresh` (made here, freed by the caller) holds the Ritz vectors of the search. */
ddsc_status fresh_search(solver *s, int rounds, fresh_verdict *verdict, panel *fresh);

#endif
