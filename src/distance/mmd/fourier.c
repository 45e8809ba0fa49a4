/* Computes random Fourier features (Rahimi and Recht 2007). If the frequencies w_f are drawn from
 * the spectrum of a shift-invariant kernel, k(x, y) is approximately the mean of cos(w_f (x - y)).
 * Each item is represented by the mean of (cos w_f x, sin w_f x) over its points, so the cost of a
 * pair no longer depends on the number of points. The approximation error is proportional to one
 * over the square root of the number of features. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/team.h"
#include "data/check.h"
#include "distance/mmd/internal.h"
#include "numeric/linalg/linalg.h"

#pragma GCC diagnostic ignored "-Wpsabi"

typedef struct fourier {
    ddsc_context *ctx;
    const measures *m;
    const mmd_kernel *kernel;
    bool biased;
    int64_t n_frequencies, padded; /* padded: rounded up to whole vectors */
    points table;                  /* its center is subtracted, which keeps the angles small */
    double *frequency;             /* padded x d */
    double *rows, *offset;
    scratch work; /* sums, angles, points */
} fourier;

/* Draws the frequencies. For the Gaussian kernel, frequencies are normal variables divided by h.
 * For the Laplace kernel exp(-r / h), frequencies have a multivariate Cauchy distribution: each
 * frequency is a normal vector divided by h and by the absolute value of another normal
 * variable. */
static void draw_frequencies(fourier *f)
{
    int64_t d = f->m->d;
    for (int64_t k = 0; k < f->n_frequencies; k++) {
        rng r = rng_make(ctx_seed(f->ctx), RNG_FEATURES, (uint64_t)k);
        double scale = 1.0 / f->kernel->bandwidth;
        if (f->kernel->kind == DDSC_KERNEL_LAPLACE)
            scale /= fmax(fabs(rng_normal(&r)), 1e-12);
        for (int64_t c = 0; c < d; c++)
            f->frequency[k * d + c] = scale * rng_normal(&r);
    }
}

/* Computes sine and cosine. The angle is reduced by a multiple n of pi/2, and Taylor series are
 * evaluated on [-pi/4, pi/4], with truncation errors below 1e-16. The rounding error of an angle x
 * is up to |x| 2^-53. Angles beyond 2^40 are clamped because their phase is mostly rounding
 * error. */
SIMD_INLINE void sine_cosine(simd_f64 x, simd_f64 *sine, simd_f64 *cosine)
{
    const double to_integer = 0x1.8p52;
    x = simd_max(simd_min(x, simd_all(0x1p40)), simd_all(-0x1p40));
    simd_f64 shifted = x * 0x1.45f306dc9c883p-1 + to_integer;
    simd_f64 n = shifted - to_integer;
    simd_f64 r = (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34, z = r * r;
    simd_f64 s =
        -1.0 / 6 +
        z * (1.0 / 120 +
             z * (-1.0 / 5040 +
                  z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 +
                                                                  z * (-1.0 / 1307674368000.0))))));
    simd_f64 c =
        1.0 / 24 +
        z * (-1.0 / 720 +
             z * (1.0 / 40320 + z * (-1.0 / 3628800 +
                                     z * (1.0 / 479001600 + z * (-1.0 / 87178291200.0 +
                                                                 z * (1.0 / 20922789888000.0))))));
    s = r + r * z * s;
    c = 1.0 - 0.5 * z + z * z * c;
    simd_i64 quadrant = (simd_i64)shifted;
    simd_i64 odd = (quadrant & 1) != 0, down = (quadrant & 2) != 0,
             left = ((quadrant + 1) & 2) != 0;
    simd_f64 upright = simd_select(odd, c, s), flat = simd_select(odd, s, c);
    *sine = simd_select(down, -upright, upright);
    *cosine = simd_select(left, -flat, flat);
}

SIMD_CLONES static void add_point(int64_t padded, double weight, const double *angle, double *sums)
{
    for (int64_t k = 0; k < padded; k += SIMD_LANES) {
        simd_f64 sine, cosine;
        sine_cosine(simd_load(angle + k), &sine, &cosine);
        simd_store(sums + k, simd_load(sums + k) + weight * cosine);
        simd_store(sums + padded + k, simd_load(sums + padded + k) + weight * sine);
    }
}

/* Computes the means over the points of an item: first of all cosines, then of all sines. */
static void fourier_sums(const fourier *f, item_view item, double *sums)
{
    int64_t d = f->m->d, padded = f->padded;
    double *angle = sums + 2 * padded, *x = angle + FOURIER_BLOCK * padded;
    memset(sums, 0, (size_t)(2 * padded) * sizeof *sums);
    for (int64_t p0 = 0; p0 < item.n; p0 += FOURIER_BLOCK) {
        int64_t n = BASE_MIN(FOURIER_BLOCK, item.n - p0);
        for (int64_t p = 0; p < n; p++)
            for (int64_t c = 0; c < d; c++)
                x[p * d + c] = measures_point(f->m, item.index[p0 + p])[c] - f->table.center[c];
        la_gemm(false, true, n, padded, d, 1, x, d, f->frequency, d, 0, angle, padded);
        for (int64_t p = 0; p < n; p++)
            add_point(padded, item.weight[p0 + p], angle + p * padded, sums);
    }
}

/* Returns the term c_i that the estimator adds for an item: D^2 = |z_i - z_j|^2 + c_i + c_j. */
static double item_offset(const fourier *f, item_view item, double norm2)
{
    double squares = 0;
    if (f->biased || item.n == 1)
        return 0;
    for (int64_t p = 0; p < item.n; p++)
        squares += item.weight[p] * item.weight[p];
    if (1.0 - squares < 1e-3)
        return mmd_self_by_pairs(f->m, f->kernel, item) - norm2;
    return (norm2 - squares) / (1.0 - squares) - norm2;
}

