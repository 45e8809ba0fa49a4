/* Creates sets of items from arrays and files, and returns their parts to R. */
#include "calls.h"

#include <string.h>

/* Returns the strings of a character vector as UTF-8, or NULL for NULL. NA becomes "". */
static const char **strings_of(SEXP words)
{
    if (Rf_isNull(words))
        return NULL;
    R_xlen_t n = Rf_xlength(words);
    const char **list = (const char **)R_alloc((size_t)n + 1, sizeof *list);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP word = STRING_ELT(words, i);
        list[i] = word == NA_STRING ? "" : Rf_translateCharUTF8(word);
    }
    return list;
}

/* points is a matrix with a row per point, and the points of item i are the rows offsets[i] + 1 ..
 * offsets[i + 1]. */
SEXP r_set_arrays(SEXP run, SEXP points, SEXP weights, SEXP offsets, SEXP on_empty)
{
    SEXP pointer = PROTECT(handle_new(run, NULL, R_NilValue));
    handle *h = handle_get(pointer);
    R_xlen_t n_items = Rf_xlength(offsets) - 1;
    R_xlen_t rows = Rf_nrows(points), dim = Rf_ncols(points);
    const double *column_major = REAL(points), *given = REAL(offsets);
    /* R owns both arrays, which stay valid until this call returns. */
    double *row_major = (double *)R_alloc((size_t)rows * (size_t)dim + 1, sizeof *row_major);
    int64_t *offset = (int64_t *)R_alloc((size_t)n_items + 1, sizeof *offset);
    for (R_xlen_t j = 0; j < dim; j++)
        for (R_xlen_t i = 0; i < rows; i++)
            row_major[i * dim + j] = column_major[j * rows + i];
    for (R_xlen_t i = 0; i <= n_items; i++)
        offset[i] = (int64_t)given[i];
    h->status = ddsc_measures_create_clouds(h->ctx, &h->set, n_items, dim, row_major,
                                            Rf_isNull(weights) ? NULL : REAL(weights), offset,
                                            (ddsc_on_empty)Rf_asInteger(on_empty));
    SEXP answer = handle_answer(h, pointer);
    UNPROTECT(1);
    return answer;
}

SEXP r_set_read(SEXP run, SEXP paths, SEXP list)
{
    SEXP pointer = PROTECT(handle_new(run, NULL, R_NilValue));
    handle *h = handle_get(pointer);
    settings set;
    settings_fill(&set, list);
    if (set.transform.batch)
        set.read.item_columns = set.transform.batch;
    const char **path = strings_of(paths);
    h->status = Rf_xlength(paths) == 1
                    ? ddsc_measures_read(h->ctx, &h->set, *path, &set.read)
                    : ddsc_measures_read_files(h->ctx, &h->set, Rf_xlength(paths), path, &set.read);
    SEXP answer = handle_answer(h, pointer);
    UNPROTECT(1);
    return answer;
}

/* Sets ids, classes, names and metadata. NULL keeps the existing values. meta_values has one row
 * per item and one column per name, row by row. */
SEXP r_set_describe(SEXP pointer, SEXP ids, SEXP labels, SEXP coordinates, SEXP titles,
                    SEXP meta_names, SEXP meta_values)
{
    handle *h = handle_get(pointer);
    handle_begin(h);
    const char **id = strings_of(ids), **coordinate = strings_of(coordinates);
    const char **title = strings_of(titles), **name = strings_of(meta_names);
    const char **value = strings_of(meta_values);
    ddsc_measures *copy = NULL;
    bool good = true;
    if (id)
        good = handle_replace_set(h, ddsc_measures_copy_named(h->ctx, &copy, h->set, id), &copy);
    if (good && !Rf_isNull(labels))
        good = handle_replace_set(
            h, ddsc_measures_copy_labeled(h->ctx, &copy, h->set, INTEGER(labels)), &copy);
    if (good && (coordinate || title))
        good = handle_replace_set(
            h, ddsc_measures_copy_described(h->ctx, &copy, h->set, coordinate, NULL, title), &copy);
    if (good && name)
        handle_replace_set(
            h, ddsc_measures_copy_about(h->ctx, &copy, h->set, Rf_xlength(meta_names), name, value),
            &copy);
    return handle_answer(h, pointer);
}

SEXP r_set_transform(SEXP pointer, SEXP list)
{
    handle *h = handle_get(pointer);
    settings set;
    ddsc_measures *copy = NULL;
    handle_begin(h);
    settings_fill(&set, list);
    handle_replace_set(h, ddsc_measures_transform(h->ctx, &copy, h->set, &set.transform), &copy);
    return handle_answer(h, pointer);
}

SEXP r_set_compress(SEXP pointer, SEXP m)
{
    handle *h = handle_get(pointer);
    ddsc_measures *copy = NULL;
    ddsc_compress_report report;
    ddsc_compress_report_init(&report);
    handle_begin(h);
    int64_t most = (int64_t)Rf_asReal(m);
    handle_replace_set(h, ddsc_measures_compress(h->ctx, &copy, &report, h->set, most), &copy);
    return handle_answer(h, pointer);
}

/* items are numbers from 1. */
SEXP r_set_subset(SEXP run, SEXP pointer, SEXP items)
{
    handle *from = handle_get(pointer);
    SEXP subset = PROTECT(handle_new(run, from, R_NilValue));
    handle *h = handle_get(subset);
    R_xlen_t n = Rf_xlength(items);
    int64_t *item = (int64_t *)R_alloc((size_t)n + 1, sizeof *item);
    for (R_xlen_t i = 0; i < n; i++)
        item[i] = INTEGER(items)[i] - 1;
    h->status = ddsc_measures_copy_subset(h->ctx, &h->set, from->set, n, item);
    SEXP answer = handle_answer(h, subset);
    UNPROTECT(1);
    return answer;
}

