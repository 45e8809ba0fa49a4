/* Finds two-word phrases such as "prime minister" for the explanation of clusters.
 *
 * For each pair of words, the documents in which they are adjacent are counted while the documents
 * are read. Lossy counting (Manku & Motwani 2002) limits the memory: when there are MOST_PAIRS
 * pairs, the rarest ones are removed. A pair is a phrase if - its normalized pointwise mutual
 * information log(p(ab) / (p(a) p(b))) / -log p(ab) (Bouma 2009) is at least LEAST_NPMI, where p is
 * the fraction of documents, and - the two words are adjacent in at least half of the documents
 * that contain both. Every document that contains both words can then be treated as containing the
 * phrase, so phrases need not be stored with the documents. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

enum {
    MOST_PAIRS = 1 << 19,
    LEAST_DOCUMENTS = 4, /* fewer documents are not enough evidence */
    MOST_PHRASES = 2000  /* limits the size of the file */
};

/* On BBC and AgNews, the value is at most 0.2 for pairs of function words ("of the", "more than"),
 * at most 0.35 for pairs such as "last week" or "told reporters", and 0.4 to 1 for names and
 * terms. */
static const double LEAST_NPMI = 0.4;

/* ---- counting ---- */

static uint64_t pair_key(int32_t a, int32_t b)
{
    return ((uint64_t)(uint32_t)a + 1) << 32 | (uint32_t)b;
}

/* Returns the slot of a pair, or the free slot where it would be inserted. */
static word_pair *pair_slot(const word_pairs *p, uint64_t key)
{
    uint64_t mask = (uint64_t)p->n_slots - 1;
    uint64_t at = hash_bytes(&key, sizeof key, 0) & mask;
    while (p->slot[at].key != 0 && p->slot[at].key != key)
        at = (at + 1) & mask;
    return &p->slot[at];
}

/* Moves the pairs with more than `least` documents to a table of n_slots slots. */
static ddsc_status pairs_rebuild(ddsc_context *ctx, word_pairs *p, int64_t n_slots, int32_t least)
{
    word_pairs fresh = {.n_slots = n_slots};
    CHECK(MEM_ZERO(ctx, fresh.slot, n_slots));
    for (int64_t k = 0; k < p->n_slots; k++)
        if (p->slot[k].key != 0 && p->slot[k].n > least) {
            *pair_slot(&fresh, p->slot[k].key) = p->slot[k];
            fresh.n++;
        }
    mem_free(ctx, p->slot);
    *p = fresh;
    return DDSC_OK;
}

/* Removes the rarest pairs until at most half of the table is used. */
static ddsc_status pairs_prune(ddsc_context *ctx, word_pairs *p)
{
    for (int32_t least = 1; 2 * p->n > MOST_PAIRS; least *= 2)
        CHECK(pairs_rebuild(ctx, p, p->n_slots, least));
    return DDSC_OK;
}

ddsc_status phrases_count_pair(ddsc_context *ctx, word_pairs *p, int32_t a, int32_t b,
                               int64_t document)
{
    if (2 * p->n >= p->n_slots && p->n < MOST_PAIRS)
        CHECK(pairs_rebuild(ctx, p, BASE_MAX(2 * p->n_slots, 1024), 0));
    if (p->n >= MOST_PAIRS)
        CHECK(pairs_prune(ctx, p));
    word_pair *pair = pair_slot(p, pair_key(a, b));
    p->n += pair->key == 0;
    pair->key = pair_key(a, b);
    pair->n += pair->latest != (uint32_t)(document + 1);
    pair->latest = (uint32_t)(document + 1);
    return DDSC_OK;
}

void phrases_free_pairs(ddsc_context *ctx, word_pairs *p)
{
    mem_free(ctx, p->slot);
    *p = (word_pairs){0};
}

/* ---- selection ---- */

typedef struct phrase {
    int32_t a, b, n;
    int64_t both; /* documents that contain both words */
} phrase;

typedef struct phrase_search {
    const corpus *c;
    phrase *list;     /* sorted by the first word, then by the second */
    int64_t *first;   /* words + 1: start of the phrases that begin with each word */
    int64_t *present; /* per word: last document that contains it, plus 1 */
    int64_t n;
} phrase_search;

