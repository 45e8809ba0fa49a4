/* Compresses the items of a set, and measures how much the distances change. The distances between
 * the items of a small sample, called the pilot, are computed before and after merging, in a
 * separate context. If the number of points is not specified, the smallest number that preserves
 * enough nearest neighbors is chosen. */
#include <math.h>

#include "distance/exact/exact.h"
#include "neighbors/planner/plan.h"
#include "neighbors/planner/tuning.h"

typedef struct pilot {
    ddsc_context *ctx; /* separate, because warnings and notes about the pilot do not apply to the
                        * set */
    const ddsc_metric_settings *metric;
    int64_t n, near; /* number of items, or 0 if nothing is measured; number of compared
                      * neighbors */
    int64_t item[PILOT_ITEMS];
    measures *few; /* the items before merging */
    double before[PILOT_ITEMS * PILOT_ITEMS], after[PILOT_ITEMS * PILOT_ITEMS];
    double error[PILOT_ITEMS * PILOT_ITEMS];
} pilot;

/* Selects evenly spaced items: PILOT_ITEMS of them, or fewer if the items are large. */
static void select_items(pilot *p, const measures *m)
{
    for (p->n = BASE_MIN(m->n, PILOT_ITEMS);; p->n--) {
        double sum = 0, squares = 0;
        for (int64_t k = 0; k < p->n; k++) {
            p->item[k] = k * m->n / p->n;
            double size = (double)measures_item(m, p->item[k]).n;
            sum += size;
            squares += size * size;
        }
        if (p->n <= PILOT_LEAST || (sum * sum - squares) / 2 <= PILOT_ARCS)
            break;
    }
    p->near = BASE_MIN(PILOT_NEAR, (p->n + PILOT_NEAR - 1) / PILOT_NEAR);
}

/* Uses distances even if they did not converge, because the run on the whole set reports such
 * distances. */
static ddsc_status pilot_distances(pilot *p, double *matrix, const measures *set)
{
    ddsc_status status = plan_matrix(p->ctx, matrix, NULL, set, -1, p->metric, 0);
    /* The message of solves that did not converge must not replace the message of a later error. */
    return status > 0 ? ctx_enter(p->ctx) : status;
}

/* Computes the distances before merging. Does nothing if there are too few items. */
static ddsc_status pilot_open(pilot *p, const measures *m)
{
    if (m->n < 3)
        return DDSC_OK;
    select_items(p, m);
    CHECK(measures_subset(p->ctx, &p->few, m, p->n, p->item));
    return pilot_distances(p, p->before, p->few);
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

/* Compares the distances before and after merging. */
static ddsc_status pilot_compare(pilot *p, ddsc_compress_report *report, const measures *merged)
{
    int64_t n = p->n, n_errors = 0, kept = 0;
    CHECK(pilot_distances(p, p->after, merged));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double before = p->before[i * n + j], after = p->after[i * n + j];
            kept += is_near(p, p->before, i, j) && is_near(p, p->after, i, j);
            if (i < j && before > 0)
                p->error[n_errors++] = fabs(after - before) / before;
        }
    sort_doubles(p->error, n_errors);
    report->n_items = n;
    report->n_pairs = n * (n - 1) / 2;
    report->n_near = p->near;
    report->kept = (double)kept / (double)(n * p->near);
    report->error_median = n_errors > 0 ? p->error[(n_errors - 1) / 2] : 0;
    report->error_95 = n_errors > 0 ? p->error[(n_errors - 1) * 95 / 100] : 0;
    return DDSC_OK;
}

/* Merges the items of the pilot to 256, 128, ..., 16 points. Chooses the smallest number that
 * preserves enough neighbors, or else the number that preserves the most neighbors. Each step
 * merges the result of the previous step, which Ward's method allows. If the items are too small to
 * be merged, *points does not change. */
static ddsc_status choose_points(pilot *p, double least, int64_t *points)
{
    ddsc_status status = DDSC_OK;
    measures *from = NULL, *merged = NULL;
    double best = -1;
    for (int64_t m = PILOT_MOST_POINTS; p->n > 0 && m >= PILOT_LEAST_POINTS; m /= 2) {
        ddsc_compress_report found = {0};
        if (2 * m * p->n > p->few->nnz)
            continue;
        TRY(exact_compress_items(p->ctx, &merged, &found, from ? from : p->few, m, m));
        ddsc_measures_destroy(from);
        from = merged;
        merged = NULL;
        TRY(pilot_compare(p, &found, from));
        if (found.kept >= least || found.kept > best)
            *points = m;
        best = fmax(best, found.kept);
    }
done:
    ddsc_measures_destroy(from);
    return status;
}

/* Measures the accuracy of the merged set, using its items in the pilot. */
static ddsc_status check_merged(pilot *p, ddsc_compress_report *report, const measures *merged)
{
    measures *few = NULL;
    if (p->n == 0)
        return DDSC_OK;
    CHECK(measures_subset(p->ctx, &few, merged, p->n, p->item));
    ddsc_status status = pilot_compare(p, report, few);
    ddsc_measures_destroy(few);
    return status;
}

static ddsc_status compress_for(ddsc_context *ctx, ddsc_measures **merged,
                                ddsc_compress_report *report, const measures *m,
                                const ddsc_metric_settings *metric, int64_t points, double keep)
{
    ddsc_status status = DDSC_OK;
    measures *made = NULL;
    pilot *p = NULL;
    TRY(MEM_ZERO(ctx, p, 1));
    p->metric = metric;
    TRY(ctx_create_quiet(&p->ctx, ctx));
    TRY(pilot_open(p, m));
    if (points == 0)
        TRY(choose_points(p, keep, &points));
    if (points > 0) {
        TRY(exact_compress_items(ctx, &made, report, m, points, points));
        TRY(check_merged(p, report, made));
    }
    report->n_points = points;
    *merged = made;
    made = NULL;
done:
    ddsc_measures_destroy(made);
    if (p)
        ddsc_measures_destroy(p->few);
    if (p)
        ctx_close_quiet(ctx, p->ctx, status);
    mem_free(ctx, p);
    return status;
}

ddsc_status ddsc_measures_compress_for(ddsc_context *context, ddsc_measures **merged,
                                       ddsc_compress_report *report, const ddsc_measures *m,
                                       const ddsc_metric_settings *metric, int64_t points,
                                       double keep)
{
    ddsc_compress_report own;
    ddsc_metric_settings set;
    CHECK(ctx_enter_new(context, merged));
    CHECK(ctx_need(context, m, "measures"));
    CHECK(ctx_check(context, points >= 0, "m", (double)points, ">= 0 (0: chosen by `keep`)"));
    CHECK(ctx_check(context, keep > 0 && keep <= 1, "keep", keep, "> 0 and <= 1"));
    CHECK(exact_take_compress_report(context, &own, report));
    CHECK(plan_take_metric(context, &set, metric));
    CHECK(compress_for(context, merged, &own, m, &set, points, keep));
    exact_give_compress_report(report, &own);
    return DDSC_OK;
}
