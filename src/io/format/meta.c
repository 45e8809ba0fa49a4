/* Reads metadata columns (such as class, batch or age) from a separate table, whose rows are
 * matched to items by id. Values remain text. Like titles, they are converted to one line and
 * truncated. */
#include <stdio.h>
#include <string.h>

#include "io/format/format.h"

enum { META_IDS = 16 };

typedef struct meta_reader {
    ddsc_context *ctx;
    io_stream *s;
    field_list field;
    char delimiter, *tidy;
    int64_t tidy_capacity, n_fields, n_kept, n_rows;
    int64_t id[META_IDS]; /* columns whose texts, joined with "/", form the id */
    int n_ids;
    char *joined;
    int64_t joined_capacity;
    text_table ids, names;
    text_rows values; /* n_kept per row */
} meta_reader;

static int64_t meta_find(const meta_reader *r, const char *name, size_t n)
{
    for (int64_t k = 0; k < r->n_fields; k++)
        if (strlen(r->field.text[k]) == n && memcmp(r->field.text[k], name, n) == 0)
            return k;
    return -1;
}

/* Finds the columns that form the ids of the items. If any of these columns is missing, uses the
 * column `id` instead. */
static void meta_find_ids(meta_reader *r, const char *id_columns)
{
    for (const char *at = id_columns; at && r->n_ids < META_IDS; at++) {
        size_t n = strcspn(at, ",");
        int64_t found = meta_find(r, at, n);
        if (found < 0) {
            r->n_ids = 0;
            break;
        }
        r->id[r->n_ids++] = found;
        at += n;
        if (*at == '\0')
            return;
    }
    r->id[0] = meta_find(r, "id", 2);
    r->n_ids = r->id[0] >= 0;
}

static bool is_meta_id(const meta_reader *r, int64_t column)
{
    for (int k = 0; k < r->n_ids; k++)
        if (r->id[k] == column)
            return true;
    return false;
}

static ddsc_status meta_join_id(meta_reader *r, int64_t *n)
{
    *n = 0;
    for (int k = 0; k < r->n_ids; k++) {
        const char *part = r->field.text[r->id[k]];
        int64_t more = (int64_t)strlen(part);
        CHECK(MEM_RESERVE(r->ctx, r->joined, &r->joined_capacity, *n + more + 2));
        if (k > 0)
            r->joined[(*n)++] = '/';
        memcpy(r->joined + *n, part, (size_t)more + 1);
        *n += more;
    }
    return DDSC_OK;
}

static ddsc_status meta_header(meta_reader *r, const char *id_columns)
{
    char *line, list[400] = "";
    size_t at = 0;
    int64_t number;
    bool is_new;
    CHECK(stream_text_line(r->s, &line, 0));
    if (!line)
        return stream_fail(r->s, "contains no lines");
    r->delimiter = fields_delimiter(line);
    CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
    r->n_fields = r->field.n;
    meta_find_ids(r, id_columns);
    for (int64_t k = 0; k < r->n_fields; k++) {
        const char *name = r->field.text[k];
        if (at < sizeof list)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "", QUOTE(name));
    }
    if (r->n_ids == 0)
        return stream_fail_line(r->s,
                                ": the table has neither a column \"id\" nor all id columns of "
                                "the items (--id); its columns are: %s",
                                list);
    for (int64_t k = 0; k < r->n_fields; k++) {
        if (is_meta_id(r, k))
            continue;
        CHECK(text_table_add(r->ctx, &r->names, r->field.text[k], strlen(r->field.text[k]), &number,
                             &is_new));
        if (!is_new)
            return stream_fail_line(r->s, ": two columns are named \"%s\"",
                                    QUOTE(r->field.text[k]));
    }
    r->n_kept = r->names.n;
    return r->n_kept > 0 ? DDSC_OK : stream_fail(r->s, "has no columns except the ids");
}

static ddsc_status meta_row(meta_reader *r)
{
    int64_t number, length;
    bool is_new;
    if (r->field.n != r->n_fields)
        return stream_fail_line(r->s, " has %lld fields, but the header has %lld",
                                (long long)r->field.n, (long long)r->n_fields);
    CHECK(meta_join_id(r, &length));
    CHECK(text_table_add(r->ctx, &r->ids, r->joined, (size_t)length, &number, &is_new));
    if (!is_new)
        return stream_fail_line(r->s,
                                ": the id \"%s\" occurs twice; each item may have only one row",
                                QUOTE(r->joined));
    for (int64_t k = 0, c = 0; k < r->n_fields; k++) {
        if (is_meta_id(r, k))
            continue;
        const char *text = r->field.text[k];
        CHECK(MEM_RESERVE(r->ctx, r->tidy, &r->tidy_capacity, 2 * (int64_t)strlen(text) + 1));
        size_t n = text_tidy(r->tidy, text, DDSC_TITLE_MAX);
        CHECK(text_rows_add(&r->values, r->n_rows * r->n_kept + c++, r->tidy, n));
    }
    r->n_rows++;
    return DDSC_OK;
}

