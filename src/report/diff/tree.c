/* Builds the tree of values of a comparison of two results, which `ddsc diff --json` prints. */
#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/result/tree.h"
#include "report/traits/traits.h"

enum { TRAITS = 6, VALUE_TEXT = 160 };

/* Errors while building the tree are recorded in the result of the first side. */
static ddsc_report *recorder(const ddsc_diff *d)
{
    return d->side[0].result;
}

static const json_t *value_of(const ddsc_diff *d, int side, const char *key, const char *inner)
{
    const json_t *found = json_object_get(d->side[side].result->tree, key);
    return inner ? json_object_get(found, inner) : found;
}

static void diff_put_cluster(ddsc_diff *d, int side, int64_t c, json_t *list)
{
    ddsc_report *r = recorder(d);
    const json_t *cluster =
        json_array_get(json_object_get(d->side[side].result->tree, "clusters"), (size_t)c);
    const char *name = result_cluster_name(cluster);
    buffer traits = {.ctx = d->ctx};
    json_t *row = put_row(r, list);
    int64_t shared = 0, other = side ? d->view.k_old : d->view.k_new;
    for (int64_t o = 0; o < other; o++)
        shared += d->view.common[side ? o * d->view.k_new + c : c * d->view.k_new + o];
    put_count(r, row, "cluster", c);
    if (name)
        put_text(r, row, "name", name);
    traits_add(&traits, cluster, TRAITS);
    if (traits.status >= 0 && traits.length > 0)
        put_text(r, row, "about", traits.bytes);
    r->lost |= traits.status < 0;
    buffer_free(&traits);
    put_count(r, row, "size", d->side[side].size[c]);
    put_count(r, row, "shared", shared);
    if (side == 1)
        put_value(r, row, "same_as",
                  d->view.same[c] >= 0 ? json_integer(d->view.same[c]) : json_null());
}

static void diff_put_side(ddsc_diff *d, json_t *root, int side)
{
    ddsc_report *r = recorder(d), *result = d->side[side].result;
    json_t *object = put_object(r, root, side ? "second" : "first");
    const char *version = json_string_value(value_of(d, side, "version", NULL));
    const char *level = json_string_value(value_of(d, side, "verdict", "level"));
    put_text(r, object, "name", d->side[side].name);
    if (version)
        put_text(r, object, "version", version);
    put_count(r, object, "n", result->n_rows);
    put_count(r, object, "k", result->k);
    if (level)
        put_text(r, object, "verdict", level);
    json_t *clusters = put_array(r, object, "clusters");
    for (int64_t c = 0; c < result->k; c++)
        diff_put_cluster(d, side, c, clusters);
    json_t *alone = put_array(r, object, "only_here");
    for (int64_t i = 0; i < result->n_rows; i++)
        if (d->side[side].other[i] < 0)
            put_last(r, alone, result_string(text_table_get(&d->side[side].id, i)));
}

/* ---- settings that differ ---- */

/* Writes a value as text, or "" if it is missing. */
static void value_text(char text[VALUE_TEXT], const json_t *value)
{
    char *dump = value && !json_is_string(value)
                     ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6))
                     : NULL;
    const char *plain = json_string_value(value);
    snprintf(text, VALUE_TEXT, "%s", plain ? plain : dump ? dump : "");
    free(dump);
}

static void put_setting(ddsc_diff *d, json_t *list, const char *prefix, const char *key,
                        const json_t *before, const json_t *after)
{
    char text[2][VALUE_TEXT], name[VALUE_TEXT];
    value_text(text[0], before);
    value_text(text[1], after);
    if (strcmp(text[0], text[1]) == 0)
        return;
    json_t *row = put_row(recorder(d), list);
    snprintf(name, sizeof name, "%s%s", prefix, key);
    put_text(recorder(d), row, "name", name);
    put_text(recorder(d), row, "first", text[0]);
    put_text(recorder(d), row, "second", text[1]);
}

/* Lists the values of two objects that differ. Keys that only the second object has are listed
 * last. */
static void put_differences(ddsc_diff *d, json_t *list, const char *prefix, const char *object)
{
    json_t *part[2];
    for (int s = 0; s < 2; s++)
        part[s] = json_object_get(d->side[s].result->tree, object);
    for (int s = 0; s < 2; s++)
        for (void *at = json_object_iter(part[s]); at; at = json_object_iter_next(part[s], at)) {
            const char *key = json_object_iter_key(at);
            if (s == 0 || !json_object_get(part[0], key))
                put_setting(d, list, prefix, key, json_object_get(part[0], key),
                            json_object_get(part[1], key));
        }
}

