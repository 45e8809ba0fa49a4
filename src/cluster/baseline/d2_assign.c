/* Assigns items to centers using exact transport. A center is skipped if the distance between the
 * means or the triangle inequality shows that it cannot be the nearest center (Elkan 2003). The
 * triangle inequality holds because W2 and W1 are metrics. */
#include <math.h>
#include <string.h>

#include "cluster/baseline/d2.h"

static const double bound_slack = 1e-9; /* covers the rounding errors of bounds */

/* ---- k-means++ ---- */

typedef struct seeding {
    d2_run *r;
    int64_t chosen;
    double *near; /* cost to the nearest center chosen so far */
} seeding;

static ddsc_status measure_items(void *arg, int64_t begin, int64_t end, int worker)
{
    seeding *s = arg;
    const fit *f = &s->r->f;
    int64_t d = f->m->d;
    for (int64_t i = begin; i < end; i++) {
        exact_result found;
        const double *mean = f->stats.mean;
        if (fit_mean_bound(f, mean + i * d, mean + s->chosen * d) >= s->near[i])
            continue;
        CHECK(fit_solve(f, worker, &found, f->m, s->chosen, i));
        s->near[i] = fmin(s->near[i], found.primal);
    }
    return DDSC_OK;
}

/* Draws an item with probability proportional to `near`, or uniformly if all values are 0. */
static int64_t draw_item(const double *near, int64_t n, rng *random)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += near[i];
    if (!(sum > 0))
        return rng_below(random, n);
    double left = rng_uniform(random) * sum;
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) {
        if (near[i] > 0)
            last = i;
        left -= near[i];
        if (left < 0)
            return last;
    }
    return last;
}

ddsc_status d2run_start(d2_run *r, int64_t restart)
{
    ddsc_status status = DDSC_OK;
    fit *f = &r->f;
    int64_t n = f->m->n, k = f->c.k;
    rng random = rng_make(ctx_seed(r->ctx), RNG_D2, (uint64_t)restart);
    seeding s = {.r = r};
    TRY(MEM_NEW(r->ctx, s.near, n));
    for (int64_t i = 0; i < n; i++)
        s.near[i] = INFINITY;
    s.chosen = rng_below(&random, n);
    for (int64_t c = 0; c < k; c++) {
        TRY(fit_start_center(f, c, s.chosen, &random));
        if (c + 1 == k)
            break;
        TRY(parallel_for(r->ctx, n, 4, measure_items, &s));
        s.chosen = draw_item(s.near, n, &random);
    }
    for (int64_t i = 0; i < n; i++) {
        r->label[i] = -1;
        r->method->forget(r->state, i);
    }
    memset(r->bound, 0, (size_t)(n * k) * sizeof *r->bound);
done:
    mem_free(r->ctx, s.near);
    return status;
}

/* ---- assignment to the nearest center ---- */

static void find_means(d2_run *r)
{
    const centers *c = &r->f.c;
    memset(r->mean, 0, (size_t)(c->k * c->d) * sizeof *r->mean);
    for (int64_t p = 0; p < c->k * c->n; p++)
        for (int64_t k = 0; k < c->d; k++)
            r->mean[p / c->n * c->d + k] += c->w[p] * c->x[p * c->d + k];
}

typedef struct serving {
    int32_t label;
    double value;
} serving;

/* Computes the cost of item i to center c, unless a bound shows that it is no better than the best
 * center so far. */
static ddsc_status try_center(d2_run *r, serving *best, int64_t i, int64_t c, int worker)
{
    const fit *f = &r->f;
    int64_t d = f->c.d;
    double *bound = &r->bound[i * f->c.k + c];
    exact_result found;
    double apart = fit_mean_bound(f, f->stats.mean + i * d, r->mean + c * d);
    *bound = fmax(*bound, fit_distance(f, apart));
    if (fit_cost(f, *bound) * (1 - bound_slack) > best->value)
        return DDSC_OK;
    CHECK(fit_solve(f, worker, &found, &f->c.view, c, i));
    r->solved[worker]++;
    *bound = fit_distance(f, fmax(found.dual, 0));
    if (found.primal < best->value)
        *best = (serving){(int32_t)c, found.primal};
    return DDSC_OK;
}

