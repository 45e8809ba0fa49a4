/* Reads labels, which are class numbers or names, one per row, from csv, plain lines, npy, npz or
 * idx. */
#include "io/format/archive.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- collecting labels ---- */

ddsc_status label_list_add(ddsc_context *ctx, label_list *list, const char *text, size_t n)
{
    int64_t number = -1;
    bool is_new;
    CHECK(MEM_RESERVE(ctx, list->code, &list->room, list->n + 1));
    if (n > 0)
        CHECK(text_table_add(ctx, &list->names, text, n, &number, &is_new));
    if (number > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "there are more than %d classes", INT32_MAX);
    list->code[list->n++] = (int32_t)number;
    return DDSC_OK;
}

static bool all_integers(const label_list *list)
{
    int64_t value;
    for (int64_t i = 0; i < list->n; i++) {
        if (list->code[i] < 0)
            continue;
        const char *text = text_table_get(&list->names, list->code[i]);
        if (!number_parse_integer(text, &value) || value < INT32_MIN || value > INT32_MAX)
            return false;
    }
    return true;
}

ddsc_status label_list_finish(ddsc_context *ctx, label_list *list, measures_parts *parts)
{
    bool plain = all_integers(list);
    parts->label = list->code;
    list->code = NULL;
    if (plain) {
        for (int64_t i = 0; i < list->n; i++) {
            int64_t value = -1;
            if (parts->label[i] >= 0)
                number_parse_integer(text_table_get(&list->names, parts->label[i]), &value);
            parts->label[i] = (int32_t)value;
        }
    } else {
        parts->name_text = list->names.text;
        parts->name_at = list->names.at;
        parts->n_names = list->names.n;
        list->names.text = NULL;
        list->names.at = NULL;
    }
    label_list_free(ctx, list);
    return DDSC_OK;
}

void label_list_free(ddsc_context *ctx, label_list *list)
{
    text_table_free(ctx, &list->names);
    mem_free(ctx, list->code);
    *list = (label_list){0};
}

/* ---- npy, npz, idx ---- */

typedef struct gather {
    ddsc_context *ctx;
    label_list list;
} gather;

static ddsc_status take_label(void *arg, int64_t i, const char *text, size_t n)
{
    gather *g = arg;
    (void)i;
    return label_list_add(g->ctx, &g->list, text, n);
}

ddsc_status labels_from_npy(ddsc_context *ctx, measures_parts *parts, int64_t *n, io_stream *s,
                            const npy_array *array)
{
    ddsc_status status = DDSC_OK;
    gather g = {.ctx = ctx};
    *n = array->count;
    if (array->n_dims != 1 || array->count == 0)
        return stream_fail(s, "has shape %s; labels must have one axis", NPY_SHAPE(array));
    if (array->kind == 'i' || array->kind == 'u')
        return npy_read_indices(ctx, &parts->label, s, array);
    TRY(npy_read_text(ctx, s, array, take_label, &g));
    TRY(label_list_finish(ctx, &g.list, parts));
done:
    label_list_free(ctx, &g.list);
    return status;
}

static ddsc_status read_npy(ddsc_context *ctx, measures_parts *parts, io_stream *s)
{
    npy_array array;
    CHECK(npy_read_header(s, &array));
    return labels_from_npy(ctx, parts, &parts->n, s, &array);
}

/* ---- text ---- */

typedef struct column_reader {
    ddsc_context *ctx;
    io_stream *s;
    field_list field;
    label_list list;
    text_rows ids;
    char delimiter;
    int64_t n_columns, column, id_column; /* -1 if there are no ids */
    bool first_is_word;                   /* single-column file whose first line may be a header */
} column_reader;

static bool is_integer(const char *text)
{
    int64_t value;
    return number_parse_integer(text, &value);
}

/* Reads the first line. If the header has several columns, the labels are in `label`, or else in
 * the last column. A single column has a header if its first line is "label" or is the only line
 * that is not an integer. */
static ddsc_status take_first(column_reader *r)
{
    int64_t found = -1;
    r->n_columns = r->field.n;
    for (int64_t c = 0; c < r->n_columns; c++) {
        if (strcmp(r->field.text[c], "label") == 0)
            found = c;
        if (strcmp(r->field.text[c], "id") == 0 && r->n_columns > 1)
            r->id_column = c;
    }
    r->column = found >= 0 ? found : r->n_columns - 1;
    if (r->column == r->id_column)
        r->column--;
    if (found >= 0)
        return DDSC_OK;
    const char *last = r->field.text[r->column];
    if (r->n_columns == 1) {
        r->first_is_word = !is_integer(last);
        return label_list_add(r->ctx, &r->list, last, strlen(last));
    }
    if (is_integer(last))
        return stream_fail_line(r->s, ": several columns need a header such as id,label");
    if (r->n_columns - (r->id_column >= 0) > 1)
        ctx_warn(r->ctx, "%s: no column is named \"label\"; using the last column, \"%s\"",
                 stream_name(r->s), QUOTE(last));
    return DDSC_OK;
}

