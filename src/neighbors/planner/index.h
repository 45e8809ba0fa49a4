/* index: a metric that stays open while items are added and removed, with the neighbor lists of the
 * items (index.c). */
#ifndef DDSC_NEIGHBORS_PLANNER_INDEX_H
#define DDSC_NEIGHBORS_PLANNER_INDEX_H

#include "data/growing.h"
#include "neighbors/planner/plan.h"
#include "neighbors/search/update.h"

/* A metric that is open for one set, and its lists. It must not be moved in memory. */
typedef struct plan_open_set {
    ddsc_context *ctx;
    metric_resolved metric; /* a copy; the caller owns its arrays */
    measures *own;          /* the set without room; NULL: borrowed, or growing */
    measures_growing items; /* the set with room; items.set is NULL if there is none */
    bool is_full;           /* true: appending failed, and has to start with another open set */
    plan_metric r;
    prefilter_rows rows; /* bounds of a metric that has rows instead of bounds */
    float *start;
    double *spread;
    search_update lists;
    /* If neighbors are chosen by rescaled distances: the lists of nearest items, and the scales of all
     * slots, those in use and the previous ones. */
    bool rescales;
    search_plan plan;
    search_update plain;
    local_scales scales[2];
    int current;
} plan_open_set;

/* Opens the metric of the request for its set, with room for more items, and takes the known lists. They
 * must then be searched with plan_set_run. */
ddsc_status plan_set_open(ddsc_context *ctx, plan_open_set **out, const graph_request *p,
                          int64_t room, const plan_known *known);
/* Removes the items of n slots from all lists, and adds lists up to slot n_slots. */
void plan_set_change(plan_open_set *s, int64_t n, const int64_t *slot, int64_t n_slots);
/* Searches the lists. */
ddsc_status plan_set_run(plan_open_set *s);
/* Creates the graph of the occupied slots. */
ddsc_status plan_set_graph(plan_open_set *s, ddsc_graph **out);
/* Closes the metric after a run that ended with `status`. stats may be NULL. */
ddsc_status plan_set_close(plan_open_set *s, ddsc_status status, ddsc_pair_stats *stats);

typedef struct plan_index plan_index;

/* Opens an index for a set, whose lists are known. Takes ownership of the settings in *p and of
 * the set p->metric.own, even on error. `given` is the frame that a run over all items would be
 * given. */
ddsc_status plan_index_open(ddsc_context *ctx, plan_index **out, graph_request *p,
                            const pair_frame *given, const plan_known *known);
void plan_index_close(plan_index *x);
int64_t plan_index_count(const plan_index *x);
/* Removes items by their numbers, and adds those of `added` (or NULL) after the remaining ones.
 * *n_searched is the number of lists that were searched. */
ddsc_status plan_index_change(plan_index *x, const measures *added, int64_t n_removed,
                              const int64_t *removed, int64_t *n_searched);
/* Creates the graph of the current items. */
ddsc_status plan_index_graph(const plan_index *x, ddsc_graph **out);

#endif
