/* Reads HDF5 files: cells in the AnnData layout (h5ad), or plain tables. One row of a matrix is one
 * point. The columns that describe the rows (such as sample or class) are in the folder obs or in
 * the folder of the matrix. The reader supports AnnData's on-disk format 0.1.0 (with encoding-type
 * attributes) and the format of AnnData 0.7. */
#include "io/format/h5ad.h"

#ifdef DDSC_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Integers are treated as raw counts if their maximum is at least this large. Smaller integers may
 * be codes or ranks. */
static const double COUNTS_FROM = 10;

/* ---- items ---- */

enum { MAX_IDS = 8, MAX_ASKED = 8 };

typedef struct cell_grouping {
    h5ad_texts id[MAX_IDS], label, where, asked[MAX_ASKED]; /* asked: requested metadata columns */
    int n_ids, n_asked;
    const char *asked_name[MAX_ASKED];
    char name_text[MAX_ASKED][H5_PATH];
    text_rows meta; /* n_asked texts of each item */
    h5ad *h;
    const char *where_value; /* NULL if every row is used */
    bool has_label;
    text_table ids;
    label_list labels;
    int64_t *item; /* item of each row, or -1 */
    char *joined;
    int64_t joined_capacity;
} cell_grouping;

static ddsc_status open_ids(h5ad *h, cell_grouping *g)
{
    const char *names = h->set->id_columns ? h->set->id_columns : "id";
    char name[H5_PATH], path[H5_PATH];
    h5_kind kind;
    if (!h->set->id_columns) {
        CHECK(h5ad_find_column(h, "id", path, &kind));
        if (kind == H5_NOTHING)
            return h5ad_fail_no_column(h, NULL, NULL);
    }
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, ",");
        if (g->n_ids == MAX_IDS)
            return stream_fail(h->s, "too many id columns; at most %d columns may identify an item",
                               MAX_IDS);
        snprintf(name, sizeof name, "%.*s", (int)BASE_MIN(n, (size_t)400), at);
        CHECK(h5ad_read_column(h, &g->id[g->n_ids++], name, "--id"));
        at += n;
        if (*at == '\0')
            return DDSC_OK;
    }
}

static ddsc_status open_asked(void *arg, const char *name)
{
    cell_grouping *g = arg;
    char path[H5_PATH];
    h5_kind kind;
    CHECK(h5ad_find_column(g->h, name, path, &kind));
    if (kind == H5_NOTHING)
        return DDSC_OK;
    if (g->n_asked == MAX_ASKED)
        return stream_fail(g->h->s, "too many metadata columns; at most %d are supported",
                           MAX_ASKED);
    snprintf(g->name_text[g->n_asked], H5_PATH, "%.400s", name);
    g->asked_name[g->n_asked] = g->name_text[g->n_asked];
    return h5ad_read_column(g->h, &g->asked[g->n_asked++], name, "--batch");
}

static ddsc_status open_columns(h5ad *h, cell_grouping *g)
{
    const ddsc_read_settings *set = h->set;
    char name[H5_PATH];
    h5_kind kind;
    CHECK(open_ids(h, g));
    CHECK(h5ad_find_column(h, "label", name, &kind));
    g->has_label = set->label_column || kind != H5_NOTHING;
    if (g->has_label)
        CHECK(h5ad_read_column(h, &g->label, set->label_column ? set->label_column : "label",
                               "--label"));
    if (set->where) {
        size_t n = strcspn(set->where, "=");
        snprintf(name, sizeof name, "%.*s", (int)BASE_MIN(n, (size_t)400), set->where);
        CHECK(h5ad_read_column(h, &g->where, name, "--where"));
        g->where_value = set->where + n + 1;
    }
    return set->item_columns ? text_each_listed(set->item_columns, open_asked, g) : DDSC_OK;
}

/* Builds the id of a row by joining its id columns with slashes. */
static ddsc_status join_parts(h5ad *h, cell_grouping *g, int64_t row, int64_t *length)
{
    *length = 0;
    for (int k = 0; k < g->n_ids; k++) {
        const char *part = h5ad_text(&g->id[k], row);
        int64_t n = (int64_t)strlen(part);
        CHECK(MEM_RESERVE(h->ctx, g->joined, &g->joined_capacity, *length + n + 1));
        if (k > 0)
            g->joined[(*length)++] = '/';
        memcpy(g->joined + *length, part, (size_t)n);
        *length += n;
    }
    return DDSC_OK;
}

