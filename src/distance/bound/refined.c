/* Computes the refined bound on W2 by a few scaling iterations in floats.
 *
 * For any f on the points of one item, let f^c(y) = min_x (c(x, y) - f(x)). The pair (f^cc, f^c) is
 * feasible for the dual problem, so
 *
 *     W2^2 >= sum a f^cc + sum b f^c.
 *
 * The bound is tight if f is close to an optimal potential. A good f is computed by relaxed
 * Sinkhorn iterations at decreasing epsilon. They start from the potentials of the affine map
 * between the Gaussians of the two items.
 *
 * Entropic potentials are too smooth. The error is approximately the potential of each item with
 * itself (Feydy et al. 2019, Pooladian et al. 2022). These self potentials are stored for every
 * item and level. They are subtracted before a c-transform, and exchanged for those of the next
 * level when the level changes. Without this correction, several times as many iterations would be
 * necessary.
 *
 * A margin for the rounding errors of the second c-transform is subtracted, so the result never
 * exceeds W2^2. An iteration and a c-transform each cost one product with the coupling: O(h w (h +
 * w)) on a grid (refined_grid.c) and O(n m) otherwise (refined_dense.c). The computation stops as
 * soon as the bound reaches the required value or is unlikely to reach it. */
#include "base/team.h"
#include "distance/bound/refined.h"

#include <math.h>
#include <string.h>

/* ---- steps ---- */

static void side_set(const bound_refined *b, refined_side *s, int64_t i)
{
    item_view view = measures_item(b->m, i);
    s->item = i;
    s->n = view.n;
    s->weight = view.weight;
    s->self = b->self + b->m->offset[i];
}

static void couple(const bound_refined *b, refined_pair *w, int64_t i, int64_t j)
{
    side_set(b, &w->side[0], i);
    side_set(b, &w->side[1], j);
    b->coupling->couple(b, w, b->epsilon[0]);
}

/* Initializes the scalings to exp(f / epsilon) self for the affine potentials f. */
static void begin(const bound_refined *b, refined_pair *w, int64_t i, int64_t j)
{
    couple(b, w, i, j);
    for (int k = 0; k < 2; k++) {
        refined_side *s = &w->side[k];
        b->coupling->affine(b, w, k);
        bound_scaling_exp(s->scaling, w->wide, s->self, 1 / b->epsilon[0], s->n);
    }
}

/* Runs one iteration at each level, and two iterations with larger steps at the fine levels. */
static void refine_levels(const bound_refined *b, refined_pair *w, int from, int to)
{
    for (int level = from; level < to; level++) {
        bool fine = level >= BOUND_PAIR_LEVELS;
        for (int k = 0; level > 0 && k < 2; k++) {
            refined_side *s = &w->side[k];
            bound_scaling_square(s->scaling, s->self, s->self + b->stride, s->n);
            s->self += b->stride;
        }
        if (level > 0)
            bound_kernel_square(w->kernel, w->kernel_size);
        for (int half = 0; half < (fine ? 4 : 2); half++) {
            refined_side *s = &w->side[1 - half % 2];
            b->coupling->sums(b, w, 1 - half % 2);
            bound_scaling_relax(s->scaling, w->packed, fine, s->n);
        }
    }
}

/* ---- from scalings to potentials ---- */

/* Computes the c-transform of the packed values. Returns its mean, and updates its largest
 * magnitude. */
static double transform(const bound_refined *b, refined_pair *w, int to, double *largest)
{
    const refined_side *onto = &w->side[to];
    double sum = 0;
    b->coupling->transform(b, w, to);
    for (int64_t k = 0; k < onto->n; k++) {
        double value = (double)w->packed[k], size = fabs(value);
        sum += onto->weight[k] * value;
        *largest = size <= *largest ? *largest : size; /* keeps NaN */
    }
    return sum;
}

/* Computes f^c on side 1 from the current potentials f. */
static double first_transform(const bound_refined *b, refined_pair *w, int level, double *largest)
{
    const refined_side *x = &w->side[0];
    *largest = 0;
    bound_scaling_log(w->packed, x->scaling, x->self, (float)b->epsilon[level], x->n);
    return transform(b, w, 1, largest);
}

/* Returns the value of the feasible pair (f^cc, f^c) from the current f^c. The rounding margin
 * covers only the second transform, because the pair uses the first transform as computed. */
static double second_transform(const bound_refined *b, refined_pair *w, double first,
                               double largest)
{
    const double *rounding = b->rounding;
    double value = first + transform(b, w, 0, &largest);
    for (int64_t c = 0; c < b->m->d; c++)
        value += b->coupling->shift(b, w, c) * b->coupling->shift(b, w, c);
    value -= rounding[0] + rounding[1] * sqrt(largest) + rounding[2] * largest;
    value *= b->unit * b->unit;
    return isfinite(value) ? value : 0;
}

