/* Functions shared by the tests of devices. DDSC_TEST_DEVICE names the device (default: the
 * reference device, in plain C). */
#ifndef DDSC_TESTS_DEVICE_SUPPORT_H
#define DDSC_TESTS_DEVICE_SUPPORT_H

#include "base/base.h"
#include "data/measures.h"

const char *device_name(void);
/* A fault of the reference device; NULL: none. */
void device_fault(const char *what);

typedef struct sample {
    int64_t n, columns;
    float *rows, *start, *weight;
} sample;

sample sample_make(int64_t n, int64_t columns, bool weighted);
void sample_free(sample *s);
double *products(const sample *s);
/* Computes the value by the formula of the table. */
double exact_key(const sample *s, const double *all, int64_t i, int64_t j);

/* The number of warnings that a device failed, and the last warning of any kind. */
typedef struct told {
    int n;
    char last[256];
} told;

ddsc_context *device_context(const char *name, int threads, told *t);
void same_bytes(const ddsc_graph *a, const ddsc_graph *b);
/* Creates histograms on a grid, or on a few of its points, which bounds separate less well. Every
 * seventh item is a copy of an earlier one. */
ddsc_measures *device_images(ddsc_context *ctx, int64_t n, bool scattered);
/* kind: mmd, mmd with features, lot, w2, or mmd with the energy kernel, for which grids have no
 * faster algorithm. */
ddsc_graph *device_graph(ddsc_context *ctx, const ddsc_measures *m, int kind, int64_t tau,
                         bool full, int64_t hubs);

#endif
