/* Calls that create, change, read or write measures, matrices, labels and graphs. */
#include "public_outputs.h"

/* ---- entries: measures ---- */

static ddsc_status create_clouds(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
    return gives_measures(
        ddsc_measures_create_clouds(ctx, &out, N, DIM, points, weights, offsets, DDSC_EMPTY_ERROR),
        &out);
}

static ddsc_status create_shared(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
    ddsc_measures_view v;
    ddsc_measures_get_view(histograms, &v);
    return gives_measures(make_shared(ctx, &out, v.n_items, v.n_support, v.dim, v.support, v.offset,
                                      v.index, v.weight, DDSC_EMPTY_DROP),
                          &out);
}

static ddsc_status create_dense(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
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
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_create_items(ctx, &out, 3, DIM, item, DDSC_EMPTY_ERROR),
                          &out);
}

#define COPY(call, ...)                                                                    \
    static ddsc_status call(ddsc_context *ctx, int option)                                 \
    {                                                                                      \
        (void)option;                                                                      \
        ddsc_measures *out = calls_unset;                                                  \
        return gives_measures(ddsc_measures_##call(ctx, &out, clouds, __VA_ARGS__), &out); \
    }
COPY(copy_labeled, labels)
COPY(copy_labelled, labels)
COPY(copy_named, item_names)
COPY(copy_described, 0, 0, item_names)
COPY(copy_balanced, 3)
COPY(copy_about, 1, &column_name, item_names)
COPY(read_meta, folder_file(&scratch_folder, "about.csv"), NULL)
static ddsc_status copy_private(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_copy_private(ctx, &out, clouds), &out);
}
COPY(copy_resampled, 1)

static ddsc_status measures_transform(ddsc_context *ctx, int option)
{
    ddsc_transform_settings set = {
        sizeof set, "5", 1, {DDSC_NORMALIZE_RANK}, 1, 2, (ddsc_align)option, "262144", "batch"};
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_transform(ctx, &out, clouds, &set), &out);
}

static ddsc_status copy_subset(ddsc_context *ctx, int option)
{
    (void)option;
    static const int64_t some[] = {5, 0, 9};
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_copy_subset(ctx, &out, clouds, 3, some), &out);
}

static ddsc_status compress(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
    ddsc_compress_report report;
    unset_sized(&report, sizeof report);
    ddsc_status status = ddsc_measures_compress(ctx, &out, &report, clouds, 2);
    keeps_sized(status, &report, sizeof report);
    return gives_measures(status, &out);
}

/* option 0: the number of points is given; 1: it is chosen */
static ddsc_status compress_for(ddsc_context *ctx, int option)
{
    ddsc_measures *out = calls_unset;
    ddsc_compress_report report;
    unset_sized(&report, sizeof report);
    ddsc_status status = ddsc_measures_compress_for(ctx, &out, &report, option ? images : clouds,
                                                    NULL, option ? 0 : 2, 0.5);
    keeps_sized(status, &report, sizeof report);
    return gives_measures(status, &out);
}

static ddsc_status generate_shapes(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_generate_shapes(ctx, &out, 3, 8), &out);
}

static ddsc_status generate_gaussians(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_generate_gaussians(ctx, &out, 2, 3, 5, 2, 3.0), &out);
}

/* ---- entries: files ---- */

static ddsc_status measures_read(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"counts.npz", "one.csv", "three.d2"};
    ddsc_measures *out = calls_unset;
    return gives_measures(
        ddsc_measures_read(ctx, &out, folder_file(&scratch_folder, files[option]), NULL), &out);
}

static ddsc_status measures_read_files(ddsc_context *ctx, int option)
{
    (void)option;
    const char *const paths[] = {folder_file(&scratch_folder, "one.csv"),
                                 folder_file(&scratch_folder, "two.csv")};
    ddsc_measures *out = calls_unset;
    return gives_measures(ddsc_measures_read_files(ctx, &out, 2, paths, NULL), &out);
}

static ddsc_status measures_write(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"out.npz", "out.csv.gz", "out.d2"};
    const char *path = folder_file(&scratch_folder, files[option]);
    return gives_file(ddsc_measures_write(ctx, clouds, path, DDSC_FORMAT_AUTO, 0), path);
}

static ddsc_status share(ddsc_context *ctx, int team)
{
    const char *path = folder_file(&scratch_folder, "counts.npz");
    ddsc_measures *out = calls_unset;
    calls_set_team(ctx, team);
    return gives_measures(ddsc_measures_share(ctx, &out, calls_read, &path), &out);
}

