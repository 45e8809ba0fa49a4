#include "public_calls.h"
#include "base/context.h"
#include "public_data.h"

static const call_entry *now; /* the call at work */
static uint64_t answer_now;
static char nothing;
#define UNSET ((void *)&nothing) /* what pointers for results hold before a call */

void calls_add_answer(const void *bytes, int64_t n)
{
    answer_now = hash_bytes(bytes, (size_t)n, answer_now);
}

bool calls_gives(ddsc_status status, const void *out)
{
    if (status >= 0 ? out == NULL || out == UNSET : out != NULL && out != UNSET)
        fail_msg("%s %s: a pointer to %p and the status \"%s\"", now->function, now->way, out,
                 ddsc_status_name(status));
    return status >= 0;
}

void *const calls_unset = UNSET;

/* An array or struct that `unset` filled: untouched, or part of the answer. */
static void unset(void *out, size_t n)
{
    memset(out, 0x5a, n);
}

static void keeps(ddsc_status status, const void *out, size_t n)
{
    const unsigned char *byte = out;
    if (status >= 0)
        calls_add_answer(out, (int64_t)n);
    for (size_t k = 0; status < 0 && k < n; k++)
        if (byte[k] != 0x5a)
            fail_msg("%s %s: byte %zu of an output was written before \"%s\"", now->function,
                     now->way, k, ddsc_status_name(status));
}

/* The same of a struct of the caller, whose size (its first field) is set. */
static void unset_sized(void *out, size_t n)
{
    unset(out, n);
    memcpy(out, &n, sizeof n);
}

static void keeps_sized(ddsc_status status, const void *out, size_t n)
{
    keeps(status, (const char *)out + sizeof n, n - sizeof n);
}

/* Of a struct that holds the caller's pointers too: as the copy made before the call. */
static void keeps_copy(ddsc_status status, const void *out, const void *before, size_t n)
{
    if (status < 0 && memcmp(out, before, n) != 0)
        fail_msg("%s %s: an output was written before \"%s\"", now->function, now->way,
                 ddsc_status_name(status));
}

/* An array that a call fills in place, as its comment in the header says. */
static void fills(ddsc_status status, const void *out, size_t n)
{
    if (status >= 0)
        calls_add_answer(out, (int64_t)n);
}

static ddsc_status gives_measures(ddsc_status status, ddsc_measures **place)
{
    ddsc_measures *out = *place;
    if (calls_gives(status, out)) {
        ddsc_measures_view v;
        ddsc_measures_get_view(out, &v);
        calls_add_answer(v.support, v.n_support * v.dim * (int64_t)sizeof *v.support);
        calls_add_answer(v.offset, (v.n_items + 1) * (int64_t)sizeof *v.offset);
        calls_add_answer(v.index, v.n_entries * (int64_t)sizeof *v.index);
        calls_add_answer(v.weight, v.n_entries * (int64_t)sizeof *v.weight);
        calls_add_answer(ddsc_measures_get_id(out, 0), 2);
        ddsc_measures_destroy(out);
    }
    return status;
}

static ddsc_status gives_rows(ddsc_context *ctx, ddsc_status s, void *out, size_t size, int64_t n,
                              int64_t m)
{
    if (calls_gives(s, out)) /* otherwise n and m are unset */
        calls_add_answer(out, n * m * (int64_t)size), ddsc_release(ctx, out);
    return s;
}

static ddsc_status gives_graph(ddsc_status status, ddsc_graph **place)
{
    ddsc_graph *out = *place;
    if (calls_gives(status, out)) {
        ddsc_graph_view v;
        ddsc_graph_get_view(out, &v);
        calls_add_answer(v.index, v.n_edges * (int64_t)sizeof *v.index);
        calls_add_answer(v.d2, v.n_edges * (int64_t)sizeof *v.d2);
        ddsc_graph_destroy(out);
    }
    return status;
}

