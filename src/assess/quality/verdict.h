/* verdict: the evidence for the verdict, which consists of the gaps around the clusters, the
 * components of the graph and, for few items, a test of whether the items differ at all. */
#ifndef DDSC_ASSESS_QUALITY_VERDICT_H
#define DDSC_ASSESS_QUALITY_VERDICT_H

#include "assess/quality/quality.h"

/* Maximum number of items across a line (in bench/verdict.py, lines that split have at most
 * 3.5). */
#define TEARS_LINE_WIDTH 4
/* Returns the expected number of gaps that split a graph of equally many random items on a line,
 * where such gaps are most likely. */
double tears_expected(const ddsc_graph *g);
/* Returns the Poisson probability of at least this many splits of a strip that is `width` items
 * wide. A strip splits only where all of its lines split. */
double tears_chance(double expected, double n, double width, int64_t tears);
/* Returns true if the neighbor lists of many items contain only copies. Rounded values and counts
 * produce copies, and such lists split any graph. */
bool tears_by_copies(const ddsc_graph *g);

/* Computes the p-value of "all items are samples of one distribution". It is NaN if the points of
 * the items are not exchangeable. */
ddsc_status permutation_test_items(ddsc_context *ctx, double *p, const ddsc_measures *data,
                                   int64_t cost);

/* Computes R, the smallest distance between parts of the items divided by the longest step within a
 * part (step_ratio.c), and the part of each item (n). Sets *ratio to NaN if the graph has no
 * spanning tree, and to 0 if no cut gives parts of sufficient size. */
ddsc_status verdict_step_ratio(ddsc_context *ctx, double *ratio, int64_t *n_parts, int32_t *part,
                               const ddsc_graph *g);

/* ---- levels and sentences (verdict_levels.c) ---- */

/* The smallest number of items for which gaps in the graph are meaningful. */
#define VERDICT_ITEMS 60
/* If fewer items are across a gap, the cluster may be a thin line, in which valleys occur by chance
 * (scores up to 6.2 on unbroken lines). */
#define VERDICT_FEW_ACROSS (2 * TEARS_LINE_WIDTH)
/* The items are considered different if the p-value of the permutation test is at most this
 * value. */
#define VERDICT_DIFFER_P 0.02

/* Returns the level that the evidence supports. */
ddsc_level verdict_level(const verdict_evidence *e);
/* Returns true if the level depends on items_alike_p or its sentence mentions it. */
bool verdict_asks_points(const verdict_evidence *e);
/* Returns true if the sentence should mention outliers, which do not contradict it. */
bool verdict_names_outliers(const verdict_evidence *e);
ddsc_structure verdict_structure(ddsc_level level);
/* Writes the sentence of the level with its numbers. */
void verdict_put_headline(char *out, size_t size, const verdict_evidence *e);

#endif
