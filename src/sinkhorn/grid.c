#include "sinkhorn/grid.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "sinkhorn/grid_items.h"
#include "sinkhorn/grid_kernel.h"
#include "sinkhorn/solver.h"

enum {
    TABLE_BASE = GRID_SIDE + BOX_ROWS + SIMD_LANES, /* place of distance 0 in a table */
    TABLE_SIZE = 2 * TABLE_BASE,
    BOX_SIZE = (GRID_SIDE + BOX_ROWS) * GRID_SIDE,
    WINDOW = 12,        /* iterations between looks at the pace; the first half settles */
    MAX_PASSES = 2000,  /* then Newton steps of the dense solver are the better way */
    PLAIN_PASSES = 1,   /* before over-relaxation */
    BOUND_PATIENCE = 4, /* a bound may still gain this many times its last gain */
};

static const double START_LIMIT = 200; /* of a starting exponent */
static const double SUM_LIMIT = 1e120; /* with sums and scalings within, no product is lost */
/* The two axes' worth of cost over epsilon: beyond, the dense solver has the better formulas. */
static const double LARGE_EPSILON = 100, SMALL_EPSILON = 3e-4;

/* One end of a pair, over its box. */
typedef struct grid_end {
    const grid_item *item;
    double *weight, *scale;
} grid_end;

/* A function of the distance along the rows, and matrices of one of the distance along columns: to
 * side 0 from side 1 and back. */
typedef struct grid_tables {
    double row[TABLE_SIZE], column[TABLE_SIZE];
    double *across[2];
} grid_tables;

typedef struct grid_room {
    grid_end end[2];
    grid_tables kernel;
    double *half, *sum; /* the box after one axis, after both */
} grid_room;

struct sinkhorn_grid {
    ddsc_context *ctx;
    const measures *m;
    double epsilon;
    grid_items items;
    int n_workers;
    grid_room *room;
};

/* ---- opening ---- */

bool sinkhorn_grid_applies(const measures *m, double epsilon)
{
    double range = 0;
    if (!grid_items_apply(m))
        return false;
    for (int axis = 0; axis < 2; axis++) {
        double extent = m->grid.step[axis] * (double)(m->grid.shape[axis] - 1);
        range += extent * extent;
    }
    return range > 1e-100 && range < 1e100 && epsilon < LARGE_EPSILON * range &&
           epsilon > SMALL_EPSILON * range && grid_items_pay(m);
}

static ddsc_status room_open(ddsc_context *ctx, grid_room *w)
{
    for (int k = 0; k < 2; k++) {
        CHECK(MEM_ZERO(ctx, w->end[k].weight, BOX_SIZE));
        CHECK(MEM_ZERO(ctx, w->end[k].scale, BOX_SIZE));
        CHECK(MEM_ZERO(ctx, w->kernel.across[k], GRID_SIDE * GRID_SIDE));
    }
    CHECK(MEM_ZERO(ctx, w->half, BOX_SIZE));
    CHECK(MEM_ZERO(ctx, w->sum, BOX_SIZE));
    return DDSC_OK;
}

static void room_close(ddsc_context *ctx, grid_room *w)
{
    for (int k = 0; k < 2; k++) {
        mem_free(ctx, w->end[k].weight);
        mem_free(ctx, w->end[k].scale);
        mem_free(ctx, w->kernel.across[k]);
    }
    mem_free(ctx, w->half);
    mem_free(ctx, w->sum);
}

void sinkhorn_grid_free(sinkhorn_grid *g)
{
    if (!g)
        return;
    for (int w = 0; g->room && w < g->n_workers; w++)
        room_close(g->ctx, &g->room[w]);
    mem_free(g->ctx, g->room);
    grid_items_free(g->ctx, &g->items);
    mem_free(g->ctx, g);
}

