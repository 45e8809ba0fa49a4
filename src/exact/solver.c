/* The exact solver: brings weights and costs to integers, runs the simplex coarse, fine, or coarse
 * then fine where rounding mattered, and certifies the answer. */
#include "exact/solver.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"

enum {
    DENSE_CELLS = 640 * 640, /* above this candidate arcs beat dense rows */
    NEAR_CELLS = 48 * 48,    /* below this smoothing takes longer than what it saves */
    CUT_ROUNDS = 40,
    CUT_FACTOR = 8,
    CUT_WORTH = 64 /* a cut that gains less than this factor is not worth a round */
};

/* A coarse optimum whose certified gap is below this needs no fine pivots. */
static const double gap_accepted = 3e-13;

/* ---- workspace ---- */

static void lay_out_near(simplex *net, arena *a)
{
    int64_t quads = (net->n + QUAD - 1) / QUAD, blocks = net->ld / LANES;
    net->near_count = arena_take(a, quads, sizeof *net->near_count);
    net->near_block = arena_take(a, quads * (blocks + 1), sizeof *net->near_block);
    net->least = arena_take(a, quads * QUAD, sizeof *net->least);
    net->kernel = arena_take(a, quads * QUAD * net->ld, sizeof *net->kernel);
    net->weight = arena_take(a, net->nodes, sizeof *net->weight);
    net->scaling = arena_take(a, net->ld, sizeof *net->scaling);
    net->log_scaling = arena_take(a, net->ld, sizeof *net->log_scaling);
    net->scaled_sum = arena_take(a, net->ld, sizeof *net->scaled_sum);
}

static bool may_list(const exact_solver *s)
{
    return s->net.dense && (s->rough || s->net.n * s->net.m >= NEAR_CELLS);
}

static void lay_out(exact_solver *s, arena *a)
{
    simplex *net = &s->net;
    int64_t n = net->n, m = net->m, nodes = BASE_MAX(net->nodes, 64 * net->words);
    net->supply = arena_take(a, nodes, sizeof *net->supply);
    net->node = arena_take(a, nodes, sizeof *net->node);
    net->mask = arena_take(a, nodes * net->words, sizeof *net->mask);
    net->cut = arena_take(a, net->words, sizeof *net->cut);
    net->link = arena_take(a, net->words ? 0 : nodes, sizeof *net->link);
    net->order = arena_take(a, nodes, sizeof *net->order);
    net->path[0] = arena_take(a, nodes, sizeof *net->path[0]);
    net->path[1] = arena_take(a, nodes, sizeof *net->path[1]);
    net->coarse_cost = arena_take(a, net->dense ? n * net->ld : 0, sizeof *net->coarse_cost);
    net->coarse = arena_take(a, nodes, sizeof *net->coarse);
    net->fine = arena_take(a, nodes, sizeof *net->fine);
    net->arc_cost = arena_take(a, n * ARCS, sizeof *net->arc_cost);
    net->arc_column = arena_take(a, n * ARCS, sizeof *net->arc_column);
    net->arc_count = arena_take(a, n, sizeof *net->arc_count);
    net->arc_end = arena_take(a, n, sizeof *net->arc_end);
    net->arc_weight = arena_take(a, n * ARCS, sizeof *net->arc_weight);
    net->column_sum = arena_take(a, m, sizeof *net->column_sum);
    net->value = arena_take(a, m, sizeof *net->value);
    net->index = arena_take(a, m + LANES, sizeof *net->index);
    net->cost.row = arena_take(a, m, sizeof *net->cost.row);
    s->f = arena_take(a, n, sizeof *s->f);
    s->g = arena_take(a, m, sizeof *s->g);
    s->plan_row = arena_take(a, n + m, sizeof *s->plan_row);
    s->plan_column = arena_take(a, n + m, sizeof *s->plan_column);
    s->plan_mass = arena_take(a, n + m, sizeof *s->plan_mass);
    s->excess = arena_take(a, 2 * nodes, sizeof *s->excess);
    if (may_list(s))
        lay_out_near(net, a);
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static bool is_line(const cost_rows *cost)
{
    return cost->x && cost->d == 1;
}

static ddsc_status set_problem(exact_solver *s, const double *a, const double *b,
                               const cost_rows *cost, int64_t max_pivots)
{
    simplex *net = &s->net;
    *net = (simplex){.k = s->k, .cost = *cost, .n = cost->n, .m = cost->m};
    net->ctx = s->ctx;
    net->sink0 = round_up(net->n, LANES);
    net->ld = round_up(net->m, LANES);
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
    arena room = {s->own.block, 0};
    lay_out(s, &room);
    if (room.used <= s->own.size)
        return DDSC_OK;
    ddsc_status status = workspace_grow(s->ctx, &s->own, room.used);
    room = (arena){s->own.block, 0};
    if (status == DDSC_OK)
        lay_out(s, &room);
    return status;
}

ddsc_status exact_create(ddsc_context *ctx, exact_solver **solver)
{
    ddsc_status status = MEM_ZERO(ctx, *solver, 1);
    if (status < 0)
        return status;
    (*solver)->ctx = ctx;
    (*solver)->k = kernels_find();
    return DDSC_OK;
}

void exact_destroy(exact_solver *solver)
{
    if (!solver)
        return;
    exact_destroy(solver->coarser);
    exact_destroy(solver->twin);
    mem_free(solver->ctx, solver->own.block);
    mem_free(solver->ctx, solver->given.block);
    mem_free(solver->ctx, solver->level.block);
    ahead_free(solver->ctx, &solver->ahead);
    mem_free(solver->ctx, solver);
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

/* Positive integers that sum to `total`, each within a unit or so of its share. */
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
    /* Equal weights have equal errors: spread evenly, what is left over cancels them in any
     * stretch. */
    int64_t count = BASE_MIN(left < 0 ? -left : left, n), step = left < 0 ? -1 : 1;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = (2 * k + 1) * n / (2 * count), by = out[i] + step < 1 ? 0 : step;
        out[i] += by;
        left -= by;
    }
    if (left != 0)
        out[largest_of(out, n)] += left;
}

