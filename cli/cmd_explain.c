/* ddsc explain and ddsc name: what a result that `cluster -o DIR` wrote says of its clusters, and names for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

static json_t *load_result(const char *dir, int *code)
{
    json_error_t error;
    char *path = output_path(dir, "result.json");
    json_t *root = json_load_file(path, 0, &error);
    if (!root || !json_is_array(json_object_get(root, "clusters"))) {
        message_error("%s: %s", path,
                      root ? "has no clusters to explain"
                           : "cannot be read; a folder that `ddsc cluster -o` wrote is wanted");
        *code = EXIT_INPUT;
        json_decref(root);
        root = NULL;
    }
    free(path);
    return root;
}

static const char *string_at(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

/* Words with their shares here and elsewhere, or coordinates with their effects. */
static void add_reasons(text *t, const json_t *cluster)
{
    const json_t *words = json_object_get(cluster, "words"), *row;
    const json_t *markers = json_object_get(cluster, "markers");
    size_t i;
    json_array_foreach(words, i, row)
        text_addf(t, "    %-24s %.4f of the mass here, %.4f elsewhere\n", string_at(row, "word"),
                  json_number_value(json_object_get(row, "share")),
                  json_number_value(json_object_get(row, "elsewhere")));
    json_array_foreach(markers, i, row)
        text_addf(t, "    %-24s %+.2f standard deviations\n", string_at(row, "name"),
                  json_number_value(json_object_get(row, "effect")));
}

static void add_cluster(text *t, const json_t *cluster)
{
    const char *name = string_at(cluster, "name");
    text_addf(t, "cluster %" JSON_INTEGER_FORMAT "%s%s: %" JSON_INTEGER_FORMAT " items\n",
              json_integer_value(json_object_get(cluster, "label")), *name ? " " : "", name,
              json_integer_value(json_object_get(cluster, "size")));
    add_reasons(t, cluster);
}

static void add_about(text *t, const json_t *about)
{
    const json_t *row;
    size_t i;
    json_array_foreach(about, i, row)
        text_addf(t, "%s%-24s %s %.3f, p %.3g (Holm %.3g)%s\n", i ? "" : "beside the points\n",
                  string_at(row, "column"), string_at(row, "effect"),
                  json_number_value(json_object_get(row, "value")),
                  json_number_value(json_object_get(row, "p")),
                  json_number_value(json_object_get(row, "p_holm")),
                  json_is_true(json_object_get(row, "predicts")) ? ": predicts the clusters" : "");
}

static bool print_clusters(session *s, const json_t *root, int *code)
{
    text t = {0};
    const json_t *cluster;
    size_t i;
    text_addf(&t, "%s\n", string_at(json_object_get(root, "verdict"), "text"));
    json_array_foreach(json_object_get(root, "clusters"), i, cluster) add_cluster(&t, cluster);
    add_about(&t, json_object_get(root, "about"));
    bool good = output_text(s, &t, NULL, false, code);
    text_free(&t);
    return good;
}

static json_t *told(const json_t *root)
{
    json_t *out = json_object();
    json_take(out, root, "verdict");
    json_take(out, root, "clusters");
    json_take(out, root, "about");
    return out;
}

static int run_explain(session *s)
{
    int code = EXIT_GOOD;
    json_t *root = load_result(s->opt.operand[0], &code);
    if (root && s->opt.json)
        json_print(s, told(root), &code);
    else if (root)
        print_clusters(s, root, &code);
    json_decref(root);
    return code;
}

/* One word such as 0=business into the tree. */
static bool give_name(session *s, json_t *clusters, const char *word, int *code)
{
    char *end;
    long number = strtol(word, &end, 10);
    if (end == word || *end != '=' || number < 0 || (size_t)number >= json_array_size(clusters)) {
        *code = message_usage(s->verb, "'%s': should be CLUSTER=NAME, with a cluster from 0 to %zu",
                              word, json_array_size(clusters) - 1);
        return false;
    }
    json_t *cluster = json_array_get(clusters, (size_t)number);
    if (end[1])
        json_put_text(cluster, "name", end + 1);
    else
        json_object_del(cluster, "name");
    return true;
}

/* result.json with the names; then the page from it. */
static bool write_names(session *s, json_t *root, const char *dir, int *code)
{
    text t = {0}, page = {0};
    ddsc_report *report = NULL;
    char *result = output_path(dir, "result.json"), *html = output_path(dir, "report.html");
    json_to_text(&t, json_incref(root));
    bool good =
        output_text(s, &t, result, true, code) &&
        session_ok(s, ddsc_report_read(s->ctx, &report, dir), code) &&
        session_ok(s, ddsc_report_write(s->ctx, report, DDSC_REPORT_HTML, text_write, &page),
                   code) &&
        output_text(s, &page, html, true, code);
    if (good && !s->opt.quiet)
        output_name("report", html);
    ddsc_report_destroy(report);
    free(html);
    free(result);
    text_free(&page);
    text_free(&t);
    return good;
}

static int run_name(session *s)
{
    int code = EXIT_GOOD;
    const char *dir = s->opt.operand[0];
    json_t *root = load_result(dir, &code);
    bool good = root != NULL;
    for (int64_t i = 1; good && i < s->opt.n_operands; i++)
        good = give_name(s, json_object_get(root, "clusters"), s->opt.operand[i], &code);
    if (good)
        write_names(s, root, dir, &code);
    json_decref(root);
    return code;
}

static const option_group *const explain_groups[] = {&group_json, &group_run, &group_help, NULL};
static const option_group *const name_groups[] = {&group_run, &group_help, NULL};

const cli_verb verb_explain = {
    .name = "explain",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "what the clusters of an earlier result are",
    .description =
        "Says of a folder that `ddsc cluster -o DIR` wrote whether there are clusters at all, what "
        "each of them is (words, or coordinates with their direction), and "
        "which columns about items go with them.",
    .groups = explain_groups,
    .examples = "ddsc explain result\tclusters in words\n",
    .run = run_explain,
};

const cli_verb verb_name = {
    .name = "name",
    .operands = "DIR CLUSTER=NAME...",
    .min_operands = 2,
    .max_operands = -1,
    .summary = "give the clusters of an earlier result names",
    .description = "Keeps names of clusters in the folder that `ddsc cluster -o DIR` wrote: "
                   "result.json holds them, the report and `ddsc explain` show them. An empty name "
                   "takes one away.",
    .groups = name_groups,
    .examples = "ddsc name result 0=business 3=sport\ttwo names\n",
    .run = run_name,
};
