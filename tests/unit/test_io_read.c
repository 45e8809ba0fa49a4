/* Readers of phases, tables, several files and images, and of real data if it is available.
 */
#include "folder_fixture.h"

#include <math.h>

static ddsc_measures *read_with(ddsc_context *ctx, const char *path, int phases, int phase)
{
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.phases = phases;
    set.phase = phase;
    ddsc_measures *m = NULL;
    assert_ok(ctx, ddsc_measures_read(ctx, &m, path, &set), path);
    return m;
}

static ddsc_measures_view view_of(const ddsc_measures *m)
{
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    return v;
}

/* ---- settings ---- */

static void test_settings(void **state)
{
    (void)state;
    ddsc_read_settings set;
    memset(&set, 0x5a, sizeof set);
    ddsc_read_settings_init(&set);
    assert_int_equal(set.struct_size, sizeof set);
    assert_int_equal(set.on_empty, DDSC_EMPTY_ERROR);
    assert_true(set.phase == 0 && set.phases == 0 && set.arcsinh == 0);
    assert_null(set.labels_path);
    assert_null(set.channels);
    assert_int_equal(set.max_bytes, (int64_t)64 << 30);
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    const char *path = folder_text(&scratch_folder, "a.csv", "id,x\na,1\n");
    assert_int_equal(ddsc_measures_read(NULL, &m, path, &set), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_measures_read(ctx, NULL, path, &set), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_measures_read(ctx, &m, NULL, &set), DDSC_ERROR_ARGUMENT);
    ddsc_read_settings wrong[5] = {set, set, set, set, set};
    wrong[0].struct_size = 0;
    wrong[1].phase = -1;
    wrong[2].arcsinh = NAN;
    wrong[3].max_bytes = 0;
    wrong[4].on_empty = 7;
    for (int k = 0; k < 5; k++)
        assert_int_equal(ddsc_measures_read(ctx, &m, path, &wrong[k]), DDSC_ERROR_ARGUMENT);
    set.max_bytes = 4;
    ddsc_status status = ddsc_measures_read(ctx, &m, path, &set);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "small limit", "limit of 4 bytes");
    ddsc_context_destroy(ctx);
}

/* ---- phases ---- */

static const char two_phases[] = "2\n2\n0.25 0.75\n0 0\n1 1\n1\n3\n0.5 0.25 0.25\n5\n6\n8\n"
                                 "2\n1\n1\n0.5 2\n1\n2\n2 2\n7\n9\n"
                                 "2\n3\n1 1 2\n3 3\n0 1\n1 0\n1\n1\n1\n4\n";

static void test_phases(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    const char *path = folder_text(&scratch_folder, "two.d2", two_phases);
    ddsc_measures *first = read_with(ctx, path, 0, 1), *second = read_with(ctx, path, 0, 2);
    ddsc_measures *joint = read_with(ctx, path, 0, 0);
    assert_int_equal(view_of(first).dim, 2);
    assert_int_equal(view_of(second).dim, 1);
    assert_int_equal(view_of(joint).dim, 3);
    assert_int_equal(view_of(joint).n_items, 3);
    assert_int_equal(view_of(joint).n_entries, 2 * 3 + 1 * 2 + 3 * 1);
    /* W2^2 of the joint is the sum of the phases' */
    double d[3][9];
    const ddsc_measures *set[3] = {first, second, joint};
    ddsc_metric_settings metric;
    ddsc_metric_settings_init(&metric);
    for (int k = 0; k < 3; k++)
        assert_ok(ctx, ddsc_distance_run(ctx, d[k], NULL, set[k], &metric, DDSC_DISTANCE_SQUARED),
                  "w2");
    for (int k = 0; k < 9; k++)
        assert_close(d[2][k], d[0][k] + d[1][k], 1e-12, 1e-12);
    ddsc_measures *m = NULL;
    ddsc_read_settings wrong;
    ddsc_read_settings_init(&wrong);
    wrong.phase = 3;
    assert_message(ctx, ddsc_measures_read(ctx, &m, path, &wrong), DDSC_ERROR_INPUT, "phase 3",
                   "two.d2|phase 3");
    wrong = (ddsc_read_settings){.struct_size = sizeof wrong, .phases = 4, .max_bytes = 1 << 20};
    assert_message(ctx, ddsc_measures_read(ctx, &m, path, &wrong), DDSC_ERROR_INPUT, "4 phases",
                   "6 distributions|4 phases");
    ddsc_measures_destroy(first);
    ddsc_measures_destroy(second);
    ddsc_measures_destroy(joint);
    ddsc_context_destroy(ctx);
}

/* Phases of one dimension: distinguished by blank lines, by position if they alternate, or by the
 * user. */
