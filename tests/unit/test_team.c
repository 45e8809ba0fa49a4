/* A team of ranks gives the same graph as one process, bit for bit, and the same number of solves,
 * for any number of ranks, including more ranks than items. If a rank is lost, the others end. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/team.h"
#include "numeric/graph/graph.h"
#include "support.h"
#include "virtual_team.h"

/* ---- the function table and its users ---- */

static void parts_cover(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    for (int size = 1; size < 70; size += 3)
        for (int64_t n = 0; n < 400; n += 7) {
            ctx->team.size = size;
            int64_t at = 0;
            for (int r = 0; r < size; r++) {
                team_part part = team_part_of(ctx, n, 16, r);
                assert_int_equal(part.begin, at);
                at = part.end;
                for (int64_t i = part.begin; i < part.end; i++)
                    assert_int_equal(team_owner(ctx, n, 16, i), r);
            }
            assert_int_equal(at, n);
        }
    ddsc_context_destroy(ctx);
}

static void refuses(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_team team;
    ddsc_team_init(&team);
    assert_int_equal(team.size, 1);
    assert_int_equal(ddsc_context_set_team(ctx, &team), DDSC_OK);
    team.size = 2;
    assert_int_equal(ddsc_context_set_team(ctx, &team), DDSC_ERROR_ARGUMENT);
    team.rank = 2;
    assert_int_equal(ddsc_context_set_team(ctx, &team), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_context_set_team(ctx, NULL), DDSC_OK);
    assert_int_equal(ddsc_context_set_team(NULL, NULL), DDSC_ERROR_ARGUMENT);
    ddsc_context_destroy(ctx);
}

/* ---- progress ---- */

typedef struct told {
    int64_t done, total; /* the last report of a stage */
    bool beyond, back;
} told;

static void listen_to(void *user, const char *stage, int64_t done, int64_t total)
{
    told *t = user;
    (void)stage;
    t->beyond |= total > 0 && done > total;
    t->back |= done < t->done && done > 0;
    t->done = done;
    t->total = total;
}

static ddsc_status count_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    ddsc_context *ctx = arg;
    (void)worker;
    progress_add(ctx, end - begin);
    ctx->last_report = 0; /* report all of it */
    return DDSC_OK;
}

/* Parts of unequal length, and loops whose rows take longer than predicted. */
static void progress_ends_at_the_total(void **state)
{
    (void)state;
    told t = {0};
    ddsc_context *ctx = NULL;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 1;
    set.progress = listen_to;
    set.progress_user = &t;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    for (int size = 1; size < 9; size++)
        for (int rank = 0; rank < size; rank++) {
            const int64_t n = 1000, grain = 16;
            ctx->team.size = size;
            ctx->team.rank = rank;
            team_part own = team_own(ctx, n, grain);
            t = (told){0};
            progress_begin(ctx, "rows", n);
            assert_int_equal(team_for(ctx, n, grain, count_rows, ctx), DDSC_OK);
            int64_t pieces = (own.end - own.begin + grain - 1) / grain;
            int64_t done = atomic_load(&ctx->done);
            assert_true(done <= n && n - done <= pieces); /* rounded down, part by part */
            assert_int_equal(team_rows(ctx, (team_part){0, 3 * n}, grain, count_rows, ctx),
                             DDSC_OK);
            assert_int_equal(progress_poll(ctx), DDSC_OK);
            progress_end(ctx);
            assert_false(t.beyond || t.back);
            assert_int_equal(t.done, n);
        }
    ctx->team = (ddsc_team){0};
    ddsc_context_destroy(ctx);
}

/* ---- the same graph ---- */

typedef struct job {
    ddsc_metric metric;
    ddsc_graph_settings graph;
    ddsc_metric_settings set;
    const char *data; /* a file, or a kind of clouds */
    int64_t n;
    int threads;
    bool matrix; /* all distances instead */
    uint64_t hash[64];
    int64_t n_solved[64];
    ddsc_status status[64];
    char message[200];
    int fails; /* this rank leaves at once, -1: none */
} job;

enum { SHARED_ROWS = 300, SHARED_POINTS = 8, SHARED_DIM = 12 };

