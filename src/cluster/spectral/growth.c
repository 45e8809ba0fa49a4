/* Decides whether an update needs one more cluster. The items are clustered again with K + 1
 * clusters. The candidate is the cluster that does not continue an old cluster. It is accepted if
 * it consists mostly of new items and also appears in clusterings of random halves of the items.
 * New items are those inserted since K was chosen. docs/updates.md has the rules and the
 * measurements. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/spectral/cluster.h"

/* The share of old items in an accepted candidate is at most OLD_SHARE times their share of all
 * items, and the probability of so few old items in a random sample is at most NEW_P. */
static const double OLD_SHARE = 0.5, NEW_P = 1e-4;
/* Minimum overlap of the candidate with clusters of random halves of the items. */
static const double FOUND_OVERLAP = 0.6;

enum { WORDS_SIZE = 320 };

/* ---- new items ---- */

ddsc_status cluster_mark_new(ddsc_context *ctx, cluster_update *u, const ddsc_model *m)
{
    int64_t n = u->n_kept + u->n_added, n_fresh = u->n_added;
    CHECK(MEM_ZERO(ctx, u->fresh, n));
    for (int64_t k = 0, f = 0; k < u->n_kept; k++) {
        while (f < m->n_fresh && m->fresh[f] < u->kept[k])
            f++;
        u->fresh[k] = f < m->n_fresh && m->fresh[f] == u->kept[k];
        n_fresh += u->fresh[k];
    }
    memset(u->fresh + u->n_kept, 1, (size_t)u->n_added);
    for (int64_t k = 0; k < u->n_kept && n_fresh > n / 2; k++) {
        n_fresh -= u->fresh[k];
        u->fresh[k] = 0;
    }
    return DDSC_OK;
}

ddsc_status cluster_keep_marks(ddsc_context *ctx, ddsc_clustering *c, const uint8_t *fresh,
                               const growth_trial *added)
{
    CHECK(MEM_NEW(ctx, c->fresh, c->view.n));
    for (int64_t i = 0; i < c->view.n; i++) {
        bool settled = !fresh[i];
        for (int64_t k = 0; added && k < added->n; k++)
            settled |= c->labels[i] == added->label[k];
        if (!settled)
            c->fresh[c->n_fresh++] = (int32_t)i;
    }
    return DDSC_OK;
}

/* ---- the candidate ---- */

bool cluster_can_grow(const ddsc_clustering *c, const cluster_update *u,
                      const ddsc_cluster_settings *set)
{
    const ddsc_graph *g = c->graph;
    int64_t n_among = 0;
    for (int64_t i = 0; i < g->n; i++) {
        int64_t n_new = 0, n_neighbors = g->offset[i + 1] - g->offset[i];
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            n_new += u->fresh[g->index[e]];
        n_among += u->fresh[i] && 2 * n_new > n_neighbors;
    }
    double least = set->min_cluster * (double)g->n / (double)(set->k_max + 1);
    return set->k_max + 1 < g->n && n_among >= 2 && (double)n_among >= least / 2;
}