static double feasible_value(const bound_refined *b, refined_pair *w, int level)
{
    double largest, first = first_transform(b, w, level, &largest);
    return second_transform(b, w, first, largest);
}

/* ---- pairs ---- */

/* The computation stops after a level if the bound is below this fraction of the required value,
 * which it is then unlikely to reach. Most candidates are far away and are rejected after the first
 * level. */
static const double hopeless[BOUND_PAIR_LEVELS] = {0.6, -1 /* no check */, 0.85, 0.92, 0};

double bound_refined_pair(bound_refined *b, int64_t i, int64_t j, double enough, int worker)
{
    refined_pair *w = &b->pair[worker];
    double best = 0;
    begin(b, w, i, j);
    if (!isfinite(enough)) {
        refine_levels(b, w, 0, BOUND_START_LEVELS);
        return fmax(0, feasible_value(b, w, BOUND_START_LEVELS - 1));
    }
    for (int level = 0; level < BOUND_PAIR_LEVELS; level++) {
        refine_levels(b, w, level, level + 1);
        if (hopeless[level] < 0)
            continue;
        best = fmax(best, feasible_value(b, w, level));
        if (best > enough || best < hopeless[level] * enough)
            break;
    }
    return best;
}

/* Runs the first levels, and derives from f^c the potentials from which a solve starts, for points
 * at their original positions instead of relative to the means. If d is the difference of the
 * means, |x - y - d|^2 and |x - y|^2 differ by 2 d x - 2 d y and a constant. */
static double start_levels(const bound_refined *b, refined_pair *w, int64_t i, int64_t j,
                           double *largest)
{
    double y[BOUND_POINT_DIM], shift[BOUND_POINT_DIM];
    begin(b, w, i, j);
    for (int64_t c = 0; c < b->m->d; c++)
        shift[c] = b->coupling->shift(b, w, c);
    refine_levels(b, w, 0, BOUND_START_LEVELS);
    double first = first_transform(b, w, BOUND_START_LEVELS - 1, largest);
    w->started[0] = i;
    w->started[1] = j;
    w->start_finite = isfinite(*largest);
    for (int64_t k = 0; w->start_finite && k < w->side[1].n; k++) {
        double g = (double)w->packed[k];
        b->coupling->point(b, w, k, y);
        for (int64_t c = 0; c < b->m->d; c++)
            g -= 2 * shift[c] * y[c];
        w->start[k] = b->unit * b->unit * g;
    }
    return first;
}

double bound_refined_last(bound_refined *b, int64_t i, int64_t j, double enough, int worker)
{
    refined_pair *w = &b->pair[worker];
    double largest, first = start_levels(b, w, i, j, &largest);
    double best = fmax(0, second_transform(b, w, first, largest));
    if (best > enough || best < BOUND_HOPELESS_LAST * enough)
        return best;
    refine_levels(b, w, BOUND_START_LEVELS, BOUND_REFINED_LEVELS);
    return fmax(best, feasible_value(b, w, BOUND_REFINED_LEVELS - 1));
}

const double *bound_refined_start(bound_refined *b, int64_t i, int64_t j, int worker)
{
    refined_pair *w = &b->pair[worker];
    double largest;
    if (w->started[0] != i || w->started[1] != j)
        start_levels(b, w, i, j, &largest);
    return w->start_finite ? w->start : NULL;
}

/* ---- on a device ---- */

const device_grid *bound_refined_for_device(bound_refined *b)
{
    if (!b || b->coupling != &bound_refined_grid || b->stride != b->m->nnz)
        return NULL;
    b->grid = (device_grid){.n = b->m->n,
                            .side = SINKHORN_GRID_SIDE,
                            .offset = b->m->offset,
                            .weight = b->m->weight,
                            .cell = b->items.cell,
                            .mean = b->mean,
                            .cov = b->cov,
                            .step = {b->step[0], b->step[1]},
                            .rounding = b->rounding[0],
                            .unit = b->unit * b->unit,
                            .n_levels = BOUND_REFINED_LEVELS,
                            .n_start = BOUND_START_LEVELS,
                            .n_pair = BOUND_PAIR_LEVELS,
                            .epsilon = b->epsilon,
                            .self = b->self,
                            .hopeless = hopeless,
                            .hopeless_tight = BOUND_HOPELESS_LAST};
    return &b->grid;
}

/* ---- preparation ---- */

/* Computes the scalings of an item with itself. The common factor is arbitrary, but must stay
 * within the range of normal floats. */
