/* Reads square MatrixMarket matrices. Writes neighbor graphs in MatrixMarket format, or as npz
 * files that scipy.sparse.load_npz can read. */
#include "io/format/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/format/archive.h"
#include "numeric/graph/graph.h"

typedef struct mtx {
    io_stream *s;
    bool coordinate, symmetric;
    int64_t n, n_entries;
    char *line, *at;
} mtx;

/* ---- reading ---- */

static char *next_word(mtx *m)
{
    m->at += strspn(m->at, " \t");
    if (!*m->at)
        return NULL;
    char *word = m->at, *end = m->at + strcspn(m->at, " \t");
    m->at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* Reads the next line that is neither blank nor a comment. */
static ddsc_status mtx_next_line(mtx *m)
{
    size_t n;
    do {
        CHECK(stream_line(m->s, &m->line, &n));
        if (!m->line)
            return stream_fail(m->s, "ends early at line %lld",
                               (long long)stream_line_number(m->s));
    } while (m->line[0] == '%' || m->line[strspn(m->line, " \t")] == '\0');
    m->at = m->line;
    return DDSC_OK;
}

static ddsc_status mtx_refuse(mtx *m, const char *word, const char *wanted)
{
    return stream_fail_line(m->s, ": %s%s%s is not %s", word ? "\"" : "",
                            word ? QUOTE(word) : "nothing", word ? "\"" : "", wanted);
}

static ddsc_status next_integer(mtx *m, int64_t *value, int64_t least, int64_t most)
{
    char *word = next_word(m), wanted[80];
    if (word && number_parse_integer(word, value) && *value >= least && *value <= most)
        return DDSC_OK;
    snprintf(wanted, sizeof wanted, "an integer between %lld and %lld", (long long)least,
             (long long)most);
    return mtx_refuse(m, word, wanted);
}

static ddsc_status next_value(mtx *m, double *value)
{
    char *word = next_word(m);
    return word && number_parse(word, value) ? DDSC_OK : mtx_refuse(m, word, "a number");
}

static ddsc_status end_line(mtx *m)
{
    char *word = next_word(m);
    return word ? mtx_refuse(m, word, "expected here") : DDSC_OK;
}

static bool one_of(const char *word, const char *a, const char *b)
{
    return word && (strcasecmp(word, a) == 0 || strcasecmp(word, b) == 0);
}

static ddsc_status read_banner(mtx *m)
{
    size_t n;
    CHECK(stream_line(m->s, &m->line, &n));
    if (!m->line || strncmp(m->line, "%%MatrixMarket", 14) != 0)
        return stream_fail(m->s, "does not begin with %%%%MatrixMarket");
    m->at = m->line;
    next_word(m);
    const char *object = next_word(m), *layout = next_word(m), *field = next_word(m);
    const char *symmetry = next_word(m);
    if (!one_of(object, "matrix", "matrix") || !one_of(layout, "coordinate", "array") ||
        !one_of(field, "real", "integer") || !one_of(symmetry, "general", "symmetric"))
        return stream_fail(m->s, "line 1: unsupported matrix; it must be real or integer, general "
                                 "or symmetric, and in coordinate or array layout");
    m->coordinate = strcasecmp(layout, "coordinate") == 0;
    m->symmetric = strcasecmp(symmetry, "symmetric") == 0;
    return DDSC_OK;
}

/* Reads the declared sizes and checks that the remaining bytes can hold the entries. An entry takes
 * at least four bytes in coordinate layout and two in array layout. */
static ddsc_status read_sizes(mtx *m)
{
    int64_t columns, bytes;
    CHECK(mtx_next_line(m));
    CHECK(next_integer(m, &m->n, 1, INT32_MAX));
    CHECK(next_integer(m, &columns, 1, INT32_MAX));
    if (m->n != columns)
        return stream_fail_line(m->s, ": %lld rows and %lld columns; expected a square matrix",
                                (long long)m->n, (long long)columns);
    m->n_entries = m->symmetric ? m->n * (m->n + 1) / 2 : m->n * m->n;
    if (m->coordinate)
        CHECK(next_integer(m, &m->n_entries, 0, m->n * m->n));
    CHECK(end_line(m));
    if (!mul_ok(m->n_entries, m->coordinate ? 4 : 2, &bytes))
        bytes = INT64_MAX;
    CHECK(stream_check_declared(m->s, bytes - 1, "entries"));
    if (m->coordinate && m->n_entries < m->n / 2)
        return stream_fail_line(m->s, " declares %lld items but only %lld distances",
                                (long long)m->n, (long long)m->n_entries);
    return DDSC_OK;
}

static ddsc_status put(mtx *m, double *matrix, int64_t i, int64_t j, double value)
{
    double *cell = matrix + i * m->n + j;
    if (m->coordinate && !isnan(*cell))
        return stream_fail_line(m->s,
                                ": entry (%lld, %lld) occurs twice; each entry may occur only once",
                                (long long)i + 1, (long long)j + 1);
    *cell = value;
    if (m->symmetric)
        matrix[j * m->n + i] = value;
    return DDSC_OK;
}

static ddsc_status read_coordinate(mtx *m, double *matrix)
{
    for (int64_t e = 0; e < m->n_entries; e++) {
        int64_t i, j;
        double value;
        CHECK(mtx_next_line(m));
        CHECK(next_integer(m, &i, 1, m->n));
        CHECK(next_integer(m, &j, 1, m->n));
        CHECK(next_value(m, &value));
        CHECK(end_line(m));
        CHECK(put(m, matrix, i - 1, j - 1, value));
    }
    return DDSC_OK;
}

/* Reads the entries column by column. The columns of a symmetric matrix start at the diagonal. */
static ddsc_status read_array(mtx *m, double *matrix)
{
    for (int64_t j = 0; j < m->n; j++)
        for (int64_t i = m->symmetric ? j : 0; i < m->n; i++) {
            double value;
            CHECK(mtx_next_line(m));
            CHECK(next_value(m, &value));
            CHECK(end_line(m));
            CHECK(put(m, matrix, i, j, value));
        }
    return DDSC_OK;
}

static ddsc_status expect_end(mtx *m)
{
    size_t n;
    do {
        ddsc_status status = stream_line(m->s, &m->line, &n);
        if (status < 0 || !m->line)
            return status;
    } while (m->line[0] == '%' || m->line[strspn(m->line, " \t")] == '\0');
    return stream_fail_line(m->s, ": more entries than declared");
}

ddsc_status mtx_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    mtx m = {.s = s};
    CHECK(read_banner(&m));
    CHECK(read_sizes(&m));
    CHECK(MEM_NEW(ctx, *matrix, m.n * m.n));
    for (int64_t k = 0; k < m.n * m.n; k++)
        (*matrix)[k] = NAN;
    if (m.coordinate)
        CHECK(read_coordinate(&m, *matrix));
    else
        CHECK(read_array(&m, *matrix));
    CHECK(expect_end(&m));
    *n = m.n;
    return DDSC_OK;
}

