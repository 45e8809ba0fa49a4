/* Embeds items by linear optimal transport (Wang, Slepcev, Basu, Ozolek, Rohde 2013). The vector of
 * an item consists of the displacements of the barycentric projection of the exact transport from a
 * fixed reference to the item. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "base/workspace.h"
#include "distance/exact/exact.h"
#include "distance/lot/lot.h"
#include "numeric/linalg/linalg.h"

/* Statistics of 1 - |z_i| / W2(item i, reference) over the items of one worker. The sum is an
 * integer, so that it does not depend on the assignment of items to workers. */
typedef struct shortfalls {
    int64_t count[2]; /* number of items above SHORTFALL_NONE; sum in units of SHORTFALL_UNIT */
    double largest;
} shortfalls;

static const double SHORTFALL_NONE = 1e-9, SHORTFALL_UNIT = 1e-9;

typedef struct embedding {
    ddsc_context *ctx;
    const measures *m, *reference;
    int64_t max_pivots, columns, first; /* first: first item to embed */
    double *z;
    exact_solver **solver;  /* one per worker */
    scratch sorted;         /* one per worker: memory for measures_sort_item */
    int64_t largest;        /* number of points of the largest item */
    ddsc_pair_stats *stats; /* one per worker */
    shortfalls *shorter;    /* one per worker */
} embedding;

/* Returns the number of columns of the embedding: the points of the reference times the
 * dimension. */
static int64_t lot_columns(const measures *reference)
{
    return measures_item(reference, 0).n * reference->d;
}

/* Computes z_r = sqrt(w_r) (sum_j g_rj x_j / w_r - x_r) = sum_j g_rj (x_j - x_r) / sqrt(w_r) from
 * the plan to item i of m. */
static void project_plan(const embedding *e, const exact_solver *solver, int64_t n_plan,
                         const measures *m, int64_t i, double *z)
{
    const int32_t *row, *column;
    const double *mass;
    int64_t d = m->d;
    item_view from = measures_item(e->reference, 0), to = measures_item(m, i);
    exact_plan(solver, &row, &column, &mass);
    memset(z, 0, (size_t)e->columns * sizeof *z);
    for (int64_t p = 0; p < n_plan; p++) {
        int64_t r = row[p];
        const double *x = measures_point(m, to.index[column[p]]);
        const double *x_r = measures_point(e->reference, from.index[r]);
        double share = mass[p] / sqrt(from.weight[r]);
        for (int64_t k = 0; k < d; k++)
            z[r * d + k] += share * (x[k] - x_r[k]);
    }
}

static void add_shortfall(shortfalls *s, double length, double w2)
{
    double shortfall = w2 > 0 ? fmax(0, 1 - length / w2) : 0;
    s->count[0] += shortfall > SHORTFALL_NONE;
    s->count[1] += llround(shortfall / SHORTFALL_UNIT);
    s->largest = fmax(s->largest, shortfall);
}

/* Returns an item with its points sorted by coordinates. The order of the points affects rounding,
 * so without sorting, a row would also depend on the order of the points. Sorting one item at a
 * time saves a copy of the set, which would be as large as the embedding. */
static measures sorted_item(const embedding *e, int64_t i, int worker)
{
    arena a = {scratch_of(&e->sorted, worker), 0};
    item_sort s;
    measures_sort_take(&s, e->largest, &a);
    return measures_sort_item(e->m, i, &s);
}

static ddsc_status sorted_open(ddsc_context *ctx, embedding *e)
{
    arena a = {0};
    item_sort s;
    e->largest = measures_largest_item(e->m);
    measures_sort_take(&s, e->largest, &a);
    return scratch_create(ctx, &e->sorted, a.used, 1);
}

static ddsc_status embed_items(void *arg, int64_t begin, int64_t end, int worker)
{
    embedding *e = arg;
    ddsc_pair_stats *stats = &e->stats[worker];
    ddsc_status status = DDSC_OK;
    for (int64_t i = e->first + begin; i < e->first + end; i++) {
        exact_result found;
        exact_solver *solver = e->solver[worker];
        measures item = sorted_item(e, i, worker);
        ddsc_status solved =
            exact_solve_items(solver, &found, e->reference, 0, &item, 0, e->max_pivots);
        TRY(solved);
        project_plan(e, solver, found.n_plan, &item, 0, e->z + i * e->columns);
        add_shortfall(&e->shorter[worker], la_norm(e->columns, e->z + i * e->columns),
                      sqrt(fmax(0, found.primal)));
        stats->n_solved++;
        stats->n_iterations += found.pivots;
        stats->n_not_converged += solved == DDSC_NOT_CONVERGED;
        stats->max_gap = fmax(stats->max_gap, found.gap);
        progress_add(e->ctx, 1);
    }
done:
    return status;
}

/* Adds the statistics of one worker. Sums of integers and maxima do not depend on the division of
 * the work. */
static void add_stats(ddsc_pair_stats *stats, const ddsc_pair_stats *from)
{
    stats->n_solved += from->n_solved;
    stats->n_iterations += from->n_iterations;
    stats->n_not_converged += from->n_not_converged;
    stats->max_gap = fmax(stats->max_gap, from->max_gap);
}

static ddsc_status take_shortfalls(ddsc_context *ctx, ddsc_pair_stats *stats, const embedding *e,
                                   int n_workers)
{
    shortfalls all = {0};
    for (int w = 0; w < n_workers; w++) {
        all.count[0] += e->shorter[w].count[0];
        all.count[1] += e->shorter[w].count[1];
        all.largest = fmax(all.largest, e->shorter[w].largest);
    }
    CHECK(team_sum_i64(ctx, all.count, 2));
    CHECK(team_largest(ctx, &all.largest, 1));
    stats->n_split = all.count[0];
    stats->shortfall_mean = SHORTFALL_UNIT * (double)all.count[1] / (double)BASE_MAX(1, e->m->n);
    stats->shortfall_max = all.largest;
    return DDSC_OK;
}

