/* The text layer from inside: tokens, lemmas, vectors, the public call and its guarantees. */
#include "folder_fixture.h"

#include <math.h>

#include "text/text.h"

/* ---- vectors ---- */

/* Reads these bytes for the words a, b, c. Returns the status, and the vectors on success. */
static ddsc_status read_vectors(ddsc_context *ctx, word_vectors *v, const char *bytes, size_t n)
{
    ddsc_status status = DDSC_OK;
    text_table words = {0};
    io_stream *s = NULL;
    int64_t number;
    bool is_new;
    for (const char *w = "abc"; *w; w++)
        TRY(text_table_add(ctx, &words, w, 1, &number, &is_new));
    TRY(stream_open_memory(ctx, &s, "vectors", bytes, n, 1 << 20));
    TRY(words_read_vectors(ctx, v, s, &words));
done:
    stream_close(s);
    text_table_free(ctx, &words);
    return status;
}

static void test_vectors(void **state)
{
    (void)state;
    static const char *const files[] = {"x 9 9\nc 1 2\na 3 -4e-1\nc 7 7\n",
                                        "4 2\nx 9 9 \nc 1 2 \na 3 -.4 \nc 7 7 ",
                                        "  4 2 \n\nx\t9\t9\nc  1  2\n  a 3 -0.40\nc 7 7\n\n",
                                        "\xef\xbb\xbfx 9 9\r\nc 1 2\r\na +3 -4E-1\r\nc 7 7\r\n"};
    ddsc_context *ctx = test_context(1, 0);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        word_vectors v = {0};
        assert_ok(ctx, read_vectors(ctx, &v, files[k], strlen(files[k])), files[k]);
        assert_true(v.dim == 2 && v.n == 2 && v.n_lines == 4 && v.n_duplicates == 1);
        assert_true(v.row[0] == 1 && v.row[1] == -1 && v.row[2] == 0);
        assert_true(v.point[0] == 1 && v.point[1] == 2 && v.point[2] == 3 && v.point[3] == -0.4);
        words_free_vectors(ctx, &v);
    }
    ddsc_context_destroy(ctx);
}

/* Every truncated file gives vectors or a message. */
static void test_cut_vectors(void **state)
{
    (void)state;
    static const char file[] = "3 2\na 1 2\nb 3 4\nx y 5 6\n";
    ddsc_context *ctx = test_context(1, 0);
    for (size_t n = 0; n < sizeof file; n++) {
        char *exact = malloc(n + !n);
        memcpy(exact, file, n);
        word_vectors v = {0};
        ddsc_status status = read_vectors(ctx, &v, exact, n);
        assert_true(status == DDSC_OK || status == DDSC_ERROR_INPUT);
        assert_true(status == DDSC_OK || *ddsc_context_get_message(ctx));
        ctx_enter(ctx);
        words_free_vectors(ctx, &v);
        free(exact);
    }
    ddsc_context_destroy(ctx);
}

/* ---- lemmas ---- */

static void test_lemmas(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"cats", "cat"},
                                           {"classes", "class"},
                                           {"boxes", "box"},
                                           {"waltzes", "waltz"},
                                           {"arches", "arch"},
                                           {"dishes", "dish"},
                                           {"seamen", "seaman"},
                                           {"ponies", "pony"},
                                           {"geese", "goose"},
                                           {"mice", "mouse"},
                                           {"class", "class"},
                                           {"is", "is"},
                                           {"unknowns", "unknowns"},
                                           {"s", "s"},
                                           {"", ""},
                                           {"ies", "ies"}};
    ddsc_context *ctx = test_context(1, 0);
    lemma_table l = {0};
    size_t n;
    folder_text(&scratch_folder, "noun.exc",
                "geese goose\nmice mouse louse\nmice other\nbroken\n\n");
    folder_text(&scratch_folder, "index.noun",
                "  licence\ncat n 1\nclass n 1\nclas n 1\nbox n 1\nwaltz n 1\narch n 1\ndish n 1\n"
                "seaman n 1\npony n 1\ni n 1\n");
    assert_ok(ctx, lemmas_read(ctx, &l, scratch_folder.path, 1 << 20), "lemmas");
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const char *found = lemmas_find(&l, pairs[k][0], strlen(pairs[k][0]), &n);
        assert_int_equal(n, strlen(pairs[k][1]));
        assert_memory_equal(found, pairs[k][1], n);
    }
    char endless[1000];
    memset(endless, 's', sizeof endless);
    assert_ptr_equal(lemmas_find(&l, endless, sizeof endless, &n), endless);
    lemmas_free(ctx, &l);
    folder_text(&scratch_folder, "index.noun", "  licence only\n");
    assert_message(ctx, lemmas_read(ctx, &l, scratch_folder.path, 1 << 20), DDSC_ERROR_INPUT,
                   "no nouns", "index.noun|contains no nouns");
    lemmas_free(ctx, &l);
    ddsc_context_destroy(ctx);
}

