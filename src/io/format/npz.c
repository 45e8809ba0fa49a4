/* Reads npz files, the native format. There are three layouts: items with separate points (points,
 * weights, offsets), items with a shared support (support, indices, weights, offsets), and dense
 * histograms (histograms, support). Labels, ids and names are optional. */
#include "io/format/archive.h"

#include <stdio.h>
#include <string.h>

ddsc_status archive_open(ddsc_context *ctx, archive *z, io_stream *s)
{
    *z = (archive){.ctx = ctx, .s = s};
    return zip_read_list(ctx, &z->list, s);
}

void archive_close(archive *z)
{
    stream_close(z->member);
    zip_list_free(z->ctx, &z->list);
}

bool archive_has(const archive *z, const char *name)
{
    return zip_find(&z->list, name) != NULL;
}

static ddsc_status npz_need(const archive *z, const char *name, const char *with)
{
    if (archive_has(z, name))
        return DDSC_OK;
    return stream_fail(z->s, "has the array '%s' but no '%s'", with, name);
}

ddsc_status archive_open_array(archive *z, const char *name, int n_dims)
{
    z->entry = zip_find(&z->list, name);
    CHECK(zip_open_entry(z->ctx, &z->member, z->s, z->entry));
    CHECK(npy_read_header(z->member, &z->array));
    if (z->array.n_dims != n_dims)
        return stream_fail(z->member, "has shape %s, but expected %d ax%s", NPY_SHAPE(&z->array),
                           n_dims, n_dims == 1 ? "is" : "es");
    return DDSC_OK;
}

ddsc_status archive_close_array(archive *z)
{
    ddsc_status status = zip_check_entry(z->member, z->entry);
    stream_close(z->member);
    z->member = NULL;
    return status;
}

