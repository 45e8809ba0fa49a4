/* New items: the search among old ones, the model and its file, labels, confidence, far items. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/spectral/cluster.h"
#include "data/model.h"
#include "neighbors/planner/plan.h"
#include "support.h"

static const ddsc_metric metrics[] = {DDSC_METRIC_W2, DDSC_METRIC_SINKHORN, DDSC_METRIC_MMD,
                                      DDSC_METRIC_LOT};

/* k clusters of n clouds with 12 points in the plane around (7 g + shift, shift). */
static measures *groups(ddsc_context *ctx, int64_t k, int64_t n, double shift, uint64_t seed)
{
    enum { POINTS = 12 };
    int64_t n_items = k * n;
    double *point = malloc((size_t)(n_items * POINTS * 2) * sizeof *point);
    int64_t *offset = malloc((size_t)(n_items + 1) * sizeof *offset);
    rng r = rng_make(seed, RNG_GAUSSIANS, 5);
    for (int64_t i = 0; i <= n_items; i++)
        offset[i] = i * POINTS;
    for (int64_t i = 0; i < n_items; i++) {
        double x = 7 * (double)(i / n) + shift + rng_normal(&r), y = shift + rng_normal(&r);
        for (int64_t p = 0; p < POINTS; p++) {
            point[2 * (i * POINTS + p)] = x + rng_normal(&r);
            point[2 * (i * POINTS + p) + 1] = y + rng_normal(&r);
        }
    }
    measures *m;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &m, n_items, 2, point, NULL, offset, 0),
                     DDSC_OK);
    free(point);
    free(offset);
    return m;
}

static ddsc_cluster_settings settings(int64_t k, ddsc_metric metric)
{
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = k;
    set.metric = metric_with(metric);
    set.kmeans_restarts = 3;
    return set;
}

static ddsc_model *model_of(ddsc_context *ctx, const measures *m, ddsc_cluster_settings set)
{
    ddsc_clustering *c;
    ddsc_model *model;
    assert_int_equal(ddsc_cluster_run(ctx, &c, m, &set), DDSC_OK);
    if (ddsc_model_create(ctx, &model, m, c, &set) != DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    ddsc_clustering_destroy(c);
    return model;
}

typedef struct answer {
    int32_t label[512], far[512];
    double confidence[512], distance[512];
    ddsc_pair_stats stats;
} answer;

static void assign(ddsc_context *ctx, answer *a, const ddsc_model *model, const measures *m,
                   ddsc_exact_graph how)
{
    ddsc_assign_settings set;
    ddsc_assign_settings_init(&set);
    set.exact_graph = how;
    memset(a, 0, sizeof *a);
    ddsc_pair_stats_init(&a->stats);
    if (call_assign(ctx, a->label, a->confidence, a->distance, a->far, &a->stats, model, m, &set) !=
        DDSC_OK)
        fail_msg("%s", ddsc_context_get_message(ctx));
    for (int64_t i = 0; i < m->n; i++)
        assert_true(a->confidence[i] >= 0 && a->confidence[i] <= 1 && a->distance[i] >= 0);
}

/* ---- the search ---- */

/* The neighbor lists of new items equal those from the full matrix of old and new items, nearest
 * first or with scales. */
static void check_lists(ddsc_context *ctx, const measures *m, int64_t n_old, int64_t tau,
                        ddsc_metric metric)
{
    int64_t n = m->n;
    double *d2 = malloc((size_t)(n * n) * sizeof *d2);
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = metric;
    assert_int_equal(ddsc_distance_run(ctx, d2, NULL, m, &set, DDSC_DISTANCE_SQUARED), DDSC_OK);
    local_scales scales;
    double *scale = malloc((size_t)n_old * sizeof *scale);
    for (int64_t i = 0; i < n_old; i++)
        scale[i] = 0.5 + (double)(i * 7 % 11) / 4;
    assert_int_equal(graph_scales_make(ctx, &scales, scale, n_old), DDSC_OK);
    for (int way = 0; way < 4; way++) {
        int how = way % 2 ? DDSC_GRAPH_FULL : DDSC_GRAPH_AUTO;
        const local_scales *by = way < 2 ? NULL : &scales;
        ddsc_graph_settings graph_set;
        ddsc_pair_stats stats = {.struct_size = sizeof stats};
        ddsc_graph *g = NULL;
        graph_request p;
        ddsc_graph_settings_init(&graph_set);
        graph_set.exact_graph = (ddsc_exact_graph)how;
        assert_int_equal(plan_resolve(ctx, &p, m, &set, &graph_set, NULL), DDSC_OK);
        assert_int_equal(plan_query(ctx, &g, &stats, &p, n_old, tau, by), DDSC_OK);
        metric_resolved_free(&p.metric);
        assert_int_equal(g->n, n - n_old);
        assert_int_equal(stats.n_pairs, n_old * (n - n_old));
        assert_true(stats.n_solved <= stats.n_pairs);
        assert_true(how != DDSC_GRAPH_FULL || stats.n_solved == stats.n_pairs);
        for (int64_t c = 0; c < g->n; c++) {
            const double *row = d2 + (n_old + c) * n;
            assert_int_equal(g->offset[c + 1] - g->offset[c], BASE_MIN(tau, n_old));
            for (int64_t e = g->offset[c]; e < g->offset[c + 1]; e++) {
                int64_t before = 0, j = g->index[e];
                for (int64_t i = 0; i < n_old; i++)
                    before += local_key(by, i, row[i]) < local_key(by, j, row[j]) ||
                              (local_key(by, i, row[i]) == local_key(by, j, row[j]) && i < j);
                assert_int_equal(before, e - g->offset[c]);
                assert_close(g->d2[e], row[j], 1e-12, 1e-12);
            }
        }
        ddsc_graph_destroy(g);
    }
    graph_scales_free(ctx, &scales);
    free(scale);
    free(d2);
}

static void test_lists(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 0);
    static const struct {
        int64_t n, points, d, n_old, tau;
    } cases[] = {{60, 12, 2, 40, 7}, {50, 6, 12, 1, 3}, {80, 5, 3, 79, 10}, {90, 40, 3, 64, 5}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        measures *m = test_random_measures(ctx, cases[k].n, cases[k].points, cases[k].d, k);
        for (size_t t = 0; t < 4; t++)
            check_lists(ctx, m, cases[k].n_old, BASE_MIN(cases[k].tau, cases[k].n_old), metrics[t]);
        ddsc_measures_destroy(m);
    }
    ddsc_context_destroy(ctx);
}

