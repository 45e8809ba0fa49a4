/* Reads and writes matrices. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "io/format/format.h"

/* ---- text tables: rows of numbers, with optional row and column names ---- */

typedef struct csv_matrix {
    ddsc_context *ctx;
    io_stream *s;
    field_list fields;
    char delimiter;
    double *value; /* rows x columns */
    int64_t rows, columns, capacity;
    bool named; /* true if the first column contains names */
} csv_matrix;

/* Returns true if the line is a header: if it starts with an empty field, or if a field other than
 * the first is not a number. The first field may be the name of a row. A line with a single field
 * is a header unless the field is a number. */
static bool is_header(const csv_matrix *t)
{
    double ignored;
    if (t->fields.n == 1 || t->fields.text[0][0] == '\0')
        return !number_parse(t->fields.text[0], &ignored);
    for (int64_t k = 1; k < t->fields.n; k++)
        if (!number_parse(t->fields.text[k], &ignored))
            return true;
    return false;
}

static ddsc_status take_matrix_row(csv_matrix *t)
{
    int64_t n = t->fields.n;
    if (t->rows == 0)
        t->columns = n;
    if (n != t->columns)
        return stream_fail_line(t->s, ": found %lld fields, but the previous rows have %lld",
                                (long long)n, (long long)t->columns);
    CHECK(MEM_RESERVE(t->ctx, t->value, &t->capacity, (t->rows + 1) * n));
    for (int64_t k = 0; k < n; k++) {
        double *to = &t->value[t->rows * n + k];
        if (number_parse(t->fields.text[k], to))
            continue;
        if (k > 0)
            return stream_fail_line(t->s, ", column %lld: \"%s\" is not a number", (long long)k + 1,
                                    QUOTE(t->fields.text[k]));
        t->named = true;
        *to = NAN;
    }
    t->rows++;
    return DDSC_OK;
}

static ddsc_status matrix_lines(csv_matrix *t)
{
    char *line;
    for (bool first = true;; first = false) {
        CHECK(stream_text_line(t->s, &line, t->delimiter));
        if (!line)
            return DDSC_OK;
        if (first)
            t->delimiter = strpbrk(line, ",;|\t") ? fields_delimiter(line) : ' ';
        CHECK(fields_split(t->ctx, &t->fields, t->s, line, t->delimiter));
        if (!first || !is_header(t))
            CHECK(take_matrix_row(t));
    }
}

static ddsc_status csv_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    csv_matrix t = {.ctx = ctx, .s = s};
    TRY(matrix_lines(&t));
    bool names = t.columns == t.rows + 1; /* row names in the first column */
    if (t.rows < 1 || (!names && (t.columns != t.rows || t.named)))
        TRY(stream_fail(s,
                        "has %lld rows of %lld fields; the matrix must be square, with optional "
                        "row and column names",
                        (long long)t.rows, (long long)t.columns));
    for (int64_t i = 0; names && i < t.rows; i++)
        memmove(t.value + i * t.rows, t.value + i * t.columns + 1,
                (size_t)t.rows * sizeof *t.value);
    *matrix = t.value;
    *n = t.rows;
    t.value = NULL;
done:
    fields_free(ctx, &t.fields);
    mem_free(ctx, t.value);
    return status;
}

/* ---- any format ---- */

static ddsc_status read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    unsigned char head[STREAM_PEEK_MAX];
    size_t got;
    CHECK(io_peek_content(s, head, &got));
    switch (io_sniff(head, got)) {
    case DDSC_FORMAT_NPY: return npy_read_matrix(ctx, matrix, n, s);
    case DDSC_FORMAT_MTX: return mtx_read_matrix(ctx, matrix, n, s);
    case DDSC_FORMAT_CSV:
    case DDSC_FORMAT_D2:
    case DDSC_FORMAT_CLOUD: return csv_read_matrix(ctx, matrix, n, s);
    default:
        return stream_fail(
            s, got == 0 ? "is empty"
                        : "is not a matrix; the supported formats are npy, csv and MatrixMarket");
    }
}

/* A file with a square matrix, and the matrix read from it. */
typedef struct matrix_file {
    ddsc_context *ctx;
    const char *path;
    double *value;
    int64_t n;
} matrix_file;

