/* Checks the arguments, and converts metadata columns to numbers or to factor levels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assess/cohort/permanova.h"

/* A column of integers is numeric if it has at least this number of distinct values, as in the
 * tests of metadata against clusters. */
enum { VARIABLE_NUMBERS_FROM = 11, VALUE_TEXT = 32 };

/* Maximum relative difference between D_ij and D_ji. */
static const double ASYMMETRY = 1e-6;

ddsc_status permanova_check_distances(ddsc_context *ctx, const double *d, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double x = d[i * n + j], y = d[j * n + i];
            if (i == j)
                continue;
            if (!isfinite(x))
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "the distance between items %lld and %lld is unknown; the test "
                                "requires all distances",
                                (long long)i, (long long)j);
            if (x < 0)
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "the distance between items %lld and %lld is negative (%g); "
                                "unbiased estimates of mmd can be negative, so use the biased "
                                "estimator",
                                (long long)i, (long long)j, x);
            if (!(fabs(x - y) <= ASYMMETRY * fmax(x, y)))
                return ctx_fail(ctx, DDSC_ERROR_INPUT,
                                "the matrix is not symmetric: %.17g and %.17g for items %lld and "
                                "%lld",
                                x, y, (long long)i, (long long)j);
        }
    return DDSC_OK;
}

ddsc_status variable_check_columns(ddsc_context *ctx, const ddsc_column *c, int64_t n)
{
    int64_t n_by = 0, n_blocks = 0;
    for (int64_t k = 0; k < n; k++) {
        if (!c[k].name || (!c[k].text && !c[k].number))
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "columns[%lld] has no name or no values; set both", (long long)k);
        CHECK(ctx_check(ctx, c[k].kind <= DDSC_COLUMN_FACTOR, "kind", (double)c[k].kind, "0 .. 2"));
        CHECK(ctx_check(ctx, c[k].role <= DDSC_COLUMN_BLOCK, "role", (double)c[k].role, "0 .. 2"));
        n_by += c[k].role == DDSC_COLUMN_BY;
        n_blocks += c[k].role == DDSC_COLUMN_BLOCK;
    }
    if (n_by < 1 || n_blocks > 1)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "the test needs at least one column to test and at most one column of blocks");
    return DDSC_OK;
}

bool variable_is_missing(const ddsc_column *column, int64_t i)
{
    if (column->text)
        return !column->text[i] || text_is_missing(column->text[i]);
    return isnan(column->number[i]);
}

/* Returns a value as text. `space` is used if the text must be created from a number. */
static const char *text_of(const ddsc_column *column, int64_t i, char space[VALUE_TEXT])
{
    if (column->text)
        return column->text[i];
    snprintf(space, VALUE_TEXT, "%.15g", column->number[i]);
    return space;
}

/* Sets v->x to the numbers. If a value is not a finite number, sets *bad to its item and returns
 * false. */
static bool parse_numbers(variable *v, const ddsc_column *column, int64_t n, const bool *used,
                          int64_t *bad)
{
    for (int64_t i = 0; i < n; i++) {
        v->x[i] = NAN;
        if (variable_is_missing(column, i))
            continue;
        if (!column->text)
            v->x[i] = column->number[i];
        if ((column->text && !number_parse(column->text[i], &v->x[i])) || !isfinite(v->x[i])) {
            *bad = i;
            v->x[i] = NAN;
            if (used[i])
                return false;
        }
    }
    return true;
}

static bool has_fractions(const variable *v, int64_t n, const bool *used)
{
    for (int64_t i = 0; i < n; i++)
        if (used[i] && v->x[i] != floor(v->x[i]))
            return true;
    return false;
}

typedef struct level_key {
    const char *name;
    double number; /* NaN if the name is not a number */
    int64_t at;    /* index in order of appearance */
} level_key;

