/* Calls that cluster, create or use models, or compare labels. */
#include "public_outputs.h"

/* ---- entries: clusterings and their use ---- */

static ddsc_status cluster_run(ddsc_context *ctx, int option)
{
    ddsc_cluster_settings set = cluster_of(option % 4 * (option < 4));
    set.k_max += 2 * (option == 4); /* a sweep */
    ddsc_clustering *out = calls_unset, **to = &out;
    return gives_clustering(ddsc_cluster_run(ctx, to, option == 5 ? documents : clouds, &set), to);
}

static ddsc_status spectral_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_cluster_settings set = cluster_of(0);
    ddsc_clustering *out = calls_unset;
    return gives_clustering(ddsc_spectral_run(ctx, &out, graph, &set), &out);
}

static ddsc_status kmeans_run(ddsc_context *ctx, int option)
{
    (void)option;
    int32_t found[N];
    double inertia;
    unset(found, sizeof found);
    unset(&inertia, sizeof inertia);
    ddsc_status status = ddsc_kmeans_run(ctx, found, &inertia, N, 3, rows, 3, 2);
    keeps(status, found, sizeof found);
    keeps(status, &inertia, sizeof inertia);
    return status;
}

static ddsc_status standing_run(ddsc_context *ctx, int option)
{
    (void)option;
    double distance[N], ambiguity[N];
    int32_t next[N];
    unset(distance, sizeof distance);
    unset(ambiguity, sizeof ambiguity);
    unset(next, sizeof next);
    ddsc_status status = call_standing(ctx, distance, ambiguity, next, N, 3, rows, classes, 2);
    keeps(status, distance, sizeof distance);
    keeps(status, ambiguity, sizeof ambiguity);
    keeps(status, next, sizeof next);
    return status;
}

static ddsc_status scores_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_scores scores;
    unset_sized(&scores, sizeof scores);
    ddsc_status status = ddsc_scores_run(ctx, &scores, N, labels, classes);
    keeps_sized(status, &scores, sizeof scores);
    return status;
}

static ddsc_status theory_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_cluster_settings set = cluster_of(0);
    ddsc_theory theory, before;
    int64_t intra[N], inter[N];
    double xi[N];
    ddsc_theory_init(&theory);
    unset(intra, sizeof intra);
    unset(inter, sizeof inter);
    unset(xi, sizeof xi);
    theory.item_intra = intra;
    theory.item_inter = inter;
    theory.item_xi = xi;
    memcpy(&before, &theory, sizeof theory);
    ddsc_status status = ddsc_theory_run(ctx, &theory, graph, classes, &set);
    keeps_copy(status, &theory, &before, sizeof theory);
    if (status >= 0)
        calls_add_answer(&theory.xi, sizeof theory.xi);
    keeps(status, intra, sizeof intra);
    keeps(status, inter, sizeof inter);
    keeps(status, xi, sizeof xi);
    return status;
}

static ddsc_status vectors_run(ddsc_context *ctx, int option)
{
    double *out = calls_unset;
    int64_t n_columns;
    unset(&n_columns, sizeof n_columns);
    ddsc_status status =
        ddsc_vectors_run(ctx, &out, &n_columns, histograms, (ddsc_vectors_rule)option);
    keeps(status, &n_columns, sizeof n_columns);
    return gives_rows(ctx, status, out, sizeof *out, N, n_columns);
}

static ddsc_status d2_run(ddsc_context *ctx, int option)
{
    ddsc_d2_settings set;
    ddsc_d2_settings_init(&set);
    set.k = 2;
    set.method = (ddsc_barycenter_method)option;
    set.max_rounds = 10;
    set.restarts = 1;
    set.max_iterations = 3;
    ddsc_d2 *out = calls_unset;
    ddsc_status status = ddsc_d2_run(ctx, &out, clouds, &set);
    if (calls_gives(status, out)) {
        ddsc_d2_view v;
        ddsc_d2_get_view(out, &v);
        calls_add_answer(v.labels, v.n * (int64_t)sizeof *v.labels);
        ddsc_d2_destroy(out);
    }
    return status;
}

static ddsc_status model_create(ddsc_context *ctx, int words)
{
    ddsc_cluster_settings set = cluster_of(0);
    ddsc_model *out = calls_unset, **to = &out;
    return gives_model(words ? ddsc_model_create(ctx, to, documents, refined, &set)
                             : ddsc_model_create(ctx, to, clouds, clustering, &set),
                       to);
}

static ddsc_status measures_copy_like(ddsc_context *ctx, int option)
{
    ddsc_measures *out = calls_unset;
    (void)option;
    return gives_measures(ddsc_measures_copy_like(ctx, &out, clouds, models[0]), &out);
}

static ddsc_status model_write(ddsc_context *ctx, int metric)
{
    const char *path = folder_file(&scratch_folder, "out.npz");
    return gives_file(ddsc_model_write(ctx, models[metric], path, 0), path);
}

