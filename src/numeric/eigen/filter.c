/* Chebyshev filter: with [-1, cut] mapped to [-1, 1], T_d stays within 1 there and grows fastest of
 * all polynomials above it (Zhou, Saad, Tiago, Chelikowsky 2006). All eigenvalues of M lie in [-1,
 * 1], so the lower end needs no estimate, and bipartite parts near -1 are damped like the rest.
 *
 * A device makes a whole filter at once: the matrix goes over once, a block of vectors there and back per
 * filter. Its bits are those of the processor, so eigenvectors do not depend on it, nor on when it fails. */
#include <math.h>
#include <stdio.h>

#include "base/team.h"
#include "numeric/eigen/solver.h"

/* Products with a block that a solve takes, about; with the least work worth a device it was measured when products cost
 * twice as much (today 318 to 327 on 4,000 digits, K = 3 to 30), and neither was measured again on a device. */
static const double PRODUCTS = 250;

static void filter_alone(solver *s, const char *why)
{
    device_fail(s->ctx, &s->dev, why);
    device_close(&s->dev);
}

/* Several ranks share the rows of a product: the processor, on all of them alike. */
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
    bool odd; /* some are none */
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

/* *made false: x is as it was, and the processor does this and all that follows. */
static ddsc_status filter_remote(solver *s, int64_t width, double scale, double shift,
                                 int64_t degree, const double *x, double *y, bool *made)
{
    char why[DEVICE_WORDS] = "it gave vectors that cannot be";
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
    CHECK(filter_remote(s, width, 1, 0, 1, x, y, &made));
    return made ? DDSC_OK : operator_apply(s->ctx, s->m, width, x, y);
}

double filter_growth(double cut, double lambda)
{
    double centre = (cut - 1) / 2, half = (cut + 1) / 2;
    return acosh(fmax(1, (lambda - centre) / half));
}

double filter_value(double cut, double lambda, int64_t degree)
{
    double centre = (cut - 1) / 2, half = (cut + 1) / 2, z = (lambda - centre) / half;
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

/* The bits of operator_step, which has the same sums at hand. */
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
    double centre = (cut - 1) / 2, half = (cut + 1) / 2;
    bool made, there = begun && !s->dev.state; /* a device that fails may have spoilt y */
    CHECK(filter_remote(s, x->width, 1 / half, centre, degree, x->x, y->x, &made));
    /* T_1 = (M x - c x)/h into y; then T_{d+1} = 2 (M - c)/h T_d - T_{d-1} over the older one. */
    if (!made)
        CHECK(filter_begin(s, x, y, 1 / half, centre, there));
    for (int64_t d = 1; d < degree && !made; d++) {
        CHECK(operator_step(s->ctx, s->m, x->width, 2 / half, centre, 1, y->x, x->x));
        swap_blocks(x, y);
    }
    s->n_products += begun ? degree - 1 : degree;
    swap_blocks(x, y);
    return DDSC_OK;
}
