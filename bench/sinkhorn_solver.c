/* Times the entropic solver on the problems in a file written by sinkhorn.py. For each problem,
 * prints the thread CPU seconds, both values, the marginal error and the number of iterations.
 *
 *   sinkhorn_solver PROBLEMS REPEATS */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "distance/sinkhorn/sinkhorn.h"

static void fail(const char *why)
{
    fprintf(stderr, "sinkhorn_solver: %s\n", why);
    exit(1);
}

static double *read_doubles(FILE *in, int64_t count)
{
    double *out = malloc((size_t)BASE_MAX(count, 1) * sizeof *out);
    if (!out || fread(out, sizeof *out, (size_t)count, in) != (size_t)count)
        fail("cannot read the problems");
    return out;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads and times one problem: sizes, epsilon, weights and cost. */
static void run_problem(sinkhorn_solver *solver, FILE *in, int repeats)
{
    int64_t size[2];
    sinkhorn_problem p = {.rule = {.tolerance = 1e-9, .max_iterations = 100000, .sharp = true}};
    double *epsilon = &p.rule.epsilon;
    sinkhorn_result found = {0};
    if (fread(size, sizeof *size, 2, in) != 2 || fread(epsilon, sizeof *epsilon, 1, in) != 1)
        fail("cannot read the problems");
    double *a = read_doubles(in, size[0]), *b = read_doubles(in, size[1]);
    double *cost = read_doubles(in, size[0] * size[1]);
    p.n = size[0];
    p.m = p.cost_stride = size[1];
    p.a = a;
    p.b = b;
    p.cost = cost;
    double start = cpu_seconds();
    for (int k = 0; k < repeats; k++)
        if (sinkhorn_solve(solver, &found, &p) != DDSC_OK)
            fail("not converged");
    printf("%.9f %.17g %.17g %.3g %" PRId64 "\n", (cpu_seconds() - start) / repeats, found.sharp,
           found.regularized, found.marginal_error, found.iterations);
    free(a);
    free(b);
    free(cost);
}

int main(int argc, char **argv)
{
    ddsc_context *ctx = NULL;
    sinkhorn_solver *solver = NULL;
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    int64_t count = 0;
    if (!in || fread(&count, sizeof count, 1, in) != 1)
        fail("usage: sinkhorn_solver PROBLEMS REPEATS");
    if (ddsc_context_create(&ctx, NULL) || sinkhorn_create(ctx, &solver))
        fail("out of memory");
    for (int64_t k = 0; k < count; k++)
        run_problem(solver, in, atoi(argv[2]));
    sinkhorn_destroy(solver);
    ddsc_context_destroy(ctx);
    fclose(in);
    return 0;
}
