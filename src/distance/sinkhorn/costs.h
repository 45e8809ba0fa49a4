/* Costs between the items of a set, pair by pair (costs.c) and for groups of small items (cost_panel.c);
 * the same bits whoever asks. */
#ifndef DDSC_DISTANCE_SINKHORN_COSTS_H
#define DDSC_DISTANCE_SINKHORN_COSTS_H

#include "distance/cost/points.h"
#include "distance/cost/tile_costs.h"
#include "distance/sinkhorn/tuning.h"

/* Of one worker. */
typedef struct cost_scratch {
    points_panel rows, columns; /* few dimensions, or to make the table */
    double *norm2;              /* many dimensions: of both items */
    double *cost;               /* of a pair */
    cost_tile tile;             /* the points of a tile, and many dimensions: their costs */
    /* Of the groups: */
    points_panel tile_points; /* few dimensions */
    double *line;             /* costs of one item, where the tile has none */
    double *panel;            /* (words + 1) x width, the last word with infinite costs */
    int64_t width;            /* points of the row in whole vectors */
} cost_scratch;

typedef struct sinkhorn_costs {
    ddsc_context *ctx;
    const measures *m;
    ground_cost ground;
    points support;
    int64_t largest;          /* points of the largest item */
    double *table;            /* v x v costs, or NULL */
    int64_t group_side, most; /* of a tile of groups, 0: none; points of its largest item */
    int n_workers;
    cost_scratch *scratch;
} sinkhorn_costs;

/* Closed by the caller also after an error. */
ddsc_status sinkhorn_costs_open(ddsc_context *ctx, sinkhorn_costs *c, const measures *m,
                                const ground_cost *ground, int64_t group_side);
void sinkhorn_costs_close(sinkhorn_costs *c);
/* Costs of item i by item j, valid until the worker's next call. */
const double *sinkhorn_costs_pair(sinkhorn_costs *c, int64_t i, int64_t j, int worker,
                                  int64_t *stride);
/* Are they made from lists of points, by products where they come from squares? */
static inline bool sinkhorn_costs_by_lists(const sinkhorn_costs *c)
{
    return !c->table && (c->m->d > POINTS_MAX_DIRECT || !ground_from_squares(c->ground.kind));
}

/* ---- groups ----
 * The points of a tile's columns are listed once each (its words); the costs of a row's points by
 * all words make a panel, from which eight columns at a time are laid out for group.h. */

ddsc_status sinkhorn_panel_open(const sinkhorn_costs *c, cost_scratch *w);
void sinkhorn_panel_close(const sinkhorn_costs *c, cost_scratch *w);
/* The tile that is worked on next, of at most group_side x group_side items. */
ddsc_status sinkhorn_panel_tile(sinkhorn_costs *c, const item_block *block, int worker);
/* Its row that is worked on next. */
void sinkhorn_panel_row(sinkhorn_costs *c, int64_t i, int worker);
/* Costs of that row by eight of the columns (-1: none) of at most m points; the rest is infinite. */
void sinkhorn_panel_group(const sinkhorn_costs *c, int64_t i, const int64_t *item, int64_t m,
                          double *out, int worker);

#endif
