/* The refined bound on a plane grid: a few relaxed Sinkhorn iterations at falling epsilon, started
 * from the potentials of the affine map between the Gaussians of the two items, then c-transforms.
 *
 * Entropic potentials are too smooth by about those of each item with itself (Feydy et al. 2019,
 * Pooladian et al. 2022), which are kept for every item and level: taking them off before the
 * c-transform, and putting those of the next level on, is worth several times the iterations. Items
 * are moved to their means first, W2^2 = |difference of means|^2 + W2^2 of the rest. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "ot/bounds.h"
#include "ot/refine_grid.h"

enum {
    MAX_SIDE = 64,
    N_LEVELS = 6,
    TABLE_BASE = MAX_SIDE + 2 * SIMD_LANES, /* place of distance 0 in a table of distances */
    TABLE_SIZE = 2 * TABLE_BASE,
    BOX_SIZE = (MAX_SIDE + 2) * MAX_SIDE,
    SELF_ITERATIONS = 6
};

typedef struct refine_item {
    int32_t first[2], size[2]; /* bounding box: rows, columns */
    int32_t ld;
    double mean[2]; /* in steps of the grid */
    double cov[3];  /* xx, xy, yy in length units */
} refine_item;

/* One end of a pair. */
typedef struct refine_side {
    const refine_item *item;
    int64_t n;
    const uint16_t *place; /* of each entry in the box */
    const double *weight;
    const float *self; /* scaling of the item with itself at the level */
    double *scaling;   /* n, padded */
    double *dense;     /* the box, 0 where the item has no point */
} refine_side;

/* A function of the distance along each axis, and for the second axis its mirror image. */
typedef struct axis_tables {
    double row[TABLE_SIZE], column[TABLE_SIZE], mirror[TABLE_SIZE];
} axis_tables;

typedef struct refine_room {
    refine_side side[2];
    axis_tables kernel, cost;
    double *sum, *half, *result; /* packed; box after one axis; box */
} refine_room;

struct refine_bound {
    ddsc_context *ctx;
    const measures *m;
    double step[2];
    double epsilon[N_LEVELS];
    refine_item *item;
    uint16_t *place; /* nnz */
    uint16_t *cell;  /* v: row and column of a support point */
    float *self;     /* N_LEVELS x nnz */
    double slack;
    int n_workers;
    refine_room *room;
};

/* ---- elementary kernels ---- */

SIMD_INLINE simd_f64 square_root(simd_f64 x)
{
    simd_f64 y;
    for (int k = 0; k < SIMD_LANES; k++)
        y[k] = __builtin_sqrt(x[k]);
    return y;
}

/* log of positive normal numbers to 1e-9: exponent, and 2 atanh((m - 1) / (m + 1)) by its series on
 * mantissas within [sqrt(1/2), sqrt(2)]. */
SIMD_INLINE simd_f64 rough_log(simd_f64 x)
{
    simd_i64 bits = (simd_i64)x - 0x3fe6a09e667f3bcd;
    simd_i64 exponent = bits >> 52;
    simd_f64 m = (simd_f64)((simd_i64)x - (exponent << 52));
    simd_f64 z = (m - 1.0) / (m + 1.0), z2 = z * z;
    simd_f64 series = 1.0 + z2 * (1.0 / 3 + z2 * (1.0 / 5 + z2 * (1.0 / 7 + z2 * (1.0 / 9))));
    return __builtin_convertvector(exponent, simd_f64) * 0x1.62e42fefa39efp-1 + 2.0 * z * series;
}

/* v <- plain sqrt(plain / v), plain = 1 / sums: over-relaxation by 3/2 in the logarithm. */
SIMD_CLONES static void relax(double *v, const double *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double plain = 1 / sums[k];
        v[k] = plain * __builtin_sqrt(plain / v[k]);
    }
}

/* s <- sqrt(s / sums): the averaged iteration of an item with itself. */
SIMD_CLONES static void average(double *s, const double *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        s[k] = __builtin_sqrt(s[k] / sums[k]);
}

