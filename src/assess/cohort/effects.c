/* Computes associations of quantities with a column about items, which contains classes or numbers,
 * optionally within blocks. p is computed by permutations of the column, as in permanova. */
#include <math.h>
#include <string.h>

#include "assess/cohort/permanova.h"
#include "base/sized.h"

enum { EFFECTS_LEVELS = 50, EFFECTS_MOST = 10000000, EFFECTS_CHUNK = 1 << 20, EFFECTS_PART = 7 };

struct ddsc_effects {
    ddsc_context *ctx;
    ddsc_effects_view view;
    ddsc_effect *row;
    const ddsc_effect **list;
    variable column; /* owns the names of the levels */
};

typedef struct effects_job {
    effects_data data;
    variable block;
    bool whole;
    int64_t *item;     /* used items */
    double *statistic; /* per row */
    int64_t *count;    /* per row: number of permutations with at least this statistic */
    double *largest;   /* per row: largest statistic, and number of permutations that have it */
    int64_t *n_largest;
    effects_sum *scratch;
    int64_t n_scratch; /* per worker */
    const int32_t *source;
    int64_t n_source;
} effects_job;

static void release_job(ddsc_context *ctx, effects_job *j)
{
    effects_data *d = &j->data;
    variable_free(ctx, &j->block);
    MEM_FREE(ctx, j->item, j->statistic, j->count, j->largest, j->n_largest, j->scratch, d->column,
             d->block, d->value, d->center, d->scale);
}

/* ---- units ---- */

/* Returns true if the column has one value in each block. first (n_blocks) is scratch memory. */
static bool is_constant_within(const variable *column, const variable *block, const int64_t *item,
                               int64_t n, double *first)
{
    for (int64_t b = 0; b < block->n_levels; b++)
        first[b] = NAN;
    for (int64_t i = 0; i < n; i++) {
        double *own = &first[(int64_t)block->x[item[i]]], x = column->x[item[i]];
        if (!isnan(*own) && (*own < x || *own > x))
            return false;
        *own = x;
    }
    return true;
}

/* Replaces the n values with their ranks, starting at 0. Equal values have the mean of their ranks.
 * Missing values stay NaN. */
static ddsc_status rank_values(ddsc_context *ctx, double *x, int64_t n)
{
    ddsc_status status = DDSC_OK;
    double *key = NULL;
    int32_t *order = NULL, *at = NULL;
    int64_t known = 0;
    TRY(MEM_NEW(ctx, key, n));
    TRY(MEM_NEW(ctx, order, n));
    TRY(MEM_NEW(ctx, at, n));
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i])) {
            key[known] = x[i];
            at[known++] = (int32_t)i;
        }
    sort_order(order, key, known);
    for (int64_t begin = 0, end; begin < known; begin = end) {
        for (end = begin + 1; end < known && !(key[order[end]] > key[order[begin]]); end++)
            ;
        for (int64_t t = begin; t < end; t++)
            x[at[order[t]]] = (double)(begin + end - 1) / 2;
    }
done:
    MEM_FREE(ctx, key, order, at);
    return status;
}

/* Subtracts the mean of each block, or of all units if there are no blocks. */
static ddsc_status center_values(const effects_data *d, double *x, double *center)
{
    ddsc_status status = DDSC_OK;
    int64_t n_blocks = BASE_MAX(d->n_blocks, 1);
    double *sum = NULL, *count = NULL;
    TRY(MEM_ZERO(d->ctx, sum, n_blocks));
    TRY(MEM_ZERO(d->ctx, count, n_blocks));
    for (int64_t i = 0; i < d->n; i++) {
        int64_t b = d->block ? (int64_t)d->block[i] : 0;
        if (!isnan(x[i])) {
            sum[b] += x[i];
            count[b]++;
        }
    }
    for (int64_t i = 0; i < d->n; i++) {
        int64_t b = d->block ? (int64_t)d->block[i] : 0;
        x[i] -= sum[b] / count[b];
    }
    if (center)
        *center = count[0] > 0 ? sum[0] / count[0] : 0;
done:
    MEM_FREE(d->ctx, sum, count);
    return status;
}

