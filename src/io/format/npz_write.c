/* Writes npz files with uncompressed members and fixed timestamps. 64-bit records are used only if
 * the sizes require them. The elements of an array are generated twice, first for the checksum and
 * then for the file, so arrays need not be buffered and the file is written without seeking. */
#include "io/format/archive.h"

#include <stdio.h>
#include <string.h>

#include "base/workspace.h"

enum {
    CHUNK_BYTES = 1 << 18,
    VERSION_PLAIN = 20,
    VERSION_64 = 45,
    STAMP_DATE = 0x21 /* 1980-01-01 */
};

typedef struct member {
    char name[ZIP_NAME_MAX];
    uint32_t crc;
    int64_t size, offset;
} member;

struct npz_writer {
    ddsc_context *ctx;
    io_writer *w;
    int64_t at, limit32;
    member *member;
    int64_t n, capacity;
};

/* A zip record under construction, in little-endian order. */
typedef struct npz_record {
    unsigned char byte[160];
    size_t n;
} npz_record;

static void npz_add(npz_record *r, uint64_t value, int n_bytes)
{
    for (int k = 0; k < n_bytes; k++, value >>= 8)
        r->byte[r->n++] = (unsigned char)value;
}

static void npz_add_name(npz_record *r, const char *name)
{
    size_t n = strlen(name);
    memcpy(r->byte + r->n, name, n);
    memcpy(r->byte + r->n + n, ".npy", 4);
    r->n += n + 4;
}

static ddsc_status npz_put(npz_writer *z, const void *bytes, size_t n)
{
    z->at += (int64_t)n;
    return writer_put(z->w, bytes, n);
}

ddsc_status npz_writer_open(ddsc_context *ctx, npz_writer **out, io_writer *w)
{
    CHECK(MEM_ZERO(ctx, *out, 1));
    (*out)->ctx = ctx;
    (*out)->w = w;
    (*out)->limit32 = 0xfffffffe;
    return DDSC_OK;
}

void npz_writer_set_limit32(npz_writer *z, int64_t limit)
{
    z->limit32 = limit;
}

void npz_writer_close(npz_writer *z)
{
    if (!z)
        return;
    mem_free(z->ctx, z->member);
    mem_free(z->ctx, z);
}

/* ---- members ---- */

/* Adds the fields that local and central headers share, from "version needed" to the length of the
 * name. */
static void add_common(npz_record *r, const npz_writer *z, const member *m, bool is64)
{
    bool big = m->size > z->limit32;
    npz_add(r, is64 ? VERSION_64 : VERSION_PLAIN, 2);
    npz_add(r, 0, 2); /* flags */
    npz_add(r, 0, 2); /* uncompressed */
    npz_add(r, 0, 2); /* time */
    npz_add(r, STAMP_DATE, 2);
    npz_add(r, m->crc, 4);
    npz_add(r, big ? 0xffffffff : (uint64_t)m->size, 4);
    npz_add(r, big ? 0xffffffff : (uint64_t)m->size, 4);
    npz_add(r, strlen(m->name) + 4, 2);
}

static ddsc_status put_local(npz_writer *z, const member *m)
{
    npz_record r = {.n = 0};
    bool big = m->size > z->limit32;
    npz_add(&r, 0x04034b50, 4);
    add_common(&r, z, m, big);
    npz_add(&r, big ? 20 : 0, 2);
    npz_add_name(&r, m->name);
    if (big) {
        npz_add(&r, 1, 2);
        npz_add(&r, 16, 2);
        npz_add(&r, (uint64_t)m->size, 8);
        npz_add(&r, (uint64_t)m->size, 8);
    }
    return npz_put(z, r.byte, r.n);
}

