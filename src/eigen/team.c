/* A team's own solver (ddsc_team.eigen, such as SLEPc over ranks): each rank hands over its rows of the
 * operator and of the exact vectors, and gets its rows of the vectors found.
 *
 * Rows are handed over as a copy in which neighbours stand together: of a million items in the order of a file,
 * products with a vector took three times as long. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "eigen/order.h"
#include "eigen/solver.h"

enum { ROWS_A_PIECE = 1024 };

/* The own rows as they are handed over. */
typedef struct handed {
    const solver *s;
    int32_t *item, *place; /* of order_own */
    int64_t *offset;
    int32_t *index;
    double *value, *known, *vector;
} handed;

static ddsc_status handed_rows(void *arg, int64_t begin, int64_t end, int worker)
{
    const handed *h = arg;
    const sparse *m = h->s->m;
    const panel *exact = &h->s->exact;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        int32_t i = h->item[p];
        int64_t to = h->offset[p];
        memcpy(h->known + p * exact->width, exact->x + (i - h->s->own.begin) * exact->stride,
               (size_t)exact->width * sizeof *h->known);
        if (h->s->component[i] < 0) {
            h->index[to] = h->place[i];
            h->value[to] = AWAY;
            continue;
        }
        for (int64_t q = m->offset[i]; q < m->offset[i + 1]; q++, to++) {
            h->index[to] = h->place[m->column[q]];
            h->value[to] = m->value[q];
        }
    }
    return DDSC_OK;
}

/* An item left out has nothing but a diagonal entry. None of the others is linked to it. */
static ddsc_status handed_make(handed *h)
{
    const solver *s = h->s;
    ddsc_context *ctx = s->ctx;
    int64_t n = s->own.end - s->own.begin;
    CHECK(MEM_NEW(ctx, h->item, n));
    CHECK(MEM_NEW(ctx, h->place, s->m->n));
    CHECK(MEM_NEW(ctx, h->offset, n + 1));
    CHECK(order_own(ctx, h->item, h->place, s->m, s->own, s->component));
    h->offset[0] = 0;
    for (int64_t p = 0; p < n; p++) {
        int32_t i = h->item[p];
        h->offset[p + 1] =
            h->offset[p] + (s->component[i] < 0 ? 1 : s->m->offset[i + 1] - s->m->offset[i]);
    }
    CHECK(MEM_NEW(ctx, h->index, h->offset[n]));
    CHECK(MEM_NEW(ctx, h->value, h->offset[n]));
    CHECK(MEM_NEW(ctx, h->known, n * s->exact.width));
    CHECK(MEM_NEW(ctx, h->vector, n * s->wanted));
    return parallel_for(ctx, n, ROWS_A_PIECE, handed_rows, h);
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
    MEM_FREE(ctx, h->item, h->place, h->offset, h->index, h->value, h->known, h->vector);
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
        .n = s->m->n,
        .begin = s->own.begin,
        .end = s->own.end,
        .offset = h.offset,
        .index = h.index,
        .value = h.value,
        .n_known = s->exact.width,
        .known = h.known,
        .n_wanted = s->wanted,
        .tolerance = s->tolerance,
        .max_products = s->max_products,
        .lambda = s->theta,
        .vector = h.vector,
    };
    int saved = serial_begin();
    status = team_eigen(ctx, &problem);
    serial_end(saved);
    TRY(status);
    TRY(take_figures(s, &problem, verified));
    if (*verified) {
        MEM_FREE(ctx, h.index, h.value);
        h.index = NULL;
        h.value = NULL;
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
