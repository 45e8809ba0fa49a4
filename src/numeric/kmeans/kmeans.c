/* Runs the restarts of k-means, computes their objective, and numbers the clusters.
 *
 * The objective is computed from the labels alone. Equal partitions therefore have bitwise equal
 * objectives, however their clusters are numbered. Equal objectives thus show that restarts agree,
 * and the best restart is the same for any number of threads. Among equal objectives, the earliest
 * restart is used. */
#include "numeric/kmeans/kmeans.h"

#include <math.h>
#include <string.h>

#include "base/blocks.h"
#include "base/team.h"
#include "numeric/linalg/linalg.h"

enum { PIECE_MIN = 1024 };
/* If the first AGREEING restarts all end in the same partition, the others are skipped. With more
 * than MANY clusters, partitions hardly ever repeat. Restarts then run in groups of AGREEING until
 * the two best objectives differ by less than AGREEING_SHARE. For titles with K = 150, the
 * objectives of restarts differ by 0.8%, and the AMI does not depend on the objective. */
enum { AGREEING = 8, MANY = 64 };
static const double AGREEING_SHARE = 0.005;
/* If there are at least this many blocks of rows, the threads share the rows of one restart.
 * Otherwise, each thread runs its own restarts. */
enum { PIECES_SHARED = 16 };
/* Minimum number of operations that justifies waking a thread. */
enum { PIECE_WORK = 1 << 22 };

typedef struct inertia_job {
    const int32_t *labels;
    int64_t dim, piece_rows;
    const double *rows, *center;
    double *partial;
} inertia_job;

static ddsc_status inertia_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const inertia_job *j = arg;
    double sum = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        sum += la_distance2(j->dim, j->rows + i * j->dim, j->center + j->labels[i] * j->dim);
    j->partial[begin / j->piece_rows] = sum;
    return DDSC_OK;
}

void kmeans_means(double *center, int64_t *count, const int32_t *labels, int64_t k, int64_t n,
                  int64_t dim, const double *rows)
{
    memset(center, 0, (size_t)(k * dim) * sizeof *center);
    memset(count, 0, (size_t)k * sizeof *count);
    DDSC_ASSERT(invariant_range(labels, n, 0, k));
    for (int64_t i = 0; i < n; i++) {
        count[labels[i]]++;
        for (int64_t c = 0; c < dim; c++)
            center[labels[i] * dim + c] += rows[i * dim + c];
    }
    for (int64_t c = 0; c < k * dim; c++)
        center[c] /= (double)BASE_MAX(count[c / dim], 1);
}

ddsc_status kmeans_pieces(ddsc_context *ctx, const kmeans_problem *problem, int64_t grain,
                          parallel_fn fn, void *arg)
{
    if (!problem->alone)
        return parallel_for(ctx, problem->n, grain, fn, arg);
    if (ctx_canceled(ctx))
        return DDSC_ERROR_CANCELED;
    for (int64_t begin = 0; begin < problem->n; begin += grain)
        CHECK(fn(arg, begin, BASE_MIN(problem->n, begin + grain), 0));
    return DDSC_OK;
}

ddsc_status kmeans_inertia(ddsc_context *ctx, double *inertia, const int32_t *labels,
                           const kmeans_problem *p)
{
    ddsc_status status = DDSC_OK;
    double *center = NULL;
    int64_t *count = NULL;
    inertia_job j = {labels,  p->dim, BASE_MAX(PIECE_MIN, PIECE_WORK / (2 * p->dim)),
                     p->rows, NULL,   NULL};
    TRY(MEM_NEW(ctx, center, p->k * p->dim));
    TRY(MEM_NEW(ctx, count, p->k));
    TRY(MEM_NEW(ctx, j.partial, p->n / j.piece_rows + 1));
    kmeans_means(center, count, labels, p->k, p->n, p->dim, p->rows);
    j.center = center;
    TRY(kmeans_pieces(ctx, p, j.piece_rows, inertia_piece, &j));
    *inertia = tree_sum(j.partial, (p->n + j.piece_rows - 1) / j.piece_rows, 1);
    DDSC_ASSERT(*inertia >= 0);
done:
    MEM_FREE(ctx, j.partial, count, center);
    return status;
}

