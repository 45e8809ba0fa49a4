/* Names temporary files and folders ".ddsc-HOST-PID-NUMBER.tmp". The name distinguishes files left
 * by a dead process of this machine from files still in use, here or by another machine on a shared
 * disk. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream/internal.h"

enum { HOST_LENGTH = 32 };

/* Writes the host name, reduced to letters, digits and periods, so that '-' marks its end. */
static void host_name(char out[HOST_LENGTH + 1])
{
    memset(out, 0, HOST_LENGTH + 1);
    if (gethostname(out, HOST_LENGTH) != 0 || !*out)
        strcpy(out, "host");
    for (char *c = out; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z')))
            *c = '.';
}

void owner_name(char out[OWNER_TEXT])
{
    char host[HOST_LENGTH + 1];
    host_name(host);
    snprintf(out, OWNER_TEXT, "%s-%ld", host, (long)getpid());
}

bool owner_is_gone(const char *text)
{
    char host[HOST_LENGTH + 1];
    long pid = 0;
    host_name(host);
    size_t n = strlen(host);
    return strncmp(text, host, n) == 0 && sscanf(text + n, "-%ld-", &pid) == 1 && pid > 0 &&
           kill((pid_t)pid, 0) != 0 && errno == ESRCH;
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
            unlinkat(dirfd(dir), e->d_name, 0); /* a folder stays here; folder_open removes it */
    if (dir)
        closedir(dir);
}
