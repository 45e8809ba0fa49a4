/* Computes statistics along the order: the share of the variation, coordinates and words that
 * change, and associated metadata columns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "order.h"

/* ---- ranks ---- */

typedef struct ranked {
    double value;
    int64_t at;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

void order_ranks(double *x, int64_t n)
{
    ranked *all = cli_allocate((size_t)n + 1, sizeof *all);
    for (int64_t i = 0; i < n; i++)
        all[i] = (ranked){x[i], i};
    qsort(all, (size_t)n, sizeof *all, by_value);
    for (int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && !(all[end].value > all[begin].value);)
            end++;
        for (int64_t k = begin; k < end; k++)
            x[all[k].at] = (double)(begin + end - 1) / 2;
    }
    free(all);
}

double order_correlation(const double *x, const double *y, int64_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* ---- share of the variation ---- */

/* Pairs of large items are expensive to compare by transport, so fewer of them are sampled. */
static int64_t sample_size(const result_items *items)
{
    const ddsc_measures_view *v = &items->in.view;
    double points = (double)v->n_entries / (double)v->n_items;
    ddsc_metric metric = items->view.metric;
    bool cheap = metric == DDSC_METRIC_MMD || metric == DDSC_METRIC_LOT;
    return cheap || points <= 100 ? 200 : points <= 400 ? 100 : 60;
}

/* Double-centers squared distances in place and returns the trace of the result. */
static double center(double *g, int64_t n)
{
    double *mean = cli_allocate((size_t)n, sizeof *mean), all = 0, trace = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            if (i == j)
                g[i * n + j] = 0;
            mean[i] += g[i * n + j] / (double)n;
        }
    for (int64_t i = 0; i < n; i++)
        all += mean[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            g[i * n + j] = -0.5 * (g[i * n + j] - mean[i] - mean[j] + all);
    for (int64_t i = 0; i < n; i++)
        trace += g[i * n + i];
    free(mean);
    return trace;
}

/* Removes the first `count` orthonormal rows from x and normalizes it. */
static void orthogonalize(double *x, const double *rows, int64_t count, int64_t n)
{
    double length = 0;
    for (int twice = 0; twice < 2; twice++)
        for (int64_t q = 0; q < count; q++) {
            double along = 0;
            for (int64_t i = 0; i < n; i++)
                along += x[i] * rows[q * n + i];
            for (int64_t i = 0; i < n; i++)
                x[i] -= along * rows[q * n + i];
        }
    for (int64_t i = 0; i < n; i++)
        length += x[i] * x[i];
    for (int64_t i = 0; i < n; i++)
        x[i] /= length > 0 ? sqrt(length) : 1;
}

/* Computes y = g x and returns x . y. */
static double multiply(double *y, const double *g, const double *x, int64_t n)
{
    double product = 0;
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < n; j++)
            y[i] += g[i * n + j] * x[j];
        product += x[i] * y[i];
    }
    return product;
}

enum { DEGREE = 3, POWER_STEPS = 200 };

/* Returns the largest eigenvalue of the matrix of products of the rows with g, which has DEGREE
 * rows and columns. */
static double largest_within(const double *rows, const double *g, int64_t n)
{
    double product[DEGREE][DEGREE], x[DEGREE], value = 0;
    double *y = cli_allocate((size_t)n, sizeof *y);
    for (int a = 0; a < DEGREE; a++) {
        multiply(y, g, rows + a * n, n);
        for (int b = 0; b < DEGREE; b++) {
            product[a][b] = 0;
            for (int64_t i = 0; i < n; i++)
                product[a][b] += y[i] * rows[b * n + i];
        }
        x[a] = 1.0 / (a + 2);
    }
    for (int step = 0; step < POWER_STEPS; step++) {
        double z[DEGREE] = {0}, length = 0;
        for (int a = 0; a < DEGREE; a++) {
            for (int b = 0; b < DEGREE; b++)
                z[a] += product[a][b] * x[b];
            length += z[a] * z[a];
        }
        value = sqrt(length);
        for (int a = 0; a < DEGREE && length > 0; a++)
            x[a] = z[a] / value;
    }
    free(y);
    return value;
}

/* The variation along the order is the part that a cubic polynomial of the position explains, so
 * that curved paths count as one direction. The variation along the next direction is the largest
 * eigenvalue of the remainder. */
