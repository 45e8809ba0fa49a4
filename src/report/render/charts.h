/* charts: the pictures of a result. Each is made from the same data the report page is made from.
 */
#ifndef DDSC_REPORT_RENDER_CHARTS_H
#define DDSC_REPORT_RENDER_CHARTS_H

#include "report/content/picture.h"
#include "report/render/plot.h"
#include "report/render/report.h"

/* Marks of a picture into p, which has its context; false: the result has nothing to draw there. */
typedef bool (*chart_fn)(plot *p, const ddsc_report *r);
bool chart_map(plot *p, const ddsc_report *r);
bool chart_representatives(plot *p, const ddsc_report *r);
bool chart_means(plot *p, const ddsc_report *r);
bool chart_eigenvalues(plot *p, const ddsc_report *r);
bool chart_sizes(plot *p, const ddsc_report *r);
bool chart_neighbours(plot *p, const ddsc_report *r);
bool chart_confusion(plot *p, const ddsc_report *r);

#endif
