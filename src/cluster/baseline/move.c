/* Moves the points of a center to their optimal positions for fixed plans. The optimal positions
 * are means for squared costs, geometric medians for distances, coordinate-wise medians for city
 * block costs, and the best row for a cost matrix. The cost for fixed plans never increases. */
#include <math.h>
#include <string.h>

#include "cluster/baseline/baseline.h"
#include "numeric/linalg/linalg.h"

enum { PULLS_MOST = 20 }; /* maximum number of steps per move; the next move continues */
static const double pull_least = 1e-9; /* relative decreases below this value are treated as 0 */
static const double pull_near =
    1e-3; /* targets within this fraction of the mean distance count as one */
static const double half_slack =
    1e-12; /* rounding tolerance when testing whether a sum of masses is half of the total */

/* ---- stored plans ---- */

static void take_flows(void *owner, arena *a)
{
    fit *f = owner;
    flows *w = &f->flow;
    int64_t n = f->c.n, most = f->m->n * n + f->m->nnz;
    ARENA_TAKE(a, w->row, most);
    ARENA_TAKE(a, w->to, most);
    ARENA_TAKE(a, w->mass, most);
    ARENA_TAKE(a, w->count, f->m->n);
    ARENA_TAKE(a, w->begin, n + 1);
    ARENA_TAKE(a, w->target, most);
    ARENA_TAKE(a, w->order, most);
    ARENA_TAKE(a, w->share, most);
    ARENA_TAKE(a, w->key, most);
    ARENA_TAKE(a, w->gain, n);
    ARENA_TAKE(a, w->held, f->ground.size);
}

ddsc_status fit_flows_open(fit *f)
{
    int64_t plans = 0;
    if (!mul_ok(f->m->n, f->c.n, &plans) || plans > INT64_MAX / 64 - f->m->nnz)
        return ctx_fail(f->ctx, DDSC_ERROR_MEMORY, "cannot allocate the plans of %lld items",
                        (long long)f->m->n);
    CHECK(workspace_lay_out(f->ctx, &f->flow.own, take_flows, f));
    return scratch_create(f->ctx, &f->flow.place, 2 * BASE_MAX(f->c.d, f->ground.size),
                          sizeof(double));
}

void fit_flows_close(fit *f)
{
    scratch_free(f->ctx, &f->flow.place);
    mem_free(f->ctx, f->flow.own.block);
}

static int64_t flows_begin(const fit *f, int64_t item)
{
    return item * f->c.n + f->m->offset[item];
}

void fit_flows_keep(fit *f, int64_t item, const exact_solver *solver, int64_t n_plan)
{
    flows *w = &f->flow;
    const int32_t *row, *column;
    const double *mass;
    item_view y = measures_item(f->m, item);
    int64_t at = flows_begin(f, item);
    exact_plan(solver, &row, &column, &mass);
    for (int64_t e = 0; e < n_plan; e++, at++) {
        w->row[at] = row[e];
        w->to[at] = y.index[column[e]];
        w->mass[at] = mass[e];
    }
    w->count[item] = n_plan;
}

/* Lists, for each point of the center, the targets that receive mass from it, and their masses, in
 * the order of the items. */
static void gather_flows(fit *f, int64_t cluster)
{
    flows *w = &f->flow;
    const int32_t *item = f->g.item + f->g.begin[cluster];
    int64_t n_items = f->g.begin[cluster + 1] - f->g.begin[cluster], n = f->c.n;
    memset(w->begin, 0, (size_t)(n + 1) * sizeof *w->begin);
    for (int64_t p = 0; p < n_items; p++)
        for (int64_t e = flows_begin(f, item[p]), k = 0; k < w->count[item[p]]; k++, e++)
            w->begin[w->row[e] + 1]++;
    for (int64_t i = 0; i < n; i++)
        w->begin[i + 1] += w->begin[i];
    for (int64_t p = 0; p < n_items; p++)
        for (int64_t e = flows_begin(f, item[p]), k = 0; k < w->count[item[p]]; k++, e++) {
            int64_t at = w->begin[w->row[e]]++;
            w->target[at] = w->to[e];
            w->share[at] = w->mass[e] * fit_weight(f, item[p]);
        }
    for (int64_t i = n; i > 0; i--)
        w->begin[i] = w->begin[i - 1];
    w->begin[0] = 0;
}

