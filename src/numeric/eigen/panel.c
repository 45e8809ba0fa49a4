/* Implements panels of column vectors: products, Gram matrices, rotations, residuals and random
 * columns.
 *
 * A panel is a tall n x width block, stored by rows. All operations process blocks of rows in
 * parallel. The Gram matrix A^T B and the residual norms are sums over rows. Each block produces a
 * partial sum, and the partial sums are added in a fixed tree. The boundaries of the blocks depend
 * only on the shape of the panel, so the results do not depend on the number of threads.
 *
 * Matrix products within a block call BLAS on small chunks of rows. For widths p and q, Y = V U
 * takes 2 n p q operations, and so does a Gram matrix. */
#include "numeric/eigen/panel.h"

#include <math.h>
#include <string.h>

#include "base/blocks.h"
#include "numeric/linalg/linalg.h"

enum { PIECE_MIN = 512, PIECES_MAX = 64, PIECE_WORK = 1 << 19 };
/* Products are computed in chunks small enough for the BLAS kernels that do not copy their
 * operands. */
enum { CHUNK_MIN = 128, CHUNK_WORK = 1 << 19 };

ddsc_status panel_new(ddsc_context *ctx, panel *p, int64_t n, int64_t width)
{
    int64_t size;
    *p = (panel){.n = n, .width = width, .stride = width};
    if (!mul_ok(n, width, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "cannot allocate %lld vectors of %lld entries",
                        (long long)width, (long long)n);
    return MEM_NEW(ctx, p->x, size);
}

ddsc_status panel_reserve(ddsc_context *ctx, panel *p, int64_t stride)
{
    int64_t size;
    if (!mul_ok(p->n, stride, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "cannot allocate %lld vectors of %lld entries",
                        (long long)stride, (long long)p->n);
    CHECK(mem_resize(ctx, &p->x, size, sizeof *p->x));
    for (int64_t i = p->n - 1; i > 0; i--)
        memmove(p->x + i * stride, p->x + i * p->stride, (size_t)p->width * sizeof *p->x);
    p->stride = stride;
    return DDSC_OK;
}

void panel_free(ddsc_context *ctx, panel *p)
{
    mem_free(ctx, p->x);
    *p = (panel){0};
}

/* Returns the smallest number of rows for which waking a thread saves time, given `work` operations
 * per row. */
static int64_t grain_rows(int64_t work)
{
    return BASE_MAX(PIECE_MIN, PIECE_WORK / BASE_MAX(work, 1));
}

/* Returns the number of rows that contribute to one partial sum. This number is large enough that
 * the partial sums take little memory compared with the panels. */
static int64_t piece_rows(int64_t n, int64_t width, int64_t work)
{
    int64_t rows = BASE_MAX(grain_rows(work), n / PIECES_MAX + 1);
    return BASE_MAX(rows, 4 * width);
}

static int64_t chunk_rows(int64_t work)
{
    return BASE_MAX(CHUNK_MIN, CHUNK_WORK / BASE_MAX(work, 1));
}

typedef struct gram_job {
    const panel *a, *b;
    int64_t rows;
    double *partial;
} gram_job;

static ddsc_status gram_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const gram_job *j = arg;
    const panel *a = j->a, *b = j->b;
    int64_t work = a->width * b->width, step = chunk_rows(work);
    double *sum = j->partial + begin / j->rows * work;
    (void)worker;
    for (int64_t at = begin; at < end; at += step)
        la_gemm(true, false, a->width, b->width, BASE_MIN(step, end - at), 1, a->x + at * a->stride,
                a->stride, b->x + at * b->stride, b->stride, at > begin, sum, b->width);
    return DDSC_OK;
}

ddsc_status panel_gram(ddsc_context *ctx, double *g, const panel *a, const panel *b)
{
    ddsc_status status = DDSC_OK;
    int64_t size = a->width * b->width;
    gram_job j = {a, b, piece_rows(a->n, BASE_MAX(a->width, b->width), size), NULL};
    int64_t n_pieces = (a->n + j.rows - 1) / j.rows;
    if (size == 0)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, j.partial, n_pieces * size));
    TRY(parallel_for(ctx, a->n, j.rows, gram_piece, &j));
    for (int64_t k = 0; k < size; k++)
        g[k] = tree_sum(j.partial + k, n_pieces, size);
done:
    mem_free(ctx, j.partial);
    return status;
}

/* Computes Y = alpha V U + beta Y, row by row. */
typedef struct multiply_job {
    panel *y;
    const panel *v;
    const double *u;
    int64_t ldu;
    double alpha, beta;
} multiply_job;

static ddsc_status multiply_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const multiply_job *j = arg;
    const panel *v = j->v, *y = j->y;
    int64_t step = chunk_rows(v->width * y->width);
    (void)worker;
    for (int64_t at = begin; at < end; at += step)
        la_gemm(false, false, BASE_MIN(step, end - at), y->width, v->width, j->alpha,
                v->x + at * v->stride, v->stride, j->u, j->ldu, j->beta, y->x + at * y->stride,
                y->stride);
    return DDSC_OK;
}

