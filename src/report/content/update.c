/* Writes the changes made by an update: the items, and the clusters that are the same, split,
 * merged, new or vanished. */
#include "report/content/content.h"

static void put_change(ddsc_report *r, json_t *events, const ddsc_identity_event *e)
{
    json_t *object = put_row(r, events);
    bool old = e->kind == DDSC_IDENTITY_SPLIT || e->kind == DDSC_IDENTITY_VANISHED;
    put_text(r, object, "kind", ddsc_identity_get_kind_name(e->kind));
    put_count(r, object, old ? "old_cluster" : "cluster", e->cluster);
    put_count(r, object, "size", e->size);
    put_count(r, object, "shared", e->n_shared);
    put_real(r, object, "overlap", e->overlap);
    json_t *parts = put_array(r, object, "parts");
    for (int64_t k = 0; k < e->n_parts; k++) {
        json_t *part = put_row(r, parts);
        put_count(r, part, old ? "cluster" : "old_cluster", e->parts[k]);
        put_count(r, part, "shared", e->common[k]);
        put_count(r, part, "of", e->of[k]);
    }
    put_text(r, object, "text", e->words);
}

/* Writes a candidate for an additional cluster. */
static void put_candidate(ddsc_report *r, json_t *candidates, const ddsc_update_candidate *c)
{
    json_t *object = put_row(r, candidates);
    put_bool(r, object, "accepted", c->accepted);
    put_count(r, object, "k", c->k);
    if (c->accepted)
        put_count(r, object, "cluster", c->cluster);
    put_count(r, object, "size", c->size);
    put_count(r, object, "new", c->n_new);
    put_real(r, object, "p_value", c->p_value);
    put_real(r, object, "overlap", c->overlap);
    put_real(r, object, "halves", c->halves);
    put_text(r, object, "text", c->words);
}

/* Writes the settings that were chosen again. */
static void put_chosen_again(ddsc_report *r, json_t *update, const ddsc_update_view *u)
{
    json_t *settings = put_array(r, update, "settings");
    for (int64_t k = 0; k < u->n_settings; k++) {
        json_t *row = put_row(r, settings);
        put_text(r, row, "name", u->settings[k].name);
        put_real(r, row, "before", u->settings[k].before);
        put_real(r, row, "after", u->settings[k].after);
    }
}

void content_put_update(ddsc_report *r, json_t *root)
{
    ddsc_update_view u;
    ddsc_identity_view id;
    ddsc_update_get_view(r->from.update, &u);
    if (!u.identity)
        return;
    ddsc_identity_get_view(u.identity, &id);
    json_t *object = put_object(r, root, "update");
    put_count(r, object, "kept", u.n_kept);
    put_count(r, object, "added", u.n_added);
    put_count(r, object, "removed", u.n_removed);
    put_count(r, object, "lists_searched", u.n_searched);
    if (u.n_candidates > 0) {
        json_t *candidates = put_array(r, object, "candidates");
        for (int64_t k = 0; k < u.n_candidates; k++)
            put_candidate(r, candidates, u.candidates[k]);
    }
    if (u.n_settings > 0)
        put_chosen_again(r, object, &u);
    json_t *events = put_array(r, object, "clusters");
    for (int64_t e = 0; e < id.n_events; e++)
        put_change(r, events, id.events[e]);
    json_t *unused = put_array(r, root, "unused_numbers");
    for (int64_t c = 0; c < id.n_unused; c++)
        put_last(r, unused, json_integer(id.unused[c]));
}
