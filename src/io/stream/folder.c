/* Replaces a folder of files as a whole. The new files are written into a stage, which is a folder
 * with the same parent as the target. Other files of the target are linked into the stage. A single
 * system call (renameat2 with RENAME_EXCHANGE) then exchanges the stage and the target. The
 * exchange is impossible if the target contains folders, is the working directory or has an access
 * control list, or if the file system does not support it. In these cases, the finished files are
 * moved one by one (replace.c). If files cannot be renamed from the parent into the target, for
 * example because the target is a mount point, the stage is created inside the target. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream/internal.h"

enum { STAGE_TRIES = 1000 };

struct io_folder {
    ddsc_context *ctx;
    char path[PATH_MAX - 64];  /* the target, with symbolic links resolved */
    char stage[PATH_MAX - 64]; /* folder into which files are written; "" if there is no stage */
    folder_name_fn name;
    bool overwrite, there;
    bool beside;          /* true if the stage and the target have the same parent */
    int lock, stage_lock; /* locks of the target and of the stage during the exchange, or -1 */
    mode_t mode;          /* for a new folder */
    int64_t n_synced;     /* number of files synced so far, in the order of names */
};

static ddsc_status folder_fail(const io_folder *f, const char *name, const char *what)
{
    return ctx_fail(f->ctx, DDSC_ERROR_IO, "%s%s%s: cannot %s: %s", f->path, name ? "/" : "",
                    name ? name : "", what, strerror(errno));
}

/* ---- opening ---- */

/* Writes the parent folder of the target to `out`. The parent of "/" is "/". */
static void parent_of(const io_folder *f, char out[PATH_MAX])
{
    const char *slash = strrchr(f->path, '/');
    snprintf(out, PATH_MAX, "%.*s", slash ? BASE_MAX((int)(slash - f->path), 1) : 1,
             slash ? f->path : ".");
}

static ddsc_status take_path(io_folder *f, const char *path)
{
    char whole[PATH_MAX];
    struct stat info, link;
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
    if (f->there ? S_ISDIR(info.st_mode) : lstat(f->path, &link) != 0)
        return DDSC_OK;
    errno =
        f->there ? ENOTDIR : ENOENT; /* ENOENT: the path is a symbolic link to a missing target */
    return folder_fail(f, NULL, "write into it");
}

/* Checks that the target contains no files with the names of new files, unless overwriting is
 * allowed. A folder with the name of a new file is always an error. */
static ddsc_status check_names(const io_folder *f)
{
    char path[PATH_MAX];
    struct stat info;
    for (int64_t k = 0; f->there && f->name(k); k++) {
        folder_path(path, f->path, f->name(k));
        if (lstat(path, &info) != 0)
            continue;
        if (!f->overwrite)
            return ctx_fail(f->ctx, DDSC_ERROR_EXISTS,
                            "%s: already exists; overwriting was not requested", path);
        if (S_ISDIR(info.st_mode)) {
            errno = EISDIR;
            return folder_fail(f, f->name(k), "write");
        }
    }
    return DDSC_OK;
}

/* Saves the mode of the stage, and restricts access to the owner until the files are in place. */
static bool close_stage(io_folder *f)
{
    struct stat info;
    if (stat(f->stage, &info) == 0) {
        f->mode = info.st_mode & 07777;
        if (chmod(f->stage, info.st_mode & 07700) == 0 || errno == EPERM || errno == ENOTSUP)
            return true;
    }
    int kept = errno;
    rmdir(f->stage);
    errno = kept;
    return false;
}

static bool make_stage(io_folder *f, const char *place)
{
    char owner[OWNER_TEXT];
    owner_name(owner);
    folder_clean(place, f->name);
    for (int k = 0; k < STAGE_TRIES; k++) {
        bool root = strcmp(place, "/") == 0;
        if (snprintf(f->stage, sizeof f->stage, "%s/" OWNER_PREFIX "%s-%d.tmp", root ? "" : place,
                     owner, k) >= (int)sizeof f->stage)
            errno = ENAMETOOLONG;
        else if (mkdir(f->stage, 0777) == 0)
            return close_stage(f);
        if (errno != EEXIST)
            break;
    }
    f->stage[0] = '\0';
    return false;
}

/* Returns true if an empty file can be renamed from the stage into the target. The file is removed
 * afterwards. */
static bool try_rename(const io_folder *f)
{
    char from[PATH_MAX], to[PATH_MAX];
    char entry[NAME_MAX + 1];
    /* a name that writers do not use */
    snprintf(entry, sizeof entry, "%s.try.tmp", strrchr(f->stage, '/') + 1);
    folder_path(from, f->stage, STAGE_PROBE);
    folder_path(to, f->path, entry);
    int fd = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    bool good = rename(from, to) == 0;
    int kept = errno;
    unlink(good ? to : from);
    errno = kept;
    return good;
}

