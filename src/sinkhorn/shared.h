/* Entropic transport between dense items over one small table of points that is no plane grid: bins
 * of a colour cube, stations, a short vocabulary. All pairs have one kernel K over the table, so
 * the scalings of sixteen of them are the columns of a matrix and an iteration is two products with
 * it; a pair that is done makes room for the next. A column is summed in an order of its own, so
 * the result is a function of the pair alone. */
#ifndef DDSC_SINKHORN_SHARED_H
#define DDSC_SINKHORN_SHARED_H

#include "sinkhorn/grid.h"
#include "sinkhorn/sinkhorn.h"

typedef struct sinkhorn_shared sinkhorn_shared;

typedef struct shared_pair {
    int64_t i, j;
    bool solved; /* false: for the dense solver, see sinkhorn_grid_solve */
    sinkhorn_result found;
} shared_pair;

/* Is the table small, and every item over most of it? */
bool sinkhorn_shared_applies(const measures *m);
/* One room for each of the context's workers; `sharp`: that value can be asked for. *out stays NULL
 * where epsilon is too far above or below the costs. */
ddsc_status sinkhorn_shared_make(ddsc_context *ctx, sinkhorn_shared **out, const measures *m,
                                 double epsilon, bool sharp);
void sinkhorn_shared_free(sinkhorn_shared *s);
/* Any number of pairs; cancelled ones come back unsolved. */
void sinkhorn_shared_solve(sinkhorn_shared *s, shared_pair *pair, int64_t n_pairs,
                           const sinkhorn_stop *stop, int worker);
/* As sinkhorn_bound. */
double sinkhorn_shared_bound(sinkhorn_shared *s, int64_t i, int64_t j, double enough, int worker);

#endif
