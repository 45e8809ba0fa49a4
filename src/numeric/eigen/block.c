/* Computes eigenpairs with a block Davidson method and Chebyshev filters (Zhou and Saad 2007; Zhou
 * 2010).
 *
 * The basis V starts as a filtered random block that is wider than the number of wanted vectors, so
 * that it contains a component along every copy of a multiple eigenvalue. Each step takes the first
 * unconverged Ritz vectors, filters them, orthonormalizes the result against the basis and appends
 * it. Rayleigh-Ritz on V then gives the new Ritz pairs. When the basis is full, it is reduced to
 * its best Ritz vectors.
 *
 * The search ends when the wanted pairs have converged and a new random block finds no missed
 * eigenvalue. Otherwise, that block is added to the basis, and the search continues.
 *
 * M V is not stored. Instead, the first product of a filter also gives the residuals. This takes no
 * longer than multiplying M V by the coordinates of the Ritz vectors. In total, each vector takes
 * about one product with M per degree of each filter, plus the orthogonalization against V. */
#include <math.h>
#include <string.h>

#include "numeric/eigen/solver.h"
#include "numeric/linalg/linalg.h"

enum { STEP_MIN = 8, STEP_MAX = 32, DEGREE_START = 10, DEGREE_MIN = 16, DEGREE_MAX = 64 };
enum {
    ROUNDS = 12
}; /* filters per verification; if the result is unclear, the block is added to the basis */

typedef struct basis {
    panel x, mx,
        old; /* Ritz vectors of the step, their products with M, and a copy; all contiguous */
    int64_t keep, capacity; /* number of columns after and before a reduction */
    int64_t step;           /* number of columns added per step */
    double *h, *rows, *u;   /* capacity^2: V^T M V, and its eigenvectors */
    double *residual;       /* residuals of the step's Ritz vectors */
    int64_t n_converged;    /* number of leading Ritz pairs that have converged */
    int64_t n_reported;     /* number of these pairs that were reported as progress */
    double *values;
} basis;

static ddsc_status basis_new(solver *s, basis *b)
{
    int64_t c;
    b->step = BASE_MIN(BASE_MAX(STEP_MIN, s->wanted / 4 / 8 * 8), STEP_MAX);
    b->keep = BASE_MIN(s->wanted + guard_width(s->wanted), s->dimension);
    c = b->keep + BASE_MAX(6 * b->step, s->wanted);
    b->capacity = c = BASE_MIN(c, s->dimension);
    CHECK(MEM_NEW(s->ctx, s->theta, c));
    CHECK(MEM_ZERO(s->ctx, b->h, c * c));
    CHECK(MEM_NEW(s->ctx, b->rows, 2 * c * c));
    CHECK(MEM_NEW(s->ctx, b->u, c * c));
    CHECK(MEM_NEW(s->ctx, b->values, c));
    return MEM_NEW(s->ctx, b->residual, b->step);
}

static void basis_free(ddsc_context *ctx, basis *b)
{
    panel_free(ctx, &b->x);
    panel_free(ctx, &b->mx);
    panel_free(ctx, &b->old);
    MEM_FREE(ctx, b->h, b->rows, b->u, b->values, b->residual);
}

/* Computes theta and u from h: the Ritz values in descending order, and their vectors as
 * columns. */
static ddsc_status solve_projected(solver *s, basis *b)
{
    int64_t w = s->v.width, ld = b->capacity;
    double *copy = b->rows + w * w;
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < w; j++)
            copy[i * w + j] = (b->h[i * ld + j] + b->h[j * ld + i]) / 2;
    ddsc_status status = la_eigen_symmetric(s->ctx, w, copy, b->values, b->rows);
    for (int64_t j = 0; j < w && status >= 0; j++) {
        s->theta[j] = b->values[w - 1 - j];
        for (int64_t i = 0; i < w; i++)
            b->u[i * ld + j] = b->rows[(w - 1 - j) * w + i];
    }
    return status;
}

/* Replaces the basis with its first `count` Ritz vectors. */
static ddsc_status cut_back(solver *s, basis *b, int64_t count)
{
    int64_t ld = b->capacity;
    CHECK(panel_rotate(s->ctx, &s->v, count, b->u, ld));
    s->v.width = count;
    memset(b->h, 0, (size_t)(ld * ld) * sizeof *b->h);
    memset(b->u, 0, (size_t)(ld * ld) * sizeof *b->u);
    for (int64_t j = 0; j < count; j++) {
        b->h[j * ld + j] = s->theta[j];
        b->u[j * ld + j] = 1;
    }
    return DDSC_OK;
}

/* Appends the columns of x, which are orthonormal and orthogonal to the basis, and computes their
 * products. */
