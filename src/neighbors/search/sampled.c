/* Builds the graph from a random sample of the pairs. A sample contains only a few pairs of nearest
 * neighbors. However, if the items vary along few directions, the distances outside the sample can
 * be estimated: D^2_ij = |x_i|^2 + |x_j|^2 - 2 x_i . x_j is then the sum of one number per item and
 * an entry of a low-rank matrix. The model D^2_ij ~ m + b_i + b_j + (u_i . v_j + v_i . u_j) / 2 is
 * fitted to the known pairs. u and v are updated in turn, row by row, with ridge regression
 * (alternating least squares; Koren, Bell, Volinsky 2009). One tenth of the pairs is held out to
 * measure the error. If the error is at most FILL_ERROR, the model provides the values of the
 * unknown pairs, and the neighbors are the nearest items by known or fitted values. Otherwise, only
 * the known pairs are used. With p fitted pairs per item and rank r, a round costs O(n (p r^2 +
 * r^3)), and computing the fitted values costs O(n^2 r). */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "neighbors/search/search.h"
#include "neighbors/search/tuning.h"
#include "numeric/graph/graph.h"
#include "numeric/linalg/linalg.h"

/* Fraction of the kept pairs that is used for the fit. The remaining pairs are held out to measure
 * the error. */
static const double FITTED_PART = 0.9;
static const double RIDGE = 0.3; /* for residuals of variance 1 */
/* Fitted values are used only if their error is at most this fraction of the median deviation of
 * the distances. If the error is larger, the known pairs alone give a better graph. */
static const double FILL_ERROR = 0.25;

enum { SHARED_PIECE = 1 << 16 };

/* The pairs that are kept for the fit. Each pair is listed for both items. */
typedef struct kept_pairs {
    uint64_t seed;
    double part;
    int64_t n;
    int64_t *offset; /* n + 1 */
    int32_t *other;  /* ascending */
    double *value;   /* D^2; after fitting m and b, the residuals in units of their spread */
    bool *held;      /* the pair is held out */
    nearest *near;   /* heaps to which the values are also offered */
} kept_pairs;

typedef struct pair_fit {
    int64_t n, rank, most; /* most: maximum number of pairs of an item */
    const kept_pairs *k;
    double mean, spread, least; /* least: smallest known value */
    double *bias;               /* n */
    double *u, *v;              /* n x rank */
    const double *from;         /* factor that is fixed in this half round */
    double *to;                 /* factor to compute */
    double *scratch;            /* per worker */
} pair_fit;

static void kept_free(ddsc_context *ctx, kept_pairs *k)
{
    MEM_FREE(ctx, k->held, k->value, k->other, k->offset);
}

static void fill_free(ddsc_context *ctx, pair_fit *f)
{
    MEM_FREE(ctx, f->scratch, f->v, f->u, f->bias);
}

/* ---- kept pairs ---- */

static ddsc_status count_row(void *arg, int64_t begin, int64_t end, int worker)
{
    kept_pairs *k = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < k->n; j++)
            k->offset[i + 1] += j != i && pairs_sampled(k->seed, k->part, i, j);
    return DDSC_OK;
}

static ddsc_status kept_row(void *arg, int64_t begin, int64_t end, int worker)
{
    kept_pairs *k = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0, at = k->offset[i]; j < k->n; j++)
            if (j != i && pairs_sampled(k->seed, k->part, i, j)) {
                k->held[at] = !pairs_sampled(k->seed, FITTED_PART * k->part, i, j);
                k->other[at++] = (int32_t)j;
            }
    return DDSC_OK;
}

static ddsc_status kept_list(ddsc_context *ctx, kept_pairs *k, int64_t n, double part)
{
    *k = (kept_pairs){.seed = ctx_seed(ctx), .part = part, .n = n};
    CHECK(MEM_ZERO(ctx, k->offset, n + 1));
    CHECK(parallel_for(ctx, n, 16, count_row, k));
    for (int64_t i = 0; i < n; i++)
        k->offset[i + 1] += k->offset[i];
    CHECK(MEM_NEW(ctx, k->other, k->offset[n]));
    CHECK(MEM_NEW(ctx, k->held, k->offset[n]));
    CHECK(MEM_ZERO(ctx, k->value, k->offset[n]));
    return parallel_for(ctx, n, 16, kept_row, k);
}

