/* From a graph's operator to checked eigenpairs: exact vectors, the solve, the proof, the finish.
 */
#include "eigen/eigen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/team.h"
#include "eigen/solver.h"

enum { DENSE_MOST = 8000, GROUP = 8 };

/* Rounding leaves residuals of this size. */
static const double TOLERANCE_LEAST = 1e-13;

/* Entries this close to the largest one count as equal to it when a sign is chosen. */
static const double SIGN_TIE = 1e-6;

/* order[r]: the component of rank r by size, largest first (ties: lower number); room for c. */
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

/* sqrt(degree) on a component, normalised, is an eigenvector of eigenvalue 1. */
static void fill_exact(panel *exact, const solver *s, const double *degree, const double *volume,
                       const int64_t *column)
{
    for (int64_t i = 0; i < s->m->n; i++) {
        int32_t c = s->component[i];
        double *row = exact->x + i * exact->stride;
        memset(row, 0, (size_t)exact->width * sizeof *row);
        if (c >= 0 && column[c] >= 0)
            row[column[c]] = sqrt(degree[i]) / sqrt(volume[c]);
    }
}

/* The vectors of the largest components, at most k. */
static ddsc_status add_components(solver *s, const double *degree, int64_t n_components, int64_t k)
{
    ddsc_status status = DDSC_OK;
    int64_t count = BASE_MIN(n_components, k);
    int64_t *size = NULL, *order = NULL, *column = NULL;
    double *volume = NULL;
    TRY(panel_new(s->ctx, &s->exact, s->m->n, count));
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
    for (int64_t c = 0; c < n_components; c++)
        column[c] = -1;
    for (int64_t r = 0; r < count; r++)
        column[order[r]] = r;
    fill_exact(&s->exact, s, degree, volume, column);
    s->room -= count;
    s->wanted = k - count;
done:
    MEM_FREE(s->ctx, order, column, volume, size);
    return status;
}

/* LAPACK also where the block would span a good part of a space that is not too large. */
static bool prefer_dense(const solver *s, const eigen_settings *set)
{
    int64_t width = s->wanted + guard_width(s->wanted), n = s->m->n;
    return n <= set->dense_below ||
           (set->dense_below > 0 && n <= DENSE_MOST && 4 * width >= s->room);
}

/* The first that fits is taken: a solver of another library or device is one more line. */
static const eigen_method methods[] = {
    {"dense", prefer_dense, dense_solve},
    {"SLEPc", eigen_team_fits, eigen_team_solve},
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
    char ranks[32] = "";
    if (method->solve == eigen_team_solve)
        snprintf(ranks, sizeof ranks, ", %d ranks", team_size(s->ctx));
    ctx_note(s->ctx, "eigenvectors", method->name, "%lld vectors of %lld items%s",
             (long long)s->wanted, (long long)s->m->n, ranks);
    if (method->solve != eigen_team_solve)
        CHECK(order_matrix(s->ctx, s->order, s->given));
    return method->solve(s, &out->verified);
}

/* Each column gets the sign that makes its largest entry positive (ties: lowest item). */
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

/* Exact vectors first, then the others in descending order, items back in their places. */
static void copy_out(solver *s, eigen_result *r, const int32_t *item)
{
    int64_t count = s->exact.width;
    for (int64_t p = 0; p < r->n; p++) {
        double *row = r->vector + item[p] * r->k;
        memcpy(row, s->exact.x + p * s->exact.stride, (size_t)count * sizeof *row);
        if (s->wanted > 0)
            memcpy(row + count, s->v.x + p * s->v.stride, (size_t)s->wanted * sizeof *row);
    }
    for (int64_t j = 0; j < r->k; j++)
        r->value[j] = j < count ? 1 : fmin(s->theta[j - count], 1);
    panel_free(s->ctx, &s->v);
    panel_free(s->ctx, &s->exact);
}

