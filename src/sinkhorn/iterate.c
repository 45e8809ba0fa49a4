/* From starting potentials to a converged plan. Epsilon comes down in steps, each started from an
 * extrapolation of the two before. Within a step plain scaling iterations measure their own rate of
 * convergence; from it come the over-relaxation (Thibault, Chizat, Dossal, Papadakis 2021; the
 * optimal factor is Young's) and, when still too many iterations are foreseen, Newton steps. All
 * choices are made from counts and errors, never from a clock. */
#include <math.h>
#include <string.h>

#include "sinkhorn/solver.h"

enum {
    PLAIN_WINDOW = 8,     /* iterations watched before a first decision */
    RELAXED_WINDOW = 12,  /* with over-relaxation; the first half settles */
    NEWTON_WINDOW = 8,    /* Newton steps within which the error must halve */
    LARGE_CELLS = 1 << 16 /* above it every iteration looks whether to go on */
};

static const double EXPONENT_LIMIT = 200;  /* e^200: far from overflow, and from it and back too */
static const double FIRST_EPSILON = 0.005; /* of the range of the reduced cost */
static const double LEVEL_FACTOR = 3;
/* Marginal error at which a level is left. A mass below it may be out of place then, and be out of
 * reach at the next levels: when they get stuck, all is done again with less haste. */
static const double LEVEL_TOLERANCE[] = {3e-4, 1e-6, 0};
enum { N_ATTEMPTS = 3 };

/* ---- absorption ---- */

static void absorb_side(double *potential, double *scale, const double *weight, int64_t n,
                        double epsilon)
{
    for (int64_t i = 0; i < n; i++) {
        potential[i] += epsilon * log(scale[i] / weight[i]);
        scale[i] = weight[i];
    }
}

static void fill(sinkhorn_solver *z, double epsilon)
{
    z->epsilon = epsilon;
    if (!scaling_fill(&z->s, epsilon, EXPONENT_LIMIT)) {
        scaling_reduce(&z->s);
        scaling_fill(&z->s, epsilon, EXPONENT_LIMIT);
    }
}

void sinkhorn_absorb(sinkhorn_solver *z, double epsilon)
{
    absorb_side(z->s.f, z->s.u, z->s.a, z->s.n, z->epsilon);
    absorb_side(z->s.g, z->s.v, z->s.b, z->s.m, z->epsilon);
    fill(z, epsilon);
}

/* value + (next - now) / (now - before) (value - last): the potentials are smooth in epsilon, and
 * straight lines once it is small. */
static void extrapolate_side(double *value, double *last, int64_t n, double weight)
{
    for (int64_t i = 0; i < n; i++) {
        double now = value[i];
        value[i] += weight * (now - last[i]);
        last[i] = now;
    }
}

/* ---- the pace of one level ---- */

static void pace_restart(sinkhorn_pace *p, double omega)
{
    p->omega = omega;
    p->since = 0;
}

/* One Newton step in units of one scaling iteration, from times measured over sizes 4 to 1000. */
static double newton_price(double n, double m)
{
    return (500 + n * m * (2 + 0.04 * n) + 0.01 * n * n * n) / (45 + 0.17 * n * m);
}

double sinkhorn_omega(double eta)
{
    return 2 / (1 + sqrt(1 - fmin(eta, 1 - 1e-9)));
}

/* Young's relation of the rate under omega and the plain rate eta; below omega - 1 it is silent. */
double sinkhorn_relax(double rate, double omega)
{
    if (rate >= 1)
        return 1;
    if (omega > 1 && rate <= omega - 1)
        return omega;
    return sinkhorn_omega((rate + omega - 1) * (rate + omega - 1) / (rate * omega * omega));
}

/* At the end of a window: the rate seen, the omega it asks for, and whether Newton is cheaper. */
static bool pace_decide(sinkhorn_pace *p, int64_t n, int64_t m, double error, double tolerance)
{
    double half = p->omega > 1 ? RELAXED_WINDOW / 2 : PLAIN_WINDOW / 2;
    double rate = pow(error / p->mark, 1 / half), wanted = sinkhorn_relax(rate, p->omega);
    double coming = rate >= 1 ? 0.9999 : fmin(0.9999, wanted > 1 ? fmax(wanted - 1, 0.2) : rate);
    double passes = log(tolerance / error) / log(coming);
    pace_restart(p, wanted);
    if (p->patience > 0) {
        p->patience--;
        return false;
    }
    return n <= NEWTON_MAX_ROWS && passes > 3 * newton_price((double)n, (double)m);
}

bool sinkhorn_pace_next(sinkhorn_pace *p, int64_t n, int64_t m, double error, double tolerance)
{
    int64_t window = p->omega > 1 ? RELAXED_WINDOW : PLAIN_WINDOW;
    p->plain_before = p->omega == 1;
    p->since++;
    if (p->omega > 1 && error <= tolerance) {
        pace_restart(p, 1);
        return false;
    }
    if (p->since == window / 2)
        p->mark = error;
    if (p->since < window || error <= tolerance)
        return false;
    return pace_decide(p, n, m, error, tolerance);
}

static bool out_of_range(double low, double high)
{
    return low < 1 / SINKHORN_SUM_LIMIT || high > SINKHORN_SUM_LIMIT;
}

static void widen(double *low, double *high, const double *scale, const double *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        *low = fmin(*low, scale[i] / weight[i]);
        *high = fmax(*high, scale[i] / weight[i]);
    }
}

