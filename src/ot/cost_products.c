/* Squared distances between the points of two items as |x|^2 + |y|^2 - 2 xy: in many dimensions a
 * good deal less work than differences. Every product is summed in eight lanes in a fixed order, so
 * a cost is a function of its two points alone, whatever is computed beside it. */
#include "base/simd.h"
#include "linalg/linalg.h"
#include "ot/ot.h"

enum { ROWS = 4, COLUMNS = 4 };

/* Below this part of the norms too much has cancelled. A product of d terms in eight lanes is good
 * to (d/8 + 4) 2^-53 |x||y|, a norm likewise, hence a cost that is kept to 32 (d/8 + 6) 2^-53 of
 * itself: 7e-14 at d = 100. */
static const double trusted = 0x1p-4;

typedef struct block {
    const double *row[ROWS], *column[COLUMNS];
} block;

/* The last lanes of a point; those that whole steps have counted are zero. */
SIMD_INLINE simd_f64 tail_of(const double *x, int64_t d)
{
    simd_i64 lane = {0, 1, 2, 3, 4, 5, 6, 7}, keep = lane >= SIMD_LANES - d % SIMD_LANES;
    return (simd_f64)((simd_i64)simd_load(x + d - SIMD_LANES) & keep);
}

/* out[c * ROWS + r] = row_r . column_c; d >= SIMD_LANES. */
SIMD_CLONES static void products(double *out, const block *b, int64_t d)
{
    simd_f64 sum[COLUMNS][ROWS];
    for (int c = 0; c < COLUMNS; c++)
        for (int r = 0; r < ROWS; r++)
            sum[c][r] = simd_load(b->row[r]) * simd_load(b->column[c]);
    for (int64_t k = SIMD_LANES; k + SIMD_LANES <= d; k += SIMD_LANES)
        for (int c = 0; c < COLUMNS; c++)
            for (int r = 0; r < ROWS; r++)
                sum[c][r] += simd_load(b->row[r] + k) * simd_load(b->column[c] + k);
    if (d % SIMD_LANES > 0)
        for (int c = 0; c < COLUMNS; c++)
            for (int r = 0; r < ROWS; r++)
                sum[c][r] += tail_of(b->row[r], d) * tail_of(b->column[c], d);
    for (int c = 0; c < COLUMNS; c++)
        simd_store4(out + c * ROWS, simd_four_sums(sum[c][0], sum[c][1], sum[c][2], sum[c][3]));
}

SIMD_CLONES static void squares(double *out, const block *b, int64_t d)
{
    simd_f64 sum[ROWS];
    for (int r = 0; r < ROWS; r++)
        sum[r] = simd_load(b->row[r]) * simd_load(b->row[r]);
    for (int64_t k = SIMD_LANES; k + SIMD_LANES <= d; k += SIMD_LANES)
        for (int r = 0; r < ROWS; r++)
            sum[r] += simd_load(b->row[r] + k) * simd_load(b->row[r] + k);
    if (d % SIMD_LANES > 0)
        for (int r = 0; r < ROWS; r++)
            sum[r] += tail_of(b->row[r], d) * tail_of(b->row[r], d);
    simd_store4(out, simd_four_sums(sum[0], sum[1], sum[2], sum[3]));
}

/* Beyond the end the last point again. */
static void point_to(const double **out, int count, const measures *m, item_view item, int64_t at)
{
    for (int k = 0; k < count; k++)
        out[k] = measures_point(m, item.index[BASE_MIN(at + k, item.n - 1)]);
}

/* Room in `out` for whole blocks. */
static double norms(double *out, const measures *m, item_view item)
{
    double largest = 0;
    for (int64_t p = 0; p < item.n; p += ROWS) {
        block b;
        point_to(b.row, ROWS, m, item, p);
        squares(out + p, &b, m->d);
        for (int r = 0; r < ROWS; r++)
            largest = BASE_MAX(largest, out[p + r]);
    }
    return largest;
}

/* Products of one row become costs; is one of them spoilt? */
SIMD_CLONES static bool add_norms(double *cost, double own, const double *norm2, int64_t m)
{
    int64_t n_spoilt = 0;
    for (int64_t j = 0; j < m; j++) {
        double both = own + norm2[j], value = both - 2 * cost[j];
        cost[j] = value;
        n_spoilt += !(value >= trusted * both);
    }
    return n_spoilt > 0;
}

static void repair_row(double *cost, const double *x, const measures *my, item_view y, double own,
                       const double *norm2)
{
    for (int64_t j = 0; j < y.n; j++)
        if (!(cost[j] >= trusted * (own + norm2[j])))
            cost[j] = la_distance2(my->d, x, measures_point(my, y.index[j]));
}

static void multiply(double *cost, const measures *mx, item_view x, const measures *my, item_view y)
{
    double product[COLUMNS * ROWS];
    block b;
    for (int64_t p = 0; p < x.n; p += ROWS) {
        int64_t rows = BASE_MIN(ROWS, x.n - p);
        point_to(b.row, ROWS, mx, x, p);
        for (int64_t q = 0; q < y.n; q += COLUMNS) {
            point_to(b.column, COLUMNS, my, y, q);
            products(product, &b, mx->d);
            for (int64_t c = 0; c < BASE_MIN(COLUMNS, y.n - q); c++)
                for (int64_t r = 0; r < rows; r++)
                    cost[(p + r) * y.n + q + c] = product[c * ROWS + r];
        }
    }
}

int64_t cost_products_room(int64_t n, int64_t m)
{
    return n + m + 2 * ROWS;
}

bool cost_products(const measures *mx, int64_t i, const measures *my, int64_t j, double *cost,
                   double *room)
{
    item_view x = measures_item(mx, i), y = measures_item(my, j);
    double *x_norm = room, *y_norm = room + x.n + ROWS;
    double largest = norms(x_norm, mx, x), other = norms(y_norm, my, y);
    largest = BASE_MAX(largest, other);
    if (!(largest > 1e-160 && largest < 1e160))
        return false;
    multiply(cost, mx, x, my, y);
    for (int64_t p = 0; p < x.n; p++)
        if (add_norms(cost + p * y.n, x_norm[p], y_norm, y.n))
            repair_row(cost + p * y.n, measures_point(mx, x.index[p]), my, y, x_norm[p], y_norm);
    return true;
}