ddsc_status kmeans_renumber(ddsc_context *ctx, int32_t *labels, int64_t *n_found, int64_t n,
                            int64_t k)
{
    int32_t *number = NULL, next = 0;
    DDSC_ASSERT(invariant_range(labels, n, 0, k));
    CHECK(MEM_NEW(ctx, number, k));
    for (int64_t c = 0; c < k; c++)
        number[c] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (number[labels[i]] < 0)
            number[labels[i]] = next++;
        labels[i] = number[labels[i]];
    }
    *n_found = next;
    DDSC_ASSERT(next <= k && invariant_range(labels, n, 0, next));
    mem_free(ctx, number);
    return DDSC_OK;
}

/* ---- restarts ---- */

/* The arrays that a worker needs for a restart, and its best result so far. */
typedef struct runner {
    lloyd *l; /* NULL if there is a table of pairs, in which case t is used */
    lloyd_table *t;
    int64_t *row; /* k: rows that are the starting centers */
    double least;
    int64_t which; /* the restart that found it; -1: no restart has run */
    int32_t *best;
    /* if requested, the runner's best results among the first restarts, in order of quality */
    int32_t *few;
    double few_objective[KMEANS_FEW + 1];
    int64_t few_which[KMEANS_FEW + 1], few_slot[KMEANS_FEW + 1], n_few;
} runner;

typedef struct kmeans_tries {
    ddsc_context *ctx;
    kmeans_problem p;
    kmeans_sample sample;
    runner *runners;
    int n_runners;
    bool divided;      /* true if the ranks of a team share the restarts */
    int64_t most;      /* largest number of restarts */
    int64_t first;     /* restart of loop index 0 */
    double *objective; /* objective of each restart */
} kmeans_tries;

static ddsc_status tries_create(kmeans_tries *f)
{
    CHECK(MEM_ZERO(f->ctx, f->runners, f->n_runners));
    CHECK(MEM_NEW(f->ctx, f->objective, f->most));
    for (int w = 0; w < f->n_runners; w++) {
        runner *r = &f->runners[w];
        r->which = -1;
        CHECK(MEM_NEW(f->ctx, r->row, f->p.k));
        CHECK(MEM_NEW(f->ctx, r->best, f->p.n));
        if (f->p.few)
            CHECK(MEM_NEW(f->ctx, r->few, (KMEANS_FEW + 1) * f->p.n));
        CHECK(f->p.pairs ? lloyd_table_create(f->ctx, &r->t, &f->p)
                         : lloyd_create(f->ctx, &r->l, &f->p, false));
    }
    return DDSC_OK;
}

static void tries_free(kmeans_tries *f)
{
    for (int w = 0; f->runners && w < f->n_runners; w++) {
        lloyd_table_destroy(f->runners[w].t);
        lloyd_destroy(f->runners[w].l);
        MEM_FREE(f->ctx, f->runners[w].few, f->runners[w].best, f->runners[w].row);
    }
    MEM_FREE(f->ctx, f->objective, f->runners);
}

static ddsc_status run_from_start(const kmeans_tries *f, runner *r, int64_t k,
                                  const int32_t **found)
{
    int64_t dim = f->p.dim;
    if (r->t)
        return lloyd_table_run(r->t, r->row, k, found);
    for (int64_t c = 0; c < k; c++)
        memcpy(lloyd_centers(r->l) + c * dim, f->p.rows + r->row[c] * dim,
               (size_t)dim * sizeof(double));
    return lloyd_run(r->l, k, found);
}

/* Stores a result if it is among the best KMEANS_FEW + 1 of this runner. */
static void keep_few(runner *r, int64_t n, const int32_t *found, double objective, int64_t which)
{
    int64_t at = r->n_few, slot = r->n_few;
    while (at > 0 && (objective < r->few_objective[at - 1] ||
                      (objective == r->few_objective[at - 1] && which < r->few_which[at - 1])))
        at--;
    if (at > KMEANS_FEW)
        return;
    if (r->n_few > KMEANS_FEW) /* drops the worst result */
        slot = r->few_slot[--r->n_few];
    for (int64_t i = r->n_few; i > at; i--) {
        r->few_objective[i] = r->few_objective[i - 1];
        r->few_which[i] = r->few_which[i - 1];
        r->few_slot[i] = r->few_slot[i - 1];
    }
    r->few_objective[at] = objective;
    r->few_which[at] = which;
    r->few_slot[at] = slot;
    r->n_few++;
    memcpy(r->few + slot * n, found, (size_t)n * sizeof *found);
}

