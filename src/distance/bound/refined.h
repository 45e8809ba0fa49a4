/* Internals of the refined bound, shared by its steps (refined.c) and its two couplings: on a 2-D
 * grid (refined_grid.c) and with a dense matrix (refined_dense.c). */
#ifndef DDSC_DISTANCE_BOUND_REFINED_H
#define DDSC_DISTANCE_BOUND_REFINED_H

#include "base/device_table.h"
#include "distance/bound/bound.h"
#include "distance/bound/refined_kernels.h"
#include "distance/bound/tuning.h"

/* One item of a pair. The items are centered at their means: W2^2 = |difference of means|^2 + W2^2
 * of the centered items. */
typedef struct refined_side {
    int64_t item, n;
    const double *weight;
    const float *self; /* scalings of the item with itself at the current level */
    float *scaling;    /* n, rounded up to whole vectors */
} refined_side;

/* The arrays of one worker. */
typedef struct refined_pair {
    refined_side side[2];
    float *packed; /* one value per point of one side */
    double *wide;  /* potentials of the affine map */
    double *start; /* potentials on side 1 from which a solve of the pair starts */
    int64_t started[2];
    bool start_finite;
    float *kernel; /* kernel of the coupling, and its size */
    int64_t kernel_size;
    float *own; /* private arrays of the coupling */
} refined_pair;

/* Operations on the costs c(x, y) and kernels exp(-c / epsilon) between the points of the two
 * sides. */
typedef struct refined_coupling {
    /* Initializes the fields that the coupling needs for the set. */
    ddsc_status (*open)(bound_refined *b);
    /* Prepares appended items, from item `first` on. */
    ddsc_status (*grow)(bound_refined *b, int64_t first);
    /* Loads the pair of items in w->side at the given epsilon and sets the kernel. */
    void (*couple)(const bound_refined *b, refined_pair *w, double epsilon);
    /* Writes the potentials on side k of the affine map between the two Gaussians to w->wide. */
    void (*affine)(const bound_refined *b, refined_pair *w, int k);
    /* Computes packed = the kernel times weight times scaling of the other side. */
    void (*sums)(const bound_refined *b, refined_pair *w, int to);
    /* Replaces the other side's potentials in `packed` with their c-transform on side `to`. */
    void (*transform)(const bound_refined *b, refined_pair *w, int to);
    /* Writes the coordinates of point k of side 1 to x. */
    void (*point)(const bound_refined *b, const refined_pair *w, int64_t k, double *x);
    /* Returns the difference of the means along axis c, side 0 - side 1. */
    double (*shift)(const bound_refined *b, const refined_pair *w, int64_t c);
} refined_coupling;

struct bound_refined {
    ddsc_context *ctx;
    const measures *m;
    const refined_coupling *coupling;
    double epsilon[BOUND_REFINED_LEVELS];
    int64_t stride;  /* entries per level of `self`: nnz, or more if the set can grow */
    int64_t first;   /* first item whose scalings must be computed */
    float *self;     /* BOUND_REFINED_LEVELS x stride, plus one vector of padding for reads */
    int64_t largest; /* largest number of points of an item, rounded up to whole vectors */
    refined_pair *pair;
    float *floats; /* memory for the arrays of all workers */
    double *doubles;

    pair_frame frame;
    double unit; /* unit of length, from the frame */

    /* The following fields are set by the coupling. */
    double step[BOUND_POINT_DIM]; /* length of one step along each axis, in units */
    double *mean;                 /* n x d, in steps */
    int64_t n_own;                /* floats per worker */
    /* After a transform, f + g may exceed the true costs by at most [0] + [1] sqrt(x) + [2] x,
     * where x is the largest magnitude of f and g. */
    double rounding[3];
    grid_items items; /* grid */
    double *cov;      /* grid: n x 3 */
    device_grid grid; /* data for a device; n is 0 if a device cannot be used */
    double *variance; /* dense: n x d */
    double farthest;  /* dense: largest coordinate relative to the mean of its item */
};

extern const refined_coupling bound_refined_grid, bound_refined_dense;

bool bound_refined_dense_applies(const measures *m);

#endif
