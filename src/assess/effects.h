/* effects: the association of quantities with a column about items. */
#ifndef DDSC_ASSESS_EFFECTS_H
#define DDSC_ASSESS_EFFECTS_H

#include "assess/permanova.h"

/* The data of one call. Units are items or, if the column is constant within blocks, the blocks. */
typedef struct effects_data {
    ddsc_context *ctx;
    int64_t n, m;       /* units; quantities */
    int64_t n_levels;   /* 0: the column is numeric */
    int64_t n_compared; /* rows per quantity */
    int64_t n_blocks;   /* 0: without blocks */
    double *column;     /* n: numbers of levels, or ranks */
    double *block;      /* n: numbers of blocks; NULL without blocks */
    double *value;      /* m x n, centered; ranks if the column is numeric. NaN: missing */
    double *center;     /* m: what was subtracted */
    double *scale;      /* m: largest absolute value */
} effects_data;

/* Sums over one level, or over one level of one block. */
typedef struct effects_sum {
    double n, sum, square;
} effects_sum;

/* Returns the number of sums that effects_measure needs as scratch. */
int64_t effects_scratch(const effects_data *d);
/* Computes the studentized effect of quantity v for each of its rows, if unit i has the column of
 * unit source[i] (NULL: its own). If `row` is not NULL, also fills in the means, the effect and its
 * interval. */
void effects_measure(const effects_data *d, int64_t v, const int32_t *source, effects_sum *scratch,
                     double *statistic, ddsc_effect *row);

#endif
