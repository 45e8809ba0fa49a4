/* Creates a report from the parts of a result: views, rows, ambiguities, scores, theory and map. */
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "report/content/content.h"

SIZED_INIT(source_struct, ddsc_report_source, origin, NULL);
SIZED_INIT(origin_struct, ddsc_report_origin, compress_points, NULL);

/* Copies a result struct whose size was set by the caller. Fields beyond this size are set to zero.
 * */
#define TAKE_RESULT(own, given)                                           \
    do {                                                                  \
        if (given)                                                        \
            sized_view(&(own), sizeof(own), given, (given)->struct_size); \
    } while (0)

/* Returns the number of clusters of plain labels: K if it is fixed in the settings, otherwise the
 * largest label plus 1. */
static int64_t count_clusters(const ddsc_report *r)
{
    int64_t k = r->plan.set.k_min == r->plan.set.k_max ? r->plan.set.k_min : 0;
    for (int64_t i = 0; k == 0 && i < r->items.n_items; i++)
        k = BASE_MAX(k, (int64_t)r->from.labels[i] + 1);
    return BASE_MAX(k, 1);
}

static void take_views(ddsc_report *r)
{
    const ddsc_report_source *from = &r->from;
    ddsc_clustering_get_view(from->clustering, &r->view);
    ddsc_d2_get_view(from->d2, &r->centers);
    ddsc_stability_get_view(from->stability, &r->trust);
    ddsc_measures_get_view(from->measures, &r->items);
    if (from->d2) {
        r->view.n = r->centers.n;
        r->view.k = r->centers.k;
        r->view.labels = r->centers.labels;
    } else if (!from->clustering && from->labels) {
        r->view.n = r->items.n_items;
        r->view.k = count_clusters(r);
        r->view.labels = from->labels;
    }
    if (from->clustering) {
        r->coords = r->view.embedding;
        r->n_coords = r->view.n_vectors;
        r->n_tried = r->view.n_sweep > 1 ? r->view.n_sweep : 0;
        r->tried = r->n_tried > 0 ? r->view.sweep_labels : NULL;
    }
    ddsc_graph_get_view(result_graph(r), &r->edges);
    r->measures = from->measures;
    r->k = r->view.k;
    r->n_rows = from->measures ? r->items.n_rows : r->view.n;
    if (from->clustering)
        r->pairs = *r->view.pairs;
    else
        TAKE_RESULT(r->pairs, from->pairs);
    TAKE_RESULT(r->compress, r->origin.compress);
}

static ddsc_status check_source(ddsc_report *r)
{
    const ddsc_report_source *from = &r->from;
    if (from->n_cluster_names < 0 || (from->n_cluster_names > 0 && !from->cluster_names))
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "report: cluster_names is NULL, but n_cluster_names is %lld; set both",
                        (long long)from->n_cluster_names);
    if (from->n_class_names < 0 || (from->n_class_names > 0 && !from->class_names))
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "report: class_names is NULL, but n_class_names is %lld",
                        (long long)from->n_class_names);
    if (!!from->clustering + !!from->d2 + !!from->labels > 1)
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "report: set exactly one of clustering, d2 and labels");
    if (from->labels && !from->measures)
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT, "report: labels require measures");
    if (r->k > 0 && r->measures && r->view.n != r->items.n_items)
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "report: there are %lld labels, but %lld items", (long long)r->view.n,
                        (long long)r->items.n_items);
    if (r->trust.n > 0 && r->trust.n != r->view.n)
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "report: the stability covers %lld items, but %lld were clustered",
                        (long long)r->trust.n, (long long)r->view.n);
    if (r->edges.n > 0 && r->k > 0 && r->edges.n != r->view.n)
        return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                        "report: the graph has %lld items, but %lld were clustered",
                        (long long)r->edges.n, (long long)r->view.n);
    for (int64_t i = 0; r->k > 0 && i < r->view.n; i++)
        if (r->view.labels[i] < 0 || r->view.labels[i] >= r->k)
            return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT,
                            "report: label %lld is %d; labels must be from 0 to %lld", (long long)i,
                            (int)r->view.labels[i], (long long)r->k - 1);
    return DDSC_OK;
}

/* ---- computations ---- */

/* Writes the label of every input row, or -1 for dropped items and excluded outliers. */
static void label_rows(int32_t *to, const int32_t *labels, const ddsc_report *r)
{
    for (int64_t row = 0; row < r->n_rows; row++)
        to[row] = -1;
    for (int64_t i = 0; i < r->view.n; i++)
        to[r->measures ? r->items.row[i] : i] = result_left_out(r, i) ? -1 : labels[i];
}

/* Writes the headline, for example "1,234 items in 5 clusters (6 requested)". If the graph has
 * fewer separable clusters than requested, the other clusters are empty. */
