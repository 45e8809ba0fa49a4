/* Copies of a set: some of its items, other labels, or points drawn anew. */
#include <string.h>

#include "data/measures.h"

/* Packed strings `which[0..n)` of (text, at) into new ones. */
static ddsc_status copy_strings(ddsc_context *ctx, char **text, int64_t **at, const char *from,
                                const int64_t *from_at, int64_t n, const int64_t *which)
{
    CHECK(MEM_NEW(ctx, *at, n + 1));
    (*at)[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t w = which ? which[i] : i;
        (*at)[i + 1] = (*at)[i] + from_at[w + 1] - from_at[w];
    }
    CHECK(MEM_NEW(ctx, *text, (*at)[n]));
    for (int64_t i = 0; i < n; i++)
        memcpy(*text + (*at)[i], from + from_at[which ? which[i] : i],
               (size_t)((*at)[i + 1] - (*at)[i]));
    return DDSC_OK;
}

/* Labels, names and ids of the given input rows. Numbered items keep their old number as id, so
 * that a subset can be traced back. */
static ddsc_status copy_names(ddsc_context *ctx, measures_parts *p, const measures *m, int64_t n,
                              const int64_t *rows)
{
    ddsc_status status = DDSC_OK;
    if (m->label) {
        TRY(MEM_NEW(ctx, p->label, n));
        for (int64_t i = 0; i < n; i++)
            p->label[i] = m->label[rows[i]];
    }
    if (m->name_text) {
        TRY(copy_strings(ctx, &p->name_text, &p->name_at, m->name_text, m->name_at, m->n_names,
                         NULL));
        p->n_names = m->n_names;
    }
    if (m->id_text) {
        TRY(copy_strings(ctx, &p->id_text, &p->id_at, m->id_text, m->id_at, n, rows));
        goto done;
    }
    TRY(MEM_NEW(ctx, p->id_at, n + 1));
    p->id_at[0] = 0;
    for (int64_t i = 0; i < n; i++)
        p->id_at[i + 1] = p->id_at[i] + (int64_t)strlen(ddsc_measures_get_id(m, rows[i])) + 1;
    TRY(MEM_NEW(ctx, p->id_text, p->id_at[n]));
    for (int64_t i = 0; i < n; i++)
        strcpy(p->id_text + p->id_at[i], ddsc_measures_get_id(m, rows[i]));
done:
    return status;
}

static ddsc_status copy_items(ddsc_context *ctx, measures_parts *p, const measures *m, int64_t n,
                              const int64_t *items)
{
    p->n = n;
    p->v = m->v;
    p->d = m->d;
    p->points_distinct = true;
    CHECK(MEM_NEW(ctx, p->offset, n + 1));
    p->offset[0] = 0;
    for (int64_t i = 0; i < n; i++)
        p->offset[i + 1] = p->offset[i] + measures_item(m, items[i]).n;
    p->nnz = p->offset[n];
    CHECK(MEM_NEW(ctx, p->index, p->nnz));
    CHECK(MEM_NEW(ctx, p->weight, p->nnz));
    CHECK(MEM_NEW(ctx, p->support, m->v * m->d));
    memcpy(p->support, m->support, (size_t)(m->v * m->d) * sizeof *p->support);
    for (int64_t i = 0; i < n; i++) {
        item_view item = measures_item(m, items[i]);
        memcpy(p->index + p->offset[i], item.index, (size_t)item.n * sizeof *p->index);
        memcpy(p->weight + p->offset[i], item.weight, (size_t)item.n * sizeof *p->weight);
    }
    return DDSC_OK;
}

ddsc_status measures_subset(ddsc_context *ctx, measures **out, const measures *m, int64_t n,
                            const int64_t *items)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    int64_t *rows = NULL;
    TRY(MEM_NEW(ctx, rows, n));
    for (int64_t i = 0; i < n; i++) {
        if (items[i] < 0 || items[i] >= m->n)
            TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "items[%lld] is %lld; there are %lld items",
                         (long long)i, (long long)items[i], (long long)m->n));
        rows[i] = m->row[items[i]];
    }
    TRY(copy_items(ctx, &p, m, n, items));
    TRY(copy_names(ctx, &p, m, n, rows));
    TRY(measures_build(ctx, out, &p, DDSC_EMPTY_ERROR, "subset"));
done:
    measures_parts_free(ctx, &p);
    mem_free(ctx, rows);
    return status;
}

