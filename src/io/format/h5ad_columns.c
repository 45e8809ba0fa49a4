/* Reads the columns that describe the rows of an HDF5 file of cells, from the folder obs or from
 * the folder of the matrix: plain arrays, categories with a code per row, and values with a mask.
 * Columns that are constant within each item become metadata of the items. */
#include "io/format/h5ad.h"

#ifdef DDSC_HAVE_HDF5
#include <stdio.h>
#include <string.h>

const char *h5ad_text(const h5ad_texts *t, int64_t row)
{
    int64_t at = t->code ? t->code[row] : row;
    return at < 0 ? "" : t->text.text + t->text.at[at];
}

void h5ad_texts_free(ddsc_context *ctx, h5ad_texts *t)
{
    MEM_FREE(ctx, t->text.text, t->text.at, t->code);
}

static ddsc_status add_text(void *arg, int64_t element, const char *text, size_t n)
{
    h5ad_texts *t = arg;
    t->n = element + 1;
    return text_rows_add(&t->text, element, text, n);
}

static ddsc_status read_table(h5ad *h, h5ad_texts *t, const char *path)
{
    h5_array a;
    CHECK(h5_array_open(&h->f, &a, path));
    t->text.ctx = h->ctx;
    ddsc_status status = h5_read_texts(&a, add_text, t);
    h5_array_close(&a);
    return status;
}

static ddsc_status wrong_length(h5ad *h, const char *path, int64_t n)
{
    return stream_fail(h->s, "\"%s\" has %lld elements for the %lld rows of \"%s\"", QUOTE(path),
                       (long long)n, (long long)h->n_rows, QUOTE(h->matrix));
}

/* Checks that an array has one element per row of the matrix. */
ddsc_status h5ad_check_rows(h5ad *h, const h5_array *a)
{
    if (a->n_axes != 1)
        return stream_fail(h->s, "\"%s\" has %d axes (%lld x %lld ...); expected one value per row",
                           QUOTE(a->path), a->n_axes, (long long)a->shape[0],
                           (long long)a->shape[1]);
    return a->shape[0] == h->n_rows ? DDSC_OK : wrong_length(h, a->path, a->shape[0]);
}

/* Reads one integer per row. */
static ddsc_status read_codes(h5ad *h, int64_t **code, const char *path)
{
    ddsc_status status = DDSC_OK;
    h5_array a;
    CHECK(h5_array_open(&h->f, &a, path));
    TRY(h5ad_check_rows(h, &a));
    if (a.is_float)
        TRY(stream_fail(h->s, "\"%s\" contains floating-point numbers; expected integers",
                        QUOTE(path)));
    TRY(MEM_NEW(h->ctx, *code, h->n_rows));
    TRY(h5_read_integers(&a, 0, h->n_rows, *code));
done:
    h5_array_close(&a);
    return status;
}

static ddsc_status read_categories(h5ad *h, h5ad_texts *t, const char *categories,
                                   const char *codes)
{
    CHECK(read_table(h, t, categories));
    CHECK(read_codes(h, &t->code, codes));
    for (int64_t i = 0; i < h->n_rows; i++)
        if (t->code[i] >= t->n)
            return stream_fail(
                h->s, "row %lld of \"%s\" has category %lld, but there are only %lld categories",
                (long long)i, QUOTE(codes), (long long)t->code[i], (long long)t->n);
    return DDSC_OK;
}

/* Reads values that may be missing. A value is missing if its mask is set. */
static ddsc_status read_masked(h5ad *h, h5ad_texts *t, const char *values, const char *mask)
{
    CHECK(read_table(h, t, values));
    if (t->n != h->n_rows)
        return wrong_length(h, values, t->n);
    CHECK(read_codes(h, &t->code, mask));
    for (int64_t i = 0; i < h->n_rows; i++)
        t->code[i] = t->code[i] ? -1 : i;
    return DDSC_OK;
}

/* Finds the column obs/NAME or, if it does not exist, NAME. */
ddsc_status h5ad_find_column(h5ad *h, const char *name, char path[H5_PATH], h5_kind *kind)
{
    snprintf(path, H5_PATH, "obs/%.400s", name);
    CHECK(h5_find(&h->f, path, kind));
    if (*kind == H5_NOTHING) {
        snprintf(path, H5_PATH, "%.400s", name);
        CHECK(h5_find(&h->f, path, kind));
    }
    return DDSC_OK;
}

