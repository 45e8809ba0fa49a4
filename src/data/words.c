/* The vocabulary stored with a set of documents. */
#include <string.h>

#include "data/measures.h"

ddsc_status measures_words_copy(ddsc_context *ctx, measures_words *to, const measures_words *from)
{
    ddsc_status status = DDSC_OK;
    measures_words fresh = *from;
    fresh.text = NULL;
    fresh.at = fresh.df = NULL;
    fresh.vector = NULL;
    fresh.mass = NULL;
    fresh.phrases = (measures_texts){0};
    TRY(MEM_COPY(ctx, fresh.text, from->text, from->n ? from->at[from->n] : 0));
    TRY(MEM_COPY(ctx, fresh.at, from->at, from->n + 1));
    TRY(MEM_COPY(ctx, fresh.vector, from->vector, from->n * from->d));
    TRY(MEM_COPY(ctx, fresh.df, from->df, from->n));
    TRY(MEM_COPY(ctx, fresh.mass, from->mass, from->n));
    TRY(texts_copy(ctx, &fresh.phrases, &from->phrases));
    *to = fresh;
    fresh = (measures_words){0};
done:
    measures_words_free(ctx, &fresh);
    return status;
}

bool measures_words_equal(const measures_words *a, const measures_words *b)
{
    if (a->n != b->n || a->d != b->d || a->n_documents != b->n_documents ||
        a->tokens != b->tokens || a->weighting != b->weighting || a->idf != b->idf ||
        a->lemmas != b->lemmas)
        return false;
    if (a->n == 0)
        return true;
    if (!a->mass != !b->mass)
        return false;
    size_t n = (size_t)a->n;
    return memcmp(a->at, b->at, (n + 1) * sizeof *a->at) == 0 &&
           memcmp(a->text, b->text, (size_t)a->at[n]) == 0 &&
           memcmp(a->df, b->df, n * sizeof *a->df) == 0 &&
           (!a->mass || memcmp(a->mass, b->mass, n * sizeof *a->mass) == 0) &&
           memcmp(a->vector, b->vector, n * (size_t)a->d * sizeof *a->vector) == 0;
}

void measures_words_free(ddsc_context *ctx, measures_words *words)
{
    texts_free(ctx, &words->phrases);
    MEM_FREE(ctx, words->text, words->at, words->vector, words->df, words->mass);
    *words = (measures_words){0};
}