/* ---- the public call ---- */

typedef struct files {
    const char *docs, *vectors;
    ddsc_text_settings set;
} files;

static char docs_path[TEST_PATH], vectors_path[TEST_PATH], stop_path[TEST_PATH];

static files make_files(const char *docs, const char *vectors)
{
    files f = {.docs = docs_path, .vectors = vectors_path};
    strcpy(docs_path, folder_text(&scratch_folder, "docs.tsv", docs));
    strcpy(vectors_path, folder_text(&scratch_folder, "vectors.txt", vectors));
    strcpy(stop_path, folder_text(&scratch_folder, "stop.txt", "the The\n a\n"));
    ddsc_text_settings_init(&f.set);
    f.set.words = DDSC_WORDS_GENERAL;
    return f;
}

static ddsc_status read_text(ddsc_context *ctx, ddsc_measures **m, ddsc_text_report *r,
                             const files *f)
{
    if (r)
        ddsc_text_report_init(r);
    return ddsc_text_read(ctx, m, r, f->docs, f->vectors, &f->set);
}

static const char small_docs[] = "id\tlabel\tkeep\ttext\n"
                                 "d1\tx\ty\tThe one one two\n"
                                 "d2\ty\ty\ttwo three four ones\n"
                                 "d3\tx\tn\tignored\n"
                                 "d4\tx\ty\tnothing here\n"
                                 "d5\tz\ty\tfour five six\n";
static const char small_vectors[] = "one 1 0 0\ntwo 0 1 0\nthree 0 0 1\nfour 1 1 1\nfive 2 2 0\n"
                                    "the 9 9 9\none 8 8 8\n";

static files small_files(void)
{
    files f = make_files(small_docs, small_vectors);
    folder_text(&scratch_folder, "noun.exc", "geese goose\n");
    folder_text(&scratch_folder, "index.noun", "one n 1\nfive n 1\n");
    f.set.where = "keep=y";
    f.set.stopwords_path = stop_path;
    f.set.lemmas_path = scratch_folder.path;
    f.set.on_empty = DDSC_EMPTY_DROP;
    f.set.support = 2;
    return f;
}

