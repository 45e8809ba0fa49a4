/* Computes entropic transport between two items on a plane grid (see grid.h).
 *
 * The plan is P = diag(u) K diag(v) with K = exp(-|x - y|^2 / eps). The iteration is u += w (a / K
 * v - u), and likewise for v with K', where w is the over-relaxation. Both items are centered at
 * their means, which changes the value by exactly |difference of means|^2 and keeps the exponents
 * small.
 *
 * The scalings start from the potentials f(x) = x' (1 - M) x of the affine map M between the
 * Gaussians of the items (grid_items.c). The first over-relaxation w is derived from the exact rate
 * of convergence between Gaussians (Janati, Muzellec, Peyre, Cuturi 2020), and pace.h adapts w
 * afterwards.
 *
 * The dual value <a, f> + <b, g> of any f and the optimal g for this f is a lower bound on the
 * value. It increases in every iteration, so a search can use it as a bound and stop the iterations
 * early.
 *
 * Each product with K takes O(h w (h + w)) operations for boxes of h x w cells. If the sums for a
 * pair leave the range of doubles, or if it converges slowly, the dense engine solves the pair. The
 * result depends only on the pair. */
#include "distance/sinkhorn/grid.h"

#include <math.h>
#include <string.h>

#include "distance/sinkhorn/dense_kernel.h"
#include "distance/sinkhorn/grid_kernel.h"

static const double START_LIMIT = 200; /* limit for starting exponents */

/* One item of a pair, on its bounding box. */
typedef struct grid_end {
    const grid_item *item;
    _Alignas(64) double weight[GRID_BOX], scale[GRID_BOX];
} grid_end;

/* The arrays of one worker. `table` contains the kernel along each axis as a function of the
 * distance. `across` contains the matrices of the second table, from side 1 to side 0 and in the
 * opposite direction. */
typedef struct grid_pair {
    const sinkhorn_grid *grid;
    grid_end end[2];
    double table[2][GRID_TABLE];
    double across[2][SINKHORN_GRID_SIDE * SINKHORN_GRID_SIDE];
    double half[GRID_BOX], sum[GRID_BOX]; /* values on the box after one axis, and after both
                                           * axes */
    double apart;                         /* squared distance between the means */
} grid_pair;

struct sinkhorn_grid {
    ddsc_context *ctx;
    const measures *m;
    sinkhorn_rule rule;
    grid_items items;
    grid_pair *pair;
};

/* ---- open and close ---- */

bool sinkhorn_grid_applies(const measures *m, double epsilon)
{
    double range = 0;
    if (!sinkhorn_grid_fits(m) || !sinkhorn_grid_is_exact(m))
        return false;
    for (int axis = 0; axis < 2; axis++) {
        double extent = m->grid.step[axis] * (double)(m->grid.shape[axis] - 1);
        range += extent * extent;
    }
    return range > 1e-100 && range < 1e100 && epsilon < SINKHORN_GRID_LARGE_EPSILON * range &&
           epsilon > SINKHORN_GRID_SMALL_EPSILON * range && sinkhorn_grid_is_faster(m);
}

void sinkhorn_grid_destroy(sinkhorn_grid *g)
{
    if (!g)
        return;
    sinkhorn_grid_items_free(g->ctx, &g->items);
    MEM_FREE(g->ctx, g->pair, g);
}

ddsc_status sinkhorn_grid_create(ddsc_context *ctx, sinkhorn_grid **out, const measures *m,
                                 const sinkhorn_rule *rule, const double step[2])
{
    ddsc_status status = DDSC_OK;
    sinkhorn_grid *g = NULL;
    int n_workers = parallel_width(ctx);
    TRY(MEM_ZERO(ctx, g, 1));
    *g = (sinkhorn_grid){.ctx = ctx, .m = m, .rule = *rule};
    TRY(sinkhorn_grid_items_make(ctx, &g->items, m, step));
    TRY(MEM_ZERO(ctx, g->pair, n_workers));
    for (int k = 0; k < n_workers; k++)
        g->pair[k].grid = g;
    *out = g;
    g = NULL;
done:
    sinkhorn_grid_destroy(g);
    return status;
}

const grid_items *sinkhorn_grid_get_items(const sinkhorn_grid *g)
{
    return &g->items;
}

/* ---- loading a pair ---- */

static int64_t box_size(const grid_end *end)
{
    return (int64_t)end->item->size[0] * end->item->ld;
}

static void load_end(const sinkhorn_grid *g, grid_end *end, int64_t i)
{
    item_view view = measures_item(g->m, i);
    const uint16_t *place = g->items.place + g->m->offset[i];
    end->item = &g->items.item[i];
    memset(end->weight, 0, (size_t)box_size(end) * sizeof *end->weight);
    for (int64_t k = 0; k < view.n; k++)
        end->weight[place[k]] = view.weight[k] > SINKHORN_NO_WEIGHT ? view.weight[k] : 0;
}

