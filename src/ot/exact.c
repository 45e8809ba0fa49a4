/* Front door of exact transport: takes zero weights out, brings weights and costs to integers, runs
 * the simplex coarse then (where rounding mattered) fine, and certifies the answer. */
#include "ot/exact.h"

#include <math.h>
#include <string.h>

/* A coarse optimum whose certified gap is below this needs no fine pivots. */
static const double gap_accepted = 3e-13;

/* ---- workspace ---- */

void *arena_take(arena *a, int64_t count, size_t size)
{
    char *at = a->base ? a->base + a->used : NULL;
    a->used += (count * (int64_t)size + 63) & ~(int64_t)63;
    return at;
}

static void lay_out(exact_solver *s, arena *a)
{
    simplex *net = &s->net;
    net->supply = arena_take(a, net->nodes, sizeof *net->supply);
    net->node = arena_take(a, net->nodes, sizeof *net->node);
    net->mask = arena_take(a, net->nodes * net->words, sizeof *net->mask);
    net->cut = arena_take(a, net->words, sizeof *net->cut);
    net->order = arena_take(a, net->nodes, sizeof *net->order);
    net->path[0] = arena_take(a, net->nodes, sizeof *net->path[0]);
    net->path[1] = arena_take(a, net->nodes, sizeof *net->path[1]);
    net->coarse_cost = arena_take(a, net->n * net->ld, sizeof *net->coarse_cost);
    net->coarse = arena_take(a, 64 * net->words, sizeof *net->coarse);
    net->fine = arena_take(a, 64 * net->words, sizeof *net->fine);
    s->f = arena_take(a, s->n, sizeof *s->f);
    s->g = arena_take(a, s->m, sizeof *s->g);
    s->plan_row = arena_take(a, s->n + s->m, sizeof *s->plan_row);
    s->plan_column = arena_take(a, s->n + s->m, sizeof *s->plan_column);
    s->plan_mass = arena_take(a, s->n + s->m, sizeof *s->plan_mass);
    s->excess = arena_take(a, 2 * net->nodes, sizeof *s->excess);
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

ddsc_status workspace_grow(ddsc_context *ctx, char **block, int64_t *size, int64_t wanted)
{
    if (wanted <= *size)
        return DDSC_OK;
    mem_free(ctx, *block);
    *size = 0;
    ddsc_status status = mem_get(ctx, block, wanted, 1);
    if (status == DDSC_OK)
        *size = wanted;
    return status;
}

static ddsc_status reserve(exact_solver *s, int64_t n, int64_t m)
{
    simplex *net = &s->net;
    arena a = {NULL, 0};
    s->n = net->n = n;
    s->m = net->m = m;
    net->sink0 = round_up(n, LANES);
    net->ld = round_up(m, LANES);
    net->nodes = net->sink0 + net->ld;
    net->words = net->nodes <= 64 ? 1 : round_up((net->nodes + 63) / 64, MASK_WORDS);
    lay_out(s, &a);
    ddsc_status status = workspace_grow(s->ctx, &s->block, &s->block_size, a.used);
    if (status < 0)
        return status;
    a = (arena){s->block, 0};
    lay_out(s, &a);
    return DDSC_OK;
}

ddsc_status exact_create(ddsc_context *ctx, exact_solver **solver)
{
    ddsc_status status = MEM_ZERO(ctx, *solver, 1);
    if (status == DDSC_OK) {
        (*solver)->ctx = ctx;
        (*solver)->net.kernels = simplex_kernels_find();
    }
    return status;
}

void exact_destroy(exact_solver *solver)
{
    if (!solver)
        return;
    mem_free(solver->ctx, solver->block);
    mem_free(solver->ctx, solver->spare);
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

/* Positive integers that sum to `total`, each within a unit or so of its share. */
static void settle_weights(int64_t *out, const double *weight, int64_t n, int64_t total)
{
    double all = 0;
    int64_t left = total, largest = 0;
    for (int64_t i = 0; i < n; i++)
        all += weight[i];
    for (int64_t i = 0; i < n; i++) {
        out[i] = BASE_MAX(1, (int64_t)rint(weight[i] / all * (double)total));
        left -= out[i];
        if (out[i] > out[largest])
            largest = i;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t share = BASE_MAX(left / (n - i), 1 - out[i]);
        out[i] += share;
        left -= share;
    }
    out[largest] += left;
}

/* Supplies times n + 1, one more for each source, n more for one sink: then no proper subset of the
 * nodes balances, since its sources would have to number 0 or n. */
static void set_supplies(exact_solver *s)
{
    simplex *net = &s->net;
    int bits = 64 - __builtin_clzll((unsigned long long)s->n + 1);
    int64_t total = (int64_t)1 << BASE_MIN(53, 61 - bits);
    memset(net->supply, 0, (size_t)net->nodes * sizeof *net->supply);
    settle_weights(net->supply, s->a, s->n, total);
    settle_weights(net->supply + net->sink0, s->b, s->m, total);
    for (int64_t i = 0; i < s->n; i++)
        net->supply[i] = net->supply[i] * (s->n + 1) + 1;
    for (int64_t j = 0; j < s->m; j++)
        net->supply[net->sink0 + j] *= s->n + 1;
    net->supply[net->sink0] += s->n;
}

/* Scales are powers of two: costs that are small integers stay exact in the coarse system. */
static void set_costs(exact_solver *s)
{
    simplex *net = &s->net;
    double low = s->cost[0], high = s->cost[0];
    for (int64_t k = 0; k < s->n * s->m; k++) {
        low = s->cost[k] < low ? s->cost[k] : low;
        high = s->cost[k] > high ? s->cost[k] : high;
    }
    double offset = low >= 0 && low <= 0.5 * high ? 0 : low;
    int range_exponent, size_exponent;
    frexp(high - offset, &range_exponent);
    frexp(BASE_MAX(fabs(low), fabs(high)), &size_exponent);
    s->coarse_scale = ldexp(1, COARSE_BITS - range_exponent);
    s->coarse_exact = offset == 0;
    net->fine_cost = s->cost;
    net->fine_scale = ldexp(1, 49 - size_exponent);
    for (int64_t i = 0; i < s->n; i++) {
        int32_t *row = coarse_row(net, i);
        for (int64_t j = 0; j < s->m; j++) {
            double value = (s->cost[i * s->m + j] - offset) * s->coarse_scale;
            row[j] = (int32_t)rint(value);
            s->coarse_exact &= value == (double)row[j];
        }
        for (int64_t j = s->m; j < net->ld; j++)
            row[j] = COARSE_REMOVED;
    }
}

/* ---- one problem of positive weights and ordinary costs ---- */

/* Potentials that outgrow 2^51 quanta get a coarser quantum; they are at most n + m costs long. */
static simplex_end finish(exact_solver *s)
{
    simplex_end end = simplex_fine(&s->net);
    while (end == SIMPLEX_OVERFLOW) {
        s->net.fine_scale *= 0.25;
        tree_order(&s->net);
        end = simplex_fine(&s->net);
    }
    return end;
}

static ddsc_status solve_core(exact_solver *s, exact_result *result, int64_t max_pivots)
{
    simplex *net = &s->net;
    net->pivots = 0;
    net->max_pivots = max_pivots > 0 ? max_pivots : 10000 + 1000 * (s->n + s->m);
    set_supplies(s);
    set_costs(s);
    memset(net->coarse, 0, (size_t)net->nodes * sizeof *net->coarse);
    memset(net->fine, 0, (size_t)net->nodes * sizeof *net->fine);
    if (s->start)
        for (int64_t j = 0; j < s->m; j++)
            net->coarse[net->sink0 + j] =
                (int32_t)rint(fmin(fmax(-s->start[j] * s->coarse_scale, -0x1p29), 0x1p29));
    simplex_start(net);
    simplex_end end = simplex_coarse(net);
    certify(s, result);
    if (end == SIMPLEX_CAPPED)
        return DDSC_NOT_CONVERGED;
    if (end == SIMPLEX_OPTIMAL && (s->coarse_exact || result->gap <= gap_accepted))
        return DDSC_OK;
    end = finish(s);
    certify(s, result);
    return end == SIMPLEX_CAPPED ? DDSC_NOT_CONVERGED : DDSC_OK;
}

ddsc_status solve_ordinary(exact_solver *s, exact_result *result, const exact_problem *problem,
                           int64_t max_pivots)
{
    ddsc_status status = reserve(s, problem->n, problem->m);
    if (status < 0)
        return status;
    s->a = problem->a;
    s->b = problem->b;
    s->cost = problem->cost;
    return solve_core(s, result, max_pivots);
}

ddsc_status exact_solve_items(exact_solver *solver, exact_result *result, const measures *mx,
                              int64_t i, const measures *my, int64_t j, int64_t max_pivots)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    ddsc_status status = DDSC_OK;
    TRY(workspace_grow(solver->ctx, &solver->spare, &solver->spare_size,
                       x.n * y.n * (int64_t)sizeof(double)));
    cost_items(mx, i, my, j, (double *)(void *)solver->spare);
    exact_problem problem = {x.n, y.n, x.weight, y.weight, (double *)(void *)solver->spare};
    status = solve_ordinary(solver, result, &problem, max_pivots);
done:
    return status;
}
