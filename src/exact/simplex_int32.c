/* The coarse system: int32 costs in dense rows, potentials under masks. */
#include <math.h>
#include <string.h>

#include "exact/simplex.h"

/* Small problems price all rows at once, others two where no columns are listed. */
enum { BLOCK_CELLS = 256 };

static int32_t *coarse_row(const simplex *s, int64_t i)
{
    return s->coarse_cost + i * s->ld;
}

static int32_t *near_blocks(const simplex *s, int64_t row)
{
    return s->near_block + row / QUAD * (s->ld / LANES + 1);
}

static bool fill_row(simplex *s, int64_t i)
{
    const cost_rows *c = &s->cost;
    if (!c->whole_x || s->coarse_scale < 1)
        return s->k->quantise(coarse_row(s, i), cost_row(c, i), s->m, s->coarse_offset,
                              s->coarse_scale);
    s->k->whole_distances(coarse_row(s, i), c->whole_x + i * c->d, c->whole_y, c->stride, c->d,
                          s->m, ilogb(s->coarse_scale));
    return true;
}

/* The scale is a power of two: costs that are small integers stay exact. */
void coarse_costs(simplex *s, double low, double high)
{
    int exponent;
    bool from_zero = s->cost.whole_x || (low >= 0 && low <= 0.5 * high);
    s->coarse_offset = from_zero ? 0 : low; /* whole distances are not shifted */
    frexp(high - s->coarse_offset, &exponent);
    s->coarse_scale = unit_scale(COARSE_BITS, exponent);
    s->coarse_exact = s->coarse_offset == 0;
    if (s->cost.dense && isinf(s->cost.cap) && s->m == s->ld && !s->cost.whole_x) {
        s->coarse_exact &= s->k->quantise(s->coarse_cost, s->cost.dense, s->n * s->m,
                                          s->coarse_offset, s->coarse_scale);
        return;
    }
    for (int64_t i = 0; i < s->n; i++) {
        s->coarse_exact &= fill_row(s, i);
        for (int64_t j = s->m; j < s->ld; j++)
            coarse_row(s, i)[j] = COARSE_REMOVED;
    }
}

/* The best of a block of rows a pivot, from where the last search ended. */
static bool price_all(simplex *s, entering *found)
{
    const int32_t *sink = s->coarse + s->sink0;
    int64_t row, column, at = s->next_row;
    for (int64_t seen = 0; seen < s->n;) {
        int64_t first = at, rows = BASE_MIN(s->block_rows, s->n - at);
        int32_t best = s->k->block_best(coarse_row(s, first), sink, s->coarse + first, rows, s->ld,
                                        &row, &column);
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

/* The best of four rows a pivot, over the blocks of columns listed for them, from where the last
 * search ended. The same rows serve twice, since all that they touch is near at hand. */
static bool price_listed(simplex *s, entering *found)
{
    const int32_t *sink = s->coarse + s->sink0;
    int64_t row, column;
    for (int64_t seen = 0; seen < s->n; seen += QUAD) {
        int64_t first = s->next_row, rows = BASE_MIN(QUAD, s->n - first);
        int32_t best =
            s->k->near_best(coarse_row(s, first), sink, s->coarse + first, rows, s->ld,
                            near_blocks(s, first), s->near_count[first / QUAD], &row, &column);
        s->next_row = first + QUAD < s->n ? first + QUAD : 0;
        if (best < 0) {
            s->twice = s->twice == first ? -1 : first;
            s->next_row = s->twice == first ? first : s->next_row;
            *found = (entering){first + row, column, best};
            return true;
        }
    }
    return false;
}

/* Blocks with arcs of negative reduced cost join the lists, none of which has one; false when there
 * are none. */
static bool sweep(simplex *s)
{
    int64_t added = 0;
    for (int64_t first = 0; first < s->n; first += QUAD) {
        int32_t *count = s->near_count + first / QUAD;
        if (*count == s->ld / LANES)
            continue;
        int64_t own = s->k->blocks_below(near_blocks(s, first) + *count, coarse_row(s, first),
                                         s->coarse + s->sink0, s->coarse + first,
                                         BASE_MIN(QUAD, s->n - first), s->ld);
        *count += (int32_t)own;
        added += own;
    }
    return added > 0;
}

static bool price_near(simplex *s, entering *found)
{
    do
        if (price_listed(s, found))
            return true;
    while (sweep(s));
    return false;
}

static int64_t largest_potential(const simplex *s)
{
    int64_t largest = 0;
    for (int64_t x = 0; x < s->nodes; x++)
        largest = BASE_MAX(largest, s->coarse[x] < 0 ? -(int64_t)s->coarse[x] : s->coarse[x]);
    return largest;
}

static bool shift(simplex *s, double by)
{
    int32_t step = (int32_t)by;
    s->k->shift(s->coarse, s->cut, s->nodes, step);
    s->coarse_bound += step < 0 ? -(int64_t)step : step;
    if (s->coarse_bound <= COARSE_LIMIT)
        return true;
    s->coarse_bound = largest_potential(s);
    return s->coarse_bound <= COARSE_LIMIT / 2;
}

/* Potentials from the tree, parents first; false when they do not fit. */
static bool potentials(simplex *s)
{
    memset(s->coarse, 0, (size_t)s->nodes * sizeof *s->coarse);
    s->coarse_bound = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent;
        int64_t cost = x < s->sink0 ? coarse_row(s, x)[above - s->sink0]
                                    : -(int64_t)coarse_row(s, above)[x - s->sink0];
        int64_t value = s->coarse[above] + cost;
        s->coarse_bound = BASE_MAX(s->coarse_bound, value < 0 ? -value : value);
        if (s->coarse_bound > COARSE_LIMIT)
            return false;
        s->coarse[x] = (int32_t)value;
    }
    return true;
}

simplex_end simplex_coarse(simplex *s)
{
    static const number_system all = {price_all, shift}, near = {price_near, shift};
    s->next_row = 0;
    s->twice = -1;
    s->block_rows = BASE_MAX(2, BLOCK_CELLS / s->ld);
    return potentials(s) ? simplex_pivot(s, s->near ? &near : &all) : SIMPLEX_OVERFLOW;
}
