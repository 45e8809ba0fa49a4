/* graph: from the tau-NN lists to the normalised affinity. */
#ifndef DDSC_NUMERIC_GRAPH_GRAPH_H
#define DDSC_NUMERIC_GRAPH_GRAPH_H

#include <math.h>

#include "base/team.h"

/* How often items are neighbours of others. */
typedef struct in_degrees {
    int64_t largest;    /* the largest in-degree */
    int64_t n_none;     /* items that are a neighbor of none */
    int64_t n_unlisted; /* those of them that have no copy (D^2 = 0) in the set */
    double
        skewness; /* of the counts without duplicates (D^2 = 0), which are in order of index; 0: all
                                alike */
} in_degrees;

struct ddsc_graph {
    ddsc_context *ctx;
    int64_t n, tau;
    int64_t *offset; /* n + 1 */
    int32_t *index;  /* neighbours of column c, nearest first */
    double *d2;
    int64_t n_columns;    /* 0: every distance is the metric's own */
    double columns_error; /* of the others */
    double *scale;        /* n: what neighbours were chosen by (local_scales); NULL: the nearest */
    in_degrees plain;     /* then: those of the nearest */
    ddsc_graph *nearest;  /* then: the few nearest of each item, to be told; else NULL */
    bool copies;          /* every edge joins equal items */
};

/* All arrays with room for n * tau edges, offsets zero. */
ddsc_status graph_create(ddsc_context *ctx, ddsc_graph **graph, int64_t n, int64_t tau);

/* How many of the nearest are kept where neighbours were chosen by another order. */
enum { GRAPH_NEAREST = 3 };

/* For assertions: offsets never decrease, and every list has at most tau entries, each another item. */
bool graph_lists_hold(const ddsc_graph *g);
/* The same graph with at most tau neighbours an item, the nearest. */
ddsc_status graph_narrow(ddsc_context *ctx, ddsc_graph **out, const ddsc_graph *wide, int64_t tau);
/* The graph among some items: place[i] is the number of item i in it, -1: left out; *out has n items. */
ddsc_status graph_part(ddsc_context *ctx, ddsc_graph **out, const ddsc_graph *g,
                       const int32_t *place, int64_t n);

/* Of the first tau of each list. */
ddsc_status graph_in_degrees(ddsc_context *ctx, in_degrees *out, const ddsc_graph *g, int64_t tau);

/* What distances are rescaled by when neighbours are chosen: item i takes those of least D^2 / s_j, which for
 * it is the order of D^2 / (s_i s_j). */
typedef struct local_scales {
    double *scale, *inverse; /* s and 1 / s, n each */
    double widest;           /* the largest s */
} local_scales;

/* s_i: mean distance to those of the first tau of its list that are no duplicates, at least a tenth of the
 * median one; the median where there are none. */
ddsc_status graph_scales_find(ddsc_context *ctx, double **scale, const ddsc_graph *g, int64_t tau);
/* From s, which is copied. */
ddsc_status graph_scales_make(ddsc_context *ctx, local_scales *s, const double *scale, int64_t n);
void graph_scales_free(ddsc_context *ctx, local_scales *s);
/* Where `by` is NULL, D^2 itself. */
static inline double local_key(const local_scales *by, int64_t other, double d2)
{
    return by ? d2 * by->inverse[other] : d2;
}

/* A limit of keys as one of D^2, for one neighbour and for any: none of that D^2 or less is beyond it but for
 * rounding. Keys below 0 have no use for a wide scale. */
static inline double local_limit(const local_scales *by, int64_t other, double limit)
{
    return by ? limit * by->scale[other] : limit;
}

static inline double local_limit_any(const local_scales *by, double limit)
{
    return !by || limit == -INFINITY ? limit : limit > 0 ? limit * by->widest : 0;
}

/* Lists chosen by another order, put back into that of D^2. */
void graph_sort(ddsc_graph *g);

/* Median of the positive finite entries of x, which is reordered; 1 when there are none. */
double affinity_median_positive(double *x, int64_t n);

/* Sparse matrix in CSR, columns ascending in each row. */
typedef struct sparse {
    int64_t n, nnz;
    int64_t *offset;
    int32_t *column;
    double *value;
    bool divided; /* over ranks: offsets are whole, entries are those of sparse_rows; of the others
                     there is room alone, which takes no memory before it is written to */
} sparse;

