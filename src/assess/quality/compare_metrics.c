/* Compares several metrics on one data set: the clusters of each metric, their stability, and their
 * agreement with the clusters of the other metrics. Recommends the metric with the most stable
 * clusters, because stability was the best of the unsupervised criteria that were tested
 * (bench/compare.py). The lead in stability does not predict the gain in accuracy
 * (docs/metrics.md), so the recommendation has no confidence level. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assess/quality/verdict.h"
#include "base/sized.h"
#include "cluster/spectral/decompose.h"
#include "numeric/labels/scores.h"

enum { METRICS = CLUSTER_METRICS, WORDS_SIZE = 1024 };

/* Stability is measured on N_PARTS random subsamples, which are clustered separately. */
enum { N_PARTS = 4, PART_RESTARTS = 10, FIRST_PART = 1000 };
static const double PART_SHARE = 0.8;

/* Metrics are treated as equivalent if the mean ARI of each metric with the others is at least this
 * value. */
static const double SAME = 0.9;
/* Thresholds of ddsc_sure, which version 0.2 reported as the confidence of the recommendation. */
static const double LEAD_SLIGHT = 0.02, LEAD_CLEAR = 0.06;

struct ddsc_compare {
    ddsc_context *ctx;
    ddsc_compare_view view;
    ddsc_compare_row rows[METRICS];
    const ddsc_compare_row *row_list[METRICS];
    int32_t *labels;
    double ari[METRICS * METRICS], ami[METRICS * METRICS];
    bool unsupported[METRICS]; /* nothing in the data supports the clusters of this metric */
    char words[WORDS_SIZE];
};

void ddsc_compare_destroy(ddsc_compare *compare)
{
    if (!compare)
        return;
    mem_free(compare->ctx, compare->labels);
    mem_free(compare->ctx, compare);
}

SIZED_VIEW(ddsc_compare, .words = "")

/* Returns the K that the largest number of metrics suggest. Ties are broken in favor of the earlier
 * metric. */
static int64_t common_k(const ddsc_compare_row *rows, int64_t n)
{
    int64_t best = 0, best_votes = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t votes = 0;
        for (int64_t j = 0; j < n; j++)
            votes += rows[j].k == rows[i].k;
        if (votes > best_votes) {
            best = rows[i].k;
            best_votes = votes;
        }
    }
    return best;
}

/* Draws a random 80% of the items and returns their number. Sets place[i] to the index of item i in
 * the subsample, or to -1 if the item was not drawn. */
static int64_t draw_part(int32_t *place, int64_t n, uint64_t seed, uint64_t round)
{
    int64_t kept = 0;
    rng random = rng_make(seed, RNG_HALVES, FIRST_PART + round);
    for (int64_t i = 0; i < n; i++)
        place[i] = rng_uniform(&random) < PART_SHARE ? (int32_t)kept++ : -1;
    return kept;
}

/* Computes the adjusted Rand index between the labels of a subsample in the full clustering and the
 * labels found by clustering the subsample alone. The result is NaN if there are too few items. */
static ddsc_status part_agreement(ddsc_context *ctx, double *ari, const ddsc_graph *g,
                                  const int32_t *labels, const ddsc_cluster_settings *set,
                                  uint64_t round)
{
    ddsc_status status = DDSC_OK;
    int32_t *place = NULL, *kept = NULL;
    ddsc_graph *part = NULL;
    ddsc_clustering *again = NULL;
    ddsc_scores scores;
    TRY(MEM_NEW(ctx, place, g->n));
    int64_t n = draw_part(place, g->n, ctx_seed(ctx), round);
    *ari = NAN;
    if (n < 2 * set->k_min)
        goto done;
    TRY(MEM_NEW(ctx, kept, n));
    for (int64_t i = 0; i < g->n; i++)
        if (place[i] >= 0)
            kept[place[i]] = labels[i];
    TRY(graph_part(ctx, &part, g, place, n));
    TRY(cluster_graph(ctx, &again, part, set));
    TRY(scores_compute(ctx, &scores, n, again->labels, kept));
    *ari = scores.ari;
done:
    ddsc_clustering_destroy(again);
    ddsc_graph_destroy(part);
    MEM_FREE(ctx, kept, place);
    return status;
}

