/* The projection bound: quantile embeddings of rotated frames, shortened by principal directions;
 * those of a few frames are kept whole for the bound of single pairs. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "bound/bound.h"
#include "bound/first.h"
#include "linalg/linalg.h"

enum {
    BINS = 64,
    MAX_DIRECTIONS = 127,
    FEW_DIRECTIONS = 31, /* where closer bounds follow */
    SAMPLE = 512,
    BLOCK = 32,
    PLANE_FRAMES = 12,
    MAX_AXES = 48,
    KEPT_AXES = 16,
    WIDTH = 16
};

typedef float vector __attribute__((vector_size(4 * WIDTH)));

typedef struct projected {
    double t, w;
} projected;

/* Of one worker. */
typedef struct embed_scratch {
    projected *sorted, *merged; /* largest item */
    double *long_row;           /* BLOCK x length */
    double *short_row;          /* BLOCK x MAX_DIRECTIONS */
} embed_scratch;

typedef struct embedder {
    ddsc_context *ctx;
    const measures *m;
    int64_t n_frames, n_axes, length; /* length = n_axes BINS */
    double *axis;                     /* n_axes x d, unit vectors, each frame orthonormal */
    double unit;
    double *share;                  /* n_frames, sum 1: weights in the average over frames */
    int64_t first_kept, kept_every; /* frames kept whole: one in kept_every */
    double *mean;                   /* length */
    double *basis;                  /* directions x length, orthonormal rows */
    int64_t n_directions;
    double *sample; /* rows of some items */
    int64_t n_sample;
    int n_workers;
    embed_scratch *scratch;
    bound_projection out;
} embedder;

/* ---- frames ---- */

/* In the plane: rotations by equal angles. Else: Gram-Schmidt of normal vectors; the first is the
 * coordinate frame. */
static void frame_fill(double *axis, int64_t d, int64_t frame, int64_t n_frames, rng *r)
{
    if (d == 2) {
        double angle = 1.570796326794896619 * (double)frame / (double)n_frames;
        const double plane[4] = {cos(angle), sin(angle), -sin(angle), cos(angle)};
        memcpy(axis, plane, sizeof plane);
        return;
    }
    for (int64_t k = 0; k < d; k++) {
        double *u = axis + k * d;
        for (int64_t c = 0; c < d; c++)
            u[c] = frame == 0 ? (double)(c == k) : rng_normal(r);
        for (int twice = 0; twice < 2; twice++)
            for (int64_t q = 0; q < k; q++) {
                double along = la_dot(d, u, axis + q * d);
                for (int64_t c = 0; c < d; c++)
                    u[c] -= along * axis[q * d + c];
            }
        double length = la_norm(d, u);
        for (int64_t c = 0; c < d; c++)
            u[c] /= length;
    }
}

/* The average over one frame is that frame: none is kept then. */
static ddsc_status frames_make(embedder *e, bool keep)
{
    int64_t d = e->m->d;
    rng r = rng_make(0, RNG_FRAMES, 0);
    e->n_frames = d == 1 ? 1 : d == 2 ? PLANE_FRAMES : BASE_MAX(1, MAX_AXES / d);
    e->n_axes = e->n_frames * d;
    e->length = e->n_axes * BINS;
    int64_t n_kept = keep ? BASE_MIN(e->n_frames, KEPT_AXES / d) : 0;
    n_kept = n_kept < 2 ? 0 : n_kept;
    e->kept_every = n_kept > 0 ? e->n_frames / n_kept : 1;
    if (keep && d == 2 && bound_marginal_applies(e->m)) { /* between the lines of the grid */
        n_kept = 4;
        e->first_kept = 1;
        e->kept_every = 3;
    }
    e->out.n_frames = n_kept;
    CHECK(MEM_NEW(e->ctx, e->axis, e->n_axes * d));
    CHECK(MEM_NEW(e->ctx, e->share, e->n_frames));
    for (int64_t f = 0; f < e->n_frames; f++) {
        frame_fill(e->axis + f * d * d, d, f, e->n_frames, &r);
        e->share[f] = 1 / (double)e->n_frames;
        /* Along the axes of a grid projections stay discrete, which keeps them far apart. */
        if (e->m->grid.found && e->n_frames > 1)
            e->share[f] = f == 0 ? 0.5 : 0.5 / (double)(e->n_frames - 1);
    }
    return DDSC_OK;
}

