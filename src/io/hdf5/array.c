/* Opens the tables of an HDF5 file, checks all sizes, and reads the tables in batches of rows.
 * These functions run in the process that calls libhdf5 (call.c, child.c). */
#include "io/hdf5/hdf5.h"

#ifdef DDSC_HAVE_HDF5
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/hdf5/internal.h"

enum { BATCH_BYTES = 1 << 22, CHUNK_BYTES = 1 << 26, TEXTS_AT_ONCE = 256 };

/* ---- opening ---- */

static ddsc_status check_filters(h5_array *a, hid_t creation)
{
    int n = H5Pget_nfilters(creation);
    for (int k = 0; k < n; k++) {
        unsigned flags, config, values[8];
        size_t n_values = 8;
        char name[QUOTE_TEXT] = "";
        H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)k, &flags, &n_values, values,
                                             sizeof name, name, &config);
        bool known = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                     filter == H5Z_FILTER_FLETCHER32 || filter == H5Z_FILTER_SZIP;
        if (!known || H5Zfilter_avail(filter) <= 0)
            return stream_fail(a->f->s,
                               "\"%s\" uses the filter %d (%s), which is not supported; write the "
                               "file with gzip compression or none",
                               QUOTE(a->path), (int)filter, *name ? QUOTE(name) : "no name");
    }
    return DDSC_OK;
}

/* Checks that the values are stored in this file, and that chunks are not larger than `most`
 * bytes. */
static ddsc_status check_layout(h5_array *a, size_t size, int64_t most, int64_t *chunk_rows)
{
    ddsc_status status = DDSC_OK;
    hsize_t chunk[H5_MAX_AXES] = {0};
    hid_t creation = H5Dget_create_plist(a->id);
    *chunk_rows = 0;
    if (creation < 0)
        return h5_fail(a->f, "damaged HDF5 data at", a->path);
    H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
        TRY(stream_fail(a->f->s, "\"%s\" stores its values in other files, which is not supported",
                        QUOTE(a->path)));
    TRY(check_filters(a, creation));
    if (layout == H5D_CHUNKED) {
        int64_t bytes = (int64_t)size;
        bool fits = H5Pget_chunk(creation, H5_MAX_AXES, chunk) == a->n_axes;
        for (int k = 0; k < a->n_axes && fits; k++)
            fits = chunk[k] <= INT64_MAX && mul_ok(bytes, (int64_t)chunk[k], &bytes);
        if (!fits || bytes > most)
            TRY(stream_fail(
                a->f->s, "\"%s\" has chunks of %lld bytes, which is more than all its values need",
                QUOTE(a->path), fits ? (long long)bytes : -1LL));
        *chunk_rows = (int64_t)chunk[0];
    }
done:
    H5Pclose(creation);
    return status;
}

static ddsc_status read_axes(h5_array *a, hid_t space)
{
    hsize_t shape[H5_MAX_AXES] = {0};
    a->n_axes = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || a->n_axes < 1 || a->n_axes > H5_MAX_AXES)
        return stream_fail(a->f->s,
                           "\"%s\" has %d axes; only tables with 1 to %d axes are supported",
                           QUOTE(a->path), a->n_axes, H5_MAX_AXES);
    H5Sget_simple_extent_dims(space, shape, NULL);
    a->width = 1;
    for (int k = 0; k < a->n_axes; k++) {
        a->shape[k] = shape[k] > INT64_MAX ? -1 : (int64_t)shape[k];
        if (a->shape[k] < 0 || (k > 0 && !mul_ok(a->width, a->shape[k], &a->width)))
            return stream_fail(a->f->s, "\"%s\" declares a size that is too large", QUOTE(a->path));
    }
    return DDSC_OK;
}

/* Checks that the declared size is at most the stored size times the expansion limit. libhdf5 fills
 * in missing chunks, so a small file could otherwise declare any size. */
static ddsc_status check_size(h5_array *a, hid_t type, int64_t *most)
{
    int64_t bytes = 0, stored = (int64_t)BASE_MIN(H5Dget_storage_size(a->id), (hsize_t)a->f->size);
    bool fits = mul_ok(a->shape[0], a->width, &bytes) &&
                mul_ok(bytes, (int64_t)BASE_MAX(H5Tget_size(type), 8), &bytes);
    *most = BASE_MAX(STREAM_EXPANSION_FLOOR, stored * STREAM_EXPANSION_RATIO);
    if (!fits || bytes > *most || bytes > stream_limit(a->f->s))
        return stream_fail(
            a->f->s, "\"%s\" declares %lld rows of %lld values, but only %lld bytes are stored",
            QUOTE(a->path), (long long)a->shape[0], (long long)a->width, (long long)stored);
    return DDSC_OK;
}

