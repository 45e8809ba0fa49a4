#include "ot/cost_table.h"

#include "base/simd.h"
#include "linalg/linalg.h"

enum { ROWS = 4, VECTORS = 2, COLUMNS = VECTORS * SIMD_LANES };

static int64_t whole(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

int64_t cost_list_room(int64_t n, int64_t d)
{
    return whole(n, COLUMNS) * (d + 1);
}

int64_t cost_table_stride(int64_t n_columns)
{
    return whole(n_columns, COLUMNS);
}

int64_t cost_table_size(int64_t n_rows, int64_t n_columns)
{
    return whole(n_rows, ROWS) * cost_table_stride(n_columns);
}

/* Coordinates of point p go to `to`, `step` apart; beyond the end the last point again. */
static void load_point(const cost_list *list, const points *table, int64_t p, double *to,
                       int64_t step)
{
    const double *from = table->x + list->index[BASE_MIN(p, list->n - 1)] * table->d;
    double norm2 = 0;
    for (int64_t k = 0; k < table->d; k++) {
        double x = from[k] - table->centre[k];
        to[k * step] = x;
        norm2 += x * x;
    }
    list->norm2[p] = norm2;
}

void cost_list_rows(cost_list *list, double *room, const points *table, int64_t n,
                    const int32_t *index)
{
    int64_t d = table->d;
    *list = (cost_list){.n = n, .index = index, .x = room, .norm2 = room + whole(n, ROWS) * d};
    for (int64_t p = 0; p < whole(n, ROWS); p++)
        load_point(list, table, p, list->x + p * d, 1);
}

void cost_list_columns(cost_list *list, double *room, const points *table, int64_t n,
                       const int32_t *index)
{
    int64_t d = table->d;
    *list = (cost_list){.n = n, .index = index, .x = room, .norm2 = room + whole(n, COLUMNS) * d};
    for (int64_t q = 0; q < whole(n, COLUMNS); q++)
        load_point(list, table, q, list->x + q / COLUMNS * COLUMNS * d + q % COLUMNS, COLUMNS);
}

/* One block of rows by one of columns; are some spoilt by cancellation? */
SIMD_INLINE simd_i64 block_costs(const double *row, const double *row_norm2, int64_t d,
                                 const double *column, const double *norm2, double *out,
                                 int64_t stride)
{
    simd_f64 sum[ROWS][VECTORS];
    simd_i64 spoilt = {0};
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = simd_all(0);
    for (int64_t k = 0; k < d; k++)
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] += row[r * d + k] * simd_load(column + k * COLUMNS + v * SIMD_LANES);
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) {
            simd_f64 both = row_norm2[r] + simd_load(norm2 + v * SIMD_LANES);
            simd_f64 value = both - 2.0 * sum[r][v];
            spoilt |= ~((value >= COST_TRUSTED * both) & (both <= 1e300));
            simd_store(out + r * stride + v * SIMD_LANES, value);
        }
    return spoilt;
}

SIMD_CLONES static bool all_costs(const cost_list *rows, const cost_list *columns, int64_t p,
                                  int64_t q, int64_t d, double *out, int64_t stride)
{
    simd_i64 spoilt = block_costs(rows->x + p * d, rows->norm2 + p, d, columns->x + q * d,
                                  columns->norm2 + q, out + p * stride + q, stride);
    int64_t any = 0;
    for (int k = 0; k < SIMD_LANES; k++)
        any |= spoilt[k];
    return any != 0;
}

/* Spoilt entries of a block again, from differences. */
static void mend(const points *table, const cost_list *rows, const cost_list *columns, int64_t p0,
                 int64_t q0, double *out, int64_t stride)
{
    int64_t d = table->d;
    for (int64_t p = p0; p < BASE_MIN(rows->n, p0 + ROWS); p++)
        for (int64_t q = q0; q < BASE_MIN(columns->n, q0 + COLUMNS); q++) {
            double both = rows->norm2[p] + columns->norm2[q], *value = out + p * stride + q;
            if (!(*value >= COST_TRUSTED * both && both <= 1e300))
                *value = la_distance2(d, table->x + rows->index[p] * d,
                                      table->x + columns->index[q] * d);
        }
}

/* Sixteen columns stay in the nearest cache while all rows pass. */
void cost_table_fill(const points *table, const cost_list *rows, const cost_list *columns,
                     double *out)
{
    int64_t stride = cost_table_stride(columns->n);
    for (int64_t q = 0; q < columns->n; q += COLUMNS)
        for (int64_t p = 0; p < rows->n; p += ROWS)
            if (all_costs(rows, columns, p, q, table->d, out, stride))
                mend(table, rows, columns, p, q, out, stride);
}
