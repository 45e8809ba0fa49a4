/* Prepares the update of a clustering: the changed set and the remaining neighbor lists. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cluster/spectral/cluster.h"
#include "data/model.h"
#include "io/format/format.h"

void cluster_update_free(ddsc_context *ctx, cluster_update *u)
{
    ddsc_measures_destroy(u->set);
    ddsc_graph_destroy(u->lists);
    ddsc_graph_destroy(u->plain);
    MEM_FREE(ctx, u->fresh, u->scale, u->kept);
    *u = (cluster_update){0};
}

/* ---- kept items ---- */

/* Lists the items of the model that remain. Sets place[i] to the new number of item i, or to -1 if
 * it is removed. */
static ddsc_status choose_kept(ddsc_context *ctx, cluster_update *u, int32_t *place,
                               const ddsc_model *m, int64_t n_removed, const int64_t *removed)
{
    for (int64_t i = 0; i < m->n; i++)
        place[i] = 0;
    for (int64_t k = 0; k < n_removed; k++) {
        if (removed[k] < 0 || removed[k] >= m->n)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "removed[%lld] is %lld, but the model has items 0 to %lld",
                            (long long)k, (long long)removed[k], (long long)m->n - 1);
        if (place[removed[k]] < 0)
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "item %lld (\"%.60s\") is removed twice",
                            (long long)removed[k], ddsc_measures_get_id(m->items, removed[k]));
        place[removed[k]] = -1;
    }
    CHECK(MEM_NEW(ctx, u->kept, m->n - n_removed));
    for (int64_t i = 0; i < m->n; i++)
        if (place[i] == 0) {
            place[i] = (int32_t)u->n_kept;
            u->kept[u->n_kept++] = i;
        }
    DDSC_ASSERT(u->n_kept == m->n - n_removed);
    return DDSC_OK;
}

static ddsc_status update_check_sizes(ddsc_context *ctx, const cluster_update *u,
                                      const ddsc_model *m)
{
    int64_t n = u->n_kept + u->n_added, least = BASE_MAX(m->tau + 1, m->run.k);
    if (u->n_added == 0 && u->n_removed == 0)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "there is nothing to update, because no items are added or removed");
    if (u->n_kept == 0 || n < least)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "%lld items would remain, %lld of them old, but %lld neighbors and %lld "
                        "clusters require at least %lld items and one old item; remove fewer "
                        "items, or cluster the remaining items separately",
                        (long long)n, (long long)u->n_kept, (long long)m->tau, (long long)m->run.k,
                        (long long)least);
    return DDSC_OK;
}

/* ---- ids ---- */

/* Checks that no id occurs twice among the kept and the added items. */
static ddsc_status update_check_ids(ddsc_context *ctx, const measures_parts *kept,
                                    const measures_parts *added)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    const measures_parts *part[2] = {kept, added};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < part[k]->n; i++) {
            const char *id = part[k]->id_text + part[k]->id_at[i];
            int64_t number;
            bool is_new;
            TRY(text_table_add(ctx, &table, id, strlen(id), &number, &is_new));
            if (!is_new && k == 1)
                TRY(ctx_fail(
                    ctx, DDSC_ERROR_INPUT, "new item %lld: the id \"%.60s\" %s; use another id%s",
                    (long long)i, id, number < kept->n ? "is already in the model" : "occurs twice",
                    number < kept->n ? ", or remove the old item in the same update" : ""));
        }
done:
    text_table_free(ctx, &table);
    return status;
}

int64_t cluster_next_id(const measures *items)
{
    int64_t next = 0, number;
    for (int64_t i = 0; i < items->n; i++)
        if (number_parse_integer(ddsc_measures_get_id(items, i), &number) && number >= next &&
            number < INT64_MAX / 2)
            next = number + 1;
    return next;
}

/* Numbers new items without ids after all numbers that were ids of items, even of removed ones. */
static ddsc_status number_items(ddsc_context *ctx, measures_parts *added, const ddsc_model *m)
{
    int64_t size = 0, next = BASE_MAX(m->n, m->run.next_id);
    next = BASE_MAX(next, cluster_next_id(m->items));
    MEM_FREE(ctx, added->id_text, added->id_at);
    added->id_text = NULL;
    added->id_at = NULL;
    CHECK(MEM_NEW(ctx, added->id_text, added->n * NUMBER_ID_SIZE));
    CHECK(MEM_NEW(ctx, added->id_at, added->n + 1));
    for (int64_t i = 0; i < added->n; i++) {
        added->id_at[i] = size;
        size += 1 + snprintf(added->id_text + size, NUMBER_ID_SIZE, "%lld", (long long)(next + i));
    }
    added->id_at[added->n] = size;
    return DDSC_OK;
}

