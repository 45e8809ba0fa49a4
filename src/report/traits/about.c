/* Tests the association of the clusters with the metadata columns and with the number of points of
 * each item. The effect size of a column with more than ten distinct numbers is eta squared, the
 * share of its variance that is between clusters. For all other columns, it is Cramer's V =
 * sqrt(chi^2 / (n min(K - 1, C - 1))).
 *
 * The p value is the share of random permutations of the labels whose effect is at least as large.
 * If a block column is given, labels are permuted only within blocks. Holm's procedure corrects the
 * p values for the number of columns. These p values are valid because the clusters were computed
 * without the columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/stream/stream.h"
#include "report/traits/traits.h"

enum {
    N_DRAWS = 999,
    NUMBERS_FROM = 11, /* distinct values */
    MOST_COLUMNS = 200,
    MOST_CELLS = 1 << 20, /* maximum of clusters x values; each worker has a table of this size */
    MOST_WORK = 1 << 28   /* maximum of items x draws x columns; larger inputs have fewer draws */
};

/* A column is reported to predict the clusters if its effect is at least PREDICTS_V or
 * PREDICTS_ETA and its corrected p value is below PREDICTS_P. */
static const double PREDICTS_V = 0.5, PREDICTS_ETA = 0.5, PREDICTS_P = 0.05;
/* An association is reported as a finding if its corrected p value is below FOUND_P and it explains
 * at least this share of the variance. */
static const double FOUND_P = 0.05, FOUND_ETA = 0.05;

typedef struct column {
    const char *name; /* NULL: the number of points */
    bool numbers;
    int64_t n, n_values; /* number of items with a value; number of distinct values */
    double effect, p;
} column;

typedef struct about {
    ddsc_report *r;
    int64_t n_draws;
    const char **text; /* n: values of the current column, NULL if missing */
    double *number;    /* n: numeric value, or index of the distinct value */
    int32_t *label;    /* n: labels of the items that have a value */
    int32_t *block;    /* n: blocks of the same items */
    int32_t *blocks;   /* n: blocks of all items */
    int32_t *order;    /* n */
    int32_t *shuffled; /* n per worker */
    double *sum;       /* per worker: sums by cluster, or by cluster and value */
    int64_t sum_capacity;
} about;

typedef struct value {
    const char *text;
    int32_t item;
} value;

static int about_by_text(const void *a, const void *b)
{
    const value *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->item > y->item) - (x->item < y->item);
}

/* Maps each text to its rank among the *n_values distinct texts. A NULL text is mapped to -1. */
static ddsc_status about_number(ddsc_context *ctx, int32_t *number, int64_t *n_values,
                                const char *const *text, int64_t n)
{
    value *all = NULL;
    int64_t m = 0, found = 0;
    CHECK(MEM_NEW(ctx, all, n));
    for (int64_t i = 0; i < n; i++) {
        number[i] = -1;
        if (text[i])
            all[m++] = (value){text[i], (int32_t)i};
    }
    qsort(all, (size_t)m, sizeof *all, about_by_text);
    for (int64_t i = 0; i < m; i++) {
        found += i == 0 || strcmp(all[i].text, all[i - 1].text) != 0;
        number[all[i].item] = (int32_t)found - 1;
    }
    *n_values = found;
    mem_free(ctx, all);
    return DDSC_OK;
}

/* Returns the number of doubles that each worker needs for its sums. */
static int64_t sums_of(const about *a, const column *c)
{
    int64_t k = a->r->k, width = c->numbers ? 1 : c->n_values;
    return k + BASE_MAX(width, 1) + k * width;
}

/* Returns the effect size of the labels on a.number, over c->n items, or NaN if either is
 * constant. */
