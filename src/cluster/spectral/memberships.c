/* Computes the memberships of the items in a clustering. The score for a cluster is minus the
 * squared distance to its nearest center in the embedding or, for refined documents, the log
 * likelihood in the mixture of words.
 *
 * Likelihoods treat every word as independent evidence, so for long documents their probabilities
 * are far too close to 0 or 1. The distinct words of each document are therefore divided into two
 * halves, and the softness is fitted so that the scores of one half predict the cluster of the
 * other half. The softness is then doubled, so that the membership is the geometric mean of the
 * predictions from both halves, because only these predictions were tested. The word probabilities
 * in the document's cluster are computed without the document. For distances, the softness is
 * fitted to the clusters that k-means on a random half of the items assigns to the other items. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "cluster/spectral/cluster.h"
#include "cluster/spectral/membership.h"
#include "cluster/spectral/mixture.h"
#include "numeric/linalg/linalg.h"

/* Maximum numbers of held-out documents and rows, number of k-means starts per half, and random
 * stream of the split. */
enum { DOCUMENTS_MOST = 4000, ROWS_MOST = 2000, HALF_RESTARTS = 3, SPLIT_PART = 64 };
/* Ranges of the softness, and its values if no items can be held out. Squared distances between
 * rows of unit length are at most 4. */
static const double WORDS_LOW = 0.05, WORDS_HIGH = 1000, NEAR_LOW = 1e-3, NEAR_HIGH = 10;
static const double WORDS_USUAL = 2, NEAR_USUAL = 0.1;

/* ---- centers ---- */

ddsc_status cluster_find_centers(ddsc_context *ctx, double **center, int32_t **center_label,
                                 int64_t *n_centers, const ddsc_clustering *c)
{
    ddsc_status status = DDSC_OK;
    int64_t *count = NULL, n_cells = 0, kept = 0, width = c->view.n_vectors;
    for (int64_t i = 0; i < c->view.n; i++)
        n_cells = BASE_MAX(n_cells, c->cells[i] + 1);
    TRY(MEM_ZERO(ctx, *center, n_cells * width));
    TRY(MEM_ZERO(ctx, *center_label, n_cells));
    TRY(MEM_ZERO(ctx, count, n_cells));
    for (int64_t i = 0; i < c->view.n; i++) {
        const double *row = c->embedding + i * width;
        double *sum = *center + c->cells[i] * width;
        if (la_norm(width, row) == 0)
            continue;
        for (int64_t j = 0; j < width; j++)
            sum[j] += row[j];
        (*center_label)[c->cells[i]] = cluster_spectral_labels(c)[i];
        count[c->cells[i]]++;
    }
    for (int64_t k = 0; k < n_cells; k++) {
        if (count[k] == 0)
            continue;
        for (int64_t j = 0; j < width; j++)
            (*center)[kept * width + j] = (*center)[k * width + j] / (double)count[k];
        (*center_label)[kept++] = (*center_label)[k];
    }
    *n_centers = kept;
done:
    mem_free(ctx, count);
    return status;
}

void membership_near(double *score, int64_t k, const double *row, int64_t width,
                     const double *center, const int32_t *center_label, int64_t n_centers)
{
    for (int64_t c = 0; c < k; c++)
        score[c] = -INFINITY;
    for (int64_t c = 0; c < n_centers; c++) {
        double *s = &score[center_label[c]];
        *s = fmax(*s, -la_distance2(width, row, center + c * width));
    }
}

/* ---- softness of distances ---- */

typedef struct near_fit {
    ddsc_context *ctx;
    const ddsc_clustering *c;
    int64_t n, width, n_cells; /* rows used; columns; cells of k-means */
    int64_t *from;             /* n: items in random order */
    double *part, *middle;     /* rows of a half, and their centers */
    int64_t *size;
    int32_t *label, *into; /* cells of a half; cluster of each cell */
    int64_t *votes;        /* n_cells x k */
    double *center;        /* centers of the clustering */
    int32_t *center_label;
    int64_t n_centers;
    held_out held;
} near_fit;

