/* render: writes a report as a terminal summary, an HTML page, figures and the files of a folder.
 * The page and the figures are generated from the tree of values, so that the page generated from a
 * saved folder is the same. */
#ifndef DDSC_REPORT_RENDER_REPORT_H
#define DDSC_REPORT_RENDER_REPORT_H

#include "report/result/result.h"

/* ---- formats ---- */

void report_summary(buffer *b, const ddsc_report *r, bool details);
/* Writes the page. `data` is the output of report_page_data; if it is NULL, the data block is
 * generated here. */
void report_page(buffer *b, const ddsc_report *r, const buffer *data);
void report_items(buffer *b, const ddsc_report *r);
/* Writes the data block of the page: map positions, labels, ids and small pictures. */
void report_page_data(buffer *b, const ddsc_report *r);
/* Functions that write members of the data block. report_data_words takes ownership of the
 * numbers and encodes them in base64, low byte first. report_data_json and report_data_string escape
 * text so that it cannot end the script element. */
void *report_data_memory(buffer *b, int64_t count, size_t size); /* zeroed; NULL after a failure */
void report_data_words(buffer *b, const char *key, uint16_t *value, int64_t n);
void report_data_json(buffer *b, const json_t *value); /* real numbers have 5 digits */
void report_data_string(buffer *b, const char *text);
/* Writes the data for the item drawer: neighbors, ambiguity, labels for other K, titles,
 * metadata and words. */
void report_data_items(buffer *b, const ddsc_report *r);
/* The transport plan from an item to its nearest neighbor: the largest flows between different
 * points, with -1 for unused entries, and the mass that does not move. */
enum { REPORT_FLOWS = 3 };
typedef struct report_flows {
    int64_t from[REPORT_FLOWS], to[REPORT_FLOWS];
    double mass[REPORT_FLOWS], stays;
} report_flows;
/* Returns the flows of every item. Returns NULL if the points have no names, if the cost is not
 * squared Euclidean, or if the plans would take too long. */
report_flows *report_find_flows(buffer *b, const ddsc_report *r);
/* Writes means, quantiles and states of points with named coordinates. */
void report_data_cells(buffer *b, const ddsc_report *r);
void report_data_order(buffer *b, const ddsc_report *r);
void report_data_pictures(buffer *b, const ddsc_report *r);
/* Appends the name set by the user ("business"), or else a name built from the explanation ("oil,
 * shares, growth"), or else "cluster 3". Names shared by several clusters are followed by the
 * cluster number. */
void report_add_name(buffer *b, const ddsc_report *r, int64_t cluster);
/* Returns true if "tree" merges all clusters and there are at least three clusters. */
bool report_has_merges(const ddsc_report *r);
bool report_has(const ddsc_report *r, ddsc_report_form form);
void report_text(buffer *b, const ddsc_report *r, ddsc_report_form form);
/* Passes the text to the caller's function and then frees the text. */
ddsc_status report_hand_out(buffer *b, ddsc_write_fn write, void *user);

/* ---- files of a folder ---- */

/* These functions load graph.mtx, embedding.npy and sweep.csv into a report whose rows are known.
 * */
ddsc_status report_load_graph(ddsc_report *r, const char *path);
ddsc_status report_load_embedding(ddsc_report *r, const char *path);
ddsc_status report_load_sweep(ddsc_report *r, const char *path);

typedef struct report_path {
    const char *folder;
    char *text; /* owned */
    size_t size;
} report_path;

ddsc_status report_path_new(ddsc_context *ctx, report_path *p, const char *folder);
/* Returns "folder/name". The text is valid until the next call. */
const char *report_path_of(report_path *p, const char *name);
/* Reads result.json into r->tree, r->n_rows and r->k, in the current format. */
ddsc_status report_load_tree(ddsc_report *r, report_path *path);

/* Appends the candidates for K with their reasons. Returns false if K was specified. */
bool report_add_candidates(buffer *t, const ddsc_report *r);

#endif