/* Returns true if files can be renamed from the stage into the target. The rename fails with EXDEV
 * if the target is a mount point, even on the same file system (bind mount), or if the file system
 * separates folders (subvolumes, project quotas). */
static bool can_move(const io_folder *f)
{
    struct stat stage, target;
    if (stat(f->stage, &stage) == 0 && stat(f->path, &target) == 0 &&
        stage.st_dev != target.st_dev) {
        errno = EXDEV;
        return false;
    }
    return try_rename(f);
}

static bool is_denied(int error)
{
    return error == EACCES || error == EPERM || error == EROFS;
}

static ddsc_status open_stage(io_folder *f)
{
    char parent[PATH_MAX];
    parent_of(f, parent);
    f->beside = make_stage(f, parent);
    bool inside = !f->beside && (is_denied(errno) || errno == ENAMETOOLONG);
    if (f->beside && f->there && !can_move(f)) {
        inside = errno == EXDEV || errno == EBUSY;
        f->beside = is_denied(errno); /* an exchange does not need write permission in the target */
        int kept = errno;
        if (!f->beside)
            rmdir(f->stage);
        errno = kept;
    }
    if (f->beside || (f->there && inside && make_stage(f, f->path)))
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
    f->lock = f->stage_lock = -1;
    f->name = name;
    f->overwrite = (flags & DDSC_WRITE_OVERWRITE) != 0;
    TRY(take_path(f, path));
    if (f->there) {
        folder_recover(f->path, name);
        folder_clean(f->path, name);
    }
    TRY(check_names(f));
    TRY(open_stage(f));
    *out = f;
    f = NULL;
done:
    mem_free(ctx, f);
    return status;
}

ddsc_status folder_check(ddsc_context *ctx, const char *path, folder_name_fn name, unsigned flags)
{
    io_folder *f = NULL;
    CHECK(folder_open(ctx, &f, path, name, flags));
    folder_remove_stage(f->stage, name, NULL);
    mem_free(ctx, f);
    return DDSC_OK;
}

const char *folder_stage(const io_folder *f)
{
    return f->stage;
}

/* ---- putting files in place ---- */

/* Sets the mode of the stage to that of the target. Returns false if the two cannot be exchanged,
 * because the target is the working directory or has an access control list, or because their
 * devices, owners or groups differ. */
static bool take_mode(const io_folder *f)
{
    struct stat before, after, here;
    if (stat(f->path, &before) != 0 || stat(f->stage, &after) != 0 || stat(".", &here) != 0)
        return false;
    bool working = before.st_dev == here.st_dev && before.st_ino == here.st_ino;
    return !working && !files_has_acl(f->path) && before.st_dev == after.st_dev &&
           before.st_uid == after.st_uid && before.st_gid == after.st_gid &&
           chmod(f->stage, before.st_mode & 07777) == 0;
}

/* Links other files of the target, such as notes or temporary files of other processes, into the
 * stage. Returns false if the target contains a folder, which cannot be linked. */
static bool link_others(const io_folder *f)
{
    DIR *dir = opendir(f->path);
    char from[PATH_MAX], to[PATH_MAX];
    bool good = dir != NULL;
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && good; e = readdir(dir)) {
        folder_path(from, f->path, e->d_name);
        folder_path(to, f->stage, e->d_name);
        if (folder_is_own(f->name, e->d_name))
            good = !files_is_folder(from);
        else if (!folder_is_dots(e->d_name))
            good = link(from, to) == 0 || errno == ENOENT;
    }
    if (dir)
        closedir(dir);
    return good;
}

static ddsc_status sync_place(const io_folder *f, const char *place)
{
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd < 0 || fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    int kept = errno;
    if (fd >= 0)
        close(fd);
    errno = kept;
    return good ? DDSC_OK : folder_fail(f, NULL, "sync the folder");
}

static ddsc_status sync_parent(const io_folder *f)
{
    char parent[PATH_MAX];
    parent_of(f, parent);
    return sync_place(f, parent);
}

/* ---- permissions ---- */

/* Removes every permission from the new file that the old file did not have. */
static ddsc_status limit_file(const io_folder *f, const char *name, const char *old_path,
                              const struct stat *old)
{
    struct stat new;
    char path[PATH_MAX];
    folder_path(path, f->stage, name);
    if (stat(path, &new) != 0)
        return DDSC_OK;
    if (new.st_gid != old->st_gid && chown(path, (uid_t)-1, old->st_gid) == 0)
        new.st_gid = old->st_gid;
    mode_t mode = new.st_mode & 07777, most = files_mode(old_path, old, new.st_gid);
    if ((mode & ~most) == 0 || chmod(path, mode & most) == 0)
        return DDSC_OK;
    return folder_fail(f, name, "set the permissions of the new file");
}

/* Limits the permissions of all new files. A new file that replaces no old file gets the
 * permissions that all old files had in common. */
