/* Implements Newton's method on the semi-dual of entropic transport, max_f <a,f> + <b,g(f)>, where
 * g(f) is the soft c-transform.
 *
 * In units of eps, the gradient is a - P 1 and the Hessian is -(diag(P 1) - P diag(1/b) P'), a
 * graph Laplacian. A step takes one Cholesky factorization of the size n of the smaller side, or
 * O(n^2 m + n^3) operations. Convergence is quadratic near the solution (as in Brauer, Clason,
 * Lorenz, Wirth 2017), whereas scaling iterations are slow if epsilon is small. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "distance/sinkhorn/dense.h"
#include "numeric/linalg/linalg.h"

enum { MAX_TRIALS = 12, FACTOR_BLOCK = 64 };

typedef struct newton_arrays {
    const dense_arrays *s;
    int64_t order;     /* rows, rounded up to whole vectors */
    double *scaled;    /* rows x stride: u K v / sqrt(b) */
    double *matrix;    /* order x order */
    double *direction; /* this and the next two arrays have `order` entries */
    double *gradient;
    double *before; /* diagonal of the matrix, then u before the step */
} newton_arrays;

static void newton_take(void *owner, arena *a)
{
    newton_arrays *w = owner;
    const dense_arrays *s = w->s;
    w->order = BASE_ROUND_UP(s->row.n, SIMD_LANES);
    ARENA_TAKE(a, w->scaled, s->rows * s->stride);
    ARENA_TAKE(a, w->matrix, w->order * w->order);
    ARENA_TAKE(a, w->direction, w->order);
    ARENA_TAKE(a, w->gradient, w->order);
    ARENA_TAKE(a, w->before, w->order);
}

/* Computes row_j -= sum_k U_kj row_k over the rows k = first .. j-1, four at a time, starting at
 * the vector that contains column j. */
SIMD_INLINE void subtract_above(double *matrix, int64_t order, int64_t first, int64_t j)
{
    double *out = matrix + j * order;
    int64_t start = j / SIMD_LANES * SIMD_LANES, k = first;
    for (; k + 4 <= j; k += 4) {
        const double *r0 = matrix + k * order, *r1 = r0 + order, *r2 = r1 + order, *r3 = r2 + order;
        double c0 = r0[j], c1 = r1[j], c2 = r2[j], c3 = r3[j];
        for (int64_t i = start; i < order; i += SIMD_LANES) {
            simd_f64 low = c0 * simd_load(r0 + i) + c1 * simd_load(r1 + i);
            simd_f64 high = c2 * simd_load(r2 + i) + c3 * simd_load(r3 + i);
            simd_store(out + i, simd_load(out + i) - (low + high));
        }
    }
    for (; k < j; k++) {
        const double *r = matrix + k * order;
        double c = r[j];
        for (int64_t i = start; i < order; i += SIMD_LANES)
            simd_store(out + i, simd_load(out + i) - c * simd_load(r + i));
    }
}

/* Computes rows first .. last-1 of U after the previous rows have been subtracted. If rounding
 * makes a pivot non-positive, the pivot belongs to a set of points that exchange no mass with other
 * points. In this case, the original diagonal entry is used, so that the step leaves this set
 * unchanged. */
SIMD_CLONES static void factor_rows(double *matrix, int64_t order, int64_t first, int64_t last,
                                    const double *diagonal)
{
    for (int64_t j = first; j < last; j++) {
        double *row = matrix + j * order;
        subtract_above(matrix, order, first, j);
        double pivot = row[j] > 1e-15 * diagonal[j] ? row[j] : diagonal[j];
        double inverse = 1 / sqrt(pivot);
        for (int64_t i = j + 1; i < order; i++)
            row[i] *= inverse;
        row[j] = sqrt(pivot);
    }
}

/* Computes A = U'U in the upper triangle, one block of rows at a time. */
static void factor(double *matrix, int64_t n, int64_t order, const double *diagonal)
{
    for (int64_t first = 0; first < n; first += FACTOR_BLOCK) {
        int64_t last = BASE_MIN(n, first + FACTOR_BLOCK);
        double *corner = matrix + first * order + first;
        if (first > 0)
            la_gemm(true, false, last - first, order - first, first, -1, matrix + first, order,
                    matrix + first, order, 1, corner, order);
        factor_rows(matrix, order, first, last, diagonal);
    }
}

