/* Implements ddsc_permanova_run: reads the columns, runs one model per set of columns and per pair
 * of levels, and adjusts p for the number of tests. */
#include "assess/cohort/permanova.h"

#include <math.h>

#include "base/sized.h"

/* Number of permutations in the test of association with the number of points. A column is
 * associated with the number of points if p is at most POINTS_P. */
enum { PERMANOVA_POINTS_DRAWS = 999, PERMANOVA_MOST = 10000000 };
static const double POINTS_P = 0.05;

static const ddsc_permanova_settings defaults = {.permutations = 9999};
SIZED_INIT(settings_struct, ddsc_permanova_settings, points, &defaults);

struct ddsc_permanova {
    ddsc_context *ctx;
    ddsc_permanova_settings set;
    ddsc_permanova_view view;
    int64_t n_columns;
    variable *variables;     /* per column */
    variable points;         /* logarithms of the numbers of points; empty if not tested */
    const variable **chosen; /* buffer for the variables of one model */
    const variable *block;   /* or NULL */
    bool *used;              /* n */
    int64_t *items, n_missing_capacity;
    ddsc_permanova_missing *missing;
    ddsc_permanova_row *rows;
    const ddsc_permanova_row **row_list;
    permanova_effect *effects; /* one per column; owns the dispersion arrays */
    ddsc_permanova_pair *pairs;
    const ddsc_permanova_pair **pair_list;
    const double *distances;
};

/* ---- items and columns ---- */

/* Lists the missing values, and the items without any. */
static ddsc_status find_complete_items(ddsc_permanova *t, const ddsc_column *c)
{
    ddsc_context *ctx = t->ctx;
    int64_t n = t->view.n;
    CHECK(MEM_NEW(ctx, t->used, n));
    CHECK(MEM_NEW(ctx, t->items, n));
    for (int64_t i = 0; i < n; i++) {
        t->used[i] = true;
        for (int64_t k = 0; k < t->n_columns; k++) {
            if (!variable_is_missing(&c[k], i))
                continue;
            CHECK(MEM_RESERVE(ctx, t->missing, &t->n_missing_capacity, t->view.n_missing + 1));
            t->missing[t->view.n_missing++] = (ddsc_permanova_missing){i, k};
            t->used[i] = false;
        }
        if (t->used[i])
            t->items[t->view.n_used++] = i;
    }
    for (int64_t k = 0; k < t->n_columns; k++) {
        int64_t present = 0;
        for (int64_t i = 0; i < n; i++)
            present += !variable_is_missing(&c[k], i);
        if (present == 0)
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "column \"%.100s\" has no values: all %lld are "
                            "missing",
                            c[k].name, (long long)n);
    }
    t->view.used = t->items;
    t->view.missing = t->missing;
    if (t->view.n_used < 3)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "only %lld of %lld items have a value in all columns; the test needs at "
                        "least 3",
                        (long long)t->view.n_used, (long long)n);
    if (t->set.given && t->view.n_used < n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "permutations can be passed only if no value is missing");
    return DDSC_OK;
}

static ddsc_status take_variables(ddsc_permanova *t, const ddsc_column *c)
{
    CHECK(MEM_ZERO(t->ctx, t->variables, t->n_columns));
    CHECK(MEM_ZERO(t->ctx, t->chosen, t->n_columns + 1));
    for (int64_t k = 0; k < t->n_columns; k++) {
        CHECK(variable_make(t->ctx, &t->variables[k], &c[k], t->view.n, t->used));
        if (c[k].role == DDSC_COLUMN_BLOCK)
            t->block = &t->variables[k];
    }
    return DDSC_OK;
}

/* Creates a variable from the logarithms of the numbers of points, unless all items have the same
 * number. */
