/* The levels of the verdict for evidence with known numbers, the step ratio of small sets, and the
 * sentences. */
#include <math.h>
#include <string.h>

#include "assess/quality/verdict.h"
#include "support.h"

/* 600 items in 8 clusters that touch. */
static verdict_evidence touching(void)
{
    return (verdict_evidence){.n = 600,
                              .k = 8,
                              .n_components = 1,
                              .n_examined = 8,
                              .score = 2,
                              .items = 20,
                              .held = NAN,
                              .held_from = verdict_held_from(600),
                              .clear_from = 3.5,
                              .halves = 0.75,
                              .items_alike_p = NAN,
                              .step_ratio = NAN,
                              .chance = 1};
}

static void expect(const verdict_evidence *e, ddsc_level level, const char *words)
{
    char text[320];
    verdict_put_headline(text, sizeof text, e);
    if (!strstr(text, words))
        fail_msg("\"%s\" does not contain \"%s\"", text, words);
    assert_int_equal(verdict_level(e), level);
    assert_null(strpbrk(text, "{}"));
}

static void test_separate(void **state)
{
    (void)state;
    verdict_evidence e = touching();
    e.score = 6;
    e.n_parted = 7;
    e.items_parted = 520;
    e.share = 520. / 600;
    expect(&e, DDSC_LEVEL_SEPARATE, "gaps isolate 7 of 8 clusters (87% of the items)");
    e.n_parted = 8;
    e.share = 1;
    expect(&e, DDSC_LEVEL_SEPARATE, "gaps isolate all 8");
    e.halves = 0.6;
    expect(&e, DDSC_LEVEL_PARTLY, "Gaps separate 8 of 8 clusters (100% of the items), but");
    e.halves = NAN;
    expect(&e, DDSC_LEVEL_PARTLY, "8 of 8");
    e.by_steps = e.stepped = true;
    e.step_ratio = 5.25;
    expect(&e, DDSC_LEVEL_SEPARATE, "5.25 times the longest step");
}

static void test_partly(void **state)
{
    (void)state;
    verdict_evidence e = touching();
    e.n_parted = 1;
    e.share = 0.1;
    expect(&e, DDSC_LEVEL_PARTLY, "A gap separates 1 of 8 clusters (10% of the items)");
    e.n_parted = 3;
    e.share = 0.4;
    e.halves = 0.99;
    expect(&e, DDSC_LEVEL_PARTLY, "Gaps separate 3 of 8 clusters (40% of the items)");
    e = touching();
    e.torn = true;
    e.n_components = 2;
    expect(&e, DDSC_LEVEL_PARTLY, "2 disconnected components");
    e.torn = false;
    e.stepped = true;
    e.n_parts = 3;
    expect(&e, DDSC_LEVEL_PARTLY, "3 separate parts");
}

static void test_reproducible(void **state)
{
    (void)state;
    static const double limit[] = {NAN, NAN, NAN, NAN, 0.95, 0.95, 0.9, 0.9, 0.88, 0.88, 0.85};
    verdict_evidence e = touching();
    for (int64_t k = 2; k <= 10; k++) {
        e.k = k;
        e.halves = 0.999;
        assert_int_equal(verdict_level(&e), k < 4 ? DDSC_LEVEL_CONTINUUM : DDSC_LEVEL_REPRODUCIBLE);
        if (k < 4)
            continue;
        assert_true(verdict_halves_from(k) == limit[k]);
        e.halves = limit[k];
        expect(&e, DDSC_LEVEL_REPRODUCIBLE, "halves of the items give the same clusters");
        e.halves = limit[k] - 1e-9;
        expect(&e, DDSC_LEVEL_CONTINUUM, "clusters or a continuum");
    }
    e.halves = 1;
    e.items = 7; /* may be a thin line */
    assert_int_equal(verdict_level(&e), DDSC_LEVEL_CONTINUUM);
    e.n = 150; /* unless 7 items are nearly half of a cluster */
    assert_int_equal(verdict_level(&e), DDSC_LEVEL_REPRODUCIBLE);
    e.items = 20;
    e.n = 59;
    assert_int_equal(verdict_level(&e), DDSC_LEVEL_TOO_FEW);
}

static void test_one_cloud(void **state)
{
    (void)state;
    verdict_evidence e = touching();
    e.score = 0.5;
    assert_true(verdict_asks_points(&e));
    expect(&e, DDSC_LEVEL_CONTINUUM, "as dense across the boundaries");
    e.items_alike_p = 0.4;
    expect(&e, DDSC_LEVEL_ONE_CLOUD, "(p 0.4)");
    assert_true(verdict_names_outliers(&e));
    e.halves = 0.85;
    expect(&e, DDSC_LEVEL_CONTINUUM, "as dense across the boundaries");
    e.halves = 0.75;
    e.items_alike_p = 0.005;
    expect(&e, DDSC_LEVEL_CONTINUUM, "the items differ (p 0.005)");
    e.items_alike_p = 0.4;
    e.items = 5; /* too few across the gap for the score to prove anything */
    assert_int_equal(verdict_level(&e), DDSC_LEVEL_CONTINUUM);
}

