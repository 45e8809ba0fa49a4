/* The fine system: doubles that hold integers. Each row prices a few candidate arcs; when none of
 * them is negative a sweep over all arcs adds the ones that are, until there are none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ot/simplex.h"

enum {
    FIRST_ARCS = 24,  /* candidates a row starts with */
    SWEEP_ARCS = 16,  /* candidates a sweep may add to a row */
    COLLECT_ARCS = 96 /* what the first choice looks at */
};

static const double fine_limit = 0x1p51;
static const double padding = 0x1p52; /* cost of an unused slot: never negative */

static double quanta(const simplex *s, int64_t i, int64_t j)
{
    const double magic = 0x1.8p52;
    return (cost_cell(&s->cost, i, j) * s->fine_scale + magic) - magic;
}

/* ---- candidates ---- */

typedef struct choice {
    double value;
    int32_t column;
} choice;

static int by_value(const void *left, const void *right)
{
    const choice *x = left, *y = right;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

void fine_no_candidates(simplex *s)
{
    for (int64_t k = 0; k < s->n * ARCS; k++) {
        s->arc_cost[k] = padding;
        s->arc_column[k] = 0;
    }
}

/* The cheapest FIRST_ARCS of a row or so: all below a limit that is widened or narrowed until it
 * catches a fair number; the width found serves the next row. */
static int64_t catch_cheapest(simplex *s, double least, double *width)
{
    int64_t found = 0;
    for (int tries = 0; tries < 40; tries++) {
        found = s->k->collect(s->index, s->value, s->m, least + *width);
        if (found < BASE_MIN(FIRST_ARCS, s->m))
            *width = *width * 2 + 1;
        else if (found > COLLECT_ARCS)
            *width *= 0.5;
        else
            break;
    }
    return found;
}

static void keep_row(simplex *s, int64_t i, const choice *list, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        s->arc_column[i * ARCS + k] = list[k].column;
        s->arc_cost[i * ARCS + k] = quanta(s, i, list[k].column);
    }
}

void fine_candidates(simplex *s, const double *guess)
{
    choice list[COLLECT_ARCS];
    double *sink = s->fine + s->sink0, width = 0;
    fine_no_candidates(s);
    for (int64_t j = 0; j < s->m; j++)
        sink[j] = guess ? -guess[j] * s->fine_scale : 0;
    for (int64_t i = 0; i < s->n; i++) {
        double least = s->k->row_quanta(s->value, cost_row(&s->cost, i), sink, s->m, s->fine_scale);
        int64_t caught = catch_cheapest(s, least, &width);
        int64_t count = BASE_MIN(caught, COLLECT_ARCS);
        for (int64_t k = 0; k < count; k++)
            list[k] = (choice){s->value[s->index[k]], s->index[k]};
        qsort(list, (size_t)count, sizeof *list, by_value);
        keep_row(s, i, list, BASE_MIN(count, FIRST_ARCS));
    }
}

/* ---- sweeps ---- */

/* New arcs take the places of the candidates of largest reduced cost. */
static void admit(simplex *s, int64_t i, const choice *in, int64_t count)
{
    choice old[ARCS];
    const double *sink = s->fine + s->sink0;
    int32_t *column = s->arc_column + i * ARCS;
    for (int32_t k = 0; k < ARCS; k++)
        old[k] = (choice){-(s->arc_cost[i * ARCS + k] + sink[column[k]]), k};
    qsort(old, ARCS, sizeof *old, by_value);
    for (int64_t k = 0; k < count; k++) {
        column[old[k].column] = in[k].column;
        s->arc_cost[i * ARCS + old[k].column] = quanta(s, i, in[k].column);
    }
}

/* All arcs of a row whose reduced cost is negative, cheapest first; at most SWEEP_ARCS are taken.
 */
static bool sweep_row(simplex *s, int64_t i)
{
    choice best[SWEEP_ARCS + 1];
    const double *sink = s->fine + s->sink0;
    double least = s->k->row_quanta(s->value, cost_row(&s->cost, i), sink, s->m, s->fine_scale);
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
    admit(s, i, best, count);
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

static bool price(simplex *s, entering *found)
{
    const double *sink = s->fine + s->sink0;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t i = s->next_row;
        const double *cost = s->arc_cost + i * ARCS;
        const int32_t *column = s->arc_column + i * ARCS;
        double least = s->k->arcs_min(cost, column, sink, ARCS);
        s->next_row = i + 1 < s->n ? i + 1 : 0;
        if (least >= s->fine[i])
            continue;
        int64_t at = 0;
        while (cost[at] + sink[column[at]] != least)
            at++;
        *found = (entering){i, column[at], least - s->fine[i]};
        return true;
    }
    return false;
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
