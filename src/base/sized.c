/* Handles structs whose version in the caller's program is older (shorter) or newer (longer)
 * than in the library. The library knows only the caller's size, and never reads or writes
 * beyond it. */
#include "base/sized.h"

#include <string.h>

/* Maximum total size of the fields that a newer program may have added. A larger struct_size was
 * probably never set. */
enum { MOST_ADDED = 4096 };

static void put_defaults(const sized_struct *kind, void *to, size_t size)
{
    size_t known = BASE_MIN(size, kind->size);
    memset(to, 0, size);
    if (kind->defaults)
        memcpy(to, kind->defaults, known);
    if (size >= sizeof size)
        memcpy(to, &size, sizeof size);
}

void sized_init(const sized_struct *kind, void *to, size_t size)
{
    if (to)
        put_defaults(kind, to, size);
}

/* Returns true if a caller's struct can have this size. Struct sizes are multiples of 8; any other
 * size would end inside a field. */
static bool is_size(const sized_struct *kind, size_t size)
{
    return size >= kind->first && size % 8 == 0 && size <= kind->size + MOST_ADDED;
}

static bool rest_is_zero(const unsigned char *bytes, size_t from, size_t size)
{
    for (size_t i = from; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

bool sized_copy(const sized_struct *kind, void *own, const void *given)
{
    put_defaults(kind, own, kind->size);
    if (!given)
        return true;
    size_t size = size_of(given);
    if (!is_size(kind, size) || !rest_is_zero(given, kind->size, size))
        return false;
    memcpy(own, given, BASE_MIN(size, kind->size));
    memcpy(own, &kind->size, sizeof kind->size);
    return true;
}

ddsc_status sized_take(ddsc_context *ctx, const sized_struct *kind, void *own, const void *given)
{
    if (sized_copy(kind, own, given))
        return DDSC_OK;
    size_t size = size_of(given);
    if (!is_size(kind, size))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "%s.struct_size = %zu is not valid: call %s_init first", kind->name, size,
                        kind->name);
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "%s: a field is set that this version of the library (%s) does not support",
                    kind->name, ddsc_version());
}

void sized_give(const sized_struct *kind, void *given, const void *own)
{
    if (!given)
        return;
    size_t size = size_of(given);
    sized_view(given, size, own, kind->size);
    memcpy(given, &size, sizeof size);
}

void sized_view(void *view, size_t size, const void *own, size_t own_size)
{
    if (!view)
        return;
    size_t known = BASE_MIN(size, own_size);
    memcpy(view, own, known);
    memset((unsigned char *)view + known, 0, size - known);
}
