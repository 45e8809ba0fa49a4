/* content: fills the tree of values with the verdict, outliers, merges of clusters, scores, theory,
 * settings and times of a result. The module traits adds the descriptions of the clusters. */
#ifndef DDSC_REPORT_CONTENT_CONTENT_H
#define DDSC_REPORT_CONTENT_CONTENT_H

#include "report/result/tree.h"

/* Builds the whole tree in r->tree. */
ddsc_status content_build(ddsc_report *r);
/* Computes r->distance, r->ambiguity and r->next from r->coords and the labels of the items. */
ddsc_status content_find_ambiguity(ddsc_report *r, const int32_t *labels, int64_t n);
/* Writes the changes made by an update to the keys "update" and "unused_numbers". */
void content_put_update(ddsc_report *r, json_t *root);
/* content_put_merges writes the merges of clusters to the key "tree". content_find_order fills
 * r->order. */
ddsc_status content_put_merges(ddsc_report *r, json_t *root);
ddsc_status content_find_order(ddsc_report *r);
void content_put_outliers(ddsc_report *r, json_t *root);
void content_put_theory(ddsc_report *r, json_t *root);
void content_put_stability(ddsc_report *r, json_t *root);
/* Writes the typical and ambiguous items of each cluster, and the distances between neighbors. */
ddsc_status content_put_findings(ddsc_report *r, json_t *root);
/* Writes the number of items of each class in each cluster, unless the table is too large. */
ddsc_status content_put_confusion(ddsc_report *r, json_t *scores);

/* ---- verdict ---- */

/* Writes r->verdict to the key "verdict". */
void content_put_verdict(ddsc_report *r, json_t *root);
/* Returns true if the gaps of the graph were examined. */
bool content_judged(const ddsc_report *r);
/* Returns true if the report should recommend the next step of the level. There is no verdict on a
 * single cluster, on clusters of one item each, or on methods without a graph. The advice mentions
 * the first two cases. */
bool content_has_next_step(const ddsc_report *r);
/* Returns one or two words that describe the agreement between halves. */
const char *content_agreement_word(double halves);

/* ---- settings ---- */

ddsc_status content_put_settings(ddsc_report *r, json_t *root);
const char *content_metric_name(ddsc_metric metric);
/* Returns true if `metric` is the metric of the run or one of the joined metrics. */
bool content_uses(const ddsc_report *r, ddsc_metric metric);
/* Size of a buffer for the names of the metrics, such as "w2", or "w2+mmd" for joined metrics. */
enum { CONTENT_METRICS = 48 };
const char *content_metric_names(const ddsc_report *r, char space[CONTENT_METRICS]);
/* Returns the requested cost, or NULL for the default cost of the metric. */
const char *content_cost_given(const ddsc_report *r);

/* ---- times ---- */

/* Updates "seconds" in the tree to include all stages so far. */
void content_renew_seconds(const ddsc_report *r);
/* Times of the run so far. The total is the sum of list[1] to list[n - 1] and of `other`, the
 * time outside all stages. */
typedef struct content_times {
    const stage_time *list;
    int64_t n;
    double other, total;
} content_times;
content_times content_times_now(const ddsc_report *r);

#endif