/* ---- one item ---- */

/* Merge sort by t, in ever longer runs; the result lies in `x`. */
static void sort_projected(projected *x, projected *merged, int64_t n)
{
    projected *from = x, *to = merged;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            int64_t middle = BASE_MIN(n, begin + run), end = BASE_MIN(n, begin + 2 * run);
            int64_t left = begin, right = middle;
            for (int64_t k = begin; k < end; k++) {
                bool take_left = left < middle && (right >= end || from[left].t <= from[right].t);
                to[k] = take_left ? from[left] : from[right];
                left += take_left;
                right += !take_left;
            }
        }
        projected *swap = from;
        from = to;
        to = swap;
    }
    if (from != x)
        memcpy(x, from, (size_t)n * sizeof *x);
}

/* Mean of the quantile function over each of BINS equal parts of [0, 1]. */
static void quantile_bins(const projected *sorted, int64_t n, double scale, double *out)
{
    const double width = 1.0 / BINS;
    int64_t p = 0;
    double left = sorted[0].w;
    for (int b = 0; b < BINS; b++) {
        double need = width, sum = 0;
        while (need > 0 && p < n) {
            double take = fmin(need, left);
            sum += take * sorted[p].t;
            need -= take;
            left -= take;
            if (left <= 0 && ++p < n)
                left = sorted[p].w;
        }
        if (need > 0)
            sum += need * sorted[n - 1].t; /* weights sum to 1 only up to rounding */
        out[b] = scale * sum / width;
    }
}

static void embed_item(const embedder *e, const embed_scratch *s, int64_t i, double *out)
{
    item_view item = measures_item(e->m, i);
    for (int64_t a = 0; a < e->n_axes; a++) {
        for (int64_t q = 0; q < item.n; q++)
            s->sorted[q] = (projected){
                la_dot(e->m->d, e->axis + a * e->m->d, measures_point(e->m, item.index[q])) /
                    e->unit,
                item.weight[q]};
        sort_projected(s->sorted, s->merged, item.n);
        quantile_bins(s->sorted, item.n, sqrt(e->share[a / e->m->d] / BINS), out + a * BINS);
    }
}

/* ---- principal directions of a sample ---- */

static ddsc_status sample_range(void *arg, int64_t begin, int64_t end, int worker)
{
    embedder *e = arg;
    for (int64_t s = begin; s < end; s++)
        embed_item(e, &e->scratch[worker], s * e->m->n / e->n_sample, e->sample + s * e->length);
    return DDSC_OK;
}

static void centre_sample(embedder *e)
{
    int64_t n = e->n_sample;
    memset(e->mean, 0, (size_t)e->length * sizeof *e->mean);
    for (int64_t s = 0; s < n; s++)
        for (int64_t c = 0; c < e->length; c++)
            e->mean[c] += e->sample[s * e->length + c] / (double)n;
    for (int64_t s = 0; s < n; s++)
        for (int64_t c = 0; c < e->length; c++)
            e->sample[s * e->length + c] -= e->mean[c];
}

/* Directions rows^T u / sqrt(lambda) of the sample's Gram matrix; those below 1e-6 of the trace add
 * nothing. Orthonormal up to rounding, which the slack covers. */