static void keep_one(kept_pairs *k, int64_t i, int64_t j, double d2)
{
    int64_t low = k->offset[i], high = k->offset[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (k->other[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < k->offset[i + 1] && k->other[low] == j)
        k->value[low] = d2;
}

static void offer_and_keep(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    kept_pairs *k = arg;
    int64_t wide = t->j1 - t->j0;
    pairs_offer_tile(k->near, t, d2, ld);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = BASE_MAX(t->j0, i + 1); j < t->j1; j++)
            if (!t->wanted || t->wanted[(i - t->i0) * wide + (j - t->j0)]) {
                keep_one(k, i, j, d2[(i - t->i0) * ld + (j - t->j0)]);
                keep_one(k, j, i, d2[(i - t->i0) * ld + (j - t->j0)]);
            }
}

/* ---- the fit ---- */

/* Fits m and b by several rounds of means. On return, `value` contains the residuals, in units of
 * their spread. */
static void fit_items(pair_fit *f, kept_pairs *k)
{
    double sum = 0, square = 0, n_known = 0;
    f->least = INFINITY;
    for (int64_t p = 0; p < k->offset[k->n]; p++)
        if (!k->held[p]) {
            sum += k->value[p];
            n_known++;
            f->least = k->value[p] > 0 ? fmin(f->least, k->value[p]) : f->least;
        }
    f->mean = sum / n_known;
    for (int round = 0; round < FIT_ROUNDS; round++)
        for (int64_t i = 0; i < k->n; i++) {
            double off = 0, count = 2; /* count = 2 shrinks the mean towards 0 */
            for (int64_t p = k->offset[i]; p < k->offset[i + 1]; p++)
                if (!k->held[p]) {
                    off += k->value[p] - f->mean - f->bias[k->other[p]];
                    count++;
                }
            f->bias[i] = off / count;
        }
    for (int64_t i = 0; i < k->n; i++)
        for (int64_t p = k->offset[i]; p < k->offset[i + 1]; p++) {
            k->value[p] -= f->mean + f->bias[i] + f->bias[k->other[p]];
            square += k->held[p] ? 0 : k->value[p] * k->value[p];
        }
    f->spread = sqrt(square / n_known);
    for (int64_t p = 0; p < k->offset[k->n] && f->spread > 0; p++)
        k->value[p] /= f->spread;
}

/* Solves G x = x in place with a Cholesky factorization. G (r x r) must be positive definite and is
 * destroyed. */
static void solve_spd(double *g, double *x, int64_t r)
{
    for (int64_t j = 0; j < r; j++) {
        for (int64_t i = j; i < r; i++) {
            double sum = g[i * r + j];
            for (int64_t k = 0; k < j; k++)
                sum -= g[i * r + k] * g[j * r + k];
            g[i * r + j] = i == j ? sqrt(sum) : sum / g[j * r + j];
        }
        for (int64_t k = 0; k < j; k++)
            x[j] -= g[j * r + k] * x[k];
        x[j] /= g[j * r + j];
    }
    for (int64_t j = r - 1; j >= 0; j--) {
        for (int64_t k = j + 1; k < r; k++)
            x[j] -= g[k * r + j] * x[k];
        x[j] /= g[j * r + j];
    }
}

static ddsc_status fill_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const pair_fit *f = arg;
    const kept_pairs *k = f->k;
    int64_t r = f->rank;
    double *seen = f->scratch + worker * (f->most * (r + 1) + r * r);
    double *target = seen + f->most * r, *gram = target + f->most;
    for (int64_t i = begin; i < end; i++) {
        int64_t m = 0;
        for (int64_t p = k->offset[i]; p < k->offset[i + 1]; p++)
            if (!k->held[p]) {
                memcpy(seen + m * r, f->from + k->other[p] * r, (size_t)r * sizeof *seen);
                target[m++] = k->value[p];
            }
        la_gemm(true, false, r, r, m, 1, seen, r, seen, r, 0, gram, r);
        la_gemm(true, false, r, 1, m, 1, seen, r, target, 1, 0, f->to + i * r, 1);
        for (int64_t c = 0; c < r; c++)
            gram[c * r + c] += RIDGE;
        solve_spd(gram, f->to + i * r, r);
    }
    return DDSC_OK;
}

