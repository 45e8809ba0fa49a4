/* Names temporary files and folders ".ddsc-HOST.ID-PID-NUMBER.tmp". The name shows whether the
 * process that created a file still exists. A process id can be checked only under the same running
 * kernel and pid namespace (container), of which ID is a hash. Files of another machine, container
 * or boot are therefore never treated as leftovers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream/internal.h"

enum { HOST_LENGTH = 32, PLACE_TEXT = HOST_LENGTH + 10 };

/* Computes the ID. Returns false if the kernel or the namespace cannot be identified. */
static bool place_id(uint32_t *id)
{
    char boot[64], space[64];
    ssize_t n_boot = -1, n_space = readlink("/proc/self/ns/pid", space, sizeof space);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n_boot = read(fd, boot, sizeof boot);
        close(fd);
    }
    *id = 0;
    if (n_boot <= 0 || n_space <= 0)
        return false;
    *id = (uint32_t)hash_bytes(boot, (size_t)n_boot, hash_bytes(space, (size_t)n_space, 0));
    return true;
}

/* Writes "HOST.ID". In the host name, characters other than letters and digits become periods, so
 * that '-' marks its end. Returns false if the ID is unknown. */
static bool owner_place(char out[PLACE_TEXT])
{
    uint32_t id;
    char host[HOST_LENGTH + 1] = "";
    if (gethostname(host, HOST_LENGTH) != 0 || !*host)
        strcpy(host, "host");
    for (char *c = host; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z')))
            *c = '.';
    bool known = place_id(&id);
    snprintf(out, PLACE_TEXT, "%s.%08x", host, (unsigned)id);
    return known;
}

void owner_name(char out[OWNER_TEXT])
{
    char place[PLACE_TEXT];
    owner_place(place);
    snprintf(out, OWNER_TEXT, "%s-%ld", place, (long)getpid());
}

bool owner_is_gone(const char *text)
{
    char place[PLACE_TEXT];
    long pid = 0;
    bool known = owner_place(place);
    size_t n = strlen(place);
    return known && strncmp(text, place, n) == 0 && sscanf(text + n, "-%ld-", &pid) == 1 &&
           pid > 0 && pid <= INT32_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

bool owner_left(const char *name)
{
    size_t n = strlen(name);
    return strncmp(name, OWNER_PREFIX, strlen(OWNER_PREFIX)) == 0 && n > 4 &&
           strcmp(name + n - 4, ".tmp") == 0 && owner_is_gone(name + strlen(OWNER_PREFIX));
}

bool owner_is_own_folder(int at, const char *name)
{
    struct stat info;
    return fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) &&
           info.st_uid == geteuid();
}

DIR *owner_open_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    DIR *dir = NULL;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid())
        dir = fdopendir(fd);
    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

void owner_clean(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        if (owner_left(e->d_name))
            unlinkat(dirfd(dir), e->d_name, 0); /* folders are removed by folder_clean */
    if (dir)
        closedir(dir);
}
