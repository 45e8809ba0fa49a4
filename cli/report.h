/* report: plain data in, text out. JSON, SVG pictures and HTML pages that need no other file. */
#ifndef DDSC_CLI_REPORT_H
#define DDSC_CLI_REPORT_H

#include <jansson.h>

#include "cli.h"

/* ---- JSON ---- */

/* A key with a value; `value` is taken over. Running out of memory ends the program. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_text(json_t *object, const char *key, const char *value); /* any bytes */
void json_put_count(json_t *object, const char *key, int64_t value);
void json_put_count_or_auto(json_t *object, const char *key, int64_t value); /* 0: "auto" */
void json_put_real(json_t *object, const char *key, double value);           /* NaN, inf: null */
void json_put_bool(json_t *object, const char *key, bool value);
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);
void json_add(json_t *array, json_t *value);
json_t *json_from_text(const char *value);
/* Keys in the order they were put, 15 digits, a final newline; `root` is taken over. */
void json_to_text(text *t, json_t *root);
/* Print on standard output; `root` is taken over. */
bool json_print(session *s, json_t *root, int *code);
void json_put_scores(json_t *object, const ddsc_scores *scores);
void json_put_pairs(json_t *object, const ddsc_pair_stats *pairs);
/* Figures by name under "details"; nothing where there are none. */
void json_put_details(json_t *object, const ddsc_detail *details, int64_t n);
/* Nothing for an exact metric. */
void json_put_approximation(json_t *object, const cli_options *o, const ddsc_pair_stats *pairs);
/* With --resume: pairs taken from an earlier run. */
void json_put_plan(json_t *object, const session *s);
void json_put_resumed(json_t *object, const session *s);
/* With --sample-columns: how many, and the error of the other distances. */
void json_put_columns(json_t *object, const ddsc_graph_view *graph);
/* What the metric was set to; only what it reads. */
json_t *json_metric(const cli_options *o);

/* ---- SVG ---- */

typedef struct svg_panel {
    const char *title;
    const int32_t *label; /* n_items */
} svg_panel;

/* Every panel draws every item (of a planar set) in a cell of its own, coloured by the label.
 * standalone: a file of its own, with its colours. */
void svg_shapes(text *t, const ddsc_measures_view *items, const svg_panel *panels, int n_panels,
                bool standalone);
/* ---- HTML ---- */

/* The page asks its reader's browser for nothing from elsewhere, and to run nothing but its own
 * script. */
void html_begin(text *t, const char *title);
void html_end(text *t, bool script);
void html_heading(text *t, const char *heading);
void html_paragraph(text *t, const char *words);
/* A table: begin, rows of cells, end. Cells are escaped; numbers stand right. */
void html_table_begin(text *t, const char *const *heads); /* NULL-terminated, or NULL: no heads */
void html_row_begin(text *t);
void html_cell(text *t, const char *words);
void html_cell_count(text *t, int64_t count);
void html_cell_real(text *t, double value);
void html_cell_cluster(text *t, int32_t label); /* its number, with its colour */
void html_row_end(text *t);
void html_table_end(text *t);
/* One row of two cells. */
void html_pair(text *t, const char *key, const char *value);
/* Every key of a flat object as a pair. */
void html_object(text *t, const json_t *object);

#endif
