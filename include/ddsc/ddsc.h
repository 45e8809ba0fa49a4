/* ddsc: spectral clustering of discrete distributions.
 *
 * An item is a weighted point cloud. The library compares the items of a set (ddsc_measures) with a
 * metric and builds the graph of the tau nearest neighbors of each item (ddsc_graph). The library
 * then cuts the graph into K clusters using the leading eigenvectors of its normalized affinity
 * (ddsc_clustering). A typical program looks like this:
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
 * This program is examples/cluster_file.c; examples/ contains more complete programs. This header
 * is the reference manual. Its sections are version and status, context, teams, measures,
 * transforms, files, text, metrics and distances, the neighbor graph, clustering, new items,
 * inspecting a result, scores and theory, tests of metadata columns, single transport problems,
 * barycenters, vectors, and reports.
 *
 * Conventions:
 *  - Every call that can fail returns a ddsc_status. 0 is success. A negative value is an error,
 *    and outputs are then NULL or unchanged. A positive value is a warning: the outputs are valid,
 *    but a computation did not converge. The message is stored in the context.
 *  - `create`, `read` and `run` functions return objects that the caller must destroy. `destroy`
 *    accepts NULL. `get` functions return borrowed pointers.
 *  - Arguments are ordered: context, outputs, inputs, settings.
 *  - The same input, seed and version produce the same bytes for any number of threads.
 *  - The library never prints, exits, installs signal handlers or keeps global state. A child
 *    process is started only to read HDF5 files.
 *  - A context may be used by only one thread at a time, so create one context per thread. Objects
 *    are immutable once created, except ddsc_report and ddsc_index. Several contexts may share an
 *    object as long as the context that created it outlives it.
 *
 * Caller-allocated structs may grow in later versions:
 *  - Settings, problems and results (all structs with a `struct_size`) are initialized by their
 *    `_init` macro. The macro records the struct size that the caller was compiled with and sets
 *    every field to its default. A program built against an older header works with a newer
 *    library: fields that the program does not know keep their defaults, and the library never
 *    writes past the end of the program's struct. A program built against a newer header works with
 *    an older library if it leaves the fields that the library does not know at their defaults;
 *    otherwise the call fails. If the settings are NULL, all defaults are used.
 *  - Views are filled by their `_get_view` macro, which passes the size in the same way. Fields
 *    that an older library does not know are set to zero.
 *  - Rows of a result, such as ddsc_k_row, are accessed through pointers, so they may grow.
 *    ddsc_cloud, ddsc_detail, ddsc_k_candidate, ddsc_merge, ddsc_report_setting, ddsc_mark,
 *    ddsc_column, ddsc_permanova_missing and ddsc_update_setting are elements of arrays and never
 *    change.
 *
 * Compatibility policy: everything not marked DDSC_EXPERIMENTAL is stable from version 0.2.0. New
 * fields are only appended after the existing fields of a struct. No field is moved, removed or
 * given another meaning, and enumerators keep their values (tests/abi checks this). The removal of
 * a function is announced one minor version in advance and changes the SOVERSION of the shared
 * library. Functions marked DDSC_EXPERIMENTAL may change in any minor version. */
#ifndef DDSC_DDSC_H
#define DDSC_DDSC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header and of the whole project. The build system reads the version from these
 * macros. */
#define DDSC_VERSION_MAJOR 0
#define DDSC_VERSION_MINOR 2
#define DDSC_VERSION_PATCH 0
/* Version as one number for use in #if, such as 102 for version 0.1.2. */
#define DDSC_VERSION_NUMBER \
    (DDSC_VERSION_MAJOR * 10000 + DDSC_VERSION_MINOR * 100 + DDSC_VERSION_PATCH)

#if defined(DDSC_BUILDING) && defined(__GNUC__)
#define DDSC_API __attribute__((visibility("default")))
#else
#define DDSC_API
#endif

/* Marks functions that are not yet stable. If a program defines DDSC_WARN_EXPERIMENTAL before
 * including this header, the compiler warns about each use of such a function. */
#if defined(DDSC_WARN_EXPERIMENTAL) && defined(__GNUC__)
#define DDSC_EXPERIMENTAL __attribute__((deprecated("experimental: may change in any version")))
#else
#define DDSC_EXPERIMENTAL
#endif

/* ==== Version and status ==== */

/* ddsc_version returns the version of the loaded library, such as "0.2.0". ddsc_features returns
 * the names of the libraries it uses, such as "openmp openblas zlib". */
DDSC_API const char *ddsc_version(void);
DDSC_API const char *ddsc_features(void);

typedef enum ddsc_status {
    DDSC_OK = 0,
    DDSC_NOT_CONVERGED = 1,   /* an iteration limit was reached; results are not certified */
    DDSC_ERROR_ARGUMENT = -1, /* invalid argument: bad setting, NULL, index out of range */
    DDSC_ERROR_INPUT = -2,    /* bad data; the message names the file, item, line or value */
    DDSC_ERROR_MEMORY = -3,   /* allocation failed or exceeded the context's memory limit */
    DDSC_ERROR_IO = -4,       /* cannot write an output: disk full, no permission, no such folder */
    DDSC_ERROR_EXISTS = -5,   /* the output file exists and overwriting was not requested */
    DDSC_ERROR_CANCELED = -6, /* canceled by the cancel callback */
    DDSC_ERROR_INTERNAL = -7, /* an invariant failed; please report this bug */
    DDSC_ERROR_CANCELLED = DDSC_ERROR_CANCELED /* deprecated spelling */
} ddsc_status;

/* Returns a short name such as "bad input". Never returns NULL. */
DDSC_API const char *ddsc_status_name(ddsc_status status);

/* Makes text from files (ids, file names) safe to print on a terminal. Control characters,
 * bidirectional marks and bytes that are not valid UTF-8 become escapes such as \x1b and \u202e.
 * Line ends and tabs are unchanged. Like snprintf, the function writes at most `size` bytes
 * including the final NUL and returns the full length. A buffer of 4 * n_bytes + 1 bytes is always
 * large enough. Output written to the path "-" is escaped in the same way if standard output is a
 * terminal. */
DDSC_EXPERIMENTAL DDSC_API size_t ddsc_text_visible(char *out, size_t size, const char *text,
                                                    size_t n_bytes);

/* ==== Context ==== */

typedef struct ddsc_context ddsc_context;

/* All callbacks run on the thread that called the library. */

/* Reports progress. `stage` is the name of the current stage, such as "distances". `total` is 0 if
 * the amount of work is unknown. */
typedef void (*ddsc_progress_fn)(void *user, const char *stage, int64_t done, int64_t total);
/* A non-zero return value cancels the call, which then returns DDSC_ERROR_CANCELED. */
typedef int (*ddsc_cancel_fn)(void *user);
/* Receives a warning, which is one sentence without a final period or newline. The text is valid
 * only during the call. */
typedef void (*ddsc_warning_fn)(void *user, const char *text);

/* Encodings of input text. UTF-8 input is validated. A file that begins with the UTF-8 byte order
 * mark is read as UTF-8 regardless of this setting. ddsc always writes UTF-8. */
typedef enum ddsc_encoding {
    DDSC_ENCODING_UTF8 = 0,
    DDSC_ENCODING_LATIN1, /* ISO 8859-1 */
    DDSC_ENCODING_CP1252  /* Windows-1252 */
} ddsc_encoding;

typedef struct ddsc_context_settings {
    size_t struct_size;
    int threads;   /* 0: one thread per processor of the machine */
    uint64_t seed; /* default 0 */
    /* maximum number of bytes allocated at the same time; 0: no limit */
    int64_t memory_limit;
    void *(*allocate)(void *user, size_t size); /* set all three functions or none; they must be
                                                 * thread-safe */
    void *(*reallocate)(void *user, void *block, size_t size);
    void (*release)(void *user, void *block);
    void *allocator_user;
    ddsc_progress_fn progress;
    void *progress_user;
    ddsc_cancel_fn cancel;
    void *cancel_user;
    ddsc_warning_fn warning; /* NULL: warnings are discarded */
    void *warning_user;
    int whole_process; /* 1: stage timings begin at process start, and the time before the first
                        * call is reported as stage `start` */
    /* HDF5 files are read in a child process, which exits before the call returns. The call fails
     * if the child makes no progress for this many seconds (default 60; 0: no limit). If the value
     * is negative, HDF5 files are read in the calling process, which a damaged file can crash or
     * block. */
    double read_timeout_s;
    ddsc_encoding encoding; /* encoding of tables, documents and other input text; default UTF-8 */
} ddsc_context_settings;

#define ddsc_context_settings_init(settings) \
    ddsc_context_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_context_settings_init_sized(ddsc_context_settings *settings, size_t size);

DDSC_API ddsc_status ddsc_context_create(ddsc_context **context,
                                         const ddsc_context_settings *settings);
DDSC_API void ddsc_context_destroy(ddsc_context *context);
/* Returns the text of the last error, or "" if there is none. The text is valid until the next call
 * on this context. */
DDSC_API const char *ddsc_context_get_message(const ddsc_context *context);
DDSC_API int ddsc_context_get_threads(const ddsc_context *context);
/* Returns the peak number of bytes that were allocated at the same time. */
DDSC_API int64_t ddsc_context_get_peak_memory(const ddsc_context *context);
/* Frees an array returned by a function whose description refers to ddsc_release. `block` may be
 * NULL. */
DDSC_API void ddsc_release(ddsc_context *context, void *block);

/* One named statistic of a run, such as the number of pairs excluded by one of the lower bounds.
 * Which statistics are available depends on the algorithms that the run used. The names may change
 * in any version. */
typedef struct ddsc_detail {
    const char *name;
    double value;
} ddsc_detail;

/* Returns the statistics of the last call on this context. The array is valid until the next
 * call. */
DDSC_EXPERIMENTAL DDSC_API const ddsc_detail *ddsc_context_get_details(const ddsc_context *context,
                                                                       int64_t *n_details);
/* Retrieves note `number` (counted from 0) about the last call and returns 1, or returns 0 if there
 * is no such note. A note states which algorithm (path) a stage used and why. For example, stage
 * "search" used path "pruned" because "lower bounds cost less than solves". Any of the pointers may
 * be NULL. The texts are valid until the next call. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_context_get_note(const ddsc_context *context, int64_t number,
                                                     const char **stage, const char **path,
                                                     const char **why);

/* Makes runs resumable. Subsequent calls to ddsc_distance_run, ddsc_neighbors_run and
 * ddsc_cluster_run store the pairs that they solve in `folder`. These calls reuse the pairs that an
 * earlier run with the same input, settings and version stored in the folder. The files are
 * checksummed and written atomically. The result is bit-identical to that of an uninterrupted run.
 * This call creates the folder if it is missing, but not its parent, and fails if the folder is not
 * writable. A run fails if the folder was created for a different input or different settings.
 * `settings` (one line, or NULL) is an additional key that must be the same in all runs that use
 * the folder. If `folder` is NULL, nothing is stored. */
DDSC_API ddsc_status ddsc_context_set_resume(ddsc_context *context, const char *folder,
                                             const char *settings);
/* Returns the number of pairs read from the resume folder since ddsc_context_set_resume was
 * called. */
DDSC_API int64_t ddsc_context_get_resumed(const ddsc_context *context);

/* Selects the device that computes products over all pairs: "cpu" (the default, also selected by
 * NULL), "cuda", "cuda:1" or "auto". "auto" uses a GPU for work that a GPU finishes sooner than the
 * CPU, and silently uses the CPU if there is no GPU. CUDA requires the plug-in libddsc_cuda.so. The
 * library searches for the plug-in in the folder named by the environment variable
 * DDSC_PLUGIN_PATH, or else in the folder of the library. Final values are computed on the CPU, so
 * a graph has the same bytes on every device. If a named device is missing, or a device has too
 * little memory or fails, the library issues one warning and uses the CPU. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_context_set_device(ddsc_context *context,
                                                               const char *device);
/* Returns the device used since ddsc_context_set_device, such as "cuda:0", or "cpu" if no device
 * was used. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_context_get_device(const ddsc_context *context);
/* Returns 1 if the device is available, otherwise 0. `text` (of `size` bytes, or NULL) receives a
 * description such as "NVIDIA H200, 139 GiB free". If the device is not available, `text` receives
 * the reason instead. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_device_find(const char *device, char *text, size_t size);

/* ==== Teams: several processes that share one run ==== */

/* An eigenproblem that the library passes to a team's eigensolver. Each rank has the rows in
 * [begin, end) of the symmetric n x n operator in CSR form, with global column numbers. `known`
 * holds orthonormal eigenvectors with eigenvalue 1, which the solver must not return again.
 * Eigenvalues lie in [-1, 1], except those of rows whose only entry is on the diagonal. Such rows
 * belong to excluded items. Within the rows of a rank, neighboring items are stored close
 * together. */
typedef struct ddsc_team_eigen {
    size_t struct_size; /* size of the library's struct; fields beyond this size do not exist */
    int64_t n, begin, end;
    const int64_t *offset; /* end - begin + 1 entries, starting at 0 */
    const int32_t *index;
    const double *value;
    /* Computes y = this rank's rows times x, using the library's threads. x has all n entries.
     * Returns 0 on success. */
    int (*multiply)(void *multiply_user, const double *x, double *y);
    void *multiply_user;
    int64_t n_known;
    const double *known; /* (end - begin) x n_known, row-major */
    int64_t n_wanted; /* number of largest eigenvalues to compute in addition to the known ones */
    double tolerance; /* bound on |M v - lambda v| */
    int64_t max_products;
    double *lambda;     /* out: n_wanted, descending */
    double *vector;     /* out: (end - begin) x n_wanted, row-major */
    int64_t n_products; /* out: number of operator products */
    /* out: 1 if a random probe orthogonal to the computed eigenvectors found no larger
     * eigenvalue */
    int verified;
    /* Call this callback regularly. A non-zero return value cancels the solve. All ranks must then
     * return 0 and set `stopped`. */
    ddsc_cancel_fn cancel;
    void *cancel_user;
    int stopped; /* out: 1 if the solve was canceled */
    /* Call this callback regularly to report the number of eigenpairs found so far. */
    void (*progress)(void *progress_user, int64_t n_found);
    void *progress_user;
} ddsc_team_eigen;

/* Initializes an eigenproblem, so that a solver can be tested on its own. The problems that the
 * library passes to a solver are already initialized. */
#define ddsc_team_eigen_init(problem) ddsc_team_eigen_init_sized((problem), sizeof *(problem))
DDSC_EXPERIMENTAL DDSC_API void ddsc_team_eigen_init_sized(ddsc_team_eigen *problem, size_t size);

/* The functions with which the ranks of a team communicate. Every rank has its own context and
 * makes the same library calls with the same input in the same order. Pairs and bounds are divided
 * among the ranks, and every rank obtains the same results. ddsc_measures_share,
 * ddsc_matrix_read_shared and ddsc_model_read_shared read a file once for all ranks.
 *
 * All functions except `unshare` are collective. The library calls them on the thread that called
 * the library. Each returns 0, or a non-zero value if the other ranks can no longer be reached. In
 * that case, the library call fails with DDSC_ERROR_INTERNAL.
 *
 * If a library call fails on one rank only (out of memory, canceled, unreadable file), that rank
 * returns at once. The library does not notify the other ranks, so they block in their next
 * collective function. The caller must then end the job, for example with MPI_Abort.
 *
 * The struct is copied. `state` belongs to the caller. */
typedef struct ddsc_team {
    size_t struct_size;
    int rank, size;
    void *state;
    /* Sends the next send_bytes[r] bytes of `send` to each rank r in turn. Receives
     * receive_bytes[r] bytes from each rank r, stored consecutively in `receive`. */
    int (*exchange)(void *state, const void *send, const int64_t *send_bytes, void *receive,
                    const int64_t *receive_bytes);
    /* All-gather. `data` consists of bytes[0] bytes for rank 0, bytes[1] bytes for rank 1, and so
     * on. Before the call, each rank has filled its part. After the call, every rank has the parts
     * of all ranks. */
    int (*gather)(void *state, void *data, const int64_t *bytes);
    /* Replaces *value by the sum of the values of all lower ranks (0 on rank 0). */
    int (*scan)(void *state, int64_t *value);
    /* Replaces each of the n values by its maximum over all ranks. */
    int (*agree)(void *state, double *value, int64_t n);
    /* Allocates one zeroed block of memory that all ranks of a machine share. `first` is set to 1
     * on the lowest rank of the machine, which fills the block. All ranks then call `ready`.
     * `unshare` does not wait for other ranks: the block remains valid for the ranks that have not
     * released it. If `share` is NULL or returns non-zero on all ranks, each rank allocates its own
     * memory. */
    int (*share)(void *state, void **block, int64_t bytes, int *first);
    int (*ready)(void *state);
    void (*unshare)(void *state, void *block);
    /* Computes eigenpairs with a solver distributed over the ranks. If this pointer is NULL, each
     * rank runs the library's own solver. The function returns 0 or a non-zero value like the other
     * functions, and sets `verified` to 0 if the solver did not converge. */
    int (*eigen)(void *state, ddsc_team_eigen *problem);
} ddsc_team;

#define ddsc_team_init(team) ddsc_team_init_sized((team), sizeof *(team))
DDSC_EXPERIMENTAL DDSC_API void ddsc_team_init_sized(ddsc_team *team, size_t size);
/* Sets the team of a context. If team is NULL, the context has a single rank, which is the
 * default. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_context_set_team(ddsc_context *context,
                                                             const ddsc_team *team);

/* ==== Measures: a set of items ==== */

/* N items over one support table in CSR form. Item i has the points support[index[p]] with weights
 * weight[p], where p is in [offset[i], offset[i+1]). The weights of an item sum to 1, points with
 * zero weight are removed, and points with equal coordinates share one row of the table. */
typedef struct ddsc_measures ddsc_measures;

/* What happens if items have no mass: the set is rejected, or these items are dropped. Dropped
 * items still count as input rows. */
typedef enum ddsc_on_empty { DDSC_EMPTY_ERROR = 0, DDSC_EMPTY_DROP = 1 } ddsc_on_empty;

/* Creates a set in which each item has its own points. Item i consists of rows offsets[i] ..
 * offsets[i+1] - 1 of `points` (row-major, offsets[n_items] x dim). If `weights` is NULL, weights
 * are uniform. */
DDSC_API ddsc_status ddsc_measures_create_clouds(ddsc_context *context, ddsc_measures **measures,
                                                 int64_t n_items, int64_t dim, const double *points,
                                                 const double *weights, const int64_t *offsets,
                                                 ddsc_on_empty on_empty);

/* One item stored in the caller's memory. */
typedef struct ddsc_cloud {
    int64_t n;
    const void *points;    /* n x dim, row-major: double, or float if is_float is set */
    const double *weights; /* n weights; NULL: uniform weights */
    int is_float;
} ddsc_cloud;

/* Creates a set from one array per item. The arrays are copied. */
DDSC_API ddsc_status ddsc_measures_create_items(ddsc_context *context, ddsc_measures **measures,
                                                int64_t n_items, int64_t dim,
                                                const ddsc_cloud *items, ddsc_on_empty on_empty);

/* Items over a shared support, in CSR form. Entries offsets[i] .. offsets[i+1] - 1 belong to item
 * i. */
typedef struct ddsc_shared_items {
    size_t struct_size;
    int64_t n_items, n_support, dim;
    const double *support;  /* n_support x dim */
    const int64_t *offsets; /* n_items + 1 */
    const int32_t *indices; /* row numbers of support */
    const double *weights;
} ddsc_shared_items;

