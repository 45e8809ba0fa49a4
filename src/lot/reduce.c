/* The embedding cut to its principal components by a randomised range finder with power iterations
 * (Halko, Martinsson, Tropp 2011): Q <- orth(Z^T (Z Q)), Z centred, never copied. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "lot/lot.h"

enum { SPARE = 8, ROUNDS = 4, PIECES = 16, CHUNK_ROWS = 64 };

typedef struct reduction {
    ddsc_context *ctx;
    int64_t n, columns, width; /* width: components and a few to spare */
    const double *z;
    double *mean;   /* columns */
    double *basis;  /* columns x width, orthonormal columns */
    double *image;  /* n x width: centred z times basis */
    double *sum;    /* PIECES x columns x width */
    double **room;  /* a worker: CHUNK_ROWS centred rows */
    int64_t piece;  /* rows of a piece */
    double *energy; /* PIECES: squared norms of the centred rows */
} reduction;

/* image = Z Q of a piece of rows, and the piece's share of Z^T image. */
static ddsc_status apply_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const reduction *r = arg;
    int64_t c = r->columns, k = r->width, number = begin / r->piece;
    double *x = r->room[worker], *sum = r->sum + number * c * k;
    r->energy[number] = 0;
    memset(sum, 0, (size_t)(c * k) * sizeof *sum);
    for (int64_t i = begin; i < end; i += CHUNK_ROWS) {
        int64_t rows = BASE_MIN(CHUNK_ROWS, end - i);
        for (int64_t p = 0; p < rows * c; p++)
            x[p] = r->z[i * c + p] - r->mean[p % c];
        r->energy[number] += la_dot(rows * c, x, x);
        la_gemm(false, false, rows, k, c, 1, x, c, r->basis, k, 0, r->image + i * k, k);
        la_gemm(true, false, c, k, rows, 1, x, c, r->image + i * k, k, 1, sum, k);
    }
    return DDSC_OK;
}

static ddsc_status apply(reduction *r)
{
    return parallel_for(r->ctx, r->n, r->piece, apply_piece, r);
}

/* Gram-Schmidt twice over the columns of a (n x k); dependent ones become zero. */
static void orthonormalise(int64_t n, int64_t k, double *a)
{
    for (int64_t c = 0; c < k; c++) {
        double before = 0, norm = 0;
        for (int64_t i = 0; i < n; i++)
            before += a[i * k + c] * a[i * k + c];
        for (int again = 0; again < 2; again++)
            for (int64_t b = 0; b < c; b++) {
                double dot = 0;
                for (int64_t i = 0; i < n; i++)
                    dot += a[i * k + b] * a[i * k + c];
                for (int64_t i = 0; i < n; i++)
                    a[i * k + c] -= dot * a[i * k + b];
            }
        for (int64_t i = 0; i < n; i++)
            norm += a[i * k + c] * a[i * k + c];
        double scale = norm > 1e-24 * before ? 1 / sqrt(norm) : 0;
        for (int64_t i = 0; i < n; i++)
            a[i * k + c] *= scale;
    }
}

/* The pieces' sums in order, then orthonormal: the next basis. */
static void next_basis(reduction *r)
{
    int64_t size = r->columns * r->width;
    memcpy(r->basis, r->sum, (size_t)size * sizeof *r->basis);
    for (int64_t piece = 1; piece * r->piece < r->n; piece++)
        for (int64_t p = 0; p < size; p++)
            r->basis[p] += r->sum[piece * size + p];
    orthonormalise(r->columns, r->width, r->basis);
}

/* Principal axes within the basis: rows (n x keep) = image V; returns the squared norm kept. */
static ddsc_status rotate(reduction *r, double *rows, int64_t keep, double *kept)
{
    ddsc_status status = DDSC_OK;
    int64_t k = r->width;
    double *gram = NULL, *values = NULL, *axes = NULL;
    TRY(MEM_NEW(r->ctx, gram, k * k));
    TRY(MEM_NEW(r->ctx, values, keep));
    TRY(MEM_NEW(r->ctx, axes, k * keep));
    la_gemm(true, false, k, k, r->n, 1, r->image, k, r->image, k, 0, gram, k);
    TRY(la_eigen_largest(r->ctx, k, gram, keep, values, axes));
    la_gemm(false, false, r->n, keep, k, 1, r->image, k, axes, keep, 0, rows, keep);
    *kept = 0;
    for (int64_t c = 0; c < keep; c++)
        *kept += fmax(values[c], 0);
done:
    mem_free(r->ctx, axes);
    mem_free(r->ctx, values);
    mem_free(r->ctx, gram);
    return status;
}

static ddsc_status reduction_open(reduction *r)
{
    ddsc_context *ctx = r->ctx;
    rng draw = rng_make(ctx_seed(ctx), RNG_REDUCE, 0);
    r->piece = BASE_MAX(CHUNK_ROWS, (r->n + PIECES - 1) / PIECES);
    CHECK(MEM_ZERO(ctx, r->mean, r->columns));
    CHECK(MEM_NEW(ctx, r->basis, r->columns * r->width));
    CHECK(MEM_NEW(ctx, r->image, r->n * r->width));
    CHECK(MEM_NEW(ctx, r->sum, PIECES * r->columns * r->width));
    CHECK(MEM_ZERO(ctx, r->energy, PIECES));
    CHECK(MEM_ZERO(ctx, r->room, parallel_width(ctx)));
    for (int w = 0; w < parallel_width(ctx); w++)
        CHECK(MEM_NEW(ctx, r->room[w], CHUNK_ROWS * r->columns));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t c = 0; c < r->columns; c++)
            r->mean[c] += r->z[i * r->columns + c] / (double)r->n;
    for (int64_t p = 0; p < r->columns * r->width; p++)
        r->basis[p] = rng_normal(&draw);
    orthonormalise(r->columns, r->width, r->basis);
    return DDSC_OK;
}

static void reduction_close(reduction *r)
{
    for (int w = 0; r->room && w < parallel_width(r->ctx); w++)
        mem_free(r->ctx, r->room[w]);
    void *blocks[] = {r->room, r->mean, r->basis, r->image, r->sum, r->energy};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        mem_free(r->ctx, blocks[b]);
}

ddsc_status lot_reduce(ddsc_context *ctx, double **rows, double *left_out, const double *z,
                       int64_t n, int64_t columns, int64_t keep)
{
    ddsc_status status = DDSC_OK;
    reduction r = {.ctx = ctx, .n = n, .columns = columns, .z = z};
    double *out = NULL, kept = 0, all = 0;
    r.width = BASE_MIN(columns, keep + SPARE);
    TRY(reduction_open(&r));
    TRY(MEM_NEW(ctx, out, n * keep));
    progress_begin(ctx, "components", 0);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(apply(&r));
        next_basis(&r);
    }
    TRY(apply(&r));
    TRY(rotate(&r, out, keep, &kept));
    progress_end(ctx);
    for (int64_t piece = 0; piece < PIECES; piece++)
        all += r.energy[piece];
    *left_out = all > 0 ? fmax(0, 1 - kept / all) : 0;
    *rows = out;
    out = NULL;
done:
    mem_free(ctx, out);
    reduction_close(&r);
    return status;
}