static ddsc_status gives_clustering(ddsc_status status, ddsc_clustering **place)
{
    ddsc_clustering *out = *place;
    if (calls_gives(status, out)) {
        ddsc_clustering_view v;
        ddsc_clustering_get_view(out, &v);
        calls_add_answer(v.labels, v.n * (int64_t)sizeof *v.labels);
        calls_add_answer(v.embedding, v.n * v.n_vectors * (int64_t)sizeof *v.embedding);
        ddsc_clustering_destroy(out);
    }
    return status;
}

static ddsc_status gives_model(ddsc_status status, ddsc_model **place)
{
    ddsc_model *out = *place;
    if (calls_gives(status, out)) {
        ddsc_model_view v;
        ddsc_model_get_view(out, &v);
        calls_add_answer(v.labels, v.n_items * (int64_t)sizeof *v.labels);
        calls_add_answer(&v.far_distance, sizeof v.far_distance);
        ddsc_model_destroy(out);
    }
    return status;
}

/* The file is there with its whole content, or not at all, and no scratch file beside it. */
static ddsc_status gives_file(ddsc_status status, const char *path)
{
    int n_hidden;
    folder_count(&room, &n_hidden);
    assert_int_equal(n_hidden, 0);
    assert_int_equal(access(path, F_OK) == 0, status >= 0);
    if (status >= 0) {
        size_t n;
        char *bytes = file_bytes(path, &n);
        calls_add_answer(bytes, (int64_t)n);
        free(bytes);
        assert_int_equal(unlink(path), 0);
    }
    return status;
}

/* ---- entries: measures ---- */

static ddsc_status create_clouds(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    return gives_measures(
        ddsc_measures_create_clouds(ctx, &out, N, DIM, points, weights, offsets, DDSC_EMPTY_ERROR),
        &out);
}

static ddsc_status create_shared(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    ddsc_measures_view v;
    ddsc_measures_get_view(histograms, &v);
    return gives_measures(make_shared(ctx, &out, v.n_items, v.n_support, v.dim, v.support, v.offset,
                                      v.index, v.weight, DDSC_EMPTY_DROP),
                          &out);
}

static ddsc_status create_dense(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    return gives_measures(
        ddsc_measures_create_dense(ctx, &out, N, VOCABULARY, DIM, support, dense, DDSC_EMPTY_ERROR),
        &out);
}

static ddsc_status create_items(ddsc_context *ctx, int is_float)
{
    static const float small[] = {1, 2, 3, 4, 5, 6};
    ddsc_cloud item[3];
    for (int k = 0; k < 3; k++)
        item[k] = (ddsc_cloud){3, is_float ? (const void *)small : points + k, NULL, is_float};
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_create_items(ctx, &out, 3, DIM, item, DDSC_EMPTY_ERROR),
                          &out);
}

#define COPY(call, ...)                                                                    \
    static ddsc_status call(ddsc_context *ctx, int option)                                 \
    {                                                                                      \
        (void)option;                                                                      \
        ddsc_measures *out = UNSET;                                                        \
        return gives_measures(ddsc_measures_##call(ctx, &out, clouds, __VA_ARGS__), &out); \
    }
COPY(copy_labeled, labels)
COPY(copy_labelled, labels)
COPY(copy_named, item_names)
COPY(copy_described, 0, 0, item_names)
COPY(copy_balanced, 3)
COPY(copy_about, 1, &column_name, item_names)
COPY(read_meta, folder_file(&room, "about.csv"), NULL)
static ddsc_status copy_private(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_copy_private(ctx, &out, clouds), &out);
}
COPY(copy_resampled, 1)

static ddsc_status measures_transform(ddsc_context *ctx, int option)
{
    ddsc_transform_settings set = {
        sizeof set, "5", 1, {DDSC_NORMALIZE_RANK}, 1, 2, (ddsc_align)option, "262144", "batch"};
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_transform(ctx, &out, clouds, &set), &out);
}

