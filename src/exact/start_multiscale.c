/* A first guess of the potentials: neighbouring points are put into groups, one of each group
 * stands for all, the problem between these is solved (itself by way of a coarser one), and its
 * potentials go over to all sinks by the c-transform g_j = min_I (C_Ij - f_I). Without points, a
 * few columns of costs serve as coordinates of the rows, and a few rows as those of the columns. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "exact/solver.h"

enum {
    GROUP = 4,                 /* points a group, at most */
    LANDMARKS = 6,             /* columns that serve as coordinates */
    GUESS_CELLS = 24 * 24,     /* smaller problems need no coarser one */
    ROUGH_CELLS = 1280 * 1280, /* up to this size the coarser one needs no pivots */
    MEAN_ROWS = 64             /* the sum of this many coarse costs fits */
};

/* One side of the problem. */
typedef struct side {
    int64_t n, d;
    const double *weight;
    const double *coordinate; /* n x d */
    double *room;             /* the same, when it is made here */
    int32_t *order;           /* points, group after group */
    int32_t *chosen;          /* one point a group */
    double *mass;             /* of a group */
    int64_t n_groups;
} side;

typedef struct level {
    side x, y;
    double *dense, *points_x, *points_y, *row;
    int32_t *whole_x, *whole_y;
} level;

/* ---- groups: halve at the median of the widest coordinate ---- */

/* Two points a step: the chains of comparisons are what takes the time. */
static double extent(const side *s, int64_t k, int64_t begin, int64_t end)
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

static int64_t widest(const side *s, int64_t begin, int64_t end)
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

/* Points of [begin, end) with coordinate < pivot (or <=) to the front, without a branch to
 * mispredict; returns where they end. */
static int64_t partition(const side *s, int64_t k, int64_t begin, int64_t end, double pivot,
                         bool equal)
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

/* Selection: afterwards nothing before `middle` exceeds anything from it on. */
static void select_middle(const side *s, int64_t k, int64_t begin, int64_t end, int64_t middle)
{
    const double *at = s->coordinate + k;
    while (end - begin > 1) {
        double pivot = median_of_three(at[s->order[begin] * s->d], at[s->order[middle] * s->d],
                                       at[s->order[end - 1] * s->d]);
        int64_t less = partition(s, k, begin, end, pivot, false);
        if (middle < less) {
            end = less;
            continue;
        }
        begin = partition(s, k, less, end, pivot, true);
        if (middle < begin)
            return;
    }
}

/* The point nearest to the middle of its group stands for it. */
static void close_group(side *s, int64_t begin, int64_t end)
{
    double nearest = INFINITY, mass = 0;
    int32_t chosen = s->order[begin];
    for (int64_t p = begin; p < end; p++) {
        double sum = 0;
        for (int64_t q = begin; q < end; q++)
            for (int64_t k = 0; k < s->d; k++) {
                double t =
                    s->coordinate[s->order[p] * s->d + k] - s->coordinate[s->order[q] * s->d + k];
                sum += t * t;
            }
        mass += s->weight[s->order[p]];
        if (sum < nearest) {
            nearest = sum;
            chosen = s->order[p];
        }
    }
    s->chosen[s->n_groups] = chosen;
    s->mass[s->n_groups++] = mass;
}

/* Cut [begin, end) into n_groups stretches of nearly equal length. */
static void divide(side *s, int64_t begin, int64_t end, int64_t n_groups)
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

static void make_groups(side *s)
{
    for (int64_t p = 0; p < s->n; p++)
        s->order[p] = (int32_t)p;
    s->n_groups = 0;
    divide(s, 0, s->n, (s->n + GROUP - 1) / GROUP);
}

/* ---- the coarser problem ---- */

