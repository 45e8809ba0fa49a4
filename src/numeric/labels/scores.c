/* Computes the agreement of two labelings: adjusted mutual information (Vinh, Epps, Bailey 2010,
 * normalized by the mean entropy), adjusted Rand index (Hubert and Arabie 1985), mutual information
 * and purity. */
#include <float.h>
#include <math.h>

#include "base/sized.h"
#include "numeric/labels/scores.h"

/* The sparse contingency table: its cells, sorted by (label, truth), and the class sizes of both
 * labelings. */
typedef struct scores_table {
    int64_t n, n_cells, n_labels, n_truth;
    uint64_t *key;  /* label << 32 | truth while sorting; later with consecutive numbers */
    int64_t *cell;  /* counts */
    int64_t *label; /* n_labels sizes */
    int64_t *truth;
    int32_t *order; /* distinct truth values, ascending */
} scores_table;

static void scores_table_free(ddsc_context *ctx, scores_table *t)
{
    MEM_FREE(ctx, t->order, t->truth, t->label, t->cell, t->key);
    *t = (scores_table){0};
}

/* Merges the sorted pairs into cells. A new label begins where the upper half of the key
 * changes. */
static void count_cells(scores_table *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        uint64_t key = t->key[i];
        bool new_label = i == 0 || key >> 32 != t->key[i - 1] >> 32;
        bool new_cell = i == 0 || key != t->key[i - 1];
        if (new_label)
            t->label[t->n_labels++] = 0;
        if (new_cell)
            t->cell[t->n_cells++] = 0;
        t->label[t->n_labels - 1]++;
        t->cell[t->n_cells - 1]++;
        t->truth[sort_find_i32(t->order, t->n_truth, (int32_t)(uint32_t)key)]++;
    }
    int64_t at = 0, number = -1;
    uint64_t last = 0;
    for (int64_t c = 0; c < t->n_cells; c++) {
        uint64_t key = t->key[at];
        number += c == 0 || key >> 32 != last;
        last = key >> 32;
        at += t->cell[c];
        uint64_t truth = (uint64_t)sort_find_i32(t->order, t->n_truth, (int32_t)(uint32_t)key);
        t->key[c] = (uint64_t)number << 32 | truth;
    }
}

static ddsc_status table_make(ddsc_context *ctx, scores_table *t, int64_t n, const int32_t *labels,
                              const int32_t *truth)
{
    ddsc_status status = DDSC_OK;
    *t = (scores_table){0};
    TRY(MEM_NEW(ctx, t->key, n));
    TRY(MEM_NEW(ctx, t->order, n));
    for (int64_t i = 0; i < n; i++)
        if (labels[i] >= 0 && truth[i] >= 0) {
            t->key[t->n] = (uint64_t)labels[i] << 32 | (uint32_t)truth[i];
            t->order[t->n++] = truth[i];
        }
    if (t->n == 0)
        TRY(ctx_fail(
            ctx, DDSC_ERROR_INPUT,
            "none of the %lld items has a label in both labelings, so they cannot be compared",
            (long long)n));
    TRY(MEM_NEW(ctx, t->cell, t->n));
    TRY(MEM_NEW(ctx, t->label, t->n));
    TRY(MEM_ZERO(ctx, t->truth, t->n));
    sort_u64(t->key, t->n);
    sort_i32(t->order, t->n);
    for (int64_t i = 0; i < t->n; i++)
        if (i == 0 || t->order[i] != t->order[t->n_truth - 1])
            t->order[t->n_truth++] = t->order[i];
    count_cells(t);
done:
    if (status < 0)
        scores_table_free(ctx, t);
    return status;
}

static double entropy(const int64_t *size, int64_t k, double n)
{
    double h = 0;
    for (int64_t c = 0; c < k; c++)
        h -= (double)size[c] / n * (log((double)size[c]) - log(n));
    return h;
}

static double mutual_information(const scores_table *t)
{
    double sum = 0, n = (double)t->n;
    for (int64_t c = 0; c < t->n_cells; c++) {
        double x = (double)t->cell[c];
        double a = (double)t->label[t->key[c] >> 32];
        double b = (double)t->truth[t->key[c] & UINT32_MAX];
        sum += x / n * (log(x) + log(n) - log(a) - log(b));
    }
    return fmax(sum, 0);
}

static double log_factorial(double x)
{
    int sign;
    return lgamma_r(x + 1, &sign);
}

/* Returns the contribution of a label of size a and a truth of size b to the expected mutual
 * information of random labelings: the sum over the overlap x of x/n log(n x / (a b)) times the
 * hypergeometric probability of x. */
static double expected_pair(double a, double b, double n)
{
    double sum = 0, low = fmax(1, a + b - n), high = fmin(a, b);
    double shift = log(n) - log(a) - log(b);
    double logp = log_factorial(a) + log_factorial(b) + log_factorial(n - a) +
                  log_factorial(n - b) - log_factorial(n) - log_factorial(low) -
                  log_factorial(a - low) - log_factorial(b - low) - log_factorial(n - a - b + low);
    double p = exp(logp);
    for (double x = low; x <= high; x++) {
        sum += x / n * (log(x) + shift) * p;
        /* The next probability is computed from the ratio of consecutive probabilities, or from its
         * logarithm if the probability is too small. */
        double ratio = (a - x) * (b - x) / ((x + 1) * (n - a - b + x + 1));
        logp += log(ratio);
        p = p > 1e-290 ? p * ratio : exp(logp);
    }
    return sum;
}

