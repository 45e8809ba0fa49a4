/* ddsc test: tests whether metadata columns explain the distances between items. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "test_output.h"

/* ---- the verb ---- */

static void print_notes(const test_result *t)
{
    for (size_t k = 0; k < json_array_size(t->notes); k++)
        message_note(t->s, "note: ", json_string_value(json_array_get(t->notes, k)));
}

/* Removes the values of items with fewer points than --per-item, so that the test omits these
 * items. Unequal numbers of points would make the test invalid. */
static void leave_out_small(const result_items *items, test_columns *c)
{
    for (int64_t k = 0; k < c->n; k++)
        for (int64_t i = 0; i < items->in.view.n_items; i++)
            if (items->is_small[i])
                c->values[k][i] = "";
}

static bool run_test(session *s, const result_items *items, const test_columns *c,
                     const double *matrix, ddsc_permanova **found, int *code)
{
    ddsc_permanova_settings set;
    ddsc_permanova_settings_init(&set);
    set.permutations = s->opt.permutations;
    set.squared = !s->opt.distances;
    set.pairwise = s->opt.pairwise;
    set.separately = s->opt.separately;
    set.points = test_columns_find(c, LOG_POINTS) < 0 ? items->points : NULL;
    return session_ok(
        s, ddsc_permanova_run(s->ctx, found, items->in.view.n_items, matrix, c->n, c->column, &set),
        code);
}

static void print_result(session *s, const result_items *items, const test_columns *c,
                         const ddsc_permanova *found, double seconds, int *code)
{
    test_result t = {.s = s, .items = items, .columns = c, .notes = json_array()};
    ddsc_permanova_get_view(found, &t.v);
    test_make_notes(&t);
    if (s->opt.json) {
        json_print(s, test_to_json(&t, seconds), code);
    } else {
        text out = {0};
        test_to_text(&out, &t);
        output_print(s, &out, code);
        if (!s->opt.quiet)
            print_notes(&t);
    }
    json_decref(t.notes);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    double began = cli_now(), *matrix = NULL;
    result_items items = {0};
    test_columns columns = {0};
    ddsc_permanova *found = NULL;
    if (s->opt.distances && s->opt.transform.per_item)
        return message_usage(s->verb, "--per-item has no effect on the matrix of --distances; "
                                      "compute the matrix from the points that were drawn");
    if (!s->opt.by)
        return message_usage(s->verb, "--by COLUMN is required");
    if (!result_items_open(s, &items, &code))
        return code;
    if (test_columns_open(s, &items, &columns, &code)) {
        leave_out_small(&items, &columns);
        matrix = s->opt.distances ? result_items_read_distances(s, &items, s->opt.distances, &code)
                                  : result_items_distances(s, &items, &code);
    }
    if (matrix && run_test(s, &items, &columns, matrix, &found, &code)) {
        print_result(s, &items, &columns, found, cli_now() - began, &code);
        code = code == EXIT_GOOD ? session_exit(s) : code;
    }
    ddsc_permanova_destroy(found);
    free(matrix);
    test_columns_close(&columns);
    result_items_close(&items);
    return code;
}

#define AT(field) offsetof(cli_options, field)

static const option_spec column_options[] = {
    {.name = "by",
     .kind = OPTION_TEXT,
     .offset = AT(by),
     .argument = "COLUMN,...",
     .help = "the columns to test (required)"},
    {.name = "adjust",
     .kind = OPTION_TEXT,
     .offset = AT(adjust),
     .argument = "COLUMN,...",
     .help =
         "covariates, such as age, sex and batch; " LOG_POINTS
         " is the logarithm of the number of points of each item (valid only for classes of equal "
         "size; --per-item is always valid)"},
    {.name = "block",
     .kind = OPTION_TEXT,
     .offset = AT(block),
     .argument = "COLUMN",
     .help = "permute items only within the same value of this column (such as a patient); a "
             "column that is constant within blocks is tested by permuting whole blocks"},
    {.name = "separately",
     .kind = OPTION_FLAG,
     .offset = AT(separately),
     .help = "test each column of --by in a separate model with the covariates (default: one "
             "model, in which each column is tested after all others)"},
    OPTION_FACTOR,
    OPTION_NUMERIC,
    OPTION_META,
    OPTION_META_ID,
    {0}};
static const option_group group_columns = {"Columns", column_options};

static const option_spec test_options[] = {
    {.name = "pairwise",
     .kind = OPTION_FLAG,
     .offset = AT(pairwise),
     .help = "also test each pair of classes of each tested column"},
    OPTION_PERMUTATIONS,
    {.name = "distances",
     .kind = OPTION_FILE,
     .offset = AT(distances),
     .argument = "FILE",
     .help = "matrix of the distances between the items, as written by 'ddsc distance' without "
             "--squared (default: computed with the metric of the result)"},
    {.name = "per-item",
     .kind = OPTION_COUNT,
     .offset = AT(transform.per_item),
     .minimum = 1,
     .argument = "N",
     .help = "draw N points, using --seed, from each item that has more, and leave out items that "
             "have fewer, so that the numbers of points are equal"},
    {0}};
static const option_group group_test = {"Test", test_options};

static const option_group *const test_groups[] = {
    &group_columns, &group_test, &group_json, &group_device, &group_run, &group_help, NULL};

const cli_verb verb_test = {
    .name = "test",
    .operands = "DIR --by COLUMN,...",
    .operand_kind = OPERAND_RESULT,
    .min_operands = 1,
    .max_operands = 1,
    .summary = "test whether metadata columns explain the distances between items",
    .description =
        "Runs a distance-based analysis of variance (Anderson 2001; McArdle and Anderson 2001) of "
        "the items of a result. Each column is tested after all others (marginal terms). p is the "
        "share of permutations with an F at least as large. A permutation reorders the items of "
        "the centered matrix of squared distances but not the metadata columns. R^2, F and p "
        "equal those of adonis2(by = \"margin\") in the R package vegan. Classes are also compared "
        "by dispersion, that is, by the distances from items to the centroids of their classes. "
        "p-values are corrected for the number of columns (Benjamini and Hochberg) and for the "
        "number of pairs of classes (Holm). "
        "All distances are needed, so the expected time is printed first.\n"
        "\n"
        "The clusters of the result cannot be tested. Clusters are chosen to differ, so p would be "
        "small for any data, even if half of the points formed the clusters and the other half "
        "were tested. 'ddsc explain' compares the clusters with columns that the clustering did "
        "not use.",
    .groups = test_groups,
    .examples =
        "ddsc test result --by status --adjust age,sex\ta class, adjusted for age and sex\n"
        "ddsc test result --by condition --block patient\tpaired samples\n"
        "ddsc test result --by site --pairwise --meta sites.csv\tcolumns of another table\n",
    .run = run,
};
