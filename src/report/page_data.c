/* The data behind the map. Numbers are 16 bits wide and pictures 4 bits a cell, in base64, so that
 * 70,000 items stay well below 20 MB. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/charts.h"

enum {
    NO_VALUE = 65535,
    MANY_ITEMS = 2000, /* from here on pictures of all items get coarser, */
    MORE_ITEMS = 20000,
    MOST_ITEMS = 100000, /* and from here on only those of the cards are kept */
    COARSE_SIDE = 20,
    COARSER_SIDE = 14
};

/* Zeroed memory of the page at work; NULL after a failure, which the page remembers. */
static void *page_memory(buffer *t, int64_t count, size_t size)
{
    void *block = NULL;
    if (t->status >= 0)
        t->status = mem_zero(t->ctx, &block, count, size);
    return block;
}

/* 16 bits each, low byte first; takes over `value`. */
static void add_words(buffer *t, const char *key, uint16_t *value, int64_t n)
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

/* A JSON string that cannot end the script element it stands in. */
static void add_string(buffer *t, const char *words)
{
    json_t *string = report_string(words);
    char *dump = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(string);
    if (!dump)
        t->status = ctx_fail(t->ctx, DDSC_ERROR_MEMORY, "out of memory for the page");
    for (const char *c = dump ? dump : ""; *c; c++)
        if (*c == '<' || *c == '>' || *c == '&')
            buffer_addf(t, "\\u%04x", (unsigned)*c);
        else
            buffer_add_bytes(t, c, 1);
    free(dump);
}

static bool ids_are_numbers(const ddsc_report *r)
{
    char space[REPORT_ID], number[REPORT_ID];
    for (int64_t row = 0; row < r->n_rows; row++) {
        snprintf(number, sizeof number, "%" PRId64, row);
        if (r->label[row] >= 0 && strcmp(report_id(r, row, space), number) != 0)
            return false;
    }
    return true;
}

static void add_ids(buffer *t, const ddsc_report *r)
{
    char space[REPORT_ID];
    if (ids_are_numbers(r))
        return;
    buffer_add(t, ",\n\"ids\":[");
    for (int64_t row = 0; row < r->n_rows; row++) {
        buffer_add(t, row ? "," : "");
        add_string(t, report_id(r, row, space));
    }
    buffer_add(t, "]");
}

static void add_label_words(buffer *t, const ddsc_report *r)
{
    uint16_t *value = page_memory(t, r->n_rows, sizeof *value);
    if (!value)
        return;
    for (int64_t i = 0; i < r->n_rows; i++)
        value[i] = (uint16_t)(r->label[i] < 0 ? NO_VALUE : r->label[i] % NO_VALUE);
    add_words(t, "label", value, r->n_rows);
}

static void add_classes(buffer *t, const ddsc_report *r)
{
    const json_t *confusion = json_object_get(json_object_get(r->tree, "scores"), "confusion");
    const json_t *classes = json_object_get(confusion, "classes");
    if (!r->class)
        return;
    uint16_t *value = page_memory(t, r->n_rows, sizeof *value);
    if (!value)
        return;
    for (int64_t i = 0; i < r->n_rows; i++)
        value[i] = r->class[i] < 0 ? NO_VALUE : (uint16_t)r->class[i];
    add_words(t, "truth", value, r->n_rows);
    buffer_add(t, ",\n\"classes\":[");
    for (size_t c = 0; c < json_array_size(classes); c++) {
        const char *name = json_string_value(json_array_get(classes, c));
        buffer_add(t, c ? "," : "");
        add_string(t, name ? name : "");
    }
    buffer_add(t, "]");
}

/* Both axes by one scale, in the middle of 0 .. 65535. */
static void add_places(buffer *t, const ddsc_report *r)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < 2 * r->n_rows; i++) {
        low[i % 2] = fmin(low[i % 2], r->xy[i]);
        high[i % 2] = fmax(high[i % 2], r->xy[i]);
    }
    double size = fmax(high[0] - low[0], high[1] - low[1]);
    double scale = size > 0 && isfinite(size) ? 65534 / size : 0;
    for (int c = 0; c < 2; c++) {
        double middle = (low[c] + high[c]) / 2;
        uint16_t *value = page_memory(t, r->n_rows, sizeof *value);
        for (int64_t i = 0; value && i < r->n_rows; i++) {
            double at = 32767 + scale * (r->xy[2 * i + c] - middle);
            value[i] = isfinite(at) ? (uint16_t)fmin(fmax(at, 0), 65535) : 32767;
        }
        if (value)
            add_words(t, c ? "y" : "x", value, r->n_rows);
    }
}

