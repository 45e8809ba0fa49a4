/* eigen: the driver that turns a graph's operator into verified eigenpairs.
 *
 * The operator is M = S^-1/2 A S^-1/2, where A is the affinity and S is the diagonal matrix of its
 * row sums. Each connected component c has the exact eigenvector sqrt(s_i / vol(c)) on its items,
 * with eigenvalue 1. These exact vectors are computed directly, and the solver searches only their
 * orthogonal complement.
 *
 * The remaining vectors are computed by LAPACK (dense.c), by the block iteration (block.c) or by
 * the solver of a team of ranks (team.c). The team's solver is tried first. If its result is not
 * verified, the local methods are used. The local methods work on a copy of the graph in
 * breadth-first order (order.c), and the results are mapped back to the original order.
 *
 * Finally, every column gets a fixed sign, and all residuals |M v - lambda v| are recomputed with
 * the original matrix. Computing the residuals takes one product with a block of k vectors. */
#include "numeric/eigen/eigen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/blocks.h"
#include "base/team.h"
#include "numeric/eigen/order.h"
#include "numeric/eigen/solver.h"

enum { DENSE_MOST = 8000 };

/* Smallest tolerance. Rounding errors alone cause residuals of this size. */
static const double TOLERANCE_LEAST = 1e-13;

/* When a column's sign is chosen, entries within this relative distance of the largest entry are
 * treated as equal to it. */
static const double SIGN_TIE = 1e-6;

/* Sets order[r], for r < c, to the component with the r-th largest size. Among equal sizes, the
 * component with the lower number comes first. */
static void rank_components(int64_t *order, const int64_t *size, int64_t n_components, int64_t c)
{
    for (int64_t r = 0; r < c; r++)
        order[r] = -1;
    for (int64_t k = 0; k < n_components; k++) {
        int64_t r = c;
        while (r > 0 && (order[r - 1] < 0 || size[order[r - 1]] < size[k]))
            r--;
        if (r == c)
            continue;
        memmove(order + r + 1, order + r, (size_t)(c - r - 1) * sizeof *order);
        order[r] = k;
    }
}

/* Fills the exact eigenvectors of eigenvalue 1: sqrt(degree) restricted to one component and
 * normalized. */
static void fill_exact(panel *exact, const solver *s, const double *degree, const double *volume,
                       const int64_t *column)
{
    for (int64_t i = s->own.begin; i < s->own.end; i++) {
        int32_t c = s->component[i];
        double *row = exact->x + (i - s->own.begin) * exact->stride;
        memset(row, 0, (size_t)exact->width * sizeof *row);
        if (c >= 0 && column[c] >= 0)
            row[column[c]] = sqrt(degree[i]) / sqrt(volume[c]);
    }
}

/* Computes the exact eigenvectors of the `count` largest components. */
static ddsc_status add_components(solver *s, const double *degree, int64_t n_components,
                                  int64_t count)
{
    ddsc_status status = DDSC_OK;
    int64_t *size = NULL, *order = NULL, *column = NULL;
    double *volume = NULL;
    TRY(panel_new(s->ctx, &s->exact, s->own.end - s->own.begin, count));
    TRY(MEM_ZERO(s->ctx, size, n_components));
    TRY(MEM_ZERO(s->ctx, volume, n_components));
    TRY(MEM_NEW(s->ctx, column, n_components));
    TRY(MEM_NEW(s->ctx, order, count));
    for (int64_t i = 0; i < s->m->n; i++)
        if (s->component[i] >= 0) {
            size[s->component[i]]++;
            volume[s->component[i]] += degree[i];
        }
    rank_components(order, size, n_components, count);
    for (int64_t r = 1; r < count; r++)
        DDSC_ASSERT(order[r] >= 0 && size[order[r - 1]] >= size[order[r]]);
    for (int64_t c = 0; c < n_components; c++)
        column[c] = -1;
    for (int64_t r = 0; r < count; r++)
        column[order[r]] = r;
    fill_exact(&s->exact, s, degree, volume, column);
done:
    MEM_FREE(s->ctx, order, column, volume, size);
    return status;
}

/* Returns true if LAPACK should solve the problem: if the graph is small, or if it has at most
 * DENSE_MOST items and the block would span at least a quarter of the space. */
static bool prefer_dense(const solver *s, const eigen_settings *set)
{
    int64_t width = s->wanted + guard_width(s->wanted), n = s->m->n;
    return n <= set->dense_below ||
           (set->dense_below > 0 && n <= DENSE_MOST && 4 * width >= s->dimension);
}

