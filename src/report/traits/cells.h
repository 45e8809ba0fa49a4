/* cells: what the page shows of items whose points have named coordinates, such as cells with
 * markers. Only means, quantiles and shares are stored, never points. */
#ifndef DDSC_REPORT_TRAITS_CELLS_H
#define DDSC_REPORT_TRAITS_CELLS_H

#include "report/traits/traits.h"

enum {
    CELLS_LEAST_DIM = 4,
    CELLS_COORDINATES = 200, /* in the heat map: those that differ most between clusters */
    CELLS_DENSITIES = 24,    /* coordinates with densities */
    CELLS_CLUSTERS = 100,    /* in the heat map */
    CELLS_DENSITY_CLUSTERS = 12,
    CELLS_LEVELS = 25,  /* quantiles, from 1% to 99% */
    CELLS_ITEMS = 2000, /* items with a bar, evenly spaced in their order */
    CELLS_STATES = 40,  /* more given types than this are not shown */
    CELLS_PAIRS = 11    /* pairs of clusters with a flow diagram */
};

typedef struct cells_summary {
    ddsc_report *r;
    ddsc_states *states;
    ddsc_states_view view;
    int64_t n_clusters, *cluster;       /* clusters with items, in the order of the heat map */
    int64_t n_coordinates, *coordinate; /* coordinates, in the order of the heat map */
    double *mean;                       /* r->k x dim: standardized means */
} cells_summary;

/* Orders n rows so that similar rows are adjacent: a nearest-neighbor chain from the longest row,
 * improved by reversing segments (2-opt). order contains the rows to sort. */
void traits_seriate(int64_t *order, int64_t n, const double *rows, int64_t stride, int64_t dim,
                    int64_t step);
/* Writes quantiles of the coordinates that differ most, by cluster. */
ddsc_status traits_put_quantiles(const cells_summary *c, json_t *root);

#endif
