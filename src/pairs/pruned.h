/* The state of a pruned search (pruned.c) and its opening and closing (pruned_open.c). */
#ifndef DDSC_PAIRS_PRUNED_H
#define DDSC_PAIRS_PRUNED_H

#include "graph/graph.h"
#include "pairs/pair_set.h"
#include "pairs/pairs.h"

/* What is left to look at for one item, nearest bound first. */
typedef struct candidates {
    int32_t *index;
    double *bound;
    int64_t n;
    double complete_to; /* every other item with a first bound below this was on the list */
    int32_t *own_index; /* storage of a refilled list */
    double *own_bound;
} candidates;

typedef struct pair_ij {
    int32_t i, j;
} pair_ij;

typedef struct worker_room {
    float *potential; /* of a cut: one slot a support row */
    double *row;      /* bounds of one item against all */
    int64_t n_bounds;
    ddsc_pair_stats stats;
} worker_room;

typedef struct search {
    ddsc_context *ctx;
    const measures *m;
    int64_t n, tau;
    const pair_backend *backend, *bound;
    void *state, *bound_state;
    int64_t bound_side, n_bounds;
    ddsc_graph *first; /* storage of the first lists */
    candidates *list;
    nearest near;
    double *limit;   /* tau-th distance of each item at the start of the round */
    int64_t *refill; /* items whose lists ran out */
    pair_set solved;
    pair_ij *pair; /* of the round */
    int64_t n_pairs, pair_room;
    int n_workers;
    worker_room *room;
} search;

ddsc_status search_open(search *s, const pair_job *job);
void search_close(search *s);
void list_drop(ddsc_context *ctx, candidates *c);

#endif
