/* The inside of the refined bound: refine.c works on pairs, refine_make.c prepares items. */
#ifndef DDSC_OT_REFINE_H
#define DDSC_OT_REFINE_H

#include "ot/bounds.h"
#include "ot/refine_grid.h"

enum {
    MAX_SIDE = 64,
    N_LEVELS = 4,
    START_LEVELS = 3,                       /* of a quick look, and for the start of a solve */
    TABLE_BASE = MAX_SIDE + 2 * GRID_LANES, /* place of distance 0 in a table of distances */
    TABLE_SIZE = 2 * TABLE_BASE,
    BOX_SIZE = (MAX_SIDE + 2) * MAX_SIDE,
    SELF_ITERATIONS = 6
};

typedef struct refine_item {
    int32_t first[2], size[2]; /* bounding box: rows, columns */
    int32_t ld;
    double mean[2]; /* in steps of the grid */
    double cov[3];  /* xx, xy, yy */
} refine_item;

/* One end of a pair. */
typedef struct refine_side {
    const refine_item *item;
    int64_t n;
    const uint16_t *cell, *place; /* of each entry: in the grid, in the box */
    const double *weight;
    const float *self; /* scaling of the item with itself at the level */
    float *scaling;    /* n, padded */
    float *mass;       /* the box: weight times scaling, 0 where the item has no point */
    float *wall;       /* the box: potentials with the sign changed, infinite there */
} refine_side;

/* A function of the distance along each axis, and for the second axis its mirror image. */
typedef struct axis_tables {
    float row[TABLE_SIZE], column[TABLE_SIZE], mirror[TABLE_SIZE];
} axis_tables;

typedef struct refine_room {
    refine_side side[2];
    axis_tables kernel, cost;
    float *packed;        /* one value a point */
    double *wide;         /* the same in double */
    float *half, *result; /* the box after one axis, after both */
} refine_room;

struct refine_bound {
    ddsc_context *ctx;
    const measures *m;
    double unit;    /* the larger step of the grid: all lengths here are in units of it */
    double step[2]; /* of the grid */
    double epsilon[N_LEVELS];
    refine_item *item;
    uint16_t *cell_of; /* v: row and column of a support point */
    uint16_t *cell;    /* nnz */
    uint16_t *place;   /* nnz */
    float *self;       /* N_LEVELS x nnz, and some lanes to read beyond */
    double slack;      /* for points that are off the grid by rounding */
    int n_workers;
    refine_room *room;
};

/* Point a side of the room at an item. */
void side_set(const refine_bound *b, refine_side *s, int64_t i);
void fill_box(const refine_item *item, float *box, float value);
/* Kernel and cost tables of the pair in the room, at an epsilon. */
void tables_fill(const refine_bound *b, refine_room *w, double epsilon);
/* Half of epsilon. */
void tables_square(axis_tables *t);
/* Into w->packed: the kernel applied to the other side's mass, at the points of side `to`. */
void kernel_sums(refine_room *w, int to);

#endif