static double fit_rest(const pair_fit *f, int64_t i, int64_t j)
{
    int64_t r = f->rank;
    return 0.5 * (la_dot(r, f->u + i * r, f->v + j * r) + la_dot(r, f->v + i * r, f->u + j * r));
}

static ddsc_status fit_make(ddsc_context *ctx, pair_fit *f, kept_pairs *k)
{
    int64_t n = k->n;
    rng draw = rng_make(ctx_seed(ctx), RNG_COLUMNS, 1); /* stream 0 draws columns */
    for (int64_t i = 0; i < n; i++)
        f->most = BASE_MAX(f->most, k->offset[i + 1] - k->offset[i]);
    f->n = n;
    f->k = k;
    CHECK(MEM_ZERO(ctx, f->bias, n));
    CHECK(MEM_ZERO(ctx, f->u, n * f->rank));
    CHECK(MEM_NEW(ctx, f->v, n * f->rank));
    CHECK(MEM_NEW(ctx, f->scratch,
                  parallel_width(ctx) * (f->most * (f->rank + 1) + f->rank * f->rank)));
    fit_items(f, k);
    for (int64_t c = 0; c < n * f->rank; c++)
        f->v[c] = rng_normal(&draw) / sqrt((double)f->rank);
    for (int round = 0; round < FIT_ROUNDS && f->spread > 0; round++) {
        f->from = f->v;
        f->to = f->u;
        CHECK(parallel_for(ctx, n, 16, fill_rows, f));
        f->from = f->u;
        f->to = f->v;
        CHECK(parallel_for(ctx, n, 16, fill_rows, f));
    }
    return DDSC_OK;
}

/* Computes the error of the fit on held-out pairs: the median absolute error divided by the median
 * absolute deviation of the known values. */
static ddsc_status fit_judge(ddsc_context *ctx, double *error, const pair_fit *f)
{
    ddsc_status status = DDSC_OK;
    const kept_pairs *k = f->k;
    double *off = NULL, *truth = NULL;
    int64_t m = 0;
    TRY(MEM_NEW(ctx, off, k->offset[k->n]));
    TRY(MEM_NEW(ctx, truth, k->offset[k->n]));
    for (int64_t i = 0; i < k->n; i++)
        for (int64_t p = k->offset[i]; p < k->offset[i + 1]; p++)
            if (k->held[p] && k->other[p] > i) {
                double base = f->mean + f->bias[i] + f->bias[k->other[p]];
                truth[m] = base + f->spread * k->value[p];
                off[m] = fabs(base + f->spread * fit_rest(f, i, k->other[p]) - truth[m]);
                m++;
            }
    *error = INFINITY;
    if (m == 0)
        goto done;
    double middle = select_smallest(truth, m, m / 2);
    for (int64_t p = 0; p < m; p++)
        truth[p] = fabs(truth[p] - middle);
    *error = select_smallest(off, m, m / 2) / select_smallest(truth, m, m / 2);
done:
    MEM_FREE(ctx, truth, off);
    return status;
}

static ddsc_status fitted_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                               ddsc_pair_stats *stats)
{
    const pair_fit *f = state;
    int64_t r = f->rank, rows = t->i1 - t->i0, columns = t->j1 - t->j0;
    (void)worker;
    (void)stats;
    la_gemm(false, true, rows, columns, r, 0.5, f->u + t->i0 * r, r, f->v + t->j0 * r, r, 0, d2,
            ld);
    la_gemm(false, true, rows, columns, r, 0.5, f->v + t->i0 * r, r, f->u + t->j0 * r, r, 1, d2,
            ld);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *value = &d2[(i - t->i0) * ld + (j - t->j0)];
            *value = fmax(f->mean + f->bias[i] + f->bias[j] + f->spread * *value, f->least);
        }
    return DDSC_OK;
}

