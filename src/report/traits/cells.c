/* Describes items whose points have named coordinates, such as samples of cells with markers: the
 * standardized means of each cluster, quantiles, the states of the points, and the transport of
 * mass between clusters, summed by state. */
#include "report/traits/cells.h"

#include <math.h>
#include <string.h>

/* Shares are stored in thousandths. */
static const double SHARE_UNIT = 1000;

/* ---- standardized means ---- */

static void add_cluster_means(cells_summary *c)
{
    const ddsc_report *r = c->r;
    const ddsc_measures_view *m = &r->items;
    for (int64_t i = 0; i < m->n_items; i++) {
        double *mean = c->mean + r->view.labels[i] * m->dim;
        if (result_left_out(r, i))
            continue;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            for (int64_t a = 0; a < m->dim; a++)
                mean[a] += m->weight[e] * m->support[m->index[e] * m->dim + a];
    }
    for (int64_t k = 0; k < r->k; k++)
        for (int64_t a = 0; r->size[k] > 0 && a < m->dim; a++) {
            double spread = c->view.overall_deviation[a], *mean = &c->mean[k * m->dim + a];
            *mean = *mean / (double)r->size[k] - c->view.overall[a];
            *mean = spread > 0 ? *mean / spread : 0;
        }
}

static double largest_mean(const cells_summary *c, int64_t coordinate)
{
    double most = 0;
    for (int64_t k = 0; k < c->r->k; k++)
        most = fmax(most, fabs(c->mean[k * c->r->items.dim + coordinate]));
    return most;
}

/* Lists the coordinates and clusters to show, and orders both by similarity. */
static ddsc_status list_shown(cells_summary *c)
{
    const ddsc_report *r = c->r;
    int64_t dim = r->items.dim;
    CHECK(MEM_NEW(r->ctx, c->cluster, r->k));
    CHECK(MEM_NEW(r->ctx, c->coordinate, dim));
    for (int64_t k = 0; k < r->k && c->n_clusters < CELLS_CLUSTERS; k++)
        if (r->size[k] > 0)
            c->cluster[c->n_clusters++] = k;
    for (int64_t a = 0; a < dim; a++) {
        int64_t larger = 0;
        for (int64_t b = 0; dim > CELLS_COORDINATES && b < dim; b++)
            larger += largest_mean(c, b) > largest_mean(c, a) ||
                      (b < a && largest_mean(c, b) >= largest_mean(c, a));
        if (larger < CELLS_COORDINATES)
            c->coordinate[c->n_coordinates++] = a;
    }
    traits_seriate(c->cluster, c->n_clusters, c->mean, dim, dim, 1);
    traits_seriate(c->coordinate, c->n_coordinates, c->mean, 1, r->k, dim);
    return DDSC_OK;
}

static void put_names(const cells_summary *c, json_t *root)
{
    ddsc_report *r = c->r;
    json_t *list = put_array(r, root, "coordinates");
    for (int64_t k = 0; k < c->n_coordinates; k++) {
        json_t *row = put_row(r, list);
        put_count(r, row, "coordinate", c->coordinate[k]);
        put_text(r, row, "name", ddsc_measures_get_coordinate_name(r->measures, c->coordinate[k]));
    }
    put_count(r, root, "dimension", r->items.dim);
}

/* Writes the standardized values of the listed coordinates. */
static void put_row_of_means(const cells_summary *c, json_t *row, const double *mean)
{
    json_t *list = put_array(c->r, row, "means");
    for (int64_t a = 0; a < c->n_coordinates; a++)
        put_last(c->r, list, json_real(round(1e4 * mean[c->coordinate[a]]) / 1e4));
}

/* ---- states ---- */

static void put_shares(ddsc_report *r, json_t *row, const double *share, int64_t n)
{
    json_t *list = put_array(r, row, "shares");
    for (int64_t s = 0; s < n; s++)
        put_last(r, list, json_integer((json_int_t)lround(SHARE_UNIT * share[s])));
}

