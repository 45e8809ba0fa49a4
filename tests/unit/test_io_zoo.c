/* Generated input files: valid files of every kind give the same items. Every invalid file gives a
 * status and a message that names the problem, and leaves nothing allocated. */
#include "io_support.h"

#include <math.h>

static test_folder zoo;
static bool have_zoo;

static int set_up(void **state)
{
    (void)state;
    folder_make(&zoo);
    have_zoo = folder_generate(&zoo);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&zoo);
    return 0;
}

/* ---- the reference items of io_files.py ---- */

static const double points[6][2] = {{0, 0}, {1, 0.5}, {0.5, 2}, {-3, 4}, {8, -0.25}, {0, 1}};
static const double weights[6] = {0.25, 0.75, 1, 0.125, 0.25, 0.625};
static const int64_t offsets[4] = {0, 2, 3, 6};
static const char *const ids[3] = {"alpha", "b\xc3\xa8ta", "\xce\xb3\xf0\x9f\x98\x80"};
static const int32_t labels[3] = {2, 0, 2};
static const char *const names[3] = {"cat", "dog", "cat"};

static double weight_at(const ddsc_measures_view *v, int64_t item, const double *point)
{
    double sum = 0;
    for (int64_t p = v->offset[item]; p < v->offset[item + 1]; p++)
        if (memcmp(v->support + v->index[p] * v->dim, point, 2 * sizeof *point) == 0)
            sum += v->weight[p];
    return sum;
}

static void check_reference(const ddsc_measures *m, const char *line)
{
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    assert_int_equal(v.n_items, 3);
    assert_int_equal(v.dim, 2);
    assert_int_equal(v.n_entries, 6);
    assert_int_equal(v.n_support, 6);
    for (int64_t i = 0; i < 3; i++) {
        for (int64_t p = offsets[i]; p < offsets[i + 1]; p++)
            assert_close(weight_at(&v, i, points[p]), weights[p], 0, 1e-16);
        if (strstr(line, "\tids"))
            assert_string_equal(ddsc_measures_get_id(m, i), ids[i]);
        if (strstr(line, "\tlabels"))
            assert_int_equal(v.label[i], labels[i]);
        if (strstr(line, "\tnames"))
            assert_string_equal(ddsc_measures_get_label_name(m, v.label[i]), names[i]);
    }
    if (!strstr(line, "\tlabels") && !strstr(line, "\tnames"))
        assert_null(v.label);
}

/* ---- loops over the lists ---- */

typedef void (*line_fn)(char *line);

static void each_line(const char *list, int least, line_fn fn)
{
    if (!have_zoo)
        skip();
    size_t n;
    char *text = file_bytes(folder_file(&zoo, list), &n), *save = NULL;
    int count = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        fn(line);
        count++;
    }
    assert_true(count >= least);
    free(text);
}

static void read_good(char *line)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "\t"), line);
#ifndef DDSC_HAVE_HDF5
    if (strstr(name, ".h5"))
        return;
#endif
    ddsc_context *ctx = test_context(2, 0);
    ddsc_measures *m = NULL;
    assert_ok(ctx, ddsc_measures_read(ctx, &m, folder_file(&zoo, name), NULL), name);
    check_reference(m, line);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_good(void **state)
{
    (void)state;
    each_line("good.tsv", 20, read_good);
}

typedef struct bad_call {
    const char *kind, *path;
} bad_call;

static ddsc_status call_bad(ddsc_context *ctx, const char *kind, const char *path)
{
    ddsc_measures *m = NULL;
    double *matrix = NULL;
    int32_t *label = NULL;
    int64_t n = 0;
    ddsc_status status;
    if (strcmp(kind, "matrix") == 0)
        status = ddsc_matrix_read(ctx, &matrix, &n, path);
    else if (strcmp(kind, "labels") == 0)
        status = ddsc_labels_read(ctx, &label, &n, path);
    else
        status = ddsc_measures_read(ctx, &m, path, NULL);
    if (status < 0) {
        assert_null(m);
        assert_null(matrix);
        assert_null(label);
    }
    ddsc_measures_destroy(m);
    ddsc_release(ctx, matrix);
    ddsc_release(ctx, label);
    return status;
}

static void read_bad(char *line)
{
    char *save = NULL, *kind = strtok_r(line, "\t", &save), *name = strtok_r(NULL, "\t", &save);
    char *fragments = strtok_r(NULL, "\t", &save);
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.memory_limit = (int64_t)1 << 30; /* wrong sizes do not make a reader request more */
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    ddsc_status status = call_bad(ctx, kind, folder_file(&zoo, name));
    assert_message(ctx, status, DDSC_ERROR_INPUT, name, fragments ? fragments : name);
    ddsc_context_destroy(ctx);
}

static void test_bad(void **state)
{
    (void)state;
    each_line("bad.tsv", 150, read_bad);
}

/* Every prefix and every flipped byte of small valid files is accepted or rejected, but never
 * causes a crash. */
static void read_damaged(ddsc_context *ctx, const char *name, const char *bytes, size_t n)
{
    io_stream *s = NULL;
    ddsc_read_settings set;
    ddsc_measures *m = NULL;
    ddsc_read_settings_init(&set);
    set.max_bytes = 1 << 24;
    ctx_enter(ctx);
    ddsc_status status = stream_open_memory(ctx, &s, name, bytes, n, set.max_bytes);
    if (status >= 0)
        status = io_read_measures(ctx, &m, s, &set);
    if (status < 0) {
        assert_true(status == DDSC_ERROR_INPUT || status == DDSC_ERROR_MEMORY);
        assert_true(strlen(ddsc_context_get_message(ctx)) > 0);
        assert_null(m);
    }
    ddsc_measures_destroy(m);
    stream_close(s);
}

