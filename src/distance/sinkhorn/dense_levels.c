/* Runs the dense engine from starting potentials to a converged plan.
 *
 * If epsilon is far below the costs, the kernel exp(-C / eps) underflows and scaling iterations
 * converge slowly. Epsilon therefore decreases in levels by a constant factor (epsilon scaling;
 * Kosowsky and Yuille 1994). The potentials are smooth in epsilon, so each level starts from a
 * linear extrapolation of the potentials of the two previous levels.
 *
 * Within a level, scaling iterations run under the pace control of pace.h. If the iterations are
 * too slow, Newton steps (dense_newton.c) replace them. If sums leave their range, the scalings are
 * absorbed into the potentials, f += eps log(u / a), and the kernel is recomputed (Schmitzer 2019).
 * All levels except the last have a larger tolerance. If a level stalls, the next attempt uses a
 * smaller tolerance for all levels, because mass that was misplaced at a large epsilon may be
 * impossible to move at a small epsilon.
 *
 * The reported error is that of the plan at the requested epsilon, so the sequence of levels
 * affects only the running time. Each iteration, and each computation of a new kernel, takes O(n m)
 * time. */
#include <math.h>
#include <string.h>

#include "distance/sinkhorn/dense.h"

/* e^200 can be multiplied and divided without overflow */
static const double EXPONENT_LIMIT = 200;
/* Marginal error at which a level ends, for each attempt. Mass that is still misplaced at the end
 * of a level may be impossible to move at later levels. If a level stalls, the next attempt starts
 * over with a smaller tolerance. */
static const double LEVEL_TOLERANCE[] = {3e-4, 1e-6, 0};
enum { N_ATTEMPTS = 3 };

/* ---- absorption ---- */

void sinkhorn_dense_start(sinkhorn_solver *z, double epsilon)
{
    z->epsilon = epsilon;
    if (!sinkhorn_dense_fill(&z->s, epsilon, EXPONENT_LIMIT)) {
        sinkhorn_dense_reduce(&z->s);
        sinkhorn_dense_fill(&z->s, epsilon, EXPONENT_LIMIT);
    }
}

static void absorb_side(dense_side *x, double epsilon)
{
    for (int64_t i = 0; i < x->n; i++) {
        x->potential[i] += epsilon * log(x->scale[i] / x->weight[i]);
        x->scale[i] = x->weight[i];
    }
}

static void absorb(sinkhorn_solver *z)
{
    absorb_side(&z->s.row, z->epsilon);
    absorb_side(&z->s.column, z->epsilon);
}

static void widen(sinkhorn_seen *seen, const dense_side *x)
{
    for (int64_t i = 0; i < x->n; i++) {
        seen->low = fmin(seen->low, x->scale[i] / x->weight[i]);
        seen->high = fmax(seen->high, x->scale[i] / x->weight[i]);
    }
}

/* ---- one level ---- */

static ddsc_status check_cancel(sinkhorn_solver *z)
{
    if (z->polls)
        return progress_poll(z->ctx);
    return ctx_canceled(z->ctx) ? DDSC_ERROR_CANCELED : DDSC_OK;
}

/* Runs Newton steps until the error is within the tolerance or stops decreasing. */
static ddsc_status run_newton(sinkhorn_solver *z, dense_run *run)
{
    double mark = INFINITY;
    bool moved = true;
    run->error = sinkhorn_dense_settle(&z->s);
    for (int k = 0; moved && run->error > run->tolerance && run->iterations < run->cap; k++) {
        if (k % SINKHORN_NEWTON_WINDOW == 0) {
            if (!(run->error < 0.5 * mark))
                break;
            mark = run->error;
        }
        CHECK(check_cancel(z));
        CHECK(sinkhorn_dense_newton(z, &run->error, &moved));
        run->iterations++;
        sinkhorn_seen scalings = {.low = INFINITY};
        widen(&scalings, &z->s.row);
        widen(&scalings, &z->s.column);
        if (!sinkhorn_in_range(&sinkhorn_engine_dense, &scalings)) {
            absorb(z);
            sinkhorn_dense_start(z, z->epsilon);
            run->error = sinkhorn_dense_settle(&z->s);
        }
    }
    return DDSC_OK;
}

/* Iterates at the epsilon of the kernel. If `may_stick` is false, stops as soon as Newton steps
 * fail. */
