/* The inside of the exact solver: workspace, certificate. Only src/ot/exact*.c include this. */
#ifndef DDSC_OT_EXACT_H
#define DDSC_OT_EXACT_H

#include "ot/ot.h"
#include "ot/simplex.h"

struct exact_solver {
    ddsc_context *ctx;
    char *block; /* one block carved into the arrays below; grows, never shrinks */
    int64_t block_size;
    simplex net;

    /* The problem in hand: positive weights only, costs of ordinary size. */
    int64_t n, m;
    const double *a, *b, *cost;
    const double *start; /* guessed potentials of the sinks, or NULL */
    bool coarse_exact;   /* coarse costs are the true ones times coarse_scale */
    double coarse_scale;

    double *f, *g;
    int32_t *plan_row, *plan_column;
    double *plan_mass;
    double *excess, *excess_low;

    char *spare; /* costs of items; problems brought to ordinary form */
    int64_t spare_size;
};

/* Arrays carved out of one block; with base NULL it only measures. */
typedef struct arena {
    char *base;
    int64_t used;
} arena;

void *arena_take(arena *a, int64_t count, size_t size);
ddsc_status workspace_grow(ddsc_context *ctx, char **block, int64_t *size, int64_t wanted);

/* A problem of positive weights of equal sum whose costs are far from overflow and underflow. */
ddsc_status solve_ordinary(exact_solver *s, exact_result *result, const exact_problem *problem,
                           int64_t max_pivots);

/* Plan, potentials and both values from the basis tree, with the true weights and costs. */
void certify(exact_solver *s, exact_result *result);

#endif
