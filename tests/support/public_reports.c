/* Entries of the calls that make reports, judge a clustering or compute barycenters. Reports contain seconds and threads, so the
 * answer leaves these out. */
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
    snprintf(folder, sizeof folder, "%s", folder_file(&room, "saved"));
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
    remove_files(folder_file(&room, "saved"));
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

ddsc_status report_create(ddsc_context *ctx, int option)
{
    ddsc_report *out = calls_unset;
    return gives_report(make(ctx, &out, option), &out);
}

ddsc_status report_read(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_report *out = calls_unset;
    return gives_report(ddsc_report_read(ctx, &out, folder_file(&room, "saved")), &out);
}

/* What does not differ from run to run. */
static int take_constant(void *user, const void *bytes, size_t n)
{
    const char *stop = user;
    const char *end = *stop ? memmem(bytes, n, stop, strlen(stop)) : NULL;
    calls_add_answer(bytes, end ? end - (const char *)bytes : (int64_t)n);
    return 0;
}

ddsc_status report_write(ddsc_context *ctx, int form)
{
    const char *stop = form == DDSC_REPORT_TEXT   ? "  seconds"
                       : form == DDSC_REPORT_HTML ? "<ul class"
                                                  : "\"command\"";
    return ddsc_report_write(ctx, made, (ddsc_report_form)form, take_constant,
                             (void *)(uintptr_t)stop);
}

/* All files, or none. */
ddsc_status report_save(ddsc_context *ctx, int option)
{
    char folder[4096], path[4200];
    struct stat info;
    (void)option;
    snprintf(folder, sizeof folder, "%s", folder_file(&room, "out"));
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

ddsc_status file_check(ddsc_context *ctx, int option)
{
    return ddsc_file_check(ctx, folder_file(&room, "out.txt.gz"), (unsigned)option);
}

ddsc_status report_check(ddsc_context *ctx, int option)
{
    return ddsc_report_check(ctx, folder_file(&room, "out"), (unsigned)option);
}

ddsc_status report_draw(ddsc_context *ctx, int option)
{
    (void)option;
    return ddsc_report_draw(ctx, made, take_marks, NULL);
}

ddsc_status comparison_write(ddsc_context *ctx, int picture)
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

ddsc_status over_run(ddsc_context *ctx, int option)
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

ddsc_status report_add_over(ddsc_context *ctx, int option)
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
    snprintf(folder, sizeof folder, "%s", folder_file(&room, "saved"));
    ddsc_diff_side_init(&side);
    side.folder = folder;
    ddsc_diff *out = calls_unset;
    *status = ddsc_diff_create(ctx, &out, &side, &side, NULL);
    return calls_gives(*status, out) ? out : NULL;
}

ddsc_status diff_create(ddsc_context *ctx, int option)
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

ddsc_status diff_write(ddsc_context *ctx, int form)
{
    ddsc_status status;
    ddsc_diff *found = make_diff(own, 0, &status);
    status =
        ddsc_diff_write(ctx, found, (ddsc_diff_form)form, take_constant, (void *)(uintptr_t) "");
    ddsc_diff_destroy(found);
    return status;
}

ddsc_status compare_run(ddsc_context *ctx, int option)
{
    ddsc_cluster_settings cluster = cluster_of(0);
    cluster.joined = option;
    ddsc_compare *out = calls_unset;
    ddsc_status status = ddsc_compare_run(ctx, &out, clouds, &cluster);
    if (calls_gives(status, out)) {
        ddsc_compare_view v;
        ddsc_compare_get_view(out, &v);
        calls_add_answer(v.labels, v.n_metrics * N * (int64_t)sizeof *v.labels);
        calls_add_answer(v.ari, v.n_metrics * v.n_metrics * (int64_t)sizeof *v.ari);
        ddsc_compare_destroy(out);
    }
    return status;
}

/* ---- what a report asks of a clustering ---- */

