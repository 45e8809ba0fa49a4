/* least_kernels: inner loops for the table of least costs (least_costs.c). */
#ifndef DDSC_DISTANCE_BOUND_LEAST_KERNELS_H
#define DDSC_DISTANCE_BOUND_LEAST_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEAST_LANES = 64,  /* items per block of the table; their sums are computed together */
    LEAST_CHUNK = 256, /* rows of the support whose costs are computed at once */
    LEAST_WIDTH = 16,  /* floats per vector */
    LEAST_MOST = 255   /* largest table entry */
};

/* Converts the products -2 x y of one point x with `width` points y to table entries, which are the
 * costs times `inverse`, rounded down. low and lows are the squared lengths, reduced by the
 * rounding margin. Entries from `width` to LEAST_CHUNK are undefined. */
void bound_least_quantize(uint8_t *cost, const float *product, float low, const float *lows,
                          float inverse, int64_t width, bool root);
/* Computes the elementwise minima over n rows of `cost`. */
void bound_least_minima(uint8_t *least, const uint8_t *cost, const int32_t *index, int64_t n);
/* Writes the minima for `lanes` items as `width` rows of LEAST_LANES entries. */
void bound_least_transpose(uint8_t *table, const uint8_t *least, int64_t lanes, int64_t width);
/* Computes the weighted sums over n rows of the table, for the items in a block. */
void bound_least_sums(float *out, const uint8_t *table, const int32_t *index, const float *weight,
                      int64_t n);
/* Computes out[i][j] = scale max(there[i][j], back[j][i]). */
void bound_least_larger(float *out, int64_t ld, const float *there, const float *back,
                        int64_t width, int64_t n_i, int64_t n_j, float scale);

#endif
