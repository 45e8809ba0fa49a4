/* Finds the matrix of an HDF5 file, names its columns, and reads its values, which are stored as a
 * dense table, compressed rows (csr) or compressed columns (csc). Only the chosen columns of the
 * chosen rows are stored in memory. */
#include "io/format/h5ad.h"

#ifdef DDSC_HAVE_HDF5
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- location ---- */

static ddsc_status locate(h5ad *h, h5_kind *kind)
{
    static const char *const folder[] = {"", "layers/", "obsm/"};
    static const char *const usual[] = {"X", "points"};
    const char *name = h->set->matrix;
    char list[400], more[400];
    *kind = H5_NOTHING;
    for (size_t k = 0; name && k < 3 && *kind == H5_NOTHING; k++) {
        snprintf(h->matrix, sizeof h->matrix, "%s%.400s", folder[k], name);
        CHECK(h5_find(&h->f, h->matrix, kind));
    }
    for (size_t k = 0; !name && k < 2 && *kind == H5_NOTHING; k++) {
        snprintf(h->matrix, sizeof h->matrix, "%s", usual[k]);
        CHECK(h5_find(&h->f, h->matrix, kind));
    }
    if (*kind != H5_NOTHING)
        return DDSC_OK;
    CHECK(h5_list(&h->f, "/", list, sizeof list));
    CHECK(h5_list(&h->f, "obsm", more, sizeof more));
    return stream_fail(h->s, "has no matrix \"%s\" (--matrix); it contains: %s%s%s",
                       name ? QUOTE(name) : "X", list, *more ? "; obsm: " : "", more);
}

static ddsc_status size_dense(h5ad *h)
{
    h5_array a;
    CHECK(h5_array_open(&h->f, &a, h->matrix));
    h->n_rows = a.shape[0];
    h->width = a.width;
    ddsc_status status = DDSC_OK;
    if (a.n_axes != 2 || a.is_text || h->n_rows < 1 || h->width < 1)
        status = stream_fail(h->s, "\"%s\" is not a numeric table with rows and columns",
                             QUOTE(h->matrix));
    h5_array_close(&a);
    return status;
}

/* Determines the size of a sparse matrix. AnnData before 0.7 used other attribute names for the
 * same information. */
static ddsc_status size_sparse(h5ad *h)
{
    char kind[H5_ATTRIBUTE];
    int64_t shape[2];
    bool found;
    CHECK(h5_attribute(&h->f, h->matrix, "encoding-type", kind));
    if (!*kind)
        CHECK(h5_attribute(&h->f, h->matrix, "h5sparse_format", kind));
    h->by_column = strncmp(kind, "csc", 3) == 0;
    if (!h->by_column && strncmp(kind, "csr", 3) != 0)
        return stream_fail(h->s, "\"%s\" is a folder (of kind \"%s\"), not a matrix",
                           QUOTE(h->matrix), QUOTE(kind));
    CHECK(h5_shape(&h->f, h->matrix, "shape", shape, &found));
    if (!found)
        CHECK(h5_shape(&h->f, h->matrix, "h5sparse_shape", shape, &found));
    if (!found || shape[0] < 1 || shape[1] < 1)
        return stream_fail(h->s, "the matrix \"%s\" has no shape attribute", QUOTE(h->matrix));
    if (shape[0] > INT32_MAX || shape[1] > INT32_MAX || shape[1] > stream_limit(h->s) / 8)
        return stream_fail(
            h->s, "the matrix \"%s\" declares %lld rows and %lld columns, which is not possible",
            QUOTE(h->matrix), (long long)shape[0], (long long)shape[1]);
    h->sparse = true;
    h->n_rows = shape[0];
    h->width = shape[1];
    return DDSC_OK;
}

/* ---- columns ---- */

static ddsc_status add_column_name(void *arg, int64_t element, const char *text, size_t n)
{
    return text_rows_add(arg, element, text, n);
}

/* Reads the names of the columns from the index of the table `var`. An attribute of the table names
 * the index column. */
