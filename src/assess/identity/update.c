/* Updates a clustering after items have been added or removed. Clusters that stayed the same keep
 * their numbers. */
#include <string.h>

#include "assess/identity/identity.h"
#include "base/sized.h"
#include "cluster/spectral/cluster.h"
#include "data/model.h"
#include "neighbors/planner/plan.h"

enum { MOST_SETTINGS = 5 };

struct ddsc_update {
    ddsc_context *ctx;
    ddsc_update_view view;
    cluster_update set;
    ddsc_clustering *clustering;
    ddsc_identity *identity;
    growth_trial trial; /* the candidates for additional clusters */
    const ddsc_update_candidate *candidates[GROWTH_MOST];
    char *words[GROWTH_MOST]; /* description of each candidate */
    ddsc_update_setting settings[MOST_SETTINGS];
};

void ddsc_update_destroy(ddsc_update *u)
{
    if (!u)
        return;
    ddsc_clustering_destroy(u->clustering);
    ddsc_identity_destroy(u->identity);
    cluster_update_free(u->ctx, &u->set);
    for (int k = 0; k < GROWTH_MOST; k++)
        mem_free(u->ctx, u->words[k]);
    mem_free(u->ctx, u);
}

SIZED_VIEW(ddsc_update, 0)

static void update_count_sizes(int64_t *size, const int32_t *label, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        size[label[i]]++;
}

/* Compares the new clusters with the clusters of the model, using only items that both contain. If
 * `without_new` is true, also ignores items inserted since K was chosen. The sizes count all items
 * of each clustering. */
static ddsc_status compare_clusters(ddsc_context *ctx, ddsc_identity **identity,
                                    const cluster_update *u, const ddsc_model *m,
                                    const ddsc_clustering *c, bool without_new)
{
    ddsc_status status = DDSC_OK;
    int64_t n = 0, k = c->view.k, *old_size = NULL, *new_size = NULL;
    int32_t *before = NULL, *now = NULL;
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    TRY(MEM_NEW(ctx, before, u->n_kept));
    TRY(MEM_NEW(ctx, now, u->n_kept));
    TRY(MEM_ZERO(ctx, old_size, m->k));
    TRY(MEM_ZERO(ctx, new_size, k));
    for (int64_t i = 0; i < u->n_kept; i++) {
        if (without_new && u->fresh[i])
            continue;
        before[n] = m->items->label[u->kept[i]];
        now[n++] = c->labels[i];
    }
    update_count_sizes(old_size, m->items->label, m->n);
    update_count_sizes(new_size, c->labels, c->view.n);
    set.n_numbers = m->k;
    set.old_sizes = old_size;
    set.new_sizes = new_size;
    TRY(identity_find(ctx, identity, n, before, m->k, now, k, &set));
done:
    MEM_FREE(ctx, new_size, old_size, now, before);
    return status;
}

/* Returns the number of clusters that continue an old cluster. */
static int64_t count_same(const ddsc_identity *identity)
{
    ddsc_identity_view v;
    int64_t n = 0;
    ddsc_identity_get_view(identity, &v);
    for (int64_t c = 0; c < v.k_new; c++)
        n += v.same[c] >= 0;
    return n;
}

/* A clustering with additional clusters, and its comparison with the clusters of the model. */
typedef struct larger {
    ddsc_clustering *clustering;
    ddsc_identity *identity;
    growth_trial trial;
    bool passes;
} larger;

static void larger_free(larger *l)
{
    ddsc_clustering_destroy(l->clustering);
    ddsc_identity_destroy(l->identity);
    l->clustering = NULL;
    l->identity = NULL;
}

/* Clusters the set with `extra` more clusters. The result passes if the additional clusters consist
 * mostly of new items, random halves of the items find them, and at least as many old clusters are
 * preserved as without them. An old cluster may contain new items that now form a separate cluster,
 * so the comparison ignores new items. */
