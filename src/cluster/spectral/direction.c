/* Orders items along the first direction of diffusion, which is the slowest mode of the random walk
 * on the graph: the function f with D^-1 A f = lambda f for the largest lambda below 1. For data
 * along a gradient, the order follows the gradient. For two clusters, the order runs from one
 * cluster to the other. If the graph has several parts, each part has a separate direction, and the
 * parts are ordered by decreasing size. If the direction of a part is not among the computed
 * eigenvectors, the items of the part have no rank (-1). The value of an eigenfunction at an item
 * is the radius of the item times its entry in the embedding. */
#include <math.h>
#include <string.h>

#include "cluster/spectral/cluster.h"

/* A single edge of weight w between two halves of n items creates an eigenvalue whose distance from
 * 1 is about w / (n degree). If this distance is below FAINT, which is the accuracy of the
 * eigenvectors, the eigenvector is constant on both halves up to rounding errors and defines no
 * order. Edges this weak are therefore ignored unless w exceeds FAINT_MOST of the degree. */
static const double FAINT = 1e-8, FAINT_MOST = 1e-4;
/* If the relative variance of a column within a part is below this value, the column is constant
 * within the part or only separates the part from others. */
static const double VARIES = 1e-2;
/* If the items of a part have less than this fraction of a column's squared norm, the column
 * belongs to other parts. */
static const double ELSEWHERE = 1e-9;

typedef struct part_column {
    double n, sum, square;
    bool now; /* the values of the part are taken from this column */
} part_column;

static double walk_value(const ddsc_clustering *c, int64_t i, int64_t column)
{
    return c->radius[i] * c->embedding[i * c->view.n_vectors + column];
}

/* Copies the values of a column for those parts in which no earlier column varies. `found` marks
 * the parts that already have a column. */
static void take_column(const ddsc_clustering *c, double *value, bool *found, part_column *sum,
                        const int32_t *part, int64_t n_parts, int64_t column)
{
    int64_t n = c->view.n;
    double whole = 0;
    for (int64_t k = 0; k < n_parts; k++)
        sum[k] = (part_column){0};
    for (int64_t i = 0; i < n; i++) {
        double f = walk_value(c, i, column);
        part_column *s = &sum[part[i]];
        s->n += c->radius[i] > 0;
        s->sum += f;
        s->square += f * f;
        whole += f * f;
    }
    for (int64_t k = 0; k < n_parts; k++) {
        double spread = sum[k].square - sum[k].sum * sum[k].sum / fmax(sum[k].n, 1);
        sum[k].now =
            !found[k] && spread > VARIES * sum[k].square && sum[k].square > ELSEWHERE * whole;
        found[k] |= sum[k].now;
    }
    for (int64_t i = 0; i < n; i++)
        if (sum[part[i]].now && c->radius[i] > 0)
            value[i] = walk_value(c, i, column);
}

/* Chooses the signs of the eigenvectors so that values tend to increase with the item number. */
static void turn_signs(double *value, const int32_t *part, int64_t n, int64_t n_parts,
                       part_column *sum)
{
    for (int64_t k = 0; k < n_parts; k++)
        sum[k] = (part_column){0};
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i])) {
            sum[part[i]].n++;
            sum[part[i]].sum += value[i];
        }
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            sum[part[i]].square += (double)i * (value[i] - sum[part[i]].sum / sum[part[i]].n);
    for (int64_t i = 0; i < n; i++)
        value[i] = sum[part[i]].square < 0 ? -value[i] : value[i];
}

/* Computes the ranks. Items are sorted by part, the largest first, and by value within a part.
 * Items without a value come last in their part. Items in parts without a direction get rank -1. */
