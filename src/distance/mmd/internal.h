/* Internals of an mmd object. Only the files of this module include this header. */
#ifndef DDSC_DISTANCE_MMD_INTERNAL_H
#define DDSC_DISTANCE_MMD_INTERNAL_H

#include "distance/cost/points.h"
#include "distance/mmd/mmd.h"
#include "distance/mmd/tuning.h"

/* The arrays of one worker. */
typedef struct mmd_worker {
    points_panel rows, columns;
    double *block; /* kernel values, MMD_ROWS x MMD_COLUMNS */
    double *sums;  /* MMD_COLUMNS sums over the rows of a block */
    double *g;     /* field of one item at its own points */
    /* Field: the Gram matrix between the table and MMD_LANES of its rows. Grid: cells x lanes. */
    double *stripe;
    double *line; /* grid: one line of cells x lanes */
} mmd_worker;

/* A table on a grid: the cell of every support row, and the kernel between the positions along each
 * axis. */
typedef struct mmd_grid {
    int64_t d, n_cells;
    int64_t shape[GRID_MAX_DIM];
    int64_t *cell;
    double *axis[GRID_MAX_DIM]; /* shape x shape */
} mmd_grid;

struct mmd {
    ddsc_context *ctx;
    const measures *m;
    mmd_settings set;
    mmd_way way;
    points table;
    int64_t largest;            /* largest number of points of an item */
    double *self;               /* s_i */
    int32_t *rank;              /* n: position of each item in the order of measures_precedes */
    int64_t side, strip, first; /* first: first column of the stored field */
    /* The field contains all items, but the sums include only terms q <= v, with half weight for q
     * = v. */
    bool half;
    bool whole_field;   /* the field contains all items */
    bool filled;        /* whole_field: the field has been computed */
    double *field;      /* [block of MMD_LANES items][support row][lane] */
    points_panel whole; /* field: the table in panel layout */
    mmd_grid grid;
    scratch worker; /* one mmd_worker per worker */
};

mmd_worker mmd_worker_of(const mmd *s, int worker);

/* Computes out[lane] = sum_p weight_p panel[index_p][lane], in the order of the entries. */
void mmd_gather(item_view item, const double *panel, double out[MMD_LANES]);
/* Returns the block of the field that holds an item. */
static inline double *mmd_field_block(const mmd *s, int64_t item)
{
    return s->field + (item - s->first) / MMD_LANES * s->m->v * MMD_LANES;
}
/* Returns the lane of an item within its block. */
static inline int64_t mmd_field_lane(const mmd *s, int64_t item)
{
    return (item - s->first) % MMD_LANES;
}

/* Computes s_i from the field g_p = sum_q a_q k(x_p, x_q) at the points of the item, or from half
 * of the field if s->half is true. */
double mmd_self_term(const mmd *s, int64_t item, const double *g);

/* Returns the mean kernel over pairs of different points, computed pair by pair without
 * cancellation. */
double mmd_self_by_pairs(const measures *m, const mmd_kernel *kernel, item_view item);

/* Items [j0, j1) of the field, which the chosen method fills. */
typedef struct mmd_fill {
    mmd *s;
    int64_t j0, j1;
} mmd_fill;

ddsc_status mmd_field_fill(mmd *s, int64_t j0, int64_t j1);
void mmd_field_tile(const mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2,
                    int64_t ld);
ddsc_status mmd_grid_open(mmd *s);
void mmd_grid_close(mmd *s);
ddsc_status mmd_grid_fill(mmd *s, int64_t j0, int64_t j1);
/* Applies one matrix per axis to up to MMD_LANES items. The result is w->stripe [cell][lane]. */
void mmd_grid_apply(const mmd *s, double *const *axis, const int64_t *items, int64_t n,
                    mmd_worker *w);
/* Computes stripe[v][lane] = k(x_v, x_(first + lane)) for v < rows. Lanes beyond the table are
 * 0. */
void mmd_stripe(const mmd *s, int64_t first, int64_t rows, double *stripe);

/* The feature space of a table (table.c): a' K b equals F a . F b - (a . shift + b . shift) / 2
 * with an error of at most `unsure`. */
typedef struct mmd_table {
    int64_t n;     /* number of coordinates */
    double *panel; /* F: [block of MMD_LANES coordinates][support row][lane] */
    double *shift; /* one value per support row */
    double unsure;
} mmd_table;

ddsc_status mmd_table_open(mmd *s, mmd_table *t);
void mmd_table_close(mmd *s, mmd_table *t);
/* Computes the coordinates of up to MMD_LANES items in w->stripe [coordinate][lane]. */
void mmd_table_apply(const mmd *s, const mmd_table *t, const int64_t *items, int64_t n,
                     mmd_worker *w);
ddsc_status mmd_clouds_open(mmd *s);
void mmd_clouds_tile(mmd *s, const int64_t range[4], const uint8_t *wanted, double *d2, int64_t ld,
                     mmd_worker *w);

#endif
