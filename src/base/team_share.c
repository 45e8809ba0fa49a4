/* Shares the status and the data of the first rank with all ranks. Each machine holds one copy of
 * the arrays. */
#include <string.h>

#include "base/context.h"
#include "base/team.h"

enum { ARRAY_ALIGN = 64 };

/* ---- work done by the first rank only ---- */

/* Sends the status of the first rank and its message to all ranks. */
static ddsc_status share_outcome(ddsc_context *ctx, ddsc_status status)
{
    struct {
        int64_t status;
        char message[CTX_MESSAGE_SIZE];
    } told = {.status = status};
    memcpy(told.message, ctx->message, sizeof told.message);
    CHECK(team_first(ctx, &told, sizeof told));
    if (told.status < 0)
        return ctx_fail(ctx, (ddsc_status)told.status, "%s", told.message);
    return (ddsc_status)told.status;
}

ddsc_status team_by_first(ddsc_context *ctx, ddsc_status (*fn)(void *arg), void *arg)
{
    ddsc_status status = DDSC_OK;
    ddsc_team all = ctx->team;
    if (team_rank(ctx) == 0) {
        ctx->team = (ddsc_team){0};
        status = fn(arg);
        ctx->team = all;
    }
    return team_size(ctx) == 1 ? status : share_outcome(ctx, status);
}

/* ---- blocks ---- */

static team_block **block_find(ddsc_context *ctx, const void *memory)
{
    team_block **at = &ctx->blocks;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    return at;
}

static char *aligned(void *block)
{
    char *at = block;
    return at + (ARRAY_ALIGN - (uintptr_t)at % ARRAY_ALIGN) % ARRAY_ALIGN;
}

/* Allocates b->memory. The memory is shared by the ranks of the machine if possible, otherwise
 * private to this rank. */
static ddsc_status block_take(ddsc_context *ctx, team_block *b)
{
    const ddsc_team *team = &ctx->team;
    int first = 0;
    if (!team->share || team->share(team->state, &b->raw, b->bytes + ARRAY_ALIGN, &first) != 0) {
        b->first = true;
        return mem_get(ctx, &b->memory, b->bytes, 1);
    }
    b->memory = aligned(b->raw);
    b->first = first;
    b->state = team->state;
    b->unshare = team->unshare;
    ddsc_status status = mem_count(ctx, b->bytes);
    if (status < 0)
        b->unshare(b->state, b->raw);
    return status;
}

/* Makes the call fail on all ranks if one rank is out of memory. Without this, the other ranks
 * would wait for that rank. */
static ddsc_status block_agreed(ddsc_context *ctx, ddsc_status status)
{
    double failed = status < 0;
    if (team_size(ctx) == 1)
        return status;
    CHECK(team_largest(ctx, &failed, 1));
    if (status < 0 || failed == 0)
        return status;
    return ctx_fail(ctx, DDSC_ERROR_INTERNAL,
                    "another rank does not have enough memory for shared data");
}

static ddsc_status block_new(ddsc_context *ctx, team_block **out, int64_t bytes)
{
    ddsc_status status = DDSC_OK;
    team_block *b = NULL;
    CHECK(MEM_ZERO(ctx, b, 1));
    b->bytes = bytes;
    status = block_take(ctx, b);
    bool taken = status >= 0;
    status = block_agreed(ctx, status);
    if (!taken) {
        mem_free(ctx, b);
        return status;
    }
    b->next = ctx->blocks;
    ctx->blocks = b;
    if (status < 0)
        team_unshare(ctx, b->memory);
    else
        *out = b;
    return status;
}

void team_unshare(ddsc_context *ctx, void *memory)
{
    team_block **at = block_find(ctx, memory), *b = *at;
    if (!b) {
        mem_free(ctx, memory);
        return;
    }
    *at = b->next;
    if (b->unshare) {
        b->unshare(b->state, b->raw);
        mem_uncount(ctx, b->bytes);
    } else {
        mem_free(ctx, b->memory);
    }
    mem_free(ctx, b);
}

/* Lists the ranks that fill a block on their machine, in order. The list always includes the first
 * rank. */
static ddsc_status find_holders(ddsc_context *ctx, const team_block *b, int64_t *rank, int64_t *n)
{
    int64_t own = b->first;
    *n = 0;
    rank[team_rank(ctx)] = own;
    CHECK(team_gather(ctx, rank, team_size(ctx), 1, sizeof *rank));
    for (int r = 0; r < team_size(ctx); r++)
        if (rank[r])
            rank[(*n)++] = r; /* never overwrites an unread entry */
    return DDSC_OK;
}

/* Sends the block from machines that have it to machines that do not. The number of machines with
 * the block doubles in every step. */
