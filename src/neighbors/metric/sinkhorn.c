/* Implements the pair backend for entropic transport. Computes the requested value from the results
 * of the solvers and, for the divergence, also the value of each item with itself. */
#include "base/team.h"
#include "neighbors/metric/sinkhorn.h"

#include "neighbors/metric/metric.h"
#include "neighbors/pairs/pairs.h"

static void sinkhorn_close(void *state)
{
    sinkhorn_metric *s = state;
    if (!s)
        return;
    metric_device_close(s->remote);
    mem_free(s->ctx, s->stats);
    mem_free(s->ctx, s->self);
    sinkhorn_set_close(s->set);
    mem_free(s->ctx, s);
}

static void count(ddsc_pair_stats *stats, const sinkhorn_result *found, ddsc_status solved)
{
    stats->n_iterations += found->iterations;
    stats->max_gap = BASE_MAX(stats->max_gap, found->marginal_error);
    stats->n_not_converged += solved == DDSC_NOT_CONVERGED;
}

/* ---- tiles ---- */

typedef struct tile_target {
    const sinkhorn_metric *s;
    const pair_tile *t;
    double *d2;
    int64_t ld;
    ddsc_pair_stats *stats;
} tile_target;

static double *entry_of(const tile_target *to, int64_t i, int64_t j)
{
    return to->d2 + (i - to->t->i0) * to->ld + (j - to->t->j0);
}

static void take(void *arg, int64_t i, int64_t j, const sinkhorn_result *found, ddsc_status solved)
{
    const tile_target *to = arg;
    const sinkhorn_metric *s = to->s;
    double value = s->rule.sharp ? found->sharp : found->regularized;
    count(to->stats, found, solved);
    if (s->self)
        value = BASE_MAX(0, value - 0.5 * (s->self[i] + s->self[j]));
    *entry_of(to, i, j) = s->is_distance ? value * value : value;
}

/* Returns true if the pair still needs a solve. Returns false if a device has already computed the
 * value. Also returns false for the divergence of equal items, which is set to exactly 0 to avoid
 * the rounding errors of three terms. */
static bool wants(void *arg, int64_t i, int64_t j)
{
    const tile_target *to = arg;
    sinkhorn_result found;
    if (!tile_wants(to->t, i, j))
        return false;
    if (to->s->self && measures_equal_items(to->s->m, i, j)) {
        *entry_of(to, i, j) = 0;
        return false;
    }
    if (!metric_device_find(to->s->remote, &found, i, j))
        return true;
    take(arg, i, j, &found, DDSC_OK);
    return false;
}

static ddsc_status sinkhorn_solve_tile(void *state, const pair_tile *t, double *d2, int64_t ld,
                                       int worker, ddsc_pair_stats *stats)
{
    sinkhorn_metric *s = state;
    tile_target to = {s, t, d2, ld, stats};
    sinkhorn_tile tile = {{t->i0, t->i1, t->j0, t->j1}, wants, take, &to};
    return sinkhorn_set_tile(s->set, &tile, worker);
}

/* ---- open and close ---- */

static ddsc_status self_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sinkhorn_metric *s = arg;
    for (int64_t i = begin; i < end; i++) {
        sinkhorn_result found;
        ddsc_status solved = sinkhorn_set_self(s->set, &found, i, worker);
        if (solved < 0)
            return solved;
        count(&s->stats[worker], &found, solved);
        s->self[i] = found.regularized;
        progress_add(s->ctx, 1);
    }
    return DDSC_OK;
}

static ddsc_status find_self_terms(sinkhorn_metric *s, ddsc_pair_stats *stats)
{
    int n_workers = parallel_width(s->ctx);
    CHECK(MEM_ZERO(s->ctx, s->stats, n_workers));
    CHECK(MEM_NEW(s->ctx, s->self, s->m->n));
    progress_begin(s->ctx, "self terms", s->m->n);
    CHECK(team_fill(s->ctx, s->self, s->m->n, 4, sizeof *s->self, self_range, s));
    progress_end(s->ctx);
    ddsc_pair_stats all = {0};
    for (int w = 0; w < n_workers; w++)
        pairs_merge_stats(&all, &s->stats[w]);
    CHECK(team_stats(s->ctx, &all));
    pairs_merge_stats(stats, &all);
    return DDSC_OK;
}

static ddsc_status sinkhorn_open(void **state, const pair_job *job, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    const ddsc_metric_settings *set = job->set;
    sinkhorn_metric *s = NULL;
    TRY(MEM_ZERO(job->ctx, s, 1));
    *s = (sinkhorn_metric){.ctx = job->ctx, .m = job->m, .value = set->sinkhorn_value};
    s->ground = ground_of(set);
    s->is_distance = metric_is_distance(set);
    TRY(ground_check(job->ctx, &s->ground, job->m));
    s->range = ground_range(&s->ground, job->m);
    s->rule = (sinkhorn_rule){.epsilon = set->epsilon,
                              .tolerance = set->sinkhorn_tolerance,
                              .max_iterations = set->sinkhorn_max_iterations,
                              .sharp = set->sinkhorn_value == DDSC_SINKHORN_SHARP};
    TRY(sinkhorn_set_open(job->ctx, &s->set, job->m, &s->ground, &s->rule, &job->frame));
    if (s->value == DDSC_SINKHORN_DEBIASED)
        TRY(find_self_terms(s, stats));
    if (job->matrix)
        TRY(metric_device_open(&s->remote, s, sinkhorn_set_side(s->set)));
    *state = s;
    s = NULL;
done:
    sinkhorn_close(s);
    return status;
}

static void sinkhorn_shape(const void *state, pair_shape *shape)
{
    const sinkhorn_metric *s = state;
    shape->tile_side = sinkhorn_set_side(s->set);
    shape->strip = metric_device_strip(s->remote);
}

static ddsc_status sinkhorn_prepare(void *state, int64_t j0, int64_t j1)
{
    sinkhorn_metric *s = state;
    if (s->remote)
        metric_device_prepare(s->remote, j0, j1);
    return DDSC_OK;
}

const pair_backend metric_sinkhorn = {
    .name = "sinkhorn",
    .tile_side = 1, /* sinkhorn_shape sets the actual value */
    .open = sinkhorn_open,
    .tile = sinkhorn_solve_tile,
    .close = sinkhorn_close,
    .shape = sinkhorn_shape,
    .prepare = sinkhorn_prepare,
    .bounds = &metric_sinkhorn_bounds,
};