static ddsc_status check_array(h5_array *a, hid_t type, hid_t space)
{
    int64_t most, chunk_rows;
    H5T_class_t class = H5Tget_class(type);
    a->is_text = class == H5T_STRING;
    a->is_float = class == H5T_FLOAT;
    if (!a->is_text && class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_ENUM)
        return stream_fail(a->f->s, "\"%s\" contains neither numbers nor text", QUOTE(a->path));
    CHECK(read_axes(a, space));
    CHECK(check_size(a, type, &most));
    CHECK(check_layout(a, H5Tget_size(type), most, &chunk_rows));
    a->batch = BASE_MAX(BATCH_BYTES / 8 / BASE_MAX(a->width, 1), 1);
    if (chunk_rows > 0 && chunk_rows <= CHUNK_BYTES / 8 / BASE_MAX(a->width, 1))
        a->batch = BASE_ROUND_UP(a->batch, chunk_rows); /* avoids decompressing a chunk twice */
    return DDSC_OK;
}

ddsc_status h5_raw_array_open(h5_file *f, h5_array *a, const char *path)
{
    *a = (h5_array){.f = f, .id = -1};
    snprintf(a->path, sizeof a->path, "%s", path);
    h5_turn turn = h5_begin();
    ddsc_status status = h5_reach(f, path, &a->id);
    if (status >= 0 && (a->id < 0 || H5Iget_type(a->id) != H5I_DATASET))
        status = stream_fail(f->s, "has no table \"%s\"", QUOTE(path));
    if (status >= 0) {
        hid_t type = H5Dget_type(a->id), space = H5Dget_space(a->id);
        status = type < 0 || space < 0 ? h5_fail(f, "damaged HDF5 data at", path)
                                       : check_array(a, type, space);
        if (type >= 0)
            H5Tclose(type);
        if (space >= 0)
            H5Sclose(space);
    }
    h5_end(turn);
    if (status < 0)
        h5_raw_array_close(a);
    return status;
}

void h5_raw_array_close(h5_array *a)
{
    if (!a->f || a->id < 0)
        return;
    h5_turn turn = h5_begin();
    H5Oclose(a->id);
    h5_end(turn);
    a->id = -1;
}

/* ---- reading ---- */

/* Reads n rows and converts them to `type`. The caller must hold the lock. */
static bool read_run(h5_array *a, int64_t begin, int64_t n, hid_t type, hid_t transfer, void *out)
{
    hsize_t start[H5_MAX_AXES] = {(hsize_t)begin}, count[H5_MAX_AXES] = {(hsize_t)n};
    for (int k = 1; k < a->n_axes; k++)
        count[k] = (hsize_t)a->shape[k];
    hid_t space = H5Dget_space(a->id), memory = H5Screate_simple(a->n_axes, count, NULL);
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dread(a->id, type, memory, space, transfer, out) >= 0;
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return good;
}

ddsc_status h5_raw_numbers(h5_array *a, int64_t begin, int64_t n, bool integers, void *out)
{
    h5_turn turn = h5_begin();
    hid_t type = integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    ddsc_status status = read_run(a, begin, n, type, H5P_DEFAULT, out)
                             ? DDSC_OK
                             : h5_fail(a->f, "damaged HDF5 data in", a->path);
    h5_end(turn);
    return status;
}

/* ---- texts ---- */

/* The memory for texts of variable length, which libhdf5 allocates with block_get. block_get limits
 * the total size of the texts, even if many elements point to one long text, and allows the memory
 * to be freed if a read fails. */
typedef struct text_blocks {
    ddsc_context *ctx;
    ddsc_status status;
    size_t bytes;
    int n;
    void *block[TEXTS_AT_ONCE];
} text_blocks;

static void *block_get(size_t size, void *arg)
{
    text_blocks *b = arg;
    b->bytes += BASE_MIN(size, (size_t)H5_TEXT_BYTES);
    if (b->n == TEXTS_AT_ONCE || b->bytes >= H5_TEXT_BYTES || b->status < 0)
        return NULL;
    b->status = mem_get(b->ctx, &b->block[b->n], (int64_t)size, 1);
    return b->status < 0 ? NULL : b->block[b->n++];
}

/* Does nothing, because variable_texts frees all blocks together. */
static void block_keep(void *block, void *arg)
{
    (void)block, (void)arg;
}

