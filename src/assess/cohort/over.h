/* over: the periods of a column, and the items of each cluster per period. */
#ifndef DDSC_ASSESS_COHORT_OVER_H
#define DDSC_ASSESS_COHORT_OVER_H

#include "base/base.h"
#include "base/text.h"

/* The periods of n values. Each value belongs to one period. Missing values have the period -1. */
typedef struct over_periods {
    ddsc_over_kind kind;
    const char *unit;
    int64_t n;
    int32_t *of;    /* period of each value */
    text_rows name; /* n names, in order */
} over_periods;

/* Finds the periods of the values that are used. *p is zero before the call and is freed by
 * over_periods_free even after an error. `column` is used in messages. */
ddsc_status over_find_periods(ddsc_context *ctx, over_periods *p, const char *const *values,
                              const bool *used, int64_t n, const char *column);
void over_periods_free(ddsc_context *ctx, over_periods *p);

#endif
