/* Converts files to measures: reads stop words and lemmas, documents and vectors, and computes
 * weights. */
#include "text/text.h"

#include <stdio.h>
#include <string.h>

static ddsc_status text_check_paths(ddsc_context *ctx, int64_t n_paths, const char *const *paths,
                                    const char *vectors_path, const ddsc_text_settings *set)
{
    int n_stdin = (vectors_path && strcmp(vectors_path, "-") == 0) +
                  (set->stopwords_path && strcmp(set->stopwords_path, "-") == 0);
    if (n_paths < 1 || !paths)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "no document paths were given");
    for (int64_t i = 0; i < n_paths; i++) {
        if (!paths[i])
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "a document path is NULL");
        n_stdin += strcmp(paths[i], "-") == 0;
    }
    if (!vectors_path && set->words == DDSC_WORDS_GENERAL)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "words = general requires a file of vectors");
    if (vectors_path && set->words == DDSC_WORDS_OWN)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "words = own learns the vectors from the documents and cannot be combined "
                        "with a file of vectors");
    if (n_stdin > 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "only one file can be read from standard input");
    return DDSC_OK;
}

/* ---- reading ---- */

typedef struct text_job {
    ddsc_context *ctx;
    ddsc_text_settings own; /* settings of the caller or of a stored vocabulary */
    const ddsc_text_settings *set;
    ddsc_text_report *report;
    int64_t n_paths;
    const char *const *paths;
    const char *documents_path,
        *vectors_path; /* documents_path: the first documents file, for messages */
    text_table stop;
    lemma_table lemmas;
    documents docs;
    word_vectors vectors;
    io_stream *vectors_stream; /* NULL if there is no file */
    bool matrix;               /* the file is an npy matrix */
    bool given;                /* the file contains words fitted to another set */
    measures_parts parts;
} text_job;

static ddsc_status read_documents(text_job *j)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    file_list files = {0};
    const lemma_table *lemmas = j->set->lemmas_path ? &j->lemmas : NULL;
    if (j->set->stopwords_path) {
        TRY(stream_open(j->ctx, &s, j->set->stopwords_path, j->set->max_bytes));
        TRY(tokens_read_list(j->ctx, &j->stop, s));
        stream_close(s);
        s = NULL;
    }
    if (j->set->lemmas_path)
        TRY(lemmas_read(j->ctx, &j->lemmas, j->set->lemmas_path, j->set->max_bytes));
    if (j->n_paths > 1 || files_is_folder(j->paths[0])) {
        TRY(documents_list(j->ctx, &files, j->n_paths, j->paths));
        TRY(documents_read_files(j->ctx, &j->docs, j->report, &files, j->set, &j->stop, lemmas));
        goto done;
    }
    TRY(stream_open(j->ctx, &s, j->documents_path, j->set->max_bytes));
    TRY(documents_read(j->ctx, &j->docs, j->report, s, j->set, &j->stop, lemmas));
done:
    files_free(j->ctx, &files);
    stream_close(s);
    return status;
}

static ddsc_status fail_uncovered(text_job *j, io_stream *s)
{
    char list[256] = "", quoted[QUOTE_TEXT];
    size_t used = 0;
    const text_table *words = &j->docs.words.words;
    for (int64_t k = 0; k < words->n && k < 5; k++) {
        const char *word = text_table_get(words, k);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"", k ? ", " : "",
                                 text_quote(quoted, word, BASE_MIN(strlen(word), (size_t)30)));
    }
    return stream_fail(s,
                       "has no vector for any of the %lld words of the documents (%s%s); "
                       "words are looked up in lower case",
                       (long long)words->n, list, words->n > 5 ? ", ..." : "");
}

/* Opens the vectors file. A stored vocabulary is read before the documents, because it
 * determines how documents are split into words. */
static ddsc_status open_vectors(text_job *j)
{
    unsigned char head[8];
    size_t n;
    if (!j->vectors_path)
        return DDSC_OK;
    CHECK(stream_open(j->ctx, &j->vectors_stream, j->vectors_path, j->set->max_bytes));
    CHECK(stream_peek(j->vectors_stream, head, sizeof head, &n));
    j->given = io_sniff(head, n) == DDSC_FORMAT_NPZ;
    j->matrix = io_sniff(head, n) == DDSC_FORMAT_NPY;
    if (j->given)
        CHECK(words_read_given(j->ctx, &j->parts.words, j->vectors_stream, &j->own));
    return DDSC_OK;
}

