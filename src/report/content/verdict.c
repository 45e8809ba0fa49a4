/* The verdict of assess/permutation_test.c in words, and what it rests on. */
#include <math.h>
#include <string.h>

#include "report/content/tree.h"

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

static void say(buffer *b, const ddsc_report *r, const structure_tally *t, double p)
{
    double share = 100 * (double)t->items_parted / (double)BASE_MAX(r->view.n, 1);
    if (t->n_examined == 0 || r->k < 2) {
        buffer_add(b, r->k < 2 ? "One cluster was asked for: nothing to compare."
                               : "Not judged: this method makes no graph.");
    } else if (t->torn && t->n_parted < r->k) {
        buffer_addf(b,
                    "Clear structure: the neighbour graph falls into %lld parts that nothing "
                    "connects.",
                    (long long)r->view.n_components);
    } else if (t->n_parted > 0) {
        if (t->n_parted == r->k)
            buffer_addf(b, "Clear clusters: gaps part all %lld of them.", (long long)r->k);
        else
            buffer_addf(b,
                        "Clear structure: a gap parts %lld of %lld clusters (%.0f%% of the items) "
                        "from the rest; the others touch.",
                        (long long)t->n_parted, (long long)r->k, share);
    } else if (t->structure == DDSC_STRUCTURE_NONE) {
        buffer_add(b, "No clear clusters: items lie across the borders as they lie inside.");
        say_apart(b, r);
    } else if (t->copies) {
        buffer_add(b, "Undecided: many items are exact copies of each other, so that their "
                      "neighbours are copies alone and show no gaps.");
    } else if (p <= THEORY_DIFFER) {
        buffer_addf(
            b,
            "Items differ by more than chance among their points explains (p %.3g), but too few "
            "lie side by side to tell groups from a continuum.",
            p);
    } else if (t->structure == DDSC_STRUCTURE_UNDECIDED) {
        buffer_add(b, "Undecided: too few items lie side by side to tell a gap from chance.");
    } else if (t->held < t->held_from) {
        buffer_add(b, "No clear gaps: the deepest one is not there in items that took no part in "
                      "finding it (a continuum, or groups that touch).");
    } else {
        buffer_add(b, "No clear gaps: the items differ, but clusters pass into each other (a "
                      "continuum, or groups that touch).");
    }
}

const char *result_agreement_word(double halves)
{
    return halves >= 0.9 ? "almost always" : halves >= 0.7 ? "mostly" : "poorly";
}

/* How stable the clusters are (cluster/spectral/split_agreement.c); NaN: not known. */
static double halves_agree(const ddsc_report *r)
{
    for (int64_t c = 0; c < r->k; c++)
        if (r->gap[c].size == 0) /* the halves were cut into clusters that are not there */
            return NAN;
    for (int64_t i = 0; i < r->view.n_sweep; i++)
        if (r->view.sweep[i]->k == r->k)
            return r->view.sweep[i]->stability;
    return NAN;
}

static void put_evidence(ddsc_report *r, json_t *verdict, const structure_tally *t, double p)
{
    json_t *evidence = put_object(r, verdict, "evidence");
    put_text(r, evidence, "method", "gaps of the neighbour graph around each cluster");
    put_real(r, evidence, "score", t->score);
    put_real(r, evidence, "clear_from", t->clear_from);
    if (isfinite(t->held)) {
        put_real(r, evidence, "held_out_score", t->held);
        put_real(r, evidence, "held_out_from", t->held_from);
    }
    put_count(r, evidence, "clusters_parted", t->n_parted);
    put_count(r, evidence, "items_parted", t->items_parted);
    put_count(r, evidence, "components", r->view.n_components);
    put_real(r, evidence, "chance_of_a_tear", t->chance);
    put_real(r, evidence, "halves_agree", halves_agree(r));
    if (isfinite(p))
        put_real(r, evidence, "items_alike_p", p);
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

ddsc_status result_find_gaps(ddsc_report *r)
{
    double began = clock_seconds();
    const ddsc_clustering *c = r->from.clustering;
    if (!c || c->affinity.n == 0 || r->k < 2 || r->view.n == 0)
        return DDSC_OK;
    CHECK(MEM_NEW(r->ctx, r->gap, r->k));
    CHECK(gaps_find(r->ctx, r->gap, &c->affinity, r->view.labels, r->k, r->order));
    r->verdict_s = clock_seconds() - began;
    return DDSC_OK;
}

ddsc_status result_put_verdict(ddsc_report *r, json_t *root)
{
    buffer text = {.ctx = r->ctx};
    static const char *const names[] = {[DDSC_STRUCTURE_UNDECIDED] = "undecided",
                                        [DDSC_STRUCTURE_NONE] = "none",
                                        [DDSC_STRUCTURE_WEAK] = "weak",
                                        [DDSC_STRUCTURE_CLEAR] = "clear"};
    structure_tally t;
    double p;
    json_t *verdict = put_object(r, root, "verdict");
    CHECK(verdict_find(r->ctx, &t, &p, r->gap, r->k, result_graph(r), r->view.n_components,
                       r->measures, r->plan.metric.cost));
    say(&text, r, &t, p);
    if (text.status >= 0) {
        put_text(r, verdict, "structure", names[t.structure]);
        put_text(r, verdict, "text", text.bytes);
        if (r->gap)
            put_evidence(r, verdict, &t, p);
    }
    ddsc_status status = text.status;
    buffer_free(&text);
    return status;
}
