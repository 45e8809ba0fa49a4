/* Stores the vocabulary of a set, and encodes documents with the stored vocabulary of another
 * set. */
#include <string.h>

#include "io/format/archive.h"
#include "text/text.h"

/* ---- storing ---- */

static ddsc_status keep_texts(ddsc_context *ctx, measures_words *out, const corpus *c,
                              const word_vectors *v)
{
    int64_t bytes = 0;
    for (int64_t w = 0; w < c->words.n; w++)
        if (v->row[w] >= 0)
            bytes += c->words.at[w + 1] - c->words.at[w];
    CHECK(MEM_NEW(ctx, out->text, bytes));
    CHECK(MEM_NEW(ctx, out->at, v->n + 1));
    out->at[0] = 0;
    for (int64_t w = 0; w < c->words.n; w++) {
        int64_t s = v->row[w], n = c->words.at[w + 1] - c->words.at[w];
        if (s < 0)
            continue;
        memcpy(out->text + out->at[s], text_table_get(&c->words, w), (size_t)n);
        out->at[s + 1] = out->at[s] + n;
    }
    return DDSC_OK;
}

ddsc_status words_keep(ddsc_context *ctx, measures_words *out, const corpus *c,
                       const word_vectors *v, const ddsc_text_settings *set)
{
    *out = (measures_words){.n = v->n,
                            .d = v->dim,
                            .n_documents = c->n,
                            .tokens = set->tokens,
                            .weighting = set->weighting,
                            .idf = set->idf,
                            .lemmas = set->lemmas_path != NULL};
    CHECK(keep_texts(ctx, out, c, v));
    CHECK(MEM_NEW(ctx, out->df, v->n));
    CHECK(MEM_NEW(ctx, out->vector, v->n * v->dim));
    for (int64_t w = 0; w < c->words.n; w++)
        if (v->row[w] >= 0)
            out->df[v->row[w]] = c->df[w];
    CHECK(MEM_COPY(ctx, out->mass, v->mass, v->n));
    for (int64_t k = 0; k < v->n * v->dim; k++)
        out->vector[k] = (float)v->point[k];
    return phrases_find(ctx, &out->phrases, c, v);
}

/* Chooses the words to be counted, and numbers them in order of first occurrence. code[w] receives
 * the number of word w, or -1. */
static ddsc_status choose_counted(ddsc_context *ctx, measures_texts *words, int32_t *code,
                                  const corpus *c, int64_t df_least)
{
    ddsc_status status = DDSC_OK;
    int32_t *df = NULL;
    const char **text = NULL;
    int64_t n = 0;
    TRY(MEM_ZERO(ctx, df, c->words.n));
    TRY(MEM_NEW(ctx, text, c->words.n));
    for (int64_t e = 0; e < c->n_entries; e++)
        df[c->word[e]]++; /* c->df may come from a stored vocabulary */
    for (int64_t w = 0; w < c->words.n; w++) {
        code[w] = -1;
        if (df[w] < df_least || !words_fits(c, w))
            continue;
        text[n] = text_table_get(&c->words, w);
        code[w] = (int32_t)n++;
    }
    if (n > 0)
        TRY(texts_pack(ctx, words, n, text));
done:
    MEM_FREE(ctx, text, df);
    return status;
}

ddsc_status words_count(ddsc_context *ctx, measures_counts *out, const corpus *c, int64_t df_least)
{
    ddsc_status status = DDSC_OK;
    int32_t *code = NULL;
    TRY(MEM_NEW(ctx, code, c->words.n));
    TRY(choose_counted(ctx, &out->words, code, c, df_least));
    if (out->words.n == 0)
        goto done;
    out->n_words = out->words.n;
    out->n_rows = c->n;
    int64_t n_entries = 0;
    for (int64_t e = 0; e < c->n_entries; e++)
        n_entries += code[c->word[e]] >= 0;
    TRY(MEM_NEW(ctx, out->offset, c->n + 1));
    TRY(MEM_NEW(ctx, out->word, n_entries));
    TRY(MEM_NEW(ctx, out->count, n_entries));
    out->offset[0] = n_entries = 0;
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
            if (code[c->word[e]] < 0)
                continue;
            out->word[n_entries] = code[c->word[e]];
            out->count[n_entries++] = c->count[e];
        }
        out->offset[i + 1] = n_entries;
    }
    TRY(measures_counts_sort(ctx, out));
done:
    mem_free(ctx, code);
    return status;
}

/* ---- using a stored vocabulary ---- */

ddsc_status words_read_given(ddsc_context *ctx, measures_words *out, io_stream *s,
                             ddsc_text_settings *set)
{
    CHECK(npz_read_words(ctx, out, s));
    if (out->n == 0)
        return stream_fail(s, "contains no words; they are stored in the npz file of `ddsc text` "
                              "(except with --words general) and in DIR/model.npz of "
                              "`ddsc cluster -o DIR`");
    if ((set->lemmas_path != NULL) != (out->lemmas == 1))
        return stream_fail(s,
                           "was created %s lemmas; further documents require the same (--lemmas)",
                           out->lemmas ? "with" : "without");
    set->tokens = (ddsc_tokens)out->tokens;
    set->weighting = (ddsc_weighting)out->weighting;
    set->idf = (ddsc_idf)out->idf;
    return DDSC_OK;
}

ddsc_status words_take_given(ddsc_context *ctx, word_vectors *v, corpus *c,
                             const measures_words *given)
{
    v->dim = given->d;
    v->n_lines = given->n;
    CHECK(MEM_NEW(ctx, v->row, c->words.n));
    for (int64_t w = 0; w < c->words.n; w++)
        v->row[w] = -1;
    for (int64_t g = 0; g < given->n; g++) {
        const char *text = given->text + given->at[g];
        int64_t w = text_table_find(&c->words, text, strlen(text));
        if (w < 0)
            continue;
        CHECK(mem_reserve(ctx, &v->point, &v->capacity, (v->n + 1) * v->dim, sizeof *v->point));
        for (int64_t k = 0; k < v->dim; k++)
            v->point[v->n * v->dim + k] = given->vector[g * given->d + k];
        if (given->mass) {
            CHECK(MEM_RESERVE(ctx, v->mass, &v->mass_capacity, v->n + 1));
            v->mass[v->n] = given->mass[g];
        }
        v->row[w] = (int32_t)v->n++;
        c->df[w] = given->df[g];
    }
    return DDSC_OK;
}
