/* ddsc text: converts documents to distributions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

typedef struct result {
    ddsc_measures *measures;
    ddsc_measures_view view;
    ddsc_text_settings set;
    ddsc_text_report report;
    double seconds;
} result;

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* ---- machine-readable summary ---- */

static json_t *columns_json(const ddsc_text_report *r)
{
    json_t *columns = json_object();
    json_put_text(columns, "text", r->text_columns);
    json_put(columns, "label", *r->label_column ? json_from_text(r->label_column) : json_null());
    json_put(columns, "id", *r->id_columns ? json_from_text(r->id_columns) : json_null());
    return columns;
}

/* Returns the number of points, or "auto". */
static json_t *support_json(int64_t support)
{
    return support == DDSC_TEXT_SUPPORT_AUTO ? json_string("auto") : json_integer(support);
}

static json_t *settings_json(const ddsc_text_settings *set)
{
    json_t *settings = json_object();
    json_put_text(settings, "words", choice_name(choices_words, (int)set->words));
    json_put_bool(settings, "paper", set->paper != 0);
    json_put_text(settings, "tokens", choice_name(choices_tokens, (int)set->tokens));
    json_put_text(settings, "weighting", choice_name(choices_weighting, (int)set->weighting));
    json_put_text(settings, "idf", choice_name(choices_idf, (int)set->idf));
    json_put(settings, "support", support_json(set->support));
    json_put(settings, "where", set->where ? json_from_text(set->where) : json_null());
    return settings;
}

static json_t *coverage_json(const ddsc_text_report *r)
{
    json_t *coverage = json_object();
    json_put_count(coverage, "tokens", r->n_tokens);
    json_put_count(coverage, "tokens_covered", r->n_tokens_covered);
    json_put_real(coverage, "token_share", share(r->n_tokens_covered, r->n_tokens));
    json_put_count(coverage, "words", r->n_words);
    json_put_count(coverage, "words_covered", r->n_words_covered);
    json_put_real(coverage, "word_share", share(r->n_words_covered, r->n_words));
    json_put_count(coverage, "vectors", r->n_vectors);
    json_put_count(coverage, "duplicate_vectors", r->n_duplicate_vectors);
    json_put_text(coverage, "missing", r->missing_words);
    return coverage;
}

static json_t *words_json(const ddsc_text_report *r)
{
    json_t *words = json_object();
    json_put_count(words, "used", r->n_words_used);
    json_put_real(words, "token_share", share(r->n_tokens_used, r->n_tokens));
    json_put_count(words, "placed", r->n_words_placed);
    json_put_count(words, "own", r->n_words_own);
    json_put_count(words, "own_dim", r->own_dim);
    json_put_count(words, "given", r->n_words_given);
    return words;
}

static json_t *empty_json(const result *x)
{
    const ddsc_text_report *r = &x->report;
    json_t *empty = json_object(), *named;
    json_put_count(empty, "count", r->n_empty);
    named = json_put_array(empty, "first");
    for (int64_t k = 0; k < r->n_empty && k < DDSC_TEXT_NAMED; k++) {
        json_t *row = json_object();
        json_put_count(row, "row", r->empty_row[k]);
        json_put_count(row, "line", r->empty_line[k]);
        json_put_text(row, "id", ddsc_measures_get_id(x->measures, r->empty_row[k]));
        json_add(named, row);
    }
    return empty;
}

static json_t *to_json(const session *s, const result *x)
{
    const ddsc_text_report *r = &x->report;
    json_t *root = json_object();
    json_put_count(root, "n", x->view.n_rows);
    json_put_count(root, "items", x->view.n_items);
    json_put_count(root, "dim", x->view.dim);
    json_put_count(root, "entries", x->view.n_entries);
    json_put_count(root, "rows", r->n_rows);
    json_put(root, "columns", columns_json(r));
    json_put(root, "settings", settings_json(&x->set));
    json_put(root, "coverage", coverage_json(r));
    json_put(root, "words", words_json(r));
    json_put(root, "empty", empty_json(x));
    if (s->opt.text.support) {
        json_t *merged = json_put_object(root, "compress");
        json_put(merged, "m", support_json(s->opt.text.support));
        json_put_count(merged, "points_before", r->n_points_before);
        json_put_count(merged, "points_after", r->n_points_after);
        json_put_real(merged, "mean_w2", r->mean_w2);
        json_put_real(merged, "max_w2", r->max_w2);
    }
    json_put_real(root, "seconds", x->seconds);
    return root;
}

