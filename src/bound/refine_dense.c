/* Coupling by a dense matrix of squared distances, for items with points of their own. */
#include <math.h>

#include "bound/refine.h"

enum { MIN_MEAN_SIZE = 24, MAX_SIZE = 1024, MAX_DIM = 64 };

static const float FAR_AWAY = 1e15f; /* coordinates of padding */

typedef struct dense_set {
    double *mean, *variance; /* n x d, in units */
    double farthest;         /* largest coordinate from a mean */
} dense_set;

typedef struct dense_room {
    int64_t ld;           /* of the matrices: side 1, padded */
    float *cost, *kernel; /* side 0 x ld */
    float *x;             /* side 0 x d, from the mean */
    float *y;             /* d x ld, from the mean */
    float *mass;          /* of the side being summed over */
} dense_room;

bool refine_dense_applies(const measures *m)
{
    return m->d > 1 && m->d <= MAX_DIM && m->nnz >= MIN_MEAN_SIZE * m->n &&
           measures_largest_item(m) <= MAX_SIZE;
}

static int64_t padded(int64_t n)
{
    return (n + REFINE_LANES - 1) / REFINE_LANES * REFINE_LANES;
}

/* ---- one pair ---- */

/* Points of side k from their mean: rows for side 0, columns for side 1. */
static void take_points(const refine_bound *b, const refine_room *w, int k, float *out,
                        int64_t point_step, int64_t axis_step)
{
    const dense_set *set = b->set;
    item_view view = measures_item(b->m, w->side[k].item);
    const double *mean = set->mean + w->side[k].item * b->m->d;
    for (int64_t p = 0; p < view.n; p++)
        for (int64_t c = 0; c < b->m->d; c++)
            out[p * point_step + c * axis_step] =
                (float)(measures_point(b->m, view.index[p])[c] / b->unit - mean[c]);
}

static void dense_couple(const refine_bound *b, refine_room *w, double epsilon)
{
    dense_room *r = w->own;
    int64_t n = w->side[0].n, d = b->m->d;
    r->ld = padded(w->side[1].n);
    take_points(b, w, 0, r->x, d, 1);
    take_points(b, w, 1, r->y, 1, r->ld);
    for (int64_t c = 0; c < d; c++)
        for (int64_t p = w->side[1].n; p < r->ld; p++)
            r->y[c * r->ld + p] = FAR_AWAY;
    for (int64_t i = 0; i < n; i++)
        dense_distances(r->cost + i * r->ld, r->x + i * d, r->y, d, r->ld);
    kernel_exp(r->kernel, r->cost, (float)(-1 / epsilon), n * r->ld);
}

/* Axis by axis f(x) = (1 - s) x^2, s the ratio of the standard deviations. */
static void dense_affine(const refine_bound *b, refine_room *w, int k)
{
    const dense_set *set = b->set;
    const dense_room *r = w->own;
    const double *own = set->variance + w->side[k].item * b->m->d;
    const double *other = set->variance + w->side[1 - k].item * b->m->d;
    int64_t point_step = k == 0 ? b->m->d : 1, axis_step = k == 0 ? 1 : r->ld;
    const float *points = k == 0 ? r->x : r->y;
    for (int64_t p = 0; p < w->side[k].n; p++)
        w->wide[p] = 0;
    for (int64_t c = 0; c < b->m->d; c++) {
        double bend = own[c] > 0 ? 1 - sqrt(other[c] / own[c]) : 0;
        for (int64_t p = 0; p < w->side[k].n; p++) {
            double x = (double)points[p * point_step + c * axis_step];
            w->wide[p] += bend * x * x;
        }
    }
}

static void dense_sums(refine_room *w, int to)
{
    const dense_room *r = w->own;
    const refine_side *from = &w->side[1 - to];
    for (int64_t k = 0; k < from->n; k++)
        r->mass[k] = (float)from->weight[k] * from->scaling[k];
    for (int64_t k = from->n; k < padded(from->n); k++)
        r->mass[k] = 0;
    if (to == 1)
        dense_column_sums(w->packed, r->kernel, r->mass, w->side[0].n, r->ld);
    else
        dense_row_sums(w->packed, r->kernel, r->mass, w->side[0].n, r->ld);
}

static void dense_halve(refine_room *w)
{
    const dense_room *r = w->own;
    kernel_square(r->kernel, w->side[0].n * r->ld);
}

static void dense_transform(refine_room *w, int to)
{
    const dense_room *r = w->own;
    int64_t n = w->side[1 - to].n;
    for (int64_t k = 0; k < padded(n); k++)
        r->mass[k] = k < n ? w->packed[k] : 0;
    if (to == 1)
        dense_column_minima(w->packed, r->cost, r->mass, w->side[0].n, r->ld);
    else
        dense_row_minima(w->packed, r->cost, r->mass, w->side[0].n, r->ld);
}

