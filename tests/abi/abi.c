/* A program that is older or newer than the library: compiled with an older (shorter) and a newer
 * (longer) copy of the header, and with the current one. Each struct is followed by guard bytes
 * that the library must not change. Fields that the library does not know must be zero. ABI_NEW:
 * the header is the newer one, whose structs end with added_later[3]. */
#include <ddsc/ddsc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, N = 12 };

static int n_bad;

static void check(int good, const char *what, int line)
{
    if (!good) {
        fprintf(stderr, "abi.c:%d: %s\n", line, what);
        n_bad++;
    }
}
#define CHECK(condition) check((condition) ? 1 : 0, #condition, __LINE__)
#define GOOD(call) check((call) == DDSC_OK, #call, __LINE__)

/* A struct followed by guard bytes; `name` points to it. */
#define GUARDED(type, name)                         \
    struct {                                        \
        ddsc_##type s;                              \
        unsigned char guard[GUARD];                 \
    } name##_room, *name##_at = &name##_room;       \
    memset(&name##_room, 0xA5, sizeof name##_room); \
    ddsc_##type *name = &name##_at->s
#define UNTOUCHED(name) check(all(name##_at->guard, GUARD, 0xA5), "guard behind " #name, __LINE__)

static int all(const void *bytes, size_t n, unsigned char value)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        if (at[i] != value)
            return 0;
    return 1;
}

#ifdef ABI_NEW
#define TAIL_IS_ZERO(name) CHECK(all(name->added_later, sizeof name->added_later, 0))
#else
#define TAIL_IS_ZERO(name) ((void)0)
#endif

/* ---- _init sets every byte of the caller's struct, and none after it ---- */

