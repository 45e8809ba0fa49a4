/* Tests whether the components of the graph indicate clusters, because graphs with few items often
 * split by chance. */
#include <math.h>

#include "assess/quality/verdict.h"

/* If more than this fraction of the items have only copies as neighbors, gaps in the graph are not
 * evidence of clusters. */
static const double COPIES = 0.05;

/* Returns the expected number of gaps that split the graph of n random items on a line, where such
 * gaps are most likely. A gap splits the graph if, on both sides, it is longer than the distance w
 * to the tau-th neighbor. With gaps from Exp(1) and distances from Gamma(tau), the expected number
 * is n E exp(-max(w, w')), which equals 2 n times the sum over j >= tau of binomial(tau - 1 + j, j)
 * / 3^(tau + j). */
static double tears_of_a_line(int64_t n, int64_t tau)
{
    double term = pow(3, -(double)tau), sum = 0;
    for (int64_t j = 0; j < 8 * tau + 64; j++) {
        sum += j >= tau ? term : 0;
        term *= (double)(tau + j) / (double)(j + 1) / 3;
    }
    return 2 * (double)n * sum;
}

/* Uses the length of the shortest neighbor list as tau, because lists are shorter than tau if only
 * a sample of the pairs was computed. */
double tears_expected(const ddsc_graph *g)
{
    int64_t least = g->tau;
    for (int64_t i = 0; i < g->n; i++)
        least = BASE_MIN(least, g->offset[i + 1] - g->offset[i]);
    return tears_of_a_line(g->n, least);
}

/* Returns the Poisson probability of at least `tears` splits. A strip of items splits only where
 * all lines along it split. */
double tears_chance(double expected, double n, double width, int64_t tears)
{
    double mean = n * pow(fmin(expected / n, 1), fmax(width / TEARS_LINE_WIDTH, 1));
    double sum = 0, log_term = -mean; /* e^-mean underflows if the mean exceeds 745 */
    for (int64_t j = 1; j < tears + 64 || (double)j < 2 * mean + 64; j++) {
        log_term += log(mean / (double)j);
        sum += j >= tears ? exp(log_term) : 0;
    }
    return fmin(sum, 1);
}

/* Rounded values and counts produce copies, and neighbor lists that contain only copies split any
 * graph. */
bool tears_by_copies(const ddsc_graph *g)
{
    int64_t n_full = 0;
    for (int64_t i = 0; i < g->n; i++)
        n_full += g->offset[i + 1] > g->offset[i] && g->d2[g->offset[i + 1] - 1] <= 0;
    return (double)n_full > COPIES * (double)g->n;
}
