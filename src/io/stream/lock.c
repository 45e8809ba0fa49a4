/* Locks the folder of a result, so that only one process at a time replaces its files. The lock
 * applies to the folder, not to its name, and is released when the process exits. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/stream/internal.h"

enum { LOCK_WAIT_NS = 50000000, QUIET_WAITS = 100 };

/* Returns true if the path still refers to the locked folder. Another process may have exchanged
 * the folder before releasing the lock. */
static bool is_current(int fd, const char *folder)
{
    struct stat locked, named;
    return fstat(fd, &locked) == 0 && stat(folder, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

bool folder_try_lock(const char *folder, int *lock)
{
    int code, fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *lock = -1;
    if (fd < 0)
        return true;
    do
        code = flock(fd, LOCK_EX | LOCK_NB);
    while (code != 0 && errno == EINTR);
    bool busy = code == 0 ? !is_current(fd, folder) : errno == EWOULDBLOCK;
    if (code == 0 && !busy)
        *lock = fd;
    else
        close(fd);
    return !busy;
}

ddsc_status folder_lock(ddsc_context *ctx, const char *folder, int *lock)
{
    for (int64_t k = 0; !folder_try_lock(folder, lock); k++) {
        CHECK(progress_poll(ctx));
        if (k == QUIET_WAITS)
            ctx_warn(ctx, "%s: waiting for another process that has locked this folder", folder);
        nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
    }
    return DDSC_OK;
}

void folder_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
