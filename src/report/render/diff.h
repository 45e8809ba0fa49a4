/* diff: writes the comparison of two results. */
#ifndef DDSC_REPORT_RENDER_DIFF_H
#define DDSC_REPORT_RENDER_DIFF_H

#include "report/content/diff.h"

/* Appends "3 (oil, shares)", "in no cluster" or "not in the first result". */
void report_diff_end(buffer *b, const ddsc_diff *d, int side, int64_t cluster);
/* Appends ids of the items of a flow, separated by commas, and the number of further ones. */
void report_diff_ids(buffer *b, const ddsc_diff *d, const diff_flow *flow, int64_t most);
void report_diff_text(buffer *b, const ddsc_diff *d, bool all);
void report_diff_csv(buffer *b, const ddsc_diff *d);
void report_diff_page(buffer *b, const ddsc_diff *d);
/* Writes the flow diagram as inline SVG. Each of the first `most` flows links to #flow-N. */
void report_diff_flows(buffer *b, const ddsc_diff *d, int64_t most);
/* Returns the color of a cluster. A cluster has the same color in both results. */
int32_t report_diff_color(const ddsc_diff *d, int side, int64_t cluster);

#endif
