/* Repeats the clustering on resampled points and compares each of these runs with the first one. */
#include <math.h>
#include <string.h>

#include "assess/identity/identity.h"
#include "assess/quality/quality.h"
#include "base/sized.h"
#include "cluster/spectral/decompose.h"
#include "neighbors/planner/plan.h"
#include "numeric/labels/scores.h"

struct ddsc_stability {
    ddsc_context *ctx;
    ddsc_stability_view view;
    ddsc_stability_row *rows, mean, worst;
    const ddsc_stability_row **row_list; /* pointers to the rows */
    int32_t *labels;
    int64_t *n_changed;
    int32_t *other;
    char *words;
};

static const ddsc_stability_settings defaults = {.n_resamples = 20};
SIZED_INIT(settings_struct, ddsc_stability_settings, n_resamples, &defaults);

static ddsc_status stability_settings_take(ddsc_context *ctx, ddsc_stability_settings *own,
                                           const ddsc_stability_settings *given)
{
    CHECK(sized_take(ctx, &settings_struct, own, given));
    return ctx_check(ctx, own->n_resamples >= 1 && own->n_resamples <= INT32_MAX, "n_resamples",
                     (double)own->n_resamples, "1 .. 2147483647");
}

void ddsc_stability_destroy(ddsc_stability *stability)
{
    if (!stability)
        return;
    ddsc_context *ctx = stability->ctx;
    MEM_FREE(ctx, stability->words, stability->other, stability->n_changed, stability->labels,
             stability->row_list, stability->rows);
    mem_free(ctx, stability);
}

static const ddsc_stability_row no_row = {0};
SIZED_VIEW(ddsc_stability, .mean = &no_row, .worst = &no_row, .words = "")

static ddsc_status stability_create(ddsc_context *ctx, ddsc_stability **out, int64_t n, int64_t b)
{
    ddsc_status status = DDSC_OK;
    ddsc_stability *s = NULL;
    int64_t n_labels;
    if (!mul_ok(n, b, &n_labels))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY,
                        "%lld resamples of %lld items are too many; use fewer resamples",
                        (long long)b, (long long)n);
    TRY(MEM_ZERO(ctx, s, 1));
    s->ctx = ctx;
    TRY(MEM_ZERO(ctx, s->rows, b));
    TRY(MEM_NEW(ctx, s->row_list, b));
    for (int64_t round = 0; round < b; round++)
        s->row_list[round] = &s->rows[round];
    TRY(MEM_NEW(ctx, s->labels, n_labels));
    TRY(MEM_ZERO(ctx, s->n_changed, n));
    TRY(MEM_NEW(ctx, s->other, n));
    s->view = (ddsc_stability_view){.n = n,
                                    .n_resamples = b,
                                    .rows = s->row_list,
                                    .mean = &s->mean,
                                    .worst = &s->worst,
                                    .labels = s->labels,
                                    .n_changed = s->n_changed,
                                    .other = s->other};
    *out = s;
    s = NULL;
done:
    ddsc_stability_destroy(s);
    return status;
}

typedef struct stability_job {
    const measures *m;
    cluster_plan plan;
    const int32_t *first_labels;
    const ddsc_graph *first_graph;
    decomposition first;
} stability_job;

static ddsc_status run_again(ddsc_context *ctx, ddsc_stability *s, const stability_job *job,
                             int64_t round)
{
    ddsc_status status = DDSC_OK;
    ddsc_stability_row *row = &s->rows[round];
    int64_t n = s->view.n;
    int32_t *labels = s->labels + round * n;
    measures *drawn = NULL;
    ddsc_clustering *again = NULL;
    decomposition d = {0};
    ddsc_scores scores;
    TRY(measures_resample(ctx, &drawn, job->m, (uint64_t)round));
    TRY(cluster_fit(ctx, &again, &d, drawn, &job->plan.set));
    TRY(spectra_compare(ctx, row, s->view.k, &job->first, &d));
    affinity_settings how = decompose_affinity_rule(&job->plan.set);
    TRY(lemma_2_measure(ctx, row, job->first_graph, again->graph, &how));
    memcpy(labels, again->labels, (size_t)n * sizeof *labels);
    TRY(scores_compute(ctx, &scores, n, labels, job->first_labels));
    row->ari = scores.ari;
    row->ami = scores.ami;
    TRY(identity_match_labels(ctx, labels, &row->n_changed, job->first_labels, n, s->view.k));
done:
    decomposition_free(ctx, &d);
    ddsc_clustering_destroy(again);
    ddsc_measures_destroy(drawn);
    return status;
}

