/* Computes findings about a clustering: typical and ambiguous items, the distances between
 * neighbors, and a comparison of classes and clusters. These findings are stored in result.json,
 * from which the page is generated. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/content/content.h"

enum { N_SHOWN = 6, N_BINS = 40, MAX_CLASSES = 100 };

/* An item with its ambiguity, as computed by ddsc_standing_run. */
typedef struct standing_item {
    int64_t item;
    int32_t next;
    double distance, ambiguity;
} standing_item;

/* Items with the same title are treated as copies, for example stories that several agencies
 * published. Lists of items contain only the first copy. */
typedef struct titles_seen {
    int64_t *number; /* per item: number of its title; -1: no title */
    int64_t *copies; /* per title: items in the current cluster; 0 if the title has been listed */
} titles_seen;

static int by_closeness(const void *a, const void *b)
{
    const standing_item *x = a, *y = b;
    return x->distance != y->distance ? (x->distance < y->distance ? -1 : 1)
                                      : (x->item > y->item) - (x->item < y->item);
}

static int by_ambiguity(const void *a, const void *b)
{
    const standing_item *x = a, *y = b;
    return x->ambiguity != y->ambiguity ? (x->ambiguity > y->ambiguity ? -1 : 1)
                                        : (x->item > y->item) - (x->item < y->item);
}

static const char *title_of(const ddsc_report *r, int64_t item)
{
    const char *title = r->measures ? ddsc_measures_get_title(r->measures, r->row[item]) : NULL;
    return title && *title ? title : NULL;
}

static json_t *put_member(ddsc_report *r, json_t *list, const standing_item *m)
{
    char space[RESULT_ID];
    json_t *item = put_row(r, list);
    put_count(r, item, "row", r->row[m->item]);
    put_text(r, item, "id", result_row_id(r, r->row[m->item], space));
    const char *title = title_of(r, m->item);
    if (title)
        put_text(r, item, "title", title);
    return item;
}

static ddsc_status number_titles(const ddsc_report *r, titles_seen *s)
{
    ddsc_status status = DDSC_OK;
    text_table titles = {0};
    bool is_new;
    TRY(MEM_NEW(r->ctx, s->number, r->view.n));
    for (int64_t i = 0; i < r->view.n; i++) {
        const char *title = title_of(r, i);
        s->number[i] = -1;
        if (title)
            TRY(text_table_add(r->ctx, &titles, title, strlen(title), &s->number[i], &is_new));
    }
    TRY(MEM_ZERO(r->ctx, s->copies, titles.n));
done:
    text_table_free(r->ctx, &titles);
    return status;
}

static void count_titles(const titles_seen *s, const standing_item *all, int64_t n)
{
    for (int pass = 0; pass < 2; pass++) /* sets the counts to 0 first */
        for (int64_t i = 0; i < n; i++)
            if (s->number[all[i].item] >= 0)
                s->copies[s->number[all[i].item]] =
                    pass ? s->copies[s->number[all[i].item]] + 1 : 0;
}

/* Returns the number of items of the cluster with the title of this item, or 0 if the title has
 * been listed. */
static int64_t take_copies(const titles_seen *s, int64_t item)
{
    int64_t title = s->number[item], copies = title >= 0 ? s->copies[title] : 1;
    if (title >= 0)
        s->copies[title] = 0;
    return copies;
}

/* Lists the first items of the cluster. Each title is listed once. */
static void put_members(ddsc_report *r, json_t *list, const standing_item *all, int64_t n,
                        const titles_seen *s, bool borderline)
{
    count_titles(s, all, n);
    for (int64_t i = 0, shown = 0; i < n && shown < N_SHOWN; i++) {
        if (borderline && all[i].next < 0)
            break;
        int64_t copies = take_copies(s, all[i].item);
        if (copies == 0)
            continue;
        shown++;
        json_t *item = put_member(r, list, &all[i]);
        if (copies > 1)
            put_count(r, item, "copies", copies);
        if (borderline) {
            put_count(r, item, "next", all[i].next);
            put_real(r, item, "ambiguity", all[i].ambiguity);
        }
    }
}

static void put_cluster(ddsc_report *r, json_t *clusters, standing_item *all, int64_t n,
                        int64_t label, const titles_seen *s)
{
    json_t *cluster = put_row(r, clusters);
    put_count(r, cluster, "label", label);
    if (label < r->from.n_cluster_names && r->from.cluster_names[label])
        put_text(r, cluster, "name", r->from.cluster_names[label]);
    put_count(r, cluster, "size", n);
    qsort(all, (size_t)n, sizeof *all, by_closeness);
    put_members(r, put_array(r, cluster, "representatives"), all, n, s, false);
    qsort(all, (size_t)n, sizeof *all, by_ambiguity);
    put_members(r, put_array(r, cluster, "borderline"), all, n, s, true);
}