#define INIT(type)                                                                            \
    static void init_##type(void)                                                             \
    {                                                                                         \
        GUARDED(type, x);                                                                     \
        ddsc_##type first;                                                                    \
        memset(x, 0x5A, sizeof *x);                                                           \
        ddsc_##type##_init(x);                                                                \
        first = *x;                                                                           \
        memset(x, 0xC3, sizeof *x);                                                           \
        ddsc_##type##_init(x);                                                                \
        check(memcmp(&first, x, sizeof *x) == 0, #type ": a field has no default", __LINE__); \
        CHECK(x->struct_size == sizeof *x);                                                   \
        UNTOUCHED(x);                                                                         \
    }

INIT(context_settings)
INIT(read_settings)
INIT(transform_settings)
INIT(text_settings)
INIT(text_report)
INIT(shared_items)
INIT(team)
INIT(compress_report)
INIT(metric_settings)
INIT(pair_stats)
INIT(graph_settings)
INIT(cluster_settings)
INIT(assign_settings)
INIT(assignment)
INIT(standing)
INIT(scores)
INIT(stability_settings)
INIT(theory)
INIT(transport_problem)
INIT(transport)
INIT(sinkhorn_settings)
INIT(barycenter_settings)
INIT(d2_settings)
INIT(report_source)
INIT(report_origin)
INIT(outliers)
INIT(team_eigen)
INIT(comparison)
INIT(identity_settings)
INIT(states_settings)
INIT(states_flow)
INIT(diff_side)
INIT(sampling_constants)

/* A table of an older or a newer version. The struct that is passed to it (team_eigen) is created
 * by the library and grows only at its end. */
static int find_none(void *state, ddsc_team_eigen *problem)
{
    (void)state;
    return problem->struct_size > 0 && problem->n_wanted > 0;
}

static void use_team(void)
{
    ddsc_context *ctx = NULL;
    GUARDED(team, x);
    ddsc_team_init(x);
    x->eigen = find_none;
    GOOD(ddsc_context_create(&ctx, NULL));
    GOOD(ddsc_context_set_team(ctx, x));
    UNTOUCHED(x);
    ddsc_context_destroy(ctx);
}

static void (*const inits[])(void) = {init_context_settings,
                                      init_read_settings,
                                      init_transform_settings,
                                      init_text_settings,
                                      init_text_report,
                                      init_shared_items,
                                      init_compress_report,
                                      init_metric_settings,
                                      init_pair_stats,
                                      init_graph_settings,
                                      init_cluster_settings,
                                      init_assign_settings,
                                      init_assignment,
                                      init_standing,
                                      init_scores,
                                      init_team,
                                      init_identity_settings,
                                      init_states_settings,
                                      init_states_flow,
                                      init_diff_side,
                                      init_sampling_constants,
                                      use_team,
                                      init_stability_settings,
                                      init_theory,
                                      init_transport_problem,
                                      init_transport,
                                      init_sinkhorn_settings,
                                      init_barycenter_settings,
                                      init_d2_settings,
                                      init_report_source,
                                      init_report_origin,
                                      init_outliers,
                                      init_team_eigen,
                                      init_comparison};

/* ---- calls ---- */

static ddsc_context *make_context(void)
{
    GUARDED(context_settings, set);
    ddsc_context *ctx = NULL;
    ddsc_context_settings_init(set);
    set->threads = 2;
    GOOD(ddsc_context_create(&ctx, set));
    CHECK(ddsc_context_get_threads(ctx) == 2);
    UNTOUCHED(set);
    return ctx;
}

/* Two clusters of N / 2 items with three points each, and labels. */
static ddsc_measures *make_items(ddsc_context *ctx)
{
    double points[N * 3 * 2];
    int64_t offsets[N + 1] = {0};
    int32_t labels[N];
    ddsc_measures *items = NULL, *labelled = NULL;
    for (int i = 0; i < N * 3; i++) {
        points[2 * i] = (i % 7) * 0.1 + (i >= N * 3 / 2 ? 50 : 0);
        points[2 * i + 1] = (i % 5) * 0.1;
    }
    for (int i = 0; i < N; i++) {
        offsets[i + 1] = 3 * (i + 1);
        labels[i] = i >= N / 2;
    }
    GOOD(ddsc_measures_create_clouds(ctx, &items, N, 2, points, NULL, offsets, DDSC_EMPTY_ERROR));
    GOOD(ddsc_measures_copy_labelled(ctx, &labelled, items, labels));
    ddsc_measures_destroy(items);
    return labelled;
}

static void try_measures(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(measures_view, v);
    GUARDED(compress_report, report);
    GUARDED(shared_items, shared);
    ddsc_measures *merged = NULL, *again = NULL;
    ddsc_measures_get_view(items, v);
    CHECK(v->n_items == N && v->dim == 2);
    TAIL_IS_ZERO(v);
    UNTOUCHED(v);
    ddsc_compress_report_init(report);
    GOOD(ddsc_measures_compress(ctx, &merged, report, items, 2));
    CHECK(report->n_after <= 2 * N && report->struct_size == sizeof *report);
    TAIL_IS_ZERO(report);
    UNTOUCHED(report);
    ddsc_shared_items_init(shared);
    shared->n_items = N;
    shared->n_support = v->n_support;
    shared->dim = 2;
    shared->support = v->support;
    shared->offsets = v->offset;
    shared->indices = v->index;
    shared->weights = v->weight;
    GOOD(ddsc_measures_create_shared(ctx, &again, shared, DDSC_EMPTY_ERROR));
    UNTOUCHED(shared);
    ddsc_measures_destroy(merged);
    ddsc_measures_destroy(again);
}

/* Settings that must reach the library completely, and files that they reject. */
static void try_files(ddsc_context *ctx, const char *folder)
{
    GUARDED(read_settings, read);
    GUARDED(text_settings, text);
    GUARDED(text_report, report);
    char documents[512], vectors[512];
    ddsc_measures *items = NULL;
    snprintf(documents, sizeof documents, "%s/documents.tsv", folder);
    snprintf(vectors, sizeof vectors, "%s/vectors.txt", folder);
    ddsc_read_settings_init(read);
    read->max_bytes = -1;
    CHECK(ddsc_measures_read(ctx, &items, documents, read) == DDSC_ERROR_ARGUMENT);
    UNTOUCHED(read);
    static const char words[] = "text\none two\ntwo three\n",
                      table[] = "one 1 2\ntwo 3 4\nthree 5 6\n";
    GOOD(ddsc_file_write(ctx, documents, words, sizeof words - 1, DDSC_WRITE_OVERWRITE));
    GOOD(ddsc_file_write(ctx, vectors, table, sizeof table - 1, DDSC_WRITE_OVERWRITE));
    ddsc_text_settings_init(text);
    ddsc_text_report_init(report);
    text->weighting = DDSC_WEIGHTING_TF;
    GOOD(ddsc_text_read(ctx, &items, report, documents, vectors, text));
    CHECK(report->n_documents == 2 && strcmp(report->text_columns, "text") == 0);
    TAIL_IS_ZERO(report);
    UNTOUCHED(text);
    UNTOUCHED(report);
    ddsc_measures_destroy(items);
}

static void try_pairs(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(metric_settings, metric);
    GUARDED(graph_settings, set);
    GUARDED(pair_stats, stats);
    GUARDED(graph_view, v);
    double d[N * N];
    ddsc_graph *graph = NULL;
    ddsc_metric_settings_init(metric);
    ddsc_graph_settings_init(set);
    ddsc_pair_stats_init(stats);
    metric->metric = DDSC_METRIC_MMD;
    set->tau = 4;
    GOOD(ddsc_distance_run(ctx, d, stats, items, metric, DDSC_DISTANCE_SQUARED));
    CHECK(stats->n_pairs == N * (N - 1) / 2 && stats->bandwidth > 0);
    UNTOUCHED(stats);
    memset(&stats->n_pairs, 0x77, sizeof *stats - sizeof stats->struct_size);
#ifdef ABI_NEW
    memset(stats->added_later, 0, sizeof stats->added_later);
#endif
    GOOD(ddsc_neighbors_run(ctx, &graph, stats, items, metric, set));
    CHECK(stats->n_pairs == N * (N - 1) / 2 && stats->struct_size == sizeof *stats);
    TAIL_IS_ZERO(stats);
    ddsc_graph_get_view(graph, v);
    CHECK(v->n == N && v->tau == 4 && ddsc_graph_get_tau(N, set) == 4);
    TAIL_IS_ZERO(v);
    UNTOUCHED(metric);
    UNTOUCHED(set);
    UNTOUCHED(stats);
    UNTOUCHED(v);
    ddsc_graph_destroy(graph);
}

static void try_model(ddsc_context *ctx, const ddsc_measures *items, const ddsc_clustering *found,
                      const ddsc_cluster_settings *set)
{
    GUARDED(assign_settings, how);
    GUARDED(assignment, to);
    GUARDED(model_view, v);
    GUARDED(update_view, after);
    int32_t labels[N];
    const int64_t removed = N - 1;
    ddsc_update *update = NULL;
    ddsc_model *model = NULL;
    GOOD(ddsc_model_create(ctx, &model, items, found, set));
    ddsc_model_get_view(model, v);
    CHECK(v->n_items == N && v->k == 2);
    TAIL_IS_ZERO(v);
    ddsc_assign_settings_init(how);
    ddsc_assignment_init(to);
    to->labels = labels;
    GOOD(ddsc_assign_run(ctx, to, NULL, model, items, how));
    CHECK(memcmp(labels, v->labels, sizeof labels) == 0);
    TAIL_IS_ZERO(to);
    GOOD(ddsc_update_run(ctx, &update, model, NULL, 1, &removed, NULL));
    ddsc_update_get_view(update, after);
    CHECK(after->n_kept == N - 1 && after->n_removed == 1 && after->clustering);
    for (int64_t i = 0; i < after->n_candidates; i++) {
        const ddsc_update_candidate *update_candidate = after->candidates[i];
        CHECK(update_candidate->k > 2 && update_candidate->size >= update_candidate->n_new);
    }
    TAIL_IS_ZERO(after);
    UNTOUCHED(how);
    UNTOUCHED(to);
    UNTOUCHED(v);
    UNTOUCHED(after);
    ddsc_update_destroy(update);
    ddsc_model_destroy(model);
}

static void try_membership(ddsc_context *ctx, const ddsc_clustering *found)
{
    GUARDED(membership_report, report);
    double membership[N * 2];
    ddsc_membership_report_init(report);
    GOOD(ddsc_membership_run(ctx, membership, report, found, NULL));
    CHECK(report->softness > 0 && report->n_by_words == 0);
    TAIL_IS_ZERO(report);
    UNTOUCHED(report);
}

static void try_trust(ddsc_context *ctx, const ddsc_measures *items, const ddsc_clustering *found,
                      const ddsc_cluster_settings *set, const ddsc_graph *graph)
{
    GUARDED(stability_settings, how);
    GUARDED(stability_view, v);
    GUARDED(theory, theory);
    ddsc_measures_view m;
    ddsc_stability *stability = NULL;
    ddsc_stability_settings_init(how);
    CHECK(how->n_resamples == 20);
    how->n_resamples = 2;
    GOOD(ddsc_stability_run(ctx, &stability, items, found, set, how));
    ddsc_stability_get_view(stability, v);
    const ddsc_stability_row *stability_row = v->rows[1];
    CHECK(v->n_resamples == 2 && stability_row->ari == 1 && v->mean->ari == 1);
    TAIL_IS_ZERO(v);
    ddsc_measures_get_view(items, &m);
    ddsc_theory_init(theory);
    GOOD(ddsc_theory_run(ctx, theory, graph, m.label, set));
    CHECK(theory->n == N && theory->n_classes == 2 && theory->n_inter == 0);
    TAIL_IS_ZERO(theory);
    UNTOUCHED(how);
    UNTOUCHED(v);
    UNTOUCHED(theory);
    ddsc_stability_destroy(stability);
}

static int count_bytes(void *user, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)user += n;
    return 0;
}