/* ---- the set ---- */

/* Removes the labels. These are the clusters of the model, or the classes of the new items. */
static void update_drop_labels(ddsc_context *ctx, measures_parts *p)
{
    MEM_FREE(ctx, p->label, p->name_text, p->name_at);
    p->label = NULL;
    p->name_text = NULL;
    p->name_at = NULL;
    p->n_names = 0;
}

static ddsc_status make_updated_set(ddsc_context *ctx, cluster_update *u, const ddsc_model *m,
                                    const measures *added)
{
    ddsc_status status = DDSC_OK;
    measures_parts kept = {0}, more = {0};
    measures *moved = NULL;
    TRY(measures_take_parts(ctx, &kept, m->items, u->n_kept, u->kept));
    update_drop_labels(ctx, &kept);
    if (added) {
        TRY(cluster_take_items(ctx, &moved, m, added));
        TRY(measures_take_parts(ctx, &more, moved ? moved : added, added->n, NULL));
        update_drop_labels(ctx, &more);
        if (!added->id_text)
            TRY(number_items(ctx, &more, m));
        TRY(update_check_ids(ctx, &kept, &more));
        TRY(sets_join(ctx, &kept, &more, "the new items"));
    }
    TRY(measures_build(ctx, &u->set, &kept, DDSC_EMPTY_ERROR, "updated set"));
done:
    measures_parts_free(ctx, &kept);
    measures_parts_free(ctx, &more);
    ddsc_measures_destroy(moved);
    return status;
}

/* ---- neighbor lists ---- */

/* The neighbor lists stored in a model. */
typedef struct stored_lists {
    const int64_t *offset;
    const int32_t *index;
    const double *d2;
} stored_lists;

static stored_lists lists_of(const ddsc_model *m)
{
    return (stored_lists){m->list_offset, m->list_index, m->list_d2};
}

static stored_lists plain_of(const ddsc_model *m)
{
    return (stored_lists){m->plain_offset, m->plain_index, m->plain_d2};
}

/* Returns true if the list of item i contains only other items, each at most once, in ascending
 * order of distance. */
static bool list_is_valid(const ddsc_model *m, const stored_lists *l, int64_t i)
{
    for (int64_t e = l->offset[i]; e < l->offset[i + 1]; e++) {
        int32_t index = l->index[e];
        if (index < 0 || index >= m->n || index == i || !(fabs(l->d2[e]) <= MODEL_REACH_MOST))
            return false;
        for (int64_t p = l->offset[i]; p < e; p++)
            if (l->index[p] == index || l->d2[p] > l->d2[e])
                return false;
    }
    return true;
}

/* Copies the neighbor lists of n items, except for neighbors whose place is negative. Item k is
 * item kept[k] of the model; items from n_kept on get empty lists. If kept and place are NULL, all
 * items are copied. */
static ddsc_status take_lists(ddsc_context *ctx, ddsc_graph **out, const ddsc_model *m,
                              const stored_lists *l, int64_t n, int64_t n_kept, const int64_t *kept,
                              const int32_t *place)
{
    int64_t at = 0;
    CHECK(graph_create(ctx, out, n, m->tau));
    for (int64_t k = 0; k < n; k++) {
        int64_t i = k >= n_kept ? -1 : kept ? kept[k] : k;
        if (i >= 0 && !list_is_valid(m, l, i))
            return ctx_fail(ctx, DDSC_ERROR_INPUT,
                            "the model is damaged: the neighbor list of item %lld (\"%.60s\") is "
                            "invalid; cluster its items again",
                            (long long)i, ddsc_measures_get_id(m->items, i));
        for (int64_t e = i < 0 ? 0 : l->offset[i]; i >= 0 && e < l->offset[i + 1]; e++) {
            int32_t to = place ? place[l->index[e]] : l->index[e];
            if (to < 0)
                continue;
            (*out)->index[at] = to;
            (*out)->d2[at++] = l->d2[e];
        }
        (*out)->offset[k + 1] = at;
    }
    DDSC_ASSERT(invariant_offsets((*out)->offset, n));
    DDSC_ASSERT(invariant_range((*out)->index, at, 0, n_kept));
    return DDSC_OK;
}

