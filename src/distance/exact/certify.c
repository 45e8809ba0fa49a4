/* Computes the certificate: recomputes the plan and the potentials of the final basis in double
 * precision, with the original weights and costs.
 *
 * The simplex works on rounded numbers. Only its tree is used here, so the effect of rounding
 * appears as a gap between the primal value <P, C> and the dual value sum a f + sum b g. The flow
 * on an arc is the excess of the subtree below it, so the plan is feasible up to rounding errors.
 * The g_j follow from f_i + g_j = C_ij on the arcs of the tree, and f_i = min_j (C_ij - g_j),
 * rounded down. The potentials are therefore feasible on all arcs, and the dual value is a proven
 * lower bound. The cost is O(n + m) for the plan and one pass over all n x m costs.
 *
 * Long sums are compensated. Tiny problems first use plain sums, which are usually accurate enough
 * for a few dozen terms. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "distance/exact/solver.h"

/* Returns the next double below x. x must be finite and not zero. */
static double step_down(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += x > 0 ? -1 : 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef enum care { PLAIN, CAREFUL } care;

/* Functions for both plain and compensated sums. Inlining removes the test in add_term. */
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

/* Returns the node with the largest weight. If the potential of this node is set to zero, the
 * potentials of the other heavy nodes are small, and a difference between the two sums of weights
 * can be assigned to the node at no cost. */
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

/* Adds the difference between the two sums of weights to the heaviest node, because the difference
 * could exceed the weight of a light node. */
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

/* Computes the flows in the tree for the original weights, leaves first. The flow on an arc is the
 * excess of the subtree below it. Rounding errors may make a zero flow negative. Negative flows are
 * omitted from the plan and added to *lost. */
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
        DDSC_ASSERT(row >= 0 && row < net->n && column >= 0 && column < net->m);
        s->plan_row[*n_plan] = (int32_t)row;
        s->plan_column[*n_plan] = (int32_t)column;
        s->plan_mass[(*n_plan)++] = mass;
        add_term(&total, mass * exact_cost_cell(&truth, row, column), how);
    }
    return sum_value(total);
}

/* Converts the int32 potentials, which are multiples of a unit, to doubles. The simplex has checked
 * every arc in integers. */
static void int32_potentials(exact_solver *s)
{
    const simplex *net = &s->net;
    double zero = net->potential32[exact_heaviest(s)];
    for (int64_t i = 0; i < net->n; i++)
        s->f[i] = (net->potential32[i] - zero) / net->scale32;
    for (int64_t j = 0; j < net->m; j++)
        s->g[j] = (zero - net->potential32[net->sink0 + j]) / net->scale32;
}

/* Computes potentials with f_i + g_j = C_ij on the arcs of the tree from the original costs, with
 * compensated sums if `how` is CAREFUL. */
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

/* Lowers each f_i until all its arcs are feasible, and then to the next smaller double, because
 * rounding may have hidden a violation. */
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

/* Returns true if f_i + g_j <= C_ij in a sample of the rows. In this case, the dual value is a
 * lower bound. No tolerance is needed: if the exact sum is at most C_ij, so is the rounded sum,
 * because C_ij is a double. */
static bool is_dual_feasible(const exact_solver *s)
{
    exact_costs truth = s->net.cost;
    bool holds = true;
    truth.cap = INFINITY;
    for (int64_t i = 0; i < s->net.n; i += s->net.n / 4 + 1)
        for (int64_t j = 0; j < s->net.m; j++)
            holds &= !(s->f[i] + s->g[j] > exact_cost_cell(&truth, i, j));
    return holds;
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
    DDSC_ASSERT(result->n_plan < net->n + net->m && is_dual_feasible(s));
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
    if (!isfinite(result->gap)) /* the values overflowed, so the gap is unknown */
        result->gap = INFINITY;
    DDSC_ASSERT(result->gap >= 0);
}

void exact_potentials(exact_solver *s, double *size)
{
    *size = 0;
    tree_potentials(s, CAREFUL);
    lower_f(s);
    DDSC_ASSERT(is_dual_feasible(s));
    for (int64_t i = 0; i < s->net.n; i++)
        *size += s->a[i] * fabs(s->f[i]);
    for (int64_t j = 0; j < s->net.m; j++)
        *size += s->b[j] * fabs(s->g[j]);
}

void exact_certify(exact_solver *s, exact_result *result, bool int32_optimal)
{
    basis_order(&s->net);
    DDSC_ASSERT(basis_is_tree(&s->net));
    if (exact_is_tiny(s->net.n, s->net.m)) {
        certify_with(s, result, int32_optimal, PLAIN);
        if (result->gap <= GAP_PLAIN)
            return;
    }
    certify_with(s, result, int32_optimal, CAREFUL);
}
