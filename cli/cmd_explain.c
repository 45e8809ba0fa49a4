/* ddsc explain: describes the clusters of a result written by `cluster -o DIR`. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "options.h"
#include "over.h"

enum { MOST_OUTLIERS = 20, TREE_MOST = 100, TYPICAL = 4 };

static const char *string_at(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

/* Adds words with their shares in the cluster and in the other items, or coordinates with their
 * effect sizes. */
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
    {
        char number[40];
        const char *name = string_at(row, "name");
        snprintf(number, sizeof number, "coordinate %" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(row, "coordinate")));
        text_addf(t, "    %-24s %+.2f standard deviations\n", *name ? name : number,
                  json_number_value(json_object_get(row, "effect")));
    }
}

static void add_heavier(text *t, const char *before, const json_t *words)
{
    const json_t *word;
    size_t i;
    json_array_foreach(words, i, word) text_addf(
        t, "%s%s", i ? ", " : before, json_string_value(word) ? json_string_value(word) : "");
}

/* Adds the words that differ most between a cluster and its nearest cluster. */
static void add_nearest(text *t, const json_t *cluster)
{
    const json_t *nearest = json_object_get(cluster, "nearest");
    const json_t *label = json_object_get(nearest, "label");
    if (!json_is_integer(label))
        return;
    text_addf(t, "    nearest: cluster %" JSON_INTEGER_FORMAT, json_integer_value(label));
    add_heavier(t, "; more here: ", json_object_get(nearest, "more"));
    add_heavier(t, "; more there: ", json_object_get(nearest, "less"));
    text_add(t, "\n");
}

/* Adds the titles or ids of the typical items. */
static void add_typical(text *t, const json_t *cluster)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(cluster, "representatives"), i, row)
    {
        const char *title = string_at(row, "title");
        if (i < TYPICAL)
            text_addf(t, "%s%s", i ? (*title ? "; " : ", ") : "    typical: ",
                      *title ? title : string_at(row, "id"));
        if (i < TYPICAL && json_object_get(row, "copies"))
            text_addf(t, " (%" JSON_INTEGER_FORMAT " copies)",
                      json_integer_value(json_object_get(row, "copies")));
    }
    text_add(t, i ? "\n" : "");
}

/* Returns the mean of two cells in adjacent rows, from 0 to 255, because a character is about
 * twice as high as wide. Cells outside the picture have the value `none`. */
static int two_cells(const json_t *rows, size_t x, size_t y, int none)
{
    int sum = 0;
    for (size_t k = 0; k < 2; k++) {
        const char *line = json_string_value(json_array_get(rows, 2 * y + k));
        unsigned value;
        bool there = line && strlen(line) >= 2 * x + 2 && sscanf(line + 2 * x, "%2x", &value) == 1;
        sum += there ? (int)value : none;
    }
    return sum / 2;
}

/* Adds the mean image in shades. A second picture next to the first one marks the cells in which
 * the cluster has more (+, #) or less (-, =) mass than the other clusters. */
static void add_picture(text *t, const json_t *picture)
{
    static const char shades[] = " .:-=+*#%@";
    const json_t *mean = json_object_get(picture, "mean");
    const json_t *off = json_object_get(picture, "difference");
    size_t side = json_array_size(mean);
    for (size_t y = 0; 2 * y < side; y++) {
        text_add(t, "    ");
        for (size_t x = 0; x < side; x++)
            text_addf(t, "%c", shades[two_cells(mean, x, y, 0) * 9 / 255]);
        text_add(t, "  |  ");
        for (size_t x = 0; x < side; x++) {
            int more = two_cells(off, x, y, 128) - 128;
            text_addf(t, "%c",
                      more > 76    ? '#'
                      : more > 25  ? '+'
                      : more < -76 ? '='
                      : more < -25 ? '-'
                                   : ' ');
        }
        text_add(t, "\n");
    }
}

static void add_cluster(text *t, const json_t *cluster)
{
    const char *name = string_at(cluster, "name");
    json_int_t size = json_integer_value(json_object_get(cluster, "size"));
    text_addf(t, "cluster %" JSON_INTEGER_FORMAT "%s%s: %" JSON_INTEGER_FORMAT " item%s\n",
              json_integer_value(json_object_get(cluster, "label")), *name ? " " : "", name, size,
              size == 1 ? "" : "s");
    add_typical(t, cluster);
    add_reasons(t, cluster);
    add_nearest(t, cluster);
    add_picture(t, json_object_get(cluster, "picture"));
}

static void add_about(text *t, const json_t *about)
{
    const json_t *row;
    size_t i;
    json_array_foreach(about, i, row)
        text_addf(t, "%s%-24s %s %.3f, p %.3g (Holm %.3g)%s\n", i ? "" : "metadata columns\n",
                  string_at(row, "column"), string_at(row, "effect"),
                  json_number_value(json_object_get(row, "value")),
                  json_number_value(json_object_get(row, "p")),
                  json_number_value(json_object_get(row, "p_holm")),
                  json_is_true(json_object_get(row, "predicts")) ? ": predicts the clusters" : "");
}

static void add_outliers(text *t, const json_t *outliers)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(outliers, "items"), i, row)
    {
        if (i == 0)
            text_addf(t, "outliers%s\n",
                      json_is_true(json_object_get(outliers, "left_out"))
                          ? ", in no cluster (label -1)"
                          : ", counted in the nearest cluster");
        if (i < MOST_OUTLIERS)
            text_addf(t, "    %-24s %.3g times as far from its neighbors as they are from theirs\n",
                      string_at(row, "id"), json_number_value(json_object_get(row, "score")));
    }
    if (i > MOST_OUTLIERS)
        text_addf(t, "    ... %zu in total, listed in items.csv\n", i);
}

