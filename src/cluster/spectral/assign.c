/* Assigns labels to new items. Let a_j be the affinities of a new item to its nearest old items,
 * and let M v = lambda v. The extension of v that preserves this equation is (Bengio et al. 2004)
 *
 *     v(new) / sqrt(degree) = sum_j a_j (v_j / sqrt(degree_j)) / (lambda sum_j a_j).
 *
 * The new row of the embedding is therefore the weighted mean of the neighbors' rows, with each
 * column divided by its lambda. It is then normalized like the old rows. */
#include <math.h>
#include <string.h>

#include "base/paper.h"
#include "base/sized.h"
#include "base/workspace.h"
#include "cluster/spectral/cluster.h"
#include "cluster/spectral/membership.h"
#include "cluster/spectral/mixture.h"
#include "data/model.h"
#include "neighbors/planner/plan.h"
#include "numeric/linalg/linalg.h"

/* Lower limit for the eigenvalue in the division. Eigenvectors with smaller eigenvalues vary
 * strongly between neighbors, so dividing by such eigenvalues would amplify noise. */
static const double LEAST_EIGENVALUE = 0.1;

static const ddsc_assign_settings defaults = {.exact_graph = DDSC_GRAPH_AUTO};
SIZED_INIT(settings_struct, ddsc_assign_settings, exact_graph, &defaults);
SIZED_INIT(assignment_struct, ddsc_assignment, far, NULL);

static ddsc_status assign_settings_take(ddsc_context *ctx, ddsc_assign_settings *own,
                                        const ddsc_assign_settings *given)
{
    ddsc_graph_settings graph;
    CHECK(sized_take(ctx, &settings_struct, own, given));
    ddsc_graph_settings_init(&graph);
    graph.exact_graph = own->exact_graph;
    return plan_check_graph(ctx, &graph);
}

typedef struct assignment {
    const ddsc_model *m;
    const measures *joint;  /* old items, followed by the new ones */
    const ddsc_graph *near; /* list c: the nearest old items of new item c */
    int32_t *far;
    int32_t *label; /* this array and the following ones are NULL if not requested */
    double *confidence, *distance;
    double *rows;          /* n_new x width */
    double *membership;    /* n_new x k */
    const measures *data;  /* the new items */
    mixture_scorer scorer; /* k = 0: labels do not use words */
    int32_t *by_words;     /* n_new: 1 for items labeled by words */
    scratch work;          /* one per worker: a row of `width` values, k shares and k memberships */
} assignment;

/* Returns the affinity to a neighbor, computed as in a graph of all items. The neighbor list of the
 * new item contributes half of the affinity. The neighbor's own list contributes the other half if
 * the new item is near enough to be in it. */
static double link_of(const ddsc_model *m, double scale, int64_t old, double d2)
{
    double a = affinity_value(d2, m->gamma, scale, m->scale[old]);
    return d2 < m->reach[old] ? a : a / 2;
}

static double scale_of(const ddsc_model *m, const ddsc_graph *g, int64_t item)
{
    int64_t n = g->offset[item + 1] - g->offset[item];
    double d2 = g->d2[g->offset[item] + BASE_MIN(n, AFFINITY_NEIGHBOR) - 1];
    return BASE_MAX(sqrt(BASE_MAX(d2, 0)), m->least_scale);
}

/* Computes the row of a new item, and the share of its affinity to each cluster. Returns false if
 * none of its neighbors has a row. */