static ddsc_status copy_subset(ddsc_context *ctx, int option)
{
    (void)option;
    static const int64_t some[] = {5, 0, 9};
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_copy_subset(ctx, &out, clouds, 3, some), &out);
}

static ddsc_status compress(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    ddsc_compress_report report;
    unset_sized(&report, sizeof report);
    ddsc_status status = ddsc_measures_compress(ctx, &out, &report, clouds, 2);
    keeps_sized(status, &report, sizeof report);
    return gives_measures(status, &out);
}

static ddsc_status generate_shapes(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_generate_shapes(ctx, &out, 3, 8), &out);
}

static ddsc_status generate_gaussians(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_generate_gaussians(ctx, &out, 2, 3, 5, 2, 3.0), &out);
}

/* ---- entries: files ---- */

static ddsc_status measures_read(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"counts.npz", "one.csv", "three.d2"};
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_read(ctx, &out, folder_file(&room, files[option]), NULL),
                          &out);
}

static ddsc_status measures_read_files(ddsc_context *ctx, int option)
{
    (void)option;
    const char *const paths[] = {folder_file(&room, "one.csv"), folder_file(&room, "two.csv")};
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_measures_read_files(ctx, &out, 2, paths, NULL), &out);
}

static ddsc_status measures_write(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"out.npz", "out.csv.gz", "out.d2"};
    const char *path = folder_file(&room, files[option]);
    return gives_file(ddsc_measures_write(ctx, clouds, path, DDSC_FORMAT_AUTO, 0), path);
}

static ddsc_status share(ddsc_context *ctx, int team)
{
    const char *path = folder_file(&room, "counts.npz");
    ddsc_measures *out = UNSET;
    calls_set_team(ctx, team);
    return gives_measures(ddsc_measures_share(ctx, &out, calls_read, &path), &out);
}

static ddsc_status matrix_read(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"square.npy", "square.mtx", "square.npy"};
    const char *path = folder_file(&room, files[option]);
    double *out = UNSET;
    int64_t n;
    unset(&n, sizeof n);
    calls_set_team(ctx, option == 2);
    ddsc_status status = option == 2 ? ddsc_matrix_read_shared(ctx, &out, &n, path)
                                     : ddsc_matrix_read(ctx, &out, &n, path);
    keeps(status, &n, sizeof n);
    return gives_rows(ctx, status, out, sizeof *out, n, n);
}

static ddsc_status rows_read(ddsc_context *ctx, int option)
{
    (void)option;
    double *out = UNSET;
    int64_t size[2];
    unset(size, sizeof size);
    ddsc_status status =
        ddsc_rows_read(ctx, &out, &size[0], &size[1], folder_file(&room, "rows.npy"));
    keeps(status, size, sizeof size);
    return gives_rows(ctx, status, out, sizeof *out, size[0], size[1]);
}

static ddsc_status matrix_write(ddsc_context *ctx, int option)
{
    (void)option;
    const char *path = folder_file(&room, "out.npy");
    return gives_file(ddsc_matrix_write(ctx, matrix, N, N, path, 0), path);
}

static ddsc_status labels_read(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"labels.csv", "set.npz"};
    int32_t *out = UNSET;
    int64_t n;
    unset(&n, sizeof n);
    ddsc_status status = ddsc_labels_read(ctx, &out, &n, folder_file(&room, files[option]));
    keeps(status, &n, sizeof n);
    return gives_rows(ctx, status, out, sizeof *out, n, 1);
}

static ddsc_status labels_read_for(ddsc_context *ctx, int option)
{
    (void)option;
    int32_t *out = UNSET;
    ddsc_join how;
    unset(&how, sizeof how);
    ddsc_status status =
        ddsc_labels_read_for(ctx, &out, &how, clouds, folder_file(&room, "set.npz"));
    keeps(status, &how, sizeof how);
    return gives_rows(ctx, status, out, sizeof *out, N, 1);
}