static void find_shares(order_result *r, double *g, int64_t n)
{
    double *rows = cli_allocate((DEGREE + 1) * (size_t)n, sizeof *rows);
    double *x = cli_allocate(2 * (size_t)n, sizeof *x), *y = x + n;
    double trace = center(g, n), explained = 0, next = 0;
    for (int64_t q = 0; q <= DEGREE; q++) {
        for (int64_t i = 0; i < n; i++)
            rows[q * n + i] = pow(2 * (double)i / (double)(n - 1) - 1, (double)q);
        orthogonalize(rows + q * n, rows, q, n);
        explained += multiply(y, g, rows + q * n, n);
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = sin(
            1 +
            12.9898 *
                (double)i); /* an arbitrary start vector; it must not be orthogonal to the result */
    orthogonalize(x, rows, DEGREE + 1, n);
    for (int step = 0; step < POWER_STEPS; step++) {
        next = multiply(y, g, x, n);
        memcpy(x, y, (size_t)n * sizeof *x);
        orthogonalize(x, rows, DEGREE + 1, n);
    }
    r->share = trace > 0 ? explained / trace : (double)NAN;
    r->main_share = trace > 0 ? largest_within(rows + n, g, n) / trace : (double)NAN;
    r->next_share = trace > 0 ? fmax(next, 0) / trace : (double)NAN;
    free(rows);
    free(x);
}

bool order_measure(session *s, const result_items *items, order_result *r, int *code)
{
    const ddsc_metric_settings *set = items->view.metric_settings;
    int64_t most = sample_size(items), n = r->n_ordered < most ? r->n_ordered : most;
    ddsc_measures *some = NULL;
    r->share = r->main_share = r->next_share = NAN;
    bool negative = set->metric == DDSC_METRIC_MMD && set->mmd_estimator == DDSC_MMD_UNBIASED;
    if (n < DEGREE + 3 || negative) /* unbiased estimates of squared distances may be negative */
        return true;
    int64_t *item = cli_allocate((size_t)n, sizeof *item);
    double *g = cli_allocate((size_t)(n * n), sizeof *g);
    /* The formula selects the same items if the order is reversed. */
    for (int64_t k = 0; k < n; k++)
        item[k] =
            r->item[2 * k < n ? k * (r->n_ordered - 1) / (n - 1)
                              : r->n_ordered - 1 - (n - 1 - k) * (r->n_ordered - 1) / (n - 1)];
    bool good =
        session_ok(s, ddsc_measures_copy_subset(s->ctx, &some, items->in.measures, n, item),
                   code) &&
        session_ok(s, ddsc_distance_run(s->ctx, g, NULL, some, set, DDSC_DISTANCE_SQUARED), code);
    if (good) {
        find_shares(r, g, n);
        r->n_sampled = n;
    }
    ddsc_measures_destroy(some);
    free(item);
    free(g);
    return good;
}

/* ---- traits ---- */

/* Width of the kernel of the smooth curves, as a share of the order. */
static const double CURVE_WIDTH = 0.1;
enum { MOST_TRAITS = 500 };

/* Smooths the values of the ordered items with a Gaussian kernel. The band is computed as for a
 * weighted mean of independent items. */
static void smooth(order_trait *t, const double *value, int64_t n)
{
    for (int c = 0; c < ORDER_CURVE; c++) {
        double at = (double)c / (ORDER_CURVE - 1), sum = 0, mass = 0, square = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < n; i++) {
                double off = ((double)i / (double)(n - 1) - at) / CURVE_WIDTH;
                double w = exp(-off * off / 2);
                mass += pass ? 0 : w;
                sum += pass ? 0 : w * value[i];
                double d = value[i] - sum / mass;
                square += pass ? w * w * d * d : 0;
            }
        t->curve[c] = sum / mass;
        t->half[c] = 1.96 * sqrt(square) / mass;
    }
}

static void add_trait(order_result *r, const char *name, const double *value)
{
    int64_t n = r->n_ordered;
    double *x = cli_allocate(2 * (size_t)n, sizeof *x), *place = x + n;
    order_trait *t = &r->traits[r->n_traits++];
    memcpy(x, value, (size_t)n * sizeof *x);
    order_ranks(x, n);
    for (int64_t i = 0; i < n; i++)
        place[i] = (double)i;
    t->name = cli_allocate(strlen(name) + 1, 1);
    memcpy(t->name, name, strlen(name) + 1);
    t->rho = order_correlation(x, place, n);
    smooth(t, value, n);
    free(x);
}

