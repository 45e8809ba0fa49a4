/* Writes neighbor graphs as MatrixMarket, or as npz files that scipy.sparse.load_npz can read. */
#include <string.h>

#include "io/format/archive.h"
#include "numeric/graph/graph.h"

static const char *sparse_format(const void *arg, int64_t i)
{
    (void)arg;
    (void)i;
    return "csc"; /* column c contains the neighbors of item c */
}

static ddsc_status npz_write_graph(ddsc_context *ctx, const ddsc_graph *g, io_writer *w)
{
    ddsc_status status = DDSC_OK;
    npz_writer *z = NULL;
    const int64_t two = 2, n_offsets = g->n + 1, shape[2] = {g->n, g->n};
    const int64_t *n_edges = &g->offset[g->n];
    TRY(npz_writer_open(ctx, &z, w));
    TRY(npz_add_strings(z, "format", sparse_format, NULL, 1));
    TRY(npz_writer_add(z, "shape", NPY_INT8, 1, &two, 8, NULL, shape));
    TRY(npz_writer_add(z, "indptr", NPY_INT8, 1, &n_offsets, 8, NULL, g->offset));
    TRY(npz_writer_add(z, "indices", NPY_INT4, 1, n_edges, 4, NULL, g->index));
    TRY(npz_writer_add(z, "data", NPY_FLOAT8, 1, n_edges, 8, NULL, g->d2));
    TRY(npz_writer_finish(z));
done:
    npz_writer_close(z);
    return status;
}

ddsc_status ddsc_graph_write(ddsc_context *ctx, const ddsc_graph *graph, const char *path,
                             unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, graph, "graph"));
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(writer_open(ctx, &w, path, flags));
    size_t n = strlen(path);
    bool npz = n > 4 && strcmp(path + n - 4, ".npz") == 0;
    return writer_finish(w, npz ? npz_write_graph(ctx, graph, w) : mtx_write_graph(ctx, graph, w));
}
