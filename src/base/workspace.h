/* Memory that is divided into arrays: one growing block for a solver, or one block per worker of a
 * parallel loop. A single function takes the arrays from an arena and thus defines their layout.
 * The function is called twice: first without a block, to compute the size, and then with the
 * block. */
#ifndef DDSC_BASE_WORKSPACE_H
#define DDSC_BASE_WORKSPACE_H

#include "base/base.h"

/* An arena whose base is NULL only computes the size. */
typedef struct arena {
    char *base;
    int64_t used;
} arena;

void *arena_take(arena *a, int64_t count, size_t size);
#define ARENA_TAKE(a, pointer, count) \
    ((pointer) = arena_take(a, (int64_t)(count), sizeof *(pointer)))

/* A block that grows and never shrinks. */
typedef struct workspace {
    char *block;
    int64_t size;
} workspace;

/* Grows the block if necessary, in which case its content is lost. */
ddsc_status workspace_grow(ddsc_context *ctx, workspace *w, int64_t wanted);
/* Takes the arrays of `owner` from the workspace, which grows if they do not fit. */
typedef void (*arena_fn)(void *owner, arena *a);
ddsc_status workspace_lay_out(ddsc_context *ctx, workspace *w, arena_fn take, void *owner);

/* One block per worker, of equal size and aligned to cache lines. */
typedef struct scratch {
    char *block;
    int64_t stride;
} scratch;

ddsc_status scratch_create(ddsc_context *ctx, scratch *s, int64_t count, size_t size);
void scratch_free(ddsc_context *ctx, scratch *s);
static inline void *scratch_of(const scratch *s, int worker)
{
    return s->block + worker * s->stride;
}

#endif
