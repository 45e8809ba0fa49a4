#include "changing_set.h"

#include <stdio.h>
#include <stdlib.h>

#include "support.h"

enum { DIM = 2 };

ddsc_measures *changing_items(ddsc_context *ctx, const changing_set *p, const int64_t *number,
                              int64_t n)
{
    double *points = malloc((size_t)(n * CHANGING_POINTS * DIM) * sizeof *points);
    double *weights = malloc((size_t)(n * CHANGING_POINTS) * sizeof *weights);
    char text[CHANGING_MOST][24];
    const char *id[CHANGING_MOST];
    ddsc_cloud cloud[CHANGING_MOST];
    ddsc_measures *plain = NULL, *named = NULL;
    assert_true(points && weights && n > 0 && n <= CHANGING_MOST);
    for (int64_t i = 0; i < n; i++) {
        rng r = rng_make(5, RNG_SHAPES, (uint64_t)number[i]);
        int64_t size = p->small ? 3 + rng_below(&r, 8) : 35 + rng_below(&r, CHANGING_POINTS - 35);
        double *x = points + i * CHANGING_POINTS * DIM, *w = weights + i * CHANGING_POINTS;
        for (int64_t k = 0; k < size; k++) {
            w[k] = 0.1 + rng_uniform(&r);
            for (int64_t d = 0; d < DIM; d++)
                x[k * DIM + d] = p->images ? (double)(rng_below(&r, 24) + 5 * (number[i] % 3))
                                           : rng_normal(&r) + 4 * (double)(number[i] % 3);
        }
        cloud[i] = (ddsc_cloud){.points = x, .weights = w, .n = size};
        snprintf(text[i], sizeof text[i], "item %lld", (long long)number[i]);
        id[i] = text[i];
    }
    assert_int_equal(ddsc_measures_create_items(ctx, &plain, n, DIM, cloud, DDSC_EMPTY_ERROR), 0);
    assert_int_equal(ddsc_measures_copy_named(ctx, &named, plain, id), 0);
    ddsc_measures_destroy(plain);
    free(points);
    free(weights);
    return named;
}

void changing_step(changing_set *p, rng *r, int64_t *removed, int64_t *n_removed, int64_t *n_added)
{
    int64_t kept = 0;
    *n_removed = rng_below(r, CHANGES);
    *n_added = *n_removed == 0 ? 1 + rng_below(r, CHANGES) : rng_below(r, CHANGES);
    for (int64_t k = 0; k < *n_removed; k++)
        removed[k] = k * (p->n / CHANGES) + rng_below(r, p->n / CHANGES);
    for (int64_t i = 0, k = 0; i < p->n; i++) {
        bool goes = k < *n_removed && removed[k] == i;
        k += goes;
        if (!goes)
            p->number[kept++] = p->number[i];
    }
    for (int64_t k = 0; k < *n_added; k++)
        p->number[kept++] = p->next++;
    p->n = kept;
}
