/* Combines the heaps of a team. Each rank merges the partial heaps of all ranks for the rows that
 * it owns, and sends the results to all ranks. */
#include "base/blocks.h"
#include "base/team.h"
#include "neighbors/pairs/nearest.h"

enum { JOIN_BYTES = 1 << 26 };

typedef struct join_entry {
    double value;
    int32_t slot, index;
} join_entry;

typedef struct joining {
    nearest *near;
    const join_entry *in;
    bool once;
} joining;

static ddsc_status put_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const joining *j = arg;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        (j->once ? nearest_put_once : nearest_put)(j->near, j->in[k].slot, j->in[k].index,
                                                   j->in[k].value);
    return DDSC_OK;
}

/* Returns slice s (of n_slices) of the rows of rank r. */
static team_part slice_of(const ddsc_context *ctx, int64_t n, int r, int64_t s, int64_t n_slices)
{
    team_part part = team_part_of(ctx, n, block_rows(n), r);
    int64_t rows = part.end - part.begin;
    return (team_part){part.begin + rows * s / n_slices, part.begin + rows * (s + 1) / n_slices};
}

/* Packs this rank's entries for one slice of the rows of every other rank, and sets bytes[r] to
 * their size for rank r. If `out` is NULL, only counts the entries. */
static int64_t pack_slice(const ddsc_context *ctx, const nearest *near, int64_t s, int64_t n_slices,
                          join_entry *out, int64_t *bytes)
{
    int64_t at = 0;
    for (int r = 0; r < team_size(ctx); r++) {
        team_part part = slice_of(ctx, near->n, r, s, n_slices);
        int64_t first = at;
        for (int64_t i = part.begin; r != team_rank(ctx) && i < part.end; i++)
            for (int64_t k = 0; k < near->count[i]; k++, at++)
                if (out)
                    out[at] = (join_entry){near->value[i * near->tau + k], (int32_t)i,
                                           near->index[i * near->tau + k]};
        bytes[r] = (at - first) * (int64_t)sizeof *out;
    }
    return at;
}

static ddsc_status join_slice(ddsc_context *ctx, nearest *near, int64_t s, int64_t n_slices,
                              bool once)
{
    ddsc_status status = DDSC_OK;
    int size = team_size(ctx);
    int64_t *bytes = NULL, n_in = 0;
    join_entry *out = NULL, *in = NULL;
    TRY(MEM_NEW(ctx, bytes, 2 * size));
    TRY(MEM_NEW(ctx, out, pack_slice(ctx, near, s, n_slices, NULL, bytes)));
    pack_slice(ctx, near, s, n_slices, out, bytes);
    TRY(team_sizes(ctx, bytes, bytes + size));
    for (int r = 0; r < size; r++)
        n_in += bytes[size + r] / (int64_t)sizeof *in;
    TRY(MEM_NEW(ctx, in, n_in));
    TRY(team_exchange(ctx, out, bytes, in, bytes + size));
    TRY(parallel_for(ctx, n_in, 1024, put_range, &(joining){near, in, once}));
done:
    MEM_FREE(ctx, in, out, bytes);
    return status;
}

ddsc_status nearest_join(ddsc_context *ctx, nearest *near, bool once)
{
    int64_t bytes = near->n * near->tau * (int64_t)sizeof(join_entry);
    int64_t n_slices = bytes / JOIN_BYTES + 1;
    for (int64_t s = 0; team_size(ctx) > 1 && s < n_slices; s++)
        CHECK(join_slice(ctx, near, s, n_slices, once));
    return DDSC_OK;
}

ddsc_status nearest_spread(ddsc_context *ctx, nearest *near)
{
    int64_t n = near->n, rows = block_rows(n), tau = near->tau;
    if (n == 0)
        return DDSC_OK;
    CHECK(team_gather(ctx, near->value, n, rows, tau * (int64_t)sizeof *near->value));
    CHECK(team_gather(ctx, near->index, n, rows, tau * (int64_t)sizeof *near->index));
    CHECK(team_gather(ctx, near->count, n, rows, sizeof *near->count));
    return team_gather(ctx, near->limit, n, rows, sizeof *near->limit);
}

ddsc_status nearest_share(ddsc_context *ctx, nearest *near, bool once)
{
    CHECK(nearest_join(ctx, near, once));
    return nearest_spread(ctx, near);
}
