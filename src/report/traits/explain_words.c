/* Explains each cluster by words, the names of the support points. A point with the name "a + b"
 * was merged from several words, which share its mass equally. The phrases stored with documents
 * are counted like words: an item contains a phrase if it contains both of its words, and its mass
 * is their mean. choose_words.c chooses among them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/traits/explain.h"

enum {
    N_WORDS = 10,
    N_DIFFERENCES = 5,
    EXPLAINED_CELLS = 50000000 /* limit on clusters x words */
};

/* The English list is used if at least this share of the words of the items is in the list, or if
 * at least the smaller share is and many of the listed words occur. The share is .2 to .3 in
 * English documents, .04 in titles (with 46 of the listed words), and .002 in documents without
 * stop words. In other languages, 10 to 20 words have the same spelling ("in", "was"), with a share
 * of up to .06 (Dutch). */
static const double ENGLISH = 0.12, ENGLISH_OF_MANY = 0.02;
enum { MANY_LISTED = 40 };

typedef struct word {
    const char *text;
    size_t length;
    int64_t point, number;
} word;

typedef struct vocabulary {
    int64_t n_parts;
    word *part;     /* all words of all points; sorted by text, then by point */
    int64_t *first; /* n_support + 1: first part of each point */
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

/* Splits a name at " + ". Stores the parts in `part` unless it is NULL. Returns the number of
 * words. */
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

static ddsc_status split_names(const ddsc_report *r, vocabulary *v)
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
    return DDSC_OK;
}

/* Numbers the distinct words in alphabetical order. */
static ddsc_status find_words(const ddsc_report *r, vocabulary *v, word_counts *w)
{
    CHECK(split_names(r, v));
    qsort(v->part, (size_t)v->n_parts, sizeof *v->part, by_text);
    int64_t n_phrases = 0;
    while (ddsc_measures_get_phrase(r->measures, n_phrases))
        n_phrases++;
    CHECK(MEM_NEW(r->ctx, w->word, v->n_parts + n_phrases));
    for (int64_t k = 0; k < v->n_parts; k++) {
        if (k == 0 || by_text(&v->part[k - 1], &v->part[k]) != 0)
            w->word[w->n_words++] = (result_word){v->part[k].text, v->part[k].length};
        v->part[k].number = w->n_words - 1;
    }
    qsort(v->part, (size_t)v->n_parts, sizeof *v->part, by_point);
    w->n = w->n_words;
    return DDSC_OK;
}

/* Returns the index of a word, or -1 if it is not in the list. */
static int64_t find_word(const word_counts *w, const char *text, size_t length)
{
    int64_t low = 0, high = w->n_words;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        word key = {.text = text, .length = length};
        word found = {.text = w->word[mid].text, .length = w->word[mid].length};
        int order = by_text(&key, &found);
        if (order == 0)
            return mid;
        *(order < 0 ? &high : &low) = order < 0 ? mid : mid + 1;
    }
    return -1;
}

static int by_first_word(const void *a, const void *b)
{
    const result_phrase *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

/* Appends each phrase whose two words both occur to the list of words. */
static ddsc_status find_phrases(const ddsc_report *r, word_counts *w)
{
    const char *text;
    int64_t n = 0;
    while (ddsc_measures_get_phrase(r->measures, n))
        n++;
    CHECK(MEM_NEW(r->ctx, w->phrase, n));
    for (int64_t k = 0; (text = ddsc_measures_get_phrase(r->measures, k)); k++) {
        const char *blank = strchr(text, ' ');
        if (!blank)
            continue;
        int64_t a = find_word(w, text, (size_t)(blank - text));
        int64_t b = find_word(w, blank + 1, strlen(blank + 1));
        if (a >= 0 && b >= 0)
            w->phrase[w->n_phrases++] = (result_phrase){a, b, text};
    }
    qsort(w->phrase, (size_t)w->n_phrases, sizeof *w->phrase, by_first_word);
    for (int64_t k = 0; k < w->n_phrases; k++)
        w->word[w->n++] = (result_word){w->phrase[k].text, strlen(w->phrase[k].text)};
    CHECK(MEM_ZERO(r->ctx, w->first, w->n_words + 1));
    for (int64_t k = 0; k < w->n_phrases; k++)
        w->first[w->phrase[k].a + 1]++;
    for (int64_t k = 0; k < w->n_words; k++)
        w->first[k + 1] += w->first[k];
    return DDSC_OK;
}

/* ---- counts ---- */

static void add_mass(word_counts *w, int64_t cluster, int64_t number, double mass)
{
    w->mass[cluster * w->n + number] += mass;
    w->all[number] += mass;
}

/* Adds the words of one item. The mass of each word of the item is collected in w->own. */
static void count_item(const ddsc_report *r, const vocabulary *v, word_counts *w, int64_t i)
{
    const ddsc_measures_view *m = &r->items;
    int64_t cluster = r->view.labels[i];
    for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
        int64_t begin = v->first[m->index[e]], end = v->first[m->index[e] + 1];
        for (int64_t k = begin; k < end; k++) {
            int64_t number = v->part[k].number;
            double mass = m->weight[e] / (double)(end - begin);
            add_mass(w, cluster, number, mass);
            w->items[cluster * w->n + number] += w->seen[number] != i + 1;
            w->own[number] = (w->seen[number] == i + 1 ? w->own[number] : 0) + mass;
            w->seen[number] = i + 1;
        }
    }
}

