/* Implements ddsc_team.eigen with SLEPc: the largest eigenpairs of a symmetric operator that is
 * distributed over ranks.
 *
 * The solver is Krylov-Schur (Stewart 2001; Hernandez, Roman, Vidal 2005) with the known vectors
 * deflated. A Krylov method with one start vector finds only one vector of each eigenspace. In
 * tests, it reported convergence although it had found only 6 of 40 equal eigenvalues, or only
 * three of six copies for six identical components. Therefore all computed vectors are deflated as
 * well, and the solver restarts with a new random vector until its largest Ritz value is below all
 * computed eigenvalues. This check cannot be disabled. */
#include <math.h>
#include <stdlib.h>

#include <slepceps.h>

#include "team.h"

#ifdef PETSC_USE_COMPLEX
#error "this SLEPc was built for complex numbers; install libslepc-real-dev"
#endif

/* PETSc functions return 0 on success. */
#define GOOD(call)       \
    do {                 \
        if ((call) != 0) \
            return 1;    \
    } while (0)

enum { SPACE_MORE = 60, SPACE_PIECE = 300, LOOKS_MORE = 20, CLEAR_TIMES = 2, IDLE_MOST = 3 };
enum { LOOK_LEAST = 16 };

/* TIGHTER is the solver's tolerance relative to the requested one. ORTHOGONAL is the maximum inner
 * product of a new vector with the vectors found before. Deflated vectors are exact only up
 * to their residuals, which accumulate in the vectors computed afterwards, so the solver uses a
 * tighter tolerance. */
static const double TIGHTER = 0.1, ORTHOGONAL = 1e-6;

/* A random vector has a component of about 1/sqrt(n) in any direction. With a probability of about
 * SHARE, the component is less than SHARE / sqrt(n). */
static const double SHARE = 1e-8;

/* The state of one eigenvalue problem. */
typedef struct job {
    const ddsc_team_eigen *p;
    MPI_Comm comm;
    int rank;
    Mat rows;           /* the operator */
    double *all;        /* a whole vector, gathered from all ranks */
    int *count, *first; /* number of rows of each rank; first row */
    double lowest;      /* lower bound on all eigenvalues */
    Vec *vector;        /* known vectors, then computed vectors */
    double *lambda;     /* eigenvalues of the computed vectors */
    PetscInt n_known, n_found, capacity;
    int64_t n_products;
    PetscInt n_solves;
    double next;  /* largest Ritz value of the last round that had not converged */
    bool stopped; /* canceled on request */
} job;

/* ---- the operator ---- */

/* Multiplies by the operator. Rows stay on their ranks, and x is gathered on all ranks. A PETSc
 * matrix is not used, because it would be another copy of the operator, and the neighbors of a
 * rank's rows are not limited to a few ranks. */
static PetscErrorCode multiply(Mat shell, Vec x, Vec y)
{
    job *j = NULL;
    const double *in = NULL;
    double *out = NULL;
    GOOD(MatShellGetContext(shell, &j));
    const ddsc_team_eigen *p = j->p;
    GOOD(VecGetArrayRead(x, &in));
    GOOD(MPI_Allgatherv(in, j->count[j->rank], MPI_DOUBLE, j->all, j->count, j->first, MPI_DOUBLE,
                        j->comm));
    GOOD(VecRestoreArrayRead(x, &in));
    GOOD(VecGetArray(y, &out));
    GOOD(p->multiply(p->multiply_user, j->all, out));
    GOOD(VecRestoreArray(y, &out));
    j->n_products++;
    return 0;
}

/* Finds a lower bound on the eigenvalues. Excluded items have only a diagonal entry, and all
 * other eigenvalues are in [-1, 1]. */
static int find_lowest(job *j)
{
    const ddsc_team_eigen *p = j->p;
    double own = -1;
    for (int64_t i = 0; i < p->end - p->begin; i++)
        if (p->offset[i + 1] == p->offset[i] + 1)
            own = fmin(own, p->value[p->offset[i]]);
    return MPI_Allreduce(&own, &j->lowest, 1, MPI_DOUBLE, MPI_MIN, j->comm) != 0;
}

