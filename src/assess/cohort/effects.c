/* Measures associations between a metadata column (classes or numbers) and quantities of the items,
 * optionally within blocks. p is computed by permuting the column, as in permanova. */
#include <math.h>
#include <string.h>

#include "assess/cohort/effects.h"
#include "base/sized.h"

enum { EFFECTS_LEVELS = 50, EFFECTS_MOST = 10000000, EFFECTS_CHUNK = 1 << 20, EFFECTS_PART = 7 };

struct ddsc_effects {
    ddsc_context *ctx;
    ddsc_effects_view view;
    ddsc_effect *row;
    const ddsc_effect **list;
    variable column; /* owns the names of the levels */
};

static void release_job(ddsc_context *ctx, effects_job *j)
{
    effects_data *d = &j->data;
    variable_free(ctx, &j->block);
    for (int64_t k = 0; k < j->n_adjust; k++)
        variable_free(ctx, &j->adjust[k]);
    effects_adjust_close(d);
    MEM_FREE(ctx, j->adjust, j->item, j->statistic, j->count, j->largest, j->n_largest, j->scratch,
             j->along, j->at, d->column, d->block, d->value, d->center, d->scale);
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

static void measure_quantity(const effects_job *j, int64_t v, const int32_t *source, int worker,
                             double *statistic, ddsc_effect *row)
{
    const effects_data *d = &j->data;
    if (d->design)
        effects_adjust_measure(d, v, source, j->along + worker * d->n_covariates,
                               j->at + worker * j->n_at, statistic, row);
    else
        effects_measure(d, v, source, j->scratch + worker * j->n_scratch, statistic, row);
}

static ddsc_status count_variables(void *arg, int64_t begin, int64_t end, int worker)
{
    effects_job *j = arg;
    const effects_data *d = &j->data;
    double statistic[EFFECTS_LEVELS];
    for (int64_t v = begin; v < end; v++)
        for (int64_t b = 0; b < j->n_source; b++) {
            measure_quantity(j, v, j->source + b * d->n, worker, statistic, NULL);
            for (int64_t r = 0; r < d->n_compared; r++)
                count_one(j, v * d->n_compared + r, statistic[r]);
        }
    return DDSC_OK;
}

/* Returns p of a row. If all arrangements were used, p is a share of them, because they include the
 * original arrangement. */
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
    const variable blocks = {.x = d->block}, **of = NULL;
    variable *columns = NULL; /* the column and the covariates, by unit */
    TRY(MEM_NEW(t->ctx, unit, d->n));
    TRY(MEM_ZERO(t->ctx, columns, d->n_covariates + 1));
    TRY(MEM_NEW(t->ctx, of, d->n_covariates + 1));
    for (int64_t i = 0; i < d->n; i++)
        unit[i] = i;
    for (int64_t k = 0; k <= d->n_covariates; k++) {
        columns[k].x = k == 0 ? d->column : d->covariate + (k - 1) * d->n;
        of[k] = &columns[k];
    }
    shuffle_model model = {unit, d->n, d->n_covariates + 1, of, d->block ? &blocks : NULL, false};
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
    MEM_FREE(t->ctx, source, unit, columns, (void *)of);
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

/* Finds the items that have values in all columns, and reads the columns. */
static ddsc_status read_columns(ddsc_context *ctx, int64_t n_columns, const ddsc_column *columns,
                                int64_t n, effects_job *j, variable *by, int64_t *used)
{
    ddsc_status status = DDSC_OK;
    bool *is_used = NULL;
    const char *name = "";
    *used = 0;
    TRY(MEM_NEW(ctx, is_used, n));
    TRY(MEM_NEW(ctx, j->item, n));
    TRY(MEM_ZERO(ctx, j->adjust, n_columns));
    for (int64_t i = 0; i < n; i++) {
        is_used[i] = true;
        for (int64_t k = 0; k < n_columns; k++)
            is_used[i] = is_used[i] && !variable_is_missing(&columns[k], i);
        if (is_used[i])
            j->item[(*used)++] = i;
    }
    for (int64_t k = 0; k < n_columns; k++)
        name = columns[k].role == DDSC_COLUMN_BY ? columns[k].name : name;
    if (*used < 3) {
        status = ctx_fail(ctx, DDSC_ERROR_INPUT,
                          "column \"%.100s\"%s values for only %lld items; at least 3 are needed",
                          name, n_columns > 1 ? " and the columns of the model have" : " has",
                          (long long)*used);
        goto done;
    }
    for (int64_t k = 0; k < n_columns; k++) {
        ddsc_column c = columns[k];
        if (c.role == DDSC_COLUMN_BLOCK)
            c.kind = DDSC_COLUMN_FACTOR;
        variable *to = c.role == DDSC_COLUMN_BY      ? by
                       : c.role == DDSC_COLUMN_BLOCK ? &j->block
                                                     : &j->adjust[j->n_adjust++];
        TRY(variable_make(ctx, to, &c, n, is_used));
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

/* Prepares the adjusted effects. The rows already contain the unadjusted means. */
static ddsc_status adjust_effects(ddsc_effects *t, effects_job *j)
{
    effects_data *d = &j->data;
    bool determined;
    CHECK(effects_adjust_open(d));
    if (!effects_adjust_check(d, &determined))
        return ctx_fail(t->ctx, DDSC_ERROR_INPUT,
                        determined ? "column \"%.100s\" cannot be compared: the covariates (or the "
                                     "blocks) determine it"
                                   : "column \"%.100s\" cannot be compared: there are too many "
                                     "covariates for the number of items",
                        t->column.name);
    j->n_at = effects_adjust_places(d);
    CHECK(MEM_NEW(t->ctx, j->along, d->n_covariates * parallel_width(t->ctx)));
    CHECK(MEM_NEW(t->ctx, j->at, j->n_at * parallel_width(t->ctx)));
    for (int64_t v = 0; v < d->m; v++)
        measure_quantity(j, v, NULL, 0, j->statistic + v * d->n_compared,
                         t->row + v * d->n_compared);
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
    return d->n_covariates > 0 ? adjust_effects(t, j) : DDSC_OK;
}

ddsc_status ddsc_effects_run(ddsc_context *context, ddsc_effects **effects, int64_t n,
                             int64_t n_variables, const double *values, int64_t n_columns,
                             const ddsc_column *columns, int64_t permutations)
{
    ddsc_status status = DDSC_OK;
    ddsc_effects *t = NULL;
    effects_job j = {0};
    int64_t used, n_by = 0;
    CHECK(ctx_enter_new(context, effects));
    const char *before = stage_enter(context, "test");
    TRY(ctx_need(context, values, "values"));
    TRY(ctx_need(context, columns, "columns"));
    TRY(ctx_check(context, n >= 3 && n < INT32_MAX, "n", (double)n, "3 .. 2147483646"));
    TRY(ctx_check(context, n_variables >= 1, "n_variables", (double)n_variables, ">= 1"));
    TRY(ctx_check(context, permutations >= 1 && permutations <= EFFECTS_MOST, "permutations",
                  (double)permutations, "1 .. 10000000"));
    TRY(variable_check_columns(context, columns, n_columns));
    for (int64_t k = 0; k < n_columns; k++)
        n_by += columns[k].role == DDSC_COLUMN_BY;
    TRY(ctx_check(context, n_by == 1, "columns with the role BY", (double)n_by, "1"));
    TRY(MEM_ZERO(context, t, 1));
    t->ctx = j.data.ctx = context;
    j.data.m = n_variables;
    TRY(read_columns(context, n_columns, columns, n, &j, &t->column, &used));
    TRY(check_levels(context, &t->column));
    TRY(effects_make_units(&j, &t->column, values, used));
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
