/* Whole columns of the distance matrix, and the rest by the Nystrom method. */
#ifndef DDSC_PLAN_NYSTROM_H
#define DDSC_PLAN_NYSTROM_H

#include "base/base.h"
#include "metric/metric.h"
#include "search/search.h"

/* The items whose columns are computed: landmarks. */
typedef struct column_set {
    int64_t n, m;
    int64_t *order; /* n: the m landmarks, then the others, each ascending */
    int32_t *rank;  /* n: number of the item's column, -1: none */
    double *d2;     /* n x m: item by landmark, 0 for an item with itself */
} column_set;

/* Draw the landmarks; at least COLUMNS_LEAST must come of it. */
enum { COLUMNS_LEAST = 2 };
ddsc_status columns_draw(ddsc_context *ctx, column_set *c, int64_t n, double fraction);
void columns_free(ddsc_context *ctx, column_set *c);
/* Compute the columns of `m` with the metric; epsilon and bandwidth are those of the whole set. */
ddsc_status columns_fill(ddsc_context *ctx, column_set *c, ddsc_pair_stats *stats,
                         const measures *m, const ddsc_metric_settings *metric);
/* The tau-NN graph of known and approximate distances; it says how good these are. */
ddsc_status columns_search(ddsc_context *ctx, ddsc_graph **out, const column_set *c,
                           const ddsc_graph_settings *settings);

/* Coordinates such that |x_i - x_j|^2 + rest_i + rest_j stands for the squared distance of two
 * items that are no landmarks. */
typedef struct landmark_map {
    int64_t n, dim;
    double *x;    /* n x dim */
    double *rest; /* n */
} landmark_map;

/* d2: n x m distances of items to landmarks, between: m x m those of the landmarks. */
ddsc_status landmarks_fit(ddsc_context *ctx, landmark_map *l, int64_t n, int64_t m,
                          const double *d2, const double *between);
void landmarks_free(ddsc_context *ctx, landmark_map *l);

#endif
