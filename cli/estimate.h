/* estimate: predicts the cost of a run from runs on a few of its items. */
#ifndef DDSC_CLI_ESTIMATE_H
#define DDSC_CLI_ESTIMATE_H

#include "cli.h"

/* A run on n items. */
typedef struct estimate_sample {
    int64_t n;
    double cpu, wall; /* CPU seconds of all threads; wall-clock seconds */
    double bytes;
} estimate_sample;

typedef struct estimate_range {
    double low, high; /* wall-clock seconds */
} estimate_range;

/* Extrapolates n samples of increasing size to `target` items. The work is assumed to grow at most
 * like target^most_power. Returns false if the samples are insufficient for an estimate. */
bool estimate_fit(estimate_range *out, const estimate_sample *s, int n, double target,
                  double most_power, int threads);

/* A graph search on a few items, which shows how many pairs the bounds exclude. */
typedef struct bound_trial {
    bool known, matrix;   /* matrix: the run always computes all pairs */
    double skipped;       /* fraction of the pairs */
    estimate_sample cost; /* n = 0: no trial */
} bound_trial;

/* Runs a trial if the run is long and searches a graph by transport. `sample` is a run in which all
 * pairs were computed. */
void estimate_bounds(bound_trial *t, ddsc_context *ctx, const session *s, const cli_input *in,
                     int64_t tau, const estimate_sample *sample);
/* Returns the smallest exponent with which the time may grow: `pruned` if the bounds
 * exclude at least half of the pairs, and 2 if they exclude none. */
double estimate_power(const bound_trial *t, double pruned);
/* Returns true if exact or entropic transport may take more than ten minutes. */
bool estimate_needs_alternatives(const bound_trial *t, const session *s, const cli_input *in,
                                 double high);
void estimate_add_alternatives(text *t, const cli_input *in);
/* Extrapolates a trial to `target` items. The time grows at least like target^least, and at most
 * quadratically. */
void estimate_from_trial(estimate_range *out, const estimate_sample *trial, double target,
                         double least, int threads);

/* Copies n items that are spread evenly over the input. NULL on failure. */
ddsc_measures *estimate_items(ddsc_context *ctx, const cli_input *in, int64_t n);
double estimate_cpu(void);

/* Implements --dry-run: reads the input and reports the planned work and its estimated cost.
 * Returns the exit code. */
int estimate_dry_run(session *s);
/* Prints the estimated cost before a long computation, but only if progress is displayed (on a
 * terminal, or with --progress). */
void estimate_announce(session *s, const cli_input *in);

#endif
