/* Chooses starting centers by greedy k-means++ (Arthur and Vassilvitskii 2007), in which each
 * center is the best of a few random candidates. */
#include <math.h>
#include <string.h>

#include "base/blocks.h"
#include "numeric/kmeans/kmeans.h"
#include "numeric/linalg/linalg.h"

enum { PIECE_MIN = 1024, PIECE_WORK = 1 << 22, DRAWS_MAX = 16, CHUNK_ROWS = 64 };
/* Initialization may use a sample of SAMPLE_PER_CENTER rows per center, but at least SAMPLE_MIN
 * rows. If there are more than MANY centers, all restarts share one sample, of at least TABLE_LEAST
 * and at most TABLE_MOST rows, with a table of distances of at most 64 MiB. For titles with K =
 * 150, a restart takes 1.0 instead of 3.5 CPU seconds, and inertia and AMI are the same
 * (bench/shorttext_speed.py). */
enum {
    SAMPLE_MIN = 4096,
    MANY = 64,
    SAMPLE_PER_CENTER = 16,
    TABLE_LEAST = 2048,
    TABLE_MOST = 2896
};

typedef struct spread {
    const kmeans_problem *p;
    int64_t piece_rows;
    double *d2; /* squared distance of each row to its nearest center so far */
    int64_t drawn[DRAWS_MAX];
    int n_draws;
    double *rows;    /* n_draws x dim: copies of the candidates */
    double *partial; /* blocks x DRAWS_MAX: remaining sum for each candidate */
} spread;

/* Computes the squared distances (n x DRAWS_MAX) of n rows to the first n_draws candidates. */
static void draw_distances(const spread *s, int64_t first, int64_t n, int n_draws, double *d2)
{
    int64_t dim = s->p->dim;
    if (!s->p->pairs) {
        la_differences(n, n_draws, dim, s->p->rows + first * dim, s->rows, d2, DRAWS_MAX);
        return;
    }
    for (int t = 0; t < n_draws; t++) {
        const double *pair = s->p->pairs + s->drawn[t] * s->p->n + first;
        for (int64_t i = 0; i < n; i++)
            d2[i * DRAWS_MAX + t] = pair[i];
    }
}

/* Computes the weighted sum of min(d2, distance to the candidate) for every candidate. */
static ddsc_status try_draws(void *arg, int64_t begin, int64_t end, int worker)
{
    spread *s = arg;
    double *sum = s->partial + begin / s->piece_rows * DRAWS_MAX;
    (void)worker;
    memset(sum, 0, DRAWS_MAX * sizeof *sum);
    for (int64_t first = begin; first < end; first += CHUNK_ROWS) {
        double d2[CHUNK_ROWS * DRAWS_MAX];
        int64_t n = BASE_MIN(CHUNK_ROWS, end - first);
        draw_distances(s, first, n, s->n_draws, d2);
        for (int64_t i = 0; i < n; i++) {
            double weight = kmeans_weight(s->p, first + i), most = s->d2[first + i];
            for (int t = 0; t < s->n_draws; t++)
                sum[t] += weight * BASE_MIN(d2[i * DRAWS_MAX + t], most);
        }
    }
    return DDSC_OK;
}

/* Makes the first candidate the next center, and updates d2. */
static ddsc_status take_draw(void *arg, int64_t begin, int64_t end, int worker)
{
    spread *s = arg;
    double *sum = s->partial + begin / s->piece_rows * DRAWS_MAX;
    (void)worker;
    *sum = 0;
    for (int64_t first = begin; first < end; first += CHUNK_ROWS) {
        double d2[CHUNK_ROWS * DRAWS_MAX];
        int64_t n = BASE_MIN(CHUNK_ROWS, end - first);
        draw_distances(s, first, n, 1, d2);
        for (int64_t i = 0; i < n; i++) {
            s->d2[first + i] = BASE_MIN(d2[i * DRAWS_MAX], s->d2[first + i]);
            *sum += kmeans_weight(s->p, first + i) * s->d2[first + i];
        }
    }
    return DDSC_OK;
}