static int make_operator(job *j)
{
    PetscInt own = (PetscInt)(j->p->end - j->p->begin), n = (PetscInt)j->p->n;
    int size = 1, count = (int)own, first = (int)j->p->begin;
    GOOD(MPI_Comm_size(j->comm, &size));
    j->all = malloc((size_t)n * sizeof *j->all);
    j->count = malloc((size_t)size * sizeof *j->count);
    j->first = malloc((size_t)size * sizeof *j->first);
    if (!j->all || !j->count || !j->first)
        return 1;
    GOOD(MPI_Allgather(&count, 1, MPI_INT, j->count, 1, MPI_INT, j->comm));
    GOOD(MPI_Allgather(&first, 1, MPI_INT, j->first, 1, MPI_INT, j->comm));
    GOOD(MatCreateShell(j->comm, own, own, n, n, j, &j->rows));
    GOOD(MatShellSetOperation(j->rows, MATOP_MULT, (void (*)(void))multiply));
    return find_lowest(j);
}

/* ---- vectors ---- */

static int add_vector(job *j, Vec *out)
{
    PetscInt n = j->n_known + j->n_found;
    if (n == j->capacity) {
        j->capacity = 2 * n + 16;
        Vec *more = realloc(j->vector, (size_t)j->capacity * sizeof *more);
        if (!more)
            return 1;
        j->vector = more;
        double *values = realloc(j->lambda, (size_t)j->capacity * sizeof *values);
        if (!values)
            return 1;
        j->lambda = values;
    }
    GOOD(MatCreateVecs(j->rows, &j->vector[n], NULL));
    *out = j->vector[n];
    return 0;
}

static int add_known(job *j)
{
    const ddsc_team_eigen *p = j->p;
    for (int64_t c = 0; c < p->n_known; c++, j->n_known++) {
        Vec v;
        double *x;
        if (add_vector(j, &v))
            return 1;
        GOOD(VecGetArray(v, &x));
        for (int64_t i = 0; i < p->end - p->begin; i++)
            x[i] = p->known[i * p->n_known + c];
        GOOD(VecRestoreArray(v, &x));
    }
    return 0;
}

/* Moves the last pair to its position in descending order. */
static void sort_last(job *j)
{
    for (PetscInt k = j->n_found - 1; k > 0 && j->lambda[k] > j->lambda[k - 1]; k--) {
        Vec v = j->vector[j->n_known + k];
        double value = j->lambda[k];
        j->vector[j->n_known + k] = j->vector[j->n_known + k - 1];
        j->vector[j->n_known + k - 1] = v;
        j->lambda[k] = j->lambda[k - 1];
        j->lambda[k - 1] = value;
    }
}

/* ---- one solve ---- */

/* The state of a solve. A solve that only checks for missed pairs does not compute pairs, but shows
 * that all remaining eigenvalues are below the last requested one. */
typedef struct look {
    job *j;
    double below;        /* upper limit to prove, or -infinity */
    int64_t began;       /* number of products before the solve */
    bool met, pending;   /* true if this round has any Ritz value; true if one of them has not
                          * converged */
    double theta, bound; /* largest Ritz value; largest Ritz value plus its residual */
    int n_clear;
} look;

/* Returns the degree at which the Krylov space of a random vector has a Ritz value above theta
 * if there is an eigenvalue of at least `below`. Let T be the Chebyshev polynomial on [lowest,
 * theta] and w the squared component of that eigenvector. If w (below - theta) T(below)^2 >
 * theta - lowest, the Rayleigh quotient of T(M) x exceeds theta, whatever eigenvalues lie
 * between (see src/numeric/eigen/verify.c for blocks). */
static double degree_needed(const job *j, double theta, double below)
{
    double width = theta - j->lowest, gap = below - theta;
    double share = SHARE * SHARE / (double)j->p->n;
    if (!(gap > 0) || !(width > 0))
        return HUGE_VAL;
    return (log(2) + log(width / (share * gap)) / 2) / acosh(1 + 2 * gap / width);
}

/* Records the Ritz values of a round. SLEPc calls this function in descending order of the values,
 * at least up to the first value that has not converged. */
