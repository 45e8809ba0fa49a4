/* Computes labels from a graph. All values of K share one decomposition. The rows,
 * k-means and the minimum-size rule are applied separately for each K. */
#include <math.h>
#include <string.h>

#include "cluster/spectral/decompose.h"
#include "numeric/labels/scores.h"

/* If at least STARTS_LEAST k-means starts are requested, further starts follow until the best
 * partition has been found twice, up to STARTS_TIMES the requested number. On 1,000 digits, the AMI
 * varies between seeds by 0.02 to 0.04 with 30 starts, and by at most 0.001 with 300 starts.
 * STARTS_WORK limits the product of rows, columns, K and starts. */
enum { STARTS_LEAST = 30, STARTS_TIMES = 10 };
static const double STARTS_WORK = 1e9;
/* Limits the product of rows, columns, K and starts in trials of more than K clusters, which are
 * needed if some clusters are too small. With this limit, k-means on 100,000 titles with K = 20
 * takes 163 CPU seconds. Without this limit, it had not finished after 9 CPU minutes. */
static const double TRIAL_WORK = 1e8;

/* `auto` tries values of K up to AUTO_HIGH, but in small sets only up to AUTO_FEW or one cluster
 * per AUTO_ITEMS items, whichever is larger. */
enum { AUTO_LOW = 2, AUTO_HIGH = 25, AUTO_FEW = 15, AUTO_ITEMS = 6, EXTRA_MAX = 30 };

typedef struct spectral_job {
    const ddsc_cluster_settings *set;
    decomposition d;
    sparse wide;    /* affinity with more neighbors, for the modularity; if empty, d.a is used */
    double *rows;   /* n x width, for the current K */
    double *length; /* n: length of the rows before normalization */
    int32_t *cells; /* n per K: labels before small clusters were merged */
    int64_t width;
    double *packed;            /* copy of the non-zero rows if some rows are zero */
    const double *live;        /* the non-zero rows, stored in `packed` or in `rows` */
    int32_t *item;             /* item number of each packed row */
    int64_t n_packed, n_sweep; /* n_sweep: number of values of K */
    int32_t *packed_label;
    /* Table of squared distances between the non-zero rows, shared by all k-means runs for one K,
     * or NULL if it would not save time. */
    double *pairs;
} spectral_job;

/* The result for one value of K. */
typedef struct cut_result {
    int64_t n_found, n_merged; /* number of clusters found; number of small clusters merged */
    double starts_agree;       /* agreement of the best k-means starts; NaN if not computed */
    bool rule_met;             /* K clusters have the minimum size */
} cut_result;

static void job_free_rows(ddsc_context *ctx, spectral_job *j)
{
    MEM_FREE(ctx, j->pairs, j->packed_label, j->item, j->packed, j->cells, j->length, j->rows);
    sparse_free(ctx, &j->wide);
    *j = (spectral_job){.set = j->set, .d = j->d};
}

static void job_free(ddsc_context *ctx, spectral_job *j)
{
    job_free_rows(ctx, j);
    decomposition_free(ctx, &j->d);
}

static ddsc_status job_allocate(ddsc_context *ctx, spectral_job *j, int64_t k_high, int64_t n_sweep)
{
    int64_t n = j->d.n, widest = BASE_MIN(embed_width(k_high, j->set->paper), j->d.eigen.k);
    CHECK(MEM_NEW(ctx, j->rows, n * widest));
    CHECK(MEM_NEW(ctx, j->length, n));
    CHECK(MEM_NEW(ctx, j->cells, n * n_sweep));
    CHECK(MEM_NEW(ctx, j->item, n));
    return MEM_NEW(ctx, j->packed_label, n);
}

static bool is_zero(const double *row, int64_t width)
{
    for (int64_t j = 0; j < width; j++)
        if (row[j] != 0)
            return false;
    return true;
}