static ddsc_status serve_items(void *arg, int64_t begin, int64_t end, int worker)
{
    d2_run *r = arg;
    for (int64_t i = begin; i < end; i++) {
        serving best = {-1, INFINITY};
        int32_t own = r->label[i];
        if (own >= 0)
            CHECK(try_center(r, &best, i, own, worker));
        for (int64_t c = 0; c < r->f.c.k; c++)
            if (c != own)
                CHECK(try_center(r, &best, i, c, worker));
        r->value[i] = best.value;
        if (best.label == own)
            continue;
        r->label[i] = best.label;
        r->changed[worker]++;
        r->method->forget(r->state, i);
    }
    return DDSC_OK;
}

/* Returns the item with the largest cost among the clusters of at least two items, or -1 if all
 * costs are 0. */
static int64_t worst_served(const d2_run *r, const int64_t *size)
{
    int64_t worst = -1;
    for (int64_t i = 0; i < r->f.m->n; i++)
        if (size[r->label[i]] > 1 && r->value[i] > 0 &&
            (worst < 0 || r->value[i] > r->value[worst]))
            worst = i;
    return worst;
}

/* Initializes the center of each empty cluster from the item with the largest cost, and moves the
 * item to this cluster if that reduces its cost. */
static ddsc_status fill_empty_cluster(d2_run *r, int64_t *n_changed, rng *random)
{
    ddsc_status status = DDSC_OK;
    fit *f = &r->f;
    int64_t *size = NULL, k = f->c.k;
    TRY(MEM_ZERO(r->ctx, size, k));
    for (int64_t i = 0; i < f->m->n; i++)
        size[r->label[i]]++;
    for (int64_t c = 0; c < k; c++) {
        int64_t item = size[c] > 0 ? -1 : worst_served(r, size);
        exact_result found;
        if (item < 0)
            continue;
        TRY(fit_start_center(f, c, item, random));
        for (int64_t i = 0; i < f->m->n; i++)
            r->bound[i * k + c] = 0;
        TRY(fit_solve(f, 0, &found, &f->c.view, c, item));
        if (!(found.primal < r->value[item]))
            continue;
        size[r->label[item]]--;
        size[c]++;
        r->label[item] = (int32_t)c;
        r->value[item] = found.primal;
        r->method->forget(r->state, item);
        ++*n_changed;
    }
done:
    mem_free(r->ctx, size);
    return status;
}

ddsc_status d2run_assign(d2_run *r, int64_t *n_changed, rng *random)
{
    *n_changed = 0;
    find_means(r);
    memset(r->changed, 0, (size_t)r->f.n_workers * sizeof *r->changed);
    CHECK(parallel_for(r->ctx, r->f.m->n, 4, serve_items, r));
    r->n_pairs += r->f.m->n * r->f.c.k;
    for (int w = 0; w < r->f.n_workers; w++)
        *n_changed += r->changed[w];
    return fill_empty_cluster(r, n_changed, random);
}

/* ---- centers that have moved ---- */

ddsc_status d2run_drift(d2_run *r)
{
    const fit *f = &r->f;
    for (int64_t c = 0; c < f->c.k; c++) {
        exact_result found;
        ddsc_status solved =
            exact_solve_items(f->solver[0], &found, &r->before.view, c, &f->c.view, c, 0);
        CHECK(solved < 0 ? solved : DDSC_OK);
        double moved = fit_distance(f, fmax(found.primal, 0));
        for (int64_t i = 0; i < f->m->n; i++)
            r->bound[i * f->c.k + c] = fmax(r->bound[i * f->c.k + c] - moved, 0);
    }
    return DDSC_OK;
}
