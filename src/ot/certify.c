/* The certificate: the plan and the potentials that belong to the last basis, with true weights and
 * costs in double. The plan is feasible up to rounding; the potentials are feasible exactly. */
#include <math.h>

#include "ot/exact.h"

/* Running sum with its rounding error carried along (Neumaier 1974). */
typedef struct sum {
    double high, low;
} sum;

static void sum_add(sum *s, double x)
{
    double t = s->high + x;
    s->low += fabs(s->high) >= fabs(x) ? (s->high - t) + x : (x - t) + s->high;
    s->high = t;
}

static void sum_add_pair(sum *s, sum x)
{
    sum_add(s, x.high);
    s->low += x.low;
}

static double sum_value(sum s)
{
    return s.high + s.low;
}

static double arc_cost(const exact_solver *s, int32_t x, int32_t above, int64_t *row,
                       int64_t *column)
{
    bool is_source = x < s->net.sink0;
    *row = is_source ? x : above;
    *column = (is_source ? above : x) - s->net.sink0;
    return s->cost[*row * s->m + *column];
}

/* Flows of the tree for the true weights, leaves first. What crosses an arc is the excess of the
 * subtree below it; a flow that is zero up to rounding may come out negative and is left out. */
static double certify_plan(exact_solver *s, int64_t *n_plan)
{
    const simplex *net = &s->net;
    sum total = {0, 0}, *excess = (sum *)(void *)s->excess;
    *n_plan = 0;
    for (int64_t i = 0; i < s->n; i++)
        excess[i] = (sum){s->a[i], 0};
    for (int64_t j = 0; j < s->m; j++)
        excess[net->sink0 + j] = (sum){-s->b[j], 0};
    for (int64_t k = 0; k < s->n + s->m - 1; k++) {
        int32_t x = net->order[k], above = net->node[x].parent;
        int64_t row, column;
        double cost = arc_cost(s, x, above, &row, &column);
        double mass = x < net->sink0 ? sum_value(excess[x]) : -sum_value(excess[x]);
        sum_add_pair(&excess[above], excess[x]);
        if (mass <= 0)
            continue;
        s->plan_row[*n_plan] = (int32_t)row;
        s->plan_column[*n_plan] = (int32_t)column;
        s->plan_mass[(*n_plan)++] = mass;
        sum_add(&total, mass * cost);
    }
    return sum_value(total);
}

/* Potentials along the tree from the true costs; then each f_i goes down to where all its arcs
 * hold, one step further when rounding may have hidden a violation. */
static void certify_potentials(exact_solver *s)
{
    const simplex *net = &s->net;
    double *value = s->excess;
    value[net->root] = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = net->order[k], above = net->node[x].parent;
        int64_t row, column;
        value[x] = arc_cost(s, x, above, &row, &column) - value[above];
    }
    for (int64_t j = 0; j < s->m; j++)
        s->g[j] = value[net->sink0 + j];
    for (int64_t i = 0; i < s->n; i++) {
        double least = net->kernels->row_slack(s->cost + i * s->m, s->g, s->m);
        s->f[i] = least == 0 || s->coarse_exact ? least : nextafter(least, -INFINITY);
    }
}

void certify(exact_solver *s, exact_result *result)
{
    sum dual = {0, 0};
    double size = 0;
    tree_order(&s->net);
    result->primal = certify_plan(s, &result->n_plan);
    certify_potentials(s);
    for (int64_t i = 0; i < s->n; i++) {
        sum_add(&dual, s->a[i] * s->f[i]);
        size += s->a[i] * fabs(s->f[i]);
    }
    for (int64_t j = 0; j < s->m; j++) {
        sum_add(&dual, s->b[j] * s->g[j]);
        size += s->b[j] * fabs(s->g[j]);
    }
    result->dual = sum_value(dual);
    double gap = BASE_MAX(0, result->primal - result->dual);
    result->gap = gap > 0 ? gap / BASE_MAX(fabs(result->primal), 1e-3 * size) : 0;
    result->pivots = s->net.pivots;
}
