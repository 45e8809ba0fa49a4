/* The steps that turn raw parts into a valid set. Messages identify the item, the entry and the
 * value. */
#include "data/parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger coordinates would make squared distances overflow. */
static const double COORDINATE_LIMIT = 1e150;

typedef struct item_name {
    char text[160];
} item_name;

static item_name name_part(const measures_parts *p, int64_t i)
{
    item_name name;
    if (p->id_text)
        snprintf(name.text, sizeof name.text, "item %lld (id \"%.100s\")", (long long)i,
                 p->id_text + p->id_at[i]);
    else
        snprintf(name.text, sizeof name.text, "item %lld", (long long)i);
    return name;
}

/* ---- loops over all entries, on all threads ---- */

enum { ITEMS_A_PIECE = 256, VALUES_A_PIECE = 1 << 16 };

typedef struct parts_pass {
    measures_parts *p;
    int found; /* set if any entry requires the sequential loop over items */
} parts_pass;

static void pass_found(parts_pass *pass)
{
    __atomic_store_n(&pass->found, 1, __ATOMIC_RELAXED);
}

/* Runs fn over n entries, values or items. Sets *found if fn calls pass_found. */
static ddsc_status pass_run(ddsc_context *ctx, measures_parts *p, int64_t n, int64_t grain,
                            parallel_fn fn, bool *found)
{
    parts_pass pass = {p, 0};
    ddsc_status status = parallel_for(ctx, n, grain, fn, &pass);
    *found = pass.found != 0;
    return status;
}

static ddsc_status check_part_sizes(ddsc_context *ctx, const measures_parts *p, const char *where)
{
    if (p->n < 1)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: contains no items", where);
    if (p->d < 1)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: the points have no coordinates", where);
    if (p->v > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: %lld support points are too many; the maximum is %d", where,
                        (long long)p->v, INT32_MAX);
    if ((p->coordinates.n && p->coordinates.n != p->d) || (p->points.n && p->points.n != p->v) ||
        (p->titles.n && p->titles.n != p->n) || p->meta.n != p->meta_names.n * p->n)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: the numbers of names are wrong: %lld coordinates have %lld names, "
                        "%lld points have %lld, and %lld items have %lld",
                        where, (long long)p->d, (long long)p->coordinates.n, (long long)p->v,
                        (long long)p->points.n, (long long)p->n, (long long)p->titles.n);
    if (p->offset[0] != 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: offsets start at %lld instead of 0", where,
                        (long long)p->offset[0]);
    for (int64_t i = 0; i < p->n; i++)
        if (p->offset[i + 1] < p->offset[i])
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: offsets decrease from %lld to %lld at %s",
                            where, (long long)p->offset[i], (long long)p->offset[i + 1],
                            name_part(p, i).text);
    if (p->offset[p->n] != p->nnz)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: offsets end with %lld but there are %lld entries", where,
                        (long long)p->offset[p->n], (long long)p->nnz);
    if (!p->index && p->nnz != p->v)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: there are %lld points but %lld weights", where,
                        (long long)p->v, (long long)p->nnz);
    return DDSC_OK;
}

/* Returns the first item that uses a support row, for messages. */
static int64_t first_user(const measures_parts *p, int64_t support_row)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
            if ((p->index ? p->index[e] : e) == support_row)
                return i;
    return -1;
}

/* Returns the position of a point within its item, counted from 0. */
static int64_t place_in_item(const measures_parts *p, int64_t item, int64_t support_row)
{
    int64_t e = p->offset[item];
    while (e < p->offset[item + 1] && (p->index ? p->index[e] : e) != support_row)
        e++;
    return e - p->offset[item];
}

/* Replaces -0 with 0, so that equal points have equal bits, and reports invalid coordinates. */
static ddsc_status tidy_points(void *arg, int64_t begin, int64_t end, int worker)
{
    parts_pass *pass = arg;
    double *x = pass->p->support;
    bool good = true;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        good &= fabs(x[c]) <= COORDINATE_LIMIT;
        x[c] += 0.0;
    }
    if (!good)
        pass_found(pass);
    return DDSC_OK;
}

static ddsc_status check_points(ddsc_context *ctx, measures_parts *p, const char *where)
{
    bool bad;
    CHECK(pass_run(ctx, p, p->v * p->d, VALUES_A_PIECE, tidy_points, &bad));
    for (int64_t c = 0; bad && c < p->v * p->d; c++) {
        double x = p->support[c];
        if (fabs(x) <= COORDINATE_LIMIT)
            continue;
        int64_t row = c / p->d, item = first_user(p, row);
        const char *what = isfinite(x) ? "too large to square (rescale the data)" : "not finite";
        if (item < 0)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "%s: support point %lld, coordinate %lld: %g is %s", where,
                            (long long)row, (long long)(c % p->d), x, what);
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: %s, point %lld, coordinate %lld: %g is %s",
                        where, name_part(p, item).text, (long long)place_in_item(p, item, row),
                        (long long)(c % p->d), x, what);
    }
    return DDSC_OK;
}