/* Writes the clusters of the heat map with the mean share of each state. */
static ddsc_status put_cluster_rows(const cells_summary *c, json_t *root, bool with_states)
{
    ddsc_status status = DDSC_OK;
    ddsc_report *r = c->r;
    int64_t n = c->view.n_states;
    double *share = NULL;
    json_t *list = put_array(r, root, "clusters");
    TRY(MEM_NEW(r->ctx, share, n));
    for (int64_t k = 0; k < c->n_clusters; k++) {
        json_t *row = put_row(r, list);
        int64_t cluster = c->cluster[k];
        put_count(r, row, "label", cluster);
        put_row_of_means(c, row, c->mean + cluster * r->items.dim);
        memset(share, 0, (size_t)n * sizeof *share);
        for (int64_t i = 0; i < r->view.n; i++)
            for (int64_t s = 0; r->view.labels[i] == cluster && !result_left_out(r, i) && s < n;
                 s++)
                share[s] += c->view.share[i * n + s] / (double)r->size[cluster];
        if (with_states)
            put_shares(r, row, share, n);
    }
done:
    mem_free(r->ctx, share);
    return status;
}

/* Writes the distances from the mean of a state to the means of all states. The page computes the
 * transport between the shares of two items from them. */
static void put_distances(const cells_summary *c, json_t *row, int64_t state)
{
    const ddsc_states_view *v = &c->view;
    json_t *list = put_array(c->r, row, "distances");
    for (int64_t t = 0; t < v->n_states; t++) {
        double sum = 0;
        for (int64_t a = 0; a < v->dim; a++)
            sum += pow(v->mean[state * v->dim + a] - v->mean[t * v->dim + a], 2);
        put_last(c->r, list, json_real(sqrt(sum)));
    }
}

static ddsc_status put_state_rows(const cells_summary *c, json_t *states)
{
    ddsc_status status = DDSC_OK;
    ddsc_report *r = c->r;
    const ddsc_states_view *v = &c->view;
    double *mean = NULL;
    TRY(MEM_NEW(r->ctx, mean, v->dim));
    put_bool(r, states, "given", v->given);
    put_count(r, states, "sampled", v->n_sampled);
    json_t *tried = put_array(r, states, "tried");
    for (int64_t a = 0; a < v->n_tried; a++) {
        json_t *row = put_row(r, tried);
        put_count(r, row, "n", v->tried[a]);
        put_real(r, row, "agreement", v->agreement[a]);
    }
    json_t *list = put_array(r, states, "list");
    for (int64_t s = 0; s < v->n_states; s++) {
        json_t *row = put_row(r, list);
        put_text(r, row, "name", ddsc_states_get_name(c->states, s));
        put_real(r, row, "share", v->total[s]);
        for (int64_t a = 0; a < v->dim; a++)
            mean[a] = v->overall_deviation[a] > 0
                          ? (v->mean[s * v->dim + a] - v->overall[a]) / v->overall_deviation[a]
                          : 0;
        put_row_of_means(c, row, mean);
        put_distances(c, row, s);
    }
done:
    mem_free(r->ctx, mean);
    return status;
}

/* Lists the items by their rank; items without a rank come last. */
static void sort_items(const ddsc_report *r, int64_t *item)
{
    int64_t n = r->view.n, last = n;
    for (int64_t i = 0; i < n; i++)
        item[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t rank = r->order ? r->order[i] : i;
        if (rank >= 0 && rank < n)
            item[rank] = i;
    }
    for (int64_t i = n - 1; r->order && i >= 0; i--)
        if (r->order[i] < 0)
            item[--last] = i;
}

/* Writes the shares of evenly spaced items in their order. */
static ddsc_status put_item_shares(const cells_summary *c, json_t *states)
{
    ddsc_report *r = c->r;
    int64_t n = r->view.n, shown = BASE_MIN(n, CELLS_ITEMS), n_states = c->view.n_states, *item;
    json_t *list = put_array(r, states, "items");
    CHECK(MEM_NEW(r->ctx, item, n));
    sort_items(r, item);
    for (int64_t k = 0; k < shown; k++) {
        int64_t i = item[(int64_t)((double)k * (double)n / (double)shown)];
        if (i < 0)
            continue;
        json_t *row = put_row(r, list);
        put_count(r, row, "row", r->row[i]);
        put_shares(r, row, c->view.share + i * n_states, n_states);
    }
    put_bool(r, states, "ordered", r->order != NULL);
    mem_free(r->ctx, item);
    return DDSC_OK;
}

