/* bound: lower bounds that cost far less than a solve. Each states why it is valid; rounding is on the
 * safe side: a bound never exceeds the true value by more than 1e-12 of it.
 *
 * A search asks for bounds by levels, each dearer and closer than the one before:
 *   tile     of all pairs, by blocks: projections, relaxed transport, duals after half an iteration;
 *   pair     of one pair, a little closer: single frames of projections;
 *   refined  of one pair, by some iterations: a small part of a solve;
 *   last     the best there is, asked for just before the pair is solved, which may begin where it ended. */
#ifndef DDSC_BOUND_BOUND_H
#define DDSC_BOUND_BOUND_H

#include "data/measures.h"

typedef struct bound_job {
    ddsc_context *ctx;
    const measures *m;
    int n_workers;
    void *metric; /* state of the metric the bounds are for */
} bound_job;

/* The bounds of a metric: a table of functions over a state. All values are functions of their
 * arguments alone, whatever the worker; (i, j) and (j, i) have the same. */
typedef struct bound_kind {
    const char *name;
    /* Optional: are bounds worth while for the set of this metric's state? NULL: always. */
    bool (*pays)(const void *metric);
    ddsc_status (*open)(void **state, const bound_job *job);
    void (*close)(void *state);
    /* Of items [i0, i1) by [j0, j1) into out[(i - i0) ld + (j - j0)]. At most `side` rows and columns,
     * the columns between two multiples of it. Where i0 = j0 only entries i < j are filled. */
    int64_t (*side)(const void *state);
    void (*tile)(void *state, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out,
                 int64_t ld, int worker);
    /* Optional, as all below. May stop once it exceeds `enough`. */
    double (*pair)(const void *state, int64_t i, int64_t j, double enough);
    /* Prepare the two below; *offered: does this set have them? */
    ddsc_status (*refine)(void *state, bool *offered);
    /* May stop as soon as it exceeds `enough`, or when it sees that it never will; without an end to
     * reach (infinite) it takes a quick look. */
    double (*refined)(void *state, int64_t i, int64_t j, double enough, int worker);
    double (*last)(void *state, int64_t i, int64_t j, double enough, int worker);
} bound_kind;

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
/* As `refined` and `last` above; after the latter a start of the same pair is free. */
double bound_refined_pair(bound_refined *b, int64_t i, int64_t j, double enough, int worker);
double bound_refined_last(bound_refined *b, int64_t i, int64_t j, double enough, int worker);
/* Potentials of item j from which to solve the pair, until the worker's next call; NULL: none to be
 * had. Only for sets that bound_refined_starts says yes to. */
const double *bound_refined_start(bound_refined *b, int64_t i, int64_t j, int worker);

/* ---- W2 ----
 * The functions of a kind. First bounds are projections, tight in few dimensions and one short matrix
 * product, or relaxed transport, tight for small supports in many dimensions (documents); see
 * first.h. Refined ones are kept in *refined, so that the metric can start
 * solves from them; NULL: the state keeps them. */

ddsc_status bound_w2_open(void **state, const bound_job *job, bound_refined **refined);
void bound_w2_close(void *state);
int64_t bound_w2_side(const void *state);
void bound_w2_tile(void *state, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out,
                   int64_t ld, int worker);
double bound_w2_pair(const void *state, int64_t i, int64_t j, double enough);
ddsc_status bound_w2_refine(void *state, bool *offered);
double bound_w2_refined(void *state, int64_t i, int64_t j, double enough, int worker);
double bound_w2_last(void *state, int64_t i, int64_t j, double enough, int worker);

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
