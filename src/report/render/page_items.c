/* Writes the data about single items: nearest neighbors with distances, nearest other cluster and
 * ambiguity, labels for every K, titles and metadata columns.
 *
 * The data also describe what is unusual about each item. If points have names, this description
 * lists the heaviest words of the item, ranked by weight times log(N / items that contain the
 * word), and the words that a transport plan moves to the nearest neighbor. Otherwise, it lists the
 * mean coordinates of the item, in standard deviations over all items. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/stream/stream.h"
#include "report/render/report.h"

enum {
    NO_VALUE = 65535,
    N_NEAR = 5,
    N_HEAVY = 8,
    HEAVY_ITEMS = 20000,    /* if there are more items, no words are written */
    MEAN_CELLS = 1 << 20,   /* if items x coordinates is larger, no means are written */
    EMBEDDED_ITEMS = 300,   /* if there are more items, there is no embedding for the heat map */
    LONG_TITLES = 20000,    /* if there are more items, titles are shortened */
    SHORT_TITLE = 80,       /* bytes */
    COLUMN_BYTES = 4 << 20, /* limit for all metadata columns */
    MEAN_UNIT = 16          /* units per standard deviation */
};

/* Writes a block of numbers with 1 to 4 bytes each, low byte first. */
static void add_block(buffer *t, const char *key, const unsigned char *bytes, int64_t n)
{
    buffer_addf(t, "\"%s\":\"", key);
    buffer_add_base64(t, bytes, (size_t)n);
    buffer_add(t, "\"");
}

static void set_bytes(unsigned char *to, uint32_t value, int n)
{
    for (int b = 0; b < n; b++)
        to[b] = (unsigned char)(value >> 8 * b & 255);
}

/* Writes the rows of the neighbors, nearest first, and their distances as 32-bit floats. */
static void add_near_rows(buffer *t, const ddsc_report *r)
{
    const ddsc_graph_view *g = &r->edges;
    int64_t cells = r->n_rows * N_NEAR;
    if (g->n == 0)
        return;
    unsigned char *rows = report_data_memory(t, cells, 4);
    unsigned char *length = report_data_memory(t, cells, 4);
    for (int64_t c = 0; rows && length && c < cells; c++) {
        int64_t item = r->item[c / N_NEAR], e = item < 0 ? 0 : g->offset[item] + c % N_NEAR;
        bool there = item >= 0 && e < g->offset[item + 1];
        float d = there ? (float)sqrt(fmax(g->d2[e], 0)) : NAN;
        uint32_t bits;
        memcpy(&bits, &d, sizeof bits);
        set_bytes(rows + 4 * c, there ? (uint32_t)r->row[g->index[e]] : UINT32_MAX, 4);
        set_bytes(length + 4 * c, there ? bits : 0x7fc00000u, 4);
    }
    if (rows && length) {
        buffer_addf(t, ",\n\"near\":{\"width\":%d,", N_NEAR);
        add_block(t, "rows", rows, 4 * cells);
        buffer_add(t, ",");
        add_block(t, "distance", length, 4 * cells);
        buffer_add(t, "}");
    }
    MEM_FREE(t->ctx, rows, length);
}

/* Writes the ambiguity as 0 .. 255 for 0 .. 0.5, and the nearest other cluster. */
static void add_standing_of(buffer *t, const ddsc_report *r)
{
    if (!r->next)
        return;
    uint16_t *next = report_data_memory(t, r->n_rows, sizeof *next);
    unsigned char *ambiguity = report_data_memory(t, r->n_rows, 1);
    for (int64_t row = 0; next && ambiguity && row < r->n_rows; row++) {
        int64_t item = r->item[row];
        bool known = item >= 0 && r->next[item] >= 0;
        next[row] = NO_VALUE;
        if (known)
            next[row] = (uint16_t)(r->next[item] % NO_VALUE);
        ambiguity[row] =
            known ? (unsigned char)lround(fmin(fmax(510 * r->ambiguity[item], 0), 255)) : 0;
    }
    if (next && ambiguity) {
        buffer_add(t, ",\n");
        add_block(t, "ambiguity", ambiguity, r->n_rows);
        report_data_words(t, "next", next, r->n_rows);
    } else {
        mem_free(t->ctx, next);
    }
    mem_free(t->ctx, ambiguity);
}