static void try_report(ddsc_context *ctx, const ddsc_measures *items, const ddsc_clustering *found,
                       const ddsc_cluster_settings *set)
{
    GUARDED(report_source, from);
    GUARDED(report_origin, origin);
    GUARDED(report_view, v);
    GUARDED(comparison, compared);
    GUARDED(compress_report, merged);
    static const char *const names[] = {"found"};
    const int32_t *labels[1];
    ddsc_measures_view m;
    ddsc_report *report = NULL;
    size_t n_bytes = 0;
    ddsc_measures_get_view(items, &m);
    ddsc_compress_report_init(merged);
    ddsc_report_source_init(from);
    from->clustering = found;
    from->measures = items;
    from->settings = set;
    from->truth = m.label;
    ddsc_report_origin_init(origin);
    origin->compress = merged;
    from->origin = origin;
    from->map = 1;
    GOOD(ddsc_report_create(ctx, &report, from));
    ddsc_report_get_view(report, v);
    CHECK(v->n_rows == N && v->k == 2 && v->map && v->scores && v->scores->ari == 1);
    TAIL_IS_ZERO(v);
    GOOD(ddsc_report_write(ctx, report, DDSC_REPORT_HTML, count_bytes, &n_bytes));
    CHECK(n_bytes > 1000 && ddsc_report_get_file_name(0) && !ddsc_report_get_file_name(1000));
    ddsc_comparison_init(compared);
    labels[0] = v->labels;
    compared->measures = items;
    compared->n = 1;
    compared->names = names;
    compared->labels = labels;
    GOOD(ddsc_comparison_write(ctx, compared, 1, count_bytes, &n_bytes));
    UNTOUCHED(from);
    UNTOUCHED(origin);
    UNTOUCHED(v);
    UNTOUCHED(compared);
    ddsc_report_destroy(report);
}

