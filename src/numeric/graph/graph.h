/* graph: the tau-nearest-neighbor graph, its symmetric affinity and the normalized operator. */
#ifndef DDSC_NUMERIC_GRAPH_GRAPH_H
#define DDSC_NUMERIC_GRAPH_GRAPH_H

#include <math.h>

#include "base/team.h"

/* Statistics of the in-degrees. The in-degree of an item is the number of items that it is a
 * neighbor of. */
typedef struct in_degrees {
    int64_t largest;    /* largest in-degree of an item */
    int64_t hub;        /* the first item with this in-degree */
    int64_t n_none;     /* number of items that are not a neighbor of any item */
    int64_t n_unlisted; /* number of items among these that have no duplicate (D^2 = 0) */
    /* Skewness of the in-degrees; 0 if all are equal. Duplicates (D^2 = 0) are not counted,
     * because only their index determines their order. */
    double skewness;
} in_degrees;

/* An edge of the minimum spanning tree of all items. */
typedef struct span_edge {
    int32_t a, b;
    double d2;
} span_edge;

struct ddsc_graph {
    ddsc_context *ctx;
    int64_t n, tau;
    int64_t *offset; /* n + 1 */
    int32_t *index;  /* neighbors of each item, nearest first */
    double *d2;
    int64_t n_columns;    /* number of columns used to estimate distances; 0: all distances were
                           * computed */
    double columns_error; /* error of the estimated distances */
    double *scale;        /* n scales used to choose neighbors (local_scales); NULL: none */
    in_degrees plain;     /* if scale is set: in-degrees of the nearest neighbors */
    ddsc_graph
        *nearest; /* if scale is set: the nearest items of each item, for reports; else NULL */
    ddsc_graph
        *plain_lists; /* if scale is set: the graph that the scales were computed from; or NULL */
    bool copies;      /* true if every edge connects equal items */
    span_edge *span;  /* n - 1 edges of the minimum spanning tree, shortest first; NULL if not all
                           * distances are known */
};

/* Creates a graph with arrays for n * tau edges and all offsets zero. */
ddsc_status graph_create(ddsc_context *ctx, ddsc_graph **graph, int64_t n, int64_t tau);

/* Number of nearest items stored per item if neighbors are chosen by rescaled distance. */
enum { GRAPH_NEAREST = 3 };

/* Returns true if the lists are valid, for assertions: offsets never decrease, and every list
 * has at most tau entries, all of them other items. */
bool graph_lists_hold(const ddsc_graph *g);
/* Creates a copy of the graph with only the tau nearest neighbors of each item. */
ddsc_status graph_narrow(ddsc_context *ctx, ddsc_graph **out, const ddsc_graph *wide, int64_t tau);
/* The spanning tree is computed for GRAPH_SPAN_LEAST to GRAPH_SPAN_MOST items. For a metric whose
 * search can skip pairs, all distances are computed for the tree only if there are at most
 * GRAPH_SPAN_ALWAYS items, or if items have at most GRAPH_SPAN_POINTS points on average. */
enum {
    GRAPH_SPAN_LEAST = 6,
    GRAPH_SPAN_ALWAYS = 60,
    GRAPH_SPAN_MOST = 200,
    GRAPH_SPAN_POINTS = 32
};
/* Computes g->span from a graph of the same items whose lists contain all other items. If a list is
 * shorter because distances are unknown, g->span remains NULL. */
ddsc_status graph_span(ddsc_context *ctx, ddsc_graph *g, const ddsc_graph *all);
/* Creates the subgraph of some items. place[i] is the index of item i in the subgraph, or -1 if the
 * item is excluded; *out has n items. */
ddsc_status graph_part(ddsc_context *ctx, ddsc_graph **out, const ddsc_graph *g,
                       const int32_t *place, int64_t n);

/* Counts in-degrees over the first tau entries of each list. */
ddsc_status graph_in_degrees(ddsc_context *ctx, in_degrees *out, const ddsc_graph *g, int64_t tau);

/* Local scales s, by which distances are divided when neighbors are ranked. The neighbors of item i
 * are the items j with the smallest D^2 / s_j. Ranking by D^2 / (s_i s_j) gives the same order. */
typedef struct local_scales {
    double *scale, *inverse; /* s and 1 / s, n each */
    double widest;           /* the largest s */
} local_scales;

/* Computes s_i, the mean distance of item i to those of its first tau neighbors that are not
 * duplicates. The lower limit of s_i is a tenth of the median. If all neighbors are duplicates, s_i
 * is the median. */
ddsc_status graph_scales_find(ddsc_context *ctx, double **scale, const ddsc_graph *g, int64_t tau);
/* Creates the scales from a copy of `scale`. */
ddsc_status graph_scales_make(ddsc_context *ctx, local_scales *s, const double *scale, int64_t n);
void graph_scales_free(ddsc_context *ctx, local_scales *s);
/* Returns D^2 divided by the scale of the other item, or D^2 itself if `by` is NULL. */
static inline double local_key(const local_scales *by, int64_t other, double d2)
{
    return by ? d2 * by->inverse[other] : d2;
}

/* Convert a limit on keys (local_key) to a limit on D^2, for one neighbor or for all neighbors. Up
 * to rounding, a neighbor whose D^2 exceeds the result has a key that exceeds the limit.
 * local_limit_any converts finite negative limits to 0. */
static inline double local_limit(const local_scales *by, int64_t other, double limit)
{
    return by ? limit * by->scale[other] : limit;
}

static inline double local_limit_any(const local_scales *by, double limit)
{
    return !by || limit == -INFINITY ? limit : limit > 0 ? limit * by->widest : 0;
}