static ddsc_status take_line(column_reader *r, char *line)
{
    bool first = r->n_columns == 0;
    if (first)
        r->delimiter = fields_delimiter(line);
    if (first && strchr(";|", r->delimiter) && !strstr(line, "label"))
        r->delimiter = ','; /* a single column, whose names may contain any character */
    CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
    if (first)
        return take_first(r);
    if (r->field.n != r->n_columns)
        return stream_fail_line(r->s, " has %lld fields, but the first line has %lld",
                                (long long)r->field.n, (long long)r->n_columns);
    const char *text = r->field.text[r->column];
    const char *id = r->id_column < 0 ? "" : r->field.text[r->id_column];
    if (r->id_column >= 0)
        CHECK(text_rows_add(&r->ids, r->list.n, id, strlen(id)));
    return label_list_add(r->ctx, &r->list, text, strlen(text));
}

/* If all other lines of a single column are integers, the first line was a header and is
 * removed. */
static void drop_heading(column_reader *r)
{
    if (!r->first_is_word || r->list.n < 2)
        return;
    for (int64_t i = 1; i < r->list.n; i++)
        if (r->list.code[i] >= 0 && !is_integer(text_table_get(&r->list.names, r->list.code[i])))
            return;
    r->list.n--;
    memmove(r->list.code, r->list.code + 1, (size_t)r->list.n * sizeof *r->list.code);
}

static ddsc_status labels_read_text(ddsc_context *ctx, measures_parts *parts, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    column_reader r = {.ctx = ctx, .s = s, .id_column = -1, .ids = {.ctx = ctx}};
    char *line;
    TRY(stream_text_line(s, &line, r.delimiter));
    while (line) {
        TRY(take_line(&r, line));
        TRY(stream_text_line(s, &line, r.delimiter));
    }
    drop_heading(&r);
    if (r.list.n == 0)
        TRY(stream_fail(s, "contains no labels"));
    parts->n = r.list.n;
    TRY(label_list_finish(ctx, &r.list, parts));
    parts->id_text = r.ids.text;
    parts->id_at = r.ids.at;
    r.ids = (text_rows){0};
done:
    MEM_FREE(ctx, r.ids.text, r.ids.at);
    fields_free(ctx, &r.field);
    label_list_free(ctx, &r.list);
    return status;
}

ddsc_status labels_read_stream(ddsc_context *ctx, measures_parts *parts, io_stream *s)
{
    unsigned char head[STREAM_PEEK_MAX];
    size_t n;
    CHECK(io_peek_content(s, head, &n));
    switch (io_sniff(head, n)) {
    case DDSC_FORMAT_NPZ: return npz_read_labels(ctx, parts, s);
    case DDSC_FORMAT_NPY: return read_npy(ctx, parts, s);
    case DDSC_FORMAT_IDX: return idx_read_labels(ctx, &parts->label, &parts->n, s);
    case DDSC_FORMAT_FCS:
    case DDSC_FORMAT_MTX: return stream_fail(s, "is not a labels file");
    default: return labels_read_text(ctx, parts, s);
    }
}

/* ---- public ---- */

ddsc_status ddsc_labels_read(ddsc_context *ctx, int32_t **labels, int64_t *n, const char *path)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    measures_parts parts = {0};
    CHECK(ctx_enter_new(ctx, labels));
    CHECK(ctx_need(ctx, n, "n"));
    CHECK(ctx_need(ctx, path, "path"));
    TRY(stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    TRY(labels_read_stream(ctx, &parts, s));
    *labels = parts.label;
    *n = parts.n;
    parts.label = NULL;
done:
    stream_close(s);
    measures_parts_free(ctx, &parts);
    return status;
}

/* Writes one line per row. If `labels` has one label per item, dropped rows are written as -1. */
static ddsc_status write_labels(const int32_t *labels, int64_t n, const measures *m, io_writer *w)
{
    CHECK(writer_printf(w, "id,label\n"));
    int64_t n_rows = m ? m->n_rows : n, item = 0;
    for (int64_t row = 0; row < n_rows; row++) {
        int32_t label = -1;
        if (n == n_rows)
            label = labels[row];
        else if (item < n && m->row[item] == row)
            label = labels[item++];
        if (m)
            CHECK(writer_field(w, ddsc_measures_get_id(m, row), ','));
        else
            CHECK(writer_printf(w, "%lld", (long long)row));
        CHECK(writer_printf(w, ",%d\n", label));
    }
    return DDSC_OK;
}

ddsc_status ddsc_labels_write(ddsc_context *ctx, const int32_t *labels, int64_t n,
                              const ddsc_measures *m, const char *path, unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    if (!labels || !path || n < 0)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "labels or path is NULL, or n is negative");
    if (m && n != m->n_rows && n != m->n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "got %lld labels; expected one for each of %lld rows or each of %lld items",
                        (long long)n, (long long)m->n_rows, (long long)m->n);
    CHECK(writer_open(ctx, &w, path, flags));
    return writer_finish(w, write_labels(labels, n, m, w));
}