/* ---- flows between clusters ---- */

static int64_t list_items(const ddsc_report *r, int64_t *out, int64_t cluster)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->view.n; i++)
        if (r->view.labels[i] == cluster && !result_left_out(r, i))
            out[n++] = i;
    return n;
}

static void put_flow(const cells_summary *c, json_t *list, const ddsc_states_flow *flow,
                     int64_t from, int64_t to)
{
    ddsc_report *r = c->r;
    json_t *row = put_row(r, list);
    put_count(r, row, "from", from);
    put_count(r, row, "to", to);
    put_real(r, row, "w2", sqrt(fmax(flow->value, 0)));
    json_t *mass = put_array(r, row, "mass");
    for (int64_t s = 0; s < c->view.n_states; s++) {
        json_t *line = json_array();
        put_last(r, mass, line);
        for (int64_t t = 0; t < c->view.n_states; t++)
            put_last(r, line,
                     json_integer(
                         (json_int_t)lround(SHARE_UNIT * flow->mass[s * c->view.n_states + t])));
    }
}

/* Writes the flows between clusters that are adjacent in the heat map. */
static ddsc_status put_cluster_flows(const cells_summary *c, json_t *root)
{
    ddsc_status status = DDSC_OK;
    ddsc_report *r = c->r;
    int64_t *from = NULL, *to = NULL, n = c->view.n_states;
    ddsc_states_flow flow;
    double *mass = NULL;
    json_t *list = put_array(r, root, "flows");
    TRY(MEM_NEW(r->ctx, from, r->view.n));
    TRY(MEM_NEW(r->ctx, to, r->view.n));
    TRY(MEM_NEW(r->ctx, mass, n * n));
    for (int64_t k = 0; k + 1 < c->n_clusters && k < CELLS_PAIRS; k++) {
        int64_t a = BASE_MIN(c->cluster[k], c->cluster[k + 1]);
        int64_t b = BASE_MAX(c->cluster[k], c->cluster[k + 1]);
        ddsc_states_flow_init(&flow);
        flow.mass = mass;
        int64_t n_from = list_items(r, from, a), n_to = list_items(r, to, b);
        TRY(ddsc_states_flow_run(r->ctx, &flow, c->states, r->measures, n_from, from, n_to, to));
        put_flow(c, list, &flow, a, b);
    }
done:
    MEM_FREE(r->ctx, from, to, mass);
    return status;
}

/* ---- all ---- */

static bool applies(const ddsc_report *r)
{
    return r->measures && !r->items.is_grid && r->items.dim >= CELLS_LEAST_DIM &&
           ddsc_measures_get_coordinate_name(r->measures, 0) && !result_has_words(r) &&
           r->view.n > 1 && r->items.n_entries > r->view.n && result_cluster_row(r, 0);
}

ddsc_status traits_put_cells(ddsc_report *r, json_t *root)
{
    ddsc_status status = DDSC_OK;
    cells_summary c = {.r = r};
    if (!applies(r))
        return DDSC_OK;
    TRY(ddsc_states_run(r->ctx, &c.states, r->measures, NULL));
    ddsc_states_get_view(c.states, &c.view);
    TRY(MEM_ZERO(r->ctx, c.mean, r->k * r->items.dim));
    add_cluster_means(&c);
    TRY(list_shown(&c));
    bool with_states = c.view.n_states > 1 && c.view.n_states <= CELLS_STATES;
    json_t *all = put_object(r, root, "cells");
    put_names(&c, all);
    TRY(put_cluster_rows(&c, all, with_states));
    TRY(traits_put_quantiles(&c, all));
    if (with_states) {
        json_t *states = put_object(r, all, "states");
        TRY(put_state_rows(&c, states));
        TRY(put_item_shares(&c, states));
        TRY(put_cluster_flows(&c, states));
    }
done:
    ddsc_states_destroy(c.states);
    MEM_FREE(r->ctx, c.cluster, c.coordinate, c.mean);
    return status;
}