static bool is_weight(double w)
{
    return w >= 0 && w <= DBL_MAX;
}

static ddsc_status bad_entries(void *arg, int64_t begin, int64_t end, int worker)
{
    parts_pass *pass = arg;
    const measures_parts *p = pass->p;
    bool good = true;
    (void)worker;
    for (int64_t e = begin; p->weight && e < end; e++)
        good &= is_weight(p->weight[e]);
    for (int64_t e = begin; p->index && e < end; e++)
        good &= p->index[e] >= 0 && p->index[e] < p->v;
    if (!good)
        pass_found(pass);
    return DDSC_OK;
}

static ddsc_status check_entries(ddsc_context *ctx, measures_parts *p, const char *where)
{
    bool bad;
    CHECK(pass_run(ctx, p, p->nnz, VALUES_A_PIECE, bad_entries, &bad));
    for (int64_t i = 0; bad && i < p->n; i++)
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++) {
            if (p->weight && !is_weight(p->weight[e]))
                return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: %s, entry %lld: weight %g is %s", where,
                                name_part(p, i).text, (long long)(e - p->offset[i]), p->weight[e],
                                p->weight[e] < 0 && isfinite(p->weight[e]) ? "negative"
                                                                           : "not finite");
            if (p->index && (p->index[e] < 0 || p->index[e] >= p->v))
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "%s: %s, entry %lld: index %d is outside the %lld support points",
                                where, name_part(p, i).text, (long long)(e - p->offset[i]),
                                p->index[e], (long long)p->v);
        }
    return DDSC_OK;
}

ddsc_status parts_check(ddsc_context *ctx, measures_parts *p, const char *where)
{
    CHECK(check_part_sizes(ctx, p, where));
    CHECK(check_entries(ctx, p, where));
    return check_points(ctx, p, where);
}

/* ---- zero weights ---- */

static double largest_weight(const double *w, int64_t n)
{
    double largest = 0;
    for (int64_t e = 0; e < n; e++)
        largest = BASE_MAX(largest, w[e]);
    return largest;
}

static bool is_extreme(double largest)
{
    return largest > 1e290 || (largest > 0 && largest < 1e-290);
}

/* If the sum of an item's weights would overflow or underflow, divides the weights by their
 * maximum. */
static void scale_item(double *w, int64_t n)
{
    double largest = largest_weight(w, n);
    if (is_extreme(largest))
        for (int64_t e = 0; e < n; e++)
            w[e] /= largest;
}

ddsc_status measures_parts_weigh(ddsc_context *ctx, measures_parts *p)
{
    if (p->weight)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, p->weight, p->nnz));
    for (int64_t e = 0; e < p->nnz; e++)
        p->weight[e] = 1;
    return DDSC_OK;
}

ddsc_status measures_parts_index(ddsc_context *ctx, measures_parts *p)
{
    if (p->index)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, p->index, p->nnz));
    for (int64_t e = 0; e < p->nnz; e++)
        p->index[e] = (int32_t)e;
    return DDSC_OK;
}

/* Reports items that parts_drop_zeros must change: items with zero weights, no entries or extreme
 * weights. */
static ddsc_status find_untidy_items(void *arg, int64_t begin, int64_t end, int worker)
{
    parts_pass *pass = arg;
    const measures_parts *p = pass->p;
    bool tidy = true;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = p->offset[i], n = p->offset[i + 1] - from;
        for (int64_t e = from; e < from + n; e++)
            tidy &= p->weight[e] > 0;
        tidy &= n > 0 && !is_extreme(largest_weight(p->weight + from, n));
    }
    if (!tidy)
        pass_found(pass);
    return DDSC_OK;
}

ddsc_status parts_drop_zeros(ddsc_context *ctx, measures_parts *p, ddsc_on_empty on_empty,
                             const char *where, int64_t *n_dropped)
{
    int64_t kept = 0, n_empty = 0, begin = 0;
    bool untidy;
    *n_dropped = 0;
    CHECK(measures_parts_weigh(ctx, p));
    CHECK(measures_parts_index(ctx, p));
    CHECK(pass_run(ctx, p, p->n, ITEMS_A_PIECE, find_untidy_items, &untidy));
    if (!untidy)
        return DDSC_OK;
    for (int64_t i = 0; i < p->n; i++) {
        int64_t end = p->offset[i + 1], before = kept;
        scale_item(p->weight + begin, end - begin);
        for (int64_t e = begin; e < end; e++)
            if (p->weight[e] > 0) {
                p->weight[kept] = p->weight[e];
                p->index[kept++] = p->index[e];
            }
        if (kept == before && on_empty == DDSC_EMPTY_ERROR)
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: %s is empty: %s", where,
                            name_part(p, i).text,
                            end == begin ? "it has no points" : "its weights are all zero");
        n_empty += kept == before;
        begin = end;
        p->offset[i + 1] = kept;
    }
    if (n_empty == p->n)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: all %lld items are empty", where,
                        (long long)p->n);
    *n_dropped = p->nnz - kept;
    p->nnz = kept;
    return DDSC_OK;
}

