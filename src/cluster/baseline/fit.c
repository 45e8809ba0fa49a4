/* Processes the items of all clusters in one pass and evaluates the centers exactly. Let P be the
 * optimal plans. For squared costs, the optimal position of point i of a center is x_i = sum P_ij
 * y_j / sum P_ij, where the sums run over all items of the cluster (see move.c for other costs).
 * The potentials f are the gradient of the cost with respect to the weights. */
#include "cluster/baseline/baseline.h"

#include <math.h>
#include <string.h>

#include "cluster/baseline/plan_kernels.h"
#include "distance/simd/kernels.h"
#include "numeric/linalg/linalg.h"

enum { PIECE_MIN = 16, PIECES = 256, MEAN_SAMPLE = 64 };

static ddsc_status groups_create(ddsc_context *ctx, item_groups *g, int64_t n, int64_t k)
{
    *g = (item_groups){.k = k, .piece_size = BASE_MAX(PIECE_MIN, n / PIECES)};
    CHECK(MEM_NEW(ctx, g->item, n));
    CHECK(MEM_ZERO(ctx, g->begin, k + 1));
    return MEM_NEW(ctx, g->pieces, n / g->piece_size + k);
}

void fit_group(fit *f, const int32_t *label)
{
    item_groups *g = &f->g;
    g->n = g->n_pieces = 0;
    for (int64_t c = 0; c < g->k; c++) {
        g->begin[c] = g->n;
        for (int64_t i = 0; i < f->m->n; i++)
            if (label[i] == c)
                g->item[g->n++] = (int32_t)i;
        for (int64_t at = g->begin[c]; at < g->n; at += g->piece_size)
            g->pieces[g->n_pieces++] = (piece){at, BASE_MIN(at + g->piece_size, g->n), c};
    }
    g->begin[g->k] = g->n;
}

/* Assigns the arrays of a worker to its scratch memory. */
static plan_work take_work(arena *a, const fit *f)
{
    int64_t n = f->c.n, stride = f->stride;
    plan_work w;
    ARENA_TAKE(a, w.y, stride * f->c.d);
    ARENA_TAKE(a, w.cost, stride * n);
    ARENA_TAKE(a, w.p, stride * n);
    ARENA_TAKE(a, w.b, stride);
    ARENA_TAKE(a, w.column, stride);
    ARENA_TAKE(a, w.row, n);
    return w;
}

plan_work fit_work(const fit *f, int worker)
{
    arena a = {scratch_of(&f->work, worker), 0};
    return take_work(&a, f);
}

static void weigh_items(fit *f)
{
    const double *weight = f->item_weight;
    for (int64_t i = 0; weight && i < f->m->n; i++)
        f->largest_weight = fmax(f->largest_weight, weight[i]);
    for (int64_t i = 0; weight && i < f->m->n; i++)
        f->mean_weight += weight[i] / f->largest_weight;
    f->mean_weight /= (double)f->m->n;
}

ddsc_status fit_open(fit *f, ddsc_context *ctx, const measures *m, const ground_cost *ground,
                     int64_t k, int64_t n, int64_t extra, const double *item_weight)
{
    ddsc_status status = DDSC_OK;
    arena a = {0};
    *f = (fit){.ctx = ctx,
               .m = m,
               .ground = *ground,
               .item_weight = item_weight,
               .n_workers = parallel_width(ctx)};
    f->stride = transport_stride(measures_largest_item(m));
    weigh_items(f);
    TRY(moments_make(ctx, &f->stats, m));
    TRY(centers_create(ctx, &f->c, k, n, m->d));
    TRY(groups_create(ctx, &f->g, m->n, k));
    f->slot = n * m->d + 2 * n + FIT_EXTRA + extra;
    TRY(MEM_NEW(ctx, f->piece_sum, (m->n / f->g.piece_size + k) * f->slot));
    TRY(MEM_NEW(ctx, f->sum, k * f->slot));
    TRY(exact_create_team(ctx, &f->solver, ground));
    take_work(&a, f);
    TRY(scratch_create(ctx, &f->work, a.used, 1));
    if (!fit_means(f))
        TRY(fit_flows_open(f));
done:
    if (status < 0)
        fit_close(f);
    return status;
}

void fit_close(fit *f)
{
    ddsc_context *ctx = f->ctx;
    exact_destroy_team(ctx, f->solver);
    fit_flows_close(f);
    scratch_free(ctx, &f->work);
    MEM_FREE(ctx, f->sum, f->piece_sum, f->g.pieces, f->g.begin, f->g.item);
    centers_free(ctx, &f->c);
    moments_free(ctx, &f->stats);
    *f = (fit){.ctx = ctx};
}

ddsc_status fit_plan_starts(const fit *f, int64_t **at)
{
    CHECK(MEM_NEW(f->ctx, *at, f->m->n + 1));
    (*at)[0] = 0;
    for (int64_t i = 0; i < f->m->n; i++)
        if (!add_ok((*at)[i], f->c.n * transport_stride(measures_item(f->m, i).n), &(*at)[i + 1]))
            return ctx_fail(f->ctx, DDSC_ERROR_MEMORY, "cannot allocate the plans of %lld items",
                            (long long)f->m->n);
    return DDSC_OK;
}