static PetscErrorCode watch(EPS eps, PetscScalar re, PetscScalar im, PetscReal residual,
                            PetscReal *error, void *arg)
{
    look *l = arg;
    (void)eps, (void)im;
    if (!l->met) {
        l->theta = re;
        l->bound = re + residual;
    }
    if (!l->pending && residual > TIGHTER * l->j->p->tolerance) {
        l->j->next = re;
        l->pending = true;
    }
    l->met = true;
    *error = residual;
    return 0;
}

/* Returns the degree that the Krylov space had before the first restart. Ritz values only increase
 * after a restart. Returns -1 if the user selected another method. */
static PetscErrorCode find_degree(EPS eps, const look *l, double *degree)
{
    ST st;
    PetscBool krylov, plain;
    PetscInt space = 0, piece = 0;
    int64_t products = l->j->n_products - l->began;
    GOOD(EPSGetST(eps, &st));
    GOOD(PetscObjectTypeCompare((PetscObject)eps, EPSKRYLOVSCHUR, &krylov));
    GOOD(PetscObjectTypeCompare((PetscObject)st, STSHIFT, &plain));
    GOOD(EPSGetDimensions(eps, NULL, &space, &piece));
    space = space < piece ? space : piece;
    *degree = krylov && plain ? (double)(products < space ? products : space) - 1 : -1;
    return 0;
}

/* Sets *clear if no larger eigenvalue remains. Either the degree proves this, or the Ritz values
 * have stayed below the limit in several consecutive rounds. */
static PetscErrorCode is_clear(EPS eps, look *l, bool *clear)
{
    double degree = -1;
    bool low = l->met && l->bound < l->below;
    GOOD(find_degree(eps, l, &degree));
    l->n_clear = low ? l->n_clear + 1 : 0;
    l->met = l->pending = false;
    *clear =
        l->n_clear >= CLEAR_TIMES || (low && degree >= degree_needed(l->j, l->theta, l->below));
    return 0;
}

/* Polls all ranks for cancellation, because they must leave a solve together. */
static PetscErrorCode ask_all(job *j)
{
    const ddsc_team_eigen *p = j->p;
    int own = p->cancel && p->cancel(p->cancel_user), any = 0;
    GOOD(MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, j->comm));
    j->stopped = any != 0;
    return 0;
}

/* Stopping test: stops if SLEPc's own test succeeds, if no larger eigenvalue remains, or if the
 * user canceled. Cancellation is checked in every round, because there may be many long rounds. */
static PetscErrorCode stop(EPS eps, PetscInt round, PetscInt most, PetscInt n_done, PetscInt wanted,
                           EPSConvergedReason *reason, void *arg)
{
    look *l = arg;
    const ddsc_team_eigen *p = l->j->p;
    bool clear = false;
    if (p->progress)
        p->progress(p->progress_user, l->j->n_found + n_done);
    GOOD(is_clear(eps, l, &clear));
    GOOD(EPSStoppingBasic(eps, round, most, n_done, wanted, reason, NULL));
    GOOD(ask_all(l->j));
    if (*reason == EPS_CONVERGED_ITERATING && (clear || l->j->stopped))
        *reason = EPS_CONVERGED_USER;
    return 0;
}

/* Chooses the size of the Krylov space. For a check, the size is estimated from the largest
 * unconverged Ritz value of the last solve. */
static PetscInt choose_space(const job *j, PetscInt wanted, double below)
{
    PetscInt dimension = (PetscInt)j->p->n - j->n_known - j->n_found;
    PetscInt space = wanted + SPACE_MORE > 3 * wanted ? wanted + SPACE_MORE : 3 * wanted;
    double needed = 2 + degree_needed(j, j->next + 0.1 * (below - j->next), below);
    if (needed < (double)space)
        space = needed > LOOK_LEAST ? (PetscInt)needed : LOOK_LEAST;
    return space < dimension ? space : dimension;
}