static void add_tried(buffer *t, const ddsc_report *r)
{
    const json_t *sweep = json_object_get(r->tree, "sweep");
    int64_t n = r->n_tried > 0 ? r->n_tried : 0, n_items = 0;
    for (int64_t row = 0; row < r->n_rows; row++)
        n_items += r->item[row] >= 0;
    for (int64_t k = 0; k < n; k++) {
        const json_t *tried = json_array_get(sweep, (size_t)k);
        const json_t *stability = json_object_get(tried, "stability");
        uint16_t *label = report_data_memory(t, r->n_rows, sizeof *label);
        buffer_addf(t, "%s{\"k\":%" JSON_INTEGER_FORMAT, k ? "," : ",\n\"sweep\":[",
                    json_integer_value(json_object_get(tried, "k")));
        if (json_is_number(stability))
            buffer_addf(t, ",\"stability\":%.3f", json_number_value(stability));
        for (int64_t row = 0; label && row < r->n_rows; row++)
            label[row] = r->shown[row] < 0
                             ? NO_VALUE
                             : (uint16_t)(r->tried[k * n_items + r->item[row]] % NO_VALUE);
        if (label)
            report_data_words(t, "label", label, r->n_rows);
        buffer_add(t, "}");
    }
    buffer_add(t, n > 0 ? "]" : "");
}

static void add_titles(buffer *t, const ddsc_report *r)
{
    char cut[SHORT_TITLE + 1];
    if (!r->measures || !ddsc_measures_get_title(r->measures, 0))
        return;
    for (int64_t row = 0; row < r->n_rows; row++) {
        int64_t own = result_measures_row(r, row);
        const char *title = own < 0 ? "" : ddsc_measures_get_title(r->measures, own);
        size_t n = strlen(title);
        if (r->n_rows > LONG_TITLES && n > SHORT_TITLE) {
            n = text_cut(title, n, SHORT_TITLE);
            memcpy(cut, title, n);
            cut[n] = 0;
            title = cut;
        }
        buffer_add(t, row ? "," : ",\n\"titles\":[");
        report_data_string(t, title);
    }
    buffer_add(t, "]");
}

/* ---- metadata columns ---- */

/* Encodes a column as its distinct values, in order of appearance, and an index per row. Returns
 * false if there are too many values. */
static bool number_values(buffer *t, const ddsc_report *r, int64_t column, text_table *values,
                          uint16_t *code)
{
    for (int64_t row = 0; row < r->n_rows; row++) {
        int64_t own = result_measures_row(r, row), number = 0;
        const char *text = own < 0 ? "" : ddsc_measures_get_meta(r->measures, own, column);
        bool is_new;
        code[row] = NO_VALUE;
        if (!*text)
            continue;
        t->status = text_table_add(t->ctx, values, text, strlen(text), &number, &is_new);
        if (t->status < 0 || number >= NO_VALUE)
            return false;
        code[row] = (uint16_t)number;
    }
    return true;
}

/* Writes a column if it fits into the remaining `left` bytes, and subtracts its size from `left`.
 * Returns false if the column does not fit. */
static bool add_column(buffer *t, const ddsc_report *r, int64_t column, bool first, int64_t *left)
{
    text_table values = {0};
    uint16_t *code = report_data_memory(t, r->n_rows, sizeof *code);
    bool fits = code && number_values(t, r, column, &values, code);
    int64_t bytes = fits && values.n > 0 ? values.at[values.n] + 3 * r->n_rows : 0;
    fits = fits && values.n > 0 && bytes <= *left;
    if (fits) {
        *left -= bytes;
        buffer_add(t, first ? ",\n\"columns\":[{\"name\":" : ",{\"name\":");
        report_data_string(t, ddsc_measures_get_meta_name(r->measures, column));
        buffer_add(t, ",\"values\":[");
        for (int64_t v = 0; v < values.n; v++) {
            buffer_add(t, v ? "," : "");
            report_data_string(t, text_table_get(&values, v));
        }
        buffer_add(t, "]");
        report_data_words(t, "code", code, r->n_rows);
        buffer_add(t, "}");
    } else {
        mem_free(t->ctx, code);
    }
    text_table_free(t->ctx, &values);
    return fits;
}

static void add_columns(buffer *t, const ddsc_report *r)
{
    int64_t left = COLUMN_BYTES;
    bool first = true;
    for (int64_t c = 0;
         t->status >= 0 && r->measures && left > 0 && ddsc_measures_get_meta_name(r->measures, c);
         c++)
        if (add_column(t, r, c, first, &left))
            first = false;
    buffer_add(t, first ? "" : "]");
}

