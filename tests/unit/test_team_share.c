/* Input of the first rank is available to all ranks: the same set, matrix and model on every rank
 * of any number of machines, stored once per machine. If reading fails, all ranks have the status
 * and the message. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/context.h"
#include "base/team.h"
#include "io_support.h"
#include "virtual_team.h"

enum { MOST = 16, N_DOCS = 6, N_ROWS = 1003 };

static test_folder scratch_folder;
static char docs_path[TEST_PATH], vectors_path[TEST_PATH], model_path[TEST_PATH],
    matrix_path[TEST_PATH];

typedef enum kind { SETS, MATRICES, MODELS, TABLES } kind;

/* One shared object, and what each rank received. */
typedef struct job {
    kind what;
    const char *path; /* NULL: a set of documents */
    bool fitted;
    bool apart, denied; /* a team without shared memory; one that cannot have any */
    int64_t limit;      /* memory of rank 1 */
    atomic_int n_read;
    ddsc_status status[MOST];
    char message[MOST][200];
    const double *place[MOST];
    uint64_t hash[MOST];
} job;

/* ---- sets with all optional contents: fitted words, or transforms ---- */

static ddsc_status make_documents(ddsc_context *ctx, ddsc_measures **out, bool fitted)
{
    static const char *const column[] = {"batch", "note"},
                             *values[2 * N_DOCS] = {"a", "first", "a", "", "a", "third",
                                                    "b", "",      "b", "", "b", "last"};
    static const char *const titles[N_DOCS] = {"One", "Two", "", "Four", "Five", "Six"};
    ddsc_measures *read = NULL, *about = NULL, *told = NULL;
    ddsc_text_settings text;
    ddsc_transform_settings set;
    ddsc_text_settings_init(&text);
    ddsc_transform_settings_init(&set);
    if (fitted) {
        set.per_item = 2;
    } else {
        text.words = DDSC_WORDS_GENERAL;
        set.batch = "batch";
        set.normalize = DDSC_NORMALIZE_STANDARD;
    }
    ddsc_status status = ddsc_text_read(ctx, &read, NULL, docs_path, vectors_path, &text);
    if (status >= 0)
        status = ddsc_measures_copy_about(ctx, &about, read, 2, column, values);
    if (status >= 0)
        status = ddsc_measures_copy_described(ctx, &told, about, NULL, NULL, titles);
    if (status >= 0)
        status = ddsc_measures_transform(ctx, out, told, &set);
    ddsc_measures_destroy(read);
    ddsc_measures_destroy(about);
    ddsc_measures_destroy(told);
    return status;
}

static ddsc_status make(void *user, ddsc_context *ctx, ddsc_measures **out)
{
    job *j = user;
    atomic_fetch_add(&j->n_read, 1);
    return j->path ? ddsc_measures_read(ctx, out, j->path, NULL)
                   : make_documents(ctx, out, j->fitted);
}

/* ---- on every rank ---- */

/* A file contains everything that the object contains. */
static void look(job *j, ddsc_context *ctx, int rank, const void *object)
{
    char path[TEST_PATH + 20];
    size_t n;
    snprintf(path, sizeof path, "%s/rank%d", scratch_folder.path, rank);
    if (j->what == SETS)
        j->status[rank] =
            ddsc_measures_write(ctx, object, path, DDSC_FORMAT_NPZ, DDSC_WRITE_OVERWRITE);
    if (j->what == MODELS)
        j->status[rank] = ddsc_model_write(ctx, object, path, DDSC_WRITE_OVERWRITE);
    char *bytes = file_bytes(path, &n);
    j->hash[rank] = hash_bytes(bytes, n, 0);
    free(bytes);
}

static void share_set(job *j, ddsc_context *ctx, int rank)
{
    ddsc_measures *m = NULL;
    j->status[rank] = ddsc_measures_share(ctx, &m, make, j);
    if (j->status[rank] >= 0) {
        ddsc_measures_view view;
        ddsc_measures_get_view(m, &view);
        j->place[rank] = view.support;
        if ((uintptr_t)view.support % 64 != 0 || (uintptr_t)view.weight % 64 != 0)
            j->status[rank] = DDSC_ERROR_INTERNAL;
        look(j, ctx, rank, m);
    }
    ddsc_measures_destroy(m);
}

static void share_matrix(job *j, ddsc_context *ctx, int rank)
{
    double *matrix = NULL;
    int64_t n = 0;
    j->status[rank] = ddsc_matrix_read_shared(ctx, &matrix, &n, j->path);
    if (j->status[rank] >= 0)
        j->hash[rank] = hash_bytes(matrix, (size_t)(n * n) * sizeof *matrix, (uint64_t)n);
    j->place[rank] = matrix;
    ddsc_release(ctx, matrix);
}

