/* The pairs i < j of n items, divided into square tiles. The division depends only on n and the
 * side, so results do not depend on the number of threads. */
#ifndef DDSC_NEIGHBORS_PAIRS_TILES_H
#define DDSC_NEIGHBORS_PAIRS_TILES_H

#include "base/base.h"

typedef struct pair_ij {
    int32_t i, j;
} pair_ij;

/* A rectangle of pairs with i0 <= j0. In a diagonal tile (i0 == j0), only entries with i < j are
 * read. */
typedef struct pair_tile {
    int64_t i0, i1, j0, j1; /* half-open ranges of rows and columns */
    const uint8_t *wanted;  /* (i1-i0) x (j1-j0), or NULL for all; unwanted entries are undefined */
} pair_tile;

static inline bool tile_wants(const pair_tile *t, int64_t i, int64_t j)
{
    return i < j && (!t->wanted || t->wanted[(i - t->i0) * (t->j1 - t->j0) + (j - t->j0)]);
}

/* Returns tile `number` of n items in blocks of `side`. Tiles are numbered column by column, down
 * to the diagonal, so that all tiles of a prepared column are processed before the next column is
 * prepared. */
pair_tile tile_number(int64_t n, int64_t side, int64_t number);
/* Returns the number of tiles whose columns begin before `columns`. If `columns` is n, returns the
 * number of all tiles. */
int64_t tile_count(int64_t columns, int64_t side);
/* Returns the number of pairs above the diagonal. */
int64_t tile_pairs(const pair_tile *t);

/* Calls fn for the tiles [begin, end) in parallel. The ranks of a team share the tiles. */
typedef ddsc_status (*tile_fn)(void *arg, pair_tile *t, int worker);
ddsc_status tiles_walk(ddsc_context *ctx, int64_t n, int64_t side, int64_t begin, int64_t end,
                       tile_fn fn, void *arg);

/* Requested pairs: i < j, i < i_end, j >= j_begin, each drawn with probability `sample`. */
typedef struct pair_choice {
    int64_t i_end, j_begin;
    double sample;
    bool others; /* request the pairs that are not drawn instead */
} pair_choice;

static inline pair_choice pairs_all(int64_t n)
{
    return (pair_choice){.i_end = n, .sample = 1};
}
/* Returns the number of pairs from which the sample is drawn. */
int64_t pairs_chosen(const pair_choice *c, int64_t n);
/* Counts the requested pairs of a tile. If the tile also contains other pairs, fills `mask`, with
 * one byte per entry, and sets t->wanted to it. Sets *in_question to the number of pairs from which
 * the sample is drawn. */
int64_t tile_choose(const pair_choice *c, pair_tile *t, uint8_t *mask, uint64_t seed,
                    int64_t *in_question);
/* Returns true if the pair (i, j) belongs to a random sample of fraction p. The result is symmetric
 * and needs no state. */
bool pairs_sampled(uint64_t seed, double p, int64_t i, int64_t j);
/* Reports that a sample contains no pairs, and returns the error status. */
ddsc_status pairs_none_sampled(ddsc_context *ctx, double p, int64_t n);

#endif
