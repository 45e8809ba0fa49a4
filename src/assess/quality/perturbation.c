/* Compares two runs: their eigenspaces, affinities and Laplacians. Computes two perturbation
 * bounds. */
#include <math.h>

#include "assess/quality/quality.h"
#include "numeric/linalg/linalg.h"

/* Eigengaps below this value are rounding errors. */
static const double GAP_NONE = 1e-12;

ddsc_status subspace_distance(ddsc_context *ctx, double *distance, int64_t n, int64_t k,
                              const double *u, int64_t ldu, const double *v, int64_t ldv)
{
    ddsc_status status = DDSC_OK;
    double *cross = NULL, sum = 0;
    TRY(MEM_NEW(ctx, cross, k * k));
    la_gemm(true, false, k, k, n, 1, u, ldu, v, ldv, 0, cross, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            double left = v[i * ldv + j];
            for (int64_t l = 0; l < k; l++)
                left -= u[i * ldu + l] * cross[l * k + j];
            sum += left * left;
        }
    *distance = sqrt(sum);
done:
    mem_free(ctx, cross);
    return status;
}

/* last_kept returns the smallest of the K largest eigenvalues of the operator, and first_other
 * returns the next smaller one. Each omitted item adds an eigenvalue of 0. No eigenvalue is below
 * -1. */
static double last_kept(const decomposition *d, int64_t k)
{
    return k <= d->eigen.k ? d->eigen.value[k - 1] : -1;
}

static double first_other(const decomposition *d, int64_t k)
{
    double value = k < d->eigen.k ? d->eigen.value[k] : -1;
    return d->n_left_out > 0 ? fmax(value, 0) : value;
}

double spectrum_gap(const decomposition *d, int64_t k)
{
    double gap = last_kept(d, k) - first_other(d, k);
    return gap > GAP_NONE ? gap : 0;
}

double theory_smallest_affinity(const sparse *a)
{
    double least = INFINITY;
    for (int64_t p = 0; p < a->nnz; p++)
        least = fmin(least, a->value[p]);
    return a->nnz > 0 ? least : 0;
}

/* H is the difference of the two operators. Only one row of H V is stored at a time. */
typedef struct difference {
    double zeta, zeta_common, frobenius2, largest;
    int64_t n_first, n_both; /* number of edges in the first run; number of edges in both runs */
    int64_t k;
    double *row[2];   /* row of H V, where V belongs to the first or the second run */
    double moved2[2]; /* |H V|_F^2 */
} difference;

/* Returns entry p of row i of the operator. Rows of omitted items are zero. */
static double operator_entry(const decomposition *d, int64_t i, int64_t p)
{
    if (d->part[i] < 0)
        return 0;
    return d->a.value[p] / (sqrt(d->degree[i]) * sqrt(d->degree[d->a.column[p]]));
}

/* Returns diagonal entry i of the operator. It is 1 if the item has no edges and was not omitted,
 * and 0 otherwise. */
static double operator_diagonal(const decomposition *d, int64_t i)
{
    return d->part[i] >= 0 && d->a.offset[i] == d->a.offset[i + 1] ? 1 : 0;
}

static void compare_add_entry(difference *out, const decomposition *x, const decomposition *y,
                              int64_t j, double h)
{
    const eigen_result *e[2] = {&x->eigen, &y->eigen};
    out->frobenius2 += h * h;
    out->largest = fmax(out->largest, fabs(h));
    for (int side = 0; side < 2; side++)
        for (int64_t l = 0; l < out->k; l++)
            out->row[side][l] += h * e[side]->vector[j * e[side]->k + l];
}

static void end_row(difference *out)
{
    for (int side = 0; side < 2; side++)
        for (int64_t l = 0; l < out->k; l++) {
            out->moved2[side] += out->row[side][l] * out->row[side][l];
            out->row[side][l] = 0;
        }
}

