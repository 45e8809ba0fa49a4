/* Represents items by quantile functions along the axes of a few frames.
 *
 * A frame is an orthonormal basis of R^d. The first frame consists of the coordinate axes. The
 * other frames are rotations of it (d = 2) or random bases (d > 2). For each axis, the points of an
 * item are projected onto the axis and sorted. The quantile function Q of this one-dimensional
 * measure is then averaged over `bins` equal parts of [0, 1].
 *
 * In one dimension, W2^2 is the integral of (Q_i - Q_j)^2 over [0, 1]. By Jensen's inequality, the
 * mean of the squared differences of the bin averages is a lower bound on this integral.
 * projection.c combines these bounds over axes and frames.
 *
 * Sorting the points of each item along every axis took a tenth of the time of an exact graph of
 * digits. If items share points, all points of the set are therefore sorted once per axis, and a
 * scan in this order finds the sorted points of an item. It takes O(v) time per axis for v points
 * in the set. */
#include <math.h>
#include <string.h>

#include "distance/bound/axes.h"
#include "distance/bound/bound.h"
#include "numeric/linalg/linalg.h"

/* SHARED_MOST is the largest ratio of points in the set to points in an item for which scanning all
 * points of the set is faster than sorting the points of the item: a scan step takes about 2
 * cycles, a sorting step 200. One thread sorts POINTS_MOST points in negligible time. */
enum { SHARED_MOST = 32, POINTS_MOST = 1 << 16 };

/* ---- frames ---- */

static void frame_fill(double *axis, int64_t d, int64_t frame, int64_t n_frames, rng *r)
{
    if (d == 2) {
        double angle = 1.570796326794896619 * (double)frame / (double)n_frames;
        const double plane[4] = {cos(angle), sin(angle), -sin(angle), cos(angle)};
        memcpy(axis, plane, sizeof plane);
        return;
    }
    for (int64_t k = 0; k < d; k++) {
        for (int64_t c = 0; c < d; c++)
            axis[k * d + c] = frame == 0 ? (double)(c == k) : rng_normal(r);
        la_orthogonalize(axis, k, d);
    }
}

/* Returns the position of a point on an axis, relative to the first point of the set, so that no
 * digits are lost for points far from 0. */
static double place_on(const bound_axes *a, int64_t k, int32_t point)
{
    const double *x = measures_point(a->m, point), *origin = a->m->support;
    double sum = 0;
    if (!a->axis)
        return (x[k] - origin[k]) / a->unit;
    const double *axis = a->axis + k * a->m->d;
    for (int64_t c = 0; c < a->m->d; c++)
        sum += axis[c] * (x[c] - origin[c]);
    return sum / a->unit;
}

/* ---- points in order ---- */

/* Sorts the points of the set along axis k. `key` has v entries. */
static void sort_points(bound_axes *a, int64_t k, double *key)
{
    int64_t v = a->m->v;
    int32_t *order = a->order + k * v;
    for (int64_t p = 0; p < v; p++)
        key[p] = place_on(a, k, (int32_t)p);
    sort_order(order, key, v);
    for (int64_t p = 0; p < v; p++)
        a->place[k * v + p] = key[order[p]];
}

static ddsc_status points_sort(ddsc_context *ctx, bound_axes *a)
{
    const measures *m = a->m;
    double *key = NULL;
    if (!measures_is_shared(m) || m->v > POINTS_MOST || m->v / SHARED_MOST > m->nnz / m->n)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, a->order, a->n_axes * m->v));
    CHECK(MEM_NEW(ctx, a->place, a->n_axes * m->v));
    CHECK(MEM_NEW(ctx, key, m->v));
    for (int64_t k = 0; k < a->n_axes; k++)
        sort_points(a, k, key);
    mem_free(ctx, key);
    return DDSC_OK;
}