static void near_fit_free(near_fit *j)
{
    membership_free_held_out(j->ctx, &j->held);
    MEM_FREE(j->ctx, j->from, j->part, j->middle, j->size, j->label, j->into, j->votes, j->center,
             j->center_label);
}

static const double *embedded_row(const near_fit *j, int64_t at)
{
    return j->c->embedding + j->from[at] * j->width;
}

/* Chooses the rows to use, and shuffles them. */
static ddsc_status choose_embedded(near_fit *j)
{
    int64_t n_items = 0, n = j->c->view.n;
    rng r = rng_make(ctx_seed(j->ctx), RNG_HALVES, SPLIT_PART);
    CHECK(MEM_NEW(j->ctx, j->from, n));
    for (int64_t i = 0; i < n; i++)
        if (la_norm(j->width, j->c->embedding + i * j->width) > 0)
            j->from[n_items++] = i;
    for (int64_t i = 0; i < n_items; i++) {
        int64_t other = i + rng_below(&r, n_items - i), kept = j->from[i];
        j->from[i] = j->from[other];
        j->from[other] = kept;
    }
    j->n = BASE_MIN(n_items, ROWS_MOST);
    return DDSC_OK;
}

/* Returns the cell with the nearest center among the cells of the half. */
static int64_t nearest_cell(const near_fit *j, const double *row)
{
    int64_t best = -1;
    double least = INFINITY;
    for (int64_t c = 0; c < j->n_cells; c++) {
        double d =
            j->size[c] > 0 ? la_distance2(j->width, row, j->middle + c * j->width) : INFINITY;
        best = d < least ? c : best;
        least = fmin(least, d);
    }
    return best;
}

/* Assigns each cell of a half to the cluster of most of its items. */
static void match_cells(near_fit *j, int64_t begin, int64_t end)
{
    int64_t k = j->c->view.k;
    const int32_t *labels = cluster_spectral_labels(j->c);
    memset(j->votes, 0, (size_t)(j->n_cells * k) * sizeof *j->votes);
    for (int64_t i = begin; i < end; i++)
        j->votes[j->label[i - begin] * k + labels[j->from[i]]]++;
    for (int64_t c = 0; c < j->n_cells; c++) {
        j->into[c] = 0;
        for (int32_t l = 1; l < k; l++)
            if (j->votes[c * k + l] > j->votes[c * k + j->into[c]])
                j->into[c] = l;
    }
}

/* Clusters one half, and assigns the items of the other half to its clusters. */
static ddsc_status use_half(near_fit *j, int64_t begin, int64_t end)
{
    double inertia;
    int64_t found, k = j->c->view.k;
    for (int64_t i = begin; i < end; i++)
        memcpy(j->part + (i - begin) * j->width, embedded_row(j, i),
               (size_t)j->width * sizeof *j->part);
    kmeans_problem problem = {.n = end - begin,
                              .dim = j->width,
                              .rows = j->part,
                              .k = j->n_cells,
                              .restarts = HALF_RESTARTS};
    CHECK(kmeans_fit(j->ctx, j->label, &inertia, &found, &problem));
    kmeans_means(j->middle, j->size, j->label, j->n_cells, end - begin, j->width, j->part);
    match_cells(j, begin, end);
    for (int64_t i = 0; i < j->n; i++) {
        if (i >= begin && i < end)
            continue;
        membership_near(j->held.score + j->held.n * k, k, embedded_row(j, i), j->width, j->center,
                        j->center_label, j->n_centers);
        j->held.observed[j->held.n++] = j->into[nearest_cell(j, embedded_row(j, i))];
    }
    return DDSC_OK;
}