/* By the ranks of a team some vectors each. */
static ddsc_status measure_divided(ddsc_context *ctx, eigen_result *r, const sparse *m)
{
    ddsc_status status = DDSC_OK;
    panel all = {.n = r->n, .width = r->k, .stride = r->k, .x = r->vector}, v = {0}, mv = {0};
    memset(r->residual, 0, (size_t)r->k * sizeof *r->residual);
    for (int64_t g = team_rank(ctx); g * GROUP < r->k; g += team_size(ctx)) {
        int64_t from = g * GROUP, count = BASE_MIN(GROUP, r->k - from);
        TRY(panel_new(ctx, &v, r->n, count));
        TRY(panel_new(ctx, &mv, r->n, count));
        panel_copy(&v, 0, &all, from, count);
        TRY(operator_apply(ctx, m, count, v.x, mv.x));
        TRY(panel_residuals(ctx, r->residual + from, &v, &mv, r->value + from));
        panel_free(ctx, &v);
        panel_free(ctx, &mv);
    }
    TRY(team_largest(ctx, r->residual, r->k));
done:
    panel_free(ctx, &v);
    panel_free(ctx, &mv);
    return status;
}

static ddsc_status measure_alone(ddsc_context *ctx, eigen_result *r, const sparse *m)
{
    ddsc_status status = DDSC_OK;
    panel v = {.n = r->n, .width = r->k, .stride = r->k, .x = r->vector}, mv = {0};
    TRY(panel_new(ctx, &mv, r->n, r->k));
    TRY(operator_apply(ctx, m, r->k, r->vector, mv.x));
    TRY(panel_residuals(ctx, r->residual, &v, &mv, r->value));
done:
    panel_free(ctx, &mv);
    return status;
}

/* Residuals are measured afresh, with the matrix as it was given. Where a rank had all the vectors to
 * itself, it has their residuals too. */
static ddsc_status measure(solver *s, eigen_result *r, const sparse *m)
{
    ddsc_status status = DDSC_OK;
    CHECK((s->by_team ? measure_divided : measure_alone)(s->ctx, r, m));
    r->n_products = s->n_products + 1;
    for (int64_t j = 0; j < r->k; j++)
        if (!(r->residual[j] <= s->tolerance))
            status = DDSC_NOT_CONVERGED;
    return status;
}

static ddsc_status check(ddsc_context *ctx, const sparse *m, int64_t n_live, int64_t k,
                         const eigen_settings *set)
{
    if (k < 1 || k > n_live)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "%lld eigenvectors asked for, the graph has %lld linked items of %lld",
                        (long long)k, (long long)n_live, (long long)m->n);
    if (!(set->tolerance > 0) || set->max_iterations < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "eigenvectors need a positive tolerance and iteration cap, not %g and %lld",
                        set->tolerance, (long long)set->max_iterations);
    return DDSC_OK;
}

ddsc_status eigen_run(ddsc_context *ctx, eigen_result *out, const sparse *m, const double *degree,
                      const int32_t *component, int64_t n_components, int64_t k,
                      const eigen_settings *settings)
{
    ddsc_status status = DDSC_OK;
    reordered near = {0};
    solver s = {.ctx = ctx,
                .given = m,
                .order = &near,
                .tolerance = fmax(settings->tolerance, TOLERANCE_LEAST)};
    *out = (eigen_result){.n = m->n, .k = k};
    for (int64_t i = 0; i < m->n; i++)
        s.room += component[i] >= 0;
    s.max_products = settings->max_iterations;
    progress_begin(ctx, "eigenvectors", k);
    TRY(check(ctx, m, s.room, k, settings));
    TRY(MEM_NEW(ctx, out->value, k));
    TRY(MEM_NEW(ctx, out->residual, k));
    TRY(order_make(ctx, &near, m, degree, component));
    s.m = &near.m;
    s.component = near.component;
    s.noise = (panel_noise){.stream = RNG_EIGEN, .dead = near.component};
    TRY(add_components(&s, near.degree, n_components, k));
    TRY(eigen_solve(&s, out, settings));
    TRY(MEM_NEW(ctx, out->vector, m->n * k));
    copy_out(&s, out, near.item);
    TRY(fix_signs(ctx, out));
    TRY(measure(&s, out, m));
    progress_end(ctx);
done:
    panel_free(ctx, &s.exact);
    panel_free(ctx, &s.v);
    mem_free(ctx, s.theta);
    order_free(ctx, &near);
    if (status < 0)
        eigen_free(ctx, out);
    return status;
}

void eigen_free(ddsc_context *ctx, eigen_result *result)
{
    MEM_FREE(ctx, result->vector, result->residual, result->value);
    *result = (eigen_result){0};
}
