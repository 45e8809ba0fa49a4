/* Eigenvectors on several ranks: compares spectra for which Krylov methods miss copies with LAPACK
 * and known values. Run by mpirun on any number of ranks. A second build without the second check
 * must fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/team.h"
#include "ddsc_mpi.h"
#include "numeric/eigen/solver.h"
#include "sparse_support.h"

static ddsc_team team;

/* A context of the team. */
static ddsc_context *team_context(void)
{
    ddsc_context *ctx = test_context(1, 5);
    assert_int_equal(ddsc_context_set_team(ctx, &team), DDSC_OK);
    return ctx;
}

/* This rank's rows of the components' vectors, as eigen_run passes them. */
static void add_exact(solver *s, const test_graph *g)
{
    int64_t width = g->n_components;
    double *volume = calloc((size_t)width, sizeof *volume);
    assert_int_equal(panel_new(s->ctx, &s->exact, s->own.end - s->own.begin, width), DDSC_OK);
    for (int64_t i = 0; i < g->m.n; i++)
        volume[g->component[i]] += g->degree[i];
    for (int64_t i = s->own.begin; i < s->own.end; i++)
        for (int64_t c = 0; c < width; c++)
            s->exact.x[(i - s->own.begin) * width + c] =
                g->component[i] == c ? sqrt(g->degree[i] / volume[c]) : 0;
    free(volume);
}

/* Checks that the library's own solver was not used. */
static bool by_team(const ddsc_context *ctx)
{
    const char *stage, *path, *why;
    for (int64_t n = 0; ddsc_context_get_note(ctx, n, &stage, &path, &why); n++)
        if (strcmp(path, "block iteration") == 0)
            return false;
    return true;
}

/* Checks that the team's solver alone is correct and verified. */
static void expect_solve(test_graph *g, int64_t k, const double *expected)
{
    ddsc_context *ctx = team_context();
    int64_t n = g->m.n;
    solver s = {.ctx = ctx,
                .m = &g->m,
                .own = sparse_own(ctx, n),
                .component = g->component,
                .wanted = k - g->n_components};
    bool verified = false;
    s.dimension = n - g->n_components;
    s.tolerance = 1e-9;
    s.max_products = 20000;
    add_exact(&s, g);
    assert_int_equal(eigen_team_solve(&s, &verified), DDSC_OK);
    assert_true(verified);
    for (int64_t j = 0; j < s.wanted; j++)
        assert_close(s.theta[j], expected[g->n_components + j], 0, 1e-8);
    panel all, mv;
    double *residual = calloc((size_t)s.wanted, sizeof *residual);
    assert_int_equal(panel_new(ctx, &all, n, s.wanted), DDSC_OK);
    assert_int_equal(panel_new(ctx, &mv, n, s.wanted), DDSC_OK);
    memcpy(all.x + s.own.begin * s.wanted, s.v.x, (size_t)(s.v.n * s.wanted) * sizeof *all.x);
    assert_int_equal(team_gather(ctx, all.x, n, block_rows(n), s.wanted * 8), DDSC_OK);
    assert_int_equal(operator_apply(ctx, &g->m, s.wanted, all.x, mv.x), DDSC_OK);
    assert_int_equal(panel_residuals(ctx, residual, &all, &mv, s.theta), DDSC_OK);
    for (int64_t j = 0; j < s.wanted; j++)
        assert_true(residual[j] <= s.tolerance);
    free(residual);
    panel_free(ctx, &all);
    panel_free(ctx, &mv);
    panel_free(ctx, &s.exact);
    panel_free(ctx, &s.v);
    mem_free(ctx, s.theta);
    ddsc_context_destroy(ctx);
}

/* Checks that every rank has the same bytes. */
static void expect_same(ddsc_context *ctx, const eigen_result *r)
{
    double hash = (double)(hash_bytes(r->vector, (size_t)(r->n * r->k) * 8, 0) >> 12);
    double both[2] = {hash, -hash};
    assert_int_equal(team_largest(ctx, both, 2), DDSC_OK);
    assert_true(both[0] == -both[1]);
}

/* Runs the whole solver for k pairs of the graph. expected NULL: compare with LAPACK. */
static void expect(const edge_list *e, int64_t k, const double *expected)
{
    ddsc_context *alone = test_context(1, 5), *ctx = team_context();
    test_graph one, all;
    eigen_result dense, r;
    test_graph_make(alone, &one, e);
    test_graph_make(ctx, &all, e);
    test_eigen_run(&one, &dense, k, 5000);
    for (int64_t j = 0; expected && j < k; j++)
        assert_close(dense.value[j], expected[j], 0, 1e-9);
    test_eigen_run(&all, &r, k, 0);
    assert_int_equal(r.dense, 0);
    assert_true(team_size(ctx) == 1 || by_team(ctx));
    expect_same(ctx, &r);
    for (int64_t j = 0; j < k; j++)
        assert_close(r.value[j], dense.value[j], 0, 1e-8);
    if (all.n_components < k)
        expect_solve(&all, k, dense.value);
    eigen_free(ctx, &r);
    eigen_free(alone, &dense);
    test_graph_free(&all);
    test_graph_free(&one);
    ddsc_context_destroy(ctx);
    ddsc_context_destroy(alone);
}

