/* Transforms that were applied to a set, with their fitted values. New items are transformed with
 * the same values. */
#ifndef DDSC_DATA_RECIPE_H
#define DDSC_DATA_RECIPE_H

#include "data/measures.h"

typedef enum recipe_kind {
    RECIPE_PER_ITEM = 1, /* argument: points per item */
    RECIPE_ARCSINH,      /* values: cofactor per coordinate; 0: unchanged */
    RECIPE_LOG1P,
    RECIPE_STANDARD, /* values: offset subtracted from each coordinate, then its factors */
    RECIPE_ROBUST,   /* the same */
    RECIPE_RANK,     /* values: RECIPE_KNOTS quantiles per coordinate */
    RECIPE_PCA,      /* argument: number of components; values: mean, then the directions */
    RECIPE_CENTER,   /* values, also for the next three kinds: lattice steps; 0: no lattice */
    RECIPE_SIZE,
    RECIPE_DESKEW,
    RECIPE_PRINCIPAL,
    RECIPE_LOGICLE, /* values: T, W, M and A per coordinate; T = 0: unchanged */
    /* argument: number of batches; values: RECIPE_KNOTS quantiles per coordinate, for all items and
     * then for each batch */
    RECIPE_BATCH,
    RECIPE_KINDS
} recipe_kind;

enum { RECIPE_KNOTS = 256, RECIPE_BATCHES = 1000 };

/* Returns the name of a kind, as used in the options. */
const char *recipe_name(int64_t kind);
/* Returns the number of values of a step with input dimension d. *d_out, unless NULL, receives the
 * output dimension. */
int64_t recipe_count(int64_t kind, int64_t argument, int64_t d, int64_t *d_out);
/* Appends a step. The caller must set the `count` values of the step. */
ddsc_status recipe_add(ddsc_context *ctx, measures_recipe *r, recipe_kind kind, int64_t argument,
                       int64_t count, double **value);
/* Returns the input dimension of the steps, given their output dimension d, or -1 if the steps are
 * inconsistent. */
int64_t recipe_dimension(const measures_recipe *r, int64_t d);

/* A logicle scale with parameters T, W, M and A. recipe_logicle_at returns its value at x. */
typedef struct logicle_scale {
    double zero, b, d, k, g;
} logicle_scale;
logicle_scale recipe_logicle(const double parameter[4]);
double recipe_logicle_at(const logicle_scale *s, double x);

/* Returns an exponent e such that deviations up to `largest`, divided by 2^e, can be squared and
 * cubed without overflow. The exponent is 0 for ordinary data, so that their results do not
 * change. */
int recipe_exponent(double largest);
/* Applies step k to parts that have weights and an index. m provides the metadata of their
 * items. */
ddsc_status recipe_apply_step(ddsc_context *ctx, measures_parts *p, const measures *m,
                              const measures_recipe *r, int64_t k);
/* Returns the rank of x among RECIPE_KNOTS ascending knots, in 0 .. RECIPE_KNOTS - 1. If several
 * knots are equal to x, returns the middle of their ranks. */
double recipe_rank(const double *knot, double x);
/* Functions for batch steps. recipe_find_batches lists the batches in a column. recipe_split sorts
 * the support rows by batch; batch b starts at row start[b]. recipe_map_batches applies the
 * step. */
ddsc_status recipe_find_batches(ddsc_context *ctx, measures_recipe *r, const measures *m,
                                const char *column);
ddsc_status recipe_split(ddsc_context *ctx, measures_parts *p, const measures_recipe *r,
                         const measures *m, int64_t start[RECIPE_BATCHES + 1]);
ddsc_status recipe_map_batches(ddsc_context *ctx, measures_parts *p, const measures_recipe *r,
                               const measures *m, const double *value);
/* Transform each item separately: recipe_draw samples points, and recipe_align aligns items. */
ddsc_status recipe_draw(ddsc_context *ctx, measures_parts *p, int64_t per_item);
ddsc_status recipe_align(ddsc_context *ctx, measures_parts *p, recipe_kind kind,
                         const double *step);
/* Sets the d lattice steps that keep a set on a grid, where metrics are faster to compute. */
ddsc_status recipe_fit_lattice(ddsc_context *ctx, measures_parts *p, recipe_kind kind,
                               const measures_grid *grid, double *step);

/* Copies the points and entries of m to p. */
ddsc_status recipe_take_parts(ddsc_context *ctx, measures_parts *p, const measures *m);
/* Builds the transformed set with the names of m and the recipe r. Takes ownership of the parts. */
ddsc_status recipe_finish(ddsc_context *ctx, measures **out, measures_parts *p, const measures *m,
                          const measures_recipe *r);
/* Applies all steps of r to m, which must not have any transforms yet. */
ddsc_status recipe_apply(ddsc_context *ctx, measures **out, const measures *m,
                         const measures_recipe *r);

#endif
