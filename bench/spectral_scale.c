/* Times eigenvectors and k-means on a synthetic neighbor graph: N items in K clusters. The
 * items of a cluster are on a line; each has tau neighbors, most of them nearby.
 *
 *   bench_spectral_scale N [K [tau [threads [parts [device]]]]]
 *
 * Prints N, the seconds of both stages, CPU seconds, peak MB, the residual, whether the
 * eigenvectors were verified, and the ARI. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "numeric/graph/graph.h"

/* tests/mpi/spectral.c runs the same function on ranks. */
int bench_spectral(int argc, char **argv, const ddsc_team *team);

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Draws a neighbor. One neighbor in two hundred is a random item, and the others belong to the same
 * cluster. With several parts, each cluster is a connected component, and the few random neighbors
 * belong to another part of the cluster. */
static int64_t draw_neighbor(rng *r, int64_t i, int64_t n, int64_t k, int64_t parts)
{
    int64_t size = n / k, group = i % k, part = i / k % parts;
    if (parts > 1) {
        if (rng_below(r, 200) == 0)
            part = rng_below(r, parts);
        return group + k * (part + parts * rng_below(r, size / parts));
    }
    if (rng_below(r, 200) == 0)
        return rng_below(r, n);
    return group + k * rng_below(r, size);
}

static ddsc_graph *make_graph(ddsc_context *ctx, int64_t n, int64_t k, int64_t tau, int64_t parts)
{
    ddsc_graph *graph = NULL;
    if (graph_create(ctx, &graph, n, tau) < 0)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        rng r = rng_make(1, RNG_GAUSSIANS, (uint64_t)i);
        int64_t at = i * tau, count = 0;
        while (count < tau) {
            int64_t other = draw_neighbor(&r, i, n, k, parts), t = 0;
            while (t < count && graph->index[at + t] != other)
                t++;
            if (other == i || t < count)
                continue;
            graph->index[at + count] = (int32_t)other;
            graph->d2[at + count] = 1 + 0.05 * (double)count;
            count++;
        }
        graph->offset[i + 1] = at + tau;
    }
    return graph;
}

int bench_spectral(int argc, char **argv, const ddsc_team *team)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 70000, k = argc > 2 ? atoll(argv[2]) : 10;
    int64_t tau = argc > 3 ? atoll(argv[3]) : 17;
    ddsc_context_settings context_set;
    ddsc_cluster_settings set;
    ddsc_context *ctx = NULL;
    ddsc_clustering *found = NULL;
    ddsc_clustering_view view;
    ddsc_scores scores = {.struct_size = sizeof scores};
    ddsc_context_settings_init(&context_set);
    context_set.threads = argc > 4 ? atoi(argv[4]) : 0;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = k;
    if (ddsc_context_create(&ctx, &context_set) < 0 || ddsc_context_set_team(ctx, team) < 0 ||
        (argc > 6 && ddsc_context_set_device(ctx, argv[6]) < 0))
        return 1;
    ddsc_graph *graph = make_graph(ctx, n, k, tau, argc > 5 ? atoll(argv[5]) : 1);
    int32_t *truth = malloc((size_t)n * sizeof *truth);
    double began = cpu_seconds();
    if (!graph || !truth || ddsc_spectral_run(ctx, &found, graph, &set) < 0) {
        fprintf(stderr, "%s\n", ddsc_context_get_message(ctx));
        return 1;
    }
    double cpu = cpu_seconds() - began;
    ddsc_clustering_get_view(found, &view);
    for (int64_t i = 0; i < n; i++)
        truth[i] = (int32_t)(i % k);
    if (ddsc_scores_run(ctx, &scores, n, view.labels, truth) < 0)
        return 1;
    if (!team || team->rank == 0)
        printf("%lld %.3f %.3f %.3f %.1f %.2e %d %.6f\n", (long long)n, view.seconds_eigen,
               view.seconds_kmeans, cpu, (double)ddsc_context_get_peak_memory(ctx) / 1e6,
               view.max_residual, view.verified, scores.ari);
    free(truth);
    ddsc_clustering_destroy(found);
    ddsc_graph_destroy(graph);
    ddsc_context_destroy(ctx);
    return 0;
}

#ifndef DDSC_BENCH_RANKS
int main(int argc, char **argv)
{
    return bench_spectral(argc, argv, NULL);
}
#endif
