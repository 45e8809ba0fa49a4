/* Converts documents to distributions. The points of a document are the words that have a vector,
 * weighted by frequency in the document and by rarity in the set. Documents are tokenized as they
 * are read, and only vectors of words that occur in documents are stored. Memory use is O(distinct
 * words x dim + entries). As in io, input is treated as untrusted. */
#ifndef DDSC_TEXT_TEXT_H
#define DDSC_TEXT_TEXT_H

#include "io/format/format.h"

/* Combines the caller's settings with the defaults and checks them. NULL selects the defaults. */
ddsc_status corpus_settings_take(ddsc_context *ctx, ddsc_text_settings *own,
                                 const ddsc_text_settings *given);
/* Reads documents without merging points. *report must be all zero. */
ddsc_status corpus_read(ddsc_context *ctx, measures **out, ddsc_text_report *report,
                        int64_t n_paths, const char *const *paths, const char *vectors_path,
                        const ddsc_text_settings *set);

/* ---- tokens: UTF-8 text folded to lower case and split into words ---- */

typedef bool (*token_break_fn)(uint32_t code_point);

/* Reads the next character. An invalid byte is read as Latin-1. */
uint32_t token_decode(const unsigned char **at);
/* Writes a character as UTF-8 and returns the address after it. */
char *token_encode(char *out, uint32_t c);
uint32_t token_lower(uint32_t c);
/* Returns true for everything except letters. */
bool token_break_nonletter(uint32_t c);

typedef struct token_reader {
    token_break_fn breaks; /* NULL: the rule of word_rule.c */
    int64_t shortest;      /* minimum number of characters of a token */
    char *folded;          /* the text in lower case, with spaces in place of breaks */
    int64_t capacity;
    char *at;
    uint32_t *code; /* characters of the text, if breaks is NULL */
    int64_t code_capacity;
} token_reader;

token_reader token_reader_make(ddsc_tokens rule);
/* Starts reading tokens of a text. Bytes that are not UTF-8 are read as Latin-1. */
ddsc_status token_reader_begin(ddsc_context *ctx, token_reader *t, const char *text);
/* Called by token_reader_begin if `breaks` is NULL. */
ddsc_status token_reader_split_words(ddsc_context *ctx, token_reader *t, const char *text);
/* Returns the next token, or NULL at the end. The token is not NUL-terminated, and is valid until
 * the next call of token_reader_begin. */
const char *token_reader_next(token_reader *t, size_t *n);
void token_reader_free(ddsc_context *ctx, token_reader *t);
/* Reads words separated by whitespace, converts them to lower case, and adds them to a table. */
ddsc_status tokens_read_list(ddsc_context *ctx, text_table *words, io_stream *s);

/* ---- noun lemmas from WordNet files ---- */

typedef struct lemma_table {
    text_table nouns;        /* index.noun */
    text_table forms, bases; /* noun.exc: irregular forms and their bases */
    int64_t *base;           /* per form: number of its base */
    int64_t capacity;
} lemma_table;

/* Reads noun.exc and index.noun from a folder. */
ddsc_status lemmas_read(ddsc_context *ctx, lemma_table *l, const char *folder, int64_t max_bytes);
/* Returns the base form of a noun, or the word itself if it is not a known form. */
const char *lemmas_find(const lemma_table *l, const char *word, size_t n, size_t *n_out);
void lemmas_free(ddsc_context *ctx, lemma_table *l);

/* ---- corpus: word counts of each document ---- */

/* A word and the word that follows it. */
typedef struct word_pair {
    uint64_t key;    /* numbers of both words; 0: free slot */
    int32_t n;       /* number of documents in which the two words are adjacent */
    uint32_t latest; /* index of the last of these documents, plus 1 */
} word_pair;

typedef struct word_pairs {
    word_pair *slot; /* open addressing */
    int64_t n_slots, n;
} word_pairs;

typedef struct corpus {
    text_table words;
    int64_t *df;     /* per word: number of documents that contain it */
    int64_t *latest; /* per word: index of its last entry, plus 1 */
    int64_t *offset; /* n + 1: entries of a document */
    int32_t *word;   /* of each entry */
    int32_t *count;  /* of each entry */
    int64_t n, n_entries, n_tokens;
    int64_t df_capacity, latest_capacity, offset_capacity, word_capacity, count_capacity;
    word_pairs pairs;
    int64_t before; /* the previous word in the document, or -1 */
} corpus;

/* Starts a new document, to which corpus_add adds words. */
ddsc_status corpus_begin(ddsc_context *ctx, corpus *c);
ddsc_status corpus_add(ddsc_context *ctx, corpus *c, const char *word, size_t n);
/* Separates the previous word from the next one, for example where a stop word was removed. */
void corpus_break(corpus *c);
void corpus_free(ddsc_context *ctx, corpus *c);

/* ---- phrases of two words (phrases.c) ---- */

/* Counts a document in which word b follows word a. Documents must be added in order. */
ddsc_status phrases_count_pair(ddsc_context *ctx, word_pairs *p, int32_t a, int32_t b,
                               int64_t document);
void phrases_free_pairs(ddsc_context *ctx, word_pairs *p);

/* ---- word vectors ---- */

typedef struct word_vectors {
    int64_t dim, n;
    double *point; /* n x dim */
    double *mass;  /* n: weight of one occurrence of each word; NULL: the idf */
    int32_t *row;  /* per word of the documents: its row, or -1 */
    int64_t capacity, mass_capacity;
    int64_t n_lines, n_duplicates;
} word_vectors;

