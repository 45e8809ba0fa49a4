/* Joins the items of several files by appending supports, entries, ids and labels. */
#include "io/format/format.h"

#include <stdio.h>
#include <string.h>

static ddsc_status join_append(ddsc_context *ctx, void *to, int64_t n, const void *from,
                               int64_t more, size_t size)
{
    int64_t whole;
    if (!add_ok(n, more, &whole))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "the combined size of the files is too large");
    CHECK(mem_resize(ctx, to, whole, size));
    char *block;
    memcpy(&block, to, sizeof block);
    if (more > 0)
        memcpy(block + (size_t)n * size, from, (size_t)more * size);
    return DDSC_OK;
}

static bool same_support(const measures_parts *a, const measures_parts *b)
{
    return a->v == b->v &&
           memcmp(a->support, b->support, (size_t)(a->v * a->d) * sizeof *a->support) == 0;
}

static ddsc_status join_support(ddsc_context *ctx, measures_parts *a, measures_parts *b,
                                const char *where)
{
    bool own = !a->index && !b->index;
    if (a->v + b->v > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: more than %d support points in total", where,
                        INT32_MAX);
    if (!own) {
        CHECK(measures_parts_index(ctx, a));
        CHECK(measures_parts_index(ctx, b));
        if (same_support(a, b) && texts_equal(&a->points, &b->points))
            return DDSC_OK;
        for (int64_t e = 0; e < b->nnz; e++)
            b->index[e] += (int32_t)a->v;
    }
    CHECK(texts_append(ctx, &a->points, a->v, &b->points, b->v));
    CHECK(join_append(ctx, &a->support, a->v * a->d, b->support, b->v * b->d, sizeof *a->support));
    a->v += b->v;
    a->points_distinct = false;
    return DDSC_OK;
}

static ddsc_status join_entries(ddsc_context *ctx, measures_parts *a, measures_parts *b)
{
    if (a->weight || b->weight) {
        CHECK(measures_parts_weigh(ctx, a));
        CHECK(measures_parts_weigh(ctx, b));
        CHECK(join_append(ctx, &a->weight, a->nnz, b->weight, b->nnz, sizeof *a->weight));
    }
    if (a->index)
        CHECK(join_append(ctx, &a->index, a->nnz, b->index, b->nnz, sizeof *a->index));
    CHECK(join_append(ctx, &a->offset, a->n + 1, b->offset + 1, b->n, sizeof *a->offset));
    for (int64_t i = 1; i <= b->n; i++)
        a->offset[a->n + i] += a->nnz;
    return DDSC_OK;
}

/* ---- ids ---- */

/* Names the items "file:number", or "file" if the file has a single item. */
static ddsc_status make_ids(ddsc_context *ctx, measures_parts *p, const char *where)
{
    const char *base;
    size_t length;
    int64_t at = 0;
    files_base_name(where, &base, &length);
    if (text_count_chars(where) < 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: the file name is not valid UTF-8; rename the file", QUOTE(where));
    CHECK(mem_get(ctx, &p->id_text, p->n, length + NUMBER_TEXT));
    CHECK(MEM_NEW(ctx, p->id_at, p->n + 1));
    for (int64_t i = 0; i < p->n; i++) {
        p->id_at[i] = at;
        memcpy(p->id_text + at, base, length);
        at += (int64_t)length;
        if (p->n > 1)
            at += snprintf(p->id_text + at, NUMBER_TEXT, ":%lld", (long long)i);
        p->id_text[at++] = '\0';
    }
    p->id_at[p->n] = at;
    return DDSC_OK;
}

ddsc_status sets_prepare(ddsc_context *ctx, measures_parts *p, const char *where)
{
    for (int64_t e = 0; p->index && e < p->nnz; e++)
        if (p->index[e] < 0 || p->index[e] >= p->v)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "%s: entry %lld has index %d, but there are only %lld support points",
                            where, (long long)e, p->index[e], (long long)p->v);
    return p->id_text ? DDSC_OK : make_ids(ctx, p, where);
}

static ddsc_status join_ids(ddsc_context *ctx, measures_parts *a, measures_parts *b)
{
    int64_t before = a->id_at[a->n];
    CHECK(join_append(ctx, &a->id_text, before, b->id_text, b->id_at[b->n], 1));
    CHECK(join_append(ctx, &a->id_at, a->n + 1, b->id_at + 1, b->n, sizeof *a->id_at));
    for (int64_t i = 1; i <= b->n; i++)
        a->id_at[a->n + i] += before;
    return DDSC_OK;
}