static int by_rho(const void *a, const void *b)
{
    const order_trait *x = a, *y = b;
    double u = fabs(x->rho), v = fabs(y->rho);
    return u > v ? -1 : u < v ? 1 : strcmp(x->name, y->name);
}

/* Computes the mean of a coordinate over the points of each ordered item. */
static void describe_coordinates(const result_items *items, order_result *r, double *value)
{
    const ddsc_measures_view *v = &items->in.view;
    int64_t n = v->dim < MOST_TRAITS ? v->dim : MOST_TRAITS;
    r->traits = cli_allocate((size_t)n + 1, sizeof *r->traits);
    for (int64_t c = 0; c < n; c++) {
        const char *name = ddsc_measures_get_coordinate_name(items->in.measures, c);
        char number[40];
        snprintf(number, sizeof number, "coordinate %lld", (long long)c + 1);
        for (int64_t k = 0; k < r->n_ordered; k++) {
            int64_t i = r->item[k];
            value[k] = 0;
            for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
                value[k] += v->weight[e] * v->support[(int64_t)v->index[e] * v->dim + c];
        }
        add_trait(r, name && *name ? name : number, value);
    }
}

/* Computes the share of each word in each ordered item. Only words that occur in at least 5% of the
 * items are used. */
static void describe_words(const result_items *items, order_result *r, double *value)
{
    const ddsc_measures_view *v = &items->in.view;
    int64_t *uses = cli_allocate((size_t)v->n_support + 1, sizeof *uses), n = 0;
    int64_t least = r->n_ordered / 20 > 3 ? r->n_ordered / 20 : 3;
    for (int64_t k = 0; k < r->n_ordered; k++)
        for (int64_t e = v->offset[r->item[k]]; e < v->offset[r->item[k] + 1]; e++)
            uses[v->index[e]]++;
    for (int64_t p = 0; p < v->n_support; p++)
        n += uses[p] >= least;
    r->words = n > 0;
    r->traits = cli_allocate((size_t)(n < MOST_TRAITS ? n : MOST_TRAITS) + 1, sizeof *r->traits);
    for (int64_t p = 0; p < v->n_support && r->n_traits < MOST_TRAITS; p++) {
        if (uses[p] < least)
            continue;
        for (int64_t k = 0; k < r->n_ordered; k++) {
            value[k] = 0;
            for (int64_t e = v->offset[r->item[k]]; e < v->offset[r->item[k] + 1]; e++)
                value[k] += v->index[e] == p ? v->weight[e] : 0;
        }
        add_trait(r, ddsc_measures_get_point_name(items->in.measures, p), value);
    }
    free(uses);
}

void order_describe(const result_items *items, order_result *r)
{
    double *value = cli_allocate((size_t)r->n_ordered + 1, sizeof *value);
    if (ddsc_measures_get_point_name(items->in.measures, 0) &&
        !ddsc_measures_has_types(items->in.measures))
        describe_words(items, r, value);
    if (!r->words) {
        free(r->traits);
        describe_coordinates(items, r, value);
    }
    qsort(r->traits, (size_t)r->n_traits, sizeof *r->traits, by_rho);
    free(value);
}

/* ---- metadata columns ---- */

enum { ORDER_DRAWS = 999, MOST_COMPARED = 1500, NUMBER_VALUES = 3 };

static bool is_missing(const char *value_text)
{
    static const char *const words[] = {"", "NA", "N/A", "NaN", "nan", "NULL", "null"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(value_text, words[k]) == 0)
            return true;
    return false;
}

/* Sets x to the ranks of the numbers. Returns false if the column contains other values or too few
 * distinct numbers. */
static bool take_numbers(double *x, const char **value_text, int64_t n)
{
    double low = INFINITY, high = -INFINITY;
    bool third = false;
    for (int64_t k = 0; k < n; k++) {
        char *end;
        x[k] = strtod(value_text[k], &end);
        if (end == value_text[k] || *end || !isfinite(x[k]))
            return false;
        low = fmin(low, x[k]);
        high = fmax(high, x[k]);
    }
    for (int64_t k = 0; k < n; k++)
        third = third || (x[k] > low && x[k] < high);
    order_ranks(x, n);
    return third;
}

