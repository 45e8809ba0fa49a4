/* ddsc: spectral clustering of discrete distributions.
 *
 * An item is a weighted point cloud. A set of items (ddsc_measures) is compared by a metric, turned
 * into the graph of the tau nearest neighbors of each item (ddsc_graph), and cut into K clusters by
 * the leading eigenvectors of its normalised affinity (ddsc_clustering). The usual program is
 *
 *     ddsc_context *ctx = NULL;
 *     ddsc_measures *data = NULL;
 *     ddsc_clustering *found = NULL;
 *     ddsc_cluster_settings set;
 *     ddsc_cluster_settings_init(&set);
 *     set.k_min = set.k_max = 5;
 *     ddsc_status status = ddsc_context_create(&ctx, NULL);
 *     if (status >= 0)
 *         status = ddsc_measures_read(ctx, &data, "clouds.npz", NULL);
 *     if (status >= 0)
 *         status = ddsc_cluster_run(ctx, &found, data, &set);
 *     if (status >= 0)
 *         printf("the first item is in cluster %d\n", ddsc_clustering_get_labels(found)[0]);
 *     else
 *         fprintf(stderr, "%s: %s\n", ddsc_status_name(status), ddsc_context_get_message(ctx));
 *     ddsc_clustering_destroy(found);
 *     ddsc_measures_destroy(data);
 *     ddsc_context_destroy(ctx);
 *
 * It is examples/cluster_file.c. This header is the manual; examples/ holds whole programs. Its subjects,
 * in this order: version
 * and status, context, teams, measures, files, text, metrics and distances, the neighbor graph,
 * clustering, new items, looking at a result, scores and theory, single transport problems,
 * barycenters, vectors, reports.
 *
 * Rules that hold everywhere:
 *  - Every call that can fail returns a ddsc_status: 0 good, negative an error (outputs are then
 *    NULL or untouched), positive information (outputs are valid, but marked). The text is in the
 *    context.
 *  - `create`, `read` and `run` make objects that the caller destroys; `destroy` takes NULL; `get`
 *    lends.
 *  - Arguments come in this order: context, outputs, inputs, settings.
 *  - Same input, seed and version give the same bytes for any number of threads.
 *  - The library never prints, exits, installs signal handlers or keeps global state. It forks only to read HDF5.
 *  - A context serves one thread at a time: use one context per thread. Objects do not change once
 *    they are made and may be shared by contexts, as long as the context that made them outlives
 *    them.
 *
 * Structs of the caller may grow in later versions:
 *  - Settings, problems and results (everything with a `struct_size`) are prepared by their `_init`
 *    macro, which records the size that the caller was compiled with and puts the default into
 *    every field. A program built against an older header works with a newer library: fields it
 *    does not know have their defaults, and the library writes nothing behind its struct. A newer
 *    program works with an older library as long as it leaves the fields alone that the library
 *    does not know; otherwise the call is refused. Settings may be NULL: the defaults.
 *  - Views are filled by their `_get_view` macro, which passes the size on in the same way; an
 *    older library leaves zeros in the fields it does not know.
 *  - Rows of a result (ddsc_k_row, ddsc_stability_row) are reached by pointers. ddsc_cloud,
 *    ddsc_detail, ddsc_k_candidate, ddsc_merge, ddsc_report_setting and ddsc_mark are elements of
 *    arrays and never change.
 *
 * Policy: all that is not marked DDSC_EXPERIMENTAL is stable from 0.2.0 on. Fields are only
 * appended, behind all that an older version of the struct had; none is moved, removed or given
 * another meaning, and enumerators keep their values (tests/abi checks it). A call that has to go is
 * announced one minor version ahead, and goes with another name of the shared library (SOVERSION).
 * What is marked may change in any minor version until its mark is taken away.
 */
#ifndef DDSC_DDSC_H
#define DDSC_DDSC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header, and of the whole project: the build takes it from here. */
#define DDSC_VERSION_MAJOR 0
#define DDSC_VERSION_MINOR 2
#define DDSC_VERSION_PATCH 0
/* 102 for 0.1.2: for #if. */
#define DDSC_VERSION_NUMBER \
    (DDSC_VERSION_MAJOR * 10000 + DDSC_VERSION_MINOR * 100 + DDSC_VERSION_PATCH)

#if defined(DDSC_BUILDING) && defined(__GNUC__)
#define DDSC_API __attribute__((visibility("default")))
#else
#define DDSC_API
#endif

/* Marks what is not yet stable. A program that defines DDSC_WARN_EXPERIMENTAL before it
 * includes this header is warned by the compiler where it uses such a call. */
#if defined(DDSC_WARN_EXPERIMENTAL) && defined(__GNUC__)
#define DDSC_EXPERIMENTAL __attribute__((deprecated("experimental: may change in any version")))
#else
#define DDSC_EXPERIMENTAL
#endif

/* ==== Version and status ==== */

/* Version of the library that runs, such as "0.2.0"; and a line that names the libraries it uses,
 * such as "openmp openblas zlib". */
DDSC_API const char *ddsc_version(void);
DDSC_API const char *ddsc_features(void);

typedef enum ddsc_status {
    DDSC_OK = 0,
    DDSC_NOT_CONVERGED = 1,   /* an iteration cap was met; results are valid but marked */
    DDSC_ERROR_ARGUMENT = -1, /* a wrong call: bad setting, NULL, index out of range */
    DDSC_ERROR_INPUT = -2,    /* bad data: the message names file, item, line or value */
    DDSC_ERROR_MEMORY = -3,   /* allocation failed, or over the context's memory limit */
    DDSC_ERROR_IO = -4,       /* an output cannot be written: full, no permission, no folder */
    DDSC_ERROR_EXISTS = -5,   /* the output file is there and overwriting was not asked for */
    DDSC_ERROR_CANCELED = -6, /* the cancel callback said stop */
    DDSC_ERROR_INTERNAL = -7, /* a broken invariant: please report it */
    DDSC_ERROR_CANCELLED = DDSC_ERROR_CANCELED /* deprecated spelling */
} ddsc_status;

/* A short name such as "bad input". Never NULL. */
DDSC_API const char *ddsc_status_name(ddsc_status status);

/* Text from files (ids, names of files) made fit for a terminal: control characters, marks that turn
 * the direction of writing and bytes that are no UTF-8 become escapes such as \x1b and \u202e; line ends
 * and tabs stay. Like snprintf: at most `size` bytes with the final NUL, and the length of the whole is
 * returned; 4 * n_bytes + 1 are always enough. What is written to path "-" while standard output is a
 * terminal is treated so. */
DDSC_EXPERIMENTAL DDSC_API size_t ddsc_text_visible(char *out, size_t size, const char *text,
                                                    size_t n_bytes);

/* ==== Context ==== */

typedef struct ddsc_context ddsc_context;

/* Callbacks run on the thread that made the call. */

/* `stage` names the work ("distances"); total may be 0 if unknown. */
typedef void (*ddsc_progress_fn)(void *user, const char *stage, int64_t done, int64_t total);
/* Non-zero stops the call with DDSC_ERROR_CANCELLED. */
typedef int (*ddsc_cancel_fn)(void *user);
/* Something worth a word that is no error: one sentence without a full stop or newline at its end,
 * valid during the call only. */
typedef void (*ddsc_warning_fn)(void *user, const char *text);

/* Encodings of text that is read. Text in UTF-8 is checked; a file that begins with the byte order mark of
 * UTF-8 is UTF-8 whatever is set here. What ddsc itself writes is always UTF-8. */
typedef enum ddsc_encoding {
    DDSC_ENCODING_UTF8 = 0,
    DDSC_ENCODING_LATIN1, /* ISO 8859-1 */
    DDSC_ENCODING_CP1252  /* Windows-1252 */
} ddsc_encoding;

typedef struct ddsc_context_settings {
    size_t struct_size;
    int threads;          /* 0: as many as the machine has */
    uint64_t seed;        /* 0 by default */
    int64_t memory_limit; /* bytes the library may hold at once; 0: no limit */
    void *(*allocate)(void *user, size_t size); /* all three or none; must be thread safe */
    void *(*reallocate)(void *user, void *block, size_t size);
    void (*release)(void *user, void *block);
    void *allocator_user;
    ddsc_progress_fn progress;
    void *progress_user;
    ddsc_cancel_fn cancel;
    void *cancel_user;
    ddsc_warning_fn warning; /* NULL: warnings are not told */
    void *warning_user;
    int whole_process; /* 1: seconds by stage begin with the process, as the stage `start` */
    /* HDF5 is read in a child process (fork), which ends with the call. Seconds without progress after
     * which the read fails; default 60, 0: no limit. Negative: read in this process, which a damaged file
     * can crash or block. */
    double read_timeout_s;
    ddsc_encoding encoding; /* of tables, documents and other text that is read; default UTF-8 */
} ddsc_context_settings;

#define ddsc_context_settings_init(settings) \
    ddsc_context_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_context_settings_init_sized(ddsc_context_settings *settings, size_t size);

DDSC_API ddsc_status ddsc_context_create(ddsc_context **context,
                                         const ddsc_context_settings *settings);
DDSC_API void ddsc_context_destroy(ddsc_context *context);
/* Text of the last error ("" when none); valid until the next call on this context. */
DDSC_API const char *ddsc_context_get_message(const ddsc_context *context);
DDSC_API int ddsc_context_get_threads(const ddsc_context *context);
/* Highest number of bytes held at once so far. */
DDSC_API int64_t ddsc_context_get_peak_memory(const ddsc_context *context);
/* Give back an array that a call made (those that say so). NULL is allowed. */
DDSC_API void ddsc_release(ddsc_context *context, void *block);

/* One figure about a run, such as how many pairs one of the lower bounds ruled out. Which figures
 * there are depends on the path that a run took; their names may change with any version. */
typedef struct ddsc_detail {
    const char *name;
    double value;
} ddsc_detail;

/* The figures that the last call on this context left; valid until the next one. */
DDSC_EXPERIMENTAL DDSC_API const ddsc_detail *ddsc_context_get_details(const ddsc_context *context,
                                                                       int64_t *n_details);
/* Which path a stage of the last call took and why, such as "search", "pruned", "lower bounds cost
 * less than solves": note `number`, from 0. Returns 0 when there is none. Any of the pointers may be
 * NULL; the texts are valid until the next call. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_context_get_note(const ddsc_context *context, int64_t number,
                                                     const char **stage, const char **path,
                                                     const char **why);

/* Runs that can be taken up again. From now on ddsc_distance_run, ddsc_neighbors_run and
 * ddsc_cluster_run keep the pairs they solve in `folder`, in checksummed files that are there whole
 * or not at all, and take from it what an earlier run of the same input, settings and version left.
 * The result is the same, bit for bit. The folder is made here if it is missing (its parent must be
 * there); one that cannot be written to is refused here, one of another input or other settings by
 * the run. `settings` (one line, or NULL) is what else must not change. folder NULL: keep nothing.
 */
DDSC_API ddsc_status ddsc_context_set_resume(ddsc_context *context, const char *folder,
                                             const char *settings);
/* Pairs taken from a folder since the last one was set. */
DDSC_API int64_t ddsc_context_get_resumed(const ddsc_context *context);

/* Where products of all pairs are made: "cpu" (as a context begins; NULL means it, too), "cuda" or
 * "cuda:1" (by the plug-in libddsc_cuda.so: beside the library, or in the folder that the environment
 * names as DDSC_PLUGIN_PATH), or "auto", which means the CPU in this version. "cuda" is
 * experimental and warns once: the plug-in has not been tested on a GPU since it was merged. The
 * metric has the last word on the processor, so a graph is the same bytes on every device. One that
 * is missing, has too little memory or fails is reported in one warning, and the processor does the
 * work. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_context_set_device(ddsc_context *context,
                                                               const char *device);
/* What has served since, such as "cuda:0"; "cpu" where no device did. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_context_get_device(const ddsc_context *context);
/* Is the device there? Returns 1 or 0; `text` (of `size` bytes, or NULL) says what it is, "NVIDIA H200,
 * 139 GiB free", or why it cannot be used. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_device_find(const char *device, char *text, size_t size);

/* ==== A team: several processes that make one run together ==== */

/* What a team hands to its own eigensolver: rows begin .. end of the symmetric operator (CSR; columns
 * count over all n rows, numbers are those of the whole matrix), and `known` orthonormal vectors of
 * eigenvalue 1 that are not asked for again. Eigenvalues lie in [-1, 1], but for those of rows that have one entry
 * alone, on the diagonal: items left out. Neighbours stand together within a rank's rows. */
