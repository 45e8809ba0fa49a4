/* Implements the functions that readers call. Each call sends a request to a child process that
 * uses libhdf5, or serves it in this process if the context requests no child. Replies from the
 * child are checked before they are used. */
#include "io/hdf5/hdf5.h"

#ifdef DDSC_HAVE_HDF5
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "io/hdf5/internal.h"

enum { TEXTS_PER_REQUEST = 1 << 14 };

/* ---- serving requests ---- */

static ddsc_status add_value_text(void *arg, int64_t element, const char *text, size_t n)
{
    h5_exchange *x = arg;
    (void)element;
    memcpy(x->values + x->used, text, n + 1);
    x->used += (int64_t)n + 1;
    x->n++;
    /* Stops if the next batch may not fit. A batch has less than H5_TEXT_BYTES of text, plus a NUL
     * per text. */
    return x->used > H5_ROOM - 2 * H5_TEXT_BYTES ? DDSC_NOT_CONVERGED : DDSC_OK;
}

static ddsc_status serve_texts(h5_exchange *x)
{
    int64_t n = x->n;
    x->n = x->used = 0;
    ddsc_status status = h5_raw_texts(&x->array, x->begin, n, add_value_text, x);
    return status > 0 ? DDSC_OK : status;
}

ddsc_status h5_serve(h5_file *f)
{
    h5_exchange *x = f->exchange;
    x->array.f = f;
    switch (x->verb) {
    case H5_VERB_OPEN: return h5_raw_open(f);
    case H5_VERB_FIND: return h5_raw_find(f, x->path, &x->kind);
    case H5_VERB_ATTRIBUTE: return h5_raw_attribute(f, x->path, x->name, x->text);
    case H5_VERB_SHAPE: return h5_raw_shape(f, x->path, x->name, x->shape, &x->found);
    case H5_VERB_LIST: return h5_raw_list(f, x->path, x->text, sizeof x->text);
    case H5_VERB_NAME: return h5_raw_name(f, x->path, x->begin, x->text, &x->found);
    case H5_VERB_ARRAY_OPEN: return h5_raw_array_open(f, &x->array, x->path);
    case H5_VERB_ARRAY_CLOSE: h5_raw_array_close(&x->array); return DDSC_OK;
    case H5_VERB_DOUBLES: return h5_raw_numbers(&x->array, x->begin, x->n, false, x->values);
    case H5_VERB_INTEGERS: return h5_raw_numbers(&x->array, x->begin, x->n, true, x->values);
    case H5_VERB_TEXTS: return serve_texts(x);
    }
    return DDSC_ERROR_INTERNAL;
}

/* ---- sending requests ---- */

static ddsc_status call_libhdf5(h5_file *f, h5_verb verb, const char *path, const char *name)
{
    h5_exchange *x = f->exchange;
    x->verb = verb;
    snprintf(x->path, sizeof x->path, "%s", path);
    snprintf(x->name, sizeof x->name, "%s", name);
    CHECK(progress_poll(f->ctx));
    ddsc_status status = f->child ? h5_child_ask(f) : h5_serve(f);
    x->text[H5_LIST_TEXT - 1] = '\0';
    return status;
}

static ddsc_status call_on_array(h5_array *a, h5_verb verb, int64_t begin, int64_t n)
{
    h5_exchange *x = a->f->exchange;
    x->array = *a;
    x->begin = begin;
    x->n = n;
    return call_libhdf5(a->f, verb, a->path, "");
}