/* ---- entries ---- */

static bool ascending(const int32_t *index, int64_t n)
{
    for (int64_t e = 1; e < n; e++)
        if (index[e] <= index[e - 1])
            return false;
    return true;
}

static ddsc_status unordered_items(void *arg, int64_t begin, int64_t end, int worker)
{
    parts_pass *pass = arg;
    const measures_parts *p = pass->p;
    bool good = true;
    (void)worker;
    for (int64_t i = begin; good && i < end; i++)
        good = ascending(p->index + p->offset[i], p->offset[i + 1] - p->offset[i]);
    if (!good)
        pass_found(pass);
    return DDSC_OK;
}

/* Sorts one item by (row, position) and adds the weights of equal rows in input order. */
static int64_t merge_item(int32_t *index, double *weight, int64_t n, uint64_t *key, double *copy)
{
    for (int64_t e = 0; e < n; e++) {
        key[e] = (uint64_t)(uint32_t)index[e] << 32 | (uint64_t)e;
        copy[e] = weight[e];
    }
    sort_u64(key, n);
    int64_t kept = 0;
    for (int64_t e = 0; e < n; e++) {
        int32_t row = (int32_t)(key[e] >> 32);
        double w = copy[(int64_t)(key[e] & 0xffffffffu)];
        if (kept > 0 && index[kept - 1] == row) {
            weight[kept - 1] += w;
            continue;
        }
        index[kept] = row;
        weight[kept++] = w;
    }
    return kept;
}

ddsc_status parts_merge_entries(ddsc_context *ctx, measures_parts *p, int64_t *n_merged)
{
    ddsc_status status = DDSC_OK;
    uint64_t *key = NULL;
    double *copy = NULL;
    int64_t largest = 0, kept = 0, begin = 0;
    bool unordered;
    *n_merged = 0;
    CHECK(pass_run(ctx, p, p->n, ITEMS_A_PIECE, unordered_items, &unordered));
    if (!unordered)
        return DDSC_OK;
    for (int64_t i = 0; i < p->n; i++)
        largest = BASE_MAX(largest, p->offset[i + 1] - p->offset[i]);
    if (largest > UINT32_MAX)
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT, "an item has %lld points, which is too many",
                     (long long)largest));
    TRY(MEM_NEW(ctx, key, largest));
    TRY(MEM_NEW(ctx, copy, largest));
    for (int64_t i = 0; i < p->n; i++) {
        int64_t n = p->offset[i + 1] - begin;
        memmove(p->index + kept, p->index + begin, (size_t)n * sizeof *p->index);
        memmove(p->weight + kept, p->weight + begin, (size_t)n * sizeof *p->weight);
        begin = p->offset[i + 1];
        if (!ascending(p->index + kept, n))
            n = merge_item(p->index + kept, p->weight + kept, n, key, copy);
        kept += n;
        p->offset[i + 1] = kept;
    }
    *n_merged = p->nnz - kept;
    p->nnz = kept;
done:
    MEM_FREE(ctx, key, copy);
    return status;
}

/* Returns the sum of the weights, with an error far below the rounding of a double (Knuth's
 * two-sum). The result therefore does not depend on the order of the points, which varies between
 * sets. */
static double sum_weights(const double *w, int64_t n)
{
    double sum = 0, rest = 0;
    for (int64_t e = 0; e < n; e++) {
        double next = sum + w[e], part = next - sum;
        rest += (sum - (next - part)) + (w[e] - part);
        sum = next;
    }
    return sum + rest;
}

static ddsc_status normalize_items(void *arg, int64_t begin, int64_t end, int worker)
{
    const parts_pass *pass = arg;
    const measures_parts *p = pass->p;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double sum = sum_weights(p->weight + p->offset[i], p->offset[i + 1] - p->offset[i]);
        double rounding = DBL_EPSILON * (double)(p->offset[i + 1] - p->offset[i]);
        if (fabs(sum - 1) <= rounding) /* already normalized, as in saved files */
            continue;
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
            p->weight[e] = BASE_MAX(p->weight[e] / sum, DBL_MIN); /* remains positive */
    }
    return DDSC_OK;
}

ddsc_status parts_normalize(ddsc_context *ctx, measures_parts *p)
{
    bool found;
    return pass_run(ctx, p, p->n, ITEMS_A_PIECE, normalize_items, &found);
}
