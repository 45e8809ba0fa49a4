/* Computes the quantiles of coordinates in each cluster, from which the page draws densities. */
#include <math.h>
#include <stdlib.h>

#include "report/traits/cells.h"

enum {
    QUANTILE_ENTRIES = 200000, /* with more entries, every step-th one is used */
    QUANTILE_LEAST =
        50 /* clusters with fewer points have no density, because it would reveal single points */
};

typedef struct mass_point {
    double value, mass;
} mass_point;

static int by_coordinate(const void *a, const void *b)
{
    const mass_point *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static double level(int k)
{
    return 0.01 + 0.98 * k / (CELLS_LEVELS - 1);
}

/* Collects the values of one coordinate in one cluster. */
static int64_t list_values(const ddsc_report *r, mass_point *out, int64_t cluster,
                           int64_t coordinate, int64_t step, double *mass)
{
    const ddsc_measures_view *m = &r->items;
    int64_t n = 0;
    *mass = 0;
    for (int64_t i = 0; i < m->n_items; i++) {
        if (r->view.labels[i] != cluster || result_left_out(r, i))
            continue;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if (e % step == 0) {
                out[n++] =
                    (mass_point){m->support[m->index[e] * m->dim + coordinate], m->weight[e]};
                *mass += m->weight[e];
            }
    }
    return n;
}

static void put_levels(ddsc_report *r, json_t *list, mass_point *value, int64_t n, double mass)
{
    double below = 0;
    int64_t at = 0;
    qsort(value, (size_t)n, sizeof *value, by_coordinate);
    for (int k = 0; k < CELLS_LEVELS; k++) {
        while (at + 1 < n && below + value[at].mass < level(k) * mass)
            below += value[at++].mass;
        put_last(r, list, json_real(value[at].value));
    }
}

/* Returns the range of the standardized means of a coordinate. */
static double contrast(const cells_summary *c, int64_t coordinate)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < c->n_clusters; k++) {
        double mean = c->mean[c->cluster[k] * c->r->items.dim + coordinate];
        low = fmin(low, mean);
        high = fmax(high, mean);
    }
    return high - low;
}

/* Returns true if fewer than CELLS_DENSITIES coordinates have a larger contrast. */
static bool is_shown(const cells_summary *c, int64_t position)
{
    double own = contrast(c, c->coordinate[position]);
    int64_t larger = 0;
    for (int64_t k = 0; k < c->n_coordinates; k++) {
        double other = contrast(c, c->coordinate[k]);
        larger += other > own || (other >= own && k < position);
    }
    return larger < CELLS_DENSITIES;
}

/* Returns true if fewer than CELLS_DENSITY_CLUSTERS clusters are larger. */
static bool is_large(const cells_summary *c, int64_t position)
{
    const int64_t *size = c->r->size;
    int64_t larger = 0;
    for (int64_t k = 0; k < c->n_clusters; k++)
        larger += size[c->cluster[k]] > size[c->cluster[position]] ||
                  (size[c->cluster[k]] == size[c->cluster[position]] && k < position);
    return larger < CELLS_DENSITY_CLUSTERS;
}

ddsc_status traits_put_quantiles(const cells_summary *c, json_t *root)
{
    ddsc_report *r = c->r;
    ddsc_status status = DDSC_OK;
    mass_point *value = NULL;
    int64_t step = 1 + r->items.n_entries / QUANTILE_ENTRIES;
    json_t *all = put_object(r, root, "densities");
    json_t *levels = put_array(r, all, "levels"), *rows = put_array(r, all, "coordinates");
    for (int k = 0; k < CELLS_LEVELS; k++)
        put_last(r, levels, json_real(level(k)));
    TRY(MEM_NEW(r->ctx, value, r->items.n_entries / step + 1));
    for (int64_t p = 0; p < c->n_coordinates; p++) {
        if (!is_shown(c, p))
            continue;
        json_t *row = put_row(r, rows);
        put_count(r, row, "coordinate", c->coordinate[p]);
        json_t *clusters = put_array(r, row, "clusters");
        for (int64_t k = 0; k < c->n_clusters; k++) {
            double mass;
            int64_t n = is_large(c, k)
                            ? list_values(r, value, c->cluster[k], c->coordinate[p], step, &mass)
                            : 0;
            json_t *list = n >= QUANTILE_LEAST ? json_array() : json_null();
            put_last(r, clusters, list);
            if (n >= QUANTILE_LEAST)
                put_levels(r, list, value, n, mass);
        }
    }
done:
    mem_free(r->ctx, value);
    return status;
}
