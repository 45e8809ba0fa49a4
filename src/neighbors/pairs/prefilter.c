/* Computes float bounds for all pairs on the CPU, and limits on the rounding errors of float rows.
 *
 * If the bounds have windows, both passes process tiles by pairs of windows, in the order (0, 0),
 * (0, 1), (1, 1), (0, 2) and so on, so each pair of windows is loaded once per pass. */
#include "neighbors/pairs/prefilter.h"

#include <math.h>

#include "base/simd.h"
#include "base/team.h"
#include "neighbors/pairs/tuning.h"
#include "numeric/linalg/linalg.h"

/* ---- tiles ---- */

SIMD_CLONES static void add_starts(int64_t n, float start, const float *starts, float *low)
{
    for (int64_t k = 0; k < n; k++)
        low[k] = (start + starts[k]) - 2.0F * low[k];
}

void prefilter_tile(const first_bounds *b, const pair_tile *t, float *low, int64_t ld, int worker)
{
    int64_t columns = b->columns, n = t->j1 - t->j0;
    if (columns == 0) {
        b->tile(b->state, t, low, ld, worker);
        return;
    }
    la_sgemm(false, true, t->i1 - t->i0, n, columns, 1.0F, b->rows + t->i0 * columns, columns,
             b->rows + t->j0 * columns, columns, 0.0F, low, ld);
    for (int64_t i = t->i0; i < t->i1; i++)
        add_starts(n, b->start[i], b->start + t->j0, low + (i - t->i0) * ld);
}

typedef struct cpu {
    ddsc_context *ctx;
    const first_bounds *bounds;
    float *scratch; /* one per worker: a tile, then the limits of its columns and of its rows */
    nearest *kept;  /* heaps to fill, or NULL */
    const double *reach;
    prefilter_hit hit; /* called for pairs within `reach` if kept is NULL */
    void *arg;
    int64_t first; /* first tile of this rank */
} cpu;

/* Reads the limits of a range of items, rounded up to floats. Limits never increase, so limits read
 * before the tile is processed may admit too many pairs, but never exclude a required pair. */
static void read_limits(const cpu *c, int64_t begin, int64_t end, float *limit)
{
    double scale = 1 / c->bounds->unit;
    for (int64_t k = begin; k < end; k++) {
        int64_t i = first_item(c->bounds->order, k);
        double exact =
            c->kept ? local_limit_any(c->kept->by, nearest_limit(c->kept, i)) : c->reach[i];
        limit[k - begin] = nextafterf((float)(exact * scale), INFINITY);
    }
}

/* Sets any[g] if, in group g, a bound is at most the limit of either item. */
SIMD_CLONES static void mark_groups(int64_t n, float limit, const float *limits, const float *low,
                                    uint8_t *any)
{
    for (int64_t g = 0; g < n; g += PREFILTER_GROUP) {
        int hits = 0;
        for (int64_t k = g; k < BASE_MIN(n, g + PREFILTER_GROUP); k++)
            hits |= (low[k] <= limit) | (low[k] <= limits[k]);
        any[g / PREFILTER_GROUP] = hits != 0;
    }
}

static ddsc_status take_group(const cpu *c, int64_t i, int64_t j0, int64_t j1, const float *low,
                              int worker)
{
    const int32_t *order = c->bounds->order;
    for (int64_t j = BASE_MAX(j0, i + 1); j < j1; j++) {
        int64_t x = first_item(order, i), y = first_item(order, j);
        double bound = c->bounds->unit * (double)low[j - j0];
        if (c->kept)
            nearest_offer(c->kept, x, y, bound);
        else if (bound <= BASE_MAX(c->reach[x], c->reach[y]))
            CHECK(c->hit(c->arg, BASE_MIN(x, y), BASE_MAX(x, y), bound, false, worker));
    }
    return DDSC_OK;
}