static void lay_out(level *v, arena *a, const simplex *net)
{
    const cost_rows *c = &net->cost;
    int64_t n_x = net->n / 2 + 1, n_y = net->m / 2 + 1; /* groups hold two or more */
    side *sides[2] = {&v->x, &v->y};
    for (int z = 0; z < 2; z++) {
        side *s = sides[z];
        s->room = arena_take(a, s->n * s->d, sizeof *s->room);
        s->order = arena_take(a, s->n, sizeof *s->order);
        s->chosen = arena_take(a, s->n / 2 + 1, sizeof *s->chosen);
        s->mass = arena_take(a, s->n / 2 + 1, sizeof *s->mass);
    }
    v->dense = arena_take(a, c->x ? 0 : n_x * n_y, sizeof *v->dense);
    v->points_x = arena_take(a, c->x ? n_x * c->d : 0, sizeof *v->points_x);
    v->points_y = arena_take(a, c->x ? n_y * c->d : 0, sizeof *v->points_y);
    v->whole_x = arena_take(a, c->whole_x ? n_x * c->d : 0, sizeof *v->whole_x);
    v->whole_y = arena_take(a, c->whole_x ? n_y * c->d : 0, sizeof *v->whole_y);
    v->row = arena_take(a, n_y, sizeof *v->row);
}

static void set_coordinates(level *v, const cost_rows *c)
{
    side *x = &v->x, *y = &v->y;
    if (!c->x) {
        for (int64_t k = 0; k < LANDMARKS; k++) {
            int64_t column = (2 * k + 1) * c->m / (2 * LANDMARKS);
            const double *row = c->dense + (2 * k + 1) * c->n / (2 * LANDMARKS) * c->m;
            for (int64_t i = 0; i < c->n; i++)
                x->room[i * LANDMARKS + k] = c->dense[i * c->m + column];
            for (int64_t j = 0; j < c->m; j++)
                y->room[j * LANDMARKS + k] = row[j];
        }
        x->coordinate = x->room;
    } else {
        for (int64_t j = 0; j < c->m; j++)
            for (int64_t k = 0; k < c->d; k++)
                y->room[j * c->d + k] = c->y[k * c->stride + j];
        x->coordinate = c->x;
    }
    y->coordinate = y->room;
}

static void gather_whole(level *v, cost_rows *out, const cost_rows *c)
{
    for (int64_t k = 0; k < c->d; k++) {
        for (int64_t i = 0; i < out->n; i++)
            v->whole_x[i * c->d + k] = c->whole_x[v->x.chosen[i] * c->d + k];
        for (int64_t j = 0; j < out->m; j++)
            v->whole_y[k * out->m + j] = c->whole_y[k * c->stride + v->y.chosen[j]];
    }
    out->whole_x = v->whole_x;
    out->whole_y = v->whole_y;
}

static void gather_points(level *v, cost_rows *out, const cost_rows *c)
{
    for (int64_t k = 0; k < c->d; k++) {
        for (int64_t i = 0; i < out->n; i++)
            v->points_x[i * c->d + k] = c->x[v->x.chosen[i] * c->d + k];
        for (int64_t j = 0; j < out->m; j++)
            v->points_y[k * out->m + j] = c->y[k * c->stride + v->y.chosen[j]];
    }
    out->stride = out->m;
    out->x = v->points_x;
    out->y = v->points_y;
}

static cost_rows coarser_cost(level *v, const cost_rows *c)
{
    cost_rows out = *c;
    out.n = v->x.n_groups;
    out.m = v->y.n_groups;
    out.row = v->row;
    out.bounded = false;
    if (c->whole_x)
        gather_whole(v, &out, c);
    if (c->x) {
        gather_points(v, &out, c);
        out.dense = NULL;
        return out;
    }
    for (int64_t i = 0; i < out.n; i++)
        for (int64_t j = 0; j < out.m; j++)
            v->dense[i * out.m + j] = cost_cell(c, v->x.chosen[i], v->y.chosen[j]);
    out.dense = v->dense;
    return out;
}

/* ---- from the potentials f_I of the coarser sources to those of all sinks ---- */

static double coarser_f(const simplex *from, int64_t i)
{
    return from->dense ? from->coarse[i] / from->coarse_scale + from->coarse_offset
                       : from->fine[i] / from->fine_scale;
}

