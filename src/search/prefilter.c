/* All pairs in floats, then those that the rounding leaves in doubt by the metric itself. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "graph/graph.h"
#include "linalg/linalg.h"
#include "search/prefilter.h"
#include "search/rerank.h"
#include "search/search.h"

enum { SCREEN_SIDE = 256, SCREEN_GROUP = 16, SPARE_LEAST = 8 };

typedef struct sieve {
    ddsc_context *ctx;
    const pair_screen *s;
    float *start;
    double *spread;
    nearest kept; /* by (low, index) */
    float *room;  /* a worker: SCREEN_SIDE x SCREEN_SIDE products, then limits */
} sieve;

/* Limits only fall, so one read before the tile keeps too much, never too little. */
static void read_limits(const nearest *kept, int64_t begin, int64_t end, float *limit)
{
    for (int64_t i = begin; i < end; i++) {
        double exact;
        __atomic_load(&kept->limit[i], &exact, __ATOMIC_RELAXED);
        limit[i - begin] = nextafterf((float)exact, INFINITY);
    }
}

/* Products of row i with n columns become low; is any of a group within reach of either end? */
SIMD_CLONES static void reach_row(int64_t n, float start, const float *starts, float limit,
                                  const float *limits, float *low, uint8_t *any)
{
    for (int64_t g = 0; g < n; g += SCREEN_GROUP) {
        int hits = 0;
        for (int64_t k = g; k < BASE_MIN(n, g + SCREEN_GROUP); k++) {
            float value = (start + starts[k]) - 2.0F * low[k];
            low[k] = value;
            hits |= value <= limit || value <= limits[k];
        }
        any[g / SCREEN_GROUP] = hits != 0;
    }
}

static void offer_group(nearest *kept, int64_t i, int64_t j0, int64_t j1, const float *low)
{
    for (int64_t j = BASE_MAX(j0, i + 1); j < j1; j++) {
        nearest_offer(kept, i, j, (double)low[j - j0]);
        nearest_offer(kept, j, i, (double)low[j - j0]);
    }
}

static void sieve_tile(sieve *v, const pair_tile *t, float *room)
{
    const pair_screen *s = v->s;
    int64_t columns = s->columns, n = t->j1 - t->j0;
    float *limits = room + SCREEN_SIDE * SCREEN_SIDE, *row_limits = limits + SCREEN_SIDE;
    uint8_t any[SCREEN_SIDE / SCREEN_GROUP];
    la_sgemm(false, true, t->i1 - t->i0, n, columns, 1.0F, s->rows + t->i0 * columns, columns,
             s->rows + t->j0 * columns, columns, 0.0F, room, SCREEN_SIDE);
    read_limits(&v->kept, t->j0, t->j1, limits);
    read_limits(&v->kept, t->i0, t->i1, row_limits);
    for (int64_t i = t->i0; i < t->i1; i++) {
        float *low = room + (i - t->i0) * SCREEN_SIDE;
        reach_row(n, v->start[i], v->start + t->j0, row_limits[i - t->i0], limits, low, any);
        for (int64_t g = 0; g < n; g += SCREEN_GROUP)
            if (any[g / SCREEN_GROUP])
                offer_group(&v->kept, i, t->j0 + g, BASE_MIN(t->j1, t->j0 + g + SCREEN_GROUP),
                            low + g);
    }
}

static ddsc_status sieve_range(void *arg, int64_t begin, int64_t end, int worker)
{
    sieve *v = arg;
    float *room = v->room + worker * (SCREEN_SIDE + 2) * SCREEN_SIDE;
    for (int64_t number = begin; number < end; number++) {
        pair_tile t = tile_number(v->s->n, SCREEN_SIDE, number);
        sieve_tile(v, &t, room);
        progress_add(v->ctx, tile_pairs(&t));
    }
    return DDSC_OK;
}

static ddsc_status sieve_run(sieve *v, ddsc_graph **kept, int64_t n_kept)
{
    int64_t n = v->s->n, blocks = (n + SCREEN_SIDE - 1) / SCREEN_SIDE;
    CHECK(MEM_NEW(v->ctx, v->start, n));
    CHECK(MEM_NEW(v->ctx, v->spread, n));
    CHECK(MEM_NEW(v->ctx, v->room, parallel_width(v->ctx) * (SCREEN_SIDE + 2) * SCREEN_SIDE));
    CHECK(screen_bounds(v->ctx, v->s, v->start, v->spread));
    CHECK(nearest_create(v->ctx, &v->kept, n, n_kept));
    progress_begin(v->ctx, "distances", n * (n - 1) / 2);
    CHECK(parallel_for(v->ctx, blocks * (blocks + 1) / 2, 1, sieve_range, v));
    progress_end(v->ctx);
    CHECK(nearest_finish(v->ctx, &v->kept, kept));
    return DDSC_OK;
}

