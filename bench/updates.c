/* Times inserts and removals in an index, and checks that its graph is byte-identical to a rebuilt one.
 *
 *   bench_updates ITEMS METRIC HUBS N_INSERTS N_REMOVALS N_CHECKS [TAU]
 *
 * The last N_INSERTS items of a random order are inserted one by one, and N_REMOVALS random items are
 * removed at random moments between them, one by one. HUBS is "off" or "on". At N_CHECKS random moments
 * and at the end, the graph is compared with that of a run over the same items with the settings of the
 * first run. Prints CPU times in ms, with one thread. Exits with 1 if a graph differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

typedef struct bench {
    ddsc_context *ctx;
    ddsc_measures *all;
    int64_t n_all, n, *item; /* items of the index */
    ddsc_model *model;
    ddsc_index *index;
    double rebuilds;
    int64_t n_rebuilds;
} bench;

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void need(const bench *b, ddsc_status status, const char *what)
{
    if (status >= 0)
        return;
    fprintf(stderr, "bench_updates: %s: %s\n", what, ddsc_context_get_message(b->ctx));
    exit(2);
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void print_times(const char *what, double *ms, int64_t n)
{
    double sum = 0;
    if (n == 0)
        return;
    for (int64_t k = 0; k < n; k++)
        sum += ms[k];
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    printf("%s %lld: median %.2f ms, mean %.2f ms, 90%% quantile %.2f ms, largest %.1f ms\n", what,
           (long long)n, ms[n / 2], sum / (double)n, ms[n * 9 / 10], ms[n - 1]);
}

static ddsc_metric metric_named(const char *name)
{
    static const char *const names[] = {[DDSC_METRIC_W2] = "w2",
                                        [DDSC_METRIC_SINKHORN] = "sinkhorn",
                                        [DDSC_METRIC_MMD] = "mmd",
                                        [DDSC_METRIC_LOT] = "lot",
                                        [DDSC_METRIC_W1] = "w1"};
    for (int m = 0; m <= DDSC_METRIC_W1; m++)
        if (strcmp(names[m], name) == 0)
            return (ddsc_metric)m;
    fprintf(stderr, "bench_updates: unknown metric %s\n", name);
    exit(2);
}

/* Clusters the items of the index. Returns the CPU time of the call. */
static double cluster(bench *b, ddsc_clustering **out, const ddsc_cluster_settings *set,
                      ddsc_measures **items)
{
    need(b, ddsc_measures_copy_subset(b->ctx, items, b->all, b->n, b->item), "subset");
    double start = cpu_ms();
    need(b, ddsc_cluster_run(b->ctx, out, *items, set), "cluster");
    return cpu_ms() - start;
}

static void open_index(bench *b, const char *metric, const char *hubs, int64_t tau)
{
    ddsc_cluster_settings set;
    ddsc_metric_settings how;
    ddsc_graph_settings graph;
    ddsc_clustering *first = NULL;
    ddsc_measures *items = NULL;
    ddsc_cluster_settings_init(&set);
    ddsc_metric_settings_init(&how);
    ddsc_graph_settings_init(&graph);
    how.metric = metric_named(metric);
    graph.hubs = strcmp(hubs, "on") == 0 ? DDSC_HUBS_ALWAYS : DDSC_HUBS_OFF;
    graph.tau = tau;
    set.metric = &how;
    set.graph = &graph;
    set.k_min = set.k_max = 10;
    double run = cluster(b, &first, &set, &items);
    need(b, ddsc_model_create(b->ctx, &b->model, items, first, &set), "model");
    double start = cpu_ms();
    need(b, ddsc_index_open(b->ctx, &b->index, b->model), "index");
    printf("%s, hub rule %s, %lld items: first run %.0f ms, open %.0f ms\n", metric, hubs,
           (long long)b->n, run, cpu_ms() - start);
    ddsc_clustering_destroy(first);
    ddsc_measures_destroy(items);
}

static void check(bench *b)
{
    ddsc_cluster_settings set;
    ddsc_clustering *whole = NULL;
    ddsc_clustering_view c;
    ddsc_graph_view x, y;
    ddsc_measures *items = NULL;
    ddsc_graph *graph = NULL;
    ddsc_cluster_settings_init(&set);
    set.like = b->model;
    double start = cpu_ms();
    need(b, ddsc_index_create_graph(b->ctx, &graph, b->index), "graph");
    double taken = cpu_ms() - start, run = cluster(b, &whole, &set, &items);
    ddsc_clustering_get_view(whole, &c);
    ddsc_graph_get_view(c.graph, &x);
    ddsc_graph_get_view(graph, &y);
    bool same = x.n == y.n && x.n_edges == y.n_edges &&
                memcmp(x.offset, y.offset, (size_t)(x.n + 1) * sizeof *x.offset) == 0 &&
                memcmp(x.index, y.index, (size_t)x.n_edges * sizeof *x.index) == 0 &&
                memcmp(x.d2, y.d2, (size_t)x.n_edges * sizeof *x.d2) == 0;
    printf("%lld items: graph taken in %.0f ms, rebuild %.0f ms: %s\n", (long long)b->n, taken, run,
           same ? "same bytes" : "DIFFERENT");
    fflush(stdout);
    b->rebuilds += run;
    b->n_rebuilds++;
    ddsc_graph_destroy(graph);
    ddsc_clustering_destroy(whole);
    ddsc_measures_destroy(items);
    if (!same)
        exit(1);
}

static double insert(bench *b, int64_t item)
{
    ddsc_measures *one = NULL;
    need(b, ddsc_measures_copy_subset(b->ctx, &one, b->all, 1, &item), "item");
    double start = cpu_ms();
    need(b, ddsc_index_update(b->ctx, b->index, one, 0, NULL), "insert");
    double ms = cpu_ms() - start;
    b->item[b->n++] = item;
    ddsc_measures_destroy(one);
    return ms;
}

static double take_out(bench *b, int64_t at)
{
    double start = cpu_ms();
    need(b, ddsc_index_update(b->ctx, b->index, NULL, 1, &at), "remove");
    double ms = cpu_ms() - start;
    memmove(b->item + at, b->item + at + 1, (size_t)(--b->n - at) * sizeof *b->item);
    return ms;
}

int main(int argc, char **argv)
{
    bench b = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    ddsc_measures_view view;
    if (argc < 7)
        return 2;
    int64_t n_in = atoll(argv[4]), n_out = atoll(argv[5]), n_checks = atoll(argv[6]);
    ddsc_context_settings one;
    ddsc_context_settings_init(&one);
    one.threads = 1;
    if (ddsc_context_create(&b.ctx, &one) < 0)
        return 2;
    need(&b, ddsc_measures_read(b.ctx, &b.all, argv[1], NULL), argv[1]);
    ddsc_measures_get_view(b.all, &view);
    b.n_all = view.n_items;
    int64_t *order = malloc((size_t)b.n_all * sizeof *order), steps = n_in + n_out, in = 0, out = 0;
    double *ins = malloc((size_t)(n_in + 1) * sizeof *ins),
           *outs = malloc((size_t)(n_out + 1) * sizeof *outs);
    b.item = malloc((size_t)b.n_all * sizeof *b.item);
    if (!order || !ins || !outs || !b.item)
        return 2;
    rng r = rng_make(1, RNG_SUBSET, 7);
    for (int64_t i = 0; i < b.n_all; i++) {
        int64_t at = rng_below(&r, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    b.n = b.n_all - n_in;
    memcpy(b.item, order, (size_t)b.n * sizeof *order);
    open_index(&b, argv[2], argv[3], argc > 7 ? atoll(argv[7]) : 0);
    int64_t left = n_checks;
    for (int64_t step = 0; step < steps; step++) {
        bool inserts = rng_below(&r, steps - step) < n_in - in;
        if (inserts) {
            ins[in] = insert(&b, order[b.n_all - n_in + in]);
            in++;
        } else {
            outs[out++] = take_out(&b, rng_below(&r, b.n));
        }
        if (rng_below(&r, steps - step) < left) {
            left--;
            check(&b);
        }
    }
    check(&b);
    print_times("inserts", ins, in);
    print_times("removals", outs, out);
    printf("rebuilds %lld: mean %.0f ms\n", (long long)b.n_rebuilds,
           b.rebuilds / (double)b.n_rebuilds);
    ddsc_index_destroy(b.index);
    ddsc_model_destroy(b.model);
    ddsc_measures_destroy(b.all);
    ddsc_context_destroy(b.ctx);
    free(order);
    free(ins);
    free(outs);
    free(b.item);
    return 0;
}
