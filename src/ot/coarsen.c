/* A first guess of the potentials: neighbouring points are put into groups, one of each group
 * stands for all, the problem between these is solved (itself by way of a coarser one), and its
 * potentials go over to all sinks by the c-transform g_j = min_I (C_Ij - f_I). Without points, a
 * few columns of costs serve as coordinates of the rows, and a few rows as those of the columns. */
#include <math.h>

#include "ot/exact.h"

enum {
    GROUP = 4,            /* points a group, at most */
    LANDMARKS = 8,        /* columns that serve as coordinates */
    GUESS_CELLS = 24 * 24 /* smaller problems start from zero */
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
    double *dense, *points_x, *points_y, *row, *guess;
} level;

/* ---- groups: halve at the median of the widest coordinate ---- */

static int64_t widest(const side *s, int64_t begin, int64_t end)
{
    int64_t best = 0;
    double width = -1;
    for (int64_t k = 0; k < s->d; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t p = begin; p < end; p++) {
            double t = s->coordinate[s->order[p] * s->d + k];
            low = t < low ? t : low;
            high = t > high ? t : high;
        }
        if (high - low > width) {
            width = high - low;
            best = k;
        }
    }
    return best;
}

/* Hoare's selection: afterwards nothing before `middle` exceeds anything from it on. */
static void select_middle(const side *s, int64_t k, int64_t begin, int64_t end, int64_t middle)
{
    int32_t *order = s->order;
    int64_t low = begin, high = end - 1;
    while (low < high) {
        double pivot = s->coordinate[order[(low + high) / 2] * s->d + k];
        int64_t i = low, j = high;
        while (i <= j) {
            while (s->coordinate[order[i] * s->d + k] < pivot)
                i++;
            while (s->coordinate[order[j] * s->d + k] > pivot)
                j--;
            if (i <= j) {
                int32_t swap = order[i];
                order[i++] = order[j];
                order[j--] = swap;
            }
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
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

static void divide(side *s, int64_t begin, int64_t end)
{
    if (end - begin <= GROUP) {
        close_group(s, begin, end);
        return;
    }
    int64_t middle = begin + (end - begin) / 2;
    select_middle(s, widest(s, begin, end), begin, end, middle);
    divide(s, begin, middle);
    divide(s, middle, end);
}

static void make_groups(side *s)
{
    for (int64_t p = 0; p < s->n; p++)
        s->order[p] = (int32_t)p;
    s->n_groups = 0;
    divide(s, 0, s->n);
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
    v->dense = arena_take(a, c->dense ? n_x * n_y : 0, sizeof *v->dense);
    v->points_x = arena_take(a, c->dense ? 0 : n_x * c->d, sizeof *v->points_x);
    v->points_y = arena_take(a, c->dense ? 0 : n_y * c->d, sizeof *v->points_y);
    v->row = arena_take(a, n_y, sizeof *v->row);
    v->guess = arena_take(a, net->m, sizeof *v->guess);
}

static void set_coordinates(level *v, const cost_rows *c)
{
    side *x = &v->x, *y = &v->y;
    if (c->dense) {
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

static cost_rows coarser_cost(level *v, const cost_rows *c)
{
    cost_rows out = *c;
    out.n = v->x.n_groups;
    out.m = v->y.n_groups;
    out.row = v->row;
    if (c->dense) {
        for (int64_t i = 0; i < out.n; i++)
            for (int64_t j = 0; j < out.m; j++)
                v->dense[i * out.m + j] = cost_cell(c, v->x.chosen[i], v->y.chosen[j]);
        out.dense = v->dense;
        return out;
    }
    out.stride = out.m;
    for (int64_t k = 0; k < c->d; k++) {
        for (int64_t i = 0; i < out.n; i++)
            v->points_x[i * c->d + k] = c->x[v->x.chosen[i] * c->d + k];
        for (int64_t j = 0; j < out.m; j++)
            v->points_y[k * out.m + j] = c->y[k * c->stride + v->y.chosen[j]];
    }
    out.x = v->points_x;
    out.y = v->points_y;
    return out;
}

/* Potentials of the coarser sources, carried over to all sinks. */
static void transfer(exact_solver *s, const level *v, const simplex *from)
{
    const simplex *net = &s->net;
    for (int64_t j = 0; j < net->m; j++)
        v->guess[j] = INFINITY;
    for (int64_t i = 0; i < v->x.n_groups; i++) {
        double f = from->dense ? from->coarse[i] / from->coarse_scale + from->coarse_offset
                               : from->fine[i] / from->fine_scale;
        const double *row = cost_row(&net->cost, v->x.chosen[i]);
        for (int64_t j = 0; j < net->m; j++)
            v->guess[j] = row[j] - f < v->guess[j] ? row[j] - f : v->guess[j];
    }
}

ddsc_status guess_potentials(exact_solver *s, const double **guess)
{
    simplex *net = &s->net;
    level v = {.x = {.n = net->n, .weight = s->a}, .y = {.n = net->m, .weight = s->b}};
    arena a = {NULL, 0};
    ddsc_status status = DDSC_OK;
    simplex_end end;
    *guess = NULL;
    if (net->n * net->m <= GUESS_CELLS || net->n <= GROUP || net->m <= GROUP)
        return DDSC_OK;
    v.x.d = v.y.d = net->cost.dense ? LANDMARKS : net->cost.d;
    lay_out(&v, &a, net);
    TRY(workspace_grow(s->ctx, &s->level, a.used));
    a = (arena){s->level.block, 0};
    lay_out(&v, &a, net);
    set_coordinates(&v, &net->cost);
    make_groups(&v.x);
    make_groups(&v.y);
    if (!s->coarser)
        TRY(exact_create(s->ctx, &s->coarser));
    s->coarser->k = s->k;
    cost_rows cost = coarser_cost(&v, &net->cost);
    TRY(solve_basis(s->coarser, &end, v.x.mass, v.y.mass, &cost, net->max_pivots));
    if (end == SIMPLEX_OVERFLOW)
        return DDSC_OK;
    transfer(s, &v, &s->coarser->net);
    *guess = v.guess;
done:
    return status;
}
