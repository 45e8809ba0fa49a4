/* A program whose functions have the same names as internal functions of the library. If it is
 * linked with the static library, each side uses its own functions. */
#include <ddsc/ddsc.h>
#include <stdio.h>

int mem_get(void);
int mem_free(void);
int ctx_fail(void);
int parallel_for(void);
int hash_bytes(void);
int graph_create(void);
int exact_solve(void);
int kernel_exp(void);
int sized_take(void);

int mem_get(void)
{
    return 1;
}
int mem_free(void)
{
    return 2;
}
int ctx_fail(void)
{
    return 3;
}
int parallel_for(void)
{
    return 4;
}
int hash_bytes(void)
{
    return 5;
}
int graph_create(void)
{
    return 6;
}
int exact_solve(void)
{
    return 7;
}
int kernel_exp(void)
{
    return 8;
}
int sized_take(void)
{
    return 9;
}

int main(void)
{
    int sum = mem_get() + mem_free() + ctx_fail() + parallel_for() + hash_bytes() + graph_create() +
              exact_solve() + kernel_exp() + sized_take();
    ddsc_context *ctx = NULL;
    ddsc_measures *shapes = NULL;
    ddsc_clustering *found = NULL;
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 2;
    if (ddsc_context_create(&ctx, NULL) != DDSC_OK ||
        ddsc_measures_generate_shapes(ctx, &shapes, 20, 40) != DDSC_OK ||
        ddsc_cluster_run(ctx, &found, shapes, &set) != DDSC_OK)
        return 1;
    const int32_t *label = ddsc_clustering_get_labels(found);
    printf("%d %d %d\n", sum, (int)label[0], (int)label[39]);
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(shapes);
    ddsc_context_destroy(ctx);
    return 0;
}
