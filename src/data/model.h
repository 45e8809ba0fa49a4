/* The model of a clustering, which is needed to assign new items to its clusters. src/cluster
 * creates models, and src/io/format reads and writes them. */
#ifndef DDSC_DATA_MODEL_H
#define DDSC_DATA_MODEL_H

#include "data/measures.h"

/* Version 1: new items use their nearest neighbors. Version 2 adds scales for choosing
 * neighbors. */
enum { MODEL_PLAIN = 1, MODEL_VERSION = 2 };

#define MODEL_REACH_MOST 1e300

/* A mixture of multinomial distributions over words, one per cluster. It is empty if n_words = 0.
 * Word w of the mixture is word[w] of the counts of the items. */
typedef struct word_mixture {
    int64_t n_words, k;
    int32_t *word;   /* n_words, ascending */
    double *theta;   /* n_words x k: probability of the word in the cluster, positive */
    double *share;   /* k: share of the items, positive */
    double softness; /* memberships are proportional to likelihoods to the power 1 / softness */
} word_mixture;

ddsc_status model_copy_mixture(ddsc_context *ctx, word_mixture *to, const word_mixture *from);
void model_free_mixture(ddsc_context *ctx, word_mixture *mix);

/* Resolved settings that are needed only to repeat or update the run. The frame is FRAME_NONE in
 * models of version 0.2.0, which have none of these settings. */
typedef struct model_run {
    pair_frame frame;
    int64_t mmd_features, lot_components; /* new items are assigned without these approximations */
    int64_t neighbors, paper;
    double sample, sample_columns, min_cluster;
    int64_t seed, k; /* k: number of clusters that was requested or chosen */
    int64_t next_id; /* numbers from here on were never ids; 0 if the ids of the items tell */
} model_run;

/* Settings as they were requested, before values were chosen from the data. Models that do not
 * store these settings have the defaults. */
typedef struct model_rules {
    int64_t tau, hubs, gamma_rule, bandwidth_rule, estimator, reference_rule, reference_size;
    double epsilon;
    int64_t epsilon_is_percent;
} model_rules;

struct ddsc_model {
    ddsc_context *ctx;
    measures *items;             /* labeled by cluster; all rows are items */
    measures *reference;         /* the LOT reference as a set of one item, or NULL */
    double *cost_matrix;         /* metric.cost_size rows and columns, or NULL */
    ddsc_metric_settings metric; /* resolved: no setting depends on the data */
    int64_t n, k, tau;
    double gamma;         /* 0 selects local scaling */
    double far_distance;  /* quantile of the distances to the far_neighbor-th neighbor */
    int64_t far_neighbor; /* counted from 1 */
    int64_t width;        /* columns of the embedding */
    double *embedding;    /* n x width: unit rows, zero if an item has no embedding */
    double *radius;       /* n: length of a row before normalization, divided by sqrt(degree) */
    double *eigenvalue;   /* width eigenvalues of the normalized affinity matrix */
    double *scale;        /* n: s_i of local scaling */
    double least_scale;   /* lower limit of the scales */
    double *reach;        /* n: largest D^2 to a neighbor; MODEL_REACH_MOST if any is unknown */
    double *hub_scale; /* n: divisors of D^2 when neighbors are chosen; NULL: D^2 is not divided */
    int64_t n_centers;
    double *center; /* n_centers x width */
    int32_t *center_label;
    word_mixture mixture; /* n_words = 0 unless word counts refined the labels */
    double softness;      /* softness of memberships computed from distances; 0: unknown */
    model_run run;
    model_rules rules;
    int32_t *fresh; /* n_fresh: items inserted since K was chosen, ascending */
    int64_t n_fresh;
    /* The neighbor lists of the graph, as in ddsc_graph_view. NULL in models of version 0.2.0. */
    int64_t *list_offset; /* n + 1 */
    int32_t *list_index;
    double *list_d2;
    /* The nearest items by D^2, from which hub_scale was computed. NULL if hub_scale is NULL, and
     * in older models. */
    int64_t *plain_offset;
    int32_t *plain_index;
    double *plain_d2;
    void *block; /* shared memory, as in measures */
};

/* Sends the model of the first rank to all ranks. Each machine stores the arrays once. Must be
 * called by all ranks. */
ddsc_status model_move(ddsc_context *ctx, ddsc_model **model);

/* Checks that every number is finite and in range, and that labels and centers are less than k.
 * Returns a description of the first violation, or NULL. */
const char *model_breach(const ddsc_model *m);

#endif
