/* Creates the reference from which LOT transports mass to the items: a sample from a normal
 * distribution with the mean and standard deviation of all points, the k-means centers of all
 * points, or an item that the caller provides. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "distance/lot/lot.h"
#include "distance/lot/tuning.h"
#include "numeric/kmeans/kmeans.h"
#include "numeric/linalg/linalg.h"

/* The reference does not depend on the seed of the run, so runs with different seeds use the same
 * distances. On 1,000 digits, references drawn with different seeds changed the AMI by up to 0.04.
 * With `paper`, the reference depends on the seed, because X_0 is random in Algorithm 2. */
enum { REFERENCE_SEED = 0 };

/* ---- normal sample ---- */

/* Computes the mean and standard deviation of each coordinate over all items, with equal weight for
 * each item. */
static void pooled_scale(const measures *m, double *mean, double *scale)
{
    int64_t d = m->d;
    memset(mean, 0, (size_t)d * sizeof *mean);
    memset(scale, 0, (size_t)d * sizeof *scale);
    for (int64_t p = 0; p < m->nnz; p++)
        for (int64_t k = 0; k < d; k++)
            mean[k] += m->weight[p] / (double)m->n * measures_point(m, m->index[p])[k];
    for (int64_t p = 0; p < m->nnz; p++)
        for (int64_t k = 0; k < d; k++) {
            double away = measures_point(m, m->index[p])[k] - mean[k];
            scale[k] += m->weight[p] / (double)m->n * away * away;
        }
    for (int64_t k = 0; k < d; k++)
        scale[k] = sqrt(scale[k]);
}

static ddsc_status draw_normal(ddsc_context *ctx, double *out, int64_t count, const measures *m,
                               uint64_t seed)
{
    ddsc_status status = DDSC_OK;
    double *mean = NULL;
    TRY(MEM_NEW(ctx, mean, 2 * m->d));
    pooled_scale(m, mean, mean + m->d);
    rng r = rng_make(seed, RNG_REFERENCE, 0);
    for (int64_t p = 0; p < count; p++)
        for (int64_t k = 0; k < m->d; k++)
            out[p * m->d + k] = mean[k] + mean[m->d + k] * rng_normal(&r);
done:
    mem_free(ctx, mean);
    return status;
}

/* ---- k-means centers of the pooled points or of a fixed sample of these points ---- */

typedef struct pooled {
    double *rows, *weight, *mean;
} pooled;

static ddsc_status pool_points(ddsc_context *ctx, pooled *p, int64_t n, const measures *m)
{
    rng r = rng_make(REFERENCE_SEED, RNG_REFERENCE_KMEANS, 0);
    CHECK(MEM_NEW(ctx, p->rows, n * m->d));
    CHECK(MEM_NEW(ctx, p->weight, n));
    CHECK(MEM_NEW(ctx, p->mean, m->d));
    for (int64_t i = 0; i < n; i++) {
        int64_t entry = n == m->nnz ? i : rng_below(&r, m->nnz);
        memcpy(p->rows + i * m->d, measures_point(m, m->index[entry]),
               (size_t)m->d * sizeof *p->rows);
        p->weight[i] = m->weight[entry];
    }
    la_center(n, m->d, p->rows, p->mean, p->rows);
    return DDSC_OK;
}

/* Computes *count k-means centers. Reduces *count if there are fewer distinct points. */
static ddsc_status kmeans_centers(ddsc_context *ctx, double *out, int64_t *count, const measures *m)
{
    ddsc_status status = DDSC_OK;
    pooled p = {0};
    lloyd *l = NULL;
    const int32_t *labels;
    rng r = rng_make(REFERENCE_SEED, RNG_REFERENCE_KMEANS, 1);
    kmeans_problem problem = {
        .n = BASE_MIN(m->nnz, KMEANS_SAMPLE), .dim = m->d, .k = *count, .draws = 1};
    TRY(pool_points(ctx, &p, problem.n, m));
    problem.rows = p.rows;
    problem.weight = p.weight;
    progress_begin(ctx, "reference", 0);
    TRY(lloyd_create(ctx, &l, &problem, false));
    TRY(kmeans_start(ctx, lloyd_centers(l), count, &problem, &r));
    TRY(lloyd_run(l, *count, &labels));
    progress_end(ctx);
    for (int64_t c = 0; c < *count * m->d; c++)
        out[c] = lloyd_centers(l)[c] + p.mean[c % m->d];
done:
    lloyd_destroy(l);
    MEM_FREE(ctx, p.mean, p.weight, p.rows);
    return status;
}

/* ---- reference ---- */

static ddsc_status copy_first_item(ddsc_context *ctx, measures_parts *parts, const measures *from,
                                   int64_t dim)
{
    item_view item = measures_item(from, 0);
    if (from->d != dim)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "reference_measures has %lld dimensions, but the items have %lld; they must be equal",
            (long long)from->d, (long long)dim);
    parts->nnz = parts->v = item.n;
    CHECK(MEM_NEW(ctx, parts->support, item.n * dim));
    CHECK(MEM_NEW(ctx, parts->weight, item.n));
    for (int64_t p = 0; p < item.n; p++)
        memcpy(parts->support + p * dim, measures_point(from, item.index[p]),
               (size_t)dim * sizeof *parts->support);
    memcpy(parts->weight, item.weight, (size_t)item.n * sizeof *parts->weight);
    return DDSC_OK;
}

static ddsc_status make_points(ddsc_context *ctx, measures_parts *parts, const measures *m,
                               const ddsc_metric_settings *settings)
{
    bool normal = settings->reference_rule == DDSC_REFERENCE_NORMAL ||
                  (settings->reference_rule == DDSC_REFERENCE_AUTO && m->d <= NORMAL_DIMENSIONS);
    int64_t count = settings->reference_size;
    if (count == 0)
        count = BASE_MAX(1, (m->nnz + m->n / 2) / m->n);
    if (!normal)
        count = BASE_MIN(count, BASE_MIN(m->nnz, KMEANS_SAMPLE));
    int64_t size = 0;
    if (!mul_ok(count, m->d, &size) || count > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "reference_size = %lld is too large; reduce it",
                        (long long)count);
    CHECK(MEM_NEW(ctx, parts->support, size));
    uint64_t seed = settings->paper ? ctx_seed(ctx) : REFERENCE_SEED;
    CHECK(normal ? draw_normal(ctx, parts->support, count, m, seed)
                 : kmeans_centers(ctx, parts->support, &count, m));
    CHECK(team_first(ctx, &count, sizeof count));
    CHECK(team_first(ctx, parts->support, size * (int64_t)sizeof *parts->support));
    parts->nnz = parts->v = count;
    return DDSC_OK;
}

ddsc_status lot_reference_make(ddsc_context *ctx, measures **reference, const measures *m,
                               const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {.n = 1, .d = m->d};
    *reference = NULL;
    if (settings->reference_rule == DDSC_REFERENCE_MEASURES)
        TRY(copy_first_item(ctx, &parts, settings->reference_measures, m->d));
    else
        TRY(make_points(ctx, &parts, m, settings));
    TRY(MEM_NEW(ctx, parts.offset, 2));
    parts.offset[0] = 0;
    parts.offset[1] = parts.nnz;
    TRY(measures_build(ctx, reference, &parts, DDSC_EMPTY_ERROR, "reference"));
done:
    measures_parts_free(ctx, &parts);
    return status;
}