/* Images on a grid, for which bounds are refined and the field of MMD is computed in strips. */
static void test_lists_grid(void **state)
{
    (void)state;
    enum { N = 290, SIDE = 9 };
    ddsc_context *ctx = test_context(2, 0);
    double support[SIDE * SIDE * 2], *pixel = calloc(N * SIDE * SIDE, sizeof *pixel);
    rng r = rng_make(3, RNG_GAUSSIANS, 9);
    for (int64_t v = 0; v < SIDE * SIDE; v++) {
        support[2 * v] = (double)(v / SIDE);
        support[2 * v + 1] = (double)(v % SIDE);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t p = 0; p < 30; p++)
            pixel[i * SIDE * SIDE + rng_below(&r, SIDE * SIDE)] = 1 + rng_uniform(&r);
    memcpy(pixel + 140 * SIDE * SIDE, pixel, SIDE * SIDE * sizeof *pixel); /* old and new alike */
    measures *m;
    assert_int_equal(
        ddsc_measures_create_dense(ctx, &m, N, SIDE * SIDE, 2, support, pixel, DDSC_EMPTY_ERROR),
        DDSC_OK);
    check_lists(ctx, m, 100, 8, DDSC_METRIC_W2);
    check_lists(ctx, m, 270, 8, DDSC_METRIC_SINKHORN); /* more than one block of minorants */
    check_lists(ctx, m, 20, 3, DDSC_METRIC_SINKHORN);
    check_lists(ctx, m, 100, 8, DDSC_METRIC_MMD);
    check_lists(ctx, m, 67, 3, DDSC_METRIC_MMD);
    free(pixel);
    ddsc_measures_destroy(m);
    ddsc_context_destroy(ctx);
}