/* ---- human-readable summary ---- */

static void add_documents(text *t, const ddsc_text_report *r)
{
    text_add_count(t, r->n_documents);
    text_add(t, " documents");
    if (r->n_rows > r->n_documents) {
        text_add(t, " of ");
        text_add_count(t, r->n_rows);
        text_add(t, " rows");
    }
    text_addf(t, "; text: %s", r->text_columns);
    if (*r->label_column)
        text_addf(t, "; label: %s", r->label_column);
    if (*r->id_columns)
        text_addf(t, "; id: %s", r->id_columns);
    text_add(t, "\n");
}

static void add_coverage(text *t, const ddsc_text_report *r)
{
    if (r->n_vectors == 0)
        return;
    text_add(t, "words with a vector: ");
    text_add_count(t, r->n_words_covered);
    text_add(t, " of ");
    text_add_count(t, r->n_words);
    text_addf(t, " (%.1f%%), ", 100 * share(r->n_words_covered, r->n_words));
    text_add_count(t, r->n_tokens_covered);
    text_add(t, " of ");
    text_add_count(t, r->n_tokens);
    text_addf(t, " tokens (%.1f%%)\n", 100 * share(r->n_tokens_covered, r->n_tokens));
    if (*r->missing_words)
        text_addf(t, "most frequent words without a vector: %s\n", r->missing_words);
    if (r->n_duplicate_vectors) {
        text_add_count(t, r->n_duplicate_vectors);
        text_add(t, " duplicate word vectors were ignored\n");
    }
}

static void add_words(text *t, const ddsc_text_report *r)
{
    if (r->n_words_given) {
        text_add(t, "encoded with ");
        text_add_count(t, r->n_words_given);
        text_add(t, " words and their weights from another set\n");
    }
    if (r->n_words_given || r->n_words_used == 0 || r->own_dim + r->n_words_placed == 0)
        return;
    text_add(t, r->n_vectors ? "words fitted to these documents: " : "no vector file: ");
    if (r->n_words_placed) {
        text_add_count(t, r->n_words_placed);
        text_add(t, " words without a vector were assigned one from their contexts, ");
    }
    text_add_count(t, r->n_words_own);
    text_addf(t, " vectors of %" PRId64 " dimensions learned; ", r->own_dim);
    text_add_count(t, r->n_words_used);
    text_addf(t, " words used, %.1f%% of the tokens\n", 100 * share(r->n_tokens_used, r->n_tokens));
}

static void add_empty(text *t, const result *x)
{
    const ddsc_text_report *r = &x->report;
    if (!r->n_empty)
        return;
    text_add_count(t, r->n_empty);
    text_addf(t, " document%s dropped because no word has both a vector and a weight: ",
              r->n_empty == 1 ? "" : "s");
    for (int64_t k = 0; k < r->n_empty && k < DDSC_TEXT_NAMED; k++) {
        text_addf(t, "%sline %" PRId64, k ? ", " : "", r->empty_line[k]);
        if (*r->id_columns)
            text_addf(t, " (%s)", ddsc_measures_get_id(x->measures, r->empty_row[k]));
    }
    text_add(t, r->n_empty > DDSC_TEXT_NAMED ? ", ...\n" : "\n");
}

static void summary(const session *s, const result *x)
{
    text t = {0};
    const ddsc_text_report *r = &x->report;
    add_documents(&t, &x->report);
    add_coverage(&t, &x->report);
    add_words(&t, &x->report);
    add_empty(&t, x);
    if (s->opt.text.support) {
        text_add(&t, "supports merged from ");
        text_add_count(&t, r->n_points_before);
        text_add(&t, " to ");
        text_add_count(&t, r->n_points_after);
        text_addf(&t, " points: W2 error mean %.6g, max %.6g\n", r->mean_w2, r->max_w2);
    }
    text_add_count(&t, x->view.n_items);
    text_add(&t, " items, ");
    text_add_count(&t, x->view.n_entries);
    text_addf(&t, " weighted points in %" PRId64 " dimensions, %.2f s\n", x->view.dim, x->seconds);
    output_summary(s, &t);
    text_free(&t);
}

/* ---- the verb ---- */

