/* The public calls of clustering: settings, the object, the two ways in. */
#include <math.h>
#include <string.h>

#include "cluster/cluster.h"
#include "plan/plan.h"

/* Neighbours of the graph on which modularity compares K: memory grows with it. */
enum { WIDE_MOST = 100 };

void ddsc_cluster_settings_init(ddsc_cluster_settings *settings)
{
    if (!settings)
        return;
    *settings = (ddsc_cluster_settings){
        .struct_size = sizeof *settings,
        .gamma_rule = DDSC_GAMMA_AUTO,
        .min_cluster = 0.2,
        .kmeans_restarts = 30,
        .eigen_tolerance = 1e-8,
        .eigen_max_iterations = 20000,
    };
    ddsc_metric_settings_init(&settings->metric);
    ddsc_graph_settings_init(&settings->graph);
}

static ddsc_status check_range(ddsc_context *ctx, const ddsc_cluster_settings *s)
{
    if (s->k_min == 0 && s->k_max == 0)
        return DDSC_OK;
    if (s->k_min < 1 || s->k_max < s->k_min)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "k_min = %lld, k_max = %lld: must be 1 <= k_min <= k_max, or both 0",
                        (long long)s->k_min, (long long)s->k_max);
    return DDSC_OK;
}

ddsc_status cluster_settings_take(ddsc_context *ctx, ddsc_cluster_settings *own,
                                  const ddsc_cluster_settings *given)
{
    ddsc_cluster_settings_init(own);
    if (given) {
        if (given->struct_size == 0 || given->struct_size > sizeof *own)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "cluster settings: struct_size = %zu, expected 1 .. %zu",
                            given->struct_size, sizeof *own);
        memcpy(own, given, given->struct_size);
    }
    if (own->gamma_rule < DDSC_GAMMA_AUTO || own->gamma_rule > DDSC_GAMMA_VALUE)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "gamma_rule = %d: must be one of 0 .. 2",
                        (int)own->gamma_rule);
    if (own->gamma_rule == DDSC_GAMMA_VALUE && !(isfinite(own->gamma) && own->gamma > 0))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "gamma = %g: must be positive and finite",
                        own->gamma);
    if (!(own->min_cluster >= 0 && own->min_cluster <= 1))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "min_cluster = %g: must lie in 0 .. 1",
                        own->min_cluster);
    if (own->kmeans_restarts < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "kmeans_restarts = %lld: must be at least 1",
                        (long long)own->kmeans_restarts);
    if (!(own->eigen_tolerance > 0 && own->eigen_tolerance < 1))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "eigen_tolerance = %g: must lie between 0 and 1",
                        own->eigen_tolerance);
    if (own->eigen_max_iterations < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "eigen_max_iterations = %lld: must be at least 1",
                        (long long)own->eigen_max_iterations);
    return check_range(ctx, own);
}

static ddsc_status check_items(ddsc_context *ctx, int64_t n, const ddsc_cluster_settings *set)
{
    if (n < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "there are no items to cluster");
    if (set->k_max > n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "k = %lld clusters of %lld items",
                        (long long)set->k_max, (long long)n);
    return DDSC_OK;
}

static ddsc_status clustering_create(ddsc_context *ctx, ddsc_clustering **out)
{
    ddsc_status status = MEM_ZERO(ctx, *out, 1);
    if (status >= 0)
        (*out)->ctx = ctx;
    return status;
}

void ddsc_clustering_destroy(ddsc_clustering *clustering)
{
    if (!clustering)
        return;
    ddsc_context *ctx = clustering->ctx;
    ddsc_graph_destroy(clustering->graph);
    mem_free(ctx, clustering->scale);
    sparse_free(ctx, &clustering->affinity);
    mem_free(ctx, clustering->advice);
    mem_free(ctx, clustering->radius);
    mem_free(ctx, clustering->cells);
    mem_free(ctx, clustering->sweep_labels);
    mem_free(ctx, clustering->sweep);
    mem_free(ctx, clustering->residuals);
    mem_free(ctx, clustering->eigenvalues);
    mem_free(ctx, clustering->embedding);
    mem_free(ctx, clustering->labels);
    mem_free(ctx, clustering);
}

