/* Updates a clustering after items were added or removed. Clusters that are the same keep their
 * number. */
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
    ddsc_update_candidate candidate;
    char *words; /* describes the candidate */
    ddsc_update_setting settings[MOST_SETTINGS];
};

void ddsc_update_destroy(ddsc_update *u)
{
    if (!u)
        return;
    ddsc_clustering_destroy(u->clustering);
    ddsc_identity_destroy(u->identity);
    cluster_update_free(u->ctx, &u->set);
    mem_free(u->ctx, u->words);
    mem_free(u->ctx, u);
}

void ddsc_update_get_view_sized(const ddsc_update *update, ddsc_update_view *view, size_t size)
{
    ddsc_update_view own = {0};
    if (update)
        own = update->view;
    sized_view(view, size, &own, sizeof own);
}

static void update_count_sizes(int64_t *size, const int32_t *label, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        size[label[i]]++;
}

/* Compares the clusters with those of the model on the kept items. The sizes are those of the whole
 * sets. */
static ddsc_status compare_clusters(ddsc_context *ctx, ddsc_identity **identity,
                                    const cluster_update *u, const ddsc_model *m,
                                    const ddsc_clustering *c)
{
    ddsc_status status = DDSC_OK;
    int64_t n = u->n_kept, k = c->view.k, *old_size = NULL, *new_size = NULL;
    int32_t *label = NULL;
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    TRY(MEM_NEW(ctx, label, n));
    TRY(MEM_ZERO(ctx, old_size, m->k));
    TRY(MEM_ZERO(ctx, new_size, k));
    for (int64_t i = 0; i < n; i++)
        label[i] = m->items->label[u->kept[i]];
    update_count_sizes(old_size, m->items->label, m->n);
    update_count_sizes(new_size, c->labels, c->view.n);
    set.n_numbers = m->k;
    set.old_sizes = old_size;
    set.new_sizes = new_size;
    TRY(identity_find(ctx, identity, n, label, m->k, c->labels, k, &set));
done:
    MEM_FREE(ctx, new_size, old_size, label);
    return status;
}

/* Returns the number of clusters that continue an old one. */
static int64_t count_same(const ddsc_identity *identity)
{
    ddsc_identity_view v;
    int64_t n = 0;
    ddsc_identity_get_view(identity, &v);
    for (int64_t c = 0; c < v.k_new; c++)
        n += v.same[c] >= 0;
    return n;
}

/* Replaces the clustering by one with one more cluster, if a candidate passes and no more old clusters
 * are lost than without it. *label is the label of the candidate, or -1. */
static ddsc_status try_growth(ddsc_context *ctx, ddsc_update *u, int32_t *label,
                              const ddsc_model *m, const cluster_plan *plan)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *more = NULL;
    ddsc_identity *identity = NULL;
    ddsc_identity_view found;
    ddsc_update_candidate *candidate = &u->candidate;
    ddsc_cluster_settings set = plan->set;
    set.k_min = set.k_max = plan->set.k_max + 1;
    TRY(cluster_graph(ctx, &more, u->clustering->graph, &set));
    TRY(cluster_continue(ctx, more, &u->set, m, &set));
    TRY(cluster_refine(ctx, more, u->set.set, &set));
    TRY(compare_clusters(ctx, &identity, &u->set, m, more));
    ddsc_identity_get_view(identity, &found);
    TRY(growth_judge(ctx, candidate, label, more, found.same, u->set.fresh));
    if (count_same(identity) < count_same(u->identity))
        candidate->accepted = 0;
    if (candidate->accepted) {
        candidate->cluster = found.numbers[*label];
        growth_take_graph(more, u->clustering);
        ddsc_clustering_destroy(u->clustering);
        ddsc_identity_destroy(u->identity);
        u->clustering = more;
        u->identity = identity;
        more = NULL;
        identity = NULL;
    } else {
        *label = -1;
    }
    TRY(growth_words(ctx, &u->words, candidate));
    candidate->words = u->words;
    u->view.candidate = candidate;
done:
    ddsc_identity_destroy(identity);
    ddsc_clustering_destroy(more);
    return status;
}

/* Gives the clusters their numbers, after one more cluster was tried if K was not given. Labels of
 * empty clusters have no number. */
static ddsc_status keep_numbers(ddsc_context *ctx, ddsc_update *u, const ddsc_model *m,
                                const cluster_plan *plan, bool may_grow)
{
    int32_t label = -1;
    ddsc_identity_view found;
    CHECK(compare_clusters(ctx, &u->identity, &u->set, m, u->clustering));
    if (may_grow && growth_possible(u->clustering, &u->set, &plan->set))
        CHECK(try_growth(ctx, u, &label, m, plan));
    if (may_grow)
        CHECK(growth_keep_marks(ctx, u->clustering, u->set.fresh, label));
    ddsc_identity_get_view(u->identity, &found);
    return cluster_renumber(ctx, u->clustering, found.numbers, found.n_numbers);
}

/* Returns the number of lists that were searched. The search of a whole graph does not count
 * them. */
static int64_t count_searched(const ddsc_clustering *c)
{
    for (int64_t k = 0; k < c->view.n_details; k++)
        if (strcmp(c->details[k].name, "lists_searched") == 0)
            return (int64_t)c->details[k].value;
    return c->view.n;
}

/* Lists the settings that were chosen again, and their values in the model. */
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
    plan_known known = {.lists = u->set.lists, .n_kept = u->set.n_kept};
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
                                 .candidate = u->view.candidate};
    if (plan.set.resolve)
        list_settings(u, model);
    *update = u;
    u = NULL;
done:
    ddsc_update_destroy(u);
    return status;
}
