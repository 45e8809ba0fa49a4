/* Costs for the sinkhorn backend, pair by pair and for tiles of small items; the same bits whoever
 * asks. */
#ifndef DDSC_PAIRS_SINKHORN_COSTS_H
#define DDSC_PAIRS_SINKHORN_COSTS_H

#include "base/simd.h"
#include "ot/cost_panels.h"
#include "ot/cost_table.h"
#include "ot/sinkhorn_lanes.h"
#include "pairs/pairs.h"

/* ---- one pair ---- */

typedef struct cost_slot {
    int64_t item; /* -1: none */
    cost_panel panel;
    double *room;
} cost_slot;

/* What a worker owns. */
typedef struct cost_room {
    points_panel rows, columns;
    cost_slot *slot; /* side + 1: columns by their number, then the row; NULL: few dimensions */
    double *cost;
} cost_room;

typedef struct pair_costs {
    ddsc_context *ctx;
    const measures *m;
    points support;
    int64_t side, largest; /* of a tile; points of the largest item */
    double *table;         /* v x v costs, or NULL */
    int n_workers;
    cost_room *room;
} pair_costs;

/* `side`: the most that a tile should have. Closed by the caller also after an error. */
ddsc_status pair_costs_open(ddsc_context *ctx, pair_costs *c, const measures *m, int64_t side);
void pair_costs_close(pair_costs *c);
/* Costs of item i by item j, valid until the worker's next call. */
const double *pair_costs_get(pair_costs *c, int64_t i, int64_t j, int worker, int64_t *stride);

/* ---- tiles of small items ----
 * The points of a tile's columns are listed once each (its words); the costs of a row's points by
 * all words make a strip, from which eight columns at a time are laid out for sinkhorn_lanes.h. */

/* The points of one side of a tile. */
typedef struct tile_words {
    int64_t n;
    int32_t *index; /* n rows of the support table */
    int32_t *slot;  /* of each entry of the items, in their order: its place in index */
    int64_t *begin; /* of each item: its first slot; -1: too large */
} tile_words;

/* What a worker owns. */
typedef struct cost_strip {
    int32_t *place; /* v: place of a point in the list being made, else -1 */
    tile_words rows, columns;
    double *row_room, *column_room, *table; /* many dimensions: costs of all words of the tile */
    points_panel row_panel, column_panel;   /* few dimensions */
    double *line;                           /* costs of one item, where there is no table */
    double *strip; /* (words + 1) x width, the last word with infinite costs */
    int64_t width; /* points of the row in whole vectors */
    int64_t i0, j0;
} cost_strip;

typedef struct pair_strips {
    ddsc_context *ctx;
    const pair_costs *costs;
    int64_t side, most; /* of a tile; points of its largest item */
    int n_workers;
    cost_strip *worker;
} pair_strips;

/* `costs` stays open as long. Closed by the caller
 * also after an error. */
ddsc_status pair_strips_open(pair_strips *s, const pair_costs *costs);
void pair_strips_close(pair_strips *s);
/* The tile that is worked on next, of at most costs->side x costs->side items. */
void pair_strips_tile(pair_strips *s, const pair_tile *t, int worker);
/* Its row that is worked on next. */
void pair_strips_row(pair_strips *s, int64_t i, int worker);
/* Costs of that row by eight of the columns (-1: none) of at most m points; the rest is infinite.
 */
void pair_strips_lanes(const pair_strips *s, int64_t i, const int64_t *item, int64_t m, double *out,
                       int worker);

#endif
