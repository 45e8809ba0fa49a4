/* The refined bound on a plane grid: a few relaxed Sinkhorn iterations at falling epsilon, started
 * from the potentials of the affine map between the Gaussians of the two items, then c-transforms.
 *
 * Entropic potentials are too smooth by about those of each item with itself (Feydy et al. 2019,
 * Pooladian et al. 2022), which are kept for every item and level: taking them off before the
 * c-transform, and putting those of the next level on, is worth several times the iterations. Items
 * are moved to their means first, W2^2 = |difference of means|^2 + W2^2 of the rest. */
#include "ot/refine.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

/* ---- from one side to the other ---- */

typedef void (*mix_fn)(const grid_mix *x);

/* result on the box of side `to` from values on the box of the other, by one table an axis. */
static void carry(refine_room *w, int to, const float *from, const axis_tables *t, mix_fn mix)
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
                     .in = from,
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

static void gather(const refine_room *w, const refine_side *s, float *out)
{
    for (int64_t k = 0; k < s->n; k++)
        out[k] = w->result[s->place[k]];
}

void fill_box(const refine_item *item, float *box, float value)
{
    for (int64_t k = 0; k < (int64_t)item->size[0] * item->ld; k++)
        box[k] = value;
}

/* packed = kernel times the mass of the other side. */
void kernel_sums(refine_room *w, int to)
{
    const refine_side *from = &w->side[1 - to];
    for (int64_t k = 0; k < from->n; k++)
        from->mass[from->place[k]] = (float)from->weight[k] * from->scaling[k];
    carry(w, to, from->mass, &w->kernel, grid_mix_sum);
    gather(w, &w->side[to], w->packed);
}

static void half_iteration(refine_room *w, int to)
{
    kernel_sums(w, to);
    scaling_relax(w->side[to].scaling, w->packed, w->side[to].n);
}

/* ---- tables ---- */

SIMD_CLONES static void exponential(double *x, int64_t n)
{
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(x + k, simd_exp(simd_load(x + k)));
}

/* Costs (t - shift)^2 and kernels exp(-cost / epsilon) for the distances t between two boxes, in
 * steps, and some lanes more. Tiny kernels are left out: they would only make denormal products. */
static void axis_fill(double step, double shift, double epsilon, int low, int high, float *cost,
                      float *kernel)
{
    double exponent[TABLE_SIZE] = {0};
    for (int t = low; t <= high; t++) {
        double distance = step * ((double)t - shift);
        cost[TABLE_BASE + t] = (float)(distance * distance);
        exponent[t - low] = fmax(-distance * distance / epsilon, -700);
    }
    exponential(exponent, high - low + 1);
    for (int t = low; t <= high; t++)
        kernel[TABLE_BASE + t] = exponent[t - low] < 1e-18 ? 0 : (float)exponent[t - low];
}

static void mirror(axis_tables *t, int low, int high)
{
    for (int k = low; k <= high; k++)
        t->mirror[TABLE_BASE - k] = t->column[TABLE_BASE + k];
}

void tables_fill(const refine_bound *b, refine_room *w, double epsilon)
{
    const refine_item *x = w->side[0].item, *y = w->side[1].item;
    for (int axis = 0; axis < 2; axis++) {
        int low = x->first[axis] - y->first[axis] - y->size[axis] - GRID_LANES;
        int high = x->first[axis] + x->size[axis] - y->first[axis] + GRID_LANES;
        double shift = x->mean[axis] - y->mean[axis];
        axis_fill(b->step[axis], shift, epsilon, low, high,
                  axis == 0 ? w->cost.row : w->cost.column,
                  axis == 0 ? w->kernel.row : w->kernel.column);
        if (axis == 1) {
            mirror(&w->cost, low, high);
            mirror(&w->kernel, low, high);
        }
    }
}

SIMD_CLONES static void table_square(float *t)
{
    for (int k = 0; k < TABLE_SIZE; k++)
        t[k] = t[k] < 1e-9f ? 0 : t[k] * t[k];
}

void tables_square(axis_tables *t)
{
    table_square(t->row);
    table_square(t->column);
    table_square(t->mirror);
}

/* ---- one pair ---- */

