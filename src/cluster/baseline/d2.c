/* D2 clustering (Li, Wang 2008; centers as in Ye, Wu, Wang, Li 2017) and PD2 (Huang, Ma, Lai 2021).
 * The algorithm is k-means with W2 as the distance and barycenters as the means. With other ground
 * costs, it becomes k-medians or k-medoids. */
#include "cluster/baseline/d2.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"

enum { POLISH_ROUNDS = 40 };

struct ddsc_d2 {
    ddsc_context *ctx;
    centers c;
    int32_t *label;
    double *cost, *objective;
    ddsc_d2_view view;
};

static const ddsc_d2_settings defaults = {.k = 2,
                                          .method = DDSC_BARYCENTER_ADMM,
                                          .rho = 2,
                                          .epsilon = 0.02,
                                          .max_rounds = 100,
                                          .projection_dim = 2,
                                          .restarts = 3,
                                          .max_iterations = 100,
                                          .tolerance = 1e-4};
SIZED_INIT(settings_struct, ddsc_d2_settings, restarts, &defaults);

/* Checks the settings. Sets `center` to the settings for the barycenters. */
static ddsc_status d2_settings_take(ddsc_context *ctx, ddsc_d2_settings *own,
                                    ddsc_barycenter_settings *center, const ddsc_d2_settings *given,
                                    const measures *m)
{
    ddsc_barycenter_settings b;
    CHECK(sized_take(ctx, &settings_struct, own, given));
    ddsc_barycenter_settings_init(&b);
    b.method = own->method;
    b.support_size = own->support_size;
    b.rho = own->rho;
    b.epsilon = own->epsilon;
    b.max_rounds = own->max_rounds;
    b.projection_dim = own->projection_dim;
    b.cost = own->cost;
    b.cost_matrix = own->cost_matrix;
    b.cost_size = own->cost_size;
    CHECK(barycenter_settings_take(ctx, center, &b));
    if (own->k < 1 || own->k > m->n)
        CHECK(ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                       "k = %lld: must be 1 .. %lld (the number of items)", (long long)own->k,
                       (long long)m->n));
    if (own->restarts < 1 || own->max_iterations < 1)
        CHECK(ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                       "restarts = %lld, max_iterations = %lld: must be at least 1",
                       (long long)own->restarts, (long long)own->max_iterations));
    if (!(own->tolerance >= 0 && own->tolerance < 1))
        CHECK(ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "tolerance = %g: must be >= 0 and < 1",
                       own->tolerance));
    return DDSC_OK;
}

/* ---- results ---- */

void ddsc_d2_destroy(ddsc_d2 *d)
{
    if (!d)
        return;
    ddsc_context *ctx = d->ctx;
    centers_free(ctx, &d->c);
    MEM_FREE(ctx, d->objective, d->cost, d->label, d);
}

static ddsc_status d2_create(ddsc_d2 **out, const d2_run *r)
{
    ddsc_status status = DDSC_OK;
    ddsc_d2 *d = NULL;
    const fit *f = &r->f;
    TRY(MEM_ZERO(r->ctx, d, 1));
    d->ctx = r->ctx;
    d->view.n = f->m->n;
    TRY(centers_create(r->ctx, &d->c, f->c.k, f->c.n, f->c.d));
    TRY(MEM_NEW(r->ctx, d->label, f->m->n));
    TRY(MEM_NEW(r->ctx, d->cost, f->m->n));
    TRY(MEM_NEW(r->ctx, d->objective, r->set->max_iterations + POLISH_ROUNDS + 1));
    *out = d;
    d = NULL;
done:
    ddsc_d2_destroy(d);
    return status;
}

static double total(const d2_run *r)
{
    double sum = 0;
    for (int64_t i = 0; i < r->f.m->n; i++)
        sum += r->value[i];
    return sum;
}

static double last_objective(const ddsc_d2 *d)
{
    return d->objective[d->view.n_objective - 1];
}

/* Stores the current state of the run as the best result so far. */
static void keep_run(ddsc_d2 *d, const d2_run *r, double objective)
{
    size_t n = (size_t)r->f.m->n;
    d->objective[d->view.n_objective++] = objective;
    memcpy(d->label, r->label, n * sizeof *d->label);
    memcpy(d->cost, r->value, n * sizeof *d->cost);
    centers_copy(&d->c, &r->f.c);
}

