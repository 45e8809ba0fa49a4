/* Block Davidson with Chebyshev filters (Zhou and Saad 2007; Zhou 2010): a basis V with W = M V,
 * grown by filtered Ritz vectors and cut back to the best ones when it is full. It starts from a
 * random block wider than what is wanted, so that every copy of a multiple eigenvalue has a share
 * in it. */
#include <math.h>
#include <string.h>

#include "eigen/solver.h"
#include "linalg/linalg.h"

enum { STEP_MIN = 8, STEP_MAX = 32, DEGREE_START = 10, DEGREE_MIN = 8, DEGREE_MAX = 64 };
enum { ROUNDS = 12 }; /* filters of the check; then what it found so far joins the block */

typedef struct basis {
    panel w;                /* M V, shape of V */
    panel x, mx;            /* the step: Ritz vectors and their products, contiguous */
    int64_t keep, capacity; /* columns after and before a cut */
    int64_t step;           /* columns added at a time */
    double *h, *rows, *u;   /* capacity^2: V^T M V, its eigenvectors */
    double *residual;       /* of the step, or of the wanted ones */
    int64_t n_converged;    /* leading Ritz pairs */
    int64_t n_reported;     /* of those, to the progress callback */
    double *values;
} basis;

static ddsc_status basis_new(solver *s, basis *b)
{
    int64_t n = s->m->n, c;
    b->step = BASE_MIN(BASE_MAX(STEP_MIN, s->wanted / 4 / 8 * 8), STEP_MAX);
    b->keep = BASE_MIN(s->wanted + guard_width(s->wanted), s->room);
    c = b->keep + BASE_MAX(6 * b->step, s->wanted);
    b->capacity = c = BASE_MIN(c, s->room);
    CHECK(panel_new(s->ctx, &s->v, n, c));
    CHECK(panel_new(s->ctx, &b->w, n, c));
    CHECK(panel_new(s->ctx, &b->x, n, b->step));
    CHECK(panel_new(s->ctx, &b->mx, n, b->step));
    CHECK(MEM_NEW(s->ctx, s->theta, c));
    CHECK(MEM_ZERO(s->ctx, b->h, c * c));
    CHECK(MEM_NEW(s->ctx, b->rows, 2 * c * c));
    CHECK(MEM_NEW(s->ctx, b->u, c * c));
    CHECK(MEM_NEW(s->ctx, b->values, c));
    return MEM_NEW(s->ctx, b->residual, BASE_MAX(b->step, b->keep));
}

static void basis_free(ddsc_context *ctx, basis *b)
{
    panel_free(ctx, &b->w);
    panel_free(ctx, &b->x);
    panel_free(ctx, &b->mx);
    MEM_FREE(ctx, b->h, b->rows, b->u, b->values, b->residual);
}

/* theta, u from h: Ritz values descending, vectors in columns. */
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

/* Turn the basis into its first `count` Ritz vectors. */
static ddsc_status cut_back(solver *s, basis *b, int64_t count)
{
    int64_t ld = b->capacity;
    CHECK(panel_rotate(s->ctx, &s->v, count, b->u, ld));
    CHECK(panel_rotate(s->ctx, &b->w, count, b->u, ld));
    s->v.width = b->w.width = count;
    memset(b->h, 0, (size_t)(ld * ld) * sizeof *b->h);
    memset(b->u, 0, (size_t)(ld * ld) * sizeof *b->u);
    for (int64_t j = 0; j < count; j++) {
        b->h[j * ld + j] = s->theta[j];
        b->u[j * ld + j] = 1;
    }
    return DDSC_OK;
}

/* Add the columns of x, orthonormal to the basis, with their products. */
static ddsc_status append(solver *s, basis *b, const panel *x, panel *mx)
{
    int64_t at = s->v.width, ld = b->capacity, count = x->width;
    double *c = b->rows;
    CHECK(filter_product(s, count, x->x, mx->x));
    s->n_products++;
    CHECK(panel_copy(s->ctx, &s->v, at, x, 0, count));
    CHECK(panel_copy(s->ctx, &b->w, at, mx, 0, count));
    s->v.width = b->w.width = at + count;
    CHECK(panel_gram(s->ctx, c, &s->v, mx));
    for (int64_t i = 0; i < s->v.width; i++)
        for (int64_t j = 0; j < count; j++)
            b->h[i * ld + at + j] = b->h[(at + j) * ld + i] = c[i * count + j];
    return solve_projected(s, b);
}

/* A random block of `keep` columns through one filter, then the first projection. The panels serve
 * contiguously until the rows are moved to their places. */
