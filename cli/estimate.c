/* Estimates the time and memory of a run. The computation is run on 8, 16, 32, ... items spread
 * over the input until a run takes too long, and the shortest time of a few repetitions is used.
 * estimate_fit.c extrapolates the times to a range. Memory is assumed to be proportional to the
 * number of items. */
#include "estimate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "progress.h"
#include "json.h"

enum { FIRST_ITEMS = 8, MOST_SAMPLES = 24, TRIES = 3 };
static const double PROGRAM_BYTES = 12 << 20; /* code and libraries */
/* Growth exponent of a pruned search, measured from 4,000 to 64,000 items. If a sample has only a
 * few times tau items, the bounds avoid no solves, and the growth appears quadratic. */
static const double PRUNED_POWER = 1.3;
static const double DRY_BUDGET_S = 2, ANNOUNCE_BUDGET_S = 0.3, LEAST_BUDGET_S = 4, LONG_S = 10;
/* Shorter runs are repeated. */
static const double SHORT_S = 0.02;

typedef struct estimate {
    int64_t n_items, tau, n_sampled;
    double n_pairs, bytes; /* peak memory in bytes */
    bool known;            /* the time is known */
    estimate_range seconds;
    bound_trial trial;
    ddsc_pair_stats used; /* statistics of the largest sample: bandwidth, epsilon */
} estimate;

static double matrix_bytes(const session *s, double n)
{
    if (strcmp(s->verb->name, "distance") != 0)
        return 0;
    return 8 * n * n / (s->opt.condensed ? 2 : 1);
}

/* ---- running the computation on a few items ---- */

static ddsc_status do_distance(ddsc_context *ctx, const session *s, const ddsc_measures *some,
                               int64_t n, ddsc_pair_stats *stats)
{
    double *matrix = cli_allocate((size_t)(n * n), sizeof *matrix);
    ddsc_status status = ddsc_distance_run(ctx, matrix, stats, some, &s->set.metric,
                                           s->opt.squared ? DDSC_DISTANCE_SQUARED : 0);
    free(matrix);
    return status;
}

static ddsc_status do_neighbors(ddsc_context *ctx, const session *s, const ddsc_measures *some,
                                const ddsc_graph_settings *graph, ddsc_pair_stats *stats)
{
    ddsc_graph *made = NULL;
    ddsc_status status = ddsc_neighbors_run(ctx, &made, stats, some, &s->set.metric, graph);
    ddsc_graph_destroy(made);
    return status;
}

static ddsc_status do_cluster(ddsc_context *ctx, const session *s, const ddsc_measures *some,
                              int64_t n, const ddsc_graph_settings *graph, ddsc_pair_stats *stats)
{
    ddsc_cluster_settings set = s->set.cluster;
    ddsc_clustering *made = NULL;
    ddsc_clustering_view view;
    set.graph = graph;
    set.k_max = set.k_max > n / 2 ? n / 2 : set.k_max;
    set.k_min = set.k_min > set.k_max ? set.k_max : set.k_min;
    ddsc_status status = ddsc_cluster_run(ctx, &made, some, &set);
    ddsc_clustering_get_view(made, &view);
    *stats = *view.pairs;
    ddsc_clustering_destroy(made);
    return status;
}

static ddsc_status do_some(ddsc_context *ctx, const session *s, const ddsc_measures *some,
                           int64_t n, int64_t tau, ddsc_pair_stats *stats)
{
    ddsc_graph_settings graph = s->set.graph;
    graph.tau = tau;
    ddsc_pair_stats_init(stats);
    if (strcmp(s->verb->name, "distance") == 0 || s->verb == &verb_test)
        return do_distance(ctx, s, some, n, stats);
    if (strcmp(s->verb->name, "neighbors") == 0)
        return do_neighbors(ctx, s, some, &graph, stats);
    return do_cluster(ctx, s, some, n, &graph, stats);
}

/* ---- samples ---- */

double estimate_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ddsc_measures *estimate_items(ddsc_context *ctx, const cli_input *in, int64_t n)
{
    int64_t *items = cli_allocate((size_t)n, sizeof *items);
    ddsc_measures *some = NULL;
    for (int64_t k = 0; k < n; k++)
        items[k] = (int64_t)((double)k * (double)in->view.n_items / (double)n);
    if (ddsc_measures_copy_subset(ctx, &some, in->measures, n, items) < 0)
        some = NULL;
    free(items);
    return some;
}