ddsc_status cluster_settings_resolve(ddsc_context *ctx, int option)
{
    ddsc_cluster_settings set = cluster_of(option), found;
    ddsc_metric_settings metric;
    ddsc_graph_settings own_graph;
    ddsc_cluster_settings_init(&found);
    ddsc_metric_settings_init(&metric);
    ddsc_graph_settings_init(&own_graph);
    ddsc_status status = ddsc_cluster_settings_resolve(ctx, &found, &metric, &own_graph, &set);
    if (status >= 0) {
        assert_true(found.metric == &metric && found.graph == &own_graph);
        calls_add_answer(&found.k_min, sizeof found.k_min);
    }
    return status;
}

ddsc_status merges_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_clustering_view v;
    ddsc_merge merges[N];
    ddsc_clustering_get_view(clustering, &v);
    ddsc_status status = ddsc_merges_run(ctx, merges, clustering, clouds, NULL);
    if (status >= 0)
        calls_add_answer(merges, (v.k - 1) * (int64_t)sizeof *merges);
    return status;
}

ddsc_status project_run(ddsc_context *ctx, int option)
{
    (void)option;
    double xy[2 * N];
    ddsc_status status = ddsc_project_run(ctx, xy, N, 3, rows);
    if (status >= 0)
        calls_add_answer(xy, sizeof xy);
    return status;
}

ddsc_status order_run(ddsc_context *ctx, int option)
{
    (void)option;
    int64_t rank[N];
    ddsc_status status = ddsc_order_run(ctx, rank, clustering);
    if (status >= 0)
        calls_add_answer(rank, sizeof rank);
    return status;
}

ddsc_status verdict_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_verdict *out = calls_unset;
    ddsc_status status = ddsc_verdict_run(ctx, &out, clustering, clouds, NULL);
    if (calls_gives(status, out)) {
        ddsc_verdict_view v;
        ddsc_verdict_get_view(out, &v);
        calls_add_answer(&v.structure, sizeof v.structure);
        calls_add_answer(v.headline, (int64_t)strlen(v.headline));
        calls_add_answer(&v.score, sizeof v.score);
        ddsc_verdict_destroy(out);
    }
    return status;
}

ddsc_status outliers_run(ddsc_context *ctx, int option)
{
    (void)option;
    double score[N];
    ddsc_outliers out;
    ddsc_outliers_init(&out);
    out.score = score;
    ddsc_status status =
        ddsc_outliers_run(ctx, &out, graph, ddsc_clustering_get_labels(clustering), N);
    if (status >= 0)
        calls_add_answer(score, sizeof score);
    return status;
}

/* Option 1: blocks of two items, a column that is constant within them, and so few blocks that all
 * arrangements are listed. */
ddsc_status permanova_run(ddsc_context *ctx, int option)
{
    static const double trend[N] = {1, 3, 2, 4, 6, 5, 8, 7, 9, 12, 10, 11, 14, 13};
    const char *kind[N], *block[N];
    int64_t count[N];
    for (int i = 0; i < N; i++) {
        kind[i] = option ? (i / 2 % 2 ? "u" : "v") : i == 3 ? NULL : item_names[i / 5];
        block[i] = item_names[i / 2];
        count[i] = 5 + i % 3;
    }
    const ddsc_column columns[] = {{"kind", kind, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY},
                                   {"trend", NULL, trend, DDSC_COLUMN_AUTO, DDSC_COLUMN_ADJUST},
                                   {"block", block, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BLOCK}};
    ddsc_column used[2] = {columns[0], columns[option ? 2 : 1]};
    ddsc_permanova *out = calls_unset;
    ddsc_permanova_settings set;
    ddsc_permanova_settings_init(&set);
    set.permutations = 39;
    set.pairwise = 1;
    set.points = count;
    ddsc_status status = ddsc_permanova_run(ctx, &out, N, matrix, 2, used, &set);
    if (calls_gives(status, out)) {
        ddsc_permanova_view v;
        ddsc_permanova_get_view(out, &v);
        calls_add_answer(&v.rows[0]->f, sizeof v.rows[0]->f);
        calls_add_answer(&v.rows[0]->p, sizeof v.rows[0]->p);
        calls_add_answer(&v.rows[0]->dispersion_p, sizeof v.rows[0]->dispersion_p);
        calls_add_answer(&v.pairs[0]->p, sizeof v.pairs[0]->p);
        calls_add_answer(&v.points_p, sizeof v.points_p);
        ddsc_permanova_destroy(out);
    }
    return status;
}

