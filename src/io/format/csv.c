/* Reads csv and tsv files in long format: a header, then one row per point. table.c determines the
 * meaning of each column. Rows with the same id form one item, wherever they are in the file, and
 * items are in the order of their first rows. A column whose first value is not a number is treated
 * as text and excluded with a warning. */
#include "io/format/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    ddsc_context *ctx;
    io_stream *s;
    measures_parts *out;
    table_columns c;
    field_list field;
    char delimiter;
    text_table ids;
    int64_t *first_line; /* first line of each item */
    label_list labels;
    text_rows titles, points; /* title of each item; point name of each row */
    text_rows meta;           /* c.n_meta texts of each item */
    char *joined, *tidy;      /* id of a row; title of an item */
    int64_t joined_capacity, tidy_capacity;
    int64_t *item; /* item of each row */
    int64_t n_rows, n_seen, last;
    int64_t comma_line,
        point_line; /* first line with a decimal comma; first line with a decimal point; 0 if there
                     * is none */
    bool apart;     /* the rows of some item are not consecutive */
    int64_t value_capacity, weight_capacity, item_capacity, line_capacity;
} reader;

static ddsc_status read_header(reader *r, const ddsc_read_settings *set)
{
    char *line;
    CHECK(stream_text_line(r->s, &line, r->delimiter));
    if (!line)
        return stream_fail(r->s, "contains no lines");
    r->delimiter = fields_delimiter(line);
    CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
    return table_choose(r->ctx, &r->c, r->s, &r->field, set);
}

/* ---- numbers ---- */

static bool is_missing(const char *text)
{
    static const char *const marks[] = {"", "na", "n/a", "nan", "null", "none", "."};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (strcasecmp(text, marks[k]) == 0)
            return true;
    return false;
}

/* Parses a number. If semicolons separate the fields, the decimal point may be a comma. A file with
 * both commas and periods in numbers is rejected, because one of them may separate thousands. */
static ddsc_status parse_number(reader *r, char *text, double *value, bool *good)
{
    char *mark = r->delimiter == ';' ? strpbrk(text, ",.") : NULL;
    bool is_comma = mark && *mark == ',';
    if (is_comma)
        *mark = '.';
    *good = number_parse(text, value);
    if (is_comma)
        *mark = ',';
    if (mark && *good) {
        int64_t *line = is_comma ? &r->comma_line : &r->point_line;
        *line = *line ? *line : stream_line_number(r->s);
    }
    if (r->comma_line && r->point_line)
        return stream_fail(r->s,
                           "numbers have commas (line %lld) and periods (line %lld), so it is "
                           "unclear which of them is the decimal point; use only one of them",
                           (long long)r->comma_line, (long long)r->point_line);
    return DDSC_OK;
}

static ddsc_status csv_fail_number(reader *r, int64_t column, const char *text, bool parsed)
{
    return stream_fail_line(r->s, ", column %lld (\"%s\"): \"%s\" is not a %snumber",
                            (long long)column + 1, QUOTE(table_name(&r->c, column)), QUOTE(text),
                            parsed ? "finite " : "");
}

static ddsc_status take_value(reader *r, table_column *k, double *value)
{
    char *text = r->field.text[k->at];
    *value = 0;
    if (is_missing(text)) {
        if (k->n_missing++ == 0) {
            k->missing_line = stream_line_number(r->s);
            text_quote(k->missing, text, strlen(text));
        }
        return DDSC_OK;
    }
    bool good;
    CHECK(parse_number(r, text, value, &good));
    if (good && !isfinite(*value))
        return csv_fail_number(r, k->at, text, true);
    if (!good && (k->kind == COLUMN_NUMBER || k->by_name))
        return csv_fail_number(r, k->at, text, false);
    if (!good && k->n_texts++ == 0) {
        k->text_line = stream_line_number(r->s);
        text_quote(k->text, text, strlen(text));
    }
    if (k->kind == COLUMN_OPEN)
        k->kind = good ? COLUMN_NUMBER : COLUMN_TEXT;
    k->n_numbers += good;
    return DDSC_OK;
}

static ddsc_status take_weight(reader *r)
{
    measures_parts *p = r->out;
    char *text = r->field.text[r->c.weight];
    CHECK(MEM_RESERVE(r->ctx, p->weight, &r->weight_capacity, r->n_rows + 1));
    bool good;
    CHECK(parse_number(r, text, &p->weight[r->n_rows], &good));
    if (!good || !isfinite(p->weight[r->n_rows]))
        return csv_fail_number(r, r->c.weight, text, good);
    if (p->weight[r->n_rows] < 0)
        return stream_fail_line(r->s,
                                ", column %lld: the weight is negative (%g); weights must be >= 0",
                                (long long)r->c.weight + 1, p->weight[r->n_rows]);
    return DDSC_OK;
}

