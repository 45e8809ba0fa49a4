/* Implements the coupling of the refined bound for items that share no grid: a dense matrix of
 * squared distances.
 *
 * The refined bound (refined.c) runs a few Sinkhorn iterations and two c-transforms for a pair of
 * items with n and m points. This file provides the steps, using the n x m matrix of squared
 * distances c and the kernel exp(-c / epsilon), both in floats. Coordinates are relative to the
 * mean of each item (see refined.h). The columns are padded to whole vectors with points so far
 * away that their kernel entries are 0.
 *
 * The iterations start from the potentials f(x) = sum over axes of (1 - s) x^2, where s is the
 * standard deviation of the other item along the axis divided by that of this item. f is the
 * potential of the affine map that matches the two items axis by axis.
 *
 * The matrix takes n m d operations, and each iteration and c-transform n m. Each worker needs 2
 * L^2 floats, where L is the size of the largest item. dense_grow bounds the rounding errors of
 * floats, so that the result is a valid lower bound. */
#include <math.h>

#include "distance/bound/refined.h"

static const float FAR_AWAY = 1e15f; /* coordinates of padding */

/* Pointers to the coupling's arrays in refined_pair.own. */
typedef struct dense_own {
    int64_t ld;           /* row length of the matrices: points of side 1, padded */
    float *cost, *kernel; /* side 0 x ld */
    float *x;             /* side 0 x d, relative to the mean */
    float *y;             /* d x ld, relative to the mean */
    float *mass;          /* masses on the side of the sum */
} dense_own;

bool bound_refined_dense_applies(const measures *m)
{
    return m->d > 1 && m->d <= BOUND_POINT_DIM && m->nnz >= BOUND_DENSE_MEAN_SIZE * m->n &&
           measures_largest_item(m) <= BOUND_DENSE_SIZE;
}

static dense_own own_of(const bound_refined *b, const refined_pair *w)
{
    int64_t area = b->largest * b->largest, edge = b->largest * b->m->d;
    float *at = w->own;
    return (dense_own){.ld = BASE_ROUND_UP(w->side[1].n, BOUND_VECTOR),
                       .cost = at,
                       .kernel = at + area,
                       .x = at + 2 * area,
                       .y = at + 2 * area + edge,
                       .mass = at + 2 * area + 2 * edge};
}

/* ---- one pair ---- */

/* Stores the points of side k relative to their mean: as rows for side 0, as columns for side 1. */
static void take_points(const bound_refined *b, const refined_pair *w, int k, float *out,
                        int64_t point_step, int64_t axis_step)
{
    item_view view = measures_item(b->m, w->side[k].item);
    const double *mean = b->mean + w->side[k].item * b->m->d;
    for (int64_t p = 0; p < view.n; p++)
        for (int64_t c = 0; c < b->m->d; c++)
            out[p * point_step + c * axis_step] =
                (float)(measures_point(b->m, view.index[p])[c] / b->unit - mean[c]);
}

static void dense_couple(const bound_refined *b, refined_pair *w, double epsilon)
{
    dense_own r = own_of(b, w);
    int64_t n = w->side[0].n, d = b->m->d;
    take_points(b, w, 0, r.x, d, 1);
    take_points(b, w, 1, r.y, 1, r.ld);
    for (int64_t c = 0; c < d; c++)
        for (int64_t p = w->side[1].n; p < r.ld; p++)
            r.y[c * r.ld + p] = FAR_AWAY;
    for (int64_t i = 0; i < n; i++)
        bound_dense_distances(r.cost + i * r.ld, r.x + i * d, r.y, d, r.ld);
    w->kernel = r.kernel;
    w->kernel_size = n * r.ld;
    bound_kernel_exp(w->kernel, r.cost, (float)(-1 / epsilon), w->kernel_size);
}

/* Computes f(x) as the sum over the axes of (1 - s) x^2, where s is the ratio of the standard
 * deviations. */
