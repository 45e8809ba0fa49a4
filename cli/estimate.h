/* estimate: what a run will take, from runs over a few of its items. */
#ifndef DDSC_CLI_ESTIMATE_H
#define DDSC_CLI_ESTIMATE_H

#include "cli.h"

/* One run over n items. */
typedef struct estimate_sample {
    int64_t n;
    double cpu, wall; /* seconds of all threads, and by the clock on the wall */
    double bytes;
} estimate_sample;

typedef struct estimate_range {
    double low, high; /* wall seconds */
} estimate_range;

/* n samples of growing size; work grows at most like the power most_power. False: they tell too
 * little, and silence is better than a number. */
bool estimate_fit(estimate_range *out, const estimate_sample *s, int n, double target,
                  double most_power, int threads);

/* --dry-run: read the input, say what would be done with it and what it would take. The exit code.
 */
int estimate_dry_run(session *s);
/* Before work that will be long, say so; only where somebody watches (a terminal, --progress). */
void estimate_announce(session *s, const cli_input *in);

#endif
