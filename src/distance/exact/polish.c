/* Runs final pivots in extended precision, for problems whose numbers span a wider range than the
 * integers of the simplex: weights below 2^-53 of the total, or costs below 2^-49 of the largest
 * cost.
 *
 * Flows and potentials of the current basis are recomputed along the tree with about 106 bits, as
 * unevaluated sums of two doubles. Dual pivots then remove negative flows, and primal pivots remove
 * negative reduced costs (Ahuja, Magnanti, Orlin 1993, chapter 11). The gap accounts for flows and
 * reduced costs that are still negative, and for rounding errors in the flows. Every pivot prices
 * all n x m arcs, which is acceptable because few problems need these pivots, and only a few of
 * them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "distance/exact/solver.h"

static const double unit = 0x1p-104; /* rounding error of a sum, relative to its terms */

typedef struct polish {
    exact_solver *s;
    simplex *net;
    exact_costs truth;
    sum *flow;      /* one per node: excess of its subtree */
    sum *potential; /* one per node: f or g */
    double *error;  /* one per node: error bound of its flow */
    uint8_t *below; /* one per node: 1 if the node is in the subtree below the leaving arc */
} polish;

typedef struct cell {
    int64_t row, column;
} cell;

/* Adds x to *to, and returns a bound on the rounding error, which is often 0 because weights have
 * few significant bits. */
static double add_both(sum *to, sum x)
{
    sum low = {to->low, 0}, high = {to->high, 0};
    sum_add(&high, x.high);
    sum_add(&low, high.low);
    sum_add(&low, x.low);
    *to = (sum){high.high, low.high};
    return fabs(low.low);
}

static bool is_source(const polish *p, int64_t node)
{
    return node < p->net->sink0;
}

static cell arc_to_parent(const polish *p, int32_t x)
{
    int32_t above = p->net->node[x].parent;
    return is_source(p, x) ? (cell){x, above - p->net->sink0} : (cell){above, x - p->net->sink0};
}

/* ---- flows and potentials of the tree ---- */

/* Sets the excess of the nodes. The weights of the sinks are multiplied by sum a / sum b, so that a
 * common factor on one side, such as the rounding error in a total, does not affect the result. The
 * remaining difference is added to the heaviest node. Returns the relative error in the weight of a
 * sink. */
static double set_excess(polish *p)
{
    const exact_solver *s = p->s;
    sum a = {0, 0}, b = {0, 0};
    for (int64_t i = 0; i < p->net->n; i++)
        sum_add(&a, s->a[i]);
    for (int64_t j = 0; j < p->net->m; j++)
        sum_add(&b, s->b[j]);
    double factor = sum_value(a) / sum_value(b), part = factor * b.high;
    double rest =
        ((a.high - part) - fma(factor, b.high, -part) + (a.low - factor * b.low)) / b.high;
    for (int64_t i = 0; i < p->net->n; i++)
        p->flow[i] = (sum){s->a[i], 0};
    for (int64_t j = 0; j < p->net->m; j++) {
        double high = s->b[j] * factor;
        p->flow[p->net->sink0 + j] = (sum){-high, -(fma(s->b[j], factor, -high) + s->b[j] * rest)};
    }
    sum off = {0, 0};
    for (int64_t i = 0; i < p->net->n; i++)
        add_both(&off, p->flow[i]);
    for (int64_t j = 0; j < p->net->m; j++)
        add_both(&off, p->flow[p->net->sink0 + j]);
    add_both(&p->flow[exact_heaviest(s)], (sum){-off.high, -off.low});
    return factor == 1 && rest == 0 ? 0 : unit;
}

/* Computes the excess of every subtree, children first, with a bound on its rounding error. */
static void set_flows(polish *p)
{
    const simplex *net = p->net;
    double scaling = set_excess(p);
    for (int64_t x = 0; x < net->nodes; x++)
        p->error[x] = x < net->sink0 ? 0 : scaling * fabs(p->flow[x].high);
    for (int64_t k = 0; k < net->n + net->m - 1; k++) {
        int32_t x = net->order[k], above = net->node[x].parent;
        p->error[above] += p->error[x] + add_both(&p->flow[above], p->flow[x]);
    }
}

static double flow_of(const polish *p, int32_t x)
{
    return is_source(p, x) ? sum_value(p->flow[x]) : -sum_value(p->flow[x]);
}