static void share_model(job *j, ddsc_context *ctx, int rank)
{
    ddsc_model *m = NULL;
    j->status[rank] = ddsc_model_read_shared(ctx, &m, j->path);
    if (j->status[rank] >= 0) {
        ddsc_model_view view;
        ddsc_measures_view items;
        ddsc_model_get_view(m, &view);
        ddsc_measures_get_view(view.measures, &items);
        j->place[rank] = items.support;
        look(j, ctx, rank, m);
    }
    ddsc_model_destroy(m);
}

/* ---- a table that all ranks fill together ---- */

static ddsc_status row_range(void *arg, int64_t begin, int64_t end, int worker)
{
    double *table = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        table[i] = 1 / (double)(i + 1);
    return DDSC_OK;
}

static void share_table(job *j, ddsc_context *ctx, int rank)
{
    double *table = NULL;
    int64_t bytes = N_ROWS * (int64_t)sizeof *table;
    j->status[rank] = team_table_new(ctx, &table, bytes);
    if (j->status[rank] >= 0) {
        j->status[rank] = team_fill(ctx, table, N_ROWS, 8, sizeof *table, row_range, table);
        j->place[rank] = table;
        j->hash[rank] = hash_bytes(table, (size_t)bytes, 0);
    }
    team_unshare(ctx, table);
}

static int deny(void *state, void **block, int64_t bytes, int *first)
{
    (void)state, (void)block, (void)bytes, (void)first;
    return 1;
}

static void rank_job(void *arg, const ddsc_team *team)
{
    job *j = arg;
    int rank = team ? team->rank : 0;
    ddsc_context *ctx = NULL;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 1;
    set.memory_limit = rank == 1 ? j->limit : 0;
    j->status[rank] = ddsc_context_create(&ctx, &set);
    if (team) {
        ddsc_team own = *team;
        if (j->apart) {
            own.share = NULL;
            own.ready = NULL;
            own.unshare = NULL;
        }
        if (j->denied)
            own.share = deny;
        j->status[rank] = ddsc_context_set_team(ctx, &own);
    }
    if (j->what == SETS)
        share_set(j, ctx, rank);
    if (j->what == MATRICES)
        share_matrix(j, ctx, rank);
    if (j->what == MODELS)
        share_model(j, ctx, rank);
    if (j->what == TABLES)
        share_table(j, ctx, rank);
    snprintf(j->message[rank], sizeof j->message[rank], "%s", ddsc_context_get_message(ctx));
    ddsc_context_destroy(ctx);
}

/* ---- the same for all ranks, stored once on each machine ---- */

static uint64_t alone(const job *like)
{
    job j = {.what = like->what, .path = like->path, .fitted = like->fitted};
    rank_job(&j, NULL);
    if (j.status[0] != DDSC_OK)
        fail_msg("%s", j.message[0]);
    return j.hash[0];
}

static void expect_on(const job *like, int size, int each)
{
    job j = {.what = like->what,
             .path = like->path,
             .fitted = like->fitted,
             .apart = like->apart,
             .denied = like->denied};
    uint64_t hash = alone(like);
    int own = j.apart || j.denied ? 1 : each ? each : size;
    virtual_team_machines(each);
    virtual_team_run(size, rank_job, &j, NULL);
    virtual_team_machines(0);
    assert_int_equal(j.n_read, j.what == SETS);
    for (int r = 0; r < size; r++) {
        if (j.status[r] != DDSC_OK || j.hash[r] != hash)
            fail_msg("rank %d of %d, %d to a machine: %s", r, size, each,
                     j.status[r] ? j.message[r] : "something else");
        if (r % own > 0)
            assert_ptr_equal(j.place[r], j.place[r - 1]);
    }
}

