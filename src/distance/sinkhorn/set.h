/* Entropic transport between the items of a set: images by their grid, small items eight pairs at a
 * time, all others and what those cannot solve by the dense solver. Each value is a function of its pair
 * alone, whatever is computed beside it. */
#ifndef DDSC_DISTANCE_SINKHORN_SET_H
#define DDSC_DISTANCE_SINKHORN_SET_H

#include "distance/cost/tile_costs.h"
#include "distance/sinkhorn/grid_items.h"
#include "distance/sinkhorn/sinkhorn.h"

typedef struct sinkhorn_set sinkhorn_set;

/* Mostly items small enough for groups? */
bool sinkhorn_group_applies(const measures *m);

ddsc_status sinkhorn_set_open(ddsc_context *ctx, sinkhorn_set **out, const measures *m,
                              const ground_cost *ground, const sinkhorn_rule *rule);
void sinkhorn_set_close(sinkhorn_set *s);
/* Of sets that are solved by their grid; else NULL. */
const grid_items *sinkhorn_set_grid(const sinkhorn_set *s);
/* Rows and columns of a tile: short enough to be a unit of work. */
int64_t sinkhorn_set_side(const sinkhorn_set *s);

/* DDSC_NOT_CONVERGED: as sinkhorn_solve. */
ddsc_status sinkhorn_set_pair(sinkhorn_set *s, sinkhorn_result *found, int64_t i, int64_t j,
                              int worker);
/* An item with itself. */
ddsc_status sinkhorn_set_self(sinkhorn_set *s, sinkhorn_result *found, int64_t i, int worker);
/* Memory for bounds, ahead of time: those of the dense solver cannot say that they ran out of it. */
ddsc_status sinkhorn_set_reserve(sinkhorn_set *s);
/* A lower bound of the regularised value; on a grid after up to `looks`. */
double sinkhorn_set_bound(sinkhorn_set *s, int64_t i, int64_t j, double enough, int looks,
                          int worker);

/* A block of items, which of its pairs are wanted (asked once for each), and who takes a result. */
typedef struct sinkhorn_tile {
    item_block block;
    bool (*wants)(void *arg, int64_t i, int64_t j);
    void (*take)(void *arg, int64_t i, int64_t j, const sinkhorn_result *found, ddsc_status solved);
    void *arg;
} sinkhorn_tile;

/* The bits of pair by pair. DDSC_NOT_CONVERGED when one is. */
ddsc_status sinkhorn_set_tile(sinkhorn_set *s, const sinkhorn_tile *t, int worker);

#endif
