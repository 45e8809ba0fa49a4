/* cli: declarations that all verbs share. A verb consists of a table entry (name, option groups,
 * help) and a function. main parses the command line into one cli_options, opens a session and
 * calls the function. */
#ifndef DDSC_CLI_H
#define DDSC_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddsc/ddsc.h"
#include "text.h"

enum {
    EXIT_GOOD = 0,
    EXIT_INTERNAL = 1,
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,
    EXIT_NOT_CONVERGED = 4,
    EXIT_MEMORY = 5,
    EXIT_OUTPUT = 6, /* an output or a resume folder cannot be written */
    EXIT_RANK = 7,   /* one of several ranks failed or was lost */
    EXIT_INTERRUPTED = 75
};

typedef enum cli_method {
    METHOD_DDSC = 0,
    METHOD_KMEANS,
    METHOD_SC,
    METHOD_D2,
    METHOD_PD2
} cli_method;
typedef enum cli_progress {
    PROGRESS_AUTO = 0,
    PROGRESS_BAR,
    PROGRESS_JSONL,
    PROGRESS_NONE
} cli_progress;

/* The options of all verbs. A verb reads only the options in its groups. */
enum { MAX_META = 16 };

typedef struct cli_options {
    /* input */
    ddsc_read_settings read;
    const char *meta[MAX_META]; /* metadata tables */
    int n_meta;
    const char *truth, *block;
    int64_t phase, phases;    /* 0: all phases; 0: inferred */
    int64_t subset_per_class; /* 0: all */
    /* 0: no compression; -1: use the smallest number of points that preserves the fraction
     * compress_keep of the neighbors */
    int64_t compress;
    double compress_keep;
    ddsc_transform_settings transform;
    int private_; /* omit names and titles */
    int precomputed, squared_input;
    int encoding;        /* ddsc_encoding */
    double read_timeout; /* seconds */
    /* method */
    int method;                    /* cli_method */
    ddsc_cluster_settings cluster; /* points to the next two fields */
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
    int hubs;                      /* ddsc_hubs */
    int refine;                    /* ddsc_refine */
    int membership;                /* write membership.csv */
    int barycenter;                /* ddsc_barycenter_method, for d2 */
    int vectors_from;              /* ddsc_vectors_rule */
    int64_t center_size, restarts; /* 0: the defaults */
    bool k_given;
    int64_t stability;     /* number of resamples, 0: none */
    int outliers;          /* label outliers -1 */
    const char *reference; /* file with the LOT reference, or NULL */
    const char *cost_file; /* file with a cost matrix, or NULL */
    int resolve;           /* update: choose settings again */
    const char *like;      /* folder of the result whose settings are used, or NULL */
    const char *remove;    /* update: file with ids, or NULL */
    /* output */
    const char *output;
    int format; /* ddsc_format */
    int force, json, condensed, squared;
    int pair; /* explain: compare two items */
    /* used by test and order: lists of columns separated by commas */
    const char *by, *adjust, *factor, *numeric, *distances, *start;
    int64_t permutations, n_states;
    int pairwise, separately;
    int plots;        /* picture_format + 1, or 0 for no pictures */
    const char *page; /* diff: a page to write, or NULL */
    const char *over; /* metadata column whose periods are compared, or NULL */
    /* run */
    int64_t seed, threads, memory;
    int quiet, verbose, progress;
    const char *resume; /* folder of a resumable run, or NULL */
    int dry_run;
    const char *device; /* NULL: auto */
    /* text */
    ddsc_text_settings text;
    const char *vectors;
    /* generate */
    int64_t items, points, generated_clusters, dim;
    double separation;
    /* help */
    int help, man;

    char *command; /* quoted for a shell; without paths and names if --private is given */
    const char **operand;
    int n_operands;
    const struct option_spec **given; /* in command-line order */
    int n_given;
} cli_options;

/* The kind of a verb's operands. With OPERAND_RESULT, the first operand is the folder of a result;
 * with OPERAND_RESULTS, all operands are result folders. */
typedef enum operand_kind {
    OPERAND_INPUT = 0,
    OPERAND_RESULT,
    OPERAND_RESULTS,
    OPERAND_WORD
} operand_kind;

typedef struct cli_verb cli_verb;
typedef struct session session;

struct cli_verb {
    const char *name;
    const char *operands; /* "INPUT... -k K [-o DIR]" */
    operand_kind operand_kind;
    int min_operands, max_operands; /* max -1: any number */
    const char *summary;            /* one line without a period */
    const char *description;
    const struct option_group *const *groups; /* NULL-terminated */
    const char *examples;                     /* lines "command\tdescription" */
    int (*run)(session *s);
    bool hidden;
    bool shared; /* true if the verb can run on several ranks (ddsc-mpi) */
};

