/* Computes effects adjusted for covariates, by least squares.
 *
 * A design has an orthonormal basis Z of the covariates and the residual x of the column after them
 * (both centered within blocks). Let y be the residuals of the values after the covariates. Then
 * the effect is x'y / |x|, the residuals of the model are e = y - Z Z'y - x x'y, and the variance
 * of the effect is the sum of w_i e_i^2, where w_i = (x_i / |x|)^2 / (1 - h_i) and h_i is the
 * leverage (HC2: MacKinnon and White 1985). Without covariates, this is Welch's variance for two
 * classes, and the variance of the paired t test for pairs. Intervals use Satterthwaite's degrees
 * of freedom of this sum, assuming equal variances (Bell and McCaffrey 2002).
 *
 * A permutation exchanges the residuals y (Freedman and Lane 1983), which is the same as exchanging
 * the rows of the design. */
#include <math.h>
#include <string.h>

#include "assess/cohort/effects.h"
#include "numeric/linalg/linalg.h"

/* A column is determined by the others if its residual is at most this fraction of its length. */
static const double DETERMINED = 1e-9;
/* A unit whose 1 - h is at most this value is always fitted exactly by the model. */
static const double FITTED = 1e-9;
/* Effects below this fraction of the largest value are rounding errors. */
static const double ROUNDING = 1e-12;

static int64_t blocks_of(const effects_data *d)
{
    return BASE_MAX(d->n_blocks, 1);
}

static int64_t block_of(const effects_data *d, int64_t i)
{
    return d->block ? (int64_t)d->block[i] : 0;
}

/* ---- columns of a design ---- */

/* Subtracts the mean of each block, and sets units without a value to 0. */
static void center(const effects_data *d, const effects_design *g, double *x)
{
    for (int64_t i = 0; i < d->n; i++)
        x[i] = g->is_used[i] ? x[i] : 0;
    for (int64_t b = 0; b < blocks_of(d); b++) {
        double sum = 0;
        for (int64_t t = g->first[b]; t < g->first[b + 1]; t++)
            sum += x[g->unit[t]];
        for (int64_t t = g->first[b]; t < g->first[b + 1]; t++)
            x[g->unit[t]] -= sum / (double)(g->first[b + 1] - g->first[b]);
    }
}

static void subtract_basis(const effects_data *d, const effects_design *g, double *x)
{
    for (int64_t k = 0; k < g->rank; k++) {
        const double *z = g->basis + k * d->n;
        double along = la_dot(d->n, z, x);
        for (int64_t i = 0; i < d->n; i++)
            x[i] -= along * z[i];
    }
}

/* Subtracts the projection of x onto the covariates, and scales the residual to length 1. Returns
 * its previous length. If the covariates determine x, sets x to 0 and returns 0. */
static double orthogonalize(const effects_data *d, const effects_design *g, double *x)
{
    center(d, g, x);
    double whole = la_norm(d->n, x);
    for (int pass = 0; pass < 2; pass++)
        subtract_basis(d, g, x);
    double length = la_norm(d->n, x);
    bool determined = !(length > DETERMINED * whole);
    for (int64_t i = 0; i < d->n; i++)
        x[i] = determined ? 0 : x[i] / length;
    return determined ? 0 : length;
}

/* ---- variance ---- */

/* Computes the weights of the squared residuals for one compared row, and the degrees of freedom
 * tr(M W)^2 / tr((M W)^2), where M projects onto the residuals of the model. */
static void weigh_residuals(const effects_data *d, effects_design *g, int64_t r, double *sums)
{
    const double *x = g->x + r * d->n;
    double *w = g->weight + r * d->n, trace = 0, square = 0, length2 = g->length[r] * g->length[r];
    int64_t p = g->rank + 1;
    for (int64_t a = 0; a < p * p; a++)
        sums[a] = 0; /* Q' W Q, with the columns Q of covariates and x */
    for (int64_t b = 0; b < blocks_of(d); b++) {
        double size = (double)(g->first[b + 1] - g->first[b]), total = 0, *mean = sums + p * p;
        for (int64_t k = 0; k < p; k++)
            mean[k] = 0;
        for (int64_t t = g->first[b]; t < g->first[b + 1]; t++) {
            int64_t i = g->unit[t];
            double h = 1 / size;
            for (int64_t k = 0; k < p; k++) {
                double q = k < g->rank ? g->basis[k * d->n + i] : x[i];
                h += q * q;
            }
            w[i] = g->length[r] > 0 && 1 - h > FITTED ? x[i] * x[i] / length2 / (1 - h) : 0;
            trace += (1 - h) * w[i];
            square += (1 - 2 * h) * w[i] * w[i];
            total += w[i];
            for (int64_t k = 0; k < p; k++) {
                double q = k < g->rank ? g->basis[k * d->n + i] : x[i];
                mean[k] += w[i] * q;
                for (int64_t l = 0; l < p; l++)
                    sums[k * p + l] += w[i] * q * (l < g->rank ? g->basis[l * d->n + i] : x[i]);
            }
        }
        if (size > 0)
            square += total * total / (size * size) + 2 * la_dot(p, mean, mean) / size;
    }
    square += la_dot(p * p, sums, sums);
    g->df[r] = square > 0 ? trace * trace / square : 0;
}

