/* Computes the effects of one quantity, with confidence intervals. */
#include <float.h>
#include <math.h>

#include "assess/cohort/effects.h"

static const double TWO_SIDED = 0.05, NORMAL_975 = 1.959963984540054, PI = 3.14159265358979323846;
/* Differences below this fraction of the largest value are rounding errors. */
static const double ROUNDING = 1e-12;
/* Statistic of an effect whose standard error is 0. A finite value can be compared with other
 * statistics. */
static const double LARGEST = 1e300;

/* Returns the 97.5% quantile of Student's t for small df, by bisection of the distribution function:
 * an integral of cos(angle)^(df - 1) over |angle| < atan(t / sqrt(df)), by Simpson's rule. */
static double t_quantile_by_bisection(double df)
{
    enum { STEPS = 50, INTERVALS = 40 };
    double whole = sqrt(PI) * tgamma(df / 2) / tgamma((df + 1) / 2), low = 0, high = PI / 2;
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2, width = middle / INTERVALS;
        double sum = 1 + pow(cos(middle), df - 1);
        for (int k = 1; k < INTERVALS; k++)
            sum += (k % 2 ? 4 : 2) * pow(cos(k * width), df - 1);
        if (2 * sum * width / 3 < (1 - TWO_SIDED) * whole)
            low = middle;
        else
            high = middle;
    }
    return sqrt(df) * tan(low);
}

/* Returns the 97.5% quantile of Student's t with df >= 1 degrees of freedom (Hill 1970, algorithm
 * 396), with a relative error below 1e-4. Hill's approximation is too large for small df. */
double effects_t_quantile(double df)
{
    double p = TWO_SIDED;
    if (df < 2.5)
        return t_quantile_by_bisection(df);
    double a = 1 / (df - 0.5), b = 48 / (a * a);
    double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * PI / 2) * df;
    double y = pow(d * p, 2 / df);
    if (y > 0.05 + a) {
        double x = -NORMAL_975;
        y = x * x;
        if (df < 5)
            c += 0.3 * (df - 4.5) * (x + 0.6);
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y -
             1) *
                (df + 1) / (df + 2) +
            1 / y;
    }
    return sqrt(df * y);
}

int64_t effects_scratch(const effects_data *d)
{
    return BASE_MAX(d->n_levels, 1) * BASE_MAX(d->n_blocks, 1);
}

static effects_sum minus(effects_sum a, effects_sum b)
{
    return (effects_sum){a.n - b.n, a.sum - b.sum, a.square - b.square};
}

/* Returns the sample variance, or exactly 0 if the values are equal except for rounding errors.
 * Otherwise, arrangements with the same statistic would not count as ties. */
static double variance(effects_sum s)
{
    double sum = s.square - s.sum * s.sum / s.n, rounding = 2 * s.n * DBL_EPSILON * s.square;
    if (!(s.n > 1))
        return NAN;
    return sum > rounding ? sum / (s.n - 1) : 0;
}

static void add_sums(const effects_data *d, int64_t v, const int32_t *source, effects_sum *sums)
{
    const double *y = d->value + v * d->n;
    int64_t cells = effects_scratch(d);
    for (int64_t c = 0; c < cells; c++)
        sums[c] = (effects_sum){0};
    for (int64_t i = 0; i < d->n; i++) {
        if (isnan(y[i]))
            continue;
        int64_t level = (int64_t)d->column[source ? source[i] : i];
        effects_sum *s = &sums[(d->block ? (int64_t)d->block[i] : 0) * d->n_levels + level];
        s->n++;
        s->sum += y[i];
        s->square += y[i] * y[i];
    }
}

/* If the units are too few for a standard error, returns the effect in units of the largest value, so
 * that p does not depend on the unit of the values. */
double effects_studentize(const effects_data *d, int64_t v, double effect, double error)
{
    double limit = ROUNDING * d->scale[v];
    if (isnan(effect) || fabs(effect) <= limit)
        return 0;
    if (isnan(error))
        return fabs(effect) / d->scale[v];
    return error > limit ? fabs(effect) / error : LARGEST;
}

typedef struct contrast {
    double effect, error, df;
    effects_sum level, other;
} contrast;

/* Compares the mean of a level with the mean of the other levels (Welch 1947). */
static contrast compare_means(const effects_data *d, const effects_sum *sums, int64_t level)
{
    contrast c = {.level = sums[level]};
    effects_sum all = {0};
    for (int64_t k = 0; k < d->n_levels; k++)
        all = (effects_sum){all.n + sums[k].n, all.sum + sums[k].sum, all.square + sums[k].square};
    c.other = minus(all, c.level);
    double a = variance(c.level) / c.level.n, b = variance(c.other) / c.other.n;
    c.effect = c.level.sum / c.level.n - c.other.sum / c.other.n;
    c.error = sqrt(a + b);
    c.df = (a + b) * (a + b) / (a * a / (c.level.n - 1) + b * b / (c.other.n - 1));
    return c;
}