static ddsc_status log_of_points(ddsc_permanova *t)
{
    const int64_t *points = t->set.points;
    int64_t least = INT64_MAX, most = 0;
    t->view.points_r2 = t->view.points_p = NAN;
    for (int64_t k = 0; points && k < t->view.n_used; k++) {
        int64_t x = points[t->items[k]];
        CHECK(ctx_check(t->ctx, x >= 1, "points", (double)x, "at least 1"));
        least = BASE_MIN(least, x);
        most = BASE_MAX(most, x);
    }
    t->view.points_smallest = points ? least : 0;
    t->view.points_largest = most;
    if (!points || least == most)
        return DDSC_OK;
    t->points = (variable){.name = "number of points", .role = DDSC_COLUMN_BY, .number = true};
    CHECK(MEM_ZERO(t->ctx, t->points.x, t->view.n));
    for (int64_t k = 0; k < t->view.n_used; k++)
        t->points.x[t->items[k]] = log((double)points[t->items[k]]);
    return DDSC_OK;
}

/* ---- models ---- */

static permanova_model model_of(const ddsc_permanova *t, const int64_t *item, int64_t n)
{
    return (permanova_model){.distances = t->distances,
                             .n_all = t->view.n,
                             .squared = t->set.squared != 0,
                             .item = item,
                             .n = n,
                             .variables = t->chosen,
                             .block = t->block,
                             .permutations = t->set.permutations};
}

/* Chooses the covariates and the tested column `only` (all tested columns if `only` is negative).
 * Writes the numbers of the chosen columns to `column`. */
static int64_t choose(ddsc_permanova *t, int64_t only, int64_t *column)
{
    int64_t n = 0;
    for (int64_t k = 0; k < t->n_columns; k++) {
        ddsc_column_role role = t->variables[k].role;
        if (role == DDSC_COLUMN_ADJUST || (role == DDSC_COLUMN_BY && (only < 0 || only == k))) {
            column[n] = k;
            t->chosen[n++] = &t->variables[k];
        }
    }
    return n;
}

static void take_effect(ddsc_permanova_row *r, const permanova_effect *e, int64_t residual_df)
{
    r->df = e->df;
    r->sum_of_squares = e->sum_of_squares;
    r->r2 = e->r2;
    r->f = e->f;
    r->p = r->p_adjusted = e->p;
    r->n_permutations = e->n_permutations;
    r->exhaustive = e->exhaustive;
    r->smallest_p = e->smallest_p;
    r->whole_blocks = e->whole_blocks;
    r->residual_df = residual_df;
    r->dispersion_f = e->dispersion_f;
    r->dispersion_p = e->dispersion_p;
    r->distance_to_centroid = e->distance;
    r->mean_distance = e->mean_distance;
    r->points_r2 = e->points_r2;
    r->points_p = e->points_p;
}

static void effect_free(ddsc_context *ctx, permanova_effect *e)
{
    MEM_FREE(ctx, e->distance, e->mean_distance);
    e->distance = e->mean_distance = NULL;
}

/* Runs one model and stores the effects of its columns. A model with a single tested column does
 * not replace the effects that the first model stored for the covariates. */
static ddsc_status run_model(ddsc_permanova *t, int64_t only, const int64_t *row_of, bool first)
{
    ddsc_status status = DDSC_OK;
    permanova_total total;
    permanova_effect *effect = NULL;
    int64_t *column = NULL;
    permanova_model m = model_of(t, t->items, t->view.n_used);
    TRY(MEM_NEW(t->ctx, column, t->n_columns));
    TRY(MEM_ZERO(t->ctx, effect, t->n_columns));
    m.n_variables = choose(t, only, column);
    m.log_points = t->points.x;
    m.dispersion = true;
    m.given = t->set.given;
    m.n_given = t->set.n_given;
    m.part = 1;
    TRY(permanova_fit(t->ctx, effect, &total, &m));
    for (int64_t k = 0; k < m.n_variables; k++) {
        bool tested = t->variables[column[k]].role == DDSC_COLUMN_BY;
        if (!tested && !first)
            continue;
        t->effects[column[k]] = effect[k];
        effect[k].distance = effect[k].mean_distance = NULL;
        take_effect(&t->rows[row_of[column[k]]], &t->effects[column[k]], total.residual_df);
    }
    t->view.total_sum_of_squares = total.total;
    t->view.residual_sum_of_squares = total.residual;
    t->view.residual_df = total.residual_df;
done:
    for (int64_t k = 0; effect && k < t->n_columns; k++)
        effect_free(t->ctx, &effect[k]);
    MEM_FREE(t->ctx, effect, column);
    return status;
}