static ddsc_status append(solver *s, basis *b, const panel *x, panel *mx)
{
    int64_t at = s->v.width, ld = b->capacity, count = x->width;
    double *c = b->rows;
    CHECK(filter_product(s, count, x->x, mx->x));
    s->n_products++;
    CHECK(panel_copy(s->ctx, &s->v, at, x, 0, count));
    s->v.width = at + count;
    CHECK(panel_gram(s->ctx, c, &s->v, mx));
    for (int64_t i = 0; i < s->v.width; i++)
        for (int64_t j = 0; j < count; j++)
            b->h[i * ld + at + j] = b->h[(at + j) * ld + i] = c[i * count + j];
    return solve_projected(s, b);
}

/* Starts the basis with a filtered random block of `keep` columns, and solves the first projected
 * problem. */
static ddsc_status basis_start(solver *s, basis *b)
{
    ddsc_status status = DDSC_OK;
    int64_t w = b->keep, n = s->m->n;
    const panel *known[] = {&s->exact};
    panel x = {0}, mx = {0};
    TRY(panel_new(s->ctx, &x, n, w));
    TRY(panel_new(s->ctx, &mx, n, w));
    TRY(panel_random(s->ctx, &x, 0, w, &s->noise));
    if (w < s->dimension)
        TRY(filter_apply(s, &x, &mx, 0, DEGREE_START, false));
    panel_free(s->ctx, &mx); /* saves memory at the peak */
    TRY(panel_orthonormalize(s->ctx, &x, 1, known, &s->noise));
    TRY(panel_new(s->ctx, &mx, n, w));
    TRY(filter_product(s, w, x.x, mx.x));
    s->n_products++;
    TRY(panel_gram(s->ctx, b->rows, &x, &mx));
    for (int64_t i = 0; i < w; i++)
        memcpy(b->h + i * b->capacity, b->rows + i * w, (size_t)w * sizeof *b->h);
    panel_free(s->ctx, &mx);
    TRY(panel_reserve(s->ctx, &x, b->capacity));
    s->v = x;
    x = (panel){0};
    TRY(panel_new(s->ctx, &b->x, n, b->step));
    TRY(panel_new(s->ctx, &b->mx, n, b->step));
    TRY(panel_new(s->ctx, &b->old, n, b->step));
    TRY(solve_projected(s, b));
done:
    panel_free(s->ctx, &mx);
    panel_free(s->ctx, &x);
    return status;
}

static double goal(const solver *s)
{
    return fmax(0.3 * s->tolerance, 1e-14);
}

/* Computes `count` Ritz vectors, starting at index `first`. Stores the vectors in x and their
 * products in mx, and computes their residuals. */
static ddsc_status compute_ritz(solver *s, basis *b, int64_t first, int64_t count)
{
    b->x.width = b->x.stride = b->mx.width = b->mx.stride = count;
    b->old.width = b->old.stride = count;
    CHECK(panel_multiply(s->ctx, &b->x, &s->v, b->u + first, b->capacity));
    CHECK(filter_product(s, count, b->x.x, b->mx.x));
    s->n_products++;
    return panel_residuals(s->ctx, b->residual, &b->x, &b->mx, s->theta + first);
}

/* Computes the Ritz vectors of the next step, starting at the first one that has not converged. */
static ddsc_status next_ritz(solver *s, basis *b)
{
    for (int64_t passed = 1; passed > 0 && b->n_converged < s->wanted;) {
        CHECK(compute_ritz(s, b, b->n_converged, BASE_MIN(b->step, s->v.width - b->n_converged)));
        for (passed = 0; passed < b->x.width && b->residual[passed] <= goal(s); passed++)
            b->n_converged++;
    }
    int64_t reached = BASE_MIN(b->n_converged, s->wanted);
    if (reached > b->n_reported) {
        progress_add(s->ctx, reached - b->n_reported);
        b->n_reported = reached;
    }
    return DDSC_OK;
}

/* Chooses the cut of the filter, normally in the middle of the guard values. If there are more
 * equal eigenvalues than columns, the Ritz values down to that index hardly differ, and a filter
 * with that cut would damp nothing. A contamination of size e from an eigenvalue at distance g
 * gives the residual r = e g and shifts the Ritz value by e^2 g. Hence g is about r^2 / spread, and
 * the cut must lie at least a fraction of g below the first Ritz value. */
static double choose_cut(const solver *s, const basis *b)
{
    int64_t first = b->n_converged, w = s->v.width;
    int64_t left = BASE_MAX(s->wanted - first, 1);
    int64_t at = BASE_MIN(w - 1, first + left + (w - first - left) / 2);
    double spread = fmax(s->theta[first] - s->theta[at], 1e-16);
    double distance = 0.3 * b->residual[0] * b->residual[0] / spread;
    return fmax(fmin(s->theta[at], s->theta[first] - fmin(distance, 0.5)), -0.98);
}

