/* ddsc update: adds items to a result and removes items from it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "options.h"
#include "update.h"

typedef struct update_job {
    session *s;
    const char *dir; /* the result */
    json_t *root;    /* result.json of the old result; NULL if only a model was given */
    cli_input in;    /* the new items, if any */
    int64_t *removed, n_removed;
    const char **name; /* names of clusters, from `root` */
    ddsc_update *update;
    ddsc_update_view view;
    update_classes classes;
    ddsc_report *report;
} update_job;

static bool is_same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Checks, before the computation starts, that the new result can be written. With --force, it may
 * replace the old result in one step. */
static bool check_output(session *s, int *code)
{
    const char *names[32] = {NULL}, *dir = s->opt.output;
    struct stat info;
    *code = EXIT_GOOD;
    if (!dir || output_is_stdout(dir))
        *code = message_usage(s->verb, "the output folder is missing: use -o DIR2");
    else if (s->opt.n_operands < 2 && !s->opt.remove)
        *code = message_usage(s->verb, "nothing to update; specify new items or --remove");
    else if (s->opt.k_given && s->opt.cluster.k_min == 0)
        *code = message_usage(s->verb, "-k auto cannot be used with update; remove -k to keep the "
                                       "number of clusters, or specify a range such as -k 2:15");
    else if (is_same_folder(dir, s->opt.operand[0]) && !s->opt.force)
        *code = message_usage(s->verb,
                              "%s is the folder of the old result; use --force to replace it", dir);
    if (*code != EXIT_GOOD)
        return false;
    for (int i = 0; i < 31 && ddsc_report_get_file_name(i); i++)
        names[i] = ddsc_report_get_file_name(i);
    bool there = stat(dir, &info) == 0 && S_ISDIR(info.st_mode);
    return (!there || session_ok(s, ddsc_report_check(s->ctx, dir, DDSC_WRITE_OVERWRITE), code)) &&
           (is_same_folder(dir, s->opt.operand[0]) || output_check_dir(s, dir, names, false, code));
}

/* ---- items to remove ---- */

typedef struct item_id {
    const char *id;
    int64_t item; /* -1 if it is removed */
} item_id;

static int by_id(const void *a, const void *b)
{
    return strcmp(((const item_id *)a)->id, ((const item_id *)b)->id);
}

/* Lists the items of the model by their ids, which are unique. */
static item_id *sorted_ids(const ddsc_measures *items, int64_t n)
{
    item_id *ids = cli_allocate((size_t)n, sizeof *ids);
    for (int64_t i = 0; i < n; i++)
        ids[i] = (item_id){ddsc_measures_get_id(items, i), i};
    qsort(ids, (size_t)n, sizeof *ids, by_id);
    return ids;
}

/* Returns the end of the line at `at`, which lacks line feed and carriage returns. *next is the next
 * line. */
static char *line_end(char *at, char **next)
{
    char *end = at + strcspn(at, "\n");
    *next = *end ? end + 1 : end;
    while (end > at && end[-1] == '\r')
        end--;
    return end;
}

/* Reads the ids, one per line. Empty lines are ignored. */
static bool take_removed(update_job *u, char *at, item_id *ids, int64_t n, const char *path)
{
    char *next;
    for (int64_t line = 1; *at; line++, at = next) {
        *line_end(at, &next) = '\0';
        item_id key = {.id = at}, *found = bsearch(&key, ids, (size_t)n, sizeof *ids, by_id);
        if (*at && (!found || found->item < 0)) {
            message_error("%s: line %" PRId64 ": %s \"%.60s\"", path, line,
                          found ? "repeated id" : "the result has no item with the id", at);
            return false;
        }
        if (*at) {
            u->removed[u->n_removed++] = found->item;
            found->item = -1;
        }
    }
    return true;
}

/* Reads the file of --remove. */
static bool read_removed(update_job *u, int *code)
{
    static const char mark[] = "\xef\xbb\xbf"; /* may precede UTF-8 text */
    ddsc_model_view m;
    const char *path = u->s->opt.remove;
    text t = {0};
    if (!path)
        return true;
    ddsc_model_get_view(u->s->like, &m);
    text_add(&t, "");
    bool good = text_add_file(&t, path);
    if (!good || strlen(t.bytes) != t.length) {
        message_error("%s: %s; --remove needs a text file with one id per line", path,
                      good ? "contains a zero byte" : "cannot be read");
        good = false;
    } else {
        item_id *ids = sorted_ids(m.measures, m.n_items);
        u->removed = cli_allocate((size_t)m.n_items, sizeof *u->removed);
        bool marked = strncmp(t.bytes, mark, strlen(mark)) == 0;
        good = take_removed(u, t.bytes + (marked ? strlen(mark) : 0), ids, m.n_items, path);
        free(ids);
    }
    text_free(&t);
    *code = good ? EXIT_GOOD : EXIT_INPUT;
    return good;
}

