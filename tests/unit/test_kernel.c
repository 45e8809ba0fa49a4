/* Kernels: every instruction set gives the results specified in kernels.h, bit for bit, and none
 * reads or writes out of bounds (detected by sanitizers). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "transport.h"

enum { MOST = 5 * COLUMN_BLOCK, SETS = 3 };

static void fill(double *x, int64_t n, rng *r, double scale)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = scale * rng_normal(r);
}

/* An array without padding. */
static double *exactly(int64_t n, rng *r)
{
    double *x = malloc((size_t)n * sizeof *x);
    fill(x, n, r, 1);
    return x;
}

/* ---- int32 ---- */

enum { NEAR_COUNT = MOST };

/* Checks the contract of near_best by examining every cell. */
static int32_t look_near(const int32_t *cost, const int32_t *sink, const int32_t *source,
                         int64_t rows, const int32_t *block, int64_t n_blocks, int64_t *row,
                         int64_t *column)
{
    int32_t best = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < n_blocks; k++)
            for (int64_t j = block[k] * COLUMN_BLOCK; j < (block[k] + 1) * COLUMN_BLOCK; j++)
                if (cost[i * NEAR_COUNT + j] + sink[j] - source[i] < best) {
                    best = cost[i * NEAR_COUNT + j] + sink[j] - source[i];
                    *row = i;
                    *column = j;
                }
    return best;
}

/* Values of a small range, so that ties are common. Negative values are sometimes frequent and
 * sometimes rare. */
static void test_near_kernels(void **state)
{
    (void)state;
    _Alignas(64) int32_t cost[ROW_GROUP * NEAR_COUNT], sink[NEAR_COUNT];
    int32_t source[ROW_GROUP], block[NEAR_COUNT / COLUMN_BLOCK + 1], list[] = {3, 0, 4};
    const kernels *set[3];
    rng r = rng_make(5, RNG_KMEANS, 0);
    kernel_sets(set);
    for (int trial = 0; trial < 300; trial++) {
        int64_t rows = 1 + trial % ROW_GROUP, row = -1, column = -1, own_row = -1, own_column = -1;
        for (int k = 0; k < ROW_GROUP * NEAR_COUNT; k++)
            cost[k] = (int32_t)(20 * rng_uniform(&r));
        for (int k = 0; k < NEAR_COUNT; k++)
            sink[k] = (int32_t)(20 * rng_uniform(&r)) - 10;
        for (int k = 0; k < ROW_GROUP; k++)
            source[k] = (int32_t)(8 * rng_uniform(&r)) - (trial % 3) * 8;
        int32_t best = look_near(cost, sink, source, rows, list, 3, &row, &column);
        for (int z = 0; z < 3; z++) {
            if (!set[z])
                continue;
            assert_int_equal(set[z]->near_best(cost, sink, source, rows, NEAR_COUNT, list, 3,
                                               &own_row, &own_column),
                             best);
            if (best < 0) {
                assert_int_equal(own_row, row);
                assert_int_equal(own_column, column);
            }
            int64_t found = set[z]->blocks_below(block, cost, sink, source, rows, NEAR_COUNT);
            for (int32_t b = 0, at = 0; b < NEAR_COUNT / COLUMN_BLOCK; b++) {
                bool in = look_near(cost, sink, source, rows, &b, 1, &own_row, &own_column) < 0;
                assert_true(in == (at < found && block[at] == b));
                at += in;
            }
        }
    }
}

static void test_rows(void **state)
{
    (void)state;
    _Alignas(64) int32_t cost[ROW_GROUP * MOST], sink[MOST], high[MOST], other[MOST];
    int32_t source[ROW_GROUP];
    const kernels *set[SETS];
    rng r = rng_make(6, RNG_KMEANS, 0);
    kernel_sets(set);
    for (int trial = 0; trial < 200; trial++) {
        int64_t count = COLUMN_BLOCK * (1 + trial % 5), rows = 1 + trial % ROW_GROUP;
        for (int k = 0; k < ROW_GROUP * MOST; k++)
            cost[k] = (int32_t)(30 * rng_uniform(&r));
        for (int k = 0; k < MOST; k++)
            sink[k] = (int32_t)(30 * rng_uniform(&r)) - 15;
        for (int k = 0; k < ROW_GROUP; k++)
            source[k] = (int32_t)(10 * rng_uniform(&r)) - 10 * (trial % 3);
        int32_t best = 0, least = INT32_MAX;
        int64_t row = -1, column = -1, first = 0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < count; j++)
                if (cost[i * count + j] + sink[j] - source[i] < best) {
                    best = cost[i * count + j] + sink[j] - source[i];
                    row = i;
                    column = j;
                }
        for (int64_t j = 0; j < count; j++)
            if (cost[j] + sink[j] < least) {
                least = cost[j] + sink[j];
                first = j;
            }
        for (int z = 0; z < SETS; z++) {
            int64_t own_row = -1, own_column = -1;
            if (!set[z])
                continue;
            assert_int_equal(
                set[z]->block_best(cost, sink, source, rows, count, &own_row, &own_column), best);
            assert_int_equal(own_row, row);
            assert_int_equal(own_column, column);
            assert_int_equal(set[z]->row_least(cost, sink, count), least);
            assert_int_equal(set[z]->row_best(cost, sink, count), first);
            memcpy(high, sink, sizeof high);
            set[z]->row_raise(high, cost, count, trial % 20);
            for (int64_t j = 0; j < count; j++)
                other[j] = BASE_MAX(sink[j], trial % 20 - cost[j]);
            assert_memory_equal(high, other, (size_t)count * sizeof *high);
        }
    }
}

