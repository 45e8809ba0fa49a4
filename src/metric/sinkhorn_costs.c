/* The costs of a pair. A small shared support in many dimensions has them in a table; otherwise few
 * dimensions go by differences and many by products. They are the same bits whoever asks. */
#include "cost/cost.h"
#include "metric/sinkhorn_costs.h"

enum { TABLE_BLOCK = 128 };

static const int64_t TABLE_BYTES = (int64_t)64 << 20;

static bool many_dimensions(const measures *m)
{
    return m->d > POINTS_MAX_DIRECT;
}

static bool wants_table(const measures *m)
{
    return many_dimensions(m) && measures_is_shared(m) &&
           m->v <= TABLE_BYTES / (int64_t)sizeof(double) / m->v;
}

/* ---- opening ---- */

static ddsc_status room_open(const pair_costs *c, cost_room *r, bool table)
{
    int64_t size = 0;
    if (!mul_ok(c->largest, c->largest, &size))
        return ctx_fail(c->ctx, DDSC_ERROR_MEMORY, "an item of %lld points is too large",
                        (long long)c->largest);
    CHECK(MEM_NEW(c->ctx, r->cost, size));
    if (many_dimensions(c->m) && !table)
        return MEM_NEW(c->ctx, r->norm2, 2 * c->largest);
    int64_t room = table ? TABLE_BLOCK : c->largest;
    CHECK(points_panel_create(c->ctx, &r->rows, &c->support, room));
    CHECK(points_panel_create(c->ctx, &r->columns, &c->support, room));
    return DDSC_OK;
}

static ddsc_status table_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pair_costs *c = arg;
    cost_room *r = &c->room[worker];
    int64_t v = c->m->v;
    points_distance2_rows(&c->support, &r->rows, &r->columns, begin, end, c->table + begin * v, v);
    return DDSC_OK;
}

ddsc_status pair_costs_open(ddsc_context *ctx, pair_costs *c, const measures *m)
{
    bool table = wants_table(m);
    *c = (pair_costs){.ctx = ctx, .m = m, .n_workers = parallel_width(ctx)};
    c->largest = measures_largest_item(m);
    CHECK(points_open(ctx, &c->support, m->v, m->d, m->support));
    CHECK(MEM_ZERO(ctx, c->room, c->n_workers));
    for (int w = 0; w < c->n_workers; w++)
        CHECK(room_open(c, &c->room[w], table));
    if (table) {
        CHECK(MEM_NEW(ctx, c->table, m->v * m->v));
        CHECK(parallel_for(ctx, m->v, TABLE_BLOCK, table_range, c));
    }
    return DDSC_OK;
}

void pair_costs_close(pair_costs *c)
{
    for (int w = 0; c->room && w < c->n_workers; w++) {
        cost_room *r = &c->room[w];
        cost_tile_free(c->ctx, &r->ahead);
        mem_free(c->ctx, r->norm2);
        points_panel_free(c->ctx, &r->rows);
        points_panel_free(c->ctx, &r->columns);
        mem_free(c->ctx, r->cost);
    }
    mem_free(c->ctx, c->room);
    mem_free(c->ctx, c->table);
    points_close(c->ctx, &c->support);
}

/* ---- one pair ---- */

static void gather(const pair_costs *c, double *cost, item_view x, item_view y)
{
    for (int64_t p = 0; p < x.n; p++) {
        const double *row = c->table + x.index[p] * c->m->v;
        for (int64_t q = 0; q < y.n; q++)
            cost[p * y.n + q] = row[y.index[q]];
    }
}

static void by_products(const pair_costs *c, cost_room *r, item_view x, item_view y)
{
    point_list rows = {c->m, x.n, x.index}, columns = {c->m, y.n, y.index};
    cost_norms(&rows, r->norm2);
    cost_norms(&columns, r->norm2 + x.n);
    cost_products(r->cost, &rows, r->norm2, &columns, r->norm2 + x.n);
}

const double *pair_costs_get(pair_costs *c, int64_t i, int64_t j, int worker, int64_t *stride)
{
    cost_room *r = &c->room[worker];
    item_view x = measures_item(c->m, i), y = measures_item(c->m, j);
    *stride = y.n;
    if (c->table) {
        gather(c, r->cost, x, y);
    } else if (pair_costs_by_products(c)) {
        if (!cost_tile_fill(&r->ahead, r->cost, c->m, i, c->m, j))
            by_products(c, r, x, y);
    } else {
        points_panel_load(&r->rows, &c->support, x.n, x.index, 0);
        points_panel_load(&r->columns, &c->support, y.n, y.index, 0);
        points_distance2(&c->support, &r->rows, &r->columns, r->cost, y.n);
    }
    return r->cost;
}
