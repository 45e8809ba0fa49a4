/* The report page and the data its script reads. */
#ifndef DDSC_CLI_REPORT_PAGE_H
#define DDSC_CLI_REPORT_PAGE_H

#include "charts.h"

void report_page(text *t, const report_data *d);
/* The block of data behind the map: places, labels, ids and small pictures. */
void report_page_data(text *t, const report_data *d);
bool report_page_has_classes(const report_data *d);

#endif
