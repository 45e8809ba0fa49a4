/* Lloyd's k-means. Sums over rows go in pieces of fixed size, added in order, so that the result
 * does not depend on the thread count. */
#include <math.h>
#include <string.h>

#include "cluster/cluster.h"
#include "linalg/linalg.h"

enum { CHUNK_ROWS = 128, PIECE_MIN = 1024, PIECES_MAX = 64, ITERATIONS_MAX = 300 };
/* Operations that make waking a thread worth it. */
enum { PIECE_WORK = 1 << 22 };

typedef struct lloyd {
    const kmeans_problem *p;
    int64_t k;          /* centres in use */
    int64_t piece_rows; /* a multiple of CHUNK_ROWS */
    int64_t n_pieces;
    double *centre;  /* k x dim */
    double *centre2; /* |c|^2 */
    int32_t *label;
    double *dot;    /* CHUNK_ROWS x k a worker */
    double *sum;    /* by piece: k x dim */
    int64_t *count; /* by piece: k counts and the number of labels that changed */
} lloyd;

static ddsc_status lloyd_new(ddsc_context *ctx, lloyd *l, const kmeans_problem *p)
{
    ddsc_status status = DDSC_OK;
    int64_t rows = BASE_MAX(PIECE_MIN, p->n / PIECES_MAX + 1);
    rows = BASE_MAX(rows, 4 * p->k);
    rows = BASE_MAX(rows, PIECE_WORK / (p->k * p->dim));
    *l = (lloyd){.p = p, .piece_rows = (rows + CHUNK_ROWS - 1) / CHUNK_ROWS * CHUNK_ROWS};
    l->n_pieces = (p->n + l->piece_rows - 1) / l->piece_rows;
    TRY(MEM_NEW(ctx, l->centre, p->k * p->dim));
    TRY(MEM_NEW(ctx, l->centre2, p->k));
    TRY(MEM_NEW(ctx, l->label, p->n));
    TRY(MEM_NEW(ctx, l->dot, parallel_width(ctx) * CHUNK_ROWS * p->k));
    TRY(MEM_NEW(ctx, l->sum, l->n_pieces * p->k * p->dim));
    TRY(MEM_NEW(ctx, l->count, l->n_pieces * (p->k + 1)));
done:
    return status;
}

static void lloyd_free(ddsc_context *ctx, lloyd *l)
{
    mem_free(ctx, l->count);
    mem_free(ctx, l->sum);
    mem_free(ctx, l->dot);
    mem_free(ctx, l->label);
    mem_free(ctx, l->centre2);
    mem_free(ctx, l->centre);
}

/* The nearest centre by |c|^2 - 2 x.c (ties: lower number). */
static int32_t nearest(const double *dot, const double *centre2, int64_t k)
{
    int32_t best = 0;
    double least = INFINITY;
    for (int64_t c = 0; c < k; c++) {
        double v = centre2[c] - 2 * dot[c];
        if (v < least) {
            least = v;
            best = (int32_t)c;
        }
    }
    return best;
}

static void assign_chunk(lloyd *l, int64_t begin, int64_t end, double *dot, double *sum,
                         int64_t *count)
{
    int64_t dim = l->p->dim, k = l->k;
    const double *rows = l->p->rows + begin * dim;
    la_gemm(false, true, end - begin, k, dim, 1, rows, dim, l->centre, dim, 0, dot, k);
    for (int64_t i = begin; i < end; i++, rows += dim, dot += k) {
        int32_t c = nearest(dot, l->centre2, k);
        count[k] += c != l->label[i];
        l->label[i] = c;
        count[c]++;
        double *into = sum + c * dim;
        for (int64_t j = 0; j < dim; j++)
            into[j] += rows[j];
    }
}

/* Labels of a piece of rows, and their share of the new centres. */
static ddsc_status assign_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    lloyd *l = arg;
    int64_t piece = begin / l->piece_rows, size = l->k * l->p->dim;
    double *sum = l->sum + piece * size;
    int64_t *count = l->count + piece * (l->k + 1);
    memset(sum, 0, (size_t)size * sizeof *sum);
    memset(count, 0, (size_t)(l->k + 1) * sizeof *count);
    for (int64_t at = begin; at < end; at += CHUNK_ROWS)
        assign_chunk(l, at, BASE_MIN(at + CHUNK_ROWS, end), l->dot + worker * CHUNK_ROWS * l->p->k,
                     sum, count);
    return DDSC_OK;
}

