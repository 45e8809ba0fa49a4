/* Computes the verdict on a clustering. The evidence consists of the gaps around the clusters
 * (gaps.c), components of the graph that chance does not explain (tears.c), the agreement between
 * random halves of the items and, for few items, the edges of the spanning tree (step_ratio.c) and
 * a permutation test of whether the items differ at all (permutation_test.c). verdict_levels.c
 * derives a level and a sentence from this evidence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assess/quality/verdict.h"
#include "base/sized.h"

/* ---- thresholds ---- */

/* A gap with at least this score separates a cluster. No line, plane or light-tailed cloud in
 * bench/verdict.py reaches it. */
static const double CLEAR_SCORE = 3.5;
/* Small clusters cannot reach CLEAR_SCORE, because at most half of their items are on the inner
 * side of a peak. Their score must be at least ASKED_SCORE, and at least this fraction of sqrt(size
 * / 2). An empty gap has the score sqrt(size / 2) if all items on the inner side of the peak border
 * it. */
static const double SIZE_SHARE = 0.6, ASKED_SCORE = 2.5;
/* Above this number of items n, the required score grows with the fourth root of n, because the
 * deepest of many gaps, and gaps in uneven densities, reach higher scores by chance
 * (bench/verdict.py --law skewed). The scores of real gaps grow with the square root of n. */
static const double MANY_ITEMS = 800;
/* Required score in held-out items. Continua have lower scores, except for 1.5% of the sets along a
 * line with denser ends (bench/verdict.py --law u). For large sets, the required score grows with
 * the square root of the number of items, as the scores of real gaps do. */
static const double HELD_SCORE = 1.5, HELD_GROWTH = 0.25;
/* The components of the graph are treated as clusters if the probability of so many components by
 * chance is below this value. With 0.05, this happened for 2% of the thin lines in
 * bench/verdict.py. */
static const double TORN_BY_CHANCE = 0.01;
/* Required step ratio. For random points on a line, 0.4% of the sets of 20 items reach this ratio,
 * but no set of 60 items (5% and 0.6% if the line is denser at its ends). Sets of fewer than
 * STEP_ITEMS items need a larger ratio. */
static const double STEP_RATIO = 3, STEP_ITEMS = 20;
static const double STEP_SHARE = 0.8;

static double growth(int64_t n)
{
    return sqrt(sqrt(fmax((double)n / MANY_ITEMS, 1)));
}

double verdict_clear_from(int64_t n, int64_t size)
{
    double reachable = fmax(SIZE_SHARE * sqrt((double)size / 2), ASKED_SCORE);
    return fmin(reachable, CLEAR_SCORE) * growth(n);
}

double verdict_asked_from(int64_t n)
{
    return ASKED_SCORE * growth(n);
}

double verdict_held_from(int64_t n)
{
    return fmax(HELD_SCORE, HELD_GROWTH * growth(n) * growth(n));
}

double verdict_steps_from(int64_t n)
{
    return STEP_RATIO * fmax(sqrt(STEP_ITEMS / (double)n), 1);
}

/* ---- the evidence ---- */

static void take_gaps(verdict_evidence *e, const verdict_input *in, double n_tears)
{
    const cluster_gap *gap = in->gap;
    e->held = NAN;
    for (int64_t c = 0; c < e->k; c++)
        e->held = fmax(e->held, gap[c].held); /* fmax ignores NaN */
    for (int64_t c = 0; c < e->k; c++) {
        /* Gaps are not evidence of clusters if the graph is likely to split by chance. */
        in->gap[c].separate = gap[c].examined && n_tears < 1 &&
                              gap[c].score >= verdict_clear_from(e->n, gap[c].size) &&
                              !(e->held < e->held_from);
        e->n_examined += gap[c].examined;
        e->score = fmax(e->score, gap[c].score);
        e->items = fmax(e->items, gap[c].items);
    }
}

/* Marks the clusters that have no edge to other clusters. */
static void take_components(verdict_evidence *e, const verdict_input *in)
{
    const sparse *a = in->affinity;
    for (int64_t c = 0; c < e->k; c++) {
        bool alone = in->gap[c].size > 0;
        for (int64_t i = 0; i < a->n && alone; i++)
            for (int64_t p = a->offset[i]; in->labels[i] == c && p < a->offset[i + 1]; p++)
                alone &= in->labels[a->column[p]] == c;
        in->gap[c].separate |= alone;
    }
}

