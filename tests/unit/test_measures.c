/* The data model: checks, merging, normalization, grids, subsets, synthetic sets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/compress.h"
#include "support.h"

static ddsc_context *ctx;

static int setup(void **state)
{
    (void)state;
    ctx = test_context(2, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ddsc_context_destroy(ctx);
    return 0;
}

static measures *clouds(int64_t n, int64_t d, const double *x, const double *w,
                        const int64_t *offset)
{
    measures *m = NULL;
    ddsc_status status = ddsc_measures_create_clouds(ctx, &m, n, d, x, w, offset, DDSC_EMPTY_ERROR);
    if (status != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    return m;
}

static void equal_points_are_merged(void **state)
{
    (void)state;
    const double x[] = {1, 2, 0.0, 5, 1, 2, -0.0, 5, 3, 3};
    const double w[] = {1, 2, 3, 4, 5};
    const int64_t offset[] = {0, 3, 5};
    measures *m = clouds(2, 2, x, w, offset);
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    assert_int_equal(v.n_items, 2);
    assert_int_equal(v.n_support, 3);
    assert_int_equal(v.n_entries, 4);
    assert_int_equal(v.n_merged, 1);
    assert_close(v.weight[0], 4.0 / 6, 1e-15, 0);
    assert_int_equal(v.index[0], 0);
    assert_int_equal(v.index[2], 1);
    assert_close(v.weight[2], 4.0 / 9, 1e-15, 0);
    ddsc_measures_destroy(m);
}

static void zero_weights_and_unused_points_go(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3};
    const double w[] = {0, 1, 1, 0};
    const int64_t offset[] = {0, 2, 4};
    measures *m = clouds(2, 1, x, w, offset);
    assert_int_equal(m->v, 2);
    assert_int_equal(m->nnz, 2);
    assert_int_equal(m->n_zero_dropped, 2);
    assert_true(m->support[0] == 1 && m->support[1] == 2);
    ddsc_measures_destroy(m);
}

typedef struct bad_case {
    double x, w;
    int64_t offset[3];
    const char *message;
} bad_case;

static void bad_input_is_named(void **state)
{
    (void)state;
    const bad_case cases[] = {
        {NAN, 1, {0, 1, 2}, "item 1, point 0, coordinate 0: nan is not finite"},
        {INFINITY, 1, {0, 1, 2}, "not finite"},
        {1e200, 1, {0, 1, 2}, "too large"},
        {1, -0.5, {0, 1, 2}, "item 1, entry 0: weight -0.5 is negative"},
        {1, NAN, {0, 1, 2}, "not finite"},
        {1, INFINITY, {0, 1, 2}, "not finite"},
        {1, 0, {0, 1, 2}, "item 1 is empty: its weights are all zero"},
        {1, 1, {0, 2, 2}, "item 1 is empty: it has no points"},
        {1, 1, {0, 2, 1}, "must not decrease"},
        {1, 1, {1, 1, 2}, "start at 0"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double x[] = {0, cases[c].x}, w[] = {1, cases[c].w};
        measures *m = (measures *)1;
        ddsc_status status =
            ddsc_measures_create_clouds(ctx, &m, 2, 1, x, w, cases[c].offset, DDSC_EMPTY_ERROR);
        assert_int_equal(status, DDSC_ERROR_INPUT);
        assert_null(m);
        if (!strstr(ddsc_context_get_message(ctx), cases[c].message))
            fail_msg("'%s' does not say '%s'", ddsc_context_get_message(ctx), cases[c].message);
    }
}

static void index_out_of_range_is_named(void **state)
{
    (void)state;
    const double x[] = {0, 1};
    const int64_t offset[] = {0, 1};
    for (int32_t bad = -1; bad <= 2; bad += 3) {
        measures *m = NULL;
        assert_int_equal(make_shared(ctx, &m, 1, 2, 1, x, offset, &bad, NULL, DDSC_EMPTY_ERROR),
                         DDSC_ERROR_INPUT);
        assert_non_null(strstr(ddsc_context_get_message(ctx), "outside the 2 support points"));
    }
}

static void dropped_items_keep_their_row(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2}, w[] = {1, 0, 1};
    const int64_t offset[] = {0, 1, 2, 2, 3};
    measures *m = NULL, *copy = NULL;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, 4, 1, x, w, offset, DDSC_EMPTY_DROP),
                     DDSC_OK);
    assert_int_equal(m->n, 2);
    assert_int_equal(m->n_rows, 4);
    assert_int_equal(m->row[1], 3);
    const int32_t labels[] = {5, 6, 7, 8};
    assert_int_equal(ddsc_measures_copy_labeled(ctx, &copy, m, labels), DDSC_OK);
    assert_int_equal(copy->n, 2);
    assert_int_equal(copy->row[0], 0);
    assert_int_equal(copy->row[1], 3);
    assert_int_equal(copy->label[3], 8);
    assert_string_equal(ddsc_measures_get_id(copy, 3), "3");
    assert_true(copy->support[copy->index[copy->offset[1]]] == 2);
    ddsc_measures_destroy(copy);
    ddsc_measures_destroy(m);
}

static void extreme_weights_are_normalized(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3};
    const double w[] = {1.7e308, 1.7e308, 1e-310, 3e-310};
    const int64_t offset[] = {0, 2, 4};
    measures *m = clouds(2, 1, x, w, offset);
    assert_close(m->weight[0], 0.5, 1e-15, 0);
    assert_close(m->weight[3], 0.75, 1e-12, 0);
    ddsc_measures_destroy(m);
}

static void grids_are_recognised(void **state)
{
    (void)state;
    double x[2 * 28 * 28], w[28 * 28];
    for (int p = 0; p < 28 * 28; p++) {
        x[2 * p] = 0.1 * (p / 28) - 3;
        x[2 * p + 1] = 2.0 * (p % 28);
        w[p] = 1 + p % 3;
    }
    const int64_t offset[] = {0, 28 * 28};
    measures *m = clouds(1, 2, x, w, offset);
    assert_true(m->grid.found);
    assert_int_equal(m->grid.shape[0], 28);
    assert_int_equal(m->grid.shape[1], 28);
    assert_close(m->grid.step[0], 0.1, 1e-9, 0);
    ddsc_measures_destroy(m);
    x[11] += 0.013;
    m = clouds(1, 2, x, w, offset);
    assert_false(m->grid.found);
    ddsc_measures_destroy(m);
    m = test_random_measures(ctx, 5, 20, 2, 3);
    assert_false(m->grid.found);
    ddsc_measures_destroy(m);
}

static void dense_and_shared_agree(void **state)
{
    (void)state;
    const double support[] = {0, 0, 1, 1, 2, 2}, histograms[] = {1, 0, 3, 0, 2, 2};
    const int64_t offset[] = {0, 2, 4};
    const int32_t index[] = {2, 0, 1, 2};
    const double weight[] = {3, 1, 2, 2};
    measures *a = NULL, *b = NULL;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &a, 2, 3, 2, support, histograms, DDSC_EMPTY_ERROR),
        DDSC_OK);
    assert_int_equal(
        make_shared(ctx, &b, 2, 3, 2, support, offset, index, weight, DDSC_EMPTY_ERROR), DDSC_OK);
    assert_int_equal(a->nnz, b->nnz);
    assert_memory_equal(a->index, b->index, (size_t)a->nnz * sizeof *a->index);
    assert_memory_equal(a->weight, b->weight, (size_t)a->nnz * sizeof *a->weight);
    ddsc_measures_destroy(a);
    ddsc_measures_destroy(b);
}

static void subsets_keep_names(void **state)
{
    (void)state;
    measures *m = NULL, *s = NULL;
    assert_int_equal(ddsc_measures_generate_shapes(ctx, &m, 5, 8), DDSC_OK);
    const int64_t items[] = {7, 2};
    assert_int_equal(ddsc_measures_copy_subset(ctx, &s, m, 2, items), DDSC_OK);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->v, 16);
    assert_int_equal(s->label[0], 1);
    assert_string_equal(ddsc_measures_get_id(s, 0), "7");
    assert_true(s->support[2 * s->index[0]] == m->support[2 * m->index[8 * 7]]);
    ddsc_measures_destroy(s);
    assert_int_equal(ddsc_measures_copy_balanced(ctx, &s, m, 3), DDSC_OK);
    assert_int_equal(s->n, 6);
    int ones = 0;
    for (int i = 0; i < 6; i++)
        ones += s->label[i];
    assert_int_equal(ones, 3);
    ddsc_measures_destroy(s);
    assert_int_equal(ddsc_measures_copy_balanced(ctx, &s, m, 6), DDSC_ERROR_INPUT);
    assert_null(s);
    ddsc_measures_destroy(m);
}

static void gaussian_groups_are_apart(void **state)
{
    (void)state;
    measures *m = NULL;
    assert_int_equal(ddsc_measures_generate_gaussians(ctx, &m, 10, 4, 30, 3, 50), DDSC_OK);
    assert_int_equal(m->n, 40);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double r2 = 0;
            for (int c = 0; c < 3; c++) {
                double gap = m->support[m->offset[i] * 3 + c] - m->support[m->offset[j] * 3 + c];
                r2 += gap * gap;
            }
            assert_true((r2 > 30 * 30) == (m->label[i] != m->label[j]));
        }
    ddsc_measures_destroy(m);
}

/* Merging keeps mass and mean, and the first merge is the cheapest pair. */
static void compressing_keeps_mass_and_mean(void **state)
{
    (void)state;
    rng r = rng_make(9, RNG_KMEANS, 1);
    enum { N = 60, D = 3 };
    for (int64_t m = 1; m <= N; m += 7) {
        double x[N * D], a[N], cost[N], mean[D] = {0}, after[D] = {0}, mass = 0;
        int64_t partner[N];
        merge_work work = {ctx, cost, partner, NULL};
        for (int i = 0; i < N; i++) {
            a[i] = 0.1 + rng_uniform(&r);
            for (int c = 0; c < D; c++) {
                x[i * D + c] = rng_normal(&r);
                mean[c] += a[i] * x[i * D + c];
            }
            mass += a[i];
        }
        int64_t left = 0;
        assert_int_equal(compress_item(&work, x, a, N, D, m, &left), DDSC_OK);
        assert_int_equal(left, m);
        double mass_after = 0;
        for (int64_t i = 0; i < left; i++) {
            mass_after += a[i];
            for (int c = 0; c < D; c++)
                after[c] += a[i] * x[i * D + c];
        }
        assert_close(mass_after, mass, 1e-12, 0);
        for (int c = 0; c < D; c++)
            assert_close(after[c], mean[c], 1e-10, 1e-10);
    }
}