/* Reads the requested metadata of a row, which must equal those of the item's first row. */
static ddsc_status take_asked_texts(h5ad *h, cell_grouping *g, int64_t row, int64_t item,
                                    bool is_new)
{
    for (int k = 0; k < g->n_asked; k++) {
        const char *text = h5ad_text(&g->asked[k], row);
        int64_t at = item * g->n_asked + k, size = 2 * (int64_t)strlen(text) + 1;
        CHECK(MEM_RESERVE(h->ctx, g->joined, &g->joined_capacity, size));
        size_t n = text_tidy(g->joined, text, DDSC_TITLE_MAX);
        if (is_new)
            CHECK(text_rows_add(&g->meta, at, g->joined, n));
        const char *first = g->meta.text + g->meta.at[at];
        if (strlen(first) != n || memcmp(first, g->joined, n) != 0)
            return stream_fail(
                h->s,
                "row %lld has \"%s\" in the column \"%s\", but an earlier row of \"%s\" has \"%s\"",
                (long long)row, QUOTE(text), QUOTE(g->asked_name[k]),
                QUOTE(text_table_get(&g->ids, item)), QUOTE(first));
    }
    return DDSC_OK;
}

static ddsc_status group_row(h5ad *h, cell_grouping *g, int64_t row)
{
    int64_t length, number;
    bool is_new;
    g->item[row] = -1;
    if (g->where_value && strcmp(h5ad_text(&g->where, row), g->where_value) != 0)
        return DDSC_OK;
    CHECK(join_parts(h, g, row, &length));
    if (length == 0)
        return stream_fail(h->s, "row %lld has no id; exclude such rows with --where",
                           (long long)row);
    CHECK(text_table_add(h->ctx, &g->ids, g->joined, (size_t)length, &number, &is_new));
    g->item[row] = number;
    CHECK(take_asked_texts(h, g, row, number, is_new));
    if (!g->has_label)
        return DDSC_OK;
    const char *label = h5ad_text(&g->label, row);
    if (is_new)
        return label_list_add(h->ctx, &g->labels, label, strlen(label));
    int32_t code = g->labels.code[number];
    const char *first = code < 0 ? "" : text_table_get(&g->labels.names, code);
    if (strcmp(first, label) != 0)
        return stream_fail(
            h->s, "row %lld has the label \"%s\", but an earlier row of \"%s\" has \"%s\"",
            (long long)row, QUOTE(label), QUOTE(text_table_get(&g->ids, number)), QUOTE(first));
    return DDSC_OK;
}

/* Sorts the rows by item, in file order within each item. */
static ddsc_status place_rows(h5ad *h, const int64_t *item, int64_t n_items)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = h->out;
    int64_t *next = NULL;
    p->n = n_items;
    TRY(MEM_ZERO(h->ctx, p->offset, p->n + 1));
    for (int64_t i = 0; i < h->n_rows; i++)
        if (item[i] >= 0)
            p->offset[item[i] + 1]++;
    for (int64_t i = 0; i < p->n; i++)
        p->offset[i + 1] += p->offset[i];
    p->v = p->nnz = p->offset[p->n];
    TRY(MEM_COPY(h->ctx, next, p->offset, p->n + 1));
    TRY(MEM_NEW(h->ctx, h->place, h->n_rows));
    for (int64_t i = 0; i < h->n_rows; i++)
        h->place[i] = item[i] < 0 ? -1 : next[item[i]]++;
done:
    mem_free(h->ctx, next);
    return status;
}

static ddsc_status group_rows(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    cell_grouping g = {.h = h, .meta = {.ctx = h->ctx}};
    TRY(open_columns(h, &g));
    TRY(MEM_NEW(h->ctx, g.item, h->n_rows));
    for (int64_t i = 0; i < h->n_rows; i++)
        TRY(group_row(h, &g, i));
    if (g.ids.n == 0)
        TRY(stream_fail(h->s, "none of its %lld rows matches %s", (long long)h->n_rows,
                        h->set->where ? QUOTE(h->set->where) : "an id"));
    TRY(place_rows(h, g.item, g.ids.n));
    if (g.has_label)
        TRY(label_list_finish(h->ctx, &g.labels, h->out));
    if (g.n_asked > 0) {
        TRY(texts_pack(h->ctx, &h->out->meta_names, g.n_asked, g.asked_name));
        h->out->meta = (measures_texts){h->out->n * g.n_asked, g.meta.text, g.meta.at};
        g.meta = (text_rows){0};
    }
    TRY(h5ad_add_constant(h, g.item));
    h->out->id_text = g.ids.text;
    h->out->id_at = g.ids.at;
    g.ids.text = NULL;
    g.ids.at = NULL;
done:
    for (int k = 0; k < g.n_ids; k++)
        h5ad_texts_free(h->ctx, &g.id[k]);
    for (int k = 0; k < g.n_asked; k++)
        h5ad_texts_free(h->ctx, &g.asked[k]);
    h5ad_texts_free(h->ctx, &g.label);
    h5ad_texts_free(h->ctx, &g.where);
    text_table_free(h->ctx, &g.ids);
    label_list_free(h->ctx, &g.labels);
    MEM_FREE(h->ctx, g.item, g.joined, g.meta.text, g.meta.at);
    return status;
}

