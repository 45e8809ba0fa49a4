/* The kernels, written in terms of lines and vectors. The source file of each instruction set
 * includes this file and builds a table of kernels. kernels.h specifies what the kernels
 * compute. */
#include "base/simd.h"
#include "distance/simd/vector.h"

/* ---- int32 costs ---- */

TARGET static int32_t row_least(const int32_t *cost, const int32_t *sink, int64_t count)
{
    int_line best = line_at(cost, sink);
    for (int64_t j = COLUMN_BLOCK; j < count; j += COLUMN_BLOCK)
        best = line_min(best, line_at(cost + j, sink + j));
    return line_least(best);
}

TARGET static int64_t row_find(const int32_t *cost, const int32_t *sink, int32_t value)
{
    for (int64_t j = 0;; j += COLUMN_BLOCK) {
        uint32_t hit = line_equal(line_at(cost + j, sink + j), value);
        if (hit)
            return j + __builtin_ctz(hit);
    }
}

TARGET static int64_t row_best(const int32_t *cost, const int32_t *sink, int64_t count)
{
    return row_find(cost, sink, row_least(cost, sink, count));
}

TARGET static int32_t block_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                                 int64_t rows, int64_t count, int64_t *row, int64_t *column)
{
    int_line best = line_all(INT32_MAX), where = line_all(0);
    for (int64_t i = 0; i < rows; i++) {
        const int32_t *own = cost + i * count;
        int_line least = line_at(own, sink);
        for (int64_t j = COLUMN_BLOCK; j < count; j += COLUMN_BLOCK)
            least = line_min(least, line_at(own + j, sink + j));
        least = line_minus(least, source[i]);
        where = line_pick(least, best, line_all((int32_t)i), where);
        best = line_min(best, least);
    }
    if (!line_negative(best))
        return 0;
    int32_t value = line_least(best);
    *row = line_least(line_select(line_equal(best, value), where, line_all(INT32_MAX)));
    *column = row_find(cost + *row * count, sink, value + source[*row]);
    return value;
}

TARGET static int32_t near_best(const int32_t *cost, const int32_t *sink, const int32_t *source,
                                int64_t rows, int64_t count, const int32_t *block, int64_t n_blocks,
                                int64_t *row, int64_t *column)
{
    const int32_t *own[ROW_GROUP];
    int_line least[ROW_GROUP], best = line_all(0);
    int32_t from[ROW_GROUP];
    for (int64_t i = 0; i < ROW_GROUP; i++) { /* missing rows repeat the last row */
        int64_t at = BASE_MIN(i, rows - 1);
        own[i] = cost + at * count;
        from[i] = source[at];
        least[i] = line_all(INT32_MAX);
    }
    for (int64_t k = 0; k < n_blocks; k++) {
        int64_t j = (int64_t)block[k] * COLUMN_BLOCK;
        for (int i = 0; i < ROW_GROUP; i++)
            least[i] = line_min(least[i], line_at(own[i] + j, sink + j));
    }
    for (int i = 0; i < ROW_GROUP; i++) {
        least[i] = line_minus(least[i], from[i]);
        best = line_min(best, least[i]);
    }
    if (!line_negative(best))
        return 0;
    int32_t value = line_least(best);
    int64_t at = 0;
    while (!line_equal(least[at], value))
        at++;
    uint32_t hit;
    for (;; block++) {
        int64_t j = (int64_t)*block * COLUMN_BLOCK;
        if ((hit = line_equal(line_at(own[at] + j, sink + j), value + from[at])))
            break;
    }
    *row = at;
    *column = (int64_t)*block * COLUMN_BLOCK + __builtin_ctz(hit);
    return value;
}

TARGET static int64_t blocks_below(int32_t *block, const int32_t *cost, const int32_t *sink,
                                   const int32_t *limit, int64_t rows, int64_t count)
{
    int64_t found = 0;
    for (int64_t j = 0; j < count; j += COLUMN_BLOCK) {
        int_line in = line_all(0);
        for (int64_t i = 0; i < rows; i++)
            in = line_pick(line_at(cost + i * count + j, sink + j), line_all(limit[i]),
                           line_all(-1), in);
        block[found] = (int32_t)(j / COLUMN_BLOCK);
        found += line_negative(in) != 0;
    }
    return found;
}