/* ---- items ---- */

static ddsc_status tidy_text(reader *r, int64_t column, size_t *n)
{
    const char *text = r->field.text[column];
    CHECK(MEM_RESERVE(r->ctx, r->tidy, &r->tidy_capacity, 2 * (int64_t)strlen(text) + 1));
    *n = text_tidy(r->tidy, text, DDSC_TITLE_MAX);
    return DDSC_OK;
}

static ddsc_status begin_item(reader *r, int64_t number)
{
    size_t n;
    CHECK(MEM_RESERVE(r->ctx, r->first_line, &r->line_capacity, number + 1));
    r->first_line[number] = stream_line_number(r->s);
    r->out->n = number + 1;
    if (r->c.title >= 0) {
        CHECK(tidy_text(r, r->c.title, &n));
        CHECK(text_rows_add(&r->titles, number, r->tidy, n));
    }
    for (int64_t k = 0; k < r->c.n_meta; k++) {
        CHECK(tidy_text(r, r->c.meta[k], &n));
        CHECK(text_rows_add(&r->meta, number * r->c.n_meta + k, r->tidy, n));
    }
    if (r->c.label >= 0) {
        const char *text = r->field.text[r->c.label];
        CHECK(label_list_add(r->ctx, &r->labels, text, strlen(text)));
    }
    return DDSC_OK;
}

static ddsc_status check_label(reader *r, int64_t item)
{
    if (r->c.label < 0)
        return DDSC_OK;
    const char *text = r->field.text[r->c.label];
    int32_t code = r->labels.code[item];
    const char *first = code < 0 ? "" : text_table_get(&r->labels.names, code);
    if (strcmp(text, first) == 0)
        return DDSC_OK;
    return stream_fail_line(r->s,
                            ": the label is \"%s\", but line %lld of the same item has \"%s\"",
                            QUOTE(text), (long long)r->first_line[item], QUOTE(first));
}

/* Checks that the requested metadata columns have the same values as in the item's first row. */
static ddsc_status check_asked(reader *r, int64_t item)
{
    size_t n;
    for (int64_t k = 0; k < r->c.n_asked; k++) {
        const char *first = r->meta.text + r->meta.at[item * r->c.n_meta + k];
        CHECK(tidy_text(r, r->c.meta[k], &n));
        if (strlen(first) != n || memcmp(first, r->tidy, n) != 0)
            return stream_fail_line(
                r->s,
                ", column %lld (\"%s\"): the value is \"%s\", but line %lld of the same item has "
                "\"%s\"",
                (long long)r->c.meta[k] + 1, QUOTE(table_name(&r->c, r->c.meta[k])),
                QUOTE(r->field.text[r->c.meta[k]]), (long long)r->first_line[item], QUOTE(first));
    }
    return DDSC_OK;
}

/* Returns the id of a row: the values of its id columns, joined with slashes. */
static ddsc_status csv_join_id(reader *r, const char **id, size_t *n)
{
    int64_t length = 0;
    *id = r->field.text[r->c.id[0]];
    *n = strlen(*id);
    if (r->c.n_id == 1)
        return DDSC_OK;
    for (int64_t k = 0; k < r->c.n_id; k++) {
        const char *part = r->field.text[r->c.id[k]];
        int64_t more = (int64_t)strlen(part);
        CHECK(MEM_RESERVE(r->ctx, r->joined, &r->joined_capacity, length + more + 1));
        if (k > 0)
            r->joined[length++] = '/';
        memcpy(r->joined + length, part, (size_t)more);
        length += more;
    }
    *id = r->joined;
    *n = (size_t)length;
    return DDSC_OK;
}

static ddsc_status take_id(reader *r)
{
    const char *id;
    size_t n;
    bool is_new = false;
    int64_t number = r->last;
    CHECK(csv_join_id(r, &id, &n));
    if (n == 0)
        return stream_fail_line(r->s, ", column %lld: the id is empty", (long long)r->c.id[0] + 1);
    CHECK(MEM_RESERVE(r->ctx, r->item, &r->item_capacity, r->n_rows + 1));
    const char *before = number < 0 ? "" : text_table_get(&r->ids, number);
    if (strncmp(before, id, n) != 0 || before[n] != '\0')
        CHECK(text_table_add(r->ctx, &r->ids, id, n, &number, &is_new));
    if (is_new)
        CHECK(begin_item(r, number));
    r->apart |= number < r->last;
    r->item[r->n_rows] = r->last = number;
    CHECK(check_asked(r, number));
    return check_label(r, number);
}

/* ---- rows ---- */