static ddsc_status matrix_read(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"square.npy", "square.mtx", "square.npy"};
    const char *path = folder_file(&scratch_folder, files[option]);
    double *out = calls_unset;
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
    double *out = calls_unset;
    int64_t size[2];
    unset(size, sizeof size);
    ddsc_status status =
        ddsc_rows_read(ctx, &out, &size[0], &size[1], folder_file(&scratch_folder, "rows.npy"));
    keeps(status, size, sizeof size);
    return gives_rows(ctx, status, out, sizeof *out, size[0], size[1]);
}

static ddsc_status matrix_write(ddsc_context *ctx, int option)
{
    (void)option;
    const char *path = folder_file(&scratch_folder, "out.npy");
    return gives_file(ddsc_matrix_write(ctx, matrix, N, N, path, 0), path);
}

static ddsc_status labels_read(ddsc_context *ctx, int option)
{
    static const char *const files[] = {"labels.csv", "set.npz"};
    int32_t *out = calls_unset;
    int64_t n;
    unset(&n, sizeof n);
    ddsc_status status =
        ddsc_labels_read(ctx, &out, &n, folder_file(&scratch_folder, files[option]));
    keeps(status, &n, sizeof n);
    return gives_rows(ctx, status, out, sizeof *out, n, 1);
}

static ddsc_status labels_read_for(ddsc_context *ctx, int option)
{
    (void)option;
    int32_t *out = calls_unset;
    ddsc_join how;
    unset(&how, sizeof how);
    ddsc_status status =
        ddsc_labels_read_for(ctx, &out, &how, clouds, folder_file(&scratch_folder, "set.npz"));
    keeps(status, &how, sizeof how);
    return gives_rows(ctx, status, out, sizeof *out, N, 1);
}

static ddsc_status labels_read_both(ddsc_context *ctx, int option)
{
    (void)option;
    int32_t *out = calls_unset, *other = calls_unset;
    int64_t n;
    char path[TEST_PATH];
    strcpy(path, folder_file(&scratch_folder, "labels.csv"));
    unset(&n, sizeof n);
    ddsc_status status = ddsc_labels_read_both(ctx, &out, &other, &n, NULL, path,
                                               folder_file(&scratch_folder, "turned.csv"));
    keeps(status, &n, sizeof n);
    if (calls_gives(status, other))
        ddsc_release(ctx, other);
    return gives_rows(ctx, status, out, sizeof *out, n, 1);
}

static ddsc_status labels_write(ddsc_context *ctx, int option)
{
    (void)option;
    const char *path = folder_file(&scratch_folder, "out.csv");
    return gives_file(ddsc_labels_write(ctx, labels, N, clouds, path, 0), path);
}

static ddsc_status file_write(ddsc_context *ctx, int option)
{
    const char *path = folder_file(&scratch_folder, "out.txt");
    return gives_file(ddsc_file_write(ctx, path, "text", 4, (unsigned)option), path);
}

static ddsc_status graph_write(ddsc_context *ctx, int option)
{
    (void)option;
    const char *path = folder_file(&scratch_folder, "out.mtx");
    return gives_file(ddsc_graph_write(ctx, graph, path, 0), path);
}

static ddsc_status text_read(ddsc_context *ctx, int option)
{
    char docs[TEST_PATH], vectors[TEST_PATH];
    strcpy(docs, folder_file(&scratch_folder, "docs.tsv"));
    strcpy(vectors, folder_file(&scratch_folder, "vectors.txt"));
    ddsc_text_settings set;
    ddsc_text_settings_init(&set);
    set.stopwords_path = folder_file(&scratch_folder, "stop.txt");
    set.support = 2;
    ddsc_measures *out = calls_unset;
    ddsc_text_report report;
    unset_sized(&report, sizeof report);
    const char *both[] = {docs, set.stopwords_path}; /* as plain text */
    ddsc_status status = option ? ddsc_text_read_files(ctx, &out, &report, 2, both, vectors, &set)
                                : ddsc_text_read(ctx, &out, &report, docs, vectors, &set);
    if (status < 0)
        keeps_sized(status, &report, sizeof report);
    return gives_measures(status, &out);
}

static const call_entry entries[] = {
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
    M(compress_for, "given", 0),
    M(compress_for, "chosen", 1),
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
    E(graph_write, "", 0),
    E(text_read, "", 0),
    {"ddsc_text_read_files", "", text_read, 1},
};
const call_table measures_calls = CALL_TABLE(entries);