TARGET static void row_raise(int32_t *high, const int32_t *cost, int64_t count, int32_t f)
{
    for (int64_t j = 0; j < count; j += INTS) {
        ints value = ints_max(ints_at(high + j), f - ints_at(cost + j));
        memcpy(high + j, &value, sizeof value);
    }
}

TARGET static void whole_distances(int32_t *out, const int32_t *x, const int32_t *y, int64_t stride,
                                   int64_t d, int64_t count, int shift)
{
    for (int64_t j = 0; j < count; j += INTS) {
        uints sum = {0}; /* padding beyond the points may wrap around */
        for (int64_t k = 0; k < d; k++) {
            uints t = (uint32_t)x[k] - (uints)ints_at(y + k * stride + j);
            sum += t * t;
        }
        sum <<= shift;
        memcpy(out + j, &sum, sizeof sum);
    }
}

OP bool quantize_some(int32_t *out, const double *cost, int64_t n, double offset, double scale)
{
    return doubles_round(out, (doubles_some(cost, n) - offset) * scale, n);
}

TARGET static bool quantize(int32_t *out, const double *cost, int64_t count, double offset,
                            double scale)
{
    bool exact = true;
    int64_t j = 0;
    for (; j + LONGS <= count; j += LONGS)
        exact &= quantize_some(out + j, cost + j, LONGS, offset, scale);
    return (j == count || quantize_some(out + j, cost + j, count - j, offset, scale)) && exact;
}

/* ---- trees ---- */

/* Processes `count` vectors of every affected mask, starting at word w. */
OP void move_words(mask_move m, int64_t w, int count)
{
    uint64_t *mask = m.mask + w;
    longs cut[2], any = {0};
    for (int v = 0; v < count; v++) {
        cut[v] = longs_at(mask + m.path[m.at] * m.words + v * LONGS);
        longs_put(m.cut + w + v * LONGS, cut[v]);
        any |= cut[v];
    }
    if (!longs_any(any))
        return;
    for (int64_t k = m.at + 1; k < m.length; k++) {
        uint64_t *own = mask + m.path[k] * m.words;
        for (int v = 0; v < count; v++)
            longs_put(own + v * LONGS, longs_at(own + v * LONGS) & ~cut[v]);
    }
    for (int64_t k = 0; k < m.n_other; k++) {
        uint64_t *own = mask + m.other[k] * m.words;
        for (int v = 0; v < count; v++)
            longs_put(own + v * LONGS, longs_at(own + v * LONGS) | cut[v]);
    }
    for (int64_t k = m.at; k > 0; k--) {
        uint64_t *own = mask + m.path[k] * m.words, *below = mask + m.path[k - 1] * m.words;
        for (int v = 0; v < count; v++)
            longs_put(own + v * LONGS, cut[v] & ~longs_at(below + v * LONGS));
    }
    for (int v = 0; v < count; v++)
        longs_put(mask + m.path[0] * m.words + v * LONGS, cut[v]);
}

/* Moves a subtree. Vectors as long as a cache line are processed in pairs. Shorter vectors are
 * processed one at a time, because masks are padded to MASK_WORDS and an empty half can be
 * skipped. */
TARGET static void move(const mask_move *m)
{
    enum { TOGETHER = PARTS == 1 ? 2 : 1 };
    int64_t w = 0;
    for (; w + TOGETHER * LONGS <= m->words; w += TOGETHER * LONGS)
        move_words(*m, w, TOGETHER);
    if (w < m->words)
        move_words(*m, w, 1);
}

TARGET static void shift_int32(int32_t *potential, const uint64_t *mask, int64_t count, int32_t by)
{
    for (int64_t j = 0; j < count; j += COLUMN_BLOCK) {
        uint32_t bits = (uint32_t)(mask[j / 64] >> j % 64);
        for (int p = 0; p < PARTS; p++) {
            ints old = ints_at(potential + j + p * INTS);
            old = ints_select(bits >> p * INTS, old + by, old);
            memcpy(potential + j + p * INTS, &old, sizeof old);
        }
    }
}

