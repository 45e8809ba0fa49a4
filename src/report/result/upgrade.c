/* Converts the tree of a result.json of version 0.2.0 (without format_version) to the current keys
 * and values, so that all other code handles only one format. docs/notes/formats.md lists the
 * names. */
#include <string.h>

#include "report/result/result.h"

static const char *const former_keys[][2] = {
    {"doubt", "ambiguity"},
    {"doubtful", "ambiguous"},
    {"neighbours", "neighbors"},
    {"intra_neighbours", "intra_neighbors"},
    {"inter_neighbours", "inter_neighbors"},
    {"centres", "centers"},
    {"centre_size", "center_size"},
    {"nobodys_neighbor", "zero_in_degree"},
    {"nearest_nobodys_neighbor", "nearest_zero_in_degree"},
};

/* Old and new values, each with its key. Elements of an array have the key of the array. */
static const char *const former_values[][3] = {
    {"sinkhorn_value", "regularised", "regularized"},
    {"stage", "neighbours", "neighbors"},
    {"stage", "approximate neighbours", "approximate neighbors"},
    {"stage", "company of words", "word co-occurrences"},
    {"stage", "error of merging", "merging error"},
    {"stage", "centres.npz", "centers.npz"},
    {"transforms", "align centre", "align center"},
    {"method", "gaps of the neighbour graph around each cluster",
     "gaps of the neighbor graph around each cluster"},
};

static const char *current_key(const char *key)
{
    for (size_t k = 0; k < sizeof former_keys / sizeof *former_keys; k++)
        if (strcmp(key, former_keys[k][0]) == 0)
            return former_keys[k][1];
    return key;
}

/* Returns the current spelling of a value, or NULL if it has not changed. */
static const char *current_value(const char *key, const char *value)
{
    for (size_t k = 0; k < sizeof former_values / sizeof *former_values; k++)
        if (strcmp(key, former_values[k][0]) == 0 && strcmp(value, former_values[k][1]) == 0)
            return former_values[k][2];
    return NULL;
}

static json_t *upgraded(const char *key, json_t *value);

static json_t *upgraded_object(json_t *object)
{
    json_t *copy = json_object();
    bool good = copy != NULL;
    for (void *at = json_object_iter(object); good && at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        good = json_object_set_new(copy, current_key(key),
                                   upgraded(key, json_object_iter_value(at))) == 0;
    }
    if (!good)
        json_decref(copy);
    return good ? copy : NULL;
}

static json_t *upgraded_array(const char *key, json_t *array)
{
    json_t *copy = json_array();
    bool good = copy != NULL;
    for (size_t i = 0; good && i < json_array_size(array); i++)
        good = json_array_append_new(copy, upgraded(key, json_array_get(array, i))) == 0;
    if (!good)
        json_decref(copy);
    return good ? copy : NULL;
}

/* Returns a new reference, or NULL if memory is exhausted. */
static json_t *upgraded(const char *key, json_t *value)
{
    if (json_is_object(value))
        return upgraded_object(value);
    if (json_is_array(value))
        return upgraded_array(key, value);
    const char *now = json_is_string(value) ? current_value(key, json_string_value(value)) : NULL;
    return now ? json_string(now) : json_incref(value);
}

ddsc_status result_upgrade(ddsc_report *r)
{
    json_t *whole = upgraded_object(r->tree);
    bool good = whole && json_object_set_new(whole, "format_version",
                                             json_integer(DDSC_FORMAT_VERSION)) == 0;
    if (!good) {
        json_decref(whole);
        return ctx_fail(r->ctx, DDSC_ERROR_MEMORY, "out of memory for the tree of a report");
    }
    json_decref(r->tree);
    r->tree = whole;
    return DDSC_OK;
}