static ddsc_status write_headline(ddsc_report *r)
{
    buffer b = {.ctx = r->ctx};
    int64_t n_found = 0;
    for (int64_t c = 0; c < r->k; c++)
        n_found += r->size[c] > 0;
    buffer_add_count(&b, r->view.n);
    buffer_addf(&b, " items in %lld cluster%s", (long long)n_found, n_found == 1 ? "" : "s");
    if (n_found < r->k && !r->from.update)
        buffer_addf(&b, " (%lld requested)", (long long)r->k);
    if (b.status >= 0)
        snprintf(r->headline, sizeof r->headline, "%s", b.bytes);
    ddsc_status status = b.status;
    buffer_free(&b);
    return status;
}

/* Finds the outliers in the graph of a clustering. */
static ddsc_status find_outliers(ddsc_report *r)
{
    ddsc_outliers found;
    bool possible = r->edges.n > 0 && r->from.clustering;
    if (r->from.outliers && !possible)
        return ctx_fail(
            r->ctx, DDSC_ERROR_ARGUMENT,
            "outlier detection requires a neighbor graph, which this method does not build");
    if (!possible)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->outlier, r->view.n));
    CHECK(MEM_ZERO(r->ctx, r->outlying, r->view.n));
    ddsc_outliers_init(&found);
    found.score = r->outlier;
    found.outlying = r->outlying;
    CHECK(ddsc_outliers_run(r->ctx, &found, result_graph(r), r->view.labels, r->k));
    r->outlier_from = found.from;
    r->n_outlying = found.n_outlying;
    return DDSC_OK;
}

static ddsc_status take_rows(ddsc_report *r)
{
    int64_t n;
    CHECK(MEM_NEW(r->ctx, r->label, r->n_rows));
    CHECK(MEM_NEW(r->ctx, r->shown, r->n_rows));
    CHECK(MEM_ZERO(r->ctx, r->size, r->k));
    label_rows(r->label, r->view.labels, r);
    CHECK(result_index(r, &n));
    CHECK(find_outliers(r));
    label_rows(r->shown, r->view.labels, r);
    for (int64_t i = 0; i < r->view.n; i++)
        r->size[r->view.labels[i]] += !result_left_out(r, i);
    return write_headline(r);
}

ddsc_status content_find_ambiguity(ddsc_report *r, const int32_t *labels, int64_t n)
{
    ddsc_standing places;
    if (!r->coords || n == 0)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->distance, n));
    CHECK(MEM_NEW(r->ctx, r->ambiguity, n));
    CHECK(MEM_NEW(r->ctx, r->next, n));
    ddsc_standing_init(&places);
    places.distance = r->distance;
    places.ambiguity = r->ambiguity;
    places.next = r->next;
    return ddsc_standing_run(r->ctx, &places, n, r->n_coords, r->coords, labels, r->k);
}

static ddsc_status score_rows(ddsc_report *r, ddsc_scores *scores, const int32_t *labels)
{
    ddsc_scores_init(scores);
    return ddsc_scores_run(r->ctx, scores, r->n_rows, labels, r->from.truth);
}

static ddsc_status score_all(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    int32_t *rows = NULL;
    if (!r->from.truth)
        return DDSC_OK;
    r->scored = true;
    TRY(score_rows(r, &r->scores, r->shown));
    TRY(MEM_NEW(r->ctx, r->sweep_scores, r->view.n_sweep));
    TRY(MEM_NEW(r->ctx, rows, r->n_rows));
    for (int64_t k = 0; k < r->view.n_sweep; k++) {
        label_rows(rows, r->view.sweep_labels + k * r->view.n, r);
        TRY(score_rows(r, &r->sweep_scores[k], rows));
    }
done:
    mem_free(r->ctx, rows);
    return status;
}

static ddsc_status ask_theory(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    int32_t *truth = NULL;
    if (!r->from.truth || !result_graph(r) || r->view.n_joined > 0)
        return DDSC_OK;
    TRY(MEM_NEW(r->ctx, truth, r->view.n));
    TRY(MEM_NEW(r->ctx, r->intra, r->view.n));
    TRY(MEM_NEW(r->ctx, r->inter, r->view.n));
    TRY(MEM_NEW(r->ctx, r->xi, r->view.n));
    for (int64_t i = 0; i < r->view.n; i++)
        truth[i] = r->from.truth[r->row[i]];
    ddsc_theory_init(&r->theory);
    r->theory.item_intra = r->intra;
    r->theory.item_inter = r->inter;
    r->theory.item_xi = r->xi;
    TRY(ddsc_theory_run(r->ctx, &r->theory, result_graph(r), truth, &r->plan.set));
done:
    mem_free(r->ctx, truth);
    return status;
}

/* Computes the map. The layout starts with the two directions of largest variance of the embedding
 * and then moves neighbors closer together. */