static void absorb_when_far(sinkhorn_solver *z, sinkhorn_state *state)
{
    double low = INFINITY, high = 0;
    widen(&low, &high, z->s.u, z->s.a, z->s.n);
    widen(&low, &high, z->s.v, z->s.b, z->s.m);
    if (out_of_range(low, high)) {
        sinkhorn_absorb(z, z->epsilon);
        state->error = scaling_settle(&z->s);
    }
}

static ddsc_status check_cancel(sinkhorn_solver *z)
{
    if (z->may_poll)
        return progress_poll(z->ctx);
    return ctx_cancelled(z->ctx) ? DDSC_ERROR_CANCELLED : DDSC_OK;
}

/* Newton steps until the tolerance, as long as they make headway. */
static ddsc_status newton_run(sinkhorn_solver *z, sinkhorn_state *state)
{
    double mark = INFINITY;
    bool moved = true;
    state->error = scaling_settle(&z->s);
    for (int k = 0; moved && state->error > state->tolerance && state->iterations < state->cap;
         k++) {
        if (k % NEWTON_WINDOW == 0) {
            if (!(state->error < 0.5 * mark))
                break;
            mark = state->error;
        }
        CHECK(check_cancel(z));
        CHECK(newton_step(z, &state->error, &moved));
        state->iterations++;
        absorb_when_far(z, state);
    }
    return DDSC_OK;
}

/* Iterate at the epsilon of the kernel. Without `may_stick` give up once Newton steps fail. */
static ddsc_status run_level(sinkhorn_solver *z, sinkhorn_state *state, bool may_stick)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_pace p = {.omega = 1};
    int64_t attempts = 0;
    while (state->iterations < state->cap) {
        scaling_report r = scaling_pass(&z->s, p.omega);
        state->iterations++;
        if (z->s.n * z->s.m > LARGE_CELLS || state->iterations % 64 == 0)
            TRY(check_cancel(z));
        if (out_of_range(r.low, r.high)) {
            sinkhorn_absorb(z, z->epsilon);
            p = (sinkhorn_pace){.omega = 1, .patience = p.patience};
            continue;
        }
        if (p.plain_before && r.row_error <= state->tolerance)
            break;
        if (!sinkhorn_pace_next(&p, z->s.n, z->s.m, r.row_error + r.column_error, state->tolerance))
            continue;
        TRY(newton_run(z, state));
        if (state->error <= state->tolerance || !may_stick)
            goto done;
        p = (sinkhorn_pace){.omega = 1, .patience = (int64_t)1 << BASE_MIN(++attempts, 10)};
    }
    state->error = scaling_settle(&z->s);
done:
    return status;
}

/* ---- the levels ---- */

/* The least factor^k epsilon at or above the first epsilon, so that the last step lands on it. */
int64_t sinkhorn_levels(double range, double epsilon)
{
    double ratio = FIRST_EPSILON * range / epsilon;
    return ratio > 1 ? (int64_t)ceil(fmin(log(ratio) / log(LEVEL_FACTOR), 600)) : 0;
}

static void next_level(sinkhorn_solver *z, double before, double epsilon)
{
    double now = z->epsilon;
    absorb_side(z->s.f, z->s.u, z->s.a, z->s.n, now);
    absorb_side(z->s.g, z->s.v, z->s.b, z->s.m, now);
    double weight = before > 0 ? (epsilon - now) / (now - before) : 0;
    extrapolate_side(z->s.f, z->last_f, z->s.n, weight);
    extrapolate_side(z->s.g, z->last_g, z->s.m, weight);
    fill(z, epsilon);
}

/* All levels down to epsilon; state->error stays above state->tolerance when one got stuck. */
static ddsc_status run_levels(sinkhorn_solver *z, double epsilon, sinkhorn_state *state,
                              double level_tolerance, bool may_stick)
{
    double tolerance = state->tolerance, before = 0;
    int64_t levels = sinkhorn_levels(z->range, epsilon);
    ddsc_status status = DDSC_OK;
    fill(z, epsilon * pow(LEVEL_FACTOR, (double)levels));
    for (int64_t k = levels; status >= 0; k--) {
        state->tolerance = k > 0 ? fmax(tolerance, level_tolerance) : tolerance;
        status = run_level(z, state, may_stick);
        bool spent = state->iterations >= state->cap;
        if (status < 0 || k == 0 || (state->error > state->tolerance && !spent))
            break;
        double now = z->epsilon;
        if (spent) {
            k = 1; /* straight to the epsilon asked for */
            before = 0;
        }
        next_level(z, before, epsilon * pow(LEVEL_FACTOR, (double)(k - 1)));
        before = now;
    }
    state->tolerance = tolerance;
    return status;
}

static void start_again(sinkhorn_solver *z)
{
    scaling *s = &z->s;
    memset(s->f, 0, (size_t)s->n * sizeof *s->f);
    memset(s->g, 0, (size_t)s->m * sizeof *s->g);
    memcpy(s->u, s->a, (size_t)s->n * sizeof *s->u);
    memcpy(s->v, s->b, (size_t)s->m * sizeof *s->v);
}

ddsc_status sinkhorn_iterate(sinkhorn_solver *z, double epsilon, sinkhorn_state *state)
{
    for (int attempt = 0;; attempt++) {
        bool last = attempt == N_ATTEMPTS - 1 || sinkhorn_levels(z->range, epsilon) == 0;
        ddsc_status status = run_levels(z, epsilon, state, LEVEL_TOLERANCE[attempt], last);
        if (status < 0 || last || state->error <= state->tolerance ||
            state->iterations >= state->cap)
            return status;
        start_again(z);
    }
}
