/* Times the exact solver on the problems in a file written by exact.py. For each problem, prints
 * the thread CPU seconds (shortest of five batches of REPEATS solves), the value, the gap and the
 * number of pivots, first for a cost matrix and then for points.
 *
 *   exact_solver PROBLEMS REPEATS */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "distance/exact/exact.h"

typedef struct problem {
    int64_t n, m, d;
    double *a, *b, *x, *y, *cost;
} problem;

static void fail(const char *why)
{
    fprintf(stderr, "exact_solver: %s\n", why);
    exit(1);
}

static double *read_doubles(FILE *in, int64_t count)
{
    double *out = malloc((size_t)BASE_MAX(count, 1) * sizeof *out);
    if (!out || fread(out, sizeof *out, (size_t)count, in) != (size_t)count)
        fail("cannot read the problems");
    return out;
}

static problem read_problem(FILE *in)
{
    problem p;
    if (fread(&p, sizeof(int64_t), 3, in) != 3)
        fail("cannot read the problems");
    p.a = read_doubles(in, p.n);
    p.b = read_doubles(in, p.m);
    p.x = read_doubles(in, p.n * p.d);
    p.y = read_doubles(in, p.m * p.d);
    p.cost = malloc((size_t)(p.n * p.m) * sizeof *p.cost);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t j = 0; j < p.m; j++) {
            double sum = 0;
            for (int64_t k = 0; k < p.d; k++) {
                double t = p.x[i * p.d + k] - p.y[j * p.d + k];
                sum += t * t;
            }
            p.cost[i * p.m + j] = sum;
        }
    return p;
}

static measures *cloud(ddsc_context *ctx, int64_t n, int64_t d, const double *x, const double *w)
{
    int64_t offset[2] = {0, n};
    measures *out = NULL;
    if (ddsc_measures_create_clouds(ctx, &out, 1, d, x, w, offset, DDSC_EMPTY_ERROR) != DDSC_OK)
        fail(ddsc_context_get_message(ctx));
    return out;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const char *name, double seconds, const exact_result *r)
{
    printf("%s %.9f %.17g %.3g %" PRId64 "\n", name, seconds, r->primal, r->gap, r->pivots);
}

typedef struct call {
    exact_solver *solver;
    const problem *p;      /* a cost matrix, */
    const measures *x, *y; /* or points */
} call;

static exact_result solve(const call *c)
{
    exact_result result = {0};
    exact_problem bare = {c->p->n, c->p->m, c->p->a, c->p->b, c->p->cost};
    ddsc_status status = c->x ? exact_solve_items(c->solver, &result, c->x, 0, c->y, 0, 0)
                              : exact_solve(c->solver, &result, &bare, 0);
    if (status != DDSC_OK)
        fail("not solved");
    return result;
}

/* Returns the shortest time of five batches, because other load on the machine only adds time. */
static void time_call(const char *name, const call *c, int repeats)
{
    double best = 1e300;
    exact_result result = solve(c);
    for (int batch = 0; batch < 5; batch++) {
        double start = cpu_seconds();
        for (int k = 0; k < repeats; k++)
            result = solve(c);
        double seconds = (cpu_seconds() - start) / repeats;
        best = seconds < best ? seconds : best;
    }
    report(name, best, &result);
}

int main(int argc, char **argv)
{
    ddsc_context *ctx = NULL;
    exact_solver *solver = NULL;
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL;
    int64_t count = 0;
    if (!in || fread(&count, sizeof count, 1, in) != 1)
        fail("usage: exact_solver PROBLEMS REPEATS cost|items");
    if (ddsc_context_create(&ctx, NULL) || exact_create(ctx, &solver))
        fail("out of memory");
    for (int64_t k = 0; k < count; k++) {
        problem p = read_problem(in);
        call c = {.solver = solver, .p = &p};
        measures *x = cloud(ctx, p.n, p.d, p.x, p.a), *y = cloud(ctx, p.m, p.d, p.y, p.b);
        if (strcmp(argv[3], "items") == 0) {
            c.x = x;
            c.y = y;
        }
        time_call(argv[3], &c, atoi(argv[2]));
        ddsc_measures_destroy(x);
        ddsc_measures_destroy(y);
        free(p.a);
        free(p.b);
        free(p.x);
        free(p.y);
        free(p.cost);
    }
    exact_destroy(solver);
    ddsc_context_destroy(ctx);
    fclose(in);
    return 0;
}
