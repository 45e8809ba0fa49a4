/* Explains each cluster by words, the names of the support points. The name "a + b" denotes a point
 * merged from several words, which share its mass equally.
 *
 * Words are ranked by their term p log(p / q) in the Kullback-Leibler divergence of the
 * cluster's mean from the mean of the other items. Both p and q are smoothed by 1 / (number of
 * words). An exact transport plan then shows which words gain mass: it moves the cluster's
 * surplus to its deficit relative to the other items. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/content/explain.h"

enum {
    N_WORDS = 10,
    N_FLOWS = 6, /* words listed in "moves" per cluster */
    MOVED_CLUSTERS = 100,
    N_MOVED = 150,             /* words with a surplus or a deficit that enter the transport */
    EXPLAINED_CELLS = 50000000 /* limit on clusters x words */
};

/* Shares whose relative difference is smaller are treated as equal, because the difference is
 * rounding error. */
static const double SAME = 1e-9;

/* Returns the number of items in clusters, without excluded outliers. */
static int64_t n_counted(const ddsc_report *r)
{
    return r->view.n - (r->from.outliers ? r->n_outlying : 0);
}

typedef struct word {
    const char *text;
    size_t length;
    int64_t point, number;
    int64_t first, count; /* in `known`: range of the word's points in `at` */
} word;

typedef struct vocabulary {
    int64_t n_parts, n_words;
    word *part;     /* all words of all points; sorted by text, then by point */
    int64_t *first; /* n_support + 1: first part of each point */
    word *known;    /* n_words: one entry per distinct word */
    int64_t *at;    /* n_parts: points, sorted by word */
} vocabulary;

static int by_text(const void *a, const void *b)
{
    const word *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_point(const void *a, const void *b)
{
    const word *x = a, *y = b;
    return x->point != y->point ? (x->point > y->point) - (x->point < y->point)
                                : (x->text > y->text) - (x->text < y->text);
}

/* Splits a name at " + " into `part`, unless that is NULL. Returns the number of words. */
static int64_t split_name(word *part, const char *name, int64_t point)
{
    int64_t n = 0;
    for (const char *next; name; name = next) {
        next = strstr(name, " + ");
        size_t length = next ? (size_t)(next - name) : strlen(name);
        if (part)
            part[n] = (word){.text = name, .length = length, .point = point};
        n++;
        next = next ? next + 3 : NULL;
    }
    return n;
}

static ddsc_status find_words(const ddsc_report *r, vocabulary *v)
{
    const ddsc_measures *m = r->measures;
    CHECK(MEM_NEW(r->ctx, v->first, r->items.n_support + 1));
    for (int64_t p = 0; p < r->items.n_support; p++) {
        v->first[p] = v->n_parts;
        v->n_parts += split_name(NULL, ddsc_measures_get_point_name(m, p), p);
    }
    v->first[r->items.n_support] = v->n_parts;
    CHECK(MEM_NEW(r->ctx, v->part, v->n_parts));
    for (int64_t p = 0; p < r->items.n_support; p++)
        split_name(v->part + v->first[p], ddsc_measures_get_point_name(m, p), p);
    qsort(v->part, (size_t)v->n_parts, sizeof *v->part, by_text);
    CHECK(MEM_NEW(r->ctx, v->known, v->n_parts));
    CHECK(MEM_NEW(r->ctx, v->at, v->n_parts));
    for (int64_t k = 0; k < v->n_parts; k++) {
        if (k == 0 || by_text(&v->part[k - 1], &v->part[k]) != 0) {
            v->part[k].first = k;
            v->known[v->n_words++] = v->part[k];
        }
        v->part[k].number = v->n_words - 1;
        v->known[v->n_words - 1].count++;
        v->at[k] = v->part[k].point;
    }
    qsort(v->part, (size_t)v->n_parts, sizeof *v->part, by_point);
    return DDSC_OK;
}

typedef struct word_counts {
    double *mass;   /* k x n_words: mean over the items of a cluster */
    double *all;    /* n_words: sum over all items */
    int64_t *items; /* k x n_words: number of items of the cluster that contain the word */
    int64_t *seen;  /* n_words: last item that was counted, plus 1 */
    double *point;  /* n_support: mass per word of each point, over all items */
} word_counts;

static void count_words(const ddsc_report *r, const vocabulary *v, const word_counts *w)
{
    const ddsc_measures_view *m = &r->items;
    for (int64_t i = 0; i < m->n_items; i++) {
        if (result_left_out(r, i))
            continue;
        int64_t row = r->view.labels[i] * v->n_words;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            int64_t begin = v->first[m->index[e]], end = v->first[m->index[e] + 1];
            for (int64_t k = begin; k < end; k++) {
                int64_t number = v->part[k].number;
                double mass = m->weight[e] / (double)(end - begin);
                w->point[m->index[e]] += k == begin ? mass : 0;
                w->mass[row + number] += mass;
                w->all[number] += mass;
                w->items[row + number] += w->seen[number] != i + 1;
                w->seen[number] = i + 1;
            }
        }
    }
}

