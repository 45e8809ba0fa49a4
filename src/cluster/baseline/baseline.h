/* baseline: the methods that the paper compares with: Wasserstein barycenters, and the clustering
 * methods D2 and PD2 based on them, with W2 or another ground cost. An iterative method proposes
 * centers, and exact transport evaluates them. Sums over items are divided into pieces whose
 * boundaries depend only on the problem, and the pieces are added in order. */
#ifndef DDSC_CLUSTER_BASELINE_BASELINE_H
#define DDSC_CLUSTER_BASELINE_BASELINE_H

#include "base/workspace.h"
#include "data/measures.h"
#include "distance/exact/exact.h"
#include "neighbors/metric/metric.h"

/* ---- centers: k measures with n points each ---- */

typedef struct centers {
    int64_t k, n, d;
    double *x;     /* k n x d */
    double *w;     /* k n: positive, with sum 1 for each center */
    measures view; /* the centers as a set of k items; owns only the small arrays */
} centers;

ddsc_status centers_create(ddsc_context *ctx, centers *c, int64_t k, int64_t n, int64_t d);
void centers_free(ddsc_context *ctx, centers *c);
void centers_copy(centers *to, const centers *from);
void center_copy(centers *to, const centers *from, int64_t which);
/* Initializes center `which` from an item. If the item has more than n points, they are merged to n
 * points. If it has fewer, its heaviest points are split, and random normal steps of size `jitter`
 * separate the two halves. */
ddsc_status center_from_item(ddsc_context *ctx, centers *c, int64_t which, const measures *m,
                             int64_t item, double jitter, rng *r);
/* Does the same for points that are rows of a cost matrix. If the item has too many points, the
 * heaviest are used. The halves of split points move to the nearest free rows. */
ddsc_status center_from_rows(ddsc_context *ctx, centers *c, int64_t which, const measures *m,
                             int64_t item, const ground_cost *ground);
/* Normalizes the weights to a sum of 1, and raises very small weights to a minimum that a solver
 * can resolve. */
void center_normalize(double *w, int64_t n);
/* Returns the rounded mean size of an item. */
int64_t center_size_default(const measures *m);

/* ---- mean and spread of each item, for mean costs and a lower bound ---- */

typedef struct moments {
    double *mean;   /* n x d */
    double *spread; /* mean squared distance of an item's points from its mean */
} moments;

ddsc_status moments_make(ddsc_context *ctx, moments *out, const measures *m);
void moments_free(ddsc_context *ctx, moments *o);
/* Returns the size of the random steps that separate split points, a tenth of the root mean square
 * spread per coordinate. */
double moments_jitter(const moments *o, const measures *m);

/* ---- items grouped by cluster, divided into pieces ---- */

typedef struct piece {
    int64_t begin, end; /* range in `item` */
    int64_t cluster;
} piece;

typedef struct item_groups {
    int64_t n, k, n_pieces, piece_size;
    int32_t *item;  /* item numbers by cluster, ascending within a cluster */
    int64_t *begin; /* k + 1 */
    piece *pieces;
} item_groups;

/* ---- fit: items, centers and sums over items ---- */

/* Work arrays of one worker for one item. The rows of a matrix have the item's padded size. */
typedef struct plan_work {
    double *y;        /* d rows, one per coordinate */
    double *cost, *p; /* n rows */
    double *b, *column;
    double *row; /* n */
} plan_work;

/* The exact plans of all items, stored only if the mean does not minimize the cost. The plan of
 * item i starts at i n + offset[i]. The arrays from `begin` on contain the plans of one cluster,
 * grouped by the points of its center. */
typedef struct flows {
    int32_t *row, *to; /* point of the center; row of the support table */
    double *mass;
    int64_t *count; /* number of plan entries of each item */
    int64_t *begin; /* n + 1 */
    int32_t *target;
    int32_t *order; /* sort order along a coordinate; for a cost matrix, the row for each point */
    double *share, *key, *gain;
    bool *held;    /* one per row of the matrix: a point of the center occupies the row */
    scratch place; /* scratch memory for two points, or for two values per row of the matrix */
    workspace own; /* memory of the arrays above */
} flows;

typedef struct fit {
    ddsc_context *ctx;
    const measures *m;
    ground_cost ground;
    const double *item_weight; /* NULL: all weights are 1 */
    double largest_weight;     /* largest item weight; mean item weight divided by the largest */
    double mean_weight;
    moments stats;
    centers c; /* current centers, moved by methods and evaluated by exact transport */
    item_groups g;
    exact_solver **solver; /* one per worker */
    scratch work;          /* plan_work of each worker */
    int64_t stride;        /* padded size of the largest item */
    int n_workers;

    /* Number of values in the sums of a piece or a cluster: n x d moments, n masses, n row values,
     * and the additional sums that a method requests. */
    int64_t slot;
    double *piece_sum, *sum;
    flows flow;
} fit;

enum { FIT_EXTRA = 4 }; /* number of additional sums that are always available */

ddsc_status fit_open(fit *f, ddsc_context *ctx, const measures *m, const ground_cost *ground,
                     int64_t k, int64_t n, int64_t extra, const double *item_weight);
