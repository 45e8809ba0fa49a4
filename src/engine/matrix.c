/* The full matrix, or the triangle above the diagonal, written straight from the tiles. The
 * distance of an item to itself is 0 by definition. */
#include <math.h>

#include "engine/pairs.h"

typedef struct target {
    double *out;
    int64_t n; /* items; across two sets, those of the first */
    bool condensed, squared;
} target;

static double value_of(const target *to, double d2)
{
    return to->squared ? d2 : sqrt(BASE_MAX(d2, 0.0));
}

/* Where the entries (i, j), j > i, of row i start in the condensed form, less i + 1. */
static int64_t condensed_row(int64_t n, int64_t i)
{
    return i * n - i * (i + 1) / 2 - i - 1;
}

static void matrix_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    const target *to = arg;
    for (int64_t i = t->i0; i < t->i1; i++) {
        double *row = to->out + (to->condensed ? condensed_row(to->n, i) : i * to->n);
        for (int64_t j = BASE_MAX(t->j0, i + 1); j < t->j1; j++) {
            row[j] = value_of(to, d2[(i - t->i0) * ld + (j - t->j0)]);
            if (!to->condensed)
                to->out[j * to->n + i] = row[j];
        }
    }
}

ddsc_status pairs_matrix(pairs *p, double *out, bool condensed, bool squared)
{
    target to = {.out = out, .n = p->n, .condensed = condensed, .squared = squared};
    pair_choice all = pairs_all(p->n);
    for (int64_t i = 0; !condensed && i < p->n; i++)
        out[i * p->n + i] = 0.0;
    return pairs_walk(p, &all, matrix_sink, &to);
}

/* Rows of the later items, columns of the first. */
static void cross_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    const target *to = arg;
    for (int64_t i = t->i0; i < BASE_MIN(t->i1, to->n); i++)
        for (int64_t j = BASE_MAX(t->j0, to->n); j < t->j1; j++)
            to->out[(j - to->n) * to->n + i] = value_of(to, d2[(i - t->i0) * ld + (j - t->j0)]);
}

ddsc_status pairs_cross_matrix(pairs *p, double *out, int64_t n_old, bool squared)
{
    target to = {.out = out, .n = n_old, .squared = squared};
    pair_choice across = {.i_end = n_old, .j_begin = n_old, .sample = 1};
    return pairs_walk(p, &across, cross_sink, &to);
}
