/* A team's own solver (ddsc_team.eigen, such as SLEPc over ranks): each rank hands over its rows of the
 * operator and of the exact vectors; the vectors found go to all ranks. */
#include <math.h>
#include <string.h>

#include "base/blocks.h"
#include "base/team.h"
#include "eigen/solver.h"

bool eigen_team_fits(const solver *s, const eigen_settings *set)
{
    (void)set;
    return team_has_eigen(s->ctx);
}

/* The own rows in the solver's order; items left out have a diagonal entry alone. */
typedef struct own_rows {
    int64_t *offset;
    int32_t *index;
    double *value;
} own_rows;

static int64_t row_length(const solver *s, int64_t i)
{
    int32_t item = s->order->item[i];
    return s->component[i] < 0 ? 1 : s->given->offset[item + 1] - s->given->offset[item];
}

static ddsc_status rows_new(const solver *s, own_rows *r, team_part own)
{
    const sparse *m = s->given;
    const int32_t *item = s->order->item, *place = s->order->place;
    int64_t n = own.end - own.begin;
    CHECK(MEM_NEW(s->ctx, r->offset, n + 1));
    r->offset[0] = 0;
    for (int64_t i = 0; i < n; i++)
        r->offset[i + 1] = r->offset[i] + row_length(s, own.begin + i);
    CHECK(MEM_NEW(s->ctx, r->index, r->offset[n]));
    CHECK(MEM_NEW(s->ctx, r->value, r->offset[n]));
    for (int64_t i = 0; i < n; i++) {
        int64_t at = r->offset[i], from = m->offset[item[own.begin + i]];
        bool out = s->component[own.begin + i] < 0;
        for (int64_t p = at; p < r->offset[i + 1]; p++) {
            r->index[p] = out ? (int32_t)(own.begin + i) : place[m->column[from + p - at]];
            r->value[p] = out ? AWAY : m->value[from + p - at];
        }
    }
    return DDSC_OK;
}

static void rows_free(ddsc_context *ctx, own_rows *r)
{
    MEM_FREE(ctx, r->value, r->index, r->offset);
}

/* Every rank goes on with the first one's figures: those of others may differ in their last bits. */
static ddsc_status take_figures(solver *s, ddsc_team_eigen *p, bool *found)
{
    ddsc_status status = DDSC_OK;
    double *figure = NULL;
    int64_t n = p->n_wanted + 2, *parts = NULL;
    TRY(MEM_NEW(s->ctx, figure, n));
    TRY(MEM_ZERO(s->ctx, parts, team_size(s->ctx)));
    parts[0] = n * (int64_t)sizeof *figure;
    memcpy(figure, p->lambda, (size_t)p->n_wanted * sizeof *figure);
    figure[n - 2] = (double)p->n_products;
    figure[n - 1] = p->verified;
    TRY(team_gather_parts(s->ctx, figure, parts));
    memcpy(s->theta, figure, (size_t)p->n_wanted * sizeof *figure);
    s->n_products += (int64_t)figure[n - 2];
    *found = figure[n - 1] != 0 && !isnan(figure[n - 3]);
done:
    MEM_FREE(s->ctx, parts, figure);
    return status;
}

/* Where it did not come to a verified end, the library's own solver begins anew, on each rank alike. */
ddsc_status eigen_team_solve(solver *s, bool *verified)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = s->ctx;
    int64_t n = s->m->n, grain = block_rows(n);
    team_part own = team_own(ctx, n, grain);
    own_rows rows = {0};
    bool found = false;
    TRY(rows_new(s, &rows, own));
    TRY(panel_new(ctx, &s->v, n, s->wanted));
    TRY(MEM_NEW(ctx, s->theta, s->wanted));
    ddsc_team_eigen problem = {
        .n = n,
        .begin = own.begin,
        .end = own.end,
        .offset = rows.offset,
        .index = rows.index,
        .value = rows.value,
        .n_known = s->exact.width,
        .known = s->exact.x + own.begin * s->exact.width,
        .n_wanted = s->wanted,
        .tolerance = s->tolerance,
        .max_products = s->max_products,
        .lambda = s->theta,
        .vector = s->v.x + own.begin * s->wanted,
    };
    int saved = serial_begin();
    status = team_eigen(ctx, &problem);
    serial_end(saved);
    TRY(status);
    TRY(take_figures(s, &problem, &found));
    if (found) {
        TRY(team_gather(ctx, s->v.x, n, grain, s->wanted * (int64_t)sizeof *s->v.x));
        *verified = s->by_team = true;
    } else {
        panel_free(ctx, &s->v);
        mem_free(ctx, s->theta);
        s->theta = NULL;
        ctx_note(ctx, "eigenvectors", "block iteration", "SLEPc came to no verified end");
        TRY(order_matrix(ctx, s->order, s->given));
        status = block_solve(s, verified);
    }
done:
    rows_free(ctx, &rows);
    return status;
}