static void test_continuum(void **state)
{
    (void)state;
    verdict_evidence e = touching();
    expect(&e, DDSC_LEVEL_CONTINUUM, "no gap is deeper");
    assert_false(verdict_asks_points(&e));
    e.score = 4;
    e.held = -0.5;
    expect(&e, DDSC_LEVEL_CONTINUUM, "not confirmed by items that were not used");
}

static void test_too_few(void **state)
{
    (void)state;
    verdict_evidence e = touching();
    e.n = 59;
    assert_true(verdict_asks_points(&e));
    expect(&e, DDSC_LEVEL_TOO_FEW, "59 items cannot");
    e.items_alike_p = 0.005;
    expect(&e, DDSC_LEVEL_TOO_FEW, "the items differ by more than chance");
    e = touching();
    e.k = 1;
    expect(&e, DDSC_LEVEL_TOO_FEW, "one cluster");
    e = touching();
    e.copies = true;
    e.n_parted = 8;
    expect(&e, DDSC_LEVEL_TOO_FEW, "exact copies");
    e.n_examined = 0;
    expect(&e, DDSC_LEVEL_TOO_FEW, "does not build a graph");
}

/* ---- the table ---- */

static void test_words(void **state)
{
    (void)state;
    static const char *const names[] = {"too_few",      "one_cloud", "continuum",
                                        "reproducible", "partly",    "separate"};
    static const char *const old[] = {"undecided", "none", "weak", "weak", "clear", "clear"};
    for (int level = 0; level <= DDSC_LEVEL_SEPARATE; level++) {
        const ddsc_level_words *w = ddsc_level_get_words((ddsc_level)level);
        assert_string_equal(w->name, names[level]);
        assert_true(*w->color && *w->sentence && *w->next_step && w->before && w->after);
        ddsc_structure structure = verdict_structure((ddsc_level)level);
        assert_string_equal(ddsc_structure_get_words(structure)->name, old[level]);
    }
    assert_null(ddsc_level_get_words((ddsc_level)6));
}

/* ---- thresholds ---- */

static void test_scores_by_size(void **state)
{
    (void)state;
    assert_true(verdict_clear_from(800, 800) == 3.5 && verdict_clear_from(800, 100) == 3.5);
    assert_true(verdict_clear_from(800, 50) < 3.5 && verdict_clear_from(800, 50) >= 2.5);
    assert_true(verdict_clear_from(800, 5) == verdict_asked_from(800));
    assert_true(fabs(verdict_clear_from(12800, 12800) - 7) < 1e-12);
    for (int64_t size = 2; size < 400; size++)
        assert_true(verdict_clear_from(400, size) <= verdict_clear_from(400, size + 1));
}

/* ---- steps ---- */

/* Returns the step ratio of points on a line. */
static double ratio_of(const double *x, int64_t n, int64_t *n_parts, int32_t *part)
{
    ddsc_context *ctx = test_context(1, 0);
    ddsc_graph_settings set;
    ddsc_graph *g;
    double ratio;
    ddsc_graph_settings_init(&set);
    set.tau = 4;
    assert_int_equal(ddsc_graph_create_from_vectors(ctx, &g, n, 1, x, &set), DDSC_OK);
    assert_int_equal(g->tau, 4);
    assert_int_equal(verdict_step_ratio(ctx, &ratio, n_parts, part, g), DDSC_OK);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
    return ratio;
}

static void test_steps(void **state)
{
    (void)state;
    enum { N = 12 };
    int64_t n_parts;
    int32_t part[N];
    double x[N] = {0, 1, 2, 3.5, 10, 11, 12, 13, 30, 31, 32, 33};
    /* two parts: 17 / 6.5; three parts: 6.5 / 1.5 */
    assert_true(fabs(ratio_of(x, N, &n_parts, part) - 6.5 / 1.5) < 1e-12);
    assert_int_equal(n_parts, 3);
    for (int i = 0; i < N; i++)
        assert_int_equal(part[i], part[i / 4 * 4]);
    assert_true(part[0] != part[4] && part[4] != part[8] && part[0] != part[8]);
    x[3] = 2;
    x[4] = x[5] = 11; /* steps of length 0 do not count, but others do */
    assert_true(fabs(ratio_of(x, N, &n_parts, part) - 9) < 1e-12);
    double pair[N] = {0, 1, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109};
    assert_true(ratio_of(pair, N, &n_parts, part) == 0); /* two items are not a part */
    double same[N] = {0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9};
    assert_true(ratio_of(same, N, &n_parts, part) == 0); /* copies are not evidence */
    assert_true(isnan(ratio_of(x, 5, &n_parts, part)));
    assert_true(verdict_steps_from(20) == 3 && verdict_steps_from(5) == 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separate),       cmocka_unit_test(test_partly),
        cmocka_unit_test(test_reproducible),   cmocka_unit_test(test_one_cloud),
        cmocka_unit_test(test_continuum),      cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_words),          cmocka_unit_test(test_steps),
        cmocka_unit_test(test_scores_by_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
