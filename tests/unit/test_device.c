/* Devices: the function table keeps its contract for any rows, and graphs are byte-identical with
 * and without a device. DDSC_TEST_DEVICE names the device (default: the reference device, which is
 * plain C); faults are those of the reference device. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/device.h"
#include "device_support.h"
#include "support.h"

/* ---- the table ---- */

typedef struct answer {
    double radius;
    float *key;
    int32_t *index;
} answer;

/* Processes all rows, strip by strip. */
static answer ask(const sample *s, int way, int64_t keep)
{
    ddsc_context *ctx = test_context(1, 0);
    device d;
    char why[DEVICE_WORDS] = "";
    int64_t strip = 0;
    answer a = {0, calloc((size_t)(s->n * keep), sizeof(float)),
                calloc((size_t)(s->n * keep), sizeof(int32_t))};
    device_rows rows = {s->n, s->columns, s->rows, s->start, s->weight};
    assert_int_equal(ddsc_context_set_device(ctx, device_name()), DDSC_OK);
    assert_true(device_open(ctx, &d, 0));
    assert_true(d.about.n_ways > way && d.about.longest >= keep);
    assert_non_null(d.table.way(d.state, way, s->columns, &a.radius));
    assert_int_equal(d.table.load(d.state, way, &rows, keep, &strip, why), 0);
    assert_true(strip > 0);
    for (int64_t i = 0; i < s->n; i += strip)
        assert_int_equal(d.table.nearest(d.state, i, BASE_MIN(s->n, i + strip), keep,
                                         a.key + i * keep, a.index + i * keep, why),
                         0);
    device_close(&d);
    ddsc_context_destroy(ctx);
    return a;
}

/* The returned entries are accurate within the bound, and no better entry is missing. */
static void check_answer(const sample *s, const double *all, int way, int64_t keep)
{
    answer a = ask(s, way, keep);
    int64_t n = s->n;
    float *held = calloc((size_t)n, sizeof *held);
    for (int64_t i = 0; i < n; i++) {
        double worst = -INFINITY;
        for (int64_t j = 0; j < n; j++)
            held[j] = NAN;
        for (int64_t k = i * keep; k < (i + 1) * keep; k++) {
            assert_true(a.index[k] >= 0 && a.index[k] < n && a.index[k] != i);
            assert_true(isnan(held[a.index[k]]));
            held[a.index[k]] = a.key[k];
            worst = fmax(worst, (double)a.key[k]);
        }
        for (int64_t j = 0; j < n; j++) {
            double lengths = sqrt(all[i * n + i]) * sqrt(all[j * n + j]);
            double ends = fabs((double)s->start[i]) + fabs((double)s->start[j]);
            double key = exact_key(s, all, i, j);
            double error = 2 * a.radius * lengths + 0x1p-21 * (ends + lengths) +
                           0x1p-125 * (double)(s->columns + 4);
            if (!isnan(held[j]))
                assert_true(fabs((double)held[j] - key) <= error);
            else
                assert_true(j == i || key + error >= worst);
        }
    }
    free(held);
    free(a.key);
    free(a.index);
}

static const int64_t sizes[][2] = {{2, 1},   {3, 40},   {128, 16}, {129, 17},
                                   {300, 1}, {500, 64}, {257, 7},  {400, 300}};

/* Rows of all kinds: the bound holds for any values. */
static void test_radius(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
        for (int kind = 0; kind < 7; kind++) {
            sample s = sample_make(sizes[c][0], sizes[c][1], kind % 2 == 1);
            rng r = rng_make(c, RNG_GAUSSIANS, (uint64_t)kind);
            for (int64_t p = 0; p < s.n * s.columns; p++) {
                double x = rng_normal(&r);
                float worst = 1 + 0x1p-11F + 0x1p-23F; /* just above the middle of two TF32 */
                s.rows[p] = kind == 0   ? (float)x
                            : kind == 1 ? worst
                            : kind == 2 ? (x > 0 ? worst : -worst) * ldexpf(1, (int)(p % 7) * 4)
                            : kind == 3 ? (float)(x * pow(10, 12 * rng_uniform(&r) - 6))
                            : kind == 4 ? (float)(x * 0x1p-70)
                            : kind == 5 ? (float)(x * 1e15)
                                        : (float)(x * (p / s.columns % 2 ? 1e15 : 1e-38));
            }
            double *all = products(&s);
            for (int64_t i = 0; i < s.n; i++)
                s.start[i] = (float)all[i * s.n + i];
            for (int way = 0; way < 2; way++)
                check_answer(&s, all, way, BASE_MIN(s.n - 1, 20));
            free(all);
            sample_free(&s);
        }
}

/* Small integers are exact for every type of product, except on a device with intentional errors.
 * Ties between equal keys are broken by the index. */