TARGET static void shift_double(double *potential, const uint64_t *mask, int64_t count, double by)
{
    for (int64_t j = 0; j < count; j += 8) {
        uint32_t bits = (uint32_t)(mask[j / 64] >> j % 64);
        for (int p = 0; p < PARTS; p++) {
            doubles old = doubles_at(potential + j + p * LONGS), new = old + by;
            longs kept = longs_select(bits >> p * LONGS, (longs) new, (longs)old);
            memcpy(potential + j + p * LONGS, &kept, sizeof kept);
        }
    }
}

/* ---- doubles ----
 * Each kernel processes whole vectors first and then the remaining values in the first lanes of a
 * vector. */

/* Computes the distances between a few rows and n columns. Processing several rows at a time hides
 * the latency of the additions. */
OP void some_distances(double *out, int64_t ld, int64_t d, const point_block *x, int64_t i,
                       const point_block *y, int64_t j, int rows, int64_t n)
{
    doubles sum[4] = {0};
    const double *at = x->x + i * x->step;
    for (int64_t k = 0; k < d; k++) {
        doubles to = doubles_some(y->x + k * y->axis + j, n);
        for (int r = 0; r < rows; r++) {
            doubles t = at[r * x->step + k * x->axis] - to;
            sum[r] += t * t;
        }
    }
    for (int r = 0; r < rows; r++)
        doubles_put(out + (i + r) * ld + j, sum[r], n);
}

OP void row_distances(double *out, int64_t ld, int64_t d, const point_block *x, int64_t i,
                      const point_block *y, int rows)
{
    int64_t j = 0;
    for (; j + LONGS <= y->n; j += LONGS)
        some_distances(out, ld, d, x, i, y, j, rows, LONGS);
    if (j < y->n)
        some_distances(out, ld, d, x, i, y, j, rows, y->n - j);
}

TARGET static void distances(double *out, int64_t ld, int64_t d, point_block rows,
                             point_block columns)
{
    int64_t i = 0;
    for (; i + 4 <= rows.n; i += 4)
        row_distances(out, ld, d, &rows, i, &columns, 4);
    for (; i < rows.n; i++)
        row_distances(out, ld, d, &rows, i, &columns, 1);
}

TARGET static void range(double *low, double *high, const double *value, int64_t count)
{
    doubles first = doubles_all(value[0]), least = first, most = -first; /* `most` holds -value */
    int64_t j = 0;
    for (; j + LONGS <= count; j += LONGS) {
        least = doubles_min(doubles_at(value + j), least);
        most = doubles_min(-doubles_at(value + j), most);
    }
    if (j < count) {
        doubles x = doubles_first(count - j, doubles_some(value + j, count - j), first);
        least = doubles_min(x, least);
        most = doubles_min(-x, most);
    }
    *low = doubles_least(least);
    *high = -doubles_least(most);
}

TARGET static void slack(double *f, const double *cost, const double *g, int64_t rows,
                         int64_t count)
{
    const doubles far = doubles_all(INFINITY);
    for (int64_t i = 0; i < rows; i++, cost += count) {
        doubles least = far;
        int64_t j = 0;
        for (; j + LONGS <= count; j += LONGS)
            least = doubles_min(doubles_at(cost + j) - doubles_at(g + j), least);
        if (j < count) {
            int64_t n = count - j;
            doubles own = doubles_some(cost + j, n) - doubles_some(g + j, n);
            least = doubles_min(doubles_first(n, own, far), least);
        }
        f[i] = doubles_least(least);
    }
}

OP doubles some_quanta(double *out, const double *cost, const double *sink, int64_t n, double scale)
{
    const double magic = 0x1.8p52; /* adding and subtracting it rounds to an integer */
    doubles value = (doubles_some(cost, n) * scale + magic) - magic + doubles_some(sink, n);
    doubles_put(out, value, n);
    return doubles_first(n, value, doubles_all(INFINITY));
}

TARGET static double row_quanta(double *out, const double *cost, const double *sink, int64_t count,
                                double scale)
{
    doubles least = doubles_all(INFINITY);
    int64_t j = 0;
    for (; j + LONGS <= count; j += LONGS)
        least = doubles_min(some_quanta(out + j, cost + j, sink + j, LONGS, scale), least);
    if (j < count)
        least = doubles_min(some_quanta(out + j, cost + j, sink + j, count - j, scale), least);
    return doubles_least(least);
}