/* Chooses the degree of the filter. The degree is large enough that a step reduces the residuals by
 * a factor of about ten and that its products take longer than its overhead. The degree is also
 * limited so that rounding errors along known vectors are not amplified too much. */
static int64_t choose_degree(const solver *s, const basis *b, double cut)
{
    double want = 2.5 / fmax(filter_growth(cut, s->theta[b->n_converged]), 1e-4);
    double most = log(1e9) / fmax(filter_growth(cut, 1), 1e-4);
    return (int64_t)fmin(fmax(want, DEGREE_MIN), fmin(fmax(most, 2), DEGREE_MAX));
}

/* Filters the step's Ritz vectors and subtracts p(theta) x from each p(M) x. If x is nearly an
 * eigenvector, p(M) x is nearly p(theta) x, and only the difference extends the basis. After the
 * subtraction, one orthogonalization pass is enough; without it, two or three are needed. */
static ddsc_status filter_step(solver *s, basis *b, double cut)
{
    int64_t degree = choose_degree(s, b, cut), count = b->x.width;
    double *value = b->rows; /* count x count, diagonal */
    memset(value, 0, (size_t)(count * count) * sizeof *value);
    for (int64_t j = 0; j < count; j++)
        value[j * count + j] = filter_value(cut, s->theta[b->n_converged + j], degree);
    CHECK(panel_copy(s->ctx, &b->old, 0, &b->x, 0, count));
    CHECK(filter_apply(s, &b->x, &b->mx, cut, degree, true));
    return panel_subtract(s->ctx, &b->x, &b->old, value);
}

static ddsc_status block_grow(solver *s, basis *b)
{
    const panel *known[] = {&s->exact, &s->v};
    CHECK(filter_step(s, b, choose_cut(s, b)));
    if (s->v.width + b->x.width > b->capacity)
        CHECK(cut_back(s, b, BASE_MIN(b->keep, b->capacity - b->x.width)));
    CHECK(panel_orthonormalize(s->ctx, &b->x, 2, known, &s->noise));
    return append(s, b, &b->x, &b->mx);
}

/* Checks all wanted pairs again, because a larger Ritz value that appears later can move
 * converged pairs to a higher index. */
static ddsc_status recheck(solver *s, basis *b)
{
    CHECK(cut_back(s, b, BASE_MIN(b->keep, s->v.width)));
    b->n_converged = 0;
    for (int64_t passed = 1; passed > 0 && b->n_converged < s->wanted;) {
        int64_t first = b->n_converged;
        CHECK(compute_ritz(s, b, first, BASE_MIN(b->step, s->wanted - first)));
        for (passed = 0; passed < b->x.width && b->residual[passed] <= s->tolerance; passed++)
            b->n_converged++;
    }
    return DDSC_OK;
}

static bool exhausted(const solver *s, const basis *b)
{
    return s->n_products >= s->max_products || s->v.width == s->dimension || b->capacity == b->keep;
}

ddsc_status block_solve(solver *s, bool *verified)
{
    ddsc_status status = DDSC_OK;
    basis b = {0};
    panel fresh = {0}, scratch = {0};
    fresh_verdict verdict = FRESH_UNCLEAR;
    filter_open(s);
    TRY(basis_new(s, &b));
    TRY(basis_start(s, &b));
    while (verdict != FRESH_CLEAN) {
        TRY(next_ritz(s, &b));
        while (b.n_converged < s->wanted && !exhausted(s, &b)) {
            TRY(block_grow(s, &b));
            TRY(next_ritz(s, &b));
        }
        TRY(recheck(s, &b));
        if (exhausted(s, &b) && b.n_converged < s->wanted)
            break;
        if (b.n_converged < s->wanted)
            continue;
        panel_free(s->ctx, &fresh);
        TRY(fresh_search(s, ROUNDS, &verdict, &fresh));
        if (verdict != FRESH_CLEAN && exhausted(s, &b))
            break;
        if (verdict != FRESH_CLEAN) {
            TRY(panel_new(s->ctx, &scratch, fresh.n, fresh.width));
            TRY(append(s, &b, &fresh, &scratch));
            panel_free(s->ctx, &scratch);
            b.n_converged = 0;
        }
    }
    *verified = verdict == FRESH_CLEAN;
    if (!*verified)
        status = DDSC_NOT_CONVERGED;
done:
    filter_close(s);
    panel_free(s->ctx, &scratch);
    panel_free(s->ctx, &fresh);
    basis_free(s->ctx, &b);
    return status;
}
