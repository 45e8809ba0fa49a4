/* Opens the items of a result and their metadata columns. */
#include "result_items.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "estimate.h"
#include "json.h"
#include "options.h"

enum { NUMBER_SIZE = 32 };

static bool open_model(session *s, result_items *items, int *code)
{
    const char *dir = s->opt.operand[0];
    json_t *root = json_load_result(s, dir, code);
    if (!root)
        return false;
    json_decref(root);
    char *path = output_path(dir, "model.npz");
    bool good = access(path, F_OK) == 0;
    if (!good) {
        message_error(
            "'%s' has no model.npz, which contains the items and is not written for joined "
            "metrics, baselines and precomputed distances; cluster the items with one metric",
            dir);
        *code = EXIT_INPUT;
    }
    good = good && session_ok(s, ddsc_model_read(s->ctx, &items->model, path), code);
    free(path);
    return good;
}

static void count_points(result_items *items, const ddsc_measures_view *v)
{
    items->points = cli_allocate((size_t)v->n_items + 1, sizeof *items->points);
    for (int64_t i = 0; i < v->n_items; i++)
        items->points[i] = v->offset[i + 1] - v->offset[i];
}

/* Marks the items that have fewer points than --per-item. */
static void mark_small(const session *s, result_items *items)
{
    int64_t n = items->in.view.n_items, wanted = s->opt.transform.per_item;
    items->is_small = cli_allocate((size_t)n + 1, sizeof *items->is_small);
    for (int64_t i = 0; i < n; i++) {
        items->is_small[i] = items->points[i] < wanted;
        items->n_small += items->is_small[i];
    }
}

static bool draw_points(session *s, result_items *items, int *code)
{
    ddsc_transform_settings set;
    ddsc_measures *copy = NULL;
    mark_small(s, items);
    if (s->opt.transform.per_item == 0)
        return true;
    ddsc_transform_settings_init(&set);
    set.per_item = s->opt.transform.per_item;
    if (!session_ok(s, ddsc_measures_transform(s->ctx, &copy, items->in.measures, &set), code))
        return false;
    ddsc_measures_destroy(items->in.measures);
    items->in.measures = copy;
    ddsc_measures_get_view(copy, &items->in.view);
    free(items->points);
    count_points(items, &items->in.view);
    return true;
}

static void list_columns(result_items *items)
{
    int64_t n = 0, total = items->in.view.n_items;
    while (ddsc_measures_get_meta_name(items->in.measures, n))
        n++;
    items->columns = cli_allocate((size_t)n + 1, sizeof *items->columns);
    for (int64_t k = 0; k < n; k++)
        items->columns[k] = ddsc_measures_get_meta_name(items->in.measures, k);
    items->value = cli_allocate((size_t)total + 1, sizeof *items->value);
    items->log_points = cli_allocate((size_t)total + 1, NUMBER_SIZE);
    for (int64_t i = 0; i < total; i++)
        snprintf(items->log_points + i * NUMBER_SIZE, NUMBER_SIZE, "%.17g",
                 log((double)items->points[i]));
}

bool result_items_open(session *s, result_items *items, int *code)
{
    *items = (result_items){.in.ctx = s->ctx};
    if (!open_model(s, items, code))
        return false;
    ddsc_model_get_view(items->model, &items->view);
    /* Uses a copy, because --meta and --per-item replace the set. */
    bool good = session_ok(
        s, ddsc_measures_copy_labeled(s->ctx, &items->in.measures, items->view.measures, NULL),
        code);
    good = good &&
           session_ok(s, input_join_meta(s, &items->in.measures, 0, s->opt.read.id_columns), code);
    if (good) {
        ddsc_measures_get_view(items->in.measures, &items->in.view);
        count_points(items, &items->in.view);
        good = draw_points(s, items, code);
    }
    if (good)
        list_columns(items);
    else
        result_items_close(items);
    return good;
}

void result_items_close(result_items *items)
{
    input_close(&items->in);
    ddsc_model_destroy(items->model);
    free(items->points);
    free(items->is_small);
    free(items->columns);
    free(items->value);
    free(items->log_points);
    *items = (result_items){.in.ctx = items->in.ctx};
}

const char *result_items_id(const result_items *items, int64_t item)
{
    return ddsc_measures_get_id(items->in.measures, items->in.view.row[item]);
}

