/* Tests whether a gap also exists in items that were not used to find it. Cluster boundaries lie
 * where the graph is sparsest, and this selection alone makes the valley at a boundary deep. In a
 * continuum, especially one with uneven density, the deepest of all possible cuts scores as high as
 * a real gap (gaps.c).
 *
 * The test therefore splits the items into two random halves. The first half is clustered using
 * only edges within this half, and a random walk on it locates the valley and the peaks on both
 * sides. The second half is then ordered by its edges to the first half: the f of an item is the
 * mean f of its neighbors in the first half. Finally, the affinity across the valley is measured
 * with the edges within the second half, which have not been used before.
 *
 * A real gap remains. A valley due to chance disappears or even becomes a peak: where the first
 * half is sparse, the neighbor lists of the second half contain more items of the second half. Each
 * cluster receives the score of the cluster in the half with which it overlaps most, averaged over
 * the splits. */
#include <math.h>
#include <string.h>

#include "assess/quality/gaps.h"
#include "cluster/spectral/decompose.h"

/* If there are more than FEW items, one split is sufficient. Sets of more than MOST items are not
 * tested: the scores of real gaps grow with the square root of the number of items and are then far
 * above the limit. */
enum { SPLITS = 5, FEW = 2000, MOST = 20000, RESTARTS = 3, PRODUCTS = 2000 };
/* Tolerance for eigenvectors that are used only to compute labels. */
static const double LOOSE = 1e-4;
/* Scores are limited to this minimum so that a single outlier cannot dominate the mean over a few
 * splits. */
static const double LEAST = -2;

typedef struct half {
    int64_t n;
    int32_t *place; /* for each item of the set: its index in the half, or -1 */
    sparse a;       /* edges within the half */
    double *f;      /* n x k: values of the random walk */
    double *key, *level, *across;
    int32_t *along; /* items of the half, ordered along the first direction */
    int32_t *order, *rank;
} half;

typedef struct held_search {
    const sparse *a;
    const int32_t *labels, *along;
    int64_t n, k, n_found;
    /* Minimum number of edges per item. Components with at most tau + 1 items are treated as
     * isolated items. */
    int64_t tau;
    int32_t *mixed; /* n: items in random order */
    half first, other;
    int32_t *cut; /* labels of the first half */
    /* k x k: number of items shared by each cluster of the half and each cluster of the full set,
     * followed by the sizes of these clusters */
    int64_t *shared;
    double *score; /* k: scores of the clusters of the half */
} held_search;

static ddsc_status half_new(ddsc_context *ctx, half *h, int64_t n, int64_t k)
{
    CHECK(MEM_NEW(ctx, h->place, n));
    CHECK(MEM_NEW(ctx, h->f, n * k));
    CHECK(MEM_NEW(ctx, h->key, n));
    CHECK(MEM_NEW(ctx, h->level, n));
    CHECK(MEM_NEW(ctx, h->across, n));
    CHECK(MEM_NEW(ctx, h->along, n));
    CHECK(MEM_NEW(ctx, h->order, n));
    return MEM_NEW(ctx, h->rank, n);
}

static void half_free(ddsc_context *ctx, half *h)
{
    sparse_free(ctx, &h->a);
    MEM_FREE(ctx, h->rank, h->order, h->along, h->across, h->level, h->key, h->f, h->place);
}

/* Extracts the edges within a half. The items of the half keep their relative order. */
static ddsc_status half_links(ddsc_context *ctx, half *h, const sparse *a)
{
    int64_t nnz = 0, row = 0;
    sparse_free(ctx, &h->a);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->offset[i]; h->place[i] >= 0 && p < a->offset[i + 1]; p++)
            nnz += h->place[a->column[p]] >= 0;
    CHECK(sparse_new(ctx, &h->a, h->n, nnz));
    nnz = 0;
    for (int64_t i = 0; i < a->n; i++) {
        if (h->place[i] < 0)
            continue;
        for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
            if (h->place[a->column[p]] >= 0) {
                h->a.column[nnz] = h->place[a->column[p]];
                h->a.value[nnz++] = a->value[p];
            }
        h->a.offset[++row] = nnz;
    }
    return DDSC_OK;
}

/* Clusters the first half using its own edges. */
static ddsc_status cut_half(ddsc_context *ctx, held_search *s)
{
    ddsc_status status = DDSC_OK;
    ddsc_graph of = {.n = s->first.n, .tau = s->tau};
    ddsc_cluster_settings set = {
        .min_cluster = 0.2, .eigen_tolerance = LOOSE, .eigen_max_iterations = PRODUCTS};
    joined_graphs given = {0};
    decomposition d = {0};
    double *rows = NULL, *length = NULL, inertia;
    TRY(sparse_new(ctx, &given.a, s->first.n, s->first.a.nnz));
    memcpy(given.a.offset, s->first.a.offset, (size_t)(of.n + 1) * sizeof *given.a.offset);
    memcpy(given.a.column, s->first.a.column, (size_t)given.a.nnz * sizeof *given.a.column);
    memcpy(given.a.value, s->first.a.value, (size_t)given.a.nnz * sizeof *given.a.value);
    TRY(decompose_graph(ctx, &d, &of, &given, &set, s->k));
    int64_t width = BASE_MIN(embed_width(s->k, false), d.eigen.k);
    TRY(MEM_NEW(ctx, rows, of.n * width));
    TRY(MEM_NEW(ctx, length, of.n));
    TRY(embed_rows(ctx, rows, length, width, &d, s->k, false));
    kmeans_problem problem = {
        .n = of.n, .dim = width, .rows = rows, .k = s->k, .restarts = RESTARTS, .bounded = true};
    TRY(kmeans_fit(ctx, s->cut, &inertia, &s->n_found, &problem));
done:
    MEM_FREE(ctx, length, rows);
    sparse_free(ctx, &given.a);
    decomposition_free(ctx, &d);
    return status < 0 ? status : DDSC_OK; /* approximate eigenvectors are sufficient */
}

