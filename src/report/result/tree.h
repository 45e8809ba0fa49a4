/* tree: functions that build the tree of values. */
#ifndef DDSC_REPORT_RESULT_TREE_H
#define DDSC_REPORT_RESULT_TREE_H

#include "report/result/result.h"

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

/* Returns the entry of a cluster in the tree, or NULL. */
json_t *result_cluster_row(const ddsc_report *r, int64_t c);

#endif
