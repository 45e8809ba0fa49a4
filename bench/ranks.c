/* What a run over P ranks would take: the real code on P virtual ranks in one process (tests/support/
 * virtual_team.h), each with one thread, one after the other.
 *
 *     bench_ranks FILE METRIC N TAU P...
 *
 * T(P) = sum over steps of (largest CPU time of a rank + latency log2 P + bytes of the busiest rank / bandwidth).
 * It cannot see memory bandwidth shared by ranks, contention, or slow file systems. Graphs are compared with that of
 * one rank by their hash. bench/ranks.py measures ranks of MPI. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "virtual_team.h"

typedef struct job {
    const char *file;
    ddsc_metric metric;
    int64_t n, tau;
    ddsc_measures *m; /* one for all ranks: a machine's share */
    uint64_t hash;
    int64_t n_solved;
    virtual_cost cost;
} job;

static void fail(const char *what)
{
    fprintf(stderr, "bench_ranks: %s\n", what);
    exit(1);
}

static void rank_job(void *arg, const ddsc_team *team)
{
    job *j = arg;
    ddsc_context *ctx;
    ddsc_context_settings set;
    ddsc_graph_settings graph_set;
    ddsc_metric_settings metric_set;
    ddsc_pair_stats stats;
    ddsc_graph_view v;
    ddsc_graph *graph = NULL;
    virtual_cost before, after;
    ddsc_context_settings_init(&set);
    ddsc_graph_settings_init(&graph_set);
    ddsc_metric_settings_init(&metric_set);
    ddsc_pair_stats_init(&stats);
    set.threads = 1;
    graph_set.tau = j->tau;
    graph_set.neighbors = DDSC_NEIGHBORS_EXACT;
    metric_set.metric = j->metric;
    if (ddsc_context_create(&ctx, &set) < 0)
        fail("out of memory");
    ddsc_context_set_team(ctx, team);
    team->ready(team->state);
    virtual_team_cost(team, &before);
    if (ddsc_neighbors_run(ctx, &graph, &stats, j->m, &metric_set, &graph_set) < 0)
        fail(ddsc_context_get_message(ctx));
    team->ready(team->state);
    if (team->rank == 0) {
        virtual_team_cost(team, &after);
        j->cost = (virtual_cost){after.path - before.path, after.work - before.work,
                                 after.n_calls - before.n_calls,
                                 after.bytes_path - before.bytes_path, after.bytes - before.bytes};
        ddsc_graph_get_view(graph, &v);
        j->hash = hash_bytes(v.index, (size_t)v.n_edges * sizeof *v.index, 0);
        j->hash = hash_bytes(v.d2, (size_t)v.n_edges * sizeof *v.d2, j->hash);
        j->n_solved = stats.n_solved;
    }
    team->ready(team->state);
    ddsc_graph_destroy(graph);
    ddsc_context_destroy(ctx);
}

static ddsc_measures *read_items(ddsc_context *ctx, const char *file, int64_t n)
{
    ddsc_measures *all, *some;
    ddsc_measures_view view;
    if (ddsc_measures_read(ctx, &all, file, NULL) < 0)
        fail(ddsc_context_get_message(ctx));
    ddsc_measures_get_view(all, &view);
    if (n >= view.n_items)
        return all;
    int64_t *rows = calloc((size_t)n, sizeof *rows);
    for (int64_t i = 0; i < n; i++)
        rows[i] = i;
    if (ddsc_measures_copy_subset(ctx, &some, all, n, rows) < 0)
        fail(ddsc_context_get_message(ctx));
    free(rows);
    ddsc_measures_destroy(all);
    return some;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"w2", "sinkhorn", "mmd", "lot"};
    static const ddsc_metric metrics[] = {DDSC_METRIC_W2, DDSC_METRIC_SINKHORN, DDSC_METRIC_MMD,
                                          DDSC_METRIC_LOT};
    ddsc_context *ctx;
    job j = {0};
    if (argc < 6)
        fail("FILE METRIC N TAU P...");
    for (size_t k = 0; k < 4; k++)
        if (strcmp(argv[2], names[k]) == 0)
            j.metric = metrics[k];
    j.n = atoll(argv[3]);
    j.tau = atoll(argv[4]);
    virtual_team_slots(1);
    if (ddsc_context_create(&ctx, NULL) < 0)
        fail("out of memory");
    j.m = read_items(ctx, argv[1], j.n);
    printf("ranks path_s work_s calls busiest_bytes all_bytes solved hash\n");
    for (int k = 5; k < argc; k++) {
        virtual_team_run(atoi(argv[k]), rank_job, &j, NULL);
        printf("%s %.3f %.3f %lld %.0f %.0f %lld %016llx\n", argv[k], j.cost.path, j.cost.work,
               (long long)j.cost.n_calls, j.cost.bytes_path, j.cost.bytes, (long long)j.n_solved,
               (unsigned long long)j.hash);
        fflush(stdout);
    }
    ddsc_measures_destroy(j.m);
    ddsc_context_destroy(ctx);
    return 0;
}
