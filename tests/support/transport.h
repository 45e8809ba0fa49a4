/* Transport problems for tests, and independent recomputation of their certificates: the validity
 * of a plan and potentials does not depend on the solver. */
#ifndef DDSC_TEST_TRANSPORT_H
#define DDSC_TEST_TRANSPORT_H

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/cost/cost.h"
#include "distance/exact/solver.h"

/* ---- problems ---- */

typedef struct problem {
    int64_t n, m;
    double *a, *b, *cost;
} problem;

enum costs {
    COST_PLANE,
    COST_TEN_D,
    COST_UNIFORM,
    COST_TIES,
    COST_CONSTANT,
    COST_SIGNED,
    COST_WILD
};

static inline problem make_problem(int64_t n, int64_t m, enum costs kind, uint64_t seed)
{
    problem p = {n, m, malloc((size_t)n * 8), malloc((size_t)m * 8), malloc((size_t)(n * m) * 8)};
    rng r = rng_make(seed, RNG_SHAPES, (uint64_t)kind);
    double sum_a = 0, sum_b = 0, *x = malloc((size_t)(n + m) * 10 * 8);
    int64_t d = kind == COST_TEN_D ? 10 : 2;
    for (int64_t i = 0; i < n; i++)
        sum_a += p.a[i] = 0.05 + rng_uniform(&r);
    for (int64_t j = 0; j < m; j++)
        sum_b += p.b[j] = 0.05 + rng_uniform(&r);
    for (int64_t i = 0; i < n; i++)
        p.a[i] /= sum_a;
    for (int64_t j = 0; j < m; j++)
        p.b[j] /= sum_b;
    for (int64_t k = 0; k < (n + m) * d; k++)
        x[k] = rng_normal(&r);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double *c = &p.cost[i * m + j], u = rng_uniform(&r);
            switch (kind) {
            case COST_PLANE:
            case COST_TEN_D:
                *c = 0;
                for (int64_t k = 0; k < d; k++)
                    *c += (x[i * d + k] - x[(n + j) * d + k]) * (x[i * d + k] - x[(n + j) * d + k]);
                break;
            case COST_UNIFORM: *c = u; break;
            case COST_TIES: *c = floor(4 * u); break;
            case COST_CONSTANT: *c = 3.25; break;
            case COST_SIGNED: *c = 1e6 * (u - 0.7); break;
            case COST_WILD: *c = exp(60 * (u - 0.5)); break;
            }
        }
    free(x);
    return p;
}

static inline void free_problem(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->cost);
}

static inline double sum_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* ---- recomputation of the certificate ---- */

static inline void check_plan(const problem *p, const exact_result *r, const int32_t *row,
                              const int32_t *column, const double *mass)
{
    double *left = malloc((size_t)(p->n + p->m) * sizeof *left), value = 0, size = 0;
    double total = sum_of(p->a, p->n);
    memcpy(left, p->a, (size_t)p->n * sizeof *left);
    memcpy(left + p->n, p->b, (size_t)p->m * sizeof *left);
    assert_true(r->n_plan >= 1 && r->n_plan <= p->n + p->m - 1);
    for (int64_t k = 0; k < r->n_plan; k++) {
        assert_true(mass[k] > 0);
        assert_in_range(row[k], 0, p->n - 1);
        assert_in_range(column[k], 0, p->m - 1);
        left[row[k]] -= mass[k];
        left[p->n + column[k]] -= mass[k];
        value += mass[k] * p->cost[row[k] * p->m + column[k]];
        size += mass[k] * fabs(p->cost[row[k] * p->m + column[k]]);
    }
    for (int64_t x = 0; x < p->n + p->m; x++)
        assert_close(left[x], 0, 0, 1e-13 * total);
    assert_close(r->primal, value, 1e-13, 1e-13 * size);
    free(left);
}

static inline void check_potentials(const problem *p, const exact_result *r, const double *f,
                                    const double *g)
{
    double dual = 0, size = 0;
    for (int64_t i = 0; i < p->n; i++) {
        dual += p->a[i] * f[i];
        size += p->a[i] * fabs(f[i]);
        for (int64_t j = 0; j < p->m; j++)
            if (!(f[i] + g[j] <= p->cost[i * p->m + j]))
                fail_msg("f[%d] + g[%d] exceeds the cost by %g", (int)i, (int)j,
                         f[i] + g[j] - p->cost[i * p->m + j]);
    }
    for (int64_t j = 0; j < p->m; j++) {
        dual += p->b[j] * g[j];
        size += p->b[j] * fabs(g[j]);
    }
    assert_close(r->dual, dual, 0, 1e-13 * size);
    double gap = fabs(r->primal - r->dual);
    if (gap > 0)
        assert_close(r->gap, gap / fmax(fabs(r->primal), 1e-3 * size), 1e-3, 1e-15);
}

static inline void check_solved(const problem *p, exact_solver *s, const exact_result *r,
                                double limit)
{
    const int32_t *row, *column;
    const double *mass;
    exact_plan(s, &row, &column, &mass);
    check_plan(p, r, row, column, mass);
    check_potentials(p, r, exact_f(s), exact_g(s));
    if (!(r->gap <= limit))
        fail_msg("a gap of %g at %d x %d", r->gap, (int)p->n, (int)p->m);
}

static inline exact_result solve(exact_solver *s, const problem *p)
{
    exact_problem e = {p->n, p->m, p->a, p->b, p->cost};
    exact_result r;
    assert_int_equal(exact_solve(s, &r, &e, 0), DDSC_OK);
    check_solved(p, s, &r, 1e-12);
    return r;
}

typedef struct fixture {
    ddsc_context *ctx;
    exact_solver *s;
} fixture;

static inline int transport_set_up(void **state)
{
    fixture *x = malloc(sizeof *x);
    x->ctx = test_context(1, 7);
    assert_int_equal(exact_create(x->ctx, &x->s), DDSC_OK);
    *state = x;
    return 0;
}

static inline int transport_tear_down(void **state)
{
    fixture *x = *state;
    exact_destroy(x->s);
    ddsc_context_destroy(x->ctx);
    free(x);
    return 0;
}

/* ---- bit-identical results ---- */

typedef struct answer {
    exact_result r;
    double *bits; /* f, g, plan */
    int64_t n_bits;
} answer;

static inline answer copy_answer(exact_solver *s, const problem *p, exact_result r)
{
    answer out = {r, malloc((size_t)(2 * (p->n + p->m) + 2 * r.n_plan) * 8), p->n + p->m};
    const int32_t *row, *column;
    const double *mass;
    exact_plan(s, &row, &column, &mass);
    memcpy(out.bits, exact_f(s), (size_t)p->n * 8);
    memcpy(out.bits + p->n, exact_g(s), (size_t)p->m * 8);
    for (int64_t k = 0; k < r.n_plan; k++) {
        out.bits[out.n_bits++] = mass[k];
        out.bits[out.n_bits++] = row[k] + 1e6 * column[k];
    }
    return out;
}

static inline void check_same(answer *x, answer *y)
{
    assert_memory_equal(&x->r, &y->r, sizeof x->r);
    assert_int_equal(x->n_bits, y->n_bits);
    assert_memory_equal(x->bits, y->bits, (size_t)x->n_bits * 8);
    free(y->bits);
}

/* The kernel sets that this processor supports; NULL for the others. */
static inline void kernel_sets(const kernels *set[3])
{
    set[0] = &kernels_portable;
    set[1] = set[2] = NULL;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        set[1] = &kernels_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        set[2] = &kernels_avx512;
#endif
}

#endif
