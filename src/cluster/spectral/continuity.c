/* Continues the clusters of a model on a changed set. Several partitions often have nearly the same
 * k-means objective, and a few new items can change which of them is the best. An update uses the
 * partition that k-means finds when it starts from the old clusters. */
#include <math.h>
#include <string.h>

#include "cluster/spectral/cluster.h"
#include "numeric/linalg/linalg.h"

/* The objective of this partition may exceed that of the best partition by this fraction
 * (docs/updates.md). */
static const double NEARLY = 0.02;

/* Number of new items that are tried as the start of an additional cluster. */
enum { EXTRA_STARTS = 20 };

ddsc_status cluster_pack_rows(ddsc_context *ctx, packed_rows *p, const ddsc_clustering *c)
{
    int64_t n = c->view.n, width = c->view.n_vectors;
    *p = (packed_rows){.dim = width};
    CHECK(MEM_NEW(ctx, p->rows, n * width));
    CHECK(MEM_NEW(ctx, p->item, n));
    for (int64_t i = 0; i < n; i++) {
        const double *row = c->embedding + i * width;
        bool any = false;
        for (int64_t j = 0; j < width; j++)
            any |= row[j] != 0;
        if (!any)
            continue;
        memcpy(p->rows + p->n * width, row, (size_t)width * sizeof *row);
        p->item[p->n++] = (int32_t)i;
    }
    return DDSC_OK;
}

void cluster_free_rows(ddsc_context *ctx, packed_rows *p)
{
    MEM_FREE(ctx, p->item, p->rows);
}

typedef struct continued {
    ddsc_clustering *c;
    const cluster_update *u;
    packed_rows rows;
    int64_t k;
    int64_t n_starts; /* number of centers, initially of old clusters */
    double *start;    /* k x dim */
    int32_t *label;   /* labels of the packed rows in the best run */
    double inertia;   /* objective of the best run */
} continued;

/* Computes the means of the old clusters. The marked new items of a cluster may belong to another
 * cluster, so its mean includes them only if it has no other items. Sets n_starts to the number of
 * means. If this number exceeds k, `start` contains only the first k means. */
static ddsc_status old_means(ddsc_context *ctx, continued *s, const ddsc_model *m)
{
    ddsc_status status = DDSC_OK;
    int64_t dim = s->rows.dim, found = 0, *size = NULL;
    double *sum = NULL;
    TRY(MEM_ZERO(ctx, sum, 2 * m->k * dim));
    TRY(MEM_ZERO(ctx, size, 2 * m->k));
    for (int64_t p = 0; p < s->rows.n && s->rows.item[p] < s->u->n_kept; p++) {
        int64_t i = s->rows.item[p], at = 2 * m->items->label[s->u->kept[i]] + s->u->fresh[i];
        size[at]++;
        for (int64_t j = 0; j < dim; j++)
            sum[at * dim + j] += s->rows.rows[p * dim + j];
    }
    for (int64_t c = 0; c < m->k; c++) {
        int64_t at = 2 * c + (size[2 * c] == 0);
        found += size[at] > 0;
        for (int64_t j = 0; j < dim && size[at] > 0 && found <= s->k; j++)
            s->start[(found - 1) * dim + j] = sum[at * dim + j] / (double)size[at];
    }
    s->n_starts = found;
done:
    MEM_FREE(ctx, size, sum);
    return status;
}

/* Runs k-means from the centers in s->start and, if `extra` is not negative, from row `extra`. */
static ddsc_status run_start(ddsc_context *ctx, continued *s, lloyd *l, const kmeans_problem *p,
                             int64_t extra)
{
    const int32_t *label;
    double inertia;
    int64_t dim = s->rows.dim;
    memcpy(lloyd_centers(l), s->start, (size_t)(s->n_starts * dim) * sizeof *s->start);
    if (extra >= 0)
        memcpy(lloyd_centers(l) + s->n_starts * dim, s->rows.rows + extra * dim,
               (size_t)dim * sizeof *s->start);
    CHECK(lloyd_run(l, s->n_starts + (extra >= 0), &label));
    CHECK(kmeans_inertia(ctx, &inertia, label, p));
    if (inertia < s->inertia) {
        s->inertia = inertia;
        memcpy(s->label, label, (size_t)p->n * sizeof *label);
    }
    return DDSC_OK;
}

/* Adds one cluster. Up to EXTRA_STARTS evenly spaced new items are tried as its start. */
static ddsc_status add_start(ddsc_context *ctx, continued *s, lloyd *l, const kmeans_problem *p,
                             int64_t *size)
{
    int64_t n_fresh = 0, at = 0;
    s->inertia = INFINITY;
    for (int64_t k = 0; k < p->n; k++)
        n_fresh += s->u->fresh[s->rows.item[k]];
    for (int64_t k = 0; k < p->n; k++) {
        if (!s->u->fresh[s->rows.item[k]])
            continue;
        if ((at + 1) * EXTRA_STARTS / n_fresh != at * EXTRA_STARTS / n_fresh)
            CHECK(run_start(ctx, s, l, p, k));
        at++;
    }
    if (n_fresh > 0)
        kmeans_means(s->start, size, s->label, ++s->n_starts, p->n, p->dim, p->rows);
    return DDSC_OK;
}