static void put_word(ddsc_report *r, json_t *row, const char *key, const word *known)
{
    char text[200];
    size_t length = known->length < sizeof text ? known->length : sizeof text - 1;
    while (length < known->length && length > 0 && (known->text[length] & 0xc0) == 0x80)
        length--; /* does not cut a UTF-8 character */
    memcpy(text, known->text, length);
    text[length] = 0;
    put_text(r, row, key, text);
}

/* Words that are heavier (more) or lighter (less) in the cluster than in the other items. */
typedef struct word_sides {
    finding best[N_WORDS], more[N_MOVED], less[N_MOVED];
    int n_best, n_more, n_less;
} word_sides;

static void compare_words(word_sides *s, const ddsc_report *r, int64_t c, const vocabulary *v,
                          const word_counts *w)
{
    double here = (double)r->size[c], elsewhere = (double)(n_counted(r) - r->size[c]);
    double least = 1 / (double)v->n_words;
    s->n_best = s->n_more = s->n_less = 0;
    for (int64_t k = 0; k < v->n_words; k++) {
        double sum = w->mass[c * v->n_words + k], p = sum / here;
        double q = fmax(w->all[k] - sum, 0) / elsewhere;
        bool once = w->items[c * v->n_words + k] < 2 && r->size[c] > 2;
        if (v->known[k].length == 0)
            continue;
        if (fabs(p - q) <= SAME * fmax(p, q))
            continue;
        if (p > q) {
            finding f = {k, p * log((p + least) / (q + least)), p, q};
            if (!once)
                result_keep_finding(s->best, &s->n_best, N_WORDS, f);
            result_keep_finding(s->more, &s->n_more, N_MOVED, (finding){k, p - q, p, q});
        } else if (p < q) {
            result_keep_finding(s->less, &s->n_less, N_MOVED, (finding){k, q - p, p, q});
        }
    }
}

static double sum_values(const finding *f, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += f[i].value;
    return sum;
}

/* Returns the length by which the costs of the run divide a point: its norm for the cosine cost,
 * otherwise 1. */
static double length_of(const ddsc_report *r, const double *x)
{
    double sum = 0;
    for (int64_t d = 0; d < r->items.dim; d++)
        sum += x[d] * x[d];
    return r->plan.metric.cost == DDSC_COST_COSINE && sum > 0 ? sqrt(sum) : 1;
}

/* Writes the position of each word (n x dim): the mean of the points that contain it, weighted
 * by mass. */
static void place_words(double *place, const ddsc_report *r, const vocabulary *v,
                        const word_counts *w, const finding *f, int n)
{
    int64_t dim = r->items.dim;
    for (int i = 0; i < n; i++) {
        double *x = place + i * dim, mass = 0;
        int64_t first = v->known[f[i].which].first, end = first + v->known[f[i].which].count;
        memset(x, 0, (size_t)dim * sizeof *x);
        for (int64_t k = first; k < end; k++) {
            const double *point = r->items.support + v->at[k] * dim;
            double own = w->point[v->at[k]], length = length_of(r, point);
            mass += own;
            for (int64_t d = 0; d < dim; d++)
                x[d] += own * point[d] / length;
        }
        for (int64_t d = 0; d < dim; d++)
            x[d] /= mass;
    }
}

static double place_distance(const double *x, const double *y, int64_t dim, bool city)
{
    double sum = 0;
    for (int64_t d = 0; d < dim; d++)
        sum += city ? fabs(x[d] - y[d]) : (x[d] - y[d]) * (x[d] - y[d]);
    return city ? sum : sqrt(sum);
}

/* Writes the words with the largest transport cost. Each is followed by the word that receives
 * most of its mass. */
static void put_flows(ddsc_report *r, int64_t c, const vocabulary *v, const word_sides *s,
                      const ddsc_transport *plan, const double *cost)
{
    finding best[N_FLOWS];
    double carried[N_MOVED] = {0}, most[N_MOVED] = {0};
    int to[N_MOVED] = {0}, n = 0;
    for (int64_t e = 0; e < plan->n_plan; e++) {
        int32_t i = plan->plan_row[e], j = plan->plan_column[e];
        carried[i] += plan->plan_mass[e] * cost[(int64_t)i * s->n_less + j];
        if (plan->plan_mass[e] > most[i]) {
            most[i] = plan->plan_mass[e];
            to[i] = j;
        }
    }
    for (int i = 0; i < s->n_more; i++)
        result_keep_finding(best, &n, N_FLOWS, (finding){i, carried[i], 0, 0});
    json_t *list = put_array(r, result_cluster_row(r, c), "moves");
    for (int i = 0; i < n && plan->primal > 0; i++) {
        const finding *from = &s->more[best[i].which];
        json_t *row = put_row(r, list);
        put_word(r, row, "word", &v->known[from->which]);
        put_word(r, row, "to", &v->known[s->less[to[best[i].which]].which]);
        put_real(r, row, "mass", from->value);
        put_real(r, row, "share", best[i].value / plan->primal);
    }
}