typedef struct ddsc_team_eigen {
    size_t struct_size; /* of the library's struct: fields beyond it do not exist */
    int64_t n, begin, end;
    const int64_t *offset; /* end - begin + 1, from 0 */
    const int32_t *index;
    const double *value;
    /* The own rows times x, which has all n entries, by the library's threads; 0 is good. */
    int (*multiply)(void *multiply_user, const double *x, double *y);
    void *multiply_user;
    int64_t n_known;
    const double *known; /* (end - begin) x n_known, row-major */
    int64_t n_wanted;    /* the largest eigenvalues beside the known ones */
    double tolerance;    /* of |M v - lambda v| */
    int64_t max_products;
    double *lambda;     /* out: n_wanted, descending */
    double *vector;     /* out: (end - begin) x n_wanted, row-major */
    int64_t n_products; /* out */
    int verified;       /* out: a fresh look beside all that was found met nothing larger */
    /* Not 0: stop. To be asked now and then; where any rank is told so all of them return 0 with `stopped` set. */
    ddsc_cancel_fn cancel;
    void *cancel_user;
    int stopped; /* out */
    /* To be told now and then how many pairs have been found. */
    void (*progress)(void *progress_user, int64_t n_found);
    void *progress_user;
} ddsc_team_eigen;

/* The library prepares what it hands over; a program needs this to try its solver. */
#define ddsc_team_eigen_init(problem) ddsc_team_eigen_init_sized((problem), sizeof *(problem))
DDSC_EXPERIMENTAL DDSC_API void ddsc_team_eigen_init_sized(ddsc_team_eigen *problem, size_t size);

/* The calls by which the ranks of a team reach each other. Every rank has a context of its own and makes
 * the same library calls with the same input in the same order; pairs and bounds are divided, results
 * are the same on each. ddsc_measures_share, ddsc_matrix_read_shared and ddsc_model_read_shared read once
 * for all. All functions but `unshare` are collective and called by the thread that called the library;
 * each returns 0, or another number when the others can no longer be reached (DDSC_ERROR_INTERNAL).
 * A rank on which a call fails by itself (out of memory, cancelled, a file that cannot be read) returns
 * from it at once, and the others wait for it in their next collective function, for as long as those
 * functions do: the library tells nobody. It is the caller who ends the job then, as MPI_Abort does.
 * The struct is copied; `state` is the maker's. */
typedef struct ddsc_team {
    size_t struct_size;
    int rank, size;
    void *state;
    /* To rank r the next send_bytes[r] bytes of `send`; from rank r receive_bytes[r], one after the other. */
    int (*exchange)(void *state, const void *send, const int64_t *send_bytes, void *receive,
                    const int64_t *receive_bytes);
    /* `data` holds bytes[0] of rank 0, then bytes[1] of rank 1, ...: each has its own part, then all. */
    int (*gather)(void *state, void *data, const int64_t *bytes);
    /* The sum of the values of lower ranks (0 on rank 0). */
    int (*scan)(void *state, int64_t *value);
    /* Each of n values becomes the largest of any rank. */
    int (*agree)(void *state, double *value, int64_t n);
    /* One block of memory for all ranks of a machine, zeroed; `first` is 1 on the rank that is to fill it, the
     * lowest of the machine, after which all call `ready`. `unshare` waits for nobody: a block is there for
     * those that still have it. NULL, or not 0 on all ranks alike: each takes memory of its own. */
    int (*share)(void *state, void **block, int64_t bytes, int *first);
    int (*ready)(void *state);
    void (*unshare)(void *state, void *block);
    /* Eigenpairs by a solver that works over ranks; NULL: each rank runs the library's own. Returns as
     * the others do; what did not converge is told by `verified`. */
    int (*eigen)(void *state, ddsc_team_eigen *problem);
} ddsc_team;

#define ddsc_team_init(team) ddsc_team_init_sized((team), sizeof *(team))
DDSC_EXPERIMENTAL DDSC_API void ddsc_team_init_sized(ddsc_team *team, size_t size);
/* team NULL: one rank, as a context begins. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_context_set_team(ddsc_context *context,
                                                             const ddsc_team *team);

/* ==== Measures: a set of items ==== */

/* N items over one support table in CSR form: item i has the points support[index[p]] with weights
 * weight[p], p in [offset[i], offset[i+1]). Weights sum to 1, zero weights are gone, points equal
 * in every coordinate are one row of the table. */
typedef struct ddsc_measures ddsc_measures;

/* Items without mass: refuse the set, or leave them out (they keep their input row). */
typedef enum ddsc_on_empty { DDSC_EMPTY_ERROR = 0, DDSC_EMPTY_DROP = 1 } ddsc_on_empty;

/* Each item with points of its own: item i owns rows offsets[i] .. offsets[i+1] of points
 * (row-major, offsets[n] x dim). weights NULL: uniform. */
DDSC_API ddsc_status ddsc_measures_create_clouds(ddsc_context *context, ddsc_measures **measures,
                                                 int64_t n_items, int64_t dim, const double *points,
                                                 const double *weights, const int64_t *offsets,
                                                 ddsc_on_empty on_empty);

/* One item where it lies in memory. */
typedef struct ddsc_cloud {
    int64_t n;
    const void *points;    /* n x dim, row-major: double, or float with is_float */
    const double *weights; /* n, or NULL: uniform */
    int is_float;
} ddsc_cloud;

/* The same from one array per item, which are copied once. */
DDSC_API ddsc_status ddsc_measures_create_items(ddsc_context *context, ddsc_measures **measures,
                                                int64_t n_items, int64_t dim,
                                                const ddsc_cloud *items, ddsc_on_empty on_empty);

/* Items over a shared support, in CSR form: entries offsets[i] .. offsets[i+1] are item i. */
typedef struct ddsc_shared_items {
    size_t struct_size;
    int64_t n_items, n_support, dim;
    const double *support;  /* n_support x dim */
    const int64_t *offsets; /* n_items + 1 */
    const int32_t *indices; /* rows of support */
    const double *weights;
} ddsc_shared_items;

#define ddsc_shared_items_init(items) ddsc_shared_items_init_sized((items), sizeof *(items))
DDSC_API void ddsc_shared_items_init_sized(ddsc_shared_items *items, size_t size);
DDSC_API ddsc_status ddsc_measures_create_shared(ddsc_context *context, ddsc_measures **measures,
                                                 const ddsc_shared_items *items,
                                                 ddsc_on_empty on_empty);
/* Dense histograms (n_items x n_support, row-major) over a shared support. */
DDSC_API ddsc_status ddsc_measures_create_dense(ddsc_context *context, ddsc_measures **measures,
                                                int64_t n_items, int64_t n_support, int64_t dim,
                                                const double *support, const double *histograms,
                                                ddsc_on_empty on_empty);
/* Synthetic data. Shapes: n squares and n circles (classes 0 and 1) of n_points points each around
 * one center, sizes growing in small steps, as in the paper's section 5.1. Gaussians: k groups of n
 * clouds of n_points points, centers `separation` standard deviations apart, in dim dimensions. */
DDSC_API ddsc_status ddsc_measures_generate_shapes(ddsc_context *context, ddsc_measures **measures,
                                                   int64_t n_per_shape, int64_t n_points);
DDSC_API ddsc_status ddsc_measures_generate_gaussians(ddsc_context *context,
                                                      ddsc_measures **measures, int64_t k,
                                                      int64_t n_per_group, int64_t n_points,
                                                      int64_t dim, double separation);
DDSC_API void ddsc_measures_destroy(ddsc_measures *measures);

/* Valid as long as the measures. row[i] is the input row of item i (it differs from i only where
 * empty items were dropped); ids and labels are by input row. */
typedef struct ddsc_measures_view {
    int64_t n_items, n_rows, n_support, n_entries, dim;
    const double *support;
    const int64_t *offset;
    const int32_t *index;
    const double *weight;
    const int64_t *row;
    const int32_t *label;  /* n_rows class numbers, or NULL */
    int64_t n_label_names; /* 0: labels are plain numbers */
    int is_grid;           /* the support lies on a regular grid */
    int64_t grid_shape[3]; /* cells along each axis, when is_grid */
    double grid_origin[3], grid_step[3];
    int64_t n_zero_dropped, n_merged; /* zero weights left out; entries merged into equal points */
    int64_t n_words; /* documents: words whose vectors were fitted to the set; else 0 */
} ddsc_measures_view;

#define ddsc_measures_get_view(measures, view) \
    ddsc_measures_get_view_sized((measures), (view), sizeof *(view))
DDSC_API void ddsc_measures_get_view_sized(const ddsc_measures *measures, ddsc_measures_view *view,
                                           size_t size);
/* Id of an input row; numbers from 0 when the input has none. */
DDSC_API const char *ddsc_measures_get_id(const ddsc_measures *measures, int64_t row);
/* Name of a class number, or NULL when labels are plain numbers. */
DDSC_API const char *ddsc_measures_get_label_name(const ddsc_measures *measures, int32_t label);
enum { DDSC_TITLE_MAX = 160 }; /* characters that readers keep of a title */

/* Names of a coordinate (marker, column), of a support row (word), title of an input row; NULL where
 * the set has none. An empty text is a name that is missing among others. */
DDSC_EXPERIMENTAL DDSC_API const char *
ddsc_measures_get_coordinate_name(const ddsc_measures *measures, int64_t coordinate);
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_point_name(const ddsc_measures *measures,
                                                                    int64_t point);
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_title(const ddsc_measures *measures,
                                                               int64_t row);

/* A copy with these labels (n_rows of them; NULL removes them). */
DDSC_API ddsc_status ddsc_measures_copy_labelled(ddsc_context *context, ddsc_measures **copy,
                                                 const ddsc_measures *measures,
                                                 const int32_t *labels);
#define ddsc_measures_copy_labeled ddsc_measures_copy_labelled
/* A copy with these ids (n_rows texts). */
DDSC_API ddsc_status ddsc_measures_copy_named(ddsc_context *context, ddsc_measures **copy,
                                              const ddsc_measures *measures,
                                              const char *const *ids);
/* Columns about items: the name of one, NULL behind the last; the value of an input row, "" where it
 * has none. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_meta_name(const ddsc_measures *measures,
                                                                   int64_t column);
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_meta(const ddsc_measures *measures,
                                                              int64_t row, int64_t column);
/* A copy with these columns about items instead: n_columns names, and n_rows x n_columns values. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status
ddsc_measures_copy_about(ddsc_context *context, ddsc_measures **copy, const ddsc_measures *measures,
                         int64_t n_columns, const char *const *names, const char *const *values);
/* A copy with the columns of a table behind those it has, joined by its column id, or by those of id_columns
 * (NULL: id); of equal names is refused. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_read_meta(ddsc_context *context,
                                                               ddsc_measures **copy,
                                                               const ddsc_measures *measures,
                                                               const char *path,
                                                               const char *id_columns);
/* A copy with ids, labels and numbers alone: no titles, names of points and classes, columns about
 * items, words. Names of coordinates stay. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_copy_private(ddsc_context *context,
                                                                  ddsc_measures **copy,
                                                                  const ddsc_measures *measures);
/* A copy with these names of coordinates (dim texts), support points (n_support, in the order of the
 * view) and titles (n_rows); NULL keeps those it has. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_copy_described(
    ddsc_context *context, ddsc_measures **copy, const ddsc_measures *measures,
    const char *const *coordinates, const char *const *points, const char *const *titles);
/* A copy of the listed items, in that order. */
DDSC_API ddsc_status ddsc_measures_copy_subset(ddsc_context *context, ddsc_measures **copy,
                                               const ddsc_measures *measures, int64_t n_items,
                                               const int64_t *items);
/* A balanced random subset: per_class items of every class (needs labels), in input order. */
DDSC_API ddsc_status ddsc_measures_copy_balanced(ddsc_context *context, ddsc_measures **copy,
                                                 const ddsc_measures *measures, int64_t per_class);
/* A copy in which item i is n_i draws with replacement from its n_i points, each by its weight: the
 * bootstrap of its sample. Weights are counts / n_i. `round` (0 .. 2^31 - 1) and the context's seed
 * tell draws apart. */
DDSC_API ddsc_status ddsc_measures_copy_resampled(ddsc_context *context, ddsc_measures **copy,
                                                  const ddsc_measures *measures, int64_t round);

typedef struct ddsc_compress_report {
    size_t struct_size;
    int64_t n_before, n_after; /* support points over all items */
    double mean_w2, max_w2;    /* exact W2 between an item and its merged form is at most this */
} ddsc_compress_report;

#define ddsc_compress_report_init(report) \
    ddsc_compress_report_init_sized((report), sizeof *(report))
DDSC_API void ddsc_compress_report_init_sized(ddsc_compress_report *report, size_t size);
/* A copy whose items have at most m points: again and again the pair of least
 * a_i a_j / (a_i + a_j) |x_i - x_j|^2 becomes its weighted mean (Ward's rule). report may be NULL.
 */
DDSC_API ddsc_status ddsc_measures_compress(ddsc_context *context, ddsc_measures **merged,
                                            ddsc_compress_report *report,
                                            const ddsc_measures *measures, int64_t m);