static ddsc_status look_through(void *arg, pair_tile *t, int worker)
{
    const cpu *c = arg;
    int64_t side = c->bounds->side, n = t->j1 - t->j0;
    float *tile = c->scratch + worker * (side + 2) * side;
    float *limits = tile + side * side, *row_limits = limits + side;
    uint8_t any[PREFILTER_SIDE / PREFILTER_GROUP];
    prefilter_tile(c->bounds, t, tile, side, worker);
    read_limits(c, t->j0, t->j1, limits);
    read_limits(c, t->i0, t->i1, row_limits);
    for (int64_t i = t->i0; i < t->i1; i++) {
        const float *low = tile + (i - t->i0) * side;
        mark_groups(n, row_limits[i - t->i0], limits, low, any);
        for (int64_t g = 0; g < n; g += PREFILTER_GROUP)
            if (any[g / PREFILTER_GROUP])
                CHECK(take_group(c, i, t->j0 + g, BASE_MIN(t->j1, t->j0 + g + PREFILTER_GROUP),
                                 low + g, worker));
    }
    progress_add(c->ctx, tile_pairs(t));
    return DDSC_OK;
}

static void cpu_close(void *state)
{
    cpu *c = state;
    if (!c)
        return;
    mem_free(c->ctx, c->scratch);
    mem_free(c->ctx, c);
}

static ddsc_status cpu_open(ddsc_context *ctx, void **state, const first_bounds *bounds,
                            const struct device_grid *grid)
{
    ddsc_status status = DDSC_OK;
    cpu *c = NULL;
    (void)grid;
    TRY(MEM_ZERO(ctx, c, 1));
    *c = (cpu){.ctx = ctx, .bounds = bounds};
    TRY(MEM_NEW(ctx, c->scratch, parallel_width(ctx) * (bounds->side + 2) * bounds->side));
    *state = c;
    c = NULL;
done:
    cpu_close(c);
    return status;
}

/* ---- nearest items ----
 *
 * The tile rows are arranged on a circle. Each tile row is combined with itself and with the half
 * circle of tile rows after it. Each rank of a team processes an equal, contiguous range of these
 * tiles, so the tiles of a rank have few rows and many columns. Within this range, a rank
 * alternates between rows, because tiles that are processed at the same time should share few
 * items: workers wait for each other at the heaps of shared items. After the first eighth of the
 * circle, the ranks exchange their smallest limits, so that no rank keeps entries beyond these
 * limits. */

typedef struct half_circle {
    cpu *c;
    int64_t n_rows;        /* number of tile rows */
    int64_t from, n_steps; /* steps of the current wave */
    team_part own;         /* this rank's part of the n_rows x n_steps tiles */
    int64_t n_own_rows;    /* number of rows if these tiles began at the start of a row */
} half_circle;

static ddsc_status circle_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const half_circle *h = arg;
    int64_t n = h->c->bounds->n, side = h->c->bounds->side;
    for (int64_t k = begin; k < end; k++) {
        int64_t at = h->own.begin + k % h->n_own_rows * h->n_steps + k / h->n_own_rows;
        int64_t row = at / h->n_steps, step = h->from + at % h->n_steps;
        int64_t other = (row + step) % h->n_rows;
        int64_t i0 = BASE_MIN(row, other) * side, j0 = BASE_MAX(row, other) * side;
        pair_tile t = {
            .i0 = i0, .i1 = BASE_MIN(n, i0 + side), .j0 = j0, .j1 = BASE_MIN(n, j0 + side)};
        bool twice =
            2 * step == h->n_rows && row > other; /* opposite rows are reached from both sides */
        if (at < h->own.end && !twice)
            CHECK(look_through(h->c, &t, worker));
    }
    return DDSC_OK;
}

static ddsc_status circle_wave(half_circle *h, int64_t from, int64_t to)
{
    h->from = from;
    h->n_steps = to - from;
    h->own = team_own(h->c->ctx, h->n_rows * h->n_steps, 1);
    if (h->own.begin == h->own.end)
        return DDSC_OK;
    h->n_own_rows = (h->own.end - h->own.begin + h->n_steps - 1) / h->n_steps;
    return team_rows(h->c->ctx, (team_part){0, h->n_own_rows * h->n_steps}, 1, circle_range, h);
}

/* Replaces each limit with the smallest limit of all ranks, because the limit of a heap on one rank
 * is valid on all ranks. */
