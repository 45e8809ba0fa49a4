/* order: the results of `ddsc order`, which are the stability of the order of the items, the
 * variation along it, and the coordinates and columns that change along it. */
#ifndef DDSC_CLI_ORDER_H
#define DDSC_CLI_ORDER_H

#include "result_items.h"

enum { ORDER_CURVE = 21 };

/* How a coordinate, or the share of a word, changes along the order. */
typedef struct order_trait {
    char *name;
    double rho;                /* rank correlation with the order */
    double curve[ORDER_CURVE]; /* smooth mean at evenly spaced positions */
    double half[ORDER_CURVE];  /* half the width of its pointwise 95% band */
} order_trait;

/* The association of a metadata column with the order. */
typedef struct order_column {
    char *name;
    bool number;
    double rho;           /* numbers: rank correlation with the order; NaN for classes */
    double r2, p, p_holm; /* share of the variance of the ranks; p-value from permutations */
    int64_t n;            /* items with a value */
} order_column;

typedef struct order_result {
    int64_t n, n_ordered; /* items; those that have a rank */
    int64_t *rank;        /* n; -1: the item has no rank */
    int64_t *item;        /* n_ordered: the items in order */
    double stability;     /* NaN if not available */
    const char *unstable_why;
    /* Shares of the squared distances of n_sampled items: the share that the order explains, its
     * part along the strongest single direction, and the share of the strongest other direction. */
    double share, main_share, next_share;
    int64_t n_sampled;
    order_trait *traits; /* by decreasing |rho| */
    int64_t n_traits;
    bool words; /* traits are words */
    order_column *columns;
    int64_t n_columns;
} order_result;

/* Reads r->rank from items.csv in the folder of the result. */
bool order_read(session *s, const result_items *items, order_result *r, int *code);
/* Reverses the order if the item or the items that --start names are in its second half. */
bool order_turn(session *s, result_items *items, order_result *r, int *code);
/* Fills r->stability from the report, or else from random halves of the points of each item. */
bool order_split(session *s, const result_items *items, order_result *r, int *code);
/* Fills r->share, r->main_share and r->next_share. */
bool order_measure(session *s, const result_items *items, order_result *r, int *code);
void order_describe(const result_items *items, order_result *r);
/* Fills r->columns. */
bool order_compare(session *s, result_items *items, order_result *r, int *code);
void order_free(order_result *r);

/* Replaces n values with their ranks, starting at 0. Equal values have the mean of their ranks. */
void order_ranks(double *x, int64_t n);
/* Returns the correlation of n pairs of numbers, or 0 if either is constant. */
double order_correlation(const double *x, const double *y, int64_t n);

#endif
