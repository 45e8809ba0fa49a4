#include <math.h>

#include "metric/sinkhorn_costs.h"

enum { L = SIMD_LANES };

/* ---- opening ---- */

static int64_t whole(int64_t n)
{
    return (n + L - 1) / L * L;
}

static ddsc_status strip_open(const pair_strips *s, cost_strip *w)
{
    const pair_costs *c = s->costs;
    int64_t words = s->side * s->most;
    CHECK(MEM_NEW(s->ctx, w->strip, (words + 2 * L) * (s->most + L)));
    if (pair_costs_by_products(c))
        return DDSC_OK;
    CHECK(MEM_ZERO(s->ctx, w->line, s->most * whole(words)));
    if (!c->table) {
        CHECK(points_panel_create(s->ctx, &w->row_panel, &c->support, s->most));
        CHECK(points_panel_create(s->ctx, &w->column_panel, &c->support, words));
    }
    return DDSC_OK;
}

ddsc_status pair_strips_open(pair_strips *s, pair_costs *costs, int64_t side)
{
    *s = (pair_strips){.ctx = costs->ctx, .costs = costs, .n_workers = costs->n_workers};
    s->side = side;
    s->most = BASE_MIN(LANES_SIDE, costs->largest);
    CHECK(MEM_ZERO(s->ctx, s->worker, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        CHECK(strip_open(s, &s->worker[w]));
    return DDSC_OK;
}

void pair_strips_close(pair_strips *s)
{
    for (int k = 0; s->worker && k < s->n_workers; k++) {
        cost_strip *w = &s->worker[k];
        points_panel_free(s->ctx, &w->row_panel);
        points_panel_free(s->ctx, &w->column_panel);
        mem_free(s->ctx, w->line);
        mem_free(s->ctx, w->strip);
    }
    mem_free(s->ctx, s->worker);
}

/* ---- a tile ---- */

static const block_points *words_of(const pair_strips *s, int worker)
{
    return &s->costs->room[worker].ahead.y;
}

ddsc_status pair_strips_tile(pair_strips *s, const pair_tile *t, int worker)
{
    const pair_costs *c = s->costs;
    cost_tile *ahead = &c->room[worker].ahead;
    item_block block = {t->i0, t->i1, t->j0, t->j1};
    CHECK(cost_tile_list(s->ctx, ahead, c->m, &block, s->most));
    if (ahead->x.n == 0 || ahead->y.n == 0)
        return DDSC_OK;
    if (pair_costs_by_products(c)) {
        cost_tile_norms(ahead, c->m);
        CHECK(cost_tile_make(s->ctx, ahead, c->m));
    } else if (!c->table) {
        points_panel_load(&s->worker[worker].column_panel, &c->support, ahead->y.n, ahead->y.row,
                          0);
    }
    return DDSC_OK;
}

/* ---- a row ---- */

/* Where the costs of the item's points by all words lie. */
static void find_lines(const pair_strips *s, int worker, int64_t i, const double **line)
{
    const pair_costs *c = s->costs;
    const cost_tile *ahead = &c->room[worker].ahead;
    cost_strip *w = &s->worker[worker];
    item_view x = measures_item(c->m, i);
    const block_points *words = &ahead->y;
    const int32_t *place = cost_tile_places(&ahead->x, c->m, i);
    int64_t stride = whole(words->n);
    for (int64_t p = 0; p < x.n; p++)
        line[p] =
            pair_costs_by_products(c) ? ahead->cost + place[p] * words->n : w->line + p * stride;
    if (c->table) {
        for (int64_t p = 0; p < x.n; p++)
            for (int64_t k = 0; k < words->n; k++)
                w->line[p * stride + k] = c->table[x.index[p] * c->m->v + words->row[k]];
    } else if (!pair_costs_by_products(c)) {
        points_panel_load(&w->row_panel, &c->support, x.n, x.index, 0);
        points_distance2(&c->support, &w->row_panel, &w->column_panel, w->line, stride);
    }
}

/* out[q * width + p] = line_p[q], eight lines at a time. */
SIMD_CLONES static void turn(const double *const *line, int64_t n_words, double *out, int64_t width)
{
    for (int64_t p = 0; p < width; p += L)
        for (int64_t q = 0; q < n_words; q += L) {
            simd_f64 x[L];
            for (int r = 0; r < L; r++)
                x[r] = simd_load(line[p + r] + q);
            simd_transpose(x);
            for (int r = 0; r < L; r++)
                simd_store(out + (q + r) * width + p, x[r]);
        }
}

void pair_strips_row(pair_strips *s, int64_t i, int worker)
{
    cost_strip *w = &s->worker[worker];
    int64_t n = measures_item(s->costs->m, i).n, n_words = words_of(s, worker)->n;
    const double *line[LANES_SIDE];
    find_lines(s, worker, i, line);
    w->width = whole(n);
    for (int64_t p = n; p < w->width; p++)
        line[p] = line[n - 1];
    turn(line, n_words, w->strip, w->width);
    for (int64_t p = 0; p < w->width; p++)
        w->strip[n_words * w->width + p] = INFINITY;
}

/* ---- eight columns ---- */

/* out[(p * m + q) * L + lane] = from[lane][p] for p < n. */
SIMD_INLINE void spread(const double *const *from, int64_t n, int64_t m, double *out)
{
    for (int64_t p = 0; p < n; p += L) {
        simd_f64 x[L];
#pragma GCC unroll 8
        for (int r = 0; r < L; r++)
            x[r] = simd_load(from[r] + p);
        simd_transpose(x);
#pragma GCC unroll 8
        for (int r = 0; r < L; r++)
            if (p + r < n)
                simd_store(out + (p + r) * m * L, x[r]);
    }
}

SIMD_CLONES static void spread_all(const cost_strip *w, int64_t n_words,
                                   const int32_t *const *place, const int64_t *size, int64_t n,
                                   int64_t m, double *out)
{
    for (int64_t q = 0; q < m; q++) {
        const double *from[L];
        for (int lane = 0; lane < L; lane++) {
            int64_t word = q < size[lane] ? place[lane][q] : n_words;
            from[lane] = w->strip + word * w->width;
        }
        spread(from, n, m, out + q * L);
    }
}

void pair_strips_lanes(const pair_strips *s, int64_t i, const int64_t *item, int64_t m, double *out,
                       int worker)
{
    const block_points *words = words_of(s, worker);
    const int32_t *place[L];
    int64_t size[L];
    for (int lane = 0; lane < L; lane++) {
        int64_t j = item[lane];
        size[lane] = j < 0 ? 0 : measures_item(s->costs->m, j).n;
        place[lane] = j < 0 ? NULL : cost_tile_places(words, s->costs->m, j);
    }
    spread_all(&s->worker[worker], words->n, place, size, measures_item(s->costs->m, i).n, m, out);
}
