/* Lower bounds of the sinkhorn values. Any potentials give one of the regularised value (the dual),
 * and so of the divergence, whose self terms are known. All values but the divergence are at least
 * W2^2, as the entropy term is not negative and the plan is one of those W2 chooses from: where the
 * dual is not cheap, and for the sharp value, the bounds of W2 serve.
 *
 * A value found with a marginal error e differs from the true one by at most e times the range of
 * the costs, which is taken off every bound. */
#include <math.h>

#include "bound/tuning.h"
#include "metric/metric.h"
#include "metric/sinkhorn.h"
#include "sinkhorn/tuning.h"

typedef struct sinkhorn_bound_state {
    sinkhorn_metric *s;
    void *w2;   /* bounds of W2; NULL: duals on the grid */
    bool by_w2; /* refined ones too */
} sinkhorn_bound_state;

static bool by_dual(const sinkhorn_metric *s)
{
    return sinkhorn_set_on_grid(s->set) && !s->rule.sharp;
}

/* What a bound of the transport value is above one of the value asked for. */
static double offset(const sinkhorn_metric *s, int64_t i, int64_t j)
{
    return s->rule.tolerance * s->range + (s->self ? 0.5 * (s->self[i] + s->self[j]) : 0);
}

static double lowered(const sinkhorn_metric *s, int64_t i, int64_t j, double bound)
{
    return BASE_MAX(0, bound - offset(s, i, j));
}

/* Off the grid small problems are solved faster than their bounds are found, and so are those of a
 * large epsilon, which take few iterations; its sharp values are far above W2. */
static bool sinkhorn_bound_pays(const void *metric)
{
    const sinkhorn_metric *s = metric;
    double most = s->rule.sharp ? BOUND_SHARP_EPSILON : BOUND_LARGE_EPSILON;
    bool slow = s->rule.epsilon <= most * s->range;
    return by_dual(s) || (slow && s->m->nnz >= BOUND_SINKHORN_POINTS * s->m->n);
}

static void sinkhorn_bound_close(void *state)
{
    sinkhorn_bound_state *b = state;
    if (!b)
        return;
    bound_w2_close(b->w2);
    mem_free(b->s->ctx, b);
}

static ddsc_status sinkhorn_bound_open(void **state, const bound_job *job)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_bound_state *b = NULL;
    TRY(MEM_ZERO(job->ctx, b, 1));
    b->s = job->metric;
    if (!by_dual(b->s))
        TRY(bound_w2_open(&b->w2, job, NULL));
    *state = b;
    b = NULL;
done:
    sinkhorn_bound_close(b);
    return status;
}

static int64_t sinkhorn_bound_side(const void *state)
{
    const sinkhorn_bound_state *b = state;
    return b->w2 ? bound_w2_side(b->w2) : BOUND_DUAL_SIDE;
}

static void sinkhorn_bound_tile(void *state, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                                double *out, int64_t ld, int worker)
{
    const sinkhorn_bound_state *b = state;
    sinkhorn_metric *s = b->s;
    if (b->w2)
        bound_w2_tile(b->w2, i0, i1, j0, j1, out, ld, worker);
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = i0 == j0 ? i + 1 : j0; j < j1; j++) {
            double *to = out + (i - i0) * ld + (j - j0);
            if (!b->w2)
                *to = sinkhorn_set_bound(s->set, BASE_MIN(i, j), BASE_MAX(i, j), 0, 1, worker);
            *to = lowered(s, i, j, *to);
        }
}

static double sinkhorn_bound_pair(const void *state, int64_t i, int64_t j, double enough)
{
    const sinkhorn_bound_state *b = state;
    if (!b->w2)
        return 0;
    return lowered(b->s, i, j, bound_w2_pair(b->w2, i, j, enough + offset(b->s, i, j)));
}

static ddsc_status sinkhorn_bound_refine(void *state, bool *offered)
{
    sinkhorn_bound_state *b = state;
    const sinkhorn_metric *s = b->s;
    bool small = !sinkhorn_set_on_grid(s->set) && s->rule.epsilon < BOUND_SMALL_EPSILON * s->range;
    if (s->rule.sharp || small)
        CHECK(bound_w2_refine(b->w2, &b->by_w2));
    *offered = !s->rule.sharp || b->by_w2;
    return *offered && !b->by_w2 ? sinkhorn_set_reserve(s->set) : DDSC_OK;
}

static double sinkhorn_bound_refined(void *state, int64_t i, int64_t j, double enough, int worker)
{
    const sinkhorn_bound_state *b = state;
    sinkhorn_metric *s = b->s;
    bool known = isfinite(enough);
    double limit = known ? (enough + offset(s, i, j)) * (1 + 2e-9) : INFINITY;
    if (b->by_w2)
        return lowered(s, i, j, bound_w2_refined(b->w2, i, j, limit, worker));
    int looks = known ? SINKHORN_GRID_LOOKS : SINKHORN_QUICK_LOOKS;
    return lowered(s, i, j, sinkhorn_set_bound(s->set, i, j, limit, looks, worker));
}

const bound_kind sinkhorn_bounds = {.name = "sinkhorn",
                                    .pays = sinkhorn_bound_pays,
                                    .open = sinkhorn_bound_open,
                                    .close = sinkhorn_bound_close,
                                    .side = sinkhorn_bound_side,
                                    .tile = sinkhorn_bound_tile,
                                    .pair = sinkhorn_bound_pair,
                                    .refine = sinkhorn_bound_refine,
                                    .refined = sinkhorn_bound_refined};
