/* The pruned graph equals the full graph, edge for edge and bit for bit: with synthetic bounds that
 * exercise the engine, with difficult clouds and images, and with real images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neighbors/search/search.h"
#include "support.h"
#include "virtual_team.h"

enum { REAL_IMAGES = 200 };

static ddsc_graph_settings settings_of(int64_t tau, ddsc_exact_graph how)
{
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    set.exact_graph = how;
    return set;
}

/* ---- the engine with synthetic bounds ---- */

typedef struct fake {
    ddsc_context *ctx;
    int64_t n;
    int n_values;         /* distances are integers below this value, so ties are common */
    const double *shares; /* a first bound is one of these three parts of the distance */
    bool refines;
    double dual_share;   /* minimum share that a dual bound reaches */
    const int64_t *name; /* n: permutation of the items, or NULL */
    int64_t *n_solves;   /* n x n: how often each pair was solved */
    int64_t window;      /* items of a window that has to be loaded; 0: no windows */
    int64_t loaded[2];
    bool short_lists;
} fake;

static uint64_t fake_draw(const fake *f, int64_t i, int64_t j, uint64_t stream)
{
    int64_t a = f->name ? f->name[i] : i, b = f->name ? f->name[j] : j;
    return rng_hash(11, stream, (uint64_t)BASE_MIN(a, b), (uint64_t)BASE_MAX(a, b));
}

static double fake_value(const fake *f, int64_t i, int64_t j)
{
    return (double)(fake_draw(f, i, j, 0) % (uint64_t)f->n_values);
}

static ddsc_status fake_tile(void *state, const pair_tile *t, double *d2, int64_t ld, int worker,
                             ddsc_pair_stats *stats)
{
    fake *f = state;
    assert_true(worker >= 0 && worker < parallel_width(f->ctx));
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            if (tile_wants(t, i, j)) {
                d2[(i - t->i0) * ld + (j - t->j0)] = fake_value(f, i, j);
                __atomic_fetch_add(&f->n_solves[i * f->n + j], 1, __ATOMIC_RELAXED);
                stats->n_iterations++;
            }
    return DDSC_OK;
}

static void fake_bound_close(void *state)
{
    (void)state;
}

static float fake_low(const fake *f, int64_t i, int64_t j)
{
    float low = (float)(f->shares[fake_draw(f, i, j, 1) % 3] * fake_value(f, i, j));
    return low > 0 ? low
                   : (float)(fake_draw(f, i, j, 5) % 7) - 6; /* bounds below 0 are equivalent to 0
                                                              * */
}

static void fake_bound_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    const fake *f = state;
    (void)worker;
    if (f->window > 0)
        assert_true(t->i0 / f->window == f->loaded[0] && t->j0 / f->window == f->loaded[1]);
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = t->j0; j < t->j1; j++)
            low[(i - t->i0) * ld + (j - t->j0)] = fake_low(state, i, j) / 4;
}

static ddsc_status fake_load(void *state, int64_t a, int64_t b)
{
    fake *f = state;
    assert_true(0 <= a && a <= b && b * f->window < f->n);
    f->loaded[0] = a;
    f->loaded[1] = b;
    return DDSC_OK;
}

static ddsc_status fake_bound_open(void **state, bound_offer *offer, const pair_job *job,
                                   void *metric)
{
    const fake *f = metric;
    (void)job;
    offer->level[BOUND_FRAME] = true;
    offer->level[BOUND_DUAL] = offer->level[BOUND_TIGHT] = f->refines;
    offer->first =
        (first_bounds){.n = f->n, .side = 7, .unit = 4, .tile = fake_bound_tile, .state = metric};
    offer->first.window = f->window;
    offer->first.load = fake_load;
    offer->short_lists = f->short_lists;
    *state = metric;
    return DDSC_OK;
}

/* Returns a function of its arguments: less for a quick bound, more near `enough`. */
static double fake_bound_pair(void *state, bound_level level, int64_t i, int64_t j, double enough,
                              int worker)
{
    const fake *f = state;
    double value = fake_value(f, i, j), share = f->dual_share;
    assert_true(worker >= 0 && worker < parallel_width(f->ctx));
    if (level == BOUND_FRAME)
        return fake_draw(f, i, j, 2) % 2 ? 0.5 * value : 0;
    if (level == BOUND_TIGHT) {
        assert_true(isfinite(enough));
        return fake_draw(f, i, j, 4) % 2 ? value : 0;
    }
    assert_int_equal(level, BOUND_DUAL);
    if (isfinite(enough) && fake_draw(f, i, j, 3) % 2)
        share = 1;
    return share * value;
}

