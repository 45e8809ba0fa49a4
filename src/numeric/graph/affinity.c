/* Computes the symmetric affinity from the squared distances in the neighbor lists. With "auto",
 * the graph determines whether local scaling or a single gamma is used. */
#include <math.h>
#include <string.h>

#include "base/workspace.h"
#include "numeric/graph/graph.h"

enum { ROW_GRAIN = 1024 };

/* Lower limit of the scales, as a fraction of their median. Exact duplicates have s = 0, which
 * would make their weights to other items 0 or 0/0. The weight between equal items remains exp(0) =
 * 1. */
static const double SCALE_FLOOR = 0.01;

/* Thresholds for using a single gamma instead of local scaling, measured with bench/defaults.py on
 * ten data sets with every metric. ONE_GAMMA_SPREAD is the minimum ratio of the 95% quantile of the
 * scales to the 5% quantile. ONE_GAMMA_ONE_SIDED is the minimum share of one-sided links.
 * ONE_GAMMA_FAR is the maximum 99% quantile of the D^2 to the nearest neighbor, in units of the
 * median D^2 of all edges.
 *
 * A single gamma is better only on `animals`, where 0.60 to 0.75 of the links are one-sided and the
 * ratio of the quantiles is at least 3.1. On other data sets with such a ratio, at most 0.48 of the
 * links are one-sided. Text data sets have as many one-sided links as `animals`, but a ratio of at
 * most 2.4. The exception is ng6 with mmd (2.8), where a single gamma does not reduce the AMI. */
static const double ONE_GAMMA_SPREAD = 2.5, ONE_GAMMA_ONE_SIDED = 0.55, ONE_GAMMA_FAR = 20;
enum {
    ONE_GAMMA_ITEMS = 40
}; /* minimum number of items, because quantiles of fewer values are
                                * unreliable */

double affinity_median_positive(double *x, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] > 0 && x[i] < INFINITY)
            x[kept++] = x[i];
    if (kept == 0)
        return 1;
    double upper = select_smallest(x, kept, kept / 2);
    if (kept % 2 == 1)
        return upper;
    double lower = x[0];
    for (int64_t i = 1; i < kept / 2; i++)
        lower = BASE_MAX(lower, x[i]);
    return lower + (upper - lower) / 2;
}

/* Computes the median of D^2 over all edges, or of the positive values if at least half are
 * zero. */
static ddsc_status median_d2(ddsc_context *ctx, double *median, const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    double *copy = NULL;
    int64_t n_edges = g->offset[g->n], n_zero = 0;
    TRY(MEM_NEW(ctx, copy, n_edges));
    for (int64_t p = 0; p < n_edges; p++) {
        copy[p] = BASE_MAX(g->d2[p], 0);
        n_zero += copy[p] == 0;
    }
    if (2 * n_zero < n_edges) {
        *median = select_smallest(copy, n_edges, n_edges / 2);
        if (n_edges % 2 == 0) {
            double lower = 0;
            for (int64_t p = 0; p < n_edges / 2; p++)
                lower = BASE_MAX(lower, copy[p]);
            *median = lower + (*median - lower) / 2;
        }
    } else {
        *median = affinity_median_positive(copy, n_edges);
    }
done:
    mem_free(ctx, copy);
    return status;
}

ddsc_status affinity_scales(ddsc_context *ctx, double *scale, double *least, const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    double *copy = NULL;
    TRY(MEM_NEW(ctx, copy, g->n));
    for (int64_t i = 0; i < g->n; i++) {
        int64_t n_known = g->offset[i + 1] - g->offset[i];
        int64_t at = g->offset[i] + BASE_MIN(n_known, AFFINITY_NEIGHBOR) - 1;
        scale[i] = n_known > 0 ? sqrt(BASE_MAX(g->d2[at], 0)) : 0;
        copy[i] = scale[i];
    }
    double median = affinity_median_positive(copy, g->n);
    *least = SCALE_FLOOR * median;
    for (int64_t i = 0; i < g->n; i++)
        scale[i] = scale[i] < INFINITY ? BASE_MAX(scale[i], *least) : median;
    DDSC_ASSERT(invariant_between(scale, g->n, *least, INFINITY));
done:
    mem_free(ctx, copy);
    return status;
}

typedef struct link_count {
    const ddsc_graph *graph;
    int64_t n_one_sided;
} link_count;

static ddsc_status count_one_sided(void *arg, int64_t begin, int64_t end, int worker)
{
    link_count *c = arg;
    const ddsc_graph *g = c->graph;
    int64_t n = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
            int64_t q = g->offset[g->index[p]], last = g->offset[g->index[p] + 1];
            while (q < last && g->index[q] != i)
                q++;
            n += q == last;
        }
    __atomic_fetch_add(&c->n_one_sided, n, __ATOMIC_RELAXED);
    return DDSC_OK;
}

/* Computes the share of one-sided links. A link from item i to its neighbor j is one-sided if the
 * list of j does not contain i. */
