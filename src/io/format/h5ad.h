/* The state of a reader of HDF5 files of cells: the item of each row, and the columns that are
 * coordinates. */
#ifndef DDSC_IO_FORMAT_H5AD_H
#define DDSC_IO_FORMAT_H5AD_H

#include "io/format/format.h"
#include "io/hdf5/hdf5.h"

typedef struct h5ad {
    ddsc_context *ctx;
    io_stream *s;
    measures_parts *out;
    const ddsc_read_settings *set;
    h5_file f;
    char matrix[H5_PATH];            /* path of the matrix */
    bool sparse, by_column, by_cell; /* by_cell: true if the file has the folder obs */
    int64_t n_rows, width;           /* size of the matrix */
    text_rows names;                 /* names of the matrix columns */
    int64_t *to;                     /* coordinate of each column, or -1 */
    int64_t *place;                  /* point of each row, or -1 */
} h5ad;

/* Texts of the rows, stored either per row or as categories with a code per row. */
typedef struct h5ad_texts {
    text_rows text;
    int64_t n;
    int64_t *code; /* index of each row's text, or -1; NULL: text i belongs to row i */
} h5ad_texts;

const char *h5ad_text(const h5ad_texts *t, int64_t row);
void h5ad_texts_free(ddsc_context *ctx, h5ad_texts *t);
/* Finds the column obs/NAME or, if it does not exist, NAME. */
ddsc_status h5ad_find_column(h5ad *h, const char *name, char path[H5_PATH], h5_kind *kind);
/* Fails with a message that lists the columns. If name is NULL, the message says that no column
 * identifies the items. */
ddsc_status h5ad_fail_no_column(h5ad *h, const char *name, const char *option);
/* Checks that an array has one element per row of the matrix. */
ddsc_status h5ad_check_rows(h5ad *h, const h5_array *a);
ddsc_status h5ad_read_column(h5ad *h, h5ad_texts *t, const char *name, const char *option);
/* Adds the columns of obs that are constant within each item to the metadata, in the order of their
 * names, except columns that have another role. Adds none if the settings name a metadata table.
 * `item` contains the item of each row, or -1. */
ddsc_status h5ad_add_constant(h5ad *h, const int64_t *item);

/* Finds the matrix, its size and the names of its columns, and chooses the coordinates. */
ddsc_status h5ad_find_matrix(h5ad *h);
/* Reads the chosen columns of the rows that become points, and stores the values in the support. */
ddsc_status h5ad_read_matrix(h5ad *h);

#endif
