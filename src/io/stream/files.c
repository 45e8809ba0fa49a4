/* Lists the input files that a path stands for, and reads whole files into memory. For a folder,
 * these are the files with one of the requested extensions. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/stream/stream.h"

bool files_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Returns true for a regular file, or for a path that cannot be examined. Pipes and devices in a
 * folder are skipped, because reading them may block forever. */
static bool is_plain_file(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* Returns the length of a name without .gz or .zst. */
static size_t without_packing(const char *name, size_t n)
{
    if (n > 3 && strncasecmp(name + n - 3, ".gz", 3) == 0)
        return n - 3;
    return n > 4 && strncasecmp(name + n - 4, ".zst", 4) == 0 ? n - 4 : n;
}

bool files_has_ending(const char *name, const char *ending)
{
    size_t n = without_packing(name, strlen(name)), k = strlen(ending);
    return n > k + 1 && name[n - k - 1] == '.' && strncasecmp(name + n - k, ending, k) == 0;
}

static bool is_wanted(const char *name, const char *const *endings)
{
    for (; *endings; endings++)
        if (files_has_ending(name, *endings))
            return true;
    return false;
}

static ddsc_status add_path(ddsc_context *ctx, file_list *list, const char *path,
                            const char *folder)
{
    CHECK(text_rows_add(&list->path, list->n, path, strlen(path)));
    CHECK(text_rows_add(&list->folder, list->n, folder, strlen(folder)));
    list->n++;
    return ctx_canceled(ctx) ? DDSC_ERROR_CANCELED : DDSC_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Adds the files of a folder and of its immediate subfolders, sorted by name. The name of a
 * subfolder is the class of its files. */
static ddsc_status add_folder(ddsc_context *ctx, file_list *list, const char *folder,
                              const char *class, const char *const *endings)
{
    ddsc_status status = DDSC_OK;
    struct dirent **entry = NULL;
    char path[4096];
    int n = scandir(folder, &entry, visible, by_name);
    if (n < 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: cannot read the folder", folder);
    for (int k = 0; k < n && status >= 0; k++) {
        const char *name = entry[k]->d_name;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
            status = ctx_fail(ctx, DDSC_ERROR_INPUT, "%.200s...: the path is too long", path);
        else if (!*class && files_is_folder(path))
            status = add_folder(ctx, list, path, name, endings);
        else if (is_wanted(name, endings) && is_plain_file(path))
            status = add_path(ctx, list, path, class);
    }
    for (int k = 0; k < n; k++)
        free(entry[k]);
    free(entry);
    return status;
}

ddsc_status files_add(ddsc_context *ctx, file_list *list, const char *path,
                      const char *const *const *kinds)
{
    int64_t before = list->n;
    list->path.ctx = list->folder.ctx = ctx;
    if (!files_is_folder(path))
        return add_path(ctx, list, path, "");
    for (const char *const *const *kind = kinds; *kind && list->n == before; kind++)
        CHECK(add_folder(ctx, list, path, "", *kind));
    if (list->n > before)
        return DDSC_OK;
    char known[200] = "";
    for (size_t at = 0; *kinds; kinds++)
        for (const char *const *ending = *kinds; *ending && at < sizeof known; ending++)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s.%s", at ? ", " : "", *ending);
    return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: the folder contains no %s files", path, known);
}

void files_free(ddsc_context *ctx, file_list *list)
{
    MEM_FREE(ctx, list->path.text, list->path.at, list->folder.text, list->folder.at);
    *list = (file_list){0};
}

void files_base_name(const char *path, const char **start, size_t *length)
{
    const char *slash = strrchr(path, '/');
    *start = slash && slash[1] ? slash + 1 : path;
    size_t n = without_packing(*start, strlen(*start));
    for (size_t k = n; k-- > 1;)
        if ((*start)[k] == '.') {
            n = k;
            break;
        }
    *length = n;
}

ddsc_status files_name(ddsc_context *ctx, char **name, int64_t *capacity, const char *path,
                       const char *class)
{
    const char *base;
    size_t n;
    files_base_name(path, &base, &n);
    CHECK(MEM_RESERVE(ctx, *name, capacity, (int64_t)(strlen(path) + strlen(class) + 2)));
    sprintf(*name, "%s%s%.*s", class, *class ? "/" : "", (int)n, base);
    return DDSC_OK;
}

ddsc_status files_read_whole(ddsc_context *ctx, io_stream *s, char **bytes, int64_t *capacity,
                             int64_t *n, int64_t most, const char *what)
{
    size_t got;
    *n = 0;
    do {
        CHECK(MEM_RESERVE(ctx, *bytes, capacity, *n + STREAM_PEEK_MAX + 1));
        CHECK(stream_read(s, *bytes + *n, (size_t)(*capacity - *n - 1), &got));
        *n += (int64_t)got;
        if (*n > most)
            return stream_fail(s, "is longer than %lld bytes, which is too long for %s",
                               (long long)most, what);
    } while (got > 0);
    (*bytes)[*n] = '\0';
    return DDSC_OK;
}