/* Runs the random walk from every cluster of the first half. Then sets f of every item in both
 * halves to the mean over its neighbors in the first half. */
static ddsc_status walk_half(ddsc_context *ctx, held_search *s)
{
    ddsc_status status = DDSC_OK;
    int64_t n = s->first.n, k = s->n_found;
    double *root = NULL, *x = NULL;
    int32_t *which = NULL;
    sparse m = {0};
    TRY(MEM_NEW(ctx, root, n));
    TRY(MEM_NEW(ctx, x, n * k));
    TRY(MEM_NEW(ctx, which, k));
    for (int32_t c = 0; c < k; c++)
        which[c] = c;
    TRY(operator_build(ctx, &m, root, &s->first.a));
    for (int64_t i = 0; i < n; i++)
        root[i] = sqrt(root[i]);
    TRY(gaps_walk(ctx, x, s->first.f, &m, root, s->cut, which, k));
    TRY(operator_apply(ctx, &m, k, x, s->first.f));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            s->first.f[i * k + c] /= root[i];
            x[i * k + c] /= root[i];
        }
    memset(s->other.f, 0, (size_t)(s->n * k) * sizeof *s->other.f);
    for (int64_t i = 0; i < s->n; i++) {
        if (s->other.place[i] < 0)
            continue;
        double *f = s->other.f + s->other.place[i] * k, weight = 0;
        for (int64_t p = s->a->offset[i]; p < s->a->offset[i + 1]; p++) {
            int32_t j = s->first.place[s->a->column[p]];
            weight += j >= 0 ? s->a->value[p] : 0;
            for (int64_t c = 0; j >= 0 && c < k; c++)
                f[c] += s->a->value[p] * x[j * k + c];
        }
        for (int64_t c = 0; c < k; c++)
            f[c] /= weight;
    }
done:
    sparse_free(ctx, &m);
    MEM_FREE(ctx, which, x, root);
    return status;
}

/* Assigns items to the halves. Items of the second half without an edge to the first half are
 * omitted. */
static void place_halves(held_search *s, bool turned)
{
    int64_t middle = s->n / 2;
    for (int64_t t = 0; t < s->n; t++)
        s->first.place[s->mixed[t]] = (t < middle) != turned ? 0 : -1;
    s->first.n = s->other.n = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->first.place[i] == 0)
            s->first.place[i] = (int32_t)s->first.n++;
    for (int64_t i = 0; i < s->n; i++) {
        bool linked = false;
        for (int64_t p = s->a->offset[i]; p < s->a->offset[i + 1]; p++)
            linked |= s->first.place[s->a->column[p]] >= 0;
        s->other.place[i] = linked && s->first.place[i] < 0 ? (int32_t)s->other.n++ : -1;
    }
    int64_t in_first = 0, in_other = 0;
    for (int64_t t = 0; t < s->n; t++) {
        int64_t i = s->along[t];
        if (s->first.place[i] >= 0)
            s->first.along[in_first++] = s->first.place[i];
        if (s->other.place[i] >= 0)
            s->other.along[in_other++] = s->other.place[i];
    }
}

/* Orders the items of a half by f. Items that f cannot distinguish, because they are far from the
 * boundary, are ordered along the first direction (gaps.c). On return, key[order[t]] is the sort
 * key of the item at rank t. */
static void order_half(half *h, int64_t k, int64_t c)
{
    for (int64_t t = 0; t < h->n; t++)
        h->key[t] = gaps_key(h->f[h->along[t] * k + c]);
    sort_order(h->order, h->key, h->n);
    for (int64_t t = 0; t < h->n; t++)
        h->rank[h->along[h->order[t]]] = (int32_t)t;
    gaps_crossing(h->level, &h->a, h->rank);
}

/* Transfers the positions of the valley and its peaks to the other half. The valley has the same
 * value of f, and the peaks have the same relative positions on each side of the valley. */