/* Returns the distance between the centered items along an axis, for a difference of t cells. */
static double distance(const grid_pair *w, int axis, int t)
{
    double gap = sinkhorn_grid_gap(w->end[0].item, w->end[1].item, axis);
    return w->grid->items.step[axis] * ((double)t - gap);
}

/* Expands the second table to matrices. across[0][s][c] is the table entry for the distance between
 * column c of side 0 and column s of side 1. */
static void expand_columns(grid_pair *w)
{
    const grid_item *x = w->end[0].item, *y = w->end[1].item;
    const double *at = w->table[1] + GRID_TABLE_ZERO + (x->first[1] - y->first[1]);
    for (int64_t s = 0; s < y->size[1]; s++)
        for (int64_t c = 0; c < x->ld; c++)
            w->across[0][s * x->ld + c] = c < x->size[1] ? at[c - s] : 0;
    for (int64_t s = 0; s < x->size[1]; s++)
        for (int64_t c = 0; c < y->ld; c++)
            w->across[1][s * y->ld + c] = c < y->size[1] ? at[s - c] : 0;
}

/* Loads both items and the kernel. The scalings of side 0 start from the potentials f(x) = x' (1 -
 * M) x of the map M between the Gaussians of the items. */
static void load_pair(grid_pair *w, int64_t i, int64_t j)
{
    const sinkhorn_grid *g = w->grid;
    const double *step = g->items.step;
    double epsilon = g->rule.epsilon, m[3];
    load_end(g, &w->end[0], i);
    load_end(g, &w->end[1], j);
    memset(w->end[1].scale, 0, (size_t)box_size(&w->end[1]) * sizeof(double));
    const grid_item *x = w->end[0].item, *y = w->end[1].item;
    w->apart = 0;
    for (int axis = 0; axis < 2; axis++) {
        int low, high;
        double *table = w->table[axis] + GRID_TABLE_ZERO;
        double d = step[axis] * sinkhorn_grid_gap(x, y, axis);
        w->apart += d * d;
        sinkhorn_grid_reach(x, y, axis, &low, &high);
        for (int t = low; t <= high; t++) {
            double off = distance(w, axis, t);
            table[t] = -off * off / epsilon;
        }
        sinkhorn_exp(table + low, high - low + 1, 0);
    }
    expand_columns(w);
    sinkhorn_grid_affine(x->cov, y->cov, m);
    grid_form form = {.y0 = -step[0] * x->local[0],
                      .x0 = -step[1] * x->local[1],
                      .y_step = step[0],
                      .x_step = step[1],
                      .yy = (1 - m[0]) / epsilon,
                      .xy = -2 * m[1] / epsilon,
                      .xx = (1 - m[2]) / epsilon};
    sinkhorn_grid_start(w->end[0].scale, w->end[0].weight, x->size[0], x->ld, &form, START_LIMIT);
}

/* Sets `sum` on the box of side `to` to the kernel times the scalings of the other side. */
static void carry(grid_pair *w, int to)
{
    const grid_end *from = &w->end[1 - to];
    grid_carry by = sinkhorn_grid_carry(from->item, w->end[to].item, to == 1 ? 1 : -1);
    sinkhorn_grid_mix(&by.rows, w->half, w->table[0] + by.row_at, from->scale);
    sinkhorn_grid_mix(&by.columns, w->sum, w->half, w->across[to]);
}

static sinkhorn_half half_pass(grid_pair *w, int to, double omega)
{
    grid_end *end = &w->end[to];
    carry(w, to);
    return sinkhorn_update(end->scale, end->weight, w->sum, box_size(end), omega);
}

static bool in_range(sinkhorn_half seen)
{
    return seen.low >= 1 / SINKHORN_GRID_RANGE && seen.high <= SINKHORN_GRID_RANGE;
}

static sinkhorn_seen pass(grid_pair *w, double omega)
{
    sinkhorn_half rows = half_pass(w, 0, omega), columns = half_pass(w, 1, omega);
    return (sinkhorn_seen){rows.error, columns.error, fmin(rows.low, columns.low),
                           fmax(rows.high, columns.high)};
}

/* ---- solving ---- */

