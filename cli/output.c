/* Writes results. Output paths are checked before the computation starts, and files are written
 * atomically. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

bool output_is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

ddsc_format output_format(const session *s)
{
    if (s->opt.format != DDSC_FORMAT_AUTO)
        return (ddsc_format)s->opt.format;
    return output_is_stdout(s->opt.output) ? DDSC_FORMAT_NPZ : DDSC_FORMAT_AUTO;
}

char *output_path(const char *dir, const char *name)
{
    text t = {0};
    size_t n = strlen(dir);
    text_addf(&t, "%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
    return t.bytes;
}

/* Returns the folder of a path. The caller frees it with free(). */
static char *parent_of(const char *path)
{
    text t = {0};
    const char *end = path + strlen(path);
    while (end > path + 1 && end[-1] == '/')
        end--;
    while (end > path && end[-1] != '/')
        end--;
    while (end > path + 1 && end[-1] == '/')
        end--;
    if (end == path)
        text_add(&t, ".");
    else
        text_add_bytes(&t, path, (size_t)(end - path));
    return t.bytes;
}

static bool refuse(const char *path, const char *why, int *code)
{
    message_error("%s: %s", path, why);
    *code = EXIT_USAGE;
    return false;
}

/* Reports that the system does not allow writing to `path`, with the reason in errno. */
static bool refuse_place(const char *path, int *code)
{
    message_error("%s cannot be written: %s", path,
                  errno == ENOENT ? "its folder does not exist" : strerror(errno));
    *code = EXIT_OUTPUT;
    return false;
}

bool output_check_file(session *s, const char *path, int *code)
{
    struct stat info;
    if (output_is_stdout(path))
        return true;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return refuse(path, "is a directory; specify a file", code);
        if (!S_ISREG(info.st_mode)) /* devices and pipes are written directly, not replaced */
            return access(path, W_OK) == 0 || refuse_place(path, code);
        if (!input_is_not(s, path, code))
            return false;
        if (!s->overwrite)
            return refuse(path, "exists (use --force to overwrite)", code);
    } else if (errno != ENOENT) { /* for example, because the name is too long */
        return refuse_place(path, code);
    }
    char *dir = parent_of(path);
    bool good = access(dir, W_OK | X_OK) == 0 || refuse_place(path, code);
    free(dir);
    return good && session_ok(s, ddsc_file_check(s->ctx, path, output_flags(s)), code);
}

bool output_check(session *s, bool required, int *code)
{
    const char *path = s->opt.output;
    if (required && !path)
        *code = message_usage(s->verb,
                              "the output file is missing: use -o FILE (- is standard output)");
    else if (s->opt.json && path && output_is_stdout(path))
        *code = message_usage(s->verb, "--json and -o - both use standard output; choose one");
    else
        return output_check_file(s, path, code);
    return false;
}

/* Checks that a file can be created in `place`. Error messages name `dir`, which need not exist
 * yet. */
static bool can_create_in(session *s, const char *place, const char *dir, int *code)
{
    char name[48];
    snprintf(name, sizeof name, ".ddsc-check-%ld", (long)getpid());
    char *path = output_path(place, name);
    ddsc_status status = ddsc_file_check(s->ctx, path, DDSC_WRITE_OVERWRITE);
    const char *why = strrchr(ddsc_context_get_message(s->ctx), ':');
    bool good = status >= 0;
    if (status == DDSC_ERROR_MEMORY) {
        good = session_ok(s, status, code);
    } else if (!good) {
        message_error("%s cannot be written%s", dir, why ? why : "");
        *code = EXIT_OUTPUT;
    }
    free(path);
    return good;
}

/* Checks that `place`, the nearest existing ancestor of the path `dir`, is a folder with write
 * permission. */
static bool can_make_dir(session *s, const char *place, const char *dir, int *code)
{
    struct stat info;
    if (stat(place, &info) == 0) {
        if (!S_ISDIR(info.st_mode))
            return refuse(place, "exists and is not a directory", code);
        if (access(place, W_OK | X_OK) != 0)
            return refuse_place(place, code);
        return can_create_in(s, place, dir, code);
    }
    if (errno != ENOENT || lstat(place, &info) == 0) /* or a symbolic link with a missing target */
        return refuse_place(place, code);
    char *parent = parent_of(place);
    bool good = strcmp(parent, place) != 0 && can_make_dir(s, parent, dir, code);
    free(parent);
    return good;
}

