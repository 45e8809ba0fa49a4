/* Reads the folder that ddsc_report_save wrote, so that the page and the figures can be
 * generated again. */
#include <unistd.h>

#include "report/render/report.h"

typedef struct folder_reader {
    ddsc_report *r;
    report_path path; /* path of the current file */
} folder_reader;

/* Returns true if a file exists. Some files are optional: results of k-means have no map, and
 * results of a distance matrix have no items. */
static bool is_there(folder_reader *f, const char *name)
{
    return access(report_path_of(&f->path, name), F_OK) == 0;
}

static ddsc_status read_refuse(folder_reader *f, const char *why)
{
    return ctx_fail(f->r->ctx, DDSC_ERROR_INPUT, "%s: %s", f->path.text, why);
}

static ddsc_status load_tree(folder_reader *f)
{
    json_error_t error;
    ddsc_report *r = f->r;
    r->tree = json_load_file(report_path_of(&f->path, "result.json"), 0, &error);
    if (!r->tree && access(f->path.text, R_OK) != 0)
        return read_refuse(f, "cannot be read; specify a folder written by `ddsc cluster -o`");
    if (!r->tree)
        return ctx_fail(r->ctx, DDSC_ERROR_INPUT, "%s: line %d: %s", f->path.text, error.line,
                        error.text);
    const json_t *version = json_object_get(r->tree, "format_version");
    if (json_integer_value(version) > DDSC_FORMAT_VERSION)
        return read_refuse(f, "was written by a newer version of ddsc; use that version");
    if (!version)
        CHECK(result_upgrade(r));
    r->n_rows = json_integer_value(json_object_get(r->tree, "n"));
    r->k = json_integer_value(json_object_get(r->tree, "k"));
    if (r->n_rows < 1 || r->k < 1 || r->k > r->n_rows)
        return read_refuse(f,
                           "n and k are missing or invalid; expected a result of `ddsc cluster`");
    return DDSC_OK;
}

ddsc_status report_load_tree(ddsc_report *r, report_path *path)
{
    folder_reader f = {r, *path};
    return load_tree(&f);
}

static ddsc_status load_labels(folder_reader *f)
{
    ddsc_report *r = f->r;
    int64_t n = 0;
    CHECK(ddsc_labels_read(r->ctx, &r->label, &n, report_path_of(&f->path, "labels.csv")));
    if (n != r->n_rows)
        return read_refuse(f,
                           "the number of labels differs from the number of items in result.json");
    for (int64_t i = 0; i < n; i++)
        if (r->label[i] < -1 || r->label[i] >= r->k)
            return read_refuse(f, "a label is not in the range from -1 to K - 1");
    return DDSC_OK;
}

static ddsc_status load_map(folder_reader *f)
{
    int64_t n = 0, columns = 0;
    if (!is_there(f, "map.npy"))
        return DDSC_OK;
    CHECK(ddsc_rows_read(f->r->ctx, &f->r->xy, &n, &columns, f->path.text));
    if (n != f->r->n_rows || columns != 2)
        return read_refuse(f, "expected two columns and one row per item");
    return DDSC_OK;
}

/* Assigns excluded outliers, whose label in labels.csv is -1, to their nearest cluster, in which
 * the page shows them. */
static ddsc_status restore_outliers(folder_reader *f)
{
    ddsc_report *r = f->r;
    const json_t *outliers = json_object_get(r->tree, "outliers"), *row;
    size_t i;
    CHECK(MEM_COPY(r->ctx, r->shown, r->label, r->n_rows));
    if (!json_is_true(json_object_get(outliers, "left_out")))
        return DDSC_OK;
    json_array_foreach(json_object_get(outliers, "items"), i, row)
    {
        json_int_t at = json_integer_value(json_object_get(row, "row"));
        json_int_t cluster = json_integer_value(json_object_get(row, "cluster"));
        if (at < 0 || at >= r->n_rows || cluster < 0 || cluster >= r->k || r->label[at] >= 0)
            return read_refuse(f, "the labels do not match the outliers in result.json");
        r->label[at] = (int32_t)cluster;
    }
    return DDSC_OK;
}

/* Loads ids and pictures from the items in the model. If there is no model, ids are row numbers. */
static ddsc_status load_items(folder_reader *f)
{
    ddsc_report *r = f->r;
    if (is_there(f, "model.npz")) {
        CHECK(ddsc_measures_read(r->ctx, &r->own_measures, f->path.text, NULL));
        r->measures = r->own_measures;
        ddsc_measures_get_view(r->measures, &r->items);
    }
    int64_t n;
    CHECK(result_index(r, &n));
    if (r->measures && n != r->items.n_items)
        return read_refuse(f,
                           "the number of items differs from the number of labels in labels.csv");
    return DDSC_OK;
}

/* Loads the data for the item drawer and for the slider over K, if they exist. */
static ddsc_status load_details(folder_reader *f)
{
    if (is_there(f, "graph.mtx"))
        CHECK(report_load_graph(f->r, f->path.text));
    if (is_there(f, "embedding.npy"))
        CHECK(report_load_embedding(f->r, f->path.text));
    if (is_there(f, "sweep.csv"))
        CHECK(report_load_sweep(f->r, f->path.text));
    return DDSC_OK;
}

static ddsc_status load_truth(folder_reader *f)
{
    ddsc_report *r = f->r;
    ddsc_status status = DDSC_OK;
    int32_t *truth = NULL;
    int64_t n = 0;
    if (!is_there(f, "truth.csv"))
        return DDSC_OK;
    TRY(ddsc_labels_read(r->ctx, &truth, &n, f->path.text));
    if (n != r->n_rows)
        status =
            read_refuse(f, "the number of classes differs from the number of items in result.json");
    else
        TRY(result_classes(r, truth));
done:
    ddsc_release(r->ctx, truth);
    return status;
}

ddsc_status ddsc_report_read(ddsc_context *context, ddsc_report **report, const char *folder)
{
    ddsc_status status = DDSC_OK;
    folder_reader f = {0};
    if (!context || !report)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    *report = NULL;
    if (!folder) {
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT, "folder is NULL");
        goto done;
    }
    TRY(MEM_ZERO(context, f.r, 1));
    f.r->ctx = context;
    f.r->saved = true;
    TRY(report_path_new(context, &f.path, folder));
    TRY(load_tree(&f));
    TRY(load_labels(&f));
    TRY(restore_outliers(&f));
    TRY(load_map(&f));
    TRY(load_items(&f));
    TRY(load_details(&f));
    TRY(load_truth(&f));
    *report = f.r;
    f.r = NULL;
done:
    mem_free(context, f.path.text);
    ddsc_report_destroy(f.r);
    result_call_end(&call);
    return status;
}
