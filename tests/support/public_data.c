#include "public_data.h"

#include "public_calls.h"

test_folder scratch_folder;
ddsc_measures *clouds, *fresh, *histograms, *images;
ddsc_graph *graph;
ddsc_clustering *clustering;
ddsc_model *models[5];
double points[N * POINTS * DIM], weights[N * POINTS], matrix[N * N], rows[N * 3];
double support[VOCABULARY * DIM], dense[N * VOCABULARY];
int64_t offsets[N + 1];
int32_t labels[N], classes[N];
const char *const item_names[N] = {"a", "b", "c", "d", "e", "f", "g",
                                   "h", "i", "j", "k", "l", "m", "n"};
const char *const batch_names[N] = {"1", "2", "1", "2", "1", "2", "1",
                                    "2", "1", "2", "1", "2", "1", "2"};
const char *const column_name = "batch";
static ddsc_context *good;

ddsc_metric_settings metric_of(int metric)
{
    ddsc_metric_settings set;
    ddsc_metric_settings_init(&set);
    set.metric = (ddsc_metric)metric;
    return set;
}

ddsc_cluster_settings cluster_of(int metric)
{
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 2;
    static ddsc_metric_settings kept[4];
    kept[metric] = metric_of(metric);
    set.metric = &kept[metric];
    set.kmeans_restarts = 2;
    return set;
}

static void make_arrays(void)
{
    rng r = rng_make(1, RNG_GAUSSIANS, 0);
    for (int64_t i = 0; i < N * POINTS; i++) {
        weights[i] = 0.1 + rng_uniform(&r);
        for (int64_t d = 0; d < DIM; d++)
            points[i * DIM + d] = rng_normal(&r) + (i < N * POINTS / 2 ? 0 : 4);
    }
    for (int64_t i = 0; i <= N; i++)
        offsets[i] = i * POINTS;
    for (int64_t i = 0; i < N; i++) {
        labels[i] = (int32_t)(i % 3 == 0);
        classes[i] = (int32_t)(2 * i / N);
        for (int64_t k = 0; k < 3; k++)
            rows[3 * i + k] = rng_normal(&r);
        for (int64_t k = 0; k < VOCABULARY; k++)
            dense[i * VOCABULARY + k] = rng_uniform(&r);
        for (int64_t j = 0; j < i; j++)
            matrix[i * N + j] = matrix[j * N + i] = 1 + rng_uniform(&r);
    }
    for (int64_t k = 0; k < VOCABULARY * DIM; k++)
        support[k] = rng_normal(&r);
}

/* Weights over the cells of a 6 x 6 grid. */
static ddsc_measures *make_images(void)
{
    enum { SIDE = 6, CELLS = SIDE * SIDE };
    double cell[CELLS * 2], mass[N * CELLS];
    rng r = rng_make(2, RNG_GAUSSIANS, 0);
    for (int64_t k = 0; k < CELLS; k++) {
        cell[2 * k] = (double)(k / SIDE);
        cell[2 * k + 1] = (double)(k % SIDE);
    }
    for (int64_t k = 0; k < N * CELLS; k++)
        mass[k] = rng_uniform(&r);
    ddsc_measures *out = NULL;
    assert_ok(good,
              ddsc_measures_create_dense(good, &out, N, CELLS, 2, cell, mass, DDSC_EMPTY_ERROR),
              "images");
    return out;
}

