/* Computes lower bounds on the Sinkhorn values. The regularized value is W = min <P, C> + eps KL(P
 * | a x b) over the plans P between a and b. There are two kinds of lower bounds on W: - W >= OT(a,
 * b), the exact value. For every plan, KL(P | a x b) >= 0 because P and a x b have the same mass,
 * and <P, C> >= OT because P is feasible for exact transport. The sharp value, <P, C> of the
 * minimizer, is at least OT for the same reason. - W >= <a, f> + <b, g> for every f, if g_j = -eps
 * log sum_i a_i exp((f_i - C_ij) / eps). Proof: by duality, W = max_{f, g} <a, f> + <b, g> - eps
 * (sum_ij a_i b_j exp((f_i + g_j - C_ij) / eps) - 1) (Peyre and Cuturi 2019, section 4.4; Feydy et
 * al. 2019, eq. 8). For this g, each column sum over i is b_j, so the last term is 0. The
 * divergence is W(a, b) - W(a, a) / 2 - W(b, b) / 2. It can be smaller than OT, so only bounds on W
 * minus the same self terms are valid. The computed self terms are subtracted from the bounds as
 * they are subtracted from the value. Which bound is better depends on epsilon, because W - OT is
 * about epsilon times the relative entropy of the plan. On a cohort of biopsies (38 points in 14
 * dimensions, epsilon 5% of the median cost), 18 to 35% of the pairs remain if the bound is the
 * exact value of OT, but only 3 to 5% if it is 97% of W. First, therefore, all pairs get a bound
 * from exact transport or from relaxed transport with soft minima. Single pairs then get a dual
 * bound after a few iterations, which approaches W. Small items have only the first bound, because
 * a dual bound would take as long as a solve in a group of eight. A value computed with a marginal
 * error e differs from the exact value by at most e times the range of the costs. This amount is
 * subtracted from every bound. */
#include <math.h>

#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/bound/minorant.h"
#include "distance/bound/tuning.h"
#include "distance/sinkhorn/tuning.h"
#include "neighbors/metric/metric.h"
#include "neighbors/metric/sinkhorn.h"
#include "neighbors/pairs/prefilter.h"

typedef struct sinkhorn_bound_state {
    sinkhorn_metric *s;
    metric_first *exact; /* first bounds; NULL if minorants on the grid are used */
    first_bounds first;  /* first bounds on exact transport */
    bound_minorant minorant;
    bound_refined *refined; /* bounds on W2; NULL if dual bounds are used */
    bool relaxed;           /* bounds of level DUAL are relaxed transport of single pairs */
    double unit, offered;   /* unit of the values; unit of the bounds of D^2 */
} sinkhorn_bound_state;

static bool by_dual(const sinkhorn_metric *s)
{
    return sinkhorn_set_grid(s->set) && !s->rule.sharp;
}

/* Returns true for small items in many dimensions, for which relaxed transport can be used. */
static bool by_relaxed(const sinkhorn_metric *s)
{
    return !by_dual(s) && !s->rule.sharp && s->ground.kind == DDSC_COST_SQEUCLIDEAN &&
           bound_relaxed_applies(s->m, &s->ground);
}

/* Returns the amount to subtract from a bound on the transport value to obtain a bound on the
 * requested value. */
static double offset(const sinkhorn_metric *s, int64_t i, int64_t j)
{
    return s->rule.tolerance * s->range + (s->self ? 0.5 * (s->self[i] + s->self[j]) : 0);
}

/* Converts a bound on the transport value to a bound on D^2. */
static double lowered(const sinkhorn_metric *s, int64_t i, int64_t j, double bound)
{
    double value = BASE_MAX(0, bound - offset(s, i, j));
    return s->is_distance ? value * value : value;
}

static void bound_close(void *state)
{
    sinkhorn_bound_state *b = state;
    if (!b)
        return;
    metric_first_close(b->exact);
    bound_minorant_free(b->s->ctx, &b->minorant);
    bound_refined_destroy(b->refined);
    mem_free(b->s->ctx, b);
}

/* Converts x to a non-negative float, rounded down. */
static float to_float(double x)
{
    return x > 1e-30 ? (float)(x * (1 - 0x1p-23)) : 0;
}

static void bound_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    const sinkhorn_bound_state *b = state;
    if (b->exact)
        prefilter_tile(&b->first, t, low, ld, worker);
    else
        bound_minorant_tile(&b->minorant, t->i0, t->i1, t->j0, t->j1, low, ld, worker);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->i0 == t->j0 ? i + 1 : t->j0; j < t->j1; j++) {
            float *out = low + (i - t->i0) * ld + (j - t->j0);
            int64_t x = first_item(b->minorant.order, i), y = first_item(b->minorant.order, j);
            *out = to_float(lowered(b->s, x, y, b->unit * (double)*out) / b->offered);
        }
}

static ddsc_status bound_load(void *state, int64_t a, int64_t c)
{
    const sinkhorn_bound_state *b = state;
    return b->first.load(b->first.state, a, c);
}

typedef enum first_kind {
    FIRST_EXACT, /* bounds on exact transport, refined for single pairs if epsilon is small */
    FIRST_HARD,  /* bounds on exact transport, with tighter dual bounds for single pairs */
    FIRST_SOFT   /* soft minima */
} first_kind;

/* Chooses between hard and soft minima in relaxed transport. Sets *epsilon to the epsilon of the
 * soft minima, or to 0. */
