/* Implements operations on centers, and computes the statistics of the items. */
#include <math.h>
#include <string.h>

#include "cluster/baseline/baseline.h"
#include "data/compress.h"
#include "numeric/linalg/linalg.h"

void centers_free(ddsc_context *ctx, centers *c)
{
    MEM_FREE(ctx, c->x, c->w, c->view.offset, c->view.index);
    *c = (centers){0};
}

ddsc_status centers_create(ddsc_context *ctx, centers *c, int64_t k, int64_t n, int64_t d)
{
    ddsc_status status = DDSC_OK;
    int64_t points = 0, values = 0;
    *c = (centers){.k = k, .n = n, .d = d};
    if (!mul_ok(k, n, &points) || points > INT32_MAX || !mul_ok(points, d, &values))
        TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "cannot allocate %lld centers with %lld points",
                     (long long)k, (long long)n));
    TRY(MEM_ZERO(ctx, c->x, values));
    TRY(MEM_ZERO(ctx, c->w, points));
    TRY(MEM_NEW(ctx, c->view.offset, k + 1));
    TRY(MEM_NEW(ctx, c->view.index, points));
    for (int64_t i = 0; i <= k; i++)
        c->view.offset[i] = i * n;
    for (int64_t i = 0; i < points; i++)
        c->view.index[i] = (int32_t)i;
    c->view.n = k;
    c->view.v = c->view.nnz = points;
    c->view.d = d;
    c->view.support = c->x;
    c->view.weight = c->w;
done:
    if (status < 0)
        centers_free(ctx, c);
    return status;
}

void center_copy(centers *to, const centers *from, int64_t which)
{
    int64_t n = from->n, d = from->d;
    memcpy(to->x + which * n * d, from->x + which * n * d, (size_t)(n * d) * sizeof *to->x);
    memcpy(to->w + which * n, from->w + which * n, (size_t)n * sizeof *to->w);
}

void centers_copy(centers *to, const centers *from)
{
    for (int64_t c = 0; c < from->k; c++)
        center_copy(to, from, c);
}

void center_normalize(double *w, int64_t n)
{
    double sum = 0, floored = 0;
    for (int64_t i = 0; i < n; i++)
        sum += w[i];
    for (int64_t i = 0; i < n; i++) {
        w[i] = fmax(w[i] / sum, 1e-9 / (double)n);
        floored += w[i];
    }
    for (int64_t i = 0; i < n; i++)
        w[i] /= floored;
}

int64_t center_size_default(const measures *m)
{
    return BASE_MAX(1, (2 * m->nnz + m->n) / (2 * m->n));
}

/* Splits the heaviest point repeatedly until the n_now points have become n points. */
static void split_points(double *x, double *w, int64_t n_now, int64_t n, int64_t d, double jitter,
                         rng *r)
{
    for (; n_now < n; n_now++) {
        int64_t heaviest = 0;
        for (int64_t i = 1; i < n_now; i++)
            if (w[i] > w[heaviest])
                heaviest = i;
        w[n_now] = w[heaviest] /= 2;
        for (int64_t k = 0; k < d; k++) {
            double step = jitter * rng_normal(r), at = x[heaviest * d + k];
            x[n_now * d + k] = at + step;
            x[heaviest * d + k] = at - step;
        }
    }
}