static ddsc_status put_central(npz_writer *z, const member *m)
{
    npz_record r = {.n = 0};
    bool big = m->size > z->limit32, far = m->offset > z->limit32;
    uint64_t n_extra = (big ? 16u : 0u) + (far ? 8u : 0u);
    npz_add(&r, 0x02014b50, 4);
    npz_add(&r, VERSION_64 | 3 << 8, 2); /* version made by: 4.5, on Unix */
    add_common(&r, z, m, big || far);
    npz_add(&r, n_extra ? n_extra + 4 : 0, 2);
    npz_add(&r, 0, 2); /* length of the comment */
    npz_add(&r, 0, 2); /* disk number */
    npz_add(&r, 0, 2); /* internal attributes */
    npz_add(&r, (uint64_t)0100644 << 16, 4);
    npz_add(&r, far ? 0xffffffff : (uint64_t)m->offset, 4);
    npz_add_name(&r, m->name);
    if (n_extra) {
        npz_add(&r, 1, 2);
        npz_add(&r, n_extra, 2);
        if (big) {
            npz_add(&r, (uint64_t)m->size, 8);
            npz_add(&r, (uint64_t)m->size, 8);
        }
        if (far)
            npz_add(&r, (uint64_t)m->offset, 8);
    }
    return npz_put(z, r.byte, r.n);
}

/* An array to write. Its rows are stored at `arg`, or `fill` generates them. */
typedef struct elements {
    int64_t n_rows, row_bytes, step; /* number of rows generated at a time */
    npz_fill_fn fill;
    const void *arg;
    scratch work; /* per worker, a buffer of `step` rows for `fill` */
    uint32_t *crc;
} elements;

static const unsigned char *elements_get(const elements *e, int64_t begin, int64_t end, int worker)
{
    if (!e->fill)
        return (const unsigned char *)e->arg + begin * e->row_bytes;
    unsigned char *made = scratch_of(&e->work, worker);
    e->fill(e->arg, begin, end, made);
    return made;
}

static ddsc_status checksum_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const elements *e = arg;
    e->crc[begin / e->step] = stream_checksum(0, elements_get(e, begin, end, worker),
                                              (size_t)((end - begin) * e->row_bytes));
    return DDSC_OK;
}

/* Computes the checksum of the header and the elements. `before` is the checksum of the header. */
static ddsc_status elements_sum(ddsc_context *ctx, elements *e, uint32_t before, uint32_t *sum)
{
    ddsc_status status = DDSC_OK;
    TRY(MEM_NEW(ctx, e->crc, e->n_rows / e->step + 1));
    TRY(parallel_for(ctx, e->n_rows, e->step, checksum_rows, e));
    *sum = before;
    for (int64_t at = 0; at < e->n_rows; at += e->step)
        *sum = stream_checksum_join(*sum, e->crc[at / e->step],
                                    BASE_MIN(e->step, e->n_rows - at) * e->row_bytes);
done:
    mem_free(ctx, e->crc);
    return status;
}

static ddsc_status put_elements(npz_writer *z, const elements *e)
{
    for (int64_t at = 0; at < e->n_rows; at += e->step) {
        int64_t end = BASE_MIN(at + e->step, e->n_rows);
        CHECK(npz_put(z, elements_get(e, at, end, 0), (size_t)((end - at) * e->row_bytes)));
    }
    return DDSC_OK;
}

static ddsc_status npz_put_member(npz_writer *z, member *m, const char *header, size_t n_header,
                                  elements *e)
{
    CHECK(elements_sum(z->ctx, e, stream_checksum(0, header, n_header), &m->crc));
    CHECK(MEM_RESERVE(z->ctx, z->member, &z->capacity, z->n + 1));
    z->member[z->n++] = *m;
    CHECK(put_local(z, m));
    CHECK(npz_put(z, header, n_header));
    return put_elements(z, e);
}

ddsc_status npz_writer_add(npz_writer *z, const char *name, const char *descr, int n_dims,
                           const int64_t *shape, int64_t item_bytes, npz_fill_fn fill,
                           const void *arg)
{
    char header[NPY_HEADER_MAX];
    size_t n_header = npy_format_header(header, descr, n_dims, shape);
    int64_t row_bytes = item_bytes, bytes;
    bool fits = true;
    for (int k = 1; k < n_dims; k++)
        fits = fits && mul_ok(row_bytes, shape[k], &row_bytes);
    if (!fits || row_bytes < 1 || !mul_ok(shape[0], row_bytes, &bytes) ||
        strlen(name) >= ZIP_NAME_MAX)
        return ctx_fail(z->ctx, DDSC_ERROR_ARGUMENT, "the array '%s' cannot be written", name);
    member m = {.size = bytes + (int64_t)n_header, .offset = z->at};
    strcpy(m.name, name);
    elements e = {.n_rows = shape[0], .row_bytes = row_bytes, .fill = fill, .arg = arg};
    e.step = BASE_MAX(CHUNK_BYTES / row_bytes, 1);
    if (fill)
        CHECK(scratch_create(z->ctx, &e.work, BASE_MIN(e.step, e.n_rows), (size_t)row_bytes));
    ddsc_status status = npz_put_member(z, &m, header, n_header, &e);
    scratch_free(z->ctx, &e.work);
    return status;
}