static void dense_affine(const bound_refined *b, refined_pair *w, int k)
{
    dense_own r = own_of(b, w);
    const double *own = b->variance + w->side[k].item * b->m->d;
    const double *other = b->variance + w->side[1 - k].item * b->m->d;
    int64_t point_step = k == 0 ? b->m->d : 1, axis_step = k == 0 ? 1 : r.ld;
    const float *points = k == 0 ? r.x : r.y;
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

static void dense_sums(const bound_refined *b, refined_pair *w, int to)
{
    dense_own r = own_of(b, w);
    const refined_side *from = &w->side[1 - to];
    for (int64_t k = 0; k < BASE_ROUND_UP(from->n, BOUND_VECTOR); k++)
        r.mass[k] = k < from->n ? (float)from->weight[k] * from->scaling[k] : 0;
    if (to == 1)
        bound_dense_column_sums(w->packed, r.kernel, r.mass, w->side[0].n, r.ld);
    else
        bound_dense_row_sums(w->packed, r.kernel, r.mass, w->side[0].n, r.ld);
}

static void dense_transform(const bound_refined *b, refined_pair *w, int to)
{
    dense_own r = own_of(b, w);
    int64_t n = w->side[1 - to].n;
    for (int64_t k = 0; k < BASE_ROUND_UP(n, BOUND_VECTOR); k++)
        r.mass[k] = k < n ? -w->packed[k] : 0;
    if (to == 1)
        bound_dense_column_minima(w->packed, r.cost, r.mass, w->side[0].n, r.ld);
    else
        bound_dense_row_minima(w->packed, r.cost, r.mass, w->side[0].n, r.ld);
}

static void dense_point(const bound_refined *b, const refined_pair *w, int64_t k, double *x)
{
    const double *point = measures_point(b->m, measures_item(b->m, w->side[1].item).index[k]);
    for (int64_t c = 0; c < b->m->d; c++)
        x[c] = point[c] / b->unit;
}

static double dense_shift(const bound_refined *b, const refined_pair *w, int64_t c)
{
    int64_t d = b->m->d, i = w->side[0].item, j = w->side[1].item;
    return b->step[c] * (b->mean[i * d + c] - b->mean[j * d + c]);
}

/* ---- preparation ---- */

/* Computes the mean and the variances of an item. Returns the largest coordinate relative to the
 * mean. */
static double item_moments(const bound_refined *b, int64_t i)
{
    item_view view = measures_item(b->m, i);
    double *mean = b->mean + i * b->m->d, *variance = b->variance + i * b->m->d, farthest = 0;
    for (int64_t c = 0; c < b->m->d; c++) {
        mean[c] = variance[c] = 0;
        for (int64_t p = 0; p < view.n; p++)
            mean[c] += view.weight[p] * (measures_point(b->m, view.index[p])[c] / b->unit);
        for (int64_t p = 0; p < view.n; p++) {
            double x = measures_point(b->m, view.index[p])[c] / b->unit - mean[c];
            variance[c] += view.weight[p] * x * x;
            farthest = fmax(farthest, fabs(x));
        }
    }
    return farthest;
}

/* Computes the moments of the items from `first` on, and bounds the rounding errors. Storing
 * coordinates as floats moves one point relative to another by at most e = sqrt(d) 2^-23 times the
 * largest coordinate, which changes c by at most 2 e sqrt(c) + e^2. The computation adds d + 3
 * rounding errors of c and one of the difference. These bounds are valid for c <= 4 largest; other
 * pairs of points cannot violate the constraint. */
static ddsc_status dense_grow(bound_refined *b, int64_t first)
{
    for (int64_t i = first; i < b->m->n; i++)
        b->farthest = fmax(b->farthest, item_moments(b, i));
    double e = sqrt((double)b->m->d) * 0x1p-23 * b->farthest;
    b->rounding[0] = e * e;
    b->rounding[1] = 4 * e;
    return DDSC_OK;
}

static ddsc_status dense_open(bound_refined *b)
{
    int64_t d = b->m->d;
    CHECK(MEM_NEW(b->ctx, b->variance, measures_item_capacity(b->m) * d));
    for (int64_t c = 0; c < d; c++)
        b->step[c] = 1;
    b->rounding[2] = (double)(d + 8) * 0x1p-21;
    CHECK(dense_grow(b, 0));
    b->n_own = 2 * b->largest * (b->largest + d) + b->largest;
    return DDSC_OK;
}

const refined_coupling bound_refined_dense = {.open = dense_open,
                                              .grow = dense_grow,
                                              .couple = dense_couple,
                                              .affine = dense_affine,
                                              .sums = dense_sums,
                                              .transform = dense_transform,
                                              .point = dense_point,
                                              .shift = dense_shift};