/* ---- writing ---- */

/* maximum length of a line; number of edges formatted at a time; number of columns per task */
enum { LINE_BYTES = 2 * 21 + NUMBER_TEXT, EDGES_AT_ONCE = 1 << 17, COLUMNS_A_PIECE = 256 };

/* The text of several columns, beginning with column `first`. Each edge has LINE_BYTES of space,
 * and the text of a column starts in the space of its first edge. */
typedef struct graph_text {
    const ddsc_graph *g;
    int64_t first;
    char *text;
    int64_t *length; /* text length of each column */
} graph_text;

static ddsc_status format_columns(void *arg, int64_t begin, int64_t end, int worker)
{
    const graph_text *t = arg;
    const ddsc_graph *g = t->g;
    (void)worker;
    for (int64_t c = t->first + begin; c < t->first + end; c++) {
        char *from = t->text + (g->offset[c] - g->offset[t->first]) * LINE_BYTES, *at = from;
        for (int64_t e = g->offset[c]; e < g->offset[c + 1]; e++) {
            at += snprintf(at, LINE_BYTES, "%lld %lld ", (long long)g->index[e] + 1,
                           (long long)c + 1);
            at += number_format(at, g->d2[e]);
            *at++ = '\n';
        }
        t->length[c - t->first] = at - from;
    }
    return DDSC_OK;
}

