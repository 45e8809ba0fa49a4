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

/* Extrapolates n samples of increasing size to `target` items. Work is assumed to grow at most like
 * the power most_power. Returns false if the samples are insufficient for an estimate. */
bool estimate_fit(estimate_range *out, const estimate_sample *s, int n, double target,
                  double most_power, int threads);

/* Implements --dry-run: reads the input and reports the planned work and its estimated cost.
 * Returns the exit code. */
int estimate_dry_run(session *s);
/* Announces long work before it begins, but only if progress is displayed (a terminal, or
 * --progress). */
void estimate_announce(session *s, const cli_input *in);

#endif