static ddsc_status own_range(void *arg, int64_t begin_item, int64_t end_item, int worker)
{
    bound_refined *b = arg;
    refined_pair *w = &b->pair[worker];
    refined_side *s = &w->side[0];
    for (int64_t i = b->first + begin_item; i < b->first + end_item; i++) {
        couple(b, w, i, i);
        for (int64_t k = 0; k < s->n; k++)
            s->scaling[k] = 1;
        for (int level = 0; level < BOUND_REFINED_LEVELS; level++) {
            float *self = b->self + level * b->stride + b->m->offset[i];
            for (int t = 0; t < BOUND_SELF_ITERATIONS; t++) {
                b->coupling->sums(b, w, 1);
                bound_scaling_average(s->scaling, w->packed, s->n);
            }
            for (int64_t k = 0; k < s->n; k++)
                self[k] = fminf(fmaxf(s->scaling[k], 1e-12f), 1e12f);
            bound_kernel_square(w->kernel, w->kernel_size);
        }
    }
    return DDSC_OK;
}

bool bound_refined_applies(const measures *m)
{
    return m->n >= BOUND_REFINED_ITEMS && (sinkhorn_grid_fits(m) || bound_refined_dense_applies(m));
}

bool bound_refined_may_start(const bound_refined *b, int64_t i, int64_t j)
{
    return b->frame.kind == FRAME_GRID || (measures_item(b->m, i).n <= BOUND_START_SIZE &&
                                           measures_item(b->m, j).n <= BOUND_START_SIZE);
}

/* For large point clouds, the starting potentials that the solver computes are equally good. */
bool bound_refined_starts(const measures *m)
{
    return bound_refined_applies(m) &&
           (sinkhorn_grid_fits(m) || measures_largest_item(m) <= BOUND_START_SIZE);
}

void bound_refined_destroy(bound_refined *b)
{
    if (!b)
        return;
    sinkhorn_grid_items_free(b->ctx, &b->items);
    team_unshare(b->ctx, b->self);
    MEM_FREE(b->ctx, b->mean, b->cov, b->variance, b->floats, b->doubles, b->pair, b);
}

static ddsc_status scalings_open(bound_refined *b)
{
    int n_workers = parallel_width(b->ctx);
    int64_t n = b->largest;
    CHECK(MEM_ZERO(b->ctx, b->pair, n_workers));
    CHECK(MEM_ZERO(b->ctx, b->floats, n_workers * (3 * n + b->n_own)));
    CHECK(MEM_ZERO(b->ctx, b->doubles, n_workers * 2 * n));
    for (int k = 0; k < n_workers; k++) {
        refined_pair *w = &b->pair[k];
        float *at = b->floats + k * (3 * n + b->n_own);
        w->side[0].scaling = at;
        w->side[1].scaling = at + n;
        w->packed = at + 2 * n;
        w->own = at + 3 * n;
        w->wide = b->doubles + k * 2 * n;
        w->start = w->wide + n;
        w->started[0] = w->started[1] = -1;
    }
    return DDSC_OK;
}

ddsc_status bound_refined_create(ddsc_context *ctx, bound_refined **out, const measures *m,
                                 const pair_frame *frame)
{
    ddsc_status status = DDSC_OK;
    bound_refined *b = NULL;
    TRY(MEM_ZERO(ctx, b, 1));
    *b = (bound_refined){.ctx = ctx, .m = m, .stride = measures_entry_capacity(m)};
    b->largest = (measures_largest_item(m) / BOUND_VECTOR + 1) * BOUND_VECTOR;
    b->frame = frame ? *frame : bound_refined_frame(m);
    b->unit = b->frame.unit;
    b->coupling = b->frame.kind == FRAME_GRID ? &bound_refined_grid : &bound_refined_dense;
    TRY(MEM_NEW(ctx, b->mean, measures_item_capacity(m) * m->d));
    TRY(b->coupling->open(b));
    for (int k = 0; k < BOUND_REFINED_LEVELS; k++)
        b->epsilon[k] = ldexp(BOUND_EPSILON_SHARE * b->frame.spread, -k);
    TRY(team_table_new(ctx, &b->self,
                       (BOUND_REFINED_LEVELS * b->stride + BOUND_VECTOR) *
                           (int64_t)sizeof *b->self));
    if (!team_table_of(ctx, b->self)) { /* shared memory is already zero */
        memset(b->self + BOUND_REFINED_LEVELS * b->stride, 0, BOUND_VECTOR * sizeof *b->self);
        for (int level = 0; b->stride > m->nnz && level < BOUND_REFINED_LEVELS; level++)
            memset(b->self + level * b->stride + m->nnz, 0,
                   (size_t)(b->stride - m->nnz) * sizeof *b->self);
    }
    TRY(scalings_open(b));
    TRY(team_for(ctx, m->n, 8, own_range, b));
    for (int level = 0; level < BOUND_REFINED_LEVELS; level++)
        TRY(team_gather_entries(ctx, b->self + level * b->stride, m->offset, m->n, 8,
                                sizeof *b->self));
    *out = b;
    b = NULL;
done:
    bound_refined_destroy(b);
    return status;
}

ddsc_status bound_refined_grow(bound_refined *b, int64_t first)
{
    CHECK(b->coupling->grow(b, first));
    b->first = first;
    return parallel_for(b->ctx, b->m->n - first, 8, own_range, b);
}
