/* --compress: merges the points of each item, and measures how much the distances change. The
 * distances between a few items are computed before and after merging, in a separate context. With
 * `auto` or P%, the number of points is chosen such that enough of the nearest neighbors are
 * preserved. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "json.h"

enum { PILOT_ITEMS = 24, PILOT_LEAST = 8, PILOT_NEAR = 5, LEVEL_FIRST = 16, LEVEL_LAST = 256 };
/* Maximum number of point pairs in the pilot. Exact W2 for this many pairs takes about 15 seconds
 * in 50 dimensions (`bench/cohort.py`). */
static const double PILOT_ARCS = 3e8;

typedef struct pilot {
    session *s;
    ddsc_context *ctx;
    ddsc_measures *few; /* the items of the pilot, before merging */
    int64_t n, near;    /* number of items; number of neighbors compared */
    double *before, *after, *error;
} pilot;

static void pilot_close(pilot *p)
{
    ddsc_measures_destroy(p->few);
    ddsc_context_destroy(p->ctx);
    free(p->before);
    free(p->after);
    free(p->error);
}

/* Returns true if the distances of the run depend only on the merged points and the settings. */
static bool has_distances(const session *s)
{
    const cli_options *o = &s->opt;
    return verb_has_option(s->verb, "metric") && o->method == METHOD_DDSC && !o->reference &&
           !o->cost_file;
}

/* Selects items spread evenly over the set: PILOT_ITEMS, or fewer if they are large. */
static int64_t pilot_items(const ddsc_measures_view *v, int64_t *item)
{
    int64_t n = v->n_items < PILOT_ITEMS ? v->n_items : PILOT_ITEMS;
    for (;; n--) {
        double sum = 0, squares = 0;
        for (int64_t k = 0; k < n; k++) {
            item[k] = k * v->n_items / n;
            double size = (double)(v->offset[item[k] + 1] - v->offset[item[k]]);
            sum += size;
            squares += size * size;
        }
        if (n <= PILOT_LEAST || (sum * sum - squares) / 2 <= PILOT_ARCS)
            return n;
    }
}

static ddsc_status distances(pilot *p, double *matrix, const ddsc_measures *set)
{
    return ddsc_distance_run(p->ctx, matrix, NULL, set, &p->s->set.metric, 0);
}

/* Opens the pilot and computes the distances before merging. Sets p->n to 0 if there are too few
 * items, the verb computes no distances, or the computation fails. In the last case, the run itself
 * reports the reason. */
static void pilot_open(pilot *p, session *s, const ddsc_measures *set)
{
    ddsc_measures_view v;
    int64_t item[PILOT_ITEMS];
    *p = (pilot){.s = s};
    ddsc_measures_get_view(set, &v);
    if (v.n_items < 3 || (!has_distances(s) && s->opt.compress > 0))
        return;
    int64_t n = pilot_items(&v, item);
    p->ctx = session_quiet_context(s);
    if (!p->ctx)
        return;
    p->before = cli_allocate((size_t)(n * n), sizeof *p->before);
    p->after = cli_allocate((size_t)(n * n), sizeof *p->after);
    p->error = cli_allocate((size_t)(n * n), sizeof *p->error);
    ddsc_status status = ddsc_measures_copy_subset(p->ctx, &p->few, set, n, item);
    if (status >= 0)
        status = distances(p, p->before, p->few);
    p->n = status >= 0 ? n : 0;
    p->near = n / PILOT_NEAR < PILOT_NEAR ? (n + PILOT_NEAR - 1) / PILOT_NEAR : PILOT_NEAR;
}

/* Returns true if j is one of the nearest neighbors of i. Ties go to the lower index. */
static bool is_near(const pilot *p, const double *matrix, int64_t i, int64_t j)
{
    const double *row = matrix + i * p->n;
    int64_t nearer = 0;
    for (int64_t k = 0; k < p->n; k++)
        nearer += k != i && (row[k] < row[j] || (row[k] == row[j] && k < j));
    return i != j && nearer < p->near;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compares the distances before and after merging. */
static ddsc_status pilot_compare(pilot *p, cli_merging *m, const ddsc_measures *merged)
{
    int64_t n_errors = 0, kept = 0;
    ddsc_status status = distances(p, p->after, merged);
    if (status < 0)
        return status;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double before = p->before[i * p->n + j], after = p->after[i * p->n + j];
            kept += is_near(p, p->before, i, j) && is_near(p, p->after, i, j);
            if (i < j && before > 0)
                p->error[n_errors++] = fabs(after - before) / before;
        }
    qsort(p->error, (size_t)n_errors, sizeof *p->error, compare);
    m->n_items = p->n;
    m->n_pairs = p->n * (p->n - 1) / 2;
    m->n_near = p->near;
    m->kept = (double)kept / (double)(p->n * p->near);
    m->error_median = n_errors > 0 ? p->error[(n_errors - 1) / 2] : 0;
    m->error_95 = n_errors > 0 ? p->error[(n_errors - 1) * 95 / 100] : 0;
    m->report.n_items = m->n_items;
    m->report.n_pairs = m->n_pairs;
    m->report.n_near = m->n_near;
    m->report.error_median = m->error_median;
    m->report.error_95 = m->error_95;
    m->report.kept = m->kept;
    return status;
}

