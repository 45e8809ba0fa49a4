/* The choice of a search as a value: the path, the reason and the description expected for settings
 * and facts. Only the last test runs a search; it creates the second plan from a small graph. */
#include <stdlib.h>

#include "graph_support.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"

enum { N = 1000 };

#define METRIC(...)                         \
    {                                       \
        .metric = "w2", .n = N, __VA_ARGS__ \
    }
#define BOUNDS METRIC(.bounds = true)
#define ROWS(items)                                 \
    {                                               \
        .metric = "mmd", .n = (items), .rows = true \
    }

typedef struct choice {
    plan_facts facts;
    int exact_graph, neighbors; /* ddsc_exact_graph, ddsc_neighbors; 0: AUTO */
    double sample, columns;     /* 0: 1 */
    bool fills;
    plan_path path;
    plan_reason why;
    const char *words; /* before the metric is open */
} choice;

static const choice choices[] = {
    /* a metric with lower bounds */
    {BOUNDS, .path = PLAN_PRUNED, .why = PLAN_CHEAP_BOUNDS,
     .words = "lower bounds cost less than solves; bound levels: first"},
    {BOUNDS, .exact_graph = DDSC_GRAPH_PRUNED, .path = PLAN_PRUNED, .why = PLAN_ASKED,
     .words = "requested; bound levels: first"},
    {BOUNDS, .exact_graph = DDSC_GRAPH_FULL, .path = PLAN_FULL, .why = PLAN_ALL_ASKED,
     .words = "w2: all pairs were requested, 1000 items"},
    {METRIC(.bounds = true, .against = "few iterations"), .path = PLAN_FULL, .why = PLAN_ADVISED,
     .words = "w2: few iterations, 1000 items"},
    {METRIC(.bounds = true, .against = "few iterations"), .exact_graph = DDSC_GRAPH_PRUNED,
     .path = PLAN_PRUNED, .why = PLAN_ASKED, .words = "requested; bound levels: first"},
    {{.metric = "w2", .n = 1, .bounds = true},
     .path = PLAN_FULL,
     .why = PLAN_NO_PAIRS,
     .words = "w2: no pairs, 1 items"},
    /* a sample of the pairs, of the columns */
    {BOUNDS, .sample = 0.5, .path = PLAN_FULL, .why = PLAN_SAMPLE_ASKED,
     .words = "w2: a sample of the pairs was requested, 1000 items"},
    {BOUNDS, .sample = 0.5, .fills = true, .path = PLAN_SAMPLED, .why = PLAN_SAMPLE_ASKED,
     .words = "a sample of the pairs was requested"},
    {ROWS(N), .sample = 0.5, .fills = true, .path = PLAN_SAMPLED, .why = PLAN_SAMPLE_ASKED,
     .words = "a sample of the pairs was requested"},
    {BOUNDS, .columns = 0.1, .path = PLAN_COLUMNS, .why = PLAN_ASKED,
     .words = "requested: 100 of 1000 columns"},
    {{.metric = "w2", .n = 1, .bounds = true},
     .columns = 0.1,
     .path = PLAN_FULL,
     .why = PLAN_NO_PAIRS,
     .words = "w2: no pairs, 1 items"},
    /* a metric with rows for a prefilter */
    {ROWS(PREFILTER_ITEMS), .path = PLAN_PREFILTER, .words = "2000 items, rows of 0 floats"},
    {ROWS(N), .exact_graph = DDSC_GRAPH_PRUNED, .path = PLAN_PREFILTER,
     .words = "1000 items, rows of 0 floats"},
    {ROWS(PREFILTER_ITEMS - 1), .path = PLAN_FULL, .why = PLAN_FEW_ITEMS,
     .words = "mmd: too few items for a prefilter, 1999 items"},
    {ROWS(PREFILTER_ITEMS), .exact_graph = DDSC_GRAPH_FULL, .path = PLAN_FULL,
     .why = PLAN_NO_BOUNDS, .words = "mmd: no lower bounds, 2000 items"},
    {METRIC(.rows = false), .path = PLAN_FULL, .why = PLAN_NO_BOUNDS,
     .words = "w2: no lower bounds, 1000 items"},
    /* approximate searches */
    {BOUNDS, .neighbors = DDSC_NEIGHBORS_APPROXIMATE, .path = PLAN_APPROXIMATE, .why = PLAN_ASKED,
     .words = "requested: 1000 items (exact up to 100000)"},
    {{.metric = "w2", .n = EXACT_ITEMS + 1, .bounds = true},
     .path = PLAN_APPROXIMATE,
     .why = PLAN_MANY_ITEMS,
     .words = "large set: 100001 items (exact up to 100000)"},
    {{.metric = "w2", .n = EXACT_ITEMS, .bounds = true},
     .path = PLAN_PRUNED,
     .why = PLAN_CHEAP_BOUNDS,
     .words = "lower bounds cost less than solves; bound levels: first"},
    {{.metric = "w2", .n = EXACT_ITEMS + 1, .bounds = true},
     .neighbors = DDSC_NEIGHBORS_EXACT,
     .path = PLAN_PRUNED,
     .why = PLAN_CHEAP_BOUNDS,
     .words = "lower bounds cost less than solves; bound levels: first"},
    {{.metric = "w2", .n = 2, .bounds = true},
     .neighbors = DDSC_NEIGHBORS_APPROXIMATE,
     .path = PLAN_FULL,
     .why = PLAN_ALL_NEAR,
     .words = "w2: all items are neighbors, 2 items"},
    /* tau is 12: the whole matrix, unless a pruned search is requested */
    {{.metric = "w2", .n = 13, .bounds = true},
     .path = PLAN_FULL,
     .why = PLAN_ALL_NEAR,
     .words = "w2: all items are neighbors, 13 items"},
    {{.metric = "w2", .n = 14, .bounds = true},
     .path = PLAN_PRUNED,
     .why = PLAN_CHEAP_BOUNDS,
     .words = "lower bounds cost less than solves; bound levels: first"},
    /* rows of numbers, a precomputed matrix */
    {{.input = PLAN_OF_VECTORS, .metric = "vectors", .n = N, .rows = true},
     .exact_graph = DDSC_GRAPH_FULL,
     .path = PLAN_FULL,
     .why = PLAN_ALL_ASKED,
     .words = "vectors: all pairs were requested, 1000 items"},
    {{.input = PLAN_OF_VECTORS, .metric = "vectors", .n = EXACT_ITEMS + 1, .rows = true},
     .path = PLAN_PREFILTER,
     .words = "100001 items, rows of 0 floats"},
    {{.input = PLAN_OF_MATRIX, .n = N}, .path = PLAN_MATRIX, .words = ""},
    {{.input = PLAN_OF_MATRIX, .n = N},
     .columns = 0.5,
     .path = PLAN_COLUMNS,
     .why = PLAN_ASKED,
     .words = "requested: 500 of 1000 columns"},
    /* new items and old items: only pruned search and all pairs */
    {METRIC(.bounds = true, .n_old = 900), .path = PLAN_PRUNED, .why = PLAN_CHEAP_BOUNDS,
     .words = "lower bounds cost less than solves; bound levels: first"},
    {{.metric = "mmd", .n = EXACT_ITEMS + 1, .n_old = 900, .rows = true},
     .path = PLAN_FULL,
     .why = PLAN_NO_BOUNDS,
     .words = "mmd: no lower bounds"},
};

