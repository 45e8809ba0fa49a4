/* exact: optimal transport by the network simplex, with a certificate. A solver owns a workspace
 * that grows and is reused over pairs, and knows nothing of threads: one solver per worker. */
#ifndef DDSC_DISTANCE_EXACT_EXACT_H
#define DDSC_DISTANCE_EXACT_EXACT_H

#include "base/base.h"
#include "data/measures.h"
#include "distance/cost/ground.h"

/* Minimise <P, C> over plans P >= 0 with row sums a and column sums b. */
typedef struct exact_problem {
    int64_t n, m;
    const double *a, *b; /* finite, not negative; sums equal up to rounding, need not be 1 */
    const double *cost;  /* n x m, finite, any sign */
} exact_problem;

typedef struct exact_result {
    double primal; /* <P, C> of the plan */
    double dual;   /* sum a f + sum b g with f_i + g_j <= C_ij checked on all arcs */
    /* (primal - dual) / max(|primal|, size / 1000), size = sum a |f| + sum b |g|: the floor keeps the
     * rounding of the potentials from counting against costs of both signs. Between items there is no
     * floor; the rounding of weights when they were divided by their sum is not part of the gap. */
    double gap;
    int64_t pivots;
    int64_t n_plan;
    double size;
    double lost; /* mass of flows that came out negative, and were left out */
} exact_result;

typedef struct exact_solver exact_solver; /* workspace; no solve depends on the one before */

ddsc_status exact_create(ddsc_context *ctx, exact_solver **solver);
void exact_destroy(exact_solver *solver);
/* One solver per worker, for items under the ground cost. */
ddsc_status exact_create_team(ddsc_context *ctx, exact_solver ***solvers,
                              const ground_cost *ground);
void exact_destroy_team(ddsc_context *ctx, exact_solver **solvers);
/* Solve one problem. Potentials and plan stay in the workspace until the next solve. max_pivots 0:
 * a generous multiple of the size. DDSC_NOT_CONVERGED when the cap was met: primal is then an upper
 * bound (feasible plan), dual a valid lower bound, gap says how far apart. */
ddsc_status exact_solve(exact_solver *solver, exact_result *result, const exact_problem *problem,
                        int64_t max_pivots);
/* Transport from item i of mx to item j of my (same dimension; both sets may be one), squared Euclidean
 * unless the solver was made for another ground cost. Knows the points: faster than exact_solve on their cost matrix, and of bounded memory. */
ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots);
/* Potentials of item j for the next exact_solve_items to start from, borrowed until it returns. Any
 * finite ones will do, good ones save pivots. */
void exact_start(exact_solver *solver, const double *g);
/* Is it worth making the costs of a tile of pairs of this set before its solves? */
bool exact_tile_applies(const measures *m, const ground_cost *ground);
/* Costs between the points of items [i0, i1) and [j0, j1), for the solves of pairs (i, j) of them
 * that follow; the answers do not change by it. */
ddsc_status exact_tile_costs(exact_solver *solver, const measures *m, int64_t i0, int64_t i1,
                             int64_t j0, int64_t j1);
const double *exact_f(const exact_solver *solver); /* n */
const double *exact_g(const exact_solver *solver); /* m */
/* The plan of the last solve: result.n_plan <= n + m - 1 entries of positive mass; rows and columns
 * are positions within the two items. */
void exact_plan(const exact_solver *solver, const int32_t **row, const int32_t **column,
                const double **mass);

/* A new set in which every item is merged to at most `limit` points (at least 1); the report holds the exact W2
 * error of every item. */
ddsc_status exact_compress_items(ddsc_context *ctx, ddsc_measures **merged,
                                 ddsc_compress_report *report, const measures *m, int64_t limit);

#endif