/* Adds the clusters below a node of the merge tree, which is a cluster or the result of a merge. */
static void add_members(text *t, const json_t *tree, size_t k, json_int_t node)
{
    if (node < (json_int_t)k) {
        text_addf(t, "%" JSON_INTEGER_FORMAT, node);
        return;
    }
    const json_t *merge = json_array_get(tree, (size_t)node - k);
    add_members(t, tree, k, json_integer_value(json_object_get(merge, "a")));
    text_add(t, "+");
    add_members(t, tree, k, json_integer_value(json_object_get(merge, "b")));
}

/* Returns true if the node exists and no earlier merge used it. Without this check, the number of
 * members could double at each level of a forged file. */
static bool node_free(const json_t *merge, const char *key, size_t before, bool *merged)
{
    const json_t *number = json_object_get(merge, key);
    json_int_t node = json_integer_value(number);
    if (!json_is_integer(number) || node < 0 || (size_t)node >= before || merged[node])
        return false;
    return merged[node] = true;
}

static void add_tree(text *t, const json_t *tree, size_t k)
{
    const json_t *merge;
    bool merged[2 * TREE_MOST] = {false};
    size_t m;
    json_array_foreach(tree, m, merge)
    {
        if (m + 1 >= k || !node_free(merge, "a", k + m, merged) ||
            !node_free(merge, "b", k + m, merged))
            return;
        text_addf(t, "%s%4zu left  height %.3f  ",
                  m ? "" : "merging the most strongly linked clusters\n", k - m - 1,
                  json_number_value(json_object_get(merge, "height")));
        add_members(t, tree, k, json_integer_value(json_object_get(merge, "a")));
        text_add(t, " with ");
        add_members(t, tree, k, json_integer_value(json_object_get(merge, "b")));
        text_add(t, "\n");
    }
}

static bool print_clusters(session *s, const json_t *root, int *code)
{
    text t = {0};
    const json_t *cluster;
    size_t i;
    if (s->opt.over) {
        over_to_text(&t, root);
        bool written = output_print(s, &t, code);
        return written;
    }
    text_addf(&t, "%s\n", string_at(json_object_get(root, "verdict"), "text"));
    json_array_foreach(json_object_get(root, "clusters"), i, cluster) add_cluster(&t, cluster);
    if (i > 2 && i <= TREE_MOST)
        add_tree(&t, json_object_get(root, "tree"), i);
    add_outliers(&t, json_object_get(root, "outliers"));
    add_about(&t, json_object_get(root, "about"));
    return output_print(s, &t, code);
}

static json_t *told(const json_t *root)
{
    json_t *out = json_object();
    json_take(out, root, "verdict");
    json_take(out, root, "clusters");
    json_take(out, root, "tree");
    json_take(out, root, "outliers");
    json_take(out, root, "about");
    json_take(out, root, "over");
    return out;
}

static int run_explain(session *s)
{
    int code = EXIT_GOOD;
    if (s->opt.n_operands == 2 || (s->opt.pair && s->opt.n_operands != 3))
        return message_usage(s->verb, "expected two items after the folder: DIR ITEM ITEM");
    if (s->opt.n_operands == 3 && s->opt.over)
        return message_usage(s->verb, "--over is not available for two items");
    if (s->opt.n_operands == 3)
        return explain_items(s);
    if (!s->opt.over && s->opt.n_meta > 0)
        return message_usage(s->verb, "--meta is used only with --over COLUMN");
    json_t *root =
        s->opt.over ? over_load(s, &code) : json_load_result(s, s->opt.operand[0], &code);
    if (root && s->opt.json)
        json_print(s, told(root), &code);
    else if (root)
        print_clusters(s, root, &code);
    json_decref(root);
    return code;
}

static const option_spec pair_options[] = {
    {.name = "pair",
     .kind = OPTION_FLAG,
     .offset = offsetof(cli_options, pair),
     .help =
         "the two operands after the folder are items (optional, because two operands always are)"},
    {0}};
static const option_group group_pair = {"Two items", pair_options};

static const option_group *const explain_groups[] = {
    &group_over, &group_over_meta, &group_pair, &group_json, &group_run, &group_help, NULL};

const cli_verb verb_explain = {
    .name = "explain",
    .operands = "DIR [ITEM ITEM]",
    .operand_kind = OPERAND_RESULT,
    .min_operands = 1,
    .max_operands = 3,
    .summary = "describe the clusters of an earlier result",
    .description =
        "Describes the result in a folder written by `ddsc cluster -o DIR`. The output states "
        "whether there are clusters at all, what characterizes each cluster, which items are "
        "typical, how clusters merge, and which metadata columns are associated with the "
        "clusters. Clusters are described by words, or by coordinates with their direction. "
        "Clusters of planar items are described by pictures of the mean item and of the cells with "
        "more (+) or less (-) mass than in the other clusters.\n"
        "\n"
        "With --over COLUMN, the output instead shows how the clusters change over the periods of "
        "a column, such as a date: the number of items, their share with a confidence interval, "
        "the words or markers of each period, and which clusters are new or vanish.\n"
        "\n"
        "If the ids of two items are given, the output explains why the items are near or far: it "
        "lists the largest flows of the exact transport between them by point name or, if the "
        "points have no names, the share of each coordinate in the distance. Items are "
        "read from model.npz in the folder, so the original input is not needed.",
    .groups = explain_groups,
    .examples = "ddsc explain result\tdescribes the clusters\n"
                "ddsc explain result --meta dates.csv --over date\tclusters over time\n"
                "ddsc explain result story7 story12\twhich words are matched\n",
    .run = run_explain,
};
