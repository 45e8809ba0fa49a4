/* identity: finds the clusters that two results have in common. */
#ifndef DDSC_ASSESS_IDENTITY_H
#define DDSC_ASSESS_IDENTITY_H

#include "base/base.h"

/* Describes an event in one sentence. The caller frees *words. */
ddsc_status identity_words(ddsc_context *ctx, char **words, const ddsc_identity_event *e);

#endif
