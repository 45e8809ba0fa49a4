/* An HDF5 file of cells being read: which rows are whose, and which columns are coordinates. */
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
    char matrix[H5_PATH]; /* where the values are */
    bool sparse, by_column;
    int64_t n_rows, width; /* of the matrix */
    text_rows names;       /* of its columns */
    int64_t *to;           /* of each column: its coordinate, or -1 */
    int64_t *place;        /* of each row: its point, or -1 */
} h5ad;

/* Finds the matrix, its size and the names of its columns; chooses the coordinates. */
ddsc_status h5ad_find_matrix(h5ad *h);
/* The chosen values of the rows that have a place, into the support. */
ddsc_status h5ad_read_matrix(h5ad *h);

#endif
