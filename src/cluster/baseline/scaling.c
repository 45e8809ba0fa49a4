/* Computes entropic barycenters with matrix scaling (iterative Bregman projections). In the plan P
 * = u K v, the scaling v enforces the weights of the item, and u enforces the weights of the
 * center. The weights of the center are the geometric mean of the left marginals (Benamou et al.
 * 2015). The projected method computes the costs of each cluster in a plane, which is updated by
 * one ascent step after every sweep (Huang, Ma, Lai 2021). */
#include <math.h>
#include <string.h>

#include "cluster/baseline/baseline.h"
#include "cluster/baseline/plan_kernels.h"
#include "cluster/baseline/plane.h"
#include "distance/simd/kernels.h"

enum { MOVE_ROUNDS_MOST = 20 }; /* maximum number of rounds between two moves of the points */
static const double near_enough =
    1e-2; /* the points move once the marginal error and gradient are below this value */
static const double scaling_settled_at = 1e-7; /* gain of a move, relative to the mean cost, below
                                                * which the run has converged */
static const double ascent_step = 0.5;

typedef struct scaler {
    fit *f;
    double factor; /* epsilon, in units of the mean cost */
    double *epsilon;
    double *row; /* items x n: K v of the last sweep, or 0 before the first sweep */
    /* Start index of each item's kernel. Kernels are stored between moves, except in the projected
     * method, which recomputes them in each round. */
    int64_t *at;
    double *kernel;
    int64_t p;                 /* dimension of the plane; 0: the whole space */
    double *plane, *projected; /* k x p x d; k x n x p: projected points of the centers */
    scratch flat; /* the item's points in the plane, then the column sums of the gradient */
    bool renew, moving;
} scaler;

static void scaler_close(void *state)
{
    scaler *s = state;
    if (!s)
        return;
    ddsc_context *ctx = s->f->ctx;
    scratch_free(ctx, &s->flat);
    MEM_FREE(ctx, s->projected, s->plane, s->kernel, s->at, s->row, s->epsilon, s);
}

static ddsc_status open_planes(scaler *s)
{
    fit *f = s->f;
    int64_t size = s->p * f->c.d;
    CHECK(MEM_NEW(f->ctx, s->plane, f->c.k * size));
    CHECK(MEM_NEW(f->ctx, s->projected, f->c.k * f->c.n * s->p));
    CHECK(scratch_create(f->ctx, &s->flat, (s->p + 1) * f->stride + s->p, sizeof(double)));
    CHECK(plane_principal(f->ctx, s->plane, s->p, f->m));
    for (int64_t c = 1; c < f->c.k; c++)
        memcpy(s->plane + c * size, s->plane, (size_t)size * sizeof *s->plane);
    return DDSC_OK;
}

static ddsc_status open_scaler(void **state, fit *f, const method_settings *set, int64_t p)
{
    ddsc_status status = DDSC_OK;
    scaler *s = NULL;
    TRY(MEM_ZERO(f->ctx, s, 1));
    s->f = f;
    s->factor = set->epsilon;
    s->p = p;
    TRY(MEM_NEW(f->ctx, s->epsilon, f->c.k));
    TRY(MEM_ZERO(f->ctx, s->row, f->m->n * f->c.n));
    if (p > 0)
        TRY(open_planes(s));
    else
        TRY(fit_plan_starts(f, &s->at));
    TRY(MEM_NEW(f->ctx, s->kernel, p > 0 ? 0 : s->at[f->m->n]));
    *state = s;
    s = NULL;
done:
    scaler_close(s);
    return status;
}

static int64_t plane_dim(int64_t d, const method_settings *set)
{
    return BASE_MIN(set->projection_dim, d);
}

static int64_t projected_extra(int64_t d, const method_settings *set)
{
    return plane_dim(d, set) * d;
}

static ddsc_status ibp_open(void **state, fit *f, const method_settings *set)
{
    return open_scaler(state, f, set, 0);
}

static ddsc_status projected_open(void **state, fit *f, const method_settings *set)
{
    return open_scaler(state, f, set, plane_dim(f->c.d, set));
}

static void scaler_forget(void *state, int64_t item)
{
    scaler *s = state;
    memset(s->row + item * s->f->c.n, 0, (size_t)s->f->c.n * sizeof *s->row);
}