/* Sorts each list by D^2. Needed after neighbors were ranked in another order. */
void graph_sort(ddsc_graph *g);

/* Returns the median of the positive finite entries of x, or 1 if there are none. Reorders x. */
double affinity_median_positive(double *x, int64_t n);

/* Sparse matrix in CSR format, with ascending columns in each row. */
typedef struct sparse {
    int64_t n, nnz;
    int64_t *offset;
    int32_t *column;
    double *value;
    /* True if the rows are divided among ranks. Offsets are complete, but only the entries of
     * sparse_rows are set. Other entries are allocated, but use no memory until they are
     * written. */
    bool divided;
} sparse;

/* Returns true if the rows are valid, for assertions: columns are ascending without duplicates
 * and in [0, n), and values are not negative. */
bool sparse_rows_hold(const sparse *s, team_part rows);
/* Allocates arrays for n rows and nnz entries, with all offsets zero. On error, all fields of *s
 * are zero. */
ddsc_status sparse_new(ddsc_context *ctx, sparse *s, int64_t n, int64_t nnz);
void sparse_free(ddsc_context *ctx, sparse *s);
/* Returns the rows whose entries are set on this rank: all rows, or this rank's part. */
team_part sparse_rows(const ddsc_context *ctx, const sparse *s);
/* Returns this rank's part of n rows. */
team_part sparse_own(const ddsc_context *ctx, int64_t n);
/* Gathers the rows of all ranks on every rank. */
ddsc_status sparse_gather(ddsc_context *ctx, sparse *s);
/* Transposes `in`. The columns of `out` are ascending even if those of `in` are in any order. */
ddsc_status sparse_transpose(ddsc_context *ctx, sparse *out, const sparse *in);
/* Computes out = scale (S + T) with ascending columns. S and T have the same size and are divided
 * among ranks in the same way. */
ddsc_status sparse_sum(ddsc_context *ctx, sparse *out, const sparse *s, const sparse *t,
                       double scale);

typedef struct affinity_settings {
    ddsc_gamma_rule rule;
    double gamma; /* used with DDSC_GAMMA_VALUE */
    bool divided; /* each rank of a team computes only its own rows */
} affinity_settings;

typedef struct affinity_report {
    double gamma;      /* the value used; 0 with local scaling */
    int64_t n_edges;   /* number of edges in the neighbor lists */
    int64_t n_clamped; /* number of edges with negative D^2, which is treated as 0 */
    int64_t n_faint;   /* number of items whose weights would all underflow in double precision */
    /* True if no item can be distinguished from its neighbors, because all D^2 are equal and not
     * positive, or because all edges connect duplicates. */
    bool flat;
} affinity_report;

/* Computes the weight A_ij of every edge of the lists, before the affinity is made symmetric.
 * `weight` has one entry per edge. Sets only gamma in *report. */
ddsc_status affinity_weigh(ddsc_context *ctx, double *weight, affinity_report *report,
                           const ddsc_graph *graph, const affinity_settings *settings);
/* Computes (A + A^T)/2, where A_ij = exp(-gamma D^2), or exp(-2 D^2 / (s_i s_j)) with local
 * scaling. Negative D^2 are treated as 0. Weights that would underflow are set to
 * AFFINITY_FLOOR, so no edge is lost and the connected components are those of the graph. */
ddsc_status affinity_build(ddsc_context *ctx, sparse *out, affinity_report *report,
                           const ddsc_graph *graph, const affinity_settings *settings);

/* Returns exp(-gamma D^2), or exp(-2 D^2 / (s t)) with the scales s and t of the two items if
 * gamma is 0. Negative D^2 are treated as 0, and the result is at least AFFINITY_FLOOR. */
double affinity_value(double d2, double gamma, double s, double t);

/* In local scaling, the scale of an item is the distance to its neighbor of this rank, or to its
 * last known neighbor if there are fewer. */
enum { AFFINITY_NEIGHBOR = 7 };

/* Computes the scale s_i of every item. Scales below *least are raised to *least, because exact
 * duplicates have s = 0. */
ddsc_status affinity_scales(ddsc_context *ctx, double *scale, double *least,
                            const ddsc_graph *graph);

/* Smallest affinity, which is large enough that scaling by degrees does not underflow. */
#define AFFINITY_FLOOR 1e-280

/* Finds the connected component of every item. Components are numbered in order of first
 * appearance. An item without edges forms a component. Entries offset[i] .. offset[i + 1] - 1 of
 * `column` are linked to i, regardless of direction. */
ddsc_status components_find(ddsc_context *ctx, int32_t *component, int64_t *n_components, int64_t n,
                            const int64_t *offset, const int32_t *column);

/* Computes the row sums `degree` (n) and m = S^-1/2 A S^-1/2, which is divided among ranks in the
 * same way as A. For an item without edges, the degree is 1 and m_ii = 1. The item then forms a
 * component and, like every component, has one eigenvalue 1. */
ddsc_status operator_build(ddsc_context *ctx, sparse *m, double *degree, const sparse *a);
/* Computes y = M x for a block of b vectors with contiguous rows (n x b). The result is
 * bit-identical for any number of threads. */
ddsc_status operator_apply(ddsc_context *ctx, const sparse *m, int64_t b, const double *x,
                           double *y);
/* Computes only the rows `rows` of y = M x. x contains all rows, but y contains only the computed
 * ones. */
ddsc_status operator_apply_rows(ddsc_context *ctx, const sparse *m, team_part rows, int64_t b,
                                const double *x, double *y);
/* Computes y = scale (M x - shift x) - back y, one step of a three-term recurrence, in one pass. */
ddsc_status operator_step(ddsc_context *ctx, const sparse *m, int64_t b, double scale, double shift,
                          double back, const double *x, double *y);

#endif
