/* The absolute epsilon of the settings, the one place where a percentage becomes a number. */
#include <math.h>

#include "cost/cost.h"
#include "metric/metric.h"

/* Twice the pooled variance is the mean cost of two random points: stands in for a median of 0. */
static double mean_cost(const measures *m)
{
    double total = 0;
    for (int64_t k = 0; k < m->d; k++) {
        double mean = 0;
        for (int64_t p = 0; p < m->nnz; p++)
            mean += measures_point(m, m->index[p])[k] / (double)m->nnz;
        for (int64_t p = 0; p < m->nnz; p++) {
            double away = measures_point(m, m->index[p])[k] - mean;
            total += 2 * away * away / (double)m->nnz;
        }
    }
    return total;
}

/* Where all points coincide every epsilon gives the same answer. */
ddsc_status sinkhorn_epsilon(ddsc_context *ctx, double *epsilon, const measures *m,
                             const ddsc_metric_settings *set)
{
    double scale = 100;
    if (set->epsilon_is_percent) {
        CHECK(cost_median(ctx, m, &scale));
        if (!(scale > 0))
            scale = mean_cost(m);
        if (!(scale > 0))
            scale = 1;
    }
    *epsilon = fmin(fmax(set->epsilon * (scale / 100), 1e-300), 1e300);
    return DDSC_OK;
}