/* Copies of one graph, with different seeds if `alike` is false, linked in a chain if `link` is
 * positive. */
static edge_list *copies(int64_t n, int64_t times, bool alike, double link)
{
    edge_list *all = edges_new(n * times);
    for (int64_t c = 0; c < times; c++) {
        edge_list *e = edges_random(n, 4, alike ? 3 : (uint64_t)c + 3);
        for (int64_t p = 0; p < e->count; p++)
            edges_add(all, c * n + e->from[p], c * n + e->to[p], e->weight[p]);
        if (link > 0 && c > 0)
            edges_add(all, c * n - 1, c * n, link);
        edges_free(e);
    }
    return all;
}

static void test_components(void **state)
{
    (void)state;
    edge_list *e = copies(30, 40, false, 0);
    expect(e, 40, NULL); /* K = components: nothing to solve */
    expect(e, 1, NULL);
    expect(e, 25, NULL);
    expect(e, 41, NULL);
    expect(e, 80, NULL);
    edges_free(e);
}

static void test_twins(void **state)
{
    (void)state;
    edge_list *e = copies(150, 6, true, 0);
    expect(e, 16, NULL);
    expect(e, 30, NULL);
    edges_free(e);
}

static void test_chain(void **state)
{
    (void)state;
    edge_list *e = copies(80, 12, false, 1e-3);
    expect(e, 12, NULL);
    expect(e, 20, NULL);
    edges_free(e);
    e = copies(80, 12, true, 1e-9); /* nearly twins, in one component */
    expect(e, 20, NULL);
    edges_free(e);
}

static void test_cycle(void **state)
{
    (void)state;
    enum { N = 701, K = 15 };
    double expected[K];
    edge_list *e = edges_new(N);
    for (int64_t i = 0; i < N; i++)
        edges_add(e, i, (i + 1) % N, 1e-3);
    for (int k = 0; k < K; k++)
        expected[k] = cos(2 * 3.14159265358979323846 * ((k + 1) / 2) / N);
    expect(e, K, expected);
    edges_free(e);
}

/* 10 and 45 equal eigenvalues: more than the rounds of a Krylov method separate. */
static void test_hypercube(void **state)
{
    (void)state;
    enum { D = 9, N = 1 << D };
    edge_list *e = edges_new(N);
    for (int64_t i = 0; i < N; i++)
        for (int b = 0; b < D; b++)
            if (!(i >> b & 1))
                edges_add(e, i, i | (int64_t)1 << b, 1);
    expect(e, 7, NULL);
    expect(e, 20, NULL);
    edges_free(e);
}

/* An item without edges, and excluded components: their rows are zero. */
static void test_left_out(void **state)
{
    (void)state;
    enum { N = 400, K = 60 };
    edge_list *e = edges_random(N, 2, 9), *more = edges_new(N + 300);
    ddsc_context *alone = test_context(1, 5), *ctx = team_context();
    test_graph g, single;
    eigen_result expected, r;
    eigen_settings set = {1e-9, 20000, 0};
    for (int64_t p = 0; p < e->count; p++)
        edges_add(more, e->from[p], e->to[p], e->weight[p]);
    for (int64_t i = N; i < N + 299; i += 2) /* pairs, and the last item alone */
        if (i + 2 < N + 300)
            edges_add(more, i, i + 1, 1);
    test_graph_make(alone, &single, e);
    test_graph_make(ctx, &g, more);
    for (int64_t i = 0; i < N + 300; i++)
        if (g.component[i] > 0) {
            g.component[i] = -1;
            for (int64_t p = g.m.offset[i]; p < g.m.offset[i + 1]; p++)
                g.m.value[p] = 0;
        }
    test_eigen_run(&single, &expected, K, 1000);
    assert_int_equal(eigen_run(ctx, &r, &g.m, g.degree, g.component, 1, K, &set), DDSC_OK);
    assert_true(r.verified);
    for (int64_t j = 0; j < K; j++)
        assert_close(r.value[j], expected.value[j], 0, 1e-8);
    eigen_free(ctx, &r);
    eigen_free(alone, &expected);
    test_graph_free(&g);
    test_graph_free(&single);
    edges_free(e);
    edges_free(more);
    ddsc_context_destroy(ctx);
    ddsc_context_destroy(alone);
}

/* If the limit is reached first, the library's own solver runs, and it also reports that it was
 * stopped. */
static void test_cap(void **state)
{
    (void)state;
    ddsc_context *ctx = team_context();
    edge_list *e = copies(400, 3, false, 1e-4);
    test_graph g;
    eigen_result r;
    eigen_settings set = {1e-12, 1, 0};
    test_graph_make(ctx, &g, e);
    assert_int_equal(eigen_run(ctx, &r, &g.m, g.degree, g.component, 1, 12, &set),
                     DDSC_NOT_CONVERGED);
    assert_false(r.verified);
    eigen_free(ctx, &r);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

int main(int argc, char **argv)
{
    int provided, failed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components), cmocka_unit_test(test_twins),
        cmocka_unit_test(test_chain),      cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_hypercube),  cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_cap),
    };
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (ddsc_team_create_mpi(&team, MPI_COMM_WORLD) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (team.rank > 0 && !freopen("/dev/null", "w", stdout))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    ddsc_team_destroy_mpi(&team);
    MPI_Finalize();
    return 0;
}
