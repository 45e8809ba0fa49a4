/* prefilter: float bounds for all pairs, with an interface that a device can implement. The rows
 * are uploaded once, and only a few results are returned. The metric computes the selected pairs in
 * double precision, so the graph is byte-identical on all devices. */
#ifndef DDSC_NEIGHBORS_PAIRS_PREFILTER_H
#define DDSC_NEIGHBORS_PAIRS_PREFILTER_H

#include "neighbors/pairs/backend.h"
#include "neighbors/pairs/nearest.h"

/* Receives a pair i < j and its bound unit * low. `framed` is true if the bound includes the frame
 * bound. Several threads call this function concurrently. */
typedef ddsc_status (*prefilter_hit)(void *arg, int64_t i, int64_t j, double bound, bool framed,
                                     int worker);

typedef struct prefilter_device {
    const char *name;
    /* Uploads the rows and starts. `bounds` and `grid` (items for dual bounds, or NULL) must remain
     * valid until the state is closed. */
    ddsc_status (*open)(ddsc_context *ctx, void **state, const first_bounds *bounds,
                        const struct device_grid *grid);
    void (*close)(void *state);
    /* Finds the kept->tau smallest bounds of every item by (bound, index). Each pair is offered to
     * the heaps of both items. Rows are processed in blocks that fit in device memory. */
    ddsc_status (*nearest)(void *state, nearest *kept);
    /* Calls `hit` for every pair in tiles [begin, end) whose bound is at most the larger reach of
     * its two items, and possibly for a few other pairs. Tiles are numbered as in tile_number with
     * bounds->side. */
    ddsc_status (*within)(void *state, int64_t begin, int64_t end, const double *reach,
                          prefilter_hit hit, void *arg);
    /* Optional: computes bounds of level FRAME, DUAL or TIGHT for many pairs at once. If *made is
     * set to false, the caller must compute each bound separately. */
    ddsc_status (*pairs)(void *state, bound_level level, int64_t n, const pair_ij *pair,
                         const double *enough, double *bound, bool *made);
} prefilter_device;

/* The CPU implementation. It uses BLAS products of rows, or bounds->tile if there are no rows. */
extern const prefilter_device prefilter_cpu;

/* Computes a tile of bounds on the CPU. */
void prefilter_tile(const first_bounds *b, const pair_tile *t, float *low, int64_t ld, int worker);

/* ---- rows that enclose values ---- */

ddsc_status prefilter_rows_create(ddsc_context *ctx, prefilter_rows *r, int64_t n, int64_t columns);
void prefilter_rows_free(ddsc_context *ctx, prefilter_rows *r);

/* Returns the maximum error of a float product of two rows, relative to the product of their
 * lengths. */
double prefilter_radius(int64_t columns);

/* Computes bounds from rows, and the largest possible difference from the values:
 *
 *     unit low(i, j) <= D^2(i, j) <= unit low(i, j) + spread_i + spread_j,
 *
 * if a product of rows x and y has an error of at most radius |x||y|. start and spread have n
 * elements. *bounds points to the rows and to start. */
ddsc_status prefilter_enclose(ddsc_context *ctx, first_bounds *bounds, float *start, double *spread,
                              const prefilter_rows *r, double radius);
/* Computes the starts and spreads of the rows from `first` on. */
ddsc_status prefilter_enclose_from(ddsc_context *ctx, float *start, double *spread,
                                   const prefilter_rows *r, double radius, int64_t first);

#endif
