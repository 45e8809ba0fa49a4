/* How scaling iterations watch themselves, whatever engine runs them: one over-relaxation, one stop
 * rule, one loop of lower bounds. All choices are made from counts and errors, never from a clock. */
#ifndef DDSC_DISTANCE_SINKHORN_PACE_H
#define DDSC_DISTANCE_SINKHORN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* What an iteration saw on its way. */
typedef struct sinkhorn_seen {
    double row_error, column_error; /* L1 errors of the marginals before each half step */
    double low, high;               /* range of all sums */
} sinkhorn_seen;

/* What an engine is like. */
typedef struct sinkhorn_engine {
    int64_t plain_window, relaxed_window; /* iterations between decisions; the first half settles */
    double stalled; /* rate foreseen after a window in which the error did not fall */
    double range;   /* of sums: beyond it or its inverse digits are lost */
    /* Columns are made exact from the sums at hand. Otherwise that takes a pass over the kernel, and
     * the rows are then measured by the pass after it. */
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
    double most_passes; /* foreseen: more are left to another method */
    double omega;       /* over-relaxation of the next iteration */
    bool exact_columns; /* the last iteration was a plain one */
    int64_t since;      /* iterations since the last decision */
    double mark;        /* error at the middle of the window */
    int64_t patience;   /* decisions to wait before another method is tried again */
} sinkhorn_pace;

typedef enum sinkhorn_verdict {
    SINKHORN_GO_ON,
    SINKHORN_DONE, /* within the tolerance, once the columns are settled */
    SINKHORN_FAR,  /* sums have left the range */
    SINKHORN_SLOW  /* too many iterations are foreseen */
} sinkhorn_verdict;

sinkhorn_verdict sinkhorn_pace_next(sinkhorn_pace *p, const sinkhorn_seen *seen);
/* The best over-relaxation at the plain rate of convergence eta. */
double sinkhorn_pace_omega(double eta);
/* One Newton step in units of one dense iteration on n x m. */
double sinkhorn_newton_price(int64_t n, int64_t m);
/* Iterations worth waiting for on n x m before Newton steps. */
double sinkhorn_newton_passes(int64_t n, int64_t m);

/* Iterations on their way to a lower bound: look k (from 0) goes on to where the columns are exact and
 * gives the dual value <a, f> + <b, g>, a lower bound of the regularised value whatever the rows are.
 * False: there is none to be had. */
typedef bool (*sinkhorn_look)(void *state, int k, double *value);
/* The best of up to `looks`, less rounding, in units of epsilon too; -infinity: none. Stops once it
 * exceeds `enough`, or when it hardly ever will. */
double sinkhorn_dual_bound(sinkhorn_look look, void *state, int looks, double patience,
                           double epsilon, double enough);

#endif
