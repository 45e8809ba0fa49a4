/* Helpers for the tests of readers and writers: temporary folders, small files, generated input
 * files. */
#ifndef DDSC_TEST_IO_SUPPORT_H
#define DDSC_TEST_IO_SUPPORT_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/format/format.h"
#include "support.h"

enum { TEST_PATH = 4096 };

typedef struct test_folder {
    char path[64];
    char file[4][TEST_PATH]; /* the last four requested names */
    int next;
} test_folder;

static inline void folder_make(test_folder *f)
{
    strcpy(f->path, "/tmp/ddsc-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    f->next = 0;
}

static inline const char *folder_file(test_folder *f, const char *name)
{
    f->next = (f->next + 1) % 4;
    char *out = f->file[f->next];
    size_t n = strlen(f->path);
    assert_true(n + strlen(name) + 2 < TEST_PATH);
    memcpy(out, f->path, n);
    out[n] = '/';
    strcpy(out + n + 1, name);
    return out;
}

/* Returns the number of entries of the folder. Entries whose names begin with a dot are counted in
 * *n_hidden. */
static inline int folder_count(const test_folder *f, int *n_hidden)
{
    int n = 0;
    DIR *dir = opendir(f->path);
    assert_non_null(dir);
    *n_hidden = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            n++;
            *n_hidden += e->d_name[0] == '.';
        }
    closedir(dir);
    return n;
}

static inline void folder_remove(test_folder *f)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->path);
    assert_int_equal(system(command), 0);
}

static inline const char *folder_put(test_folder *f, const char *name, const void *bytes, size_t n)
{
    const char *path = folder_file(f, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    return path;
}

static inline const char *folder_text(test_folder *f, const char *name, const char *text)
{
    return folder_put(f, name, text, strlen(text));
}

/* Returns the whole file in malloc'd memory, followed by a NUL. */
static inline char *file_bytes(const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        fail_msg("cannot open %s", path);
    size_t capacity = 1 << 16;
    char *bytes = malloc(capacity);
    *n = 0;
    for (size_t got = 1; got > 0; *n += got) {
        if (*n + (1 << 15) > capacity)
            bytes = realloc(bytes, capacity *= 2);
        got = fread(bytes + *n, 1, 1 << 15, in);
    }
    fclose(in);
    bytes[*n] = '\0';
    return bytes;
}

/* Runs tests/support/io_files.py with this output folder. Returns false if Python or numpy is
 * missing. */
static inline bool folder_generate(test_folder *f)
{
    char command[TEST_PATH];
    snprintf(command, sizeof command, "/usr/bin/python3 '%s/tests/support/io_files.py' '%s'",
             DDSC_SOURCE_DIR, f->path);
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
        return false;
    assert_int_equal(system(command), 0);
    return true;
}

static inline void assert_ok(ddsc_context *ctx, ddsc_status status, const char *what)
{
    if (status != DDSC_OK)
        fail_msg("%s: %s: %s", what, ddsc_status_name(status), ddsc_context_get_message(ctx));
}

/* Asserts that the message contains every part of `fragments`, which are joined by "|". */
static inline void assert_message(ddsc_context *ctx, ddsc_status status, ddsc_status wanted,
                                  const char *what, const char *fragments)
{
    if (status != wanted)
        fail_msg("%s: %s, not %s (%s)", what, ddsc_status_name(status), ddsc_status_name(wanted),
                 ddsc_context_get_message(ctx));
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", fragments);
    for (char *at = strtok(copy, "|"); at; at = strtok(NULL, "|"))
        if (!strstr(ddsc_context_get_message(ctx), at))
            fail_msg("%s: \"%s\" is not in \"%s\"", what, at, ddsc_context_get_message(ctx));
}

#endif