static void make_files(void)
{
    static const char header[] = "id,weight,x,y\n";
    char text[2][2048];
    for (int f = 0; f < 2; f++) {
        char *at = text[f] + sprintf(text[f], "%s", header);
        for (int k = 0; k < 12; k++)
            at += sprintf(at, "%c%d,%d,%d.5,%d\n", "pq"[f], k / 3, 1 + k % 2, k, k * k % 7);
    }
    folder_text(&scratch_folder, "one.csv", text[0]);
    folder_text(&scratch_folder, "two.csv", text[1]);
    folder_text(&scratch_folder, "three.d2", "2\n2\n0.5 0.5\n1 2 3 4\n2\n1\n1\n5 6\n");
    folder_text(&scratch_folder, "square.mtx",
                "%%MatrixMarket matrix coordinate real symmetric\n"
                "3 3 3\n2 1 0.5\n3 1 1.5\n3 2 1\n");
    folder_text(&scratch_folder, "labels.csv", "id,label\n0,cat\n1,dog\n2,cat\n");
    folder_text(&scratch_folder, "about.csv", "id,age\n3,41\n0,40\n");
    folder_text(&scratch_folder, "turned.csv", "id,label\n2,cat\n1,dog\n0,cat\n");
    folder_text(&scratch_folder, "docs.tsv",
                "id\tlabel\ttext\n1\tx\tred fox runs\n2\ty\tfox dens runs red\n"
                "3\tx\tdens dens red\n");
    folder_text(&scratch_folder, "vectors.txt",
                "red 1 0\nfox 0 1\nruns 1 1\ndens 2 -1\nnone 3 3\n");
    folder_text(&scratch_folder, "stop.txt", "runs\n");
    assert_ok(good,
              ddsc_measures_write(good, clouds, folder_file(&scratch_folder, "set.npz"), 0, 0),
              "npz");
    assert_ok(good,
              ddsc_matrix_write(good, matrix, N, N, folder_file(&scratch_folder, "square.npy"), 0),
              "npy");
    assert_ok(good,
              ddsc_matrix_write(good, rows, N, 3, folder_file(&scratch_folder, "rows.npy"), 0),
              "npy");
}

int calls_set_up(void **state)
{
    (void)state;
    folder_make(&scratch_folder);
    make_arrays();
    good = test_context(1, 0);
    ddsc_measures *bare = NULL;
    assert_ok(good,
              ddsc_measures_create_clouds(good, &bare, N, DIM, points, weights, offsets,
                                          DDSC_EMPTY_ERROR),
              "clouds");
    ddsc_measures *labeled = NULL;
    assert_ok(good, ddsc_measures_copy_labeled(good, &labeled, bare, classes), "labels");
    assert_ok(good, ddsc_measures_copy_about(good, &clouds, labeled, 1, &column_name, batch_names),
              "about");
    ddsc_measures_destroy(bare);
    ddsc_measures_destroy(labeled);
    fresh = test_random_measures(good, 4, POINTS, DIM, 9);
    assert_ok(good,
              ddsc_measures_create_dense(good, &histograms, N, VOCABULARY, DIM, support, dense,
                                         DDSC_EMPTY_ERROR),
              "histograms");
    images = make_images();
    assert_ok(good, ddsc_neighbors_run(good, &graph, NULL, clouds, NULL, NULL), "graph");
    for (int metric = 3; metric >= 0; metric--) { /* w2 remains set */
        ddsc_cluster_settings set = cluster_of(metric);
        ddsc_clustering_destroy(clustering);
        assert_ok(good, ddsc_cluster_run(good, &clustering, clouds, &set), "clustering");
        assert_ok(good, ddsc_model_create(good, &models[metric], clouds, clustering, &set),
                  "model");
    }
    words_set_up(good);
    make_files();
    assert_ok(good, ddsc_model_write(good, models[0], folder_file(&scratch_folder, "model.npz"), 0),
              "model");
    assert_ok(good, ddsc_model_write(good, models[4], folder_file(&scratch_folder, "words.npz"), 0),
              "words");
    assert_ok(
        good,
        ddsc_measures_write(good, documents, folder_file(&scratch_folder, "counts.npz"), 0, 0),
        "counts");
    reports_set_up();
    return 0;
}

int calls_tear_down(void **state)
{
    (void)state;
    reports_tear_down();
    for (int metric = 0; metric < 5; metric++)
        ddsc_model_destroy(models[metric]);
    words_tear_down();
    ddsc_clustering_destroy(clustering);
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(images);
    ddsc_measures_destroy(histograms);
    ddsc_measures_destroy(fresh);
    ddsc_measures_destroy(clouds);
    ddsc_context_destroy(good);
    folder_remove(&scratch_folder);
    return 0;
}