static gap_place carry_over(const half *first, const half *other, const gap_place *p)
{
    double fence = (first->key[first->order[p->at]] + first->key[first->order[p->at + 1]]) / 2;
    int64_t n = first->n, m = other->n, at = -1;
    while (at + 1 < m && other->key[other->order[at + 1]] < fence)
        at++;
    at = BASE_MIN(BASE_MAX(at, 0), m - 2);
    double inside = (double)(p->before + 1) / (double)(p->at + 1);
    double outside = (double)(p->after - p->at) / (double)(n - 1 - p->at);
    int64_t before = llround(inside * (double)(at + 1)) - 1;
    int64_t after = at + llround(outside * (double)(m - 1 - at));
    return (gap_place){at, BASE_MIN(BASE_MAX(before, 0), at), BASE_MIN(after, m - 2)};
}

static void score_cluster(held_search *s, int64_t c, int64_t size)
{
    gap_place p;
    cluster_gap g = {0};
    order_half(&s->first, s->n_found, c);
    if (gaps_place(&p, s->first.level, s->first.n, size)) {
        order_half(&s->other, s->n_found, c);
        p = carry_over(&s->first, &s->other, &p);
        gaps_weigh(&g, &p, &s->other.a, s->other.rank, s->other.level, s->other.across);
    }
    s->score[c] = fmax(g.score, LEAST);
}

/* Adds to `held` of each cluster the score of the best-matching cluster in the half. */
static void match(const held_search *s, cluster_gap *out, const int64_t *size, const int64_t *whole,
                  double share)
{
    for (int64_t c = 0; c < s->k; c++) {
        double best = -1, score = 0;
        for (int64_t h = 0; h < s->n_found; h++) {
            int64_t both = s->shared[h * s->k + c];
            double like = (double)both / (double)BASE_MAX(size[h] + whole[c] - both, 1);
            if (like > best) {
                best = like;
                score = s->score[h];
            }
        }
        out[c].held += share * score;
    }
}

/* Tests the gaps found in one half on the other half. */
static ddsc_status judge_half(ddsc_context *ctx, held_search *s, cluster_gap *out, double share)
{
    int64_t k = s->k, *size = s->shared + k * k, *whole = size + k;
    CHECK(half_links(ctx, &s->first, s->a));
    CHECK(half_links(ctx, &s->other, s->a));
    CHECK(cut_half(ctx, s));
    CHECK(walk_half(ctx, s));
    memset(s->shared, 0, (size_t)(k * k + 2 * k) * sizeof *s->shared);
    for (int64_t i = 0; i < s->n; i++) {
        if (s->first.place[i] < 0)
            continue;
        int32_t mine = s->cut[s->first.place[i]];
        s->shared[mine * k + s->labels[i]]++;
        size[mine]++;
        whole[s->labels[i]]++;
    }
    for (int64_t c = 0; c < s->n_found; c++)
        score_cluster(s, c, size[c]);
    match(s, out, size, whole, share);
    return DDSC_OK;
}

static void mix_items(held_search *s, rng random)
{
    for (int64_t i = 0; i < s->n; i++)
        s->mixed[i] = (int32_t)i;
    for (int64_t i = s->n - 1; i > 0; i--) {
        int64_t j = rng_below(&random, i + 1);
        int32_t kept = s->mixed[i];
        s->mixed[i] = s->mixed[j];
        s->mixed[j] = kept;
    }
}

static bool needs_holdout(const cluster_gap *gap, int64_t n, int64_t k)
{
    bool any = false;
    for (int64_t c = 0; c < k; c++)
        any |= gap[c].examined && gap[c].score >= verdict_asked_from(n);
    return any && n >= 8 * k && n <= MOST && k <= GAP_CLUSTERS;
}

ddsc_status gaps_hold(ddsc_context *ctx, cluster_gap *out, const sparse *a, const int32_t *labels,
                      int64_t k, const int32_t *along)
{
    ddsc_status status = DDSC_OK;
    held_search s = {.a = a, .labels = labels, .along = along, .n = a->n, .k = k};
    int splits = a->n > FEW ? 1 : SPLITS;
    if (!needs_holdout(out, a->n, k))
        return DDSC_OK;
    s.tau = a->n;
    for (int64_t i = 0; i < a->n; i++)
        s.tau = BASE_MIN(s.tau, a->offset[i + 1] - a->offset[i]);
    TRY(half_new(ctx, &s.first, a->n, k));
    TRY(half_new(ctx, &s.other, a->n, k));
    TRY(MEM_NEW(ctx, s.mixed, a->n));
    TRY(MEM_NEW(ctx, s.cut, a->n));
    TRY(MEM_NEW(ctx, s.shared, k * k + 2 * k));
    TRY(MEM_NEW(ctx, s.score, k));
    for (int64_t c = 0; c < k; c++)
        out[c].held = 0;
    for (int split = 0; split < splits; split++) {
        mix_items(&s, rng_make(ctx_seed(ctx), RNG_HALVES, (UINT64_C(1) << 32) + (uint64_t)split));
        for (int turned = 0; turned < 2; turned++) {
            place_halves(&s, turned);
            if (s.other.n >= 4)
                TRY(judge_half(ctx, &s, out, 0.5 / splits));
        }
    }
done:
    MEM_FREE(ctx, s.score, s.shared, s.cut, s.mixed);
    half_free(ctx, &s.other);
    half_free(ctx, &s.first);
    return status;
}
