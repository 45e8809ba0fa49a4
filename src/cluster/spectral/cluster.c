/* Implements the public functions of clustering: settings, and runs on measures or on a graph. */
#include <math.h>
#include <string.h>

#include "base/paper.h"
#include "base/sized.h"
#include "cluster/spectral/decompose.h"
#include "data/model.h"
#include "neighbors/planner/plan.h"

/* Upper limit for the number of neighbors per item in the wide graph, whose modularity is used to
 * compare values of K. Memory use is proportional to this number. */
enum { WIDE_MOST = 100 };

static const ddsc_cluster_settings defaults = {
    .gamma_rule = DDSC_GAMMA_AUTO,
    .min_cluster = 0.2,
    .kmeans_restarts = 30,
    .eigen_tolerance = 1e-8,
    .eigen_max_iterations = 20000,
};
SIZED_INIT(settings_struct, ddsc_cluster_settings, min_cluster, &defaults);

ddsc_status cluster_settings_copy(ddsc_context *ctx, ddsc_cluster_settings *own,
                                  const ddsc_cluster_settings *given)
{
    return sized_take(ctx, &settings_struct, own, given);
}

static ddsc_status settings_check(ddsc_context *ctx, const ddsc_cluster_settings *s)
{
    CHECK(ctx_check(ctx, s->gamma_rule >= DDSC_GAMMA_AUTO && s->gamma_rule <= DDSC_GAMMA_LOCAL,
                    "gamma_rule", (double)s->gamma_rule, "one of 0 .. 3"));
    CHECK(ctx_check(ctx, s->gamma_rule != DDSC_GAMMA_VALUE || (isfinite(s->gamma) && s->gamma > 0),
                    "gamma", s->gamma, "positive and finite"));
    CHECK(ctx_check(ctx, s->min_cluster >= 0 && s->min_cluster <= 1, "min_cluster", s->min_cluster,
                    "from 0 to 1"));
    CHECK(ctx_check(ctx, s->kmeans_restarts >= 1, "kmeans_restarts", (double)s->kmeans_restarts,
                    "at least 1"));
    CHECK(ctx_check(ctx, s->eigen_tolerance > 0 && s->eigen_tolerance < 1, "eigen_tolerance",
                    s->eigen_tolerance, "between 0 and 1"));
    CHECK(ctx_check(ctx, s->eigen_max_iterations >= 1, "eigen_max_iterations",
                    (double)s->eigen_max_iterations, "at least 1"));
    CHECK(ctx_check(ctx, s->joined >= 0 && s->joined < (int64_t)1 << CLUSTER_METRICS, "joined",
                    (double)s->joined, "0 (none) or a sum of 1 << metric"));
    CHECK(ctx_check(ctx, s->refine >= DDSC_REFINE_AUTO && s->refine <= DDSC_REFINE_WORDS, "refine",
                    (double)s->refine, "one of 0 .. 2"));
    CHECK(ctx_check(ctx, s->resolve == 0 || (s->resolve == 1 && s->like), "resolve",
                    (double)s->resolve, "0, or 1 with a model in like"));
    if ((s->k_min != 0 || s->k_max != 0) && (s->k_min < 1 || s->k_max < s->k_min))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "k_min = %lld, k_max = %lld: must be 1 <= k_min <= k_max, or both 0",
                        (long long)s->k_min, (long long)s->k_max);
    return DDSC_OK;
}

ddsc_status cluster_check_parts(ddsc_context *ctx, const cluster_plan *plan)
{
    for (int m = 0; m < CLUSTER_METRICS; m++) {
        ddsc_metric_settings part = plan->metric;
        part.metric = (ddsc_metric)m;
        if (plan->set.joined >> m & 1)
            CHECK(plan_check_metric(ctx, &part));
    }
    return DDSC_OK;
}