/* The methods in order of preference; the first one that fits is used. To add the solver of another
 * library or device, add an entry. */
static const eigen_method methods[] = {
    {"dense", prefer_dense, dense_solve},
    {"block iteration", NULL, block_solve},
};

static const eigen_method *choose_method(const solver *s, const eigen_settings *set)
{
    const eigen_method *method = methods;
    while (method->fits && !method->fits(s, set))
        method++;
    return method;
}

static ddsc_status eigen_solve(solver *s, eigen_result *out, const eigen_settings *set)
{
    out->verified = s->wanted == 0; /* no eigenvalue exceeds 1 */
    if (s->wanted == 0)
        return DDSC_OK;
    const eigen_method *method = choose_method(s, set);
    out->dense = method->solve == dense_solve;
    ctx_note(s->ctx, "eigenvectors", method->name, "%lld vectors of %lld items",
             (long long)s->wanted, (long long)s->m->n);
    return method->solve(s, &out->verified);
}

/* Chooses the sign of each column so that its largest entry is positive. If several entries are
 * largest, the one with the lowest index is used. */
static ddsc_status fix_signs(ddsc_context *ctx, eigen_result *r)
{
    double *largest = NULL, *sign = NULL;
    ddsc_status status = DDSC_OK;
    TRY(MEM_ZERO(ctx, largest, r->k));
    TRY(MEM_ZERO(ctx, sign, r->k));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->k; j++)
            largest[j] = fmax(largest[j], fabs(r->vector[i * r->k + j]));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->k; j++) {
            double v = r->vector[i * r->k + j];
            if (sign[j] == 0 && fabs(v) >= (1 - SIGN_TIE) * largest[j])
                sign[j] = v < 0 ? -1 : 1;
        }
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->k; j++)
            r->vector[i * r->k + j] *= sign[j];
done:
    MEM_FREE(ctx, sign, largest);
    return status;
}

/* Copies the exact vectors and then the computed vectors, in descending order, to the result.
 * item[p] is the original index of row p; NULL means that the rows are in the original order. */
static void copy_out(solver *s, eigen_result *r, const int32_t *item)
{
    int64_t count = s->exact.width;
    for (int64_t p = s->own.begin; p < s->own.end; p++) {
        double *row = r->vector + (item ? item[p] : p) * r->k;
        int64_t at = p - s->own.begin;
        memcpy(row, s->exact.x + at * s->exact.stride, (size_t)count * sizeof *row);
        if (s->wanted > 0)
            memcpy(row + count, s->v.x + at * s->v.stride, (size_t)s->wanted * sizeof *row);
    }
    for (int64_t j = 0; j < r->k; j++)
        r->value[j] = j < count ? 1 : fmin(s->theta[j - count], 1);
    panel_free(s->ctx, &s->v);
    panel_free(s->ctx, &s->exact);
}

/* Recomputes the residuals with the original matrix. If a team computed the vectors, each rank
 * contributes its own rows. */
static ddsc_status measure(solver *s, eigen_result *r, const sparse *m, bool over_ranks)
{
    ddsc_status status = DDSC_OK;
    int64_t begin = s->own.begin, n = s->own.end - begin;
    panel v = {.n = n, .width = r->k, .stride = r->k, .x = r->vector + begin * r->k}, mv = {0};
    TRY(panel_new(s->ctx, &mv, n, r->k));
    TRY(operator_apply_rows(s->ctx, m, s->own, r->k, r->vector, mv.x));
    TRY(panel_residuals(s->ctx, r->residual, &v, &mv, r->value));
    if (over_ranks) {
        for (int64_t j = 0; j < r->k; j++)
            r->residual[j] *= r->residual[j];
        TRY(team_sum_f64(s->ctx, r->residual, r->k));
        for (int64_t j = 0; j < r->k; j++)
            r->residual[j] = sqrt(r->residual[j]);
    }
    r->n_products = s->n_products + 1;
    for (int64_t j = 0; j < r->k; j++)
        if (!(r->residual[j] <= s->tolerance))
            status = DDSC_NOT_CONVERGED;
done:
    panel_free(s->ctx, &mv);
    return status;
}

static ddsc_status check(ddsc_context *ctx, const sparse *m, int64_t n_live, int64_t k,
                         const eigen_settings *set)
{
    if (k < 1 || k > n_live)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "cannot compute %lld eigenvectors, because only %lld of the %lld items are "
                        "in components that are large enough; reduce K",
                        (long long)k, (long long)n_live, (long long)m->n);
    if (!(set->tolerance > 0) || set->max_iterations < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "the tolerance and the iteration limit of the eigensolver must be "
                        "positive, but they are %g and %lld",
                        set->tolerance, (long long)set->max_iterations);
    return DDSC_OK;
}

