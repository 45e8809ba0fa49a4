/* Columns about items (class, batch, age, file) from a table of their own, joined by id. Values stay
 * texts, put on one line and cut as titles are. */
#include <stdio.h>
#include <string.h>

#include "format/format.h"

enum { META_IDS = 16 };

typedef struct meta_reader {
    ddsc_context *ctx;
    io_stream *s;
    field_list field;
    char delimiter, *tidy;
    int64_t tidy_room, n_fields, n_kept, n_rows;
    int64_t id[META_IDS]; /* columns whose texts, joined by "/", are the id */
    int n_ids;
    char *joined;
    int64_t joined_room;
    text_table ids, names;
    text_rows values; /* row by row, n_kept each */
} meta_reader;

static int64_t meta_find(const meta_reader *r, const char *name, size_t n)
{
    for (int64_t k = 0; k < r->n_fields; k++)
        if (strlen(r->field.text[k]) == n && memcmp(r->field.text[k], name, n) == 0)
            return k;
    return -1;
}

/* The columns that the items' ids are made of, if all are there; else `id`. */
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
        CHECK(MEM_RESERVE(r->ctx, r->joined, &r->joined_room, *n + more + 2));
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
        return stream_fail(r->s, "holds no lines");
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
                                ": no column is called \"id\", or as the items' columns of ids "
                                "(--id); the columns are: %s",
                                list);
    for (int64_t k = 0; k < r->n_fields; k++) {
        if (is_meta_id(r, k))
            continue;
        CHECK(text_table_add(r->ctx, &r->names, r->field.text[k], strlen(r->field.text[k]), &number,
                             &is_new));
        if (!is_new)
            return stream_fail_line(r->s, ": two columns are called \"%s\"",
                                    QUOTE(r->field.text[k]));
    }
    r->n_kept = r->names.n;
    return r->n_kept > 0 ? DDSC_OK : stream_fail(r->s, "has no columns but the ids");
}

static ddsc_status meta_row(meta_reader *r)
{
    int64_t number, length;
    bool is_new;
    if (r->field.n != r->n_fields)
        return stream_fail_line(r->s, " has %lld fields, the header has %lld",
                                (long long)r->field.n, (long long)r->n_fields);
    CHECK(meta_join_id(r, &length));
    CHECK(text_table_add(r->ctx, &r->ids, r->joined, (size_t)length, &number, &is_new));
    if (!is_new)
        return stream_fail_line(r->s, ": the id \"%s\" was there before", QUOTE(r->joined));
    for (int64_t k = 0, c = 0; k < r->n_fields; k++) {
        if (is_meta_id(r, k))
            continue;
        const char *text = r->field.text[k];
        CHECK(MEM_RESERVE(r->ctx, r->tidy, &r->tidy_room, 2 * (int64_t)strlen(text) + 1));
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

/* The values of each item; those without a row are counted. */
static ddsc_status meta_join(meta_reader *r, measures_parts *p, const char *where)
{
    ddsc_status status = DDSC_OK;
    const char **value = NULL, **name = NULL;
    int64_t missing = 0;
    char number[NUMBER_TEXT];
    TRY(MEM_NEW(r->ctx, value, p->n * r->n_kept));
    TRY(MEM_NEW(r->ctx, name, r->n_kept));
    for (int64_t i = 0; i < p->n; i++) {
        snprintf(number, sizeof number, "%lld", (long long)i);
        const char *id = p->id_text ? p->id_text + p->id_at[i] : number;
        int64_t row = text_table_find(&r->ids, id, strlen(id));
        missing += row < 0;
        for (int64_t k = 0; k < r->n_kept; k++)
            value[i * r->n_kept + k] =
                row < 0 ? "" : r->values.text + r->values.at[row * r->n_kept + k];
    }
    if (missing == p->n)
        TRY(stream_fail(r->s, "none of its ids (such as \"%s\") is one of %s",
                        QUOTE(text_table_get(&r->ids, 0)), where));
    if (missing > 0)
        ctx_warn(r->ctx, "%s has no row for %lld of the %lld items", stream_name(r->s),
                 (long long)missing, (long long)p->n);
    for (int64_t k = 0; k < r->n_kept; k++)
        name[k] = text_table_get(&r->names, k);
    texts_free(r->ctx, &p->meta_names);
    texts_free(r->ctx, &p->meta);
    TRY(texts_pack(r->ctx, &p->meta_names, r->n_kept, name));
    TRY(texts_pack(r->ctx, &p->meta, p->n * r->n_kept, value));
done:
    MEM_FREE(r->ctx, value, name);
    return status;
}

ddsc_status io_read_meta(ddsc_context *ctx, measures_parts *p, const char *where,
                         const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    meta_reader r = {.ctx = ctx, .values = {.ctx = ctx}};
    TRY(stream_open(ctx, &r.s, set->meta_path, set->max_bytes));
    TRY(meta_table(&r, set->id_columns));
    TRY(meta_join(&r, p, where));
done:
    stream_close(r.s);
    fields_free(ctx, &r.field);
    text_table_free(ctx, &r.ids);
    text_table_free(ctx, &r.names);
    MEM_FREE(ctx, r.tidy, r.joined, r.values.text, r.values.at);
    return status;
}
