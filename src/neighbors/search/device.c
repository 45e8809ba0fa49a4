/* Runs the float prefilter on a device (GPU).
 *
 * The rows are uploaded once. For each strip of rows, the device computes the lower bounds of all
 * pairs as one matrix product. It returns the `most` smallest bounds of each item, from which
 * shortlist.c selects the candidates. The metric computes the values of the candidates in double
 * precision on the CPU, so the graph is byte-identical to that of a CPU search. Meanwhile, the
 * device may compute the next strip.
 *
 * A device offers several product types, from the cheapest and least accurate to the most accurate.
 * Each type has a radius, which limits its relative rounding error. The bounds are lowered by this
 * radius. If too many items have undecided candidates, the search restarts with the next type. Each
 * attempt computes n^2 products of rows. If the device fails or returns invalid lists, the CPU
 * performs the search. */
#include <math.h>
#include <stdio.h>

#include "base/device.h"
#include "base/team.h"
#include "neighbors/search/shortlist.h"
#include "neighbors/search/tuning.h"

typedef struct remote {
    ddsc_context *ctx;
    pairs *p;
    ranking *rank;
    device dev;
    const prefilter_rows *rows;
    shortlist *d;
    float *start, *weight; /* weight may be NULL: all weights are 1 */
    double unit;           /* unit of the keys */
    int64_t strip;         /* rows per strip */
    float *key;            /* strip x most */
    double *scratch;       /* one per worker: keys and upper bounds of a list */
} remote;

/* Converts the inverse local scales to float weights, the largest of which is in [1, 2). A weight
 * and its product with a bound each have a relative error of 2^-24; d->relative covers both errors.
 * Sets *good to false if floats cannot represent the range of the scales. */
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
        search_shortlist_settle(r->d, r->d->first + c, key, key + most);
    }
    return DDSC_OK;
}

/* Checks the lists of a strip. Invalid entries are treated as a device failure. */
static bool plausible(const remote *r, int64_t rows)
{
    int64_t most = r->d->most;
    for (int64_t c = 0; c < rows; c++)
        for (int64_t k = c * most; k < (c + 1) * most; k++) {
            int32_t j = r->d->index[k];
            if (j < 0 || j >= r->d->n || j == r->d->first + c || !isfinite(r->key[k]))
                return false;
        }
    return true;
}

/* Processes the strip of rows that starts at d->first. Sets *how to FILTERED_NOT if the device
 * failed. */
static ddsc_status walk_strip(remote *r, int64_t *open, filtered *how, char *why)
{
    shortlist *d = r->d;
    int64_t end = BASE_MIN(d->n, d->first + r->strip);
    bool few;
    *how = FILTERED_NOT;
    if (r->dev.table.nearest(r->dev.state, d->first, end, d->most, r->key, d->index, why) != 0)
        return DDSC_OK;
    if (!plausible(r, end - d->first)) {
        snprintf(why, DEVICE_WORDS, "the device returned invalid neighbor lists");
        return DDSC_OK;
    }
    CHECK(parallel_for(r->ctx, end - d->first, 64, settle_strip, r));
    search_shortlist_count(d, end, open, &few);
    *how = few ? FILTERED : FILTERED_UNDECIDED;
    if (few)
        CHECK(search_shortlist_rank(d, end, r->rank));
    progress_add(r->ctx, (end - d->first) * (d->n - 1) / 2);
    return DDSC_OK;
}

/* Processes all rows with one product type. */
static ddsc_status walk(remote *r, int way, filtered *how, char *why)
{
    shortlist *d = r->d;
    device_rows rows = {.n = d->n,
                        .columns = r->rows->columns,
                        .rows = r->rows->rows,
                        .start = r->start,
                        .weight = r->weight};
    int64_t open = 0;
    *how = FILTERED_NOT;
    if (r->dev.table.load(r->dev.state, way, &rows, d->most, &r->strip, why) != 0)
        return DDSC_OK;
    r->strip = BASE_MIN(r->strip, d->n);
    MEM_FREE(r->ctx, r->key, d->index);
    r->key = NULL;
    d->index = NULL;
    CHECK(MEM_NEW(r->ctx, r->key, r->strip * d->most));
    CHECK(MEM_NEW(r->ctx, d->index, r->strip * d->most));
    search_rank_free(r->rank);
    CHECK(search_rank_create(r->p, r->rank, d->tau));
    *how = FILTERED;
    for (d->first = 0; d->first < d->n && *how == FILTERED; d->first += r->strip)
        CHECK(walk_strip(r, &open, how, why));
    return DDSC_OK;
}

/* Tries the product types of the device, the cheapest first. */
static ddsc_status try_ways(remote *r, filtered *how)
{
    char why[DEVICE_WORDS] = "";
    int64_t n = r->d->n;
    *how = FILTERED_UNDECIDED;
    for (int way = 0; way < r->dev.about.n_ways && *how == FILTERED_UNDECIDED; way++) {
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

ddsc_status search_on_device(pairs *p, ranking *rank, const prefilter_rows *rows, int64_t tau,
                             filtered *how)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = p->ctx;
    int64_t n = rows->n;
    shortlist d = {0};
    remote r = {.ctx = ctx, .p = p, .rank = rank, .rows = rows, .d = &d};
    bool good = false;
    *how = FILTERED_NOT;
    /* A team of several ranks uses the CPU on all ranks, because some ranks may not have a
     * device. */
    if (team_size(ctx) > 1 ||
        !device_open(ctx, &r.dev, (double)n * (double)n * (double)rows->columns))
        return DDSC_OK;
    int64_t most =
        BASE_MIN(BASE_MIN(n - 1, tau + BASE_MAX(DEVICE_SPARE, tau)), r.dev.about.longest);
    if (most < n - 1 && most < tau + SPARE_LEAST) {
        ctx_note(ctx, "device", "cpu", "%s: lists of %lld neighbors are too long", r.dev.name,
                 (long long)tau);
        goto done;
    }
    TRY(search_shortlist_create(ctx, &d, n, tau, most));
    d.by = p->by;
    TRY(weigh_keys(&r, &good));
    if (good) {
        TRY(MEM_NEW(ctx, r.start, n));
        TRY(MEM_NEW(ctx, r.scratch, 2 * most * parallel_width(ctx)));
        TRY(try_ways(&r, how));
    }
done:
    device_close(&r.dev);
    search_shortlist_free(ctx, &d);
    MEM_FREE(ctx, r.scratch, r.key, r.weight, r.start);
    return status;
}