/* ---- designs ---- */

/* Lists the units that have a value of quantity v, by block. */
static void list_units(const effects_data *d, effects_design *g, int64_t v)
{
    for (int64_t b = 0; b < blocks_of(d); b++) {
        g->first[b] = g->n_used;
        for (int64_t i = 0; i < d->n; i++) {
            g->is_used[i] = !isnan(d->value[v * d->n + i]);
            if (g->is_used[i] && block_of(d, i) == b)
                g->unit[g->n_used++] = (int32_t)i;
        }
        g->n_blocks += g->n_used > g->first[b];
    }
    g->first[blocks_of(d)] = g->n_used;
}

static void fill_design(const effects_data *d, effects_design *g, double *sums)
{
    for (int64_t k = 0; k < d->n_covariates; k++) {
        double *z = g->basis + g->rank * d->n;
        memcpy(z, d->covariate + k * d->n, (size_t)d->n * sizeof *z);
        g->rank += orthogonalize(d, g, z) > 0;
    }
    for (int64_t r = 0; r < d->n_compared; r++) {
        double *x = g->x + r * d->n;
        int64_t level = d->n_compared == 1 ? 1 : r;
        for (int64_t i = 0; i < d->n; i++)
            x[i] = d->n_levels == 0 ? d->column[i] : (double)((int64_t)d->column[i] == level);
        g->length[r] = orthogonalize(d, g, x);
        weigh_residuals(d, g, r, sums);
        if (d->n_levels == 0)
            g->df[r] = (double)(g->n_used - g->rank - 2 - g->n_blocks);
    }
}

static ddsc_status add_design(effects_data *d, int64_t v, double *sums)
{
    effects_design *g = &d->design[d->n_designs++];
    int64_t q = BASE_MAX(d->n_covariates, 1), c = d->n_compared;
    CHECK(MEM_NEW(d->ctx, g->basis, q * d->n));
    CHECK(MEM_NEW(d->ctx, g->x, c * d->n));
    CHECK(MEM_NEW(d->ctx, g->length, c));
    CHECK(MEM_ZERO(d->ctx, g->weight, c * d->n));
    CHECK(MEM_NEW(d->ctx, g->df, c));
    CHECK(MEM_NEW(d->ctx, g->is_used, d->n));
    CHECK(MEM_NEW(d->ctx, g->unit, d->n));
    CHECK(MEM_NEW(d->ctx, g->first, blocks_of(d) + 1));
    list_units(d, g, v);
    fill_design(d, g, sums);
    return DDSC_OK;
}

static bool has_same_units(const effects_data *d, const effects_design *g, int64_t v)
{
    for (int64_t i = 0; i < d->n; i++)
        if (g->is_used[i] == isnan(d->value[v * d->n + i]))
            return false;
    return true;
}

ddsc_status effects_adjust_open(effects_data *d)
{
    ddsc_status status = DDSC_OK;
    double *sums = NULL;
    int64_t p = d->n_covariates + 1;
    TRY(MEM_NEW(d->ctx, sums, p * p + p));
    TRY(MEM_ZERO(d->ctx, d->design, d->m));
    TRY(MEM_NEW(d->ctx, d->design_of, d->m));
    for (int64_t v = 0; v < d->m; v++) {
        /* Most coordinates of a state have values for the same units, so they share the previous
         * design. */
        int64_t k = d->n_designs - 1;
        while (k >= 0 && !has_same_units(d, &d->design[k], v))
            k--;
        if (k < 0) {
            TRY(add_design(d, v, sums));
            k = d->n_designs - 1;
        }
        d->design_of[v] = (int32_t)k;
    }
    for (int64_t v = 0; v < d->m; v++) {
        const effects_design *g = &d->design[d->design_of[v]];
        center(d, g, d->value + v * d->n);
        for (int pass = 0; pass < 2; pass++)
            subtract_basis(d, g, d->value + v * d->n);
    }
done:
    mem_free(d->ctx, sums);
    return status;
}

