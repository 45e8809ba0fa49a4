/* Exact transport, checked by certificate: every answer carries a plan and potentials, and what
 * they prove is worked out here again from the problem. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ot/exact.h"

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

static problem make_problem(int64_t n, int64_t m, enum costs kind, uint64_t seed)
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

static void free_problem(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->cost);
}

static double sum_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* ---- the certificate, worked out again ---- */

static void check_plan(const problem *p, const exact_result *r, const int32_t *row,
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

static void check_potentials(const problem *p, const exact_result *r, const double *f,
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
    double gap = fmax(0, r->primal - r->dual);
    if (gap > 0)
        assert_close(r->gap, gap / fmax(fabs(r->primal), 1e-3 * size), 1e-3, 1e-15);
}

static void check_solved(const problem *p, exact_solver *s, const exact_result *r, double limit)
{
    const int32_t *row, *column;
    const double *mass;
    exact_plan(s, &row, &column, &mass);
    check_plan(p, r, row, column, mass);
    check_potentials(p, r, exact_f(s), exact_g(s));
    if (!(r->gap <= limit))
        fail_msg("a gap of %g at %d x %d", r->gap, (int)p->n, (int)p->m);
}

static exact_result solve(exact_solver *s, const problem *p)
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

static int set_up(void **state)
{
    fixture *x = malloc(sizeof *x);
    x->ctx = test_context(1, 7);
    assert_int_equal(exact_create(x->ctx, &x->s), DDSC_OK);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    fixture *x = *state;
    exact_destroy(x->s);
    ddsc_context_destroy(x->ctx);
    free(x);
    return 0;
}

/* ---- against brute force ---- */

/* Flow of a spanning tree given as a set of cells: peel nodes of degree one. false: no tree, or
 * negative flow. */
static bool tree_value(const problem *p, unsigned cells, double *value)
{
    double left[8];
    *value = 0;
    for (int64_t i = 0; i < p->n; i++)
        left[i] = p->a[i];
    for (int64_t j = 0; j < p->m; j++)
        left[p->n + j] = p->b[j];
    while (cells) {
        bool peeled = false;
        for (int64_t x = 0; x < p->n + p->m && !peeled; x++) {
            int degree = 0, cell = 0;
            for (int c = 0; c < p->n * p->m; c++)
                if (cells >> c & 1 && (c / p->m == x || p->n + c % p->m == x)) {
                    degree++;
                    cell = c;
                }
            if (degree != 1)
                continue;
            int64_t other = x < p->n ? p->n + cell % p->m : cell / p->m;
            if (left[x] < -1e-12)
                return false;
            *value += left[x] * p->cost[cell];
            left[other] -= left[x];
            left[x] = 0;
            cells &= ~(1u << cell);
            peeled = true;
        }
        if (!peeled)
            return false;
    }
    for (int64_t x = 0; x < p->n + p->m; x++)
        if (fabs(left[x]) > 1e-12)
            return false;
    return true;
}

static double brute_force(const problem *p)
{
    double best = INFINITY, value;
    for (unsigned cells = 1; cells < 1u << (p->n * p->m); cells++)
        if (__builtin_popcount(cells) == p->n + p->m - 1 && tree_value(p, cells, &value))
            best = fmin(best, value);
    return best;
}

static void test_brute_force(void **state)
{
    fixture *x = *state;
    for (int64_t n = 1; n <= 4; n++)
        for (int64_t m = 1; m <= 4; m++)
            for (int kind = COST_PLANE; kind <= COST_SIGNED; kind++) {
                problem p = make_problem(n, m, (enum costs)kind, (uint64_t)(10 * n + m));
                if (kind == COST_TIES)
                    for (int64_t i = 0; i < n; i++)
                        p.a[i] = 1.0 / (double)n;
                exact_result r = solve(x->s, &p);
                assert_close(r.primal, brute_force(&p), 1e-11, 1e-9);
                free_problem(&p);
            }
}

static double best_permutation(const problem *p, int *used, int64_t i)
{
    double best = i < p->n ? INFINITY : 0;
    for (int64_t j = 0; i < p->n && j < p->n; j++) {
        if (used[j])
            continue;
        used[j] = 1;
        best = fmin(best, p->cost[i * p->m + j] + best_permutation(p, used, i + 1));
        used[j] = 0;
    }
    return best;
}

static void test_assignment(void **state)
{
    fixture *x = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        problem p = make_problem(7, 7, seed % 2 ? COST_TIES : COST_PLANE, seed);
        int used[7] = {0};
        for (int64_t i = 0; i < 7; i++)
            p.a[i] = p.b[i] = 1.0 / 7;
        exact_result r = solve(x->s, &p);
        assert_close(r.primal, best_permutation(&p, used, 0) / 7, 1e-12, 0);
        free_problem(&p);
    }
}