/* Computes the rows for K clusters and packs the non-zero rows. */
static ddsc_status make_rows(ddsc_context *ctx, spectral_job *j, int64_t k)
{
    ddsc_status status = DDSC_OK;
    int64_t n = j->d.n;
    j->width = BASE_MIN(embed_width(k, j->set->paper), j->d.eigen.k);
    TRY(embed_rows(ctx, j->rows, j->length, j->width, &j->d, k, j->set->paper));
    j->live = j->rows;
    j->n_packed = 0;
    mem_free(ctx, j->pairs);
    j->pairs = NULL;
    for (int64_t i = 0; i < n; i++)
        if (!is_zero(j->rows + i * j->width, j->width))
            j->item[j->n_packed++] = (int32_t)i;
    if (j->n_packed == n)
        goto done;
    mem_free(ctx, j->packed);
    TRY(MEM_NEW(ctx, j->packed, j->n_packed * j->width));
    for (int64_t p = 0; p < j->n_packed; p++)
        memcpy(j->packed + p * j->width, j->rows + j->item[p] * j->width,
               (size_t)j->width * sizeof *j->rows);
    j->live = j->packed;
done:
    return status;
}

/* Copies the labels of the packed rows to all items. Items without a row are added to the largest
 * cluster. */
static void spread_labels(const spectral_job *j, int32_t *labels, int64_t k)
{
    int64_t best = 0, best_size = 0;
    for (int64_t c = 0; c < k; c++) {
        int64_t size = 0;
        for (int64_t p = 0; p < j->n_packed; p++)
            size += j->packed_label[p] == c;
        if (size > best_size) {
            best = c;
            best_size = size;
        }
    }
    for (int64_t i = 0; i < j->d.n; i++)
        labels[i] = (int32_t)best;
    for (int64_t p = 0; p < j->n_packed; p++)
        labels[j->item[p]] = j->packed_label[p];
}

/* Labels items by component. Used if the metric does not distinguish the items within a component:
 * all other eigenvectors are then arbitrary, so k-means would be meaningless. The k largest
 * components become the clusters, and the remaining items are added to the largest cluster. */
static ddsc_status label_components(ddsc_context *ctx, const spectral_job *j, int32_t *labels,
                                    int64_t *k_found, int64_t k)
{
    ddsc_status status = DDSC_OK;
    const decomposition *d = &j->d;
    int64_t *size = NULL;
    int32_t *label = NULL;
    TRY(MEM_ZERO(ctx, size, d->n_parts));
    TRY(MEM_ZERO(ctx, label, d->n_parts));
    for (int64_t i = 0; i < d->n; i++)
        if (d->part[i] >= 0)
            size[d->part[i]]++;
    *k_found = BASE_MIN(k, d->n_parts);
    for (int32_t c = 0; c < *k_found; c++) {
        int64_t largest = 0;
        for (int64_t p = 1; p < d->n_parts; p++)
            if (size[p] > size[largest])
                largest = p;
        label[largest] = c;
        size[largest] = 0;
    }
    for (int64_t i = 0; i < d->n; i++)
        labels[i] = d->part[i] >= 0 ? label[d->part[i]] : 0;
    TRY(kmeans_renumber(ctx, labels, k_found, d->n, *k_found));
done:
    MEM_FREE(ctx, label, size);
    return status;
}

/* Returns the maximum number of starts. It exceeds the requested number only if there are few rows.
 * In a sweep, the values of K share the additional time. */
static int64_t most_starts(const spectral_job *j, const kmeans_problem *p)
{
    double work = (double)p->n * (double)p->dim * (double)p->k * (double)j->n_sweep;
    double most = fmin(STARTS_WORK / work, (double)STARTS_TIMES * (double)p->restarts);
    return j->set->paper || p->restarts < STARTS_LEAST ? 0 : (int64_t)most;
}

/* Computes the mean agreement between the labels and the labels from the next best starts. */
static ddsc_status compare_starts(ddsc_context *ctx, double *agree, const int32_t *labels,
                                  const kmeans_few *few, int64_t n)
{
    *agree = few->n > 0 ? 0 : (double)NAN;
    for (int64_t i = 0; i < few->n; i++) {
        ddsc_scores scores;
        CHECK(scores_compute(ctx, &scores, n, labels, few->labels + i * n));
        *agree += scores.ari / (double)few->n;
    }
    return DDSC_OK;
}

/* Runs k-means for k clusters. If agree is not NULL, sets *agree to the agreement of the best
 * starts, and adds starts until the best solution has been found twice. */
