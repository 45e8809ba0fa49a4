/* XXH64 (the 64-bit version of Yann Collet's xxHash), written from its specification. XXH64 is a
 * fast checksum and offers no protection against an adversary. */
#include <string.h>

#include "base/base.h"

static const uint64_t P1 = 0x9E3779B185EBCA87u, P2 = 0xC2B2AE3D27D4EB4Fu, P3 = 0x165667B19E3779F9u,
                      P4 = 0x85EBCA77C2B2AE63u, P5 = 0x27D4EB2F165667C5u;

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t read_u64(const unsigned char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static uint64_t read_u32(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static uint64_t mix(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * P2, 31) * P1;
}

static uint64_t merge(uint64_t h, uint64_t lane)
{
    return (h ^ mix(0, lane)) * P1 + P4;
}

/* Processes blocks of 32 bytes in four lanes. */
static uint64_t hash_blocks(const unsigned char **at, size_t n_blocks, uint64_t seed)
{
    uint64_t lane[4] = {seed + P1 + P2, seed + P2, seed, seed - P1}, h;
    for (; n_blocks > 0; n_blocks--, *at += 32)
        for (int k = 0; k < 4; k++)
            lane[k] = mix(lane[k], read_u64(*at + 8 * k));
    h = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
    for (int k = 0; k < 4; k++)
        h = merge(h, lane[k]);
    return h;
}

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *at = bytes, *end = at + n;
    uint64_t h = n >= 32 ? hash_blocks(&at, n / 32, seed) : seed + P5;
    h += (uint64_t)n;
    for (; end - at >= 8; at += 8)
        h = rotate(h ^ mix(0, read_u64(at)), 27) * P1 + P4;
    if (end - at >= 4) {
        h = rotate(h ^ read_u32(at) * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++)
        h = rotate(h ^ *at * P5, 11) * P1;
    return hash_u64(h);
}
