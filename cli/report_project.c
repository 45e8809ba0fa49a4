/* Two principal directions, for pictures. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_SWEEPS = 300 };

static void add_covariance(double *c, const double *rows, int64_t n, int64_t dim)
{
    double *mean = cli_allocate((size_t)dim, sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < dim; a++)
            mean[a] += rows[i * dim + a] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < dim; a++) {
            double xa = rows[i * dim + a] - mean[a];
            for (int64_t b = 0; b < dim; b++)
                c[a * dim + b] += xa * (rows[i * dim + b] - mean[b]);
        }
    free(mean);
}

static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* v = C v, less its part along `before`, of length 1; false when nothing is left. */
static bool sweep(double *v, double *work, const double *c, const double *before, int64_t dim)
{
    for (int64_t a = 0; a < dim; a++)
        work[a] = dot(c + a * dim, v, dim);
    double along = before ? dot(work, before, dim) : 0;
    for (int64_t a = 0; before && a < dim; a++)
        work[a] -= along * before[a];
    double length = sqrt(dot(work, work, dim));
    if (!(length > 0))
        return false;
    for (int64_t a = 0; a < dim; a++)
        v[a] = work[a] / length;
    return true;
}

/* Power iteration; the largest entry of the direction is made positive. */
static void find_direction(double *v, const double *c, const double *before, int64_t dim)
{
    double *work = cli_allocate((size_t)dim, sizeof *work);
    int64_t largest = 0;
    for (int64_t a = 0; a < dim; a++)
        v[a] = 1 + 0.37 * (double)((a * 7 + (before ? 3 : 0)) % 11);
    for (int k = 0; k < MAX_SWEEPS; k++)
        if (!sweep(v, work, c, before, dim))
            break;
    for (int64_t a = 1; a < dim; a++)
        largest = fabs(v[a]) > fabs(v[largest]) ? a : largest;
    double sign = v[largest] < 0 ? -1 : 1;
    for (int64_t a = 0; a < dim; a++)
        v[a] *= sign;
    free(work);
}

void report_project(double *xy, const double *rows, int64_t n, int64_t dim)
{
    double *c = cli_allocate((size_t)(dim * dim), sizeof *c);
    double *v = cli_allocate((size_t)(2 * dim), sizeof *v);
    add_covariance(c, rows, n, dim);
    find_direction(v, c, NULL, dim);
    if (dim > 1)
        find_direction(v + dim, c, v, dim);
    for (int64_t i = 0; i < n; i++) {
        xy[2 * i] = dot(rows + i * dim, v, dim);
        xy[2 * i + 1] = dim > 1 ? dot(rows + i * dim, v + dim, dim) : 0;
    }
    free(c);
    free(v);
}
