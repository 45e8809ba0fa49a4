/* Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3", SC 2011). Random bits are a function of a counter, so threads share no state. */
#include <math.h>

#include "base/base.h"

static void philox(uint32_t x[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)x[0] * 0xD2511F53u, q = (uint64_t)x[2] * 0xCD9E8D57u;
        uint32_t y0 = (uint32_t)(q >> 32) ^ x[1] ^ k0, y2 = (uint32_t)(p >> 32) ^ x[3] ^ k1;
        x[0] = y0;
        x[1] = (uint32_t)q;
        x[2] = y2;
        x[3] = (uint32_t)p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

rng rng_make(uint64_t seed, enum rng_stream stream, uint64_t part)
{
    return (rng){.seed = seed, .stream = ((uint64_t)stream << 56) ^ part};
}

uint64_t rng_u64(rng *r)
{
    if (r->has_spare) {
        r->has_spare = false;
        return r->spare;
    }
    uint32_t x[4] = {(uint32_t)r->counter, (uint32_t)(r->counter >> 32), (uint32_t)r->stream,
                     (uint32_t)(r->stream >> 32)};
    philox(x, (uint32_t)r->seed, (uint32_t)(r->seed >> 32));
    r->counter++;
    r->spare = (uint64_t)x[3] << 32 | x[2];
    r->has_spare = true;
    return (uint64_t)x[1] << 32 | x[0];
}

double rng_uniform(rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

double rng_normal(rng *r)
{
    double u = 1.0 - rng_uniform(r), v = rng_uniform(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

int64_t rng_below(rng *r, int64_t n)
{
    DDSC_ASSERT(n > 0);
    uint64_t range = (uint64_t)n, limit = UINT64_MAX - UINT64_MAX % range, draw;
    do {
        draw = rng_u64(r);
    } while (draw >= limit);
    return (int64_t)(draw % range);
}

uint64_t rng_hash(uint64_t seed, uint64_t stream, uint64_t a, uint64_t b)
{
    uint32_t x[4] = {(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)};
    philox(x, (uint32_t)seed ^ (uint32_t)stream, (uint32_t)(seed >> 32) + (uint32_t)(stream >> 32));
    return (uint64_t)x[1] << 32 | x[0];
}