/* ==== Transforms ==== */

typedef enum ddsc_normalize {
    DDSC_NORMALIZE_NONE = 0,
    DDSC_NORMALIZE_STANDARD, /* mean 0, variance 1 */
    DDSC_NORMALIZE_ROBUST,   /* median 0, quartiles one apart */
    DDSC_NORMALIZE_RANK,     /* 0 .. 1 by rank */
    /* deprecated spellings */
    DDSC_NORMALISE_NONE = DDSC_NORMALIZE_NONE,
    DDSC_NORMALISE_STANDARD = DDSC_NORMALIZE_STANDARD,
    DDSC_NORMALISE_ROBUST = DDSC_NORMALIZE_ROBUST,
    DDSC_NORMALISE_RANK = DDSC_NORMALIZE_RANK
} ddsc_normalize;
typedef ddsc_normalize ddsc_normalise; /* deprecated spelling */

/* What is taken out of each item alone. */
typedef enum ddsc_align {
    DDSC_ALIGN_NONE = 0,
    DDSC_ALIGN_CENTER, /* its place: mean 0 */
    DDSC_ALIGN_SIZE,   /* and its size: mean squared distance from the mean 1 */
    DDSC_ALIGN_DESKEW, /* two coordinates (row, column): place and slant, no covariance is left */
    DDSC_ALIGN_PRINCIPAL,                 /* place and turning: along its principal axes */
    DDSC_ALIGN_CENTRE = DDSC_ALIGN_CENTER /* deprecated spelling */
} ddsc_align;

typedef struct ddsc_transform_settings {
    size_t struct_size;
    /* "5": x -> arcsinh(x / 5); "CD*=5,p*=1": of coordinates by name (* and ? stand for any
     * characters), the others stay as they are; NULL: none */
    const char *arcsinh;
    int log1p; /* not 0: x -> ln(1 + x) */
    union {
        ddsc_normalize normalize;
        ddsc_normalize normalise; /* deprecated spelling */
    };
    int64_t pca;      /* principal components to keep; 0: all coordinates as they are */
    int64_t per_item; /* points drawn from each item that has more; 0: all */
    ddsc_align align;
    /* "262144": the logicle scale with T = 262144; "T:W:M:A", "NAME=T:W:M:A,..." as in arcsinh. W
     * left out (or empty) is fitted to the negative values, M is 4.5 and A is 0; NULL: none */
    const char *logicle;
    /* A column about items (of meta_path, or in item_columns): each coordinate's distribution in a batch
     * is mapped onto that of all items, quantile by quantile; NULL: none */
    const char *batch;
} ddsc_transform_settings;

#define ddsc_transform_settings_init(settings) \
    ddsc_transform_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_transform_settings_init_sized(ddsc_transform_settings *settings, size_t size);

/* The set after points were drawn, then arcsinh, logicle, log1p, batch, normalise, pca and align. What was fitted
 * to it stays with it, in npz files and models: ddsc_assign does the same to items that come as they
 * are. Coordinates are normalised over all items together, each of which counts alike. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status
ddsc_measures_transform(ddsc_context *context, ddsc_measures **transformed,
                        const ddsc_measures *measures, const ddsc_transform_settings *settings);
/* What a set has gone through, in order ("arcsinh", "standard", "align deskew", ...); NULL behind the
 * last. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_transform(const ddsc_measures *measures,
                                                                   int64_t step);

/* The column whose batches were mapped onto each other (k = 0), then their names; NULL behind the last, and where
 * there are none. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_batch(const ddsc_measures *measures,
                                                               int64_t k);

/* ==== Files ==== */

typedef enum ddsc_format {
    DDSC_FORMAT_AUTO = 0, /* reading: by content; writing: by the file name's ending */
    DDSC_FORMAT_NPZ,
    DDSC_FORMAT_NPY,
    DDSC_FORMAT_CSV, /* comma, tab, semicolon or |, found by content */
    DDSC_FORMAT_TSV,
    DDSC_FORMAT_IDX,
    DDSC_FORMAT_D2,
    DDSC_FORMAT_FCS,
    DDSC_FORMAT_MTX,
    DDSC_FORMAT_IMAGE, /* png, jpeg, pgm, ppm */
    DDSC_FORMAT_CLOUD, /* ply, off, pcd, rows of bare numbers */
    DDSC_FORMAT_HDF5   /* AnnData's h5ad, or plain tables */
} ddsc_format;

/* What an image is a distribution over. */
typedef enum ddsc_image_as {
    DDSC_IMAGE_PIXELS = 0,                 /* its pixels, mass is brightness */
    DDSC_IMAGE_INK,                        /* its pixels, mass is darkness: for ink on paper */
    DDSC_IMAGE_COLORS,                     /* 512 colors, mass is area */
    DDSC_IMAGE_COLOURS = DDSC_IMAGE_COLORS /* deprecated spelling */
} ddsc_image_as;

/* Flags of every call that writes a file. Files appear whole or not at all. */
typedef enum ddsc_write_flags {
    DDSC_WRITE_OVERWRITE = 1 /* replace a file that is there */
} ddsc_write_flags;

typedef struct ddsc_read_settings {
    size_t struct_size;
    ddsc_on_empty on_empty;
    int phase;               /* .d2: which phase, from 1; 0: all phases joined */
    const char *labels_path; /* labels of an idx or other file: idx, csv or npy; NULL: none */
    const char *channels;    /* fcs: comma-separated names or 1-based numbers; NULL: all */
    double arcsinh;          /* fcs, csv: x -> arcsinh(x / arcsinh); 0: raw values */
    int64_t max_bytes;       /* uncompressed size one file may reach; default 64 GiB */
    int phases;              /* .d2: phases of one object (the file does not say); 0: found out */
    /* csv and tsv by the names in the header, HDF5 by those of columns in obs; lists are separated by
     * commas, * and ? stand for any characters. `columns` and `drop` are for fcs and clouds too. */
    const char *id_columns;    /* what names an item, joined by "/"; NULL: `id` */
    const char *weight_column; /* NULL: `weight` if there is one */
    const char *label_column;  /* NULL: `label` if there is one */
    const char *where;         /* "COLUMN=VALUE": only rows that match; NULL: all */
    const char *columns;       /* the coordinates; NULL: all columns of numbers */
    const char *drop;          /* columns that are none; NULL: none */
    const char *meta_path;     /* table of columns about items, joined by id; NULL: none */
    ddsc_image_as image_as;    /* images: what they become; default pixels */
    const char *matrix;        /* HDF5: the table of points; NULL: `X`, else `points` */
    /* columns about items, kept as those of meta_path are; all rows of an item have one value, columns
     * that are not there are passed over; NULL: none */
    const char *item_columns;
    /* DDSC_FORMAT_AUTO (default): by content, but HDF5 only where the name ends in .h5ad, .h5 or .hdf5.
     * DDSC_FORMAT_HDF5: HDF5 under any name, and from standard input. */
    ddsc_format format;
} ddsc_read_settings;

#define ddsc_read_settings_init(settings) \
    ddsc_read_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_read_settings_init_sized(ddsc_read_settings *settings, size_t size);

/* Any format of docs/formats.md, gzip or not; path "-" is standard input. A folder stands for its
 * files, also those one folder down, whose name is then their class. */
DDSC_API ddsc_status ddsc_measures_read(ddsc_context *context, ddsc_measures **measures,
                                        const char *path, const ddsc_read_settings *settings);
/* Several files or folders: the items of all files one after the other. An item that is a file of its
 * own (fcs, images, clouds; of several files npy) has its name as id. */
DDSC_API ddsc_status ddsc_measures_read_files(ddsc_context *context, ddsc_measures **measures,
                                              int64_t n_paths, const char *const *paths,
                                              const ddsc_read_settings *settings);
/* One set for all ranks of a team, read once. `read` is called on the first rank alone and makes the set by
 * calls on its context, which has no team meanwhile: files, subsets, transforms. All ranks then have that
 * set, in memory that those of a machine share, or else the status and message of the first. Such a set is
 * destroyed before the team is. Without a team *measures is what `read` made. */
typedef ddsc_status (*ddsc_measures_fn)(void *user, ddsc_context *context,
                                        ddsc_measures **measures);
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_share(ddsc_context *context,
                                                           ddsc_measures **measures,
                                                           ddsc_measures_fn read, void *user);
/* npz, csv or tsv (also .gz), d2. flags: ddsc_write_flags. */
DDSC_API ddsc_status ddsc_measures_write(ddsc_context *context, const ddsc_measures *measures,
                                         const char *path, ddsc_format format, unsigned flags);

/* A square matrix from npy (f4 or f8), MatrixMarket or a table of text (with or without names above and
 * before the numbers); missing entries of a sparse file are NaN.
 * Release it with ddsc_release. */
DDSC_API ddsc_status ddsc_matrix_read(ddsc_context *context, double **matrix, int64_t *n,
                                      const char *path);
/* The same for all ranks of a team: the first reads, as in ddsc_measures_share. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_matrix_read_shared(ddsc_context *context,
                                                               double **matrix, int64_t *n,
                                                               const char *path);
/* Any two-dimensional npy array of numbers. Release it with ddsc_release. */
DDSC_API ddsc_status ddsc_rows_read(ddsc_context *context, double **rows, int64_t *n_rows,
                                    int64_t *n_columns, const char *path);
/* n_rows x n_columns doubles as npy. n_columns 0: a one-dimensional array of n_rows. */
DDSC_API ddsc_status ddsc_matrix_write(ddsc_context *context, const double *matrix, int64_t n_rows,
                                       int64_t n_columns, const char *path, unsigned flags);
/* Labels: one integer or name per row. Accepts csv with a header (the column `label`, else the
 * last), one value per line, npy of integers, idx labels, or an npz that holds labels. Names become
 * class numbers in order of appearance. Release them with ddsc_release. */
DDSC_API ddsc_status ddsc_labels_read(ddsc_context *context, int32_t **labels, int64_t *n,
                                      const char *path);
/* How two lists of labels were put beside each other. */
typedef enum ddsc_join {
    DDSC_JOIN_ORDER = 0, /* row by row: one side has no ids */
    DDSC_JOIN_ID
} ddsc_join;

/* Labels for the rows of `measures` (n_rows of them), matched by id where the file has ids (a column
 * or an array `id`, `ids`); a row without a label and a label without a row are refused by name. A
 * file without ids must have one label per row; items that are only numbered take the numbers as
 * ids, or else the file's order. how may be NULL. Release the labels with ddsc_release. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_labels_read_for(ddsc_context *context, int32_t **labels,
                                                            ddsc_join *how,
                                                            const ddsc_measures *measures,
                                                            const char *path);
/* Two files of labels for the same rows, in the order of the first; matched as above. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_labels_read_both(ddsc_context *context,
                                                             int32_t **labels, int32_t **others,
                                                             int64_t *n, ddsc_join *how,
                                                             const char *path,
                                                             const char *others_path);
/* Header `id,label`; ids taken from measures, or numbers when NULL. */
DDSC_API ddsc_status ddsc_labels_write(ddsc_context *context, const int32_t *labels, int64_t n,
                                       const ddsc_measures *measures, const char *path,
                                       unsigned flags);
/* Bytes to a file. */
DDSC_API ddsc_status ddsc_file_write(ddsc_context *context, const char *path, const void *bytes,
                                     size_t n_bytes, unsigned flags);
/* Checks, before long work, that a file can be written to path: creates a temporary file in its folder
 * and removes it. flags: ddsc_write_flags. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_file_check(ddsc_context *context, const char *path,
                                                       unsigned flags);

/* ==== Text ==== */

typedef enum ddsc_tokens {
    DDSC_TOKENS_PUNCTUATION = 0, /* ASCII punctuation but ' is a blank; words are between blanks */
    DDSC_TOKENS_LETTERS          /* words are runs of two or more letters */
} ddsc_tokens;

typedef enum ddsc_weighting {
    DDSC_WEIGHTING_TFIDF = 0, /* count of the word in the document times its idf */
    DDSC_WEIGHTING_TF         /* the count alone */
} ddsc_weighting;

/* N documents, df of them with the word. */
typedef enum ddsc_idf {
    DDSC_IDF_PLAIN = 0, /* log2(N / df): 0 for a word that every document has */
    DDSC_IDF_SMOOTH     /* ln((1 + N) / (1 + df)) + 1 */
} ddsc_idf;

/* Where the vectors of words come from. */
typedef enum ddsc_words {
    DDSC_WORDS_FITTED = 0, /* those of the file, fitted to the documents; without a file as OWN */
    DDSC_WORDS_GENERAL,    /* those of the file as they are; words without one are left out */
    DDSC_WORDS_OWN         /* learnt from the documents alone: a file is refused */
} ddsc_words;

