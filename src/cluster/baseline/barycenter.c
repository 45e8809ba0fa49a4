/* Computes one Wasserstein barycenter. An iterative method proposes centers, and every few rounds
 * exact transport evaluates the current center. Finally, exact passes improve the best center. All
 * reported values are computed from exact plans and never increase. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "cluster/baseline/baseline.h"
#include "neighbors/planner/plan.h"

enum { STAGE_ROUNDS = 100, START_TRIALS = 8, START_SAMPLE = 64, PATIENCE = 2 };
static const double FIRST_STEP = 0.5, LAST_STEP = 0.01;

struct ddsc_barycenter {
    ddsc_context *ctx;
    centers c;
    double *objective;
    ddsc_barycenter_view view;
};

typedef struct barycenter_search {
    ddsc_context *ctx;
    fit f;
    const ddsc_barycenter_settings *set;
    const center_method *method;
    void *state;
    double *value;    /* cost of each item */
    double *best_sum; /* sums of the exact pass with the best center so far */
    int32_t *label;   /* all 0 */
    double total;     /* sum of the item weights */
    int64_t capacity; /* allocated number of values */
    int64_t start[START_TRIALS], n_starts;
    ddsc_barycenter *best; /* best result of the previous restarts */
    ddsc_barycenter *out;
} barycenter_search;

/* ---- settings ---- */

static const ddsc_barycenter_settings defaults = {.method = DDSC_BARYCENTER_ADMM,
                                                  .rho = 1,
                                                  .epsilon = 0.02,
                                                  .max_rounds = 2000,
                                                  .max_passes = 500,
                                                  .tolerance = 1e-6,
                                                  .projection_dim = 2,
                                                  .restarts = 3};
SIZED_INIT(settings_struct, ddsc_barycenter_settings, item_weights, &defaults);

static ddsc_status check_number(ddsc_context *ctx, const char *field, double value)
{
    return ctx_check(ctx, value > 0 && isfinite(value), field, value, "positive and finite");
}

static ddsc_status check_within(ddsc_context *ctx, const char *field, int64_t value, int64_t least,
                                int64_t most)
{
    if (value >= least && value <= most)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s = %lld: must be %lld .. %lld", field,
                    (long long)value, (long long)least, (long long)most);
}

/* Returns true for costs that the mean does not minimize. */
static bool by_distances(int64_t cost)
{
    return cost == DDSC_COST_EUCLIDEAN || cost == DDSC_COST_CITYBLOCK || cost == DDSC_COST_MATRIX;
}

ddsc_status barycenter_settings_take(ddsc_context *ctx, ddsc_barycenter_settings *own,
                                     const ddsc_barycenter_settings *given)
{
    CHECK(sized_take(ctx, &settings_struct, own, given));
    CHECK(
        check_within(ctx, "barycenter method", (int64_t)own->method, 0, DDSC_BARYCENTER_PROJECTED));
    CHECK(check_within(ctx, "support_size", own->support_size, 0, INT32_MAX));
    CHECK(check_number(ctx, "rho", own->rho));
    CHECK(check_number(ctx, "epsilon", own->epsilon));
    CHECK(check_within(ctx, "max_rounds", own->max_rounds, 0, INT32_MAX));
    CHECK(check_within(ctx, "max_passes", own->max_passes, 0, INT32_MAX));
    CHECK(check_number(ctx, "tolerance", own->tolerance));
    CHECK(check_within(ctx, "projection_dim", own->projection_dim, 1, 8));
    CHECK(check_within(ctx, "restarts", own->restarts, 1, INT32_MAX));
    CHECK(check_within(ctx, "cost", own->cost, 0, DDSC_COST_MATRIX));
    if (own->method == DDSC_BARYCENTER_ADMM || !by_distances(own->cost))
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "cost = %s: the barycenter method %s requires sqeuclidean or cosine, "
                    "because it moves points to means; use the method admm for other costs",
                    plan_cost_name(own->cost), method_find(own->method)->name);
}