TARGET static int64_t collect_below(int32_t *index, const double *value, int64_t count,
                                    double limit)
{
    const doubles high = doubles_all(limit);
    int64_t found = 0, j = 0;
    for (; j + LONGS <= count; j += LONGS)
        found += put_numbers(index + found, doubles_less(doubles_at(value + j), high), (int32_t)j);
    if (j < count) {
        uint32_t hit = doubles_less(doubles_some(value + j, count - j), high);
        found += put_numbers(index + found, hit & ((1u << (count - j)) - 1), (int32_t)j);
    }
    return found;
}

TARGET static double arcs_least(const double *cost, const int32_t *column, const double *sink,
                                int64_t count)
{
    doubles least = doubles_all(INFINITY);
    for (int64_t k = 0; k < count; k += LONGS)
        least = doubles_min(doubles_at(cost + k) + doubles_gather(sink, column + k), least);
    return doubles_least(least);
}

/* Loads up to eight values, and sets the other lanes to 0. */
OP double_line eight_at(const double *from, int64_t n)
{
    double_line x = {0};
    for (int p = 0; p < PARTS && p * LONGS < n; p++)
        x.part[p] = doubles_some(from + p * LONGS, BASE_MIN(LONGS, n - p * LONGS));
    return x;
}

/* Adds the products of values k .. k + n - 1 for some rows and DOT_SIDE columns. */
OP void add_products(double_line (*sum)[DOT_SIDE], const double *const *row,
                     const double *const *column, int rows, int64_t k, int64_t n)
{
    double_line y[DOT_SIDE];
    for (int c = 0; c < DOT_SIDE; c++)
        y[c] = eight_at(column[c] + k, n);
    for (int r = 0; r < rows; r++) {
        double_line x = eight_at(row[r] + k, n);
        for (int c = 0; c < DOT_SIDE; c++)
            for (int p = 0; p < PARTS; p++)
                sum[r][c].part[p] = doubles_fma(x.part[p], y[c].part[p], sum[r][c].part[p]);
    }
}

OP void put_sums(double *out, const double_line *x)
{
#if VECTOR_BYTES == 64
    doubles ab = SIMD_FOLD_TWO(x[0].part[0], x[1].part[0]);
    doubles cd = SIMD_FOLD_TWO(x[2].part[0], x[3].part[0]), q = SIMD_FOLD_FOUR(ab, cd);
    _mm256_storeu_pd(out, _mm512_castpd512_pd256(D(q)) + _mm512_extractf64x4_pd(D(q), 1));
#elif VECTOR_BYTES == 32
    for (int c = 0; c < DOT_SIDE; c++) {
        doubles four = x[c].part[0] + x[c].part[1];
        out[c] = (four[0] + four[2]) + (four[1] + four[3]);
    }
#else
    for (int c = 0; c < DOT_SIDE; c++) {
        doubles two = (x[c].part[0] + x[c].part[2]) + (x[c].part[1] + x[c].part[3]);
        out[c] = two[0] + two[1];
    }
#endif
}

TARGET static void dot_block(double *out, int64_t ld, const double *const *row,
                             const double *const *column, int64_t d)
{
    enum { ROWS = PARTS == 1 ? DOT_SIDE : 1 }; /* number of rows whose sums fit in registers */
    for (int r = 0; r < DOT_SIDE; r += ROWS) {
        double_line sum[ROWS][DOT_SIDE] = {0};
        int64_t k = 0;
        for (; k + 8 <= d; k += 8)
            add_products(sum, row + r, column, ROWS, k, 8);
        if (k < d)
            add_products(sum, row + r, column, ROWS, k, d - k);
        for (int q = 0; q < ROWS; q++)
            put_sums(out + (r + q) * ld, sum[q]);
    }
}

#include "distance/simd/tiny.h"

const kernels KERNELS = {
    .name = KERNELS_NAME,
    .block_best = block_best,
    .near_best = near_best,
    .row_best = row_best,
    .row_least = row_least,
    .blocks_below = blocks_below,
    .row_raise = row_raise,
    .whole_distances = whole_distances,
    .quantize = quantize,
    .move = move,
    .shift_int32 = shift_int32,
    .shift_double = shift_double,
    .tiny = solve_tiny,
    .distances = distances,
    .dots = dot_block,
    .range = range,
    .slack = slack,
    .row_quanta = row_quanta,
    .collect = collect_below,
    .arcs_least = arcs_least,
};