static void try_verdict(ddsc_context *ctx, const ddsc_measures *items, const ddsc_clustering *found,
                        const ddsc_graph *graph)
{
    GUARDED(verdict_view, v);
    GUARDED(outliers, o);
    ddsc_verdict *verdict = NULL;
    double score[N];
    GOOD(ddsc_verdict_run(ctx, &verdict, found, items, NULL));
    ddsc_verdict_get_view(verdict, v);
    const ddsc_structure_words *structure_words = ddsc_structure_get_words(v->structure);
    const ddsc_level_words *level_words = ddsc_level_get_words(v->level);
    CHECK(v->k == 2 && *structure_words->name && *level_words->color && *v->headline);
    const ddsc_verdict_row verdict_row = {0}; /* reached by pointers */
    CHECK(verdict_row.valley == 0);
    TAIL_IS_ZERO(v);
    ddsc_outliers_init(o);
    o->score = score;
    GOOD(ddsc_outliers_run(ctx, o, graph, ddsc_clustering_get_labels(found), 2));
    CHECK(o->score == score && o->from > 0);
    TAIL_IS_ZERO(o);
    UNTOUCHED(v);
    UNTOUCHED(o);
    ddsc_verdict_destroy(verdict);
}

static void try_units(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(units, units);
    ddsc_units_init(units);
    GOOD(ddsc_units_run(ctx, units, items));
    CHECK(units->advice == DDSC_UNITS_DIFFER && units->widest == 0);
    TAIL_IS_ZERO(units);
    UNTOUCHED(units);
}