static ddsc_graph_settings settings_of(const choice *c)
{
    ddsc_graph_settings set = graph_settings(0, c->sample > 0 ? c->sample : 1);
    set.exact_graph = (ddsc_exact_graph)c->exact_graph;
    set.neighbors = (ddsc_neighbors)c->neighbors;
    set.sample_columns = c->columns > 0 ? c->columns : 1;
    set.hubs = DDSC_HUBS_AUTO;
    return set;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
        const choice *c = &choices[k];
        ddsc_graph_settings set = settings_of(c);
        search_plan p = plan_choose(&c->facts, &set, 12, c->fills);
        char words[256];
        plan_describe(&p, words, sizeof words);
        assert_string_equal(words, c->words);
        assert_string_equal(plan_path_name(p.path), plan_path_name(c->path));
        assert_int_equal(p.why, c->why);
        assert_int_equal(p.tau, 12);
        assert_true(p.sample == (c->facts.n_old > 0 ? 1 : set.sample));
        assert_int_equal(p.hubs, c->facts.n_old > 0 ? DDSC_HUBS_OFF : DDSC_HUBS_AUTO);
        assert_int_equal(p.hubs_tau, plan_tau_for_count(c->facts.n, &set));
        assert_int_equal(p.must_prefilter,
                         p.path == PLAN_PREFILTER && set.exact_graph == DDSC_GRAPH_PRUNED);
        bool services = c->facts.input == PLAN_OF_METRIC && p.path != PLAN_COLUMNS;
        assert_int_equal(p.keeps_values, services && c->facts.n_old == 0);
        assert_null(p.by);
        set.hubs = DDSC_HUBS_OFF;
        assert_false(plan_choose(&c->facts, &set, 12, c->fills).keeps_values);
    }
}

