/* Computes principal directions by a randomized range finder with power iterations (Halko,
 * Martinsson, Tropp 2011).
 *
 * The iteration is Q <- orth(Z^T (Z Q)), where Z consists of the centered rows and is never stored.
 * The principal axes of Z Q then give the directions. Four rounds reduce the error of a direction
 * by the eighth power of a ratio: the largest singular value beyond the basis divided by the
 * singular value of the direction. */
#include <math.h>
#include <string.h>

#include "base/workspace.h"
#include "numeric/linalg/linalg.h"

enum { SPARE = 8, ROUNDS = 4, PIECES = 16, CHUNK_ROWS = 64 };

typedef struct range_finder {
    ddsc_context *ctx;
    int64_t n, d, width; /* width: number of directions wanted plus SPARE */
    const double *rows;
    const double *mean;
    double *basis;  /* width x d, rows orthonormal or zero */
    double *image;  /* n x width */
    double *sum;    /* PIECES x width x d */
    int64_t piece;  /* number of rows per block */
    double *energy; /* PIECES: squared norms of the centered rows */
    scratch chunk;  /* CHUNK_ROWS centered rows */
} range_finder;

/* Computes image = Z Q for a block of rows, and the block's contribution to image^T Z. */
static ddsc_status apply_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const range_finder *r = arg;
    int64_t d = r->d, k = r->width, number = begin / r->piece;
    double *x = scratch_of(&r->chunk, worker), *sum = r->sum + number * k * d;
    r->energy[number] = 0;
    memset(sum, 0, (size_t)(k * d) * sizeof *sum);
    for (int64_t i = begin; i < end; i += CHUNK_ROWS) {
        int64_t rows = BASE_MIN(CHUNK_ROWS, end - i);
        for (int64_t p = 0; p < rows; p++)
            for (int64_t c = 0; c < d; c++)
                x[p * d + c] = r->rows[(i + p) * d + c] - r->mean[c];
        r->energy[number] += la_dot(rows * d, x, x);
        la_gemm(false, true, rows, k, d, 1, x, d, r->basis, d, 0, r->image + i * k, k);
        la_gemm(true, false, k, d, rows, 1, r->image + i * k, k, x, d, 1, sum, d);
    }
    return DDSC_OK;
}

/* Adds the sums of the blocks in order and orthonormalizes the total, which gives the next
 * basis. */
static ddsc_status power_round(range_finder *r)
{
    int64_t size = r->d * r->width;
    CHECK(parallel_for(r->ctx, r->n, r->piece, apply_piece, r));
    memcpy(r->basis, r->sum, (size_t)size * sizeof *r->basis);
    for (int64_t piece = 1; piece * r->piece < r->n; piece++)
        for (int64_t p = 0; p < size; p++)
            r->basis[p] += r->sum[piece * size + p];
    for (int64_t k = 0; k < r->width; k++)
        la_orthogonalize(r->basis, k, r->d);
    return DDSC_OK;
}

/* Computes the principal axes V within the basis, the image times V, and the directions V^T Q. */
static ddsc_status turn_axes(range_finder *r, la_principal *out, int64_t keep)
{
    ddsc_status status = DDSC_OK;
    int64_t k = r->width;
    double *gram = NULL, *values = NULL, *axes = NULL;
    TRY(MEM_NEW(r->ctx, gram, k * k));
    TRY(MEM_NEW(r->ctx, values, keep));
    TRY(MEM_NEW(r->ctx, axes, k * keep));
    la_gemm(true, false, k, k, r->n, 1, r->image, k, r->image, k, 0, gram, k);
    TRY(la_eigen_largest(r->ctx, k, gram, keep, values, axes));
    la_gemm(false, false, r->n, keep, k, 1, r->image, k, axes, keep, 0, out->image, keep);
    la_gemm(true, false, keep, r->d, k, 1, axes, keep, r->basis, r->d, 0, out->direction, r->d);
    for (int64_t c = 0; c < keep; c++)
        out->kept += fmax(values[c], 0);
done:
    MEM_FREE(r->ctx, axes, values, gram);
    return status;
}

static ddsc_status range_open(range_finder *r)
{
    rng draw = rng_make(ctx_seed(r->ctx), RNG_REDUCE, 0);
    CHECK(MEM_NEW(r->ctx, r->basis, r->width * r->d));
    CHECK(MEM_NEW(r->ctx, r->image, r->n * r->width));
    CHECK(MEM_NEW(r->ctx, r->sum, PIECES * r->width * r->d));
    CHECK(MEM_ZERO(r->ctx, r->energy, PIECES));
    CHECK(scratch_create(r->ctx, &r->chunk, CHUNK_ROWS * r->d, sizeof(double)));
    for (int64_t p = 0; p < r->width * r->d; p++)
        r->basis[p] = rng_normal(&draw);
    for (int64_t k = 0; k < r->width; k++)
        la_orthogonalize(r->basis, k, r->d);
    return DDSC_OK;
}

ddsc_status la_principal_make(ddsc_context *ctx, la_principal *out, int64_t n, int64_t d,
                              const double *rows, int64_t keep)
{
    ddsc_status status = DDSC_OK;
    range_finder r = {.ctx = ctx, .n = n, .d = d, .rows = rows};
    *out = (la_principal){0};
    r.width = BASE_MIN(d, keep + SPARE);
    r.piece = BASE_MAX(CHUNK_ROWS, (n + PIECES - 1) / PIECES);
    TRY(MEM_NEW(ctx, out->mean, d));
    TRY(MEM_NEW(ctx, out->direction, keep * d));
    TRY(MEM_NEW(ctx, out->image, n * keep));
    la_center(n, d, rows, out->mean, NULL);
    r.mean = out->mean;
    TRY(range_open(&r));
    for (int round = 0; round < ROUNDS; round++)
        TRY(power_round(&r));
    TRY(parallel_for(ctx, n, r.piece, apply_piece, &r));
    TRY(turn_axes(&r, out, keep));
    for (int64_t piece = 0; piece < PIECES; piece++)
        out->all += r.energy[piece];
done:
    scratch_free(ctx, &r.chunk);
    MEM_FREE(ctx, r.energy, r.sum, r.image, r.basis);
    if (status < 0)
        la_principal_free(ctx, out);
    return status;
}

void la_principal_free(ddsc_context *ctx, la_principal *p)
{
    MEM_FREE(ctx, p->mean, p->direction, p->image);
    *p = (la_principal){0};
}