static void put_settings(ddsc_diff *d, json_t *root)
{
    static const char *const plain[] = {"version", "input", "transforms", "seed", NULL};
    json_t *list = put_array(recorder(d), root, "settings");
    for (int p = 0; plain[p]; p++)
        put_setting(d, list, "", plain[p], value_of(d, 0, plain[p], NULL),
                    value_of(d, 1, plain[p], NULL));
    put_differences(d, list, "", "settings");
    put_differences(d, list, "chosen ", "chosen");
}

/* ---- clusters and items ---- */

static void put_event(ddsc_diff *d, json_t *list, const ddsc_identity_event *e)
{
    ddsc_report *r = recorder(d);
    json_t *row = put_row(r, list);
    put_text(r, row, "kind", ddsc_identity_get_kind_name(e->kind));
    put_count(r, row, "cluster", e->cluster);
    put_count(r, row, "size", e->size);
    put_count(r, row, "shared", e->n_shared);
    put_real(r, row, "overlap", e->overlap);
    json_t *parts = put_array(r, row, "parts");
    for (int64_t p = 0; p < e->n_parts; p++) {
        json_t *part = put_row(r, parts);
        put_count(r, part, "cluster", e->parts[p]);
        put_count(r, part, "common", e->common[p]);
        put_count(r, part, "of", e->of[p]);
    }
    put_text(r, row, "words", e->words);
}

/* Writes a cluster, -1 for items in no cluster, or null for items that the result does not have. */
static void put_end(ddsc_report *r, json_t *row, const char *key, int64_t cluster, int64_t k)
{
    put_value(r, row, key,
              cluster == k + DIFF_ABSENT ? json_null() : json_integer(cluster < k ? cluster : -1));
}

static void put_ends(ddsc_diff *d, json_t *row, int64_t from, int64_t to, diff_change change)
{
    ddsc_report *r = recorder(d);
    put_end(r, row, "from", from, d->view.k_old);
    put_end(r, row, "to", to, d->view.k_new);
    put_text(r, row, "change", diff_change_name(change));
}

static void diff_put_moves(ddsc_diff *d, json_t *root)
{
    int64_t from, to;
    json_t *flows = put_array(recorder(d), root, "flows");
    for (int64_t f = 0; f < d->n_flows; f++) {
        json_t *row = put_row(recorder(d), flows);
        put_ends(d, row, d->flow[f].from, d->flow[f].to, d->flow[f].change);
        put_count(recorder(d), row, "items", d->flow[f].n);
    }
    json_t *moves = put_array(recorder(d), root, "moves");
    for (int64_t i = 0; i < d->side[0].result->n_rows; i++) {
        diff_change change = diff_of_row(d, 0, i, &from, &to);
        if (change == DIFF_SAME || change == DIFF_REMOVED)
            continue;
        json_t *row = put_row(recorder(d), moves);
        put_value(recorder(d), row, "id", result_string(text_table_get(&d->side[0].id, i)));
        put_ends(d, row, from, to, change);
    }
}

static void put_counts(ddsc_diff *d, json_t *root)
{
    ddsc_report *r = recorder(d);
    put_count(r, root, "shared", d->n_shared);
    put_bool(r, root, "matched_by_row", d->numbers);
    json_t *scores = put_object(r, root, "scores");
    put_real(r, scores, "ami", d->scores.ami);
    put_real(r, scores, "ari", d->scores.ari);
    put_count(r, scores, "n", d->scores.n);
    json_t *items = put_object(r, root, "items");
    for (int c = 0; c < DIFF_CHANGES; c++)
        put_count(r, items, diff_change_name((diff_change)c), d->count[c]);
    json_t *clusters = put_object(r, root, "clusters");
    for (int kind = 0; kind <= DDSC_IDENTITY_VANISHED; kind++) {
        int64_t n = 0;
        for (int64_t e = 0; e < d->view.n_events; e++)
            n += (int)d->view.events[e]->kind == kind;
        put_count(r, clusters, ddsc_identity_get_kind_name((ddsc_identity_kind)kind), n);
    }
}

ddsc_status diff_put_tree(ddsc_diff *d)
{
    ddsc_report *r = recorder(d);
    json_t *root = d->tree = json_object();
    put_count(r, root, "format_version", DDSC_FORMAT_VERSION);
    put_text(r, root, "version", ddsc_version());
    put_counts(d, root);
    diff_put_side(d, root, 0);
    diff_put_side(d, root, 1);
    put_settings(d, root);
    json_t *events = put_array(r, root, "events");
    for (int64_t e = 0; e < d->view.n_events; e++)
        put_event(d, events, d->view.events[e]);
    diff_put_moves(d, root);
    if (r->lost)
        return ctx_fail(d->ctx, DDSC_ERROR_MEMORY, "out of memory for the tree of a comparison");
    return DDSC_OK;
}