/* Supplies times n + 1, one more for each source, n more for one sink: then no proper subset of the
 * nodes balances, since its sources would have to number 0 or n. */
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
}

static void set_fine_scale(exact_solver *s)
{
    int exponent;
    frexp(fmax(fabs(s->low), fabs(s->high)), &exponent);
    s->net.fine_scale = unit_scale(FINE_BITS, exponent);
}

/* ---- the course of a solve ---- */

/* Potentials that outgrow 2^51 quanta get a coarser quantum; they are at most n + m costs long. */
static simplex_end run_fine(simplex *net)
{
    simplex_end end = simplex_fine(net);
    while (end == SIMPLEX_OVERFLOW) {
        net->fine_scale *= 0.25;
        fine_no_candidates(net);
        tree_order(net);
        end = simplex_fine(net);
    }
    return end;
}

static simplex_end run_large(exact_solver *s, bool guessed)
{
    simplex *net = &s->net;
    fine_candidates(net, guessed);
    start_fine(net);
    return run_fine(net);
}

/* The highest potentials of the sources that those of the sinks allow. */
static void row_potentials(simplex *net)
{
    for (int64_t i = 0; i < net->n; i++)
        net->coarse[i] =
            net->k->row_least(net->coarse_cost + i * net->ld, net->coarse + net->sink0, net->ld);
}

/* All but the basis. */
static ddsc_status prepare(exact_solver *s, const double *a, const double *b, const cost_rows *cost,
                           int64_t max_pivots)
{
    ddsc_status status = set_problem(s, a, b, cost, max_pivots);
    if (status < 0)
        return status;
    cost_bounds(&s->net.cost, &s->low, &s->high);
    set_supplies(s);
    set_fine_scale(s);
    if (s->net.dense)
        coarse_costs(&s->net, s->low, s->high);
    return DDSC_OK;
}

ddsc_status solve_basis(exact_solver *s, simplex_end *end, const double *a, const double *b,
                        const cost_rows *cost, int64_t max_pivots)
{
    simplex *net = &s->net;
    bool guessed;
    ddsc_status status = DDSC_OK;
    TRY(prepare(s, a, b, cost, max_pivots));
    *end = SIMPLEX_OPTIMAL;
    if (is_line(cost)) {
        start_on_line(net);
    } else if (net->dense && is_small(net->n, net->m)) {
        simplex_small(&net, end, 1);
    } else if (net->dense) {
        TRY(guess_potentials(s, &guessed));
        if (guessed && may_list(s))
            near_coarse(net, s->start);
        if (guessed && s->rough) {
            row_potentials(net);
            goto done;
        }
        start_coarse(net);
        *end = simplex_coarse(net);
    } else {
        TRY(guess_potentials(s, &guessed));
        *end = run_large(s, guessed);
    }
done:
    return status;
}

