/* Rows of a sparse matrix: storage and transposition by counting. */
#include "graph/graph.h"

enum { SUM_GRAIN = 4096 }; /* rows of a piece of a sum */

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

/* Row i of scale (S + T); with `column` NULL the entries are only counted. */
static int64_t sparse_sum_row(const sparse *s, const sparse *t, int64_t i, double scale,
                              int32_t *column, double *value)
{
    int64_t p = s->offset[i], q = t->offset[i], count = 0;
    int64_t p_end = s->offset[i + 1], q_end = t->offset[i + 1];
    while (p < p_end || q < q_end) {
        int64_t from_s = p < p_end ? s->column[p] : INT64_MAX;
        int64_t from_t = q < q_end ? t->column[q] : INT64_MAX;
        double sum = 0;
        if (from_s <= from_t)
            sum += s->value[p++];
        if (from_t <= from_s)
            sum += t->value[q++];
        if (column) {
            column[count] = (int32_t)BASE_MIN(from_s, from_t);
            value[count] = scale * sum;
        }
        count++;
    }
    return count;
}

typedef struct sum_job {
    const sparse *s, *t;
    double scale;
    sparse *out;
} sum_job;

static ddsc_status sparse_sum_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    sum_job *j = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = j->out->offset[i];
        sparse_sum_row(j->s, j->t, i, j->scale, j->out->column + at, j->out->value + at);
    }
    return DDSC_OK;
}

ddsc_status sparse_sum(ddsc_context *ctx, sparse *out, const sparse *s, const sparse *t,
                       double scale)
{
    ddsc_status status = DDSC_OK;
    int64_t nnz = 0;
    for (int64_t i = 0; i < s->n; i++)
        nnz += sparse_sum_row(s, t, i, scale, NULL, NULL);
    TRY(sparse_new(ctx, out, s->n, nnz));
    for (int64_t i = 0; i < s->n; i++)
        out->offset[i + 1] = out->offset[i] + sparse_sum_row(s, t, i, scale, NULL, NULL);
    sum_job j = {s, t, scale, out};
    TRY(parallel_for(ctx, s->n, SUM_GRAIN, sparse_sum_rows, &j));
done:
    if (status < 0)
        sparse_free(ctx, out);
    return status;
}