static void try_sampling_constants(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(sampling_constants, constants);
    ddsc_sampling_constants_init(constants);
    GOOD(ddsc_sampling_constants_run(ctx, constants, items, NULL));
    CHECK(constants->diameter > 0);
    TAIL_IS_ZERO(constants);
    UNTOUCHED(constants);
}

static void try_identity(ddsc_context *ctx)
{
    GUARDED(identity_settings, set);
    GUARDED(identity_view, v);
    const int32_t before[] = {0, 0, 1, 1}, after[] = {1, 1, 0, 0};
    ddsc_identity *found = NULL;
    ddsc_identity_settings_init(set);
    CHECK(set->overlap == 0.5);
    GOOD(ddsc_identity_run(ctx, &found, 4, before, 2, after, 2, set));
    ddsc_identity_get_view(found, v);
    const ddsc_identity_event *identity_event = v->events[0];
    CHECK(v->numbers[0] == 1 && v->n_events == 2 && identity_event->overlap == 1);
    TAIL_IS_ZERO(v);
    UNTOUCHED(set);
    UNTOUCHED(v);
    ddsc_identity_destroy(found);
}

static void try_over(ddsc_context *ctx)
{
    GUARDED(over_view, v);
    const int32_t label[] = {0, 0, 1, 1};
    const char *const value[] = {"b 10", "b 9", "b 9", "b 10"};
    ddsc_over *found = NULL;
    GOOD(ddsc_over_run(ctx, &found, 4, label, 2, "batch", value));
    ddsc_over_get_view(found, v);
    CHECK(v->n_periods == 2 && v->counts[0] == 1 && v->periods[1][2] == '1' && v->share[3] == 0.5);
    TAIL_IS_ZERO(v);
    UNTOUCHED(v);
    ddsc_over_destroy(found);
}