static ddsc_status give_text(h5_array *a, int64_t element, const char *text, size_t n,
                             h5_text_fn fn, void *arg)
{
    /* Many elements may point to the same text, so the total size of the texts is limited like that
     * of a decompressed file. */
    int64_t most =
        BASE_MAX(STREAM_EXPANSION_FLOOR,
                 BASE_MIN(a->f->size, INT64_MAX / STREAM_EXPANSION_RATIO) * STREAM_EXPANSION_RATIO);
    most = BASE_MIN(most, stream_limit(a->f->s));
    a->f->text_bytes += (int64_t)n + 1;
    if (a->f->text_bytes > most)
        return stream_fail(
            a->f->s, "the texts of \"%s\" total more than %lld bytes, in a file of %lld bytes",
            QUOTE(a->path), (long long)most, (long long)a->f->size);
    if (text_count_chars(text) < 0)
        return stream_fail(a->f->s, "element %lld of \"%s\" is not UTF-8", (long long)element,
                           QUOTE(a->path));
    return fn(arg, element, text, n);
}

static ddsc_status variable_texts(h5_array *a, hid_t type, int64_t begin, int64_t n, h5_text_fn fn,
                                  void *arg)
{
    text_blocks blocks = {.ctx = a->f->ctx};
    char *text[TEXTS_AT_ONCE] = {NULL};
    h5_turn turn = h5_begin();
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_vlen_mem_manager(transfer, block_get, &blocks, block_keep, &blocks);
    bool good = read_run(a, begin, n, type, transfer, text);
    ddsc_status status = blocks.status;
    if (!good && status >= 0)
        status =
            blocks.bytes >= H5_TEXT_BYTES
                ? stream_fail(a->f->s, "\"%s\" contains texts that are too long", QUOTE(a->path))
                : h5_fail(a->f, "damaged HDF5 data in", a->path);
    H5Pclose(transfer);
    h5_end(turn);
    for (int64_t k = 0; k < n && status >= 0; k++) {
        const char *one = text[k] ? text[k] : "";
        status = give_text(a, begin + k, one, strlen(one), fn, arg);
    }
    mem_free_all(a->f->ctx, (size_t)blocks.n, blocks.block);
    return status;
}

static ddsc_status fixed_texts(h5_array *a, hid_t type, size_t size, int64_t begin, int64_t n,
                               h5_text_fn fn, void *arg)
{
    ddsc_status status = DDSC_OK;
    char *text = NULL;
    TRY(mem_zero(a->f->ctx, &text, n, size));
    h5_turn turn = h5_begin();
    if (!read_run(a, begin, n, type, H5P_DEFAULT, text))
        status = h5_fail(a->f, "damaged HDF5 data in", a->path);
    h5_end(turn);
    for (int64_t k = 0; k < n && status >= 0; k++) {
        char *one =
            text + (size_t)k * size; /* each text has one byte more than in the file, for the NUL */
        status = give_text(a, begin + k, one, strlen(one), fn, arg);
    }
done:
    mem_free(a->f->ctx, text);
    return status;
}

/* Determines the type that texts have in memory. The size is 0 for texts of variable length. */
static void text_type(h5_array *a, hid_t *type, size_t *size)
{
    hid_t stored = H5Dget_type(a->id);
    *size = H5Tis_variable_str(stored) > 0 ? 0 : H5Tget_size(stored) + 1;
    *type = H5Tcopy(H5T_C_S1);
    H5Tset_cset(*type, H5Tget_cset(stored));
    H5Tset_size(*type, *size ? *size : H5T_VARIABLE);
    H5Tclose(stored);
}

ddsc_status h5_raw_texts(h5_array *a, int64_t begin, int64_t n_texts, h5_text_fn fn, void *arg)
{
    ddsc_status status = DDSC_OK;
    hid_t type;
    size_t size;
    h5_turn turn = h5_begin();
    text_type(a, &type, &size);
    h5_end(turn);
    if (size > H5_TEXT_BYTES)
        TRY(stream_fail(a->f->s, "\"%s\" contains strings of %zu bytes, which exceeds the limit",
                        QUOTE(a->path), size));
    int64_t batch = size ? BASE_MAX(BATCH_BYTES / (int64_t)size, 1) : TEXTS_AT_ONCE;
    for (int64_t at = begin; at < begin + n_texts && status == DDSC_OK; at += batch) {
        int64_t n = BASE_MIN(batch, begin + n_texts - at);
        TRY(size ? fixed_texts(a, type, size, at, n, fn, arg)
                 : variable_texts(a, type, at, n, fn, arg));
    }
done:
    turn = h5_begin();
    H5Tclose(type);
    h5_end(turn);
    return status;
}

#endif