ddsc_status sinkhorn_grid_make(ddsc_context *ctx, sinkhorn_grid **out, const measures *m,
                               double epsilon)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_grid *g = NULL;
    TRY(MEM_ZERO(ctx, g, 1));
    *g = (sinkhorn_grid){.ctx = ctx, .m = m, .epsilon = epsilon};
    g->n_workers = parallel_width(ctx);
    TRY(grid_items_make(ctx, &g->items, m));
    TRY(MEM_ZERO(ctx, g->room, g->n_workers));
    for (int w = 0; w < g->n_workers; w++)
        TRY(room_open(ctx, &g->room[w]));
    *out = g;
    g = NULL;
done:
    sinkhorn_grid_free(g);
    return status;
}

/* ---- a pair ---- */

static int64_t box_size(const grid_end *end)
{
    return (int64_t)end->item->size[0] * end->item->ld;
}

static void end_load(const sinkhorn_grid *g, grid_end *end, int64_t i)
{
    item_view view = measures_item(g->m, i);
    const uint16_t *place = g->items.place + g->m->offset[i];
    end->item = &g->items.item[i];
    memset(end->weight, 0, (size_t)box_size(end) * sizeof *end->weight);
    memset(end->scale, 0, (size_t)box_size(end) * sizeof *end->scale);
    for (int64_t k = 0; k < view.n; k++)
        end->weight[place[k]] = view.weight[k] > NO_WEIGHT ? view.weight[k] : 0;
}

/* exp(-(t - shift)^2 / epsilon) for the distances t between two boxes and some more. */
static void axis_fill(const sinkhorn_grid *g, grid_room *w, int axis)
{
    const grid_item *x = w->end[0].item, *y = w->end[1].item;
    int low = x->first[axis] - y->first[axis] - y->size[axis] - BOX_ROWS;
    int high = x->first[axis] + x->size[axis] - y->first[axis] + BOX_ROWS;
    double *out = (axis == 0 ? w->kernel.row : w->kernel.column) + TABLE_BASE;
    for (int t = low; t <= high; t++) {
        double distance = g->items.step[axis] * ((double)t - (x->mean[axis] - y->mean[axis]));
        out[t] = -distance * distance / g->epsilon;
    }
    box_exp_all(out + low, high - low + 1);
}

/* across[0][s][c] holds the table at the distance of column c of side 0 from column s of side 1. */
static void expand_columns(grid_room *w, grid_tables *t)
{
    const grid_item *x = w->end[0].item, *y = w->end[1].item;
    const double *at = t->column + TABLE_BASE + (x->first[1] - y->first[1]);
    for (int64_t s = 0; s < y->size[1]; s++)
        for (int64_t c = 0; c < x->ld; c++)
            t->across[0][s * x->ld + c] = c < x->size[1] ? at[c - s] : 0;
    for (int64_t s = 0; s < x->size[1]; s++)
        for (int64_t c = 0; c < y->ld; c++)
            t->across[1][s * y->ld + c] = c < y->size[1] ? at[s - c] : 0;
}

static void pair_load(const sinkhorn_grid *g, grid_room *w, int64_t i, int64_t j)
{
    end_load(g, &w->end[0], i);
    end_load(g, &w->end[1], j);
    axis_fill(g, w, 0);
    axis_fill(g, w, 1);
    expand_columns(w, &w->kernel);
}

/* sum on the box of side `to` = the tables' kernel times the scalings of the other side. */
static void carry(grid_room *w, int to, const double *row, double *const across[2])
{
    const grid_item *x = w->end[1 - to].item, *y = w->end[to].item;
    int sign = to == 1 ? 1 : -1; /* tables hold functions of (side 0) - (side 1) */
    box_mix rows = {.out = w->half,
                    .rows = y->size[0],
                    .ld = x->ld,
                    .coef = row + TABLE_BASE + sign * (x->first[0] - y->first[0]),
                    .row_step = -sign,
                    .step = sign,
                    .in = w->end[1 - to].scale,
                    .in_ld = x->ld,
                    .n = x->size[0]};
    box_mix columns = {.out = w->sum,
                       .rows = y->size[0],
                       .ld = y->ld,
                       .coef = w->half,
                       .row_step = x->ld,
                       .step = 1,
                       .in = across[to],
                       .in_ld = y->ld,
                       .n = x->size[1]};
    box_mix_run(&rows);
    box_mix_run(&columns);
}

