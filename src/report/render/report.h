/* report: what a result says (the room result), told in several forms: lines for people, a page,
 * pictures, the files of a folder. All of them are made of the tree of values, so that a folder read
 * back gives the same page. */
#ifndef DDSC_REPORT_RENDER_REPORT_H
#define DDSC_REPORT_RENDER_REPORT_H

#include "report/content/result.h"

/* ---- forms ---- */

void report_summary(buffer *b, const ddsc_report *r);
/* data: of report_page_data, or NULL to make it here. */
void report_page(buffer *b, const ddsc_report *r, const buffer *data);
void report_items(buffer *b, const ddsc_report *r);
/* The block of data behind the map: places, labels, ids and small pictures. */
void report_page_data(buffer *b, const ddsc_report *r);
/* Members of that block. Numbers are taken over and stand in base64, low byte first; texts cannot end
 * the script element they stand in. */
void *report_data_memory(buffer *b, int64_t count, size_t size); /* zeroed; NULL: failed */
void report_data_words(buffer *b, const char *key, uint16_t *value, int64_t n);
void report_data_string(buffer *b, const char *text);
/* What the drawer of an item tells: neighbours, doubt, labels of other K, titles, columns, words. */
void report_data_items(buffer *b, const ddsc_report *r);
/* The plan of an item to its nearest neighbour: points of the largest flows between different ones, -1 behind the
 * last, and the mass that stays. */
enum { REPORT_FLOWS = 3 };
typedef struct report_flows {
    int64_t from[REPORT_FLOWS], to[REPORT_FLOWS];
    double mass[REPORT_FLOWS], stays;
} report_flows;
/* One per item; NULL where points have no names, another cost was used, or plans would take long. */
report_flows *report_find_flows(buffer *b, const ddsc_report *r);
void report_data_pictures(buffer *b, const ddsc_report *r);
/* "business", else "oil, shares, growth", else "cluster 3"; names made for two clusters get numbers. */
void report_add_name(buffer *b, const ddsc_report *r, int64_t cluster);
/* Does "tree" of the tree merge all clusters, of three or more? */
bool report_has_merges(const ddsc_report *r);
bool report_has(const ddsc_report *r, ddsc_report_form form);
void report_text(buffer *b, const ddsc_report *r, ddsc_report_form form);
/* To the caller; frees the text. */
ddsc_status report_hand_out(buffer *b, ddsc_write_fn write, void *user);

/* ---- files of a folder ---- */

/* Into the report at hand, which has its rows: graph.mtx, embedding.npy, sweep.csv. */
ddsc_status report_load_graph(ddsc_report *r, const char *path);
ddsc_status report_load_embedding(ddsc_report *r, const char *path);
ddsc_status report_load_sweep(ddsc_report *r, const char *path);

typedef struct report_path {
    const char *folder;
    char *text; /* free it */
    size_t size;
} report_path;

ddsc_status report_path_new(ddsc_context *ctx, report_path *p, const char *folder);
/* "folder/name", until the next one. */
const char *report_path_of(report_path *p, const char *name);

#endif
