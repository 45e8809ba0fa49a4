#include "sinkhorn/group.h"

#include <math.h>

#include "sinkhorn/solver.h"

struct sinkhorn_lanes {
    ddsc_context *ctx;
    double *block;
    lane_scaling s;
    int64_t n_of[SIMD_LANES], m_of[SIMD_LANES]; /* 0: an empty lane */
};

enum { L = SIMD_LANES, N_SIDES = 5 };

ddsc_status sinkhorn_lanes_create(ddsc_context *ctx, sinkhorn_lanes **lanes)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_lanes *made = NULL;
    TRY(MEM_ZERO(ctx, made, 1));
    made->ctx = ctx;
    TRY(MEM_NEW(ctx, made->block, (2 * LANES_SIDE + 2 * N_SIDES) * LANES_SIDE * L));
    *lanes = made;
    made = NULL;
done:
    sinkhorn_lanes_destroy(made);
    return status;
}

void sinkhorn_lanes_destroy(sinkhorn_lanes *lanes)
{
    if (!lanes)
        return;
    mem_free(lanes->ctx, lanes->block);
    mem_free(lanes->ctx, lanes);
}

/* ---- loading ---- */

double *sinkhorn_lanes_begin(sinkhorn_lanes *lanes, int64_t n, int64_t m)
{
    lane_scaling *s = &lanes->s;
    double *at = lanes->block;
    double **rows[N_SIDES] = {&s->a, &s->u, &s->row_sum, &s->base_f, &s->row_pad};
    double **columns[N_SIDES] = {&s->b, &s->v, &s->column_sum, &s->base_g, &s->column_pad};
    s->n = n;
    s->m = m;
    s->cost = at;
    s->kernel = at += n * m * L;
    at += n * m * L;
    for (int k = 0; k < N_SIDES; k++, at += n * L)
        *rows[k] = at;
    for (int k = 0; k < N_SIDES; k++, at += m * L)
        *columns[k] = at;
    for (int64_t k = 0; k < n * L; k++) {
        s->a[k] = 0;
        s->row_pad[k] = 1;
    }
    for (int64_t k = 0; k < m * L; k++) {
        s->b[k] = 0;
        s->column_pad[k] = 1;
    }
    memset(lanes->n_of, 0, sizeof lanes->n_of);
    memset(lanes->m_of, 0, sizeof lanes->m_of);
    return s->cost;
}

bool sinkhorn_lanes_scale(double *out, const double *weight, int64_t n)
{
    double sum = 0, low = INFINITY;
    for (int64_t k = 0; k < n; k++) {
        sum += weight[k];
        low = fmin(low, weight[k]);
    }
    for (int64_t k = 0; k < n; k++)
        out[k] = weight[k] / sum;
    return low > NO_WEIGHT * sum;
}

static void put_weights(double *out, double *pad, const double *weight, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        out[k * L] = weight[k];
        pad[k * L] = 0;
    }
}

void sinkhorn_lanes_weights(sinkhorn_lanes *lanes, int lane, int64_t n, const double *a, int64_t m,
                            const double *b)
{
    lane_scaling *s = &lanes->s;
    put_weights(s->a + lane, s->row_pad + lane, a, n);
    put_weights(s->b + lane, s->column_pad + lane, b, m);
    lanes->n_of[lane] = n;
    lanes->m_of[lane] = m;
}

/* ---- solving ---- */

/* The problems that plain scaling iterations solve from the first kernel on, as sinkhorn_solve
 * would do; how many. */
static int choose(const sinkhorn_lanes *lanes, const lane_stop *stop, const double *magnitude,
                  const double *range, bool *chosen)
{
    int n_chosen = 0;
    for (int lane = 0; lane < L; lane++) {
        bool usual = magnitude[lane] > 1e-100 && magnitude[lane] < 1e100 &&
                     stop->epsilon > 1e-200 &&
                     stop->epsilon <= SINKHORN_LARGE_EPSILON * range[lane];
        chosen[lane] =
            lanes->n_of[lane] > 0 && usual && sinkhorn_levels(range[lane], stop->epsilon) == 0;
        n_chosen += chosen[lane];
    }
    return n_chosen;
}

/* What run_level of the single solver does between two iterations; false: the lane is finished. */
static bool go_on(const sinkhorn_lanes *lanes, int lane, sinkhorn_pace *pace, const lane_report *r,
                  const lane_stop *stop, bool *given_up)
{
    if (r->low[lane] < 1 / SINKHORN_SUM_LIMIT || r->high[lane] > SINKHORN_SUM_LIMIT) {
        *given_up = true;
        return false;
    }
    if (pace->plain_before && r->row_error[lane] <= stop->tolerance)
        return false;
    double error = r->row_error[lane] + r->column_error[lane];
    *given_up =
        sinkhorn_pace_next(pace, lanes->n_of[lane], lanes->m_of[lane], error, stop->tolerance);
    return !*given_up;
}

static void iterate(sinkhorn_lanes *lanes, const lane_stop *stop, bool *chosen, int64_t *iterations)
{
    sinkhorn_pace pace[L];
    lane_control control;
    lane_report report;
    int n_active = 0;
    for (int lane = 0; lane < L; lane++) {
        pace[lane] = (sinkhorn_pace){.omega = 1};
        control.active[lane] = chosen[lane] ? -1 : 0;
        control.omega[lane] = 1;
        n_active += chosen[lane];
    }
    for (int64_t k = 1; n_active > 0 && k <= stop->max_iterations; k++) {
        lanes_pass(&lanes->s, &control, &report);
        for (int lane = 0; lane < L; lane++) {
            if (!control.active[lane])
                continue;
            bool given_up = false;
            iterations[lane] = k;
            if (!go_on(lanes, lane, &pace[lane], &report, stop, &given_up)) {
                control.active[lane] = 0;
                chosen[lane] = !given_up;
                n_active--;
            }
            control.omega[lane] = pace[lane].omega;
        }
    }
}

void sinkhorn_lanes_solve(sinkhorn_lanes *lanes, sinkhorn_result *result, bool *solved,
                          const lane_stop *stop)
{
    double range[L], magnitude[L], error[L], value[L], sharp[L] = {0};
    int64_t iterations[L] = {0};
    lanes_reduce(&lanes->s, magnitude, range);
    if (choose(lanes, stop, magnitude, range, solved) == 0)
        return;
    lanes_fill(&lanes->s, stop->epsilon);
    iterate(lanes, stop, solved, iterations);
    lanes_settle(&lanes->s, error);
    lanes_dual(&lanes->s, stop->epsilon, value);
    if (stop->sharp)
        lanes_cost(&lanes->s, sharp);
    for (int lane = 0; lane < L; lane++)
        result[lane] = (sinkhorn_result){value[lane], sharp[lane], error[lane], iterations[lane]};
}