/* ---- labels ---- */

static ddsc_status make_labels(ddsc_context *ctx, measures_parts *p)
{
    if (p->label)
        return DDSC_OK;
    ddsc_status status = MEM_NEW(ctx, p->label, p->n);
    for (int64_t i = 0; status >= 0 && i < p->n; i++)
        p->label[i] = -1;
    return status;
}

static ddsc_status add_names(ddsc_context *ctx, text_table *table, const measures_parts *p,
                             int32_t *code)
{
    for (int64_t k = 0; k < p->n_names; k++) {
        const char *name = p->name_text + p->name_at[k];
        int64_t number;
        bool is_new;
        CHECK(text_table_add(ctx, table, name, strlen(name), &number, &is_new));
        code[k] = (int32_t)number;
    }
    return DDSC_OK;
}

/* Merges the class names into one table. The names of b are renumbered. */
static ddsc_status join_names(ddsc_context *ctx, measures_parts *a, measures_parts *b)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    int32_t *code = NULL;
    TRY(MEM_NEW(ctx, code, BASE_MAX(a->n_names, b->n_names)));
    TRY(add_names(ctx, &table, a, code));
    TRY(add_names(ctx, &table, b, code));
    for (int64_t i = 0; i < b->n; i++)
        if (b->label[i] >= 0)
            b->label[i] = code[b->label[i]];
    MEM_FREE(ctx, a->name_text, a->name_at);
    a->name_text = table.text;
    a->name_at = table.at;
    a->n_names = table.n;
    table.text = NULL;
    table.at = NULL;
done:
    text_table_free(ctx, &table);
    mem_free(ctx, code);
    return status;
}

static ddsc_status join_labels(ddsc_context *ctx, measures_parts *a, measures_parts *b)
{
    if (!a->label && !b->label)
        return DDSC_OK;
    CHECK(make_labels(ctx, a));
    CHECK(make_labels(ctx, b));
    if (a->n_names > 0 || b->n_names > 0)
        CHECK(join_names(ctx, a, b));
    return join_append(ctx, &a->label, a->n, b->label, b->n, sizeof *a->label);
}

ddsc_status sets_check(ddsc_context *ctx, const measures_parts *a, const measures_parts *b,
                       const char *where)
{
    bool plain_a = a->label && a->n_names == 0, plain_b = b->label && b->n_names == 0;
    if (a->d != b->d)
        return ctx_fail(
            ctx, DDSC_ERROR_INPUT,
            "%s: its points have %lld coordinates, but those of the previous files have %lld",
            where, (long long)b->d, (long long)a->d);
    if (!measures_words_equal(&a->words, &b->words))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: its word vectors were not fitted together with those of the previous "
                        "files; process all documents in one ddsc text run",
                        where);
    if (!measures_recipe_equal(&a->recipe, &b->recipe))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: its items were transformed differently from those of the previous "
                        "files; transform all items together",
                        where);
    if (a->meta_names.n > 0 && b->meta_names.n > 0 && !texts_equal(&a->meta_names, &b->meta_names))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: its metadata columns differ from those of the previous files; all "
                        "files must have the same metadata columns",
                        where);
    if ((plain_a && b->n_names > 0) || (plain_b && a->n_names > 0))
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%s: its labels are %s, but those of the previous files are %s; use the "
                        "same kind in all files",
                        where, plain_b ? "numbers" : "names", plain_a ? "numbers" : "names");
    return DDSC_OK;
}

ddsc_status sets_join(ddsc_context *ctx, measures_parts *a, measures_parts *b, const char *where)
{
    ddsc_status status = DDSC_OK;
    TRY(sets_check(ctx, a, b, where));
    TRY(join_support(ctx, a, b, where));
    TRY(join_labels(ctx, a, b));
    TRY(texts_append(ctx, &a->titles, a->n, &b->titles, b->n));
    if (a->meta_names.n == 0)
        TRY(texts_copy(ctx, &a->meta_names, &b->meta_names));
    TRY(texts_append(ctx, &a->meta, a->n * a->meta_names.n, &b->meta, b->n * a->meta_names.n));
    if (a->coordinates.n == 0)
        TRY(texts_copy(ctx, &a->coordinates, &b->coordinates));
    TRY(measures_counts_append(ctx, &a->counts, &b->counts));
    TRY(join_ids(ctx, a, b));
    TRY(join_entries(ctx, a, b));
    a->n += b->n;
    a->nnz += b->nnz;
done:
    measures_parts_free(ctx, b);
    return status;
}
