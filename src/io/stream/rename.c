/* Renames finished files, and determines their permissions. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io/stream/internal.h"

int files_rename_new(const char *from, const char *to)
{
    struct stat info;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL &&
        errno != ENOSYS) /* NFS and some other file systems do not support this flag */
        return -1;
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return -1;
    if (lstat(to, &info) == 0) { /* without hard links, the check and the rename are not atomic */
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

bool files_is_refusal(int error)
{
    return error == EINVAL || error == ENOSYS || error == EXDEV || error == EBUSY ||
           error == EPERM || error == EACCES || error == ENOTEMPTY || error == EEXIST ||
           error == ENOENT;
}

bool files_has_acl(const char *path)
{
    return getxattr(path, "system.posix_acl_access", NULL, 0) > 0 ||
           getxattr(path, "system.posix_acl_default", NULL, 0) > 0;
}

/* Returns the mode of the old file. If the group changes or the old file has an access control
 * list, the group and other users get only the permissions that both of these classes had. */
mode_t files_mode(const char *old, const struct stat *info, gid_t group)
{
    mode_t mode = info->st_mode & 07777, both = mode & (mode >> 3) & 07;
    if (info->st_gid == group && !files_has_acl(old))
        return mode;
    return (mode & ~(mode_t)077) | both << 3 | both;
}

bool files_is_mount_point(const char *path)
{
    struct statx info;
    return statx(AT_FDCWD, path, 0, 0, &info) == 0 &&
           (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}
