/* Calls that judge a clustering, test columns, describe points or compute barycenters. */
#include "public_calls.h"
#include "public_data.h"

static ddsc_status compare_run(ddsc_context *ctx, int option)
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

static ddsc_status cluster_settings_resolve(ddsc_context *ctx, int option)
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

static ddsc_status merges_run(ddsc_context *ctx, int option)
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

static ddsc_status project_run(ddsc_context *ctx, int option)
{
    (void)option;
    double xy[2 * N];
    ddsc_status status = ddsc_project_run(ctx, xy, N, 3, rows);
    if (status >= 0)
        calls_add_answer(xy, sizeof xy);
    return status;
}

static ddsc_status order_run(ddsc_context *ctx, int option)
{
    (void)option;
    int64_t rank[N];
    ddsc_status status = ddsc_order_run(ctx, rank, clustering);
    if (status >= 0)
        calls_add_answer(rank, sizeof rank);
    return status;
}

static ddsc_status verdict_run(ddsc_context *ctx, int option)
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

static ddsc_status outliers_run(ddsc_context *ctx, int option)
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
static ddsc_status permanova_run(ddsc_context *ctx, int option)
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

static ddsc_status states_run(ddsc_context *ctx, int option)
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
static ddsc_status states_flow_run(ddsc_context *ctx, int option)
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

/* Option 1: within blocks. Options 2 and 3: with a covariate. */
static ddsc_status effects_run(ddsc_context *ctx, int option)
{
    const char *kind[N], *pair[N];
    double value[2 * N], age[N];
    for (int i = 0; i < N; i++) {
        kind[i] = i == 3 ? NULL : item_names[i % 3];
        pair[i] = item_names[i / 3];
        age[i] = 30.5 + i * i % 11;
        value[2 * i] = i * 5 % 7;
        value[2 * i + 1] = i == 5 ? (double)NAN : i;
    }
    const ddsc_column columns[] = {{"kind", kind, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BY},
                                   {"age", NULL, age, DDSC_COLUMN_NUMBER, DDSC_COLUMN_ADJUST},
                                   {"pair", pair, NULL, DDSC_COLUMN_AUTO, DDSC_COLUMN_BLOCK}};
    const ddsc_column within[] = {columns[0], columns[2]};
    ddsc_effects *out = calls_unset;
    ddsc_status status = ddsc_effects_run(ctx, &out, N, 2, value,
                                          option == 0  ? 1
                                          : option < 3 ? 2
                                                       : 3,
                                          option == 1 ? within : columns, 39);
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

static ddsc_status units_run(ddsc_context *ctx, int option)
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

static ddsc_status sampling_constants_run(ddsc_context *ctx, int option)
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

static ddsc_status identity_run(ddsc_context *ctx, int option)
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

static ddsc_status stability_run(ddsc_context *ctx, int option)
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

static ddsc_status barycenter_run(ddsc_context *ctx, int option)
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

static ddsc_status update_run(ddsc_context *ctx, int metric)
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

/* Adds items far from the old ones, which become a cluster. */
static ddsc_status update_grow(ddsc_context *ctx, int resolve)
{
    enum { MORE = 12 };
    ddsc_update *out = calls_unset;
    ddsc_measures *more = NULL;
    ddsc_cluster_settings set = cluster_of(0);
    double x[MORE * POINTS * DIM], w[MORE * POINTS];
    int64_t at[MORE + 1];
    for (int64_t i = 0; i <= MORE; i++)
        at[i] = i * POINTS;
    for (int64_t p = 0; p < MORE * POINTS; p++) {
        w[p] = 1;
        for (int64_t d = 0; d < DIM; d++)
            x[p * DIM + d] = points[p * DIM + d] - 20 - (p >= N * POINTS / 2 ? 4 : 0);
    }
    ddsc_status status =
        ddsc_measures_create_clouds(ctx, &more, MORE, DIM, x, w, at, DDSC_EMPTY_ERROR);
    if (status < 0)
        return status;
    set.k_min = set.k_max = 0;
    set.like = models[0];
    set.resolve = resolve;
    status = ddsc_update_run(ctx, &out, models[0], more, 0, NULL, &set);
    if (calls_gives(status, out)) {
        ddsc_update_view v;
        ddsc_clustering_view c;
        ddsc_update_get_view(out, &v);
        ddsc_clustering_get_view(v.clustering, &c);
        assert_int_equal(c.k, 3);
        assert_true(v.n_candidates == 1 && v.candidates[0]->accepted);
        assert_int_equal(v.candidates[0]->n_new, MORE);
        assert_int_equal(v.n_settings > 0, resolve);
        calls_add_answer(c.labels, c.n * (int64_t)sizeof *c.labels);
        ddsc_update_destroy(out);
    }
    ddsc_measures_destroy(more);
    return status;
}

static ddsc_status cluster_like(ddsc_context *ctx, int metric)
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

static const call_entry entries[] = {
    E(cluster_settings_resolve, "", 0),
    E(merges_run, "", 0),
    E(order_run, "", 0),
    E(verdict_run, "", 0),
    E(outliers_run, "", 0),
    E(units_run, "", 0),
    E(permanova_run, "random", 0),
    E(permanova_run, "all arrangements, whole blocks", 1),
    E(states_run, "chosen", 0),
    E(states_run, "two", 2),
    E(states_flow_run, "", 0),
    E(effects_run, "classes", 0),
    E(effects_run, "blocks", 1),
    E(effects_run, "covariate", 2),
    E(effects_run, "covariate, blocks", 3),
    E(project_run, "", 0),
    E(stability_run, "", 0),
    E(compare_run, "", 1 << DDSC_METRIC_MMD),
    E(sampling_constants_run, "", 0),
    E(identity_run, "", 0),
    E(identity_run, "numbers kept", 1),
    E(barycenter_run, "admm", DDSC_BARYCENTER_ADMM),
    E(barycenter_run, "ibp", DDSC_BARYCENTER_IBP),
    E(barycenter_run, "projected", DDSC_BARYCENTER_PROJECTED),
    E(update_run, "w2", 0),
    E(update_run, "mmd", 2),
    {"ddsc_update_run", "one more cluster", update_grow, 0},
    {"ddsc_update_run", "one more cluster, settings chosen again", update_grow, 1},
    {"ddsc_cluster_run", "like", cluster_like, 0},
};
const call_table assess_calls = CALL_TABLE(entries);
