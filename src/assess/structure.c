/* Is there structure at all? From the gaps around the clusters (gaps.c), and from a graph that falls apart where
 * chance would not tear it. */
#include <math.h>

#include "assess/assess.h"

/* Below this score items lie across the borders as they lie inside; with fewer items side by side than these, that
 * says nothing. */
static const double NONE_SCORE = 0.8, NONE_ITEMS = 6;

/* Chance of the tears seen that is still called clear. */
static const double TORN_BY_CHANCE = 0.05;
/* Items whose neighbours are all copies of them: more than these, and gaps say nothing. */
static const double COPIES = 0.05;
/* So many items side by side are a line (bench/verdict.py: 3.5 at most where a line is torn), and below twice as many
 * (6.2 on lines that are whole) a score may be that of a line, where chance makes valleys. Above, up to 12, noise scored
 * 0.62 at most in 100 sets of 16 to 150 items. */
static const double LINE_WIDTH = 4;

/* How many gaps are expected to tear the graph of n items placed at random along a line, where gaps come easiest: the
 * gap is longer than the way to the tau-th neighbour on either side. With gaps from Exp(1) and ways from Gamma(tau) that
 * is n E exp(-max(w, w')) = 2 n sum over j >= tau of binomial(tau - 1 + j, j) / 3^(tau + j). */
static double tears_of_a_line(int64_t n, int64_t tau)
{
    double term = pow(3, -(double)tau), sum = 0;
    for (int64_t j = 0; j < 8 * tau + 64; j++) {
        sum += j >= tau ? term : 0;
        term *= (double)(tau + j) / (double)(j + 1) / 3;
    }
    return 2 * (double)n * sum;
}

/* By the shortest list: those of a sample of the pairs are shorter than tau. */
static double tears_expected(const ddsc_graph *g)
{
    int64_t least = g->tau;
    for (int64_t i = 0; i < g->n; i++)
        least = BASE_MIN(least, g->offset[i + 1] - g->offset[i]);
    return tears_of_a_line(g->n, least);
}

/* The chance of so many tears or more (Poisson). A strip tears where all the lines it is made of do. */
static double chance_of_tears(double expected, double n, double width, int64_t tears)
{
    double mean = n * pow(fmin(expected / n, 1), fmax(width / LINE_WIDTH, 1));
    double sum = 0, log_term = -mean; /* e^-mean alone would be 0 above 745 */
    for (int64_t j = 1; j < tears + 64 || (double)j < 2 * mean + 64; j++) {
        log_term += log(mean / (double)j);
        sum += j >= tears ? exp(log_term) : 0;
    }
    return fmin(sum, 1);
}

/* Values that are rounded, or counts, make copies, and lists full of them tear any graph. */
static bool torn_by_copies(const ddsc_graph *g)
{
    int64_t n_full = 0;
    for (int64_t i = 0; i < g->n; i++)
        n_full += g->offset[i + 1] > g->offset[i] && g->d2[g->offset[i + 1] - 1] <= 0;
    return (double)n_full > COPIES * (double)g->n;
}

static ddsc_structure kind_of(const structure_tally *t, int64_t k)
{
    if (t->n_examined == 0 || k < 2 || t->copies)
        return DDSC_STRUCTURE_UNDECIDED;
    if (t->torn || t->n_parted > 0)
        return DDSC_STRUCTURE_CLEAR;
    if (t->score < NONE_SCORE && t->items >= NONE_ITEMS)
        return DDSC_STRUCTURE_NONE;
    return t->items < 2 * LINE_WIDTH ? DDSC_STRUCTURE_UNDECIDED : DDSC_STRUCTURE_WEAK;
}

double gaps_clear_from(int64_t n)
{
    return GAP_SCORE * sqrt(sqrt(fmax((double)n / GAP_ITEMS, 1)));
}

structure_tally structure_find(const cluster_gap *gap, int64_t k, const ddsc_graph *g,
                               int64_t n_components)
{
    structure_tally t = {.clear_from = gaps_clear_from(g ? g->n : 0), .held = NAN};
    t.held_from = GAP_HELD * sqrt(fmax(g ? (double)g->n / GAP_ITEMS : 0, 1));
    for (int64_t c = 0; gap && c < k; c++)
        t.held = fmax(t.held, gap[c].held); /* fmax passes over NaN */
    t.copies = g && g->n > 0 && torn_by_copies(g);
    double expected = g && g->n > 0 && !t.copies ? tears_expected(g) : INFINITY, width = INFINITY;
    for (int64_t c = 0; gap && c < k; c++) {
        /* Where chance tears the graph, gaps are no sign. */
        bool parted = gap[c].examined && gap[c].score >= t.clear_from && expected < 1 &&
                      !(t.held < t.held_from);
        t.n_examined += gap[c].examined;
        t.n_parted += parted;
        t.items_parted += parted ? gap[c].size : 0;
        t.score = fmax(t.score, gap[c].score);
        t.items = fmax(t.items, gap[c].items);
        if (gap[c].examined && !(gap[c].valley > 0))
            width = fmin(width, gap[c].items);
    }
    t.chance = expected < INFINITY ? chance_of_tears(expected, (double)g->n,
                                                     isfinite(width) ? width : 0, n_components - 1)
                                   : INFINITY;
    t.torn = gap && n_components > 1 && expected < 1 && t.chance < TORN_BY_CHANCE;
    t.structure = kind_of(&t, k);
    return t;
}
