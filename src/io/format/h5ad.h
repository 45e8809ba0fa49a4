/* The state of reading an HDF5 file of cells: the item of each row, and the columns that are
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
    char matrix[H5_PATH]; /* path of the matrix */
    bool sparse, by_column;
    int64_t n_rows, width; /* size of the matrix */
    text_rows names;       /* names of its columns */
    int64_t *to;           /* coordinate of each column, or -1 */
    int64_t *place;        /* point of each row, or -1 */
} h5ad;

/* Finds the matrix, its size and the names of its columns, and chooses the coordinates. */
ddsc_status h5ad_find_matrix(h5ad *h);
/* Reads the chosen values of the rows that have a point into the support. */
ddsc_status h5ad_read_matrix(h5ad *h);

#endif