static ddsc_status meta_table(meta_reader *r, const char *id_columns)
{
    char *line;
    CHECK(meta_header(r, id_columns));
    for (;;) {
        CHECK(stream_text_line(r->s, &line, r->delimiter));
        if (!line)
            return r->n_rows > 0 ? DDSC_OK : stream_fail(r->s, "has a header but no rows");
        CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
        CHECK(meta_row(r));
    }
}

/* For each item, finds its row in the table, or -1, and counts the items without a row. */
static ddsc_status meta_match(meta_reader *r, const meta_target *to, int64_t *row)
{
    int64_t missing = 0;
    char number[NUMBER_TEXT];
    for (int64_t i = 0; i < to->n; i++) {
        snprintf(number, sizeof number, "%lld", (long long)i);
        const char *id = to->id_text ? to->id_text + to->id_at[i] : number;
        row[i] = text_table_find(&r->ids, id, strlen(id));
        missing += row[i] < 0;
    }
    if (missing == to->n)
        return stream_fail(r->s, "none of its ids (such as \"%s\") matches an id of %s",
                           QUOTE(text_table_get(&r->ids, 0)), to->where);
    if (missing > 0)
        ctx_warn(r->ctx, "%s has no row for %lld of the %lld items, so their values are missing",
                 stream_name(r->s), (long long)missing, (long long)to->n);
    return DDSC_OK;
}

/* Appends the columns to the existing metadata columns of the items. Duplicate names are an
 * error. */
static ddsc_status meta_join(meta_reader *r, const meta_target *to)
{
    ddsc_status status = DDSC_OK;
    int64_t old = to->names->n, width = old + r->n_kept, *row = NULL;
    const char **value = NULL, **name = NULL;
    measures_texts names = {0}, values = {0};
    TRY(MEM_NEW(r->ctx, row, to->n));
    TRY(MEM_NEW(r->ctx, value, to->n * width));
    TRY(MEM_NEW(r->ctx, name, width));
    TRY(meta_match(r, to, row));
    for (int64_t k = 0; k < width; k++) {
        name[k] = k < old ? texts_get(to->names, k) : text_table_get(&r->names, k - old);
        if (k < old && text_table_find(&r->names, name[k], strlen(name[k])) >= 0)
            TRY(stream_fail(
                r->s,
                "the items already have a metadata column \"%s\"; remove or rename one of the two",
                QUOTE(name[k])));
    }
    for (int64_t i = 0; i < to->n * width; i++) {
        int64_t item = i / width, k = i % width;
        value[i] = k < old         ? texts_get(to->values, item * old + k)
                   : row[item] < 0 ? ""
                                   : r->values.text + r->values.at[row[item] * r->n_kept + k - old];
    }
    TRY(texts_pack(r->ctx, &names, width, name));
    TRY(texts_pack(r->ctx, &values, to->n * width, value));
    texts_free(r->ctx, to->names);
    texts_free(r->ctx, to->values);
    *to->names = names;
    *to->values = values;
    names = (measures_texts){0};
done:
    texts_free(r->ctx, &names);
    MEM_FREE(r->ctx, row, value, name);
    return status;
}

ddsc_status io_read_meta_stream(ddsc_context *ctx, const meta_target *to, io_stream *s,
                                const char *id_columns)
{
    ddsc_status status = DDSC_OK;
    meta_reader r = {.ctx = ctx, .s = s, .values = {.ctx = ctx}};
    TRY(meta_table(&r, id_columns));
    TRY(meta_join(&r, to));
done:
    fields_free(ctx, &r.field);
    text_table_free(ctx, &r.ids);
    text_table_free(ctx, &r.names);
    MEM_FREE(ctx, r.tidy, r.joined, r.values.text, r.values.at);
    return status;
}

ddsc_status io_read_meta(ddsc_context *ctx, const meta_target *to, const char *path,
                         const char *id_columns, int64_t max_bytes)
{
    io_stream *s = NULL;
    CHECK(stream_open(ctx, &s, path, max_bytes));
    ddsc_status status = io_read_meta_stream(ctx, to, s, id_columns);
    stream_close(s);
    return status;
}

ddsc_status ddsc_measures_read_meta(ddsc_context *ctx, ddsc_measures **copy, const ddsc_measures *m,
                                    const char *path, const char *id_columns)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    CHECK(ctx_enter_new(ctx, copy));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_need(ctx, path, "path"));
    TRY(measures_copy(ctx, &made, m));
    meta_target to = {made->n_rows,      made->id_text, made->id_at,
                      &made->meta_names, &made->meta,   "the items"};
    TRY(io_read_meta(ctx, &to, path, id_columns, STREAM_DEFAULT_MAX_BYTES));
    *copy = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    return status;
}
