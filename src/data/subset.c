/* Creates copies of sets with a subset of the items, other labels or ids, or resampled points. */
#include <string.h>

#include "data/measures.h"

/* Packs strings into one array, with their offsets. */
static ddsc_status pack_strings(ddsc_context *ctx, char **text, int64_t **at, int64_t n,
                                const char *const *strings)
{
    measures_texts packed = {0};
    CHECK(texts_pack(ctx, &packed, n, strings));
    *text = packed.text;
    *at = packed.at;
    return DDSC_OK;
}

static int64_t nth(const int64_t *items, int64_t i)
{
    return items ? items[i] : i;
}

/* Copies the labels, names and ids of items. If there are no ids, the original row number of each
 * item becomes its id, so that items of a subset can be identified. */
static ddsc_status copy_item_names(ddsc_context *ctx, measures_parts *p, const measures *m,
                                   int64_t n, const int64_t *items)
{
    ddsc_status status = DDSC_OK;
    const char **id = NULL, **title = NULL;
    TRY(MEM_NEW(ctx, id, n));
    TRY(MEM_NEW(ctx, title, n));
    if (m->label)
        TRY(MEM_NEW(ctx, p->label, n));
    for (int64_t i = 0; i < n; i++) {
        int64_t row = m->row[nth(items, i)];
        id[i] = ddsc_measures_get_id(m, row);
        title[i] = texts_get(&m->titles, row);
        if (m->label)
            p->label[i] = m->label[row];
    }
    TRY(pack_strings(ctx, &p->id_text, &p->id_at, n, id));
    p->n_names = m->n_names;
    TRY(MEM_COPY(ctx, p->name_at, m->name_at, m->n_names + 1));
    TRY(MEM_COPY(ctx, p->name_text, m->name_text, m->name_text ? m->name_at[m->n_names] : 0));
    if (m->titles.n > 0)
        TRY(texts_pack(ctx, &p->titles, n, title));
    TRY(texts_pick(ctx, &p->meta, &m->meta, m->meta_names.n, n, items, m->row));
    TRY(texts_copy(ctx, &p->meta_names, &m->meta_names));
    TRY(texts_copy(ctx, &p->coordinates, &m->coordinates));
    TRY(measures_words_copy(ctx, &p->words, &m->words));
    TRY(measures_counts_pick(ctx, &p->counts, &m->counts, n, items, m->row));
    TRY(measures_recipe_copy(ctx, &p->recipe, &m->recipe));
done:
    MEM_FREE(ctx, id, title);
    return status;
}

/* Copies only the support rows that the entries use, so that a small subset of a large set is
 * small, and renumbers the entries. */
static ddsc_status copy_used_rows(ddsc_context *ctx, measures_parts *p, const measures *m)
{
    ddsc_status status = DDSC_OK;
    int32_t *row = NULL;
    int64_t v = 0;
    TRY(MEM_ZERO(ctx, row, m->v));
    for (int64_t e = 0; e < p->nnz; e++)
        row[p->index[e]] = 1;
    for (int64_t r = 0; r < m->v; r++)
        v += row[r];
    TRY(MEM_NEW(ctx, p->support, v * m->d));
    p->v = 0;
    for (int64_t r = 0; r < m->v; r++) {
        if (!row[r])
            continue;
        memcpy(p->support + p->v * m->d, measures_point(m, (int32_t)r),
               (size_t)m->d * sizeof *p->support);
        row[r] = (int32_t)p->v++;
    }
    for (int64_t e = 0; e < p->nnz; e++)
        p->index[e] = row[p->index[e]];
done:
    mem_free(ctx, row);
    return status;
}

