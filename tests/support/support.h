/* Help for unit tests: a context, a failing allocator, small random sets, a real-data folder. */
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

/* Asserts. DDSC_TEST_THREADS in the environment is the least number of threads: answers must not
 * depend on it, and a race shows only where there are several. */
ddsc_context *test_context(int threads, uint64_t seed);

/* The size of a test that is large in release builds: `full` there, and a third of it (at least 1) in builds with
 * sanitizers, which run it 3 to 10 times slower. With DDSC_DEEP in the environment it is always `full`. */
int64_t test_size(int64_t full);

/* Run `call` again and again on one context with the k-th allocation failing, k = 1, 2, ..., until
 * it asks for fewer. Each failure must come back as DDSC_ERROR_MEMORY and leave nothing allocated,
 * and the context must be good for the next call. At powers of two that is once one without a
 * failure, and once one in which all later allocations fail too. `call` must free what it made.
 * Returns the number of allocations of the first run, in which none fails. */
typedef ddsc_status (*test_call)(ddsc_context *ctx, void *arg);
int64_t test_failing_allocations(test_call call, void *arg);

/* n random clouds of 1..max_points points in d dimensions, random weights, from `seed`. */
measures *test_random_measures(ddsc_context *ctx, int64_t n, int64_t max_points, int64_t d,
                               uint64_t seed);

/* k Gaussian clusters of n items each in the plane. */
measures *test_gaussians(ddsc_context *ctx, int64_t k, int64_t n, int64_t points, double apart);

/* The defaults with another metric. metric_with: stays until the next call for the same one. */
ddsc_metric_settings test_metric(ddsc_metric metric);
const ddsc_metric_settings *metric_with(ddsc_metric metric);
/* cost (n x m, row-major): squared distances between the points of two items, term by term. */
void cost_items(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost);

/* The folder of real data, or NULL (then skip(): the test says "skipped", never "passed"). */
const char *test_data_dir(void);

/* n zeros from calloc; asserts. */
double *test_zeros(int64_t n);

/* The same edges and bits. */
void assert_same_graph(const ddsc_graph *a, const ddsc_graph *b);

void assert_close(double actual, double expected, double relative, double absolute);

#endif