ddsc_status barycenter_cost(ddsc_context *ctx, metric_resolved *cost, const measures *m,
                            const ddsc_barycenter_settings *set)
{
    ddsc_metric_settings own;
    CHECK(plan_take_metric(ctx, &own, NULL));
    own.metric = by_distances(set->cost) ? DDSC_METRIC_W1 : DDSC_METRIC_W2;
    own.cost = set->cost;
    own.cost_matrix = set->cost_matrix;
    own.cost_size = set->cost_size;
    CHECK(plan_check_metric(ctx, &own));
    return metric_resolve(ctx, cost, m, &own);
}

method_settings method_settings_of(const ddsc_barycenter_settings *set)
{
    return (method_settings){set->rho, set->epsilon, set->projection_dim};
}

const center_method *method_find(ddsc_barycenter_method method)
{
    return method == DDSC_BARYCENTER_ADMM  ? &method_admm
           : method == DDSC_BARYCENTER_IBP ? &method_ibp
                                           : &method_projected;
}

static ddsc_status check_item_weights(ddsc_context *ctx, const double *weight, int64_t n)
{
    for (int64_t i = 0; weight && i < n; i++)
        if (!(weight[i] > 0 && isfinite(weight[i])))
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "item_weights[%lld] = %g: must be positive and finite", (long long)i,
                            weight[i]);
    return DDSC_OK;
}

/* ---- starts: random items, sorted by mean cost to a sample of all items ---- */

typedef struct start_trial {
    barycenter_search *s;
    int64_t candidate[START_TRIALS], n_sample, stride;
    double distance[START_TRIALS * START_SAMPLE];
} start_trial;

static ddsc_status try_pairs(void *arg, int64_t begin, int64_t end, int worker)
{
    start_trial *t = arg;
    const measures *m = t->s->f.m;
    for (int64_t at = begin; at < end; at++) {
        exact_result found;
        CHECK(fit_solve(&t->s->f, worker, &found, m, t->candidate[at / t->n_sample],
                        at % t->n_sample * t->stride));
        t->distance[at] = found.primal;
    }
    return DDSC_OK;
}

static ddsc_status choose_starts(barycenter_search *s)
{
    int64_t n = s->f.m->n, n_trials = BASE_MIN(n, START_TRIALS);
    double sum[START_TRIALS] = {0};
    start_trial t = {.s = s, .n_sample = BASE_MIN(n, START_SAMPLE)};
    rng r = rng_make(ctx_seed(s->ctx), RNG_BARYCENTER, 0);
    t.stride = n / t.n_sample;
    for (int64_t k = 0; k < n_trials; k++)
        t.candidate[k] = n <= START_TRIALS ? k : rng_below(&r, n);
    CHECK(parallel_for(s->ctx, n_trials * t.n_sample, 8, try_pairs, &t));
    for (int64_t k = 0; k < n_trials * t.n_sample; k++)
        sum[k / t.n_sample] += t.distance[k];
    for (s->n_starts = 0; s->n_starts < n_trials; s->n_starts++) {
        int64_t best = 0;
        for (int64_t k = 1; k < n_trials; k++)
            best = sum[k] < sum[best] ? k : best;
        s->start[s->n_starts] = t.candidate[best];
        sum[best] = INFINITY;
    }
    return DDSC_OK;
}

/* ---- the search ---- */

static double total_weight(const barycenter_search *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->f.m->n; i++)
        sum += fit_weight(&s->f, i);
    return sum;
}

/* Stores the current center, with mean cost `objective`, as the best so far. */
static ddsc_status keep_center(barycenter_search *s, double objective)
{
    ddsc_barycenter *out = s->out;
    int64_t at = out->view.n_objective;
    if (at == s->capacity) {
        CHECK(mem_resize(s->ctx, &out->objective, 2 * s->capacity, sizeof *out->objective));
        s->capacity *= 2;
    }
    out->objective[at] = objective;
    out->view.n_objective++;
    center_copy(&out->c, &s->f.c, 0);
    return DDSC_OK;
}

