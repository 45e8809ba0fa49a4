/* Implements the pace control, which chooses the over-relaxation of scaling iterations and decides
 * when to stop.
 *
 * Sinkhorn's iteration converges linearly with a rate eta < 1 that depends on the problem.
 * Over-relaxation by a factor omega changes the rate. By Young's theory of successive
 * over-relaxation (1954), the best factor is
 *
 *     omega = 2 / (1 + sqrt(1 - eta)),
 *
 * which reduces the rate to omega - 1 (Thibault, Chizat, Dossal, Papadakis 2021 for optimal
 * transport). eta is unknown, so it is estimated: the errors at the middle and at the end of a
 * window of iterations give the observed rate, and Young's relation converts it to eta. The rate
 * also predicts the number of remaining iterations. If this number exceeds the limit, another
 * method (Newton steps or another engine) is used.
 *
 * Over-relaxed iterations leave neither marginal exact. The iteration is therefore considered
 * converged only after plain iterations, whose marginal error is known exactly. All decisions
 * depend on counts and errors, never on a clock, so they are reproducible. The cost is a few
 * operations per iteration. */
#include "distance/sinkhorn/pace.h"

#include <math.h>

#include "base/invariant.h"
#include "distance/sinkhorn/tuning.h"

/* The windows were measured with bench/sinkhorn.py --parts pairs. If a dense problem stalls, some
 * sets of points hardly exchange mass, and Newton steps are necessary. If a problem on a grid
 * stalls, the initial over-relaxation, which is derived from Gaussians, may be too large, so plain
 * iterations are tried before another engine. */
const sinkhorn_engine sinkhorn_engine_dense = {
    .plain_window = 8, .relaxed_window = 12, .stalled = 0.9999, .range = SINKHORN_DENSE_RANGE};
const sinkhorn_engine sinkhorn_engine_grid = {.plain_window = 12,
                                              .relaxed_window = 12,
                                              .stalled = 0.9,
                                              .range = SINKHORN_GRID_RANGE,
                                              .settles = true};

double sinkhorn_pace_omega(double eta)
{
    return 2 / (1 + sqrt(1 - fmin(eta, 1 - 1e-9)));
}

/* Returns the best over-relaxation, given the rate observed with omega, using Young's relation
 * between this rate and the plain rate eta. Rates of at most omega - 1 contain no information, so
 * omega is returned unchanged. */
static double relax(double rate, double omega)
{
    if (rate >= 1)
        return 1;
    if (omega > 1 && rate <= omega - 1)
        return omega;
    return sinkhorn_pace_omega((rate + omega - 1) * (rate + omega - 1) / (rate * omega * omega));
}

/* The formula was fitted to times measured for sizes from 4 to 1,000 (bench/sinkhorn.py --parts
 * pairs). */
static double sinkhorn_newton_price(int64_t rows, int64_t columns)
{
    double n = (double)rows, m = (double)columns;
    return (500 + n * m * (2 + 0.04 * n) + 0.01 * n * n * n) / (45 + 0.17 * n * m);
}

double sinkhorn_newton_passes(int64_t n, int64_t m)
{
    return n <= SINKHORN_NEWTON_ROWS ? 3 * sinkhorn_newton_price(n, m) : (double)INFINITY;
}

/* At the end of a window, computes the observed rate and the corresponding omega, and decides
 * whether to continue. */
static sinkhorn_verdict decide(sinkhorn_pace *p, double error, int64_t window)
{
    double rate = pow(error / p->mark, 1 / (double)(window / 2)), wanted = relax(rate, p->omega);
    double coming = rate >= 1 ? p->engine->stalled : fmin(0.9999, fmax(wanted - 1, 0.2));
    double passes = log(p->tolerance / error) / log(coming);
    DDSC_ASSERT(wanted >= 1 && wanted < 2); /* over-relaxation diverges for factors >= 2 */
    p->omega = wanted;
    p->since = 0;
    if (p->patience > 0) {
        p->patience--;
        return SINKHORN_GO_ON;
    }
    return passes > p->most_passes ? SINKHORN_SLOW : SINKHORN_GO_ON;
}

sinkhorn_verdict sinkhorn_pace_next(sinkhorn_pace *p, const sinkhorn_seen *seen)
{
    const sinkhorn_engine *engine = p->engine;
    double error = seen->row_error + seen->column_error;
    bool relaxed = p->omega > 1, close = error <= p->tolerance;
    int64_t window = relaxed ? engine->relaxed_window : engine->plain_window;
    if (!sinkhorn_in_range(engine, seen))
        return SINKHORN_FAR;
    if (engine->settles ? close : p->exact_columns && seen->row_error <= p->tolerance)
        return SINKHORN_DONE;
    p->exact_columns = !relaxed;
    p->since++;
    if (relaxed && close) {
        p->omega = 1;
        p->since = 0;
        return SINKHORN_GO_ON;
    }
    if (p->since == window / 2)
        p->mark = error;
    return p->since < window || close ? SINKHORN_GO_ON : decide(p, error, window);
}

double sinkhorn_dual_bound(sinkhorn_evaluation evaluate, void *state, int evaluations,
                           double patience, double epsilon, double enough)
{
    double best = -INFINITY, value;
    for (int k = 0; k < evaluations && evaluate(state, k, &value); k++) {
        double before = best;
        if (isfinite(value))
            best = fmax(best, value - 1e-12 * (fabs(value) + epsilon));
        if (best > enough || (k > 0 && best + patience * (best - before) < enough))
            break;
    }
    return best;
}
