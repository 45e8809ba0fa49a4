/* States of points, their transport, and associations of quantities with metadata columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { N = 12, EACH = 60, DIM = 4, K = 3 };

/* Items of EACH points from K well separated blobs. The share of the blobs depends on the item: those
 * of the second half have more points of blob 2, and their last coordinate is shifted in blob 0. */
static ddsc_measures *make_items(ddsc_context *ctx, const char *const *types)
{
    static double x[N * EACH * DIM];
    int64_t offset[N + 1];
    ddsc_measures *m = NULL, *named = NULL;
    rng r = rng_make(5, RNG_SUBSET, 0);
    const char *point[N * EACH];
    for (int i = 0; i < N; i++) {
        offset[i] = i * EACH;
        for (int p = 0; p < EACH; p++) {
            int from = i < N / 2 ? 30 : 15 + i % 2, blob = p < from ? 0 : p < 45 ? 2 : 1;
            double *at = x + (i * EACH + p) * DIM;
            for (int c = 0; c < DIM; c++)
                at[c] = (c == blob ? 10 : 0) + rng_normal(&r) / 2;
            if (i >= N / 2 && blob == 0)
                at[DIM - 1] += 0.5;
            point[i * EACH + p] = types ? types[blob] : "";
        }
    }
    offset[N] = N * EACH;
    assert_int_equal(
        ddsc_measures_create_clouds(ctx, &m, N, DIM, x, NULL, offset, DDSC_EMPTY_ERROR), DDSC_OK);
    static const char *const coordinates[] = {"A", "B", "C", "D"};
    assert_int_equal(
        ddsc_measures_copy_described(ctx, &named, m, coordinates, types ? point : NULL, NULL),
        DDSC_OK);
    ddsc_measures_destroy(m);
    return named;
}

/* The number of states is that of the blobs, for any number of threads, and shares are those of the
 * points. */
static void test_found(void **state)
{
    (void)state;
    double first[K * DIM];
    for (int threads = 1; threads <= 3; threads += 2) {
        ddsc_context *ctx = test_context(threads, 1);
        ddsc_measures *m = make_items(ctx, NULL);
        ddsc_states *s = NULL;
        ddsc_states_view v;
        assert_int_equal(ddsc_states_run(ctx, &s, m, NULL), DDSC_OK);
        ddsc_states_get_view(s, &v);
        assert_true(v.n_states == K && v.given == 0 && v.n_tried > 3);
        assert_int_equal(v.n_items, N);
        for (int64_t i = 0; i < N; i++) {
            double sum = 0;
            for (int64_t c = 0; c < K; c++)
                sum += v.share[i * K + c];
            assert_close(sum, 1, 1e-12, 0);
        }
        assert_close(v.share[0], 0.5, 1e-12, 0);
        assert_true(v.total[0] >= v.total[1] && v.total[1] >= v.total[2]);
        assert_string_equal(ddsc_states_get_name(s, 0), "S1 (A high, C low)");
        assert_null(ddsc_states_get_name(s, K));
        if (threads == 1)
            memcpy(first, v.mean, sizeof first);
        assert_memory_equal(v.mean, first, sizeof first);
        ddsc_states_destroy(s);
        ddsc_measures_destroy(m);
        ddsc_context_destroy(ctx);
    }
}

