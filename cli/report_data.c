/* The data behind the map. Numbers are 16 bits wide and pictures 4 bits a cell, in base64, so that
 * 70,000 items stay well below 20 MB. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_page.h"

enum {
    NO_VALUE = 65535,
    MANY_ITEMS = 2000, /* from here on pictures of all items get coarser, */
    MORE_ITEMS = 20000,
    MOST_ITEMS = 100000, /* and from here on only those of the cards are kept */
    COARSE_SIDE = 20,
    COARSER_SIDE = 14
};

static void add_words(text *t, const char *key, const uint16_t *value, int64_t n)
{
    unsigned char *bytes = cli_allocate((size_t)n + 1, 2);
    for (int64_t i = 0; i < n; i++) {
        bytes[2 * i] = (unsigned char)(value[i] & 255);
        bytes[2 * i + 1] = (unsigned char)(value[i] >> 8);
    }
    text_addf(t, ",\n\"%s\":\"", key);
    text_add_base64(t, bytes, 2 * (size_t)n);
    text_add(t, "\"");
    free(bytes);
}

/* A JSON string that cannot end the script element it stands in. */
static void add_string(text *t, const char *words)
{
    json_t *string = json_from_text(words);
    char *dump = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(string);
    for (const char *c = dump ? dump : "\"\""; *c; c++)
        if (*c == '<' || *c == '>' || *c == '&')
            text_addf(t, "\\u%04x", (unsigned)*c);
        else
            text_add_bytes(t, c, 1);
    free(dump);
}

static bool ids_are_numbers(const report_data *d)
{
    char room[24], number[24];
    for (int64_t row = 0; row < d->n_rows; row++) {
        snprintf(number, sizeof number, "%" PRId64, row);
        if (d->label[row] >= 0 && strcmp(report_id(d, row, room, sizeof room), number) != 0)
            return false;
    }
    return true;
}

static void add_ids(text *t, const report_data *d)
{
    char room[24];
    if (ids_are_numbers(d))
        return;
    text_add(t, ",\n\"ids\":[");
    for (int64_t row = 0; row < d->n_rows; row++) {
        text_add(t, row ? "," : "");
        add_string(t, report_id(d, row, room, sizeof room));
    }
    text_add(t, "]");
}

static void add_labels(text *t, const report_data *d)
{
    uint16_t *value = cli_allocate((size_t)d->n_rows + 1, sizeof *value);
    for (int64_t i = 0; i < d->n_rows; i++)
        value[i] = d->label[i] < 0 ? NO_VALUE : (uint16_t)(d->label[i] % NO_VALUE);
    add_words(t, "label", value, d->n_rows);
    free(value);
}

bool report_page_has_classes(const report_data *d)
{
    return d->truth != NULL;
}

static void add_classes(text *t, const report_data *d)
{
    const json_t *confusion = json_object_get(json_object_get(d->result, "scores"), "confusion");
    const json_t *classes = json_object_get(confusion, "classes");
    if (!report_page_has_classes(d))
        return;
    uint16_t *value = cli_allocate((size_t)d->n_rows + 1, sizeof *value);
    for (int64_t i = 0; i < d->n_rows; i++)
        value[i] = d->truth[i] < 0 ? NO_VALUE : (uint16_t)d->truth[i];
    add_words(t, "truth", value, d->n_rows);
    free(value);
    text_add(t, ",\n\"classes\":[");
    for (size_t c = 0; c < json_array_size(classes); c++) {
        const char *name = json_string_value(json_array_get(classes, c));
        text_add(t, c ? "," : "");
        add_string(t, name ? name : "");
    }
    text_add(t, "]");
}