/* Computes an optimal transport plan from the surplus to the deficit of a cluster. Mass common
 * to the two does not move, which is optimal under any metric cost. Distances match the costs of
 * the run: Euclidean, Euclidean between normalized points (cosine), or city block. */
static ddsc_status put_moves(ddsc_report *r, int64_t c, const vocabulary *v, const word_counts *w,
                             const word_sides *s)
{
    ddsc_status status = DDSC_OK;
    double a[N_MOVED], b[N_MOVED], mass[2 * N_MOVED], *cost = NULL, *x = NULL, *y = NULL;
    bool city = r->plan.metric.cost == DDSC_COST_CITYBLOCK;
    int64_t dim = r->items.dim;
    int32_t row[2 * N_MOVED], column[2 * N_MOVED];
    ddsc_transport_problem problem;
    ddsc_transport plan;
    /* With a cost matrix, the coordinate of a point is its row index, not a position. */
    if (s->n_more == 0 || s->n_less == 0 || r->plan.metric.cost == DDSC_COST_MATRIX)
        return DDSC_OK;
    TRY(MEM_NEW(r->ctx, cost, s->n_more * s->n_less));
    TRY(MEM_NEW(r->ctx, x, s->n_more * dim));
    TRY(MEM_NEW(r->ctx, y, s->n_less * dim));
    place_words(x, r, v, w, s->more, s->n_more);
    place_words(y, r, v, w, s->less, s->n_less);
    for (int i = 0; i < s->n_more; i++) {
        a[i] = s->more[i].value / sum_values(s->more, s->n_more);
        for (int j = 0; j < s->n_less; j++)
            cost[i * s->n_less + j] = place_distance(x + i * dim, y + j * dim, dim, city);
    }
    for (int j = 0; j < s->n_less; j++)
        b[j] = s->less[j].value / sum_values(s->less, s->n_less);
    ddsc_transport_problem_init(&problem);
    problem.n = s->n_more;
    problem.m = s->n_less;
    problem.a = a;
    problem.b = b;
    problem.cost = cost;
    ddsc_transport_init(&plan);
    plan.plan_row = row;
    plan.plan_column = column;
    plan.plan_mass = mass;
    TRY(ddsc_emd_run(r->ctx, &plan, &problem));
    put_flows(r, c, v, s, &plan, cost);
done:
    MEM_FREE(r->ctx, y, x, cost);
    return status;
}

static ddsc_status put_words(ddsc_report *r, int64_t c, const vocabulary *v, const word_counts *w)
{
    word_sides s;
    compare_words(&s, r, c, v, w);
    json_t *list = put_array(r, result_cluster_row(r, c), "words");
    for (int i = 0; i < s.n_best; i++) {
        const finding *f = &s.best[i];
        json_t *found = put_row(r, list);
        put_word(r, found, "word", &v->known[f->which]);
        put_real(r, found, "share", f->here);
        put_real(r, found, "elsewhere", f->elsewhere);
        put_count(r, found, "items", w->items[c * v->n_words + f->which]);
    }
    if (c >= MOVED_CLUSTERS) {
        put_bool(r, result_cluster_row(r, c), "moves_left_out", true); /* too many clusters */
        return DDSC_OK;
    }
    return put_moves(r, c, v, w, &s);
}

ddsc_status result_explain_words(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    vocabulary v = {0};
    word_counts w = {0};
    TRY(find_words(r, &v));
    if (r->k * v.n_words > EXPLAINED_CELLS)
        goto done;
    TRY(MEM_ZERO(r->ctx, w.mass, r->k * v.n_words));
    TRY(MEM_ZERO(r->ctx, w.items, r->k * v.n_words));
    TRY(MEM_ZERO(r->ctx, w.all, v.n_words));
    TRY(MEM_ZERO(r->ctx, w.seen, v.n_words));
    TRY(MEM_ZERO(r->ctx, w.point, r->items.n_support));
    count_words(r, &v, &w);
    for (int64_t c = 0; c < r->k; c++)
        TRY(put_words(r, c, &v, &w));
done:
    MEM_FREE(r->ctx, v.part, v.first, v.known, v.at, w.mass, w.items, w.all, w.seen, w.point);
    return status;
}
