#include "sinkhorn/shared.h"

#include <math.h>

#include "base/simd.h"
#include "cost/points.h"
#include "sinkhorn/shared_kernel.h"
#include "sinkhorn/solver.h"

enum { WIDTH = SHARED_WIDTH, FILL_BLOCK = 64, FEW_PAIRS = 4 /* are solved one by one */ };

static const int64_t TABLE_BYTES = (int64_t)64 << 20;
/* Pairs of entries of two items against those of the table, below which the dense solver's smaller
 * kernels win over products with the whole one (measured, docs/numerics.md). */
static const double LEAST_FILLED = 0.4;
/* Of the costs by epsilon: e^600 and its inverse are far from the ends of the range of doubles. */
static const double LARGEST_EXPONENT = 600;

/* Columns at work: one point of the table after the other, WIDTH lanes each; a pair on its own has
 * one lane. */
typedef struct shared_room {
    double *a, *b, *u, *v;
    double *next_u; /* a pair that turns out to be done is read from u */
    points_panel rows, columns;
    double *line;   /* a column on its own */
    double largest; /* cost seen */
} shared_room;

struct sinkhorn_shared {
    ddsc_context *ctx;
    const measures *m;
    double epsilon;
    int64_t rows;   /* of the table, in whole vectors */
    double *kernel; /* rows x rows: symmetric, 0 in the padding */
    double *cost;   /* the same, or NULL: no sharp values */
    points support;
    double largest; /* cost */
    int n_workers;
    shared_room *room;
};

/* ---- opening ---- */

bool sinkhorn_shared_applies(const measures *m)
{
    if (m->n < 2 || m->v < 1 || m->v > TABLE_BYTES / (int64_t)sizeof(double) / m->v)
        return false;
    double filled = (double)m->nnz / ((double)m->n * (double)m->v);
    return filled * filled >= LEAST_FILLED;
}

static ddsc_status room_open(const sinkhorn_shared *s, shared_room *w)
{
    CHECK(MEM_ZERO(s->ctx, w->a, s->rows * WIDTH));
    CHECK(MEM_ZERO(s->ctx, w->b, s->rows * WIDTH));
    CHECK(MEM_ZERO(s->ctx, w->u, s->rows * WIDTH));
    CHECK(MEM_ZERO(s->ctx, w->v, s->rows * WIDTH));
    CHECK(MEM_ZERO(s->ctx, w->next_u, s->rows * WIDTH));
    CHECK(MEM_ZERO(s->ctx, w->line, s->rows + SIMD_LANES));
    CHECK(points_panel_create(s->ctx, &w->rows, &s->support, FILL_BLOCK));
    CHECK(points_panel_create(s->ctx, &w->columns, &s->support, FILL_BLOCK));
    return DDSC_OK;
}

static void room_close(const sinkhorn_shared *s, shared_room *w)
{
    points_panel_free(s->ctx, &w->rows);
    points_panel_free(s->ctx, &w->columns);
    double *block[] = {w->a, w->b, w->u, w->v, w->next_u, w->line};
    for (int k = 0; k < 6; k++)
        mem_free(s->ctx, block[k]);
}

/* x <- exp(-x / epsilon). */
SIMD_CLONES static void exponentiate(double *x, int64_t n, double epsilon)
{
    double inverse = 1 / epsilon;
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(x + k, simd_exp(simd_load(x + k) * -inverse));
}

static ddsc_status cost_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sinkhorn_shared *s = arg;
    shared_room *w = &s->room[worker];
    int64_t v = s->m->v;
    points_distance2_rows(&s->support, &w->rows, &w->columns, begin, end,
                          s->kernel + begin * s->rows, s->rows);
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < v; j++)
            w->largest = BASE_MAX(w->largest, s->kernel[i * s->rows + j]);
    return DDSC_OK;
}

/* The upper half rules: products of many coordinates need not be symmetric to the last bit. */
static void make_symmetric(sinkhorn_shared *s)
{
    for (int64_t i = 0; i < s->m->v; i++)
        for (int64_t j = 0; j < i; j++)
            s->kernel[i * s->rows + j] = s->kernel[j * s->rows + i];
}

