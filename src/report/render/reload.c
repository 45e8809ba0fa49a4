/* Reads files of a result for its page: neighbors with distances (graph.mtx), the embedding from
 * which ambiguities are computed (embedding.npy), and the labels for every K (sweep.csv). Rows
 * of these files are input rows and are converted to items. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/stream/stream.h"
#include "report/render/report.h"
#include "report/content/content.h"

static int64_t count_items(const ddsc_report *r)
{
    int64_t n = 0;
    for (int64_t row = 0; row < r->n_rows; row++)
        n += r->item[row] >= 0;
    return n;
}

/* Returns the item of a row, counted from 1, or -1. */
static int64_t item_at(const ddsc_report *r, int64_t row)
{
    return row >= 1 && row <= r->n_rows ? r->item[row - 1] : -1;
}

/* Reads a line "neighbor item distance^2". Items are in ascending order, and the neighbors of an
 * item are in the order of the graph. */
static ddsc_status take_edge(ddsc_report *r, io_stream *s, const char *line, int64_t e, int64_t *at)
{
    char *end = NULL;
    int64_t from = item_at(r, strtoll(line, &end, 10)), to = item_at(r, strtoll(end, &end, 10));
    double d2 = strtod(end, &end);
    if (from < 0 || to < *at || !isfinite(d2) || *end)
        return stream_fail_line(
            s, ": invalid edge; expected \"neighbor item distance^2\" with items of this result");
    while (*at < to)
        r->own_offset[++*at] = e;
    r->own_index[e] = (int32_t)from;
    r->own_d2[e] = d2;
    return DDSC_OK;
}

enum { EDGE_BYTES = 4 }; /* minimum length of a line */

static ddsc_status read_edges(ddsc_report *r, io_stream *s)
{
    char *line = NULL, *end = NULL;
    size_t length;
    int64_t n = count_items(r), at = 0, least;
    do /* skip comments */
        CHECK(stream_line(s, &line, &length));
    while (line && *line == '%');
    int64_t rows = line ? strtoll(line, &end, 10) : -1,
            columns = line ? strtoll(end, &end, 10) : -1;
    int64_t n_edges = line ? strtoll(end, &end, 10) : -1;
    if (rows != r->n_rows || columns != r->n_rows || n_edges < 0)
        return stream_fail(s,
                           "the size of the graph differs from the number of items in result.json");
    if (!mul_ok(n_edges, EDGE_BYTES, &least))
        return stream_fail(s, "declares %lld edges, which is too many", (long long)n_edges);
    CHECK(stream_check_declared(s, least, "edges"));
    CHECK(MEM_ZERO(r->ctx, r->own_offset, n + 1));
    CHECK(MEM_NEW(r->ctx, r->own_index, n_edges));
    CHECK(MEM_NEW(r->ctx, r->own_d2, n_edges));
    for (int64_t e = 0; e < n_edges; e++) {
        CHECK(stream_line(s, &line, &length));
        if (!line)
            return stream_fail(s, "ends after %lld of %lld edges", (long long)e,
                               (long long)n_edges);
        CHECK(take_edge(r, s, line, e, &at));
    }
    while (at < n)
        r->own_offset[++at] = n_edges;
    r->edges = (ddsc_graph_view){.n = n,
                                 .n_edges = n_edges,
                                 .offset = r->own_offset,
                                 .index = r->own_index,
                                 .d2 = r->own_d2};
    return DDSC_OK;
}