static ddsc_status share_limits(const cpu *c)
{
    double *limit = c->kept->limit;
    int64_t n = c->bounds->n;
    for (int64_t i = 0; i < n; i++)
        limit[i] = -limit[i];
    CHECK(team_largest(c->ctx, limit, n));
    for (int64_t i = 0; i < n; i++)
        limit[i] = -limit[i];
    return DDSC_OK;
}

/* ---- windows ---- */

typedef struct window_pair {
    cpu *c;
    int64_t row, column; /* first tile row and column of the windows */
    int64_t n_rows, n_columns;
    int64_t first; /* index of this rank's first tile in the pair of windows */
} window_pair;

static int64_t window_tiles(const window_pair *w)
{
    return w->row == w->column ? w->n_rows * (w->n_rows + 1) / 2 : w->n_rows * w->n_columns;
}

/* Processes tiles of a pair of windows. If the windows differ, consecutive tiles share no items, so
 * that workers do not contend for the same heaps. */
static ddsc_status window_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const window_pair *w = arg;
    int64_t n = w->c->bounds->n, side = w->c->bounds->side;
    for (int64_t k = begin; k < end; k++) {
        int64_t at = w->first + k * team_size(w->c->ctx), row, column;
        if (w->row == w->column) {
            pair_tile t = tile_number(w->n_rows, 1, at);
            row = t.i0;
            column = t.j0;
        } else {
            row = at % w->n_rows;
            column = (at / w->n_rows + row) % w->n_columns;
        }
        int64_t i0 = (w->row + row) * side, j0 = (w->column + column) * side;
        pair_tile t = {
            .i0 = i0, .i1 = BASE_MIN(n, i0 + side), .j0 = j0, .j1 = BASE_MIN(n, j0 + side)};
        CHECK(look_through(w->c, &t, worker));
    }
    return DDSC_OK;
}

/* Processes tiles [begin, end), one pair of windows after another. */
static ddsc_status walk_windows(cpu *c, int64_t begin, int64_t end)
{
    const first_bounds *b = c->bounds;
    int64_t per = b->window / b->side, all = (b->n + b->side - 1) / b->side, before = 0;
    for (int64_t column = 0; column < all && before < end; column += per)
        for (int64_t row = 0; row <= column && before < end; row += per) {
            window_pair w = {.c = c,
                             .row = row,
                             .column = column,
                             .n_rows = BASE_MIN(per, all - row),
                             .n_columns = BASE_MIN(per, all - column)};
            int64_t n = window_tiles(&w);
            int64_t from = BASE_MAX(begin - before, 0), to = BASE_MIN(end - before, n);
            before += n;
            if (from >= to)
                continue;
            CHECK(b->load(b->state, row / per, column / per));
            w.first = from + team_rank(c->ctx);
            int64_t own = (to - w.first + team_size(c->ctx) - 1) / team_size(c->ctx);
            CHECK(team_rows(c->ctx, (team_part){0, own}, 1, window_range, &w));
        }
    return DDSC_OK;
}

static ddsc_status cpu_nearest(void *state, nearest *kept)
{
    cpu *c = state;
    if (c->bounds->window > 0) {
        c->kept = kept;
        return walk_windows(c, 0, tile_count(c->bounds->n, c->bounds->side));
    }
    int64_t n_rows = (c->bounds->n + c->bounds->side - 1) / c->bounds->side;
    int64_t last = n_rows / 2 + 1, first = BASE_MIN(last, n_rows / 8 + 1);
    half_circle h = {.c = c, .n_rows = n_rows};
    c->kept = kept;
    CHECK(circle_wave(&h, 0, first));
    CHECK(share_limits(c));
    return circle_wave(&h, first, last);
}

/* Processes the tiles of this rank. Tiles are assigned to the ranks in turn, so that all ranks
 * share a region with many pairs within reach. */
static ddsc_status turn_range(void *arg, int64_t begin, int64_t end, int worker)
{
    cpu *c = arg;
    for (int64_t k = begin; k < end; k++) {
        pair_tile t = tile_number(c->bounds->n, c->bounds->side, c->first + k * team_size(c->ctx));
        CHECK(look_through(c, &t, worker));
    }
    return DDSC_OK;
}

