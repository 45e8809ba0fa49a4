/* Names of coordinates, points and items are preserved by copies, files and joins. */
#include "folder_fixture.h"

static const char table[] = "id,title,point_name,CD3,\"a,b\"\n"
                            "p,\"First,  of\nall\",red,1,2\n"
                            "q,Second,blue,3,4\n"
                            "p,First,green,5,6\n"
                            "q,Second,red,1,2\n";

static ddsc_measures *read_table(ddsc_context *ctx)
{
    ddsc_measures *m = NULL;
    const char *path = folder_text(&scratch_folder, "named.csv", table);
    assert_ok(ctx, ddsc_measures_read(ctx, &m, path, NULL), "table");
    return m;
}

static void assert_text(const char *found, const char *wanted)
{
    assert_non_null(found);
    assert_string_equal(found, wanted);
}

static const char *point_of(const ddsc_measures *m, int64_t item, int64_t point)
{
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    return ddsc_measures_get_point_name(m, v.index[v.offset[item] + point]);
}

static void assert_named(const ddsc_measures *m)
{
    assert_text(ddsc_measures_get_coordinate_name(m, 0), "CD3");
    assert_text(ddsc_measures_get_coordinate_name(m, 1), "a,b");
    assert_text(ddsc_measures_get_title(m, 0), "First, of all");
    assert_text(ddsc_measures_get_title(m, 1), "Second");
    assert_text(point_of(m, 0, 0), "red");
    assert_text(point_of(m, 0, 1), "green");
    assert_text(point_of(m, 1, 0), "red"); /* one point of the table belongs to both items */
    assert_text(point_of(m, 1, 1), "blue");
}