static void test_join(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *a = test_random_measures(ctx, 7, 5, 3, 1), *b = test_random_measures(ctx, 4, 5, 3, 2);
    measures *joint, *twice;
    assert_int_equal(measures_join(ctx, &joint, a, b), DDSC_OK);
    assert_true(joint->n == 11 && joint->nnz == a->nnz + b->nnz && joint->v == a->v + b->v);
    for (int64_t i = 0; i < 11; i++) {
        const measures *from = i < 7 ? a : b;
        item_view x = measures_item(joint, i), y = measures_item(from, i < 7 ? i : i - 7);
        assert_int_equal(x.n, y.n);
        for (int64_t p = 0; p < x.n; p++) {
            assert_close(x.weight[p], y.weight[p], 1e-15, 0);
            assert_memory_equal(measures_point(joint, x.index[p]), measures_point(from, y.index[p]),
                                3 * sizeof(double));
        }
    }
    assert_int_equal(measures_join(ctx, &twice, a, a), DDSC_OK);
    assert_int_equal(twice->v, a->v); /* equal points are one row */
    ddsc_measures_destroy(twice);
    ddsc_measures_destroy(joint);
    ddsc_measures_destroy(a);
    ddsc_measures_destroy(b);
    ddsc_context_destroy(ctx);
}

/* ---- labels ---- */

/* Returns the cluster that contains most items of a planted cluster. */
static int32_t label_of_group(const ddsc_model *model, int64_t group, int64_t n)
{
    int64_t count[16] = {0}, best = 0;
    for (int64_t i = group * n; i < (group + 1) * n; i++)
        count[model->items->label[i]]++;
    for (int64_t c = 0; c < 16; c++)
        best = count[c] > count[best] ? c : best;
    return (int32_t)best;
}

static void test_labels(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(2, 3);
    measures *old = groups(ctx, 4, 40, 0, 1), *fresh = groups(ctx, 4, 20, 0, 2);
    measures *away = groups(ctx, 1, 20, -60, 3);
    for (size_t t = 0; t < 4; t++) {
        ddsc_model *model = model_of(ctx, old, settings(4, metrics[t]));
        ddsc_model_view view;
        answer a;
        int64_t wrong = 0, n_far = 0;
        ddsc_model_get_view(model, &view);
        assert_true(view.n_items == 160 && view.k == 4 && view.dim == 2 && view.tau == 10);
        assert_true(view.metric == metrics[t] && view.far_neighbor == 7);
        assert_true(view.far_distance > 0 && view.labels && view.measures);
        assign(ctx, &a, model, fresh, DDSC_GRAPH_AUTO);
        for (int64_t i = 0; i < 80; i++) {
            wrong += a.label[i] != label_of_group(model, i / 20, 40);
            n_far += a.far[i];
            assert_int_equal(a.far[i], a.distance[i] > view.far_distance);
        }
        assert_true(wrong <= 2 && n_far <= 8);
        /* Old items receive their own labels, and at most one in a hundred is far. */
        assign(ctx, &a, model, old, DDSC_GRAPH_AUTO);
        wrong = n_far = 0;
        for (int64_t i = 0; i < 160; i++) {
            wrong += a.label[i] != view.labels[i];
            n_far += a.far[i];
        }
        assert_true(wrong <= 1 && n_far <= 2);
        assign(ctx, &a, model, away, DDSC_GRAPH_AUTO);
        n_far = 0;
        for (int64_t i = 0; i < 20; i++)
            n_far += a.far[i];
        assert_int_equal(n_far, 20);
        ddsc_model_destroy(model);
    }
    ddsc_measures_destroy(away);
    ddsc_measures_destroy(fresh);
    ddsc_measures_destroy(old);
    ddsc_context_destroy(ctx);
}

