/* Solves one problem, from rounding to the certificate.
 *
 * Weights and costs are rounded to integers, which makes all pivots exact. Problems that fit in the
 * caches use int32 with 24-bit costs, and larger problems use doubles with 49-bit integers. If
 * rounding to int32 leaves a gap, the double system continues from the int32 basis.
 *
 * The certificate is computed from the final basis with the original numbers. If a few huge costs
 * leave too few bits for all other costs, the problem is solved again with capped costs. If the
 * certificate still leaves the value uncertain, exact_polish continues with 106 bits. */
#include "distance/exact/solver.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"

/* ---- workspace ---- */

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* Returns true if the potentials should be balanced. Balancing saves time except in small problems.
 * A parent level that provides only potentials is always balanced, because it performs no
 * pivots. */
static bool may_balance(const exact_solver *s)
{
    return s->net.dense && (s->potentials_only || s->net.n * s->net.m >= NEAR_CELLS);
}

static void take_solver(void *owner, arena *a)
{
    exact_solver *s = owner;
    simplex *net = &s->net;
    int64_t n = net->n, m = net->m, nodes = BASE_MAX(net->nodes, 64 * net->words);
    ARENA_TAKE(a, net->supply, nodes);
    ARENA_TAKE(a, net->node, nodes);
    ARENA_TAKE(a, net->mask, nodes * net->words);
    ARENA_TAKE(a, net->cut, net->words);
    ARENA_TAKE(a, net->link, net->words ? 0 : nodes);
    ARENA_TAKE(a, net->order, nodes);
    ARENA_TAKE(a, net->path[0], nodes);
    ARENA_TAKE(a, net->path[1], nodes);
    ARENA_TAKE(a, net->cost32, net->dense ? n * net->ld : 0);
    ARENA_TAKE(a, net->potential32, nodes);
    ARENA_TAKE(a, net->potential64, nodes);
    ARENA_TAKE(a, net->arc_cost, n * ARCS);
    ARENA_TAKE(a, net->arc_column, n * ARCS);
    ARENA_TAKE(a, net->arc_count, n);
    ARENA_TAKE(a, net->arc_end, n);
    ARENA_TAKE(a, net->arc_weight, n * ARCS);
    ARENA_TAKE(a, net->column_sum, m);
    ARENA_TAKE(a, net->value, m);
    ARENA_TAKE(a, net->index, m + COLUMN_BLOCK);
    ARENA_TAKE(a, net->cost.row, m);
    ARENA_TAKE(a, s->f, n);
    ARENA_TAKE(a, s->g, m);
    ARENA_TAKE(a, s->plan_row, n + m);
    ARENA_TAKE(a, s->plan_column, n + m);
    ARENA_TAKE(a, s->plan_mass, n + m);
    ARENA_TAKE(a, s->excess, 2 * nodes);
    if (!may_balance(s))
        return;
    int64_t rows = round_up(n, ROW_GROUP), blocks = net->ld / COLUMN_BLOCK;
    ARENA_TAKE(a, net->near_count, rows / ROW_GROUP);
    ARENA_TAKE(a, net->near_block, rows / ROW_GROUP * (blocks + 1));
    ARENA_TAKE(a, net->least, rows);
    ARENA_TAKE(a, net->kernel, rows * net->ld);
    ARENA_TAKE(a, net->weight, net->nodes);
    ARENA_TAKE(a, net->scaling, net->ld);
    ARENA_TAKE(a, net->log_scaling, net->ld);
    ARENA_TAKE(a, net->scaled_sum, net->ld);
}

static bool is_line(const exact_costs *cost)
{
    return cost->x && cost->d == 1;
}