void ddsc_clustering_get_view(const ddsc_clustering *clustering, ddsc_clustering_view *view)
{
    if (view)
        *view = clustering ? clustering->view : (ddsc_clustering_view){.advice = ""};
}

const int32_t *ddsc_clustering_get_labels(const ddsc_clustering *clustering)
{
    return clustering ? clustering->labels : NULL;
}

void ddsc_clustering_get_affinity(const ddsc_clustering *clustering, ddsc_affinity_view *view)
{
    if (!view)
        return;
    *view = (ddsc_affinity_view){0};
    if (!clustering)
        return;
    const sparse *a = &clustering->affinity;
    *view = (ddsc_affinity_view){.n = a->n,
                                 .n_entries = a->nnz,
                                 .offset = a->offset,
                                 .column = a->column,
                                 .value = a->value,
                                 .gamma = clustering->view.gamma,
                                 .scale = clustering->scale,
                                 .scale_rank = AFFINITY_NEIGHBOUR,
                                 .scale_floor = clustering->scale_floor,
                                 .radius = clustering->radius};
}

ddsc_status ddsc_spectral_run(ddsc_context *context, ddsc_clustering **clustering,
                              const ddsc_graph *graph, const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_cluster_settings set;
    ddsc_clustering *c = NULL;
    if (!context || !clustering)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    *clustering = NULL;
    if (!graph)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "no graph given to cluster");
    TRY(cluster_settings_take(context, &set, settings));
    TRY(check_items(context, graph->n, &set));
    TRY(clustering_create(context, &c));
    TRY(spectral_fit(context, c, NULL, graph, NULL, &set));
    *clustering = c;
    c = NULL;
done:
    ddsc_clustering_destroy(c);
    return status;
}

/* Where K is to be chosen, modularity looks at a wider graph; its nearest tau are the usual one. */
static int64_t search_width(int64_t n, int64_t tau, const ddsc_cluster_settings *set)
{
    if (set->k_min == set->k_max && set->k_min > 0)
        return tau;
    int64_t wide = BASE_MIN((int64_t)ceil(1.25 * sqrt((double)n)), WIDE_MOST);
    return BASE_MIN(BASE_MAX(tau, wide), n - 1);
}

ddsc_status cluster_fit(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                        const ddsc_measures *data, const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *c = NULL;
    ddsc_graph *wide = NULL;
    plan p = {0};
    double started = clock_seconds();
    TRY(clustering_create(ctx, &c));
    TRY(plan_make(ctx, &p, data, &set->metric, &set->graph));
    int64_t width = search_width(data->n, p.tau, set);
    TRY(plan_neighbors(ctx, &wide, &c->view.pairs, &p, width));
    c->view.seconds_distances = clock_seconds() - started;
    if (width > p.tau) {
        TRY(graph_narrow(ctx, &c->graph, wide, p.tau));
    } else {
        c->graph = wide;
        wide = NULL;
    }
    c->view.graph = c->graph;
    TRY(spectral_fit(ctx, c, kept, c->graph, wide, set));
    *out = c;
    c = NULL;
done:
    plan_free(&p);
    ddsc_graph_destroy(wide);
    ddsc_clustering_destroy(c);
    return status;
}

ddsc_status ddsc_cluster_run(ddsc_context *context, ddsc_clustering **clustering,
                             const ddsc_measures *data, const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_cluster_settings set;
    if (!context || !clustering)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    *clustering = NULL;
    if (!data)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "no measures given to cluster");
    TRY(cluster_settings_take(context, &set, settings));
    ddsc_graph_settings graph = set.graph;
    ddsc_metric_settings metric = set.metric;
    TRY(graph_settings_take(context, &set.graph, &graph));
    TRY(metric_settings_take(context, &set.metric, &metric));
    TRY(check_items(context, data->n, &set));
    TRY(cluster_fit(context, clustering, NULL, data, &set));
done:
    return status;
}