static void fold_row(ddsc_stability_row *mean, ddsc_stability_row *worst,
                     const ddsc_stability_row *r, double share)
{
    mean->sin_theta += share * r->sin_theta;
    mean->zeta += share * r->zeta;
    mean->zeta_common += share * r->zeta_common;
    mean->edges_kept += share * r->edges_kept;
    mean->laplacian += share * r->laplacian;
    mean->gap += share * r->gap;
    mean->theorem_bound += share * r->theorem_bound;
    mean->direct_bound += share * r->direct_bound;
    mean->ari += share * r->ari;
    mean->ami += share * r->ami;
    mean->similarity_change += share * r->similarity_change;
    mean->lemma_2_bound += share * r->lemma_2_bound;
    mean->laplacian_largest += share * r->laplacian_largest;
    mean->lemma_3_bound += share * r->lemma_3_bound;
    worst->sin_theta = fmax(worst->sin_theta, r->sin_theta);
    worst->zeta = fmax(worst->zeta, r->zeta);
    worst->zeta_common = fmax(worst->zeta_common, r->zeta_common);
    worst->edges_kept = fmin(worst->edges_kept, r->edges_kept);
    worst->laplacian = fmax(worst->laplacian, r->laplacian);
    worst->gap = fmin(worst->gap, r->gap);
    worst->theorem_bound = fmax(worst->theorem_bound, r->theorem_bound);
    worst->direct_bound = fmax(worst->direct_bound, r->direct_bound);
    worst->ari = fmin(worst->ari, r->ari);
    worst->ami = fmin(worst->ami, r->ami);
    worst->n_changed = BASE_MAX(worst->n_changed, r->n_changed);
    worst->n_components = BASE_MAX(worst->n_components, r->n_components);
    worst->similarity_change = fmax(worst->similarity_change, r->similarity_change);
    worst->lemma_2_bound = fmax(worst->lemma_2_bound, r->lemma_2_bound);
    worst->laplacian_largest = fmax(worst->laplacian_largest, r->laplacian_largest);
    worst->lemma_3_bound = fmax(worst->lemma_3_bound, r->lemma_3_bound);
}

static void sum_up_rows(ddsc_stability *s)
{
    ddsc_stability_view *v = &s->view;
    double share = 1 / (double)v->n_resamples;
    int64_t n_changed = 0, n_components = 0;
    s->worst = s->rows[0];
    for (int64_t b = 0; b < v->n_resamples; b++) {
        fold_row(&s->mean, &s->worst, &s->rows[b], share);
        n_changed += s->rows[b].n_changed;
        n_components += s->rows[b].n_components;
    }
    s->mean.n_components = (int64_t)llround((double)n_components * share);
    s->mean.n_changed = (int64_t)llround((double)n_changed * share);
    v->theorem_vacuous = !(s->worst.theorem_bound < v->sin_limit);
    v->direct_vacuous = !(s->worst.direct_bound < v->sin_limit);
}

/* For each item, computes how often its label changed, and to which other cluster it was assigned
 * most often. Ties go to the lower label. */