ddsc_status cluster_settings_take(ddsc_context *ctx, cluster_plan *plan,
                                  const ddsc_cluster_settings *given)
{
    CHECK(cluster_settings_copy(ctx, &plan->set, given));
    CHECK(settings_check(ctx, &plan->set));
    CHECK(plan_take_metric(ctx, &plan->metric, plan->set.metric));
    CHECK(plan_take_graph(ctx, &plan->graph, plan->set.graph, !plan->set.paper));
    if (plan->set.like)
        CHECK(cluster_take_like(ctx, plan));
    plan->set.paper = plan->set.paper || plan->metric.paper || plan->graph.paper;
    plan->set.metric = &plan->metric;
    plan->set.graph = &plan->graph;
    plan->set.joined &= ~((int64_t)1 << plan->metric.metric);
    if (plan->set.paper) {
        CHECK(paper_apply(ctx, PAPER_CLUSTER, &plan->set));
        CHECK(plan_follow_paper(ctx, &plan->metric, &plan->graph));
    }
    return cluster_check_parts(ctx, plan);
}

ddsc_status ddsc_cluster_settings_resolve(ddsc_context *context, ddsc_cluster_settings *cluster,
                                          ddsc_metric_settings *metric, ddsc_graph_settings *graph,
                                          const ddsc_cluster_settings *settings)
{
    cluster_plan plan;
    CHECK(ctx_enter(context));
    CHECK(ctx_need(context, cluster, "cluster"));
    CHECK(ctx_need(context, metric, "metric"));
    CHECK(ctx_need(context, graph, "graph"));
    CHECK(cluster_settings_take(context, &plan, settings));
    CHECK(plan_give_settings(context, metric, graph, &plan.metric, &plan.graph));
    ddsc_cluster_settings own; /* checks the caller's struct_size */
    CHECK(sized_take(context, &settings_struct, &own, cluster));
    sized_give(&settings_struct, cluster, &plan.set);
    cluster->metric = metric;
    cluster->graph = graph;
    return DDSC_OK;
}

static ddsc_status cluster_check_items(ddsc_context *ctx, int64_t n,
                                       const ddsc_cluster_settings *set)
{
    if (n < 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "there are no items to cluster");
    if (set->k_max > n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "%lld clusters were requested, but the number of items is %lld; reduce K",
                        (long long)set->k_max, (long long)n);
    return DDSC_OK;
}

static ddsc_status clustering_create(ddsc_context *ctx, ddsc_clustering **out)
{
    CHECK(MEM_ZERO(ctx, *out, 1));
    (*out)->ctx = ctx;
    (*out)->view.pairs = &(*out)->pairs;
    return DDSC_OK;
}

/* Copies the named statistics of the run into the clustering. */
static ddsc_status take_details(ddsc_context *ctx, ddsc_clustering *c)
{
    int64_t n;
    const ddsc_detail *left = ddsc_context_get_details(ctx, &n);
    CHECK(MEM_COPY(ctx, c->details, left, n));
    c->view.details = c->details;
    c->view.n_details = n;
    return DDSC_OK;
}

ddsc_status cluster_graph(ddsc_context *ctx, ddsc_clustering **out, const ddsc_graph *graph,
                          const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *c = NULL;
    TRY(clustering_create(ctx, &c));
    TRY(spectral_fit(ctx, c, NULL, graph, NULL, NULL, set));
    TRY(take_details(ctx, c));
    *out = c;
    c = NULL;
done:
    ddsc_clustering_destroy(c);
    return status;
}

ddsc_status ddsc_spectral_run(ddsc_context *context, ddsc_clustering **clustering,
                              const ddsc_graph *graph, const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    cluster_plan plan;
    CHECK(ctx_enter_new(context, clustering));
    if (!graph)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "cannot cluster: graph is NULL");
    TRY(cluster_settings_take(context, &plan, settings));
    TRY(cluster_check_items(context, graph->n, &plan.set));
    if (plan.set.refine == DDSC_REFINE_WORDS)
        TRY(ctx_fail(context, DDSC_ERROR_ARGUMENT,
                     "refine = words needs documents, but only a graph is given; use auto or off"));
    TRY(cluster_graph(context, clustering, graph, &plan.set));
