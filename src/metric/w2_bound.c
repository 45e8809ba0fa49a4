/* The first bounds of exact W2, of all pairs. Projections are tight in few dimensions and cost one short
 * matrix product; the relaxed bound is tight for small supports in many dimensions (documents). */
#include "base/workspace.h"
#include "bound/bound.h"
#include "bound/first.h"
#include "bound/tuning.h"
#include "metric/metric.h"

struct metric_w2_bound {
    ddsc_context *ctx;
    bool relaxed;
    bound_projection projection;
    bound_relaxed transport;
    scratch memory; /* of the latter */
};

void metric_w2_bound_close(metric_w2_bound *b)
{
    if (!b)
        return;
    bound_projection_free(b->ctx, &b->projection);
    bound_relaxed_free(b->ctx, &b->transport);
    scratch_free(b->ctx, &b->memory);
    mem_free(b->ctx, b);
}

static void relaxed_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    const metric_w2_bound *b = state;
    bound_relaxed_tile(&b->transport, t->i0, t->i1, t->j0, t->j1, low, ld,
                       scratch_of(&b->memory, worker));
}

/* Large blocks share more points; small sets get small ones, so that many threads find work. */
static ddsc_status open_relaxed(metric_w2_bound *b, first_bounds *first, const measures *m)
{
    int64_t side = BASE_MAX(BOUND_RELAXED_SIDE_MIN, BASE_MIN(BOUND_RELAXED_SIDE_MAX, m->n / 16));
    CHECK(bound_relaxed_make(b->ctx, &b->transport, m, side));
    CHECK(scratch_create(b->ctx, &b->memory, bound_relaxed_scratch(&b->transport), 1));
    *first = (first_bounds){
        .n = m->n, .side = side, .unit = b->transport.unit2, .tile = relaxed_tile, .state = b};
    return DDSC_OK;
}

static ddsc_status open_projections(metric_w2_bound *b, first_bounds *first, const measures *m)
{
    const bound_projection *p = &b->projection;
    CHECK(bound_projection_make(b->ctx, &b->projection, m, true));
    *first = (first_bounds){.n = m->n,
                            .side = BOUND_PROJECTION_SIDE,
                            .unit = p->unit2,
                            .columns = p->p,
                            .rows = p->row,
                            .start = p->start};
    return DDSC_OK;
}

ddsc_status metric_w2_bound_open(ddsc_context *ctx, metric_w2_bound **out, first_bounds *first,
                                 bool *frame, const measures *m)
{
    ddsc_status status = DDSC_OK;
    metric_w2_bound *b = NULL;
    TRY(MEM_ZERO(ctx, b, 1));
    b->ctx = ctx;
    b->relaxed = bound_relaxed_applies(m);
    TRY(b->relaxed ? open_relaxed(b, first, m) : open_projections(b, first, m));
    ctx_note(ctx, "first bounds", b->relaxed ? "relaxed transport" : "projections",
             "%lld dimensions, %lld points per item", (long long)m->d,
             (long long)(m->nnz / BASE_MAX(1, m->n)));
    *frame = !b->relaxed;
    *out = b;
    b = NULL;
done:
    metric_w2_bound_close(b);
    return status;
}

double metric_w2_bound_frame(const metric_w2_bound *b, int64_t i, int64_t j, double enough)
{
    return bound_projection_pair(&b->projection, i, j, enough);
}
