/* permanova: distance-based analysis of variance (Anderson 2001; McArdle and Anderson 2001).
 *
 * G is the double-centered matrix of -D^2 / 2. A model has an orthonormal basis Q of its centered
 * columns. Its sum of squares is tr(Q^T G Q). The sum of squares of a column is the decrease of
 * this value if the column is omitted (marginal sums of squares). A permutation reorders the rows
 * and columns of G, which is equivalent to reordering the rows of Q. All statistics of a
 * permutation follow from the small matrix Y = Q^T G Q, so one product with G is sufficient for all
 * columns.
 *
 * The tests of the module compare all values with the results of the R package vegan. */
#ifndef DDSC_ASSESS_COHORT_PERMANOVA_H
#define DDSC_ASSESS_COHORT_PERMANOVA_H

#include "base/base.h"
#include "base/text.h"

/* ---- columns (permanova_columns.c) ---- */

typedef struct variable {
    const char *name;
    ddsc_column_role role;
    bool number;
    double *x; /* n: numbers, or level numbers; NaN if the value is missing */
    int64_t n_levels;
    text_table names;    /* names of the levels, in order of appearance */
    const char **level;  /* n_levels names, sorted */
    int64_t *level_size; /* number of used items per level */
} variable;

/* These functions check the arguments of the public call. */
ddsc_status permanova_check_distances(ddsc_context *ctx, const double *distances, int64_t n);
ddsc_status variable_check_columns(ddsc_context *ctx, const ddsc_column *columns, int64_t n);

/* Reads one column of n values. If the kind of column is not specified, it is determined from the
 * values of the items for which used[i] is true; see ddsc_column_kind. */
ddsc_status variable_make(ddsc_context *ctx, variable *v, const ddsc_column *column, int64_t n,
                          const bool *used);
void variable_free(ddsc_context *ctx, variable *v);
bool variable_is_missing(const ddsc_column *column, int64_t i);

/* ---- permutations (permanova_shuffle.c) ---- */

/* Units are items or, if whole blocks are permuted, the blocks. Units are exchanged only within a
 * group, which is a block, or all blocks of the same size. */
typedef struct shuffle {
    ddsc_context *ctx;
    int64_t n, n_units, n_groups;
    int64_t *item, *unit_first; /* item numbers by unit (n), and offsets (n_units + 1) */
    int64_t *group_first;       /* n_groups + 1: offsets of the units of each group */
    int64_t *type;              /* n_units: the first unit with the same values in all columns */
    int64_t *now;               /* n_units: current arrangement of the types, or of the units */
    double n_arrangements;      /* number of distinct arrangements; may be infinite */
    bool exhaustive;            /* all arrangements are used */
    int64_t n_draws;            /* number of permutations that shuffle_fill provides */
    const int32_t *given;       /* permutations that the caller passed, or NULL */
    uint64_t part;              /* random stream */
} shuffle;

/* The model to which the permutations are applied. item (n) lists the used items. */
typedef struct shuffle_model {
    const int64_t *item;
    int64_t n, n_variables;
    const variable *const *variables;
    const variable *block; /* or NULL */
    bool whole_blocks;
} shuffle_model;

/* Prepares `wanted` random permutations, or a list of all arrangements if there are no more than
 * that. */
ddsc_status shuffle_open(ddsc_context *ctx, shuffle *s, const shuffle_model *m, int64_t wanted,
                         uint64_t part);
/* Fills source (count x n): permutation b gives item i the column values of item source[b n + i].
 * Each call must continue where the previous one ended. An exhaustive list of arrangements includes
 * the original one. */
void shuffle_fill(shuffle *s, int32_t *source, int64_t begin, int64_t count);
void shuffle_close(shuffle *s);
/* Checks that each row of `given` is a permutation of the n items. */
ddsc_status shuffle_check(ddsc_context *ctx, const int32_t *given, int64_t n_given, int64_t n);

/* ---- one model (permanova_fit.c) ---- */

typedef struct permanova_model {
    const double *distances; /* n_all x n_all */
    int64_t n_all;
    bool squared;
    const int64_t *item; /* n: the items that are used */
    int64_t n, n_variables;
    const variable *const *variables;
    const variable *block;    /* or NULL */
    const double *log_points; /* n_all, or NULL */
    bool dispersion;          /* also compute the dispersion of the tested factors */
    int64_t permutations;
    const int32_t *given; /* or NULL */
    int64_t n_given;
    uint64_t part; /* random stream */
} permanova_model;

typedef struct permanova_effect {
    int64_t df;
    double sum_of_squares, r2, f, p;
    int64_t n_permutations;
    bool exhaustive, whole_blocks;
    double smallest_p;
    double dispersion_f, dispersion_p;
    /* Dispersion by item (n) and by level (n_levels), or NULL. The caller frees both arrays. */
    double *distance, *mean_distance;
    double points_r2, points_p;
} permanova_effect;

typedef struct permanova_total {
    double total, residual;
    int64_t residual_df;
} permanova_total;

/* ---- dispersion (permanova_dispersion.c) ---- */

/* A factor, and the distance from each item to the centroid of its level (Anderson 2006). */
typedef struct dispersion {
    double *code, *distance, *residual; /* n: level; distance; distance minus the level's mean */
    double *size, *mean;                /* per level: number of items; mean distance */
    int64_t n, n_levels, n_used;        /* n_used: number of levels with items */
    double square, limit; /* sum of squared residuals; values below `limit` are rounding errors */
} dispersion;

/* Computes the distances to centroids. gram (n x n) is the centered Gram matrix of the listed
 * items. */
ddsc_status dispersion_open(ddsc_context *ctx, dispersion *s, const variable *v,
                            const int64_t *item, int64_t n, const double *gram);
/* Moves the distances to the effect, and computes its dispersion_f. */
void dispersion_give(dispersion *s, permanova_effect *effect);
/* Returns F for permuted residuals. `sum` has n_levels entries. */
double dispersion_permuted(const dispersion *s, const int32_t *source, double *sum);
void dispersion_close(ddsc_context *ctx, dispersion *s);

/* Computes one effect per variable of the model. */
ddsc_status permanova_fit(ddsc_context *ctx, permanova_effect *effect, permanova_total *total,
                          const permanova_model *model);

#endif