static void try_diff(ddsc_context *ctx)
{
    GUARDED(diff_side, first);
    GUARDED(diff_side, second);
    GUARDED(diff_view, v);
    const int32_t before[] = {0, 0, 1, 1}, after[] = {1, 1, 0, 1};
    const char *const ids[] = {"a", "b", "c", "d"};
    ddsc_diff *found = NULL;
    ddsc_diff_side_init(first);
    ddsc_diff_side_init(second);
    first->name = "first";
    second->name = "second";
    first->n = second->n = 4;
    first->ids = second->ids = ids;
    first->labels = before;
    second->labels = after;
    GOOD(ddsc_diff_create(ctx, &found, first, second, NULL));
    ddsc_diff_get_view(found, v);
    CHECK(v->n_shared == 4 && v->n_same == 3 && !v->row_numbers && v->scores->n == 4);
    TAIL_IS_ZERO(v);
    UNTOUCHED(first);
    UNTOUCHED(second);
    UNTOUCHED(v);
    ddsc_diff_destroy(found);
}

static void try_permanova(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(permanova_settings, set);
    GUARDED(permanova_view, v);
    ddsc_permanova *found = NULL;
    double d[N * N], x[N];
    for (int i = 0; i < N; i++)
        x[i] = (i * 7 % N) + 0.5;
    GOOD(ddsc_distance_run(ctx, d, NULL, items, NULL, 0));
    const ddsc_column column = {"x", NULL, x, DDSC_COLUMN_NUMBER, DDSC_COLUMN_BY};
    ddsc_permanova_settings_init(set);
    CHECK(set->permutations == 9999);
    set->permutations = 99;
    GOOD(ddsc_permanova_run(ctx, &found, N, d, 1, &column, set));
    ddsc_permanova_get_view(found, v);
    const ddsc_permanova_row *permanova_row = v->rows[0];
    const ddsc_permanova_pair permanova_pair = {0}; /* reached by pointers */
    CHECK(v->n_used == N && permanova_row->df == 1 && permanova_row->p > 0);
    CHECK(permanova_pair.p == 0);
    TAIL_IS_ZERO(v);
    UNTOUCHED(set);
    UNTOUCHED(v);
    ddsc_permanova_destroy(found);
}

static void try_states(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(states_settings, set);
    GUARDED(states_flow, flow);
    GUARDED(states_view, v);
    GUARDED(effects_view, e);
    ddsc_states *found = NULL;
    ddsc_effects *effects = NULL;
    double mass[4], x[N];
    const int64_t from = 0, to = 1;
    for (int i = 0; i < N; i++)
        x[i] = (i * 7 % N) + 0.5;
    ddsc_states_settings_init(set);
    set->n_states = 2;
    GOOD(ddsc_states_run(ctx, &found, items, set));
    ddsc_states_get_view(found, v);
    CHECK(v->n_states == 2 && v->n_items == N && !v->given);
    ddsc_states_flow_init(flow);
    flow->mass = mass;
    GOOD(ddsc_states_flow_run(ctx, flow, found, items, 1, &from, 1, &to));
    CHECK(flow->value > 0 && flow->n_to > 0);
    const ddsc_column column = {"x", NULL, x, DDSC_COLUMN_NUMBER, DDSC_COLUMN_BY};
    GOOD(ddsc_effects_run(ctx, &effects, N, 2, v->share, 1, &column, 99));
    ddsc_effects_get_view(effects, e);
    const ddsc_effect *effect = e->rows[0];
    CHECK(e->n_rows == 2 && effect->n == N && effect->low < 1);
    TAIL_IS_ZERO(v);
    TAIL_IS_ZERO(e);
    UNTOUCHED(set);
    UNTOUCHED(flow);
    UNTOUCHED(v);
    UNTOUCHED(e);
    ddsc_effects_destroy(effects);
    ddsc_states_destroy(found);
}

static void try_compare(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(cluster_settings, set);
    GUARDED(compare_view, v);
    ddsc_compare *found = NULL;
    ddsc_cluster_settings_init(set);
    set->k_min = set->k_max = 2;
    GOOD(ddsc_compare_run(ctx, &found, items, set));
    ddsc_compare_get_view(found, v);
    const ddsc_compare_row *compare_row = v->rows[0];
    CHECK(v->n == N && v->k == 2 && v->n_metrics == 1 && compare_row->metric == DDSC_METRIC_W2);
    TAIL_IS_ZERO(v);
    UNTOUCHED(v);
    ddsc_compare_destroy(found);
}

