/* Chooses the bandwidth as a quantile of the distances between pooled points. A fixed sample of
 * entries limits the work; small sets are used completely. */
#include <math.h>

#include "distance/cost/points.h"
#include "distance/mmd/mmd.h"
#include "distance/mmd/tuning.h"

/* Returns the square root of a quantile of r2, interpolated linearly between adjacent ranks. */
static double quantile_distance(double *r2, int64_t n, double level)
{
    double at = level * (double)(n - 1);
    int64_t k = (int64_t)at;
    double below = sqrt(select_smallest(r2, n, k));
    if (k + 1 >= n)
        return below;
    double next = r2[k + 1];
    for (int64_t p = k + 2; p < n; p++)
        next = BASE_MIN(next, r2[p]);
    return below + (at - (double)k) * (sqrt(next) - below);
}

static void draw_rows(ddsc_context *ctx, const measures *m, int64_t n, int32_t *row)
{
    rng r = rng_make(ctx_seed(ctx), RNG_BANDWIDTH, 0);
    for (int64_t p = 0; p < n; p++)
        row[p] = m->index[n == m->nnz ? p : rng_below(&r, m->nnz)];
}

/* Collects the non-zero squared distances between all pairs of sampled points, and returns their
 * number. */
static int64_t pair_distances(const points *table, int64_t n, const int32_t *row, double *block,
                              points_panel *some, points_panel *all, double *r2)
{
    int64_t count = 0;
    points_panel_load(all, table, n, row, 0);
    for (int64_t p0 = 0; p0 < n; p0 += BANDWIDTH_BLOCK) {
        int64_t p1 = BASE_MIN(n, p0 + BANDWIDTH_BLOCK);
        points_panel_load(some, table, p1 - p0, row + p0, 0);
        all->n = p1;
        points_distance2(table, some, all, block, n);
        for (int64_t p = p0; p < p1; p++)
            for (int64_t q = 0; q < p; q++)
                if (block[(p - p0) * n + q] > 0)
                    r2[count++] = block[(p - p0) * n + q];
    }
    return count;
}

/* Computes quantiles of the non-zero distances. The quantiles are 1 if all points are equal. */
static ddsc_status distance_quantiles(ddsc_context *ctx, double *distance, const double *level,
                                      int n_levels, const measures *m, int64_t most)
{
    ddsc_status status = DDSC_OK;
    int64_t n = BASE_MIN(m->nnz, most);
    points table = {0};
    points_panel some = {0}, all = {0};
    int32_t *row = NULL;
    double *r2 = NULL, *block = NULL;
    TRY(MEM_NEW(ctx, row, n));
    TRY(MEM_NEW(ctx, block, BANDWIDTH_BLOCK * n));
    TRY(MEM_NEW(ctx, r2, n * n / 2));
    TRY(points_open(ctx, &table, m->v, m->d, m->support));
    TRY(points_panel_create(ctx, &some, &table, BANDWIDTH_BLOCK));
    TRY(points_panel_create(ctx, &all, &table, n));
    draw_rows(ctx, m, n, row);
    int64_t count = pair_distances(&table, n, row, block, &some, &all, r2);
    for (int k = 0; k < n_levels; k++)
        distance[k] = count > 0 ? BASE_MAX(1e-150, quantile_distance(r2, count, level[k])) : 1;
done:
    points_panel_free(ctx, &all);
    points_panel_free(ctx, &some);
    points_close(ctx, &table);
    MEM_FREE(ctx, r2, block, row);
    return status;
}

ddsc_status mmd_point_distance(ddsc_context *ctx, double *distance, const measures *m, double level,
                               int64_t most)
{
    return distance_quantiles(ctx, distance, &level, 1, m, most);
}

/* The 5% quantile reflects the distances between close points, which distinguish the items if close
 * points exist. In many dimensions, all distances are similar, and a kernel of this width is nearly
 * zero except between a point and itself, so the median is used. For normal points in 2, 3, 4, 5
 * and 10 dimensions, the median is 3.7, 2.6, 2.2, 1.95 and 1.5 times the 5% quantile. For images in
 * the plane, the factor is 3.6 to 4, for 12-d speech 1.94, and for words 1.3 to 1.7
 * (`bench/defaults.py`). The median would reduce the AMI of speech by 0.03, and the 5% quantile
 * that of `animals` (factor 1.68) by 0.15. */
static const double NEAR_LEVEL = 0.05, ALIKE = 1.85;

/* Factor of the median for the gaussian kernel. The self terms of the biased estimator contain the
 * kernel of a point with itself, which exceeds the kernel k at the median distance by 1 - k. The
 * effect of this excess depends on the size of the item. In units of the excess, the slope of the
 * kernel at the median distance m is (m/h)^2 k / (1 - k), which is 1.5, 1.8 and 1.9 for h = 1, 1.5
 * and 2 times m, and at most 2. An even wider kernel compares little more than the means of the
 * items. docs/notes/performance.md lists the gain in AMI over 20 subsets for the factor 1.5. With
 * the laplace kernel, there is no gain. Documents with fitted words use the median: they have more
 * neighbors, and their settings were chosen with the median. */
static const double WIDE = 1.5;

static bool uses_wide(const measures *m, const ddsc_metric_settings *set)
{
    return set->bandwidth_rule == DDSC_BANDWIDTH_AUTO && set->mmd_kernel == DDSC_KERNEL_GAUSSIAN &&
           m->words.n == 0;
}

ddsc_status mmd_bandwidth(ddsc_context *ctx, double *bandwidth, const measures *m,
                          const ddsc_metric_settings *settings)
{
    const double level[] = {NEAR_LEVEL, 0.5};
    ddsc_bandwidth_rule rule = settings->bandwidth_rule;
    double found[2];
    *bandwidth = settings->bandwidth;
    if (rule == DDSC_BANDWIDTH_VALUE)
        return DDSC_OK;
    CHECK(distance_quantiles(ctx, found, level, 2, m, BANDWIDTH_POINTS));
    bool alike = found[1] < ALIKE * found[0];
    bool median = rule == DDSC_BANDWIDTH_MEDIAN || (rule == DDSC_BANDWIDTH_AUTO && alike);
    /* If all distances are equal, the values for different bandwidths are proportional. */
    bool wide = median && found[1] > found[0] && uses_wide(m, settings);
    *bandwidth = found[median] * (wide ? WIDE : 1);
    ctx_note(ctx, "bandwidth",
             wide     ? "1.5 x median"
             : median ? "median"
                      : "5% quantile",
             "of the distances between points; the median is %.2f times the 5%% quantile",
             found[1] / found[0]);
    return DDSC_OK;
}