/* Tests one column by an analysis of variance of the ranks. For a column of numbers, this is
 * equivalent to a test of the rank correlation. Columns that cannot be tested, such as constant
 * ones, are skipped. */
static bool compare_column(session *s, order_result *r, const char *name, const char **value_text,
                           const double *place, int64_t n, int *code)
{
    ddsc_permanova_settings set;
    ddsc_permanova *found = NULL;
    ddsc_permanova_view v;
    double *x = cli_allocate((size_t)n + 1, sizeof *x);
    double *d = cli_allocate((size_t)(n * n) + 1, sizeof *d);
    bool number = take_numbers(x, value_text, n);
    ddsc_column column = {
        .name = name, .text = number ? NULL : value_text, .number = number ? x : NULL};
    column.kind = number ? DDSC_COLUMN_NUMBER : DDSC_COLUMN_FACTOR;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            d[i * n + j] = fabs(place[i] - place[j]);
    ddsc_permanova_settings_init(&set);
    set.permutations = ORDER_DRAWS;
    ddsc_status status =
        n < 3 ? DDSC_ERROR_INPUT : ddsc_permanova_run(s->ctx, &found, n, d, 1, &column, &set);
    if (status >= 0) {
        order_column *c = &r->columns[r->n_columns++];
        ddsc_permanova_get_view(found, &v);
        *c = (order_column){.number = number, .r2 = v.rows[0]->r2, .p = v.rows[0]->p, .n = n};
        c->rho = number ? order_correlation(x, place, n) : (double)NAN;
        c->name = cli_allocate(strlen(name) + 1, 1);
        memcpy(c->name, name, strlen(name) + 1);
    }
    ddsc_permanova_destroy(found);
    free(x);
    free(d);
    return status == DDSC_ERROR_INPUT || session_ok(s, status, code);
}

/* Holm's procedure (1979). */
static void adjust(order_result *r)
{
    for (int64_t a = 0; a < r->n_columns; a++)
        for (int64_t b = 0; b < r->n_columns; b++) {
            int64_t before = 0;
            if (r->columns[b].p > r->columns[a].p)
                continue;
            for (int64_t c = 0; c < r->n_columns; c++)
                before += r->columns[c].p < r->columns[b].p;
            double p = fmin(1, r->columns[b].p * (double)(r->n_columns - before));
            r->columns[a].p_holm = fmax(r->columns[a].p_holm, p);
        }
}

bool order_compare(session *s, result_items *items, order_result *r, int *code)
{
    int64_t n_names = 0;
    bool good = true;
    while (items->columns[n_names])
        n_names++;
    /* In large sets, only evenly spaced items along the order are used. */
    int64_t n = r->n_ordered < MOST_COMPARED ? r->n_ordered : MOST_COMPARED;
    double *place = cli_allocate((size_t)n + 1, sizeof *place);
    const char **value_text = cli_allocate((size_t)n + 1, sizeof *value_text);
    r->columns = cli_allocate((size_t)n_names + 1, sizeof *r->columns);
    for (int64_t c = 0; good && c <= n_names; c++) {
        const char *name = c < n_names ? items->columns[c] : LOG_POINTS;
        const char *const *value = result_items_column(s, items, name, code);
        int64_t m = 0;
        for (int64_t k = 0; value && k < n; k++) {
            int64_t i = r->item[n > 1 ? k * (r->n_ordered - 1) / (n - 1) : 0];
            if (is_missing(value[i]))
                continue;
            value_text[m] = value[i];
            place[m++] = (double)r->rank[i];
        }
        order_ranks(place, m); /* ranks without gaps for missing values */
        good = value && compare_column(s, r, name, value_text, place, m, code);
    }
    adjust(r);
    free(place);
    free(value_text);
    return good;
}

void order_free(order_result *r)
{
    for (int64_t k = 0; k < r->n_traits; k++)
        free(r->traits[k].name);
    for (int64_t k = 0; k < r->n_columns; k++)
        free(r->columns[k].name);
    free(r->traits);
    free(r->columns);
    free(r->rank);
    free(r->item);
    *r = (order_result){0};
}