typedef struct ddsc_text_settings {
    size_t struct_size;
    const char *text_columns;   /* comma-separated; NULL: `text`, else `abstract`, else `title` and
                                   `body`, else `body` */
    const char *label_column;   /* NULL: `label` if there is one */
    const char *id_columns;     /* comma-separated, joined by "/"; NULL: `id` if there is one */
    const char *where;          /* "COLUMN=VALUE": only rows that match; NULL: all */
    const char *stopwords_path; /* words left out, separated by white space; NULL: none */
    const char *lemmas_path;    /* folder with WordNet's noun.exc and index.noun: plurals become
                                   singular; NULL: words stay as they are */
    ddsc_tokens tokens;
    ddsc_weighting weighting;
    ddsc_idf idf;
    int64_t support;        /* merge each document to at most so many points; 16; 0: all words */
    ddsc_on_empty on_empty; /* documents without a word that has a vector and a weight: dropped */
    int64_t max_bytes;      /* uncompressed size one file may reach; default 64 GiB */
    ddsc_words words;       /* fitted by default */
} ddsc_text_settings;

#define ddsc_text_settings_init(settings) \
    ddsc_text_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_text_settings_init_sized(ddsc_text_settings *settings, size_t size);

enum { DDSC_TEXT_NAMED = 10 };

/* Words and tokens are counted after stop words are gone. */
typedef struct ddsc_text_report {
    size_t struct_size;
    int64_t n_rows;      /* of the file */
    int64_t n_documents; /* those that `where` lets through: the N of idf */
    int64_t n_empty;
    int64_t empty_row[DDSC_TEXT_NAMED], empty_line[DDSC_TEXT_NAMED]; /* the first of them */
    int64_t n_tokens, n_tokens_covered; /* covered: with a vector in the file */
    int64_t n_words, n_words_covered;
    int64_t n_vectors;           /* lines of the vectors file */
    int64_t n_duplicate_vectors; /* vectors of words met that had one already; the first counts */
    char text_columns[256], label_column[256], id_columns[256]; /* those used, "" when none */
    /* What `support` did, as in ddsc_compress_report; zero when it was 0. */
    int64_t n_points_before, n_points_after;
    double mean_w2, max_w2;
    /* What `words` did. */
    int64_t n_words_used, n_tokens_used; /* with a vector in the end */
    int64_t n_words_placed;              /* without a vector in the file: placed by their company */
    int64_t n_words_own, own_dim;        /* vectors learnt from the documents, 0: none */
    int64_t n_words_given;               /* words of an npz whose fit was used as it is, else 0 */
    char missing_words[512]; /* those without a vector that occur most often: "word (times), ..." */
} ddsc_text_report;

#define ddsc_text_report_init(report) ddsc_text_report_init_sized((report), sizeof *(report))
DDSC_API void ddsc_text_report_init_sized(ddsc_text_report *report, size_t size);

/* Documents and word vectors to measures: item i is document i, a point is a word vector. Documents
 * are a table with a header, one document per row (tabs, where quotes are data, or comma, semicolon or
 * | with quotes as in RFC 4180), lines of JSON objects, or a folder of .txt files (the name is the id,
 * that of a folder in it the class). Vectors are GloVe, word2vec or fastText text, word2vec binary, or
 * an npy matrix with its words beside it, one a line, in a file whose name ends in .vocab or .txt
 * instead. Any file may be gzip; "-" is standard input. report may be NULL.
 *
 * Vectors fitted to the documents stay with the measures (n_words of the view), in npz files and in
 * models. Such an npz as vectors_path encodes further documents alike: same vectors, same idf, same
 * tokens, weighting and idf settings. vectors_path NULL: the documents' own vectors. */
DDSC_API ddsc_status ddsc_text_read(ddsc_context *context, ddsc_measures **measures,
                                    ddsc_text_report *report, const char *documents_path,
                                    const char *vectors_path, const ddsc_text_settings *settings);
/* The same from several files of plain text, one document each, and folders of them; a single path
 * as above. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_text_read_files(
    ddsc_context *context, ddsc_measures **measures, ddsc_text_report *report, int64_t n_paths,
    const char *const *paths, const char *vectors_path, const ddsc_text_settings *settings);

/* ==== Metrics and distances ==== */

typedef enum ddsc_metric {
    DDSC_METRIC_W2 = 0,   /* exact 2-Wasserstein: D^2 = min <P, C>, C squared Euclidean */
    DDSC_METRIC_SINKHORN, /* entropic transport */
    DDSC_METRIC_MMD,      /* maximum mean discrepancy */
    DDSC_METRIC_LOT,      /* linear optimal transport: Euclidean after one transport per item */
    DDSC_METRIC_W1 /* exact 1-Wasserstein: D = min <P, C>, C Euclidean (word mover's distance) */
} ddsc_metric;

/* What it costs to move a unit of mass from a point to another. w2 takes sqeuclidean, cosine and matrix; w1
 * euclidean, cityblock and matrix; sinkhorn all of them; lot sqeuclidean and cosine; mmd the default alone. */
typedef enum ddsc_cost {
    DDSC_COST_DEFAULT = 0, /* euclidean for w1, sqeuclidean for the others */
    DDSC_COST_SQEUCLIDEAN, /* |x - y|^2 */
    DDSC_COST_EUCLIDEAN,   /* |x - y| */
    DDSC_COST_COSINE,      /* |x/|x| - y/|y||^2 = 2 - 2 cos(x, y) */
    DDSC_COST_CITYBLOCK,   /* sum of |x_k - y_k| */
    DDSC_COST_MATRIX       /* cost_matrix[x][y]: the one coordinate of a point is its row */
} ddsc_cost;

typedef enum ddsc_sinkhorn_value {
    DDSC_SINKHORN_REGULARIZED = 0, /* min <P, C> + epsilon KL(P | a x b), the paper's */
    DDSC_SINKHORN_SHARP,           /* <P, C> of that plan */
    DDSC_SINKHORN_DEBIASED, /* regularized(a,b) - (regularized(a,a) + regularized(b,b)) / 2 */
    DDSC_SINKHORN_REGULARISED = DDSC_SINKHORN_REGULARIZED /* deprecated spelling */
} ddsc_sinkhorn_value;

typedef enum ddsc_mmd_kernel {
    DDSC_KERNEL_GAUSSIAN = 0, /* exp(-r^2 / (2 h^2)) */
    DDSC_KERNEL_LAPLACE,      /* exp(-r / h) */
    DDSC_KERNEL_ENERGY        /* -r (no bandwidth) */
} ddsc_mmd_kernel;

typedef enum ddsc_bandwidth_rule {
    DDSC_BANDWIDTH_AUTO =
        0, /* near, or median where distances are so much alike that the median is less than twice
                                the near one: points of five dimensions or more, in effect */
    DDSC_BANDWIDTH_MEDIAN, /* of the non-zero distances of a fixed sample of points */
    DDSC_BANDWIDTH_VALUE,
    DDSC_BANDWIDTH_NEAR /* their 5% quantile */
} ddsc_bandwidth_rule;

typedef enum ddsc_mmd_estimator {
    DDSC_MMD_UNBIASED = 0, /* pairs i != j only; can be negative */
    DDSC_MMD_BIASED,       /* all pairs; never negative */
    DDSC_MMD_AUTO          /* biased; unbiased in the paper's plain algorithm (default) */
} ddsc_mmd_estimator;

typedef enum ddsc_reference_rule {
    DDSC_REFERENCE_NORMAL = 0, /* normal sample matched to the pooled mean and scale */
    DDSC_REFERENCE_KMEANS,     /* k-means centers of the pooled points */
    DDSC_REFERENCE_MEASURES,   /* the first item of reference_measures */
    DDSC_REFERENCE_AUTO        /* k-means; a normal sample in up to three dimensions and in the
                                  paper's plain algorithm (default) */
} ddsc_reference_rule;

typedef struct ddsc_metric_settings {
    size_t struct_size;
    ddsc_metric metric;
    double epsilon;         /* sinkhorn; default 5 (percent of the median cost) */
    int epsilon_is_percent; /* 1: epsilon is a percentage of the median cost */
    ddsc_sinkhorn_value sinkhorn_value;
    double sinkhorn_tolerance; /* L1 marginal error that counts as converged, at least 1e-15 */
    int64_t sinkhorn_max_iterations;
    ddsc_mmd_kernel mmd_kernel;
    ddsc_bandwidth_rule bandwidth_rule;
    double bandwidth; /* with DDSC_BANDWIDTH_VALUE */
    ddsc_mmd_estimator mmd_estimator;
    ddsc_reference_rule reference_rule;
    int64_t reference_size; /* 0: the mean support size */
    const ddsc_measures *reference_measures;
    int64_t w2_max_pivots;     /* 0: a generous multiple of the problem size */
    int64_t mmd_features;      /* random Fourier features (gaussian, laplace); 0: exact */
    int64_t lot_components;    /* principal components the LOT embedding is cut to; 0: all of it */
    int64_t cost;              /* a ddsc_cost */
    const double *cost_matrix; /* with DDSC_COST_MATRIX: cost_size x cost_size, symmetric, not
                                  negative, 0 on the diagonal; borrowed during a call */
    int64_t cost_size;
} ddsc_metric_settings;

#define ddsc_metric_settings_init(settings) \
    ddsc_metric_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_metric_settings_init_sized(ddsc_metric_settings *settings, size_t size);

/* What one run over pairs did. Figures of single stages are by name: ddsc_context_get_details. */
typedef struct ddsc_pair_stats {
    size_t struct_size;
    int64_t n_pairs;         /* pairs in question */
    int64_t n_solved;        /* pairs whose value was computed */
    int64_t n_bounds;        /* lower bounds evaluated */
    int64_t n_pruned;        /* pairs a bound made unnecessary */
    int64_t n_not_converged; /* solves that met their cap */
    int64_t n_clamped;    /* negative unbiased estimates (kept in order, clamped in the affinity) */
    int64_t n_iterations; /* pivots or Sinkhorn iterations over all solves */
    double max_gap;       /* w2, lot: largest relative duality gap; sinkhorn: marginal error */
    double epsilon;       /* the absolute epsilon used */
    double bandwidth;     /* the bandwidth used */
    int64_t reference_size; /* points of the LOT reference */
    double seconds;
    /* Approximate metrics only: a fixed sample of pairs against the exact values. lot: |D - W2| /
     * W2; mmd_features: |D^2 - exact D^2|. */
    int64_t n_checked;
    double check_median, check_high, check_max; /* quantiles 50%, 95% and 100% of that error */
    int64_t n_features;                         /* random Fourier features used */
    int64_t n_components;   /* components of the LOT embedding kept; 0: not reduced */
    double reduction_error; /* share of the embedding's variance that the reduction left out */
    double recall;          /* approximate neighbors: share of the true ones found for a random
                               sample of n_recall_rows items, an estimate of that of all items;
                               0 when the search was exact */
    int64_t n_recall_rows;
    double recall_low, recall_high; /* 95% interval of the recall of all items: state recall_low */
} ddsc_pair_stats;

#define ddsc_pair_stats_init(stats) ddsc_pair_stats_init_sized((stats), sizeof *(stats))
DDSC_API void ddsc_pair_stats_init_sized(ddsc_pair_stats *stats, size_t size);

/* What distances are given, or asked for. */
typedef enum ddsc_distance_flags {
    DDSC_DISTANCE_SQUARED = 1,  /* D^2 as the metric defines it; otherwise sqrt(max(D^2, 0)) */
    DDSC_DISTANCE_CONDENSED = 2 /* the N(N-1)/2 entries above the diagonal, row by row */
} ddsc_distance_flags;

/* The N x N matrix, row-major, or what the flags say. stats may be NULL. After an error `out` may
 * be filled in part. */
DDSC_API ddsc_status ddsc_distance_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                                       const ddsc_measures *measures,
                                       const ddsc_metric_settings *settings, unsigned flags);
/* Distances between two sets: out has a row for each item of `rows` and a column for each of
 * `columns`. What is chosen from the data looks at both sets. The values are those of the matrix of
 * one set that holds the items of `rows`, then those of `columns`, to the last bit if every item has
 * points of its own. flags: SQUARED or 0. After an error `out` may be filled in part. */
DDSC_API ddsc_status ddsc_cross_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                                    const ddsc_measures *rows, const ddsc_measures *columns,
                                    const ddsc_metric_settings *settings, unsigned flags);

/* LOT embedding: *out (n_items x *n_columns, row-major) is released with ddsc_release. */
DDSC_API ddsc_status ddsc_embed_run(ddsc_context *context, double **out, int64_t *n_columns,
                                    ddsc_pair_stats *stats, const ddsc_measures *measures,
                                    const ddsc_metric_settings *settings);
/* The reference that the settings ask for, as a set of one item: with reference_rule MEASURES and
 * this set, other items are embedded beside the first ones. */