/* Potentials of sinks are kept negative: max_I (f_I - C_Ij). */
static void transfer_coarse(simplex *to, const level *v, const simplex *from)
{
    const double far = COARSE_LIMIT / 2;
    int32_t *sink = to->coarse + to->sink0;
    for (int64_t j = 0; j < to->ld; j++)
        sink[j] = -COARSE_REMOVED;
    for (int64_t i = 0; i < v->x.n_groups; i++) {
        double f = (coarser_f(from, i) - to->coarse_offset) * to->coarse_scale;
        to->k->row_raise(sink, to->coarse_cost + v->x.chosen[i] * to->ld, to->ld,
                         (int32_t)fmax(fmin(f, far), -far));
    }
    for (int64_t j = 0; j < to->ld; j++)
        sink[j] = j < to->m ? sink[j] : 0;
}

SIMD_CLONES static void raise(double *high, const double *cost, int64_t count, double f)
{
    for (int64_t j = 0; j < count; j++)
        high[j] = f - cost[j] > high[j] ? f - cost[j] : high[j];
}

static void transfer_fine(simplex *to, const level *v, const simplex *from)
{
    double *sink = to->fine + to->sink0;
    for (int64_t j = 0; j < to->m; j++)
        sink[j] = -INFINITY;
    for (int64_t i = 0; i < v->x.n_groups; i++)
        raise(sink, cost_row(&to->cost, v->x.chosen[i]), to->m, coarser_f(from, i));
    for (int64_t j = 0; j < to->m; j++)
        sink[j] *= to->fine_scale;
}

/* Small problems: the mean cost of a column, which takes out what all its arcs share. */
static void guess_by_means(simplex *net)
{
    int32_t *sink = net->coarse + net->sink0;
    memset(sink, 0, (size_t)net->ld * sizeof *sink);
    if (!net->dense || net->n > MEAN_ROWS)
        return;
    for (int64_t i = 0; i < net->n; i++)
        for (int64_t j = 0; j < net->m; j++)
            sink[j] -= net->coarse_cost[i * net->ld + j];
    double share = 1.0 / (double)net->n;
    for (int64_t j = 0; j < net->m; j++)
        sink[j] = (int32_t)(sink[j] * share);
}

static void no_guess(simplex *net)
{
    if (net->dense)
        guess_by_means(net);
    else
        memset(net->fine + net->sink0, 0, (size_t)net->m * sizeof *net->fine);
}

static void take_start(simplex *net, const double *g)
{
    const double far = COARSE_LIMIT / 2;
    for (int64_t j = 0; j < net->m; j++)
        if (net->dense)
            net->coarse[net->sink0 + j] = (int32_t)fmax(fmin(-g[j] * net->coarse_scale, far), -far);
        else
            net->fine[net->sink0 + j] = -g[j] * net->fine_scale;
}

ddsc_status guess_potentials(exact_solver *s, bool *guessed)
{
    simplex *net = &s->net;
    level v = {.x = {.n = net->n, .weight = s->a}, .y = {.n = net->m, .weight = s->b}};
    simplex_end end;
    *guessed = false;
    no_guess(net);
    if (s->start) {
        take_start(net, s->start);
        *guessed = true;
        return DDSC_OK;
    }
    if (net->n * net->m <= GUESS_CELLS || net->n <= GROUP || net->m <= GROUP)
        return DDSC_OK;
    v.x.d = v.y.d = net->cost.x ? net->cost.d : LANDMARKS;
    arena a = {s->level.block, 0};
    lay_out(&v, &a, net);
    if (a.used > s->level.size) {
        CHECK(workspace_grow(s->ctx, &s->level, a.used));
        a = (arena){s->level.block, 0};
        lay_out(&v, &a, net);
    }
    set_coordinates(&v, &net->cost);
    make_groups(&v.x);
    make_groups(&v.y);
    if (!s->coarser)
        CHECK(exact_create(s->ctx, &s->coarser));
    s->coarser->k = s->k;
    s->coarser->rough = net->n * net->m <= ROUGH_CELLS;
    cost_rows cost = coarser_cost(&v, &net->cost);
    CHECK(solve_basis(s->coarser, &end, v.x.mass, v.y.mass, &cost, net->max_pivots));
    if (end == SIMPLEX_OVERFLOW)
        return DDSC_OK;
    if (net->dense)
        transfer_coarse(net, &v, &s->coarser->net);
    else
        transfer_fine(net, &v, &s->coarser->net);
    *guessed = true;
    return DDSC_OK;
}
