/* Computes first bounds on transport with Euclidean and city block costs from one-dimensional
 * projections.
 *
 * For any transport plan of X and Y and any orthonormal frame, E|X - Y| >= |(E|X_k - Y_k|)_k| by
 * Jensen's inequality. E|X_k - Y_k| is at least the one-dimensional transport cost of the
 * projections, which is the L1 distance between their quantile functions. W1^2 is therefore at
 * least the sum over the axes of the squares of these distances. For the city block cost, the
 * distances are added without squaring, and only the coordinate frame is used. Averaging quantile
 * functions over bins preserves the inequality; with one bin, the bound is the distance between the
 * means. The largest bound over a few frames is used. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/team.h"
#include "base/workspace.h"
#include "distance/bound/axes.h"
#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/bound/tuning.h"
#include "numeric/linalg/linalg.h"

enum { WIDTH = 16, ITEMS = 16 /* number of items per unit of work */ };

typedef float vector __attribute__((vector_size(4 * WIDTH), aligned(4)));
typedef int32_t vector_bits __attribute__((vector_size(4 * WIDTH), aligned(4)));

typedef struct marginal_maker {
    bound_marginal *b;
    bound_axes axes;
    scratch memory;
    spin lock; /* protects b->longest */
} marginal_maker;

typedef struct marginal_scratch {
    axes_scratch axes;
    double *row;
} marginal_scratch;

static marginal_scratch marginal_take(const marginal_maker *e, arena *a)
{
    marginal_scratch s;
    s.axes = bound_axes_take(&e->axes, a);
    ARENA_TAKE(a, s.row, e->b->length);
    return s;
}

/* Returns |x - y| for one frame. */
SIMD_CLONES static float frame_distance(const float *x, const float *y, int64_t axes, int64_t bins,
                                        bool city)
{
    float total = 0;
    for (int64_t a = 0; a < axes; a++, x += bins, y += bins) {
        vector sum = {0};
        float along = 0;
        for (int64_t c = 0; c < bins; c += WIDTH) {
            vector gap = *(const vector *)(x + c) - *(const vector *)(y + c);
            sum += (vector)((vector_bits)gap & INT32_MAX);
        }
        for (int k = 0; k < WIDTH; k++)
            along += sum[k];
        total += city ? along : along * along;
    }
    return city ? total : sqrtf(total);
}

static ddsc_status marginal_range(void *arg, int64_t begin, int64_t end, int worker)
{
    marginal_maker *e = arg;
    bound_marginal *b = e->b;
    marginal_scratch s = marginal_take(e, &(arena){.base = scratch_of(&e->memory, worker)});
    int64_t size = b->axes * b->bins;
    float longest = 0;
    for (int64_t i = begin; i < end; i++) {
        float *to = b->row + i * b->length;
        bound_axes_item(&e->axes, &s.axes, i, s.row);
        for (int64_t c = 0; c < b->length; c++)
            to[c] = (float)s.row[c];
        for (int64_t f = 0; f < b->n_frames; f++)
            longest =
                fmaxf(longest, frame_distance(to + f * size, b->zero, b->axes, b->bins, b->city));
    }
    spin_lock(&e->lock);
    b->longest = fmax(b->longest, (double)longest);
    spin_unlock(&e->lock);
    return DDSC_OK;
}

/* Chooses the number of bins, which is a multiple of the vector width unless there are many
 * axes. */
static void choose_size(bound_marginal *b, int64_t d)
{
    b->axes = d;
    b->bins =
        BASE_MAX(WIDTH, BASE_MIN(BOUND_MARGINAL_BINS, BOUND_MARGINAL_ROW / d / WIDTH * WIDTH));
    b->n_frames = b->city || d == 1 ? 1 : BASE_MAX(1, BOUND_MARGINAL_ROW / (d * b->bins));
    b->n_frames = BASE_MIN(b->n_frames, BOUND_MARGINAL_FRAMES);
}

ddsc_status bound_marginal_make(ddsc_context *ctx, bound_marginal *out, const measures *m,
                                bool city)
{
    ddsc_status status = DDSC_OK;
    bound_marginal b = {.n = m->n, .city = city};
    marginal_maker e = {.b = &b};
    arena measured = {0};
    choose_size(&b, m->d);
    b.length = b.n_frames * b.axes * b.bins;
    TRY(bound_axes_make(ctx, &e.axes, m, b.n_frames, b.bins, rng_make(0, RNG_FRAMES, 1)));
    for (int64_t k = 0; k < e.axes.n_axes; k++)
        e.axes.scale[k] = 1.0 / (double)b.bins;
    b.unit = e.axes.unit;
    marginal_take(&e, &measured);
    TRY(scratch_create(ctx, &e.memory, measured.used, 1));
    TRY(MEM_NEW(ctx, b.row, m->n * b.length));
    TRY(MEM_ZERO(ctx, b.zero, b.axes * b.bins));
    TRY(team_fill(ctx, b.row, m->n, ITEMS, b.length * (int64_t)sizeof *b.row, marginal_range, &e));
    TRY(team_largest(ctx, &b.longest, 1));
    *out = b;
    b = (bound_marginal){0};
done:
    scratch_free(ctx, &e.memory);
    bound_axes_free(ctx, &e.axes);
    bound_marginal_free(ctx, &b);
    return status;
}

void bound_marginal_free(ddsc_context *ctx, bound_marginal *b)
{
    MEM_FREE(ctx, b->row, b->zero);
    *b = (bound_marginal){0};
}

void bound_marginal_tile(const bound_marginal *b, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                         float *out, int64_t ld)
{
    int64_t size = b->axes * b->bins;
    /* The factor covers the rounding errors in the sums and in the entries, each of which changes a
     * row by 2^-24 of its length per term. */
    float keep = (float)(1 - (double)(b->axes + b->bins) * 0x1p-23);
    float slack = (float)(b->longest * 0x1p-21);
    for (int64_t i = i0; i < i1; i++, out += ld)
        for (int64_t j = j0; j < j1; j++) {
            float best = 0;
            for (int64_t f = 0; f < b->n_frames; f++) {
                float own =
                    frame_distance(b->row + i * b->length + f * size,
                                   b->row + j * b->length + f * size, b->axes, b->bins, b->city);
                best = own > best ? own : best;
            }
            best = keep * best - slack;
            out[j - j0] = best > 0 ? best : 0;
        }
}
