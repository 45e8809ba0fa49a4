/* Times repeated searches for the neighbor graph of a set with one metric:
 *
 *   bench_kernels FILE w2|sinkhorn|mmd|lot TAU REPEATS THREADS
 *
 * Prints the best CPU and wall seconds of the distance stage, without reading, and the peak
 * memory in MB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ddsc/ddsc.h"

static double seconds_on(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ddsc_metric metric_named(const char *name)
{
    static const char *const names[] = {"w2", "sinkhorn", "mmd", "lot"};
    for (int k = 0; k < 4; k++)
        if (strcmp(name, names[k]) == 0)
            return (ddsc_metric)k;
    fprintf(stderr, "no metric '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    ddsc_context_settings context_set;
    ddsc_metric_settings metric;
    ddsc_graph_settings graph_set;
    ddsc_context *ctx = NULL;
    ddsc_measures *data = NULL;
    double cpu = 1e300, wall = 1e300;
    if (argc != 6)
        return 2;
    ddsc_context_settings_init(&context_set);
    context_set.threads = atoi(argv[5]);
    ddsc_metric_settings_init(&metric);
    metric.metric = metric_named(argv[2]);
    ddsc_graph_settings_init(&graph_set);
    graph_set.tau = atoll(argv[3]);
    if (ddsc_context_create(&ctx, &context_set) < 0 ||
        ddsc_measures_read(ctx, &data, argv[1], NULL) < 0) {
        fprintf(stderr, "%s\n", ddsc_context_get_message(ctx));
        return 1;
    }
    for (int r = 0; r < atoi(argv[4]); r++) {
        ddsc_graph *graph = NULL;
        double c = seconds_on(CLOCK_PROCESS_CPUTIME_ID), w = seconds_on(CLOCK_MONOTONIC);
        if (ddsc_neighbors_run(ctx, &graph, NULL, data, &metric, &graph_set) < 0)
            return 1;
        c = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - c;
        w = seconds_on(CLOCK_MONOTONIC) - w;
        cpu = c < cpu ? c : cpu;
        wall = w < wall ? w : wall;
        ddsc_graph_destroy(graph);
    }
    printf("%.6f %.6f %.1f\n", cpu, wall, (double)ddsc_context_get_peak_memory(ctx) / 1e6);
    ddsc_measures_destroy(data);
    ddsc_context_destroy(ctx);
    return 0;
}