static void test_order(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
        for (int weighted = 0; weighted < 2; weighted++) {
            sample s = sample_make(sizes[c][0], sizes[c][1], weighted);
            for (int64_t p = 0; p < s.n * s.columns; p++)
                s.rows[p] = (float)((p * 7 + p / 5) % 4 - 1);
            for (int64_t i = 0; i < s.n; i++)
                s.start[i] = (float)(i % 3);
            int64_t keep = BASE_MIN(s.n - 1, c % 2 ? 70 : 9);
            double *all = products(&s);
            for (int way = strcmp(device_name(), "reference") == 0; way < 2; way++) {
                answer a = ask(&s, way, keep);
                for (int64_t e = 0; e < s.n * keep; e++) {
                    int64_t i = e / keep, j = a.index[e], before = 0;
                    double own = exact_key(&s, all, i, j);
                    assert_true((double)a.key[e] == own);
                    for (int64_t o = 0; o < s.n; o++) {
                        double key = exact_key(&s, all, i, o);
                        before += o != i && (key < own || (key == own && o < j));
                    }
                    assert_true(before < keep);
                }
                free(a.key);
                free(a.index);
            }
            free(all);
            sample_free(&s);
        }
}

/* ---- graphs ---- */

/* mmd on a grid, mmd with features, lot, w2, mmd on a table: plain and rescaled neighbors. */
static void test_metrics(void **state)
{
    (void)state;
    int64_t most =
        BASE_MAX(310, test_size(600)); /* the first two sizes of each kind, or all three */
    for (int kind = 0; kind < 5; kind++)
        for (int hubs = DDSC_HUBS_OFF; hubs <= DDSC_HUBS_ALWAYS; hubs++)
            for (int64_t n = kind == 4 ? 294 : kind == 3 ? 20 : 5; n < most; n += 289) {
                told t = {0};
                ddsc_context *on = device_context(device_name(), 2, &t),
                             *off = device_context("cpu", 1, &t);
                ddsc_measures *m = device_images(on, n, kind == 3),
                              *same = device_images(off, n, kind == 3);
                ddsc_graph *a = device_graph(on, m, kind, 6, false, hubs);
                ddsc_graph *b = device_graph(off, same, kind, 6, true, hubs);
                same_bytes(a, b);
                assert_int_equal(strncmp(ddsc_context_get_device(on), device_name(), 4), 0);
                assert_string_equal(ddsc_context_get_device(off), "cpu");
                assert_int_equal(t.n, 0);
                ddsc_graph_destroy(a);
                ddsc_graph_destroy(b);
                ddsc_measures_destroy(m);
                ddsc_measures_destroy(same);
                ddsc_context_destroy(on);
                ddsc_context_destroy(off);
            }
}

/* Rows with duplicates, ties, and one part 2^30 times as large as the other. */
static double *vectors(int64_t n, int64_t d, int kind)
{
    double *x = malloc((size_t)(n * d) * sizeof *x);
    rng r = rng_make(8, RNG_GAUSSIANS, (uint64_t)kind);
    for (int64_t p = 0; p < n * d; p++) {
        double z = rng_normal(&r);
        x[p] = kind == 0   ? z
               : kind == 1 ? floor(1.5 * z)
               : kind == 2 ? z * (p / d % 2 ? 0x1p30 : 1)
               : kind == 3 ? z * 1e100
               : kind == 4 ? z * 1e-90
               : kind == 5 ? 1e6 + z
                           : (double)(p / d % 4);
    }
    for (int64_t i = 3; i < n; i += 5)
        memcpy(x + i * d, x + (i / 3) * d, (size_t)d * sizeof *x);
    return x;
}

static ddsc_graph *graph_of_rows(ddsc_context *ctx, int64_t n, int64_t d, const double *x,
                                 int64_t tau, bool full)
{
    ddsc_graph_settings set;
    ddsc_graph *g = NULL;
    ddsc_graph_settings_init(&set);
    set.tau = tau;
    set.exact_graph = full || d <= 16 ? DDSC_GRAPH_FULL : DDSC_GRAPH_PRUNED;
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &g, n, d, x, &set), DDSC_OK);
    return g;
}

static void test_vectors(void **state)
{
    (void)state;
    static const int64_t shape[][3] = {{40, 1, 3},    {4, 20, 10},    {130, 33, 7},
                                       {300, 700, 5}, {390, 17, 110}, {257, 40, 250}};
    told t = {0};
    ddsc_context *on = device_context(device_name(), 2, &t), *off = device_context("cpu", 2, &t);
    for (size_t c = 0; c < sizeof shape / sizeof *shape; c++)
        for (int kind = 0; kind < 7; kind++) {
            int64_t n = shape[c][0], d = shape[c][1];
            double *x = vectors(n, d, kind);
            ddsc_graph *a = graph_of_rows(on, n, d, x, shape[c][2], false);
            ddsc_graph *b = graph_of_rows(off, n, d, x, shape[c][2], true);
            same_bytes(a, b);
            ddsc_graph_destroy(a);
            ddsc_graph_destroy(b);
            free(x);
        }
    assert_int_equal(t.n, 0);
    ddsc_context_destroy(on);
    ddsc_context_destroy(off);
}

