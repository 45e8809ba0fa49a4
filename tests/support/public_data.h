/* The data of the calls in public_calls.c: a few small sets, a graph, a clustering, models, files.
 * */
#ifndef DDSC_TEST_PUBLIC_DATA_H
#define DDSC_TEST_PUBLIC_DATA_H

#include "io_support.h"

enum { N = 14, DIM = 2, POINTS = 5, VOCABULARY = 9 };

extern test_folder scratch_folder;
extern ddsc_measures *clouds, *fresh, *histograms, *images; /* fresh: 4 items; the others: N */
extern ddsc_graph *graph;
extern ddsc_clustering *clustering; /* of clouds by w2 */
extern ddsc_measures *documents;    /* clouds with word counts */
extern ddsc_clustering *refined;    /* of documents by w2 */
extern ddsc_model *models[5];       /* by metric, and of `refined` */
extern double points[N * POINTS * DIM], weights[N * POINTS], matrix[N * N], rows[N * 3];
extern double support[VOCABULARY * DIM], dense[N * VOCABULARY];
extern int64_t offsets[N + 1];
extern int32_t labels[N], classes[N];
extern const char *const item_names[N]; /* of items */
extern const char *const batch_names[N], *const column_name;

void words_set_up(ddsc_context *good);
void words_tear_down(void);

ddsc_metric_settings metric_of(int metric);
ddsc_cluster_settings cluster_of(int metric); /* two clusters */

#endif