/* The confidence is low halfway between two clusters, and high in the middle of a cluster. */
static void test_confidence(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *old = groups(ctx, 2, 60, 0, 1);
    double between[2] = {3.5, 0}, inside[2] = {0, 0};
    int64_t offset[2] = {0, 1};
    measures *x, *y;
    answer a, b;
    assert_int_equal(ddsc_measures_create_clouds(ctx, &x, 1, 2, between, NULL, offset, 0), DDSC_OK);
    assert_int_equal(ddsc_measures_create_clouds(ctx, &y, 1, 2, inside, NULL, offset, 0), DDSC_OK);
    ddsc_model *model = model_of(ctx, old, settings(2, DDSC_METRIC_W2));
    assign(ctx, &a, model, x, DDSC_GRAPH_AUTO);
    assign(ctx, &b, model, y, DDSC_GRAPH_AUTO);
    assert_true(b.confidence[0] > 0.8 && a.confidence[0] < b.confidence[0]);
    assert_int_equal(b.label[0], label_of_group(model, 0, 60));
    ddsc_model_destroy(model);
    ddsc_measures_destroy(x);
    ddsc_measures_destroy(y);
    ddsc_measures_destroy(old);
    ddsc_context_destroy(ctx);
}

/* Pruned or not, one thread or two: the same bytes. */
static void test_same_answers(void **state)
{
    (void)state;
    ddsc_context *one = test_context(1, 0), *two = test_context(2, 0);
    measures *old = groups(one, 3, 50, 0, 4), *fresh = groups(one, 3, 25, 0.5, 5);
    for (size_t t = 0; t < 4; t++) {
        ddsc_model *model = model_of(one, old, settings(3, metrics[t]));
        answer a, b;
        assign(one, &a, model, fresh, DDSC_GRAPH_AUTO);
        assign(two, &b, model, fresh, DDSC_GRAPH_AUTO);
        a.stats.seconds = b.stats.seconds = 0;
        assert_memory_equal(&a, &b, sizeof a);
        assign(two, &b, model, fresh, DDSC_GRAPH_FULL);
        memset(&a.stats, 0, sizeof a.stats);
        memset(&b.stats, 0, sizeof b.stats);
        assert_memory_equal(&a, &b, sizeof a);
        ddsc_model_destroy(model);
    }
    ddsc_measures_destroy(fresh);
    ddsc_measures_destroy(old);
    ddsc_context_destroy(one);
    ddsc_context_destroy(two);
}

/* Merged clusters keep the centers of their parts, each with its final label. */
static void test_merged_clusters(void **state)
{
    (void)state;
    enum { N = 90 };
    ddsc_context *ctx = test_context(1, 0);
    measures *old = groups(ctx, 3, N / 3, 0, 1);
    ddsc_cluster_settings set = settings(3, DDSC_METRIC_W2);
    ddsc_clustering *c;
    ddsc_model *model;
    assert_int_equal(ddsc_cluster_run(ctx, &c, old, &set), DDSC_OK);
    for (int64_t i = 0; i < N; i++) /* as if k-means had divided the last cluster */
        c->cells[i] = c->labels[i] + (c->labels[i] == 2 && i % 2 == 0);
    assert_int_equal(ddsc_model_create(ctx, &model, old, c, &set), DDSC_OK);
    assert_int_equal(model->n_centers, 4);
    assert_int_equal(model->center_label[2], 2);
    assert_int_equal(model->center_label[3], 2);
    answer a;
    assign(ctx, &a, model, old, DDSC_GRAPH_AUTO);
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(a.label[i], c->labels[i]);
    ddsc_model_destroy(model);
    ddsc_clustering_destroy(c);
    ddsc_measures_destroy(old);
    ddsc_context_destroy(ctx);
}

/* Tiny sets, and neighbors without rows in the embedding: the affinities decide. */
static void test_odd_models(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *fresh = groups(ctx, 1, 5, 0, 9);
    for (int64_t n = 1; n <= 4; n++)
        for (size_t t = 0; t < 4; t++) {
            measures *old = groups(ctx, 1, n, 0, 1);
            for (int64_t k = 1; k <= n; k++) {
                answer a;
                ddsc_model *model = model_of(ctx, old, settings(k, metrics[t]));
                assign(ctx, &a, model, fresh, DDSC_GRAPH_AUTO);
                for (int64_t i = 0; i < 5; i++)
                    assert_true(a.label[i] >= 0 && a.label[i] < k);
                ddsc_model_destroy(model);
            }
            ddsc_measures_destroy(old);
        }
    measures *old = groups(ctx, 2, 30, 0, 1);
    ddsc_model *model = model_of(ctx, old, settings(2, DDSC_METRIC_MMD));
    answer with, without;
    assign(ctx, &with, model, old, DDSC_GRAPH_AUTO);
    memset(model->radius, 0, 60 * sizeof *model->radius);
    assign(ctx, &without, model, old, DDSC_GRAPH_AUTO);
    assert_memory_equal(with.label, without.label, 60 * sizeof *with.label);
    ddsc_model_destroy(model);
    ddsc_measures_destroy(old);
    ddsc_measures_destroy(fresh);
    ddsc_context_destroy(ctx);
}