/* Two cells a byte. */
static void pack_picture(unsigned char *out, const picture_frame *f, const ddsc_measures_view *v,
                         int64_t item)
{
    unsigned char cells[PICTURE_MAX_SIDE * PICTURE_MAX_SIDE + 1] = {0};
    picture_draw(cells, f, v, item);
    for (int c = 0; c < f->side * f->side; c += 2)
        out[c / 2] =
            (unsigned char)(cells[c] << 4 | (c + 1 < f->side * f->side ? cells[c + 1] : 0));
}

static size_t picture_bytes(const picture_frame *f)
{
    return ((size_t)f->side * (size_t)f->side + 1) / 2;
}

static void add_cells(buffer *t, const char *key, const picture_frame *f,
                      const unsigned char *bytes, int64_t n)
{
    buffer_addf(t, ",\n\"%s\":{\"side\":%d,\"cells\":\"", key, f->side);
    buffer_add_base64(t, bytes, picture_bytes(f) * (size_t)n);
    buffer_add(t, "\"");
}

static void add_all_pictures(buffer *t, const ddsc_report *r)
{
    int side = r->n_rows <= MANY_ITEMS   ? PICTURE_MAX_SIDE
               : r->n_rows <= MORE_ITEMS ? COARSE_SIDE
                                         : COARSER_SIDE;
    picture_frame f = picture_frame_for(&r->items, side);
    unsigned char *bytes = page_memory(t, r->n_rows, picture_bytes(&f));
    if (!bytes)
        return;
    for (int64_t i = 0; i < r->items.n_items; i++)
        pack_picture(bytes + picture_bytes(&f) * (size_t)r->row[i], &f, &r->items, i);
    add_cells(t, "pictures", &f, bytes, r->n_rows);
    buffer_add(t, "}");
    mem_free(t->ctx, bytes);
}

/* Rows of the items on the cards, each once, ascending. */
static int64_t card_rows(int64_t *rows, const ddsc_report *r, bool *on_card)
{
    static const char *const lists[] = {"representatives", "borderline"};
    const json_t *clusters = json_object_get(r->tree, "clusters");
    int64_t n = 0;
    for (size_t c = 0; c < json_array_size(clusters); c++)
        for (int l = 0; l < 2; l++) {
            const json_t *items = json_object_get(json_array_get(clusters, c), lists[l]);
            for (size_t i = 0; i < json_array_size(items); i++) {
                int64_t row = json_integer_value(json_object_get(json_array_get(items, i), "row"));
                if (row >= 0 && row < r->n_rows)
                    on_card[row] = true;
            }
        }
    for (int64_t i = 0; i < r->items.n_items; i++)
        if (on_card[r->row[i]])
            rows[n++] = i;
    return n;
}

static void add_card_pictures(buffer *t, const ddsc_report *r)
{
    picture_frame f = picture_frame_for(&r->items, PICTURE_MAX_SIDE);
    int64_t *item = page_memory(t, r->n_rows, sizeof *item);
    bool *on_card = page_memory(t, r->n_rows, sizeof *on_card);
    int64_t n = item && on_card ? card_rows(item, r, on_card) : 0;
    unsigned char *bytes = page_memory(t, n, picture_bytes(&f));
    for (int64_t i = 0; bytes && i < n; i++)
        pack_picture(bytes + picture_bytes(&f) * (size_t)i, &f, &r->items, item[i]);
    if (bytes)
        add_cells(t, "large", &f, bytes, n);
    buffer_add(t, ",\"rows\":[");
    for (int64_t i = 0; bytes && i < n; i++)
        buffer_addf(t, "%s%" PRId64, i ? "," : "", r->row[item[i]]);
    buffer_add(t, "]}");
    MEM_FREE(t->ctx, bytes, on_card, item);
}

void report_page_data(buffer *t, const ddsc_report *r)
{
    buffer_addf(t, "<script type=\"application/json\" id=\"data\">{\"n\":%" PRId64, r->n_rows);
    add_label_words(t, r);
    if (r->xy) {
        add_ids(t, r);
        add_places(t, r);
        add_classes(t, r);
    }
    if (r->xy && report_has_pictures(r)) {
        if (r->n_rows <= MOST_ITEMS)
            add_all_pictures(t, r);
        if (r->n_rows > MANY_ITEMS) /* else those of all items are as fine */
            add_card_pictures(t, r);
    }
    buffer_add(t, "}</script>\n");
}
