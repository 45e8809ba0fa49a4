/* DDSC_ASSERT, and predicates for the invariants that many modules share.
 *
 * Debug and sanitizer builds define DDSC_DEBUG_CHECKS and abort at the first condition that fails.
 * Other builds compile the condition but never evaluate it, so it generates no code. Assert an
 * invariant where it is established and where it is used. Inner loops contain only checks of
 * constant cost. Whole structures are checked once, at the end of a phase. */
#ifndef DDSC_BASE_INVARIANT_H
#define DDSC_BASE_INVARIANT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef DDSC_DEBUG_CHECKS
#include <stdio.h>
#include <stdlib.h>

#define DDSC_ASSERT(cond) ((cond) ? (void)0 : invariant_failed(__FILE__, __LINE__, __func__, #cond))

_Noreturn static inline void invariant_failed(const char *file, int line, const char *function,
                                              const char *condition)
{
    fprintf(stderr, "%s:%d: %s: invariant violated: %s\n", file, line, function, condition);
    abort();
}
#else
#define DDSC_ASSERT(cond) ((void)(0 && (cond)))
#endif

/* Returns true for n + 1 offsets that start at 0 and never decrease. */
static inline bool invariant_offsets(const int64_t *offset, int64_t n)
{
    bool holds = offset[0] == 0;
    for (int64_t i = 0; i < n; i++)
        holds &= offset[i] <= offset[i + 1];
    return holds;
}

/* Returns true if low <= x[k] < end for all k. */
static inline bool invariant_range(const int32_t *x, int64_t n, int64_t low, int64_t end)
{
    bool holds = true;
    for (int64_t k = 0; k < n; k++)
        holds &= x[k] >= low && x[k] < end;
    return holds;
}

/* Returns true for strictly ascending values, which excludes duplicates. */
static inline bool invariant_ascending(const int32_t *x, int64_t n)
{
    bool holds = true;
    for (int64_t k = 1; k < n; k++)
        holds &= x[k - 1] < x[k];
    return holds;
}

/* Returns true for a permutation of 0 .. n-1. Checks the range, the sum and the sum of squares,
 * which needs no memory and detects nearly every array with a repeated value. */
static inline bool invariant_permutation(const int32_t *x, int64_t n)
{
    uint64_t total = 0, squares = 0;
    for (int64_t k = 0; k < n; k++) {
        uint64_t value = (uint64_t)x[k], place = (uint64_t)k;
        total += value - place;
        squares += value * value - place * place;
    }
    return total == 0 && squares == 0 && invariant_range(x, n, 0, n);
}

/* Returns true if all values are in [low, high]. The result is false if any value is NaN. */
static inline bool invariant_between(const double *x, int64_t n, double low, double high)
{
    bool holds = true;
    for (int64_t k = 0; k < n; k++)
        holds &= x[k] >= low && x[k] <= high;
    return holds;
}

static inline bool invariant_descending(const double *x, int64_t n)
{
    bool holds = true;
    for (int64_t k = 1; k < n; k++)
        holds &= x[k - 1] >= x[k];
    return holds;
}

/* Returns true for positive weights that sum to 1, up to the rounding of a division by their
 * sum. */
static inline bool invariant_distribution(const double *weight, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++)
        total += weight[k];
    return invariant_between(weight, n, 0x1p-1074, 2) &&
           fabs(total - 1) <= 0x1p-51 * (double)(n + 1);
}

#endif