void side_set(const refine_bound *b, refine_side *s, int64_t i)
{
    item_view view = measures_item(b->m, i);
    s->item = &b->item[i];
    s->n = view.n;
    s->cell = b->cell + b->m->offset[i];
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
static void gaussian_start(const refine_bound *b, refine_room *w, refine_side *s, const double m[3])
{
    const refine_item *item = s->item;
    for (int64_t k = 0; k < s->n; k++) {
        double x = b->step[0] * ((double)(s->cell[k] / MAX_SIDE) - item->mean[0]);
        double y = b->step[1] * ((double)(s->cell[k] % MAX_SIDE) - item->mean[1]);
        double f = (1 - m[0]) * x * x - 2 * m[1] * x * y + (1 - m[2]) * y * y;
        w->wide[k] = f / b->epsilon[0];
    }
    exponential(w->wide, s->n);
    for (int64_t k = 0; k < s->n; k++)
        s->scaling[k] = (float)w->wide[k] * s->self[k];
    fill_box(item, s->mass, 0);
    fill_box(item, s->wall, INFINITY);
}

static void start(const refine_bound *b, refine_room *w, int64_t i, int64_t j)
{
    double there[3], back[3];
    side_set(b, &w->side[0], i);
    side_set(b, &w->side[1], j);
    affine_map(w->side[0].item->cov, w->side[1].item->cov, there);
    affine_map(w->side[1].item->cov, w->side[0].item->cov, back);
    tables_fill(b, w, b->epsilon[0]);
    gaussian_start(b, w, &w->side[0], there);
    gaussian_start(b, w, &w->side[1], back);
}

/* Potentials of side 1 - to in `packed`: their c-transform on side `to` takes its place. Returns
 * its mean; *largest is raised to its largest magnitude. */
static double transform(refine_room *w, int to, double *largest)
{
    const refine_side *from = &w->side[1 - to], *onto = &w->side[to];
    double sum = 0;
    for (int64_t k = 0; k < from->n; k++)
        from->wall[from->place[k]] = -w->packed[k];
    carry(w, to, from->wall, &w->cost, grid_mix_min);
    gather(w, onto, w->packed);
    for (int64_t k = 0; k < onto->n; k++) {
        sum += onto->weight[k] * (double)w->packed[k];
        *largest = fmax(*largest, fabs((double)w->packed[k]));
    }
    return sum;
}

/* The value of the feasible pair (f^cc, f^c) of the potentials f at hand. Only the second transform
 * is rounded against the first as it stands: two sums with terms of magnitude c and `largest`,
 * where c <= 4 largest; other pairs of points cannot be violated. */
static double feasible_value(const refine_bound *b, refine_room *w, double epsilon)
{
    const refine_side *x = &w->side[0], *y = &w->side[1];
    double largest = 0;
    scaling_log(w->packed, x->scaling, x->self, (float)epsilon, x->n);
    double value = transform(w, 1, &largest);
    value += transform(w, 0, &largest);
    for (int axis = 0; axis < 2; axis++) {
        double shift = b->step[axis] * (x->item->mean[axis] - y->item->mean[axis]);
        value += shift * shift;
    }
    value = b->unit * b->unit * (value - largest * 0x1p-20 - b->slack);
    return isfinite(value) ? value : 0;
}

static void next_level(const refine_bound *b, refine_room *w)
{
    for (int k = 0; k < 2; k++) {
        refine_side *s = &w->side[k];
        scaling_square(s->scaling, s->self, s->self + b->m->nnz, s->n);
        s->self += b->m->nnz;
    }
    tables_square(&w->kernel);
}

/* Most candidates are far away and fall at the first check; a bound below the given part of what is
 * enough will not get there. */
static const struct {
    bool check;
    double hopeless;
} schedule[N_LEVELS] = {{true, 0.6}, {false, 0}, {true, 0.85}, {true, 0}};

/* One iteration at each of some levels. */
static void run_levels(const refine_bound *b, refine_room *w, int begin, int end)
{
    for (int level = begin; level < end; level++) {
        if (level > 0)
            next_level(b, w);
        half_iteration(w, 1);
        half_iteration(w, 0);
    }
}

double refine_pair(refine_bound *b, int64_t i, int64_t j, double enough, int worker)
{
    refine_room *w = &b->room[worker];
    double best = 0;
    start(b, w, i, j);
    if (!isfinite(enough)) {
        run_levels(b, w, 0, START_LEVELS);
        return fmax(0, feasible_value(b, w, b->epsilon[START_LEVELS - 1]));
    }
    for (int level = 0; level < N_LEVELS; level++) {
        run_levels(b, w, level, level + 1);
        if (schedule[level].check)
            best = fmax(best, feasible_value(b, w, b->epsilon[level]));
        if (best > enough || best < schedule[level].hopeless * enough)
            break;
    }
    return best;
}

/* Potentials for the points where they are, no longer from the means: with d the difference of the
 * means, |x - y - d|^2 and |x - y|^2 differ by 2 d x - 2 d y and a constant. */
const double *refine_start(refine_bound *b, int64_t i, int64_t j, int worker)
{
    refine_room *w = &b->room[worker];
    const refine_side *x = &w->side[0], *y = &w->side[1];
    double slope[2], largest = 0;
    start(b, w, i, j);
    run_levels(b, w, 0, START_LEVELS);
    scaling_log(w->packed, x->scaling, x->self, (float)b->epsilon[START_LEVELS - 1], x->n);
    transform(w, 1, &largest);
    if (!isfinite(largest))
        return NULL;
    for (int axis = 0; axis < 2; axis++)
        slope[axis] =
            2 * b->step[axis] * b->step[axis] * (x->item->mean[axis] - y->item->mean[axis]);
    for (int64_t k = 0; k < y->n; k++)
        w->wide[k] = b->unit * b->unit *
                     ((double)w->packed[k] - slope[0] * (y->cell[k] / MAX_SIDE) -
                      slope[1] * (y->cell[k] % MAX_SIDE));
    return w->wide;
}
