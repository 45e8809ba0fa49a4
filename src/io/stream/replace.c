/* Replaces the files of a folder one by one, for folders that cannot be exchanged as a whole. The
 * old files are first moved into a folder inside the target, and are moved back after a failure. If
 * the process is killed, the next process that writes into the target moves the old files back. The
 * extension of that folder records the progress: with ".part", some old files may still be in the
 * target; with ".old", the folder contains all old files, and every result file in the target is
 * new. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream/internal.h"

enum { ASIDE_TRIES = 1000, RECOVERIES = 16 };
#define SOME_ASIDE ".part"
#define ALL_ASIDE ".old"

typedef struct replacement {
    ddsc_context *ctx;
    const char *from, *to;
    folder_name_fn name;
    char aside[PATH_MAX]; /* folder with the old files; "" if there are none */
} replacement;

static ddsc_status replace_fail(const replacement *r, const char *name, const char *what)
{
    return ctx_fail(r->ctx, DDSC_ERROR_IO, "%s%s%s: cannot %s: %s", r->to, name ? "/" : "",
                    name ? name : "", what, strerror(errno));
}

void folder_path(char out[PATH_MAX], const char *folder, const char *name)
{
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        out[0] = '\0'; /* no file has an empty name, so the next call that uses it fails */
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

static int64_t last_number(folder_name_fn name)
{
    int64_t n = 0;
    while (name(n + 1))
        n++;
    return n;
}

static bool has(const char *folder, const char *name)
{
    struct stat info;
    char path[PATH_MAX];
    folder_path(path, folder, name);
    return lstat(path, &info) == 0;
}

/* Moves a file. Returns true if the file was moved or does not exist. */
static bool move_file(const char *from, const char *to, const char *name)
{
    char old[PATH_MAX], new[PATH_MAX];
    folder_path(old, from, name);
    folder_path(new, to, name);
    return rename(old, new) == 0 || errno == ENOENT;
}

static bool remove_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    folder_path(path, folder, name);
    return unlink(path) == 0 || errno == ENOENT;
}

/* ---- old files ---- */

/* Moves the old files back. The file with the last name is moved last, because it marks a complete
 * result. The call can be repeated if the process is killed. */
static bool restore_old(const char *to, char aside[PATH_MAX], folder_name_fn name)
{
    char part[PATH_MAX];
    if (ends_with(aside, ALL_ASIDE)) {
        for (int64_t k = last_number(name); k >= 0; k--)
            if (!remove_file(to, name(k)))
                return false;
        int n = (int)(strlen(aside) - strlen(ALL_ASIDE));
        if (snprintf(part, sizeof part, "%.*s" SOME_ASIDE, n, aside) >= (int)sizeof part ||
            rename(aside, part) != 0)
            return false;
        strcpy(aside, part);
    }
    for (int64_t k = 0; name(k); k++)
        if (!move_file(aside, to, name(k)))
            return false;
    return rmdir(aside) == 0;
}

static bool discard(const char *aside, folder_name_fn name)
{
    for (int64_t k = 0; name(k); k++)
        if (!remove_file(aside, name(k)))
            return false;
    return rmdir(aside) == 0;
}

/* Finds a folder of old files whose process no longer exists. If `locked` is true, the caller holds
 * the lock of the target, so no process on any machine is using such a folder. */
