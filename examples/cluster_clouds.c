/* Clusters six small clouds with exact 2-Wasserstein distances:
 *     cc cluster_clouds.c $(pkg-config --cflags --libs ddsc) && ./a.out */
#include <ddsc/ddsc.h>
#include <stdio.h>

int main(void)
{
    /* Six clouds of two points in the plane: three near the origin and three near (10, 10). */
    const double points[] = {0,  0,  1,  0,  0,  1,  1,  1,  0,  0,  0,  1,
                             10, 10, 11, 10, 10, 11, 11, 11, 10, 10, 10, 11};
    const int64_t offsets[] = {0, 2, 4, 6, 8, 10, 12};
    ddsc_context *ctx = NULL;
    ddsc_measures *clouds = NULL;
    ddsc_clustering *found = NULL;
    ddsc_cluster_settings settings;
    ddsc_graph_settings graph;

    ddsc_status status = ddsc_context_create(&ctx, NULL);
    if (status == DDSC_OK)
        status = ddsc_measures_create_clouds(ctx, &clouds, 6, 2, points, NULL, offsets,
                                             DDSC_EMPTY_ERROR);
    ddsc_graph_settings_init(&graph);
    graph.tau = 2;
    ddsc_cluster_settings_init(&settings);
    settings.k_min = settings.k_max = 2;
    settings.graph = &graph; /* the default metric is exact W2 */
    if (status == DDSC_OK)
        status = ddsc_cluster_run(ctx, &found, clouds, &settings);
    if (status < 0)
        fprintf(stderr, "%s: %s\n", ddsc_status_name(status), ddsc_context_get_message(ctx));
    else
        for (int i = 0; i < 6; i++)
            printf("cloud %d: cluster %d\n", i, ddsc_clustering_get_labels(found)[i]);
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(clouds);
    ddsc_context_destroy(ctx);
    return status < 0;
}
