/* Reads and writes the model of a clustering as npz. A model contains the items, labeled by
 * cluster, and the arrays needed to assign new items. A model with missing or inconsistent arrays
 * is rejected. */
#include "data/model.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/team.h"
#include "io/format/archive.h"

/* ---- writing ---- */

static ddsc_status add_doubles(npz_writer *z, const char *name, const double *x, int64_t n)
{
    return npz_writer_add(z, name, NPY_FLOAT8, 1, &n, 8, NULL, x);
}

static ddsc_status add_table(npz_writer *z, const char *name, const double *x, int64_t rows,
                             int64_t columns)
{
    int64_t shape[2] = {rows, columns};
    return npz_writer_add(z, name, NPY_FLOAT8, 2, shape, 8, NULL, x);
}

static ddsc_status add_reference(npz_writer *z, const measures *reference)
{
    CHECK(add_table(z, "reference_points", reference->support, reference->v, reference->d));
    return add_doubles(z, "reference_weights", reference->weight, reference->nnz);
}

/* The names of the three arrays that contain neighbor lists. */
typedef struct list_names {
    const char *offset, *index, *d2;
} list_names;

static const list_names graph_names = {"graph_offsets", "graph_indices", "graph_d2"},
                        plain_names = {"plain_offsets", "plain_indices", "plain_d2"};

static ddsc_status add_lists(npz_writer *z, const list_names *name, int64_t n,
                             const int64_t *offset, const int32_t *index, const double *d2)
{
    const int64_t n_offsets = n + 1, n_edges = offset[n];
    CHECK(npz_writer_add(z, name->offset, NPY_INT8, 1, &n_offsets, 8, NULL, offset));
    CHECK(npz_writer_add(z, name->index, NPY_INT4, 1, &n_edges, 4, NULL, index));
    return add_doubles(z, name->d2, d2, n_edges);
}

static ddsc_status npz_write_model(ddsc_context *ctx, const ddsc_model *m, io_writer *w)
{
    ddsc_status status = DDSC_OK;
    npz_writer *z = NULL;
    const int32_t version = m->hub_scale ? MODEL_VERSION : MODEL_PLAIN;
    const int64_t one = 1;
    TRY(npz_writer_open(ctx, &z, w));
    TRY(npz_writer_add(z, "model_version", NPY_INT4, 1, &one, 4, NULL, &version));
    TRY(npz_add_model_settings(z, m));
    TRY(npz_add_items(z, m->items));
    TRY(add_table(z, "embedding", m->embedding, m->n, m->width));
    TRY(add_doubles(z, "eigenvalues", m->eigenvalue, m->width));
    TRY(add_doubles(z, "radius", m->radius, m->n));
    TRY(add_doubles(z, "scale", m->scale, m->n));
    TRY(add_doubles(z, "reach", m->reach, m->n));
    TRY(add_table(z, "centers", m->center, m->n_centers, m->width));
    TRY(npz_writer_add(z, "center_labels", NPY_INT4, 1, &m->n_centers, 4, NULL, m->center_label));
    if (m->hub_scale)
        TRY(add_doubles(z, "hub_scale", m->hub_scale, m->n));
    if (m->cost_matrix)
        TRY(add_table(z, "cost_matrix", m->cost_matrix, m->metric.cost_size, m->metric.cost_size));
    if (m->reference)
        TRY(add_reference(z, m->reference));
    TRY(npz_add_memberships(z, m));
    if (m->list_offset)
        TRY(add_lists(z, &graph_names, m->n, m->list_offset, m->list_index, m->list_d2));
    if (m->plain_offset)
        TRY(add_lists(z, &plain_names, m->n, m->plain_offset, m->plain_index, m->plain_d2));
    if (m->n_fresh > 0)
        TRY(npz_writer_add(z, "new_items", NPY_INT4, 1, &m->n_fresh, 4, NULL, m->fresh));
    TRY(npz_writer_finish(z));
done:
    npz_writer_close(z);
    return status;
}

ddsc_status ddsc_model_write(ddsc_context *ctx, const ddsc_model *m, const char *path,
                             unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, m, "model"));
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(writer_open(ctx, &w, path, flags));
    return writer_finish(w, npz_write_model(ctx, m, w));
}

/* ---- reading ---- */

static ddsc_status need(archive *z, const char *name)
{
    if (archive_has(z, name))
        return DDSC_OK;
    return stream_fail(z->s, "is not a complete model: the array '%s' is missing", name);
}

/* Returns the name that an array has in this file. Versions up to 0.2.0 spelled some names
 * differently. */
static const char *array_name(const archive *z, const char *name, const char *old)
{
    return archive_has(z, name) || !archive_has(z, old) ? name : old;
}