/* Returns the sum of u K C v, where C is the sum of one cost per axis. */
static double sharp_value(grid_pair *w)
{
    double total = 0, saved[GRID_TABLE];
    for (int axis = 0; axis < 2; axis++) {
        double *table = w->table[axis];
        memcpy(saved, table, sizeof saved);
        for (int t = 0; t < GRID_TABLE; t++) {
            double d = distance(w, axis, t - GRID_TABLE_ZERO);
            table[t] *= d * d;
        }
        expand_columns(w);
        carry(w, 0);
        total += sinkhorn_grid_dot(w->end[0].scale, w->sum, box_size(&w->end[0]));
        memcpy(table, saved, sizeof saved);
    }
    return total;
}

/* Returns <a, f> + <b, g> for the centered items, in units of epsilon. */
static double dual_value(const grid_pair *w)
{
    const grid_end *a = &w->end[0], *b = &w->end[1];
    return sinkhorn_grid_log_ratio(a->weight, a->scale, box_size(a)) +
           sinkhorn_grid_log_ratio(b->weight, b->scale, box_size(b));
}

/* Makes the marginal of side 1 exact from its current sums, and measures the error of side 0. Then
 * computes the dual value as in the dense engine. */
static bool settle(grid_pair *w, sinkhorn_result *result)
{
    grid_end *a = &w->end[0], *b = &w->end[1];
    const sinkhorn_rule *rule = &w->grid->rule;
    double mass;
    sinkhorn_update(b->scale, b->weight, w->sum, box_size(b), 1);
    carry(w, 0);
    result->marginal_error = sinkhorn_grid_error(a->scale, a->weight, w->sum, box_size(a), &mass);
    if (!(result->marginal_error <= rule->tolerance))
        return false;
    result->regularized = rule->epsilon * (dual_value(w) - (mass - 1)) + w->apart;
    result->sharp = rule->sharp ? sharp_value(w) + w->apart : NAN;
    return true;
}

/* Derives the over-relaxation from the rate of convergence between Gaussians, (sqrt(4 mu + s^2) -
 * s)^2 / (4 mu). Here s = epsilon / 2, and mu is the largest eigenvalue of the product of the
 * covariances (from Janati et al. 2020). Actual items converge slightly more slowly than
 * Gaussians. */
static double first_omega(const grid_pair *w, double epsilon)
{
    const double *a = w->end[0].item->cov, *b = w->end[1].item->cov;
    double half = 0.5 * (a[0] * b[0] + 2 * a[1] * b[1] + a[2] * b[2]), s = epsilon / 2;
    double det = (a[0] * a[2] - a[1] * a[1]) * (b[0] * b[2] - b[1] * b[1]);
    double mu = half + sqrt(fmax(0, half * half - det));
    double root = sqrt(4 * mu + s * s) - s, eta = root * root / (4 * mu);
    return sinkhorn_pace_omega(1 - 0.7 * (1 - eta));
}

bool sinkhorn_grid_solve(sinkhorn_grid *g, sinkhorn_result *result, int64_t i, int64_t j,
                         int worker)
{
    grid_pair *w = &g->pair[worker];
    int64_t cap = BASE_MIN(g->rule.max_iterations, SINKHORN_GRID_PASSES);
    load_pair(w, i, j);
    sinkhorn_pace pace = {.engine = &sinkhorn_engine_grid,
                          .tolerance = g->rule.tolerance,
                          .most_passes = SINKHORN_GRID_PASSES,
                          .omega = first_omega(w, g->rule.epsilon),
                          .since = -1}; /* the first iteration is not relaxed */
    if (!in_range(half_pass(w, 1, 1)))
        return false;
    for (int64_t k = 1; k <= cap; k++) {
        sinkhorn_seen seen = pass(w, k == 1 ? 1 : pace.omega);
        sinkhorn_verdict verdict = sinkhorn_pace_next(&pace, &seen);
        result->iterations = k;
        if (verdict == SINKHORN_FAR || verdict == SINKHORN_SLOW)
            return false;
        if (verdict == SINKHORN_DONE && settle(w, result))
            return true;
    }
    return false;
}

/* ---- bounds ---- */

/* Runs one iteration, and computes the dual value of f and the optimal g for it. This value
 * increases in every iteration. */
static bool evaluate_grid(void *state, int k, double *value)
{
    grid_pair *w = state;
    if (k > 0 && !in_range(half_pass(w, 0, k < 3 ? 1 : 1.5)))
        return false;
    if (!in_range(half_pass(w, 1, 1)))
        return false;
    *value = w->grid->rule.epsilon * dual_value(w) + w->apart;
    return true;
}

double sinkhorn_grid_bound(sinkhorn_grid *g, int64_t i, int64_t j, double enough, int evaluations,
                           int worker)
{
    grid_pair *w = &g->pair[worker];
    load_pair(w, i, j);
    return fmax(0, sinkhorn_dual_bound(evaluate_grid, w, evaluations, SINKHORN_GRID_PATIENCE,
                                       g->rule.epsilon, enough));
}
