/* Implements quantile normalization by batch.
 *
 * For coordinate k, let F be the pooled distribution of all items and F_b that of the items of
 * batch b, with equal weight for each item. A value x of batch b is mapped to F^-1(F_b(x)). Both
 * functions are represented by RECIPE_KNOTS quantiles with linear interpolation. If a value equals
 * several quantiles of F_b, the middle of their ranks is used. Values beyond the first or last
 * quantile are shifted by the same amount as that quantile.
 *
 * Within a batch, equal values therefore remain equal, and the order of values is preserved. A
 * single batch remains unchanged. */
#include "data/recipe.h"

#include <string.h>

/* ---- batches of the items ---- */

static ddsc_status find_about(ddsc_context *ctx, const measures *m, const char *name, int64_t *at)
{
    for (*at = 0; *at < m->meta_names.n; ++*at)
        if (strcmp(texts_get(&m->meta_names, *at), name) == 0)
            return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_INPUT,
                    "batch: the items have no column \"%.100s\"; it must be a column "
                    "of the input table (csv, tsv, h5ad) or of a metadata table "
                    "(--meta)",
                    name);
}

static ddsc_status batch_name(ddsc_context *ctx, const measures *m, int64_t item, int64_t column,
                              const char **name)
{
    int64_t row = m->row[item];
    *name = texts_get(&m->meta, row * m->meta_names.n + column);
    return **name ? DDSC_OK
                  : ctx_fail(ctx, DDSC_ERROR_INPUT,
                             "batch: item \"%.100s\" has no value in column \"%.100s\"",
                             ddsc_measures_get_id(m, row), texts_get(&m->meta_names, column));
}

ddsc_status recipe_find_batches(ddsc_context *ctx, measures_recipe *r, const measures *m,
                                const char *column)
{
    ddsc_status status = DDSC_OK;
    const char *name[RECIPE_BATCHES + 1] = {column}, *own;
    int64_t at, n = 1, size[RECIPE_BATCHES + 1] = {0};
    for (int64_t k = 0; k < r->n; k++)
        if (r->step[3 * k] == RECIPE_BATCH)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "batch: the set has already been mapped by batch%s%.100s",
                            r->batches.n ? ", with its column " : "", texts_get(&r->batches, 0));
    CHECK(find_about(ctx, m, column, &at));
    for (int64_t i = 0; i < m->n; i++) {
        int64_t b = 1;
        CHECK(batch_name(ctx, m, i, at, &own));
        while (b < n && strcmp(name[b], own) != 0)
            b++;
        if (b > RECIPE_BATCHES)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "batch: column \"%.100s\" has more than %d different values; it "
                            "cannot be a batch column",
                            column, RECIPE_BATCHES);
        name[b] = own;
        size[b]++;
        n = BASE_MAX(n, b + 1);
    }
    TRY(texts_pack(ctx, &r->batches, n, name));
    for (int64_t b = 1; b < n; b++)
        if (size[b] == 1 && n > 2)
            ctx_warn(ctx,
                     "batch \"%.100s\" has a single item: the mapping removes all of "
                     "its differences from the other items, coordinate by coordinate",
                     name[b]);
    if (n == 2)
        ctx_warn(ctx, "all items belong to the same batch \"%.100s\", so they are unchanged",
                 name[1]);
done:
    return status;
}

/* Finds the number of each item's batch. Batches are numbered from 0, in the order of
 * r->batches. */
static ddsc_status find_numbers(ddsc_context *ctx, const measures_recipe *r, const measures *m,
                                double *batch)
{
    int64_t at;
    const char *name;
    if (r->batches.n == 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "batch: the names of the batches were removed (--private), so no "
                        "further items can be mapped");
    CHECK(find_about(ctx, m, texts_get(&r->batches, 0), &at));
    for (int64_t i = 0; i < m->n; i++) {
        int64_t b = 1;
        CHECK(batch_name(ctx, m, i, at, &name));
        while (b < r->batches.n && strcmp(texts_get(&r->batches, b), name) != 0)
            b++;
        if (b == r->batches.n)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "batch: item \"%.100s\" belongs to \"%.100s\" in column "
                            "\"%.100s\", a batch without fitted quantiles, so it cannot be "
                            "mapped; cluster all items together",
                            ddsc_measures_get_id(m, m->row[i]), name, texts_get(&r->batches, 0));
        batch[i] = (double)(b - 1);
    }
    return DDSC_OK;
}

/* ---- a separate support row for each batch that uses it ---- */

typedef struct splitting {
    const double *batch; /* batch of each item */
    int32_t *order;      /* items by batch */
    int32_t *mark, *to;  /* for each old row: the last batch that used the row, and the new row */
    int64_t *from;       /* old row of each new row */
    double *support;
} splitting;