static ddsc_status stop(exact_solver *s)
{
    return ctx_fail(s->ctx, DDSC_ERROR_CANCELLED, "stopped on request");
}

/* The certificate of a basis, after fine pivots where coarse rounding left a gap. */
static ddsc_status finish(exact_solver *s, exact_result *result, simplex_end *end)
{
    if (*end == SIMPLEX_STOPPED)
        return stop(s);
    bool exact = s->net.dense && *end == SIMPLEX_OPTIMAL && s->net.coarse_exact;
    certify(s, result, exact);
    bool rough = s->net.dense || is_line(&s->net.cost);
    if (*end == SIMPLEX_OVERFLOW ||
        (*end == SIMPLEX_OPTIMAL && rough && !exact && result->gap > gap_accepted)) {
        fine_no_candidates(&s->net);
        tree_build(&s->net); /* small problems come without masks */
        *end = run_fine(&s->net);
        if (*end == SIMPLEX_STOPPED)
            return stop(s);
        certify(s, result, false);
    }
    s->pivots += s->net.pivots;
    result->pivots = s->pivots;
    return DDSC_OK;
}

static ddsc_status solve_round(exact_solver *s, exact_result *result, simplex_end *end,
                               const double *a, const double *b, const cost_rows *cost,
                               int64_t max_pivots)
{
    ddsc_status status = solve_basis(s, end, a, b, cost, max_pivots);
    return status < 0 ? status : finish(s, result, end);
}

/* The largest true cost the plan pays. */
static double largest_used(const exact_solver *s, const exact_result *result)
{
    cost_rows truth = s->net.cost;
    double largest = 0;
    truth.cap = INFINITY;
    for (int64_t k = 0; k < result->n_plan; k++)
        largest = fmax(largest, fabs(cost_cell(&truth, s->plan_row[k], s->plan_column[k])));
    return largest;
}

/* Costs far above all that matter (a forbidden arc, say) take the precision away. When a gap is
 * left and the plan pays far less than the largest cost, costs are cut off somewhat above what it
 * pays and the problem solved again: a plan below the cut is optimal for the true costs too, and
 * potentials below cut costs are below the true ones. */
ddsc_status solve_ordinary(exact_solver *s, exact_result *result, const double *a, const double *b,
                           const cost_rows *cost, int64_t max_pivots)
{
    cost_rows cut = *cost;
    simplex_end end;
    ddsc_status status = DDSC_OK;
    s->pivots = 0;
    TRY(solve_round(s, result, &end, a, b, &cut, max_pivots));
    double high = s->high;
    for (int round = 0; round < CUT_ROUNDS && end == SIMPLEX_OPTIMAL && result->gap > GAP_PROMISED;
         round++) {
        double used = largest_used(s, result), cap = CUT_FACTOR * used;
        int64_t left = max_pivots > 0 ? max_pivots - s->pivots : 0;
        if (used == 0 || (used <= cut.cap && cap > high / CUT_WORTH) ||
            (max_pivots > 0 && left <= 0))
            break;
        cut.cap = high = cap;
        cut.whole_x = cut.whole_y = NULL;
        TRY(solve_round(s, result, &end, a, b, &cut, left));
    }
    if (end == SIMPLEX_CAPPED || result->gap > GAP_PROMISED)
        return DDSC_NOT_CONVERGED;
done:
    return status;
}

ddsc_status solve_two(exact_solver *const *s, exact_result *result, const two_problems *p,
                      int64_t max_pivots)
{
    ddsc_status status = DDSC_OK;
    simplex *net[2] = {&s[0]->net, &s[1]->net};
    simplex_end end[2];
    for (int k = 0; k < 2; k++) {
        s[k]->pivots = 0;
        TRY(prepare(s[k], p->a[k], p->b[k], &p->cost[k], max_pivots));
    }
    simplex_small(net, end, 2);
    for (int k = 0; k < 2; k++) {
        TRY(finish(s[k], &result[k], &end[k]));
        if (end[k] == SIMPLEX_CAPPED || result[k].gap > GAP_PROMISED)
            TRY(solve_ordinary(s[k], &result[k], p->a[k], p->b[k], &p->cost[k], max_pivots));
    }
done:
    return status;
}