/* Copies the labels of one metric at the common K and computes their stability. */
static ddsc_status take_labels(ddsc_context *ctx, ddsc_compare *t, int64_t i,
                               const ddsc_clustering *c, const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    const ddsc_clustering_view *v = &c->view;
    int32_t *labels = t->labels + i * t->view.n;
    ddsc_cluster_settings again = *set;
    int64_t row = 0;
    while (row < v->n_sweep - 1 && v->sweep[row]->k != t->view.k)
        row++;
    memcpy(labels, v->sweep_labels + row * t->view.n, (size_t)t->view.n * sizeof *labels);
    again.k_min = again.k_max = t->view.k;
    again.kmeans_restarts = BASE_MIN(again.kmeans_restarts, PART_RESTARTS);
    again.gamma_rule = v->gamma > 0 ? DDSC_GAMMA_VALUE : DDSC_GAMMA_LOCAL;
    again.gamma = v->gamma;
    for (uint64_t round = 0; round < N_PARTS; round++) {
        double ari = NAN;
        TRY(part_agreement(ctx, &ari, c->graph, labels, &again, round));
        t->rows[i].stability += ari / N_PARTS;
    }
done:
    return status;
}

/* Computes the verdict for one metric, as in a report. */
static ddsc_status take_structure(ddsc_context *ctx, ddsc_compare *t, int64_t i,
                                  const ddsc_clustering *c, const measures *data, int64_t cost)
{
    ddsc_status status = DDSC_OK;
    verdict_evidence found;
    cluster_gap *gap = NULL;
    int64_t *place = NULL;
    if (t->view.k < 2)
        return DDSC_OK;
    TRY(MEM_NEW(ctx, gap, t->view.k));
    TRY(MEM_NEW(ctx, place, t->view.n));
    TRY(cluster_direction(ctx, place, c));
    TRY(gaps_find(ctx, gap, &c->affinity, t->labels + i * t->view.n, t->view.k, place));
    verdict_input in = {.gap = gap,
                        .k = t->view.k,
                        .n_components = c->view.n_components,
                        .labels = t->labels + i * t->view.n,
                        .affinity = &c->affinity,
                        .graph = c->graph,
                        .halves = verdict_halves(&c->view, gap, t->view.k),
                        .data = data,
                        .cost = cost};
    TRY(verdict_judge(ctx, &found, &in));
    t->rows[i].level = found.level;
    t->rows[i].structure = verdict_structure(found.level);
    t->unsupported[i] = found.level <= DDSC_LEVEL_ONE_CLOUD ||
                        (found.level == DDSC_LEVEL_CONTINUUM && found.items < VERDICT_FEW_ACROSS);
done:
    MEM_FREE(ctx, place, gap);
    return status;
}

static ddsc_status compare_labels(ddsc_context *ctx, ddsc_compare *t)
{
    int64_t m = t->view.n_metrics, n = t->view.n;
    for (int64_t i = 0; i < m; i++) {
        t->rows[i].agreement = m > 1 ? 0 : NAN;
        for (int64_t j = 0; j < m; j++) {
            ddsc_scores scores;
            CHECK(scores_compute(ctx, &scores, n, t->labels + i * n, t->labels + j * n));
            t->ari[i * m + j] = scores.ari;
            t->ami[i * m + j] = scores.ami;
            if (j != i)
                t->rows[i].agreement += scores.ari / (double)(m - 1);
        }
    }
    return DDSC_OK;
}