/* ---- failures ---- */

static void check_fault(const char *what, const char *name, int warnings, const char *words)
{
    told t = {0};
    ddsc_context *ctx = device_context(name, 2, &t);
    double *x = vectors(400, 30, 0);
    device_fault(what);
    for (int again = 0; again < 2; again++) {
        ddsc_graph *a = graph_of_rows(ctx, 400, 30, x, 8, false);
        ddsc_graph *b = graph_of_rows(ctx, 400, 30, x, 8, true);
        same_bytes(a, b);
        assert_int_equal(t.n, warnings);
        assert_true(strstr(t.last, words) != NULL);
        assert_string_equal(ddsc_context_get_device(ctx), "cpu");
        ddsc_graph_destroy(a);
        ddsc_graph_destroy(b);
    }
    device_fault(NULL);
    free(x);
    ddsc_context_destroy(ctx);
}

/* One message; the CPU continues, and nothing is lost. */
static void test_faults(void **state)
{
    (void)state;
    check_fault("driver", "reference", 1, "device reference:0: no driver; the CPU is used instead");
    check_fault("memory", "reference", 1, "too little memory");
    check_fault("late", "reference", 1, "illegal memory access");
    check_fault("lists", "reference", 1, "invalid neighbor lists");
    check_fault("version", "reference", 1, "incompatible version");
    check_fault(NULL, "reference:1", 1, "device reference:1: there is no device of this number");
    check_fault(NULL, "missing", 1, "no plug-in");
    check_fault(NULL, "cpu", 0, "");
    check_fault(NULL, "auto", 0, ""); /* too little work for a device */
}

/* A device whose only product type is too inaccurate for rows far from zero: the metric computes
 * all pairs. */
static void test_coarse(void **state)
{
    (void)state;
    told t = {0};
    ddsc_context *ctx = device_context("reference", 2, &t);
    double *x = vectors(700, 30, 0);
    for (int64_t p = 0; p < 700 * 30; p++)
        x[p] = (p / 30 < 350 ? 100 : -100) + x[p];
    for (int cheap = 0; cheap < 2; cheap++) {
        const char *stage, *path, *why, *search = NULL;
        device_fault(cheap ? "cheap" : NULL);
        ddsc_graph *a = graph_of_rows(ctx, 700, 30, x, 8, false);
        for (int64_t k = 0; ddsc_context_get_note(ctx, k, &stage, &path, &why); k++)
            if (strcmp(stage, "search") == 0)
                search = path;
        assert_string_equal(search, cheap ? "full" : "prefilter");
        ddsc_graph *b = graph_of_rows(ctx, 700, 30, x, 8, true);
        same_bytes(a, b);
        ddsc_graph_destroy(a);
        ddsc_graph_destroy(b);
    }
    device_fault(NULL);
    assert_int_equal(t.n, 0);
    free(x);
    ddsc_context_destroy(ctx);
}

/* A failed allocation is an error, not a device failure. */
static ddsc_status call_on_device(ddsc_context *ctx, void *arg)
{
    ddsc_graph_settings set;
    ddsc_graph *g = NULL;
    ddsc_graph_settings_init(&set);
    set.tau = 5;
    set.hubs = DDSC_HUBS_ALWAYS;
    set.exact_graph = DDSC_GRAPH_PRUNED;
    CHECK(ddsc_context_set_device(ctx, device_name()));
    ddsc_status status = ddsc_graph_create_from_vectors(ctx, &g, 120, 20, arg, &set);
    ddsc_graph_destroy(g);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    double *x = vectors(120, 20, 0);
    assert_true(test_failing_allocations(call_on_device, x) > 15);
    free(x);
}

/* A device that is requested by name but not used by the search. Names other than cuda are for
 * third-party plug-ins. */
static void test_unused(void **state)
{
    (void)state;
    const char *path = getenv("DDSC_PLUGIN_PATH");
    char kept[4096];
    double *x = vectors(60, 3, 0);
    for (int named = 0; named < 2; named++) {
        told t = {0};
        ddsc_context *ctx = device_context(named ? device_name() : "auto", 1, &t);
        ddsc_graph_destroy(graph_of_rows(ctx, 60, 3, x, 5, false));
        assert_int_equal(strstr(t.last, "this search cannot use a device") != NULL, named);
        ddsc_context_destroy(ctx);
    }
    free(x);
    snprintf(kept, sizeof kept, "%s", path);
    unsetenv("DDSC_PLUGIN_PATH");
    ddsc_context *ctx = test_context(1, 0);
    assert_int_equal(ddsc_context_set_device(ctx, "reference"), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_set_device(ctx, "gpu"), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_set_device(ctx, "cuda:3"), DDSC_OK);
    ddsc_context_destroy(ctx);
    setenv("DDSC_PLUGIN_PATH", kept, 1);
}

