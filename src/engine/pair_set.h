/* A set of unordered pairs: open addressing, grown by the calling thread, read by all. */
#ifndef DDSC_ENGINE_PAIR_SET_H
#define DDSC_ENGINE_PAIR_SET_H

#include "base/base.h"

typedef struct pair_set {
    uint64_t *slot; /* key + 1, 0: free */
    uint64_t mask;
    int64_t count;
} pair_set;

ddsc_status pair_set_create(ddsc_context *ctx, pair_set *set);
void pair_set_free(ddsc_context *ctx, pair_set *set);
bool pair_set_has(const pair_set *set, int64_t i, int64_t j);
/* *fresh: the pair was not there before. */
ddsc_status pair_set_add(ddsc_context *ctx, pair_set *set, int64_t i, int64_t j, bool *fresh);

#endif
