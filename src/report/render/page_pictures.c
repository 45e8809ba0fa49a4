/* Writes small pictures of the items, with 4 bits per cell. If there are many items, pictures have
 * a lower resolution, except those on the cards. */
#include <inttypes.h>

#include "report/render/charts.h"

enum {
    MANY_ITEMS = 2000, /* if there are more items, pictures have a lower resolution */
    MORE_ITEMS = 20000,
    MOST_ITEMS = 100000, /* if there are more items, only those on cards have pictures */
    COARSE_SIDE = 20,
    COARSER_SIDE = 14,
    ITEMS_A_PIECE = 256
};

/* Packs two cells into each byte. */
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

typedef struct picture_job {
    unsigned char *bytes;
    const picture_frame *f;
    const ddsc_report *r;
} picture_job;

static ddsc_status pack_items(void *arg, int64_t begin, int64_t end, int worker)
{
    const picture_job *j = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        pack_picture(j->bytes + picture_bytes(j->f) * (size_t)j->r->row[i], j->f, &j->r->items, i);
    return DDSC_OK;
}

static void add_all_pictures(buffer *t, const ddsc_report *r)
{
    int side = r->n_rows <= MANY_ITEMS   ? PICTURE_MAX_SIDE
               : r->n_rows <= MORE_ITEMS ? COARSE_SIDE
                                         : COARSER_SIDE;
    picture_frame f = picture_frame_for(&r->items, side);
    unsigned char *bytes = report_data_memory(t, r->n_rows, picture_bytes(&f));
    if (!bytes)
        return;
    t->status = parallel_for(t->ctx, r->items.n_items, ITEMS_A_PIECE, pack_items,
                             &(picture_job){bytes, &f, r});
    add_cells(t, "pictures", &f, bytes, r->n_rows);
    buffer_add(t, "}");
    mem_free(t->ctx, bytes);
}

/* Collects the items shown on the cluster cards, without duplicates and in ascending order. */
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
    int64_t *item = report_data_memory(t, r->n_rows, sizeof *item);
    bool *on_card = report_data_memory(t, r->n_rows, sizeof *on_card);
    int64_t n = item && on_card ? card_rows(item, r, on_card) : 0;
    unsigned char *bytes = report_data_memory(t, n, picture_bytes(&f));
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

void report_data_pictures(buffer *t, const ddsc_report *r)
{
    if (!result_has_pictures(r))
        return;
    if (r->n_rows <= MOST_ITEMS)
        add_all_pictures(t, r);
    if (r->n_rows >
        MANY_ITEMS) /* otherwise, the pictures of all items already have a high resolution */
        add_card_pictures(t, r);
}
