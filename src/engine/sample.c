/* A random fraction of the pairs, drawn by a hash of the pair: no table, the same for any order. */
#include "engine/engine.h"

bool pair_sampled(uint64_t seed, double p, int64_t i, int64_t j)
{
    uint64_t low = (uint64_t)BASE_MIN(i, j), high = (uint64_t)BASE_MAX(i, j);
    uint64_t draw = rng_hash(seed, RNG_PAIR_MASK, low, high);
    return (double)(draw >> 11) * 0x1p-53 < p;
}

ddsc_status sample_empty(ddsc_context *ctx, double p, int64_t n)
{
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                    "sample = %g leaves none of the %lld pairs of %lld items; %g would give each "
                    "item about ten",
                    p, (long long)(n * (n - 1) / 2), (long long)n,
                    BASE_MIN(1.0, 10 / (double)(n - 1)));
}
