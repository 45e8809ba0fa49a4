/* The word counts of documents. A set stores word counts in addition to its points, which may be
 * merged. */
#include <string.h>

#include "base/text.h"
#include "data/measures.h"

ddsc_status measures_counts_copy(ddsc_context *ctx, measures_counts *to,
                                 const measures_counts *from)
{
    ddsc_status status = DDSC_OK;
    measures_counts fresh = {.n_words = from->n_words, .n_rows = from->n_rows};
    if (from->n_words == 0)
        return DDSC_OK;
    TRY(texts_copy(ctx, &fresh.words, &from->words));
    TRY(MEM_COPY(ctx, fresh.offset, from->offset, from->n_rows + 1));
    TRY(MEM_COPY(ctx, fresh.word, from->word, from->offset[from->n_rows]));
    TRY(MEM_COPY(ctx, fresh.count, from->count, from->offset[from->n_rows]));
    *to = fresh;
    fresh = (measures_counts){0};
done:
    measures_counts_free(ctx, &fresh);
    return status;
}

/* Copies the entries of a row to the position `at`. */
static void copy_row(measures_counts *to, int64_t at, const measures_counts *from, int64_t row)
{
    size_t n = (size_t)(from->offset[row + 1] - from->offset[row]);
    memcpy(to->word + at, from->word + from->offset[row], n * sizeof *to->word);
    memcpy(to->count + at, from->count + from->offset[row], n * sizeof *to->count);
}

ddsc_status measures_counts_pick(ddsc_context *ctx, measures_counts *to,
                                 const measures_counts *from, int64_t n, const int64_t *items,
                                 const int64_t *row)
{
    ddsc_status status = DDSC_OK;
    measures_counts fresh = {.n_words = from->n_words, .n_rows = n};
    if (from->n_words == 0)
        return DDSC_OK;
    TRY(texts_copy(ctx, &fresh.words, &from->words));
    TRY(MEM_NEW(ctx, fresh.offset, n + 1));
    fresh.offset[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = row[items ? items[i] : i];
        fresh.offset[i + 1] = fresh.offset[i] + from->offset[r + 1] - from->offset[r];
    }
    TRY(MEM_NEW(ctx, fresh.word, fresh.offset[n]));
    TRY(MEM_NEW(ctx, fresh.count, fresh.offset[n]));
    for (int64_t i = 0; i < n; i++)
        copy_row(&fresh, fresh.offset[i], from, row[items ? items[i] : i]);
    *to = fresh;
    fresh = (measures_counts){0};
done:
    measures_counts_free(ctx, &fresh);
    return status;
}

/* Adds the counted words of a set to the table. (*code)[w] receives the number of word w in the
 * table. */
static ddsc_status number_words(ddsc_context *ctx, text_table *table, int32_t **code,
                                const measures_counts *c)
{
    CHECK(MEM_NEW(ctx, *code, c->n_words));
    for (int64_t w = 0; w < c->n_words; w++) {
        const char *text = texts_get(&c->words, w);
        int64_t number;
        bool is_new;
        CHECK(text_table_add(ctx, table, text, strlen(text), &number, &is_new));
        (*code)[w] = (int32_t)number;
    }
    return DDSC_OK;
}

/* Sorts the entries of each row, starting with row `first`, by word. */
static ddsc_status sort_counts(ddsc_context *ctx, measures_counts *c, int64_t first)
{
    ddsc_status status = DDSC_OK;
    int64_t *key = NULL, longest = 0;
    for (int64_t i = first; i < c->n_rows; i++)
        longest = BASE_MAX(longest, c->offset[i + 1] - c->offset[i]);
    TRY(MEM_NEW(ctx, key, longest));
    for (int64_t i = first; i < c->n_rows; i++) {
        int64_t at = c->offset[i], n = c->offset[i + 1] - at;
        for (int64_t e = 0; e < n; e++)
            key[e] = (int64_t)c->word[at + e] << 32 | c->count[at + e];
        sort_i64(key, n);
        for (int64_t e = 0; e < n; e++) {
            c->word[at + e] = (int32_t)(key[e] >> 32);
            c->count[at + e] = (int32_t)(key[e] & INT32_MAX);
        }
    }
done:
    mem_free(ctx, key);
    return status;
}

ddsc_status measures_counts_sort(ddsc_context *ctx, measures_counts *c)
{
    return sort_counts(ctx, c, 0);
}

ddsc_status measures_counts_append(ddsc_context *ctx, measures_counts *a, const measures_counts *b)
{
    ddsc_status status = DDSC_OK;
    text_table table = {0};
    int32_t *code_a = NULL, *code_b = NULL;
    measures_counts both = {.n_rows = a->n_rows + b->n_rows};
    if (a->words.n == 0 || b->words.n == 0) {
        measures_counts_free(ctx, a);
        return DDSC_OK;
    }
    TRY(number_words(ctx, &table, &code_a, a));
    TRY(number_words(ctx, &table, &code_b, b));
    int64_t before = a->offset[a->n_rows], more = b->offset[b->n_rows];
    TRY(MEM_NEW(ctx, both.offset, both.n_rows + 1));
    TRY(MEM_NEW(ctx, both.word, before + more));
    TRY(MEM_NEW(ctx, both.count, before + more));
    memcpy(both.offset, a->offset, (size_t)(a->n_rows + 1) * sizeof *both.offset);
    memcpy(both.word, a->word, (size_t)before * sizeof *both.word);
    memcpy(both.count, a->count, (size_t)before * sizeof *both.count);
    for (int64_t i = 0; i < b->n_rows; i++) {
        both.offset[a->n_rows + i + 1] = before + b->offset[i + 1];
        copy_row(&both, before + b->offset[i], b, i);
    }
    for (int64_t e = before; e < before + more; e++)
        both.word[e] = code_b[both.word[e]];
    TRY(sort_counts(ctx, &both, a->n_rows));
    both.n_words = both.words.n = table.n;
    both.words.text = table.text;
    both.words.at = table.at;
    table.text = NULL;
    table.at = NULL;
    measures_counts_free(ctx, a);
    *a = both;
    both = (measures_counts){0};
done:
    measures_counts_free(ctx, &both);
    text_table_free(ctx, &table);
    MEM_FREE(ctx, code_a, code_b);
    return status;
}

void measures_counts_free(ddsc_context *ctx, measures_counts *c)
{
    texts_free(ctx, &c->words);
    MEM_FREE(ctx, c->offset, c->word, c->count);
    *c = (measures_counts){0};
}