/* ---- one item ---- */

static const double *whole_kernel(scaler *s, int64_t cluster, int64_t item, int worker)
{
    plan_work w = fit_work(s->f, worker);
    double *kernel = s->kernel + s->at[item];
    int64_t size = s->at[item + 1] - s->at[item], n = s->f->c.n;
    if (!s->renew)
        return kernel;
    fit_load_cost(s->f, cluster, item, worker);
    memcpy(kernel, w.cost, (size_t)size * sizeof *kernel);
    transport_gibbs_reduced(kernel, n, size / n, 1 / s->epsilon[cluster], w.column);
    return kernel;
}

/* Projects the item's points onto the plane, coordinate by coordinate, and computes the kernel from
 * the costs in the plane. */
static const double *plane_kernel(scaler *s, int64_t cluster, int64_t item, int worker)
{
    const fit *f = s->f;
    plan_work w = fit_work(f, worker);
    item_view y = measures_item(f->m, item);
    int64_t n = f->c.n, d = f->c.d, p = s->p, stride = transport_stride(y.n);
    const double *u = s->plane + cluster * p * d;
    double *points = scratch_of(&s->flat, worker), *one = points + p * stride;
    for (int64_t j = 0; j < stride; j++) {
        plane_project(one, u, p, d, measures_point(f->m, y.index[j < y.n ? j : 0]));
        for (int64_t q = 0; q < p; q++)
            points[q * stride + j] = one[q];
    }
    kernels_find()->distances(w.cost, stride, p,
                              (point_block){s->projected + cluster * n * p, n, p, 1},
                              (point_block){points, stride, 1, stride});
    transport_gibbs_reduced(w.cost, n, stride, 1 / s->epsilon[cluster], w.column);
    return w.cost;
}

/* Adds V U = sum_ij P_ij (x_i - y_j) (U'x_i - U'y_j)'. Terms with x_i use sums over j, and terms
 * with y_j use sums over i. */
static void add_gradient(const scaler *s, double *g, int64_t cluster, int64_t item, int worker)
{
    const fit *f = s->f;
    item_view y = measures_item(f->m, item);
    int64_t n = f->c.n, d = f->c.d, p = s->p, stride = transport_stride(y.n);
    const double *plan = fit_work(f, worker).p, *points = scratch_of(&s->flat, worker);
    const double *x = f->c.x + cluster * n * d, *px = s->projected + cluster * n * p;
    double *flow = (double *)scratch_of(&s->flat, worker) + p * stride,
           share = 2 * fit_weight(f, item);
    for (int64_t q = 0; q < p; q++) {
        memset(flow, 0, (size_t)stride * sizeof *flow);
        for (int64_t i = 0; i < n; i++) {
            double out = 0;
            for (int64_t j = 0; j < y.n; j++) {
                double t = plan[i * stride + j] * (px[i * p + q] - points[q * stride + j]);
                out += t;
                flow[j] += t;
            }
            for (int64_t k = 0; k < d; k++)
                g[q * d + k] += share * out * x[i * d + k];
        }
        for (int64_t j = 0; j < y.n; j++)
            for (int64_t k = 0; k < d; k++)
                g[q * d + k] -= share * flow[j] * measures_point(f->m, y.index[j])[k];
    }
}

static void sweep_item(scaler *s, int64_t cluster, int64_t item, double *slot, int worker)
{
    fit *f = s->f;
    plan_work w = fit_work(f, worker);
    int64_t n = f->c.n;
    const double *weight = f->c.w + cluster * n;
    double *row = s->row + item * n, *rows = sum_rows(f, slot), *extra = sum_extra(f, slot);
    for (int64_t i = 0; i < n; i++)
        w.row[i] = row[i] > 0 ? weight[i] / row[i] : weight[i];
    fit_load_weights(f, item, worker);
    scaling_block block = {.n = n,
                           .stride = transport_stride(measures_item(f->m, item).n),
                           .kernel = s->p > 0 ? plane_kernel(s, cluster, item, worker)
                                              : whole_kernel(s, cluster, item, worker),
                           .b = w.b,
                           .u = w.row,
                           .v = w.column};
    transport_scaling_sweep(&block, row);
    for (int64_t i = 0; i < n; i++) {
        double marginal = w.row[i] * row[i];
        rows[i] += fit_weight(f, item) * log(fmax(marginal, 1e-300));
        extra[0] += fabs(marginal - weight[i]);
    }
    extra[1] += fit_weight(f, item);
    if (s->p == 0 && !s->moving)
        return;
    transport_of_scaling(&block, w.p);
    if (s->moving)
        fit_add_plan(f, slot, item, w.p);
    if (s->p > 0)
        add_gradient(s, extra + FIT_EXTRA, cluster, item, worker);
}