static ddsc_status read_names(h5ad *h, const char *var, bool *found)
{
    ddsc_status status = DDSC_OK;
    char index[H5_ATTRIBUTE], path[H5_PATH];
    h5_kind kind;
    h5_array a = {.id = -1};
    CHECK(h5_attribute(&h->f, var, "_index", index));
    snprintf(path, sizeof path, "%s/%s", var, *index ? index : "_index");
    CHECK(h5_find(&h->f, path, &kind));
    *found = kind == H5_TABLE;
    if (!*found)
        return DDSC_OK;
    CHECK(h5_array_open(&h->f, &a, path));
    if (a.n_axes != 1 || a.shape[0] != h->width)
        TRY(stream_fail(h->s, "\"%s\" has %lld names, but there are %lld columns in \"%s\"", path,
                        (long long)a.shape[0], (long long)h->width, QUOTE(h->matrix)));
    TRY(h5_read_texts(&a, add_column_name, &h->names));
done:
    h5_array_close(&a);
    return status;
}

/* Names the columns by number: pca1, pca2, ... for obsm/X_pca, and x1, x2, ... for a plain
 * table. */
static ddsc_status number_names(h5ad *h, const char *stem)
{
    char name[H5_PATH];
    for (int64_t k = 0; k < h->width; k++) {
        int n = snprintf(name, sizeof name, "%.400s%lld", stem, (long long)k + 1);
        CHECK(text_rows_add(&h->names, k, name, (size_t)n));
    }
    return DDSC_OK;
}

static ddsc_status name_columns(h5ad *h)
{
    const char *last = strrchr(h->matrix, '/');
    bool found = false;
    if (strncmp(h->matrix, "obsm/", 5) == 0)
        return number_names(h, strncmp(last + 1, "X_", 2) == 0 ? last + 3 : last + 1);
    CHECK(read_names(h, strncmp(h->matrix, "raw/", 4) == 0 ? "raw/var" : "var", &found));
    if (!found && h->sparse)
        return stream_fail(h->s, "the columns of \"%s\" have no names, because var has no index",
                           QUOTE(h->matrix));
    return found ? DDSC_OK : number_names(h, "x");
}

static const char *column_name(const h5ad *h, int64_t k)
{
    return h->names.text + h->names.at[k];
}

static ddsc_status fail_no_name(h5ad *h, const char *name)
{
    char list[400] = "";
    size_t at = 0;
    for (int64_t k = 0; k < h->width && at < sizeof list; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "",
                               QUOTE(column_name(h, k)));
    return stream_fail(h->s, "\"%s\" has no column named \"%s\"; its columns are: %s%s",
                       QUOTE(h->matrix), QUOTE(name), list, at < sizeof list ? "" : "...");
}

/* Selects the column with this name or, if there is none, all columns that match the pattern. */
static ddsc_status take_columns(void *arg, const char *name)
{
    h5ad *h = arg;
    bool exact = false, any = false;
    for (int64_t k = 0; k < h->width && !exact; k++)
        exact = strcmp(column_name(h, k), name) == 0;
    for (int64_t k = 0; k < h->width; k++) {
        const char *here = column_name(h, k);
        if (exact ? strcmp(here, name) != 0 : !text_glob(name, here))
            continue;
        any = true;
        if (h->to[k] < 0)
            h->to[k] = h->out->d++;
    }
    return any ? DDSC_OK : fail_no_name(h, name);
}

static ddsc_status drop_columns(void *arg, const char *name)
{
    h5ad *h = arg;
    bool any = false;
    for (int64_t k = 0; k < h->width; k++)
        if (text_glob(name, column_name(h, k))) {
            any = true;
            h->to[k] = -1;
        }
    return any ? DDSC_OK : fail_no_name(h, name);
}