static ddsc_status labels_read_both(ddsc_context *ctx, int option)
{
    (void)option;
    int32_t *out = UNSET, *other = UNSET;
    int64_t n;
    char path[TEST_PATH];
    strcpy(path, folder_file(&room, "labels.csv"));
    unset(&n, sizeof n);
    ddsc_status status =
        ddsc_labels_read_both(ctx, &out, &other, &n, NULL, path, folder_file(&room, "turned.csv"));
    keeps(status, &n, sizeof n);
    if (calls_gives(status, other))
        ddsc_release(ctx, other);
    return gives_rows(ctx, status, out, sizeof *out, n, 1);
}

static ddsc_status labels_write(ddsc_context *ctx, int option)
{
    (void)option;
    const char *path = folder_file(&room, "out.csv");
    return gives_file(ddsc_labels_write(ctx, labels, N, clouds, path, 0), path);
}

static ddsc_status file_write(ddsc_context *ctx, int option)
{
    const char *path = folder_file(&room, "out.txt");
    return gives_file(ddsc_file_write(ctx, path, "text", 4, (unsigned)option), path);
}

static ddsc_status graph_write(ddsc_context *ctx, int option)
{
    (void)option;
    const char *path = folder_file(&room, "out.mtx");
    return gives_file(ddsc_graph_write(ctx, graph, path, 0), path);
}

static ddsc_status text_read(ddsc_context *ctx, int option)
{
    char docs[TEST_PATH], vectors[TEST_PATH];
    strcpy(docs, folder_file(&room, "docs.tsv"));
    strcpy(vectors, folder_file(&room, "vectors.txt"));
    ddsc_text_settings set;
    ddsc_text_settings_init(&set);
    set.stopwords_path = folder_file(&room, "stop.txt");
    set.support = 2;
    ddsc_measures *out = UNSET;
    ddsc_text_report report;
    unset_sized(&report, sizeof report);
    const char *both[] = {docs, set.stopwords_path}; /* as plain text */
    ddsc_status status = option ? ddsc_text_read_files(ctx, &out, &report, 2, both, vectors, &set)
                                : ddsc_text_read(ctx, &out, &report, docs, vectors, &set);
    if (status < 0)
        keeps_sized(status, &report, sizeof report);
    return gives_measures(status, &out);
}

/* ---- entries: distances and single problems ---- */

/* Statistics but for the time that was taken. */
static void keeps_stats(ddsc_status status, ddsc_pair_stats *stats)
{
    if (status >= 0)
        calls_add_answer(&stats->n_pairs, sizeof stats->n_pairs);
    else
        keeps_sized(status, stats, sizeof *stats);
}

static ddsc_status distance_run(ddsc_context *ctx, int option)
{
    ddsc_metric_settings set = metric_of(option % 4);
    set.mmd_features = option == 6 ? 16 : 0;
    double out[N * N];
    ddsc_pair_stats stats;
    unset(out, sizeof out);
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_distance_run(ctx, out, &stats, clouds, &set, DDSC_DISTANCE_SQUARED);
    fills(status, out, sizeof out);
    keeps_stats(status, &stats);
    return status;
}