ddsc_status report_load_graph(ddsc_report *r, const char *path)
{
    io_stream *s = NULL;
    CHECK(stream_open(r->ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    stream_set_utf8(s);
    ddsc_status status = read_edges(r, s);
    stream_close(s);
    return status;
}

ddsc_status report_load_embedding(ddsc_report *r, const char *path)
{
    ddsc_status status = DDSC_OK;
    int64_t n_rows = 0, columns = 0, n = count_items(r);
    int32_t *labels = NULL;
    CHECK(ddsc_rows_read(r->ctx, &r->own_coords, &n_rows, &columns, path));
    if (n_rows != r->n_rows || columns < 1)
        return ctx_fail(r->ctx, DDSC_ERROR_INPUT, "%s: expected one row per item", path);
    TRY(MEM_NEW(r->ctx, labels, n));
    for (int64_t i = 0; i < n; i++) { /* row[i] >= i, so no row is overwritten before it is moved */
        memmove(r->own_coords + i * columns, r->own_coords + r->row[i] * columns,
                (size_t)columns * sizeof *r->own_coords);
        labels[i] = r->label[r->row[i]];
        for (int64_t c = 0; c < columns; c++)
            if (!isfinite(r->own_coords[i * columns + c]))
                TRY(ctx_fail(r->ctx, DDSC_ERROR_INPUT,
                             "%s: row %lld has a value that is not finite", path,
                             (long long)r->row[i]));
    }
    r->coords = r->own_coords;
    r->n_coords = columns;
    TRY(content_find_ambiguity(r, labels, n));
done:
    mem_free(r->ctx, labels);
    return status;
}

/* Reads one row of labels. Each label must be less than the K that result.json lists for the
 * column, or -1 for an excluded outlier. */
static ddsc_status take_tried(ddsc_report *r, io_stream *s, const field_list *field, int64_t row,
                              int64_t n)
{
    const json_t *sweep = json_object_get(r->tree, "sweep");
    if (row >= r->n_rows || field->n != r->n_tried + 1)
        return stream_fail_line(s, ": expected an id and one label for each K in result.json");
    for (int64_t k = 0; k < r->n_tried && r->item[row] >= 0; k++) {
        int64_t label = -1;
        int64_t most = json_integer_value(json_object_get(json_array_get(sweep, (size_t)k), "k"));
        if (!number_parse_integer(field->text[k + 1], &label) || label < -1 || label >= most)
            return stream_fail_line(s, ": label %lld is out of range for %lld clusters",
                                    (long long)label, (long long)most);
        r->own_tried[k * n + r->item[row]] = (int32_t)label;
    }
    return DDSC_OK;
}

/* Returns true if result.json lists the K of every column. The labels cannot be interpreted without
 * these values. */
static bool knows_tried(const ddsc_report *r)
{
    const json_t *sweep = json_object_get(r->tree, "sweep");
    for (size_t k = 0; k < json_array_size(sweep); k++) {
        json_int_t tried = json_integer_value(json_object_get(json_array_get(sweep, k), "k"));
        if (tried < 1 || tried > r->n_rows)
            return false;
    }
    return json_array_size(sweep) > 1;
}

static ddsc_status read_tried(ddsc_report *r, io_stream *s, field_list *field)
{
    char *line;
    int64_t n = count_items(r), row = 0;
    r->n_tried = (int64_t)json_array_size(json_object_get(r->tree, "sweep"));
    CHECK(MEM_ZERO(r->ctx, r->own_tried, r->n_tried * n));
    CHECK(stream_text_line(s, &line, ','));
    if (line)
        CHECK(stream_text_line(s, &line, ','));
    for (; line; row++) {
        CHECK(fields_split(r->ctx, field, s, line, ','));
        CHECK(take_tried(r, s, field, row, n));
        CHECK(stream_text_line(s, &line, ','));
    }
    if (row != r->n_rows)
        return stream_fail(s, "the number of rows differs from the number of items in result.json");
    r->tried = r->own_tried;
    return DDSC_OK;
}

ddsc_status report_load_sweep(ddsc_report *r, const char *path)
{
    io_stream *s = NULL;
    field_list field = {0};
    if (!knows_tried(r))
        return DDSC_OK;
    CHECK(stream_open(r->ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    stream_set_utf8(s);
    ddsc_status status = read_tried(r, s, &field);
    fields_free(r->ctx, &field);
    stream_close(s);
    return status;
}
