/* pace: control of scaling iterations for all engines: the choice of over-relaxation, the stopping
 * rule and the loop for lower bounds. All decisions depend on iteration counts and errors, never on
 * a clock. */
#ifndef DDSC_DISTANCE_SINKHORN_PACE_H
#define DDSC_DISTANCE_SINKHORN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Errors and sums observed during an iteration. */
typedef struct sinkhorn_seen {
    double row_error, column_error; /* L1 errors of the marginals before each half step */
    double low, high;               /* range of all sums */
} sinkhorn_seen;

/* Properties of an engine. */
typedef struct sinkhorn_engine {
    /* number of iterations between decisions; the first half is not measured */
    int64_t plain_window, relaxed_window;
    double stalled; /* assumed rate if the error did not decrease within a window */
    double range;   /* largest sum without loss of digits; the smallest such sum is its inverse */
    /* The columns can be made exact from the current sums. If false, another pass over the kernel
     * is needed, and one more pass to measure the rows. */
    bool settles;
} sinkhorn_engine;

extern const sinkhorn_engine sinkhorn_engine_dense, sinkhorn_engine_grid;

static inline bool sinkhorn_in_range(const sinkhorn_engine *engine, const sinkhorn_seen *seen)
{
    return seen->low >= 1 / engine->range && seen->high <= engine->range;
}

typedef struct sinkhorn_pace {
    const sinkhorn_engine *engine;
    double tolerance;
    double most_passes; /* predicted number of passes above which another method is used */
    double omega;       /* over-relaxation for the next iteration */
    bool exact_columns; /* the last iteration was not relaxed */
    int64_t since;      /* number of iterations since the last decision */
    double mark;        /* error at the middle of the window */
    int64_t patience;   /* number of decisions before another method is tried */
} sinkhorn_pace;

typedef enum sinkhorn_verdict {
    SINKHORN_GO_ON,
    SINKHORN_DONE, /* the error is within the tolerance once the columns are exact */
    SINKHORN_FAR,  /* sums have left the range */
    SINKHORN_SLOW  /* too many iterations predicted */
} sinkhorn_verdict;

sinkhorn_verdict sinkhorn_pace_next(sinkhorn_pace *p, const sinkhorn_seen *seen);
/* Returns the best over-relaxation factor for the plain rate of convergence eta. */
double sinkhorn_pace_omega(double eta);
/* Returns the number of iterations on n x m points that take as long as a solve with Newton
 * steps. */
double sinkhorn_newton_passes(int64_t n, int64_t m);

/* Continues the iterations up to evaluation k (counted from 0), which ends with exact columns. Sets
 * *value to the dual value <a, f> + <b, g>, which is a lower bound on the regularized value for any
 * row potentials. Returns false if there is no valid value. */
typedef bool (*sinkhorn_evaluation)(void *state, int k, double *value);
/* Evaluates up to `evaluations` lower bounds, and returns the largest, minus a rounding margin
 * relative to the value and epsilon. Returns -infinity if there is no bound. Stops as soon as the
 * bound exceeds `enough` or is unlikely to reach it. */
double sinkhorn_dual_bound(sinkhorn_evaluation evaluate, void *state, int evaluations,
                           double patience, double epsilon, double enough);

#endif
