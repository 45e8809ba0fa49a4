/* Estimates the time of a run on P ranks. The actual code runs on P virtual ranks in one process
 * (tests/support/virtual_team.h), with one thread per rank.
 *
 *   bench_ranks [-s SLOTS] [-m EACH] FILE METRIC N TAU P...
 *
 * The model is T(P) = sum over steps of (largest CPU time of a rank + latency log2 P + bytes of the
 * busiest rank / bandwidth). The model is evaluated with 20 us and 10 GB/s, and with both values
 * ten times worse. It does not include contention, slow file systems or, with one slot, memory
 * bandwidth shared by ranks. Graphs are compared by their hash. bench/ranks.py measures real MPI
 * ranks.
 *
 * -s: number of ranks that compute at the same time, by default 1. A single rank then uses this
 * number of threads, and its time is the CPU time of all of them, because all cores are as busy as
 * with many ranks. -m: number of ranks per machine, which share tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "virtual_team.h"

typedef struct job {
    const char *file;
    ddsc_metric metric;
    int64_t n, tau;
    int threads;      /* per rank */
    ddsc_measures *m; /* one set per machine, which its ranks share */
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
    set.threads = j->threads;
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

static double process_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double model(const virtual_cost *c, int size, double worse)
{
    return c->path + worse * (20e-6 * log2(size) * (double)c->n_calls + c->bytes_path / 10e9);
}

static void run(job *j, int size, int slots)
{
    double before = process_seconds();
    j->threads = size == 1 ? slots : 1;
    virtual_team_run(size, rank_job, j, NULL);
    if (size == 1)
        j->cost.path = j->cost.work = process_seconds() - before;
    printf("%d %.3f %.3f %.3f %.3f %lld %.0f %.0f %lld %016llx\n", size, model(&j->cost, size, 1),
           model(&j->cost, size, 10), j->cost.path, j->cost.work, (long long)j->cost.n_calls,
           j->cost.bytes_path, j->cost.bytes, (long long)j->n_solved, (unsigned long long)j->hash);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"w2", "sinkhorn", "mmd", "lot"};
    static const ddsc_metric metrics[] = {DDSC_METRIC_W2, DDSC_METRIC_SINKHORN, DDSC_METRIC_MMD,
                                          DDSC_METRIC_LOT};
    ddsc_context *ctx;
    job j = {0};
    int slots = 1;
    for (int option; (option = getopt(argc, argv, "s:m:")) != -1;)
        if (option == 's')
            slots = atoi(optarg);
        else if (option == 'm')
            virtual_team_machines(atoi(optarg));
    argv += optind;
    if (argc - optind < 5 || slots < 1)
        fail("[-s SLOTS] [-m EACH] FILE METRIC N TAU P...");
    for (size_t k = 0; k < 4; k++)
        if (strcmp(argv[1], names[k]) == 0)
            j.metric = metrics[k];
    j.n = atoll(argv[2]);
    j.tau = atoll(argv[3]);
    virtual_team_slots(slots);
    if (ddsc_context_create(&ctx, NULL) < 0)
        fail("out of memory");
    j.m = read_items(ctx, argv[0], j.n);
    printf("ranks T_s T10_s path_s work_s calls busiest_bytes all_bytes solved hash\n");
    for (char **p = argv + 4; *p; p++)
        run(&j, atoi(*p), slots);
    ddsc_measures_destroy(j.m);
    ddsc_context_destroy(ctx);
    return 0;
}
