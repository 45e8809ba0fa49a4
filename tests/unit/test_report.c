/* Reports: malicious ids, unknown formats, callers that cancel, complete or absent folders. */
#include <jansson.h>
#include <locale.h>
#include <sys/stat.h>

#include "io_support.h"

enum { N = 12 };

/* Bytes that could escape from a page, a script, a JSON string or a csv line. */
static const char *const ids[N] = {"</script><script>alert(1)</script>",
                                   "<b>&amp;\"'",
                                   "a,b",
                                   "say \"so\"",
                                   "\x01\x1f\x7f",
                                   "\xf0\x9f\x99\x82",
                                   "caf\xc3\xa9",
                                   "]]>",
                                   "<!--",
                                   "-->",
                                   "'><img src=x onerror=alert(2)>",
                                   "\\u003c"};

typedef struct fixture {
    ddsc_context *ctx;
    ddsc_measures *items;
    ddsc_clustering *found;
    ddsc_cluster_settings set;
    int32_t truth[N];
    ddsc_report_source from;
    ddsc_report_origin origin;
    ddsc_report *report;
} fixture;

typedef struct bytes {
    char *at;
    size_t n, scratch;
} bytes;

static int take(void *user, const void *more, size_t n)
{
    bytes *b = user;
    b->at = realloc(b->at, b->n + n + 1);
    assert_non_null(b->at);
    memcpy(b->at + b->n, more, n);
    b->n += n;
    b->at[b->n] = '\0';
    return 0;
}

static int take_nothing(void *user, const void *more, size_t n)
{
    (void)user;
    (void)more;
    (void)n;
    return 1;
}

static bytes written(ddsc_context *ctx, const ddsc_report *report, ddsc_report_form form)
{
    bytes b = {0};
    assert_ok(ctx, ddsc_report_write(ctx, report, form, take, &b), "form");
    assert_non_null(b.at);
    return b;
}

static int set_up(void **state)
{
    static fixture f;
    ddsc_measures *bare = NULL;
    f = (fixture){.ctx = test_context(1, 0)};
    assert_ok(f.ctx, ddsc_measures_generate_gaussians(f.ctx, &bare, 2, N / 2, 5, 2, 8), "items");
    assert_ok(f.ctx, ddsc_measures_copy_named(f.ctx, &f.items, bare, ids), "ids");
    ddsc_measures_destroy(bare);
    for (int i = 0; i < N; i++)
        f.truth[i] = i >= N / 2;
    ddsc_cluster_settings_init(&f.set);
    f.set.k_min = 1;
    f.set.k_max = 3;
    assert_ok(f.ctx, ddsc_cluster_run(f.ctx, &f.found, f.items, &f.set), "clustering");
    ddsc_report_source_init(&f.from);
    f.from.clustering = f.found;
    f.from.measures = f.items;
    f.from.settings = &f.set;
    f.from.truth = f.truth;
    f.from.map = 1;
    ddsc_report_origin_init(&f.origin);
    f.origin.command = "ddsc '</pre><script>'";
    f.from.origin = &f.origin;
    assert_ok(f.ctx, ddsc_report_create(f.ctx, &f.report, &f.from), "report");
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    ddsc_report_destroy(f->report);
    ddsc_clustering_destroy(f->found);
    ddsc_measures_destroy(f->items);
    ddsc_context_destroy(f->ctx);
    return 0;
}

