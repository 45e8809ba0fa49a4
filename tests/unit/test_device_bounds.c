/* Bounds of exact transport on a device: each is at most the value it bounds, graphs are
 * byte-identical with and without a device, and a device that fails causes one warning. See
 * test_device.c. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "distance/bound/bound.h"
#include "device_support.h"
#include "support.h"

/* Checks that every pair within reach of either item is listed once. */
static void check_within(const sample *s, const double *all, const int64_t at[4], float *reach)
{
    ddsc_context *ctx = test_context(1, 0);
    device d;
    char why[DEVICE_WORDS] = "";
    int64_t strip, found = 0, most = s->n * s->n;
    device_rows rows = {s->n, s->columns, s->rows, s->start, s->weight};
    int32_t *pair = calloc((size_t)(2 * most), sizeof *pair);
    float *key = calloc((size_t)most, sizeof *key);
    uint8_t *met = calloc((size_t)most, 1);
    assert_int_equal(ddsc_context_set_device(ctx, device_name()), DDSC_OK);
    assert_true(device_open(ctx, &d, 0));
    assert_int_equal(d.table.load(d.state, 1, &rows, 1, &strip, why), 0);
    assert_int_equal(d.table.within(d.state, at, at + 2, reach, most, pair, key, &found, why), 0);
    for (int64_t k = 0; found <= most && k < found; k++) {
        int64_t i = pair[2 * k], j = pair[2 * k + 1];
        assert_true(i >= at[0] && i < at[1] && j >= at[2] && j < at[3] && i < j);
        assert_false(met[i * s->n + j]++);
        assert_true((double)key[k] == exact_key(s, all, i, j));
    }
    for (int64_t i = at[0]; found <= most && i < at[1]; i++)
        for (int64_t j = BASE_MAX(at[2], i + 1); j < at[3]; j++)
            assert_int_equal(met[i * s->n + j],
                             exact_key(s, all, i, j) <= (double)fmaxf(reach[i], reach[j]));
    device_close(&d);
    free(pair);
    free(key);
    free(met);
    ddsc_context_destroy(ctx);
}

/* Small integers, so that every key is exact. */
static void test_within(void **state)
{
    (void)state;
    static const int64_t at[][4] = {
        {0, 400, 0, 400}, {0, 128, 256, 400}, {256, 400, 128, 256}, {128, 300, 128, 131}};
    sample s = sample_make(400, 33, false);
    float reach[400];
    for (int64_t p = 0; p < s.n * s.columns; p++)
        s.rows[p] = (float)((p * 7 + p / 5) % 4 - 1);
    for (int64_t i = 0; i < s.n; i++) {
        s.start[i] = (float)(50 + i % 3);
        reach[i] = i % 5 == 0 ? -INFINITY : i % 5 == 1 ? 80 : 52;
    }
    double *all = products(&s);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        check_within(&s, all, at[k], reach);
    reach[7] = INFINITY;
    check_within(&s, all, at[0], reach);
    free(all);
    sample_free(&s);
}

/* Bounds of pairs from frames: at most the largest frame, and not trivial. */
static void test_framed(void **state)
{
    (void)state;
    enum { N = 150, FRAMES = 3, LENGTH = 48, PAIRS = 4000 };
    told t = {0};
    char why[DEVICE_WORDS] = "";
    ddsc_context *ctx = device_context(device_name(), 1, &t);
    sample s = sample_make(N, 5, false);
    device_rows rows = {N, s.columns, s.rows, s.start, NULL};
    float *frame = malloc(N * FRAMES * LENGTH * sizeof *frame), key[PAIRS];
    int32_t pair[PAIRS][2];
    int64_t strip, above = 0;
    device d;
    rng r = rng_make(3, RNG_GAUSSIANS, 1);
    for (int64_t p = 0; p < N * FRAMES * LENGTH; p++)
        frame[p] = (float)rng_normal(&r);
    for (int k = 0; k < PAIRS; k++)
        for (int side = 0; side < 2; side++)
            pair[k][side] = (int32_t)rng_below(&r, N);
    device_frames frames = {N, FRAMES, LENGTH, frame, 0.999, 0.01};
    assert_true(device_open(ctx, &d, 0));
    assert_int_equal(d.table.load(d.state, 1, &rows, 1, &strip, why), 0);
    assert_int_equal(d.table.load_frames(d.state, &frames, why), 0);
    assert_int_equal(d.table.framed(d.state, PAIRS, &pair[0][0], key, why), 0);
    for (int k = 0; k < PAIRS; k++) {
        double largest = 0;
        for (int f = 0; f < FRAMES; f++) {
            double d2 = 0;
            for (int c = 0; c < LENGTH; c++)
                d2 += pow((double)frame[(pair[k][0] * FRAMES + f) * LENGTH + c] -
                              (double)frame[(pair[k][1] * FRAMES + f) * LENGTH + c],
                          2);
            largest = fmax(largest, pow(fmax(0, 0.999 * sqrt(d2) - 0.01), 2));
        }
        assert_true(key[k] >= 0 && (double)key[k] <= largest * (1 + 1e-5));
        above += (double)key[k] >= 0.5 * largest;
    }
    assert_true(above > PAIRS / 2);
    device_close(&d);
    free(frame);
    sample_free(&s);
    ddsc_context_destroy(ctx);
}