/* A warning is also given if the device was used by an earlier call but not by the next one. */
static void test_unused_after_use(void **state)
{
    (void)state;
    double *x = vectors(400, 30, 0);
    told t = {0};
    ddsc_context *ctx = device_context(device_name(), 1, &t);
    ddsc_graph_destroy(graph_of_rows(ctx, 400, 30, x, 8, false));
    assert_string_not_equal(ddsc_context_get_device(ctx), "cpu");
    assert_int_equal(t.n, 0);
    ddsc_graph_destroy(graph_of_rows(ctx, 400, 3, x, 5, false));
    assert_true(strstr(t.last, "this search cannot use a device") != NULL);
    ddsc_context_destroy(ctx);
    free(x);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"",          "gpu 1", "cuda:",   "cuda:x",
                                      "cuda:1234", ":1",    "cpu:0",   "auto:1",
                                      "CUDA",      "../x",  "cuda:-1", "averyveryverylongname"};
    static const char *const good[] = {"cpu", "auto", "cuda", "cuda:0", "cuda:12", "reference"};
    char text[200];
    ddsc_context *ctx = test_context(1, 0);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(ddsc_context_set_device(ctx, bad[k]), DDSC_ERROR_ARGUMENT);
        assert_true(strstr(ddsc_context_get_message(ctx), "must be auto, cpu, cuda") != NULL);
        assert_int_equal(ddsc_device_find(bad[k], text, sizeof text), 0);
        assert_string_equal(text, "no such device");
    }
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        assert_int_equal(ddsc_context_set_device(ctx, good[k]), DDSC_OK);
    assert_int_equal(ddsc_context_set_device(ctx, NULL), DDSC_OK);
    assert_int_equal(ddsc_context_set_device(NULL, "cpu"), DDSC_ERROR_ARGUMENT);
    assert_string_equal(ddsc_context_get_device(NULL), "cpu");
    assert_int_equal(ddsc_device_find(NULL, text, sizeof text), 0);
    assert_int_equal(ddsc_device_find("cpu", NULL, 0), 0);
    assert_int_equal(ddsc_device_find(device_name(), text, sizeof text), 1);
    assert_true(strstr(text, "GiB free") != NULL);
    assert_int_equal(ddsc_device_find("missing", text, 12), 0);
    assert_string_equal(text, "no plug-in:");
    ddsc_context_destroy(ctx);
}

/* "auto" opens a device for large work only, and "cuda" for any. The reference device has the name of the CUDA
 * plug-in here. */
static void test_auto(void **state)
{
    (void)state;
    char folder[] = "/tmp/ddsc-device-XXXXXX", target[4096], link[128], kept[4000];
    device d;
    double *x = vectors(400, 30, 0);
    assert_non_null(mkdtemp(folder));
    snprintf(kept, sizeof kept, "%s", getenv("DDSC_PLUGIN_PATH"));
    snprintf(target, sizeof target, "%s/libddsc_reference.so", kept);
    snprintf(link, sizeof link, "%s/libddsc_cuda.so", folder);
    assert_int_equal(symlink(target, link), 0);
    setenv("DDSC_PLUGIN_PATH", folder, 1);
    for (int named = 0; named < 2; named++) {
        told t = {0};
        ddsc_context *ctx = device_context(named ? "cuda" : "auto", 1, &t);
        assert_int_equal(device_open(ctx, &d, 1e15), true);
        device_close(&d);
        assert_int_equal(device_open(ctx, &d, 1e9), named);
        device_close(&d);
        ddsc_graph_destroy(graph_of_rows(ctx, 400, 30, x, 8, false));
        assert_string_equal(t.last, "");
        assert_string_equal(ddsc_context_get_device(ctx), named ? "cuda:0" : "cpu");
        ddsc_context_destroy(ctx);
    }
    setenv("DDSC_PLUGIN_PATH", kept, 1);
    unlink(link);
    rmdir(folder);
    free(x);
}

int main(void)
{
    setenv("DDSC_PLUGIN_PATH", DDSC_BINARY_DIR "/tests", 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_radius),
                                       cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_metrics),
                                       cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_coarse),
                                       cmocka_unit_test(test_allocations),
                                       cmocka_unit_test(test_unused),
                                       cmocka_unit_test(test_unused_after_use),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_auto)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
