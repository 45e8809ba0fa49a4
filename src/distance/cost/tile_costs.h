/* The points of a block of pairs, those that several items have once, and costs between all of them
 * at once: for the exact solver and for small entropic problems. */
#ifndef DDSC_DISTANCE_COST_TILE_COSTS_H
#define DDSC_DISTANCE_COST_TILE_COSTS_H

#include "base/workspace.h"
#include "distance/cost/ground.h"

/* The points of items [begin, end). */
typedef struct block_points {
    int64_t begin, end;
    int64_t n_entries, n;
    int32_t *row;   /* n rows of the table */
    int32_t *place; /* by entry of the items: which of them; items left out have none */
    double *norm2;  /* n, once there are costs */
} block_points;

typedef struct cost_tile {
    const measures *m; /* of the costs; NULL: there are none */
    int64_t most;      /* points of an item */
    block_points x, y;
    double *cost; /* x.n x y.n, padded to whole vectors */
    workspace lists, cells;
    int32_t *slot; /* of the search for equal points */
    int64_t n_slots;
} cost_tile;

/* A block of items [i0, i1) by [j0, j1). */
typedef struct item_block {
    int64_t i0, i1, j0, j1;
} item_block;

/* List the points of items of at most `most` points; there are no costs then. */
ddsc_status cost_tile_list(ddsc_context *ctx, cost_tile *a, const measures *m,
                           const item_block *block, int64_t most);
/* Norms of all, where costs come from squares, then the costs. */
void cost_tile_norms(cost_tile *a, const measures *m);
ddsc_status cost_tile_make(ddsc_context *ctx, cost_tile *a, const measures *m,
                           const ground_cost *ground);
/* The costs of a pair if they were made with its tile. */
bool cost_tile_fill(const cost_tile *a, double *cost, const measures *mx, int64_t i,
                    const measures *my, int64_t j);
void cost_tile_free(ddsc_context *ctx, cost_tile *a);

static inline const int32_t *cost_tile_places(const block_points *p, const measures *m,
                                              int64_t item)
{
    return p->place + (m->offset[item] - m->offset[p->begin]);
}

#endif