/* ---- one point ---- */

/* The targets of one point of the center: n points of the set that receive the masses share[e] from
 * it. */
typedef struct targets {
    const measures *m;
    int64_t n;
    const int32_t *point;
    const double *share;
} targets;

typedef struct pull {
    double cost;     /* cost at x */
    double mass;     /* total mass of all targets */
    int64_t nearest; /* index of the nearest target */
    bool settled;    /* x is a median: the mass at x outweighs the pull of the other targets */
} pull;

/* Computes Weiszfeld's step from x to `next`, as modified by Vardi and Zhang (2000). Mass within
 * distance `near` of x shortens the step. */
static pull pull_from(const targets *t, const double *x, double near, double *next)
{
    int64_t d = t->m->d;
    pull p = {0};
    double weight = 0, here = 0, least = INFINITY, force = 0;
    memset(next, 0, (size_t)d * sizeof *next);
    for (int64_t e = 0; e < t->n; e++) {
        const double *y = measures_point(t->m, t->point[e]);
        double away = sqrt(la_distance2(d, x, y));
        p.cost += t->share[e] * away;
        p.mass += t->share[e];
        if (away < least) {
            least = away;
            p.nearest = e;
        }
        here += away > near ? 0 : t->share[e];
        double draw = away > near ? t->share[e] / away : 0;
        weight += draw;
        for (int64_t k = 0; k < d; k++)
            next[k] += draw * (y[k] - x[k]);
    }
    for (int64_t k = 0; k < d; k++)
        force += next[k] * next[k];
    force = sqrt(force);
    p.settled = !(force > here);
    double share = p.settled ? 0 : (1 - here / force) / weight;
    for (int64_t k = 0; k < d; k++)
        next[k] = x[k] + share * next[k];
    return p;
}

/* Replaces x with `to` if this reduces the cost. */
static void go_if_better(const targets *t, double *x, pull *now, const double *to, double *beyond)
{
    pull there = pull_from(t, to, 0, beyond);
    if (!(there.cost < now->cost))
        return;
    memcpy(x, to, (size_t)t->m->d * sizeof *x);
    *now = there;
}

/* Moves x towards the geometric median. Steps become short near a target that is itself the median,
 * so the nearest target is tried at the end. Steps also become short between targets that are close
 * together, so a step that treats nearby targets as one is tried last. `place` is scratch memory
 * for 2 d values. */
static double move_to_median(const targets *t, double *x, double *place)
{
    int64_t d = t->m->d;
    size_t size = (size_t)d * sizeof *x;
    double *next = place, *beyond = place + d;
    pull now = pull_from(t, x, 0, next);
    double first = now.cost;
    for (int step = 0; step < PULLS_MOST && !now.settled; step++) {
        pull then = pull_from(t, next, 0, beyond);
        if (!(then.cost < now.cost))
            break;
        bool slow = now.cost - then.cost <= pull_least * now.cost;
        memcpy(x, next, size);
        memcpy(next, beyond, size);
        now = then;
        if (slow)
            break;
    }
    if (!now.settled)
        go_if_better(t, x, &now, measures_point(t->m, t->point[now.nearest]), beyond);
    if (!now.settled) {
        pull_from(t, x, pull_near * now.cost / now.mass, next);
        go_if_better(t, x, &now, next, beyond);
    }
    return first - now.cost;
}

/* Moves each coordinate to a median. If the medians form an interval, moves the coordinate to the
 * value in the interval that is closest to x. */
static double move_to_medians(const targets *t, double *x, double *key, int32_t *order)
{
    int64_t d = t->m->d;
    double total = 0, gain = 0;
    for (int64_t e = 0; e < t->n; e++)
        total += t->share[e];
    for (int64_t k = 0; k < d; k++) {
        double low = INFINITY, high = INFINITY, sum = 0, before = x[k];
        for (int64_t e = 0; e < t->n; e++)
            key[e] = measures_point(t->m, t->point[e])[k];
        sort_order(order, key, t->n);
        for (int64_t e = 0; e < t->n && high == INFINITY; e++) {
            sum += t->share[order[e]];
            if (low == INFINITY && sum >= (0.5 - half_slack) * total)
                low = key[order[e]];
            if (sum > (0.5 + half_slack) * total)
                high = key[order[e]];
        }
        x[k] = fmin(fmax(before, low), high);
        for (int64_t e = 0; e < t->n; e++)
            gain += t->share[e] * (fabs(before - key[e]) - fabs(x[k] - key[e]));
    }
    return gain;
}

