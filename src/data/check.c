/* Computes quantiles of the errors of an approximation: the maximum, the 95th percentile and the
 * median. */
#include "data/check.h"

void check_quantiles(ddsc_pair_stats *stats, double *error, int64_t count)
{
    stats->n_checked = count;
    if (count == 0)
        return;
    stats->check_max = select_smallest(error, count, count - 1);
    stats->check_high = select_smallest(error, count, (count - 1) * 95 / 100);
    stats->check_median = select_smallest(error, count, (count - 1) / 2);
}
