/* text: documents to distributions. A document is the words that have a vector, weighted by how
 * often they occur and how rare they are. Documents are tokenised as they come; of the vectors only
 * those of words met are kept: memory is O(words met x dim + entries). Input is hostile, as in io.
 */
#ifndef DDSC_TEXT_TEXT_H
#define DDSC_TEXT_TEXT_H

#include "io/format/format.h"

/* Defaults overlaid with what was given (or NULL), checked. */
ddsc_status corpus_settings_take(ddsc_context *ctx, ddsc_text_settings *own,
                                 const ddsc_text_settings *given);
/* The documents as they are, before points are merged; *report is all zero. */
ddsc_status corpus_read(ddsc_context *ctx, measures **out, ddsc_text_report *report,
                        int64_t n_paths, const char *const *paths, const char *vectors_path,
                        const ddsc_text_settings *set);

/* ---- tokens: UTF-8 text folded to lower case and cut into words ---- */

typedef bool (*token_break_fn)(uint32_t code_point);

/* White space, as Unicode has it. */
bool token_break_blank(uint32_t c);
/* White space and !"#$%&()*+,-./:;<=>?@[\]^_`{|}~ (not the apostrophe). */
bool token_break_punctuation(uint32_t c);
/* Everything that is no letter. */
bool token_break_nonletter(uint32_t c);

typedef struct token_reader {
    token_break_fn breaks;
    int64_t shortest; /* characters a token must have */
    char *folded;     /* the text in lower case, breaks turned into blanks */
    int64_t room;
    char *at;
} token_reader;

token_reader token_reader_make(ddsc_tokens rule);
/* Bytes that are not UTF-8 are taken as Latin-1. */
ddsc_status token_reader_begin(ddsc_context *ctx, token_reader *t, const char *text);
/* The next token, not NUL-terminated, valid until the next begin; NULL at the end. */
const char *token_reader_next(token_reader *t, size_t *n);
void token_reader_free(ddsc_context *ctx, token_reader *t);
/* Words separated by white space, folded, into a table. */
ddsc_status tokens_read_list(ddsc_context *ctx, text_table *words, io_stream *s);

/* ---- noun lemmas by the files of WordNet ---- */

typedef struct lemma_table {
    text_table nouns;        /* index.noun */
    text_table forms, bases; /* noun.exc: irregular forms and where they lead */
    int64_t *base;           /* of each form, a number in bases */
    int64_t room;
} lemma_table;

/* noun.exc and index.noun of a folder. */
ddsc_status lemmas_read(ddsc_context *ctx, lemma_table *l, const char *folder, int64_t max_bytes);
/* The noun that a word is a form of, or the word itself. */
const char *lemmas_find(const lemma_table *l, const char *word, size_t n, size_t *n_out);
void lemmas_free(ddsc_context *ctx, lemma_table *l);

/* ---- corpus: how often each word occurs in each document ---- */

typedef struct corpus {
    text_table words;
    int64_t *df;     /* of each word: documents that have it */
    int64_t *latest; /* of each word: its newest entry + 1 */
    int64_t *offset; /* n + 1: entries of a document */
    int32_t *word;   /* of each entry */
    int32_t *count;  /* of each entry */
    int64_t n, n_entries, n_tokens;
    int64_t df_room, latest_room, offset_room, word_room, count_room;
} corpus;

/* The words added from here on belong to one more document. */
ddsc_status corpus_begin(ddsc_context *ctx, corpus *c);
ddsc_status corpus_add(ddsc_context *ctx, corpus *c, const char *word, size_t n);
void corpus_free(ddsc_context *ctx, corpus *c);

/* ---- word vectors ---- */

typedef struct word_vectors {
    int64_t dim, n;
    double *point; /* n x dim */
    int32_t *row;  /* of each word of the table given, -1: it has no vector */
    int64_t room;
    int64_t n_lines, n_duplicates;
} word_vectors;