static bool extend(const assignment *a, int64_t item, double *row, double *share)
{
    const ddsc_model *m = a->m;
    const ddsc_graph *g = a->near;
    double scale = scale_of(m, g, item), total = 0;
    memset(row, 0, (size_t)m->width * sizeof *row);
    memset(share, 0, (size_t)m->k * sizeof *share);
    for (int64_t p = g->offset[item]; p < g->offset[item + 1]; p++) {
        int64_t old = g->index[p];
        double link = link_of(m, scale, old, g->d2[p]), weight = link * m->radius[old];
        total += link;
        DDSC_ASSERT(old >= 0 && old < m->n && m->items->label[old] >= 0 &&
                    m->items->label[old] < m->k);
        share[m->items->label[old]] += link;
        for (int64_t j = 0; j < m->width; j++)
            row[j] += weight * m->embedding[old * m->width + j];
    }
    for (int64_t j = 0; j < m->width; j++)
        row[j] /= BASE_MAX(m->eigenvalue[j], LEAST_EIGENVALUE);
    DDSC_ASSERT(total > 0);
    for (int64_t c = 0; c < m->k; c++)
        share[c] /= total;
    double norm = la_norm(m->width, row);
    for (int64_t j = 0; j < m->width && norm > 0; j++)
        row[j] /= norm;
    return norm > 0;
}

/* Returns the label of the nearest center. The confidence is 1 - d/e, where d is the distance to
 * this center and e is the distance to the nearest center with another label. */
static int32_t nearest_center(const ddsc_model *m, const double *row, double *confidence)
{
    int32_t label = m->center_label[0];
    double best = INFINITY, other = INFINITY;
    for (int64_t c = 0; c < m->n_centers; c++) {
        double d = la_distance2(m->width, row, m->center + c * m->width);
        if (d < best) {
            other = m->center_label[c] == label ? other : best;
            best = d;
            label = m->center_label[c];
        } else if (m->center_label[c] != label) {
            other = fmin(other, d);
        }
    }
    *confidence = other < INFINITY && other > 0 ? 1 - sqrt(best / other) : other > 0;
    return label;
}

/* Returns the cluster with the largest share of the affinity. This label is used for items whose
 * neighbors have no rows. The confidence is the difference between the two largest shares. */
static int32_t largest_share(const ddsc_model *m, const double *share, double *confidence)
{
    int32_t best = 0;
    double next = 0;
    for (int32_t c = 1; c < m->k; c++) {
        if (share[c] > share[best]) {
            next = share[best];
            best = c;
        } else {
            next = fmax(next, share[c]);
        }
    }
    *confidence = share[best] - next;
    return best;
}

/* Returns the old item that equals the new item if it is among the nearest old items, and -1
 * otherwise. The new item then receives the old item's row instead of an extension. */
static int64_t twin_of(const assignment *a, int64_t item)
{
    const ddsc_graph *g = a->near;
    for (int64_t p = g->offset[item]; p < g->offset[item + 1]; p++)
        if (measures_equal_items(a->joint, g->index[p], a->m->n + item))
            return g->index[p];
    return -1;
}

/* Returns the difference between the two largest memberships. */
static double lead(const double *membership, int64_t k)
{
    int32_t best = membership_best(membership, k);
    double next = 0;
    for (int32_t c = 0; c < k; c++)
        next = c == best ? next : fmax(next, membership[c]);
    return membership[best] - next;
}

/* Computes the memberships of one item, given its row and its label by distance. Returns the label
 * by words if the item has words of the mixture, and `label` otherwise. */
static int32_t join_clusters(const assignment *a, int64_t item, double *membership,
                             const double *row, const double *share, int32_t label,
                             double *confidence)
{
    const ddsc_model *m = a->m;
    a->by_words[item] =
        a->scorer.k > 0 && mixture_score(&a->scorer, membership, a->data->row[item]) > 0;
    if (a->by_words[item]) {
        label = membership_best(membership, m->k);
        membership_soften(membership, m->k, m->mixture.softness);
        *confidence = lead(membership, m->k);
        return label;
    }
    if (m->softness > 0 && la_norm(m->width, row) > 0) {
        membership_near(membership, m->k, row, m->width, m->center, m->center_label, m->n_centers);
        membership_soften(membership, m->k, m->softness);
    } else {
        memcpy(membership, share, (size_t)m->k * sizeof *membership);
    }
    membership_favor(membership, m->k, label);
    return label;
}