extern const cli_verb verb_cluster, verb_distance, verb_neighbors, verb_embed, verb_text,
    verb_convert, verb_generate, verb_score, verb_compare, verb_assign, verb_report, verb_info,
    verb_demo, verb_update, verb_help, verb_completion, verb_explain, verb_name, verb_test,
    verb_order, verb_diff, verb_states;
/* All verbs in the order of the help, NULL-terminated. */
extern const cli_verb *const cli_verbs[];
const cli_verb *verb_find(const char *name);

void options_init(cli_options *o);
void options_free(cli_options *o);
bool option_given(const cli_options *o, const char *name);
bool verb_has_option(const cli_verb *verb, const char *name);

/* ---- several ranks that run one command together (ddsc-mpi) ---- */

typedef struct cli_team cli_team;
struct cli_team {
    ddsc_team ranks;
    int threads; /* default number of threads of this rank */
    /* Synchronizes the ranks. Every rank calls this function once with its exit code. If all codes
     * are equal, the function returns this code. Otherwise, it prints a message and all ranks
     * exit. */
    int (*meet)(const cli_team *team, int code);
};

/* Runs the whole program. `team` is NULL for a single process. Only the first rank prints messages
 * and writes files. */
int cli_main(int argc, char **argv, const cli_team *team);

/* ---- session: one run of one verb ---- */

/* The algorithm that a stage of the computation used, and the reason. */
typedef struct plan_line {
    char stage[32], path[64], why[192];
} plan_line;

/* The settings passed to the library: the options, adjusted by the verb and by the files that were
 * read. */
typedef struct cli_settings {
    ddsc_read_settings read;
    ddsc_transform_settings transform;
    ddsc_cluster_settings cluster; /* points to the next two fields */
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} cli_settings;

struct session {
    const cli_verb *verb;
    const cli_team *team;  /* NULL if there is one process, or if only the first rank continues */
    const cli_options opt; /* as given by the user */
    cli_settings set;
    int first_input; /* index of the first operand that is an input */
    bool overwrite;  /* --force was given, or the files are from the same run */
    ddsc_context *ctx;
    struct progress *progress;
    ddsc_model *like;   /* model of --like, or NULL */
    bool not_converged; /* a call did not converge, so the exit code will be 4 */
    plan_line plan[32];
    int n_plan;
};

double cli_now(void); /* seconds on a monotonic clock */
bool session_open(session *s);
void session_close(session *s);
/* Ends the section of a run that all ranks execute, before any output is written. Returns true
 * on the first rank, which continues alone, and false on the other ranks. */
bool session_alone(session *s, int *code);
/* Records a positive status, or reports a negative one. Returns true if the run can continue. */
bool session_ok(session *s, ddsc_status status, int *code);
/* Does the same as session_ok, but error messages name `file`. */
bool session_ok_in(session *s, const char *file, ddsc_status status, int *code);
/* Returns EXIT_NOT_CONVERGED if a call did not converge, and otherwise EXIT_GOOD. */
int session_exit(const session *s);
bool session_interrupted(void);
/* Creates a context for trial runs, without a team, progress or warnings. NULL on failure. */
ddsc_context *session_quiet_context(const session *s);
/* Reports that the run was interrupted, and how to resume it. */
void session_say_interrupted(const session *s);

/* If --resume is given, makes the context store computed pairs. Call this function before the main
 * computation of a verb. */
bool session_resume(session *s, int *code);
/* Describes the available GPU, or states why none is available. */
typedef struct device_words {
    bool there;
    char about[200];
} device_words;
device_words device_look(void);
/* Selects the device given with --device. Call this function before the main computation of a verb.
 * */
bool session_device(session *s, int *code);
/* Returns true if the folder of --resume contains an unfinished run. */
bool session_resumes(const session *s);

/* ---- messages on stderr ---- */

/* Suppresses all messages, or only defers errors. If several errors are deferred, only the first
 * is printed later. */
void message_hold(bool all);
/* Stops deferring errors and prints the deferred error, if any. Ranks that suppress all messages
 * continue to do so. */
