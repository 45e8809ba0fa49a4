/* Projects rows onto their two directions of largest variance, for figures.
 *
 * The directions are computed by power iterations with a fixed start. If variances are equal, as
 * can occur with separate components, the directions that an eigendecomposition returns depend on
 * rounding. Power iterations find the same directions on every machine. */
#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"

enum { MAX_SWEEPS = 300, PRODUCTS_GRAIN = 8, ROWS_GRAIN = 1024 };

typedef struct projection {
    ddsc_context *ctx;
    int64_t n, dim;
    const double *rows;
    int64_t order, length; /* the smaller and the larger of n and dim */
    double *centered;      /* length x order: the centered rows or their transpose */
    double *products;      /* order x order: centered^T centered */
    double *vector;        /* 2 x order */
    double *direction;     /* 2 x dim */
    double *xy;            /* n x 2 */
} projection;

static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Returns a power of two that scales all values to magnitudes below 1, so that products neither
 * overflow nor lose bits. */
static double project_scale_of(const double *x, int64_t n)
{
    double largest = 0;
    int exponent;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    frexp(largest, &exponent);
    return ldexp(1, -BASE_MAX(exponent, -1000));
}

static ddsc_status project_center_rows(projection *p)
{
    int64_t n = p->n, dim = p->dim;
    double scale = project_scale_of(p->rows, n * dim), *mean = NULL;
    CHECK(MEM_ZERO(p->ctx, mean, dim));
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < dim; a++)
            mean[a] += scale * p->rows[i * dim + a] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < dim; a++)
            p->centered[dim <= n ? i * dim + a : a * n + i] =
                scale * p->rows[i * dim + a] - mean[a];
    mem_free(p->ctx, mean);
    return DDSC_OK;
}

/* Computes rows [begin, end) of `products`. Each sum adds the rows of `centered` in order. */
static ddsc_status multiply(void *arg, int64_t begin, int64_t end, int worker)
{
    const projection *p = arg;
    (void)worker;
    for (int64_t i = 0; i < p->length; i++) {
        const double *x = p->centered + i * p->order;
        for (int64_t a = begin; a < end; a++)
            for (int64_t b = 0; b < p->order; b++)
                p->products[a * p->order + b] += x[a] * x[b];
    }
    return DDSC_OK;
}

/* Replaces v with C v, orthogonal to `before` and of length 1. Returns false if the result is
 * zero. */
static bool sweep(const projection *p, double *v, double *work, const double *before)
{
    for (int64_t a = 0; a < p->order; a++)
        work[a] = dot(p->products + a * p->order, v, p->order);
    double along = before ? dot(work, before, p->order) : 0;
    for (int64_t a = 0; before && a < p->order; a++)
        work[a] -= along * before[a];
    double length = sqrt(dot(work, work, p->order));
    if (!(length > 0))
        return false;
    for (int64_t a = 0; a < p->order; a++)
        v[a] = work[a] / length;
    return true;
}

/* Computes an eigenvector of the products. The result is zero if all variance is along `before`. */
static ddsc_status project_iterate(const projection *p, double *v, double *work,
                                   const double *before)
{
    int n_sweeps = 0;
    for (int64_t a = 0; a < p->order; a++)
        v[a] = 1 + 0.37 * (double)((a * 7 + (before ? 3 : 0)) % 11);
    while (n_sweeps < MAX_SWEEPS && sweep(p, v, work, before)) {
        n_sweeps++;
        CHECK(progress_poll(p->ctx));
    }
    /* If the remainder consists only of rounding errors, it is not orthogonal to `before`, and the
     * result is zero. */
    if (n_sweeps == 0 || (before && fabs(dot(v, before, p->order)) > 0.01))
        memset(v, 0, (size_t)p->order * sizeof *v);
    return DDSC_OK;
}

/* Converts an eigenvector to a direction in the space of the columns, with a positive largest
 * entry. */
static void take_direction(const projection *p, double *direction, const double *v)
{
    int64_t largest = 0;
    double length = 1;
    if (p->order == p->dim)
        memcpy(direction, v, (size_t)p->dim * sizeof *v);
    else {
        for (int64_t a = 0; a < p->dim; a++)
            direction[a] = dot(p->centered + a * p->order, v, p->order);
        length = sqrt(dot(direction, direction, p->dim));
    }
    for (int64_t a = 1; a < p->dim; a++)
        largest = fabs(direction[a]) > fabs(direction[largest]) ? a : largest;
    length = direction[largest] < 0 ? -length : length;
    for (int64_t a = 0; a < p->dim && length != 0; a++)
        direction[a] /= length;
}

static ddsc_status project_find_directions(projection *p)
{
    double *work = NULL, *second = p->vector + p->order;
    ddsc_status status = DDSC_OK;
    TRY(MEM_NEW(p->ctx, work, p->order));
    TRY(project_iterate(p, p->vector, work, NULL));
    TRY(project_iterate(p, second, work, p->vector));
    take_direction(p, p->direction, p->vector);
    take_direction(p, p->direction + p->dim, second);
done:
    mem_free(p->ctx, work);
    return status;
}

static ddsc_status see_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const projection *p = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < 2; c++)
            p->xy[2 * i + c] = dot(p->rows + i * p->dim, p->direction + c * p->dim, p->dim);
    return DDSC_OK;
}

ddsc_status ddsc_project_run(ddsc_context *context, double *xy, int64_t n, int64_t dim,
                             const double *rows)
{
    ddsc_status status = DDSC_OK;
    projection p = {.ctx = context, .n = n, .dim = dim, .rows = rows, .xy = xy};
    CHECK(ctx_enter(context));
    if (!xy || !rows)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "projection: rows and xy must not be NULL");
    TRY(la_check_rows(context, "projection", 1, n, dim, rows));
    p.order = BASE_MIN(n, dim);
    p.length = BASE_MAX(n, dim);
    TRY(MEM_NEW(context, p.centered, n * dim));
    TRY(MEM_ZERO(context, p.products, p.order * p.order));
    TRY(MEM_NEW(context, p.vector, 2 * p.order));
    TRY(MEM_NEW(context, p.direction, 2 * dim));
    TRY(project_center_rows(&p));
    TRY(parallel_for(context, p.order, PRODUCTS_GRAIN, multiply, &p));
    TRY(project_find_directions(&p));
    TRY(parallel_for(context, n, ROWS_GRAIN, see_rows, &p));
done:
    MEM_FREE(context, p.direction, p.vector, p.products, p.centered);
    return status;
}