static void name_row(ddsc_permanova_row *r, const variable *v)
{
    *r = (ddsc_permanova_row){.name = v->name,
                              .role = v->role,
                              .kind = v->number ? DDSC_COLUMN_NUMBER : DDSC_COLUMN_FACTOR};
    if (!v->number) {
        r->n_levels = v->n_levels;
        r->levels = v->level;
        r->level_sizes = v->level_size;
    }
}

/* Adjusts p of the tested columns by the method of Benjamini and Hochberg (1995). The k-th smallest
 * of m values is multiplied by m / k. Then, starting from the largest, no result may exceed the
 * next larger one. */
static void adjust_columns(ddsc_permanova *t)
{
    int64_t n = t->view.n_rows, m = 0;
    for (int64_t a = 0; a < n; a++)
        m += t->rows[a].role == DDSC_COLUMN_BY;
    for (int64_t a = 0; a < n; a++) {
        double least = 1;
        t->rows[a].p_adjusted = NAN;
        if (t->rows[a].role != DDSC_COLUMN_BY)
            continue;
        for (int64_t b = 0; b < n; b++) {
            int64_t rank = 0;
            if (t->rows[b].role != DDSC_COLUMN_BY || t->rows[b].p < t->rows[a].p)
                continue;
            for (int64_t c = 0; c < n; c++)
                rank += t->rows[c].role == DDSC_COLUMN_BY && t->rows[c].p <= t->rows[b].p;
            least = fmin(least, t->rows[b].p * (double)m / (double)rank);
        }
        t->rows[a].p_adjusted = least;
    }
}

static ddsc_status test_columns(ddsc_permanova *t)
{
    ddsc_status status = DDSC_OK;
    int64_t *row_of = NULL, n_by = 0;
    TRY(MEM_NEW(t->ctx, row_of, t->n_columns));
    TRY(MEM_ZERO(t->ctx, t->rows, t->n_columns));
    TRY(MEM_ZERO(t->ctx, t->effects, t->n_columns));
    TRY(MEM_ZERO(t->ctx, t->row_list, t->n_columns));
    for (int64_t k = 0; k < t->n_columns; k++) {
        row_of[k] = t->view.n_rows;
        n_by += t->variables[k].role == DDSC_COLUMN_BY;
        if (t->variables[k].role == DDSC_COLUMN_BLOCK)
            continue;
        t->row_list[t->view.n_rows] = &t->rows[t->view.n_rows];
        name_row(&t->rows[t->view.n_rows++], &t->variables[k]);
    }
    t->view.rows = t->row_list;
    bool first = true;
    for (int64_t k = 0; t->set.separately && n_by > 1 && k < t->n_columns; k++)
        if (t->variables[k].role == DDSC_COLUMN_BY) {
            TRY(run_model(t, k, row_of, first));
            first = false;
        }
    if (first)
        TRY(run_model(t, -1, row_of, true));
    else {
        t->view.residual_sum_of_squares = NAN;
        t->view.residual_df = 0;
    }
    adjust_columns(t);
done:
    mem_free(t->ctx, row_of);
    return status;
}

/* ---- pairs of levels ---- */

