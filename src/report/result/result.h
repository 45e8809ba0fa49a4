/* result: the struct of a report and its rows, and functions that build its tree of values, which
 * becomes result.json. The module traits describes the clusters, content fills the tree, render
 * turns it into text, a page and figures, and diff compares two results.
 *
 * All five modules use only the public API of the library, as a program would, plus base and
 * io/stream. Their public functions open a result_call. Until it is closed, nested public
 * calls do not clear the error message or the cancellation state, and numbers use a decimal
 * point in every locale. */
#ifndef DDSC_REPORT_RESULT_RESULT_H
#define DDSC_REPORT_RESULT_RESULT_H

#include <jansson.h>
#include <locale.h>

#include "base/base.h"
#include "report/result/buffer.h"

/* Settings with all defaults. set.metric and set.graph point to the other two members. */
typedef struct result_plan {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} result_plan;

enum { RESULT_HEADLINE = 96 };

struct ddsc_report {
    ddsc_context *ctx;
    json_t *tree; /* result.json; the source of all text in the page and figures */
    bool lost;    /* true if the tree is incomplete because memory was exhausted */
    bool saved;   /* true if read from a folder; fields derived from `from` are empty */
    ddsc_report_source from;
    ddsc_report_origin origin; /* from.origin, or zeros */
    result_plan plan;          /* the settings of `from`, or the defaults */
    ddsc_pair_stats pairs;
    ddsc_compress_report compress;
    ddsc_clustering_view view; /* only n, k and labels are set if there is no clustering */
    ddsc_graph_view edges;     /* n = 0 without a graph */
    ddsc_d2_view centers;      /* n = 0 without d2 */
    ddsc_stability_view trust; /* n = 0 without a stability run */
    ddsc_verdict *verdict;     /* NULL without clusters */
    char headline[RESULT_HEADLINE];
    /* Arrays indexed by input row. */
    int64_t n_rows, k;
    int32_t *label; /* -1 for dropped rows */
    int32_t *shown; /* reported labels: -1 for dropped items and for excluded outliers */
    double *xy;     /* n_rows x 2, NaN for dropped rows; NULL: no map */
    int32_t *class; /* index in scores.confusion.classes, or -1; NULL if classes are unknown */
    int64_t *item;  /* item of each row, -1 for dropped rows */
    const ddsc_measures
        *measures; /* source of ids and, for planar items, of pictures; NULL: ids are row numbers */
    ddsc_measures *own_measures; /* owned, if read from a folder */
    ddsc_measures_view
        items; /* view of `measures`, which contains the rows that were not dropped, in order */
    /* Arrays indexed by item. Items are in the order of the rows that were not dropped. */
    int64_t *row;
    int64_t *size; /* size of each cluster */
    double *distance, *ambiguity;
    int32_t *next;
    const double *coords; /* n x n_coords: rows of the embedding, or NULL */
    int64_t n_coords;
    const int32_t *tried; /* n_tried x n: labels of each K in the sweep; NULL for a single K */
    int64_t n_tried;
    /* Owners of these arrays and of the graph if they were read from a folder. */
    double *own_coords, *own_d2;
    int32_t *own_tried, *own_index;
    int64_t *own_offset;
    int64_t *order;  /* rank of each item along the first diffusion direction; NULL: unknown */
    double *outlier; /* outlier scores; NULL, as is outlying, if there is no graph */
    int32_t *outlying;
    double outlier_from;
    int64_t n_outlying;
    double *membership; /* n x k, or NULL */
    ddsc_membership_report membership_fit;
    bool scored;
    ddsc_scores scores, *sweep_scores; /* scores of each K in the sweep, or NULL */
    ddsc_theory theory;                /* n = 0 if there are no known classes or no graph */
    int64_t *intra, *inter;
    double *xi;
};

/* ---- scope of a public call ---- */

typedef struct result_call {
    ddsc_context *ctx;
    locale_t before, plain;
} result_call;

result_call result_call_begin(ddsc_context *ctx);
void result_call_end(result_call *call);

/* ---- properties of the source ---- */

bool result_certified(const ddsc_report *r);
/* Returns true if the items were compared by a metric. */
bool result_by_metric(const ddsc_report *r);
const char *result_method(const ddsc_report *r);
const ddsc_graph *result_graph(const ddsc_report *r);
/* Returns the sweep row of the chosen K, or NULL. */
const ddsc_k_row *result_chosen(const ddsc_report *r);

/* ---- rows ---- */

enum { RESULT_ID = 24 };
/* Returns the id of any input row. If rows have no ids, writes the number of the row to `space`. */
const char *result_row_id(const ddsc_report *r, int64_t row, char space[RESULT_ID]);
/* Returns the id shown on the page, which is "" for a dropped row. */
const char *result_id(const ddsc_report *r, int64_t row, char space[RESULT_ID]);
/* Returns the row of the measures, which is the index of titles and metadata, or -1 for a dropped
 * row. */
int64_t result_measures_row(const ddsc_report *r, int64_t row);
/* Fills r->row and r->item from r->label. Sets *n_kept to the number of rows that were not dropped.
 * */
ddsc_status result_index(ddsc_report *r, int64_t *n_kept);
/* Fills r->class from the known classes. Does nothing if there is no confusion table. */
ddsc_status result_classes(ddsc_report *r, const int32_t *truth);
/* Moves the values of items to their rows in place, and fills dropped rows with NaN. */
void result_spread(double *block, int64_t n_columns, const ddsc_report *r);
bool result_has_pictures(const ddsc_report *r);
/* Returns true if the points have names that are not types, such as words. */
bool result_has_words(const ddsc_report *r);
/* Converts r->tree, the result.json of a version without format_version, to the current format. */
ddsc_status result_upgrade(ddsc_report *r);
/* Returns true if the item is an outlier and the result excludes outliers from its clusters. */
bool result_left_out(const ddsc_report *r, int64_t item);

/* ---- as text ---- */

/* Converts any bytes to a JSON string. If the text is not UTF-8, which is possible for file names
 * and ids, each byte of 0x80 or more becomes '?'. Returns NULL if memory is exhausted. */
json_t *result_string(const char *value);
/* Items with a larger ambiguity are between two clusters. The ambiguity of an item on the boundary
 * is 0.5. */
#define RESULT_AMBIGUOUS 0.45
/* Returns the name that the user gave to a cluster, or NULL. */
const char *result_cluster_name(const json_t *cluster);

#endif
