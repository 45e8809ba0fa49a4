/* over: the contents of the clusters in each period of a column. */
#ifndef DDSC_REPORT_TRAITS_OVER_H
#define DDSC_REPORT_TRAITS_OVER_H

#include "report/traits/explain.h"

/* The items of a report and their periods. */
typedef struct over_items {
    int64_t n, k;
    int32_t *label; /* n: -1 for items that belong to no cluster */
    const ddsc_over_view *view;
} over_items;

/* Adds the words or markers of each period to the rows of `periods` of each cluster. */
ddsc_status traits_put_over(ddsc_report *r, json_t *clusters, const over_items *items);

#endif
