/* The names of the coordinates, support points and items of a set. */
#include <string.h>

#include "base/text.h"
#include "data/measures.h"

ddsc_status texts_copy(ddsc_context *ctx, measures_texts *to, const measures_texts *from)
{
    ddsc_status status = DDSC_OK;
    measures_texts fresh = {.n = from->n};
    if (from->n == 0)
        return DDSC_OK;
    TRY(MEM_COPY(ctx, fresh.text, from->text, from->at[from->n]));
    TRY(MEM_COPY(ctx, fresh.at, from->at, from->n + 1));
    *to = fresh;
    fresh = (measures_texts){0};
done:
    texts_free(ctx, &fresh);
    return status;
}

ddsc_status texts_pack(ddsc_context *ctx, measures_texts *to, int64_t n, const char *const *strings)
{
    ddsc_status status = DDSC_OK;
    measures_texts fresh = {.n = n};
    TRY(MEM_NEW(ctx, fresh.at, n + 1));
    fresh.at[0] = 0;
    for (int64_t i = 0; i < n; i++)
        fresh.at[i + 1] = fresh.at[i] + (int64_t)strlen(strings[i]) + 1;
    TRY(MEM_NEW(ctx, fresh.text, fresh.at[n]));
    for (int64_t i = 0; i < n; i++)
        strcpy(fresh.text + fresh.at[i], strings[i]);
    *to = fresh;
    fresh = (measures_texts){0};
done:
    texts_free(ctx, &fresh);
    return status;
}

ddsc_status texts_append(ddsc_context *ctx, measures_texts *a, int64_t n_a, const measures_texts *b,
                         int64_t n_b)
{
    ddsc_status status = DDSC_OK;
    const char **string = NULL;
    measures_texts both = {0};
    if (a->n == 0 && b->n == 0)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, string, n_a + n_b));
    for (int64_t i = 0; i < n_a + n_b; i++)
        string[i] = i < n_a ? texts_get(a, i) : texts_get(b, i - n_a);
    TRY(texts_pack(ctx, &both, n_a + n_b, string));
    texts_free(ctx, a);
    *a = both;
done:
    mem_free(ctx, string);
    return status;
}

ddsc_status texts_pick(ddsc_context *ctx, measures_texts *to, const measures_texts *from,
                       int64_t width, int64_t n, const int64_t *items, const int64_t *row)
{
    ddsc_status status = DDSC_OK;
    const char **string = NULL;
    if (from->n == 0)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, string, n * width));
    for (int64_t i = 0; i < n * width; i++) {
        int64_t item = items ? items[i / width] : i / width;
        string[i] = texts_get(from, row[item] * width + i % width);
    }
    TRY(texts_pack(ctx, to, n * width, string));
done:
    mem_free(ctx, string);
    return status;
}

bool texts_equal(const measures_texts *a, const measures_texts *b)
{
    if (a->n != b->n)
        return false;
    for (int64_t i = 0; i < a->n; i++)
        if (strcmp(texts_get(a, i), texts_get(b, i)) != 0)
            return false;
    return true;
}

void texts_free(ddsc_context *ctx, measures_texts *t)
{
    MEM_FREE(ctx, t->text, t->at);
    *t = (measures_texts){0};
}

/* ---- public ---- */

static const char *name_or_null(const measures_texts *t, int64_t i)
{
    return i >= 0 && i < t->n ? t->text + t->at[i] : NULL;
}

const char *ddsc_measures_get_coordinate_name(const ddsc_measures *m, int64_t coordinate)
{
    return m ? name_or_null(&m->coordinates, coordinate) : NULL;
}

const char *ddsc_measures_get_point_name(const ddsc_measures *m, int64_t point)
{
    return m ? name_or_null(&m->points, point) : NULL;
}

