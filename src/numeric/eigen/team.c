/* A team's own solver (ddsc_team.eigen, such as SLEPc over ranks): each rank hands over its rows of the
 * operator and of the exact vectors, and gets its rows of the vectors found.
 *
 * Rows are handed over as a copy in which neighbours stand together: the vector that a product reads stays in cache
 * (a million items on 4 ranks: 63 CPU seconds for 101 in the order of the file). */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "numeric/eigen/order.h"
#include "numeric/eigen/solver.h"

enum { ROWS_A_PIECE = 1024 };

/* The own rows as they are handed over. */
typedef struct handed {
    const solver *s;
    int32_t *item, *place; /* of order_own */
    sparse m;              /* the own rows, columns of all */
    double *known, *vector;
    int64_t n_told; /* pairs, to the progress callback */
} handed;

static ddsc_status handed_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const handed *h = arg;
    const sparse *m = h->s->m;
    const panel *exact = &h->s->exact;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        int32_t i = h->item[p];
        int64_t to = h->m.offset[p];
        memcpy(h->known + p * exact->width, exact->x + (i - h->s->own.begin) * exact->stride,
               (size_t)exact->width * sizeof *h->known);
        if (h->s->component[i] < 0) {
            h->m.column[to] = h->place[i];
            h->m.value[to] = AWAY;
            continue;
        }
        for (int64_t q = m->offset[i]; q < m->offset[i + 1]; q++, to++) {
            h->m.column[to] = h->place[m->column[q]];
            h->m.value[to] = m->value[q];
        }
    }
    return DDSC_OK;
}

/* An item left out has nothing but a diagonal entry. None of the others is linked to it. */
static int64_t entries_of(const solver *s, int32_t item)
{
    return s->component[item] < 0 ? 1 : s->m->offset[item + 1] - s->m->offset[item];
}

static ddsc_status handed_make(handed *h)
{
    const solver *s = h->s;
    ddsc_context *ctx = s->ctx;
    int64_t n = s->own.end - s->own.begin, nnz = 0;
    CHECK(MEM_NEW(ctx, h->item, n));
    CHECK(MEM_NEW(ctx, h->place, s->m->n));
    CHECK(order_own(ctx, h->item, h->place, s->m, s->own, s->component));
    for (int64_t p = 0; p < n; p++)
        nnz += entries_of(s, h->item[p]);
    CHECK(sparse_new(ctx, &h->m, n, nnz));
    for (int64_t p = 0; p < n; p++)
        h->m.offset[p + 1] = h->m.offset[p] + entries_of(s, h->item[p]);
    CHECK(MEM_NEW(ctx, h->known, n * s->exact.width));
    CHECK(MEM_NEW(ctx, h->vector, n * s->wanted));
    return parallel_for(ctx, n, ROWS_A_PIECE, handed_rows, h);
}

/* ddsc_team_eigen.multiply. A rank that is to stop makes nothing of y, and the solver asks all ranks about that soon. */
static int handed_multiply(void *user, const double *x, double *y)
{
    const handed *h = user;
    ddsc_status status = operator_apply_rows(h->s->ctx, &h->m, (team_part){0, h->m.n}, 1, x, y);
    if (status == DDSC_ERROR_CANCELLED)
        memset(y, 0, (size_t)h->m.n * sizeof *y);
    return status < 0 && status != DDSC_ERROR_CANCELLED;
}

static void tell(void *user, int64_t n_found)
{
    handed *h = user;
    int64_t n = BASE_MIN(n_found, h->s->wanted);
    if (n <= h->n_told)
        return;
    progress_add(h->s->ctx, n - h->n_told);
    h->n_told = n;
}

/* Rows back in their places. In those of items left out rounding leaves traces, which would be rows like any other
 * once they are normalised. */
static void handed_take(const handed *h, panel *v)
{
    for (int64_t p = 0; p < v->n; p++) {
        double *row = v->x + (h->item[p] - h->s->own.begin) * v->stride;
        if (h->s->component[h->item[p]] < 0)
            memset(row, 0, (size_t)v->width * sizeof *row);
        else
            memcpy(row, h->vector + p * v->width, (size_t)v->width * sizeof *row);
    }
}

static void handed_free(ddsc_context *ctx, handed *h)
{
    sparse_free(ctx, &h->m);
    MEM_FREE(ctx, h->item, h->place, h->known, h->vector);
}

/* Every rank goes on with the first one's figures: those of others may differ in their last bits. */
static ddsc_status take_figures(solver *s, ddsc_team_eigen *p, bool *found)
{
    ddsc_status status = DDSC_OK;
    double *figure = NULL;
    int64_t n = p->n_wanted + 2;
    TRY(MEM_NEW(s->ctx, figure, n));
    memcpy(figure, p->lambda, (size_t)p->n_wanted * sizeof *figure);
    figure[n - 2] = (double)p->n_products;
    figure[n - 1] = p->verified;
    TRY(team_first(s->ctx, figure, n * (int64_t)sizeof *figure));
    memcpy(s->theta, figure, (size_t)p->n_wanted * sizeof *figure);
    s->n_products += (int64_t)figure[n - 2];
    *found = figure[n - 1] != 0 && !isnan(figure[n - 3]);
done:
    mem_free(s->ctx, figure);
    return status;
}

ddsc_status eigen_team_solve(solver *s, bool *verified)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = s->ctx;
    handed h = {.s = s};
    *verified = false;
    TRY(MEM_NEW(ctx, s->theta, s->wanted));
    TRY(handed_make(&h));
    ddsc_team_eigen problem = {
        .struct_size = sizeof problem,
        .n = s->m->n,
        .begin = s->own.begin,
        .end = s->own.end,
        .offset = h.m.offset,
        .index = h.m.column,
        .value = h.m.value,
        .multiply = handed_multiply,
        .multiply_user = &h,
        .n_known = s->exact.width,
        .known = h.known,
        .n_wanted = s->wanted,
        .tolerance = s->tolerance,
        .max_products = s->max_products,
        .lambda = s->theta,
        .vector = h.vector,
        .progress = tell,
        .progress_user = &h,
    };
    int saved = serial_begin();
    status = team_eigen(ctx, &problem);
    serial_end(saved);
    TRY(status);
    TRY(take_figures(s, &problem, verified));
    if (*verified) {
        sparse_free(ctx, &h.m);
        TRY(panel_new(ctx, &s->v, s->own.end - s->own.begin, s->wanted));
        handed_take(&h, &s->v);
    } else {
        mem_free(ctx, s->theta);
        s->theta = NULL;
    }
done:
    handed_free(ctx, &h);
    return status;
}
