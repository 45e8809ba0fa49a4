/* A table of the settings of the paper's algorithms. When a settings struct with a field `paper` is
 * copied from the caller, it is passed to paper_apply. */
#ifndef DDSC_BASE_PAPER_H
#define DDSC_BASE_PAPER_H

#include "base/base.h"

/* The struct that contains a setting. PAPER_STEP marks a step that no setting controls; the code of
 * that step reads the field `paper`. */
typedef enum paper_part {
    PAPER_CLUSTER,
    PAPER_METRIC,
    PAPER_GRAPH,
    PAPER_TEXT,
    PAPER_STEP
} paper_part;

/* Replaces default settings with the paper's values. Fails if a setting has a value that
 * contradicts the paper. `settings` is the current version of the struct that `part` names. */
ddsc_status paper_apply(ddsc_context *ctx, paper_part part, void *settings);

#endif