/* Bounds of transport are at most its values. Prints how many of them are close to the bounds of
 * the CPU. */
static void test_transport_bounds(void **state)
{
    (void)state;
    enum { N = 60, PAIRS = N * (N - 1) / 2 };
    told t = {0};
    char why[DEVICE_WORDS] = "";
    int32_t pair[PAIRS][2];
    double enough[PAIRS], bound[PAIRS], matrix[N * N];
    device d;
    for (int scattered = 0; scattered < 2; scattered++) {
        ddsc_context *ctx = device_context(device_name(), 1, &t);
        ddsc_measures *m = device_images(ctx, N, scattered);
        ddsc_metric_settings set;
        bound_refined *refined = NULL;
        ddsc_metric_settings_init(&set);
        set.metric = DDSC_METRIC_W2;
        assert_int_equal(ddsc_distance_run(ctx, matrix, NULL, m, &set, DDSC_DISTANCE_SQUARED),
                         DDSC_OK);
        assert_int_equal(bound_refined_create(ctx, &refined, m, NULL), DDSC_OK);
        assert_true(device_open(ctx, &d, 0));
        assert_int_equal(d.table.load_grid(d.state, bound_refined_for_device(refined), why), 0);
        for (int kind = 0; kind < 6; kind++) {
            bool tight = kind % 2;
            int64_t n = 0, close = 0;
            for (int32_t i = 0; i < N; i++)
                for (int32_t j = i + 1; j < N; j++, n++) {
                    pair[n][0] = i;
                    pair[n][1] = j;
                    enough[n] = kind < 2 ? INFINITY : (kind < 4 ? 0.9 : 1.1) * matrix[i * N + j];
                }
            assert_int_equal(d.table.bounds(d.state, tight ? DEVICE_TIGHT : DEVICE_DUAL, n,
                                            &pair[0][0], enough, bound, why),
                             0);
            for (int64_t k = 0; k < n; k++) {
                int64_t i = pair[k][0], j = pair[k][1];
                double own =
                    (tight ? bound_refined_last : bound_refined_pair)(refined, i, j, enough[k], 0);
                assert_true(bound[k] <= matrix[i * N + j] * (1 + 1e-9) + 1e-12);
                close += fabs(bound[k] - own) <= 1e-3 * (own + 1);
            }
            if (kind < 2)
                print_message("%s: %lld of %lld bounds are the processor's\n",
                              scattered ? "scattered" : "blobs", (long long)close, (long long)n);
        }
        device_close(&d);
        bound_refined_destroy(refined);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* The same for exact transport, for which a device provides three kinds of bounds. A device that is
 * too old for two of them does not count as failed. */
static void test_bound_faults(void **state)
{
    (void)state;
    static const char *const faults[][2] = {{"memory", "too little memory"},
                                            {"late", "illegal memory access"},
                                            {"lists", "invalid neighbor lists"},
                                            {"within", "illegal memory access"},
                                            {"pairs", "invalid pairs"},
                                            {"flood", "more pairs than"},
                                            {"negative", "more pairs than"},
                                            {"grid", "too little memory"},
                                            {"bounds", "illegal memory"},
                                            {"numbers", "invalid bounds"},
                                            {"frames", NULL},
                                            {"framed", "illegal memory"},
                                            {"old", NULL},
                                            {"cheap", NULL}};
    told none = {0};
    int64_t n = BASE_MAX(280, test_size(500)); /* with fewer items, some faults are not reached */
    ddsc_context *off = device_context("cpu", 1, &none);
    ddsc_measures *same = device_images(off, n, true);
    ddsc_graph *b = device_graph(off, same, 3, 6, false, DDSC_HUBS_OFF);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        told t = {0};
        ddsc_context *on = device_context("reference", 2, &t);
        ddsc_measures *m = device_images(on, n, true);
        device_fault(faults[k][0]);
        ddsc_graph *a = device_graph(on, m, 3, 6, false, DDSC_HUBS_OFF);
        same_bytes(a, b);
        assert_int_equal(t.n, faults[k][1] != NULL);
        assert_true(!faults[k][1] || strstr(t.last, faults[k][1]) != NULL);
        device_fault(NULL);
        ddsc_graph_destroy(a);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(on);
    }
    ddsc_graph_destroy(b);
    ddsc_measures_destroy(same);
    ddsc_context_destroy(off);
}

/* ---- matrices of entropic transport ---- */

/* Creates items of 3 to `most` points in d dimensions. */
static ddsc_measures *clouds(ddsc_context *ctx, int64_t n, int64_t most, int64_t d)
{
    double *points = malloc((size_t)(n * most * d) * sizeof *points), *at = points;
    double *weights = malloc((size_t)(n * most) * sizeof *weights);
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets);
    rng r = rng_make(11, RNG_GAUSSIANS, (uint64_t)most);
    ddsc_measures *m = NULL;
    for (int64_t i = 0; i < n; i++) {
        offsets[i + 1] = offsets[i] + 3 + rng_below(&r, most - 2);
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            weights[k] = 0.1 + rng_uniform(&r);
            for (int64_t c = 0; c < d; c++)
                *at++ = rng_normal(&r) + (double)(i % 3);
        }
    }
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, n, d, points, weights, offsets, DDSC_EMPTY_ERROR),
        DDSC_OK);
    free(points);
    free(weights);
    free(offsets);
    return m;
}

