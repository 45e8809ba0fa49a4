/* Chooses the candidate arcs for the double system, and balances the guessed potentials on these
 * arcs.
 *
 * The candidates of row i are the arcs with the smallest C_ij - g_j: between FEW_ARCS and MANY_ARCS
 * arcs unless many values are equal. If requested, a few rounds of entropic scaling (Sinkhorn) at
 * two temperatures T run on the candidates. A round sets u_i = a_i / sum_j K_ij v_j and v_j = b_j /
 * sum_i K_ij u_i, with K_ij = exp(-(C_ij - g_j) / T). The column scalings update g, which balances
 * the guess against the weights. A solve that starts from balanced potentials needs about half as
 * many pivots. The work is one pass over all n x m costs, plus ARCS operations per row and
 * round. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "distance/exact/simplex.h"

static const double padding =
    0x1p52; /* cost of an unused slot, so that its reduced cost is never negative */

/* Stores the arc from source i to a sink in a slot of row i, with its cost in quanta. */
void arcs_set(simplex *s, int64_t i, int64_t slot, int32_t column, double cost)
{
    s->arc_column[i * ARCS + slot] = column;
    s->arc_cost[i * ARCS + slot] = simplex_round(cost * s->scale64);
}

/* Sets the number of arcs of row i, and pads the row to whole vectors with arcs that are never
 * chosen. */
void arcs_pad(simplex *s, int64_t i, int64_t count)
{
    int64_t end = BASE_MAX(8, (count + 7) / 8 * 8);
    for (int64_t k = count; k < end; k++) {
        s->arc_column[i * ARCS + k] = 0;
        s->arc_cost[i * ARCS + k] = padding;
    }
    s->arc_count[i] = (int32_t)count;
    s->arc_end[i] = (int32_t)end;
}

void arcs_drop(simplex *s)
{
    for (int64_t i = 0; i < s->n; i++)
        arcs_pad(s, i, 0);
}

/* Collects the columns whose entries in `value` are below least + *width. Adjusts *width until this
 * selects between FEW_ARCS and MANY_ARCS columns; the next row starts with the same width. */
static int64_t catch_cheapest(simplex *s, double least, double *width)
{
    int64_t found = 0, few = BASE_MIN(FEW_ARCS, s->m);
    for (int tries = 0; tries < ARC_TRIES; tries++) {
        found = s->k->collect(s->index, s->value, s->m, least + *width);
        if (found >= few && found <= MANY_ARCS)
            break;
        *width = found < few ? *width * 1.5 + 1 : *width * 0.7;
    }
    return found;
}

/* Stores the candidates of row i. If equal values give too many candidates, each row starts at a
 * different column, so that not all rows keep the same columns. */
static void keep_row(simplex *s, int64_t i, const double *row, int64_t found)
{
    int64_t count = BASE_MIN(found, MANY_ARCS), at = 0;
    if (found > count)
        at = i * found / s->n;
    for (int64_t k = 0; k < count; k++, at = at + 1 < found ? at + 1 : 0)
        arcs_set(s, i, k, s->index[at], row[s->index[at]]);
    arcs_pad(s, i, count);
}

/* ---- smoothing ---- */

/* Returns ln x for x > 0 with an error of about 1e-11: x is split into mantissa and exponent, and
 * ln m = 2 artanh((m - 1) / (m + 1)). The bits are the same on every processor. */
static double log_mantissa(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    double t = (m - 1) / (m + 1), q = t * t;
    double series = 1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q / 11))));
    return 2 * t * series + exponent * 0x1.62e42fefa39efp-1;
}

/* Computes arc_weight = exp((least - value) / temperature) over the candidates of each row. */
SIMD_CLONES static void arc_weights(simplex *s, double temperature)
{
    const double *sink = s->potential64 + s->sink0;
    for (int64_t i = 0; i < s->n; i++) {
        const double *cost = s->arc_cost + i * ARCS;
        const int32_t *column = s->arc_column + i * ARCS;
        double *weight = s->arc_weight + i * ARCS, least = INFINITY;
        for (int64_t k = 0; k < s->arc_end[i]; k++) {
            weight[k] = cost[k] + sink[column[k]];
            least = weight[k] < least ? weight[k] : least;
        }
        for (int64_t k = 0; k < s->arc_end[i]; k += SIMD_LANES)
            simd_store(weight + k, simd_exp((least - simd_load(weight + k)) / temperature));
    }
}

/* Runs one round: scales the rows, then the columns, to their weights. */
static void scale_arcs(simplex *s, double *v, double *column_sum)
{
    memset(column_sum, 0, (size_t)s->m * sizeof *column_sum);
    for (int64_t i = 0; i < s->n; i++) {
        const double *weight = s->arc_weight + i * ARCS;
        const int32_t *column = s->arc_column + i * ARCS;
        double part[4] = {0};
        for (int64_t k = 0; k < s->arc_end[i]; k += 4)
            for (int64_t z = 0; z < 4; z++)
                part[z] += weight[k + z] * v[column[k + z]];
        double sum = (part[0] + part[1]) + (part[2] + part[3]);
        double u = (double)s->supply[i] / fmax(sum, 1e-280);
        for (int64_t k = 0; k < s->arc_count[i]; k++)
            column_sum[column[k]] += weight[k] * u;
    }
    for (int64_t j = 0; j < s->m; j++)
        if (column_sum[j] > 1e-280)
            v[j] = (double)s->supply[s->sink0 + j] / column_sum[j];
}

/* Runs ARC_ROUNDS rounds at one temperature and updates the potentials of the sinks. */
static void smooth_arcs(simplex *s, double temperature, double *v, double *column_sum)
{
    double *sink = s->potential64 + s->sink0;
    const int64_t *demand = s->supply + s->sink0;
    arc_weights(s, temperature);
    for (int64_t j = 0; j < s->m; j++)
        v[j] = (double)demand[j];
    for (int round = 0; round < ARC_ROUNDS; round++)
        scale_arcs(s, v, column_sum);
    for (int64_t j = 0; j < s->m; j++)
        sink[j] -= temperature * log_mantissa(v[j] / (double)demand[j]);
}

void arcs_choose(simplex *s, bool smoothing)
{
    double *sink = s->potential64 + s->sink0, width = 0, sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double *row = exact_cost_row(&s->cost, i);
        double least = s->k->row_quanta(s->value, row, sink, s->m, s->scale64);
        keep_row(s, i, row, catch_cheapest(s, least, &width));
        sum += width;
    }
    if (!smoothing || sum == 0)
        return;
    smooth_arcs(s, 0.3 * sum / (double)s->n, s->value, s->column_sum);
    smooth_arcs(s, 0.1 * sum / (double)s->n, s->value, s->column_sum);
}
