/* ddsc diff: compares the clusters of two results. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"

static bool is_same_folder(const char *first, const char *second)
{
    struct stat a, b;
    return stat(first, &a) == 0 && stat(second, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Checks all options before the folders are read. */
static bool check_call(session *s, int *code)
{
    const cli_options *o = &s->opt;
    bool table_out = o->output && output_is_stdout(o->output);
    bool page_out = o->page && output_is_stdout(o->page);
    if (table_out + page_out + (o->json != 0) > 1)
        *code =
            message_usage(s->verb, "--json, -o - and --report - all use standard output; choose "
                                   "one");
    else if (o->output && o->page && !table_out && strcmp(o->output, o->page) == 0)
        *code = message_usage(s->verb, "-o and --report name the same file, '%s'", o->output);
    else if (is_same_folder(o->operand[0], o->operand[1]))
        *code = message_usage(s->verb, "'%s' and '%s' are the same folder; expected two results",
                              o->operand[0], o->operand[1]);
    else
        return (!o->output || output_check_file(s, o->output, code)) &&
               (!o->page || output_check_file(s, o->page, code));
    return false;
}

static bool write_form(session *s, const ddsc_diff *diff, ddsc_diff_form form, const char *path,
                       int *code)
{
    text t = {0};
    bool good = session_ok(s, ddsc_diff_write(s->ctx, diff, form, text_write, &t), code) &&
                output_text(s, &t, path, s->overwrite, code);
    text_free(&t);
    return good;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    const cli_options *o = &s->opt;
    ddsc_diff *diff = NULL;
    ddsc_diff_side side[2];
    bool out = (o->output && output_is_stdout(o->output)) || (o->page && output_is_stdout(o->page));
    ddsc_diff_form form = o->json      ? DDSC_DIFF_JSON
                          : o->verbose ? DDSC_DIFF_TEXT_ALL
                                       : DDSC_DIFF_TEXT;
    for (int k = 0; k < 2; k++) {
        ddsc_diff_side_init(&side[k]);
        side[k].folder = o->operand[k];
    }
    if (!check_call(s, &code) ||
        !session_ok(s, ddsc_diff_create(s->ctx, &diff, &side[0], &side[1], NULL), &code))
        return code;
    bool good = (!o->output || write_form(s, diff, DDSC_DIFF_CSV, o->output, &code)) &&
                (!o->page || write_form(s, diff, DDSC_DIFF_HTML, o->page, &code)) &&
                (out || write_form(s, diff, form, NULL, &code));
    if (good && o->page && !out && !o->json && !o->quiet)
        output_name("report", o->page);
    ddsc_diff_destroy(diff);
    return code;
}

#define AT(field) offsetof(cli_options, field)

static const option_spec diff_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "FILE",
     .help =
         "also write a table (csv) of the items that changed: id, from, to, change, names; - is "
         "standard output"},
    {.name = "report",
     .kind = OPTION_FILE,
     .offset = AT(page),
     .argument = "FILE",
     .help = "also write a page (html) with a flow diagram; - is standard output"},
    OPTION_FORCE,
    {0}};
static const option_group group_diff = {"Output", diff_options};

static const option_group *const groups[] = {&group_diff, &group_json, &group_run, &group_help,
                                             NULL};

const cli_verb verb_diff = {
    .name = "diff",
    .operands = "DIR1 DIR2",
    .operand_kind = OPERAND_RESULTS,
    .min_operands = 2,
    .max_operands = 2,
    .summary = "report the changes between two results",
    .description =
        "Compares two folders written by `ddsc cluster -o DIR`, for example with different "
        "metrics, values of K, or versions of the data or of ddsc. Items are matched by id, and "
        "only items in both results are compared. In about 20 lines, the output reports the "
        "agreement (AMI and ARI), how many items stay, "
        "follow a split or a merge, or move to another cluster, which clusters are the same, "
        "split, merged, new or vanished, which settings differ, and which items changed. -v lists "
        "everything. Two clusters are the same if they share at least half of their combined "
        "items.",
    .groups = groups,
    .examples = "ddsc diff result-w2 result-mmd\tdid the metric matter?\n"
                "ddsc diff last-week this-week --report changes.html\ta page with a flow diagram\n"
                "ddsc diff old new -o moves.csv\tthe items that changed as a table\n",
    .run = run,
};
