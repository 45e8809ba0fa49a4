/* Updates a clustering after items have been added or removed. Clusters that are the same keep
 * their number. */
#include <string.h>

#include "assess/identity/identity.h"
#include "base/sized.h"
#include "cluster/spectral/cluster.h"
#include "data/model.h"
#include "neighbors/planner/plan.h"

struct ddsc_update {
    ddsc_context *ctx;
    ddsc_update_view view;
    cluster_update set;
    ddsc_clustering *clustering;
    ddsc_identity *identity;
};

void ddsc_update_destroy(ddsc_update *u)
{
    if (!u)
        return;
    ddsc_clustering_destroy(u->clustering);
    ddsc_identity_destroy(u->identity);
    cluster_update_free(u->ctx, &u->set);
    mem_free(u->ctx, u);
}

SIZED_VIEW(ddsc_update, 0)

static void update_count_sizes(int64_t *size, const int32_t *label, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        size[label[i]]++;
}

/* Compares the clusters on the kept items, and numbers the new clusters. Sizes refer to the whole
 * sets. Empty clusters have no number. */
static ddsc_status keep_numbers(ddsc_context *ctx, ddsc_update *u, const ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    int64_t n = u->set.n_kept, k = u->clustering->view.k, *old_size = NULL, *new_size = NULL;
    int32_t *label = NULL;
    ddsc_identity_settings set;
    ddsc_identity_view found;
    ddsc_identity_settings_init(&set);
    TRY(MEM_NEW(ctx, label, n));
    TRY(MEM_ZERO(ctx, old_size, m->k));
    TRY(MEM_ZERO(ctx, new_size, k));
    for (int64_t i = 0; i < n; i++)
        label[i] = m->items->label[u->set.kept[i]];
    update_count_sizes(old_size, m->items->label, m->n);
    update_count_sizes(new_size, u->clustering->labels, u->clustering->view.n);
    set.n_numbers = m->k;
    set.old_sizes = old_size;
    set.new_sizes = new_size;
    TRY(identity_find(ctx, &u->identity, n, label, m->k, u->clustering->labels, k, &set));
    ddsc_identity_get_view(u->identity, &found);
    TRY(cluster_renumber(ctx, u->clustering, found.numbers, found.n_numbers));
done:
    MEM_FREE(ctx, new_size, old_size, label);
    return status;
}

/* Returns the number of lists that were searched. A search for the whole graph does not count its
 * lists. */
static int64_t count_searched(const ddsc_clustering *c)
{
    for (int64_t k = 0; k < c->view.n_details; k++)
        if (strcmp(c->details[k].name, "lists_searched") == 0)
            return (int64_t)c->details[k].value;
    return c->view.n;
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
    TRY(MEM_ZERO(context, u, 1));
    u->ctx = context;
    TRY(cluster_update_open(context, &u->set, model, added, n_removed, removed));
    TRY(cluster_prepare(context, &plan, u->set.set, &own));
    plan_known known = {.lists = u->set.lists, .n_kept = u->set.n_kept};
    TRY(cluster_fit_known(context, &u->clustering, NULL, u->set.set, &plan.set, &known));
    TRY(cluster_refine(context, u->clustering, u->set.set, &plan.set));
    TRY(keep_numbers(context, u, model));
    u->view = (ddsc_update_view){.n_kept = u->set.n_kept,
                                 .n_added = u->set.n_added,
                                 .n_removed = u->set.n_removed,
                                 .n_searched = count_searched(u->clustering),
                                 .kept = u->set.kept,
                                 .measures = u->set.set,
                                 .clustering = u->clustering,
                                 .identity = u->identity};
    *update = u;
    u = NULL;
done:
    ddsc_update_destroy(u);
    return status;
}