/* ---- many sizes and costs ---- */

static void test_sizes(void **state)
{
    fixture *x = *state;
    static const int64_t size[] = {1, 2, 3, 15, 16, 17, 33, 63, 64, 65, 130, 300};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int kind = COST_PLANE; kind <= COST_SIGNED; kind++) {
            int64_t other = size[(k * 7 + (size_t)kind) % 12];
            problem p = make_problem(size[k], other, (enum costs)kind, k);
            solve(x->s, &p);
            free_problem(&p);
        }
}

static void test_large(void **state)
{
    fixture *x = *state;
    static const int64_t size[][2] = {{700, 900}, {1200, 1100}, {40, 2500}, {2500, 30}};
    for (int k = 0; k < 4; k++)
        for (int kind = COST_PLANE; kind <= COST_CONSTANT; kind++) {
            problem p = make_problem(size[k][0], size[k][1], (enum costs)kind, 5);
            solve(x->s, &p);
            free_problem(&p);
        }
}

static void test_uniform_weights(void **state)
{
    fixture *x = *state;
    static const int64_t size[][2] = {{60, 60}, {60, 45}, {256, 256}, {900, 900}};
    for (int k = 0; k < 4; k++) {
        problem p = make_problem(size[k][0], size[k][1], COST_PLANE, 3);
        for (int64_t i = 0; i < p.n; i++)
            p.a[i] = 1.0 / (double)p.n;
        for (int64_t j = 0; j < p.m; j++)
            p.b[j] = 1.0 / (double)p.m;
        exact_result r = solve(x->s, &p);
        if (p.n == p.m)
            assert_int_equal(r.n_plan, p.n); /* an assignment: one arc a source */
        free_problem(&p);
    }
}

/* Costs over 26 orders of magnitude, and forbidden arcs. */
static void test_wild_costs(void **state)
{
    fixture *x = *state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        problem p = make_problem(5 + (int64_t)seed, seed % 2 ? 25 : 13, COST_WILD, seed);
        exact_problem e = {p.n, p.m, p.a, p.b, p.cost};
        exact_result r;
        assert_int_equal(exact_solve(x->s, &r, &e, 0), DDSC_OK);
        check_solved(&p, x->s, &r, 1e-10);
        free_problem(&p);
        problem q = make_problem(30, 30, COST_PLANE, seed);
        exact_result before = solve(x->s, &q);
        const int32_t *row, *column;
        const double *mass;
        exact_plan(x->s, &row, &column, &mass);
        uint8_t *kept = calloc((size_t)(q.n * q.m), 1);
        for (int64_t k = 0; k < before.n_plan; k++)
            kept[row[k] * q.m + column[k]] = 1;
        for (int64_t c = 0; c < q.n * q.m; c++)
            if (!kept[c] && c % 3)
                q.cost[c] = 1e18;
        assert_close(solve(x->s, &q).primal, before.primal, 1e-12, 0);
        free(kept);
        free_problem(&q);
    }
}

static void test_scale(void **state)
{
    fixture *x = *state;
    static const double factor[] = {1e-300, 1e-150, 1e-9, 3, 1e150, 1e300};
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
        problem p = make_problem(20, 31, COST_PLANE, k);
        double before = solve(x->s, &p).primal;
        for (int64_t c = 0; c < p.n * p.m; c++)
            p.cost[c] *= factor[k];
        assert_close(solve(x->s, &p).primal / factor[k], before, 1e-12, 0);
        free_problem(&p);
    }
}

