/* traits: the common features of the items of each cluster. The module finds words, markers,
 * metadata, periods, mean pictures and states that distinguish the clusters, and the coordinates
 * that change along the order of the items. */
#ifndef DDSC_REPORT_TRAITS_TRAITS_H
#define DDSC_REPORT_TRAITS_TRAITS_H

#include "report/result/tree.h"

/* Writes the association of metadata columns with the clusters. */
ddsc_status traits_put_about(ddsc_report *r, json_t *root);
/* Returns true if a row of "about" is a finding: significant after Holm's correction, with an
 * effect that is not tiny. In large sets, tiny effects can also be significant. */
bool traits_is_association(const json_t *row);
/* Appends a row of "about" as text, for example "batch (Cramer's V 0.93, corrected p 0.001)". */
void traits_add_about(buffer *t, const json_t *row);
/* Writes the clusters per period of a column to the key "over". `values` are n texts, one per item,
 * or NULL for the metadata column of that name. */
ddsc_status traits_add_over(ddsc_report *r, const char *column, const char *const *values,
                            int64_t n_values);
/* Writes the words or coordinates that distinguish each cluster, if the input has names or few
 * dimensions. */
ddsc_status traits_put_explanation(ddsc_report *r);
/* Appends a description, for example "oil, shares, growth" or "CD20 +0.81, pS6 -0.40". Appends
 * nothing if the cluster has no explanation. */
void traits_add(buffer *t, const json_t *cluster, size_t most);
/* Writes the mean picture of each cluster of planar items, and its difference from the other
 * items. */
ddsc_status traits_put_means(ddsc_report *r);
/* Writes the stability of the order of the items, and the coordinates that change along it. */
ddsc_status traits_put_order(ddsc_report *r, json_t *root);
/* Writes means, quantiles and states of items whose points have named coordinates. */
ddsc_status traits_put_cells(ddsc_report *r, json_t *root);

#endif