ddsc_status ddsc_measures_copy_subset(ddsc_context *ctx, ddsc_measures **copy,
                                      const ddsc_measures *m, int64_t n_items, const int64_t *items)
{
    if (!ctx || !copy)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    *copy = NULL;
    if (!m || !items || n_items < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a subset needs measures and at least one item");
    return measures_subset(ctx, copy, m, n_items, items);
}

/* Which items of class c are drawn: a partial Fisher-Yates shuffle of the class's members. */
static ddsc_status draw_class(ddsc_context *ctx, uint8_t *drawn, const measures *m, int32_t c,
                              int64_t per_class, int64_t *member)
{
    int64_t n = 0;
    rng r = rng_make(ctx_seed(ctx), RNG_SUBSET, (uint64_t)c);
    for (int64_t i = 0; i < m->n; i++)
        if (m->label[m->row[i]] == c)
            member[n++] = i;
    if (n == 0)
        return DDSC_OK;
    if (n < per_class)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "class %d has %lld items, %lld were asked for",
                        (int)c, (long long)n, (long long)per_class);
    for (int64_t i = 0; i < per_class; i++) {
        int64_t j = i + rng_below(&r, n - i), t = member[i];
        member[i] = member[j];
        member[j] = t;
        drawn[member[i]] = 1;
    }
    return DDSC_OK;
}

ddsc_status ddsc_measures_copy_balanced(ddsc_context *ctx, ddsc_measures **copy,
                                        const ddsc_measures *m, int64_t per_class)
{
    ddsc_status status = DDSC_OK;
    uint8_t *drawn = NULL;
    int64_t *member = NULL, n = 0;
    int32_t n_classes = 0;
    if (!ctx || !copy)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    *copy = NULL;
    if (!m || per_class < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "per_class is %lld", (long long)per_class);
    if (!m->label)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "a balanced subset needs labels and there are none");
    TRY(MEM_ZERO(ctx, drawn, m->n));
    TRY(MEM_NEW(ctx, member, m->n));
    for (int64_t i = 0; i < m->n_rows; i++)
        n_classes = BASE_MAX(n_classes, m->label[i] == INT32_MAX ? 0 : m->label[i] + 1);
    for (int32_t c = 0; c < n_classes; c++)
        TRY(draw_class(ctx, drawn, m, c, per_class, member));
    for (int64_t i = 0; i < m->n; i++)
        if (drawn[i])
            member[n++] = i;
    if (n == 0)
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT, "a balanced subset needs labels of 0 or more"));
    TRY(measures_subset(ctx, copy, m, n, member));
done:
    mem_free(ctx, drawn);
    mem_free(ctx, member);
    return status;
}

static ddsc_status copy_block(ddsc_context *ctx, void *out, const void *from, int64_t n,
                              size_t size)
{
    void *block = NULL;
    if (from) {
        CHECK(mem_get(ctx, &block, n, size));
        memcpy(block, from, (size_t)n * size);
    }
    memcpy(out, &block, sizeof block);
    return DDSC_OK;
}

ddsc_status measures_copy_names(ddsc_context *ctx, measures *to, const measures *from)
{
    ddsc_status status = DDSC_OK;
    measures fresh = {.n_rows = from->n_rows, .n_names = from->n_names};
    int64_t n = from->n_rows;
    TRY(copy_block(ctx, &fresh.row, from->row, from->n, sizeof *from->row));
    TRY(copy_block(ctx, &fresh.label, from->label, n, sizeof *from->label));
    TRY(copy_block(ctx, &fresh.number_ids, from->number_ids, n, NUMBER_ID_SIZE));
    if (from->id_text)
        TRY(copy_strings(ctx, &fresh.id_text, &fresh.id_at, from->id_text, from->id_at, n, NULL));
    if (from->name_text)
        TRY(copy_strings(ctx, &fresh.name_text, &fresh.name_at, from->name_text, from->name_at,
                         from->n_names, NULL));
    measures_swap_names(to, &fresh);
done:
    measures_free_names(ctx, &fresh);
    return status;
}

static ddsc_status copy_all(ddsc_context *ctx, measures **copy, const measures *m)
{
    ddsc_status status = DDSC_OK;
    int64_t *items = NULL;
    TRY(MEM_NEW(ctx, items, m->n));
    for (int64_t i = 0; i < m->n; i++)
        items[i] = i;
    TRY(measures_subset(ctx, copy, m, m->n, items));
done:
    mem_free(ctx, items);
    return status;
}

