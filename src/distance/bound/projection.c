/* Computes the projection bound on W2^2 for all pairs of items.
 *
 * For an orthonormal basis, W2^2 is at least the sum over its axes of the one-dimensional W2^2 of
 * the projections. The average of this sum over several frames is also a lower bound. With the
 * binned quantile functions of axes.c, each item becomes a vector e_i, and |e_i - e_j|^2 <= W2^2(i,
 * j) in the units of the set.
 *
 * These vectors have up to thousands of entries. They are shortened by projection onto the
 * principal directions of a sample: if p_i contains the coordinates of e_i along orthonormal
 * directions, and r_i is the length of the remainder, then |e_i - e_j|^2 >= |p_i - p_j|^2 + (r_i -
 * r_j)^2. The bounds for all pairs are therefore one product of short float rows. The squared norm
 * of each row is reduced by a slack that covers the rounding errors of this product.
 *
 * For single pairs, a few complete frames are also stored. The bound on a pair is the largest
 * distance in any one frame. Each frame takes d * BINS operations, and the evaluation stops as soon
 * as the bound exceeds the limit. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/team.h"
#include "base/workspace.h"
#include "distance/bound/axes.h"
#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "numeric/linalg/linalg.h"

enum {
    BINS = 64,
    MAX_DIRECTIONS = 127,
    FEW_DIRECTIONS = 31, /* number of directions if frames are also used */
    SAMPLE = 512,
    BLOCK = 32,
    PLANE_FRAMES = 12,
    MAX_AXES = 48,
    KEPT_AXES = 16,
    WIDTH = 16
};

typedef float vector __attribute__((vector_size(4 * WIDTH)));

/* The arrays of one worker. */
typedef struct embed_scratch {
    axes_scratch axes;
    double *long_row;  /* BLOCK x length */
    double *short_row; /* BLOCK x MAX_DIRECTIONS */
} embed_scratch;

typedef struct bound_embedder {
    ddsc_context *ctx;
    const measures *m;
    int64_t v; /* number of support rows when the axes were created */
    bound_axes axes;
    int64_t n_frames, length; /* length = n_axes BINS */
    double *share;            /* n_frames, sum 1: weights of the frames in the average */
    int64_t kept_every;       /* every kept_every-th frame is stored completely */
    double *sample;           /* rows of a sample of items */
    int64_t n_sample;
    la_principal basis;         /* directions and mean of the sample */
    int64_t most, n_directions; /* number of available directions; number of used directions */
    double slack;               /* bound on the rounding error of products, relative to |e_i|^2 +
                                 * |e_j|^2 */
    scratch memory;
    spin lock;     /* protects out.longest */
    int64_t first; /* first item to be embedded */
    bound_projection out;
} embedder;

static embed_scratch scratch_take(const embedder *e, arena *a)
{
    embed_scratch s;
    s.axes = bound_axes_take(&e->axes, a);
    ARENA_TAKE(a, s.long_row, BLOCK * e->length);
    ARENA_TAKE(a, s.short_row, BLOCK * MAX_DIRECTIONS);
    return s;
}

static embed_scratch scratch_get(const embedder *e, int worker)
{
    return scratch_take(e, &(arena){.base = scratch_of(&e->memory, worker)});
}

double bound_unit(const measures *m)
{
    double extent = 0;
    int exponent = 0;
    for (int64_t k = m->d; k < m->v * m->d; k++)
        extent = fmax(extent, fabs(m->support[k] - m->support[k % m->d]));
    frexp(extent, &exponent);
    return ldexp(1, BASE_MAX(exponent, -500)); /* the square of 2^-500 is not 0 */
}

/* ---- frames ---- */

/* Creates the frames. If the average uses only one frame, no complete frames are stored. */
static ddsc_status frames_make(embedder *e, bool keep)
{
    int64_t d = e->m->d;
    e->n_frames = d == 1 ? 1 : d == 2 ? PLANE_FRAMES : BASE_MAX(1, MAX_AXES / d);
    e->length = e->n_frames * d * BINS;
    int64_t n_kept = keep ? BASE_MIN(e->n_frames, KEPT_AXES / d) : 0;
    n_kept = n_kept < 2 ? 0 : n_kept;
    e->kept_every = n_kept > 0 ? e->n_frames / n_kept : 1;
    e->out.n_frames = n_kept;
    CHECK(bound_axes_make(e->ctx, &e->axes, e->m, e->n_frames, BINS, rng_make(0, RNG_FRAMES, 0)));
    CHECK(MEM_NEW(e->ctx, e->share, e->n_frames));
    for (int64_t f = 0; f < e->n_frames; f++) {
        e->share[f] = 1 / (double)e->n_frames;
        /* Along the axes of a grid, projections remain discrete, which preserves large distances.
         * The coordinate frame therefore gets half of the total weight. */
        if (e->m->grid.found && e->n_frames > 1)
            e->share[f] = f == 0 ? 0.5 : 0.5 / (double)(e->n_frames - 1);
        for (int64_t k = f * d; k < (f + 1) * d; k++)
            e->axes.scale[k] = sqrt(e->share[f] / BINS);
    }
    return DDSC_OK;
}