static void test_settings(void **state)
{
    (void)state;
    ddsc_text_settings set, again;
    memset(&set, 0xa5, sizeof set);
    memset(&again, 0x5a, sizeof again);
    ddsc_text_settings_init(&set);
    ddsc_text_settings_init(&again);
    ddsc_text_settings_init_sized(NULL, 8);
    assert_memory_equal(&set, &again, sizeof set);
    assert_true(set.struct_size == sizeof set && set.support == DDSC_TEXT_SUPPORT_AUTO);
    files f = make_files(small_docs, small_vectors);
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    files wrong[11] = {f, f, f, f, f, f, f, f, f, f, f};
    wrong[0].set.struct_size = 0;
    wrong[1].set.struct_size++;
    wrong[2].set.tokens = 3;
    wrong[3].set.idf = 9;
    wrong[4].set.support = -2;
    wrong[5].set.where = "keep";
    wrong[6].set.max_bytes = 0;
    wrong[7].docs = wrong[7].vectors = "-";
    wrong[8].set.words = 3;
    wrong[9].set.words = DDSC_WORDS_OWN;
    wrong[10].vectors = NULL;
    for (int k = 0; k < 11; k++) {
        assert_int_equal(read_text(ctx, &m, NULL, &wrong[k]), DDSC_ERROR_ARGUMENT);
        assert_true(*ddsc_context_get_message(ctx) && !m);
    }
    assert_int_equal(ddsc_text_read(NULL, &m, NULL, f.docs, f.vectors, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_text_read(ctx, NULL, NULL, f.docs, f.vectors, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_text_read(ctx, &m, NULL, NULL, f.vectors, NULL), DDSC_ERROR_ARGUMENT);
    f.set.max_bytes = 10;
    assert_message(ctx, read_text(ctx, &m, NULL, &f), DDSC_ERROR_INPUT, "small limit",
                   "vectors.txt|limit of 10 bytes");
    ddsc_context_destroy(ctx);
}

static double weight_of(const ddsc_measures *m, int64_t item, double x, double y, double z)
{
    ddsc_measures_view v;
    ddsc_measures_get_view(m, &v);
    const double point[3] = {x, y, z};
    for (int64_t p = v.offset[item]; p < v.offset[item + 1]; p++)
        if (memcmp(v.support + v.index[p] * v.dim, point, sizeof point) == 0)
            return v.weight[p];
    return 0;
}

/* By hand: N = 4 documents pass; "ones" is one, so df(one) = df(two) = df(four) = 2: log2(4/2) = 1;
 * three and five are in one document each: log2(4/1) = 2. */
static void test_small(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    ddsc_text_report r;
    ddsc_measures_view v;
    files f = small_files();
    f.set.support = 0;
    assert_ok(ctx, read_text(ctx, &m, &r, &f), "small");
    ddsc_measures_get_view(m, &v);
    assert_true(v.n_rows == 4 && v.n_items == 3 && v.dim == 3 && v.row[2] == 3);
    assert_close(weight_of(m, 0, 1, 0, 0), 2.0 / 3, 1e-15, 0);
    assert_close(weight_of(m, 0, 0, 1, 0), 1.0 / 3, 1e-15, 0);
    assert_close(weight_of(m, 1, 0, 1, 0), 1.0 / 5, 1e-15, 0);
    assert_close(weight_of(m, 1, 0, 0, 1), 2.0 / 5, 1e-15, 0);
    assert_close(weight_of(m, 1, 1, 1, 1), 1.0 / 5, 1e-15, 0);
    assert_close(weight_of(m, 1, 1, 0, 0), 1.0 / 5, 1e-15, 0);
    assert_close(weight_of(m, 2, 2, 2, 0), 2.0 / 3, 1e-15, 0);
    assert_string_equal(ddsc_measures_get_id(m, 3), "d5");
    assert_string_equal(ddsc_measures_get_label_name(m, v.label[3]), "z");
    assert_true(r.n_rows == 5 && r.n_documents == 4 && r.n_empty == 1);
    assert_true(r.empty_row[0] == 2 && r.empty_line[0] == 5);
    assert_true(r.n_tokens == 12 && r.n_tokens_covered == 9);
    assert_true(r.n_words == 8 && r.n_words_covered == 5);
    assert_true(r.n_vectors == 7 && r.n_duplicate_vectors == 1 && r.n_points_after == 0);
    assert_string_equal(r.text_columns, "text");
    assert_string_equal(r.label_column, "label");
    assert_string_equal(r.id_columns, "id");
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static ddsc_status call_small(ddsc_context *ctx, void *arg)
{
    ddsc_measures *m = NULL;
    ddsc_text_report r;
    ddsc_status status = read_text(ctx, &m, &r, arg);
    if (status < 0)
        assert_null(m);
    ddsc_measures_destroy(m);
    return status;
}

/* Writes the documents with their words to a file. */
static void keep_words(const char *path, const files *f)
{
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    assert_ok(ctx, read_text(ctx, &m, NULL, f), "words to keep");
    assert_ok(ctx, ddsc_measures_write(ctx, m, path, DDSC_FORMAT_NPZ, 0), path);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_allocations(void **state)
{
    (void)state;
    files f = small_files();
    assert_true(test_failing_allocations(call_small, &f) > 20);
    f.set.words = DDSC_WORDS_FITTED;
    assert_true(test_failing_allocations(call_small, &f) > 60);
    f.set.words = DDSC_WORDS_OWN;
    f.vectors = NULL;
    assert_true(test_failing_allocations(call_small, &f) > 50);
    char kept[TEST_PATH];
    keep_words(strcpy(kept, folder_file(&scratch_folder, "kept.npz")), &f);
    f.set.words = DDSC_WORDS_FITTED;
    f.vectors = kept;
    assert_true(test_failing_allocations(call_small, &f) > 60);
}

static int stop_at_once(void *user)
{
    (void)user;
    return 1;
}

static void test_cancel(void **state)
{
    (void)state;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.cancel = stop_at_once;
    ddsc_context *ctx = NULL;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    files f = small_files();
    assert_int_equal(call_small(ctx, &f), DDSC_ERROR_CANCELED);
    ddsc_context_destroy(ctx);
}

/* ---- larger ---- */

enum { N_DOCUMENTS = 60, N_KNOWN = 300, DIM = 10 };

/* Creates random documents over the words w0 .. w399, of which the first 300 have vectors. `extra`
 * vectors belong to no document. */
static files random_files(uint64_t seed, int64_t extra)
{
    rng r = rng_make(seed, RNG_GAUSSIANS, 5);
    char *docs = malloc(1 << 16), *vectors = malloc((size_t)(N_KNOWN + extra) * 16 * DIM);
    char *at = docs + sprintf(docs, "text\n");
    for (int i = 0; i < N_DOCUMENTS; i++) {
        for (int64_t n = 20 + rng_below(&r, 60); n > 0; n--)
            at += sprintf(at, "w%lld ", (long long)rng_below(&r, 400));
        at += sprintf(at, "\n");
    }
    at = vectors;
    for (int64_t i = 0; i < N_KNOWN + extra; i++) {
        at += sprintf(at, i < N_KNOWN ? "w%lld" : "extra%lld", (long long)i);
        for (int k = 0; k < DIM; k++)
            at += sprintf(at, " %.6f", rng_normal(&r));
        at += sprintf(at, "\n");
    }
    files f = make_files(docs, vectors);
    free(docs);
    free(vectors);
    return f;
}

/* The same bytes with one thread and with three. */
static void check_threads(const files *f)
{
    ddsc_measures_view v[2];
    ddsc_measures *m[2] = {NULL, NULL};
    ddsc_context *ctx[2];
    ddsc_text_report r[2];
    for (int k = 0; k < 2; k++) {
        ctx[k] = test_context(1 + 2 * k, 0);
        assert_ok(ctx[k], read_text(ctx[k], &m[k], &r[k], f), "threads");
        ddsc_measures_get_view(m[k], &v[k]);
    }
    assert_int_equal(v[0].n_entries, v[1].n_entries);
    assert_int_equal(v[0].n_support, v[1].n_support);
    assert_memory_equal(v[0].weight, v[1].weight, (size_t)v[0].n_entries * sizeof(double));
    assert_memory_equal(v[0].support, v[1].support,
                        (size_t)(v[0].n_support * v[0].dim) * sizeof(double));
    assert_true(measures_words_equal(&m[0]->words, &m[1]->words));
    assert_true((m[0]->words.n > 0) == (f->set.words != DDSC_WORDS_GENERAL));
    assert_true(r[0].mean_w2 == r[1].mean_w2 && r[0].mean_w2 > 0);
    for (int64_t i = 0; i < v[0].n_items; i++)
        assert_true(v[0].offset[i + 1] - v[0].offset[i] <= 32);
    for (int k = 0; k < 2; k++) {
        ddsc_measures_destroy(m[k]);
        ddsc_context_destroy(ctx[k]);
    }
}

static void test_threads(void **state)
{
    (void)state;
    files f = random_files(3, 0);
    check_threads(&f);
    f.set.words = DDSC_WORDS_FITTED;
    check_threads(&f);
    f.vectors = NULL;
    check_threads(&f);
}

/* Vectors of words that occur in no document take no memory. */
static void test_memory(void **state)
{
    (void)state;
    int64_t peak[2];
    for (int k = 0; k < 2; k++) {
        files f = random_files(4, k ? 20000 : 0);
        f.set.support = 0;
        ddsc_context *ctx = test_context(1, 0);
        assert_int_equal(call_small(ctx, &f), DDSC_OK);
        peak[k] = ddsc_context_get_peak_memory(ctx);
        ddsc_context_destroy(ctx);
    }
    assert_true(peak[1] < peak[0] + 4096);
}

/* Permuting the rows permutes the items and changes nothing else. */
static void test_row_order(void **state)
{
    (void)state;
    static const char *const docs[2] = {"text\nb c a\nc d\na a d\n", "text\na a d\nb c a\nc d\n"};
    static const int64_t place[3] = {1, 2, 0};
    ddsc_measures *m[2] = {NULL, NULL};
    ddsc_measures_view v[2];
    ddsc_context *ctx = test_context(1, 0);
    for (int k = 0; k < 2; k++) {
        files f = make_files(docs[k], "a 1 5 2\nb 4 4 1\nc 0 7 3\nd 2 2 2\n");
        assert_ok(ctx, read_text(ctx, &m[k], NULL, &f), docs[k]);
        ddsc_measures_get_view(m[k], &v[k]);
    }
    for (int64_t i = 0; i < 3; i++)
        for (int64_t p = v[0].offset[i]; p < v[0].offset[i + 1]; p++) {
            const double *x = v[0].support + v[0].index[p] * 3;
            assert_close(weight_of(m[1], place[i], x[0], x[1], x[2]), v[0].weight[p], 1e-14, 0);
        }
    ddsc_measures_destroy(m[0]);
    ddsc_measures_destroy(m[1]);
    ddsc_context_destroy(ctx);
}

/* Rare pairs are removed when the table is full, and frequent ones keep nearly all their documents. */
static void test_pairs_are_bounded(void **state)
{
    (void)state;
    enum { DOCUMENTS = 3000, PAIRS = 400 };
    word_pairs p = {0};
    ddsc_context *ctx = test_context(1, 0);
    for (int32_t i = 0; i < DOCUMENTS; i++) {
        for (int32_t k = 0; k < PAIRS; k++)
            assert_ok(ctx, phrases_count_pair(ctx, &p, 10 + i * PAIRS + k, 5, i), "a rare pair");
        for (int k = 0; k < 2; k++) /* twice in the document: counted once */
            assert_ok(ctx, phrases_count_pair(ctx, &p, 1, 2, i), "a frequent pair");
    }
    int32_t found = 0;
    for (int64_t k = 0; k < p.n_slots; k++)
        if (p.slot[k].key == ((uint64_t)2 << 32 | 2))
            found = p.slot[k].n;
    assert_in_range(found, DOCUMENTS * 9 / 10, DOCUMENTS);
    assert_true(p.n_slots <= 1 << 20 && 2 * p.n <= p.n_slots);
    phrases_free_pairs(ctx, &p);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_cut_vectors),
                                       cmocka_unit_test(test_lemmas),
                                       cmocka_unit_test(test_settings),
                                       cmocka_unit_test(test_small),
                                       cmocka_unit_test(test_allocations),
                                       cmocka_unit_test(test_cancel),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_row_order),
                                       cmocka_unit_test(test_pairs_are_bounded)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
