/* Writing: files are complete or absent, are read back exactly, and can be read by NumPy. */
#include "folder_fixture.h"

#include <math.h>
#include <sys/stat.h>

static void assert_no_leftovers(void)
{
    int n_hidden;
    folder_count(&scratch_folder, &n_hidden);
    assert_int_equal(n_hidden, 0);
}

/* ---- equality of sets, bit for bit ---- */

static void assert_same(const ddsc_measures *a, const ddsc_measures *b, bool with_names)
{
    ddsc_measures_view u, v;
    ddsc_measures_get_view(a, &u);
    ddsc_measures_get_view(b, &v);
    assert_int_equal(u.n_items, v.n_items);
    assert_int_equal(u.dim, v.dim);
    assert_int_equal(u.n_entries, v.n_entries);
    assert_int_equal(u.n_support, v.n_support);
    assert_memory_equal(u.support, v.support, (size_t)(u.n_support * u.dim) * sizeof(double));
    assert_memory_equal(u.offset, v.offset, (size_t)(u.n_items + 1) * sizeof(int64_t));
    assert_memory_equal(u.index, v.index, (size_t)u.n_entries * sizeof(int32_t));
    assert_memory_equal(u.weight, v.weight, (size_t)u.n_entries * sizeof(double));
    if (!with_names)
        return;
    assert_int_equal(u.label == NULL, v.label == NULL);
    for (int64_t i = 0; i < u.n_items; i++) {
        assert_string_equal(ddsc_measures_get_id(a, u.row[i]), ddsc_measures_get_id(b, v.row[i]));
        if (!u.label)
            continue;
        const char *name = ddsc_measures_get_label_name(a, u.label[u.row[i]]);
        if (name)
            assert_string_equal(name, ddsc_measures_get_label_name(b, v.label[v.row[i]]));
        else
            assert_int_equal(u.label[u.row[i]], v.label[v.row[i]]);
    }
}

static void round_trip(ddsc_context *ctx, const ddsc_measures *m, const char *name, bool with_names)
{
    ddsc_measures *back = NULL;
    const char *path = folder_file(&scratch_folder, name);
    assert_ok(ctx, ddsc_measures_write(ctx, m, path, DDSC_FORMAT_AUTO, 1), name);
    assert_ok(ctx, ddsc_measures_read(ctx, &back, path, NULL), name);
    assert_same(m, back, with_names);
    ddsc_measures_destroy(back);
    assert_no_leftovers();
}

