/* Counts words in documents, and converts counts to weights. */
#include "text/text.h"

#include <math.h>

/* ---- counting ---- */

ddsc_status corpus_begin(ddsc_context *ctx, corpus *c)
{
    CHECK(MEM_RESERVE(ctx, c->offset, &c->offset_capacity, c->n + 2));
    c->offset[c->n++] = c->n_entries;
    c->offset[c->n] = c->n_entries;
    c->before = -1;
    return DDSC_OK;
}

static ddsc_status add_word(ddsc_context *ctx, corpus *c, const char *word, size_t n,
                            int64_t *number)
{
    bool is_new;
    CHECK(MEM_RESERVE(ctx, c->df, &c->df_capacity, c->words.n + 1));
    CHECK(MEM_RESERVE(ctx, c->latest, &c->latest_capacity, c->words.n + 1));
    CHECK(text_table_add(ctx, &c->words, word, n, number, &is_new));
    if (*number > INT32_MAX)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "there are more than %d distinct words", INT32_MAX);
    if (is_new)
        c->df[*number] = c->latest[*number] = 0;
    return DDSC_OK;
}

static ddsc_status weighting_add_entry(ddsc_context *ctx, corpus *c, int64_t word)
{
    CHECK(MEM_RESERVE(ctx, c->word, &c->word_capacity, c->n_entries + 1));
    CHECK(MEM_RESERVE(ctx, c->count, &c->count_capacity, c->n_entries + 1));
    c->word[c->n_entries] = (int32_t)word;
    c->count[c->n_entries++] = 0;
    c->latest[word] = c->offset[c->n] = c->n_entries;
    c->df[word]++;
    return DDSC_OK;
}

ddsc_status corpus_add(ddsc_context *ctx, corpus *c, const char *word, size_t n)
{
    int64_t number;
    CHECK(add_word(ctx, c, word, n, &number));
    if (c->latest[number] <= c->offset[c->n - 1]) /* not yet in this document */
        CHECK(weighting_add_entry(ctx, c, number));
    c->count[c->latest[number] - 1]++; /* a line has less than 2^28 bytes, so the count fits */
    c->n_tokens++;
    if (c->before >= 0)
        CHECK(phrases_count_pair(ctx, &c->pairs, (int32_t)c->before, (int32_t)number, c->n - 1));
    c->before = number;
    return DDSC_OK;
}

void corpus_break(corpus *c)
{
    c->before = -1;
}

void corpus_free(ddsc_context *ctx, corpus *c)
{
    text_table_free(ctx, &c->words);
    phrases_free_pairs(ctx, &c->pairs);
    MEM_FREE(ctx, c->df, c->latest, c->offset, c->word, c->count);
    *c = (corpus){0};
}

/* ---- weights ---- */

double weights_idf(ddsc_idf rule, int64_t n_documents, int64_t df)
{
    double n = (double)n_documents;
    if (rule == DDSC_IDF_SMOOTH)
        return log((1 + n) / (1 + (double)df)) + 1;
    return log2(n / (double)df);
}

/* Returns the weight of one occurrence of a word. */
static double occurrence(const ddsc_text_settings *set, const corpus *c, const word_vectors *v,
                         int64_t n_documents, int32_t word)
{
    if (set->weighting == DDSC_WEIGHTING_TF)
        return 1;
    return v->mass ? v->mass[v->row[word]] : weights_idf(set->idf, n_documents, c->df[word]);
}

ddsc_status weights_make(ddsc_context *ctx, measures_parts *p, corpus *c, word_vectors *v,
                         int64_t n_documents, const ddsc_text_settings *set)
{
    int64_t kept = 0, begin = 0;
    CHECK(MEM_NEW(ctx, p->weight, c->n_entries));
    for (int64_t i = 0; i < c->n; i++) {
        int64_t end = c->offset[i + 1];
        for (int64_t e = begin; e < end; e++) {
            int32_t word = c->word[e];
            if (v->row[word] < 0)
                continue;
            p->weight[kept] = c->count[e] * occurrence(set, c, v, n_documents, word);
            c->word[kept++] = v->row[word];
        }
        begin = end;
        c->offset[i + 1] = kept;
    }
    p->n = c->n;
    p->nnz = kept;
    p->v = v->n;
    p->d = v->dim;
    p->offset = c->offset;
    p->index = c->word;
    p->support = v->point;
    c->offset = NULL;
    c->word = NULL;
    v->point = NULL;
    return DDSC_OK;
}
