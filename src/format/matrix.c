/* Matrices in and out. */
#include "format/format.h"

static ddsc_status read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    unsigned char head[STREAM_PEEK_MAX];
    size_t got;
    ddsc_status status = stream_peek(s, head, sizeof head, &got);
    if (status < 0)
        return status;
    const char *foreign = io_sniff_foreign(head, got);
    if (foreign)
        return stream_fail(s, "is %s", foreign);
    switch (io_sniff(head, got)) {
    case DDSC_FORMAT_NPY: return npy_read_matrix(ctx, matrix, n, s);
    case DDSC_FORMAT_MTX: return mtx_read_matrix(ctx, matrix, n, s);
    default:
        return stream_fail(s, got == 0 ? "is empty"
                                       : "is not a matrix; npy and MatrixMarket files are read");
    }
}

ddsc_status ddsc_matrix_read(ddsc_context *ctx, double **matrix, int64_t *n, const char *path)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    double *found = NULL;
    int64_t size = 0;
    if (!ctx)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    if (!matrix || !n || !path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "matrix, n or path is NULL");
    *matrix = NULL;
    TRY(stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    TRY(read_matrix(ctx, &found, &size, s));
    *matrix = found;
    *n = size;
    found = NULL;
done:
    stream_close(s);
    mem_free(ctx, found);
    return status;
}

ddsc_status ddsc_rows_read(ddsc_context *ctx, double **rows, int64_t *n_rows, int64_t *n_columns,
                           const char *path)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    npy_array a;
    char shape[QUOTE_TEXT];
    double *found = NULL;
    if (!ctx)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    if (!rows || !n_rows || !n_columns || !path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "rows, n_rows, n_columns or path is NULL");
    *rows = NULL;
    TRY(stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    TRY(npy_read_header(s, &a));
    if (a.n_dims != 2) {
        status =
            stream_fail(s, "has shape %s, rows and columns are wanted", npy_shape_text(shape, &a));
        goto done;
    }
    TRY(npy_read_doubles(ctx, &found, s, &a));
    *rows = found;
    *n_rows = a.shape[0];
    *n_columns = a.shape[1];
    found = NULL;
done:
    stream_close(s);
    mem_free(ctx, found);
    return status;
}

ddsc_status ddsc_matrix_write(ddsc_context *ctx, const double *matrix, int64_t n_rows,
                              int64_t n_columns, const char *path, unsigned flags)
{
    ddsc_status status = DDSC_OK;
    io_writer *w = NULL;
    char header[NPY_HEADER_MAX];
    int64_t shape[2] = {n_rows, n_columns}, count, bytes;
    if (!ctx)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(ctx);
    if (!matrix || !path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "matrix or path is NULL");
    if (n_rows < 0 || n_columns < 0 || !mul_ok(n_rows, BASE_MAX(n_columns, 1), &count) ||
        !mul_ok(count, 8, &bytes))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a matrix of %lld x %lld cannot be",
                        (long long)n_rows, (long long)n_columns);
    TRY(writer_open(ctx, &w, path, flags));
    TRY(writer_put(
        w, header,
        npy_format_header(header, NUM_HOST_LITTLE ? "<f8" : ">f8", n_columns > 0 ? 2 : 1, shape)));
    TRY(writer_put(w, matrix, (size_t)bytes));
    status = writer_commit(w);
    w = NULL;
done:
    writer_abort(w);
    return status;
}