static box_report half_pass(grid_room *w, int to, double omega)
{
    grid_end *end = &w->end[to];
    carry(w, to, w->kernel.row, w->kernel.across);
    return box_update(end->scale, end->weight, w->sum, box_size(end), omega);
}

/* Scalings of the potentials f(x) = x' (1 - M) x of the map M between the Gaussians of the two
 * items. Returns the mean of f / epsilon under the item, or NaN when one had to be held. */
static double start(const sinkhorn_grid *g, grid_room *w)
{
    grid_end *end = &w->end[0];
    const grid_item *own = end->item;
    const double *step = g->items.step;
    double m[3];
    bool held;
    grid_affine_map(own->cov, w->end[1].item->cov, m);
    box_form form = {.y0 = step[0] * ((double)own->first[0] - own->mean[0]),
                     .x0 = step[1] * ((double)own->first[1] - own->mean[1]),
                     .y_step = step[0],
                     .x_step = step[1],
                     .yy = (1 - m[0]) / g->epsilon,
                     .xy = -2 * m[1] / g->epsilon,
                     .xx = (1 - m[2]) / g->epsilon};
    double mean =
        box_start(end->scale, end->weight, own->size[0], own->ld, &form, START_LIMIT, &held);
    return held ? NAN : mean;
}

static double shift2(const sinkhorn_grid *g, const grid_room *w)
{
    double total = 0;
    for (int axis = 0; axis < 2; axis++) {
        double d = g->items.step[axis] * (w->end[0].item->mean[axis] - w->end[1].item->mean[axis]);
        total += d * d;
    }
    return total;
}

/* ---- values ---- */

/* sum u K C v, C the sum of one cost an axis. */
static double sharp_value(const sinkhorn_grid *g, grid_room *w)
{
    grid_tables *k = &w->kernel;
    double total = 0, saved[TABLE_SIZE];
    for (int axis = 0; axis < 2; axis++) {
        double *table = axis == 0 ? k->row : k->column;
        double shift = w->end[0].item->mean[axis] - w->end[1].item->mean[axis];
        memcpy(saved, table, sizeof saved);
        for (int t = 0; t < TABLE_SIZE; t++) {
            double distance = g->items.step[axis] * ((double)(t - TABLE_BASE) - shift);
            table[t] *= distance * distance;
        }
        expand_columns(w, k);
        carry(w, 0, k->row, k->across);
        total += box_dot(w->end[0].scale, w->sum, box_size(&w->end[0]));
        memcpy(table, saved, sizeof saved);
    }
    return total;
}

/* From exact columns and the row sums in w->sum; see find_values of the dense solver. */
static void find_values(const sinkhorn_grid *g, grid_room *w, double mass, bool sharp,
                        sinkhorn_result *result)
{
    const grid_end *a = &w->end[0], *b = &w->end[1];
    double dual = box_log_ratio(a->weight, a->scale, box_size(a)) +
                  box_log_ratio(b->weight, b->scale, box_size(b)) - (mass - 1);
    double apart = shift2(g, w);
    result->regularised = g->epsilon * dual + apart;
    result->sharp = sharp ? sharp_value(g, w) + apart : NAN;
}

/* ---- solving ---- */

/* The rate of convergence between Gaussians: ((sqrt(4 mu + s^2) - s)^2 / (4 mu), s = epsilon / 2,
 * mu the largest eigenvalue of the product of the covariances (from Janati et al. 2020). Items are
 * a little slower. */
static double first_omega(const sinkhorn_grid *g, const grid_room *w)
{
    const double *a = w->end[0].item->cov, *b = w->end[1].item->cov;
    double half = 0.5 * (a[0] * b[0] + 2 * a[1] * b[1] + a[2] * b[2]), s = g->epsilon / 2;
    double det = (a[0] * a[2] - a[1] * a[1]) * (b[0] * b[2] - b[1] * b[1]);
    double mu = half + sqrt(fmax(0, half * half - det));
    double root = sqrt(4 * mu + s * s) - s, eta = root * root / (4 * mu);
    return sinkhorn_omega(1 - 0.7 * (1 - eta));
}

