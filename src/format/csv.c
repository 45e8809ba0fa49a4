/* csv and tsv, long form: a header with a column `id`, optional `weight` and `label`, every other
 * column a coordinate; consecutive rows of one id are one item. */
#include "format/format.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    ddsc_context *ctx;
    io_stream *s;
    measures_parts *out;
    field_list field;
    char delimiter;
    int64_t n_columns, id_column, weight_column, label_column;
    int64_t *coordinate; /* column of each coordinate */
    text_table names;    /* of the columns */
    text_table ids;
    int64_t *first_line; /* of each item */
    label_list labels;
    int64_t item, item_label; /* the current one; label code of its first row */
    int64_t point_room, weight_room, offset_room, line_room;
} reader;

static const char *column_name(reader *r, int64_t column)
{
    return text_table_get(&r->names, column);
}

/* ---- header ---- */

static ddsc_status add_name(reader *r, int64_t column, const char *name)
{
    int64_t number;
    bool is_new;
    CHECK(text_table_add(r->ctx, &r->names, name, strlen(name), &number, &is_new));
    if (!is_new)
        return stream_fail_line(r->s, ": the columns %lld and %lld are both called \"%s\"",
                                (long long)number + 1, (long long)column + 1, QUOTE(name));
    return DDSC_OK;
}

static ddsc_status sort_columns(reader *r)
{
    r->n_columns = r->field.n;
    r->id_column = r->weight_column = r->label_column = -1;
    CHECK(MEM_NEW(r->ctx, r->coordinate, r->n_columns));
    for (int64_t c = 0; c < r->n_columns; c++) {
        const char *name = r->field.text[c];
        CHECK(add_name(r, c, name));
        if (strcmp(name, "id") == 0)
            r->id_column = c;
        else if (strcmp(name, "weight") == 0)
            r->weight_column = c;
        else if (strcmp(name, "label") == 0)
            r->label_column = c;
        else
            r->coordinate[r->out->d++] = c;
    }
    return DDSC_OK;
}

static ddsc_status check_columns(reader *r)
{
    char first[QUOTE_TEXT];
    const char *name = column_name(r, 0);
    if (r->id_column < 0)
        return stream_fail_line(r->s,
                                ": no column is called \"id\" (the first is \"%s\"); the first "
                                "line must be a header such as id,weight,x,y",
                                text_quote(first, name, strlen(name)));
    if (r->out->d == 0)
        return stream_fail_line(r->s, ": the header names no coordinate columns");
    return DDSC_OK;
}

static ddsc_status read_header(reader *r)
{
    char *line;
    CHECK(stream_text_line(r->s, &line, r->delimiter));
    if (!line)
        return stream_fail(r->s, "holds no lines");
    r->delimiter = fields_delimiter(line);
    CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
    CHECK(sort_columns(r));
    return check_columns(r);
}

/* ---- rows ---- */

static ddsc_status get_number(reader *r, int64_t column, double *value)
{
    const char *text = r->field.text[column];
    bool good = number_parse(text, value);
    if (good && isfinite(*value))
        return DDSC_OK;
    const char *called = column_name(r, column);
    return stream_fail_line(r->s, ", column %lld (\"%s\"): \"%s\" is not a %snumber",
                            (long long)column + 1, QUOTE(called), QUOTE(text),
                            good ? "finite " : "");
}

static ddsc_status check_utf8(reader *r, int64_t column)
{
    if (text_count_chars(r->field.text[column]) >= 0)
        return DDSC_OK;
    return stream_fail_line(r->s, ", column %lld: not UTF-8 text; convert the file first",
                            (long long)column + 1);
}

static ddsc_status begin_item(reader *r, int64_t number)
{
    measures_parts *p = r->out;
    CHECK(check_utf8(r, r->id_column));
    CHECK(MEM_RESERVE(r->ctx, p->offset, &r->offset_room, number + 2));
    CHECK(MEM_RESERVE(r->ctx, r->first_line, &r->line_room, number + 1));
    p->offset[number] = p->nnz;
    r->first_line[number] = stream_line_number(r->s);
    r->item = number;
    p->n = number + 1;
    if (r->label_column >= 0) {
        CHECK(check_utf8(r, r->label_column));
        const char *text = r->field.text[r->label_column];
        CHECK(label_list_add(r->ctx, &r->labels, text, strlen(text)));
    }
    return DDSC_OK;
}