/* ---- parts of a set that are returned to R ---- */

static SEXP coordinate_names(const ddsc_measures *set, int64_t dim)
{
    if (!ddsc_measures_get_coordinate_name(set, 0))
        return R_NilValue;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, dim));
    for (int64_t j = 0; j < dim; j++)
        SET_STRING_ELT(names, j, string_of(ddsc_measures_get_coordinate_name(set, j)));
    UNPROTECT(1);
    return names;
}

static SEXP row_ids(const ddsc_measures *set, int64_t n)
{
    SEXP ids = PROTECT(Rf_allocVector(STRSXP, n));
    for (int64_t i = 0; i < n; i++)
        SET_STRING_ELT(ids, i, string_of(ddsc_measures_get_id(set, i)));
    UNPROTECT(1);
    return ids;
}

/* Returns classes as names, or as numbers if they have no names. */
static SEXP classes(const ddsc_measures *set, const ddsc_measures_view *view)
{
    if (!view->label)
        return R_NilValue;
    bool named = view->n_label_names > 0;
    SEXP list = PROTECT(Rf_allocVector(named ? STRSXP : INTSXP, view->n_rows));
    for (int64_t i = 0; i < view->n_rows; i++) {
        int32_t label = view->label[i];
        if (named)
            SET_STRING_ELT(list, i,
                           label < 0 ? NA_STRING
                                     : string_of(ddsc_measures_get_label_name(set, label)));
        else
            INTEGER(list)[i] = label < 0 ? NA_INTEGER : label;
    }
    UNPROTECT(1);
    return list;
}

static SEXP transforms(const ddsc_measures *set)
{
    int n = 0;
    while (ddsc_measures_get_transform(set, n))
        n++;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++)
        SET_STRING_ELT(names, i, string_of(ddsc_measures_get_transform(set, i)));
    UNPROTECT(1);
    return names;
}

/* Returns metadata columns as a list of character vectors. */
static SEXP metadata(const ddsc_measures *set, int64_t n_rows)
{
    int n = 0;
    while (ddsc_measures_get_meta_name(set, n))
        n++;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int j = 0; j < n; j++) {
        SEXP column = Rf_allocVector(STRSXP, n_rows);
        SET_VECTOR_ELT(list, j, column);
        SET_STRING_ELT(names, j, string_of(ddsc_measures_get_meta_name(set, j)));
        for (int64_t i = 0; i < n_rows; i++)
            SET_STRING_ELT(column, i, string_of(ddsc_measures_get_meta(set, i, j)));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

SEXP r_set_view(SEXP pointer)
{
    static const char *const names[] = {"dim",    "ids",         "sizes",      "rows",
                                        "labels", "coordinates", "transforms", "meta"};
    handle *h = handle_get(pointer);
    ddsc_measures_view view;
    ddsc_measures_get_view(h->set, &view);
    SEXP list = named_list(8, names);
    SET_VECTOR_ELT(list, 0, Rf_ScalarReal((double)view.dim));
    SET_VECTOR_ELT(list, 1, row_ids(h->set, view.n_rows));
    SEXP sizes = Rf_allocVector(REALSXP, view.n_items);
    SET_VECTOR_ELT(list, 2, sizes);
    SEXP rows = Rf_allocVector(INTSXP, view.n_items);
    SET_VECTOR_ELT(list, 3, rows);
    for (int64_t i = 0; i < view.n_items; i++) {
        REAL(sizes)[i] = (double)(view.offset[i + 1] - view.offset[i]);
        INTEGER(rows)[i] = (int)view.row[i] + 1;
    }
    SET_VECTOR_ELT(list, 4, classes(h->set, &view));
    SET_VECTOR_ELT(list, 5, coordinate_names(h->set, view.dim));
    SET_VECTOR_ELT(list, 6, transforms(h->set));
    SET_VECTOR_ELT(list, 7, metadata(h->set, view.n_rows));
    UNPROTECT(1);
    return list;
}

/* Returns the points and weights of one item. Items are numbered from 1. */
SEXP r_set_item(SEXP pointer, SEXP item)
{
    static const char *const names[] = {"points", "weights"};
    handle *h = handle_get(pointer);
    ddsc_measures_view view;
    ddsc_measures_get_view(h->set, &view);
    int64_t i = (int64_t)Rf_asInteger(item) - 1;
    if (i < 0 || i >= view.n_items)
        Rf_error("item %d does not exist: the set has %.0f items, numbered from 1",
                 Rf_asInteger(item), (double)view.n_items);
    int64_t first = view.offset[i], n = view.offset[i + 1] - first;
    SEXP list = named_list(2, names);
    SEXP points = Rf_allocMatrix(REALSXP, (int)n, (int)view.dim);
    SET_VECTOR_ELT(list, 0, points);
    SEXP weights = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(list, 1, weights);
    for (int64_t p = 0; p < n; p++) {
        const double *row = view.support + view.index[first + p] * view.dim;
        REAL(weights)[p] = view.weight[first + p];
        for (int64_t j = 0; j < view.dim; j++)
            REAL(points)[j * n + p] = row[j];
    }
    UNPROTECT(1);
    return list;
}

SEXP r_set_write(SEXP pointer, SEXP path, SEXP overwrite)
{
    handle *h = handle_get(pointer);
    handle_begin(h);
    h->status = ddsc_measures_write(h->ctx, h->set, Rf_translateCharUTF8(STRING_ELT(path, 0)),
                                    DDSC_FORMAT_AUTO,
                                    Rf_asLogical(overwrite) == TRUE ? DDSC_WRITE_OVERWRITE : 0);
    return handle_answer(h, R_NilValue);
}
