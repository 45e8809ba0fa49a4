/* cli: what the verbs share. A verb is a table entry (name, option groups, help) and a function;
 * main parses the command line into one cli_options, makes a session and calls the function. */
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
    EXIT_OUTPUT = 6, /* an output or resume folder cannot be written */
    EXIT_RANK = 7,   /* one of several ranks failed, or was lost */
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

/* Every option of every verb; a verb reads only those in its groups. */
enum { MAX_META = 16 };

typedef struct cli_options {
    /* input */
    ddsc_read_settings read;
    const char *meta[MAX_META]; /* tables about items */
    int n_meta;
    const char *truth, *block;
    int64_t phase, phases;    /* 0: all phases; as many as are found */
    int64_t subset_per_class; /* 0: all */
    int64_t compress;         /* 0: as they are */
    ddsc_transform_settings transform;
    int private_; /* names and titles stay behind */
    int precomputed, squared_input;
    int encoding;        /* ddsc_encoding */
    double read_timeout; /* seconds */
    /* method */
    int method;                    /* cli_method */
    ddsc_cluster_settings cluster; /* its metric and graph are the next two */
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
    int hubs;                      /* ddsc_hubs */
    int barycenter;                /* ddsc_barycenter_method of d2 */
    int vectors_from;              /* ddsc_vectors_rule */
    int64_t centre_size, restarts; /* 0: the defaults */
    bool k_given;
    int64_t stability;     /* resamples; 0: none */
    int outliers;          /* label -1 for items that lie apart */
    const char *reference; /* file of the LOT reference, or NULL */
    const char *cost_file; /* a matrix of costs, or NULL */
    /* output */
    const char *output;
    int format; /* ddsc_format */
    int force, json, condensed, squared;
    int pair;  /* explain: of two items */
    int plots; /* picture_format + 1, 0: none */
    /* run */
    int64_t seed, threads, memory;
    int quiet, verbose, progress;
    const char *resume; /* folder of a run that can be taken up again, or NULL */
    int dry_run;
    const char *device; /* or NULL: auto, the CPU in this version */
    /* text */
    ddsc_text_settings text;
    const char *vectors;
    /* generate */
    int64_t items, points, groups, dim;
    double separation;
    /* help */
    int help, man;

    char *command; /* quoted for a shell; with --private without paths and names */
    const char **operand;
    int n_operands;
    const struct option_spec **given; /* as they came */
    int n_given;
} cli_options;

/* What the operands of a verb are; for OPERAND_RESULT, the first one is the folder of a result. */
typedef enum operand_kind { OPERAND_INPUT = 0, OPERAND_RESULT, OPERAND_WORD } operand_kind;

typedef struct cli_verb cli_verb;
typedef struct session session;

struct cli_verb {
    const char *name;
    const char *operands; /* "INPUT... -k K [-o DIR]" */
    operand_kind operand_kind;
    int min_operands, max_operands; /* max -1: any number */
    const char *summary;            /* one line, no full stop */
    const char *description;
    const struct option_group *const *groups; /* NULL-terminated */
    const char *examples;                     /* lines "command\twhat it does" */
    int (*run)(session *s);
    bool hidden;
    bool shared; /* over several ranks: ddsc-mpi */
};

extern const cli_verb verb_cluster, verb_distance, verb_neighbors, verb_embed, verb_text,
    verb_convert, verb_generate, verb_score, verb_compare, verb_assign, verb_report, verb_info,
    verb_demo, verb_help, verb_completion, verb_explain, verb_name;
extern const cli_verb *const cli_verbs[]; /* NULL-terminated, in the order of the help */
const cli_verb *verb_find(const char *name);

void options_init(cli_options *o);
void options_free(cli_options *o);
bool option_given(const cli_options *o, const char *name);
bool verb_has_option(const cli_verb *verb, const char *name);

/* ---- several ranks that run one command together: ddsc-mpi ---- */

typedef struct cli_team cli_team;
struct cli_team {
    ddsc_team ranks;
    int threads; /* of this rank, where none are asked for */
    /* Each rank comes here once, with its exit code, and gets it back when it is everybody's. Else a
     * message has been shown and this does not return: all ranks end. */
    int (*meet)(const cli_team *team, int code);
};

/* The whole program; team NULL: one process. Ranks after the first show and write nothing. */
int cli_main(int argc, char **argv, const cli_team *team);

/* ---- session: one run of one verb ---- */

/* Which path a stage of the computation took, and why. */
typedef struct plan_line {
    char stage[32], path[64], why[192];
} plan_line;

/* The settings that the library is called with: those of the options, and what the verb and the files that were
 * read make of them. */
typedef struct cli_settings {
    ddsc_read_settings read;
    ddsc_transform_settings transform;
    ddsc_cluster_settings cluster; /* points at the next two */
    ddsc_metric_settings metric;
    ddsc_graph_settings graph;
} cli_settings;

struct session {
    const cli_verb *verb;
    const cli_team *team;  /* NULL: one process, or the first rank alone */
    const cli_options opt; /* as they were given */
    cli_settings set;
    int first_input; /* the operand that input begins with */
    bool overwrite;  /* --force, or files of the same run */
    ddsc_context *ctx;
    struct progress *progress;
    bool not_converged; /* a call said so: exit code 4 */
    plan_line plan[32];
    int n_plan;
};

