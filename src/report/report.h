/* report: what a result says. A report is made of what the public header lends (views, handles,
 * settings) and told in several forms: a tree of values (result.json), lines for people, a page,
 * pictures, the files of a folder. It stands on the public calls, as a program would (of the room
 * cluster it knows how settings are taken); its own public calls open a report_call, under which
 * calls inside do not wipe the message and the cancelling of the one at work, and numbers have a
 * point in every locale. */
#ifndef DDSC_REPORT_REPORT_H
#define DDSC_REPORT_REPORT_H

#include <jansson.h>
#include <locale.h>

#include "cluster/cluster.h"
#include "report/buffer.h"

struct ddsc_report {
    ddsc_context *ctx;
    json_t *tree; /* result.json; all that the page and the pictures tell in words */
    bool lost;    /* the tree ran out of memory */
    bool saved;   /* read from a folder: what is made from `from` is not there */
    ddsc_report_source from;
    cluster_plan plan; /* its settings, or the defaults */
    ddsc_pair_stats pairs;
    ddsc_compress_report compress;
    ddsc_clustering_view view; /* without a clustering: n, k and labels only */
    ddsc_graph_view edges;     /* n = 0 without a graph */
    ddsc_d2_view centers;      /* n = 0 without d2 */
    ddsc_stability_view trust; /* n = 0 without one */
    cluster_gap *gap;          /* k; NULL: not looked at */
    double distances_s, kmeans_s, verdict_s;
    double began; /* when the report was asked for */
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
    bool *outlying;
    double outlier_from;
    int64_t n_outlying;
    bool scored;
    ddsc_scores scores, *sweep_scores; /* n_sweep, or NULL */
    ddsc_theory theory;                /* n = 0: no truth or no graph */
    int64_t *intra, *inter;
    double *xi;
};

/* ---- a public call at work ---- */

typedef struct report_call {
    ddsc_context *ctx;
    locale_t before, plain;
} report_call;

report_call report_call_begin(ddsc_context *ctx);
void report_call_end(report_call *call);

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
/* File names and ids need not be UTF-8, JSON must be: odd bytes become '?'. NULL: no memory. */
json_t *report_string(const char *value);

/* The whole of it in r->tree. */
ddsc_status report_tree(ddsc_report *r);
/* seconds: as they stand now, with all stages so far. */
void report_renew_seconds(const ddsc_report *r);
/* The run until now: list[1 .. n) and what was in no stage add up to the total. */
typedef struct report_times {
    const stage_time *list;
    int64_t n;
    double other, total;
} report_times;
report_times report_times_now(const ddsc_report *r);
ddsc_status report_put_settings(ddsc_report *r, json_t *root);
/* The gaps around the clusters, and what they say: r->gap, then "verdict" of the tree. */
ddsc_status report_find_gaps(ddsc_report *r);
ddsc_status report_put_verdict(ddsc_report *r, json_t *root);
/* p of "all items are samples of one law" by dealing their points anew; NaN: there are no points. */
ddsc_status report_items_differ(const ddsc_report *r, double *p_value);
/* The agreement of halves in a word. */
const char *report_agreement_word(double halves);
/* Which items lie apart: r->outlier and what follows it, then "outliers" of the tree. */
ddsc_status report_find_outliers(ddsc_report *r);
/* How clusters merge, and items in a line: "tree" of the tree of values, r->order. */
ddsc_status report_put_merges(ddsc_report *r, json_t *root);
ddsc_status report_find_order(ddsc_report *r);
void report_put_outliers(ddsc_report *r, json_t *root);
/* An outlier of a result that leaves them out: it counts in no cluster. */
bool report_left_out(const ddsc_report *r, int64_t item);
void report_put_theory(ddsc_report *r, json_t *root);
void report_put_stability(ddsc_report *r, json_t *root);
/* Typical and doubtful items of each cluster, distances between neighbours. */
ddsc_status report_put_findings(ddsc_report *r, json_t *root);
/* Columns about items against the clusters. */
ddsc_status report_put_about(ddsc_report *r, json_t *root);
/* "batch (Cramer's V 0.93, p 0.001)" of a row of "about". */
void report_add_about(buffer *t, const json_t *row);
/* The name that a cluster was given, or NULL. */
const char *report_cluster_name(const json_t *cluster);
/* Words or coordinates that tell each cluster from the others, where the set has them. */
ddsc_status report_put_explanation(ddsc_report *r);
/* The mean picture of each cluster of planar items, and its difference to the rest. */
ddsc_status report_put_means(ddsc_report *r);
/* "oil, shares, growth" or "CD20 +0.81, pS6 -0.40"; nothing where nothing is known. */
void report_add_traits(buffer *t, const json_t *cluster, size_t most);
/* Counts of classes by cluster, unless there are too many to look at. */
ddsc_status report_put_confusion(ddsc_report *r, json_t *scores);

/* ---- what the source says ---- */

bool report_certified(const ddsc_report *r);
/* Were items compared by a metric? */
bool report_by_metric(const ddsc_report *r);
const char *report_method(const ddsc_report *r);
const char *report_metric_name(ddsc_metric metric);
/* Is it the metric, or one of those joined to it? */
bool report_uses(const ddsc_report *r, ddsc_metric metric);
/* "w2", or "w2+mmd" where metrics were joined. */
enum { REPORT_METRICS = 48 };
/* The cost that was asked for; NULL: the metric's own. */
const char *report_cost_given(const ddsc_report *r);
const char *report_metric_names(const ddsc_report *r, char space[REPORT_METRICS]);
const ddsc_graph *report_graph(const ddsc_report *r);
/* The row of the sweep that belongs to the K chosen, or NULL. */
const ddsc_k_row *report_chosen(const ddsc_report *r);

/* ---- rows ---- */

enum { REPORT_ID = 24 };
/* The id of an input row, dropped or not; `space` holds it where rows are numbers. */
const char *report_row_id(const ddsc_report *r, int64_t row, char space[REPORT_ID]);
/* The same for the page: "" for a dropped row. */
const char *report_id(const ddsc_report *r, int64_t row, char space[REPORT_ID]);
/* Its row among the measures, where titles and columns about items stand. */
int64_t report_measures_row(const ddsc_report *r, int64_t row);
/* Rows and items find each other by r->label; *n_kept of them were not dropped. */
ddsc_status report_index(ddsc_report *r, int64_t *n_kept);
/* r->class from the truth; nothing without a confusion. */
ddsc_status report_classes(ddsc_report *r, const int32_t *truth);
/* Item values to row values in place, dropped rows NaN. */
void report_spread(double *block, int64_t n_columns, const ddsc_report *r);
bool report_has_pictures(const ddsc_report *r);
/* Does "tree" of the tree merge all clusters, of three or more? */
bool report_has_merges(const ddsc_report *r);
/* How items stand in their clusters: r->distance, doubt and next from r->coords and labels of items. */
ddsc_status report_find_standing(ddsc_report *r, const int32_t *labels, int64_t n);

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