static void count_item_phrases(const ddsc_report *r, const vocabulary *v, word_counts *w, int64_t i)
{
    const ddsc_measures_view *m = &r->items;
    int64_t cluster = r->view.labels[i];
    for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
        for (int64_t k = v->first[m->index[e]]; k < v->first[m->index[e] + 1]; k++) {
            int64_t a = v->part[k].number;
            for (int64_t f = w->first[a]; f < w->first[a + 1]; f++) {
                int64_t b = w->phrase[f].b, number = w->n_words + f;
                if (w->seen[b] != i + 1 || w->seen[number] == i + 1)
                    continue;
                add_mass(w, cluster, number, (w->own[a] + w->own[b]) / 2);
                w->items[cluster * w->n + number]++;
                w->seen[number] = i + 1;
            }
        }
}

static ddsc_status count_words(const ddsc_report *r, const vocabulary *v, word_counts *w)
{
    CHECK(MEM_ZERO(r->ctx, w->mass, r->k * w->n));
    CHECK(MEM_ZERO(r->ctx, w->items, r->k * w->n));
    CHECK(MEM_ZERO(r->ctx, w->all, w->n));
    CHECK(MEM_ZERO(r->ctx, w->seen, w->n));
    CHECK(MEM_NEW(r->ctx, w->own, w->n_words));
    for (int64_t i = 0; i < r->items.n_items; i++)
        if (!result_left_out(r, i)) {
            w->n_items++;
            count_item(r, v, w, i);
            count_item_phrases(r, v, w, i);
        }
    return DDSC_OK;
}

/* Marks the words that are excluded from the descriptions of clusters. */
static ddsc_status mark_function_words(const ddsc_report *r, word_counts *w)
{
    int64_t n_listed = 0, n_all = 0, n_distinct = 0;
    CHECK(MEM_ZERO(r->ctx, w->skipped, w->n));
    for (int64_t k = 0; k < w->n_words; k++) {
        bool listed = traits_is_function_word(w->word[k].text, w->word[k].length);
        n_distinct += listed;
        for (int64_t c = 0; c < r->k; c++) {
            n_all += w->items[c * w->n + k];
            n_listed += listed ? w->items[c * w->n + k] : 0;
        }
    }
    double share = (double)n_listed / (double)BASE_MAX(n_all, 1);
    bool english = share >= ENGLISH || (share >= ENGLISH_OF_MANY && n_distinct >= MANY_LISTED);
    for (int64_t k = 0; k < w->n_words; k++)
        w->skipped[k] = w->word[k].length == 0 ||
                        (english && traits_is_function_word(w->word[k].text, w->word[k].length));
    for (int64_t f = 0; f < w->n_phrases; f++)
        w->skipped[w->n_words + f] = w->skipped[w->phrase[f].a] || w->skipped[w->phrase[f].b];
    return DDSC_OK;
}

/* ---- output ---- */

static json_t *word_text(const result_word *known)
{
    char text[200];
    size_t length = text_cut(known->text, known->length, sizeof text - 1);
    memcpy(text, known->text, length);
    text[length] = 0;
    return result_string(text);
}

/* Returns the nearest other cluster of most items of cluster c, or -1. */
static int64_t nearest_cluster(const ddsc_report *r, int64_t c, int64_t *count)
{
    int64_t best = -1;
    for (int64_t k = 0; k < r->k; k++)
        count[k] = 0;
    for (int64_t i = 0; r->next && i < r->view.n; i++)
        if (r->view.labels[i] == c && !result_left_out(r, i) && r->next[i] >= 0)
            count[r->next[i]]++;
    for (int64_t k = 0; k < r->k; k++)
        if (count[k] > 0 && (best < 0 || count[k] > count[best]))
            best = k;
    return best;
}

static void put_difference(ddsc_report *r, json_t *object, const char *key, const word_counts *w,
                           int64_t c, int64_t other)
{
    finding best[N_DIFFERENCES];
    int n = traits_choose_words(best, N_DIFFERENCES, w, (word_contrast){c, other, true});
    json_t *list = put_array(r, object, key);
    for (int i = 0; i < n; i++)
        put_last(r, list, word_text(&w->word[best[i].which]));
}

static void put_words(ddsc_report *r, int64_t c, const word_counts *w, int64_t near)
{
    finding best[N_WORDS];
    json_t *cluster = result_cluster_row(r, c);
    int n = traits_choose_words(best, N_WORDS, w, (word_contrast){c, near, false});
    json_t *list = put_array(r, cluster, "words");
    for (int i = 0; i < n; i++) {
        json_t *found = put_row(r, list);
        put_value(r, found, "word", word_text(&w->word[best[i].which]));
        put_real(r, found, "share", best[i].here);
        put_real(r, found, "elsewhere", best[i].elsewhere);
        put_count(r, found, "items", w->items[c * w->n + best[i].which]);
    }
    if (near < 0)
        return;
    json_t *difference = put_object(r, cluster, "nearest");
    put_count(r, difference, "label", near);
    put_difference(r, difference, "more", w, c, near);
    put_difference(r, difference, "less", w, near, c);
}

ddsc_status traits_explain_words(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    vocabulary v = {0};
    word_counts w = {.size = r->size};
    int64_t *count = NULL;
    TRY(find_words(r, &v, &w));
    TRY(find_phrases(r, &w));
    if (r->k * w.n > EXPLAINED_CELLS)
        goto done;
    TRY(MEM_NEW(r->ctx, count, r->k));
    TRY(count_words(r, &v, &w));
    TRY(mark_function_words(r, &w));
    for (int64_t c = 0; c < r->k; c++)
        put_words(r, c, &w, nearest_cluster(r, c, count));
done:
    MEM_FREE(r->ctx, v.part, v.first, w.word, w.phrase, w.first, w.mass, w.items, w.all, w.seen,
             w.own, w.skipped, count);
    return status;
}