static ddsc_status check_version(archive *z, bool *plain)
{
    ddsc_status status = DDSC_OK;
    int64_t *version = NULL;
    if (!archive_has(z, "model_version"))
        return stream_fail(z->s,
                           "is not a model; `ddsc cluster -o DIR` writes one as DIR/model.npz");
    TRY(archive_open_array(z, "model_version", 1));
    if (z->array.count != 1)
        TRY(stream_fail(z->member, "has %lld elements instead of one", (long long)z->array.count));
    TRY(npy_read_integers(z->ctx, &version, z->member, &z->array));
    TRY(archive_close_array(z));
    *plain = *version == MODEL_PLAIN;
    if (*version != MODEL_PLAIN && *version != MODEL_VERSION)
        TRY(stream_fail(z->s,
                        "is a model of format %lld, but ddsc %s reads only formats %d and %d; "
                        "cluster the data again with this version",
                        (long long)*version, ddsc_version(), MODEL_PLAIN, MODEL_VERSION));
done:
    mem_free(z->ctx, version);
    return status;
}

static ddsc_status read_items(archive *z, ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {0};
    TRY(archive_read_items(z, &parts));
    TRY(measures_build(z->ctx, &m->items, &parts, DDSC_EMPTY_ERROR, stream_name(z->s)));
    m->n = m->items->n;
done:
    measures_parts_free(z->ctx, &parts);
    return status;
}

