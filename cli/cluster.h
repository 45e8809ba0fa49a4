/* What one `cluster` run found, and the forms it is told in. */
#ifndef DDSC_CLI_CLUSTER_H
#define DDSC_CLI_CLUSTER_H

#include "report.h"

typedef struct cluster_result {
    session *s;
    cli_input in;
    bool has_items; /* false: the input was a distance matrix */
    int64_t n_rows;
    ddsc_clustering *clustering; /* NULL for k-means */
    ddsc_graph *graph;           /* made here, or NULL: the clustering's own */
    ddsc_clustering_view view;   /* k-means: n, k and labels only */
    ddsc_graph_view edges;       /* n = 0 without a graph */
    int32_t *vector_labels;      /* k-means: what view.labels points to */
    double inertia;              /* k-means */
    ddsc_d2 *d2;                 /* d2 and pd2, or NULL */
    ddsc_d2_view centres;
    int32_t *row_labels;    /* n_rows, -1 for dropped items */
    int64_t *size;          /* of each cluster */
    const char *truth_name; /* NULL: no scores */
    const int32_t *truth;   /* n_rows classes, or NULL */
    int32_t *read_truth;    /* the same where it was read here */
    ddsc_scores scores;
    ddsc_scores *sweep_scores; /* n_sweep, or NULL */
    ddsc_theory theory;        /* n = 0: no truth or no graph */
    int64_t *intra, *inter;
    double *xi; /* of each item */
    ddsc_stability *stability;
    ddsc_stability_view trust; /* n = 0 without --stability */
    double *distance, *doubt;  /* n each: how items stand in their clusters, or NULL */
    int32_t *next;
    json_t *confusion; /* classes against clusters, or NULL */
    double *map;       /* n_rows x 2, or NULL; made with the files */
    double read_s, distances_s, eigen_s, kmeans_s, total_s;
} cluster_result;

bool cluster_certified(const cluster_result *r);
/* The row of the sweep that belongs to the K chosen, or NULL. */
const ddsc_k_row *cluster_chosen(const cluster_result *r);
const char *cluster_id(const cluster_result *r, int64_t row, char *room, size_t size);

void cluster_plain_view(cluster_result *r, int64_t n, int64_t k, const int32_t *labels);

/* d2 and pd2. */
bool cluster_run_d2(cluster_result *r, int *code);
void cluster_d2_json(json_t *root, const cluster_result *r);
void cluster_d2_settings_json(json_t *root, const cluster_result *r);
void cluster_d2_summary(text *t, const cluster_result *r);

/* The settings as given, and what was chosen where they left it open. */
json_t *cluster_settings_json(const cluster_result *r);
json_t *cluster_chosen_json(const cluster_result *r);
json_t *cluster_json(const cluster_result *r, bool with_labels);
void cluster_summary(text *t, const cluster_result *r);
/* How each item stands in its cluster; nothing for a baseline without an embedding. */
bool cluster_stand(cluster_result *r, int *code);
/* Typical and doubtful items of each cluster, distances between neighbours. */
void cluster_put_findings(json_t *root, const cluster_result *r);
/* Counts of classes by cluster, or NULL when there are too many to look at. */
json_t *cluster_confusion(const cluster_result *r, const int32_t *truth);
/* Places for the map in r->map. */
bool cluster_make_map(cluster_result *r, int *code);

/* ---- theory: the graph against a truth, and the result against resampled points ---- */

bool cluster_theory(cluster_result *r, const int32_t *row_truth, int *code);
bool cluster_stability(cluster_result *r, int *code);
void cluster_theory_free(cluster_result *r);
json_t *cluster_theory_json(const cluster_result *r);
json_t *cluster_stability_json(const cluster_result *r);
void cluster_theory_summary(text *t, const cluster_result *r);
void cluster_stability_csv(text *t, const cluster_result *r);

/* Are the places of all files free? Before any long work. */
bool cluster_check_dir(const session *s, const char *dir, int *code);
bool cluster_write(cluster_result *r, const char *dir, int *code);

#endif