static void drop_first(runner *r)
{
    r->n_few--;
    for (int64_t i = 0; i < r->n_few; i++) {
        r->few_objective[i] = r->few_objective[i + 1];
        r->few_which[i] = r->few_which[i + 1];
        r->few_slot[i] = r->few_slot[i + 1];
    }
}

/* Collects the best results of all runners, except that of restart `best`. */
static void give_few(const kmeans_tries *f, int64_t best)
{
    kmeans_few *few = f->p.few;
    for (few->n = 0; few->n < KMEANS_FEW;) {
        runner *from = NULL;
        for (int w = 0; w < f->n_runners; w++) {
            runner *r = &f->runners[w];
            if (r->n_few > 0 && r->few_which[0] == best)
                drop_first(r);
            if (r->n_few > 0 && (!from || r->few_objective[0] < from->few_objective[0] ||
                                 (r->few_objective[0] == from->few_objective[0] &&
                                  r->few_which[0] < from->few_which[0])))
                from = r;
        }
        if (!from)
            return;
        memcpy(few->labels + few->n++ * f->p.n, from->few + from->few_slot[0] * f->p.n,
               (size_t)f->p.n * sizeof *few->labels);
        best = from->few_which[0]; /* the next pass drops it */
    }
}

/* Runs restarts [begin, end) of the loop. */
static ddsc_status run_restarts(void *arg, int64_t begin, int64_t end, int worker)
{
    kmeans_tries *f = arg;
    runner *r = &f->runners[worker];
    for (int64_t t = f->first + begin; t < f->first + end; t++) {
        rng random = rng_make(ctx_seed(f->ctx), RNG_KMEANS, (uint64_t)t);
        const int32_t *found;
        double objective;
        int64_t k;
        f->objective[t] = -1;
        if (f->divided && t % team_size(f->ctx) != team_rank(f->ctx))
            continue;
        CHECK(kmeans_start_sampled(f->ctx, r->row, &k, &f->p, &f->sample, &random));
        CHECK(run_from_start(f, r, k, &found));
        CHECK(kmeans_inertia(f->ctx, &objective, found, &f->p));
        progress_add(f->ctx, t < f->p.restarts ? f->p.progress : 0);
        f->objective[t] = objective;
        if (f->p.few && t < f->p.restarts)
            keep_few(r, f->p.n, found, objective, t);
        if (r->which < 0 || objective < r->least || (objective == r->least && t < r->which)) {
            r->least = objective;
            r->which = t;
            memcpy(r->best, found, (size_t)f->p.n * sizeof *r->best);
        }
    }
    return DDSC_OK;
}

static ddsc_status run_some(kmeans_tries *f, int64_t first, int64_t end)
{
    f->first = first;
    CHECK(f->p.alone ? parallel_for(f->ctx, end - first, 1, run_restarts, f)
                     : run_restarts(f, 0, end - first, 0));
    return f->divided ? team_largest(f->ctx, f->objective + first, end - first) : DDSC_OK;
}

static bool all_agree(const kmeans_tries *f, int64_t n)
{
    for (int64_t t = 1; t < n; t++)
        if (f->objective[t] != f->objective[0])
            return false;
    return true;
}

/* Returns true if at least two of the first n restarts found the best partition. */
static bool found_twice(const kmeans_tries *f, int64_t n)
{
    int64_t times = 0;
    double least = INFINITY;
    for (int64_t t = 0; t < n; t++) {
        times = f->objective[t] < least ? 1 : times + (f->objective[t] == least);
        least = fmin(least, f->objective[t]);
    }
    return times > 1;
}