static ddsc_status set_problem(exact_solver *s, const double *a, const double *b,
                               const exact_costs *cost, int64_t max_pivots)
{
    simplex *net = &s->net;
    *net = (simplex){.k = s->k, .cost = *cost, .n = cost->n, .m = cost->m, .ctx = s->ctx};
    net->sink0 = round_up(net->n, COLUMN_BLOCK);
    net->ld = round_up(net->m, COLUMN_BLOCK);
    net->nodes = net->sink0 + net->ld;
    if (net->nodes <= MASK_NODES)
        net->words = net->nodes <= 64 ? 1 : round_up((net->nodes + 63) / 64, MASK_WORDS);
    net->dense = net->words && net->n * net->m <= DENSE_CELLS && !is_line(cost);
    net->max_pivots = max_pivots > 0 ? max_pivots : 10000 + 1000 * (net->n + net->m);
    s->a = a;
    s->b = b;
    s->sum_a = sum_array(a, net->n);
    s->sum_b = sum_array(b, net->m);
    s->b_factor = fabs(s->sum_a - s->sum_b) <= 1e-15 * s->sum_a ? 1 : s->sum_a / s->sum_b;
    return workspace_lay_out(s->ctx, &s->own, take_solver, s);
}

ddsc_status exact_create(ddsc_context *ctx, exact_solver **solver)
{
    CHECK(MEM_ZERO(ctx, *solver, 1));
    (*solver)->ctx = ctx;
    (*solver)->k = kernels_find();
    (*solver)->ground = ground_sqeuclidean;
    return DDSC_OK;
}

void exact_destroy(exact_solver *solver)
{
    if (!solver)
        return;
    exact_destroy(solver->parent);
    MEM_FREE(solver->ctx, solver->own.block, solver->given.block, solver->level.block,
             solver->polish.block);
    cost_tile_free(solver->ctx, &solver->tile);
    mem_free(solver->ctx, solver);
}

ddsc_status exact_create_team(ddsc_context *ctx, exact_solver ***solvers, const ground_cost *ground)
{
    ddsc_status status = DDSC_OK;
    TRY(MEM_ZERO(ctx, *solvers, parallel_width(ctx)));
    for (int w = 0; w < parallel_width(ctx); w++) {
        TRY(exact_create(ctx, &(*solvers)[w]));
        (*solvers)[w]->ground = *ground;
    }
    return DDSC_OK;
done:
    exact_destroy_team(ctx, *solvers);
    *solvers = NULL;
    return status;
}

void exact_destroy_team(ddsc_context *ctx, exact_solver **solvers)
{
    for (int w = 0; solvers && w < parallel_width(ctx); w++)
        exact_destroy(solvers[w]);
    mem_free(ctx, solvers);
}

const double *exact_f(const exact_solver *solver)
{
    return solver->f;
}

const double *exact_g(const exact_solver *solver)
{
    return solver->g;
}

void exact_plan(const exact_solver *solver, const int32_t **row, const int32_t **column,
                const double **mass)
{
    *row = solver->plan_row;
    *column = solver->plan_column;
    *mass = solver->plan_mass;
}

/* ---- integers ---- */

static int64_t largest_of(const int64_t *value, int64_t n)
{
    int64_t largest = 0;
    for (int64_t i = 1; i < n; i++)
        largest = value[i] > value[largest] ? i : largest;
    return largest;
}

/* Rounds weights to positive integers that sum to `total`. Each integer differs from its exact
 * share by about one unit or less. */
static void settle_weights(int64_t *out, const double *weight, int64_t n, double all, int64_t total)
{
    int exponent;
    frexp(all, &exponent);
    int64_t left = total;
    double near_one = ldexp(1, BASE_MIN(-exponent, 1023)), unit = (double)total / (all * near_one);
    for (int64_t i = 0; i < n; i++) {
        int64_t share = (int64_t)(weight[i] * near_one * unit + 0.5);
        out[i] = BASE_MAX(share, 1);
        left -= out[i];
    }
    /* Equal weights have equal rounding errors. Spreading the remainder evenly over the indices
     * cancels these errors over every range of indices. */
    int64_t count = BASE_MIN(left < 0 ? -left : left, n), step = left < 0 ? -1 : 1;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = (2 * k + 1) * n / (2 * count), by = out[i] + step < 1 ? 0 : step;
        out[i] += by;
        left -= by;
    }
    if (left != 0)
        out[largest_of(out, n)] += left;
}