#define ddsc_shared_items_init(items) ddsc_shared_items_init_sized((items), sizeof *(items))
DDSC_API void ddsc_shared_items_init_sized(ddsc_shared_items *items, size_t size);
DDSC_API ddsc_status ddsc_measures_create_shared(ddsc_context *context, ddsc_measures **measures,
                                                 const ddsc_shared_items *items,
                                                 ddsc_on_empty on_empty);
/* Creates a set from dense histograms (n_items x n_support, row-major) over a shared support. */
DDSC_API ddsc_status ddsc_measures_create_dense(ddsc_context *context, ddsc_measures **measures,
                                                int64_t n_items, int64_t n_support, int64_t dim,
                                                const double *support, const double *histograms,
                                                ddsc_on_empty on_empty);
/* These functions generate synthetic data. ddsc_measures_generate_shapes creates n squares and n
 * circles (classes 0 and 1) with n_points points each around one center. The sizes of the shapes
 * increase in small steps, as in section 5.1 of the paper. ddsc_measures_generate_gaussians creates
 * k classes of n Gaussian clouds with n_points points each in dim dimensions. Class centers are
 * `separation` standard deviations apart. */
DDSC_API ddsc_status ddsc_measures_generate_shapes(ddsc_context *context, ddsc_measures **measures,
                                                   int64_t n_per_shape, int64_t n_points);
DDSC_API ddsc_status ddsc_measures_generate_gaussians(ddsc_context *context,
                                                      ddsc_measures **measures, int64_t k,
                                                      int64_t n_per_group, int64_t n_points,
                                                      int64_t dim, double separation);
DDSC_API void ddsc_measures_destroy(ddsc_measures *measures);

/* The pointers are valid as long as the measures exist. row[i] is the input row of item i, which
 * differs from i only if empty items were dropped. Ids and labels are indexed by input row. */
typedef struct ddsc_measures_view {
    int64_t n_items, n_rows, n_support, n_entries, dim;
    const double *support;
    const int64_t *offset;
    const int32_t *index;
    const double *weight;
    const int64_t *row;
    const int32_t *label;  /* n_rows class numbers, or NULL */
    int64_t n_label_names; /* 0: labels are plain numbers */
    int is_grid;           /* 1 if the support lies on a regular grid */
    int64_t grid_shape[3]; /* cells along each axis, if is_grid is set */
    double grid_origin[3], grid_step[3];
    int64_t n_zero_dropped, n_merged; /* number of points dropped because of zero weight; number of
                                       * entries merged into equal points */
    /* documents: number of words whose vectors were fitted to the set; 0 for other sets */
    int64_t n_words;
    int64_t n_counted_words; /* documents: number of words whose counts are known; otherwise 0 */
} ddsc_measures_view;

#define ddsc_measures_get_view(measures, view) \
    ddsc_measures_get_view_sized((measures), (view), sizeof *(view))
DDSC_API void ddsc_measures_get_view_sized(const ddsc_measures *measures, ddsc_measures_view *view,
                                           size_t size);
/* Returns the id of an input row, or its number (from 0) if the input has no ids. */
DDSC_API const char *ddsc_measures_get_id(const ddsc_measures *measures, int64_t row);
/* Returns the name of a class number, or NULL if labels are plain numbers. */
DDSC_API const char *ddsc_measures_get_label_name(const ddsc_measures *measures, int32_t label);
enum { DDSC_TITLE_MAX = 160 }; /* maximum number of characters in a stored title */

/* These functions return the name of a coordinate (marker, column), the name of a support row
 * (word) and the title of an input row. Each function returns NULL if the set has no names of this
 * kind, and "" if only the requested name is missing. */
DDSC_EXPERIMENTAL DDSC_API const char *
ddsc_measures_get_coordinate_name(const ddsc_measures *measures, int64_t coordinate);
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_point_name(const ddsc_measures *measures,
                                                                    int64_t point);
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_title(const ddsc_measures *measures,
                                                               int64_t row);
/* Returns a two-word phrase that occurs in the documents, with a space between the words. Phrases
 * are numbered from 0 in order of decreasing frequency. Returns NULL after the last phrase. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_phrase(const ddsc_measures *measures,
                                                                int64_t phrase);

/* Returns 1 if the points have types. Unlike words, types are names that many points share. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_measures_has_types(const ddsc_measures *measures);

/* Copies the set and replaces its labels (n_rows entries). NULL removes the labels. */
DDSC_API ddsc_status ddsc_measures_copy_labeled(ddsc_context *context, ddsc_measures **copy,
                                                const ddsc_measures *measures,
                                                const int32_t *labels);
/* deprecated spelling */
DDSC_API ddsc_status ddsc_measures_copy_labelled(ddsc_context *context, ddsc_measures **copy,
                                                 const ddsc_measures *measures,
                                                 const int32_t *labels);
/* Copies the set and replaces its ids (n_rows strings). */
DDSC_API ddsc_status ddsc_measures_copy_named(ddsc_context *context, ddsc_measures **copy,
                                              const ddsc_measures *measures,
                                              const char *const *ids);
/* Metadata columns describe items. The first function returns the name of a column, or NULL after
 * the last column. The second function returns the value of a column in an input row, or "" if the
 * value is missing. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_meta_name(const ddsc_measures *measures,
                                                                   int64_t column);
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_meta(const ddsc_measures *measures,
                                                              int64_t row, int64_t column);
/* Copies the set and replaces its metadata columns. names has n_columns entries, and values has
 * n_rows x n_columns entries. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status
ddsc_measures_copy_about(ddsc_context *context, ddsc_measures **copy, const ddsc_measures *measures,
                         int64_t n_columns, const char *const *names, const char *const *values);
/* Copies the set and appends the columns of a table to its metadata columns. Rows are matched by
 * the table's column `id`, or by id_columns if it is not NULL. Duplicate ids, and columns that
 * the set already has, are errors. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_read_meta(ddsc_context *context,
                                                               ddsc_measures **copy,
                                                               const ddsc_measures *measures,
                                                               const char *path,
                                                               const char *id_columns);
/* Copies the set without its texts, except ids and coordinate names. Titles, names of points,
 * classes and batches, metadata columns and words are removed. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_copy_private(ddsc_context *context,
                                                                  ddsc_measures **copy,
                                                                  const ddsc_measures *measures);
/* Copies the set and replaces the names of coordinates (dim strings), the names of support points
 * (n_support strings, in the order of the view) and the titles (n_rows strings). For each argument,
 * NULL keeps the existing names. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_copy_described(
    ddsc_context *context, ddsc_measures **copy, const ddsc_measures *measures,
    const char *const *coordinates, const char *const *points, const char *const *titles);
/* Copies the listed items, in the order of the list. */
DDSC_API ddsc_status ddsc_measures_copy_subset(ddsc_context *context, ddsc_measures **copy,
                                               const ddsc_measures *measures, int64_t n_items,
                                               const int64_t *items);
/* Copies a balanced random subset: per_class items of every class, in input order. The set must
 * have labels. */
DDSC_API ddsc_status ddsc_measures_copy_balanced(ddsc_context *context, ddsc_measures **copy,
                                                 const ddsc_measures *measures, int64_t per_class);
/* Copies the set and resamples the points of each item (bootstrap). For an item with n_i points,
 * n_i points are drawn with replacement, with probabilities equal to their weights. The new weights
 * are counts / n_i. `round` (0 .. 2^31 - 1) and the context's seed determine the draws. */
DDSC_API ddsc_status ddsc_measures_copy_resampled(ddsc_context *context, ddsc_measures **copy,
                                                  const ddsc_measures *measures, int64_t round);

typedef struct ddsc_compress_report {
    size_t struct_size;
    int64_t n_before, n_after; /* total number of support points of all items, before and after */
    /* upper bounds on the exact W2 between an item and its compressed form */
    double mean_w2, max_w2;
    /* Accuracy of the distances after compression, as measured by ddsc_measures_compress_for on the
     * n_pairs pairs of n_items items; 0: not measured. error_median and error_95 are quantiles of
     * the relative change of D, and kept is the fraction of the n_near nearest neighbors that do
     * not change. */
    int64_t n_items, n_pairs, n_near;
    double error_median, error_95, kept;
    int64_t n_points; /* maximum number of points of an item; 0: nothing was merged */
} ddsc_compress_report;

#define ddsc_compress_report_init(report) \
    ddsc_compress_report_init_sized((report), sizeof *(report))
DDSC_API void ddsc_compress_report_init_sized(ddsc_compress_report *report, size_t size);
/* Copies the set and merges the points of each item until it has at most m. The pair of points with
 * the smallest a_i a_j / (a_i + a_j) |x_i - x_j|^2 is repeatedly replaced by its weighted mean
 * (Ward's rule). `report` may be NULL. */
DDSC_API ddsc_status ddsc_measures_compress(ddsc_context *context, ddsc_measures **merged,
                                            ddsc_compress_report *report,
                                            const ddsc_measures *measures, int64_t m);

/* ==== Transforms ==== */

typedef enum ddsc_normalize {
    DDSC_NORMALIZE_NONE = 0,
    DDSC_NORMALIZE_STANDARD, /* mean 0, variance 1 */
    DDSC_NORMALIZE_ROBUST,   /* median 0, interquartile range 1 */
    DDSC_NORMALIZE_RANK,     /* ranks scaled to 0 .. 1 */
    /* deprecated spellings */
    DDSC_NORMALISE_NONE = DDSC_NORMALIZE_NONE,
    DDSC_NORMALISE_STANDARD = DDSC_NORMALIZE_STANDARD,
    DDSC_NORMALISE_ROBUST = DDSC_NORMALIZE_ROBUST,
    DDSC_NORMALISE_RANK = DDSC_NORMALIZE_RANK
} ddsc_normalize;
typedef ddsc_normalize ddsc_normalise; /* deprecated spelling */

/* The properties of each item that alignment removes. */
typedef enum ddsc_align {
    DDSC_ALIGN_NONE = 0,
    DDSC_ALIGN_CENTER, /* position: mean 0 */
    DDSC_ALIGN_SIZE,   /* position and size: mean 0, mean squared distance from the mean 1 */
    /* position and slant of two coordinates (row, column): mean 0, covariance 0 */
    DDSC_ALIGN_DESKEW,
    DDSC_ALIGN_PRINCIPAL, /* position and rotation: mean 0, coordinates along the item's principal
                           * axes */
    DDSC_ALIGN_CENTRE = DDSC_ALIGN_CENTER /* deprecated spelling */
} ddsc_align;

typedef struct ddsc_transform_settings {
    size_t struct_size;
    /* "5" maps x to arcsinh(x / 5). "CD*=5,p*=1" maps only the coordinates selected by name (* and
     * ? are wildcards). NULL: none. */
    const char *arcsinh;
    int log1p; /* non-zero: x -> ln(1 + x) */
    union {
        ddsc_normalize normalize;
        ddsc_normalize normalise; /* deprecated spelling */
    };
    int64_t pca;      /* number of principal components kept; 0: keep all coordinates */
    int64_t per_item; /* maximum number of points drawn at random from each item; 0: keep all
                       * points */
    ddsc_align align;
    /* "262144" selects the logicle scale with T = 262144. "T:W:M:A" sets all parameters, and
     * "NAME=T:W:M:A,..." selects coordinates as in arcsinh. If W is omitted or empty, it is fitted
     * to the negative values. M defaults to 4.5 and A to 0. NULL: none. */
    const char *logicle;
    /* A metadata column (from meta_path or item_columns) that names the batch of each item. The
     * distribution of each coordinate in a batch is mapped onto that of all items, quantile by
     * quantile. NULL: none. */
    const char *batch;
} ddsc_transform_settings;

#define ddsc_transform_settings_init(settings) \
    ddsc_transform_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_transform_settings_init_sized(ddsc_transform_settings *settings, size_t size);

/* Transforms a copy of the set. The transforms are applied in this order: per_item, arcsinh,
 * logicle, log1p, batch, normalize, pca and align. Coordinates are normalized over all items, and
 * each item has the same weight. The fitted parameters are stored with the set, in npz files and in
 * models, so that ddsc_assign_run can apply them to new, untransformed items. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status
ddsc_measures_transform(ddsc_context *context, ddsc_measures **transformed,
                        const ddsc_measures *measures, const ddsc_transform_settings *settings);
/* Returns the name of a transform applied to the set ("arcsinh", "standard", "align deskew", ...).
 * Steps are numbered from 0 in order of application. Returns NULL after the last step. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_transform(const ddsc_measures *measures,
                                                                   int64_t step);

/* For k = 0, returns the metadata column that names the batches. For larger k, returns the names of
 * the batches. Returns NULL after the last batch, and for every k if no batches were mapped. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_measures_get_batch(const ddsc_measures *measures,
                                                               int64_t k);

/* Advice on the scales of the coordinates. */
typedef enum ddsc_units_advice {
    DDSC_UNITS_FINE = 0,
    DDSC_UNITS_DIFFER,    /* the units differ; use DDSC_NORMALIZE_STANDARD */
    DDSC_UNITS_INTENSITY, /* counts or intensities over a wide range; use arcsinh or log1p */
    /* the units differ, and a few points dominate; use DDSC_NORMALIZE_RANK for w2, w1, sinkhorn and
     * lot */
    DDSC_UNITS_HEAVY
} ddsc_units_advice;

/* Statistics of the scales of the coordinates, in which each item has the same weight. */
typedef struct ddsc_units {
    size_t struct_size;
    /* Caller-allocated arrays with one entry per coordinate. A result whose pointer is NULL is not
     * computed. */
    double *low, *high; /* range */
    double *spread;     /* standard deviation */
    double *share;      /* share of the squared distances between points */
    double *outliers;   /* share of the squared spread that is due to 1% of the points; 0.08 for a
                         * normal distribution */
    /* Output fields. */
    ddsc_units_advice advice;
    int64_t n_small; /* number of non-constant coordinates whose spread is below 1/20 of the
                      * largest */
    int64_t n_large; /* number of the other non-constant coordinates */
    int64_t widest;  /* the coordinate with the largest spread; -1: all are constant */
    double jump;     /* largest ratio of two consecutive spreads, in decades */
} ddsc_units;

#define ddsc_units_init(units) ddsc_units_init_sized((units), sizeof *(units))
DDSC_EXPERIMENTAL DDSC_API void ddsc_units_init_sized(ddsc_units *units, size_t size);
/* Checks whether a few coordinates account for nearly all of the distances. The advice differs from
 * FINE if at least a fifth of the coordinates have a spread below 1/20 of the largest spread. A
 * jump of half a decade between consecutive spreads indicates different units; without a jump, the
 * coordinates are counts or intensities. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_units_run(ddsc_context *context, ddsc_units *units,
                                                      const ddsc_measures *measures);

/* ==== Files ==== */

typedef enum ddsc_format {
    /* reading: detected from the content; writing: determined by the file extension */
    DDSC_FORMAT_AUTO = 0,
    DDSC_FORMAT_NPZ,
    DDSC_FORMAT_NPY,
    DDSC_FORMAT_CSV, /* separated by comma, tab, semicolon or |, detected from the content */
    DDSC_FORMAT_TSV,
    DDSC_FORMAT_IDX,
    DDSC_FORMAT_D2,
    DDSC_FORMAT_FCS,
    DDSC_FORMAT_MTX,
    DDSC_FORMAT_IMAGE, /* png, jpeg, pgm, ppm */
    DDSC_FORMAT_CLOUD, /* ply, off, pcd, or rows of plain numbers */
    DDSC_FORMAT_HDF5   /* AnnData's h5ad files, or plain tables */
} ddsc_format;

/* How an image is converted to a distribution. */
typedef enum ddsc_image_as {
    DDSC_IMAGE_PIXELS = 0,                 /* the pixels, weighted by brightness */
    DDSC_IMAGE_INK,                        /* the pixels, weighted by darkness; for ink on paper */
    DDSC_IMAGE_COLORS,                     /* 512 colors, weighted by area */
    DDSC_IMAGE_COLOURS = DDSC_IMAGE_COLORS /* deprecated spelling */
} ddsc_image_as;

/* Flags for all functions that write files. Files are written atomically. */
typedef enum ddsc_write_flags {
    DDSC_WRITE_OVERWRITE = 1 /* replace an existing file */
} ddsc_write_flags;

typedef struct ddsc_read_settings {
    size_t struct_size;
    ddsc_on_empty on_empty;
    int phase;               /* .d2: the phase to read, from 1; 0: all phases joined */
    const char *labels_path; /* idx, csv or npy file with labels for any input; NULL: none */
    const char *channels;    /* fcs: comma-separated names or 1-based numbers; NULL: all */
    double arcsinh;          /* fcs, csv: x -> arcsinh(x / arcsinh); 0: raw values */
    int64_t max_bytes;       /* maximum uncompressed size of one file; default 64 GiB */
    int phases;              /* .d2: number of phases per object, which the file does not state; 0:
                              * detect */
    /* The following fields select columns by name. For csv and tsv, names are those in the header.
     * For HDF5, they are the names of columns in obs. Several names are separated by commas, and *
     * and ? are wildcards. `columns` and `drop` also apply to fcs and point clouds. */
    const char *id_columns;    /* columns that identify an item, joined by "/"; NULL: `id` */
    const char *weight_column; /* NULL: `weight` if it exists */
    const char *label_column;  /* NULL: `label` if it exists */
    const char *where;         /* "COLUMN=VALUE": read only matching rows; NULL: all */
    const char *columns;       /* columns used as coordinates; NULL: all numeric columns */
    const char *drop;          /* columns that are not used as coordinates; NULL: none */
    const char *meta_path;     /* path of a metadata table, matched by id; NULL: none */
    ddsc_image_as image_as;    /* images: conversion to a distribution; default pixels */
    const char *matrix;        /* HDF5: dataset with the points; NULL: `X` if it exists, else
                                * `points` */
    /* Columns stored as metadata, like those of meta_path. All rows of an item must have the same
     * value. Missing columns are ignored. NULL: none. */
    const char *item_columns;
    /* DDSC_FORMAT_AUTO (default) detects the format from the content, but accepts HDF5 only if the
     * name ends in .h5ad, .h5 or .hdf5. DDSC_FORMAT_HDF5 reads HDF5 files with any name, and from
     * standard input. */
    ddsc_format format;
    /* csv, tsv and HDF5: column with the type of each point, such as the type of a cell. The types
     * become the names of the points. NULL: `point_name` in csv and tsv, if it exists. */
    const char *type_column;
} ddsc_read_settings;

#define ddsc_read_settings_init(settings) \
    ddsc_read_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_read_settings_init_sized(ddsc_read_settings *settings, size_t size);

/* Reads any format listed in docs/formats.md, optionally compressed with gzip. The path "-" is
 * standard input. For a folder, all files in it and in its immediate subfolders are read. The name
 * of a subfolder is the class of its files. */
DDSC_API ddsc_status ddsc_measures_read(ddsc_context *context, ddsc_measures **measures,
                                        const char *path, const ddsc_read_settings *settings);
/* Reads several files or folders and concatenates their items. If each file is one item (fcs,
 * images, point clouds, and npy if there are several files), the file name is the id of the
 * item. */
DDSC_API ddsc_status ddsc_measures_read_files(ddsc_context *context, ddsc_measures **measures,
                                              int64_t n_paths, const char *const *paths,
                                              const ddsc_read_settings *settings);
/* Writes the path of the existing table `number` (0, 1, ...) of a d2 file to `out`. These tables
 * (NAME.vocab0, NAME.hist0) are next to the d2 file and are read with it. Like snprintf, the
 * function writes at most `size` bytes and returns the full length, or 0 after the last table. */
