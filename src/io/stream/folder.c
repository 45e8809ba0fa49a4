/* A folder of files that is replaced as a whole. The files are written into a folder beside it, which
 * then changes places with the old one in a single step (renameat2, RENAME_EXCHANGE); files of other
 * names are linked into the new one before. Where that cannot be (the folder holds other folders or is
 * the working directory or a mount point, the file system does not know how) the finished files are
 * moved one by one: the last one, whose presence says that the rest is there, is removed first and
 * comes last. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream/stream.h"

enum { STAGE_TRIES = 1000 };

struct io_folder {
    ddsc_context *ctx;
    char path[PATH_MAX - 64];  /* the target, symbolic links resolved */
    char stage[PATH_MAX - 64]; /* where files are written; "" when there is none */
    folder_name_fn name;
    bool overwrite, there, beside;
    int64_t n_synced; /* of the names, in their order */
};

static ddsc_status folder_fail(const io_folder *f, const char *name, const char *what)
{
    return ctx_fail(f->ctx, DDSC_ERROR_IO, "%s%s%s: cannot %s: %s", f->path, name ? "/" : "",
                    name ? name : "", what, strerror(errno));
}

static void path_in(char out[PATH_MAX], const char *folder, const char *name)
{
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        out[0] = '\0'; /* no file has that name: the call that gets it fails */
}

static bool is_own(folder_name_fn name, const char *entry)
{
    for (int64_t k = 0; name(k); k++)
        if (strcmp(name(k), entry) == 0)
            return true;
    return strncmp(entry, OWNER_PREFIX, strlen(OWNER_PREFIX)) == 0;
}

/* ---- removing ---- */

/* Our own files, and links to files that are elsewhere too, go; what is left goes home, if there is
 * one, or stays, and the folder with it. */
static void remove_stage(const char *stage, folder_name_fn name, const char *home)
{
    DIR *dir = opendir(stage);
    struct stat info;
    char from[PATH_MAX], to[PATH_MAX];
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        bool known = fstatat(dirfd(dir), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0;
        bool shared = known && !S_ISDIR(info.st_mode) && info.st_nlink > 1;
        if (shared || is_own(name, e->d_name)) {
            unlinkat(dirfd(dir), e->d_name, 0);
        } else if (home) {
            path_in(from, stage, e->d_name);
            path_in(to, home, e->d_name);
            renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
        }
    }
    if (dir)
        closedir(dir);
    rmdir(stage);
}

/* Folders that dead processes left behind. */
static void clean(const char *place, folder_name_fn name)
{
    char path[PATH_MAX];
    DIR *dir = opendir(place);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        if (owner_left(e->d_name) && strlen(place) + strlen(e->d_name) + 2 < sizeof path - 64) {
            path_in(path, place, e->d_name);
            remove_stage(path, name, NULL);
        }
    if (dir)
        closedir(dir);
    owner_clean(place);
}

/* ---- opening ---- */

/* The folder that the target is in; "/" and what lies directly in it give "/". */
static void parent_of(const io_folder *f, char out[PATH_MAX])
{
    const char *slash = strrchr(f->path, '/');
    snprintf(out, PATH_MAX, "%.*s", slash ? BASE_MAX((int)(slash - f->path), 1) : 1,
             slash ? f->path : ".");
}

static ddsc_status take_path(io_folder *f, const char *path)
{
    char whole[PATH_MAX];
    struct stat info;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    f->there = stat(path, &info) == 0;
    if (n + 1 > sizeof f->path || n == 0 || (f->there && !realpath(path, whole)) ||
        (f->there && strlen(whole) + 1 > sizeof f->path)) {
        errno = n == 0 ? ENOENT : ENAMETOOLONG;
        return ctx_fail(f->ctx, DDSC_ERROR_IO, "%.240s: cannot write into the folder: %s", path,
                        strerror(errno));
    }
    snprintf(f->path, sizeof f->path, "%.*s", f->there ? (int)sizeof f->path : (int)n,
             f->there ? whole : path);
    if (!f->there || S_ISDIR(info.st_mode))
        return DDSC_OK;
    errno = ENOTDIR;
    return folder_fail(f, NULL, "write into it");
}

