/* Defines the units that are compared (items or whole blocks), and prepares their values, columns
 * and covariates. */
#include <math.h>

#include "assess/cohort/effects.h"

/* Returns true if the column is constant within each block. first (n_blocks) is scratch memory. */
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

/* Replaces the n values with their ranks, starting at 0. Ties get the mean of their ranks. Missing
 * values stay NaN. */
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
            d->block = NULL; /* differences within blocks need no centering by block */
        ddsc_status status = center_values(d, x, &d->center[v]);
        d->block = kept;
        CHECK(status);
        for (int64_t i = 0; i < d->n; i++)
            if (!isnan(x[i]))
                d->scale[v] = fmax(d->scale[v], fabs(x[i]));
    }
    return DDSC_OK;
}

static int64_t coded_columns_of(const variable *v)
{
    return v->number ? 1 : v->n_levels - 1;
}

/* Creates one column for each numeric covariate, and one for each level of a factor except the
 * first. If units are blocks, their values are the means of their items. */
static ddsc_status make_covariates(effects_job *j, const int64_t *unit, int64_t n)
{
    ddsc_status status = DDSC_OK;
    effects_data *d = &j->data;
    double *size = NULL, *x;
    for (int64_t k = 0; k < j->n_adjust; k++)
        d->n_covariates += coded_columns_of(&j->adjust[k]);
    TRY(MEM_ZERO(d->ctx, size, d->n));
    TRY(MEM_ZERO(d->ctx, d->covariate, BASE_MAX(d->n_covariates, 1) * d->n));
    for (int64_t i = 0; i < n; i++)
        size[unit[i]]++;
    x = d->covariate;
    for (int64_t k = 0; k < j->n_adjust; k++) {
        const variable *v = &j->adjust[k];
        for (int64_t level = 1; level <= coded_columns_of(v); level++, x += d->n) {
            for (int64_t i = 0; i < n; i++) {
                double own = v->x[j->item[i]];
                x[unit[i]] += (v->number ? own : (double)((int64_t)own == level)) / size[unit[i]];
            }
            if (v->number && d->n_levels == 0)
                TRY(rank_values(d->ctx, x, d->n));
        }
    }
done:
    mem_free(d->ctx, size);
    return status;
}

ddsc_status effects_make_units(effects_job *j, const variable *column, const double *values,
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
    TRY(make_covariates(j, unit, n));
    TRY(prepare_values(j));
done:
    MEM_FREE(d->ctx, unit, first);
    return status;
}
