/* Computes the optimal transport of mass between two sets of items, summed by the states of the
 * points, and the change in the coordinates within each state. */
#include <math.h>

#include "assess/cohort/states.h"
#include "base/sized.h"
#include "distance/exact/exact.h"
#include "numeric/linalg/linalg.h"

SIZED_INIT(states_flow_struct, ddsc_states_flow, n_to, NULL);

enum { POOL_MOST = 1000 };

typedef struct point_pool {
    int64_t n;
    int32_t *row; /* support rows */
    double *weight;
} point_pool;

static void pool_free(ddsc_context *ctx, point_pool *p)
{
    MEM_FREE(ctx, p->row, p->weight);
}

/* Lists all points of the items, or draws a sample if there are many. */
static ddsc_status pool_make(ddsc_context *ctx, point_pool *p, const measures *m, int64_t n_items,
                             const int64_t *items)
{
    int64_t n = 0;
    for (int64_t i = 0; i < n_items; i++)
        n += measures_item(m, items[i]).n;
    if (n > POOL_MOST) {
        CHECK(states_draw(ctx, &p->row, &p->n, m, n_items, items, POOL_MOST));
        CHECK(MEM_NEW(ctx, p->weight, p->n));
        for (int64_t e = 0; e < p->n; e++)
            p->weight[e] = 1 / (double)p->n;
        return DDSC_OK;
    }
    CHECK(MEM_NEW(ctx, p->row, n));
    CHECK(MEM_NEW(ctx, p->weight, n));
    for (int64_t i = 0; i < n_items; i++) {
        item_view v = measures_item(m, items[i]);
        for (int64_t e = 0; e < v.n; e++) {
            p->row[p->n] = v.index[e];
            p->weight[p->n++] = v.weight[e] / (double)n_items;
        }
    }
    return DDSC_OK;
}

static ddsc_status transport(const ddsc_states *s, ddsc_states_flow *flow, const measures *m,
                             const point_pool *a, const point_pool *b)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = s->ctx;
    exact_solver *solver = NULL;
    exact_result found;
    double *cost = NULL;
    const int32_t *row, *column;
    const double *mass;
    int64_t k = s->view.n_states;
    TRY(MEM_NEW(ctx, cost, a->n * b->n));
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < b->n; j++)
            cost[i * b->n + j] =
                la_distance2(m->d, measures_point(m, a->row[i]), measures_point(m, b->row[j]));
    TRY(exact_create(ctx, &solver));
    TRY(exact_solve(solver, &found, &(exact_problem){a->n, b->n, a->weight, b->weight, cost}, 0));
    exact_plan(solver, &row, &column, &mass);
    for (int64_t e = 0; e < k * k; e++)
        flow->mass[e] = 0;
    for (int64_t e = 0; e < found.n_plan; e++)
        flow->mass[s->of[a->row[row[e]]] * k + s->of[b->row[column[e]]]] += mass[e];
    flow->value = found.primal;
    flow->n_from = a->n;
    flow->n_to = b->n;
done:
    exact_destroy(solver);
    mem_free(ctx, cost);
    return status;
}

/* Computes the share of each state over all points of the items and, if `mean` is not NULL, the
 * mean of each coordinate within each state. */
static void side_moments(const ddsc_states *s, const measures *m, int64_t n_items,
                         const int64_t *items, double *share, double *mean)
{
    int64_t k = s->view.n_states, d = m->d;
    for (int64_t c = 0; c < k; c++)
        share[c] = 0;
    for (int64_t c = 0; mean && c < k * d; c++)
        mean[c] = 0;
    for (int64_t i = 0; i < n_items; i++) {
        item_view v = measures_item(m, items[i]);
        for (int64_t e = 0; e < v.n; e++) {
            const double *x = measures_point(m, v.index[e]);
            int64_t c = s->of[v.index[e]];
            double w = v.weight[e] / (double)n_items;
            share[c] += w;
            for (int64_t a = 0; mean && a < d; a++)
                mean[c * d + a] += w * x[a];
        }
    }
    for (int64_t c = 0; mean && c < k * d; c++)
        mean[c] = share[c / d] > 0 ? mean[c] / share[c / d] : (double)NAN;
}

static ddsc_status compare_sides(const ddsc_states *s, ddsc_states_flow *flow, const measures *m,
                                 int64_t n_from, const int64_t *from, int64_t n_to,
                                 const int64_t *to)
{
    ddsc_status status = DDSC_OK;
    int64_t k = s->view.n_states;
    double *share[2] = {NULL, NULL}, *mean[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++) {
        TRY(MEM_NEW(s->ctx, share[side], k));
        if (flow->shift)
            TRY(MEM_NEW(s->ctx, mean[side], k * m->d));
    }
    side_moments(s, m, n_from, from, share[0], mean[0]);
    side_moments(s, m, n_to, to, share[1], mean[1]);
    for (int64_t c = 0; c < k; c++) {
        if (flow->from)
            flow->from[c] = share[0][c];
        if (flow->to)
            flow->to[c] = share[1][c];
    }
    for (int64_t a = 0; flow->shift && a < k * m->d; a++)
        flow->shift[a] =
            s->deviation[a] > 0 ? (mean[1][a] - mean[0][a]) / s->deviation[a] : (double)NAN;
done:
    MEM_FREE(s->ctx, share[0], share[1], mean[0], mean[1]);
    return status;
}

static ddsc_status check_list(ddsc_context *ctx, const measures *m, const char *name, int64_t n,
                              const int64_t *items)
{
    CHECK(ctx_need(ctx, items, name));
    if (n < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "states: the list `%s` is empty; it must contain at least one item", name);
    for (int64_t i = 0; i < n; i++)
        if (items[i] < 0 || items[i] >= m->n)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "states: %s[%lld] is %lld, but the set has items 0 to %lld", name,
                            (long long)i, (long long)items[i], (long long)m->n - 1);
    return DDSC_OK;
}

ddsc_status ddsc_states_flow_run(ddsc_context *context, ddsc_states_flow *flow,
                                 const ddsc_states *states, const ddsc_measures *m, int64_t n_from,
                                 const int64_t *from, int64_t n_to, const int64_t *to)
{
    ddsc_status status = DDSC_OK;
    ddsc_states_flow own;
    point_pool a = {0}, b = {0};
    CHECK(ctx_enter(context));
    const char *before = stage_enter(context, "states");
    TRY(ctx_need(context, flow, "flow"));
    TRY(ctx_need(context, states, "states"));
    TRY(ctx_need(context, m, "measures"));
    TRY(sized_take(context, &states_flow_struct, &own, flow));
    if (m->v != states->view.n_support || m->d != states->view.dim) {
        status = ctx_fail(
            context, DDSC_ERROR_ARGUMENT,
            "states: the states were computed from other measures; pass the same measures");
        goto done;
    }
    TRY(check_list(context, m, "from", n_from, from));
    TRY(check_list(context, m, "to", n_to, to));
    TRY(compare_sides(states, &own, m, n_from, from, n_to, to));
    if (own.mass) {
        TRY(pool_make(context, &a, m, n_from, from));
        TRY(pool_make(context, &b, m, n_to, to));
        TRY(transport(states, &own, m, &a, &b));
    }
    sized_give(&states_flow_struct, flow, &own);
done:
    pool_free(context, &a);
    pool_free(context, &b);
    stage_leave(context, before);
    return status;
}
