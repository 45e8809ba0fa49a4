/* labels: measures the agreement of two labelings of the same items. */
#ifndef DDSC_NUMERIC_LABELS_SCORES_H
#define DDSC_NUMERIC_LABELS_SCORES_H

#include "base/base.h"

/* Computes AMI, ARI, NMI and the other scores of `labels` against `truth`, both of n items. */
ddsc_status scores_compute(ddsc_context *ctx, ddsc_scores *scores, int64_t n, const int32_t *labels,
                           const int32_t *truth);

#endif
