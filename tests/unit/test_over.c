/* Periods of a column: dates, numbers, texts, combined units, confidence intervals, new and
 * vanished clusters, extreme values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { MOST = 1000 };
static char text[MOST][32];
static const char *value[MOST];
static int32_t label[MOST];

static ddsc_over *run_over(ddsc_context *ctx, ddsc_over_view *v, int64_t n, int64_t k)
{
    ddsc_over *o = NULL;
    assert_int_equal(ddsc_over_run(ctx, &o, n, label, k, "when", value), DDSC_OK);
    ddsc_over_get_view(o, v);
    return o;
}

static void take(const char *const *given, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        value[i] = given[i];
        label[i] = 0;
    }
}

static void expect(const char *const *given, int64_t n, ddsc_over_kind kind, const char *unit,
                   const char *const *names, int64_t n_names)
{
    ddsc_context *ctx = test_context(1, 0);
    ddsc_over_view v;
    take(given, n);
    ddsc_over *o = run_over(ctx, &v, n, 1);
    assert_int_equal(v.kind, kind);
    assert_string_equal(v.unit, unit);
    assert_int_equal(v.n_periods, n_names);
    for (int64_t t = 0; t < n_names; t++)
        assert_string_equal(v.periods[t], names[t]);
    ddsc_over_destroy(o);
    ddsc_context_destroy(ctx);
}

#define COUNT(list) ((int64_t)(sizeof(list) / sizeof *(list)))
#define EXPECT(given, kind, unit, names) \
    expect(given, COUNT(given), kind, unit, names, COUNT(names))

static void test_kinds(void **state)
{
    (void)state;
    static const char *const dates[] = {"2024-03-01", "2023/12/31", "01.03.2024", "NA",
                                        "2024-02-29T10:00"};
    static const char *const days[] = {"2023-12-31", "2024-02-29", "2024-03-01"};
    EXPECT(dates, DDSC_OVER_DATE, "day", days);
    static const char *const months[] = {"2024-03", "2023-12"}, *const sorted[] = {"2023-12",
                                                                                   "2024-03"};
    EXPECT(months, DDSC_OVER_DATE, "month", sorted);
    static const char *const numbers[] = {"10", "9", "-1.5", "", "1e1"};
    static const char *const ascending[] = {"-1.5", "9", "10"};
    EXPECT(numbers, DDSC_OVER_NUMBER, "value", ascending);
    static const char *const batches[] = {"b10", "b9", "b010", "a", "b10x"};
    static const char *const natural[] = {"a", "b9", "b010", "b10", "b10x"};
    EXPECT(batches, DDSC_OVER_TEXT, "value", natural);
    static const char *const wrong[] = {"2024-02-30", "2024-13-01", "5/31/2024", "2024-05-3"};
    static const char *const plain[] = {"5/31/2024", "2024-02-30", "2024-05-3", "2024-13-01"};
    EXPECT(wrong, DDSC_OVER_TEXT, "value", plain);
}

/* Days become weeks, months, quarters, years and decades as the range grows. Each day is checked
 * against a count of days from one fixed date. */
