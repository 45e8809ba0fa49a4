/* Orders the rows and columns of a heat map so that similar ones are adjacent. */
#include <math.h>

#include "report/traits/cells.h"

enum { MOST_SWEEPS = 50 };

typedef struct table {
    const double *value;
    int64_t stride, dim, step; /* entry c of row i is value[i * stride + c * step] */
} table;

static double row_distance(const table *t, int64_t a, int64_t b)
{
    double sum = 0;
    for (int64_t c = 0; c < t->dim; c++) {
        double off = t->value[a * t->stride + c * t->step] - t->value[b * t->stride + c * t->step];
        sum += off * off;
    }
    return sqrt(sum);
}

static double row_length(const table *t, int64_t a)
{
    double sum = 0;
    for (int64_t c = 0; c < t->dim; c++)
        sum += t->value[a * t->stride + c * t->step] * t->value[a * t->stride + c * t->step];
    return sum;
}

static void swap_rows(int64_t *order, int64_t a, int64_t b)
{
    int64_t kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

static void chain(const table *t, int64_t *order, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (row_length(t, order[i]) > row_length(t, order[0]))
            swap_rows(order, 0, i);
    for (int64_t at = 1; at < n; at++) {
        int64_t best = at;
        for (int64_t i = at + 1; i < n; i++)
            if (row_distance(t, order[at - 1], order[i]) <
                row_distance(t, order[at - 1], order[best]))
                best = i;
        swap_rows(order, at, best);
    }
}

/* Reverses a segment if this shortens the path. Returns false if no reversal does. */
static bool shorten(const table *t, int64_t *order, int64_t n)
{
    bool changed = false;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = a + 1; b < n; b++) {
            double before = a > 0 ? row_distance(t, order[a - 1], order[a]) : 0;
            double after = a > 0 ? row_distance(t, order[a - 1], order[b]) : 0;
            before += b + 1 < n ? row_distance(t, order[b], order[b + 1]) : 0;
            after += b + 1 < n ? row_distance(t, order[a], order[b + 1]) : 0;
            if (!(after < before - 1e-9))
                continue;
            for (int64_t x = a, y = b; x < y; x++, y--)
                swap_rows(order, x, y);
            changed = true;
        }
    return changed;
}

void traits_seriate(int64_t *order, int64_t n, const double *rows, int64_t stride, int64_t dim,
                    int64_t step)
{
    table t = {rows, stride, dim, step};
    chain(&t, order, n);
    for (int sweep = 0; sweep < MOST_SWEEPS && shorten(&t, order, n); sweep++)
        ;
}
