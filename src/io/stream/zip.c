/* Reads the parts of the zip format that npz archives need. The central directory is authoritative.
 * Offsets and lengths in it are checked against the size of the file, and sizes against the
 * expansion limits. */
#include "io/stream/stream.h"

#include <string.h>

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    CENTRAL_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT_MAX = 65535,
    ENTRIES_MAX = 4096,
    MEMBERS_MAX = 1 << 16
};

static uint64_t get(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int k = n - 1; k >= 0; k--)
        v = v << 8 | p[k];
    return v;
}

typedef struct directory {
    int64_t size, begin, end,
        n_entries; /* size of the file; position, length and number of entries of the central
                    * directory */
} directory;

static ddsc_status damaged(io_stream *s, const char *what)
{
    return stream_fail(s, "damaged zip archive: %s", what);
}

static ddsc_status set_directory(io_stream *s, directory *d, uint64_t n, uint64_t bytes,
                                 uint64_t begin, int64_t before)
{
    if (begin > (uint64_t)before || bytes > (uint64_t)before - begin)
        return damaged(s, "the directory is outside the file");
    if (n > bytes / CENTRAL_SIZE)
        return damaged(s, "the directory is too short for its entries");
    if (n > MEMBERS_MAX)
        return stream_fail(s, "contains %llu members, which is too many", (unsigned long long)n);
    d->begin = (int64_t)begin;
    d->end = (int64_t)(begin + bytes);
    d->n_entries = (int64_t)n;
    return DDSC_OK;
}

/* Reads the 64-bit end record, whose position is stored in the locator just before the 32-bit end
 * record. */
static ddsc_status read_end64(io_stream *s, directory *d, int64_t end_at)
{
    unsigned char p[END64_SIZE];
    if (end_at < LOCATOR_SIZE)
        return damaged(s, "the 64-bit end record is missing");
    CHECK(stream_read_at(s, end_at - LOCATOR_SIZE, p, LOCATOR_SIZE, "the zip64 locator"));
    uint64_t at = get(p + 8, 8);
    if (memcmp(p, "PK\6\7", 4) != 0 || at > (uint64_t)end_at)
        return damaged(s, "the 64-bit end record is missing");
    CHECK(stream_read_at(s, (int64_t)at, p, END64_SIZE, "the zip64 end record"));
    if (memcmp(p, "PK\6\6", 4) != 0)
        return damaged(s, "the 64-bit end record is missing");
    return set_directory(s, d, get(p + 32, 8), get(p + 40, 8), get(p + 48, 8), (int64_t)at);
}

static ddsc_status find_directory(ddsc_context *ctx, io_stream *s, directory *d)
{
    ddsc_status status = DDSC_OK;
    unsigned char *tail = NULL;
    int64_t n = BASE_MIN(d->size, (int64_t)(END_SIZE + COMMENT_MAX)), at;
    TRY(mem_get(ctx, &tail, n, 1));
    TRY(stream_read_at(s, d->size - n, tail, (size_t)n, "the zip end record"));
    for (at = n - END_SIZE; at >= 0; at--)
        if (memcmp(tail + at, "PK\5\6", 4) == 0 &&
            at + END_SIZE + (int64_t)get(tail + at + 20, 2) == n)
            break;
    if (at < 0)
        TRY(damaged(s, "no end record (is the file truncated?)"));
    const unsigned char *p = tail + at;
    int64_t end_at = d->size - n + at;
    uint64_t entries = get(p + 10, 2), bytes = get(p + 12, 4), begin = get(p + 16, 4);
    if (entries == 0xffff || bytes == 0xffffffff || begin == 0xffffffff)
        TRY(read_end64(s, d, end_at));
    else
        TRY(set_directory(s, d, entries, bytes, begin, end_at));
done:
    mem_free(ctx, tail);
    return status;
}

/* Replaces values that equal the maximum 32-bit value with those in the zip64 extra field, which
 * are in the order of `value`. */
static bool apply_extra64(uint64_t *value[3], const unsigned char *extra, size_t n)
{
    bool wanted = false;
    for (int k = 0; k < 3; k++)
        wanted = wanted || *value[k] == 0xffffffff;
    while (wanted && n >= 4) {
        size_t length = (size_t)get(extra + 2, 2), at = 4;
        if (length > n - 4)
            return false;
        if (get(extra, 2) == 1) {
            for (int k = 0; k < 3; k++) {
                if (*value[k] != 0xffffffff)
                    continue;
                if (at + 8 > length + 4)
                    return false;
                *value[k] = get(extra + at, 8);
                at += 8;
            }
            return true;
        }
        extra += 4 + length;
        n -= 4 + length;
    }
    return !wanted;
}

static ddsc_status add_entry(ddsc_context *ctx, zip_list *list, io_stream *s, const zip_entry *e)
{
    if (zip_find(list, e->name))
        return stream_fail(s, "contains the array '%s' twice", e->name);
    if (list->n == ENTRIES_MAX)
        return stream_fail(s, "contains more than %d arrays", ENTRIES_MAX);
    ddsc_status status = MEM_RESERVE(ctx, list->entry, &list->capacity, list->n + 1);
    if (status >= 0)
        list->entry[list->n++] = *e;
    return status;
}

static bool zip_set_name(zip_entry *e, const char *name, size_t n)
{
    if (n <= 4 || n - 4 >= ZIP_NAME_MAX || memcmp(name + n - 4, ".npy", 4) != 0 ||
        memchr(name, 0, n))
        return false;
    memcpy(e->name, name, n - 4);
    e->name[n - 4] = '\0';
    return true;
}

