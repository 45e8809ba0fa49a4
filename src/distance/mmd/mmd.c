/* Chooses the method with the least estimated work, computes the terms within items, and assembles
 * tiles of D^2(i, j) = s_i + s_j - 2 sum_pq a_p b_q k(x_p, y_q). */
#include "distance/mmd/mmd.h"

#include <math.h>

#include "distance/mmd/internal.h"
#include "numeric/linalg/linalg.h"

/* ---- choice of the method ---- */

static int64_t field_strip(const mmd *s)
{
    int64_t columns = s->set.budget / (int64_t)sizeof(double) / BASE_MAX(1, s->m->v);
    return BASE_MAX(FIELD_SIDE, columns / FIELD_SIDE * FIELD_SIDE);
}

/* Returns the approximate cost of one kernel value, in multiply-adds. */
static double kernel_cost(const mmd *s)
{
    double d = (double)s->m->d;
    return 8.0 + (d <= POINTS_MAX_DIRECT ? d : d / 4);
}

static double clouds_cost(const mmd *s)
{
    double nnz = (double)s->m->nnz;
    return 0.5 * nnz * nnz * (kernel_cost(s) + 1.0);
}

static double field_cost(const mmd *s)
{
    double n = (double)s->m->n, v = (double)s->m->v, nnz = (double)s->m->nnz;
    double n_strips = ceil(n / (double)field_strip(s));
    if (n_strips <= 1)
        return 0.5 * v * v * kernel_cost(s) + 0.5 * nnz * v + n * nnz;
    return n_strips * v * v * kernel_cost(s) + nnz * v + 0.5 * n * nnz;
}

static double grid_cost(const mmd *s)
{
    const measures *m = s->m;
    double cells = 1, sides = 0;
    for (int64_t k = 0; k < m->d; k++) {
        cells *= (double)m->grid.shape[k];
        sides += (double)m->grid.shape[k];
    }
    return (double)m->n * (cells * sides + (double)m->v + 0.5 * (double)m->nnz);
}

static mmd_way choose_way(const mmd *s)
{
    mmd_way way = MMD_CLOUDS;
    double best = clouds_cost(s);
    if (s->m->v > FIELD_MAX_TABLE || s->m->v * FIELD_SIDE * (int64_t)sizeof(double) > s->set.budget)
        return way;
    if (field_cost(s) < best) {
        way = MMD_FIELD;
        best = field_cost(s);
    }
    if (s->m->grid.found && s->set.kernel.kind == DDSC_KERNEL_GAUSSIAN && grid_cost(s) < best)
        way = MMD_GRID;
    return way;
}

static mmd sized(ddsc_context *ctx, const measures *m, const mmd_settings *set)
{
    mmd s = {.ctx = ctx, .m = m, .set = *set};
    if (s.set.budget == 0)
        s.set.budget = BASE_MIN(FIELD_BUDGET, ctx_memory_left(ctx) / 2);
    return s;
}

static bool field_is_whole(const mmd *s)
{
    return field_strip(s) >= s->m->n;
}

pair_frame mmd_frame(ddsc_context *ctx, const measures *m, const mmd_settings *set)
{
    mmd s = sized(ctx, m, set);
    mmd_way way = choose_way(&s);
    bool whole = field_is_whole(&s);
    return (pair_frame){.kind = way == MMD_CLOUDS ? FRAME_PLAIN
                                : way == MMD_GRID ? (whole ? FRAME_GRID : FRAME_GRID_STRIPS)
                                : whole           ? FRAME_FIELD
                                                  : FRAME_FIELD_STRIPS,
                        .unit = 1,
                        .spread = 1,
                        .step = {1, 1}};
}

bool mmd_fits(ddsc_context *ctx, const measures *m, const mmd_settings *set,
              const pair_frame *frame)
{
    mmd s = sized(ctx, m, set);
    bool grid = m->grid.found && set->kernel.kind == DDSC_KERNEL_GAUSSIAN,
         whole = field_is_whole(&s);
    bool may =
        m->v <= FIELD_MAX_TABLE && m->v * FIELD_SIDE * (int64_t)sizeof(double) <= s.set.budget;
    switch (frame->kind) {
    case FRAME_PLAIN: return true;
    case FRAME_GRID: return may && grid && whole;
    case FRAME_GRID_STRIPS: return may && grid;
    case FRAME_FIELD: return may && whole;
    case FRAME_FIELD_STRIPS: return may;
    default: return false;
    }
}

