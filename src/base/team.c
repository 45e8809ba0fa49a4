/* Teams of ranks: row partitioning, distributed loops and message passing. */
#include "base/team.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/sized.h"

static const ddsc_team ALONE = {.struct_size = sizeof(ddsc_team), .size = 1};
SIZED_INIT(team_kind, ddsc_team, eigen, &ALONE);
SIZED_INIT(team_eigen_kind, ddsc_team_eigen, stopped, NULL);

ddsc_status ddsc_context_set_team(ddsc_context *ctx, const ddsc_team *team)
{
    ddsc_team own;
    CHECK(ctx_enter(ctx));
    CHECK(sized_take(ctx, &team_kind, &own, team));
    if (own.size < 1 || own.rank < 0 || own.rank >= own.size)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "rank %d of %d does not exist", own.rank,
                        own.size);
    bool whole = own.exchange && own.gather && own.scan && own.agree;
    if (own.size > 1 && !(whole && !own.share == !own.ready && !own.share == !own.unshare))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "the team of %d ranks does not provide all required functions", own.size);
    ctx->team = own;
    return DDSC_OK;
}

int team_rank(const ddsc_context *ctx)
{
    return ctx->team.rank;
}

int team_size(const ddsc_context *ctx)
{
    return BASE_MAX(1, ctx->team.size);
}

/* ---- row partitioning ---- */

team_part team_part_of(const ddsc_context *ctx, int64_t n, int64_t grain, int rank)
{
    int64_t pieces = (n + grain - 1) / grain, size = team_size(ctx);
    return (team_part){BASE_MIN(n, pieces * rank / size * grain),
                       BASE_MIN(n, pieces * (rank + 1) / size * grain)};
}

team_part team_own(const ddsc_context *ctx, int64_t n, int64_t grain)
{
    return team_part_of(ctx, n, grain, team_rank(ctx));
}

int team_owner(const ddsc_context *ctx, int64_t n, int64_t grain, int64_t row)
{
    int64_t pieces = (n + grain - 1) / grain;
    DDSC_ASSERT(row >= 0 && row < n);
    return (int)(((row / grain + 1) * team_size(ctx) - 1) / pieces);
}

typedef struct shifted {
    parallel_fn fn;
    void *arg;
    int64_t by;
} shifted;

static ddsc_status shifted_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const shifted *s = arg;
    return s->fn(s->arg, s->by + begin, s->by + end, worker);
}

/* Runs a loop over a part of the rows. The reported progress counts each row of this rank as
 * `scale` rows. */
static ddsc_status scaled_rows(ddsc_context *ctx, team_part part, int64_t grain, parallel_fn fn,
                               void *arg, double scale)
{
    ctx->team_scale = scale;
    ddsc_status status = parallel_for(ctx, part.end - part.begin, grain, shifted_range,
                                      &(shifted){fn, arg, part.begin});
    ctx->team_scale = 0;
    return status;
}

ddsc_status team_rows(ddsc_context *ctx, team_part part, int64_t grain, parallel_fn fn, void *arg)
{
    return scaled_rows(ctx, part, grain, fn, arg, team_size(ctx));
}

ddsc_status team_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg)
{
    team_part part = team_own(ctx, n, grain);
    double own = (double)BASE_MAX(1, part.end - part.begin);
    return scaled_rows(ctx, part, grain, fn, arg, (double)n / own);
}

/* ---- calls ---- */

static ddsc_status answered(ddsc_context *ctx, int failed)
{
    if (failed == 0)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_INTERNAL, "rank %d of %d: another rank cannot be reached",
                    ctx->team.rank, ctx->team.size);
}

ddsc_status team_gather_parts(ddsc_context *ctx, void *data, const int64_t *parts)
{
    const team_block *table = team_size(ctx) > 1 ? team_table_of(ctx, data) : NULL;
    if (team_size(ctx) == 1)
        return DDSC_OK;
    if (table)
        return team_table_gather(ctx, table, data, parts);
    return answered(ctx, ctx->team.gather(ctx->team.state, data, parts));
}