static void test_weights(void **state)
{
    fixture *x = *state;
    problem p = make_problem(25, 30, COST_PLANE, 1);
    double before = solve(x->s, &p).primal;
    for (int64_t i = 0; i < p.n; i++)
        p.a[i] *= 1e6;
    for (int64_t j = 0; j < p.m; j++)
        p.b[j] *= 1e6;
    assert_close(solve(x->s, &p).primal, 1e6 * before, 1e-12, 0);
    free_problem(&p);
    /* Zero and vanishing weights. */
    p = make_problem(25, 30, COST_PLANE, 2);
    p.a[3] = p.a[24] = p.b[0] = p.b[17] = 0;
    p.a[5] = p.b[6] = 1e-40;
    double sum_a = sum_of(p.a, p.n), sum_b = sum_of(p.b, p.m);
    for (int64_t j = 0; j < p.m; j++)
        p.b[j] *= sum_a / sum_b;
    solve(x->s, &p);
    free_problem(&p);
}

/* ---- properties ---- */

static problem permuted(const problem *p, uint64_t seed)
{
    problem q = make_problem(p->n, p->m, COST_CONSTANT, seed);
    int64_t *row = malloc((size_t)p->n * 8), *column = malloc((size_t)p->m * 8);
    rng r = rng_make(seed, RNG_SUBSET, 0);
    for (int64_t i = 0; i < p->n; i++)
        row[i] = i;
    for (int64_t j = 0; j < p->m; j++)
        column[j] = j;
    for (int64_t i = p->n - 1; i > 0; i--) {
        int64_t k = rng_below(&r, i + 1), t = row[i];
        row[i] = row[k];
        row[k] = t;
    }
    for (int64_t j = p->m - 1; j > 0; j--) {
        int64_t k = rng_below(&r, j + 1), t = column[j];
        column[j] = column[k];
        column[k] = t;
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++)
            q.cost[i * p->m + j] = p->cost[row[i] * p->m + column[j]];
    for (int64_t i = 0; i < p->n; i++)
        q.a[i] = p->a[row[i]];
    for (int64_t j = 0; j < p->m; j++)
        q.b[j] = p->b[column[j]];
    free(row);
    free(column);
    return q;
}

static problem transposed(const problem *p)
{
    problem q = make_problem(p->m, p->n, COST_CONSTANT, 0);
    memcpy(q.a, p->b, (size_t)p->m * 8);
    memcpy(q.b, p->a, (size_t)p->n * 8);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++)
            q.cost[j * p->n + i] = p->cost[i * p->m + j];
    return q;
}

/* Source 0 as two sources of the same costs. */
static problem split(const problem *p)
{
    problem q = make_problem(p->n + 1, p->m, COST_CONSTANT, 0);
    memcpy(q.a + 1, p->a, (size_t)p->n * 8);
    memcpy(q.b, p->b, (size_t)p->m * 8);
    memcpy(q.cost, p->cost, (size_t)p->m * 8);
    memcpy(q.cost + p->m, p->cost, (size_t)(p->n * p->m) * 8);
    q.a[0] = 0.3 * p->a[0];
    q.a[1] = p->a[0] - q.a[0];
    return q;
}

static void test_properties(void **state)
{
    fixture *x = *state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        problem p = make_problem(20 + 13 * (int64_t)seed, 170 - 12 * (int64_t)seed,
                                 (enum costs)(seed % 4), seed);
        double value = solve(x->s, &p).primal;
        problem variant[3] = {permuted(&p, seed), transposed(&p), split(&p)};
        for (int k = 0; k < 3; k++) {
            assert_close(solve(x->s, &variant[k]).primal, value, 1e-12, 1e-13);
            free_problem(&variant[k]);
        }
        /* Adding u_i + v_j to the costs adds sum a u + sum b v. */
        double added = 0;
        for (int64_t i = 0; i < p.n; i++)
            for (int64_t j = 0; j < p.m; j++)
                p.cost[i * p.m + j] += 0.25 * (double)i - 0.5 * (double)j;
        for (int64_t i = 0; i < p.n; i++)
            added += p.a[i] * 0.25 * (double)i;
        for (int64_t j = 0; j < p.m; j++)
            added -= p.b[j] * 0.5 * (double)j;
        assert_close(solve(x->s, &p).primal, value + added, 1e-11, 1e-11);
        free_problem(&p);
    }
}

