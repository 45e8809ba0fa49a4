/* The marginal bound: transport along the lines of a grid, exactly.
 *
 * Projected to an axis of a grid, items live on whole steps, where a small difference costs its
 * mass times a whole step: far more than quantile functions averaged over bins can see. With
 * distribution functions F, G on the line, (k steps)^2 = k + 2 (1 + ... + (k - 1)) gives
 * W2^2 = sum_x |F_x - G_x| + 2 sum_{s >= 1} sum_x (F_x - G_{x+s})_+ + (G_x - F_{x+s})_+ steps^2.
 * The two diagonals of a square grid are a second frame, of steps shorter by sqrt 2. */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "bound/first.h"

enum {
    WIDTH = 16,
    MAX_SHIFT = 8,    /* terms beyond are left out: all are >= 0 */
    MAX_LENGTH = 256, /* steps of a line */
    WHOLE = 32767     /* distribution functions are rounded down to whole numbers up to this */
};

typedef int16_t vector __attribute__((vector_size(2 * WIDTH)));
typedef int32_t wide_vector __attribute__((vector_size(4 * WIDTH)));
typedef int32_t half_vector __attribute__((vector_size(2 * WIDTH)));

/* Step of the grid, the same along each axis that has more than one; 0: they differ. */
static double common_step(const measures_grid *grid, int64_t d)
{
    double step = 0;
    for (int64_t k = 0; k < d; k++)
        if (grid->shape[k] > 1) {
            if (step > 0 && grid->step[k] != step)
                return 0;
            step = grid->step[k];
        }
    return step;
}

bool bound_marginal_applies(const measures *m)
{
    bool fits = m->grid.found && common_step(&m->grid, m->d) > 0;
    for (int64_t k = 0; fits && k < m->d; k++)
        fits = m->grid.shape[k] <= MAX_LENGTH / 2; /* a diagonal has twice as many */
    return fits;
}

/* ---- pairs ---- */

SIMD_INLINE vector load(const int16_t *from)
{
    vector x;
    memcpy(&x, from, sizeof x);
    return x;
}

SIMD_INLINE vector positive(vector x)
{
    return x & (x > 0);
}

/* Over shifts in [from, to) and x: (F_x - G_{x+s})_+ + (G_x - F_{x+s})_+, of which one at most is
 * not 0, each less the one that rounding down may have added. */
SIMD_INLINE wide_vector line_terms(const int16_t *f, const int16_t *g, int64_t length, int64_t from,
                                   int64_t to)
{
    wide_vector sums = {0};
    for (int64_t x = 0; x < length; x += WIDTH) {
        vector f_less = load(f + x) - 1, g_less = load(g + x) - 1;
        for (int64_t s = from; s < to; s++) {
            vector there = positive(f_less - load(g + x + s));
            vector back = positive(g_less - load(f + x + s));
            sums += __builtin_convertvector(there + back, wide_vector);
        }
    }
    return sums;
}

SIMD_INLINE int32_t vector_sum(wide_vector x)
{
    half_vector half[2];
    int32_t total = 0;
    memcpy(half, &x, sizeof x);
    half[0] += half[1];
    for (int k = 0; k < WIDTH / 4; k++)
        total += half[0][k] + half[0][k + WIDTH / 4];
    return total;
}

/* Shifts 0, 1, 2 and 3, 4 to 7: most pairs are told apart by the first. */
SIMD_INLINE double frame_value(const bound_marginal *b, const marginal_frame *frame,
                               const int16_t *f, const int16_t *g, double enough)
{
    double value = -b->slack;
    for (int64_t shift = 0, next = 1; shift < MAX_SHIFT; shift = next, next *= 2) {
        wide_vector sums = {0};
        for (int k = frame->first; k < frame->end; k++) {
            const marginal_line *line = &b->line[k];
            sums += line_terms(f + line->at, g + line->at, line->length, shift, next);
        }
        int32_t added = vector_sum(sums);
        value += (shift == 0 ? frame->unit : 2 * frame->unit) * added;
        if (added == 0 || value > enough)
            break;
    }
    return value;
}