static void expect(const job *like)
{
    static const int sizes[][2] = {{2, 0}, {2, 1}, {3, 2}, {7, 2}, {7, 1}, {16, 5}, {5, 0}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        expect_on(like, sizes[k][0], sizes[k][1]);
    job other = {.what = like->what, .path = like->path, .fitted = like->fitted, .apart = true};
    expect_on(&other, 5, 2);
    other.apart = false;
    other.denied = true;
    expect_on(&other, 5, 2);
}

static void test_sets(void **state)
{
    (void)state;
    job j = {.what = SETS};
    expect(&j);
    j.fitted = true;
    expect(&j);
    j.path = model_path; /* a set with numbers only */
    expect(&j);
}

static void test_matrices(void **state)
{
    (void)state;
    job j = {.what = MATRICES, .path = matrix_path};
    expect(&j);
}

static void test_models(void **state)
{
    (void)state;
    job j = {.what = MODELS, .path = model_path};
    expect(&j);
}

static void test_tables(void **state)
{
    (void)state;
    job j = {.what = TABLES};
    expect(&j);
}

/* ---- failures ---- */

static void test_all_have_the_first_ranks_trouble(void **state)
{
    (void)state;
    for (kind what = SETS; what <= MODELS; what++) {
        job j = {.what = what, .path = "/nowhere/none.npz"};
        virtual_team_machines(2);
        virtual_team_run(5, rank_job, &j, NULL);
        virtual_team_machines(0);
        for (int r = 0; r < 5; r++) {
            assert_int_equal(j.status[r], j.status[0]);
            assert_true(j.status[r] < 0);
            assert_string_equal(j.message[r], j.message[0]);
            assert_non_null(strstr(j.message[r], "/nowhere/none.npz"));
        }
    }
}

/* Shared memory counts on each rank: a rank whose limit is too small ends, and the others end with
 * it. */
static void test_one_rank_out_of_memory(void **state)
{
    (void)state;
    for (kind what = SETS; what <= MODELS; what++) {
        job j = {.what = what, .limit = 1000};
        j.path = what == MATRICES ? matrix_path : what == MODELS ? model_path : NULL;
        virtual_team_run(3, rank_job, &j, NULL);
        assert_int_equal(j.status[1], DDSC_ERROR_MEMORY);
        assert_int_equal(j.status[0], DDSC_ERROR_INTERNAL);
        assert_int_equal(j.status[2], DDSC_ERROR_INTERNAL);
    }
}

static ddsc_status make_nothing(void *user, ddsc_context *ctx, ddsc_measures **out)
{
    (void)user, (void)ctx, (void)out;
    return DDSC_OK;
}

static void test_refuses(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    assert_message(ctx, ddsc_measures_share(ctx, &m, NULL, NULL), DDSC_ERROR_ARGUMENT, "none",
                   "read is NULL");
    assert_message(ctx, ddsc_measures_share(ctx, &m, make_nothing, NULL), DDSC_ERROR_ARGUMENT,
                   "nothing", "must return a new set");
    assert_null(m);
    ddsc_context_destroy(ctx);
}

/* ---- files ---- */

static void make_model(void)
{
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    ddsc_clustering *found = NULL;
    ddsc_model *model = NULL;
    ddsc_cluster_settings set;
    ddsc_metric_settings metric;
    double *matrix = NULL;
    enum { N = 30 };
    ddsc_cluster_settings_init(&set);
    ddsc_metric_settings_init(&metric);
    metric.metric = DDSC_METRIC_LOT; /* its model has a reference */
    set.metric = &metric;
    set.k_min = set.k_max = 3;
    assert_ok(ctx, ddsc_measures_generate_gaussians(ctx, &m, 3, N / 3, 6, 2, 5.0), "set");
    assert_ok(ctx, ddsc_cluster_run(ctx, &found, m, &set), "clustering");
    assert_ok(ctx, ddsc_model_create(ctx, &model, m, found, &set), "model");
    assert_ok(ctx, ddsc_model_write(ctx, model, model_path, 0), model_path);
    assert_int_equal(MEM_NEW(ctx, matrix, N * N), DDSC_OK);
    assert_ok(ctx, ddsc_distance_run(ctx, matrix, NULL, m, NULL, 0), "distances");
    assert_ok(ctx, ddsc_matrix_write(ctx, matrix, N, N, matrix_path, 0), matrix_path);
    mem_free(ctx, matrix);
    ddsc_model_destroy(model);
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static int set_up(void **state)
{
    (void)state;
    folder_make(&scratch_folder);
    strcpy(docs_path, folder_text(&scratch_folder, "docs.tsv",
                                  "id\tlabel\ttext\n"
                                  "d1\tx\tone one two\nd2\ty\ttwo three four\nd3\tx\tfive one\n"
                                  "d4\tx\tthree two\nd5\tz\tfour five six\nd6\tz\tsix five\n"));
    strcpy(vectors_path, folder_text(&scratch_folder, "vectors.txt",
                                     "one 1 0 2\ntwo 0 1 1\nthree 3 1 0\nfour 1 4 1\n"
                                     "five 5 9 2\nsix 2 6 5\n"));
    strcpy(model_path, folder_file(&scratch_folder, "model.npz"));
    strcpy(matrix_path, folder_file(&scratch_folder, "matrix.npy"));
    make_model();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&scratch_folder);
    return 0;
}

/* Sets of documents must contain all the data that could be lost. */
static void test_the_sets_are_rich(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int fitted = 0; fitted < 2; fitted++) {
        ddsc_measures *m = NULL;
        assert_ok(ctx, make_documents(ctx, &m, fitted), "documents");
        assert_true(fitted ? m->words.n > 0 : m->recipe.n > 1 && m->recipe.batches.n > 0);
        assert_true(m->id_text && m->name_text && m->label);
        assert_true(m->titles.n > 0 && m->meta.n > 0 && m->meta_names.n > 0);
        assert_true(!fitted || m->points.n > 0);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sets_are_rich),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_all_have_the_first_ranks_trouble),
        cmocka_unit_test(test_one_rank_out_of_memory),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