/* If `offset` is NULL, each row has one entry. */
static ddsc_status gather_by_rank(ddsc_context *ctx, void *rows, const int64_t *offset, int64_t n,
                                  int64_t grain, int64_t bytes)
{
    int size = team_size(ctx);
    int64_t *parts = NULL;
    if (size == 1)
        return DDSC_OK;
    CHECK(MEM_NEW(ctx, parts, size));
    for (int r = 0; r < size; r++) {
        team_part part = team_part_of(ctx, n, grain, r);
        parts[r] = bytes * (offset ? offset[part.end] - offset[part.begin] : part.end - part.begin);
    }
    ddsc_status status = team_gather_parts(ctx, rows, parts);
    mem_free(ctx, parts);
    return status;
}

ddsc_status team_gather(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes)
{
    return gather_by_rank(ctx, rows, NULL, n, grain, bytes);
}

ddsc_status team_gather_entries(ddsc_context *ctx, void *entries, const int64_t *offset, int64_t n,
                                int64_t grain, int64_t bytes)
{
    return gather_by_rank(ctx, entries, offset, n, grain, bytes);
}

ddsc_status team_first(ddsc_context *ctx, void *data, int64_t bytes)
{
    int64_t *parts = NULL;
    if (team_size(ctx) == 1)
        return DDSC_OK;
    CHECK(MEM_ZERO(ctx, parts, team_size(ctx)));
    parts[0] = bytes;
    ddsc_status status = team_gather_parts(ctx, data, parts);
    mem_free(ctx, parts);
    return status;
}

ddsc_status team_fill(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes,
                      parallel_fn fn, void *arg)
{
    ddsc_status status = DDSC_OK;
    TRY(team_for(ctx, n, grain, fn, arg));
    TRY(team_gather(ctx, rows, n, grain, bytes));
done:
    return status;
}

/* Gathers n values from each rank on all ranks. */
static ddsc_status gather_values(ddsc_context *ctx, void *out, const void *own, int64_t n)
{
    int64_t bytes = 8 * n;
    memcpy((char *)out + team_rank(ctx) * bytes, own, (size_t)bytes);
    return team_gather(ctx, out, team_size(ctx), 1, bytes);
}

#define TEAM_SUM(name, type)                                    \
    ddsc_status name(ddsc_context *ctx, type *value, int64_t n) \
    {                                                           \
        ddsc_status status = DDSC_OK;                           \
        int size = team_size(ctx);                              \
        type *all = NULL;                                       \
        if (size == 1)                                          \
            return DDSC_OK;                                     \
        TRY(MEM_NEW(ctx, all, n *size));                        \
        TRY(gather_values(ctx, all, value, n));                 \
        memset(value, 0, (size_t)n * sizeof *value);            \
        for (int64_t k = 0; k < n * size; k++)                  \
            value[k % n] += all[k];                             \
    done:                                                       \
        mem_free(ctx, all);                                     \
        return status;                                          \
    }

TEAM_SUM(team_sum_i64, int64_t)
TEAM_SUM(team_sum_f64, double)

ddsc_status team_largest(ddsc_context *ctx, double *value, int64_t n)
{
    if (team_size(ctx) == 1)
        return DDSC_OK;
    for (int64_t k = 0; k < n;
         k++) /* NaN is not larger than any number, so a plain maximum would ignore it */
        value[k] = isnan(value[k]) ? INFINITY : value[k];
    return answered(ctx, ctx->team.agree(ctx->team.state, value, n));
}

ddsc_status team_stats(ddsc_context *ctx, ddsc_pair_stats *stats)
{
    int64_t count[] = {stats->n_solved, stats->n_not_converged, stats->n_clamped,
                       stats->n_iterations};
    CHECK(team_sum_i64(ctx, count, 4));
    stats->n_solved = count[0];
    stats->n_not_converged = count[1];
    stats->n_clamped = count[2];
    stats->n_iterations = count[3];
    return team_largest(ctx, &stats->max_gap, 1);
}

ddsc_status team_exchange(ddsc_context *ctx, const void *send, const int64_t *send_bytes,
                          void *receive, const int64_t *receive_bytes)
{
    if (team_size(ctx) > 1)
        return answered(
            ctx, ctx->team.exchange(ctx->team.state, send, send_bytes, receive, receive_bytes));
    memcpy(receive, send, (size_t)send_bytes[0]);
    return DDSC_OK;
}

