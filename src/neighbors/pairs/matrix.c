/* Copies distances from the tiles to the output array, which is the full matrix, the triangle above
 * the diagonal, or the block between two sets. The distance of an item to itself is 0 by
 * definition. */
#include <math.h>

#include "neighbors/pairs/pairs.h"

typedef struct target {
    double *out;
    int64_t n, n_old; /* number of items; number of items in the first of two sets, or -1 */
    bool condensed, squared;
} target;

static void matrix_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    const target *to = arg;
    int64_t n = to->n;
    for (int64_t i = t->i0; i < t->i1; i++)
        for (int64_t j = BASE_MAX(t->j0, i + 1); j < t->j1; j++) {
            double value = d2[(i - t->i0) * ld + (j - t->j0)];
            if (!tile_wants(t, i, j))
                continue;
            value = to->squared ? value : sqrt(BASE_MAX(value, 0.0));
            if (to->n_old >= 0)
                to->out[i * (n - to->n_old) + (j - to->n_old)] = value;
            else if (to->condensed)
                to->out[i * n - i * (i + 1) / 2 + j - i - 1] = value;
            else
                to->out[i * n + j] = to->out[j * n + i] = value;
        }
}

ddsc_status pairs_matrix(pairs *p, double *out, int64_t n_old, unsigned flags)
{
    target to = {.out = out,
                 .n = p->n,
                 .n_old = n_old,
                 .condensed = (flags & DDSC_DISTANCE_CONDENSED) != 0,
                 .squared = (flags & DDSC_DISTANCE_SQUARED) != 0};
    pair_choice choice = {.i_end = n_old, .j_begin = n_old, .sample = 1};
    if (n_old < 0)
        choice = pairs_all(p->n);
    for (int64_t i = 0; n_old < 0 && !to.condensed && i < p->n; i++)
        out[i * p->n + i] = 0.0;
    return pairs_walk_all(p, &choice, matrix_sink, &to);
}
