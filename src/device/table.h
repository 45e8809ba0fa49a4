/* The one table of functions behind which a device stands. Plain C and nothing of the library: a
 * plug-in, libddsc_NAME.so, includes this file alone and gives the table by its one visible function,
 * ddsc_device_table. Calls come from one thread at a time. */
#ifndef DDSC_DEVICE_TABLE_H
#define DDSC_DEVICE_TABLE_H

#include <stdint.h>

/* The version goes up with any change of what follows; another one is refused. */
enum { DEVICE_TABLE_VERSION = 1, DEVICE_WORDS = 200 };

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
} device_table;

#define DEVICE_ENTRY "ddsc_device_table"
typedef const device_table *(*device_entry)(void);

#endif