static void test_equal_phases(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    char text[4096] = "";
    size_t at = 0;
    for (int k = 0; k < 40; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "1 2 0.5 0.5 %d %d\n",
                               100 * (k % 2) + k % 7, 100 * (k % 2) + k % 5);
    const char *path = folder_text(&scratch_folder, "turns.d2", text);
    ddsc_measures *m = read_with(ctx, path, 0, 2);
    assert_int_equal(view_of(m).n_items, 20);
    assert_true(view_of(m).support[0] >= 100);
    ddsc_measures_destroy(m);
    m = read_with(ctx, path, 1, 0);
    assert_int_equal(view_of(m).n_items, 40);
    ddsc_measures_destroy(m);
    path = folder_text(&scratch_folder, "blank.d2", "1 1 1 5\n1 1 1 6\n\n1 1 1 7\n1 1 1 8\n\n");
    m = read_with(ctx, path, 0, 2);
    assert_int_equal(view_of(m).n_items, 2);
    assert_true(view_of(m).support[0] == 6);
    ddsc_measures_destroy(m);
    path = folder_text(&scratch_folder, "alike.d2", "1 1 1 5\n1 1 1 6\n1 1 1 7\n1 1 1 8\n");
    m = read_with(ctx, path, 0, 0);
    assert_int_equal(view_of(m).n_items, 4);
    ddsc_measures_destroy(m);
    m = read_with(ctx, path, 2, 1);
    assert_int_equal(view_of(m).n_items, 2);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Costs in a file next to the input: the squared distances between the computed points are these
 * costs. */
static void test_costs(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    double cost[9] = {0, 2, 3, 2, 0, 2, 3, 2, 0};
    double w[2][3] = {{0.5, 0.2, 0.3}, {0.6 / 1.1, 0.3 / 1.1, 0.2 / 1.1}};
    folder_text(&scratch_folder, "bins.d2.hist0", "3\n0 2 3\n2 0 2\n3 2 0\n");
    const char *path =
        folder_text(&scratch_folder, "bins.d2", "0 3 0.5 0.2 0.3\n\n0 3 0.6 0.3 0.2\n");
    ddsc_measures *m = read_with(ctx, path, 0, 0);
    ddsc_measures_view v = view_of(m);
    assert_int_equal(v.n_support, 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int64_t k = 0; k < v.dim; k++)
                sum += pow(v.support[i * v.dim + k] - v.support[j * v.dim + k], 2);
            assert_close(sum, cost[3 * i + j], 1e-12, 1e-12);
        }
    double d[4];
    ddsc_metric_settings metric;
    ddsc_metric_settings_init(&metric);
    ddsc_transport plan;
    assert_ok(ctx, ddsc_distance_run(ctx, d, NULL, m, &metric, DDSC_DISTANCE_SQUARED), "w2");
    assert_ok(ctx, call_emd(ctx, &plan, NULL, NULL, NULL, NULL, NULL, 3, 3, w[0], w[1], cost),
              "emd");
    assert_close(d[1], plan.primal, 1e-10, 1e-12);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* Id 0 stands for an empty document; tables of two phases. */
static void test_vocabularies(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    folder_text(&scratch_folder, "docs.d2s.vocab0", "2 3\n0 0\n1 0\n0 1\n");
    const char *path =
        folder_text(&scratch_folder, "docs.d2s", "0 2 1 3\n1 2\n0 1 1\n0\n0 1 1\n3\n");
    ddsc_measures *m = NULL;
    ddsc_status status = ddsc_measures_read(ctx, &m, path, NULL);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "empty", "item 1 is empty");
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.on_empty = DDSC_EMPTY_DROP;
    assert_ok(ctx, ddsc_measures_read(ctx, &m, path, &set), "drop");
    assert_int_equal(view_of(m).n_items, 2);
    assert_int_equal(view_of(m).n_rows, 3);
    assert_close(view_of(m).weight[1], 0.75, 1e-15, 0);
    ddsc_measures_destroy(m);
    folder_text(&scratch_folder, "both.d2s.vocab0", "2 2\n0 0\n1 0\n");
    folder_text(&scratch_folder, "both.d2s.hist1", "2\n0 4\n4 0\n");
    path = folder_text(&scratch_folder, "both.d2s", "0 1 1 2\n0 2 0.5 0.5\n0 1 1 1\n0 2 0.1 0.9\n");
    m = read_with(ctx, path, 0, 0);
    assert_int_equal(view_of(m).n_items, 2);
    assert_int_equal(view_of(m).dim, 3);
    assert_int_equal(view_of(m).n_entries, 4);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* ---- images ---- */

static void test_images(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0,
                                          0, 3, 0, 1, 0, 0, 0, 3, 9, 0, 0, 0, 0, 0};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    char labels[TEST_PATH];
    strcpy(labels, folder_text(&scratch_folder, "truth.csv", "id,label\n0,seven\n1,two\n"));
    set.labels_path = labels;
    ddsc_measures *m = NULL;
    const char *path = folder_put(&scratch_folder, "images", bytes, sizeof bytes);
    assert_ok(ctx, ddsc_measures_read(ctx, &m, path, &set), "images");
    ddsc_measures_view v = view_of(m);
    assert_int_equal(v.n_items, 2);
    assert_int_equal(v.n_entries, 3);
    assert_int_equal(v.dim, 2);
    const double *x = v.support + 2 * v.index[0];
    assert_true(x[0] == 0 && x[1] == 1);
    x = v.support + 2 * v.index[1];
    assert_true(x[0] == 1 && x[1] == 2);
    assert_close(v.weight[1], 0.75, 1e-15, 0);
    assert_string_equal(ddsc_measures_get_label_name(m, v.label[1]), "two");
    ddsc_measures_destroy(m);
    set.labels_path = folder_text(&scratch_folder, "few.csv", "id,label\n0,seven\n");
    ddsc_status status = ddsc_measures_read(ctx, &m, path, &set);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "labels", "few.csv|1 labels|2 items");
    ddsc_context_destroy(ctx);
}