static ddsc_status cut(ddsc_context *ctx, spectral_job *j, int32_t *labels, int64_t *k_found,
                       int64_t k, int64_t restarts, double *agree)
{
    ddsc_status status = DDSC_OK;
    double inertia;
    kmeans_few few = {0};
    kmeans_problem problem = {.n = j->n_packed,
                              .dim = j->width,
                              .rows = j->live,
                              .k = BASE_MIN(k, j->n_packed),
                              .restarts = restarts,
                              .progress = agree != NULL,
                              .bounded = true};
    if (agree)
        *agree = NAN;
    if (j->d.affinity.flat)
        return label_components(ctx, j, labels, k_found, k);
    if (!j->pairs)
        TRY(kmeans_pairs(ctx, &j->pairs, &problem));
    problem.pairs = j->pairs;
    if (agree && problem.k > 1) {
        TRY(MEM_NEW(ctx, few.labels, KMEANS_FEW * problem.n));
        problem.few = &few;
        problem.most = most_starts(j, &problem);
    }
    TRY(kmeans_fit(ctx, j->packed_label, &inertia, k_found, &problem));
    if (agree)
        TRY(compare_starts(ctx, agree, j->packed_label, &few, problem.n));
    spread_labels(j, labels, *k_found);
    TRY(kmeans_renumber(ctx, labels, k_found, j->d.n, *k_found));
done:
    mem_free(ctx, few.labels);
    return status;
}

/* Returns the number of starts for each trial of more than k clusters. */
static int64_t trial_starts(const spectral_job *j, int64_t k)
{
    double work = (double)j->n_packed * (double)j->width * (double)k;
    double most = fmin((double)((j->set->kmeans_restarts + 2) / 3), TRIAL_WORK / work);
    return (int64_t)fmax(most, 1);
}

/* Increases the number of clusters until K of them have the minimum size, and then merges the other
 * clusters. If no number succeeds, uses the first result. */
static ddsc_status cut_by_rule(ddsc_context *ctx, spectral_job *j, int32_t *labels, int32_t *cells,
                               cut_result *r, int64_t k)
{
    ddsc_status status = DDSC_OK;
    small_rule rule = {j->set->min_cluster * (double)j->d.n / (double)k, k};
    int32_t *trial = NULL;
    int64_t n_passing, n_trial, trial_restarts = trial_starts(j, k);
    *r = (cut_result){.rule_met = true};
    TRY(cut(ctx, j, labels, &r->n_found, k, j->set->kmeans_restarts, &r->starts_agree));
    memcpy(cells, labels, (size_t)j->d.n * sizeof *cells);
    if (j->set->paper || rule.least <= 0 || k == 1 || r->n_found < k)
        goto done;
    TRY(small_count(ctx, &n_passing, labels, r->n_found, &j->d, &rule));
    if (n_passing == k)
        goto done;
    r->rule_met = false;
    TRY(MEM_NEW(ctx, trial, j->d.n));
    for (int64_t extra = 1; extra <= EXTRA_MAX && k + extra <= j->n_packed; extra++) {
        TRY(cut(ctx, j, trial, &n_trial, k + extra, trial_restarts, NULL));
        if (n_trial < k + extra)
            break;
        TRY(small_count(ctx, &n_passing, trial, n_trial, &j->d, &rule));
        if (n_passing < k)
            continue;
        memcpy(cells, trial, (size_t)j->d.n * sizeof *cells);
        TRY(small_merge(ctx, trial, &n_trial, &r->n_merged, &j->d, &rule));
        memcpy(labels, trial, (size_t)j->d.n * sizeof *labels);
        r->n_found = n_trial;
        r->rule_met = true;
        break;
    }
done:
    mem_free(ctx, trial);
    return status;
}

static ddsc_status fill_row(ddsc_context *ctx, ddsc_k_row *row, const spectral_job *j,
                            const double *eigenvalues, const int32_t *labels, int64_t k_found)
{
    ddsc_status status = DDSC_OK;
    int64_t *size = NULL, n = j->d.n;
    int64_t k = BASE_MAX(row->k, k_found); /* additional clusters are empty */
    TRY(MEM_ZERO(ctx, size, k));
    for (int64_t i = 0; i < n; i++)
        size[labels[i]]++;
    row->smallest = n;
    for (int64_t c = 0; c < k; c++) {
        row->smallest = BASE_MIN(row->smallest, size[c]);
        row->largest = BASE_MAX(row->largest, size[c]);
    }
    choose_k_gaps(row, eigenvalues, j->d.eigen.residual, j->d.eigen.k);
    TRY(cluster_modularity(ctx, &row->modularity, j->wide.n > 0 ? &j->wide : &j->d.a, labels,
                           k_found));
    kmeans_problem all = {.n = n, .dim = j->width, .rows = j->rows, .k = k_found};
    TRY(kmeans_inertia(ctx, &row->inertia, labels, &all));
done:
    mem_free(ctx, size);
    return status;
}