/* Measures one sample and returns the shortest time of a few repetitions, because interference only
 * makes a run slower. */
static bool take_sample(ddsc_context *ctx, const session *s, const cli_input *in, int64_t tau,
                        estimate_sample *out, ddsc_pair_stats *stats)
{
    ddsc_measures *some = estimate_items(ctx, in, out->n);
    bool good = some != NULL;
    for (int k = 0; k < TRIES && good && (k == 0 || out->cpu < SHORT_S); k++) {
        double cpu = estimate_cpu(), wall = cli_now();
        good = do_some(ctx, s, some, out->n, tau, stats) >= 0;
        cpu = estimate_cpu() - cpu;
        wall = cli_now() - wall;
        out->cpu = k == 0 || cpu < out->cpu ? cpu : out->cpu;
        out->wall = k == 0 || wall < out->wall ? wall : out->wall;
    }
    out->bytes = (double)ddsc_context_get_peak_memory(ctx);
    ddsc_measures_destroy(some);
    return good;
}

/* Extrapolates from the samples to all items. */
static void extrapolate(estimate *e, const session *s, const estimate_sample *sample, int n_samples)
{
    const estimate_sample *b = &sample[n_samples - 1], *a = n_samples > 1 ? b - 1 : NULL;
    double n = (double)e->n_items, slope = b->bytes / (double)b->n, runs = 1.0;
    if (a)
        slope = fmax(0, (b->bytes - a->bytes) / (double)(b->n - a->n));
    runs += (double)s->opt.stability;
    e->n_sampled = b->n;
    e->known =
        estimate_fit(&e->seconds, sample, n_samples, n, e->used.n_bounds > 0 ? PRUNED_POWER : 2,
                     ddsc_context_get_threads(s->ctx));
    if (e->trial.known) {
        e->known = true;
        estimate_from_trial(&e->seconds, &e->trial.cost, n, estimate_power(&e->trial, PRUNED_POWER),
                            ddsc_context_get_threads(s->ctx));
    }
    e->seconds = (estimate_range){e->seconds.low * runs, e->seconds.high * runs};
    e->bytes = PROGRAM_BYTES + b->bytes + slope * (n - (double)b->n) + matrix_bytes(s, n) +
               (double)ddsc_context_get_peak_memory(s->ctx);
}

static bool estimate_make(estimate *e, session *s, const cli_input *in, double budget)
{
    int64_t n = in->view.n_items;
    estimate_sample sample[MOST_SAMPLES];
    int n_samples = 0;
    *e = (estimate){.n_items = n, .n_pairs = 0.5 * (double)n * (double)(n - 1)};
    e->tau = ddsc_measures_get_tau(in->measures, &s->set.graph);
    ddsc_context *ctx = session_quiet_context(s);
    double began = estimate_cpu(), threads = ddsc_context_get_threads(s->ctx);
    bool good = ctx != NULL && n >= 2;
    for (int64_t m = FIRST_ITEMS; good && n_samples < MOST_SAMPLES; m *= 2) {
        estimate_sample *now = &sample[n_samples++];
        *now = (estimate_sample){.n = m < n ? m : n};
        good = take_sample(ctx, s, in, e->tau, now, &e->used);
        double least = n_samples < 2 ? LEAST_BUDGET_S : budget; /* an extrapolation needs at least
                                                                 * two sizes */
        if (now->n == n || (estimate_cpu() - began + 4 * now->cpu) / threads > least)
            break;
    }
    if (good)
        estimate_bounds(&e->trial, ctx, s, in, e->tau, &sample[n_samples - 1]);
    if (good)
        extrapolate(e, s, sample, n_samples);
    ddsc_context_destroy(ctx);
    return good;
}

/* ---- reporting ---- */

/* Adds a rounded duration such as "3 s", "25 min", "7 h" or "4 days". */
static void add_duration(text *t, double seconds)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{172800, 86400, "days"}, {7200, 3600, "h"}, {120, 60, "min"}, {1, 1, "s"}};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (seconds >= units[k].from) {
            text_addf(t, "%.0f %s", seconds / units[k].unit, units[k].name);
            return;
        }
    text_add(t, "less than 1 s");
}