/* Computes the label, row and confidence of one new item. */
static int32_t place_item(const assignment *a, int64_t item, double *row, double *share,
                          double *confidence)
{
    const ddsc_model *m = a->m;
    bool placed = extend(a, item, row, share);
    int64_t twin = twin_of(a, item);
    if (twin >= 0) {
        memcpy(row, m->embedding + twin * m->width, (size_t)m->width * sizeof *row);
        placed = la_norm(m->width, row) > 0;
    }
    int32_t label =
        placed ? nearest_center(m, row, confidence) : largest_share(m, share, confidence);
    DDSC_ASSERT(label >= 0 && label < m->k && *confidence >= 0 && *confidence <= 1);
    return twin >= 0 ? m->items->label[twin] : label;
}

static ddsc_status assign_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const assignment *a = arg;
    const ddsc_model *m = a->m;
    for (int64_t i = begin; i < end; i++) {
        double confidence, *row = scratch_of(&a->work, worker), *share = row + m->width;
        double *membership = a->membership ? a->membership + i * m->k : share + m->k;
        int32_t label = place_item(a, i, row, share, &confidence);
        label = join_clusters(a, i, membership, row, share, label, &confidence);
        if (a->label)
            a->label[i] = label;
        if (a->rows)
            memcpy(a->rows + i * m->width, row, (size_t)m->width * sizeof *row);
        double d2 = a->near->d2[a->near->offset[i] + BASE_MIN(m->far_neighbor, a->near->tau) - 1];
        double distance = sqrt(BASE_MAX(d2, 0));
        if (a->confidence)
            a->confidence[i] = confidence;
        if (a->distance)
            a->distance[i] = distance;
        a->far[i] = distance > m->far_distance && a->near->d2[a->near->offset[i]] > 0;
    }
    return DDSC_OK;
}

/* Counts the far items, and warns if they are more than 10% of the new items. About 1% of the new
 * items that resemble the old ones are also counted. */
static void count_far(ddsc_context *ctx, ddsc_assignment *out, int64_t n, const int32_t *far)
{
    out->n_far = 0;
    for (int64_t i = 0; i < n; i++)
        out->n_far += far[i];
    if (10 * out->n_far > n)
        ctx_warn(ctx,
                 "%lld of %lld items are farther from the model's items than 99%% of those "
                 "items are from each other, so their labels are unreliable",
                 (long long)out->n_far, (long long)n);
}

/* Prepares the assignment of documents by words. */
static ddsc_status open_words(ddsc_context *ctx, assignment *a, int32_t **code)
{
    const word_mixture *mix = &a->m->mixture;
    CHECK(MEM_ZERO(ctx, a->by_words, a->data->n));
    if (mix->n_words == 0)
        return DDSC_OK;
    if (a->data->counts.words.n == 0 || a->m->items->counts.words.n == 0) {
        ctx_warn(ctx, "the labels of the model were refined by the words of its documents, but the "
                      "items have no word counts, so labels are assigned by the nearest center; "
                      "convert new documents with ddsc text DOCS --vectors MODEL.npz");
        return DDSC_OK;
    }
    CHECK(mixture_code(ctx, code, mix, &a->m->items->counts.words, &a->data->counts));
    return mixture_open(ctx, &a->scorer, mix, &a->data->counts, *code);
}

static void count_by_words(ddsc_assignment *out, const assignment *a)
{
    out->n_by_words = 0;
    for (int64_t i = 0; i < a->data->n; i++)
        out->n_by_words += a->by_words[i];
}

