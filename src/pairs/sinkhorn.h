/* The state of the sinkhorn backend, shared with its lower bounds. */
#ifndef DDSC_PAIRS_SINKHORN_H
#define DDSC_PAIRS_SINKHORN_H

#include "linalg/points.h"
#include "ot/bounds.h"
#include "ot/sinkhorn_grid.h"
#include "pairs/pairs.h"

/* What a worker owns. */
typedef struct bench {
    sinkhorn_solver *solver;
    points_panel rows, columns;
    double *cost;
    int64_t *at; /* where each item of the tile begins among the columns */
} bench;

typedef struct sinkhorn {
    ddsc_context *ctx;
    const measures *m;
    points support;
    int64_t side, largest; /* of a tile; points of the largest item */
    double epsilon, tolerance;
    double slack; /* what a marginal error within the tolerance may change in a value */
    int64_t max_iterations;
    ddsc_sinkhorn_value value;
    sinkhorn_grid *grid; /* of images: solves without costs; NULL: none */
    double *table;       /* v x v costs, or NULL */
    double *self;        /* n regularised values of an item with itself, when debiased */
    int n_workers;
    bench *bench;
    ddsc_pair_stats *stats; /* one a worker, for the work at open */
} sinkhorn;

extern const pair_pruning pruning_sinkhorn;

#endif