/* Files of our names: there only with leave to overwrite, and never folders. */
static ddsc_status check_names(const io_folder *f)
{
    char path[PATH_MAX];
    struct stat info;
    for (int64_t k = 0; f->there && f->name(k); k++) {
        path_in(path, f->path, f->name(k));
        if (lstat(path, &info) != 0)
            continue;
        if (!f->overwrite)
            return ctx_fail(f->ctx, DDSC_ERROR_EXISTS,
                            "%s: exists already; overwriting was not asked for", path);
        if (S_ISDIR(info.st_mode)) {
            errno = EISDIR;
            return folder_fail(f, f->name(k), "write");
        }
    }
    return DDSC_OK;
}

static bool make_stage(io_folder *f, const char *place)
{
    char owner[OWNER_TEXT];
    owner_name(owner);
    clean(place, f->name);
    for (int k = 0; k < STAGE_TRIES; k++) {
        bool root = strcmp(place, "/") == 0;
        if (snprintf(f->stage, sizeof f->stage, "%s/" OWNER_PREFIX "%s-%d.tmp", root ? "" : place,
                     owner, k) >= (int)sizeof f->stage)
            errno = ENAMETOOLONG;
        else if (mkdir(f->stage, 0777) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    f->stage[0] = '\0';
    return false;
}

static ddsc_status open_stage(io_folder *f)
{
    char parent[PATH_MAX];
    parent_of(f, parent);
    f->beside = make_stage(f, parent);
    bool refused = errno == EACCES || errno == EPERM || errno == EROFS || errno == ENAMETOOLONG;
    if (f->beside || (f->there && refused && make_stage(f, f->path)))
        return DDSC_OK;
    return folder_fail(f, NULL, "write into the folder");
}

ddsc_status folder_open(ddsc_context *ctx, io_folder **out, const char *path, folder_name_fn name,
                        unsigned flags)
{
    ddsc_status status = DDSC_OK;
    io_folder *f = NULL;
    TRY(ctx_check_flags(ctx, path, flags, DDSC_WRITE_OVERWRITE));
    TRY(MEM_ZERO(ctx, f, 1));
    f->ctx = ctx;
    f->name = name;
    f->overwrite = (flags & DDSC_WRITE_OVERWRITE) != 0;
    TRY(take_path(f, path));
    TRY(check_names(f));
    TRY(open_stage(f));
    *out = f;
    f = NULL;
done:
    mem_free(ctx, f);
    return status;
}

const char *folder_stage(const io_folder *f)
{
    return f->stage;
}

/* ---- putting in place ---- */

/* The new folder gets the mode of the old one; false when it would be another's. */
static bool take_mode(const io_folder *f)
{
    struct stat old, new, here;
    if (stat(f->path, &old) != 0 || stat(f->stage, &new) != 0 || stat(".", &here) != 0)
        return false;
    bool working = old.st_dev == here.st_dev && old.st_ino == here.st_ino;
    return !working && old.st_dev == new.st_dev &&old.st_uid == new.st_uid &&old.st_gid ==
                           new.st_gid &&chmod(f->stage, old.st_mode & 07777) == 0;
}

/* Files of other names, such as notes, are in the new folder before it takes the place of the old. */
static bool link_others(const io_folder *f)
{
    DIR *dir = opendir(f->path);
    char from[PATH_MAX], to[PATH_MAX];
    bool good = dir != NULL;
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && good; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            is_own(f->name, e->d_name))
            continue;
        path_in(from, f->path, e->d_name);
        path_in(to, f->stage, e->d_name);
        good = link(from, to) == 0 || errno == ENOENT; /* a folder cannot be linked */
    }
    if (dir)
        closedir(dir);
    return good;
}

/* A failure that another way may not meet. */
static bool is_refusal(int error)
{
    return error == EINVAL || error == ENOSYS || error == EXDEV || error == EBUSY ||
           error == EPERM || error == EACCES || error == ENOTEMPTY || error == EEXIST ||
           error == ENOENT;
}

static ddsc_status sync_place(const io_folder *f, const char *place)
{
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd < 0 || fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    int kept = errno;
    if (fd >= 0)
        close(fd);
    errno = kept;
    return good ? DDSC_OK : folder_fail(f, NULL, "sync its folder");
}