/* ---- items ---- */

static problem item_problem(const measures *mx, int64_t i, const measures *my, int64_t j)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    problem p = {x.n, y.n, malloc((size_t)x.n * 8), malloc((size_t)y.n * 8),
                 malloc((size_t)(x.n * y.n) * 8)};
    memcpy(p.a, x.weight, (size_t)x.n * 8);
    memcpy(p.b, y.weight, (size_t)y.n * 8);
    cost_items(mx, i, my, j, p.cost);
    return p;
}

static double solve_items(exact_solver *s, const measures *mx, int64_t i, const measures *my,
                          int64_t j)
{
    exact_result r;
    problem p = item_problem(mx, i, my, j);
    assert_int_equal(exact_solve_items(s, &r, mx, i, my, j, 0), DDSC_OK);
    check_solved(&p, s, &r, 1e-12);
    free_problem(&p);
    return r.primal;
}

static void test_items(void **state)
{
    fixture *x = *state;
    for (int64_t d = 1; d <= 20; d += d < 5 ? 1 : 5) {
        measures *m = test_random_measures(x->ctx, 8, 120, d, (uint64_t)d);
        for (int64_t i = 0; i < 8; i++)
            for (int64_t j = 0; j < 8; j++) {
                double value = solve_items(x->s, m, i, m, j);
                problem p = item_problem(m, i, m, j);
                assert_close(solve(x->s, &p).primal, value, 1e-12, 1e-13);
                if (i == j)
                    assert_true(value == 0);
                free_problem(&p);
            }
        ddsc_measures_destroy(m);
    }
}

static void test_metric(void **state)
{
    fixture *x = *state;
    measures *m = test_random_measures(x->ctx, 7, 60, 3, 11);
    double w[7][7];
    for (int64_t i = 0; i < 7; i++)
        for (int64_t j = 0; j < 7; j++)
            w[i][j] = sqrt(solve_items(x->s, m, i, m, j));
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            assert_close(w[i][j], w[j][i], 1e-12, 0);
            for (int k = 0; k < 7; k++)
                assert_true(w[i][j] <= w[i][k] + w[k][j] + 1e-12);
        }
    ddsc_measures_destroy(m);
}

static measures *cloud(ddsc_context *ctx, int64_t n, int64_t d, const double *x, const double *w)
{
    int64_t offset[2] = {0, n};
    measures *m = NULL;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, 1, d, x, w, offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    return m;
}

/* W2^2 of a cloud and its copy moved by t is |t|^2; scaling both by c scales it by c^2. */
static void test_translation(void **state)
{
    fixture *x = *state;
    static const double size[] = {1e-120, 1, 1e120};
    rng r = rng_make(5, RNG_SHAPES, 0);
    for (int k = 0; k < 3; k++) {
        double at[150], moved[150], weight[50];
        for (int i = 0; i < 150; i++) {
            at[i] = size[k] * rng_normal(&r);
            moved[i] = at[i] + size[k] * (1 + i % 3);
        }
        for (int i = 0; i < 50; i++)
            weight[i] = 0.1 + rng_uniform(&r);
        measures *a = cloud(x->ctx, 50, 3, at, weight), *b = cloud(x->ctx, 50, 3, moved, weight);
        exact_result found;
        assert_int_equal(exact_solve_items(x->s, &found, a, 0, b, 0, 0), DDSC_OK);
        assert_close(found.primal / size[k] / size[k], 14, 1e-11, 0);
        assert_true(found.gap <= 1e-12);
        ddsc_measures_destroy(a);
        ddsc_measures_destroy(b);
    }
}