DDSC_EXPERIMENTAL DDSC_API size_t ddsc_measures_find_table(char *out, size_t size, const char *path,
                                                           int64_t number);
/* Shares one set among all ranks of a team. `read` creates the set, for example from a file. `read`
 * is called only on the first rank, with a context that has no team during the call. On success,
 * all ranks have this set, in memory shared by the ranks of each machine. On failure, all ranks
 * receive the status and message of the first rank. Destroy the set before the team. Without a
 * team, *measures is the set that `read` created. */
typedef ddsc_status (*ddsc_measures_fn)(void *user, ddsc_context *context,
                                        ddsc_measures **measures);
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_share(ddsc_context *context,
                                                           ddsc_measures **measures,
                                                           ddsc_measures_fn read, void *user);
/* Writes the set as npz, csv or tsv (optionally .gz), or d2. flags: ddsc_write_flags. */
DDSC_API ddsc_status ddsc_measures_write(ddsc_context *context, const ddsc_measures *measures,
                                         const char *path, ddsc_format format, unsigned flags);

/* Reads a square matrix from npy (f4 or f8), MatrixMarket or a text table, with or without row and
 * column names. Missing entries of a sparse file are NaN. Free the matrix with ddsc_release. */
DDSC_API ddsc_status ddsc_matrix_read(ddsc_context *context, double **matrix, int64_t *n,
                                      const char *path);
/* Reads a matrix on the first rank of a team and shares it with all ranks, as ddsc_measures_share
 * does. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_matrix_read_shared(ddsc_context *context,
                                                               double **matrix, int64_t *n,
                                                               const char *path);
/* Reads a two-dimensional numeric npy array. Free the rows with ddsc_release. */
DDSC_API ddsc_status ddsc_rows_read(ddsc_context *context, double **rows, int64_t *n_rows,
                                    int64_t *n_columns, const char *path);
/* Writes n_rows x n_columns doubles as npy. If n_columns is 0, the array is one-dimensional with
 * n_rows entries. */
DDSC_API ddsc_status ddsc_matrix_write(ddsc_context *context, const double *matrix, int64_t n_rows,
                                       int64_t n_columns, const char *path, unsigned flags);
/* Reads labels: one integer or name per row. Accepted files are csv with a header (the column
 * `label`, otherwise the last column), text with one value per line, npy of integers, idx labels,
 * and an npz that contains labels. Names are converted to class numbers in order of first
 * appearance. Free the labels with ddsc_release. */
DDSC_API ddsc_status ddsc_labels_read(ddsc_context *context, int32_t **labels, int64_t *n,
                                      const char *path);
/* How labels were matched with rows. */
typedef enum ddsc_join {
    DDSC_JOIN_ORDER = 0, /* by position, because one side has no ids */
    DDSC_JOIN_ID
} ddsc_join;

/* Reads labels for the rows of `measures` (n_rows entries). Labels are matched by id if the file
 * has ids (a column or array `id` or `ids`). If a row has no label or a label has no row, the call
 * fails with a message that names the id. If the items have no ids, the ids of the file are
 * compared with row numbers, and if they do not match, labels are assigned in file order. A file
 * without ids must have one label per row. `how` may be NULL. Free the labels with ddsc_release. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_labels_read_for(ddsc_context *context, int32_t **labels,
                                                            ddsc_join *how,
                                                            const ddsc_measures *measures,
                                                            const char *path);
/* Reads two label files for the same rows, in the order of the first file. Rows are matched in the
 * same way as in ddsc_labels_read_for. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_labels_read_both(ddsc_context *context,
                                                             int32_t **labels, int32_t **others,
                                                             int64_t *n, ddsc_join *how,
                                                             const char *path,
                                                             const char *others_path);
/* Writes csv with the header `id,label`. Ids are taken from measures. If measures is NULL, ids are
 * row numbers. */
DDSC_API ddsc_status ddsc_labels_write(ddsc_context *context, const int32_t *labels, int64_t n,
                                       const ddsc_measures *measures, const char *path,
                                       unsigned flags);
/* Writes bytes to a file. */
DDSC_API ddsc_status ddsc_file_write(ddsc_context *context, const char *path, const void *bytes,
                                     size_t n_bytes, unsigned flags);
/* Checks whether a file can be written to `path`, so that a long run does not fail at the end. The
 * check creates a temporary file in the folder and removes it. flags: ddsc_write_flags. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_file_check(ddsc_context *context, const char *path,
                                                       unsigned flags);

/* ==== Text ==== */

typedef enum ddsc_tokens {
    /* words are separated by white space; ASCII punctuation except ' is treated as white space */
    DDSC_TOKENS_PUNCTUATION = 0,
    DDSC_TOKENS_LETTERS, /* words are runs of two or more letters */
    /* default: words as they are usually written. c#, c++, .net, node.js, at&t, x-ray, u.s. and 1.5
     * are single words, and other compounds are split. Text in scripts without spaces (Chinese,
     * Japanese, Thai) is divided into pairs of characters */
    DDSC_TOKENS_WORDS
} ddsc_tokens;

typedef enum ddsc_weighting {
    DDSC_WEIGHTING_TFIDF = 0, /* count of the word in the document times its idf */
    DDSC_WEIGHTING_TF,        /* count of the word in the document */
    /* default: count of the word times a weight learned from the documents. The weight combines idf
     * with the consistency of the contexts in which the word occurs. Same as TFIDF if `words` is
     * GENERAL */
    DDSC_WEIGHTING_AUTO
} ddsc_weighting;

/* N is the number of documents, and df is the number of documents that contain the word. */
typedef enum ddsc_idf {
    DDSC_IDF_PLAIN = 0, /* log2(N / df), which is 0 for a word that occurs in every document */
    DDSC_IDF_SMOOTH     /* ln((1 + N) / (1 + df)) + 1 */
} ddsc_idf;

/* The source of the word vectors. */
typedef enum ddsc_words {
    /* vectors from the file, fitted to the documents; without a file, the same as OWN */
    DDSC_WORDS_FITTED = 0,
    DDSC_WORDS_GENERAL, /* vectors from the file, unchanged; words without a vector are dropped */
    DDSC_WORDS_OWN      /* vectors learned only from the documents; specifying a file is an error */
} ddsc_words;

enum { DDSC_TEXT_SUPPORT_AUTO = -1 };

typedef struct ddsc_text_settings {
    size_t struct_size;
    /* comma-separated; NULL: `text`, else `abstract`, else `title` and `body`, else `body` */
    const char *text_columns;
    const char *label_column;   /* NULL: `label` if it exists */
    const char *id_columns;     /* comma-separated, values joined by "/"; NULL: `id` if it exists */
    const char *where;          /* "COLUMN=VALUE": read only matching rows; NULL: all */
    const char *stopwords_path; /* file of words to ignore, separated by whitespace; NULL: none */
    /* folder with WordNet's noun.exc and index.noun, used to reduce plurals to singulars; NULL:
     * words are not changed */
    const char *lemmas_path;
    ddsc_tokens tokens;
    ddsc_weighting weighting;
    ddsc_idf idf;
    /* maximum number of points per document (the remaining words are merged into these points); 0:
     * no limit; default DDSC_TEXT_SUPPORT_AUTO: 16 for documents of more than 32 words, and for all
     * documents with `paper` */
    int64_t support;
    /* what happens to documents in which no word has both a vector and a weight; default drop */
    ddsc_on_empty on_empty;
    int64_t max_bytes; /* maximum uncompressed size of one file; default 64 GiB */
    ddsc_words words;  /* default fitted */
    int64_t paper;     /* 1: the paper's algorithm; see ddsc_paper_get_rule */
} ddsc_text_settings;

#define ddsc_text_settings_init(settings) \
    ddsc_text_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_text_settings_init_sized(ddsc_text_settings *settings, size_t size);

enum { DDSC_TEXT_NAMED = 10 };

/* Word and token counts exclude stop words. */
typedef struct ddsc_text_report {
    size_t struct_size;
    int64_t n_rows;      /* rows of the file */
    int64_t n_documents; /* number of documents selected by `where`; N in ddsc_idf */
    int64_t n_empty;
    int64_t empty_row[DDSC_TEXT_NAMED], empty_line[DDSC_TEXT_NAMED]; /* the first empty documents */
    int64_t n_tokens, n_tokens_covered; /* covered tokens have a vector in the file */
    int64_t n_words, n_words_covered;
    int64_t n_vectors; /* number of lines in the vectors file */
    /* repeated vectors for words in the documents; only the first vector of each word is used */
    int64_t n_duplicate_vectors;
    char text_columns[256], label_column[256], id_columns[256]; /* columns used, "" if none */
    /* Effect of `support`, as in ddsc_compress_report. Zero if `support` was 0. */
    int64_t n_points_before, n_points_after;
    double mean_w2, max_w2;
    /* Effect of `words`. */
    int64_t n_words_used, n_tokens_used; /* number of words and tokens that have a vector in the
                                          * result */
    int64_t n_words_placed; /* words without a vector in the file whose vector was estimated from
                             * their co-occurrence */
    int64_t n_words_own, own_dim; /* number of vectors learned from the documents, and their
                                   * dimension; 0: none */
    int64_t n_words_given;        /* number of words whose vectors were taken from an npz with
                                   * fitted vectors */
    char missing_words[512];      /* most frequent words without a vector: "word (count), ..." */
} ddsc_text_report;

#define ddsc_text_report_init(report) ddsc_text_report_init_sized((report), sizeof *(report))
DDSC_API void ddsc_text_report_init_sized(ddsc_text_report *report, size_t size);

/* Converts documents and word vectors to measures. Item i is document i, and its points are word
 * vectors. report may be NULL.
 *
 * Documents are read from a table with a header and one document per row, from a file with one JSON
 * object per line, or from a folder of .txt files. Columns are separated by tabs (quotes are then
 * part of the data) or by comma, semicolon or |, with quotes as in RFC 4180. In a folder, the file
 * name is the id and the name of a subfolder is the class.
 *
 * Vectors are read from a text file in the format of GloVe, word2vec or fastText, from a binary
 * word2vec file, or from an npy matrix. The words of an npy matrix are in a second file with the
 * extension .vocab or .txt, one per line. Any file may be compressed with gzip, and "-" is standard
 * input.
 *
 * Vectors fitted to the documents are stored with the measures (n_words of the view), in npz files
 * and in models. Pass such an npz file as vectors_path to encode further documents with the same
 * vectors, idf values and settings of tokens, weighting and idf. If vectors_path is NULL, vectors
 * are learned from the documents. */
DDSC_API ddsc_status ddsc_text_read(ddsc_context *context, ddsc_measures **measures,
                                    ddsc_text_report *report, const char *documents_path,
                                    const char *vectors_path, const ddsc_text_settings *settings);
/* Reads several plain text files, each with one document, and folders of such files. If there is
 * only one path, it is read as in ddsc_text_read. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_text_read_files(
    ddsc_context *context, ddsc_measures **measures, ddsc_text_report *report, int64_t n_paths,
    const char *const *paths, const char *vectors_path, const ddsc_text_settings *settings);
/* Writes the path of the existing file with the words of an npy matrix to `out`, as
 * ddsc_measures_find_table does. Returns 0 if there is no such file. */
DDSC_EXPERIMENTAL DDSC_API size_t ddsc_text_find_words(char *out, size_t size,
                                                       const char *vectors_path);

/* ==== Metrics and distances ==== */

typedef enum ddsc_metric {
    DDSC_METRIC_W2 = 0,   /* exact 2-Wasserstein: D^2 = min <P, C>, C squared Euclidean */
    DDSC_METRIC_SINKHORN, /* entropic transport */
    DDSC_METRIC_MMD,      /* maximum mean discrepancy */
    DDSC_METRIC_LOT, /* linear optimal transport: Euclidean distance after one transport per item */
    DDSC_METRIC_W1   /* exact 1-Wasserstein: D = min <P, C>, C Euclidean (word mover's distance) */
} ddsc_metric;

/* Cost of moving one unit of mass from one point to another. w2 accepts sqeuclidean, cosine and
 * matrix. w1 accepts euclidean, cityblock and matrix. sinkhorn accepts all costs. lot accepts
 * sqeuclidean and cosine. mmd accepts only the default. */
typedef enum ddsc_cost {
    DDSC_COST_DEFAULT = 0, /* euclidean for w1, sqeuclidean for the others */
    DDSC_COST_SQEUCLIDEAN, /* |x - y|^2 */
    DDSC_COST_EUCLIDEAN,   /* |x - y| */
    DDSC_COST_COSINE,      /* |x/|x| - y/|y||^2 = 2 - 2 cos(x, y) */
    DDSC_COST_CITYBLOCK,   /* sum of |x_k - y_k| */
    DDSC_COST_MATRIX /* cost_matrix[x][y]; the single coordinate of a point is its row number */
} ddsc_cost;

typedef enum ddsc_sinkhorn_value {
    /* D^2 = W_eps = min <P, C> + epsilon KL(P | a x b); for costs that are distances, D = W_eps */
    DDSC_SINKHORN_REGULARIZED = 0,
    DDSC_SINKHORN_SHARP,    /* <P, C> of the regularized plan */
    DDSC_SINKHORN_DEBIASED, /* regularized(a,b) - (regularized(a,a) + regularized(b,b)) / 2 */
    DDSC_SINKHORN_PAPER,    /* D = W_eps for every cost, as in the paper */
    DDSC_SINKHORN_REGULARISED = DDSC_SINKHORN_REGULARIZED /* deprecated spelling */
} ddsc_sinkhorn_value;

typedef enum ddsc_mmd_kernel {
    DDSC_KERNEL_GAUSSIAN = 0, /* exp(-r^2 / (2 h^2)) */
    DDSC_KERNEL_LAPLACE,      /* exp(-r / h) */
    DDSC_KERNEL_ENERGY        /* -r (no bandwidth) */
} ddsc_mmd_kernel;

typedef enum ddsc_bandwidth_rule {
    /* NEAR, unless the median is less than 1.85 times the NEAR value, as is common for points with
     * five or more dimensions. In that case, 1.5 times the median for the gaussian kernel, and
     * MEDIAN for the laplace kernel and for documents with fitted or learned word vectors */
    DDSC_BANDWIDTH_AUTO = 0,
    DDSC_BANDWIDTH_MEDIAN, /* median of the non-zero distances between points of a fixed sample */
    DDSC_BANDWIDTH_VALUE,
    DDSC_BANDWIDTH_NEAR /* 5% quantile of these distances */
} ddsc_bandwidth_rule;

typedef enum ddsc_mmd_estimator {
    DDSC_MMD_UNBIASED = 0, /* pairs i != j only; may be negative */
    DDSC_MMD_BIASED,       /* all pairs; never negative */
    DDSC_MMD_AUTO          /* default: BIASED, or UNBIASED in the paper's algorithm */
} ddsc_mmd_estimator;

typedef enum ddsc_reference_rule {
    DDSC_REFERENCE_NORMAL = 0, /* random sample from a normal distribution with the pooled mean and
                                * scale */
    DDSC_REFERENCE_KMEANS,     /* k-means centers of the pooled points */
    DDSC_REFERENCE_MEASURES,   /* the first item of reference_measures */
    /* default: KMEANS, or NORMAL in up to three dimensions and in the paper's algorithm */
    DDSC_REFERENCE_AUTO
} ddsc_reference_rule;

typedef struct ddsc_metric_settings {
    size_t struct_size;
    ddsc_metric metric;
    double epsilon;         /* sinkhorn: regularization; default 5 (percent of the median cost) */
    int epsilon_is_percent; /* 1: epsilon is a percentage of the median cost */
    ddsc_sinkhorn_value sinkhorn_value;
    double sinkhorn_tolerance; /* maximum L1 error of the marginals of a converged solve; at least
                                * 1e-15 */
    int64_t sinkhorn_max_iterations;
    ddsc_mmd_kernel mmd_kernel;
    ddsc_bandwidth_rule bandwidth_rule;
    double bandwidth; /* with DDSC_BANDWIDTH_VALUE */
    ddsc_mmd_estimator mmd_estimator;
    ddsc_reference_rule reference_rule;
    int64_t reference_size; /* number of points; 0: the mean support size */
    const ddsc_measures *reference_measures;
    int64_t w2_max_pivots;  /* maximum number of pivots; 0: a large multiple of the problem size */
    int64_t mmd_features;   /* number of random Fourier features (gaussian, laplace); 0: exact */
    int64_t lot_components; /* number of principal components of the LOT embedding that are kept; 0:
                             * all */
    int64_t cost;           /* a ddsc_cost */
    /* With DDSC_COST_MATRIX: a cost_size x cost_size matrix, symmetric, non-negative, 0 on the
     * diagonal. The matrix is borrowed during the call. */
    const double *cost_matrix;
    int64_t cost_size;
    int64_t paper; /* 1: the paper's algorithm; see ddsc_paper_get_rule */
} ddsc_metric_settings;

#define ddsc_metric_settings_init(settings) \
    ddsc_metric_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_metric_settings_init_sized(ddsc_metric_settings *settings, size_t size);

/* Statistics of the pairs computed in one run. ddsc_context_get_details returns named statistics of
 * individual stages. */
typedef struct ddsc_pair_stats {
    size_t struct_size;
    int64_t n_pairs;         /* number of pairs required for the result */
    int64_t n_solved;        /* number of pairs whose value was computed */
    int64_t n_bounds;        /* number of lower bounds evaluated */
    int64_t n_pruned;        /* number of pairs excluded by a bound */
    int64_t n_not_converged; /* number of solves that reached their iteration limit */
    /* number of negative unbiased estimates; they are used unchanged to rank neighbors, and are set
     * to 0 in the affinity */
    int64_t n_clamped;
    int64_t n_iterations;   /* number of pivots or Sinkhorn iterations over all solves */
    double max_gap;         /* w2, lot: largest relative duality gap; sinkhorn: largest marginal
                             * error */
    double epsilon;         /* epsilon that was used, in absolute units */
    double bandwidth;       /* bandwidth that was used */
    int64_t reference_size; /* number of points in the LOT reference */
    double seconds;
    /* Approximate metrics only: number of pairs in a fixed sample on which the error was measured.
     * For lot, the error is |D - W2| / W2. For mmd_features, it is |D^2 - exact D^2|. */
    int64_t n_checked;
    double check_median, check_high, check_max; /* 50%, 95% and 100% quantiles of that error */
    int64_t n_features;                         /* number of random Fourier features used */
    int64_t n_components;   /* number of components of the LOT embedding kept; 0: not reduced */
    double reduction_error; /* fraction of the embedding's variance lost by the reduction */
    /* Approximate neighbors: fraction of the true neighbors found, measured on a random sample of
     * n_recall_rows items; 0 if the search was exact. */
    double recall;
    int64_t n_recall_rows;
    /* 95% confidence interval of the recall over all items; reports should state recall_low */
    double recall_low, recall_high;
    /* lot: accuracy of the embedding phi. |phi(reference)| should be 0. |phi(item)| equals W2(item,
     * reference) unless the optimal plan splits the mass of a reference point. In that case,
     * barycentric projection shortens phi(item). n_split is the number of items with a shortfall 1
     * - |phi| / W2 above 1e-9. */
    double reference_norm;
    int64_t n_split;
    double shortfall_mean, shortfall_max;
} ddsc_pair_stats;

#define ddsc_pair_stats_init(stats) ddsc_pair_stats_init_sized((stats), sizeof *(stats))
DDSC_API void ddsc_pair_stats_init_sized(ddsc_pair_stats *stats, size_t size);