/* The input shared by solve_over_ranks and solve_alone. */
typedef struct eigen_input {
    sparse *m;
    const double *degree;
    const int32_t *component;
    int64_t n_components;
} eigen_input;

/* Solves with the team's solver. Each rank computes its own rows, and all ranks receive all
 * vectors. Sets *found to false if the result could not be verified. */
static ddsc_status solve_over_ranks(solver *s, eigen_result *out, const eigen_input *in,
                                    bool *found)
{
    ddsc_status status = DDSC_OK;
    s->own = sparse_own(s->ctx, out->n);
    s->component = in->component;
    TRY(add_components(s, in->degree, in->n_components, out->k - s->wanted));
    *found = true;
    if (s->wanted > 0) {
        out->by_team = true;
        ctx_note(s->ctx, "eigenvectors", "SLEPc", "%lld vectors of %lld items, %d ranks",
                 (long long)s->wanted, (long long)out->n, team_size(s->ctx));
        TRY(eigen_team_solve(s, found));
    }
    out->verified = *found;
    if (*found) {
        TRY(MEM_NEW(s->ctx, out->vector, out->n * out->k));
        copy_out(s, out, NULL);
        TRY(team_gather(s->ctx, out->vector, out->n, block_rows(out->n),
                        out->k * (int64_t)sizeof *out->vector));
    } else {
        panel_free(s->ctx, &s->exact);
        out->by_team = false;
        ctx_note(s->ctx, "eigenvectors", "block iteration",
                 "the result of SLEPc could not be verified");
    }
done:
    return status;
}

static ddsc_status solve_alone(solver *s, eigen_result *out, const eigen_input *in,
                               const eigen_settings *settings)
{
    ddsc_status status = DDSC_OK;
    reordered near = {0};
    s->own = (team_part){0, out->n};
    TRY(sparse_gather(s->ctx, in->m));
    TRY(order_make(s->ctx, &near, in->m, in->degree, in->component));
    s->m = &near.m;
    s->component = near.component;
    s->noise = (panel_noise){.stream = RNG_EIGEN, .dead = near.component};
    TRY(add_components(s, near.degree, in->n_components, out->k - s->wanted));
    TRY(eigen_solve(s, out, settings));
    TRY(MEM_NEW(s->ctx, out->vector, out->n * out->k));
    copy_out(s, out, near.item);
done:
    order_free(s->ctx, &near);
    s->m = in->m;
    return status;
}

ddsc_status eigen_run(ddsc_context *ctx, eigen_result *out, sparse *m, const double *degree,
                      const int32_t *component, int64_t n_components, int64_t k,
                      const eigen_settings *settings)
{
    ddsc_status status = DDSC_OK;
    eigen_input in = {m, degree, component, n_components};
    solver s = {.ctx = ctx, .m = m, .tolerance = fmax(settings->tolerance, TOLERANCE_LEAST)};
    bool found = false;
    *out = (eigen_result){.n = m->n, .k = k};
    DDSC_ASSERT(invariant_range(component, m->n, -1, n_components));
    for (int64_t i = 0; i < m->n; i++)
        s.dimension += component[i] >= 0;
    s.max_products = settings->max_iterations;
    progress_begin(ctx, "eigenvectors", k);
    TRY(check(ctx, m, s.dimension, k, settings));
    s.wanted = k - BASE_MIN(n_components, k);
    s.dimension -= k - s.wanted;
    TRY(MEM_NEW(ctx, out->value, k));
    TRY(MEM_NEW(ctx, out->residual, k));
    if (team_has_eigen(ctx) && !prefer_dense(&s, settings))
        TRY(solve_over_ranks(&s, out, &in, &found));
    if (!found)
        TRY(solve_alone(&s, out, &in, settings));
    DDSC_ASSERT(invariant_descending(out->value, k) && invariant_between(out->value, k, -1.5, 1));
    TRY(fix_signs(ctx, out));
    TRY(measure(&s, out, m, found));
    progress_end(ctx);
done:
    panel_free(ctx, &s.exact);
    panel_free(ctx, &s.v);
    mem_free(ctx, s.theta);
    if (status < 0)
        eigen_free(ctx, out);
    return status;
}

void eigen_free(ddsc_context *ctx, eigen_result *result)
{
    MEM_FREE(ctx, result->vector, result->residual, result->value);
    *result = (eigen_result){0};
}