bool output_check_dir(session *s, const char *dir, const char *const *names, bool overwrite,
                      int *code)
{
    if (!can_make_dir(s, dir, dir, code))
        return false;
    bool good = true;
    for (; *names && good; names++) {
        char *path = output_path(dir, *names);
        struct stat info;
        bool taken = lstat(path, &info) == 0;
        if (taken && !input_is_not(s, path, code)) {
            good = false;
        } else if (taken && !overwrite && !s->overwrite) {
            good = refuse(path, "exists (use --force to overwrite)", code);
        } else if (taken && S_ISDIR(info.st_mode)) {
            errno = EISDIR;
            good = refuse_place(path, code);
        }
        free(path);
    }
    return good;
}

bool output_make_dir(const char *dir, int *code)
{
    if (mkdir(dir, 0777) == 0 || errno == EEXIST)
        return true;
    if (errno == ENOENT) {
        char *parent = parent_of(dir);
        bool good = strcmp(parent, dir) != 0 && output_make_dir(parent, code);
        free(parent);
        if (!good)
            return false;
        if (mkdir(dir, 0777) == 0 || errno == EEXIST)
            return true;
    }
    return refuse_place(dir, code);
}

bool output_make_parent(const char *path, int *code)
{
    char *parent = parent_of(path);
    bool good = output_make_dir(parent, code);
    free(parent);
    return good;
}

bool output_check_binary(const session *s, int *code)
{
    bool terminal =
        s->team || isatty(STDOUT_FILENO); /* only rank 0 sees mpirun's stdout as a terminal */
    if (!output_is_stdout(s->opt.output) || s->opt.json || !terminal)
        return true;
    *code = message_usage(s->verb, "binary data cannot be written to a terminal; use -o FILE");
    return false;
}

unsigned output_flags(const session *s)
{
    return s->overwrite ? DDSC_WRITE_OVERWRITE : 0;
}

unsigned output_distance_flags(const session *s)
{
    return (s->opt.squared ? DDSC_DISTANCE_SQUARED : 0u) |
           (s->opt.condensed ? DDSC_DISTANCE_CONDENSED : 0u);
}

bool output_text(session *s, const text *t, const char *path, bool overwrite, int *code)
{
    if (!output_is_stdout(path))
        return session_ok(s,
                          ddsc_file_write(s->ctx, path, text_get(t), t->length,
                                          overwrite ? DDSC_WRITE_OVERWRITE : output_flags(s)),
                          code);
    text shown = {0};
    progress_clear();
    text_add_shown(&shown, text_get(t), t->length, stdout);
    bool good =
        fwrite(text_get(&shown), 1, shown.length, stdout) == shown.length && fflush(stdout) == 0;
    text_free(&shown);
    if (!good)
        *code = EXIT_OUTPUT; /* main prints the message */
    return good;
}

bool output_print(session *s, text *t, int *code)
{
    bool good = output_text(s, t, NULL, false, code);
    text_free(t);
    return good;
}

void output_summary_bold(const session *s, const text *t, size_t n_bold)
{
    FILE *to = output_is_stdout(s->opt.output) || s->opt.json ? stderr : stdout;
    bool bold = n_bold > 0 && message_colors(fileno(to));
    text shown = {0};
    if (s->opt.quiet || s->opt.json)
        return;
    progress_clear();
    text_add(&shown, bold ? "\033[1m" : "");
    text_add_shown(&shown, text_get(t), n_bold, to);
    text_add(&shown, bold ? "\033[0m" : "");
    text_add_shown(&shown, text_get(t) + n_bold, t->length - n_bold, to);
    fputs(text_get(&shown), to);
    text_free(&shown);
}

void output_summary(const session *s, const text *t)
{
    output_summary_bold(s, t, 0);
}

void output_name(const char *what, const char *path)
{
    text t = {0};
    text_add_shown(&t, path, strlen(path), stdout);
    printf("%s: %s\n", what, text_get(&t));
    text_free(&t);
}