static ddsc_status try_larger(ddsc_context *ctx, larger *l, ddsc_update *u, const ddsc_model *m,
                              const cluster_plan *plan, int64_t extra)
{
    ddsc_identity_view found;
    ddsc_cluster_settings set = plan->set;
    *l = (larger){.trial = {.n_most = extra}};
    set.k_min = set.k_max = plan->set.k_max + extra;
    CHECK(cluster_graph(ctx, &l->clustering, u->clustering->graph, &set));
    CHECK(cluster_continue(ctx, l->clustering, &u->set, m, &set));
    CHECK(cluster_refine(ctx, l->clustering, u->set.set, &set));
    CHECK(compare_clusters(ctx, &l->identity, &u->set, m, l->clustering, true));
    ddsc_identity_get_view(l->identity, &found);
    CHECK(cluster_judge_growth(ctx, &l->trial, l->clustering, found.same, u->set.fresh));
    l->passes =
        l->trial.mostly_new && l->trial.found && count_same(l->identity) >= count_same(u->identity);
    return DDSC_OK;
}

/* Stores the candidates and their descriptions in the view. */
static ddsc_status describe_candidates(ddsc_context *ctx, ddsc_update *u, const larger *l)
{
    u->trial = l->trial;
    for (int64_t k = 0; k < u->trial.n; k++) {
        ddsc_update_candidate *c = &u->trial.candidate[k];
        ddsc_identity_view found;
        ddsc_identity_get_view(l->identity, &found);
        c->accepted = l->passes;
        c->cluster = l->passes ? found.numbers[u->trial.label[k]] : -1;
        mem_free(ctx, u->words[k]);
        u->words[k] = NULL;
        CHECK(cluster_growth_words(ctx, &u->words[k], c));
        c->words = u->words[k];
        u->candidates[k] = c;
    }
    u->view.candidates = u->candidates;
    u->view.n_candidates = u->trial.n;
    return DDSC_OK;
}

/* Tries 1, 2, ... additional clusters, as long as all additional clusters consist mostly of new
 * items. Among the clusterings that pass, the one whose additional clusters agree best with random
 * halves of the items replaces the current clustering. */
static ddsc_status try_growth(ddsc_context *ctx, ddsc_update *u, const ddsc_model *m,
                              const cluster_plan *plan)
{
    ddsc_status status = DDSC_OK;
    larger best = {0}, next = {0};
    bool more = true;
    for (int64_t extra = 1; extra <= GROWTH_MOST && more; extra++) {
        TRY(try_larger(ctx, &next, u, m, plan, extra));
        more = next.trial.mostly_new && plan->set.k_max + extra + 1 < u->clustering->view.n;
        if (extra > 1 && !(next.passes &&
                           (!best.passes || next.trial.least_overlap > best.trial.least_overlap))) {
            larger_free(&next);
            continue;
        }
        larger_free(&best);
        best = next;
        next = (larger){0};
    }
    TRY(describe_candidates(ctx, u, &best));
    if (best.passes) {
        cluster_take_graph(best.clustering, u->clustering);
        ddsc_clustering_destroy(u->clustering);
        ddsc_identity_destroy(u->identity);
        u->clustering = best.clustering;
        u->identity = best.identity;
        best = (larger){.passes = true};
    }
    TRY(cluster_keep_marks(ctx, u->clustering, u->set.fresh, best.passes ? &u->trial : NULL));
done:
    larger_free(&next);
    larger_free(&best);
    return status;
}

/* Numbers the clusters. If K was not specified, additional clusters are tried first. Empty clusters
 * get no number. */
static ddsc_status keep_numbers(ddsc_context *ctx, ddsc_update *u, const ddsc_model *m,
                                const cluster_plan *plan, bool may_grow)
{
    ddsc_identity_view found;
    CHECK(compare_clusters(ctx, &u->identity, &u->set, m, u->clustering, false));
    if (may_grow && cluster_can_grow(u->clustering, &u->set, &plan->set))
        CHECK(try_growth(ctx, u, m, plan));
    else if (may_grow)
        CHECK(cluster_keep_marks(ctx, u->clustering, u->set.fresh, NULL));
    ddsc_identity_get_view(u->identity, &found);
    return cluster_renumber(ctx, u->clustering, found.numbers, found.n_numbers);
}

