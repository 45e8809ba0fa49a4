/* A team of P ranks in one process, one thread each: for tests with any number of ranks, and to foretell
 * what a larger machine would take. Between two calls of the team a rank computes; the slowest decides when the
 * next begins. So the sum of the largest CPU times between calls is the time that P machines would take beside
 * what travels, which is counted. Memory that ranks of one machine would share is shared. */
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

/* fn(arg, team) on every rank at once; those that return with calls of others pending make these fail.
 * cost may be NULL; meaningful where contexts have one thread. */
typedef void (*virtual_fn)(void *arg, const ddsc_team *team);
void virtual_team_run(int size, virtual_fn fn, void *arg, virtual_cost *cost);
/* From now on only so many ranks compute at once (0: all), so that they do not take a core's time from each other. */
void virtual_team_slots(int n);
/* From now on so many ranks make a machine (0: all of them). */
void virtual_team_machines(int each);
/* The cost so far, from a rank of a team; meaningful between two calls. */
void virtual_team_cost(const ddsc_team *team, virtual_cost *cost);

#endif
