/* Exact transport between items, and properties that hold for any data. */
#include "distance/cost/cost.h"
#include "transport.h"

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

/* Splits source 0 into two sources with the same costs. */
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

static double product_costs(double *cost, const measures *mx, int64_t i, const measures *my,
                            int64_t j)
{
    item_view a = measures_item(mx, i), b = measures_item(my, j);
    point_list x = {mx, a.n, a.index}, y = {my, b.n, b.index};
    double *norm2 = malloc((size_t)(a.n + b.n) * sizeof *norm2);
    double largest = fmax(cost_norms(&x, norm2), cost_norms(&y, norm2 + a.n));
    cost_products(cost, &x, norm2, &y, norm2 + a.n);
    free(norm2);
    return largest;
}

static problem item_problem(const measures *mx, int64_t i, const measures *my, int64_t j)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    problem p = {x.n, y.n, malloc((size_t)x.n * 8), malloc((size_t)y.n * 8),
                 malloc((size_t)(x.n * y.n) * 8)};
    memcpy(p.a, x.weight, (size_t)x.n * 8);
    memcpy(p.b, y.weight, (size_t)y.n * 8);
    if (mx->d < PRODUCT_DIM)
        cost_items(mx, i, my, j, p.cost);
    else
        product_costs(p.cost, mx, i, my, j);
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

static void test_metrics_of_items(void **state)
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

/* A large common coordinate hides small differences. Squares near the smallest representable number
 * are solved, and the computation ends even for smaller ones. */
