/* Costs for the sinkhorn backend, pair by pair and for tiles of small items; the same bits whoever
 * asks. */
#ifndef DDSC_METRIC_SINKHORN_COSTS_H
#define DDSC_METRIC_SINKHORN_COSTS_H

#include "base/simd.h"
#include "cost/points.h"
#include "cost/tile_costs.h"
#include "engine/backend.h"
#include "sinkhorn/group.h"

/* ---- one pair ---- */

/* What a worker owns. */
typedef struct cost_room {
    points_panel rows, columns; /* few dimensions, or to make the table */
    cost_tile ahead;            /* the points of a tile, and many dimensions: their costs */
    double *norm2;              /* many dimensions: of both items */
    double *cost;
} cost_room;

typedef struct pair_costs {
    ddsc_context *ctx;
    const measures *m;
    points support;
    int64_t largest; /* points of the largest item */
    double *table;   /* v x v costs, or NULL */
    int n_workers;
    cost_room *room;
} pair_costs;

/* Closed by the caller also after an error. */
ddsc_status pair_costs_open(ddsc_context *ctx, pair_costs *c, const measures *m);
void pair_costs_close(pair_costs *c);
/* Costs of item i by item j, valid until the worker's next call. */
const double *pair_costs_get(pair_costs *c, int64_t i, int64_t j, int worker, int64_t *stride);

/* Are they made by products, pair by pair? */
static inline bool pair_costs_by_products(const pair_costs *c)
{
    return !c->table && c->m->d > POINTS_MAX_DIRECT;
}

/* ---- tiles of small items ----
 * The points of a tile's columns are listed once each (its words); the costs of a row's points by
 * all words make a strip, from which eight columns at a time are laid out for sinkhorn_lanes.h. */

/* What a worker owns. */
typedef struct cost_strip {
    points_panel row_panel, column_panel; /* few dimensions */
    double *line;                         /* costs of one item, where they are not there */
    double *strip; /* (words + 1) x width, the last word with infinite costs */
    int64_t width; /* points of the row in whole vectors */
} cost_strip;

typedef struct pair_strips {
    ddsc_context *ctx;
    pair_costs *costs;
    int64_t side, most; /* of a tile; points of its largest item */
    int n_workers;
    cost_strip *worker;
} pair_strips;

/* `costs` stays open as long. Closed by the caller also after an error. */
ddsc_status pair_strips_open(pair_strips *s, pair_costs *costs, int64_t side);
void pair_strips_close(pair_strips *s);
/* The tile that is worked on next, of at most side x side items. */
ddsc_status pair_strips_tile(pair_strips *s, const pair_tile *t, int worker);
/* Its row that is worked on next. */
void pair_strips_row(pair_strips *s, int64_t i, int worker);
/* Costs of that row by eight of the columns (-1: none) of at most m points; the rest is infinite.
 */
void pair_strips_lanes(const pair_strips *s, int64_t i, const int64_t *item, int64_t m, double *out,
                       int worker);

#endif