/* Items with few points from one table, so that solves create cuts. */
static ddsc_status make_table(ddsc_context *ctx, ddsc_measures **out, int64_t n, int dim)
{
    static double support[SHARED_ROWS * SHARED_DIM], weight[1000 * SHARED_POINTS];
    static int64_t offset[1001];
    static int32_t index[1000 * SHARED_POINTS];
    rng r = rng_make(5, RNG_SUBSET, 0);
    ddsc_shared_items items;
    ddsc_shared_items_init(&items);
    for (int k = 0; k < dim * SHARED_ROWS; k++)
        support[k] = rng_normal(&r);
    for (int64_t i = 0; i <= n; i++)
        offset[i] = i * SHARED_POINTS;
    for (int64_t e = 0; e < n * SHARED_POINTS; e++) {
        index[e] = (int32_t)rng_below(&r, SHARED_ROWS);
        weight[e] = 0.1 + rng_uniform(&r);
    }
    items.n_items = n;
    items.n_support = SHARED_ROWS;
    items.dim = dim;
    items.support = support;
    items.offsets = offset;
    items.indices = index;
    items.weights = weight;
    return ddsc_measures_create_shared(ctx, out, &items, DDSC_EMPTY_ERROR);
}

static ddsc_status make_data(const job *j, ddsc_context *ctx, ddsc_measures **out)
{
    if (strcmp(j->data, "gaussians") == 0)
        return ddsc_measures_generate_gaussians(ctx, out, 3, j->n / 3, 12, 3, 2.0);
    if (strcmp(j->data, "wide") == 0)
        return ddsc_measures_generate_gaussians(ctx, out, 3, j->n / 3, 8, 20, 2.0);
    if (strcmp(j->data, "shared") == 0 || strcmp(j->data, "documents") == 0) {
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&lock); /* arrays of make_table */
        ddsc_status made = make_table(ctx, out, j->n, j->data[0] == 's' ? 2 : SHARED_DIM);
        pthread_mutex_unlock(&lock);
        return made;
    }
    ddsc_measures *all = NULL;
    int64_t rows[4000];
    ddsc_status status = ddsc_measures_read(ctx, &all, j->data, NULL);
    for (int64_t i = 0; i < j->n; i++)
        rows[i] = i;
    if (status >= 0)
        status = ddsc_measures_copy_subset(ctx, out, all, j->n, rows);
    ddsc_measures_destroy(all);
    return status;
}

static ddsc_status run_job(job *j, ddsc_context *ctx, const ddsc_measures *m, uint64_t *hash,
                           int64_t *n_solved)
{
    ddsc_graph *graph = NULL;
    ddsc_pair_stats stats;
    ddsc_graph_view v;
    ddsc_pair_stats_init(&stats);
    if (j->matrix) {
        int64_t n = j->n;
        double *out = NULL;
        assert_int_equal(MEM_NEW(ctx, out, n * n), DDSC_OK);
        ddsc_status status = ddsc_distance_run(ctx, out, &stats, m, &j->set, 0);
        *hash = hash_bytes(out, (size_t)(n * n) * sizeof *out, 0);
        *n_solved = stats.n_solved;
        mem_free(ctx, out);
        return status;
    }
    ddsc_status status = ddsc_neighbors_run(ctx, &graph, &stats, m, &j->set, &j->graph);
    if (status >= 0) {
        ddsc_graph_get_view(graph, &v);
        *hash = hash_bytes(v.offset, (size_t)(v.n + 1) * sizeof *v.offset, 0);
        *hash = hash_bytes(v.index, (size_t)v.n_edges * sizeof *v.index, *hash);
        *hash = hash_bytes(v.d2, (size_t)v.n_edges * sizeof *v.d2, *hash);
        *n_solved = stats.n_solved;
    }
    ddsc_graph_destroy(graph);
    return status;
}

static void rank_job(void *arg, const ddsc_team *team)
{
    job *j = arg;
    ddsc_context *ctx;
    ddsc_measures *m = NULL;
    ddsc_context_settings set;
    int r = team ? team->rank : 0;
    if (r == j->fails)
        return;
    ddsc_context_settings_init(&set);
    set.threads = j->threads;
    j->status[r] = ddsc_context_create(&ctx, &set);
    if (j->status[r] >= 0)
        j->status[r] = make_data(j, ctx, &m);
    if (j->status[r] >= 0)
        j->status[r] = ddsc_context_set_team(ctx, team);
    if (j->status[r] >= 0)
        j->status[r] = run_job(j, ctx, m, &j->hash[r], &j->n_solved[r]);
    if (j->status[r] < 0)
        snprintf(j->message, sizeof j->message, "%s", ddsc_context_get_message(ctx));
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_RANKS = 5, SHORTER = 2 }; /* every rank is a thread with its own context */
#else
enum { MOST_RANKS = 64, SHORTER = 1 };
#endif

