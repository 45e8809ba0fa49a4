/* Saves a result as the files of a folder. result.json is written last, so a folder that contains
 * it is complete. */
#include <stdio.h>
#include <string.h>

#include "io/stream/stream.h"
#include "report/render/report.h"
#include "report/content/content.h"

enum { NO_FORM = -1 };

static ddsc_status save_labels(ddsc_context *ctx, const ddsc_report *r, const char *path,
                               unsigned flags)
{
    return ddsc_labels_write(ctx, r->shown, r->n_rows, r->measures, path, flags);
}

static ddsc_status save_truth(ddsc_context *ctx, const ddsc_report *r, const char *path,
                              unsigned flags)
{
    return ddsc_labels_write(ctx, r->from.truth, r->n_rows, r->measures, path, flags);
}

static ddsc_status save_map(ddsc_context *ctx, const ddsc_report *r, const char *path,
                            unsigned flags)
{
    return ddsc_matrix_write(ctx, r->xy, r->n_rows, 2, path, flags);
}

static ddsc_status save_embedding(ddsc_context *ctx, const ddsc_report *r, const char *path,
                                  unsigned flags)
{
    ddsc_status status = DDSC_OK;
    int64_t m = r->view.n_vectors;
    double *rows = NULL;
    TRY(MEM_NEW(ctx, rows, r->n_rows * m));
    memcpy(rows, r->view.embedding, (size_t)(r->view.n * m) * sizeof *rows);
    result_spread(rows, m, r);
    TRY(ddsc_matrix_write(ctx, rows, r->n_rows, m, path, flags));
done:
    mem_free(ctx, rows);
    return status;
}

/* Writes the graph as ddsc_graph_write does, with items converted to input rows. */
static void add_graph_rows(buffer *b, const ddsc_report *r)
{
    const ddsc_graph_view *g = &r->edges;
    buffer_addf(b, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n",
                (long long)r->n_rows, (long long)r->n_rows, (long long)g->n_edges);
    for (int64_t c = 0; c < g->n; c++)
        for (int64_t e = g->offset[c]; e < g->offset[c + 1]; e++) {
            buffer_addf(b, "%lld %lld ", (long long)r->row[g->index[e]] + 1,
                        (long long)r->row[c] + 1);
            buffer_add_double(b, g->d2[e]);
            buffer_add(b, "\n");
        }
}

static ddsc_status save_bytes(buffer *b, const char *path, unsigned flags)
{
    ddsc_status status = b->status;
    if (status >= 0)
        status = ddsc_file_write(b->ctx, path, b->bytes, (size_t)b->length, flags);
    buffer_free(b);
    return status;
}

static ddsc_status save_graph(ddsc_context *ctx, const ddsc_report *r, const char *path,
                              unsigned flags)
{
    buffer b = {.ctx = ctx};
    if (r->n_rows == r->view.n)
        return ddsc_graph_write(ctx, result_graph(r), path, flags);
    add_graph_rows(&b, r);
    return save_bytes(&b, path, flags);
}

static ddsc_status save_model(ddsc_context *ctx, const ddsc_report *r, const char *path,
                              unsigned flags)
{
    ddsc_status status = DDSC_OK;
    ddsc_model *model = NULL;
    TRY(ddsc_model_create(ctx, &model, r->measures, r->from.clustering, &r->plan.set));
    TRY(ddsc_model_write(ctx, model, path, flags));
done:
    ddsc_model_destroy(model);
    return status;
}

/* Writes the barycenters as a set of measures. */
static ddsc_status save_centers(ddsc_context *ctx, const ddsc_report *r, const char *path,
                                unsigned flags)
{
    ddsc_status status = DDSC_OK;
    const ddsc_d2_view *c = &r->centers;
    ddsc_measures *set = NULL;
    int64_t *offset = NULL;
    TRY(MEM_NEW(ctx, offset, c->k + 1));
    for (int64_t i = 0; i <= c->k; i++)
        offset[i] = i * c->center_size;
    TRY(ddsc_measures_create_clouds(ctx, &set, c->k, c->dim, c->support, c->weights, offset,
                                    DDSC_EMPTY_ERROR));
    TRY(ddsc_measures_write(ctx, set, path, DDSC_FORMAT_NPZ, flags));
done:
    ddsc_measures_destroy(set);
    mem_free(ctx, offset);
    return status;
}

static bool has_graph(const ddsc_report *r)
{
    return r->from.clustering && result_graph(r);
}

/* New items can be assigned only if the run used a single metric. */
static bool has_model(const ddsc_report *r)
{
    return r->from.clustering && result_by_metric(r) && r->view.n_joined == 0;
}

static bool has_embedding(const ddsc_report *r)
{
    return r->from.clustering != NULL;
}

static bool has_centers(const ddsc_report *r)
{
    return r->from.d2 != NULL;
}

static bool has_map(const ddsc_report *r)
{
    return r->xy != NULL;
}

static bool has_truth(const ddsc_report *r)
{
    return r->from.truth != NULL;
}