/* Tests levels a and b of column k with the covariates, using only the items of both levels. */
static ddsc_status test_pair(ddsc_permanova *t, ddsc_permanova_pair *pair, int64_t k)
{
    ddsc_status status = DDSC_OK;
    permanova_total total;
    permanova_effect *effect = NULL;
    int64_t *item = NULL, *column = NULL, n = 0, at = 0;
    const variable *v = &t->variables[k];
    TRY(MEM_NEW(t->ctx, item, t->view.n_used));
    TRY(MEM_NEW(t->ctx, column, t->n_columns));
    TRY(MEM_ZERO(t->ctx, effect, t->n_columns));
    for (int64_t i = 0; i < t->view.n_used; i++) {
        int64_t level = (int64_t)v->x[t->items[i]];
        pair->n_a += level == pair->a;
        pair->n_b += level == pair->b;
        if (level == pair->a || level == pair->b)
            item[n++] = t->items[i];
    }
    permanova_model m = model_of(t, item, n);
    m.n_variables = choose(t, k, column);
    m.part = 2 + (uint64_t)t->view.n_pairs;
    status = n < 3 ? DDSC_ERROR_INPUT : permanova_fit(t->ctx, effect, &total, &m);
    if (status == DDSC_ERROR_INPUT) { /* continue with the other pairs */
        pair->problem =
            "there are too few items, or the other columns or the blocks determine the level";
        pair->r2 = pair->f = pair->p = pair->p_adjusted = pair->smallest_p = NAN;
        status = DDSC_OK;
        goto done;
    }
    TRY(status);
    while (column[at] != k)
        at++;
    pair->r2 = effect[at].r2;
    pair->f = effect[at].f;
    pair->p = pair->p_adjusted = effect[at].p;
    pair->n_permutations = effect[at].n_permutations;
    pair->exhaustive = effect[at].exhaustive;
    pair->smallest_p = effect[at].smallest_p;
done:
    for (int64_t j = 0; effect && j < t->n_columns; j++)
        effect_free(t->ctx, &effect[j]);
    MEM_FREE(t->ctx, item, column, effect);
    return status;
}

/* Adjusts p of n pairs by Holm's procedure (1979): the k-th smallest of m values is multiplied by m
 * + 1 - k, and no result may be less than the previous one. */
static void adjust_pairs(ddsc_permanova_pair *pair, int64_t n)
{
    int64_t m = 0;
    for (int64_t a = 0; a < n; a++)
        m += !isnan(pair[a].p);
    for (int64_t a = 0; a < n; a++) {
        double most = 0;
        for (int64_t b = 0; b < n; b++) {
            int64_t before = 0;
            if (!(pair[b].p <= pair[a].p))
                continue;
            for (int64_t c = 0; c < n; c++)
                before += pair[c].p < pair[b].p;
            most = fmax(most, pair[b].p * (double)(m - before));
        }
        if (!isnan(pair[a].p))
            pair[a].p_adjusted = fmin(most, 1);
    }
}

static ddsc_status test_pairs(ddsc_permanova *t)
{
    int64_t n = 0, row = 0;
    for (int64_t k = 0; k < t->n_columns; k++)
        if (t->variables[k].role == DDSC_COLUMN_BY && !t->variables[k].number)
            n += t->variables[k].n_levels * (t->variables[k].n_levels - 1) / 2;
    if (!t->set.pairwise || n == 0)
        return DDSC_OK;
    CHECK(MEM_ZERO(t->ctx, t->pairs, n));
    CHECK(MEM_NEW(t->ctx, t->pair_list, n));
    for (int64_t k = 0; k < t->n_columns; k++) {
        const variable *v = &t->variables[k];
        int64_t first = t->view.n_pairs;
        for (int64_t a = 0; v->role == DDSC_COLUMN_BY && !v->number && a < v->n_levels; a++)
            for (int64_t b = a + 1; b < v->n_levels; b++) {
                ddsc_permanova_pair *pair = &t->pairs[t->view.n_pairs];
                *pair = (ddsc_permanova_pair){.row = row, .a = a, .b = b};
                CHECK(test_pair(t, pair, k));
                t->pair_list[t->view.n_pairs++] = pair;
            }
        adjust_pairs(t->pairs + first, t->view.n_pairs - first);
        row += v->role != DDSC_COLUMN_BLOCK;
    }
    t->view.pairs = t->pair_list;
    return DDSC_OK;
}