/* Reads one record of the central directory at *at and advances *at. */
static ddsc_status read_central(ddsc_context *ctx, zip_list *list, io_stream *s, const directory *d,
                                int64_t *at)
{
    ddsc_status status = DDSC_OK;
    unsigned char p[CENTRAL_SIZE], *tail = NULL;
    zip_entry e = {0};
    if (d->end - *at < CENTRAL_SIZE)
        return damaged(s, "the directory ends early");
    TRY(stream_read_at(s, *at, p, CENTRAL_SIZE, "the zip directory"));
    size_t n_name = (size_t)get(p + 28, 2), n_extra = (size_t)get(p + 30, 2);
    int64_t whole = CENTRAL_SIZE + (int64_t)(n_name + n_extra) + (int64_t)get(p + 32, 2);
    if (memcmp(p, "PK\1\2", 4) != 0 || whole > d->end - *at)
        return damaged(s, "the directory ends early");
    TRY(mem_get(ctx, &tail, (int64_t)(n_name + n_extra), 1));
    TRY(stream_read_at(s, *at + CENTRAL_SIZE, tail, n_name + n_extra, "the zip directory"));
    *at += whole;
    if (!zip_set_name(&e, (const char *)tail, n_name))
        goto done;
    uint64_t unpacked = get(p + 24, 4), packed = get(p + 20, 4), offset = get(p + 42, 4);
    uint64_t *value[3] = {&unpacked, &packed, &offset};
    if (!apply_extra64(value, tail + n_name, n_extra) || unpacked > INT64_MAX ||
        packed > (uint64_t)d->size || offset > (uint64_t)d->size)
        TRY(stream_fail(s, "damaged zip archive: invalid size or position of '%s'", e.name));
    e.flags = (int)get(p + 8, 2);
    e.method = (int)get(p + 10, 2);
    e.crc = (uint32_t)get(p + 16, 4);
    e.packed = (int64_t)packed;
    e.unpacked = (int64_t)unpacked;
    e.offset = (int64_t)offset;
    TRY(add_entry(ctx, list, s, &e));
done:
    mem_free(ctx, tail);
    return status;
}

ddsc_status zip_read_list(ddsc_context *ctx, zip_list *list, io_stream *archive)
{
    ddsc_status status = DDSC_OK;
    directory d = {0};
    int64_t total = 0;
    *list = (zip_list){0};
    TRY(stream_make_random(archive, &d.size));
    TRY(find_directory(ctx, archive, &d));
    int64_t at = d.begin;
    for (int64_t i = 0; i < d.n_entries; i++)
        TRY(read_central(ctx, list, archive, &d, &at));
    for (int64_t i = 0; i < list->n; i++)
        if (!add_ok(total, list->entry[i].unpacked, &total) || total > stream_limit(archive))
            TRY(stream_fail(archive, "expands to more than the limit of %lld bytes",
                            (long long)stream_limit(archive)));
done:
    return status;
}

void zip_list_free(ddsc_context *ctx, zip_list *list)
{
    mem_free(ctx, list->entry);
    *list = (zip_list){0};
}

const zip_entry *zip_find(const zip_list *list, const char *name)
{
    for (int64_t i = 0; i < list->n; i++)
        if (strcmp(list->entry[i].name, name) == 0)
            return &list->entry[i];
    return NULL;
}

/* Finds the start of a member's data, after its local header. The name in the local header must
 * match. */
static ddsc_status zip_find_data(io_stream *s, const zip_entry *e, int64_t *at)
{
    unsigned char p[LOCAL_SIZE];
    char name[ZIP_NAME_MAX + 4];
    size_t n = strlen(e->name);
    CHECK(stream_read_at(s, e->offset, p, LOCAL_SIZE, "a zip member header"));
    if (memcmp(p, "PK\3\4", 4) != 0 || get(p + 26, 2) != n + 4)
        return stream_fail(s, "damaged zip archive: missing header of '%s'", e->name);
    CHECK(stream_read_at(s, e->offset + LOCAL_SIZE, name, n + 4, "a zip member header"));
    if (memcmp(name, e->name, n) != 0)
        return stream_fail(s, "damaged zip archive: missing header of '%s'", e->name);
    *at = e->offset + LOCAL_SIZE + (int64_t)get(p + 26, 2) + (int64_t)get(p + 28, 2);
    return DDSC_OK;
}

ddsc_status zip_open_entry(ddsc_context *ctx, io_stream **out, io_stream *archive,
                           const zip_entry *e)
{
    int64_t at = 0, size = 0;
    *out = NULL;
    if (e->flags & 1)
        return stream_fail(archive, "the array '%s' is encrypted", e->name);
    if (e->method != 0 && e->method != 8)
        return stream_fail(archive,
                           "the array '%s' uses compression method %d; only stored and deflated "
                           "members are supported",
                           e->name, e->method);
    if (e->method == 0 && e->packed != e->unpacked)
        return stream_fail(archive, "damaged zip archive: invalid size of '%s'", e->name);
    CHECK(zip_find_data(archive, e, &at));
    CHECK(stream_make_random(archive, &size));
    if (at > size || e->packed > size - at)
        return stream_fail(archive, "damaged zip archive: '%s' is truncated", e->name);
    return stream_open_part(ctx, out, archive, e->name, at, e->packed, e->unpacked, e->method == 8);
}

ddsc_status zip_check_entry(io_stream *member, const zip_entry *e)
{
    ddsc_status status = stream_expect_end(member, "its header and elements");
    if (status >= 0 && stream_crc(member) != e->crc)
        return stream_fail(member, "is damaged: its checksum does not match");
    return status;
}
