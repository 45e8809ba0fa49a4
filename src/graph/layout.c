/* A map of the graph in the plane: neighbours attract, random items repel (Tang, Liu, Zhang and Mei
 * 2016; the gradients of McInnes, Healy and Melville 2018 with a = b = 1). One thread, so that the
 * order of the steps, and with it every bit, is fixed. */
#include "graph.h"

#include <math.h>

enum { MAX_EPOCHS = 200, MIN_EPOCHS = 20, N_REPELLED = 4, START_SIZE = 10 };
#define WORK_LIMIT 2e8 /* pairs moved, a few seconds; larger graphs get fewer epochs */
#define STEP_LIMIT 4.0

static double limited(double step)
{
    return fmin(fmax(step, -STEP_LIMIT), STEP_LIMIT);
}

static double square_distance(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1];
    return x * x + y * y;
}

/* Both ends move along the line between them. */
static void attract(double *a, double *b, double rate)
{
    double pull = 2 / (1 + square_distance(a, b));
    for (int c = 0; c < 2; c++) {
        double step = rate * limited(pull * (a[c] - b[c]));
        a[c] -= step;
        b[c] += step;
    }
}

static void repel(double *a, const double *b, double rate)
{
    double d2 = square_distance(a, b), push = 2 / ((0.001 + d2) * (1 + d2));
    for (int c = 0; c < 2; c++)
        a[c] += rate * limited(push * (a[c] - b[c]));
}

static void move_item(double *xy, const ddsc_graph *g, int64_t i, double rate, rng *random)
{
    for (int64_t p = g->offset[i]; p < g->offset[i + 1]; p++) {
        attract(xy + 2 * i, xy + 2 * (int64_t)g->index[p], rate);
        for (int r = 0; r < N_REPELLED; r++) {
            int64_t other = rng_below(random, g->n);
            if (other != i)
                repel(xy + 2 * i, xy + 2 * other, rate);
        }
    }
}

/* The start at a common size, with a little noise so that equal places part. */
static void place(double *xy, const double *start, int64_t n, rng *random)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; start && i < 2 * n; i++) {
        low[i % 2] = fmin(low[i % 2], start[i]);
        high[i % 2] = fmax(high[i % 2], start[i]);
    }
    double size = start && n ? fmax(high[0] - low[0], high[1] - low[1]) : 0;
    double scale = size > 0 && isfinite(size) ? 2 * START_SIZE / size : 0;
    for (int64_t i = 0; i < 2 * n; i++) {
        double place = scale > 0 ? scale * (start[i] - low[i % 2]) - START_SIZE : 0;
        xy[i] = place + (scale > 0 ? 0.01 : START_SIZE) * (2 * rng_uniform(random) - 1);
    }
}

static int64_t epochs_for(const ddsc_graph *g)
{
    double each = fmax((double)g->offset[g->n], 1) * (1 + N_REPELLED);
    return (int64_t)fmin(fmax(WORK_LIMIT / each, MIN_EPOCHS), MAX_EPOCHS);
}

ddsc_status ddsc_layout_run(ddsc_context *ctx, double *xy, const ddsc_graph *graph,
                            const double *start)
{
    CHECK(ctx_enter(ctx));
    if (!xy || !graph)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "layout: xy and graph must not be NULL");
    rng random = rng_make(ctx_seed(ctx), RNG_LAYOUT, 0);
    int64_t epochs = epochs_for(graph), done = 0;
    ddsc_status status = DDSC_OK;
    place(xy, start, graph->n, &random);
    progress_begin(ctx, "map", epochs * graph->n);
    for (int64_t e = 0; e < epochs && status == DDSC_OK; e++) {
        double rate = 1 - (double)e / (double)epochs;
        for (int64_t i = 0; i < graph->n && status == DDSC_OK; i++) {
            move_item(xy, graph, i, rate, &random);
            if (++done % 4096 == 0) {
                progress_add(ctx, 4096);
                status = progress_poll(ctx);
            }
        }
    }
    progress_end(ctx);
    return status;
}
