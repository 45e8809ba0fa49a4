/* Lower bounds of the sinkhorn values. Any potentials give one of the regularised value (the dual),
 * and so of the divergence, whose self terms are known. All values but the divergence are at least
 * W2^2, as the entropy term is not negative and the plan is one of those W2 chooses from: where the
 * dual is not cheap, and for the sharp value, the bounds of W2 serve.
 *
 * A value found with a marginal error e differs from the true one by at most e times the range of
 * the costs, which is taken off every bound. */
#include <math.h>

#include "metric/metric.h"
#include "metric/sinkhorn.h"

enum { BOUND_SIDE = 64, LOOK_ROUNDS = 1, REFINE_ROUNDS = 16, DENSE_POINTS = 48 };

/* Of the range of the costs: below, a few iterations tell nothing, and W2 is close to the value. */
static const double SMALL_EPSILON = 0.005;
/* Above, graphs of histograms of 100 to 150 points in 3 and 20 dimensions took less time by all
 * pairs. */
static const double LARGE_EPSILON = 0.06, LARGE_EPSILON_SHARP = 0.01;

typedef struct bound_state {
    sinkhorn *s;
    void *w2; /* state of bound_w2, or NULL: duals on the grid */
} bound_state;

static bool by_dual(const sinkhorn *s)
{
    return s->grid && s->value != DDSC_SINKHORN_SHARP;
}

/* From a bound of the transport value to one of the value asked for. */
static double lowered(const sinkhorn *s, int64_t i, int64_t j, double bound)
{
    bound -= s->slack;
    if (s->self)
        bound -= 0.5 * (s->self[i] + s->self[j]);
    return BASE_MAX(0, bound);
}

static double raised(const sinkhorn *s, int64_t i, int64_t j, double value)
{
    return value + s->slack + (s->self ? 0.5 * (s->self[i] + s->self[j]) : 0);
}

static void bound_close(void *state)
{
    bound_state *b = state;
    if (!b)
        return;
    if (b->w2)
        bound_w2.close(b->w2);
    mem_free(b->s->ctx, b);
}

static ddsc_status bound_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    bound_state *b = NULL;
    TRY(MEM_ZERO(job->ctx, b, 1));
    b->s = job->state;
    if (!by_dual(b->s))
        TRY(bound_w2.open(&b->w2, job, stats));
    *state = b;
    b = NULL;
done:
    bound_close(b);
    return status;
}

static void bound_plan(const void *state, pair_plan *plan)
{
    const bound_state *b = state;
    if (b->w2)
        bound_w2.plan(b->w2, plan);
}

static ddsc_status bound_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                              ddsc_pair_stats *stats)
{
    const bound_state *b = state;
    sinkhorn *s = b->s;
    if (b->w2)
        CHECK(bound_w2.tile(b->w2, t, d2, ld, worker, stats));
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++) {
            double *out = d2 + (i - t->i0) * ld + (j - t->j0);
            if (!b->w2)
                *out = sinkhorn_grid_bound(s->grid, BASE_MIN(i, j), BASE_MAX(i, j), 0, 0, worker);
            *out = lowered(s, i, j, *out);
        }
    return DDSC_OK;
}

static const pair_backend bound_sinkhorn = {.name = "sinkhorn lower bounds",
                                            .tile_side = BOUND_SIDE,
                                            .open = bound_open,
                                            .tile = bound_tile,
                                            .close = bound_close,
                                            .plan = bound_plan};

static double sinkhorn_closer(const void *state, int64_t i, int64_t j, double enough)
{
    const bound_state *b = state;
    if (!b->w2)
        return 0;
    return lowered(b->s, i, j, bound_w2_closer(b->w2, i, j, raised(b->s, i, j, enough)));
}

static ddsc_status sinkhorn_refine_open(void *state, bool *offered)
{
    sinkhorn *s = state;
    bool sharp = s->value == DDSC_SINKHORN_SHARP;
    bool small = !s->grid && s->epsilon < SMALL_EPSILON * s->range;
    bool by_w2 = (sharp || small) && refine_applies(s->m);
    *offered = !sharp || by_w2;
    if (by_w2)
        return refine_make(s->ctx, &s->w2, s->m);
    bool by_solver = *offered && !s->grid && !s->shared;
    for (int w = 0; by_solver && w < s->n_workers; w++)
        CHECK(sinkhorn_reserve(s->solver[w], measures_largest_item(s->m)));
    return DDSC_OK;
}

static double sinkhorn_refine(void *state, int64_t i, int64_t j, double enough, int worker)
{
    sinkhorn *s = state;
    bool known = isfinite(enough);
    double limit = known ? raised(s, i, j, enough) * (1 + 2e-9) : INFINITY;
    if (s->w2)
        return lowered(s, i, j, refine_pair(s->w2, i, j, limit, worker));
    if (s->grid)
        return lowered(
            s, i, j,
            sinkhorn_grid_bound(s->grid, i, j, limit, known ? REFINE_ROUNDS : LOOK_ROUNDS, worker));
    if (s->shared)
        return lowered(s, i, j, sinkhorn_shared_bound(s->shared, i, j, limit, worker));
    sinkhorn_problem problem = sinkhorn_pair(s, i, j, worker);
    return lowered(s, i, j, sinkhorn_bound(s->solver[worker], &problem, limit));
}

/* Off the grid small problems are solved faster than their bounds are found, and so are those of a
 * large epsilon, which take few iterations; its sharp values are far above W2. */
static bool sinkhorn_pays(const void *state)
{
    const sinkhorn *s = state;
    bool sharp = s->value == DDSC_SINKHORN_SHARP;
    bool slow = s->epsilon <= (sharp ? LARGE_EPSILON_SHARP : LARGE_EPSILON) * s->range;
    return by_dual(s) || (slow && s->m->nnz >= DENSE_POINTS * s->m->n);
}

const pair_pruning pruning_sinkhorn = {.bound = &bound_sinkhorn,
                                       .closer = sinkhorn_closer,
                                       .refine_open = sinkhorn_refine_open,
                                       .refine = sinkhorn_refine,
                                       .pays = sinkhorn_pays};
