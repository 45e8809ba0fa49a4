/* Implements Lloyd's algorithm with the squared distances D between all pairs of rows instead of
 * coordinates. The table is used for few rows in many dimensions.
 *
 * Let cluster c have m rows, let T_ic be the sum of D_ij over its rows j, and let W_c be the sum of
 * T_jc over its rows. Then
 *
 *    |x_i - mean_c|^2 = T_ic / m - W_c / (2 m^2).
 *
 * A row that moves to another cluster changes two columns of T. */
#include <math.h>
#include <string.h>

#include "numeric/kmeans/kmeans.h"
#include "numeric/linalg/linalg.h"

/* ROWS_MOST is half of the number of rows that are used to measure the stability of a number of
 * clusters (cluster/spectral/split_agreement.c). */
enum { ROWS_MOST = 2500, TILE = 64, ITERATIONS_MAX = 300 };

/* ---- the table ---- */

typedef struct table_job {
    const kmeans_problem *p;
    double *pairs;
} table_job;

/* Computes the distances between the rows [begin, end) and all rows before `end`, and mirrors the
 * distances to rows before `begin`. */
static ddsc_status fill_strip(void *arg, int64_t begin, int64_t end, int worker)
{
    const table_job *j = arg;
    int64_t n = j->p->n, dim = j->p->dim;
    (void)worker;
    for (int64_t first = 0; first < end; first += TILE) {
        int64_t last = BASE_MIN(first + TILE, n);
        la_differences(end - begin, last - first, dim, j->p->rows + begin * dim,
                       j->p->rows + first * dim, j->pairs + begin * n + first, n);
        for (int64_t a = begin; a < end && last <= begin; a++)
            for (int64_t b = first; b < last; b++)
                j->pairs[b * n + a] = j->pairs[a * n + b];
    }
    return DDSC_OK;
}

ddsc_status kmeans_pairs_fill(ddsc_context *ctx, double **pairs, const kmeans_problem *p)
{
    table_job j = {.p = p};
    CHECK(MEM_NEW(ctx, j.pairs, p->n * p->n));
    ddsc_status status = parallel_for(ctx, p->n, TILE, fill_strip, &j);
    if (status < 0)
        mem_free(ctx, j.pairs);
    else
        *pairs = j.pairs;
    return status;
}

ddsc_status kmeans_pairs(ddsc_context *ctx, double **pairs, const kmeans_problem *p)
{
    int64_t draws = p->restarts * p->k * (kmeans_draws(p) + 1);
    *pairs = NULL;
    /* Computing half of the table takes as long as evaluating n / 2 candidates during
     * initialization. The table also makes Lloyd's iterations faster. */
    if (p->weight || p->n > ROWS_MOST || draws < p->n ||
        p->n * p->n > ctx_memory_left(ctx) / 4 / (int64_t)sizeof(double))
        return DDSC_OK;
    return kmeans_pairs_fill(ctx, pairs, p);
}

/* ---- a run ---- */

struct lloyd_table {
    ddsc_context *ctx;
    const kmeans_problem *p;
    int64_t k;
    int32_t *label, *nearest; /* n */
    double *least;            /* n: squared distance to the nearest center */
    double *sum;              /* k x n: T, one row per cluster */
    double *within;           /* k: W */
    int64_t *size;            /* k */
    double apart;             /* smaller squared distances are rounding errors */
};

ddsc_status lloyd_table_create(ddsc_context *ctx, lloyd_table **out, const kmeans_problem *p)
{
    ddsc_status status = DDSC_OK;
    lloyd_table *t = NULL;
    TRY(MEM_ZERO(ctx, t, 1));
    t->ctx = ctx;
    t->p = p;
    TRY(MEM_NEW(ctx, t->label, p->n));
    TRY(MEM_NEW(ctx, t->nearest, p->n));
    TRY(MEM_NEW(ctx, t->least, p->n));
    TRY(MEM_NEW(ctx, t->sum, p->k * p->n));
    TRY(MEM_NEW(ctx, t->within, p->k));
    TRY(MEM_NEW(ctx, t->size, p->k));
    for (int64_t i = 0; i < p->n; i++)
        t->apart = BASE_MAX(t->apart, p->pairs[i]);
    t->apart *= 1e-12;
    *out = t;
    t = NULL;
done:
    lloyd_table_destroy(t);
    return status;
}