/* ---- the old result ---- */

/* Reads the names of clusters and the rule for outliers. */
static bool read_result(update_job *u, int *code)
{
    struct stat info;
    if (stat(u->dir, &info) != 0 || !S_ISDIR(info.st_mode))
        return true;
    u->root = json_load_result(u->s, u->dir, code);
    if (!u->root)
        return false;
    const json_t *clusters = json_object_get(u->root, "clusters");
    u->name = cli_allocate(json_array_size(clusters) + 1, sizeof *u->name);
    for (size_t c = 0; c < json_array_size(clusters); c++)
        u->name[c] = json_string_value(json_object_get(json_array_get(clusters, c), "name"));
    return true;
}

/* ---- the new result ---- */

static bool make_report(update_job *u, int *code)
{
    session *s = u->s;
    ddsc_report_source from;
    ddsc_report_origin origin;
    const json_t *outliers = json_object_get(u->root, "outliers");
    ddsc_report_origin_init(&origin);
    origin.command = s->opt.command;
    origin.inputs = s->opt.operand;
    origin.n_inputs = s->opt.private_ ? 0 : s->opt.n_operands;
    ddsc_report_source_init(&from);
    from.clustering = u->view.clustering;
    from.measures = u->view.measures;
    from.settings = &s->set.cluster;
    from.status = s->not_converged ? DDSC_NOT_CONVERGED : DDSC_OK;
    from.truth = u->classes.truth;
    from.class_names = (const char *const *)u->classes.name;
    from.n_class_names = s->opt.private_ ? 0 : u->classes.n_names;
    from.map = 1;
    from.outliers = json_is_true(json_object_get(outliers, "left_out"));
    from.origin = &origin;
    from.update = u->update;
    from.cluster_names = u->name;
    from.n_cluster_names =
        (int64_t)json_array_size(json_object_get(u->root, "clusters")) * (u->name != NULL);
    return session_ok(s, ddsc_report_create(s->ctx, &u->report, &from), code) &&
           output_make_parent(s->opt.output, code) &&
           session_ok(s, ddsc_report_save(s->ctx, u->report, s->opt.output, output_flags(s)), code);
}

static void add_value(text *t, const char *name, double value)
{
    if (strcmp(name, "hubs") == 0)
        text_add(t, value != 0 ? "rescaled" : "off");
    else if (strcmp(name, "gamma") == 0 && value == 0)
        text_add(t, "local");
    else
        text_addf(t, "%.6g", value);
}

/* Lists the settings that were chosen again, beginning with those that changed. */
static void add_settings(text *t, const ddsc_update_view *view)
{
    int64_t n_changed = 0, n_listed = 0;
    for (int64_t k = 0; k < view->n_settings; k++) {
        const ddsc_update_setting *s = &view->settings[k];
        if (s->before == s->after)
            continue;
        text_addf(t, "%s%s ", n_changed++ ? ", " : "  settings     ", s->name);
        add_value(t, s->name, s->before);
        text_add(t, " -> ");
        add_value(t, s->name, s->after);
    }
    for (int64_t k = 0; k < view->n_settings; k++)
        if (view->settings[k].before == view->settings[k].after)
            text_addf(t, "%s%s",
                      n_listed++      ? ", "
                      : n_changed > 0 ? "; unchanged: "
                                      : "  settings     unchanged: ",
                      view->settings[k].name);
    text_add(t, view->n_settings > 0 ? "\n" : "");
}

/* Lists the clusters that were added. With --verbose, also states why none was added. */
static void add_candidates(text *t, const update_job *u)
{
    int64_t n = u->view.n_candidates;
    const ddsc_update_candidate *const *c = u->view.candidates;
    if (n > 0 && c[0]->accepted)
        text_addf(t, "  clusters     K grows from %" PRId64 " to %" PRId64 "\n", c[0]->k - n,
                  c[0]->k);
    for (int64_t k = 0; k < n && (c[0]->accepted || u->s->opt.verbose); k++)
        text_addf(t, "  candidate    %s\n", c[k]->words);
}

static void add_changes(text *t, const update_job *u)
{
    ddsc_identity_view id;
    ddsc_identity_get_view(u->view.identity, &id);
    text_add(t, "  update       ");
    text_add_count(t, u->view.n_added);
    text_add(t, " added, ");
    text_add_count(t, u->view.n_removed);
    text_add(t, " removed; searched ");
    text_add_count(t, u->view.n_searched);
    text_add(t, " of ");
    text_add_count(t, u->view.n_kept + u->view.n_added);
    text_add(t, " neighbor lists\n");
    add_candidates(t, u);
    add_settings(t, &u->view);
    int64_t n_same = 0;
    for (int64_t e = 0; e < id.n_events; e++)
        if (id.events[e]->kind == DDSC_IDENTITY_SAME)
            n_same++;
        else
            text_addf(t, "  changed      %s\n", id.events[e]->words);
    text_addf(t, "  same         %" PRId64 " clusters keep their number\n", n_same);
}