/* Other labels, which have no names. */
static ddsc_status replace_labels(ddsc_context *ctx, measures *m, const int32_t *labels)
{
    mem_free(ctx, m->label);
    mem_free(ctx, m->name_text);
    mem_free(ctx, m->name_at);
    m->label = NULL;
    m->name_text = NULL;
    m->name_at = NULL;
    m->n_names = 0;
    return copy_block(ctx, &m->label, labels, m->n_rows, sizeof *labels);
}

ddsc_status measures_copy_items(ddsc_context *ctx, measures **copy, const measures *m,
                                const int32_t *item_labels)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    TRY(copy_all(ctx, &made, m));
    TRY(replace_labels(ctx, made, item_labels));
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}

ddsc_status ddsc_measures_copy_labelled(ddsc_context *ctx, ddsc_measures **copy,
                                        const ddsc_measures *m, const int32_t *labels)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    if (!ctx || !copy)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    *copy = NULL;
    if (!m)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "measures is NULL");
    TRY(copy_all(ctx, &made, m));
    TRY(measures_copy_names(ctx, made, m));
    TRY(replace_labels(ctx, made, labels));
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}

static ddsc_status replace_ids(ddsc_context *ctx, measures *m, const char *const *ids)
{
    ddsc_status status = DDSC_OK;
    int64_t *at = NULL;
    char *text = NULL;
    TRY(MEM_NEW(ctx, at, m->n_rows + 1));
    at[0] = 0;
    for (int64_t i = 0; i < m->n_rows; i++) {
        if (!ids[i])
            TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "ids[%lld] is NULL", (long long)i));
        at[i + 1] = at[i] + (int64_t)strlen(ids[i]) + 1;
    }
    TRY(MEM_NEW(ctx, text, at[m->n_rows]));
    for (int64_t i = 0; i < m->n_rows; i++)
        strcpy(text + at[i], ids[i]);
    mem_free(ctx, m->id_text);
    mem_free(ctx, m->id_at);
    m->id_text = text;
    m->id_at = at;
    text = NULL;
    at = NULL;
done:
    mem_free(ctx, text);
    mem_free(ctx, at);
    return status;
}

ddsc_status ddsc_measures_copy_named(ddsc_context *ctx, ddsc_measures **copy,
                                     const ddsc_measures *m, const char *const *ids)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    if (!ctx || !copy)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    *copy = NULL;
    if (!m || !ids)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s is NULL", m ? "ids" : "measures");
    TRY(copy_all(ctx, &made, m));
    TRY(measures_copy_names(ctx, made, m));
    TRY(replace_ids(ctx, made, ids));
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}

/* As many draws with replacement by weight as there are points; what a point got is its weight. */
static void draw_points(double *weight, int64_t n, double *upto, rng *r)
{
    double sum = 0;
    for (int64_t p = 0; p < n; p++) {
        upto[p] = sum += weight[p];
        weight[p] = 0;
    }
    for (int64_t draw = 0; draw < n; draw++) {
        double u = rng_uniform(r) * sum;
        int64_t low = 0, high = n - 1;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (u < upto[middle])
                high = middle;
            else
                low = middle + 1;
        }
        weight[low]++;
    }
}

ddsc_status measures_resample(ddsc_context *ctx, measures **out, const measures *m, uint64_t round)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    measures *made = NULL;
    int64_t *items = NULL;
    double *upto = NULL;
    TRY(MEM_NEW(ctx, items, m->n));
    TRY(MEM_NEW(ctx, upto, measures_largest_item(m)));
    for (int64_t i = 0; i < m->n; i++)
        items[i] = i;
    TRY(copy_items(ctx, &p, m, m->n, items));
    for (int64_t i = 0; i < m->n; i++) {
        rng r = rng_make(ctx_seed(ctx), RNG_RESAMPLE, round << 32 | (uint64_t)i);
        draw_points(p.weight + p.offset[i], p.offset[i + 1] - p.offset[i], upto, &r);
    }
    TRY(measures_build(ctx, &made, &p, DDSC_EMPTY_ERROR, "resample"));
    TRY(measures_copy_names(ctx, made, m));
    *out = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    measures_parts_free(ctx, &p);
    mem_free(ctx, upto);
    mem_free(ctx, items);
    return status;
}

ddsc_status ddsc_measures_copy_resampled(ddsc_context *ctx, ddsc_measures **copy,
                                         const ddsc_measures *m, int64_t round)
{
    if (!ctx || !copy)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    *copy = NULL;
    if (!m)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "measures is NULL");
    if (round < 0 || round > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "round = %lld: must lie in 0 .. %d",
                        (long long)round, INT32_MAX);
    return measures_resample(ctx, copy, m, (uint64_t)round);
}