static const pair_backend backend_fitted = {.name = "fill", .tile_side = 64, .tile = fitted_tile};

/* Offers the fitted values of the pairs that were not sampled. */
static ddsc_status offer_others(ddsc_context *ctx, nearest *near, pair_fit *f, double sample)
{
    ddsc_status status = DDSC_OK;
    pairs p = {0};
    pair_choice others = {.i_end = f->n, .sample = sample, .others = true};
    TRY(pairs_open(ctx, &p, f->n, &backend_fitted, f, NULL));
    TRY(pairs_walk(&p, &others, pairs_offer_tile, near));
done:
    pairs_close(&p);
    return status;
}

static ddsc_status fill(ddsc_context *ctx, kept_pairs *k, double sample)
{
    ddsc_status status = DDSC_OK;
    double known = FITTED_PART * (double)k->offset[k->n] / (double)k->n, error;
    pair_fit f = {.rank = BASE_MIN((int64_t)(known / FIT_PER_NUMBER), FIT_RANK)};
    TRY(fit_make(ctx, &f, k));
    /* Matrix products may differ in the last bits between CPUs, so all ranks use the factors that
     * the first rank computed. */
    TRY(team_first(ctx, f.u, f.n * f.rank * (int64_t)sizeof *f.u));
    TRY(team_first(ctx, f.v, f.n * f.rank * (int64_t)sizeof *f.v));
    TRY(fit_judge(ctx, &error, &f));
    TRY(team_first(ctx, &error, sizeof error));
    bool good = error <= FILL_ERROR;
    if (isfinite(error)) {
        ctx_note(ctx, "other pairs", good ? "filled in" : "left out",
                 "rank %lld, fitted to %.0f pairs per item; median error on held-out pairs %.2g of "
                 "the spread",
                 (long long)f.rank, known, error);
        ctx_detail(ctx, good ? "filled_error" : "left_out_error", error);
    } else {
        ctx_note(ctx, "other pairs", "left out", "the held-out distances are all equal");
    }
    if (good)
        TRY(offer_others(ctx, k->near, &f, sample));
done:
    fill_free(ctx, &f);
    return status;
}

ddsc_status search_sampled(pairs *p, ddsc_graph **out, int64_t tau, double sample)
{
    ddsc_status status = DDSC_OK;
    nearest near;
    kept_pairs k = {0};
    pair_choice choice = {.i_end = p->n, .sample = sample};
    int64_t n_solved;
    double most = (double)p->n - 1, kept = fmin(sample * most, FIT_KEPT);
    if (kept < FIT_LEAST) /* too few pairs for a fit */
        return search_full(p, out, tau, &choice);
    TRY(nearest_create(p->ctx, &near, 0, p->n, tau));
    near.by = p->by;
    TRY(kept_list(p->ctx, &k, p->n, kept / most));
    k.near = &near;
    TRY(pairs_walk(p, &choice, offer_and_keep, &k));
    TRY(pairs_solved(p, &n_solved));
    if (p->n > 1 && n_solved == 0)
        TRY(pairs_none_sampled(p->ctx, sample, p->n));
    /* Sums the values in pieces, because each sum needs memory for the values of all ranks. */
    for (int64_t at = 0, all = k.offset[p->n]; at < all; at += SHARED_PIECE)
        TRY(team_sum_f64(p->ctx, k.value + at, BASE_MIN(SHARED_PIECE, all - at)));
    if ((double)k.offset[p->n] >= (double)(FIT_LEAST * p->n))
        TRY(fill(p->ctx, &k, sample));
    TRY(nearest_share(p->ctx, &near, false));
    TRY(nearest_finish(p->ctx, &near, out));
done:
    kept_free(p->ctx, &k);
    nearest_free(p->ctx, &near);
    return status;
}