static ddsc_status one_sided(ddsc_context *ctx, double *share, const ddsc_graph *g)
{
    link_count c = {.graph = g};
    CHECK(parallel_for(ctx, g->n, ROW_GRAIN, count_one_sided, &c));
    *share = (double)c.n_one_sided / (double)BASE_MAX(g->offset[g->n], 1);
    return DDSC_OK;
}

/* Sets *result to true if a single gamma is better for the graph than local scaling. Local scaling
 * measures each link relative to the scales of its two items. Local scaling works well for clusters
 * of different density that are well separated.
 *
 * Local scaling fails if items of a sparse class have many neighbors in a dense class whose lists
 * do not contain these items. These one-sided links then have as much weight as the links within
 * the classes. In such a graph, the scales vary widely, most links are one-sided, and no item is so
 * far away that a single gamma would disconnect it. */
static ddsc_status leans(ddsc_context *ctx, bool *result, const ddsc_graph *g, const double *scale,
                         double least)
{
    ddsc_status status = DDSC_OK;
    double *sorted = NULL, *near = NULL, median, share;
    int64_t n = 0;
    *result = false;
    TRY(MEM_NEW(ctx, sorted, g->n));
    TRY(MEM_NEW(ctx, near, g->n));
    for (int64_t i = 0; i < g->n; i++) {
        bool alone = g->offset[i] == g->offset[i + 1];
        near[i] = alone ? 0 : BASE_MAX(g->d2[g->offset[i]], 0);
        if (scale[i] > least) /* exclude duplicates */
            sorted[n++] = scale[i];
    }
    if (n < ONE_GAMMA_ITEMS)
        goto done;
    double low = select_smallest(sorted, n, n / 20),
           high = select_smallest(sorted, n, n - 1 - n / 20);
    TRY(median_d2(ctx, &median, g));
    if (high < ONE_GAMMA_SPREAD * low ||
        select_smallest(near, g->n, g->n - 1 - g->n / 100) > ONE_GAMMA_FAR * median)
        goto done;
    TRY(one_sided(ctx, &share, g));
    *result = share >= ONE_GAMMA_ONE_SIDED;
done:
    MEM_FREE(ctx, sorted, near);
    return status;
}

typedef struct weigh {
    const ddsc_graph *graph;
    double *scale; /* NULL: one gamma for all pairs */
    double gamma;
    double *weight; /* output: one weight per edge of the graph */
    sparse *lists;  /* alternative output: weights as rows of a matrix, with ascending columns */
    scratch work;   /* per worker, work space for one row */
} weigh;

double affinity_value(double d2, double gamma, double s, double t)
{
    double a = 0;
    d2 = BASE_MAX(d2, 0);
    if (d2 == 0)
        a = 1;
    else if (d2 < INFINITY)
        a = gamma > 0 ? exp(-gamma * d2) : exp(-2 * (d2 / s) / t);
    DDSC_ASSERT(a >= 0 && a <= 1);
    return BASE_MAX(a, AFFINITY_FLOOR);
}

static double weigh_edge(const weigh *w, int64_t i, int64_t p)
{
    const ddsc_graph *g = w->graph;
    return w->scale ? affinity_value(g->d2[p], 0, w->scale[i], w->scale[g->index[p]])
                    : affinity_value(g->d2[p], w->gamma, 1, 1);
}

static ddsc_status weigh_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    weigh *w = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t p = w->graph->offset[i]; p < w->graph->offset[i + 1]; p++)
            w->weight[p] = weigh_edge(w, i, p);
    return DDSC_OK;
}

/* Computes the weights of rows with ascending columns. Self-loops are dropped. */
static ddsc_status sort_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    weigh *w = arg;
    const ddsc_graph *g = w->graph;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = g->offset[i], n = g->offset[i + 1] - from, at = w->lists->offset[i];
        double *key = scratch_of(&w->work, worker);
        int32_t *order = (int32_t *)(key + n);
        for (int64_t p = 0; p < n; p++)
            key[p] = g->index[from + p];
        sort_order(order, key, n);
        for (int64_t p = 0; p < n; p++)
            if (g->index[from + order[p]] != i) {
                w->lists->column[at] = g->index[from + order[p]];
                w->lists->value[at++] = weigh_edge(w, i, from + order[p]);
            }
    }
    return DDSC_OK;
}

/* Computes the weights of the neighbor lists of `rows` as a sparse matrix. */
static ddsc_status make_sorted(ddsc_context *ctx, sparse *out, weigh *w, team_part rows)
{
    ddsc_status status = DDSC_OK;
    const ddsc_graph *g = w->graph;
    int64_t longest = 0;
    TRY(sparse_new(ctx, out, g->n, g->offset[rows.end] - g->offset[rows.begin]));
    for (int64_t i = rows.begin; i < rows.end; i++) {
        longest = BASE_MAX(longest, g->offset[i + 1] - g->offset[i]);
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++)
            out->offset[i + 1] += g->index[p] != i;
    }
    for (int64_t i = 0; i < g->n; i++)
        out->offset[i + 1] += out->offset[i];
    w->lists = out;
    TRY(scratch_create(ctx, &w->work, longest, sizeof(double) + sizeof(int32_t)));
    TRY(team_rows(ctx, rows, ROW_GRAIN, sort_rows, w));
