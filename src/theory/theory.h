/* theory: what the paper's definitions say about one result. It sees finished graphs and
 * decompositions and runs the chain again on resampled points; nothing below depends on it. */
#ifndef DDSC_THEORY_THEORY_H
#define DDSC_THEORY_THEORY_H

#include "cluster/cluster.h"

/* The verdict on a clustering: what the gaps of its graph say (cluster_structure), and where they cannot tell, whether
 * the items differ at all: *p, of "all items are samples of one law", NaN where that was not asked. data: NULL: no points.
 */
#define THEORY_DIFFER 0.02 /* p up to which items differ */
ddsc_status theory_verdict(ddsc_context *ctx, structure_tally *t, double *p, const cluster_gap *gap,
                           int64_t k, const ddsc_graph *g, int64_t n_components,
                           const ddsc_measures *data, int64_t cost);

/* |sin Theta|_F between the spans of the first k columns of u and v (n rows, row-major, ldu and ldv
 * columns, orthonormal): |v - u u^T v|_F, which keeps small angles exact. */
ddsc_status subspace_distance(ddsc_context *ctx, double *distance, int64_t n, int64_t k,
                              const double *u, int64_t ldu, const double *v, int64_t ldv);

/* How far two decompositions of the same items are apart; fills the columns of `row` that do not
 * speak of labels. */
ddsc_status spectra_compare(ddsc_context *ctx, ddsc_stability_row *row, int64_t k,
                            const decomposition *first, const decomposition *again);
double spectrum_gap(const decomposition *d, int64_t k);
double theory_smallest_affinity(const sparse *a);

/* `labels` in the numbers of `first`, both below k: clusters are paired so that as many items as
 * possible keep their number. *n_changed items have another one. */
ddsc_status theory_match_labels(ddsc_context *ctx, int32_t *labels, int64_t *n_changed,
                                const int32_t *first, int64_t n, int64_t k);

/* The view in a few sentences; the caller frees *words. */
ddsc_status stability_words(ddsc_context *ctx, char **words, const ddsc_stability_view *view,
                            bool undetermined);

#endif