DDSC_API ddsc_status ddsc_reference_create(ddsc_context *context, ddsc_measures **reference,
                                           const ddsc_measures *measures,
                                           const ddsc_metric_settings *settings);

/* ==== The neighbor graph ==== */

/* For each item its nearest neighbors with their squared distances, nearest first (ties: lower
 * index). */
typedef struct ddsc_graph ddsc_graph;

typedef enum ddsc_exact_graph {
    DDSC_GRAPH_AUTO = 0, /* pruned where bounds exist and pay */
    DDSC_GRAPH_FULL,     /* every pair */
    DDSC_GRAPH_PRUNED
} ddsc_exact_graph;

typedef enum ddsc_neighbors {
    DDSC_NEIGHBORS_AUTO = 0,   /* exact up to 100,000 items */
    DDSC_NEIGHBORS_EXACT,      /* every neighbor is the right one */
    DDSC_NEIGHBORS_APPROXIMATE /* candidates by NN-descent, ranked by the metric; recall measured */
} ddsc_neighbors;

/* In many dimensions a few items come to be neighbors of nearly everybody, and many of nobody. Neighbors
 * can then be chosen by D^2 / (s_i s_j), s the mean distance to the tau nearest; edges hold D^2 all the same. With
 * approximate neighbors the candidates are the nearest found, with sampled columns distances are as near as there. */
typedef enum ddsc_hubs {
    DDSC_HUBS_DEFAULT =
        0,          /* auto in a clustering of measures, off where a graph alone is asked for */
    DDSC_HUBS_OFF,  /* the nearest */
    DDSC_HUBS_AUTO, /* rescaled where the in-degrees of the nearest are skewed */
    DDSC_HUBS_ALWAYS
} ddsc_hubs;

typedef struct ddsc_graph_settings {
    size_t struct_size;
    int64_t tau; /* neighbors per item; 0: max(10, ceil(log2 N)), at most max(3, N/8), below N */
    ddsc_exact_graph exact_graph;
    double sample;         /* fraction of the pairs that is computed, 1: all; a clustering estimates
                              the others where that works, except with paper */
    double sample_columns; /* fraction of the items whose distances to all are computed, the others
                              being approximated from them (Nystrom); 1: all */
    ddsc_neighbors neighbors;
    int64_t hubs; /* a ddsc_hubs */
} ddsc_graph_settings;

#define ddsc_graph_settings_init(settings) \
    ddsc_graph_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_graph_settings_init_sized(ddsc_graph_settings *settings, size_t size);

/* The tau that a graph of n items gets. */
DDSC_API int64_t ddsc_graph_get_tau(int64_t n, const ddsc_graph_settings *settings);

/* From items. stats may be NULL. */
DDSC_API ddsc_status ddsc_neighbors_run(ddsc_context *context, ddsc_graph **graph,
                                        ddsc_pair_stats *stats, const ddsc_measures *measures,
                                        const ddsc_metric_settings *metric,
                                        const ddsc_graph_settings *settings);
/* From a square matrix of distances (NaN: unknown, no edge); must be symmetric. flags: SQUARED (D^2
 * may be negative, as unbiased estimates are) or 0. */
DDSC_API ddsc_status ddsc_graph_create_from_matrix(ddsc_context *context, ddsc_graph **graph,
                                                   int64_t n, const double *matrix, unsigned flags,
                                                   const ddsc_graph_settings *settings);
/* From neighbor lists of your own: entries offsets[i] .. offsets[i+1] are the neighbors of item i
 * (0 <= index < n) and their squared distances, in any order. Refused: an item among its own
 * neighbors, a neighbor listed twice, a value that is not finite. Lists may differ in length and
 * need not be mutual; tau is the length of the longest. The arrays are copied. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_graph_create_from_csr(ddsc_context *context,
                                                                  ddsc_graph **graph, int64_t n,
                                                                  const int64_t *offsets,
                                                                  const int32_t *indices,
                                                                  const double *d2);
/* From rows (n x dim), Euclidean distance. */
DDSC_API ddsc_status ddsc_graph_create_from_vectors(ddsc_context *context, ddsc_graph **graph,
                                                    int64_t n, int64_t dim, const double *vectors,
                                                    const ddsc_graph_settings *settings);
DDSC_API void ddsc_graph_destroy(ddsc_graph *graph);

typedef struct ddsc_graph_view {
    int64_t n, tau, n_edges;
    const int64_t *offset; /* n + 1 */
    const int32_t *index;  /* neighbor */
    const double *d2;      /* squared distance (unclamped) */
    /* With sample_columns: items whose distances to all were computed, and how far off the others
     * are, the median error of D^2 between columns held out, over the median spread of these D^2
     * (1: no better than one guess for all; NaN: too few to tell). Else 0 and 0. */
    int64_t n_columns;
    double columns_error;
    const double *
        scale; /* n: neighbors of an item are those of least D^2 / scale (ddsc_hubs); NULL: the nearest */
    const ddsc_graph *nearest; /* with scale: the three nearest of each item; else NULL */
} ddsc_graph_view;

#define ddsc_graph_get_view(graph, view) ddsc_graph_get_view_sized((graph), (view), sizeof *(view))
DDSC_API void ddsc_graph_get_view_sized(const ddsc_graph *graph, ddsc_graph_view *view,
                                        size_t size);
/* MatrixMarket, coordinate real general: row = neighbor, column = item, value D^2. A path that ends in
 * .npz gets the same as arrays (csc), as scipy.sparse.load_npz reads them. */
DDSC_API ddsc_status ddsc_graph_write(ddsc_context *context, const ddsc_graph *graph,
                                      const char *path, unsigned flags);

/* ==== Clustering ==== */

typedef enum ddsc_gamma_rule {
    DDSC_GAMMA_AUTO = 0, /* local, or median where a diffuse class leans on a dense one */
    DDSC_GAMMA_MEDIAN,   /* 1 / median of the D^2 kept in the graph */
    DDSC_GAMMA_VALUE,
    DDSC_GAMMA_LOCAL /* local scaling: exp(-2 D^2 / (s_i s_j)), s_i distance to 7th neighbor */
} ddsc_gamma_rule;

typedef struct ddsc_cluster_settings {
    size_t struct_size;
    int64_t k_min, k_max; /* equal: that K; k_min < k_max: a sweep; both 0: choose K */
    const ddsc_metric_settings *metric; /* NULL: the defaults; looked at during a call only */
    const ddsc_graph_settings *graph;
    ddsc_gamma_rule gamma_rule;
    double gamma;       /* with DDSC_GAMMA_VALUE */
    int paper;          /* 1: the plain algorithm (K vectors, 1/median unless gamma given) */
    double min_cluster; /* smallest cluster as a fraction of N/K; 0.2; 0: no rule */
    int64_t kmeans_restarts;
    double eigen_tolerance; /* residual |M v - lambda v| */
    int64_t eigen_max_iterations;
    /* Further metrics, 1 << DDSC_METRIC_... each, with the settings in `metric`: the clusters are those of the mean
     * of the normalised affinities of all. Graph, map and neighbors of items are those of metric->metric. 0: none */
    int64_t joined;
} ddsc_cluster_settings;

#define ddsc_cluster_settings_init(settings) \
    ddsc_cluster_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_cluster_settings_init_sized(ddsc_cluster_settings *settings, size_t size);

/* The settings that a run with `settings` would use (NULL: the defaults): every field filled in and checked as
 * ddsc_cluster_run checks it. Prepare the three structs by their _init macros; cluster->metric and cluster->graph
 * then point at the other two. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_cluster_settings_resolve(
    ddsc_context *context, ddsc_cluster_settings *cluster, ddsc_metric_settings *metric,
    ddsc_graph_settings *graph, const ddsc_cluster_settings *settings);

typedef struct ddsc_clustering ddsc_clustering;

/* Distances, graph, eigenvectors and k-means in one call. */
DDSC_API ddsc_status ddsc_cluster_run(ddsc_context *context, ddsc_clustering **clustering,
                                      const ddsc_measures *measures,
                                      const ddsc_cluster_settings *settings);
/* The part after the graph. */
DDSC_API ddsc_status ddsc_spectral_run(ddsc_context *context, ddsc_clustering **clustering,
                                       const ddsc_graph *graph,
                                       const ddsc_cluster_settings *settings);
DDSC_API void ddsc_clustering_destroy(ddsc_clustering *clustering);
DDSC_API const int32_t *ddsc_clustering_get_labels(const ddsc_clustering *clustering);

/* One K of a sweep. */
typedef struct ddsc_k_row {
    int64_t k;
    double gap;          /* e_{K+1} - e_K, e the eigenvalues of the Laplacian */
    double relative_gap; /* (e_{K+1} + 0.01) / (e_K + 0.01) */
    double modularity;
    double inertia; /* k-means objective */
    int64_t smallest, largest;
    double stability; /* of a sweep: agreement of k-means on random halves, 1 is best; else NaN */
    int gap_clear; /* 0: K cuts through eigenvalues that are close, so eigenvectors found in another way
                         (over another number of ranks) may give some items other labels */
} ddsc_k_row;

/* One of several metrics that were joined. */
typedef struct ddsc_joined_row {
    ddsc_metric metric;
    double gamma; /* 0 with local scaling */
    int64_t n_edges;
    int hubs_rescaled;
    int64_t in_degree_largest, n_nobody; /* as in the view */
    double seconds;                      /* its distances */
} ddsc_joined_row;

typedef struct ddsc_clustering_view {
    int64_t n, k;              /* items; the K of `labels` */
    int64_t n_vectors;         /* columns of the embedding, eigenvalues */
    const int32_t *labels;     /* n, 0 .. k-1, numbered by first appearance */
    const double *embedding;   /* n x n_vectors, rows as given to k-means */
    const double *eigenvalues; /* of the normalised Laplacian, ascending, n_eigenvalues of them */
    const double *residuals;
    int64_t n_eigenvalues;
    int64_t n_components;
    double gamma; /* 0 with local scaling */
    double max_residual;
    int verified;                   /* a fresh random block found no eigenvalue that was missed */
    int eigen_dense;                /* solved by a dense decomposition */
    int64_t n_eigen_products;       /* operator-block products */
    int64_t n_merged_small;         /* small clusters merged by the min_cluster rule */
    const ddsc_k_row *const *sweep; /* one row per K: sweep[i]->k */
    int64_t n_sweep;
    const int32_t *sweep_labels;  /* n_sweep x n */
    const ddsc_pair_stats *pairs; /* all zero when made from a graph */
    double seconds_distances, seconds_eigen, seconds_kmeans;
    const ddsc_graph *graph;    /* the graph, owned by the clustering when it made it, else NULL */
    const char *advice;         /* what to do about components, gaps, clamps; "" when nothing */
    const ddsc_detail *details; /* figures by name, as ddsc_context_get_details gave them */
    int64_t n_details;
    /* Hubs of the graph: the most items that one item is a neighbor of, and the items that are nobody's;
     * where neighbors were chosen by a rescaled distance, the same of the nearest. */
    int hubs_rescaled;
    int64_t in_degree_largest, n_nobody;
    int64_t plain_in_degree_largest, plain_n_nobody;
    const ddsc_joined_row *const
        *joined;        /* where metrics were joined: one row each, metric->metric first */
    int64_t n_joined;   /* else 0 */
    const char *resume; /* the folder of ddsc_context_set_resume during the run; NULL: none */
    int64_t n_resumed;  /* pairs taken from it */
} ddsc_clustering_view;

#define ddsc_clustering_get_view(clustering, view) \
    ddsc_clustering_get_view_sized((clustering), (view), sizeof *(view))
DDSC_API void ddsc_clustering_get_view_sized(const ddsc_clustering *clustering,
                                             ddsc_clustering_view *view, size_t size);

/* The weighted graph that was cut, and what it takes to continue the embedding. */
typedef struct ddsc_affinity_view {
    int64_t n, n_entries;
    const int64_t *offset; /* n + 1: CSR of (A + A^T)/2, columns ascending, no diagonal */
    const int32_t *column;
    const double *value;
    double gamma;         /* 0: local scaling by `scale` */
    const double *scale;  /* n: s_i, the distance to the neighbor of rank scale_rank; or NULL */
    int64_t scale_rank;   /* from 1; the last one where fewer are known */
    double scale_floor;   /* no s_i is taken below this */
    const double *radius; /* n: length of a row of the embedding before it was normalised, over the
                             square root of the degree; 0 where it is not from the eigenvectors.
                             radius times row is a vector of the random walk's eigenfunctions. */
} ddsc_affinity_view;

#define ddsc_clustering_get_affinity(clustering, view) \
    ddsc_clustering_get_affinity_sized((clustering), (view), sizeof *(view))
DDSC_API void ddsc_clustering_get_affinity_sized(const ddsc_clustering *clustering,
                                                 ddsc_affinity_view *view, size_t size);