/* Collect the pieces in the first one. */
static void gather(lloyd *l)
{
    int64_t size = l->k * l->p->dim;
    for (int64_t p = 1; p < l->n_pieces; p++) {
        for (int64_t j = 0; j < size; j++)
            l->sum[j] += l->sum[p * size + j];
        for (int64_t c = 0; c <= l->k; c++)
            l->count[c] += l->count[p * (l->k + 1) + c];
    }
}

/* The row farthest from its centre, of a cluster that can spare one; -1 when all coincide with it.
 */
static int64_t farthest(const lloyd *l)
{
    int64_t dim = l->p->dim, worst = -1;
    double most = 0;
    for (int64_t i = 0; i < l->p->n; i++) {
        if (l->count[l->label[i]] < 2)
            continue;
        const double *c = l->centre + l->label[i] * dim;
        double d = la_distance2(dim, l->p->rows + i * dim, c);
        if (d > most) {
            most = d;
            worst = i;
        }
    }
    return worst;
}

/* An empty cluster takes the farthest row of the others. */
static void fill_empty(lloyd *l)
{
    int64_t dim = l->p->dim;
    for (int32_t c = 0; c < l->k; c++) {
        if (l->count[c] > 0)
            continue;
        int64_t i = farthest(l);
        if (i < 0)
            return;
        const double *row = l->p->rows + i * dim;
        double *from = l->sum + l->label[i] * dim;
        for (int64_t j = 0; j < dim; j++)
            from[j] -= row[j];
        l->count[l->label[i]]--;
        memcpy(l->sum + c * dim, row, (size_t)dim * sizeof *row);
        memcpy(l->centre + c * dim, row, (size_t)dim * sizeof *row);
        l->count[c] = 1;
        l->label[i] = c;
        l->count[l->k]++;
    }
}

static void move_centres(lloyd *l)
{
    int64_t dim = l->p->dim;
    for (int64_t c = 0; c < l->k; c++) {
        double *centre = l->centre + c * dim;
        for (int64_t j = 0; j < dim && l->count[c] > 0; j++)
            centre[j] = l->sum[c * dim + j] / (double)l->count[c];
        l->centre2[c] = la_dot(dim, centre, centre);
    }
}

/* One restart: labels in l->label. */
static ddsc_status lloyd_run(ddsc_context *ctx, lloyd *l, uint64_t restart)
{
    ddsc_status status = DDSC_OK;
    rng r = rng_make(ctx_seed(ctx), RNG_KMEANS, restart);
    TRY(kmeans_start(ctx, l->centre, &l->k, l->p, &r));
    for (int64_t i = 0; i < l->p->n; i++)
        l->label[i] = -1;
    for (int64_t c = 0; c < l->k; c++)
        l->centre2[c] = la_dot(l->p->dim, l->centre + c * l->p->dim, l->centre + c * l->p->dim);
    for (int round = 0; round < ITERATIONS_MAX; round++) {
        TRY(parallel_for(ctx, l->p->n, l->piece_rows, assign_piece, l));
        gather(l);
        fill_empty(l);
        move_centres(l);
        if (l->count[l->k] == 0)
            break;
    }
done:
    return status;
}

typedef struct inertia_job {
    const int32_t *labels;
    int64_t dim, piece_rows;
    const double *rows, *centre;
    double *partial;
} inertia_job;

static ddsc_status inertia_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const inertia_job *j = arg;
    double sum = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        sum += la_distance2(j->dim, j->rows + i * j->dim, j->centre + j->labels[i] * j->dim);
    j->partial[begin / j->piece_rows] = sum;
    return DDSC_OK;
}

ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels, int64_t k,
                           int64_t n, int64_t dim, const double *rows)
{
    ddsc_status status = DDSC_OK;
    double *centre = NULL;
    int64_t *count = NULL;
    inertia_job j = {labels, dim, BASE_MAX(PIECE_MIN, PIECE_WORK / (2 * dim)), rows, NULL, NULL};
    TRY(MEM_ZERO(ctx, centre, k * dim));
    TRY(MEM_ZERO(ctx, count, k));
    TRY(MEM_NEW(ctx, j.partial, n / j.piece_rows + 1));
    for (int64_t i = 0; i < n; i++) {
        count[labels[i]]++;
        for (int64_t c = 0; c < dim; c++)
            centre[labels[i] * dim + c] += rows[i * dim + c];
    }
    for (int64_t c = 0; c < k * dim; c++)
        centre[c] /= (double)BASE_MAX(count[c / dim], 1);
    j.centre = centre;
    TRY(parallel_for(ctx, n, j.piece_rows, inertia_piece, &j));
    *inertia = 0;
    for (int64_t p = 0; p * j.piece_rows < n; p++)
        *inertia += j.partial[p];
done:
    mem_free(ctx, j.partial);
    mem_free(ctx, count);
    mem_free(ctx, centre);
    return status;
}

