/* Removes stages: the folders in which the files of a result are written. After an exchange, a
 * stage contains the old files of the target, including files of the user and of other
 * processes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream/internal.h"

bool folder_is_own(folder_name_fn name, const char *entry)
{
    for (int64_t k = 0; name(k); k++)
        if (strcmp(name(k), entry) == 0)
            return true;
    return strcmp(entry, STAGE_PROBE) == 0 || owner_left(entry);
}

bool folder_is_dots(const char *entry)
{
    return strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0;
}

/* Returns true if a file of the stage also exists elsewhere: under the same name in `home` or, if
 * `home` is NULL, under any other hard link. */
static bool is_elsewhere(const struct stat *file, const char *entry, const char *home)
{
    struct stat there;
    char path[PATH_MAX];
    if (S_ISDIR(file->st_mode) || file->st_nlink < 2 || !home)
        return !S_ISDIR(file->st_mode) && file->st_nlink > 1;
    folder_path(path, home, entry);
    return lstat(path, &there) == 0 && there.st_dev == file->st_dev && there.st_ino == file->st_ino;
}

bool folder_remove_stage(const char *stage, folder_name_fn name, const char *home)
{
    DIR *dir = owner_open_folder(stage);
    struct stat info;
    char from[PATH_MAX], to[PATH_MAX];
    if (dir)
        fchmod(dirfd(dir), 0700); /* the old folder may have been read-only */
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (folder_is_dots(e->d_name) ||
            fstatat(dirfd(dir), e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (folder_is_own(name, e->d_name) || is_elsewhere(&info, e->d_name, home)) {
            unlinkat(dirfd(dir), e->d_name, 0);
        } else if (home) {
            folder_path(from, stage, e->d_name);
            folder_path(to, home, e->d_name);
            renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
        }
    }
    if (dir)
        closedir(dir);
    return !dir || rmdir(stage) == 0 || errno != ENOTEMPTY;
}

void folder_clean(const char *place, folder_name_fn name)
{
    char path[PATH_MAX];
    DIR *dir = opendir(place);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        if (owner_left(e->d_name) && strlen(place) + strlen(e->d_name) + 2 < sizeof path - 64) {
            folder_path(path, place, e->d_name);
            folder_remove_stage(path, name, NULL);
        }
    if (dir)
        closedir(dir);
    owner_clean(place);
}