/* Returns true if all supplies are positive and both sides have the same sum. */
static bool supplies_balance(const simplex *net)
{
    int64_t excess = 0;
    bool holds = true;
    for (int64_t i = 0; i < net->n; i++) {
        holds &= net->supply[i] > 0;
        excess += net->supply[i];
    }
    for (int64_t j = 0; j < net->m; j++) {
        holds &= net->supply[net->sink0 + j] > 0;
        excess -= net->supply[net->sink0 + j];
    }
    return holds && excess == 0;
}

/* Sets the integer supplies and makes them non-degenerate. All supplies are multiplied by n + 1,
 * each source then gets 1 more and one sink gets n more. If a proper subset of the nodes balanced,
 * it would contain no source or all sources, because its sums on both sides are equal modulo n + 1.
 * Neither is possible, because all supplies are positive. */
static void set_supplies(exact_solver *s)
{
    simplex *net = &s->net;
    int bits = 64 - __builtin_clzll((unsigned long long)net->n + 1);
    int64_t total = (int64_t)1 << BASE_MIN(53, 61 - bits);
    settle_weights(net->supply, s->a, net->n, s->sum_a, total);
    settle_weights(net->supply + net->sink0, s->b, net->m, s->sum_b, total);
    for (int64_t i = 0; i < net->n; i++)
        net->supply[i] = net->supply[i] * (net->n + 1) + 1;
    for (int64_t j = 0; j < net->m; j++)
        net->supply[net->sink0 + j] *= net->n + 1;
    net->supply[net->sink0] += net->n;
    DDSC_ASSERT(supplies_balance(net));
}

static void set_scale64(exact_solver *s)
{
    int exponent;
    frexp(fmax(fabs(s->low), fabs(s->high)), &exponent);
    s->net.scale64 = simplex_scale(DOUBLE_BITS, exponent);
}

/* ---- stages of a solve ---- */

/* Pivots in double precision. If potentials exceed 2^51 quanta, the quantum is enlarged and the run
 * continues. This happens only a few times, because a potential is at most n + m times the largest
 * cost. */
static simplex_end run_double(simplex *net)
{
    simplex_end end = simplex_run(net, &simplex_double);
    while (end == SIMPLEX_OVERFLOW) {
        net->scale64 *= 0.25;
        arcs_drop(net);
        basis_order(net);
        end = simplex_run(net, &simplex_double);
    }
    return end;
}

/* Sets the potentials of the sources to the largest values that the potentials of the sinks
 * allow. */
static void source_potentials(simplex *net)
{
    for (int64_t i = 0; i < net->n; i++)
        net->potential32[i] =
            net->k->row_least(net->cost32 + i * net->ld, net->potential32 + net->sink0, net->ld);
}

ddsc_status exact_solve_basis(exact_solver *s, simplex_end *end, const double *a, const double *b,
                              const exact_costs *cost, int64_t max_pivots)
{
    simplex *net = &s->net;
    bool guessed;
    CHECK(set_problem(s, a, b, cost, max_pivots));
    exact_cost_bounds(&net->cost, &s->low, &s->high);
    set_supplies(s);
    set_scale64(s);
    if (net->dense)
        simplex_int32_costs(net, s->low, s->high);
    *end = SIMPLEX_OPTIMAL;
    if (is_line(cost)) {
        start_line(net);
        return DDSC_OK;
    }
    if (net->dense && exact_is_tiny(net->n, net->m)) {
        *end = simplex_tiny(net);
        return DDSC_OK;
    }
    CHECK(start_multiscale(s, &guessed));
    if (!net->dense) {
        arcs_choose(net, guessed);
        start_greedy(net);
        *end = run_double(net);
        return DDSC_OK;
    }
    if (guessed && may_balance(s))
        start_balance(net, s->start);
    if (guessed && s->potentials_only) {
        source_potentials(net);
        return DDSC_OK;
    }
    start_greedy(net);
    *end = simplex_run(net, &simplex_int32);
    return DDSC_OK;
}