done:
    scratch_free(ctx, &w->work);
    return status;
}

/* Computes the rows `rows` of the transposed matrix. The items are visited in order, so the columns
 * are already ascending. */
static ddsc_status make_turned(ddsc_context *ctx, sparse *out, const weigh *w, team_part rows)
{
    const ddsc_graph *g = w->graph;
    int64_t count = 0, *offset;
    for (int64_t p = 0; p < g->offset[g->n]; p++)
        count += g->index[p] >= rows.begin && g->index[p] < rows.end;
    CHECK(sparse_new(ctx, out, g->n, count));
    offset = out->offset;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
            int32_t j = g->index[p];
            offset[j + 1] += j >= rows.begin && j < rows.end && j != i;
        }
    for (int64_t i = 0; i < g->n; i++)
        offset[i + 1] += offset[i];
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
            int32_t j = g->index[p];
            if (j < rows.begin || j >= rows.end || j == i)
                continue;
            out->column[offset[j]] = (int32_t)i;
            out->value[offset[j]++] = weigh_edge(w, i, p);
        }
    /* Each offset now points to the start of the next row, so the offsets are shifted back. */
    for (int64_t i = g->n; i > 0; i--)
        offset[i] = offset[i - 1];
    offset[0] = 0;
    return DDSC_OK;
}

static void report_edges(affinity_report *report, const ddsc_graph *g)
{
    double least = INFINITY, most = -INFINITY;
    report->n_edges = g->offset[g->n];
    for (int64_t p = 0; p < g->offset[g->n]; p++) {
        report->n_clamped += g->d2[p] < 0;
        least = fmin(least, g->d2[p]);
        most = fmax(most, g->d2[p]);
    }
    report->flat = g->copies || (most <= 0 && most - least <= 1e-9 * fabs(least));
}

static ddsc_status report_faint(ddsc_context *ctx, affinity_report *report, const sparse *a)
{
    team_part rows = sparse_rows(ctx, a);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        bool faint = a->offset[i + 1] > a->offset[i];
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            faint &= a->value[p] <= AFFINITY_FLOOR;
        report->n_faint += faint;
    }
    return a->divided ? team_sum_i64(ctx, &report->n_faint, 1) : DDSC_OK;
}

/* Determines the scales and gamma. The caller frees w->scale. */
static ddsc_status settle_gamma(ddsc_context *ctx, weigh *w, const affinity_settings *settings)
{
    ddsc_status status = DDSC_OK;
    const ddsc_graph *graph = w->graph;
    double median = 1, least;
    bool local = settings->rule == DDSC_GAMMA_AUTO || settings->rule == DDSC_GAMMA_LOCAL,
         other = false;
    w->gamma = local ? 0 : settings->gamma;
    if (local) {
        TRY(MEM_NEW(ctx, w->scale, graph->n));
        TRY(affinity_scales(ctx, w->scale, &least, graph));
    }
    if (settings->rule == DDSC_GAMMA_AUTO)
        TRY(leans(ctx, &other, graph, w->scale, least));
    if (other || settings->rule == DDSC_GAMMA_MEDIAN) {
        TRY(median_d2(ctx, &median, graph));
        w->gamma = 1 / median;
        mem_free(ctx, w->scale);
        w->scale = NULL;
    }
done:
    return status;
}

ddsc_status affinity_weigh(ddsc_context *ctx, double *weight, affinity_report *report,
                           const ddsc_graph *graph, const affinity_settings *settings)
{
    ddsc_status status = DDSC_OK;
    weigh w = {.graph = graph, .weight = weight};
    TRY(settle_gamma(ctx, &w, settings));
    TRY(parallel_for(ctx, graph->n, ROW_GRAIN, weigh_rows, &w));
    *report = (affinity_report){.gamma = w.gamma};
done:
    mem_free(ctx, w.scale);
    return status;
}

ddsc_status affinity_build(ddsc_context *ctx, sparse *out, affinity_report *report,
                           const ddsc_graph *graph, const affinity_settings *settings)
{
    ddsc_status status = DDSC_OK;
    weigh w = {.graph = graph};
    sparse lists = {0}, turned = {0};
    team_part rows = settings->divided ? sparse_own(ctx, graph->n) : (team_part){0, graph->n};
    *out = (sparse){0};
    DDSC_ASSERT(graph_lists_hold(graph));
    TRY(settle_gamma(ctx, &w, settings));
    TRY(make_sorted(ctx, &lists, &w, rows));
    TRY(make_turned(ctx, &turned, &w, rows));
    lists.divided = turned.divided = settings->divided;
    TRY(sparse_sum(ctx, out, &lists, &turned, 0.5));
    *report = (affinity_report){.gamma = w.gamma};
    report_edges(report, graph);
    TRY(report_faint(ctx, report, out));
done:
    sparse_free(ctx, &lists);
    sparse_free(ctx, &turned);
    mem_free(ctx, w.scale);
    if (status < 0)
        sparse_free(ctx, out);
    return status;
}