void message_release(void);
const char *message_held(void);
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_warning(const session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Warns about pairs of a run that did not converge or were not certified. */
void message_pairs(const session *s, const ddsc_pair_stats *stats);
void message_path(const plan_line *line); /* shown with --verbose */
/* Prints advice about the next steps, wrapped into lines. */
void message_advice(const session *s, const char *words);
/* Like message_advice, but with another prefix, for example "stability: ". */
void message_note(const session *s, const char *head, const char *words);
/* Reports a usage error of a verb and refers to its help. Returns EXIT_USAGE. */
int message_usage(const cli_verb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool message_colors(int descriptor);
/* Returns the candidate closest to `word`, or NULL if none is close. */
const char *suggest(const char *word, const char *const *candidates, size_t n);

/* Restarts the program with better BLAS kernels if the selected ones are outdated for the
 * processor. */
void choose_kernels(char **argv);

/* ---- input: reads, labels, subsamples and compresses items; the same for all verbs ---- */

typedef struct cli_input {
    ddsc_context *ctx;
    ddsc_measures *measures;
    ddsc_measures_view view;
    /* Set only on the rank that reads the input; used in the report. truth_name is the source of
     * the labels: "the input", the name of a file, or NULL if there are no labels. */
    const char *truth_name;
    ddsc_compress_report merging; /* result of --compress */
    ddsc_measures *reference;     /* LOT reference, or NULL */
    double *cost;                 /* cost matrix, or NULL */
    double seconds;
} cli_input;

/* Reads the input. With several ranks, the first rank reads the input and sends the result to all
 * ranks. */
bool input_open(session *s, cli_input *in, int *code);
/* input_join_meta adds the columns of the --meta tables, beginning with table `first`.
 * input_keep_numbers implements --private and removes names. */
ddsc_status input_join_meta(session *s, ddsc_measures **measures, int first,
                            const char *id_columns);
ddsc_status input_keep_numbers(session *s, ddsc_measures **measures);
/* Implements --compress. Sets *copy to NULL if no points are merged. */
ddsc_status input_compress(session *s, ddsc_compress_report *m, ddsc_measures **copy,
                           const ddsc_measures *set);
void input_close(cli_input *in);
/* Reads the labels of a truth file, which must contain exactly n labels. The caller frees them
 * with free(). */
bool input_truth(session *s, int32_t **truth, int64_t n, int *code);
/* Reads the square matrix given with --precomputed. The caller frees it with ddsc_release. */
bool input_matrix(session *s, double **matrix, int64_t *n, int *code);
/* Warns about options that have no effect with this metric and method. */
void input_warn_unused(const session *s);

/* ---- output ---- */

/* Checks that the file can be written, and that it does not exist unless --force is given. Call
 * this function before the main computation. */
bool output_check_file(session *s, const char *path, int *code);
/* Checks that -o is given if it is required, that its file can be written, and that --json does not
 * use the same stream. */
bool output_check(session *s, bool required, int *code);
bool output_check_dir(session *s, const char *dir, const char *const *names, bool overwrite,
                      int *code);
/* Returns true unless the output `path` is the same file as an input of the verb, in which case it
 * prints an error. */
bool input_is_not(const session *s, const char *path, int *code);
/* Like input_is_not, for the files in the folder of --resume. */
bool input_is_not_resumed(const session *s, int *code);
bool output_make_dir(const char *dir, int *code);
bool output_make_parent(const char *path, int *code);
/* Returns "dir/name". The caller frees it with free(). */
char *output_path(const char *dir, const char *name);
/* Writes text to `path`, or to standard output if path is NULL or "-". */
bool output_text(session *s, const text *t, const char *path, bool overwrite, int *code);
/* Writes text to standard output and frees it. */
bool output_print(session *s, text *t, int *code);
bool output_is_stdout(const char *path);
/* Returns the ddsc_write_flags. With --force, the flags allow overwriting. */
unsigned output_flags(const session *s);
/* Return the ddsc_distance_flags of matrices that are read and written. */
unsigned input_distance_flags(const session *s);
unsigned output_distance_flags(const session *s);
/* Returns the format given with --format. If it is missing, returns the format implied by the file
 * name of -o, or npz. */
ddsc_format output_format(const session *s);
/* Writes the graph as MatrixMarket, with one row and column per input row. If `view` is NULL, every
 * item of the graph is a row. */
bool output_graph(session *s, const ddsc_graph *graph, const ddsc_measures_view *view,
                  const char *path, int *code);
/* Reports a usage error if binary data would be written to a terminal. */
bool output_check_binary(const session *s, int *code);
/* Prints the human-readable summary on stdout, or on stderr if stdout is used for data or --json.
 * Prints nothing if --quiet is given. */
void output_summary(const session *s, const text *t);
/* Like output_summary, with the first n_bold bytes in bold on a terminal. */
void output_summary_bold(const session *s, const text *t, size_t n_bold);
/* Prints "what: path" on standard output. */
void output_name(const char *what, const char *path);

/* Adds text such as ", 12 of them from DIR" if pairs were taken from the folder of --resume. */
void output_add_resumed(text *t, const session *s);

/* Expand values of items to values of rows, in place. Dropped rows become NaN. The buffer must
 * have space for all rows. */
void output_spread_rows(double *block, int64_t n_columns, const ddsc_measures_view *view);
void output_spread_square(double *matrix, const ddsc_measures_view *view);
void output_spread_condensed(double *condensed, const ddsc_measures_view *view);
/* Returns the labels by row, with -1 for dropped items. The caller frees them with free(). */
int32_t *output_row_labels(const int32_t *labels, const ddsc_measures_view *view);

#endif