ddsc_status center_from_item(ddsc_context *ctx, centers *c, int64_t which, const measures *m,
                             int64_t item, double jitter, rng *r)
{
    ddsc_status status = DDSC_OK;
    item_view from = measures_item(m, item);
    int64_t capacity = BASE_MAX(from.n, c->n), d = m->d;
    double *x = NULL, *w = NULL;
    merge_work work = {.ctx = ctx};
    int64_t left;
    TRY(MEM_NEW(ctx, x, capacity * d));
    TRY(MEM_NEW(ctx, w, capacity));
    TRY(MEM_NEW(ctx, work.cost, capacity));
    TRY(MEM_NEW(ctx, work.partner, capacity));
    for (int64_t e = 0; e < from.n; e++)
        memcpy(x + e * d, measures_point(m, from.index[e]), (size_t)d * sizeof *x);
    memcpy(w, from.weight, (size_t)from.n * sizeof *w);
    TRY(compress_item(&work, x, w, from.n, d, c->n, &left));
    split_points(x, w, left, c->n, d, jitter, r);
    center_normalize(w, c->n);
    memcpy(c->x + which * c->n * d, x, (size_t)(c->n * d) * sizeof *x);
    memcpy(c->w + which * c->n, w, (size_t)c->n * sizeof *w);
done:
    MEM_FREE(ctx, work.partner, work.cost, w, x);
    return status;
}

/* Returns the free row closest to `from`, or `from` itself if there is none. */
static int64_t free_row(const ground_cost *g, const bool *taken, int64_t from)
{
    const double *cost = g->matrix + from * g->size;
    int64_t best = -1;
    for (int64_t r = 0; r < g->size; r++)
        if (!taken[r] && (best < 0 || cost[r] < cost[best]))
            best = r;
    return best < 0 ? from : best;
}

ddsc_status center_from_rows(ddsc_context *ctx, centers *c, int64_t which, const measures *m,
                             int64_t item, const ground_cost *ground)
{
    ddsc_status status = DDSC_OK;
    item_view from = measures_item(m, item);
    int64_t left = BASE_MIN(from.n, c->n);
    double *x = c->x + which * c->n, *w = c->w + which * c->n, *lightness = NULL;
    int32_t *order = NULL;
    bool *taken = NULL;
    TRY(MEM_NEW(ctx, lightness, from.n));
    TRY(MEM_NEW(ctx, order, from.n));
    TRY(MEM_ZERO(ctx, taken, ground->size));
    for (int64_t e = 0; e < from.n; e++)
        lightness[e] = -from.weight[e];
    sort_order(order, lightness, from.n);
    for (int64_t i = 0; i < left; i++) {
        x[i] = *measures_point(m, from.index[order[i]]);
        w[i] = from.weight[order[i]];
        taken[(int64_t)x[i]] = true;
    }
    for (; left < c->n; left++) {
        int64_t heaviest = 0;
        for (int64_t i = 1; i < left; i++)
            heaviest = w[i] > w[heaviest] ? i : heaviest;
        w[left] = w[heaviest] /= 2;
        x[left] = (double)free_row(ground, taken, (int64_t)x[heaviest]);
        taken[(int64_t)x[left]] = true;
    }
    center_normalize(w, c->n);
done:
    MEM_FREE(ctx, taken, order, lightness);
    return status;
}

void moments_free(ddsc_context *ctx, moments *o)
{
    MEM_FREE(ctx, o->mean, o->spread);
    *o = (moments){0};
}

ddsc_status moments_make(ddsc_context *ctx, moments *o, const measures *m)
{
    ddsc_status status = DDSC_OK;
    *o = (moments){0};
    TRY(MEM_ZERO(ctx, o->mean, m->n * m->d));
    TRY(MEM_ZERO(ctx, o->spread, m->n));
    for (int64_t i = 0; i < m->n; i++) {
        item_view item = measures_item(m, i);
        double *mean = o->mean + i * m->d;
        for (int64_t e = 0; e < item.n; e++)
            for (int64_t k = 0; k < m->d; k++)
                mean[k] += item.weight[e] * measures_point(m, item.index[e])[k];
        for (int64_t e = 0; e < item.n; e++)
            o->spread[i] +=
                item.weight[e] * la_distance2(m->d, mean, measures_point(m, item.index[e]));
    }
done:
    if (status < 0)
        moments_free(ctx, o);
    return status;
}

double moments_jitter(const moments *o, const measures *m)
{
    double sum = 0;
    for (int64_t i = 0; i < m->n; i++)
        sum += o->spread[i] / (double)m->n;
    return 0.1 * sqrt(sum / (double)m->d);
}