static void add_row(difference *out, const decomposition *x, const decomposition *y, int64_t i)
{
    int64_t p = x->a.offset[i], q = y->a.offset[i];
    int64_t p_end = x->a.offset[i + 1], q_end = y->a.offset[i + 1];
    compare_add_entry(out, x, y, i, operator_diagonal(x, i) - operator_diagonal(y, i));
    while (p < p_end || q < q_end) {
        int64_t from_x = p < p_end ? x->a.column[p] : INT64_MAX;
        int64_t from_y = q < q_end ? y->a.column[q] : INT64_MAX;
        bool in_x = from_x <= from_y, in_y = from_y <= from_x;
        double change = fabs((in_x ? x->a.value[p] : 0) - (in_y ? y->a.value[q] : 0));
        compare_add_entry(out, x, y, BASE_MIN(from_x, from_y),
                          (in_x ? operator_entry(x, i, p) : 0) -
                              (in_y ? operator_entry(y, i, q) : 0));
        out->zeta = fmax(out->zeta, change);
        if (in_x && in_y)
            out->zeta_common = fmax(out->zeta_common, change);
        out->n_first += in_x;
        out->n_both += in_x && in_y;
        p += in_x;
        q += in_y;
    }
    end_row(out);
}

/* Computes the bound of Lemma 3. */
static double lemma_3_bound(double zeta, double alpha, int64_t tau)
{
    double margin = alpha - zeta;
    if (zeta == 0)
        return 0;
    return margin > 0 && tau > 0 ? 2 * zeta / ((double)tau * margin * margin) : INFINITY;
}

/* Computes the bound of Theorem 1. */
static double theorem_bound(double zeta, double alpha, double gap, int64_t n, int64_t tau)
{
    if (zeta == 0)
        return 0;
    if (!(zeta < alpha) || !(gap > 0) || tau < 1)
        return INFINITY;
    double margin = alpha - zeta;
    return 2 * zeta * sqrt((double)n) / (gap * margin * margin * sqrt((double)tau));
}

/* Computes the bound of Davis and Kahan: |sin Theta|_F <= |H V|_F / delta, if every eigenvalue of V
 * exceeds every eigenvalue that the other run discards by at least delta. Computes this bound for
 * the V of each run, and returns the smaller value. */
static double direct_bound(const difference *h, int64_t k, const decomposition *x,
                           const decomposition *y)
{
    double apart[2] = {last_kept(x, k) - first_other(y, k), last_kept(y, k) - first_other(x, k)};
    double bound = INFINITY;
    if (h->frobenius2 == 0)
        return 0;
    for (int side = 0; side < 2; side++)
        if (apart[side] > GAP_NONE && h->k == k)
            bound = fmin(bound, sqrt(h->moved2[side]) / apart[side]);
    return bound;
}

ddsc_status spectra_compare(ddsc_context *ctx, ddsc_stability_row *row, int64_t k,
                            const decomposition *first, const decomposition *again)
{
    ddsc_status status = DDSC_OK;
    int64_t shared = BASE_MIN(k, BASE_MIN(first->eigen.k, again->eigen.k));
    difference d = {.k = shared};
    TRY(MEM_ZERO(ctx, d.row[0], 2 * shared));
    d.row[1] = d.row[0] + shared;
    for (int64_t i = 0; i < first->n; i++)
        add_row(&d, first, again, i);
    TRY(subspace_distance(ctx, &row->sin_theta, first->n, shared, first->eigen.vector,
                          first->eigen.k, again->eigen.vector, again->eigen.k));
    row->zeta = d.zeta;
    row->zeta_common = d.zeta_common;
    row->edges_kept = d.n_first > 0 ? (double)d.n_both / (double)d.n_first : 1;
    row->laplacian = sqrt(d.frobenius2);
    row->laplacian_largest = d.largest;
    row->lemma_3_bound = lemma_3_bound(d.zeta, theory_smallest_affinity(&first->a), first->tau);
    row->n_components = again->n_components;
    row->gap = spectrum_gap(again, k);
    row->theorem_bound = theorem_bound(d.zeta, theory_smallest_affinity(&first->a),
                                       spectrum_gap(first, k), first->n, first->tau);
    row->direct_bound = direct_bound(&d, k, first, again);
done:
    mem_free(ctx, d.row[0]);
    return status;
}
