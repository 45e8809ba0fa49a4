/* Implements sparse matrices in CSR format: storage, transposition with a counting sort, and
 * sums. */
#include "base/blocks.h"
#include "numeric/graph/graph.h"

enum { SUM_GRAIN = 4096 }; /* rows per chunk of a parallel loop */

#ifdef DDSC_DEBUG_CHECKS
bool sparse_rows_hold(const sparse *s, team_part rows)
{
    bool holds = invariant_offsets(s->offset, s->n);
    for (int64_t i = rows.begin; holds && i < rows.end; i++) {
        int64_t at = s->offset[i], count = s->offset[i + 1] - at;
        holds = invariant_ascending(s->column + at, count) &&
                invariant_range(s->column + at, count, 0, s->n) &&
                invariant_between(s->value + at, count, 0, INFINITY);
    }
    return holds;
}
#endif

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

team_part sparse_own(const ddsc_context *ctx, int64_t n)
{
    return team_own(ctx, n, block_rows(n));
}

team_part sparse_rows(const ddsc_context *ctx, const sparse *s)
{
    return s->divided ? sparse_own(ctx, s->n) : (team_part){0, s->n};
}

ddsc_status sparse_gather(ddsc_context *ctx, sparse *s)
{
    int64_t grain = block_rows(s->n);
    if (!s->divided)
        return DDSC_OK;
    CHECK(team_gather_entries(ctx, s->column, s->offset, s->n, grain, sizeof *s->column));
    CHECK(team_gather_entries(ctx, s->value, s->offset, s->n, grain, sizeof *s->value));
    s->divided = false;
    return DDSC_OK;
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
    /* Each offset now points to the start of the next row, so the offsets are shifted back. */
    for (int64_t i = in->n; i > 0; i--)
        offset[i] = offset[i - 1];
    offset[0] = 0;
    return DDSC_OK;
}

/* Computes row i of scale (S + T) and returns its number of entries. If `column` is NULL, the
 * entries are only counted. */
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

/* Computes the row offsets of s + t. Each rank counts the entries of its own rows and receives the
 * remaining counts from the other ranks. */
static ddsc_status sum_offsets(ddsc_context *ctx, int64_t *offset, const sparse *s, const sparse *t)
{
    team_part rows = sparse_rows(ctx, s);
    for (int64_t i = rows.begin; i < rows.end; i++)
        offset[i + 1] = sparse_sum_row(s, t, i, 1, NULL, NULL);
    if (s->divided)
        CHECK(team_gather(ctx, offset + 1, s->n, block_rows(s->n), sizeof *offset));
    for (int64_t i = 0; i < s->n; i++)
        offset[i + 1] += offset[i];
    return DDSC_OK;
}

ddsc_status sparse_sum(ddsc_context *ctx, sparse *out, const sparse *s, const sparse *t,
                       double scale)
{
    ddsc_status status = DDSC_OK;
    *out = (sparse){.n = s->n, .divided = s->divided};
    TRY(MEM_ZERO(ctx, out->offset, s->n + 1));
    TRY(sum_offsets(ctx, out->offset, s, t));
    out->nnz = out->offset[s->n];
    TRY(MEM_NEW(ctx, out->column, out->nnz));
    TRY(MEM_NEW(ctx, out->value, out->nnz));
    sum_job j = {s, t, scale, out};
    TRY(team_rows(ctx, sparse_rows(ctx, s), SUM_GRAIN, sparse_sum_rows, &j));
    DDSC_ASSERT(sparse_rows_hold(out, sparse_rows(ctx, out)));
done:
    if (status < 0)
        sparse_free(ctx, out);
    return status;
}
