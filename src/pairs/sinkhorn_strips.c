#include <math.h>

#include "pairs/sinkhorn_costs.h"

enum { L = SIMD_LANES };

/* ---- opening ---- */

static ddsc_status words_open(ddsc_context *ctx, tile_words *w, int64_t side, int64_t most)
{
    ddsc_status status = DDSC_OK;
    TRY(MEM_NEW(ctx, w->index, side * most));
    TRY(MEM_NEW(ctx, w->slot, side * most));
    TRY(MEM_NEW(ctx, w->begin, side));
done:
    return status;
}

static void words_close(ddsc_context *ctx, tile_words *w)
{
    mem_free(ctx, w->index);
    mem_free(ctx, w->slot);
    mem_free(ctx, w->begin);
}

static bool by_products(const pair_costs *c)
{
    return !c->table && c->m->d > POINTS_MAX_DIRECT;
}

static ddsc_status strip_open(const pair_strips *s, cost_strip *w)
{
    ddsc_status status = DDSC_OK;
    const pair_costs *c = s->costs;
    int64_t words = s->side * s->most, d = c->m->d;
    TRY(MEM_NEW(s->ctx, w->place, c->m->v));
    for (int64_t k = 0; k < c->m->v; k++)
        w->place[k] = -1;
    TRY(words_open(s->ctx, &w->rows, s->side, s->most));
    TRY(words_open(s->ctx, &w->columns, s->side, s->most));
    TRY(MEM_NEW(s->ctx, w->strip, (words + 2 * L) * (s->most + L)));
    if (by_products(c)) {
        TRY(MEM_NEW(s->ctx, w->row_room, cost_list_room(words, d)));
        TRY(MEM_NEW(s->ctx, w->column_room, cost_list_room(words, d)));
        return MEM_NEW(s->ctx, w->table, cost_table_size(words, words));
    }
    TRY(MEM_ZERO(s->ctx, w->line, s->most * cost_table_stride(words)));
    if (!c->table) {
        TRY(points_panel_create(s->ctx, &w->row_panel, &c->support, s->most));
        TRY(points_panel_create(s->ctx, &w->column_panel, &c->support, words));
    }
done:
    return status;
}

ddsc_status pair_strips_open(pair_strips *s, const pair_costs *costs)
{
    ddsc_status status = DDSC_OK;
    *s = (pair_strips){.ctx = costs->ctx, .costs = costs, .n_workers = costs->n_workers};
    s->side = costs->side;
    s->most = BASE_MIN(LANES_SIDE, costs->largest);
    TRY(MEM_ZERO(s->ctx, s->worker, s->n_workers));
    for (int w = 0; w < s->n_workers; w++)
        TRY(strip_open(s, &s->worker[w]));
done:
    return status;
}

void pair_strips_close(pair_strips *s)
{
    for (int k = 0; s->worker && k < s->n_workers; k++) {
        cost_strip *w = &s->worker[k];
        words_close(s->ctx, &w->rows);
        words_close(s->ctx, &w->columns);
        points_panel_free(s->ctx, &w->row_panel);
        points_panel_free(s->ctx, &w->column_panel);
        double *block[] = {w->row_room, w->column_room, w->table, w->line, w->strip};
        for (int b = 0; b < 5; b++)
            mem_free(s->ctx, block[b]);
        mem_free(s->ctx, w->place);
    }
    mem_free(s->ctx, s->worker);
}

/* ---- a tile ---- */

/* Each point of the items once. */
static void list_words(const pair_strips *s, tile_words *w, int64_t begin, int64_t end,
                       int32_t *place)
{
    int64_t at = 0;
    w->n = 0;
    for (int64_t i = begin; i < end; i++) {
        item_view x = measures_item(s->costs->m, i);
        w->begin[i - begin] = x.n <= s->most ? at : -1;
        for (int64_t p = 0; p < x.n && x.n <= s->most; p++) {
            int32_t *known = &place[x.index[p]];
            if (*known < 0) {
                *known = (int32_t)w->n;
                w->index[w->n++] = x.index[p];
            }
            w->slot[at++] = *known;
        }
    }
    for (int64_t k = 0; k < w->n; k++)
        place[w->index[k]] = -1;
}

void pair_strips_tile(pair_strips *s, const pair_tile *t, int worker)
{
    cost_strip *w = &s->worker[worker];
    const pair_costs *c = s->costs;
    w->i0 = t->i0;
    w->j0 = t->j0;
    list_words(s, &w->columns, t->j0, t->j1, w->place);
    if (w->columns.n == 0)
        return;
    if (by_products(c)) {
        cost_list rows, columns;
        list_words(s, &w->rows, t->i0, t->i1, w->place);
        cost_list_columns(&columns, w->column_room, &c->support, w->columns.n, w->columns.index);
        cost_list_rows(&rows, w->row_room, &c->support, w->rows.n, w->rows.index);
        cost_table_fill(&c->support, &rows, &columns, w->table);
    } else if (!c->table) {
        points_panel_load(&w->column_panel, &c->support, w->columns.n, w->columns.index, 0);
    }
}

/* ---- a row ---- */

/* Where the costs of the item's points by all words lie. */
static void find_lines(const pair_strips *s, cost_strip *w, int64_t i, const double **line)
{
    const pair_costs *c = s->costs;
    item_view x = measures_item(c->m, i);
    int64_t stride = cost_table_stride(w->columns.n);
    for (int64_t p = 0; p < x.n; p++)
        line[p] = by_products(c) ? w->table + w->rows.slot[w->rows.begin[i - w->i0] + p] * stride
                                 : w->line + p * stride;
    if (c->table) {
        for (int64_t p = 0; p < x.n; p++)
            for (int64_t k = 0; k < w->columns.n; k++)
                w->line[p * stride + k] = c->table[x.index[p] * c->m->v + w->columns.index[k]];
    } else if (!by_products(c)) {
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
    int64_t n = measures_item(s->costs->m, i).n;
    const double *line[LANES_SIDE];
    find_lines(s, w, i, line);
    w->width = (n + L - 1) / L * L;
    for (int64_t p = n; p < w->width; p++)
        line[p] = line[n - 1];
    turn(line, w->columns.n, w->strip, w->width);
    for (int64_t p = 0; p < w->width; p++)
        w->strip[w->columns.n * w->width + p] = INFINITY;
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

SIMD_CLONES static void spread_all(const cost_strip *w, const int32_t *const *slot,
                                   const int64_t *size, int64_t n, int64_t m, double *out)
{
    for (int64_t q = 0; q < m; q++) {
        const double *from[L];
        for (int lane = 0; lane < L; lane++) {
            int64_t word = q < size[lane] ? slot[lane][q] : w->columns.n;
            from[lane] = w->strip + word * w->width;
        }
        spread(from, n, m, out + q * L);
    }
}

void pair_strips_lanes(const pair_strips *s, int64_t i, const int64_t *item, int64_t m, double *out,
                       int worker)
{
    const cost_strip *w = &s->worker[worker];
    const int32_t *slot[L];
    int64_t size[L];
    for (int lane = 0; lane < L; lane++) {
        int64_t j = item[lane];
        size[lane] = j < 0 ? 0 : measures_item(s->costs->m, j).n;
        slot[lane] = w->columns.slot + (j < 0 ? 0 : w->columns.begin[j - w->j0]);
    }
    spread_all(w, slot, size, measures_item(s->costs->m, i).n, m, out);
}