ddsc_status h5ad_fail_no_column(h5ad *h, const char *name, const char *option)
{
    char list[400];
    h5_kind kind;
    CHECK(h5_find(&h->f, "obs", &kind));
    if (kind == H5_TABLE)
        return stream_fail(h->s, "was written by a version of AnnData before 0.7, which is not "
                                 "supported; read and rewrite it with a newer version first");
    CHECK(h5_list(&h->f, kind == H5_FOLDER ? "obs" : "/", list, sizeof list));
    if (!name)
        return stream_fail(h->s,
                           "specify the column that identifies the items, such as a sample (--id "
                           "COLUMN); the columns are: %s",
                           list);
    return stream_fail(h->s, "has no column named \"%s\" (%s); its columns are: %s", QUOTE(name),
                       option, list);
}

ddsc_status h5ad_read_column(h5ad *h, h5ad_texts *t, const char *name, const char *option)
{
    char path[H5_PATH], first[H5_PATH + 16], second[H5_PATH + 16];
    h5_kind kind, inner;
    CHECK(h5ad_find_column(h, name, path, &kind));
    if (kind == H5_NOTHING)
        return h5ad_fail_no_column(h, name, option);
    if (kind == H5_FOLDER) {
        snprintf(first, sizeof first, "%s/categories", path);
        snprintf(second, sizeof second, "%s/codes", path);
        CHECK(h5_find(&h->f, first, &inner));
        if (inner == H5_TABLE)
            return read_categories(h, t, first, second);
        snprintf(first, sizeof first, "%s/values", path);
        snprintf(second, sizeof second, "%s/mask", path);
        return read_masked(h, t, first, second);
    }
    snprintf(first, sizeof first, "obs/__categories/%.400s", name);
    CHECK(h5_find(&h->f, first, &inner));
    if (inner == H5_TABLE)
        return read_categories(h, t, first, path);
    CHECK(read_table(h, t, path));
    return t->n == h->n_rows ? DDSC_OK : wrong_length(h, path, t->n);
}

/* ---- columns that are constant within each item ---- */

enum { LINKS_MOST = 1000, CONSTANT_MOST = 100 };

typedef struct constant_column {
    const int64_t *item; /* item of each row, or -1 */
    text_rows value;     /* the text of each item */
    int64_t n;           /* number of items that have a text */
    bool varies,
        any; /* varies: the rows of some item have different texts; any: some text is not empty */
} constant_column;

/* Compares a text with the first text of the same item. Items are numbered in the order of their
 * first rows. If the texts differ, fails without a message, which stops the reader. */
static ddsc_status compare_row_text(void *arg, int64_t row, const char *text, size_t n)
{
    constant_column *c = arg;
    int64_t item = c->item[row];
    if (item < 0)
        return DDSC_OK;
    if (strcasecmp(text, "nan") == 0) {
        text = "";
        n = 0;
    }
    c->any |= n > 0;
    if (item == c->n)
        return text_rows_add(&c->value, c->n++, text, n);
    const char *first = c->value.text + c->value.at[item];
    c->varies = strlen(first) != n || memcmp(first, text, n) != 0;
    return c->varies ? DDSC_ERROR_INPUT : DDSC_OK;
}

/* Compares the rows while they are read, so that reading stops after the first batch if the column
 * differs from cell to cell. */
static ddsc_status scan_table(h5ad *h, constant_column *c, const char *path)
{
    h5_array a;
    CHECK(h5_array_open(&h->f, &a, path));
    c->varies = a.n_axes != 1 || a.shape[0] != h->n_rows;
    ddsc_status status = c->varies ? DDSC_OK : h5_read_texts(&a, compare_row_text, c);
    h5_array_close(&a);
    return status;
}

static ddsc_status scan_texts(h5ad *h, constant_column *c, const char *name)
{
    h5ad_texts t = {0};
    ddsc_status status = h5ad_read_column(h, &t, name, "obs");
    for (int64_t row = 0; row < h->n_rows && status >= 0; row++) {
        const char *text = h5ad_text(&t, row);
        status = compare_row_text(c, row, text, strlen(text));
    }
    h5ad_texts_free(h->ctx, &t);
    return status;
}

/* Reads a column. A column that cannot be read is skipped with a warning, because it was not
 * requested. */
static ddsc_status scan_column(h5ad *h, constant_column *c, const char *name)
{
    char path[H5_PATH], categories[H5_PATH];
    h5_kind kind, old;
    snprintf(path, sizeof path, "obs/%.400s", name);
    snprintf(categories, sizeof categories, "obs/__categories/%.400s", name);
    CHECK(h5_find(&h->f, path, &kind));
    CHECK(h5_find(&h->f, categories, &old));
    ddsc_status status =
        kind == H5_TABLE && old != H5_TABLE ? scan_table(h, c, path) : scan_texts(h, c, name);
    if (status != DDSC_ERROR_INPUT)
        return status;
    if (!c->varies)
        ctx_warn(h->ctx, "%s: the column \"%s\" of obs was skipped: %s", stream_name(h->s),
                 QUOTE(name), ctx_take_message(h->ctx));
    c->varies = true;
    return DDSC_OK;
}