/* Facts that are known after the metric is opened, and the plan that replaces an unsuitable
 * prefilter. */
static void test_words(void **state)
{
    (void)state;
    plan_facts facts = ROWS(PREFILTER_ITEMS);
    ddsc_graph_settings set = graph_settings(0, 1);
    search_plan p = plan_choose(&facts, &set, 12, false), full;
    char words[256];
    p.row_columns = 64;
    plan_describe(&p, words, sizeof words);
    assert_string_equal(words, "2000 items, rows of 64 floats");
    full = plan_without_prefilter(p, PLAN_ROUNDING);
    assert_int_equal(full.path, PLAN_FULL);
    plan_describe(&full, words, sizeof words);
    assert_string_equal(words, "mmd: rounding errors left too many items undecided, 2000 items");
    full = plan_without_prefilter(p, PLAN_NO_ROWS);
    plan_describe(&full, words, sizeof words);
    assert_string_equal(words, "mmd: no float rows with error bounds, 2000 items");
    facts = (plan_facts)BOUNDS;
    p = plan_choose(&facts, &set, 12, false);
    p.level[BOUND_CUT] = p.level[BOUND_TIGHT] = true;
    plan_describe(&p, words, sizeof words);
    assert_string_equal(words,
                        "lower bounds cost less than solves; bound levels: first, cut, tight");
}

/* The second plan is the first plan with scales, and the first plan does not change. */
static void test_second(void **state)
{
    (void)state;
    enum { FEW = 60 };
    ddsc_context *ctx = test_context(1, 1);
    double *d2 = tied_matrix(FEW);
    for (int64_t k = 0; k < FEW * FEW; k++)
        d2[k] = d2[k] < 0 ? -d2[k] : d2[k];
    for (int64_t i = 0; i < FEW; i++)
        d2[i * FEW + i] = 0;
    ddsc_graph_settings set = graph_settings(5, 1);
    ddsc_graph *g;
    set.hubs = DDSC_HUBS_OFF;
    assert_int_equal(ddsc_graph_create_from_matrix(ctx, &g, FEW, d2, DDSC_DISTANCE_SQUARED, &set),
                     DDSC_OK);
    for (int rule = DDSC_HUBS_OFF; rule <= DDSC_HUBS_ALWAYS; rule++) {
        plan_facts facts = BOUNDS;
        set.hubs = rule;
        facts.n = FEW;
        search_plan first = plan_choose(&facts, &set, 5, false), copy = first;
        rescaled_plan second;
        assert_int_equal(plan_rescale(ctx, &second, &first, g), DDSC_OK);
        assert_memory_equal(&first, &copy, sizeof first);
        assert_true(rule == DDSC_HUBS_AUTO || second.needed == (rule == DDSC_HUBS_ALWAYS));
        if (second.needed) {
            assert_ptr_equal(second.plan.by, &second.scales);
            assert_true(first.keeps_values && !second.plan.keeps_values && second.nearest);
            assert_int_equal(second.plan.path, first.path);
            assert_int_equal(second.plan.tau, first.tau);
        }
        plan_rescale_free(ctx, &second);
    }
    ddsc_graph_destroy(g);
    free(d2);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_second)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
