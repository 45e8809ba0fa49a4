/* content: the content of a result, a tree of values that becomes result.json: verdict, outliers, merges of clusters,
 * words or markers of each cluster, scores, theory, settings, times. The module render makes text, page and pictures
 * from it. Both use the public calls alone, as a program would, and of the library only base and io/stream. Their own
 * public calls open a result_call: the calls inside it do not clear the message and the cancellation of the outer one,
 * and numbers have a decimal point in every locale. */
#ifndef DDSC_REPORT_CONTENT_RESULT_H
#define DDSC_REPORT_CONTENT_RESULT_H

#include <jansson.h>
#include <locale.h>

#include "base/base.h"
#include "report/content/buffer.h"

/* Settings with all defaults: set.metric and set.graph point at the two beside it. */
typedef struct result_plan {
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} result_plan;

enum { RESULT_HEADLINE = 96 };

struct ddsc_report {
    ddsc_context *ctx;
    json_t *tree; /* result.json; all that the page and the pictures tell in words */
    bool lost;    /* the tree ran out of memory */
    bool saved;   /* read from a folder: what is made from `from` is not there */
    ddsc_report_source from;
    ddsc_report_origin origin; /* of `from`, or empty */
    result_plan plan;          /* the settings of `from`, or the defaults */
    ddsc_pair_stats pairs;
    ddsc_compress_report compress;
    ddsc_clustering_view view; /* without a clustering: n, k and labels only */
    ddsc_graph_view edges;     /* n = 0 without a graph */
    ddsc_d2_view centers;      /* n = 0 without d2 */
    ddsc_stability_view trust; /* n = 0 without one */
    ddsc_verdict *verdict;     /* NULL: no clusters */
    char headline[RESULT_HEADLINE];
    /* Over input rows. */
    int64_t n_rows, k;
    int32_t *label;                /* -1: dropped */
    int32_t *shown;                /* as told: -1 for outliers too where they are left out */
    double *xy;                    /* n_rows x 2, NaN for dropped rows; NULL: no map */
    int32_t *class;                /* place in scores.confusion.classes, -1; or NULL */
    int64_t *item;                 /* of each row, -1 for dropped ones */
    const ddsc_measures *measures; /* ids and, when planar, pictures; NULL: rows are numbers */
    ddsc_measures *own_measures;   /* the same, when read from a folder */
    ddsc_measures_view items;      /* of measures: the rows that were not dropped, in order */
    /* Over items, in the order of the rows that were kept. */
    int64_t *row;
    int64_t *size; /* of each cluster */
    double *distance, *doubt;
    int32_t *next;
    const double *coords; /* n x n_coords: rows of the embedding; NULL: none */
    int64_t n_coords;
    const int32_t *tried; /* n_tried x n: labels of each K of the sweep; NULL: one K */
    int64_t n_tried;
    /* What these and the graph stand in where they were read from a folder. */
    double *own_coords, *own_d2;
    int32_t *own_tried, *own_index;
    int64_t *own_offset;
    int64_t *order;  /* along the first direction of diffusion; NULL: not known */
    double *outlier; /* score; these two: NULL without a graph */
    int32_t *outlying;
    double outlier_from;
    int64_t n_outlying;
    bool scored;
    ddsc_scores scores, *sweep_scores; /* n_sweep, or NULL */
    ddsc_theory theory;                /* n = 0: no truth or no graph */
    int64_t *intra, *inter;
    double *xi;
};

/* ---- a public call at work ---- */

typedef struct result_call {
    ddsc_context *ctx;
    locale_t before, plain;
} result_call;

result_call result_call_begin(ddsc_context *ctx);
void result_call_end(result_call *call);

/* ---- what the source says ---- */

bool result_certified(const ddsc_report *r);
/* Were items compared by a metric? */
bool result_by_metric(const ddsc_report *r);
const char *result_method(const ddsc_report *r);
const char *result_metric_name(ddsc_metric metric);
/* Is it the metric, or one of those joined to it? */
bool result_uses(const ddsc_report *r, ddsc_metric metric);
/* "w2", or "w2+mmd" where metrics were joined. */
enum { RESULT_METRICS = 48 };
/* The cost that was asked for; NULL: the metric's own. */
const char *result_cost_given(const ddsc_report *r);
const char *result_metric_names(const ddsc_report *r, char space[RESULT_METRICS]);
const ddsc_graph *result_graph(const ddsc_report *r);
/* The row of the sweep that belongs to the K chosen, or NULL. */
const ddsc_k_row *result_chosen(const ddsc_report *r);

/* ---- rows ---- */

enum { RESULT_ID = 24 };
/* The id of an input row, dropped or not; `space` holds it where rows are numbers. */
const char *result_row_id(const ddsc_report *r, int64_t row, char space[RESULT_ID]);
/* The same for the page: "" for a dropped row. */
const char *result_id(const ddsc_report *r, int64_t row, char space[RESULT_ID]);
/* Its row among the measures, where titles and columns about items stand. */
int64_t result_measures_row(const ddsc_report *r, int64_t row);
/* Rows and items find each other by r->label; *n_kept of them were not dropped. */
ddsc_status result_index(ddsc_report *r, int64_t *n_kept);
/* r->class from the truth; nothing without a confusion. */
ddsc_status result_classes(ddsc_report *r, const int32_t *truth);
/* Item values to row values in place, dropped rows NaN. */
void result_spread(double *block, int64_t n_columns, const ddsc_report *r);
bool result_has_pictures(const ddsc_report *r);
/* How items stand in their clusters: r->distance, doubt and next from r->coords and labels of items. */
ddsc_status result_find_standing(ddsc_report *r, const int32_t *labels, int64_t n);
/* An outlier of a result that leaves them out: it counts in no cluster. */
bool result_left_out(const ddsc_report *r, int64_t item);

/* ---- in a few words ---- */

/* File names and ids need not be UTF-8, JSON must be: odd bytes become '?'. NULL: no memory. */
json_t *result_string(const char *value);
/* The agreement of halves in a word. */
const char *result_agreement_word(double halves);
/* "batch (Cramer's V 0.93, p 0.001)" of a row of "about". */
void result_add_about(buffer *t, const json_t *row);
/* The name that a cluster was given, or NULL. */
const char *result_cluster_name(const json_t *cluster);
/* "oil, shares, growth" or "CD20 +0.81, pS6 -0.40"; nothing where nothing is known. */
void result_add_traits(buffer *t, const json_t *cluster, size_t most);

/* ---- times ---- */

/* seconds: as they stand now, with all stages so far. */
void result_renew_seconds(const ddsc_report *r);
/* The run until now: list[1 .. n) and what was in no stage add up to the total. */
typedef struct result_times {
    const stage_time *list;
    int64_t n;
    double other, total;
} result_times;
result_times result_times_now(const ddsc_report *r);

#endif