static bool names_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

/* Returns true for a column that has another role, such as id, label or weight. */
static bool has_role(const h5ad *h, const char *name, const char *index)
{
    const ddsc_read_settings *set = h->set;
    size_t where = set->where ? strcspn(set->where, "=") : 0;
    return strcmp(name, "__categories") == 0 || strcmp(name, index) == 0 ||
           strcmp(name, "_index") == 0 ||
           names_list_has(set->id_columns ? set->id_columns : "id", name) ||
           names_list_has(set->item_columns, name) ||
           strcmp(name, set->label_column ? set->label_column : "label") == 0 ||
           strcmp(name, set->weight_column ? set->weight_column : "weight") == 0 ||
           (set->where && strlen(name) == where && memcmp(name, set->where, where) == 0);
}

/* Appends a column to the metadata of the items. */
static ddsc_status append_constant(h5ad *h, const char *name, const text_rows *value)
{
    ddsc_status status = DDSC_OK;
    measures_parts *p = h->out;
    measures_texts names = {0}, values = {0};
    const char **text = NULL, *title[CONSTANT_MOST * 2];
    char *tidy = NULL;
    int64_t old = p->meta_names.n, width = old + 1, capacity = 0;
    TRY(MEM_NEW(h->ctx, text, p->n * width));
    for (int64_t i = 0; i < p->n; i++)
        capacity += 2 * (int64_t)strlen(value->text + value->at[i]) + 1;
    TRY(MEM_NEW(h->ctx, tidy, capacity + 2 * (int64_t)strlen(name) + 1));
    char *at = tidy;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t k = 0; k < old; k++)
            text[i * width + k] = texts_get(&p->meta, i * old + k);
        text[i * width + old] = at;
        at += text_tidy(at, value->text + value->at[i], DDSC_TITLE_MAX) + 1;
    }
    for (int64_t k = 0; k < old; k++)
        title[k] = texts_get(&p->meta_names, k);
    text_tidy(at, name, DDSC_TITLE_MAX);
    title[old] = at;
    TRY(texts_pack(h->ctx, &names, width, title));
    TRY(texts_pack(h->ctx, &values, p->n * width, text));
    texts_free(h->ctx, &p->meta_names);
    texts_free(h->ctx, &p->meta);
    p->meta_names = names;
    p->meta = values;
    names = (measures_texts){0};
done:
    texts_free(h->ctx, &names);
    MEM_FREE(h->ctx, tidy, text);
    return status;
}

static bool has_metadata(const h5ad *h, const char *name)
{
    for (int64_t k = 0; k < h->out->meta_names.n; k++)
        if (strcmp(texts_get(&h->out->meta_names, k), name) == 0)
            return true;
    return false;
}

ddsc_status h5ad_add_constant(h5ad *h, const int64_t *item)
{
    char index[H5_ATTRIBUTE], name[H5_NAME], tidy[2 * H5_NAME];
    h5_kind kind;
    bool more = true;
    CHECK(h5_find(&h->f, "obs", &kind));
    h->by_cell = kind == H5_FOLDER;
    if (!h->by_cell || h->set->meta_path) /* the metadata table may have the same columns */
        return DDSC_OK;
    CHECK(h5_attribute(&h->f, "obs", "_index", index));
    for (int64_t k = 0; k < LINKS_MOST && h->out->meta_names.n < CONSTANT_MOST; k++) {
        CHECK(h5_name(&h->f, "obs", k, name, &more));
        if (!more)
            return DDSC_OK;
        text_tidy(tidy, name, DDSC_TITLE_MAX);
        if (!*name || has_role(h, name, index) || has_metadata(h, tidy))
            continue;
        constant_column c = {.item = item, .value = {.ctx = h->ctx}};
        ddsc_status status = scan_column(h, &c, name);
        if (status >= 0 && !c.varies && c.any)
            status = append_constant(h, name, &c.value);
        MEM_FREE(h->ctx, c.value.text, c.value.at);
        CHECK(status);
    }
    ctx_warn(h->ctx, "%s: only the first %d columns of obs are used as metadata", stream_name(h->s),
             CONSTANT_MOST);
    return DDSC_OK;
}

#endif