/* Flags that select the form of distances in arguments and results. */
typedef enum ddsc_distance_flags {
    DDSC_DISTANCE_SQUARED = 1,  /* D^2 as defined by the metric; without this flag, sqrt(max(D^2,
                                 * 0)) */
    DDSC_DISTANCE_CONDENSED = 2 /* only the N(N-1)/2 entries above the diagonal, row by row */
} ddsc_distance_flags;

/* Computes the distance matrix of the items (N x N, row-major) in the form selected by the flags.
 * `stats` may be NULL. After an error, `out` may be partially filled. */
DDSC_API ddsc_status ddsc_distance_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                                       const ddsc_measures *measures,
                                       const ddsc_metric_settings *settings, unsigned flags);
/* Computes distances between two sets. `out` has a row for each item of `rows` and a column for
 * each item of `columns`. Parameters that are chosen from the data depend on both sets. If every
 * item has its own points, the values are bit-identical to those in the matrix of the concatenated
 * set. flags: SQUARED or 0. After an error, `out` may be partially filled. */
DDSC_API ddsc_status ddsc_cross_run(ddsc_context *context, double *out, ddsc_pair_stats *stats,
                                    const ddsc_measures *rows, const ddsc_measures *columns,
                                    const ddsc_metric_settings *settings, unsigned flags);

/* Compresses a set as ddsc_measures_compress does, and measures how the distances of a metric
 * change on the pairs of up to 24 items. If m is 0, the function chooses the smallest of 256, 128,
 * 64, 32 and 16 points that preserves the fraction `keep` (0 < keep <= 1) of the nearest neighbors
 * of these items, or else the number that preserves the largest fraction. If these items have fewer
 * than 32 points on average, or the set has fewer than 3 items, nothing is merged: *merged is NULL,
 * and n_points of the report is 0. `report` and `settings` may be NULL. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_compress_for(
    ddsc_context *context, ddsc_measures **merged, ddsc_compress_report *report,
    const ddsc_measures *measures, const ddsc_metric_settings *settings, int64_t m, double keep);

/* Computes the LOT embedding of the items. Free *out (n_items x *n_columns, row-major) with
 * ddsc_release. */
DDSC_API ddsc_status ddsc_embed_run(ddsc_context *context, double **out, int64_t *n_columns,
                                    ddsc_pair_stats *stats, const ddsc_measures *measures,
                                    const ddsc_metric_settings *settings);
/* Creates the LOT reference selected by the settings, as a set with one item. Use it with
 * reference_rule MEASURES to embed other items in the same space. */
DDSC_API ddsc_status ddsc_reference_create(ddsc_context *context, ddsc_measures **reference,
                                           const ddsc_measures *measures,
                                           const ddsc_metric_settings *settings);

/* ==== The neighbor graph ==== */

/* The nearest neighbors of each item with their squared distances, in ascending order of distance.
 * If distances are equal, the item with the lower index comes first. */
typedef struct ddsc_graph ddsc_graph;

typedef enum ddsc_exact_graph {
    DDSC_GRAPH_AUTO = 0, /* pruned search if the metric has bounds that reduce the work, otherwise
                          * every pair */
    DDSC_GRAPH_FULL,     /* compute every pair */
    DDSC_GRAPH_PRUNED
} ddsc_exact_graph;

typedef enum ddsc_neighbors {
    DDSC_NEIGHBORS_AUTO = 0, /* exact for up to 100,000 items, approximate for more */
    DDSC_NEIGHBORS_EXACT,    /* exact nearest neighbors */
    /* candidates from NN-descent, ranked by the metric; the recall is measured */
    DDSC_NEIGHBORS_APPROXIMATE
} ddsc_neighbors;

/* In many dimensions, a few items become neighbors of nearly all items (hubs), and many items are
 * neighbors of none. To correct this, neighbors can be chosen by D^2 / (s_i s_j), where s is the
 * mean distance to the tau nearest items. Edges still contain D^2. If neighbors are approximate,
 * only the nearest items found by the search are ranked in this way. With sample_columns, the
 * rescaled distances are only as accurate as the approximate distances. */
typedef enum ddsc_hubs {
    DDSC_HUBS_DEFAULT = 0, /* same as AUTO when clustering measures, same as OFF when computing only
                            * a graph */
    DDSC_HUBS_OFF,         /* choose the nearest items by unscaled distance */
    DDSC_HUBS_AUTO,        /* rescale if the in-degrees of the nearest-neighbor graph are skewed */
    DDSC_HUBS_ALWAYS
} ddsc_hubs;

typedef struct ddsc_graph_settings {
    size_t struct_size;
    int64_t tau; /* number of neighbors per item. 0: max(10, ceil(log2 N)), but at most max(3,
                  * ceil(N/8)); documents get up to 20, and short documents up to 28. Always less
                  * than N */
    ddsc_exact_graph exact_graph;
    /* Fraction of the pairs that are computed; 1: all. Clustering estimates the other pairs where
     * possible, except in the paper's algorithm. */
    double sample;
    /* Fraction of the items for which the distances to all items are computed; 1: all. All other
     * distances are approximated from these distances (Nystrom). */
    double sample_columns;
    ddsc_neighbors neighbors;
    int64_t hubs;  /* a ddsc_hubs */
    int64_t paper; /* 1: the paper's algorithm; see ddsc_paper_get_rule */
} ddsc_graph_settings;

#define ddsc_graph_settings_init(settings) \
    ddsc_graph_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_graph_settings_init_sized(ddsc_graph_settings *settings, size_t size);

/* Returns the value of tau that is used for a graph of n items. */
DDSC_API int64_t ddsc_graph_get_tau(int64_t n, const ddsc_graph_settings *settings);
/* Returns the value of tau that is used for these items, or 0 if an argument is not valid. */
DDSC_EXPERIMENTAL DDSC_API int64_t ddsc_measures_get_tau(const ddsc_measures *measures,
                                                         const ddsc_graph_settings *settings);

/* Builds the neighbor graph of a set of items. stats may be NULL. */
DDSC_API ddsc_status ddsc_neighbors_run(ddsc_context *context, ddsc_graph **graph,
                                        ddsc_pair_stats *stats, const ddsc_measures *measures,
                                        const ddsc_metric_settings *metric,
                                        const ddsc_graph_settings *settings);
/* Builds the graph from a symmetric matrix of distances. A NaN entry denotes an unknown distance
 * and creates no edge. flags: SQUARED or 0. With SQUARED, values may be negative, as in unbiased
 * estimates. */
DDSC_API ddsc_status ddsc_graph_create_from_matrix(ddsc_context *context, ddsc_graph **graph,
                                                   int64_t n, const double *matrix, unsigned flags,
                                                   const ddsc_graph_settings *settings);
/* Builds the graph from neighbor lists. Entries offsets[i] .. offsets[i+1] are the neighbors of
 * item i (0 <= index < n) and their squared distances, in any order. The call fails if an item is
 * its own neighbor, if a neighbor occurs twice in a list, or if a value is not finite. The lists
 * may have different lengths, and neighbors need not be mutual. The tau of the graph is the length
 * of the longest list. The arrays are copied. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_graph_create_from_csr(ddsc_context *context,
                                                                  ddsc_graph **graph, int64_t n,
                                                                  const int64_t *offsets,
                                                                  const int32_t *indices,
                                                                  const double *d2);
/* Builds the graph from vectors (n x dim), using the Euclidean distance. */
DDSC_API ddsc_status ddsc_graph_create_from_vectors(ddsc_context *context, ddsc_graph **graph,
                                                    int64_t n, int64_t dim, const double *vectors,
                                                    const ddsc_graph_settings *settings);
DDSC_API void ddsc_graph_destroy(ddsc_graph *graph);

typedef struct ddsc_graph_view {
    int64_t n, tau, n_edges;
    const int64_t *offset; /* n + 1 */
    const int32_t *index;  /* item numbers of the neighbors */
    const double *d2;      /* squared distances, which may be negative */
    /* With sample_columns: the number of items for which the distances to all items were computed,
     * and the relative error of the other distances. The error is the median error of D^2 between
     * held-out columns, divided by the median spread of these D^2. An error of 1 means that the
     * estimates are no better than a constant. NaN means that there were too few columns to
     * estimate the error. Without sample_columns, both fields are 0. */
    int64_t n_columns;
    double columns_error;
    /* n values s_i; neighbors minimize D^2 / (s_i s_j) as in ddsc_hubs; NULL: neighbors minimize
     * D^2 */
    const double *scale;
    const ddsc_graph *nearest; /* if scale is set: the graph of the three nearest neighbors of each
                                * item; otherwise NULL */
} ddsc_graph_view;

#define ddsc_graph_get_view(graph, view) ddsc_graph_get_view_sized((graph), (view), sizeof *(view))
DDSC_API void ddsc_graph_get_view_sized(const ddsc_graph *graph, ddsc_graph_view *view,
                                        size_t size);
/* Writes the graph in MatrixMarket format (coordinate real general). The row is the neighbor, the
 * column is the item, and the value is D^2. If the path ends in .npz, the same matrix is written in
 * CSC form, which scipy.sparse.load_npz can read. */
DDSC_API ddsc_status ddsc_graph_write(ddsc_context *context, const ddsc_graph *graph,
                                      const char *path, unsigned flags);

/* ==== The paper's algorithm ==== */

/* The field `paper` of a settings struct selects the algorithm of the paper as printed. Settings
 * that have their default values get the paper's values, and a call fails if any other value
 * contradicts the paper. ddsc_paper_get_rule lists these settings: for k = 0, 1, ..., it stores the
 * name of a setting, its value in the paper, and the reason for this value. The return value is 1,
 * or 0 after the last setting. The texts are constant. `ddsc help paper` relates the settings to
 * the lines of Algorithms 1 and 2. */
DDSC_EXPERIMENTAL DDSC_API int ddsc_paper_get_rule(int64_t k, const char **setting,
                                                   const char **value, const char **reason);

/* ==== Clustering ==== */

typedef enum ddsc_gamma_rule {
    DDSC_GAMMA_AUTO = 0, /* LOCAL, or MEDIAN if a sparse cluster borders a dense one */
    DDSC_GAMMA_MEDIAN,   /* 1 / median of the D^2 in the graph */
    DDSC_GAMMA_VALUE,
    /* local scaling: exp(-2 D^2 / (s_i s_j)), where s_i is the distance to the 7th neighbor */
    DDSC_GAMMA_LOCAL
} ddsc_gamma_rule;

typedef enum ddsc_refine {
    DDSC_REFINE_AUTO = 0, /* WORDS if the items have word counts, otherwise OFF */
    DDSC_REFINE_OFF,
    /* The labels come from a mixture of multinomial distributions over the words of the documents,
     * initialized with the labels from k-means. */
    DDSC_REFINE_WORDS
} ddsc_refine;

/* Everything needed to assign new items to existing clusters, or to repeat or update a clustering:
 * the items, the metric settings, the graph, the embedding and the cluster centers. See the
 * ddsc_model_ functions below. */
typedef struct ddsc_model ddsc_model;

typedef struct ddsc_cluster_settings {
    size_t struct_size;
    int64_t k_min, k_max; /* equal: use that K; k_min < k_max: try each K from k_min to k_max; both
                           * 0: choose K automatically */
    const ddsc_metric_settings *metric; /* NULL: defaults; only read during the call */
    const ddsc_graph_settings *graph;
    ddsc_gamma_rule gamma_rule;
    double gamma;       /* with DDSC_GAMMA_VALUE */
    int paper;          /* 1: the paper's algorithm, which also applies to `metric` and `graph`; see
                         * ddsc_paper_get_rule */
    double min_cluster; /* minimum size of a cluster as a fraction of N/K; default 0.2; 0: no
                         * limit */
    int64_t kmeans_restarts;
    double eigen_tolerance; /* maximum residual |M v - lambda v| of a converged eigenpair */
    int64_t eigen_max_iterations;
    /* Additional metrics as a bit mask of 1 << DDSC_METRIC_..., all with the settings in `metric`.
     * The clusters are computed from the mean of the normalized affinities of all metrics. The
     * graph, the map and the neighbors of items are those of metric->metric. 0: none. */
    int64_t joined;
    /* A model of an earlier run. Its resolved settings are used: metric, bandwidth, epsilon,
     * reference, tau, gamma, hub rule, min_cluster and sampling. The corresponding fields of this
     * struct, of `metric` and of `graph` are ignored, and k_min = k_max = 0 selects the K of the
     * model. Pass items with the transforms of the model (ddsc_measures_copy_like). A pair of items
     * that occurs in both runs has the same distance in both. NULL: none */
    const ddsc_model *like;
    int64_t refine; /* a ddsc_refine; default DDSC_REFINE_AUTO */
    /* 1: with `like`, the settings that the earlier run chose from its data are chosen again for
     * these items: tau, gamma, bandwidth, epsilon, estimator, reference and hub rule. Values that
     * the caller specified for the earlier run are used again. Distances then differ from those of
     * the earlier run. */
    int64_t resolve;
} ddsc_cluster_settings;

#define ddsc_cluster_settings_init(settings) \
    ddsc_cluster_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_cluster_settings_init_sized(ddsc_cluster_settings *settings, size_t size);

/* Computes the settings that a run with `settings` would use (NULL: the defaults). All fields are
 * set and checked as in ddsc_cluster_run. Initialize the three structs with their _init macros. On
 * return, cluster->metric and cluster->graph point to the other two structs. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_cluster_settings_resolve(
    ddsc_context *context, ddsc_cluster_settings *cluster, ddsc_metric_settings *metric,
    ddsc_graph_settings *graph, const ddsc_cluster_settings *settings);

typedef struct ddsc_clustering ddsc_clustering;

/* Clusters a set of items. The function computes the distances, the graph and the eigenvectors and
 * runs k-means. */
DDSC_API ddsc_status ddsc_cluster_run(ddsc_context *context, ddsc_clustering **clustering,
                                      const ddsc_measures *measures,
                                      const ddsc_cluster_settings *settings);
/* Clusters the items of an existing graph. The function computes the eigenvectors and runs
 * k-means. */
DDSC_API ddsc_status ddsc_spectral_run(ddsc_context *context, ddsc_clustering **clustering,
                                       const ddsc_graph *graph,
                                       const ddsc_cluster_settings *settings);
DDSC_API void ddsc_clustering_destroy(ddsc_clustering *clustering);
DDSC_API const int32_t *ddsc_clustering_get_labels(const ddsc_clustering *clustering);

/* Results for one K of a sweep. */
typedef struct ddsc_k_row {
    int64_t k;
    double gap;          /* e_{K+1} - e_K, where e are the eigenvalues of the Laplacian */
    double relative_gap; /* (e_{K+1} + 0.01) / (e_K + 0.01) */
    double modularity;
    double inertia; /* objective of k-means */
    int64_t smallest, largest;
    double stability; /* agreement of k-means between random halves of the items, at most 1; NaN
                       * unless several K are compared */
    /* 0: K splits a group of nearly equal eigenvalues, so some labels may depend on the solver and
     * on the number of ranks */
    int gap_clear;
    /* Mean adjusted Rand index between the labels of the best k-means start and those of the next
     * best starts; 1: these starts give the same clusters. NaN if not computed. */
    double starts_agree;
} ddsc_k_row;

/* Results for one of several joined metrics. */
typedef struct ddsc_joined_row {
    ddsc_metric metric;
    double gamma; /* 0 with local scaling */
    int64_t n_edges;
    int hubs_rescaled;
    int64_t in_degree_largest, n_nobody; /* as in ddsc_clustering_view */
    double seconds;                      /* time spent on the distances of this metric */
} ddsc_joined_row;

typedef struct ddsc_clustering_view {
    int64_t n, k;            /* number of items; number of clusters in `labels` */
    int64_t n_vectors;       /* number of columns of the embedding */
    const int32_t *labels;   /* n, 0 .. k-1, numbered by first appearance */
    const double *embedding; /* n x n_vectors, the rows that k-means clustered */
    /* n_eigenvalues eigenvalues of the normalized Laplacian, ascending */
    const double *eigenvalues;
    const double *residuals;
    int64_t n_eigenvalues;
    int64_t n_components;
    double gamma; /* 0 with local scaling */
    double max_residual;
    int verified;                   /* 1: a random block probe found no missing eigenvalue */
    int eigen_dense;                /* 1: solved with a dense decomposition */
    int64_t n_eigen_products;       /* number of products of the operator with a block of vectors */
    int64_t n_merged_small;         /* number of small clusters that were merged because of
                                     * min_cluster */
    const ddsc_k_row *const *sweep; /* one row per K; read sweep[i]->k */
    int64_t n_sweep;
    const int32_t *sweep_labels;  /* n_sweep x n */
    const ddsc_pair_stats *pairs; /* all fields are zero if the clustering was computed from a
                                   * graph */
    double seconds_distances, seconds_eigen, seconds_kmeans;
    const ddsc_graph *graph; /* the graph if the clustering created and owns it, otherwise NULL */
    const char *advice; /* recommendations about components, gaps and clamped estimates; "" if there
                         * are none */
    const ddsc_detail *details; /* named statistics, as returned by ddsc_context_get_details */
    int64_t n_details;
    /* Hubs: the largest in-degree of any item, and the number of items that are not a neighbor of
     * any other item. If neighbors were chosen by a rescaled distance, the plain_ fields contain
     * the same counts for unscaled distances. */
    int hubs_rescaled;
    int64_t in_degree_largest, n_nobody;
    int64_t plain_in_degree_largest, plain_n_nobody;
    /* if metrics were joined: one row per metric, metric->metric first */
    const ddsc_joined_row *const *joined;
    int64_t n_joined;   /* number of joined metrics; 0 if none were joined */
    const char *resume; /* folder set by ddsc_context_set_resume during the run; NULL: none */
    int64_t n_resumed;  /* number of pairs read from the resume folder */
    /* Documents: the labels before refinement, numbered like `labels`, and the number of labels
     * that refinement changed. sweep_labels are never refined. */
    const int32_t *spectral_labels; /* n; equal to `labels` if n_refine_rounds is 0 */
    int64_t n_moved;
    int64_t n_refine_rounds; /* 0: not refined */
    int refine_stopped; /* 1: refinement ended early because a cluster would have become empty */
} ddsc_clustering_view;

#define ddsc_clustering_get_view(clustering, view) \
    ddsc_clustering_get_view_sized((clustering), (view), sizeof *(view))
DDSC_API void ddsc_clustering_get_view_sized(const ddsc_clustering *clustering,
                                             ddsc_clustering_view *view, size_t size);

/* The weighted graph that was partitioned, and the data needed to extend the embedding to new
 * items. */
typedef struct ddsc_affinity_view {
    int64_t n, n_entries;
    const int64_t *offset; /* n + 1 entries: CSR of (A + A^T)/2, columns ascending, no diagonal */
    const int32_t *column;
    const double *value;
    double gamma;        /* 0: local scaling with `scale` */
    const double *scale; /* n: s_i, the distance to the neighbor of rank scale_rank; or NULL */
    int64_t scale_rank;  /* counted from 1; items with fewer known neighbors use their last
                          * neighbor */
    double scale_floor;  /* lower limit on each s_i */
    /* n values: the length of a row of the embedding before normalization, divided by the square
     * root of the degree. The value is 0 if the row was not computed from the eigenvectors. The
     * radius times the row gives the values of the random walk's eigenfunctions. */
    const double *radius;
} ddsc_affinity_view;

