/* kmeans: Lloyd's algorithm from k-means++ starts, for rows with or without weights. The result does
 * not depend on the thread count. */
#ifndef DDSC_NUMERIC_KMEANS_KMEANS_H
#define DDSC_NUMERIC_KMEANS_KMEANS_H

#include "base/base.h"

typedef struct kmeans_problem {
    int64_t n, dim;
    const double *rows; /* n x dim; near mean zero products lose fewest digits */
    int64_t k, restarts;
    int64_t progress;     /* units added for each restart */
    const double *weight; /* n, positive; NULL: all 1 */
    int draws;            /* of which the best is the next centre of a start; 0: 2 + log k */
    const double *pairs;  /* n x n squared distances of the rows, of kmeans_pairs; NULL: none */
    bool bounded; /* rows of length 1 at most: none can hold most of the spread, so that starts may
                             be drawn from a sample */
    bool alone;   /* within a piece of another parallel loop: no threads */
} kmeans_problem;

static inline double kmeans_weight(const kmeans_problem *p, int64_t row)
{
    return p->weight ? p->weight[row] : 1;
}

/* Best of the restarts; where the first eight all end in one partition, of those eight. Labels
 * numbered by first appearance. Where the rows take fewer than k distinct values, *n_found is that
 * number, else k unless clusters ran empty for good. Not for weighted rows. */
ddsc_status kmeans_fit(ddsc_context *ctx, int32_t *labels, double *inertia, int64_t *n_found,
                       const kmeans_problem *problem);
/* The table of squared distances that all restarts, and all k on the same rows, can share; NULL where
 * it would not pay. kmeans_fit makes its own where the problem has none. */
ddsc_status kmeans_pairs(ddsc_context *ctx, double **pairs, const kmeans_problem *problem);
/* Draws for each centre of a start. */
int kmeans_draws(const kmeans_problem *problem);
/* Greedy k-means++: up to k centres (k x dim) drawn from the rows; *n_centres fewer when the rows
 * have fewer distinct values. */
ddsc_status kmeans_start(ddsc_context *ctx, double *centres, int64_t *n_centres,
                         const kmeans_problem *problem, rng *r);
/* The same as numbers of rows (k of them). */
ddsc_status kmeans_start_rows(ddsc_context *ctx, int64_t *row, int64_t *n_centres,
                              const kmeans_problem *problem, rng *r);
/* The same on a sample of the rows where they are bounded and many, one from each of as many equal parts; on all
 * where the sample has fewer than k distinct values. What a start has to hit is a place in every
 * cluster, which a few thousand rows show as well as all; Lloyd's rounds then see every row. */
ddsc_status kmeans_start_sampled(ddsc_context *ctx, int64_t *row, int64_t *n_centres,
                                 const kmeans_problem *problem, rng *r);
/* parallel_for, or where the problem is alone the same pieces one after another. */
ddsc_status kmeans_pieces(ddsc_context *ctx, const kmeans_problem *problem, int64_t grain,
                          parallel_fn fn, void *arg);
/* Means of clusters (k x dim) and their sizes (k), labels in 0 .. k-1; the mean of no rows is 0. */
void kmeans_means(double *centre, int64_t *count, const int32_t *labels, int64_t k, int64_t n,
                  int64_t dim, const double *rows);
/* Sum of squared distances of the rows to the means of their clusters, labels in 0 .. k-1. It does not
 * depend on the numbers of the clusters. */
ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels,
                           const kmeans_problem *problem);
/* Numbers in order of first appearance; *n_found of them. Labels below k. */
ddsc_status kmeans_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k);

/* ---- one run of Lloyd's algorithm from given centres ---- */

typedef struct lloyd lloyd;

/* plain: every row against every centre in every round, for tests. */
ddsc_status lloyd_create(ddsc_context *ctx, lloyd **out, const kmeans_problem *p, bool plain);
void lloyd_destroy(lloyd *l);
/* Up to k centres (k x dim), for the caller to fill before a run; after it, the means reached. */
double *lloyd_centres(lloyd *l);
/* Labels (n, borrowed) of the partition reached from n_centres centres. */
ddsc_status lloyd_run(lloyd *l, int64_t n_centres, const int32_t **labels);
/* Rows whose distances to all centres were computed, over all rounds and runs. */
int64_t lloyd_work(const lloyd *l);
/* Pieces that the rows are cut into. */
int64_t lloyd_pieces(const kmeans_problem *p);

/* ---- the same from the table of pairs alone ---- */

typedef struct lloyd_table lloyd_table;

ddsc_status lloyd_table_create(ddsc_context *ctx, lloyd_table **out, const kmeans_problem *p);
void lloyd_table_destroy(lloyd_table *t);
/* The centres are rows: n_centres of them, from kmeans_start_rows. */
ddsc_status lloyd_table_run(lloyd_table *t, const int64_t *row, int64_t n_centres,
                            const int32_t **labels);

#endif
