#include "sparse_support.h"

#include <math.h>
#include <stdlib.h>

edge_list *edges_new(int64_t n)
{
    edge_list *e = calloc(1, sizeof *e);
    e->n = n;
    return e;
}

void edges_add(edge_list *e, int64_t i, int64_t j, double weight)
{
    if (e->count == e->capacity) {
        e->capacity = 2 * e->capacity + 64;
        e->from = realloc(e->from, (size_t)e->capacity * sizeof *e->from);
        e->to = realloc(e->to, (size_t)e->capacity * sizeof *e->to);
        e->weight = realloc(e->weight, (size_t)e->capacity * sizeof *e->weight);
    }
    e->from[e->count] = (int32_t)i;
    e->to[e->count] = (int32_t)j;
    e->weight[e->count++] = weight;
}

void edges_free(edge_list *e)
{
    free(e->from);
    free(e->to);
    free(e->weight);
    free(e);
}

/* Stores both directions of every edge by counting sort; transposing twice sorts the columns. */
static void edges_to_sparse(ddsc_context *ctx, sparse *out, const edge_list *e)
{
    sparse loose, turned;
    assert_int_equal(sparse_new(ctx, &loose, e->n, 2 * e->count), DDSC_OK);
    for (int64_t p = 0; p < e->count; p++) {
        loose.offset[e->from[p] + 1]++;
        loose.offset[e->to[p] + 1]++;
    }
    for (int64_t i = 0; i < e->n; i++)
        loose.offset[i + 1] += loose.offset[i];
    int64_t *at = calloc((size_t)e->n, sizeof *at);
    for (int64_t p = 0; p < e->count; p++)
        for (int side = 0; side < 2; side++) {
            int32_t i = side ? e->to[p] : e->from[p], j = side ? e->from[p] : e->to[p];
            int64_t q = loose.offset[i] + at[i]++;
            loose.column[q] = j;
            loose.value[q] = e->weight[p];
        }
    free(at);
    assert_int_equal(sparse_transpose(ctx, &turned, &loose), DDSC_OK);
    assert_int_equal(sparse_transpose(ctx, out, &turned), DDSC_OK);
    sparse_free(ctx, &turned);
    sparse_free(ctx, &loose);
}

void test_graph_make(ddsc_context *ctx, test_graph *g, const edge_list *e)
{
    *g = (test_graph){.ctx = ctx};
    edges_to_sparse(ctx, &g->a, e);
    g->degree = malloc((size_t)e->n * sizeof *g->degree);
    g->component = malloc((size_t)e->n * sizeof *g->component);
    assert_int_equal(
        components_find(ctx, g->component, &g->n_components, g->a.n, g->a.offset, g->a.column),
        DDSC_OK);
    assert_int_equal(operator_build(ctx, &g->m, g->degree, &g->a), DDSC_OK);
}

void test_graph_free(test_graph *g)
{
    free(g->degree);
    free(g->component);
    sparse_free(g->ctx, &g->m);
    sparse_free(g->ctx, &g->a);
}

edge_list *edges_random(int64_t n, int64_t more, uint64_t seed)
{
    edge_list *e = edges_new(n);
    rng r = rng_make(seed, RNG_GAUSSIANS, 77);
    for (int64_t i = 0; i < n; i++) {
        if (n > 2 || i == 0)
            edges_add(e, i, (i + 1) % n, 0.1 + rng_uniform(&r));
        for (int64_t k = 0; k < more; k++) {
            int64_t j = rng_below(&r, n);
            if (j != i)
                edges_add(e, i, j, 0.1 + rng_uniform(&r));
        }
    }
    return e;
}

static void check_sign(const eigen_result *r, int64_t j)
{
    double largest = 0;
    for (int64_t i = 0; i < r->n; i++)
        largest = fmax(largest, fabs(r->vector[i * r->k + j]));
    for (int64_t i = 0; i < r->n; i++)
        if (fabs(r->vector[i * r->k + j]) >= (1 - 1e-6) * largest) {
            assert_true(r->vector[i * r->k + j] > 0);
            return;
        }
}

static void check_orthonormal(const eigen_result *r)
{
    for (int64_t p = 0; p < r->k; p++)
        for (int64_t q = 0; q <= p; q++) {
            double dot = 0;
            for (int64_t i = 0; i < r->n; i++)
                dot += r->vector[i * r->k + p] * r->vector[i * r->k + q];
            assert_close(dot, p == q, 0, 1e-10);
        }
}

static void check_residual(const test_graph *g, const eigen_result *r, int64_t j, double tolerance)
{
    double sum = 0;
    for (int64_t i = 0; i < r->n; i++) {
        double row = -r->value[j] * r->vector[i * r->k + j];
        for (int64_t p = g->m.offset[i]; p < g->m.offset[i + 1]; p++)
            row += g->m.value[p] * r->vector[g->m.column[p] * r->k + j];
        sum += row * row;
    }
    assert_true(sqrt(sum) <= tolerance);
    assert_close(r->residual[j], sqrt(sum), 1e-6, 1e-14);
}

void test_eigen_run(test_graph *g, eigen_result *out, int64_t k, int64_t dense_below)
{
    eigen_settings set = {1e-9, 20000, dense_below};
    ddsc_status status =
        eigen_run(g->ctx, out, &g->m, g->degree, g->component, g->n_components, k, &set);
    if (status != DDSC_OK)
        fail_msg("n %lld, k %lld: %s, verified %d: %s", (long long)g->m.n, (long long)k,
                 ddsc_status_name(status), out->verified, ddsc_context_get_message(g->ctx));
    assert_true(out->verified);
    check_orthonormal(out);
    for (int64_t j = 0; j < k; j++) {
        assert_true(j == 0 || out->value[j] <= out->value[j - 1] + 1e-14);
        check_sign(out, j);
        check_residual(g, out, j, set.tolerance);
    }
}