/* Returns the number of neighbor lists that were searched, or the number of all lists if the whole
 * graph was searched. */
static int64_t count_searched(const ddsc_clustering *c)
{
    for (int64_t k = 0; k < c->view.n_details; k++)
        if (strcmp(c->details[k].name, "lists_searched") == 0)
            return (int64_t)c->details[k].value;
    return c->view.n;
}

/* Lists the settings that were chosen again, with their old values from the model. */
static void list_settings(ddsc_update *u, const ddsc_model *m)
{
    const ddsc_clustering *c = u->clustering;
    ddsc_metric metric = m->metric.metric;
    ddsc_update_setting *at = u->settings;
    *at++ = (ddsc_update_setting){"tau", (double)m->tau, (double)c->graph->tau};
    *at++ = (ddsc_update_setting){"gamma", m->gamma, c->view.gamma};
    *at++ = (ddsc_update_setting){"hubs", m->hub_scale != NULL, c->graph->scale != NULL};
    if (metric == DDSC_METRIC_MMD && m->metric.mmd_kernel != DDSC_KERNEL_ENERGY)
        *at++ = (ddsc_update_setting){"bandwidth", m->metric.bandwidth, c->pairs.bandwidth};
    if (metric == DDSC_METRIC_SINKHORN)
        *at++ = (ddsc_update_setting){"epsilon", m->metric.epsilon, c->pairs.epsilon};
    if (m->reference)
        *at++ = (ddsc_update_setting){"reference_size", (double)m->reference->nnz,
                                      (double)c->pairs.reference_size};
    u->view.settings = u->settings;
    u->view.n_settings = at - u->settings;
}

ddsc_status ddsc_update_run(ddsc_context *context, ddsc_update **update, const ddsc_model *model,
                            const ddsc_measures *added, int64_t n_removed, const int64_t *removed,
                            const ddsc_cluster_settings *settings)
{
    ddsc_status status = DDSC_OK;
    ddsc_update *u = NULL;
    ddsc_cluster_settings own;
    cluster_plan plan;
    CHECK(ctx_enter_new(context, update));
    CHECK(ctx_need(context, model, "model"));
    TRY(cluster_settings_copy(context, &own, settings));
    own.like = model;
    own.metric = NULL;
    own.graph = NULL;
    own.joined = 0;
    bool may_grow = own.k_min == 0 && own.k_max == 0;
    TRY(MEM_ZERO(context, u, 1));
    u->ctx = context;
    TRY(cluster_update_open(context, &u->set, model, added, n_removed, removed));
    TRY(cluster_prepare(context, &plan, u->set.set, &own));
    plan_known known = {.lists = u->set.lists,
                        .plain = u->set.plain,
                        .scale = u->set.scale,
                        .n_kept = u->set.n_kept};
    TRY(cluster_fit_known(context, &u->clustering, NULL, u->set.set, &plan.set, &known));
    TRY(cluster_continue(context, u->clustering, &u->set, model, &plan.set));
    TRY(cluster_refine(context, u->clustering, u->set.set, &plan.set));
    TRY(keep_numbers(context, u, model, &plan, may_grow));
    u->view = (ddsc_update_view){.n_kept = u->set.n_kept,
                                 .n_added = u->set.n_added,
                                 .n_removed = u->set.n_removed,
                                 .n_searched = count_searched(u->clustering),
                                 .kept = u->set.kept,
                                 .measures = u->set.set,
                                 .clustering = u->clustering,
                                 .identity = u->identity,
                                 .n_candidates = u->view.n_candidates,
                                 .candidates = u->view.candidates};
    if (plan.set.resolve)
        list_settings(u, model);
    *update = u;
    u = NULL;
done:
    ddsc_update_destroy(u);
    return status;
}