/* Merges the pilot to 256, 128, ..., 16 points and chooses the smallest number that preserves
 * enough neighbors, or else the number that preserves the most. Each step merges the result of the
 * previous one further, which Ward's method permits. *points stays 0 if the items are too small to
 * be merged. */
static ddsc_status choose_points(pilot *p, double least, int64_t *points)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures_view v;
    ddsc_measures *from = NULL, *merged = NULL;
    double best = -1;
    ddsc_measures_get_view(p->few, &v);
    for (int64_t m = LEVEL_LAST; m >= LEVEL_FIRST && status >= 0; m /= 2) {
        cli_merging found = {0};
        if (2 * m * v.n_items > v.n_entries)
            continue;
        status = ddsc_measures_compress(p->ctx, &merged, NULL, from ? from : p->few, m);
        if (status >= 0)
            status = pilot_compare(p, &found, merged);
        ddsc_measures_destroy(from);
        from = merged;
        merged = NULL;
        if (found.kept >= least || found.kept > best)
            *points = m;
        best = fmax(best, found.kept);
    }
    ddsc_measures_destroy(from);
    return status;
}

/* Measures the accuracy of the merged set on the pilot's items. */
static void check(pilot *p, cli_merging *m, const ddsc_measures *merged)
{
    ddsc_measures_view v;
    ddsc_measures *few = NULL;
    int64_t item[PILOT_ITEMS];
    ddsc_measures_get_view(merged, &v);
    for (int64_t k = 0; k < p->n; k++)
        item[k] = k * v.n_items / p->n;
    if (ddsc_measures_copy_subset(p->ctx, &few, merged, p->n, item) >= 0)
        pilot_compare(p, m, few);
    ddsc_measures_destroy(few);
}

/* Adds a fraction as a percentage with at least two digits. */
static void add_percent(text *t, double fraction)
{
    text_addf(t, fraction < 0.095 ? "%.2g%%" : "%.0f%%", 100 * fraction);
}

static void add_accuracy(text *t, const session *s, const cli_merging *m)
{
    text_addf(t,
              "at most %" PRId64 " point%s per item. On %" PRId64 " pairs of %" PRId64
              " items, D changes by ",
              m->points, m->points == 1 ? "" : "s", m->n_pairs, m->n_items);
    add_percent(t, m->error_median);
    text_add(t, " (median; 95% quantile: ");
    add_percent(t, m->error_95);
    text_addf(t, "), and %.0f%% of the %" PRId64 " nearest neighbors stay the same", 100 * m->kept,
              m->n_near);
    if (s->opt.compress < 0 && m->kept < s->opt.compress_keep)
        text_addf(t, ", fewer than the %.0f%% requested", 100 * s->opt.compress_keep);
}

static void report(const session *s, const cli_merging *m)
{
    text t = {0};
    if (m->points == 0)
        text_addf(&t,
                  "no points were merged, because this requires at least 3 items with a mean of %d "
                  "points or more per item; use --compress M",
                  2 * LEVEL_FIRST);
    else if (m->n_pairs > 0)
        add_accuracy(&t, s, m);
    if (t.length > 0)
        message_note(s, "compress: ", text_get(&t));
    text_free(&t);
}

ddsc_status input_compress(session *s, cli_merging *m, ddsc_measures **copy,
                           const ddsc_measures *set)
{
    ddsc_status status = DDSC_OK;
    pilot p;
    *m = (cli_merging){.points = s->opt.compress > 0 ? s->opt.compress : 0};
    ddsc_compress_report_init(&m->report);
    pilot_open(&p, s, set);
    if (m->points == 0 && p.n > 0 && choose_points(&p, s->opt.compress_keep, &m->points) < 0)
        m->points = 0;
    if (m->points > 0)
        status = ddsc_measures_compress(s->ctx, copy, &m->report, set, m->points);
    if (status >= 0 && m->points > 0 && p.n > 0)
        check(&p, m, *copy);
    if (status >= 0 && !s->opt.quiet)
        report(s, m);
    pilot_close(&p);
    return status;
}

void json_put_merging(json_t *root, const cli_merging *m)
{
    if (m->points == 0)
        return;
    json_t *c = json_put_object(root, "compress");
    json_put_count(c, "m", m->points);
    json_put_count(c, "points_before", m->report.n_before);
    json_put_count(c, "points_after", m->report.n_after);
    json_put_real(c, "mean_w2", m->report.mean_w2);
    json_put_real(c, "max_w2", m->report.max_w2);
    if (m->n_pairs == 0)
        return;
    json_put_count(c, "sample_pairs", m->n_pairs);
    json_put_count(c, "sample_items", m->n_items);
    json_put_real(c, "error_median", m->error_median);
    json_put_real(c, "error_95", m->error_95);
    json_put_count(c, "neighbors", m->n_near);
    json_put_real(c, "neighbors_kept", m->kept);
}