static void test_tiny_distances(void **state)
{
    fixture *x = *state;
    static const double size[] = {1e-120, 1e-150, 1e-159, 1e-170};
    rng r = rng_make(6, RNG_SHAPES, 0);
    for (int k = 0; k < 12; k++) {
        int64_t n = k < 8 ? 10 : 50, d = k < 4 ? 2 : 20;
        double at[1000], moved[1000], weight[50];
        for (int64_t i = 0; i < n * d; i++) {
            at[i] = i % d == 0 ? 1 : size[k % 4] * rng_normal(&r);
            moved[i] = at[i] + (i % d == 1 ? 3 * size[k % 4] : 0);
        }
        for (int64_t i = 0; i < n; i++)
            weight[i] = 0.1 + rng_uniform(&r);
        measures *a = cloud(x->ctx, n, d, at, weight), *b = cloud(x->ctx, n, d, moved, weight);
        exact_result found;
        ddsc_status status = exact_solve_items(x->s, &found, a, 0, b, 0, 0);
        assert_true(status >= 0 && isfinite(found.primal) && isfinite(found.dual));
        assert_true(status == DDSC_OK || k % 4 >= 2);
        if (k % 4 < 2)
            assert_close(found.primal / size[k % 4] / size[k % 4], 9, 1e-9, 0);
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

/* Pixels: integer coordinates use the integer path, and must agree with the same grid after a
 * shift. */
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

/* Every instruction set gives the same bits, for one to many dimensions and for integers. */
static void test_items_same_bits(void **state)
{
    fixture *x = *state;
    const kernels *set[3];
    kernel_sets(set);
    for (int64_t d = 1; d <= 9; d += 2) {
        measures *m = test_random_measures(x->ctx, 4, 500, d, (uint64_t)d);
        for (int64_t i = 0; i < 4; i++) {
            int64_t j = (i + 1) % 4;
            problem p = item_problem(m, i, m, j);
            exact_result r;
            assert_int_equal(exact_solve_items(x->s, &r, m, i, m, j, 0), DDSC_OK);
            answer first = copy_answer(x->s, &p, r);
            for (int z = 0; z < 3; z++) {
                exact_solver *s;
                if (!set[z])
                    continue;
                assert_int_equal(exact_create(x->ctx, &s), DDSC_OK);
                s->k = set[z];
                assert_int_equal(exact_solve_items(s, &r, m, i, m, j, 0), DDSC_OK);
                answer other = copy_answer(s, &p, r);
                check_same(&first, &other);
                exact_destroy(s);
            }
            free(first.bits);
            free_problem(&p);
        }
        ddsc_measures_destroy(m);
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

/* Far more cells than the memory limit allows: no matrix may be stored. */
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

/* ---- costs ---- */

static void test_costs(void **state)
{
    fixture *x = *state;
    measures *m = test_random_measures(x->ctx, 30, 20, 4, 5);
    double median, again, below = 0, count = 0;
    assert_int_equal(cost_median(x->ctx, &ground_sqeuclidean, m, &median), DDSC_OK);
    assert_int_equal(cost_median(x->ctx, &ground_sqeuclidean, m, &again), DDSC_OK);
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

static double true_cost(const double *x, const double *y, int64_t d)
{
    long double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += ((long double)x[k] - y[k]) * ((long double)x[k] - y[k]);
    return (double)sum;
}

/* Costs from products keep their error bound for any distance between the points: pairs are moved
 * together until they coincide, and sets are moved away from the origin. */
static void test_cost_products(void **state)
{
    fixture *x = *state;
    rng r = rng_make(3, RNG_GAUSSIANS, 0);
    enum { N = 13 };
    for (int64_t d = 8; d <= 108; d += 25)
        for (int step = 0; step < 12; step++) {
            double points[2 * N * 108], cost[N * N], near = ldexp(1, -4 * step);
            double away = step % 3 == 2 ? 1e3 : 0;
            for (int64_t p = 0; p < 2 * N * d; p++)
                points[p] =
                    p < N * d ? away + rng_normal(&r) : points[p - N * d] + near * rng_normal(&r);
            memcpy(points + (2 * N - 1) * d, points, (size_t)d * sizeof *points);
            measures *m = NULL;
            int64_t offset[3] = {0, N, 2 * N};
            assert_int_equal(ddsc_measures_create_clouds(x->ctx, &m, 2, d, points, NULL, offset,
                                                         DDSC_EMPTY_ERROR),
                             DDSC_OK);
            item_view a = measures_item(m, 0), b = measures_item(m, 1);
            assert_true(cost_products_fit(product_costs(cost, m, 0, m, 1)));
            for (int64_t i = 0; i < a.n; i++)
                for (int64_t j = 0; j < b.n; j++) {
                    double exact =
                        true_cost(measures_point(m, a.index[i]), measures_point(m, b.index[j]), d);
                    assert_close(cost[i * b.n + j], exact, 32 * (double)(d / 8 + 6) * 0x1p-53, 0);
                }
            ddsc_measures_destroy(m);
        }
}

/* Products of these points overflow or underflow, so costs are computed from differences. */
static void test_cost_far(void **state)
{
    fixture *x = *state;
    enum { N = 6, D = 20 };
    static const double scale[] = {1e-100, 1e-82, 1e90, 1e145};
    rng r = rng_make(4, RNG_GAUSSIANS, 0);
    for (int k = 0; k < 4; k++) {
        double points[2 * N * D], cost[N * N];
        int64_t offset[3] = {0, N, 2 * N};
        measures *m = NULL;
        for (int64_t p = 0; p < 2 * N * D; p++)
            points[p] = rng_normal(&r) * (p / D % 3 == 0 ? 1 : scale[k]);
        assert_int_equal(
            ddsc_measures_create_clouds(x->ctx, &m, 2, D, points, NULL, offset, DDSC_EMPTY_ERROR),
            DDSC_OK);
        item_view a = measures_item(m, 0), b = measures_item(m, 1);
        product_costs(cost, m, 0, m, 1);
        for (int64_t i = 0; i < a.n; i++)
            for (int64_t j = 0; j < b.n; j++) {
                double exact =
                    true_cost(measures_point(m, a.index[i]), measures_point(m, b.index[j]), D);
                assert_close(cost[i * b.n + j], exact, 1e-13, 0);
            }
        ddsc_measures_destroy(m);
    }
}

/* Documents with few words: items that share points. */
static measures *documents(ddsc_context *ctx, int64_t n, int64_t size, int64_t vocabulary,
                           int64_t d)
{
    rng r = rng_make(8, RNG_SUBSET, 0);
    measures *m = NULL;
    double *support = malloc((size_t)(vocabulary * d) * sizeof *support);
    double *weight = malloc((size_t)(n * size) * sizeof *weight);
    int32_t *index = malloc((size_t)(n * size) * sizeof *index);
    int64_t *offset = malloc((size_t)(n + 1) * sizeof *offset);
    for (int64_t k = 0; k < vocabulary * d; k++)
        support[k] = rng_normal(&r);
    for (int64_t k = 0; k <= n; k++)
        offset[k] = k * size;
    for (int64_t k = 0; k < n * size; k++) {
        index[k] = (int32_t)rng_below(&r, vocabulary);
        weight[k] = 0.1 + rng_uniform(&r);
    }
    /* two items alike */
    memcpy(index + size, index, (size_t)size * sizeof *index);
    memcpy(weight + size, weight, (size_t)size * sizeof *weight);
    assert_int_equal(
        make_shared(ctx, &m, n, vocabulary, d, support, offset, index, weight, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(offset);
    free(index);
    free(weight);
    free(support);
    return m;
}

/* Precomputed costs for a block of pairs do not change a single bit. */
static void test_ahead(void **state)
{
    fixture *x = *state;
    enum { N = 12, HALF = 5 };
    measures *m = documents(x->ctx, N, 9, 40, 30);
    exact_solver *plain = NULL;
    assert_true(exact_tile_applies(m, &ground_sqeuclidean));
    assert_int_equal(exact_create(x->ctx, &plain), DDSC_OK);
    assert_int_equal(exact_tile_costs(x->s, m, 0, HALF, HALF - 2, N), DDSC_OK);
    assert_ptr_equal(x->s->tile.m, m);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) { /* pairs of the block and others */
            exact_result a, b;
            problem p = item_problem(m, i, m, j);
            assert_int_equal(exact_solve_items(x->s, &a, m, i, m, j, 0), DDSC_OK);
            answer ahead = copy_answer(x->s, &p, a);
            assert_int_equal(exact_solve_items(plain, &b, m, i, m, j, 0), DDSC_OK);
            answer alone = copy_answer(plain, &p, b);
            check_same(&ahead, &alone);
            free(ahead.bits);
            free_problem(&p);
        }
    exact_destroy(plain);
    ddsc_measures_destroy(m);
}

static ddsc_status distances_of(ddsc_context *ctx, void *arg)
{
    double out[70 * 70];
    return ddsc_distance_run(ctx, out, NULL, arg, NULL, 0);
}

/* The same with the call for all pairs, for any number of threads and if memory runs out. */
static void test_ahead_matrix(void **state)
{
    fixture *x = *state;
    enum { N = 70 };
    measures *m = documents(x->ctx, N, 9, 100, 30);
    ddsc_context *two = test_context(2, 0);
    double one_thread[N * N], two_threads[N * N];
    assert_int_equal(ddsc_distance_run(x->ctx, one_thread, NULL, m, NULL, DDSC_DISTANCE_SQUARED),
                     DDSC_OK);
    assert_int_equal(ddsc_distance_run(two, two_threads, NULL, m, NULL, DDSC_DISTANCE_SQUARED),
                     DDSC_OK);
    assert_memory_equal(one_thread, two_threads, sizeof one_thread);
    assert_true(one_thread[1] == 0);
    measures *ordered = NULL;
    assert_int_equal(measures_ordered(x->ctx, &ordered, m), DDSC_OK);
    const measures *o = ordered ? ordered : m;
    for (int64_t i = 0; i < N; i += 7)
        for (int64_t j = i + 1; j < N; j += 5) {
            double d2 = measures_precedes(o, i, j) ? solve_items(x->s, o, i, o, j)
                                                   : solve_items(x->s, o, j, o, i);
            assert_true(d2 == one_thread[i * N + j]);
        }
    ddsc_measures_destroy(ordered);
    assert_true(test_failing_allocations(distances_of, m) > 3);
    ddsc_context_destroy(two);
    ddsc_measures_destroy(m);
}

/* Products of these points overflow or underflow: they are not used, and the distance is correct.
 * */
static void test_cost_range(void **state)
{
    fixture *x = *state;
    rng r = rng_make(4, RNG_GAUSSIANS, 0);
    enum { N = 5, D = 20 };
    double base[2 * N * D], points[2 * N * D], cost[N * N], value[3];
    static const double size[] = {1, 1e-120, 1e120};
    int64_t offset[3] = {0, N, 2 * N};
    for (int64_t p = 0; p < 2 * N * D; p++)
        base[p] = rng_normal(&r);
    for (int k = 0; k < 3; k++) {
        measures *m = NULL;
        for (int64_t p = 0; p < 2 * N * D; p++)
            points[p] = size[k] * base[p];
        assert_int_equal(
            ddsc_measures_create_clouds(x->ctx, &m, 2, D, points, NULL, offset, DDSC_EMPTY_ERROR),
            DDSC_OK);
        assert_true(cost_products_fit(product_costs(cost, m, 0, m, 1)) == (k == 0));
        exact_result result;
        assert_int_equal(exact_solve_items(x->s, &result, m, 0, m, 1, 0), DDSC_OK);
        value[k] = result.primal;
        assert_close(value[k] / size[k] / size[k], value[0], 1e-12, 0);
        ddsc_measures_destroy(m);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, transport_set_up, transport_tear_down)
    const struct CMUnitTest tests[] = {
        T(test_properties),     T(test_items),           T(test_metrics_of_items),
        T(test_translation),    T(test_tiny_distances),  T(test_line),
        T(test_grid),           T(test_items_same_bits), T(test_memory),
        T(test_bounded_memory), T(test_costs),           T(test_cost_products),
        T(test_cost_far),       T(test_ahead),           T(test_ahead_matrix),
        T(test_cost_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
