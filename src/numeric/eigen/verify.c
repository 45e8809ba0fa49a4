/* Verifies that the solver missed no eigenvalue.
 *
 * A random block, kept orthogonal to all computed vectors, is filtered. The filter damps the
 * interval [-1, cut], where the cut lies a margin below the last wanted eigenvalue (the bound).
 * After each filter, the largest Ritz value theta of the block is compared with the bound.
 *
 * If theta exceeds the bound, an eigenvalue was missed. If theta stays below the cut, or if theta
 * plus its residual does not exceed the bound, no eigenvalue was missed. The second conclusion also
 * requires enough amplification. An eigenvector at the bound has a component of about 1/sqrt(n) in
 * a random vector, and the filters must have amplified it well above the damped components (see
 * lift_wanted). If eigenvalues between the cut and the bound prevent a decision, the margin is
 * reduced.
 *
 * The test is probabilistic, because a random block can be nearly orthogonal to a missed
 * eigenvector. Each round takes one filter of at most DEGREE_MAX block products with FRESH_WIDTH
 * vectors. */
#include <math.h>

#include "numeric/eigen/solver.h"
#include "numeric/linalg/linalg.h"

enum { DEGREE_MAX = 160 };

/* Returns the logarithm of the amplification that is needed for a decision. An eigenvector at the
 * bound has a component of about 1/sqrt(n) in a random vector. If this component is amplified by
 * exp(L) relative to everything below the cut, the largest Ritz value exceeds bound - 2 n exp(-2L).
 * If that limit is well above the cut, a Ritz value below the cut proves that there is no such
 * eigenvector. */
static double lift_wanted(const solver *s, double margin)
{
    return log(200 * (double)s->m->n / margin) / 2;
}

/* Returns the degree that reaches that amplification, limited so that rounding errors along
 * known vectors are not amplified too much. */
static int64_t fresh_degree(double lift, double growth, double growth_at_1)
{
    double want = 1 + (lift + log(2)) / fmax(growth, 1e-3);
    double most = log(1e9) / fmax(growth_at_1, 1e-3);
    return (int64_t)fmax(4, fmin(fmin(want, most), DEGREE_MAX));
}

/* Performs Rayleigh-Ritz on the random block alone, replaces its columns with the Ritz vectors, and
 * returns the leading pair in *theta and *residual. */
static ddsc_status fresh_ritz(solver *s, panel *x, panel *y, double *theta, double *residual)
{
    enum { B = FRESH_WIDTH };
    double h[B * B], rows[B * B], u[B * B], values[B], residuals[B];
    int64_t b = x->width;
    CHECK(filter_product(s, b, x->x, y->x));
    s->n_products++;
    CHECK(panel_gram(s->ctx, h, x, y));
    CHECK(la_eigen_symmetric(s->ctx, b, h, values, rows));
    for (int64_t j = 0; j < b; j++)
        for (int64_t i = 0; i < b; i++)
            u[i * b + j] = rows[(b - 1 - j) * b + i];
    for (int64_t j = 0; j < b / 2; j++) {
        double swap = values[j];
        values[j] = values[b - 1 - j];
        values[b - 1 - j] = swap;
    }
    CHECK(panel_rotate(s->ctx, x, b, u, b));
    CHECK(panel_rotate(s->ctx, y, b, u, b));
    CHECK(panel_residuals(s->ctx, residuals, x, y, values));
    *theta = values[0];
    *residual = residuals[0];
    return DDSC_OK;
}

typedef struct fresh_state {
    double bound, margin, lifted;
    double theta, residual; /* the leading Ritz pair */
} fresh_state;

/* Applies one filter to the block and, if the new leading Ritz pair permits, sets the verdict. */
static ddsc_status fresh_round(solver *s, fresh_verdict *verdict, fresh_state *f, panel *fresh,
                               panel *y, panel_noise *noise)
{
    const panel *known[] = {&s->exact, &s->v};
    double cut = fmax(f->bound - f->margin, -0.98), growth = filter_growth(cut, f->bound);
    double lift = cut < f->bound ? lift_wanted(s, f->bound - cut) : -INFINITY;
    double before = f->residual;
    int64_t degree = fresh_degree(lift, growth, filter_growth(cut, 1));
    CHECK(filter_apply(s, fresh, y, cut, degree, false));
    CHECK(panel_orthonormalize(s->ctx, fresh, 2, known, noise));
    CHECK(fresh_ritz(s, fresh, y, &f->theta, &f->residual));
    f->lifted += (double)degree * growth - log(2);
    if (f->theta > f->bound + s->tolerance)
        *verdict = FRESH_MISSED;
    else if (f->lifted < lift)
        *verdict = FRESH_UNCLEAR;
    else if (f->theta <= cut || f->theta + f->residual <= f->bound + s->tolerance)
        *verdict = FRESH_CLEAN;
    else if (f->residual > 0.5 * before)
        f->margin /= 4;
    return DDSC_OK;
}

ddsc_status fresh_search(solver *s, int rounds, fresh_verdict *verdict, panel *fresh)
{
    ddsc_status status = DDSC_OK;
    panel y = {0};
    int64_t width = BASE_MIN(FRESH_WIDTH, s->dimension - s->v.width);
    const panel *known[] = {&s->exact, &s->v};
    panel_noise noise = {RNG_EIGEN_VERIFY, (uint64_t)s->n_products & 0xFFFF, s->component};
    *fresh = (panel){0};
    *verdict = FRESH_CLEAN;
    if (width <= 0)
        return DDSC_OK;
    *verdict = FRESH_UNCLEAR;
    TRY(panel_new(s->ctx, fresh, s->m->n, width));
    TRY(panel_new(s->ctx, &y, s->m->n, width));
    TRY(panel_random(s->ctx, fresh, 0, width, &noise));
    TRY(panel_orthonormalize(s->ctx, fresh, 2, known, &noise));
    /* The search starts with a wide margin, which needs few products. However, eigenvalues between
     * the cut and the bound also grow and may prevent a decision. In that case, the margin is
     * reduced. */
    fresh_state f = {.bound = s->theta[s->wanted - 1], .residual = INFINITY};
    double least = fmax(f.bound - s->theta[s->v.width - 1], 0.05 * (1 - f.bound));
    f.margin = fmax(0.3 * (1 - f.bound), 1e-3);
    for (int round = 0; round < rounds && *verdict == FRESH_UNCLEAR; round++) {
        f.margin = fmax(f.margin, fmax(least, 1e-9));
        TRY(fresh_round(s, verdict, &f, fresh, &y, &noise));
    }
done:
    panel_free(s->ctx, &y);
    return status;
}