/* Runs the test for one number of ranks, or (0) for several. */
static void assert_same_on(job j, int size)
{
    const int some[] = {2, (int)BASE_MAX(5, test_size(MOST_RANKS)), 3, 7},
              *sizes = size ? &size : some;
    int n_sizes = size ? 1 : (int)test_size(4);
    j.fails = -1;
    j.threads = 1;
    rank_job(&j, NULL);
    if (j.status[0] < 0)
        fail_msg("%s", j.message);
    uint64_t hash = j.hash[0];
    int64_t n_solved = j.n_solved[0];
    for (int k = 0; k < n_sizes; k++) {
        j.threads = 1 + (sizes[k] <= 3);
        memset(j.hash, 0, sizeof j.hash);
        virtual_team_run(sizes[k], rank_job, &j, NULL);
        for (int r = 0; r < sizes[k]; r++) {
            if (j.status[r] < 0)
                fail_msg("%d ranks: %s", sizes[k], j.message);
            if (j.hash[r] != hash || j.n_solved[r] != n_solved)
                fail_msg("metric %d, %s, %d items: rank %d of %d has another graph, or %lld solves "
                         "for %lld",
                         (int)j.metric, j.data, (int)j.n, r, sizes[k], (long long)j.n_solved[r],
                         (long long)n_solved);
        }
    }
}

static void assert_same(job j)
{
    assert_same_on(j, 0);
}

static job job_of(ddsc_metric metric, const char *data, int64_t n)
{
    job j = {.metric = metric, .data = data, .n = n > 9 ? n / SHORTER / 3 * 3 : n};
    ddsc_graph_settings_init(&j.graph);
    ddsc_metric_settings_init(&j.set);
    j.set.metric = metric;
    return j;
}

static void graphs_of_clouds(void **state)
{
    static const ddsc_metric metrics[] = {DDSC_METRIC_W2, DDSC_METRIC_SINKHORN, DDSC_METRIC_MMD,
                                          DDSC_METRIC_LOT};
    (void)state;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        assert_same(job_of(metrics[k], "gaussians", 210));
        assert_same_on(job_of(metrics[k], "wide", 150), 3);
        assert_same_on(job_of(metrics[k], "shared", 300), 4);
        assert_same(job_of(metrics[k], "gaussians", 9)); /* fewer than ranks */
        job j = job_of(metrics[k], "gaussians", 90);
        j.matrix = true;
        assert_same_on(j, 3);
        j = job_of(metrics[k], "gaussians", 210);
        j.graph.neighbors = DDSC_NEIGHBORS_APPROXIMATE;
        assert_same_on(j, 3);
        j = job_of(metrics[k], "gaussians", 120);
        j.graph.hubs = DDSC_HUBS_ALWAYS;
        assert_same_on(j, 3);
        j = job_of(metrics[k], "gaussians", 120);
        j.graph.sample_columns = 0.3;
        assert_same_on(j, 3);
        j = job_of(metrics[k], "gaussians", 120);
        j.graph.sample = 0.5;
        assert_same_on(j, 3);
    }
}

/* First bounds come from a table of least costs, and the second search starts from known values. */
static void graphs_of_documents(void **state)
{
    static const ddsc_metric metrics[] = {DDSC_METRIC_W2, DDSC_METRIC_W1, DDSC_METRIC_SINKHORN};
    (void)state;
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        job j = job_of(metrics[k], "documents", 240);
        assert_same_on(j, 4);
        j.graph.hubs = DDSC_HUBS_ALWAYS;
        assert_same_on(j, 3);
    }
}

static void pruned_sinkhorn(void **state)
{
    (void)state;
    job j = job_of(DDSC_METRIC_SINKHORN, "gaussians", 210);
    j.graph.exact_graph = DDSC_GRAPH_PRUNED;
    assert_same(j);
    j = job_of(DDSC_METRIC_MMD, "gaussians", 210);
    j.graph.exact_graph = DDSC_GRAPH_FULL;
    assert_same(j);
}

/* Digits on grids, for which Sinkhorn has minorants and MMD has rows. */
static void graphs_of_real_data(void **state)
{
    (void)state;
    char digits[400];
    const char *folder = test_data_dir();
    if (!folder)
        skip();
    snprintf(digits, sizeof digits, "%s/mnist/t10k-images-idx3-ubyte.gz", folder);
    assert_same_on(job_of(DDSC_METRIC_W2, digits, 400), 4);
    assert_same_on(job_of(DDSC_METRIC_SINKHORN, digits, 200), 4);
    assert_same_on(job_of(DDSC_METRIC_MMD, digits, 2100), 3);
    assert_same_on(job_of(DDSC_METRIC_LOT, digits, 2100), 3);
    job j = job_of(DDSC_METRIC_LOT, digits, 600);
    j.graph.neighbors = DDSC_NEIGHBORS_APPROXIMATE;
    assert_same_on(j, 7);
    assert_same_on(j, MOST_RANKS);
}

/* ---- the affinity, distributed by rows ---- */

enum { LIST_ITEMS = 700, LIST_LENGTH = 5 };

/* Creates short neighbor lists. Every fiftieth item has no neighbors and is a neighbor of no item.
 * */