static ddsc_status assign(ddsc_context *ctx, ddsc_assignment *out, ddsc_pair_stats *stats,
                          const ddsc_model *m, const measures *data,
                          const ddsc_assign_settings *set)
{
    ddsc_status status = DDSC_OK;
    measures *joint = NULL, *moved = NULL;
    ddsc_graph *near = NULL;
    ddsc_graph_settings graph;
    graph_request p = {0};
    local_scales by = {0};
    int32_t *far = NULL, *code = NULL;
    assignment a = {.m = m,
                    .membership = out->membership,
                    .rows = out->rows,
                    .label = out->labels,
                    .confidence = out->confidence,
                    .distance = out->distance};
    TRY(cluster_take_items(ctx, &moved, m, data));
    data = moved ? moved : data;
    if (!metric_find(m->metric.metric)->bounds)
        TRY(plan_check_pruned(ctx, set->exact_graph, metric_find(m->metric.metric)->name));
    TRY(measures_join(ctx, &joint, m->items, data));
    ddsc_graph_settings_init(&graph);
    graph.exact_graph = set->exact_graph;
    TRY(plan_resolve(ctx, &p, joint, &m->metric, &graph, &m->run.frame));
    if (m->hub_scale)
        TRY(graph_scales_make(ctx, &by, m->hub_scale, m->n));
    TRY(plan_query(ctx, &near, stats, &p, m->n, BASE_MIN(m->n, BASE_MAX(1, m->tau)),
                   m->hub_scale ? &by : NULL));
    graph_sort(near);
    if (!out->far)
        TRY(MEM_NEW(ctx, far, data->n));
    a.joint = joint;
    a.data = data;
    TRY(open_words(ctx, &a, &code));
    a.near = near;
    a.far = out->far ? out->far : far;
    TRY(scratch_create(ctx, &a.work, m->width + 2 * m->k, sizeof(double)));
    TRY(parallel_for(ctx, near->n, 64, assign_range, &a));
    count_far(ctx, out, data->n, a.far);
    count_by_words(out, &a);
done:
    mixture_close(ctx, &a.scorer);
    MEM_FREE(ctx, code, a.by_words);
    scratch_free(ctx, &a.work);
    graph_scales_free(ctx, &by);
    metric_resolved_free(&p.metric);
    mem_free(ctx, far);
    ddsc_graph_destroy(near);
    ddsc_measures_destroy(joint);
    ddsc_measures_destroy(moved);
    return status;
}

/* Fails unless the model comes from a clustering with `paper`, which has one gamma, K eigenvectors,
 * unscaled neighbors and the paper's metric. */
static ddsc_status check_paper_model(ddsc_context *ctx, const ddsc_model *m)
{
    ddsc_metric_settings metric = m->metric;
    if (!(m->gamma > 0) || m->hub_scale || m->width != m->k)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "paper = 1: the model was not computed with the paper's algorithm; cluster "
                        "with paper = 1 first");
    CHECK(paper_apply(ctx, PAPER_METRIC, &metric));
    if (metric.sinkhorn_value != m->metric.sinkhorn_value)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "paper = 1: the model uses the root of W_eps as D; cluster with paper = 1 "
                        "first");
    return DDSC_OK;
}

ddsc_status ddsc_assign_run(ddsc_context *ctx, ddsc_assignment *given, ddsc_pair_stats *stats,
                            const ddsc_model *m, const ddsc_measures *data,
                            const ddsc_assign_settings *settings)
{
    ddsc_assign_settings set;
    ddsc_assignment own;
    ddsc_pair_stats found = {0};
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, given, "assignment"));
    CHECK(ctx_need(ctx, m, "model"));
    CHECK(ctx_need(ctx, data, "measures"));
    CHECK(sized_take(ctx, &assignment_struct, &own, given));
    CHECK(stats_check(ctx, stats));
    CHECK(assign_settings_take(ctx, &set, settings));
    if (set.paper)
        CHECK(check_paper_model(ctx, m));
    ddsc_status status = assign(ctx, &own, &found, m, data, &set);
    if (status < 0)
        return status;
    sized_give(&assignment_struct, given, &own);
    stats_give(stats, &found);
    return status;
}
