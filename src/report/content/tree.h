/* The tree of values and who fills it: inside the room alone. */
#ifndef DDSC_REPORT_CONTENT_TREE_H
#define DDSC_REPORT_CONTENT_TREE_H

#include "report/content/result.h"

/* ---- the tree: failures are kept in r->lost; values are taken over ---- */

void put_value(ddsc_report *r, json_t *object, const char *key, json_t *value);
void put_text(ddsc_report *r, json_t *object, const char *key, const char *value); /* any bytes */
void put_count(ddsc_report *r, json_t *object, const char *key, int64_t value);
void put_count_or_auto(ddsc_report *r, json_t *object, const char *key, int64_t value);
void put_real(ddsc_report *r, json_t *object, const char *key, double value); /* NaN, inf: null */
void put_bool(ddsc_report *r, json_t *object, const char *key, bool value);
json_t *put_object(ddsc_report *r, json_t *object, const char *key);
json_t *put_array(ddsc_report *r, json_t *object, const char *key);
void put_last(ddsc_report *r, json_t *array, json_t *value);
json_t *put_row(ddsc_report *r, json_t *array); /* an object at the end of an array */

/* The whole of it in r->tree. */
ddsc_status result_tree(ddsc_report *r);
ddsc_status result_put_settings(ddsc_report *r, json_t *root);
/* r->verdict, as "verdict" of the tree. */
void result_put_verdict(ddsc_report *r, json_t *root);
/* Were the gaps of a graph examined? */
bool result_judged(const ddsc_report *r);
/* How clusters merge, and items in a line: "tree" of the tree of values, r->order. */
ddsc_status result_put_merges(ddsc_report *r, json_t *root);
ddsc_status result_find_order(ddsc_report *r);
void result_put_outliers(ddsc_report *r, json_t *root);
void result_put_theory(ddsc_report *r, json_t *root);
void result_put_stability(ddsc_report *r, json_t *root);
/* Typical and doubtful items of each cluster, distances between neighbours. */
ddsc_status result_put_findings(ddsc_report *r, json_t *root);
/* Columns about items against the clusters. */
ddsc_status result_put_about(ddsc_report *r, json_t *root);
/* Words or coordinates that tell each cluster from the others, where the set has them. */
ddsc_status result_put_explanation(ddsc_report *r);
/* The mean picture of each cluster of planar items, and its difference to the rest. */
ddsc_status result_put_means(ddsc_report *r);
/* Counts of classes by cluster, unless there are too many to look at. */
ddsc_status result_put_confusion(ddsc_report *r, json_t *scores);

#endif
