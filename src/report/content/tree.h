/* tree: functions that build the tree of values, internal to this module. */
#ifndef DDSC_REPORT_CONTENT_TREE_H
#define DDSC_REPORT_CONTENT_TREE_H

#include "report/content/result.h"

/* ---- tree operations: failures set r->lost; the tree takes ownership of values ---- */

void put_value(ddsc_report *r, json_t *object, const char *key, json_t *value);
void put_text(ddsc_report *r, json_t *object, const char *key,
              const char *value); /* any bytes; see result_string */
void put_count(ddsc_report *r, json_t *object, const char *key, int64_t value);
void put_count_or_auto(ddsc_report *r, json_t *object, const char *key, int64_t value);
void put_real(ddsc_report *r, json_t *object, const char *key,
              double value); /* NaN and infinity become null */
void put_bool(ddsc_report *r, json_t *object, const char *key, bool value);
json_t *put_object(ddsc_report *r, json_t *object, const char *key);
json_t *put_array(ddsc_report *r, json_t *object, const char *key);
void put_last(ddsc_report *r, json_t *array, json_t *value);
json_t *put_row(ddsc_report *r, json_t *array); /* appends an object */

/* Builds the whole tree in r->tree. */
ddsc_status result_tree(ddsc_report *r);
/* Writes what an update changed to the keys "update" and "unused_numbers". */
void result_put_update(ddsc_report *r, json_t *root);
ddsc_status result_put_settings(ddsc_report *r, json_t *root);
/* Writes r->verdict to the key "verdict". */
void result_put_verdict(ddsc_report *r, json_t *root);
/* Returns true if the gaps of the graph were examined. */
bool result_judged(const ddsc_report *r);
/* result_put_merges writes how clusters merge to the key "tree". result_find_order fills
 * r->order. */
ddsc_status result_put_merges(ddsc_report *r, json_t *root);
ddsc_status result_find_order(ddsc_report *r);
void result_put_outliers(ddsc_report *r, json_t *root);
void result_put_theory(ddsc_report *r, json_t *root);
void result_put_stability(ddsc_report *r, json_t *root);
/* Writes the typical and ambiguous items of each cluster, and the distances between neighbors. */
ddsc_status result_put_findings(ddsc_report *r, json_t *root);
/* Writes the association of metadata columns with the clusters. */
ddsc_status result_put_about(ddsc_report *r, json_t *root);
/* Writes the clusters per period of a column to the key "over". `values` are n texts, one per item, or
 * NULL for the metadata column of that name. */
ddsc_status result_add_over(ddsc_report *r, const char *column, const char *const *values,
                            int64_t n_values);
/* Writes the words or coordinates that distinguish each cluster, if the input has names or few
 * dimensions. */
ddsc_status result_put_explanation(ddsc_report *r);
/* Writes the mean picture of each cluster of planar items, and its difference from the other
 * items. */
ddsc_status result_put_means(ddsc_report *r);
/* Writes the number of items of each class in each cluster, unless the table is too large. */
ddsc_status result_put_confusion(ddsc_report *r, json_t *scores);

#endif
