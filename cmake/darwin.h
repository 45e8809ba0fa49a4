/* Included before every file on macOS. Maps names that only Linux has to their macOS
 * equivalents. */
#ifndef DDSC_DARWIN_H
#define DDSC_DARWIN_H

#define _DARWIN_C_SOURCE
#define _REENTRANT /* lgamma_r */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xlocale.h>

#define st_mtim st_mtimespec
#define renameat2 renameatx_np
#define RENAME_NOREPLACE RENAME_EXCL
#define RENAME_EXCHANGE RENAME_SWAP
#define secure_getenv getenv

static inline void *memrchr(const void *from, int c, size_t n)
{
    const unsigned char *p = from;
    while (n-- > 0)
        if (p[n] == (unsigned char)c)
            return (void *)(p + n);
    return NULL;
}

#endif