static double partial_sum(const spread *s, int t)
{
    return tree_sum(s->partial + t, (s->p->n + s->piece_rows - 1) / s->piece_rows, DRAWS_MAX);
}

/* Draws a row with probability proportional to weight x d2. `partial` contains the sums of the
 * blocks of rows. */
static int64_t draw_row(const spread *s, double total, rng *r)
{
    double at = rng_uniform(r) * total;
    int64_t piece = 0, last = -1;
    while ((piece + 1) * s->piece_rows < s->p->n && at >= s->partial[piece * DRAWS_MAX])
        at -= s->partial[piece++ * DRAWS_MAX];
    for (int64_t i = piece * s->piece_rows; i < s->p->n; i++) {
        if (s->d2[i] > 0)
            last = i;
        at -= kmeans_weight(s->p, i) * s->d2[i];
        if (at < 0 && last >= 0)
            return last;
    }
    /* Rounding has placed the draw past the end, so the last row that is not yet a center is
     * used. */
    for (int64_t i = s->p->n - 1; last < 0 && i >= 0; i--)
        if (s->d2[i] > 0)
            last = i;
    return last;
}

static void copy_drawn(spread *s, int n_draws)
{
    for (int t = 0; t < n_draws; t++)
        memcpy(s->rows + t * s->p->dim, s->p->rows + s->drawn[t] * s->p->dim,
               (size_t)s->p->dim * sizeof *s->rows);
}

/* Chooses the next center: the random candidate with the smallest remaining sum. */
static ddsc_status next_center(ddsc_context *ctx, spread *s, double total, rng *r)
{
    for (int t = 0; t < s->n_draws; t++)
        s->drawn[t] = draw_row(s, total, r);
    DDSC_ASSERT(s->drawn[0] >= 0 && s->drawn[0] < s->p->n);
    if (s->n_draws > 1) {
        copy_drawn(s, s->n_draws);
        CHECK(kmeans_pieces(ctx, s->p, s->piece_rows, try_draws, s));
        double least = INFINITY;
        int64_t best = s->drawn[0];
        for (int t = 0; t < s->n_draws; t++) {
            double left = partial_sum(s, t);
            if (left < least) {
                least = left;
                best = s->drawn[t];
            }
        }
        s->drawn[0] = best;
    }
    copy_drawn(s, 1);
    return kmeans_pieces(ctx, s->p, s->piece_rows, take_draw, s);
}

int kmeans_draws(const kmeans_problem *problem)
{
    return problem->draws > 0 ? problem->draws
                              : (int)fmin(DRAWS_MAX, 2 + floor(log((double)problem->k)));
}

ddsc_status kmeans_start_rows(ddsc_context *ctx, int64_t *row, int64_t *n_centers,
                              const kmeans_problem *problem, rng *r)
{
    ddsc_status status = DDSC_OK;
    int64_t n = problem->n, dim = problem->dim;
    spread s = {.p = problem, .n_draws = kmeans_draws(problem)};
    *n_centers = 0;
    s.piece_rows = BASE_MAX(PIECE_MIN, PIECE_WORK / (2 * dim * s.n_draws));
    TRY(MEM_NEW(ctx, s.d2, n));
    TRY(MEM_NEW(ctx, s.rows, DRAWS_MAX * dim));
    TRY(MEM_NEW(ctx, s.partial, (n / s.piece_rows + 1) * DRAWS_MAX));
    for (int64_t i = 0; i < n; i++)
        s.d2[i] = INFINITY;
    s.drawn[0] = rng_below(r, n);
    copy_drawn(&s, 1);
    TRY(kmeans_pieces(ctx, problem, s.piece_rows, take_draw, &s));
    for (;;) {
        row[(*n_centers)++] = s.drawn[0];
        double total = partial_sum(&s, 0);
        if (*n_centers == problem->k || !(total > 0))
            break;
        TRY(next_center(ctx, &s, total, r));
    }
done:
    MEM_FREE(ctx, s.partial, s.rows, s.d2);
    return status;
}

