/* Where the transports of LOT start from. */
#include <math.h>
#include <string.h>

#include "cost/points.h"
#include "linalg/linalg.h"
#include "lot/lot.h"

/* ---- a normal sample ---- */

/* Mean and standard deviation of each axis over all items, each item counting alike. */
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

static ddsc_status draw_normal(ddsc_context *ctx, double *out, int64_t count, const measures *m)
{
    ddsc_status status = DDSC_OK;
    double *mean = NULL;
    TRY(MEM_NEW(ctx, mean, 2 * m->d));
    pooled_scale(m, mean, mean + m->d);
    rng r = rng_make(ctx_seed(ctx), RNG_REFERENCE, 0);
    for (int64_t p = 0; p < count; p++)
        for (int64_t k = 0; k < m->d; k++)
            out[p * m->d + k] = mean[k] + mean[m->d + k] * rng_normal(&r);
done:
    mem_free(ctx, mean);
    return status;
}

/* ---- k-means centres of the pooled points: weighted Lloyd from k-means++ on a fixed sample ----
 */

enum { KMEANS_SAMPLE = 20000, KMEANS_ROUNDS = 30, KMEANS_BLOCK = 256 };

typedef struct lloyd {
    ddsc_context *ctx;
    int64_t n, k, d;
    double *x;       /* (n + k) x d: the sample, then the centres */
    double *weight;  /* n */
    double *nearest; /* n: squared distance to the nearest centre */
    int64_t *label;  /* n: that centre */
    double *mass;    /* k */
    points table;    /* of x */
    points_panel centres;
    int n_workers;
    points_panel *block; /* one a worker */
    double **d2;         /* KMEANS_BLOCK x k, one a worker */
} lloyd;

static void lloyd_close(lloyd *l)
{
    for (int w = 0; l->block && w < l->n_workers; w++)
        points_panel_free(l->ctx, &l->block[w]);
    for (int w = 0; l->d2 && w < l->n_workers; w++)
        mem_free(l->ctx, l->d2[w]);
    void *blocks[] = {l->x, l->weight, l->nearest, l->label, l->mass, l->block, l->d2};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        mem_free(l->ctx, blocks[b]);
    points_panel_free(l->ctx, &l->centres);
    points_close(l->ctx, &l->table);
}

static ddsc_status lloyd_open(lloyd *l)
{
    ddsc_context *ctx = l->ctx;
    l->n_workers = parallel_width(ctx);
    CHECK(MEM_ZERO(ctx, l->x, (l->n + l->k) * l->d));
    CHECK(MEM_NEW(ctx, l->weight, l->n));
    CHECK(MEM_NEW(ctx, l->nearest, l->n));
    CHECK(MEM_ZERO(ctx, l->label, l->n));
    CHECK(MEM_NEW(ctx, l->mass, l->k));
    CHECK(MEM_ZERO(ctx, l->block, l->n_workers));
    CHECK(MEM_ZERO(ctx, l->d2, l->n_workers));
    for (int w = 0; w < l->n_workers; w++)
        CHECK(MEM_NEW(ctx, l->d2[w], KMEANS_BLOCK * l->k));
    return DDSC_OK;
}

/* All pooled points, or a fixed sample of them. */
static void take_sample(lloyd *l, const measures *m)
{
    rng r = rng_make(ctx_seed(l->ctx), RNG_REFERENCE_KMEANS, 0);
    for (int64_t p = 0; p < l->n; p++) {
        int64_t entry = m->nnz <= KMEANS_SAMPLE ? p : rng_below(&r, m->nnz);
        memcpy(l->x + p * l->d, measures_point(m, m->index[entry]), (size_t)l->d * sizeof *l->x);
        l->weight[p] = m->weight[entry];
    }
}

/* A point with probability proportional to weight x squared distance to the centres so far. */
static int64_t draw_far(const lloyd *l, rng *r)
{
    double total = 0;
    for (int64_t p = 0; p < l->n; p++)
        total += l->weight[p] * l->nearest[p];
    double target = rng_uniform(r) * total;
    for (int64_t p = 0; p < l->n; p++) {
        target -= l->weight[p] * l->nearest[p];
        if (target < 0)
            return p;
    }
    return rng_below(r, l->n);
}

static void seed_centres(lloyd *l)
{
    rng r = rng_make(ctx_seed(l->ctx), RNG_REFERENCE_KMEANS, 1);
    for (int64_t p = 0; p < l->n; p++)
        l->nearest[p] = 1;
    for (int64_t c = 0; c < l->k; c++) {
        double *centre = l->x + (l->n + c) * l->d;
        memcpy(centre, l->x + draw_far(l, &r) * l->d, (size_t)l->d * sizeof *centre);
        for (int64_t p = 0; p < l->n; p++) {
            double away = la_distance2(l->d, l->x + p * l->d, centre);
            l->nearest[p] = c == 0 ? away : fmin(l->nearest[p], away);
        }
    }
}

