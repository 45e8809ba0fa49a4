/* Computes first bounds of the transport value for all pairs.
 *
 * Projections are tight in few dimensions. For squared distances they cost one short matrix
 * product, and for other costs the differences of short rows. The relaxed bound holds for every
 * cost. It is tight for small supports in many dimensions, such as documents. */
#include "base/workspace.h"
#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/bound/tuning.h"
#include "neighbors/metric/metric.h"

struct metric_first {
    ddsc_context *ctx;
    bool relaxed;
    double epsilon; /* regularization of the value that is bounded; 0: exact transport */
    bool square;    /* true if D is the value, so that the bounds apply to its square */
    bound_projection projection;
    device_frames frames; /* frames of the projections */
    bound_marginal marginal;
    bound_relaxed transport;
    scratch memory; /* scratch of the relaxed bound */
};

void metric_first_close(metric_first *b)
{
    if (!b)
        return;
    bound_projection_free(b->ctx, &b->projection);
    bound_marginal_free(b->ctx, &b->marginal);
    bound_relaxed_free(b->ctx, &b->transport);
    scratch_free(b->ctx, &b->memory);
    mem_free(b->ctx, b);
}

static void first_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    const metric_first *b = state;
    if (b->relaxed)
        bound_relaxed_tile(&b->transport, t->i0, t->i1, t->j0, t->j1, low, ld,
                           scratch_of(&b->memory, worker));
    else
        bound_marginal_tile(&b->marginal, t->i0, t->i1, t->j0, t->j1, low, ld);
    for (int64_t i = 0; b->square && i < t->i1 - t->i0; i++)
        for (int64_t j = 0; j < t->j1 - t->j0; j++)
            low[i * ld + j] *= low[i * ld + j] * (1 - 0x1p-21f);
}

/* Large blocks share more points, but small sets use small blocks so that all threads have work. */
static ddsc_status open_relaxed(metric_first *b, first_bounds *first, const measures *m,
                                const ground_cost *ground)
{
    int64_t side = BASE_MAX(BOUND_RELAXED_SIDE_MIN, BASE_MIN(BOUND_RELAXED_SIDE_MAX, m->n / 16));
    CHECK(bound_relaxed_make(b->ctx, &b->transport, m, ground, b->epsilon, side));
    CHECK(scratch_create(b->ctx, &b->memory, bound_relaxed_scratch(&b->transport), 1));
    *first = (first_bounds){
        .n = m->n, .side = side, .unit = b->transport.unit, .tile = first_tile, .state = b};
    return DDSC_OK;
}

static ddsc_status open_marginals(metric_first *b, first_bounds *first, const measures *m,
                                  const ground_cost *ground)
{
    CHECK(bound_marginal_make(b->ctx, &b->marginal, m, ground->kind == DDSC_COST_CITYBLOCK));
    *first = (first_bounds){.n = m->n,
                            .side = BOUND_MARGINAL_SIDE,
                            .unit = b->marginal.unit,
                            .tile = first_tile,
                            .state = b};
    return DDSC_OK;
}

static ddsc_status open_projections(metric_first *b, first_bounds *first, const measures *m)
{
    const bound_projection *p = &b->projection;
    CHECK(bound_projection_make(b->ctx, &b->projection, m, true));
    *first = (first_bounds){.n = m->n,
                            .side = BOUND_PROJECTION_SIDE,
                            .unit = p->unit2,
                            .columns = p->p,
                            .rows = p->row,
                            .start = p->start};
    b->frames = bound_projection_frames(p);
    if (b->frames.n > 0 && !b->square)
        first->frames = &b->frames;
    return DDSC_OK;
}

ddsc_status metric_first_open(ddsc_context *ctx, metric_first **out, first_bounds *first,
                              bool *frame, const measures *m, const ground_cost *ground,
                              double epsilon, bool square)
{
    ddsc_status status = DDSC_OK;
    metric_first *b = NULL;
    bool squares = ground->kind == DDSC_COST_SQEUCLIDEAN;
    TRY(MEM_ZERO(ctx, b, 1));
    *b = (metric_first){.ctx = ctx,
                        .relaxed = bound_relaxed_applies(m, ground),
                        .epsilon = epsilon,
                        .square = square};
    TRY(b->relaxed ? open_relaxed(b, first, m, ground)
        : squares  ? open_projections(b, first, m)
                   : open_marginals(b, first, m, ground));
    if (square)
        first->unit *= first->unit;
    ctx_note(ctx, "first bounds",
             !b->relaxed   ? "projections"
             : epsilon > 0 ? "relaxed entropic transport"
                           : "relaxed transport",
             "%lld dimensions, %lld points per item", (long long)m->d,
             (long long)(m->nnz / BASE_MAX(1, m->n)));
    *frame = !b->relaxed && squares;
    *out = b;
    b = NULL;
done:
    metric_first_close(b);
    return status;
}

double metric_first_frame(const metric_first *b, int64_t i, int64_t j, double enough)
{
    return bound_projection_pair(&b->projection, i, j, enough);
}