/* ---- one item ---- */

ddsc_status fit_start_center(fit *f, int64_t which, int64_t item, rng *r)
{
    if (f->ground.kind == DDSC_COST_MATRIX)
        return center_from_rows(f->ctx, &f->c, which, f->m, item, &f->ground);
    return center_from_item(f->ctx, &f->c, which, f->m, item, moments_jitter(&f->stats, f->m), r);
}

void fit_load_weights(fit *f, int64_t item, int worker)
{
    item_view y = measures_item(f->m, item);
    double *b = fit_work(f, worker).b;
    memcpy(b, y.weight, (size_t)y.n * sizeof *b);
    for (int64_t j = y.n; j < transport_stride(y.n); j++)
        b[j] = 0;
}

/* Copies costs from the cost matrix. Padding columns have cost 0. */
static void load_entries(const fit *f, double *cost, const double *x, item_view y)
{
    int64_t stride = transport_stride(y.n);
    for (int64_t i = 0; i < f->c.n; i++) {
        const double *from = f->ground.matrix + (int64_t)x[i] * f->ground.size;
        for (int64_t j = 0; j < stride; j++)
            cost[i * stride + j] = j < y.n ? from[(int64_t)*measures_point(f->m, y.index[j])] : 0;
    }
}

void fit_load_cost(fit *f, int64_t cluster, int64_t item, int worker)
{
    const centers *c = &f->c;
    plan_work w = fit_work(f, worker);
    item_view y = measures_item(f->m, item);
    int64_t stride = transport_stride(y.n);
    if (f->ground.kind == DDSC_COST_MATRIX) {
        load_entries(f, w.cost, c->x + cluster * c->n, y);
        return;
    }
    for (int64_t j = 0; j < stride; j++)
        for (int64_t k = 0; k < c->d; k++)
            w.y[k * stride + j] = j < y.n ? measures_point(f->m, y.index[j])[k] : 0;
    ground_block(f->ground.kind, kernels_find(), w.cost, stride, c->d,
                 (point_block){c->x + cluster * c->n * c->d, c->n, c->d, 1},
                 (point_block){w.y, stride, 1, stride});
}

void fit_add_plan(const fit *f, double *slot, int64_t item, const double *plan)
{
    item_view y = measures_item(f->m, item);
    plan_points points = {y.n, f->c.d, f->m->support, y.index};
    transport_moments(slot, sum_mass(f, slot), plan, f->c.n, transport_stride(y.n), &points,
                      fit_weight(f, item));
}

/* ---- all items ---- */

typedef struct sweep {
    fit *f;
    piece_fn fn;
    void *state;
} sweep;

static ddsc_status sweep_pieces(void *arg, int64_t begin, int64_t end, int worker)
{
    sweep *s = arg;
    for (int64_t p = begin; p < end; p++) {
        double *slot = s->f->piece_sum + p * s->f->slot;
        memset(slot, 0, (size_t)s->f->slot * sizeof *slot);
        CHECK(s->fn(s->state, &s->f->g.pieces[p], slot, worker));
    }
    return DDSC_OK;
}

ddsc_status fit_sweep(fit *f, piece_fn fn, void *state)
{
    sweep s = {f, fn, state};
    ddsc_status status = parallel_for(f->ctx, f->g.n_pieces, 1, sweep_pieces, &s);
    memset(f->sum, 0, (size_t)(f->c.k * f->slot) * sizeof *f->sum);
    for (int64_t p = 0; status >= 0 && p < f->g.n_pieces; p++) {
        double *into = f->sum + f->g.pieces[p].cluster * f->slot;
        for (int64_t k = 0; k < f->slot; k++)
            into[k] += f->piece_sum[p * f->slot + k];
    }
    return status;
}

double fit_move_to_means(fit *f, int64_t cluster)
{
    int64_t n = f->c.n, d = f->c.d;
    double *slot = f->sum + cluster * f->slot, *x = f->c.x + cluster * n * d, gain = 0;
    const double *mass = sum_mass(f, slot);
    for (int64_t i = 0; i < n; i++) {
        if (!(mass[i] > 0))
            continue;
        for (int64_t k = 0; k < d; k++) {
            double to = slot[i * d + k] / mass[i], step = to - x[i * d + k];
            gain += mass[i] * step * step;
            x[i * d + k] = to;
        }
    }
    return gain;
}

/* Estimates the mean cost from a sample of evenly spaced items, for costs other than the squared
 * distance. A sample is sufficient because the result is used only as a scale. */
static double sampled_mean_cost(fit *f, int64_t cluster)
{
    const double *w = f->c.w + cluster * f->c.n;
    int64_t first = f->g.begin[cluster], n_items = f->g.begin[cluster + 1] - first;
    int64_t n = BASE_MIN(n_items, MEAN_SAMPLE);
    double sum = 0, weight = 0;
    for (int64_t s = 0; s < n; s++) {
        int64_t item = f->g.item[first + s * n_items / n];
        item_view y = measures_item(f->m, item);
        const double *cost = fit_work(f, 0).cost;
        fit_load_cost(f, cluster, item, 0);
        for (int64_t i = 0; i < f->c.n; i++)
            for (int64_t j = 0; j < y.n; j++)
                sum +=
                    fit_weight(f, item) * w[i] * y.weight[j] * cost[i * transport_stride(y.n) + j];
        weight += fit_weight(f, item);
    }
    return weight > 0 ? sum / weight : 0;
}

