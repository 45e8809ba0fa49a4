/* Calls that make or compare reports. Reports contain seconds and threads, so the answer leaves
 * these out. */
#include <sys/stat.h>

#include "public_calls.h"
#include "public_data.h"

static ddsc_context *own;
static ddsc_report *made;
static ddsc_pair_stats stats;
static ddsc_cluster_settings kept_set; /* of `made`, which may look at them */

static ddsc_report_source source_of(ddsc_cluster_settings *set, int option)
{
    ddsc_report_source from;
    ddsc_report_source_init(&from);
    from.settings = set;
    if (option == 2) {
        from.pairs = &stats;
        return from;
    }
    from.measures = clouds;
    from.truth = classes;
    from.map = 1;
    if (option == 0) {
        from.clustering = clustering;
    } else {
        from.labels = classes;
    }
    return from;
}

static ddsc_status make(ddsc_context *ctx, ddsc_report **out, int option)
{
    ddsc_cluster_settings set = cluster_of(0);
    ddsc_report_source from = source_of(&set, option);
    return ddsc_report_create(ctx, out, &from);
}

void reports_set_up(void)
{
    own = test_context(1, 0);
    kept_set = cluster_of(0);
    ddsc_pair_stats_init(&stats);
    ddsc_report_source from = source_of(&kept_set, 0);
    assert_ok(own, ddsc_report_create(own, &made, &from), "report");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", folder_file(&scratch_folder, "saved"));
    assert_ok(own, ddsc_report_save(own, made, folder, 0), "saved report");
}

static void remove_files(const char *folder)
{
    char path[4200];
    for (int64_t f = 0; ddsc_report_get_file_name(f); f++) {
        snprintf(path, sizeof path, "%s/%s", folder, ddsc_report_get_file_name(f));
        unlink(path);
    }
    rmdir(folder);
}

void reports_tear_down(void)
{
    ddsc_report_destroy(made);
    ddsc_context_destroy(own);
    remove_files(folder_file(&scratch_folder, "saved"));
}

static ddsc_status gives_report(ddsc_status status, ddsc_report **place)
{
    ddsc_report_view v;
    if (calls_gives(status, *place)) {
        ddsc_report_get_view(*place, &v);
        calls_add_answer(&v.k, sizeof v.k);
        calls_add_answer(v.labels ? v.labels : (const void *)"", v.n_rows * 4);
        if (v.map)
            calls_add_answer(v.map, v.n_rows * 16);
        ddsc_report_destroy(*place);
    }
    return status;
}

static ddsc_status report_create(ddsc_context *ctx, int option)
{
    ddsc_report *out = calls_unset;
    return gives_report(make(ctx, &out, option), &out);
}

static ddsc_status report_read(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_report *out = calls_unset;
    return gives_report(ddsc_report_read(ctx, &out, folder_file(&scratch_folder, "saved")), &out);
}

/* Adds the parts of a report that do not differ between runs. */
static int take_constant(void *user, const void *bytes, size_t n)
{
    const char *stop = user;
    const char *end = *stop ? memmem(bytes, n, stop, strlen(stop)) : NULL;
    calls_add_answer(bytes, end ? end - (const char *)bytes : (int64_t)n);
    return 0;
}

static ddsc_status report_write(ddsc_context *ctx, int form)
{
    const char *stop = form == DDSC_REPORT_TEXT   ? "  seconds"
                       : form == DDSC_REPORT_HTML ? "<ul class"
                                                  : "\"command\"";
    return ddsc_report_write(ctx, made, (ddsc_report_form)form, take_constant,
                             (void *)(uintptr_t)stop);
}

/* All files, or none. */
static ddsc_status report_save(ddsc_context *ctx, int option)
{
    char folder[4096], path[4200];
    struct stat info;
    (void)option;
    snprintf(folder, sizeof folder, "%s", folder_file(&scratch_folder, "out"));
    ddsc_status status = ddsc_report_save(ctx, made, folder, 0);
    for (int64_t f = 0; ddsc_report_get_file_name(f); f++) {
        snprintf(path, sizeof path, "%s/%s", folder, ddsc_report_get_file_name(f));
        bool there = stat(path, &info) == 0;
        assert_true(status >= 0 || !there);
        calls_add_answer(&there, sizeof there);
    }
    remove_files(folder);
    assert_int_not_equal(stat(folder, &info), 0);
    return status;
}