static ddsc_status limit_files(const io_folder *f)
{
    struct stat old, shared = {.st_mode = 0};
    char path[PATH_MAX], last[PATH_MAX] = "";
    for (int64_t k = 0; f->there && f->name(k); k++) {
        folder_path(path, f->path, f->name(k));
        if (stat(path, &old) != 0)
            continue;
        if (last[0])
            old.st_mode &= shared.st_mode;
        shared = old;
        strcpy(last, path);
    }
    for (int64_t k = 0; last[0] && f->name(k); k++) {
        folder_path(path, f->path, f->name(k));
        bool known = stat(path, &old) == 0;
        CHECK(limit_file(f, f->name(k), known ? path : last, known ? &old : &shared));
    }
    return DDSC_OK;
}

/* ---- finishing ---- */

/* Renames the stage to a target that does not exist. If syncing fails, the rename is undone. */
static ddsc_status put_new(io_folder *f)
{
    chmod(f->stage, f->mode);
    if (rename(f->stage, f->path) == 0) {
        ddsc_status status = sync_parent(f);
        if (status < 0)
            rename(f->path, f->stage);
        return status;
    }
    if (!files_is_refusal(errno))
        return folder_fail(f, NULL, "put the folder in place");
    f->there = true; /* another process created the target, or folders cannot be renamed here */
    if (mkdir(f->path, 0777) != 0)
        return errno == EEXIST ? DDSC_OK : folder_fail(f, NULL, "create the folder");
    ddsc_status status = sync_parent(f);
    if (status < 0)
        rmdir(f->path);
    return status;
}

/* Exchanges the target and the stage, or sets *done to false if that is impossible. If syncing
 * fails, the exchange is reversed, so that the old files remain. */
static ddsc_status exchange(io_folder *f, bool *done)
{
    *done = false;
    if (!f->overwrite || !f->beside || !link_others(f) || !take_mode(f))
        return DDSC_OK;
    CHECK(sync_place(f, f->stage)); /* makes the new links durable */
    folder_try_lock(f->stage, &f->stage_lock);
    if (renameat2(AT_FDCWD, f->stage, AT_FDCWD, f->path, RENAME_EXCHANGE) != 0)
        return files_is_refusal(errno) ? DDSC_OK
                                       : folder_fail(f, NULL, "put the new folder in place");
    ddsc_status status = sync_parent(f);
    if (status < 0 && renameat2(AT_FDCWD, f->stage, AT_FDCWD, f->path, RENAME_EXCHANGE) != 0) {
        ctx_warn(f->ctx, "%s: contains the new files; the old files are in %s", f->path, f->stage);
        f->stage[0] = '\0';
    }
    *done = true;
    return status;
}

/* Replaces the target with the stage, or its files with those of the stage. folder_finish releases
 * the locks after it has removed the stage. */
static ddsc_status put_in_place(io_folder *f)
{
    bool done;
    struct stat info;
    if (f->there && lstat(f->path, &info) != 0 && errno == ENOENT)
        f->there = false; /* the folder was moved away or deleted during the run */
    if (!f->there) {
        CHECK(put_new(f));
        if (!f->there)
            return DDSC_OK;
    }
    CHECK(folder_lock(f->ctx, f->path, &f->lock));
    CHECK(limit_files(f));
    CHECK(exchange(f, &done));
    return done ? DDSC_OK
                : folder_replace(f->ctx, f->stage, f->path, f->name, f->overwrite, f->lock >= 0);
}

static ddsc_status sync_file(const io_folder *f, const char *name)
{
    char path[PATH_MAX];
    folder_path(path, f->stage, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd < 0 ? errno == ENOENT || errno == EACCES : fsync(fd) == 0;
    int kept = errno;
    if (fd >= 0)
        close(fd);
    errno = kept;
    return good ? DDSC_OK : folder_fail(f, name, "sync");
}

/* Syncs the files [begin, end), counted from the first unsynced name. The index after the last name
 * stands for the folder itself. */
static ddsc_status sync_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    const io_folder *f = arg;
    (void)worker;
    for (int64_t k = f->n_synced + begin; k < f->n_synced + end; k++)
        CHECK(f->name(k) ? sync_file(f, f->name(k)) : sync_place(f, f->stage));
    return DDSC_OK;
}

/* Syncs files in parallel, because a journaling file system then commits its journal once for all
 * waiting calls. */
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
    if (status >= 0)
        status = folder_sync(f, INT64_MAX);
    if (status >= 0)
        status = put_in_place(f);
    else
        ctx_reword(ctx, f->stage,
                   f->path); /* the message must name the path that the caller passed */
    if (f->stage[0] && !folder_remove_stage(f->stage, f->name, f->path))
        ctx_warn(ctx, "%s: files that another program wrote during the run are in %s", f->path,
                 f->stage);
    folder_unlock(f->stage_lock);
    folder_unlock(f->lock);
    mem_free(ctx, f);
    return status;
}
