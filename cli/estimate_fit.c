/* From the times of a few small runs to a range for the whole one. CPU seconds tell the work,
 * whatever else the machine does; wall seconds tell what others take from it. With an overhead t0
 * that the smallest run shows, t(n) - t0 grows like a power of n between 1 (bounds spare most
 * pairs) and 2 (all pairs); the last steps disagree about it by as much as is not known. */
#include "estimate.h"

#include <math.h>

/* A run of less CPU time than this is lost among interrupts and first touches of memory. */
static const double LEAST_S = 0.01;
/* Beyond so many times the items of the largest sample nobody knows. */
static const double MOST_RATIO = 3000;
/* What caches and clocks do to a rate, either way. */
static const double SPREAD = 1.5;
/* Others never take more than this part of the time: more is a hiccup of a short run. */
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