static int take_marks(void *user, const char *name, double width, double height, int64_t n_marks,
                      const ddsc_mark *marks)
{
    (void)user;
    calls_add_answer(name, (int64_t)strlen(name));
    calls_add_answer(&width, sizeof width);
    calls_add_answer(&height, sizeof height);
    for (int64_t k = 0; k < n_marks; k++)
        calls_add_answer(&marks[k].x, sizeof marks[k].x);
    return 0;
}

static ddsc_status file_check(ddsc_context *ctx, int option)
{
    return ddsc_file_check(ctx, folder_file(&scratch_folder, "out.txt.gz"), (unsigned)option);
}

static ddsc_status report_check(ddsc_context *ctx, int option)
{
    return ddsc_report_check(ctx, folder_file(&scratch_folder, "out"), (unsigned)option);
}

static ddsc_status report_draw(ddsc_context *ctx, int option)
{
    (void)option;
    return ddsc_report_draw(ctx, made, take_marks, NULL);
}

static ddsc_status comparison_write(ddsc_context *ctx, int picture)
{
    static const char *const names[] = {"classes", "ones"};
    const int32_t *const both[] = {classes, labels};
    ddsc_comparison c;
    ddsc_comparison_init(&c);
    c.measures = clouds;
    c.n = 2;
    c.names = names;
    c.labels = both;
    return ddsc_comparison_write(ctx, &c, picture, take_constant, (void *)(uintptr_t) "");
}

/* ---- periods ---- */

/* One value per item: dates in three months, numbers in intervals, or two texts. */
static void periods_of(char value[][16], const char *of[], int64_t n, int option)
{
    for (int64_t i = 0; i < n; i++) {
        if (option == 0)
            snprintf(value[i], 16, "2024-%02d-11", (int)(1 + i % 3));
        else if (option == 1)
            snprintf(value[i], 16, "%d", (int)i);
        else
            snprintf(value[i], 16, "batch %d", (int)(8 + i % 4));
        of[i] = i == 1 ? NULL : value[i];
    }
}

static ddsc_status over_run(ddsc_context *ctx, int option)
{
    enum { ITEMS = 40 };
    char value[ITEMS][16];
    const char *of[ITEMS];
    int32_t label[ITEMS];
    ddsc_over *out = calls_unset;
    periods_of(value, of, ITEMS, option);
    for (int i = 0; i < ITEMS; i++)
        label[i] = i % 5 - 1;
    ddsc_status status = ddsc_over_run(ctx, &out, ITEMS, label, 4, "when", of);
    if (calls_gives(status, out)) {
        ddsc_over_view v;
        ddsc_over_get_view(out, &v);
        calls_add_answer(v.counts, 4 * v.n_periods * (int64_t)sizeof *v.counts);
        calls_add_answer(v.high, 4 * v.n_periods * (int64_t)sizeof *v.high);
        for (int64_t t = 0; t < v.n_periods; t++)
            calls_add_answer(v.periods[t], (int64_t)strlen(v.periods[t]));
        ddsc_over_destroy(out);
    }
    return status;
}

static ddsc_status report_add_over(ddsc_context *ctx, int option)
{
    (void)option;
    char value[N][16];
    const char *of[N];
    ddsc_report *report = NULL;
    assert_ok(own, make(own, &report, 0), "report");
    periods_of(value, of, N, 0);
    ddsc_status status = ddsc_report_add_over(ctx, report, "when", of, N);
    if (status >= 0)
        ddsc_report_write(own, report, DDSC_REPORT_JSON, take_constant,
                          (void *)(uintptr_t) "\"command\"");
    ddsc_report_destroy(report);
    return status;
}