/* GloVe, word2vec or fastText text, word2vec binary; keeps the vectors of `words`, the first where a word has several. */
ddsc_status words_read_vectors(ddsc_context *ctx, word_vectors *v, io_stream *s,
                               const text_table *words);
/* An npy matrix, its words one a line in a file beside it. */
ddsc_status words_read_matrix(ddsc_context *ctx, word_vectors *v, io_stream *s,
                              const text_table *words, int64_t max_bytes);
void words_free_vectors(ddsc_context *ctx, word_vectors *v);

/* ---- words fitted to the set ---- */

enum { WORDS_DF_LEAST = 2, WORDS_LONGEST = 64 };

/* Short enough to be fitted and kept: what is longer is no word. */
bool words_fits(const corpus *c, int64_t word);

/* Vectors learnt from the documents alone. */
typedef struct own_vectors {
    int64_t n, dim;  /* dim 0: no word has met another one */
    int32_t *slot;   /* of each word, -1: it has none */
    double *point;   /* n x dim: length 1, or 0 */
    double *company; /* n: words met in its documents, each time counted */
    int64_t n_placed;
} own_vectors;

ddsc_status words_own(ddsc_context *ctx, own_vectors *out, const corpus *c);
void words_free_own(ddsc_context *ctx, own_vectors *o);
/* The vectors of the file (dim 0: there is none) become those fitted to the documents. */
ddsc_status words_fit(ddsc_context *ctx, word_vectors *v, ddsc_text_report *report,
                      const corpus *c);

/* What stays with the set: words with their vectors and document counts. */
ddsc_status words_keep(ddsc_context *ctx, measures_words *out, const corpus *c,
                       const word_vectors *v, const ddsc_text_settings *set);
/* Words kept with another set, and its way to cut and weigh documents into *set. */
ddsc_status words_read_given(ddsc_context *ctx, measures_words *out, io_stream *s,
                             ddsc_text_settings *set);
/* Their vectors and document counts for the words of these documents. */
ddsc_status words_take_given(ddsc_context *ctx, word_vectors *v, corpus *c,
                             const measures_words *given);

/* ---- weighting ---- */

/* Entries and points of the documents; words without a vector are left out. Document counts are of
 * n_documents. Takes entries out of the corpus and points out of the vectors. */
ddsc_status weights_make(ddsc_context *ctx, measures_parts *parts, corpus *c, word_vectors *v,
                         int64_t n_documents, const ddsc_text_settings *set);

/* ---- documents: a table with a header or lines of JSON, one document a row; or files ---- */

/* Keys and values of a line that is a JSON object, as texts in place; nested values are "". */
ddsc_status jsonl_split(ddsc_context *ctx, field_list *keys, field_list *values, io_stream *s,
                        char *line);

typedef struct documents {
    corpus words;
    text_table ids; /* empty without id columns */
    label_list labels;
    text_rows titles; /* of each: its title, else how its text begins */
    int64_t *line;    /* of each document */
    int64_t line_room;
    int64_t n_rows; /* before `where` */
    bool has_ids, has_labels;
} documents;

/* Files as given; of folders their .txt files. */
ddsc_status documents_list(ddsc_context *ctx, file_list *list, int64_t n_paths,
                           const char *const *paths);
/* A whole file into *text, which grows. */
ddsc_status documents_read_plain(ddsc_context *ctx, io_stream *s, char **text, int64_t *room);
ddsc_status documents_read(ddsc_context *ctx, documents *d, ddsc_text_report *report, io_stream *s,
                           const ddsc_text_settings *set, const text_table *stop,
                           const lemma_table *lemmas);
/* Each file one document. */
ddsc_status documents_read_files(ddsc_context *ctx, documents *d, ddsc_text_report *report,
                                 const file_list *files, const ddsc_text_settings *set,
                                 const text_table *stop, const lemma_table *lemmas);
void documents_free(ddsc_context *ctx, documents *d);

#endif
