/* Computes the verdict on a clustering: its levels, the thresholds between them, and the sentences
 * that report it. The table `cases` lists the findings in the order in which they are tested. The
 * first finding that applies determines the level and the headline. The evidence comes from three
 * sources: the gaps around the clusters (gaps.c), components of the graph that are unlikely by
 * chance (tears.c), and for few items a permutation test (permutation_test.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assess/verdict.h"
#include "base/sized.h"

/* ---- thresholds ---- */

/* A gap with at least this score separates a cluster. No line, plane or light-tailed cloud reaches
 * it (bench/verdict.py). */
static const double CLEAR_SCORE = 3.5;
/* Above this number of items, the required score grows with the fourth root of their number,
 * because the deepest of many gaps, and gaps in uneven densities, reach higher scores by chance
 * (bench/verdict.py, kind skewed). The scores of real gaps grow with the square root. */
static const double MANY_ITEMS = 800;
/* Required score on items that were not used to find the gap. Continua score lower
 * (bench/verdict.py), and sets with clusters score 0.8 or more. Above MANY_ITEMS, the required
 * score grows with the square root of the number of items, as the scores of real gaps do. */
static const double HELD_SCORE = 0.25;
/* Below NONE_SCORE, items are as dense across the boundaries as inside the clusters. With fewer
 * than NONE_ITEMS items across the gap, the score proves nothing. */
static const double NONE_SCORE = 0.8, NONE_ITEMS = 6;
/* With fewer items across the gap than this, the cluster may be a thin line, in which chance
 * creates valleys (scores up to 6.2 on unbroken lines). With this number to 12 items across the
 * gap, noise scored at most 0.62 in 100 sets of 16 to 150 items. */
static const double FEW_ITEMS = 2 * TEARS_LINE_WIDTH;
/* The components of the graph are treated as clusters if the probability of at least as many
 * components by chance is below this value. */
static const double TORN_BY_CHANCE = 0.05;
/* The items are considered different if the p-value of the permutation test is at most this
 * value. */
static const double DIFFER_P = 0.02;

double verdict_clear_from(int64_t n)
{
    return CLEAR_SCORE * sqrt(sqrt(fmax((double)n / MANY_ITEMS, 1)));
}

double verdict_held_from(int64_t n)
{
    return HELD_SCORE * sqrt(fmax((double)n / MANY_ITEMS, 1));
}

/* ---- levels ---- */

static const ddsc_structure_words levels[] = {
    [DDSC_STRUCTURE_UNDECIDED] =
        {
            .name = "undecided",
            .before = "",
            .after = " were formed",
            .where = "",
            .next_step = "Collect more items, or use the neighbors of individual items, which do "
                         "not depend on clusters.",
        },
    [DDSC_STRUCTURE_NONE] =
        {
            .name = "none",
            .before = "None that can be separated.",
            .after = " were formed anyway",
            .where = "",
            .next_step =
                "Do not rely on these clusters, because the data do not support them. Other "
                "columns, other features or another metric (ddsc compare) may show more.",
        },
    [DDSC_STRUCTURE_WEAK] =
        {
            .name = "weak",
            .before = "",
            .after = " were formed",
            .where = ", without clear gaps between them",
            .next_step =
                "Treat these clusters as a convenient partition, not as distinct types, unless "
                "independent data (classes, other columns, new items) confirm them.",
        },
    [DDSC_STRUCTURE_CLEAR] =
        {
            .name = "clear",
            .before = "",
            .after = "",
            .where = "",
            .next_step = "Read typical and ambiguous items of each cluster, then name it (ddsc "
                         "name). Clusters that touch have no natural boundary; a different cut may "
                         "be just as good.",
        },
};

const ddsc_structure_words *ddsc_structure_get_words(ddsc_structure structure)
{
    size_t n = sizeof levels / sizeof *levels;
    return (size_t)structure < n && levels[structure].name ? &levels[structure] : NULL;
}

/* ---- findings and the sentences that report them ---- */

static bool one_cluster(const verdict_evidence *e)
{
    return e->k == 1;
}

static bool not_examined(const verdict_evidence *e)
{
    return e->n_examined == 0;
}

static bool copies_only(const verdict_evidence *e)
{
    return e->copies;
}

static bool torn_graph(const verdict_evidence *e)
{
    return e->torn && e->n_parted < e->k;
}

static bool all_parted(const verdict_evidence *e)
{
    return e->n_parted == e->k;
}

static bool some_parted(const verdict_evidence *e)
{
    return e->n_parted > 0;
}

static bool even_density(const verdict_evidence *e)
{
    return e->score < NONE_SCORE && e->items >= NONE_ITEMS;
}

static bool few_that_differ(const verdict_evidence *e)
{
    return e->items < FEW_ITEMS && e->items_alike_p <= DIFFER_P;
}

static bool few_items(const verdict_evidence *e)
{
    return e->items < FEW_ITEMS;
}

static bool gap_not_held(const verdict_evidence *e)
{
    return e->held < e->held_from;
}

static bool otherwise(const verdict_evidence *e)
{
    (void)e;
    return true;
}

