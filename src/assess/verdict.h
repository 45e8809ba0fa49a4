/* Evidence for the verdict: the gaps around the clusters, the components of the graph, and for few
 * items a test of whether the items differ at all. */
#ifndef DDSC_ASSESS_VERDICT_H
#define DDSC_ASSESS_VERDICT_H

#include "assess/assess.h"

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

#endif
