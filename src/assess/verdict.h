/* What the verdict rests on: the gaps around the clusters, the components of the graph, and for few items a test of
 * whether they differ at all. */
#ifndef DDSC_ASSESS_VERDICT_H
#define DDSC_ASSESS_VERDICT_H

#include "assess/assess.h"

/* This many items side by side form a line (bench/verdict.py: at most 3.5 where a line is torn). */
#define TEARS_LINE_WIDTH 4
/* How many gaps chance is expected to tear into the graph of the same number of items along a line, where gaps come
 * easiest. */
double tears_expected(const ddsc_graph *g);
/* The chance of so many tears or more (Poisson) in a strip of `width` items side by side. A strip tears where all the
 * lines that it consists of do. */
double tears_chance(double expected, double n, double width, int64_t tears);
/* Are the neighbor lists of many items full of copies of them? Rounded values and counts make copies, and such lists
 * tear any graph. */
bool tears_by_copies(const ddsc_graph *g);

/* *p of "all items are samples of one distribution"; NaN where the points of the items are not exchangeable. */
ddsc_status permutation_test_items(ddsc_context *ctx, double *p, const ddsc_measures *data,
                                   int64_t cost);

#endif