ddsc_status team_sizes(ddsc_context *ctx, const int64_t *send_bytes, int64_t *receive_bytes)
{
    ddsc_status status = DDSC_OK;
    int size = team_size(ctx);
    int64_t *eight = NULL;
    TRY(MEM_NEW(ctx, eight, size));
    for (int r = 0; r < size; r++)
        eight[r] = sizeof *send_bytes;
    TRY(team_exchange(ctx, send_bytes, eight, receive_bytes, eight));
done:
    mem_free(ctx, eight);
    return status;
}

ddsc_status team_ready(ddsc_context *ctx)
{
    return answered(ctx, ctx->team.ready(ctx->team.state));
}

bool team_has_eigen(const ddsc_context *ctx)
{
    return team_size(ctx) > 1 && ctx->team.eigen;
}

static int asked_to_stop(void *ctx)
{
    return ctx_canceled(ctx);
}

ddsc_status team_eigen(ddsc_context *ctx, ddsc_team_eigen *problem)
{
    problem->cancel = asked_to_stop;
    problem->cancel_user = ctx;
    CHECK(answered(ctx, ctx->team.eigen(ctx->team.state, problem)));
    return problem->stopped ? ctx_fail(ctx, DDSC_ERROR_CANCELED, "stopped on request") : DDSC_OK;
}

/* ---- message passing ---- */

ddsc_status team_queue_open(ddsc_context *ctx, team_queue *queue, int64_t record)
{
    *queue = (team_queue){.ctx = ctx, .record = record};
    return MEM_ZERO(ctx, queue->box, parallel_width(ctx));
}

void team_queue_close(team_queue *queue)
{
    for (int w = 0; queue->box && w < parallel_width(queue->ctx); w++)
        MEM_FREE(queue->ctx, queue->box[w].at, queue->box[w].to);
    if (queue->ctx)
        MEM_FREE(queue->ctx, queue->box, queue->in);
    *queue = (team_queue){0};
}

ddsc_status team_queue_put(team_queue *queue, int worker, int to, const void *record)
{
    team_box *b = &queue->box[worker];
    CHECK(MEM_RESERVE(queue->ctx, b->to, &b->n_to, b->n + 1));
    CHECK(MEM_RESERVE(queue->ctx, b->at, &b->bytes, (b->n + 1) * queue->record));
    b->to[b->n] = (int32_t)to;
    memcpy(b->at + b->n++ * queue->record, record, (size_t)queue->record);
    return DDSC_OK;
}

/* Packs all boxes into one array, sorted by rank, with bytes[r] for rank r. */
static ddsc_status queue_pack(const team_queue *queue, char **out, int64_t *bytes)
{
    ddsc_status status = DDSC_OK;
    int size = team_size(queue->ctx), n_workers = parallel_width(queue->ctx);
    int64_t *next = NULL, total = 0;
    TRY(MEM_NEW(queue->ctx, next, size));
    memset(bytes, 0, (size_t)size * sizeof *bytes);
    for (int w = 0; w < n_workers; w++)
        for (int64_t k = 0; k < queue->box[w].n; k++)
            bytes[queue->box[w].to[k]] += queue->record;
    for (int r = 0; r < size; r++) {
        next[r] = total;
        total += bytes[r];
    }
    TRY(MEM_NEW(queue->ctx, *out, total));
    for (int w = 0; w < n_workers; w++) {
        const team_box *b = &queue->box[w];
        for (int64_t k = 0; k < b->n; k++) {
            memcpy(*out + next[b->to[k]], b->at + k * queue->record, (size_t)queue->record);
            next[b->to[k]] += queue->record;
        }
    }
done:
    mem_free(queue->ctx, next);
    return status;
}

ddsc_status team_queue_deliver(team_queue *queue)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = queue->ctx;
    int size = team_size(ctx);
    int64_t *bytes = NULL, total = 0;
    char *out = NULL;
    TRY(MEM_NEW(ctx, bytes, 2 * size));
    TRY(queue_pack(queue, &out, bytes));
    TRY(team_sizes(ctx, bytes, bytes + size));
    for (int r = 0; r < size; r++)
        total += bytes[size + r];
    TRY(MEM_RESERVE(ctx, queue->in, &queue->in_bytes, total));
    TRY(team_exchange(ctx, out, bytes, queue->in, bytes + size));
    queue->n_in = total / queue->record;
    for (int w = 0; w < parallel_width(ctx); w++)
        queue->box[w].n = 0;
done:
    MEM_FREE(ctx, out, bytes);
    return status;
}
