/* Chooses the search for a graph from the settings and a few facts about the input. The thresholds
 * are in tuning.h. */
#include <math.h>
#include <stdio.h>

#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"

static const char *const path_names[] = {
    [PLAN_FULL] = "full",       [PLAN_PREFILTER] = "prefilter",     [PLAN_PRUNED] = "pruned",
    [PLAN_SAMPLED] = "sampled", [PLAN_APPROXIMATE] = "approximate", [PLAN_COLUMNS] = "columns",
    [PLAN_MATRIX] = "matrix"};

static const char *const reasons[] = {[PLAN_DEFAULT] = "",
                                      [PLAN_ASKED] = "requested",
                                      [PLAN_MANY_ITEMS] = "large set",
                                      [PLAN_CHEAP_BOUNDS] = "lower bounds cost less than solves",
                                      [PLAN_NO_BOUNDS] = "no lower bounds",
                                      [PLAN_ALL_ASKED] = "all pairs were requested",
                                      [PLAN_SAMPLE_ASKED] = "a sample of the pairs was requested",
                                      [PLAN_NO_PAIRS] = "no pairs",
                                      [PLAN_ALL_NEAR] = "all items are neighbors",
                                      [PLAN_FEW_ITEMS] = "too few items for a prefilter",
                                      [PLAN_NO_ROWS] = "no float rows with error bounds",
                                      [PLAN_ROUNDING] =
                                          "rounding errors left too many items undecided"};

/* ---- rules ---- */

static bool is_approximate(const plan_facts *f, const ddsc_graph_settings *set)
{
    bool asked = set->neighbors == DDSC_NEIGHBORS_APPROXIMATE;
    bool many = f->n > EXACT_ITEMS && set->neighbors != DDSC_NEIGHBORS_EXACT &&
                set->exact_graph == DDSC_GRAPH_AUTO && set->sample >= 1;
    return f->input == PLAN_OF_METRIC && f->n_old == 0 && f->n >= 3 && (asked || many);
}

/* Returns PLAN_ASKED or PLAN_CHEAP_BOUNDS if a pruned search should be used, and otherwise the
 * reason against it. A random sample of the pairs cannot be pruned. */
static plan_reason judge_pruned(const plan_facts *f, const ddsc_graph_settings *set, int64_t tau)
{
    if (f->input == PLAN_OF_VECTORS)
        return PLAN_ALL_ASKED;
    if (!f->bounds)
        return PLAN_NO_BOUNDS;
    if (set->exact_graph == DDSC_GRAPH_FULL)
        return PLAN_ALL_ASKED;
    if (set->sample < 1)
        return PLAN_SAMPLE_ASKED;
    if (f->n < 2)
        return PLAN_NO_PAIRS;
    if (set->exact_graph == DDSC_GRAPH_PRUNED)
        return PLAN_ASKED;
    if (f->n_old == 0 && tau >= f->n - 1)
        return PLAN_ALL_NEAR;
    return f->against ? PLAN_ADVISED : PLAN_CHEAP_BOUNDS;
}

/* Chooses a prefilter if the metric may have rows and there are enough items. Otherwise computes
 * all pairs, for the reason `why`. */
static void choose_unpruned(search_plan *p, const plan_facts *f, const ddsc_graph_settings *set,
                            plan_reason why)
{
    bool asked = set->exact_graph == DDSC_GRAPH_PRUNED;
    bool may = set->exact_graph != DDSC_GRAPH_FULL && set->sample >= 1 && f->n > 1 && f->n_old == 0;
    p->why = why;
    if (!may || !f->rows)
        return;
    if (asked || f->n >= PREFILTER_ITEMS) {
        p->path = PLAN_PREFILTER;
        p->why = PLAN_DEFAULT;
        p->must_prefilter = asked;
    } else {
        p->why = PLAN_FEW_ITEMS;
    }
}

static void choose_path(search_plan *p, const plan_facts *f, const ddsc_graph_settings *set,
                        bool fills)
{
    plan_reason why = judge_pruned(f, set, p->tau);
    if (f->n_old == 0 && set->sample_columns < 1 && f->n > 1) {
        p->path = PLAN_COLUMNS;
        p->why = PLAN_ASKED;
        p->n_columns = columns_of(f->n, set->sample_columns);
    } else if (f->input == PLAN_OF_MATRIX) {
        p->path = PLAN_MATRIX;
    } else if (is_approximate(f, set)) {
        p->path = PLAN_APPROXIMATE;
        p->why = set->neighbors == DDSC_NEIGHBORS_APPROXIMATE ? PLAN_ASKED : PLAN_MANY_ITEMS;
    } else if (why == PLAN_ASKED || why == PLAN_CHEAP_BOUNDS) {
        p->path = PLAN_PRUNED;
        p->why = why;
    } else if (fills && set->sample < 1 && f->n > 1) {
        p->path = PLAN_SAMPLED;
        p->why = PLAN_SAMPLE_ASKED;
    } else {
        choose_unpruned(p, f, set, why);
    }
}

search_plan plan_choose(const plan_facts *f, const ddsc_graph_settings *set, int64_t tau,
                        bool fills)
{
    search_plan p = {.metric = f->metric,
                     .against = f->against,
                     .n = f->n,
                     .n_old = f->n_old,
                     .tau = tau,
                     .sample = f->n_old > 0 ? 1 : set->sample,
                     .hubs = f->n_old > 0 ? DDSC_HUBS_OFF : set->hubs,
                     .hubs_tau = plan_tau_for_count(f->n, set)};
    choose_path(&p, f, set, fills);
    p.keeps_values =
        f->input == PLAN_OF_METRIC && p.hubs != DDSC_HUBS_OFF && p.path != PLAN_COLUMNS;
    return p;
}

search_plan plan_without_prefilter(search_plan plan, plan_reason why)
{
    plan.path = PLAN_FULL;
    plan.why = why;
    return plan;
}

/* ---- descriptions ---- */

const char *plan_path_name(plan_path path)
{
    return path_names[path];
}

void plan_describe(const search_plan *p, char *words, size_t size)
{
    const char *why = p->why == PLAN_ADVISED ? p->against : reasons[p->why];
    long long n = p->n;
    switch (p->path) {
    case PLAN_FULL:
        if (p->n_old > 0)
            snprintf(words, size, "%s: %s", p->metric, why);
        else
            snprintf(words, size, "%s: %s, %lld items", p->metric, why, n);
        return;
    case PLAN_PREFILTER:
        snprintf(words, size, "%lld items, rows of %lld floats", n, (long long)p->row_columns);
        return;
    case PLAN_PRUNED:
        snprintf(words, size, "%s; bound levels: first%s%s%s%s", why,
                 p->level[BOUND_FRAME] ? ", frame" : "", p->level[BOUND_CUT] ? ", cut" : "",
                 p->level[BOUND_DUAL] ? ", dual" : "", p->level[BOUND_TIGHT] ? ", tight" : "");
        return;
    case PLAN_APPROXIMATE:
        snprintf(words, size, "%s: %lld items (exact up to %d)", why, n, EXACT_ITEMS);
        return;
    case PLAN_COLUMNS:
        snprintf(words, size, "%s: %lld of %lld columns", why, (long long)p->n_columns, n);
        return;
    case PLAN_SAMPLED:
    case PLAN_MATRIX: snprintf(words, size, "%s", why); return;
    }
}