/* A K of a sweep that is worth looking at, and what speaks for it. */
typedef struct ddsc_k_candidate {
    int64_t k;
    int widest_gap, highest_modularity; /* 1: among the K tried it has that */
    int halves_agree;                   /* 1: the largest K whose stability is nearly the best */
    int large_may_hide; /* 1: the K taken separates clusters of very different size, and its large
                           cluster may hide classes that this K would show */
} ddsc_k_candidate;

enum { DDSC_CANDIDATES_MOST = 4 };

/* Fills candidates (room for DDSC_CANDIDATES_MOST), the K taken first, and returns how many there are; 0 where one K
 * was asked for. */
DDSC_EXPERIMENTAL DDSC_API int64_t ddsc_clustering_get_candidates(const ddsc_clustering *clustering,
                                                                  ddsc_k_candidate *candidates);

/* Two nodes of a tree become one: the clusters are nodes 0 .. k-1, merge number m makes node k + m. */
typedef struct ddsc_merge {
    int64_t a, b;  /* a < b */
    double height; /* 0 .. 1, never below the one before; 1: no edge connects the two */
    int64_t size;  /* items */
} ddsc_merge;

enum { DDSC_MERGES_MOST_CLUSTERS = 1000 }; /* the work grows with k^3 */

/* The tree over the clusters by the affinity between them: merges has k - 1 entries. Where the graph has several
 * components, `measures` (or NULL) decides by the distance between the means of the clusters. left_out (n; or NULL):
 * 1 for items that do not count. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_merges_run(ddsc_context *context, ddsc_merge *merges,
                                                       const ddsc_clustering *clustering,
                                                       const ddsc_measures *measures,
                                                       const int32_t *left_out);

/* rank (n): 0 .. n-1 along the slowest direction of the random walk on the graph, component by component, the
 * largest first; -1 where none is known. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_order_run(ddsc_context *context, int64_t *rank,
                                                      const ddsc_clustering *clustering);

/* Lloyd's k-means with k-means++ and restarts on rows (n x dim). labels: n. */
DDSC_API ddsc_status ddsc_kmeans_run(ddsc_context *context, int32_t *labels, double *inertia,
                                     int64_t n, int64_t dim, const double *rows, int64_t k,
                                     int64_t restarts);

/* ==== New items ==== */

/* What a clustering has to keep so that items which come later can be put into its clusters: the
 * items, how they were compared, their place in the embedding, the centers. */
typedef struct ddsc_model ddsc_model;

/* From the clustering that ddsc_cluster_run found for `measures` with these settings. Copies what
 * it needs. A clustering made from a bare graph has no items to compare new ones with and is
 * refused; so is one of joined metrics. */
DDSC_API ddsc_status ddsc_model_create(ddsc_context *context, ddsc_model **model,
                                       const ddsc_measures *measures,
                                       const ddsc_clustering *clustering,
                                       const ddsc_cluster_settings *settings);
/* An npz archive that is also a set of items, labelled by cluster; see docs/formats.md. */
DDSC_API ddsc_status ddsc_model_write(ddsc_context *context, const ddsc_model *model,
                                      const char *path, unsigned flags);
/* Models of another format version are refused with a message that says so. */
DDSC_API ddsc_status ddsc_model_read(ddsc_context *context, ddsc_model **model, const char *path);
/* The same for all ranks of a team: the first reads, as in ddsc_measures_share. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_model_read_shared(ddsc_context *context,
                                                              ddsc_model **model, const char *path);
DDSC_API void ddsc_model_destroy(ddsc_model *model);

typedef struct ddsc_model_view {
    int64_t n_items, dim, k, tau;
    ddsc_metric metric;
    double far_distance;           /* beyond it an item is far away: see ddsc_assignment */
    int64_t far_neighbor;          /* the neighbor whose distance is compared with it */
    const int32_t *labels;         /* n_items */
    const ddsc_measures *measures; /* the items */
    int64_t n_vectors;             /* columns of the embedding */
} ddsc_model_view;

#define ddsc_model_get_view(model, view) ddsc_model_get_view_sized((model), (view), sizeof *(view))
DDSC_API void ddsc_model_get_view_sized(const ddsc_model *model, ddsc_model_view *view,
                                        size_t size);

typedef struct ddsc_assign_settings {
    size_t struct_size;
    ddsc_exact_graph exact_graph; /* how the neighbors are searched; the result is the same */
} ddsc_assign_settings;

#define ddsc_assign_settings_init(settings) \
    ddsc_assign_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_assign_settings_init_sized(ddsc_assign_settings *settings, size_t size);

/* The caller's arrays, with one entry per new item; NULL: not wanted. */
typedef struct ddsc_assignment {
    size_t struct_size;
    int32_t *labels;
    double *confidence; /* 1 - (distance to the center) / (distance to the nearest center of another
                           cluster) */
    double *distance;   /* to the 7th nearest item of the model (the tau-th where tau is smaller) */
    int32_t *far;       /* 1 where that distance is above the 99% quantile of what the model's own
                           items show */
    double *rows;       /* n_items x the model's n_vectors: rows of the embedding */
    int64_t n_far;      /* filled in: how many are far */
} ddsc_assignment;

#define ddsc_assignment_init(assignment) \
    ddsc_assignment_init_sized((assignment), sizeof *(assignment))
DDSC_API void ddsc_assignment_init_sized(ddsc_assignment *assignment, size_t size);

/* Labels for new items: their tau nearest among the items of the model, the eigenvectors extended
 * to them (Nystrom), then the nearest center. An item that equals one of the model has its row and
 * label. stats may be NULL. */
DDSC_API ddsc_status ddsc_assign_run(ddsc_context *context, ddsc_assignment *assignment,
                                     ddsc_pair_stats *stats, const ddsc_model *model,
                                     const ddsc_measures *measures,
                                     const ddsc_assign_settings *settings);

/* ==== Looking at a result ==== */

/* The caller's arrays, with one entry per row; NULL: not wanted. */
typedef struct ddsc_standing {
    size_t struct_size;
    double *distance; /* to the own center: the items of least distance are typical */
    double *doubt;    /* distance / (distance + distance to the center of next): 1/2 is on the
                         fence; 0 without next */
    int32_t *next;    /* the other cluster whose center is nearest (ties: lower number); -1: none */
} ddsc_standing;

#define ddsc_standing_init(standing) ddsc_standing_init_sized((standing), sizeof *(standing))
DDSC_API void ddsc_standing_init_sized(ddsc_standing *standing, size_t size);

/* How each of n rows (n x dim), such as those of an embedding, stands in its cluster. Centers are
 * the means of the clusters; labels are 0 .. k-1, and a cluster may be empty. */
DDSC_API ddsc_status ddsc_standing_run(ddsc_context *context, ddsc_standing *standing, int64_t n,
                                       int64_t dim, const double *rows, const int32_t *labels,
                                       int64_t k);

/* A map for looking at: xy (n x 2), neighbors near each other; what lies far apart says little.
 * start (n x 2) is where items begin, NULL: anywhere. */
DDSC_API ddsc_status ddsc_layout_run(ddsc_context *context, double *xy, const ddsc_graph *graph,
                                     const double *start);
/* xy (n x 2): n rows (n x dim) along two directions across each other, of the widest spread or
 * close to it; a start for ddsc_layout_run. Where rows lie on one line, the second is 0 or nearly
 * so. */
DDSC_API ddsc_status ddsc_project_run(ddsc_context *context, double *xy, int64_t n, int64_t dim,
                                      const double *rows);

/* ==== Scores and theory: how far a clustering can be trusted (docs/theory.md) ==== */

typedef struct ddsc_scores {
    size_t struct_size;
    double ami, ari, nmi, purity;
    int64_t n;                 /* items compared: those with a label >= 0 on both sides */
    int64_t n_labels, n_truth; /* distinct values on each side */
} ddsc_scores;

#define ddsc_scores_init(scores) ddsc_scores_init_sized((scores), sizeof *(scores))
DDSC_API void ddsc_scores_init_sized(ddsc_scores *scores, size_t size);
/* AMI with the exact expected mutual information and the arithmetic normaliser; negative labels on
 * either side are left out. */
DDSC_API ddsc_status ddsc_scores_run(ddsc_context *context, ddsc_scores *scores, int64_t n,
                                     const int32_t *labels, const int32_t *truth);

/* One resample against the first run. A is the symmetric affinity, L = I - S^-1/2 A S^-1/2. */
typedef struct ddsc_stability_row {
    double sin_theta;     /* |sin Theta|_F of the two leading K-dimensional eigenspaces */
    double zeta;          /* largest change of an affinity, over all pairs */
    double zeta_common;   /* the same over pairs that are linked both times */
    double edges_kept;    /* part of the first run's links that are there again */
    double laplacian;     /* |L - L'|_F */
    double gap;           /* eigengap of the resample */
    double theorem_bound; /* 2 zeta sqrt N / (delta (alpha - zeta)^2 sqrt tau); infinite where that
                             is not defined: zeta >= alpha, or no eigengap */
    double direct_bound;  /* |(L - L') V|_F / delta', V the kept eigenvectors of one run, delta'
                             their distance to the eigenvalues the other does not keep (Davis and
                             Kahan 1970); infinite when they overlap */
    double ari, ami;      /* labels of the two runs */
    int64_t n_changed;    /* items in another cluster, after clusters were matched */
} ddsc_stability_row;

typedef struct ddsc_stability_settings {
    size_t struct_size;
    int64_t n_resamples; /* 20 */
} ddsc_stability_settings;

#define ddsc_stability_settings_init(settings) \
    ddsc_stability_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_stability_settings_init_sized(ddsc_stability_settings *settings, size_t size);

typedef struct ddsc_stability ddsc_stability;

/* Resample the points of every item (ddsc_measures_copy_resampled), run the chain again with the
 * same settings, compare with `first`, which ddsc_cluster_run made from `measures` with `cluster`.
 * K, tau, epsilon, bandwidth and LOT reference are those of the first run. */
DDSC_API ddsc_status ddsc_stability_run(ddsc_context *context, ddsc_stability **stability,
                                        const ddsc_measures *measures, const ddsc_clustering *first,
                                        const ddsc_cluster_settings *cluster,
                                        const ddsc_stability_settings *settings);
DDSC_API void ddsc_stability_destroy(ddsc_stability *stability);

typedef struct ddsc_stability_view {
    int64_t n, k, tau, n_resamples;
    double gap;                            /* delta = e_{K+1} - e_K of the first run */
    double alpha;                          /* smallest affinity above 0 */
    double sin_limit;                      /* sqrt(min(K, N - K)): |sin Theta|_F is never larger */
    const ddsc_stability_row *const *rows; /* n_resamples: rows[i]->ari */
    const ddsc_stability_row *mean;        /* column by column */
    const ddsc_stability_row *worst; /* least of edges_kept, gap, ari, ami, largest of the others */
    const int32_t *labels;           /* n_resamples x n, in the first run's cluster numbers */
    const int64_t *n_changed;        /* n: resamples in which the item was in another cluster */
    const int32_t *other;    /* n: the cluster it was in most often then, -1: never changed */
    int64_t n_ever, n_often; /* items that changed at all; in more than half of the resamples */
    int theorem_vacuous;     /* the largest theorem_bound tells nothing: above sin_limit */
    int direct_vacuous;
    double seconds;
    const char *words; /* the same in a few sentences */
} ddsc_stability_view;

#define ddsc_stability_get_view(stability, view) \
    ddsc_stability_get_view_sized((stability), (view), sizeof *(view))
DDSC_API void ddsc_stability_get_view_sized(const ddsc_stability *stability,
                                            ddsc_stability_view *view, size_t size);

/* ---- the verdict: is there anything to find? ---- */

/* The levels of the verdict. */
typedef enum ddsc_structure {
    DDSC_STRUCTURE_UNDECIDED = 0, /* too few items side by side to tell, or no graph */
    DDSC_STRUCTURE_NONE,
    DDSC_STRUCTURE_WEAK, /* clusters pass into each other */
    DDSC_STRUCTURE_CLEAR
} ddsc_structure;

/* The words for a level, wherever one is printed. */
typedef struct ddsc_structure_words {
    const char *name; /* "clear": its name in result.json */
    /* A report says: [before] K [after], of 10 to 20 items each[where]. */
    const char *before, *after, *where;
    const char *next_step; /* what to do with such clusters */
} ddsc_structure_words;

/* NULL for a level that does not exist. */
DDSC_EXPERIMENTAL DDSC_API const ddsc_structure_words *
ddsc_structure_get_words(ddsc_structure structure);

typedef struct ddsc_verdict ddsc_verdict;

