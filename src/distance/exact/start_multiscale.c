/* Guesses the starting potentials from a coarser problem, the parent level.
 *
 * Neighboring points are put into groups of at most GROUP, and one point represents each group. The
 * problem between the representatives is solved recursively, using another parent level. The
 * potentials f_I from this solve are then transferred to all sinks by the c-transform g_j = min_I
 * (C_Ij - f_I).
 *
 * Nearby points have similar potentials, so the guess saves most pivots in the whole problem, and
 * the parent problem has only a sixteenth of the costs. If the points are unknown, a few columns of
 * the cost matrix serve as coordinates of the rows, and a few rows as coordinates of the
 * columns. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "distance/exact/solver.h"
#include "numeric/linalg/linalg.h"

/* One side of the problem. */
typedef struct grouping {
    int64_t n, d;
    const double *weight;
    const double *coordinate; /* n x d */
    double *own;              /* memory for coordinates that are computed here */
    int32_t *order;           /* points, one group after another */
    int32_t *chosen;          /* representative point of each group */
    double *mass;             /* total weight of each group */
    int64_t n_groups;
} grouping;

typedef struct parent_level {
    const exact_costs *cost; /* costs of the whole problem */
    grouping x, y;
    double *dense, *points_x, *points_y;
    int32_t *whole_x, *whole_y;
} parent_level;

/* ---- groups, split at the median of the widest coordinate ---- */

/* Returns the extent of coordinate k over [begin, end). Each step processes two points, which
 * shortens the chain of dependent comparisons that dominates the time. */
static double extent(const grouping *s, int64_t k, int64_t begin, int64_t end)
{
    const double *at = s->coordinate + k;
    double low[2], high[2];
    low[0] = low[1] = high[0] = high[1] = at[s->order[begin] * s->d];
    for (int64_t p = begin + (end - begin) % 2; p < end; p += 2)
        for (int z = 0; z < 2; z++) {
            double t = at[s->order[p + z] * s->d];
            low[z] = t < low[z] ? t : low[z];
            high[z] = t > high[z] ? t : high[z];
        }
    return fmax(high[0], high[1]) - fmin(low[0], low[1]);
}

static int64_t widest(const grouping *s, int64_t begin, int64_t end)
{
    int64_t best = 0;
    double width = -1;
    for (int64_t k = 0; k < s->d; k++) {
        double own = extent(s, k, begin, end);
        best = own > width ? k : best;
        width = own > width ? own : width;
    }
    return best;
}

/* Moves the points of [begin, end) with coordinate < pivot (or <= pivot, if `equal` is true) to the
 * front, without branches that could be mispredicted. Returns the end of the moved points. */
static int64_t partition_points(const grouping *s, int64_t k, int64_t begin, int64_t end,
                                double pivot, bool equal)
{
    const double *at = s->coordinate + k;
    int32_t *order = s->order;
    int64_t front = begin;
    for (int64_t p = begin; p < end; p++) {
        int32_t own = order[p];
        double t = at[own * s->d];
        order[p] = order[front];
        order[front] = own;
        front += equal ? t <= pivot : t < pivot;
    }
    return front;
}

static double median_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Reorders [begin, end) so that no point before `middle` has a larger coordinate than any point
 * from `middle` on. */
static void select_middle(const grouping *s, int64_t k, int64_t begin, int64_t end, int64_t middle)
{
    const double *at = s->coordinate + k;
    while (end - begin > 1) {
        double pivot = median_of_three(at[s->order[begin] * s->d], at[s->order[middle] * s->d],
                                       at[s->order[end - 1] * s->d]);
        int64_t less = partition_points(s, k, begin, end, pivot, false);
        if (middle < less) {
            end = less;
            continue;
        }
        begin = partition_points(s, k, less, end, pivot, true);
        if (middle < begin)
            return;
    }
}

/* Closes a group. Its representative is the point with the smallest sum of squared distances to the
 * others. */
static void close_group(grouping *s, int64_t begin, int64_t end)
{
    double nearest = INFINITY, mass = 0;
    int32_t chosen = s->order[begin];
    for (int64_t p = begin; p < end; p++) {
        double sum = 0;
        for (int64_t q = begin; q < end; q++)
            sum += la_distance2(s->d, s->coordinate + s->order[p] * s->d,
                                s->coordinate + s->order[q] * s->d);
        mass += s->weight[s->order[p]];
        if (sum < nearest) {
            nearest = sum;
            chosen = s->order[p];
        }
    }
    s->chosen[s->n_groups] = chosen;
    s->mass[s->n_groups++] = mass;
}

