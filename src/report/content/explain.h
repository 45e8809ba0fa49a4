/* What clusters are told by: shared by words and coordinates. */
#ifndef DDSC_REPORT_CONTENT_EXPLAIN_H
#define DDSC_REPORT_CONTENT_EXPLAIN_H

#include "report/content/tree.h"

typedef struct finding {
    int64_t which;
    double value, here, elsewhere; /* what it is chosen by; its means */
} finding;

/* Keeps the `most` largest by |value|, ties by number; n of them are there. */
void result_keep_finding(finding *best, int *n, int most, finding f);
json_t *result_cluster_row(const ddsc_report *r, int64_t c);
ddsc_status result_explain_words(ddsc_report *r);

#endif