ddsc_context *npz_writer_context(const npz_writer *z)
{
    return z->ctx;
}

ddsc_status npz_writer_finish(npz_writer *z)
{
    int64_t begin = z->at;
    for (int64_t k = 0; k < z->n; k++)
        CHECK(put_central(z, &z->member[k]));
    int64_t size = z->at - begin, end = z->at;
    bool is64 = begin > z->limit32;
    npz_record r = {.n = 0};
    if (is64) {
        npz_add(&r, 0x06064b50, 4);
        npz_add(&r, 44, 8);
        npz_add(&r, VERSION_64, 2);
        npz_add(&r, VERSION_64, 2);
        npz_add(&r, 0, 8); /* disk numbers */
        npz_add(&r, (uint64_t)z->n, 8);
        npz_add(&r, (uint64_t)z->n, 8);
        npz_add(&r, (uint64_t)size, 8);
        npz_add(&r, (uint64_t)begin, 8);
        npz_add(&r, 0x07064b50, 4);
        npz_add(&r, 0, 4);
        npz_add(&r, (uint64_t)end, 8);
        npz_add(&r, 1, 4);
    }
    npz_add(&r, 0x06054b50, 4);
    npz_add(&r, 0, 4); /* disk numbers */
    npz_add(&r, (uint64_t)z->n, 2);
    npz_add(&r, (uint64_t)z->n, 2);
    npz_add(&r, (uint64_t)size, 4);
    npz_add(&r, is64 ? 0xffffffff : (uint64_t)begin, 4);
    npz_add(&r, 0, 2);
    return npz_put(z, r.byte, r.n);
}

/* ---- sets: the arrays do not include dropped items ---- */

static void npz_fill_points(const void *arg, int64_t begin, int64_t end, unsigned char *out)
{
    const measures *m = arg;
    size_t bytes = (size_t)m->d * sizeof(double);
    for (int64_t p = begin; p < end; p++)
        memcpy(out + (size_t)(p - begin) * bytes, measures_point(m, m->index[p]), bytes);
}

static void npz_fill_labels(const void *arg, int64_t begin, int64_t end, unsigned char *out)
{
    const measures *m = arg;
    for (int64_t i = begin; i < end; i++)
        memcpy(out + 4 * (i - begin), m->label + m->row[i], 4);
}

/* Return the names of coordinates, of points (per entry or per support row), and of items. */
static const char *coordinate_name(const void *arg, int64_t k)
{
    const measures *m = arg;
    return texts_get(&m->coordinates, k);
}

static const char *entry_name(const void *arg, int64_t p)
{
    const measures *m = arg;
    return texts_get(&m->points, m->index[p]);
}

static const char *support_name(const void *arg, int64_t row)
{
    const measures *m = arg;
    return texts_get(&m->points, row);
}

static const char *meta_name(const void *arg, int64_t k)
{
    const measures *m = arg;
    return texts_get(&m->meta_names, k);
}

static const char *meta_value(const void *arg, int64_t i)
{
    const measures *m = arg;
    int64_t width = m->meta_names.n;
    return texts_get(&m->meta, m->row[i / width] * width + i % width);
}

static const char *item_title(const void *arg, int64_t i)
{
    const measures *m = arg;
    return texts_get(&m->titles, m->row[i]);
}

typedef struct strings {
    const void *arg;
    npz_string_fn get;
    int64_t n, width; /* width: length of the longest text, in characters or bytes */
    bool unicode;
} strings;

static const char *item_id(const void *arg, int64_t i)
{
    const measures *m = arg;
    return ddsc_measures_get_id(m, m->row[i]);
}

static const char *class_name(const void *arg, int64_t i)
{
    const measures *m = arg;
    return m->name_text + m->name_at[i];
}

