/* api: public calls that belong to no other room, because they join several. */
#ifndef DDSC_API_API_H
#define DDSC_API_API_H

#include "data/measures.h"

/* Every item of m merged to at most `limit` points (at least 1), and the exact error of it. */
ddsc_status api_compress_run(ddsc_context *ctx, ddsc_measures **merged,
                             ddsc_compress_report *report, const measures *m, int64_t limit);

/* The caller's structs of one transport problem, checked; *mass: what both weights sum to. */
ddsc_status api_transport_take(ddsc_context *ctx, ddsc_transport *own,
                               ddsc_transport_problem *problem, double *mass,
                               const ddsc_transport *given, const ddsc_transport_problem *asked,
                               double largest_cost);
void api_transport_give(ddsc_transport *given, const ddsc_transport *own);

#endif