static void test_joined_dates(void **state)
{
    (void)state;
    static const struct {
        int step;
        const char *unit, *first, *second;
    } cases[] = {{1, "day", "1999-12-27", "1999-12-28"}, {7, "week", "1999-12-27", "2000-01-03"},
                 {30, "month", "1999-12", "2000-01"},    {91, "quarter", "1999-Q4", "2000-Q1"},
                 {365, "year", "1999", "2000"},          {3652, "decade", "1990s", "2000s"}};
    static const int in_month[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    ddsc_context *ctx = test_context(1, 0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int year = 1999, month = 12, day = 27, n = 0; /* a Monday */
        int total = c == 0 ? 20 : 20 * cases[c].step;
        int stride = BASE_MAX(1, total / 900);
        for (int d = 0; d < total; d++) {
            if (d % stride == 0) {
                snprintf(text[n], sizeof text[n], "%04d-%02d-%02d", year, month, day);
                value[n] = text[n];
                label[n++] = 0;
            }
            bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            if (++day > in_month[month - 1] + (month == 2 && leap)) {
                day = 1;
                month = month % 12 + 1;
                year += month == 1;
            }
        }
        ddsc_over_view v;
        ddsc_over *o = run_over(ctx, &v, n, 1);
        assert_string_equal(v.unit, cases[c].unit);
        assert_string_equal(v.periods[0], cases[c].first);
        assert_string_equal(v.periods[1], cases[c].second);
        assert_true(v.n_periods <= 24);
        int64_t sum = 0;
        for (int64_t t = 0; t < v.n_periods; t++)
            sum += v.items[t];
        assert_int_equal(sum, n);
        for (int i = 1; i < n; i++)
            assert_true(v.period[i] >= v.period[i - 1]);
        ddsc_over_destroy(o);
    }
    ddsc_context_destroy(ctx);
}

static void test_intervals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int i = 0; i < 120; i++) {
        snprintf(text[i], sizeof text[i], "%d", 119 - i);
        value[i] = text[i];
        label[i] = 0;
    }
    ddsc_over_view v;
    ddsc_over *o = run_over(ctx, &v, 120, 1);
    assert_string_equal(v.unit, "interval");
    assert_int_equal(v.n_periods, 12);
    assert_int_equal(v.period[0], 11);
    assert_int_equal(v.period[119], 0);
    ddsc_over_destroy(o);
    value[0] = "1.7e308";
    value[1] = "-1.7e308";
    o = run_over(ctx, &v, 120, 1); /* the range exceeds a double */
    assert_int_equal(v.n_periods, 120);
    ddsc_over_destroy(o);
    ddsc_context_destroy(ctx);
}

/* 10 of 40: the interval of Wilson is 0.1419 to 0.4019 (Newcombe 1998 gives such values). A cluster
 * of 10 that is absent from 40 of 80 items: C(70, 40) / C(80, 40). */
static void test_uncertainty(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int i = 0; i < 80; i++) {
        value[i] = i < 40 ? "1" : "2";
        label[i] = i >= 70 ? 1 : 0;
    }
    ddsc_over_view v;
    ddsc_over *o = run_over(ctx, &v, 80, 3);
    assert_true(fabs(v.low[3] - 0.1419) < 1e-4 && fabs(v.high[3] - 0.4019) < 1e-4);
    assert_true(v.low[2] == 0 && v.high[1] < 0.87 && v.share[3] == 0.25);
    double p = exp(lgamma(71) - lgamma(31) - lgamma(81) + lgamma(41));
    assert_true(fabs(v.p_new[1] / p - 1) < 1e-10 && v.p_vanished[1] == 1 && v.p_new[0] == 1);
    assert_int_equal(v.change[1], DDSC_OVER_NEW);
    assert_int_equal(v.change[0], 0);
    assert_int_equal(v.change[2], DDSC_OVER_EMPTY);
    assert_int_equal(v.first[1], 1);
    assert_int_equal(v.first[2], -1);
    ddsc_over_destroy(o);
    for (int i = 0; i < 80; i++)
        value[i] = i < 40 ? "2" : "1";
    o = run_over(ctx, &v, 80, 3);
    assert_int_equal(v.change[1], DDSC_OVER_VANISHED);
    ddsc_over_destroy(o);
    ddsc_context_destroy(ctx);
}

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_over *o = NULL;
    for (int i = 0; i < 101; i++) {
        snprintf(text[i], sizeof text[i], "t%d", i);
        value[i] = text[i];
        label[i] = 0;
    }
    assert_int_equal(ddsc_over_run(ctx, &o, 101, label, 1, "when", value), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "101 different texts"));
    assert_int_equal(ddsc_over_run(ctx, &o, 1, label, 1, "when", value), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "one distinct value"));
    value[0] = NULL;
    assert_int_equal(ddsc_over_run(ctx, &o, 1, label, 1, "when", value), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "no values"));
    label[0] = 1;
    assert_int_equal(ddsc_over_run(ctx, &o, 2, label, 1, "when", value), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_over_run(ctx, &o, 0, label, 1, "when", value), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_over_run(ctx, &o, 2, label, 0, "when", value), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_over_run(ctx, &o, 2, NULL, 1, "when", value), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_over_run(ctx, &o, 2, label, 1, NULL, value), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_over_run(ctx, &o, 2, label, 1, "when", NULL), DDSC_ERROR_ARGUMENT);
    assert_null(o);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),     cmocka_unit_test(test_joined_dates),
        cmocka_unit_test(test_intervals), cmocka_unit_test(test_uncertainty),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
