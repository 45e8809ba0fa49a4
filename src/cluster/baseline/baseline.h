/* baseline: what the paper compares with. Barycenters and the clustering by them (D2, PD2), in W2 or
 * under another ground cost: a method proposes centres, exact transport judges them. Sums over items go in pieces whose
 * borders depend on the problem alone, added in order. */
#ifndef DDSC_CLUSTER_BASELINE_BASELINE_H
#define DDSC_CLUSTER_BASELINE_BASELINE_H

#include "base/workspace.h"
#include "data/measures.h"
#include "distance/exact/exact.h"
#include "neighbors/metric/metric.h"

/* ---- centres: k measures of n points each ---- */

typedef struct centres {
    int64_t k, n, d;
    double *x;     /* k n x d */
    double *w;     /* k n, positive, sum 1 within a centre */
    measures view; /* the same as a set of k items; owns the small arrays alone */
} centres;

ddsc_status centres_create(ddsc_context *ctx, centres *c, int64_t k, int64_t n, int64_t d);
void centres_free(ddsc_context *ctx, centres *c);
void centres_copy(centres *to, const centres *from);
void centre_copy(centres *to, const centres *from, int64_t which);
/* Centre `which` becomes the item, merged where it has more than n points; where it has fewer the
 * heaviest are split and the halves moved apart by normal steps of size `jitter`. */
ddsc_status centre_from_item(ddsc_context *ctx, centres *c, int64_t which, const measures *m,
                             int64_t item, double jitter, rng *r);
/* The same over the rows of a matrix of costs: the heaviest points are kept, and halves go to the
 * nearest rows that are free. */
ddsc_status centre_from_rows(ddsc_context *ctx, centres *c, int64_t which, const measures *m,
                             int64_t item, const ground_cost *ground);
/* Weights that sum to 1, none so small that a solver could not see it. */
void centre_normalise(double *w, int64_t n);
/* The rounded mean size of an item. */
int64_t centre_size_default(const measures *m);

/* ---- items: mean and spread, which give mean costs and a lower bound ---- */

typedef struct moments {
    double *mean;   /* n x d */
    double *spread; /* mean squared distance of an item's points from its mean */
} moments;

ddsc_status moments_make(ddsc_context *ctx, moments *out, const measures *m);
void moments_free(ddsc_context *ctx, moments *o);
/* Size of the steps that move split points apart: a tenth of the root mean spread by coordinate. */
double moments_jitter(const moments *o, const measures *m);

/* ---- groups: items by cluster, cut into pieces ---- */

typedef struct piece {
    int64_t begin, end; /* in `item` */
    int64_t cluster;
} piece;

typedef struct item_groups {
    int64_t n, k, n_pieces, piece_size;
    int32_t *item;  /* by cluster, ascending within */
    int64_t *begin; /* k + 1 */
    piece *pieces;
} item_groups;

/* ---- fit: items, centres and what is summed over them ---- */

/* What one worker needs for one item; matrices are n rows of the item's padded size. */
typedef struct plan_work {
    double *y;        /* coordinate by coordinate: d rows */
    double *cost, *p; /* n rows */
    double *b, *column;
    double *row; /* n */
} plan_work;

/* Exact plans of all items, kept where the best place for a point is no mean: those of item i from
 * i n + offset[i] on. Then those of one cluster, by point of its centre. */
typedef struct flows {
    int32_t *row, *to; /* point of the centre, row of the support table */
    double *mass;
    int64_t *count; /* by item */
    int64_t *begin; /* n + 1 */
    int32_t *target;
    int32_t *order; /* by a coordinate; of a matrix, the row that each point wants */
    double *share, *key, *gain;
    bool *held;    /* by row of a matrix: a point of the centre is there */
    scratch place; /* two points, or two numbers for each row of a matrix */
    workspace own; /* of the arrays above */
} flows;

typedef struct fit {
    ddsc_context *ctx;
    const measures *m;
    ground_cost ground;
    const double *item_weight; /* NULL: all 1 */
    double largest_weight;     /* of an item; the mean of all over it: */
    double mean_weight;
    moments stats;
    centres c; /* in hand: what methods move and exact transport judges */
    item_groups g;
    exact_solver **solver; /* one per worker */
    scratch work;          /* of plan_work */
    int64_t stride;        /* of the largest item */
    int n_workers;

    /* Sums over a piece, and over a cluster: n x d moments, then n masses, n row values, and the
     * extra ones a method asks for. */
    int64_t slot;
    double *piece_sum, *sum;
    flows flow;
} fit;

enum { FIT_EXTRA = 4 }; /* sums beside those of rows that any method has */

ddsc_status fit_open(fit *f, ddsc_context *ctx, const measures *m, const ground_cost *ground,
                     int64_t k, int64_t n, int64_t extra, const double *item_weight);
