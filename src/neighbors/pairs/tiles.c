/* Implements the numbering of tiles, the loop over tiles, and the selection of requested pairs. */
#include <math.h>

#include "base/team.h"
#include "neighbors/pairs/tiles.h"

/* Returns the number of tiles before a block column. */
static int64_t tiles_before(int64_t block)
{
    return block * (block + 1) / 2;
}

/* Returns the block column of a tile: the largest J with tiles_before(J) <= number. The square root
 * is corrected for rounding errors. */
static int64_t block_column(int64_t number)
{
    int64_t block = (int64_t)((sqrt(8.0 * (double)number + 1.0) - 1.0) / 2.0);
    while (tiles_before(block) > number)
        block--;
    while (tiles_before(block + 1) <= number)
        block++;
    return block;
}

pair_tile tile_number(int64_t n, int64_t side, int64_t number)
{
    int64_t column = block_column(number), row = number - tiles_before(column);
    int64_t i0 = row * side, j0 = column * side;
    DDSC_ASSERT(row >= 0 && row <= column && j0 < n);
    return (pair_tile){
        .i0 = i0, .i1 = BASE_MIN(n, i0 + side), .j0 = j0, .j1 = BASE_MIN(n, j0 + side)};
}

int64_t tile_count(int64_t columns, int64_t side)
{
    return tiles_before((columns + side - 1) / side);
}

int64_t tile_pairs(const pair_tile *t)
{
    int64_t rows = t->i1 - t->i0;
    return t->i0 == t->j0 ? rows * (rows - 1) / 2 : rows * (t->j1 - t->j0);
}

typedef struct tile_loop {
    int64_t n, side, first;
    tile_fn fn;
    void *arg;
} tile_loop;

static ddsc_status walk_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const tile_loop *l = arg;
    ddsc_status status = DDSC_OK;
    for (int64_t k = begin; k < end; k++) {
        pair_tile t = tile_number(l->n, l->side, l->first + k);
        TRY(l->fn(l->arg, &t, worker));
    }
done:
    return status;
}

ddsc_status tiles_walk(ddsc_context *ctx, int64_t n, int64_t side, int64_t begin, int64_t end,
                       tile_fn fn, void *arg)
{
    tile_loop l = {.n = n, .side = side, .first = begin, .fn = fn, .arg = arg};
    return team_for(ctx, end - begin, 1, walk_range, &l);
}

/* ---- requested pairs ---- */

/* The number is the sum of min(j, i_end) over the columns j. */
int64_t pairs_chosen(const pair_choice *c, int64_t n)
{
    int64_t rows = BASE_MIN(c->i_end, n), from = BASE_MIN(c->j_begin, rows);
    int64_t whole = BASE_MAX(c->j_begin, rows); /* from this column on, all rows are requested */
    return n < 2 ? 0 : (rows * (rows - 1) - from * (from - 1)) / 2 + rows * (n - whole);
}

/* Hashing the pair avoids a table and makes the result independent of the order of the pairs. */
bool pairs_sampled(uint64_t seed, double p, int64_t i, int64_t j)
{
    uint64_t low = (uint64_t)BASE_MIN(i, j), high = (uint64_t)BASE_MAX(i, j);
    uint64_t draw = rng_hash(seed, RNG_PAIR_MASK, low, high);
    return (double)(draw >> 11) * 0x1p-53 < p;
}

int64_t tile_choose(const pair_choice *c, pair_tile *t, uint8_t *mask, uint64_t seed,
                    int64_t *in_question)
{
    int64_t drawn = 0;
    *in_question = 0;
    if (t->i0 >= c->i_end || t->j1 <= c->j_begin)
        return 0;
    if (t->i1 <= c->i_end && t->j0 >= c->j_begin && c->sample >= 1)
        return *in_question = tile_pairs(t);
    t->wanted = mask;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            bool in = i < j && i < c->i_end && j >= c->j_begin;
            *in_question += in;
            *mask = in && (c->sample >= 1 || pairs_sampled(seed, c->sample, i, j) != c->others);
            drawn += *mask++;
        }
    return drawn;
}

ddsc_status pairs_none_sampled(ddsc_context *ctx, double p, int64_t n)
{
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "sample = %g selects none of the %lld pairs of %lld items; sample = %g would "
                    "select about ten per item",
                    p, (long long)(n * (n - 1) / 2), (long long)n,
                    BASE_MIN(1.0, 10 / (double)(n - 1)));
}
