/* Types and functions shared by the files of the eigensolver. */
#ifndef DDSC_NUMERIC_EIGEN_SOLVER_H
#define DDSC_NUMERIC_EIGEN_SOLVER_H

#include "base/device.h"
#include "numeric/eigen/eigen.h"
#include "numeric/eigen/panel.h"

typedef struct solver {
    ddsc_context *ctx;
    const sparse *m;
    team_part own; /* rows of `exact` and v that are stored: all rows, or only those of this rank if
                    * a team solves the problem */
    const int32_t *component; /* negative if the item is excluded */
    int64_t dimension;        /* dimension of the orthogonal complement of the exact vectors */
    int64_t wanted;           /* number of pairs wanted in addition to the exact ones */
    double tolerance;
    int64_t max_products, n_products;
    panel exact;   /* exact vectors of the components, with eigenvalue 1 */
    panel v;       /* orthonormal: the wanted vectors, followed by guard vectors */
    double *theta; /* Ritz values of v, descending */
    panel_noise noise;
    device dev; /* device that computes the products; if dev.state is NULL, the CPU computes them */
} solver;

/* The eigenvalue assigned to excluded items. EXCLUDED_VALUE is below all eigenvalues of M, which are in [-1,
 * 1]. */
enum { EXCLUDED_VALUE = -3 };

/* Returns the number of guard vectors that are iterated with the wanted ones. Guard vectors speed
 * up the convergence of the last wanted vectors, and provide spare columns if the last wanted
 * eigenvalue is multiple. */
static inline int64_t guard_width(int64_t wanted)
{
    return BASE_MAX(8, wanted / 2);
}

/* Opens a device for the products if a suitable one exists. The results of a device are
 * bit-identical to those of the CPU. */
void filter_open(solver *s);
void filter_close(solver *s);
/* Computes Y = M X; both blocks are contiguous. */
ddsc_status filter_product(solver *s, int64_t width, const double *x, double *y);
/* Returns the growth rate of the filter at lambda. The filter damps the interval [-1, cut] and
 * amplifies components above it by about exp(degree * filter_growth). */
double filter_growth(double cut, double lambda);
/* Returns the factor by which the filter multiplies an eigenvector with eigenvalue lambda. */
double filter_value(double cut, double lambda, int64_t degree);
/* Applies a filter of degree `degree` to x; y is work space of the same shape. If `begun` is true,
 * y holds M x on entry. Both blocks are contiguous (stride = width). */
ddsc_status filter_apply(solver *s, panel *x, panel *y, double cut, int64_t degree, bool begun);

/* A method that computes the eigenpairs. The input is the operator m, the known vectors `exact`,
 * the number of additional pairs wanted, and the tolerance. The method stores the wanted vectors
 * and values in v and theta, followed by guard vectors and their values. *verified is set to true
 * if a new random block shows that no eigenvalue was missed. Otherwise, the method returns
 * DDSC_NOT_CONVERGED. The caller recomputes the residuals. */
typedef struct eigen_method {
    const char *name;
    /* returns true if the method can solve the problem; NULL: it always can */
    bool (*fits)(const solver *s, const eigen_settings *set);
    ddsc_status (*solve)(solver *s, bool *verified);
} eigen_method;

ddsc_status dense_solve(solver *s, bool *verified);
ddsc_status block_solve(solver *s, bool *verified);
/* Solves the problem with the team's solver. v receives the rows of this rank. If the result could
 * not be verified, *verified is false and v is empty. */
ddsc_status eigen_team_solve(solver *s, bool *verified);

/* Width of the random block that searches for missed eigenvalues. */
enum { FRESH_WIDTH = 8 };
typedef enum fresh_verdict { FRESH_CLEAN, FRESH_MISSED, FRESH_UNCLEAR } fresh_verdict;
/* Searches the orthogonal complement of exact and v for an eigenvalue above the last wanted one,
 * with at most `rounds` filters. `fresh` receives the Ritz vectors of the search; this function
 * allocates it and the caller frees it. */
ddsc_status fresh_search(solver *s, int rounds, fresh_verdict *verdict, panel *fresh);

#endif
