/* bound: lower bounds that cost far less than a solve. Each states why it is valid; rounding is on the
 * safe side: a bound never exceeds the true value by more than 1e-12 of it. Which of them a search asks
 * for, and in what order, is said in neighbors/pairs/backend.h. First bounds of all pairs are in first.h. */
#ifndef DDSC_DISTANCE_BOUND_BOUND_H
#define DDSC_DISTANCE_BOUND_BOUND_H

#include "data/measures.h"

/* Floats have a short range: what is kept in them is divided by a power of two of the size of the
 * support, or by its square. */
double bound_unit(const measures *m);

/* ---- refined potentials of W2 ----
 * See refined.c: about 0.96 of the distance of near images. */

typedef struct bound_refined bound_refined;

/* Is there a refined bound for this set, and is it worth starting solves from it? */
bool bound_refined_applies(const measures *m);
bool bound_refined_starts(const measures *m);
ddsc_status bound_refined_create(ddsc_context *ctx, bound_refined **out, const measures *m);
void bound_refined_destroy(bound_refined *b);
/* Of levels DUAL and TIGHT of neighbors/pairs/backend.h: may stop as soon as they exceed `enough`, or when they see
 * that they never will. After the latter a start of the same pair is free. */
double bound_refined_pair(bound_refined *b, int64_t i, int64_t j, double enough, int worker);
double bound_refined_last(bound_refined *b, int64_t i, int64_t j, double enough, int worker);
/* What a device needs to make both (base/device_table.h), as long as b lives; NULL: there is no such way. */
const struct device_grid *bound_refined_for_device(bound_refined *b);
/* Potentials of item j from which to solve the pair, until the worker's next call; NULL: none to be
 * had. Only for sets that bound_refined_starts says yes to. */
const double *bound_refined_start(bound_refined *b, int64_t i, int64_t j, int worker);

/* ---- dual cuts ----
 * Feasible potentials f of an item, c-transformed to the whole support table, f^c(y) = min_x C(x,
 * y) - f(x), give W2^2(item, other) >= sum a f + sum b f^c for every other item: linear in the
 * other. */

typedef struct bound_cut_table {
    int64_t v;
    float *cost; /* v x v: squared distances of the support points, in units of unit2 */
    double largest, unit2;
} bound_cut_table;

/* Is the table small, and common to the items? */
bool bound_cut_applies(const measures *m);
ddsc_status bound_cut_table_make(ddsc_context *ctx, bound_cut_table *out, const measures *m);
void bound_cut_table_free(ddsc_context *ctx, bound_cut_table *t);
/* potential has v slots; constant holds sum a f, lowered by the rounding of the float table. Both
 * are in units of unit2. */
void bound_cut_make(const bound_cut_table *t, item_view item, const double *f, double *constant,
                    float *potential);

#endif