static ddsc_status principal_directions(embedder *e)
{
    ddsc_status status = DDSC_OK;
    int64_t n = e->n_sample, length = e->length;
    int64_t most = BASE_MIN(e->out.n_frames > 0 ? FEW_DIRECTIONS : MAX_DIRECTIONS, n);
    double *gram = NULL, *value = NULL, *vectors = NULL, trace = 0;
    TRY(MEM_NEW(e->ctx, gram, n * n));
    TRY(MEM_NEW(e->ctx, vectors, n * n));
    TRY(MEM_NEW(e->ctx, value, n));
    la_gemm(false, true, n, n, length, 1, e->sample, length, e->sample, length, 0, gram, n);
    for (int64_t s = 0; s < n; s++)
        trace += gram[s * n + s];
    TRY(la_eigen_symmetric(e->ctx, n, gram, value, vectors));
    while (e->n_directions < most && value[n - 1 - e->n_directions] > 1e-6 * trace)
        e->n_directions++;
    TRY(MEM_NEW(e->ctx, e->basis, BASE_MAX(1, e->n_directions) * length));
    for (int64_t k = 0; k < e->n_directions; k++)
        la_gemm(false, false, 1, length, n, 1 / sqrt(value[n - 1 - k]), vectors + (n - 1 - k) * n,
                n, e->sample, length, 0, e->basis + k * length, length);
done:
    mem_free(e->ctx, gram);
    mem_free(e->ctx, vectors);
    mem_free(e->ctx, value);
    return status;
}

static ddsc_status basis_make(embedder *e)
{
    e->n_sample = BASE_MIN(e->m->n, SAMPLE);
    CHECK(MEM_NEW(e->ctx, e->mean, e->length));
    CHECK(MEM_NEW(e->ctx, e->sample, e->n_sample * e->length));
    CHECK(parallel_for(e->ctx, e->n_sample, 8, sample_range, e));
    centre_sample(e);
    return principal_directions(e);
}

/* ---- all items ---- */

/* The kept frames, no longer weighted by their shares; from the mean, where floats are fine. */
static void keep_frames(const embedder *e, int64_t i, const double *row)
{
    const bound_projection *b = &e->out;
    for (int64_t k = 0; k < b->n_frames; k++) {
        int64_t f = e->first_kept + k * e->kept_every;
        float *to = b->frame + (i * b->n_frames + k) * b->length;
        for (int64_t c = 0; c < b->length; c++)
            to[c] = (float)(row[f * b->length + c] / sqrt(e->share[f]));
    }
}

/* Coordinates along the basis, and the length of the rest as the last one. */
static ddsc_status embed_range(void *arg, int64_t begin, int64_t end, int worker)
{
    embedder *e = arg;
    const bound_projection *b = &e->out;
    const embed_scratch *s = &e->scratch[worker];
    int64_t n = end - begin, p = e->n_directions;
    for (int64_t i = 0; i < n; i++) {
        double *row = s->long_row + i * e->length;
        embed_item(e, s, begin + i, row);
        for (int64_t c = 0; c < e->length; c++)
            row[c] -= e->mean[c];
        keep_frames(e, begin + i, row);
    }
    if (p > 0)
        la_gemm(false, true, n, p, e->length, 1, s->long_row, e->length, e->basis, e->length, 0,
                s->short_row, p);
    for (int64_t i = 0; i < n; i++) {
        const double *row = s->long_row + i * e->length, *along = s->short_row + i * p;
        float *to = b->row + (begin + i) * b->p;
        double rest = la_dot(e->length, row, row) - la_dot(p, along, along), norm2 = 0;
        for (int64_t k = 0; k < p; k++)
            to[k] = (float)along[k];
        to[p] = (float)sqrt(fmax(rest, 0));
        for (int64_t k = 0; k <= p; k++)
            norm2 += (double)to[k] * (double)to[k];
        b->norm2[begin + i] = (float)norm2;
    }
    return DDSC_OK;
}

static ddsc_status scratch_make(embedder *e)
{
    int64_t largest = measures_largest_item(e->m);
    CHECK(MEM_ZERO(e->ctx, e->scratch, e->n_workers));
    for (int w = 0; w < e->n_workers; w++) {
        embed_scratch *s = &e->scratch[w];
        CHECK(MEM_NEW(e->ctx, s->sorted, 2 * largest));
        CHECK(MEM_NEW(e->ctx, s->long_row, BLOCK * (e->length + MAX_DIRECTIONS)));
        s->merged = s->sorted + largest;
        s->short_row = s->long_row + BLOCK * e->length;
    }
    return DDSC_OK;
}

