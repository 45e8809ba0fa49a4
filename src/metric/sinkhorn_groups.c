/* Tiles of small items: the columns, ordered by size, in groups of eight, each row by one group
 * after the other. What the lanes cannot solve goes to the single solver, which would have found
 * the same bits for all: so neither the groups nor the shape of a tile can be seen in a value. */
#include "metric/sinkhorn.h"

typedef struct column_group {
    int n;
    int64_t m; /* points of the largest item */
    int64_t item[SIMD_LANES];
} column_group;

/* ---- opening ---- */

ddsc_status sinkhorn_lanes_open(sinkhorn *s)
{
    CHECK(pair_strips_open(&s->strips, &s->costs, s->side));
    CHECK(MEM_NEW(s->ctx, s->lane_weight, s->m->nnz));
    CHECK(MEM_NEW(s->ctx, s->fits, s->m->n));
    for (int64_t i = 0; i < s->m->n; i++) {
        item_view x = measures_item(s->m, i);
        s->fits[i] = sinkhorn_lanes_scale(s->lane_weight + s->m->offset[i], x.weight, x.n) &&
                     sinkhorn_lanes_fits(x.n, 1);
    }
    CHECK(MEM_ZERO(s->ctx, s->lanes, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        CHECK(sinkhorn_lanes_create(s->ctx, &s->lanes[w]));
    return DDSC_OK;
}

void sinkhorn_lanes_close(sinkhorn *s)
{
    for (int w = 0; s->lanes && w < s->n_workers; w++)
        sinkhorn_lanes_destroy(s->lanes[w]);
    mem_free(s->ctx, s->lanes);
    mem_free(s->ctx, s->lane_weight);
    mem_free(s->ctx, s->fits);
    pair_strips_close(&s->strips);
}

/* ---- a tile ---- */

/* Columns of j0 .. j1 that fit, by rising size; ties stay in order. */
static int64_t order_columns(const sinkhorn *s, int64_t j0, int64_t j1, int64_t *column)
{
    int64_t n = 0;
    for (int64_t j = j0; j < j1; j++) {
        int64_t size = measures_item(s->m, j).n, at = n;
        if (!s->fits[j])
            continue;
        for (; at > 0 && measures_item(s->m, column[at - 1]).n > size; at--)
            column[at] = column[at - 1];
        column[at] = j;
        n++;
    }
    return n;
}

static int64_t make_groups(const sinkhorn *s, int64_t j0, int64_t j1, column_group *group)
{
    int64_t column[SINKHORN_TILE], n = order_columns(s, j0, j1, column), n_groups = 0;
    for (int64_t k = 0; k < n; k += SIMD_LANES, n_groups++) {
        column_group *g = &group[n_groups];
        g->n = (int)BASE_MIN(SIMD_LANES, n - k);
        g->m = measures_item(s->m, column[k + g->n - 1]).n;
        for (int lane = 0; lane < g->n; lane++)
            g->item[lane] = column[k + lane];
    }
    return n_groups;
}

/* The items that row i is to be solved with, -1 where there is none; equal items need no solve. */
static int choose_lanes(const sinkhorn *s, const pair_tile *t, int64_t i, const column_group *g,
                        int64_t *item)
{
    int n = 0;
    for (int lane = 0; lane < SIMD_LANES; lane++) {
        bool wanted =
            lane < g->n && tile_wants(t, i, g->item[lane]) && !sinkhorn_same(s, i, g->item[lane]);
        item[lane] = wanted ? g->item[lane] : -1;
        n += wanted;
    }
    return n;
}

static void solve_lanes(sinkhorn *s, int64_t i, const int64_t *item, int64_t m,
                        sinkhorn_result *found, bool *solved, int worker)
{
    sinkhorn_lanes *lanes = s->lanes[worker];
    lane_stop stop = {s->epsilon, s->tolerance, s->max_iterations, s->value == DDSC_SINKHORN_SHARP};
    int64_t n = measures_item(s->m, i).n;
    double *cost = sinkhorn_lanes_begin(lanes, n, m);
    pair_strips_lanes(&s->strips, i, item, m, cost, worker);
    for (int lane = 0; lane < SIMD_LANES; lane++) {
        if (item[lane] < 0)
            continue;
        int64_t size = measures_item(s->m, item[lane]).n;
        sinkhorn_lanes_weights(lanes, lane, n, s->lane_weight + s->m->offset[i], size,
                               s->lane_weight + s->m->offset[item[lane]]);
    }
    sinkhorn_lanes_solve(lanes, found, solved, &stop);
}

static ddsc_status status_of(const sinkhorn *s, const sinkhorn_result *found)
{
    return found->marginal_error <= s->tolerance ? DDSC_OK : DDSC_NOT_CONVERGED;
}

/* Row i by one group; `out` is row i of the tile. */
static ddsc_status row_by_group(sinkhorn *s, const pair_tile *t, int64_t i, const column_group *g,
                                double *out, int worker, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    bool solved[SIMD_LANES] = {false};
    int64_t item[SIMD_LANES];
    sinkhorn_result found[SIMD_LANES];
    if (choose_lanes(s, t, i, g, item) > 1)
        solve_lanes(s, i, item, g->m, found, solved, worker);
    for (int lane = 0; lane < g->n; lane++) {
        int64_t j = g->item[lane];
        if (!tile_wants(t, i, j))
            continue;
        if (solved[lane])
            out[j - t->j0] =
                sinkhorn_take(s, i, j, &found[lane], status_of(s, &found[lane]), stats);
        else
            TRY(sinkhorn_single(s, i, j, worker, &out[j - t->j0], stats));
    }
done:
    return status;
}

static ddsc_status row_by_large(sinkhorn *s, const pair_tile *t, int64_t i, bool all, double *out,
                                int worker, ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    for (int64_t j = t->j0; j < t->j1; j++)
        if (tile_wants(t, i, j) && (all || !s->fits[j]))
            TRY(sinkhorn_single(s, i, j, worker, &out[j - t->j0], stats));
done:
    return status;
}

ddsc_status sinkhorn_lanes_tile(sinkhorn *s, const pair_tile *t, double *d2, int64_t ld, int worker,
                                ddsc_pair_stats *stats)
{
    ddsc_status status = DDSC_OK;
    column_group group[SINKHORN_TILE / SIMD_LANES];
    int64_t n_groups = make_groups(s, t->j0, t->j1, group);
    TRY(pair_strips_tile(&s->strips, t, worker));
    for (int64_t i = t->i0; i < t->i1; i++) {
        double *out = d2 + (i - t->i0) * ld;
        bool large = !s->fits[i];
        if (ctx_cancelled(s->ctx))
            return DDSC_ERROR_CANCELLED;
        TRY(row_by_large(s, t, i, large, out, worker, stats));
        if (!large && n_groups > 0)
            pair_strips_row(&s->strips, i, worker);
        for (int64_t g = 0; !large && g < n_groups; g++)
            TRY(row_by_group(s, t, i, &group[g], out, worker, stats));
    }
done:
    return status;
}