ddsc_status archive_read_table(archive *z, const char *name, double **out, int64_t *rows,
                               int64_t *columns)
{
    CHECK(archive_open_array(z, name, 2));
    *rows = z->array.shape[0];
    *columns = z->array.shape[1];
    CHECK(npy_read_doubles(z->ctx, out, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status npz_read_weights(archive *z, measures_parts *out)
{
    CHECK(archive_open_array(z, "weights", 1));
    if (z->array.count != out->nnz)
        return stream_fail(z->member, "has %lld elements for %lld %s", (long long)z->array.count,
                           (long long)out->nnz, out->index ? "indices" : "points");
    CHECK(npy_read_doubles(z->ctx, &out->weight, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status check_offsets(archive *z, const measures_parts *out)
{
    const int64_t *offset = out->offset;
    if (offset[0] != 0)
        return stream_fail(z->member, "begins with %lld; expected 0", (long long)offset[0]);
    for (int64_t i = 0; i < out->n; i++)
        if (offset[i + 1] < offset[i])
            return stream_fail(z->member, "decreases from %lld to %lld at item %lld",
                               (long long)offset[i], (long long)offset[i + 1], (long long)i);
    if (offset[out->n] != out->nnz)
        return stream_fail(z->member, "ends with %lld, but there are %lld %s",
                           (long long)offset[out->n], (long long)out->nnz,
                           out->index ? "indices" : "points");
    return DDSC_OK;
}

static ddsc_status read_offsets(archive *z, measures_parts *out)
{
    CHECK(archive_open_array(z, "offsets", 1));
    if (z->array.count < 2)
        return stream_fail(z->member,
                           "has %lld elements; at least one item (2 elements) is required",
                           (long long)z->array.count);
    out->n = z->array.count - 1;
    CHECK(npy_read_integers(z->ctx, &out->offset, z->member, &z->array));
    CHECK(check_offsets(z, out));
    return archive_close_array(z);
}

/* ---- the three layouts ---- */

static ddsc_status read_own(archive *z, measures_parts *out)
{
    CHECK(npz_need(z, "weights", "points"));
    CHECK(npz_need(z, "offsets", "points"));
    CHECK(archive_read_table(z, "points", &out->support, &out->v, &out->d));
    out->nnz = out->v;
    CHECK(npz_read_weights(z, out));
    return read_offsets(z, out);
}

static ddsc_status read_shared(archive *z, measures_parts *out)
{
    CHECK(npz_need(z, "weights", "indices"));
    CHECK(npz_need(z, "offsets", "indices"));
    CHECK(archive_read_table(z, "support", &out->support, &out->v, &out->d));
    CHECK(archive_open_array(z, "indices", 1));
    out->nnz = z->array.count;
    CHECK(npy_read_indices(z->ctx, &out->index, z->member, &z->array));
    CHECK(archive_close_array(z));
    CHECK(npz_read_weights(z, out));
    return read_offsets(z, out);
}

/* Reads dense histograms. An array in Fortran order is first read into a full table; such arrays
 * are rare. */
static ddsc_status read_histograms(archive *z, dense_rows *t)
{
    ddsc_status status = DDSC_OK;
    double *table = NULL;
    if (!z->array.fortran) {
        TRY(npy_read_dense(z->member, &z->array, t));
    } else {
        TRY(npy_read_doubles(z->ctx, &table, z->member, &z->array));
        TRY(npy_take_dense(t, (const unsigned char *)table, z->array.count,
                           (num_type){'f', sizeof *table, false}));
    }
done:
    mem_free(z->ctx, table);
    return status;
}

static ddsc_status read_dense(archive *z, measures_parts *out)
{
    CHECK(npz_need(z, "support", "histograms"));
    CHECK(archive_read_table(z, "support", &out->support, &out->v, &out->d));
    CHECK(archive_open_array(z, "histograms", 2));
    if (z->array.shape[1] != out->v || z->array.count == 0 || out->v > INT32_MAX)
        return stream_fail(z->member, "has shape %s, but the support has %lld points",
                           NPY_SHAPE(&z->array), (long long)out->v);
    dense_rows t = {.ctx = z->ctx, .out = out, .width = out->v};
    CHECK(read_histograms(z, &t));
    return archive_close_array(z);
}

/* ---- ids and labels ---- */

static ddsc_status take_text(void *arg, int64_t i, const char *text, size_t n)
{
    return text_rows_add(arg, i, text, n);
}

ddsc_status archive_read_strings(archive *z, char **text, int64_t **at)
{
    text_rows rows = {.ctx = z->ctx};
    ddsc_status status = npy_read_text(z->ctx, z->member, &z->array, take_text, &rows);
    *text = rows.text;
    *at = rows.at;
    return status < 0 ? status : archive_close_array(z);
}

static ddsc_status check_count(archive *z, int64_t n)
{
    if (z->array.count == n)
        return DDSC_OK;
    return stream_fail(z->member, "has %lld elements for %lld items", (long long)z->array.count,
                       (long long)n);
}

static ddsc_status read_ids(archive *z, measures_parts *out)
{
    CHECK(archive_open_array(z, "ids", 1));
    CHECK(check_count(z, out->n));
    return archive_read_strings(z, &out->id_text, &out->id_at);
}

/* Reads n names of coordinates, points or items, if the array exists. */
ddsc_status archive_read_names(archive *z, measures_texts *out, const char *name, int64_t n,
                               const char *of)
{
    if (!archive_has(z, name))
        return DDSC_OK;
    CHECK(archive_open_array(z, name, 1));
    if (z->array.count != n)
        return stream_fail(z->member, "has %lld elements for %lld %s", (long long)z->array.count,
                           (long long)n, of);
    CHECK(archive_read_strings(z, &out->text, &out->at));
    out->n = n;
    return DDSC_OK;
}

/* Reads the names of the classes, which are numbered from 0. */
static ddsc_status read_label_names(archive *z, measures_parts *out)
{
    CHECK(archive_open_array(z, "label_names", 1));
    for (int64_t i = 0; i < out->n; i++)
        if (out->label[i] >= z->array.count)
            return stream_fail(z->member, "has %lld names, but item %lld has the label %d",
                               (long long)z->array.count, (long long)i, out->label[i]);
    CHECK(archive_read_strings(z, &out->name_text, &out->name_at));
    out->n_names = z->array.count;
    return DDSC_OK;
}

static ddsc_status read_labels(archive *z, measures_parts *out)
{
    int64_t n;
    CHECK(archive_open_array(z, "labels", 1));
    if (out->n > 0)
        CHECK(check_count(z, out->n));
    out->n = z->array.count;
    CHECK(labels_from_npy(z->ctx, out, &n, z->member, &z->array));
    CHECK(archive_close_array(z));
    if (out->n_names == 0 && archive_has(z, "label_names"))
        CHECK(read_label_names(z, out));
    return DDSC_OK;
}

ddsc_status npz_read_labels(ddsc_context *ctx, measures_parts *out, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    archive z;
    TRY(archive_open(ctx, &z, s));
    if (!archive_has(&z, "labels"))
        TRY(stream_fail(s, "contains no array 'labels'"));
    TRY(read_labels(&z, out));
    if (archive_has(&z, "ids"))
        TRY(read_ids(&z, out));
done:
    archive_close(&z);
    return status;
}

static ddsc_status refuse_unknown(archive *z)
{
    char names[200] = "none";
    size_t at = 0;
    for (int64_t i = 0; i < z->list.n && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "",
                               z->list.entry[i].name);
    return stream_fail(z->s,
                       "contains neither 'points', nor 'support' with 'indices', nor 'histograms' "
                       "(its arrays: %s)",
                       names);
}

ddsc_status archive_read_items(archive *z, measures_parts *out)
{
    int n_layouts =
        archive_has(z, "points") + archive_has(z, "indices") + archive_has(z, "histograms");
    if (n_layouts > 1)
        CHECK(stream_fail(
            z->s,
            "mixes layouts; it must contain only one of 'points', 'indices' and 'histograms'"));
    if (archive_has(z, "points"))
        CHECK(read_own(z, out));
    else if (archive_has(z, "indices") && archive_has(z, "support"))
        CHECK(read_shared(z, out));
    else if (archive_has(z, "histograms"))
        CHECK(read_dense(z, out));
    else
        CHECK(refuse_unknown(z));
    if (archive_has(z, "ids"))
        CHECK(read_ids(z, out));
    if (archive_has(z, "labels"))
        CHECK(read_labels(z, out));
    CHECK(archive_read_names(z, &out->coordinates, "coordinate_names", out->d, "coordinates"));
    CHECK(archive_read_names(z, &out->points, "point_names", out->v, "points"));
    CHECK(archive_read_names(z, &out->titles, "titles", out->n, "items"));
    if (archive_has(z, "meta_names")) {
        CHECK(archive_open_array(z, "meta_names", 1));
        out->meta_names.n = z->array.count;
        CHECK(archive_read_strings(z, &out->meta_names.text, &out->meta_names.at));
        CHECK(archive_read_names(z, &out->meta, "meta", out->meta_names.n * out->n, "values"));
        if (out->meta.n == 0)
            return stream_fail(z->s, "has meta_names but no values for them");
    }
    CHECK(archive_read_recipe(z, &out->recipe, out->d));
    CHECK(archive_read_counts(z, &out->counts, out->n));
    CHECK(archive_read_words(z, &out->words));
    if (out->words.n > 0 && out->words.d != out->d)
        return stream_fail(z->s, "has points with %lld coordinates, but word vectors with %lld",
                           (long long)out->d, (long long)out->words.d);
    return DDSC_OK;
}

ddsc_status npz_read(ddsc_context *ctx, measures_parts *out, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    archive z;
    TRY(archive_open(ctx, &z, s));
    TRY(archive_read_items(&z, out));
done:
    archive_close(&z);
    return status;
}
