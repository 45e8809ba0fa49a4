/* The model of a clustering: what it takes to put new items into its clusters. Made in cluster/,
 * read and written in format/. */
#ifndef DDSC_DATA_MODEL_H
#define DDSC_DATA_MODEL_H

#include "data/measures.h"

/* Models whose new items take the nearest are of version 1; with scales to choose by, of 2. */
enum { MODEL_PLAIN = 1, MODEL_VERSION = 2 };

#define MODEL_REACH_MOST 1e300

struct ddsc_model {
    ddsc_context *ctx;
    measures *items;             /* labelled by cluster, every row an item */
    measures *reference;         /* of LOT, one item; else NULL */
    double *cost_matrix;         /* metric.cost_size rows and columns; or NULL */
    ddsc_metric_settings metric; /* resolved: no rule is left to look at the data for */
    int64_t n, k, tau;
    double gamma;          /* 0: local scaling */
    double far_distance;   /* quantile of the distances to the far_neighbour-th neighbour */
    int64_t far_neighbour; /* from 1 */
    int64_t width;         /* columns of the embedding */
    double *embedding;     /* n x width: unit rows, zero where an item has none */
    double *radius;        /* n: length of a row before it was normalised, over sqrt(degree) */
    double *eigenvalue;    /* width, of the normalised affinity */
    double *scale;         /* n: s_i of local scaling */
    double least_scale;    /* no scale is smaller */
    double *reach;         /* n: D^2 of the farthest neighbour in the graph, MODEL_REACH_MOST where
                              not all are known */
    double *hub_scale;     /* n: neighbours are chosen by D^2 over this; NULL: the nearest */
    int64_t n_centres;
    double *centre; /* n_centres x width */
    int32_t *centre_label;
    void *block; /* as of measures */
};

/* The model of the first rank, given to all; its arrays are once on each machine. Collective. */
ddsc_status model_move(ddsc_context *ctx, ddsc_model **model);

/* Every number finite and in range, labels and centres within k; the text of the first breach, or
 * NULL. */
const char *model_breach(const ddsc_model *m);

#endif