static void test_reading(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = read_table(ctx);
    assert_named(m);
    assert_null(ddsc_measures_get_coordinate_name(m, 2));
    assert_null(ddsc_measures_get_coordinate_name(m, -1));
    assert_null(ddsc_measures_get_point_name(m, 3));
    assert_null(ddsc_measures_get_title(m, 2));
    assert_null(ddsc_measures_get_title(NULL, 0));
    assert_null(ddsc_measures_get_phrase(m, 0));
    assert_null(ddsc_measures_get_phrase(NULL, 0));
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* A point with several names has each of them once, in any order of the items. */
static void test_one_place(void **state)
{
    (void)state;
    static const char places[] = "id,point_name,x\n"
                                 "p,ship,1\np,vessel,1\np,,1\np,ship,1\np,car,2\n"
                                 "q,vessel,1\nq,a,3\nq,b,3\nq,c,3\nq,d,3\nq,e,3\nq,f,3\nq,g,3\n";
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL, *all = NULL;
    assert_ok(ctx,
              ddsc_measures_read(ctx, &m, folder_text(&scratch_folder, "places.csv", places), NULL),
              "places");
    assert_text(point_of(m, 0, 0), "ship + vessel");
    assert_text(point_of(m, 0, 1), "car");
    assert_text(point_of(m, 1, 0), "ship + vessel");
    assert_text(point_of(m, 1, 1), "a + b + c + d + e + f");
    assert_ok(ctx, ddsc_measures_copy_subset(ctx, &all, m, 1, (const int64_t[]){1}), "subset");
    assert_text(point_of(all, 0, 0), "ship + vessel");
    ddsc_measures_destroy(all);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_files(void **state)
{
    (void)state;
    static const char *const names[] = {"m.npz", "m.csv", "m.tsv.gz"};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = read_table(ctx), *back = NULL;
    for (int k = 0; k < 3; k++) {
        const char *path = folder_file(&scratch_folder, names[k]);
        assert_ok(ctx, ddsc_measures_write(ctx, m, path, DDSC_FORMAT_AUTO, 0), names[k]);
        assert_ok(ctx, ddsc_measures_read(ctx, &back, path, NULL), names[k]);
        assert_named(back);
        ddsc_measures_destroy(back);
    }
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_copies(void **state)
{
    (void)state;
    static const int64_t swapped[] = {1, 0};
    static const int32_t label[] = {0, 1};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = read_table(ctx), *copy = NULL;
    assert_ok(ctx, ddsc_measures_copy_subset(ctx, &copy, m, 2, swapped), "subset");
    assert_text(ddsc_measures_get_title(copy, 0), "Second");
    assert_text(ddsc_measures_get_coordinate_name(copy, 1), "a,b");
    assert_text(point_of(copy, 1, 1), "green");
    ddsc_measures_destroy(copy);
    assert_ok(ctx, ddsc_measures_copy_subset(ctx, &copy, m, 1, swapped), "one");
    assert_text(point_of(copy, 0, 1), "blue"); /* the row of "green" is gone */
    ddsc_measures_destroy(copy);
    assert_ok(ctx, ddsc_measures_copy_labeled(ctx, &copy, m, label), "labeled");
    assert_named(copy);
    ddsc_measures_destroy(copy);
    assert_ok(ctx, ddsc_measures_compress(ctx, &copy, NULL, m, 1), "compress");
    assert_text(ddsc_measures_get_coordinate_name(copy, 0), "CD3");
    assert_text(point_of(copy, 0, 0),
                "red + green"); /* merged points have the names of their parts */
    assert_text(point_of(copy, 1, 0), "red + blue");
    ddsc_measures_destroy(copy);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_describing(void **state)
{
    (void)state;
    static const char *const axes[] = {"x", "y"}, *const titles[] = {"one", ""};
    static const char *const bad[] = {"x", NULL};
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = read_table(ctx), *copy = NULL;
    assert_ok(ctx, ddsc_measures_copy_described(ctx, &copy, m, axes, NULL, titles), "described");
    assert_text(ddsc_measures_get_coordinate_name(copy, 1), "y");
    assert_text(ddsc_measures_get_title(copy, 1), "");
    assert_text(point_of(copy, 0, 1), "green");
    ddsc_measures_destroy(copy);
    assert_int_equal(ddsc_measures_copy_described(ctx, &copy, m, bad, NULL, NULL),
                     DDSC_ERROR_ARGUMENT);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

/* A set without names gives the same bytes as before names existed, without further members. */
static void test_without(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL, *back = NULL;
    const char *path = folder_file(&scratch_folder, "plain.npz");
    static char bytes[1 << 16];
    assert_ok(ctx, ddsc_measures_generate_shapes(ctx, &m, 2, 8), "shapes");
    assert_ok(ctx, ddsc_measures_write(ctx, m, path, DDSC_FORMAT_AUTO, 0), "write");
    FILE *file = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_null(memmem(bytes, n, "names.npy", 9));
    assert_null(memmem(bytes, n, "titles.npy", 10));
    assert_ok(ctx, ddsc_measures_read(ctx, &back, path, NULL), "read");
    assert_null(ddsc_measures_get_coordinate_name(back, 0));
    assert_null(ddsc_measures_get_title(back, 0));
    ddsc_measures_destroy(back);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_joining(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    char a[TEST_PATH], b[TEST_PATH];
    strcpy(a, folder_text(&scratch_folder, "a.csv", table));
    strcpy(b, folder_text(&scratch_folder, "b.csv", "id,CD3,\"a,b\"\nr,7,8\n"));
    const char *paths[] = {a, b};
    assert_ok(ctx, ddsc_measures_read_files(ctx, &m, 2, paths, NULL), "join");
    assert_named(m);
    assert_text(ddsc_measures_get_title(m, 2), "");
    assert_text(point_of(m, 2, 0), "");
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status all_at_once(ddsc_context *ctx, void *path)
{
    ddsc_status status = DDSC_OK;
    ddsc_measures *m = NULL, *copy = NULL;
    static const int64_t item = 1;
    TRY(ddsc_measures_read(ctx, &m, path, NULL));
    TRY(ddsc_measures_copy_subset(ctx, &copy, m, 1, &item));
    TRY(ddsc_measures_write(ctx, m, folder_file(&scratch_folder, "out.npz"), DDSC_FORMAT_AUTO,
                            DDSC_WRITE_OVERWRITE));
done:
    ddsc_measures_destroy(m);
    ddsc_measures_destroy(copy);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    char path[TEST_PATH];
    strcpy(path, folder_text(&scratch_folder, "named.csv", table));
    assert_true(test_failing_allocations(all_at_once, path) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_describing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_joining, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_allocations, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
