/* Converts plurals to singulars with the morphology rules of WordNet (Miller et al., morph(7WN)).
 * The list of exceptions is searched first. Then endings are replaced in a fixed order until the
 * result is a noun. */
#include "text/text.h"

#include <string.h>

enum { LONGEST_NOUN = 255 };

static size_t field_length(const char *text)
{
    return strcspn(text, " \t");
}

/* Adds a noun from a line "lemma pos ...". Lines that start with a space contain the license. */
static ddsc_status take_noun(ddsc_context *ctx, lemma_table *l, const char *line)
{
    int64_t number;
    bool is_new;
    size_t n = field_length(line);
    return n == 0 ? DDSC_OK : text_table_add(ctx, &l->nouns, line, n, &number, &is_new);
}

/* Adds an exception from a line "form base [base...]". Only the first base and the first line of a
 * form are used. */
static ddsc_status take_exception(ddsc_context *ctx, lemma_table *l, const char *line)
{
    int64_t form, base;
    bool is_new;
    size_t n = field_length(line);
    const char *second = line + n + strspn(line + n, " \t");
    if (n == 0 || *second == '\0')
        return DDSC_OK;
    CHECK(MEM_RESERVE(ctx, l->base, &l->capacity, l->forms.n + 1));
    CHECK(text_table_add(ctx, &l->bases, second, field_length(second), &base, &is_new));
    CHECK(text_table_add(ctx, &l->forms, line, n, &form, &is_new));
    if (is_new)
        l->base[form] = base;
    return DDSC_OK;
}

typedef ddsc_status (*line_fn)(ddsc_context *ctx, lemma_table *l, const char *line);

static ddsc_status lemmas_file(ddsc_context *ctx, lemma_table *l, const char *folder,
                               const char *name, int64_t max_bytes, line_fn take)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    char *path = NULL, *line;
    size_t n = strlen(folder);
    TRY(mem_get(ctx, &path, (int64_t)(n + strlen(name)) + 2, 1));
    memcpy(path, folder, n);
    path[n] = '/';
    strcpy(path + n + 1, name);
    TRY(stream_open(ctx, &s, path, max_bytes));
    for (;;) {
        TRY(stream_line(s, &line, &n));
        if (!line)
            break;
        TRY(take(ctx, l, line));
    }
done:
    stream_close(s);
    mem_free(ctx, path);
    return status;
}

ddsc_status lemmas_read(ddsc_context *ctx, lemma_table *l, const char *folder, int64_t max_bytes)
{
    ddsc_status status = DDSC_OK;
    TRY(lemmas_file(ctx, l, folder, "noun.exc", max_bytes, take_exception));
    TRY(lemmas_file(ctx, l, folder, "index.noun", max_bytes, take_noun));
    if (l->nouns.n == 0)
        status = ctx_fail(ctx, DDSC_ERROR_INPUT, "%.240s/index.noun: contains no nouns", folder);
done:
    return status;
}

void lemmas_free(ddsc_context *ctx, lemma_table *l)
{
    text_table_free(ctx, &l->nouns);
    text_table_free(ctx, &l->forms);
    text_table_free(ctx, &l->bases);
    mem_free(ctx, l->base);
    *l = (lemma_table){0};
}

static const char *entry(const text_table *t, int64_t number, size_t *n)
{
    *n = (size_t)(t->at[number + 1] - t->at[number] - 1);
    return text_table_get(t, number);
}

static bool lemmas_ends_in(const char *word, size_t n, const char *ending)
{
    size_t k = strlen(ending);
    return n > k && memcmp(word + n - k, ending, k) == 0;
}

/* Replaces the ending of a word and returns the index of the resulting noun, or -1. Words of one or
 * two letters and words ending in -ss remain unchanged. */
static int64_t detach(const lemma_table *l, const char *word, size_t n)
{
    static const char *const rule[][2] = {{"s", ""},      {"ses", "s"},   {"xes", "x"},
                                          {"zes", "z"},   {"ches", "ch"}, {"shes", "sh"},
                                          {"men", "man"}, {"ies", "y"}};
    char noun[LONGEST_NOUN + 1];
    if (n <= 2 || n > LONGEST_NOUN || lemmas_ends_in(word, n, "ss"))
        return -1;
    for (size_t k = 0; k < sizeof rule / sizeof *rule; k++) {
        if (!lemmas_ends_in(word, n, rule[k][0]))
            continue;
        size_t stem = n - strlen(rule[k][0]), tail = strlen(rule[k][1]);
        memcpy(noun, word, stem);
        memcpy(noun + stem, rule[k][1], tail);
        int64_t found = text_table_find(&l->nouns, noun, stem + tail);
        if (found >= 0)
            return found;
    }
    return -1;
}

const char *lemmas_find(const lemma_table *l, const char *word, size_t n, size_t *n_out)
{
    int64_t form = text_table_find(&l->forms, word, n);
    if (form >= 0)
        return entry(&l->bases, l->base[form], n_out);
    int64_t noun = detach(l, word, n);
    if (noun >= 0)
        return entry(&l->nouns, noun, n_out);
    *n_out = n;
    return word;
}