static ddsc_status read_matrix_file(void *arg)
{
    matrix_file *f = arg;
    io_stream *s = NULL;
    CHECK(ctx_need(f->ctx, f->path, "path"));
    CHECK(stream_open(f->ctx, &s, f->path, STREAM_DEFAULT_MAX_BYTES));
    ddsc_status status = read_matrix(f->ctx, &f->value, &f->n, s);
    stream_close(s);
    return status;
}

ddsc_status ddsc_matrix_read(ddsc_context *ctx, double **matrix, int64_t *n, const char *path)
{
    matrix_file f = {.ctx = ctx, .path = path};
    CHECK(ctx_enter_new(ctx, matrix));
    CHECK(ctx_need(ctx, n, "n"));
    stage_enter(ctx, "read");
    ddsc_status status = read_matrix_file(&f);
    stage_leave(ctx, NULL);
    if (status < 0) {
        mem_free(ctx, f.value);
        return status;
    }
    *matrix = f.value;
    *n = f.n;
    return DDSC_OK;
}

static void list_matrix(team_arrays *a, void *object)
{
    matrix_file *f = object;
    team_array(a, &f->value, f->n * f->n * (int64_t)sizeof *f->value);
}

/* Moves the matrix from the first rank to shared memory for all ranks. */
static ddsc_status matrix_move(matrix_file *f)
{
    double elsewhere = 0;
    ddsc_context *ctx = f->ctx;
    bool first = team_rank(ctx) == 0;
    void *block = NULL;
    if (team_size(ctx) == 1)
        return DDSC_OK;
    CHECK(team_first(ctx, &f->n, sizeof f->n));
    if (!first)
        f->value = &elsewhere; /* not NULL, so that list_matrix lists the matrix */
    ddsc_status status = team_move(ctx, &block, f, list_matrix);
    if (status < 0 && !first)
        f->value = block;
    return status;
}

ddsc_status ddsc_matrix_read_shared(ddsc_context *ctx, double **matrix, int64_t *n,
                                    const char *path)
{
    ddsc_status status = DDSC_OK;
    matrix_file f = {.ctx = ctx, .path = path};
    CHECK(ctx_enter_new(ctx, matrix));
    CHECK(ctx_need(ctx, n, "n"));
    stage_enter(ctx, "read");
    TRY(team_by_first(ctx, read_matrix_file, &f));
    TRY(matrix_move(&f));
    *matrix = f.value;
    *n = f.n;
    f.value = NULL;
done:
    team_unshare(ctx, f.value);
    stage_leave(ctx, NULL);
    return status;
}

ddsc_status ddsc_rows_read(ddsc_context *ctx, double **rows, int64_t *n_rows, int64_t *n_columns,
                           const char *path)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    npy_array a;
    double *found = NULL;
    CHECK(ctx_enter_new(ctx, rows));
    CHECK(ctx_need(ctx, n_rows, "n_rows"));
    CHECK(ctx_need(ctx, n_columns, "n_columns"));
    CHECK(ctx_need(ctx, path, "path"));
    TRY(stream_open(ctx, &s, path, STREAM_DEFAULT_MAX_BYTES));
    TRY(npy_read_header(s, &a));
    if (a.n_dims != 2)
        TRY(stream_fail(s, "has shape %s; expected two axes (rows and columns)", NPY_SHAPE(&a)));
    TRY(npy_read_doubles(ctx, &found, s, &a));
    *rows = found;
    *n_rows = a.shape[0];
    *n_columns = a.shape[1];
    found = NULL;
done:
    stream_close(s);
    mem_free(ctx, found);
    return status;
}

ddsc_status ddsc_matrix_write(ddsc_context *ctx, const double *matrix, int64_t n_rows,
                              int64_t n_columns, const char *path, unsigned flags)
{
    io_writer *w = NULL;
    char header[NPY_HEADER_MAX];
    int64_t shape[2] = {n_rows, n_columns}, count, bytes;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, matrix, "matrix"));
    CHECK(ctx_need(ctx, path, "path"));
    if (n_rows < 0 || n_columns < 0 || !mul_ok(n_rows, BASE_MAX(n_columns, 1), &count) ||
        !mul_ok(count, 8, &bytes))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a matrix cannot have the shape %lld x %lld",
                        (long long)n_rows, (long long)n_columns);
    size_t n_header = npy_format_header(header, NPY_FLOAT8, n_columns > 0 ? 2 : 1, shape);
    CHECK(writer_open(ctx, &w, path, flags));
    ddsc_status status = writer_put(w, header, n_header);
    return writer_finish(w, status < 0 ? status : writer_put(w, matrix, (size_t)bytes));
}
