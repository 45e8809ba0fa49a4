/* Tiles of lower bounds for exact W2. Projections are tight in few dimensions and cost one short
 * matrix product; the relaxed bound is tight for small supports in many dimensions (documents). */
#include <math.h>

#include "bound/bound.h"
#include "metric/metric.h"

enum { PROJECTION_DIM = 8, RELAXED_MEAN_SIZE = 64, PROJECTION_SIDE = 256 };

struct metric_w2_bound {
    ddsc_context *ctx;
    bool relaxed, on_grid;
    projection_bound projection;
    float *start; /* n: what is left of the rows' norms after the slack */
    marginal_bound marginal;
    relaxed_bound transport;
    int n_workers;
    float **scratch; /* per worker */
};

/* Large blocks share more points; small sets get small ones, so that many threads find work. */
static int64_t relaxed_side(int64_t n)
{
    return BASE_MAX(32, BASE_MIN(256, n / 16));
}

void metric_w2_bound_close(metric_w2_bound *b)
{
    if (!b)
        return;
    ddsc_context *ctx = b->ctx;
    projection_bound_free(ctx, &b->projection);
    marginal_bound_free(ctx, &b->marginal);
    relaxed_bound_free(ctx, &b->transport);
    for (int w = 0; b->scratch && w < b->n_workers; w++)
        mem_free(ctx, b->scratch[w]);
    mem_free(ctx, b->scratch);
    mem_free(ctx, b->start);
    mem_free(ctx, b);
}

static void relaxed_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    const metric_w2_bound *b = state;
    relaxed_bound_tile(&b->transport, t->i0, t->i1, t->j0, t->j1, low, ld, b->scratch[worker]);
}

static ddsc_status open_relaxed(metric_w2_bound *b, first_bounds *first, const measures *m)
{
    CHECK(relaxed_bound_make(b->ctx, &b->transport, m, relaxed_side(m->n)));
    CHECK(MEM_ZERO(b->ctx, b->scratch, b->n_workers));
    for (int w = 0; w < b->n_workers; w++)
        CHECK(MEM_NEW(b->ctx, b->scratch[w], relaxed_bound_room(&b->transport)));
    *first = (first_bounds){.n = m->n,
                            .side = b->transport.side,
                            .unit = b->transport.unit2,
                            .tile = relaxed_tile,
                            .state = b};
    return DDSC_OK;
}

static ddsc_status open_projections(metric_w2_bound *b, first_bounds *first, const measures *m)
{
    const projection_bound *p = &b->projection;
    CHECK(projection_bound_make(b->ctx, &b->projection, m));
    CHECK(MEM_NEW(b->ctx, b->start, m->n));
    for (int64_t i = 0; i < m->n; i++)
        b->start[i] = (float)(1 - p->slack) * p->norm2[i];
    b->on_grid = marginal_applies(m);
    if (b->on_grid)
        CHECK(marginal_bound_make(b->ctx, &b->marginal, m));
    *first = (first_bounds){.n = m->n,
                            .side = PROJECTION_SIDE,
                            .unit = p->unit2,
                            .columns = p->p,
                            .rows = p->row,
                            .start = b->start};
    return DDSC_OK;
}

ddsc_status metric_w2_bound_open(ddsc_context *ctx, metric_w2_bound **out, first_bounds *first,
                                 bool *frame, const measures *m)
{
    ddsc_status status = DDSC_OK;
    metric_w2_bound *b = NULL;
    TRY(MEM_ZERO(ctx, b, 1));
    b->ctx = ctx;
    b->n_workers = parallel_width(ctx);
    b->relaxed = m->d > PROJECTION_DIM && m->nnz <= RELAXED_MEAN_SIZE * m->n;
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
    double bound = b->on_grid ? marginal_bound_pair(&b->marginal, i, j, enough) : 0;
    return bound > enough ? bound
                          : fmax(bound, projection_bound_pair(&b->projection, i, j, enough));
}