/* Solves U'U x = b in place. */
SIMD_CLONES static void solve(const double *matrix, int64_t n, int64_t order, double *x)
{
    for (int64_t k = 0; k < n; k++) {
        const double *row = matrix + k * order;
        x[k] /= row[k];
        for (int64_t i = k + 1; i < n; i++)
            x[i] -= row[i] * x[k];
    }
    for (int64_t k = n - 1; k >= 0; k--)
        x[k] = (x[k] - la_dot(n - k - 1, matrix + k * order + k + 1, x + k + 1)) /
               matrix[k * order + k];
}

/* Solves (diag(r) (1 + mu) - P diag(1/b) P') direction = a - r. Without mu, the constant vector
 * would be in the null space, and sets of points that exchange almost no mass with others would
 * produce vectors that are nearly in the null space. mu regularizes both. It decreases with the
 * error, so that convergence remains quadratic. Returns the slope of the semi-dual along the
 * direction. */
static double find_direction(const dense_arrays *s, newton_arrays *w, double error)
{
    const dense_side *x = &s->row;
    int64_t n = x->n, order = w->order;
    sinkhorn_dense_root_plan(s, w->scaled);
    la_gemm(false, true, n, n, s->stride, -1, w->scaled, s->stride, w->scaled, s->stride, 0,
            w->matrix, order);
    double mu = BASE_MAX(1e-4 * BASE_MIN(error, 1), 1e-13);
    for (int64_t i = 0; i < n; i++) {
        double r = x->scale[i] * x->sum[i];
        w->matrix[i * order + i] += r * (1 + mu);
        for (int64_t j = n; j < order; j++)
            w->matrix[i * order + j] = 0;
        w->direction[i] = w->gradient[i] = x->weight[i] - r;
        w->before[i] = w->matrix[i * order + i];
    }
    factor(w->matrix, n, order, w->before);
    solve(w->matrix, n, order, w->direction);
    return la_dot(n, w->gradient, w->direction);
}

/* Moves u along the direction, and makes the columns exact. Returns the slope of the semi-dual at
 * the new point. */
static double try_step(dense_arrays *s, const newton_arrays *w, double length, double *error)
{
    const dense_side *x = &s->row;
    for (int64_t i = 0; i < x->n; i++)
        x->scale[i] = w->before[i] * exp(length * w->direction[i]);
    *error = sinkhorn_dense_settle(s);
    double slope = 0;
    for (int64_t i = 0; i < x->n; i++)
        slope += w->direction[i] * (x->weight[i] - x->scale[i] * x->sum[i]);
    return slope;
}

/* Accepts a step if the slope at its end is not negative. The semi-dual is concave, so such a step
 * has increased it. Near the maximum, rounding errors exceed the slope, so a step that reduces the
 * error is also accepted. */
ddsc_status sinkhorn_dense_newton(sinkhorn_solver *z, double *error, bool *moved)
{
    dense_arrays *s = &z->s;
    newton_arrays w = {.s = s};
    CHECK(workspace_lay_out(z->ctx, &z->newton, newton_take, &w));
    double slope = find_direction(s, &w, *error), largest = 0, reached = *error;
    for (int64_t i = 0; i < s->row.n; i++)
        largest = fmax(largest, fabs(w.direction[i]));
    memcpy(w.before, s->row.scale, (size_t)s->row.n * sizeof *w.before);
    *moved = false;
    double length = isfinite(largest) ? fmin(1, 20 / largest) : 0;
    for (int trial = 0; trial < MAX_TRIALS && length > 0 && slope > 0; trial++) {
        double there = try_step(s, &w, length, &reached);
        if (reached < *error || there >= 0) {
            *moved = true;
            *error = reached;
            return DDSC_OK;
        }
        length *= fmin(0.5, fmax(0.1, slope / (slope - there)));
    }
    memcpy(s->row.scale, w.before, (size_t)s->row.n * sizeof *w.before);
    *error = sinkhorn_dense_settle(s);
    return DDSC_OK;
}