/* ---- the file ---- */

static void temporary(char path[64])
{
    strcpy(path, "/tmp/ddsc-model-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void test_file(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *old = groups(ctx, 3, 30, 0, 4), *fresh = groups(ctx, 3, 25, 0.5, 5);
    char path[64];
    temporary(path);
    for (size_t t = 0; t < 4; t++) {
        ddsc_model *model = model_of(ctx, old, settings(3, metrics[t])), *again;
        answer a, b;
        assert_int_equal(ddsc_model_write(ctx, model, path, 0), DDSC_ERROR_EXISTS);
        assert_int_equal(ddsc_model_write(ctx, model, path, 1), DDSC_OK);
        if (ddsc_model_read(ctx, &again, path) != DDSC_OK)
            fail_msg("%s", ddsc_context_get_message(ctx));
        assign(ctx, &a, model, fresh, DDSC_GRAPH_AUTO);
        assign(ctx, &b, again, fresh, DDSC_GRAPH_AUTO);
        a.stats.seconds = b.stats.seconds = 0;
        assert_memory_equal(&a, &b, sizeof a);
        ddsc_model_destroy(again);
        ddsc_model_destroy(model);
    }
    measures *items; /* a model is a set too */
    ddsc_measures_view view;
    assert_int_equal(ddsc_measures_read(ctx, &items, path, NULL), DDSC_OK);
    ddsc_measures_get_view(items, &view);
    assert_true(view.n_items == 90 && view.label);
    ddsc_measures_destroy(items);
    ddsc_model *none;
    assert_int_equal(ddsc_measures_write(ctx, old, path, DDSC_FORMAT_NPZ, 1), DDSC_OK);
    assert_int_equal(ddsc_model_read(ctx, &none, path), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "is not a model"));
    unlink(path);
    assert_int_equal(ddsc_model_read(ctx, &none, path), DDSC_ERROR_INPUT);
    ddsc_measures_destroy(fresh);
    ddsc_measures_destroy(old);
    ddsc_context_destroy(ctx);
}

/* ---- wrong calls, failing memory ---- */

