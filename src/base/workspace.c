#include "base/workspace.h"

void *arena_take(arena *a, int64_t count, size_t size)
{
    uintptr_t at = (uintptr_t)a->base + (uintptr_t)a->used;
    a->used += (count * (int64_t)size + 63) & ~(int64_t)63;
    return (void *)at;
}

ddsc_status workspace_grow(ddsc_context *ctx, workspace *w, int64_t wanted)
{
    if (wanted <= w->size)
        return DDSC_OK;
    mem_free(ctx, w->block);
    w->size = 0;
    ddsc_status status = mem_get(ctx, &w->block, wanted, 1);
    if (status == DDSC_OK)
        w->size = wanted;
    return status;
}
