/* Extrapolates the times of a few small runs to a range for the whole run. CPU seconds measure the
 * work regardless of other processes, and wall-clock seconds show how much of the machine other
 * processes use. The time of the smallest run is the overhead t0. The remaining time t(n) - t0
 * grows like a power of n between 1 (bounds exclude most pairs) and 2 (all pairs). The differences
 * between the powers of the last steps determine the uncertainty of the estimate. */
#include "estimate.h"

#include <math.h>

/* Runs with less CPU time than this are dominated by interrupts and first-touch page faults. */
static const double LEAST_S = 0.01;
/* No estimate is reported if the run has more than this multiple of the items in the largest
 * sample. */
static const double MOST_RATIO = 3000;
/* Effect of caches and clock rates on the speed, in either direction. */
static const double SPREAD = 1.5;
/* Other processes are assumed to slow a run down by at most this factor. Larger measured factors
 * are artifacts of short runs. */
static const double MOST_SLOWDOWN = 4;

static double clamp(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

bool estimate_fit(estimate_range *out, const estimate_sample *s, int n, double target,
                  double most_power, int threads)
{
    if (n < 1)
        return false;
    const estimate_sample *last = &s[n - 1];
    double ratio = target / (double)last->n;
    if (ratio <= 1) {
        *out = (estimate_range){last->cpu / threads, fmax(last->wall, last->cpu / threads)};
        return true;
    }
    if (n < 2 || last->cpu < LEAST_S || ratio > MOST_RATIO)
        return false;
    double overhead = n > 2 ? fmin(s[0].cpu, 0.5 * last->cpu) : 0;
    double seen_low = most_power, seen_high = n > 2 ? 1 : most_power;
    for (int k = n > 3 ? n - 2 : n - 1; k < n; k++) {
        double before = fmax(s[k - 1].cpu - overhead, 0), now = s[k].cpu - overhead;
        double power =
            before > 0 ? log(now / before) / log((double)s[k].n / (double)s[k - 1].n) : most_power;
        power = clamp(power, 1, most_power);
        seen_low = fmin(seen_low, power);
        seen_high = fmax(seen_high, power);
    }
    double work = last->cpu - overhead, alone = last->cpu / threads;
    double slowdown = clamp(last->wall / alone, 1, fmax(MOST_SLOWDOWN, threads));
    out->low = (overhead + work * pow(ratio, seen_low)) / threads / SPREAD;
    out->high = (overhead + work * pow(ratio, seen_high)) / threads * slowdown * SPREAD;
    return true;
}

void estimate_from_trial(estimate_range *out, const estimate_sample *trial, double target,
                         double least, int threads)
{
    double ratio = target / (double)trial->n, alone = trial->cpu / threads;
    double slowdown = clamp(trial->wall / fmax(alone, LEAST_S), 1, fmax(MOST_SLOWDOWN, threads));
    out->low = alone * pow(ratio, least) / SPREAD;
    out->high = alone * ratio * ratio * slowdown * SPREAD;
}
