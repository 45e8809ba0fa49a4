/* Chooses the engine for each pair of a set, and solves the pair.
 *
 * Images use the grid engine, small items the group engine, and all other pairs the dense engine.
 * In a tile of small items, the columns are ordered by size and split into groups of eight for each
 * row: first the columns that the row precedes, then all others. Problems that the grid engine or a
 * group cannot solve are passed to the dense engine, which computes the same bits as a group.
 *
 * In every pair, the item that comes first in the order of measures_precedes provides the rows. A
 * value therefore depends only on its two items, the settings and the frame, and not on the groups
 * or the shape of the tile. In addition to the solves, ordering the n columns of a tile takes O(n
 * log n) time. */
#include "distance/sinkhorn/set.h"

#include <string.h>

#include "distance/sinkhorn/costs.h"
#include "distance/sinkhorn/grid.h"
#include "distance/sinkhorn/group.h"

enum { G = SINKHORN_GROUP };

struct sinkhorn_set {
    ddsc_context *ctx;
    const measures *m;
    sinkhorn_rule rule;
    int64_t side;
    sinkhorn_costs costs;
    sinkhorn_grid *grid; /* NULL if the set is not on a grid */
    int n_workers;
    sinkhorn_solver **solver; /* one per worker */
    sinkhorn_group **group;   /* one per worker; NULL if the group engine is not used */
    double *group_weight;     /* nnz weights, scaled for the group engine */
    bool *fits;               /* n: the item can be solved in a group */
};

/* ---- open and close ---- */

/* Returns true if the items are small enough on average for the group engine. */
bool sinkhorn_group_applies(const measures *m)
{
    return m->nnz <= SINKHORN_GROUP_SIDE * m->n;
}

/* Chooses the side of a tile so that every thread has enough tiles. For small items, the side is a
 * multiple of the group size, and a tile has few enough points to store its costs. A few larger
 * items have no effect on the side. */
static int64_t tile_side(const measures *m, bool groups)
{
    int64_t n = m->n, largest = measures_largest_item(m), side;
    if (!groups) {
        side = BASE_MIN(SINKHORN_TILE_POINTS / largest, n / 32);
        return BASE_MAX(1, BASE_MIN(SINKHORN_TILE_SIDE, side));
    }
    side = BASE_MIN(SINKHORN_GROUP_TILE_POINTS / BASE_MIN(SINKHORN_GROUP_SIDE, largest), n / 16);
    return BASE_MAX(1, BASE_MIN(SINKHORN_GROUP_TILE_SIDE, side) / G) * G;
}

