/* Writes the data block of the page. Numbers are 16 bits wide if possible and encoded in base64,
 * which keeps pages with 70,000 items well below 20 MB. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/render/charts.h"
#include "report/render/page.h"
#include "base/text.h"

enum { NO_VALUE = 65535 };

void *report_data_memory(buffer *t, int64_t count, size_t size)
{
    void *block = NULL;
    if (t->status >= 0)
        t->status = mem_zero(t->ctx, &block, count, size);
    return block;
}

void report_data_words(buffer *t, const char *key, uint16_t *value, int64_t n)
{
    unsigned char *bytes = (unsigned char *)value;
    for (int64_t i = 0; i < n; i++) {
        uint16_t word = value[i];
        bytes[2 * i] = (unsigned char)(word & 255);
        bytes[2 * i + 1] = (unsigned char)(word >> 8);
    }
    buffer_addf(t, ",\n\"%s\":\"", key);
    buffer_add_base64(t, bytes, 2 * (size_t)n);
    buffer_add(t, "\"");
    mem_free(t->ctx, value);
}

void report_data_json(buffer *t, const json_t *value)
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII |
                                       JSON_REAL_PRECISION(5));
    if (!dump)
        t->status = t->status < 0
                        ? t->status
                        : ctx_fail(t->ctx, DDSC_ERROR_MEMORY, "out of memory for the page");
    for (const char *c = dump ? dump : ""; *c; c++)
        if (*c == '<' || *c == '>' || *c == '&')
            buffer_addf(t, "\\u%04x", (unsigned)*c);
        else
            buffer_add_bytes(t, c, 1);
    free(dump);
}

void report_data_string(buffer *t, const char *words)
{
    char *shown = NULL;
    size_t space = text_visible(NULL, 0, words, strlen(words)) + 1;
    t->status = t->status < 0 ? t->status : mem_get(t->ctx, &shown, (int64_t)space, 1);
    if (!shown)
        return;
    text_visible(shown, space, words, strlen(words));
    json_t *string = result_string(shown);
    mem_free(t->ctx, shown);
    report_data_json(t, string);
    json_decref(string);
}

static bool ids_are_numbers(const ddsc_report *r)
{
    char space[RESULT_ID], number[RESULT_ID];
    for (int64_t row = 0; row < r->n_rows; row++) {
        snprintf(number, sizeof number, "%" PRId64, row);
        if (r->label[row] >= 0 && strcmp(result_id(r, row, space), number) != 0)
            return false;
    }
    return true;
}

static void add_ids(buffer *t, const ddsc_report *r)
{
    char space[RESULT_ID];
    if (ids_are_numbers(r))
        return;
    buffer_add(t, ",\n\"ids\":[");
    for (int64_t row = 0; row < r->n_rows; row++) {
        buffer_add(t, row ? "," : "");
        report_data_string(t, result_id(r, row, space));
    }
    buffer_add(t, "]");
}

static void add_label_words(buffer *t, const ddsc_report *r)
{
    uint16_t *value = report_data_memory(t, r->n_rows, sizeof *value);
    if (!value)
        return;
    for (int64_t i = 0; i < r->n_rows; i++)
        value[i] = (uint16_t)(r->shown[i] < 0 ? NO_VALUE : r->shown[i] % NO_VALUE);
    report_data_words(t, "label", value, r->n_rows);
}

static void add_classes(buffer *t, const ddsc_report *r)
{
    const json_t *confusion = json_object_get(json_object_get(r->tree, "scores"), "confusion");
    const json_t *classes = json_object_get(confusion, "classes");
    if (!r->class)
        return;
    uint16_t *value = report_data_memory(t, r->n_rows, sizeof *value);
    if (!value)
        return;
    for (int64_t i = 0; i < r->n_rows; i++)
        value[i] = r->class[i] < 0 ? NO_VALUE : (uint16_t)r->class[i];
    report_data_words(t, "truth", value, r->n_rows);
    buffer_add(t, ",\n\"classes\":[");
    for (size_t c = 0; c < json_array_size(classes); c++) {
        const char *name = json_string_value(json_array_get(classes, c));
        buffer_add(t, c ? "," : "");
        report_data_string(t, name ? name : "");
    }
    buffer_add(t, "]");
}

/* Writes the map with the same scale for both axes, centered in 0 .. 65534. Items without a
 * position have the value NO_VALUE. */