/* For squared costs, the mean of |x - y|^2 over independent x and y is the sum of both spreads and
 * the squared distance between the means. */
double fit_mean_cost(fit *f, int64_t cluster)
{
    if (!fit_means(f))
        return sampled_mean_cost(f, cluster);
    int64_t n = f->c.n, d = f->c.d;
    const double *x = f->c.x + cluster * n * d, *w = f->c.w + cluster * n;
    double sum = 0, weight = 0;
    for (int64_t p = f->g.begin[cluster]; p < f->g.begin[cluster + 1]; p++) {
        int64_t item = f->g.item[p];
        double cost = f->stats.spread[item];
        for (int64_t i = 0; i < n; i++)
            cost += w[i] * la_distance2(d, x + i * d, f->stats.mean + item * d);
        sum += fit_weight(f, item) * cost;
        weight += fit_weight(f, item);
    }
    return weight > 0 ? sum / weight : 0;
}

/* The bound is the cost between the means. By Jensen's inequality, the distance between the means
 * is at most the mean transport distance. */
double fit_mean_bound(const fit *f, const double *mean, const double *other)
{
    double sum = 0;
    if (f->ground.kind == DDSC_COST_MATRIX)
        return 0;
    if (f->ground.kind != DDSC_COST_CITYBLOCK) {
        sum = la_distance2(f->c.d, mean, other);
        return fit_means(f) ? sum : sqrt(sum);
    }
    for (int64_t k = 0; k < f->c.d; k++)
        sum += fabs(mean[k] - other[k]);
    return sum;
}

/* A cost matrix need not satisfy the triangle inequality, so there is no such distance for it. */
double fit_distance(const fit *f, double cost)
{
    return fit_means(f) ? sqrt(cost) : f->ground.kind == DDSC_COST_MATRIX ? 0 : cost;
}

double fit_cost(const fit *f, double distance)
{
    return fit_means(f) ? distance * distance : distance;
}

void fit_step_weights(fit *f, int64_t cluster, double step)
{
    int64_t n = f->c.n;
    const double *slope = sum_rows(f, f->sum + cluster * f->slot);
    double *w = f->c.w + cluster * n, mean = 0, largest = 0;
    for (int64_t i = 0; i < n; i++)
        mean += w[i] * slope[i];
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(slope[i] - mean));
    for (int64_t i = 0; largest > 0 && i < n; i++)
        w[i] *= exp(-step * (slope[i] - mean) / largest);
    center_normalize(w, n);
}

/* ---- exact transport between items and centers ---- */

/* Accepts plans that are not certified as optimal, because their cost is still an upper bound. */
ddsc_status fit_solve(const fit *f, int worker, exact_result *found, const measures *from,
                      int64_t i, int64_t item)
{
    ddsc_status solved = exact_solve_items(f->solver[worker], found, from, i, f->m, item, 0);
    return solved < 0 ? solved : DDSC_OK;
}

typedef struct judge {
    fit *f;
    double *value;
} judge;

static void add_exact_plan(const fit *f, double *slot, int64_t item, const exact_solver *solver,
                           int64_t n_plan)
{
    const int32_t *row, *column;
    const double *mass;
    item_view y = measures_item(f->m, item);
    int64_t d = f->c.d;
    double share = fit_weight(f, item);
    exact_plan(solver, &row, &column, &mass);
    for (int64_t e = 0; e < n_plan; e++) {
        const double *point = measures_point(f->m, y.index[column[e]]);
        sum_mass(f, slot)[row[e]] += share * mass[e];
        for (int64_t k = 0; k < d; k++)
            slot[row[e] * d + k] += share * mass[e] * point[k];
    }
}

static ddsc_status judge_piece(void *state, const piece *p, double *slot, int worker)
{
    judge *j = state;
    fit *f = j->f;
    for (int64_t at = p->begin; at < p->end; at++) {
        int64_t item = f->g.item[at];
        exact_result found;
        CHECK(fit_solve(f, worker, &found, &f->c.view, p->cluster, item));
        j->value[item] = found.primal;
        sum_extra(f, slot)[0] += fit_weight(f, item) * found.primal;
        if (fit_means(f))
            add_exact_plan(f, slot, item, f->solver[worker], found.n_plan);
        else
            fit_flows_keep(f, item, f->solver[worker], found.n_plan);
        const double *potential = exact_f(f->solver[worker]);
        for (int64_t i = 0; i < f->c.n; i++)
            sum_rows(f, slot)[i] += fit_weight(f, item) * potential[i];
    }
    return DDSC_OK;
}

ddsc_status fit_exact_pass(fit *f, double *value)
{
    judge j = {f, value};
    return fit_sweep(f, judge_piece, &j);
}