/* ---- distinctive features of an item ---- */

/* Counts the items that have mass at each point. Returns NULL after a failure. */
static int32_t *count_holders(buffer *t, const ddsc_measures_view *v)
{
    int32_t *holders = report_data_memory(t, v->n_support, sizeof *holders);
    for (int64_t e = 0; holders && e < v->n_entries; e++)
        holders[v->index[e]]++;
    return holders;
}

/* Finds the heaviest points of an item. Unused entries are -1. */
static void find_heavy(int64_t heavy[N_HEAVY], const ddsc_measures_view *v, int64_t item,
                       const int32_t *holders)
{
    double weight[N_HEAVY];
    for (int k = 0; k < N_HEAVY; k++) {
        heavy[k] = -1;
        weight[k] = 0;
    }
    for (int64_t e = v->offset[item]; e < v->offset[item + 1]; e++) {
        double w = v->weight[e] * log((double)(v->n_items + 1) / holders[v->index[e]]);
        int at = N_HEAVY;
        for (; at > 0 && w > weight[at - 1]; at--)
            if (at < N_HEAVY) {
                weight[at] = weight[at - 1];
                heavy[at] = heavy[at - 1];
            }
        if (at < N_HEAVY) {
            weight[at] = w;
            heavy[at] = v->index[e];
        }
    }
}

/* Writes the names of the points marked in `number`, and replaces each mark with the index of
 * the name, from 1. */
static void add_word_list(buffer *t, const ddsc_report *r, int32_t *number)
{
    int32_t n = 0;
    buffer_add(t, ",\n\"words\":{\"list\":[");
    for (int64_t p = 0; p < r->items.n_support; p++)
        if (number[p]) {
            buffer_add(t, n ? "," : "");
            report_data_string(t, ddsc_measures_get_point_name(r->measures, p));
            number[p] = ++n;
        }
    buffer_addf(t, "],\"width\":%d,", N_HEAVY);
}

/* Writes word indices and percentages. Unused entries are 0. */
static void add_flows(buffer *t, const ddsc_report *r, const report_flows *flows,
                      const int32_t *number)
{
    enum { WIDTH = 2 * REPORT_FLOWS };
    int64_t n = r->items.n_items;
    unsigned char *words = report_data_memory(t, r->n_rows * WIDTH, 4);
    unsigned char *percent = report_data_memory(t, r->n_rows * (REPORT_FLOWS + 1), 1);
    for (int64_t i = 0; words && percent && i < n; i++) {
        const report_flows *f = &flows[i];
        unsigned char *share = percent + r->row[i] * (REPORT_FLOWS + 1);
        share[REPORT_FLOWS] = (unsigned char)lround(100 * fmin(f->stays, 1));
        for (int k = 0; k < REPORT_FLOWS && f->from[k] >= 0; k++) {
            unsigned char *to = words + 4 * (r->row[i] * WIDTH + 2 * k);
            set_bytes(to, (uint32_t)number[f->from[k]], 4);
            set_bytes(to + 4, (uint32_t)number[f->to[k]], 4);
            share[k] = (unsigned char)lround(100 * fmin(f->mass[k], 1));
        }
    }
    if (words && percent) {
        buffer_addf(t, ",\"flows\":{\"width\":%d,", REPORT_FLOWS);
        add_block(t, "words", words, 4 * r->n_rows * WIDTH);
        buffer_add(t, ",");
        add_block(t, "percent", percent, r->n_rows * (REPORT_FLOWS + 1));
        buffer_add(t, "}");
    }
    MEM_FREE(t->ctx, words, percent);
}

static void mark_flows(int32_t *number, const report_flows *flows, int64_t n)
{
    for (int64_t k = 0; k < n * REPORT_FLOWS; k++) {
        const report_flows *f = &flows[k / REPORT_FLOWS];
        if (f->from[k % REPORT_FLOWS] >= 0)
            number[f->from[k % REPORT_FLOWS]] = number[f->to[k % REPORT_FLOWS]] = 1;
    }
}