/* ---- several files ---- */

static void test_join(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    char a[TEST_PATH], b[TEST_PATH], c[TEST_PATH];
    strcpy(a, folder_text(&scratch_folder, "a.csv",
                          "id,label,x,y\np,cat,0,0\np,cat,1,0\nq,dog,0,1\n"));
    strcpy(b, folder_text(&scratch_folder, "b.csv",
                          "id,label,weight,x,y\nr,dog,3,1,0\nr,dog,1,5,5\ns,owl,1,0,0\n"));
    strcpy(c, folder_text(&scratch_folder, "c.d2", "2 1 1 0 1\n\n2 1 1 7 7\n"));
    const char *paths[3] = {a, b, c};
    ddsc_measures *m = NULL;
    assert_ok(ctx, ddsc_measures_read_files(ctx, &m, 3, paths, NULL), "join");
    ddsc_measures_view v = view_of(m);
    assert_int_equal(v.n_items, 6);
    assert_int_equal(v.n_entries, 8);
    assert_int_equal(v.n_support, 5);
    static const int32_t label[6] = {0, 1, 1, 2, -1, -1};
    static const char *const ids[6] = {"p", "q", "r", "s", "c:0", "c:1"};
    assert_memory_equal(v.label, label, sizeof label);
    for (int64_t i = 0; i < 6; i++)
        assert_string_equal(ddsc_measures_get_id(m, i), ids[i]);
    assert_string_equal(ddsc_measures_get_label_name(m, 2), "owl");
    assert_close(v.weight[0], 0.5, 0, 0);
    assert_close(v.weight[v.offset[2]], 0.75, 1e-15, 0);
    ddsc_measures_destroy(m);
    paths[2] = folder_text(&scratch_folder, "d.csv", "id,x,z\nu,1,1\n");
    assert_message(ctx, ddsc_measures_read_files(ctx, &m, 3, paths, NULL), DDSC_ERROR_INPUT, "axes",
                   "d.csv|\"z\"|\"y\"");
    paths[2] = folder_text(&scratch_folder, "e.d2", "3 1 1 0 1 2\n");
    assert_message(ctx, ddsc_measures_read_files(ctx, &m, 3, paths, NULL), DDSC_ERROR_INPUT, "dim",
                   "e.d2|3 coordinates");
    paths[2] = folder_text(&scratch_folder, "f.csv", "id,label,x,y\nu,5,1,1\n");
    assert_message(ctx, ddsc_measures_read_files(ctx, &m, 3, paths, NULL), DDSC_ERROR_INPUT,
                   "labels", "f.csv|numbers");
    paths[2] = folder_file(&scratch_folder, "none");
    assert_message(ctx, ddsc_measures_read_files(ctx, &m, 3, paths, NULL), DDSC_ERROR_INPUT, "none",
                   "none|No such file");
    assert_int_equal(ddsc_measures_read_files(ctx, &m, 0, paths, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

static ddsc_status read_joined(ddsc_context *ctx, void *paths)
{
    ddsc_measures *m = NULL;
    ddsc_status status = ddsc_measures_read_files(ctx, &m, 3, (const char *const *)paths, NULL);
    ddsc_measures_destroy(m);
    return status;
}

static void test_join_allocations(void **state)
{
    (void)state;
    char a[TEST_PATH], b[TEST_PATH], c[TEST_PATH];
    strcpy(a, folder_text(&scratch_folder, "a.csv", "id,label,x,y\np,cat,0,0\nq,dog,0,1\n"));
    strcpy(b, folder_text(&scratch_folder, "b.csv", "id,label,weight,x,y\nr,owl,3,1,0\n"));
    folder_text(&scratch_folder, "w.d2s.vocab0", "2 2\n0 0\n1 0\n");
    strcpy(c, folder_text(&scratch_folder, "w.d2s", "0 2 1 3 1 2\n"));
    const char *paths[3] = {a, b, c};
    assert_true(test_failing_allocations(read_joined, paths) > 20);
}

/* ---- real data ---- */

static const char *data_file(const char *name)
{
    static char path[TEST_PATH + 128];
    const char *dir = test_data_dir();
    if (!dir)
        skip();
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (access(path, R_OK) != 0)
        skip();
    return path;
}

static void test_mnist(void **state)
{
    (void)state;
    data_file("mnist/t10k-images-idx3-ubyte.gz"); /* skips before anything is allocated */
    ddsc_context *ctx = test_context(1, 0);
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    char labels[TEST_PATH + 128];
    strcpy(labels, data_file("mnist/t10k-labels-idx1-ubyte.gz"));
    set.labels_path = labels;
    ddsc_measures *m = NULL;
    assert_ok(ctx, ddsc_measures_read(ctx, &m, data_file("mnist/t10k-images-idx3-ubyte.gz"), &set),
              "mnist");
    static const int64_t expected[10] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    int64_t count[10] = {0};
    ddsc_measures_view v = view_of(m);
    assert_int_equal(v.n_items, 10000);
    assert_true(v.is_grid);
    for (int64_t i = 0; i < v.n_items; i++)
        count[v.label[i]]++;
    assert_memory_equal(count, expected, sizeof count);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_mountain(void **state)
{
    (void)state;
    data_file("d2/mountaindat.d2"); /* skips before anything is allocated */
    ddsc_context *ctx = test_context(1, 0);
    const char *path = data_file("d2/mountaindat.d2");
    for (int phase = 0; phase < 3; phase++) {
        ddsc_measures *m = read_with(ctx, path, 0, phase);
        assert_int_equal(view_of(m).n_items, 2000);
        assert_int_equal(view_of(m).dim, phase ? 3 : 6);
        ddsc_measures_destroy(m);
    }
    ddsc_measures *m = read_with(ctx, data_file("d2/simple.d2"), 0, 0);
    assert_int_equal(view_of(m).n_items, 5);
    assert_int_equal(view_of(m).n_support, 3);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_cytometry(void **state)
{
    (void)state;
    data_file("cytometry/PBMC8_30min_patient1_BCR-XL.fcs"); /* skips before anything is allocated */
    ddsc_context *ctx = test_context(1, 0);
    char a[TEST_PATH + 128], b[TEST_PATH + 128];
    strcpy(a, data_file("cytometry/PBMC8_30min_patient1_BCR-XL.fcs"));
    strcpy(b, data_file("cytometry/PBMC8_30min_patient1_Reference.fcs"));
    const char *paths[2] = {a, b};
    ddsc_measures *m = NULL;
    assert_ok(ctx, ddsc_measures_read_files(ctx, &m, 2, paths, NULL), "fcs");
    ddsc_measures_view v = view_of(m);
    assert_int_equal(v.n_items, 2);
    assert_int_equal(v.dim, 35);
    assert_int_equal(v.offset[1], 2838);
    assert_int_equal(v.n_entries, 2838 + 2739);
    assert_string_equal(ddsc_measures_get_id(m, 1), "PBMC8_30min_patient1_Reference");
    ddsc_measures_destroy(m);
    ddsc_read_settings set;
    ddsc_read_settings_init(&set);
    set.channels = "CD3,CD45,CD4";
    set.arcsinh = 5;
    assert_ok(ctx, ddsc_measures_read_files(ctx, &m, 2, paths, &set), "channels");
    v = view_of(m);
    assert_int_equal(v.dim, 3);
    for (int64_t k = 0; k < v.n_support * 3; k++)
        assert_true(v.support[k] > -3 && v.support[k] < 12);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),     cmocka_unit_test(test_phases),
        cmocka_unit_test(test_equal_phases), cmocka_unit_test(test_costs),
        cmocka_unit_test(test_vocabularies), cmocka_unit_test(test_images),
        cmocka_unit_test(test_join),         cmocka_unit_test(test_join_allocations),
        cmocka_unit_test(test_mnist),        cmocka_unit_test(test_mountain),
        cmocka_unit_test(test_cytometry),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
