/* For LD_PRELOAD: makes the k-th call that changes the disk fail, or ends the process at it.
 * DDSC_FAULT_AT=k (0: none), DDSC_FAULT=ENOSPC | EIO | KILL. DDSC_FAULT_LOG=FILE receives a line for
 * each counted call. Calls that fail: write, sync, open for writing, create a folder, rename. Calls
 * that kill: the same, link and remove. DDSC_FAULT=GROW | SHRINK | REWRITE: before the k-th read at an
 * offset, DDSC_FAULT_FILE grows by a byte, loses its second half, or is written again with a new
 * modification time. DDSC_FAULT_MOUNT=DIR: renames and links between DIR and other folders fail with
 * EXDEV, and renames of DIR itself with EBUSY, as for a mount point. DDSC_FAULT_PLAIN=1: renameat2
 * supports no flags (NFS); 2: in addition, links are not supported. DDSC_FAULT=STOP: the process stops
 * before call k until it receives SIGCONT. DDSC_FAULT_LOCKS=FILE receives a line "busy PID" if another
 * process holds a lock, and "locked" or "unlocked" if two folders are exchanged, depending on whether
 * the target is locked. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void write_to(const char *log, const char *what, const char *path)
{
    char line[5000];
    if (!log)
        return;
    int n = snprintf(line, sizeof line, "%s %s\n", what, path);
    long fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT, 0666);
    syscall(SYS_write, fd, line, (size_t)n);
    syscall(SYS_close, fd);
}

static void write_log(const char *what, const char *path)
{
    write_to(getenv("DDSC_FAULT_LOG"), what, path);
}

/* true: the call is to fail with errno. */
static bool strikes(const char *what, const char *path, bool removes)
{
    static atomic_int count;
    const char *at = getenv("DDSC_FAULT_AT"), *fault = getenv("DDSC_FAULT");
    bool stops = fault && strcmp(fault, "STOP") == 0;
    bool kills = stops || (fault && strcmp(fault, "KILL") == 0);
    bool disturbs = getenv("DDSC_FAULT_FILE") != NULL;
    if (!fault || disturbs || (removes && !kills))
        return false;
    write_log(what, path);
    if (!at || atomic_fetch_add(&count, 1) + 1 != atoi(at))
        return false;
    if (kills)
        kill(getpid(), stops ? SIGSTOP : SIGKILL);
    if (stops)
        return false;
    errno = strcmp(fault, "EIO") == 0 ? EIO : ENOSPC;
    return true;
}

/* Simulates another program that changes the file just before it is read. */
static void disturb(void)
{
    static atomic_int count;
    const char *at = getenv("DDSC_FAULT_AT"), *fault = getenv("DDSC_FAULT");
    const char *path = getenv("DDSC_FAULT_FILE");
    struct stat info;
    if (!fault || !path || stat(path, &info) != 0)
        return;
    write_log("pread", path);
    if (!at || atomic_fetch_add(&count, 1) + 1 != atoi(at))
        return;
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY, 0);
    if (strcmp(fault, "GROW") == 0)
        syscall(SYS_pwrite64, fd, "7", 1, info.st_size);
    else if (strcmp(fault, "SHRINK") == 0)
        syscall(SYS_ftruncate, fd, info.st_size / 2);
    struct timespec later[2] = {info.st_atim, info.st_mtim}; /* file system clocks are coarse */
    later[1].tv_sec++;
    futimens((int)fd, later);
    syscall(SYS_close, fd);
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

static bool for_writing(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (for_writing(flags) && strikes("open", path, false))
        return -1;
    return NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (for_writing(flags) && strikes("open", path, false))
        return -1;
    return NEXT(open64)(path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (fd != STDERR_FILENO && strikes("write", "", false))
        return -1;
    return NEXT(write)(fd, bytes, n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    disturb();
    return NEXT(pread)(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    disturb();
    return NEXT(pread64)(fd, bytes, n, at);
}

int fsync(int fd)
{
    return strikes("fsync", "", false) ? -1 : NEXT(fsync)(fd);
}

int mkdir(const char *path, mode_t mode)
{
    struct stat info; /* creating an existing folder fails anyway, as intended */
    if (stat(path, &info) != 0 && strikes("mkdir", path, false))
        return -1;
    return NEXT(mkdir)(path, mode);
}

/* Returns 2 if the path is the mount point itself, 1 if it is inside, and 0 if it is outside. */
static int mounted(const char *path, const char *mount)
{
    char folder[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                 slash ? path : ".") >= (int)sizeof folder ||
        !realpath(folder, whole))
        return 0;
    size_t n = strlen(mount);
    if (strncmp(whole, mount, n) == 0 && (whole[n] == '/' || whole[n] == '\0'))
        return 1;
    return realpath(path, whole) && strcmp(whole, mount) == 0 ? 2 : 0;
}

static bool is_refused(const char *from, const char *to)
{
    const char *mount = getenv("DDSC_FAULT_MOUNT");
    int source = mount ? mounted(from, mount) : 0, target = mount ? mounted(to, mount) : 0;
    if (source == target && source != 2)
        return false;
    errno = source == 2 || target == 2 ? EBUSY : EXDEV;
    return true;
}

static int plainness(void)
{
    const char *plain = getenv("DDSC_FAULT_PLAIN");
    return plain ? atoi(plain) : 0;
}

int rename(const char *from, const char *to)
{
    return is_refused(from, to) || strikes("rename", to, false) ? -1 : NEXT(rename)(from, to);
}

int flock(int fd, int mode)
{
    int code = NEXT(flock)(fd, mode), kept = errno;
    char own[24];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    if (code != 0 && kept == EWOULDBLOCK)
        write_to(getenv("DDSC_FAULT_LOCKS"), "busy", own);
    errno = kept;
    return code;
}

static void log_exchange(const char *folder)
{
    const char *log = getenv("DDSC_FAULT_LOCKS");
    long fd = log ? syscall(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0) : -1;
    if (fd < 0)
        return;
    bool locked = NEXT(flock)((int)fd, LOCK_EX | LOCK_NB) != 0;
    syscall(SYS_close, fd);
    write_to(log, locked ? "locked" : "unlocked", folder);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    if (flags && plainness() > 0) {
        errno = EINVAL;
        return -1;
    }
    if (flags & RENAME_EXCHANGE)
        log_exchange(to);
    if (is_refused(from, to) || strikes("renameat2", to, false))
        return -1;
    return NEXT(renameat2)(from_dir, from, to_dir, to, flags);
}

int link(const char *from, const char *to)
{
    if (plainness() > 1) {
        errno = EPERM;
        return -1;
    }
    return is_refused(from, to) || strikes("link", to, true) ? -1 : NEXT(link)(from, to);
}

int unlink(const char *path)
{
    return strikes("unlink", path, true) ? -1 : NEXT(unlink)(path);
}

int unlinkat(int dir, const char *path, int flags)
{
    return strikes("unlinkat", path, true) ? -1 : NEXT(unlinkat)(dir, path, flags);
}

int rmdir(const char *path)
{
    return strikes("rmdir", path, true) ? -1 : NEXT(rmdir)(path);
}
