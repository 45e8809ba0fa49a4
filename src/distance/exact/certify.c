/* The certificate: the plan and the potentials that belong to the last basis, with true weights and
 * costs in double. The simplex worked on rounded numbers; here nothing is taken from it but the tree,
 * so what it lost shows as a gap between <P, C> and sum a f + sum b g. The plan is feasible up to
 * rounding; the potentials are feasible exactly, which makes the dual value a proof.
 * Sums over many arcs carry their rounding errors along; those of tiny problems only when the gap
 * asks for it, as a few dozen terms seldom need it. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "distance/exact/solver.h"

/* The next double below x; x is finite and not zero. */
static double step_down(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += x > 0 ? -1 : 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef enum care { PLAIN, CAREFUL } care;

/* One body for both, without asking each time which it is. */
#define BOTH static inline __attribute__((always_inline))

BOTH void add_term(sum *s, double x, care how)
{
    if (how == CAREFUL)
        sum_add(s, x);
    else
        s->high += x;
}

static inline void arc_of(const simplex *net, int32_t x, int64_t *row, int64_t *column)
{
    int32_t above = net->node[x].parent;
    *row = x < net->sink0 ? x : above;
    *column = (x < net->sink0 ? above : x) - net->sink0;
}

/* The node of the largest weight: with its potential at zero, those that count are small, and what
 * the sums of the weights differ by costs nothing there. */
int64_t exact_heaviest(const exact_solver *s)
{
    const simplex *net = &s->net;
    int64_t i = 0, j = 0;
    for (int64_t k = 1; k < net->n; k++)
        i = s->a[k] > s->a[i] ? k : i;
    for (int64_t k = 1; k < net->m; k++)
        j = s->b[k] > s->b[j] ? k : j;
    return s->a[i] >= s->b[j] ? i : net->sink0 + j;
}

/* What the sums differ by goes to the heaviest node: at a light one it would be more than all it
 * has. */
static void balance_sums(const exact_solver *s, sum *excess)
{
    const simplex *net = &s->net;
    sum off = {0, 0};
    for (int64_t i = 0; i < net->n; i++)
        sum_add(&off, excess[i].high);
    for (int64_t j = 0; j < net->m; j++)
        sum_add(&off, excess[net->sink0 + j].high);
    sum *most = excess + exact_heaviest(s);
    sum_add(most, -off.high);
    most->low -= off.low;
}

/* Flows of the tree for the true weights, leaves first. What crosses an arc is the excess of the
 * subtree below it; a flow that is zero up to rounding may come out negative and is left out, and
 * *lost counts it. */
BOTH double certify_plan(exact_solver *s, int64_t *n_plan, double *lost, care how)
{
    const simplex *net = &s->net;
    exact_costs truth = net->cost;
    sum total = {0, 0}, *excess = (sum *)(void *)s->excess;
    *n_plan = 0;
    *lost = 0;
    truth.cap = INFINITY;
    for (int64_t i = 0; i < net->n; i++)
        excess[i] = (sum){s->a[i], 0};
    for (int64_t j = 0; j < net->m; j++)
        excess[net->sink0 + j] = (sum){-s->b[j] * s->b_factor, 0};
    if (how == CAREFUL)
        balance_sums(s, excess);
    for (int64_t k = 0; k < net->n + net->m - 1; k++) {
        int32_t x = net->order[k];
        int64_t row, column;
        double mass = x < net->sink0 ? sum_value(excess[x]) : -sum_value(excess[x]);
        sum *above = excess + net->node[x].parent;
        add_term(above, excess[x].high, how);
        above->low += excess[x].low;
        if (mass <= 0) {
            *lost -= mass;
            continue;
        }
        arc_of(net, x, &row, &column);
        s->plan_row[*n_plan] = (int32_t)row;
        s->plan_column[*n_plan] = (int32_t)column;
        s->plan_mass[(*n_plan)++] = mass;
        add_term(&total, mass * exact_cost_cell(&truth, row, column), how);
    }
    return sum_value(total);
}

/* A whole number of int32 units, and every arc was checked in integers. */
static void int32_potentials(exact_solver *s)
{
    const simplex *net = &s->net;
    double zero = net->potential32[exact_heaviest(s)];
    for (int64_t i = 0; i < net->n; i++)
        s->f[i] = (net->potential32[i] - zero) / net->scale32;
    for (int64_t j = 0; j < net->m; j++)
        s->g[j] = (zero - net->potential32[net->sink0 + j]) / net->scale32;
}

/* g along the tree from the true costs, errors carried along: f_i + g_j = C_ij on its arcs. */
BOTH void tree_potentials(exact_solver *s, care how)
{
    const simplex *net = &s->net;
    sum *value = (sum *)(void *)s->excess;
    value[net->root] = (sum){0, 0};
    for (int64_t k = net->n + net->m - 2; k >= 0; k--) {
        int32_t x = net->order[k];
        sum above = value[net->node[x].parent];
        int64_t row, column;
        arc_of(net, x, &row, &column);
        value[x] = (sum){-above.high, -above.low};
        add_term(&value[x], exact_cost_cell(&net->cost, row, column), how);
    }
    int64_t zero = exact_heaviest(s);
    double sign = zero < net->sink0 ? 1 : -1;
    for (int64_t j = 0; j < net->m; j++) {
        sum g = value[net->sink0 + j];
        add_term(&g, sign * value[zero].high, how);
        s->g[j] = g.high + (g.low + sign * value[zero].low);
    }
}

/* Each f_i down to where all its arcs hold, one step further, since rounding may have hidden a
 * violation. */
static void lower_f(exact_solver *s)
{
    const simplex *net = &s->net;
    exact_costs truth = net->cost;
    truth.cap = INFINITY;
    if (truth.dense)
        net->k->slack(s->f, truth.dense, s->g, net->n, net->m);
    else
        for (int64_t i = 0; i < net->n; i++)
            net->k->slack(s->f + i, exact_cost_row(&truth, i), s->g, 1, net->m);
    for (int64_t i = 0; i < net->n; i++)
        s->f[i] = s->f[i] == 0 ? 0 : step_down(s->f[i]);
}

BOTH void certify_with(exact_solver *s, exact_result *result, bool int32_optimal, care how)
{
    const simplex *net = &s->net;
    sum dual = {0, 0};
    double size = 0;
    result->primal = certify_plan(s, &result->n_plan, &result->lost, how);
    if (int32_optimal) {
        int32_potentials(s);
    } else {
        tree_potentials(s, how);
        lower_f(s);
    }
    for (int64_t i = 0; i < net->n; i++) {
        add_term(&dual, s->a[i] * s->f[i], how);
        size += s->a[i] * fabs(s->f[i]);
    }
    for (int64_t j = 0; j < net->m; j++) {
        add_term(&dual, s->b[j] * s->b_factor * s->g[j], how);
        size += s->b[j] * fabs(s->g[j]);
    }
    result->dual = sum_value(dual);
    result->size = size;
    exact_set_gap(result, fabs(result->primal - result->dual), 1e-3 * size);
}

void exact_set_gap(exact_result *result, double difference, double floor)
{
    result->gap = difference == 0 ? 0 : difference / fmax(fabs(result->primal), floor);
    if (!isfinite(result->gap)) /* numbers too large: nothing is known */
        result->gap = INFINITY;
}

void exact_potentials(exact_solver *s, double *size)
{
    *size = 0;
    tree_potentials(s, CAREFUL);
    lower_f(s);
    for (int64_t i = 0; i < s->net.n; i++)
        *size += s->a[i] * fabs(s->f[i]);
    for (int64_t j = 0; j < s->net.m; j++)
        *size += s->b[j] * fabs(s->g[j]);
}

void exact_certify(exact_solver *s, exact_result *result, bool int32_optimal)
{
    basis_order(&s->net);
    if (exact_is_tiny(s->net.n, s->net.m)) {
        certify_with(s, result, int32_optimal, PLAIN);
        if (result->gap <= GAP_PLAIN)
            return;
    }
    certify_with(s, result, int32_optimal, CAREFUL);
}
