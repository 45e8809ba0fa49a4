/* set: entropic transport between the items of a set. The grid engine solves images, and the group
 * engine solves small items, eight pairs at a time. The dense engine solves all other pairs, and
 * the pairs that the grid or group engine could not solve. Each value depends only on its pair and
 * on the frame. The item that precedes the other (measures_precedes) provides the rows of the
 * problem. */
#ifndef DDSC_DISTANCE_SINKHORN_SET_H
#define DDSC_DISTANCE_SINKHORN_SET_H

#include "distance/cost/tile_costs.h"
#include "distance/sinkhorn/grid_items.h"
#include "distance/sinkhorn/sinkhorn.h"

typedef struct sinkhorn_set sinkhorn_set;

/* Returns true if the items are small enough on average for the group engine. */
bool sinkhorn_group_applies(const measures *m);

/* Returns the default frame of an ordered set: FRAME_GRID if the grid engine applies, and
 * FRAME_PLAIN otherwise. */
pair_frame sinkhorn_set_frame(const measures *m, const ground_cost *ground, double epsilon);
/* Returns true if the grid engine can solve this set in the frame. */
bool sinkhorn_set_fits(const measures *m, const pair_frame *frame);
ddsc_status sinkhorn_set_open(ddsc_context *ctx, sinkhorn_set **out, const measures *m,
                              const ground_cost *ground, const sinkhorn_rule *rule,
                              const pair_frame *frame);
void sinkhorn_set_close(sinkhorn_set *s);
/* Returns the grid items of a set that the grid engine solves, or NULL. */
const grid_items *sinkhorn_set_grid(const sinkhorn_set *s);
/* Returns the number of rows and columns of a tile, the unit of work of a thread. */
int64_t sinkhorn_set_side(const sinkhorn_set *s);

/* Solves the problem of item i with itself. */
ddsc_status sinkhorn_set_self(sinkhorn_set *s, sinkhorn_result *found, int64_t i, int worker);
/* Reserves the memory for bounds from the dense engine, because sinkhorn_bound cannot report that
 * it ran out of memory. */
ddsc_status sinkhorn_set_reserve(sinkhorn_set *s);
/* Returns a lower bound on the regularized value. For a set on a grid, evaluates up to
 * `evaluations` bounds. */
double sinkhorn_set_bound(sinkhorn_set *s, int64_t i, int64_t j, double enough, int evaluations,
                          int worker);

/* A block of items with two callbacks: a predicate that selects pairs in the block (called once per
 * pair), and a function that receives each result. */
typedef struct sinkhorn_tile {
    item_block block;
    bool (*wants)(void *arg, int64_t i, int64_t j);
    void (*take)(void *arg, int64_t i, int64_t j, const sinkhorn_result *found, ddsc_status solved);
    void *arg;
} sinkhorn_tile;

/* Solves the selected pairs of a tile. The values are bit-identical to those of single pairs.
 * Returns DDSC_NOT_CONVERGED if any pair did not converge. */
ddsc_status sinkhorn_set_tile(sinkhorn_set *s, const sinkhorn_tile *t, int worker);

#endif
