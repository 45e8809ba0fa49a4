/* costs: costs between the items of a set, for single pairs (costs.c) and for groups of small items
 * (cost_panel.c). Both files compute the same bits. */
#ifndef DDSC_DISTANCE_SINKHORN_COSTS_H
#define DDSC_DISTANCE_SINKHORN_COSTS_H

#include "distance/cost/points.h"
#include "distance/cost/tile_costs.h"
#include "distance/sinkhorn/tuning.h"

/* The arrays of one worker. */
typedef struct cost_scratch {
    points_panel rows, columns; /* for few dimensions */
    double *norm2;              /* squared norms of the points of both items, for many dimensions */
    double *cost;               /* costs of a pair */
    cost_tile tile;             /* points of a tile and, for many dimensions, their costs */
    /* Arrays for the group engine. */
    points_panel tile_points; /* for few dimensions */
    double *line;             /* costs of one item that are not stored in the tile */
    double *panel;            /* (words + 1) x width; the last word has infinite costs */
    int64_t width;            /* number of points of the row item, rounded up to whole vectors */
} cost_scratch;

typedef struct sinkhorn_costs {
    ddsc_context *ctx;
    const measures *m;
    ground_cost ground;
    points support;
    int64_t largest; /* number of points of the largest item */
    double *table;   /* v x v costs, or NULL */
    /* side of a tile of groups (0 if unused); number of points of its largest item */
    int64_t group_side, most;
    int n_workers;
    cost_scratch *scratch;
} sinkhorn_costs;

/* Prepares the costs of a set. The caller must close them even after an error. */
ddsc_status sinkhorn_costs_open(ddsc_context *ctx, sinkhorn_costs *c, const measures *m,
                                const ground_cost *ground, int64_t group_side);
void sinkhorn_costs_close(sinkhorn_costs *c);
/* Returns the costs between items i and j, valid until the worker's next call. */
const double *sinkhorn_costs_pair(sinkhorn_costs *c, int64_t i, int64_t j, int worker,
                                  int64_t *stride);
/* Returns true if the costs are computed from lists of points. In this case, costs based on squared
 * distances use inner products. */
static inline bool sinkhorn_costs_by_lists(const sinkhorn_costs *c)
{
    return !c->table && (c->m->d > POINTS_MAX_DIRECT || !ground_from_squares(c->ground.kind));
}

/* ---- groups ----
 *
 * The words of a tile are the distinct points in its columns. The costs between the points of a row
 * and all words form a panel. The costs of eight columns at a time are copied from the panel, in
 * the layout of group.h. */

ddsc_status sinkhorn_panel_open(const sinkhorn_costs *c, cost_scratch *w);
void sinkhorn_panel_close(const sinkhorn_costs *c, cost_scratch *w);
/* Sets the worker's current tile, of at most group_side x group_side items. */
ddsc_status sinkhorn_panel_tile(sinkhorn_costs *c, const item_block *block, int worker);
/* Sets the worker's current row in that tile, and computes its panel. */
void sinkhorn_panel_row(sinkhorn_costs *c, int64_t i, int worker);
/* Writes the costs between the current row and eight columns of at most m points each. Column
 * number -1 is an empty column. Unused entries are infinite. If `turned` is true, the points of the
 * columns are the rows of the problems. */
void sinkhorn_panel_group(const sinkhorn_costs *c, int64_t i, const int64_t *item, int64_t m,
                          bool turned, double *out, int worker);

#endif