/* Returns a copy of the graph with one row per input row. Rows of dropped items have no neighbors.
 * */
static bool spread_graph(session *s, ddsc_graph **out, const ddsc_graph *graph,
                         const ddsc_measures_view *view, int *code)
{
    ddsc_graph_view g;
    ddsc_graph_get_view(graph, &g);
    int64_t *offset = cli_allocate((size_t)view->n_rows + 1, sizeof *offset), item = 0;
    int32_t *index = cli_allocate((size_t)g.n_edges + 1, sizeof *index);
    offset[0] = 0;
    for (int64_t r = 0; r < view->n_rows; r++) {
        item += item < g.n && view->row[item] == r;
        offset[r + 1] = g.offset[item];
    }
    for (int64_t e = 0; e < g.n_edges; e++)
        index[e] = (int32_t)view->row[g.index[e]];
    bool good = session_ok(
        s, ddsc_graph_create_from_csr(s->ctx, out, view->n_rows, offset, index, g.d2), code);
    free(index);
    free(offset);
    return good;
}

bool output_graph(session *s, const ddsc_graph *graph, const ddsc_measures_view *view,
                  const char *path, int *code)
{
    ddsc_graph *spread = NULL;
    bool dropped = view && view->n_rows != view->n_items;
    bool good = !dropped || spread_graph(s, &spread, graph, view, code);
    good = good &&
           session_ok(s, ddsc_graph_write(s->ctx, dropped ? spread : graph, path, output_flags(s)),
                      code);
    ddsc_graph_destroy(spread);
    return good;
}

void output_add_resumed(text *t, const session *s)
{
    int64_t n = s->opt.resume ? ddsc_context_get_resumed(s->ctx) : 0;
    if (n == 0)
        return;
    text_add(t, ", ");
    text_add_count(t, n);
    text_addf(t, " of them before (%s)", s->opt.resume);
}

/* These functions work from the end to the start, so that no value is overwritten before it is
 * moved (row[i] >= i). */
void output_spread_rows(double *block, int64_t n_columns, const ddsc_measures_view *view)
{
    int64_t item = view->n_items - 1;
    if (view->n_rows == view->n_items)
        return;
    for (int64_t r = view->n_rows - 1; r >= 0; r--) {
        bool kept = item >= 0 && view->row[item] == r;
        for (int64_t c = n_columns - 1; c >= 0; c--)
            block[r * n_columns + c] = kept ? block[item * n_columns + c] : NAN;
        item -= kept;
    }
}

void output_spread_square(double *matrix, const ddsc_measures_view *view)
{
    int64_t n = view->n_items, rows = view->n_rows, i = n - 1;
    if (rows == n)
        return;
    for (int64_t r = rows - 1; r >= 0; r--) {
        bool kept = i >= 0 && view->row[i] == r;
        int64_t j = n - 1;
        for (int64_t c = rows - 1; c >= 0; c--) {
            bool both = kept && j >= 0 && view->row[j] == c;
            matrix[r * rows + c] = both ? matrix[i * n + j] : NAN;
            j -= j >= 0 && view->row[j] == c;
        }
        i -= kept;
    }
}

void output_spread_condensed(double *condensed, const ddsc_measures_view *view)
{
    int64_t n = view->n_items, rows = view->n_rows, i = n - 1;
    int64_t from = n * (n - 1) / 2, to = rows * (rows - 1) / 2;
    if (rows == n)
        return;
    for (int64_t r = rows - 1; r >= 0; r--) {
        bool kept = i >= 0 && view->row[i] == r;
        int64_t j = n - 1;
        for (int64_t c = rows - 1; c > r; c--) {
            bool column = j >= 0 && view->row[j] == c;
            condensed[--to] = kept && column ? condensed[--from] : NAN;
            j -= column;
        }
        i -= kept;
    }
}

int32_t *output_row_labels(const int32_t *labels, const ddsc_measures_view *view)
{
    int32_t *by_row = cli_allocate((size_t)view->n_rows, sizeof *by_row);
    for (int64_t r = 0; r < view->n_rows; r++)
        by_row[r] = -1;
    for (int64_t i = 0; i < view->n_items; i++)
        by_row[view->row[i]] = labels[i];
    return by_row;
}