static ddsc_status read_vectors(text_job *j)
{
    io_stream *s = j->vectors_stream;
    if (j->given)
        CHECK(words_take_given(j->ctx, &j->vectors, &j->docs.words, &j->parts.words));
    else if (j->matrix)
        CHECK(words_read_matrix(j->ctx, &j->vectors, s, &j->docs.words.words, j->set->max_bytes));
    else if (s)
        CHECK(words_read_vectors(j->ctx, &j->vectors, s, &j->docs.words.words));
    return s && j->vectors.n == 0 ? fail_uncovered(j, s) : DDSC_OK;
}

/* Fits the word vectors if requested, and stores the fitted words with the set. */
static ddsc_status fit_words(text_job *j)
{
    if (j->given || j->set->words == DDSC_WORDS_GENERAL)
        return DDSC_OK;
    CHECK(words_fit(j->ctx, &j->vectors, j->report, &j->docs.words, j->set));
    if (j->vectors.n == 0)
        return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                        "%.240s: no word occurs in two documents together with another "
                        "word, so no vectors can be learned; specify a vectors file",
                        j->documents_path);
    return words_keep(j->ctx, &j->parts.words, &j->docs.words, &j->vectors, j->set);
}

static void count_tokens(const text_job *j, int64_t *n_words, int64_t *n_tokens)
{
    const corpus *c = &j->docs.words;
    *n_words = j->vectors.n;
    for (int64_t e = 0; j->vectors.n > 0 && e < c->n_entries; e++)
        *n_tokens += j->vectors.row[c->word[e]] >= 0 ? c->count[e] : 0;
}

static void count_coverage(text_job *j)
{
    const corpus *c = &j->docs.words;
    ddsc_text_report *r = j->report;
    r->n_rows = j->docs.n_rows;
    r->n_documents = c->n;
    r->n_tokens = c->n_tokens;
    r->n_words = c->words.n;
    r->n_vectors = j->vectors.n_lines;
    r->n_duplicate_vectors = j->vectors.n_duplicates;
    r->n_words_given = j->given ? j->parts.words.n : 0;
    count_tokens(j, &r->n_words_covered, &r->n_tokens_covered);
}

/* Lists the most frequent words without a vector, as "word (count), ...". Equally frequent words
 * are in order of first occurrence. */
static ddsc_status name_missing(text_job *j)
{
    ddsc_status status = DDSC_OK;
    const corpus *c = &j->docs.words;
    char *out = j->report->missing_words;
    size_t capacity = sizeof j->report->missing_words, used = 0;
    int64_t *times = NULL;
    if (j->vectors.n == 0)
        return DDSC_OK;
    TRY(MEM_ZERO(j->ctx, times, c->words.n));
    for (int64_t e = 0; e < c->n_entries; e++)
        if (j->vectors.row[c->word[e]] < 0)
            times[c->word[e]] += c->count[e];
    for (int shown = 0; shown < DDSC_TEXT_NAMED; shown++) {
        int64_t best = 0;
        for (int64_t w = 1; w < c->words.n; w++)
            best = times[w] > times[best] ? w : best;
        const char *word = text_table_get(&c->words, best);
        char quoted[QUOTE_TEXT];
        text_quote(quoted, word, strlen(word));
        if (times[best] == 0 || used + strlen(quoted) + NUMBER_TEXT >= capacity)
            break;
        used += (size_t)snprintf(out + used, capacity - used, "%s%s (%lld)", shown ? ", " : "",
                                 quoted, (long long)times[best]);
        times[best] = 0;
    }
done:
    mem_free(j->ctx, times);
    return status;
}

/* ---- documents without weight ---- */

static void find_empty(text_job *j)
{
    const measures_parts *p = &j->parts;
    ddsc_text_report *r = j->report;
    for (int64_t i = 0; i < p->n; i++) {
        bool empty = true;
        for (int64_t e = p->offset[i]; e < p->offset[i + 1]; e++)
            empty = empty && !(p->weight[e] > 0);
        if (empty && r->n_empty < DDSC_TEXT_NAMED) {
            r->empty_row[r->n_empty] = i;
            r->empty_line[r->n_empty] = j->docs.line[i];
        }
        r->n_empty += empty;
    }
}