double cli_now(void); /* seconds on a clock that never jumps */
bool session_open(session *s);
void session_close(session *s);
/* Computing is over and writing begins: the first rank goes on alone, the others leave (false). */
bool session_alone(session *s, int *code);
/* Remember a positive status, report a negative one. true: go on. */
bool session_ok(session *s, ddsc_status status, int *code);
/* The same, naming the file that a complaint about input is about. */
bool session_ok_in(session *s, const char *file, ddsc_status status, int *code);
/* The same for a call that writes: a refusal of the system is not the input's fault. */
int session_exit(const session *s);
bool session_interrupted(void);
/* That it was, and how to go on. */
void session_say_interrupted(const session *s);

/* With --resume, keep what is computed there; before the long part of a verb. */
bool session_resume(session *s, int *code);
/* The GPU that is here, or why there is none. */
typedef struct device_words {
    bool there;
    char about[200];
} device_words;
device_words device_look(void);
/* What --device asks for; before the long part of a verb. */
bool session_device(session *s, int *code);
/* Is there an unfinished run in the folder of --resume? */
bool session_resumes(const session *s);

/* ---- messages on stderr ---- */

/* From here on show nothing, or no errors; the first error is held. */
void message_hold(bool all);
/* Errors are shown again; first the one that was held. A rank that shows nothing goes on so. */
void message_release(void);
const char *message_held(void);
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_warning(const session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What is wrong with the pairs of a run, if anything. */
void message_pairs(const session *s, const ddsc_pair_stats *stats);
void message_path(const plan_line *line); /* with --verbose */
/* What to do next; broken into lines. */
void message_advice(const session *s, const char *words);
/* The same under another head, such as "stability: ". */
void message_note(const session *s, const char *head, const char *words);
/* A usage error of a verb, with the way to its help; returns EXIT_USAGE. */
int message_usage(const cli_verb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool message_colours(int descriptor);
/* The candidate nearest to `word`, or NULL when none is near. */
const char *suggest(const char *word, const char *const *candidates, size_t n);

/* Starts the program anew where the kernels of its matrix products are older than the processor. */
void choose_kernels(char **argv);

/* ---- input: read, label, cut down, merge: the same for all verbs ---- */

typedef struct cli_input {
    ddsc_context *ctx;
    ddsc_measures *measures;
    ddsc_measures_view view;
    /* Of the rank that reads, for the report: where labels came from ("the input", a file; NULL without
     * labels), what merging did. */
    const char *truth_name;
    ddsc_compress_report compress;
    bool compressed;
    ddsc_measures *reference; /* LOT reference, or NULL */
    double *cost;             /* matrix of costs, or NULL */
    double seconds;
} cli_input;

/* Of several ranks the first reads, and all have what it made. */
bool input_open(session *s, cli_input *in, int *code);
/* The columns of the tables of --meta, from the given one on; and --private, which leaves names behind. */
ddsc_status input_join_meta(session *s, ddsc_measures **measures, int first,
                            const char *id_columns);
ddsc_status input_keep_numbers(session *s, ddsc_measures **measures);
void input_close(cli_input *in);
/* Labels of a truth file, which must have n of them. free() it. */
bool input_truth(session *s, int32_t **truth, int64_t n, int *code);
/* Square matrix of --precomputed; ddsc_release it. */
bool input_matrix(session *s, double **matrix, int64_t *n, int *code);
/* Say which of the options given do nothing with this metric and method. */
void input_warn_unused(const session *s);

/* ---- output ---- */

/* Is there a place for the file, and is it free (or --force)? Before any long work. */
bool output_check_file(session *s, const char *path, int *code);
bool output_check_dir(session *s, const char *dir, const char *const *names, bool overwrite,
                      int *code);
/* True unless the output `path` is the same file as an input of the verb; a message says so. */
bool input_is_not(const session *s, const char *path, int *code);
/* The same for the files in the folder of --resume. */
bool input_is_not_resumed(const session *s, int *code);
bool output_make_dir(const char *dir, int *code);
bool output_make_parent(const char *path, int *code);
/* "dir/name"; free() it. */
char *output_path(const char *dir, const char *name);
/* path NULL or "-": standard output. */
bool output_text(session *s, const text *t, const char *path, bool overwrite, int *code);
bool output_is_stdout(const char *path);
/* ddsc_write_flags: --force overwrites. */
unsigned output_flags(const session *s);
/* ddsc_distance_flags of matrices that come and go. */
unsigned input_distance_flags(const session *s);
unsigned output_distance_flags(const session *s);
/* --format, else by the ending of -o, else npz. */
ddsc_format output_format(const session *s);
/* MatrixMarket over the input rows; view NULL: the graph's items are the rows. */
bool output_graph(session *s, const ddsc_graph *graph, const ddsc_measures_view *view,
                  const char *path, int *code);
/* Binary data does not go to a terminal: a usage error then. */
bool output_check_binary(const session *s, int *code);
/* The human summary: on stdout, or on stderr when data or --json has stdout; not with --quiet. */
void output_summary(const session *s, const text *t);
/* The same, the first bytes of it in bold on a terminal. */
void output_summary_bold(const session *s, const text *t, size_t n_bold);
/* "what: path" on standard output. */
void output_name(const char *what, const char *path);

/* ", 12 of them from DIR", when --resume brought any. */
void output_add_resumed(text *t, const session *s);

/* Item values to row values in place, dropped rows NaN. `block` has room for the rows. */
void output_spread_rows(double *block, int64_t n_columns, const ddsc_measures_view *view);
void output_spread_square(double *matrix, const ddsc_measures_view *view);
void output_spread_condensed(double *condensed, const ddsc_measures_view *view);
/* Labels by row, -1 for dropped items; free() it. */
int32_t *output_row_labels(const int32_t *labels, const ddsc_measures_view *view);

#endif