/* Computes potentials with f_i + g_j = C_ij on the arcs of the tree. */
static void set_potentials(polish *p)
{
    const simplex *net = p->net;
    p->potential[net->root] = (sum){0, 0};
    for (int64_t k = net->n + net->m - 2; k >= 0; k--) {
        int32_t x = net->order[k];
        sum above = p->potential[net->node[x].parent], *own = &p->potential[x];
        cell at = arc_to_parent(p, x);
        *own = (sum){-above.high, -above.low};
        sum_add(own, exact_cost_cell(&p->truth, at.row, at.column));
        double high =
            own->high + own->low; /* renormalize; sums with few significant bits remain exact */
        own->low -= high - own->high;
        own->high = high;
    }
}

static double reduced(const polish *p, const double *row, int64_t i, int64_t j)
{
    sum f = p->potential[i], g = p->potential[p->net->sink0 + j], r = {row[j], 0};
    sum_add(&r, -f.high);
    sum_add(&r, -g.high);
    return r.high + (r.low - f.low - g.low);
}

/* Returns true if the reduced cost of an arc is more negative than rounding errors can explain. */
static bool is_negative(const polish *p, double r, const double *row, int64_t i, int64_t j)
{
    return r < -unit *
                   (fabs(row[j]) + fabs(p->potential[i].high) +
                    fabs(p->potential[p->net->sink0 + j].high)) *
                   (double)(p->net->n + p->net->m);
}

/* ---- pivots ---- */

/* Attaches the subtree of x, which contains exactly one end of the arc, to the other end of the
 * arc. */
static void swap_arcs(polish *p, int32_t x, cell in)
{
    simplex *net = p->net;
    int32_t ends[2] = {(int32_t)in.row, (int32_t)(net->sink0 + in.column)};
    int32_t y = p->below[ends[0]] ? ends[0] : ends[1], above = y == ends[0] ? ends[1] : ends[0];
    for (bool top = false; !top;) {
        int32_t next = net->node[y].parent;
        net->node[y].parent = above;
        top = y == x;
        above = y;
        y = next;
    }
    net->ordered = false;
    basis_order(net);
}

static void mark_below(polish *p, int32_t top)
{
    const simplex *net = p->net;
    for (int64_t k = net->n + net->m - 1; k >= 0; k--) {
        int32_t x = net->order[k];
        p->below[x] = x == top || (x != net->root && p->below[net->node[x].parent]);
    }
}

/* Returns the node whose arc has the most negative flow, or -1 if there is none. */
static int32_t worst_flow(const polish *p)
{
    int32_t worst = -1;
    double least = 0;
    for (int64_t k = 0; k < p->net->n + p->net->m - 1; k++) {
        int32_t x = p->net->order[k];
        double flow = flow_of(p, x);
        if (flow < least && flow < -p->error[x]) {
            least = flow;
            worst = x;
        }
    }
    return worst;
}

/* Finds the arc with the smallest reduced cost that can replace the arc of `out`. If `out` is a
 * sink, a negative flow means that its subtree supplies too much, so the new arc must leave the
 * subtree. If `out` is a source, the new arc must enter the subtree. */
static bool enter_dual(polish *p, int32_t out, cell *in)
{
    const simplex *net = p->net;
    bool outward = !is_source(p, out);
    double least = INFINITY;
    mark_below(p, out);
    for (int64_t i = 0; i < net->n; i++) {
        if (p->below[i] != outward)
            continue;
        const double *row = exact_cost_row(&p->truth, i);
        for (int64_t j = 0; j < net->m; j++) {
            double r = p->below[net->sink0 + j] != outward ? reduced(p, row, i, j) : INFINITY;
            if (r < least) {
                least = r;
                *in = (cell){i, j};
            }
        }
    }
    return least < INFINITY;
}

/* Finds the arc with the smallest reduced cost. Returns false if no reduced cost is negative. */
static bool enter_primal(const polish *p, cell *in)
{
    double least = 0;
    for (int64_t i = 0; i < p->net->n; i++) {
        const double *row = exact_cost_row(&p->truth, i);
        for (int64_t j = 0; j < p->net->m; j++) {
            double r = reduced(p, row, i, j);
            if (r < least && is_negative(p, r, row, i, j)) {
                least = r;
                *in = (cell){i, j};
            }
        }
    }
    return least < 0;
}

/* Returns the node whose arc blocks the cycle of the entering arc. On both paths to the join, arcs
 * that lose and arcs that gain flow alternate, starting with an arc that loses flow. */