static ddsc_status scale_piece(void *state, const piece *p, double *slot, int worker)
{
    scaler *s = state;
    for (int64_t at = p->begin; at < p->end; at++)
        sweep_item(s, p->cluster, s->f->g.item[at], slot, worker);
    return DDSC_OK;
}

/* ---- rounds ---- */

static void take_geometric_means(fit *f)
{
    int64_t n = f->c.n;
    for (int64_t c = 0; c < f->c.k; c++) {
        double *slot = f->sum + c * f->slot, *w = f->c.w + c * n, *rows = sum_rows(f, slot);
        double total = sum_extra(f, slot)[1], high = -INFINITY;
        if (!(total > 0))
            continue;
        for (int64_t i = 0; i < n; i++)
            high = fmax(high, rows[i]);
        for (int64_t i = 0; i < n; i++)
            w[i] = exp((rows[i] - high) / total);
        center_normalize(w, n);
    }
}

static void project_centers(scaler *s)
{
    const centers *c = &s->f->c;
    for (int64_t i = 0; s->p > 0 && i < c->k * c->n; i++)
        plane_project(s->projected + i * s->p, s->plane + i / c->n * s->p * c->d, s->p, c->d,
                      c->x + i * c->d);
}

/* Moves every plane by one ascent step. Returns the largest relative tangent. */
static double turn_planes(scaler *s)
{
    fit *f = s->f;
    double worst = 0;
    for (int64_t c = 0; s->p > 0 && c < f->c.k; c++) {
        double *g = sum_extra(f, f->sum + c * f->slot) + FIT_EXTRA;
        worst =
            fmax(worst, plane_ascend(s->plane + c * s->p * f->c.d, g, s->p, f->c.d, ascent_step));
    }
    return worst;
}

/* Moves the points of all centers to their means for the current plans. Returns the decrease of the
 * cost in units of the mean cost. */
static double move_all(scaler *s)
{
    fit *f = s->f;
    double gain = 0, scale = 0;
    for (int64_t c = 0; c < f->c.k; c++) {
        gain += fit_move_to_means(f, c);
        scale += s->epsilon[c] / s->factor * sum_extra(f, f->sum + c * f->slot)[1];
    }
    return scale > 0 ? gain / scale : 0;
}

static ddsc_status scaler_run(void *state, int64_t rounds, int64_t *done, bool *settled)
{
    scaler *s = state;
    fit *f = s->f;
    int64_t since = 0;
    bool ready = false;
    *settled = false;
    for (int64_t c = 0; c < f->c.k; c++)
        s->epsilon[c] = fmax(s->factor * fit_mean_cost(f, c), 1e-300);
    for (*done = 0; *done < rounds && !*settled; ++*done) {
        s->renew = since == 0;
        s->moving = ready || since == MOVE_ROUNDS_MOST - 1 || *done + 1 == rounds;
        project_centers(s);
        CHECK(fit_sweep(f, scale_piece, s));
        take_geometric_means(f);
        double error = 0, tangent = turn_planes(s);
        for (int64_t c = 0; c < f->c.k; c++)
            error += sum_extra(f, f->sum + c * f->slot)[0] / (double)f->g.n;
        *settled = s->moving && move_all(s) <= scaling_settled_at && ready;
        ready = !s->moving && error <= near_enough && tangent <= near_enough;
        since = s->moving ? 0 : since + 1;
    }
    return DDSC_OK;
}

const center_method method_ibp = {.name = "ibp",
                                  .open = ibp_open,
                                  .run = scaler_run,
                                  .forget = scaler_forget,
                                  .close = scaler_close,
                                  .judged = true};
const center_method method_projected = {.name = "projected",
                                        .extra = projected_extra,
                                        .open = projected_open,
                                        .run = scaler_run,
                                        .forget = scaler_forget,
                                        .close = scaler_close};
