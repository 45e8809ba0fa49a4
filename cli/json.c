/* Writes JSON with jansson. If memory is exhausted, the program exits. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *checked(json_t *value)
{
    if (!value) {
        message_error("out of memory");
        exit(EXIT_MEMORY);
    }
    return value;
}

void json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, checked(value)) != 0)
        checked(NULL);
}

/* Converts text to a JSON string. File names and ids may be invalid UTF-8, which JSON does not
 * allow, so invalid bytes become '?'. */
json_t *json_from_text(const char *value)
{
    json_t *string = json_string(value);
    if (string)
        return string;
    text t = {0};
    for (const char *c = value; *c; c++)
        text_add_bytes(&t, (unsigned char)*c < 0x80 ? c : "?", 1);
    string = checked(json_string(text_get(&t)));
    text_free(&t);
    return string;
}

void json_put_text(json_t *object, const char *key, const char *value)
{
    json_put(object, key, json_from_text(value));
}

void json_put_count(json_t *object, const char *key, int64_t value)
{
    json_put(object, key, json_integer(value));
}

void json_put_real(json_t *object, const char *key, double value)
{
    json_put(object, key, isfinite(value) ? json_real(value) : json_null());
}

void json_put_bool(json_t *object, const char *key, bool value)
{
    json_put(object, key, json_boolean(value));
}

json_t *json_put_object(json_t *object, const char *key)
{
    json_t *child = checked(json_object());
    json_put(object, key, child);
    return child;
}

json_t *json_put_array(json_t *object, const char *key)
{
    json_t *child = checked(json_array());
    json_put(object, key, child);
    return child;
}

void json_add(json_t *array, json_t *value)
{
    if (json_array_append_new(array, checked(value)) != 0)
        checked(NULL);
}

void json_to_text(text *t, json_t *root)
{
    char *dump = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (!dump)
        checked(NULL);
    text_add(t, dump);
    text_add(t, "\n");
    free(dump);
}

/* Inserts format_version at the start, unless the library has already added it. */
static json_t *with_version(json_t *root)
{
    if (json_object_get(root, "format_version"))
        return root;
    json_t *whole = checked(json_object());
    json_put_count(whole, "format_version", DDSC_FORMAT_VERSION);
    if (json_object_update(whole, root) != 0)
        checked(NULL);
    json_decref(root);
    return whole;
}

bool json_print(session *s, json_t *root, int *code)
{
    text t = {0};
    json_to_text(&t, with_version(root));
    return output_print(s, &t, code);
}

void json_put_scores(json_t *object, const ddsc_scores *scores)
{
    json_put_real(object, "ami", scores->ami);
    json_put_real(object, "ari", scores->ari);
    json_put_real(object, "nmi", scores->nmi);
    json_put_real(object, "purity", scores->purity);
    json_put_count(object, "n", scores->n);
    json_put_count(object, "n_labels", scores->n_labels);
    json_put_count(object, "n_truth", scores->n_truth);
}

void json_put_resumed(json_t *object, const session *s)
{
    if (s->opt.resume)
        json_put_count(object, "resumed", ddsc_context_get_resumed(s->ctx));
}

ddsc_report_source json_source(const session *s, const ddsc_pair_stats *stats)
{
    ddsc_report_source from;
    ddsc_report_source_init(&from);
    from.settings = &s->set.cluster;
    from.pairs = stats;
    return from;
}

ddsc_report_origin json_origin(const cli_input *in)
{
    ddsc_report_origin origin;
    ddsc_report_origin_init(&origin);
    origin.compress = in->merging.n_points > 0 ? &in->merging : NULL;
    origin.compress_points = in->merging.n_points;
    return origin;
}

json_t *json_run(const session *s, const ddsc_report_source *from)
{
    ddsc_report *report = NULL;
    text t = {0};
    json_t *source = NULL;
    if (ddsc_report_create(s->ctx, &report, from) >= 0 &&
        ddsc_report_write(s->ctx, report, DDSC_REPORT_JSON, text_write, &t) >= 0)
        source = json_loads(text_get(&t), 0, NULL);
    ddsc_report_destroy(report);
    text_free(&t);
    if (source && s->opt.reference && s->set.metric.metric == DDSC_METRIC_LOT)
        json_put_text(json_object_get(source, "settings"), "reference", s->opt.reference);
    if (source && s->opt.cost_file)
        json_put_text(json_object_get(source, "settings"), "cost", s->opt.cost_file);
    return checked(source);
}

void json_take(json_t *object, const json_t *source, const char *key)
{
    json_t *value = json_object_get(source, key);
    if (value)
        json_put(object, key, json_incref(value));
}

void json_join(json_t *object, const json_t *source, const char *key)
{
    if (json_object_update(object, json_object_get(source, key)) != 0)
        checked(NULL);
}

/* Converts a result of version 0.2.0 to the current format, using the library. Consumes
 * `root`. */
static json_t *upgraded(session *s, json_t *root, const char *dir, int *code)
{
    ddsc_report *report = NULL;
    text t = {0};
    json_decref(root);
    root = NULL;
    if (session_ok(s, ddsc_report_read(s->ctx, &report, dir), code) &&
        session_ok(s, ddsc_report_write(s->ctx, report, DDSC_REPORT_JSON, text_write, &t), code))
        root = checked(json_loads(text_get(&t), 0, NULL));
    ddsc_report_destroy(report);
    text_free(&t);
    return root;
}

json_t *json_load_result(session *s, const char *dir, int *code)
{
    json_error_t error;
    char *path = output_path(dir, "result.json");
    json_t *root = json_load_file(path, 0, &error);
    if (!root || !json_is_array(json_object_get(root, "clusters"))) {
        message_error("%s: %s", path,
                      root ? "contains no clusters to explain"
                           : "cannot be read; specify a folder written by `ddsc cluster -o`");
        *code = EXIT_INPUT;
        json_decref(root);
        root = NULL;
    } else if (!json_object_get(root, "format_version")) {
        root = upgraded(s, root, dir, code);
    }
    free(path);
    return root;
}
