/* Runs eight problems through the iterations of the dense engine, one in each vector lane
 * (group.h).
 *
 * Small problems, such as pairs of documents with 16 points, are too short for vector operations
 * along a row. Eight problems at a time fill the vectors instead: entry (i, j) of all eight
 * matrices is one vector. The iteration is that of the dense engine: u += w (a / K v - u), and then
 * the same for v. Each lane has a separate relaxation w and a separate stopping test (pace.h). Once
 * a lane is done, a mask keeps it unchanged.
 *
 * The operations on a lane have the same order as in the dense engine, so each result has the same
 * bits as the result of sinkhorn_solve, whatever the other lanes contain. A group accepts only
 * problems that can be solved by plain scaling iterations from the first kernel: epsilon is neither
 * far below nor far above the costs, and all kernel sums are in range. If the sums of a lane leave
 * the range later, the lane is returned unsolved.
 *
 * An iteration takes n m vector operations for the largest sizes n x m in the group, so groups
 * should contain problems of similar size (set.c). */
#include "distance/sinkhorn/group.h"

#include <math.h>

#include "base/workspace.h"
#include "distance/sinkhorn/dense.h"
#include "distance/sinkhorn/group_kernel.h"

enum { G = SINKHORN_GROUP, N_ARRAYS = 5 };

struct sinkhorn_group {
    group_arrays s;
    int64_t n_of[G], m_of[G]; /* 0 if the lane is empty */
    _Alignas(64) double block[(2 * SINKHORN_GROUP_SIDE + 2 * N_ARRAYS) * SINKHORN_GROUP_SIDE * G];
};

ddsc_status sinkhorn_group_create(ddsc_context *ctx, sinkhorn_group **group)
{
    return mem_get(ctx, group, 1, sizeof **group);
}

void sinkhorn_group_destroy(ddsc_context *ctx, sinkhorn_group *group)
{
    mem_free(ctx, group);
}

/* ---- loading ---- */

static double *side_begin(group_side *x, int64_t n, double *at)
{
    double **arrays[N_ARRAYS] = {&x->weight, &x->scale, &x->sum, &x->base, &x->pad};
    x->n = n;
    for (int k = 0; k < N_ARRAYS; k++, at += n * G)
        *arrays[k] = at;
    for (int64_t k = 0; k < n * G; k++) {
        x->weight[k] = 0;
        x->pad[k] = 1;
    }
    return at;
}

double *sinkhorn_group_begin(sinkhorn_group *group, int64_t n, int64_t m)
{
    group_arrays *s = &group->s;
    s->cost = group->block;
    s->kernel = s->cost + n * m * G;
    side_begin(&s->column, m, side_begin(&s->row, n, s->kernel + n * m * G));
    memset(group->n_of, 0, sizeof group->n_of);
    memset(group->m_of, 0, sizeof group->m_of);
    return s->cost;
}

bool sinkhorn_group_scale(double *out, const double *weight, int64_t n)
{
    double sum = 0, low = INFINITY;
    for (int64_t k = 0; k < n; k++) {
        sum += weight[k];
        low = fmin(low, weight[k]);
    }
    for (int64_t k = 0; k < n; k++)
        out[k] = weight[k] / sum;
    return low > SINKHORN_NO_WEIGHT * sum;
}

static void put_side(group_side *x, int problem, int64_t n, const double *weight)
{
    for (int64_t k = 0; k < n; k++) {
        x->weight[k * G + problem] = weight[k];
        x->pad[k * G + problem] = 0;
    }
}

void sinkhorn_group_put(sinkhorn_group *group, int problem, int64_t n, const double *a, int64_t m,
                        const double *b)
{
    put_side(&group->s.row, problem, n, a);
    put_side(&group->s.column, problem, m, b);
    group->n_of[problem] = n;
    group->m_of[problem] = m;
}

/* ---- solving ---- */

/* Returns true if sinkhorn_solve would solve the problem by plain scaling iterations from the first
 * kernel. */
static bool suits(double range, double epsilon)
{
    return range > 1e-100 && range < 1e100 && epsilon > 1e-200 &&
           epsilon <= SINKHORN_LARGE_EPSILON * range && sinkhorn_levels(range, epsilon) == 0;
}

/* Iterates until every problem is solved or abandoned. Clears solved[] for abandoned problems. */
static void iterate(sinkhorn_group *group, const sinkhorn_rule *rule, bool *solved,
                    int64_t *iterations)
{
    sinkhorn_pace pace[G];
    group_control control;
    group_seen seen;
    int n_active = 0;
    for (int p = 0; p < G; p++) {
        pace[p] = (sinkhorn_pace){
            .engine = &sinkhorn_engine_dense, .tolerance = rule->tolerance, .omega = 1};
        pace[p].most_passes = sinkhorn_newton_passes(group->n_of[p], group->m_of[p]);
        control.active[p] = solved[p] ? -1 : 0;
        control.omega[p] = 1;
        n_active += solved[p];
    }
    for (int64_t k = 1; n_active > 0 && k <= rule->max_iterations; k++) {
        sinkhorn_group_pass(&group->s, &control, &seen);
        for (int p = 0; p < G; p++) {
            if (!control.active[p])
                continue;
            sinkhorn_verdict verdict = sinkhorn_pace_next(
                &pace[p], &(sinkhorn_seen){seen.row_error[p], seen.column_error[p], seen.low[p],
                                           seen.high[p]});
            iterations[p] = k;
            control.omega[p] = pace[p].omega;
            if (verdict == SINKHORN_GO_ON)
                continue;
            control.active[p] = 0;
            solved[p] = verdict == SINKHORN_DONE;
            n_active--;
        }
    }
}

void sinkhorn_group_solve(sinkhorn_group *group, sinkhorn_result *result, bool *solved,
                          const sinkhorn_rule *rule)
{
    double range[G], error[G], value[G], sharp[G];
    int64_t iterations[G] = {0};
    bool any = false;
    sinkhorn_group_reduce(&group->s, range);
    for (int p = 0; p < G; p++) {
        solved[p] = group->n_of[p] > 0 && suits(range[p], rule->epsilon);
        any |= solved[p];
        sharp[p] = NAN;
    }
    if (!any)
        return;
    sinkhorn_group_fill(&group->s, rule->epsilon);
    iterate(group, rule, solved, iterations);
    sinkhorn_group_settle(&group->s, error);
    sinkhorn_group_dual(&group->s, rule->epsilon, value);
    if (rule->sharp)
        sinkhorn_group_cost(&group->s, sharp);
    for (int p = 0; p < G; p++)
        result[p] = (sinkhorn_result){value[p], sharp[p], error[p], iterations[p]};
}