static ddsc_status open_near_fit(near_fit *j)
{
    int64_t k = j->c->view.k;
    CHECK(MEM_NEW(j->ctx, j->part, j->n * j->width));
    CHECK(MEM_NEW(j->ctx, j->middle, j->n_cells * j->width));
    CHECK(MEM_NEW(j->ctx, j->size, j->n_cells));
    CHECK(MEM_NEW(j->ctx, j->label, j->n));
    CHECK(MEM_NEW(j->ctx, j->into, j->n_cells));
    CHECK(MEM_NEW(j->ctx, j->votes, j->n_cells * k));
    CHECK(membership_create_held_out(j->ctx, &j->held, j->n, k));
    return cluster_find_centers(j->ctx, &j->center, &j->center_label, &j->n_centers, j->c);
}

/* Drops items whose observed cluster has no center. The score of such a cluster is minus
 * infinity. */
static void drop_without_center(held_out *h)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < h->n; i++) {
        if (!(h->score[i * h->k + h->observed[i]] > -INFINITY))
            continue;
        memmove(h->score + kept * h->k, h->score + i * h->k, (size_t)h->k * sizeof *h->score);
        h->observed[kept++] = h->observed[i];
    }
    h->n = kept;
}

ddsc_status cluster_distance_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                      const ddsc_clustering *c)
{
    ddsc_status status = DDSC_OK;
    near_fit j = {.ctx = ctx, .c = c, .width = c->view.n_vectors};
    *report = (ddsc_membership_report){.softness = NEAR_USUAL};
    for (int64_t i = 0; i < c->view.n; i++)
        j.n_cells = BASE_MAX(j.n_cells, c->cells[i] + 1);
    TRY(choose_embedded(&j));
    if (j.n_cells < 2 || j.n < 4 * j.n_cells)
        goto done;
    TRY(open_near_fit(&j));
    TRY(use_half(&j, 0, j.n / 2));
    TRY(use_half(&j, j.n / 2, j.n));
    drop_without_center(&j.held);
    membership_fit(report, &j.held, NEAR_LOW, NEAR_HIGH);
done:
    near_fit_free(&j);
    return status;
}

/* ---- softness of words ---- */

typedef struct halves_fit {
    const ddsc_clustering *c;
    const measures *data;
    const mixture_scorer *scorer;
    double *mass; /* k: number of word occurrences in the items of each cluster */
    int64_t n_documents, step;
    held_out held;  /* two halves of every document */
    int64_t *words; /* 2 per document: number of distinct words in each half */
} halves_fit;

/* Returns the log probability of a word in the cluster of the document, computed without the
 * document. */
static double log_without(const halves_fit *j, int32_t word, int32_t label, double count,
                          double length)
{
    const word_mixture *mix = &j->c->mixture;
    double theta = mix->theta[word * mix->k + label], even = 1 / (double)mix->n_words;
    double own = (theta - even / 3) * 3 / 2, left = j->mass[label] - length;
    double without = left > 0 ? fmax(own * j->mass[label] - count, 0) / left : even;
    return log(fmin(without, 1) * 2 / 3 + even / 3);
}

/* Computes the scores of both halves of an item. All occurrences of a word are assigned to the same
 * half because they are not independent. */
static void score_halves(const halves_fit *j, int64_t item, double *first, double *second,
                         int64_t *words)
{
    const mixture_scorer *s = j->scorer;
    const measures_counts *counts = s->counts;
    int64_t row = j->data->row[item], k = s->k, length = 0;
    int32_t label = j->c->labels[item];
    memcpy(first, s->log_share, (size_t)k * sizeof *first);
    memcpy(second, s->log_share, (size_t)k * sizeof *second);
    words[0] = words[1] = 0;
    for (int64_t e = counts->offset[row]; e < counts->offset[row + 1]; e++)
        length += s->code[counts->word[e]] >= 0 ? counts->count[e] : 0;
    for (int64_t e = counts->offset[row]; e < counts->offset[row + 1]; e++) {
        int32_t word = s->code[counts->word[e]];
        double count = counts->count[e];
        if (word < 0)
            continue;
        int half = (int)(rng_hash(0, RNG_WORDS, (uint64_t)item, (uint64_t)word) & 1);
        double *score = half ? second : first, before = score[label];
        words[half]++;
        for (int64_t c = 0; c < k; c++)
            score[c] += count * s->log_theta[word * k + c];
        score[label] = before + count * log_without(j, word, label, count, (double)length);
    }
}