done:
    return status;
}

/* Returns the number of neighbors to search for. If K must be chosen, the modularity uses a wider
 * graph, and the graph of the clustering contains the first tau neighbors of the wider graph. */
static int64_t search_width(int64_t n, int64_t tau, const ddsc_cluster_settings *set)
{
    if (set->k_min == set->k_max && set->k_min > 0)
        return tau;
    int64_t wide = BASE_MIN((int64_t)ceil(1.25 * sqrt((double)n)), WIDE_MOST);
    return BASE_MIN(BASE_MAX(tau, wide), n - 1);
}

/* Returns true if all distances must be computed to find the spanning tree of a small set. Metrics
 * without lower bounds compute all distances anyway. */
static bool needs_span(const graph_request *p)
{
    bool cheap = !p->metric.backend->bounds || p->m->nnz <= GRAPH_SPAN_POINTS * p->m->n;
    int64_t most = cheap ? GRAPH_SPAN_MOST : GRAPH_SPAN_ALWAYS;
    return p->m->n >= GRAPH_SPAN_LEAST && p->m->n <= most && p->graph.sample >= 1 &&
           p->graph.sample_columns >= 1 && p->graph.neighbors != DDSC_NEIGHBORS_APPROXIMATE;
}

/* Moves the graph *from to *to or, if it has more than tau neighbors, copies the first tau. */
static ddsc_status take_nearest(ddsc_context *ctx, ddsc_graph **to, ddsc_graph **from, int64_t tau)
{
    if ((*from)->tau > tau)
        return graph_narrow(ctx, to, *from, tau);
    *to = *from;
    *from = NULL;
    return DDSC_OK;
}

/* Splits *all into the graph with tau neighbors and, if `width` is larger, the wider graph. */
static ddsc_status take_graphs(ddsc_context *ctx, ddsc_graph **graph, ddsc_graph **wide,
                               ddsc_graph **all, int64_t tau, int64_t width)
{
    CHECK(take_nearest(ctx, graph, all, tau));
    CHECK(graph_span(ctx, *graph, *all ? *all : *graph));
    if (width > tau && *all)
        CHECK(take_nearest(ctx, wide, all, width));
    graph_sort(*graph);
    if (*wide)
        graph_sort(*wide);
    return DDSC_OK;
}

/* Returns the reason why the graph cannot be computed from earlier neighbor lists, or NULL if it
 * can. */
static const char *known_refused(ddsc_context *ctx, const graph_request *p, const plan_known *known,
                                 int64_t width, const ddsc_cluster_settings *set)
{
    if (set->resolve)
        return "the settings are chosen again";
    if (!known->lists)
        return "the model has no neighbor lists";
    if (needs_span(p) || width > p->tau)
        return width > p->tau ? "several values of K need more neighbors" : "the set is small";
    if (!plan_same_frame(&p->metric.frame, &set->like->run.frame))
        return "the new items cannot be compared in the frame of the model";
    return plan_update_refused(ctx, p, known);
}

/* Returns the frame in which the items of the model were compared, or NULL. */
static const pair_frame *like_frame(const ddsc_cluster_settings *set)
{
    return set->like && !set->resolve ? &set->like->run.frame : NULL;
}

/* Computes the graph of one metric and, if K must be chosen, a wider graph. known (or NULL)
 * contains earlier neighbor lists. */