static ddsc_status move_one(const io_folder *f, const char *name)
{
    char from[PATH_MAX], to[PATH_MAX];
    path_in(from, f->stage, name);
    path_in(to, f->path, name);
    if (access(from, F_OK) != 0) /* of an earlier run: it belongs to other files */
        return !f->overwrite || unlink(to) == 0 || errno == ENOENT ? DDSC_OK
                                                                   : folder_fail(f, name, "remove");
    if (f->overwrite ? rename(from, to) == 0
                     : renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return DDSC_OK;
    if (!f->overwrite && (errno == EINVAL || errno == ENOSYS) && link(from, to) == 0)
        return DDSC_OK; /* the other name goes with the stage */
    return errno == EEXIST ? ctx_fail(f->ctx, DDSC_ERROR_EXISTS,
                                      "%s: exists already; overwriting was not asked for", to)
                           : folder_fail(f, name, "put in place");
}

/* One by one. Without the last one the others are nothing, so they do not stay after a failure. */
static ddsc_status move_files(const io_folder *f)
{
    ddsc_status status = DDSC_OK;
    char path[PATH_MAX];
    int64_t n = 0, moved = 0;
    while (f->name(n))
        n++;
    path_in(path, f->path, f->name(n - 1));
    if (f->overwrite && unlink(path) != 0 && errno != ENOENT)
        return folder_fail(f, f->name(n - 1), "remove");
    for (; moved < n && status >= 0; moved++)
        status = move_one(f, f->name(moved));
    for (int64_t k = 0; status < 0 && k < moved - 1; k++) {
        path_in(path, f->path, f->name(k));
        unlink(path);
    }
    return status < 0 ? status : sync_place(f, f->path);
}

static ddsc_status put_in_place(io_folder *f)
{
    if (!f->there) {
        if (rename(f->stage, f->path) == 0)
            return DDSC_OK;
        if (!is_refusal(errno))
            return folder_fail(f, NULL, "put the folder in place");
        if (mkdir(f->path, 0777) != 0 && errno != EEXIST)
            return folder_fail(f, NULL, "make the folder");
    } else if (f->overwrite && f->beside && take_mode(f) && link_others(f)) {
        if (renameat2(AT_FDCWD, f->stage, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0)
            return sync_place(f, f->path); /* for the links */
        if (!is_refusal(errno))
            return folder_fail(f, NULL, "put the new folder in place");
    }
    return move_files(f);
}

static ddsc_status sync_file(const io_folder *f, const char *name)
{
    char path[PATH_MAX];
    path_in(path, f->stage, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd < 0 ? errno == ENOENT || errno == EACCES : fsync(fd) == 0;
    int kept = errno;
    if (fd >= 0)
        close(fd);
    errno = kept;
    return good ? DDSC_OK : folder_fail(f, name, "sync");
}

/* Names from the first unsynced one on; after the last name the folder itself. */
static ddsc_status sync_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const io_folder *f = arg;
    (void)worker;
    for (int64_t k = f->n_synced + begin; k < f->n_synced + end; k++)
        CHECK(f->name(k) ? sync_file(f, f->name(k)) : sync_place(f, f->stage));
    return DDSC_OK;
}

/* Side by side: file systems with a journal write it once for all that wait for it. */
ddsc_status folder_sync(io_folder *f, int64_t n_names)
{
    int64_t n = 0;
    while (n < n_names && f->name(n))
        n++;
    CHECK(parallel_for(f->ctx, n + (n < n_names) - f->n_synced, 1, sync_piece, f));
    f->n_synced = n;
    return DDSC_OK;
}

ddsc_status folder_finish(io_folder *f, ddsc_status status)
{
    ddsc_context *ctx = f->ctx;
    char parent[PATH_MAX];
    parent_of(f, parent);
    if (status >= 0)
        status = folder_sync(f, INT64_MAX);
    if (status >= 0)
        status = put_in_place(f);
    else
        ctx_reword(ctx, f->stage, f->path); /* the place that the caller knows */
    if (status >= 0)
        status = sync_place(f, parent);
    remove_stage(f->stage, f->name, f->path);
    mem_free(ctx, f);
    return status;
}
