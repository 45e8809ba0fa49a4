/* Associations of a metadata column with single quantities: differences between classes, or rank
 * correlations, optionally within blocks and adjusted for covariates. */
#ifndef DDSC_ASSESS_EFFECTS_H
#define DDSC_ASSESS_EFFECTS_H

#include "assess/cohort/permanova.h"

/* The least-squares model for all quantities with values for the same units. It contains an
 * intercept (or one per block), the covariates, and the column. All columns are centered within
 * blocks and are 0 for units without a value. */
typedef struct effects_design {
    int64_t rank;   /* number of independent covariates */
    double *basis;  /* rank x n: orthonormal covariates */
    double *x;      /* n_compared x n: residual of the column after the covariates, with length 1 */
    double *length; /* n_compared: length of the residual; 0: the covariates determine the column */
    double *weight; /* n_compared x n: weights of the squared residuals in the variance (HC2) */
    double *df; /* n_compared: degrees of freedom of the interval; numeric columns: n - rank - 3 */
    bool *is_used;            /* n */
    int32_t *unit;            /* units with values, sorted by block */
    int64_t *first;           /* n_blocks + 1: position of each block in `unit` */
    int64_t n_used, n_blocks; /* units, and blocks that have some; 1 block without blocks */
} effects_design;

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
    double *center;     /* m: mean subtracted when centering */
    double *scale;      /* m: largest absolute value */
    /* With covariates: effects_adjust_open replaces `value` with its residuals after the
     * covariates. */
    int64_t n_covariates;
    double *covariate; /* n_covariates x n: numeric values (ranks if the tested column is
                        * numeric) or 0/1 indicators; means if the units are blocks */
    int64_t n_designs;
    effects_design *design;
    int32_t *design_of; /* m */
} effects_data;

/* Sums over one level, or over one level of one block. */
typedef struct effects_sum {
    double n, sum, square;
} effects_sum;

typedef struct effects_job {
    effects_data data;
    variable block;
    int64_t n_adjust;
    variable *adjust; /* covariates */
    bool whole;
    int64_t *item;     /* used items */
    double *statistic; /* per row */
    int64_t *count;    /* per row: permutations with at least this statistic */
    double *largest;   /* per row: largest statistic, and the number of permutations with it */
    int64_t *n_largest;
    effects_sum *scratch;
    double *along; /* scratch with covariates */
    int32_t *at;
    int64_t n_scratch, n_at; /* per worker */
    const int32_t *source;
    int64_t n_source;
} effects_job;

/* ---- units (effects_units.c) ---- */

/* Defines the units: the n used items or, if the column is constant within blocks, the blocks.
 * Prepares the values and columns of the units. */
ddsc_status effects_make_units(effects_job *j, const variable *column, const double *values,
                               int64_t n);

/* ---- without covariates (effects_measure.c) ---- */

/* Returns how many sums effects_measure needs as scratch memory. */
int64_t effects_scratch(const effects_data *d);
/* Computes the studentized effect of quantity v for each of its rows, after assigning the column
 * value of unit source[i] to unit i (NULL: no permutation). If `row` is not NULL, also fills in the
 * means, the effect and its interval. */
void effects_measure(const effects_data *d, int64_t v, const int32_t *source, effects_sum *scratch,
                     double *statistic, ddsc_effect *row);
/* Returns the 97.5% quantile of Student's t. */
double effects_t_quantile(double df);
/* Returns |effect| / error. If the error is 0, the result is a large finite number. */
double effects_studentize(const effects_data *d, int64_t v, double effect, double error);
/* Fills in a rank correlation r and its confidence interval. `free` is the inverse of the variance
 * on Fisher's z scale. */
void effects_fill_correlation(ddsc_effect *row, double r, double free);

/* ---- with covariates (effects_adjust.c) ---- */

/* Creates the designs, and replaces the values with their residuals after the covariates. */
ddsc_status effects_adjust_open(effects_data *d);
void effects_adjust_close(effects_data *d);
/* Returns false if no quantity can be compared: the covariates determine the column (*determined is
 * true), or there are too many covariates. */
bool effects_adjust_check(const effects_data *d, bool *determined);
/* Returns the number of entries of the argument `at` of effects_adjust_measure. */
int64_t effects_adjust_places(const effects_data *d);
/* Works like effects_measure, but does not change the means and item counts in `row`. A permutation
 * exchanges the residuals after the covariates (Freedman and Lane 1983), and an effect is divided
 * by its heteroscedastic standard error. along (n_covariates) and at are scratch. */
void effects_adjust_measure(const effects_data *d, int64_t v, const int32_t *source, double *along,
                            int32_t *at, double *statistic, ddsc_effect *row);

#endif
