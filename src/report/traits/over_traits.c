/* Finds the words or coordinates that distinguish the items of a cluster in one period: "words" and
 * "markers" from the items of all other clusters, and "changed" from the items of the same cluster
 * in the other periods. Words are ranked by p log(p / q), as in choose_words.c, and coordinates by
 * the difference of their means in standard deviations. The results are descriptive; they are not
 * tests. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/traits/over.h"

enum {
    OVER_TRAITS = 5,
    OVER_CHANGED = 3,
    OVER_FEWEST = 3,       /* minimum number of items in a period that is described */
    OVER_WORD_ITEMS = 2,   /* minimum number of items of the period that contain a word */
    OVER_CELLS = 20000000, /* limit on periods x words */
    OVER_DIM = 64,         /* sets with more unnamed coordinates are not described */
    OVER_TEXT = 200
};

/* A word must be at least this many times as frequent as elsewhere. */
static const double OVER_LIFT = 2;
/* Differences of a coordinate below this number of standard deviations are not reported. */
static const double OVER_EFFECT = 0.1;

typedef struct over_features {
    bool words;
    int64_t n, n_periods;
    text_table name;         /* of words */
    int64_t *first, *number; /* words of point p: number[first[p]] to number[first[p + 1] - 1] */
    double *all,
        *square;   /* n: sums over the items of all clusters; sums of squares, for coordinates */
    double *here;  /* n: sums over the items of the cluster */
    double *cell;  /* n_periods x n: sums over the items of each period */
    int32_t *seen; /* n_periods x n: items of the cluster and period with the word */
    int64_t *last; /* n: last item with the word, plus 1 */
    int64_t *size; /* n_periods: items */
} over_features;

static void over_free(ddsc_context *ctx, over_features *f)
{
    text_table_free(ctx, &f->name);
    MEM_FREE(ctx, f->first, f->number, f->all, f->square, f->here, f->cell, f->seen, f->last,
             f->size);
}

/* Assigns a number to each word of all points. A point named "a + b" has two words. */
static ddsc_status over_find_words(const ddsc_report *r, over_features *f)
{
    int64_t n_support = r->items.n_support, n = 0, capacity = 0;
    bool is_new;
    CHECK(MEM_NEW(r->ctx, f->first, n_support + 1));
    for (int64_t p = 0; p < n_support; p++) {
        f->first[p] = n;
        for (const char *name = ddsc_measures_get_point_name(r->measures, p), *next; name;
             name = next) {
            next = strstr(name, " + ");
            CHECK(MEM_RESERVE(r->ctx, f->number, &capacity, n + 1));
            CHECK(text_table_add(r->ctx, &f->name, name,
                                 next ? (size_t)(next - name) : strlen(name), &f->number[n++],
                                 &is_new));
            next = next ? next + 3 : NULL;
        }
    }
    f->first[n_support] = n;
    f->n = f->name.n;
    return DDSC_OK;
}

/* Adds an item to `sum`, and counts its words in `seen` unless `seen` is NULL. */
static void over_add_item(const ddsc_report *r, over_features *f, int64_t i, double *sum,
                          int32_t *seen)
{
    const ddsc_measures_view *m = &r->items;
    for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
        int64_t p = m->index[e];
        if (!f->words) {
            for (int64_t d = 0; d < m->dim; d++)
                sum[d] += m->weight[e] * m->support[p * m->dim + d];
            continue;
        }
        for (int64_t k = f->first[p]; k < f->first[p + 1]; k++) {
            int64_t word = f->number[k];
            sum[word] += m->weight[e] / (double)(f->first[p + 1] - f->first[p]);
            if (seen && f->last[word] != i + 1) {
                f->last[word] = i + 1;
                seen[word]++;
            }
        }
    }
}

/* Sums the squares of the coordinates of all points, weighted by mass. */
static void over_add_squares(const ddsc_report *r, over_features *f, int64_t i)
{
    const ddsc_measures_view *m = &r->items;
    for (int64_t e = m->offset[i]; e < m->offset[i + 1] && !f->words; e++)
        for (int64_t d = 0; d < m->dim; d++) {
            double x = m->support[m->index[e] * m->dim + d];
            f->square[d] += m->weight[e] * x * x;
        }
}

/* ---- differences between p and q ---- */

static void over_compare(finding *best, int *n_best, int most, const over_features *f,
                         const int32_t *seen, const double *sum, double n, const double *whole,
                         double n_whole, double n_all)
{
    *n_best = 0;
    for (int64_t k = 0; k < f->n && n_whole > n; k++) {
        double p = sum[k] / n, q = (whole[k] - sum[k]) / (n_whole - n), least = 1 / (double)f->n;
        if (f->words) {
            q = fmax(q, 0);
            if (seen[k] >= OVER_WORD_ITEMS && p > OVER_LIFT * q &&
                text_table_get(&f->name, k)[0] != 0)
                traits_keep_finding(best, n_best, most,
                                    (finding){k, p * log((p + least) / (q + least)), p, q});
            continue;
        }
        double mean = f->all[k] / n_all, spread = sqrt(fmax(f->square[k] / n_all - mean * mean, 0));
        double effect = (p - q) / spread;
        if (isfinite(effect) && fabs(effect) >= OVER_EFFECT)
            traits_keep_finding(best, n_best, most, (finding){k, effect, p, q});
    }
}