static void add_cost(text *t, const session *s, const estimate *e)
{
    text low = {0}, high = {0};
    add_duration(&low, e->seconds.low);
    add_duration(&high, e->seconds.high);
    if (!e->known)
        text_add(t, "an unknown time, because there are too few items for an estimate");
    else if (strcmp(text_get(&low), text_get(&high)) == 0)
        text_add(t, text_get(&low));
    else
        text_addf(t, "%s to %s", text_get(&low), text_get(&high));
    text_free(&low);
    text_free(&high);
    text_add(t, " and ");
    text_add_size(t, e->bytes);
    text_addf(t, " with %d threads (from %" PRId64 " items)", ddsc_context_get_threads(s->ctx),
              e->n_sampled);
}

void estimate_announce(session *s, const cli_input *in)
{
    estimate e;
    text t = {0};
    if (s->team || !progress_watched(s->progress) || session_resumes(s) ||
        !estimate_make(&e, s, in, ANNOUNCE_BUDGET_S) || !e.known || e.seconds.high < LONG_S)
        return;
    add_cost(&t, s, &e);
    progress_estimate(s->progress, text_get(&t), e.seconds.low, e.seconds.high, e.bytes,
                      s->opt.resume == NULL);
    text_free(&t);
    if (estimate_needs_alternatives(&e.trial, s, in, e.seconds.high)) {
        if (e.trial.known)
            text_addf(&t, "bounds exclude about %.0f%% of the pairs (from %" PRId64 " items). ",
                      100 * e.trial.skipped, e.trial.cost.n);
        text_add(&t, "Faster approximations: ");
        estimate_add_alternatives(&t, in);
        message_note(s, "advice: ", text_get(&t));
    }
    text_free(&t);
}

static void add_metric(text *t, const session *s, const ddsc_pair_stats *used)
{
    text_add(t, "  metric       ");
    metric_add_names(t, s);
    if (metric_used(s, DDSC_METRIC_SINKHORN))
        text_addf(t, ", epsilon about %.3g", used->epsilon);
    if (metric_used(s, DDSC_METRIC_MMD) && used->bandwidth > 0)
        text_addf(t, ", bandwidth about %.3g", used->bandwidth);
    if (metric_used(s, DDSC_METRIC_LOT))
        text_addf(t, ", reference of about %" PRId64 " points", used->reference_size);
    text_add(t, "\n");
}

static void add_input(text *t, const cli_input *in)
{
    text_add(t, "would read   ");
    text_add_count(t, in->view.n_items);
    text_add(t, " items of ");
    text_add_count(t, in->view.n_entries);
    text_addf(t, " points in %" PRId64 " dimension%s\n", in->view.dim,
              in->view.dim == 1 ? "" : "s");
}

static void add_graph(text *t, const session *s, const estimate *e)
{
    const ddsc_cluster_settings *c = &s->set.cluster;
    if (strcmp(s->verb->name, "distance") == 0)
        return;
    text_addf(t, "  graph        tau %" PRId64 "%s", e->tau, s->set.graph.tau ? "" : " (from N)");
    if (strcmp(s->verb->name, "cluster") == 0 && c->k_min == c->k_max && c->k_min > 0)
        text_addf(t, ", %" PRId64 " clusters", c->k_min);
    else if (strcmp(s->verb->name, "cluster") == 0)
        text_add(t, ", number of clusters chosen from the data");
    text_add(t, "\n");
}

static void add_plan(text *t, const session *s, const cli_input *in, const estimate *e)
{
    add_input(t, in);
    add_metric(t, s, &e->used);
    add_graph(t, s, e);
    text_add(t, "  pairs        ");
    text_add_count(t, (int64_t)e->n_pairs);
    if (e->trial.known)
        text_addf(t, ", about %.0f%% of which bounds can skip (from %" PRId64 " items)",
                  100 * e->trial.skipped, e->trial.cost.n);
    text_add(t, "\n  about        ");
    add_cost(t, s, e);
    text_add(t, "\n");
    if (estimate_needs_alternatives(&e->trial, s, in, e->seconds.high)) {
        text_add(t, "  faster       ");
        estimate_add_alternatives(t, in);
        text_add(t, " (approximations)\n");
    }
    if (!output_is_stdout(s->opt.output))
        text_addf(t, "  results      %s\n", s->opt.output);
    if (session_resumes(s))
        text_addf(t, "  resume       %s contains an unfinished run\n", s->opt.resume);
}