/* ---- differences ---- */

static ddsc_diff *make_diff(ddsc_context *ctx, int numbers, ddsc_status *status)
{
    static const char *const one[] = {"a", "b", "c", "d", "e"};
    static const char *const two[] = {"e", "d", "c", "b", "x"};
    static const int32_t before[] = {0, 0, 1, 1, -1}, after[] = {1, 0, 0, 1, 1};
    ddsc_diff_side first, second;
    ddsc_diff_side_init(&first);
    ddsc_diff_side_init(&second);
    first.name = "first";
    second.name = "second";
    first.n = second.n = 5;
    first.labels = before;
    second.labels = after;
    first.ids = numbers ? NULL : one;
    second.ids = numbers ? NULL : two;
    first.json = "{\"k\": 2, \"clusters\": [{\"name\": \"left\"}, {\"words\": [{\"word\": "
                 "\"right\"}]}], \"settings\": {\"tau\": 3}}";
    ddsc_diff *out = calls_unset;
    *status = ddsc_diff_create(ctx, &out, &first, &second, NULL);
    return calls_gives(*status, out) ? out : NULL;
}

/* Compares a folder with itself. */
static ddsc_diff *make_folders(ddsc_context *ctx, ddsc_status *status)
{
    char folder[4096];
    ddsc_diff_side side;
    snprintf(folder, sizeof folder, "%s", folder_file(&scratch_folder, "saved"));
    ddsc_diff_side_init(&side);
    side.folder = folder;
    ddsc_diff *out = calls_unset;
    *status = ddsc_diff_create(ctx, &out, &side, &side, NULL);
    return calls_gives(*status, out) ? out : NULL;
}

static ddsc_status diff_create(ddsc_context *ctx, int option)
{
    ddsc_status status;
    ddsc_diff *found = option == 2 ? make_folders(ctx, &status) : make_diff(ctx, option, &status);
    ddsc_diff_view v;
    ddsc_diff_get_view(found, &v);
    calls_add_answer(&v.n_shared, sizeof v.n_shared);
    calls_add_answer(&v.n_moved, sizeof v.n_moved);
    ddsc_diff_destroy(found);
    return status;
}

static ddsc_status diff_write(ddsc_context *ctx, int form)
{
    ddsc_status status;
    ddsc_diff *found = make_diff(own, 0, &status);
    status =
        ddsc_diff_write(ctx, found, (ddsc_diff_form)form, take_constant, (void *)(uintptr_t) "");
    ddsc_diff_destroy(found);
    return status;
}

static const call_entry entries[] = {
    E(file_check, "", 0),
    E(report_create, "clustering", 0),
    E(report_create, "labels", 1),
    E(report_create, "pairs", 2),
    E(report_read, "", 0),
    E(report_write, "json", DDSC_REPORT_JSON),
    E(report_write, "json with labels", DDSC_REPORT_JSON_LABELS),
    E(report_write, "text", DDSC_REPORT_TEXT),
    E(report_write, "brief", DDSC_REPORT_BRIEF),
    E(report_write, "html", DDSC_REPORT_HTML),
    E(report_write, "eigenvalues", DDSC_REPORT_EIGENVALUES),
    E(report_check, "", 0),
    E(report_save, "", 0),
    E(report_draw, "", 0),
    E(comparison_write, "page", 0),
    E(comparison_write, "picture", 1),
    E(over_run, "dates", 0),
    E(over_run, "numbers", 1),
    E(over_run, "texts", 2),
    E(report_add_over, "", 0),
    E(diff_create, "", 0),
    E(diff_create, "row numbers", 1),
    E(diff_create, "folders", 2),
    E(diff_write, "json", DDSC_DIFF_JSON),
    E(diff_write, "text", DDSC_DIFF_TEXT),
    E(diff_write, "all text", DDSC_DIFF_TEXT_ALL),
    E(diff_write, "csv", DDSC_DIFF_CSV),
    E(diff_write, "html", DDSC_DIFF_HTML),
};
const call_table reports_calls = CALL_TABLE(entries);