/* Each file has one of the text formats or its own writer. If `wanted` is NULL, the file is always
 * written. */
static const struct {
    const char *name;
    int form;
    bool (*wanted)(const ddsc_report *r);
    ddsc_status (*save)(ddsc_context *ctx, const ddsc_report *r, const char *path, unsigned flags);
} files[] = {
    {"labels.csv", NO_FORM, NULL, save_labels},
    {"items.csv", DDSC_REPORT_ITEMS, NULL, NULL},
    {"embedding.npy", NO_FORM, has_embedding, save_embedding},
    {"eigenvalues.csv", DDSC_REPORT_EIGENVALUES, NULL, NULL},
    {"graph.mtx", NO_FORM, has_graph, save_graph},
    {"model.npz", NO_FORM, has_model, save_model},
    {"centers.npz", NO_FORM, has_centers, save_centers},
    {"sweep.csv", DDSC_REPORT_SWEEP, NULL, NULL},
    {"stability.csv", DDSC_REPORT_STABILITY, NULL, NULL},
    {"membership.csv", DDSC_REPORT_MEMBERSHIP, NULL, NULL},
    {"map.npy", NO_FORM, has_map, save_map},
    {"truth.csv", NO_FORM, has_truth, save_truth},
    {"report.html", DDSC_REPORT_HTML, NULL, NULL},
    {"result.json", DDSC_REPORT_JSON, NULL, NULL},
};
enum { N_FILES = sizeof files / sizeof *files };

const char *ddsc_report_get_file_name(int64_t number)
{
    return number >= 0 && number < N_FILES ? files[number].name : NULL;
}

static bool has_file(const ddsc_report *r, int f)
{
    if (files[f].form != NO_FORM)
        return report_has(r, (ddsc_report_form)files[f].form);
    return !files[f].wanted || files[f].wanted(r);
}

/* Writes the page. The page and result.json report the time up to this point. The data block is
 * generated while the disk is still writing other files. */
static void add_page(buffer *b, const ddsc_report *r, int f, io_folder *place)
{
    buffer data = {.ctx = b->ctx};
    report_page_data(&data, r);
    const char *page = stage_enter(b->ctx, "sync");
    b->status = folder_sync(place, f);
    stage_leave(b->ctx, page);
    content_renew_seconds(r);
    report_page(b, r, &data);
    buffer_free(&data);
}

static ddsc_status save_file(ddsc_context *ctx, const ddsc_report *r, int f, const char *path,
                             io_folder *place)
{
    buffer b = {.ctx = ctx};
    if (files[f].save)
        return files[f].save(ctx, r, path, 0);
    if (files[f].form == DDSC_REPORT_HTML)
        add_page(&b, r, f, place);
    else
        report_text(&b, r, (ddsc_report_form)files[f].form);
    return save_bytes(&b, path, 0);
}

ddsc_status report_path_new(ddsc_context *ctx, report_path *p, const char *folder)
{
    *p = (report_path){.folder = folder, .size = strlen(folder) + 32};
    return mem_get(ctx, &p->text, (int64_t)p->size, 1);
}

const char *report_path_of(report_path *p, const char *name)
{
    size_t n = strlen(p->folder);
    snprintf(p->text, p->size, "%s%s%s", p->folder, n && p->folder[n - 1] == '/' ? "" : "/", name);
    return p->text;
}

static ddsc_status save_files(ddsc_context *ctx, const ddsc_report *r, report_path *path,
                              io_folder *place)
{
    for (int f = 0; f < N_FILES; f++)
        if (has_file(r, f)) {
            stage_enter(ctx,
                        files[f].name); /* valid until the next stage begins or the call ends */
            CHECK(save_file(ctx, r, f, report_path_of(path, files[f].name), place));
        }
    stage_enter(ctx, "folder");
    return DDSC_OK;
}

ddsc_status ddsc_report_check(ddsc_context *context, const char *folder, unsigned flags)
{
    CHECK(ctx_enter(context));
    if (!folder)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "folder is NULL");
    return folder_check(context, folder, ddsc_report_get_file_name, flags);
}

ddsc_status ddsc_report_save(ddsc_context *context, const ddsc_report *report, const char *folder,
                             unsigned flags)
{
    ddsc_status status = DDSC_OK;
    report_path path = {0};
    io_folder *place = NULL;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    result_call call = result_call_begin(context);
    if (!report || !folder || report->k == 0 || report->saved) {
        status = ctx_fail(context, DDSC_ERROR_ARGUMENT,
                          "saving needs a folder name and a report of a new clustering; reports "
                          "that were read from a folder cannot be saved");
        goto done;
    }
    TRY(folder_open(context, &place, folder, ddsc_report_get_file_name, flags));
    TRY(report_path_new(context, &path, folder_stage(place)));
    TRY(save_files(context, report, &path, place));
done:
    if (place)
        status = folder_finish(place, status);
    mem_free(context, path.text);
    result_call_end(&call);
    return status;
}
