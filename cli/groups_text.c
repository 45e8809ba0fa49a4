/* The option groups of `text`. */
#include "options.h"

#define AT(field) offsetof(cli_options, text.field)

const option_choice choices_tokens[] = {{"words", DDSC_TOKENS_WORDS},
                                        {"punctuation", DDSC_TOKENS_PUNCTUATION},
                                        {"letters", DDSC_TOKENS_LETTERS},
                                        {NULL, 0}};
const option_choice choices_weighting[] = {{"auto", DDSC_WEIGHTING_AUTO},
                                           {"tfidf", DDSC_WEIGHTING_TFIDF},
                                           {"tf", DDSC_WEIGHTING_TF},
                                           {NULL, 0}};
const option_choice choices_idf[] = {
    {"plain", DDSC_IDF_PLAIN}, {"smooth", DDSC_IDF_SMOOTH}, {NULL, 0}};

const option_choice choices_words[] = {{"fitted", DDSC_WORDS_FITTED},
                                       {"general", DDSC_WORDS_GENERAL},
                                       {"own", DDSC_WORDS_OWN},
                                       {NULL, 0}};

static const option_spec text_options[] = {
    {.name = "text",
     .kind = OPTION_TEXT,
     .offset = AT(text_columns),
     .argument = "COLUMN,...",
     .help = "columns with the text (default: text, else abstract, else title and body, else body; "
             "reported in the output)"},
    {.name = "label",
     .kind = OPTION_TEXT,
     .offset = AT(label_column),
     .argument = "COLUMN",
     .help = "column with the classes (default: label, if it exists)"},
    {.name = "id",
     .kind = OPTION_TEXT,
     .offset = AT(id_columns),
     .argument = "COLUMN,...",
     .help = "columns that identify a document, joined with / (default: id, if it exists; "
             "otherwise documents are numbered)"},
    {.name = "where",
     .kind = OPTION_OTHER,
     .parse = value_where,
     .argument = "COLUMN=VALUE",
     .help = "use only rows with this value"},
    {.name = "on-empty",
     .kind = OPTION_CHOICE,
     .offset = AT(on_empty),
     .choices = choices_on_empty,
     .help = "documents in which no word has both a vector and a weight: stop, or drop them "
             "(default: drop)"},
    OPTION_META,
    OPTION_PRIVATE,
    OPTION_ENCODING,
    {.name = NULL}};
const option_group group_text = {"Documents", text_options};

static const option_spec words_options[] = {
    {.name = "vectors",
     .kind = OPTION_FILE,
     .offset = offsetof(cli_options, vectors),
     .argument = "FILE",
     .help = "word vectors: a text file in the format of GloVe, word2vec or fastText, a binary "
             "word2vec file, or npy with its words in a .vocab file next to it. If the file is an "
             "npz written by `ddsc text` or a model, documents are encoded with its words and "
             "weights (default: none, which implies --words own)"},
    {.name = "like",
     .kind = OPTION_FILE,
     .offset = offsetof(cli_options, like),
     .argument = "DIR",
     .help = "encode documents with the words and weights of this result, for ddsc update and "
             "assign (same as --vectors DIR/model.npz)"},
    {.name = "words",
     .kind = OPTION_CHOICE,
     .offset = AT(words),
     .choices = choices_words,
     .help =
         "fit the vectors of the file to these documents (default), use them unchanged and drop "
         "words without a vector (general), or learn vectors from these documents alone (own)"},
    {.name = "tokens",
     .kind = OPTION_CHOICE,
     .offset = AT(tokens),
     .choices = choices_tokens,
     .help = "rule for splitting text: words as they are usually written (default; keeps c#, .net, "
             "node.js, at&t, covid-19), text between spaces and ASCII punctuation except the "
             "apostrophe (punctuation), or runs of two or more letters (letters). All words are "
             "converted to lower case"},
    {.name = "stopwords",
     .kind = OPTION_FILE,
     .offset = AT(stopwords_path),
     .argument = "FILE",
     .help = "words to ignore, separated by white space"},
    {.name = "lemmas",
     .kind = OPTION_FILE,
     .offset = AT(lemmas_path),
     .argument = "DIR",
     .help = "convert plural nouns to singular using WordNet's noun.exc and index.noun in DIR "
             "(Debian package wordnet-base: /usr/share/wordnet)"},
    {.name = "weighting",
     .kind = OPTION_CHOICE,
     .offset = AT(weighting),
     .choices = choices_weighting,
     .help = "weight of a word: its count in the document times a weight learned from the "
             "documents (auto, default; tfidf with --words general), its count times its idf, or "
             "its count"},
    {.name = "idf",
     .kind = OPTION_CHOICE,
     .offset = AT(idf),
     .choices = choices_idf,
     .help = "idf of a word in df of N documents: log2(N/df) (default), or ln((1+N)/(1+df)) + 1"},
    {.name = "support",
     .kind = OPTION_COUNT,
     .offset = AT(support),
     .minimum = 0,
     .argument = "M",
     .help = "merge each document to M points and report the resulting W2 error (default: 16, but "
             "documents of at most 32 words are not merged; 0: keep all words)"},
    {.name = NULL}};
const option_group group_words = {"Words and weights", words_options};