static ddsc_status rank_items(ddsc_context *ctx, int64_t *rank, const double *value,
                              const int32_t *part, const bool *found, int64_t n, int64_t n_parts)
{
    ddsc_status status = DDSC_OK;
    double *key = NULL, *size = NULL;
    int32_t *order = NULL, *parts = NULL;
    int64_t *at = NULL, begin = 0;
    TRY(MEM_NEW(ctx, key, n));
    TRY(MEM_ZERO(ctx, size, n_parts));
    TRY(MEM_NEW(ctx, order, n));
    TRY(MEM_NEW(ctx, parts, n_parts));
    TRY(MEM_NEW(ctx, at, n_parts));
    for (int64_t i = 0; i < n; i++) {
        key[i] = isnan(value[i]) ? INFINITY : value[i];
        size[part[i]]--;
    }
    sort_order(parts, size, n_parts);
    for (int64_t k = 0; k < n_parts; k++) {
        at[parts[k]] = begin;
        begin -= (int64_t)size[parts[k]];
    }
    sort_order(order, key, n);
    for (int64_t t = 0; t < n; t++)
        rank[order[t]] = found[part[order[t]]] ? at[part[order[t]]]++ : -1;
done:
    MEM_FREE(ctx, at, parts, order, size, key);
    return status;
}

/* Finds the parts of the graph: the components that remain if faint edges are ignored. */
static ddsc_status find_parts(ddsc_context *ctx, int32_t *part, int64_t *n_parts, const sparse *a)
{
    ddsc_status status = DDSC_OK;
    double *degree = NULL;
    int64_t *offset = NULL;
    int32_t *column = NULL;
    double least = fmin(FAINT * (double)a->n, FAINT_MOST);
    TRY(MEM_ZERO(ctx, degree, a->n));
    TRY(MEM_ZERO(ctx, offset, a->n + 1));
    TRY(MEM_NEW(ctx, column, a->nnz));
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            degree[i] += a->value[p];
    for (int64_t i = 0; i < a->n; i++) {
        offset[i + 1] = offset[i];
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            if (a->value[p] >= least * fmin(degree[i], degree[a->column[p]]))
                column[offset[i + 1]++] = a->column[p];
    }
    TRY(components_find(ctx, part, n_parts, a->n, offset, column));
done:
    MEM_FREE(ctx, column, offset, degree);
    return status;
}

ddsc_status cluster_direction(ddsc_context *ctx, int64_t *rank, const ddsc_clustering *c)
{
    ddsc_status status = DDSC_OK;
    int64_t n = c->view.n, n_parts = 0;
    int32_t *part = NULL;
    double *value = NULL;
    bool *found = NULL;
    part_column *sum = NULL;
    TRY(MEM_NEW(ctx, part, n));
    TRY(MEM_NEW(ctx, value, n));
    TRY(find_parts(ctx, part, &n_parts, &c->affinity));
    if (n_parts > c->view.n_vectors)
        TRY(components_find(ctx, part, &n_parts, n, c->affinity.offset, c->affinity.column));
    TRY(MEM_ZERO(ctx, found, n_parts));
    TRY(MEM_NEW(ctx, sum, n_parts));
    for (int64_t i = 0; i < n; i++)
        value[i] = NAN;
    /* If the graph is connected, the first column is constant and is skipped. */
    for (int64_t k = n_parts == 1; k < c->view.n_vectors; k++)
        take_column(c, value, found, sum, part, n_parts, k);
    turn_signs(value, part, n, n_parts, sum);
    TRY(rank_items(ctx, rank, value, part, found, n, n_parts));
done:
    MEM_FREE(ctx, sum, found, value, part);
    return status;
}

ddsc_status ddsc_order_run(ddsc_context *context, int64_t *rank, const ddsc_clustering *clustering)
{
    ddsc_status status = DDSC_OK;
    int64_t *found = NULL;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, rank, "rank"));
    CHECK(ctx_need(context, clustering, "clustering"));
    int64_t n = clustering->view.n;
    if (clustering->affinity.n == 0 || clustering->view.n_vectors < 2) {
        for (int64_t i = 0; i < n; i++)
            rank[i] = -1;
        return DDSC_OK;
    }
    TRY(MEM_NEW(context, found, n));
    TRY(cluster_direction(context, found, clustering));
    memcpy(rank, found, (size_t)n * sizeof *rank);
done:
    mem_free(context, found);
    return status;
}
