/* How an approximation is reported: quantiles of its error over a fixed sample of pairs. */
#ifndef DDSC_DATA_CHECK_H
#define DDSC_DATA_CHECK_H

#include "base/base.h"

/* error (count, reordered) into the fields of stats. */
void check_quantiles(ddsc_pair_stats *stats, double *error, int64_t count);

#endif