static void measure_strings(strings *s)
{
    s->unicode = true;
    s->width = 1;
    for (int64_t i = 0; i < s->n && s->unicode; i++) {
        int64_t n = text_count_chars(s->get(s->arg, i));
        s->unicode = n >= 0;
        s->width = BASE_MAX(s->width, n);
    }
    for (int64_t i = 0; i < s->n && !s->unicode; i++)
        s->width = BASE_MAX(s->width, (int64_t)strlen(s->get(s->arg, i)));
}

static void fill_strings(const void *arg, int64_t begin, int64_t end, unsigned char *out)
{
    const strings *s = arg;
    size_t bytes = (size_t)s->width * (s->unicode ? 4 : 1);
    memset(out, 0, (size_t)(end - begin) * bytes);
    for (int64_t i = begin; i < end; i++, out += bytes) {
        const char *text = s->get(s->arg, i);
        const unsigned char *at = (const unsigned char *)text;
        if (!s->unicode)
            memcpy(out, text, strlen(text));
        for (size_t k = 0; s->unicode && *at; k++) {
            uint32_t c = (uint32_t)text_next_char(&at);
            memcpy(out + 4 * k, &c, 4);
        }
    }
}

ddsc_status npz_add_strings(npz_writer *z, const char *name, npz_string_fn get, const void *arg,
                            int64_t n)
{
    strings s = {.arg = arg, .get = get, .n = n};
    char descr[32];
    measure_strings(&s);
    snprintf(descr, sizeof descr, "%s%lld", s.unicode ? (NUM_HOST_LITTLE ? "<U" : ">U") : "|S",
             (long long)s.width);
    return npz_writer_add(z, name, descr, 1, &n, s.width * (s.unicode ? 4 : 1), fill_strings, &s);
}

static ddsc_status npz_add_names(npz_writer *z, const measures *m)
{
    bool shared = measures_is_shared(m);
    if (m->coordinates.n > 0)
        CHECK(npz_add_strings(z, "coordinate_names", coordinate_name, m, m->d));
    if (m->points.n > 0)
        CHECK(npz_add_strings(z, "point_names", shared ? support_name : entry_name, m,
                              shared ? m->v : m->nnz));
    if (m->titles.n > 0)
        CHECK(npz_add_strings(z, "titles", item_title, m, m->n));
    if (m->meta.n > 0) {
        CHECK(npz_add_strings(z, "meta_names", meta_name, m, m->meta_names.n));
        CHECK(npz_add_strings(z, "meta", meta_value, m, m->n * m->meta_names.n));
    }
    return DDSC_OK;
}

ddsc_status npz_add_items(npz_writer *z, const measures *m)
{
    int64_t points[2] = {m->nnz, m->d}, support[2] = {m->v, m->d}, n_offsets = m->n + 1;
    if (measures_is_shared(m)) {
        CHECK(npz_writer_add(z, "support", NPY_FLOAT8, 2, support, 8, NULL, m->support));
        CHECK(npz_writer_add(z, "indices", NPY_INT4, 1, &m->nnz, 4, NULL, m->index));
    } else {
        CHECK(npz_writer_add(z, "points", NPY_FLOAT8, 2, points, 8, npz_fill_points, m));
    }
    CHECK(npz_writer_add(z, "weights", NPY_FLOAT8, 1, &m->nnz, 8, NULL, m->weight));
    CHECK(npz_writer_add(z, "offsets", NPY_INT8, 1, &n_offsets, 8, NULL, m->offset));
    if (m->label)
        CHECK(npz_writer_add(z, "labels", NPY_INT4, 1, &m->n, 4, npz_fill_labels, m));
    if (m->label && m->n_names > 0)
        CHECK(npz_add_strings(z, "label_names", class_name, m, m->n_names));
    if (m->id_text || m->n < m->n_rows)
        CHECK(npz_add_strings(z, "ids", item_id, m, m->n));
    CHECK(npz_add_names(z, m));
    CHECK(npz_add_recipe(z, &m->recipe));
    CHECK(npz_add_counts(z, m));
    return npz_add_words(z, &m->words);
}

ddsc_status npz_write_measures(ddsc_context *ctx, const measures *m, io_writer *w)
{
    ddsc_status status = DDSC_OK;
    npz_writer *z = NULL;
    TRY(npz_writer_open(ctx, &z, w));
    TRY(npz_add_items(z, m));
    TRY(npz_writer_finish(z));
done:
    npz_writer_close(z);
    return status;
}