/* Half of epsilon: the square; off with the self scaling of one level, on with that of the next. */
SIMD_CLONES static void square(double *u, const float *self, const float *next, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double bare = u[k] / (double)self[k];
        u[k] = bare * bare * (double)next[k];
    }
}

/* f = epsilon log(u / self), into f. */
SIMD_CLONES static void logarithm(double *f, const double *u, const float *self, double epsilon,
                                  int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        f[k] = u[k] / (double)self[k];
    for (int64_t k = n; k % SIMD_LANES != 0; k++)
        f[k] = 1;
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(f + k, epsilon * rough_log(simd_load(f + k)));
}

SIMD_CLONES static void exponential(double *x, int64_t n)
{
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(x + k, simd_exp(simd_load(x + k)));
}

/* ---- from one side to the other ---- */

typedef void (*mix_fn)(const grid_mix *x);

/* result on the box of side `to` from the dense values of the other, by one table an axis. */
static void carry(refine_room *w, int to, const axis_tables *t, mix_fn mix)
{
    const refine_item *x = w->side[1 - to].item, *y = w->side[to].item;
    int shift_row = x->first[0] - y->first[0], shift_column = y->first[1] - x->first[1];
    int sign = to == 1 ? 1 : -1; /* tables hold functions of (side 0) - (side 1) */
    grid_mix rows = {.out = w->half,
                     .ld = x->ld,
                     .rows = y->size[0],
                     .lanes = x->ld,
                     .coef = t->row + TABLE_BASE + sign * shift_row,
                     .row_step = -sign,
                     .step = sign,
                     .in = w->side[1 - to].dense,
                     .stride = x->ld,
                     .n = x->size[0]};
    grid_mix columns = {.out = w->result,
                        .ld = y->ld,
                        .rows = y->size[0],
                        .lanes = y->ld,
                        .coef = w->half,
                        .row_step = x->ld,
                        .step = 1,
                        .in = (to == 1 ? t->mirror : t->column) + TABLE_BASE + shift_column,
                        .stride = -1,
                        .n = x->size[1]};
    mix(&rows);
    mix(&columns);
}

static void gather(const refine_room *w, const refine_side *s, double *out)
{
    for (int64_t k = 0; k < s->n; k++)
        out[k] = w->result[s->place[k]];
}

static void scatter_mass(refine_side *s)
{
    for (int64_t k = 0; k < s->n; k++)
        s->dense[s->place[k]] = s->weight[k] * s->scaling[k];
}

static void fill_box(refine_side *s, double value)
{
    for (int64_t k = 0; k < (int64_t)s->item->size[0] * s->item->ld; k++)
        s->dense[k] = value;
}

static void half_iteration(refine_room *w, int to)
{
    scatter_mass(&w->side[1 - to]);
    carry(w, to, &w->kernel, grid_mix_sum);
    gather(w, &w->side[to], w->sum);
    relax(w->side[to].scaling, w->sum, w->side[to].n);
}

/* ---- tables ---- */

static void mirror_columns(axis_tables *t)
{
    for (int k = 1; k < TABLE_SIZE; k++)
        t->mirror[k] = t->column[TABLE_SIZE - k];
    t->mirror[0] = 0;
}

static void tables_fill(const refine_bound *b, refine_room *w, double epsilon)
{
    const refine_item *x = w->side[0].item, *y = w->side[1].item;
    for (int axis = 0; axis < 2; axis++) {
        double *cost = axis == 0 ? w->cost.row : w->cost.column;
        double *kernel = axis == 0 ? w->kernel.row : w->kernel.column;
        double shift = x->mean[axis] - y->mean[axis];
        for (int k = 0; k < TABLE_SIZE; k++) {
            double distance = b->step[axis] * ((double)(k - TABLE_BASE) - shift);
            cost[k] = distance * distance;
            kernel[k] = -cost[k] / epsilon;
        }
        exponential(kernel, TABLE_SIZE);
    }
    mirror_columns(&w->cost);
    mirror_columns(&w->kernel);
}

SIMD_CLONES static void tables_square(axis_tables *t)
{
    for (int k = 0; k < TABLE_SIZE; k++) {
        t->row[k] *= t->row[k];
        t->column[k] *= t->column[k];
        t->mirror[k] *= t->mirror[k];
    }
}

