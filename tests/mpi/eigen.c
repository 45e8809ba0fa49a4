/* Compares the library's eigensolver with SLEPc's Krylov-Schur on the MMD graph of a set,
 * alternately, on one thread. build/tests/mpi_eigen FILE ROUNDS PAIRS... SLEPc receives the known
 * vector of the eigenvalue 1, which makes it correct on a connected graph, uses its own matrix
 * format and chooses its own subspace size. It does not verify that no eigenvalue was missed. CPU
 * seconds of the solves alone. bench/eigen.py runs it. */
#include <math.h>
#include <slepceps.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "numeric/eigen/eigen.h"

static const double TOLERANCE = 1e-9;

/* The operator of a graph and the known eigenvector. */
typedef struct problem {
    ddsc_context *ctx;
    sparse m;
    double *degree;
    int32_t *component;
    int64_t n_components;
    PetscInt *offset;
    Mat matrix;
    Vec known;
} problem;

typedef struct answer {
    double seconds, *value;
    int64_t n_products;
    bool good;
} answer;

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "mpi_eigen: %s\n", what);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Creates the operator as `ddsc cluster -m mmd` does. */
static void make_operator(problem *p, const char *file)
{
    ddsc_measures *set = NULL;
    ddsc_graph *graph = NULL;
    ddsc_metric_settings metric;
    ddsc_graph_settings near;
    affinity_settings how = {.rule = DDSC_GAMMA_AUTO};
    affinity_report report;
    sparse a = {0};
    ddsc_metric_settings_init(&metric);
    ddsc_graph_settings_init(&near);
    metric.metric = DDSC_METRIC_MMD;
    need(ddsc_measures_read(p->ctx, &set, file, NULL) >= 0 &&
             ddsc_neighbors_run(p->ctx, &graph, NULL, set, &metric, &near) >= 0 &&
             affinity_build(p->ctx, &a, &report, graph, &how) >= 0,
         ddsc_context_get_message(p->ctx));
    p->degree = malloc((size_t)a.n * sizeof *p->degree);
    p->component = malloc((size_t)a.n * sizeof *p->component);
    need(p->degree && p->component, "out of memory");
    need(operator_build(p->ctx, &p->m, p->degree, &a) >= 0 &&
             components_find(p->ctx, p->component, &p->n_components, a.n, graph->offset,
                             graph->index) >= 0,
         ddsc_context_get_message(p->ctx));
    need(p->n_components == 1, "the graph is not connected");
    sparse_free(p->ctx, &a);
    ddsc_graph_destroy(graph);
    ddsc_measures_destroy(set);
}

static void make_matrix(problem *p)
{
    PetscInt n = (PetscInt)p->m.n;
    PetscReal norm;
    p->offset = malloc((size_t)(n + 1) * sizeof *p->offset);
    need(p->offset != NULL, "out of memory");
    for (PetscInt i = 0; i <= n; i++)
        p->offset[i] = (PetscInt)p->m.offset[i];
    need(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, p->offset, p->m.column, p->m.value,
                                   &p->matrix) == 0 &&
             MatCreateVecs(p->matrix, &p->known, NULL) == 0,
         "PETSc made no matrix");
    for (PetscInt i = 0; i < n; i++)
        need(VecSetValue(p->known, i, sqrt(p->degree[i]), INSERT_VALUES) == 0, "no vector");
    need(VecNormalize(p->known, &norm) == 0, "no vector");
}

static void solve_ours(problem *p, answer *out, int64_t k)
{
    eigen_result r;
    eigen_settings set = {TOLERANCE, 20000, 0};
    double began = cpu_seconds();
    ddsc_status status =
        eigen_run(p->ctx, &r, &p->m, p->degree, p->component, p->n_components, k, &set);
    out->seconds = cpu_seconds() - began;
    need(status >= 0, ddsc_context_get_message(p->ctx));
    out->good = status == DDSC_OK && r.verified;
    out->n_products = r.n_products;
    for (int64_t j = 0; j < k; j++)
        out->value[j] = r.value[j];
    eigen_free(p->ctx, &r);
}

