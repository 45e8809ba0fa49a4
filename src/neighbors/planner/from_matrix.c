/* Builds a graph from a distance matrix of the caller. Checks every entry, and keeps the nearest
 * neighbors of each item. */
#include <math.h>

#include "neighbors/planner/plan.h"
#include "numeric/graph/graph.h"

struct given_matrix {
    ddsc_context *ctx;
    int64_t n;
    const double *value;
    bool squared;
};

static ddsc_status bad_entry(const given_matrix *t, int64_t i, int64_t j, const char *why)
{
    return ctx_fail(t->ctx, DDSC_ERROR_INPUT, "matrix entry (%lld, %lld) is %.15g: %s",
                    (long long)i, (long long)j, t->value[i * t->n + j], why);
}

/* Returns true if both entries are NaN, or if their relative difference is at most 1e-9. */
static bool agree(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return fabs(x - y) <= 1e-9 * BASE_MAX(fabs(x), fabs(y));
}

static ddsc_status check_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const given_matrix *t = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const double *row = t->value + i * t->n;
        if (!isnan(row[i]) && row[i] != 0)
            return bad_entry(t, i, i, "the diagonal must be 0");
        for (int64_t j = 0; j < t->n; j++) {
            double mirrored = t->value[j * t->n + i];
            if (isinf(row[j]) || (!t->squared && row[j] > 1e150))
                return bad_entry(t, i, j, "values must be at most 1e150, or NaN if unknown");
            if (row[j] < 0 && !t->squared)
                return bad_entry(t, i, j, "distances must not be negative");
            if (j > i && !agree(row[j], mirrored))
                return ctx_fail(t->ctx, DDSC_ERROR_INPUT,
                                "the matrix is not symmetric: entry (%lld, %lld) is %.17g, but "
                                "entry (%lld, %lld) is %.17g",
                                (long long)i, (long long)j, row[j], (long long)j, (long long)i,
                                mirrored);
        }
    }
    return DDSC_OK;
}

/* Rejects a matrix whose distances are so small that their squares underflow to 0. */
static ddsc_status check_squares(const given_matrix *t)
{
    double largest = 0;
    for (int64_t k = 0; !t->squared && k < t->n * t->n; k++)
        largest = fmax(largest, t->value[k]); /* fmax ignores NaN */
    if (largest == 0 || largest >= 1e-140)
        return DDSC_OK;
    return ctx_fail(t->ctx, DDSC_ERROR_INPUT,
                    "the largest distance in the matrix is %.3g, and its square is too small for a "
                    "double; multiply all distances by a constant",
                    largest);
}

typedef struct matrix_cut {
    const given_matrix *matrix;
    double sample;
    nearest near;
} matrix_cut;

/* Offers the values in a range of rows to the heaps. As in the tiles of a metric, the entry above
 * the diagonal is used for both items. */
static ddsc_status cut_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    matrix_cut *cut = arg;
    const given_matrix *t = cut->matrix;
    uint64_t seed = ctx_seed(t->ctx);
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = i + 1; j < t->n; j++) {
            double value = t->value[i * t->n + j] + 0.0;
            if (isnan(value) || (cut->sample < 1 && !pairs_sampled(seed, cut->sample, i, j)))
                continue;
            if (!t->squared)
                value *= value;
            nearest_offer(&cut->near, i, j, value);
        }
    return DDSC_OK;
}

static bool none_taken(const nearest *near, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += near->count[i];
    return count == 0;
}

/* Runs a search over sampled columns. The columns are drawn as for a metric. */
static ddsc_status run_columns(const given_matrix *t, ddsc_graph **graph, const search_plan *plan,
                               double fraction)
{
    ddsc_status status = DDSC_OK;
    column_set c;
    TRY(search_columns_draw(t->ctx, &c, t->n, fraction));
    for (int64_t i = 0; i < c.n; i++)
        for (int64_t a = 0; a < c.m; a++) {
            int64_t from = BASE_MIN(i, c.order[a]), to = BASE_MAX(i, c.order[a]);
            double value = from == to ? 0 : t->value[from * t->n + to] + 0.0;
            if (isnan(value))
                TRY(bad_entry(t, from, to,
                              "the sampled columns must not contain unknown values (NaN)"));
            c.d2[i * c.m + a] = t->squared ? value : value * value;
        }
    TRY(plan_run(t->ctx, graph, plan, &(plan_source){.columns = &c}));
done:
    search_columns_free(t->ctx, &c);
    return status;
}

ddsc_status plan_search_matrix(const given_matrix *matrix, ddsc_graph **graph,
                               const search_plan *plan)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = matrix->ctx;
    int64_t n = matrix->n;
    matrix_cut cut = {.matrix = matrix, .sample = plan->sample};
    TRY(nearest_create(ctx, &cut.near, 0, n, plan->tau));
    cut.near.by = plan->by;
    TRY(parallel_for(ctx, n, 16, cut_rows, &cut));
    if (plan->sample < 1 && n > 1 && none_taken(&cut.near, n))
        TRY(pairs_none_sampled(ctx, plan->sample, n));
    if (n > 1 && none_taken(&cut.near, n))
        TRY(ctx_fail(ctx, DDSC_ERROR_INPUT,
                     "the matrix contains no known distance between different items"));
    TRY(nearest_finish(ctx, &cut.near, graph));
done:
    nearest_free(ctx, &cut.near);
    return status;
}

ddsc_status ddsc_graph_create_from_matrix(ddsc_context *context, ddsc_graph **graph, int64_t n,
                                          const double *matrix, unsigned flags,
                                          const ddsc_graph_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph_settings set;
    int64_t size;
    CHECK(ctx_enter_new(context, graph));
    stage_enter(context, "graph");
    if (!matrix && n > 0)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                        "ddsc_graph_create_from_matrix: matrix is NULL");
    CHECK(ctx_check(context, mul_ok(n, n, &size), "n", (double)n,
                    "0 or positive, and small enough for n x n entries"));
    given_matrix t = {
        .ctx = context, .n = n, .value = matrix, .squared = (flags & DDSC_DISTANCE_SQUARED) != 0};
    TRY(ctx_check_flags(context, "ddsc_graph_create_from_matrix", flags, DDSC_DISTANCE_SQUARED));
    TRY(plan_take_graph(context, &set, settings, false));
    TRY(plan_check_pruned(context, set.exact_graph, "a finished matrix"));
    plan_warn_tau(context, n, &set);
    TRY(parallel_for(context, n, 16, check_rows, &t));
    TRY(check_squares(&t));
    plan_facts facts = {.input = PLAN_OF_MATRIX, .n = n};
    search_plan plan = plan_choose(&facts, &set, plan_tau_for_count(n, &set), false);
    plan_source from = {.matrix = &t};
    TRY(plan.path == PLAN_COLUMNS ? run_columns(&t, graph, &plan, set.sample_columns)
                                  : plan_run_spanned(context, graph, &plan, &from));
    graph_sort(*graph);
done:
    stage_leave(context, NULL);
    return status;
}