/* If the name refers to the clusters, explains why they cannot be tested. */
static bool is_cluster_name(const char *name)
{
    static const char *const names[] = {"label", "labels", "cluster", "clusters"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    return false;
}

static void say_unknown(const result_items *items, const char *name)
{
    text list = {0};
    size_t n = 0;
    while (items->columns[n])
        n++;
    const char *near = suggest(name, items->columns, n);
    for (size_t k = 0; k < n && k < 20; k++)
        text_addf(&list, "%s%s", k ? ", " : "", items->columns[k]);
    if (is_cluster_name(name))
        message_error(
            "the clusters cannot be tested on the data from which they were computed: clusters are "
            "chosen to differ, so p would be small for any data. Test columns that the clustering "
            "did not use; 'ddsc explain' compares such columns with the "
            "clusters");
    else if (n == 0)
        message_error("no column '%s': the result has no metadata columns; add them with --meta "
                      "TABLE",
                      name);
    else
        message_error("no column '%s'%s%s%s; the columns are %s%s", name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                      text_get(&list), n > 20 ? ", ..." : "");
    text_free(&list);
}

const char *const *result_items_column(session *s, result_items *items, const char *name, int *code)
{
    (void)s;
    int64_t n = items->in.view.n_items, column = 0;
    while (items->columns[column] && strcmp(items->columns[column], name) != 0)
        column++;
    if (!items->columns[column] && strcmp(name, LOG_POINTS) != 0) {
        say_unknown(items, name);
        *code = EXIT_USAGE;
        return NULL;
    }
    for (int64_t i = 0; i < n; i++)
        items->value[i] =
            items->columns[column]
                ? ddsc_measures_get_meta(items->in.measures, items->in.view.row[i], column)
                : items->log_points + i * NUMBER_SIZE;
    return items->value;
}

/* ---- distances ---- */

static double *allocate_matrix(const session *s, int64_t n, int *code)
{
    double bytes = 8.0 * (double)n * (double)n;
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double limit = s->opt.memory ? (double)s->opt.memory : machine;
    double *matrix = 2 * bytes <= limit ? calloc((size_t)(n * n) + 1, sizeof *matrix) : NULL;
    if (!matrix) {
        text t = {0};
        text_add_size(&t, 2 * bytes);
        message_error("the distances between %" PRId64 " items need %s, which exceeds %s", n,
                      text_get(&t), s->opt.memory ? "--memory" : "the memory of this machine");
        *code = EXIT_MEMORY;
        text_free(&t);
    }
    return matrix;
}

double *result_items_distances(session *s, result_items *items, int *code)
{
    const ddsc_metric_settings *set = items->view.metric_settings;
    ddsc_pair_stats stats;
    if (set->metric == DDSC_METRIC_MMD && set->mmd_estimator == DDSC_MMD_UNBIASED) {
        message_error(
            "the clusters were computed with unbiased mmd, whose squared distances can be "
            "negative, so shares of variation are meaningless; cluster again with "
            "--mmd-estimator biased");
        *code = EXIT_USAGE;
        return NULL;
    }
    double *matrix = allocate_matrix(s, items->in.view.n_items, code);
    if (!matrix)
        return NULL;
    s->set.metric = *set;
    estimate_announce(s, &items->in);
    ddsc_pair_stats_init(&stats);
    if (session_device(s, code) &&
        session_ok(s,
                   ddsc_distance_run(s->ctx, matrix, &stats, items->in.measures, set,
                                     DDSC_DISTANCE_SQUARED),
                   code)) {
        message_pairs(s, &stats);
        return matrix;
    }
    free(matrix);
    return NULL;
}

/* Returns true if all distances from a row to other rows are unknown, as for dropped items. */
static bool is_dropped(const double *row, int64_t n, int64_t at)
{
    for (int64_t j = 0; j < n; j++)
        if (j != at && !isnan(row[j]))
            return false;
    return n > 1;
}

double *result_items_read_distances(session *s, const result_items *items, const char *path,
                                    int *code)
{
    int64_t n = 0, kept = 0, wanted = items->in.view.n_items;
    double *read = NULL;
    if (!session_ok_in(s, path, ddsc_matrix_read(s->ctx, &read, &n, path), code))
        return NULL;
    int64_t *row = cli_allocate((size_t)n + 1, sizeof *row);
    for (int64_t i = 0; i < n; i++)
        if (!is_dropped(read + i * n, n, i))
            row[kept++] = i;
    double *matrix = NULL;
    if (kept != wanted) {
        message_error("%s: the matrix has distances of %" PRId64
                      " items, but the result has %" PRId64,
                      path, kept, wanted);
        *code = EXIT_INPUT;
    } else {
        matrix = allocate_matrix(s, wanted, code);
    }
    for (int64_t i = 0; matrix && i < wanted; i++)
        for (int64_t j = 0; j < wanted; j++)
            matrix[i * wanted + j] = read[row[i] * n + row[j]];
    free(row);
    ddsc_release(s->ctx, read);
    return matrix;
}
