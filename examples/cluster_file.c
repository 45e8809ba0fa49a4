/* The program at the top of ddsc.h: clusters the items of a file, which may be an argument.
 *     cc cluster_file.c $(pkg-config --cflags --libs ddsc) && ./a.out clouds.npz */
#include <ddsc/ddsc.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ddsc_context *ctx = NULL;
    ddsc_measures *data = NULL;
    ddsc_clustering *found = NULL;
    ddsc_cluster_settings set;
    ddsc_cluster_settings_init(&set);
    set.k_min = set.k_max = 5;
    ddsc_status status = ddsc_context_create(&ctx, NULL);
    if (status >= 0)
        status = ddsc_measures_read(ctx, &data, argc > 1 ? argv[1] : "clouds.npz", NULL);
    if (status >= 0)
        status = ddsc_cluster_run(ctx, &found, data, &set);
    if (status >= 0)
        printf("the first item is in cluster %d\n", ddsc_clustering_get_labels(found)[0]);
    else
        fprintf(stderr, "%s: %s\n", ddsc_status_name(status), ddsc_context_get_message(ctx));
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(data);
    ddsc_context_destroy(ctx);
    return status < 0;
}