/* Runs k-means from the old clusters, and adds clusters until there are k. */
static ddsc_status run_starts(ddsc_context *ctx, continued *s)
{
    ddsc_status status = DDSC_OK;
    lloyd *l = NULL;
    int64_t *size = NULL;
    kmeans_problem problem = {.n = s->rows.n, .dim = s->rows.dim, .rows = s->rows.rows, .k = s->k};
    TRY(lloyd_create(ctx, &l, &problem, false));
    TRY(MEM_NEW(ctx, size, s->k));
    s->inertia = INFINITY;
    if (s->n_starts == s->k)
        TRY(run_start(ctx, s, l, &problem, -1));
    for (int64_t before = -1; s->n_starts < s->k && before != s->n_starts;) {
        before = s->n_starts;
        TRY(add_start(ctx, s, l, &problem, size));
    }
done:
    mem_free(ctx, size);
    lloyd_destroy(l);
    return status;
}

/* Computes the k-means objective of the labels of the clustering. */
static ddsc_status free_inertia(ddsc_context *ctx, double *inertia, const continued *s)
{
    int32_t *label = NULL;
    kmeans_problem problem = {.n = s->rows.n, .dim = s->rows.dim, .rows = s->rows.rows, .k = s->k};
    CHECK(MEM_NEW(ctx, label, s->rows.n));
    for (int64_t p = 0; p < s->rows.n; p++)
        label[p] = s->c->labels[s->rows.item[p]];
    ddsc_status status = kmeans_inertia(ctx, inertia, label, &problem);
    mem_free(ctx, label);
    return status;
}

/* Assigns the labels of the best run to the items, and the label of the largest cluster to items
 * without a row. Sets *least to the size of the smallest cluster. */
static ddsc_status spread_continued(ddsc_context *ctx, continued *s, int32_t *labels,
                                    int64_t *least, int64_t *most)
{
    ddsc_status status = DDSC_OK;
    int64_t *size = NULL, largest = 0, k;
    TRY(MEM_ZERO(ctx, size, s->k));
    for (int64_t p = 0; p < s->rows.n; p++)
        size[s->label[p]]++;
    for (int64_t c = 1; c < s->k; c++)
        if (size[c] > size[largest])
            largest = c;
    size[largest] += s->c->view.n - s->rows.n;
    for (int64_t i = 0; i < s->c->view.n; i++)
        labels[i] = (int32_t)largest;
    for (int64_t p = 0; p < s->rows.n; p++)
        labels[s->rows.item[p]] = s->label[p];
    *least = *most = size[largest];
    for (int64_t c = 0; c < s->k; c++)
        *least = BASE_MIN(*least, size[c]);
    TRY(kmeans_renumber(ctx, labels, &k, s->c->view.n, s->k));
done:
    mem_free(ctx, size);
    return status;
}

/* Replaces the labels of the clustering, and the values in its sweep row that depend on the
 * labels. */
static ddsc_status take_continued(ddsc_context *ctx, continued *s, const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    ddsc_clustering *c = s->c;
    int64_t n = c->view.n, least, most;
    int32_t *labels = NULL;
    TRY(MEM_NEW(ctx, labels, n));
    TRY(spread_continued(ctx, s, labels, &least, &most));
    if (least == 0 || (double)least < set->min_cluster * (double)n / (double)s->k)
        goto done;
    TRY(cluster_modularity(ctx, &c->sweep[0].modularity, &c->affinity, labels, s->k));
    memcpy(c->labels, labels, (size_t)n * sizeof *labels);
    memcpy(c->cells, labels, (size_t)n * sizeof *labels);
    memcpy(c->sweep_labels, labels, (size_t)n * sizeof *labels);
    c->sweep[0].inertia = s->inertia;
    c->sweep[0].smallest = least;
    c->sweep[0].largest = most;
    c->view.n_merged_small = 0;
done:
    mem_free(ctx, labels);
    return status;
}

ddsc_status cluster_continue(ddsc_context *ctx, ddsc_clustering *c, const cluster_update *u,
                             const ddsc_model *m, const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    continued s = {.c = c, .u = u, .k = c->view.k};
    double inertia;
    if (set->paper || c->view.n_sweep != 1 || s.k < 2)
        return DDSC_OK;
    TRY(cluster_pack_rows(ctx, &s.rows, c));
    TRY(MEM_NEW(ctx, s.start, s.k * s.rows.dim));
    TRY(MEM_NEW(ctx, s.label, s.rows.n));
    TRY(old_means(ctx, &s, m));
    if (s.rows.n < s.k || s.n_starts > s.k || s.n_starts < s.k - GROWTH_MOST)
        goto done;
    TRY(run_starts(ctx, &s));
    TRY(free_inertia(ctx, &inertia, &s));
    if (s.inertia <= (1 + NEARLY) * inertia)
        TRY(take_continued(ctx, &s, set));
    if (isfinite(s.inertia) && inertia > 0) /* infinite if no cluster can start at a new item */
        ctx_note(ctx, "update", "clusters",
                 "the objective from the old clusters is %.4f times the best one",
                 s.inertia / inertia);
done:
    MEM_FREE(ctx, s.label, s.start);
    cluster_free_rows(ctx, &s.rows);
    return status;
}
