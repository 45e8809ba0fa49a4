/* Implements the int32 number system, which uses dense rows of costs and updates potentials under
 * masks.
 *
 * A cost c becomes round((c - offset) * scale) with at most 24 bits, so potentials along a path fit
 * in int32. A cache line contains 16 costs, and one vector operation prices them. The reduced costs
 * of the rounded problem are exact, and the search ends only when no reduced cost is negative.
 * Pricing takes the best arc in a few rows, and the next search starts after these rows, so a pivot
 * examines a few hundred costs. The certificate includes the error from rounding to 24 bits. */
#include <math.h>
#include <string.h>

#include "distance/exact/simplex.h"

static int32_t *cost_row32(const simplex *s, int64_t i)
{
    return s->cost32 + i * s->ld;
}

static int32_t *near_blocks(const simplex *s, int64_t row)
{
    return s->near_block + row / ROW_GROUP * (s->ld / COLUMN_BLOCK + 1);
}

static bool fill_row32(simplex *s, int64_t i)
{
    const exact_costs *c = &s->cost;
    if (!c->whole_x || s->scale32 < 1)
        return s->k->quantize(cost_row32(s, i), exact_cost_row(c, i), s->m, s->offset32,
                              s->scale32);
    s->k->whole_distances(cost_row32(s, i), c->whole_x + i * c->d, c->whole_y, c->stride, c->d,
                          s->ld, ilogb(s->scale32));
    return true;
}

/* Rounds the costs to int32. The scale is a power of two, so costs that are small integers remain
 * exact. */
void simplex_int32_costs(simplex *s, double low, double high)
{
    int exponent;
    bool from_zero = s->cost.whole_x || (low >= 0 && low <= 0.5 * high);
    s->offset32 = from_zero ? 0 : low; /* costs of integer points are not shifted */
    frexp(high - s->offset32, &exponent);
    s->scale32 = simplex_scale(INT32_BITS, exponent);
    s->exact32 = s->offset32 == 0;
    if (s->cost.dense && isinf(s->cost.cap) && s->m == s->ld && !s->cost.whole_x) {
        s->exact32 &=
            s->k->quantize(s->cost32, s->cost.dense, s->n * s->m, s->offset32, s->scale32);
        return;
    }
    for (int64_t i = 0; i < s->n; i++) {
        s->exact32 &= fill_row32(s, i);
        for (int64_t j = s->m; j < s->ld; j++)
            cost_row32(s, i)[j] = INT32_REMOVED;
    }
}

/* Finds the best arc in a block of rows, starting after the block of the previous search. */
static bool price_all(simplex *s, entering *found)
{
    const int32_t *sink = s->potential32 + s->sink0;
    int64_t row, column, at = s->next_row;
    for (int64_t seen = 0; seen < s->n;) {
        int64_t first = at, rows = BASE_MIN(s->block_rows, s->n - at);
        int32_t best = s->k->block_best(cost_row32(s, first), sink, s->potential32 + first, rows,
                                        s->ld, &row, &column);
        at = first + rows < s->n ? first + rows : 0;
        seen += rows;
        if (best < 0) {
            s->next_row = at;
            *found = (entering){first + row, column, best};
            return true;
        }
    }
    return false;
}

/* Finds the best arc in a row group over the listed column blocks, starting after the group of the
 * previous search. Each group is priced twice in succession, while its data is still in the
 * cache. */
static bool price_listed(simplex *s, entering *found)
{
    const int32_t *sink = s->potential32 + s->sink0;
    int64_t row, column;
    for (int64_t seen = 0; seen < s->n; seen += ROW_GROUP) {
        int64_t first = s->next_row, rows = BASE_MIN(ROW_GROUP, s->n - first);
        int32_t best =
            s->k->near_best(cost_row32(s, first), sink, s->potential32 + first, rows, s->ld,
                            near_blocks(s, first), s->near_count[first / ROW_GROUP], &row, &column);
        s->next_row = first + ROW_GROUP < s->n ? first + ROW_GROUP : 0;
        if (best < 0) {
            s->twice = s->twice == first ? -1 : first;
            s->next_row = s->twice == first ? first : s->next_row;
            *found = (entering){first + row, column, best};
            return true;
        }
    }
    return false;
}

/* Adds the blocks that contain arcs with negative reduced cost to the lists. price_listed must have
 * found no such arc in the blocks already listed. Returns false if no block was added. */
static bool sweep_blocks(simplex *s)
{
    int64_t added = 0;
    for (int64_t first = 0; first < s->n; first += ROW_GROUP) {
        int32_t *count = s->near_count + first / ROW_GROUP;
        if (*count == s->ld / COLUMN_BLOCK)
            continue;
        int64_t own = s->k->blocks_below(near_blocks(s, first) + *count, cost_row32(s, first),
                                         s->potential32 + s->sink0, s->potential32 + first,
                                         BASE_MIN(ROW_GROUP, s->n - first), s->ld);
        *count += (int32_t)own;
        added += own;
    }
    return added > 0;
}

/* Returns true if no reduced cost is negative in a sample of the rows. */
static bool is_feasible32(const simplex *s)
{
    bool holds = true;
    for (int64_t i = 0; i < s->n; i += s->n / 16 + 1)
        for (int64_t j = 0; j < s->m; j++)
            holds &=
                (int64_t)cost_row32(s, i)[j] + s->potential32[s->sink0 + j] >= s->potential32[i];
    return holds;
}

static bool price_negative(simplex *s, entering *found)
{
    if (!s->near)
        return price_all(s, found);
    while (!price_listed(s, found))
        if (!sweep_blocks(s))
            return false;
    return true;
}

static bool price_int32(simplex *s, entering *found)
{
    bool any = price_negative(s, found);
    DDSC_ASSERT(any || is_feasible32(s));
    return any;
}

static int64_t largest_potential(const simplex *s)
{
    int64_t largest = 0;
    for (int64_t x = 0; x < s->nodes; x++)
        largest = BASE_MAX(largest,
                           s->potential32[x] < 0 ? -(int64_t)s->potential32[x] : s->potential32[x]);
    return largest;
}

static bool shift_tree32(simplex *s, double by)
{
    int32_t step = (int32_t)by;
    s->k->shift_int32(s->potential32, s->cut, s->nodes, step);
    s->bound32 += step < 0 ? -(int64_t)step : step;
    if (s->bound32 <= INT32_LIMIT)
        return true;
    s->bound32 = largest_potential(s);
    return s->bound32 <= INT32_LIMIT / 2;
}

/* Computes the potentials from the tree, parents first. */
static bool begin_int32(simplex *s)
{
    s->twice = -1;
    s->block_rows = BASE_MAX(2, PRICE_CELLS / s->ld);
    memset(s->potential32, 0, (size_t)s->nodes * sizeof *s->potential32);
    s->bound32 = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent;
        int64_t cost = x < s->sink0 ? cost_row32(s, x)[above - s->sink0]
                                    : -(int64_t)cost_row32(s, above)[x - s->sink0];
        int64_t value = s->potential32[above] + cost;
        s->bound32 = BASE_MAX(s->bound32, value < 0 ? -value : value);
        if (s->bound32 > INT32_LIMIT)
            return false;
        s->potential32[x] = (int32_t)value;
    }
    return true;
}

const number_system simplex_int32 = {begin_int32, price_int32, shift_tree32};
