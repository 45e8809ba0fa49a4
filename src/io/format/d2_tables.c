/* Reads the tables that accompany a .d2 file. A vocabulary contains points. A matrix of bin costs
 * is converted to points whose squared distances are the costs, using classical scaling (Torgerson
 * 1952). */
#include "io/format/d2.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "numeric/linalg/linalg.h"

enum { COSTS_MAX_BINS = 8192, TABLE_PATH = 4096 + 32 };

/* Reads exactly `count` numbers. Memory grows with the numbers read, not with the declared
 * count. */
static ddsc_status read_numbers(ddsc_context *ctx, d2_tokens *t, double **out, int64_t count,
                                const char *what)
{
    int64_t capacity = 0;
    char *rest;
    for (int64_t k = 0; k < count; k++) {
        CHECK(MEM_RESERVE(ctx, *out, &capacity, k + 1));
        CHECK(d2_next_number(t, *out + k, what));
    }
    CHECK(d2_next(t, &rest));
    return rest ? stream_fail_line(t->s, ": found more numbers than the first line declares")
                : DDSC_OK;
}

ddsc_status d2_read_vocabulary(ddsc_context *ctx, d2_table *table, io_stream *s)
{
    d2_tokens t = {.s = s};
    CHECK(d2_next_integer(&t, &table->dim, D2_MAX_DIM, "the dimension of the vocabulary"));
    CHECK(d2_next_integer(&t, &table->n, INT32_MAX, "the size of the vocabulary"));
    if (table->dim == 0 || table->n == 0)
        return stream_fail(s, "has dimension %lld and %lld words; both must be positive",
                           (long long)table->dim, (long long)table->n);
    return read_numbers(ctx, &t, &table->point, table->n * table->dim,
                        "a coordinate of the vocabulary");
}

/* ---- costs ---- */

static ddsc_status read_costs(ddsc_context *ctx, double **cost, int64_t *n, io_stream *s)
{
    d2_tokens t = {.s = s};
    CHECK(d2_next_integer(&t, n, COSTS_MAX_BINS, "the number of bins"));
    if (*n == 0)
        return stream_fail(s, "contains no bins");
    return read_numbers(ctx, &t, cost, *n * *n, "a cost");
}

static ddsc_status check_costs(io_stream *s, const double *cost, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double a = cost[i * n + j], b = cost[j * n + i];
            if (i == j && fabs(a) > 0)
                return stream_fail(s, "the cost from bin %lld to itself is %g; it must be 0",
                                   (long long)i + 1, a);
            if (a < 0 || a > 1e300)
                return stream_fail(
                    s, "the cost between bins %lld and %lld is %g; it must be between 0 and 1e300",
                    (long long)i + 1, (long long)j + 1, a);
            if (fabs(a - b) > 1e-9 * fabs(a))
                return stream_fail(
                    s, "the costs between bins %lld and %lld are not symmetric: %g and %g",
                    (long long)i + 1, (long long)j + 1, a, b);
        }
    return DDSC_OK;
}

/* Computes coordinates from the positive eigenvalues. If an eigenvalue is more negative than the
 * rounding of printed costs can explain, the costs are not squared distances, and the call
 * fails. */
static ddsc_status place_bins(ddsc_context *ctx, d2_table *table, io_stream *s, const double *value,
                              const double *vector)
{
    int64_t n = table->n, first = n;
    double largest = BASE_MAX(value[n - 1], 0), tiny = 1e-10 * largest;
    if (value[0] < -1e-5 * largest || (largest <= 0 && value[0] < 0))
        return stream_fail(s,
                           "these costs are not squared Euclidean distances (an eigenvalue is %g); "
                           "provide the points in a .vocab table instead",
                           value[0]);
    while (first > 0 && value[first - 1] > tiny)
        first--;
    table->dim = BASE_MAX(n - first, 1);
    CHECK(MEM_ZERO(ctx, table->point, n * table->dim));
    for (int64_t k = 0; k < n - first; k++)
        for (int64_t i = 0; i < n; i++)
            table->point[i * table->dim + k] = sqrt(value[n - 1 - k]) * vector[(n - 1 - k) * n + i];
    return DDSC_OK;
}

ddsc_status d2_read_costs(ddsc_context *ctx, d2_table *table, io_stream *s)
{
    ddsc_status status = DDSC_OK;
    double *cost = NULL, *value = NULL, *vector = NULL;
    table->dense = true;
    TRY(read_costs(ctx, &cost, &table->n, s));
    TRY(check_costs(s, cost, table->n));
    TRY(MEM_NEW(ctx, value, table->n));
    TRY(MEM_NEW(ctx, vector, table->n * table->n));
    la_center_distances(table->n, cost, value, cost);
    TRY(la_eigen_symmetric(ctx, table->n, cost, value, vector));
    TRY(place_bins(ctx, table, s, value, vector));
done:
    MEM_FREE(ctx, cost, value, vector);
    return status;
}

/* ---- finding the tables ---- */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Finds a file such as NAME.vocab0, which may be gzip-compressed. NAME is the name of the .d2 file,
 * with or without .gz and its last extension. */
static bool find_beside(char out[TABLE_PATH], const char *path, const char *kind, int phase)
{
    const char *base;
    size_t length, n = strlen(path);
    files_base_name(path, &base, &length);
    size_t cut[3] = {n, n, (size_t)(base - path) + length};
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
        cut[1] = n - 3;
    for (int k = 0; k < 3; k++)
        for (int gz = 0; gz < 2; gz++) {
            int k_out = snprintf(out, TABLE_PATH, "%.*s.%s%d%s", (int)cut[k], path, kind, phase,
                                 gz ? ".gz" : "");
            if (k_out > 0 && k_out < TABLE_PATH && is_file(out))
                return true;
        }
    return false;
}

typedef ddsc_status (*table_fn)(ddsc_context *ctx, d2_table *table, io_stream *s);

/* Finds the table of a phase. Returns the reader of the table, or NULL if there is none. */
static table_fn find_phase_table(char out[TABLE_PATH], const char *path, int phase)
{
    if (find_beside(out, path, "vocab", phase))
        return d2_read_vocabulary;
    return find_beside(out, path, "hist", phase) ? d2_read_costs : NULL;
}

static ddsc_status load_table(d2_file *f, const char *path, int phase, table_fn read)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    TRY(stream_open(f->ctx, &s, path, stream_limit(f->s)));
    TRY(read(f->ctx, &f->table[phase], s));
    f->n_tables = phase + 1;
done:
    stream_close(s);
    return status;
}

ddsc_status d2_find_tables(d2_file *f)
{
    const char *path = stream_path(f->s);
    char beside[TABLE_PATH];
    for (int phase = 0; path && phase < D2_MAX_PHASES; phase++) {
        table_fn read = find_phase_table(beside, path, phase);
        if (read)
            CHECK(load_table(f, beside, phase, read));
    }
    return DDSC_OK;
}

size_t ddsc_measures_find_table(char *out, size_t size, const char *path, int64_t number)
{
    char beside[TABLE_PATH];
    for (int phase = 0; path && number >= 0 && phase < D2_MAX_PHASES; phase++)
        if (find_phase_table(beside, path, phase) && number-- == 0)
            return (size_t)snprintf(out, size, "%s", beside);
    return 0;
}
