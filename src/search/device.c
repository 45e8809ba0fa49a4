/* Float bounds of all pairs by a device: rows go over once, in the cheapest kind of product whose
 * rounding leaves few items in doubt, and lists of the least bounds come back strip by strip. */
#include <math.h>
#include <stdio.h>

#include "base/team.h"
#include "device/device.h"
#include "search/doubt.h"
#include "search/tuning.h"

typedef struct remote {
    ddsc_context *ctx;
    device dev;
    const prefilter_rows *rows;
    doubt *d;
    float *start, *weight; /* weight NULL: ones */
    double unit;           /* of keys */
    int64_t strip, first;  /* rows at a time; the first of those at work */
    float *key;            /* strip x most */
    double *scratch;       /* per worker: keys and upper bounds of a list */
} remote;

/* Scales as floats about 1. A weight errs by 2^-24 and its product with a bound by as much. */
static ddsc_status weigh_keys(remote *r, bool *good)
{
    const local_scales *by = r->d->by;
    double largest = 0, least = INFINITY;
    *good = true;
    r->unit = r->rows->unit;
    if (!by)
        return DDSC_OK;
    for (int64_t i = 0; i < r->d->n; i++) {
        largest = fmax(largest, by->inverse[i]);
        least = fmin(least, by->inverse[i]);
    }
    *good = least > 1e-9 * largest && largest < INFINITY && fabs(log2(largest)) < 400;
    if (!*good)
        return DDSC_OK;
    int exponent = ilogb(largest);
    CHECK(MEM_NEW(r->ctx, r->weight, r->d->n));
    for (int64_t i = 0; i < r->d->n; i++)
        r->weight[i] = (float)ldexp(by->inverse[i], -exponent);
    r->unit *= ldexp(1, exponent);
    r->d->relative = 0x1p-22;
    r->d->absolute = 1e-36 * r->unit;
    return DDSC_OK;
}

static ddsc_status settle_strip(void *arg, int64_t begin, int64_t end, int worker)
{
    const remote *r = arg;
    int64_t most = r->d->most;
    double *key = r->scratch + 2 * most * worker;
    for (int64_t c = begin; c < end; c++) {
        for (int64_t k = 0; k < most; k++)
            key[k] = r->unit * (double)r->key[c * most + k];
        search_doubt_settle(r->d, r->first + c, key, key + most);
    }
    return DDSC_OK;
}

/* A list that cannot be is a failure like any other. */
static bool plausible(const remote *r, int64_t rows)
{
    int64_t most = r->d->most;
    for (int64_t c = 0; c < rows; c++)
        for (int64_t k = c * most; k < (c + 1) * most; k++) {
            int32_t j = r->d->index[r->first * most + k];
            if (j < 0 || j >= r->d->n || j == r->first + c || !isfinite(r->key[k]))
                return false;
        }
    return true;
}

/* All rows in one way. *how: NOT when the device failed. */
static ddsc_status walk(remote *r, int way, filtered *how, char *why)
{
    doubt *d = r->d;
    const device_table *t = &r->dev.table;
    device_rows rows = {.n = d->n,
                        .columns = r->rows->columns,
                        .rows = r->rows->rows,
                        .start = r->start,
                        .weight = r->weight};
    int64_t open = 0;
    *how = FILTERED_NOT;
    if (t->load(r->dev.state, way, &rows, d->most, &r->strip, why) != 0)
        return DDSC_OK;
    r->strip = BASE_MIN(r->strip, d->n);
    mem_free(r->ctx, r->key);
    r->key = NULL;
    CHECK(MEM_NEW(r->ctx, r->key, r->strip * d->most));
    for (r->first = 0; r->first < d->n; r->first += r->strip) {
        int64_t end = BASE_MIN(d->n, r->first + r->strip);
        if (t->nearest(r->dev.state, r->first, end, d->most, r->key, d->index + r->first * d->most,
                       why) != 0)
            return DDSC_OK;
        if (!plausible(r, end - r->first)) {
            snprintf(why, DEVICE_WORDS, "it gave lists that cannot be");
            return DDSC_OK;
        }
        CHECK(parallel_for(r->ctx, end - r->first, 64, settle_strip, r));
        for (int64_t i = r->first; i < end; i++)
            open += d->count[i] < 0;
        if (open > search_doubt_allowed(d->n)) {
            *how = FILTERED_IN_DOUBT;
            return DDSC_OK;
        }
        progress_add(r->ctx, (end - r->first) * (d->n - 1) / 2);
    }
    *how = FILTERED;
    return DDSC_OK;
}

/* The ways of the device, the cheapest first. */
static ddsc_status try_ways(remote *r, filtered *how)
{
    char why[DEVICE_WORDS] = "";
    int64_t n = r->d->n;
    *how = FILTERED_IN_DOUBT;
    for (int way = 0; way < r->dev.about.n_ways && *how == FILTERED_IN_DOUBT; way++) {
        double radius;
        first_bounds bounds;
        const char *name = r->dev.table.way(r->dev.state, way, r->rows->columns, &radius);
        CHECK(prefilter_enclose(r->ctx, &bounds, r->start, r->d->spread, r->rows, radius));
        progress_begin(r->ctx, "bounds", n * (n - 1) / 2);
        CHECK(walk(r, way, how, why));
        progress_end(r->ctx);
        if (*how == FILTERED) {
            ctx_device_used(r->ctx, r->dev.name);
            ctx_note(r->ctx, "device", ddsc_context_get_device(r->ctx),
                     "%s: %s products of %lld x %lld floats", r->dev.about.name, name, (long long)n,
                     (long long)r->rows->columns);
        }
    }
    if (*how == FILTERED_NOT)
        device_fail(r->ctx, &r->dev, why);
    return DDSC_OK;
}

ddsc_status search_on_device(ddsc_context *ctx, doubt *d, const prefilter_rows *rows, int64_t tau,
                             const local_scales *by, filtered *how)
{
    ddsc_status status = DDSC_OK;
    int64_t n = rows->n;
    remote r = {.ctx = ctx, .rows = rows, .d = d};
    bool good = false;
    *how = FILTERED_NOT;
    /* Several ranks: the processor, on all of them alike; who has a device is a matter of each rank. */
    if (team_size(ctx) > 1 ||
        !device_open(ctx, &r.dev, (double)n * (double)n * (double)rows->columns))
        return DDSC_OK;
    int64_t most =
        BASE_MIN(BASE_MIN(n - 1, tau + BASE_MAX(DEVICE_SPARE, tau)), r.dev.about.longest);
    if (most < n - 1 && most < tau + SPARE_LEAST) {
        ctx_note(ctx, "device", "cpu", "%s: lists of %lld are too long", r.dev.name,
                 (long long)tau);
        goto done;
    }
    TRY(search_doubt_create(ctx, d, n, tau, most));
    d->by = by;
    TRY(weigh_keys(&r, &good));
    if (good) {
        TRY(MEM_NEW(ctx, d->index, n * most));
        TRY(MEM_NEW(ctx, r.start, n));
        TRY(MEM_NEW(ctx, r.scratch, 2 * most * parallel_width(ctx)));
        TRY(try_ways(&r, how));
    }
    if (*how != FILTERED)
        search_doubt_free(ctx, d);
done:
    device_close(&r.dev);
    MEM_FREE(ctx, r.scratch, r.key, r.weight, r.start);
    return status;
}