/* Marks the clusters that consist of whole parts (step_ratio.c). */
static ddsc_status take_steps(ddsc_context *ctx, verdict_evidence *e, const verdict_input *in)
{
    ddsc_status status = DDSC_OK;
    int32_t *part = NULL;
    bool *whole = NULL;
    int64_t n_whole = 0;
    TRY(MEM_NEW(ctx, part, e->n));
    TRY(MEM_NEW(ctx, whole, e->k));
    TRY(verdict_step_ratio(ctx, &e->step_ratio, &e->n_parts, part, in->graph));
    e->stepped = e->step_ratio >= verdict_steps_from(e->n);
    for (int64_t c = 0; c < e->k; c++)
        whole[c] = e->stepped && in->gap[c].size > 0;
    for (int64_t i = 0; i < e->n && e->stepped; i++)
        for (int64_t j = 0; j < i; j++)
            if (part[i] == part[j] && in->labels[i] != in->labels[j])
                whole[in->labels[i]] = whole[in->labels[j]] = false;
    for (int64_t c = 0; c < e->k; c++) {
        in->gap[c].separate |= whole[c];
        n_whole += whole[c] ? in->gap[c].size : 0;
    }
    e->by_steps = (double)n_whole >= STEP_SHARE * (double)e->n && n_whole > 0;
done:
    MEM_FREE(ctx, whole, part);
    return status;
}

/* Returns the smallest number of items across any gap without crossing edges, which is the width of
 * the narrowest strip that must split. */
static double narrowest(const cluster_gap *gap, int64_t k)
{
    double width = INFINITY;
    for (int64_t c = 0; gap && c < k; c++)
        if (gap[c].examined && !(gap[c].valley > 0))
            width = fmin(width, gap[c].items);
    return isfinite(width) ? width : 0;
}

static void count_separate(verdict_evidence *e, const cluster_gap *gap)
{
    for (int64_t c = 0; c < e->k; c++) {
        e->n_parted += gap[c].separate;
        e->items_parted += gap[c].separate ? gap[c].size : 0;
    }
    e->share = (double)e->items_parted / (double)BASE_MAX(e->n, 1);
}

ddsc_status verdict_judge(ddsc_context *ctx, verdict_evidence *e, const verdict_input *in)
{
    int64_t n = in->graph ? in->graph->n : 0;
    *e = (verdict_evidence){.n = n, .k = in->k, .n_components = in->n_components, .held = NAN};
    e->clear_from = CLEAR_SCORE * growth(n);
    e->held_from = verdict_held_from(n);
    e->halves = in->halves;
    e->items_alike_p = e->step_ratio = NAN;
    e->copies = n > 0 && tears_by_copies(in->graph);
    double n_tears = n > 0 && !e->copies ? tears_expected(in->graph) : INFINITY;
    e->chance = n_tears < INFINITY ? tears_chance(n_tears, (double)n, narrowest(in->gap, in->k),
                                                  in->n_components - 1)
                                   : INFINITY;
    e->torn = in->gap && in->n_components > 1 && n_tears < 1 && e->chance < TORN_BY_CHANCE;
    if (in->gap) {
        take_gaps(e, in, n_tears);
        if (e->torn)
            take_components(e, in);
        if (n > 0)
            CHECK(take_steps(ctx, e, in));
        count_separate(e, in->gap);
    }
    if (in->data && verdict_asks_points(e))
        CHECK(permutation_test_items(ctx, &e->items_alike_p, in->data, in->cost));
    e->level = verdict_level(e);
    return DDSC_OK;
}

/* ---- the object ---- */

enum { SENTENCE_SIZE = 320 };

struct ddsc_verdict {
    ddsc_context *ctx;
    ddsc_verdict_view view;
    ddsc_verdict_row *rows;
    const ddsc_verdict_row **row_list;
    char headline[SENTENCE_SIZE], detail[SENTENCE_SIZE];
};

/* Writes a sentence about outliers. They do not contradict the verdict "no clusters", because they
 * are too few to form clusters in the graph. */
static ddsc_status put_outliers(ddsc_context *ctx, char *out, const ddsc_clustering *c,
                                const ddsc_graph *g)
{
    ddsc_outliers found = {0};
    CHECK(outliers_find(ctx, &found, g, cluster_spectral_labels(c), c->view.k));
    if (found.n_outlying > 0)
        snprintf(out, SENTENCE_SIZE, "%lld outlier%s lie%s far from all other items.",
                 (long long)found.n_outlying, found.n_outlying == 1 ? "" : "s",
                 found.n_outlying == 1 ? "s" : "");
    else if (c->has_far_items)
        snprintf(out, SENTENCE_SIZE,
                 "A few outliers lie far from all other items (see the advice).");
    return DDSC_OK;
}

/* Returns the mean agreement of k-means on random halves (cluster/spectral/split_agreement.c) for K
 * = k, or NaN if a cluster is empty, which makes the agreement meaningless. */
double verdict_halves(const ddsc_clustering_view *v, const cluster_gap *gap, int64_t k)
{
    for (int64_t c = 0; c < k; c++)
        if (gap[c].size == 0)
            return NAN;
    for (int64_t i = 0; i < v->n_sweep; i++)
        if (v->sweep[i]->k == k)
            return v->sweep[i]->stability;
    return NAN;
}

static ddsc_status find_gaps(ddsc_context *ctx, cluster_gap *gap, const ddsc_clustering *c)
{
    ddsc_status status = DDSC_OK;
    int64_t *rank = NULL;
    if (c->view.n_vectors > 1) {
        TRY(MEM_NEW(ctx, rank, c->view.n));
        TRY(cluster_direction(ctx, rank, c));
    }
    TRY(gaps_find(ctx, gap, &c->affinity, cluster_spectral_labels(c), c->view.k, rank));
done:
    mem_free(ctx, rank);
    return status;
}

