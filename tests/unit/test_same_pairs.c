/* The value of a pair is a function of its two items, the resolved settings and the frame. The same
 * items have the same bits alone, within larger sets, in other orders, and as rows or columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "neighbors/planner/plan.h"
#include "support.h"

enum { FEW = 14, MANY = 60, POINTS = 40 };

typedef enum kind { IMAGES, CLOUDS, SMALL_CLOUDS, DOCUMENTS, FEW_WORDS, N_KINDS } kind;

static const char *const kind_names[] = {"images", "clouds", "small clouds", "documents",
                                         "documents with few words"};
static const int64_t dims[] = {2, 3, 3, 24, 20};

/* One item: a function of its number only. */
typedef struct one_item {
    int64_t n;
    double points[POINTS * 24], weights[POINTS];
} one_item;

static double coordinate(kind what, rng *r, int64_t number, int64_t k)
{
    if (what == IMAGES)
        return (double)(number % 3 + (int64_t)rng_below(r, 11) + 2 * k);
    return rng_normal(r) + 0.3 * (double)(number % 4);
}

/* Words are points of a common vocabulary. */
static void take_word(kind what, rng *r, double *x)
{
    rng word = rng_make(7, RNG_SHAPES, (uint64_t)rng_below(r, what == DOCUMENTS ? 300 : 40));
    for (int64_t k = 0; k < dims[what]; k++)
        x[k] = rng_normal(&word);
}

static void make_item(one_item *item, kind what, int64_t number)
{
    rng r = rng_make(11, RNG_SHAPES, (uint64_t)number);
    bool small = what == SMALL_CLOUDS || what >= DOCUMENTS;
    item->n = small ? 3 + rng_below(&r, 9) : 26 + rng_below(&r, POINTS - 26);
    for (int64_t p = 0; p < item->n; p++) {
        double *x = item->points + p * dims[what];
        item->weights[p] = (double)(1 + rng_below(&r, 9));
        if (what >= DOCUMENTS)
            take_word(what, &r, x);
        for (int64_t k = 0; what < DOCUMENTS && k < dims[what]; k++)
            x[k] = coordinate(what, &r, number, k);
    }
}

static measures *make_set(ddsc_context *ctx, kind what, int64_t n, const int64_t *number)
{
    one_item *items = malloc((size_t)n * sizeof *items);
    ddsc_cloud cloud[MANY];
    measures *m = NULL;
    assert_non_null(items);
    for (int64_t i = 0; i < n; i++) {
        make_item(&items[i], what, number[i]);
        cloud[i] =
            (ddsc_cloud){.points = items[i].points, .weights = items[i].weights, .n = items[i].n};
    }
    assert_int_equal(ddsc_measures_create_items(ctx, &m, n, dims[what], cloud, DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(items);
    return m;
}

/* Computes the squared distances between the items of a set, with the settings and the frame of
 * `by`. The first set resolves them. */
static double *matrix_by(ddsc_context *ctx, metric_resolved *by, const measures *m,
                         const ddsc_metric_settings *set)
{
    metric_resolved own = {0};
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    plan_metric r;
    bool first = by->backend == NULL;
    double *d2 = test_zeros(m->n * m->n);
    assert_int_equal(metric_resolve(ctx, &own, m, first ? set : &by->set), DDSC_OK);
    assert_int_equal(metric_settle(ctx, &own, m, first ? NULL : &by->frame), DDSC_OK);
    assert_true(first || own.frame.kind == by->frame.kind);
    assert_int_equal(plan_metric_open(ctx, &r, metric_measures(&own, m), &own, false, NULL),
                     DDSC_OK);
    assert_int_equal(pairs_matrix(&r.p, d2, -1, DDSC_DISTANCE_SQUARED), DDSC_OK);
    assert_true(plan_metric_close(&r, DDSC_OK, m->n * (m->n - 1) / 2, &stats) >= 0);
    if (first)
        *by = own;
    else
        metric_resolved_free(&own);
    return d2;
}

/* The largest relative difference of the values of the same items. */
static double difference(const double *few, const double *many, const int64_t *place)
{
    double most = 0;
    for (int64_t i = 0; i < FEW; i++)
        for (int64_t j = 0; j < FEW; j++) {
            double x = few[i * FEW + j], y = many[place[i] * MANY + place[j]];
            if (x != y)
                most = fmax(most, fabs(x - y) / fmax(fabs(x), 1e-3));
        }
    return most;
}

static void shuffle(int64_t *x, int64_t n, uint64_t seed)
{
    rng r = rng_make(seed, RNG_SUBSET, 3);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = rng_below(&r, i + 1), t = x[i];
        x[i] = x[k];
        x[k] = t;
    }
}

/* Returns true if values are computed by matrix products, whose last bits depend on the block. */
static bool by_products(kind what, const ddsc_metric_settings *set)
{
    return set->metric == DDSC_METRIC_MMD && dims[what] > 16;
}

static void check(kind what, const ddsc_metric_settings *set)
{
    ddsc_context *ctx = test_context(2, 1);
    int64_t number[MANY], place[FEW];
    for (int64_t i = 0; i < MANY; i++)
        number[i] = i;
    for (int64_t i = 0; i < FEW; i++)
        place[i] = i;
    metric_resolved by = {0};
    measures *m = make_set(ctx, what, FEW, number);
    double *few = matrix_by(ctx, &by, m, set);
    ddsc_measures_destroy(m);
    for (int round = 0; round < 3; round++) {
        if (round > 0)
            shuffle(number, MANY, (uint64_t)round);
        for (int64_t i = 0; i < MANY; i++)
            if (number[i] < FEW)
                place[number[i]] = i;
        m = make_set(ctx, what, MANY, number);
        double *many = matrix_by(ctx, &by, m, set), most = difference(few, many, place);
        if (most > (by_products(what, set) ? 1e-12 : 0))
            fail_msg("%s, metric %d, value %d, kernel %d, round %d: values differ by %.3g",
                     kind_names[what], (int)set->metric, (int)set->sinkhorn_value,
                     (int)set->mmd_kernel, round, most);
        free(many);
        ddsc_measures_destroy(m);
    }
    metric_resolved_free(&by);
    free(few);
    ddsc_context_destroy(ctx);
}

static void test_metrics(void **state)
{
    (void)state;
    for (int what = IMAGES; what < N_KINDS; what++)
        for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++) {
            ddsc_metric_settings set = test_metric((ddsc_metric)metric);
            check((kind)what, &set);
        }
}