/* Reads vectors in GloVe, word2vec or fastText text format, or in word2vec binary format. Stores
 * the vectors of `words`. If a word has several vectors, the first one is used. */
ddsc_status words_read_vectors(ddsc_context *ctx, word_vectors *v, io_stream *s,
                               const text_table *words);
/* Reads an npy matrix, and its words from a second file with one word per line. */
ddsc_status words_read_matrix(ddsc_context *ctx, word_vectors *v, io_stream *s,
                              const text_table *words, int64_t max_bytes);
void words_free_vectors(ddsc_context *ctx, word_vectors *v);

/* ---- vectors fitted to the documents ---- */

enum { WORDS_DF_LEAST = 2, WORDS_LONGEST = 64 };

/* Returns true if a word is short enough to be fitted and stored. Longer tokens are unlikely to be
 * words. */
bool words_fits(const corpus *c, int64_t word);

/* Vectors learned from the documents alone. */
typedef struct own_vectors {
    int64_t n, dim;  /* dim is 0 if no two words occur in the same document */
    int32_t *slot;   /* per word: its row, or -1 */
    double *point;   /* n x dim: length 1 or 0 */
    double *company; /* n: sum over the word's documents of the number of other words */
    double *common;  /* n: share of the word's PPMI row that the vectors represent, 0 .. 1 */
    int64_t n_placed;
} own_vectors;

ddsc_status words_own(ddsc_context *ctx, own_vectors *out, const corpus *c);
void words_free_own(ddsc_context *ctx, own_vectors *o);
/* Replaces the vectors of the file with vectors fitted to the documents. v->dim is 0 if there is no
 * file. With automatic weighting, also computes the masses. */
ddsc_status words_fit(ddsc_context *ctx, word_vectors *v, ddsc_text_report *report, const corpus *c,
                      const ddsc_text_settings *set);

/* Lists the phrases whose words both have vectors, most frequent first. */
ddsc_status phrases_find(ddsc_context *ctx, measures_texts *out, const corpus *c,
                         const word_vectors *v);

/* Creates the vocabulary to be stored with the set: words with their vectors and document
 * counts. */
ddsc_status words_keep(ddsc_context *ctx, measures_words *out, const corpus *c,
                       const word_vectors *v, const ddsc_text_settings *set);
/* Copies the counts of all words that occur in at least `df_least` documents. */
ddsc_status words_count(ddsc_context *ctx, measures_counts *out, const corpus *c, int64_t df_least);
/* Reads the vocabulary of another set, and copies its rules for splitting and weighting documents
 * to *set. */
ddsc_status words_read_given(ddsc_context *ctx, measures_words *out, io_stream *s,
                             ddsc_text_settings *set);
/* For each word of the documents, copies its vector and document count from a stored vocabulary. */
ddsc_status words_take_given(ddsc_context *ctx, word_vectors *v, corpus *c,
                             const measures_words *given);

/* ---- weighting ---- */

/* Returns the inverse document frequency (Sparck Jones 1972). Plain: log2(N / df), which is zero
 * for a word that occurs in every document. Smooth: ln((1 + N) / (1 + df)) + 1, which is never
 * zero. */
double weights_idf(ddsc_idf rule, int64_t n_documents, int64_t df);
/* Computes the masses of automatic weighting (word_masses.c) for the rows of *v. */
ddsc_status words_weigh(ddsc_context *ctx, word_vectors *v, const own_vectors *own, const corpus *c,
                        const ddsc_text_settings *set);

/* Creates the entries and points of the documents. Words without a vector are omitted. The document
 * counts of the words refer to n_documents documents. Moves arrays out of the corpus and the
 * vectors. */
ddsc_status weights_make(ddsc_context *ctx, measures_parts *parts, corpus *c, word_vectors *v,
                         int64_t n_documents, const ddsc_text_settings *set);

/* ---- documents: a table with a header or JSON lines, one document per row; or files ---- */

/* Splits a line with a JSON object in place into keys and values as text. Nested values become
 * "". */
ddsc_status jsonl_split(ddsc_context *ctx, field_list *keys, field_list *values, io_stream *s,
                        char *line);

typedef struct documents {
    corpus words;
    text_table ids; /* empty without id columns */
    label_list labels;
    text_rows titles; /* per document: its title, or the start of its text */
    int64_t *line;    /* line number of each document */
    int64_t line_capacity;
    int64_t n_rows; /* before filtering with `where` */
    bool has_ids, has_labels;
} documents;

/* Lists the files that the paths stand for; a folder stands for its .txt files. */
ddsc_status documents_list(ddsc_context *ctx, file_list *list, int64_t n_paths,
                           const char *const *paths);
/* Reads a whole file into *text, which grows as needed. */
ddsc_status documents_read_plain(ddsc_context *ctx, io_stream *s, char **text, int64_t *capacity);
ddsc_status documents_read(ddsc_context *ctx, documents *d, ddsc_text_report *report, io_stream *s,
                           const ddsc_text_settings *set, const text_table *stop,
                           const lemma_table *lemmas);
/* Reads each file as one document. */
ddsc_status documents_read_files(ddsc_context *ctx, documents *d, ddsc_text_report *report,
                                 const file_list *files, const ddsc_text_settings *set,
                                 const text_table *stop, const lemma_table *lemmas);
void documents_free(ddsc_context *ctx, documents *d);

#endif
