/* The inside of the refined bound: what its steps (refine.c) share with the two ways of coupling a
 * pair of items, over a plane grid (refine_grid.c) and by a dense matrix (refine_dense.c). */
#ifndef DDSC_BOUND_REFINE_H
#define DDSC_BOUND_REFINE_H

#include "bound/bound.h"
#include "bound/refine_kernels.h"

enum { REFINE_LEVELS = 8 };

/* One end of a pair. Items are moved to their means: W2^2 = |difference of means|^2 + W2^2 of the
 * rest. */
typedef struct refine_side {
    int64_t item, n;
    const double *weight;
    const float *self; /* scalings of the item with itself at the level */
    float *scaling;    /* n, padded to whole vectors */
} refine_side;

typedef struct refine_room {
    refine_side side[2];
    float *packed; /* one value a point of either side */
    double *wide;
    double *start; /* potentials of side 1 to start a solve from, of the pair started */
    int64_t started[2];
    bool start_finite;
    void *own; /* the coupling's */
} refine_room;

/* Costs c(x, y) and kernels exp(-c / epsilon) between the points of the two sides. */
typedef struct refine_coupling {
    ddsc_status (*open)(refine_bound *b); /* b->set, b->unit, b->spread */
    void (*close)(refine_bound *b);
    ddsc_status (*room_open)(const refine_bound *b, refine_room *w);
    void (*room_close)(const refine_bound *b, refine_room *w);
    /* Take up the pair of items in w->side, at the given epsilon. */
    void (*couple)(const refine_bound *b, refine_room *w, double epsilon);
    /* Potentials of the affine map between the Gaussians of both sides, for side k into w->wide. */
    void (*affine)(const refine_bound *b, refine_room *w, int k);
    /* packed = the kernel times weight times scaling of the other side. */
    void (*sums)(refine_room *w, int to);
    void (*halve)(refine_room *w); /* epsilon */
    /* packed holds potentials of the other side: its c-transform on side `to` takes their place. */
    void (*transform)(refine_room *w, int to);
    /* How far f + g may exceed the true costs after a transform, `largest` the largest magnitude in
     * f and g. */
    double (*rounding)(const refine_bound *b, const refine_room *w, double largest);
    /* The difference of the means, side 0 - side 1. */
    void (*shift)(const refine_bound *b, const refine_room *w, double *d);
    /* The coordinates of point k of side 1. */
    void (*point)(const refine_bound *b, const refine_room *w, int64_t k, double *x);
} refine_coupling;

struct refine_bound {
    ddsc_context *ctx;
    const measures *m;
    const refine_coupling *coupling;
    void *set;     /* the coupling's data of all items */
    double unit;   /* of the lengths in it */
    double spread; /* mean of the traces of the covariances */
    double epsilon[REFINE_LEVELS];
    float *self; /* REFINE_LEVELS x nnz, and some lanes to read beyond */
    int n_workers;
    refine_room *room;
};

extern const refine_coupling refine_grid, refine_dense;

bool refine_grid_applies(const measures *m);
bool refine_dense_applies(const measures *m);

#endif