static const pair_bounds fake_bounds = {
    .open = fake_bound_open, .close = fake_bound_close, .pair = fake_bound_pair};
static const pair_backend fake_backend = {
    .name = "fake", .tile_side = 5, .tile = fake_tile, .bounds = &fake_bounds};

/* A graph and its context. */
typedef struct run {
    ddsc_context *ctx;
    ddsc_graph *graph;
    ddsc_pair_stats stats;
} run;

static void run_free(run *r)
{
    ddsc_graph_destroy(r->graph);
    ddsc_context_destroy(r->ctx);
}

static const char *const levels[] = {"bounds_frame", "bounds_cut", "bounds_dual", "bounds_tight"};

static int64_t detail(const run *r, const char *name)
{
    int64_t n;
    const ddsc_detail *left = ddsc_context_get_details(r->ctx, &n);
    for (int64_t i = 0; i < n; i++)
        if (strcmp(left[i].name, name) == 0)
            return (int64_t)left[i].value;
    return 0; /* of a set without pairs */
}

static void assert_adds_up(const run *r)
{
    const ddsc_pair_stats *s = &r->stats;
    int64_t n_bounds = 0;
    for (int k = 0; k < 4; k++)
        n_bounds += detail(r, levels[k]);
    assert_int_equal(s->n_pruned + s->n_solved, s->n_pairs);
    assert_true(s->n_pruned >= 0 && s->n_bounds >= s->n_pairs + n_bounds);
}

static void assert_same_stats(const run *a, const run *b)
{
    assert_int_equal(a->stats.n_solved, b->stats.n_solved);
    assert_int_equal(a->stats.n_bounds, b->stats.n_bounds);
    for (int k = 0; k < 4; k++)
        assert_int_equal(detail(a, levels[k]), detail(b, levels[k]));
}

/* No pair may be solved twice, and the counts must be correct. */
static run fake_run(fake *f, int threads, int64_t tau, bool pruned)
{
    run r = {.ctx = test_context(threads, 0)};
    pairs p;
    pair_choice all = pairs_all(f->n);
    pair_job job = {.ctx = r.ctx, .n_workers = parallel_width(r.ctx)};
    ddsc_status status;
    int64_t n_solved = 0;
    f->ctx = r.ctx;
    memset(f->n_solves, 0, (size_t)(f->n * f->n) * sizeof *f->n_solves);
    assert_int_equal(pairs_open(r.ctx, &p, f->n, &fake_backend, f, NULL), DDSC_OK);
    if (pruned) {
        assert_int_equal(pairs_open_bounds(&p, &job), DDSC_OK);
        status = search_pruned(&p, &r.graph, tau);
    } else {
        status = search_full(&p, &r.graph, tau, &all);
    }
    assert_int_equal(status, DDSC_OK);
    assert_int_equal(pairs_finish(&p, f->n * (f->n - 1) / 2, &r.stats), DDSC_OK);
    pairs_close(&p);
    for (int64_t k = 0; k < f->n * f->n; k++) {
        assert_true(f->n_solves[k] <= 1);
        n_solved += f->n_solves[k];
    }
    assert_int_equal(r.stats.n_solved, n_solved);
    if (pruned)
        assert_adds_up(&r);
    return r;
}

static const int N_THREADS[] = {1, 2, 3, 7};

/* Useless bounds prune nothing, and lists shorter than the rows are exhausted. Exact bounds leave
 * only the nearest items. */
static void test_engine(void **state)
{
    static const double shares[][3] = {{0, 0, 0}, {1, 1, 1}, {0, 0.5, 1}, {0.9, 1, 0.3}};
    static const int64_t taus[] = {1, 3, 20, 198, 199};
    enum { N = 200 };
    (void)state;
    fake f = {.n = N, .n_solves = malloc(sizeof(int64_t) * N * N)};
    size_t step = 3 / (size_t)test_size(3); /* 3 has no factor in common with the 4 and 5 kinds */
    for (size_t k = 0; k < 4 * 5 * 3; k += step) {
        f.shares = shares[k % 4];
        int64_t tau = taus[k / 4 % 5];
        f.n_values = k / 20 == 2 ? 1000000 : 40;
        f.refines = k / 20 > 0;
        f.dual_share = k / 20 == 1 ? 0 : 0.95;
        f.window = (int64_t)(k % 3) * 21;
        f.short_lists = k % 2;
        run full = fake_run(&f, 1, tau, false), first = {0};
        for (int t = 0; t < 4; t++) {
            run r = fake_run(&f, N_THREADS[t], tau, true);
            assert_same_graph(full.graph, r.graph);
            if (t == 0)
                first = r;
            assert_same_stats(&r, &first);
            if (t > 0)
                run_free(&r);
        }
        if (f.n_values > N && f.refines && tau == 3)
            assert_true(first.stats.n_solved < N * (N - 1) / 4);
        run_free(&first);
        run_free(&full);
    }
    free(f.n_solves);
}