static void test_whole_distances(void **state)
{
    (void)state;
    int32_t x[3], y[3 * MOST], out[MOST];
    const kernels *set[SETS];
    rng r = rng_make(7, RNG_KMEANS, 0);
    kernel_sets(set);
    for (int trial = 0; trial < 60; trial++) {
        int64_t d = 1 + trial % 3, count = COLUMN_BLOCK * (1 + trial % 5);
        for (int k = 0; k < 3; k++)
            x[k] = (int32_t)rng_below(&r, 2000) - 1000;
        for (int k = 0; k < 3 * MOST; k++)
            y[k] = (int32_t)rng_below(&r, 2000) - 1000;
        for (int z = 0; z < SETS; z++) {
            if (!set[z])
                continue;
            set[z]->whole_distances(out, x, y, count, d, count, trial % 4);
            for (int64_t j = 0; j < count; j++) {
                int32_t sum = 0;
                for (int64_t k = 0; k < d; k++)
                    sum += (x[k] - y[k * count + j]) * (x[k] - y[k * count + j]);
                assert_int_equal(out[j], sum << trial % 4);
            }
        }
    }
}

/* ---- trees ---- */

/* Sets from which a subtree is removed and to which it is added, and potentials of its nodes. */
static void test_masks(void **state)
{
    (void)state;
    enum { WORDS = 2 * MASK_WORDS, NODES_HERE = 7 };
    _Alignas(64) uint64_t mask[NODES_HERE * WORDS], start[NODES_HERE * WORDS], cut[WORDS];
    _Alignas(64) int32_t potential[64 * WORDS];
    _Alignas(64) double fine[64 * WORDS];
    const int32_t path[] = {0, 1, 2, 3, 4}, other[] = {5, 6};
    const kernels *set[SETS];
    rng r = rng_make(8, RNG_KMEANS, 0);
    kernel_sets(set);
    for (int trial = 0; trial < 60; trial++) {
        int64_t words = trial % 2 ? WORDS : MASK_WORDS, at = trial % 4;
        for (int k = 0; k < NODES_HERE * WORDS; k++)
            start[k] = trial % 5 == 0 && k % 3 == 0 ? 0 : rng_u64(&r);
        for (int z = 0; z < SETS; z++) {
            if (!set[z])
                continue;
            memcpy(mask, start, sizeof mask);
            set[z]->move(&(mask_move){mask, words, path, other, at, 5, 2, cut});
            for (int64_t w = 0; w < words; w++) {
                uint64_t own = start[path[at] * words + w];
                assert_true(cut[w] == own);
                if (own == 0)
                    continue;
                for (int64_t k = 0; k <= at; k++)
                    assert_true(mask[path[k] * words + w] ==
                                (k == 0 ? own : (own & ~start[path[k - 1] * words + w])));
                for (int64_t k = at + 1; k < 5; k++)
                    assert_true(mask[path[k] * words + w] == (start[path[k] * words + w] & ~own));
                for (int64_t k = 0; k < 2; k++)
                    assert_true(mask[other[k] * words + w] == (start[other[k] * words + w] | own));
            }
            for (int64_t k = 0; k < 64 * words; k++)
                fine[k] = potential[k] = (int32_t)k;
            set[z]->shift_int32(potential, start, 64 * words, -9);
            set[z]->shift_double(fine, start, 64 * words, -9);
            for (int64_t k = 0; k < 64 * words; k++) {
                int32_t moved = (int32_t)k - (start[k / 64] >> k % 64 & 1 ? 9 : 0);
                assert_int_equal(potential[k], moved);
                assert_true(fine[k] == moved);
            }
        }
    }
}

/* ---- doubles ---- */

static void check_distances(const kernels *k, int64_t d, int64_t rows, int64_t columns, rng *r)
{
    double *x = exactly(rows * d, r), *y = exactly(columns * d, r);
    double *out = malloc((size_t)(rows * columns) * sizeof *out);
    k->distances(out, columns, d, (point_block){x, rows, d, 1},
                 (point_block){y, columns, 1, columns});
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0;
            for (int64_t c = 0; c < d; c++)
                sum += (x[i * d + c] - y[c * columns + j]) * (x[i * d + c] - y[c * columns + j]);
            assert_true(out[i * columns + j] == sum);
        }
    free(x);
    free(y);
    free(out);
}

