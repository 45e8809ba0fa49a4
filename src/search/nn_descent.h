/* NN-descent (Dong, Moses, Li 2011): neighbours of neighbours are likely neighbours. */
#ifndef DDSC_SEARCH_NN_DESCENT_H
#define DDSC_SEARCH_NN_DESCENT_H

#include "search/rerank.h"

/* The k nearest of each of n rows by |x_i - x_j|^2 + offset_i + offset_j (offset NULL: 0), nearly
 * all of them right. Rounds read the
 * lists of the round before and heaps keep what is best whatever comes first, so the result does
 * not depend on the threads. */
ddsc_status descent_run(ddsc_context *ctx, candidates *out, int64_t n, int64_t columns,
                        const float *rows, const double *offset, int64_t k);

#endif