/* Images on a grid (0), small clouds, clouds of up to 150 points. */
static void matrix_on(const char *name, int kind, int value, told *t, double *out, int64_t n)
{
    ddsc_context *ctx = device_context(name, 2, t);
    ddsc_measures *m = kind == 0   ? device_images(ctx, n, false)
                       : kind == 1 ? clouds(ctx, n, 14, 20)
                                   : clouds(ctx, n, 150, 3);
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = DDSC_METRIC_SINKHORN;
    set.sinkhorn_value = (ddsc_sinkhorn_value)value;
    assert_int_equal(ddsc_distance_run(ctx, out, NULL, m, &set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Values agree to the tolerance for both solvers, and a device that fails causes one warning. */
static void test_matrices(void **state)
{
    (void)state;
    enum { N = 70 };
    static const char *const faults[] = {NULL, "grid", "bounds", "numbers", "old"};
    static const int values[] = {DDSC_SINKHORN_REGULARIZED, DDSC_SINKHORN_SHARP,
                                 DDSC_SINKHORN_DEBIASED};
    int64_t n = test_size(N);
    double *plain = calloc(N * N, sizeof *plain), *found = calloc(N * N, sizeof *found);
    for (int v = 0; v < 9; v++) {
        told none = {0};
        int kind = v / 3, value = values[v % 3];
        matrix_on("cpu", kind, value, &none, plain, n);
        for (size_t f = 0; f < (v % 3 < 2 && kind < 2 ? sizeof faults / sizeof *faults : 1); f++) {
            told t = {0};
            device_fault(faults[f]);
            matrix_on(f == 0 ? device_name() : "reference", kind, value, &t, found, n);
            device_fault(NULL);
            for (int64_t e = 0; e < n * n; e++)
                assert_true(fabs(found[e] - plain[e]) <= 1e-7 * (1 + fabs(plain[e])));
            assert_int_equal(t.n, f > 0 && f < 4);
        }
    }
    free(plain);
    free(found);
}

int main(void)
{
    setenv("DDSC_PLUGIN_PATH", DDSC_BINARY_DIR "/tests", 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_within), cmocka_unit_test(test_framed),
                                       cmocka_unit_test(test_transport_bounds),
                                       cmocka_unit_test(test_bound_faults),
                                       cmocka_unit_test(test_matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