ddsc_status h5_open(ddsc_context *ctx, h5_file *f, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    *f = (h5_file){.ctx = ctx, .s = s, .id = -1, .socket = -1, .handle = -1};
    CHECK(stream_make_random(s, &f->size));
    if (!stream_path(s) && !stream_memory(s)) {
        TRY(MEM_NEW(ctx, f->image, f->size));
        TRY(stream_read_at(s, 0, f->image, (size_t)f->size, "the HDF5 file"));
    }
    void *shared = mmap(NULL, sizeof *f->exchange + H5_ROOM, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        TRY(ctx_fail(ctx, DDSC_ERROR_MEMORY, "%s: not enough memory to read HDF5", stream_name(s)));
    f->exchange = shared;
    if (ctx_read_timeout(ctx) >= 0)
        TRY(h5_child_start(f));
    TRY(call_libhdf5(f, H5_VERB_OPEN, "", ""));
done:
    if (status < 0)
        h5_close(f);
    return status;
}

void h5_close(h5_file *f)
{
    if (!f->ctx)
        return;
    if (f->child)
        h5_child_stop(f);
    else
        h5_raw_close(f);
    if (f->exchange)
        munmap(f->exchange, sizeof *f->exchange + H5_ROOM);
    mem_free(f->ctx, f->image);
    *f = (h5_file){.id = -1, .socket = -1, .handle = -1};
}

ddsc_status h5_find(h5_file *f, const char *path, h5_kind *kind)
{
    CHECK(call_libhdf5(f, H5_VERB_FIND, path, ""));
    *kind = f->exchange->kind;
    return DDSC_OK;
}

ddsc_status h5_attribute(h5_file *f, const char *path, const char *name, char out[H5_ATTRIBUTE])
{
    CHECK(call_libhdf5(f, H5_VERB_ATTRIBUTE, path, name));
    snprintf(out, H5_ATTRIBUTE, "%.*s", H5_ATTRIBUTE - 1, f->exchange->text);
    return DDSC_OK;
}

ddsc_status h5_shape(h5_file *f, const char *path, const char *name, int64_t shape[2], bool *found)
{
    CHECK(call_libhdf5(f, H5_VERB_SHAPE, path, name));
    memcpy(shape, f->exchange->shape, sizeof f->exchange->shape);
    *found = f->exchange->found;
    return DDSC_OK;
}

ddsc_status h5_list(h5_file *f, const char *path, char *out, size_t capacity)
{
    CHECK(call_libhdf5(f, H5_VERB_LIST, path, ""));
    snprintf(out, capacity, "%s", f->exchange->text);
    return DDSC_OK;
}

ddsc_status h5_name(h5_file *f, const char *path, int64_t k, char name[H5_NAME], bool *more)
{
    f->exchange->begin = k;
    CHECK(call_libhdf5(f, H5_VERB_NAME, path, ""));
    snprintf(name, H5_NAME, "%s", f->exchange->text);
    *more = f->exchange->found;
    return DDSC_OK;
}

/* ---- arrays ---- */

/* Checks the child's reply, because libhdf5 may have processed damaged data. */
static ddsc_status check_opened(const h5_array *a)
{
    int64_t width = 1;
    bool good = a->n_axes >= 1 && a->n_axes <= H5_MAX_AXES && a->batch >= 1;
    for (int k = 0; good && k < a->n_axes; k++)
        good = a->shape[k] >= 0 && (k == 0 || mul_ok(width, a->shape[k], &width));
    return good && width == a->width
               ? DDSC_OK
               : stream_fail(a->f->s, "damaged HDF5 data at \"%s\"", QUOTE(a->path));
}

ddsc_status h5_array_open(h5_file *f, h5_array *a, const char *path)
{
    *a = (h5_array){.f = f, .id = -1};
    snprintf(a->path, sizeof a->path, "%s", path);
    CHECK(call_on_array(a, H5_VERB_ARRAY_OPEN, 0, 0));
    *a = f->exchange->array;
    a->f = f;
    snprintf(a->path, sizeof a->path, "%s", path);
    return check_opened(a);
}

void h5_array_close(h5_array *a)
{
    if (!a->f || a->id < 0)
        return;
    if (a->f->child == 0) { /* a child keeps its few arrays open until it exits */
        a->f->exchange->array = *a;
        h5_raw_array_close(a);
    }
    a->id = -1;
}

static ddsc_status read_batches(h5_array *a, int64_t begin, int64_t n, h5_verb verb, void *out)
{
    if (a->is_text)
        return stream_fail(a->f->s, "\"%s\" contains text; expected numbers", QUOTE(a->path));
    if (begin < 0 || n < 0 || begin > a->shape[0] - n)
        return stream_fail(a->f->s, "\"%s\" has only %lld rows", QUOTE(a->path),
                           (long long)a->shape[0]);
    if (a->width > H5_ROOM / 8)
        return stream_fail(a->f->s, "\"%s\" has rows of %lld values, which is too many",
                           QUOTE(a->path), (long long)a->width);
    int64_t batch = a->width ? BASE_MIN(a->batch, H5_ROOM / 8 / a->width) : n;
    for (int64_t at = 0; at < n && a->width > 0; at += batch) {
        int64_t here = BASE_MIN(batch, n - at);
        CHECK(call_on_array(a, verb, begin + at, here));
        memcpy((unsigned char *)out + at * a->width * 8, a->f->exchange->values,
               (size_t)(here * a->width) * 8);
    }
    return DDSC_OK;
}

ddsc_status h5_read_doubles(h5_array *a, int64_t begin, int64_t n, double *out)
{
    return read_batches(a, begin, n, H5_VERB_DOUBLES, out);
}

ddsc_status h5_read_integers(h5_array *a, int64_t begin, int64_t n, int64_t *out)
{
    return read_batches(a, begin, n, H5_VERB_INTEGERS, out);
}

static ddsc_status give_texts(h5_array *a, int64_t begin, int64_t n, h5_text_fn fn, void *arg)
{
    const h5_exchange *x = a->f->exchange;
    int64_t at = 0;
    for (int64_t k = 0; k < n; k++) {
        const char *text = (const char *)x->values + at;
        size_t length = strnlen(text, (size_t)(H5_ROOM - at));
        at += (int64_t)length + 1;
        if (at > H5_ROOM)
            return stream_fail(a->f->s, "damaged HDF5 data in \"%s\"", QUOTE(a->path));
        CHECK(fn(arg, begin + k, text, length));
    }
    return DDSC_OK;
}

static ddsc_status read_strings(h5_array *a, h5_text_fn fn, void *arg)
{
    for (int64_t at = 0; at < a->shape[0];) {
        int64_t most = BASE_MIN((int64_t)TEXTS_PER_REQUEST, a->shape[0] - at);
        CHECK(call_on_array(a, H5_VERB_TEXTS, at, most));
        int64_t n = a->f->exchange->n;
        if (n < 1 || n > most)
            return stream_fail(a->f->s, "damaged HDF5 data in \"%s\"", QUOTE(a->path));
        CHECK(give_texts(a, at, n, fn, arg));
        at += n;
    }
    return DDSC_OK;
}

/* Passes numbers as texts with 17 significant digits. Integers have no decimal point. */
static ddsc_status values_as_texts(h5_array *a, h5_text_fn fn, void *arg)
{
    ddsc_status status = DDSC_OK;
    double *value = NULL;
    char text[NUMBER_TEXT];
    TRY(MEM_NEW(a->f->ctx, value, BASE_MIN(a->batch, a->shape[0])));
    for (int64_t at = 0; at < a->shape[0]; at += a->batch) {
        int64_t n = BASE_MIN(a->batch, a->shape[0] - at);
        TRY(h5_read_doubles(a, at, n, value));
        for (int64_t k = 0; k < n; k++)
            TRY(fn(arg, at + k, text, (size_t)number_format(text, value[k])));
    }
done:
    mem_free(a->f->ctx, value);
    return status;
}

ddsc_status h5_read_texts(h5_array *a, h5_text_fn fn, void *arg)
{
    if (a->n_axes != 1)
        return stream_fail(a->f->s, "\"%s\" has %d axes; expected one", QUOTE(a->path), a->n_axes);
    return a->is_text ? read_strings(a, fn, arg) : values_as_texts(a, fn, arg);
}

#else

ddsc_status h5_open(ddsc_context *ctx, h5_file *f, io_stream *s)
{
    *f = (h5_file){.ctx = ctx, .id = -1};
    return stream_fail(
        s, "is an HDF5 file, and this build has no libhdf5; install libhdf5-dev and rebuild, or "
           "read the file in Python (anndata, then Distributions.from_anndata)");
}

#endif