/* Judges the clusters of `clustering` by the gaps around them in its graph. graph: the one that ddsc_spectral_run was
 * given; NULL: the clustering's own. measures (or NULL): the items, to test whether they differ at all where few
 * items cannot show gaps. clustering NULL: a result without a graph, which is not judged. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_verdict_run(ddsc_context *context,
                                                        ddsc_verdict **verdict,
                                                        const ddsc_clustering *clustering,
                                                        const ddsc_measures *measures,
                                                        const ddsc_graph *graph);
DDSC_EXPERIMENTAL DDSC_API void ddsc_verdict_destroy(ddsc_verdict *verdict);

/* The gap around one cluster. */
typedef struct ddsc_verdict_row {
    int examined;  /* 0: not looked at, as there are many clusters */
    double valley; /* affinity across the gap, over that inside and outside; 1: no gap */
    double items;  /* effective number of items side by side there */
    double score;  /* (1 - valley) sqrt(items) */
} ddsc_verdict_row;

typedef struct ddsc_verdict_view {
    ddsc_structure structure;
    const char *headline; /* one sentence */
    const char *detail;   /* further sentences, or "" */
    /* What it rests on. */
    int judged; /* 1: the gaps of a graph were examined; 0: the rest is empty */
    int64_t k, n_components;
    int64_t n_parted, items_parted; /* clusters that a gap separates, and their items */
    double score, clear_from;       /* the largest, and what separates a cluster */
    /* The same of a gap in items that were not used to find it; NaN: not tested. */
    double held_out_score, held_out_from;
    /* Of a graph in as many components without any clusters; infinite: it proves nothing. */
    double chance;
    double halves_agree;  /* of the clusters of random halves of the items; NaN: not known */
    double items_alike_p; /* p of "all items are samples of one distribution"; NaN: not tested */
    const ddsc_verdict_row *const *rows; /* k */
} ddsc_verdict_view;

#define ddsc_verdict_get_view(verdict, view) \
    ddsc_verdict_get_view_sized((verdict), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_verdict_get_view_sized(const ddsc_verdict *verdict,
                                                            ddsc_verdict_view *view, size_t size);

/* ---- outliers ---- */

typedef struct ddsc_outliers {
    size_t struct_size;
    /* The caller's arrays, with one entry per item; NULL: not wanted. */
    /* Mean distance to the neighbors, over that of the neighbors to theirs; NaN: no neighbors, or all
     * of them coincide with the item. */
    double *score;
    int32_t *outlying; /* 1: an outlier */
    /* Filled in. */
    double from; /* the score above which an item is an outlier, unless most of its cluster is */
    int64_t n_outlying;
} ddsc_outliers;

#define ddsc_outliers_init(outliers) ddsc_outliers_init_sized((outliers), sizeof *(outliers))
DDSC_EXPERIMENTAL DDSC_API void ddsc_outliers_init_sized(ddsc_outliers *outliers, size_t size);
/* labels: one per item of the graph, 0 .. k-1. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_outliers_run(ddsc_context *context,
                                                         ddsc_outliers *outliers,
                                                         const ddsc_graph *graph,
                                                         const int32_t *labels, int64_t k);

/* ---- several metrics on one set ---- */

typedef struct ddsc_compare_row {
    ddsc_metric metric;
    int64_t k;         /* what it suggests, where K was left open */
    double stability;  /* mean adjusted Rand index with what four random parts of four fifths of the
                          items give alone; NaN: too few items */
    double modularity; /* of its clusters on the mean of the normalised affinities of all metrics */
    double agreement;  /* mean adjusted Rand index with the clusters of other metrics; NaN: alone */
    double seconds;
    ddsc_structure structure; /* of its clusters in its graph */
} ddsc_compare_row;

typedef enum ddsc_sure {
    DDSC_SURE_NOT = 0, /* no difference that means something */
    DDSC_SURE_SLIGHT,
    DDSC_SURE_CLEAR
} ddsc_sure;

typedef struct ddsc_compare ddsc_compare;

/* Clusters the set by each of several metrics: metric->metric of the settings and those of `joined`, at one K: the
 * one given, or that most of them suggest. One metric alone gets its row, and has nothing to agree with. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_compare_run(ddsc_context *context,
                                                        ddsc_compare **compare,
                                                        const ddsc_measures *measures,
                                                        const ddsc_cluster_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_compare_destroy(ddsc_compare *compare);

typedef struct ddsc_compare_view {
    int64_t n, k, n_metrics;             /* items; clusters compared; rows */
    const ddsc_compare_row *const *rows; /* rows[i]->stability */
    const int32_t *labels;               /* n_metrics x n, of K = k */
    const double *ari, *ami;             /* n_metrics x n_metrics: agreement of each with each */
    int64_t recommended; /* the most stable; none that sees no clusters where one sees clear ones */
    ddsc_sure sure;
    const char *words; /* the same in a sentence or two */
} ddsc_compare_view;