static bool in_range(const box_report *r)
{
    return r->low > 1 / SUM_LIMIT && r->high < SUM_LIMIT;
}

typedef struct pace {
    double omega, mark;
    int64_t since;
} pace;

/* False: there is no end in sight. Groups of cells that hardly exchange mass do that. */
static bool pace_next(pace *p, double error, double tolerance)
{
    p->since++;
    if (p->since == WINDOW / 2)
        p->mark = error;
    if (p->since < WINDOW)
        return true;
    double rate = pow(error / p->mark, 2.0 / WINDOW);
    p->omega = sinkhorn_relax(rate, p->omega);
    p->since = 0;
    double coming = p->omega > 1 ? fmax(p->omega - 1, 0.2) : fmin(rate, 0.9);
    return log(tolerance / error) / log(coming) < MAX_PASSES;
}

/* The sums of side 1 are at hand: make its marginal exact and measure the other. */
static double settle(grid_room *w, double *mass)
{
    const grid_end *a = &w->end[0], *b = &w->end[1];
    box_update(b->scale, b->weight, w->sum, box_size(b), 1);
    carry(w, 0, w->kernel.row, w->kernel.across);
    return box_error(a->scale, a->weight, w->sum, box_size(a), mass);
}

bool sinkhorn_grid_solve(sinkhorn_grid *g, sinkhorn_result *result, int64_t i, int64_t j,
                         const sinkhorn_stop *stop, int worker)
{
    grid_room *w = &g->room[worker];
    int64_t cap = BASE_MIN(stop->max_iterations, MAX_PASSES);
    pair_load(g, w, i, j);
    start(g, w);
    pace p = {.omega = first_omega(g, w)};
    box_report first = half_pass(w, 1, 1);
    if (!in_range(&first))
        return false;
    for (int64_t k = 1; k <= cap; k++) {
        double mass, omega = k <= PLAIN_PASSES ? 1 : p.omega;
        box_report rows = half_pass(w, 0, omega), columns = half_pass(w, 1, omega);
        if (!in_range(&rows) || !in_range(&columns))
            return false;
        if (rows.error + columns.error <= stop->tolerance) {
            result->marginal_error = settle(w, &mass);
            result->iterations = k;
            if (result->marginal_error <= stop->tolerance) {
                find_values(g, w, mass, stop->sharp, result);
                return true;
            }
        } else if (k > PLAIN_PASSES &&
                   !pace_next(&p, rows.error + columns.error, stop->tolerance)) {
            return false;
        }
    }
    return false;
}

/* ---- bounds ---- */

/* With one marginal exact the dual value is <a, f> + <b, g>: any f with the g that belongs to it
 * gives a lower bound, and each iteration raises it. */
double sinkhorn_grid_bound(sinkhorn_grid *g, int64_t i, int64_t j, double enough, int rounds,
                           int worker)
{
    grid_room *w = &g->room[worker];
    const grid_end *a = &w->end[0], *b = &w->end[1];
    double best = 0, before = 0, mean;
    pair_load(g, w, i, j);
    double apart = shift2(g, w), of_f = start(g, w);
    for (int k = 0;; k++) {
        if (k > 0) {
            box_report rows = half_pass(w, 0, k < 3 ? 1 : 1.5);
            if (!in_range(&rows))
                return best;
            of_f = box_log_ratio(a->weight, a->scale, box_size(a));
        }
        box_report columns = half_pass(w, 1, 1);
        if (!in_range(&columns))
            return best;
        mean = box_log_sum(b->weight, w->sum, box_size(b));
        double value = apart + g->epsilon * (of_f - mean);
        if (isfinite(value)) /* the start may have been held */
            best = fmax(best, value - 1e-12 * (fabs(value) + g->epsilon));
        bool hopeless = k > 0 && best + BOUND_PATIENCE * (best - before) < enough;
        if (best > enough || k >= rounds || hopeless)
            return best;
        before = best;
    }
}