/* Divides [begin, end) into n_groups ranges of nearly equal length. */
static void divide(grouping *s, int64_t begin, int64_t end, int64_t n_groups)
{
    if (n_groups == 1) {
        close_group(s, begin, end);
        return;
    }
    int64_t left = n_groups / 2, middle = begin + (end - begin) * left / n_groups;
    select_middle(s, widest(s, begin, end), begin, end, middle);
    divide(s, begin, middle, left);
    divide(s, middle, end, n_groups - left);
}

static void group_points(grouping *s)
{
    for (int64_t p = 0; p < s->n; p++)
        s->order[p] = (int32_t)p;
    s->n_groups = 0;
    divide(s, 0, s->n, (s->n + GROUP - 1) / GROUP);
}

/* ---- parent level ---- */

static void take_level(void *owner, arena *a)
{
    parent_level *v = owner;
    const exact_costs *c = v->cost;
    int64_t n_x = c->n / 2 + 1, n_y = c->m / 2 + 1; /* groups have at least two points */
    grouping *sides[2] = {&v->x, &v->y};
    for (int z = 0; z < 2; z++) {
        grouping *s = sides[z];
        ARENA_TAKE(a, s->own, s->n * s->d);
        ARENA_TAKE(a, s->order, s->n);
        ARENA_TAKE(a, s->chosen, s->n / 2 + 1);
        ARENA_TAKE(a, s->mass, s->n / 2 + 1);
    }
    ARENA_TAKE(a, v->dense, c->x ? 0 : n_x * n_y);
    ARENA_TAKE(a, v->points_x, c->x ? n_x * c->d : 0);
    ARENA_TAKE(a, v->points_y, c->x ? n_y * c->d : 0);
    ARENA_TAKE(a, v->whole_x, c->whole_x ? n_x * c->d : 0);
    ARENA_TAKE(a, v->whole_y, c->whole_x ? n_y * c->d + COLUMN_BLOCK : 0);
}

static void set_coordinates(parent_level *v, const exact_costs *c)
{
    grouping *x = &v->x, *y = &v->y;
    for (int64_t k = 0; !c->x && k < LANDMARKS; k++) {
        int64_t column = (2 * k + 1) * c->m / (2 * LANDMARKS);
        const double *row = c->dense + (2 * k + 1) * c->n / (2 * LANDMARKS) * c->m;
        for (int64_t i = 0; i < c->n; i++)
            x->own[i * LANDMARKS + k] = c->dense[i * c->m + column];
        for (int64_t j = 0; j < c->m; j++)
            y->own[j * LANDMARKS + k] = row[j];
    }
    for (int64_t j = 0; c->x && j < c->m; j++)
        for (int64_t k = 0; k < c->d; k++)
            y->own[j * c->d + k] = c->y[k * c->stride + j];
    x->coordinate = c->x ? c->x : x->own;
    y->coordinate = y->own;
}

/* Copies the representative points. Integer coordinates remain integers. */
static void gather_points(parent_level *v, exact_costs *out, const exact_costs *c)
{
    for (int64_t k = 0; k < c->d; k++) {
        for (int64_t i = 0; i < out->n; i++)
            v->points_x[i * c->d + k] = c->x[v->x.chosen[i] * c->d + k];
        for (int64_t j = 0; j < out->m; j++)
            v->points_y[k * out->m + j] = c->y[k * c->stride + v->y.chosen[j]];
    }
    for (int64_t k = 0; c->whole_x && k < out->n * c->d; k++)
        v->whole_x[k] = (int32_t)v->points_x[k];
    for (int64_t k = 0; c->whole_x && k < out->m * c->d; k++)
        v->whole_y[k] = (int32_t)v->points_y[k];
    out->stride = out->m;
    out->x = v->points_x;
    out->y = v->points_y;
    out->whole_x = c->whole_x ? v->whole_x : NULL;
    out->whole_y = c->whole_x ? v->whole_y : NULL;
}

static exact_costs parent_costs(parent_level *v, const exact_costs *c)
{
    exact_costs out = *c;
    out.n = v->x.n_groups;
    out.m = v->y.n_groups;
    out.bounded = false;
    out.dense = c->x ? NULL : v->dense;
    if (c->x)
        gather_points(v, &out, c);
    else
        for (int64_t i = 0; i < out.n; i++)
            for (int64_t j = 0; j < out.m; j++)
                v->dense[i * out.m + j] = exact_cost_cell(c, v->x.chosen[i], v->y.chosen[j]);
    return out;
}

