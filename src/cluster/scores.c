/* Agreement of two labellings. AMI: Vinh, Epps, Bailey, "Information theoretic measures for clusterings
 * comparison", JMLR 2010, equation 24a, arithmetic mean as normaliser. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Counts over the rows that carry a label on both sides; values renumbered 0 .. by size of the label. */
typedef struct table {
    int64_t n, rows, columns;
    int64_t *row_sum, *column_sum;
    int64_t n_cells;
    int64_t *cell_row, *cell_column, *cell; /* cells other than zero */
} table;

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void table_free(ddsc_context *ctx, table *t)
{
    mem_free(ctx, t->row_sum);
    mem_free(ctx, t->column_sum);
    mem_free(ctx, t->cell_row);
    mem_free(ctx, t->cell_column);
    mem_free(ctx, t->cell);
}

/* Distinct values of the high (shift 32) or low halves of sorted or unsorted keys, ascending. */
static int64_t distinct(uint64_t *value, const uint64_t *key, int64_t n, int shift)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        value[i] = (key[i] >> shift) & 0xffffffffu;
    qsort(value, (size_t)n, sizeof *value, compare_keys);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[count - 1])
            value[count++] = value[i];
    return count;
}

static int64_t position(const uint64_t *value, int64_t n, uint64_t wanted)
{
    int64_t low = 0;
    for (int64_t high = n - 1; low < high;) {
        int64_t middle = (low + high) / 2;
        if (value[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Runs of equal sorted keys become cells. */
static ddsc_status table_cells(ddsc_context *ctx, table *t, const uint64_t *key,
                               const uint64_t *row_value, const uint64_t *column_value)
{
    ddsc_status status = DDSC_OK;
    for (int64_t i = 0; i < t->n; i++)
        t->n_cells += i == 0 || key[i] != key[i - 1];
    TRY(MEM_NEW(ctx, t->cell_row, t->n_cells));
    TRY(MEM_NEW(ctx, t->cell_column, t->n_cells));
    TRY(MEM_ZERO(ctx, t->cell, t->n_cells));
    TRY(MEM_ZERO(ctx, t->row_sum, t->rows));
    TRY(MEM_ZERO(ctx, t->column_sum, t->columns));
    for (int64_t i = 0, c = -1; i < t->n; i++) {
        if (i == 0 || key[i] != key[i - 1]) {
            c++;
            t->cell_row[c] = position(row_value, t->rows, key[i] >> 32);
            t->cell_column[c] = position(column_value, t->columns, key[i] & 0xffffffffu);
        }
        t->cell[c]++;
        t->row_sum[t->cell_row[c]]++;
        t->column_sum[t->cell_column[c]]++;
    }
done:
    return status;
}

static ddsc_status table_make(ddsc_context *ctx, table *t, int64_t n, const int32_t *labels,
                              const int32_t *truth)
{
    ddsc_status status = DDSC_OK;
    uint64_t *key = NULL, *row_value = NULL, *column_value = NULL;
    TRY(MEM_NEW(ctx, key, n));
    TRY(MEM_NEW(ctx, row_value, n));
    TRY(MEM_NEW(ctx, column_value, n));
    for (int64_t i = 0; i < n; i++)
        if (labels[i] >= 0 && truth[i] >= 0)
            key[t->n++] = (uint64_t)(uint32_t)labels[i] << 32 | (uint64_t)(uint32_t)truth[i];
    qsort(key, (size_t)t->n, sizeof *key, compare_keys);
    t->rows = distinct(row_value, key, t->n, 32);
    t->columns = distinct(column_value, key, t->n, 0);
    TRY(table_cells(ctx, t, key, row_value, column_value));
done:
    mem_free(ctx, key);
    mem_free(ctx, row_value);
    mem_free(ctx, column_value);
    return status;
}

static double entropy(const int64_t *sum, int64_t k, double n)
{
    double h = 0;
    for (int64_t i = 0; i < k; i++)
        h -= (double)sum[i] / n * log((double)sum[i] / n);
    return h;
}

static double mutual_information(const table *t)
{
    double n = (double)t->n, mi = 0;
    for (int64_t c = 0; c < t->n_cells; c++) {
        double cell = (double)t->cell[c];
        double expected =
            (double)t->row_sum[t->cell_row[c]] * (double)t->column_sum[t->cell_column[c]];
        mi += cell / n * log(n * cell / expected);
    }
    return fmax(mi, 0);
}

/* Mean of the mutual information term of one (a, b) under the hypergeometric law; log factorials come
 * from a table. */
static double expected_term(int64_t a, int64_t b, int64_t n, const double *log_factorial)
{
    double sum = 0, total = (double)n;
    double fixed = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b] -
                   log_factorial[n];
    for (int64_t c = BASE_MAX(1, a + b - n); c <= BASE_MIN(a, b); c++) {
        double chance = exp(fixed - log_factorial[c] - log_factorial[a - c] - log_factorial[b - c] -
                            log_factorial[n - a - b + c]);
        sum += (double)c / total * log(total * (double)c / ((double)a * (double)b)) * chance;
    }
    return sum;
}

static ddsc_status expected_information(ddsc_context *ctx, const table *t, double *emi)
{
    ddsc_status status = DDSC_OK;
    double *log_factorial = NULL;
    TRY(MEM_NEW(ctx, log_factorial, t->n + 1));
    for (int64_t i = 0; i <= t->n; i++)
        log_factorial[i] = lgamma_r((double)i + 1, &(int){0});
    *emi = 0;
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < t->columns; j++)
            *emi += expected_term(t->row_sum[i], t->column_sum[j], t->n, log_factorial);
done:
    mem_free(ctx, log_factorial);
    return status;
}

/* Hubert and Arabie 1985, in pair counts. */
static double adjusted_rand(const table *t)
{
    double n = (double)t->n, same = 0, row = 0, column = 0;
    for (int64_t c = 0; c < t->n_cells; c++)
        same += (double)t->cell[c] * ((double)t->cell[c] - 1) / 2;
    for (int64_t i = 0; i < t->rows; i++)
        row += (double)t->row_sum[i] * ((double)t->row_sum[i] - 1) / 2;
    for (int64_t j = 0; j < t->columns; j++)
        column += (double)t->column_sum[j] * ((double)t->column_sum[j] - 1) / 2;
    double all = n * (n - 1) / 2, expected = all > 0 ? row * column / all : 0;
    double most = (row + column) / 2;
    return most == expected ? 1 : (same - expected) / (most - expected);
}

static ddsc_status purity_of(ddsc_context *ctx, const table *t, double *purity)
{
    ddsc_status status = DDSC_OK;
    int64_t *best = NULL, sum = 0;
    TRY(MEM_ZERO(ctx, best, t->rows));
    for (int64_t c = 0; c < t->n_cells; c++)
        best[t->cell_row[c]] = BASE_MAX(best[t->cell_row[c]], t->cell[c]);
    for (int64_t i = 0; i < t->rows; i++)
        sum += best[i];
    *purity = (double)sum / (double)t->n;
done:
    mem_free(ctx, best);
    return status;
}

/* (MI - E) / (mean entropy - E); a denominator of zero has the sign of scikit-learn's tiny floor. */
static double adjusted(double mi, double emi, double mean)
{
    double denominator = mean - emi;
    if (denominator < 0)
        denominator = fmin(denominator, -2.220446049250313e-16);
    else
        denominator = fmax(denominator, 2.220446049250313e-16);
    return (mi - emi) / denominator;
}

static ddsc_status score_table(ddsc_context *ctx, ddsc_scores *out, const table *t)
{
    ddsc_status status = DDSC_OK;
    double n = (double)t->n, emi = 0;
    TRY(purity_of(ctx, t, &out->purity));
    out->ari = adjusted_rand(t);
    if (t->rows == 1 && t->columns == 1) { /* nothing to tell apart on either side */
        out->ami = out->nmi = 1;
        goto done;
    }
    double mi = mutual_information(t);
    double mean = (entropy(t->row_sum, t->rows, n) + entropy(t->column_sum, t->columns, n)) / 2;
    out->nmi = mean > 0 ? fmin(mi / mean, 1) : 0;
    if (t->rows == t->n && t->columns == t->n) {
        out->ami = 1;
        goto done;
    }
    TRY(expected_information(ctx, t, &emi));
    out->ami = fmin(adjusted(mi, emi, mean), 1);
done:
    return status;
}

ddsc_status ddsc_scores_run(ddsc_context *context, ddsc_scores *scores, int64_t n,
                            const int32_t *labels, const int32_t *truth)
{
    ddsc_status status = DDSC_OK;
    table t = {0};
    ddsc_scores found = {0};
    if (!context || !scores)
        return DDSC_ERROR_ARGUMENT;
    ctx_enter(context);
    if (n < 1 || !labels || !truth)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT, "scores of %lld labels", (long long)n);
    TRY(table_make(context, &t, n, labels, truth));
    if (t.n == 0)
        TRY(ctx_fail(context, DDSC_ERROR_INPUT, "no row has a label on both sides"));
    TRY(score_table(context, &found, &t));
    found.n = t.n;
    found.n_labels = t.rows;
    found.n_truth = t.columns;
    *scores = found;
done:
    table_free(context, &t);
    return status;
}