static void try_clustering(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(cluster_settings, set);
    GUARDED(graph_settings, graph);
    GUARDED(clustering_view, v);
    GUARDED(affinity_view, a);
    GUARDED(standing, standing);
    GUARDED(scores, scores);
    double doubt[N];
    ddsc_measures_view m;
    ddsc_clustering *found = NULL;
    ddsc_graph_settings_init(graph);
    graph->tau = 3;
    ddsc_cluster_settings_init(set);
    set->k_min = 1;
    set->k_max = 3;
    set->graph = graph;
    GOOD(ddsc_cluster_run(ctx, &found, items, set));
    ddsc_clustering_get_view(found, v);
    const ddsc_k_row *k_row = v->sweep[2];
    CHECK(v->n == N && v->k == 2 && v->n_sweep == 3 && k_row->k == 3);
    const ddsc_joined_row *const *joined_row = v->joined;
    CHECK(v->pairs->n_pairs == N * (N - 1) / 2 && !joined_row);
    TAIL_IS_ZERO(v);
    ddsc_clustering_get_affinity(found, a);
    CHECK(a->n == N && a->n_entries > 0);
    TAIL_IS_ZERO(a);
    ddsc_standing_init(standing);
    standing->doubt = doubt;
    GOOD(ddsc_standing_run(ctx, standing, N, v->n_vectors, v->embedding, v->labels, v->k));
    ddsc_measures_get_view(items, &m);
    ddsc_scores_init(scores);
    GOOD(ddsc_scores_run(ctx, scores, N, v->labels, m.label));
    CHECK(scores->ari == 1 && scores->n == N);
    TAIL_IS_ZERO(scores);
    set->k_min = set->k_max = 2;
    try_model(ctx, items, found, set);
    try_membership(ctx, found);
    try_trust(ctx, items, found, set, v->graph);
    try_report(ctx, items, found, set);
    try_verdict(ctx, items, found, v->graph);
    UNTOUCHED(set);
    UNTOUCHED(graph);
    UNTOUCHED(v);
    UNTOUCHED(a);
    UNTOUCHED(standing);
    UNTOUCHED(scores);
    ddsc_clustering_destroy(found);
}

static void try_transport(ddsc_context *ctx, const ddsc_measures *items)
{
    static const double a[] = {0.5, 0.5}, b[] = {0.25, 0.75}, cost[] = {0, 1, 1, 0};
    GUARDED(transport_problem, problem);
    GUARDED(transport, t);
    GUARDED(sinkhorn_settings, set);
    double plan[9];
    ddsc_transport_problem_init(problem);
    problem->n = problem->m = 2;
    problem->a = a;
    problem->b = b;
    problem->cost = cost;
    ddsc_transport_init(t);
    t->plan = plan;
    GOOD(ddsc_emd_run(ctx, t, problem));
    CHECK(t->value == 0.25 && plan[1] == 0.25 && t->plan == plan);
    TAIL_IS_ZERO(t);
    GOOD(ddsc_w2_run(ctx, t, items, 0, items, 0));
    CHECK(t->value == 0);
    ddsc_sinkhorn_settings_init(set);
    set->epsilon = 0.01;
    GOOD(ddsc_sinkhorn_run(ctx, t, problem, set));
    CHECK(t->primal > 0.2499 && t->primal < 0.26);
    UNTOUCHED(problem);
    UNTOUCHED(t);
    UNTOUCHED(set);
}

