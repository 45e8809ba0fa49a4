/* Creates a comparison of two results. Reads result.json and labels.csv if a result is a folder. */
#include <stdlib.h>
#include <string.h>

#include "io/stream/stream.h"
#include "report/diff/diff.h"
#include "report/render/report.h"

static ddsc_status take_label_line(ddsc_diff *d, int side, io_stream *s, const field_list *field,
                                   int64_t row)
{
    ddsc_report *r = d->side[side].result;
    int64_t label = 0;
    if (row >= r->n_rows)
        return stream_fail(s, "has more labels than result.json has items (%lld)",
                           (long long)r->n_rows);
    if (field->n < 2 || !number_parse_integer(field->text[field->n - 1], &label) || label < -1 ||
        label >= r->k)
        return stream_fail_line(s, ": expected an id and a label from -1 to %lld",
                                (long long)r->k - 1);
    r->label[row] = (int32_t)label;
    return diff_take_id(d, side, row, field->text[0]);
}

static ddsc_status take_lines(ddsc_diff *d, int side, io_stream *s, field_list *field)
{
    ddsc_report *r = d->side[side].result;
    int64_t row = 0, least;
    char *line;
    if (!mul_ok(r->n_rows, 4, &least))
        return stream_fail(s, "result.json declares %lld items, which is too many",
                           (long long)r->n_rows);
    CHECK(stream_check_declared(s, least, "labels"));
    CHECK(MEM_ZERO(d->ctx, r->label, r->n_rows));
    CHECK(stream_text_line(s, &line, ','));
    if (!line || strcmp(line, "id,label") != 0)
        return stream_fail_line(s, ": expected the header \"id,label\"");
    CHECK(stream_text_line(s, &line, ','));
    for (; line; row++) {
        CHECK(fields_split(d->ctx, field, s, line, ','));
        CHECK(take_label_line(d, side, s, field, row));
        CHECK(stream_text_line(s, &line, ','));
    }
    if (row != r->n_rows)
        return stream_fail(s, "has %lld labels, but result.json has %lld items", (long long)row,
                           (long long)r->n_rows);
    return DDSC_OK;
}

static ddsc_status read_label_file(ddsc_diff *d, int side, const char *path)
{
    io_stream *s = NULL;
    field_list field = {0};
    CHECK(stream_open(d->ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    stream_set_utf8(s);
    ddsc_status status = take_lines(d, side, s, &field);
    fields_free(d->ctx, &field);
    stream_close(s);
    return status;
}

static ddsc_status read_result_folder(ddsc_diff *d, int side, const char *folder)
{
    ddsc_status status = DDSC_OK;
    report_path path = {0};
    TRY(report_path_new(d->ctx, &path, folder));
    TRY(report_load_tree(d->side[side].result, &path));
    TRY(read_label_file(d, side, report_path_of(&path, "labels.csv")));
done:
    mem_free(d->ctx, path.text);
    return status;
}

static ddsc_status open_side(ddsc_diff *d, int side, const ddsc_diff_side *given)
{
    ddsc_diff_side from;
    CHECK(diff_check_side(d->ctx, &from, given));
    CHECK(diff_side_open(d, side, from.name ? from.name : from.folder));
    return from.folder ? read_result_folder(d, side, from.folder) : diff_take_side(d, side, &from);
}

ddsc_status ddsc_diff_create(ddsc_context *context, ddsc_diff **diff, const ddsc_diff_side *first,
                             const ddsc_diff_side *second, const ddsc_identity_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_diff *d = NULL;
    if (!context || !diff)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    *diff = NULL;
    TRY(MEM_ZERO(context, d, 1));
    d->ctx = context;
    TRY(open_side(d, 0, first));
    TRY(open_side(d, 1, second));
    TRY(diff_run(d, settings));
    *diff = d;
    d = NULL;
done:
    ddsc_diff_destroy(d);
    result_call_end(&call);
    return status;
}
