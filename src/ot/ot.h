/* ot: transport solvers. A solver owns a workspace that grows and is reused over pairs, returns
 * value and certificate, and knows nothing of threads: one workspace a worker. */
#ifndef DDSC_OT_H
#define DDSC_OT_H

#include "base/base.h"
#include "data/measures.h"

/* ---- cost: squared Euclidean between the points of two items ---- */

/* cost (n x m, row-major) of items x, y of a set, by differences (no cancellation). */
void cost_items(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost);

/* Points of a set by their rows in its table. */
typedef struct point_list {
    const measures *m;
    int64_t n;
    const int32_t *index;
} point_list;

/* |x|^2 of each, good to (d/8 + 4) 2^-53; returns the largest. 8 dimensions or more. */
double cost_norms(const point_list *p, double *norm2);
/* Are squares of this size, the largest of a pair's, safe to add and subtract? */
static inline bool cost_products_fit(double largest)
{
    return largest > 1e-160 && largest < 1e160;
}
/* cost (x->n x y->n) by products where that is accurate and by differences elsewhere: each is good
 * to 32 (d/8 + 6) 2^-53 of itself and a function of its two points. */
void cost_products(double *cost, const point_list *x, const double *x_norm, const point_list *y,
                   const double *y_norm);
/* Median of squared distances over a fixed sample of point pairs drawn from different items. */
ddsc_status cost_median(ddsc_context *ctx, const measures *m, double *median);

/* ---- exact ---- */

/* Minimise <P, C> over plans P >= 0 with row sums a and column sums b. */
typedef struct exact_problem {
    int64_t n, m;
    const double *a, *b; /* finite, not negative; sums equal up to rounding, need not be 1 */
    const double *cost;  /* n x m, finite, any sign */
} exact_problem;

typedef struct exact_result {
    double primal; /* <P, C> of the plan */
    double dual;   /* sum a f + sum b g with f_i + g_j <= C_ij checked on all arcs */
    /* max(0, primal - dual) / max(|primal|, S / 1000), S = sum a |f| + sum b |g|: the floor keeps
     * the rounding of the potentials from counting against pairs that all but coincide. */
    double gap;
    int64_t pivots;
    int64_t n_plan;
} exact_result;

typedef struct exact_solver exact_solver; /* workspace; no solve depends on the one before */

ddsc_status exact_create(ddsc_context *ctx, exact_solver **solver);
void exact_destroy(exact_solver *solver);
/* Solve one problem. Potentials and plan stay in the workspace until the next solve. max_pivots 0:
 * a generous multiple of the size. DDSC_NOT_CONVERGED when the cap was met: primal is then an upper
 * bound (feasible plan), dual a valid lower bound, gap says how far apart. */
ddsc_status exact_solve(exact_solver *solver, exact_result *result, const exact_problem *problem,
                        int64_t max_pivots);
/* Squared Euclidean transport from item i of mx to item j of my (same dimension; both sets may be
 * one). Knows the points: faster than exact_solve on their cost matrix, and of bounded memory. */
ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots);
/* The pairs (i, j[0]) and (i, j[1]) of one set, each as exact_solve_items would; small ones side by
 * side. The solver then holds the second. */
ddsc_status exact_solve_two(exact_solver *solver, exact_result *result, const measures *m,
                            int64_t i, const int64_t *j, int64_t max_pivots);
/* Potentials of item j for the next exact_solve_items to start from, borrowed until it returns. Any
 * finite ones will do, good ones save pivots. */
void exact_start(exact_solver *solver, const double *g);
/* Are items of this set so small on average that two pairs at a time are worth a try? */
bool exact_are_small(const measures *m);
/* Is it worth making costs of pairs of this set ahead? */
bool exact_ahead_applies(const measures *m);
/* Costs between the points of items [i0, i1) and [j0, j1), for the solves of pairs (i, j) of them
 * that follow; the answers do not change by it. */
ddsc_status exact_ahead(exact_solver *solver, const measures *m, int64_t i0, int64_t i1, int64_t j0,
                        int64_t j1);
const double *exact_f(const exact_solver *solver); /* n */
const double *exact_g(const exact_solver *solver); /* m */
/* The plan of the last solve: result.n_plan <= n + m - 1 entries of positive mass; rows and columns
 * are positions within the two items. */