/* Returns the logarithm of the binomial coefficient "n choose k". */
static double log_choose(double n, double k)
{
    int sign;
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* Returns the probability that `drawn` items, chosen at random from n items, contain at most `most`
 * of the n_old old items (hypergeometric distribution). */
static double old_items_p(int64_t n, int64_t n_old, int64_t drawn, int64_t most)
{
    double sum = 0, all = log_choose((double)n, (double)drawn);
    for (int64_t x = BASE_MAX(0, drawn - (n - n_old)); x <= BASE_MIN(most, n_old); x++)
        sum += exp(log_choose((double)n_old, (double)x) +
                   log_choose((double)(n - n_old), (double)(drawn - x)) - all);
    return fmin(sum, 1);
}

/* Computes the overlap of the candidate with clusters of random halves. Items without a row in the
 * embedding are omitted. */
static ddsc_status candidate_overlap(ddsc_context *ctx, double *overlap,
                                     const ddsc_clustering *more, int32_t label)
{
    ddsc_status status = DDSC_OK;
    const int32_t *labels = cluster_spectral_labels(more);
    packed_rows p = {0};
    int32_t *of = NULL;
    TRY(cluster_pack_rows(ctx, &p, more));
    TRY(MEM_NEW(ctx, of, p.n));
    for (int64_t k = 0; k < p.n; k++)
        of[k] = labels[p.item[k]];
    TRY(halves_overlap(ctx, overlap, p.n, p.dim, p.rows, more->view.k, of, label));
done:
    mem_free(ctx, of);
    cluster_free_rows(ctx, &p);
    return status;
}

static bool is_mostly_new(const ddsc_update_candidate *c, int64_t n, int64_t n_old)
{
    double expected = (double)c->size * (double)n_old / (double)n;
    return (double)(c->size - c->n_new) <= OLD_SHARE * expected && c->p_value <= NEW_P;
}

/* Inserts a candidate in order of increasing p-value, and keeps only the first t->n_most
 * candidates. */
static void insert_candidate(growth_trial *t, const ddsc_update_candidate *c, int32_t label)
{
    int64_t at = t->n;
    for (; at > 0 && t->candidate[at - 1].p_value > c->p_value; at--)
        if (at < t->n_most) {
            t->candidate[at] = t->candidate[at - 1];
            t->label[at] = t->label[at - 1];
        }
    if (at == t->n_most)
        return;
    t->candidate[at] = *c;
    t->label[at] = label;
    t->n = BASE_MIN(t->n + 1, t->n_most);
}

ddsc_status cluster_judge_growth(ddsc_context *ctx, growth_trial *t, const ddsc_clustering *more,
                                 const int32_t *same, const uint8_t *fresh)
{
    int64_t n = more->view.n, n_old = 0;
    double halves = more->view.n_sweep == 1 ? more->view.sweep[0]->stability : (double)NAN;
    for (int64_t i = 0; i < n; i++)
        n_old += !fresh[i];
    for (int32_t c = 0; c < more->view.k; c++) {
        ddsc_update_candidate own = {.k = more->view.k, .cluster = -1, .halves = halves};
        for (int64_t i = 0; i < n && same[c] < 0; i++)
            if (more->labels[i] == c) {
                own.size++;
                own.n_new += fresh[i];
            }
        own.p_value = old_items_p(n, n_old, own.size, own.size - own.n_new);
        if (own.size > 0)
            insert_candidate(t, &own, c);
    }
    t->found = t->mostly_new = t->n == t->n_most;
    t->least_overlap = 1;
    for (int64_t k = 0; k < t->n; k++) {
        ddsc_update_candidate *c = &t->candidate[k];
        CHECK(candidate_overlap(ctx, &c->overlap, more, t->label[k]));
        t->mostly_new &= is_mostly_new(c, n, n_old);
        t->found &= c->overlap >= FOUND_OVERLAP;
        t->least_overlap = fmin(t->least_overlap, c->overlap);
    }
    return DDSC_OK;
}

ddsc_status cluster_growth_words(ddsc_context *ctx, char **words, const ddsc_update_candidate *c)
{
    CHECK(MEM_ZERO(ctx, *words, WORDS_SIZE));
    int used = c->accepted ? snprintf(*words, WORDS_SIZE, "cluster %lld is added: it has",
                                      (long long)c->cluster)
                           : snprintf(*words, WORDS_SIZE,
                                      "no cluster is added: with %lld clusters, an additional one "
                                      "would have",
                                      (long long)c->k);
    snprintf(*words + used, WORDS_SIZE - (size_t)used,
             " %lld items, %lld of them new, and overlaps by %.2f with clusters of random halves "
             "of the items",
             (long long)c->size, (long long)c->n_new, c->overlap);
    return DDSC_OK;
}

void cluster_take_graph(ddsc_clustering *more, ddsc_clustering *c)
{
    more->graph = c->graph;
    more->metric = c->metric;
    more->pairs = c->pairs;
    more->view.graph = more->graph;
    more->view.seconds_distances = c->view.seconds_distances;
    more->view.seconds_eigen += c->view.seconds_eigen;
    more->view.seconds_kmeans += c->view.seconds_kmeans;
    c->graph = NULL;
    c->view.graph = NULL;
    c->metric = (metric_resolved){0};
}