void lloyd_table_destroy(lloyd_table *t)
{
    if (!t)
        return;
    MEM_FREE(t->ctx, t->size, t->within, t->sum, t->least, t->nearest, t->label);
    mem_free(t->ctx, t);
}

/* Adds row i to cluster c, or removes it if sign is -1. */
static void table_add_row(lloyd_table *t, int64_t i, int32_t c, double sign)
{
    int64_t n = t->p->n;
    const double *pair = t->p->pairs + i * n;
    double *sum = t->sum + c * n;
    t->size[c] += sign > 0 ? 1 : -1;
    for (int64_t j = 0; j < n; j++)
        sum[j] += sign * pair[j];
}

static void begin_from(lloyd_table *t, const int64_t *row)
{
    int64_t n = t->p->n;
    memset(t->sum, 0, (size_t)(t->k * n) * sizeof *t->sum);
    memset(t->size, 0, (size_t)t->k * sizeof *t->size);
    for (int64_t i = 0; i < n; i++) {
        const double *pair = t->p->pairs + i * n;
        int32_t best = 0;
        for (int32_t c = 1; c < t->k; c++)
            if (pair[row[c]] < pair[row[best]])
                best = c;
        t->label[i] = best;
        table_add_row(t, i, best, 1);
    }
}

static void measure_within(lloyd_table *t)
{
    memset(t->within, 0, (size_t)t->k * sizeof *t->within);
    for (int64_t i = 0; i < t->p->n; i++)
        t->within[t->label[i]] += t->sum[t->label[i] * t->p->n + i];
}

/* Finds the nearest center of each row. If several are equally near, the lowest number is used. */
static void find_nearest(lloyd_table *t)
{
    int64_t n = t->p->n;
    for (int64_t i = 0; i < n; i++)
        t->least[i] = INFINITY;
    for (int32_t c = 0; c < t->k; c++) {
        const double *sum = t->sum + c * n;
        if (t->size[c] == 0)
            continue;
        double share = 1 / (double)t->size[c], less = 0.5 * t->within[c] * share * share;
        for (int64_t i = 0; i < n; i++) {
            double v = sum[i] * share - less;
            t->nearest[i] = v < t->least[i] ? c : t->nearest[i];
            t->least[i] = v < t->least[i] ? v : t->least[i];
        }
    }
}

static void move_row(lloyd_table *t, int64_t i, int32_t c)
{
    table_add_row(t, i, t->label[i], -1);
    table_add_row(t, i, c, 1);
    t->label[i] = c;
}

/* Returns the row farthest from its center in a cluster with at least two rows, or -1 if all rows
 * coincide with their center. */
static int64_t table_farthest(const lloyd_table *t)
{
    int64_t worst = -1;
    double most = t->apart;
    for (int64_t i = 0; i < t->p->n; i++) {
        int32_t c = t->label[i];
        double share = 1 / (double)t->size[c];
        double d2 = (t->sum[c * t->p->n + i] - 0.5 * t->within[c] * share) * share;
        if (t->size[c] > 1 && d2 > most) {
            most = d2;
            worst = i;
        }
    }
    return worst;
}

/* Moves the row that is farthest from its center to each empty cluster. */
static int64_t table_fill_empty(lloyd_table *t)
{
    int64_t filled = 0;
    for (int32_t c = 0; c < t->k; c++) {
        if (t->size[c] > 0)
            continue;
        int64_t i = table_farthest(t);
        if (i < 0)
            return filled;
        move_row(t, i, c);
        measure_within(t);
        filled++;
    }
    return filled;
}

ddsc_status lloyd_table_run(lloyd_table *t, const int64_t *row, int64_t n_centers,
                            const int32_t **labels)
{
    t->k = n_centers;
    begin_from(t, row);
    measure_within(t);
    table_fill_empty(t);
    for (int round = 1; round < ITERATIONS_MAX; round++) {
        int64_t changed = 0;
        if (ctx_canceled(t->ctx))
            return DDSC_ERROR_CANCELED;
        find_nearest(t);
        for (int64_t i = 0; i < t->p->n; i++)
            if (t->nearest[i] != t->label[i]) {
                move_row(t, i, t->nearest[i]);
                changed++;
            }
        measure_within(t);
        if (changed + table_fill_empty(t) == 0)
            break;
    }
    *labels = t->label;
    return DDSC_OK;
}
