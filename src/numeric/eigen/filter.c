/* Applies Chebyshev filters to blocks of vectors (Zhou, Saad, Tiago, Chelikowsky 2006).
 *
 * The affine map (lambda - center) / half takes [-1, cut] to [-1, 1]. On that interval, the
 * Chebyshev polynomial T_d is at most 1 in magnitude. Above the interval, T_d grows faster than any
 * other polynomial of this degree with that property. Eigenvectors above the cut are therefore
 * amplified by about exp(d acosh(z)) / 2, where z is the mapped eigenvalue. All eigenvalues of M
 * lie in [-1, 1], so the lower end need not be estimated. Eigenvalues near -1, which bipartite
 * parts of the graph cause, are damped too.
 *
 * The recurrence T_{d+1} = 2 z T_d - T_{d-1} takes one product with the block per degree. A device
 * applies the whole filter in one call. The matrix is transferred once per solve, and one block of
 * vectors is transferred in each direction per filter. The results of a device are bit-identical to
 * those of the CPU, so the eigenvectors do not depend on the device or on its failures. */
#include <math.h>
#include <stdio.h>

#include "base/team.h"
#include "numeric/eigen/solver.h"

/* Approximate number of block products per solve, for estimating the work. PRODUCTS and WORK_LEAST
 * (base/device.c) were measured when products took twice as long, and have not been re-measured on
 * a device. A solve now takes 318 to 327 products on 4,000 digits (K = 3 to 30). */
static const double PRODUCTS = 250;

static void filter_alone(solver *s, const char *why)
{
    device_fail(s->ctx, &s->dev, why);
    device_close(&s->dev);
}

/* Opens a device. With several ranks, the rows of a product are divided among them, so all ranks
 * use the CPU. */
void filter_open(solver *s)
{
    const sparse *m = s->m;
    char why[DEVICE_WORDS] = "";
    double width = (double)(s->wanted + guard_width(s->wanted));
    device_sparse rows = {m->n, m->offset, m->column, m->value};
    if (team_size(s->ctx) > 1 || !device_open(s->ctx, &s->dev, PRODUCTS * width * (double)m->nnz))
        return;
    if (!s->dev.table.filter || !s->dev.table.load_sparse) {
        device_close(&s->dev);
    } else if (s->dev.table.load_sparse(s->dev.state, &rows, why) != 0) {
        filter_alone(s, why);
    } else {
        ctx_device_used(s->ctx, s->dev.name);
        ctx_note(s->ctx, "products with the graph", ddsc_context_get_device(s->ctx),
                 "%s, %lld entries", s->dev.about.name, (long long)m->nnz);
    }
}

void filter_close(solver *s)
{
    device_close(&s->dev);
}

/* ---- filters ---- */

typedef struct numbers {
    const double *x;
    bool odd; /* true if some entry is not finite */
} numbers;

static ddsc_status look_at_numbers(void *arg, int64_t begin, int64_t end, int worker)
{
    numbers *t = arg;
    bool odd = false;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        odd |= !isfinite(t->x[k]);
    if (odd)
        __atomic_store_n(&t->odd, true, __ATOMIC_RELAXED);
    return DDSC_OK;
}

/* Applies a filter on the device. If *made is false, x is unchanged, and the CPU computes this
 * filter and all later ones. */
static ddsc_status filter_on_device(solver *s, int64_t width, double scale, double shift,
                                    int64_t degree, const double *x, double *y, bool *made)
{
    char why[DEVICE_WORDS] = "the device returned vectors with non-finite entries";
    numbers found = {.x = y};
    *made = false;
    if (!s->dev.state)
        return DDSC_OK;
    *made = s->dev.table.filter(s->dev.state, width, scale, shift, degree, x, y, why) == 0;
    if (*made)
        CHECK(parallel_for(s->ctx, s->m->n * width, 1 << 16, look_at_numbers, &found));
    *made = *made && !found.odd;
    if (!*made)
        filter_alone(s, why);
    return DDSC_OK;
}

ddsc_status filter_product(solver *s, int64_t width, const double *x, double *y)
{
    bool made;
    CHECK(filter_on_device(s, width, 1, 0, 1, x, y, &made));
    return made ? DDSC_OK : operator_apply(s->ctx, s->m, width, x, y);
}

double filter_growth(double cut, double lambda)
{
    double center = (cut - 1) / 2, half = (cut + 1) / 2;
    return acosh(fmax(1, (lambda - center) / half));
}

double filter_value(double cut, double lambda, int64_t degree)
{
    double center = (cut - 1) / 2, half = (cut + 1) / 2, z = (lambda - center) / half;
    return z > 1 ? cosh((double)degree * acosh(z)) : cos((double)degree * acos(fmax(z, -1)));
}

static void swap_blocks(panel *x, panel *y)
{
    double *swap = x->x;
    x->x = y->x;
    y->x = swap;
}

typedef struct beginning {
    const double *x;
    double *y;
    double scale, shift;
} beginning;

/* Computes the first step of the recurrence; on entry, y contains M x. The result is bit-identical
 * to that of operator_step. */
static ddsc_status begin_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const beginning *t = arg;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        t->y[k] = t->scale * (t->y[k] - t->shift * t->x[k]);
    return DDSC_OK;
}

static ddsc_status filter_begin(solver *s, const panel *x, panel *y, double scale, double shift,
                                bool begun)
{
    beginning t = {x->x, y->x, scale, shift};
    if (begun)
        return parallel_for(s->ctx, x->n * x->width, 1 << 16, begin_range, &t);
    return operator_step(s->ctx, s->m, x->width, scale, shift, 0, x->x, y->x);
}

ddsc_status filter_apply(solver *s, panel *x, panel *y, double cut, int64_t degree, bool begun)
{
    double center = (cut - 1) / 2, half = (cut + 1) / 2;
    bool made, there = begun && !s->dev.state; /* if a device failed, it may have overwritten y */
    CHECK(filter_on_device(s, x->width, 1 / half, center, degree, x->x, y->x, &made));
    /* Computes T_1 = (M x - c x) / h in y, then T_{d+1} = 2 (M - c) / h T_d - T_{d-1} in the
     * older block. */
    if (!made)
        CHECK(filter_begin(s, x, y, 1 / half, center, there));
    for (int64_t d = 1; d < degree && !made; d++) {
        CHECK(operator_step(s->ctx, s->m, x->width, 2 / half, center, 1, y->x, x->x));
        swap_blocks(x, y);
    }
    s->n_products += begun ? degree - 1 : degree;
    swap_blocks(x, y);
    return DDSC_OK;
}
