/* Thresholds of exact transport, with the bench that made each: where nothing else is said,
 * `bench/exact.py --parts solver` on images of 28 x 28 and clouds of 16 to 4,000 points. */
#ifndef DDSC_DISTANCE_EXACT_TUNING_H
#define DDSC_DISTANCE_EXACT_TUNING_H

/* ---- which form a problem takes (solver.c, items.c) ---- */
enum {
    DENSE_CELLS = 640 * 640, /* above this many costs candidate arcs beat dense rows of int32 */
    MASK_NODES = 2048,       /* trees up to this size keep masks, larger ones lists */
    MATRIX_DIM = 4, /* from this dimension on costs are kept, not made again per row, ... */
    MATRIX_CELLS = 2048 * 2048, /* ... up to so many, which is 32 MiB; those of tiny ones always */
    PRODUCT_DIM = 17,           /* from this dimension on costs come from products:
                                   `bench/exact.py --parts pairs` */
    TILE_CELLS = 512 * 512, /* costs of a tile that are made at once; more leave the second cache:
                               `bench/exact.py --parts pairs --sets bbcsport` */
    WHOLE_RANGE = 1 << 10,  /* coordinates that are whole numbers up to this are kept as int32 */
    WHOLE_DIM = 8           /* in so few dimensions: sums of their squares fit */
};

/* ---- first guess of the potentials (start_multiscale.c, start_balance.c) ---- */
enum {
    GUESS_CELLS = 24 * 24,               /* smaller problems need no parent level */
    NEAR_CELLS = 48 * 48,                /* below this balancing takes longer than what it saves */
    POTENTIALS_ONLY_CELLS = 1280 * 1280, /* up to this size the parent level needs no pivots */
    GROUP = 4,                           /* points of a group, at most */
    LANDMARKS = 6,     /* columns that stand for coordinates where there are no points */
    MEAN_ROWS = 64,    /* the sum of this many int32 costs fits */
    NEAR_COLUMNS = 24, /* so many columns of a row count as near, ... */
    SAMPLED_ROWS = 4,  /* ... measured in so many rows */
    BALANCE_ROUNDS = 8 /* of scaling, at each of two temperatures */
};
#define BALANCE_HOT 0.2 /* temperatures as shares of the width of near */
#define BALANCE_COLD 0.08
#define BALANCE_REACH 0.8 /* how far blocks that take part may be off, likewise */
#define PRICE_REACH 0.4   /* the same where pricing alone asks */
#define BALANCE_RELAXATION 1.5f

/* ---- pricing (simplex_int32.c, simplex_double.c, arcs.c) ---- */
enum {
    PRICE_CELLS = 256, /* int32: costs priced per pivot where no columns are listed */
    PRICE_ROWS = 4,    /* double: rows priced per pivot */
    ARCS = 40,         /* candidate arcs of a row, a multiple of 8 */
    FEW_ARCS = 16,     /* a row starts with this many candidates or more ... */
    MANY_ARCS = 32,    /* ... but not with more than this */
    ARC_TRIES = 24,    /* at a limit that catches so many */
    ARC_ROUNDS = 5,    /* of scaling, at each of two temperatures */
    SWEEP_ARCS = 8     /* candidates a sweep over all arcs may add to a row */
};

/* ---- precision ---- */
enum {
    INT32_BITS = 24,        /* of a cost; a path of 32 of them stays below INT32_LIMIT */
    DOUBLE_BITS = 49,       /* of a cost in doubles that hold integers */
    CUT_ROUNDS = 40,        /* solves with costs cut off, at most */
    CUT_FACTOR = 8,         /* cut at this multiple of the largest cost paid */
    CUT_WORTH = 64,         /* a cut that gains less than this factor is not worth a solve */
    POLISH_CELLS = 1 << 22, /* problems up to so many costs are finished with 106 bits ... */
    POLISH_PIVOTS = 4,      /* ... by at most so many pivots per point */
    CANCEL_PIVOTS = 512     /* large problems take a good part of a second for so many */
};
#define GAP_PROMISED 1e-10 /* what is called optimal has at most this gap */
#define GAP_ACCEPTED 3e-13 /* an int32 optimum below this needs no pivots in double */
#define GAP_PLAIN 1e-14    /* above this plain sums may be to blame */

#endif