static json_t *plan_json(const session *s, const cli_input *in, const estimate *e)
{
    ddsc_pair_stats none;
    ddsc_pair_stats_init(&none);
    ddsc_report_source from = json_source(s, &none);
    json_t *root = json_object(), *told = json_run(s, &from);
    json_put_bool(root, "dry_run", true);
    json_put_text(root, "verb", s->verb->name);
    json_put_count(root, "n", in->view.n_rows);
    json_put_count(root, "items", in->view.n_items);
    json_put_count(root, "points", in->view.n_entries);
    json_put_count(root, "dim", in->view.dim);
    json_take(root, told, "settings");
    json_decref(told);
    if (strcmp(s->verb->name, "distance") != 0)
        json_put_count(root, "tau", e->tau);
    json_put_count(root, "pairs", (int64_t)e->n_pairs);
    json_put_real(root, "seconds", e->known ? sqrt(e->seconds.low * e->seconds.high) : NAN);
    json_put_real(root, "seconds_low", e->known ? e->seconds.low : NAN);
    json_put_real(root, "seconds_high", e->known ? e->seconds.high : NAN);
    json_put_real(root, "bytes", e->bytes);
    json_put_count(root, "sampled", e->n_sampled);
    if (e->trial.known) {
        json_put_real(root, "bounds_skip", e->trial.skipped);
        json_put_count(root, "bounds_sampled", e->trial.cost.n);
    }
    if (estimate_needs_alternatives(&e->trial, s, in, e->seconds.high)) {
        text t = {0};
        estimate_add_alternatives(&t, in);
        json_put_text(root, "alternatives", text_get(&t));
        text_free(&t);
    }
    json_put_count(root, "threads", ddsc_context_get_threads(s->ctx));
    json_put_bool(root, "resumes", session_resumes(s));
    return root;
}

static int print_plan(session *s, const cli_input *in)
{
    estimate e;
    text t = {0};
    int code = EXIT_GOOD;
    if (!estimate_make(&e, s, in, DRY_BUDGET_S)) {
        if (session_interrupted()) {
            session_say_interrupted(s);
            return EXIT_INTERRUPTED;
        }
        message_warning(s, "time and memory are unknown, because the trial run failed");
    }
    if (s->opt.json) {
        json_print(s, plan_json(s, in, &e), &code);
    } else {
        add_plan(&t, s, in, &e);
        output_text(s, &t, NULL, false, &code);
    }
    text_free(&t);
    return code;
}

/* Reports the plan for precomputed distances or plain vectors, which need little time. */
static int print_simple(session *s, int64_t n)
{
    text t = {0};
    int code = EXIT_GOOD;
    json_t *root = json_object();
    json_put_bool(root, "dry_run", true);
    json_put_text(root, "verb", s->verb->name);
    json_put_count(root, "n", n);
    json_put_count(root, "pairs", 0);
    if (s->opt.json) {
        json_print(s, root, &code);
    } else {
        json_decref(root);
        text_add(&t, "would read   ");
        text_add_count(&t, n);
        text_add(&t,
                 s->opt.precomputed ? " items, precomputed distances\n" : " items as vectors\n");
        output_text(s, &t, NULL, false, &code);
    }
    text_free(&t);
    return code;
}

static bool check_k(const session *s, int64_t n, int *code)
{
    if (strcmp(s->verb->name, "cluster") != 0 || s->set.cluster.k_max <= n)
        return true;
    message_error("%" PRId64 " clusters were requested, but the number of items is %" PRId64,
                  s->set.cluster.k_max, n);
    *code = EXIT_USAGE;
    return false;
}

int estimate_dry_run(session *s)
{
    int code = EXIT_GOOD;
    cli_input in = {0};
    double *matrix = NULL;
    int64_t n = 0;
    if (s->opt.precomputed) {
        if (input_matrix(s, &matrix, &n, &code) && check_k(s, n, &code))
            code = print_simple(s, n);
        ddsc_release(s->ctx, matrix);
        return code;
    }
    if (!input_open(s, &in, &code))
        return code;
    if (check_k(s, in.view.n_items, &code))
        code = s->opt.method == METHOD_DDSC ? print_plan(s, &in) : print_simple(s, in.view.n_items);
    input_close(&in);
    return code;
}
