/* Converts binary numbers of any kind, width and byte order to double or int64_t. */
#include "io/stream/stream.h"

#include <string.h>

static inline uint64_t numbers_load(const unsigned char *p, int width, bool swap)
{
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (width) {
    case 1: return p[0];
    case 2: memcpy(&b2, p, 2); return swap ? __builtin_bswap16(b2) : b2;
    case 4: memcpy(&b4, p, 4); return swap ? __builtin_bswap32(b4) : b4;
    default: memcpy(&b8, p, 8); return swap ? __builtin_bswap64(b8) : b8;
    }
}

static inline int64_t load_signed(const unsigned char *p, int width, bool swap)
{
    uint64_t bits = numbers_load(p, width, swap);
    switch (width) {
    case 1: return (int8_t)bits;
    case 2: return (int16_t)bits;
    case 4: return (int32_t)bits;
    default: return (int64_t)bits;
    }
}

static inline double load_float(const unsigned char *p, int width, bool swap)
{
    uint64_t bits = numbers_load(p, width, swap);
    if (width == 4) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, 4);
        return (double)f;
    }
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

/* Calls LOOP with a constant width, so that the compiler generates one loop per type. */
#define EACH_WIDTH(LOOP)     \
    switch (type.width) {    \
    case 1: LOOP(1); break;  \
    case 2: LOOP(2); break;  \
    case 4: LOOP(4); break;  \
    default: LOOP(8); break; \
    }
#define LOOP_FLOAT(w)               \
    for (int64_t i = 0; i < n; i++) \
    out[i] = load_float(in + i * (w), (w), type.swap)
#define LOOP_SIGNED(w)              \
    for (int64_t i = 0; i < n; i++) \
    out[i] = (double)load_signed(in + i * (w), (w), type.swap)
#define LOOP_UNSIGNED(w)            \
    for (int64_t i = 0; i < n; i++) \
    out[i] = (double)numbers_load(in + i * (w), (w), type.swap)

void numbers_to_double(double *out, const unsigned char *in, int64_t n, num_type type)
{
    if (type.kind == 'f') {
        EACH_WIDTH(LOOP_FLOAT)
    } else if (type.kind == 'i') {
        EACH_WIDTH(LOOP_SIGNED)
    } else {
        EACH_WIDTH(LOOP_UNSIGNED)
    }
}

bool numbers_to_int64(int64_t *out, const unsigned char *in, int64_t n, num_type type, int64_t *bad)
{
    *bad = 0;
    if (type.kind != 'i' && type.kind != 'u')
        return false;
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *p = in + i * type.width;
        if (type.kind == 'i') {
            out[i] = load_signed(p, type.width, type.swap);
            continue;
        }
        uint64_t v = numbers_load(p, type.width, type.swap);
        if (v > INT64_MAX) {
            *bad = i;
            return false;
        }
        out[i] = (int64_t)v;
    }
    return true;
}