/* Returns the free row with the smallest cost, or the current row if no free row is better. Rows
 * occupied by other points of the center are excluded, because two points on one row are no better
 * than one. Costs are summed only over the few rows that have mass. The search assumes a symmetric
 * matrix, but the gain is computed in the direction of the transport. `work` is scratch memory for
 * two values per row. */
static double find_row(const ground_cost *g, const bool *held, const targets *t, int32_t *row,
                       double *work)
{
    double *mass = work, *cost = work + g->size;
    memset(work, 0, (size_t)(2 * g->size) * sizeof *work);
    for (int64_t e = 0; e < t->n; e++)
        mass[(int64_t)*measures_point(t->m, t->point[e])] += t->share[e];
    for (int64_t y = 0; y < g->size; y++) {
        const double *way = g->matrix + y * g->size, share = mass[y];
        for (int64_t r = 0; share > 0 && r < g->size; r++)
            cost[r] += share * way[r];
    }
    int64_t best = *row;
    for (int64_t r = 0; r < g->size; r++)
        if (!held[r] && cost[r] < cost[best])
            best = r;
    double gain = la_dot(g->size, g->matrix + *row * g->size, mass) -
                  la_dot(g->size, g->matrix + best * g->size, mass);
    if (!(gain > 0))
        return 0;
    *row = (int32_t)best;
    return gain;
}

/* ---- all points of a center ---- */

typedef struct moving {
    fit *f;
    double *x; /* points of the center */
} moving;

static ddsc_status move_points(void *arg, int64_t begin, int64_t end, int worker)
{
    moving *v = arg;
    fit *f = v->f;
    flows *w = &f->flow;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = w->begin[i];
        targets t = {f->m, w->begin[i + 1] - at, w->target + at, w->share + at};
        double *x = v->x + i * f->c.d, *place = scratch_of(&w->place, worker);
        if (f->ground.kind == DDSC_COST_MATRIX)
            w->order[i] = (int32_t)*x;
        if (t.n == 0)
            w->gain[i] = 0;
        else if (f->ground.kind == DDSC_COST_MATRIX)
            w->gain[i] = find_row(&f->ground, w->held, &t, &w->order[i], place);
        else if (f->ground.kind == DDSC_COST_CITYBLOCK || f->c.d == 1)
            w->gain[i] = move_to_medians(&t, x, w->key + at, w->order + at);
        else
            w->gain[i] = move_to_median(&t, x, place);
    }
    return DDSC_OK;
}

static void mark_rows(fit *f, const double *x)
{
    memset(f->flow.held, 0, (size_t)f->ground.size * sizeof *f->flow.held);
    for (int64_t i = 0; i < f->c.n; i++)
        f->flow.held[(int64_t)x[i]] = true;
}

/* Moves points to the rows chosen for them. If several points chose the same row, only the first of
 * them moves. */
static void settle_rows(fit *f, double *x)
{
    flows *w = &f->flow;
    for (int64_t i = 0; i < f->c.n; i++) {
        if (w->order[i] == (int32_t)x[i])
            continue;
        if (w->held[w->order[i]]) {
            w->gain[i] = 0;
            continue;
        }
        w->held[w->order[i]] = true;
        x[i] = w->order[i];
    }
}

ddsc_status fit_move(fit *f, int64_t cluster, double *gain)
{
    moving v = {f, f->c.x + cluster * f->c.n * f->c.d};
    if (fit_means(f)) {
        *gain = fit_move_to_means(f, cluster);
        return DDSC_OK;
    }
    gather_flows(f, cluster);
    if (f->ground.kind == DDSC_COST_MATRIX)
        mark_rows(f, v.x);
    CHECK(parallel_for(f->ctx, f->c.n, 1, move_points, &v));
    if (f->ground.kind == DDSC_COST_MATRIX)
        settle_rows(f, v.x);
    *gain = 0;
    for (int64_t i = 0; i < f->c.n; i++)
        *gain += f->flow.gain[i];
    return DDSC_OK;
}