/* ---- principal directions of a sample ---- */

static ddsc_status sample_range(void *arg, int64_t begin, int64_t end, int worker)
{
    embedder *e = arg;
    embed_scratch w = scratch_get(e, worker);
    for (int64_t s = begin; s < end; s++)
        bound_axes_item(&e->axes, &w.axes, s * e->m->n / e->n_sample, e->sample + s * e->length);
    return DDSC_OK;
}

static ddsc_status basis_find(void *arg)
{
    embedder *e = arg;
    return la_principal_make(e->ctx, &e->basis, e->n_sample, e->length, e->sample, e->most);
}

static ddsc_status basis_share(embedder *e)
{
    la_principal *b = &e->basis;
    int64_t bytes = sizeof(double);
    if (team_rank(e->ctx) > 0) {
        CHECK(MEM_NEW(e->ctx, b->mean, e->length));
        CHECK(MEM_NEW(e->ctx, b->direction, e->most * e->length));
        CHECK(MEM_NEW(e->ctx, b->image, e->n_sample * e->most));
    }
    CHECK(team_first(e->ctx, b->mean, e->length * bytes));
    CHECK(team_first(e->ctx, b->direction, e->most * e->length * bytes));
    CHECK(team_first(e->ctx, b->image, e->n_sample * e->most * bytes));
    return team_first(e->ctx, &b->all, bytes);
}

/* Computes the principal directions, without those that have less than 1e-6 of the sum of squares.
 * The directions are orthonormal up to rounding errors, which the slack covers. */
static ddsc_status basis_make(embedder *e)
{
    int64_t most = e->out.n_frames > 0 ? FEW_DIRECTIONS : MAX_DIRECTIONS;
    e->n_sample = BASE_MIN(e->m->n, SAMPLE);
    most = BASE_MIN(most, BASE_MIN(e->n_sample, e->length));
    CHECK(MEM_NEW(e->ctx, e->sample, e->n_sample * e->length));
    CHECK(team_fill(e->ctx, e->sample, e->n_sample, 8, e->length * (int64_t)sizeof *e->sample,
                    sample_range, e));
    e->most = most;
    CHECK(team_by_first(e->ctx, basis_find, e));
    CHECK(basis_share(e));
    for (; e->n_directions < most; e->n_directions++) {
        double sum = 0;
        for (const double *x = e->basis.image + e->n_directions;
             x < e->basis.image + e->n_sample * most; x += most)
            sum += *x * *x;
        if (!(sum > 1e-6 * e->basis.all))
            break;
    }
    return DDSC_OK;
}

/* ---- all items ---- */

static double length2(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        sum += (double)x[c] * (double)x[c];
    return sum;
}

/* Stores the complete frames, without the weights of the average, and relative to the mean, so that
 * floats are accurate enough. Returns the length of the longest frame. */
static double keep_frames(const embedder *e, int64_t i, const double *row)
{
    const bound_projection *b = &e->out;
    double longest = 0;
    for (int64_t k = 0; k < b->n_frames; k++) {
        int64_t f = k * e->kept_every;
        float *to = b->frame + (i * b->n_frames + k) * b->length;
        for (int64_t c = 0; c < b->length; c++)
            to[c] = (float)(row[f * b->length + c] / sqrt(e->share[f]));
        longest = fmax(longest, sqrt(length2(to, b->length)));
    }
    return longest;
}

/* Computes the coordinates along the principal directions. The last coordinate is the length of the
 * remainder. */
static ddsc_status embed_range(void *arg, int64_t begin, int64_t end, int worker)
{
    embedder *e = arg;
    bound_projection *b = &e->out;
    embed_scratch s = scratch_get(e, worker);
    int64_t n = end - begin, p = e->n_directions;
    double longest = 0;
    begin += e->first;
    for (int64_t i = 0; i < n; i++) {
        double *row = s.long_row + i * e->length;
        bound_axes_item(&e->axes, &s.axes, begin + i, row);
        for (int64_t c = 0; c < e->length; c++)
            row[c] -= e->basis.mean[c];
        longest = fmax(longest, keep_frames(e, begin + i, row));
    }
    spin_lock(&e->lock);
    b->longest = fmax(b->longest, longest);
    spin_unlock(&e->lock);
    if (p > 0)
        la_gemm(false, true, n, p, e->length, 1, s.long_row, e->length, e->basis.direction,
                e->length, 0, s.short_row, p);
    for (int64_t i = 0; i < n; i++) {
        const double *row = s.long_row + i * e->length, *along = s.short_row + i * p;
        float *to = b->row + (begin + i) * b->p;
        double rest = la_dot(e->length, row, row) - la_dot(p, along, along), norm2 = 0;
        for (int64_t k = 0; k < p; k++)
            to[k] = (float)along[k];
        to[p] = (float)sqrt(fmax(rest, 0));
        for (int64_t k = 0; k <= p; k++)
            norm2 += (double)to[k] * (double)to[k];
        b->start[begin + i] = (float)(1 - e->slack) * (float)norm2;
    }
    return DDSC_OK;
}

