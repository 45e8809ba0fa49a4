/* The allocator. Blocks are 64-byte aligned and have a small header, so that their sizes can be
 * counted against the context's limit with any allocator that the caller supplies. */
#include <string.h>

#include "base/context.h"
#include "base/team.h"

enum { MEM_ALIGN = 64 };

typedef struct header {
    void *raw;
    size_t size;
} header;

static header *header_of(void *block)
{
    return (header *)((char *)block - sizeof(header));
}

static bool count_bytes(ddsc_context *ctx, int64_t bytes)
{
    int64_t now = atomic_fetch_add(&ctx->held, bytes) + bytes;
    if (bytes > 0 && ctx->set.memory_limit > 0 && now > ctx->set.memory_limit) {
        atomic_fetch_sub(&ctx->held, bytes);
        return false;
    }
    int64_t peak = atomic_load(&ctx->peak);
    while (now > peak && !atomic_compare_exchange_weak(&ctx->peak, &peak, now)) {
    }
    return true;
}

static ddsc_status out_of_memory(ddsc_context *ctx, int64_t bytes)
{
    if (ctx->set.memory_limit > 0)
        return ctx_fail(ctx, DDSC_ERROR_MEMORY,
                        "out of memory: %lld more bytes requested, %lld in use, limit %lld",
                        (long long)bytes, (long long)atomic_load(&ctx->held),
                        (long long)ctx->set.memory_limit);
    return ctx_fail(ctx, DDSC_ERROR_MEMORY, "out of memory: %lld more bytes requested",
                    (long long)bytes);
}

ddsc_status mem_count(ddsc_context *ctx, int64_t bytes)
{
    return count_bytes(ctx, bytes) ? DDSC_OK : out_of_memory(ctx, bytes);
}

void mem_uncount(ddsc_context *ctx, int64_t bytes)
{
    count_bytes(ctx, -bytes);
}

/* Returns the size of a block including its header, or -1 on overflow. */
static int64_t block_bytes(int64_t count, size_t size)
{
    int64_t bytes;
    if (!mul_ok(count, (int64_t)size, &bytes) ||
        !add_ok(bytes, MEM_ALIGN + (int64_t)sizeof(header), &bytes))
        return -1;
    return bytes;
}

ddsc_status mem_get(ddsc_context *ctx, void *out, int64_t count, size_t size)
{
    void *none = NULL;
    memcpy(out, &none, sizeof none);
    int64_t bytes = block_bytes(count, size);
    if (bytes < 0)
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "a size of %lld x %zu bytes is out of range",
                        (long long)count, size);
    if (!count_bytes(ctx, bytes))
        return out_of_memory(ctx, bytes);
    char *raw = ctx->set.allocate(ctx->set.allocator_user, (size_t)bytes);
    if (!raw) {
        count_bytes(ctx, -bytes);
        return out_of_memory(ctx, bytes);
    }
    uintptr_t at = ((uintptr_t)raw + sizeof(header) + MEM_ALIGN - 1) & ~(uintptr_t)(MEM_ALIGN - 1);
    void *block = raw + (at - (uintptr_t)raw);
    *header_of(block) = (header){raw, (size_t)bytes};
    memcpy(out, &block, sizeof block);
    return DDSC_OK;
}

ddsc_status mem_zero(ddsc_context *ctx, void *out, int64_t count, size_t size)
{
    ddsc_status status = mem_get(ctx, out, count, size);
    if (status == DDSC_OK) {
        void *block;
        memcpy(&block, out, sizeof block);
        memset(block, 0, (size_t)count * size);
    }
    return status;
}

ddsc_status mem_copy(ddsc_context *ctx, void *out, const void *from, int64_t count, size_t size)
{
    void *block = NULL;
    if (from) {
        CHECK(mem_get(ctx, &block, count, size));
        memcpy(block, from, (size_t)count * size);
    }
    memcpy(out, &block, sizeof block);
    return DDSC_OK;
}

/* Reallocation may change the offset of the block within its raw memory. In this case, the content
 * is moved to the new aligned position. */
ddsc_status mem_resize(ddsc_context *ctx, void *inout, int64_t count, size_t size)
{
    char *old;
    memcpy(&old, inout, sizeof old);
    if (!old)
        return mem_get(ctx, inout, count, size);
    int64_t bytes = block_bytes(count, size);
    if (bytes < 0)
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "a size of %lld x %zu bytes is out of range",
                        (long long)count, size);
    header before = *header_of(old);
    size_t shift = (size_t)(old - (char *)before.raw);
    size_t kept = BASE_MIN((size_t)bytes, before.size) - MEM_ALIGN - sizeof(header);
    if (!count_bytes(ctx, bytes - (int64_t)before.size))
        return out_of_memory(ctx, bytes);
    char *raw = ctx->set.reallocate(ctx->set.allocator_user, before.raw, (size_t)bytes);
    if (!raw) {
        count_bytes(ctx, (int64_t)before.size - bytes);
        return out_of_memory(ctx, bytes);
    }
    uintptr_t at = ((uintptr_t)raw + sizeof(header) + MEM_ALIGN - 1) & ~(uintptr_t)(MEM_ALIGN - 1);
    char *block = raw + (at - (uintptr_t)raw);
    if (block != raw + shift)
        memmove(block, raw + shift, kept);
    *header_of(block) = (header){raw, (size_t)bytes};
    memcpy(inout, &block, sizeof block);
    return DDSC_OK;
}

ddsc_status mem_reserve(ddsc_context *ctx, void *inout, int64_t *capacity, int64_t need,
                        size_t size)
{
    if (need <= *capacity)
        return DDSC_OK;
    int64_t more = BASE_MAX(need, 64);
    if (*capacity <= INT64_MAX / 3)
        more = BASE_MAX(more, *capacity + *capacity / 2);
    CHECK(mem_resize(ctx, inout, more, size));
    *capacity = more;
    return DDSC_OK;
}

void mem_free(ddsc_context *ctx, void *block)
{
    if (!block)
        return;
    header h = *header_of(block);
    atomic_fetch_sub(&ctx->held, (int64_t)h.size);
    ctx->set.release(ctx->set.allocator_user, h.raw);
}

void mem_free_all(ddsc_context *ctx, size_t count, void *const *blocks)
{
    for (size_t k = 0; k < count; k++)
        mem_free(ctx, blocks[k]);
}

int64_t ctx_memory_left(const ddsc_context *ctx)
{
    if (ctx->set.memory_limit == 0)
        return INT64_MAX;
    if (team_size(ctx) >
        1) /* the result selects an algorithm, and all ranks must select the same one */
        return ctx->set.memory_limit / 2;
    return BASE_MAX(0, ctx->set.memory_limit - atomic_load(&ctx->held));
}

void ddsc_release(ddsc_context *context, void *block)
{
    if (context)
        team_unshare(context, block); /* a matrix may be shared by all ranks */
}