/* Given types are the states, and a given number of states has precedence. */
static void test_given(void **state)
{
    (void)state;
    static const char *const types[] = {"b cell", "t cell", ""};
    ddsc_context *ctx = test_context(1, 1);
    ddsc_measures *m = make_items(ctx, types);
    ddsc_states *s = NULL;
    ddsc_states_view v;
    ddsc_states_settings set;
    assert_true(ddsc_measures_has_types(m));
    assert_int_equal(ddsc_states_run(ctx, &s, m, NULL), DDSC_OK);
    ddsc_states_get_view(s, &v);
    assert_true(v.given == 1 && v.n_states == 3 && v.n_tried == 0);
    assert_string_equal(ddsc_states_get_name(s, 0), "b cell");
    assert_string_equal(ddsc_states_get_name(s, 1), "no type");
    ddsc_states_destroy(s);
    ddsc_states_settings_init(&set);
    set.n_states = 2;
    assert_int_equal(ddsc_states_run(ctx, &s, m, &set), DDSC_OK);
    ddsc_states_get_view(s, &v);
    assert_true(v.given == 0 && v.n_states == 2 && v.n_tried == 0);
    ddsc_states_destroy(s);
    set.n_states = 201;
    assert_int_equal(ddsc_states_run(ctx, &s, m, &set), DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* The marginals of the flow are the shares of both sides, and only the mass that must changes state
 * does. The shift is found in the state and the coordinate where it was planted. */
static void test_flow(void **state)
{
    (void)state;
    enum { HALF = N / 2 };
    ddsc_context *ctx = test_context(1, 1);
    ddsc_measures *m = make_items(ctx, NULL);
    ddsc_states *s = NULL;
    ddsc_states_flow f;
    double mass[K * K], shift[K * DIM], from[K], to[K];
    int64_t a[HALF], b[HALF];
    for (int i = 0; i < HALF; i++) {
        a[i] = i;
        b[i] = HALF + i;
    }
    assert_int_equal(ddsc_states_run(ctx, &s, m, NULL), DDSC_OK);
    ddsc_states_flow_init(&f);
    f.mass = mass;
    f.shift = shift;
    f.from = from;
    f.to = to;
    assert_int_equal(ddsc_states_flow_run(ctx, &f, s, m, HALF, a, HALF, b), DDSC_OK);
    double stays = 0;
    for (int c = 0; c < K; c++) {
        double out = 0, into = 0;
        for (int k = 0; k < K; k++) {
            out += mass[c * K + k];
            into += mass[k * K + c];
        }
        assert_close(out, from[c], 1e-9, 0);
        assert_close(into, to[c], 1e-9, 0);
        stays += mass[c * K + c];
    }
    assert_close(stays, 1 - (30 - 15.5) / 60, 1e-9, 0);
    int64_t largest = 0;
    for (int k = 1; k < K * DIM; k++)
        largest = fabs(shift[k]) > fabs(shift[largest]) ? k : largest;
    assert_int_equal(largest % DIM, DIM - 1);
    assert_true(shift[largest] > 0.7);
    f.mass = NULL;
    assert_int_equal(ddsc_states_flow_run(ctx, &f, s, m, 1, a, 1, b), DDSC_OK);
    a[0] = N;
    assert_int_equal(ddsc_states_flow_run(ctx, &f, s, m, 1, a, 1, b), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_states_flow_run(ctx, &f, s, m, 0, b, 1, b), DDSC_ERROR_ARGUMENT);
    ddsc_states_destroy(s);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- effects ---- */

static ddsc_effects_view effects_of(ddsc_context *ctx, ddsc_effects **out, int64_t n, int64_t m,
                                    const double *values, int64_t n_columns,
                                    const ddsc_column *columns, int64_t permutations)
{
    ddsc_effects_view v;
    assert_int_equal(ddsc_effects_run(ctx, out, n, m, values, n_columns, columns, permutations),
                     DDSC_OK);
    ddsc_effects_get_view(*out, &v);
    return v;
}

/* Welch's interval as R's t.test(c(1, 2, 4, 7), c(3, 5, 9, 12, 14)) prints it, and the exact
 * permutation p. */
static void test_classes(void **state)
{
    (void)state;
    static const double y[] = {1, 2, 4, 7, 3, 5, 9, 12, 14};
    static const char *const class[] = {"a", "a", "a", "a", "b", "b", "b", "b", "b"};
    const ddsc_column column = {"class", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    ddsc_context *ctx = test_context(2, 1);
    ddsc_effects *out = NULL;
    ddsc_effects_view v = effects_of(ctx, &out, 9, 1, y, 1, &column, 999);
    assert_true(v.n_rows == 1 && v.exhaustive && v.n_permutations == 126);
    const ddsc_effect *e = v.rows[0];
    assert_string_equal(e->level, "b");
    assert_string_equal(e->other, "a");
    assert_close(e->effect, 5.1, 1e-12, 0);
    assert_close(e->low, -0.7885, 0, 0.002);
    assert_close(e->high, 10.9885, 0, 0.002);
    assert_true(e->p > 2.0 / 126 && e->p < 0.2);
    ddsc_effects_destroy(out);
    ddsc_context_destroy(ctx);
}

/* With pairs, differences are taken within blocks: a constant difference has an interval of width 0,
 * and the smallest p. Missing values are left out. */
static void test_blocks(void **state)
{
    (void)state;
    enum { PAIRS = 8 };
    double y[2 * PAIRS * 2];
    const char *class[2 * PAIRS], *pair[2 * PAIRS];
    static const char *const names[] = {"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"};
    for (int i = 0; i < 2 * PAIRS; i++) {
        class[i] = i % 2 ? "after" : "before";
        pair[i] = names[i / 2];
        y[2 * i] = 100 * (i / 2) + (i % 2 ? 3 : 0);
        y[2 * i + 1] = i < 2 ? (double)NAN : (i * 7) % 5;
    }
    const ddsc_column columns[] = {{"time", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY},
                                   {"pair", pair, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BLOCK}};
    ddsc_context *ctx = test_context(1, 1);
    ddsc_effects *out = NULL;
    ddsc_effects_view v = effects_of(ctx, &out, 2 * PAIRS, 2, y, 2, columns, 999);
    assert_true(v.exhaustive && v.n_permutations == 256);
    assert_close(v.rows[0]->effect, -3, 1e-12, 0);
    assert_close(v.rows[0]->low, -3, 1e-9, 0);
    assert_close(v.rows[0]->p, 2.0 / 256, 1e-12, 0);
    assert_int_equal(v.rows[1]->n, 2 * PAIRS - 2);
    assert_true(v.rows[1]->p_adjusted >= v.rows[1]->p && v.rows[0]->p_adjusted <= 4.0 / 256 + 1e-9);
    ddsc_effects_destroy(out);
    /* a column that is constant within blocks compares whole blocks */
    for (int i = 0; i < 2 * PAIRS; i++)
        class[i] = i < PAIRS ? "u" : "v";
    v = effects_of(ctx, &out, 2 * PAIRS, 2, y, 2, columns, 999);
    assert_true(v.whole_blocks && v.exhaustive && v.n_permutations == 70);
    assert_int_equal(v.rows[0]->n_level, PAIRS / 2);
    ddsc_effects_destroy(out);
    ddsc_context_destroy(ctx);
}

/* Classes that differ by constants have no variance. Arrangements with the same statistic are ties
 * despite rounding errors. */
static void test_no_variance(void **state)
{
    (void)state;
    static const char *const class[] = {"a", "a", "a", "b", "b", "b"};
    static const double y[] = {0.1, 0.1, 0.1, 0.7, 0.7, 0.7};
    const ddsc_column column = {"class", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    ddsc_context *ctx = test_context(1, 1);
    ddsc_effects *out = NULL;
    ddsc_effects_view v = effects_of(ctx, &out, 6, 1, y, 1, &column, 999);
    assert_true(v.exhaustive && v.n_permutations == 20);
    assert_close(v.smallest_p, 2.0 / 20, 1e-12, 0);
    assert_close(v.rows[0]->p, 2.0 / 20, 1e-12, 0);
    assert_close(v.rows[0]->low, 0.6, 1e-12, 0);
    assert_close(v.rows[0]->high, 0.6, 1e-12, 0);
    ddsc_effects_destroy(out);
    ddsc_context_destroy(ctx);
}

/* Blocks in which a quantity has no values change nothing: the degrees of freedom are those of the
 * other blocks, with and without a covariate. */
static void test_blocks_without_values(void **state)
{
    (void)state;
    enum { ROWS = 36, KNOWN = 12 };
    double y[ROWS], age[ROWS], dose[ROWS], low, high;
    char block[ROWS][8];
    const char *class[ROWS], *name[ROWS];
    rng r = rng_make(7, RNG_GAUSSIANS, 0);
    for (int i = 0; i < ROWS; i++) {
        snprintf(block[i], sizeof block[i], "p%d", i / 2);
        name[i] = block[i];
        class[i] = i % 2 ? "after" : "before";
        dose[i] = rng_uniform(&r);
        age[i] = rng_normal(&r);
        y[i] = i < KNOWN ? rng_normal(&r) : (double)NAN;
    }
    const ddsc_column columns[] = {{"age", NULL, age, DDSC_COLUMN_NUMBER, DDSC_COLUMN_ADJUST},
                                   {"class", class, NULL, DDSC_COLUMN_FACTOR, DDSC_COLUMN_BY},
                                   {"patient", name, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BLOCK},
                                   {"dose", NULL, dose, DDSC_COLUMN_NUMBER, DDSC_COLUMN_BY}};
    static const int model[4][3] = {{1, 2}, {3, 2}, {0, 1, 2}, {0, 3, 2}};
    ddsc_context *ctx = test_context(1, 1);
    for (int k = 0; k < 4; k++) {
        ddsc_column used[3] = {columns[model[k][0]], columns[model[k][1]], columns[model[k][2]]};
        ddsc_effects *out = NULL;
        ddsc_effects_view v = effects_of(ctx, &out, KNOWN, 1, y, k < 2 ? 2 : 3, used, 99);
        low = v.rows[0]->low;
        high = v.rows[0]->high;
        assert_true(isfinite(low) && low < high);
        ddsc_effects_destroy(out);
        v = effects_of(ctx, &out, ROWS, 1, y, k < 2 ? 2 : 3, used, 99);
        if (k == 0 || k == 2) { /* ranks depend on the items without values */
            assert_close(v.rows[0]->low, low, 1e-9, 1e-9);
            assert_close(v.rows[0]->high, high, 1e-9, 1e-9);
        }
        assert_true(isfinite(v.rows[0]->low) && v.rows[0]->low < v.rows[0]->high);
        ddsc_effects_destroy(out);
    }
    ddsc_context_destroy(ctx);
}

/* p does not depend on the unit of the values, even if some permutations leave a class with a single
 * value, which has no standard error. */
static void test_unit_of_values(void **state)
{
    (void)state;
    enum { ROWS = 12 };
    double y[ROWS], scaled[ROWS], p = NAN;
    const char *class[ROWS];
    rng r = rng_make(3, RNG_GAUSSIANS, 0);
    for (int i = 0; i < ROWS; i++) {
        class[i] = i < ROWS / 2 ? "a" : "b";
        y[i] = i < 5 ? (double)NAN : rng_normal(&r);
    }
    const ddsc_column column = {"class", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    ddsc_context *ctx = test_context(1, 1);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < ROWS; i++)
            scaled[i] = y[i] * (k == 0 ? 1 : k == 1 ? 1024 : 1.0 / 1024);
        ddsc_effects *out = NULL;
        ddsc_effects_view v = effects_of(ctx, &out, ROWS, 1, scaled, 1, &column, 999);
        assert_true(k == 0 || v.rows[0]->p == p);
        p = v.rows[0]->p;
        ddsc_effects_destroy(out);
    }
    ddsc_context_destroy(ctx);
}

/* Equal values have the standard deviation 0, although their mean has a rounding error. */
static void test_constant_coordinate(void **state)
{
    (void)state;
    enum { ITEMS = 20, POINTS = 50, WIDTH = 2 };
    static double x[ITEMS * POINTS * WIDTH];
    int64_t offset[ITEMS + 1];
    rng r = rng_make(5, RNG_GAUSSIANS, 0);
    for (int64_t i = 0; i <= ITEMS; i++)
        offset[i] = i * POINTS;
    for (int64_t p = 0; p < ITEMS * POINTS; p++) {
        x[p * WIDTH] = rng_normal(&r) + (p % 3 ? 0 : 9);
        x[p * WIDTH + 1] = 0.1;
    }
    ddsc_context *ctx = test_context(1, 1);
    ddsc_measures *m = NULL;
    ddsc_states *s = NULL;
    ddsc_states_view v;
    ddsc_states_settings set;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, ITEMS, WIDTH, x, NULL, offset, 0),
                     DDSC_OK);
    ddsc_states_settings_init(&set);
    set.n_states = 2;
    assert_int_equal(ddsc_states_run(ctx, &s, m, &set), DDSC_OK);
    ddsc_states_get_view(s, &v);
    assert_true(v.n_states == 2 && v.overall_deviation[0] > 1 && v.overall_deviation[1] <= 0);
    assert_true(v.deviation[0] > 0 && v.deviation[1] <= 0 && v.deviation[3] <= 0);
    ddsc_states_destroy(s);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Numbers have a rank correlation; three classes have one row each. */
static void test_kinds(void **state)
{
    (void)state;
    enum { MANY = 30 };
    double y[MANY], x[MANY];
    const char *class[MANY];
    for (int i = 0; i < MANY; i++) {
        x[i] = i + 0.5;
        y[i] = exp(i);
        class[i] = (const char *[]){"a", "b", "c"}[i % 3];
    }
    ddsc_column column = {"x", NULL, x, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    ddsc_context *ctx = test_context(1, 1);
    ddsc_effects *out = NULL;
    ddsc_effects_view v = effects_of(ctx, &out, MANY, 1, y, 1, &column, 199);
    assert_true(v.kind == DDSC_COLUMN_NUMBER && v.n_rows == 1 && !v.exhaustive);
    assert_close(v.rows[0]->effect, 1, 1e-12, 0);
    assert_close(v.rows[0]->p, 1.0 / 200, 1e-12, 0);
    ddsc_effects_destroy(out);
    column = (ddsc_column){"class", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    v = effects_of(ctx, &out, MANY, 1, y, 1, &column, 199);
    assert_true(v.n_rows == 3 && v.rows[2]->other == NULL);
    assert_string_equal(v.rows[2]->level, "c");
    ddsc_effects_destroy(out);
    for (int i = 0; i < MANY; i++)
        class[i] = "same";
    assert_int_equal(ddsc_effects_run(ctx, &out, MANY, 1, y, 1, &column, 199), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "constant"));
    ddsc_context_destroy(ctx);
}

/* Under the null hypothesis, p <= .05 in about 5% of the sets, and 95% of the intervals contain 0. */
static void test_calibration(void **state)
{
    (void)state;
    enum { SETS = 400, ITEMS = 24 };
    static double y[ITEMS * SETS];
    const char *class[ITEMS];
    rng r = rng_make(11, RNG_SUBSET, 1);
    for (int i = 0; i < ITEMS; i++) {
        class[i] = i < 10 ? "a" : "b";
        for (int k = 0; k < SETS; k++)
            y[i * SETS + k] = rng_normal(&r);
    }
    const ddsc_column column = {"class", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    ddsc_context *ctx = test_context(2, 1);
    ddsc_effects *out = NULL;
    ddsc_effects_view v = effects_of(ctx, &out, ITEMS, SETS, y, 1, &column, 199);
    int rejected = 0, covered = 0;
    for (int64_t k = 0; k < v.n_rows; k++) {
        rejected += v.rows[k]->p <= 0.05;
        covered += v.rows[k]->low <= 0 && v.rows[k]->high >= 0;
    }
    assert_true(rejected >= 0.02 * SETS && rejected <= 0.08 * SETS);
    assert_true(covered >= 0.92 * SETS && covered <= 0.98 * SETS);
    ddsc_effects_destroy(out);
    ddsc_context_destroy(ctx);
}

/* Without an effect of the covariate on the class, and with one: p and intervals keep their level
 * although the covariate changes the values. Without adjustment they do not. */
static void test_adjusted_calibration(void **state)
{
    (void)state;
    enum { SETS = 400, ITEMS = 24 };
    static double y[ITEMS * SETS];
    const char *class[ITEMS], *pair[ITEMS];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    double age[ITEMS];
    rng r = rng_make(12, RNG_SUBSET, 1);
    for (int i = 0; i < ITEMS; i++) {
        class[i] = i % 2 ? "u" : "v";
        pair[i] = names[i / 2];
        age[i] = rng_normal(&r) + i % 2;
        for (int k = 0; k < SETS; k++) /* some values are missing in every second quantity */
            y[i * SETS + k] = k % 2 && i % 11 == 5 ? (double)NAN : 2 * age[i] + rng_normal(&r);
    }
    const ddsc_column columns[] = {{"class", class, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY},
                                   {"age", NULL, age, DDSC_COLUMN_NUMBER, DDSC_COLUMN_ADJUST},
                                   {"pair", pair, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BLOCK}};
    ddsc_context *ctx = test_context(2, 1);
    for (int n_columns = 1; n_columns <= 3; n_columns++) {
        ddsc_effects *out = NULL;
        ddsc_effects_view v = effects_of(ctx, &out, ITEMS, SETS, y, n_columns, columns, 199);
        int rejected = 0, covered = 0;
        for (int64_t k = 0; k < v.n_rows; k++) {
            rejected += v.rows[k]->p <= 0.05;
            covered += v.rows[k]->low <= 0 && v.rows[k]->high >= 0;
        }
        bool good = rejected >= 0.02 * SETS && rejected <= 0.08 * SETS && covered >= 0.92 * SETS &&
                    covered <= 0.98 * SETS;
        assert_int_equal(good, n_columns > 1);
        ddsc_effects_destroy(out);
    }
    /* a covariate that determines the class; too many covariates */
    ddsc_effects *out = NULL;
    for (int i = 0; i < ITEMS; i++)
        age[i] = i % 2;
    assert_int_equal(ddsc_effects_run(ctx, &out, ITEMS, SETS, y, 2, columns, 199),
                     DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "determine"));
    ddsc_column many[ITEMS];
    for (int c = 0; c < ITEMS; c++)
        many[c] = columns[BASE_MIN(c, 1)];
    double own[ITEMS][ITEMS];
    for (int c = 1; c < ITEMS; c++) {
        for (int i = 0; i < ITEMS; i++)
            own[c][i] = rng_normal(&r);
        many[c].number = own[c];
    }
    assert_int_equal(ddsc_effects_run(ctx, &out, ITEMS, 1, y, ITEMS - 1, many, 199),
                     DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "too many covariates"));
    many[1].role = DDSC_COLUMN_BY;
    assert_int_equal(ddsc_effects_run(ctx, &out, ITEMS, 1, y, 3, many, 199), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),          cmocka_unit_test(test_given),
        cmocka_unit_test(test_flow),           cmocka_unit_test(test_classes),
        cmocka_unit_test(test_blocks),         cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_calibration),    cmocka_unit_test(test_adjusted_calibration),
        cmocka_unit_test(test_no_variance),    cmocka_unit_test(test_blocks_without_values),
        cmocka_unit_test(test_unit_of_values), cmocka_unit_test(test_constant_coordinate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
