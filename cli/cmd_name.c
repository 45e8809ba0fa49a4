/* ddsc name: names the clusters of a result written by `cluster -o DIR`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "options.h"

/* Returns true if the name is a single line without control characters. Names are shown on
 * terminals and on the page. */
static bool is_one_line(const char *name)
{
    char none[1];
    return !strpbrk(name, "\n\r\t\v\f") && !strstr(name, "\xe2\x80\xa8") &&
           !strstr(name, "\xe2\x80\xa9") &&
           ddsc_text_visible(none, sizeof none, name, strlen(name)) == strlen(name);
}

/* Applies one operand such as 0=business to the JSON tree. */
static bool give_name(session *s, json_t *clusters, const char *word, int *code)
{
    char *end;
    long number = strtol(word, &end, 10);
    if (end == word || *end != '=' || number < 0 || (size_t)number >= json_array_size(clusters)) {
        *code = message_usage(
            s->verb, "'%s' does not have the form CLUSTER=NAME, with a cluster from 0 to %zu", word,
            json_array_size(clusters) - 1);
        return false;
    }
    json_t *cluster = json_array_get(clusters, (size_t)number);
    if (!is_one_line(end + 1)) {
        *code = message_usage(s->verb,
                              "the name of cluster %ld contains line breaks, control characters or "
                              "invalid UTF-8; names must be one line of text",
                              number);
        return false;
    }
    if (end[1])
        json_put_text(cluster, "name", end + 1);
    else
        json_object_del(cluster, "name");
    return true;
}

/* ---- items.csv ---- */

/* Returns the end of a field, including its quotes: the next comma or newline, or the end of the
 * text. */
static const char *field_end(const char *at)
{
    bool quoted = false;
    for (; *at && (quoted || (*at != ',' && *at != '\n')); at++)
        quoted ^= *at == '"';
    return at;
}

static bool field_is(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && strncmp(at, word, strlen(word)) == 0;
}

/* Returns the name of the cluster whose number is in the field. */
static const char *name_at(const json_t *clusters, const char *field)
{
    long number = strtol(field, NULL, 10);
    const json_t *cluster = number < 0 ? NULL : json_array_get(clusters, (size_t)number);
    const char *name = json_string_value(json_object_get(cluster, "name"));
    return name ? name : "";
}

/* Adds a column name of items.csv. Version 0.2.0 wrote `doubt` and `neighbour1`. */
static void add_column_name(text *t, const char *at, const char *end)
{
    static const char *const former[][2] = {{"doubt", "ambiguity"}, {"neighbour", "neighbor"}};
    for (size_t k = 0; k < sizeof former / sizeof *former; k++) {
        size_t n = strlen(former[k][0]);
        if ((size_t)(end - at) >= n && strncmp(at, former[k][0], n) == 0) {
            text_add(t, former[k][1]);
            at += n;
        }
    }
    text_add_bytes(t, at, (size_t)(end - at));
}

/* Copies the table, adding a column `name` after `label`. An existing column of that name is
 * replaced. */
static void rename_rows(text *out, const char *table, const json_t *clusters)
{
    int label = -1, old = -1;
    bool head = true;
    for (const char *at = table; *at;) {
        for (int column = 0;; column++) {
            const char *end = field_end(at);
            if (head && label < 0 && field_is(at, end, "label"))
                label = column;
            if (head && column == label + 1 && field_is(at, end, "name"))
                old = column;
            if (column != old) {
                text_add(out, column ? "," : "");
                if (head)
                    add_column_name(out, at, end);
                else
                    text_add_bytes(out, at, (size_t)(end - at));
            }
            if (column == label) {
                text_add(out, ",");
                text_add_csv(out, head ? "name" : name_at(clusters, at));
            }
            at = *end ? end + 1 : end;
            if (*end != ',')
                break;
        }
        text_add(out, "\n");
        head = false;
    }
}

static bool write_items(session *s, const json_t *root, const char *dir, int *code)
{
    text before = {0}, after = {0};
    char *path = output_path(dir, "items.csv");
    bool good = true;
    if (access(path, F_OK) == 0 && !text_add_file(&before, path)) {
        *code = EXIT_INPUT;
        message_error("%s: cannot be read", path);
        good = false;
    } else if (before.length > 0) {
        rename_rows(&after, text_get(&before), json_object_get(root, "clusters"));
        good = output_text(s, &after, path, true, code);
    }
    free(path);
    text_free(&after);
    text_free(&before);
    return good;
}

/* Checks that the report page can be generated. If the page cannot be generated, the folder is not
 * changed. */
static bool page_can_be_made(session *s, const char *dir, int *code)
{
    ddsc_report *report = NULL;
    bool good = session_ok(s, ddsc_report_read(s->ctx, &report, dir), code);
    ddsc_report_destroy(report);
    return good;
}

/* Writes result.json with the names, and then the page generated from it. */
static bool write_names(session *s, json_t *root, const char *dir, int *code)
{
    text t = {0}, page = {0};
    ddsc_report *report = NULL;
    char *result = output_path(dir, "result.json"), *html = output_path(dir, "report.html");
    json_to_text(&t, json_incref(root));
    bool good =
        page_can_be_made(s, dir, code) && output_text(s, &t, result, true, code) &&
        write_items(s, root, dir, code) &&
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

/* Returns the cluster of an operand, or -1. */
static long cluster_of(const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);
    return end == word || *end != '=' ? -1 : number;
}

static bool names_once(session *s, int *code)
{
    for (int64_t i = 2; i < s->opt.n_operands; i++)
        for (int64_t k = 1; k < i; k++) {
            long number = cluster_of(s->opt.operand[i]);
            if (number >= 0 && number == cluster_of(s->opt.operand[k])) {
                *code = message_usage(s->verb, "cluster %ld is named twice", number);
                return false;
            }
        }
    return true;
}

static int run_name(session *s)
{
    int code = EXIT_GOOD;
    const char *dir = s->opt.operand[0];
    if (!names_once(s, &code))
        return code;
    json_t *root = json_load_result(s, dir, &code);
    bool good = root != NULL;
    for (int64_t i = 1; good && i < s->opt.n_operands; i++)
        good = give_name(s, json_object_get(root, "clusters"), s->opt.operand[i], &code);
    if (good)
        write_names(s, root, dir, &code);
    json_decref(root);
    return code;
}

static const option_group *const name_groups[] = {&group_run, &group_help, NULL};

const cli_verb verb_name = {
    .name = "name",
    .operands = "DIR CLUSTER=NAME...",
    .operand_kind = OPERAND_RESULT,
    .min_operands = 2,
    .max_operands = -1,
    .summary = "name the clusters of an earlier result",
    .description =
        "Stores names of clusters in a folder written by `ddsc cluster -o DIR`. The names are "
        "saved in result.json and in the column `name` of items.csv, and are shown in the report "
        "and by `ddsc explain`. An empty name removes an existing one.",
    .groups = name_groups,
    .examples = "ddsc name result 0=business 3=sport\ttwo names\n",
    .run = run_name,
};