/* ---- one pair ---- */

static void side_set(const refine_bound *b, refine_side *s, int64_t i)
{
    item_view view = measures_item(b->m, i);
    s->item = &b->item[i];
    s->n = view.n;
    s->place = b->place + b->m->offset[i];
    s->weight = view.weight;
    s->self = b->self + b->m->offset[i];
}

/* M = A^-1 # B maps the Gaussian of covariance A to that of B; in the plane the geometric mean of P
 * and Q is sqrt(pq) S / sqrt(det S), S = P / p + Q / q, with p, q the roots of their determinants.
 */
static void affine_map(const double a[3], const double b[3], double m[3])
{
    double p = sqrt(a[0] * a[2] - a[1] * a[1]), q = sqrt(b[0] * b[2] - b[1] * b[1]);
    double s[3] = {a[2] / p + b[0] / q, b[1] / q - a[1] / p, a[0] / p + b[2] / q};
    double scale = sqrt(q / p / (s[0] * s[2] - s[1] * s[1]));
    for (int k = 0; k < 3; k++)
        m[k] = scale * s[k];
}

/* Scalings exp(f / epsilon) self of f(x) = x' (1 - M) x, x from the mean. */
static void gaussian_start(const refine_bound *b, refine_side *s, const double m[3], double epsilon)
{
    const refine_item *item = s->item;
    for (int64_t k = 0; k < s->n; k++) {
        double x = b->step[0] * (item->first[0] + s->place[k] / item->ld - item->mean[0]);
        double y = b->step[1] * (item->first[1] + s->place[k] % item->ld - item->mean[1]);
        double f = (1 - m[0]) * x * x - 2 * m[1] * x * y + (1 - m[2]) * y * y;
        s->scaling[k] = f / epsilon;
    }
    exponential(s->scaling, s->n);
    for (int64_t k = 0; k < s->n; k++)
        s->scaling[k] *= (double)s->self[k];
}

static void start(const refine_bound *b, refine_room *w)
{
    double there[3], back[3];
    affine_map(w->side[0].item->cov, w->side[1].item->cov, there);
    affine_map(w->side[1].item->cov, w->side[0].item->cov, back);
    tables_fill(b, w, b->epsilon[0]);
    gaussian_start(b, &w->side[0], there, b->epsilon[0]);
    gaussian_start(b, &w->side[1], back, b->epsilon[0]);
    fill_box(&w->side[0], 0);
    fill_box(&w->side[1], 0);
}

static double weighted_sum(const double *w, const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += w[k] * x[k];
    return sum;
}

/* Potentials of side 1 - to in `sum`: their c-transform on side `to` takes its place. */
static double transform(refine_room *w, int to)
{
    refine_side *from = &w->side[1 - to];
    fill_box(from, INFINITY);
    for (int64_t k = 0; k < from->n; k++)
        from->dense[from->place[k]] = -w->sum[k];
    carry(w, to, &w->cost, grid_mix_min);
    fill_box(from, 0);
    gather(w, &w->side[to], w->sum);
    return weighted_sum(w->side[to].weight, w->sum, w->side[to].n);
}

/* The value of the feasible pair (f^cc, f^c) of the potentials f at hand. */
static double feasible_value(const refine_bound *b, refine_room *w, double epsilon)
{
    const refine_side *x = &w->side[0], *y = &w->side[1];
    logarithm(w->sum, x->scaling, x->self, epsilon, x->n);
    double value = transform(w, 1) + transform(w, 0);
    for (int axis = 0; axis < 2; axis++) {
        double shift = b->step[axis] * (x->item->mean[axis] - y->item->mean[axis]);
        value += shift * shift;
    }
    return isfinite(value) ? value - b->slack : 0;
}

static void next_level(const refine_bound *b, refine_room *w)
{
    for (int k = 0; k < 2; k++) {
        refine_side *s = &w->side[k];
        square(s->scaling, s->self, s->self + b->m->nnz, s->n);
        s->self += b->m->nnz;
    }
    tables_square(&w->kernel);
}