static ddsc_status find_graph(ddsc_context *ctx, ddsc_clustering *c, ddsc_graph **graph,
                              ddsc_graph **wide, const ddsc_measures *data,
                              const ddsc_metric_settings *metric, const ddsc_cluster_settings *set,
                              const plan_known *known)
{
    ddsc_status status = DDSC_OK;
    graph_request p = {0};
    ddsc_graph *all = NULL;
    ddsc_pair_stats stats = {.struct_size = sizeof stats};
    TRY(plan_resolve(ctx, &p, data, metric, set->graph, like_frame(set)));
    p.fills = !set->paper;
    int64_t width = search_width(data->n, p.tau, set);
    const char *refused = known ? known_refused(ctx, &p, known, width, set) : NULL;
    if (refused)
        ctx_note(ctx, "update", "all neighbor lists", "%s", refused);
    TRY(known && !refused
            ? plan_update(ctx, &all, &stats, &p, known)
            : plan_neighbors(ctx, &all, &stats, &p, needs_span(&p) ? data->n - 1 : width));
    TRY(take_graphs(ctx, graph, wide, &all, p.tau, width));
    (*graph)->copies = plan_joins_copies(data, *graph);
    if (metric->metric == set->metric->metric) {
        ddsc_measures_destroy(p.metric.own); /* a copy of the points, which is no longer needed */
        p.metric.own = NULL;
        c->metric = p.metric;
        p.metric = (metric_resolved){0};
    }
    if (c->view.n_joined == 0)
        c->pairs = stats;
    else
        cluster_join_stats(&c->pairs, &stats);
done:
    ddsc_graph_destroy(all);
    metric_resolved_free(&p.metric);
    return status;
}

bool cluster_part(ddsc_metric_settings *part, const ddsc_cluster_settings *set, int before)
{
    int own = (int)set->metric->metric, m = before;
    *part = *set->metric;
    if (before < 0)
        return true;
    for (m = before == own ? 0 : before + 1; m < CLUSTER_METRICS; m++)
        if (m != own && (set->joined >> m & 1))
            break;
    part->metric = (ddsc_metric)m;
    return m < CLUSTER_METRICS;
}

static ddsc_status note_part(ddsc_context *ctx, ddsc_clustering *c, const ddsc_graph *g,
                             ddsc_metric metric, double gamma, double seconds)
{
    in_degrees found;
    CHECK(graph_in_degrees(ctx, &found, g, g->tau));
    int64_t at = c->view.n_joined++;
    c->joined[at] = (ddsc_joined_row){.metric = metric,
                                      .gamma = gamma,
                                      .n_edges = g->offset[g->n],
                                      .hubs_rescaled = g->scale != NULL,
                                      .in_degree_largest = found.largest,
                                      .n_nobody = found.n_none,
                                      .seconds = seconds};
    c->joined_list[at] = &c->joined[at];
    return DDSC_OK;
}

/* Computes the graphs of all joined metrics and adds them to *joined. The clustering stores the
 * graph of the first metric. */
static ddsc_status find_joined(ddsc_context *ctx, ddsc_clustering *c, joined_graphs *joined,
                               const ddsc_measures *data, const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph *graph = NULL, *wide = NULL;
    ddsc_metric_settings part;
    affinity_settings how = decompose_affinity_rule(set);
    TRY(MEM_ZERO(ctx, c->joined, CLUSTER_METRICS));
    TRY(MEM_NEW(ctx, c->joined_list, CLUSTER_METRICS));
    c->view.joined = c->joined_list;
    for (int last = -1; cluster_part(&part, set, last); last = (int)part.metric) {
        double started = clock_seconds();
        TRY(find_graph(ctx, c, &graph, &wide, data, &part, set, NULL));
        double seconds = clock_seconds() - started;
        TRY(cluster_join_add(ctx, joined, graph, wide, &how));
        TRY(note_part(ctx, c, graph, part.metric, joined->last_gamma, seconds));
        if (!c->graph) {
            c->graph = graph;
            graph = NULL;
        }
        ddsc_graph_destroy(graph);
        ddsc_graph_destroy(wide);
        graph = wide = NULL;
    }
    cluster_join_finish(joined);
done:
    ddsc_graph_destroy(graph);
    ddsc_graph_destroy(wide);
    return status;
}

