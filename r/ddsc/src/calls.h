/* The functions that R calls. Each function except r_choices returns the value of handle_answer. */
#ifndef DDSC_R_CALLS_H
#define DDSC_R_CALLS_H

#include "handle.h"

/* settings.c: returns list(name = c(choice = code, ...), ...) */
SEXP r_choices(void);

/* set.c: sets of items */
SEXP r_set_arrays(SEXP run, SEXP points, SEXP weights, SEXP offsets, SEXP on_empty);
SEXP r_set_read(SEXP run, SEXP paths, SEXP list);
SEXP r_set_describe(SEXP pointer, SEXP ids, SEXP labels, SEXP coordinates, SEXP titles,
                    SEXP meta_names, SEXP meta_values);
SEXP r_set_transform(SEXP pointer, SEXP list);
SEXP r_set_compress(SEXP pointer, SEXP m);
SEXP r_set_subset(SEXP run, SEXP pointer, SEXP items);
SEXP r_set_view(SEXP pointer);
SEXP r_set_item(SEXP pointer, SEXP item);
SEXP r_set_write(SEXP pointer, SEXP path, SEXP overwrite);

/* cluster.c: clusters, results, new items */
SEXP r_cluster(SEXP run, SEXP data, SEXP list, SEXP keep, SEXP outliers, SEXP squared);
SEXP r_result(SEXP pointer);
SEXP r_report(SEXP pointer, SEXP form);
SEXP r_save(SEXP pointer, SEXP folder, SEXP overwrite);
SEXP r_model_read(SEXP run, SEXP path);
SEXP r_model_view(SEXP pointer);
SEXP r_assign(SEXP run, SEXP pointer, SEXP items);

/* picture.c: the pictures of a report */
SEXP r_pictures(SEXP pointer);

/* distance.c: distances and scores */
SEXP r_distance(SEXP run, SEXP rows, SEXP columns, SEXP list, SEXP squared);
SEXP r_scores(SEXP run, SEXP labels, SEXP truth);

/* Creates the model of a clustering if it does not exist yet. */
bool cluster_make_model(handle *h);

#endif