static mmd_way way_of(const pair_frame *frame)
{
    bool grid = frame->kind == FRAME_GRID || frame->kind == FRAME_GRID_STRIPS;
    return frame->kind == FRAME_PLAIN ? MMD_CLOUDS : grid ? MMD_GRID : MMD_FIELD;
}

/* Returns the side of tiles for separate supports. A tile has about four million kernel values, or
 * fewer if there would be too few tiles for all threads. */
static int64_t clouds_side(const measures *m)
{
    int64_t mean = m->nnz / BASE_MAX(1, m->n) + 1;
    return BASE_MAX(1, BASE_MIN(CLOUDS_SIDE, BASE_MIN(CLOUDS_POINTS / mean, m->n / CLOUDS_TILES)));
}

/* ---- creation and release ---- */

static mmd_worker take_worker(arena *a, const mmd *s)
{
    mmd_worker w = {0};
    int64_t longest = 1;
    points_panel_take(a, &w.rows, &s->table, MMD_ROWS);
    points_panel_take(a, &w.columns, &s->table, MMD_COLUMNS);
    ARENA_TAKE(a, w.block, MMD_ROWS * MMD_COLUMNS);
    ARENA_TAKE(a, w.sums, MMD_COLUMNS);
    ARENA_TAKE(a, w.g, s->largest);
    for (int64_t k = 0; k < s->grid.d; k++)
        longest = BASE_MAX(longest, s->grid.shape[k]);
    if (s->way != MMD_CLOUDS)
        ARENA_TAKE(a, w.stripe, (s->way == MMD_GRID ? s->grid.n_cells : s->m->v) * MMD_LANES);
    if (s->way == MMD_GRID)
        ARENA_TAKE(a, w.line, longest * MMD_LANES);
    return w;
}

mmd_worker mmd_worker_of(const mmd *s, int worker)
{
    arena a = {scratch_of(&s->worker, worker), 0};
    return take_worker(&a, s);
}

static ddsc_status field_create(mmd *s)
{
    int64_t columns, items = (s->m->n + MMD_LANES - 1) / MMD_LANES * MMD_LANES;
    s->side = FIELD_SIDE;
    s->strip = field_strip(s);
    columns = BASE_MIN(s->strip, items);
    s->whole_field = field_is_whole(s) && s->set.frame.kind != FRAME_FIELD_STRIPS &&
                     s->set.frame.kind != FRAME_GRID_STRIPS;
    s->half = s->way == MMD_FIELD && s->whole_field;
    CHECK(MEM_NEW(s->ctx, s->field, columns * s->m->v));
    if (s->way == MMD_FIELD) {
        CHECK(points_panel_create(s->ctx, &s->whole, &s->table, s->m->v));
        points_panel_load(&s->whole, &s->table, s->m->v, NULL, 0);
    }
    return DDSC_OK;
}

ddsc_status mmd_open(ddsc_context *ctx, mmd **out, const measures *m, const mmd_settings *set)
{
    ddsc_status status = DDSC_OK;
    mmd *s = NULL;
    arena a = {0};
    *out = NULL;
    TRY(MEM_ZERO(ctx, s, 1));
    *s = sized(ctx, m, set);
    if (set->frame.kind != FRAME_NONE)
        s->way = way_of(&set->frame);
    else
        s->way = set->way >= 0 ? (mmd_way)set->way : choose_way(s);
    TRY(points_open(ctx, &s->table, m->v, m->d, m->support));
    TRY(MEM_NEW(ctx, s->self, m->n));
    TRY(measures_rank(ctx, &s->rank, m));
    if (s->way == MMD_GRID)
        TRY(mmd_grid_open(s));
    s->largest = measures_largest_item(m);
    take_worker(&a, s);
    TRY(scratch_create(ctx, &s->worker, a.used, 1));
    s->side = clouds_side(m);
    TRY(s->way == MMD_CLOUDS ? mmd_clouds_open(s) : field_create(s));
    *out = s;
    s = NULL;
done:
    mmd_close(s);
    return status;
}

