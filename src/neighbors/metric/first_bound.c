/* Computes first bounds on the transport value for all pairs.
 *
 * Projections are tight in few dimensions. They are matrix products of short rows for squared
 * distances, and differences of short rows for other costs. The relaxed bound is valid for every
 * cost, and tight for small supports in many dimensions, such as documents. If items share points,
 * a table of least costs gives lower but far cheaper bounds for all pairs, and the relaxed bound is
 * computed only for single pairs. */
#include <math.h>

#include "base/workspace.h"
#include "distance/bound/bound.h"
#include "distance/bound/first.h"
#include "distance/bound/tuning.h"
#include "neighbors/metric/metric.h"

struct metric_first {
    ddsc_context *ctx;
    bool relaxed;
    double epsilon; /* epsilon of the bounded value; 0: exact transport */
    bool square;    /* the value is D, so the bounds apply to its square */
    bound_projection projection;
    device_frames frames; /* frames of the projections */
    bound_marginal marginal;
    bound_relaxed transport;
    bool has_table;
    bound_least least; /* table of least costs, if has_table is true */
    scratch memory;    /* scratch memory */
};

void metric_first_close(metric_first *b)
{
    if (!b)
        return;
    bound_projection_free(b->ctx, &b->projection);
    bound_marginal_free(b->ctx, &b->marginal);
    bound_least_free(b->ctx, &b->least);
    bound_relaxed_free(b->ctx, &b->transport);
    scratch_free(b->ctx, &b->memory);
    mem_free(b->ctx, b);
}

static void first_tile(void *state, const pair_tile *t, float *low, int64_t ld, int worker)
{
    const metric_first *b = state;
    if (b->has_table)
        bound_least_tile(&b->least, t->i0, t->i1, t->j0, t->j1, low, ld,
                         scratch_of(&b->memory, worker));
    else if (b->relaxed)
        bound_relaxed_tile(&b->transport, t->i0, t->i1, t->j0, t->j1, low, ld,
                           scratch_of(&b->memory, worker));
    else
        bound_marginal_tile(&b->marginal, t->i0, t->i1, t->j0, t->j1, low, ld);
    for (int64_t i = 0; b->square && i < t->i1 - t->i0; i++)
        for (int64_t j = 0; j < t->j1 - t->j0; j++)
            low[i * ld + j] *= low[i * ld + j] * (1 - 0x1p-21f);
}

static ddsc_status first_load(void *state, int64_t a, int64_t c)
{
    metric_first *b = state;
    return bound_least_load(&b->least, a, c);
}

/* Large blocks share more points. Small sets use small blocks, so that all threads have work. */
static ddsc_status open_relaxed(metric_first *b, first_bounds *first, const pair_job *job,
                                const ground_cost *ground)
{
    const measures *m = job->m;
    int64_t side = BASE_MAX(BOUND_RELAXED_SIDE_MIN, BASE_MIN(BOUND_RELAXED_SIDE_MAX, m->n / 16));
    double n = (double)m->n, n_old = (double)job->n_old;
    least_limits limits = {.n_pairs = job->n_old > 0 ? n_old * (n - n_old) : n * (n - 1) / 2,
                           .bytes = BOUND_LEAST_BYTES,
                           .one_window = job->n_old > 0};
    CHECK(bound_relaxed_make(b->ctx, &b->transport, m, ground, b->epsilon, side));
    CHECK(bound_least_make(b->ctx, &b->least, &b->transport, &limits, &b->has_table));
    int64_t bytes = bound_relaxed_scratch(&b->transport);
    if (b->has_table)
        bytes = BASE_MAX(bytes, bound_least_scratch(&b->least));
    CHECK(scratch_create(b->ctx, &b->memory, bytes, 1));
    *first = (first_bounds){
        .n = m->n, .side = side, .unit = b->transport.unit, .tile = first_tile, .state = b};
    if (b->has_table)
        first->side = b->least.side;
    if (b->has_table && b->least.n_windows > 1) {
        first->window = b->least.window;
        first->load = first_load;
    }
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

static void note_first(const metric_first *b, const measures *m)
{
    ctx_note(b->ctx, "first bounds",
             !b->relaxed      ? "projections"
             : b->has_table   ? "table of least costs"
             : b->epsilon > 0 ? "relaxed entropic transport"
                              : "relaxed transport",
             "%lld dimensions, %lld points per item", (long long)m->d,
             (long long)(m->nnz / BASE_MAX(1, m->n)));
}

ddsc_status metric_first_open(metric_first **out, first_bounds *first, first_pairs *pairs,
                              const pair_job *job, const ground_cost *ground, double epsilon,
                              bool square)
{
    ddsc_status status = DDSC_OK;
    metric_first *b = NULL;
    bool squares = ground->kind == DDSC_COST_SQEUCLIDEAN;
    TRY(MEM_ZERO(job->ctx, b, 1));
    *b = (metric_first){.ctx = job->ctx,
                        .relaxed = bound_relaxed_applies(job->m, ground),
                        .epsilon = epsilon,
                        .square = square};
    TRY(b->relaxed ? open_relaxed(b, first, job, ground)
        : squares  ? open_projections(b, first, job->m)
                   : open_marginals(b, first, job->m, ground));
    if (square)
        first->unit *= first->unit;
    note_first(b, job->m);
    *pairs = b->has_table ? FIRST_RELAXED : !b->relaxed && squares ? FIRST_FRAMES : FIRST_NO_PAIRS;
    *out = b;
    b = NULL;
done:
    metric_first_close(b);
    return status;
}

/* Only projections can grow, because the blocks of relaxed transport have a fixed number of
 * items. */
ddsc_status metric_first_grow(metric_first *b, int64_t first, bool *done)
{
    *done = b->projection.embedder != NULL;
    return *done ? bound_projection_grow(&b->projection, first, done) : DDSC_OK;
}

double metric_first_pair(const metric_first *b, int64_t i, int64_t j, double enough, int worker)
{
    if (!b->has_table)
        return bound_projection_pair(&b->projection, i, j, enough);
    double low = b->transport.unit *
                 (double)bound_relaxed_single(&b->transport, i, j, scratch_of(&b->memory, worker));
    return b->square ? low * fabs(low) * (1 - 0x1p-50) : low;
}
