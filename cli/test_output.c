/* Writes the result of a test as text and as JSON, with notes on its meaning. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "test_output.h"

/* ---- notes on the meaning of the results ---- */

static const double TEST_LEVEL = 0.05;

static void add_note(test_result *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_note(test_result *t, const char *format, ...)
{
    text words = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addv(&words, format, arguments);
    va_end(arguments);
    json_add(t->notes, json_from_text(text_get(&words)));
    text_free(&words);
}

/* Returns true if the column and the clusters are the same partition. */
static bool equals_clusters(const test_result *t, int64_t column)
{
    const char *const *value = t->columns->column[column].text;
    const int32_t *label = t->items->view.labels;
    for (int64_t a = 0; a < t->v.n_used; a++)
        for (int64_t b = 0; b < a; b++) {
            int64_t i = t->v.used[a], j = t->v.used[b];
            if ((strcmp(value[i], value[j]) == 0) != (label[i] == label[j]))
                return false;
        }
    return true;
}

static void note_row(test_result *t, const ddsc_permanova_row *r, int64_t column)
{
    if (r->role != DDSC_COLUMN_BY)
        return;
    if (r->kind == DDSC_COLUMN_FACTOR && equals_clusters(t, column))
        add_note(t,
                 "%s is the same partition as the clusters. If it was derived from them, p is "
                 "meaningless, because clusters are chosen to differ",
                 r->name);
    if (r->dispersion_p <= TEST_LEVEL)
        add_note(t,
                 "the classes of %s also differ in dispersion (p = %.3g), so they may differ in "
                 "spread as well as in position",
                 r->name, r->dispersion_p);
    if (r->smallest_p > TEST_LEVEL)
        add_note(t,
                 "%s has so few arrangements (%" PRId64 ") that p cannot be smaller than %.3g, so "
                 "this test can never be significant at 5%%",
                 r->name, r->n_permutations, r->smallest_p);
    if (r->whole_blocks && t->s->opt.block)
        add_note(t,
                 "%s is constant within blocks of %s, so whole blocks of equal size were permuted",
                 r->name, t->s->opt.block);
}

/* Warns that the number of points may explain the result. Drawing very few points per item would
 * discard most of the data, so at least POINTS_ENOUGH points are suggested. */
static void note_points(test_result *t)
{
    enum { POINTS_ENOUGH = 20 };
    text list = {0}, left = {0};
    int64_t wanted = t->v.points_smallest, few = 0;
    for (int64_t k = 0; k < t->v.n_rows; k++) {
        const ddsc_permanova_row *r = t->v.rows[k];
        if (r->role == DDSC_COLUMN_BY && r->points_p <= TEST_LEVEL)
            text_addf(&list, "%s%s", list.length ? ", " : "", r->name);
    }
    wanted = wanted < POINTS_ENOUGH ? POINTS_ENOUGH : wanted;
    for (int64_t k = 0; k < t->v.n_used; k++)
        few += t->items->points[t->v.used[k]] < wanted;
    if (few > 0)
        text_addf(&left, " and omits %" PRId64 " items that have fewer", few);
    if (t->v.points_warning)
        add_note(t,
                 "items have %" PRId64 " to %" PRId64
                 " points, and the number of points is associated with %s. Distances grow as the "
                 "number of points decreases, which alone can make a test significant%s. Remedy: "
                 "--per-item %" PRId64 " draws equal numbers of points%s",
                 t->v.points_smallest, t->v.points_largest, text_get(&list),
                 t->v.points_p <= TEST_LEVEL ? " (these distances are associated with it)" : "",
                 wanted, text_get(&left));
    text_free(&list);
    text_free(&left);
}

/* Adds a note if the test adjusts for log_points instead of using equal numbers of points. In
 * bench/permanova.py, 27.5% of such tests on null cohorts were significant. */
static void note_log_points(test_result *t)
{
    int64_t at = test_columns_find(t->columns, LOG_POINTS);
    if (at >= 0 && t->columns->column[at].role == DDSC_COLUMN_ADJUST)
        add_note(t, "--adjust " LOG_POINTS " removes the mean effect of the number of points, but "
                    "not the larger spread of items with few points. If classes differ in size, p "
                    "can be too small; --per-item N (equal numbers) is valid");
}

/* Items that --per-item leaves out have no values, but are not listed as such. */
static bool is_listed(const test_result *t, int64_t missing)
{
    return !t->items->is_small[t->v.missing[missing].item];
}

static void note_missing(test_result *t)
{
    text list = {0};
    enum { SHOWN = 10 };
    int64_t n = 0;
    if (t->items->n_small > 0)
        add_note(t, "%" PRId64 " items with fewer than %" PRId64 " points were omitted",
                 t->items->n_small, t->s->opt.transform.per_item);
    for (int64_t k = 0; k < t->v.n_missing; k++)
        if (is_listed(t, k) && n++ < SHOWN)
            text_addf(&list, "%s%s (%s)", n > 1 ? ", " : "",
                      result_items_id(t->items, t->v.missing[k].item),
                      t->columns->column[t->v.missing[k].column].name);
    if (n > 0)
        add_note(t, "%" PRId64 " items with missing values were omitted: %s%s",
                 t->v.n - t->v.n_used - t->items->n_small, text_get(&list),
                 n > SHOWN ? ", ..." : "");
    text_free(&list);
}

/* Finds the column of a row: rows are the columns without the blocks, in the same order. */
static int64_t column_of_row(const test_columns *c, int64_t row)
{
    int64_t k = 0;
    for (;; k++)
        if (c->column[k].role != DDSC_COLUMN_BLOCK && row-- == 0)
            return k;
}

void test_make_notes(test_result *t)
{
    note_missing(t);
    note_points(t);
    note_log_points(t);
    for (int64_t k = 0; k < t->v.n_rows; k++)
        note_row(t, t->v.rows[k], column_of_row(t->columns, k));
}

/* ---- as JSON ---- */

static json_t *levels_json(const ddsc_permanova_row *r)
{
    json_t *list = json_array();
    for (int64_t l = 0; l < r->n_levels; l++) {
        json_t *level = json_object();
        json_put_text(level, "name", r->levels[l]);
        json_put_count(level, "items", r->level_sizes[l]);
        if (r->mean_distance)
            json_put_real(level, "mean_distance", r->mean_distance[l]);
        json_add(list, level);
    }
    return list;
}

static json_t *row_json(const ddsc_permanova_row *r)
{
    json_t *row = json_object();
    bool tested = r->role == DDSC_COLUMN_BY;
    json_put_text(row, "column", r->name);
    json_put_text(row, "role", tested ? "by" : "adjust");
    json_put_text(row, "kind", r->kind == DDSC_COLUMN_NUMBER ? "number" : "factor");
    if (r->kind == DDSC_COLUMN_FACTOR)
        json_put(row, "levels", levels_json(r));
    json_put_count(row, "df", r->df);
    json_put_real(row, "sum_of_squares", r->sum_of_squares);
    json_put_real(row, "r2", r->r2);
    json_put_real(row, "f", r->f);
    json_put_real(row, "p", r->p);
    if (tested)
        json_put_real(row, "p_bh", r->p_adjusted);
    json_put_real(row, "smallest_p", r->smallest_p);
    json_put_count(row, "permutations", r->n_permutations);
    json_put_bool(row, "exhaustive", r->exhaustive);
    json_put_bool(row, "whole_blocks", r->whole_blocks);
    json_put_count(row, "residual_df", r->residual_df);
    if (r->mean_distance) {
        json_t *spread = json_put_object(row, "dispersion");
        json_put_real(spread, "f", r->dispersion_f);
        json_put_real(spread, "p", r->dispersion_p);
    }
    if (tested && !isnan(r->points_p)) {
        json_t *points = json_put_object(row, "points");
        json_put_real(points, "r2", r->points_r2);
        json_put_real(points, "p", r->points_p);
    }
    return row;
}

static json_t *pair_json(const ddsc_permanova_view *v, const ddsc_permanova_pair *p)
{
    json_t *row = json_object();
    const ddsc_permanova_row *of = v->rows[p->row];
    json_put_text(row, "column", of->name);
    json_put_text(row, "a", of->levels[p->a]);
    json_put_text(row, "b", of->levels[p->b]);
    json_put_count(row, "items_a", p->n_a);
    json_put_count(row, "items_b", p->n_b);
    json_put_real(row, "r2", p->r2);
    json_put_real(row, "f", p->f);
    json_put_real(row, "p", p->p);
    json_put_real(row, "p_holm", p->p_adjusted);
    json_put_real(row, "smallest_p", p->smallest_p);
    json_put_count(row, "permutations", p->n_permutations);
    json_put_bool(row, "exhaustive", p->exhaustive);
    if (p->problem)
        json_put_text(row, "problem", p->problem);
    return row;
}

static const char SCHEME[] = "raw: rows and columns of the centered matrix of squared distances "
                             "are permuted together; the metadata columns are not permuted";

json_t *test_to_json(const test_result *t, double seconds)
{
    const ddsc_permanova_view *v = &t->v;
    json_t *root = json_object(), *list;
    json_put_count(root, "n", v->n);
    json_put_count(root, "n_used", v->n_used);
    json_put_text(root, "metric",
                  t->s->opt.distances ? "given"
                                      : choice_name(choices_metric, (int)t->items->view.metric));
    json_put_text(root, "scheme", SCHEME);
    if (t->s->opt.block)
        json_put_text(root, "block", t->s->opt.block);
    list = json_put_array(root, "terms");
    for (int64_t k = 0; k < v->n_rows; k++)
        json_add(list, row_json(v->rows[k]));
    json_t *rest = json_put_object(root, "residual");
    json_put_count(rest, "df", v->residual_df);
    json_put_real(rest, "sum_of_squares", v->residual_sum_of_squares);
    json_put_real(root, "total_sum_of_squares", v->total_sum_of_squares);
    list = json_put_array(root, "pairs");
    for (int64_t k = 0; k < v->n_pairs; k++)
        json_add(list, pair_json(v, v->pairs[k]));
    list = json_put_array(root, "missing");
    for (int64_t k = 0; k < v->n_missing; k++) {
        if (!is_listed(t, k))
            continue;
        json_t *row = json_object();
        json_put_text(row, "id", result_items_id(t->items, v->missing[k].item));
        json_put_text(row, "column", t->columns->column[v->missing[k].column].name);
        json_add(list, row);
    }
    json_t *points = json_put_object(root, "points");
    json_put_count(points, "smallest", v->points_smallest);
    json_put_count(points, "largest", v->points_largest);
    json_put_count(points, "left_out", t->items->n_small);
    json_put_real(points, "r2", v->points_r2);
    json_put_real(points, "p", v->points_p);
    json_put_bool(points, "warning", v->points_warning != 0);
    json_put(root, "notes", json_incref(t->notes));
    json_put_real(root, "seconds", seconds);
    return root;
}

/* ---- as text ---- */

static void add_number(text *out, double value)
{
    if (isnan(value))
        text_addf(out, " %9s", "-");
    else
        text_addf(out, " %9.4g", value);
}

static void add_share(text *out, double value)
{
    if (isnan(value))
        add_number(out, value);
    else
        text_addf(out, " %9.5f", value);
}

static void add_row(text *out, const ddsc_permanova_row *r, bool many)
{
    char kind[48];
    if (r->kind == DDSC_COLUMN_NUMBER)
        snprintf(kind, sizeof kind, "number");
    else
        snprintf(kind, sizeof kind, "%" PRId64 " classes", r->n_levels);
    text_addf(out, "%-24s %-11s %-6s %3" PRId64, r->name, kind,
              r->role == DDSC_COLUMN_BY ? "tested" : "adjust", r->df);
    add_share(out, r->r2);
    add_number(out, r->f);
    add_number(out, r->p);
    if (many)
        add_number(out, r->role == DDSC_COLUMN_BY ? r->p_adjusted : (double)NAN);
    add_number(out, r->dispersion_p);
    text_add(out, "\n");
}

static void add_pairs(text *out, const ddsc_permanova_view *v)
{
    text_add(out,
             "\npairs of classes                            R^2         F         p    p Holm\n");
    for (int64_t k = 0; k < v->n_pairs; k++) {
        const ddsc_permanova_pair *p = v->pairs[k];
        const ddsc_permanova_row *r = v->rows[p->row];
        text pair = {0};
        text_addf(&pair, "%s: %s, %s", r->name, r->levels[p->a], r->levels[p->b]);
        text_addf(out, "%-37s", text_get(&pair));
        text_free(&pair);
        add_share(out, p->r2);
        add_number(out, p->f);
        add_number(out, p->p);
        add_number(out, p->p_adjusted);
        text_addf(out, "%s%s\n", p->problem ? "  " : "", p->problem ? p->problem : "");
    }
}

static void add_scheme(text *out, const test_result *t)
{
    for (int64_t k = 0; k < t->v.n_rows; k++) {
        const ddsc_permanova_row *r = t->v.rows[k];
        if (r->role != DDSC_COLUMN_BY)
            continue;
        text_addf(out, "%s: ", r->name);
        text_add_count(out, r->n_permutations);
        text_addf(out, " %s; the smallest possible p is %.3g\n",
                  r->exhaustive ? "distinct arrangements, all of them" : "random permutations",
                  r->smallest_p);
    }
}

void test_to_text(text *out, const test_result *t)
{
    const ddsc_permanova_view *v = &t->v;
    int64_t n_by = 0;
    for (int64_t k = 0; k < v->n_rows; k++)
        n_by += v->rows[k]->role == DDSC_COLUMN_BY;
    text_add(out, "distance-based analysis of variance of ");
    text_add_count(out, v->n_used);
    text_addf(out, " items; each column after %s\n\n",
              t->s->opt.separately ? "the covariates" : "all others");
    text_addf(out, "%-24s %-11s %-6s %3s %9s %9s %9s%s %9s\n", "column", "kind", "role", "df",
              "R^2", "F", "p", n_by > 1 ? "      p BH" : "", "spread p");
    for (int64_t k = 0; k < v->n_rows; k++)
        add_row(out, v->rows[k], n_by > 1);
    if (v->residual_df > 0) {
        text_addf(out, "%-24s %-11s %-6s %3" PRId64, "residual", "", "", v->residual_df);
        add_share(out, v->residual_sum_of_squares / v->total_sum_of_squares);
        text_add(out, "\n");
    }
    if (v->n_pairs > 0)
        add_pairs(out, v);
    text_add(out, "\n");
    add_scheme(out, t);
}