static void solve_theirs(problem *p, answer *out, int64_t k)
{
    EPS eps;
    PetscInt n = 0, steps = 0;
    double began = cpu_seconds();
    int failed = EPSCreate(PETSC_COMM_SELF, &eps) || EPSSetOperators(eps, p->matrix, NULL) ||
                 EPSSetProblemType(eps, EPS_HEP) || EPSSetType(eps, EPSKRYLOVSCHUR) ||
                 EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL) ||
                 EPSSetConvergenceTest(eps, EPS_CONV_ABS) ||
                 EPSSetTolerances(eps, TOLERANCE, 10000) ||
                 EPSSetDimensions(eps, (PetscInt)k - 1, PETSC_DEFAULT, PETSC_DEFAULT) ||
                 EPSSetDeflationSpace(eps, 1, &p->known) || EPSSetFromOptions(eps) || EPSSolve(eps);
    out->seconds = cpu_seconds() - began;
    need(!failed && EPSGetConverged(eps, &n) == 0 && EPSGetIterationNumber(eps, &steps) == 0,
         "SLEPc failed");
    out->good = n >= k - 1;
    out->n_products = steps;
    out->value[0] = 1;
    for (PetscInt j = 0; j + 1 < k && j < n; j++)
        EPSGetEigenvalue(eps, j, &out->value[j + 1], NULL);
    EPSDestroy(&eps);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the medians of alternating runs. Returns false if either solver is wrong. */
static bool race(problem *p, int64_t k, int rounds)
{
    double *ours = malloc((size_t)rounds * sizeof *ours),
           *theirs = malloc((size_t)rounds * sizeof *theirs), apart = 0;
    answer a = {.value = malloc((size_t)k * sizeof(double))},
           b = {.value = malloc((size_t)k * sizeof(double))};
    need(ours && theirs && a.value && b.value, "out of memory");
    bool good = true;
    for (int r = 0; r < rounds; r++) {
        solve_ours(p, &a, k);
        solve_theirs(p, &b, k);
        ours[r] = a.seconds;
        theirs[r] = b.seconds;
        good = good && a.good && b.good;
        for (int64_t j = 0; j < k; j++)
            apart = fmax(apart, fabs(a.value[j] - b.value[j]));
    }
    qsort(ours, (size_t)rounds, sizeof *ours, compare);
    qsort(theirs, (size_t)rounds, sizeof *theirs, compare);
    double x = ours[rounds / 2], y = theirs[rounds / 2];
    good = good && apart < 10 * TOLERANCE;
    printf("%7lld %5lld %8.3f (%.3f-%.3f) %8.3f (%.3f-%.3f) %6.2f %8lld %.1e %s\n",
           (long long)p->m.n, (long long)k, x, ours[0], ours[rounds - 1], y, theirs[0],
           theirs[rounds - 1], x / y, (long long)a.n_products, apart, good ? "right" : "WRONG");
    fflush(stdout);
    free(ours);
    free(theirs);
    free(a.value);
    free(b.value);
    return good;
}

int main(int argc, char **argv)
{
    problem p = {0};
    ddsc_context_settings set;
    int rounds = argc > 3 ? atoi(argv[2]) : 0;
    bool good = true;
    need(rounds > 0, "FILE ROUNDS PAIRS...");
    need(SlepcInitializeNoArguments() == 0, "SLEPc did not start");
    ddsc_context_settings_init(&set);
    set.threads = 1;
    need(ddsc_context_create(&p.ctx, &set) >= 0, "out of memory");
    make_operator(&p, argv[1]);
    make_matrix(&p);
    printf(
        "  items pairs ours: CPU s (from-to)   SLEPc: CPU s (from-to) ratio products difference\n");
    for (int k = 3; k < argc; k++)
        good = race(&p, atoll(argv[k]), rounds) && good;
    VecDestroy(&p.known);
    MatDestroy(&p.matrix);
    SlepcFinalize();
    free(p.offset);
    free(p.component);
    free(p.degree);
    sparse_free(p.ctx, &p.m);
    ddsc_context_destroy(p.ctx);
    return good ? 0 : 1;
}
