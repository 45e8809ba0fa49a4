/* NN-descent (Dong, Moses, Li: Efficient k-nearest neighbor graph construction for generic
 * similarity measures, 2011).
 *
 * The lists initially contain random items and improve in rounds. Each round compares any two items
 * that are neighbors or reverse neighbors of the same item, if at least one of them is fresh, that
 * is, was added to the list in the previous round. All other pairs have already been compared. The
 * rounds end when at most one neighbor in DESCENT_FEW changes, or after DESCENT_ROUNDS rounds.
 *
 * All comparisons in a round use the lists from the previous round. The heaps order entries by
 * (value, index), so their contents do not depend on the order of arrival. The result is therefore
 * independent of the number of threads and ranks. A round computes at most O(n k^2) row distances,
 * and later rounds far fewer, because few items are fresh. */
#include <string.h>

#include "base/simd.h"
#include "base/team.h"
#include "neighbors/search/search.h"
#include "neighbors/search/tuning.h"

enum { PIECE = 64 };

typedef struct descent {
    ddsc_context *ctx;
    int64_t n, columns, k;
    const float *rows;
    const double *offset; /* or NULL */
    nearest near;
    /* Lists from the previous round. Each list contains the neighbors and then the reverse
     * neighbors, with fresh items first. */
    int32_t *list;  /* n x 2k */
    int32_t *fresh; /* n: number of fresh entries */
    int32_t *count; /* n */
    int32_t *old;   /* n x k: the previous heaps, to determine which entries are fresh */
} descent;

/* Returns |x - y|^2, computed with sixteen partial sums in a fixed order. */
SIMD_CLONES static float row_distance2(int64_t n, const float *x, const float *y)
{
    float s[16] = {0};
    int64_t k = 0;
    for (; k + 16 <= n; k += 16)
        for (int lane = 0; lane < 16; lane++) {
            float step = x[k + lane] - y[k + lane];
            s[lane] += step * step;
        }
    for (; k < n; k++)
        s[0] += (x[k] - y[k]) * (x[k] - y[k]);
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            s[lane] += s[lane + half];
    return s[0];
}

static void offer(descent *d, int64_t i, int64_t j)
{
    if (i == j)
        return;
    double d2 =
        (double)row_distance2(d->columns, d->rows + i * d->columns, d->rows + j * d->columns);
    if (d->offset)
        d2 += d->offset[i] + d->offset[j];
    if (d2 <= nearest_limit(&d->near, i))
        nearest_put_once(&d->near, i, j, d2);
    if (d2 <= nearest_limit(&d->near, j))
        nearest_put_once(&d->near, j, i, d2);
}

/* Fills the heaps with random items. */
static ddsc_status draw_range(void *arg, int64_t begin, int64_t end, int worker)
{
    descent *d = arg;
    uint64_t seed = ctx_seed(d->ctx);
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t t = 0; t < d->k; t++) {
            uint64_t draw = rng_hash(seed, RNG_DESCENT, (uint64_t)i, (uint64_t)t);
            offer(d, i, (int64_t)(draw % (uint64_t)d->n));
        }
    return DDSC_OK;
}

static bool holds(const int32_t *list, int64_t n, int32_t value)
{
    for (int64_t k = 0; k < n; k++)
        if (list[k] == value)
            return true;
    return false;
}

static void add(descent *d, int64_t i, int32_t other, bool fresh)
{
    int32_t *list = d->list + i * 2 * d->k;
    if (d->count[i] == 2 * d->k || holds(list, d->count[i], other))
        return;
    if (fresh) { /* moves the first stale entry to the end */
        list[d->count[i]] = list[d->fresh[i]];
        list[d->fresh[i]++] = other;
    } else {
        list[d->count[i]] = other;
    }
    d->count[i]++;
}

/* Builds the lists from the heaps. The list of an item contains its neighbors and then its reverse
 * neighbors, at most 2k items in total. The heaps must be sorted, because the order within a heap
 * depends on the order of arrival. Returns the number of fresh neighbors. */
static int64_t make_lists(descent *d)
{
    const int32_t *heap = d->near.index;
    int64_t k = d->k, changes = 0;
    memset(d->fresh, 0, (size_t)d->n * sizeof *d->fresh);
    memset(d->count, 0, (size_t)d->n * sizeof *d->count);
    for (int64_t i = 0; i < d->n; i++)
        for (int64_t t = 0; t < d->near.count[i]; t++) {
            bool fresh = !holds(d->old + i * k, k, heap[i * k + t]);
            add(d, i, heap[i * k + t], fresh);
            changes += fresh;
        }
    for (int64_t i = 0; i < d->n; i++)
        for (int64_t t = 0; t < d->near.count[i]; t++)
            add(d, heap[i * k + t], (int32_t)i, !holds(d->old + i * k, k, heap[i * k + t]));
    for (int64_t i = 0; i < d->n; i++)
        memcpy(d->old + i * k, heap + i * k, (size_t)d->near.count[i] * sizeof *d->old);
    return changes;
}

/* Compares the neighbors of each item with each other, except for pairs of two stale neighbors. */
static ddsc_status join_range(void *arg, int64_t begin, int64_t end, int worker)
{
    descent *d = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t *list = d->list + i * 2 * d->k;
        for (int64_t p = 0; p < d->fresh[i]; p++)
            for (int64_t q = p + 1; q < d->count[i]; q++)
                offer(d, list[p], list[q]);
    }
    progress_add(d->ctx, end - begin);
    return DDSC_OK;
}

static ddsc_status descend(descent *d)
{
    progress_begin(d->ctx, "approximate neighbors", DESCENT_ROUNDS * d->n);
    CHECK(team_for(d->ctx, d->n, PIECE, draw_range, d));
    CHECK(nearest_share(d->ctx, &d->near, true));
    for (int64_t p = 0; p < d->n * d->k; p++)
        d->old[p] = -1;
    for (int round = 0; round < DESCENT_ROUNDS; round++) {
        CHECK(nearest_sort(d->ctx, &d->near, (team_part){0, d->n}, true));
        if (make_lists(d) <= d->n * d->k / DESCENT_FEW)
            break;
        CHECK(team_for(d->ctx, d->n, PIECE, join_range, d));
        CHECK(nearest_share(d->ctx, &d->near, true));
    }
    progress_end(d->ctx);
    return DDSC_OK;
}

ddsc_status search_descend(ddsc_context *ctx, ddsc_graph **out, int64_t n, int64_t columns,
                           const float *rows, const double *offset, int64_t k)
{
    ddsc_status status = DDSC_OK;
    descent d = {.ctx = ctx, .n = n, .columns = columns, .k = BASE_MIN(k, n - 1), .rows = rows};
    d.offset = offset;
    TRY(nearest_create(ctx, &d.near, 0, n, d.k));
    TRY(MEM_NEW(ctx, d.list, n * 2 * d.k));
    TRY(MEM_NEW(ctx, d.fresh, n));
    TRY(MEM_NEW(ctx, d.count, n));
    TRY(MEM_NEW(ctx, d.old, n * d.k));
    TRY(descend(&d));
    TRY(nearest_finish(ctx, &d.near, out));
done:
    MEM_FREE(ctx, d.old, d.count, d.fresh, d.list);
    nearest_free(ctx, &d.near);
    return status;
}
