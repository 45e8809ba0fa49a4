#include "support.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

ddsc_context *test_context(int threads, uint64_t seed)
{
    const char *least = getenv("DDSC_TEST_THREADS");
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = least ? BASE_MAX(threads, atoi(least)) : threads;
    set.seed = seed;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    return ctx;
}

int64_t test_size(int64_t full)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    int64_t part = 3;
#else
    int64_t part = 2;
#endif
    return getenv("DDSC_DEEP") ? full : (full + part - 1) / part;
}

/* Fails the fail_at-th allocation (0: none) and, if `stays` is true, all later ones. */
typedef struct failing {
    atomic_llong count, fail_at, live;
    bool stays;
} failing;

static bool refuse(failing *f)
{
    long long now = atomic_fetch_add(&f->count, 1) + 1, at = atomic_load(&f->fail_at);
    return at > 0 && (f->stays ? now >= at : now == at);
}

static void *failing_allocate(void *user, size_t size)
{
    failing *f = user;
    void *block = refuse(f) ? NULL : malloc(size);
    atomic_fetch_add(&f->live, block ? 1 : 0);
    return block;
}

static void *failing_reallocate(void *user, void *block, size_t size)
{
    failing *f = user;
    return refuse(f) ? NULL : realloc(block, size);
}

static void failing_release(void *user, void *block)
{
    failing *f = user;
    atomic_fetch_sub(&f->live, block ? 1 : 0);
    free(block);
}

static ddsc_context *failing_context(failing *f)
{
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 2;
    set.allocate = failing_allocate;
    set.reallocate = failing_reallocate;
    set.release = failing_release;
    set.allocator_user = f;
    set.read_timeout_s = -1; /* HDF5 in this process, because allocations of a child are not counted
                              * */
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    return ctx;
}

/* Runs the call with allocation k failing (0: none). Returns the number of requested allocations.
 * */
static long long call_failing(failing *f, ddsc_context *ctx, test_call call, void *arg, int64_t k)
{
    long long before = atomic_load(&f->live);
    atomic_store(&f->count, 0);
    atomic_store(&f->fail_at, k);
    ddsc_status status = call(ctx, arg);
    long long n = atomic_load(&f->count), leaked = atomic_load(&f->live) - before;
    bool failed = k > 0 && n >= k;
    if (leaked != 0)
        fail_msg("allocation %lld failed and %lld blocks leaked", (long long)k, leaked);
    if (failed ? status != DDSC_ERROR_MEMORY : status < 0)
        fail_msg("allocation %lld of %lld %s and the call returned %s: %s", (long long)k, n,
                 failed ? "failed" : "was not asked for", ddsc_status_name(status),
                 ddsc_context_get_message(ctx));
    return n;
}

/* In a call with many allocations, each of the first ones fails, and a sample of the others. Races
 * do not depend on the allocation that fails, so builds with ThreadSanitizer need fewer. */
#if defined(__SANITIZE_THREAD__)
enum { ALL_OF_FIRST = 15, OF_THE_REST = 15 };
#else
enum { ALL_OF_FIRST = 150, OF_THE_REST = 150 };
#endif

int64_t test_failing_allocations(test_call call, void *arg)
{
    failing f = {.stays = false};
    ddsc_context *ctx = failing_context(&f);
    int64_t n = call_failing(&f, ctx, call, arg, 0);
    int64_t first = test_size(ALL_OF_FIRST), rest = test_size(OF_THE_REST);
    int64_t step = n <= first ? 1 : 1 + (n - first) / rest;
    /* With two threads the number may differ from run to run. */
    for (int64_t k = 1; call_failing(&f, ctx, call, arg, k) >= k; k += k < first ? 1 : step)
        if ((k & (k - 1)) == 0) {
            call_failing(&f, ctx, call, arg, 0);
            f.stays = true;
            call_failing(&f, ctx, call, arg, k);
            f.stays = false;
        }
    ddsc_context_destroy(ctx);
    assert_int_equal(atomic_load(&f.live), 0);
    return n;
}

measures *test_random_measures(ddsc_context *ctx, int64_t n, int64_t max_points, int64_t d,
                               uint64_t seed)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 12345);
    int64_t *offset = calloc((size_t)n + 1, sizeof *offset);
    for (int64_t i = 0; i < n; i++)
        offset[i + 1] = offset[i] + 1 + rng_below(&r, max_points);
    double *points = malloc((size_t)(offset[n] * d) * sizeof *points);
    double *weights = malloc((size_t)offset[n] * sizeof *weights);
    for (int64_t p = 0; p < offset[n] * d; p++)
        points[p] = rng_normal(&r);
    for (int64_t p = 0; p < offset[n]; p++)
        weights[p] = 0.05 + rng_uniform(&r);
    measures *m = NULL;
    ddsc_status status =
        ddsc_measures_create_clouds(ctx, &m, n, d, points, weights, offset, DDSC_EMPTY_ERROR);
    if (status != DDSC_OK)
        fail_msg("random measures: %s", ddsc_context_get_message(ctx));
    free(offset);
    free(points);
    free(weights);
    return m;
}

void cost_items(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    for (int64_t p = 0; p < x.n; p++)
        for (int64_t q = 0; q < y.n; q++) {
            const double *from = measures_point(mx, x.index[p]);
            const double *to = measures_point(my, y.index[q]);
            double sum = 0;
            for (int64_t k = 0; k < mx->d; k++)
                sum += (from[k] - to[k]) * (from[k] - to[k]);
            cost[p * y.n + q] = sum;
        }
}

const char *test_data_dir(void)
{
    static char path[4096];
    const char *given = getenv("DDSC_DATA");
    struct stat info;
    snprintf(path, sizeof path, "%s", given ? given : DDSC_SOURCE_DIR "/../shared/data");
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? path : NULL;
}

void assert_close(double actual, double expected, double relative, double absolute)
{
    double allowed = absolute + relative * fabs(expected);
    if (!(fabs(actual - expected) <= allowed))
        fail_msg("%.17g is not %.17g (off by %g, allowed %g)", actual, expected,
                 fabs(actual - expected), allowed);
}

measures *test_gaussians(ddsc_context *ctx, int64_t k, int64_t n, int64_t points, double apart)
{
    measures *m;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, k, n, points, 2, apart), DDSC_OK);
    return m;
}

ddsc_metric_settings test_metric(ddsc_metric metric)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    return set;
}

const ddsc_metric_settings *metric_with(ddsc_metric metric)
{
    static ddsc_metric_settings set[16];
    ddsc_metric_settings *one = &set[(unsigned)metric % 16];
    *one = test_metric(metric);
    return one;
}

double *test_zeros(int64_t n)
{
    double *block = calloc((size_t)n + 1, sizeof *block);
    assert_non_null(block);
    return block;
}

void assert_same_graph(const ddsc_graph *a, const ddsc_graph *b)
{
    ddsc_graph_view x, y;
    ddsc_graph_get_view(a, &x);
    ddsc_graph_get_view(b, &y);
    assert_int_equal(x.n, y.n);
    assert_int_equal(x.tau, y.tau);
    assert_int_equal(x.n_edges, y.n_edges);
    assert_memory_equal(x.offset, y.offset, (size_t)(x.n + 1) * sizeof *x.offset);
    if (x.n_edges > 0) {
        assert_memory_equal(x.index, y.index, (size_t)x.n_edges * sizeof *x.index);
        assert_memory_equal(x.d2, y.d2, (size_t)x.n_edges * sizeof *x.d2);
    }
}
