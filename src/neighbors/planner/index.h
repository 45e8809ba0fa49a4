/* index: keeps a metric open, with the neighbor lists of its items, while items are added and
 * removed (index.c). */
#ifndef DDSC_NEIGHBORS_PLANNER_INDEX_H
#define DDSC_NEIGHBORS_PLANNER_INDEX_H

#include "data/growing.h"
#include "neighbors/planner/plan.h"
#include "neighbors/search/update.h"

/* A metric opened for one set, and the neighbor lists of the set. This struct must not be moved in
 * memory. */
typedef struct plan_open_set {
    ddsc_context *ctx;
    metric_resolved metric; /* a copy; the caller owns its arrays */
    measures *own;          /* the set if it cannot grow; NULL: borrowed, or growing */
    measures_growing items; /* the set if it can grow; else items.set is NULL */
    bool is_full;           /* appending failed, so the next change opens a new set */
    plan_metric r;
    prefilter_rows rows; /* for metrics that compute bounds from rows of coordinates */
    float *start;
    double *spread;
    search_update lists;
    /* Used only if neighbors are chosen by rescaled distances: the neighbor lists by plain
     * distance, and the current and previous scales of all slots. */
    bool rescales;
    search_plan plan;
    search_update plain;
    local_scales scales[2];
    int current;
} plan_open_set;

/* Opens the metric of the request for its set, with `spare` spare slots, and copies the known
 * neighbor lists. plan_set_run must then search the lists. */
ddsc_status plan_set_open(ddsc_context *ctx, plan_open_set **out, const graph_request *p,
                          int64_t spare, const plan_known *known);
/* Removes the items in the n listed slots from all neighbor lists, and adds empty lists up to slot
 * n_slots. */
void plan_set_change(plan_open_set *s, int64_t n, const int64_t *slot, int64_t n_slots);
/* Searches all open neighbor lists. */
ddsc_status plan_set_run(plan_open_set *s);
/* Creates the graph of the items in the occupied slots. */
ddsc_status plan_set_graph(plan_open_set *s, ddsc_graph **out);
/* Closes the metric after a run that ended with `status`. stats may be NULL. */
ddsc_status plan_set_close(plan_open_set *s, ddsc_status status, ddsc_pair_stats *stats);

typedef struct plan_index plan_index;

/* Opens an index for a set whose neighbor lists are known. Takes ownership of the settings in *p
 * and of the set p->metric.own, even on error. `given` is the frame that a run over all items would
 * use. */
ddsc_status plan_index_open(ddsc_context *ctx, plan_index **out, graph_request *p,
                            const pair_frame *given, const plan_known *known);
void plan_index_close(plan_index *x);
int64_t plan_index_count(const plan_index *x);
/* Removes the items with the numbers `removed`, and appends the items of `added` (may be NULL).
 * Sets *n_searched to the number of neighbor lists that were searched. */
ddsc_status plan_index_change(plan_index *x, const measures *added, int64_t n_removed,
                              const int64_t *removed, int64_t *n_searched);
/* Creates the graph of the current items. */
ddsc_status plan_index_graph(const plan_index *x, ddsc_graph **out);

#endif
