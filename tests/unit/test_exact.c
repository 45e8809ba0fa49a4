/* Exact transport for a cost matrix, checked with the certificate. */
#include "transport.h"

/* ---- against brute force ---- */

/* Computes the flow of a spanning tree, given as a set of cells, by removing nodes of degree one.
 * Returns false if the cells are not a tree or a flow is negative. */
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
            assert_int_equal(r.n_plan, p.n); /* an assignment: one arc per source */
        free_problem(&p);
    }
}

/* Uniform weights whose plain sums have an error of 2e-14, with costs for which every bit of mass
 * matters. */
static void test_uniform_line(void **state)
{
    fixture *x = *state;
    problem p = make_problem(700, 650, COST_CONSTANT, 0);
    for (int64_t i = 0; i < p.n; i++)
        p.a[i] = 1.0 / 700;
    for (int64_t j = 0; j < p.m; j++)
        p.b[j] = 1.0 / 650;
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t j = 0; j < p.m; j++)
            p.cost[i * p.m + j] = fabs((double)i / 700 - (double)j / 650);
    solve(x->s, &p);
    free_problem(&p);
}

/* Costs that span 26 orders of magnitude, and forbidden arcs. */
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

/* ---- limits, reused workspaces, instruction sets ---- */

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

/* The same bits with a used workspace, a new one, and every instruction set. */
static void test_same_bits(void **state)
{
    fixture *x = *state;
    static const int64_t size[][2] = {{16, 16}, {50, 70}, {300, 280}, {700, 800}, {1200, 1000}};
    const kernels *set[3];
    kernel_sets(set);
    for (int k = 0; k < 5; k++)
        for (int kind = COST_PLANE; kind <= COST_TIES; kind++) {
            problem p = make_problem(size[k][0], size[k][1], (enum costs)kind, 21);
            answer first = copy_answer(x->s, &p, solve(x->s, &p));
            for (int z = 0; z < 3; z++) {
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

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, transport_set_up, transport_tear_down)
    const struct CMUnitTest tests[] = {
        T(test_brute_force),     T(test_assignment),   T(test_sizes),      T(test_large),
        T(test_uniform_weights), T(test_uniform_line), T(test_wild_costs), T(test_scale),
        T(test_weights),         T(test_pivot_cap),    T(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
