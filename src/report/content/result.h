/* content: builds the tree of values that becomes result.json. It holds the verdict, outliers,
 * merges of clusters, words or markers of each cluster, scores, theory, settings and times. The
 * module render turns the tree into text, a page and figures.
 *
 * Both modules use only the public API of the library, as a program would, plus base and
 * io/stream. Their own public functions open a result_call. Until it is closed, nested public
 * calls do not clear the error message or the cancellation state, and numbers use a decimal
 * point in every locale. */
#ifndef DDSC_REPORT_CONTENT_RESULT_H
#define DDSC_REPORT_CONTENT_RESULT_H

#include <jansson.h>
#include <locale.h>

#include "base/base.h"
#include "report/content/buffer.h"

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
    bool lost;    /* the tree is incomplete because memory ran out */
    bool saved;   /* read from a folder, so fields derived from `from` are empty */
    ddsc_report_source from;
    ddsc_report_origin origin; /* from.origin, or zeros */
    result_plan plan;          /* the settings of `from`, or the defaults */
    ddsc_pair_stats pairs;
    ddsc_compress_report compress;
    ddsc_clustering_view view; /* has only n, k and labels if there is no clustering */
    ddsc_graph_view edges;     /* n = 0 without a graph */
    ddsc_d2_view centers;      /* n = 0 without d2 */
    ddsc_stability_view trust; /* n = 0 without a stability run */
    ddsc_verdict *verdict;     /* NULL without clusters */
    char headline[RESULT_HEADLINE];
    /* Arrays indexed by input row. */
    int64_t n_rows, k;
    int32_t *label;                /* -1 for dropped rows */
    int32_t *shown;                /* as reported: -1 also for excluded outliers */
    double *xy;                    /* n_rows x 2, NaN for dropped rows; NULL: no map */
    int32_t *class;                /* index in scores.confusion.classes, or -1; NULL if not known */
    int64_t *item;                 /* item of each row, -1 for dropped rows */
    const ddsc_measures *measures; /* ids and, if planar, pictures; NULL: ids are row numbers */
    ddsc_measures *own_measures;   /* owned, if read from a folder */
    ddsc_measures_view items;      /* view of `measures`: rows that were not dropped, in order */
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
    int64_t *order;  /* items along the first diffusion direction; NULL: unknown */
    double *outlier; /* outlier score; this and outlying are NULL without a graph */
    int32_t *outlying;
    double outlier_from;
    int64_t n_outlying;
    double *membership; /* n x k, or NULL */
    ddsc_membership_report membership_fit;
    bool scored;
    ddsc_scores scores, *sweep_scores; /* scores of each K in the sweep, or NULL */
    ddsc_theory theory;                /* n = 0 without known classes or without a graph */
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
const char *result_metric_name(ddsc_metric metric);
/* Returns true if `metric` is the metric of the run or one of the joined metrics. */
bool result_uses(const ddsc_report *r, ddsc_metric metric);
/* Buffer size for the names of the metrics, for example "w2", or "w2+mmd" for joined metrics. */
enum { RESULT_METRICS = 48 };
/* Returns the requested cost, or NULL for the default cost of the metric. */
const char *result_cost_given(const ddsc_report *r);
const char *result_metric_names(const ddsc_report *r, char space[RESULT_METRICS]);
const ddsc_graph *result_graph(const ddsc_report *r);
/* Returns the sweep row of the chosen K, or NULL. */
const ddsc_k_row *result_chosen(const ddsc_report *r);

/* ---- rows ---- */

enum { RESULT_ID = 24 };
/* Returns the id of an input row, dropped or not. If rows have no ids, their number is written
 * to `space`. */
const char *result_row_id(const ddsc_report *r, int64_t row, char space[RESULT_ID]);
/* Returns the id shown on the page, which is "" for a dropped row. */
const char *result_id(const ddsc_report *r, int64_t row, char space[RESULT_ID]);
/* Returns the row of the measures, which index titles and metadata, or -1 for a dropped row. */
int64_t result_measures_row(const ddsc_report *r, int64_t row);
/* Fills r->row and r->item from r->label. *n_kept is the number of rows that were not dropped. */
ddsc_status result_index(ddsc_report *r, int64_t *n_kept);
/* Fills r->class from the known classes. Does nothing without a confusion table. */
ddsc_status result_classes(ddsc_report *r, const int32_t *truth);
/* Moves the values of items to their rows in place, and fills dropped rows with NaN. */
void result_spread(double *block, int64_t n_columns, const ddsc_report *r);
bool result_has_pictures(const ddsc_report *r);
/* Returns true if the points have names of their own, as words have, and not types. */
bool result_has_words(const ddsc_report *r);
/* Converts r->tree, the result.json of a version without format_version, to the current format. */
ddsc_status result_upgrade(ddsc_report *r);
/* Computes r->distance, r->ambiguity and r->next from r->coords and the labels of the items. */
ddsc_status result_find_standing(ddsc_report *r, const int32_t *labels, int64_t n);
/* Returns true if the item is an outlier and the result excludes outliers from its clusters. */
bool result_left_out(const ddsc_report *r, int64_t item);

/* ---- as text ---- */

/* Converts any bytes to a JSON string. If the text is not UTF-8, as file names and ids may be,
 * each byte of 0x80 or more becomes '?'. Returns NULL if memory runs out. */
json_t *result_string(const char *value);
/* Items with a larger ambiguity lie between two clusters. The ambiguity of an item on the boundary
 * is 0.5. */
#define RESULT_AMBIGUOUS 0.45
/* Returns true if the next step of the level applies. One cluster, clusters of one item each, and the
 * clusters of methods without a graph are not judged; the advice has a note on the first two. */
bool result_has_next_step(const ddsc_report *r);
/* Returns true if a row of "about" is a finding: significant after Holm's correction, and not a
 * tiny effect that only a large set makes significant. */
bool result_is_association(const json_t *row);
/* Describes the agreement between halves in one or two words. */
const char *result_agreement_word(double halves);
/* Appends a row of "about" as text, for example "batch (Cramer's V 0.93, corrected p 0.001)". */
void result_add_about(buffer *t, const json_t *row);
/* Returns the name that the user gave to a cluster, or NULL. */
const char *result_cluster_name(const json_t *cluster);
/* Appends a description, for example "oil, shares, growth" or "CD20 +0.81, pS6 -0.40". Appends
 * nothing if the cluster has no explanation. */
void result_add_traits(buffer *t, const json_t *cluster, size_t most);

/* ---- times ---- */

/* Updates "seconds" in the tree to include all stages so far. */
void result_renew_seconds(const ddsc_report *r);
/* Times of the run so far. The total is the sum of list[1] to list[n - 1] and of `other`, the
 * time outside all stages. */
typedef struct result_times {
    const stage_time *list;
    int64_t n;
    double other, total;
} result_times;
result_times result_times_now(const ddsc_report *r);

#endif