/* On the line: the integral of the squared difference of the quantile functions. */
static int by_first(const void *left, const void *right)
{
    const double *x = left, *y = right;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static double line_value(double (*x)[2], int n, double (*y)[2], int m)
{
    double value = 0;
    int i = 0, j = 0;
    qsort(x, (size_t)n, sizeof *x, by_first);
    qsort(y, (size_t)m, sizeof *y, by_first);
    while (i < n && j < m) {
        double mass = fmin(x[i][1], y[j][1]);
        value += mass * (x[i][0] - y[j][0]) * (x[i][0] - y[j][0]);
        x[i][1] -= mass;
        y[j][1] -= mass;
        if (x[i][1] <= y[j][1])
            i++;
        else
            j++;
    }
    return value;
}

static void test_line(void **state)
{
    fixture *x = *state;
    static double at[2][3000][2];
    static const int size[][2] = {{1, 1}, {1, 9}, {9, 1}, {40, 77}, {300, 300}, {3000, 2500}};
    rng r = rng_make(9, RNG_SHAPES, 0);
    for (int k = 0; k < 6; k++) {
        measures *m[2];
        for (int z = 0; z < 2; z++) {
            double *point = malloc((size_t)size[k][z] * 16), *weight = point + size[k][z];
            for (int i = 0; i < size[k][z]; i++) {
                point[i] = rng_normal(&r);
                weight[i] = rng_uniform(&r) + 0.01;
            }
            m[z] = cloud(x->ctx, size[k][z], 1, point, weight);
            free(point);
            for (int64_t i = 0; i < m[z]->nnz; i++) {
                at[z][i][0] = m[z]->support[m[z]->index[i]];
                at[z][i][1] = m[z]->weight[i];
            }
        }
        double expected = line_value(at[0], (int)m[0]->nnz, at[1], (int)m[1]->nnz);
        assert_close(solve_items(x->s, m[0], 0, m[1], 0), expected, 1e-12, 0);
        ddsc_measures_destroy(m[0]);
        ddsc_measures_destroy(m[1]);
    }
}

/* Pixels: whole coordinates take the integer path, and must agree with the same grid shifted. */
static void test_grid(void **state)
{
    fixture *x = *state;
    rng r = rng_make(2, RNG_SHAPES, 4);
    for (int k = 0; k < 10; k++) {
        measures *m[4];
        for (int z = 0; z < 2; z++) {
            static double point[1568], shifted[1568], weight[784];
            int n = 0;
            for (int cell = 0; cell < 784; cell++) {
                if (rng_uniform(&r) > 0.1 + 0.03 * k)
                    continue;
                point[2 * n] = cell % 28;
                point[2 * n + 1] = cell / 28;
                shifted[2 * n] = point[2 * n] + 0.3;
                shifted[2 * n + 1] = point[2 * n + 1] - 0.7;
                weight[n++] = (double)(1 + rng_below(&r, 255));
            }
            m[z] = cloud(x->ctx, n, 2, point, weight);
            m[2 + z] = cloud(x->ctx, n, 2, shifted, weight);
        }
        double value = solve_items(x->s, m[0], 0, m[1], 0);
        assert_close(solve_items(x->s, m[2], 0, m[3], 0), value, 1e-12, 0);
        for (int z = 0; z < 4; z++)
            ddsc_measures_destroy(m[z]);
    }
}

/* ---- caps, history, instruction sets, memory ---- */

static void test_pivot_cap(void **state)
{
    fixture *x = *state;
    static const int64_t size[][2] = {{90, 110}, {16, 16}, {800, 800}};
    for (int k = 0; k < 3; k++) {
        problem p = make_problem(size[k][0], size[k][1], COST_PLANE, 8);
        double value = solve(x->s, &p).primal;
        exact_problem e = {p.n, p.m, p.a, p.b, p.cost};
        for (int64_t cap = 1; cap < 10; cap += 4) {
            exact_result r;
            assert_int_equal(exact_solve(x->s, &r, &e, cap), DDSC_NOT_CONVERGED);
            check_solved(&p, x->s, &r, INFINITY);
            assert_true(r.pivots <= cap);
            assert_true(r.dual <= value * (1 + 1e-12) && r.primal >= value * (1 - 1e-12));
            assert_true(r.gap > 1e-12);
        }
        free_problem(&p);
    }
}

typedef struct answer {
    exact_result r;
    double *bits; /* f, g, plan */
    int64_t n_bits;
} answer;

static answer copy_answer(exact_solver *s, const problem *p, exact_result r)
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

static void check_same(answer *x, answer *y)
{
    assert_memory_equal(&x->r, &y->r, sizeof x->r);
    assert_int_equal(x->n_bits, y->n_bits);
    assert_memory_equal(x->bits, y->bits, (size_t)x->n_bits * 8);
    free(y->bits);
}

/* The same bits from a used workspace, a fresh one, and every instruction set. */
static void test_same_bits(void **state)
{
    fixture *x = *state;
    static const int64_t size[][2] = {{16, 16}, {50, 70}, {300, 280}, {700, 800}, {1200, 1000}};
    const kernels *set[] = {&kernels_portable,
#ifdef __x86_64__
                            __builtin_cpu_supports("avx2") ? &kernels_avx2 : NULL,
                            __builtin_cpu_supports("avx512dq") ? &kernels_avx512 : NULL
#endif
    };
    for (int k = 0; k < 5; k++)
        for (int kind = COST_PLANE; kind <= COST_TIES; kind++) {
            problem p = make_problem(size[k][0], size[k][1], (enum costs)kind, 21);
            answer first = copy_answer(x->s, &p, solve(x->s, &p));
            for (size_t z = 0; z < sizeof set / sizeof *set; z++) {
                exact_solver *s;
                if (!set[z])
                    continue;
                assert_int_equal(exact_create(x->ctx, &s), DDSC_OK);
                s->k = set[z];
                answer other = copy_answer(s, &p, solve(s, &p));
                check_same(&first, &other);
                exact_destroy(s);
            }
            free(first.bits);
            free_problem(&p);
        }
}

static ddsc_status solve_with(ddsc_context *ctx, void *arg)
{
    const measures *m = arg;
    exact_solver *s = NULL;
    exact_result r;
    ddsc_status status = DDSC_OK;
    TRY(exact_create(ctx, &s));
    TRY(exact_solve_items(s, &r, m, 0, m, 1, 0));
    TRY(exact_solve_items(s, &r, m, 0, m, 0, 0));
done:
    exact_destroy(s);
    return status;
}

static void test_memory(void **state)
{
    fixture *x = *state;
    measures *m = test_random_measures(x->ctx, 2, 200, 3, 77);
    assert_true(test_failing_allocations(solve_with, m) >= 4);
    ddsc_measures_destroy(m);
}

/* Far more cells than bytes allowed: no matrix may be made. */
static void test_bounded_memory(void **state)
{
    (void)state;
    ddsc_context_settings set;
    ddsc_context *ctx = NULL;
    ddsc_context_settings_init(&set);
    set.memory_limit = 12 << 20;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    measures *m = NULL;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 2, 1, 3000, 2, 3), DDSC_OK);
    exact_solver *s;
    exact_result r;
    assert_int_equal(exact_create(ctx, &s), DDSC_OK);
    assert_int_equal(exact_solve_items(s, &r, m, 0, m, 1, 0), DDSC_OK);
    assert_true(r.gap <= 1e-12);
    exact_destroy(s);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- the public call ---- */

