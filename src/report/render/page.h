/* page: parts of report.html. */
#ifndef DDSC_REPORT_RENDER_PAGE_H
#define DDSC_REPORT_RENDER_PAGE_H

#include "report/render/report.h"

/* A value of the tree; inner NULL: the one called key. */
const json_t *report_page_get(const ddsc_report *r, const char *key, const char *inner);
/* The text of a value, "" where it is none. */
const char *report_page_text(const json_t *value);
/* What the tree says of a cluster. */
const json_t *report_page_cluster(const ddsc_report *r, int64_t cluster);
/* Has a cluster a name beyond its number? */
bool report_page_has_name(const ddsc_report *r, int64_t cluster);
/* The name of a cluster, the title or id of an item of the tree. */
void report_page_name(buffer *b, const ddsc_report *r, int64_t cluster);
void report_page_item(buffer *b, const json_t *item);
/* Its row; -1: none of this result. */
int64_t report_page_row(const ddsc_report *r, const json_t *item);
void report_page_answers(buffer *b, const ddsc_report *r);
/* Columns about items against the clusters. */
void report_page_about(buffer *b, const ddsc_report *r);
/* "How this was computed": figures, charts, settings, command, seconds. */
void report_page_how(buffer *b, const ddsc_report *r);

#endif