/* In a headline, {k}, {parted}, {components}, {share} (in percent) and {p} are replaced by numbers
 * from the evidence. */
typedef struct verdict_case {
    bool (*applies)(const verdict_evidence *e);
    ddsc_structure level;
    const char *headline;
    /* The headline does not exclude outliers, so further sentences mention them. */
    bool names_outliers;
} verdict_case;

static const verdict_case cases[] = {
    {one_cluster, DDSC_STRUCTURE_UNDECIDED, "Not judged: only one cluster was requested.", false},
    {not_examined, DDSC_STRUCTURE_UNDECIDED, "Not judged: this method does not build a graph.",
     false},
    {copies_only, DDSC_STRUCTURE_UNDECIDED,
     "Undecided: many items are exact copies, so their neighbors are only copies and cannot show "
     "gaps.",
     false},
    {torn_graph, DDSC_STRUCTURE_CLEAR,
     "Clear structure: the neighbor graph has {components} disconnected components.", false},
    {all_parted, DDSC_STRUCTURE_CLEAR, "Clear clusters: gaps separate all {k} of them.", false},
    {some_parted, DDSC_STRUCTURE_CLEAR,
     "Clear structure: a gap separates {parted} of {k} clusters ({share} of the items) from the "
     "rest; the others touch.",
     false},
    {even_density, DDSC_STRUCTURE_NONE,
     "No clear clusters: items are as dense across the boundaries as inside the clusters.", true},
    {few_that_differ, DDSC_STRUCTURE_WEAK,
     "The items differ by more than chance among their points explains (p {p}), but there are too "
     "few to distinguish clusters from a continuum.",
     false},
    {few_items, DDSC_STRUCTURE_UNDECIDED,
     "Undecided: there are too few items to distinguish a gap from chance.", false},
    {gap_not_held, DDSC_STRUCTURE_WEAK,
     "No clear gaps: the deepest gap is absent in items that were not used to find it (a "
     "continuum, or clusters that touch).",
     false},
    {otherwise, DDSC_STRUCTURE_WEAK,
     "No clear gaps: the items differ, but the clusters overlap (a continuum, or clusters that "
     "touch).",
     false},
};

static const verdict_case *case_of(const verdict_evidence *e)
{
    const verdict_case *c = cases;
    while (!c->applies(e))
        c++;
    return c;
}

/* ---- the evidence ---- */

static void take_gaps(verdict_evidence *e, const cluster_gap *gap, double n_tears)
{
    int64_t n = 0;
    e->held = NAN;
    for (int64_t c = 0; gap && c < e->k; c++)
        e->held = fmax(e->held, gap[c].held); /* fmax ignores NaN */
    for (int64_t c = 0; gap && c < e->k; c++) {
        /* A gap proves nothing if the graph is likely to split by chance. */
        bool parted = gap[c].examined && gap[c].score >= e->clear_from && n_tears < 1 &&
                      !(e->held < e->held_from);
        e->n_examined += gap[c].examined;
        e->n_parted += parted;
        e->items_parted += parted ? gap[c].size : 0;
        e->score = fmax(e->score, gap[c].score);
        e->items = fmax(e->items, gap[c].items);
        n += gap[c].size;
    }
    e->share = (double)e->items_parted / (double)BASE_MAX(n, 1);
}

/* Returns the smallest number of items across any gap without crossing edges. This is the width of
 * the strip that must split. */
static double narrowest(const cluster_gap *gap, int64_t k)
{
    double width = INFINITY;
    for (int64_t c = 0; gap && c < k; c++)
        if (gap[c].examined && !(gap[c].valley > 0))
            width = fmin(width, gap[c].items);
    return isfinite(width) ? width : 0;
}