void fit_close(fit *f);
/* Is the mean the best place for mass? Methods move points under such costs alone. */
static inline bool fit_means(const fit *f)
{
    return f->ground.kind == DDSC_COST_SQEUCLIDEAN;
}
/* Centre `which` becomes the item, as its cost asks for. */
ddsc_status fit_start_centre(fit *f, int64_t which, int64_t item, rng *r);
/* Labels in 0 .. k-1; a negative one leaves the item out. */
void fit_group(fit *f, const int32_t *label);
/* 1 in the mean: methods weigh costs against a penalty, so that it matters what the callers' unit is. */
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
/* Where the plans of each item begin when all are kept, one after the other (n + 1). */
ddsc_status fit_plan_starts(const fit *f, int64_t **at);
/* Weights of the item into b of the worker, padded; costs to its centre into its cost. */
void fit_load_weights(fit *f, int64_t item, int worker);
void fit_load_cost(fit *f, int64_t cluster, int64_t item, int worker);
/* Add the moments and masses of a plan (n rows of the item's padded size) to a slot. */
void fit_add_plan(const fit *f, double *slot, int64_t item, const double *plan);
/* Does one piece; `slot` is zero before. */
typedef ddsc_status (*piece_fn)(void *state, const piece *p, double *slot, int worker);
/* All pieces, then their sums by cluster. */
ddsc_status fit_sweep(fit *f, piece_fn fn, void *state);
/* x = moments / mass, where there is mass; the cost at fixed plans falls by what is returned. */
double fit_move_to_means(fit *f, int64_t cluster);
/* Mean cost between a centre and the items of its cluster, their weights counted. */
double fit_mean_cost(fit *f, int64_t cluster);
/* A lower bound of the cost between measures with these means. */
double fit_mean_bound(const fit *f, const double *mean, const double *other);
/* The distance that obeys the triangle inequality, from a cost and back; 0 where none is known. */
double fit_distance(const fit *f, double cost);
double fit_cost(const fit *f, double distance);

/* Weights go down the slope that an exact pass left, by factors of at most e^step. */
void fit_step_weights(fit *f, int64_t cluster, double step);

/* Exact transport from item i of a set to an item. */
ddsc_status fit_solve(const fit *f, int worker, exact_result *found, const measures *from,
                      int64_t i, int64_t item);
/* Exact transport of each item to its own centre: value[item] = W2^2; moments and masses of the
 * plans are in `sum`, potentials of the centre in its rows (the slope of the cost in the weights),
 * its first extra value is the cost of the cluster. */
ddsc_status fit_exact_pass(fit *f, double *value);

/* ---- where mass is best placed (move.c) ---- */

ddsc_status fit_flows_open(fit *f);
void fit_flows_close(fit *f);
/* The plan that the solver has just found. */
void fit_flows_keep(fit *f, int64_t item, const exact_solver *solver, int64_t n_plan);
/* After an exact pass: points of the centre to the best places for what they send, by the plans of
 * the pass. The cost at fixed plans falls by *gain. */
ddsc_status fit_move(fit *f, int64_t cluster, double *gain);

/* ---- methods that propose centres ---- */

typedef struct method_settings {
    double rho, epsilon;
    int64_t projection_dim;
} method_settings;

typedef struct centre_method {
    const char *name;
    int64_t (*extra)(int64_t d, const method_settings *set); /* sums it needs; NULL: none */
    ddsc_status (*open)(void **state, fit *f, const method_settings *set);
    /* Up to `rounds` rounds from the centres in hand; *done of them. *settled: going on would
     * change little. */
    ddsc_status (*run)(void *state, int64_t rounds, int64_t *done, bool *settled);
    /* The item changed cluster: forget its plan. */
    void (*forget)(void *state, int64_t item);
    void (*close)(void *state);
    bool judged; /* its centres are kept only where exact transport finds them better */
} centre_method;

static inline int64_t method_extra(const centre_method *m, int64_t d, const method_settings *set)
{
    return m->extra ? m->extra(d, set) : 0;
}

extern const centre_method method_admm, method_ibp, method_projected;
const centre_method *method_find(ddsc_barycenter_method method);

/* ---- settings ---- */

ddsc_status barycenter_settings_take(ddsc_context *ctx, ddsc_barycenter_settings *own,
                                     const ddsc_barycenter_settings *given);
/* The cost of the settings, checked, and the items as it sees them (metric_measures). */
ddsc_status barycenter_cost(ddsc_context *ctx, metric_resolved *cost, const measures *m,
                            const ddsc_barycenter_settings *set);
method_settings method_settings_of(const ddsc_barycenter_settings *set);

#endif
