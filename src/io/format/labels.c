/* Reads labels (class numbers or names, one per row) from csv, plain text, npy, npz or idx files.
 * Writes labels.csv (ddsc_labels_write). */
#include "io/format/archive.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- collecting labels ---- */

ddsc_status label_list_add(ddsc_context *ctx, label_list *list, const char *text, size_t n)
{
    int64_t number = -1;
    bool is_new;
    CHECK(MEM_RESERVE(ctx, list->code, &list->capacity, list->n + 1));
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
    bool first_is_word; /* true if the file has one column whose first line may be a header */
} column_reader;

static bool is_integer(const char *text)
{
    int64_t value;
    return number_parse_integer(text, &value);
}

/* Reads the first line. If this line has several columns, it is a header, and the labels are in the
 * column `label` or, if there is none, in the last column. A single column has a header if its
 * first line is "label" or the only line that is not an integer. */
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
        return stream_fail_line(r->s,
                                ": a file with several columns requires a header such as id,label");
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
        r->delimiter = ','; /* a single column, in which names may contain any character */
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

/* Removes the first line of a file with one column if it is a header, that is, if only the other
 * lines are integers. */
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

/* Writes one line per row. If `labels` has one label per item, rows without an item get the label
 * -1. */
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
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "there are %lld labels, but one per row (%lld) or one per item (%lld) is required",
            (long long)n, (long long)m->n_rows, (long long)m->n);
    CHECK(writer_open(ctx, &w, path, flags));
    return writer_finish(w, write_labels(labels, n, m, w));
}

/* ---- joining labels to items or to another file's labels: by id if both have ids, else by row
 * ---- */

enum { NUMBER_SIZE = 24 };

static const char *target_id(const label_target *to, int64_t i, char number[NUMBER_SIZE])
{
    if (to->id_text)
        return to->id_text + to->id_at[i];
    snprintf(number, NUMBER_SIZE, "%lld", (long long)i);
    return number;
}

static ddsc_status join_by_order(ddsc_context *ctx, const measures_parts *labels, const char *from,
                                 const label_target *to)
{
    if (labels->n != to->n)
        return ctx_fail(
            ctx, DDSC_ERROR_INPUT,
            "%s has %lld labels, but %s has %lld items; there must be one label per item", from,
            (long long)labels->n, to->name, (long long)to->n);
    if (to->id_text && !labels->id_text)
        ctx_warn(ctx, "%s has no ids, so its labels were joined to %s by order", from, to->name);
    else if (!to->id_text && labels->id_text)
        ctx_warn(ctx, "%s has no ids to match those of %s, so the labels were joined by order",
                 to->name, from);
    return DDSC_OK;
}

/* For each target id, finds its row in the file, or -1. If an id occurs twice in the file or among
 * the targets, sets *twice to this id. */
static ddsc_status match_ids(ddsc_context *ctx, int64_t *row, const char **twice, bool *twice_here,
                             const measures_parts *labels, const label_target *to)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    int64_t number;
    bool is_new, *used = NULL;
    char space[NUMBER_SIZE];
    *twice = NULL;
    TRY(MEM_NEW(ctx, used, labels->n));
    for (int64_t i = 0; i < labels->n; i++) {
        const char *id = labels->id_text + labels->id_at[i];
        used[i] = false;
        TRY(text_table_add(ctx, &table, id, strlen(id), &number, &is_new));
        if (!is_new && !*twice) {
            *twice = id;
            *twice_here = true;
        }
    }
    for (int64_t i = 0; i < to->n && !*twice; i++) {
        const char *id = target_id(to, i, space);
        row[i] = text_table_find(&table, id, strlen(id));
        if (row[i] >= 0 && used[row[i]]) {
            *twice = to->id_text + to->id_at[i];
            *twice_here = false;
        }
        if (row[i] >= 0)
            used[row[i]] = true;
    }
done:
    mem_free(ctx, used);
    text_table_free(ctx, &table);
    return status;
}

