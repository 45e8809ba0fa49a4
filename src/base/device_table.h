/* The table of functions that a device implements. This header is plain C and does not depend on
 * the library. A plug-in, libddsc_NAME.so, includes only this file and returns the table from its
 * single visible function, ddsc_device_table. The functions are called by one thread at a time. */
#ifndef DDSC_BASE_DEVICE_TABLE_H
#define DDSC_BASE_DEVICE_TABLE_H

#include <stdint.h>

/* Every change below increases the version. New functions are added only at the end. If a plug-in
 * lacks a function or sets it to NULL, the CPU is used instead. */
enum { DEVICE_TABLE_VERSION = 3, DEVICE_WORDS = 200, DEVICE_TILE = 128 };

typedef struct device_about {
    char name[64];
    int64_t memory;  /* free bytes */
    int n_ways;      /* product types, cheapest first; the last has float accuracy */
    int64_t longest; /* maximum list length of `nearest` */
} device_about;

typedef struct device_rows {
    int64_t n, columns;
    const float *rows;   /* n x columns */
    const float *start;  /* n */
    const float *weight; /* n, positive, or NULL: ones */
} device_rows;

/* Additional rows for the same items, in several frames. If x and y are the rows of two items in
 * any frame, D^2 in the unit of the keys is at least (keep |x - y| - slack)^2. Squares may be
 * summed in float precision, in any order. */
typedef struct device_frames {
    int64_t n, n_frames, length; /* length: a multiple of 16 */
    const float *rows;           /* n x n_frames x length */
    double keep, slack;
} device_frames;

/* Items on a 2-D grid, for which a device bounds the transport cost under squared distances.
 * Lengths may be in any unit. Grid positions and means are in grid steps. */
typedef struct device_grid {
    int64_t n, side;       /* number of items; maximum number of cells along an axis */
    const int64_t *offset; /* n + 1: the entries of item i are offset[i] .. offset[i + 1] - 1 */
    const double *weight;  /* one per entry; the weights of an item sum to 1 */
    const uint16_t *cell;  /* per entry: row * side + column */
    const double *mean;    /* n x 2 */
    const double *cov;     /* n x 3: covariances (row, row), (row, column), (column, column) */
    double step[2];
    double rounding; /* maximum increase of a bound by points off the grid (squared length) */
    double unit;     /* unit of the bounds, in squared lengths */
    /* n_levels is the total number of levels. n_pair is the number of levels of a dual bound.
     * n_start is the number of levels before a tight bound is evaluated for the first time, and the
     * number of levels of a bound from a few iterations. */
    int n_levels, n_start, n_pair;
    const double *epsilon; /* n_levels values, each half of the previous value */
    const float *self;     /* n_levels x entries: scalings of an item with itself */
    /* Fractions of the requested value below which the computation of a bound is abandoned.
     * There are n_pair fractions for the levels of a dual bound (negative: no value is computed
     * at this level), and one for the first value of a tight bound. */
    const double *hopeless;
    double hopeless_tight;
} device_grid;

/* Items with arbitrary points, used for entropic transport under squared distances. */
typedef struct device_points {
    int64_t n, d, n_support;
    const double *support; /* n_support x d */
    const int64_t *offset; /* n + 1: the entries of item i are offset[i] .. offset[i + 1] - 1 */
    const int32_t *index;  /* per entry: a row of the support */
    const double *weight;  /* one per entry; the weights of an item sum to 1 */
} device_points;

/* Settings of entropic transport, for items with arbitrary points or on a grid. See
 * distance/sinkhorn/pace.c. */
typedef struct device_rule {
    double epsilon;   /* in squared units of the coordinates */
    double tolerance; /* limit for the sum of the marginal errors */
    int64_t max_iterations;
    int sharp; /* nonzero if the sharp value is also requested */
} device_rule;

typedef struct device_scaled {
    double regularized, sharp; /* in squared units of the coordinates */
    double marginal_error;
    int64_t iterations; /* 0 if the pair was not solved and the CPU must solve it */
} device_scaled;

/* A matrix stored by rows. The entries of a row are in the order in which they must be added. */
typedef struct device_sparse {
    int64_t n;
    const int64_t *offset; /* n + 1 */
    const int32_t *column;
    const double *value;
} device_sparse;