/* Renumbers clusters and centers in order of first appearance. Empty clusters come last. */
static ddsc_status renumber(ddsc_d2 *d, d2_run *r)
{
    ddsc_status status = DDSC_OK;
    int32_t *name = NULL;
    int64_t k = d->c.k, n_found = 0, size = d->c.n * d->c.d;
    TRY(MEM_NEW(r->ctx, name, k));
    for (int64_t c = 0; c < k; c++)
        name[c] = -1;
    centers_copy(&r->f.c, &d->c);
    for (int64_t i = 0; i < r->f.m->n; i++) {
        int32_t old = d->label[i];
        if (name[old] < 0) {
            name[old] = (int32_t)n_found;
            memcpy(d->c.x + n_found * size, r->f.c.x + old * size, (size_t)size * sizeof *d->c.x);
            memcpy(d->c.w + n_found * d->c.n, r->f.c.w + old * d->c.n,
                   (size_t)d->c.n * sizeof *d->c.w);
            n_found++;
        }
        d->label[i] = name[old];
    }
    d->view.k = n_found;
done:
    mem_free(r->ctx, name);
    return status;
}

/* ---- the loop ---- */

static ddsc_status timed(double *seconds, double began, ddsc_status status)
{
    *seconds += clock_seconds() - began;
    return status;
}

/* Returns the relative gain below which the run has converged. The limit is larger if no label
 * changed, because the remaining gain is then small. */
static double least_gain(const d2_run *r, int64_t n_changed)
{
    return fmin(r->set->tolerance * (n_changed == 0 ? 10 : 1), 0.5);
}

static ddsc_status d2_restart(d2_run *r, ddsc_d2 *d, ddsc_d2_view *time, int64_t restart)
{
    rng random = rng_make(ctx_seed(r->ctx), RNG_D2, (uint64_t)(r->set->restarts + restart));
    int64_t n_changed = 0;
    d->view.restart = restart;
    CHECK(timed(&time->seconds_start, clock_seconds(), d2run_start(r, restart)));
    CHECK(timed(&time->seconds_assign, clock_seconds(), d2run_assign(r, &n_changed, &random)));
    keep_run(d, r, total(r));
    for (int64_t step = 0; step < r->set->max_iterations && !d->view.converged; step++) {
        double began = clock_seconds(), before = last_objective(d);
        CHECK(timed(&time->seconds_centers, began, d2run_update(r)));
        began = clock_seconds();
        CHECK(d2run_drift(r));
        CHECK(timed(&time->seconds_assign, began, d2run_assign(r, &n_changed, &random)));
        double objective = total(r);
        if (objective < before)
            keep_run(d, r, objective);
        d->view.converged = !(objective < before * (1 - least_gain(r, n_changed)));
        progress_add(r->ctx, 1);
        CHECK(progress_poll(r->ctx));
    }
    return DDSC_OK;
}

/* Improves the best restart with exact passes, which are cheap near the optimum and reach a lower
 * cost than the method alone. */
static ddsc_status polish(d2_run *r, ddsc_d2 *d)
{
    ddsc_status status = DDSC_OK;
    rng random = rng_make(ctx_seed(r->ctx), RNG_D2, (uint64_t)(2 * r->set->restarts));
    double *step = NULL;
    int64_t n_changed = 0;
    TRY(MEM_NEW(r->ctx, step, d->c.k));
    for (int64_t c = 0; c < d->c.k; c++)
        step[c] = D2_FIRST_STEP;
    centers_copy(&r->f.c, &d->c);
    memcpy(r->label, d->label, (size_t)r->f.m->n * sizeof *r->label);
    memset(r->bound, 0, (size_t)(r->f.m->n * d->c.k) * sizeof *r->bound);
    for (int round = 0, idle = 0; round < POLISH_ROUNDS && idle < 2; round++) {
        double before = last_objective(d);
        TRY(d2run_polish(r, step));
        TRY(d2run_drift(r));
        TRY(d2run_assign(r, &n_changed, &random));
        double objective = total(r);
        if (objective < before)
            keep_run(d, r, objective);
        idle = objective < before * (1 - 0.1 * r->set->tolerance) ? 0 : idle + 1;
        TRY(progress_poll(r->ctx));
    }
done:
    mem_free(r->ctx, step);
    return status;
}