static double best_objective(const ddsc_barycenter *b)
{
    return b->objective[b->view.n_objective - 1];
}

static ddsc_status evaluate(barycenter_search *s, double *objective)
{
    ddsc_status status = fit_exact_pass(&s->f, s->value);
    *objective = sum_extra(&s->f, s->f.sum)[0] / s->total;
    return status;
}

/* Runs rounds of the method until they no longer improve the center. */
static ddsc_status propose(barycenter_search *s)
{
    int64_t *n_rounds = &s->out->view.n_rounds, done = 0;
    bool settled = false;
    for (int idle = 0; *n_rounds < s->set->max_rounds && !settled && idle < PATIENCE;) {
        double objective = 0, gain = 0, before = best_objective(s->out);
        CHECK(s->method->run(s->state, BASE_MIN(STAGE_ROUNDS, s->set->max_rounds - *n_rounds),
                             &done, &settled));
        *n_rounds += done;
        CHECK(evaluate(s, &objective));
        if (objective < before)
            CHECK(keep_center(s, objective));
        idle = objective < before * (1 - s->set->tolerance) ? 0 : idle + 1;
        if (!fit_means(&s->f)) /* the method did not move the points */
            CHECK(fit_move(&s->f, 0, &gain));
        progress_add(s->ctx, done);
        CHECK(progress_poll(s->ctx));
    }
    return DDSC_OK;
}

/* Evaluates the current center with one exact pass. Keeps it if it is better than the best center;
 * otherwise, restores the best center and its sums. Sets *gain to the relative improvement, or to 0
 * if there is none. */
static ddsc_status settle_center(barycenter_search *s, double *gain)
{
    double objective = 0, before = best_objective(s->out);
    size_t size = (size_t)s->f.slot * sizeof *s->f.sum;
    memcpy(s->best_sum, s->f.sum, size);
    CHECK(evaluate(s, &objective));
    s->out->view.n_passes++;
    *gain = objective < before ? 1 - objective / before : 0;
    if (objective < before) {
        CHECK(keep_center(s, objective));
    } else {
        center_copy(&s->f.c, &s->out->c, 0);
        memcpy(s->f.sum, s->best_sum, size);
    }
    return progress_poll(s->ctx);
}

/* Alternates between two kinds of exact passes. The first moves the points to their optimal
 * positions for fixed plans, which cannot increase the cost. The second changes the weights by a
 * step, which is shortened if the cost did not decrease and otherwise lengthened. */
static ddsc_status exact_descent(barycenter_search *s)
{
    bool converged = false;
    double objective = 0, step = FIRST_STEP;
    center_copy(&s->f.c, &s->out->c, 0);
    CHECK(evaluate(s, &objective));
    while (!converged && s->out->view.n_passes < s->set->max_passes) {
        double moved = 0, weighed = 0, gain = 0;
        CHECK(fit_move(&s->f, 0, &gain));
        CHECK(settle_center(s, &moved));
        fit_step_weights(&s->f, 0, step);
        CHECK(settle_center(s, &weighed));
        step = weighed > 0 ? fmin(2 * step, FIRST_STEP) : step / 4;
        if (!(weighed > 0) && !fit_means(&s->f)) /* recompute the plans of the best center */
            CHECK(evaluate(s, &objective));
        converged = moved <= s->set->tolerance && weighed <= s->set->tolerance && step < LAST_STEP;
    }
    s->out->view.converged = converged;
    return DDSC_OK;
}

static ddsc_status barycenter_create(barycenter_search *s)
{
    CHECK(MEM_ZERO(s->ctx, s->out, 1));
    s->out->ctx = s->ctx;
    s->capacity = 64;
    CHECK(MEM_NEW(s->ctx, s->out->objective, s->capacity));
    return centers_create(s->ctx, &s->out->c, 1, s->f.c.n, s->f.c.d);
}