static ddsc_status model_read(ddsc_context *ctx, int option)
{
    const char *path = folder_file(&scratch_folder, option < 2 ? "model.npz" : "words.npz");
    ddsc_model *out = calls_unset;
    calls_set_team(ctx, option % 2);
    return gives_model(option % 2 ? ddsc_model_read_shared(ctx, &out, path)
                                  : ddsc_model_read(ctx, &out, path),
                       &out);
}

static ddsc_status assign_run(ddsc_context *ctx, int metric)
{
    int32_t label[4], far[4];
    double confidence[4], distance[4];
    ddsc_pair_stats stats;
    unset(label, sizeof label);
    unset(far, sizeof far);
    unset(confidence, sizeof confidence);
    unset(distance, sizeof distance);
    unset_sized(&stats, sizeof stats);
    ddsc_status status =
        call_assign(ctx, label, confidence, distance, far, &stats, models[metric], fresh, NULL);
    keeps(status, label, sizeof label);
    keeps(status, far, sizeof far);
    keeps(status, confidence, sizeof confidence);
    keeps(status, distance, sizeof distance);
    keeps_stats(status, &stats);
    return status;
}

static ddsc_status assign_rows(ddsc_context *ctx, int option)
{
    (void)option;
    double out[4 * N];
    int32_t label[4];
    unset(out, sizeof out);
    unset(label, sizeof label);
    ddsc_status status = call_extend(ctx, out, label, NULL, models[0], fresh, NULL);
    keeps(status, out, sizeof out);
    keeps(status, label, sizeof label);
    return status;
}

/* ---- entries: indexes ---- */

static ddsc_status index_open(ddsc_context *ctx, int metric)
{
    ddsc_index *out = calls_unset;
    ddsc_status status = ddsc_index_open(ctx, &out, models[metric]);
    if (calls_gives(status, out)) {
        int64_t n = ddsc_index_get_count(out);
        calls_add_answer(&n, sizeof n);
        ddsc_index_destroy(out);
    }
    return status;
}

/* Adds an item and removes two. */
static ddsc_status changed_index(ddsc_context *ctx, ddsc_index **out, int metric)
{
    static const int64_t removed[] = {2, 5}, item = 0;
    ddsc_measures *more = NULL;
    ddsc_status status = ddsc_index_open(ctx, out, models[metric]);
    if (status >= 0)
        status = ddsc_measures_copy_subset(ctx, &more, fresh, 1, &item);
    if (status >= 0)
        status = ddsc_index_update(ctx, *out, more, 2, removed);
    ddsc_measures_destroy(more);
    return status;
}

static ddsc_status index_update(ddsc_context *ctx, int metric)
{
    ddsc_index *index = NULL;
    ddsc_status status = changed_index(ctx, &index, metric);
    if (status >= 0) {
        int64_t n = ddsc_index_get_searched(index);
        calls_add_answer(&n, sizeof n);
    }
    ddsc_index_destroy(index);
    return status;
}

static ddsc_status index_create_graph(ddsc_context *ctx, int metric)
{
    ddsc_index *index = NULL;
    ddsc_graph *out = calls_unset;
    ddsc_status status = changed_index(ctx, &index, metric);
    if (status >= 0) {
        status = ddsc_index_create_graph(ctx, &out, index);
        if (calls_gives(status, out)) {
            ddsc_graph_view v;
            ddsc_graph_get_view(out, &v);
            calls_add_answer(v.d2, v.n_edges * (int64_t)sizeof *v.d2);
            ddsc_graph_destroy(out);
        }
    }
    ddsc_index_destroy(index);
    return status;
}

static const call_entry entries[] = {
    E(index_open, "w2", 0),
    E(index_open, "mmd", 2),
    E(index_update, "w2", 0),
    E(index_update, "mmd", 2),
    E(index_create_graph, "w2", 0),
    E(cluster_run, "w2", 0),
    E(cluster_run, "sinkhorn", 1),
    E(cluster_run, "mmd", 2),
    E(cluster_run, "lot", 3),
    E(cluster_run, "sweep", 4),
    E(cluster_run, "refined", 5),
    E(spectral_run, "", 0),
    E(kmeans_run, "", 0),
    E(standing_run, "", 0),
    E(scores_run, "", 0),
    E(theory_run, "", 0),
    E(vectors_run, "histograms", DDSC_VECTORS_HISTOGRAM),
    E(vectors_run, "means", DDSC_VECTORS_MEAN),
    E(d2_run, "admm", DDSC_BARYCENTER_ADMM),
    E(d2_run, "projected", DDSC_BARYCENTER_PROJECTED),
    E(model_create, "", 0),
    E(model_create, "words", 1),
    E(model_write, "words", 4),
    E(model_write, "w2", 0),
    E(model_write, "lot", 3),
    E(model_read, "", 0),
    E(model_read, "words", 2),
    E(measures_copy_like, "", 0),
    {"ddsc_model_read_shared", "", model_read, 1},
    {"ddsc_model_read_shared", "words", model_read, 3},
    E(assign_run, "w2", 0),
    E(assign_run, "sinkhorn", 1),
    E(assign_run, "mmd", 2),
    E(assign_run, "lot", 3),
    {"ddsc_assign_run", "rows", assign_rows, 0},
};
const call_table clusters_calls = CALL_TABLE(entries);
