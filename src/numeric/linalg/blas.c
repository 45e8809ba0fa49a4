/* Wraps BLAS for row-major matrices on the calling thread, and computes sums over rows in a fixed
 * order. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "numeric/linalg/linalg.h"

#ifdef DDSC_PYPI_BLAS
/* The OpenBLAS package on PyPI has its own threads, whose number is set per process. No other code
 * uses this copy, so it is limited to one thread. */
void scipy_openblas_set_num_threads(int);
__attribute__((constructor)) static void keep_to_one_thread(void)
{
    scipy_openblas_set_num_threads(1);
}
#endif

static CBLAS_TRANSPOSE op(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

void la_gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha,
             const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
             int64_t ldc)
{
    int saved = serial_begin();
    cblas_dgemm(CblasRowMajor, op(trans_a), op(trans_b), (int)m, (int)n, (int)k, alpha, a, (int)lda,
                b, (int)ldb, beta, c, (int)ldc);
    serial_end(saved);
}

void la_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
              const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
              int64_t ldc)
{
    int saved = serial_begin();
    cblas_sgemm(CblasRowMajor, op(trans_a), op(trans_b), (int)m, (int)n, (int)k, alpha, a, (int)lda,
                b, (int)ldb, beta, c, (int)ldc);
    serial_end(saved);
}

/* Computes the inner product with four running sums in a fixed order, so that the result has the
 * same bits on every machine. */
double la_dot(int64_t n, const double *x, const double *y)
{
    double s[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            s[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        s[0] += x[i] * y[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

double la_norm(int64_t n, const double *x)
{
    return sqrt(la_dot(n, x, x));
}

double la_distance2(int64_t n, const double *x, const double *y)
{
    double s[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            s[k] += (x[i + k] - y[i + k]) * (x[i + k] - y[i + k]);
    for (; i < n; i++)
        s[0] += (x[i] - y[i]) * (x[i] - y[i]);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

void la_center(int64_t n, int64_t d, const double *rows, double *mean, double *out)
{
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++)
            mean[k] += rows[i * d + k] / (double)n;
    for (int64_t i = 0; out && i < n; i++)
        for (int64_t k = 0; k < d; k++)
            out[i * d + k] = rows[i * d + k] - mean[k];
}

/* Gram-Schmidt runs twice, because one pass leaves rounding errors proportional to the removed
 * part. */
double la_orthogonalize(double *rows, int64_t at, int64_t d)
{
    double *x = rows + at * d, before = la_norm(d, x);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t q = 0; q < at; q++) {
            double along = la_dot(d, x, rows + q * d);
            for (int64_t k = 0; k < d; k++)
                x[k] -= along * rows[q * d + k];
        }
    double after = la_norm(d, x);
    bool left = before > 0 && after > 1e-10 * before;
    for (int64_t k = 0; k < d; k++)
        x[k] = left ? x[k] / after : 0;
    return left ? after : 0;
}

double la_center_distances(int64_t n, const double *d2, double *mean, double *gram)
{
    double all = 0;
    for (int64_t b = 0; b < n; b++) {
        mean[b] = 0;
        for (int64_t a = 0; a < n; a++)
            mean[b] += d2[a * n + b] / (double)n;
        all += mean[b] / (double)n;
    }
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            gram[a * n + b] = -0.5 * (d2[a * n + b] - mean[a] - mean[b] + all);
    return all;
}

ddsc_status la_check_rows(ddsc_context *ctx, const char *who, int64_t least, int64_t n, int64_t dim,
                          const double *rows)
{
    int64_t size;
    if (n < least || dim < 1 || !mul_ok(n, dim, &size) || n > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "%s: %lld rows of %lld columns is not a valid size; there must be at least "
                        "%lld rows and 1 column",
                        who, (long long)n, (long long)dim, (long long)least);
    for (int64_t i = 0; i < size; i++)
        if (!(fabs(rows[i]) <= 1e150))
            return ctx_fail(
                ctx, DDSC_ERROR_INPUT,
                "%s: row %lld, column %lld is %g; values must be finite and at most 1e150 in "
                "absolute value",
                who, (long long)(i / dim), (long long)(i % dim), rows[i]);
    return DDSC_OK;
}