/* Rounded coordinates move a point by at most e = sqrt(d) 2^-23 farthest against another, which
 * changes c by 2 e sqrt(c) + e^2; then d + 3 roundings of c and one of the difference. All this
 * where c <= 4 largest; other pairs of points cannot be violated. */
static double dense_rounding(const refine_bound *b, const refine_room *w, double largest)
{
    const dense_set *set = b->set;
    double e = sqrt((double)b->m->d) * 0x1p-23 * set->farthest;
    (void)w;
    return (double)(b->m->d + 8) * 0x1p-21 * largest + 4 * sqrt(largest) * e + e * e;
}

static void dense_point(const refine_bound *b, const refine_room *w, int64_t k, double *x)
{
    const double *point = measures_point(b->m, measures_item(b->m, w->side[1].item).index[k]);
    for (int64_t c = 0; c < b->m->d; c++)
        x[c] = point[c] / b->unit;
}

static void dense_shift(const refine_bound *b, const refine_room *w, double *d)
{
    const dense_set *set = b->set;
    for (int64_t c = 0; c < b->m->d; c++)
        d[c] = set->mean[w->side[0].item * b->m->d + c] - set->mean[w->side[1].item * b->m->d + c];
}

/* ---- preparation ---- */

static void item_moments(const refine_bound *b, dense_set *set, int64_t i)
{
    item_view view = measures_item(b->m, i);
    double *mean = set->mean + i * b->m->d, *variance = set->variance + i * b->m->d;
    for (int64_t c = 0; c < b->m->d; c++) {
        mean[c] = variance[c] = 0;
        for (int64_t p = 0; p < view.n; p++)
            mean[c] += view.weight[p] * (measures_point(b->m, view.index[p])[c] / b->unit);
        for (int64_t p = 0; p < view.n; p++) {
            double x = measures_point(b->m, view.index[p])[c] / b->unit - mean[c];
            variance[c] += view.weight[p] * x * x;
            set->farthest = fmax(set->farthest, fabs(x));
        }
    }
}

static ddsc_status dense_open(refine_bound *b)
{
    dense_set *set = NULL;
    int64_t n = b->m->n, d = b->m->d;
    CHECK(MEM_ZERO(b->ctx, set, 1));
    b->set = set;
    CHECK(MEM_NEW(b->ctx, set->mean, n * d));
    CHECK(MEM_NEW(b->ctx, set->variance, n * d));
    b->unit = bounds_unit(b->m);
    for (int64_t i = 0; i < n; i++) {
        item_moments(b, set, i);
        for (int64_t c = 0; c < d; c++)
            b->spread += set->variance[i * d + c] / (double)n;
    }
    b->spread = fmax(b->spread, 1e-6);
    return DDSC_OK;
}

static void dense_close(refine_bound *b)
{
    dense_set *set = b->set;
    if (!set)
        return;
    mem_free(b->ctx, set->mean);
    mem_free(b->ctx, set->variance);
    mem_free(b->ctx, set);
}

static ddsc_status dense_room_open(const refine_bound *b, refine_room *w)
{
    dense_room *r = NULL;
    int64_t largest = padded(measures_largest_item(b->m));
    CHECK(MEM_ZERO(b->ctx, r, 1));
    w->own = r;
    CHECK(MEM_NEW(b->ctx, r->cost, largest * largest));
    CHECK(MEM_NEW(b->ctx, r->kernel, largest * largest));
    CHECK(MEM_NEW(b->ctx, r->x, largest * b->m->d));
    CHECK(MEM_NEW(b->ctx, r->y, largest * b->m->d));
    CHECK(MEM_NEW(b->ctx, r->mass, largest));
    return DDSC_OK;
}

static void dense_room_close(const refine_bound *b, refine_room *w)
{
    dense_room *r = w->own;
    if (!r)
        return;
    mem_free(b->ctx, r->cost);
    mem_free(b->ctx, r->kernel);
    mem_free(b->ctx, r->x);
    mem_free(b->ctx, r->y);
    mem_free(b->ctx, r->mass);
    mem_free(b->ctx, r);
}

const refine_coupling refine_dense = {
    .open = dense_open,
    .close = dense_close,
    .room_open = dense_room_open,
    .room_close = dense_room_close,
    .couple = dense_couple,
    .affine = dense_affine,
    .sums = dense_sums,
    .halve = dense_halve,
    .transform = dense_transform,
    .rounding = dense_rounding,
    .shift = dense_shift,
    .point = dense_point,
};
