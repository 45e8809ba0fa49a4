/* The state of the sinkhorn backend, shared with its lower bounds and its tiles. */
#ifndef DDSC_METRIC_SINKHORN_H
#define DDSC_METRIC_SINKHORN_H

#include "bound/bound.h"
#include "engine/backend.h"
#include "metric/sinkhorn_costs.h"
#include "sinkhorn/grid.h"
#include "sinkhorn/group.h"
#include "sinkhorn/shared.h"

typedef struct sinkhorn {
    ddsc_context *ctx;
    const measures *m;
    double epsilon, tolerance;
    double range; /* the squared diagonal of the box around all points */
    double slack; /* what a marginal error within the tolerance may change in a value */
    int64_t max_iterations;
    ddsc_sinkhorn_value value;
    int64_t side;            /* of a tile */
    sinkhorn_grid *grid;     /* of images: solves without costs; NULL: none */
    sinkhorn_shared *shared; /* of dense items over one table; NULL: none */
    pair_costs costs;
    pair_strips strips; /* of sets of small items, with lanes */
    double *self;       /* n regularised values of an item with itself, when debiased */
    refine_bound *w2;   /* refined bounds of W2, where they serve and once asked for */
    int n_workers;
    sinkhorn_solver **solver; /* one a worker */
    sinkhorn_lanes **lanes;   /* one a worker, for sets of small items; NULL: none */
    double *lane_weight;      /* nnz weights as the lanes take them */
    bool *fits;               /* n: is the item one for a lane? */
    ddsc_pair_stats *stats;   /* one a worker, for the work at open */
} sinkhorn;

sinkhorn_problem sinkhorn_pair(sinkhorn *s, int64_t i, int64_t j, int worker);
/* One pair, by the solver of a single problem. */
ddsc_status sinkhorn_single(sinkhorn *s, int64_t i, int64_t j, int worker, double *d2,
                            ddsc_pair_stats *stats);
/* The value asked for from what a solve has found, which is counted. */
double sinkhorn_take(const sinkhorn *s, int64_t i, int64_t j, const sinkhorn_result *found,
                     ddsc_status solved, ddsc_pair_stats *stats);
/* Rooms for them, once the costs are open; all are closed with the backend. */
ddsc_status sinkhorn_lanes_open(sinkhorn *s);
void sinkhorn_lanes_close(sinkhorn *s);
enum { SINKHORN_TILE = 64 }; /* the most rows and columns of such a tile */
/* A tile with eight pairs at a time, bit for bit as pair by pair. */
ddsc_status sinkhorn_lanes_tile(sinkhorn *s, const pair_tile *t, double *d2, int64_t ld, int worker,
                                ddsc_pair_stats *stats);
/* Is the pair at divergence 0, without the rounding of three values? */
bool sinkhorn_same(const sinkhorn *s, int64_t i, int64_t j);

extern const pair_bounds sinkhorn_bounds;

#endif