static void test_refusals(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    measures *old = groups(ctx, 2, 20, 0, 1), *other = test_random_measures(ctx, 5, 4, 3, 1);
    ddsc_cluster_settings set = settings(2, DDSC_METRIC_MMD);
    ddsc_model *model = model_of(ctx, old, set), *none;
    ddsc_clustering *c;
    ddsc_assign_settings how;
    int32_t label[40];
    assert_int_equal(ddsc_model_create(NULL, &none, old, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_model_create(ctx, &none, old, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_cluster_run(ctx, &c, old, &set), DDSC_OK);
    assert_int_equal(ddsc_model_create(ctx, &none, other, c, &set), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "40 items, but measures has 5"));
    ddsc_clustering_view view;
    ddsc_clustering *bare;
    ddsc_clustering_get_view(c, &view);
    assert_int_equal(ddsc_spectral_run(ctx, &bare, view.graph, &set), DDSC_OK);
    assert_int_equal(ddsc_model_create(ctx, &none, old, bare, &set), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "from a graph"));
    ddsc_clustering_destroy(bare);
    ddsc_clustering_destroy(c);
#define RUN(labels, m, data, s) call_assign(ctx, labels, NULL, NULL, NULL, NULL, m, data, s)
    assert_int_equal(RUN(label, model, old, NULL), DDSC_OK);
    assert_int_equal(RUN(NULL, model, old, NULL), DDSC_OK);
    assert_int_equal(ddsc_assign_run(ctx, NULL, NULL, model, old, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(RUN(label, NULL, old, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(RUN(label, model, NULL, NULL), DDSC_ERROR_ARGUMENT);
    assert_int_equal(RUN(label, model, other, NULL), DDSC_ERROR_INPUT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "3 coordinates"));
    memset(&how, 0xA5, sizeof how);
    ddsc_assign_settings_init(&how);
    assert_true(how.struct_size == sizeof how && how.exact_graph == DDSC_GRAPH_AUTO);
    ddsc_assign_settings_init_sized(NULL, 8);
    how.struct_size = 0;
    assert_int_equal(RUN(label, model, old, &how), DDSC_ERROR_ARGUMENT);
    how.struct_size = sizeof how;
    how.exact_graph = DDSC_GRAPH_PRUNED;
    assert_int_equal(RUN(label, model, old, &how), DDSC_ERROR_ARGUMENT);
    assert_non_null(strstr(ddsc_context_get_message(ctx), "no lower bounds"));
    how.exact_graph = (ddsc_exact_graph)9;
    assert_int_equal(RUN(label, model, old, &how), DDSC_ERROR_ARGUMENT);
#undef RUN
    ddsc_model_view empty;
    ddsc_model_get_view(NULL, &empty);
    assert_int_equal(empty.n_items, 0);
    ddsc_model_get_view_sized(model, NULL, 8);
    ddsc_model_destroy(NULL);
    assert_int_equal(ddsc_model_write(ctx, NULL, "x", 0), DDSC_ERROR_ARGUMENT);
    assert_int_equal(ddsc_model_read(ctx, NULL, "x"), DDSC_ERROR_ARGUMENT);
    ddsc_model_destroy(model);
    ddsc_measures_destroy(old);
    ddsc_measures_destroy(other);
    ddsc_context_destroy(ctx);
}

typedef struct failing {
    const measures *old, *fresh;
    const ddsc_clustering *clustering;
    const ddsc_model *model;
    ddsc_cluster_settings set;
    const char *path;
} failing;

static ddsc_status create_call(ddsc_context *ctx, void *arg)
{
    const failing *f = arg;
    ddsc_model *model;
    ddsc_status status = ddsc_model_create(ctx, &model, f->old, f->clustering, &f->set);
    assert_int_equal(model == NULL, status < 0);
    ddsc_model_destroy(model);
    return status;
}

static ddsc_status write_call(ddsc_context *ctx, void *arg)
{
    const failing *f = arg;
    return ddsc_model_write(ctx, f->model, f->path, 1);
}

static ddsc_status read_call(ddsc_context *ctx, void *arg)
{
    const failing *f = arg;
    ddsc_model *model;
    ddsc_status status = ddsc_model_read(ctx, &model, f->path);
    assert_int_equal(model == NULL, status < 0);
    ddsc_model_destroy(model);
    return status;
}

static ddsc_status assign_call(ddsc_context *ctx, void *arg)
{
    const failing *f = arg;
    int32_t label[16];
    return call_assign(ctx, label, NULL, NULL, NULL, NULL, f->model, f->fresh, NULL);
}

static void test_memory(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    char path[64];
    temporary(path);
    measures *old = groups(ctx, 2, 10, 0, 1), *fresh = groups(ctx, 1, 6, 0, 2);
    for (size_t t = 0; t < 4; t++) {
        failing f = {.old = old, .fresh = fresh, .set = settings(2, metrics[t]), .path = path};
        ddsc_clustering *c;
        ddsc_model *model;
        assert_int_equal(ddsc_cluster_run(ctx, &c, old, &f.set), DDSC_OK);
        assert_int_equal(ddsc_model_create(ctx, &model, old, c, &f.set), DDSC_OK);
        f.clustering = c;
        f.model = model;
        assert_true(test_failing_allocations(create_call, &f) > 10);
        assert_true(test_failing_allocations(write_call, &f) > 10);
        assert_true(test_failing_allocations(read_call, &f) > 10);
        assert_true(test_failing_allocations(assign_call, &f) > 10);
        ddsc_model_destroy(model);
        ddsc_clustering_destroy(c);
    }
    unlink(path);
    ddsc_measures_destroy(old);
    ddsc_measures_destroy(fresh);
    ddsc_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),      cmocka_unit_test(test_lists_grid),
        cmocka_unit_test(test_join),       cmocka_unit_test(test_labels),
        cmocka_unit_test(test_confidence), cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_odd_models), cmocka_unit_test(test_merged_clusters),
        cmocka_unit_test(test_file),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