#define ddsc_clustering_get_affinity(clustering, view) \
    ddsc_clustering_get_affinity_sized((clustering), (view), sizeof *(view))
DDSC_API void ddsc_clustering_get_affinity_sized(const ddsc_clustering *clustering,
                                                 ddsc_affinity_view *view, size_t size);

/* A promising K of a sweep, and the criteria that favor it. */
typedef struct ddsc_k_candidate {
    int64_t k;
    int widest_gap, highest_modularity; /* 1: this K has the largest value of all K tried */
    int halves_agree;                   /* 1: this K is the largest with nearly the best
                                         * stability */
    /* 1: the chosen K gives clusters of very different sizes, and its largest cluster may contain
     * classes that this K would separate */
    int large_may_hide;
} ddsc_k_candidate;

enum { DDSC_CANDIDATES_MOST = 4 };

/* Fills candidates (an array of at least DDSC_CANDIDATES_MOST entries), starting with the chosen K,
 * and returns the number of candidates. Returns 0 if the caller fixed K. */
DDSC_EXPERIMENTAL DDSC_API int64_t ddsc_clustering_get_candidates(const ddsc_clustering *clustering,
                                                                  ddsc_k_candidate *candidates);

/* A merge of two nodes of a tree. The clusters are nodes 0 .. k-1, and merge number m creates node
 * k + m. */
typedef struct ddsc_merge {
    int64_t a, b;  /* a < b */
    double height; /* 0 .. 1, non-decreasing; 1: no edge connects the nodes */
    int64_t size;  /* number of items in the new node */
} ddsc_merge;

enum { DDSC_MERGES_MOST_CLUSTERS = 1000 }; /* limit on k, because the work grows as k^3 */

/* Computes the tree of the clusters from the affinities between them. merges has k - 1 entries. If
 * the graph has several components, `measures` (or NULL) is used to order their merges by the
 * distance between cluster means. left_out (n entries, or NULL) is 1 for items to be ignored. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_merges_run(ddsc_context *context, ddsc_merge *merges,
                                                       const ddsc_clustering *clustering,
                                                       const ddsc_measures *measures,
                                                       const int32_t *left_out);

/* Statistics of ddsc_membership_run. `confidence` and `agreement` are means over the held-out items
 * or halves of documents that were used for calibration. The two means are equal if the memberships
 * are calibrated. */
typedef struct ddsc_membership_report {
    size_t struct_size;
    int64_t n_by_words; /* number of items whose memberships were computed from the mixture of
                         * words */
    /* fitted temperature of the mixture if labels were refined, otherwise of the distances to the
     * centers; larger values give more even memberships */
    double softness;
    double confidence;  /* mean membership in the cluster that is predicted for a held-out item */
    double agreement;   /* share of held-out items that were then found in the predicted cluster */
    int64_t n_held_out; /* 0: there were too few items, and softness has its default value */
} ddsc_membership_report;

#define ddsc_membership_report_init(report) \
    ddsc_membership_report_init_sized((report), sizeof *(report))
DDSC_EXPERIMENTAL DDSC_API void ddsc_membership_report_init_sized(ddsc_membership_report *report,
                                                                  size_t size);

/* Computes the membership of each item in each cluster (n x k, rows with sum 1). The label of an
 * item is the cluster in which its membership is largest. For refined documents, memberships are
 * the tempered probabilities of the mixture of words, and `measures` must be the clustered set. For
 * other items, they decrease with the squared distance to the centers in the embedding, and
 * `measures` may be NULL. The temperature is fitted on held-out data. For documents, the
 * memberships of one half of a document's words must predict the cluster of the other half. For
 * other items, memberships must predict the clusters that the items receive from a clustering of
 * the other half of the items. report may be NULL. The call fails if n x k exceeds 2^31. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_membership_run(ddsc_context *context,
                                                           double *membership,
                                                           ddsc_membership_report *report,
                                                           const ddsc_clustering *clustering,
                                                           const ddsc_measures *measures);

/* Orders the items along the slowest direction of the random walk on the graph. `rank` has n
 * entries with values 0 .. n-1. The items of a component have consecutive ranks, and the largest
 * component comes first. An item whose position could not be computed has rank -1. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_order_run(ddsc_context *context, int64_t *rank,
                                                      const ddsc_clustering *clustering);

/* Runs Lloyd's k-means on rows (n x dim) with k-means++ initialization and restarts. labels has n
 * entries. */
DDSC_API ddsc_status ddsc_kmeans_run(ddsc_context *context, int32_t *labels, double *inertia,
                                     int64_t n, int64_t dim, const double *rows, int64_t k,
                                     int64_t restarts);

/* ==== New items ==== */

/* The type ddsc_model is declared before ddsc_cluster_settings. */

/* Creates a model from the clustering that ddsc_cluster_run computed for `measures` with these
 * settings. The data is copied. The call fails for a clustering of joined metrics, and for a
 * clustering computed from a graph, which has no items to compare new items with. */
DDSC_API ddsc_status ddsc_model_create(ddsc_context *context, ddsc_model **model,
                                       const ddsc_measures *measures,
                                       const ddsc_clustering *clustering,
                                       const ddsc_cluster_settings *settings);
/* Writes the model as an npz archive. The archive can also be read as a set of items labeled by
 * cluster; see docs/formats.md. */
DDSC_API ddsc_status ddsc_model_write(ddsc_context *context, const ddsc_model *model,
                                      const char *path, unsigned flags);
/* Reads a model. The call fails if the format version of the model is not supported. */
DDSC_API ddsc_status ddsc_model_read(ddsc_context *context, ddsc_model **model, const char *path);
/* Reads a model on the first rank of a team and shares it with all ranks, as ddsc_measures_share
 * does. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_model_read_shared(ddsc_context *context,
                                                              ddsc_model **model, const char *path);
DDSC_API void ddsc_model_destroy(ddsc_model *model);

/* Copies items for a run with the settings of the model. The function applies the model's
 * transforms to untransformed items, and checks that the dimension, coordinate names and words are
 * those of the model. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_measures_copy_like(ddsc_context *context,
                                                               ddsc_measures **copy,
                                                               const ddsc_measures *measures,
                                                               const ddsc_model *model);

typedef struct ddsc_model_view {
    int64_t n_items, dim, k, tau;
    ddsc_metric metric;
    double far_distance;   /* new items beyond this distance are marked as far; see
                            * ddsc_assignment */
    int64_t far_neighbor;  /* rank of the neighbor whose distance is compared with far_distance */
    const int32_t *labels; /* n_items */
    const ddsc_measures *measures; /* the items of the model */
    int64_t n_vectors;             /* number of columns of the embedding */
    /* The settings of the metric, with all parameters that were chosen from the data. */
    const ddsc_metric_settings *metric_settings;
    int64_t n_mixture_words; /* refined documents: number of words in the mixture; otherwise 0 */
} ddsc_model_view;

#define ddsc_model_get_view(model, view) ddsc_model_get_view_sized((model), (view), sizeof *(view))
DDSC_API void ddsc_model_get_view_sized(const ddsc_model *model, ddsc_model_view *view,
                                        size_t size);

typedef struct ddsc_assign_settings {
    size_t struct_size;
    ddsc_exact_graph exact_graph; /* search strategy for neighbors; does not change the result */
    int64_t paper;                /* 1: fail unless the model was created by the paper's
                                   * algorithm */
} ddsc_assign_settings;

#define ddsc_assign_settings_init(settings) \
    ddsc_assign_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_assign_settings_init_sized(ddsc_assign_settings *settings, size_t size);

/* Caller-allocated arrays with one entry per new item. A result whose pointer is NULL is not
 * computed. */
typedef struct ddsc_assignment {
    size_t struct_size;
    int32_t *labels;
    /* 1 - (distance to the center) / (distance to the nearest center of another cluster); for items
     * labeled by words, the difference between the two largest memberships */
    double *confidence;
    /* distance to the 7th nearest item of the model, or to the tau-th if tau is smaller */
    double *distance;
    int32_t *far;  /* 1 if `distance` is above the 99% quantile of the same distance over the
                    * model's items */
    double *rows;  /* n_items x n_vectors of the model: rows of the new items in the embedding */
    int64_t n_far; /* output: number of far items */
    double *membership; /* n_items x k: membership in each cluster; the sum of each row is 1 */
    int64_t n_by_words; /* output: number of items labeled by the model's mixture of words */
} ddsc_assignment;

#define ddsc_assignment_init(assignment) \
    ddsc_assignment_init_sized((assignment), sizeof *(assignment))
DDSC_API void ddsc_assignment_init_sized(ddsc_assignment *assignment, size_t size);

/* Assigns labels to new items. For each new item, the function finds the tau nearest items of the
 * model, extends the eigenvectors to the new item (Nystrom) and chooses the nearest center. An item
 * equal to an item of the model receives that item's row and label. If the model's labels were
 * refined, documents with known words receive the label of the mixture instead. stats may be
 * NULL. */
DDSC_API ddsc_status ddsc_assign_run(ddsc_context *context, ddsc_assignment *assignment,
                                     ddsc_pair_stats *stats, const ddsc_model *model,
                                     const ddsc_measures *measures,
                                     const ddsc_assign_settings *settings);

/* ==== Inspecting a result ==== */

/* Caller-allocated arrays with one entry per row. A result whose pointer is NULL is not
 * computed. */
typedef struct ddsc_standing {
    size_t struct_size;
    double *distance; /* distance to the center of the item's cluster; smallest for typical items */
    /* distance / (distance + distance to the center of `next`). The value is 0.5 on the boundary
     * between the two clusters, and 0 if there is no other cluster. */
    union {
        double *ambiguity;
        double *doubt; /* deprecated name */
    };
    int32_t *next; /* the other cluster with the nearest center (ties: lower number); -1: none */
} ddsc_standing;

#define ddsc_standing_init(standing) ddsc_standing_init_sized((standing), sizeof *(standing))
DDSC_API void ddsc_standing_init_sized(ddsc_standing *standing, size_t size);

/* Computes the distances of n rows (n x dim), such as rows of an embedding, to the cluster centers,
 * which are the means of the clusters. Labels are 0 .. k-1, and a cluster may be empty. */
DDSC_API ddsc_status ddsc_standing_run(ddsc_context *context, ddsc_standing *standing, int64_t n,
                                       int64_t dim, const double *rows, const int32_t *labels,
                                       int64_t k);

/* Computes a two-dimensional map, xy (n x 2), in which neighbors are close to each other. Large
 * distances on the map have little meaning. start (n x 2) contains the initial positions. If
 * `start` is NULL, default positions are used. */
DDSC_API ddsc_status ddsc_layout_run(ddsc_context *context, double *xy, const ddsc_graph *graph,
                                     const double *start);
/* Projects n rows (n x dim) onto two orthogonal directions that approximately maximize the
 * variance. xy is n x 2 and can be the start of ddsc_layout_run. If the rows lie on one line, the
 * second coordinate is nearly 0. */
DDSC_API ddsc_status ddsc_project_run(ddsc_context *context, double *xy, int64_t n, int64_t dim,
                                      const double *rows);

/* ==== Scores and theory: how far a clustering can be trusted (docs/theory.md) ==== */

typedef struct ddsc_scores {
    size_t struct_size;
    double ami, ari, nmi, purity;
    int64_t n;                 /* number of compared items, which have a label >= 0 on both sides */
    int64_t n_labels, n_truth; /* number of distinct values on each side */
} ddsc_scores;

#define ddsc_scores_init(scores) ddsc_scores_init_sized((scores), sizeof *(scores))
DDSC_API void ddsc_scores_init_sized(ddsc_scores *scores, size_t size);
/* Compares labels with a reference. AMI uses the exact expected mutual information and is
 * normalized by the arithmetic mean of the entropies. Items with a negative label on either side
 * are ignored. */
DDSC_API ddsc_status ddsc_scores_run(ddsc_context *context, ddsc_scores *scores, int64_t n,
                                     const int32_t *labels, const int32_t *truth);

/* Comparison of one resample with the first run. A is the symmetric affinity, and L = I - S^-1/2 A
 * S^-1/2. */
typedef struct ddsc_stability_row {
    double sin_theta;   /* |sin Theta|_F between the leading K-dimensional eigenspaces */
    double zeta;        /* largest change of an affinity over all pairs */
    double zeta_common; /* largest change over pairs that are edges in both runs */
    double edges_kept;  /* fraction of the first run's edges that also occur in the resample */
    double laplacian;   /* |L - L'|_F */
    double gap;         /* eigengap of the resample */
    /* 2 zeta sqrt N / (delta (alpha - zeta)^2 sqrt tau); infinite if zeta >= alpha or if there is
     * no eigengap */
    double theorem_bound;
    /* |(L - L') V|_F / delta' (Davis and Kahan 1970). V contains the eigenvectors that one run
     * keeps. delta' is the distance between their eigenvalues and the eigenvalues that the other
     * run does not keep. Infinite if the two ranges of eigenvalues overlap. */
    double direct_bound;
    double ari, ami;   /* agreement between the labels of the two runs */
    int64_t n_changed; /* number of items whose cluster differs after the clusters of both runs are
                        * matched */
    int64_t n_components; /* number of components of the resample's graph */
    /* Lemma 2 of the paper, over the entries that the neighbor lists of both runs contain: the
     * largest change of exp(-gamma D^2), and its bound, the largest change of sqrt(gamma) D */
    double similarity_change, lemma_2_bound;
    /* Lemma 3: the largest change of an entry of the Laplacian, and its bound
     * 2 zeta / (tau (alpha - zeta)^2), infinite if zeta >= alpha */
    double laplacian_largest, lemma_3_bound;
} ddsc_stability_row;

typedef struct ddsc_stability_settings {
    size_t struct_size;
    int64_t n_resamples; /* default 20 */
} ddsc_stability_settings;

#define ddsc_stability_settings_init(settings) \
    ddsc_stability_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_stability_settings_init_sized(ddsc_stability_settings *settings, size_t size);

typedef struct ddsc_stability ddsc_stability;

/* Measures stability under resampling. Each resample redraws the points of every item
 * (ddsc_measures_copy_resampled), repeats the clustering with the same settings, and compares the
 * result with `first`. `first` is the result of ddsc_cluster_run for `measures` and `cluster`. K,
 * tau, epsilon, bandwidth and the LOT reference are taken from the first run. */
DDSC_API ddsc_status ddsc_stability_run(ddsc_context *context, ddsc_stability **stability,
                                        const ddsc_measures *measures, const ddsc_clustering *first,
                                        const ddsc_cluster_settings *cluster,
                                        const ddsc_stability_settings *settings);
DDSC_API void ddsc_stability_destroy(ddsc_stability *stability);

typedef struct ddsc_stability_view {
    int64_t n, k, tau, n_resamples;
    double gap;       /* delta = e_{K+1} - e_K of the first run */
    double alpha;     /* smallest positive affinity */
    double sin_limit; /* sqrt(min(K, N - K)), the largest possible |sin Theta|_F */
    const ddsc_stability_row *const *rows; /* n_resamples rows; read rows[i]->ari */
    const ddsc_stability_row *mean;        /* mean of each column */
    /* minimum of edges_kept, gap, ari and ami; maximum of the other columns */
    const ddsc_stability_row *worst;
    const int32_t *labels;    /* n_resamples x n, numbered like the first run's clusters */
    const int64_t *n_changed; /* n: number of resamples in which the item was in another cluster */
    /* n: the other cluster to which the item was assigned most often; -1: the item never changed */
    const int32_t *other;
    /* number of items that changed at least once; number that changed in more than half of the
     * resamples */
    int64_t n_ever, n_often;
    /* 1: the largest theorem_bound is above sin_limit and therefore gives no information */
    int theorem_vacuous;
    int direct_vacuous;
    double seconds;
    const char *words; /* summary in a few sentences */
} ddsc_stability_view;

#define ddsc_stability_get_view(stability, view) \
    ddsc_stability_get_view_sized((stability), (view), sizeof *(view))
DDSC_API void ddsc_stability_get_view_sized(const ddsc_stability *stability,
                                            ddsc_stability_view *view, size_t size);

/* ---- the verdict: does the data have clusters? ---- */

/* The levels of the verdict, ordered by the strength of the claim. */
typedef enum ddsc_level {
    DDSC_LEVEL_TOO_FEW = 0,  /* too few items to decide, or not judged */
    DDSC_LEVEL_ONE_CLOUD,    /* nothing separates the items, and all items may be samples of one
                             * distribution */
    DDSC_LEVEL_CONTINUUM,    /* no cluster is confirmed; the data may be a continuum */
    DDSC_LEVEL_REPRODUCIBLE, /* clusters touch, but random halves of the items give the same ones */
    DDSC_LEVEL_PARTLY,       /* gaps separate some of the clusters from the rest */
    DDSC_LEVEL_SEPARATE      /* gaps separate clusters with at least 80% of the items */
} ddsc_level;

/* The texts that describe a level in printed results. */
typedef struct ddsc_level_words {
    const char *name;     /* the name in result.json, such as "separate" */
    const char *color;    /* "green", "teal", "blue", "amber" or "gray" */
    const char *sentence; /* the claim of the level, without numbers */
    /* Reports print the sentence "[before] K [after], of 10 to 20 items each[where].", with these
     * texts in place of the brackets. */
    const char *before, *after, *where;
    const char *next_step; /* recommended next step for clusters of this level */
} ddsc_level_words;

/* Returns NULL for an unknown level. */
DDSC_EXPERIMENTAL DDSC_API const ddsc_level_words *ddsc_level_get_words(ddsc_level level);

/* The levels of version 0.2. DDSC_LEVEL_SEPARATE and PARTLY correspond to CLEAR, and REPRODUCIBLE
 * and CONTINUUM correspond to WEAK. */
typedef enum ddsc_structure {
    DDSC_STRUCTURE_UNDECIDED = 0,
    DDSC_STRUCTURE_NONE,
    DDSC_STRUCTURE_WEAK,
    DDSC_STRUCTURE_CLEAR
} ddsc_structure;

/* The texts that describe a level of version 0.2. */
typedef struct ddsc_structure_words {
    const char *name; /* the name in result.json, such as "clear" */
    const char *before, *after, *where;
    const char *next_step;
} ddsc_structure_words;

/* Returns NULL for an unknown level. */
DDSC_EXPERIMENTAL DDSC_API const ddsc_structure_words *
ddsc_structure_get_words(ddsc_structure structure);

typedef struct ddsc_verdict ddsc_verdict;

/* Judges the clusters of `clustering` by the gaps around them in its graph and by the agreement of
 * clusterings of random halves of the items. For small sets, it also uses the edges of the minimum
 * spanning tree. `graph` is the graph that was passed to ddsc_spectral_run. If `graph` is NULL, the
 * graph of the clustering is used. `measures` (or NULL) is used to test whether the items differ at
 * all. If `clustering` is NULL, nothing is judged. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_verdict_run(ddsc_context *context,
                                                        ddsc_verdict **verdict,
                                                        const ddsc_clustering *clustering,
                                                        const ddsc_measures *measures,
                                                        const ddsc_graph *graph);
DDSC_EXPERIMENTAL DDSC_API void ddsc_verdict_destroy(ddsc_verdict *verdict);

/* The gap around one cluster. */
typedef struct ddsc_verdict_row {
    int examined;      /* 0: this cluster was not examined because there are too many clusters */
    double valley;     /* affinity across the gap, divided by the affinity on its sides; 1: no
                        * gap */
    double items;      /* effective number of items across the width of the gap */
    double score;      /* (1 - valley) sqrt(items) */
    double score_from; /* minimum score of a gap that separates; lower for small clusters */
    double held_out;   /* score on items that were not used to find the gap; NaN if not tested */
    int separate;      /* 1: a gap, a disconnected graph or `step_ratio` separates the cluster */
} ddsc_verdict_row;

