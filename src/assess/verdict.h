/* Evidence for the verdict: gaps around the clusters, components of the graph, and for few items a
 * test of whether they differ at all. */
#ifndef DDSC_ASSESS_VERDICT_H
#define DDSC_ASSESS_VERDICT_H

#include "assess/assess.h"

/* Maximum number of items across a line (bench/verdict.py: at most 3.5 where a line splits). */
#define TEARS_LINE_WIDTH 4
/* Returns the expected number of gaps that split the graph of as many random items along a line,
 * the case in which gaps are most likely. */
double tears_expected(const ddsc_graph *g);
/* Returns the Poisson probability of at least this many splits of a strip that is `width` items
 * wide. A strip splits only where all of its lines do. */
double tears_chance(double expected, double n, double width, int64_t tears);
/* Returns true if the neighbor lists of many items contain only copies. Rounded values and counts
 * produce copies, and such lists split any graph. */
bool tears_by_copies(const ddsc_graph *g);

/* Computes the p-value of "all items are samples of one distribution". It is NaN if the points of
 * the items are not exchangeable. */
ddsc_status permutation_test_items(ddsc_context *ctx, double *p, const ddsc_measures *data,
                                   int64_t cost);

#endif
