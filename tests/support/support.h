/* Helpers for unit tests: a context, a failing allocator, small random sets, the folder of real
 * data. */
#ifndef DDSC_TEST_SUPPORT_H
#define DDSC_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "data/measures.h"

#include "calls.h"

/* Creates a context and asserts success. DDSC_TEST_THREADS in the environment is the minimum number
 * of threads: results must not depend on it, and races occur only with several threads. */
ddsc_context *test_context(int threads, uint64_t seed);

/* Returns the size of a large test: `full` if DDSC_DEEP is set in the environment, otherwise half of it, or a third in
 * builds with sanitizers, which are 3 to 10 times slower. The result is at least 1. */
int64_t test_size(int64_t full);

/* Runs `call` repeatedly on one context with the k-th allocation failing, k = 1, 2, ..., until it
 * requests fewer. Each failure must return DDSC_ERROR_MEMORY and leave nothing allocated, and the
 * context must remain usable for the next call. At powers of two, the next call has no failure, and
 * then one in which all later allocations fail. `call` must free its results. Returns the number of
 * allocations of the first run, in which none fails. */
typedef ddsc_status (*test_call)(ddsc_context *ctx, void *arg);
int64_t test_failing_allocations(test_call call, void *arg);

/* Creates n random clouds of 1 to max_points points in d dimensions with random weights, from
 * `seed`. */
measures *test_random_measures(ddsc_context *ctx, int64_t n, int64_t max_points, int64_t d,
                               uint64_t seed);

/* Creates k Gaussian clusters of n items each in the plane. */
measures *test_gaussians(ddsc_context *ctx, int64_t k, int64_t n, int64_t points, double apart);

/* Return the defaults with another metric. The result of metric_with is valid until the next call
 * for the same metric. */
ddsc_metric_settings test_metric(ddsc_metric metric);
const ddsc_metric_settings *metric_with(ddsc_metric metric);
/* cost (n x m, row-major): squared distances between the points of two items, term by term. */
void cost_items(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost);

/* Returns the folder of real data, or NULL (then skip(), so that the test is not reported as
 * passed). */
const char *test_data_dir(void);

/* Returns n zeros from calloc and asserts success. */
double *test_zeros(int64_t n);

/* Asserts that two graphs have the same edges and bits. */
void assert_same_graph(const ddsc_graph *a, const ddsc_graph *b);

void assert_close(double actual, double expected, double relative, double absolute);

#endif
