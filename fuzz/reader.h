/* Runs one reader on bytes in memory, for the fuzz targets and the corpus test. For any bytes, the
 * reader must return a set, or an error with a message. */
#ifndef DDSC_FUZZ_READER_H
#define DDSC_FUZZ_READER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/model.h"
#include "data/recipe.h"
#include "io/format/format.h"
#include "text/text.h"

enum { FUZZ_MAX_BYTES = 1 << 26, FUZZ_MAX_MEMORY = 1 << 29 };

/* Reads documents in which every word has a vector of one coordinate. */
static inline ddsc_status fuzz_documents(ddsc_context *ctx, measures_parts *parts, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    ddsc_text_settings set;
    ddsc_text_report report = {0};
    documents docs = {0};
    word_vectors v = {.dim = 1}, fitted = {0};
    text_table stop = {0};
    int64_t number;
    bool is_new;
    ddsc_text_settings_init(&set);
    set.idf = DDSC_IDF_SMOOTH;
    TRY(text_table_add(ctx, &stop, "the", 3, &number, &is_new));
    TRY(documents_read(ctx, &docs, &report, s, &set, &stop, NULL));
    TRY(words_fit(ctx, &fitted, &report, &docs.words, &set));
    v.n = docs.words.words.n;
    TRY(MEM_ZERO(ctx, v.row, v.n));
    TRY(MEM_ZERO(ctx, v.point, v.n));
    for (int64_t k = 0; k < v.n; k++)
        v.row[k] = (int32_t)k;
    TRY(weights_make(ctx, parts, &docs.words, &v, docs.words.n, &set));
    if (docs.has_labels)
        TRY(label_list_finish(ctx, &docs.labels, parts));
done:
    documents_free(ctx, &docs);
    words_free_vectors(ctx, &fitted);
    words_free_vectors(ctx, &v);
    text_table_free(ctx, &stop);
    return status;
}

/* Reads word vectors for the words of one letter. */
static inline ddsc_status fuzz_vectors(ddsc_context *ctx, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    text_table words = {0};
    word_vectors v = {0};
    int64_t number;
    bool is_new;
    for (char letter = 'a'; letter <= 'z'; letter++)
        TRY(text_table_add(ctx, &words, &letter, 1, &number, &is_new));
    TRY(words_read_vectors(ctx, &v, s, &words));
done:
    words_free_vectors(ctx, &v);
    text_table_free(ctx, &words);
    return status;
}

/* Reads columns about three items, the first of which already has one. */
static inline ddsc_status fuzz_meta(ddsc_context *ctx, io_stream *s)
{
    static const char *const had = "age", *const values[] = {"1", "", "3"};
    static const char ids[] = "a\0b\0c";
    static const int64_t at[] = {0, 2, 4, 6};
    measures_texts names = {0}, meta = {0};
    ddsc_status status = texts_pack(ctx, &names, 1, &had);
    if (status >= 0)
        status = texts_pack(ctx, &meta, 3, values);
    meta_target to = {3, ids, at, &names, &meta, "items"};
    if (status >= 0)
        status = io_read_meta_stream(ctx, &to, s, "id");
    texts_free(ctx, &names);
    texts_free(ctx, &meta);
    return status;
}

/* Applies the transforms stored in a file to two points, as assign does. */
static inline ddsc_status fuzz_recipe(ddsc_context *ctx, const measures *m)
{
    ddsc_status status = DDSC_OK;
    const measures_recipe *r = &m->recipe;
    measures_parts p = {.n = 2, .v = 2, .nnz = 2, .d = recipe_dimension(r, m->d)};
    measures *raw = NULL, *moved = NULL;
    const char *batch[] = {texts_get(&r->batches, 0), "", ""};
    if (r->n == 0 || p.d < 1 || p.d > 64)
        return DDSC_OK;
    if (r->batches.n > 1) {
        batch[1] = texts_get(&r->batches, 1);
        batch[2] = texts_get(&r->batches, r->batches.n - 1);
    }
    TRY(MEM_NEW(ctx, p.support, 2 * p.d));
    TRY(MEM_NEW(ctx, p.offset, 3));
    for (int64_t k = 0; k < 2 * p.d; k++)
        p.support[k] = (double)k - 0.5;
    for (int64_t i = 0; i < 3; i++)
        p.offset[i] = i;
    TRY(texts_pack(ctx, &p.meta_names, 1, batch));
    TRY(texts_pack(ctx, &p.meta, 2, batch + 1));
    TRY(measures_build(ctx, &raw, &p, DDSC_EMPTY_ERROR, "points"));
    TRY(recipe_apply(ctx, &moved, raw, r));
done:
    measures_parts_free(ctx, &p);
    ddsc_measures_destroy(raw);
    ddsc_measures_destroy(moved);
    return status;
}