static ddsc_status block_spread(ddsc_context *ctx, const team_block *b)
{
    ddsc_status status = DDSC_OK;
    int size = team_size(ctx), own = team_rank(ctx);
    int64_t *holder = NULL, *out = NULL, *in = NULL, n = 0;
    TRY(MEM_NEW(ctx, holder, size));
    TRY(MEM_NEW(ctx, out, size));
    TRY(MEM_NEW(ctx, in, size));
    TRY(find_holders(ctx, b, holder, &n));
    for (int64_t have = 1; have < n; have *= 2) {
        memset(out, 0, (size_t)size * sizeof *out);
        memset(in, 0, (size_t)size * sizeof *in);
        for (int64_t k = 0; k < have && k + have < n; k++) {
            if (holder[k] == own)
                out[holder[k + have]] = b->bytes;
            if (holder[k + have] == own)
                in[holder[k]] = b->bytes;
        }
        TRY(team_exchange(ctx, b->memory, out, b->memory, in));
    }
    if (b->unshare)
        TRY(team_ready(ctx));
done:
    MEM_FREE(ctx, holder, out, in);
    return status;
}

/* ---- tables ---- */

ddsc_status team_table_new(ddsc_context *ctx, void *table, int64_t bytes)
{
    team_block *b = NULL;
    CHECK(block_new(ctx, &b, bytes));
    memcpy(table, &b->memory, sizeof b->memory);
    return DDSC_OK;
}

const team_block *team_table_of(const ddsc_context *ctx, const void *data)
{
    uintptr_t at = (uintptr_t)data;
    const team_block *b = ctx->blocks;
    while (b && !(b->unshare && at >= (uintptr_t)b->memory &&
                  at < (uintptr_t)b->memory + (uintptr_t)b->bytes))
        b = b->next;
    return b;
}

/* Sends this rank's part to the first rank of each machine, where `whole` receives all parts. */
static ddsc_status parts_to_holders(ddsc_context *ctx, const char *own, char *whole,
                                    const int64_t *parts, const int64_t *holder, int64_t n)
{
    ddsc_status status = DDSC_OK;
    int64_t *out = NULL, *in = NULL, bytes = parts[team_rank(ctx)];
    char *copies = NULL;
    TRY(MEM_ZERO(ctx, out, team_size(ctx)));
    TRY(MEM_ZERO(ctx, in, team_size(ctx)));
    TRY(MEM_NEW(ctx, copies, n * bytes));
    for (int64_t k = 0; k < n; k++) {
        memcpy(copies + k * bytes, own, (size_t)bytes);
        out[holder[k]] = bytes;
    }
    TRY(team_exchange(ctx, copies, out, whole, whole ? parts : in));
done:
    MEM_FREE(ctx, copies, in, out);
    return status;
}

/* Gathers through a separate buffer, because the table of a machine must not be written while
 * its ranks send from it. */
static ddsc_status gather_machines(ddsc_context *ctx, const team_block *b, char *data,
                                   const int64_t *parts, const int64_t *holder, int64_t n)
{
    int64_t before = 0, all = 0;
    char *whole = NULL;
    for (int r = 0; r < team_size(ctx); r++) {
        before += r < team_rank(ctx) ? parts[r] : 0;
        all += parts[r];
    }
    if (b->first)
        CHECK(MEM_NEW(ctx, whole, all + 1));
    ddsc_status status = parts_to_holders(ctx, data + before, whole, parts, holder, n);
    if (status >= 0 && b->first)
        memcpy(data, whole, (size_t)all);
    mem_free(ctx, whole);
    return status;
}

ddsc_status team_table_gather(ddsc_context *ctx, const team_block *b, void *data,
                              const int64_t *parts)
{
    ddsc_status status = DDSC_OK;
    int64_t *holder = NULL, n = 0;
    TRY(MEM_NEW(ctx, holder, team_size(ctx)));
    TRY(find_holders(ctx, b, holder, &n));
    if (n > 1)
        TRY(gather_machines(ctx, b, data, parts, holder, n));
    TRY(team_ready(ctx));
done:
    mem_free(ctx, holder);
    return status;
}

/* ---- arrays ---- */

void team_array(team_arrays *a, void *pointer, int64_t bytes)
{
    void *old, *place = a->place ? a->place + a->bytes : NULL;
    memcpy(&old, pointer, sizeof old);
    if (!old)
        return;
    a->bytes += BASE_ROUND_UP(bytes, ARRAY_ALIGN);
    if (!place)
        return;
    if (a->owner) {
        memcpy(place, old, (size_t)bytes);
        mem_free(a->owner, old);
    }
    memcpy(pointer, &place, sizeof place);
}

ddsc_status team_move(ddsc_context *ctx, void *block, void *object, team_list list)
{
    team_arrays arrays = {0};
    team_block *b = NULL;
    if (team_rank(ctx) == 0)
        list(&arrays, object);
    CHECK(team_first(ctx, &arrays.bytes, sizeof arrays.bytes));
    CHECK(block_new(ctx, &b, arrays.bytes));
    memcpy(block, &b->memory, sizeof b->memory);
    arrays = (team_arrays){.place = b->memory};
    if (team_rank(ctx) == 0) {
        arrays.owner = ctx;
        list(&arrays, object);
    }
    CHECK(block_spread(ctx, b));
    if (team_rank(ctx) > 0)
        list(&arrays, object);
    return DDSC_OK;
}