static ddsc_status read_doubles(archive *z, double **out, const char *name, int64_t n)
{
    CHECK(need(z, name));
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != n)
        CHECK(stream_fail(z->member, "has %lld elements instead of %lld", (long long)z->array.count,
                          (long long)n));
    CHECK(npy_read_doubles(z->ctx, out, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status model_read_rows(archive *z, double **out, const char *name, int64_t *rows,
                                   int64_t *columns, bool sizes_known)
{
    int64_t n_rows, n_columns;
    CHECK(need(z, name));
    CHECK(archive_read_table(z, name, out, &n_rows, &n_columns));
    if ((sizes_known && n_rows != *rows) || (*columns > 0 && n_columns != *columns))
        CHECK(stream_fail(z->s,
                          "is not a complete model: the array '%s' has the shape (%lld, %lld)",
                          name, (long long)n_rows, (long long)n_columns));
    *rows = n_rows;
    *columns = n_columns;
    return DDSC_OK;
}

static ddsc_status read_center_labels(archive *z, ddsc_model *m)
{
    const char *name = array_name(z, "center_labels", "centre_labels");
    CHECK(need(z, name));
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != m->n_centers)
        CHECK(stream_fail(z->member, "has %lld elements for %lld centers",
                          (long long)z->array.count, (long long)m->n_centers));
    CHECK(npy_read_indices(z->ctx, &m->center_label, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status read_reference(archive *z, ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    measures_parts parts = {.n = 1, .d = m->items->d};
    if (m->metric.metric != DDSC_METRIC_LOT)
        return DDSC_OK;
    TRY(model_read_rows(z, &parts.support, "reference_points", &parts.v, &parts.d, false));
    parts.nnz = parts.v;
    TRY(read_doubles(z, &parts.weight, "reference_weights", parts.v));
    TRY(MEM_ZERO(z->ctx, parts.offset, 2));
    parts.offset[1] = parts.v;
    TRY(measures_build(z->ctx, &m->reference, &parts, DDSC_EMPTY_ERROR, stream_name(z->s)));
    m->metric.reference_rule = DDSC_REFERENCE_MEASURES;
    m->metric.reference_measures = m->reference;
done:
    measures_parts_free(z->ctx, &parts);
    return status;
}

static ddsc_status read_cost_matrix(archive *z, ddsc_model *m)
{
    int64_t rows = 0, columns = 0;
    if (m->metric.cost != DDSC_COST_MATRIX)
        return DDSC_OK;
    CHECK(model_read_rows(z, &m->cost_matrix, "cost_matrix", &rows, &columns, false));
    if (rows != columns)
        return stream_fail(z->s, "is not a complete model: its cost matrix is not square");
    m->metric.cost_matrix = m->cost_matrix;
    m->metric.cost_size = rows;
    return DDSC_OK;
}

/* Reads neighbor lists, which models of version 0.2.0 do not contain. The entries of the lists are
 * checked where the lists are used. */
static ddsc_status read_lists(archive *z, const list_names *name, int64_t n, int64_t **offset,
                              int32_t **index, double **d2)
{
    if (!archive_has(z, name->offset))
        return DDSC_OK;
    CHECK(need(z, name->index));
    CHECK(archive_open_array(z, name->offset, 1));
    if (z->array.count != n + 1)
        CHECK(stream_fail(z->member, "has %lld elements instead of %lld", (long long)z->array.count,
                          (long long)n + 1));
    CHECK(npy_read_integers(z->ctx, offset, z->member, &z->array));
    CHECK(archive_close_array(z));
    CHECK(archive_open_array(z, name->index, 1));
    bool good = (*offset)[0] == 0 && z->array.count == (*offset)[n];
    for (int64_t i = 0; i < n; i++)
        good &= (*offset)[i + 1] >= (*offset)[i];
    if (!good)
        CHECK(stream_fail(z->s, "is not a valid model: the array '%s' does not match the neighbors",
                          name->offset));
    CHECK(npy_read_indices(z->ctx, index, z->member, &z->array));
    CHECK(archive_close_array(z));
    return read_doubles(z, d2, name->d2, (*offset)[n]);
}

/* Reads the indices of the items that were inserted after K was chosen. */
static ddsc_status read_fresh(archive *z, ddsc_model *m)
{
    if (!archive_has(z, "new_items"))
        return DDSC_OK;
    CHECK(archive_open_array(z, "new_items", 1));
    m->n_fresh = z->array.count;
    CHECK(npy_read_indices(z->ctx, &m->fresh, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status read_arrays(archive *z, ddsc_model *m, bool plain)
{
    CHECK(read_items(z, m));
    CHECK(model_read_rows(z, &m->embedding, "embedding", &m->n, &m->width, true));
    CHECK(read_doubles(z, &m->eigenvalue, "eigenvalues", m->width));
    CHECK(read_doubles(z, &m->radius, "radius", m->n));
    CHECK(read_doubles(z, &m->scale, "scale", m->n));
    CHECK(read_doubles(z, &m->reach, "reach", m->n));
    if (!plain)
        CHECK(read_doubles(z, &m->hub_scale, "hub_scale", m->n));
    CHECK(model_read_rows(z, &m->center, array_name(z, "centers", "centres"), &m->n_centers,
                          &m->width, false));
    CHECK(read_center_labels(z, m));
    CHECK(read_cost_matrix(z, m));
    CHECK(archive_read_memberships(z, m));
    CHECK(read_lists(z, &graph_names, m->n, &m->list_offset, &m->list_index, &m->list_d2));
    if (m->hub_scale)
        CHECK(read_lists(z, &plain_names, m->n, &m->plain_offset, &m->plain_index, &m->plain_d2));
    CHECK(read_fresh(z, m));
    return read_reference(z, m);
}

ddsc_status npz_read_model(ddsc_context *ctx, ddsc_model **out, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    archive z = {.ctx = ctx};
    ddsc_model *m = NULL;
    unsigned char head[4];
    size_t n;
    bool plain = true;
    *out = NULL;
    TRY(stream_peek(s, head, sizeof head, &n));
    if (io_sniff(head, n) != DDSC_FORMAT_NPZ)
        TRY(stream_fail(s, "is not a model; `ddsc cluster -o DIR` writes one as DIR/model.npz"));
    TRY(archive_open(ctx, &z, s));
    TRY(check_version(&z, &plain));
    TRY(MEM_ZERO(ctx, m, 1));
    m->ctx = ctx;
    m->metric.struct_size = sizeof m->metric;
    TRY(archive_read_model_settings(&z, m));
    TRY(read_arrays(&z, m, plain));
    const char *breach = model_breach(m);
    if (breach)
        TRY(stream_fail(s, "is not a valid model: %s", breach));
    *out = m;
    m = NULL;
done:
    archive_close(&z);
    ddsc_model_destroy(m);
    return status;
}

/* If the folder contains a result without a model, fails with a message that some clusterings
 * cannot assign new items. */
static ddsc_status check_is_there(ddsc_context *ctx, const char *path)
{
    char result[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int length = snprintf(result, sizeof result, "%.*sresult.json", folder, path);
    if (access(path, F_OK) == 0 || length >= (int)sizeof result || access(result, F_OK) != 0)
        return DDSC_OK;
    return ctx_fail(
        ctx, DDSC_ERROR_INPUT,
        "%s: this result has no model, because clusterings with joined metrics (w2+mmd), "
        "baselines or precomputed distances cannot assign new items; cluster with a single "
        "metric",
        path);
}

static ddsc_status read_model(ddsc_context *ctx, ddsc_model **out, const char *path)
{
    io_stream *s = NULL;
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(check_is_there(ctx, path));
    CHECK(stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    ddsc_status status = npz_read_model(ctx, out, s);
    stream_close(s);
    return status;
}

ddsc_status ddsc_model_read(ddsc_context *ctx, ddsc_model **out, const char *path)
{
    CHECK(ctx_enter_new(ctx, out));
    return read_model(ctx, out, path);
}

/* A model file, and the model that the first rank read from it. */
typedef struct model_file {
    ddsc_context *ctx;
    const char *path;
    ddsc_model *model;
} model_file;

static ddsc_status read_model_file(void *arg)
{
    model_file *f = arg;
    return read_model(f->ctx, &f->model, f->path);
}

ddsc_status ddsc_model_read_shared(ddsc_context *ctx, ddsc_model **out, const char *path)
{
    ddsc_status status = DDSC_OK;
    model_file f = {ctx, path, NULL};
    CHECK(ctx_enter_new(ctx, out));
    TRY(team_by_first(ctx, read_model_file, &f));
    TRY(model_move(ctx, &f.model));
    *out = f.model;
    f.model = NULL;
done:
    ddsc_model_destroy(f.model);
    return status;
}