static void test_damage(void **state)
{
    (void)state;
    static const char *const files[] = {
        "deflated.npz",   "dense_f4.npz", "quoted.csv.gz", "blank_lines.d2", "integer.fcs",
        "double_big.fcs", "deep.png",     "scans.jpg",     "plain.ppm",      "cloud_d.ply",
        "cloud_o.pcd",    "cloud_h.off",  "cloud_j.pts"};
    if (!have_zoo)
        skip();
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.memory_limit = (int64_t)1 << 28;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        size_t n;
        char *bytes = file_bytes(folder_file(&zoo, files[k]), &n);
        for (size_t i = 0; i < n; i++)
            read_damaged(ctx, files[k], bytes, i);
        for (size_t i = 0; i < n; i++) {
            char kept = bytes[i];
            bytes[i] = (char)~kept;
            read_damaged(ctx, files[k], bytes, n);
            bytes[i] = (char)(kept ^ 1);
            read_damaged(ctx, files[k], bytes, n);
            bytes[i] = kept;
        }
        free(bytes);
    }
    ddsc_context_destroy(ctx);
}

/* ---- failed allocations ---- */

static ddsc_status read_and_free(ddsc_context *ctx, void *path)
{
    ddsc_measures *m = NULL;
    ddsc_status status = ddsc_measures_read(ctx, &m, path, NULL);
    ddsc_measures_destroy(m);
    return status;
}

static ddsc_status read_two(ddsc_context *ctx, void *paths)
{
    ddsc_measures *m = NULL;
    ddsc_status status = ddsc_measures_read_files(ctx, &m, 2, (const char *const *)paths, NULL);
    ddsc_measures_destroy(m);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    static const char *const files[] = {
        "deflated.npz",   "dense_fortran.npz",
        "shared.npz",     "named.npz",
        "quoted.csv.gz",  "tabs.tsv",
        "blank_lines.d2", "words.d2s",
        "integer.fcs",    "gzipped.npz.gz",
        "gray.png",       "gray.jpg",
        "cloud_e.ply",    "cloud_o.pcd",
#ifdef DDSC_HAVE_HDF5
        "plain.h5",       "csr.h5",
        "csc.h5",         "dense.h5",
#endif
    };
    if (!have_zoo)
        skip();
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[TEST_PATH];
        strcpy(path, folder_file(&zoo, files[k]));
        if (access(path, R_OK) != 0) /* there is no h5py */
            continue;
        assert_true(test_failing_allocations(read_and_free, path) > 5);
    }
    char a[TEST_PATH], b[TEST_PATH];
    strcpy(a, folder_file(&zoo, "shared.npz"));
    strcpy(b, folder_file(&zoo, "small_integers.npz"));
    const char *paths[2] = {a, b};
    assert_true(test_failing_allocations(read_two, paths) > 10);
}

/* ---- fcs ---- */

static void read_fcs(const char *name, const char *channels, double scale, int64_t d, double shift)
{
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.channels = channels;
    set.arcsinh = scale;
    assert_ok(ctx, ddsc_measures_read(ctx, &m, folder_file(&zoo, name), &set), name);
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    assert_int_equal(v.n_items, 1);
    assert_int_equal(v.n_support, 4);
    assert_int_equal(v.dim, d);
    for (int64_t i = 0; i < 4; i++) {
        double x = 3.0 * (double)i + 1 + shift;
        assert_close(v.support[i * d], scale > 0 ? asinh(x / scale) : x, 1e-15, 0);
    }
    assert_int_equal(strncmp(ddsc_measures_get_id(m, 0), name, strlen(name) - 4), 0);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_fcs(void **state)
{
    (void)state;
    if (!have_zoo)
        skip();
    read_fcs("float.fcs", NULL, 0, 3, 0);
    read_fcs("double_big.fcs", NULL, 0, 3, 0);
    read_fcs("integer.fcs", NULL, 0, 3, 0);
    read_fcs("integer.fcs", "2", 0, 1, 1); /* 1024 + x masked to ten bits */
    read_fcs("float.fcs", "z, x", 0, 2, 2);
    read_fcs("float.fcs", "stainy", 5, 1, 1);
}

static void test_fcs_channels(void **state)
{
    (void)state;
    if (!have_zoo)
        skip();
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.channels = "x,nope";
    ddsc_status status = ddsc_measures_read(ctx, &m, folder_file(&zoo, "float.fcs"), &set);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "unknown channel", "\"nope\"|stainx, stainy");
    set.channels = "x,1";
    status = ddsc_measures_read(ctx, &m, folder_file(&zoo, "float.fcs"), &set);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "same channel", "selected twice");
    const char *paths[2] = {folder_file(&zoo, "float.fcs"), folder_file(&zoo, "renamed.fcs")};
    status = ddsc_measures_read_files(ctx, &m, 2, paths, NULL);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "other order",
                   "renamed.fcs|\"stainz\"|\"stainy\"");
    set.channels = "x,y";
    assert_ok(ctx, ddsc_measures_read_files(ctx, &m, 2, paths, &set), "chosen by name");
    assert_string_equal(ddsc_measures_get_id(m, 1), "renamed");
    ddsc_measures_destroy(m);
    paths[1] = paths[0];
    assert_ok(ctx, ddsc_measures_read_files(ctx, &m, 2, paths, &set), "same base name");
    assert_string_equal(ddsc_measures_get_id(m, 1), paths[0]);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),   cmocka_unit_test(test_bad),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_fcs),    cmocka_unit_test(test_fcs_channels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