/* Both axes by one scale, in the middle of 0 .. 65535. */
static void add_places(text *t, const report_data *d)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    uint16_t *value = cli_allocate((size_t)d->n_rows + 1, sizeof *value);
    for (int64_t i = 0; i < 2 * d->n_rows; i++) {
        low[i % 2] = fmin(low[i % 2], d->xy[i]);
        high[i % 2] = fmax(high[i % 2], d->xy[i]);
    }
    double size = fmax(high[0] - low[0], high[1] - low[1]);
    double scale = size > 0 && isfinite(size) ? 65534 / size : 0;
    for (int c = 0; c < 2; c++) {
        double middle = (low[c] + high[c]) / 2;
        for (int64_t i = 0; i < d->n_rows; i++) {
            double at = 32767 + scale * (d->xy[2 * i + c] - middle);
            value[i] = isfinite(at) ? (uint16_t)fmin(fmax(at, 0), 65535) : 32767;
        }
        add_words(t, c ? "y" : "x", value, d->n_rows);
    }
    free(value);
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

static void add_cells(text *t, const char *key, const picture_frame *f, const unsigned char *bytes,
                      int64_t n)
{
    text_addf(t, ",\n\"%s\":{\"side\":%d,\"cells\":\"", key, f->side);
    text_add_base64(t, bytes, picture_bytes(f) * (size_t)n);
    text_add(t, "\"");
}

static void add_all_pictures(text *t, const report_data *d)
{
    int side = d->n_rows <= MANY_ITEMS   ? PICTURE_MAX_SIDE
               : d->n_rows <= MORE_ITEMS ? COARSE_SIDE
                                         : COARSER_SIDE;
    picture_frame f = picture_frame_for(&d->items, side);
    unsigned char *bytes = cli_allocate((size_t)d->n_rows + 1, picture_bytes(&f));
    for (int64_t i = 0; i < d->items.n_items; i++)
        pack_picture(bytes + picture_bytes(&f) * (size_t)d->row[i], &f, &d->items, i);
    add_cells(t, "pictures", &f, bytes, d->n_rows);
    text_add(t, "}");
    free(bytes);
}

/* Rows of the items on the cards, each once, ascending. */
static int64_t card_rows(int64_t *rows, const report_data *d, bool *on_card)
{
    static const char *const lists[] = {"representatives", "borderline"};
    const json_t *clusters = json_object_get(d->result, "clusters");
    int64_t n = 0;
    for (size_t c = 0; c < json_array_size(clusters); c++)
        for (int l = 0; l < 2; l++) {
            const json_t *items = json_object_get(json_array_get(clusters, c), lists[l]);
            for (size_t i = 0; i < json_array_size(items); i++) {
                int64_t row = json_integer_value(json_object_get(json_array_get(items, i), "row"));
                if (row >= 0 && row < d->n_rows)
                    on_card[row] = true;
            }
        }
    for (int64_t i = 0; i < d->items.n_items; i++)
        if (on_card[d->row[i]])
            rows[n++] = i;
    return n;
}

static void add_card_pictures(text *t, const report_data *d)
{
    picture_frame f = picture_frame_for(&d->items, PICTURE_MAX_SIDE);
    int64_t *item = cli_allocate((size_t)d->n_rows + 1, sizeof *item);
    bool *on_card = cli_allocate((size_t)d->n_rows + 1, sizeof *on_card);
    int64_t n = card_rows(item, d, on_card);
    unsigned char *bytes = cli_allocate((size_t)n + 1, picture_bytes(&f));
    for (int64_t i = 0; i < n; i++)
        pack_picture(bytes + picture_bytes(&f) * (size_t)i, &f, &d->items, item[i]);
    add_cells(t, "large", &f, bytes, n);
    text_add(t, ",\"rows\":[");
    for (int64_t i = 0; i < n; i++)
        text_addf(t, "%s%" PRId64, i ? "," : "", d->row[item[i]]);
    text_add(t, "]}");
    free(bytes);
    free(on_card);
    free(item);
}

void report_page_data(text *t, const report_data *d)
{
    text_addf(t, "<script type=\"application/json\" id=\"data\">{\"n\":%" PRId64, d->n_rows);
    add_labels(t, d);
    if (d->xy) {
        add_ids(t, d);
        add_places(t, d);
        add_classes(t, d);
    }
    if (d->xy && report_has_pictures(d)) {
        if (d->n_rows <= MOST_ITEMS)
            add_all_pictures(t, d);
        if (d->n_rows > MANY_ITEMS) /* else those of all items are as fine */
            add_card_pictures(t, d);
    }
    text_add(t, "}</script>\n");
}