static int set_up(job *j, EPS eps, PetscInt wanted, look *l)
{
    BV basis;
    PetscRandom random;
    PetscInt n = (PetscInt)j->p->n, deflated = j->n_known + j->n_found;
    PetscInt space = choose_space(j, wanted, l->below);
    PetscInt most = (PetscInt)(j->p->max_products < 1000000 ? j->p->max_products : 1000000);
    GOOD(EPSSetOptionsPrefix(eps, "ddsc_"));
    GOOD(EPSSetOperators(eps, j->rows, NULL));
    GOOD(EPSSetProblemType(eps, EPS_HEP));
    GOOD(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
    GOOD(EPSSetType(eps, EPSKRYLOVSCHUR));
    GOOD(EPSSetTolerances(eps, TIGHTER * j->p->tolerance, most));
    GOOD(EPSSetDimensions(eps, wanted, space, space < SPACE_PIECE ? space : SPACE_PIECE));
    GOOD(EPSSetFromOptions(eps));
    /* If the user requests a larger space, the block size chosen above would not fit, so it is
     * increased. */
    PetscInt asked = 0, piece = 0;
    GOOD(EPSGetDimensions(eps, &wanted, &asked, &piece));
    if (asked > wanted + piece || asked > n - deflated) {
        asked = asked < n - deflated ? asked : n - deflated;
        GOOD(EPSSetDimensions(eps, wanted, asked, asked));
    }
    GOOD(EPSGetBV(eps, &basis));
    GOOD(BVGetRandomContext(basis, &random));
    /* Each rank has its own seed. With equal random numbers on all ranks, a vector would have no
     * component along differences between ranks. */
    GOOD(PetscRandomSetSeed(random,
                            1000003UL * (unsigned long)j->rank + (unsigned long)j->n_solves++));
    GOOD(PetscRandomSeed(random));
    if (deflated > 0)
        GOOD(EPSSetDeflationSpace(eps, deflated, j->vector));
    GOOD(EPSSetConvergenceTestFunction(eps, watch, l, NULL));
    GOOD(EPSSetStoppingTestFunction(eps, stop, l, NULL));
    return 0;
}

/* Checks that a pair has a small true residual and is orthogonal to all others. When a Krylov
 * space is exhausted because there are few distinct eigenvalues, SLEPc continues with rounding
 * errors and can report convergence incorrectly. */
static int is_sound(const job *j, EPS eps, PetscInt k, Vec v, bool *sound)
{
    PetscInt n = j->n_known + j->n_found;
    PetscReal error = 0;
    double *dot = malloc((size_t)(n + 1) * sizeof *dot);
    if (!dot)
        return 1;
    int failed = EPSComputeError(eps, k, EPS_ERROR_ABSOLUTE, &error) != 0 ||
                 (n > 0 && VecMDot(v, n, j->vector, dot) != 0);
    *sound = error <= j->p->tolerance;
    for (PetscInt i = 0; i < n && !failed; i++)
        *sound = *sound && fabs(dot[i]) < ORTHOGONAL;
    free(dot);
    return failed;
}

/* Keeps the sound pairs among the *n_above pairs that converged above `above`. */
static int take_pairs(job *j, EPS eps, double above, PetscInt *n_above)
{
    PetscInt n = 0;
    GOOD(EPSGetConverged(eps, &n));
    for (PetscInt k = 0; k < n; k++) {
        PetscScalar value = 0;
        Vec v;
        bool sound = false;
        GOOD(EPSGetEigenvalue(eps, k, &value, NULL));
        if (!(value > above))
            continue;
        ++*n_above;
        if (add_vector(j, &v) || EPSGetEigenvector(eps, k, v, NULL) != 0 ||
            is_sound(j, eps, k, v, &sound))
            return 1;
        if (sound) {
            j->lambda[j->n_found++] = value;
            sort_last(j);
        } else {
            GOOD(VecDestroy(&j->vector[j->n_known + j->n_found]));
        }
    }
    return 0;
}

/* Solves with all known and computed vectors deflated. *clean is set if the solve finished and
 * no eigenvalue above `above` remains. */
static int solve(job *j, PetscInt wanted, double above, bool *clean)
{
    EPS eps;
    EPSConvergedReason reason = EPS_DIVERGED_ITS;
    look l = {.j = j, .below = above, .began = j->n_products};
    PetscInt n_above = 0;
    GOOD(EPSCreate(j->comm, &eps));
    int failed = set_up(j, eps, wanted, &l) || EPSSolve(eps) != 0 ||
                 EPSGetConvergedReason(eps, &reason) != 0 || take_pairs(j, eps, above, &n_above);
    *clean = !failed && reason > 0 && n_above == 0;
    EPSDestroy(&eps);
    return failed;
}

/* ---- the whole ---- */

static int find(job *j, bool *verified)
{
    const ddsc_team_eigen *p = j->p;
    PetscInt wanted = (PetscInt)p->n_wanted;
    int64_t left = p->n - p->n_known; /* remaining dimensions */
    bool clean = false;
    int n_idle = 0;
    *verified = false;
    for (PetscInt round = 0; round <= wanted + LOOKS_MORE; round++) {
        PetscInt missing = wanted - j->n_found, before = j->n_found;
        bool full = missing <= 0;
        if (j->n_found >= left) { /* no dimensions remain to be searched */
            *verified = full;
            return 0;
        }
        if (solve(j, full ? 1 : missing, full ? j->lambda[wanted - 1] + p->tolerance : -HUGE_VAL,
                  &clean))
            return 1;
        if (j->stopped)
            return 0;
#ifdef DDSC_TEST_NO_SECOND_LOOK
        *verified = true;
        return 0;
#endif
        if (full && clean) {
            *verified = true;
            return 0;
        }
        n_idle = j->n_found == before ? n_idle + 1 : 0;
        if (n_idle == IDLE_MOST) /* further solves would not help */
            return 0;
    }
    return 0;
}

/* Copies the results. Missing eigenvalues become NaN. */
static int hand_over(const job *j, ddsc_team_eigen *p)
{
    for (int64_t c = 0; c < p->n_wanted; c++) {
        const double *x = NULL;
        bool there = c < j->n_found;
        p->lambda[c] = there ? j->lambda[c] : NAN;
        if (there)
            GOOD(VecGetArrayRead(j->vector[j->n_known + c], &x));
        for (int64_t i = 0; i < p->end - p->begin; i++)
            p->vector[i * p->n_wanted + c] = there ? x[i] : 0;
        if (there)
            GOOD(VecRestoreArrayRead(j->vector[j->n_known + c], &x));
    }
    return 0;
}

static void job_free(job *j)
{
    for (PetscInt k = 0; k < j->n_known + j->n_found; k++)
        VecDestroy(&j->vector[k]);
    MatDestroy(&j->rows);
    free(j->first);
    free(j->count);
    free(j->all);
    free(j->vector);
    free(j->lambda);
}

/* Returns false if the sizes exceed the 32-bit counts of MPI or the index type of PETSc. */
static bool fits_indices(const ddsc_team_eigen *p)
{
    const int64_t most = sizeof(PetscInt) == 8 ? INT64_MAX : INT32_MAX;
    int64_t own = p->end - p->begin, space = 3 * p->n_wanted + SPACE_MORE + p->n_known;
    return p->n < INT32_MAX && own < most / (space > 0 ? space : 1);
}

/* Initializes SLEPc, unless the caller has already initialized it. Options are read from
 * PETSC_OPTIONS, with the prefix ddsc_. PETSc is configured to install no signal handlers and to
 * print nothing. */
static int begin_slepc(mpi_state *m)
{
    PetscBool there = PETSC_FALSE;
    GOOD(SlepcInitialized(&there));
    if (there)
        return 0;
    GOOD(PetscInitialized(&there));
    if (!there) {
        PETSC_COMM_WORLD = m->comm;
        GOOD(PetscOptionsSetValue(NULL, "-no_signal_handler", "true"));
    }
    GOOD(SlepcInitializeNoArguments());
    m->own_slepc = true;
    GOOD(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    return 0;
}

void eigen_slepc_end(mpi_state *m)
{
    if (m->own_slepc)
        SlepcFinalize();
    m->own_slepc = false;
}

int eigen_slepc(void *state, ddsc_team_eigen *problem)
{
    mpi_state *m = state;
    job j = {.p = problem, .comm = m->comm, .rank = m->rank};
    bool verified = false;
    if (begin_slepc(m))
        return 1;
    int fits = fits_indices(problem), all = 0;
    GOOD(MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_MIN, m->comm));
    int failed = all && (make_operator(&j) || add_known(&j) || find(&j, &verified));
    failed = failed || hand_over(&j, problem);
    problem->n_products = j.n_products;
    problem->verified = verified;
    problem->stopped = j.stopped;
    job_free(&j);
    return failed;
}