SIMD_CLONES double bound_marginal_pair(const bound_marginal *b, int64_t i, int64_t j, double enough)
{
    const int16_t *f = b->row + i * b->width, *g = b->row + j * b->width;
    double best = 0;
    for (int frame = 0; frame < b->n_frames && best <= enough; frame++) {
        double value = frame_value(b, &b->frame[frame], f, g, enough);
        best = value > best ? value : best;
    }
    return best;
}

/* ---- preparation ---- */

static void line_add(bound_marginal *b, const int32_t *step, int64_t first, int64_t length)
{
    marginal_line *line = &b->line[b->n_lines++];
    memcpy(line->step, step, sizeof line->step);
    line->at = b->width;
    line->first = first;
    line->length = (length + WIDTH - 1) / WIDTH * WIDTH;
    b->width += line->length + WIDTH; /* reads go MAX_SHIFT beyond */
}

static void frame_end(bound_marginal *b, int first, double step2)
{
    b->frame[b->n_frames++] = (marginal_frame){first, b->n_lines, step2 / WHOLE};
}

/* Points may be off the grid by 1e-9 of their distance to its origin; see grid_find. */
static void frames_make(bound_marginal *b, const measures_grid *grid, int64_t d)
{
    double step = common_step(grid, d);
    for (int64_t k = 0; k < d; k++) {
        int32_t along[GRID_MAX_DIM] = {0};
        double extent = step * (double)grid->shape[k];
        along[k] = 1;
        line_add(b, along, 0, grid->shape[k]);
        b->slack += 1e-8 * extent * extent;
    }
    frame_end(b, 0, step * step);
    if (d == 2) {
        int64_t length = grid->shape[0] + grid->shape[1] - 1;
        line_add(b, (int32_t[GRID_MAX_DIM]){1, 1, 0}, 0, length);
        line_add(b, (int32_t[GRID_MAX_DIM]){1, -1, 0}, 1 - grid->shape[1], length);
        frame_end(b, b->n_lines - 2, step * step / 2);
    }
}

static void item_line(const measures *m, const marginal_line *line, item_view item, int16_t *row)
{
    double mass[MAX_LENGTH] = {0}, below = 0;
    for (int64_t p = 0; p < item.n; p++) {
        const double *x = measures_point(m, item.index[p]);
        int64_t at = -line->first;
        for (int64_t k = 0; k < m->d; k++)
            at += line->step[k] * llround((x[k] - m->grid.origin[k]) / m->grid.step[k]);
        mass[at] += item.weight[p];
    }
    for (int64_t x = 0; x < line->length; x++) {
        below += mass[x];
        row[x] = (int16_t)(fmin(1, below) * WHOLE + 1e-9); /* 1 up to rounding is 1 */
    }
    for (int64_t x = line->length; x < line->length + WIDTH; x++)
        row[x] = WHOLE;
}

static ddsc_status rows_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const bound_marginal *b = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < b->n_lines; k++)
            item_line(b->m, &b->line[k], measures_item(b->m, i),
                      b->row + i * b->width + b->line[k].at);
    return DDSC_OK;
}

ddsc_status bound_marginal_make(ddsc_context *ctx, bound_marginal *out, const measures *m)
{
    ddsc_status status = DDSC_OK;
    bound_marginal b = {.m = m};
    *out = (bound_marginal){0};
    frames_make(&b, &m->grid, m->d);
    TRY(MEM_NEW(ctx, b.row, m->n * b.width));
    TRY(parallel_for(ctx, m->n, 32, rows_range, &b));
    *out = b;
    b.row = NULL;
done:
    mem_free(ctx, b.row);
    return status;
}

void bound_marginal_free(ddsc_context *ctx, bound_marginal *b)
{
    mem_free(ctx, b->row);
    *b = (bound_marginal){0};
}