typedef struct asked {
    char stage[64]; /* of the last progress report */
    int calls;
} asked;

static int cancel_soon(void *user)
{
    return ++((asked *)user)->calls > 5;
}

static void keep_stage(void *user, const char *stage, int64_t done, int64_t total)
{
    (void)done, (void)total;
    snprintf(((asked *)user)->stage, sizeof((asked *)user)->stage, "%s", stage);
}

/* The cancel callback is polled many times within one large item, not only between items. */
static void compressing_one_item_can_be_canceled(void **state)
{
    (void)state;
    enum { N = 3000, D = 5 };
    asked a = {.calls = -1000000}; /* nothing is canceled before the tested call */
    ddsc_context_settings set;
    ddsc_context *own = NULL;
    ddsc_measures *m = NULL, *merged = NULL;
    ddsc_compress_report report;
    ddsc_context_settings_init(&set);
    ddsc_compress_report_init(&report);
    set.threads = 1;
    set.cancel = cancel_soon;
    set.progress = keep_stage;
    set.cancel_user = set.progress_user = &a;
    assert_int_equal(ddsc_context_create(&own, &set), DDSC_OK);
    rng r = rng_make(3, RNG_KMEANS, 0);
    double *x = malloc(N * D * sizeof *x);
    const int64_t offset[] = {0, N};
    for (int64_t p = 0; p < N * D; p++)
        x[p] = rng_normal(&r);
    assert_int_equal(ddsc_measures_create_clouds(own, &m, 1, D, x, NULL, offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    a = (asked){0};
    assert_int_equal(ddsc_measures_compress(own, &merged, &report, m, 10), DDSC_ERROR_CANCELED);
    assert_null(merged);
    assert_string_equal(a.stage, "merging points");
    assert_string_equal(ddsc_context_get_message(own), "stopped on request");
    ddsc_measures_destroy(m);
    ddsc_context_destroy(own);
    free(x);
}

static ddsc_status compress_unconverged(ddsc_context *own, void *items)
{
    ddsc_metric_settings set = test_metric(DDSC_METRIC_SINKHORN);
    ddsc_measures *merged = NULL;
    set.sinkhorn_max_iterations = 1;
    ddsc_status status = ddsc_measures_compress_for(own, &merged, NULL, items, &set, 4, 1);
    if (status == DDSC_ERROR_MEMORY)
        assert_non_null(strstr(ddsc_context_get_message(own), "out of memory"));
    ddsc_measures_destroy(merged);
    return status;
}

/* Solves of the sample that do not converge do not hide the message of a later error. */
static void failures_of_the_sample_are_named(void **state)
{
    (void)state;
    measures *m = test_random_measures(ctx, 5, 12, 2, 8);
    test_failing_allocations(compress_unconverged, m);
    ddsc_measures_destroy(m);
}

/* A subset without point names allocates memory for its own points only. */
static void small_subsets_take_little_memory(void **state)
{
    (void)state;
    enum { N = 400, M = 50, D = 20 };
    const int64_t items[] = {3, 250};
    ddsc_context *own = test_context(1, 1);
    ddsc_measures *m = NULL, *some = NULL;
    ddsc_measures_view v;
    double *x = malloc(sizeof(double) * N * M * D);
    int64_t offset[N + 1];
    rng r = rng_make(5, RNG_KMEANS, 0);
    for (int64_t p = 0; p < N * M * D; p++)
        x[p] = rng_normal(&r);
    for (int64_t i = 0; i <= N; i++)
        offset[i] = i * M;
    assert_int_equal(ddsc_measures_create_clouds(own, &m, N, D, x, NULL, offset, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    int64_t before = ddsc_context_get_peak_memory(own);
    assert_int_equal(ddsc_measures_copy_subset(own, &some, m, 2, items), DDSC_OK);
    assert_true(ddsc_context_get_peak_memory(own) <= before);
    ddsc_measures_get_view(some, &v);
    assert_int_equal(v.n_support, 2 * M);
    for (int64_t e = 0; e < v.n_entries; e++)
        assert_memory_equal(v.support + v.index[e] * D, x + (items[e / M] * M + e % M) * D,
                            D * sizeof *x);
    ddsc_measures_destroy(some);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(own);
    free(x);
}

static ddsc_status create_and_copy(ddsc_context *c, void *arg)
{
    (void)arg;
    const double x[] = {1, 2, 0, 5, 1, 2, 0, 5, 3, 3, 7, 7};
    const int64_t offset[] = {0, 3, 5, 6}, items[] = {1, 0};
    const int32_t labels[] = {0, 1, 0};
    measures *m = NULL, *l = NULL, *s = NULL, *b = NULL, *g = NULL;
    ddsc_status status =
        ddsc_measures_create_clouds(c, &m, 3, 2, x, NULL, offset, DDSC_EMPTY_ERROR);
    if (status == DDSC_OK)
        status = ddsc_measures_copy_labeled(c, &l, m, labels);
    if (status == DDSC_OK)
        status = ddsc_measures_copy_subset(c, &s, l, 2, items);
    if (status == DDSC_OK)
        status = ddsc_measures_copy_balanced(c, &b, l, 1);
    if (status == DDSC_OK)
        status = ddsc_measures_generate_gaussians(c, &g, 2, 2, 3, 2, 5);
    ddsc_measures_destroy(m);
    ddsc_measures_destroy(l);
    ddsc_measures_destroy(s);
    ddsc_measures_destroy(b);
    ddsc_measures_destroy(g);
    return status;
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    assert_true(test_failing_allocations(create_and_copy, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_points_are_merged),
        cmocka_unit_test(zero_weights_and_unused_points_go),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(index_out_of_range_is_named),
        cmocka_unit_test(dropped_items_keep_their_row),
        cmocka_unit_test(extreme_weights_are_normalized),
        cmocka_unit_test(grids_are_recognised),
        cmocka_unit_test(dense_and_shared_agree),
        cmocka_unit_test(subsets_keep_names),
        cmocka_unit_test(gaussian_groups_are_apart),
        cmocka_unit_test(compressing_keeps_mass_and_mean),
        cmocka_unit_test(compressing_one_item_can_be_canceled),
        cmocka_unit_test(failures_of_the_sample_are_named),
        cmocka_unit_test(small_subsets_take_little_memory),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
