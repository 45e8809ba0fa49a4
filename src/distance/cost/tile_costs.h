/* tile_costs: the distinct points in a block of pairs, and the costs between all these points.
 *
 * Points that several items share are listed once, and all costs are computed in one pass. The
 * exact solver and the solver for small entropic problems use these costs. */
#ifndef DDSC_DISTANCE_COST_TILE_COSTS_H
#define DDSC_DISTANCE_COST_TILE_COSTS_H

#include "base/workspace.h"
#include "distance/cost/ground.h"

/* The distinct points of items [begin, end). */
typedef struct block_points {
    int64_t begin, end;
    int64_t n_entries, n;
    int32_t *row; /* n: rows of the table of points */
    /* For each entry of the items: the index of its point in `row`. Undefined for excluded
     * items. */
    int32_t *place;
    double *norm2; /* n, computed before the costs */
} block_points;

typedef struct cost_tile {
    const measures *m; /* set to which the costs belong; NULL: no costs */
    int64_t most;      /* largest number of points of a listed item */
    block_points x, y;
    double *cost; /* x.n x y.n, padded to whole vectors */
    workspace lists, cells;
    int32_t *slot; /* hash table used to find equal points */
    int64_t n_slots;
} cost_tile;

/* A block of pairs: items [i0, i1) and [j0, j1). */
typedef struct item_block {
    int64_t i0, i1, j0, j1;
} item_block;

/* Lists the points of the items with at most `most` points. Discards existing costs. */
ddsc_status cost_tile_list(ddsc_context *ctx, cost_tile *a, const measures *m,
                           const item_block *block, int64_t most);
/* Computes the norms of all points, which are needed if costs are computed from squared distances.
 * cost_tile_make then computes the costs. */
void cost_tile_norms(cost_tile *a, const measures *m);
ddsc_status cost_tile_make(ddsc_context *ctx, cost_tile *a, const measures *m,
                           const ground_cost *ground);
/* Copies the costs of a pair and returns true if they were computed with its tile. */
bool cost_tile_fill(const cost_tile *a, double *cost, const measures *mx, int64_t i,
                    const measures *my, int64_t j);
void cost_tile_free(ddsc_context *ctx, cost_tile *a);

/* Returns, for each point of an item, its index in `row`. */
static inline const int32_t *cost_tile_places(const block_points *p, const measures *m,
                                              int64_t item)
{
    return p->place + (m->offset[item] - m->offset[p->begin]);
}

#endif