static ddsc_status fourier_items(void *arg, int64_t begin, int64_t end, int worker)
{
    const fourier *f = arg;
    int64_t n = f->n_frequencies;
    double scale = 1.0 / sqrt((double)n);
    for (int64_t i = begin; i < end; i++) {
        double *row = f->rows + i * 2 * n, *sums = scratch_of(&f->work, worker);
        item_view item = measures_item(f->m, i);
        fourier_sums(f, item, sums);
        for (int64_t k = 0; k < n; k++) {
            row[k] = scale * sums[k];
            row[n + k] = scale * sums[f->padded + k];
        }
        f->offset[i] = item_offset(f, item, la_dot(2 * n, row, row));
        progress_add(f->ctx, 1);
    }
    return DDSC_OK;
}

ddsc_status mmd_fourier_make(ddsc_context *ctx, mmd_fourier *out, const measures *m,
                             const mmd_kernel *kernel, bool biased, int64_t n_features)
{
    ddsc_status status = DDSC_OK;
    fourier f = {.ctx = ctx, .m = m, .kernel = kernel, .biased = biased};
    int64_t size;
    f.n_frequencies = (n_features + 1) / 2;
    f.padded = (f.n_frequencies + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    *out = (mmd_fourier){.columns = 2 * f.n_frequencies};
    if (!mul_ok(m->n, out->columns, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY,
                        "mmd_features = %lld is too large for %lld items; reduce it",
                        (long long)n_features, (long long)m->n);
    TRY(MEM_NEW(ctx, out->rows, size));
    TRY(MEM_NEW(ctx, out->offset, m->n));
    f.rows = out->rows;
    f.offset = out->offset;
    TRY(points_open(ctx, &f.table, m->v, m->d, m->support));
    TRY(MEM_ZERO(ctx, f.frequency, f.padded * m->d));
    TRY(scratch_create(ctx, &f.work, (FOURIER_BLOCK + 2) * f.padded + FOURIER_BLOCK * m->d,
                       sizeof(double)));
    draw_frequencies(&f);
    progress_begin(ctx, "features", m->n);
    TRY(team_fill(ctx, f.rows, m->n, 1, out->columns * (int64_t)sizeof *f.rows, fourier_items, &f));
    TRY(team_gather(ctx, f.offset, m->n, 1, sizeof *f.offset));
    progress_end(ctx);
done:
    scratch_free(ctx, &f.work);
    mem_free(ctx, f.frequency);
    points_close(ctx, &f.table);
    if (status < 0)
        mmd_fourier_free(ctx, out);
    return status;
}

void mmd_fourier_free(ddsc_context *ctx, mmd_fourier *f)
{
    MEM_FREE(ctx, f->rows, f->offset);
    *f = (mmd_fourier){0};
}

/* ---- error relative to exact values ---- */

/* Draws a few random items in ascending order, and fewer if the items are large. */
static int64_t draw_items(ddsc_context *ctx, const measures *m, int64_t *items)
{
    rng r = rng_make(ctx_seed(ctx), RNG_CHECK, 0);
    int64_t n = 0, n_points = 0, wanted = BASE_MIN(m->n, CHECK_ITEMS);
    for (int64_t tries = 0; n < wanted && tries < 64 * CHECK_ITEMS; tries++) {
        int64_t item = rng_below(&r, m->n), at = n;
        n_points += measures_item(m, item).n;
        if (n >= 2 && n_points > CHECK_POINTS)
            break;
        while (at > 0 && items[at - 1] > item)
            at--;
        if (at > 0 && items[at - 1] == item)
            continue;
        memmove(items + at + 1, items + at, (size_t)(n - at) * sizeof *items);
        items[at] = item;
        n++;
    }
    return n;
}

/* Computes the exact D^2 between all pairs of a small set. */
static ddsc_status exact_pairs(ddsc_context *ctx, double *d2, const measures *m,
                               const mmd_kernel *kernel, bool biased)
{
    ddsc_status status = DDSC_OK;
    mmd *s = NULL;
    mmd_settings set = {.kernel = *kernel, .biased = biased, .way = MMD_CLOUDS};
    TRY(mmd_open(ctx, &s, m, &set));
    const int64_t all[4] = {0, m->n, 0, m->n};
    TRY(mmd_tile(s, all, NULL, d2, m->n, 0));
done:
    mmd_close(s);
    return status;
}

ddsc_status mmd_fourier_check(ddsc_context *ctx, const mmd_fourier *f, ddsc_pair_stats *stats,
                              const measures *m, const mmd_kernel *kernel, bool biased)
{
    ddsc_status status = DDSC_OK;
    int64_t items[CHECK_ITEMS], n = draw_items(ctx, m, items), count = 0;
    double d2[CHECK_ITEMS * CHECK_ITEMS], error[CHECK_ITEMS * CHECK_ITEMS / 2];
    measures *few = NULL;
    if (n < 2)
        return DDSC_OK;
    TRY(measures_subset(ctx, &few, m, n, items));
    TRY(exact_pairs(ctx, d2, few, kernel, biased));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            const double *x = f->rows + items[i] * f->columns, *y = f->rows + items[j] * f->columns;
            double near =
                la_distance2(f->columns, x, y) + f->offset[items[i]] + f->offset[items[j]];
            error[count++] = fabs(near - d2[i * n + j]);
        }
    check_quantiles(stats, error, count);
done:
    ddsc_measures_destroy(few);
    return status;
}