/* Finds the distinct sizes and their counts, because equal sizes contribute equally to the expected
 * information. */
static int64_t group_sizes(int64_t *size, int64_t *times, int64_t k)
{
    int64_t n_groups = 0;
    sort_i64(size, k);
    for (int64_t i = 0; i < k; i++) {
        if (i == 0 || size[i] != size[n_groups - 1]) {
            size[n_groups] = size[i];
            times[n_groups++] = 0;
        }
        times[n_groups - 1]++;
    }
    return n_groups;
}

typedef struct expectation {
    const int64_t *a, *a_times, *b, *b_times;
    int64_t n_b;
    double n;
    double *row;
} expectation;

static ddsc_status expect_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const expectation *e = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double sum = 0;
        for (int64_t j = 0; j < e->n_b; j++)
            sum += (double)(e->a_times[i] * e->b_times[j]) *
                   expected_pair((double)e->a[i], (double)e->b[j], e->n);
        e->row[i] = sum;
    }
    return DDSC_OK;
}

/* Computes the expected mutual information. This sorts the sizes in t, so the function must be
 * called last. */
static ddsc_status expected_information(ddsc_context *ctx, double *expected, scores_table *t)
{
    ddsc_status status = DDSC_OK;
    int64_t *times = NULL;
    double *row = NULL;
    TRY(MEM_NEW(ctx, times, t->n_labels + t->n_truth));
    TRY(MEM_NEW(ctx, row, t->n_labels));
    int64_t *b_times = times + t->n_labels;
    int64_t n_a = group_sizes(t->label, times, t->n_labels);
    int64_t n_b = group_sizes(t->truth, b_times, t->n_truth);
    expectation e = {t->label, times, t->truth, b_times, n_b, (double)t->n, row};
    TRY(parallel_for(ctx, n_a, 1, expect_rows, &e));
    *expected = 0;
    for (int64_t i = 0; i < n_a; i++)
        *expected += row[i];
done:
    MEM_FREE(ctx, row, times);
    return status;
}

static double pairs_of(double x)
{
    return x * (x - 1) / 2;
}

/* Computes the adjusted Rand index from pair counts, so that perfect agreement gives exactly 1. */
static double adjusted_rand(const scores_table *t)
{
    double both = 0, in_labels = 0, in_truth = 0, all = pairs_of((double)t->n);
    for (int64_t c = 0; c < t->n_cells; c++)
        both += pairs_of((double)t->cell[c]);
    for (int64_t c = 0; c < t->n_labels; c++)
        in_labels += pairs_of((double)t->label[c]);
    for (int64_t c = 0; c < t->n_truth; c++)
        in_truth += pairs_of((double)t->truth[c]);
    if (both == in_labels && both == in_truth)
        return 1;
    double expected = in_labels / all * in_truth;
    return (both - expected) / ((in_labels + in_truth) / 2 - expected);
}

static double purity(const scores_table *t)
{
    int64_t sum = 0, best = 0;
    for (int64_t c = 0; c < t->n_cells; c++) {
        best = BASE_MAX(best, t->cell[c]);
        if (c + 1 == t->n_cells || t->key[c] >> 32 != t->key[c + 1] >> 32) {
            sum += best;
            best = 0;
        }
    }
    return (double)sum / (double)t->n;
}

static ddsc_status fill_scores(ddsc_context *ctx, ddsc_scores *s, scores_table *t)
{
    double n = (double)t->n, expected = 0;
    double h_labels = entropy(t->label, t->n_labels, n), h_truth = entropy(t->truth, t->n_truth, n);
    double information = mutual_information(t), mean = (h_labels + h_truth) / 2;
    *s = (ddsc_scores){.n = t->n, .n_labels = t->n_labels, .n_truth = t->n_truth};
    s->ari = adjusted_rand(t);
    s->purity = purity(t);
    /* The partitions are identical if every cell is a complete label and a complete truth. */
    if (t->n_cells == t->n_labels && t->n_cells == t->n_truth) {
        s->ami = s->nmi = 1;
        return DDSC_OK;
    }
    ddsc_status status = expected_information(ctx, &expected, t);
    s->nmi = information > DBL_EPSILON ? information / mean : 0;
    double range = mean - expected;
    range = range < 0 ? fmin(range, -DBL_EPSILON) : fmax(range, DBL_EPSILON);
    s->ami = (information - expected) / range;
    return status;
}

ddsc_status scores_compute(ddsc_context *ctx, ddsc_scores *scores, int64_t n, const int32_t *labels,
                           const int32_t *truth)
{
    ddsc_status status = DDSC_OK;
    scores_table t = {0};
    ddsc_scores found;
    TRY(table_make(ctx, &t, n, labels, truth));
    TRY(fill_scores(ctx, &found, &t));
    *scores = found;
done:
    scores_table_free(ctx, &t);
    return status;
}

SIZED_INIT(scores_struct, ddsc_scores, n, NULL);

ddsc_status ddsc_scores_run(ddsc_context *context, ddsc_scores *scores, int64_t n,
                            const int32_t *labels, const int32_t *truth)
{
    CHECK(ctx_enter(context));
    if (!scores || !labels || !truth || n < 1)
        return ctx_fail(context, DDSC_ERROR_ARGUMENT,
                        "scores require two labelings of at least one item");
    ddsc_scores found;
    CHECK(sized_take(context, &scores_struct, &found, scores));
    CHECK(scores_compute(context, &found, n, labels, truth));
    sized_give(&scores_struct, scores, &found);
    return DDSC_OK;
}
