/* The refined bound: a few relaxed Sinkhorn iterations at falling epsilon, started from the
 * potentials of the affine map between the Gaussians of the two items, then c-transforms.
 *
 * Entropic potentials are too smooth by about those of each item with itself (Feydy et al. 2019,
 * Pooladian et al. 2022), which are kept for every item and level: taking them off before the
 * c-transform, and putting those of the next level on, is worth several times the iterations. */
#include "bound/refine.h"

#include <math.h>

#include "base/simd.h"

enum {
    START_LEVELS = 4, /* of a quick look, and for the start of a solve */
    PAIR_LEVELS = 5,  /* of a refined bound; the rest is for the last look */
    SELF_ITERATIONS = 6,
    MAX_POINT_DIM = 64,
    MAX_START_SIZE = 256,
    MIN_ITEMS = 8 /* fewer are solved before their self scalings are made */
};

static const double EPSILON_SHARE = 0.4;
static const double HOPELESS_LAST = 0.75; /* of what is enough: the fine levels add less */

/* ---- steps ---- */

static void side_set(const refine_bound *b, refine_side *s, int64_t i)
{
    item_view view = measures_item(b->m, i);
    s->item = i;
    s->n = view.n;
    s->weight = view.weight;
    s->self = b->self + b->m->offset[i];
}

static void half_iteration(const refine_bound *b, refine_room *w, int to, int level)
{
    b->coupling->sums(w, to);
    if (level < PAIR_LEVELS)
        scaling_relax(w->side[to].scaling, w->packed, w->side[to].n);
    else
        scaling_relax_more(w->side[to].scaling, w->packed, w->side[to].n);
}

/* Scalings exp(f / epsilon) self of the affine potentials f. */
static void start(const refine_bound *b, refine_room *w, int64_t i, int64_t j)
{
    side_set(b, &w->side[0], i);
    side_set(b, &w->side[1], j);
    b->coupling->couple(b, w, b->epsilon[0]);
    for (int k = 0; k < 2; k++) {
        refine_side *s = &w->side[k];
        b->coupling->affine(b, w, k);
        scaling_exp(s->scaling, w->wide, s->self, 1 / b->epsilon[0], s->n);
    }
}

static void next_level(const refine_bound *b, refine_room *w)
{
    for (int k = 0; k < 2; k++) {
        refine_side *s = &w->side[k];
        scaling_square(s->scaling, s->self, s->self + b->m->nnz, s->n);
        s->self += b->m->nnz;
    }
    b->coupling->halve(w);
}

/* One iteration at each of some levels; two, taking longer steps, at the fine ones. */
static void run_levels(const refine_bound *b, refine_room *w, int begin, int end)
{
    for (int level = begin; level < end; level++) {
        if (level > 0)
            next_level(b, w);
        for (int t = 0; t < (level < PAIR_LEVELS ? 1 : 2); t++) {
            half_iteration(b, w, 1, level);
            half_iteration(b, w, 0, level);
        }
    }
}

/* ---- from scalings to potentials ---- */

/* The c-transform of what is packed, its mean, and its largest magnitude. */
static double transform(const refine_bound *b, refine_room *w, int to, double *largest)
{
    const refine_side *onto = &w->side[to];
    double sum = 0;
    b->coupling->transform(w, to);
    for (int64_t k = 0; k < onto->n; k++) {
        double value = (double)w->packed[k], size = fabs(value);
        sum += onto->weight[k] * value;
        *largest = size <= *largest ? *largest : size; /* NaN stays */
    }
    return sum;
}

/* f^c on side 1, of the potentials f at hand. */
static double first_transform(const refine_bound *b, refine_room *w, int level, double *largest)
{
    const refine_side *x = &w->side[0];
    scaling_log(w->packed, x->scaling, x->self, (float)b->epsilon[level], x->n);
    return transform(b, w, 1, largest);
}