static int32_t leave_primal(polish *p, cell in)
{
    const simplex *net = p->net;
    int32_t ends[2] = {(int32_t)in.row, (int32_t)(net->sink0 + in.column)}, leaving = -1;
    double least = INFINITY;
    memset(p->below, 0, (size_t)net->nodes);
    for (int32_t x = ends[1];; x = net->node[x].parent) {
        p->below[x] = 1;
        if (x == net->root)
            break;
    }
    int32_t join = ends[0];
    while (!p->below[join])
        join = net->node[join].parent;
    for (int side = 0; side < 2; side++)
        for (int32_t x = ends[side]; x != join; x = net->node[x].parent)
            if (is_source(p, x) == (side == 0) && flow_of(p, x) < least) {
                least = flow_of(p, x);
                leaving = x;
            }
    mark_below(p, leaving);
    return leaving;
}

/* Pivots until the basis is optimal. Returns false after max_pivots pivots, if no arc can enter, or
 * if the user canceled. */
static bool polish_all(polish *p, int64_t max_pivots)
{
    cell in;
    for (int64_t pivot = 0; pivot < max_pivots; pivot++) {
        set_flows(p);
        set_potentials(p);
        int32_t out = worst_flow(p);
        if (out < 0 && !enter_primal(p, &in))
            return true;
        if (out >= 0 && !enter_dual(p, out, &in))
            return false;
        if (p->s->ctx && ctx_canceled(p->s->ctx))
            return false;
        swap_arcs(p, out >= 0 ? out : leave_primal(p, in), in);
        p->s->pivots++;
    }
    set_flows(p);
    set_potentials(p);
    return false;
}

/* ---- certificate ---- */

/* Computes the plan and its value. Sets *loose to a bound on the error in the value that rounding
 * errors in the flows cause. If the true flow on an arc may be negative, its mass must be moved
 * over other arcs, at no more than the largest cost. */
static double take_plan(const polish *p, exact_result *result, double *loose)
{
    exact_solver *s = p->s;
    double high = fmax(fabs(s->low), fabs(s->high));
    sum total = {0, 0};
    result->n_plan = 0;
    *loose = 0;
    for (int64_t k = 0; k < p->net->n + p->net->m - 1; k++) {
        int32_t x = p->net->order[k];
        cell at = arc_to_parent(p, x);
        double mass = flow_of(p, x), cost = exact_cost_cell(&p->truth, at.row, at.column);
        *loose += mass > p->error[x] ? p->error[x] * fabs(cost) : (p->error[x] - mass) * high;
        if (mass <= 0)
            continue;
        s->plan_row[result->n_plan] = (int32_t)at.row;
        s->plan_column[result->n_plan] = (int32_t)at.column;
        s->plan_mass[result->n_plan++] = mass;
        sum_add(&total, mass * cost);
    }
    return sum_value(total);
}

/* Returns the weighted violation of the dual constraints: sum a_i max(0, max_j (f_i + g_j -
 * C_ij)). */
static double violation(const polish *p)
{
    double all = 0;
    for (int64_t i = 0; i < p->net->n; i++) {
        const double *row = exact_cost_row(&p->truth, i);
        double least = 0;
        for (int64_t j = 0; j < p->net->m; j++)
            least = fmin(least, reduced(p, row, i, j));
        all -= p->s->a[i] * least;
    }
    return all;
}

static void take_polish(void *owner, arena *a)
{
    polish *p = owner;
    ARENA_TAKE(a, p->potential, p->net->nodes);
    ARENA_TAKE(a, p->error, p->net->nodes);
    ARENA_TAKE(a, p->below, p->net->nodes);
}

ddsc_status exact_polish(exact_solver *s, exact_result *result)
{
    simplex *net = &s->net;
    double loose;
    if (net->n * net->m > POLISH_CELLS)
        return DDSC_OK;
    net->cost.cap = INFINITY;
    polish p = {.s = s, .net = net, .truth = net->cost, .flow = (sum *)(void *)s->excess};
    CHECK(workspace_lay_out(s->ctx, &s->polish, take_polish, &p));
    exact_cost_bounds(&p.truth, &s->low, &s->high);
    basis_order(net);
    polish_all(&p, POLISH_PIVOTS * (net->n + net->m));
    result->pivots = s->pivots;
    result->primal = take_plan(&p, result, &loose);
    loose += violation(&p);
    if (result->primal > 0) /* weights near the smallest doubles lose bits when divided by their
                             * sum */
        loose += DBL_MIN * (double)(net->n + net->m) * fmax(fabs(s->low), fabs(s->high));
    result->dual = result->primal - loose;
    result->lost = 0;
    exact_potentials(s, &result->size);
    exact_set_gap(result, loose, s->strict ? 0 : 1e-3 * result->size);
    return DDSC_OK;
}
