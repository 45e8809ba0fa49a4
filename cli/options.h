/* options: the option tables of the verbs, and their parser. Help, manual page
 * and shell completion are generated from the same tables, so they always match the parser. */
#ifndef DDSC_CLI_OPTIONS_H
#define DDSC_CLI_OPTIONS_H

#include "cli.h"

typedef enum option_kind {
    OPTION_FLAG,   /* int = 1 */
    OPTION_COUNT,  /* int64_t >= minimum */
    OPTION_NUMBER, /* double >= minimum */
    OPTION_CHOICE, /* int, one of `choices` */
    OPTION_TEXT,   /* const char * */
    OPTION_FILE,   /* const char *, a path */
    OPTION_OTHER   /* handled by `parse` */
} option_kind;

typedef struct option_choice {
    const char *name;
    int value;
} option_choice;

typedef struct option_spec {
    const char *name; /* long name; NULL marks the end of a table */
    char letter;      /* 0 if there is none */
    option_kind kind;
    size_t offset; /* offset in cli_options */
    double minimum;
    const option_choice *choices; /* the last one has the name NULL */
    /* returns NULL, or a description of valid values */
    const char *(*parse)(cli_options *o, const char *value);
    const char *argument; /* shown in the help; NULL: the choices, or nothing for a flag */
    const char *help;
} option_spec;

typedef struct option_group {
    const char *title;
    const option_spec *options;
} option_group;

extern const option_group group_about, group_input, group_table, group_transform, group_subset,
    group_truth, group_precomputed, group_metric, group_metric_values, group_reference, group_graph,
    group_cluster, group_baseline, group_matrix, group_file_output, group_dir_output, group_json,
    group_resume, group_format, group_text, group_words, group_plots, group_page_output,
    group_generate, group_device, group_run, group_man, group_help, group_compare, group_encoding,
    group_input_format, group_labels, group_paper, group_like, group_over, group_over_meta;

/* The value of --normalize auto, which the program replaces with a value of ddsc_normalize. */
enum { NORMALIZE_AUTO = 100 };

extern const option_choice choices_metric[], choices_cost[], choices_sinkhorn[], choices_kernel[],
    choices_estimator[], choices_exact_graph[], choices_neighbors[], choices_method[],
    choices_hubs[], choices_refine[], choices_barycenter[], choices_vectors[], choices_words[],
    choices_tokens[], choices_weighting[], choices_idf[], choices_on_empty[], choices_encoding[],
    choices_format[];
const char *choice_name(const option_choice *choices, int value);

/* ---- --metric: one metric, or several joined with + ---- */

/* Returns the metric that a common name such as "wasserstein", "emd" or "W2" refers to, or NULL. */
const char *metric_meant(const char *word);
bool metric_used(const session *s, ddsc_metric metric);
/* Adds the metrics in the form "w2+mmd". */
void metric_add_names(text *t, const session *s);
const char *value_metrics(cli_options *o, const char *value);
/* Parses metrics joined with +. If the metrics cannot be joined, prints a message. Returns the exit
 * code. */
int metric_join(cli_options *o, const cli_verb *verb, const char *value);

const char *value_clusters(cli_options *o, const char *value);
const char *value_gamma(cli_options *o, const char *value);
const char *value_epsilon(cli_options *o, const char *value);
const char *value_bandwidth(cli_options *o, const char *value);
const char *value_cost(cli_options *o, const char *value);
const char *value_reference(cli_options *o, const char *value);
const char *value_sample(cli_options *o, const char *value);
const char *value_sample_columns(cli_options *o, const char *value);
const char *value_memory(cli_options *o, const char *value);
const char *value_min_cluster(cli_options *o, const char *value);
const char *value_tolerance(cli_options *o, const char *value);
const char *value_compress(cli_options *o, const char *value);
const char *value_where(cli_options *o, const char *value);
const char *value_meta(cli_options *o, const char *value);
const char *value_input_format(cli_options *o, const char *value);
const char *value_convert_format(cli_options *o, const char *value);

/* ---- --like ---- */

