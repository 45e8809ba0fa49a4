/* From files to measures: stop words and lemmas, documents, vectors, weights. */
#include "text/text.h"

#include <stdio.h>
#include <string.h>

static ddsc_status text_check_paths(ddsc_context *ctx, const char *documents_path,
                                    const char *vectors_path, const char *stopwords_path)
{
    if (!documents_path || !vectors_path)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "the path of documents or vectors is NULL");
    int n_stdin = (strcmp(documents_path, "-") == 0) + (strcmp(vectors_path, "-") == 0) +
                  (stopwords_path && strcmp(stopwords_path, "-") == 0);
    if (n_stdin > 1)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "only one file can come from standard input");
    return DDSC_OK;
}

/* ---- reading ---- */

typedef struct text_job {
    ddsc_context *ctx;
    const ddsc_text_settings *set;
    ddsc_text_report *report;
    const char *documents_path, *vectors_path;
    text_table stop;
    lemma_table lemmas;
    documents docs;
    word_vectors vectors;
    measures_parts parts;
} text_job;

static ddsc_status read_documents(text_job *j)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    if (j->set->stopwords_path) {
        TRY(stream_open(j->ctx, &s, j->set->stopwords_path, j->set->max_bytes));
        TRY(tokens_read_list(j->ctx, &j->stop, s));
        stream_close(s);
        s = NULL;
    }
    if (j->set->lemmas_path)
        TRY(lemmas_read(j->ctx, &j->lemmas, j->set->lemmas_path, j->set->max_bytes));
    TRY(stream_open(j->ctx, &s, j->documents_path, j->set->max_bytes));
    TRY(documents_read(j->ctx, &j->docs, j->report, s, j->set, &j->stop,
                       j->set->lemmas_path ? &j->lemmas : NULL));
done:
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
                       "has no vector for any of the %lld words of the documents (%s%s); words are "
                       "looked up in lower case",
                       (long long)words->n, list, words->n > 5 ? ", ..." : "");
}

static ddsc_status read_vectors(text_job *j)
{
    ddsc_status status = DDSC_OK;
    io_stream *s = NULL;
    TRY(stream_open(j->ctx, &s, j->vectors_path, j->set->max_bytes));
    TRY(words_read_vectors(j->ctx, &j->vectors, s, &j->docs.words.words));
    if (j->vectors.n == 0)
        status = fail_uncovered(j, s);
done:
    stream_close(s);
    return status;
}

static void count_coverage(text_job *j)
{
    const corpus *c = &j->docs.words;
    ddsc_text_report *r = j->report;
    r->n_rows = j->docs.n_rows;
    r->n_documents = c->n;
    r->n_tokens = c->n_tokens;
    r->n_words = c->words.n;
    r->n_words_covered = j->vectors.n;
    r->n_vectors = j->vectors.n_lines;
    r->n_duplicate_vectors = j->vectors.n_duplicates;
    for (int64_t e = 0; e < c->n_entries; e++)
        r->n_tokens_covered += j->vectors.row[c->word[e]] >= 0 ? c->count[e] : 0;
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
                        "%.240s: every word with a vector is in all %lld documents, so plain idf "
                        "gives it no weight; take smooth idf or tf",
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
                    "%.240s: %lld of %lld documents have no word with a vector and a weight "
                    "(--on-empty drop leaves them out): %s%s",
                    j->documents_path, (long long)r->n_empty, (long long)r->n_documents, list,
                    r->n_empty > DDSC_TEXT_NAMED ? ", ..." : "");
}

/* ---- measures ---- */

static ddsc_status text_add_names(text_job *j)
{
    if (j->docs.has_labels)
        CHECK(label_list_finish(j->ctx, &j->docs.labels, &j->parts));
    if (j->docs.has_ids) {
        j->parts.id_text = j->docs.ids.text;
        j->parts.id_at = j->docs.ids.at;
        j->docs.ids.text = NULL;
        j->docs.ids.at = NULL;
    }
    return DDSC_OK;
}

static ddsc_status build(text_job *j, measures **out)
{
    CHECK(weights_make(j->ctx, &j->parts, &j->docs.words, &j->vectors, j->set->weighting,
                       j->set->idf));
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
}

ddsc_status corpus_read(ddsc_context *ctx, measures **out, ddsc_text_report *report,
                        const char *documents_path, const char *vectors_path,
                        const ddsc_text_settings *set)
{
    ddsc_status status = DDSC_OK;
    text_job j = {.ctx = ctx,
                  .set = set,
                  .report = report,
                  .documents_path = documents_path,
                  .vectors_path = vectors_path};
    TRY(text_check_paths(ctx, documents_path, vectors_path, set->stopwords_path));
    TRY(read_documents(&j));
    TRY(read_vectors(&j));
    count_coverage(&j);
    TRY(build(&j, out));
done:
    text_job_free(&j);
    return status;
}