/* Returns the highest level that a metric reaches. */
static ddsc_level best_level(const ddsc_compare *t)
{
    ddsc_level best = DDSC_LEVEL_TOO_FEW;
    for (int64_t i = 0; i < t->view.n_metrics; i++)
        best = BASE_MAX(best, t->rows[i].level);
    return best;
}

/* Returns true if nothing supports the clusters of metric i, while another metric finds separate
 * clusters. The labels of metric i may still be stable: a single cloud always cut at the same place
 * also gives stable labels. */
static bool is_unsupported(const ddsc_compare *t, int64_t i)
{
    return t->unsupported[i] && best_level(t) >= DDSC_LEVEL_PARTLY;
}

/* Returns the most stable metric whose clusters are supported. If stabilities are unknown or tied,
 * returns the first such metric. */
static int64_t recommend(const ddsc_compare *t)
{
    int64_t best = -1;
    for (int64_t i = 0; i < t->view.n_metrics; i++)
        if (!is_unsupported(t, i) && (best < 0 || t->rows[i].stability > t->rows[best].stability))
            best = i;
    return best;
}

/* Returns the lead in stability over the other metrics whose clusters are supported, or over all
 * other metrics if over_all is true. Returns infinity if there are no other metrics to compare. */
static double lead_of(const ddsc_compare *t, int64_t best, bool over_all)
{
    double second = -INFINITY;
    for (int64_t i = 0; i < t->view.n_metrics; i++)
        if (i != best && (over_all || !is_unsupported(t, i)))
            second = fmax(second, t->rows[i].stability);
    return t->rows[best].stability - second;
}

/* Rates the lead as version 0.2 did. Only a lead over all metrics can be rated clear. */
static ddsc_sure how_sure(const ddsc_compare *t, int64_t best)
{
    double lead = lead_of(t, best, false);
    if (!(lead >= LEAD_SLIGHT))
        return DDSC_SURE_NOT;
    return fmin(lead, lead_of(t, best, true)) >= LEAD_CLEAR ? DDSC_SURE_CLEAR : DDSC_SURE_SLIGHT;
}

static const char *name_of(const ddsc_compare_row *row)
{
    static const char *const names[] = {"w2", "sinkhorn", "mmd", "lot", "w1"};
    return names[row->metric];
}

static void say_more(ddsc_compare *t, const char *words, const char *more)
{
    size_t length = strlen(t->words);
    snprintf(t->words + length, sizeof t->words - length, "%s%s", words, more);
}

/* Adds the sentences about the verdicts. */
static void say_structure(ddsc_compare *t)
{
    int64_t n = t->view.n_metrics, n_unsupported = 0;
    if (t->view.k < 2)
        return;
    if (best_level(t) < DDSC_LEVEL_REPRODUCIBLE)
        say_more(t, n > 1 ? " No metric confirms its clusters" : " Its clusters are not confirmed",
                 ", so do not rely on the cluster boundaries.");
    for (int64_t i = 0; i < n; i++)
        if (is_unsupported(t, i))
            say_more(t,
                     n_unsupported++
                         ? ", "
                         : " Not recommended, because their clusters are not confirmed: ",
                     name_of(&t->rows[i]));
    say_more(t, n_unsupported ? "." : "", "");
}

