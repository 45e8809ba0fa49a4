/* The state of the sinkhorn backend, shared with its costs and its lower bounds. */
#ifndef DDSC_PAIRS_SINKHORN_H
#define DDSC_PAIRS_SINKHORN_H

#include "base/simd.h"
#include "ot/bounds.h"
#include "ot/cost_panels.h"
#include "ot/sinkhorn_grid.h"
#include "pairs/pairs.h"

/* ---- costs ---- */

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

/* ---- the backend ---- */

typedef struct sinkhorn {
    ddsc_context *ctx;
    const measures *m;
    double epsilon, tolerance;
    double range; /* the squared diagonal of the box around all points */
    double slack; /* what a marginal error within the tolerance may change in a value */
    int64_t max_iterations;
    ddsc_sinkhorn_value value;
    sinkhorn_grid *grid; /* of images: solves without costs; NULL: none */
    pair_costs costs;
    double *self;     /* n regularised values of an item with itself, when debiased */
    refine_bound *w2; /* refined bounds of W2, where they serve and once asked for */
    int n_workers;
    sinkhorn_solver **solver; /* one a worker */
    ddsc_pair_stats *stats;   /* one a worker, for the work at open */
} sinkhorn;

sinkhorn_problem sinkhorn_pair(sinkhorn *s, int64_t i, int64_t j, int worker);

extern const pair_pruning pruning_sinkhorn;

#endif
