/* charts: the charts of a result. The charts use the same data as the report page. */
#ifndef DDSC_REPORT_RENDER_CHARTS_H
#define DDSC_REPORT_RENDER_CHARTS_H

#include "report/result/picture.h"
#include "report/render/plot.h"
#include "report/render/report.h"

/* Adds the marks of a chart to p. The caller has set the context of p. Returns false if the result
 * has no data for the chart. */
/* Returns a value as text, shortened to fit into `space`. */
const char *chart_short_name(const json_t *name, char *space, size_t size);
typedef bool (*chart_fn)(plot *p, const ddsc_report *r);
bool chart_means(plot *p, const ddsc_report *r);
bool chart_eigenvalues(plot *p, const ddsc_report *r);
bool chart_sizes(plot *p, const ddsc_report *r);
bool chart_neighbors(plot *p, const ddsc_report *r);
/* Draws the clusters per period, with one panel for each of the first CHART_OVER_CLUSTERS. */
enum { CHART_OVER_CLUSTERS = 60 };
bool chart_over(plot *p, const ddsc_report *r);

#endif