void fit_close(fit *f);
/* Returns true if the mean minimizes the cost. Methods move points only for such costs. */
static inline bool fit_means(const fit *f)
{
    return f->ground.kind == DDSC_COST_SQEUCLIDEAN;
}
/* Initializes center `which` from an item, using center_from_item or center_from_rows. */
ddsc_status fit_start_center(fit *f, int64_t which, int64_t item, rng *r);
/* Groups the items by label, 0 .. k-1. Items with a negative label are omitted. */
void fit_group(fit *f, const int32_t *label);
/* Returns the weight of an item, scaled to mean 1. Without scaling, the result would depend on the
 * unit of the caller's weights, because methods compare costs with a penalty. */
static inline double fit_weight(const fit *f, int64_t item)
{
    return f->item_weight ? f->item_weight[item] / f->largest_weight / f->mean_weight : 1.0;
}
static inline double *sum_mass(const fit *f, double *slot)
{
    return slot + f->c.n * f->c.d;
}
static inline double *sum_rows(const fit *f, double *slot)
{
    return slot + f->c.n * f->c.d + f->c.n;
}
static inline double *sum_extra(const fit *f, double *slot)
{
    return slot + f->c.n * f->c.d + 2 * f->c.n;
}
plan_work fit_work(const fit *f, int worker);
/* Computes the offset of each item's plan if all plans are stored consecutively (n + 1 values). */
ddsc_status fit_plan_starts(const fit *f, int64_t **at);
/* fit_load_weights copies the item's padded weights to the worker's arrays, and fit_load_cost
 * computes the costs between the center and the item. */
void fit_load_weights(fit *f, int64_t item, int worker);
void fit_load_cost(fit *f, int64_t cluster, int64_t item, int worker);
/* Adds the moments and masses of a plan, which has n rows of the item's padded size, to the sums in
 * `slot`. */
void fit_add_plan(const fit *f, double *slot, int64_t item, const double *plan);
/* Processes one piece and adds its sums to `slot`, which is initially zero. */
typedef ddsc_status (*piece_fn)(void *state, const piece *p, double *slot, int worker);
/* Processes all pieces and sums their results by cluster. */
ddsc_status fit_sweep(fit *f, piece_fn fn, void *state);
/* Sets x = moments / mass for points with positive mass. Returns the decrease of the cost for fixed
 * plans. */
double fit_move_to_means(fit *f, int64_t cluster);
/* Returns the weighted mean cost between a center and the items of its cluster, for independent
 * plans. */
double fit_mean_cost(fit *f, int64_t cluster);
/* Returns a lower bound on the cost between two measures, given their means. */
double fit_mean_bound(const fit *f, const double *mean, const double *other);
/* Converts a cost to a distance that satisfies the triangle inequality, or returns 0 if no such
 * distance exists. fit_cost is the inverse function. */
double fit_distance(const fit *f, double cost);
double fit_cost(const fit *f, double distance);

/* Moves the weights against the gradient from an exact pass. Each weight changes by a factor of at
 * most e^step. */
void fit_step_weights(fit *f, int64_t cluster, double step);

/* Solves exact transport between item i of the set `from` and item `item` of the fit. */
ddsc_status fit_solve(const fit *f, int worker, exact_result *found, const measures *from,
                      int64_t i, int64_t item);
/* Solves exact transport between each item and its center. Sets value[item] to the optimal cost.
 * Adds up by cluster, in f->sum: the moments and masses of the plans; the potentials of the center
 * as row values, which are the gradient of the cost with respect to the weights; and the cost as
 * the first additional sum. */
ddsc_status fit_exact_pass(fit *f, double *value);

/* ---- optimal positions of points (move.c) ---- */

ddsc_status fit_flows_open(fit *f);
void fit_flows_close(fit *f);
/* Stores the last plan of the solver as the plan of the item. */
void fit_flows_keep(fit *f, int64_t item, const exact_solver *solver, int64_t n_plan);
/* Moves the points of a center to their optimal positions for the plans of the last exact pass.
 * Sets *gain to the decrease of the cost for these fixed plans. */
ddsc_status fit_move(fit *f, int64_t cluster, double *gain);

/* ---- methods that propose centers ---- */

typedef struct method_settings {
    double rho, epsilon;
    int64_t projection_dim;
} method_settings;

typedef struct center_method {
    const char *name;
    int64_t (*extra)(
        int64_t d,
        const method_settings *set); /* returns the number of additional sums; NULL: none */
    ddsc_status (*open)(void **state, fit *f, const method_settings *set);
    /* Runs up to `rounds` rounds, starting from the current centers. Sets *done to the number of
     * completed rounds, and *settled to true if further rounds would change little. */
    ddsc_status (*run)(void *state, int64_t rounds, int64_t *done, bool *settled);
    /* Discards the plan of an item that has changed its cluster. */
    void (*forget)(void *state, int64_t item);
    void (*close)(void *state);
    bool judged; /* accept centers only if exact transport confirms an improvement */
} center_method;

static inline int64_t method_extra(const center_method *m, int64_t d, const method_settings *set)
{
    return m->extra ? m->extra(d, set) : 0;
}

extern const center_method method_admm, method_ibp, method_projected;
const center_method *method_find(ddsc_barycenter_method method);

/* ---- settings ---- */

ddsc_status barycenter_settings_take(ddsc_context *ctx, ddsc_barycenter_settings *own,
                                     const ddsc_barycenter_settings *given);
/* Checks the cost in the settings and resolves it for the items (metric_measures). */
ddsc_status barycenter_cost(ddsc_context *ctx, metric_resolved *cost, const measures *m,
                            const ddsc_barycenter_settings *set);
method_settings method_settings_of(const ddsc_barycenter_settings *set);

#endif