/* The value of the feasible pair (f^cc, f^c), f^c being at hand. Only the second transform is
 * rounded against the first as it stands. */
static double second_transform(const refine_bound *b, refine_room *w, double first, double largest)
{
    double value = first + transform(b, w, 0, &largest), shift[MAX_POINT_DIM];
    b->coupling->shift(b, w, shift);
    for (int64_t k = 0; k < b->m->d; k++)
        value += shift[k] * shift[k];
    value = b->unit * b->unit * (value - b->coupling->rounding(b, w, largest));
    return isfinite(value) ? value : 0;
}

static double feasible_value(const refine_bound *b, refine_room *w, int level)
{
    double largest = 0, first = first_transform(b, w, level, &largest);
    return second_transform(b, w, first, largest);
}

/* ---- pairs ---- */

/* Most candidates are far away and fall at the first check; a bound below the given part of what is
 * enough will not get there. */
static const struct {
    bool check;
    double hopeless;
} schedule[PAIR_LEVELS] = {{true, 0.6}, {false, 0}, {true, 0.85}, {true, 0.92}, {true, 0}};

double refine_pair(refine_bound *b, int64_t i, int64_t j, double enough, int worker)
{
    refine_room *w = &b->room[worker];
    double best = 0;
    start(b, w, i, j);
    if (!isfinite(enough)) {
        run_levels(b, w, 0, START_LEVELS);
        return fmax(0, feasible_value(b, w, START_LEVELS - 1));
    }
    for (int level = 0; level < PAIR_LEVELS; level++) {
        run_levels(b, w, level, level + 1);
        if (schedule[level].check)
            best = fmax(best, feasible_value(b, w, level));
        if (best > enough || best < schedule[level].hopeless * enough)
            break;
    }
    return best;
}

/* Potentials for the points where they are, no longer from the means: with d the difference of the
 * means, |x - y - d|^2 and |x - y|^2 differ by 2 d x - 2 d y and a constant. Taken from f^c. */
static void keep_start(const refine_bound *b, refine_room *w, double largest)
{
    double shift[MAX_POINT_DIM], y[MAX_POINT_DIM];
    w->started[0] = w->side[0].item;
    w->started[1] = w->side[1].item;
    w->start_finite = isfinite(largest);
    b->coupling->shift(b, w, shift);
    for (int64_t k = 0; w->start_finite && k < w->side[1].n; k++) {
        double g = (double)w->packed[k];
        b->coupling->point(b, w, k, y);
        for (int64_t c = 0; c < b->m->d; c++)
            g -= 2 * shift[c] * y[c];
        w->start[k] = b->unit * b->unit * g;
    }
}

/* The first levels, and what a solve starts from; f^c is left at hand. */
static double start_levels(const refine_bound *b, refine_room *w, int64_t i, int64_t j,
                           double *largest)
{
    start(b, w, i, j);
    run_levels(b, w, 0, START_LEVELS);
    double first = first_transform(b, w, START_LEVELS - 1, largest);
    keep_start(b, w, *largest);
    return first;
}

double refine_last(refine_bound *b, int64_t i, int64_t j, double enough, int worker)
{
    refine_room *w = &b->room[worker];
    double largest = 0, first = start_levels(b, w, i, j, &largest);
    double best = fmax(0, second_transform(b, w, first, largest));
    if (best > enough || best < HOPELESS_LAST * enough)
        return best;
    run_levels(b, w, START_LEVELS, REFINE_LEVELS);
    return fmax(best, feasible_value(b, w, REFINE_LEVELS - 1));
}

const double *refine_start(refine_bound *b, int64_t i, int64_t j, int worker)
{
    refine_room *w = &b->room[worker];
    double largest = 0;
    if (w->started[0] != i || w->started[1] != j)
        start_levels(b, w, i, j, &largest);
    return w->start_finite ? w->start : NULL;
}

/* ---- preparation ---- */

