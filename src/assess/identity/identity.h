/* identity: finds the clusters that two results have in common. */
#ifndef DDSC_ASSESS_IDENTITY_IDENTITY_H
#define DDSC_ASSESS_IDENTITY_IDENTITY_H

#include "base/base.h"

/* Describes an event in one sentence. The caller frees *words. */
ddsc_status identity_words(ddsc_context *ctx, char **words, const ddsc_identity_event *e);

/* Runs ddsc_identity_run within another call. */
ddsc_status identity_find(ddsc_context *ctx, ddsc_identity **identity, int64_t n,
                          const int32_t *old_labels, int64_t k_old, const int32_t *new_labels,
                          int64_t k_new, const ddsc_identity_settings *settings);

/* Computes into[c], the column assigned to row c, such that the sum of the assigned costs (k x k)
 * is minimal. */
ddsc_status identity_match(ddsc_context *ctx, int32_t *into, const double *cost, int64_t k);

/* Renumbers `labels` to match `first`. Both have values below k. Clusters are paired so that as
 * many items as possible keep their label. Sets *n_changed to the number of items whose label still
 * differs. */
ddsc_status identity_match_labels(ddsc_context *ctx, int32_t *labels, int64_t *n_changed,
                                  const int32_t *first, int64_t n, int64_t k);

#endif
