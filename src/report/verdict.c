/* The verdict: is there structure at all? From the gaps around the clusters (cluster/gaps.c), and from a graph that
 * falls apart where chance would not tear it. */
#include <math.h>
#include <string.h>

#include "report/report.h"

/* Below this score items lie across the borders as they lie inside; with fewer items side by side than these, that
 * says nothing. */
static const double NONE_SCORE = 0.8, NONE_ITEMS = 6;

/* Chance of a tear that is still called clear. */
static const double TORN_BY_CHANCE = 0.05;

typedef struct tally {
    int64_t n_examined, n_parted, items_parted;
    bool torn;           /* the graph has parts that nothing connects */
    double score, items; /* the largest */
} tally;

/* The chance that some gap tears the graph of n items placed at random along a line, where gaps come easiest: the gap
 * is longer than the way to the tau-th neighbour on either side. With gaps from Exp(1) and ways from Gamma(tau) that is
 * n E exp(-max(w, w')) = 2 n sum over j >= tau of binomial(tau - 1 + j, j) / 3^(tau + j). */
static double chance_of_a_tear(int64_t n, int64_t tau)
{
    double term = pow(3, -(double)tau), sum = 0;
    for (int64_t j = 0; j < 8 * tau + 64; j++) {
        sum += j >= tau ? term : 0;
        term *= (double)(tau + j) / (double)(j + 1) / 3;
    }
    return 2 * (double)n * sum;
}

/* By the shortest list: those of a sample of the pairs are shorter than tau. */
static double chance_here(const ddsc_report *r)
{
    int64_t least = r->edges.tau;
    for (int64_t i = 0; i < r->edges.n; i++)
        least = BASE_MIN(least, r->edges.offset[i + 1] - r->edges.offset[i]);
    return chance_of_a_tear(r->view.n, least);
}

static tally count_gaps(const ddsc_report *r)
{
    tally t = {0};
    double chance = r->gap && r->edges.n > 0 ? chance_here(r) : INFINITY;
    t.torn = r->view.n_components > 1 && chance < TORN_BY_CHANCE;
    for (int64_t c = 0; r->gap && c < r->k; c++) {
        const cluster_gap *g = &r->gap[c];
        /* Where chance tears the graph, gaps are no sign. */
        bool parted = g->examined && g->score >= GAP_SCORE && chance < 1;
        t.n_examined += g->examined;
        t.n_parted += parted;
        t.items_parted += parted ? g->size : 0;
        t.score = fmax(t.score, g->score);
        t.items = fmax(t.items, g->items);
    }
    return t;
}

/* No clusters and items far from all others are no contradiction: there are groups too small for the graph. */
static void say_apart(buffer *b, const ddsc_report *r)
{
    bool far = r->view.advice && strstr(r->view.advice, "far from all others");
    if (r->n_outlying > 0)
        buffer_addf(b, " But for %lld item%s that lie%s apart from all others.",
                    (long long)r->n_outlying, r->n_outlying == 1 ? "" : "s",
                    r->n_outlying == 1 ? "s" : "");
    else if (far)
        buffer_add(b, " But for a few that lie far from all others (see the advice).");
}

static void say(buffer *b, const char **structure, const ddsc_report *r, const tally *t)
{
    double share = 100 * (double)t->items_parted / (double)BASE_MAX(r->view.n, 1);
    if (t->n_examined == 0 || r->k < 2) {
        *structure = "undecided";
        buffer_add(b, r->k < 2 ? "One cluster was asked for: nothing to compare."
                               : "Not judged: this method makes no graph.");
    } else if (t->torn && t->n_parted < r->k) {
        *structure = "clear";
        buffer_addf(b,
                    "Clear structure: the neighbour graph falls into %lld parts that nothing "
                    "connects.",
                    (long long)r->view.n_components);
    } else if (t->n_parted > 0) {
        *structure = "clear";
        if (t->n_parted == r->k)
            buffer_addf(b, "Clear clusters: gaps part all %lld of them.", (long long)r->k);
        else
            buffer_addf(b,
                        "Clear structure: a gap parts %lld of %lld clusters (%.0f%% of the items) "
                        "from the rest; the others touch.",
                        (long long)t->n_parted, (long long)r->k, share);
    } else if (t->score < NONE_SCORE && t->items >= NONE_ITEMS) {
        *structure = "none";
        buffer_add(b, "No clear clusters: items lie across the borders as they lie inside.");
        say_apart(b, r);
    } else if (sqrt(t->items) < GAP_SCORE) {
        *structure = "undecided";
        buffer_add(b, "Undecided: too few items lie side by side to tell a gap from chance.");
    } else {
        *structure = "weak";
        buffer_add(b, "No clear gaps: the items differ, but clusters pass into each other (a "
                      "continuum, or groups that touch).");
    }
}

static void put_evidence(ddsc_report *r, json_t *verdict, const tally *t)
{
    json_t *evidence = put_object(r, verdict, "evidence");
    put_text(r, evidence, "method", "gaps of the neighbour graph around each cluster");
    put_real(r, evidence, "score", t->score);
    put_real(r, evidence, "clear_from", GAP_SCORE);
    put_count(r, evidence, "clusters_parted", t->n_parted);
    put_count(r, evidence, "items_parted", t->items_parted);
    put_count(r, evidence, "components", r->view.n_components);
    put_real(r, evidence, "chance_of_a_tear", chance_here(r));
    json_t *list = put_array(r, evidence, "clusters");
    for (int64_t c = 0; c < r->k; c++) {
        const cluster_gap *g = &r->gap[c];
        json_t *row = g->examined ? put_row(r, list) : NULL;
        if (!row)
            continue;
        put_count(r, row, "label", c);
        put_real(r, row, "valley", g->valley);
        put_real(r, row, "items_across", g->items);
        put_real(r, row, "score", g->score);
    }
}

ddsc_status report_find_gaps(ddsc_report *r)
{
    double began = clock_seconds();
    const ddsc_clustering *c = r->from.clustering;
    if (!c || c->affinity.n == 0 || r->k < 2 || r->view.n == 0)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->gap, r->k));
    CHECK(cluster_gaps(r->ctx, r->gap, &c->affinity, r->view.labels, r->k));
    r->verdict_s = clock_seconds() - began;
    return DDSC_OK;
}

ddsc_status report_put_verdict(ddsc_report *r, json_t *root)
{
    buffer text = {.ctx = r->ctx};
    tally t = count_gaps(r);
    const char *structure = NULL;
    json_t *verdict = put_object(r, root, "verdict");
    say(&text, &structure, r, &t);
    if (text.status >= 0) {
        put_text(r, verdict, "structure", structure);
        put_text(r, verdict, "text", text.bytes);
        if (r->gap)
            put_evidence(r, verdict, &t);
    }
    ddsc_status status = text.status;
    buffer_free(&text);
    return status;
}