static double effect_of(const about *a, const column *c, const int32_t *label, int worker)
{
    int64_t k = a->r->k, width = c->numbers ? 1 : c->n_values, size = sums_of(a, c);
    double *row = a->sum + worker * size, *sum = row + k, *cell = sum + BASE_MAX(width, 1);
    double total = 0, square = 0;
    memset(row, 0, (size_t)size * sizeof *row);
    for (int64_t i = 0; i < c->n; i++) {
        row[label[i]]++;
        if (c->numbers) {
            cell[label[i]] += a->number[i];
            total += a->number[i];
            square += a->number[i] * a->number[i];
        } else {
            sum[(int64_t)a->number[i]]++;
            cell[label[i] * width + (int64_t)a->number[i]]++;
        }
    }
    double between = 0, n = (double)c->n;
    int64_t n_rows = 0,
            n_values = 0; /* counts the clusters and values that occur in items with a block */
    for (int64_t v = 0; v < width; v++)
        n_values += sum[v] > 0;
    for (int64_t j = 0; j < k; j++) {
        n_rows += row[j] > 0;
        for (int64_t v = 0; row[j] > 0 && v < width; v++) {
            double x = cell[j * width + v];
            if (c->numbers || sum[v] > 0)
                between += x * x / (c->numbers ? row[j] : row[j] * sum[v]);
        }
    }
    if (c->numbers) {
        double spread = square - total * total / n;
        return n_rows > 1 && spread > 1e-12 * square ? (between - total * total / n) / spread : NAN;
    }
    int64_t least = BASE_MIN(n_rows, n_values) - 1;
    return least > 0 ? sqrt(BASE_MAX(between - 1, 0) / (double)least) : NAN;
}

/* Permutes the labels within each block. The items of a block must be contiguous. */
static void shuffle_blocks(const about *a, int32_t *label, int64_t n, rng *random)
{
    for (int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && a->block[end] == a->block[begin];)
            end++;
        for (int64_t i = end - 1; i > begin; i--) {
            int64_t j = begin + rng_below(random, i - begin + 1);
            int32_t kept = label[i];
            label[i] = label[j];
            label[j] = kept;
        }
    }
}

/* Collects the items that have a value and a block into a.label, a.block and a.number, sorted by
 * block. */
static ddsc_status gather(about *a, column *c, const double *all)
{
    ddsc_report *r = a->r;
    double *key = NULL, mean = 0;
    int64_t n = r->view.n;
    CHECK(MEM_NEW(r->ctx, key, n));
    for (int64_t i = 0; i < n; i++)
        key[i] = a->blocks ? a->blocks[i] : 0;
    sort_order(a->order, key, n);
    c->n = 0;
    for (int64_t t = 0; t < n; t++) {
        int32_t i = a->order[t];
        if (isnan(all[i]) || (a->blocks && a->blocks[i] < 0) || result_left_out(r, i))
            continue;
        a->label[c->n] = r->view.labels[i];
        a->block[c->n] = a->blocks ? a->blocks[i] : 0;
        a->number[c->n++] = all[i];
        mean += all[i];
    }
    for (int64_t t = 0; c->numbers && t < c->n; t++)
        a->number[t] -=
            mean /
            (double)c->n; /* values are centered to avoid cancellation in the sums of squares */
    mem_free(r->ctx, key);
    return DDSC_OK;
}

typedef struct draws {
    const about *a;
    const column *c;
    uint64_t part;
    bool no_smaller[N_DRAWS];
} draws;

/* Runs draws [begin, end). Every draw permutes the original labels with its own random stream. */
static ddsc_status draw_some(void *arg, int64_t begin, int64_t end, int worker)
{
    draws *d = arg;
    const about *a = d->a;
    int32_t *label = a->shuffled + worker * a->r->view.n;
    for (int64_t t = begin; t < end; t++) {
        rng random = rng_make(ctx_seed(a->r->ctx), RNG_ABOUT, d->part << 32 | (uint64_t)t);
        memcpy(label, a->label, (size_t)d->c->n * sizeof *label);
        shuffle_blocks(a, label, d->c->n, &random);
        d->no_smaller[t] = effect_of(a, d->c, label, worker) >= d->c->effect * (1 - 1e-12);
    }
    return DDSC_OK;
}