static ddsc_status give_rows(ddsc_verdict *v, const cluster_gap *gap, int64_t n)
{
    CHECK(MEM_NEW(v->ctx, v->rows, v->view.k));
    CHECK(MEM_NEW(v->ctx, v->row_list, v->view.k));
    for (int64_t c = 0; c < v->view.k; c++) {
        double from = verdict_clear_from(n, gap[c].size);
        v->rows[c] =
            (ddsc_verdict_row){gap[c].examined, gap[c].valley,  gap[c].items, gap[c].score, from,
                               gap[c].held,     gap[c].separate};
        v->row_list[c] = &v->rows[c];
    }
    v->view.rows = v->row_list;
    return DDSC_OK;
}

static void take_evidence(ddsc_verdict_view *view, const verdict_evidence *e)
{
    view->level = e->level;
    view->structure = verdict_structure(e->level);
    view->k = e->k;
    view->n_components = e->n_components;
    view->n_parted = e->n_parted;
    view->items_parted = e->items_parted;
    view->score = e->score;
    view->clear_from = e->clear_from;
    view->held_out_score = e->held;
    view->held_out_from = e->held_from;
    view->chance = e->chance;
    view->halves_agree = e->halves;
    view->halves_from = verdict_halves_from(e->k);
    view->items_alike_p = e->items_alike_p;
    view->step_ratio = e->step_ratio;
    view->step_ratio_from = verdict_steps_from(e->n);
    view->n_parts = e->n_parts;
    view->starts_agree = NAN;
}

/* Computes the verdict on a clustering. Does nothing if the clustering is NULL. */
static ddsc_status judge_clustering(ddsc_verdict *v, const ddsc_clustering *c,
                                    const ddsc_measures *data, const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    verdict_evidence e;
    verdict_input in = {.k = c ? c->view.k : 0, .graph = g, .data = data, .halves = NAN};
    if (c && c->affinity.n > 0 && in.k > 1) {
        TRY(MEM_NEW(v->ctx, in.gap, in.k));
        TRY(find_gaps(v->ctx, in.gap, c));
        in.halves = verdict_halves(&c->view, in.gap, in.k);
    }
    if (c) {
        in.labels = cluster_spectral_labels(c);
        in.affinity = &c->affinity;
        in.n_components = c->view.n_components;
        in.cost = c->metric.set.cost;
    }
    TRY(verdict_judge(v->ctx, &e, &in));
    take_evidence(&v->view, &e);
    verdict_put_headline(v->headline, sizeof v->headline, &e);
    if (verdict_names_outliers(&e))
        TRY(put_outliers(v->ctx, v->detail, c, g));
    v->view.judged = in.gap != NULL;
    for (int64_t i = 0; in.gap && i < c->view.n_sweep; i++)
        if (c->view.sweep[i]->k == in.k)
            v->view.starts_agree = c->view.sweep[i]->starts_agree;
    if (in.gap)
        TRY(give_rows(v, in.gap, e.n));
done:
    mem_free(v->ctx, in.gap);
    return status;
}

static ddsc_status check_sizes(ddsc_context *ctx, const ddsc_clustering *c, const ddsc_measures *m,
                               const ddsc_graph *g)
{
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    if (c && m && v.n_items != c->view.n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "verdict: measures has %lld items, but the clustering has %lld",
                        (long long)v.n_items, (long long)c->view.n);
    if (c && g && g->n != c->view.n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "verdict: the graph has %lld items, but the clustering has %lld",
                        (long long)g->n, (long long)c->view.n);
    return DDSC_OK;
}

ddsc_status ddsc_verdict_run(ddsc_context *context, ddsc_verdict **verdict,
                             const ddsc_clustering *clustering, const ddsc_measures *data,
                             const ddsc_graph *graph)
{
    ddsc_status status = DDSC_OK;
    ddsc_verdict *v = NULL;
    CHECK(ctx_enter_new(context, verdict));
    const char *before = stage_enter(context, "verdict");
    TRY(check_sizes(context, clustering, data, graph));
    TRY(MEM_ZERO(context, v, 1));
    v->ctx = context;
    v->view.headline = v->headline;
    v->view.detail = v->detail;
    TRY(judge_clustering(v, clustering, data, graph || !clustering ? graph : clustering->graph));
    *verdict = v;
    v = NULL;
done:
    ddsc_verdict_destroy(v);
    stage_leave(context, before);
    return status;
}

void ddsc_verdict_destroy(ddsc_verdict *verdict)
{
    if (!verdict)
        return;
    MEM_FREE(verdict->ctx, verdict->row_list, verdict->rows);
    mem_free(verdict->ctx, verdict);
}

SIZED_VIEW(ddsc_verdict, .headline = "", .detail = "")