ddsc_status panel_subtract(ddsc_context *ctx, panel *y, const panel *v, const double *c)
{
    multiply_job j = {y, v, c, y->width, -1, 1};
    if (v->width == 0 || y->width == 0)
        return DDSC_OK;
    return parallel_for(ctx, y->n, grain_rows(v->width * y->width), multiply_rows, &j);
}

ddsc_status panel_multiply(ddsc_context *ctx, panel *y, const panel *v, const double *u,
                           int64_t ldu)
{
    multiply_job j = {y, v, u, ldu, 1, 0};
    return parallel_for(ctx, y->n, grain_rows(v->width * y->width), multiply_rows, &j);
}

typedef struct rotate_job {
    panel *x;
    int64_t count;
    const double *u;
    int64_t ldu;
    int64_t step;
    double *scratch; /* step x count per worker */
} rotate_job;

static void rotate_chunk(const rotate_job *j, int64_t begin, int64_t end, double *product)
{
    int64_t stride = j->x->stride;
    double *rows = j->x->x + begin * stride;
    la_gemm(false, false, end - begin, j->count, j->x->width, 1, rows, stride, j->u, j->ldu, 0,
            product, j->count);
    for (int64_t i = 0; i < end - begin; i++)
        memcpy(rows + i * stride, product + i * j->count, (size_t)j->count * sizeof *rows);
}

static ddsc_status rotate_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const rotate_job *j = arg;
    for (int64_t at = begin; at < end; at += j->step)
        rotate_chunk(j, at, BASE_MIN(at + j->step, end), j->scratch + worker * j->step * j->count);
    return DDSC_OK;
}

ddsc_status panel_rotate(ddsc_context *ctx, panel *x, int64_t count, const double *u, int64_t ldu)
{
    ddsc_status status = DDSC_OK;
    rotate_job j = {x, count, u, ldu, chunk_rows(x->width * count), NULL};
    if (count == 0)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, j.scratch, parallel_width(ctx) * j.step * count));
    TRY(parallel_for(ctx, x->n, grain_rows(x->width * count), rotate_rows, &j));
done:
    mem_free(ctx, j.scratch);
    return status;
}

typedef struct residual_job {
    const panel *x, *mx;
    const double *value;
    int64_t rows;
    double *partial;
} residual_job;

static ddsc_status residual_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const residual_job *j = arg;
    int64_t w = j->x->width;
    double *sum = j->partial + begin / j->rows * w;
    (void)worker;
    memset(sum, 0, (size_t)w * sizeof *sum);
    for (int64_t i = begin; i < end; i++) {
        const double *x = j->x->x + i * j->x->stride, *mx = j->mx->x + i * j->mx->stride;
        for (int64_t k = 0; k < w; k++) {
            double d = mx[k] - j->value[k] * x[k];
            sum[k] += d * d;
        }
    }
    return DDSC_OK;
}

ddsc_status panel_residuals(ddsc_context *ctx, double *norm, const panel *x, const panel *mx,
                            const double *value)
{
    ddsc_status status = DDSC_OK;
    residual_job j = {x, mx, value, piece_rows(x->n, 0, 3 * x->width), NULL};
    int64_t n_pieces = (x->n + j.rows - 1) / j.rows;
    TRY(MEM_NEW(ctx, j.partial, n_pieces * x->width));
    TRY(parallel_for(ctx, x->n, j.rows, residual_piece, &j));
    for (int64_t k = 0; k < x->width; k++)
        norm[k] = sqrt(tree_sum(j.partial + k, n_pieces, x->width));
done:
    mem_free(ctx, j.partial);
    return status;
}

typedef struct copy_job {
    panel *b;
    const panel *a;
    int64_t to, from, count;
} copy_job;

static ddsc_status copy_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const copy_job *j = arg;
    const panel *a = j->a, *b = j->b;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        memcpy(b->x + i * b->stride + j->to, a->x + i * a->stride + j->from,
               (size_t)j->count * sizeof *a->x);
    return DDSC_OK;
}

ddsc_status panel_copy(ddsc_context *ctx, panel *b, int64_t to, const panel *a, int64_t from,
                       int64_t count)
{
    copy_job j = {b, a, to, from, count};
    return parallel_for(ctx, a->n, grain_rows(16 * count), copy_rows, &j);
}

typedef struct random_job {
    panel *p;
    int64_t from, count;
    const panel_noise *noise;
    uint64_t seed;
} random_job;

/* Fills rows with random numbers. Each row has its own stream, so rows can be filled in any
 * order. */
static ddsc_status random_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const random_job *j = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double *row = j->p->x + i * j->p->stride + j->from;
        bool alive = !j->noise->dead || j->noise->dead[i] >= 0;
        rng r = rng_make(j->seed, j->noise->stream, j->noise->round << 36 | (uint64_t)i);
        for (int64_t k = 0; k < j->count; k++)
            row[k] = alive ? rng_uniform(&r) - 0.5 : 0;
    }
    return DDSC_OK;
}

ddsc_status panel_random(ddsc_context *ctx, panel *p, int64_t from, int64_t count,
                         panel_noise *noise)
{
    random_job j = {p, from, count, noise, ctx_seed(ctx)};
    ddsc_status status = parallel_for(ctx, p->n, grain_rows(16 * count), random_rows, &j);
    noise->round = (noise->round + 1) & 0xFFFF;
    return status;
}
