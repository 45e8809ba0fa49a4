/* A team's own solver (ddsc_team.eigen, such as SLEPc over ranks): each rank hands over its rows of the
 * operator and of the exact vectors, in the order of the items, and gets its rows of the vectors found. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "eigen/solver.h"

/* An item left out has nothing but a diagonal entry. None of the others is linked to it. */
static void put_away(const solver *s, sparse *m)
{
    team_part rows = sparse_rows(s->ctx, m); /* where m is whole it stays the same on all ranks */
    for (int64_t i = rows.begin; i < rows.end; i++) {
        if (s->component[i] >= 0)
            continue;
        int64_t at = m->offset[i];
        memset(m->value + at, 0, (size_t)(m->offset[i + 1] - at) * sizeof *m->value);
        m->column[at] = (int32_t)i;
        m->value[at] = AWAY;
    }
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

ddsc_status eigen_team_solve(solver *s, sparse *m, bool *verified)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = s->ctx;
    int64_t begin = s->own.begin, n = s->own.end - begin, *offset = NULL;
    *verified = false;
    put_away(s, m);
    TRY(MEM_NEW(ctx, offset, n + 1));
    for (int64_t i = 0; i <= n; i++)
        offset[i] = m->offset[begin + i] - m->offset[begin];
    TRY(panel_new(ctx, &s->v, n, s->wanted));
    TRY(MEM_NEW(ctx, s->theta, s->wanted));
    ddsc_team_eigen problem = {
        .n = m->n,
        .begin = begin,
        .end = s->own.end,
        .offset = offset,
        .index = m->column + m->offset[begin],
        .value = m->value + m->offset[begin],
        .n_known = s->exact.width,
        .known = s->exact.x,
        .n_wanted = s->wanted,
        .tolerance = s->tolerance,
        .max_products = s->max_products,
        .lambda = s->theta,
        .vector = s->v.x,
    };
    int saved = serial_begin();
    status = team_eigen(ctx, &problem);
    serial_end(saved);
    TRY(status);
    TRY(take_figures(s, &problem, verified));
    /* Rounding leaves traces there, which would be rows like any other once they are normalised. */
    for (int64_t i = 0; i < n; i++)
        if (s->component[begin + i] < 0)
            memset(s->v.x + i * s->v.stride, 0, (size_t)s->wanted * sizeof *s->v.x);
    if (!*verified) {
        panel_free(ctx, &s->v);
        mem_free(ctx, s->theta);
        s->theta = NULL;
    }
done:
    mem_free(ctx, offset);
    return status;
}