static ddsc_status check_empty(text_job *j)
{
    const ddsc_text_report *r = j->report;
    char list[600] = "";
    size_t used = 0;
    if (r->n_empty == r->n_documents)
        return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                        "%.240s: every word with a vector occurs in all %lld documents, so "
                        "plain idf gives it no weight; use smooth idf or tf",
                        j->documents_path, (long long)r->n_documents);
    if (r->n_empty == 0 || j->set->on_empty == DDSC_EMPTY_DROP)
        return DDSC_OK;
    for (int64_t k = 0; k < r->n_empty && k < DDSC_TEXT_NAMED && used < sizeof list; k++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%sline %lld", k ? ", " : "",
                                 (long long)r->empty_line[k]);
        if (!j->docs.has_ids || used >= sizeof list)
            continue;
        const char *id = text_table_get(&j->docs.ids, r->empty_row[k]);
        used += (size_t)snprintf(list + used, sizeof list - used, " (\"%s\")", QUOTE(id));
    }
    return ctx_fail(j->ctx, DDSC_ERROR_INPUT,
                    "%.240s: %lld of %lld documents have no word with a vector and a "
                    "weight (--on-empty drop omits them): %s%s",
                    j->documents_path, (long long)r->n_empty, (long long)r->n_documents, list,
                    r->n_empty > DDSC_TEXT_NAMED ? ", ..." : "");
}

/* ---- measures ---- */

static ddsc_status text_add_names(text_job *j)
{
    if (j->docs.has_labels)
        CHECK(label_list_finish(j->ctx, &j->docs.labels, &j->parts));
    j->parts.titles = (measures_texts){j->parts.n, j->docs.titles.text, j->docs.titles.at};
    j->docs.titles = (text_rows){0};
    if (j->docs.has_ids) {
        j->parts.id_text = j->docs.ids.text;
        j->parts.id_at = j->docs.ids.at;
        j->docs.ids.text = NULL;
        j->docs.ids.at = NULL;
    }
    return DDSC_OK;
}

/* Names the points after their words. */
static ddsc_status name_points(text_job *j)
{
    ddsc_status status = DDSC_OK;
    const corpus *c = &j->docs.words;
    const char **name = NULL;
    TRY(MEM_NEW(j->ctx, name, j->vectors.n));
    for (int64_t w = 0; w < c->words.n; w++)
        if (j->vectors.row[w] >= 0)
            name[j->vectors.row[w]] = text_table_get(&c->words, w);
    TRY(texts_pack(j->ctx, &j->parts.points, j->vectors.n, name));
done:
    mem_free(j->ctx, name);
    return status;
}

static ddsc_status build(text_job *j, measures **out)
{
    int64_t n_documents = j->given ? j->parts.words.n_documents : j->docs.words.n;
    CHECK(name_points(j));
    /* New documents are compared with earlier documents, so words that occur in only one new
     * document also count. */
    CHECK(words_count(j->ctx, &j->parts.counts, &j->docs.words, j->given ? 1 : WORDS_DF_LEAST));
    CHECK(weights_make(j->ctx, &j->parts, &j->docs.words, &j->vectors, n_documents, j->set));
    find_empty(j);
    CHECK(check_empty(j));
    CHECK(text_add_names(j));
    documents_free(j->ctx, &j->docs);
    return measures_build(j->ctx, out, &j->parts, j->set->on_empty, j->documents_path);
}

static void text_job_free(text_job *j)
{
    text_table_free(j->ctx, &j->stop);
    lemmas_free(j->ctx, &j->lemmas);
    documents_free(j->ctx, &j->docs);
    words_free_vectors(j->ctx, &j->vectors);
    measures_parts_free(j->ctx, &j->parts);
    stream_close(j->vectors_stream);
}

ddsc_status corpus_read(ddsc_context *ctx, measures **out, ddsc_text_report *report,
                        int64_t n_paths, const char *const *paths, const char *vectors_path,
                        const ddsc_text_settings *set)
{
    ddsc_status status = DDSC_OK;
    text_job j = {.ctx = ctx,
                  .own = *set,
                  .report = report,
                  .n_paths = n_paths,
                  .paths = paths,
                  .vectors_path = vectors_path};
    j.set = &j.own;
    TRY(text_check_paths(ctx, n_paths, paths, vectors_path, set));
    j.documents_path = paths[0];
    if (set->words == DDSC_WORDS_GENERAL && set->weighting == DDSC_WEIGHTING_AUTO)
        j.own.weighting = DDSC_WEIGHTING_TFIDF; /* automatic weights require learned vectors */
    TRY(open_vectors(&j));
    TRY(read_documents(&j));
    TRY(read_vectors(&j));
    count_coverage(&j);
    TRY(name_missing(&j));
    TRY(fit_words(&j));
    count_tokens(&j, &report->n_words_used, &report->n_tokens_used);
    TRY(build(&j, out));
done:
    text_job_free(&j);
    return status;
}
