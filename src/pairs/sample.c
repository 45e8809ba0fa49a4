/* A random fraction of the pairs, drawn by a hash of the pair: no table, the same for any order. */
#include "pairs/pairs.h"

bool pair_sampled(uint64_t seed, double p, int64_t i, int64_t j)
{
    uint64_t low = (uint64_t)BASE_MIN(i, j), high = (uint64_t)BASE_MAX(i, j);
    uint64_t draw = rng_hash(seed, RNG_PAIR_MASK, low, high);
    return (double)(draw >> 11) * 0x1p-53 < p;
}
