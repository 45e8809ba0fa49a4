/* The pivot loop, shared by both number systems: price a few rows, take the most negative arc, push
 * flow round its cycle, move the subtree that came off, shift its potentials. */
#include "ot/simplex.h"

#include <math.h>

enum { ROWS_A_PIVOT = 2 };

typedef struct entering {
    int64_t row, column;
    double reduced; /* exact in both systems */
} entering;

/* ---- coarse: int32 ---- */

static bool price_coarse(simplex *s, entering *found)
{
    int32_t best = 0;
    const int32_t *sink = s->coarse + s->sink0;
    for (int64_t k = 0; k < s->n && best == 0;) {
        for (int64_t r = 0; r < ROWS_A_PIVOT && k < s->n; r++, k++) {
            int32_t value = s->kernels->row_min(coarse_row(s, s->next_row), sink, s->ld) -
                            s->coarse[s->next_row];
            if (value < best) {
                best = value;
                found->row = s->next_row;
            }
            s->next_row = s->next_row + 1 < s->n ? s->next_row + 1 : 0;
        }
    }
    if (best == 0)
        return false;
    found->column =
        s->kernels->row_find(coarse_row(s, found->row), sink, best + s->coarse[found->row]);
    found->reduced = best;
    return true;
}

/* Potentials from the tree, parents first; false when they do not fit. */
static bool coarse_potentials(simplex *s)
{
    int64_t largest = 0;
    s->coarse[s->root] = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent;
        bool is_source = x < s->sink0;
        int64_t cost = is_source ? coarse_row(s, x)[above - s->sink0]
                                 : -(int64_t)coarse_row(s, above)[x - s->sink0];
        int64_t value = s->coarse[above] + cost;
        largest = BASE_MAX(largest, value < 0 ? -value : value);
        if (largest > COARSE_LIMIT)
            return false;
        s->coarse[x] = (int32_t)value;
    }
    s->coarse_bound = largest;
    return true;
}

static bool coarse_shift(simplex *s, double by)
{
    int32_t shift = (int32_t)by;
    int64_t largest = 0;
    s->kernels->shift(s->coarse, s->cut, s->words, shift);
    s->coarse_bound += shift < 0 ? -(int64_t)shift : shift;
    if (s->coarse_bound <= COARSE_LIMIT)
        return true;
    for (int64_t x = 0; x < s->nodes; x++)
        largest = BASE_MAX(largest, s->coarse[x] < 0 ? -(int64_t)s->coarse[x] : s->coarse[x]);
    s->coarse_bound = largest;
    return largest <= COARSE_LIMIT / 2;
}

/* ---- fine: doubles holding integers below 2^53 ---- */

/* Round to the nearest integer without a call: |x| < 2^51. */
static inline double round_fine(double x)
{
    const double magic = 0x1.8p52;
    return (x + magic) - magic;
}

static const double fine_limit = 0x1p51;

static double fine_cost(const simplex *s, int64_t i, int64_t j)
{
    return round_fine(s->fine_cost[i * s->m + j] * s->fine_scale);
}

static bool price_fine(simplex *s, entering *found)
{
    const double *sink = s->fine + s->sink0;
    found->reduced = 0;
    for (int64_t k = 0; k < s->n && found->reduced == 0;) {
        for (int64_t r = 0; r < ROWS_A_PIVOT && k < s->n; r++, k++) {
            int64_t i = s->next_row;
            const double *cost = s->fine_cost + i * s->m;
            for (int64_t j = 0; j < s->m; j++) {
                double value = round_fine(cost[j] * s->fine_scale) + sink[j] - s->fine[i];
                if (value < found->reduced)
                    *found = (entering){i, j, value};
            }
            s->next_row = i + 1 < s->n ? i + 1 : 0;
        }
    }
    return found->reduced < 0;
}

static bool fine_potentials(simplex *s)
{
    double largest = 0;
    s->fine[s->root] = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent;
        bool is_source = x < s->sink0;
        s->fine[x] = s->fine[above] + (is_source ? fine_cost(s, x, above - s->sink0)
                                                 : -fine_cost(s, above, x - s->sink0));
        largest = BASE_MAX(largest, fabs(s->fine[x]));
    }
    s->fine_bound = largest;
    return largest <= fine_limit;
}

static bool fine_shift(simplex *s, double by)
{
    double largest = 0;
    for (int64_t x = 0; x < s->nodes; x++)
        s->fine[x] += s->cut[x >> 6] >> (x & 63) & 1 ? by : 0;
    s->fine_bound += fabs(by);
    if (s->fine_bound <= fine_limit)
        return true;
    for (int64_t x = 0; x < s->nodes; x++)
        largest = BASE_MAX(largest, fabs(s->fine[x]));
    s->fine_bound = largest;
    return largest <= fine_limit / 2;
}

/* ---- the loop ---- */

typedef struct number_system {
    bool (*price)(simplex *s, entering *found);
    bool (*shift)(simplex *s, double by);
} number_system;

/* The arc that blocks first: on the source's side arcs out of sources lose flow, on the sink's side
 * arcs into sinks. Unique, since supplies are non-degenerate. */
static int64_t blocking(const simplex *s, int *side, int64_t *at)
{
    int64_t theta = INT64_MAX;
    for (int z = 0; z < 2; z++)
        for (int64_t k = 0; k < s->length[z]; k += 2)
            if (s->node[s->path[z][k]].flow < theta) {
                theta = s->node[s->path[z][k]].flow;
                *side = z;
                *at = k;
            }
    return theta;
}

static void push(simplex *s, int64_t theta)
{
    for (int z = 0; z < 2; z++) {
        int64_t by = -theta;
        for (int64_t k = 0; k < s->length[z]; k++, by = -by)
            s->node[s->path[z][k]].flow += by;
    }
}

static simplex_end pivot_all(simplex *s, const number_system *numbers)
{
    entering in;
    s->next_row = 0;
    while (numbers->price(s, &in)) {
        int side = 0;
        int64_t at = 0;
        if (s->pivots >= s->max_pivots)
            return SIMPLEX_CAPPED;
        s->pivots++;
        tree_cycle(s, (int32_t)in.row, (int32_t)(s->sink0 + in.column));
        int64_t theta = blocking(s, &side, &at);
        push(s, theta);
        tree_move(s, side, at, theta);
        if (!numbers->shift(s, side == 0 ? in.reduced : -in.reduced))
            return SIMPLEX_OVERFLOW;
    }
    return SIMPLEX_OPTIMAL;
}

simplex_end simplex_coarse(simplex *s)
{
    static const number_system numbers = {price_coarse, coarse_shift};
    return coarse_potentials(s) ? pivot_all(s, &numbers) : SIMPLEX_OVERFLOW;
}

simplex_end simplex_fine(simplex *s)
{
    static const number_system numbers = {price_fine, fine_shift};
    return fine_potentials(s) ? pivot_all(s, &numbers) : SIMPLEX_OVERFLOW;
}