void exact_plan(const exact_solver *solver, const int32_t **row, const int32_t **column,
                const double **mass);

/* ---- entropic ---- */

typedef struct sinkhorn_problem {
    int64_t n, m;
    const double *a, *b;    /* zero or positive; normalised inside */
    const double *cost;     /* n x m, finite, magnitude at most SINKHORN_MAX_COST */
    int64_t cost_stride;    /* from one row of the cost to the next */
    double epsilon;         /* positive, finite */
    double tolerance;       /* L1 marginal error */
    int64_t max_iterations; /* passes over the kernel and Newton steps */
} sinkhorn_problem;

#define SINKHORN_MAX_COST 1e305

typedef struct sinkhorn_result {
    double regularised; /* <P,C> + eps KL(P | a x b), from the dual: second order in the error */
    double sharp;       /* <P,C> */
    double marginal_error;
    int64_t iterations;
} sinkhorn_result;

typedef struct sinkhorn_solver sinkhorn_solver;

ddsc_status sinkhorn_create(ddsc_context *ctx, sinkhorn_solver **solver);
void sinkhorn_destroy(sinkhorn_solver *solver);
/* A pure function of the problem: nothing of earlier solves is used. DDSC_NOT_CONVERGED when the
 * cap was met; the result is then the plan reached and its true marginal error. */
ddsc_status sinkhorn_solve(sinkhorn_solver *solver, sinkhorn_result *result,
                           const sinkhorn_problem *problem);
/* The same for an item with itself (b is not read; cost symmetric with a zero diagonal), by the
 * averaged fixed point, which needs a handful of iterations whatever epsilon is. */
ddsc_status sinkhorn_self(sinkhorn_solver *solver, sinkhorn_result *result,
                          const sinkhorn_problem *problem);
/* A lower bound of the regularised value from a few iterations; -infinity where there is none to be
 * had. Stops once it exceeds `enough`, or when it hardly ever will. */
double sinkhorn_bound(sinkhorn_solver *solver, const sinkhorn_problem *problem, double enough);
/* Potentials and plan of the last solve, which was of `problem`: P_ij = a_i b_j exp((f_i + g_j -
 * C_ij) / epsilon). Each side carries half of the dual value; points without weight get the value
 * that continues the formula. */
void sinkhorn_potentials(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *f,
                         double *g);
void sinkhorn_plan(const sinkhorn_solver *solver, const sinkhorn_problem *problem, double *plan);

/* ---- linear optimal transport ---- */

/* The reference as a set of one item (destroyed by the caller): a normal sample or k-means centres
 * of the pooled points with uniform weights, or the first item of settings->reference_measures. */
ddsc_status lot_reference_make(ddsc_context *ctx, measures **reference, const measures *m,
                               const ddsc_metric_settings *settings);
/* Columns of the embedding: points of the reference times the dimension. */
int64_t lot_columns(const measures *reference);
/* z (n x columns): row i = sqrt(w_r) (f_i(r) - x_r), so that Euclidean distance is LOT distance.
 * Runs in parallel over the items with progress. Adds to stats: n_solved, n_iterations, max_gap,
 * n_not_converged, reference_size. */
ddsc_status lot_embed(ddsc_context *ctx, double *z, ddsc_pair_stats *stats, const measures *m,
                      const measures *reference, int64_t max_pivots);
/* The first `keep` principal components of the rows (n x keep, released by the caller), and the
 * share of the variance that is left out. */
ddsc_status lot_reduce(ddsc_context *ctx, double **rows, double *left_out, const double *z,
                       int64_t n, int64_t columns, int64_t keep);
/* Quantiles of |D - W2| / W2 over a fixed sample of pairs into stats. */
ddsc_status lot_check(ddsc_context *ctx, ddsc_pair_stats *stats, const measures *m, const double *z,
                      int64_t columns, int64_t max_pivots);
/* All in one: *z (n x *columns) is released by the caller. */
ddsc_status lot_run(ddsc_context *ctx, double **z, int64_t *columns, ddsc_pair_stats *stats,
                    const measures *m, const ddsc_metric_settings *settings);

#endif