static void embedder_free(ddsc_context *ctx, embedder *e)
{
    la_principal_free(ctx, &e->basis);
    scratch_free(ctx, &e->memory);
    bound_axes_free(ctx, &e->axes);
    MEM_FREE(ctx, e->share, e->sample);
}

/* The slack, (p + 7) 2^-23 of the norms, covers the errors in rounded coordinates and float
 * products of p terms. */
ddsc_status bound_projection_make(ddsc_context *ctx, bound_projection *out, const measures *m,
                                  bool frames)
{
    ddsc_status status = DDSC_OK;
    embedder e = {.ctx = ctx, .m = m, .v = m->v};
    int64_t capacity = measures_item_capacity(m);
    bound_projection *b = &e.out;
    arena measured = {0};
    *out = (bound_projection){0};
    TRY(frames_make(&e, frames));
    scratch_take(&e, &measured);
    TRY(scratch_create(ctx, &e.memory, measured.used, 1));
    TRY(basis_make(&e));
    b->n = m->n;
    b->p = e.n_directions + 1;
    e.slack = (double)(b->p + 7) * 0x1p-23;
    b->length = m->d * BINS;
    b->unit2 = e.axes.unit * e.axes.unit;
    TRY(MEM_NEW(ctx, b->row, capacity * b->p));
    TRY(MEM_NEW(ctx, b->start, capacity));
    if (b->n_frames > 0)
        TRY(team_table_new(ctx, &b->frame,
                           capacity * b->n_frames * b->length * (int64_t)sizeof *b->frame));
    TRY(team_fill(ctx, b->row, m->n, BLOCK, b->p * (int64_t)sizeof *b->row, embed_range, &e));
    TRY(team_gather(ctx, b->start, m->n, BLOCK, sizeof *b->start));
    if (b->n_frames > 0)
        TRY(team_gather(ctx, b->frame, m->n, BLOCK,
                        b->n_frames * b->length * (int64_t)sizeof *b->frame));
    TRY(team_largest(ctx, &b->longest, 1));
    if (capacity > m->n)
        TRY(MEM_ZERO(ctx, b->embedder, 1));
    *out = *b;
    *b = (bound_projection){0};
    if (out->embedder) { /* the embedder moves to the bound */
        mem_free(ctx, e.sample);
        e.sample = NULL;
        *out->embedder = e;
        e = (embedder){0};
    }
done:
    embedder_free(ctx, &e);
    bound_projection_free(ctx, b);
    return status;
}

ddsc_status bound_projection_grow(bound_projection *b, int64_t first, bool *done)
{
    embedder *e = b->embedder;
    *done = e && !(e->axes.order && e->v != e->m->v);
    if (!*done)
        return DDSC_OK;
    e->out = *b;
    e->first = first;
    CHECK(parallel_for(e->ctx, e->m->n - first, BLOCK, embed_range, e));
    b->longest = e->out.longest;
    b->n = e->m->n;
    return DDSC_OK;
}

void bound_projection_free(ddsc_context *ctx, bound_projection *b)
{
    if (b->embedder)
        embedder_free(ctx, b->embedder);
    mem_free(ctx, b->embedder);
    team_unshare(ctx, b->frame);
    MEM_FREE(ctx, b->row, b->start);
    *b = (bound_projection){0};
}

SIMD_CLONES static float frame_distance2(const float *x, const float *y, int64_t n)
{
    vector sum = {0};
    for (int64_t c = 0; c < n; c += WIDTH) {
        vector gap = *(const vector *)(x + c) - *(const vector *)(y + c);
        sum += gap * gap;
    }
    float total = 0;
    for (int k = 0; k < WIDTH; k++)
        total += sum[k];
    return total;
}

/* Rounding the coordinates changes each row by up to 2^-24 of its length, and the sum has a
 * relative error of up to 2^-24 per term. */
device_frames bound_projection_frames(const bound_projection *b)
{
    return (device_frames){.n = b->n_frames > 0 ? b->n : 0,
                           .n_frames = b->n_frames,
                           .length = b->length,
                           .rows = b->frame,
                           .keep = 1 - (double)b->length * 0x1p-24,
                           .slack = b->longest * 0x1p-22};
}

double bound_projection_pair(const bound_projection *b, int64_t i, int64_t j, double enough)
{
    float largest = 0, stop = (float)fmin(1.01 * enough / b->unit2, 1e30);
    for (int64_t f = 0; f < b->n_frames && largest <= stop; f++) {
        float d2 = frame_distance2(b->frame + (i * b->n_frames + f) * b->length,
                                   b->frame + (j * b->n_frames + f) * b->length, b->length);
        largest = d2 > largest ? d2 : largest;
    }
    device_frames slack = bound_projection_frames(b);
    double distance = fmax(0, sqrt((double)largest) * slack.keep - slack.slack);
    return distance * distance * b->unit2;
}