/* Adds the values of the used items to their units. n_values (m x n) counts them. */
static ddsc_status add_values(effects_job *j, const double *values, const int64_t *unit, int64_t n)
{
    ddsc_status status = DDSC_OK;
    effects_data *d = &j->data;
    double *count = NULL;
    TRY(MEM_ZERO(d->ctx, d->value, d->m * d->n));
    TRY(MEM_ZERO(d->ctx, count, d->m * d->n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t v = 0; v < d->m; v++) {
            double x = values[j->item[i] * d->m + v];
            if (isnan(x))
                continue;
            d->value[v * d->n + unit[i]] += x;
            count[v * d->n + unit[i]]++;
        }
    for (int64_t e = 0; e < d->m * d->n; e++)
        d->value[e] = count[e] > 0 ? d->value[e] / count[e] : (double)NAN;
done:
    mem_free(d->ctx, count);
    return status;
}

/* Prepares the values and the column. If the column is numeric, both are replaced with centered
 * ranks. With blocks, ranks are centered within blocks. */
static ddsc_status prepare_values(effects_job *j)
{
    effects_data *d = &j->data;
    bool number = d->n_levels == 0;
    double *kept = d->block;
    CHECK(MEM_NEW(d->ctx, d->center, d->m));
    CHECK(MEM_ZERO(d->ctx, d->scale, d->m));
    if (number)
        CHECK(rank_values(d->ctx, d->column, d->n));
    if (number)
        CHECK(center_values(d, d->column, NULL));
    for (int64_t v = 0; v < d->m; v++) {
        double *x = d->value + v * d->n;
        if (number)
            CHECK(rank_values(d->ctx, x, d->n));
        if (!number)
            d->block = NULL; /* differences within blocks need no centering */
        ddsc_status status = center_values(d, x, &d->center[v]);
        d->block = kept;
        CHECK(status);
        for (int64_t i = 0; i < d->n; i++)
            if (!isnan(x[i]))
                d->scale[v] = fmax(d->scale[v], fabs(x[i]));
    }
    return DDSC_OK;
}

/* Defines the units of the permutations: the items, or the blocks if the column is constant within
 * blocks. */
static ddsc_status make_units(effects_job *j, const variable *column, const double *values,
                              int64_t n)
{
    ddsc_status status = DDSC_OK;
    effects_data *d = &j->data;
    int64_t *unit = NULL;
    double *first = NULL;
    bool blocked = j->block.x != NULL;
    TRY(MEM_NEW(d->ctx, unit, n));
    TRY(MEM_NEW(d->ctx, first, j->block.n_levels + 1));
    j->whole = blocked && is_constant_within(column, &j->block, j->item, n, first);
    d->n = j->whole ? j->block.n_levels : n;
    d->n_levels = column->number ? 0 : column->n_levels;
    d->n_compared = d->n_levels > 2 ? d->n_levels : 1;
    TRY(MEM_NEW(d->ctx, d->column, d->n));
    for (int64_t i = 0; i < n; i++) {
        unit[i] = j->whole ? (int64_t)j->block.x[j->item[i]] : i;
        d->column[unit[i]] = column->x[j->item[i]];
    }
    TRY(add_values(j, values, unit, n));
    if (blocked && !j->whole) {
        d->n_blocks = j->block.n_levels;
        TRY(MEM_NEW(d->ctx, d->block, d->n));
        for (int64_t i = 0; i < n; i++)
            d->block[i] = j->block.x[j->item[i]];
    }
    TRY(prepare_values(j));
done:
    MEM_FREE(d->ctx, unit, first);
    return status;
}

/* ---- permutations ---- */

/* Values that differ by rounding errors are ties. */
static void count_one(effects_job *j, int64_t row, double statistic)
{
    static const double TIE = 1e-9;
    double own = j->statistic[row], largest = j->largest[row];
    j->count[row] += statistic >= own - TIE * fabs(own);
    if (statistic > largest + TIE * fabs(largest)) {
        j->largest[row] = statistic;
        j->n_largest[row] = 0;
    }
    j->n_largest[row] += statistic >= j->largest[row] - TIE * fabs(j->largest[row]);
}

static ddsc_status count_variables(void *arg, int64_t begin, int64_t end, int worker)
{
    effects_job *j = arg;
    const effects_data *d = &j->data;
    double statistic[EFFECTS_LEVELS];
    for (int64_t v = begin; v < end; v++)
        for (int64_t b = 0; b < j->n_source; b++) {
            effects_measure(d, v, j->source + b * d->n, j->scratch + worker * j->n_scratch,
                            statistic, NULL);
            for (int64_t r = 0; r < d->n_compared; r++)
                count_one(j, v * d->n_compared + r, statistic[r]);
        }
    return DDSC_OK;
}

/* Returns p of a row. If all arrangements were used, which include the original one, p is their
 * share. */
static double p_of(const shuffle *s, int64_t count)
{
    return s->exhaustive ? (double)count / (double)s->n_draws
                         : (double)(1 + count) / (double)(1 + s->n_draws);
}

static ddsc_status permute(ddsc_effects *t, effects_job *j, int64_t wanted)
{
    ddsc_status status = DDSC_OK;
    effects_data *d = &j->data;
    shuffle s = {0};
    int32_t *source = NULL;
    int64_t *unit = NULL, chunk = BASE_MAX(EFFECTS_CHUNK / d->n, 1);
    const variable units = {.x = d->column}, blocks = {.x = d->block}, *of = &units;
    TRY(MEM_NEW(t->ctx, unit, d->n));
    for (int64_t i = 0; i < d->n; i++)
        unit[i] = i;
    shuffle_model model = {unit, d->n, 1, &of, d->block ? &blocks : NULL, false};
    TRY(shuffle_open(t->ctx, &s, &model, wanted, EFFECTS_PART));
    chunk = BASE_MIN(chunk, s.n_draws);
    TRY(MEM_NEW(t->ctx, source, chunk * d->n));
    j->source = source;
    progress_begin(t->ctx, "permutations", s.n_draws);
    for (int64_t begin = 0; begin < s.n_draws; begin += chunk) {
        j->n_source = BASE_MIN(chunk, s.n_draws - begin);
        shuffle_fill(&s, source, begin, j->n_source);
        TRY(parallel_for(t->ctx, d->m, 1, count_variables, j));
        progress_add(t->ctx, j->n_source);
        TRY(progress_poll(t->ctx));
    }
    progress_end(t->ctx);
    t->view.n_permutations = s.n_draws;
    t->view.exhaustive = s.exhaustive;
    t->view.smallest_p = 1;
    for (int64_t r = 0; r < t->view.n_rows; r++)
        t->row[r].p = p_of(&s, j->count[r]);
    for (int64_t r = 0; r < t->view.n_rows; r++)
        t->view.smallest_p = fmin(t->view.smallest_p, p_of(&s, s.exhaustive ? j->n_largest[r] : 0));
done:
    shuffle_close(&s);
    MEM_FREE(t->ctx, source, unit);
    return status;
}

/* Adjusts p by the method of Benjamini and Hochberg (1995). */
static ddsc_status adjust(ddsc_effects *t)
{
    ddsc_status status = DDSC_OK;
    int64_t n = t->view.n_rows;
    double *key = NULL, least = 1;
    int32_t *order = NULL;
    TRY(MEM_NEW(t->ctx, key, n));
    TRY(MEM_NEW(t->ctx, order, n));
    for (int64_t r = 0; r < n; r++)
        key[r] = t->row[r].p;
    sort_order(order, key, n);
    for (int64_t k = n; k > 0; k--) {
        ddsc_effect *row = &t->row[order[k - 1]];
        least = fmin(least, row->p * (double)n / (double)k);
        row->p_adjusted = least;
    }
done:
    MEM_FREE(t->ctx, key, order);
    return status;
}

/* ---- public ---- */

static ddsc_status check_columns(ddsc_context *ctx, const ddsc_column *column,
                                 const ddsc_column *block, int64_t n, effects_job *j, variable *of,
                                 int64_t *used)
{
    ddsc_status status = DDSC_OK;
    bool *is_used = NULL;
    *used = 0;
    TRY(MEM_NEW(ctx, is_used, n));
    TRY(MEM_NEW(ctx, j->item, n));
    for (int64_t i = 0; i < n; i++) {
        is_used[i] = !variable_is_missing(column, i) && !(block && variable_is_missing(block, i));
        if (is_used[i])
            j->item[(*used)++] = i;
    }
    if (*used < 3) {
        status = ctx_fail(ctx, DDSC_ERROR_INPUT,
                          "column \"%.100s\" has values for only %lld items; at least 3 are needed",
                          column->name, (long long)*used);
        goto done;
    }
    TRY(variable_make(ctx, of, column, n, is_used));
    if (block) {
        ddsc_column factor = *block;
        factor.kind = DDSC_COLUMN_FACTOR;
        factor.role = DDSC_COLUMN_BLOCK;
        TRY(variable_make(ctx, &j->block, &factor, n, is_used));
    }
done:
    mem_free(ctx, is_used);
    return status;
}

static ddsc_status check_levels(ddsc_context *ctx, const variable *column)
{
    if (!column->number && column->n_levels > EFFECTS_LEVELS)
        return ctx_fail(ctx, DDSC_ERROR_INPUT,
                        "column \"%.100s\" has %lld different classes; at most %d can be compared",
                        column->name, (long long)column->n_levels, EFFECTS_LEVELS);
    return DDSC_OK;
}

static ddsc_status fill_effects(ddsc_effects *t, effects_job *j)
{
    effects_data *d = &j->data;
    int64_t n = d->m * d->n_compared;
    j->n_scratch = effects_scratch(d);
    CHECK(MEM_ZERO(t->ctx, t->row, n));
    CHECK(MEM_NEW(t->ctx, t->list, n));
    CHECK(MEM_NEW(t->ctx, j->statistic, n));
    CHECK(MEM_ZERO(t->ctx, j->count, n));
    CHECK(MEM_ZERO(t->ctx, j->largest, n));
    CHECK(MEM_ZERO(t->ctx, j->n_largest, n));
    CHECK(MEM_NEW(t->ctx, j->scratch, j->n_scratch * parallel_width(t->ctx)));
    for (int64_t v = 0; v < d->m; v++) {
        ddsc_effect *row = t->row + v * d->n_compared;
        effects_measure(d, v, NULL, j->scratch, j->statistic + v * d->n_compared, row);
        for (int64_t r = 0; r < d->n_compared; r++) {
            row[r].variable = v;
            if (d->n_levels > 0)
                row[r].level = t->column.level[d->n_compared == 1 ? 1 : r];
            if (d->n_levels == 2)
                row[r].other = t->column.level[0];
        }
    }
    for (int64_t r = 0; r < n; r++)
        t->list[r] = &t->row[r];
    t->view.n_rows = n;
    t->view.rows = t->list;
    t->view.kind = d->n_levels > 0 ? DDSC_COLUMN_FACTOR : DDSC_COLUMN_NUMBER;
    t->view.whole_blocks = j->whole;
    return DDSC_OK;
}

ddsc_status ddsc_effects_run(ddsc_context *context, ddsc_effects **effects, int64_t n,
                             int64_t n_variables, const double *values, const ddsc_column *column,
                             const ddsc_column *block, int64_t permutations)
{
    ddsc_status status = DDSC_OK;
    ddsc_effects *t = NULL;
    effects_job j = {0};
    int64_t used;
    CHECK(ctx_enter_new(context, effects));
    const char *before = stage_enter(context, "test");
    TRY(ctx_need(context, values, "values"));
    TRY(ctx_need(context, column, "column"));
    TRY(ctx_check(context, n >= 3 && n < INT32_MAX, "n", (double)n, "3 .. 2147483646"));
    TRY(ctx_check(context, n_variables >= 1, "n_variables", (double)n_variables, ">= 1"));
    TRY(ctx_check(context, permutations >= 1 && permutations <= EFFECTS_MOST, "permutations",
                  (double)permutations, "1 .. 10000000"));
    TRY(variable_check_columns(context, column, 1));
    TRY(MEM_ZERO(context, t, 1));
    t->ctx = j.data.ctx = context;
    j.data.m = n_variables;
    TRY(check_columns(context, column, block, n, &j, &t->column, &used));
    TRY(check_levels(context, &t->column));
    TRY(make_units(&j, &t->column, values, used));
    TRY(fill_effects(t, &j));
    TRY(permute(t, &j, permutations));
    TRY(adjust(t));
    *effects = t;
    t = NULL;
done:
    release_job(context, &j);
    ddsc_effects_destroy(t);
    stage_leave(context, before);
    return status;
}

void ddsc_effects_destroy(ddsc_effects *t)
{
    if (!t)
        return;
    ddsc_context *ctx = t->ctx;
    variable_free(ctx, &t->column);
    MEM_FREE(ctx, t->row, (void *)t->list);
    mem_free(ctx, t);
}

SIZED_VIEW(ddsc_effects, 0)