static ddsc_status score_documents(void *arg, int64_t begin, int64_t end, int worker)
{
    const halves_fit *j = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double *first = j->held.score + 2 * i * j->held.k;
        score_halves(j, i * j->step, first, first + j->held.k, j->words + 2 * i);
    }
    return DDSC_OK;
}

/* Keeps the documents that have words in both halves. The observed cluster of each half is the
 * cluster predicted from the other half. */
static void pair_halves(halves_fit *j)
{
    held_out *h = &j->held;
    for (int64_t i = 0; i < j->n_documents; i++) {
        double *from = h->score + 2 * i * h->k;
        if (j->words[2 * i] == 0 || j->words[2 * i + 1] == 0)
            continue;
        h->observed[h->n] = membership_best(from + h->k, h->k);
        h->observed[h->n + 1] = membership_best(from, h->k);
        memmove(h->score + h->n * h->k, from, (size_t)(2 * h->k) * sizeof *from);
        h->n += 2;
    }
}

static ddsc_status weigh_clusters(ddsc_context *ctx, halves_fit *j)
{
    const measures_counts *counts = j->scorer->counts;
    CHECK(MEM_ZERO(ctx, j->mass, j->c->view.k));
    for (int64_t i = 0; i < j->data->n; i++)
        for (int64_t row = j->data->row[i], e = counts->offset[row]; e < counts->offset[row + 1];
             e++)
            if (j->scorer->code[counts->word[e]] >= 0)
                j->mass[j->c->labels[i]] += counts->count[e];
    return DDSC_OK;
}

static ddsc_status fit_word_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                     halves_fit *j)
{
    ddsc_status status = DDSC_OK;
    int64_t n = j->data->n;
    j->step = BASE_MAX(n / DOCUMENTS_MOST, 1);
    j->n_documents = (n + j->step - 1) / j->step;
    TRY(weigh_clusters(ctx, j));
    TRY(membership_create_held_out(ctx, &j->held, 2 * j->n_documents, j->c->view.k));
    TRY(MEM_NEW(ctx, j->words, 2 * j->n_documents));
    TRY(parallel_for(ctx, j->n_documents, 64, score_documents, j));
    pair_halves(j);
    membership_fit(report, &j->held, WORDS_LOW, WORDS_HIGH);
    report->softness *= 2;
done:
    membership_free_held_out(ctx, &j->held);
    MEM_FREE(ctx, j->mass, j->words);
    return status;
}

ddsc_status cluster_word_softness(ddsc_context *ctx, ddsc_membership_report *report,
                                  const ddsc_clustering *c, const measures *data)
{
    ddsc_status status = DDSC_OK;
    mixture_scorer scorer = {0};
    int32_t *code = NULL;
    halves_fit j = {.c = c, .data = data, .scorer = &scorer};
    *report = (ddsc_membership_report){.softness = WORDS_USUAL};
    TRY(mixture_own_code(ctx, &code, &c->mixture, data->counts.n_words));
    TRY(mixture_open(ctx, &scorer, &c->mixture, &data->counts, code));
    TRY(fit_word_softness(ctx, report, &j));
done:
    mixture_close(ctx, &scorer);
    mem_free(ctx, code);
    return status;
}

/* ---- memberships of all items ---- */

SIZED_INIT(report_struct, ddsc_membership_report, n_held_out, NULL);

typedef struct membership_job {
    const ddsc_clustering *c;
    const measures *data;
    double *out;
    double *center;
    int32_t *center_label;
    int64_t n_centers;
    double *shares; /* k: share of the items */
    double near, words;
    mixture_scorer scorer;
    uint8_t *by_words; /* n */
} membership_job;

