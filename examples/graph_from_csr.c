/* Clusters items by precomputed neighbor lists from any source:
 *     cc graph_from_csr.c $(pkg-config --cflags --libs ddsc) && ./a.out */
#include <ddsc/ddsc.h>
#include <stdio.h>

int main(void)
{
    /* Seven items in two clusters, 0 to 2 and 3 to 6, with one long edge between 2 and 3. */
    const int64_t offsets[] = {0, 2, 4, 7, 10, 12, 14, 16};
    const int32_t neighbors[] = {1, 2, 0, 2, 0, 1, 3, 4, 5, 2, 3, 6, 3, 6, 4, 5};
    const double squared[] = {1, 2, 1, 1, 2, 1, 30, 1, 2, 30, 1, 1, 2, 1, 1, 1};
    ddsc_context *ctx = NULL;
    ddsc_graph *graph = NULL;
    ddsc_graph_view view;
    ddsc_clustering *found = NULL;
    ddsc_cluster_settings settings;

    ddsc_status status = ddsc_context_create(&ctx, NULL);
    if (status == DDSC_OK)
        status = ddsc_graph_create_from_csr(ctx, &graph, 7, offsets, neighbors, squared);
    ddsc_cluster_settings_init(&settings);
    settings.k_min = settings.k_max = 2;
    if (status == DDSC_OK)
        status = ddsc_spectral_run(ctx, &found, graph, &settings);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", ddsc_status_name(status), ddsc_context_get_message(ctx));
    } else {
        ddsc_graph_get_view(graph, &view);
        printf("%d items, the longest list has %d neighbors\n", (int)view.n, (int)view.tau);
        for (int i = 0; i < 7; i++)
            printf("item %d: cluster %d\n", i, ddsc_clustering_get_labels(found)[i]);
    }
    ddsc_clustering_destroy(found);
    ddsc_graph_destroy(graph);
    ddsc_context_destroy(ctx);
    return status < 0;
}