/* Draws one row from each of `count` ranges of equal length. */
static ddsc_status draw_sample(ddsc_context *ctx, kmeans_sample *s, const kmeans_problem *problem,
                               int64_t count, rng *r)
{
    ddsc_status status = DDSC_OK;
    int64_t dim = problem->dim, n = problem->n;
    *s = (kmeans_sample){0};
    TRY(MEM_NEW(ctx, s->from, count));
    TRY(MEM_NEW(ctx, s->rows, count * dim));
    for (int64_t i = 0; i < count; i++) {
        int64_t first = i * n / count;
        s->from[i] = first + rng_below(r, (i + 1) * n / count - first);
        memcpy(s->rows + i * dim, problem->rows + s->from[i] * dim, (size_t)dim * sizeof *s->rows);
    }
    s->among = *problem;
    s->among.n = count;
    s->among.rows = s->rows;
    return DDSC_OK;
done:
    kmeans_sample_free(ctx, s);
    return status;
}

void kmeans_sample_free(ddsc_context *ctx, kmeans_sample *s)
{
    MEM_FREE(ctx, s->pairs, s->rows, s->from);
    *s = (kmeans_sample){0};
}

static bool is_sampled(const kmeans_problem *problem, int64_t count)
{
    return problem->bounded && !problem->pairs && !problem->weight && problem->n >= 2 * count;
}

ddsc_status kmeans_sample_create(ddsc_context *ctx, kmeans_sample *s, const kmeans_problem *problem)
{
    ddsc_status status = DDSC_OK;
    int64_t count = BASE_MAX(TABLE_LEAST, SAMPLE_PER_CENTER * problem->k);
    rng r = rng_make(ctx_seed(ctx), RNG_KMEANS, UINT64_MAX);
    *s = (kmeans_sample){0};
    if (problem->k <= MANY || count > TABLE_MOST || !is_sampled(problem, count) ||
        count * count > ctx_memory_left(ctx) / 4 / (int64_t)sizeof *s->pairs)
        return DDSC_OK;
    TRY(draw_sample(ctx, s, problem, count, &r));
    TRY(kmeans_pairs_fill(ctx, &s->pairs, &s->among));
    s->among.pairs = s->pairs;
done:
    if (status < 0)
        kmeans_sample_free(ctx, s);
    return status;
}

ddsc_status kmeans_start_sampled(ddsc_context *ctx, int64_t *row, int64_t *n_centers,
                                 const kmeans_problem *problem, const kmeans_sample *common, rng *r)
{
    ddsc_status status = DDSC_OK;
    int64_t count = BASE_MAX(SAMPLE_MIN, SAMPLE_PER_CENTER * problem->k);
    kmeans_sample own = {0};
    if (common->among.n == 0) {
        if (!is_sampled(problem, count))
            return kmeans_start_rows(ctx, row, n_centers, problem, r);
        TRY(draw_sample(ctx, &own, problem, count, r));
        common = &own;
    }
    kmeans_problem among = common->among;
    among.alone = problem->alone;
    TRY(kmeans_start_rows(ctx, row, n_centers, &among, r));
    for (int64_t c = 0; c < *n_centers; c++)
        row[c] = common->from[row[c]];
    if (*n_centers < problem->k)
        TRY(kmeans_start_rows(ctx, row, n_centers, problem, r));
done:
    kmeans_sample_free(ctx, &own);
    return status;
}

ddsc_status kmeans_start(ddsc_context *ctx, double *centers, int64_t *n_centers,
                         const kmeans_problem *problem, rng *r)
{
    ddsc_status status = DDSC_OK;
    int64_t *row = NULL, dim = problem->dim;
    TRY(MEM_NEW(ctx, row, problem->k));
    TRY(kmeans_start_rows(ctx, row, n_centers, problem, r));
    for (int64_t c = 0; c < *n_centers; c++)
        memcpy(centers + c * dim, problem->rows + row[c] * dim, (size_t)dim * sizeof *centers);
done:
    mem_free(ctx, row);
    return status;
}
