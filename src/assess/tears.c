/* Does the graph fall into components because there are clusters, or because chance tears the graphs of few items? */
#include <math.h>

#include "assess/verdict.h"

/* Items whose neighbors are all copies of them: with a larger share than this, gaps prove nothing. */
static const double COPIES = 0.05;

/* How many gaps are expected to tear the graph of n items placed at random along a line, where gaps come easiest: the
 * gap is longer than the way to the tau-th neighbor on either side. With gaps from Exp(1) and ways from Gamma(tau) that
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
double tears_expected(const ddsc_graph *g)
{
    int64_t least = g->tau;
    for (int64_t i = 0; i < g->n; i++)
        least = BASE_MIN(least, g->offset[i + 1] - g->offset[i]);
    return tears_of_a_line(g->n, least);
}

/* The chance of so many tears or more (Poisson). A strip tears where all the lines it is made of do. */
double tears_chance(double expected, double n, double width, int64_t tears)
{
    double mean = n * pow(fmin(expected / n, 1), fmax(width / TEARS_LINE_WIDTH, 1));
    double sum = 0, log_term = -mean; /* e^-mean alone would be 0 above 745 */
    for (int64_t j = 1; j < tears + 64 || (double)j < 2 * mean + 64; j++) {
        log_term += log(mean / (double)j);
        sum += j >= tears ? exp(log_term) : 0;
    }
    return fmin(sum, 1);
}

/* Values that are rounded, or counts, make copies, and lists full of them tear any graph. */
bool tears_by_copies(const ddsc_graph *g)
{
    int64_t n_full = 0;
    for (int64_t i = 0; i < g->n; i++)
        n_full += g->offset[i + 1] > g->offset[i] && g->d2[g->offset[i + 1] - 1] <= 0;
    return (double)n_full > COPIES * (double)g->n;
}
