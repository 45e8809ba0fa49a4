/* identity: finds the clusters that two results have in common. */
#ifndef DDSC_ASSESS_IDENTITY_IDENTITY_H
#define DDSC_ASSESS_IDENTITY_IDENTITY_H

#include "base/base.h"

/* Describes an event in one sentence. The caller frees *words. */
ddsc_status identity_words(ddsc_context *ctx, char **words, const ddsc_identity_event *e);

/* Does the same as ddsc_identity_run, for use within another public call. */
ddsc_status identity_find(ddsc_context *ctx, ddsc_identity **identity, int64_t n,
                          const int32_t *old_labels, int64_t k_old, const int32_t *new_labels,
                          int64_t k_new, const ddsc_identity_settings *settings);

/* Solves the assignment problem for the k x k costs. into[c] is the column assigned to row c. */
ddsc_status identity_match(ddsc_context *ctx, int32_t *into, const double *cost, int64_t k);

/* Renumbers the clusters in `labels` so that as many items as possible have the same label as in
 * `first`. All labels are below k. Sets *n_changed to the number of items whose label still
 * differs. */
ddsc_status identity_match_labels(ddsc_context *ctx, int32_t *labels, int64_t *n_changed,
                                  const int32_t *first, int64_t n, int64_t k);

#endif
