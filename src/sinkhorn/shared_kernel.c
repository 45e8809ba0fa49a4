#include "sinkhorn/shared_kernel.h"

#include <math.h>

#include "base/simd.h"
#include "sinkhorn/kernel.h"

enum { WIDTH = SHARED_WIDTH, VECTORS = WIDTH / SIMD_LANES, ROWS = 4 };
enum { NARROW = 8 }; /* vectors of rows at once, for a pair on its own */

/* Every sum goes over the table in its order, whatever the width. */
SIMD_INLINE void block_products(const half_step *h, int64_t i, simd_f64 sum[ROWS][VECTORS])
{
    const double *k0 = h->kernel + i * h->rows;
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int c = 0; c < VECTORS; c++)
            sum[r][c] = simd_all(0);
    for (int64_t k = 0; k < h->rows; k++)
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
            for (int c = 0; c < VECTORS; c++)
                sum[r][c] += k0[r * h->rows + k] * simd_load(h->other + k * WIDTH + c * SIMD_LANES);
}

/* What is seen of one side, for eight sums at a time. */
typedef struct half_report {
    simd_f64 error, mass, low, high;
} half_report;

/* The scaling after the sum. Points without weight keep 0, and their sums are not looked at. */
SIMD_INLINE simd_f64 relaxed(simd_f64 sum, simd_f64 w, simd_f64 old, simd_f64 beyond,
                             simd_f64 *safe)
{
    *safe = simd_select(w > 0, sum, simd_all(1));
    simd_f64 plain = w / simd_max(*safe, simd_all(TINY_SUM));
    return simd_max(plain + beyond * (plain - old), 0.5 * plain);
}

SIMD_INLINE void update(half_step *h, int64_t row, int c, simd_f64 sum, half_report *seen)
{
    int64_t at = row * WIDTH + c * SIMD_LANES;
    simd_i64 move;
    memcpy(&move, h->move + c * SIMD_LANES, sizeof move);
    simd_f64 w = simd_load(h->weight + at), old = simd_load(h->scale + at), safe;
    simd_f64 next = relaxed(sum, w, old, simd_load(h->beyond + c * SIMD_LANES), &safe);
    seen->low = simd_min(seen->low, safe);
    seen->high = simd_max(seen->high, safe);
    seen->error += simd_abs(old * sum - w);
    seen->mass += old * sum;
    simd_store(h->next + at, simd_select(move, next, old));
}

SIMD_CLONES static void half_wide(half_step *h)
{
    half_report seen[VECTORS];
    for (int c = 0; c < VECTORS; c++)
        seen[c] = (half_report){simd_all(0), simd_all(0), simd_all(INFINITY), simd_all(0)};
    for (int64_t i = 0; i < h->rows; i += ROWS) {
        simd_f64 sum[ROWS][VECTORS];
        block_products(h, i, sum);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < VECTORS; c++)
                update(h, i + r, c, sum[r][c], &seen[c]);
    }
    for (int c = 0; c < VECTORS; c++) {
        simd_store(h->error + c * SIMD_LANES, seen[c].error);
        simd_store(h->mass + c * SIMD_LANES, seen[c].mass);
        simd_store(h->low + c * SIMD_LANES, seen[c].low);
        simd_store(h->high + c * SIMD_LANES, seen[c].high);
    }
}

/* h->sum = K other: `vectors` vectors of rows at once, by the symmetry of K. */
SIMD_INLINE void narrow_products(half_step *h, int64_t i, const int vectors)
{
    simd_f64 sum[NARROW];
#pragma GCC unroll 8
    for (int c = 0; c < vectors; c++)
        sum[c] = simd_all(0);
    for (int64_t k = 0; k < h->rows; k++) {
        const double *at = h->kernel + k * h->rows + i;
        double x = h->other[k];
#pragma GCC unroll 8
        for (int c = 0; c < vectors; c++)
            sum[c] += simd_load(at + c * SIMD_LANES) * x;
    }
#pragma GCC unroll 8
    for (int c = 0; c < vectors; c++)
        simd_store(h->sum + i + c * SIMD_LANES, sum[c]);
}

/* The same for one pair on its own, to the last bit. */
SIMD_CLONES static void half_narrow(half_step *h)
{
    int64_t i = 0;
    for (; i + NARROW * SIMD_LANES <= h->rows; i += NARROW * SIMD_LANES)
        narrow_products(h, i, NARROW);
    for (; i < h->rows; i += SIMD_LANES)
        narrow_products(h, i, 1);
    simd_f64 low = simd_all(INFINITY), high = simd_all(0), beyond = simd_all(h->beyond[0]), safe;
    h->error[0] = h->mass[0] = 0;
    for (i = 0; i < h->rows; i += SIMD_LANES) {
        simd_f64 w = simd_load(h->weight + i), old = simd_load(h->scale + i);
        simd_f64 sum = simd_load(h->sum + i), own = old * sum, off = simd_abs(own - w);
        simd_store(h->next + i, relaxed(sum, w, old, beyond, &safe));
        low = simd_min(low, safe);
        high = simd_max(high, safe);
        for (int c = 0; c < SIMD_LANES; c++) {
            h->error[0] += off[c];
            h->mass[0] += own[c];
        }
    }
    h->low[0] = -simd_highest(-low);
    h->high[0] = simd_highest(high);
}

void shared_half_run(half_step *h)
{
    if (h->width == 1)
        half_narrow(h);
    else
        half_wide(h);
}