static void test_variants(void **state)
{
    (void)state;
    for (int what = IMAGES; what < N_KINDS; what++) {
        ddsc_metric_settings set = test_metric(DDSC_METRIC_SINKHORN);
        set.sinkhorn_value = DDSC_SINKHORN_DEBIASED;
        check((kind)what, &set);
        set = test_metric(DDSC_METRIC_SINKHORN);
        set.sinkhorn_value = DDSC_SINKHORN_SHARP;
        set.epsilon = 1;
        check((kind)what, &set);
        set = test_metric(DDSC_METRIC_MMD);
        set.mmd_kernel = DDSC_KERNEL_ENERGY;
        check((kind)what, &set);
        set = test_metric(DDSC_METRIC_W1);
        set.cost = DDSC_COST_CITYBLOCK;
        check((kind)what, &set);
        set = test_metric(DDSC_METRIC_W2);
        set.cost = DDSC_COST_COSINE;
        if (what != IMAGES)
            check((kind)what, &set);
    }
}

/* The rows and columns of a block may be exchanged. */
static void test_transposed(void **state)
{
    (void)state;
    enum { X = 17, Y = 23 };
    int64_t number[X + Y];
    double a[X * Y], b[Y * X];
    for (int64_t i = 0; i < X + Y; i++)
        number[i] = i;
    for (int what = IMAGES; what < N_KINDS; what++)
        for (int metric = DDSC_METRIC_W2; metric <= DDSC_METRIC_W1; metric++) {
            ddsc_context *ctx = test_context(1, 1);
            ddsc_metric_settings set = test_metric((ddsc_metric)metric);
            if (metric == DDSC_METRIC_LOT) /* other rules depend on the order of the items */
                set.reference_rule = DDSC_REFERENCE_MEASURES;
            measures *x = make_set(ctx, (kind)what, X, number);
            measures *y = make_set(ctx, (kind)what, Y, number + X);
            set.reference_measures = x;
            set.epsilon_is_percent = 0;
            set.bandwidth_rule = DDSC_BANDWIDTH_VALUE;
            set.bandwidth = 2;
            assert_true(ddsc_cross_run(ctx, a, NULL, x, y, &set, DDSC_DISTANCE_SQUARED) >= 0);
            assert_true(ddsc_cross_run(ctx, b, NULL, y, x, &set, DDSC_DISTANCE_SQUARED) >= 0);
            for (int64_t i = 0; i < X; i++)
                for (int64_t j = 0; j < Y; j++) {
                    double p = a[i * Y + j], q = b[j * X + i];
                    if (by_products((kind)what, &set) ? fabs(p - q) > 1e-12 * fabs(p) : p != q)
                        fail_msg("%s, metric %d: %.17g and %.17g", kind_names[what], metric, p, q);
                }
            ddsc_measures_destroy(x);
            ddsc_measures_destroy(y);
            ddsc_context_destroy(ctx);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics),
                                       cmocka_unit_test(test_variants),
                                       cmocka_unit_test(test_transposed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
