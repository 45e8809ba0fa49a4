/* verdict: the functions that collect the evidence for the verdict and derive the level and its
 * sentence. */
#ifndef DDSC_ASSESS_QUALITY_VERDICT_H
#define DDSC_ASSESS_QUALITY_VERDICT_H

#include "assess/quality/quality.h"

/* Maximum number of items side by side in a set that counts as a line. In bench/verdict.py, lines
 * that split have at most 3.5. */
#define TEARS_LINE_WIDTH 4
/* Returns the expected number of gaps that would split the graph if its items were random points on
 * a line, where such gaps are most likely. */
double tears_expected(const ddsc_graph *g);
/* Returns the Poisson probability that a strip of items, `width` items wide, splits at least
 * `tears` times. */
double tears_chance(double expected, double n, double width, int64_t tears);
/* Returns true if the neighbor lists of many items contain only copies. Rounded values and counts
 * produce copies. Such neighbor lists split any graph. */
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

/* Minimum number of items for which gaps in the graph are meaningful. */
#define VERDICT_ITEMS 60
/* With fewer items across a gap, the cluster may be a thin line, where valleys occur by chance
 * (scores up to 6.2 on unbroken lines). */
#define VERDICT_FEW_ACROSS (2 * TEARS_LINE_WIDTH)
/* The items are said to differ if the p-value of the permutation test is at most this value. */
#define VERDICT_DIFFER_P 0.02

/* Returns the level that the evidence supports. */
ddsc_level verdict_level(const verdict_evidence *e);
/* Returns true if the level depends on items_alike_p, or if its sentence mentions this value. */
bool verdict_asks_points(const verdict_evidence *e);
/* Returns true if a sentence about outliers should follow the verdict. */
bool verdict_names_outliers(const verdict_evidence *e);
ddsc_structure verdict_structure(ddsc_level level);
/* Writes the sentence of the level, with numbers from the evidence. */
void verdict_put_headline(char *out, size_t size, const verdict_evidence *e);

#endif
