/* Float bounds of all pairs, as an interface that a device can implement: the rows go over once, and
 * what comes back is few. The metric has the last word on every pair, in double; so a graph is the
 * same bytes whoever did the filtering. */
#ifndef DDSC_NEIGHBORS_PAIRS_PREFILTER_H
#define DDSC_NEIGHBORS_PAIRS_PREFILTER_H

#include "neighbors/pairs/backend.h"
#include "neighbors/pairs/nearest.h"

/* Receives a pair i < j and its bound unit * low, in which the frames of the bounds have had their say or not;
 * called from many threads. */
typedef ddsc_status (*prefilter_hit)(void *arg, int64_t i, int64_t j, double bound, bool framed,
                                     int worker);

typedef struct prefilter_device {
    const char *name;
    /* Rows and starts are uploaded; the bounds, and the items that further ones are made from (NULL: none), stay
     * the caller's and outlive the state. */
    ddsc_status (*open)(ddsc_context *ctx, void **state, const first_bounds *bounds,
                        const struct device_grid *grid);
    void (*close)(void *state);
    /* For every item the kept->tau least bounds by (bound, index), each pair offered to both ends. In
     * strips of rows as the device has memory. */
    ddsc_status (*nearest)(void *state, nearest *kept);
    /* Every pair of tiles [begin, end) (tile_number, of bounds->side) whose bound is at most the
     * larger of the reaches of its ends, and perhaps a few more. */
    ddsc_status (*within)(void *state, int64_t begin, int64_t end, const double *reach,
                          prefilter_hit hit, void *arg);
    /* Optional: bounds of level FRAME, DUAL or TIGHT of many pairs at once. *made false: ask for each of them. */
    ddsc_status (*pairs)(void *state, bound_level level, int64_t n, const pair_ij *pair,
                         const double *enough, double *bound, bool *made);
} prefilter_device;

/* Products by BLAS, or tiles where there are no rows. */
extern const prefilter_device prefilter_cpu;

/* A tile of bounds on this machine. */
void prefilter_tile(const first_bounds *b, const pair_tile *t, float *low, int64_t ld, int worker);

/* ---- rows that enclose values ---- */

ddsc_status prefilter_rows_create(ddsc_context *ctx, prefilter_rows *r, int64_t n, int64_t columns);
void prefilter_rows_free(ddsc_context *ctx, prefilter_rows *r);

/* How much a product of rows in floats may err, relative to the lengths of the two. */
double prefilter_radius(int64_t columns);

/* Bounds from rows, and what their rounding may add up to:
 *
 *     unit low(i, j) <= D^2(i, j) <= unit low(i, j) + spread_i + spread_j
 *
 * where products of rows err by at most radius |x||y|. start and spread: n each; *bounds borrows rows
 * and start. */
ddsc_status prefilter_enclose(ddsc_context *ctx, first_bounds *bounds, float *start, double *spread,
                              const prefilter_rows *r, double radius);

#endif