ddsc_status bound_axes_make(ddsc_context *ctx, bound_axes *out, const measures *m, int64_t n_frames,
                            int64_t bins, rng r)
{
    ddsc_status status = DDSC_OK;
    int64_t d = m->d;
    bound_axes a = {.m = m, .unit = bound_unit(m), .n_axes = n_frames * d, .bins = bins};
    *out = (bound_axes){0};
    TRY(MEM_NEW(ctx, a.scale, a.n_axes));
    if (n_frames > 1)
        TRY(MEM_NEW(ctx, a.axis, a.n_axes * d));
    for (int64_t f = 0; a.axis && f < n_frames; f++)
        frame_fill(a.axis + f * d * d, d, f, n_frames, &r);
    TRY(points_sort(ctx, &a));
    *out = a;
    a = (bound_axes){0};
done:
    bound_axes_free(ctx, &a);
    return status;
}

void bound_axes_free(ddsc_context *ctx, bound_axes *a)
{
    MEM_FREE(ctx, a->axis, a->scale, a->order, a->place);
    *a = (bound_axes){0};
}

/* ---- one item ---- */

axes_scratch bound_axes_take(const bound_axes *a, arena *memory)
{
    axes_scratch s;
    int64_t largest = measures_largest_item(a->m);
    ARENA_TAKE(memory, s.place, largest + 1);
    ARENA_TAKE(memory, s.weight, largest + 1);
    ARENA_TAKE(memory, s.mass, a->order ? a->m->v : 0);
    ARENA_TAKE(memory, s.key, a->order ? 0 : largest);
    ARENA_TAKE(memory, s.by, a->order ? 0 : largest);
    return s;
}

/* Scans all points of the set in sorted order, and collects the points of the item. The loop may
 * write one unused element after the last collected point. */
static void pick_points(const bound_axes *a, const axes_scratch *s, int64_t k)
{
    int64_t v = a->m->v, n = 0;
    const int32_t *order = a->order + k * v;
    const double *place = a->place + k * v;
    for (int64_t p = 0; p < v; p++) {
        double mass = s->mass[order[p]];
        s->place[n] = place[p];
        s->weight[n] = mass;
        n += mass > 0;
    }
}

static void sort_item(const bound_axes *a, const axes_scratch *s, item_view item, int64_t k)
{
    for (int64_t q = 0; q < item.n; q++)
        s->key[q] = place_on(a, k, item.index[q]);
    sort_order(s->by, s->key, item.n);
    for (int64_t q = 0; q < item.n; q++) {
        s->place[q] = s->key[s->by[q]];
        s->weight[q] = item.weight[s->by[q]];
    }
}

static void quantiles(const axes_scratch *s, int64_t n, int64_t bins, double scale, double *out)
{
    const double width = 1.0 / (double)bins;
    int64_t p = 0;
    double left = s->weight[0];
    for (int64_t b = 0; b < bins; b++) {
        double need = width, sum = 0;
        while (need > 0 && p < n) {
            double take = fmin(need, left);
            sum += take * s->place[p];
            need -= take;
            left -= take;
            if (left <= 0 && ++p < n)
                left = s->weight[p];
        }
        if (need > 0) /* weights sum to 1 only up to rounding errors */
            sum += need * s->place[n - 1];
        out[b] = scale * sum / width;
    }
}

void bound_axes_item(const bound_axes *a, const axes_scratch *s, int64_t i, double *out)
{
    item_view item = measures_item(a->m, i);
    if (a->order) {
        memset(s->mass, 0, (size_t)a->m->v * sizeof *s->mass);
        for (int64_t q = 0; q < item.n; q++)
            s->mass[item.index[q]] = item.weight[q];
    }
    for (int64_t k = 0; k < a->n_axes; k++) {
        if (a->order)
            pick_points(a, s, k);
        else
            sort_item(a, s, item, k);
        quantiles(s, item.n, a->bins, a->scale[k], out + k * a->bins);
    }
}
