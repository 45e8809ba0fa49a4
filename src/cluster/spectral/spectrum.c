/* Collects the reported eigenvalues: those of the computed eigenvectors, and those of small
 * components that the decomposition excluded. Together they are the smallest eigenvalues of the
 * whole Laplacian. */
#include <math.h>
#include <string.h>

#include "cluster/spectral/decompose.h"
#include "numeric/linalg/linalg.h"

/* The components that were excluded from the decomposition. They have at most tau + 1 items, so
 * they are solved as dense problems. */
typedef struct strays {
    ddsc_context *ctx;
    const decomposition *d;
    double *value, *residual; /* n_left_out entries each */
    int64_t n;
    int32_t *item, *place; /* items of the current component; index of each item in the component */
    bool *seen;
    double *matrix, *copy, *vectors, *values;
} strays;

static void strays_free(strays *s)
{
    MEM_FREE(s->ctx, s->value, s->residual);
    MEM_FREE(s->ctx, s->item, s->place);
    MEM_FREE(s->ctx, s->seen, s->matrix);
    MEM_FREE(s->ctx, s->copy, s->vectors);
    mem_free(s->ctx, s->values);
}

static ddsc_status strays_allocate(strays *s)
{
    int64_t side = s->d->tau + 1;
    CHECK(MEM_NEW(s->ctx, s->value, s->d->n_left_out));
    CHECK(MEM_NEW(s->ctx, s->residual, s->d->n_left_out));
    CHECK(MEM_NEW(s->ctx, s->item, s->d->n_left_out));
    CHECK(MEM_NEW(s->ctx, s->place, s->d->n));
    CHECK(MEM_ZERO(s->ctx, s->seen, s->d->n));
    CHECK(MEM_NEW(s->ctx, s->matrix, side * side));
    CHECK(MEM_NEW(s->ctx, s->copy, side * side));
    CHECK(MEM_NEW(s->ctx, s->vectors, side * side));
    return MEM_NEW(s->ctx, s->values, side);
}

/* Collects the items of one component in breadth-first order and returns their number. */
static int64_t gather_component(strays *s, int32_t from)
{
    const sparse *a = &s->d->a;
    int64_t size = 0;
    s->item[size++] = from;
    s->seen[from] = true;
    for (int64_t k = 0; k < size; k++) {
        s->place[s->item[k]] = (int32_t)k;
        for (int64_t p = a->offset[s->item[k]]; p < a->offset[s->item[k] + 1]; p++)
            if (!s->seen[a->column[p]]) {
                s->seen[a->column[p]] = true;
                s->item[size++] = a->column[p];
            }
    }
    return size;
}

/* Computes the eigenvalues of M = S^-1/2 A S^-1/2 on the collected items, and their residuals |M v
 * - lambda v|. */
static ddsc_status solve_component(strays *s, int64_t size)
{
    const sparse *a = &s->d->a;
    memset(s->matrix, 0, (size_t)(size * size) * sizeof *s->matrix);
    for (int64_t k = 0; k < size; k++)
        for (int64_t p = a->offset[s->item[k]]; p < a->offset[s->item[k] + 1]; p++)
            s->matrix[k * size + s->place[a->column[p]]] =
                a->value[p] / sqrt(s->d->degree[s->item[k]] * s->d->degree[a->column[p]]);
    memcpy(s->copy, s->matrix, (size_t)(size * size) * sizeof *s->copy);
    CHECK(la_eigen_symmetric(s->ctx, size, s->copy, s->values, s->vectors));
    for (int64_t k = 0; k < size; k++) {
        const double *v = s->vectors + k * size;
        double sum = 0;
        for (int64_t i = 0; i < size; i++) {
            double r = -s->values[k] * v[i];
            for (int64_t j = 0; j < size; j++)
                r += s->matrix[i * size + j] * v[j];
            sum += r * r;
        }
        s->value[s->n] = fmax(1 - s->values[k], 0);
        s->residual[s->n++] = sqrt(sum);
    }
    return DDSC_OK;
}

/* Solves all excluded components. An isolated item has one eigenvalue, which is 0. */
static ddsc_status solve_strays(strays *s)
{
    if (s->d->n_left_out == 0)
        return DDSC_OK;
    CHECK(strays_allocate(s));
    for (int32_t i = 0; i < s->d->n; i++) {
        if (s->d->part[i] >= 0 || s->seen[i])
            continue;
        int64_t size = gather_component(s, i);
        if (size > 1)
            CHECK(solve_component(s, size));
        else
            s->value[s->n] = s->residual[s->n] = 0, s->n++;
    }
    return DDSC_OK;
}

ddsc_status cluster_spectrum(ddsc_context *ctx, ddsc_clustering *c, const decomposition *d)
{
    ddsc_status status = DDSC_OK;
    strays s = {.ctx = ctx, .d = d};
    const eigen_result *e = &d->eigen;
    int32_t *order = NULL;
    double *value = NULL, *residual = NULL;
    int64_t n = e->k;
    TRY(solve_strays(&s));
    TRY(MEM_NEW(ctx, value, e->k + s.n));
    TRY(MEM_NEW(ctx, residual, e->k + s.n));
    TRY(MEM_NEW(ctx, order, e->k + s.n));
    TRY(MEM_NEW(ctx, c->eigenvalues, e->k));
    TRY(MEM_NEW(ctx, c->spectrum, e->k + s.n));
    TRY(MEM_NEW(ctx, c->residuals, e->k + s.n));
    double last = 0;
    for (int64_t k = 0; k < e->k; k++) {
        value[k] = c->eigenvalues[k] = fmax(1 - e->value[k], 0);
        residual[k] = e->residual[k];
        last = fmax(last, value[k]);
    }
    /* The list is incomplete beyond the largest computed eigenvalue, so larger values are
     * omitted. */
    for (int64_t k = 0; k < s.n; k++)
        if (s.value[k] <= last) {
            value[n] = s.value[k];
            residual[n++] = s.residual[k];
        }
    sort_order(order, value, n);
    for (int64_t k = 0; k < n; k++) {
        c->spectrum[k] = value[order[k]];
        c->residuals[k] = residual[order[k]];
        c->view.max_residual = fmax(c->view.max_residual, c->residuals[k]);
    }
    c->view.eigenvalues = c->spectrum;
    c->view.residuals = c->residuals;
    c->view.n_eigenvalues = n;
    c->view.verified = e->verified;
    c->view.eigen_dense = e->dense;
    c->view.n_eigen_products = e->n_products;
done:
    MEM_FREE(ctx, value, residual);
    mem_free(ctx, order);
    strays_free(&s);
    return status;
}
