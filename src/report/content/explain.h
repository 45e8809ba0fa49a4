/* explain: code shared by the explanations of clusters by words and by coordinates. */
#ifndef DDSC_REPORT_CONTENT_EXPLAIN_H
#define DDSC_REPORT_CONTENT_EXPLAIN_H

#include "report/content/tree.h"

typedef struct finding {
    int64_t which;
    double value, here, elsewhere; /* value used for ranking; mean in the cluster and in the
                                    * other items */
} finding;

/* Inserts f into the list of the `most` findings with the largest |value|. Ties keep their
 * order. *n is the current length of the list. */
void result_keep_finding(finding *best, int *n, int most, finding f);
ddsc_status result_explain_words(ddsc_report *r);

#endif