/* Scalings of the item with itself; values of any size do, they are only kept ordinary. */
static void item_self(refine_bound *b, refine_room *w, int64_t i)
{
    refine_side *s = &w->side[0];
    side_set(b, s, i);
    side_set(b, &w->side[1], i);
    b->coupling->couple(b, w, b->epsilon[0]);
    for (int64_t k = 0; k < s->n; k++)
        s->scaling[k] = 1;
    for (int level = 0; level < REFINE_LEVELS; level++) {
        for (int t = 0; t < SELF_ITERATIONS; t++) {
            b->coupling->sums(w, 1);
            scaling_average(s->scaling, w->packed, s->n);
        }
        float *self = b->self + level * b->m->nnz + b->m->offset[i];
        for (int64_t k = 0; k < s->n; k++)
            self[k] = fminf(fmaxf(s->scaling[k], 1e-12f), 1e12f);
        b->coupling->halve(w);
    }
}

static ddsc_status self_range(void *arg, int64_t begin, int64_t end, int worker)
{
    refine_bound *b = arg;
    for (int64_t i = begin; i < end; i++)
        item_self(b, &b->room[worker], i);
    return DDSC_OK;
}

static ddsc_status room_open(const refine_bound *b, refine_room *w)
{
    int64_t padded = measures_largest_item(b->m) + SIMD_LANES;
    for (int k = 0; k < 2; k++)
        CHECK(MEM_ZERO(b->ctx, w->side[k].scaling, padded));
    CHECK(MEM_ZERO(b->ctx, w->packed, padded));
    CHECK(MEM_ZERO(b->ctx, w->wide, padded));
    CHECK(MEM_ZERO(b->ctx, w->start, padded));
    w->started[0] = w->started[1] = -1;
    CHECK(b->coupling->room_open(b, w));
    return DDSC_OK;
}

static void room_close(const refine_bound *b, refine_room *w)
{
    b->coupling->room_close(b, w);
    for (int k = 0; k < 2; k++)
        mem_free(b->ctx, w->side[k].scaling);
    mem_free(b->ctx, w->packed);
    mem_free(b->ctx, w->wide);
    mem_free(b->ctx, w->start);
}

bool refine_applies(const measures *m)
{
    return m->n >= MIN_ITEMS && m->d <= MAX_POINT_DIM &&
           (refine_grid_applies(m) || refine_dense_applies(m));
}

/* Large clouds are solved as fast from the solver's own start. */
bool refine_starts(const measures *m)
{
    return refine_applies(m) &&
           (refine_grid_applies(m) || measures_largest_item(m) <= MAX_START_SIZE);
}

void refine_free(refine_bound *b)
{
    if (!b)
        return;
    for (int k = 0; b->room && k < b->n_workers; k++)
        room_close(b, &b->room[k]);
    b->coupling->close(b);
    mem_free(b->ctx, b->room);
    mem_free(b->ctx, b->self);
    mem_free(b->ctx, b);
}

ddsc_status refine_make(ddsc_context *ctx, refine_bound **out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    refine_bound *b = NULL;
    TRY(MEM_ZERO(ctx, b, 1));
    *b = (refine_bound){.ctx = ctx, .m = m, .n_workers = parallel_width(ctx)};
    b->coupling = refine_grid_applies(m) ? &refine_grid : &refine_dense;
    TRY(b->coupling->open(b));
    for (int k = 0; k < REFINE_LEVELS; k++)
        b->epsilon[k] = ldexp(EPSILON_SHARE * b->spread, -k);
    TRY(MEM_ZERO(ctx, b->self, REFINE_LEVELS * m->nnz + REFINE_LANES));
    TRY(MEM_ZERO(ctx, b->room, b->n_workers));
    for (int k = 0; k < b->n_workers; k++)
        TRY(room_open(b, &b->room[k]));
    TRY(parallel_for(ctx, m->n, 8, self_range, b));
    *out = b;
    b = NULL;
done:
    refine_free(b);
    return status;
}
