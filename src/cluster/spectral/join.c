/* Joins several metrics. Each metric has its own nearest-neighbor graph, gamma and hub rule. The
 * normalized affinities S^-1/2 A S^-1/2 are averaged, so that the influence of a metric does not
 * depend on its scale. The average is rarely better than the best single metric, but never much
 * worse (bench/joined.py). */
#include <math.h>

#include "cluster/spectral/cluster.h"

/* Replaces A with S^-1/2 A S^-1/2, where S is the diagonal matrix of the row sums. */
static ddsc_status normalize_affinity(ddsc_context *ctx, sparse *a)
{
    double *root = NULL;
    CHECK(MEM_ZERO(ctx, root, a->n));
    for (int64_t i = 0; i < a->n; i++) {
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            root[i] += a->value[p];
        root[i] = sqrt(root[i]);
    }
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            a->value[p] = a->value[p] / root[i] / root[a->column[p]];
    mem_free(ctx, root);
    return DDSC_OK;
}

/* Adds the normalized `term` to the sum, or moves it there if it is the first term. */
static ddsc_status sum_normalized(ddsc_context *ctx, sparse *sum, sparse *term, bool first)
{
    sparse both = {0};
    CHECK(normalize_affinity(ctx, term));
    if (first) {
        *sum = *term;
        *term = (sparse){0};
        return DDSC_OK;
    }
    CHECK(sparse_sum(ctx, &both, sum, term, 1));
    sparse_free(ctx, sum);
    *sum = both;
    return DDSC_OK;
}

static void add_report(affinity_report *sum, const affinity_report *next, bool first)
{
    if (first) {
        *sum = *next;
        return;
    }
    sum->n_edges += next->n_edges;
    sum->n_clamped += next->n_clamped;
    sum->n_faint = BASE_MIN(sum->n_faint, next->n_faint);
    sum->flat &= next->flat;
}

ddsc_status cluster_join_take(ddsc_context *ctx, joined_graphs *j, sparse *a)
{
    CHECK(sum_normalized(ctx, &j->a, a, j->n_parts == 0));
    sparse_free(ctx, a);
    j->n_parts++;
    return DDSC_OK;
}

ddsc_status cluster_join_add(ddsc_context *ctx, joined_graphs *j, const ddsc_graph *graph,
                             const ddsc_graph *wide, const affinity_settings *how)
{
    ddsc_status status = DDSC_OK;
    sparse term = {0};
    affinity_report found, ignored;
    bool first = j->n_parts == 0;
    TRY(affinity_build(ctx, &term, &found, graph, how));
    TRY(cluster_join_take(ctx, j, &term));
    if (wide) {
        affinity_settings same = {.rule = DDSC_GAMMA_LOCAL};
        if (found.gamma > 0)
            same = (affinity_settings){.rule = DDSC_GAMMA_VALUE, .gamma = found.gamma};
        TRY(affinity_build(ctx, &term, &ignored, wide, &same));
        TRY(sum_normalized(ctx, &j->wide, &term, first));
    }
    add_report(&j->report, &found, first);
    j->last_gamma = found.gamma;
done:
    sparse_free(ctx, &term);
    return status;
}

static void divide_sum(sparse *a, double by)
{
    for (int64_t p = 0; p < a->nnz; p++)
        a->value[p] /= by;
}

void cluster_join_finish(joined_graphs *j)
{
    divide_sum(&j->a, (double)j->n_parts);
    divide_sum(&j->wide, (double)j->n_parts);
}

void cluster_join_free(ddsc_context *ctx, joined_graphs *j)
{
    sparse_free(ctx, &j->a);
    sparse_free(ctx, &j->wide);
}

void cluster_join_stats(ddsc_pair_stats *sum, const ddsc_pair_stats *next)
{
    sum->n_pairs += next->n_pairs;
    sum->n_solved += next->n_solved;
    sum->n_bounds += next->n_bounds;
    sum->n_pruned += next->n_pruned;
    sum->n_not_converged += next->n_not_converged;
    sum->n_clamped += next->n_clamped;
    sum->n_iterations += next->n_iterations;
    sum->max_gap = fmax(sum->max_gap, next->max_gap);
    sum->seconds += next->seconds;
    /* Each of these values is set by only one metric, so the maximum is that value. */
    sum->epsilon = fmax(sum->epsilon, next->epsilon);
    sum->bandwidth = fmax(sum->bandwidth, next->bandwidth);
    sum->reference_size = BASE_MAX(sum->reference_size, next->reference_size);
    sum->n_features = BASE_MAX(sum->n_features, next->n_features);
    sum->n_components = BASE_MAX(sum->n_components, next->n_components);
    sum->reduction_error = fmax(sum->reduction_error, next->reduction_error);
    if (next->n_checked > sum->n_checked) {
        sum->n_checked = next->n_checked;
        sum->check_median = next->check_median;
        sum->check_high = next->check_high;
        sum->check_max = next->check_max;
    }
    /* The reported recall is the lowest of all searches. */
    if (next->n_recall_rows > 0 && (sum->n_recall_rows == 0 || next->recall < sum->recall)) {
        sum->n_recall_rows = next->n_recall_rows;
        sum->recall = next->recall;
        sum->recall_low = next->recall_low;
        sum->recall_high = next->recall_high;
    }
}