ddsc_status cluster_fit_known(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                              const ddsc_measures *data, const ddsc_cluster_settings *set,
                              const plan_known *known)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *c = NULL;
    ddsc_graph *wide = NULL;
    joined_graphs joined = {0};
    double started = clock_seconds();
    const char *before = stage_enter(ctx, "distances");
    TRY(clustering_create(ctx, &c));
    if (set->joined)
        TRY(find_joined(ctx, c, &joined, data, set));
    else
        TRY(find_graph(ctx, c, &c->graph, &wide, data, set->metric, set, known));
    c->view.seconds_distances = clock_seconds() - started;
    c->view.graph = c->graph;
    TRY(spectral_fit(ctx, c, kept, c->graph, wide, set->joined ? &joined : NULL, set));
    TRY(take_details(ctx, c));
    *out = c;
    c = NULL;
done:
    cluster_join_free(ctx, &joined);
    ddsc_graph_destroy(wide);
    ddsc_clustering_destroy(c);
    stage_leave(ctx, before);
    return status;
}

ddsc_status cluster_fit(ddsc_context *ctx, ddsc_clustering **out, decomposition *kept,
                        const ddsc_measures *data, const ddsc_cluster_settings *set)
{
    return cluster_fit_known(ctx, out, kept, data, set, NULL);
}

ddsc_status cluster_prepare(ddsc_context *ctx, cluster_plan *plan, const ddsc_measures *data,
                            const ddsc_cluster_settings *given)
{
    ddsc_metric_settings part;
    if (!data)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "cannot cluster: measures is NULL");
    CHECK(cluster_settings_take(ctx, plan, given));
    CHECK(cluster_check_items(ctx, data->n, &plan->set));
    if (plan->set.paper && data->words.n > 0)
        ctx_warn(ctx, "the word vectors were fitted to the documents, which the paper does not do; "
                      "use ddsc text --paper to keep the original vectors");
    if (plan->set.refine == DDSC_REFINE_WORDS && data->counts.n_words == 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "refine = words needs the word counts of documents, which the items do not "
                        "have; convert the documents again with ddsc text, or use auto or off");
    plan_warn_tau(ctx, data->n, plan->set.graph);
    CHECK(plan_warn_clusters(ctx, data, plan->set.k_max));
    for (int last = -1; cluster_part(&part, &plan->set, last); last = (int)part.metric)
        CHECK(plan_warn_bandwidth(ctx, data, &part));
    return plan_warn_coordinates(ctx, data);
}

/* Records the resume folder of the run and the number of pairs that were read from it. */
static ddsc_status take_resumed(ddsc_context *ctx, ddsc_clustering *c, int64_t before)
{
    const char *folder = ctx_resume_folder(ctx);
    if (!folder)
        return DDSC_OK;
    CHECK(MEM_COPY(ctx, c->resume, folder, (int64_t)strlen(folder) + 1));
    c->view.resume = c->resume;
    c->view.n_resumed = ddsc_context_get_resumed(ctx) - before;
    return DDSC_OK;
}

ddsc_status ddsc_cluster_run(ddsc_context *context, ddsc_clustering **clustering,
                             const ddsc_measures *data, const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *found = NULL;
    cluster_plan plan;
    CHECK(ctx_enter_new(context, clustering));
    TRY(cluster_prepare(context, &plan, data, settings));
    if (plan.set.joined && ctx_resume_folder(context)) {
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT,
                          "a resume folder stores the pairs of one metric and cannot be combined "
                          "with joined metrics; omit one of the two");
        goto done;
    }
    int64_t resumed = ddsc_context_get_resumed(context);
    TRY(cluster_fit(context, &found, NULL, data, &plan.set));
    TRY(cluster_refine(context, found, data, &plan.set));
    TRY(take_resumed(context, found, resumed));
    *clustering = found;
    found = NULL;
done:
    ddsc_clustering_destroy(found);
    return status;
}
