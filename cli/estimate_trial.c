/* Measures on a few items how many pairs the bounds of exact transport exclude. If all items are
 * samples of a broad distribution in many dimensions, such as cells of donors, the bounds exclude
 * almost no pairs, and the time grows with the square of the number of items. */
#include <math.h>

#include "estimate.h"
#include "options.h"

enum { TRIAL_LEAST = 16, TRIAL_MOST = 128 };
/* A trial is run if the computation would take more than TRIAL_FROM_S CPU seconds without bounds.
 * The trial takes at most the fraction TRIAL_SHARE of this time, and at most TRIAL_CPU_S. */
static const double TRIAL_FROM_S = 60, TRIAL_SHARE = 0.02, TRIAL_CPU_S = 30;
/* If the bounds exclude at least this fraction of the pairs, the time is assumed to grow as in a
 * pruned search. */
static const double SKIPS_ENOUGH = 0.5;
/* Alternatives are suggested for runs that may take longer than this. */
static const double ALTERNATIVES_S = 600;

static double pairs_of(double n)
{
    return 0.5 * n * (n - 1);
}

static bool is_transport(const session *s)
{
    return s->set.metric.metric == DDSC_METRIC_W2 || s->set.metric.metric == DDSC_METRIC_W1 ||
           s->set.metric.metric == DDSC_METRIC_SINKHORN;
}

static bool searches_graph(const session *s)
{
    const ddsc_graph_settings *g = &s->set.graph;
    return verb_has_option(s->verb, "tau") && s->set.cluster.joined == 0 && g->sample >= 1 &&
           g->sample_columns >= 1 && g->neighbors != DDSC_NEIGHBORS_APPROXIMATE &&
           g->exact_graph != DDSC_GRAPH_FULL;
}

/* Computes the graph of n items. The tau of this graph is the same fraction of the items as in the
 * whole set. */
static bool run_trial(bound_trial *t, ddsc_context *ctx, const session *s, const cli_input *in,
                      int64_t tau)
{
    int64_t all = in->view.n_items;
    ddsc_graph_settings graph = s->set.graph;
    ddsc_graph *made = NULL;
    ddsc_pair_stats stats;
    ddsc_measures *some = estimate_items(ctx, in, t->cost.n);
    if (!some)
        return false;
    graph.tau = (int64_t)fmax(1, round((double)(tau * t->cost.n) / (double)all));
    graph.exact_graph = DDSC_GRAPH_PRUNED;
    graph.hubs = DDSC_HUBS_OFF;
    ddsc_pair_stats_init(&stats);
    double cpu = estimate_cpu(), wall = cli_now();
    bool good = ddsc_neighbors_run(ctx, &made, &stats, some, &s->set.metric, &graph) >= 0;
    t->cost.cpu = estimate_cpu() - cpu;
    t->cost.wall = cli_now() - wall;
    t->skipped = 1 - (double)stats.n_solved / pairs_of((double)t->cost.n);
    ddsc_graph_destroy(made);
    ddsc_measures_destroy(some);
    return good;
}

void estimate_bounds(bound_trial *t, ddsc_context *ctx, const session *s, const cli_input *in,
                     int64_t tau, const estimate_sample *sample)
{
    double n = (double)in->view.n_items, per_pair = sample->cpu / pairs_of((double)sample->n);
    double without = per_pair * pairs_of(n);
    double budget = fmin(TRIAL_SHARE * without, TRIAL_CPU_S);
    *t = (bound_trial){.known = false};
    if (!is_transport(s))
        return;
    if (!searches_graph(s)) { /* a matrix has all pairs */
        t->matrix = !verb_has_option(s->verb, "tau");
        return;
    }
    if (without < TRIAL_FROM_S)
        return;
    t->cost.n = TRIAL_LEAST;
    while (t->cost.n < TRIAL_MOST && per_pair * pairs_of(2 * (double)t->cost.n) <= budget)
        t->cost.n *= 2;
    t->known = t->cost.n < in->view.n_items && run_trial(t, ctx, s, in, tau);
}

double estimate_power(const bound_trial *t, double pruned)
{
    return 2 - (2 - pruned) * fmin(1, t->skipped / SKIPS_ENOUGH);
}

bool estimate_needs_alternatives(const bound_trial *t, const session *s, const cli_input *in,
                                 double high)
{
    return is_transport(s) && (t->matrix || t->known) && high > ALTERNATIVES_S &&
           !s->set.cluster.paper && in->view.n_items > TRIAL_LEAST;
}

void estimate_add_alternatives(text *t, const cli_input *in)
{
    if (in->merging.n_points == 0 && in->view.n_entries >= 32 * in->view.n_items)
        text_add(t, "--compress auto, ");
    text_add(t, "--metric lot, --metric mmd --mmd-features 1024");
}