static ddsc_status make_map(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    const ddsc_clustering_view *v = &r->view;
    double *start = NULL;
    if (!r->from.map || !result_graph(r) || v->n == 0 || v->n_vectors == 0)
        return DDSC_OK;
    TRY(MEM_NEW(r->ctx, start, 2 * v->n));
    TRY(MEM_NEW(r->ctx, r->xy, 2 * r->n_rows));
    TRY(ddsc_project_run(r->ctx, start, v->n, v->n_vectors, v->embedding));
    TRY(ddsc_layout_run(r->ctx, r->xy, result_graph(r), start));
    result_spread(r->xy, 2, r);
done:
    mem_free(r->ctx, start);
    return status;
}

static ddsc_status find_memberships(ddsc_report *r)
{
    int64_t cells;
    if (!r->from.membership || !r->from.clustering)
        return DDSC_OK;
    if (!mul_ok(r->view.n, r->k, &cells))
        return ctx_fail(r->ctx, DDSC_ERROR_MEMORY,
                        "memberships: the matrix of items x clusters is too large");
    ddsc_membership_report_init(&r->membership_fit);
    CHECK(MEM_NEW(r->ctx, r->membership, cells));
    return ddsc_membership_run(r->ctx, r->membership, &r->membership_fit, r->from.clustering,
                               r->measures);
}

static ddsc_status resolve_settings(ddsc_report *r)
{
    ddsc_cluster_settings_init(&r->plan.set);
    ddsc_metric_settings_init(&r->plan.metric);
    ddsc_graph_settings_init(&r->plan.graph);
    CHECK(ddsc_cluster_settings_resolve(r->ctx, &r->plan.set, &r->plan.metric, &r->plan.graph,
                                        r->from.settings));
    ddsc_update_view u;
    ddsc_update_get_view(r->from.update, &u);
    if (u.n_candidates > 0 && u.candidates[0]->accepted)
        r->plan.set.k_min = r->plan.set.k_max = u.candidates[0]->k;
    return DDSC_OK;
}

static ddsc_status result_fill(ddsc_report *r)
{
    stage_enter(r->ctx, "findings");
    take_views(r);
    CHECK(check_source(r));
    if (r->k > 0) {
        CHECK(take_rows(r));
        CHECK(content_find_ambiguity(r, r->view.labels, r->view.n));
        CHECK(content_find_order(r));
        CHECK(find_memberships(r));
        CHECK(ddsc_verdict_run(r->ctx, &r->verdict, r->from.clustering, r->measures,
                               result_graph(r)));
        CHECK(score_all(r));
        CHECK(ask_theory(r));
    }
    stage_enter(r->ctx, "map");
    CHECK(make_map(r));
    stage_enter(r->ctx, "findings");
    CHECK(content_build(r));
    return r->from.truth ? result_classes(r, r->from.truth) : DDSC_OK;
}

ddsc_status ddsc_report_create(ddsc_context *context, ddsc_report **report,
                               const ddsc_report_source *source)
{
    ddsc_status status = DDSC_OK;
    ddsc_report *r = NULL;
    if (!context || !report)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    *report = NULL;
    TRY(MEM_ZERO(context, r, 1));
    r->ctx = context;
    TRY(sized_take(context, &source_struct, &r->from, source));
    TRY(sized_take(context, &origin_struct, &r->origin, r->from.origin));
    TRY(resolve_settings(r));
    TRY(result_fill(r));
    *report = r;
    r = NULL;
done:
    ddsc_report_destroy(r);
    result_call_end(&call);
    return status;
}

void ddsc_report_destroy(ddsc_report *r)
{
    if (!r)
        return;
    json_decref(r->tree);
    ddsc_verdict_destroy(r->verdict);
    ddsc_measures_destroy(r->own_measures);
    MEM_FREE(r->ctx, r->label, r->xy, r->class, r->item, r->row, r->size, r->distance, r->ambiguity,
             r->next, r->shown, r->outlier, r->outlying, r->order, r->membership, r->sweep_scores,
             r->intra, r->inter, r->xi, r->own_coords, r->own_d2, r->own_tried, r->own_index,
             r->own_offset);
    mem_free(r->ctx, r);
}

void ddsc_report_get_view_sized(const ddsc_report *report, ddsc_report_view *view, size_t size)
{
    ddsc_report_view own = {.headline = ""};
    if (report) {
        own = (ddsc_report_view){.n_rows = report->n_rows,
                                 .k = report->k,
                                 .labels = report->shown,
                                 .map = report->xy,
                                 .scores = report->scored ? &report->scores : NULL,
                                 .certified = result_certified(report),
                                 .headline = report->headline,
                                 .verdict = report->verdict};
    }
    sized_view(view, size, &own, sizeof own);
}