typedef struct ddsc_verdict_view {
    ddsc_structure structure;
    const char *headline; /* a single sentence */
    const char *detail;   /* further sentences, or "" if there are none */
    /* Evidence for the verdict. */
    int judged; /* 1: the gaps of a graph were examined; 0: the remaining fields are empty */
    int64_t k, n_components;
    int64_t n_parted, items_parted; /* number of clusters that a gap separates, and number of items
                                     * in these clusters */
    double score, clear_from;       /* the largest score, and the minimum score of a gap that
                                     * separates a cluster */
    /* Score of a gap on items that were not used to find it, and the minimum that this score must
     * reach. NaN if not tested. */
    double held_out_score, held_out_from;
    /* Probability that a graph without clusters has at least as many components. Infinite if the
     * number of components is no evidence. */
    double chance;
    /* agreement of the clusters from random halves of the items; NaN if not computed */
    double halves_agree;
    /* p-value of "all items are samples of one distribution"; NaN: not tested */
    double items_alike_p;
    const ddsc_verdict_row *const *rows; /* k rows */
    ddsc_level level;
    /* Minimum of halves_agree for reproducible clusters at this K; NaN if K is less than 4. */
    double halves_from;
    /* Small sets are divided into parts by removing the longest edges of the minimum spanning tree.
     * The ratio is the shortest removed edge divided by the longest remaining one. The parts are
     * separate if the ratio is at least step_ratio_from. NaN if not computed. */
    double step_ratio, step_ratio_from;
    int64_t n_parts;     /* number of parts */
    double starts_agree; /* see ddsc_k_row */
} ddsc_verdict_view;

#define ddsc_verdict_get_view(verdict, view) \
    ddsc_verdict_get_view_sized((verdict), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_verdict_get_view_sized(const ddsc_verdict *verdict,
                                                            ddsc_verdict_view *view, size_t size);

/* ---- outliers ---- */

typedef struct ddsc_outliers {
    size_t struct_size;
    /* Caller-allocated arrays with one entry per item. A result whose pointer is NULL is not
     * computed. */
    /* Mean distance to the neighbors, divided by the neighbors' mean distance to their own
     * neighbors. NaN if the item has no neighbors or coincides with all of them. */
    double *score;
    int32_t *outlying; /* 1: the item is an outlier */
    /* Output fields. */
    double from; /* Score above which an item is an outlier. A cluster in which most items exceed
                  * this score has no outliers. */
    int64_t n_outlying;
} ddsc_outliers;

#define ddsc_outliers_init(outliers) ddsc_outliers_init_sized((outliers), sizeof *(outliers))
DDSC_EXPERIMENTAL DDSC_API void ddsc_outliers_init_sized(ddsc_outliers *outliers, size_t size);
/* Finds outliers. labels has one entry with a value 0 .. k-1 per item of the graph. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_outliers_run(ddsc_context *context,
                                                         ddsc_outliers *outliers,
                                                         const ddsc_graph *graph,
                                                         const int32_t *labels, int64_t k);

/* ---- several metrics on one set ---- */

typedef struct ddsc_compare_row {
    ddsc_metric metric;
    int64_t k; /* if K was not fixed: the K that this metric suggests */
    /* Mean adjusted Rand index between this metric's clusters and those of four random subsamples,
     * each with 80% of the items. NaN if there are too few items. */
    double stability;
    /* modularity of the metric's clusters on the mean of the normalized affinities of all
     * metrics */
    double modularity;
    /* mean adjusted Rand index with the clusters of the other metrics; NaN if there is only one
     * metric */
    double agreement;
    double seconds;
    ddsc_structure structure; /* the level according to version 0.2; deprecated */
    ddsc_level level;         /* verdict on the metric's clusters in its graph */
} ddsc_compare_row;

/* The size of the recommended metric's lead in stability, which does not predict how much better
 * this metric is (docs/metrics.md). This type will be removed. */
typedef enum ddsc_sure {
    DDSC_SURE_NOT = 0, /* lead below 0.02, or nearly the same clusters */
    DDSC_SURE_SLIGHT,
    DDSC_SURE_CLEAR /* at least 0.06 */
} ddsc_sure;

typedef struct ddsc_compare ddsc_compare;

/* Clusters the set with each of several metrics and compares the results. The metrics are
 * metric->metric of the settings and those in `joined`. All metrics use the same K, which is the
 * specified K or the one that most metrics suggest. If there is a single metric, its row has no
 * agreement. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_compare_run(ddsc_context *context,
                                                        ddsc_compare **compare,
                                                        const ddsc_measures *measures,
                                                        const ddsc_cluster_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_compare_destroy(ddsc_compare *compare);

typedef struct ddsc_compare_view {
    int64_t n, k, n_metrics;             /* number of items, number of clusters compared, number of
                                          * rows */
    const ddsc_compare_row *const *rows; /* n_metrics rows; read rows[i]->stability */
    const int32_t *labels;               /* n_metrics x n, for the common k */
    const double *ari, *ami;             /* n_metrics x n_metrics: pairwise agreement */
    /* The most stable metric. A metric that finds no clusters is not recommended if another metric
     * finds clear ones. */
    int64_t recommended;
    ddsc_sure sure;
    const char *words; /* summary in one or two sentences */
    /* Stability of the recommended metric minus that of the second-best metric. Infinite if only
     * the recommended metric finds separate clusters; NaN if there is only one metric. */
    double lead;
} ddsc_compare_view;