#define ddsc_compare_get_view(compare, view) \
    ddsc_compare_get_view_sized((compare), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_compare_get_view_sized(const ddsc_compare *compare,
                                                            ddsc_compare_view *view, size_t size);

/* The neighbor lists against known classes. Items of a negative class are left out. */
typedef struct ddsc_theory {
    size_t struct_size;
    /* The caller's arrays, with one entry per item of the graph; NULL: not wanted. Items without a
     * class get 0, 0 and NaN. */
    int64_t *item_intra, *item_inter; /* neighbors of the same, of another class */
    double *item_xi;                  /* the item's own tolerance: see xi */
    /* Filled in. */
    int64_t n, n_classes;        /* items with a class; classes among them */
    int64_t n_components;        /* of the graph */
    int64_t n_pure_components;   /* those within one class */
    int64_t n_whole_classes;     /* classes within one component */
    int64_t n_intra, n_inter;    /* entries of the neighbor lists within, between classes */
    int64_t n_clean, n_stranded; /* items without a neighbor of another, of their own class */
    int connected;               /* as many components as classes, and no link between classes */
    double xi;         /* the tolerance: least of the items' (smallest affinity to a neighbor of the
                         own class, or 0) - (largest to one of another class, or 0); NaN: no links */
    double xi_median;  /* of the items' values */
    int64_t n_correct; /* items whose value is above 0 */
} ddsc_theory;

#define ddsc_theory_init(theory) ddsc_theory_init_sized((theory), sizeof *(theory))
DDSC_API void ddsc_theory_init_sized(ddsc_theory *theory, size_t size);
/* Definitions of neighbor sets and of correctness. Of the settings only gamma and `paper` are read.
 */
DDSC_API ddsc_status ddsc_theory_run(ddsc_context *context, ddsc_theory *theory,
                                     const ddsc_graph *graph, const int32_t *truth,
                                     const ddsc_cluster_settings *settings);

/* ==== Single transport problems ==== */

/* Weights a (n) and b (m) under a dense cost (n x m, row-major). Weights need not be normalised but
 * must have equal sums up to 1e-6 relative. */
typedef struct ddsc_transport_problem {
    size_t struct_size;
    int64_t n, m;
    const double *a, *b, *cost;
} ddsc_transport_problem;

#define ddsc_transport_problem_init(problem) \
    ddsc_transport_problem_init_sized((problem), sizeof *(problem))
DDSC_API void ddsc_transport_problem_init_sized(ddsc_transport_problem *problem, size_t size);

typedef struct ddsc_transport {
    size_t struct_size;
    /* The caller's arrays; NULL: not wanted. */
    int32_t *plan_row, *plan_column; /* the plan without its zeros, n + m - 1 entries at most: */
    double *plan_mass; /* mass [k] goes from row [k] to column [k]; exact calls only */
    double *plan;      /* the whole plan, n x m, row-major */
    double *f, *g;     /* potentials, n and m; exact: f_i + g_j <= cost_ij */
    /* Filled in. */
    double value;   /* exact: primal; sinkhorn: the value that was asked for */
    double primal;  /* <P, C> */
    double dual;    /* exact: value of the potentials; sinkhorn: the regularised value */
    double gap;     /* exact: |primal - dual| / max(|primal|, S / 1000), S = sum a|f| + sum b|g|;
                      sinkhorn: L1 error of the marginals */
    int64_t n_plan; /* entries of plan_row; 0 of sinkhorn, whose plan has no zeros */
    int64_t n_iterations;
} ddsc_transport;

#define ddsc_transport_init(transport) ddsc_transport_init_sized((transport), sizeof *(transport))
DDSC_API void ddsc_transport_init_sized(ddsc_transport *transport, size_t size);

/* Exact optimal transport; costs may be any finite numbers. */
DDSC_API ddsc_status ddsc_emd_run(ddsc_context *context, ddsc_transport *transport,
                                  const ddsc_transport_problem *problem);
/* Exact 2-Wasserstein between item i of x and item j of y (sets of one dimension, which may be the
 * same set): the value is W2^2. Rows and columns of the plan are points counted within the items.
 * No n x m costs are held where they are large. Status DDSC_NOT_CONVERGED: the gap is above 1e-10,
 * primal and dual are then an upper and a lower bound. */
DDSC_API ddsc_status ddsc_w2_run(ddsc_context *context, ddsc_transport *transport,
                                 const ddsc_measures *x, int64_t i, const ddsc_measures *y,
                                 int64_t j);

typedef struct ddsc_sinkhorn_settings {
    size_t struct_size;
    double epsilon;            /* absolute and positive: has to be set */
    ddsc_sinkhorn_value value; /* DEBIASED is not defined for a bare cost */
    double tolerance;       /* L1 marginal error that counts as converged, at least 1e-15; 1e-9 */
    int64_t max_iterations; /* 100000 */
} ddsc_sinkhorn_settings;

#define ddsc_sinkhorn_settings_init(settings) \
    ddsc_sinkhorn_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_sinkhorn_settings_init_sized(ddsc_sinkhorn_settings *settings, size_t size);

/* Entropic transport. Plan and values carry the mass s of the weights, KL is taken against
 * a x b / s. */
DDSC_API ddsc_status ddsc_sinkhorn_run(ddsc_context *context, ddsc_transport *transport,
                                       const ddsc_transport_problem *problem,
                                       const ddsc_sinkhorn_settings *settings);

/* ==== Barycenters, and clustering by them ==== */

typedef enum ddsc_barycenter_method {
    DDSC_BARYCENTER_ADMM = 0, /* Bregman ADMM (Ye, Wu, Wang, Li 2017) */
    DDSC_BARYCENTER_IBP,      /* entropic: iterative Bregman projections (Benamou et al. 2015) */
    DDSC_BARYCENTER_PROJECTED /* projection robust (Huang, Ma, Lai 2021): entropic, with the costs
                                 seen in the plane that makes them largest */
} ddsc_barycenter_method;

typedef struct ddsc_barycenter_settings {
    size_t struct_size;
    ddsc_barycenter_method method;
    int64_t support_size; /* points of the barycenter; 0: the rounded mean of the items' */
    double rho;           /* admm: penalty as a multiple of the mean cost; 1 */
    double epsilon;       /* ibp, projected: regularisation as a fraction of the mean cost; 0.02 */
    int64_t max_rounds;   /* of the method; 2000 */
    int64_t max_passes;   /* exact passes after it; 500 */
    double tolerance;     /* relative fall of the objective that counts as none; 1e-6 */
    int64_t projection_dim;     /* projected: dimensions of the plane; 2 */
    const double *item_weights; /* positive, one per item, in any unit; NULL: equal */
    int64_t restarts;           /* from different items, the best is kept; 3 */
    /* A ddsc_cost: squared Euclidean (default); cosine, whose barycenter is that of the items with
     * points at length 1 and lies inside the unit ball. With DDSC_BARYCENTER_ADMM also Euclidean
     * (points go to geometric medians), city block (to medians by coordinate) and a matrix (to rows
     * of it, as in ddsc_metric_settings). */
    int64_t cost;
    const double *cost_matrix; /* with DDSC_COST_MATRIX: cost_size x cost_size */
    int64_t cost_size;
} ddsc_barycenter_settings;

#define ddsc_barycenter_settings_init(settings) \
    ddsc_barycenter_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_barycenter_settings_init_sized(ddsc_barycenter_settings *settings, size_t size);

typedef struct ddsc_barycenter ddsc_barycenter;

/* The measure on n points, places and weights free, of least mean cost of transport to the items
 * (W2^2, or W1 and the like under other costs): a local minimum. The method finds a neighborhood;
 * exact passes (optimal plans, then each point to the best place for what it sends: a mean, a median,
 * or a row) go down from there. */
DDSC_API ddsc_status ddsc_barycenter_run(ddsc_context *context, ddsc_barycenter **barycenter,
                                         const ddsc_measures *measures,
                                         const ddsc_barycenter_settings *settings);
DDSC_API void ddsc_barycenter_destroy(ddsc_barycenter *barycenter);

typedef struct ddsc_barycenter_view {
    int64_t n, dim;
    const double *support;   /* n x dim */
    const double *weights;   /* n, positive, sum 1 */
    const double *objective; /* mean cost to the items by exact transport; never rises */
    int64_t n_objective;     /* entry 0 is the start's, the last is the barycenter's */
    int64_t n_rounds, n_passes;
    int converged; /* the last exact pass found nothing to gain */
} ddsc_barycenter_view;

#define ddsc_barycenter_get_view(barycenter, view) \
    ddsc_barycenter_get_view_sized((barycenter), (view), sizeof *(view))
DDSC_API void ddsc_barycenter_get_view_sized(const ddsc_barycenter *barycenter,
                                             ddsc_barycenter_view *view, size_t size);

typedef struct ddsc_d2_settings {
    size_t struct_size;
    int64_t k;
    /* How centers are made, as in ddsc_barycenter_settings. */
    ddsc_barycenter_method method;
    int64_t support_size;   /* points of a center; 0: the rounded mean of the items' */
    double rho;             /* 2 */
    double epsilon;         /* 0.02 */
    int64_t max_rounds;     /* per step; 100 */
    int64_t projection_dim; /* 2 */
    int64_t restarts;       /* best objective kept; 3 */
    int64_t max_iterations; /* steps of assignment and new centers; 100 */
    double tolerance;       /* relative fall of the objective that counts as none; 1e-4 */
    int64_t cost;           /* as in ddsc_barycenter_settings */
    const double *cost_matrix;
    int64_t cost_size;
} ddsc_d2_settings;

#define ddsc_d2_settings_init(settings) ddsc_d2_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_d2_settings_init_sized(ddsc_d2_settings *settings, size_t size);

typedef struct ddsc_d2 ddsc_d2;

/* k-means in W2 (D2 clustering): each item belongs to the center of least cost (W2^2, or W1 and the
 * like), by exact transport, and centers are barycenters. With DDSC_BARYCENTER_PROJECTED it is PD2. */
DDSC_API ddsc_status ddsc_d2_run(ddsc_context *context, ddsc_d2 **d2, const ddsc_measures *measures,
                                 const ddsc_d2_settings *settings);
DDSC_API void ddsc_d2_destroy(ddsc_d2 *d2);

typedef struct ddsc_d2_view {
    int64_t n, k;          /* items; clusters that have members */
    const int32_t *labels; /* n, 0 .. k-1, numbered by first appearance */
    const double *cost;    /* n: cost of transport to the own center, W2^2 by default */
    int64_t center_size, dim;
    const double *support;   /* k x center_size x dim */
    const double *weights;   /* k x center_size */
    const double *objective; /* sum of the costs after each assignment; never rises */
    int64_t n_objective;
    int64_t n_pairs, n_solved; /* items times centers over all assignments; transports solved */
    int64_t restart;           /* the one that was best */
    int converged;             /* it ended before max_iterations */
    double seconds_start, seconds_assign, seconds_centers; /* over all restarts */
} ddsc_d2_view;

#define ddsc_d2_get_view(d2, view) ddsc_d2_get_view_sized((d2), (view), sizeof *(view))
DDSC_API void ddsc_d2_get_view_sized(const ddsc_d2 *d2, ddsc_d2_view *view, size_t size);

/* ==== Vectors: items as plain rows, for baselines ==== */

typedef enum ddsc_vectors_rule {
    DDSC_VECTORS_AUTO = 0,  /* HISTOGRAM when the support is shared, else MEAN */
    DDSC_VECTORS_HISTOGRAM, /* the item's weights over the support: a bag of words, the pixels */
    DDSC_VECTORS_MEAN       /* the weighted mean of its points */
} ddsc_vectors_rule;

/* *out is n_items x *n_columns, row-major; release it with ddsc_release. */
DDSC_API ddsc_status ddsc_vectors_run(ddsc_context *context, double **out, int64_t *n_columns,
                                      const ddsc_measures *measures, ddsc_vectors_rule rule);

/* ==== Reports: what a result says (experimental, all of it) ==== */

/* Findings, scores, map, summary, JSON and page of a result are made here, so that every program
 * tells the same about the same result. Name what the result consists of, make a report of it, and
 * have it written in the form that is wanted:
 *
 *     ddsc_report_source from; ddsc_report_source_init(&from);
 *     from.clustering = found; from.measures = data; from.settings = &set; from.map = 1;
 *     ddsc_report *report; ddsc_report_create(ctx, &report, &from);
 *     ddsc_report_write(ctx, report, DDSC_REPORT_HTML, write_to_a_file, file);
 *     ddsc_report_save(ctx, report, "result", 0);    or all files at once
 *
 * docs/results.md says what stands in each form. */

/* A setting that only the caller knows: a name, and a text, a number, or a flag (number 0 or 1). */
typedef enum ddsc_setting_kind {
    DDSC_SETTING_TEXT = 0,
    DDSC_SETTING_NUMBER,
    DDSC_SETTING_FLAG
} ddsc_setting_kind;

typedef struct ddsc_report_setting {
    const char *name;
    ddsc_setting_kind kind;
    const char *text;
    int64_t number;
} ddsc_report_setting;

/* How the result was obtained; copied to the report verbatim. Everything may be left out. */
typedef struct ddsc_report_origin {
    size_t struct_size;
    const char *method;        /* NULL: "ddsc" */
    const char *command;       /* to repeat it */
    const char *const *inputs; /* names of files */
    int64_t n_inputs;
    const char *truth_name; /* where the classes came from; NULL: from the input itself */
    const ddsc_report_setting *settings; /* settings beside those of the library */
    int64_t n_settings;
    const ddsc_compress_report *compress; /* of measures, merged down to */
    int64_t compress_points;              /* that many points */
} ddsc_report_origin;

#define ddsc_report_origin_init(origin) ddsc_report_origin_init_sized((origin), sizeof *(origin))
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_origin_init_sized(ddsc_report_origin *origin,
                                                              size_t size);

/* What a result consists of. Everything may be left out; what is missing is not reported. All objects
 * and arrays named here must outlive the report. The paths that stages took, seconds by stage and threads are those
 * of the context. */
typedef struct ddsc_report_source {
    size_t struct_size;
    /* The clusters: one of these three. */
    const ddsc_clustering *clustering;
    const ddsc_d2 *d2;
    /* One per item of `measures`, 0 .. k-1, from k-means or elsewhere; k is that of `settings`, or one
     * more than the largest label. */
    const int32_t *labels;
    double inertia; /* of `labels`: the objective of k-means */
    /* What they were found in. */
    const ddsc_measures *measures;         /* NULL: items have no ids and no pictures */
    const ddsc_graph *graph;               /* the one ddsc_spectral_run was given */
    const ddsc_cluster_settings *settings; /* as given to the run */
    const ddsc_pair_stats *pairs;          /* of a run over pairs, without clusters */
    ddsc_status status;                    /* of the runs: DDSC_NOT_CONVERGED marks the result */
    /* What to compare them with. */
    const int32_t *truth;            /* a class per input row, negative: none; or NULL */
    const ddsc_stability *stability; /* of this clustering */
    /* A column about items, such as the patient: where columns are compared with the clusters, labels
     * are permuted only within one of its values. NULL: everywhere. */
    const char *block;
    int map;      /* 1: compute a map */
    int outliers; /* 1: outliers get the label -1 and count in no cluster */
    const ddsc_report_origin *origin;
} ddsc_report_source;

#define ddsc_report_source_init(source) ddsc_report_source_init_sized((source), sizeof *(source))
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_source_init_sized(ddsc_report_source *source,
                                                              size_t size);

typedef struct ddsc_report ddsc_report;

/* Scores, findings and, where asked for, the map are computed here. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_create(ddsc_context *context,
                                                          ddsc_report **report,
                                                          const ddsc_report_source *source);
/* The report of a folder that ddsc_report_save wrote. It can be written as JSON or HTML, and drawn.
 */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_read(ddsc_context *context, ddsc_report **report,
                                                        const char *folder);
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_destroy(ddsc_report *report);

typedef struct ddsc_report_view {
    int64_t n_rows, k;
    const int32_t *labels;     /* n_rows, -1: the row was dropped, or left out as an outlier */
    const double *map;         /* n_rows x 2, NaN: dropped; NULL: no map */
    const ddsc_scores *scores; /* against the truth, or NULL */
    int certified; /* every pair and eigenvector that should have converged did, and was verified */
    const char *headline; /* what DDSC_REPORT_TEXT begins with: "1,234 items in 5 clusters" */
    const ddsc_verdict
        *verdict; /* NULL: there are no clusters, or the report was read from a folder */
} ddsc_report_view;

#define ddsc_report_get_view(report, view) \
    ddsc_report_get_view_sized((report), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_get_view_sized(const ddsc_report *report,
                                                           ddsc_report_view *view, size_t size);

/* A form without content, such as the stability of a result that has none, is refused. */
typedef enum ddsc_report_form {
    DDSC_REPORT_JSON = 0,    /* result.json */
    DDSC_REPORT_JSON_LABELS, /* the same with the labels in it */
    DDSC_REPORT_TEXT,        /* some lines for people */
    DDSC_REPORT_HTML,        /* a page that needs no other file and no network */
    DDSC_REPORT_EIGENVALUES, /* csv from here on */
    DDSC_REPORT_SWEEP,       /* one column of labels for every K, one line per input row */
    DDSC_REPORT_STABILITY,   /* in how many resamples each item was elsewhere */
    DDSC_REPORT_ITEMS        /* next cluster, doubt, outlier score and neighbours of each item */
} ddsc_report_form;

/* Takes the next bytes; non-zero stops the call with DDSC_ERROR_IO. */
typedef int (*ddsc_write_fn)(void *user, const void *bytes, size_t n_bytes);

DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_write(ddsc_context *context,
                                                         const ddsc_report *report,
                                                         ddsc_report_form form, ddsc_write_fn write,
                                                         void *user);
/* Checks, before long work, that ddsc_report_save can write into `folder`, and leaves nothing behind.
 * If a process was killed while it replaced the files there one by one, the old files come back. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_check(ddsc_context *context, const char *folder,
                                                         unsigned flags);
/* All files of the result into `folder`, which is made if it is missing (its parent must be there).
 * result.json comes last: where it stands, the rest is there. After an error the folder is as it was.
 * With DDSC_WRITE_OVERWRITE the files of an earlier result are replaced as a whole, in one step where
 * the file system can; files of other names stay. What dead runs left beside the folder is removed. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_save(ddsc_context *context,
                                                        const ddsc_report *report,
                                                        const char *folder, unsigned flags);
/* Names of the files that ddsc_report_save may write: number 0, 1, ...; NULL after the last. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_report_get_file_name(int64_t number);

/* ---- pictures: lists of marks, for whoever can draw ---- */

typedef enum ddsc_mark_kind {
    DDSC_MARK_LINE = 0, /* from (x, y) to (x + w, y + h) */
    DDSC_MARK_BOX,      /* its upper left corner, width and height */
    DDSC_MARK_DOT,      /* its center and radius w */
    DDSC_MARK_WORDS     /* at (x, y), which is their start, middle or end: anchor 0, 1, 2 */
} ddsc_mark_kind;

typedef struct ddsc_mark {
    ddsc_mark_kind kind;
    int32_t cluster;   /* whose color it has; -1: that of none, -2: that of ink */
    const char *color; /* the same as "#3b7dd8" */
    double opacity, x, y, w, h;
    int anchor;
    const char *words; /* of DDSC_MARK_WORDS; otherwise to be shown beside the mark, or NULL */
} ddsc_mark;

/* Valid during the callback only. Non-zero stops the call, which returns DDSC_OK. */
typedef int (*ddsc_picture_fn)(void *user, const char *name, double width, double height,
                               int64_t n_marks, const ddsc_mark *marks);

/* Each picture that the report has: map, representatives, means, eigenvalues, sizes, neighbours,
 * confusion. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_draw(ddsc_context *context,
                                                        const ddsc_report *report,
                                                        ddsc_picture_fn draw, void *user);

/* Several labellings of one planar set beside each other, scored against its own labels. */
typedef struct ddsc_comparison {
    size_t struct_size;
    const ddsc_measures *measures; /* two-dimensional, labelled, no row dropped */
    const char *title, *words;     /* heads of the page */
    int64_t n;
    const char *const *names;     /* n */
    const char *const *notes;     /* n, or NULL */
    const int32_t *const *labels; /* n arrays of one label per item */
} ddsc_comparison;

#define ddsc_comparison_init(comparison) \
    ddsc_comparison_init_sized((comparison), sizeof *(comparison))
DDSC_EXPERIMENTAL DDSC_API void ddsc_comparison_init_sized(ddsc_comparison *comparison,
                                                           size_t size);
/* As a page, or with `picture` as an SVG file of the items in their colors. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_comparison_write(ddsc_context *context,
                                                             const ddsc_comparison *comparison,
                                                             int picture, ddsc_write_fn write,
                                                             void *user);

#ifdef __cplusplus
}
#endif
#endif
