/* result_items: the items of a result and their metadata columns, which are the input of the verbs
 * `test` and `order`. */
#ifndef DDSC_CLI_RESULT_ITEMS_H
#define DDSC_CLI_RESULT_ITEMS_H

#include "cli.h"

typedef struct result_items {
    ddsc_model *model;
    ddsc_model_view view;
    cli_input in;    /* in.measures: the items, with the columns of --meta and after --per-item */
    int64_t *points; /* per item: number of points, after --per-item */
    bool *is_small;  /* per item: fewer points than --per-item */
    int64_t n_small;
    const char **columns; /* names of the metadata columns; NULL after the last */
    const char **value;   /* n_items: buffer for result_items_column */
    char *log_points;     /* n_items: numbers as text, for the column log_points */
} result_items;

/* The name of a column that every result has: the logarithm of each item's number of points. */
#define LOG_POINTS "log_points"

/* Opens the model of the folder in the first operand, joins the tables of --meta, and draws
 * --per-item points from each item. */
bool result_items_open(session *s, result_items *items, int *code);
/* Returns the values of the column with the given name, one per item. The values are valid until
 * the next call. If there is no such column, prints a message and returns NULL. */
const char *const *result_items_column(session *s, result_items *items, const char *name,
                                       int *code);
void result_items_close(result_items *items);
const char *result_items_id(const result_items *items, int64_t item);
/* Computes the squared distances of all pairs with the metric of the result. Rejects estimates that
 * may be negative. The caller frees the matrix with free(). */
double *result_items_distances(session *s, result_items *items, int *code);
/* Reads a matrix of distances (not squared) between the items. The caller frees it with free(). */
double *result_items_read_distances(session *s, const result_items *items, const char *path,
                                    int *code);

#endif