static ddsc_graph *lists_make(ddsc_context *ctx)
{
    ddsc_graph *g = NULL;
    assert_int_equal(graph_create(ctx, &g, LIST_ITEMS, LIST_LENGTH), DDSC_OK);
    for (int64_t i = 0; i < g->n; i++) {
        int64_t at = g->offset[i], count = i % 50 == 0 ? 0 : 1 + i % LIST_LENGTH;
        for (int64_t k = 0; k < count; k++) {
            int64_t other = (i + 1 + 97 * (k + i % 3)) % g->n;
            g->index[at + k] = (int32_t)(other % 50 == 0 ? other + 1 : other);
            g->d2[at + k] = 1 + 0.1 * (double)k + 0.01 * (double)(i % 13);
        }
        g->offset[i + 1] = at + count;
    }
    return g;
}

typedef struct built {
    sparse a, m;
    affinity_report report;
    double degree[LIST_ITEMS];
} built;

static void build_rows(ddsc_context *ctx, built *b, bool divided)
{
    ddsc_graph *g = lists_make(ctx);
    affinity_settings how = {.rule = DDSC_GAMMA_AUTO, .divided = divided};
    assert_int_equal(affinity_build(ctx, &b->a, &b->report, g, &how), DDSC_OK);
    assert_int_equal(operator_build(ctx, &b->m, b->degree, &b->a), DDSC_OK);
    ddsc_graph_destroy(g);
}

static void free_rows(ddsc_context *ctx, built *b)
{
    sparse_free(ctx, &b->a);
    sparse_free(ctx, &b->m);
}

/* A failed assert_ in another thread than the first would end only that thread, so ranks only
 * record what they found. */
typedef struct rows_seen {
    built *whole;
    bool divided[8], same[8];
} rows_seen;

static bool same_rows(const sparse *a, const sparse *b, team_part rows)
{
    int64_t from = a->offset[rows.begin], count = a->offset[rows.end] - from;
    return a->nnz == b->nnz && memcmp(a->offset, b->offset, (size_t)(a->n + 1) * 8) == 0 &&
           memcmp(a->column + from, b->column + from, (size_t)count * 4) == 0 &&
           memcmp(a->value + from, b->value + from, (size_t)count * 8) == 0;
}

static void rank_rows(void *arg, const ddsc_team *team)
{
    rows_seen *s = arg;
    built b;
    ddsc_context *ctx = test_context(1, 0);
    ddsc_context_set_team(ctx, team);
    build_rows(ctx, &b, true);
    team_part own = sparse_rows(ctx, &b.a), all = {0, LIST_ITEMS};
    s->divided[team->rank] = b.a.divided && own.end - own.begin < LIST_ITEMS;
    bool same = same_rows(&s->whole->a, &b.a, own) && same_rows(&s->whole->m, &b.m, own) &&
                memcmp(s->whole->degree, b.degree, sizeof b.degree) == 0 &&
                b.report.n_faint == s->whole->report.n_faint;
    same = same && sparse_gather(ctx, &b.a) == DDSC_OK && sparse_gather(ctx, &b.m) == DDSC_OK;
    s->same[team->rank] =
        same && same_rows(&s->whole->a, &b.a, all) && same_rows(&s->whole->m, &b.m, all);
    free_rows(ctx, &b);
    ddsc_context_destroy(ctx);
}

static void own_rows_are_those_of_the_whole(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    built whole;
    build_rows(ctx, &whole, false);
    for (int size = 2; size <= 7; size += 5) {
        rows_seen s = {.whole = &whole};
        virtual_team_run(size, rank_rows, &s, NULL);
        for (int r = 0; r < size; r++) {
            assert_true(s.divided[r]);
            assert_true(s.same[r]);
        }
    }
    free_rows(ctx, &whole);
    ddsc_context_destroy(ctx);
}

/* ---- a rank that is lost ---- */

static void lost_rank(void **state)
{
    (void)state;
    job j = job_of(DDSC_METRIC_W2, "gaussians", 90);
    j.threads = 1;
    j.fails = 1;
    virtual_team_run(3, rank_job, &j, NULL);
    assert_int_equal(j.status[0], DDSC_ERROR_INTERNAL);
    assert_int_equal(j.status[2], DDSC_ERROR_INTERNAL);
    assert_non_null(strstr(j.message, "another rank cannot be reached"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover),
        cmocka_unit_test(refuses),
        cmocka_unit_test(progress_ends_at_the_total),
        cmocka_unit_test(graphs_of_clouds),
        cmocka_unit_test(graphs_of_documents),
        cmocka_unit_test(pruned_sinkhorn),
        cmocka_unit_test(graphs_of_real_data),
        cmocka_unit_test(own_rows_are_those_of_the_whole),
        cmocka_unit_test(lost_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