static int by_level(const void *a, const void *b)
{
    const level_key *x = a, *y = b;
    if (x->number < y->number || x->number > y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Lists the levels that occur among the used items. The values of the unused items remain NaN. */
static ddsc_status list_levels(ddsc_context *ctx, variable *v, const ddsc_column *column, int64_t n,
                               const bool *used)
{
    ddsc_status status = DDSC_OK;
    char space[VALUE_TEXT];
    level_key *key = NULL;
    double *rank = NULL;
    bool numbers = true;
    for (int64_t i = 0; i < n; i++) {
        int64_t number;
        bool is_new;
        v->x[i] = NAN;
        if (!used[i])
            continue;
        const char *text = text_of(column, i, space);
        TRY(text_table_add(ctx, &v->names, text, strlen(text), &number, &is_new));
        v->x[i] = (double)number;
    }
    v->n_levels = v->names.n;
    TRY(MEM_NEW(ctx, key, v->n_levels + 1));
    TRY(MEM_NEW(ctx, rank, v->n_levels + 1));
    TRY(MEM_NEW(ctx, v->level, v->n_levels + 1));
    TRY(MEM_ZERO(ctx, v->level_size, v->n_levels + 1));
    for (int64_t l = 0; l < v->n_levels; l++) {
        key[l] = (level_key){.name = text_table_get(&v->names, l), .at = l};
        numbers = numbers && number_parse(key[l].name, &key[l].number) && !isnan(key[l].number);
    }
    for (int64_t l = 0; l < v->n_levels && !numbers; l++)
        key[l].number = NAN; /* NaN compares neither smaller nor larger, so names are compared */
    qsort(key, (size_t)v->n_levels, sizeof *key, by_level);
    for (int64_t l = 0; l < v->n_levels; l++) {
        v->level[l] = key[l].name;
        rank[key[l].at] = (double)l;
    }
    for (int64_t i = 0; i < n; i++)
        if (used[i]) {
            v->x[i] = rank[(int64_t)v->x[i]];
            v->level_size[(int64_t)v->x[i]]++;
        }
done:
    MEM_FREE(ctx, key, rank);
    return status;
}

static ddsc_status check_values(ddsc_context *ctx, const variable *v, int64_t n_used, bool numbers)
{
    if (v->role == DDSC_COLUMN_BLOCK)
        return DDSC_OK;
    if (v->n_levels < 2)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "column \"%.100s\" is constant: all %lld items have the value \"%.60s\"",
                        v->name, (long long)n_used, v->n_levels ? v->level[0] : "");
    if (!v->number && v->n_levels == n_used)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "column \"%.100s\" has a different value for each of the %lld items, so it "
                        "cannot define classes%s",
                        v->name, (long long)n_used,
                        numbers ? "; declare it as numeric to test a trend" : "");
    return DDSC_OK;
}

ddsc_status variable_make(ddsc_context *ctx, variable *v, const ddsc_column *column, int64_t n,
                          const bool *used)
{
    int64_t n_used = 0, bad = -1;
    *v = (variable){.name = column->name, .role = column->role};
    for (int64_t i = 0; i < n; i++)
        n_used += used[i];
    CHECK(MEM_NEW(ctx, v->x, n));
    bool numbers = parse_numbers(v, column, n, used, &bad);
    if (column->kind == DDSC_COLUMN_NUMBER && !numbers)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "column \"%.100s\": item %lld has \"%.60s\", which is not a finite number",
                        v->name, (long long)bad, text_of(column, bad, (char[VALUE_TEXT]){0}));
    bool fractions = numbers && has_fractions(v, n, used);
    CHECK(list_levels(ctx, v, column, n, used));
    v->number = column->kind == DDSC_COLUMN_NUMBER;
    if (column->kind == DDSC_COLUMN_AUTO && column->role != DDSC_COLUMN_BLOCK)
        v->number = numbers && v->n_levels > 2 &&
                    (fractions || v->n_levels >= VARIABLE_NUMBERS_FROM || 2 * v->n_levels > n_used);
    if (v->number)
        parse_numbers(v, column, n, used, &bad);
    return check_values(ctx, v, n_used, numbers);
}

void variable_free(ddsc_context *ctx, variable *v)
{
    text_table_free(ctx, &v->names);
    MEM_FREE(ctx, v->x, v->level, v->level_size);
    *v = (variable){0};
}