/* Splits the rows. Afterwards, rows start[b] .. start[b+1]-1 belong to batch b. */
static void split_rows(measures_parts *p, splitting *s, int64_t n_batches, int64_t *start)
{
    int64_t v = 0, b = 0;
    memset(s->mark, 0xff, (size_t)p->v * sizeof *s->mark);
    for (int64_t k = 0; k < p->n; k++) {
        int64_t i = s->order[k];
        for (; b <= (int64_t)s->batch[i]; b++)
            start[b] = v;
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++) {
            int32_t row = p->index[e];
            if (s->mark[row] != (int32_t)b) {
                s->mark[row] = (int32_t)b;
                s->from[v] = row;
                s->to[row] = (int32_t)v++;
            }
            p->index[e] = s->to[row];
        }
    }
    for (; b <= n_batches; b++)
        start[b] = v;
}

static ddsc_status take_split(ddsc_context *ctx, measures_parts *p, splitting *s, int64_t v)
{
    measures_texts points = {0};
    CHECK(MEM_NEW(ctx, s->support, v * p->d));
    for (int64_t r = 0; r < v; r++)
        memcpy(s->support + r * p->d, p->support + s->from[r] * p->d,
               (size_t)p->d * sizeof *p->support);
    CHECK(texts_pick(ctx, &points, &p->points, 1, v, NULL, s->from));
    texts_free(ctx, &p->points);
    mem_free(ctx, p->support);
    p->points = points;
    p->support = s->support;
    p->v = v;
    s->support = NULL;
    return DDSC_OK;
}

/* Splits the support rows by the batch of each item. */
static ddsc_status split_by(ddsc_context *ctx, measures_parts *p, const double *batch,
                            int64_t n_batches, int64_t *start)
{
    ddsc_status status = DDSC_OK;
    splitting s = {.batch = batch};
    if (p->nnz > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "batch: the items have more than %d points",
                        INT32_MAX);
    TRY(MEM_NEW(ctx, s.order, p->n));
    TRY(MEM_NEW(ctx, s.mark, p->v));
    TRY(MEM_NEW(ctx, s.to, p->v));
    TRY(MEM_NEW(ctx, s.from, p->nnz));
    sort_order(s.order, batch, p->n);
    split_rows(p, &s, n_batches, start);
    TRY(take_split(ctx, p, &s, start[n_batches]));
done:
    MEM_FREE(ctx, s.order, s.mark, s.to, s.from, s.support);
    return status;
}

ddsc_status recipe_split(ddsc_context *ctx, measures_parts *p, const measures_recipe *r,
                         const measures *m, int64_t start[RECIPE_BATCHES + 1])
{
    ddsc_status status = DDSC_OK;
    double *batch = NULL;
    TRY(MEM_NEW(ctx, batch, p->n));
    TRY(find_numbers(ctx, r, m, batch));
    TRY(split_by(ctx, p, batch, r->batches.n - 1, start));
done:
    mem_free(ctx, batch);
    return status;
}

/* Sorts the rows by their first use, as when a set is read from a file. */
static ddsc_status order_rows_by_use(ddsc_context *ctx, measures_parts *p)
{
    ddsc_status status = DDSC_OK;
    double *none = NULL;
    int64_t start[2];
    TRY(MEM_ZERO(ctx, none, p->n));
    TRY(split_by(ctx, p, none, 1, start));
done:
    mem_free(ctx, none);
    return status;
}

/* ---- the mapping ---- */

static double map_value(const double *from, const double *to, double x)
{
    enum { LAST = RECIPE_KNOTS - 1 };
    if (memcmp(from, to, RECIPE_KNOTS * sizeof *from) == 0)
        return x; /* for example, if there is a single batch */
    if (x < from[0])
        return x + (to[0] - from[0]);
    if (x > from[LAST])
        return x + (to[LAST] - from[LAST]);
    double rank = recipe_rank(from, x);
    int64_t low = rank > 0 ? LAST - 1 : 0; /* within the array even if the knots are unsorted */
    if (rank > 0 && rank < LAST - 1)
        low = (int64_t)rank;
    return to[low] + (rank - (double)low) * (to[low + 1] - to[low]);
}

ddsc_status recipe_map_batches(ddsc_context *ctx, measures_parts *p, const measures_recipe *r,
                               const measures *m, const double *value)
{
    int64_t start[RECIPE_BATCHES + 1], d = p->d;
    CHECK(recipe_split(ctx, p, r, m, start));
    for (int64_t b = 0; b + 1 < r->batches.n; b++) {
        const double *own = value + (b + 1) * RECIPE_KNOTS * d;
        for (int64_t row = start[b]; row < start[b + 1]; row++)
            for (int64_t k = 0; k < d; k++) {
                double *x = p->support + row * d + k;
                *x = map_value(own + RECIPE_KNOTS * k, value + RECIPE_KNOTS * k, *x);
            }
    }
    return order_rows_by_use(ctx, p);
}