/* ---- transfer of the potentials f_I of the parent level to all sinks ---- */

static double parent_f(const simplex *from, int64_t i)
{
    return from->dense ? from->potential32[i] / from->scale32 + from->offset32
                       : from->potential64[i] / from->scale64;
}

/* Sets the potentials of the sinks, which are stored negated: max_I (f_I - C_Ij). */
static void transfer_int32(simplex *to, const parent_level *v, const simplex *from)
{
    int32_t *sink = to->potential32 + to->sink0;
    for (int64_t j = 0; j < to->ld; j++)
        sink[j] = -INT32_REMOVED;
    for (int64_t i = 0; i < v->x.n_groups; i++)
        to->k->row_raise(sink, to->cost32 + v->x.chosen[i] * to->ld, to->ld,
                         simplex_clamp((parent_f(from, i) - to->offset32) * to->scale32));
    for (int64_t j = to->m; j < to->ld; j++)
        sink[j] = 0;
}

SIMD_CLONES static void raise_sinks(double *high, const double *cost, int64_t count, double f)
{
    for (int64_t j = 0; j < count; j++)
        high[j] = f - cost[j] > high[j] ? f - cost[j] : high[j];
}

static void transfer_double(simplex *to, const parent_level *v, const simplex *from)
{
    double *sink = to->potential64 + to->sink0;
    for (int64_t j = 0; j < to->m; j++)
        sink[j] = -INFINITY;
    for (int64_t i = 0; i < v->x.n_groups; i++)
        raise_sinks(sink, exact_cost_row(&to->cost, v->x.chosen[i]), to->m, parent_f(from, i));
    for (int64_t j = 0; j < to->m; j++)
        sink[j] *= to->scale64;
}

/* Sets the initial guess of each potential to the mean cost of its column, which removes the common
 * cost of all arcs in the column. Used for problems with few points. */
static void guess_by_means(simplex *net)
{
    int32_t *sink = net->potential32 + net->sink0;
    memset(sink, 0, (size_t)net->ld * sizeof *sink);
    if (net->n > MEAN_ROWS)
        return;
    for (int64_t i = 0; i < net->n; i++)
        for (int64_t j = 0; j < net->m; j++)
            sink[j] -= net->cost32[i * net->ld + j];
    double share = 1.0 / (double)net->n;
    for (int64_t j = 0; j < net->m; j++)
        sink[j] = (int32_t)(sink[j] * share);
}

static void take_start(simplex *net, const double *g)
{
    for (int64_t j = 0; j < net->m; j++)
        if (net->dense)
            net->potential32[net->sink0 + j] = simplex_clamp(-g[j] * net->scale32);
        else
            net->potential64[net->sink0 + j] = -g[j] * net->scale64;
}

ddsc_status start_multiscale(exact_solver *s, bool *guessed)
{
    simplex *net = &s->net;
    parent_level v = {
        .cost = &net->cost, .x = {.n = net->n, .weight = s->a}, .y = {.n = net->m, .weight = s->b}};
    simplex_end end;
    *guessed = s->start != NULL;
    if (net->dense)
        guess_by_means(net);
    else
        memset(net->potential64 + net->sink0, 0, (size_t)net->m * sizeof *net->potential64);
    if (s->start)
        take_start(net, s->start);
    if (s->start || net->n * net->m <= GUESS_CELLS || net->n <= GROUP || net->m <= GROUP)
        return DDSC_OK;
    v.x.d = v.y.d = net->cost.x ? net->cost.d : LANDMARKS;
    CHECK(workspace_lay_out(s->ctx, &s->level, take_level, &v));
    set_coordinates(&v, &net->cost);
    group_points(&v.x);
    group_points(&v.y);
    if (!s->parent)
        CHECK(exact_create(s->ctx, &s->parent));
    s->parent->k = s->k;
    s->parent->potentials_only = net->n * net->m <= POTENTIALS_ONLY_CELLS;
    exact_costs cost = parent_costs(&v, &net->cost);
    CHECK(exact_solve_basis(s->parent, &end, v.x.mass, v.y.mass, &cost, net->max_pivots));
    if (end == SIMPLEX_OVERFLOW)
        return DDSC_OK;
    if (net->dense)
        transfer_int32(net, &v, &s->parent->net);
    else
        transfer_double(net, &v, &s->parent->net);
    *guessed = true;
    return DDSC_OK;
}