/* Counts the items that have the same title as an earlier item. */
static int64_t count_repeated(const ddsc_report *r, const titles_seen *s)
{
    int64_t n_titles = 0, n_items = 0;
    for (int64_t i = 0; i < r->view.n; i++) {
        n_items += s->number[i] >= 0;
        n_titles = BASE_MAX(n_titles, s->number[i] + 1);
    }
    return n_items - n_titles;
}

static ddsc_status put_clusters(ddsc_report *r, json_t *root)
{
    ddsc_status status = DDSC_OK;
    json_t *clusters = put_array(r, root, "clusters");
    standing_item *all = NULL;
    int64_t *at = NULL;
    titles_seen titles = {0};
    TRY(number_titles(r, &titles));
    if (count_repeated(r, &titles) > 0)
        put_count(r, root, "repeated", count_repeated(r, &titles));
    TRY(MEM_NEW(r->ctx, all, r->view.n));
    TRY(MEM_ZERO(r->ctx, at, r->k + 1));
    for (int64_t c = 0; c < r->k; c++)
        at[c + 1] = at[c] + r->size[c];
    for (int64_t i = 0; i < r->view.n; i++)
        if (!result_left_out(r, i))
            all[at[r->view.labels[i]]++] =
                (standing_item){i, r->next[i], r->distance[i], r->ambiguity[i]};
    for (int64_t c = 0; c < r->k; c++) /* at[c] is now the end index of cluster c */
        put_cluster(r, clusters, all + at[c] - r->size[c], r->size[c], c, &titles);
done:
    MEM_FREE(r->ctx, at, all, titles.number, titles.copies);
    return status;
}

static double edge_length(double d2)
{
    return sqrt(fmax(d2, 0));
}

static void put_neighbors(ddsc_report *r, json_t *root)
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
    json_t *neighbors = put_object(r, root, "neighbors");
    put_real(r, neighbors, "from", low);
    put_real(r, neighbors, "to", high);
    json_t *counts = put_array(r, neighbors, "counts");
    for (int b = 0; b < N_BINS; b++)
        put_last(r, counts, json_integer(count[b]));
}

ddsc_status content_put_findings(ddsc_report *r, json_t *root)
{
    if (!r->from.clustering || r->view.n == 0)
        return DDSC_OK;
    int64_t n_ambiguous = 0;
    for (int64_t i = 0; i < r->view.n; i++)
        n_ambiguous +=
            r->next[i] >= 0 && r->ambiguity[i] > RESULT_AMBIGUOUS && !result_left_out(r, i);
    put_count(r, root, "ambiguous", n_ambiguous);
    CHECK(put_clusters(r, root));
    put_neighbors(r, root);
    return DDSC_OK;
}

/* Collects the distinct classes in ascending order. Returns MAX_CLASSES + 1 if there are more. */
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

static json_t *result_class_name(const ddsc_report *r, int32_t class)
{
    char number[16];
    const char *name = class < r->from.n_class_names ? r->from.class_names[class]
                       : r->measures ? ddsc_measures_get_label_name(r->measures, class)
                                     : NULL;
    snprintf(number, sizeof number, "%" PRId32, class);
    return result_string(name ? name : number);
}

ddsc_status content_put_confusion(ddsc_report *r, json_t *scores)
{
    int32_t class[MAX_CLASSES];
    const int32_t *truth = r->from.truth;
    int64_t n = find_classes(class, truth, r->n_rows), *count = NULL;
    if (n > MAX_CLASSES || r->k > MAX_CLASSES)
        return DDSC_OK; /* too large to display */
    CHECK(MEM_ZERO(r->ctx, count, n * r->k));
    for (int64_t i = 0; i < r->n_rows; i++)
        for (int64_t c = 0; c < n; c++)
            if (truth[i] == class[c] && r->shown[i] >= 0)
                count[c * r->k + r->shown[i]]++;
    json_t *table = put_object(r, scores, "confusion"), *names = put_array(r, table, "classes");
    json_t *rows = put_array(r, table, "counts");
    for (int64_t c = 0; c < n; c++) {
        json_t *row = json_array();
        put_last(r, names, result_class_name(r, class[c]));
        put_last(r, rows, row);
        for (int64_t k = 0; k < r->k; k++)
            put_last(r, row, json_integer(count[c * r->k + k]));
    }
    mem_free(r->ctx, count);
    return DDSC_OK;
}