static ddsc_status take_row(reader *r)
{
    measures_parts *p = r->out;
    int64_t d = r->c.n_coordinates, end;
    if (r->field.n != r->c.n)
        return stream_fail_line(r->s, " has %lld fields, but the header has %lld",
                                (long long)r->field.n, (long long)r->c.n);
    r->n_seen++;
    if (r->c.where >= 0 && strcmp(r->field.text[r->c.where], r->c.where_value) != 0)
        return DDSC_OK;
    CHECK(take_id(r));
    if (!mul_ok(r->n_rows + 1, d, &end))
        return stream_fail_line(r->s, ": there are too many rows");
    CHECK(MEM_RESERVE(r->ctx, p->support, &r->value_capacity, end));
    for (int64_t k = 0; k < d; k++)
        CHECK(take_value(r, &r->c.coordinate[k], p->support + r->n_rows * d + k));
    if (r->c.weight >= 0)
        CHECK(take_weight(r));
    if (r->c.point >= 0) {
        size_t n;
        CHECK(tidy_text(r, r->c.point, &n));
        CHECK(text_rows_add(&r->points, r->n_rows, r->tidy, n));
    }
    r->n_rows++;
    return DDSC_OK;
}

static ddsc_status read_rows(reader *r, const ddsc_read_settings *set)
{
    char *line;
    for (;;) {
        CHECK(stream_text_line(r->s, &line, r->delimiter));
        if (!line)
            break;
        CHECK(fields_split(r->ctx, &r->field, r->s, line, r->delimiter));
        CHECK(take_row(r));
    }
    if (r->n_seen == 0)
        return stream_fail(r->s, "has a header but no rows");
    if (r->n_rows == 0)
        return stream_fail(r->s, "none of its %lld rows matches %s", (long long)r->n_seen,
                           QUOTE(set->where));
    return DDSC_OK;
}

/* ---- choice of the coordinate columns, after all rows have been read ---- */

/* Fails if the first value of a column is not a number but most other values are, because the
 * column then probably contains numbers and its first value is wrong. Also fails if a numeric
 * column has missing values. */
static ddsc_status check_column(reader *r, const table_column *k)
{
    const char *name = table_name(&r->c, k->at);
    if (k->kind == COLUMN_TEXT && k->n_numbers > k->n_texts)
        return stream_fail(
            r->s,
            "line %lld, column %lld (\"%s\"): \"%s\" is not a number, but %lld of the %lld rows "
            "have one in this column; correct the value, or exclude the column (--drop)",
            (long long)k->text_line, (long long)k->at + 1, QUOTE(name), k->text,
            (long long)k->n_numbers, (long long)r->n_rows);
    if (k->kind == COLUMN_NUMBER && k->n_missing > 0)
        return stream_fail(
            r->s,
            "line %lld, column %lld (\"%s\"): \"%s\" is not a %snumber; %lld of the %lld rows have "
            "no value in this column: fill them in, or exclude the column (--drop)",
            (long long)k->missing_line, (long long)k->at + 1, QUOTE(name), k->missing,
            strcasecmp(k->missing, "nan") == 0 ? "finite " : "", (long long)k->n_missing,
            (long long)r->n_rows);
    return DDSC_OK;
}

/* Selects the numeric columns and lists the other columns in a warning. */
static ddsc_status sort_columns(reader *r, int64_t *kept)
{
    char left_out[400] = "";
    size_t at = 0;
    const table_column *other = &r->c.coordinate[0];
    r->out->d = 0;
    for (int64_t k = 0; k < r->c.n_coordinates; k++) {
        const table_column *column = &r->c.coordinate[k];
        CHECK(check_column(r, column));
        if (column->kind == COLUMN_NUMBER)
            kept[r->out->d++] = k;
        else if (at < sizeof left_out)
            at += (size_t)snprintf(left_out + at, sizeof left_out - at, "%s%s", at ? ", " : "",
                                   QUOTE(table_name(&r->c, column->at)));
    }
    if (r->out->d == 0)
        return stream_fail(r->s,
                           "line %lld, column %lld (\"%s\"): \"%s\" is not a number, and no other "
                           "column is numeric; at least one numeric column is required",
                           (long long)(other->n_texts ? other->text_line : other->missing_line),
                           (long long)other->at + 1, QUOTE(table_name(&r->c, other->at)),
                           other->n_texts ? other->text : other->missing);
    if (at > 0)
        ctx_warn(r->ctx, "%s: excluded the columns without numbers: %s%s", stream_name(r->s),
                 left_out, at < sizeof left_out ? "" : "...");
    return DDSC_OK;
}

/* ---- finishing ---- */

