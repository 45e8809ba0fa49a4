/* Counts the items of each cluster in each period, and finds clusters that are new or vanish. */
#include "assess/cohort/over.h"

#include <math.h>

#include "base/sized.h"

/* A cluster is new, or vanishes, if the probability of its absence under random order is at most
 * this value. */
static const double OVER_LEVEL = 0.05;

struct ddsc_over {
    ddsc_context *ctx;
    ddsc_over_view view;
    over_periods periods;
    const char **name;
    int64_t *items, *count;
    double *share, *low, *high, *p_new, *p_vanished;
    int32_t *first, *last, *change;
};

void ddsc_over_destroy(ddsc_over *o)
{
    if (!o)
        return;
    ddsc_context *ctx = o->ctx;
    over_periods_free(ctx, &o->periods);
    MEM_FREE(ctx, o->name, o->items, o->count, o->share, o->low, o->high, o->p_new, o->p_vanished,
             o->first, o->last, o->change);
    mem_free(ctx, o);
}

SIZED_VIEW(ddsc_over, 0)

/* Computes Wilson's (1927) 95% interval for the proportion `count` / n. */
static void over_wilson(double *low, double *high, int64_t count, int64_t n)
{
    const double z = 1.959963984540054, m = (double)n, share = (double)count / m;
    double middle = share + z * z / (2 * m);
    double half = z * sqrt(share * (1 - share) / m + z * z / (4 * m * m));
    *low = count == 0 ? 0 : fmax((middle - half) / (1 + z * z / m), 0);
    *high = count == n ? 1 : fmin((middle + half) / (1 + z * z / m), 1);
}

/* Returns the probability that none of `marked` of n items is among `drawn` items chosen at random
 * (hypergeometric): prod_{i < a} (n - b - i) / (n - i), for {a, b} = {marked, drawn}. */
static double over_absence(int64_t n, int64_t marked, int64_t drawn)
{
    int64_t a = BASE_MIN(marked, drawn), b = BASE_MAX(marked, drawn);
    double p = 1;
    for (int64_t i = 0; i < a && p > 0; i++)
        p *= (double)BASE_MAX(n - b - i, 0) / (double)(n - i);
    return p;
}

/* Finds the first and the last period of a cluster, and the probabilities that it is absent from
 * the earlier and the later periods if the items are in random order. */
static void over_judge(ddsc_over *o, int64_t c, int64_t total)
{
    const int64_t *count = o->count + c * o->periods.n;
    int64_t size = 0, before = 0, after = 0;
    o->first[c] = o->last[c] = -1;
    for (int64_t t = 0; t < o->periods.n; t++) {
        size += count[t];
        if (count[t] > 0)
            o->last[c] = (int32_t)t;
        if (count[t] > 0 && o->first[c] < 0)
            o->first[c] = (int32_t)t;
    }
    for (int64_t t = 0; t < o->periods.n; t++) {
        before += t < o->first[c] ? o->items[t] : 0;
        after += t > o->last[c] ? o->items[t] : 0;
    }
    o->p_new[c] = size > 0 && before > 0 ? over_absence(total, size, before) : 1;
    o->p_vanished[c] = size > 0 && after > 0 ? over_absence(total, size, after) : 1;
    double most = OVER_LEVEL / (2 * (double)o->view.k);
    o->change[c] = size == 0 ? DDSC_OVER_EMPTY
                             : (o->p_new[c] <= most ? DDSC_OVER_NEW : 0) |
                                   (o->p_vanished[c] <= most ? DDSC_OVER_VANISHED : 0);
}

static ddsc_status over_allocate(ddsc_over *o, int64_t k)
{
    ddsc_context *ctx = o->ctx;
    int64_t n = o->periods.n;
    CHECK(MEM_NEW(ctx, o->name, n));
    CHECK(MEM_ZERO(ctx, o->items, n));
    CHECK(MEM_ZERO(ctx, o->count, k * n));
    CHECK(MEM_NEW(ctx, o->share, k * n));
    CHECK(MEM_NEW(ctx, o->low, k * n));
    CHECK(MEM_NEW(ctx, o->high, k * n));
    CHECK(MEM_NEW(ctx, o->p_new, k));
    CHECK(MEM_NEW(ctx, o->p_vanished, k));
    CHECK(MEM_NEW(ctx, o->first, k));
    CHECK(MEM_NEW(ctx, o->last, k));
    return MEM_NEW(ctx, o->change, k);
}

static void over_count(ddsc_over *o, const int32_t *labels, int64_t n, int64_t k)
{
    int64_t total = 0, n_periods = o->periods.n;
    for (int64_t i = 0; i < n; i++)
        if (o->periods.of[i] >= 0) {
            o->items[o->periods.of[i]]++;
            o->count[labels[i] * n_periods + o->periods.of[i]]++;
            total++;
        }
    for (int64_t t = 0; t < n_periods; t++)
        o->name[t] = o->periods.name.text + o->periods.name.at[t];
    for (int64_t c = 0; c < k; c++) {
        for (int64_t t = 0, at = c * n_periods; t < n_periods; t++, at++) {
            o->share[at] = (double)o->count[at] / (double)o->items[t];
            over_wilson(&o->low[at], &o->high[at], o->count[at], o->items[t]);
        }
        over_judge(o, c, total);
    }
    o->view.n_missing = 0;
    for (int64_t i = 0; i < n; i++)
        o->view.n_missing += labels[i] >= 0 && o->periods.of[i] < 0;
}

static ddsc_status over_check(ddsc_context *ctx, bool *used, int64_t n, const int32_t *labels,
                              int64_t k)
{
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] >= k)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "over: label %lld is %d; labels must be less than k = %lld",
                            (long long)i, (int)labels[i], (long long)k);
        used[i] = labels[i] >= 0;
    }
    return DDSC_OK;
}

ddsc_status ddsc_over_run(ddsc_context *context, ddsc_over **over, int64_t n, const int32_t *labels,
                          int64_t k, const char *column, const char *const *values)
{
    ddsc_status status = DDSC_OK;
    ddsc_over *o = NULL;
    bool *used = NULL;
    CHECK(ctx_enter_new(context, over));
    CHECK(ctx_need(context, labels, "labels"));
    CHECK(ctx_need(context, column, "column"));
    CHECK(ctx_need(context, values, "values"));
    CHECK(ctx_check(context, n >= 1, "n", (double)n, "1 .."));
    CHECK(ctx_check(context, k >= 1 && k <= INT32_MAX, "k", (double)k, "1 .. 2^31 - 1"));
    TRY(MEM_ZERO(context, o, 1));
    o->ctx = context;
    TRY(MEM_NEW(context, used, n));
    TRY(over_check(context, used, n, labels, k));
    TRY(over_find_periods(context, &o->periods, values, used, n, column));
    o->view = (ddsc_over_view){.n = n, .k = k};
    TRY(over_allocate(o, k));
    over_count(o, labels, n, k);
    ddsc_over_view *v = &o->view;
    v->kind = o->periods.kind;
    v->unit = o->periods.unit;
    v->n_periods = o->periods.n;
    v->period = o->periods.of;
    v->periods = o->name;
    v->items = o->items;
    v->counts = o->count;
    v->share = o->share;
    v->low = o->low;
    v->high = o->high;
    v->p_new = o->p_new;
    v->p_vanished = o->p_vanished;
    v->first = o->first;
    v->last = o->last;
    v->change = o->change;
    *over = o;
    o = NULL;
done:
    mem_free(context, used);
    ddsc_over_destroy(o);
    return status;
}