static void over_put_finding(ddsc_report *r, json_t *list, const over_features *f, const finding *x)
{
    json_t *row = put_row(r, list);
    const char *name = f->words ? text_table_get(&f->name, x->which)
                                : ddsc_measures_get_coordinate_name(r->measures, x->which);
    char text[OVER_TEXT];
    name = name ? name : "";
    size_t length = text_cut(name, strlen(name), sizeof text - 1);
    memcpy(text, name, length);
    text[length] = 0;
    if (!f->words)
        put_count(r, row, "coordinate", x->which);
    if (length > 0)
        put_text(r, row, f->words ? "word" : "name", text);
    put_real(r, row, f->words ? "share" : "effect", f->words ? x->here : x->value);
    if (!f->words)
        put_real(r, row, "mean", x->here);
    put_real(r, row, "elsewhere", x->elsewhere);
}

static void over_put_list(ddsc_report *r, json_t *period, const char *key, const over_features *f,
                          const finding *best, int n)
{
    json_t *list = put_array(r, period, key);
    for (int i = 0; i < n; i++)
        over_put_finding(r, list, f, &best[i]);
}

/* Describes the periods of one cluster. `others` contains the sums over all items outside the
 * cluster. Each period is compared with them. */
static void over_describe(ddsc_report *r, json_t *periods, const over_features *f, double *others,
                          double n_cluster, double n_all)
{
    finding best[OVER_TRAITS];
    int n_best;
    for (int64_t t = 0; t < f->n_periods; t++) {
        json_t *period = json_array_get(periods, (size_t)t);
        const double *sum = f->cell + t * f->n, n = (double)f->size[t];
        const int32_t *seen = f->seen ? f->seen + t * f->n : NULL;
        if (f->size[t] < OVER_FEWEST)
            continue;
        for (int64_t k = 0; k < f->n; k++)
            others[k] = f->all[k] - f->here[k] + sum[k];
        over_compare(best, &n_best, OVER_TRAITS, f, seen, sum, n, others, n_all - n_cluster + n,
                     n_all);
        over_put_list(r, period, f->words ? "words" : "markers", f, best, n_best);
        over_compare(best, &n_best, OVER_CHANGED, f, seen, sum, n, f->here, n_cluster, n_all);
        over_put_list(r, period, "changed", f, best, n_best);
    }
}

static ddsc_status over_allocate_features(ddsc_context *ctx, over_features *f)
{
    CHECK(MEM_ZERO(ctx, f->all, f->n));
    CHECK(MEM_ZERO(ctx, f->square, f->n));
    CHECK(MEM_NEW(ctx, f->here, f->n));
    CHECK(MEM_NEW(ctx, f->cell, f->n_periods * f->n));
    CHECK(MEM_ZERO(ctx, f->last, f->n));
    CHECK(MEM_NEW(ctx, f->size, f->n_periods));
    return f->words ? MEM_NEW(ctx, f->seen, f->n_periods * f->n) : DDSC_OK;
}

/* Fills the sums of one cluster. Items without a period are counted in the cluster but in no
 * period.
 * */
static double over_sum_cluster(const ddsc_report *r, over_features *f, const over_items *items,
                               int64_t c)
{
    double n = 0;
    memset(f->here, 0, (size_t)f->n * sizeof *f->here);
    memset(f->cell, 0, (size_t)(f->n_periods * f->n) * sizeof *f->cell);
    memset(f->size, 0, (size_t)f->n_periods * sizeof *f->size);
    if (f->seen)
        memset(f->seen, 0, (size_t)(f->n_periods * f->n) * sizeof *f->seen);
    for (int64_t i = 0; i < items->n; i++) {
        int32_t t = items->view->period[i];
        if (items->label[i] != c)
            continue;
        n++;
        over_add_item(r, f, i, f->here, NULL);
        if (t < 0)
            continue;
        f->size[t]++;
        over_add_item(r, f, i, f->cell + t * f->n, f->seen ? f->seen + t * f->n : NULL);
    }
    return n;
}

ddsc_status traits_put_over(ddsc_report *r, json_t *clusters, const over_items *items)
{
    ddsc_status status = DDSC_OK;
    over_features f = {.n_periods = items->view->n_periods, .n = r->items.dim};
    double *others = NULL, n_all = 0;
    if (!r->measures || r->k < 2)
        return DDSC_OK;
    f.words = ddsc_measures_get_point_name(r->measures, 0) != NULL;
    if (f.words)
        TRY(over_find_words(r, &f));
    else if (!ddsc_measures_get_coordinate_name(r->measures, 0) &&
             (r->items.is_grid || r->items.dim > OVER_DIM))
        goto done;
    if (f.n < 1 || f.n > OVER_CELLS / f.n_periods)
        goto done;
    TRY(over_allocate_features(r->ctx, &f));
    TRY(MEM_NEW(r->ctx, others, f.n));
    for (int64_t i = 0; i < items->n; i++)
        if (items->label[i] >= 0) {
            over_add_item(r, &f, i, f.all, NULL);
            over_add_squares(r, &f, i);
            n_all++;
        }
    for (int64_t c = 0; c < r->k; c++) {
        double n = over_sum_cluster(r, &f, items, c);
        over_describe(r, json_object_get(json_array_get(clusters, (size_t)c), "periods"), &f,
                      others, n, n_all);
    }
done:
    mem_free(r->ctx, others);
    over_free(r->ctx, &f);
    return status;
}