static void test_distances(void **state)
{
    (void)state;
    const kernels *set[SETS];
    rng r = rng_make(9, RNG_KMEANS, 0);
    kernel_sets(set);
    for (int z = 0; z < SETS; z++)
        for (int64_t n = 1; set[z] && n < 24; n++) {
            check_distances(set[z], 1 + n % 5, n, 1 + 7 * n % 23, &r);
            check_distances(set[z], 2, 1, n, &r);
        }
}

/* Rows of doubles: quanta, slack, range, entries below a limit, candidate arcs. */
static void check_row(const kernels *k, int64_t n, rng *r)
{
    double *cost = exactly(n, r), *sink = exactly(n, r), *out = malloc((size_t)n * sizeof *out);
    int32_t *index = malloc((size_t)(n + COLUMN_BLOCK) * sizeof *index);
    double low, high, slack, least = INFINITY, gap = INFINITY;
    fill(sink, n, r, 100);
    for (int64_t j = 0; j < n; j++)
        sink[j] = rint(sink[j]);
    double found = k->row_quanta(out, cost, sink, n, 1000);
    k->slack(&slack, cost, sink, 1, n);
    k->range(&low, &high, cost, n);
    double smallest = INFINITY, largest = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        assert_true(out[j] == rint(cost[j] * 1000) + sink[j]);
        least = fmin(least, out[j]);
        gap = fmin(gap, cost[j] - sink[j]);
        smallest = fmin(smallest, cost[j]);
        largest = fmax(largest, cost[j]);
    }
    assert_true(found == least && slack == gap && low == smallest && high == largest);
    int64_t n_below = k->collect(index, cost, n, 0.3), at = 0;
    for (int64_t j = 0; j < n; j++)
        if (cost[j] < 0.3)
            assert_int_equal(index[at++], j);
    assert_int_equal(n_below, at);
    free(cost);
    free(sink);
    free(out);
    free(index);
}

static void check_arcs(const kernels *k, int64_t count, rng *r)
{
    double cost[40], *sink = exactly(17, r), least = INFINITY;
    int32_t column[40];
    for (int64_t j = 0; j < count; j++) {
        cost[j] = rng_normal(r);
        column[j] = (int32_t)rng_below(r, 17);
        least = fmin(least, cost[j] + sink[column[j]]);
    }
    assert_true(k->arcs_least(cost, column, sink, count) == least);
    free(sink);
}

static void check_quantize(const kernels *k, int64_t n, rng *r)
{
    double *cost = exactly(n, r);
    int32_t *out = malloc((size_t)n * sizeof *out);
    for (int64_t j = 0; j < n; j++)
        cost[j] = (double)rng_below(r, 1000) / 4;
    assert_true(k->quantize(out, cost, n, 0.5, 4));
    for (int64_t j = 0; j < n; j++)
        assert_true(out[j] == (cost[j] - 0.5) * 4);
    for (int64_t spoilt = 0; spoilt < n; spoilt++) {
        double before = cost[spoilt];
        cost[spoilt] += 1e-9;
        assert_false(k->quantize(out, cost, n, 0.5, 4));
        assert_true(out[spoilt] == (before - 0.5) * 4);
        cost[spoilt] = before;
    }
    free(cost);
    free(out);
}

static void test_double_rows(void **state)
{
    (void)state;
    const kernels *set[SETS];
    rng r = rng_make(10, RNG_KMEANS, 0);
    kernel_sets(set);
    for (int z = 0; z < SETS; z++)
        for (int64_t n = 1; set[z] && n <= 40; n++) {
            check_row(set[z], n, &r);
            check_quantize(set[z], n, &r);
            if (n % 8 == 0)
                check_arcs(set[z], n, &r);
        }
}

/* Every table gives the same bits, close to the exact product, and reads nothing beyond the end. */
static void test_dots(void **state)
{
    (void)state;
    const kernels *set[3];
    kernel_sets(set);
    for (int64_t d = 1; d <= 67; d++) {
        rng r = rng_make((uint64_t)d, RNG_GAUSSIANS, 0);
        double *x[8], out[3][16];
        for (int k = 0; k < 8; k++) {
            x[k] = malloc((size_t)d * sizeof *x[k]);
            for (int64_t c = 0; c < d; c++)
                x[k][c] = rng_normal(&r);
        }
        for (int z = 0; z < 3; z++)
            if (set[z]) {
                set[z]->dots(out[z], 4, (const double *const *)x, (const double *const *)x + 4, d);
                assert_memory_equal(out[z], out[0], sizeof out[z]);
            }
        for (int k = 0; k < 16; k++) {
            long double exact = 0, size = 0;
            for (int64_t c = 0; c < d; c++) {
                long double term = (long double)x[k / 4][c] * x[4 + k % 4][c];
                exact += term;
                size += fabsl(term);
            }
            assert_true(fabsl(out[0][k] - exact) <= ((long double)d / 8 + 4) * 0x1p-53L * size);
        }
        for (int k = 0; k < 8; k++)
            free(x[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_kernels),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_whole_distances),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_double_rows),
        cmocka_unit_test(test_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