/* With a folder that keeps the pairs. */
static ddsc_status distance_resumed(ddsc_context *ctx, int option)
{
    (void)option;
    char folder[64], command[128];
    strcpy(folder, "/tmp/ddsc-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    double out[N * N];
    unset(out, sizeof out);
    ddsc_status status = ddsc_context_set_resume(ctx, folder, NULL);
    if (status >= 0)
        status = ddsc_distance_run(ctx, out, NULL, clouds, NULL, 0);
    fills(status, out, sizeof out);
    mem_free(ctx, ctx->resume_folder); /* ddsc_context_set_resume would clear the message */
    mem_free(ctx, ctx->resume_settings);
    ctx->resume_folder = ctx->resume_settings = NULL;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    return status;
}

static ddsc_status cross_run(ddsc_context *ctx, int metric)
{
    ddsc_metric_settings set = metric_of(metric);
    double out[4 * N];
    ddsc_pair_stats stats;
    unset(out, sizeof out);
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_cross_run(ctx, out, &stats, fresh, clouds, &set, 0);
    fills(status, out, sizeof out);
    keeps_stats(status, &stats);
    return status;
}

static ddsc_status embed_run(ddsc_context *ctx, int option)
{
    ddsc_metric_settings set = metric_of(DDSC_METRIC_LOT);
    set.reference_rule = (ddsc_reference_rule)option;
    set.reference_measures = fresh;
    double *out = UNSET;
    int64_t n_columns;
    ddsc_pair_stats stats;
    unset(&n_columns, sizeof n_columns);
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_embed_run(ctx, &out, &n_columns, &stats, clouds, &set);
    keeps(status, &n_columns, sizeof n_columns);
    keeps_stats(status, &stats);
    return gives_rows(ctx, status, out, sizeof *out, N, n_columns);
}

static ddsc_status reference_create(ddsc_context *ctx, int option)
{
    ddsc_metric_settings set = metric_of(DDSC_METRIC_LOT);
    set.reference_rule = (ddsc_reference_rule)option;
    set.reference_measures = fresh;
    ddsc_measures *out = UNSET;
    return gives_measures(ddsc_reference_create(ctx, &out, clouds, &set), &out);
}

/* Two items' weights under a cost. */
typedef struct plan {
    ddsc_transport result;
    int32_t row[2 * POINTS], column[2 * POINTS];
    double mass[2 * POINTS], f[POINTS], g[POINTS], dense[POINTS * POINTS];
} plan;

/* Every output is wanted; an entropic plan comes as a whole only. */
static void unset_plan(plan *p, bool is_entropic)
{
    unset(p, sizeof *p);
    ddsc_transport_init(&p->result);
    p->result.plan_row = is_entropic ? NULL : p->row;
    p->result.plan_column = is_entropic ? NULL : p->column;
    p->result.plan_mass = is_entropic ? NULL : p->mass;
    p->result.plan = p->dense;
    p->result.f = p->f;
    p->result.g = p->g;
}

static ddsc_status keeps_plan(ddsc_status status, const plan *p, const plan *before)
{
    if (status >= 0)
        calls_add_answer(&p->result.primal, sizeof p->result.primal);
    keeps_copy(status, p, before, sizeof *p);
    return status;
}

static void make_problem(double *a, double *b, double *cost)
{
    for (int64_t i = 0; i < POINTS; i++) {
        a[i] = weights[i];
        b[i] = weights[POINTS - 1 - i];
        for (int64_t j = 0; j < POINTS; j++)
            cost[i * POINTS + j] = matrix[i * N + j];
    }
}

static ddsc_status emd_run(ddsc_context *ctx, int is_entropic)
{
    plan p, before;
    double a[POINTS], b[POINTS], cost[POINTS * POINTS];
    make_problem(a, b, cost);
    ddsc_transport_problem problem;
    ddsc_transport_problem_init(&problem);
    problem.n = problem.m = POINTS;
    problem.a = a;
    problem.b = b;
    problem.cost = cost;
    ddsc_sinkhorn_settings set;
    ddsc_sinkhorn_settings_init(&set);
    set.epsilon = 0.1;
    set.value = DDSC_SINKHORN_SHARP;
    set.tolerance = 1e-6;
    unset_plan(&p, is_entropic);
    memcpy(&before, &p, sizeof p);
    return keeps_plan(is_entropic ? ddsc_sinkhorn_run(ctx, &p.result, &problem, &set)
                                  : ddsc_emd_run(ctx, &p.result, &problem),
                      &p, &before);
}

static ddsc_status w2_run(ddsc_context *ctx, int option)
{
    (void)option;
    plan p, before;
    unset_plan(&p, false);
    memcpy(&before, &p, sizeof p);
    return keeps_plan(ddsc_w2_run(ctx, &p.result, clouds, 0, fresh, 1), &p, &before);
}

/* ---- entries: graphs ---- */

typedef struct search {
    int metric;
    ddsc_exact_graph exact_graph;
    ddsc_neighbors neighbors;
    double sample, sample_columns;
    ddsc_measures **data;
} search;

static const search searches[] = {
    {DDSC_METRIC_W2, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 1, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_AUTO, DDSC_NEIGHBORS_APPROXIMATE, 1, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 0.6, 1, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 1, 0.5, &clouds},
    {DDSC_METRIC_W2, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &images},
    {DDSC_METRIC_SINKHORN, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &clouds},
    {DDSC_METRIC_SINKHORN, DDSC_GRAPH_FULL, DDSC_NEIGHBORS_EXACT, 1, 1, &images},
    {DDSC_METRIC_SINKHORN, DDSC_GRAPH_PRUNED, DDSC_NEIGHBORS_EXACT, 1, 1, &histograms},
    {DDSC_METRIC_MMD, DDSC_GRAPH_AUTO, DDSC_NEIGHBORS_AUTO, 1, 1, &clouds},
    {DDSC_METRIC_LOT, DDSC_GRAPH_AUTO, DDSC_NEIGHBORS_AUTO, 1, 1, &clouds},
};

static ddsc_status neighbors_run(ddsc_context *ctx, int option)
{
    const search *s = &searches[option];
    ddsc_metric_settings metric = metric_of(s->metric);
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = 3;
    set.exact_graph = s->exact_graph;
    set.neighbors = s->neighbors;
    set.sample = s->sample;
    set.sample_columns = s->sample_columns;
    ddsc_graph *out = UNSET;
    ddsc_pair_stats stats;
    unset_sized(&stats, sizeof stats);
    ddsc_status status = ddsc_neighbors_run(ctx, &out, &stats, *s->data, &metric, &set);
    keeps_stats(status, &stats);
    return gives_graph(status, &out);
}

static ddsc_status graph_create_from_matrix(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_graph *out = UNSET;
    return gives_graph(ddsc_graph_create_from_matrix(ctx, &out, N, matrix, 0, NULL), &out);
}

static ddsc_status graph_create_from_vectors(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_graph *out = UNSET;
    return gives_graph(ddsc_graph_create_from_vectors(ctx, &out, N, 3, rows, NULL), &out);
}

static ddsc_status graph_create_from_csr(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_graph_view v;
    ddsc_graph_get_view(graph, &v);
    ddsc_graph *out = UNSET;
    return gives_graph(ddsc_graph_create_from_csr(ctx, &out, v.n, v.offset, v.index, v.d2), &out);
}

static ddsc_status layout_run(ddsc_context *ctx, int option)
{
    (void)option;
    double xy[2 * N];
    unset(xy, sizeof xy);
    ddsc_status status = ddsc_layout_run(ctx, xy, graph, NULL);
    keeps(status, xy, sizeof xy);
    return status;
}

/* ---- entries: clusterings and what is made of them ---- */

static ddsc_status cluster_run(ddsc_context *ctx, int option)
{
    ddsc_cluster_settings set = cluster_of(option % 4 * (option < 4));
    set.k_max += 2 * (option == 4); /* a sweep */
    ddsc_clustering *out = UNSET, **to = &out;
    return gives_clustering(ddsc_cluster_run(ctx, to, option == 5 ? documents : clouds, &set), to);
}

static ddsc_status spectral_run(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_cluster_settings set = cluster_of(0);
    ddsc_clustering *out = UNSET;
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
    double *out = UNSET;
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
    ddsc_d2 *out = UNSET;
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
    ddsc_model *out = UNSET, **to = &out;
    return gives_model(words ? ddsc_model_create(ctx, to, documents, refined, &set)
                             : ddsc_model_create(ctx, to, clouds, clustering, &set),
                       to);
}

static ddsc_status measures_copy_like(ddsc_context *ctx, int option)
{
    ddsc_measures *out = UNSET;
    (void)option;
    return gives_measures(ddsc_measures_copy_like(ctx, &out, clouds, models[0]), &out);
}

static ddsc_status model_write(ddsc_context *ctx, int metric)
{
    const char *path = folder_file(&room, "out.npz");
    return gives_file(ddsc_model_write(ctx, models[metric], path, 0), path);
}

static ddsc_status model_read(ddsc_context *ctx, int option)
{
    const char *path = folder_file(&room, option < 2 ? "model.npz" : "words.npz");
    ddsc_model *out = UNSET;
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

/* ---- the table ---- */

#define E(call, way, option)             \
    {                                    \
        "ddsc_" #call, way, call, option \
    }
#define M(call, way, option)                      \
    {                                             \
        "ddsc_measures_" #call, way, call, option \
    }
const call_entry calls[] = {
    E(context_create, "", 0),
    E(context_set_resume, "", 0),
    E(context_set_device, "", 0),
    E(context_set_team, "", 0),
    M(create_clouds, "", 0),
    M(create_shared, "", 0),
    M(create_dense, "", 0),
    M(create_items, "double", 0),
    M(create_items, "float", 1),
    M(copy_labeled, "", 0),
    M(copy_labelled, "", 0),
    M(copy_named, "", 0),
    M(copy_described, "", 0),
    M(copy_about, "", 0),
    M(read_meta, "", 0),
    E(measures_transform, "size", DDSC_ALIGN_SIZE),
    E(measures_transform, "principal", DDSC_ALIGN_PRINCIPAL),
    M(copy_subset, "", 0),
    M(copy_private, "", 0),
    M(copy_balanced, "", 0),
    M(copy_resampled, "", 0),
    M(compress, "", 0),
    M(generate_shapes, "", 0),
    M(generate_gaussians, "", 0),
    E(measures_read, "npz", 0),
    E(measures_read, "csv", 1),
    E(measures_read, "d2", 2),
    E(measures_read_files, "", 0),
    E(measures_write, "npz", 0),
    E(measures_write, "csv.gz", 1),
    E(measures_write, "d2", 2),
    E(matrix_read, "npy", 0),
    E(matrix_read, "mtx", 1),
    {"ddsc_matrix_read_shared", "", matrix_read, 2},
    M(share, "alone", 0),
    M(share, "team", 1),
    E(rows_read, "", 0),
    E(matrix_write, "", 0),
    E(labels_read, "csv", 0),
    E(labels_read, "npz", 1),
    E(labels_read_for, "", 0),
    E(labels_read_both, "", 0),
    E(labels_write, "", 0),
    E(file_write, "", 0),
    E(file_check, "", 0),
    E(graph_write, "", 0),
    E(text_read, "", 0),
    {"ddsc_text_read_files", "", text_read, 1},
    E(distance_run, "w2", 0),
    E(distance_run, "sinkhorn", 1),
    E(distance_run, "mmd", 2),
    E(distance_run, "lot", 3),
    E(distance_run, "mmd by features", 6),
    {"ddsc_distance_run", "resumed", distance_resumed, 0},
    E(cross_run, "w2", 0),
    E(cross_run, "sinkhorn", 1),
    E(cross_run, "mmd", 2),
    E(cross_run, "lot", 3),
    E(embed_run, "normal", 0),
    E(embed_run, "kmeans", 1),
    E(embed_run, "given", 2),
    E(reference_create, "normal", 0),
    E(reference_create, "kmeans", 1),
    E(reference_create, "given", 2),
    E(emd_run, "", 0),
    E(w2_run, "", 0),
    {"ddsc_sinkhorn_run", "", emd_run, 1},
    E(neighbors_run, "w2 full", 0),
    E(neighbors_run, "w2 pruned", 1),
    E(neighbors_run, "w2 approximate", 2),
    E(neighbors_run, "w2 sample", 3),
    E(neighbors_run, "w2 columns", 4),
    E(neighbors_run, "w2 of images", 5),
    E(neighbors_run, "sinkhorn pruned", 6),
    E(neighbors_run, "sinkhorn of images", 7),
    E(neighbors_run, "sinkhorn of histograms", 8),
    E(neighbors_run, "mmd", 9),
    E(neighbors_run, "lot", 10),
    E(graph_create_from_matrix, "", 0),
    E(graph_create_from_csr, "", 0),
    E(graph_create_from_vectors, "", 0),
    E(layout_run, "", 0),
    E(cluster_run, "w2", 0),
    E(cluster_run, "sinkhorn", 1),
    E(cluster_run, "mmd", 2),
    E(cluster_run, "lot", 3),
    E(cluster_run, "sweep", 4),
    E(cluster_run, "refined", 5),
    {"ddsc_membership_run", "distances", words_membership, 0},
    {"ddsc_membership_run", "words", words_membership, 1},
    E(spectral_run, "", 0),
    E(cluster_settings_resolve, "", 0),
    E(merges_run, "", 0),
    E(order_run, "", 0),
    E(verdict_run, "", 0),
    E(outliers_run, "", 0),
    E(units_run, "", 0),
    E(permanova_run, "random", 0),
    E(permanova_run, "all arrangements, whole blocks", 1),
    E(states_run, "chosen", 0),
    E(states_flow_run, "", 0),
    E(effects_run, "classes", 0),
    E(effects_run, "blocks", 1),
    E(kmeans_run, "", 0),
    E(standing_run, "", 0),
    E(project_run, "", 0),
    E(scores_run, "", 0),
    E(stability_run, "", 0),
    E(compare_run, "", 1 << DDSC_METRIC_MMD),
    E(theory_run, "", 0),
    E(sampling_constants_run, "", 0),
    E(identity_run, "", 0),
    E(identity_run, "numbers kept", 1),
    E(vectors_run, "histograms", DDSC_VECTORS_HISTOGRAM),
    E(vectors_run, "means", DDSC_VECTORS_MEAN),
    E(barycenter_run, "admm", DDSC_BARYCENTER_ADMM),
    E(barycenter_run, "ibp", DDSC_BARYCENTER_IBP),
    E(barycenter_run, "projected", DDSC_BARYCENTER_PROJECTED),
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
    E(update_run, "w2", 0),
    E(update_run, "mmd", 2),
    {"ddsc_cluster_run", "like", cluster_like, 0},
    {"ddsc_model_read_shared", "", model_read, 1},
    {"ddsc_model_read_shared", "words", model_read, 3},
    E(assign_run, "w2", 0),
    E(assign_run, "sinkhorn", 1),
    E(assign_run, "mmd", 2),
    E(assign_run, "lot", 3),
    {"ddsc_assign_run", "rows", assign_rows, 0},
    {"ddsc_assign_run", "words", words_assign, 0},
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
    E(over_run, "texts", 2),
    E(report_add_over, "", 0),
    E(diff_create, "", 0),
    E(diff_create, "folders", 2),
    E(diff_write, "json", DDSC_DIFF_JSON),
    E(diff_write, "all text", DDSC_DIFF_TEXT_ALL),
    E(diff_write, "csv", DDSC_DIFF_CSV),
    E(diff_write, "html", DDSC_DIFF_HTML),
};
const size_t n_calls = sizeof calls / sizeof calls[0];

ddsc_status calls_run(ddsc_context *ctx, const call_entry *entry, uint64_t *answer)
{
    now = entry;
    answer_now = 0;
    ddsc_status status = entry->run(ctx, entry->option);
    calls_set_team(ctx, false);
    *answer = status < 0 ? 0 : answer_now;
    return status;
}