static void choose_range(outcome *o, int64_t n, const ddsc_cluster_settings *set)
{
    o->chosen = set->k_min != set->k_max || set->k_min == 0;
    o->k_low = set->k_min > 0 ? set->k_min : BASE_MIN(AUTO_LOW, n);
    int64_t high = BASE_MIN(AUTO_HIGH, BASE_MAX(AUTO_FEW, n / AUTO_ITEMS));
    o->k_high = set->k_max > 0 ? set->k_max : BASE_MIN(high, n);
}

/* Computes the labels and the table row for every K in the range. */
static ddsc_status spectral_sweep(ddsc_context *ctx, ddsc_clustering *c, spectral_job *j,
                                  cut_result *results, const outcome *o)
{
    int64_t n = j->d.n, n_rows = o->k_high - o->k_low + 1;
    CHECK(MEM_ZERO(ctx, c->sweep, n_rows));
    CHECK(MEM_NEW(ctx, c->sweep_list, n_rows));
    CHECK(MEM_NEW(ctx, c->sweep_labels, n_rows * n));
    CHECK(job_allocate(ctx, j, o->k_high, n_rows));
    j->n_sweep = n_rows;
    progress_begin(ctx, "k-means", n_rows * j->set->kmeans_restarts);
    for (int64_t r = 0; r < n_rows; r++) {
        int32_t *labels = c->sweep_labels + r * n;
        c->sweep_list[r] = &c->sweep[r];
        c->sweep[r].k = o->k_low + r;
        CHECK(make_rows(ctx, j, c->sweep[r].k));
        CHECK(cut_by_rule(ctx, j, labels, j->cells + r * n, &results[r], c->sweep[r].k));
        const char *before = stage_enter(ctx, "sweep");
        CHECK(fill_row(ctx, &c->sweep[r], j, c->eigenvalues, labels, results[r].n_found));
        c->sweep[r].starts_agree = results[r].starts_agree;
        CHECK(halves_agreement(ctx, &c->sweep[r].stability, j->n_packed, j->width, j->live,
                               c->sweep[r].k));
        stage_leave(ctx, before);
    }
    progress_end(ctx);
    c->view.sweep = c->sweep_list;
    c->view.n_sweep = n_rows;
    c->view.sweep_labels = c->sweep_labels;
    return DDSC_OK;
}

/* Copies the labels and rows for the chosen K to the clustering. */
static ddsc_status spectral_settle(ddsc_context *ctx, ddsc_clustering *c, spectral_job *j,
                                   int64_t chosen)
{
    int64_t n = j->d.n;
    CHECK(MEM_COPY(ctx, c->labels, c->sweep_labels + chosen * n, n));
    if (c->view.n_sweep > 1)
        CHECK(make_rows(ctx, j, c->sweep[chosen].k));
    CHECK(MEM_COPY(ctx, c->cells, j->cells + chosen * n, n));
    CHECK(MEM_NEW(ctx, c->radius, n));
    for (int64_t i = 0; i < n; i++)
        c->radius[i] = j->length[i] / sqrt(j->d.degree[i]);
    c->embedding = j->rows;
    j->rows = NULL;
    c->view.n = n;
    c->view.k = c->sweep[chosen].k;
    c->view.n_vectors = j->width;
    c->view.labels = c->view.spectral_labels = c->labels;
    c->view.embedding = c->embedding;
    c->view.n_components = j->d.n_components;
    c->view.gamma = j->d.affinity.gamma;
    return DDSC_OK;
}

/* Stores the affinity and its scales in the clustering for later calls. */
static ddsc_status keep_affinity(ddsc_context *ctx, ddsc_clustering *c, spectral_job *j,
                                 const ddsc_graph *graph)
{
    if (j->d.affinity.gamma == 0 && c->view.n_joined == 0) {
        CHECK(MEM_NEW(ctx, c->scale, j->d.n));
        CHECK(affinity_scales(ctx, c->scale, &c->scale_floor, graph));
    }
    c->affinity = j->d.a;
    j->d.a = (sparse){0};
    return DDSC_OK;
}