static bool check_words(session *s, int *code)
{
    const cli_options *o = &s->opt;
    *code = EXIT_GOOD;
    if (o->like && o->vectors)
        *code = message_usage(s->verb, "--like and --vectors both select the words; choose one");
    else if (option_given(o, "idf") && o->text.weighting == DDSC_WEIGHTING_TF)
        message_warning(s, "--idf has no effect with --weighting tf");
    return *code == EXIT_GOOD && output_check(s, true, code) && output_check_binary(s, code);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    result x = {0};
    const cli_options *o = &s->opt;
    double began = cli_now();
    ddsc_text_report_init(&x.report);
    if (!check_words(s, &code))
        return code;
    x.set = o->text;
    x.set.paper = o->cluster.paper;
    if (x.set.paper &&
        x.set.tokens == DDSC_TOKENS_WORDS) /* the library does the same for the report */
        x.set.tokens = DDSC_TOKENS_PUNCTUATION;
    if (x.set.paper && x.set.words == DDSC_WORDS_FITTED)
        x.set.words = DDSC_WORDS_GENERAL;
    if (x.set.words == DDSC_WORDS_GENERAL && x.set.weighting == DDSC_WEIGHTING_AUTO)
        x.set.weighting = DDSC_WEIGHTING_TFIDF; /* as the library does */
    char *like = o->like ? like_path(o->like) : NULL;
    ddsc_status status = ddsc_text_read_files(s->ctx, &x.measures, &x.report, o->n_operands,
                                              o->operand, like ? like : o->vectors, &x.set);
    free(like);
    if (!session_ok(s, status, &code))
        return code;
    bool good = session_ok(s, input_join_meta(s, &x.measures, 0, o->text.id_columns), &code) &&
                session_ok(s, input_keep_numbers(s, &x.measures), &code);
    ddsc_measures_get_view(x.measures, &x.view);
    if (good && session_ok(s,
                           ddsc_measures_write(s->ctx, x.measures, o->output, output_format(s),
                                               output_flags(s)),
                           &code)) {
        x.seconds = cli_now() - began;
        code = session_exit(s);
        if (o->json)
            json_print(s, to_json(s, &x), &code);
        summary(s, &x);
    }
    ddsc_measures_destroy(x.measures);
    return code;
}

static const option_group *const groups[] = {&group_words,  &group_text,  &group_file_output,
                                             &group_format, &group_paper, &group_run,
                                             &group_help,   NULL};

const cli_verb verb_text = {
    .name = "text",
    .operands = "DOCS... [--vectors V.txt] -o OUT.npz",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "convert documents to distributions over word vectors",
    .description =
        "DOCS is a table with a header and one document per row, a file with one JSON object per "
        "line, a folder of .txt files (subfolders are classes), or several .txt files, optionally "
        "compressed with gzip. Columns are separated by tabs (quotes are then part of the data), "
        "or by commas, semicolons or | (with quotes as in RFC 4180). Each document becomes the set "
        "of its word vectors. The weight of a word depends on how often it occurs in the document "
        "and on how rare it is elsewhere. Words are then merged into a few points. Vectors are "
        "fitted to the documents: words are moved toward the words that they occur with, words "
        "without a vector are positioned in the same way, and vectors learned from the documents "
        "are appended. The fitted vectors are stored in OUT.npz and in the model of a clustering. "
        "To encode further documents for `ddsc assign`, pass either file as --vectors.",
    .groups = groups,
    .examples =
        "ddsc text docs.tsv --vectors glove.6B.100d.txt -o docs.npz\tcolumns with the usual names\n"
        "ddsc text docs.csv --vectors GoogleNews.bin.gz --text headline,body -o docs.npz\tcsv, "
        "word2vec binary\n"
        "ddsc text folder -o docs.npz\ta folder of .txt files, classes by folder\n"
        "ddsc text docs.tsv -o docs.npz\tno vector file; vectors are learned from the documents\n"
        "ddsc text new.tsv --vectors result/model.npz -o new.npz\tfor ddsc assign result/model.npz "
        "new.npz\n"
        "ddsc text docs.tsv.gz --vectors glove.txt --text title,body -o docs.npz\ttitle and body "
        "as the text\n"
        "ddsc text docs.tsv --vectors w2v.txt --stopwords stop.txt --support 0 -o docs.npz\tone "
        "point per word\n",
    .run = run,
};
