/* A square matrix as a table of text: rows of numbers, with or without a line of names above and a
 * column of names before them. */
#include <math.h>
#include <string.h>

#include "format/format.h"

typedef struct csv_matrix {
    ddsc_context *ctx;
    io_stream *s;
    field_list fields;
    char delimiter;
    double *value; /* rows x columns */
    int64_t rows, columns, capacity;
    bool named; /* the first column is not of numbers */
} csv_matrix;

static bool is_header(const csv_matrix *t)
{
    double ignored;
    for (int64_t k = 0; k < t->fields.n; k++)
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
        return stream_fail_line(t->s, ": there are %lld fields, but %lld in the rows before",
                                (long long)n, (long long)t->columns);
    CHECK(MEM_RESERVE(t->ctx, t->value, &t->capacity, (t->rows + 1) * n));
    for (int64_t k = 0; k < n; k++) {
        double *to = &t->value[t->rows * n + k];
        if (number_parse(t->fields.text[k], to))
            continue;
        if (k > 0)
            return stream_fail_line(t->s, ", column %lld: \"%s\" is no number", (long long)k + 1,
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

ddsc_status csv_read_matrix(ddsc_context *ctx, double **matrix, int64_t *n, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    csv_matrix t = {.ctx = ctx, .s = s};
    TRY(matrix_lines(&t));
    bool names = t.columns == t.rows + 1; /* of the rows, in the first column */
    if (t.rows < 1 || (!names && (t.columns != t.rows || t.named)))
        TRY(stream_fail(s,
                        "has %lld rows of %lld fields; a square matrix is wanted, names above and "
                        "before it aside",
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