static ddsc_status copy_entries(ddsc_context *ctx, measures_parts *p, const measures *m, int64_t n,
                                const int64_t *items)
{
    p->n = n;
    p->v = m->v;
    p->d = m->d;
    p->points_distinct = true;
    CHECK(MEM_NEW(ctx, p->offset, n + 1));
    p->offset[0] = 0;
    for (int64_t i = 0; i < n; i++)
        p->offset[i + 1] = p->offset[i] + measures_item(m, nth(items, i)).n;
    p->nnz = p->offset[n];
    CHECK(MEM_NEW(ctx, p->index, p->nnz));
    CHECK(MEM_NEW(ctx, p->weight, p->nnz));
    for (int64_t i = 0; i < n; i++) {
        item_view item = measures_item(m, nth(items, i));
        memcpy(p->index + p->offset[i], item.index, (size_t)item.n * sizeof *p->index);
        memcpy(p->weight + p->offset[i], item.weight, (size_t)item.n * sizeof *p->weight);
    }
    if (items && m->points.n == 0) /* otherwise measures_build drops unused rows and their names */
        return copy_used_rows(ctx, p, m);
    CHECK(MEM_COPY(ctx, p->support, m->support, m->v * m->d));
    return texts_copy(ctx, &p->points, &m->points);
}

ddsc_status measures_take_parts(ddsc_context *ctx, measures_parts *p, const measures *m, int64_t n,
                                const int64_t *items)
{
    CHECK(copy_entries(ctx, p, m, n, items));
    return copy_item_names(ctx, p, m, n, items);
}

ddsc_status measures_subset(ddsc_context *ctx, measures **out, const measures *m, int64_t n,
                            const int64_t *items)
{
    ddsc_status status = DDSC_OK;
    measures_parts p = {0};
    for (int64_t i = 0; items && i < n; i++)
        if (items[i] < 0 || items[i] >= m->n)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "items[%lld] is %lld, but there are only %lld items", (long long)i,
                            (long long)items[i], (long long)m->n);
    TRY(measures_take_parts(ctx, &p, m, n, items));
    TRY(measures_build(ctx, out, &p, DDSC_EMPTY_ERROR, "subset"));
done:
    measures_parts_free(ctx, &p);
    return status;
}

ddsc_status ddsc_measures_copy_subset(ddsc_context *ctx, ddsc_measures **copy,
                                      const ddsc_measures *m, int64_t n_items, const int64_t *items)
{
    CHECK(ctx_enter_new(ctx, copy));
    if (!m || !items || n_items < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "a subset requires measures and at least one item");
    return measures_subset(ctx, copy, m, n_items, items);
}

/* Draws items of class c with a partial Fisher-Yates shuffle of its members. */
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
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "class %d has %lld items, but %lld were requested",
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
    CHECK(ctx_enter_new(ctx, copy));
    if (!m || per_class < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "per_class is %lld; it must be at least 1",
                        (long long)per_class);
    if (!m->label)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "a balanced subset requires labels, but the set has none");
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
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                     "a balanced subset requires labels that are not negative"));
    TRY(measures_subset(ctx, copy, m, n, member));
done:
    MEM_FREE(ctx, drawn, member);
    return status;
}

ddsc_status measures_copy_names(ddsc_context *ctx, measures *to, const measures *from)
{
    ddsc_status status = DDSC_OK;
    measures fresh = {.n_rows = from->n_rows, .n_names = from->n_names};
    int64_t n = from->n_rows, n_names = from->n_names;
    TRY(MEM_COPY(ctx, fresh.row, from->row, from->n));
    TRY(MEM_COPY(ctx, fresh.label, from->label, n));
    TRY(MEM_COPY(ctx, fresh.number_ids, from->number_ids, n * NUMBER_ID_SIZE));
    TRY(MEM_COPY(ctx, fresh.id_at, from->id_at, n + 1));
    TRY(MEM_COPY(ctx, fresh.id_text, from->id_text, from->id_at ? from->id_at[n] : 0));
    TRY(MEM_COPY(ctx, fresh.name_at, from->name_at, n_names + 1));
    TRY(MEM_COPY(ctx, fresh.name_text, from->name_text,
                 from->name_at ? from->name_at[n_names] : 0));
    TRY(texts_copy(ctx, &fresh.coordinates, &from->coordinates));
    TRY(texts_copy(ctx, &fresh.titles, &from->titles));
    TRY(texts_copy(ctx, &fresh.meta_names, &from->meta_names));
    TRY(texts_copy(ctx, &fresh.meta, &from->meta));
    TRY(measures_words_copy(ctx, &fresh.words, &from->words));
    TRY(measures_counts_copy(ctx, &fresh.counts, &from->counts));
    TRY(measures_recipe_copy(ctx, &fresh.recipe, &from->recipe));
    measures_swap_names(to, &fresh);
done:
    measures_free_names(ctx, &fresh);
    return status;
}

