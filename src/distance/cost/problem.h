/* problem: copies data between the caller's structs and the library's structs for a single
 * transport problem. */
#ifndef DDSC_DISTANCE_COST_PROBLEM_H
#define DDSC_DISTANCE_COST_PROBLEM_H

#include "base/base.h"

/* Copies the caller's result struct. */
ddsc_status cost_transport_take(ddsc_context *ctx, ddsc_transport *own,
                                const ddsc_transport *given);
/* Copies the caller's structs, and checks the problem. Sets *mass to the sum of the weights on
 * either side. */
ddsc_status cost_problem_take(ddsc_context *ctx, ddsc_transport *own,
                              ddsc_transport_problem *problem, double *mass,
                              const ddsc_transport *given, const ddsc_transport_problem *asked,
                              double largest_cost);
/* Copies the result to the caller's struct. */
void cost_problem_give(ddsc_transport *given, const ddsc_transport *own);

#endif