bool measures_has_types(const measures *m)
{
    enum { LOOKED_AT = 2000 };
    ddsc_status status = DDSC_OK;
    text_table names = {0};
    int64_t number, n = BASE_MIN(m->points.n, LOOKED_AT), n_joined = 0;
    bool is_new;
    for (int64_t k = 0; k < n && status >= 0; k++) {
        const char *name = texts_get(&m->points, (int64_t)((double)k * (double)m->v / (double)n));
        n_joined += strstr(name, " + ") != NULL;
        status = text_table_add(m->ctx, &names, name, strlen(name), &number, &is_new);
    }
    /* Documents with merged points also repeat names, but many of these names consist of several
     * words. Cells of different types rarely have equal points, so few of their names are
     * joined. */
    bool shared = n > 3 && status >= 0 && 2 * names.n <= n && 20 * n_joined <= n;
    text_table_free(m->ctx, &names);
    return shared;
}

int ddsc_measures_has_types(const ddsc_measures *m)
{
    return m && measures_has_types(m);
}

const char *ddsc_measures_get_title(const ddsc_measures *m, int64_t row)
{
    return m ? name_or_null(&m->titles, row) : NULL;
}

const char *ddsc_measures_get_phrase(const ddsc_measures *m, int64_t phrase)
{
    return m ? name_or_null(&m->words.phrases, phrase) : NULL;
}

const char *ddsc_measures_get_meta_name(const ddsc_measures *m, int64_t column)
{
    return m ? name_or_null(&m->meta_names, column) : NULL;
}

const char *ddsc_measures_get_meta(const ddsc_measures *m, int64_t row, int64_t column)
{
    bool there = m && row >= 0 && row < m->n_rows && column >= 0 && column < m->meta_names.n;
    return there ? texts_get(&m->meta, row * m->meta_names.n + column) : "";
}

ddsc_status ddsc_measures_copy_private(ddsc_context *ctx, ddsc_measures **copy,
                                       const ddsc_measures *m)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    TRY(measures_copy(ctx, &made, m));
    texts_free(ctx, &made->points);
    texts_free(ctx, &made->titles);
    texts_free(ctx, &made->meta_names);
    texts_free(ctx, &made->meta);
    measures_words_free(ctx, &made->words);
    texts_free(ctx, &made->counts.words);
    texts_free(ctx, &made->recipe.batches);
    MEM_FREE(ctx, made->name_text, made->name_at);
    made->name_text = NULL;
    made->name_at = NULL;
    made->n_names = 0;
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}

static ddsc_status rename_all(ddsc_context *ctx, measures_texts *t, int64_t n,
                              const char *const *names, const char *what)
{
    measures_texts fresh = {0};
    for (int64_t i = 0; names && i < n; i++)
        if (!names[i])
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s[%lld] is NULL", what, (long long)i);
    if (!names)
        return DDSC_OK;
    CHECK(texts_pack(ctx, &fresh, n, names));
    texts_free(ctx, t);
    *t = fresh;
    return DDSC_OK;
}

ddsc_status ddsc_measures_copy_described(ddsc_context *ctx, ddsc_measures **copy,
                                         const ddsc_measures *m, const char *const *coordinates,
                                         const char *const *points, const char *const *titles)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    TRY(measures_copy(ctx, &made, m));
    TRY(rename_all(ctx, &made->coordinates, made->d, coordinates, "coordinates"));
    TRY(rename_all(ctx, &made->points, made->v, points, "points"));
    TRY(rename_all(ctx, &made->titles, made->n_rows, titles, "titles"));
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}

ddsc_status ddsc_measures_copy_about(ddsc_context *ctx, ddsc_measures **copy,
                                     const ddsc_measures *m, int64_t n_columns,
                                     const char *const *names, const char *const *values)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_check(ctx, n_columns >= 0 && n_columns <= INT32_MAX, "n_columns", (double)n_columns,
                    "0 .. 2147483647"));
    if (n_columns > 0 && (!names || !values))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "columns need names and values");
    for (int64_t a = 0; a < n_columns; a++)
        for (int64_t b = 0; b < a; b++)
            if (names[a] && names[b] && strcmp(names[a], names[b]) == 0)
                return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "two columns have the name \"%.100s\"",
                                names[a]);
    TRY(measures_copy(ctx, &made, m));
    texts_free(ctx, &made->meta_names);
    texts_free(ctx, &made->meta);
    if (n_columns > 0) {
        TRY(rename_all(ctx, &made->meta_names, n_columns, names, "names"));
        TRY(rename_all(ctx, &made->meta, made->n_rows * n_columns, values, "values"));
    }
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}