static void try_barycenters(ddsc_context *ctx, const ddsc_measures *items)
{
    GUARDED(barycenter_settings, set);
    GUARDED(barycenter_view, v);
    GUARDED(d2_settings, d2_set);
    GUARDED(d2_view, d2_v);
    ddsc_barycenter *barycenter = NULL;
    ddsc_d2 *d2 = NULL;
    ddsc_barycenter_settings_init(set);
    set->support_size = 2;
    GOOD(ddsc_barycenter_run(ctx, &barycenter, items, set));
    ddsc_barycenter_get_view(barycenter, v);
    CHECK(v->n == 2 && v->dim == 2 && v->n_objective > 0);
    TAIL_IS_ZERO(v);
    ddsc_d2_settings_init(d2_set);
    d2_set->k = 2;
    GOOD(ddsc_d2_run(ctx, &d2, items, d2_set));
    ddsc_d2_get_view(d2, d2_v);
    CHECK(d2_v->n == N && d2_v->k == 2);
    TAIL_IS_ZERO(d2_v);
    UNTOUCHED(set);
    UNTOUCHED(v);
    UNTOUCHED(d2_set);
    UNTOUCHED(d2_v);
    ddsc_barycenter_destroy(barycenter);
    ddsc_d2_destroy(d2);
}

/* ---- calls that must fail with a message ---- */

static void refused(ddsc_context *ctx, const ddsc_measures *items, size_t size, const char *word)
{
    ddsc_graph_settings set;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings_init(&set);
    set.struct_size = size;
    CHECK(ddsc_neighbors_run(ctx, &graph, NULL, items, NULL, &set) == DDSC_ERROR_ARGUMENT);
    CHECK(strstr(ddsc_context_get_message(ctx), word) != NULL);
    CHECK(graph == NULL && ddsc_graph_get_tau(N, &set) == 0);
}

static void try_refusals(ddsc_context *ctx, const ddsc_measures *items)
{
    static const size_t sizes[] = {0, 3, 8, 16, 24, 31, 33, 36, (size_t)-1, (size_t)-8, 1u << 20};
    ddsc_pair_stats stats;
    double d[N * N];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        refused(ctx, items, sizes[k], "ddsc_graph_settings_init");
    memset(&stats, 0, sizeof stats);
    CHECK(ddsc_distance_run(ctx, d, &stats, items, NULL, 0) == DDSC_ERROR_ARGUMENT);
    CHECK(strstr(ddsc_context_get_message(ctx), "ddsc_pair_stats_init") != NULL);
    CHECK(ddsc_distance_run(ctx, d, NULL, items, NULL, 4) == DDSC_ERROR_ARGUMENT);
#ifdef ABI_NEW
    ddsc_graph_settings set;
    ddsc_graph *graph = NULL;
    ddsc_graph_settings_init(&set);
    set.added_later[2] = 1;
    CHECK(ddsc_neighbors_run(ctx, &graph, NULL, items, NULL, &set) == DDSC_ERROR_ARGUMENT);
    CHECK(strstr(ddsc_context_get_message(ctx), "does not support") != NULL && graph == NULL);
#endif
}

int main(int argc, char **argv)
{
    for (size_t k = 0; k < sizeof inits / sizeof *inits; k++)
        inits[k]();
    ddsc_context *ctx = make_context();
    ddsc_measures *items = make_items(ctx);
    try_measures(ctx, items);
    if (argc > 1)
        try_files(ctx, argv[1]);
    try_pairs(ctx, items);
    try_clustering(ctx, items);
    try_compare(ctx, items);
    try_units(ctx, items);
    try_sampling_constants(ctx, items);
    try_identity(ctx);
    try_diff(ctx);
    try_over(ctx);
    try_permanova(ctx, items);
    try_states(ctx, items);
    try_transport(ctx, items);
    try_barycenters(ctx, items);
    try_refusals(ctx, items);
    ddsc_measures_destroy(items);
    ddsc_context_destroy(ctx);
    if (n_bad == 0)
        printf("every struct is taken and given at its size\n");
    return n_bad > 0;
}
