/* Memory of a solver: one block that grows and never shrinks, and arrays carved out of it. */
#ifndef DDSC_BASE_WORKSPACE_H
#define DDSC_BASE_WORKSPACE_H

#include "base/base.h"

typedef struct workspace {
    char *block;
    int64_t size;
} workspace;

/* With base NULL it only measures. */
typedef struct arena {
    char *base;
    int64_t used;
} arena;

void *arena_take(arena *a, int64_t count, size_t size);
/* What the block held is lost when it grows. */
ddsc_status workspace_grow(ddsc_context *ctx, workspace *w, int64_t wanted);

#endif
