#include "engine/pair_set.h"

enum { FIRST_SIZE = 1 << 12 };

static uint64_t key_of(int64_t i, int64_t j)
{
    return i < j ? (uint64_t)i << 32 | (uint64_t)j : (uint64_t)j << 32 | (uint64_t)i;
}

/* Slot of the key, or the free slot where it belongs. */
static uint64_t find(const pair_set *set, uint64_t key)
{
    uint64_t h = (key ^ key >> 31) * 0x9E3779B97F4A7C15u, at = (h >> 20) & set->mask;
    while (set->slot[at] != 0 && set->slot[at] != key + 1)
        at = (at + 1) & set->mask;
    return at;
}

ddsc_status pair_set_create(ddsc_context *ctx, pair_set *set)
{
    *set = (pair_set){.mask = FIRST_SIZE - 1};
    return MEM_ZERO(ctx, set->slot, FIRST_SIZE);
}

void pair_set_free(ddsc_context *ctx, pair_set *set)
{
    mem_free(ctx, set->slot);
    *set = (pair_set){0};
}

bool pair_set_has(const pair_set *set, int64_t i, int64_t j)
{
    return set->slot[find(set, key_of(i, j))] != 0;
}

static ddsc_status grow(ddsc_context *ctx, pair_set *set)
{
    pair_set larger = {.mask = 2 * set->mask + 1, .count = set->count};
    ddsc_status status = MEM_ZERO(ctx, larger.slot, larger.mask + 1);
    if (status < 0)
        return status;
    for (uint64_t at = 0; at <= set->mask; at++)
        if (set->slot[at] != 0)
            larger.slot[find(&larger, set->slot[at] - 1)] = set->slot[at];
    mem_free(ctx, set->slot);
    *set = larger;
    return DDSC_OK;
}

ddsc_status pair_set_add(ddsc_context *ctx, pair_set *set, int64_t i, int64_t j, bool *fresh)
{
    ddsc_status status = DDSC_OK;
    if (2 * (uint64_t)set->count > set->mask)
        TRY(grow(ctx, set));
    uint64_t key = key_of(i, j), at = find(set, key);
    *fresh = set->slot[at] == 0;
    set->slot[at] = key + 1;
    set->count += *fresh;
done:
    return status;
}
