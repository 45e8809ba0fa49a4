/* page: the parts of report.html. */
#ifndef DDSC_REPORT_RENDER_PAGE_H
#define DDSC_REPORT_RENDER_PAGE_H

#include "report/render/report.h"

/* Returns root[key][inner], or root[key] if inner is NULL. */
const json_t *report_page_get(const ddsc_report *r, const char *key, const char *inner);
/* Returns the text of a value, or "" if the value is not a string. */
const char *report_page_text(const json_t *value);
/* Returns the entry of a cluster in the result tree. */
const json_t *report_page_cluster(const ddsc_report *r, int64_t cluster);
/* Returns true if the cluster has a name other than its number. */
bool report_page_has_name(const ddsc_report *r, int64_t cluster);
/* report_page_name writes the name of a cluster, and report_page_item the title or id of an item in
 * the tree. */
void report_page_name(buffer *b, const ddsc_report *r, int64_t cluster);
void report_page_item(buffer *b, const json_t *item);
/* Returns the row of an item in the tree, or -1 if the result does not have this row. */
int64_t report_page_row(const ddsc_report *r, const json_t *item);
void report_page_answers(buffer *b, const ddsc_report *r);
/* Writes the association of metadata columns with the clusters. */
void report_page_about(buffer *b, const ddsc_report *r);
/* Returns true if the order describes the items better than the clusters do. */
bool report_page_leads(const ddsc_report *r);
void report_page_answer_order(buffer *b, const ddsc_report *r);
void report_page_order(buffer *b, const ddsc_report *r);
/* Writes the sections about points with named coordinates, if the result has any. */
void report_page_cells(buffer *b, const ddsc_report *r);
/* Writes the clusters per period of a column. */
void report_page_over(buffer *b, const ddsc_report *r);
/* Writes "How this was computed": key figures, charts, settings, command and times. */
void report_page_how(buffer *b, const ddsc_report *r);

#endif
