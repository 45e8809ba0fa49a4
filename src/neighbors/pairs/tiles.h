/* The pairs i < j of n items, cut into square tiles. The cut depends on n and the side alone, hence no bit
 * depends on the number of threads. */
#ifndef DDSC_NEIGHBORS_PAIRS_TILES_H
#define DDSC_NEIGHBORS_PAIRS_TILES_H

#include "base/base.h"

typedef struct pair_ij {
    int32_t i, j;
} pair_ij;

/* A rectangle of pairs with i0 <= j0; on a diagonal tile (i0 == j0) only entries i < j are read. */
typedef struct pair_tile {
    int64_t i0, i1, j0, j1; /* rows and columns, half open */
    const uint8_t *wanted;  /* (i1-i0) x (j1-j0) or NULL: all; unwanted entries may hold anything */
} pair_tile;

static inline bool tile_wants(const pair_tile *t, int64_t i, int64_t j)
{
    return i < j && (!t->wanted || t->wanted[(i - t->i0) * (t->j1 - t->j0) + (j - t->j0)]);
}

/* Tile `number` of n items in blocks of `side`: column by column, rows down to the diagonal, so that what is
 * prepared for some columns serves all their tiles before the next. */
pair_tile tile_number(int64_t n, int64_t side, int64_t number);
/* Tiles whose columns begin before `columns`: n for all. */
int64_t tile_count(int64_t columns, int64_t side);
/* Its pairs above the diagonal. */
int64_t tile_pairs(const pair_tile *t);

/* fn for tiles [begin, end), in parallel; of a team each rank has some of them. */
typedef ddsc_status (*tile_fn)(void *arg, pair_tile *t, int worker);
ddsc_status tiles_walk(ddsc_context *ctx, int64_t n, int64_t side, int64_t begin, int64_t end,
                       tile_fn fn, void *arg);

/* Which pairs are asked for: i < j, i < i_end, j >= j_begin, each drawn with probability `sample`. */
typedef struct pair_choice {
    int64_t i_end, j_begin;
    double sample;
    bool others; /* those that were not drawn */
} pair_choice;

static inline pair_choice pairs_all(int64_t n)
{
    return (pair_choice){.i_end = n, .sample = 1};
}
/* Pairs in question, before any are drawn. */
int64_t pairs_chosen(const pair_choice *c, int64_t n);
/* Those of a tile that are asked for: sets t->wanted to `mask`, of as many bytes as the tile has entries,
 * where the tile has others too. *in_question: before any are drawn. */
int64_t tile_choose(const pair_choice *c, pair_tile *t, uint8_t *mask, uint64_t seed,
                    int64_t *in_question);
/* Is the pair (i, j) part of a random sample of fraction p? Symmetric, stateless. */
bool pairs_sampled(uint64_t seed, double p, int64_t i, int64_t j);
/* The error of a sample without any pair. */
ddsc_status pairs_none_sampled(ddsc_context *ctx, double p, int64_t n);

#endif
