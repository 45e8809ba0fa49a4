/* Documents as files of plain text, one each, and folders of them: the name of a file is its id, that
 * of the folder below the one given its class. */
#include "text/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DOCUMENT_MAX_BYTES = 1 << 28 };

bool files_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_text_name(const char *name)
{
    size_t n = strlen(name);
    return name[0] != '.' && ((n > 4 && strcasecmp(name + n - 4, ".txt") == 0) ||
                              (n > 7 && strcasecmp(name + n - 7, ".txt.gz") == 0));
}

/* ---- lists of paths ---- */

static ddsc_status add_path(ddsc_context *ctx, file_list *list, const char *path,
                            const char *folder)
{
    CHECK(text_rows_add(&list->path, list->n, path, strlen(path)));
    CHECK(text_rows_add(&list->folder, list->n, folder, strlen(folder)));
    list->n++;
    return ctx_cancelled(ctx) ? DDSC_ERROR_CANCELLED : DDSC_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Files of a folder in the order of their names; folders in it, one level down, name classes. */
static ddsc_status add_folder(ddsc_context *ctx, file_list *list, const char *folder,
                              const char *class)
{
    ddsc_status status = DDSC_OK;
    struct dirent **entry = NULL;
    char path[4096];
    int n = scandir(folder, &entry, visible, by_name);
    if (n < 0)
        return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: the folder cannot be read", folder);
    for (int k = 0; k < n && status >= 0; k++) {
        const char *name = entry[k]->d_name;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
            status = ctx_fail(ctx, DDSC_ERROR_INPUT, "%.200s...: the path is too long", path);
        else if (!*class && files_is_folder(path))
            status = add_folder(ctx, list, path, name);
        else if (is_text_name(name) && !files_is_folder(path))
            status = add_path(ctx, list, path, class);
    }
    for (int k = 0; k < n; k++)
        free(entry[k]);
    free(entry);
    return status;
}

ddsc_status files_list(ddsc_context *ctx, file_list *list, int64_t n_paths,
                       const char *const *paths)
{
    list->path.ctx = list->folder.ctx = ctx;
    for (int64_t i = 0; i < n_paths; i++) {
        int64_t before = list->n;
        if (!files_is_folder(paths[i])) {
            CHECK(add_path(ctx, list, paths[i], ""));
            continue;
        }
        CHECK(add_folder(ctx, list, paths[i], ""));
        if (list->n == before)
            return ctx_fail(ctx, DDSC_ERROR_INPUT, "%s: the folder holds no .txt files", paths[i]);
    }
    return DDSC_OK;
}

void files_free(ddsc_context *ctx, file_list *list)
{
    MEM_FREE(ctx, list->path.text, list->path.at, list->folder.text, list->folder.at);
    *list = (file_list){0};
}

/* ---- one file ---- */

ddsc_status files_name(ddsc_context *ctx, char **name, int64_t *room, const char *path,
                       const char *class)
{
    const char *base;
    size_t n;
    io_base_name(path, &base, &n);
    CHECK(MEM_RESERVE(ctx, *name, room, (int64_t)(strlen(path) + strlen(class) + 2)));
    sprintf(*name, "%s%s%.*s", class, *class ? "/" : "", (int)n, base);
    return DDSC_OK;
}

ddsc_status files_read_text(ddsc_context *ctx, io_stream *s, char **text, int64_t *room)
{
    unsigned char head[STREAM_PEEK_MAX];
    size_t n, got;
    int64_t have = 0;
    CHECK(stream_peek(s, head, sizeof head, &n));
    const char *foreign = io_sniff_foreign(head, n);
    if (foreign)
        return stream_fail(s, "is %s", foreign);
    do {
        CHECK(MEM_RESERVE(ctx, *text, room, have + STREAM_PEEK_MAX + 1));
        CHECK(stream_read(s, *text + have, STREAM_PEEK_MAX, &got));
        if (memchr(*text + have, 0, got))
            return stream_fail(s, "holds a zero byte: is it text?");
        have += (int64_t)got;
        if (have > DOCUMENT_MAX_BYTES)
            return stream_fail(s, "is longer than %d bytes, too long for one document",
                               DOCUMENT_MAX_BYTES);
    } while (got > 0);
    (*text)[have] = '\0';
    return DDSC_OK;
}