static void add_places(buffer *t, const ddsc_report *r)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < 2 * r->n_rows; i++) {
        low[i % 2] = fmin(low[i % 2], r->xy[i]);
        high[i % 2] = fmax(high[i % 2], r->xy[i]);
    }
    double size = fmax(high[0] - low[0], high[1] - low[1]);
    double scale = size > 0 && isfinite(size) ? 65533 / size : 0;
    for (int c = 0; c < 2; c++) {
        double middle = (low[c] + high[c]) / 2;
        uint16_t *value = report_data_memory(t, r->n_rows, sizeof *value);
        for (int64_t i = 0; value && i < r->n_rows; i++) {
            double at = 32767 + scale * (r->xy[2 * i + c] - middle);
            value[i] = isfinite(at) ? (uint16_t)fmin(fmax(at, 0), NO_VALUE - 1) : NO_VALUE;
        }
        if (value)
            report_data_words(t, c ? "y" : "x", value, r->n_rows);
    }
}

static void add_group_names(buffer *t, const ddsc_report *r)
{
    buffer_add(t, ",\n\"names\":[");
    for (int64_t c = 0; c < r->k; c++) {
        buffer name = {.ctx = t->ctx};
        report_add_name(&name, r, c);
        buffer_add(t, c ? "," : "");
        if (name.status < 0)
            t->status = name.status;
        else
            report_data_string(t, name.bytes);
        buffer_free(&name);
    }
    buffer_add(t, "]");
}

static int64_t merge_node(const ddsc_report *r, size_t merge, const char *key)
{
    const json_t *row = json_array_get(json_object_get(r->tree, "tree"), merge);
    const json_t *node = json_object_get(row, key);
    return json_is_integer(node) ? json_integer_value(node) : -1;
}

bool report_has_merges(const ddsc_report *r)
{
    size_t n = json_array_size(json_object_get(r->tree, "tree"));
    for (size_t m = 0; m < n; m++) {
        int64_t a = merge_node(r, m, "a"), b = merge_node(r, m, "b");
        if (a < 0 || a >= b || b >= r->k + (int64_t)m)
            return false;
    }
    return r->k > 2 && (int64_t)n == r->k - 1;
}

/* Writes the merges of clusters and their heights. The most similar clusters are listed first. */
static void add_merges(buffer *t, const ddsc_report *r)
{
    for (int64_t m = 0; m + 1 < r->k; m++)
        buffer_addf(t, "%s[%" PRId64 ",%" PRId64 ",%.3g]", m ? "," : ",\n\"tree\":[",
                    merge_node(r, (size_t)m, "a"), merge_node(r, (size_t)m, "b"),
                    json_number_value(json_object_get(
                        json_array_get(json_object_get(r->tree, "tree"), (size_t)m), "height")));
    buffer_add(t, "]");
}

/* Writes the rows and scores of the outliers. */
static void add_outliers(buffer *t, const ddsc_report *r)
{
    const json_t *items = json_object_get(json_object_get(r->tree, "outliers"), "items");
    bool any = false;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        int64_t row = report_page_row(r, item);
        if (row < 0)
            continue;
        buffer_addf(t, "%s[%" PRId64 ",%.3g]", any ? "," : ",\n\"outliers\":[", row,
                    json_number_value(json_object_get(item, "score")));
        any = true;
    }
    buffer_add(t, any ? "]" : "");
}

void report_page_data(buffer *t, const ddsc_report *r)
{
    buffer_addf(t, "<script type=\"application/json\" id=\"data\">{\"n\":%" PRId64, r->n_rows);
    add_label_words(t, r);
    add_group_names(t, r);
    add_ids(t, r);
    add_classes(t, r);
    if (report_has_merges(r))
        add_merges(t, r);
    add_outliers(t, r);
    report_data_items(t, r);
    report_data_cells(t, r);
    report_data_order(t, r);
    if (r->xy) {
        add_places(t, r);
        report_data_pictures(t, r);
    }
    buffer_add(t, "}</script>\n");
}
