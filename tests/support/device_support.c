/* Functions shared by the tests of devices. */
#include "device_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/graph/graph.h"
#include "support.h"

const char *device_name(void)
{
    const char *name = getenv("DDSC_TEST_DEVICE");
    return name ? name : "reference";
}

void device_fault(const char *what)
{
    if (what)
        setenv("DDSC_REFERENCE", what, 1);
    else
        unsetenv("DDSC_REFERENCE");
}

sample sample_make(int64_t n, int64_t columns, bool weighted)
{
    sample s = {n, columns, calloc((size_t)(n * columns), sizeof(float)),
                calloc((size_t)n, sizeof(float)), NULL};
    if (weighted)
        s.weight = calloc((size_t)n, sizeof(float));
    for (int64_t i = 0; weighted && i < n; i++)
        s.weight[i] = ldexpf(1, -(int)(i % 3));
    return s;
}

void sample_free(sample *s)
{
    free(s->rows);
    free(s->start);
    free(s->weight);
}

double *products(const sample *s)
{
    double *all = calloc((size_t)(s->n * s->n), sizeof *all);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k < s->columns; k++)
                sum += (double)s->rows[i * s->columns + k] * (double)s->rows[j * s->columns + k];
            all[i * s->n + j] = all[j * s->n + i] = sum;
        }
    return all;
}

/* Computes the value by the formula of the table. */
double exact_key(const sample *s, const double *all, int64_t i, int64_t j)
{
    double weight = s->weight ? (double)s->weight[j] : 1;
    return weight * ((double)s->start[i] + (double)s->start[j] - 2 * all[i * s->n + j]);
}

static void on_warning(void *user, const char *text)
{
    told *t = user;
    t->n += strstr(text, "the CPU is used instead") != NULL;
    snprintf(t->last, sizeof t->last, "%s", text);
}

ddsc_context *device_context(const char *name, int threads, told *t)
{
    ddsc_context_settings set;
    ddsc_context *ctx = NULL;
    ddsc_context_settings_init(&set);
    set.threads = threads;
    set.warning = on_warning;
    set.warning_user = t;
    assert_int_equal(ddsc_context_create(&ctx, &set), DDSC_OK);
    assert_int_equal(ddsc_context_set_device(ctx, name), DDSC_OK);
    return ctx;
}

void same_bytes(const ddsc_graph *a, const ddsc_graph *b)
{
    size_t edges = (size_t)a->offset[a->n];
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->offset, b->offset, (size_t)(a->n + 1) * sizeof *a->offset);
    assert_memory_equal(a->index, b->index, edges * sizeof *a->index);
    assert_memory_equal(a->d2, b->d2, edges * sizeof *a->d2);
}

enum { GRID = 10 };

/* Creates histograms on a grid, or on a few of its points, which bounds separate less well. Every
 * seventh item is a copy of an earlier one. */
ddsc_measures *device_images(ddsc_context *ctx, int64_t n, bool scattered)
{
    double table[GRID * GRID][2], *rows = calloc((size_t)n * GRID * GRID, sizeof *rows);
    rng r = rng_make(5, RNG_GAUSSIANS, 1);
    ddsc_measures *m = NULL;
    for (int c = 0; c < GRID * GRID; c++) {
        table[c][0] = c / GRID;
        table[c][1] = c % GRID;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = 2 + 6 * rng_uniform(&r), y = 2 + 6 * rng_uniform(&r);
        for (int c = 0; c < GRID * GRID; c++)
            rows[i * GRID * GRID + c] =
                exp(-pow(table[c][0] - x, 2) - pow(table[c][1] - y, 2)) * (1 + rng_uniform(&r));
        for (int c = 0; scattered && c < GRID * GRID; c++)
            rows[i * GRID * GRID + c] = fmax(0, rng_uniform(&r) - 0.9) + (c == i % 100 ? 1e-3 : 0);
        if (i % 7 == 6)
            memcpy(rows + i * GRID * GRID, rows + (i / 2) * GRID * GRID,
                   GRID * GRID * sizeof *rows);
    }
    assert_int_equal(ddsc_measures_create_dense(ctx, &m, n, GRID * GRID, 2, &table[0][0], rows,
                                                DDSC_EMPTY_ERROR),
                     DDSC_OK);
    free(rows);
    return m;
}

ddsc_graph *device_graph(ddsc_context *ctx, const ddsc_measures *m, int kind, int64_t tau,
                         bool full, int64_t hubs)
{
    ddsc_metric_settings metric;
    ddsc_graph_settings set;
    ddsc_graph *g = NULL;
    ddsc_metric_settings_init(&metric);
    ddsc_graph_settings_init(&set);
    metric.metric = kind == 3 ? DDSC_METRIC_W2 : kind == 2 ? DDSC_METRIC_LOT : DDSC_METRIC_MMD;
    metric.mmd_kernel = kind == 4 ? DDSC_KERNEL_ENERGY : DDSC_KERNEL_GAUSSIAN;
    metric.mmd_features = kind == 1 ? 256 : 0;
    metric.reference_size = 20;
    set.tau = tau;
    set.hubs = hubs;
    set.exact_graph = full ? DDSC_GRAPH_FULL : DDSC_GRAPH_PRUNED;
    assert_int_equal(ddsc_neighbors_run(ctx, &g, NULL, m, &metric, &set), DDSC_OK);
    return g;
}