ddsc_status labels_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k)
{
    int32_t *number = NULL, next = 0;
    ddsc_status status = MEM_NEW(ctx, number, k);
    if (status < 0)
        return status;
    for (int64_t c = 0; c < k; c++)
        number[c] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (number[labels[i]] < 0)
            number[labels[i]] = next++;
        labels[i] = number[labels[i]];
    }
    *n_found = next;
    mem_free(ctx, number);
    return DDSC_OK;
}

ddsc_status kmeans_fit(ddsc_context *ctx, int32_t *labels, double *inertia, int64_t *n_found,
                       const kmeans_problem *problem)
{
    ddsc_status status = DDSC_OK;
    lloyd l = {0};
    int32_t *best = NULL;
    double least = INFINITY, objective;
    TRY(lloyd_new(ctx, &l, problem));
    TRY(MEM_NEW(ctx, best, problem->n));
    for (int64_t t = 0; t < problem->restarts; t++) {
        TRY(lloyd_run(ctx, &l, (uint64_t)t));
        TRY(kmeans_inertia(ctx, &objective, l.label, l.k, problem->n, problem->dim, problem->rows));
        progress_add(ctx, problem->progress);
        if (t == 0 || objective < least) {
            least = objective;
            memcpy(best, l.label, (size_t)problem->n * sizeof *best);
        }
    }
    TRY(labels_renumber(ctx, best, n_found, problem->n, problem->k));
    memcpy(labels, best, (size_t)problem->n * sizeof *best);
    *inertia = least;
done:
    mem_free(ctx, best);
    lloyd_free(ctx, &l);
    return status;
}

/* Rows moved to mean zero: the products that stand in for distances then lose fewest digits. */
static ddsc_status centre_rows(ddsc_context *ctx, double *out, const double *rows, int64_t n,
                               int64_t dim)
{
    double *mean = NULL;
    ddsc_status status = MEM_ZERO(ctx, mean, dim);
    if (status < 0)
        return status;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            mean[j] += rows[i * dim + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            out[i * dim + j] = rows[i * dim + j] - mean[j];
    mem_free(ctx, mean);
    return DDSC_OK;
}

static ddsc_status check_rows(ddsc_context *ctx, int64_t n, int64_t dim, const double *rows)
{
    for (int64_t i = 0; i < n * dim; i++)
        if (!isfinite(rows[i]))
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "k-means: row %lld, column %lld holds %g",
                            (long long)(i / dim), (long long)(i % dim), rows[i]);
    return DDSC_OK;
}

ddsc_status ddsc_kmeans_run(ddsc_context *context, int32_t *labels, double *inertia, int64_t n,
                            int64_t dim, const double *rows, int64_t k, int64_t restarts)
{
    ddsc_status status = DDSC_OK;
    double *centred = NULL, objective;
    int64_t n_found, size;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (!labels || !rows)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "k-means needs rows and room for labels");
    if (n < 1 || dim < 1 || !mul_ok(n, dim, &size) || n > INT32_MAX)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "k-means on %lld rows of %lld columns",
                        (long long)n, (long long)dim);
    if (k < 1 || k > n || restarts < 1)
        return ctx_fail(
            context, DDSC_ERROR_ARGUMENT,
            "k-means needs 1 <= k <= %lld rows and a restart, not k = %lld, %lld restarts",
            (long long)n, (long long)k, (long long)restarts);
    progress_begin(context, "k-means", restarts);
    TRY(check_rows(context, n, dim, rows));
    TRY(MEM_NEW(context, centred, size));
    TRY(centre_rows(context, centred, rows, n, dim));
    kmeans_problem problem = {n, dim, centred, k, restarts, 1};
    TRY(kmeans_fit(context, labels, &objective, &n_found, &problem));
    progress_end(context);
    if (inertia)
        *inertia = objective;
done:
    mem_free(context, centred);
    return status;
}