ddsc_status states_run(ddsc_context *ctx, int option)
{
    ddsc_states *out = calls_unset;
    ddsc_states_settings set;
    ddsc_states_settings_init(&set);
    set.n_states = option;
    ddsc_status status = ddsc_states_run(ctx, &out, clouds, &set);
    if (calls_gives(status, out)) {
        ddsc_states_view v;
        ddsc_states_get_view(out, &v);
        calls_add_answer(v.share, v.n_items * v.n_states * (int64_t)sizeof *v.share);
        calls_add_answer(v.mean, v.n_states * v.dim * (int64_t)sizeof *v.mean);
        ddsc_states_destroy(out);
    }
    return status;
}

/* The states come from a context of their own, so that only the flow fails. */
ddsc_status states_flow_run(ddsc_context *ctx, int option)
{
    (void)option;
    static const int64_t from[] = {0, 1}, to[] = {2, 3, 4};
    double mass[4], shift[2 * DIM];
    ddsc_states *states = NULL;
    ddsc_states_flow out;
    ddsc_states_settings set;
    ddsc_states_settings_init(&set);
    set.n_states = 2;
    ddsc_context *other = test_context(1, 1);
    assert_int_equal(ddsc_states_run(other, &states, clouds, &set), DDSC_OK);
    ddsc_states_flow_init(&out);
    out.mass = mass;
    out.shift = shift;
    ddsc_status status = ddsc_states_flow_run(ctx, &out, states, clouds, 2, from, 3, to);
    if (status >= 0) {
        calls_add_answer(mass, sizeof mass);
        calls_add_answer(shift, sizeof shift);
        calls_add_answer(&out.value, sizeof out.value);
    }
    ddsc_states_destroy(states);
    ddsc_context_destroy(other);
    return status;
}

/* Option 1: within blocks. */
ddsc_status effects_run(ddsc_context *ctx, int option)
{
    const char *kind[N], *pair[N];
    double value[2 * N];
    for (int i = 0; i < N; i++) {
        kind[i] = i == 3 ? NULL : item_names[i % 3];
        pair[i] = item_names[i / 3];
        value[2 * i] = i * 5 % 7;
        value[2 * i + 1] = i == 5 ? (double)NAN : i;
    }
    const ddsc_column column = {"kind", kind, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY};
    const ddsc_column block = {"pair", pair, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BLOCK};
    ddsc_effects *out = calls_unset;
    ddsc_status status =
        ddsc_effects_run(ctx, &out, N, 2, value, &column, option ? &block : NULL, 39);
    if (calls_gives(status, out)) {
        ddsc_effects_view v;
        ddsc_effects_get_view(out, &v);
        for (int64_t k = 0; k < v.n_rows; k++) {
            calls_add_answer(&v.rows[k]->p_adjusted, sizeof v.rows[k]->p_adjusted);
            calls_add_answer(&v.rows[k]->effect, sizeof v.rows[k]->effect);
        }
        ddsc_effects_destroy(out);
    }
    return status;
}

ddsc_status units_run(ddsc_context *ctx, int option)
{
    (void)option;
    double share[DIM], outliers[DIM];
    ddsc_units out;
    ddsc_units_init(&out);
    out.share = share;
    out.outliers = outliers;
    ddsc_status status = ddsc_units_run(ctx, &out, clouds);
    if (status >= 0) {
        calls_add_answer(share, sizeof share);
        calls_add_answer(&out.advice, sizeof out.advice);
    }
    return status;
}

ddsc_status sampling_constants_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_sampling_constants out;
    ddsc_sampling_constants_init(&out);
    ddsc_status status = ddsc_sampling_constants_run(ctx, &out, clouds, NULL);
    if (status >= 0) {
        calls_add_answer(&out.kappa, sizeof out.kappa);
        calls_add_answer(&out.log10_e, sizeof out.log10_e);
    }
    return status;
}