typedef struct fake_team {
    fake f; /* of all ranks */
    const ddsc_graph *expected;
} fake_team;

static void fake_rank(void *arg, const ddsc_team *team)
{
    const fake_team *t = arg;
    fake f = t->f;
    pairs p;
    ddsc_graph *graph = NULL;
    f.ctx = test_context(1, 0);
    f.n_solves = calloc((size_t)(f.n * f.n), sizeof *f.n_solves);
    pair_job job = {.ctx = f.ctx, .n_workers = 1};
    assert_int_equal(ddsc_context_set_team(f.ctx, team), DDSC_OK);
    assert_int_equal(pairs_open(f.ctx, &p, f.n, &fake_backend, &f, NULL), DDSC_OK);
    assert_int_equal(pairs_open_bounds(&p, &job), DDSC_OK);
    assert_int_equal(search_pruned(&p, &graph, 3), DDSC_OK);
    assert_same_graph(t->expected, graph);
    ddsc_graph_destroy(graph);
    pairs_close(&p);
    ddsc_context_destroy(f.ctx);
    free(f.n_solves);
}

/* All ranks load the same windows and share their tiles. */
static void test_windows_of_teams(void **state)
{
    static const double shares[] = {0.2, 0.7, 0.5};
    enum { N = 120 };
    (void)state;
    fake_team t = {.f = {.n = N,
                         .n_values = 1000000,
                         .shares = shares,
                         .refines = true,
                         .dual_share = 0.9,
                         .window = 21,
                         .short_lists = true,
                         .n_solves = malloc(sizeof(int64_t) * N * N)}};
    run full = fake_run(&t.f, 1, 3, false);
    t.expected = full.graph;
    virtual_team_run(2, fake_rank, &t, NULL);
    virtual_team_run(5, fake_rank, &t, NULL);
    run_free(&full);
    free(t.f.n_solves);
}

/* A round depends only on the state at its start, not on the order of the items: with permuted
 * items (and no ties), the numbers of solves and bounds are the same. */
static void test_order_free(void **state)
{
    (void)state;
    enum { N = 120 };
    static const double shares[] = {0.3, 0.8, 0.6};
    int64_t name[N];
    fake f = {.n = N,
              .n_values = 1 << 30,
              .shares = shares,
              .refines = true,
              .dual_share = 0.7,
              .n_solves = malloc(sizeof(int64_t) * N * N)};
    run plain = fake_run(&f, 2, 5, true);
    for (int k = 0; k < 5; k++) {
        rng r = rng_make((uint64_t)k, RNG_GAUSSIANS, 0);
        for (int64_t i = 0; i < N; i++)
            name[i] = i;
        for (int64_t i = N - 1; i > 0 && k > 0; i--) {
            int64_t j = rng_below(&r, i + 1), t = name[i];
            name[i] = name[j];
            name[j] = t;
        }
        f.name = name;
        run other = fake_run(&f, 3, 5, true);
        assert_same_stats(&plain, &other);
        run_free(&other);
    }
    run_free(&plain);
    free(f.n_solves);
}

/* Random sizes, lists, bounds and ties; N = 1, 2, 3 among them. */
static void test_random_searches(void **state)
{
    (void)state;
    rng r = rng_make(7, RNG_GAUSSIANS, 0);
    for (int k = 0; k < test_size(60); k++) {
        double shares[3] = {rng_uniform(&r), rng_uniform(&r), rng_uniform(&r)};
        int64_t n = k < 9 ? 1 + k / 3 : 2 + rng_below(&r, 300);
        int64_t tau = BASE_MIN(n - 1, k % 4 == 0 ? n - 1 : 1 + rng_below(&r, 12));
        fake f = {.n = n,
                  .n_values = 1 + (int)rng_below(&r, k % 3 == 0 ? 3 : 100000),
                  .shares = shares,
                  .refines = k % 2 == 1,
                  .dual_share = rng_uniform(&r),
                  .n_solves = malloc(sizeof(int64_t) * (size_t)(n * n))};
        if (n < 2)
            tau = 0;
        run full = fake_run(&f, 1, tau, false);
        if (n > 1) {
            run one = fake_run(&f, 1, tau, true), seven = fake_run(&f, 7, tau, true);
            assert_same_graph(full.graph, one.graph);
            assert_same_graph(full.graph, seven.graph);
            assert_same_stats(&one, &seven);
            run_free(&one);
            run_free(&seven);
        }
        run_free(&full);
        free(f.n_solves);
    }
}