/* Certifies the basis. If a gap remains because of rounding to int32 or the weights of points on a
 * line, pivots in double precision and certifies again. */
static ddsc_status certify_basis(exact_solver *s, exact_result *result, simplex_end *end)
{
    bool exact = s->net.dense && *end == SIMPLEX_OPTIMAL && s->net.exact32;
    bool rounded = (s->net.dense && !exact) || is_line(&s->net.cost);
    if (*end != SIMPLEX_STOPPED)
        exact_certify(s, result, exact);
    if (*end == SIMPLEX_OVERFLOW ||
        (*end == SIMPLEX_OPTIMAL && rounded && result->gap > GAP_ACCEPTED)) {
        arcs_drop(&s->net);
        basis_build(&s->net); /* tiny problems have no masks yet */
        *end = run_double(&s->net);
        if (*end != SIMPLEX_STOPPED)
            exact_certify(s, result, false);
    }
    if (*end == SIMPLEX_STOPPED)
        return ctx_fail(s->ctx, DDSC_ERROR_CANCELED, "stopped on request");
    s->pivots += s->net.pivots;
    result->pivots = s->pivots;
    return DDSC_OK;
}

/* Returns true if the gap is too large, or if the value may have an error that the gap does not
 * include. Such errors are caused by flows that become negative with the original weights, and by
 * weights near the smallest doubles, which have few bits left after the division by their total. */
static bool is_uncertain(const exact_solver *s, const exact_result *result)
{
    double high = isinf(s->net.cost.cap) ? fmax(fabs(s->low), fabs(s->high)) : INFINITY;
    double value = fabs(result->primal);
    double most = 0.1 * GAP_PROMISED * value;
    return !(result->gap <= GAP_PROMISED) ||
           (s->strict &&
            (fabs(result->primal - result->dual) > most || result->lost * high > most ||
             DBL_MIN * (double)(s->net.n + s->net.m) * high > most));
}

/* Returns the largest original cost of an arc that the plan uses. */
static double largest_used(const exact_solver *s, const exact_result *result)
{
    exact_costs truth = s->net.cost;
    double largest = 0;
    truth.cap = INFINITY;
    for (int64_t k = 0; k < result->n_plan; k++)
        largest = fmax(largest, fabs(exact_cost_cell(&truth, s->plan_row[k], s->plan_column[k])));
    return largest;
}

/* Solves the problem, with capped costs if needed. If a few costs are far above all others (for
 * example, to forbid an arc), rounding leaves too few bits for the others. If a gap remains and
 * every cost that the plan uses is far below the largest cost, the costs are capped at a multiple
 * of the largest used cost, and the problem is solved again. A plan below the cap is also optimal
 * for the original costs, and potentials that are feasible for the capped costs are feasible for
 * the original costs. */
ddsc_status exact_solve_ordinary(exact_solver *s, exact_result *result, const double *a,
                                 const double *b, const exact_costs *cost, int64_t max_pivots)
{
    exact_costs cut = *cost;
    int64_t left = max_pivots;
    simplex_end end;
    s->pivots = 0;
    for (int round = 0;; round++) {
        CHECK(exact_solve_basis(s, &end, a, b, &cut, left));
        CHECK(certify_basis(s, result, &end));
        if (round == CUT_ROUNDS || end != SIMPLEX_OPTIMAL || result->gap <= GAP_PROMISED)
            break;
        double high = round == 0 ? s->high : cut.cap;
        double used = largest_used(s, result), cap = CUT_FACTOR * used;
        left = max_pivots > 0 ? max_pivots - s->pivots : 0;
        if (used == 0 || (used <= cut.cap && cap > high / CUT_WORTH) ||
            (max_pivots > 0 && left <= 0))
            break;
        cut.cap = cap;
        cut.whole_x = cut.whole_y = NULL;
    }
    if (end == SIMPLEX_OPTIMAL && is_uncertain(s, result))
        CHECK(exact_polish(s, result));
    return end == SIMPLEX_CAPPED || result->gap > GAP_PROMISED ? DDSC_NOT_CONVERGED : DDSC_OK;
}
