/* Reads word vectors from an npy matrix with one row per word. The words are in a separate file,
 * one per line. The name of this file is that of the matrix with the extension .vocab or .txt. */
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_ROOM = 4096 };

/* Finds the file with the words of a matrix. */
static bool find_vocabulary(char out[NAME_ROOM], const char *path)
{
    static const char *const endings[] = {".vocab", ".txt", ".vocab.gz", ".txt.gz"};
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
        n -= 3;
    if (n > 4 && strncmp(path + n - 4, ".npy", 4) == 0)
        n -= 4;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (snprintf(out, NAME_ROOM, "%.*s%s", (int)n, path, endings[k]) < NAME_ROOM &&
            access(out, R_OK) == 0)
            return true;
    return false;
}

static ddsc_status open_vocabulary(ddsc_context *ctx, io_stream **out, io_stream *matrix,
                                   int64_t max_bytes)
{
    const char *path = stream_path(matrix);
    char name[NAME_ROOM];
    if (path && find_vocabulary(name, path))
        return stream_open(ctx, out, name, max_bytes);
    return stream_fail(matrix, "is a matrix of vectors, which requires a file of words, one per "
                               "line, with the same name but ending in .vocab or .txt instead of "
                               ".npy");
}

size_t ddsc_text_find_words(char *out, size_t size, const char *vectors_path)
{
    char name[NAME_ROOM];
    return vectors_path && find_vocabulary(name, vectors_path)
               ? (size_t)snprintf(out, size, "%s", name)
               : 0;
}

static ddsc_status matrix_take_word(ddsc_context *ctx, word_vectors *v, const text_table *words,
                                    const char *word, const double *x, io_stream *s)
{
    int64_t number = text_table_find(words, word, strlen(word));
    if (number < 0)
        return DDSC_OK;
    if (v->row[number] >= 0) {
        v->n_duplicates++;
        return DDSC_OK;
    }
    for (int64_t k = 0; k < v->dim; k++)
        if (!isfinite(x[k]))
            return stream_fail(s, "row %lld (word \"%s\") contains a value that is not finite",
                               (long long)v->n_lines, QUOTE(word));
    CHECK(MEM_RESERVE(ctx, v->point, &v->capacity, (v->n + 1) * v->dim));
    memcpy(v->point + v->n * v->dim, x, (size_t)v->dim * sizeof *x);
    v->row[number] = (int32_t)v->n++;
    return DDSC_OK;
}

ddsc_status words_read_matrix(ddsc_context *ctx, word_vectors *v, io_stream *s,
                              const text_table *words, int64_t max_bytes)
{
    ddsc_status status = DDSC_OK;
    io_stream *vocabulary = NULL;
    npy_array array;
    double *matrix = NULL;
    char *line;
    size_t n;
    TRY(npy_read_header(s, &array));
    if (array.n_dims != 2 || array.count == 0)
        TRY(stream_fail(s, "has shape %s; word vectors require two axes", NPY_SHAPE(&array)));
    TRY(open_vocabulary(ctx, &vocabulary, s, max_bytes));
    TRY(npy_read_doubles(ctx, &matrix, s, &array));
    TRY(MEM_NEW(ctx, v->row, words->n));
    memset(v->row, 0xff, (size_t)words->n * sizeof *v->row);
    v->dim = array.shape[1];
    for (;; v->n_lines++) {
        TRY(stream_line(vocabulary, &line, &n));
        if (!line)
            break;
        if (v->n_lines < array.shape[0])
            TRY(matrix_take_word(ctx, v, words, v->n_lines ? line : text_skip_mark(line),
                                 matrix + v->n_lines * v->dim, s));
    }
    if (v->n_lines != array.shape[0])
        TRY(stream_fail(vocabulary, "has %lld lines, but there are %lld vectors",
                        (long long)v->n_lines, (long long)array.shape[0]));
done:
    stream_close(vocabulary);
    mem_free(ctx, matrix);
    return status;
}
