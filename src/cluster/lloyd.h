/* One run of Lloyd's algorithm from given centres. */
#ifndef DDSC_CLUSTER_LLOYD_H
#define DDSC_CLUSTER_LLOYD_H

#include "cluster/cluster.h"

typedef struct lloyd lloyd;

/* plain: every row against every centre in every round, for tests. */
ddsc_status lloyd_create(ddsc_context *ctx, lloyd **out, const kmeans_problem *p, bool plain);
void lloyd_destroy(lloyd *l);
/* Up to k centres (k x dim) to begin with: room for the caller to fill. */
double *lloyd_centres(lloyd *l);
/* Labels (n, borrowed) of the partition reached from n_centres centres. */
ddsc_status lloyd_run(lloyd *l, int64_t n_centres, const int32_t **labels);
/* Rows whose distances to all centres were computed, over all rounds and runs. */
int64_t lloyd_work(const lloyd *l);

#endif