static ddsc_status run_all(d2_run *r, ddsc_d2 **out)
{
    ddsc_status status = DDSC_OK;
    ddsc_d2 *best = NULL, *now = NULL;
    ddsc_d2_view time = {0};
    progress_begin(r->ctx, "barycenters", 0);
    for (int64_t restart = 0; restart < r->set->restarts; restart++) {
        TRY(d2_create(&now, r));
        TRY(d2_restart(r, now, &time, restart));
        if (!best || last_objective(now) < last_objective(best)) {
            ddsc_d2 *worse = best;
            best = now;
            now = worse;
        }
        ddsc_d2_destroy(now);
        now = NULL;
    }
    if (r->method->judged)
        TRY(polish(r, best));
    progress_end(r->ctx);
    TRY(renumber(best, r));
    best->view.seconds_start = time.seconds_start;
    best->view.seconds_assign = time.seconds_assign;
    best->view.seconds_centers = time.seconds_centers;
    best->view.n_pairs = r->n_pairs;
    for (int w = 0; w < r->f.n_workers; w++)
        best->view.n_solved += r->solved[w];
    status = best->view.converged ? DDSC_OK : DDSC_NOT_CONVERGED;
    *out = best;
    best = NULL;
done:
    ddsc_d2_destroy(now);
    ddsc_d2_destroy(best);
    return status;
}

static void take_run(void *owner, arena *a)
{
    d2_run *r = owner;
    int64_t n = r->f.m->n, k = r->f.c.k;
    ARENA_TAKE(a, r->label, n);
    ARENA_TAKE(a, r->value, n);
    ARENA_TAKE(a, r->next_value, n);
    ARENA_TAKE(a, r->bound, n * k);
    ARENA_TAKE(a, r->mean, k * r->f.c.d);
    ARENA_TAKE(a, r->least, k);
    ARENA_TAKE(a, r->proposed, k);
    ARENA_TAKE(a, r->changed, r->f.n_workers);
    ARENA_TAKE(a, r->solved, r->f.n_workers);
}

static ddsc_status run_open(d2_run *r, const measures *m, const ground_cost *ground)
{
    const ddsc_barycenter_settings *b = r->center;
    method_settings set = method_settings_of(b);
    int64_t k = r->set->k, n = b->support_size ? b->support_size : center_size_default(m),
            cells = 0;
    if (!mul_ok(m->n, k, &cells) || cells > INT64_MAX / 64)
        CHECK(ctx_fail(r->ctx, DDSC_ERROR_MEMORY,
                       "cannot allocate bounds for %lld items and %lld centers", (long long)m->n,
                       (long long)k));
    r->method = method_find(b->method);
    CHECK(fit_open(&r->f, r->ctx, m, ground, k, n, method_extra(r->method, m->d, &set), NULL));
    CHECK(r->method->open(&r->state, &r->f, &set));
    CHECK(centers_create(r->ctx, &r->before, k, n, m->d));
    CHECK(centers_create(r->ctx, &r->moved, k, n, m->d));
    CHECK(workspace_lay_out(r->ctx, &r->own, take_run, r));
    memset(r->solved, 0, (size_t)r->f.n_workers * sizeof *r->solved);
    return DDSC_OK;
}

static void run_close(d2_run *r)
{
    ddsc_context *ctx = r->ctx;
    mem_free(ctx, r->own.block);
    centers_free(ctx, &r->moved);
    centers_free(ctx, &r->before);
    if (r->method)
        r->method->close(r->state);
    if (r->f.ctx)
        fit_close(&r->f);
}

ddsc_status ddsc_d2_run(ddsc_context *ctx, ddsc_d2 **out, const ddsc_measures *m,
                        const ddsc_d2_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_d2_settings set;
    ddsc_barycenter_settings center;
    metric_resolved cost = {0};
    CHECK(ctx_enter_new(ctx, out));
    d2_run r = {.ctx = ctx, .set = &set, .center = &center};
    CHECK(ctx_need(ctx, m, "measures"));
    TRY(d2_settings_take(ctx, &set, &center, settings, m));
    TRY(barycenter_cost(ctx, &cost, m, &center));
    ground_cost ground = ground_of(&cost.set);
    TRY(run_open(&r, metric_measures(&cost, m), &ground));
    TRY(run_all(&r, out));
done:
    run_close(&r);
    metric_resolved_free(&cost);
    return status;
}

void ddsc_d2_get_view_sized(const ddsc_d2 *d, ddsc_d2_view *view, size_t size)
{
    ddsc_d2_view own = {0};
    if (d) {
        own = d->view;
        own.labels = d->label;
        own.cost = d->cost;
        own.objective = d->objective;
        own.center_size = d->c.n;
        own.dim = d->c.d;
        own.support = d->c.x;
        own.weights = d->c.w;
    }
    sized_view(view, size, &own, sizeof own);
}
