/* Computes the costs between the points of two items, C_pq = c(x_p, y_q).
 *
 * In few dimensions, squared distances are sums of squared differences. In many dimensions, they
 * are computed from inner products, |x|^2 + |y|^2 - 2 x y, and entries that suffer from
 * cancellation are recomputed by differences (distance/cost/points.h). If many items share a small
 * support in many dimensions, all costs between the rows of the support are computed once, and a
 * pair gathers its entries from this table.
 *
 * A cost depends only on its two points. All callers therefore get the same bits, with and without
 * the table, and for any order of the pairs. A pair of items with n and m points takes n m d
 * operations, or n m loads with the table. */
#include "distance/sinkhorn/costs.h"

#include "distance/cost/cost.h"

enum { TABLE_BLOCK = 128 };

static const int64_t TABLE_BYTES = (int64_t)64 << 20;

static bool wants_table(const measures *m, const ground_cost *ground)
{
    return ground_from_squares(ground->kind) && m->d > POINTS_MAX_DIRECT && measures_is_shared(m) &&
           m->v <= TABLE_BYTES / (int64_t)sizeof(double) / m->v;
}

/* ---- open and close ---- */

static ddsc_status scratch_open(const sinkhorn_costs *c, cost_scratch *w)
{
    int64_t size = 0;
    if (!mul_ok(c->largest, c->largest, &size))
        return ctx_fail(c->ctx, DDSC_ERROR_MEMORY,
                        "an item of %lld points is too large; reduce the number of points per item",
                        (long long)c->largest);
    CHECK(MEM_NEW(c->ctx, w->cost, size));
    if (sinkhorn_costs_by_lists(c)) {
        CHECK(MEM_NEW(c->ctx, w->norm2, 2 * c->largest));
    } else if (!c->table) {
        CHECK(points_panel_create(c->ctx, &w->rows, &c->support, c->largest));
        CHECK(points_panel_create(c->ctx, &w->columns, &c->support, c->largest));
    }
    return c->group_side > 0 ? sinkhorn_panel_open(c, w) : DDSC_OK;
}

/* The rows of the table. */
typedef struct table_rows {
    sinkhorn_costs *c;
    int32_t *row;
    double *norm2;
} table_rows;

static ddsc_status table_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const table_rows *t = arg;
    const measures *m = t->c->m;
    point_list rows = {m, end - begin, t->row + begin}, all = {m, m->v, t->row};
    (void)worker;
    ground_lists(&t->c->ground, t->c->table + begin * m->v, &rows, t->norm2 + begin, &all,
                 t->norm2);
    return DDSC_OK;
}

static ddsc_status fill_table(sinkhorn_costs *c)
{
    ddsc_status status = DDSC_OK;
    table_rows t = {.c = c};
    TRY(MEM_NEW(c->ctx, t.row, c->m->v));
    TRY(MEM_NEW(c->ctx, t.norm2, c->m->v));
    for (int64_t r = 0; r < c->m->v; r++)
        t.row[r] = (int32_t)r;
    cost_norms(&(point_list){c->m, c->m->v, t.row}, t.norm2);
    TRY(parallel_for(c->ctx, c->m->v, TABLE_BLOCK, table_range, &t));
done:
    MEM_FREE(c->ctx, t.row, t.norm2);
    return status;
}

ddsc_status sinkhorn_costs_open(ddsc_context *ctx, sinkhorn_costs *c, const measures *m,
                                const ground_cost *ground, int64_t group_side)
{
    *c = (sinkhorn_costs){.ctx = ctx, .m = m, .ground = *ground, .n_workers = parallel_width(ctx)};
    c->largest = measures_largest_item(m);
    c->group_side = group_side;
    c->most = BASE_MIN(SINKHORN_GROUP_SIDE, c->largest);
    CHECK(points_open(ctx, &c->support, m->v, m->d, m->support));
    CHECK(MEM_ZERO(ctx, c->scratch, c->n_workers));
    if (wants_table(m, ground))
        CHECK(MEM_NEW(ctx, c->table, m->v * m->v));
    for (int w = 0; w < c->n_workers; w++)
        CHECK(scratch_open(c, &c->scratch[w]));
    return c->table ? fill_table(c) : DDSC_OK;
}

void sinkhorn_costs_close(sinkhorn_costs *c)
{
    for (int k = 0; c->scratch && k < c->n_workers; k++) {
        cost_scratch *w = &c->scratch[k];
        sinkhorn_panel_close(c, w);
        cost_tile_free(c->ctx, &w->tile);
        points_panel_free(c->ctx, &w->rows);
        points_panel_free(c->ctx, &w->columns);
        MEM_FREE(c->ctx, w->norm2, w->cost);
    }
    MEM_FREE(c->ctx, c->scratch, c->table);
    points_close(c->ctx, &c->support);
}

/* ---- one pair ---- */

const double *sinkhorn_costs_pair(sinkhorn_costs *c, int64_t i, int64_t j, int worker,
                                  int64_t *stride)
{
    cost_scratch *w = &c->scratch[worker];
    item_view x = measures_item(c->m, i), y = measures_item(c->m, j);
    *stride = y.n;
    if (c->table) {
        for (int64_t p = 0; p < x.n; p++) {
            const double *row = c->table + x.index[p] * c->m->v;
            for (int64_t q = 0; q < y.n; q++)
                w->cost[p * y.n + q] = row[y.index[q]];
        }
    } else if (!sinkhorn_costs_by_lists(c)) {
        points_panel_load(&w->rows, &c->support, x.n, x.index, 0);
        points_panel_load(&w->columns, &c->support, y.n, y.index, 0);
        points_distance2(&c->support, &w->rows, &w->columns, w->cost, y.n);
        ground_finish(c->ground.kind, w->cost, x.n * y.n);
    } else if (!cost_tile_fill(&w->tile, w->cost, c->m, i, c->m, j)) {
        point_list rows = {c->m, x.n, x.index}, columns = {c->m, y.n, y.index};
        if (ground_from_squares(c->ground.kind)) {
            cost_norms(&rows, w->norm2);
            cost_norms(&columns, w->norm2 + x.n);
        }
        ground_lists(&c->ground, w->cost, &rows, w->norm2, &columns, w->norm2 + x.n);
    }
    return w->cost;
}
