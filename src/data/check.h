/* Reports the accuracy of an approximation as quantiles of its error over a fixed sample of
 * pairs. */
#ifndef DDSC_DATA_CHECK_H
#define DDSC_DATA_CHECK_H

#include "base/base.h"

/* Stores the quantiles of `error` in the fields of stats. Reorders the array of `count` errors. */
void check_quantiles(ddsc_pair_stats *stats, double *error, int64_t count);

#endif