/* Compares a level with the other levels within each block that contains both. */
static contrast compare_within(const effects_data *d, const effects_sum *sums, int64_t level)
{
    contrast c = {0};
    effects_sum blocks = {0};
    for (int64_t b = 0; b < d->n_blocks; b++) {
        contrast own = compare_means(d, sums + b * d->n_levels, level);
        c.level.n += own.level.n;
        c.level.sum += own.level.sum;
        c.level.square += own.level.square;
        c.other.n += own.other.n;
        c.other.sum += own.other.sum;
        c.other.square += own.other.square;
        if (own.level.n < 1 || own.other.n < 1)
            continue;
        blocks.n++;
        blocks.sum += own.effect;
        blocks.square += own.effect * own.effect;
    }
    c.effect = blocks.sum / blocks.n;
    c.error = sqrt(variance(blocks) / blocks.n);
    c.df = blocks.n - 1;
    return c;
}

static void fill_effect(const effects_data *d, int64_t v, const contrast *c, ddsc_effect *row)
{
    double limit = ROUNDING * d->scale[v];
    double both = c->level.n + c->other.n - 2;
    double pooled = sqrt(
        (variance(c->level) * (c->level.n - 1) + variance(c->other) * (c->other.n - 1)) / both);
    double margin = c->error > limit ? effects_t_quantile(fmax(c->df, 1)) * c->error : c->error;
    row->n_level = (int64_t)c->level.n;
    row->n_other = (int64_t)c->other.n;
    row->n = row->n_level + row->n_other;
    row->mean_level = d->center[v] + c->level.sum / c->level.n;
    row->mean_other = d->center[v] + c->other.sum / c->other.n;
    row->effect = fabs(c->effect) <= limit ? 0 : c->effect;
    row->low = row->effect - margin;
    row->high = row->effect + margin;
    row->standardized = pooled > limit ? row->effect / pooled : (double)NAN;
}

static void measure_factor(const effects_data *d, int64_t v, const int32_t *source,
                           effects_sum *sums, double *statistic, ddsc_effect *row)
{
    add_sums(d, v, source, sums);
    for (int64_t r = 0; r < d->n_compared; r++) {
        int64_t level = d->n_compared == 1 ? 1 : r;
        contrast c = d->block ? compare_within(d, sums, level) : compare_means(d, sums, level);
        statistic[r] = effects_studentize(d, v, c.effect, c.error);
        if (row)
            fill_effect(d, v, &c, &row[r]);
    }
}

/* The confidence interval follows Bonett and Wright (2000). */
void effects_fill_correlation(ddsc_effect *row, double r, double free)
{
    double z = atanh(fmin(fmax(r, -1 + 1e-12), 1 - 1e-12));
    double margin = free > 0 ? NORMAL_975 * sqrt((1 + r * r / 2) / free) : (double)NAN;
    row->mean_level = row->mean_other = row->standardized = NAN;
    row->effect = r;
    row->low = tanh(z - margin);
    row->high = tanh(z + margin);
}

/* Returns the number of blocks with values, which is 1 without blocks. */
static int64_t count_blocks(const effects_data *d, int64_t v, effects_sum *scratch)
{
    int64_t n = 0;
    if (!d->block)
        return 1;
    for (int64_t b = 0; b < d->n_blocks; b++)
        scratch[b].n = 0;
    for (int64_t i = 0; i < d->n; i++)
        if (!isnan(d->value[v * d->n + i]))
            n += scratch[(int64_t)d->block[i]].n++ < 1;
    return n;
}

static void measure_number(const effects_data *d, int64_t v, const int32_t *source,
                           effects_sum *scratch, double *statistic, ddsc_effect *row)
{
    const double *y = d->value + v * d->n;
    double n = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0, xy = 0;
    for (int64_t i = 0; i < d->n; i++) {
        double x = d->column[source ? source[i] : i];
        if (isnan(y[i]))
            continue;
        n++;
        x1 += x;
        y1 += y[i];
        x2 += x * x;
        y2 += y[i] * y[i];
        xy += x * y[i];
    }
    double spread = (x2 - x1 * x1 / n) * (y2 - y1 * y1 / n);
    double r = spread > ROUNDING * x2 * y2 ? (xy - x1 * y1 / n) / sqrt(spread) : 0;
    statistic[0] = fabs(r);
    if (!row)
        return;
    row->n = (int64_t)n;
    effects_fill_correlation(row, r, n - 2 - (double)count_blocks(d, v, scratch));
}

void effects_measure(const effects_data *d, int64_t v, const int32_t *source, effects_sum *scratch,
                     double *statistic, ddsc_effect *row)
{
    if (d->n_levels > 0)
        measure_factor(d, v, source, scratch, statistic, row);
    else
        measure_number(d, v, source, scratch, statistic, row);
}
