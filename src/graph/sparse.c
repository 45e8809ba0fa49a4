/* Rows of a sparse matrix: storage and transposition by counting. */
#include "graph/graph.h"

ddsc_status sparse_new(ddsc_context *ctx, sparse *s, int64_t n, int64_t nnz)
{
    ddsc_status status = DDSC_OK;
    *s = (sparse){.n = n, .nnz = nnz};
    TRY(MEM_ZERO(ctx, s->offset, n + 1));
    TRY(MEM_NEW(ctx, s->column, nnz));
    TRY(MEM_NEW(ctx, s->value, nnz));
done:
    if (status < 0)
        sparse_free(ctx, s);
    return status;
}

void sparse_free(ddsc_context *ctx, sparse *s)
{
    MEM_FREE(ctx, s->value, s->column, s->offset);
    *s = (sparse){0};
}

ddsc_status sparse_transpose(ddsc_context *ctx, sparse *out, const sparse *in)
{
    CHECK(sparse_new(ctx, out, in->n, in->nnz));
    int64_t *offset = out->offset;
    for (int64_t p = 0; p < in->nnz; p++)
        offset[in->column[p] + 1]++;
    for (int64_t i = 0; i < in->n; i++)
        offset[i + 1] += offset[i];
    for (int64_t i = 0; i < in->n; i++)
        for (int64_t p = in->offset[i]; p < in->offset[i + 1]; p++) {
            int64_t at = offset[in->column[p]]++;
            out->column[at] = (int32_t)i;
            out->value[at] = in->value[p];
        }
    /* Every offset has moved to the start of the next row. */
    for (int64_t i = in->n; i > 0; i--)
        offset[i] = offset[i - 1];
    offset[0] = 0;
    return DDSC_OK;
}