static int by_words(const void *x, const void *y)
{
    const phrase *p = x, *q = y;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

static int by_frequency(const void *x, const void *y)
{
    const phrase *p = x, *q = y;
    return p->n != q->n ? (p->n < q->n) - (p->n > q->n) : by_words(x, y);
}

static double association(const corpus *c, const phrase *p)
{
    double n = (double)c->n, joint = p->n / n;
    double apart = (double)c->df[p->a] / n * ((double)c->df[p->b] / n);
    return joint < 1 ? log(joint / apart) / -log(joint) : 0;
}

/* Lists the pairs of different words that both have vectors and are strongly associated. */
static ddsc_status list_candidates(ddsc_context *ctx, phrase_search *s, const word_vectors *v)
{
    const word_pairs *pairs = &s->c->pairs;
    CHECK(MEM_NEW(ctx, s->list, BASE_MAX(pairs->n, 1)));
    for (int64_t k = 0; k < pairs->n_slots; k++) {
        uint64_t key = pairs->slot[k].key;
        phrase p = {(int32_t)((key >> 32) - 1), (int32_t)(uint32_t)key, pairs->slot[k].n, 0};
        if (key == 0 || p.n < LEAST_DOCUMENTS || p.a == p.b)
            continue;
        if (v->row[p.a] >= 0 && v->row[p.b] >= 0 && association(s->c, &p) >= LEAST_NPMI)
            s->list[s->n++] = p;
    }
    qsort(s->list, (size_t)s->n, sizeof *s->list, by_words);
    CHECK(MEM_ZERO(ctx, s->first, s->c->words.n + 1));
    for (int64_t k = 0; k < s->n; k++)
        s->first[s->list[k].a + 1]++;
    for (int64_t w = 0; w < s->c->words.n; w++)
        s->first[w + 1] += s->first[w];
    return MEM_ZERO(ctx, s->present, s->c->words.n);
}

/* Counts the documents that contain both words, in any order and at any distance. */
static void count_both(phrase_search *s)
{
    const corpus *c = s->c;
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++)
            s->present[c->word[e]] = i + 1;
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++)
            for (int64_t k = s->first[c->word[e]]; k < s->first[c->word[e] + 1]; k++)
                s->list[k].both += s->present[s->list[k].b] == i + 1;
    }
}

/* Packs the most frequent phrases as "first second". */
static ddsc_status pack_phrases(ddsc_context *ctx, measures_texts *out, const phrase_search *s)
{
    const text_table *words = &s->c->words;
    int64_t n = BASE_MIN(s->n, (int64_t)MOST_PHRASES), bytes = 0;
    for (int64_t k = 0; k < n; k++)
        bytes += (int64_t)strlen(text_table_get(words, s->list[k].a)) +
                 (int64_t)strlen(text_table_get(words, s->list[k].b)) + 2;
    CHECK(MEM_NEW(ctx, out->text, bytes));
    CHECK(MEM_NEW(ctx, out->at, n + 1));
    out->n = n;
    out->at[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        char *at = out->text + out->at[k];
        at = stpcpy(at, text_table_get(words, s->list[k].a));
        *at++ = ' ';
        at = stpcpy(at, text_table_get(words, s->list[k].b));
        out->at[k + 1] = at + 1 - out->text;
    }
    return DDSC_OK;
}

ddsc_status phrases_find(ddsc_context *ctx, measures_texts *out, const corpus *c,
                         const word_vectors *v)
{
    ddsc_status status = DDSC_OK;
    phrase_search s = {.c = c};
    int64_t kept = 0;
    TRY(list_candidates(ctx, &s, v));
    count_both(&s);
    for (int64_t k = 0; k < s.n; k++)
        if (2 * (int64_t)s.list[k].n >= s.list[k].both)
            s.list[kept++] = s.list[k];
    s.n = kept;
    qsort(s.list, (size_t)s.n, sizeof *s.list, by_frequency);
    if (s.n > 0)
        TRY(pack_phrases(ctx, out, &s));
done:
    MEM_FREE(ctx, s.list, s.first, s.present);
    return status;
}