/* ---- weights ---- */

static ddsc_status take_weights(h5ad *h, h5_array *a, double *weight)
{
    CHECK(h5ad_check_rows(h, a));
    CHECK(h5_read_doubles(a, 0, h->n_rows, weight));
    CHECK(MEM_NEW(h->ctx, h->out->weight, h->out->nnz));
    for (int64_t i = 0; i < h->n_rows; i++)
        if (h->place[i] >= 0)
            h->out->weight[h->place[i]] = weight[i];
    return DDSC_OK;
}

static ddsc_status read_point_weights(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    char path[H5_PATH];
    h5_kind kind;
    h5_array a = {.id = -1};
    double *weight = NULL;
    const char *name = h->set->weight_column;
    TRY(h5ad_find_column(h, name ? name : "weight", path, &kind));
    if (kind == H5_NOTHING && !name)
        return DDSC_OK;
    if (kind == H5_FOLDER)
        return stream_fail(h->s,
                           "\"%s\" is not a plain column of numbers (it has missing values or "
                           "categories); weights must be numbers",
                           QUOTE(path));
    if (kind != H5_TABLE)
        TRY(h5ad_fail_no_column(h, name, "--weight"));
    TRY(h5_array_open(&h->f, &a, path));
    TRY(MEM_NEW(h->ctx, weight, h->n_rows));
    TRY(take_weights(h, &a, weight));
done:
    h5_array_close(&a);
    mem_free(h->ctx, weight);
    return status;
}

static ddsc_status read_point_types(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    h5ad_texts types = {0};
    const char **name = NULL;
    if (!h->set->type_column)
        return DDSC_OK;
    TRY(h5ad_read_column(h, &types, h->set->type_column, "--type"));
    TRY(MEM_NEW(h->ctx, name, h->out->v));
    for (int64_t i = 0; i < h->n_rows; i++)
        if (h->place[i] >= 0)
            name[h->place[i]] = h5ad_text(&types, i);
    TRY(texts_pack(h->ctx, &h->out->points, h->out->v, name));
done:
    h5ad_texts_free(h->ctx, &types);
    mem_free(h->ctx, (void *)name);
    return status;
}

/* Adds a note if the values of cells look like raw counts: non-negative integers, some of them at
 * least COUNTS_FROM. The program then warns unless a transform is requested. */
static void note_counts(const h5ad *h)
{
    const measures_parts *p = h->out;
    double largest = 0;
    for (int64_t k = 0; k < p->v * p->d; k++) {
        double x = p->support[k];
        if (!(x >= 0) || x != floor(x))
            return;
        largest = fmax(largest, x);
    }
    if (h->by_cell && strncmp(h->matrix, "obsm/", 5) != 0 && largest >= COUNTS_FROM)
        ctx_note(h->ctx, "matrix", "raw counts", "whole numbers from 0 to %g", largest);
}

ddsc_status h5ad_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                      const ddsc_read_settings *set)
{
    ddsc_status status = DDSC_OK;
    h5ad h = {.ctx = ctx, .s = s, .out = out, .set = set, .names = {.ctx = ctx}};
    TRY(h5_open(ctx, &h.f, s));
    TRY(h5ad_find_matrix(&h));
    TRY(group_rows(&h));
    TRY(read_point_weights(&h));
    TRY(read_point_types(&h));
    TRY(h5ad_read_matrix(&h));
    note_counts(&h);
    for (int64_t k = 0; set->arcsinh > 0 && k < out->v * out->d; k++)
        out->support[k] = asinh(out->support[k] / set->arcsinh);
done:
    h5_close(&h.f);
    MEM_FREE(ctx, h.names.text, h.names.at, h.to, h.place);
    return status;
}

#else

ddsc_status h5ad_read(ddsc_context *ctx, measures_parts *out, io_stream *s,
                      const ddsc_read_settings *set)
{
    h5_file f;
    (void)out, (void)set;
    return h5_open(ctx, &f, s);
}

#endif
