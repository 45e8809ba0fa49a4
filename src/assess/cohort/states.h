/* states: types of points, given in the input, or found by k-means on a sample of all points. */
#ifndef DDSC_ASSESS_COHORT_STATES_H
#define DDSC_ASSESS_COHORT_STATES_H

#include "data/measures.h"

enum { STATES_MOST = 200 };

struct ddsc_states {
    ddsc_context *ctx;
    ddsc_states_view view;
    int32_t *of;
    double *share, *total, *mean, *deviation, *overall, *overall_deviation;
    int64_t *tried;
    double *agreement;
    measures_texts names;
};

/* Draws the same number of points from each of the listed items (NULL: all items) by systematic
 * sampling: the draws of an item are evenly spaced in its cumulative weight. Sets *row to the
 * support rows of the drawn points, and *n to their number, which is at most `most`. If there are
 * more than `most` items, evenly spaced items are used. */
ddsc_status states_draw(ddsc_context *ctx, int32_t **row, int64_t *n, const measures *m,
                        int64_t n_items, const int64_t *items, int64_t most);
/* Returns the number of states for n rows, and fills s->tried and s->agreement. */
ddsc_status states_choose(ddsc_states *s, int64_t *k, int64_t n, int64_t dim, const double *rows);
/* Clusters the rows into k states, or *n_found states if there are fewer than k distinct rows.
 * centers has k x dim entries. */
ddsc_status states_cluster(ddsc_context *ctx, double *centers, int64_t *n_found, int64_t k,
                           int64_t restarts, int64_t n, int64_t dim, const double *rows);
/* Returns the nearest of k centers. Among equally near centers, returns the first. */
int32_t states_nearest(const double *centers, int64_t k, int64_t dim, const double *point);

#endif