static ddsc_status run_level(sinkhorn_solver *z, dense_run *run, bool may_stick)
{
    int64_t n = z->s.row.n, m = z->s.column.n, attempts = 0;
    const sinkhorn_pace fresh = {.engine = &sinkhorn_engine_dense,
                                 .tolerance = run->tolerance,
                                 .most_passes = sinkhorn_newton_passes(n, m),
                                 .omega = 1};
    sinkhorn_pace pace = fresh;
    while (run->iterations < run->cap) {
        sinkhorn_seen seen = sinkhorn_dense_pass(&z->s, pace.omega);
        run->iterations++;
        if (n * m > SINKHORN_POLL_CELLS || run->iterations % 64 == 0)
            CHECK(check_cancel(z));
        sinkhorn_verdict verdict = sinkhorn_pace_next(&pace, &seen);
        int64_t patience = pace.patience;
        if (verdict == SINKHORN_DONE)
            break;
        if (verdict == SINKHORN_GO_ON)
            continue;
        if (verdict == SINKHORN_FAR) {
            absorb(z);
            sinkhorn_dense_start(z, z->epsilon);
        } else {
            CHECK(run_newton(z, run));
            if (run->error <= run->tolerance || !may_stick)
                return DDSC_OK;
            patience = (int64_t)1 << BASE_MIN(++attempts, 10);
        }
        pace = fresh;
        pace.patience = patience;
    }
    run->error = sinkhorn_dense_settle(&z->s);
    return DDSC_OK;
}

/* ---- levels ---- */

/* Returns the smallest k for which factor^k epsilon is at least the first epsilon, so that the last
 * level has the requested epsilon. */
int64_t sinkhorn_levels(double range, double epsilon)
{
    double ratio = SINKHORN_FIRST_EPSILON * range / epsilon;
    return ratio > 1 ? (int64_t)ceil(fmin(log(ratio) / log(SINKHORN_LEVEL_FACTOR), 600)) : 0;
}

static double level_epsilon(double epsilon, int64_t level)
{
    return epsilon * pow(SINKHORN_LEVEL_FACTOR, (double)level);
}

/* Computes value + (next - now) / (now - before) (value - last). The potentials are smooth in
 * epsilon, and nearly linear if epsilon is small. */
static void extrapolate_side(dense_side *x, double weight)
{
    for (int64_t i = 0; i < x->n; i++) {
        double now = x->potential[i];
        x->potential[i] += weight * (now - x->last[i]);
        x->last[i] = now;
    }
}

static void next_level(sinkhorn_solver *z, double before, double epsilon)
{
    double now = z->epsilon, weight = before > 0 ? (epsilon - now) / (now - before) : 0;
    absorb(z);
    extrapolate_side(&z->s.row, weight);
    extrapolate_side(&z->s.column, weight);
    sinkhorn_dense_start(z, epsilon);
}

/* Runs all levels down to epsilon. If a level stalls, run->error remains above run->tolerance. */
static ddsc_status run_levels(sinkhorn_solver *z, double epsilon, dense_run *run,
                              double level_tolerance, bool may_stick)
{
    double tolerance = run->tolerance, before = 0;
    int64_t level = sinkhorn_levels(z->range, epsilon);
    sinkhorn_dense_start(z, level_epsilon(epsilon, level));
    for (;; level--) {
        run->tolerance = level > 0 ? fmax(tolerance, level_tolerance) : tolerance;
        ddsc_status status = run_level(z, run, may_stick);
        bool stuck = run->error > run->tolerance, spent = run->iterations >= run->cap;
        run->tolerance = tolerance;
        if (status < 0 || level == 0 || (stuck && !spent))
            return status;
        double now = z->epsilon;
        if (spent) {
            level = 1; /* skips to the requested epsilon */
            before = 0;
        }
        next_level(z, before, level_epsilon(epsilon, level - 1));
        before = now;
    }
}

static void restart_side(dense_side *x)
{
    memset(x->potential, 0, (size_t)x->n * sizeof *x->potential);
    memcpy(x->scale, x->weight, (size_t)x->n * sizeof *x->scale);
}

ddsc_status sinkhorn_dense_iterate(sinkhorn_solver *z, double epsilon, dense_run *run)
{
    for (int attempt = 0;; attempt++) {
        bool last = attempt == N_ATTEMPTS - 1 || sinkhorn_levels(z->range, epsilon) == 0;
        CHECK(run_levels(z, epsilon, run, LEVEL_TOLERANCE[attempt], last));
        if (last || run->error <= run->tolerance || run->iterations >= run->cap)
            return DDSC_OK;
        restart_side(&z->s.row);
        restart_side(&z->s.column);
    }
}