/* Iterations and checks at each level: most candidates are far away and fall at the first check. */
static const struct {
    int iterations;
    bool check;
    double hopeless; /* a bound below this part of what is enough will not get there */
} schedule[N_LEVELS] = {{1, true, 0.7}, {1, false, 0},  {1, true, 0.9},
                        {1, false, 0},  {1, true, 0.95}, {1, true, 0}};

double refine_pair(refine_bound *b, int64_t i, int64_t j, double enough, int worker)
{
    refine_room *w = &b->room[worker];
    double best = 0;
    side_set(b, &w->side[0], i);
    side_set(b, &w->side[1], j);
    start(b, w);
    for (int level = 0; level < N_LEVELS; level++) {
        if (level > 0)
            next_level(b, w);
        for (int k = 0; k < schedule[level].iterations; k++) {
            half_iteration(w, 1);
            half_iteration(w, 0);
        }
        if (schedule[level].check)
            best = fmax(best, feasible_value(b, w, b->epsilon[level]));
        if (best > enough || best < schedule[level].hopeless * enough)
            break;
    }
    return best;
}

/* ---- preparation ---- */

static void item_box(refine_bound *b, int64_t i)
{
    item_view view = measures_item(b->m, i);
    int last[2] = {-1, -1}, first[2] = {MAX_SIDE, MAX_SIDE};
    for (int64_t k = 0; k < view.n; k++) {
        int at[2] = {b->cell[view.index[k]] / MAX_SIDE, b->cell[view.index[k]] % MAX_SIDE};
        for (int axis = 0; axis < 2; axis++) {
            first[axis] = BASE_MIN(first[axis], at[axis]);
            last[axis] = BASE_MAX(last[axis], at[axis]);
        }
    }
    refine_item *item = &b->item[i];
    for (int axis = 0; axis < 2; axis++) {
        item->first[axis] = first[axis];
        item->size[axis] = last[axis] - first[axis] + 1;
    }
    item->ld = (item->size[1] + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    for (int64_t k = 0; k < view.n; k++)
        b->place[b->m->offset[i] + k] =
            (uint16_t)((b->cell[view.index[k]] / MAX_SIDE - first[0]) * item->ld +
                       b->cell[view.index[k]] % MAX_SIDE - first[1]);
}

/* Mean and covariance; that of a single cell is added, so that lines and points have a map too. */
static void item_moments(refine_bound *b, int64_t i)
{
    item_view view = measures_item(b->m, i);
    refine_item *item = &b->item[i];
    item->mean[0] = item->mean[1] = 0;
    for (int64_t k = 0; k < view.n; k++) {
        item->mean[0] += view.weight[k] * (double)(b->cell[view.index[k]] / MAX_SIDE);
        item->mean[1] += view.weight[k] * (double)(b->cell[view.index[k]] % MAX_SIDE);
    }
    item->cov[0] = b->step[0] * b->step[0] / 12;
    item->cov[1] = 0;
    item->cov[2] = b->step[1] * b->step[1] / 12;
    for (int64_t k = 0; k < view.n; k++) {
        double x = b->step[0] * (b->cell[view.index[k]] / MAX_SIDE - item->mean[0]);
        double y = b->step[1] * (b->cell[view.index[k]] % MAX_SIDE - item->mean[1]);
        item->cov[0] += view.weight[k] * x * x;
        item->cov[1] += view.weight[k] * x * y;
        item->cov[2] += view.weight[k] * y * y;
    }
}

static void item_self(refine_bound *b, refine_room *w, int64_t i)
{
    refine_side *s = &w->side[0];
    side_set(b, s, i);
    side_set(b, &w->side[1], i);
    tables_fill(b, w, b->epsilon[0]);
    fill_box(s, 0);
    for (int64_t k = 0; k < s->n; k++)
        s->scaling[k] = 1;
    for (int level = 0; level < N_LEVELS; level++) {
        for (int t = 0; t < SELF_ITERATIONS; t++) {
            scatter_mass(s);
            carry(w, 1, &w->kernel, grid_mix_sum);
            gather(w, s, w->sum);
            average(s->scaling, w->sum, s->n);
        }
        float *self = b->self + level * b->m->nnz + b->m->offset[i];
        for (int64_t k = 0; k < s->n; k++)
            self[k] = (float)fmin(fmax(s->scaling[k], 1e-30), 1e30);
        tables_square(&w->kernel);
    }
}

static ddsc_status prepare_range(void *arg, int64_t begin, int64_t end, int worker)
{
    refine_bound *b = arg;
    for (int64_t i = begin; i < end; i++) {
        item_box(b, i);
        item_moments(b, i);
        item_self(b, &b->room[worker], i);
    }
    return DDSC_OK;
}

static ddsc_status room_make(ddsc_context *ctx, refine_room *w, int64_t largest)
{
    ddsc_status status = DDSC_OK;
    int64_t padded = (largest + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    for (int k = 0; k < 2; k++) {
        TRY(MEM_ZERO(ctx, w->side[k].scaling, padded));
        TRY(MEM_NEW(ctx, w->side[k].dense, BOX_SIZE));
    }
    TRY(MEM_ZERO(ctx, w->sum, padded));
    TRY(MEM_NEW(ctx, w->half, BOX_SIZE));
    TRY(MEM_NEW(ctx, w->result, BOX_SIZE));
done:
    return status;
}

static void room_free(ddsc_context *ctx, refine_room *w)
{
    for (int k = 0; k < 2; k++) {
        mem_free(ctx, w->side[k].scaling);
        mem_free(ctx, w->side[k].dense);
    }
    mem_free(ctx, w->sum);
    mem_free(ctx, w->half);
    mem_free(ctx, w->result);
}

void refine_free(refine_bound *b)
{
    if (!b)
        return;
    for (int k = 0; b->room && k < b->n_workers; k++)
        room_free(b->ctx, &b->room[k]);
    mem_free(b->ctx, b->room);
    mem_free(b->ctx, b->item);
    mem_free(b->ctx, b->place);
    mem_free(b->ctx, b->cell);
    mem_free(b->ctx, b->self);
    mem_free(b->ctx, b);
}

bool refine_applies(const measures *m)
{
    return m->grid.found && m->d == 2 && m->grid.shape[0] <= MAX_SIDE &&
           m->grid.shape[1] <= MAX_SIDE;
}

static void fill_cells(refine_bound *b)
{
    const measures_grid *grid = &b->m->grid;
    for (int64_t r = 0; r < b->m->v; r++) {
        const double *x = measures_point(b->m, (int32_t)r);
        int64_t row = (int64_t)round((x[0] - grid->origin[0]) / grid->step[0]);
        int64_t column = (int64_t)round((x[1] - grid->origin[1]) / grid->step[1]);
        b->cell[r] = (uint16_t)(row * MAX_SIDE + column);
    }
}

ddsc_status refine_make(ddsc_context *ctx, refine_bound **out, const measures *m, double scale)
{
    ddsc_status status = DDSC_OK;
    refine_bound *b = NULL;
    (void)scale;
    TRY(MEM_ZERO(ctx, b, 1));
    *b = (refine_bound){.ctx = ctx, .m = m, .n_workers = parallel_width(ctx)};
    for (int k = 0; k < N_LEVELS; k++)
        b->epsilon[k] = ldexp(8, -k);
    for (int axis = 0; axis < 2; axis++) {
        b->step[axis] = m->grid.step[axis];
        double extent = b->step[axis] * (double)m->grid.shape[axis];
        b->slack += 1e-8 * extent * extent;
    }
    TRY(MEM_NEW(ctx, b->item, m->n));
    TRY(MEM_NEW(ctx, b->place, m->nnz));
    TRY(MEM_NEW(ctx, b->cell, m->v));
    TRY(MEM_NEW(ctx, b->self, N_LEVELS * m->nnz));
    TRY(MEM_ZERO(ctx, b->room, b->n_workers));
    for (int k = 0; k < b->n_workers; k++)
        TRY(room_make(ctx, &b->room[k], measures_largest_item(m)));
    fill_cells(b);
    TRY(parallel_for(ctx, m->n, 8, prepare_range, b));
    *out = b;
    b = NULL;
done:
    refine_free(b);
    return status;
}