static void test_emd_answers(void **state)
{
    fixture *x = *state;
    problem p = make_problem(12, 17, COST_SIGNED, 3);
    int32_t row[28], column[28];
    double mass[28], f[12], g[17];
    ddsc_transport t;
    p.a[4] = 0;
    double scale = sum_of(p.a, 12) / sum_of(p.b, 17) * (1 + 4e-7);
    for (int j = 0; j < 17; j++)
        p.b[j] *= scale; /* sums that differ by less than 1e-6 are made equal */
    assert_int_equal(ddsc_emd_run(x->ctx, &t, row, column, mass, f, g, 12, 17, p.a, p.b, p.cost),
                     DDSC_OK);
    for (int j = 0; j < 17; j++)
        p.b[j] /= 1 + 4e-7;
    exact_result r = {t.primal, t.dual, t.gap, t.n_iterations, t.n_plan};
    check_plan(&p, &r, row, column, mass);
    check_potentials(&p, &r, f, g);
    assert_true(t.gap <= 1e-12);
    assert_int_equal(
        ddsc_emd_run(x->ctx, &t, NULL, NULL, NULL, NULL, NULL, 12, 17, p.a, p.b, p.cost), DDSC_OK);
    assert_int_equal(
        ddsc_emd_run(x->ctx, NULL, NULL, NULL, NULL, NULL, NULL, 12, 17, p.a, p.b, p.cost),
        DDSC_OK);
    free_problem(&p);
}