/* Renumbers the remaining coordinates without gaps, in their original order. */
static ddsc_status close_ranks(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    int64_t *column = NULL, n = h->out->d;
    TRY(MEM_NEW(h->ctx, column, n));
    memset(column, 0xff, (size_t)n * sizeof *column);
    for (int64_t k = 0; k < h->width; k++)
        if (h->to[k] >= 0)
            column[h->to[k]] = k;
    h->out->d = 0;
    for (int64_t j = 0; j < n; j++)
        if (column[j] >= 0)
            h->to[column[j]] = h->out->d++;
done:
    mem_free(h->ctx, column);
    return status;
}

static ddsc_status pick_columns(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    const char **name = NULL;
    CHECK(MEM_NEW(h->ctx, h->to, h->width));
    for (int64_t k = 0; k < h->width; k++)
        h->to[k] = h->set->columns ? -1 : h->out->d++;
    if (h->set->columns)
        CHECK(text_each_listed(h->set->columns, take_columns, h));
    if (h->set->drop)
        CHECK(text_each_listed(h->set->drop, drop_columns, h));
    CHECK(close_ranks(h));
    if (h->out->d == 0)
        return stream_fail(h->s, "no column is selected");
    TRY(MEM_NEW(h->ctx, name, h->out->d));
    for (int64_t k = 0; k < h->width; k++)
        if (h->to[k] >= 0)
            name[h->to[k]] = column_name(h, k);
    TRY(texts_pack(h->ctx, &h->out->coordinates, h->out->d, name));
done:
    mem_free(h->ctx, name);
    return status;
}

ddsc_status h5ad_find_matrix(h5ad *h)
{
    h5_kind kind;
    CHECK(locate(h, &kind));
    CHECK(kind == H5_TABLE ? size_dense(h) : size_sparse(h));
    CHECK(name_columns(h));
    return pick_columns(h);
}

/* ---- values ---- */

static ddsc_status read_full(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    h5_array a;
    double *row = NULL;
    int64_t d = h->out->d;
    CHECK(h5_array_open(&h->f, &a, h->matrix));
    TRY(MEM_NEW(h->ctx, row, BASE_MIN(a.batch, a.shape[0]) * a.width));
    for (int64_t at = 0; at < h->n_rows; at += a.batch) {
        int64_t n = BASE_MIN(a.batch, h->n_rows - at);
        TRY(h5_read_doubles(&a, at, n, row));
        for (int64_t i = 0; i < n; i++) {
            if (h->place[at + i] < 0)
                continue;
            double *point = h->out->support + h->place[at + i] * d;
            for (int64_t k = 0; k < a.width; k++)
                if (h->to[k] >= 0)
                    point[h->to[k]] = row[i * a.width + k];
        }
    }
done:
    h5_array_close(&a);
    mem_free(h->ctx, row);
    return status;
}

typedef struct sparse_arrays {
    h5_array data, indices, indptr;
    int64_t n_lines; /* number of compressed rows or columns */
    int64_t *begin;  /* first entry of each line, n_lines + 1 */
    int64_t *index;  /* indices of a chunk of entries */
    double *value;
} sparse_arrays;

static ddsc_status open_sparse(h5ad *h, sparse_arrays *m)
{
    char path[H5_PATH + 16];
    const struct {
        const char *name;
        h5_array *array;
    } part[] = {{"data", &m->data}, {"indices", &m->indices}, {"indptr", &m->indptr}};
    for (size_t k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", h->matrix, part[k].name);
        CHECK(h5_array_open(&h->f, part[k].array, path));
        if (part[k].array->n_axes != 1 || part[k].array->is_text)
            return stream_fail(h->s, "\"%s\" is not a list of numbers", QUOTE(path));
        if (k > 0 && part[k].array->is_float)
            return stream_fail(h->s, "\"%s\" contains floating-point numbers; expected integers",
                               QUOTE(path));
    }
    m->n_lines = h->by_column ? h->width : h->n_rows;
    if (m->data.shape[0] != m->indices.shape[0] || m->indptr.shape[0] - 1 != m->n_lines)
        return stream_fail(h->s,
                           "\"%s\" has %lld values, %lld indices and %lld starts, which do not "
                           "match %lld rows and %lld columns",
                           QUOTE(h->matrix), (long long)m->data.shape[0],
                           (long long)m->indices.shape[0], (long long)m->indptr.shape[0],
                           (long long)h->n_rows, (long long)h->width);
    CHECK(MEM_NEW(h->ctx, m->begin, m->n_lines + 1));
    CHECK(h5_read_integers(&m->indptr, 0, m->n_lines + 1, m->begin));
    for (int64_t k = 0; k < m->n_lines; k++)
        if (m->begin[k] > m->begin[k + 1])
            return stream_fail(h->s, "\"%s/indptr\" decreases at %lld", QUOTE(h->matrix),
                               (long long)k);
    if (m->begin[0] != 0 || m->begin[m->n_lines] != m->data.shape[0])
        return stream_fail(h->s, "\"%s/indptr\" runs from %lld to %lld; expected 0 to %lld",
                           QUOTE(h->matrix), (long long)m->begin[0],
                           (long long)m->begin[m->n_lines], (long long)m->data.shape[0]);
    return DDSC_OK;
}

