/* The fine system: doubles that hold integers. Each row prices a few candidate arcs; when none of
 * them is negative a sweep over all arcs adds the ones that are, until there are none. */
#include <math.h>
#include <string.h>

#include "exact/simplex.h"

enum {
    SWEEP_ARCS = 8, /* candidates a sweep may add to a row */
    ROWS_A_PIVOT = 4
};

static const double fine_limit = 0x1p51;

static double quanta(const simplex *s, int64_t i, int64_t j)
{
    return fine_round(cost_cell(&s->cost, i, j) * s->fine_scale);
}

typedef struct choice {
    double value;
    int32_t column;
} choice;

/* ---- sweeps ---- */

/* Room for `count` new arcs in row i: drop arcs of the largest reduced cost when it is full. */
static int64_t make_room(simplex *s, int64_t i, int64_t count)
{
    const double *sink = s->fine + s->sink0;
    double *cost = s->arc_cost + i * ARCS;
    int32_t *column = s->arc_column + i * ARCS;
    int64_t have = s->arc_count[i];
    while (have + count > ARCS) {
        int64_t worst = 0;
        for (int64_t k = 1; k < have; k++)
            if (cost[k] + sink[column[k]] > cost[worst] + sink[column[worst]])
                worst = k;
        cost[worst] = cost[--have];
        column[worst] = column[have];
    }
    return have;
}

/* All arcs of a row whose reduced cost is negative, cheapest first; at most SWEEP_ARCS are taken.
 */
static bool sweep_row(simplex *s, int64_t i)
{
    choice best[SWEEP_ARCS + 1];
    const double *sink = s->fine + s->sink0;
    const double *row = cost_row(&s->cost, i);
    double least = s->k->row_quanta(s->value, row, sink, s->m, s->fine_scale);
    if (least >= s->fine[i])
        return false;
    int64_t found = s->k->collect(s->index, s->value, s->m, s->fine[i]), count = 0;
    for (int64_t k = 0; k < found; k++) {
        choice c = {s->value[s->index[k]], s->index[k]};
        int64_t at = BASE_MIN(count, SWEEP_ARCS);
        for (; at > 0 && c.value < best[at - 1].value; at--)
            best[at] = best[at - 1];
        best[at] = c;
        count = BASE_MIN(count + 1, SWEEP_ARCS);
    }
    int64_t have = make_room(s, i, count);
    for (int64_t k = 0; k < count; k++)
        fine_set_arc(s, i, have + k, best[k].column, row[best[k].column]);
    fine_pad_row(s, i, have + count);
    return true;
}

static bool sweep(simplex *s)
{
    bool found = false;
    for (int64_t i = 0; i < s->n; i++)
        found |= sweep_row(s, i);
    return found;
}

/* ---- pricing and potentials ---- */

/* The best of a few rows a pivot, from where the last search ended. */
static bool price(simplex *s, entering *found)
{
    const double *sink = s->fine + s->sink0;
    double best = 0;
    int64_t i = s->next_row;
    for (int64_t seen = 0; seen < s->n && best == 0;)
        for (int r = 0; r < ROWS_A_PIVOT && seen < s->n;
             r++, seen++, i = i + 1 < s->n ? i + 1 : 0) {
            double reduced = s->k->arcs_min(s->arc_cost + i * ARCS, s->arc_column + i * ARCS, sink,
                                            s->arc_end[i]) -
                             s->fine[i];
            if (reduced < best) {
                best = reduced;
                found->row = i;
            }
        }
    s->next_row = i;
    if (best == 0)
        return false;
    const double *cost = s->arc_cost + found->row * ARCS;
    const int32_t *column = s->arc_column + found->row * ARCS;
    int64_t at = 0;
    while (cost[at] + sink[column[at]] - s->fine[found->row] != best)
        at++;
    found->column = column[at];
    found->reduced = best;
    return true;
}

static bool potentials(simplex *s)
{
    memset(s->fine, 0, (size_t)s->nodes * sizeof *s->fine);
    s->fine_bound = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent;
        s->fine[x] = s->fine[above] + (x < s->sink0 ? quanta(s, x, above - s->sink0)
                                                    : -quanta(s, above, x - s->sink0));
        s->fine_bound = fmax(s->fine_bound, fabs(s->fine[x]));
    }
    return s->fine_bound <= fine_limit;
}

static bool shift(simplex *s, double by)
{
    if (s->words)
        s->k->shift_fine(s->fine, s->cut, s->nodes, by);
    else
        list_shift(s, by);
    s->fine_bound += fabs(by);
    if (s->fine_bound <= fine_limit)
        return true;
    s->fine_bound = 0;
    for (int64_t x = 0; x < s->nodes; x++)
        s->fine_bound = fmax(s->fine_bound, fabs(s->fine[x]));
    return s->fine_bound <= fine_limit / 2;
}

simplex_end simplex_fine(simplex *s)
{
    static const number_system numbers = {price, shift};
    if (!potentials(s))
        return SIMPLEX_OVERFLOW;
    for (;;) {
        s->next_row = 0;
        simplex_end end = simplex_pivot(s, &numbers);
        if (end != SIMPLEX_OPTIMAL || !sweep(s))
            return end;
    }
}