/* Returns an option that was given although --like determines its value, or NULL. */
const char *like_refused(const cli_options *o);
/* Returns the path of the model in a result folder. The argument may also be a model file. The
 * caller frees it. */
char *like_path(const char *result);
/* Reads the model of a result and uses its settings. Does nothing if `result` is NULL. */
bool like_open(session *s, const char *result, int *code);

/* The options of every verb that reads items. */
#define OPTION_META                                                                        \
    {                                                                                      \
        .name = "meta", .kind = OPTION_OTHER, .parse = value_meta, .argument = "TABLE",    \
        .help = "table with metadata columns (batch, age, ...), joined by its column id, " \
                "or by the columns of --id; can be given several times"                    \
    }
/* The column that identifies items in the tables of --meta, of verbs that read results. */
#define OPTION_META_ID                                                                          \
    {                                                                                           \
        .name = "id", .kind = OPTION_TEXT, .offset = offsetof(cli_options, read.id_columns),    \
        .argument = "COLUMN,...",                                                               \
        .help = "column that identifies the items in the table given with --meta (default: id)" \
    }
#define OPTION_FORCE                                           \
    {                                                          \
        .name = "force", .letter = 'f', .kind = OPTION_FLAG,   \
        .offset = offsetof(cli_options, force),                \
        .help = "overwrite existing files, but never an input" \
    }
/* Options of the verbs that test columns by permutations. */
#define OPTION_FACTOR                                                                   \
    {                                                                                   \
        .name = "factor", .kind = OPTION_TEXT, .offset = offsetof(cli_options, factor), \
        .argument = "COLUMN,...",                                                       \
        .help = "columns whose values are classes, even if they are numbers"            \
    }
#define OPTION_NUMERIC                                                                           \
    {                                                                                            \
        .name = "numeric", .kind = OPTION_TEXT, .offset = offsetof(cli_options, numeric),        \
        .argument = "COLUMN,...",                                                                \
        .help = "columns whose values are numbers (default: a column with at least 11 distinct " \
                "numbers, with fractions, or with more values than half the items)"              \
    }
#define OPTION_PERMUTATIONS                                                                      \
    {                                                                                            \
        .name = "permutations", .kind = OPTION_COUNT,                                            \
        .offset = offsetof(cli_options, permutations), .minimum = 1, .argument = "N",            \
        .help = "number of random permutations (default: 9999); if there are at most that many " \
                "distinct arrangements, all of them are used"                                    \
    }
#define OPTION_ENCODING                                                                         \
    {                                                                                           \
        .name = "encoding", .kind = OPTION_CHOICE, .offset = offsetof(cli_options, encoding),   \
        .choices = choices_encoding, .argument = "utf-8|latin1|cp1252",                         \
        .help = "encoding of all text files that are read: tables, labels, documents, vectors " \
                "(default: utf-8; invalid bytes are an error)"                                  \
    }
#define OPTION_PRIVATE                                                                          \
    {                                                                                           \
        .name = "private", .kind = OPTION_FLAG, .offset = offsetof(cli_options, private_),      \
        .help = "keep only ids (which may contain names of files and folders) and numbers: no " \
                "titles, words, class names, metadata columns or command-line paths"            \
    }

/* Parses the words after the verb. On failure, prints a message, sets the exit code *code and
 * returns false. */
bool options_parse(cli_options *o, const cli_verb *verb, int n_words, char **words, int *code);
/* Adds the argument of an option, such as the alternatives "w2, sinkhorn" or "FILE". Adds
 * nothing for a flag. */
void option_argument(text *t, const option_spec *option);
/* Adds the values that a shell can offer, separated by spaces: the lower-case alternatives of the
 * argument. */
void option_words(text *t, const option_spec *option);

void help_program(text *t);
void help_verb(text *t, const cli_verb *verb);
void help_paper(text *t);

/* Returns an option that was given and contradicts --paper although its value may be the default.
 * The library cannot detect these conflicts, because it does not know whether a value was given.
 * NULL: none. */
const char *paper_replaced_option(const cli_options *o);
void help_metrics(text *t);
void help_man(text *t);
bool completion_script(text *t, const char *shell);

#endif