/* Returns the first id that occurs only in the file or only among the targets, or NULL. */
static const char *first_alone(bool *missing_here, const int64_t *row, const measures_parts *labels,
                               const label_target *to, bool *used)
{
    for (int64_t i = 0; i < labels->n; i++)
        used[i] = false;
    for (int64_t i = 0; i < to->n; i++) {
        *missing_here = true;
        if (row[i] < 0)
            return to->id_text ? to->id_text + to->id_at[i] : "";
        used[row[i]] = true;
    }
    *missing_here = false;
    for (int64_t i = 0; i < labels->n; i++)
        if (!used[i])
            return labels->id_text + labels->id_at[i];
    return NULL;
}

ddsc_status labels_join(ddsc_context *ctx, measures_parts *labels, const char *from,
                        const label_target *to, ddsc_join *how)
{
    ddsc_status status = DDSC_OK;
    int64_t *row = NULL;
    int32_t *label = NULL;
    bool *used = NULL, here = false, missing_here = false;
    const char *twice = NULL, *alone = NULL;
    char quoted[QUOTE_TEXT];
    *how = DDSC_JOIN_ORDER;
    if (!labels->id_text)
        return join_by_order(ctx, labels, from, to);
    TRY(MEM_NEW(ctx, row, to->n));
    TRY(MEM_NEW(ctx, used, labels->n));
    TRY(match_ids(ctx, row, &twice, &here, labels, to));
    if (!twice)
        alone = first_alone(&missing_here, row, labels, to, used);
    if (!to->id_text && (twice || alone)) {
        TRY(join_by_order(ctx, labels, from, to));
        goto done;
    }
    if (twice)
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                     "the id \"%s\" occurs twice in %s, so labels cannot be joined by id; remove "
                     "the id column from %s to join by order",
                     text_quote(quoted, twice, strlen(twice)), here ? from : to->name, from));
    if (alone)
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                     "%s contains the id \"%s\", but %s does not; both must have the same ids",
                     missing_here ? to->name : from, text_quote(quoted, alone, strlen(alone)),
                     missing_here ? from : to->name));
    TRY(MEM_NEW(ctx, label, to->n));
    for (int64_t i = 0; i < to->n; i++)
        label[i] = labels->label[row[i]];
    mem_free(ctx, labels->label);
    labels->label = label;
    *how = DDSC_JOIN_ID;
done:
    MEM_FREE(ctx, row, used);
    return status;
}

/* ---- public ---- */

static ddsc_status labels_read_file(ddsc_context *ctx, measures_parts *parts, const char *path)
{
    io_stream *s = NULL;
    ddsc_status status = stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES);
    if (status >= 0)
        status = labels_read_stream(ctx, parts, s);
    stream_close(s);
    return status;
}

ddsc_status ddsc_labels_read_for(ddsc_context *ctx, int32_t **labels, ddsc_join *how,
                                 const ddsc_measures *m, const char *path)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {0};
    ddsc_join done_how;
    CHECK(ctx_enter(ctx));
    if (!labels || !m || !path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "labels, measures or path is NULL");
    *labels = NULL;
    label_target to = {m->n_rows, m->id_text, m->id_at, "the input"};
    TRY(labels_read_file(ctx, &parts, path));
    TRY(labels_join(ctx, &parts, path, &to, &done_how));
    *labels = parts.label;
    parts.label = NULL;
    if (how)
        *how = done_how;
done:
    measures_parts_free(ctx, &parts);
    return status;
}

ddsc_status ddsc_labels_read_both(ddsc_context *ctx, int32_t **labels, int32_t **others, int64_t *n,
                                  ddsc_join *how, const char *path, const char *others_path)
{
    ddsc_status status = DDSC_OK;
    measures_parts a = {0}, b = {0};
    ddsc_join done_how;
    CHECK(ctx_enter(ctx));
    if (!labels || !others || !n || !path || !others_path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "an output or a path is NULL");
    *labels = *others = NULL;
    TRY(labels_read_file(ctx, &a, path));
    TRY(labels_read_file(ctx, &b, others_path));
    label_target to = {a.n, a.id_text, a.id_at, path};
    TRY(labels_join(ctx, &b, others_path, &to, &done_how));
    *labels = a.label;
    *others = b.label;
    *n = a.n;
    a.label = b.label = NULL;
    if (how)
        *how = done_how;
done:
    measures_parts_free(ctx, &a);
    measures_parts_free(ctx, &b);
    return status;
}
