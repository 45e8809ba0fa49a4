/* Inner loops of the barycenter methods, which process one vector of columns at a time. */
#include "cluster/baseline/plan_kernels.h"

/* Lower limit for plan entries and sums, which prevents products from underflowing to 0. It is far
 * below any significant value. */
static const double least = 1e-250;

SIMD_CLONES void transport_gibbs(double *out, const double *cost, int64_t count, double factor)
{
    for (int64_t k = 0; k < count; k += SIMD_LANES)
        simd_store(out + k, simd_exp(simd_load(cost + k) * -factor));
}

SIMD_CLONES void transport_gibbs_reduced(double *cost, int64_t n, int64_t stride, double factor,
                                         double *column)
{
    memcpy(column, cost, (size_t)stride * sizeof *column);
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < stride; j += SIMD_LANES)
            simd_store(column + j,
                       simd_min(simd_load(column + j), simd_load(cost + i * stride + j)));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < stride; j += SIMD_LANES) {
            simd_f64 reduced = simd_load(cost + i * stride + j) - simd_load(column + j);
            simd_store(cost + i * stride + j, simd_exp(reduced * -factor));
        }
}

SIMD_CLONES double transport_change(const double *x, const double *y, int64_t count)
{
    simd_f64 sum = simd_all(0);
    for (int64_t k = 0; k < count; k += SIMD_LANES)
        sum += simd_abs(simd_load(x + k) - simd_load(y + k));
    return simd_sum(sum);
}

/* Returns coordinates k .. k + 7 of sum_j p_j y_j. The sum over j is kept in one register. */
SIMD_INLINE simd_f64 eight_moments(const double *p, const plan_points *y, int64_t k)
{
    simd_f64 sum = simd_all(0);
    for (int64_t j = 0; j < y->m; j++)
        sum += p[j] * simd_load(y->table + y->index[j] * y->d + k);
    return sum;
}

/* Computes the same sums for four rows at once, so that the points are read only once. */
SIMD_INLINE void four_rows(double *to, const double *p, int64_t stride, const plan_points *y,
                           int64_t k, double share)
{
    simd_f64 s0 = simd_all(0), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t j = 0; j < y->m; j++) {
        simd_f64 at = simd_load(y->table + y->index[j] * y->d + k);
        s0 += p[j] * at;
        s1 += p[stride + j] * at;
        s2 += p[2 * stride + j] * at;
        s3 += p[3 * stride + j] * at;
    }
    simd_store(to, simd_load(to) + share * s0);
    simd_store(to + y->d, simd_load(to + y->d) + share * s1);
    simd_store(to + 2 * y->d, simd_load(to + 2 * y->d) + share * s2);
    simd_store(to + 3 * y->d, simd_load(to + 3 * y->d) + share * s3);
}

SIMD_CLONES void transport_moments(double *out, double *mass, const double *plan, int64_t n,
                                   int64_t stride, const plan_points *y, double share)
{
    int64_t whole = y->d / SIMD_LANES * SIMD_LANES, fours = n / 4 * 4;
    for (int64_t i = 0; i < fours; i += 4)
        for (int64_t k = 0; k < whole; k += SIMD_LANES)
            four_rows(out + i * y->d + k, plan + i * stride, stride, y, k, share);
    for (int64_t i = 0; i < n; i++) {
        const double *p = plan + i * stride;
        double *to = out + i * y->d;
        for (int64_t k = 0; i >= fours && k < whole; k += SIMD_LANES)
            simd_store(to + k, simd_load(to + k) + share * eight_moments(p, y, k));
        for (int64_t k = whole; k < y->d; k++) {
            double sum = 0;
            for (int64_t j = 0; j < y->m; j++)
                sum += p[j] * y->table[y->index[j] * y->d + k];
            to[k] += share * sum;
        }
        for (int64_t j = 0; j < y->m; j++)
            mass[i] += share * p[j];
    }
}

/* Computes column = b / column. */
SIMD_INLINE void quotients(double *column, const double *b, int64_t stride)
{
    for (int64_t j = 0; j < stride; j += SIMD_LANES)
        simd_store(column + j, simd_load(b + j) / simd_max(simd_load(column + j), simd_all(least)));
}

/* Computes Q K and, with the factor exp(-dual), the unscaled P. In Q, the factors exp(-(C + L) /
 * rho) and exp(L / rho) multiply to K. */
SIMD_INLINE void weigh(const admm_block *t)
{
    memset(t->column, 0, (size_t)t->stride * sizeof *t->column);
    for (int64_t i = 0; i < t->n; i++) {
        int64_t row = i * t->stride;
        for (int64_t j = 0; j < t->stride; j += SIMD_LANES) {
            simd_f64 q = simd_load(t->q + row + j) * simd_load(t->kernel + row + j);
            q = simd_max(q, simd_all(least));
            simd_f64 p = q * simd_exp(-simd_load(t->dual + row + j));
            simd_store(t->q + row + j, q);
            simd_store(t->p + row + j, p);
            simd_store(t->column + j, simd_load(t->column + j) + p);
        }
    }
}

SIMD_CLONES void transport_admm_round(const admm_block *t, const double *w, double *r)
{
    double total = 0;
    weigh(t);
    quotients(t->column, t->b, t->stride);
    for (int64_t i = 0; i < t->n; i++) {
        double *q = t->q + i * t->stride, *p = t->p + i * t->stride;
        double *dual = t->dual + i * t->stride;
        simd_f64 sum = simd_all(0);
        for (int64_t j = 0; j < t->stride; j += SIMD_LANES) {
            simd_f64 scale = simd_load(t->column + j), scaled = simd_load(q + j) * scale;
            simd_store(p + j, simd_load(p + j) * scale);
            simd_store(q + j, scaled);
            sum += scaled;
        }
        r[i] = simd_sum(sum);
        r[i] = r[i] > least ? r[i] : least;
        total += r[i];
        double factor = w[i] / r[i];
        for (int64_t j = 0; j < t->stride; j += SIMD_LANES) {
            simd_f64 scaled = simd_load(q + j) * factor;
            simd_store(dual + j, simd_load(dual + j) + (simd_load(p + j) - scaled));
            simd_store(q + j, scaled);
        }
    }
    for (int64_t i = 0; i < t->n; i++)
        r[i] /= total;
}

SIMD_CLONES void transport_scaling_sweep(const scaling_block *t, double *row)
{
    memset(t->v, 0, (size_t)t->stride * sizeof *t->v);
    for (int64_t i = 0; i < t->n; i++) {
        const double *kernel = t->kernel + i * t->stride;
        for (int64_t j = 0; j < t->stride; j += SIMD_LANES)
            simd_store(t->v + j, simd_load(t->v + j) + t->u[i] * simd_load(kernel + j));
    }
    quotients(t->v, t->b, t->stride);
    for (int64_t i = 0; i < t->n; i++) {
        const double *kernel = t->kernel + i * t->stride;
        simd_f64 sum = simd_all(0);
        for (int64_t j = 0; j < t->stride; j += SIMD_LANES)
            sum += simd_load(kernel + j) * simd_load(t->v + j);
        row[i] = simd_sum(sum);
        row[i] = row[i] > least ? row[i] : least;
    }
}

SIMD_CLONES void transport_of_scaling(const scaling_block *t, double *p)
{
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < t->stride; j += SIMD_LANES)
            simd_store(p + i * t->stride + j,
                       t->u[i] * simd_load(t->kernel + i * t->stride + j) * simd_load(t->v + j));
}