static bool best_agree(const kmeans_tries *f, int64_t n)
{
    double best = INFINITY, second = INFINITY;
    for (int64_t t = 0; t < n; t++) {
        double objective = f->objective[t];
        second = fmin(second, fmax(objective, best));
        best = fmin(best, objective);
    }
    return second <= best * (1 + AGREEING_SHARE);
}

/* Runs the restarts, and stops early if they agree. If they do not agree, runs more until the best
 * partition has been found twice. With many clusters, two equal partitions are unlikely, so two
 * restarts with nearly the best inertia count as agreement. Returns the number of restarts in
 * *n_run. */
static ddsc_status run_until_agreed(kmeans_tries *f, int64_t *n_run)
{
    int64_t restarts = f->p.restarts;
    bool many = f->p.k > MANY, agreed = false;
    for (*n_run = 0; *n_run < restarts && !agreed;) {
        int64_t next = *n_run == 0 || many ? BASE_MIN(restarts, *n_run + AGREEING) : restarts;
        CHECK(run_some(f, *n_run, next));
        *n_run = next;
        agreed = many ? next >= AGREEING && best_agree(f, next) : all_agree(f, next);
    }
    progress_add(f->ctx, (restarts - *n_run) * f->p.progress);
    while (!many && !agreed && *n_run < f->most && !found_twice(f, *n_run)) {
        int64_t next = BASE_MIN(*n_run + restarts, f->most);
        CHECK(run_some(f, *n_run, next));
        *n_run = next;
    }
    return DDSC_OK;
}

/* Returns the runner with the best restart. At least one restart must have run. */
static runner *best_runner(const kmeans_tries *f)
{
    runner *best = &f->runners[0];
    for (int w = 1; w < f->n_runners; w++) {
        runner *r = &f->runners[w];
        bool better = r->least < best->least || (r->least == best->least && r->which < best->which);
        if (r->which >= 0 && (best->which < 0 || better))
            best = r;
    }
    return best;
}

/* Copies the labels of the best restart from the rank that ran it. On this rank, it is also the
 * best restart. */
static ddsc_status share_best(const kmeans_tries *f, runner *best, int64_t n_run)
{
    int64_t which = 0, *parts = NULL;
    for (int64_t t = 1; t < n_run; t++)
        if (f->objective[t] < f->objective[which])
            which = t;
    CHECK(MEM_ZERO(f->ctx, parts, team_size(f->ctx)));
    parts[which % team_size(f->ctx)] = f->p.n * (int64_t)sizeof *best->best;
    best->least = f->objective[which];
    ddsc_status status = team_gather_parts(f->ctx, best->best, parts);
    mem_free(f->ctx, parts);
    return status;
}

ddsc_status kmeans_fit(ddsc_context *ctx, int32_t *labels, double *inertia, int64_t *n_found,
                       const kmeans_problem *problem)
{
    ddsc_status status = DDSC_OK;
    kmeans_tries f = {.ctx = ctx, .p = *problem};
    double *pairs = NULL;
    int64_t n_run;
    f.most = BASE_MAX(problem->restarts, problem->most);
    if (!problem->pairs)
        TRY(kmeans_pairs(ctx, &pairs, problem));
    if (pairs)
        f.p.pairs = pairs;
    f.p.alone = f.p.pairs || lloyd_pieces(problem) < PIECES_SHARED;
    f.divided = !f.p.pairs && lloyd_pieces(problem) > 1 && team_size(ctx) > 1;
    TRY(kmeans_sample_create(ctx, &f.sample, &f.p));
    f.n_runners = f.p.alone ? (int)BASE_MIN(parallel_width(ctx), problem->restarts) : 1;
    TRY(tries_create(&f));
    TRY(run_until_agreed(&f, &n_run));
    runner *best = best_runner(&f);
    DDSC_ASSERT(best->which >= 0 || f.divided);
    if (problem->few && !f.divided)
        give_few(&f, best->which);
    if (f.divided)
        TRY(share_best(&f, best, n_run));
    TRY(kmeans_renumber(ctx, best->best, n_found, problem->n, problem->k));
    memcpy(labels, best->best, (size_t)problem->n * sizeof *labels);
    *inertia = best->least;
done:
    tries_free(&f);
    kmeans_sample_free(ctx, &f.sample);
    mem_free(ctx, pairs);
    return status;
}