ddsc_status identity_run(ddsc_context *ctx, int option)
{
    const int32_t before[] = {0, 0, 0, 0, 1, 1, 2, 2}, after[] = {0, 0, 1, 1, 2, 2, 2, 2};
    ddsc_identity_settings set;
    ddsc_identity_settings_init(&set);
    set.keep_numbers = option;
    ddsc_identity *out = calls_unset;
    ddsc_status status = ddsc_identity_run(ctx, &out, 8, before, 3, after, 3, &set);
    if (calls_gives(status, out)) {
        ddsc_identity_view v;
        ddsc_identity_get_view(out, &v);
        calls_add_answer(v.numbers, v.k_new * (int64_t)sizeof *v.numbers);
        for (int64_t e = 0; e < v.n_events; e++)
            calls_add_answer(v.events[e]->words, (int64_t)strlen(v.events[e]->words));
        ddsc_identity_destroy(out);
    }
    return status;
}

ddsc_status stability_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_cluster_settings cluster = cluster_of(0);
    ddsc_stability_settings set;
    ddsc_stability_settings_init(&set);
    set.n_resamples = 2;
    ddsc_stability *out = calls_unset;
    ddsc_status status = ddsc_stability_run(ctx, &out, clouds, clustering, &cluster, &set);
    if (calls_gives(status, out)) {
        ddsc_stability_view v;
        ddsc_stability_get_view(out, &v);
        calls_add_answer(v.labels, 2 * N * (int64_t)sizeof *v.labels);
        ddsc_stability_destroy(out);
    }
    return status;
}

ddsc_status barycenter_run(ddsc_context *ctx, int option)
{
    ddsc_barycenter_settings set;
    ddsc_barycenter_settings_init(&set);
    set.method = (ddsc_barycenter_method)option;
    set.max_rounds = 20;
    set.max_passes = 5;
    set.restarts = 2;
    ddsc_barycenter *out = calls_unset;
    ddsc_status status = ddsc_barycenter_run(ctx, &out, fresh, &set);
    if (calls_gives(status, out)) {
        ddsc_barycenter_view v;
        ddsc_barycenter_get_view(out, &v);
        calls_add_answer(v.support, v.n * v.dim * (int64_t)sizeof *v.support);
        ddsc_barycenter_destroy(out);
    }
    return status;
}

ddsc_status update_run(ddsc_context *ctx, int metric)
{
    static const int64_t removed[] = {2, 5};
    ddsc_update *out = calls_unset;
    ddsc_measures *more = NULL;
    const int64_t item = 0;
    const char *id = "new";
    ddsc_status status = ddsc_measures_copy_subset(ctx, &more, clouds, 1, &item);
    if (status >= 0) {
        ddsc_measures *named = NULL;
        status = ddsc_measures_copy_named(ctx, &named, more, &id);
        ddsc_measures_destroy(more);
        more = named;
    }
    if (status < 0)
        return status;
    status = ddsc_update_run(ctx, &out, models[metric], more, 2, removed, NULL);
    if (calls_gives(status, out)) {
        ddsc_update_view v;
        ddsc_clustering_view c;
        ddsc_update_get_view(out, &v);
        ddsc_clustering_get_view(v.clustering, &c);
        calls_add_answer(c.labels, c.n * (int64_t)sizeof *c.labels);
        calls_add_answer(v.kept, v.n_kept * (int64_t)sizeof *v.kept);
        ddsc_update_destroy(out);
    }
    ddsc_measures_destroy(more);
    return status;
}

ddsc_status cluster_like(ddsc_context *ctx, int metric)
{
    ddsc_cluster_settings set;
    ddsc_clustering *out = calls_unset;
    ddsc_cluster_settings_init(&set);
    set.like = models[metric];
    ddsc_status status = ddsc_cluster_run(ctx, &out, clouds, &set);
    if (calls_gives(status, out)) {
        calls_add_answer(ddsc_clustering_get_labels(out), N * (int64_t)sizeof(int32_t));
        ddsc_clustering_destroy(out);
    }
    return status;
}
