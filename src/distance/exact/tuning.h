/* tuning: thresholds for exact transport. Unless another benchmark is named, they were measured
 * with `bench/exact.py --parts solver` on images of 28 x 28 pixels and clouds of 16 to 4,000
 * points.
 *
 * The first group determines how a problem is represented, the second how the starting potentials
 * are guessed, and the third how many arcs a pivot prices. The last group sets the number of bits
 * of the integers, and the gaps at which a result is accepted. Every result is certified with the
 * original weights and costs, whatever these values are. */
#ifndef DDSC_DISTANCE_EXACT_TUNING_H
#define DDSC_DISTANCE_EXACT_TUNING_H

/* ---- how a problem is represented (solver.c, items.c) ---- */
enum {
    /* Above this many costs, candidate arcs in double are faster than dense rows of int32. */
    DENSE_CELLS = 640 * 640,
    /* Largest tree, in nodes, that uses bit masks; larger trees use linked lists. */
    MASK_NODES = 2048,
    /* From this dimension on, costs are stored and not recomputed row by row. */
    MATRIX_DIM = 4,
    /* Largest stored cost matrix (32 MiB). Matrices of tiny problems are always stored. */
    MATRIX_CELLS = 2048 * 2048,
    /* From this dimension on, costs are computed from inner products (`bench/exact.py --parts
     * pairs`). */
    PRODUCT_DIM = 17,
    /* Maximum number of costs in a tile. Larger tiles do not fit in the second-level cache
     * (`bench/exact.py --parts pairs --sets bbcsport`). */
    TILE_CELLS = 512 * 512,
    WHOLE_RANGE = 1 << 10, /* integer coordinates up to this size are stored as int32 */
    WHOLE_DIM = 8          /* up to this dimension, sums of their squares fit in int32 */
};

/* ---- guess of the starting potentials (start_multiscale.c, start_balance.c) ---- */
enum {
    GUESS_CELLS = 24 * 24, /* smaller problems need no parent level */
    /* In problems with fewer costs, balancing takes longer than the pivots it saves. */
    NEAR_CELLS = 48 * 48,
    /* Up to this number of costs, the parent level computes only potentials and does not pivot. */
    POTENTIALS_ONLY_CELLS = 1280 * 1280,
    GROUP = 4, /* maximum number of points per group */
    /* Number of cost columns (rows) that serve as coordinates if the points are unknown. */
    LANDMARKS = 6,
    MEAN_ROWS = 64,    /* the sum of this many int32 costs fits in int32 */
    NEAR_COLUMNS = 24, /* number of cheapest columns of a row, whose range of values is the near
                        * width */
    SAMPLED_ROWS = 4,  /* rows over which the near width is averaged */
    BALANCE_ROUNDS = 8 /* scaling rounds at each of the two temperatures */
};
/* The temperatures and ranges are fractions of the near width. */
#define BALANCE_HOT 0.2         /* first temperature */
#define BALANCE_COLD 0.08       /* second temperature */
#define BALANCE_REACH 0.8       /* range above the least value of a row whose blocks are balanced */
#define PRICE_REACH 0.4         /* range if only the pricing lists are needed */
#define BALANCE_RELAXATION 1.5f /* over-relaxation of the columns, on the log scale */

/* ---- pricing (simplex_int32.c, simplex_double.c, arcs.c) ---- */
enum {
    PRICE_CELLS = 256, /* int32: costs priced per pivot without column lists */
    PRICE_ROWS = 4,    /* double: rows priced per pivot */
    ARCS = 40,         /* maximum number of candidates per row, a multiple of 8 */
    FEW_ARCS = 16,     /* minimum number of initial candidates per row */
    MANY_ARCS = 32,    /* maximum number of initial candidates per row */
    /* Attempts to find a cost limit that selects between FEW_ARCS and MANY_ARCS candidates. */
    ARC_TRIES = 24,
    ARC_ROUNDS = 5, /* scaling rounds at each of the two temperatures */
    SWEEP_ARCS = 8  /* maximum number of candidates that a sweep adds to a row */
};

/* ---- precision ---- */
enum {
    /* Bits of an int32 cost. The sum over a path of 32 arcs is within INT32_LIMIT. */
    INT32_BITS = 24,
    DOUBLE_BITS = 49, /* bits of an integer cost stored in a double */
    CUT_ROUNDS = 40,  /* maximum number of solves with capped costs */
    CUT_FACTOR = 8,   /* the cap is this multiple of the largest cost that the plan uses */
    CUT_WORTH = 64,   /* a cap must reduce the largest cost by this factor */
    /* Problems with up to this many costs may be finished with 106 bits. */
    POLISH_CELLS = 1 << 22,
    POLISH_PIVOTS = 4, /* maximum number of these pivots per point */
    /* Number of pivots between two cancellation checks. In large problems, so many pivots take a
     * large part of a second. */
    CANCEL_PIVOTS = 512
};
#define GAP_PROMISED 1e-10 /* largest gap of a result reported as optimal */
/* if the gap after int32 pivots is below this value, no double pivots are needed */
#define GAP_ACCEPTED 3e-13
/* Larger gaps may be caused by plain summation, so the certificate is recomputed with compensated
 * sums. */
#define GAP_PLAIN 1e-14

#endif