static bool find_orphan(char aside[PATH_MAX], const char *folder, bool locked)
{
    bool found = false;
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !found; e = readdir(dir)) {
        found = strncmp(e->d_name, OWNER_PREFIX, strlen(OWNER_PREFIX)) == 0 &&
                (ends_with(e->d_name, SOME_ASIDE) || ends_with(e->d_name, ALL_ASIDE)) &&
                (locked || owner_is_gone(e->d_name + strlen(OWNER_PREFIX))) &&
                owner_is_own_folder(dirfd(dir), e->d_name);
        if (found)
            folder_path(aside, folder, e->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

static void recover(const char *folder, folder_name_fn name, bool locked)
{
    char aside[PATH_MAX];
    for (int k = 0; k < RECOVERIES && find_orphan(aside, folder, locked); k++) {
        bool whole = ends_with(aside, ALL_ASIDE) && has(folder, name(last_number(name)));
        if (!(whole ? discard(aside, name) : restore_old(folder, aside, name)))
            break;
    }
}

void folder_recover(const char *folder, folder_name_fn name)
{
    int lock;
    if (folder_try_lock(folder, &lock))
        recover(folder, name, lock >= 0);
    folder_unlock(lock);
}

static ddsc_status make_aside(replacement *r)
{
    char owner[OWNER_TEXT];
    owner_name(owner);
    for (int k = 0; k < ASIDE_TRIES; k++) {
        if (snprintf(r->aside, sizeof r->aside, "%s/" OWNER_PREFIX "%s-%d" SOME_ASIDE, r->to, owner,
                     k) >= (int)sizeof r->aside)
            errno = ENAMETOOLONG;
        else if (mkdir(r->aside, 0700) == 0)
            return DDSC_OK;
        if (errno != EEXIST)
            break;
    }
    r->aside[0] = '\0';
    return replace_fail(r, NULL, "write into the folder");
}

/* Moves the old files aside. The file with the last name is moved first, because the other files
 * are not a valid result without it. */
static ddsc_status set_aside(replacement *r)
{
    int64_t last = last_number(r->name);
    char all[PATH_MAX];
    bool any = false;
    for (int64_t k = 0; k <= last && !any; k++)
        any = has(r->to, r->name(k));
    if (!any)
        return DDSC_OK;
    CHECK(make_aside(r));
    for (int64_t k = -1; k < last; k++) {
        const char *name = r->name(k < 0 ? last : k);
        if (!move_file(r->to, r->aside, name))
            return replace_fail(r, name, "set the old file aside");
    }
    int n = (int)(strlen(r->aside) - strlen(SOME_ASIDE));
    snprintf(all, sizeof all, "%.*s" ALL_ASIDE, n, r->aside);
    if (rename(r->aside, all) != 0)
        return replace_fail(r, NULL, "set the old files aside");
    strcpy(r->aside, all);
    return DDSC_OK;
}

/* ---- new files ---- */

static ddsc_status move_new(const replacement *r, const char *name, bool overwrite)
{
    char from[PATH_MAX], to[PATH_MAX];
    folder_path(from, r->from, name);
    folder_path(to, r->to, name);
    if ((overwrite ? rename(from, to) : files_rename_new(from, to)) == 0)
        return DDSC_OK;
    return errno == EEXIST ? ctx_fail(r->ctx, DDSC_ERROR_EXISTS,
                                      "%s: already exists; overwriting was not requested", to)
                           : replace_fail(r, name, "put in place");
}

static ddsc_status sync_target(const replacement *r)
{
    int fd = open(r->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd < 0 || fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    int kept = errno;
    if (fd >= 0)
        close(fd);
    errno = kept;
    return good ? DDSC_OK : replace_fail(r, NULL, "sync the folder");
}

/* Moves the new files into the target, and sets moved[k] for each file that was moved. */
static ddsc_status move_new_files(const replacement *r, bool overwrite, bool *moved)
{
    for (int64_t k = 0; r->name(k); k++)
        if (has(r->from, r->name(k))) {
            CHECK(move_new(r, r->name(k), overwrite));
            moved[k] = true;
        }
    return sync_target(r);
}

static ddsc_status undo(replacement *r, ddsc_status status, const bool *moved)
{
    for (int64_t k = last_number(r->name); k >= 0 && !r->aside[0]; k--)
        if (moved[k])
            remove_file(r->to, r->name(k));
    if (r->aside[0] && !restore_old(r->to, r->aside, r->name))
        ctx_warn(r->ctx, "%s: the old files are in %s and could not be moved back: %s", r->to,
                 r->aside, strerror(errno));
    return status;
}

static ddsc_status replace_locked(replacement *r, bool overwrite)
{
    ddsc_status status = DDSC_OK;
    bool *moved = NULL;
    CHECK(MEM_ZERO(r->ctx, moved, last_number(r->name) + 1));
    if (overwrite)
        status = set_aside(r);
    if (status >= 0)
        status = move_new_files(r, overwrite, moved);
    if (status < 0)
        status = undo(r, status, moved);
    else if (r->aside[0])
        discard(r->aside, r->name);
    mem_free(r->ctx, moved);
    return status;
}

ddsc_status folder_replace(ddsc_context *ctx, const char *from, const char *to, folder_name_fn name,
                           bool overwrite, bool locked)
{
    replacement r = {.ctx = ctx, .from = from, .to = to, .name = name};
    recover(to, name, locked);
    return replace_locked(&r, overwrite);
}