/* ---- W2 ---- */

static run w2_run(int threads, const measures *m, int64_t tau, ddsc_exact_graph how)
{
    run r = {.ctx = test_context(threads, 0), .stats.struct_size = sizeof r.stats};
    ddsc_graph_settings set = settings_of(tau, how);
    ddsc_status status = ddsc_neighbors_run(r.ctx, &r.graph, &r.stats, m, NULL, &set);
    if (status != DDSC_OK)
        fail_msg("neighbors: %s", ddsc_context_get_message(r.ctx));
    return r;
}

static void check_w2(const measures *m, int64_t tau)
{
    run full = w2_run(2, m, tau, DDSC_GRAPH_FULL), first = w2_run(1, m, tau, DDSC_GRAPH_PRUNED);
    assert_same_graph(full.graph, first.graph);
    for (int t = test_size(3) < 3 ? 3 : 1; t < 4; t++) {
        run r = w2_run(N_THREADS[t], m, tau, DDSC_GRAPH_PRUNED);
        assert_same_graph(full.graph, r.graph);
        assert_adds_up(&r);
        assert_same_stats(&r, &first);
        assert_true(r.stats.max_gap <= 1e-10);
        run_free(&r);
    }
    run_free(&first);
    run_free(&full);
}

static void check_taus(measures *m)
{
    int64_t taus[] = {1, 2, m->n / 2, m->n - 1};
    for (int k = 0; k < 4; k++)
        if (taus[k] >= 1 && (k == 0 || taus[k] > taus[k - 1]))
            check_w2(m, taus[k]);
    ddsc_measures_destroy(m);
}

static void test_clouds(void **state)
{
    static const int64_t dims[] = {1, 2, 3, 10, 100};
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        check_taus(test_random_measures(ctx, 40, 12, dims[k], 10 + k));
        for (int64_t n = 1; n <= 3; n++)
            check_taus(test_random_measures(ctx, n, 5, dims[k], 20 + k));
        measures *larger = test_random_measures(ctx, 50, 70, dims[k], 30 + k);
        check_w2(larger, 4);
        ddsc_measures_destroy(larger);
    }
    ddsc_context_destroy(ctx);
}

static measures *clouds_of(ddsc_context *ctx, int64_t n, int64_t size, int64_t d,
                           double (*at)(rng *r, int64_t item, int64_t k), uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 8);
    int64_t *offset = malloc((size_t)(n + 1) * sizeof *offset);
    double *points = malloc((size_t)(n * size * d) * sizeof *points);
    measures *m = NULL;
    for (int64_t i = 0; i <= n; i++)
        offset[i] = i * size;
    for (int64_t p = 0; p < n * size * d; p++)
        points[p] = at(&r, p / (size * d), p % (size * d));
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, d, points, NULL, offset, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(offset);
    free(points);
    return m;
}

static double on_lattice(rng *r, int64_t item, int64_t k)
{
    (void)item;
    (void)k;
    return (double)rng_below(r, 3);
}

/* Five kinds of items, each repeated many times. */
static double repeated(rng *r, int64_t item, int64_t k)
{
    (void)r;
    return 0.25 * (double)(rng_hash(1, 2, (uint64_t)(item % 5), (uint64_t)k) % 8);
}

static double normal(rng *r, int64_t item, int64_t k)
{
    (void)item;
    (void)k;
    return rng_normal(r);
}

/* Equal distances, duplicates, single points: ties that only the index breaks. */
static void test_ties(void **state)
{
    static const int64_t dims[] = {1, 2, 3, 10};
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        check_taus(clouds_of(ctx, 40, 30, dims[k], repeated, k));
        check_taus(clouds_of(ctx, 40, 1, dims[k], on_lattice, k));
        check_taus(clouds_of(ctx, 40, 4, dims[k], on_lattice, k));
        check_taus(clouds_of(ctx, 40, 3, dims[k], repeated, k));
    }
    ddsc_context_destroy(ctx);
}

