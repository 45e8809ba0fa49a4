/* Compares the sizes, words and markers of each cluster across the periods of a metadata column. */
#include "over.h"

#include <string.h>

#include "options.h"
#include "result_items.h"

#define OVER                                                                                     \
    {                                                                                            \
        .name = "over", .kind = OPTION_TEXT, .offset = offsetof(cli_options, over),              \
        .argument = "COLUMN",                                                                    \
        .help = "report the size and the words or markers of each cluster for each period of a " \
                "metadata column: dates (2024-05-31), numbers or texts such as batches"          \
    }

static const option_spec over_options[] = {OVER, {0}};
const option_group group_over = {"Clusters over time", over_options};

static const option_spec about_options[] = {
    {.name = "block",
     .kind = OPTION_TEXT,
     .offset = offsetof(cli_options, block),
     .argument = "COLUMN",
     .help = "when columns of --meta are compared with the clusters, permute labels only among "
             "items with the same value of this column (such as a patient)"},
    OVER,
    {0}};
const option_group group_about = {"Associations with the clusters", about_options};

static const option_spec over_meta_options[] = {OPTION_META, OPTION_META_ID, {0}};
const option_group group_over_meta = {"Columns for --over", over_meta_options};

bool over_check(session *s, const cli_input *in, int *code)
{
    const char *over = s->opt.over, *name;
    text list = {0};
    if (!over)
        return true;
    if (s->opt.precomputed) {
        *code = message_usage(
            s->verb, "--over requires metadata columns, which --precomputed does not provide");
        return false;
    }
    for (int64_t c = 0; (name = ddsc_measures_get_meta_name(in->measures, c)); c++) {
        if (strcmp(name, over) == 0) {
            text_free(&list);
            return true;
        }
        text_addf(&list, "%s%s", c ? ", " : "; the columns are ", name);
    }
    message_error("--over: the items have no column '%s'%s", over,
                  list.length ? text_get(&list) : "; add one with --meta TABLE");
    text_free(&list);
    *code = EXIT_USAGE;
    return false;
}

bool over_add(session *s, ddsc_report *report, int *code)
{
    result_items items;
    const char *over = s->opt.over;
    if (!over && s->opt.n_meta > 0) {
        *code = message_usage(s->verb, "--meta is used only with --over COLUMN");
        return false;
    }
    if (!over)
        return true;
    if (s->opt.n_meta == 0)
        return session_ok(s, ddsc_report_add_over(s->ctx, report, over, NULL, 0), code);
    if (!result_items_open(s, &items, code))
        return false;
    const char *const *values = result_items_column(s, &items, over, code);
    bool good =
        values &&
        session_ok(s, ddsc_report_add_over(s->ctx, report, over, values, items.in.view.n_items),
                   code);
    result_items_close(&items);
    return good;
}

json_t *over_load(session *s, int *code)
{
    ddsc_report *report = NULL;
    json_t *root = NULL;
    text t = {0};
    if (session_ok(s, ddsc_report_read(s->ctx, &report, s->opt.operand[0]), code) &&
        over_add(s, report, code) &&
        session_ok(s, ddsc_report_write(s->ctx, report, DDSC_REPORT_JSON, text_write, &t), code)) {
        root = json_loads(text_get(&t), 0, NULL);
        if (!root)
            *code = EXIT_MEMORY;
    }
    ddsc_report_destroy(report);
    text_free(&t);
    return root;
}

/* ---- as text ---- */

static const char *text_at(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

static double real_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Adds words, or coordinates with their effects. */
static void add_period_traits(text *t, const char *head, const json_t *list)
{
    const json_t *row;
    size_t i;
    json_array_foreach(list, i, row)
    {
        const char *word = text_at(row, "word"), *name = text_at(row, "name");
        text_addf(t, "%s%s%s", i ? ", " : head, word, name);
        if (!*word && !*name)
            text_addf(t, "coordinate %" JSON_INTEGER_FORMAT,
                      json_integer_value(json_object_get(row, "coordinate")));
        if (!*word)
            text_addf(t, " %+.2f", real_at(row, "effect"));
    }
}

static void add_period(text *t, const json_t *name, const json_t *row)
{
    const json_t *words = json_object_get(row, "words");
    text_addf(t, "    %-12s %6" JSON_INTEGER_FORMAT " items %5.1f%% (%.1f to %.1f%%)",
              text_at(name, "name"), json_integer_value(json_object_get(row, "items")),
              100 * real_at(row, "share"), 100 * real_at(row, "low"), 100 * real_at(row, "high"));
    add_period_traits(t, "  ", words ? words : json_object_get(row, "markers"));
    add_period_traits(t, "; changed: ", json_object_get(row, "changed"));
    text_add(t, "\n");
}

/* Adds the first period of a new cluster, and the last period of a vanished cluster. */
static void add_ends(text *t, const json_t *cluster, const json_t *names)
{
    static const char *const keys[] = {"new", "vanished"}, *const ends[] = {"first", "last"};
    static const char *const words[] = {"new since", "vanished after"};
    for (int k = 0; k < 2; k++)
        if (json_is_true(json_object_get(cluster, keys[k]))) {
            size_t at = (size_t)json_integer_value(json_object_get(cluster, ends[k]));
            text_addf(t, ", %s %s (p %.2g)", words[k], text_at(json_array_get(names, at), "name"),
                      real_at(cluster, k ? "p_vanished" : "p_new"));
        }
}

void over_to_text(text *t, const json_t *root)
{
    const json_t *over = json_object_get(root, "over"),
                 *clusters = json_object_get(root, "clusters");
    const json_t *names = json_object_get(over, "periods"), *cluster, *row;
    size_t c, i;
    json_int_t missing = json_integer_value(json_object_get(over, "missing"));
    text_addf(t,
              "clusters over %s, %zu periods (one per %s), share of the items with 95%% interval\n",
              text_at(over, "column"), json_array_size(names), text_at(over, "unit"));
    if (missing > 0)
        text_addf(t, "%" JSON_INTEGER_FORMAT " item%s no value and %s left out\n", missing,
                  missing == 1 ? " has" : "s have", missing == 1 ? "is" : "are");
    json_array_foreach(json_object_get(over, "clusters"), c, cluster)
    {
        const char *name = text_at(json_array_get(clusters, c), "name");
        text_addf(t, "cluster %zu%s%s", c, *name ? " " : "", name);
        add_ends(t, cluster, names);
        text_add(t, "\n");
        json_array_foreach(json_object_get(cluster, "periods"), i, row)
            add_period(t, json_array_get(names, i), row);
    }
}
