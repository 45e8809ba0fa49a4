/* Transforms that a set has gone through, with what was fitted to it: new items go the same way. */
#ifndef DDSC_DATA_RECIPE_H
#define DDSC_DATA_RECIPE_H

#include "data/measures.h"

typedef enum recipe_kind {
    RECIPE_PER_ITEM = 1, /* argument: points of an item */
    RECIPE_ARCSINH,      /* values: a cofactor for each coordinate, 0: left alone */
    RECIPE_LOG1P,
    RECIPE_STANDARD, /* values: what is taken off each coordinate, what it is multiplied by */
    RECIPE_ROBUST,   /* the same */
    RECIPE_RANK,     /* values: RECIPE_KNOTS quantiles of each coordinate */
    RECIPE_PCA,      /* argument: dimension; values: mean, then the directions */
    RECIPE_CENTRE,   /* this and the next three: values: steps of a lattice, 0: own points */
    RECIPE_SIZE,
    RECIPE_DESKEW,
    RECIPE_PRINCIPAL,
    RECIPE_LOGICLE, /* values: T, W, M and A for each coordinate; T 0: left alone */
    /* argument: number of batches; values: RECIPE_KNOTS quantiles of each coordinate of all items,
     * then of those of each batch */
    RECIPE_BATCH,
    RECIPE_KINDS
} recipe_kind;

enum { RECIPE_KNOTS = 256, RECIPE_BATCHES = 1000 };

/* Name of a kind as the options have it. */
const char *recipe_name(int64_t kind);
/* How many values a step has at dimension d, and the dimension it leads to (NULL: not asked for). */
int64_t recipe_count(int64_t kind, int64_t argument, int64_t d, int64_t *d_out);
/* One more step; its values (count of them) are not yet set. */
ddsc_status recipe_add(ddsc_context *ctx, measures_recipe *r, recipe_kind kind, int64_t argument,
                       int64_t count, double **value);
/* Dimension before the steps, when d is that behind them; -1 where they do not fit. */
int64_t recipe_dimension(const measures_recipe *r, int64_t d);

/* A logicle scale made from T, W, M and A; its value at x. */
typedef struct logicle_scale {
    double zero, b, d, k, g;
} logicle_scale;
logicle_scale recipe_logicle(const double parameter[4]);
double recipe_logicle_at(const logicle_scale *s, double x);

/* The unit in which deviations of up to `largest` are squared and cubed: its exponent of two if its cube
 * would leave the range of numbers, else 0, so that ordinary data keep their bits. */
int recipe_exponent(double largest);
/* Step k on parts with weights and an index; m has the columns about their items. */
ddsc_status recipe_apply_step(ddsc_context *ctx, measures_parts *p, const measures *m,
                              const measures_recipe *r, int64_t k);
/* The rank of x among RECIPE_KNOTS ascending knots, 0 .. RECIPE_KNOTS - 1: the middle one where several
 * are equal to x. */
double recipe_rank(const double *knot, double x);
/* By batch: the names of the batches of a column; rows of the support batch by batch, those of b from
 * start[b] on; the step itself. */
ddsc_status recipe_find_batches(ddsc_context *ctx, measures_recipe *r, const measures *m,
                                const char *column);
ddsc_status recipe_split(ddsc_context *ctx, measures_parts *p, const measures_recipe *r,
                         const measures *m, int64_t start[RECIPE_BATCHES + 1]);
ddsc_status recipe_map_batches(ddsc_context *ctx, measures_parts *p, const measures_recipe *r,
                               const measures *m, const double *value);
/* Draw and shift: transforms that look at one item at a time. */
ddsc_status recipe_draw(ddsc_context *ctx, measures_parts *p, int64_t per_item);
ddsc_status recipe_align(ddsc_context *ctx, measures_parts *p, recipe_kind kind,
                         const double *step);
/* Steps of a lattice that keeps a set on a grid fast: fills d values. */
ddsc_status recipe_fit_lattice(ddsc_context *ctx, measures_parts *p, recipe_kind kind,
                               const measures_grid *grid, double *step);

/* Copies of the points and entries of m, to be worked on. */
ddsc_status recipe_take_parts(ddsc_context *ctx, measures_parts *p, const measures *m);
/* The set that m became: its names, the recipe r. Takes over the parts. */
ddsc_status recipe_finish(ddsc_context *ctx, measures **out, measures_parts *p, const measures *m,
                          const measures_recipe *r);
/* m, which has gone through none, by all steps of r. */
ddsc_status recipe_apply(ddsc_context *ctx, measures **out, const measures *m,
                         const measures_recipe *r);

#endif