/* Removes the first item of a model, which uses its neighbor lists, marks and settings. Models that
 * would take long are only read. */
static inline ddsc_status fuzz_update(ddsc_context *ctx, const ddsc_model *m)
{
    const int64_t first = 0;
    ddsc_update *update = NULL;
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.kmeans_restarts = 2;
    set.resolve = m->n % 2;
    if (m->n > 64 || m->items->nnz > 1000 || m->items->d > 20 || m->run.mmd_features > 1000 ||
        m->metric.metric == DDSC_METRIC_SINKHORN)
        return DDSC_OK;
    ddsc_status status = ddsc_update_run(ctx, &update, m, NULL, 1, &first, &set);
    ddsc_update_destroy(update);
    return status;
}

static inline int fuzz_ignore(void *user, const void *bytes, size_t n)
{
    (void)user;
    (void)bytes;
    (void)n;
    return 0;
}

static inline void fuzz_write(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || (n > 0 && fwrite(bytes, 1, n, file) != n) || fclose(file) != 0)
        abort();
}

static inline void fuzz_remove(const char *folder)
{
    char path[256];
    snprintf(path, sizeof path, "%s/result.json", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/labels.csv", folder);
    unlink(path);
    rmdir(folder);
}

/* Compares a result with a fixed one. The bytes are result.json and labels.csv, separated by the
 * byte 0x1e. */
static inline ddsc_status fuzz_diff(ddsc_context *ctx, const uint8_t *data, size_t size)
{
    static const char tree[] = "{\"format_version\": 2, \"n\": 6, \"k\": 2, \"clusters\": []}";
    static const char labels[] = "id,label\na,0\nb,0\nc,0\nd,1\ne,1\nf,1\n";
    char first[] = "/tmp/ddsc-fuzz-XXXXXX", second[] = "/tmp/ddsc-fuzz-XXXXXX";
    const uint8_t *cut = size > 0 ? memchr(data, 0x1e, size) : NULL;
    size_t n = cut ? (size_t)(cut - data) : size;
    ddsc_diff *diff = NULL;
    ddsc_diff_side side[2];
    if (!mkdtemp(first) || !mkdtemp(second))
        abort();
    fuzz_write(first, "result.json", data, n);
    fuzz_write(first, "labels.csv", cut ? cut + 1 : data, cut ? size - n - 1 : 0);
    fuzz_write(second, "result.json", tree, sizeof tree - 1);
    fuzz_write(second, "labels.csv", labels, sizeof labels - 1);
    for (int k = 0; k < 2; k++) {
        ddsc_diff_side_init(&side[k]);
        side[k].folder = k ? second : first;
    }
    ddsc_status status = ddsc_diff_create(ctx, &diff, &side[0], &side[1], NULL);
    for (int form = 0; status >= 0 && form <= DDSC_DIFF_HTML; form++)
        status = ddsc_diff_write(ctx, diff, (ddsc_diff_form)form, fuzz_ignore, NULL);
    ddsc_diff_destroy(diff);
    fuzz_remove(first);
    fuzz_remove(second);
    return status;
}

static inline ddsc_status fuzz_measures(ddsc_context *ctx, const char *format, io_stream *s)
{
    measures_parts parts = {0};
    measures *m = NULL;
    ddsc_status status;
    ddsc_read_settings set;
    ddsc_format found;
    ddsc_read_settings_init(&set);
    set.arcsinh = 5;
    set.item_columns = "batch";
    if (strcmp(format, "npz") == 0)
        status = npz_read(ctx, &parts, s);
    else if (strcmp(format, "npy") == 0)
        status = npy_read_clouds(ctx, &parts, s, true);
    else if (strcmp(format, "csv") == 0)
        status = csv_read(ctx, &parts, s, &set);
    else if (strcmp(format, "idx") == 0)
        status = idx_read_images(ctx, &parts, s);
    else if (strcmp(format, "d2") == 0)
        status = d2_read(ctx, &parts, s, 0, 0);
    else if (strcmp(format, "image") == 0)
        status = io_read_parts(ctx, &parts, &found, s, &set, false);
    else if (strcmp(format, "cloud") == 0)
        status = cloud_read(ctx, &parts, s, &set);
    else if (strcmp(format, "h5ad") == 0) {
        set.id_columns = "sample";
        status = h5ad_read(ctx, &parts, s, &set);
    } else if (strcmp(format, "text") == 0)
        status = fuzz_documents(ctx, &parts, s);
    else
        status = fcs_read(ctx, &parts, s, &set);
    if (status >= 0)
        status = measures_build(ctx, &m, &parts, DDSC_EMPTY_DROP, stream_name(s));
    if (status >= 0)
        status = fuzz_recipe(ctx, m);
    measures_parts_free(ctx, &parts);
    ddsc_measures_destroy(m);
    return status;
}

static inline ddsc_status fuzz_other(ddsc_context *ctx, const char *format, io_stream *s)
{
    measures_parts parts = {0};
    d2_table table = {0};
    double *matrix = NULL;
    int64_t n = 0;
    ddsc_model *model = NULL;
    ddsc_status status;
    if (strcmp(format, "labels") == 0)
        status = labels_read_stream(ctx, &parts, s);
    else if (strcmp(format, "vocab") == 0)
        status = d2_read_vocabulary(ctx, &table, s);
    else if (strcmp(format, "hist") == 0)
        status = d2_read_costs(ctx, &table, s);
    else if (strcmp(format, "meta") == 0)
        status = fuzz_meta(ctx, s);
    else if (strcmp(format, "vectors") == 0)
        status = fuzz_vectors(ctx, s);
    else if (strcmp(format, "model") == 0)
        status = npz_read_model(ctx, &model, s);
    else
        status = mtx_read_matrix(ctx, &matrix, &n, s);
    measures_parts_free(ctx, &parts);
    mem_free(ctx, table.point);
    mem_free(ctx, matrix);
    if (status >= 0 && model)
        status = fuzz_update(ctx, model);
    ddsc_model_destroy(model);
    return status;
}

static inline bool fuzz_is_measures(const char *format)
{
    static const char *const kinds[] = {"npz", "npy",   "csv",   "idx",  "d2",
                                        "fcs", "image", "cloud", "text", "h5ad"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(format, kinds[k]) == 0)
            return true;
    return false;
}

/* Runs the reader of `format` and aborts if it violates its contract. */
static inline int fuzz_reader(const char *format, const uint8_t *data, size_t size)
{
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    set.threads = 1;
    set.memory_limit = FUZZ_MAX_MEMORY;
    set.read_timeout_s = -1; /* HDF5 in this process, where the fuzzer can observe it */
    ddsc_context *ctx = NULL;
    io_stream *s = NULL;
    if (ddsc_context_create(&ctx, &set) < 0)
        abort();
    ddsc_status status = stream_open_memory(ctx, &s, format, data, size, FUZZ_MAX_BYTES);
    if (status >= 0 && strcmp(format, "diff") == 0)
        status = fuzz_diff(ctx, data, size);
    else if (status >= 0)
        status =
            fuzz_is_measures(format) ? fuzz_measures(ctx, format, s) : fuzz_other(ctx, format, s);
    if (status < 0 && (status == DDSC_ERROR_INTERNAL || !ddsc_context_get_message(ctx)[0]))
        abort();
    stream_close(s);
    ddsc_context_destroy(ctx);
    return 0;
}

#endif
