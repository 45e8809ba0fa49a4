/* Functions shared by the tests of entropic transport between the items of a set. */
#ifndef DDSC_TEST_SINKHORN_SUPPORT_H
#define DDSC_TEST_SINKHORN_SUPPORT_H

#include <math.h>
#include <stdlib.h>

#include "support.h"

static inline ddsc_metric_settings sinkhorn_settings(ddsc_sinkhorn_value value, double percent)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_SINKHORN;
    set.sinkhorn_value = value;
    set.epsilon = percent;
    return set;
}

/* Settings that stop before convergence give finite values, and the statistics report it. Frees m and ctx. */
static inline void check_cap(ddsc_context *ctx, measures *m, const ddsc_metric_settings *set)
{
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    double *matrix = test_zeros(m->n * m->n);
    assert_int_equal(ddsc_distance_run(ctx, matrix, &stats, m, set, DDSC_DISTANCE_SQUARED),
                     DDSC_NOT_CONVERGED);
    assert_true(stats.n_not_converged > 0 && stats.max_gap > set->sinkhorn_tolerance);
    for (int64_t k = 0; k < m->n * m->n; k++)
        assert_true(isfinite(matrix[k]));
    free(matrix);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

#endif