/* More items than the size of a list, in dimensions where projections are not informative. */
static void test_useless_bounds(void **state)
{
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    measures *m = clouds_of(ctx, 140, 66, 12, normal, 3);
    check_w2(m, 3);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- images ---- */

/* kind 0: noise; 1: translations of a few patterns, with many equal distances; 2: single pixels and
 * many copies of one image. */
static measures *images_of(ddsc_context *ctx, int64_t n, int64_t rows, int64_t columns, int kind,
                           uint64_t seed)
{
    int64_t v = rows * columns;
    rng r = rng_make(seed, RNG_GAUSSIANS, 21);
    double *support = malloc((size_t)(2 * v) * sizeof *support);
    double *image = calloc((size_t)(n * v), sizeof *image);
    measures *m = NULL;
    for (int64_t p = 0; p < v; p++) {
        support[2 * p] = (double)(p / columns);
        support[2 * p + 1] = (double)(p % columns);
    }
    for (int64_t i = 0; i < n; i++) {
        double *own = image + i * v;
        int64_t at = rng_below(&r, v);
        for (int64_t p = 0; p < v; p++)
            own[p] = kind == 0 && rng_uniform(&r) < 0.5 ? rng_uniform(&r) : 0;
        own[kind == 2 ? (i % 4) * v / 4 : at] += 1;
        if (kind == 1)
            own[(at + 1) % v] = own[(at + columns) % v] = (double)(1 + i % 2);
    }
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, n, v, 2, support, image, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(support);
    free(image);
    return m;
}

static void test_images(void **state)
{
    ddsc_context *ctx = test_context(1, 0);
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        check_taus(images_of(ctx, 40, 7, 7, kind, 1));
        check_taus(images_of(ctx, 30, 3, 20, kind, 2));
        check_taus(images_of(ctx, 12, 70, 4, kind, 3));
        for (int64_t n = 1; n <= 3; n++)
            check_taus(images_of(ctx, n, 5, 5, kind, 4));
    }
    measures *many = images_of(ctx, 200, 6, 6, 1, 5);
    check_w2(many, 4);
    ddsc_measures_destroy(many);
    ddsc_context_destroy(ctx);
}

static void test_real_images(void **state)
{
    static const char *const names[] = {"mnist", "fashion-mnist"};
    ddsc_context *ctx = test_context(2, 0);
    int64_t items[REAL_IMAGES], n = test_size(REAL_IMAGES);
    (void)state;
    if (!test_data_dir()) {
        ddsc_context_destroy(ctx);
        skip();
    }
    for (int64_t i = 0; i < n; i++)
        items[i] = i;
    for (int k = 0; k < 2; k++) {
        char path[4096];
        measures *all = NULL, *m = NULL;
        snprintf(path, sizeof path, "%s/%s/t10k-images-idx3-ubyte.gz", test_data_dir(), names[k]);
        assert_int_equal(ddsc_measures_read(ctx, &all, path, NULL), DDSC_OK);
        assert_int_equal(ddsc_measures_copy_subset(ctx, &m, all, n, items), DDSC_OK);
        ddsc_measures_destroy(all);
        run full = w2_run(2, m, 5, DDSC_GRAPH_FULL), pruned = w2_run(2, m, 5, DDSC_GRAPH_PRUNED);
        assert_same_graph(full.graph, pruned.graph);
        if (n == REAL_IMAGES && pruned.stats.n_solved > 10 * REAL_IMAGES)
            fail_msg("%lld solves for %d images of %s", (long long)pruned.stats.n_solved,
                     REAL_IMAGES, names[k]);
        run_free(&full);
        run_free(&pruned);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* ---- failed allocations ---- */

static ddsc_status neighbors_call(ddsc_context *ctx, void *arg)
{
    ddsc_graph_settings set = settings_of(2, DDSC_GRAPH_PRUNED);
    ddsc_graph *graph = NULL;
    ddsc_status status = ddsc_neighbors_run(ctx, &graph, NULL, arg, NULL, &set);
    ddsc_graph_destroy(graph);
    return status;
}

static void test_failed_allocations(void **state)
{
    ddsc_context *ctx = test_context(1, 0);
    measures *sets[] = {test_random_measures(ctx, 12, 6, 2, 1),
                        test_random_measures(ctx, 12, 6, 20, 1), images_of(ctx, 12, 5, 5, 0, 1),
                        clouds_of(ctx, 12, 6, 4, on_lattice, 1),
                        test_random_measures(ctx, 8, 60, 3, 1)};
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        test_failing_allocations(neighbors_call, sets[k]);
        ddsc_measures_destroy(sets[k]);
    }
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine),         cmocka_unit_test(test_windows_of_teams),
        cmocka_unit_test(test_order_free),     cmocka_unit_test(test_random_searches),
        cmocka_unit_test(test_clouds),         cmocka_unit_test(test_ties),
        cmocka_unit_test(test_useless_bounds), cmocka_unit_test(test_images),
        cmocka_unit_test(test_real_images),    cmocka_unit_test(test_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