static ddsc_status cpu_within(void *state, int64_t begin, int64_t end, const double *reach,
                              prefilter_hit hit, void *arg)
{
    cpu *c = state;
    c->kept = NULL;
    c->reach = reach;
    c->hit = hit;
    c->arg = arg;
    if (c->bounds->window > 0)
        return walk_windows(c, begin, end);
    c->first = begin + team_rank(c->ctx);
    int64_t own = (end - c->first + team_size(c->ctx) - 1) / team_size(c->ctx);
    return team_rows(c->ctx, (team_part){0, own}, 1, turn_range, c);
}

const prefilter_device prefilter_cpu = {.name = "cpu",
                                        .open = cpu_open,
                                        .close = cpu_close,
                                        .nearest = cpu_nearest,
                                        .within = cpu_within};

/* ---- rows that enclose values ---- */

ddsc_status prefilter_rows_create(ddsc_context *ctx, prefilter_rows *r, int64_t n, int64_t columns)
{
    int64_t size;
    *r = (prefilter_rows){.n = n, .columns = columns, .unit = 1};
    if (!mul_ok(n, columns, &size))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "cannot allocate %lld rows with %lld columns",
                        (long long)n, (long long)columns);
    CHECK(MEM_NEW(ctx, r->rows, size));
    CHECK(MEM_ZERO(ctx, r->offset, n));
    return MEM_ZERO(ctx, r->tail, n);
}

void prefilter_rows_free(ddsc_context *ctx, prefilter_rows *r)
{
    MEM_FREE(ctx, r->rows, r->offset, r->tail);
    *r = (prefilter_rows){0};
}

/* The unit roundoff u = 2^-24 of floats, slightly enlarged to include terms of order u^2. */
static const double UNIT_ROUNDOFF = 0x1.02p-24;

double prefilter_radius(int64_t columns)
{
    return UNIT_ROUNDOFF * (double)(columns + 1);
}

typedef struct enclosing {
    const prefilter_rows *r;
    float *start;
    double *spread, radius;
    int64_t first;
} enclosing;

/* Computes the starts and spreads. Let R be the number of columns and n = |y|^2. The float product
 * of two rows has an error of at most (R + 1) u |y_i||y_j| for any order of summation (Higham 2002,
 * section 3.1). The rows themselves have an error of u |y|, and each of the three sums in `low` has
 * an error of u times its size. Furthermore, |y_i||y_j| <= (n_i + n_j) / 2. Underflow adds at most
 * 2^-126 per column. */
static ddsc_status enclose_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const enclosing *e = arg;
    int64_t columns = e->r->columns;
    (void)worker;
    for (int64_t i = e->first + begin; i < e->first + end; i++) {
        const float *y = e->r->rows + i * columns;
        double norm2 = 0, c = e->r->offset[i];
        for (int64_t k = 0; k < columns; k++)
            norm2 += (double)y[k] * (double)y[k];
        double error =
            (e->radius + 15.0 * UNIT_ROUNDOFF) * norm2 + 8.0 * UNIT_ROUNDOFF * fabs(c) + 1e-30;
        e->start[i] = (float)(c + norm2 - error);
        e->spread[i] = e->r->unit * (2.0 * error + e->r->tail[i]);
    }
    return DDSC_OK;
}

ddsc_status prefilter_enclose_from(ddsc_context *ctx, float *start, double *spread,
                                   const prefilter_rows *r, double radius, int64_t first)
{
    return parallel_for(ctx, r->n - first, 256, enclose_range,
                        &(enclosing){r, start, spread, radius, first});
}

ddsc_status prefilter_enclose(ddsc_context *ctx, first_bounds *bounds, float *start, double *spread,
                              const prefilter_rows *r, double radius)
{
    *bounds = (first_bounds){.n = r->n,
                             .side = PREFILTER_SIDE,
                             .unit = r->unit,
                             .columns = r->columns,
                             .rows = r->rows,
                             .start = start};
    return prefilter_enclose_from(ctx, start, spread, r, radius, 0);
}
