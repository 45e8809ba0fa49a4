/* Computes cost panels: the costs of a tile of small items, in the layout of groups of eight
 * problems.
 *
 * A group solves eight problems at once, one in each SIMD lane. All eight problems share the row
 * item, but have different column items. The solver needs the costs of corresponding points in the
 * eight problems next to each other in memory.
 *
 * Within a tile, many columns share points. In a tile of 64 documents, the number of distinct
 * points is 41% of the number of points. The cost between each point of the row item and each
 * distinct point in the columns of the tile (a word) is therefore computed once per row. The
 * resulting lines are transposed into the panel, which has one contiguous row per word. A group
 * then gathers the panel rows for its eight columns and interleaves them with 8 x 8 transpositions.
 * An extra row of the panel provides infinite costs for missing points.
 *
 * A row takes one cost evaluation per pair of a point and a word, plus the transposition. A group
 * takes only loads, transpositions and stores. */
#include <math.h>

#include "base/simd.h"
#include "distance/sinkhorn/costs.h"

enum { G = SIMD_LANES };

ddsc_status sinkhorn_panel_open(const sinkhorn_costs *c, cost_scratch *w)
{
    int64_t words = c->group_side * c->most;
    CHECK(MEM_NEW(c->ctx, w->panel, (words + 2 * G) * (c->most + G)));
    if (sinkhorn_costs_by_lists(c))
        return DDSC_OK;
    CHECK(MEM_ZERO(c->ctx, w->line, c->most * BASE_ROUND_UP(words, G)));
    if (c->table)
        return DDSC_OK;
    return points_panel_create(c->ctx, &w->tile_points, &c->support, words);
}

void sinkhorn_panel_close(const sinkhorn_costs *c, cost_scratch *w)
{
    points_panel_free(c->ctx, &w->tile_points);
    mem_free(c->ctx, w->line);
    mem_free(c->ctx, w->panel);
}

ddsc_status sinkhorn_panel_tile(sinkhorn_costs *c, const item_block *block, int worker)
{
    cost_scratch *w = &c->scratch[worker];
    const block_points *words = &w->tile.y;
    CHECK(cost_tile_list(c->ctx, &w->tile, c->m, block, c->most));
    if (w->tile.x.n == 0 || words->n == 0)
        return DDSC_OK;
    if (sinkhorn_costs_by_lists(c)) {
        if (ground_from_squares(c->ground.kind))
            cost_tile_norms(&w->tile, c->m);
        CHECK(cost_tile_make(c->ctx, &w->tile, c->m, &c->ground));
    } else if (!c->table) {
        points_panel_load(&w->tile_points, &c->support, words->n, words->row, 0);
    }
    return DDSC_OK;
}

/* ---- one row ---- */

/* Finds or computes, for each point of the item, the line of its costs to all words. */
static void find_lines(const sinkhorn_costs *c, cost_scratch *w, int64_t i, const double **line)
{
    item_view x = measures_item(c->m, i);
    const block_points *words = &w->tile.y;
    const int32_t *place = cost_tile_places(&w->tile.x, c->m, i);
    int64_t stride = BASE_ROUND_UP(words->n, G);
    bool listed = sinkhorn_costs_by_lists(c);
    for (int64_t p = 0; p < x.n; p++)
        line[p] = listed ? w->tile.cost + place[p] * words->n : w->line + p * stride;
    if (c->table) {
        for (int64_t p = 0; p < x.n; p++)
            for (int64_t k = 0; k < words->n; k++)
                w->line[p * stride + k] = c->table[x.index[p] * c->m->v + words->row[k]];
    } else if (!listed) {
        points_panel_load(&w->rows, &c->support, x.n, x.index, 0);
        points_distance2(&c->support, &w->rows, &w->tile_points, w->line, stride);
        ground_finish(c->ground.kind, w->line, x.n * stride);
    }
}

/* Transposes the lines: out[q * width + p] = line_p[q], eight lines at a time. */
SIMD_CLONES static void turn(const double *const *line, int64_t n_words, double *out, int64_t width)
{
    for (int64_t p = 0; p < width; p += G)
        for (int64_t q = 0; q < n_words; q += G) {
            simd_f64 x[G];
            for (int r = 0; r < G; r++)
                x[r] = simd_load(line[p + r] + q);
            simd_transpose(x);
            for (int r = 0; r < G; r++)
                simd_store(out + (q + r) * width + p, x[r]);
        }
}

void sinkhorn_panel_row(sinkhorn_costs *c, int64_t i, int worker)
{
    cost_scratch *w = &c->scratch[worker];
    int64_t n = measures_item(c->m, i).n, n_words = w->tile.y.n;
    const double *line[SINKHORN_GROUP_SIDE];
    find_lines(c, w, i, line);
    w->width = BASE_ROUND_UP(n, G);
    for (int64_t p = n; p < w->width; p++)
        line[p] = line[n - 1];
    turn(line, n_words, w->panel, w->width);
    for (int64_t p = 0; p < w->width; p++)
        w->panel[n_words * w->width + p] = INFINITY;
}

/* ---- groups of eight columns ---- */

/* Computes out[(p * m + q) * G + problem] = panel[word of point q of that problem][p] for p < n. If
 * `turned` is true, the entry is stored at (q * n + p) * G + problem instead. */
SIMD_CLONES static void spread_costs(const cost_scratch *w, const int32_t *const *place,
                                     const int64_t *size, int64_t n, int64_t m, bool turned,
                                     double *out)
{
    int64_t p_step = turned ? G : m * G, q_step = turned ? n * G : G;
    for (int64_t q = 0; q < m; q++) {
        const double *from[G];
        for (int k = 0; k < G; k++)
            from[k] = w->panel + (q < size[k] ? place[k][q] : w->tile.y.n) * w->width;
        for (int64_t p = 0; p < n; p += G) {
            simd_f64 x[G];
#pragma GCC unroll 8
            for (int k = 0; k < G; k++)
                x[k] = simd_load(from[k] + p);
            simd_transpose(x);
#pragma GCC unroll 8
            for (int k = 0; k < G; k++)
                if (p + k < n)
                    simd_store(out + (p + k) * p_step + q * q_step, x[k]);
        }
    }
}

void sinkhorn_panel_group(const sinkhorn_costs *c, int64_t i, const int64_t *item, int64_t m,
                          bool turned, double *out, int worker)
{
    const cost_scratch *w = &c->scratch[worker];
    const int32_t *place[G];
    int64_t size[G];
    for (int k = 0; k < G; k++) {
        int64_t j = item[k];
        size[k] = j < 0 ? 0 : measures_item(c->m, j).n;
        place[k] = j < 0 ? NULL : cost_tile_places(&w->tile.y, c->m, j);
    }
    spread_costs(w, place, size, measures_item(c->m, i).n, m, turned, out);
}