/* ---- number of points ---- */

/* Tests whether the distances are associated with the number of points. */
static ddsc_status test_points(ddsc_permanova *t)
{
    permanova_total total;
    permanova_effect effect;
    if (!t->points.x)
        return DDSC_OK;
    t->chosen[0] = &t->points;
    permanova_model m = model_of(t, t->items, t->view.n_used);
    m.n_variables = 1;
    m.block = NULL;
    m.permutations = BASE_MIN(PERMANOVA_POINTS_DRAWS, t->set.permutations);
    CHECK(permanova_fit(t->ctx, &effect, &total, &m));
    t->view.points_r2 = effect.r2;
    t->view.points_p = effect.p;
    for (int64_t k = 0; k < t->view.n_rows; k++)
        if (t->rows[k].role == DDSC_COLUMN_BY && t->rows[k].points_p <= POINTS_P)
            t->view.points_warning = 1;
    return DDSC_OK;
}

/* ---- public ---- */

ddsc_status ddsc_permanova_run(ddsc_context *ctx, ddsc_permanova **permanova, int64_t n,
                               const double *distances, int64_t n_columns,
                               const ddsc_column *columns, const ddsc_permanova_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_permanova *t = NULL;
    ddsc_permanova_settings set;
    CHECK(ctx_enter_new(ctx, permanova));
    const char *before = stage_enter(ctx, "test");
    TRY(sized_take(ctx, &settings_struct, &set, settings));
    TRY(ctx_need(ctx, distances, "distances"));
    TRY(ctx_need(ctx, columns, "columns"));
    TRY(ctx_check(ctx, n >= 3 && n < INT32_MAX, "n", (double)n, "3 .. 2147483646"));
    TRY(ctx_check(ctx, set.permutations >= 1 && set.permutations <= PERMANOVA_MOST, "permutations",
                  (double)set.permutations, "1 .. 10000000"));
    TRY(ctx_check(ctx, !set.given || (set.n_given >= 1 && set.n_given <= PERMANOVA_MOST), "n_given",
                  (double)set.n_given, "1 .. 10000000"));
    TRY(variable_check_columns(ctx, columns, n_columns));
    TRY(permanova_check_distances(ctx, distances, n));
    if (set.given)
        TRY(shuffle_check(ctx, set.given, set.n_given, n));
    TRY(MEM_ZERO(ctx, t, 1));
    t->ctx = ctx;
    t->set = set;
    t->n_columns = n_columns;
    t->distances = distances;
    t->view.n = n;
    TRY(find_complete_items(t, columns));
    TRY(take_variables(t, columns));
    TRY(log_of_points(t));
    progress_begin(ctx, "permutations", 0);
    status = test_columns(t);
    if (status >= 0)
        status = test_points(t);
    if (status >= 0)
        status = test_pairs(t);
    progress_end(ctx);
    TRY(status);
    t->distances = NULL;
    t->set.given = NULL;
    t->set.points = NULL;
    *permanova = t;
    t = NULL;
done:
    ddsc_permanova_destroy(t);
    stage_leave(ctx, before);
    return status;
}

void ddsc_permanova_destroy(ddsc_permanova *t)
{
    if (!t)
        return;
    ddsc_context *ctx = t->ctx;
    for (int64_t k = 0; k < t->n_columns; k++) {
        if (t->variables)
            variable_free(ctx, &t->variables[k]);
        if (t->effects)
            effect_free(ctx, &t->effects[k]);
    }
    variable_free(ctx, &t->points);
    MEM_FREE(ctx, t->variables, t->chosen, t->used, t->items, t->missing, t->rows, t->row_list,
             t->effects, t->pairs, t->pair_list);
    mem_free(ctx, t);
}

SIZED_VIEW(ddsc_permanova, 0)
