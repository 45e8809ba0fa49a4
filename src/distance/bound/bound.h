/* bound: lower bounds on transport values that cost far less than a solve.
 *
 * A bound is the value of a feasible dual solution, of a relaxation, or of a projection. Each file
 * states why its bound is valid. Rounding margins are subtracted, so a bound exceeds the true value
 * by a relative error of at most 1e-12. neighbors/pairs/backend.h describes which bounds a search
 * computes, and in which order. first.h declares the first bounds, which are computed for all
 * pairs. */
#ifndef DDSC_DISTANCE_BOUND_BOUND_H
#define DDSC_DISTANCE_BOUND_BOUND_H

#include "data/measures.h"

/* Returns a power of two close to the size of the support. Floats have a limited range, so values
 * stored as floats are divided by this unit or by its square. */
double bound_unit(const measures *m);

/* ---- refined potentials of W2 ---- See refined.c. For similar images, the bound is about 0.96 of
 * the distance. */

typedef struct bound_refined bound_refined;

/* Returns true if the set has a refined bound that also speeds up solves which start from it. */
bool bound_refined_applies(const measures *m);
bool bound_refined_starts(const measures *m);
/* Returns the default frame of this set. */
pair_frame bound_refined_frame(const measures *m);
/* Returns true if the refined bound of this set can be computed in *frame. */
bool bound_refined_fits(const measures *m, const pair_frame *frame);
/* Creates the bound, in the default frame of the set if `frame` is NULL. */
ddsc_status bound_refined_create(ddsc_context *ctx, bound_refined **out, const measures *m,
                                 const pair_frame *frame);
void bound_refined_destroy(bound_refined *b);
/* Prepares appended items (data/growing.h), from item `first` on. */
ddsc_status bound_refined_grow(bound_refined *b, int64_t first);
/* Computes the bounds of levels DUAL and TIGHT (neighbors/pairs/backend.h). The computation stops
 * as soon as the bound exceeds `enough` or is unlikely to reach it. After a TIGHT bound,
 * bound_refined_start for the same pair needs no further computation. */
double bound_refined_pair(bound_refined *b, int64_t i, int64_t j, double enough, int worker);
double bound_refined_last(bound_refined *b, int64_t i, int64_t j, double enough, int worker);
/* Returns the data with which a device computes both bounds (base/device_table.h), or NULL if a
 * device cannot compute them. The data is valid as long as b exists. */
const struct device_grid *bound_refined_for_device(bound_refined *b);
/* Returns true if a solve of the pair should start from the potentials of this bound. For large
 * items, the starting potentials that the solver computes are equally good. */
bool bound_refined_may_start(const bound_refined *b, int64_t i, int64_t j);
/* Returns potentials on item j from which a solve of the pair can start, or NULL. They are valid
 * until the worker's next call. Requires a set for which bound_refined_starts is true. */
const double *bound_refined_start(bound_refined *b, int64_t i, int64_t j, int worker);

/* ---- dual cuts ---- Let f be feasible potentials of an item, c-transformed to the whole support
 * table: f^c(y) = min_x C(x, y) - f(x). Then W2^2(item, other) >= sum a f + sum b f^c for every
 * other item. This bound is linear in the weights of the other item. */

typedef struct bound_cut_table {
    int64_t v;
    float *cost; /* v x v: squared distances of the support points, in units of unit2 */
    double largest, unit2;
} bound_cut_table;

/* Returns true if all items share a small support. */
bool bound_cut_applies(const measures *m);
ddsc_status bound_cut_table_make(ddsc_context *ctx, bound_cut_table *out, const measures *m);
void bound_cut_table_free(ddsc_context *ctx, bound_cut_table *t);
/* Computes the cut of an item from its potentials f. `potential` has v entries. `constant` receives
 * sum a f minus the rounding margin of the float table. Both results are in units of unit2. */
void bound_cut_make(const bound_cut_table *t, item_view item, const double *f, double *constant,
                    float *potential);

#endif