static ddsc_status sum_up_items(ddsc_context *ctx, ddsc_stability *s, const int32_t *first)
{
    ddsc_status status = DDSC_OK;
    ddsc_stability_view *v = &s->view;
    int64_t *times = NULL;
    TRY(MEM_NEW(ctx, times, v->k));
    for (int64_t i = 0; i < v->n; i++) {
        memset(times, 0, (size_t)v->k * sizeof *times);
        for (int64_t b = 0; b < v->n_resamples; b++)
            times[s->labels[b * v->n + i]]++;
        s->n_changed[i] = v->n_resamples - times[first[i]];
        times[first[i]] = 0;
        s->other[i] = -1;
        for (int64_t c = 0; c < v->k; c++)
            if (times[c] > 0 && (s->other[i] < 0 || times[c] > times[s->other[i]]))
                s->other[i] = (int32_t)c;
        v->n_ever += s->n_changed[i] > 0;
        v->n_often += 2 * s->n_changed[i] > v->n_resamples;
    }
done:
    mem_free(ctx, times);
    return status;
}

static ddsc_status stability_check_call(ddsc_context *ctx, const ddsc_measures *m,
                                        const ddsc_clustering *first)
{
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_need(ctx, first, "first"));
    if (!first->view.graph)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "stability requires a clustering of measures; pass measures instead of a graph");
    if (first->view.n_joined > 0)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "stability under resampling does not support joined metrics; use a single metric");
    if (first->view.n != m->n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "the clustering has %lld items, but measures has %lld",
                        (long long)first->view.n, (long long)m->n);
    return DDSC_OK;
}

static ddsc_status stability_job_open(ddsc_context *ctx, stability_job *job,
                                      const ddsc_clustering *first,
                                      const ddsc_cluster_settings *cluster)
{
    ddsc_status status = DDSC_OK;
    TRY(cluster_settings_take(ctx, &job->plan, cluster));
    /* All runs use the parameters that the first run chose from the data, so that every run
     * evaluates the same function of the points. The rule for gamma is part of this function, so
     * gamma itself is recomputed. */
    job->plan.metric = first->metric.set;
    job->plan.set.joined = 0;
    job->plan.set.k_min = job->plan.set.k_max = first->view.k;
    job->plan.graph.tau = first->view.graph->tau;
    job->plan.graph.hubs = first->view.hubs_rescaled ? DDSC_HUBS_ALWAYS : DDSC_HUBS_OFF;
    TRY(decompose_graph(ctx, &job->first, first->view.graph, NULL, &job->plan.set, first->view.k));
    TRY(sparse_gather(ctx, &job->first.a));
done:
    return status;
}

ddsc_status ddsc_stability_run(ddsc_context *context, ddsc_stability **stability,
                               const ddsc_measures *data, const ddsc_clustering *first,
                               const ddsc_cluster_settings *cluster,
                               const ddsc_stability_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_stability_settings set;
    ddsc_stability *s = NULL;
    double started = clock_seconds();
    CHECK(ctx_enter_new(context, stability));
    stability_job job = {.m = data};
    TRY(stability_check_call(context, data, first));
    TRY(stability_settings_take(context, &set, settings));
    TRY(stability_job_open(context, &job, first, cluster));
    job.first_labels = cluster_spectral_labels(first); /* resampled runs are not refined */
    job.first_graph = first->view.graph;
    TRY(stability_create(context, &s, data->n, set.n_resamples));
    s->view.k = first->view.k;
    s->view.tau = job.first.tau;
    s->view.gap = spectrum_gap(&job.first, s->view.k);
    s->view.alpha = theory_smallest_affinity(&job.first.a);
    s->view.sin_limit = sqrt((double)BASE_MIN(s->view.k, data->n - s->view.k));
    ctx_resume_pause(context, true); /* the resume folder stores only pairs of the original
                                      * points */
    for (int64_t round = 0; round < set.n_resamples; round++)
        TRY(run_again(context, s, &job, round));
    sum_up_rows(s);
    TRY(sum_up_items(context, s, job.first_labels));
    TRY(stability_words(context, &s->words, &s->view, job.first.n_parts > s->view.k));
    s->view.words = s->words;
    s->view.seconds = clock_seconds() - started;
    *stability = s;
    s = NULL;
done:
    ctx_resume_pause(context, false);
    ddsc_stability_destroy(s);
    decomposition_free(context, &job.first);
    return status;
}