ddsc_status verdict_judge(ddsc_context *ctx, verdict_evidence *e, const cluster_gap *gap, int64_t k,
                          const ddsc_graph *g, int64_t n_components, const ddsc_measures *data,
                          int64_t cost)
{
    int64_t n = g ? g->n : 0;
    *e = (verdict_evidence){.k = k, .n_components = n_components, .items_alike_p = NAN};
    e->clear_from = verdict_clear_from(n);
    e->held_from = verdict_held_from(n);
    e->copies = n > 0 && tears_by_copies(g);
    double n_tears = n > 0 && !e->copies ? tears_expected(g) : INFINITY;
    take_gaps(e, gap, n_tears);
    e->chance = n_tears < INFINITY
                    ? tears_chance(n_tears, (double)n, narrowest(gap, k), n_components - 1)
                    : INFINITY;
    e->torn = gap && n_components > 1 && n_tears < 1 && e->chance < TORN_BY_CHANCE;
    if (data && case_of(e)->applies == few_items)
        CHECK(permutation_test_items(ctx, &e->items_alike_p, data, cost));
    e->structure = case_of(e)->level;
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

/* Writes the number that replaces a name in braces in a headline. */
static void put_number(char *out, size_t size, const char *name, const verdict_evidence *e)
{
    if (strncmp(name, "{k}", 3) == 0)
        snprintf(out, size, "%lld", (long long)e->k);
    else if (strncmp(name, "{parted}", 8) == 0)
        snprintf(out, size, "%lld", (long long)e->n_parted);
    else if (strncmp(name, "{components}", 12) == 0)
        snprintf(out, size, "%lld", (long long)e->n_components);
    else if (strncmp(name, "{share}", 7) == 0)
        snprintf(out, size, "%.0f%%", 100 * e->share);
    else
        snprintf(out, size, "%.3g", e->items_alike_p);
}

static void put_headline(char *out, const char *headline, const verdict_evidence *e)
{
    size_t used = 0;
    for (const char *at = headline; *at && used + 1 < SENTENCE_SIZE; at++) {
        if (*at != '{') {
            out[used++] = *at;
            continue;
        }
        char number[32];
        put_number(number, sizeof number, at, e);
        for (const char *digit = number; *digit && used + 1 < SENTENCE_SIZE; digit++)
            out[used++] = *digit;
        at = strchr(at, '}');
    }
    out[used] = '\0';
}

/* Mentions outliers. They do not contradict the verdict "no clusters", because they are too few to
 * form clusters in the graph. */
static ddsc_status put_outliers(ddsc_context *ctx, char *out, const ddsc_clustering *c,
                                const ddsc_graph *g)
{
    ddsc_outliers found = {0};
    CHECK(outliers_find(ctx, &found, g, c->labels, c->view.k));
    if (found.n_outlying > 0)
        snprintf(out, SENTENCE_SIZE, "Except for %lld item%s that lie%s far from all others.",
                 (long long)found.n_outlying, found.n_outlying == 1 ? "" : "s",
                 found.n_outlying == 1 ? "s" : "");
    else if (c->has_far_items)
        snprintf(out, SENTENCE_SIZE,
                 "Except for a few that lie far from all others (see the advice).");
    return DDSC_OK;
}

/* Returns the mean agreement of k-means on random halves (cluster/spectral/split_agreement.c) for
 * the chosen K, or NaN if it was not computed. */
static double halves_agreement_of(const ddsc_clustering_view *v, const cluster_gap *gap)
{
    for (int64_t c = 0; c < v->k; c++)
        if (gap[c].size == 0) /* if a cluster is empty, the agreement is meaningless */
            return NAN;
    for (int64_t i = 0; i < v->n_sweep; i++)
        if (v->sweep[i]->k == v->k)
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
    TRY(gaps_find(ctx, gap, &c->affinity, c->labels, c->view.k, rank));
done:
    mem_free(ctx, rank);
    return status;
}

static ddsc_status give_rows(ddsc_verdict *v, const cluster_gap *gap)
{
    CHECK(MEM_NEW(v->ctx, v->rows, v->view.k));
    CHECK(MEM_NEW(v->ctx, v->row_list, v->view.k));
    for (int64_t c = 0; c < v->view.k; c++) {
        v->rows[c] = (ddsc_verdict_row){gap[c].examined, gap[c].valley, gap[c].items, gap[c].score};
        v->row_list[c] = &v->rows[c];
    }
    v->view.rows = v->row_list;
    return DDSC_OK;
}

static void take_evidence(ddsc_verdict_view *view, const verdict_evidence *e)
{
    view->structure = e->structure;
    view->k = e->k;
    view->n_components = e->n_components;
    view->n_parted = e->n_parted;
    view->items_parted = e->items_parted;
    view->score = e->score;
    view->clear_from = e->clear_from;
    view->held_out_score = e->held;
    view->held_out_from = e->held_from;
    view->chance = e->chance;
    view->items_alike_p = e->items_alike_p;
}

/* Judges a clustering. If the clustering is NULL, nothing is examined. */
static ddsc_status judge_clustering(ddsc_verdict *v, const ddsc_clustering *c,
                                    const ddsc_measures *data, const ddsc_graph *g)
{
    ddsc_status status = DDSC_OK;
    verdict_evidence e;
    cluster_gap *gap = NULL;
    int64_t k = c ? c->view.k : 0;
    if (c && c->affinity.n > 0 && k > 1) {
        TRY(MEM_NEW(v->ctx, gap, k));
        TRY(find_gaps(v->ctx, gap, c));
    }
    TRY(verdict_judge(v->ctx, &e, gap, k, g, c ? c->view.n_components : 0, data,
                      c ? c->metric.set.cost : DDSC_COST_DEFAULT));
    take_evidence(&v->view, &e);
    const verdict_case *found = case_of(&e);
    put_headline(v->headline, found->headline, &e);
    if (found->names_outliers)
        TRY(put_outliers(v->ctx, v->detail, c, g));
    v->view.judged = gap != NULL;
    v->view.halves_agree = gap ? halves_agreement_of(&c->view, gap) : (double)NAN;
    if (gap)
        TRY(give_rows(v, gap));
done:
    mem_free(v->ctx, gap);
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

void ddsc_verdict_get_view_sized(const ddsc_verdict *verdict, ddsc_verdict_view *view, size_t size)
{
    ddsc_verdict_view own = {.headline = "", .detail = ""};
    if (verdict)
        own = verdict->view;
    sized_view(view, size, &own, sizeof own);
}