static ddsc_status member_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const membership_job *j = arg;
    int64_t k = j->c->view.k, width = j->c->view.n_vectors;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double *out = j->out + i * k;
        const double *row = j->c->embedding + i * width;
        j->by_words[i] = j->scorer.k > 0 && mixture_score(&j->scorer, out, j->data->row[i]) > 0;
        if (j->by_words[i]) {
            membership_soften(out, k, j->words);
        } else if (la_norm(width, row) > 0) {
            membership_near(out, k, row, width, j->center, j->center_label, j->n_centers);
            membership_soften(out, k, j->near);
        } else { /* no information about the item */
            memcpy(out, j->shares, (size_t)k * sizeof *out);
        }
        membership_favor(out, k, j->c->labels[i]);
    }
    return DDSC_OK;
}

static ddsc_status run_memberships(ddsc_context *ctx, ddsc_membership_report *report,
                                   membership_job *j)
{
    const ddsc_clustering *c = j->c;
    ddsc_membership_report by_words;
    CHECK(cluster_find_centers(ctx, &j->center, &j->center_label, &j->n_centers, c));
    CHECK(cluster_distance_softness(ctx, report, c));
    j->near = report->softness;
    if (j->scorer.k > 0) {
        CHECK(cluster_word_softness(ctx, &by_words, c, j->data));
        j->words = by_words.softness;
        *report = by_words;
    }
    CHECK(MEM_ZERO(ctx, j->shares, c->view.k));
    CHECK(MEM_NEW(ctx, j->by_words, c->view.n));
    for (int64_t i = 0; i < c->view.n; i++)
        j->shares[c->labels[i]] += 1 / (double)c->view.n;
    CHECK(parallel_for(ctx, c->view.n, 64, member_range, j));
    DDSC_ASSERT(membership_holds(j->out, c->view.n, c->view.k));
    for (int64_t i = 0; i < c->view.n; i++)
        report->n_by_words += j->by_words[i];
    return DDSC_OK;
}

static ddsc_status check_membership_call(ddsc_context *ctx, const double *membership,
                                         const ddsc_clustering *c, const measures *data)
{
    CHECK(ctx_need(ctx, membership, "membership"));
    CHECK(ctx_need(ctx, c, "clustering"));
    if (data && data->n != c->view.n)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "membership: measures has %lld items, but the clustering has %lld",
                        (long long)data->n, (long long)c->view.n);
    if (c->mixture.n_words > 0 && (!data || data->counts.n_words == 0))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "membership: the labels were refined by words, so measures must be the "
                        "clustered set with its word counts");
    if (c->mixture.n_words > 0 && c->mixture.word[c->mixture.n_words - 1] >= data->counts.n_words)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "membership: measures is not the clustered set; it has only %lld counted "
                        "words",
                        (long long)data->counts.n_words);
    return DDSC_OK;
}

ddsc_status ddsc_membership_run(ddsc_context *context, double *membership,
                                ddsc_membership_report *report, const ddsc_clustering *clustering,
                                const ddsc_measures *data)
{
    ddsc_status status = DDSC_OK;
    ddsc_membership_report own;
    int32_t *code = NULL;
    CHECK(ctx_enter(context));
    CHECK(sized_take(context, &report_struct, &own, report));
    CHECK(check_membership_call(context, membership, clustering, data));
    membership_job j = {.c = clustering, .data = data, .out = membership};
    if (clustering->mixture.n_words > 0) {
        TRY(mixture_own_code(context, &code, &clustering->mixture, data->counts.n_words));
        TRY(mixture_open(context, &j.scorer, &clustering->mixture, &data->counts, code));
    }
    TRY(run_memberships(context, &own, &j));
    sized_give(&report_struct, report, &own);
done:
    mixture_close(context, &j.scorer);
    MEM_FREE(context, j.center, j.center_label, j.shares, j.by_words, code);
    return status;
}
