/* exact: solves optimal transport problems exactly with the network simplex, and certifies each
 * result.
 *
 * The problem is min <P, C> over plans P >= 0 with row sums a and column sums b. Its dual is max
 * sum a f + sum b g subject to f_i + g_j <= C_ij. Every solve returns a feasible plan and feasible
 * potentials, so the optimum lies between the dual and the primal value up to rounding errors, and
 * `gap` bounds the error.
 *
 * A solver owns a workspace that grows as needed and is reused for later problems. It is not
 * thread-safe, so each worker has its own solver. */
#ifndef DDSC_DISTANCE_EXACT_EXACT_H
#define DDSC_DISTANCE_EXACT_EXACT_H

#include "base/base.h"
#include "data/measures.h"
#include "distance/cost/ground.h"

/* A problem: minimize <P, C> over plans P >= 0 with row sums a and column sums b. */
typedef struct exact_problem {
    int64_t n, m;
    const double *a, *b; /* finite, >= 0; equal sums up to rounding errors */
    const double *cost;  /* n x m, finite, any sign */
} exact_problem;

typedef struct exact_result {
    double primal; /* <P, C> of the plan */
    double dual;   /* sum a f + sum b g, with f_i + g_j <= C_ij checked on all arcs */
    /* (primal - dual) / max(|primal|, size / 1000), where size = sum a |f| + sum b |g|. If costs
     * have both signs, the value can be near zero, and the term size / 1000 prevents rounding
     * errors in the potentials from dominating the gap. Costs between items are never negative, so
     * gaps that are significant relative to the value alone are recomputed without this term. The
     * gap does not include rounding errors from dividing weights by their sum. */
    double gap;
    int64_t pivots;
    int64_t n_plan;
    double size;
    double lost; /* sum of the omitted negative flows */
} exact_result;

typedef struct exact_solver exact_solver; /* has no state that affects later solves */

ddsc_status exact_create(ddsc_context *ctx, exact_solver **solver);
void exact_destroy(exact_solver *solver);
/* Creates one solver per worker for items with the given ground cost. */
ddsc_status exact_create_team(ddsc_context *ctx, exact_solver ***solvers,
                              const ground_cost *ground);
void exact_destroy_team(ddsc_context *ctx, exact_solver **solvers);
/* Solves one problem. The potentials and the plan stay in the workspace until the next solve. If
 * max_pivots is 0, the limit is a large multiple of the problem size. Returns DDSC_NOT_CONVERGED if
 * the limit was reached. In this case, the primal value is still an upper bound, the dual value a
 * lower bound, and `gap` the relative difference between the two values. */
ddsc_status exact_solve(exact_solver *solver, exact_result *result, const exact_problem *problem,
                        int64_t max_pivots);
/* Solves the transport from item i of mx to item j of my. Both sets must have the same dimension,
 * and may be identical. The cost is squared Euclidean unless the solver was created for another
 * ground cost. This function is faster than exact_solve on the cost matrix, because it uses the
 * points, and its memory is bounded. */
ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots);
/* Sets the potentials of item j from which the next exact_solve_items starts. They must remain
 * valid until that call returns. Any finite values are allowed. Values near the optimal potentials
 * reduce the number of pivots. */
void exact_start(exact_solver *solver, const double *g);
/* Returns true if, for this set, it saves time to compute the costs of a tile at once before its
 * pairs are solved. */
bool exact_tile_applies(const measures *m, const ground_cost *ground);
/* Computes the costs between the points of items [i0, i1) and [j0, j1) for the following solves of
 * pairs (i, j) in this block. The results do not change. */
ddsc_status exact_tile_costs(exact_solver *solver, const measures *m, int64_t i0, int64_t i1,
                             int64_t j0, int64_t j1);
const double *exact_f(const exact_solver *solver); /* n */
const double *exact_g(const exact_solver *solver); /* m */
/* Returns the plan from the last solve: result.n_plan <= n + m - 1 entries with positive mass. Rows
 * and columns are indices of points in the two items. */
void exact_plan(const exact_solver *solver, const int32_t **row, const int32_t **column,
                const double **mass);

/* Copies a compression report from or to the caller's struct, which may have another version. */
ddsc_status exact_take_compress_report(ddsc_context *ctx, ddsc_compress_report *own,
                                       const ddsc_compress_report *given);
void exact_give_compress_report(ddsc_compress_report *given, const ddsc_compress_report *own);
/* Creates a new set in which the points of every item with more than `keep` points are merged to at
 * most `limit` points (keep >= limit >= 1). The report contains the exact W2 error of merging over
 * all items. */
ddsc_status exact_compress_items(ddsc_context *ctx, ddsc_measures **merged,
                                 ddsc_compress_report *report, const measures *m, int64_t limit,
                                 int64_t keep);

#endif
