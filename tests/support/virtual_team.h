/* A team of P ranks in one process, one thread each, for tests with any number of ranks and for
 * predicting the time on a larger machine. Ranks compute between two calls of the team, and the
 * slowest rank determines when the next call begins. The sum of the largest CPU times between calls
 * is therefore the time that P machines would take without communication, which is counted
 * separately. Ranks of one machine share memory as in a real job. */
#ifndef DDSC_TESTS_VIRTUAL_TEAM_H
#define DDSC_TESTS_VIRTUAL_TEAM_H

#include "ddsc/ddsc.h"

typedef struct virtual_cost {
    double path; /* seconds: sum over steps of the slowest rank's CPU time */
    double work; /* of all ranks */
    int64_t n_calls;
    double bytes_path; /* sum over steps of the bytes that the busiest rank sends */
    double bytes;      /* of all ranks */
} virtual_cost;

/* Runs fn(arg, team) on all ranks at once. If a rank returns while calls of other ranks are
 * pending, these calls fail. cost may be NULL; it is meaningful if contexts have one thread. */
typedef void (*virtual_fn)(void *arg, const ddsc_team *team);
void virtual_team_run(int size, virtual_fn fn, void *arg, virtual_cost *cost);
/* Limits the number of ranks that compute at the same time (0: all), so that they do not share
 * cores. */
void virtual_team_slots(int n);
/* Sets the number of ranks per machine (0: all). */
void virtual_team_machines(int each);
/* Returns the cost so far, for a rank of a team; meaningful between two calls. */
void virtual_team_cost(const ddsc_team *team, virtual_cost *cost);

#endif