void effects_adjust_close(effects_data *d)
{
    for (int64_t k = 0; k < d->n_designs; k++) {
        effects_design *g = &d->design[k];
        MEM_FREE(d->ctx, g->basis, g->x, g->length, g->weight, g->df, g->is_used, g->unit,
                 g->first);
    }
    MEM_FREE(d->ctx, d->design, d->design_of, d->covariate);
}

/* ---- effects ---- */

int64_t effects_adjust_places(const effects_data *d)
{
    return d->n + blocks_of(d);
}

/* Restricts a permutation to the units with values: each of these units receives the row of the
 * next unit with a value in the permuted list of its block. */
static void restrict_source(const effects_data *d, const effects_design *g, const int32_t *source,
                            int32_t *at)
{
    int32_t *next = at + d->n;
    for (int64_t i = 0; i < d->n; i++)
        at[i] = (int32_t)i;
    for (int64_t b = 0; b < blocks_of(d); b++)
        next[b] = (int32_t)g->first[b];
    for (int64_t i = 0; source && i < d->n; i++)
        if (g->is_used[source[i]])
            at[g->unit[next[block_of(d, i)]++]] = source[i];
}

static void fill_adjusted(const effects_data *d, const effects_design *g, int64_t v, int64_t r,
                          double effect, double error, double residual, ddsc_effect *row)
{
    double limit = ROUNDING * d->scale[v];
    double free = (double)(g->n_used - g->n_blocks - g->rank - 1);
    double margin = error > limit ? effects_t_quantile(fmax(g->df[r], 1)) * error : error;
    row->effect = fabs(effect) <= limit ? 0 : effect;
    row->low = row->effect - margin;
    row->high = row->effect + margin;
    double pooled = sqrt(residual / free);
    row->standardized = free > 0 && pooled > limit ? row->effect / pooled : (double)NAN;
}

/* Computes the effect of one class. `along` contains the products of the residuals with the basis
 * of the covariates. */
static double measure_class(const effects_data *d, int64_t v, int64_t r, const int32_t *at,
                            const double *along, double own, ddsc_effect *row)
{
    const effects_design *g = &d->design[d->design_of[v]];
    const double *y = d->value + v * d->n, *x = g->x + r * d->n, *w = g->weight + r * d->n;
    double variance = 0, residual = 0;
    for (int64_t i = 0; i < d->n; i++) {
        double e = y[i] - x[at[i]] * own;
        for (int64_t k = 0; k < g->rank; k++)
            e -= g->basis[k * d->n + at[i]] * along[k];
        variance += w[at[i]] * e * e;
        residual += e * e;
    }
    double effect = g->length[r] > 0 ? own / g->length[r] : (double)NAN;
    double error = g->df[r] > 0 ? sqrt(variance) : (double)NAN;
    if (row)
        fill_adjusted(d, g, v, r, effect, error, residual, row);
    return effects_studentize(d, v, effect, error);
}

void effects_adjust_measure(const effects_data *d, int64_t v, const int32_t *source, double *along,
                            int32_t *at, double *statistic, ddsc_effect *row)
{
    const effects_design *g = &d->design[d->design_of[v]];
    const double *y = d->value + v * d->n;
    double rest = la_dot(d->n, y, y), least = ROUNDING * d->scale[v];
    restrict_source(d, g, source, at);
    for (int64_t k = 0; k < g->rank; k++) {
        along[k] = 0;
        for (int64_t i = 0; i < d->n; i++)
            along[k] += g->basis[k * d->n + at[i]] * y[i];
        rest -= along[k] * along[k];
    }
    for (int64_t r = 0; r < d->n_compared; r++) {
        double own = 0;
        for (int64_t i = 0; i < d->n; i++)
            own += g->x[r * d->n + at[i]] * y[i];
        if (d->n_levels > 0) {
            statistic[r] = measure_class(d, v, r, at, along, own, row ? &row[r] : NULL);
            continue;
        }
        double rho = rest > least * least ? own / sqrt(rest) : 0;
        statistic[r] = fabs(rho);
        if (row)
            effects_fill_correlation(&row[r], rho, g->df[r]);
    }
}

bool effects_adjust_check(const effects_data *d, bool *determined)
{
    bool possible = false;
    *determined = true;
    for (int64_t k = 0; k < d->n_designs; k++) {
        const effects_design *g = &d->design[k];
        possible = possible || g->n_used - g->n_blocks - g->rank > 1;
        for (int64_t r = 0; r < d->n_compared; r++)
            *determined = *determined && !(g->length[r] > 0);
    }
    return possible && !*determined;
}