static void judge(ddsc_compare *t)
{
    double least = 1;
    ddsc_compare_view *v = &t->view;
    v->recommended = recommend(t);
    const ddsc_compare_row *best = &t->rows[v->recommended];
    v->lead = v->n_metrics < 2 ? (double)NAN : lead_of(t, v->recommended, false);
    for (int64_t i = 0; i < v->n_metrics; i++)
        least = fmin(least, t->rows[i].agreement);
    v->sure = v->n_metrics < 2 || least >= SAME ? DDSC_SURE_NOT : how_sure(t, v->recommended);
    if (v->n_metrics < 2)
        snprintf(t->words, sizeof t->words,
                 "There is only one metric, so there is nothing to compare.");
    else if (least >= SAME)
        snprintf(t->words, sizeof t->words,
                 "All metrics find nearly the same clusters (agreement at least %.2f), so the "
                 "choice matters little. Use a fast metric.",
                 least);
    else if (isinf(v->lead))
        snprintf(t->words, sizeof t->words,
                 "Only %s finds separate clusters (agreement of subsamples %.2f).", name_of(best),
                 best->stability);
    else if (isfinite(v->lead))
        snprintf(t->words, sizeof t->words,
                 "%s finds the most stable clusters (agreement of subsamples %.2f, %.2f more than "
                 "the next metric). The size of the lead does not show how much better the metric "
                 "is. Examine the items on which the metrics disagree.",
                 name_of(best), best->stability, v->lead);
    else
        snprintf(
            t->words, sizeof t->words,
            "There are too few items to measure stability, so the metrics cannot be compared.");
    say_structure(t);
    v->words = t->words;
}

static ddsc_status compare_fill(ddsc_context *ctx, ddsc_compare *t, ddsc_clustering *const *c,
                                const measures *data, const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    joined_graphs all = {0};
    t->view.k = common_k(t->rows, t->view.n_metrics);
    TRY(MEM_NEW(ctx, t->labels, t->view.n_metrics * t->view.n));
    t->view.labels = t->labels;
    for (int64_t i = 0; i < t->view.n_metrics; i++) {
        double began = clock_seconds();
        TRY(take_labels(ctx, t, i, c[i], set));
        TRY(take_structure(ctx, t, i, c[i], data, set->metric->cost));
        t->rows[i].seconds += clock_seconds() - began;
        TRY(cluster_join_take(ctx, &all, &c[i]->affinity));
    }
    cluster_join_finish(&all);
    for (int64_t i = 0; i < t->view.n_metrics; i++)
        TRY(cluster_modularity(ctx, &t->rows[i].modularity, &all.a, t->labels + i * t->view.n,
                               t->view.k));
    TRY(compare_labels(ctx, t));
    judge(t);
done:
    cluster_join_free(ctx, &all);
    return status;
}

static ddsc_status compare_all(ddsc_context *ctx, ddsc_compare *t, const measures *data,
                               const cluster_plan *plan)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *c[METRICS] = {NULL};
    ddsc_metric_settings part;
    ddsc_cluster_settings one = plan->set;
    one.metric = &part;
    one.joined = 0;
    for (int last = -1; cluster_part(&part, &plan->set, last); last = (int)part.metric) {
        int64_t i = t->view.n_metrics++;
        double began = clock_seconds();
        TRY(cluster_fit(ctx, &c[i], NULL, data, &one));
        t->row_list[i] = &t->rows[i];
        t->rows[i] = (ddsc_compare_row){
            .metric = part.metric, .k = c[i]->view.k, .seconds = clock_seconds() - began};
    }
    TRY(compare_fill(ctx, t, c, data, &one));
done:
    for (int i = 0; i < METRICS; i++)
        ddsc_clustering_destroy(c[i]);
    return status;
}

ddsc_status ddsc_compare_run(ddsc_context *context, ddsc_compare **compare,
                             const ddsc_measures *data, const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    cluster_plan plan;
    ddsc_compare *t = NULL;
    CHECK(ctx_enter_new(context, compare));
    TRY(cluster_prepare(context, &plan, data, settings));
    TRY(cluster_check_parts(context, &plan));
    if (ctx_resume_folder(context)) {
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT,
                          "a resume folder stores the pairs of one metric and cannot be used to "
                          "compare metrics; unset it");
        goto done;
    }
    TRY(MEM_ZERO(context, t, 1));
    t->ctx = context;
    t->view = (ddsc_compare_view){.n = data->n, .rows = t->row_list, .ari = t->ari, .ami = t->ami};
    TRY(compare_all(context, t, data, &plan));
    *compare = t;
    t = NULL;
done:
    ddsc_compare_destroy(t);
    return status;
}