static ddsc_status choose_minima(const sinkhorn_metric *s, first_kind *kind, double *epsilon)
{
    double median, least = BOUND_SOFT_EPSILON;
    *kind = FIRST_EXACT;
    *epsilon = 0;
    if (!by_relaxed(s))
        return DDSC_OK;
    CHECK(cost_median(s->ctx, &s->ground, s->m, &median));
    if (s->rule.epsilon < least * median)
        return DDSC_OK;
    if (!sinkhorn_group_applies(s->m))
        least = BOUND_SOFT_EPSILON_SINGLE;
    *kind = s->rule.epsilon < least * median ? FIRST_HARD : FIRST_SOFT;
    if (*kind == FIRST_SOFT)
        *epsilon = fmin(s->rule.epsilon, BOUND_SOFT_LARGEST * median);
    return DDSC_OK;
}

static ddsc_status bound_open(void **state, bound_offer *offer, const pair_job *job, void *metric)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_metric *s = metric;
    sinkhorn_bound_state *b = NULL;
    bool small = !sinkhorn_set_grid(s->set) && s->rule.epsilon < BOUND_SMALL_EPSILON * s->range;
    bool squares = s->ground.kind == DDSC_COST_SQEUCLIDEAN;
    first_pairs pairs = FIRST_NO_PAIRS;
    first_kind kind;
    int exponent;
    double epsilon;
    TRY(MEM_ZERO(job->ctx, b, 1));
    b->s = s;
    frexp(s->range, &exponent);
    b->unit = ldexp(1, exponent);
    TRY(choose_minima(s, &kind, &epsilon));
    if (!by_dual(s)) {
        TRY(metric_first_open(&b->exact, &b->first, &pairs, job, &s->ground, epsilon, false));
        b->unit = b->first.unit;
    } else {
        TRY(bound_minorant_make(job->ctx, &b->minorant, s->m, sinkhorn_set_grid(s->set),
                                s->rule.epsilon, b->unit, job->n_old));
        ctx_note(job->ctx, "first bounds", "linear minorants", "a grid of %lld x %lld",
                 (long long)s->m->grid.shape[0], (long long)s->m->grid.shape[1]);
    }
    b->offered = s->is_distance ? b->unit * b->unit : b->unit;
    if ((s->rule.sharp || (small && kind == FIRST_EXACT)) && squares && bound_refined_applies(s->m))
        TRY(bound_refined_create(job->ctx, &b->refined, s->m, NULL));
    bool grouped = kind == FIRST_SOFT && sinkhorn_group_applies(s->m);
    bool dual = (!s->rule.sharp && !grouped) || b->refined;
    if (dual && !b->refined)
        TRY(sinkhorn_set_reserve(s->set));
    b->relaxed = !dual && pairs == FIRST_RELAXED;
    offer->level[BOUND_FRAME] = dual ? pairs != FIRST_NO_PAIRS : pairs == FIRST_FRAMES;
    offer->level[BOUND_DUAL] = dual || b->relaxed;
    offer->short_lists = b->relaxed;
    offer->first = (first_bounds){.n = job->m->n,
                                  .side = b->exact ? b->first.side : BOUND_MINORANT_SIDE,
                                  .unit = b->offered,
                                  .order = b->minorant.order,
                                  .tile = bound_tile,
                                  .state = b,
                                  .window = b->first.window,
                                  .load = b->first.load ? bound_load : NULL};
    *state = b;
    b = NULL;
done:
    bound_close(b);
    return status;
}

static double bound_pair(void *state, bound_level level, int64_t i, int64_t j, double enough,
                         int worker)
{
    const sinkhorn_bound_state *b = state;
    sinkhorn_metric *s = b->s;
    double limit = (s->is_distance ? sqrt(enough) : enough) + offset(s, i, j);
    if (level == BOUND_FRAME || b->relaxed)
        return lowered(s, i, j, metric_first_pair(b->exact, i, j, limit, worker));
    limit *= 1 + 2e-9;
    if (b->refined)
        return lowered(s, i, j, bound_refined_pair(b->refined, i, j, limit, worker));
    int evaluations = isfinite(enough) ? SINKHORN_GRID_EVALUATIONS : SINKHORN_QUICK_EVALUATIONS;
    return lowered(s, i, j, sinkhorn_set_bound(s->set, i, j, limit, evaluations, worker));
}

/* Returns true if bounds save time. Without a grid, bounds do not save time in two cases. For small
 * problems, solves are faster than bounds. For a large epsilon, solves need few iterations, and
 * sharp values are far above W2. */
static bool bound_pays(const void *metric, const char **why)
{
    const sinkhorn_metric *s = metric;
    double most = s->rule.sharp ? BOUND_SHARP_EPSILON : BOUND_LARGE_EPSILON;
    bool slow = s->rule.epsilon <= most * s->range;
    bool dense = s->m->nnz >= BOUND_SINKHORN_POINTS * s->m->n;
    if (by_dual(s) || by_relaxed(s) || (slow && dense))
        return true;
    *why = dense ? "solves with a large epsilon take few iterations"
                 : "small items in few dimensions are solved as fast as they are bounded";
    return false;
}

const pair_bounds metric_sinkhorn_bounds = {
    .open = bound_open, .close = bound_close, .pair = bound_pair, .pays = bound_pays};
