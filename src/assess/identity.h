/* identity: finds the clusters that two results have in common. */
#ifndef DDSC_ASSESS_IDENTITY_H
#define DDSC_ASSESS_IDENTITY_H

#include "base/base.h"

/* Describes an event in one sentence. The caller frees *words. */
ddsc_status identity_words(ddsc_context *ctx, char **words, const ddsc_identity_event *e);

/* Runs ddsc_identity_run within another call. */
ddsc_status identity_find(ddsc_context *ctx, ddsc_identity **identity, int64_t n,
                          const int32_t *old_labels, int64_t k_old, const int32_t *new_labels,
                          int64_t k_new, const ddsc_identity_settings *settings);

#endif