#define ddsc_compare_get_view(compare, view) \
    ddsc_compare_get_view_sized((compare), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_compare_get_view_sized(const ddsc_compare *compare,
                                                            ddsc_compare_view *view, size_t size);

/* Comparison of the neighbor lists with known classes. Items with a negative class are ignored. */
typedef struct ddsc_theory {
    size_t struct_size;
    /* Caller-allocated arrays with one entry per item of the graph. A result whose pointer is NULL
     * is not computed. Items without a class get 0, 0 and NaN. */
    /* number of neighbors of the same class; number of neighbors of other classes */
    int64_t *item_intra, *item_inter;
    double *item_xi; /* tolerance of the item; see xi */
    /* Output fields. */
    int64_t n, n_classes;      /* number of items with a class; number of distinct classes */
    int64_t n_components;      /* number of components of the graph */
    int64_t n_pure_components; /* number of components that lie within one class */
    int64_t n_whole_classes;   /* number of classes that lie within one component */
    int64_t n_intra, n_inter;  /* number of entries of the neighbor lists within classes; number
                                * between classes */
    /* number of items without neighbors of other classes; number without neighbors of their own
     * class */
    int64_t n_clean, n_stranded;
    int connected; /* 1: there are as many components as classes and no edges between classes */
    /* Tolerance: the minimum over all items of (smallest affinity to an item of the same class, or
     * 0) - (largest affinity to an item of another class, or 0), over the edges of the item in the
     * symmetric matrix A. NaN: no edges. */
    double xi;
    double xi_median;  /* median of item_xi */
    int64_t n_correct; /* number of items with positive item_xi */
} ddsc_theory;

#define ddsc_theory_init(theory) ddsc_theory_init_sized((theory), sizeof *(theory))
DDSC_API void ddsc_theory_init_sized(ddsc_theory *theory, size_t size);
/* Computes the quantities that the paper defines for neighbor sets and correctness. Only the
 * settings gamma and `paper` are used. */
DDSC_API ddsc_status ddsc_theory_run(ddsc_context *context, ddsc_theory *theory,
                                     const ddsc_graph *graph, const int32_t *truth,
                                     const ddsc_cluster_settings *settings);

/* The constants of the paper's Lemma 1, which bounds the error that sampling causes in W_eps: |D -
 * D'| <= rho + E sqrt(log(1/theta)) with probability 1 - theta. rho has no computable formula. */
typedef struct ddsc_sampling_constants {
    size_t struct_size;
    double
        lipschitz; /* L. Input: the value to use, or 0 for the Lipschitz constant of the cost in the
                    * box. Output: the value used */
    /* Output fields. */
    double diameter;     /* |Omega|, the diagonal of the smallest box that contains all points */
    double largest_cost; /* the largest cost between two points of the box */
    double epsilon;      /* absolute */
    int64_t n_points;    /* m, the smallest number of points of an item */
    double kappa;        /* 2 L |Omega| + the largest cost */
    double log10_e;      /* log10 of E = sqrt(2/m) (kappa + epsilon exp(kappa / epsilon)) */
} ddsc_sampling_constants;

#define ddsc_sampling_constants_init(constants) \
    ddsc_sampling_constants_init_sized((constants), sizeof *(constants))
DDSC_EXPERIMENTAL DDSC_API void
ddsc_sampling_constants_init_sized(ddsc_sampling_constants *constants, size_t size);
/* Computes the constants for the cost and epsilon of the settings (NULL: the defaults). The cost
 * must be sqeuclidean or euclidean. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status
ddsc_sampling_constants_run(ddsc_context *context, ddsc_sampling_constants *constants,
                            const ddsc_measures *measures, const ddsc_metric_settings *settings);

/* ==== Identity of clusters between two results (docs/updates.md) ==== */

typedef enum ddsc_identity_kind {
    DDSC_IDENTITY_SAME = 0, /* a new cluster that is the same as an old one */
    DDSC_IDENTITY_SPLIT,    /* an old cluster whose items form several new clusters */
    DDSC_IDENTITY_MERGED,   /* a new cluster that consists of several old ones */
    DDSC_IDENTITY_NEW,      /* a new cluster that continues no old one */
    DDSC_IDENTITY_VANISHED  /* an old cluster that no new cluster continues */
} ddsc_identity_kind;

typedef struct ddsc_identity_settings {
    size_t struct_size;
    /* A new cluster is the same as an old one if their overlap is at least this value. The overlap
     * is the number of shared items in both clusters, divided by the number of shared items in
     * either cluster. If several old clusters qualify, clusters are matched so that the sum of the
     * overlaps is largest. Range (0, 1]; with the default 0.5, at most one old cluster can exceed
     * it. */
    double overlap;
    /* Cluster A is a part of a split or merged cluster B if A contains at least this fraction of
     * the items of B, and B contains more than half of the items of A. Range (0, 1]; default
     * 0.2. */
    double part;
    /* Numbers from 0 to n_numbers - 1 have been used, including those of clusters that no longer
     * exist. 0: k_old. */
    int64_t n_numbers;
    /* 1: the labels of the new clusters are their numbers. 0: a new cluster gets the number of the
     * old cluster that it continues, or the next number that was never used. */
    int keep_numbers;
    /* Number of items of each cluster in its own result (k_old and k_new entries), if some items
     * are in only one of the results. NULL: all items are shared. */
    const int64_t *old_sizes, *new_sizes;
} ddsc_identity_settings;

#define ddsc_identity_settings_init(settings) \
    ddsc_identity_settings_init_sized((settings), sizeof *(settings))
DDSC_EXPERIMENTAL DDSC_API void ddsc_identity_settings_init_sized(ddsc_identity_settings *settings,
                                                                  size_t size);

typedef struct ddsc_identity_event {
    ddsc_identity_kind kind;
    /* Number of the cluster: an old one for SPLIT and VANISHED, otherwise a new one. */
    int32_t cluster;
    int64_t size;     /* number of items of the cluster in its own result */
    int64_t n_shared; /* number of these items that are in both results */
    /* Clusters of the other result, by decreasing number of common items: the same cluster (SAME),
     * the parts (SPLIT, MERGED), or up to five clusters that have items in common. */
    int64_t n_parts;
    const int32_t *parts;  /* their numbers */
    const int64_t *common; /* number of items in common with each of them */
    const int64_t *of;     /* for each of them, the number of its items that are in both results */
    double overlap;        /* largest overlap with a cluster of the other result */
    const char *words;     /* the event as a sentence */
} ddsc_identity_event;

typedef struct ddsc_identity ddsc_identity;

typedef struct ddsc_identity_view {
    int64_t n, k_old, k_new;
    const int32_t *numbers; /* k_new: number of each new cluster; -1 for an empty one */
    const int32_t *same;    /* k_new: label of the matching old cluster, or -1 */
    const int64_t *common;  /* k_old x k_new: number of items with both labels */
    int64_t n_events;       /* ordered by kind, then by cluster */
    const ddsc_identity_event *const *events;
    int64_t n_numbers; /* all numbers below this one have been used */
    int64_t n_unused;
    const int32_t *unused; /* numbers below n_numbers that no new cluster has, ascending */
} ddsc_identity_view;

/* Compares two labelings of n shared items, for example before and after items were added. Labels
 * are below k_old and k_new, or negative for an item in no cluster. Old labels are the numbers of
 * the old clusters. Reports which clusters are the same, and which ones split, merged, appeared or
 * vanished (compare Spiliopoulou et al. 2006). */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_identity_run(ddsc_context *context,
                                                         ddsc_identity **identity, int64_t n,
                                                         const int32_t *old_labels, int64_t k_old,
                                                         const int32_t *new_labels, int64_t k_new,
                                                         const ddsc_identity_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_identity_destroy(ddsc_identity *identity);
#define ddsc_identity_get_view(identity, view) \
    ddsc_identity_get_view_sized((identity), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_identity_get_view_sized(const ddsc_identity *identity,
                                                             ddsc_identity_view *view, size_t size);
/* Returns the name of a kind, such as "split", or NULL. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_identity_get_kind_name(ddsc_identity_kind kind);

/* ==== Clusters in each period of a column (docs/compare-results.md) ==== */

typedef enum ddsc_over_kind {
    DDSC_OVER_DATE = 0, /* all values are dates: 2024-05-31, 2024/05/31, 31.05.2024 or 2024-05 */
    DDSC_OVER_NUMBER,   /* all values are numbers */
    DDSC_OVER_TEXT
} ddsc_over_kind;

/* Changes of a cluster between periods. They can be combined with |. */
enum {
    DDSC_OVER_NEW = 1,      /* the cluster has no items in the first periods */
    DDSC_OVER_VANISHED = 2, /* the cluster has no items in the last periods */
    DDSC_OVER_EMPTY = 4     /* the cluster has no items with a value */
};

typedef struct ddsc_over ddsc_over;

typedef struct ddsc_over_view {
    int64_t n, k;
    int64_t n_missing; /* number of clustered items whose value is missing */
    ddsc_over_kind kind;
    const char
        *unit; /* "day", "week", "month", "quarter", "year", "decade", "interval" or "value" */
    int64_t n_periods;
    const char *const *periods; /* names of the periods, in order; every period has items */
    const int32_t *period;      /* n: period of each item, or -1 */
    const int64_t *items;       /* n_periods: number of items in all clusters */
    /* k x n_periods: number of items of each cluster in each period, their share of the items of
     * the period, and the limits of the 95% confidence interval of this share (Wilson 1927) */
    const int64_t *counts;
    const double *share, *low, *high;
    const int32_t *first, *last; /* k: first and last period with items, or -1 */
    /* k: probability that a cluster of this size has no items in the periods before `first`, or
     * after `last`, if the items are in random order. 1 if there are no such periods. */
    const double *p_new, *p_vanished;
    /* k: DDSC_OVER_NEW or DDSC_OVER_VANISHED if 2 k times the probability is at most 0.05 */
    const int32_t *change;
} ddsc_over_view;

/* Divides n items into the periods of a column, and counts the items of each cluster per period.
 * Labels are below k, or negative for an item in no cluster, which is ignored. `values` has n
 * texts. NULL means missing, as do the texts listed at ddsc_column. Dates are sorted as dates,
 * numbers as numbers, and other texts by name, where runs of digits are compared as numbers. More
 * than 24 distinct dates are grouped into weeks, months, quarters, years or decades, and more than
 * 24 numbers into 12 intervals of equal width. More than 100 distinct texts are an error. `column`
 * is the name of the column in messages. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_over_run(ddsc_context *context, ddsc_over **over,
                                                     int64_t n, const int32_t *labels, int64_t k,
                                                     const char *column, const char *const *values);
DDSC_EXPERIMENTAL DDSC_API void ddsc_over_destroy(ddsc_over *over);
#define ddsc_over_get_view(over, view) ddsc_over_get_view_sized((over), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_over_get_view_sized(const ddsc_over *over,
                                                         ddsc_over_view *view, size_t size);

/* ==== Updating a clustering ==== */

typedef struct ddsc_update ddsc_update;

/* Computes the clustering of a changed set: the items of the model without the removed ones,
 * followed by the added ones. The result equals that of ddsc_cluster_run for this set with `like`,
 * except for the numbers of the clusters. Only the neighbor lists that the change affects are
 * recomputed. All lists are recomputed if the graph uses a sample or an approximate search, if K is
 * a range, or if the set is small. The resulting graph is the same in all cases.
 *
 * Clusters keep their number (ddsc_identity_run with keep_numbers = 0). A number that is no longer
 * in use belongs to an empty cluster of the result.
 *
 * added (or NULL) is prepared as in ddsc_measures_copy_like. Its labels are ignored. Items without
 * ids are numbered after those of the model. The call fails if an id occurs twice. removed has
 * n_removed indices of items of the model. The function uses settings->k_min and k_max (to select
 * another K), the k-means and eigenvalue settings, and `resolve`. `like` and the settings that it
 * determines are ignored. If `settings` is NULL, K is that of the model, or larger if new clusters
 * are accepted (ddsc_update_candidate). The call fails for a model of version 0.2.0. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_update_run(ddsc_context *context, ddsc_update **update,
                                                       const ddsc_model *model,
                                                       const ddsc_measures *added,
                                                       int64_t n_removed, const int64_t *removed,
                                                       const ddsc_cluster_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_update_destroy(ddsc_update *update);

/* A setting that an update with `resolve` chose again. */
typedef struct ddsc_update_setting {
    const char *name;     /* "tau", "gamma", "hubs", "bandwidth", "epsilon" or "reference_size" */
    double before, after; /* gamma: 0 is local scaling; hubs: 1 if neighbors were rescaled */
} ddsc_update_setting;

/* A cluster that an update with a larger K would add. */
typedef struct ddsc_update_candidate {
    int64_t k;           /* number of clusters if all candidates are added */
    int32_t cluster;     /* number of the cluster, or -1 if it was not accepted */
    int accepted;        /* 1: the update has k clusters */
    int64_t size, n_new; /* number of its items, and number of these that were inserted since K was
                          * chosen */
    double
        p_value; /* probability that a random sample of this size has at most as many old items */
    /* mean overlap with the most similar cluster that k-means finds in a random half of the items;
     * NaN if not computed */
    double overlap;
    double halves;     /* agreement of random halves of the items on all k clusters; NaN: unknown */
    const char *words; /* the result as a sentence */
} ddsc_update_candidate;

/* The objects belong to the update. */
typedef struct ddsc_update_view {
    int64_t n_kept, n_added, n_removed;
    int64_t n_searched;  /* number of neighbor lists that were searched */
    const int64_t *kept; /* n_kept: items of the model; they come first in the set */
    const ddsc_measures *measures;
    const ddsc_clustering *clustering;
    const ddsc_identity *identity; /* compares the clusters on the remaining items */
    /* 0 if K was specified, or if too few new items have mostly new neighbors. Either all
     * candidates are accepted or none. */
    int64_t n_candidates;
    const ddsc_update_candidate *const *candidates;
    int64_t n_settings; /* 0 without settings->resolve */
    const ddsc_update_setting *settings;
} ddsc_update_view;

#define ddsc_update_get_view(update, view) \
    ddsc_update_get_view_sized((update), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_update_get_view_sized(const ddsc_update *update,
                                                           ddsc_update_view *view, size_t size);

/* ==== Neighbor graph of a set that changes ==== */

typedef struct ddsc_index ddsc_index;

/* Opens an index for the items of a model. The model must outlive the index. For w1 and w2 of clouds
 * and images, and for lot from 1,000 items on, the metric's data stay in memory, so an update costs
 * only the bounds and solves of the neighbor lists that it affects. In all other cases, adding items
 * also prepares the metric for all items again. The call fails if the graph of the model is sampled or approximate, or if the model was
 * written by version 0.2.0. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_index_open(ddsc_context *context, ddsc_index **index,
                                                       const ddsc_model *model);
DDSC_EXPERIMENTAL DDSC_API void ddsc_index_destroy(ddsc_index *index);
/* Removes the items with the specified numbers and appends new items. The remaining items are
 * renumbered in their previous order. `added` (or NULL) is prepared as in ddsc_measures_copy_like;
 * its ids and labels are ignored. `context` must be the one that opened the index. A rejected
 * update does not change the index. After an update that was canceled or ran out of memory, all
 * calls except ddsc_index_destroy fail. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_index_update(ddsc_context *context, ddsc_index *index,
                                                         const ddsc_measures *added,
                                                         int64_t n_removed, const int64_t *removed);
/* Creates the graph of the current items, which is byte-identical to the graph that
 * ddsc_cluster_run computes for these items with `like`. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_index_create_graph(ddsc_context *context,
                                                               ddsc_graph **graph,
                                                               const ddsc_index *index);
/* Returns the number of items. */
DDSC_EXPERIMENTAL DDSC_API int64_t ddsc_index_get_count(const ddsc_index *index);
/* Returns the number of neighbor lists that the last update searched. */
DDSC_EXPERIMENTAL DDSC_API int64_t ddsc_index_get_searched(const ddsc_index *index);

/* ==== Tests of metadata columns (docs/p-values.md) ==== */

typedef enum ddsc_column_kind {
    /* A column is numeric if all values are numbers, and there are at least 11 distinct values, or
     * a value that is not an integer, or more distinct values than half the items. Other columns
     * are factors. */
    DDSC_COLUMN_AUTO = 0,
    DDSC_COLUMN_NUMBER,
    DDSC_COLUMN_FACTOR
} ddsc_column_kind;

typedef enum ddsc_column_role {
    DDSC_COLUMN_BY = 0, /* tested */
    DDSC_COLUMN_ADJUST, /* a covariate, also called a confounder */
    DDSC_COLUMN_BLOCK   /* a factor; items are permuted within its levels */
} ddsc_column_role;

/* One value per item. `number` is used if `text` is NULL. Missing values are NaN, NULL, "", NA,
 * N/A, NaN, nan, NULL and null. */
typedef struct ddsc_column {
    const char *name;
    const char *const *text;
    const double *number;
    ddsc_column_kind kind;
    ddsc_column_role role;
} ddsc_column;

typedef struct ddsc_permanova_settings {
    size_t struct_size;
    int64_t permutations; /* 1 .. 10^7, default 9999 */
    int squared;          /* 1: the matrix holds squared distances */
    int pairwise;         /* 1: also tests each pair of levels of each tested factor */
    int separately;       /* 1: each tested column has a separate model that includes the
                           * covariates */
    /* n_given x n item numbers, one permutation per row, used instead of random permutations. In
     * that case, no item may have missing values. NULL: none. */
    const int32_t *given;
    int64_t n_given;
    /* Number of points of each item, used to check whether the distances or the columns are
     * associated with the number of points. NULL: no check. */
    const int64_t *points;
} ddsc_permanova_settings;

#define ddsc_permanova_settings_init(settings) \
    ddsc_permanova_settings_init_sized((settings), sizeof *(settings))
DDSC_EXPERIMENTAL DDSC_API void
ddsc_permanova_settings_init_sized(ddsc_permanova_settings *settings, size_t size);

/* One column of the model. Values that were not computed are NaN. */
typedef struct ddsc_permanova_row {
    const char *name;
    ddsc_column_role role;
    ddsc_column_kind kind;      /* NUMBER or FACTOR */
    int64_t n_levels;           /* 0 for numbers */
    const char *const *levels;  /* n_levels names */
    const int64_t *level_sizes; /* n_levels numbers of items */
    int64_t df;
    double sum_of_squares, r2, f; /* contribution of the column after all others in the model
                                   * (marginal) */
    double p;
    double p_adjusted; /* p adjusted for all tested columns (Benjamini and Hochberg) */
    /* Number of permutations, and the smallest p that these permutations can give. If `exhaustive`
     * is set, all possible permutations were used. */
    int64_t n_permutations;
    int exhaustive;
    double smallest_p;
    int whole_blocks; /* 1: the column is constant within blocks, so whole blocks were permuted */
    int64_t residual_df;
    /* Tested factors only: analysis of the distances from the items to the centroids of their
     * levels. distance_to_centroid has one entry per used item, and mean_distance has one entry per
     * level. */
    double dispersion_f, dispersion_p;
    const double *distance_to_centroid, *mean_distance;
    /* Association of the column alone with the logarithm of the number of points. */
    double points_r2, points_p;
} ddsc_permanova_row;

/* A test of two levels of a factor. */
typedef struct ddsc_permanova_pair {
    int64_t row, a, b; /* the column and its two levels */
    int64_t n_a, n_b;
    double r2, f, p;
    double p_adjusted; /* p adjusted for all pairs of the column (Holm) */
    int64_t n_permutations;
    int exhaustive;
    double smallest_p;
    const char *problem; /* why the pair could not be tested; NULL: it was tested */
} ddsc_permanova_pair;

/* A missing value that caused an item to be excluded. */
typedef struct ddsc_permanova_missing {
    int64_t item, column;
} ddsc_permanova_missing;

typedef struct ddsc_permanova ddsc_permanova;

typedef struct ddsc_permanova_view {
    int64_t n, n_used;   /* number of items; number of items without missing values */
    const int64_t *used; /* n_used item numbers */
    int64_t n_rows, n_pairs, n_missing;
    const ddsc_permanova_row *const *rows;
    const ddsc_permanova_pair *const *pairs;
    const ddsc_permanova_missing *missing;
    double total_sum_of_squares;
    /* residuals of the whole model; NaN and 0 if columns have separate models */
    double residual_sum_of_squares;
    int64_t residual_df;
    /* Association of the distances with the logarithm of the number of points. */
    int64_t points_smallest, points_largest;
    double points_r2, points_p;
    /* 1: the numbers of points differ, and a tested column is associated with them */
    int points_warning;
} ddsc_permanova_view;

/* Tests whether columns explain distances between items (distance-based analysis of variance,
 * Anderson 2001, McArdle and Anderson 2001). `distances` is n x n, symmetric and non-negative; its
 * diagonal is ignored. A permutation reorders the items of the centered matrix of squared distances
 * (raw data), and leaves the columns in place. Do not test the labels of a clustering of the same
 * distances, because its clusters were chosen to differ. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_permanova_run(
    ddsc_context *context, ddsc_permanova **permanova, int64_t n, const double *distances,
    int64_t n_columns, const ddsc_column *columns, const ddsc_permanova_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_permanova_destroy(ddsc_permanova *permanova);
#define ddsc_permanova_get_view(permanova, view) \
    ddsc_permanova_get_view_sized((permanova), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_permanova_get_view_sized(const ddsc_permanova *permanova,
                                                              ddsc_permanova_view *view,
                                                              size_t size);

/* ==== States of points, for example of cells ==== */

typedef struct ddsc_states_settings {
    size_t struct_size;
    int64_t n_states; /* 1 .. 200; 0 (default): chosen by the rule below */
} ddsc_states_settings;

#define ddsc_states_settings_init(settings) \
    ddsc_states_settings_init_sized((settings), sizeof *(settings))
DDSC_EXPERIMENTAL DDSC_API void ddsc_states_settings_init_sized(ddsc_states_settings *settings,
                                                                size_t size);

typedef struct ddsc_states ddsc_states;

/* Arrays have one row per item, state or support point. Each item has the same weight. */
typedef struct ddsc_states_view {
    int64_t n_items, n_support, dim, n_states;
    int given;               /* 1: the states are the types of the points in the input */
    int64_t n_sampled;       /* number of points that were clustered */
    const int32_t *of;       /* n_support: state of each point */
    const double *share;     /* n_items x n_states: share of each state in the weight of the item */
    const double *total;     /* n_states: mean share over the items, in descending order */
    const double *mean;      /* n_states x dim: mean of each coordinate in the state */
    const double *deviation; /* n_states x dim: standard deviation */
    const double *overall, *overall_deviation; /* dim: over all points */
    /* Numbers of states that were tried, and the agreement of two halves of the sampled points for
     * each number. n_tried is 0 if the caller specified the number. */
    int64_t n_tried;
    const int64_t *tried;
    const double *agreement;
} ddsc_states_view;

/* Divides the points of all items into states. If the points have types (names that many points
 * share), the types are the states. Otherwise, k-means clusters a sample of the pooled points, in
 * which each item has the same number of points, and every point belongs to the state with the
 * nearest mean. The number of states is the largest of 2, 3, 4, 5, 6, 8, 10, 12, 15 and 20 for
 * which two random halves of the sample agree. The agreement is the smallest Jaccard overlap of a
 * state of one half with its best match in the other half, averaged over both halves. It must be at
 * least 0.75. If no number reaches 0.75, the number with the best agreement is chosen. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_states_run(ddsc_context *context, ddsc_states **states,
                                                       const ddsc_measures *measures,
                                                       const ddsc_states_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_states_destroy(ddsc_states *states);
#define ddsc_states_get_view(states, view) \
    ddsc_states_get_view_sized((states), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_states_get_view_sized(const ddsc_states *states,
                                                           ddsc_states_view *view, size_t size);
/* Returns the name of a state. The name is the type of its points, or a number with the coordinates
 * that distinguish the state, for example "S1 (CD3 high, CD20 low)". Returns NULL if there is no
 * such state. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_states_get_name(const ddsc_states *states,
                                                            int64_t state);

/* The transport of mass between two sets of items, from state to state. */
typedef struct ddsc_states_flow {
    size_t struct_size;
    /* Caller-allocated arrays; a result whose pointer is NULL is not computed. */
    double *mass;  /* n_states x n_states: mass that moves from the row's to the column's state */
    double *shift; /* n_states x dim: change of each coordinate within the state, in standard
                    * deviations of the state; NaN if either side has no points in the state */
    double *from, *to; /* n_states: share of each state on either side */
    /* Output fields. */
    double value;         /* squared W2 distance between the points that were transported */
    int64_t n_from, n_to; /* number of points that were transported */
} ddsc_states_flow;

#define ddsc_states_flow_init(flow) ddsc_states_flow_init_sized((flow), sizeof *(flow))
DDSC_EXPERIMENTAL DDSC_API void ddsc_states_flow_init_sized(ddsc_states_flow *flow, size_t size);
/* Computes an exact optimal transport plan (squared Euclidean costs) from the pooled points of the
 * items `from` to those of the items `to`, and sums the mass of the plan by state. Pools of more
 * than 1,000 points are sampled. Each item of a pool has the same weight. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_states_flow_run(ddsc_context *context,
                                                            ddsc_states_flow *flow,
                                                            const ddsc_states *states,
                                                            const ddsc_measures *measures,
                                                            int64_t n_from, const int64_t *from,
                                                            int64_t n_to, const int64_t *to);

/* The association of one quantity (a share, a mean) with a metadata column. */
typedef struct ddsc_effect {
    int64_t variable;
    /* Factors: the class, and the class it is compared with; NULL: all other classes. Both names
     * are NULL if the column is numeric. */
    const char *level, *other;
    int64_t n, n_level, n_other; /* number of items with a value, or of blocks if whole_blocks is
                                  * set */
    double mean_level, mean_other;
    /* Factors: difference of the means. With blocks, this is the mean of the differences within
     * blocks. With covariates, it is the adjusted difference. Numbers: (partial) rank correlation.
     * low and high are the limits of the 95% confidence interval. */
    double effect, low, high;
    double standardized;  /* factors: in standard deviations of the residuals; else NaN */
    double p, p_adjusted; /* permutation p-value; adjusted for all rows (Benjamini and Hochberg) */
} ddsc_effect;

typedef struct ddsc_effects ddsc_effects;

typedef struct ddsc_effects_view {
    int64_t n_rows;
    const ddsc_effect *const *rows;
    ddsc_column_kind kind; /* of the column */
    int whole_blocks; /* 1: the column is constant within blocks, which were compared as a whole */
    int64_t n_permutations;
    int exhaustive;
    double smallest_p;
} ddsc_effects_view;

/* Measures the association of n_variables quantities (values: n x n_variables, NaN if missing) with
 * the one column that has the role DDSC_COLUMN_BY. A factor with two classes has one row per
 * quantity, and a factor with more classes one row per quantity and class. Intervals use Welch's t
 * between classes, Student's t for differences within blocks, and Fisher's z for rank correlations.
 * p is the share of `permutations` (within the blocks of a column with the role DDSC_COLUMN_BLOCK)
 * whose studentized effect is at least as large.
 *
 * With columns that have the role DDSC_COLUMN_ADJUST, an effect is the coefficient of the class in
 * a linear model with these covariates and the blocks, or a partial rank correlation. Intervals use
 * heteroscedastic standard errors (HC2) with Satterthwaite's degrees of freedom (Bell and McCaffrey
 * 2002), and permutations exchange the residuals of the covariates (Freedman and Lane 1983). The
 * means are not adjusted. Items with a missing value in any column are omitted. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_effects_run(
    ddsc_context *context, ddsc_effects **effects, int64_t n, int64_t n_variables,
    const double *values, int64_t n_columns, const ddsc_column *columns, int64_t permutations);
DDSC_EXPERIMENTAL DDSC_API void ddsc_effects_destroy(ddsc_effects *effects);
#define ddsc_effects_get_view(effects, view) \
    ddsc_effects_get_view_sized((effects), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_effects_get_view_sized(const ddsc_effects *effects,
                                                            ddsc_effects_view *view, size_t size);

/* ==== Single transport problems ==== */

/* Weights a (n) and b (m) with a dense cost (n x m, row-major). Weights need not be normalized, but
 * their sums must agree to a relative error of 1e-6. */
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
    /* Caller-allocated arrays. A result whose pointer is NULL is not computed. */
    /* exact calls only: the non-zero entries of the plan, at most n + m - 1 */
    int32_t *plan_row, *plan_column;
    double *plan_mass; /* mass [k] moves from row [k] to column [k] */
    double *plan;      /* the whole plan, n x m, row-major */
    double *f, *g;     /* potentials with n and m entries; for exact calls, f_i + g_j <= cost_ij */
    /* Output fields. */
    double value;  /* exact: same as primal; sinkhorn: the requested value */
    double primal; /* <P, C> */
    double dual;   /* exact: value of the potentials; sinkhorn: the regularized value */
    /* Exact: |primal - dual| / max(|primal|, S / 1000), S = sum a|f| + sum b|g|. Sinkhorn: L1
     * error of the marginals. */
    double gap;
    int64_t n_plan; /* number of entries of plan_row; 0 for sinkhorn, whose plan has no zeros */
    int64_t n_iterations;
} ddsc_transport;

#define ddsc_transport_init(transport) ddsc_transport_init_sized((transport), sizeof *(transport))
DDSC_API void ddsc_transport_init_sized(ddsc_transport *transport, size_t size);

/* Solves an optimal transport problem exactly. Costs may be any finite numbers. */
DDSC_API ddsc_status ddsc_emd_run(ddsc_context *context, ddsc_transport *transport,
                                  const ddsc_transport_problem *problem);
/* Computes the exact 2-Wasserstein distance between item i of x and item j of y. x and y must have
 * the same dimension and may be the same set. The value is W2^2. Rows and columns of the plan are
 * point numbers within the items. Large n x m cost matrices are not stored. Returns
 * DDSC_NOT_CONVERGED if the gap is above 1e-10. In that case, primal is an upper bound and dual is
 * a lower bound. */
DDSC_API ddsc_status ddsc_w2_run(ddsc_context *context, ddsc_transport *transport,
                                 const ddsc_measures *x, int64_t i, const ddsc_measures *y,
                                 int64_t j);

typedef struct ddsc_sinkhorn_settings {
    size_t struct_size;
    double epsilon;            /* absolute and positive; has no default */
    ddsc_sinkhorn_value value; /* DEBIASED is not defined for a cost matrix alone */
    double tolerance;          /* maximum L1 error of the marginals of a converged solve; at least
                                * 1e-15; default 1e-9 */
    int64_t max_iterations;    /* default 100000 */
} ddsc_sinkhorn_settings;

#define ddsc_sinkhorn_settings_init(settings) \
    ddsc_sinkhorn_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_sinkhorn_settings_init_sized(ddsc_sinkhorn_settings *settings, size_t size);

/* Solves an entropic transport problem. The plan and the values are scaled by the total mass s of
 * the weights. KL is relative to a x b / s. */
DDSC_API ddsc_status ddsc_sinkhorn_run(ddsc_context *context, ddsc_transport *transport,
                                       const ddsc_transport_problem *problem,
                                       const ddsc_sinkhorn_settings *settings);

/* ==== Barycenters, and clustering with barycenters ==== */

typedef enum ddsc_barycenter_method {
    DDSC_BARYCENTER_ADMM = 0, /* Bregman ADMM (Ye, Wu, Wang, Li 2017) */
    DDSC_BARYCENTER_IBP,      /* entropic: iterative Bregman projections (Benamou et al. 2015) */
    /* projection-robust (Huang, Ma, Lai 2021): entropic, with costs in the plane that maximizes
     * the transport cost */
    DDSC_BARYCENTER_PROJECTED
} ddsc_barycenter_method;

typedef struct ddsc_barycenter_settings {
    size_t struct_size;
    ddsc_barycenter_method method;
    int64_t support_size; /* number of points of the barycenter; 0: rounded mean over the items */
    double rho;           /* admm: penalty as a multiple of the mean cost; default 1 */
    /* ibp, projected: regularization as a fraction of the mean cost; default 0.02 */
    double epsilon;
    int64_t max_rounds;     /* maximum number of rounds of the method; default 2000 */
    int64_t max_passes;     /* maximum number of exact passes after the rounds; default 500 */
    double tolerance;       /* stops if the objective decreases by less than this fraction; default
                       * 1e-6 */
    int64_t projection_dim; /* projected: dimension of the projection; default 2 */
    const double *item_weights; /* one positive weight per item, with any sum; NULL: equal
                                 * weights */
    int64_t restarts; /* number of starts from different items; the best result is used; default
                       * 3 */
    /* A ddsc_cost: squared Euclidean (default) or cosine. The cosine barycenter is computed for the
     * items with points scaled to length 1, and it lies inside the unit ball. DDSC_BARYCENTER_ADMM
     * also accepts Euclidean (points move to geometric medians), city block (coordinate-wise
     * medians) and a matrix (rows of the matrix, as in ddsc_metric_settings). */
    int64_t cost;
    const double *cost_matrix; /* with DDSC_COST_MATRIX: cost_size x cost_size */
    int64_t cost_size;
} ddsc_barycenter_settings;

#define ddsc_barycenter_settings_init(settings) \
    ddsc_barycenter_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_barycenter_settings_init_sized(ddsc_barycenter_settings *settings, size_t size);

typedef struct ddsc_barycenter ddsc_barycenter;

/* Computes a barycenter: a measure on n points that minimizes the mean transport cost to the items.
 * The result is a local minimum over positions and weights. The cost is W2^2 by default; `cost`
 * selects another one, such as W1. The method first approaches a minimum, and exact passes then
 * decrease the objective further. Each pass computes optimal plans and moves each point to the best
 * position for its mass, which is a mean, a median or a row. */
DDSC_API ddsc_status ddsc_barycenter_run(ddsc_context *context, ddsc_barycenter **barycenter,
                                         const ddsc_measures *measures,
                                         const ddsc_barycenter_settings *settings);
DDSC_API void ddsc_barycenter_destroy(ddsc_barycenter *barycenter);

typedef struct ddsc_barycenter_view {
    int64_t n, dim;
    const double *support; /* n x dim */
    const double *weights; /* n, positive, sum to 1 */
    /* mean exact transport cost to the items after each pass; the values never increase */
    const double *objective;
    int64_t n_objective; /* number of values; the first belongs to the starting point, the last to
                          * the barycenter */
    int64_t n_rounds, n_passes;
    int converged; /* 1: the last exact pass found no improvement */
} ddsc_barycenter_view;

#define ddsc_barycenter_get_view(barycenter, view) \
    ddsc_barycenter_get_view_sized((barycenter), (view), sizeof *(view))
DDSC_API void ddsc_barycenter_get_view_sized(const ddsc_barycenter *barycenter,
                                             ddsc_barycenter_view *view, size_t size);

typedef struct ddsc_d2_settings {
    size_t struct_size;
    int64_t k;
    /* Method that computes the centers; see ddsc_barycenter_settings. */
    ddsc_barycenter_method method;
    int64_t support_size;   /* number of points of a center; 0: rounded mean over the items */
    double rho;             /* default 2 */
    double epsilon;         /* default 0.02 */
    int64_t max_rounds;     /* maximum number of rounds per center update; default 100 */
    int64_t projection_dim; /* default 2 */
    int64_t restarts;       /* number of starts; the result with the best objective is used; default
                             * 3 */
    int64_t max_iterations; /* maximum number of iterations, each with an assignment and a center
                             * update; default 100 */
    double tolerance;       /* stops if the objective decreases by less than this fraction; default
                       * 1e-4 */
    int64_t cost;           /* as in ddsc_barycenter_settings */
    const double *cost_matrix;
    int64_t cost_size;
} ddsc_d2_settings;

#define ddsc_d2_settings_init(settings) ddsc_d2_settings_init_sized((settings), sizeof *(settings))
DDSC_API void ddsc_d2_settings_init_sized(ddsc_d2_settings *settings, size_t size);

typedef struct ddsc_d2 ddsc_d2;

/* Runs k-means in W2 (D2 clustering). Each item is assigned to the center with the lowest exact
 * transport cost (W2^2 by default; see `cost`), and the centers are barycenters. With
 * DDSC_BARYCENTER_PROJECTED, the algorithm is PD2. */
DDSC_API ddsc_status ddsc_d2_run(ddsc_context *context, ddsc_d2 **d2, const ddsc_measures *measures,
                                 const ddsc_d2_settings *settings);
DDSC_API void ddsc_d2_destroy(ddsc_d2 *d2);

typedef struct ddsc_d2_view {
    int64_t n, k;          /* number of items; number of non-empty clusters */
    const int32_t *labels; /* n, 0 .. k-1, numbered by first appearance */
    const double *cost; /* n: transport cost to the center of the item's cluster; W2^2 by default */
    int64_t center_size, dim;
    const double *support;   /* k x center_size x dim */
    const double *weights;   /* k x center_size */
    const double *objective; /* sum of the costs after each assignment; the values never increase */
    int64_t n_objective;
    /* number of pairs of an item and a center over all assignments; number of transport problems
     * solved */
    int64_t n_pairs, n_solved;
    int64_t restart;                                       /* number of the best restart */
    int converged;                                         /* 1: stopped before max_iterations */
    double seconds_start, seconds_assign, seconds_centers; /* time in seconds, summed over all
                                                            * restarts */
} ddsc_d2_view;

#define ddsc_d2_get_view(d2, view) ddsc_d2_get_view_sized((d2), (view), sizeof *(view))
DDSC_API void ddsc_d2_get_view_sized(const ddsc_d2 *d2, ddsc_d2_view *view, size_t size);

/* ==== Vectors: items as single rows, for baselines ==== */

typedef enum ddsc_vectors_rule {
    DDSC_VECTORS_AUTO = 0, /* HISTOGRAM if all items share one support, otherwise MEAN */
    /* the item's weights on the support, such as a bag of words or pixels */
    DDSC_VECTORS_HISTOGRAM,
    DDSC_VECTORS_MEAN /* the weighted mean of the item's points */
} ddsc_vectors_rule;

/* Converts items to vectors. *out is n_items x *n_columns, row-major. Free it with ddsc_release. */
DDSC_API ddsc_status ddsc_vectors_run(ddsc_context *context, double **out, int64_t *n_columns,
                                      const ddsc_measures *measures, ddsc_vectors_rule rule);

/* ==== Reports (experimental) ==== */

/* Reports contain the findings, scores, map, summary, JSON and page of a result, so that every
 * program presents the same result in the same way. List the parts of a result in a source, create
 * a report from it, and write it in the required form:
 *
 *     ddsc_report_source from; ddsc_report_source_init(&from);
 *     from.clustering = found; from.measures = data; from.settings = &set; from.map = 1;
 *     ddsc_report *report; ddsc_report_create(ctx, &report, &from);
 *     ddsc_report_write(ctx, report, DDSC_REPORT_HTML, write_to_a_file, file);
 *     ddsc_report_save(ctx, report, "result", 0);    or all files at once
 *
 * docs/results.md describes the contents of each form. */

/* Kinds of settings that only the caller knows: a text, a number, or a flag (number 0 or 1). */
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

/* Describes how the result was obtained. The fields are copied to the report verbatim, and all are
 * optional. */
typedef struct ddsc_report_origin {
    size_t struct_size;
    const char *method;        /* NULL: "ddsc" */
    const char *command;       /* the command that reproduces the run */
    const char *const *inputs; /* names of the input files */
    int64_t n_inputs;
    const char *truth_name;              /* source of the classes; NULL: the input itself */
    const ddsc_report_setting *settings; /* settings that the library does not have */
    int64_t n_settings;
    const ddsc_compress_report *compress; /* statistics of ddsc_measures_compress; NULL: not
                                           * compressed */
    int64_t compress_points;              /* maximum number of points per item after compression */
} ddsc_report_origin;

#define ddsc_report_origin_init(origin) ddsc_report_origin_init_sized((origin), sizeof *(origin))
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_origin_init_sized(ddsc_report_origin *origin,
                                                              size_t size);

/* The parts of a result. All fields are optional, and missing parts are not reported. All objects
 * and arrays must outlive the report. The algorithms used, the time per stage and the number of
 * threads are read from the context. */
typedef struct ddsc_report_source {
    size_t struct_size;
    /* The clusters. Set exactly one of the following three fields. */
    const ddsc_clustering *clustering;
    const ddsc_d2 *d2;
    /* One label per item of `measures`, 0 .. k-1, from k-means or another source. k is taken from
     * `settings`. Without settings, it is the largest label plus 1. */
    const int32_t *labels;
    double inertia; /* k-means objective of `labels` */
    /* The data that was clustered. */
    const ddsc_measures *measures;         /* NULL: items have no ids and no pictures */
    const ddsc_graph *graph;               /* the graph that was passed to ddsc_spectral_run */
    const ddsc_cluster_settings *settings; /* settings that were passed to the run */
    const ddsc_pair_stats *pairs;          /* statistics of a run over pairs that computed no
                                            * clusters */
    ddsc_status status; /* status of the run; DDSC_NOT_CONVERGED marks the result as not
                         * converged */
    /* Reference data. */
    const int32_t *truth;            /* one class per input row, negative if the row has no class;
                                      * or NULL */
    const ddsc_stability *stability; /* stability of this clustering */
    /* A metadata column, such as the patient id. Permutation tests that compare metadata columns
     * with the clusters permute labels only within each value of this column. NULL: permute all
     * labels.
     * */
    const char *block;
    int map;      /* 1: compute a map */
    int outliers; /* 1: outliers receive label -1 and belong to no cluster */
    const ddsc_report_origin *origin;
    const ddsc_update *update; /* the update that computed `clustering`; or NULL */
    /* Names of clusters 0 .. n_cluster_names - 1; NULL: no name. */
    const char *const *cluster_names;
    int64_t n_cluster_names;
    int membership; /* 1: compute the memberships of a clustering (ddsc_membership_run) */
    /* A metadata column, such as a date or a batch. The report then shows the clusters per period
     * of this column (ddsc_over_run). NULL: the report has no such section. */
    const char *over;
    /* Names of classes 0 .. n_class_names - 1 of `truth`. Other classes are shown by the label
     * names of `measures`, or by number. */
    const char *const *class_names;
    int64_t n_class_names;
} ddsc_report_source;

#define ddsc_report_source_init(source) ddsc_report_source_init_sized((source), sizeof *(source))
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_source_init_sized(ddsc_report_source *source,
                                                              size_t size);

typedef struct ddsc_report ddsc_report;

/* Creates a report and computes its scores, its findings and, if requested, its map. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_create(ddsc_context *context,
                                                          ddsc_report **report,
                                                          const ddsc_report_source *source);
/* Reads a report from a folder that ddsc_report_save wrote. The report can be written as JSON or
 * HTML, and its pictures can be drawn. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_read(ddsc_context *context, ddsc_report **report,
                                                        const char *folder);
/* Adds the clusters in each period of a column to a report, or replaces the periods that an earlier
 * call added. `values` has n texts, one per item that was not dropped, in the order of the items.
 * If `values` is NULL, the metadata column with the name `column` is used. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_add_over(ddsc_context *context,
                                                            ddsc_report *report, const char *column,
                                                            const char *const *values, int64_t n);
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_destroy(ddsc_report *report);

typedef struct ddsc_report_view {
    int64_t n_rows, k;
    const int32_t *labels; /* n_rows entries; -1: the row was dropped, or is an outlier without a
                            * cluster */
    const double *map;     /* n_rows x 2, NaN for dropped rows; NULL: no map */
    const ddsc_scores *scores; /* scores against the truth, or NULL */
    int certified;        /* 1: all required pairs and eigenvectors converged and were verified */
    const char *headline; /* first line of DDSC_REPORT_TEXT, such as "1,234 items in 5 clusters" */
    const ddsc_verdict *verdict; /* NULL if there are no clusters or the report was read from a
                                  * folder */
} ddsc_report_view;

#define ddsc_report_get_view(report, view) \
    ddsc_report_get_view_sized((report), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_report_get_view_sized(const ddsc_report *report,
                                                           ddsc_report_view *view, size_t size);

/* Version of the format of result.json, items.csv and the program's JSON output, which contain it
 * as `format_version`. Version 0.2.0 of ddsc wrote format 1, which does not contain
 * `format_version`. docs/notes/formats.md lists the changes. */
enum { DDSC_FORMAT_VERSION = 2 };

/* Forms of a report. The call fails if the form has no content, such as DDSC_REPORT_STABILITY for a
 * result without stability. */
typedef enum ddsc_report_form {
    DDSC_REPORT_JSON = 0,    /* result.json */
    DDSC_REPORT_JSON_LABELS, /* result.json with the labels included */
    DDSC_REPORT_TEXT,        /* a summary for the terminal with all parameters */
    DDSC_REPORT_HTML,        /* a self-contained page that needs no network */
    DDSC_REPORT_EIGENVALUES, /* eigenvalues as csv; the next three forms are csv as well */
    DDSC_REPORT_SWEEP,       /* one column of labels per K, one line per input row */
    DDSC_REPORT_STABILITY,   /* number of resamples in which the label of each item changed */
    DDSC_REPORT_ITEMS,       /* nearest other cluster, ambiguity, outlier score and neighbors */
    DDSC_REPORT_BRIEF,       /* the first lines of DDSC_REPORT_TEXT: at most five, one for each of
                              * at most ten clusters, and warnings about excluded items */
    DDSC_REPORT_MEMBERSHIP   /* membership of each item in each cluster, as csv */
} ddsc_report_form;

/* Receives the next bytes of the output. If the return value is not zero, the call fails with
 * DDSC_ERROR_IO. */
typedef int (*ddsc_write_fn)(void *user, const void *bytes, size_t n_bytes);

DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_write(ddsc_context *context,
                                                         const ddsc_report *report,
                                                         ddsc_report_form form, ddsc_write_fn write,
                                                         void *user);
/* Checks that ddsc_report_save can write into `folder`, so that a long run does not fail at the
 * end. The check leaves no files behind. If an earlier process was killed while it replaced files
 * in the folder, the old files are restored. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_check(ddsc_context *context, const char *folder,
                                                         unsigned flags);
/* Writes all files of the result into `folder`. The folder is created if it is missing, but its
 * parent must exist. result.json is written last, so if it exists, the other files are complete.
 * After an error, the folder is unchanged. With DDSC_WRITE_OVERWRITE, all files of an earlier
 * result are replaced, in one step if the file system supports it. Files with other names are not
 * changed. Temporary files that killed runs left next to the folder are removed. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_save(ddsc_context *context,
                                                        const ddsc_report *report,
                                                        const char *folder, unsigned flags);
/* Returns the name of file `number` (from 0) that ddsc_report_save may write. Returns NULL after
 * the last name. */
DDSC_EXPERIMENTAL DDSC_API const char *ddsc_report_get_file_name(int64_t number);

/* ---- pictures: lists of marks to draw ---- */

typedef enum ddsc_mark_kind {
    DDSC_MARK_LINE = 0, /* from (x, y) to (x + w, y + h) */
    DDSC_MARK_BOX,      /* upper left corner, width and height */
    DDSC_MARK_DOT,      /* center, and radius w */
    DDSC_MARK_WORDS     /* text at (x, y), which is its start, middle or end for anchor 0, 1 or 2 */
} ddsc_mark_kind;

typedef struct ddsc_mark {
    ddsc_mark_kind kind;
    int32_t cluster;   /* cluster whose color is used; -1: the color of items in no cluster; -2: the
                        * color of text */
    const char *color; /* the same color in hexadecimal, such as "#3b7dd8" */
    double opacity, x, y, w, h;
    int anchor;
    /* the text of DDSC_MARK_WORDS; for other marks, a label to show next to it, or NULL */
    const char *words;
} ddsc_mark;

/* Receives a picture. The arguments are valid only during the callback. A non-zero return value
 * stops the call, which then returns DDSC_OK. */
typedef int (*ddsc_picture_fn)(void *user, const char *name, double width, double height,
                               int64_t n_marks, const ddsc_mark *marks);

/* Passes each picture of the report to `draw`: map, representatives, means, eigenvalues, sizes,
 * neighbors and confusion. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_report_draw(ddsc_context *context,
                                                        const ddsc_report *report,
                                                        ddsc_picture_fn draw, void *user);

/* Several labelings of one two-dimensional set, which are scored against the labels of the set. */
typedef struct ddsc_comparison {
    size_t struct_size;
    const ddsc_measures *measures; /* must be two-dimensional and labeled, without dropped rows */
    const char *title, *words;     /* title and introduction of the page */
    int64_t n;
    const char *const *names;     /* n names */
    const char *const *notes;     /* n notes, or NULL */
    const int32_t *const *labels; /* n arrays of one label per item */
} ddsc_comparison;

#define ddsc_comparison_init(comparison) \
    ddsc_comparison_init_sized((comparison), sizeof *(comparison))
DDSC_EXPERIMENTAL DDSC_API void ddsc_comparison_init_sized(ddsc_comparison *comparison,
                                                           size_t size);
/* Writes the comparison as an HTML page or, if `picture` is non-zero, as an SVG file of the items
 * colored by label. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_comparison_write(ddsc_context *context,
                                                             const ddsc_comparison *comparison,
                                                             int picture, ddsc_write_fn write,
                                                             void *user);

/* ---- differences between two results (docs/compare-results.md) ---- */

/* One of the two results to compare: a folder, or labels of n items. */
typedef struct ddsc_diff_side {
    size_t struct_size;
    const char *folder; /* written by ddsc_report_save; if set, the fields from n on are ignored */
    const char *name;   /* shown in texts; NULL: the name of the folder */
    int64_t n;
    const char *const *ids; /* n distinct ids; NULL: row numbers */
    const int32_t *labels;  /* n; negative: in no cluster */
    /* The result as DDSC_REPORT_JSON, from which K, the names of clusters and the settings are
     * taken. NULL: K is the largest label plus 1, and clusters have no names. */
    const char *json;
} ddsc_diff_side;

#define ddsc_diff_side_init(side) ddsc_diff_side_init_sized((side), sizeof *(side))
DDSC_EXPERIMENTAL DDSC_API void ddsc_diff_side_init_sized(ddsc_diff_side *side, size_t size);

typedef struct ddsc_diff ddsc_diff;

/* Compares two results of the same or of overlapping items. Items are matched by id. Clusters are
 * matched by ddsc_identity_run. Of the identity settings, only `overlap` and `part` are used
 * (NULL: the defaults). The call fails if no item is in both results or if an id occurs twice in one result.
 * It issues a warning if the ids of both results are row numbers. Only result.json and labels.csv
 * of a folder are read. */
DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_diff_create(ddsc_context *context, ddsc_diff **diff,
                                                        const ddsc_diff_side *first,
                                                        const ddsc_diff_side *second,
                                                        const ddsc_identity_settings *settings);
DDSC_EXPERIMENTAL DDSC_API void ddsc_diff_destroy(ddsc_diff *diff);

typedef struct ddsc_diff_view {
    int64_t n_first, n_second, n_shared; /* number of items in each result and in both */
    /* Numbers of shared items by type of change. n_same: the cluster is the same, or the item is in
     * no cluster in either result. n_split and n_merged: the cluster split or merged. n_moved: the
     * item moved to another cluster. The remaining items are in a cluster in only one of the
     * results. */
    int64_t n_same, n_split, n_merged, n_moved;
    int row_numbers;               /* 1: the ids of both results are row numbers */
    const ddsc_scores *scores;     /* agreement on the shared items that are in a cluster in both
                                    * results */
    const ddsc_identity *identity; /* matches between the clusters; the new labels are those of the
                                    * second result */
} ddsc_diff_view;

#define ddsc_diff_get_view(diff, view) ddsc_diff_get_view_sized((diff), (view), sizeof *(view))
DDSC_EXPERIMENTAL DDSC_API void ddsc_diff_get_view_sized(const ddsc_diff *diff,
                                                         ddsc_diff_view *view, size_t size);

typedef enum ddsc_diff_form {
    DDSC_DIFF_JSON = 0, /* everything */
    DDSC_DIFF_TEXT,     /* a summary for the terminal, about 20 lines */
    DDSC_DIFF_TEXT_ALL, /* the summary with all clusters and all items that changed */
    DDSC_DIFF_CSV,      /* one line per item that changed, or that only one result has */
    DDSC_DIFF_HTML      /* a self-contained page with a flow diagram */
} ddsc_diff_form;

DDSC_EXPERIMENTAL DDSC_API ddsc_status ddsc_diff_write(ddsc_context *context, const ddsc_diff *diff,
                                                       ddsc_diff_form form, ddsc_write_fn write,
                                                       void *user);

#ifdef __cplusplus
}
#endif
#endif