static void add_heavy_words(buffer *t, const ddsc_report *r)
{
    const ddsc_measures_view *v = &r->items;
    if (v->n_items > HEAVY_ITEMS || !result_has_words(r))
        return;
    int32_t *holders = count_holders(t, v);
    int32_t *number = report_data_memory(t, v->n_support, sizeof *number);
    unsigned char *bytes = report_data_memory(t, r->n_rows * N_HEAVY, 4);
    report_flows *flows = report_find_flows(t, r);
    int64_t heavy[N_HEAVY];
    if (flows && number)
        mark_flows(number, flows, v->n_items);
    for (int pass = 0; holders && number && bytes && pass < 2; pass++) {
        for (int64_t i = 0; i < v->n_items; i++) {
            find_heavy(heavy, v, i, holders);
            for (int k = 0; k < N_HEAVY && heavy[k] >= 0; k++)
                if (pass == 0)
                    number[heavy[k]] = 1;
                else
                    set_bytes(bytes + 4 * (r->row[i] * N_HEAVY + k), (uint32_t)number[heavy[k]], 4);
        }
        if (pass == 0)
            add_word_list(t, r, number);
    }
    if (holders && number && bytes) {
        add_block(t, "of", bytes, 4 * r->n_rows * N_HEAVY);
        if (flows)
            add_flows(t, r, flows, number);
        buffer_add(t, "}");
    }
    MEM_FREE(t->ctx, holders, number, bytes, flows);
}

/* Standardizes the means of one coordinate over the items. */
static void scale_means(double *mean, int64_t n)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        sum += mean[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        square += (mean[i] - sum) * (mean[i] - sum) / (double)n;
    for (int64_t i = 0; i < n; i++)
        mean[i] = square > 0 ? (mean[i] - sum) / sqrt(square) : 0;
}

static void fill_means(unsigned char *bytes, double *mean, const ddsc_report *r, int64_t c)
{
    const ddsc_measures_view *v = &r->items;
    for (int64_t i = 0; i < v->n_items; i++) {
        mean[i] = 0;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            mean[i] += v->weight[e] * v->support[v->index[e] * v->dim + c];
    }
    scale_means(mean, v->n_items);
    for (int64_t i = 0; i < v->n_items; i++)
        bytes[r->row[i] * v->dim + c] =
            (unsigned char)(128 + lround(fmin(fmax(MEAN_UNIT * mean[i], -127), 127)));
}

static void add_means(buffer *t, const ddsc_report *r)
{
    const ddsc_measures_view *v = &r->items;
    if (!r->measures || v->dim < 1 || v->is_grid || r->n_rows > MEAN_CELLS / v->dim ||
        !ddsc_measures_get_coordinate_name(r->measures, 0))
        return;
    double *mean = report_data_memory(t, v->n_items, sizeof *mean);
    unsigned char *bytes = report_data_memory(t, r->n_rows * v->dim, 1);
    buffer_addf(t, ",\n\"means\":{\"unit\":%d,\"names\":[", MEAN_UNIT);
    for (int64_t c = 0; mean && bytes && c < v->dim; c++) {
        buffer_add(t, c ? "," : "");
        report_data_string(t, ddsc_measures_get_coordinate_name(r->measures, c));
        fill_means(bytes, mean, r, c);
    }
    buffer_add(t, "],");
    if (bytes)
        add_block(t, "of", bytes, r->n_rows * v->dim);
    buffer_add(t, "}");
    MEM_FREE(t->ctx, mean, bytes);
}

/* Writes the rows of the embedding with a common scale, which preserves ratios of distances. */
static void add_embedding(buffer *t, const ddsc_report *r)
{
    double low = INFINITY, high = -INFINITY;
    int64_t n = 0, m = r->n_coords;
    for (int64_t row = 0; row < r->n_rows; row++)
        n += r->item[row] >= 0;
    if (!r->coords || n > EMBEDDED_ITEMS)
        return;
    for (int64_t i = 0; i < n * m; i++) {
        low = fmin(low, r->coords[i]);
        high = fmax(high, r->coords[i]);
    }
    uint16_t *cell = report_data_memory(t, r->n_rows * m, sizeof *cell);
    if (!cell)
        return;
    for (int64_t i = 0; i < n * m; i++)
        cell[r->row[i / m] * m + i % m] =
            (uint16_t)lround(high > low ? 65535 * (r->coords[i] - low) / (high - low) : 0);
    buffer_addf(t, ",\n\"embedding\":{\"width\":%" PRId64, m);
    report_data_words(t, "cells", cell, r->n_rows * m);
    buffer_add(t, "}");
}

void report_data_items(buffer *t, const ddsc_report *r)
{
    add_near_rows(t, r);
    add_standing_of(t, r);
    add_tried(t, r);
    add_titles(t, r);
    add_columns(t, r);
    add_heavy_words(t, r);
    add_means(t, r);
    add_embedding(t, r);
}