/* For assertions: the columns of these rows are ascending without duplicates and in [0, n), and the values are not negative. */
bool sparse_rows_hold(const sparse *s, team_part rows);
/* Arrays for n rows and nnz entries, offsets zero; on error *s is all zero. */
ddsc_status sparse_new(ddsc_context *ctx, sparse *s, int64_t n, int64_t nnz);
void sparse_free(ddsc_context *ctx, sparse *s);
/* The rows that are here: all, or this rank's. */
team_part sparse_rows(const ddsc_context *ctx, const sparse *s);
/* The part of n rows that is a rank's own. */
team_part sparse_own(const ddsc_context *ctx, int64_t n);
/* The rows of all ranks to all. */
ddsc_status sparse_gather(ddsc_context *ctx, sparse *s);
/* Columns of `out` come out ascending even where those of `in` are in any order. */
ddsc_status sparse_transpose(ddsc_context *ctx, sparse *out, const sparse *in);
/* out = scale (S + T), of one size and divided alike, columns ascending. */
ddsc_status sparse_sum(ddsc_context *ctx, sparse *out, const sparse *s, const sparse *t,
                       double scale);

typedef struct affinity_settings {
    ddsc_gamma_rule rule;
    double gamma; /* with DDSC_GAMMA_VALUE */
    bool divided; /* each rank of a team makes its own rows */
} affinity_settings;

typedef struct affinity_report {
    double gamma;      /* the one used; 0 with local scaling */
    int64_t n_edges;   /* of the neighbour lists */
    int64_t n_clamped; /* edges of negative D^2, taken as 0 */
    int64_t n_faint;   /* items all of whose edges would vanish in double precision */
    bool
        flat; /* all D^2 are one and the same, 0 or below or of copies: nothing tells items apart */
} affinity_report;

/* A_ij of every edge of the lists (room for all of them), before it is made symmetric; fills gamma
 * alone in *report. */
ddsc_status affinity_weigh(ddsc_context *ctx, double *weight, affinity_report *report,
                           const ddsc_graph *graph, const affinity_settings *settings);
/* (A + A^T)/2 of A_ij = exp(-gamma D^2), or with local scaling exp(-2 D^2 / (s_i s_j)), D^2 clamped
 * at 0. No edge is lost: what underflows stays at AFFINITY_FLOOR, so connectivity is the graph's
 * own. */
ddsc_status affinity_build(ddsc_context *ctx, sparse *out, affinity_report *report,
                           const ddsc_graph *graph, const affinity_settings *settings);

/* exp(-gamma D^2), or where gamma is 0 exp(-2 D^2 / (s t)) of the two items' scales; D^2 clamped at
 * 0, at least AFFINITY_FLOOR. */
double affinity_value(double d2, double gamma, double s, double t);

/* Local scaling takes the distance to this neighbour, or to the last where fewer are known. */
enum { AFFINITY_NEIGHBOUR = 7 };

/* s_i of every item, raised to *least where it is smaller: a group of exact duplicates has s = 0.
 */
ddsc_status affinity_scales(ddsc_context *ctx, double *scale, double *least,
                            const ddsc_graph *graph);

/* Its square root's square root is still a normal double, so no scaling of it underflows. */
#define AFFINITY_FLOOR 1e-280

/* Component of every item, numbered by first appearance; an item without edges is one by itself. Entries
 * offset[i] .. offset[i + 1] of `column` are linked to i, in whatever direction. */
ddsc_status components_find(ddsc_context *ctx, int32_t *component, int64_t *n_components, int64_t n,
                            const int64_t *offset, const int32_t *column);

/* degree (n): row sums; m: S^-1/2 A S^-1/2, divided as A is. An item without edges gets degree 1 and
 * m_ii = 1: it is a component, and each component has one eigenvalue 1. */
ddsc_status operator_build(ddsc_context *ctx, sparse *m, double *degree, const sparse *a);
/* y = M x for a block of b vectors, rows contiguous (n x b); bits independent of threads. */
ddsc_status operator_apply(ddsc_context *ctx, const sparse *m, int64_t b, const double *x,
                           double *y);
/* The same for some rows: y has those alone, x all. */
ddsc_status operator_apply_rows(ddsc_context *ctx, const sparse *m, team_part rows, int64_t b,
                                const double *x, double *y);
/* y = scale (M x - shift x) - back y: one step of a three-term recurrence, in one sweep. */
ddsc_status operator_step(ddsc_context *ctx, const sparse *m, int64_t b, double scale, double shift,
                          double back, const double *x, double *y);

#endif
