/* Blocks of memory that are divided into arrays. Each array is aligned to a cache line. */
#include "base/workspace.h"

void *arena_take(arena *a, int64_t count, size_t size)
{
    uintptr_t at = (uintptr_t)a->base + (uintptr_t)a->used;
    DDSC_ASSERT(at % 64 == 0 && count >= 0);
    a->used += (count * (int64_t)size + 63) & ~(int64_t)63;
    return (void *)at;
}

ddsc_status workspace_grow(ddsc_context *ctx, workspace *w, int64_t wanted)
{
    if (wanted <= w->size)
        return DDSC_OK;
    mem_free(ctx, w->block);
    w->size = 0;
    CHECK(mem_get(ctx, &w->block, wanted, 1));
    w->size = wanted;
    return DDSC_OK;
}

ddsc_status workspace_lay_out(ddsc_context *ctx, workspace *w, arena_fn take, void *owner)
{
    arena a = {w->block, 0};
    take(owner, &a);
    if (a.used <= w->size)
        return DDSC_OK;
    CHECK(workspace_grow(ctx, w, a.used));
    a = (arena){w->block, 0};
    take(owner, &a);
    return DDSC_OK;
}

ddsc_status scratch_create(ddsc_context *ctx, scratch *s, int64_t count, size_t size)
{
    int64_t bytes = 0;
    *s = (scratch){0};
    if (!mul_ok(count, (int64_t)size, &bytes) || !add_ok(bytes, 63, &bytes))
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "a size of %lld x %zu bytes is out of range",
                        (long long)count, size);
    s->stride = bytes & ~(int64_t)63;
    return mem_get(ctx, &s->block, parallel_width(ctx), (size_t)s->stride);
}

void scratch_free(ddsc_context *ctx, scratch *s)
{
    mem_free(ctx, s->block);
    *s = (scratch){0};
}
