/* The full matrix, or the triangle above the diagonal, written straight from the tiles. The
 * distance of an item to itself is 0 by definition. */
#include <math.h>

#include "engine/engine.h"

typedef struct target {
    double *out;
    int64_t n; /* items; across two sets, those of the first */
    bool condensed, squared;
} target;

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
            double value = d2[(i - t->i0) * ld + (j - t->j0)];
            if (!to->squared)
                value = sqrt(BASE_MAX(value, 0.0));
            row[j] = value;
            if (!to->condensed)
                to->out[j * to->n + i] = value;
        }
    }
}

ddsc_status matrix_fill(ddsc_context *ctx, double *out, ddsc_pair_stats *stats, int64_t n,
                        const pair_backend *backend, void *state, bool condensed, bool squared)
{
    target to = {.out = out, .n = n, .condensed = condensed, .squared = squared};
    if (!condensed)
        for (int64_t i = 0; i < n; i++)
            out[i * n + i] = 0.0;
    return tiles_run(ctx, n, backend, state, 1.0, matrix_sink, &to, stats);
}

/* Rows of the set's later items, columns of the first n_old. */
static void across_sink(void *arg, const pair_tile *t, const double *d2, int64_t ld)
{
    const target *to = arg;
    for (int64_t i = t->i0; i < BASE_MIN(t->i1, to->n); i++)
        for (int64_t j = BASE_MAX(t->j0, to->n); j < t->j1; j++) {
            double value = d2[(i - t->i0) * ld + (j - t->j0)];
            to->out[(j - to->n) * to->n + i] = to->squared ? value : sqrt(BASE_MAX(value, 0.0));
        }
}

ddsc_status matrix_fill_across(ddsc_context *ctx, double *out, ddsc_pair_stats *stats,
                               int64_t n_old, int64_t n, const pair_backend *backend, void *state,
                               bool squared)
{
    target to = {.out = out, .n = n_old, .squared = squared};
    return tiles_run_across(ctx, n_old, n, backend, state, across_sink, &to, stats);
}
