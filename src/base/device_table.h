/* The one table of functions behind which a device stands. Plain C and nothing of the library: a
 * plug-in, libddsc_NAME.so, includes this file alone and gives the table by its one visible function,
 * ddsc_device_table. Calls come from one thread at a time. */
#ifndef DDSC_BASE_DEVICE_TABLE_H
#define DDSC_BASE_DEVICE_TABLE_H

#include <stdint.h>

/* The version goes up with any change of what follows. Functions are only ever added at the end: those that came
 * with a later version than the plug-in's are missing there, and the processor does their work, as where a
 * function is NULL. */
enum { DEVICE_TABLE_VERSION = 3, DEVICE_WORDS = 200, DEVICE_TILE = 128 };

typedef struct device_about {
    char name[64];
    int64_t memory; /* bytes that are free */
    int n_ways; /* of making products, the cheapest first; the last errs no more than floats do */
    int64_t longest; /* list that `nearest` can make */
} device_about;

typedef struct device_rows {
    int64_t n, columns;
    const float *rows;   /* n x columns */
    const float *start;  /* n */
    const float *weight; /* n, above 0, or NULL: ones */
} device_rows;

/* Further rows for the same items, in some frames each: D^2 in units of the keys is at least (keep |x - y| - slack)^2
 * for the rows of every frame, their squares summed in floats in any order. */
typedef struct device_frames {
    int64_t n, n_frames, length; /* length: a multiple of 16 */
    const float *rows;           /* n x n_frames x length */
    double keep, slack;
} device_frames;

/* Items on a plane grid, for bounds of their transport under squared distances. Lengths are in any unit;
 * places on the grid and means are in steps. */
typedef struct device_grid {
    int64_t n, side;       /* items; cells along an axis, at most */
    const int64_t *offset; /* n + 1: the entries of an item */
    const double *weight;  /* by entry; those of an item sum to 1 */
    const uint16_t *cell;  /* by entry: row * side + column */
    const double *mean;    /* n x 2 */
    const double *cov;     /* n x 3: rows with rows, rows with columns, columns with columns */
    double step[2];
    double
        rounding; /* what points that are off the grid may add to a bound, in squares of those lengths */
    double unit; /* of bounds, in such squares */
    /* Levels: all; those before the first value of a tight bound and of a quick look; those of a dual bound. */
    int n_levels, n_start, n_pair;
    const double *epsilon; /* n_levels, each half of the one before */
    const float *self;     /* n_levels x entries: scalings of an item with itself */
    /* A bound below this part of what is enough will not get there: by level of a dual one, n_pair of them (negative:
     * no value is made at the level), and at the first value of a tight one. */
    const double *hopeless;
    double hopeless_tight;
} device_grid;

/* Items of any points, for entropic transport under squared distances. */
typedef struct device_points {
    int64_t n, d, n_support;
    const double *support; /* n_support x d */
    const int64_t *offset; /* n + 1: the entries of an item */
    const int32_t *index;  /* by entry: a row of the support */
    const double *weight;  /* by entry; those of an item sum to 1 */
} device_points;

/* Entropic transport of such items or of those on a grid; see distance/sinkhorn/pace.c. */
typedef struct device_rule {
    double epsilon;   /* in squares of the lengths of the points */
    double tolerance; /* of the sum of the marginals' errors */
    int64_t max_iterations;
    int sharp; /* the sharp value is asked for, too */
} device_rule;

typedef struct device_scaled {
    double regularised, sharp; /* in those squares */
    double marginal_error;
    int64_t iterations; /* 0: not solved, for the processor to do */
} device_scaled;

/* A matrix by rows, each with its entries in the order in which they are to be added. */
typedef struct device_sparse {
    int64_t n;
    const int64_t *offset; /* n + 1 */
    const int32_t *column;
    const double *value;
} device_sparse;

/* How much is to be spent on a bound; see distance/bound/refined.c. */
enum { DEVICE_DUAL, DEVICE_TIGHT };

