/* The inside of the refined bound: what its steps (refined.c) share with the two ways of coupling a
 * pair of items, over a plane grid (refined_grid.c) and by a dense matrix (refined_dense.c). */
#ifndef DDSC_DISTANCE_BOUND_REFINED_H
#define DDSC_DISTANCE_BOUND_REFINED_H

#include "base/device_table.h"
#include "distance/bound/bound.h"
#include "distance/bound/refined_kernels.h"
#include "distance/bound/tuning.h"

/* One end of a pair. Items are moved to their means: W2^2 = |difference of means|^2 + W2^2 of the
 * rest. */
typedef struct refined_side {
    int64_t item, n;
    const double *weight;
    const float *self; /* scalings of the item with itself at the level */
    float *scaling;    /* n, in whole vectors */
} refined_side;

/* Of one worker. */
typedef struct refined_pair {
    refined_side side[2];
    float *packed; /* one value per point of either side */
    double *wide;  /* potentials of the affine map */
    double *start; /* potentials of side 1 to start a solve from, of the pair started */
    int64_t started[2];
    bool start_finite;
    float *kernel; /* of the coupling, and its size */
    int64_t kernel_size;
    float *own; /* the coupling's arrays */
} refined_pair;

/* Costs c(x, y) and kernels exp(-c / epsilon) between the points of the two sides. */
typedef struct refined_coupling {
    /* Fill in what it needs to know of the set. */
    ddsc_status (*open)(bound_refined *b);
    /* Take up the pair of items in w->side, at the given epsilon; sets the kernel. */
    void (*couple)(const bound_refined *b, refined_pair *w, double epsilon);
    /* Potentials of the affine map between the Gaussians of both sides, for side k into w->wide. */
    void (*affine)(const bound_refined *b, refined_pair *w, int k);
    /* packed = the kernel times weight times scaling of the other side. */
    void (*sums)(const bound_refined *b, refined_pair *w, int to);
    /* packed holds potentials of the other side: its c-transform on side `to` takes their place. */
    void (*transform)(const bound_refined *b, refined_pair *w, int to);
    /* The coordinates of point k of side 1. */
    void (*point)(const bound_refined *b, const refined_pair *w, int64_t k, double *x);
} refined_coupling;

struct bound_refined {
    ddsc_context *ctx;
    const measures *m;
    const refined_coupling *coupling;
    double epsilon[BOUND_REFINED_LEVELS];
    float *self;     /* BOUND_REFINED_LEVELS x nnz, and a vector to read beyond */
    int64_t largest; /* points of an item, in whole vectors */
    refined_pair *pair;
    float *floats; /* of all workers */
    double *doubles;

    /* From the coupling: */
    double unit;                  /* of the lengths */
    double spread;                /* mean of the traces of the covariances */
    double step[BOUND_POINT_DIM]; /* of the means along each axis, in units */
    double *mean;                 /* n x d, in steps */
    int64_t n_own;                /* floats per worker */
    /* f + g may exceed the true costs after a transform by [0] + [1] sqrt(x) + [2] x, x the largest
     * magnitude in f and g. */
    double rounding[3];
    grid_items items; /* grid */
    double *cov;      /* grid: n x 3 */
    device_grid grid; /* for a device; n 0: none */
    double *variance; /* dense: n x d */
};

extern const refined_coupling bound_refined_grid, bound_refined_dense;

bool bound_refined_dense_applies(const measures *m);

#endif
