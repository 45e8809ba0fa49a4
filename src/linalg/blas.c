/* Thin row-major wrappers; each pins BLAS to the calling thread. */
#include <cblas.h>
#include <math.h>

#include "linalg/linalg.h"

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

/* Four running sums: fixed order, so the same bits everywhere. */
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
