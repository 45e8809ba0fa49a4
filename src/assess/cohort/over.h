/* over: the periods of a column, and the number of items of each cluster per period. */
#ifndef DDSC_ASSESS_COHORT_OVER_H
#define DDSC_ASSESS_COHORT_OVER_H

#include "base/base.h"
#include "base/text.h"

/* The periods of a column. Each value belongs to one period, and missing values have period -1. */
typedef struct over_periods {
    ddsc_over_kind kind;
    const char *unit;
    int64_t n;
    int32_t *of;    /* period of each value */
    text_rows name; /* names of the periods, in order */
} over_periods;

/* Finds the periods of the used values. *p must be zero before the call, and the caller must free
 * it with over_periods_free even after an error. `column` is the name used in messages. */
ddsc_status over_find_periods(ddsc_context *ctx, over_periods *p, const char *const *values,
                              const bool *used, int64_t n, const char *column);
void over_periods_free(ddsc_context *ctx, over_periods *p);

#endif