static ddsc_status basis_start(solver *s, basis *b)
{
    int64_t w = b->keep, ld = b->capacity;
    const panel *known[] = {&s->exact};
    s->v.width = s->v.stride = b->w.width = b->w.stride = w;
    CHECK(panel_random(s->ctx, &s->v, 0, w, &s->noise));
    if (w < s->room)
        CHECK(filter_apply(s, &s->v, &b->w, 0, DEGREE_START));
    CHECK(panel_orthonormalise(s->ctx, &s->v, 1, known, &s->noise));
    CHECK(filter_product(s, w, s->v.x, b->w.x));
    s->n_products++;
    CHECK(panel_spread(s->ctx, &s->v, ld));
    CHECK(panel_spread(s->ctx, &b->w, ld));
    CHECK(panel_gram(s->ctx, b->rows, &s->v, &b->w));
    for (int64_t i = 0; i < w; i++)
        memcpy(b->h + i * ld, b->rows + i * w, (size_t)w * sizeof *b->h);
    return solve_projected(s, b);
}

static double goal(const solver *s)
{
    return fmax(0.3 * s->tolerance, 1e-14);
}

/* Ritz vectors from the first unconverged one on into x, their residuals; those that have converged
 * are passed by. */
static ddsc_status look(solver *s, basis *b)
{
    for (int64_t passed = 1; passed > 0 && b->n_converged < s->wanted;) {
        int64_t first = b->n_converged;
        b->x.width = b->mx.width = BASE_MIN(b->step, s->v.width - first);
        b->x.stride = b->mx.stride = b->x.width;
        CHECK(panel_multiply(s->ctx, &b->x, &s->v, b->u + first, b->capacity));
        CHECK(panel_multiply(s->ctx, &b->mx, &b->w, b->u + first, b->capacity));
        CHECK(panel_residuals(s->ctx, b->residual, &b->x, &b->mx, s->theta + first));
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

/* The cut lies among the guards. Where the Ritz values down to there hardly differ (more equal
 * eigenvalues than columns), that damps nothing: a contamination of size e at distance g gives the
 * residual r = e g and moves the Ritz value by e^2 g, so g is about r^2 / spread, and the cut must
 * lie that far down. */
static double choose_cut(const solver *s, const basis *b)
{
    int64_t first = b->n_converged, w = s->v.width;
    int64_t left = BASE_MAX(s->wanted - first, 1);
    int64_t at = BASE_MIN(w - 1, first + left + (w - first - left) / 2);
    double spread = fmax(s->theta[first] - s->theta[at], 1e-16);
    double distance = 0.3 * b->residual[0] * b->residual[0] / spread;
    return fmax(fmin(s->theta[at], s->theta[first] - fmin(distance, 0.5)), -0.98);
}

/* Enough to gain a factor of about ten, without lifting rounding errors along known vectors. */
static int64_t choose_degree(const solver *s, const basis *b, double cut)
{
    double want = 2.5 / fmax(filter_growth(cut, s->theta[b->n_converged]), 1e-4);
    double most = log(1e9) / fmax(filter_growth(cut, 1), 1e-4);
    return (int64_t)fmin(fmax(want, DEGREE_MIN), fmin(fmax(most, 2), DEGREE_MAX));
}

static ddsc_status block_grow(solver *s, basis *b)
{
    const panel *known[] = {&s->exact, &s->v};
    double cut = choose_cut(s, b);
    CHECK(filter_apply(s, &b->x, &b->mx, cut, choose_degree(s, b, cut)));
    if (s->v.width + b->x.width > b->capacity)
        CHECK(cut_back(s, b, BASE_MIN(b->keep, b->capacity - b->x.width)));
    CHECK(panel_orthonormalise(s->ctx, &b->x, 2, known, &s->noise));
    return append(s, b, &b->x, &b->mx);
}

/* All wanted pairs at once; a later, larger Ritz value may have pushed converged ones back. */
static ddsc_status recheck(solver *s, basis *b)
{
    CHECK(cut_back(s, b, BASE_MIN(b->keep, s->v.width)));
    panel v = s->v, w = b->w;
    v.width = w.width = s->wanted;
    CHECK(panel_residuals(s->ctx, b->residual, &v, &w, s->theta));
    b->n_converged = 0;
    while (b->n_converged < s->wanted && b->residual[b->n_converged] <= s->tolerance)
        b->n_converged++;
    return DDSC_OK;
}

static bool exhausted(const solver *s, const basis *b)
{
    return s->n_products >= s->max_products || s->v.width == s->room || b->capacity == b->keep;
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
        TRY(look(s, &b));
        while (b.n_converged < s->wanted && !exhausted(s, &b)) {
            TRY(block_grow(s, &b));
            TRY(look(s, &b));
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