static void sieve_close(sieve *v)
{
    nearest_free(v->ctx, &v->kept);
    mem_free(v->ctx, v->room);
    mem_free(v->ctx, v->spread);
    mem_free(v->ctx, v->start);
    *v = (sieve){.ctx = v->ctx, .s = v->s};
}

/* ---- what is left in doubt ---- */

/* The tau-th smallest upper bound of the kept: nothing above it is a neighbour. */
static double reach_of(const sieve *v, const ddsc_graph *kept, int64_t i, int64_t tau,
                       double *upper)
{
    int64_t at = kept->offset[i], count = kept->offset[i + 1] - at;
    for (int64_t k = 0; k < count; k++)
        upper[k] = kept->d2[at + k] + v->spread[i] + v->spread[kept->index[at + k]];
    return select_smallest(upper, count, tau - 1);
}

/* How many of the kept can be neighbours of item i; -1 when others may be, too. */
static int64_t count_in_doubt(const sieve *v, const ddsc_graph *kept, int64_t i, int64_t tau,
                              double *upper)
{
    int64_t at = kept->offset[i], count = kept->offset[i + 1] - at, within = 0;
    double reach = reach_of(v, kept, i, tau, upper);
    while (within < count && kept->d2[at + within] <= reach)
        within++;
    return within < count || count == v->s->n - 1 ? within : -1;
}

/* Candidates of every item: those kept that bounds do not rule out, or everybody. */
static ddsc_status list_candidates(const sieve *v, candidates *c, const ddsc_graph *kept,
                                   int64_t tau, bool *few)
{
    ddsc_status status = DDSC_OK;
    int64_t n = v->s->n, open = 0;
    double *upper = NULL;
    c->n = n;
    TRY(MEM_NEW(v->ctx, upper, kept->tau));
    TRY(MEM_NEW(v->ctx, c->offset, n + 1));
    c->offset[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = count_in_doubt(v, kept, i, tau, upper);
        open += count < 0;
        c->offset[i + 1] = c->offset[i] + (count < 0 ? n - 1 : count);
    }
    *few = open <= 64 + n / 64;
    if (!*few)
        goto done;
    TRY(MEM_NEW(v->ctx, c->index, c->offset[n]));
    for (int64_t i = 0; i < n; i++) {
        int64_t count = c->offset[i + 1] - c->offset[i];
        int32_t *to = c->index + c->offset[i];
        if (count <= kept->offset[i + 1] - kept->offset[i])
            memcpy(to, kept->index + kept->offset[i], (size_t)count * sizeof *to);
        else
            for (int64_t j = 0; j < n; j++)
                if (j != i)
                    *to++ = (int32_t)j;
    }
done:
    mem_free(v->ctx, upper);
    return status;
}

ddsc_status screened_search(ddsc_context *ctx, ddsc_graph **out, ddsc_pair_stats *stats,
                            const pair_screen *screen, const pair_backend *backend, void *state,
                            const ddsc_graph_settings *settings, bool *done)
{
    ddsc_status status = DDSC_OK;
    int64_t n = screen->n, tau = tau_used(n, settings);
    sieve v = {.ctx = ctx, .s = screen};
    candidates c = {0};
    nearest near = {0};
    ddsc_graph *kept = NULL;
    *done = false;
    TRY(sieve_run(&v, &kept, BASE_MIN(n - 1, tau + BASE_MAX(SPARE_LEAST, tau / 2))));
    TRY(list_candidates(&v, &c, kept, tau, done));
    sieve_close(&v);
    if (!*done)
        goto done;
    stats->n_solved = 0; /* of pairs; opening a backend may have counted its own */
    TRY(nearest_create(ctx, &near, n, tau));
    TRY(candidates_rank(ctx, &near, stats, &c, backend, state));
    TRY(nearest_finish(ctx, &near, out));
    stats->n_pairs = stats->n_bounds = n * (n - 1) / 2;
    stats->n_pruned = stats->n_pairs - stats->n_solved;
done:
    nearest_free(ctx, &near);
    candidates_free(ctx, &c);
    ddsc_graph_destroy(kept);
    sieve_close(&v);
    return status;
}