/* Functions that can fail return 0, or another number and the reason in `why` (DEVICE_WORDS bytes). */
typedef struct device_table {
    int version;
    int (*open)(void **state, int number, device_about *about, char *why);
    void (*close)(void *state);
    /* What a way is called, and how much it may err: a product of rows of so many columns comes out
     * within radius |x||y| of x . y, whatever the rows, but for 2^-126 per column. */
    const char *(*way)(void *state, int way, int64_t columns, double *radius);
    /* Rows go over, in place of any before; they need not outlive the call. *strip: how many rows
     * `nearest` can be asked for at a time, with lists of `keep`. */
    int (*load)(void *state, int way, const device_rows *rows, int64_t keep, int64_t *strip,
                char *why);
    /* begin: a multiple of the strip. For each row i of [begin, end) the `keep` (at most n - 1) others with the least
     *
     *     key(i, j) = weight_j ((start_i + start_j) - 2 rows_i . rows_j)
     *
     * by (key, j), in any order: (end - begin) x keep keys and numbers j. */
    int (*nearest)(void *state, int64_t begin, int64_t end, int64_t keep, float *key,
                   int32_t *index, char *why);

    /* ---- since version 2 ---- */

    /* Of the rows loaded: every pair i < j, i of rows [row0, row1) and j of [column0, column1), whose key without
     * its weight is at most the larger of reach_i and reach_j (n each; NULL: those of the call before). In any order:
     * pair (i, j) and key of up to `most`. *found above `most`: what was written is of no use. row0 and column0 are
     * multiples of DEVICE_TILE. Where there are frames, pairs that they tell to be out of reach may be missing, and
     * keys may be what they say. */
    int (*within)(void *state, const int64_t row[2], const int64_t column[2], const float *reach,
                  int64_t most, int32_t *pair, float *key, int64_t *found, char *why);
    /* Frames go over, for the rows loaded last; they need not outlive the call. */
    int (*load_frames)(void *state, const device_frames *frames, char *why);
    /* Items on a grid go over, in place of any before; apart from the rows. */
    int (*load_grid)(void *state, const device_grid *grid, char *why);
    /* bound[k]: at most the transport cost of items pair[2 k] and pair[2 k + 1] under squared distances. May
     * stop as soon as it exceeds enough[k], or when it sees that it never will; an infinite end asks for a
     * quick look. */
    int (*bounds)(void *state, int kind, int64_t n, const int32_t *pair, const double *enough,
                  double *bound, char *why);
    /* Values of entropic transport in doubles, of items on a grid that may have no levels. */
    int (*scale)(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
                 device_scaled *found, char *why);

    /* ---- since version 3 ---- */

    /* A square matrix M goes over, in place of any before; it need not outlive the call. */
    int (*load_sparse)(void *state, const device_sparse *m, char *why);
    /* y = T_degree of x, both n x width by rows and apart: T_0 = x, T_1 = scale (M - shift) x, and
     * T_d = 2 scale (M - shift) T_(d - 1) - T_(d - 2). Doubles, sums in the order of a row's entries, each
     * operation rounded to nearest: the bits of operator_step (numeric/graph/operator.c). */
    int (*filter)(void *state, int64_t width, double scale, double shift, int64_t degree,
                  const double *x, double *y, char *why);
    /* Frames are loaded. key[k]: what they say of D^2 of items pair[2 k] and pair[2 k + 1], from below. */
    int (*framed)(void *state, int64_t n, const int32_t *pair, float *key, char *why);
    /* Items of points go over, in place of any before; they need not outlive the call. */
    int (*load_points)(void *state, const device_points *points, char *why);
    /* What `scale` is for those on a grid. */
    int (*scale_points)(void *state, const device_rule *rule, int64_t n, const int32_t *pair,
                        device_scaled *found, char *why);
} device_table;

#define DEVICE_ENTRY "ddsc_device_table"
typedef const device_table *(*device_entry)(void);

#endif
