/* kmeans: Lloyd's algorithm from k-means++ starts, for rows with or without weights. The result
 * does not depend on the number of threads. */
#ifndef DDSC_NUMERIC_KMEANS_KMEANS_H
#define DDSC_NUMERIC_KMEANS_KMEANS_H

#include "base/base.h"

/* The best results of the first `restarts` restarts, except the one that kmeans_fit returns. */
enum { KMEANS_FEW = 5 };
typedef struct kmeans_few {
    int32_t *labels; /* KMEANS_FEW x n, provided by the caller */
    int64_t n;       /* number of labelings; 0 if the ranks of a team share the restarts */
} kmeans_few;

typedef struct kmeans_problem {
    int64_t n, dim;
    const double *rows; /* n x dim; for full accuracy, the mean should be near zero */
    int64_t k, restarts;
    int64_t progress;     /* progress units per restart */
    const double *weight; /* n, positive; NULL: all 1 */
    /* Number of random candidates for each center during initialization; 0: 2 + log k. */
    int draws;
    const double *pairs; /* n x n squared distances from kmeans_pairs, or NULL */
    /* True if all rows have a length of at most 1. Initial centers may then be drawn from a sample,
     * because no row can dominate the variance. */
    bool bounded;
    /* Maximum number of restarts. After `restarts` restarts, more follow until the best partition
     * has been found twice. 0: no more follow. */
    int64_t most;
    kmeans_few *few; /* output, or NULL */
    bool alone;      /* true if k-means runs inside a parallel loop and must not use threads */
} kmeans_problem;

static inline double kmeans_weight(const kmeans_problem *p, int64_t row)
{
    return p->weight ? p->weight[row] : 1;
}

/* Runs the restarts and returns the best partition. If the first eight restarts end in the same
 * partition, the others are skipped. With many clusters, the other restarts are skipped once the
 * two best objectives nearly agree. Labels are numbered in order of first appearance. *n_found is
 * smaller than k if there are fewer distinct rows or if clusters remained empty. Rows must not be
 * weighted. */
ddsc_status kmeans_fit(ddsc_context *ctx, int32_t *labels, double *inertia, int64_t *n_found,
                       const kmeans_problem *problem);
/* Computes the table of squared distances that all restarts, and all k on the same rows, can share.
 * The table is NULL if computing it would not save time. If the problem has no table, kmeans_fit
 * computes its own. */
ddsc_status kmeans_pairs(ddsc_context *ctx, double **pairs, const kmeans_problem *problem);
/* Computes the table even if this would not save time. */
ddsc_status kmeans_pairs_fill(ddsc_context *ctx, double **pairs, const kmeans_problem *problem);
/* Returns the number of random candidates for each initial center. */
int kmeans_draws(const kmeans_problem *problem);
/* Chooses up to k centers (k x dim) from the rows by greedy k-means++. *n_centers is smaller if
 * there are fewer distinct rows. */
ddsc_status kmeans_start(ddsc_context *ctx, double *centers, int64_t *n_centers,
                         const kmeans_problem *problem, rng *r);
/* Does the same as kmeans_start, but returns the indices of up to k rows. */
ddsc_status kmeans_start_rows(ddsc_context *ctx, int64_t *row, int64_t *n_centers,
                              const kmeans_problem *problem, rng *r);
/* A sample of the rows, with the squared distances between them, from which all restarts choose
 * their initial centers. */
typedef struct kmeans_sample {
    int64_t *from;        /* row numbers */
    double *rows, *pairs; /* arrays to which `among` refers */
    kmeans_problem among; /* n is 0 if there is no common sample */
} kmeans_sample;

/* Draws a sample if there are many clusters and the rows are bounded. Computing the table of the
 * sample then takes less time than the distances of one restart. */
ddsc_status kmeans_sample_create(ddsc_context *ctx, kmeans_sample *s,
                                 const kmeans_problem *problem);
void kmeans_sample_free(ddsc_context *ctx, kmeans_sample *s);
/* Does the same as kmeans_start_rows with a sample of the rows. Uses the common sample if there is
 * one. Otherwise, if there are many bounded rows, draws a sample for this call. One row is sampled
 * from each of many ranges of equal length. If the sample has fewer than k distinct rows, all rows
 * are used. Initialization needs only one point in every cluster, and 16 sampled rows per cluster
 * provide such points as reliably as all rows. Lloyd's iterations then use every row. */
ddsc_status kmeans_start_sampled(ddsc_context *ctx, int64_t *row, int64_t *n_centers,
                                 const kmeans_problem *problem, const kmeans_sample *common,
                                 rng *r);
/* Calls parallel_for or, if problem->alone is set, processes the same ranges of rows one after
 * another. */
ddsc_status kmeans_pieces(ddsc_context *ctx, const kmeans_problem *problem, int64_t grain,
                          parallel_fn fn, void *arg);
/* Computes the means (k x dim) and sizes (k) of the clusters, for labels in 0 .. k-1. The mean of
 * an empty cluster is 0. */
void kmeans_means(double *center, int64_t *count, const int32_t *labels, int64_t k, int64_t n,
                  int64_t dim, const double *rows);
/* Computes the sum of squared distances between the rows and the means of their clusters, for
 * labels in 0 .. k-1. The result does not depend on the numbering of the clusters. */
ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels,
                           const kmeans_problem *problem);
/* Renumbers clusters in order of first appearance and counts them in *n_found. Labels must be below
 * k. */
ddsc_status kmeans_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k);

/* ---- one run of Lloyd's algorithm from given centers ---- */

typedef struct lloyd lloyd;

/* Creates the workspace. If `plain` is true, every iteration compares every row with every center;
 * only tests use this. */
ddsc_status lloyd_create(ddsc_context *ctx, lloyd **out, const kmeans_problem *p, bool plain);
void lloyd_destroy(lloyd *l);
/* Returns the array of up to k centers (k x dim). The caller fills the array before a run. After
 * the run, the array contains the resulting means. */
double *lloyd_centers(lloyd *l);
/* Runs the algorithm from n_centers centers and returns the labels (n, borrowed). */
ddsc_status lloyd_run(lloyd *l, int64_t n_centers, const int32_t **labels);
/* Returns the number of rows whose distances to all centers were computed, over all iterations and
 * runs. */
int64_t lloyd_work(const lloyd *l);
/* Returns the number of blocks into which the rows are divided. */
int64_t lloyd_pieces(const kmeans_problem *p);

/* ---- the same algorithm with the table of pairs instead of coordinates ---- */

typedef struct lloyd_table lloyd_table;

ddsc_status lloyd_table_create(ddsc_context *ctx, lloyd_table **out, const kmeans_problem *p);
void lloyd_table_destroy(lloyd_table *t);
/* Runs the algorithm from centers that are rows, such as those from kmeans_start_rows. */
ddsc_status lloyd_table_run(lloyd_table *t, const int64_t *row, int64_t n_centers,
                            const int32_t **labels);

#endif
