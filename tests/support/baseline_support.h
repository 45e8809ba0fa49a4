/* Functions shared by the tests of barycenters and of D2 clustering. */
#ifndef DDSC_TEST_BASELINE_SUPPORT_H
#define DDSC_TEST_BASELINE_SUPPORT_H

#include "support.h"

static const ddsc_barycenter_method all_methods[] = {DDSC_BARYCENTER_ADMM, DDSC_BARYCENTER_IBP,
                                                     DDSC_BARYCENTER_PROJECTED};
enum { N_METHODS = 3 };

/* The argument of a call for test_failing_allocations. */
typedef struct memory_case {
    const measures *m;
    ddsc_barycenter_method method;
} memory_case;

/* Makes every allocation of `call` fail once, for each method, on n random items. */
static inline void check_memory(test_call call, int64_t n)
{
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, n, 6, 2, 1);
    for (int method = 0; method < N_METHODS; method++) {
        memory_case c = {m, all_methods[method]};
        assert_true(test_failing_allocations(call, &c) > 10);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static inline void assert_never_rises(const double *value, int64_t n)
{
    assert_true(n >= 1);
    for (int64_t t = 1; t < n; t++)
        assert_true(value[t] <= value[t - 1]);
}

#endif