/* Computes the affinity of the wider graph, using the same gamma. */
static ddsc_status weigh_wide(ddsc_context *ctx, spectral_job *j, const ddsc_graph *wide)
{
    affinity_report ignored;
    affinity_settings how = {.rule = DDSC_GAMMA_LOCAL};
    if (j->d.affinity.gamma > 0)
        how = (affinity_settings){.rule = DDSC_GAMMA_VALUE, .gamma = j->d.affinity.gamma};
    how.divided = j->d.a.divided;
    return affinity_build(ctx, &j->wide, &ignored, wide, &how);
}

/* Computes the in-degree statistics in the view. */
static ddsc_status report_hubs(ddsc_context *ctx, ddsc_clustering *c, outcome *o,
                               const ddsc_graph *graph)
{
    in_degrees found;
    CHECK(graph_in_degrees(ctx, &found, graph, graph->tau));
    o->hub = found.hub;
    c->view.hubs_rescaled = graph->scale != NULL;
    c->view.in_degree_largest = found.largest;
    c->view.n_nobody = found.n_none;
    c->view.plain_in_degree_largest = graph->scale ? graph->plain.largest : found.largest;
    c->view.plain_n_nobody = graph->scale ? graph->plain.n_none : found.n_none;
    return DDSC_OK;
}

ddsc_status spectral_fit(ddsc_context *ctx, ddsc_clustering *c, decomposition *kept,
                         const ddsc_graph *graph, const ddsc_graph *wide, joined_graphs *joined,
                         const ddsc_cluster_settings *set)
{
    ddsc_status status = DDSC_OK;
    spectral_job j = {.set = set};
    outcome o = {0};
    cut_result *results = NULL;
    choose_range(&o, graph->n, set);
    int64_t n_rows = o.k_high - o.k_low + 1;
    double started = clock_seconds();
    const char *before = stage_enter(ctx, "affinity");
    TRY(MEM_NEW(ctx, results, n_rows));
    TRY(decompose_graph(ctx, &j.d, graph, joined, set, o.k_high));
    if (status == DDSC_NOT_CONVERGED)
        o.not_converged = true;
    if (!kept && !j.d.affinity.flat && 2 * j.d.affinity.n_clamped > j.d.affinity.n_edges)
        ctx_warn(ctx, "most neighbor distances are negative estimates, which are replaced by zero, "
                      "so the weights barely distinguish neighbors; use the biased estimator");
    if (j.d.n_left_out > 0)
        TRY(sparse_gather(ctx, &j.d.a));
    TRY(cluster_spectrum(ctx, c, &j.d));
    TRY(report_hubs(ctx, c, &o, graph));
    if (joined) {
        j.wide = joined->wide;
        joined->wide = (sparse){0};
    } else if (wide) {
        TRY(weigh_wide(ctx, &j, wide));
    }
    double decomposed = clock_seconds();
    stage_enter(ctx, "advice");
    TRY(spectral_sweep(ctx, c, &j, results, &o));
    int64_t chosen = choose_row(c->sweep, n_rows, &o.by_gap);
    TRY(spectral_settle(ctx, c, &j, chosen));
    c->view.seconds_eigen = decomposed - started;
    c->view.seconds_kmeans = clock_seconds() - decomposed;
    c->view.n_merged_small = results[chosen].n_merged;
    o.n_found = results[chosen].n_found;
    o.rule_met = results[chosen].rule_met;
    o.n_without_row = j.d.n - j.n_packed;
    o.least = set->paper ? 0 : set->min_cluster * (double)j.d.n / (double)c->view.k;
    o.eigenvalues = c->eigenvalues;
    o.cells = c->cells;
    TRY(advice_write(ctx, &c->advice, &c->view, &j.d, &o, graph, set));
    c->view.advice = c->advice;
    c->has_far_items = o.has_far_items;
    job_free_rows(ctx, &j); /* frees memory before the affinity of all ranks is gathered */
    if (!kept)
        eigen_free(ctx, &j.d.eigen);
    TRY(sparse_gather(ctx, &j.d.a));
    if (kept) {
        *kept = j.d;
        j.d = (decomposition){0};
    } else {
        TRY(keep_affinity(ctx, c, &j, graph));
    }
done:
    mem_free(ctx, results);
    job_free(ctx, &j);
    stage_leave(ctx, before);
    return status;
}