/* Formats columns with all threads, because printing numbers is slow. */
static ddsc_status write_columns(ddsc_context *ctx, io_writer *w, graph_text *t, int64_t end)
{
    const ddsc_graph *g = t->g;
    CHECK(parallel_for(ctx, end - t->first, COLUMNS_A_PIECE, format_columns, t));
    for (int64_t c = t->first; c < end; c++)
        CHECK(writer_put(w, t->text + (g->offset[c] - g->offset[t->first]) * LINE_BYTES,
                         (size_t)t->length[c - t->first]));
    return DDSC_OK;
}

static ddsc_status mtx_write_graph(ddsc_context *ctx, const ddsc_graph *g, io_writer *w)
{
    ddsc_status status = DDSC_OK;
    graph_text t = {.g = g};
    int64_t capacity = EDGES_AT_ONCE;
    TRY(writer_printf(w, "%%%%MatrixMarket matrix coordinate real general\n"));
    TRY(writer_printf(w, "%% column c: the nearest neighbors of item c, with squared distances\n"));
    TRY(writer_printf(w, "%lld %lld %lld\n", (long long)g->n, (long long)g->n,
                      (long long)g->offset[g->n]));
    for (int64_t c = 0; c < g->n; c++)
        capacity = BASE_MAX(capacity, g->offset[c + 1] - g->offset[c]);
    TRY(MEM_NEW(ctx, t.text, BASE_MIN(capacity, g->offset[g->n]) * LINE_BYTES));
    TRY(MEM_NEW(ctx, t.length, g->n));
    for (int64_t end; t.first < g->n; t.first = end) {
        for (end = t.first + 1; end < g->n && g->offset[end + 1] - g->offset[t.first] <= capacity;)
            end++;
        TRY(write_columns(ctx, w, &t, end));
    }
done:
    MEM_FREE(ctx, t.length, t.text);
    return status;
}

/* ---- graphs as npz ---- */

static const char *sparse_format(const void *arg, int64_t i)
{
    (void)arg;
    (void)i;
    return "csc"; /* column c contains the neighbors of item c */
}

static ddsc_status npz_write_graph(ddsc_context *ctx, const ddsc_graph *g, io_writer *w)
{
    ddsc_status status = DDSC_OK;
    npz_writer *z = NULL;
    const int64_t two = 2, n_offsets = g->n + 1, shape[2] = {g->n, g->n};
    const int64_t *n_edges = &g->offset[g->n];
    TRY(npz_writer_open(ctx, &z, w));
    TRY(npz_add_strings(z, "format", sparse_format, NULL, 1));
    TRY(npz_writer_add(z, "shape", NPY_INT8, 1, &two, 8, NULL, shape));
    TRY(npz_writer_add(z, "indptr", NPY_INT8, 1, &n_offsets, 8, NULL, g->offset));
    TRY(npz_writer_add(z, "indices", NPY_INT4, 1, n_edges, 4, NULL, g->index));
    TRY(npz_writer_add(z, "data", NPY_FLOAT8, 1, n_edges, 8, NULL, g->d2));
    TRY(npz_writer_finish(z));
done:
    npz_writer_close(z);
    return status;
}

ddsc_status ddsc_graph_write(ddsc_context *ctx, const ddsc_graph *graph, const char *path,
                             unsigned flags)
{
    io_writer *w = NULL;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, graph, "graph"));
    CHECK(ctx_need(ctx, path, "path"));
    CHECK(writer_open(ctx, &w, path, flags));
    size_t n = strlen(path);
    bool npz = n > 4 && strcmp(path + n - 4, ".npz") == 0;
    return writer_finish(w, npz ? npz_write_graph(ctx, graph, w) : mtx_write_graph(ctx, graph, w));
}
