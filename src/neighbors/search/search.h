/* search: searches for the tau nearest neighbors of every item.
 *
 * There are six methods: all pairs, a sample of the pairs, lower bounds that avoid most solves, a
 * float prefilter, candidate lists, and whole columns of the matrix (landmarks). All methods access
 * a metric only through the pair service (neighbors/pairs). The value of a pair is the same for
 * every method, and equal values are ordered by index. The exact methods therefore return
 * byte-identical graphs and differ only in cost. The approximate, sampled and column methods may
 * return different graphs. */
#ifndef DDSC_NEIGHBORS_SEARCH_SEARCH_H
#define DDSC_NEIGHBORS_SEARCH_SEARCH_H

#include <math.h>

#include "neighbors/pairs/pairs.h"

/* Searches all requested pairs. If choice->j_begin is not 0, only items from j_begin on get
 * lists. */
ddsc_status search_full(pairs *p, ddsc_graph **out, int64_t tau, const pair_choice *choice);

/* Searches a random sample of the pairs. If the sample predicts the other pairs well enough, uses
 * predicted values for them (see sampled.c). */
ddsc_status search_sampled(pairs *p, ddsc_graph **out, int64_t tau, double sample);

/* Computes the bounds of the pruned search on the device that the context selects, or on the CPU
 * (see device_bounds.c). */
extern const prefilter_device search_device;
/* Computes the exact graph with few solves, using lower bounds (see pruned.c). pairs_open_bounds
 * must have been called. */
ddsc_status search_pruned(pairs *p, ddsc_graph **out, int64_t tau);

/* Finds the tau nearest of the first n_old items for each later item, using lower bounds.
 * pairs_open_bounds must have been called. */
ddsc_status search_query(pairs *p, ddsc_graph **out, int64_t tau, int64_t n_old);

/* Computes the exact graph with a prefilter on rows. If too many items have undecided candidates,
 * for example because many distances are equal, sets *done to false and creates no graph. */
ddsc_status search_prefilter(pairs *p, ddsc_graph **out, int64_t tau, const prefilter_rows *rows,
                             bool *done);

/* ---- candidates: the metric computes the value of every candidate pair ---- */

/* The candidates of each item, in any order and possibly repeated. */
typedef struct pair_lists {
    int64_t n;
    int64_t *offset; /* n + 1 */
    int32_t *index;
} pair_lists;

void search_lists_free(ddsc_context *ctx, pair_lists *l);
/* Finds the tau nearest neighbors among candidates. If either item of a pair lists the other, the
 * pair is computed once, and its value is offered to both heaps. */
ddsc_status search_rerank(pairs *p, ddsc_graph **out, int64_t tau, const pair_lists *l);

typedef struct ranking_later {
    int64_t before; /* previous postponed pair with the same larger item, or -1 */
    int32_t item;   /* smaller item */
} ranking_later;

/* The state of this search if the candidate lists arrive strip by strip. */
typedef struct ranking {
    pairs *p;
    nearest near;
    int64_t first, begin; /* first item of the current strip; first item of its prepared part */
    int64_t tick;         /* progress units per item */
    pair_lists strip;     /* pairs of the strip, grouped by their larger item */
    int64_t *last;        /* n: last postponed pair of each item, or -1 */
    ranking_later *later;
    int64_t n_later, later_capacity;
    int32_t *open; /* items that are compared with all others, ascending */
    int64_t n_open, open_capacity;
} ranking;

/* Starts a search. The caller must call search_rank_free even after an error. */
ddsc_status search_rank_create(pairs *p, ranking *r, int64_t tau);
void search_rank_free(ranking *r);
/* Makes all other items candidates of `item`, which must belong to the next strip. */
ddsc_status search_rank_open(ranking *r, int64_t item);
/* Processes the candidates of the next l->n items. */
ddsc_status search_rank_strip(ranking *r, const pair_lists *l);
ddsc_status search_rank_finish(ranking *r, ddsc_graph **out);

/* NN-descent (Dong, Moses, Li 2011): finds nearly all of the k nearest neighbors of each of n rows
 * under |x_i - x_j|^2 + offset_i + offset_j (offset NULL: 0). The method relies on the fact that
 * neighbors of neighbors are likely to be neighbors. Each round reads the lists from the previous
 * round. The heaps keep the best entries, regardless of the order of arrival. */
ddsc_status search_descend(ddsc_context *ctx, ddsc_graph **out, int64_t n, int64_t columns,
                           const float *rows, const double *offset, int64_t k);

/* Rows of numbers that represent the items in a candidate search. */
typedef struct search_rows {
    int64_t columns;
    float *rows;    /* n x columns */
    double *offset; /* n: term that the metric adds for each item; or NULL */
    bool enclosing; /* rows of the metric: fewer candidates suffice and pairs are cheap to
                     * compute */
} search_rows;

void search_rows_free(ddsc_context *ctx, search_rows *r);
/* Finds the tau nearest neighbors among the candidates from NN-descent. Measures stats->recall by
 * comparing some items with all others. Takes ownership of the rows, and frees them. */
ddsc_status search_approximate(pairs *p, ddsc_graph **out, ddsc_pair_stats *stats, int64_t tau,
                               search_rows *rows);

/* ---- whole columns of the matrix; the Nystrom method approximates the other distances ---- */

/* The landmarks: items whose columns of the distance matrix are known. */
typedef struct column_set {
    int64_t n, m;
    int64_t *order; /* n: the m landmarks, then the other items, both ascending */
    int32_t *rank;  /* n: column number of the item, or -1 */
    double *d2;     /* n x m, one row per item */
} column_set;

enum { COLUMNS_LEAST = 2 };
/* Returns the number of columns for a fraction of n items. */
static inline int64_t columns_of(int64_t n, double fraction)
{
    return (int64_t)llround(fraction * (double)n);
}
/* Draws the landmarks. Fails if there would be fewer than COLUMNS_LEAST landmarks. */
ddsc_status search_columns_draw(ddsc_context *ctx, column_set *c, int64_t n, double fraction);
void search_columns_free(ddsc_context *ctx, column_set *c);
/* Computes the columns with a pair service whose items are in the order of c->order. */
ddsc_status search_columns_fill(column_set *c, pairs *ordered);
/* Builds the tau-NN graph from known and approximate distances. If `by` is not NULL, neighbors are
 * ranked with these local scales. Stores the estimated error of the approximate distances in the
 * graph. */
ddsc_status search_columns(ddsc_context *ctx, ddsc_graph **out, const column_set *c, int64_t tau,
                           const local_scales *by);

/* Coordinates of the items. |x_i - x_j|^2 + rest_i + rest_j approximates the squared distance
 * between two items that are not landmarks. */
typedef struct landmark_map {
    int64_t n, dim;
    double *x;    /* n x dim */
    double *rest; /* n */
} landmark_map;

/* Fits the coordinates to d2, the n x m distances between items and landmarks, and `between`, the m
 * x m distances between landmarks. */
ddsc_status search_landmarks_fit(ddsc_context *ctx, landmark_map *l, int64_t n, int64_t m,
                                 const double *d2, const double *between);
void search_landmarks_free(ddsc_context *ctx, landmark_map *l);

#endif