static ddsc_status test_column(about *a, column *c, const double *all, uint64_t part)
{
    ddsc_report *r = a->r;
    draws d = {.a = a, .c = c, .part = part};
    int64_t no_smaller = 0;
    CHECK(gather(a, c, all));
    CHECK(MEM_RESERVE(r->ctx, a->sum, &a->sum_capacity, parallel_width(r->ctx) * sums_of(a, c)));
    c->effect = effect_of(a, c, a->label, 0);
    if (isnan(c->effect))
        return DDSC_OK;
    CHECK(parallel_for(r->ctx, a->n_draws, 1, draw_some, &d));
    for (int64_t t = 0; t < a->n_draws; t++)
        no_smaller += d.no_smaller[t];
    c->p = (double)(1 + no_smaller) / (double)(1 + a->n_draws);
    return DDSC_OK;
}

/* Copies the values of a column to a->text, with NULL for missing values. */
static void take_texts(about *a, int64_t which)
{
    const ddsc_report *r = a->r;
    for (int64_t i = 0; i < r->view.n; i++) {
        const char *text = ddsc_measures_get_meta(r->measures, r->row[i], which);
        a->text[i] = text && !text_is_missing(text) ? text : NULL;
    }
}

static bool all_numbers(double *out, const char *const *text, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        out[i] = NAN;
        if (text[i] && (!number_parse(text[i], &out[i]) || !isfinite(out[i])))
            return false;
    }
    return true;
}

/* Tests one metadata column. Skips columns that are constant or look like item names. */
static ddsc_status look_at(about *a, column *c, bool *kept, int64_t which)
{
    ddsc_status status = DDSC_OK;
    ddsc_report *r = a->r;
    int64_t n = r->view.n;
    double *all = NULL;
    int32_t *number = NULL;
    *kept = false;
    *c = (column){.name = ddsc_measures_get_meta_name(r->measures, which)};
    TRY(MEM_NEW(r->ctx, all, n));
    TRY(MEM_NEW(r->ctx, number, n));
    take_texts(a, which);
    TRY(about_number(r->ctx, number, &c->n_values, a->text, n));
    c->numbers = c->n_values >= NUMBERS_FROM && all_numbers(all, a->text, n);
    for (int64_t i = 0; i < n && !c->numbers; i++)
        all[i] = number[i] < 0 ? (double)NAN : (double)number[i];
    if (c->n_values < 2 || (!c->numbers && 2 * c->n_values > n && n > 20))
        goto done;
    if (!c->numbers && c->n_values > MOST_CELLS / r->k)
        goto done;
    TRY(test_column(a, c, all, (uint64_t)which + 1));
    *kept = !isnan(c->effect);
done:
    MEM_FREE(r->ctx, number, all);
    return status;
}

static ddsc_status look_at_points(about *a, column *c, bool *kept)
{
    ddsc_report *r = a->r;
    double *all = NULL;
    *c = (column){.numbers = true};
    CHECK(MEM_NEW(r->ctx, all, r->view.n));
    for (int64_t i = 0; i < r->view.n; i++)
        all[i] = (double)(r->items.offset[i + 1] - r->items.offset[i]);
    ddsc_status status = test_column(a, c, all, 0);
    *kept = status >= 0 && !isnan(c->effect);
    mem_free(r->ctx, all);
    return status;
}

static ddsc_status find_blocks(about *a)
{
    ddsc_report *r = a->r;
    const char *name;
    int64_t n_blocks;
    if (!r->from.block)
        return DDSC_OK;
    for (int64_t c = 0; (name = ddsc_measures_get_meta_name(r->measures, c)); c++)
        if (strcmp(name, r->from.block) == 0) {
            CHECK(MEM_NEW(r->ctx, a->blocks, r->view.n));
            take_texts(a, c);
            return about_number(r->ctx, a->blocks, &n_blocks, a->text, r->view.n);
        }
    return ctx_fail(r->ctx, DDSC_ERROR_ARGUMENT, "block: the metadata has no column \"%s\"",
                    r->from.block);
}