/* Replaces the labels. The new labels have no names. */
static ddsc_status replace_labels(ddsc_context *ctx, measures *m, const int32_t *labels)
{
    MEM_FREE(ctx, m->label, m->name_text, m->name_at);
    m->label = NULL;
    m->name_text = NULL;
    m->name_at = NULL;
    m->n_names = 0;
    return MEM_COPY(ctx, m->label, labels, m->n_rows);
}

static ddsc_status replace_ids(ddsc_context *ctx, measures *m, const char *const *ids)
{
    for (int64_t i = 0; i < m->n_rows; i++)
        if (!ids[i])
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "ids[%lld] is NULL", (long long)i);
    MEM_FREE(ctx, m->id_text, m->id_at);
    m->id_text = NULL;
    m->id_at = NULL;
    return pack_strings(ctx, &m->id_text, &m->id_at, m->n_rows, ids);
}

ddsc_status measures_copy(ddsc_context *ctx, measures **out, const measures *m)
{
    CHECK(measures_subset(ctx, out, m, m->n, NULL));
    ddsc_status status = measures_copy_names(ctx, *out, m);
    if (status < 0) {
        ddsc_measures_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Copies all items with other ids or, if `ids` is NULL, with other labels. If `names` is true, all
 * names are copied. */
static ddsc_status copy_changed(ddsc_context *ctx, measures **copy, const measures *m, bool names,
                                const char *const *ids, const int32_t *labels)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    TRY(names ? measures_copy(ctx, &made, m) : measures_subset(ctx, &made, m, m->n, NULL));
    TRY(ids ? replace_ids(ctx, made, ids) : replace_labels(ctx, made, labels));
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}

ddsc_status measures_copy_items(ddsc_context *ctx, measures **copy, const measures *m,
                                const int32_t *item_labels)
{
    return copy_changed(ctx, copy, m, false, NULL, item_labels);
}

static ddsc_status copy_labeled(ddsc_context *ctx, measures **copy, const measures *m,
                                const int32_t *labels)
{
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    return copy_changed(ctx, copy, m, true, NULL, labels);
}

ddsc_status ddsc_measures_copy_labeled(ddsc_context *ctx, ddsc_measures **copy,
                                       const ddsc_measures *m, const int32_t *labels)
{
    return copy_labeled(ctx, copy, m, labels);
}

/* The spelling of version 0.2.0, for programs linked against that version. */
ddsc_status ddsc_measures_copy_labelled(ddsc_context *ctx, ddsc_measures **copy,
                                        const ddsc_measures *m, const int32_t *labels)
{
    return copy_labeled(ctx, copy, m, labels);
}

ddsc_status ddsc_measures_copy_named(ddsc_context *ctx, ddsc_measures **copy,
                                     const ddsc_measures *m, const char *const *ids)
{
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_need(ctx, ids, "ids"));
    return copy_changed(ctx, copy, m, true, ids, NULL);
}

/* Resamples the points of an item: n draws with replacement, with probabilities proportional to the
 * weights. The new weight of a point is the number of its draws. */
static void redraw_weights(double *weight, int64_t n, double *upto, rng *r)
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
    double *upto = NULL;
    TRY(MEM_NEW(ctx, upto, measures_largest_item(m)));
    TRY(copy_entries(ctx, &p, m, m->n, NULL));
    for (int64_t i = 0; i < m->n; i++) {
        rng r = rng_make(ctx_seed(ctx), RNG_RESAMPLE, round << 32 | (uint64_t)i);
        redraw_weights(p.weight + p.offset[i], p.offset[i + 1] - p.offset[i], upto, &r);
    }
    TRY(measures_build(ctx, &made, &p, DDSC_EMPTY_ERROR, "resample"));
    TRY(measures_copy_names(ctx, made, m));
    *out = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    measures_parts_free(ctx, &p);
    mem_free(ctx, upto);
    return status;
}

ddsc_status ddsc_measures_copy_resampled(ddsc_context *ctx, ddsc_measures **copy,
                                         const ddsc_measures *m, int64_t round)
{
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_check(ctx, round >= 0 && round <= INT32_MAX, "round", (double)round,
                    "0 .. 2147483647"));
    return measures_resample(ctx, copy, m, (uint64_t)round);
}
