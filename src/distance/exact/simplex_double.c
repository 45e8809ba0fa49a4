/* Implements the double number system, which stores integers of up to 51 bits in doubles, so no sum
 * is rounded.
 *
 * The costs of a large problem do not fit in the caches, so only a few candidate arcs per row are
 * priced. If no candidate has a negative reduced cost, a sweep over all n x m arcs adds the arcs
 * with a negative reduced cost. If there are no such arcs, the basis is optimal. A pivot prices at
 * least PRICE_ROWS rows of candidates; a sweep computes n x m reduced costs. */
#include <math.h>
#include <string.h>

#include "distance/exact/simplex.h"

static const double limit64 = 0x1p51; /* all sums are exact if |potential| is below this limit */

static double quanta(const simplex *s, int64_t i, int64_t j)
{
    return simplex_round(exact_cost_cell(&s->cost, i, j) * s->scale64);
}

typedef struct choice {
    double value;
    int32_t column;
} choice;

/* ---- sweeps ---- */

/* Makes space for `count` new arcs in row i by dropping the arcs with the largest reduced cost.
 * Returns the number of remaining arcs. */
static int64_t make_place(simplex *s, int64_t i, int64_t count)
{
    const double *sink = s->potential64 + s->sink0;
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

/* Adds up to SWEEP_ARCS arcs of row i with the most negative reduced costs. Returns false if no
 * reduced cost is negative. */
static bool sweep_row(simplex *s, int64_t i)
{
    choice best[SWEEP_ARCS + 1];
    const double *sink = s->potential64 + s->sink0;
    const double *row = exact_cost_row(&s->cost, i);
    double least = s->k->row_quanta(s->value, row, sink, s->m, s->scale64);
    if (least >= s->potential64[i])
        return false;
    int64_t found = s->k->collect(s->index, s->value, s->m, s->potential64[i]), count = 0;
    for (int64_t k = 0; k < found; k++) {
        choice c = {s->value[s->index[k]], s->index[k]};
        int64_t at = BASE_MIN(count, SWEEP_ARCS);
        for (; at > 0 && c.value < best[at - 1].value; at--)
            best[at] = best[at - 1];
        best[at] = c;
        count = BASE_MIN(count + 1, SWEEP_ARCS);
    }
    int64_t have = make_place(s, i, count);
    for (int64_t k = 0; k < count; k++)
        arcs_set(s, i, have + k, best[k].column, row[best[k].column]);
    arcs_pad(s, i, have + count);
    return true;
}

static bool sweep_arcs(simplex *s)
{
    bool found = false;
    for (int64_t i = 0; i < s->n; i++)
        found |= sweep_row(s, i);
    return found;
}

/* ---- pricing and potentials ---- */

/* Finds the best candidate arc in a few rows, starting after the last row of the previous
 * search. */
static bool price_candidates(simplex *s, entering *found)
{
    const double *sink = s->potential64 + s->sink0;
    double best = 0;
    int64_t i = s->next_row;
    for (int64_t seen = 0; seen < s->n && best == 0;)
        for (int r = 0; r < PRICE_ROWS && seen < s->n; r++, seen++, i = i + 1 < s->n ? i + 1 : 0) {
            double reduced = s->k->arcs_least(s->arc_cost + i * ARCS, s->arc_column + i * ARCS,
                                              sink, s->arc_end[i]) -
                             s->potential64[i];
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
    while (cost[at] + sink[column[at]] - s->potential64[found->row] != best)
        at++;
    found->column = column[at];
    found->reduced = best;
    return true;
}

/* Returns true if no reduced cost is negative in a sample of the rows. */
static bool is_feasible64(const simplex *s)
{
    bool holds = true;
    for (int64_t i = 0; i < s->n; i += s->n / 16 + 1)
        for (int64_t j = 0; j < s->m; j++)
            holds &= quanta(s, i, j) + s->potential64[s->sink0 + j] >= s->potential64[i];
    return holds;
}

static bool price_arcs(simplex *s, entering *found)
{
    while (!price_candidates(s, found)) {
        if (!sweep_arcs(s)) {
            DDSC_ASSERT(is_feasible64(s));
            return false;
        }
        s->next_row = 0;
    }
    return true;
}

/* Computes the potentials from the tree, parents first. */
static bool begin_double(simplex *s)
{
    memset(s->potential64, 0, (size_t)s->nodes * sizeof *s->potential64);
    s->bound64 = 0;
    for (int64_t k = s->n + s->m - 2; k >= 0; k--) {
        int32_t x = s->order[k], above = s->node[x].parent;
        s->potential64[x] =
            s->potential64[above] +
            (x < s->sink0 ? quanta(s, x, above - s->sink0) : -quanta(s, above, x - s->sink0));
        s->bound64 = fmax(s->bound64, fabs(s->potential64[x]));
    }
    return s->bound64 <= limit64;
}

static bool shift_tree64(simplex *s, double by)
{
    if (s->words)
        s->k->shift_double(s->potential64, s->cut, s->nodes, by);
    else
        basis_list_shift(s, by);
    s->bound64 += fabs(by);
    if (s->bound64 <= limit64)
        return true;
    s->bound64 = 0;
    for (int64_t x = 0; x < s->nodes; x++)
        s->bound64 = fmax(s->bound64, fabs(s->potential64[x]));
    return s->bound64 <= limit64 / 2;
}

const number_system simplex_double = {begin_double, price_arcs, shift_tree64};
