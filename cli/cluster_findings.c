/* What a person wants to see of a clustering: typical and doubtful items, the distances between
 * neighbours, classes against clusters. All of it goes to result.json, and from there to the page.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

enum { N_SHOWN = 6, N_BINS = 40, MAX_CLASSES = 100 };

/* An item as ddsc_standing_run sees it. */
typedef struct standing {
    int64_t item;
    int32_t next;
    double distance, doubt;
} standing;

bool cluster_stand(cluster_result *r, int *code)
{
    const ddsc_clustering_view *v = &r->view;
    if (!r->clustering || v->n == 0)
        return true;
    r->distance = cli_allocate((size_t)v->n, sizeof *r->distance);
    r->doubt = cli_allocate((size_t)v->n, sizeof *r->doubt);
    r->next = cli_allocate((size_t)v->n, sizeof *r->next);
    ddsc_standing places;
    ddsc_standing_init(&places);
    places.distance = r->distance;
    places.doubt = r->doubt;
    places.next = r->next;
    return session_ok(
        r->s,
        ddsc_standing_run(r->s->ctx, &places, v->n, v->n_vectors, v->embedding, v->labels, v->k),
        code);
}

static int by_distance(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    return x->distance != y->distance ? (x->distance < y->distance ? -1 : 1)
                                      : (x->item > y->item) - (x->item < y->item);
}

static int by_doubt(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    return x->doubt != y->doubt ? (x->doubt > y->doubt ? -1 : 1)
                                : (x->item > y->item) - (x->item < y->item);
}

static json_t *item_json(const cluster_result *r, const standing *s)
{
    char room[24];
    json_t *item = json_object();
    int64_t row = r->has_items ? r->in.view.row[s->item] : s->item;
    json_put_count(item, "row", row);
    json_put_text(item, "id", cluster_id(r, row, room, sizeof room));
    return item;
}

static void put_cluster(json_t *clusters, const cluster_result *r, standing *member, int64_t n,
                        int64_t label)
{
    json_t *cluster = json_object();
    json_put_count(cluster, "label", label);
    json_put_count(cluster, "size", n);
    qsort(member, (size_t)n, sizeof *member, by_distance);
    json_t *shown = json_put_array(cluster, "representatives");
    for (int64_t i = 0; i < n && i < N_SHOWN; i++)
        json_add(shown, item_json(r, &member[i]));
    qsort(member, (size_t)n, sizeof *member, by_doubt);
    shown = json_put_array(cluster, "borderline");
    for (int64_t i = 0; i < n && i < N_SHOWN && member[i].next >= 0; i++) {
        json_t *item = item_json(r, &member[i]);
        json_put_count(item, "next", member[i].next);
        json_put_real(item, "doubt", member[i].doubt);
        json_add(shown, item);
    }
    json_add(clusters, cluster);
}

static void put_clusters(json_t *root, const cluster_result *r)
{
    json_t *clusters = json_put_array(root, "clusters");
    standing *all = cli_allocate((size_t)r->view.n, sizeof *all);
    int64_t *at = cli_allocate((size_t)r->view.k + 1, sizeof *at);
    for (int64_t c = 0; c < r->view.k; c++)
        at[c + 1] = at[c] + r->size[c];
    for (int64_t i = 0; i < r->view.n; i++)
        all[at[r->view.labels[i]]++] = (standing){i, r->next[i], r->distance[i], r->doubt[i]};
    for (int64_t c = 0; c < r->view.k; c++) /* at[c] now ends cluster c */
        put_cluster(clusters, r, all + at[c] - r->size[c], r->size[c], c);
    free(at);
    free(all);
}

static double edge_length(double d2)
{
    return sqrt(fmax(d2, 0));
}

static void put_neighbours(json_t *root, const cluster_result *r)
{
    const ddsc_graph_view *g = &r->edges;
    double low = INFINITY, high = -INFINITY;
    int64_t count[N_BINS] = {0};
    for (int64_t e = 0; e < g->n_edges; e++) {
        low = fmin(low, edge_length(g->d2[e]));
        high = fmax(high, edge_length(g->d2[e]));
    }
    if (g->n_edges == 0)
        return;
    double scale = high > low ? N_BINS / (high - low) : 0;
    for (int64_t e = 0; e < g->n_edges; e++)
        count[(int)fmin(scale * (edge_length(g->d2[e]) - low), N_BINS - 1)]++;
    json_t *neighbours = json_put_object(root, "neighbours");
    json_put_real(neighbours, "from", low);
    json_put_real(neighbours, "to", high);
    json_t *counts = json_put_array(neighbours, "counts");
    for (int b = 0; b < N_BINS; b++)
        json_add(counts, json_integer(count[b]));
}

void cluster_put_findings(json_t *root, const cluster_result *r)
{
    if (!r->clustering || r->view.n == 0)
        return;
    put_clusters(root, r);
    put_neighbours(root, r);
}

static int64_t find_classes(int32_t *class, const int32_t *truth, int64_t n)
{
    int64_t n_classes = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = 0;
        while (c < n_classes && class[c] != truth[i])
            c++;
        if (truth[i] < 0 || c < n_classes)
            continue;
        if (n_classes == MAX_CLASSES)
            return MAX_CLASSES + 1;
        for (c = n_classes++; c > 0 && class[c - 1] > truth[i]; c--)
            class[c] = class[c - 1];
        class[c] = truth[i];
    }
    return n_classes;
}

static json_t *class_name(const cluster_result *r, int32_t class)
{
    char room[16];
    const char *name = r->has_items ? ddsc_measures_get_label_name(r->in.measures, class) : NULL;
    snprintf(room, sizeof room, "%" PRId32, class);
    return json_from_text(name ? name : room);
}

json_t *cluster_confusion(const cluster_result *r, const int32_t *truth)
{
    int32_t class[MAX_CLASSES];
    int64_t n = find_classes(class, truth, r->n_rows);
    if (n > MAX_CLASSES || r->view.k > MAX_CLASSES)
        return NULL; /* too large to look at */
    int64_t *count = cli_allocate((size_t)(n * r->view.k), sizeof *count);
    for (int64_t i = 0; i < r->n_rows; i++)
        for (int64_t c = 0; c < n; c++)
            if (truth[i] == class[c] && r->row_labels[i] >= 0)
                count[c * r->view.k + r->row_labels[i]]++;
    json_t *table = json_object(), *names = json_put_array(table, "classes");
    json_t *rows = json_put_array(table, "counts");
    for (int64_t c = 0; c < n; c++) {
        json_t *row = json_array();
        for (int64_t k = 0; k < r->view.k; k++)
            json_add(row, json_integer(count[c * r->view.k + k]));
        json_add(names, class_name(r, class[c]));
        json_add(rows, row);
    }
    free(count);
    return table;
}