static int count(const char *in, const char *what)
{
    int n = 0;
    for (const char *at = strstr(in, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

/* ---- escaping ---- */

static void test_page_escapes(void **state)
{
    fixture *f = *state;
    bytes page = written(f->ctx, f->report, DDSC_REPORT_HTML);
    assert_int_equal(strlen(page.at), page.n);
    assert_int_equal(count(page.at, "<script"), 2); /* the data and the page's own */
    assert_int_equal(count(page.at, "</script"), 2);
    assert_int_equal(count(page.at, "<img"), 0);
    assert_int_equal(count(page.at, "<b>&amp;\""), 0);
    assert_int_equal(count(page.at, "</pre>"), 1);
    for (size_t i = 0; i < page.n; i++)
        assert_true((unsigned char)page.at[i] >= 0x20 || page.at[i] == '\n');
    char *data = strstr(page.at, "id=\"data\">");
    assert_non_null(data);
    data += strlen("id=\"data\">");
    *strstr(data, "</script>") = '\0';
    assert_null(strpbrk(data, "<>&"));
    json_t *parsed = json_loads(data, 0, NULL);
    const json_t *named = json_object_get(parsed, "ids");
    assert_int_equal(json_array_size(named), N);
    assert_string_equal(json_string_value(json_array_get(named, 0)), ids[0]);
    json_decref(parsed);
    free(page.at);
}

static void test_json(void **state)
{
    fixture *f = *state;
    bytes plain = written(f->ctx, f->report, DDSC_REPORT_JSON);
    bytes labeled = written(f->ctx, f->report, DDSC_REPORT_JSON_LABELS);
    json_t *a = json_loads(plain.at, JSON_REJECT_DUPLICATES, NULL);
    json_t *b = json_loads(labeled.at, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_integer_value(json_object_get(a, "k")), 2);
    assert_true(json_number_value(json_object_get(json_object_get(a, "scores"), "ari")) == 1);
    assert_int_equal(json_array_size(json_object_get(a, "clusters")), 2);
    assert_null(json_object_get(a, "labels"));
    assert_int_equal(json_array_size(json_object_get(b, "labels")), N);
    json_object_del(b, "labels");
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
    free(plain.at);
    free(labeled.at);
}

static void test_csv(void **state)
{
    fixture *f = *state;
    bytes sweep = written(f->ctx, f->report, DDSC_REPORT_SWEEP);
    assert_non_null(strstr(sweep.at, "\n\"a,b\","));
    assert_non_null(strstr(sweep.at, "\n\"say \"\"so\"\"\","));
    assert_int_equal(count(sweep.at, "\n"), N + 1);
    free(sweep.at);
}

/* Ids need not be text at all. */
static void test_odd_bytes(void **state)
{
    fixture *f = *state;
    const char *odd[N];
    ddsc_report_source from = f->from;
    ddsc_measures *items = NULL;
    ddsc_report *report = NULL;
    for (int i = 0; i < N; i++)
        odd[i] = "\xff\xfe<\xc3";
    assert_ok(f->ctx, ddsc_measures_copy_named(f->ctx, &items, f->items, odd), "ids");
    from.measures = items;
    ddsc_report_origin origin = f->origin;
    origin.truth_name = "\xe9t\xe9";
    from.origin = &origin;
    assert_ok(f->ctx, ddsc_report_create(f->ctx, &report, &from), "report");
    bytes json = written(f->ctx, report, DDSC_REPORT_JSON);
    json_t *tree = json_loads(json.at, 0, NULL);
    const json_t *truth = json_object_get(json_object_get(tree, "scores"), "truth");
    assert_string_equal(json_string_value(truth), "?t?");
    bytes page = written(f->ctx, report, DDSC_REPORT_HTML);
    assert_int_equal(count(page.at, "<\xc3"), 0);
    json_decref(tree);
    free(json.at);
    free(page.at);
    ddsc_report_destroy(report);
    ddsc_measures_destroy(items);
}

/* Numbers have a decimal point in every locale. A locale without a decimal comma is not
 * informative. */
static void test_locale(void **state)
{
    fixture *f = *state;
    bytes before = written(f->ctx, f->report, DDSC_REPORT_HTML);
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        print_message("no locale with a decimal comma here\n");
    bytes after = written(f->ctx, f->report, DDSC_REPORT_HTML);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(before.at, after.at);
    free(before.at);
    free(after.at);
}

/* The report prints the verdict that ddsc_verdict_run gives, sentence by sentence. */
static void test_verdict_parts(void **state)
{
    fixture *f = *state;
    ddsc_report_view v;
    ddsc_verdict_view own, told;
    ddsc_verdict *verdict = NULL;
    ddsc_report_get_view(f->report, &v);
    assert_ok(f->ctx, ddsc_verdict_run(f->ctx, &verdict, f->found, f->items, NULL), "verdict");
    ddsc_verdict_get_view(verdict, &own);
    ddsc_verdict_get_view(v.verdict, &told);
    assert_string_equal(own.headline, told.headline);
    assert_true(own.judged && own.k == v.k && own.structure == told.structure);
    bytes json = written(f->ctx, f->report, DDSC_REPORT_JSON);
    bytes text = written(f->ctx, f->report, DDSC_REPORT_TEXT);
    json_t *tree = json_loads(json.at, 0, NULL);
    const json_t *said = json_object_get(tree, "verdict");
    assert_string_equal(json_string_value(json_object_get(said, "structure")),
                        ddsc_structure_get_words(own.structure)->name);
    const char *sentences = json_string_value(json_object_get(said, "text"));
    assert_ptr_equal(strstr(sentences, own.headline), sentences);
    assert_int_equal(strncmp(text.at, v.headline, strlen(v.headline)), 0);
    assert_non_null(strstr(v.headline, "items in 2 clusters"));
    json_decref(tree);
    free(json.at);
    free(text.at);
    ddsc_verdict_destroy(verdict);
    assert_ok(f->ctx, ddsc_verdict_run(f->ctx, &verdict, NULL, NULL, NULL), "nothing to judge");
    ddsc_verdict_get_view(verdict, &own);
    assert_true(!own.judged && own.structure == DDSC_STRUCTURE_UNDECIDED && *own.headline);
    ddsc_verdict_destroy(verdict);
    assert_null(ddsc_structure_get_words((ddsc_structure)99));
}

/* ---- rejected calls ---- */

static void refuse(fixture *f, const char *word)
{
    ddsc_report *out = f->report;
    assert_int_equal(ddsc_report_create(f->ctx, &out, &f->from), DDSC_ERROR_ARGUMENT);
    assert_null(out);
    assert_non_null(strstr(ddsc_context_get_message(f->ctx), word));
}

static void test_sources(void **state)
{
    fixture *f = *state;
    ddsc_report_source good = f->from;
    ddsc_report_setting nameless = {NULL, DDSC_SETTING_NUMBER, NULL, 1};
    ddsc_report_origin origin;
    ddsc_report_origin_init(&origin);
    origin.settings = &nameless;
    origin.n_settings = 1;
    f->from.origin = &origin;
    refuse(f, "setting 0");
    f->from = good;
    f->from.labels = f->truth;
    refuse(f, "exactly one of");
    f->from.clustering = NULL;
    ddsc_cluster_settings one = f->set;
    one.k_min = one.k_max = 1;
    f->from.settings = &one;
    refuse(f, "label");
    f->from.measures = NULL;
    refuse(f, "measures");
    f->from = good;
}

static void test_forms(void **state)
{
    fixture *f = *state;
    assert_int_equal(ddsc_report_write(f->ctx, f->report, DDSC_REPORT_STABILITY, take, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_report_write(f->ctx, f->report, (ddsc_report_form)99, take, NULL),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_report_write(f->ctx, f->report, DDSC_REPORT_JSON, take_nothing, NULL),
                     DDSC_ERROR_IO);
    assert_int_equal(ddsc_report_write(f->ctx, NULL, DDSC_REPORT_JSON, take, NULL),
                     DDSC_ERROR_ARGUMENT);
}

/* A report may be written with a different context from the one that created it. */
static void test_other_context(void **state)
{
    fixture *f = *state;
    ddsc_context *other = test_context(2, 7);
    bytes a = written(f->ctx, f->report, DDSC_REPORT_HTML);
    bytes b = written(other, f->report, DDSC_REPORT_HTML);
    assert_string_equal(a.at, b.at);
    free(a.at);
    free(b.at);
    ddsc_context_destroy(other);
}

/* ---- folders ---- */

static void test_folder_again(void **state)
{
    fixture *f = *state;
    test_folder scratch_folder;
    folder_make(&scratch_folder);
    const char *folder = folder_file(&scratch_folder, "result");
    ddsc_report *again = NULL;
    assert_ok(f->ctx, ddsc_report_save(f->ctx, f->report, folder, 0), "saved");
    assert_ok(f->ctx, ddsc_report_read(f->ctx, &again, folder), "read");
    bytes a = written(f->ctx, f->report, DDSC_REPORT_HTML);
    bytes b = written(f->ctx, again, DDSC_REPORT_HTML);
    assert_string_equal(a.at, b.at);
    assert_int_equal(ddsc_report_save(f->ctx, again, folder, DDSC_WRITE_OVERWRITE),
                     DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_report_write(f->ctx, again, DDSC_REPORT_TEXT, take, &a),
                     DDSC_ERROR_ARGUMENT);
    ddsc_report_destroy(again);
    free(a.at);
    free(b.at);
    folder_remove(&scratch_folder);
}

/* One existing file: no other file is written, and it is unchanged. */
static void test_folder_whole(void **state)
{
    fixture *f = *state;
    test_folder scratch_folder;
    struct stat info;
    int n_hidden;
    folder_make(&scratch_folder);
    folder_text(&scratch_folder, "graph.mtx", "mine");
    assert_int_equal(ddsc_report_save(f->ctx, f->report, scratch_folder.path, 0),
                     DDSC_ERROR_EXISTS);
    assert_int_equal(folder_count(&scratch_folder, &n_hidden), 1);
    assert_int_equal(stat(folder_file(&scratch_folder, "graph.mtx"), &info), 0);
    assert_int_equal(info.st_size, 4);
    folder_text(&scratch_folder, "stability.csv", "of an earlier result");
    assert_ok(f->ctx,
              ddsc_report_save(f->ctx, f->report, scratch_folder.path, DDSC_WRITE_OVERWRITE),
              "all");
    assert_int_not_equal(stat(folder_file(&scratch_folder, "stability.csv"), &info), 0);
    assert_int_equal(stat(folder_file(&scratch_folder, "result.json"), &info), 0);
    assert_int_equal(
        ddsc_report_save(f->ctx, f->report, folder_file(&scratch_folder, "no/where"), 0),
        DDSC_ERROR_IO);
    folder_remove(&scratch_folder);
}

/* result.json is untrusted, like any file. */
static void test_bad_folders(void **state)
{
    static const char *const trees[] = {"",
                                        "[]",
                                        "{",
                                        "{\"n\": 12}",
                                        "{\"n\": 12, \"k\": 13}",
                                        "{\"n\": -1, \"k\": 1}",
                                        "{\"n\": \"12\", \"k\": 2}",
                                        "{\"n\": 11, \"k\": 2}",
                                        "{\"n\": 12, \"k\": 1}"};
    static const char odd[] =
        "{\"n\": 12, \"k\": 2, \"input\": 3, \"eigenvalues\": {}, \"sizes\": [], \"sweep\": [1, 2],"
        " \"clusters\": [{\"representatives\": [{\"row\": 99}, {\"row\": -5}, 7], \"borderline\": "
        "4}],"
        " \"scores\": {\"confusion\": {\"classes\": [1, 2], \"counts\": [[1], 3]}},"
        " \"neighbors\": {\"counts\": [\"x\"]}, \"settings\": 5, \"advice\": null}";
    fixture *f = *state;
    test_folder scratch_folder;
    ddsc_report *again = NULL;
    folder_make(&scratch_folder);
    assert_ok(f->ctx, ddsc_report_save(f->ctx, f->report, scratch_folder.path, 0), "saved");
    for (size_t k = 0; k < sizeof trees / sizeof *trees; k++) {
        folder_text(&scratch_folder, "result.json", trees[k]);
        assert_int_equal(ddsc_report_read(f->ctx, &again, scratch_folder.path), DDSC_ERROR_INPUT);
        assert_null(again);
        assert_non_null(strstr(ddsc_context_get_message(f->ctx), scratch_folder.path));
    }
    folder_text(&scratch_folder, "result.json", odd);
    assert_ok(f->ctx, ddsc_report_read(f->ctx, &again, scratch_folder.path), "odd");
    bytes page = written(f->ctx, again, DDSC_REPORT_HTML);
    free(page.at);
    ddsc_report_destroy(again);
    folder_remove(&scratch_folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_escapes),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_csv),           cmocka_unit_test(test_locale),
        cmocka_unit_test(test_odd_bytes),     cmocka_unit_test(test_verdict_parts),
        cmocka_unit_test(test_sources),       cmocka_unit_test(test_forms),
        cmocka_unit_test(test_other_context), cmocka_unit_test(test_folder_again),
        cmocka_unit_test(test_folder_whole),  cmocka_unit_test(test_bad_folders),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