static ddsc_status groups_open(sinkhorn_set *s)
{
    CHECK(MEM_NEW(s->ctx, s->group_weight, s->m->nnz));
    CHECK(MEM_NEW(s->ctx, s->fits, s->m->n));
    for (int64_t i = 0; i < s->m->n; i++) {
        item_view x = measures_item(s->m, i);
        s->fits[i] = sinkhorn_group_scale(s->group_weight + s->m->offset[i], x.weight, x.n) &&
                     sinkhorn_group_fits(x.n, 1);
    }
    CHECK(MEM_ZERO(s->ctx, s->group, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        CHECK(sinkhorn_group_create(s->ctx, &s->group[w]));
    return DDSC_OK;
}

void sinkhorn_set_close(sinkhorn_set *s)
{
    if (!s)
        return;
    for (int w = 0; s->solver && w < s->n_workers; w++)
        sinkhorn_destroy(s->solver[w]);
    for (int w = 0; s->group && w < s->n_workers; w++)
        sinkhorn_group_destroy(s->ctx, s->group[w]);
    MEM_FREE(s->ctx, s->solver, s->group, s->group_weight, s->fits);
    sinkhorn_grid_destroy(s->grid);
    sinkhorn_costs_close(&s->costs);
    mem_free(s->ctx, s);
}

pair_frame sinkhorn_set_frame(const measures *m, const ground_cost *ground, double epsilon)
{
    if (ground->kind != DDSC_COST_SQEUCLIDEAN || !sinkhorn_grid_applies(m, epsilon))
        return (pair_frame){.kind = FRAME_PLAIN};
    return (pair_frame){
        .kind = FRAME_GRID, .unit = 1, .spread = 1, .step = {m->grid.step[0], m->grid.step[1]}};
}

bool sinkhorn_set_fits(const measures *m, const pair_frame *frame)
{
    return frame->kind == FRAME_GRID && sinkhorn_grid_fits(m) && sinkhorn_grid_is_exact(m) &&
           sinkhorn_grid_is_in(m, frame);
}

ddsc_status sinkhorn_set_open(ddsc_context *ctx, sinkhorn_set **out, const measures *m,
                              const ground_cost *ground, const sinkhorn_rule *rule,
                              const pair_frame *frame)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_set *s = NULL;
    bool grid = frame->kind == FRAME_GRID, groups = !grid && sinkhorn_group_applies(m);
    TRY(MEM_ZERO(ctx, s, 1));
    *s = (sinkhorn_set){.ctx = ctx, .m = m, .rule = *rule, .n_workers = parallel_width(ctx)};
    s->side = tile_side(m, groups);
    if (grid)
        TRY(sinkhorn_grid_create(ctx, &s->grid, m, rule, frame->step));
    TRY(sinkhorn_costs_open(ctx, &s->costs, m, ground, groups ? s->side : 0));
    TRY(MEM_ZERO(ctx, s->solver, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        TRY(sinkhorn_create(ctx, &s->solver[w]));
    if (groups)
        TRY(groups_open(s));
    *out = s;
    s = NULL;
done:
    sinkhorn_set_close(s);
    return status;
}

const grid_items *sinkhorn_set_grid(const sinkhorn_set *s)
{
    return s->grid ? sinkhorn_grid_get_items(s->grid) : NULL;
}

int64_t sinkhorn_set_side(const sinkhorn_set *s)
{
    return s->side;
}

/* ---- single pairs ---- */

/* Swaps the items of a pair if the second item precedes the first. */
static void order_pair(const sinkhorn_set *s, int64_t *i, int64_t *j)
{
    if (measures_precedes(s->m, *j, *i)) {
        int64_t first = *j;
        *j = *i;
        *i = first;
    }
}

static sinkhorn_problem problem_of(sinkhorn_set *s, int64_t i, int64_t j, int worker)
{
    item_view x = measures_item(s->m, i), y = measures_item(s->m, j);
    sinkhorn_problem problem = {.n = x.n, .m = y.n, .a = x.weight, .b = y.weight, .rule = s->rule};
    problem.cost = sinkhorn_costs_pair(&s->costs, i, j, worker, &problem.cost_stride);
    return problem;
}

/* Solves the pair (i, j). Returns DDSC_NOT_CONVERGED in the same cases as sinkhorn_solve. */
static ddsc_status sinkhorn_set_pair(sinkhorn_set *s, sinkhorn_result *found, int64_t i, int64_t j,
                                     int worker)
{
    if (ctx_canceled(s->ctx))
        return DDSC_ERROR_CANCELED;
    order_pair(s, &i, &j);
    if (s->grid && sinkhorn_grid_solve(s->grid, found, i, j, worker))
        return DDSC_OK;
    sinkhorn_problem problem = problem_of(s, i, j, worker);
    return sinkhorn_solve(s->solver[worker], found, &problem);
}

ddsc_status sinkhorn_set_self(sinkhorn_set *s, sinkhorn_result *found, int64_t i, int worker)
{
    sinkhorn_problem problem = problem_of(s, i, i, worker);
    return sinkhorn_self(s->solver[worker], found, &problem);
}

ddsc_status sinkhorn_set_reserve(sinkhorn_set *s)
{
    for (int w = 0; !s->grid && w < s->n_workers; w++)
        CHECK(sinkhorn_reserve(s->solver[w], s->costs.largest));
    return DDSC_OK;
}

double sinkhorn_set_bound(sinkhorn_set *s, int64_t i, int64_t j, double enough, int evaluations,
                          int worker)
{
    order_pair(s, &i, &j);
    if (s->grid)
        return sinkhorn_grid_bound(s->grid, i, j, enough, evaluations, worker);
    sinkhorn_problem problem = problem_of(s, i, j, worker);
    return sinkhorn_bound(s->solver[worker], &problem, enough);
}

/* ---- tiles ---- */

static ddsc_status solve_and_take(sinkhorn_set *s, const sinkhorn_tile *t, int64_t i, int64_t j,
                                  int worker)
{
    sinkhorn_result found;
    ddsc_status status = sinkhorn_set_pair(s, &found, i, j, worker);
    if (status >= 0)
        t->take(t->arg, i, j, &found, status);
    return status;
}

/* Lists the columns of a block that fit in a group, in increasing order of size. Columns of equal
 * size remain in order. */
static int64_t order_columns(const sinkhorn_set *s, const item_block *block, int64_t *column)
{
    int64_t n = 0;
    for (int64_t j = block->j0; j < block->j1; j++) {
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

/* Moves the columns that item i precedes to the front. Both parts remain in order. Returns the number
 * of these columns. */
static int64_t split_columns(const sinkhorn_set *s, int64_t i, int64_t *column, int64_t n)
{
    int64_t later[SINKHORN_GROUP_TILE_SIDE], n_later = 0, n_first = 0;
    for (int64_t k = 0; k < n; k++)
        if (measures_precedes(s->m, i, column[k]))
            column[n_first++] = column[k];
        else
            later[n_later++] = column[k];
    memcpy(column + n_first, later, (size_t)n_later * sizeof *later);
    return n_first;
}

/* Loads one problem of a group. */
static void put_problem(sinkhorn_set *s, sinkhorn_group *group, int p, int64_t row, int64_t column)
{
    const measures *m = s->m;
    sinkhorn_group_put(group, p, measures_item(m, row).n, s->group_weight + m->offset[row],
                       measures_item(m, column).n, s->group_weight + m->offset[column]);
}

/* Solves item i with up to eight columns, the last of which is the largest. If `turned` is true,
 * the column items precede item i and therefore provide the rows of the problems. */
static ddsc_status row_by_group(sinkhorn_set *s, const sinkhorn_tile *t, int64_t i,
                                const int64_t *column, int64_t n_columns, bool turned, int worker)
{
    ddsc_status status = DDSC_OK;
    sinkhorn_group *group = s->group[worker];
    const measures *m = s->m;
    sinkhorn_result found[G];
    bool solved[G] = {false};
    int64_t item[G], n = measures_item(m, i).n, largest = measures_item(m, column[n_columns - 1]).n;
    int n_wanted = 0;
    for (int p = 0; p < G; p++) {
        item[p] = p < n_columns && t->wants(t->arg, i, column[p]) ? column[p] : -1;
        n_wanted += item[p] >= 0;
    }
    if (n_wanted > 1) {
        double *cost = turned ? sinkhorn_group_begin(group, largest, n)
                              : sinkhorn_group_begin(group, n, largest);
        sinkhorn_panel_group(&s->costs, i, item, largest, turned, cost, worker);
        for (int p = 0; p < G; p++)
            if (item[p] >= 0)
                put_problem(s, group, p, turned ? item[p] : i, turned ? i : item[p]);
        sinkhorn_group_solve(group, found, solved, &s->rule);
    }
    for (int p = 0; p < G; p++) {
        if (item[p] < 0)
            continue;
        if (!solved[p]) {
            TRY(solve_and_take(s, t, i, item[p], worker));
            continue;
        }
        bool converged = found[p].marginal_error <= s->rule.tolerance;
        ddsc_status end = converged ? DDSC_OK : DDSC_NOT_CONVERGED;
        t->take(t->arg, i, item[p], &found[p], end);
        TRY(end);
    }
done:
    return status;
}

ddsc_status sinkhorn_set_tile(sinkhorn_set *s, const sinkhorn_tile *t, int worker)
{
    ddsc_status status = DDSC_OK;
    const item_block *b = &t->block;
    int64_t column[SINKHORN_GROUP_TILE_SIDE], part[SINKHORN_GROUP_TILE_SIDE], n_columns = 0;
    bool groups =
        s->group && b->j1 - b->j0 > 1 && b->i1 - b->i0 <= s->side && b->j1 - b->j0 <= s->side;
    if (groups) {
        n_columns = order_columns(s, b, column);
        TRY(sinkhorn_panel_tile(&s->costs, b, worker));
    }
    for (int64_t i = b->i0; i < b->i1; i++) {
        bool grouped = groups && s->fits[i] && n_columns > 0;
        if (ctx_canceled(s->ctx))
            return DDSC_ERROR_CANCELED;
        for (int64_t j = b->j0; j < b->j1; j++)
            if (!(grouped && s->fits[j]) && t->wants(t->arg, i, j))
                TRY(solve_and_take(s, t, i, j, worker));
        if (grouped)
            sinkhorn_panel_row(&s->costs, i, worker);
        if (!grouped)
            continue;
        memcpy(part, column, (size_t)n_columns * sizeof *part);
        int64_t n_first = split_columns(s, i, part, n_columns);
        for (int64_t k = 0; k < n_first; k += G)
            TRY(row_by_group(s, t, i, part + k, BASE_MIN(G, n_first - k), false, worker));
        for (int64_t k = n_first; k < n_columns; k += G)
            TRY(row_by_group(s, t, i, part + k, BASE_MIN(G, n_columns - k), true, worker));
    }
done:
    return status;
}
