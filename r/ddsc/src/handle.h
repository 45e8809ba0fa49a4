/* Handles: library objects owned by R. All C files of the package include this header.
 *
 * R reports errors with longjmp, which skips the rest of a C function. Every library object is
 * therefore stored in a handle, whose external pointer exists before the object does. If R leaves
 * a function early, the garbage collector destroys the handle and its objects. */
#ifndef DDSC_R_HANDLE_H
#define DDSC_R_HANDLE_H

#include <ddsc/ddsc.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <stdbool.h>

/* Settings of all calls. `metric` and `graph` are referenced by `cluster`. */
typedef struct settings {
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
    ddsc_cluster_settings cluster;
    ddsc_transform_settings transform;
    ddsc_read_settings read;
} settings;

/* A text buffer that grows with malloc, because the library's callbacks must not call R. */
typedef struct growing_text {
    char *bytes;
    size_t n, room;
    bool failed;
} growing_text;

typedef struct handle {
    int references; /* the external pointer, and the handles whose objects use this one's objects */
    struct handle *parent;
    ddsc_context *ctx;
    ddsc_status status; /* of the last call */
    bool interrupted;
    growing_text warnings; /* one per line */
    growing_text output;
    char stage[64]; /* the stage shown last */
    ddsc_measures *set;
    ddsc_graph *graph;
    ddsc_clustering *clustering;
    ddsc_report *report;
    ddsc_model *model;
    settings settings; /* settings of the clustering, which its report and model need */
} handle;

/* Creates a handle with a context. `run` is list(seed, threads, verbose). The result must be
 * protected. `keep` is any R object that must live as long as the handle. */
SEXP handle_new(SEXP run, handle *parent, SEXP keep);
/* Returns the handle. Stops with an R error if it was created in another session. */
handle *handle_get(SEXP pointer);
/* Begins a call on an existing handle. */
void handle_begin(handle *h);
/* Replaces the set of the handle with a copy that was derived from it, unless `status` is an error.
 * */
bool handle_replace_set(handle *h, ddsc_status status, ddsc_measures *const *copy);
/* Returns the result of a call: list(value, status, kind, message, warnings, interrupted). */
SEXP handle_answer(const handle *h, SEXP value);

int text_write(void *text, const void *bytes, size_t n_bytes); /* a ddsc_write_fn */
/* Returns the text as an R string. */
SEXP text_string(const growing_text *text);
void text_free(growing_text *text);
/* Returns a UTF-8 string, or NA for NULL. */
SEXP string_of(const char *bytes);
/* Returns an R list with these names, all of whose elements are NULL. Protected once. */
SEXP named_list(int n, const char *const *names);

/* Fills the settings from a named list of numbers and strings. Stops with an R error if the table
 * in settings.c does not contain a name. Strings are valid until the .Call returns. */
void settings_fill(settings *set, SEXP list);

#endif