/* Effort spent on a bound. See distance/bound/refined.c. */
enum { DEVICE_DUAL, DEVICE_TIGHT };

/* Functions that can fail return 0 on success. On failure, they return another number and store the
 * reason in `why` (DEVICE_WORDS bytes). */
typedef struct device_table {
    int version;
    int (*open)(void **state, int number, device_about *about, char *why);
    void (*close)(void *state);
    /* Returns the name of a product type. The computed product of any two rows x and y with this
     * number of columns differs from x . y by at most *radius |x||y| plus 2^-126 per column. */
    const char *(*way)(void *state, int way, int64_t columns, double *radius);
    /* Uploads rows, which replace any previous rows and need not outlive the call. *strip is the
     * number of rows that `nearest` can process at a time with lists of length `keep`. */
    int (*load)(void *state, int way, const device_rows *rows, int64_t keep, int64_t *strip,
                char *why);
    /* Finds, for each row i of [begin, end), the `keep` (at most n - 1) other items with the
     * smallest
     *
     * key(i, j) = weight_j ((start_i + start_j) - 2 rows_i . rows_j)
     *
     * by (key, j). Returns (end - begin) x keep keys and indices j, in any order within a row.
     * `begin` must be a multiple of the strip. */
    int (*nearest)(void *state, int64_t begin, int64_t end, int64_t keep, float *key,
                   int32_t *index, char *why);

    /* ---- since version 2 ---- */

    /* Finds every pair i < j of the loaded rows, with i in [row0, row1) and j in [column0,
     * column1), whose key without its weight is at most the larger of reach_i and reach_j.
     * `reach` has n elements; NULL reuses those of the previous call. Stores up to `most` pairs
     * (i, j) and their keys, in any order. If *found exceeds `most`, the stored data is invalid.
     * row0 and column0 must be multiples of DEVICE_TILE. If frames are loaded, pairs excluded by
     * the frames may be omitted, and a key may be the bound from the frames. */
    int (*within)(void *state, const int64_t row[2], const int64_t column[2], const float *reach,
                  int64_t most, int32_t *pair, float *key, int64_t *found, char *why);
    /* Uploads frames for the rows loaded last. The frames need not outlive the call. */
    int (*load_frames)(void *state, const device_frames *frames, char *why);
    /* Uploads items on a grid, which replace any previous grid items. Grid items are independent of
     * the rows. */
    int (*load_grid)(void *state, const device_grid *grid, char *why);
    /* Computes bound[k], a lower bound on the transport cost of items pair[2 k] and pair[2 k + 1]
     * under squared distances. The computation may stop as soon as the bound exceeds enough[k] or
     * can no longer reach it. If enough[k] is infinite, a few iterations suffice. */
    int (*bounds)(void *state, int kind, int64_t n, const int32_t *pair, const double *enough,
                  double *bound, char *why);
    /* Computes values of entropic transport in double precision for items on a grid. The grid
     * may have no levels. */
    int (*scale)(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
                 device_scaled *found, char *why);

    /* ---- since version 3 ---- */

    /* Uploads a square matrix M, which replaces any previous one and need not outlive the call. */
    int (*load_sparse)(void *state, const device_sparse *m, char *why);
    /* Computes y = T_degree x. x and y are n x width, stored by rows, and must not overlap. T_0 =
     * x, T_1 = scale (M - shift) x, and T_d = 2 scale (M - shift) T_(d - 1) - T_(d - 2). Values are
     * doubles, the entries of a row are added in order, and each operation is rounded to nearest.
     * The result is bit-identical to that of operator_step (numeric/graph/operator.c). */
    int (*filter)(void *state, int64_t width, double scale, double shift, int64_t degree,
                  const double *x, double *y, char *why);
    /* Computes key[k], the lower bound on D^2 from the loaded frames for items pair[2 k] and
     * pair[2 k + 1]. */
    int (*framed)(void *state, int64_t n, const int32_t *pair, float *key, char *why);
    /* Uploads items with arbitrary points, which replace any previous ones and need not outlive the
     * call. */
    int (*load_points)(void *state, const device_points *points, char *why);
    /* Computes the same values as `scale`, for items with arbitrary points. */
    int (*scale_points)(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
                        device_scaled *found, char *why);
} device_table;

#define DEVICE_ENTRY "ddsc_device_table"
typedef const device_table *(*device_entry)(void);

#endif