static ddsc_status label_range(void *arg, int64_t begin, int64_t end, int worker)
{
    lloyd *l = arg;
    double *d2 = l->d2[worker];
    points_panel_load(&l->block[worker], &l->table, end - begin, NULL, begin);
    points_distance2(&l->table, &l->block[worker], &l->centres, d2, l->k);
    for (int64_t p = begin; p < end; p++) {
        const double *row = d2 + (p - begin) * l->k;
        int64_t best = 0;
        for (int64_t c = 1; c < l->k; c++)
            if (row[c] < row[best])
                best = c;
        l->label[p] = best;
    }
    return DDSC_OK;
}

/* Centres to the means of their points; a centre without points stays. */
static void move_centres(lloyd *l)
{
    double *centre = l->x + l->n * l->d;
    memset(l->mass, 0, (size_t)l->k * sizeof *l->mass);
    for (int64_t p = 0; p < l->n; p++)
        l->mass[l->label[p]] += l->weight[p];
    for (int64_t c = 0; c < l->k; c++)
        if (l->mass[c] > 0)
            memset(centre + c * l->d, 0, (size_t)l->d * sizeof *centre);
    for (int64_t p = 0; p < l->n; p++) {
        double share = l->weight[p] / l->mass[l->label[p]];
        for (int64_t k = 0; k < l->d; k++)
            centre[l->label[p] * l->d + k] += share * l->x[p * l->d + k];
    }
}

static ddsc_status lloyd_rounds(lloyd *l)
{
    CHECK(points_open(l->ctx, &l->table, l->n + l->k, l->d, l->x));
    CHECK(points_panel_create(l->ctx, &l->centres, &l->table, l->k));
    for (int w = 0; w < l->n_workers; w++)
        CHECK(points_panel_create(l->ctx, &l->block[w], &l->table, KMEANS_BLOCK));
    progress_begin(l->ctx, "reference", 0);
    for (int round = 0; round < KMEANS_ROUNDS; round++) {
        points_panel_load(&l->centres, &l->table, l->k, NULL, l->n);
        CHECK(parallel_for(l->ctx, l->n, KMEANS_BLOCK, label_range, l));
        move_centres(l);
    }
    progress_end(l->ctx);
    return DDSC_OK;
}

static ddsc_status find_centres(ddsc_context *ctx, double *out, int64_t count, const measures *m)
{
    ddsc_status status = DDSC_OK;
    lloyd l = {.ctx = ctx, .n = BASE_MIN(m->nnz, KMEANS_SAMPLE), .k = count, .d = m->d};
    TRY(lloyd_open(&l));
    take_sample(&l, m);
    seed_centres(&l);
    TRY(lloyd_rounds(&l));
    memcpy(out, l.x + l.n * l.d, (size_t)(l.k * l.d) * sizeof *l.x);
done:
    lloyd_close(&l);
    return status;
}

/* ---- the reference ---- */

static ddsc_status take_item(ddsc_context *ctx, measures_parts *parts, const measures *from,
                             int64_t dim)
{
    item_view item = measures_item(from, 0);
    if (from->d != dim)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "reference_measures has %lld dimensions, the items have %lld",
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
    bool normal = settings->reference_rule == DDSC_REFERENCE_NORMAL;
    int64_t count = settings->reference_size;
    if (count == 0)
        count = BASE_MAX(1, (m->nnz + m->n / 2) / m->n);
    if (!normal)
        count = BASE_MIN(count, BASE_MIN(m->nnz, KMEANS_SAMPLE));
    int64_t size = 0;
    if (!mul_ok(count, m->d, &size) || count > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "reference_size = %lld is too large",
                        (long long)count);
    parts->nnz = parts->v = count;
    CHECK(MEM_NEW(ctx, parts->support, size));
    CHECK(normal ? draw_normal(ctx, parts->support, count, m)
                 : find_centres(ctx, parts->support, count, m));
    return DDSC_OK;
}

ddsc_status lot_reference_make(ddsc_context *ctx, measures **reference, const measures *m,
                               const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {.n = 1, .d = m->d};
    *reference = NULL;
    if (settings->reference_rule == DDSC_REFERENCE_MEASURES)
        TRY(take_item(ctx, &parts, settings->reference_measures, m->d));
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