void mmd_close(mmd *s)
{
    if (!s)
        return;
    scratch_free(s->ctx, &s->worker);
    mem_free(s->ctx, s->field);
    points_panel_free(s->ctx, &s->whole);
    MEM_FREE(s->ctx, s->self, s->rank);
    mmd_grid_close(s);
    points_close(s->ctx, &s->table);
    mem_free(s->ctx, s);
}

mmd_way mmd_get_way(const mmd *s)
{
    return s->way;
}

int64_t mmd_items(const mmd *s)
{
    return s->m->n;
}

int64_t mmd_side(const mmd *s)
{
    return s->side;
}

int64_t mmd_strip(const mmd *s)
{
    return s->strip;
}

/* ---- terms within an item ---- */

/* Computes the ratio of sum_{p != q} a_p a_q k_pq and sum_{p != q} a_p a_q pair by pair, without
 * cancellation. */
double mmd_self_by_pairs(const measures *m, const mmd_kernel *kernel, item_view item)
{
    double mass = 0, sum = 0;
    for (int64_t p = 0; p < item.n; p++)
        for (int64_t q = 0; q < p; q++) {
            double both = item.weight[p] * item.weight[q];
            double r2 = la_distance2(m->d, measures_point(m, item.index[p]),
                                     measures_point(m, item.index[q]));
            mass += both;
            sum += both * mmd_kernel_value(kernel, r2);
        }
    return mass > 0 ? sum / mass : mmd_kernel_value(kernel, 0);
}

double mmd_self_term(const mmd *s, int64_t i, const double *g)
{
    item_view item = measures_item(s->m, i);
    double own = mmd_kernel_value(&s->set.kernel, 0), sum = 0, left = 0, squares = 0;
    double share = s->half ? 0.5 : 1.0;
    for (int64_t p = 0; p < item.n; p++) {
        double w = item.weight[p];
        sum += w * g[p];
        left += w * (g[p] - w * (share * own));
        squares += w * w;
    }
    sum /= share;
    left /= share;
    if (s->set.biased)
        return sum;
    /* The difference suffers from cancellation if one point has nearly all the mass, or if the
     * kernel is so narrow that pairs of different points hardly contribute. */
    if (1.0 - squares < 1e-3 || left < 1e-4 * own * squares)
        return mmd_self_by_pairs(s->m, &s->set.kernel, item);
    return left / (1.0 - squares);
}

/* ---- tiles ---- */

static ddsc_status field_self_terms(void *arg, int64_t begin, int64_t end, int worker)
{
    mmd *s = arg;
    double *g = mmd_worker_of(s, worker).g;
    for (int64_t i = s->first + begin; i < s->first + end; i++) {
        item_view item = measures_item(s->m, i);
        const double *block = mmd_field_block(s, i) + mmd_field_lane(s, i);
        for (int64_t p = 0; p < item.n; p++)
            g[p] = block[(int64_t)item.index[p] * MMD_LANES];
        s->self[i] = mmd_self_term(s, i, g);
    }
    return DDSC_OK;
}

ddsc_status mmd_prepare(mmd *s, int64_t j0, int64_t j1)
{
    if (s->way == MMD_CLOUDS || s->filled)
        return DDSC_OK;
    if (s->whole_field) { /* a pair may need the field of either item, so all columns are computed */
        j0 = 0;
        j1 = s->m->n;
    }
    s->first = j0;
    CHECK(s->way == MMD_GRID ? mmd_grid_fill(s, j0, j1) : mmd_field_fill(s, j0, j1));
    CHECK(parallel_for(s->ctx, j1 - j0, 64, field_self_terms, s));
    s->filled = s->whole_field;
    return DDSC_OK;
}

ddsc_status mmd_tile(mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2, int64_t ld,
                     int worker)
{
    mmd_worker w = mmd_worker_of(s, worker);
    if (s->way == MMD_CLOUDS)
        mmd_clouds_tile(s, range, wanted, d2, ld, &w);
    else
        mmd_field_tile(s, range, wanted, d2, ld);
    return DDSC_OK;
}
