/* The projection bound: quantile embeddings of rotated frames, shortened by principal directions;
 * those of a few frames are kept whole for the bound of single pairs. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "bound/bound.h"
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
    LANES = 16
};

typedef float lanes __attribute__((vector_size(4 * LANES)));

typedef struct embedder {
    ddsc_context *ctx;
    const measures *m;
    int64_t n_frames, n_axes, length; /* length = n_axes BINS */
    double *axis;                     /* n_axes x d, unit vectors, each frame orthonormal */
    double unit;
    double *share; /* n_frames, sum 1: weights in the average over frames */
    int64_t n_kept, first_kept, kept_every; /* frames kept whole: one in kept_every */
    double *mean;                           /* length */
    double *basis;                          /* p x length, orthonormal rows */
    int64_t p;
    float *row;
    float *norm2;
    float *frame;
    struct projection_scratch *scratch; /* one per worker */
} embedder;

typedef struct projected {
    double t, w;
} projected;

typedef struct projection_scratch {
    projected *sorted, *room; /* largest item */
    double *long_row;         /* BLOCK x length */
    double *short_row;        /* BLOCK x MAX_DIRECTIONS */
} projection_scratch;

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

static ddsc_status frames_make(embedder *e)
{
    int64_t d = e->m->d;
    rng r = rng_make(0, RNG_FRAMES, 0);
    e->n_frames = d == 1 ? 1 : d == 2 ? PLANE_FRAMES : BASE_MAX(1, MAX_AXES / d);
    e->n_axes = e->n_frames * d;
    e->length = e->n_axes * BINS;
    e->n_kept = BASE_MIN(e->n_frames, KEPT_AXES / d);
    e->n_kept = e->n_kept < 2 ? 0 : e->n_kept; /* the average over one frame is that frame */
    e->kept_every = e->n_kept > 0 ? e->n_frames / e->n_kept : 1;
    if (d == 2 && marginal_applies(e->m)) { /* between the lines of the grid */
        e->n_kept = 4;
        e->first_kept = 1;
        e->kept_every = 3;
    }
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
static void sort_projected(projected *x, projected *room, int64_t n)
{
    projected *from = x, *to = room;
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

static void embed_item(const embedder *e, projection_scratch *s, int64_t i, double *out)
{
    item_view item = measures_item(e->m, i);
    for (int64_t a = 0; a < e->n_axes; a++) {
        for (int64_t q = 0; q < item.n; q++)
            s->sorted[q] = (projected){
                la_dot(e->m->d, e->axis + a * e->m->d, measures_point(e->m, item.index[q])) /
                    e->unit,
                item.weight[q]};
        sort_projected(s->sorted, s->room, item.n);
        quantile_bins(s->sorted, item.n, sqrt(e->share[a / e->m->d] / BINS), out + a * BINS);
    }
}

/* ---- principal directions of a sample ---- */

typedef struct sample_job {
    embedder *e;
    double *rows; /* n_sample x length */
    int64_t n_sample;
} sample_job;

static ddsc_status sample_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sample_job *j = arg;
    for (int64_t s = begin; s < end; s++)
        embed_item(j->e, &j->e->scratch[worker], s * j->e->m->n / j->n_sample,
                   j->rows + s * j->e->length);
    return DDSC_OK;
}

static void centre_rows(embedder *e, double *rows, int64_t n)
{
    memset(e->mean, 0, (size_t)e->length * sizeof *e->mean);
    for (int64_t s = 0; s < n; s++)
        for (int64_t c = 0; c < e->length; c++)
            e->mean[c] += rows[s * e->length + c] / (double)n;
    for (int64_t s = 0; s < n; s++)
        for (int64_t c = 0; c < e->length; c++)
            rows[s * e->length + c] -= e->mean[c];
}

/* Directions rows^T u / sqrt(lambda) of the sample's Gram matrix; those below 1e-6 of the trace add
 * nothing. Orthonormal up to rounding, which the slack covers. */
static ddsc_status principal_directions(embedder *e, double *rows, int64_t n)
{
    ddsc_status status = DDSC_OK;
    double *gram = NULL, *value = NULL, *vector = NULL, trace = 0;
    TRY(MEM_NEW(e->ctx, gram, n * n));
    TRY(MEM_NEW(e->ctx, vector, n * n));
    TRY(MEM_NEW(e->ctx, value, n));
    la_gemm(false, true, n, n, e->length, 1, rows, e->length, rows, e->length, 0, gram, n);
    for (int64_t s = 0; s < n; s++)
        trace += gram[s * n + s];
    TRY(la_eigen_symmetric(e->ctx, n, gram, value, vector));
    int64_t most = BASE_MIN(e->n_kept > 0 ? FEW_DIRECTIONS : MAX_DIRECTIONS, n);
    e->p = 0;
    while (e->p < most && value[n - 1 - e->p] > 1e-6 * trace)
        e->p++;
    TRY(MEM_NEW(e->ctx, e->basis, BASE_MAX(1, e->p) * e->length));
    for (int64_t k = 0; k < e->p; k++) {
        double *direction = e->basis + k * e->length;
        la_gemm(false, false, 1, e->length, n, 1 / sqrt(value[n - 1 - k]), vector + (n - 1 - k) * n,
                n, rows, e->length, 0, direction, e->length);
    }
done:
    mem_free(e->ctx, gram);
    mem_free(e->ctx, vector);
    mem_free(e->ctx, value);
    return status;
}

static ddsc_status basis_make(embedder *e)
{
    ddsc_status status = DDSC_OK;
    sample_job j = {.e = e, .n_sample = BASE_MIN(e->m->n, SAMPLE)};
    TRY(MEM_NEW(e->ctx, e->mean, e->length));
    TRY(MEM_NEW(e->ctx, j.rows, j.n_sample * e->length));
    TRY(parallel_for(e->ctx, j.n_sample, 8, sample_range, &j));
    centre_rows(e, j.rows, j.n_sample);
    TRY(principal_directions(e, j.rows, j.n_sample));
done:
    mem_free(e->ctx, j.rows);
    return status;
}

/* ---- all items ---- */

/* The kept frames, no longer weighted by their shares; from the mean, where floats are fine. */
static void keep_frames(const embedder *e, int64_t i, const double *row)
{
    int64_t length = e->m->d * BINS;
    for (int64_t k = 0; k < e->n_kept; k++) {
        int64_t f = e->first_kept + k * e->kept_every;
        float *to = e->frame + (i * e->n_kept + k) * length;
        for (int64_t c = 0; c < length; c++)
            to[c] = (float)(row[f * length + c] / sqrt(e->share[f]));
    }
}

/* Coordinates along the basis, and the length of the rest as the last one. */
static ddsc_status embed_range(void *arg, int64_t begin, int64_t end, int worker)
{
    embedder *e = arg;
    projection_scratch *s = &e->scratch[worker];
    int64_t n = end - begin, width = e->p + 1;
    for (int64_t i = 0; i < n; i++) {
        double *row = s->long_row + i * e->length;
        embed_item(e, s, begin + i, row);
        for (int64_t c = 0; c < e->length; c++)
            row[c] -= e->mean[c];
        keep_frames(e, begin + i, row);
    }
    if (e->p > 0)
        la_gemm(false, true, n, e->p, e->length, 1, s->long_row, e->length, e->basis, e->length, 0,
                s->short_row, e->p);
    for (int64_t i = 0; i < n; i++) {
        const double *row = s->long_row + i * e->length, *along = s->short_row + i * e->p;
        float *to = e->row + (begin + i) * width;
        double rest = la_dot(e->length, row, row) - la_dot(e->p, along, along), norm2 = 0;
        for (int64_t k = 0; k < e->p; k++)
            to[k] = (float)along[k];
        to[e->p] = (float)sqrt(fmax(rest, 0));
        for (int64_t k = 0; k < width; k++)
            norm2 += (double)to[k] * (double)to[k];
        e->norm2[begin + i] = (float)norm2;
    }
    return DDSC_OK;
}

static ddsc_status scratch_make(embedder *e)
{
    int n_workers = parallel_width(e->ctx);
    CHECK(MEM_ZERO(e->ctx, e->scratch, n_workers));
    for (int w = 0; w < n_workers; w++) {
        CHECK(MEM_NEW(e->ctx, e->scratch[w].sorted, measures_largest_item(e->m)));
        CHECK(MEM_NEW(e->ctx, e->scratch[w].room, measures_largest_item(e->m)));
        CHECK(MEM_NEW(e->ctx, e->scratch[w].long_row, BLOCK * e->length));
        CHECK(MEM_NEW(e->ctx, e->scratch[w].short_row, BLOCK * MAX_DIRECTIONS));
    }
    return DDSC_OK;
}

static void embedder_free(embedder *e)
{
    for (int w = 0; e->scratch && w < parallel_width(e->ctx); w++) {
        mem_free(e->ctx, e->scratch[w].sorted);
        mem_free(e->ctx, e->scratch[w].room);
        mem_free(e->ctx, e->scratch[w].long_row);
        mem_free(e->ctx, e->scratch[w].short_row);
    }
    mem_free(e->ctx, e->scratch);
    mem_free(e->ctx, e->axis);
    mem_free(e->ctx, e->share);
    mem_free(e->ctx, e->mean);
    mem_free(e->ctx, e->basis);
    mem_free(e->ctx, e->row);
    mem_free(e->ctx, e->norm2);
    mem_free(e->ctx, e->frame);
}

static double length2(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        sum += (double)x[c] * (double)x[c];
    return sum;
}

ddsc_status projection_bound_make(ddsc_context *ctx, projection_bound *out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    embedder e = {.ctx = ctx, .m = m, .unit = bounds_unit(m)};
    *out = (projection_bound){0};
    TRY(frames_make(&e));
    TRY(scratch_make(&e));
    TRY(basis_make(&e));
    TRY(MEM_NEW(ctx, e.row, m->n * (e.p + 1)));
    TRY(MEM_NEW(ctx, e.norm2, m->n));
    TRY(MEM_NEW(ctx, e.frame, m->n * e.n_kept * m->d * BINS));
    TRY(parallel_for(ctx, m->n, BLOCK, embed_range, &e));
    /* Float products of p + 1 terms, rounded coordinates: (p + 8) 2^-24 of the norms covers both.
     */
    *out = (projection_bound){.n = m->n,
                              .p = e.p + 1,
                              .row = e.row,
                              .norm2 = e.norm2,
                              .slack = (double)(e.p + 8) * 0x1p-23,
                              .n_frames = e.n_kept,
                              .length = m->d * BINS,
                              .frame = e.frame,
                              .unit2 = e.unit * e.unit};
    for (int64_t i = 0; i < m->n * out->n_frames; i++)
        out->longest = fmax(out->longest, sqrt(length2(e.frame + i * out->length, out->length)));
    e.row = e.norm2 = e.frame = NULL;
done:
    embedder_free(&e);
    return status;
}

ddsc_status projection_rows_make(ddsc_context *ctx, float **rows, int64_t *columns,
                                 const measures *m)
{
    ddsc_status status = DDSC_OK;
    embedder e = {.ctx = ctx, .m = m, .unit = bounds_unit(m)};
    TRY(frames_make(&e));
    e.n_kept = 0;
    TRY(scratch_make(&e));
    TRY(basis_make(&e));
    TRY(MEM_NEW(ctx, e.row, m->n * (e.p + 1)));
    TRY(MEM_NEW(ctx, e.norm2, m->n));
    TRY(parallel_for(ctx, m->n, BLOCK, embed_range, &e));
    *rows = e.row;
    *columns = e.p + 1;
    e.row = NULL;
done:
    embedder_free(&e);
    return status;
}

void projection_bound_free(ddsc_context *ctx, projection_bound *b)
{
    mem_free(ctx, b->row);
    mem_free(ctx, b->norm2);
    mem_free(ctx, b->frame);
    *b = (projection_bound){0};
}

void projection_bound_tile(const projection_bound *b, int64_t i0, int64_t i1, int64_t j0,
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
    lanes sum = {0};
    for (int64_t c = 0; c < n; c += LANES) {
        lanes gap = *(const lanes *)(x + c) - *(const lanes *)(y + c);
        sum += gap * gap;
    }
    float total = 0;
    for (int k = 0; k < LANES; k++)
        total += sum[k];
    return total;
}

double projection_bound_pair(const projection_bound *b, int64_t i, int64_t j, double enough)
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