static ddsc_status restart_run(barycenter_search *s, int64_t restart)
{
    double objective = 0;
    rng r = rng_make(ctx_seed(s->ctx), RNG_BARYCENTER, (uint64_t)restart + 1);
    CHECK(barycenter_create(s));
    CHECK(fit_start_center(&s->f, 0, s->start[restart % s->n_starts], &r));
    for (int64_t i = 0; i < s->f.m->n; i++)
        s->method->forget(s->state, i);
    CHECK(evaluate(s, &objective));
    CHECK(keep_center(s, objective));
    progress_begin(s->ctx, "barycenter", s->set->max_rounds);
    CHECK(propose(s));
    CHECK(exact_descent(s));
    progress_end(s->ctx);
    return DDSC_OK;
}

static ddsc_status restarts_run(barycenter_search *s)
{
    s->total = total_weight(s);
    CHECK(choose_starts(s));
    for (int64_t restart = 0; restart < s->set->restarts; restart++) {
        CHECK(restart_run(s, restart));
        if (!s->best || best_objective(s->out) < best_objective(s->best)) {
            ddsc_barycenter *worse = s->best;
            s->best = s->out;
            s->out = worse;
        }
        ddsc_barycenter_destroy(s->out);
        s->out = NULL;
    }
    return s->best->view.converged ? DDSC_OK : DDSC_NOT_CONVERGED;
}

static ddsc_status barycenter_open(barycenter_search *s, const measures *m,
                                   const ground_cost *ground)
{
    int64_t n = s->set->support_size ? s->set->support_size : center_size_default(m);
    method_settings set = method_settings_of(s->set);
    s->method = method_find(s->set->method);
    CHECK(fit_open(&s->f, s->ctx, m, ground, 1, n, method_extra(s->method, m->d, &set),
                   s->set->item_weights));
    CHECK(MEM_ZERO(s->ctx, s->label, m->n));
    CHECK(MEM_ZERO(s->ctx, s->value, m->n));
    CHECK(MEM_NEW(s->ctx, s->best_sum, s->f.slot));
    fit_group(&s->f, s->label);
    return s->method->open(&s->state, &s->f, &set);
}

static void barycenter_close(barycenter_search *s)
{
    if (s->method)
        s->method->close(s->state);
    MEM_FREE(s->ctx, s->best_sum, s->value, s->label);
    if (s->f.ctx)
        fit_close(&s->f);
    ddsc_barycenter_destroy(s->out);
    ddsc_barycenter_destroy(s->best);
}

ddsc_status ddsc_barycenter_run(ddsc_context *ctx, ddsc_barycenter **out, const ddsc_measures *m,
                                const ddsc_barycenter_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_barycenter_settings set;
    metric_resolved cost = {0};
    CHECK(ctx_enter_new(ctx, out));
    barycenter_search s = {.ctx = ctx, .set = &set};
    CHECK(ctx_need(ctx, m, "measures"));
    TRY(barycenter_settings_take(ctx, &set, settings));
    TRY(check_item_weights(ctx, set.item_weights, m->n));
    TRY(barycenter_cost(ctx, &cost, m, &set));
    ground_cost ground = ground_of(&cost.set);
    TRY(barycenter_open(&s, metric_measures(&cost, m), &ground));
    TRY(restarts_run(&s));
    *out = s.best;
    s.best = NULL;
done:
    barycenter_close(&s);
    metric_resolved_free(&cost);
    return status;
}

void ddsc_barycenter_destroy(ddsc_barycenter *barycenter)
{
    if (!barycenter)
        return;
    ddsc_context *ctx = barycenter->ctx;
    centers_free(ctx, &barycenter->c);
    MEM_FREE(ctx, barycenter->objective, barycenter);
}

void ddsc_barycenter_get_view_sized(const ddsc_barycenter *barycenter, ddsc_barycenter_view *view,
                                    size_t size)
{
    ddsc_barycenter_view own = {0};
    if (barycenter) {
        own = barycenter->view;
        own.n = barycenter->c.n;
        own.dim = barycenter->c.d;
        own.support = barycenter->c.x;
        own.weights = barycenter->c.w;
        own.objective = barycenter->objective;
    }
    sized_view(view, size, &own, sizeof own);
}