static bool print_summary(update_job *u, int *code)
{
    session *s = u->s;
    text t = {0};
    ddsc_report_view view;
    ddsc_report_form form = s->opt.json      ? DDSC_REPORT_JSON
                            : s->opt.verbose ? DDSC_REPORT_TEXT
                                             : DDSC_REPORT_BRIEF;
    ddsc_report_get_view(u->report, &view);
    bool good = session_ok(s, ddsc_report_write(s->ctx, u->report, form, text_write, &t), code);
    if (good && s->opt.json) {
        good = output_text(s, &t, NULL, false, code);
    } else if (good) {
        char *page = output_path(s->opt.output, "report.html");
        add_changes(&t, u);
        text_addf(&t, "  report       %s\n", page);
        free(page);
        output_summary_bold(s, &t, strlen(view.headline));
    }
    text_free(&t);
    *code = good ? view.certified ? EXIT_GOOD : EXIT_NOT_CONVERGED : *code;
    return good;
}

static bool run_update(update_job *u, int *code)
{
    session *s = u->s;
    if (s->opt.restarts)
        s->set.cluster.kmeans_restarts = s->opt.restarts;
    s->set.cluster.resolve = s->opt.resolve;
    s->first_input = 1;
    if (s->opt.n_operands > 1 && !input_open(s, &u->in, code))
        return false;
    if (!session_ok(s,
                    ddsc_update_run(s->ctx, &u->update, s->like, u->in.measures, u->n_removed,
                                    u->removed, &s->set.cluster),
                    code))
        return false;
    ddsc_update_get_view(u->update, &u->view);
    return true;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    update_job u = {.s = s, .dir = s->opt.operand[0]};
    if (check_output(s, &code) && session_device(s, &code) && read_result(&u, &code) &&
        like_open(s, u.dir, &code) && read_removed(&u, &code) && run_update(&u, &code) &&
        update_take_classes(&u.classes, s, u.dir, u.root, &u.view, u.in.measures, &code) &&
        make_report(&u, &code))
        print_summary(&u, &code);
    ddsc_report_destroy(u.report);
    ddsc_update_destroy(u.update);
    input_close(&u.in);
    update_free_classes(&u.classes);
    json_decref(u.root);
    free(u.name);
    free(u.removed);
    return code;
}

static const option_spec update_options[] = {
    {.name = "remove",
     .kind = OPTION_FILE,
     .offset = offsetof(cli_options, remove),
     .argument = "IDS",
     .help = "remove the items of the old result whose ids are in this file, one per line"},
    {.name = "resolve",
     .kind = OPTION_FLAG,
     .offset = offsetof(cli_options, resolve),
     .help =
         "choose tau, gamma, bandwidth, epsilon, reference and hub rule again for the changed set, "
         "unless they were specified, and print what changed; all neighbor lists are recomputed"},
    {.name = "clusters",
     .letter = 'k',
     .kind = OPTION_OTHER,
     .parse = value_clusters,
     .argument = "K|A:B",
     .help = "number of clusters, or a range from A to B (default: as in the old result, or more "
             "if new clusters are found)"},
    {.name = NULL}};
static const option_group group_update = {"Changes", update_options};

static const option_group *const update_groups[] = {
    &group_update,       &group_dir_output, &group_input,
    &group_input_format, &group_table,      &group_device,
    &group_run,          &group_help,       NULL};

const cli_verb verb_update = {
    .name = "update",
    .operands = "DIR [NEW...] -o DIR2",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "add items to an earlier result, or remove some",
    .description =
        "Computes the same graph as `ddsc cluster --like DIR` on the items of DIR without the "
        "removed ones, followed by the items of NEW. DIR is a folder written by `ddsc cluster -o "
        "DIR`. Only the neighbor lists that the change affects are recomputed. All lists are "
        "recomputed if the old result used a sample or approximate neighbors, if it has only a few "
        "items, or if -k is a range. A cluster keeps its number and name if the old and the new "
        "cluster share at "
        "least half of their combined items. Clusters that consist mostly of new items, and that "
        "random halves of the items find, are added. The summary lists clusters that are new, "
        "split, merged or vanished; numbers of vanished clusters are not reused. With --force, "
        "DIR2 may be DIR, which is then replaced in one step.",
    .groups = update_groups,
    .examples = "ddsc update result new.npz -o result2\tadds the items of new.npz\n"
                "ddsc update result --remove old.txt -o result --force\tremoves items in place\n"
                "ddsc update result new.npz --remove old.txt -o result2\tboth at once\n",
    .run = run,
};