/* Returns a p value corrected by Holm's procedure (1979). The i-th smallest of m p values is
 * multiplied by m - i, and the results are made monotone. */
static double holm(const column *c, int64_t n, int64_t which)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++)
            before += c[j].p < c[i].p || (c[j].p == c[i].p && j < i);
        if (c[i].p < c[which].p || (c[i].p == c[which].p && i <= which))
            largest = fmax(largest, c[i].p * (double)(n - before));
    }
    return fmin(largest, 1);
}

static void put_columns(ddsc_report *r, json_t *root, const column *c, int64_t n, int64_t n_draws)
{
    if (n == 0)
        return;
    json_t *list = put_array(r, root, "about");
    for (int64_t i = 0; i < n; i++) {
        double p = holm(c, n, i);
        json_t *row = put_row(r, list);
        put_text(r, row, "column", c[i].name ? c[i].name : "number of distinct points");
        put_text(r, row, "effect", c[i].numbers ? "eta squared" : "Cramer's V");
        put_real(r, row, "value", c[i].effect);
        put_real(r, row, "p", c[i].p);
        put_real(r, row, "p_holm", p);
        put_count(r, row, "items", c[i].n);
        put_count(r, row, "draws", n_draws);
        put_bool(r, row, "predicts",
                 p < PREDICTS_P && c[i].effect >= (c[i].numbers ? PREDICTS_ETA : PREDICTS_V));
    }
}

ddsc_status traits_put_about(ddsc_report *r, json_t *root)
{
    ddsc_status status = DDSC_OK;
    about a = {.r = r};
    column *c = NULL;
    int64_t n = r->view.n, n_columns = 0, n_kept = 0;
    bool kept;
    if (!r->measures || n == 0 || r->k < 2)
        return DDSC_OK;
    while (n_columns < MOST_COLUMNS && ddsc_measures_get_meta_name(r->measures, n_columns))
        n_columns++;
    a.n_draws = BASE_MAX(BASE_MIN(N_DRAWS, MOST_WORK / (n * (n_columns + 1))), 99);
    TRY(MEM_NEW(r->ctx, c, n_columns + 1));
    TRY(MEM_NEW(r->ctx, a.text, n));
    TRY(MEM_NEW(r->ctx, a.number, n));
    TRY(MEM_NEW(r->ctx, a.label, n));
    TRY(MEM_NEW(r->ctx, a.shuffled, parallel_width(r->ctx) * n));
    TRY(MEM_NEW(r->ctx, a.block, n));
    TRY(MEM_NEW(r->ctx, a.order, n));
    TRY(find_blocks(&a));
    TRY(look_at_points(&a, &c[n_kept], &kept));
    n_kept += kept;
    for (int64_t which = 0; which < n_columns; which++) {
        TRY(look_at(&a, &c[n_kept], &kept, which));
        n_kept += kept;
    }
    put_columns(r, root, c, n_kept, a.n_draws);
done:
    MEM_FREE(r->ctx, a.sum, a.shuffled, a.order, a.blocks, a.block, a.label, a.number, a.text, c);
    return status;
}

bool traits_is_association(const json_t *row)
{
    const char *effect = json_string_value(json_object_get(row, "effect"));
    double found = json_number_value(json_object_get(row, "value"));
    bool tiny = effect && strcmp(effect, "eta squared") == 0 && found < FOUND_ETA;
    return !tiny && json_number_value(json_object_get(row, "p_holm")) < FOUND_P;
}

void traits_add_about(buffer *t, const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "column"));
    const char *effect = json_string_value(json_object_get(row, "effect"));
    if (name && effect)
        buffer_addf(t, "%s (%s %.2f, corrected p %.3g)", name, effect,
                    json_number_value(json_object_get(row, "value")),
                    json_number_value(json_object_get(row, "p_holm")));
}