static ddsc_status kernel_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sinkhorn_shared *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double *row = s->kernel + i * s->rows;
        if (s->cost)
            memcpy(s->cost + i * s->rows, row, (size_t)s->rows * sizeof *row);
        exponentiate(row, s->rows, s->epsilon);
        for (int64_t j = s->m->v; j < s->rows; j++)
            row[j] = 0;
    }
    return DDSC_OK;
}

/* Is epsilon neither so small that the kernel leaves the range of doubles nor beyond the formulas
 * here? */
static bool epsilon_suits(const sinkhorn_shared *s)
{
    return s->largest > 1e-100 && s->largest < 1e100 &&
           s->largest <= LARGEST_EXPONENT * s->epsilon &&
           s->epsilon <= SINKHORN_LARGE_EPSILON * s->largest;
}

ddsc_status sinkhorn_shared_make(ddsc_context *ctx, sinkhorn_shared **out, const measures *m,
                                 double epsilon, bool sharp)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_shared *s = NULL;
    TRY(MEM_ZERO(ctx, s, 1));
    *s = (sinkhorn_shared){.ctx = ctx, .m = m, .epsilon = epsilon};
    s->n_workers = parallel_width(ctx);
    s->rows = (m->v + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    TRY(points_open(ctx, &s->support, m->v, m->d, m->support));
    TRY(MEM_ZERO(ctx, s->kernel, s->rows * s->rows));
    if (sharp)
        TRY(MEM_ZERO(ctx, s->cost, s->rows * s->rows));
    TRY(MEM_ZERO(ctx, s->room, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        TRY(room_open(s, &s->room[w]));
    TRY(parallel_for(ctx, m->v, FILL_BLOCK, cost_range, s));
    for (int w = 0; w < s->n_workers; w++)
        s->largest = fmax(s->largest, s->room[w].largest);
    if (!epsilon_suits(s))
        goto done;
    make_symmetric(s);
    TRY(parallel_for(ctx, m->v, FILL_BLOCK, kernel_range, s));
    *out = s;
    s = NULL;
done:
    sinkhorn_shared_free(s);
    return status;
}

void sinkhorn_shared_free(sinkhorn_shared *s)
{
    if (!s)
        return;
    for (int w = 0; s->room && w < s->n_workers; w++)
        room_close(s, &s->room[w]);
    mem_free(s->ctx, s->room);
    mem_free(s->ctx, s->cost);
    mem_free(s->ctx, s->kernel);
    points_close(s->ctx, &s->support);
    mem_free(s->ctx, s);
}

/* ---- the columns ---- */

typedef struct shared_lane {
    shared_pair *pair; /* NULL: empty */
    bool fresh;        /* taken after the rows of this iteration: it waits for the next */
    sinkhorn_pace pace;
} shared_lane;

typedef struct shared_run {
    sinkhorn_shared *s;
    shared_room *w;
    const sinkhorn_stop *stop;
    shared_pair *next, *end;
    int width;
    shared_lane lane[WIDTH];
    int n_busy;
} shared_run;

static void clear_lane(shared_run *q, int c)
{
    double *block[] = {q->w->a, q->w->b, q->w->u, q->w->v};
    for (int k = 0; k < 4; k++)
        for (int64_t r = 0; r < q->s->rows; r++)
            block[k][r * q->width + c] = 0;
}

static void put_item(const shared_run *q, int64_t item, double *weight, double *scale)
{
    item_view x = measures_item(q->s->m, item);
    for (int64_t p = 0; p < x.n; p++)
        weight[x.index[p] * q->width] = scale[x.index[p] * q->width] = x.weight[p];
}

/* The next pair goes into lane c, where there is one. */
static void take_next(shared_run *q, int c)
{
    q->lane[c] = (shared_lane){.fresh = true, .pace = {.omega = 1}};
    clear_lane(q, c);
    if (q->next == q->end || ctx_cancelled(q->s->ctx))
        return;
    shared_pair *pair = q->lane[c].pair = q->next++;
    put_item(q, pair->i, q->w->a + c, q->w->u + c);
    put_item(q, pair->j, q->w->b + c, q->w->v + c);
    q->n_busy++;
}

/* ---- values ---- */

/* sum of w log(scale / w). */
static double log_sum(const shared_run *q, int64_t item, const double *scale)
{
    item_view x = measures_item(q->s->m, item);
    double total = 0;
    for (int64_t p = 0; p < x.n; p += SIMD_LANES) {
        double ratio[SIMD_LANES];
        int64_t n = BASE_MIN(SIMD_LANES, x.n - p);
        for (int64_t k = 0; k < SIMD_LANES; k++)
            ratio[k] = k < n ? scale[x.index[p + k] * q->width] / x.weight[p + k] : 1;
        simd_f64 logs = simd_log(simd_load(ratio));
        for (int64_t k = 0; k < n; k++)
            total += x.weight[p + k] * logs[k];
    }
    return total;
}

SIMD_CLONES static double cost_dot(const double *kernel, const double *cost, const double *v,
                                   int64_t n)
{
    simd_f64 sum = simd_all(0);
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        sum += (simd_load(kernel + k) * simd_load(cost + k)) * simd_load(v + k);
    return simd_sum(sum);
}

/* sum_ij u_i K_ij C_ij v_j. */
static double sharp_value(const shared_run *q, int c)
{
    const sinkhorn_shared *s = q->s;
    int64_t n = s->rows;
    double total = 0, *v = q->w->line;
    for (int64_t k = 0; k < n; k++)
        v[k] = q->w->v[k * q->width + c];
    for (int64_t i = 0; i < n; i++) {
        double u = q->w->u[i * q->width + c];
        if (u > 0)
            total += u * cost_dot(s->kernel + i * n, s->cost + i * n, v, n);
    }
    return total;
}

/* <a, f> + <b, g> of lane c. */
static double dual_value(const shared_run *q, int c)
{
    const shared_pair *pair = q->lane[c].pair;
    return q->s->epsilon * (log_sum(q, pair->i, q->w->u + c) + log_sum(q, pair->j, q->w->v + c));
}

/* The columns are exact, the rows off by `error`; the dual value as in sinkhorn.c. */
static void finish(shared_run *q, int c, double error, double mass)
{
    const sinkhorn_shared *s = q->s;
    shared_pair *pair = q->lane[c].pair;
    pair->found.regularised = dual_value(q, c) - s->epsilon * (mass - 1);
    pair->found.marginal_error = error;
    if (q->stop->sharp)
        pair->found.sharp = sharp_value(q, c);
    pair->solved = true;
}

/* ---- iterations ---- */

static bool in_range(const half_step *h, int c)
{
    return h->low[c] > 1e-280 && h->high[c] < 1e280;
}

/* After the rows: is lane c done? Its columns are exact after a plain iteration. */
static bool leaves(shared_run *q, int c, const half_step *rows)
{
    shared_lane *lane = &q->lane[c];
    if (lane->pace.plain_before && rows->error[c] <= q->stop->tolerance) {
        finish(q, c, rows->error[c], rows->mass[c]);
        return true;
    }
    return !in_range(rows, c) || lane->pair->found.iterations >= q->stop->max_iterations;
}

/* After the columns: should lane c be left to the dense solver? */
static bool gives_up(shared_run *q, int c, const half_step *rows, const half_step *columns)
{
    shared_lane *lane = &q->lane[c];
    const measures *m = q->s->m;
    double error = rows->error[c] + columns->error[c];
    lane->pair->found.iterations++;
    return !in_range(columns, c) ||
           sinkhorn_pace_next(&lane->pace, measures_item(m, lane->pair->i).n,
                              measures_item(m, lane->pair->j).n, error, q->stop->tolerance);
}

static void half_init(const shared_run *q, half_step *h, bool columns)
{
    shared_room *w = q->w;
    h->kernel = q->s->kernel;
    h->rows = q->s->rows;
    h->width = q->width;
    h->sum = w->line;
    h->other = columns ? w->u : w->v;
    h->weight = columns ? w->b : w->a;
    h->scale = columns ? w->v : w->u;
    h->next = columns ? w->v : w->next_u;
    for (int c = 0; c < WIDTH; c++) {
        h->beyond[c] = q->lane[c].pace.omega - 1;
        h->move[c] = columns && q->lane[c].fresh ? 0 : -1;
    }
}

static void free_lane(shared_run *q, int c)
{
    q->n_busy--;
    take_next(q, c);
}

static void swap_rows(shared_run *q)
{
    double *u = q->w->u;
    q->w->u = q->w->next_u;
    q->w->next_u = u;
}

static void iterate(shared_run *q)
{
    half_step rows, columns;
    bool done[WIDTH] = {false};
    half_init(q, &rows, false);
    shared_half_run(&rows);
    for (int c = 0; c < q->width; c++) {
        q->lane[c].fresh = false;
        done[c] = q->lane[c].pair && leaves(q, c, &rows);
    }
    swap_rows(q);
    for (int c = 0; c < q->width; c++)
        if (done[c])
            free_lane(q, c);
    if (q->n_busy == 0)
        return;
    half_init(q, &columns, true);
    shared_half_run(&columns);
    for (int c = 0; c < q->width; c++)
        if (q->lane[c].pair && !q->lane[c].fresh && gives_up(q, c, &rows, &columns))
            free_lane(q, c);
}

static void run_lanes(sinkhorn_shared *s, shared_pair *pair, int64_t n_pairs, int width,
                      const sinkhorn_stop *stop, int worker)
{
    shared_run q = {.s = s, .w = &s->room[worker], .stop = stop, .next = pair, .width = width};
    q.end = pair + n_pairs;
    for (int c = 0; c < width; c++)
        take_next(&q, c);
    while (q.n_busy > 0 && !ctx_cancelled(s->ctx))
        iterate(&q);
}

void sinkhorn_shared_solve(sinkhorn_shared *s, shared_pair *pair, int64_t n_pairs,
                           const sinkhorn_stop *stop, int worker)
{
    for (int64_t k = 0; k < n_pairs; k++) {
        pair[k].solved = false;
        pair[k].found = (sinkhorn_result){0};
    }
    if (n_pairs > FEW_PAIRS)
        run_lanes(s, pair, n_pairs, WIDTH, stop, worker);
    else
        for (int64_t k = 0; k < n_pairs; k++)
            run_lanes(s, pair + k, 1, 1, stop, worker);
}

/* ---- bounds ---- */

/* A whole iteration of a pair on its own; false where a sum left its range. */
static bool step_alone(shared_run *q, double omega)
{
    half_step rows, columns;
    q->lane[0].pace.omega = omega;
    q->lane[0].fresh = false;
    half_init(q, &rows, false);
    shared_half_run(&rows);
    swap_rows(q);
    half_init(q, &columns, true);
    shared_half_run(&columns);
    return in_range(&rows, 0) && in_range(&columns, 0);
}

/* As sinkhorn_bound: with exact columns the dual value is a lower bound whatever the rows are. */
double sinkhorn_shared_bound(sinkhorn_shared *s, int64_t i, int64_t j, double enough, int worker)
{
    shared_pair pair = {.i = i, .j = j};
    shared_run q = {.s = s, .w = &s->room[worker], .next = &pair, .end = &pair + 1, .width = 1};
    double best = -INFINITY;
    take_next(&q, 0);
    for (int k = 1; q.n_busy > 0 && k <= SINKHORN_BOUND_PASSES; k++) {
        bool look = (k & (k - 1)) == 0;
        if (!step_alone(&q, look ? 1 : 1.5))
            return best;
        if (!look)
            continue;
        double value = dual_value(&q, 0), before = best;
        best = fmax(best, value - 1e-12 * (fabs(value) + s->largest));
        if (best > enough || (k > 1 && best + SINKHORN_BOUND_PATIENCE * (best - before) < enough))
            return best;
    }
    return best;
}
