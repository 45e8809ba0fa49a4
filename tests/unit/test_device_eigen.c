/* Products with a graph's operator on a device are bit-identical to those of the CPU, so
 * eigenvectors are byte-identical, and a device that fails causes one warning. See test_device.c.
 * */
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "device_support.h"
#include "sparse_support.h"

/* A ring with a hub, chords and an item without edges. */
static edge_list *edges_uneven(int64_t n)
{
    edge_list *e = edges_new(n);
    for (int64_t i = 1; i + 1 < n; i++) {
        edges_add(e, i, i + 2 < n ? i + 1 : 1, 0.3 + (double)(i % 7) / 11);
        if (i % 3 == 0)
            edges_add(e, 1, i, 1.0 / (double)i);
    }
    return e;
}

/* Computes the filter with the steps of the CPU; y is the result, x is scratch memory. */
static void filter_plainly(ddsc_context *ctx, const sparse *m, int64_t width, double scale,
                           double shift, int64_t degree, double *x, double *y)
{
    size_t bytes = (size_t)(m->n * width) * sizeof *x;
    double *before = malloc(bytes);
    assert_int_equal(operator_step(ctx, m, width, scale, shift, 0, x, y), DDSC_OK);
    for (int64_t d = 1; d < degree; d++) {
        memcpy(before, y, bytes);
        assert_int_equal(operator_step(ctx, m, width, 2 * scale, shift, 1, y, x), DDSC_OK);
        memcpy(y, x, bytes);
        memcpy(x, before, bytes);
    }
    free(before);
}

static void test_bits(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 2, 7, 8, 9, 24, 33}, degrees[] = {1, 2, 13};
    enum { N = 777, WIDEST = 33 };
    told t = {0};
    char why[DEVICE_WORDS] = "";
    ddsc_context *ctx = device_context(device_name(), 2, &t);
    edge_list *e = edges_uneven(N);
    test_graph g;
    device d;
    double *x = malloc(N * WIDEST * sizeof *x), *y = malloc(N * WIDEST * sizeof *y),
           *z = malloc(N * WIDEST * sizeof *z);
    test_graph_make(ctx, &g, e);
    device_sparse rows = {N, g.m.offset, g.m.column, g.m.value};
    assert_true(device_open(ctx, &d, 0));
    assert_int_equal(d.table.load_sparse(d.state, &rows, why), 0);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
            rng r = rng_make(w, RNG_GAUSSIANS, k);
            double scale = k == 0 ? 1 : 1.37, shift = k == 0 ? 0 : -0.29;
            for (int64_t p = 0; p < N * widths[w]; p++)
                x[p] = rng_normal(&r);
            assert_int_equal(
                d.table.filter(d.state, widths[w], scale, shift, degrees[k], x, y, why), 0);
            filter_plainly(ctx, &g.m, widths[w], scale, shift, degrees[k], x, z);
            assert_memory_equal(y, z, (size_t)(N * widths[w]) * sizeof *y);
        }
    device_close(&d);
    test_graph_free(&g);
    edges_free(e);
    free(x);
    free(y);
    free(z);
    ddsc_context_destroy(ctx);
}

static void vectors_on(const char *name, int threads, told *t, eigen_result *r, int64_t n,
                       int64_t k)
{
    ddsc_context *ctx = device_context(name, threads, t);
    edge_list *e = edges_random(n, 3, 5);
    eigen_result found;
    test_graph g;
    test_graph_make(ctx, &g, e);
    test_eigen_run(&g, &found, k, 0);
    memcpy(r->value, found.value, (size_t)k * sizeof *r->value);
    memcpy(r->vector, found.vector, (size_t)(n * k) * sizeof *r->vector);
    r->n_products = found.n_products;
    eigen_free(ctx, &found);
    test_graph_free(&g);
    edges_free(e);
    ddsc_context_destroy(ctx);
}

/* The same bytes with a device, with one that fails at the beginning or in the middle or returns
 * impossible values, and with one that is too old, which does not count as failed. */
static void test_vectors(void **state)
{
    (void)state;
    enum { N = 1500, K = 9 };
    static const char *const faults[][2] = {{NULL, NULL},
                                            {"sparse", "too little memory"},
                                            {"filter", "illegal memory access"},
                                            {"vectors", "vectors with non-finite entries"},
                                            {"old", NULL}};
    double value[2][K];
    eigen_result plain = {.value = value[0], .vector = malloc(N * K * sizeof(double))};
    eigen_result found = {.value = value[1], .vector = malloc(N * K * sizeof(double))};
    told none = {0};
    vectors_on("cpu", 1, &none, &plain, N, K);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        told t = {0};
        device_fault(faults[f][0]);
        vectors_on(f == 0 ? device_name() : "reference", 2, &t, &found, N, K);
        device_fault(NULL);
        assert_memory_equal(plain.value, found.value, sizeof value[0]);
        assert_memory_equal(plain.vector, found.vector, N * K * sizeof(double));
        assert_int_equal(plain.n_products, found.n_products);
        assert_int_equal(t.n, faults[f][1] != NULL);
        assert_true(!faults[f][1] || strstr(t.last, faults[f][1]) != NULL);
    }
    free(plain.vector);
    free(found.vector);
}

int main(void)
{
    setenv("DDSC_PLUGIN_PATH", DDSC_BINARY_DIR "/tests", 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