static void test_clouds(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    for (int64_t d = 1; d < 6; d += 2) {
        measures *m = test_random_measures(ctx, 30, 9, d, (uint64_t)d);
        static const char *const names[] = {"a.npz",    "a.csv", "a.tsv",
                                            "a.csv.gz", "a.d2",  "a.d2.gz"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            round_trip(ctx, m, names[k], k < 4);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* Ids with quotes, delimiters and any letters; class names; a shared support; dropped items. */
static void test_names(void **state)
{
    (void)state;
    static const char text[] = "id,label,weight,x,y\n"
                               "\"a,\"\"b\"\"\",\"the first\",1,0,0\n"
                               "\"a,\"\"b\"\"\",\"the first\",2,1,0\n"
                               "\xd0\xb6,second,0,1,1\n"
                               "plain id,\"the first\",5,0,1\nplain id,\"the first\",5,0,0\n"
                               "semi;colon,,5,0,1\nsemi;colon,,1,1,0\nsemi;colon,,1,1,1\n";
    ddsc_context *ctx = test_context(1, 0);
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.on_empty = DDSC_EMPTY_DROP;
    ddsc_measures *m = NULL;
    assert_ok(ctx, ddsc_measures_read(ctx, &m, folder_text(&scratch_folder, "in.csv", text), &set),
              "in");
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    assert_int_equal(v.n_rows, 4);
    assert_int_equal(v.n_items, 3);
    assert_int_equal(v.n_label_names, 2);
    assert_int_equal(v.label[3], -1);
    assert_string_equal(ddsc_measures_get_id(m, 0), "a,\"b\"");
    round_trip(ctx, m, "b.npz", true);
    round_trip(ctx, m, "b.csv", true);
    round_trip(ctx, m, "b.tsv.gz", true);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Images share a grid, so the archive contains the support once. */
static void test_shared(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double support[8] = {0, 0, 0, 1, 1, 0, 1, 1}, histograms[12];
    for (int k = 0; k < 12; k++)
        histograms[k] = 1 + k * k % 7;
    ddsc_measures *m = NULL, *labeled = NULL;
    assert_ok(ctx,
              ddsc_measures_create_dense(ctx, &m, 3, 4, 2, support, histograms, DDSC_EMPTY_ERROR),
              "dense");
    int32_t label[3] = {-1, 5, 2147483647};
    assert_ok(ctx, ddsc_measures_copy_labeled(ctx, &labeled, m, label), "labels");
    round_trip(ctx, labeled, "shared.npz", true);
    round_trip(ctx, labeled, "shared.csv", true);
    size_t n;
    char *bytes = file_bytes(folder_file(&scratch_folder, "shared.npz"), &n);
    assert_non_null(memmem(bytes, n, "indices.npy", 11));
    free(bytes);
    ddsc_measures_destroy(m);
    ddsc_measures_destroy(labeled);
    ddsc_context_destroy(ctx);
}

/* The same set gives the same bytes, even if 64-bit records are forced. */
static void fill_ramp(const void *arg, int64_t begin, int64_t end, unsigned char *out)
{
    (void)arg;
    for (int64_t k = begin; k < end; k++) {
        double x = (double)k;
        memcpy(out + 8 * (k - begin), &x, 8);
    }
}

static void write_ramp(ddsc_context *ctx, const char *path, int64_t limit32)
{
    io_writer *w = NULL;
    npz_writer *z = NULL;
    int64_t n = 5000;
    const char *little = NUM_HOST_LITTLE ? "<f8" : ">f8";
    assert_ok(ctx, writer_open(ctx, &w, path, 1), "open");
    assert_ok(ctx, npz_writer_open(ctx, &z, w), "open");
    npz_writer_set_limit32(z, limit32);
    for (int k = 0; k < 3; k++) {
        char name[8] = {(char)('a' + k)};
        assert_ok(ctx, npz_writer_add(z, name, little, 1, &n, 8, fill_ramp, NULL), "add");
    }
    assert_ok(ctx, npz_writer_finish(z), "finish");
    npz_writer_close(z);
    assert_ok(ctx, writer_finish(w, DDSC_OK), "commit");
}

static void read_ramp(ddsc_context *ctx, const char *path)
{
    io_stream *s = NULL, *member = NULL;
    zip_list list;
    npy_array array;
    double *value = NULL;
    assert_ok(ctx, stream_open(ctx, &s, path, 1 << 30), "open");
    assert_ok(ctx, zip_read_list(ctx, &list, s), "list");
    assert_int_equal(list.n, 3);
    const zip_entry *entry = zip_find(&list, "c");
    assert_ok(ctx, zip_open_entry(ctx, &member, s, entry), "member");
    assert_ok(ctx, npy_read_header(member, &array), "header");
    assert_ok(ctx, npy_read_doubles(ctx, &value, member, &array), "values");
    assert_ok(ctx, zip_check_entry(member, entry), "checksum");
    for (int64_t k = 0; k < array.count; k++)
        assert_true(value[k] == (double)k);
    mem_free(ctx, value);
    stream_close(member);
    stream_close(s);
    zip_list_free(ctx, &list);
}

static void test_zip64(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    int64_t limits[] = {0xfffffffe, 60000, 100, 0};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const char *path = folder_file(&scratch_folder, "ramp.npz");
        write_ramp(ctx, path, limits[k]);
        read_ramp(ctx, path);
        char command[TEST_PATH];
        snprintf(command, sizeof command,
                 "/usr/bin/python3 -c 'import numpy; z = numpy.load(\"%s\"); "
                 "assert all((z[k] == numpy.arange(5000)).all() for k in \"abc\")'",
                 path);
        if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0)
            assert_int_equal(system(command), 0);
    }
    ddsc_context_destroy(ctx);
}

static void test_same_bytes(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    measures *m = test_random_measures(ctx, 20, 5, 2, 8);
    static const char *const names[] = {"x.npz", "x.csv.gz", "x.d2"};
    for (size_t k = 0; k < 3; k++) {
        size_t n[2];
        char *bytes[2];
        for (int r = 0; r < 2; r++) {
            const char *path = folder_file(&scratch_folder, names[k]);
            assert_ok(ctx, ddsc_measures_write(ctx, m, path, DDSC_FORMAT_AUTO, 1), names[k]);
            bytes[r] = file_bytes(path, &n[r]);
        }
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(bytes[0], bytes[1], n[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- matrices, labels, graphs ---- */

static void test_matrix(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double a[9] = {0, 1.5, NAN, 1.5, 0, 1e-300, 7, 8, 0}, *b = NULL;
    int64_t n;
    static const char *const names[] = {"m.npy", "m.npy.gz"};
    for (size_t k = 0; k < 2; k++) {
        const char *path = folder_file(&scratch_folder, names[k]);
        assert_ok(ctx, ddsc_matrix_write(ctx, a, 3, 3, path, 1), names[k]);
        assert_ok(ctx, ddsc_matrix_read(ctx, &b, &n, path), names[k]);
        assert_int_equal(n, 3);
        assert_memory_equal(a, b, sizeof a);
        ddsc_release(ctx, b);
    }
    assert_ok(ctx, ddsc_matrix_write(ctx, a, 9, 0, folder_file(&scratch_folder, "v.npy"), 1),
              "vector");
    ddsc_status status = ddsc_matrix_read(ctx, &b, &n, folder_file(&scratch_folder, "v.npy"));
    assert_message(ctx, status, DDSC_ERROR_INPUT, "vector", "(9,)|square");
    ddsc_context_destroy(ctx);
}

static void test_rows(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double a[6] = {0, NAN, -3, 1e-300, 7, 8}, *b = NULL;
    int64_t n, columns;
    const char *path = folder_file(&scratch_folder, "rows.npy");
    assert_ok(ctx, ddsc_matrix_write(ctx, a, 3, 2, path, 1), "write");
    assert_ok(ctx, ddsc_rows_read(ctx, &b, &n, &columns, path), "read");
    assert_true(n == 3 && columns == 2);
    assert_memory_equal(a, b, sizeof a);
    ddsc_release(ctx, b);
    assert_ok(ctx, ddsc_matrix_write(ctx, a, 6, 0, folder_file(&scratch_folder, "v.npy"), 1),
              "vector");
    ddsc_status status =
        ddsc_rows_read(ctx, &b, &n, &columns, folder_file(&scratch_folder, "v.npy"));
    assert_message(ctx, status, DDSC_ERROR_INPUT, "vector", "(6,)|rows and columns");
    assert_null(b);
    status =
        ddsc_rows_read(ctx, &b, &n, &columns, folder_text(&scratch_folder, "t.npy", "id,label\n"));
    assert_message(ctx, status, DDSC_ERROR_INPUT, "not npy", "t.npy");
    assert_int_equal(ddsc_rows_read(ctx, NULL, &n, &columns, path), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

static void test_mtx(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double *a = NULL;
    int64_t n;
    static const char sparse[] = "%%MatrixMarket matrix coordinate real symmetric\n% note\n"
                                 "3 3 3\n1 1 0\n2 1 4.5\n3 2 2\n";
    assert_ok(ctx, ddsc_matrix_read(ctx, &a, &n, folder_text(&scratch_folder, "s.mtx", sparse)),
              "sparse");
    double expected[9] = {0, 4.5, NAN, 4.5, NAN, 2, NAN, 2, NAN};
    for (int k = 0; k < 9; k++)
        assert_true(isnan(expected[k]) ? isnan(a[k]) : a[k] == expected[k]);
    ddsc_release(ctx, a);
    static const char dense[] = "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n2\n3\n";
    assert_ok(ctx, ddsc_matrix_read(ctx, &a, &n, folder_text(&scratch_folder, "d.mtx", dense)),
              "dense");
    assert_true(a[0] == 0 && a[1] == 2 && a[2] == 1 && a[3] == 3);
    ddsc_release(ctx, a);
    ddsc_context_destroy(ctx);
}

static void check_labels(const char *name, const void *bytes, size_t n_bytes, int64_t n,
                         const int32_t *expected)
{
    ddsc_context *ctx = test_context(1, 0);
    int32_t *label = NULL;
    int64_t found;
    assert_ok(
        ctx,
        ddsc_labels_read(ctx, &label, &found, folder_put(&scratch_folder, name, bytes, n_bytes)),
        name);
    assert_int_equal(found, n);
    assert_memory_equal(label, expected, (size_t)n * sizeof *label);
    ddsc_release(ctx, label);
    ddsc_context_destroy(ctx);
}

static void check_text_labels(const char *text, int64_t n, const int32_t *expected)
{
    check_labels("labels.txt", text, strlen(text), n, expected);
}

static void test_labels(void **state)
{
    (void)state;
    static const int32_t a[] = {3, -1, 3}, b[] = {0, 1, 0}, one[] = {1, 0, 1};
    check_text_labels("id,label\nx,3\ny,-1\nz,3\n", 3, a);
    check_text_labels("label,id\n3,x\n-1,y\n3,z\n", 3, a);
    check_text_labels("id\tcluster\nx\t3\ny\t-1\nz\t3", 3, a);
    check_text_labels("3\n-1\n3\n", 3, a);
    check_text_labels("cluster\n3\n-1\n3\n", 3, a);
    check_text_labels("\xef\xbb\xbflabel\r\n3\r\n-1\r\n3\r\n\r\n", 3, a);
    check_text_labels("cluster\n\n3\n\"\"\n3\n", 3, a); /* an empty label means no label */
    check_text_labels("cat\ndog\ncat\n", 3, b);
    check_text_labels("label\ncat\ndog\ncat\n", 3, b);
    check_text_labels("id,label\n1,\"a, b\"\n2,c\n3,\"a, b\"\n", 3, b);
    check_text_labels("1\n0\n1\n", 3, one);
    check_text_labels("99999999999\n5\n99999999999\n", 3, b); /* too large: read as names */
    static const unsigned char idx[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 1};
    check_labels("labels.idx", idx, sizeof idx, 3, one);
    static const unsigned char wide[] = {0, 0, 12,  1,   0,   0,   0, 3, 0, 0,
                                         0, 3, 255, 255, 255, 255, 0, 0, 0, 3};
    check_labels("labels.idx", wide, sizeof wide, 3, a);
}

static void test_labels_out(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.on_empty = DDSC_EMPTY_DROP;
    ddsc_measures *m = NULL;
    const char *in =
        folder_text(&scratch_folder, "in.csv", "id,weight,x\n\"a b\",1,1\nc,0,1\nd,1,2\n");
    assert_ok(ctx, ddsc_measures_read(ctx, &m, in, &set), "in");
    int32_t three[3] = {4, -1, 5}, two[2] = {4, 5};
    static const char expected[] = "id,label\n\"a b\",4\nc,-1\nd,5\n";
    for (int k = 0; k < 2; k++) {
        const char *path = folder_file(&scratch_folder, "out.csv");
        assert_ok(ctx, ddsc_labels_write(ctx, k ? two : three, k ? 2 : 3, m, path, 1), "out");
        size_t n;
        char *bytes = file_bytes(path, &n);
        assert_string_equal(bytes, expected);
        free(bytes);
    }
    assert_int_equal(
        ddsc_labels_write(ctx, three, 1, m, folder_file(&scratch_folder, "out.csv"), 1),
        DDSC_ERROR_ARGUMENT);
    assert_ok(ctx, ddsc_labels_write(ctx, two, 2, NULL, folder_file(&scratch_folder, "out.csv"), 1),
              "bare");
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_graph(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double d[9] = {0, 1, 2, 1, 0, 3, 2, 3, 0}, *back = NULL;
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    set.tau = 1;
    ddsc_graph *g = NULL;
    assert_ok(ctx, ddsc_graph_create_from_matrix(ctx, &g, 3, d, DDSC_DISTANCE_SQUARED, &set),
              "graph");
    const char *path = folder_file(&scratch_folder, "g.mtx");
    assert_ok(ctx, ddsc_graph_write(ctx, g, path, 0), "write");
    int64_t n;
    assert_ok(ctx, ddsc_matrix_read(ctx, &back, &n, path), "read");
    /* column c holds the nearest item of c: 2, 1, 1 counted from 1 */
    assert_true(back[3] == 1 && back[1] == 1 && back[2] == 2);
    assert_true(isnan(back[0]) && isnan(back[7]));
    ddsc_release(ctx, back);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

/* ---- complete or absent ---- */

static void test_overwrite(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const char *path = folder_text(&scratch_folder, "kept.txt", "before");
    ddsc_status status = ddsc_file_write(ctx, path, "after", 5, 0);
    assert_message(ctx, status, DDSC_ERROR_EXISTS, "exists", "kept.txt|exists");
    size_t n;
    char *bytes = file_bytes(path, &n);
    assert_string_equal(bytes, "before");
    free(bytes);
    assert_int_equal(chmod(path, 0600), 0);
    assert_ok(ctx, ddsc_file_write(ctx, path, "after", 5, 1), "overwrite");
    bytes = file_bytes(path, &n);
    assert_string_equal(bytes, "after");
    free(bytes);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_no_leftovers();
    ddsc_context_destroy(ctx);
}

/* A file that appears while another is being written is not replaced. */
static void test_race(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    io_writer *w = NULL;
    const char *path = folder_file(&scratch_folder, "race.txt");
    assert_ok(ctx, writer_open(ctx, &w, path, 0), "open");
    assert_ok(ctx, writer_put(w, "mine", 4), "put");
    folder_text(&scratch_folder, "race.txt", "theirs");
    ctx_enter(ctx);
    assert_message(ctx, writer_finish(w, DDSC_OK), DDSC_ERROR_EXISTS, "race", "race.txt");
    size_t n;
    char *bytes = file_bytes(path, &n);
    assert_string_equal(bytes, "theirs");
    free(bytes);
    assert_no_leftovers();
    ddsc_context_destroy(ctx);
}

static void test_abort(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    io_writer *w = NULL;
    assert_ok(ctx, writer_open(ctx, &w, folder_file(&scratch_folder, "never.txt.gz"), 0), "open");
    assert_ok(ctx, writer_printf(w, "%d", 5), "put");
    int n_hidden;
    folder_count(&scratch_folder, &n_hidden);
    assert_int_equal(n_hidden, 1);
    writer_finish(w, DDSC_ERROR_CANCELED);
    assert_no_leftovers();
    assert_int_not_equal(access(folder_file(&scratch_folder, "never.txt.gz"), F_OK), 0);
    ddsc_context_destroy(ctx);
}

static void test_places(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    assert_int_equal(ddsc_file_write(ctx, folder_file(&scratch_folder, "no/such/place"), "x", 1, 0),
                     DDSC_ERROR_IO);
    assert_message(ctx, ddsc_file_write(ctx, scratch_folder.path, "x", 1, 1), DDSC_ERROR_IO,
                   "folder", "directory");
    assert_ok(ctx, ddsc_file_write(ctx, "/dev/null", "x", 1, 0), "device");
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) == 0)
        assert_message(ctx, ddsc_file_write(ctx, "/dev/full", "x", 1, 1), DDSC_ERROR_IO, "full",
                       "/dev/full|No space");
    /* through a symbolic link, which stays */
    const char *target = folder_text(&scratch_folder, "target.txt", "old");
    assert_int_equal(symlink(target, folder_file(&scratch_folder, "link.txt")), 0);
    assert_ok(ctx, ddsc_file_write(ctx, folder_file(&scratch_folder, "link.txt"), "new", 3, 1),
              "link");
    assert_int_equal(lstat(folder_file(&scratch_folder, "link.txt"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    size_t n;
    char *bytes = file_bytes(target, &n);
    assert_string_equal(bytes, "new");
    free(bytes);
    assert_no_leftovers();
    ddsc_context_destroy(ctx);
}

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *m = test_random_measures(ctx, 3, 3, 2, 1);
    assert_int_equal(
        ddsc_measures_write(ctx, m, folder_file(&scratch_folder, "x.what"), DDSC_FORMAT_AUTO, 0),
        DDSC_ERROR_ARGUMENT);
    assert_int_equal(
        ddsc_measures_write(ctx, m, folder_file(&scratch_folder, "x.fcs"), DDSC_FORMAT_FCS, 0),
        DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_measures_write(NULL, m, "x", DDSC_FORMAT_NPZ, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_measures_write(ctx, NULL, "x", DDSC_FORMAT_NPZ, 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_matrix_write(ctx, NULL, 1, 1, "x", 0), DDSC_ERROR_ARGUMENT);
    double one = 1;
    assert_int_equal(ddsc_matrix_write(ctx, &one, INT64_MAX, INT64_MAX, "x", 0),
                     DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status write_all_kinds(ddsc_context *ctx, void *arg)
{
    static const char *const names[] = {"f.npz", "f.csv.gz", "f.d2"};
    ddsc_status status = DDSC_OK;
    for (int k = 0; k < 3 && status >= 0; k++)
        status = ddsc_measures_write(ctx, arg, folder_file(&scratch_folder, names[k]),
                                     DDSC_FORMAT_AUTO, 1);
    return status;
}

static ddsc_status read_a_matrix(ddsc_context *ctx, void *path)
{
    double *matrix = NULL;
    int64_t n;
    ddsc_status status = ddsc_matrix_read(ctx, &matrix, &n, path);
    ddsc_release(ctx, matrix);
    return status;
}

static ddsc_status read_some_labels(ddsc_context *ctx, void *path)
{
    int32_t *label = NULL;
    int64_t n;
    ddsc_status status = ddsc_labels_read(ctx, &label, &n, path);
    ddsc_release(ctx, label);
    return status;
}

static ddsc_status write_the_rest(ddsc_context *ctx, void *graph)
{
    ddsc_status status = DDSC_OK;
    double matrix[4] = {0, 1, 1, 0};
    int32_t label[2] = {0, 1};
    TRY(ddsc_matrix_write(ctx, matrix, 2, 2, folder_file(&scratch_folder, "m.npy.gz"), 1));
    TRY(ddsc_labels_write(ctx, label, 2, NULL, folder_file(&scratch_folder, "l.csv"), 1));
    TRY(ddsc_file_write(ctx, folder_file(&scratch_folder, "f.txt"), "text", 4, 1));
    TRY(ddsc_graph_write(ctx, graph, folder_file(&scratch_folder, "g.mtx"), 1));
done:
    return status;
}

static void test_other_allocations(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double d[4] = {0, 1, 1, 0};
    ddsc_graph_settings set;
    ddsc_graph_settings_init(&set);
    ddsc_graph *g = NULL;
    char path[TEST_PATH];
    assert_ok(ctx, ddsc_graph_create_from_matrix(ctx, &g, 2, d, 0, &set), "graph");
    assert_true(test_failing_allocations(write_the_rest, g) > 8);
    assert_no_leftovers();
    strcpy(path, folder_file(&scratch_folder, "m.npy.gz"));
    assert_true(test_failing_allocations(read_a_matrix, path) > 3);
    strcpy(path, folder_file(&scratch_folder, "g.mtx"));
    assert_true(test_failing_allocations(read_a_matrix, path) > 3);
    strcpy(path, folder_file(&scratch_folder, "l.csv"));
    assert_true(test_failing_allocations(read_some_labels, path) > 3);
    strcpy(path, folder_text(&scratch_folder, "names.csv", "id,label\na,cat\nb,dog\n"));
    assert_true(test_failing_allocations(read_some_labels, path) > 3);
    ddsc_graph_destroy(g);
    ddsc_context_destroy(ctx);
}

static void test_allocations(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    const char *in = folder_text(&scratch_folder, "in.csv", "id,label,x\na,u,1\nb,v,2\n");
    assert_ok(ctx, ddsc_measures_read(ctx, &m, in, NULL), "in");
    assert_true(test_failing_allocations(write_all_kinds, m) > 10);
    assert_no_leftovers();
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Control characters, direction marks and invalid UTF-8 become escapes, and all other characters
 * are unchanged. Truncated texts end between characters, and nothing is read beyond the given
 * bytes. */
static void test_visible(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } known[] = {{"plain, \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n\tend", NULL},
                 {"\x1b[31mred\x07", "\\x1b[31mred\\x07"},
                 {"a\rb\x7f", "a\\x0db\\x7f"},
                 {"\xc2\x9b"
                  "1m\x9b",
                  "\\x9b1m\\x9b"},
                 {"\xe2\x80\xae"
                  "x\xe2\x81\xa6\xd8\x9c",
                  "\\u202ex\\u2066\\u061c"},
                 {"\xe2\x80", "\\xe2\\x80"},
                 {"\xc0\xaf", "\\xc0\\xaf"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const char *wanted = known[k].shown ? known[k].shown : known[k].text;
        size_t n = strlen(known[k].text);
        char out[100], *exact = malloc(n); /* without a final NUL */
        memcpy(exact, known[k].text, n);
        assert_int_equal(ddsc_text_visible(out, sizeof out, exact, n), strlen(wanted));
        assert_string_equal(out, wanted);
        for (size_t size = 1; size <= strlen(wanted); size++) {
            assert_int_equal(ddsc_text_visible(out, size, exact, n), strlen(wanted));
            assert_true(strlen(out) < size && strncmp(out, wanted, strlen(out)) == 0);
        }
        assert_int_equal(ddsc_text_visible(NULL, 0, exact, n), strlen(wanted));
        free(exact);
    }
    assert_int_equal(ddsc_text_visible(NULL, 0, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clouds),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_shared),      cmocka_unit_test(test_zip64),
        cmocka_unit_test(test_same_bytes),  cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_mtx),
        cmocka_unit_test(test_labels),      cmocka_unit_test(test_labels_out),
        cmocka_unit_test(test_graph),       cmocka_unit_test(test_overwrite),
        cmocka_unit_test(test_race),        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_places),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_allocations), cmocka_unit_test(test_other_allocations),
        cmocka_unit_test(test_visible),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