static ddsc_status run_emd(fixture *x, const problem *p)
{
    ddsc_transport t;
    return ddsc_emd_run(x->ctx, &t, NULL, NULL, NULL, NULL, NULL, p->n, p->m, p->a, p->b, p->cost);
}

static void test_emd_refuses(void **state)
{
    fixture *x = *state;
    problem p = make_problem(5, 6, COST_PLANE, 3), q = p;
    q.a = NULL;
    assert_int_equal(run_emd(x, &q), DDSC_ERROR_ARGUMENT);
    q = p;
    q.n = 0;
    assert_int_equal(run_emd(x, &q), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_emd_run(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 5, 6, p.a, p.b, p.cost),
                     DDSC_ERROR_ARGUMENT);
    double kept = p.a[2];
    static const double bad[] = {-1e-9, NAN, INFINITY, 0.9};
    for (int k = 0; k < 4; k++) {
        p.a[2] = bad[k];
        assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
        assert_non_null(strstr(ddsc_context_message(x->ctx), "a"));
    }
    p.a[2] = kept;
    p.cost[13] = NAN;
    assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_message(x->ctx), "cost[2][1]"));
    p.cost[13] = 1;
    memset(p.a, 0, 5 * 8);
    assert_int_equal(run_emd(x, &p), DDSC_ERROR_INPUT);
    free_problem(&p);
}

static ddsc_status emd_with(ddsc_context *ctx, void *arg)
{
    const problem *p = arg;
    ddsc_transport t;
    return ddsc_emd_run(ctx, &t, NULL, NULL, NULL, NULL, NULL, p->n, p->m, p->a, p->b, p->cost);
}

static void test_emd_memory(void **state)
{
    (void)state;
    problem p = make_problem(40, 50, COST_PLANE, 3);
    assert_true(test_failing_allocations(emd_with, &p) >= 3);
    p.a[0] = 0; /* by way of the reduced problem */
    double scale = sum_of(p.a, 40) / sum_of(p.b, 50);
    for (int j = 0; j < 50; j++)
        p.b[j] *= scale;
    assert_true(test_failing_allocations(emd_with, &p) >= 4);
    free_problem(&p);
}

/* ---- costs ---- */

static void test_costs(void **state)
{
    fixture *x = *state;
    measures *m = test_random_measures(x->ctx, 30, 20, 4, 5);
    double median, again, below = 0, count = 0;
    assert_int_equal(cost_median(x->ctx, m, &median), DDSC_OK);
    assert_int_equal(cost_median(x->ctx, m, &again), DDSC_OK);
    assert_true(median == again && median > 0);
    for (int64_t i = 0; i < 30; i++)
        for (int64_t j = 0; j < 30; j++) {
            problem p = item_problem(m, i, m, j);
            for (int64_t c = 0; i != j && c < p.n * p.m; c++, count++)
                below += p.cost[c] < median;
            free_problem(&p);
        }
    assert_close(below / count, 0.5, 0, 0.05);
    ddsc_measures_destroy(m);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_brute_force),
        T(test_assignment),
        T(test_sizes),
        T(test_large),
        T(test_uniform_weights),
        T(test_wild_costs),
        T(test_scale),
        T(test_weights),
        T(test_properties),
        T(test_items),
        T(test_metric),
        T(test_translation),
        T(test_line),
        T(test_grid),
        T(test_pivot_cap),
        T(test_same_bits),
        T(test_memory),
        T(test_bounded_memory),
        T(test_emd_answers),
        T(test_emd_refuses),
        T(test_emd_memory),
        T(test_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