/* Stores the entries [at, at + n). *line is the line of the last stored entry. Entries with the
 * same row and column are added, as in scipy. */
static ddsc_status put_entries(h5ad *h, const sparse_arrays *m, int64_t at, int64_t n,
                               int64_t *line)
{
    int64_t other = h->by_column ? h->n_rows : h->width;
    for (int64_t k = 0; k < n; k++) {
        while (m->begin[*line + 1] <= at + k)
            (*line)++;
        if (m->index[k] < 0 || m->index[k] >= other)
            return stream_fail(
                h->s,
                "\"%s/indices\" contains %lld at position %lld; indices must be >= 0 and < %lld",
                QUOTE(h->matrix), (long long)m->index[k], (long long)(at + k), (long long)other);
        int64_t row = h->by_column ? m->index[k] : *line;
        int64_t column = h->by_column ? *line : m->index[k];
        if (h->place[row] >= 0 && h->to[column] >= 0)
            h->out->support[h->place[row] * h->out->d + h->to[column]] += m->value[k];
    }
    return DDSC_OK;
}

static ddsc_status read_sparse(h5ad *h)
{
    ddsc_status status = DDSC_OK;
    sparse_arrays m = {.data = {.id = -1}, .indices = {.id = -1}, .indptr = {.id = -1}};
    int64_t line = 0;
    TRY(open_sparse(h, &m));
    int64_t total = m.data.shape[0], batch = BASE_MAX(m.data.batch, 1);
    TRY(MEM_NEW(h->ctx, m.index, BASE_MIN(batch, total)));
    TRY(MEM_NEW(h->ctx, m.value, BASE_MIN(batch, total)));
    for (int64_t at = 0; at < total; at += batch) {
        int64_t n = BASE_MIN(batch, total - at);
        TRY(h5_read_doubles(&m.data, at, n, m.value));
        TRY(h5_read_integers(&m.indices, at, n, m.index));
        TRY(put_entries(h, &m, at, n, &line));
    }
done:
    h5_array_close(&m.data);
    h5_array_close(&m.indices);
    h5_array_close(&m.indptr);
    MEM_FREE(h->ctx, m.begin, m.index, m.value);
    return status;
}

/* Returns the size of the machine's memory. If a dense copy of a sparse matrix exceeded this size,
 * the process would be killed while filling the copy. */
static int64_t memory_size(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX;
}

ddsc_status h5ad_read_matrix(h5ad *h)
{
    measures_parts *p = h->out;
    int64_t count, bytes, limit = BASE_MIN(stream_limit(h->s), memory_size());
    if (!mul_ok(p->v, p->d, &count) || !mul_ok(count, 8, &bytes) || bytes > limit)
        return stream_fail(h->s,
                           "%lld rows of %lld columns exceed the limit of %lld bytes; choose "
                           "columns (--columns) or an embedding (--matrix obsm/X_pca)",
                           (long long)p->v, (long long)p->d, (long long)limit);
    CHECK(MEM_ZERO(h->ctx, p->support, count));
    return h->sparse ? read_sparse(h) : read_full(h);
}

#endif