static ddsc_status count_rows(reader *r)
{
    measures_parts *p = r->out;
    CHECK(MEM_ZERO(r->ctx, p->offset, p->n + 1));
    for (int64_t row = 0; row < r->n_rows; row++)
        p->offset[r->item[row] + 1]++;
    for (int64_t i = 0; i < p->n; i++)
        p->offset[i + 1] += p->offset[i];
    p->v = p->nnz = r->n_rows;
    return DDSC_OK;
}

/* Sorts the rows by item, in file order within each item, and drops the columns that were not
 * chosen. */
static ddsc_status order_rows(reader *r, const int64_t *kept)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = r->out;
    int64_t d = p->d, width = r->c.n_coordinates, *next = NULL;
    double *support = NULL, *weight = NULL;
    const char **name = NULL;
    TRY(MEM_COPY(r->ctx, next, p->offset, p->n + 1));
    TRY(MEM_NEW(r->ctx, support, r->n_rows * d));
    if (p->weight)
        TRY(MEM_NEW(r->ctx, weight, r->n_rows));
    TRY(MEM_NEW(r->ctx, name, r->n_rows));
    for (int64_t row = 0; row < r->n_rows; row++) {
        int64_t to = next[r->item[row]]++;
        for (int64_t k = 0; k < d; k++)
            support[to * d + k] = p->support[row * width + kept[k]];
        if (weight)
            weight[to] = p->weight[row];
        name[to] = r->points.text ? r->points.text + r->points.at[row] : "";
    }
    if (r->points.text)
        TRY(texts_pack(r->ctx, &p->points, r->n_rows, name));
    MEM_FREE(r->ctx, p->support, p->weight);
    p->support = support;
    p->weight = weight;
    support = weight = NULL;
done:
    MEM_FREE(r->ctx, next, support, weight, name);
    return status;
}

static ddsc_status name_coordinates(reader *r, const int64_t *kept)
{
    ddsc_status status = DDSC_OK;
    const char **name = NULL;
    TRY(MEM_NEW(r->ctx, name, r->out->d));
    for (int64_t k = 0; k < r->out->d; k++)
        name[k] = table_name(&r->c, r->c.coordinate[kept[k]].at);
    TRY(texts_pack(r->ctx, &r->out->coordinates, r->out->d, name));
done:
    mem_free(r->ctx, name);
    return status;
}

static ddsc_status take_item_columns(reader *r)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = r->out;
    const char **name = NULL;
    if (r->c.n_meta == 0)
        return DDSC_OK;
    TRY(MEM_NEW(r->ctx, name, r->c.n_meta));
    for (int64_t k = 0; k < r->c.n_meta; k++)
        name[k] = table_name(&r->c, r->c.meta[k]) + (k < r->c.n_asked ? 0 : strlen(TABLE_META));
    TRY(texts_pack(r->ctx, &p->meta_names, r->c.n_meta, name));
    p->meta = (measures_texts){p->n * r->c.n_meta, r->meta.text, r->meta.at};
    r->meta = (text_rows){0};
done:
    mem_free(r->ctx, name);
    return status;
}

static ddsc_status csv_finish(reader *r, const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = r->out;
    int64_t *kept = NULL;
    TRY(MEM_NEW(r->ctx, kept, r->c.n_coordinates));
    TRY(sort_columns(r, kept));
    TRY(count_rows(r));
    if (r->apart || p->d < r->c.n_coordinates || r->points.text)
        TRY(order_rows(r, kept));
    TRY(name_coordinates(r, kept));
    TRY(take_item_columns(r));
    for (int64_t k = 0; set->arcsinh > 0 && k < p->v * p->d; k++)
        p->support[k] = asinh(p->support[k] / set->arcsinh);
    if (r->c.label >= 0)
        TRY(label_list_finish(r->ctx, &r->labels, p));
    p->id_text = r->ids.text;
    p->id_at = r->ids.at;
    r->ids.text = NULL;
    r->ids.at = NULL;
    if (r->titles.text) {
        p->titles = (measures_texts){p->n, r->titles.text, r->titles.at};
        r->titles = (text_rows){0};
    }
done:
    mem_free(r->ctx, kept);
    return status;
}

ddsc_status csv_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                     const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    reader r = {.ctx = ctx,
                .s = s,
                .out = out,
                .last = -1,
                .titles = {.ctx = ctx},
                .points = {.ctx = ctx},
                .meta = {.ctx = ctx}};
    TRY(read_header(&r, set));
    TRY(read_rows(&r, set));
    TRY(csv_finish(&r, set));
done:
    table_free(ctx, &r.c);
    text_table_free(ctx, &r.ids);
    label_list_free(ctx, &r.labels);
    fields_free(ctx, &r.field);
    MEM_FREE(ctx, r.first_line, r.joined, r.tidy, r.item, r.titles.text, r.titles.at, r.points.text,
             r.points.at, r.meta.text, r.meta.at);
    return status;
}