/* Computes |phi(reference)|, the norm of the row of the reference. */
static ddsc_status embed_reference(const embedding *e, double *norm)
{
    ddsc_status status = DDSC_OK;
    embedding own = *e;
    exact_result found;
    TRY(MEM_NEW(e->ctx, own.z, e->columns));
    TRY(exact_solve_items(e->solver[0], &found, e->reference, 0, e->reference, 0, e->max_pivots));
    project_plan(&own, e->solver[0], found.n_plan, e->reference, 0, own.z);
    *norm = la_norm(e->columns, own.z);
done:
    mem_free(e->ctx, own.z);
    return status;
}

/* Computes the embedding z (n x columns). Row i contains sqrt(w_r) (T_i(r) - x_r) for each
 * reference point r, where T_i is the barycentric projection, so Euclidean distances between rows
 * are LOT distances. Runs in parallel over the items, and reports progress. Updates n_solved,
 * n_iterations, max_gap and n_not_converged in *stats, and sets reference_size. */
static ddsc_status lot_embed(ddsc_context *ctx, double *z, ddsc_pair_stats *stats,
                             const measures *m, const measures *reference, int64_t max_pivots)
{
    ddsc_status status = DDSC_OK;
    int n_workers = parallel_width(ctx);
    embedding e = {.ctx = ctx, .m = m, .reference = reference, .max_pivots = max_pivots, .z = z};
    e.columns = lot_columns(reference);
    TRY(MEM_ZERO(ctx, e.stats, n_workers));
    TRY(MEM_ZERO(ctx, e.shorter, n_workers));
    TRY(exact_create_team(ctx, &e.solver, &ground_sqeuclidean));
    TRY(sorted_open(ctx, &e));
    progress_begin(ctx, "transport to reference", m->n);
    TRY(team_fill(ctx, z, m->n, 4, e.columns * (int64_t)sizeof *z, embed_items, &e));
    progress_end(ctx);
    ddsc_pair_stats all = {0};
    for (int w = 0; w < n_workers; w++)
        add_stats(&all, &e.stats[w]);
    TRY(team_stats(ctx, &all));
    add_stats(stats, &all);
    stats->reference_size = measures_item(reference, 0).n;
    TRY(take_shortfalls(ctx, stats, &e, n_workers));
    TRY(embed_reference(&e, &stats->reference_norm));
done:
    scratch_free(ctx, &e.sorted);
    exact_destroy_team(ctx, e.solver);
    MEM_FREE(ctx, e.shorter, e.stats);
    return status;
}

ddsc_status lot_embed_from(ddsc_context *ctx, double *z, ddsc_pair_stats *stats, const measures *m,
                           int64_t first, const measures *reference, int64_t max_pivots)
{
    ddsc_status status = DDSC_OK;
    int n_workers = parallel_width(ctx);
    embedding e = {.ctx = ctx,
                   .m = m,
                   .reference = reference,
                   .max_pivots = max_pivots,
                   .columns = lot_columns(reference),
                   .first = first,
                   .z = z};
    TRY(MEM_ZERO(ctx, e.stats, n_workers));
    TRY(MEM_ZERO(ctx, e.shorter, n_workers));
    TRY(sorted_open(ctx, &e));
    TRY(exact_create_team(ctx, &e.solver, &ground_sqeuclidean));
    TRY(parallel_for(ctx, m->n - first, 4, embed_items, &e));
    for (int w = 0; w < n_workers; w++)
        add_stats(stats, &e.stats[w]);
done:
    scratch_free(ctx, &e.sorted);
    exact_destroy_team(ctx, e.solver);
    MEM_FREE(ctx, e.shorter, e.stats);
    return status;
}

ddsc_status lot_run(ddsc_context *ctx, double **z, int64_t *columns, ddsc_pair_stats *stats,
                    const measures *m, const ddsc_metric_settings *settings)
{
    ddsc_status status = DDSC_OK;
    measures *reference = NULL;
    la_principal p = {0};
    double *rows = NULL;
    int64_t size = 0;
    *z = NULL;
    TRY(lot_reference_make(ctx, &reference, m, settings));
    *columns = lot_columns(reference);
    if (!mul_ok(measures_item_capacity(m), *columns, &size))
        TRY(ctx_fail(ctx, DDSC_ERROR_MEMORY,
                     "an embedding of %lld x %lld values is too large; reduce reference_size",
                     (long long)m->n, (long long)*columns));
    TRY(MEM_NEW(ctx, rows, size));
    TRY(lot_embed(ctx, rows, stats, m, reference, settings->w2_max_pivots));
    if (settings->lot_components > 0 && settings->lot_components < *columns) {
        progress_begin(ctx, "components", 0);
        TRY(la_principal_make(ctx, &p, m->n, *columns, rows, settings->lot_components));
        progress_end(ctx);
        stats->reduction_error = p.all > 0 ? fmax(0, 1 - p.kept / p.all) : 0;
        *columns = stats->n_components = settings->lot_components;
        mem_free(ctx, rows);
        rows = p.image;
        p.image = NULL;
    }
    TRY(lot_check(ctx, stats, m, rows, *columns, settings->w2_max_pivots));
    *z = rows;
    rows = NULL;
done:
    la_principal_free(ctx, &p);
    mem_free(ctx, rows);
    ddsc_measures_destroy(reference);
    return status;
}
