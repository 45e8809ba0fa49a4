/* Checks whether the scales of the coordinates are comparable. The constants were chosen using 36
 * tables: the rule fires for different units, raw cytometry and raw counts, but not for pixels,
 * word vectors, principal components of scaled data, transformed cytometry or points in space. */
#include <math.h>

#include "base/sized.h"
#include "data/units.h"

SIZED_INIT(units_struct, ddsc_units, jump, NULL);

/* A coordinate is small if its spread is less than SMALL times the largest spread. The rule fires
 * if at least SMALL_SHARE of the coordinates are small. */
static const double SMALL = 1.0 / 20, SMALL_SHARE = 0.2;
/* A jump of this many decades between successive spreads indicates different units. */
static const double JUMP = 0.5;
/* Fraction of the mass that counts as extreme in a coordinate, and share of the squared spread from
 * which the extreme points dominate. The share of the extreme points is 0.08 for a normal
 * distribution and 0.24 for an exponential distribution. */
static const double EXTREME = 0.01, HEAVY = 0.3;
/* Maximum number of support rows that are sorted to find extreme points. */
enum { UNITS_SAMPLE = 100000 };

typedef struct unit_check {
    ddsc_context *ctx;
    const measures *m;
    double *mass;   /* v: mass of each support row; every item has the same mass */
    double *spread; /* d */
    double *far;    /* v: distance of each row from the mean, in one coordinate */
    int32_t *order; /* v */
} unit_check;

static double coordinate_of(const unit_check *u, int64_t row, int64_t coordinate)
{
    return u->m->support[row * u->m->d + coordinate];
}

static double mean_of(const unit_check *u, int64_t coordinate)
{
    double mean = 0;
    for (int64_t p = 0; p < u->m->v; p++)
        mean += u->mass[p] * coordinate_of(u, p, coordinate);
    return mean;
}

/* Returns the share of the squared spread that the extreme points contribute, computed from at most
 * UNITS_SAMPLE evenly spaced rows. */
static double extreme_share(unit_check *u, int64_t coordinate)
{
    double mean = mean_of(u, coordinate), mass = 0, square = 0, part = 0;
    int64_t step = 1 + (u->m->v - 1) / UNITS_SAMPLE, n = 0;
    for (int64_t p = 0; p < u->m->v; p += step) {
        double x = (coordinate_of(u, p, coordinate) - mean) / u->spread[coordinate];
        u->far[n++] = -fabs(x);
        mass += u->mass[p];
        square += u->mass[p] * x * x;
    }
    sort_order(u->order, u->far, n);
    double left = EXTREME * mass;
    for (int64_t k = 0; k < n && left > 0; k++) {
        double taken = fmin(left, u->mass[u->order[k] * step]), x = u->far[u->order[k]];
        part += taken * x * x;
        left -= taken;
    }
    return square > 0 ? part / square : 0;
}

static void look_at_coordinate(unit_check *u, ddsc_units *own, int64_t c)
{
    double mean = mean_of(u, c), square = 0, low = INFINITY, high = -INFINITY;
    for (int64_t p = 0; p < u->m->v; p++) {
        low = fmin(low, coordinate_of(u, p, c));
        high = fmax(high, coordinate_of(u, p, c));
    }
    double unit = fmax(high - mean, mean - low);
    for (int64_t p = 0; p < u->m->v && high > low; p++) {
        double x =
            (coordinate_of(u, p, c) - mean) / unit; /* at most 1, so that squares are finite */
        square += u->mass[p] * x * x;
    }
    u->spread[c] = high > low ? unit * sqrt(square) : 0;
    if (own->low)
        own->low[c] = low;
    if (own->high)
        own->high[c] = high;
    if (own->spread)
        own->spread[c] = u->spread[c];
}

/* Returns true if extreme points dominate a coordinate. */
static bool look_at_extremes(unit_check *u, ddsc_units *own, bool all)
{
    bool heavy = false;
    for (int64_t c = 0; c < u->m->d && (all || !heavy); c++) {
        double share = u->spread[c] > 0 ? extreme_share(u, c) : 0;
        heavy = heavy || share >= HEAVY;
        if (own->outliers)
            own->outliers[c] = share;
    }
    return heavy;
}

/* Computes the remaining outputs from the spreads. `sorted` is work space for d values. */
static void judge_scales(unit_check *u, ddsc_units *own, double *sorted)
{
    int64_t d = u->m->d;
    double largest = 0, whole = 0;
    own->widest = -1;
    for (int64_t c = 0; c < d; c++)
        if (u->spread[c] > largest) {
            largest = u->spread[c];
            own->widest = c;
        }
    for (int64_t c = 0; c < d; c++)
        whole += largest > 0 ? u->spread[c] / largest * (u->spread[c] / largest) : 0;
    own->n_small = own->n_large = 0;
    for (int64_t c = 0; c < d; c++) {
        double relative = largest > 0 ? u->spread[c] / largest : 0;
        own->n_small += relative > 0 && relative < SMALL;
        own->n_large += relative >= SMALL;
        if (own->share)
            own->share[c] = whole > 0 ? relative * relative / whole : 0;
    }
    for (int64_t c = 0; c < d; c++)
        sorted[c] = u->spread[c];
    sort_doubles(sorted, d);
    own->jump = 0;
    for (int64_t c = 1; c < d; c++)
        if (sorted[c - 1] > 0)
            own->jump = fmax(own->jump, log10(sorted[c] / sorted[c - 1]));
    bool fires = own->n_small > 0 &&
                 (double)own->n_small >= SMALL_SHARE * (double)(own->n_small + own->n_large);
    own->advice = !fires             ? DDSC_UNITS_FINE
                  : own->jump < JUMP ? DDSC_UNITS_INTENSITY
                                     : DDSC_UNITS_DIFFER;
    bool heavy = (fires || own->outliers) && look_at_extremes(u, own, own->outliers != NULL);
    if (heavy && own->advice == DDSC_UNITS_DIFFER)
        own->advice = DDSC_UNITS_HEAVY;
}

static void share_mass(unit_check *u)
{
    const measures *m = u->m;
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            u->mass[m->index[e]] += m->weight[e] / (double)m->n;
}

ddsc_status units_find(ddsc_context *ctx, ddsc_units *units, const measures *m)
{
    ddsc_status status = DDSC_OK;
    double *sorted = NULL;
    unit_check u = {.ctx = ctx, .m = m};
    TRY(MEM_ZERO(ctx, u.mass, m->v));
    TRY(MEM_NEW(ctx, u.spread, m->d));
    TRY(MEM_NEW(ctx, sorted, m->d));
    TRY(MEM_NEW(ctx, u.far, m->v));
    TRY(MEM_NEW(ctx, u.order, m->v));
    share_mass(&u);
    for (int64_t c = 0; c < m->d; c++)
        look_at_coordinate(&u, units, c);
    judge_scales(&u, units, sorted);
done:
    MEM_FREE(ctx, u.mass, u.spread, u.far, u.order, sorted);
    return status;
}

ddsc_status ddsc_units_run(ddsc_context *ctx, ddsc_units *units, const ddsc_measures *m)
{
    ddsc_units own;
    CHECK(ctx_enter(ctx));
    CHECK(ctx_need(ctx, m, "measures"));
    CHECK(ctx_need(ctx, units, "units"));
    CHECK(sized_take(ctx, &units_struct, &own, units));
    CHECK(units_find(ctx, &own, m));
    sized_give(&units_struct, units, &own);
    return DDSC_OK;
}