static ddsc_status check_label(reader *r)
{
    if (r->label_column < 0)
        return DDSC_OK;
    const char *text = r->field.text[r->label_column];
    int32_t code = r->labels.code[r->item];
    const char *first = code < 0 ? "" : text_table_get(&r->labels.names, code);
    if (strcmp(text, first) == 0)
        return DDSC_OK;
    return stream_fail_line(r->s, ": label \"%s\", but line %lld of the same item has \"%s\"",
                            QUOTE(text), (long long)r->first_line[r->item], QUOTE(first));
}

/* Find the item of this row: the current one, or a new one. */
static ddsc_status take_id(reader *r)
{
    const char *id = r->field.text[r->id_column];
    int64_t number;
    bool is_new;
    if (r->item >= 0 && strcmp(id, text_table_get(&r->ids, r->item)) == 0)
        return check_label(r);
    if (*id == '\0')
        return stream_fail_line(r->s, ", column %lld: the id is empty",
                                (long long)r->id_column + 1);
    CHECK(text_table_add(r->ctx, &r->ids, id, strlen(id), &number, &is_new));
    if (!is_new)
        return stream_fail_line(r->s,
                                ": the id \"%s\" was already used from line %lld on; rows of "
                                "one item must follow each other",
                                QUOTE(id), (long long)r->first_line[number]);
    return begin_item(r, number);
}

static ddsc_status take_row(reader *r)
{
    measures_parts *p = r->out;
    if (r->field.n != r->n_columns)
        return stream_fail_line(r->s, " has %lld fields, the header has %lld",
                                (long long)r->field.n, (long long)r->n_columns);
    CHECK(take_id(r));
    CHECK(MEM_RESERVE(r->ctx, p->support, &r->point_room, (p->nnz + 1) * p->d));
    for (int64_t k = 0; k < p->d; k++)
        CHECK(get_number(r, r->coordinate[k], p->support + p->nnz * p->d + k));
    if (r->weight_column >= 0) {
        CHECK(MEM_RESERVE(r->ctx, p->weight, &r->weight_room, p->nnz + 1));
        CHECK(get_number(r, r->weight_column, p->weight + p->nnz));
        if (p->weight[p->nnz] < 0)
            return stream_fail_line(r->s, ", column %lld: the weight %g is negative",
                                    (long long)r->weight_column + 1, p->weight[p->nnz]);
    }
    p->nnz++;
    return DDSC_OK;
}

static ddsc_status read_rows(reader *r)
{
    char *line;
    for (;;) {
        CHECK(stream_text_line(r->s, &line, r->delimiter));
        if (!line)
            break;
        CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
        CHECK(take_row(r));
    }
    if (r->out->n == 0)
        return stream_fail(r->s, "has a header but no rows");
    r->out->offset[r->out->n] = r->out->v = r->out->nnz;
    return DDSC_OK;
}

/* ---- the end ---- */

static ddsc_status join_axes(reader *r, char **axes)
{
    int64_t n = 1;
    for (int64_t k = 0; k < r->out->d; k++)
        n += (int64_t)strlen(column_name(r, r->coordinate[k])) + 1;
    CHECK(mem_get(r->ctx, axes, n, 1));
    char *at = *axes;
    for (int64_t k = 0; k < r->out->d; k++) {
        size_t length = strlen(column_name(r, r->coordinate[k]));
        memcpy(at, column_name(r, r->coordinate[k]), length);
        at += length;
        *at++ = '\t';
    }
    *at = '\0';
    return DDSC_OK;
}

ddsc_status csv_read(ddsc_context *ctx, measures_parts *out, char **axes, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    reader r = {.ctx = ctx, .s = s, .out = out, .item = -1};
    TRY(read_header(&r));
    TRY(read_rows(&r));
    if (r.label_column >= 0)
        TRY(label_list_finish(ctx, &r.labels, out));
    TRY(join_axes(&r, axes));
    out->id_text = r.ids.text;
    out->id_at = r.ids.at;
    r.ids.text = NULL;
    r.ids.at = NULL;
done:
    text_table_free(ctx, &r.names);
    text_table_free(ctx, &r.ids);
    label_list_free(ctx, &r.labels);
    fields_free(ctx, &r.field);
    MEM_FREE(ctx, r.coordinate, r.first_line);
    return status;
}