ddsc_status cluster_model_lists(ddsc_context *ctx, ddsc_graph **lists, ddsc_graph **plain,
                                const ddsc_model *m)
{
    stored_lists l = lists_of(m), p = plain_of(m);
    if (p.offset)
        CHECK(take_lists(ctx, plain, m, &p, m->n, m->n, NULL, NULL));
    return l.offset ? take_lists(ctx, lists, m, &l, m->n, m->n, NULL, NULL) : DDSC_OK;
}

/* Copies the neighbor lists of the remaining items, without the removed ones. */
static ddsc_status take_kept_lists(ddsc_context *ctx, cluster_update *u, const ddsc_model *m,
                                   const int32_t *place)
{
    stored_lists l = lists_of(m), p = plain_of(m);
    int64_t n = u->n_kept + u->n_added;
    if (l.offset)
        CHECK(take_lists(ctx, &u->lists, m, &l, n, u->n_kept, u->kept, place));
    if (!m->hub_scale || !p.offset)
        return DDSC_OK;
    CHECK(take_lists(ctx, &u->plain, m, &p, n, u->n_kept, u->kept, place));
    CHECK(MEM_NEW(ctx, u->scale, u->n_kept));
    for (int64_t k = 0; k < u->n_kept; k++)
        u->scale[k] = m->hub_scale[u->kept[k]];
    return DDSC_OK;
}

ddsc_status cluster_update_open(ddsc_context *ctx, cluster_update *u, const ddsc_model *m,
                                const measures *added, int64_t n_removed, const int64_t *removed)
{
    ddsc_status status = DDSC_OK;
    int32_t *place = NULL;
    *u = (cluster_update){.n_added = added ? added->n : 0, .n_removed = n_removed};
    if (n_removed < 0 || (n_removed > 0 && !removed))
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "n_removed is %lld and removed is %s; n_removed must be the length of removed",
            (long long)n_removed, removed ? "not NULL" : "NULL");
    if (m->run.frame.kind == FRAME_NONE)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "the model was written by version 0.2.0, which stored neither the neighbor "
                        "lists nor all settings of the run; cluster its items again with this "
                        "version");
    TRY(MEM_NEW(ctx, place, m->n));
    TRY(choose_kept(ctx, u, place, m, n_removed, removed));
    TRY(update_check_sizes(ctx, u, m));
    TRY(make_updated_set(ctx, u, m, added));
    TRY(cluster_mark_new(ctx, u, m));
    TRY(take_kept_lists(ctx, u, m, place));
done:
    mem_free(ctx, place);
    return status;
}

/* Moves the parameters of cluster c to number[c]. Numbers without a cluster get a share of 0. */
static ddsc_status renumber_mixture(ddsc_context *ctx, word_mixture *mix, const int32_t *number,
                                    int64_t k)
{
    ddsc_status status = DDSC_OK;
    double *theta = NULL, *share = NULL, even = 1 / (double)mix->n_words;
    TRY(MEM_NEW(ctx, theta, mix->n_words * k));
    TRY(MEM_ZERO(ctx, share, k));
    for (int64_t p = 0; p < mix->n_words * k; p++)
        theta[p] = even;
    for (int64_t c = 0; c < mix->k; c++) {
        if (number[c] < 0)
            continue;
        share[number[c]] = mix->share[c];
        for (int64_t w = 0; w < mix->n_words; w++)
            theta[w * k + number[c]] = mix->theta[w * mix->k + c];
    }
    MEM_FREE(ctx, mix->theta, mix->share);
    mix->theta = theta;
    mix->share = share;
    mix->k = k;
    theta = share = NULL;
done:
    MEM_FREE(ctx, theta, share);
    return status;
}

ddsc_status cluster_renumber(ddsc_context *ctx, ddsc_clustering *c, const int32_t *number,
                             int64_t k)
{
    const int32_t *spectral = cluster_spectral_labels(c);
    if (c->mixture.n_words > 0)
        CHECK(renumber_mixture(ctx, &c->mixture, number, k));
    for (int64_t i = 0; i < c->view.n; i++)
        c->labels[i] = number[c->labels[i]];
    for (int64_t i = 0; c->spectral && i < c->view.n; i++)
        c->spectral[i] = number[c->spectral[i]];
    for (int64_t r = 0; r < c->view.n_sweep; r++)
        for (int64_t i = 0; c->view.sweep[r]->k == c->view.k && i < c->view.n; i++)
            c->sweep_labels[r * c->view.n + i] = spectral[i];
    c->view.k = k;
    DDSC_ASSERT(invariant_range(c->labels, c->view.n, 0, k));
    return DDSC_OK;
}