static void embedder_free(embedder *e)
{
    for (int w = 0; e->scratch && w < e->n_workers; w++) {
        mem_free(e->ctx, e->scratch[w].sorted);
        mem_free(e->ctx, e->scratch[w].long_row);
    }
    double *made[] = {e->axis, e->share, e->mean, e->basis, e->sample};
    for (int k = 0; k < 5; k++)
        mem_free(e->ctx, made[k]);
    mem_free(e->ctx, e->scratch);
    bound_projection_free(e->ctx, &e->out);
}

static double length2(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        sum += (double)x[c] * (double)x[c];
    return sum;
}

/* Slack: float products of p terms and rounded coordinates; (p + 7) 2^-23 of the norms covers both. */
ddsc_status bound_projection_make(ddsc_context *ctx, bound_projection *out, const measures *m,
                                  bool frames)
{
    ddsc_status status = DDSC_OK;
    embedder e = {.ctx = ctx, .m = m, .unit = bound_unit(m), .n_workers = parallel_width(ctx)};
    bound_projection *b = &e.out;
    *out = (bound_projection){0};
    TRY(frames_make(&e, frames));
    TRY(scratch_make(&e));
    TRY(basis_make(&e));
    b->n = m->n;
    b->p = e.n_directions + 1;
    b->slack = (double)(b->p + 7) * 0x1p-23;
    b->length = m->d * BINS;
    b->unit2 = e.unit * e.unit;
    TRY(MEM_NEW(ctx, b->row, m->n * b->p));
    TRY(MEM_NEW(ctx, b->norm2, m->n));
    TRY(MEM_NEW(ctx, b->frame, m->n * b->n_frames * b->length));
    TRY(parallel_for(ctx, m->n, BLOCK, embed_range, &e));
    for (int64_t i = 0; i < m->n * b->n_frames; i++)
        b->longest = fmax(b->longest, sqrt(length2(b->frame + i * b->length, b->length)));
    *out = *b;
    *b = (bound_projection){0};
done:
    embedder_free(&e);
    return status;
}

void bound_projection_free(ddsc_context *ctx, bound_projection *b)
{
    mem_free(ctx, b->row);
    mem_free(ctx, b->norm2);
    mem_free(ctx, b->frame);
    *b = (bound_projection){0};
}

void bound_projection_tile(const bound_projection *b, int64_t i0, int64_t i1, int64_t j0,
                           int64_t j1, float *out, int64_t ld)
{
    la_sgemm(false, true, i1 - i0, j1 - j0, b->p, -2, b->row + i0 * b->p, b->p, b->row + j0 * b->p,
             b->p, 0, out, ld);
    float keep = (float)(1 - b->slack);
    for (int64_t i = i0; i < i1; i++) {
        float *row = out + (i - i0) * ld, own = keep * b->norm2[i];
        for (int64_t j = j0; j < j1; j++)
            row[j - j0] += own + keep * b->norm2[j];
    }
}

SIMD_CLONES static float distance2(const float *x, const float *y, int64_t n)
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

double bound_projection_pair(const bound_projection *b, int64_t i, int64_t j, double enough)
{
    float largest = 0, stop = (float)fmin(1.01 * enough / b->unit2, 1e30);
    for (int64_t f = 0; f < b->n_frames && largest <= stop; f++) {
        float d2 = distance2(b->frame + (i * b->n_frames + f) * b->length,
                             b->frame + (j * b->n_frames + f) * b->length, b->length);
        largest = d2 > largest ? d2 : largest;
    }
    /* Rounded coordinates move each row by 2^-24 of its length, the sum is off by length 2^-24. */
    double distance = sqrt((double)largest) * (1 - (double)b->length * 0x1p-24);
    distance = fmax(0, distance - b->longest * 0x1p-22);
    return distance * distance * b->unit2;
}
