/* search: the tau nearest neighbours of every item: over all pairs, without most of them by lower
 * bounds or by a float prefilter, among candidates, from whole columns, or for new items against old
 * ones. A metric is only the pair service over it; all graphs but the approximate ones are the same
 * bytes. */
#ifndef DDSC_NEIGHBORS_SEARCH_SEARCH_H
#define DDSC_NEIGHBORS_SEARCH_SEARCH_H

#include <math.h>

#include "neighbors/pairs/pairs.h"

/* Over all pairs of a choice; later items alone have lists where j_begin is not 0. */
ddsc_status search_full(pairs *p, ddsc_graph **out, int64_t tau, const pair_choice *choice);

/* Over a sample of the pairs; the values of the others follow from them where these tell enough: see sampled.c. */
ddsc_status search_sampled(pairs *p, ddsc_graph **out, int64_t tau, double sample);

/* Bounds of the pruned search by the device that the context asks for, or the processor: see remote.c. */
extern const prefilter_device search_remote;
/* Without most of the solves, by open bounds: see pruned.c. */
ddsc_status search_pruned(pairs *p, ddsc_graph **out, int64_t tau);

/* For each item from n_old on, the tau nearest among the first n_old, by open bounds. */
ddsc_status search_query(pairs *p, ddsc_graph **out, int64_t tau, int64_t n_old);

/* By rows that enclose the values. *done false: too many items stay in doubt (many equal ones),
 * nothing was made. */
ddsc_status search_prefilter(pairs *p, ddsc_graph **out, int64_t tau, const prefilter_rows *rows,
                             bool *done);

/* ---- candidates: whoever finds them, the metric has the last word on each pair ---- */

/* Candidates of each item, in any order, repeated or not. */
typedef struct pair_lists {
    int64_t n;
    int64_t *offset; /* n + 1 */
    int32_t *index;
} pair_lists;

void search_lists_free(ddsc_context *ctx, pair_lists *l);
/* The tau nearest among candidates: each pair {i, j} that one of the two has as one is computed once
 * and offered to both. */
ddsc_status search_rerank(pairs *p, ddsc_graph **out, int64_t tau, const pair_lists *l);

typedef struct ranking_later {
    int64_t before; /* the one put off before it with the same larger end, or -1 */
    int32_t item;   /* the smaller end */
} ranking_later;

/* The same for lists that come strip by strip. */
typedef struct ranking {
    pairs *p;
    nearest near;
    int64_t first,
        begin;        /* item the strip at work begins with; and the part of it that is prepared */
    int64_t tick;     /* progress for an item */
    pair_lists strip; /* pairs of the strip by their larger end */
    int64_t *last;    /* n: the last of an item's pairs that were put off, or -1 */
    ranking_later *later;
    int64_t n_later, later_capacity;
    int32_t *open; /* items that are everybody's candidates, ascending */
    int64_t n_open, open_capacity;
} ranking;

/* After an error: search_rank_free. */
ddsc_status search_rank_create(pairs *p, ranking *r, int64_t tau);
void search_rank_free(ranking *r);
/* Everybody is a candidate of this item, which is of the strip to come. */
ddsc_status search_rank_open(ranking *r, int64_t item);
/* Candidates of the next l->n items. */
ddsc_status search_rank_strip(ranking *r, const pair_lists *l);
ddsc_status search_rank_finish(ranking *r, ddsc_graph **out);

/* NN-descent (Dong, Moses, Li 2011): neighbours of neighbours are likely neighbours. The k nearest of
 * each of n rows by |x_i - x_j|^2 + offset_i + offset_j (offset NULL: 0), nearly all of them right.
 * Rounds read the lists of the round before, and heaps keep what is best whatever comes first. */
ddsc_status search_descend(ddsc_context *ctx, ddsc_graph **out, int64_t n, int64_t columns,
                           const float *rows, const double *offset, int64_t k);

/* Rows of numbers that stand for the items: candidates come from them. */
typedef struct search_rows {
    int64_t columns;
    float *rows;    /* n x columns */
    double *offset; /* what the metric adds for each item, or NULL */
    bool enclosing; /* the metric's own rows: fewer candidates do, and a pair costs little */
} search_rows;

void search_rows_free(ddsc_context *ctx, search_rows *r);
/* The tau best of the candidates that descent finds. stats->recall is measured on some items against
 * all pairs. Takes the rows over. */
ddsc_status search_approximate(pairs *p, ddsc_graph **out, ddsc_pair_stats *stats, int64_t tau,
                               search_rows *rows);

/* ---- whole columns of the matrix, and the rest by the Nystrom method ---- */

/* The items whose columns are known: landmarks. */
typedef struct column_set {
    int64_t n, m;
    int64_t *order; /* n: the m landmarks, then the others, each ascending */
    int32_t *rank;  /* n: number of the item's column, -1: none */
    double *d2;     /* n x m: item by landmark, 0 for an item with itself */
} column_set;

enum { COLUMNS_LEAST = 2 };
/* Columns of a fraction of n items. */
static inline int64_t columns_of(int64_t n, double fraction)
{
    return (int64_t)llround(fraction * (double)n);
}
/* Draw the landmarks; at least COLUMNS_LEAST must come of it. */
ddsc_status search_columns_draw(ddsc_context *ctx, column_set *c, int64_t n, double fraction);
void search_columns_free(ddsc_context *ctx, column_set *c);
/* Their values, of a service over the items in c->order. */
ddsc_status search_columns_fill(column_set *c, pairs *ordered);
/* The tau-NN graph of known and approximate distances, chosen `by` scales (or NULL); it says how good these
 * are. */
ddsc_status search_columns(ddsc_context *ctx, ddsc_graph **out, const column_set *c, int64_t tau,
                           const local_scales *by);

/* Coordinates such that |x_i - x_j|^2 + rest_i + rest_j stands for the squared distance of two
 * items that are no landmarks. */
typedef struct landmark_map {
    int64_t n, dim;
    double *x;    /* n x dim */
    double *rest; /* n */
} landmark_map;

/* d2: n x m distances of items to landmarks, between: m x m those of the landmarks. */
ddsc_status search_landmarks_fit(ddsc_context *ctx, landmark_map *l, int64_t n, int64_t m,
                                 const double *d2, const double *between);
void search_landmarks_free(ddsc_context *ctx, landmark_map *l);

#endif
