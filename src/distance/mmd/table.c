/* Computes the feature space of any kernel on a table of few points.
 *
 * Let w be the mean weights of all items and K~ = (I - 1 w') K (I - w 1'). K~ is positive
 * semidefinite if K is positive semidefinite on weights that sum to 0, which includes the energy
 * kernel. The coordinates F a are centered at the mean of the items. With K~ = F' F + E, g = K w, c
 * = w' g and weights that sum to 1,
 *
 *     a' K b = F a . F b + a' E b + a . g + b . g - c.
 *
 * |a' E b| is at most the largest entry of E, which is computed, so the accuracy of the eigenvalues
 * does not matter. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "distance/mmd/internal.h"
#include "numeric/linalg/linalg.h"

typedef struct factoring {
    mmd *s;
    mmd_table *t;
    double *gram;    /* v x v: K, then K~ */
    double *mean;    /* v: w */
    double *factor;  /* F: n x v */
    double *largest; /* one per stripe: largest |E| */
} factoring;

static ddsc_status gram_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const factoring *f = arg;
    int64_t v = f->s->m->v;
    double *stripe = mmd_worker_of(f->s, worker).stripe;
    for (int64_t k = begin; k < end; k++) {
        int64_t first = k * MMD_LANES, lanes = BASE_MIN(MMD_LANES, v - first);
        mmd_stripe(f->s, first, v, stripe);
        for (int64_t r = 0; r < v; r++)
            memcpy(f->gram + r * v + first, stripe + r * MMD_LANES, (size_t)lanes * sizeof *stripe);
    }
    return DDSC_OK;
}

/* Replaces K with K~ and returns the largest |k|. `unsure` bounds all rounding errors in double
 * precision: those in the kernel values (see distance/cost/points.h), and those in a few successive
 * sums of at most v terms with magnitudes up to four times the largest |k|. */
static double center_gram(factoring *f)
{
    const measures *m = f->s->m;
    int64_t v = m->v;
    double *g = f->t->shift, c, largest = 0;
    for (int64_t p = 0; p < m->nnz; p++)
        f->mean[m->index[p]] += m->weight[p] / (double)m->n;
    for (int64_t p = 0; p < v * v; p++)
        largest = fmax(largest, fabs(f->gram[p]));
    for (int64_t p = 0; p < v; p++)
        g[p] = la_dot(v, f->gram + p * v, f->mean);
    c = la_dot(v, g, f->mean);
    for (int64_t p = 0; p < v; p++)
        for (int64_t q = 0; q < v; q++)
            f->gram[p * v + q] -= g[p] + g[q] - c;
    for (int64_t p = 0; p < v; p++)
        g[p] = c - 2 * g[p];
    f->t->unsure = (4e-12 + 0x1p-47 * (double)v) * largest;
    return largest;
}

/* Computes F = L^1/2 U', ordered by decreasing eigenvalue. Eigenvalues near zero are omitted from F
 * and contribute to E. */
static ddsc_status factor_gram(factoring *f)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = f->s->ctx;
    int64_t v = f->s->m->v, n = 0;
    double *matrix = NULL, *values = NULL, *vectors = NULL;
    TRY(MEM_NEW(ctx, matrix, v * v));
    TRY(MEM_NEW(ctx, values, v));
    TRY(MEM_NEW(ctx, vectors, v * v));
    memcpy(matrix, f->gram, (size_t)(v * v) * sizeof *matrix);
    TRY(la_eigen_symmetric(ctx, v, matrix, values, vectors));
    TRY(team_first(ctx, values, v * (int64_t)sizeof *values));
    TRY(team_first(ctx, vectors, v * v * (int64_t)sizeof *vectors));
    while (n < v && values[v - 1 - n] > TABLE_LEAST * values[v - 1])
        n++;
    for (int64_t r = 0; r < n; r++)
        for (int64_t x = 0; x < v; x++)
            matrix[r * v + x] = sqrt(values[v - 1 - r]) * vectors[(v - 1 - r) * v + x];
    f->t->n = n;
    f->factor = matrix;
    matrix = NULL;
done:
    MEM_FREE(ctx, vectors, values, matrix);
    return status;
}

static ddsc_status remainder_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const factoring *f = arg;
    int64_t v = f->s->m->v;
    double *left = mmd_worker_of(f->s, worker).stripe; /* MMD_LANES rows of E */
    for (int64_t k = begin; k < end; k++) {
        int64_t first = k * MMD_LANES, rows = BASE_MIN(MMD_LANES, v - first);
        memcpy(left, f->gram + first * v, (size_t)(rows * v) * sizeof *left);
        la_gemm(true, false, rows, v, f->t->n, -1, f->factor + first, v, f->factor, v, 1, left, v);
        f->largest[k] = 0;
        for (int64_t p = 0; p < rows * v; p++)
            f->largest[k] = fmax(f->largest[k], fabs(left[p]));
    }
    return DDSC_OK;
}

/* Copies the factor to the memory layout of mmd_gather. */
static ddsc_status panel_make(factoring *f)
{
    mmd_table *t = f->t;
    int64_t v = f->s->m->v, n_blocks = (t->n + MMD_LANES - 1) / MMD_LANES;
    CHECK(MEM_ZERO(f->s->ctx, t->panel, n_blocks * v * MMD_LANES));
    for (int64_t r = 0; r < t->n; r++)
        for (int64_t x = 0; x < v; x++)
            t->panel[(r / MMD_LANES * v + x) * MMD_LANES + r % MMD_LANES] = f->factor[r * v + x];
    return DDSC_OK;
}

ddsc_status mmd_table_open(mmd *s, mmd_table *t)
{
    ddsc_status status = DDSC_OK;
    int64_t v = s->m->v, n_stripes = (v + MMD_LANES - 1) / MMD_LANES;
    double left = 0;
    factoring f = {.s = s, .t = t};
    TRY(MEM_NEW(s->ctx, t->shift, v));
    TRY(MEM_NEW(s->ctx, f.gram, v * v));
    TRY(MEM_ZERO(s->ctx, f.mean, v));
    TRY(MEM_NEW(s->ctx, f.largest, n_stripes));
    TRY(parallel_for(s->ctx, n_stripes, 1, gram_range, &f));
    if (!(center_gram(&f) <= TABLE_LARGEST)) /* the values exceed the float range */
        goto done;
    TRY(factor_gram(&f));
    TRY(parallel_for(s->ctx, n_stripes, 1, remainder_range, &f));
    for (int64_t k = 0; k < n_stripes; k++)
        left = fmax(left, f.largest[k]);
    t->unsure += left;
    TRY(panel_make(&f));
done:
    MEM_FREE(s->ctx, f.largest, f.factor, f.mean, f.gram);
    return status;
}

void mmd_table_close(mmd *s, mmd_table *t)
{
    MEM_FREE(s->ctx, t->panel, t->shift);
}

void mmd_table_apply(const mmd *s, const mmd_table *t, const int64_t *items, int64_t n,
                     mmd_worker *w)
{
    double some[MMD_LANES];
    for (int64_t first = 0; first < t->n; first += MMD_LANES)
        for (int64_t lane = 0; lane < n; lane++) {
            mmd_gather(measures_item(s->m, items[lane]), t->panel + first * s->m->v, some);
            for (int64_t r = first; r < BASE_MIN(t->n, first + MMD_LANES); r++)
                w->stripe[r * MMD_LANES + lane] = some[r - first];
        }
}
