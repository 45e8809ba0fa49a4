/* Lower bounds of W2^2: for all pairs of a set and for single ones by whichever of relaxed transport
 * and projections suits it, then by refined potentials where it has them. */
#include <math.h>

#include "bound/bound.h"
#include "bound/first.h"
#include "bound/tuning.h"

typedef struct bound_w2 {
    ddsc_context *ctx;
    const measures *m;
    bool by_transport;
    bound_relaxed transport;
    bound_projection projection;
    int64_t n_scratch; /* floats per worker: a tile, then what it needs */
    float *scratch;
    bound_refined **refined,
        *own; /* `refined` points to `own`, or to where the metric keeps them */
} bound_w2;

double bound_unit(const measures *m)
{
    double extent = 0;
    int exponent = 0;
    for (int64_t k = m->d; k < m->v * m->d; k++)
        extent = fmax(extent, fabs(m->support[k] - m->support[k % m->d]));
    frexp(extent, &exponent);
    return ldexp(1, BASE_MAX(exponent, -500)); /* its square is not 0 */
}

int64_t bound_w2_side(const void *state)
{
    const bound_w2 *b = state;
    return b->by_transport ? b->transport.side : BOUND_PROJECTION_SIDE;
}

void bound_w2_close(void *state)
{
    bound_w2 *b = state;
    if (!b)
        return;
    bound_relaxed_free(b->ctx, &b->transport);
    bound_projection_free(b->ctx, &b->projection);
    bound_refined_destroy(b->own);
    mem_free(b->ctx, b->scratch);
    mem_free(b->ctx, b);
}

ddsc_status bound_w2_open(void **state, const bound_job *job, bound_refined **refined)
{
    ddsc_status status = DDSC_OK;
    ddsc_context *ctx = job->ctx;
    const measures *m = job->m;
    int64_t side = BASE_MAX(BOUND_RELAXED_SIDE_MIN, BASE_MIN(BOUND_RELAXED_SIDE_MAX, m->n / 16));
    bound_w2 *b = NULL;
    TRY(MEM_ZERO(ctx, b, 1));
    *b = (bound_w2){.ctx = ctx, .m = m, .refined = refined ? refined : &b->own};
    b->by_transport = bound_relaxed_applies(m);
    if (b->by_transport)
        TRY(bound_relaxed_make(ctx, &b->transport, m, side));
    else
        TRY(bound_projection_make(ctx, &b->projection, m, true));
    b->n_scratch = bound_w2_side(b) * bound_w2_side(b);
    b->n_scratch += b->by_transport ? bound_relaxed_scratch(&b->transport) : 0;
    TRY(MEM_NEW(ctx, b->scratch, job->n_workers * b->n_scratch));
    *state = b;
    b = NULL;
done:
    bound_w2_close(b);
    return status;
}

void bound_w2_tile(void *state, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out,
                   int64_t ld, int worker)
{
    const bound_w2 *b = state;
    int64_t side = bound_w2_side(b);
    float *tile = b->scratch + worker * b->n_scratch;
    double unit2 = b->by_transport ? b->transport.unit2 : b->projection.unit2;
    if (b->by_transport)
        bound_relaxed_tile(&b->transport, i0, i1, j0, j1, tile, side, tile + side * side);
    else
        bound_projection_tile(&b->projection, i0, i1, j0, j1, tile, side);
    for (int64_t i = 0; i < i1 - i0; i++)
        for (int64_t j = 0; j < j1 - j0; j++)
            out[i * ld + j] = tile[i * side + j] > 0 ? unit2 * (double)tile[i * side + j] : 0;
}

double bound_w2_pair(const void *state, int64_t i, int64_t j, double enough)
{
    const bound_w2 *b = state;
    return b->by_transport ? 0 : bound_projection_pair(&b->projection, i, j, enough);
}

ddsc_status bound_w2_refine(void *state, bool *offered)
{
    const bound_w2 *b = state;
    *offered = bound_refined_applies(b->m);
    return *offered && !*b->refined ? bound_refined_create(b->ctx, b->refined, b->m) : DDSC_OK;
}

double bound_w2_refined(void *state, int64_t i, int64_t j, double enough, int worker)
{
    return bound_refined_pair(*((const bound_w2 *)state)->refined, i, j, enough, worker);
}

double bound_w2_last(void *state, int64_t i, int64_t j, double enough, int worker)
{
    return bound_refined_last(*((const bound_w2 *)state)->refined, i, j, enough, worker);
}
